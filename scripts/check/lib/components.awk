# Strongly connected components of files by calls. Reads pairs "FROM TO" (tab-separated): a function
# of FROM calls one of TO. Prints each component of more than `most` files on one line. Tarjan's
# algorithm with an explicit stack, as awk's recursion has no arrays by value.
BEGIN { FS = "\t" }
{
    if (!($1 in known)) { known[$1] = 1; names[++count] = $1 }
    if (!($2 in known)) { known[$2] = 1; names[++count] = $2 }
    if (!(($1, $2) in edge)) { edge[$1, $2] = 1; to[$1, ++degree[$1]] = $2 }
}
function enter(v) {
    number[v] = low[v] = ++clock
    stack[++top] = v
    on[v] = 1
    next_edge[v] = 1
    path[++depth] = v
}
function leave(v,    w, size, text) {
    depth--
    if (depth && low[v] < low[path[depth]]) low[path[depth]] = low[v]
    if (low[v] != number[v]) return
    do {
        w = stack[top--]
        on[w] = 0
        size++
        text = text " " w
    } while (w != v)
    if (size > most) print size " files call each other:" text
}
END {
    for (i = 1; i <= count; i++) {
        if (names[i] in number) continue
        enter(names[i])
        while (depth) {
            v = path[depth]
            if (next_edge[v] > degree[v]) { leave(v); continue }
            w = to[v, next_edge[v]++]
            if (!(w in number)) enter(w)
            else if (on[w] && number[w] < low[v]) low[v] = number[w]
        }
    }
}
