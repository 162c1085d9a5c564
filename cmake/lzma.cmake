# liblzma as the target tilec_lzma, linked into our libraries from its archive, so that they do not
# need its shared object. The shared one is used if the archive is missing or cannot be linked into
# a shared library. TILEC_LZMA_STATIC says which.
find_path(TILEC_LZMA_INCLUDE lzma.h)
find_library(TILEC_LZMA_ARCHIVE liblzma.a)
find_library(TILEC_LZMA_LIBRARY lzma)
mark_as_advanced(TILEC_LZMA_INCLUDE TILEC_LZMA_ARCHIVE TILEC_LZMA_LIBRARY)
if(NOT TILEC_LZMA_INCLUDE OR NOT TILEC_LZMA_LIBRARY)
    message(FATAL_ERROR "liblzma is missing: run scripts/setup.sh (Debian: liblzma-dev)")
endif()

set(TILEC_LZMA_STATIC OFF)
if(TILEC_LZMA_ARCHIVE)
    set(probe "${PROJECT_BINARY_DIR}/probe_lzma.so")
    execute_process(COMMAND "${CMAKE_C_COMPILER}" -shared -nostdlib -o "${probe}"
                            -Wl,-z,text,--whole-archive "${TILEC_LZMA_ARCHIVE}"
                            -Wl,--no-whole-archive
                    RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    file(REMOVE "${probe}")
    if(NOT failed)
        set(TILEC_LZMA_STATIC ON)
    endif()
endif()

add_library(tilec_lzma INTERFACE)
target_include_directories(tilec_lzma SYSTEM INTERFACE "${TILEC_LZMA_INCLUDE}")
if(TILEC_LZMA_STATIC)
    target_link_libraries(tilec_lzma INTERFACE "${TILEC_LZMA_ARCHIVE}")
else()
    message(STATUS "no liblzma.a that shared libraries can have: all programs with our libraries "
                   "will need liblzma.so")
    target_link_libraries(tilec_lzma INTERFACE "${TILEC_LZMA_LIBRARY}")
endif()
