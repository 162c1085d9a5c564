# The table of rooms: which room may include which. Reads the files of the tree (-v tree=FILE), then
# records of PATH, line, kind, target (see directives.awk and text.awk); prints one line for each
# violation.
BEGIN {
    FS = "\t"
    allowed["base"] = "base"
    allowed["target"] = "base target"
    allowed["ir"] = "base target ir"
    allowed["runtime"] = "base target runtime tilec"
    # frontend/ is three kinds of rooms: the entry header, the code that all front ends share, and a
    # room for each front end, which may not include another. Rooms above them may include the entry
    # header only.
    allowed["frontend"] = "base ir frontend frontend/tile frontend/triton"
    allowed["frontend/common"] = "base ir frontend/common"
    allowed["frontend/tile"] = "base ir frontend frontend/common frontend/tile"
    allowed["frontend/triton"] = "base ir frontend frontend/common frontend/triton"
    allowed["passes"] = "base target ir passes"
    allowed["codegen"] = "base target ir codegen"
    allowed["sim"] = "base target runtime sim"
    allowed["compile"] = "base target ir runtime frontend passes codegen sim compile tilec"
    allowed["tools"] = "base target ir runtime frontend compile tools tilec"
    allowed["include"] = "tilec"
    allowed["examples"] = "tilec"
    all = "base target ir runtime frontend frontend/common frontend/tile frontend/triton passes"
    all = all " codegen sim compile tools tests examples tilec"
    allowed["tests"] = all
    allowed["bench"] = all " bench"
    allowed["cmake"] = ""
    allowed["scripts"] = "base target ir frontend/triton scripts"
    n = split(all " bench scripts", rooms, " ")
    for (i = 1; i <= n; i++) is_room[rooms[i]] = 1
    while ((getline file < tree) > 0) is_file[file] = 1
}
function complain(text) { print $1 ":" $2 ": " text }
# The folder at the root that a path begins with; of frontend/, with the folder in it.
function room_of(path) {
    if (match(path, /^frontend\/[^\/]+\//)) return substr(path, 1, RLENGTH - 1)
    sub(/\/.*/, "", path)
    return path
}
{
    room = room_of($1)
    quoted = $3 == "\""
    target = $4
    other = room_of(target)
    if ($3 == "#") { complain("a marker that claims another line or file"); next }
    if ($3 == "/") { complain("a comment of several lines splits " target); next }
    if ($3 == "?") { complain("an include through the macro " target "; name the file"); next }
    if (!(room in allowed)) { complain("the folder " room " is in no row of the table"); next }
    if (target ~ /\.\./) { complain("\"" target "\": an include names its folder, no \"..\""); next }
    if (target ~ /^\/|^\.\/|\/\.?\//) {
        complain("\"" target "\": a path of an include is plain: folder/file.h"); next
    }
    # Programs of the examples are separate projects, each in one folder.
    beside = $1
    sub(/[^\/]*$/, "", beside)
    if (quoted && room == "examples" && (beside target) in is_file) next
    if (quoted && target !~ /\//) {
        complain("\"" target "\": an include of ours carries its folder"); next
    }
    if (quoted && !(other in is_room)) { complain("\"" target "\": no such room"); next }
    if (quoted && other == "tilec") { complain("write <" target ">"); next }
    if (!quoted && target ~ /^include\//) {
        complain("write <" substr(target, 9) ">"); next
    }
    if (!quoted && !(target in is_file) && (target !~ /\// || !(other in is_room))) next # the system
    if (!quoted && other != "tilec") { complain("write \"" target "\""); next }
    if (index(" " allowed[room] " ", " " other " ") == 0)
        complain(room " may not include " other " (" target "); it may: " allowed[room])
}
