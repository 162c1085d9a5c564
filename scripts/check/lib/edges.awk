# Reads records of text.awk, and the files of the tree as -v tree=FILE. Prints for every include of
# a file of the tree: PATH, line, kind, target, and the file it resolves to. A compiler searches the
# file's own folder (for quoted includes), then the root, then include/.
BEGIN {
    FS = OFS = "\t"
    while ((getline file < tree) > 0) is_file[file] = 1
}
$3 != "\"" && $3 != "<" { next }
{
    beside = $1
    sub(/[^\/]*$/, "", beside)
    if ($3 == "\"" && (beside $4) in is_file) print $0, beside $4
    else if ($4 in is_file) print $0, $4
    else if (("include/" $4) in is_file) print $0, "include/" $4
    else print $0, ""
}
