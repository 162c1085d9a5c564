# Picks clang 22, else any clang. The presets `clang` and `fuzz` use it.
find_program(TILEC_CLANG NAMES clang-22 clang REQUIRED)
set(CMAKE_C_COMPILER "${TILEC_CLANG}")
