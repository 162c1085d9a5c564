# Records of text.awk on standard input, the files of the tree as -v tree=FILE; prints for every
# include of a file of the tree: PATH, line, kind, target, the file it is. A compiler looks beside
# the file (of quoted ones), then in the root, then in include/.
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
