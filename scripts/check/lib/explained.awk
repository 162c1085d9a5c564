# Lines of deps.awk on standard input, lines of edges.awk as -v edges=FILE. Every file that a
# compiler read for an object is reached from its source by the includes that stand in the text.
# Prints what is not. A header that the build has made is not read, nor can be what it includes.
BEGIN {
    FS = "\t"
    while ((getline row < edges) > 0) {
        split(row, field, "\t")
        if (field[5] != "") of[field[1]] = of[field[1]] "\t" field[5]
    }
}
function flush(i, j, list, count, seen, queue, last) {
    if (n == 0 || ("*made*" in known)) { split("", known); n = 0; return }
    queue[last = 1] = file[1]
    seen[file[1]] = 1
    for (i = 1; i <= last; i++) {
        count = split(of[queue[i]], list, "\t")
        for (j = 1; j <= count; j++)
            if ((list[j] in known) && !(list[j] in seen)) {
                seen[list[j]] = 1
                queue[++last] = list[j]
            }
    }
    for (i = 2; i <= n; i++)
        if (!(file[i] in seen))
            print file[1] ": the compiler read " file[i] " for it; no include of the text leads to it"
    split("", known)
    n = 0
}
$1 != object { flush(); object = $1 }
{ file[++n] = $2; known[$2] = 1 }
END { flush() }
