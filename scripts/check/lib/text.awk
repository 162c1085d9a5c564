# Takes files as arguments; prints the same records as directives.awk for the includes in the text,
# also in parts that a condition excludes. Kind `?` is an include through a macro, `#` a marker that
# claims another file or line, `/` a directive that a comment splits over two lines.
#
# No state is kept between lines: whether a line begins in a comment depends on all strings and
# comments before it. Both cases are tried instead, so that no include can be hidden; an include
# inside a comment is reported, too.
FNR == 1 { joined = ""; first = 0 }

# Removes blanks and whole comments at the beginning of the text. Sets `open` if a comment does not
# end.
function trimmed(text, end) {
    open = 0
    for (;;) {
        sub(/^[ \t\r\f\v]+/, "", text)
        if (text !~ /^\/\*/) return text
        end = index(substr(text, 3), "*/")
        if (!end) { open = 1; return "" }
        text = substr(text, end + 4)
    }
}
function report(kind, target) { print FILENAME "\t" first "\t" kind "\t" target }
# Reports the text as it is read when it begins outside a comment.
function read(text, kind) {
    text = trimmed(text)
    if (text !~ /^#/) return
    text = trimmed(substr(text, 2))
    if (open) { report("/", "#"); return }
    if (text ~ /^(line[ \t\/]|[0-9])/) { report("#", text); return }
    if (!sub(/^(include_next|include|import)/, "", text)) return
    text = trimmed(text)
    if (open) { report("/", "#include"); return }
    kind = substr(text, 1, 1)
    if (kind != "\"" && kind != "<") { report("?", text); return }
    text = substr(text, 2)
    sub(/[">].*/, "", text)
    report(kind, text)
}
{
    if (joined == "") first = FNR
    joined = joined $0
    if (sub(/(\\|\?\?\/)[ \t\r\f\v]*$/, "", joined)) next
    line = joined
    joined = ""
    if (line !~ /#|%:|\?\?=/) next
    gsub(/\?\?=|%:/, "#", line)
    read(line)
    end = index(line, "*/")
    if (end) read(substr(line, end + 2))
}
