# Reads lines of edges.awk. An include in a table (.def, .inc) or a source belongs to the files that
# include it, too: prints records for those: PATH and line of the include, kind, target.
BEGIN { FS = OFS = "\t" }
{
    n++
    path[n] = $1; line[n] = $2; record[n] = $3 OFS $4; file[n] = $5
    of[$1] = of[$1] " " n
}
function inherit(heir, place, table, list, count, i, e) {
    if (table in within) return
    within[table] = 1
    count = split(of[table], list, " ")
    for (i = 1; i <= count; i++) {
        e = list[i]
        print heir, place, record[e]
        if (file[e] ~ /\.(def|inc|c|cpp)$/) inherit(heir, place, file[e])
    }
    delete within[table]
}
END {
    for (e = 1; e <= n; e++)
        if (file[e] ~ /\.(def|inc|c|cpp)$/) inherit(path[e], line[e], file[e])
}
