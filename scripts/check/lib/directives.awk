# Reads the output of `cc -E -dI`, one file after another, each after a line "@file PATH". Prints
# PATH, line, `"` or `<`, and target of every include that belongs to PATH: its own includes, and
# those of the included files that are not headers (.def, .inc, .c), since their text counts as part
# of the includer.
function name_of(marker) {
    sub(/^[^"]*"/, "", marker)
    sub(/"[^"]*$/, "", marker)
    return marker
}
/^@file / { path = substr($0, 7); depth = 0; foreign = 0; number = 0; line = 0; next }
/^# [0-9]+ "/ {
    flags = $0
    sub(/^.*"/, "", flags)
    # Only entering and leaving a file change the place, so a #line directive cannot fake it.
    if (flags ~ /^ 1( |$)/) {
        depth++
        is_foreign[depth] = name_of($0) !~ /\.(def|inc|c|cpp)$/
        foreign += is_foreign[depth]
    } else if (flags ~ /^ 2( |$)/ && depth > 0) {
        foreign -= is_foreign[depth]
        depth--
        if (depth == 0) number = $2 - 1
    } else if (depth == 0) {
        number = $2 - 1
    }
    next
}
{ if (depth == 0) line = ++number }
/^#(include|include_next|import) ?["<]/ && foreign == 0 {
    target = $0
    sub(/^#[a-z_]+ ?/, "", target)
    kind = substr(target, 1, 1)
    target = substr(target, 2)
    sub(/[">].*/, "", target)
    print path "\t" line "\t" kind "\t" target
}
