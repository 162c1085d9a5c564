# One libFuzzer program per tests/fuzz/fuzz_*.c; scripts/fuzz.sh runs them.
if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "TILEC_FUZZ needs clang (use the preset `fuzz`)")
endif()
file(GLOB fuzz_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_*.c")
# Code shared by the targets; the rest of tests/support needs cmocka and paths.
add_library(test_support STATIC "${PROJECT_SOURCE_DIR}/tests/support/any_launch.c"
    "${PROJECT_SOURCE_DIR}/tests/support/amd_object.c"
    "${PROJECT_SOURCE_DIR}/tests/support/archive_walk.c"
    "${PROJECT_SOURCE_DIR}/tests/support/py_walk.c"
    "${PROJECT_SOURCE_DIR}/tests/support/sim_fuzz.c")
target_link_libraries(test_support PUBLIC tilec)
foreach(source IN LISTS fuzz_sources)
    get_filename_component(name "${source}" NAME_WE)
    add_executable(${name} "${source}")
    if(name STREQUAL "fuzz_npy")
        target_sources(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tools/npy.c")
    endif()
    target_link_libraries(${name} PRIVATE test_support tilec)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endforeach()
