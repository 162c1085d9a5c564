# Files as arguments; prints the same records as directives.awk for the includes that stand in the
# text, in parts that a condition leaves out, too. Kind `?` is an include through a macro, `#` a
# marker that claims another file or line.
FNR == 1 { joined = ""; first = 0 }
{
    if (joined == "") first = FNR
    joined = joined $0
    if (sub(/(\\|\?\?\/)[ \t\r]*$/, "", joined)) next
    text = joined
    joined = ""
    if (text !~ /#|%:|\?\?=/) next
    gsub(/\?\?=|%:/, "#", text)
    gsub(/\/\*[^*]*\*+([^*\/][^*]*\*+)*\//, " ", text)
    sub(/^.*\*\//, "", text) # the end of a comment of several lines
    if (text !~ /^[ \t]*#/) next
    sub(/^[ \t]*#[ \t]*/, "", text)
    if (text ~ /^(line[ \t]|[0-9])/) { print FILENAME "\t" first "\t#\t" text; next }
    if (!sub(/^(include_next|include|import)[ \t]*/, "", text)) next
    kind = substr(text, 1, 1)
    if (kind != "\"" && kind != "<") { print FILENAME "\t" first "\t?\t" text; next }
    text = substr(text, 2)
    sub(/[">].*/, "", text)
    print FILENAME "\t" first "\t" kind "\t" text
}
