#!/usr/bin/env bash
# Every include line of ours against the table of rooms: who may know whom.
source "$(dirname "$0")/lib/common.sh"

tree_files '*.c' '*.h' '*.def' >"$scratch/files"
[ -s "$scratch/files" ] || finish includes
# shellcheck disable=SC2016
xargs -d "\n" awk '
    BEGIN {
        allowed["base"] = "base"
        allowed["ir"] = "base ir"
        allowed["runtime"] = "base runtime tilec"
        allowed["frontend"] = "base ir frontend"
        allowed["passes"] = "base ir passes"
        allowed["codegen"] = "base ir codegen"
        allowed["sim"] = "base runtime sim"
        allowed["compile"] = "base ir runtime frontend passes codegen sim compile tilec"
        allowed["tools"] = "base ir runtime compile tools tilec"
        allowed["include"] = "tilec"
        allowed["examples"] = "tilec"
        all = "base ir runtime frontend passes codegen sim compile tools tests examples tilec"
        allowed["tests"] = all
        allowed["bench"] = all " bench"
        allowed["cmake"] = ""
        allowed["scripts"] = "base ir"
        n = split(all " bench", rooms, " ")
        for (i = 1; i <= n; i++) is_room[rooms[i]] = 1
    }
    function complain(text) { print FILENAME ":" FNR ": " text }
    /^[ \t]*#[ \t]*include[ \t]*["<]/ {
        room = FILENAME
        sub(/\/.*/, "", room)
        target = $0
        quoted = target ~ /include[ \t]*"/
        sub(/^[^"<]*["<]/, "", target)
        sub(/[">].*/, "", target)
        other = target
        sub(/\/.*/, "", other)
        if (!(room in allowed)) { complain("the folder " room " is in no row of the table"); next }
        if (target ~ /\.\./) {
            complain("\"" target "\": an include names its folder, no \"..\""); next
        }
        if (quoted && target !~ /\//) {
            complain("\"" target "\": an include of ours carries its folder"); next
        }
        if (quoted && !(other in is_room)) { complain("\"" target "\": no such room"); next }
        if (quoted && other == "tilec") { complain("write <" target ">"); next }
        if (!quoted && (target !~ /\// || !(other in is_room))) next  # the system
        if (!quoted && other != "tilec") { complain("write \"" target "\""); next }
        if (index(" " allowed[room] " ", " " other " ") == 0)
            complain(room " may not include " other " (" target "); it may: " allowed[room])
    }' <"$scratch/files" >>"$scratch/found"
finish includes
