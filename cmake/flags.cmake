# The flags with which all our targets are compiled, as the interface target tilec_flags.
add_library(tilec_flags INTERFACE)
target_include_directories(tilec_flags INTERFACE "${PROJECT_SOURCE_DIR}"
                                                 "${PROJECT_SOURCE_DIR}/include")
target_compile_options(tilec_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
    -Wcast-qual -Wundef -Wvla -Wformat=2
    # The interpreter's float results are defined to the bit, so the compiler must not fuse
    # multiply-adds.
    -ffp-contract=off)
# For installed libraries: tables of addresses are read-only once the loader has filled them, and
# the C library checks the sizes of copies if the compiler optimises and no sanitizer does so.
target_link_options(tilec_flags INTERFACE -Wl,-z,relro,-z,now)
if(NOT TILEC_SANITIZE AND NOT TILEC_COVERAGE)
    set(tilec_fortify
        "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>")
    target_compile_options(tilec_flags INTERFACE ${tilec_fortify})
endif()
if(TILEC_WERROR)
    target_compile_options(tilec_flags INTERFACE -Werror)
endif()
if(TILEC_SANITIZE)
    target_compile_options(tilec_flags INTERFACE
        "-fsanitize=${TILEC_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(tilec_flags INTERFACE "-fsanitize=${TILEC_SANITIZE}")
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
        # gcc's flow analysis warns about paths that exist only in its own instrumentation.
        target_compile_options(tilec_flags INTERFACE -Wno-maybe-uninitialized)
    else()
        # Instrumented loops are not vectorized, whatever their pragmas ask for.
        target_compile_options(tilec_flags INTERFACE -Wno-pass-failed)
    endif()
endif()
if(TILEC_FUZZ)
    target_compile_options(tilec_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(TILEC_COVERAGE)
    target_compile_options(tilec_flags INTERFACE --coverage -fprofile-update=atomic
                                                 -Wno-maybe-uninitialized)
    target_link_options(tilec_flags INTERFACE --coverage)
endif()
find_package(Threads REQUIRED)
target_link_libraries(tilec_flags INTERFACE Threads::Threads m ${CMAKE_DL_LIBS})
