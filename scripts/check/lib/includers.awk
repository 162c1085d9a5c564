# Prints each file of -v changed=FILE and all that include one of them; through others, too, unless
# -v direct=1. Lines of edges.awk on standard input.
BEGIN { FS = "\t" }
$5 != "" { of[$5] = of[$5] "\t" $1 }
END {
    while ((getline file < changed) > 0)
        if (!(file in seen)) { seen[file] = is_changed[file] = 1; queue[++n] = file }
    for (next_one = 1; next_one <= n; next_one++) {
        print queue[next_one]
        if (direct && !(queue[next_one] in is_changed)) continue
        count = split(of[queue[next_one]], list, "\t")
        for (i = 1; i <= count; i++)
            if (list[i] != "" && !(list[i] in seen)) { seen[list[i]] = 1; queue[++n] = list[i] }
    }
}
