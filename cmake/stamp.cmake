# Writes OUT, a C file with the hash of all files that LIST names, one a line.
file(STRINGS "${LIST}" files)
set(all "")
foreach(file IN LISTS files)
    file(SHA256 "${file}" hash)
    string(APPEND all "${hash}")
endforeach()
string(SHA256 stamp "${all}")
file(WRITE "${OUT}" "// Made by cmake/stamp.cmake.\n#include \"compile/pipeline/code.h\"\n\n"
                    "const char compile_stamp[] = \"${stamp}\";\n")
