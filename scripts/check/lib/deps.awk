# Reads the output of `ninja -t deps`; prints OBJECT and file for every file of the tree that was
# read for it, the source first, and "*made*" for files that the build has generated. Objects that
# are missing, or older than one of these files, are left out.
#   -v times=FILE     lines "SECONDS PATH" of the files of the tree
#   -v roots=A:B      prefixes of the tree's paths in the build folder, each with its slash
#   -v folder=BUILD   prefix for the names of objects
BEGIN {
    while ((getline row < times) > 0) {
        place = index(row, " ")
        time[substr(row, place + 1)] = substr(row, 1, place - 1) + 0
    }
    count_roots = split(roots, root, ":")
}
function flush(i) {
    for (i = 1; fresh && i <= n; i++) print object "\t" file[i]
    n = 0
    fresh = 0
}
/^[^ ].*: #deps / {
    flush()
    object = $0
    sub(/: #deps .*/, "", object)
    object = folder "/" object
    fresh = /\(VALID\)$/
    made = $0
    sub(/.*deps mtime /, "", made)
    made = (made + 0) / 1000000000
    seen_first = 0
    next
}
/^ / {
    path = substr($0, 5)
    ours = 0
    for (i = 1; i <= count_roots && !ours; i++)
        if (index(path, root[i]) == 1) { path = substr(path, length(root[i]) + 1); ours = 1 }
    while (ours && sub(/[^\/.][^\/]*\/\.\.\//, "", path)) continue
    if (!seen_first++ && !(ours && (path in time))) fresh = 0 # its source is made, or gone
    if (ours && (path in time)) {
        if (time[path] > made) fresh = 0
        file[++n] = path
    } else if (index($0, folder "/") == 5 || (!ours && path !~ /^\//)) {
        file[++n] = "*made*"
    } else if (ours) {
        fresh = 0 # gone, or not of the tree
    }
}
END { flush() }
