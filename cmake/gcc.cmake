# Picks gcc, else the system's cc.
find_program(TILEC_GCC NAMES gcc cc REQUIRED)
set(CMAKE_C_COMPILER "${TILEC_GCC}")
