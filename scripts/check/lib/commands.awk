# compile_commands.json on standard input; prints OBJECT, source, and "strict" if the compiler
# (-v compiler=PATH) runs with all of -v flags="…", and no warning is turned off, else "other".
#   -v roots=A:B, -v folder=BUILD    see deps.awk
BEGIN {
    count_roots = split(roots, root, ":")
    count_flags = split(flags, flag, " ")
}
/^ *"command": / {
    command = $0
    sub(/^ *"command": "/, "", command)
    sub(/",?$/, "", command)
    if (command !~ / -o [^ ]+ -c [^ ]+$/) next
    n = split(command, word, " ")
    source = word[n]
    ours = 0
    for (i = 1; i <= count_roots && !ours; i++)
        if (index(source, root[i]) == 1) { source = substr(source, length(root[i]) + 1); ours = 1 }
    if (!ours) next # made by the build
    # The text before the first option ends with the compiler's name; a compiler cache may come
    # before it.
    head = command
    sub(/ -.*/, "", head)
    n_head = split(head, part, " ")
    strict = part[n_head] == compiler
    command = " " command " "
    for (i = 1; i <= count_flags; i++) if (!index(command, " " flag[i] " ")) strict = 0
    # The build turns off this warning, which needs gcc's flow analysis: no check has ever enabled
    # it.
    gsub(/ -Wno-maybe-uninitialized /, " ", command)
    if (command ~ / -w | -Wno-/) strict = 0
    print folder "/" word[n - 2] "\t" source "\t" (strict ? "strict" : "other")
}
