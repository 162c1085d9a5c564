# Every test program, found by its name; see docs/testing.md.
#   tests/<room>/**/test_*.c   one cmocka program each, label quick
#   tests/**/long_*.c          the same, label long
#   tests/triton/*.c           the other files are part of each of its programs
#   tests/examples/*.c         one program of all, label quick;
#   tests/mutate/*.c           one program with the examples' launches, label quick;
#                              with --long, all extents, label long
#   tests/filetest/*.c         the filetest runner, run for each folder of tests/files
#   tests/support/*.c, tests/gen/gen_*.c   a library linked to all of them
#
# Labels: `quick` or `long`; and `commit` in the build in which scripts/test.sh runs the test. Tests
# of code that manages memory itself run in the build with sanitizers. Sweeps over numbers and
# devices run in the release build, which is three to six times as fast. The target `commit_tests`
# builds the files that tests with the label `commit` need. Long tests also have `turn0`, `turn1` or
# `turn2` (turns.cmake).
set(release_tests
    abi/symbols aot/ base/test_dtype bundle check/ codegen/ compile/test_foreign
    compile/test_long_code compile/test_memory_left compile/test_no_memory compile/test_overlap
    compile/test_pack cost/ docs/ examples files/explain gen/ install/ interp/test_eval
    ir/test_analysis_random ir/layout/ matrix/ mutate/ passes/test_cpu_dot passes/test_cpu_square
    passes/test_expand_math passes/test_gpu_ passes/test_legalize passes/test_random python/
    runtime/test_fork sim/test_ring triton/test_launch)
list(JOIN release_tests "|" release_tests)
if(TILEC_SANITIZE MATCHES "address" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    set(commit_build sanitized)
elseif(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT TILEC_SANITIZE AND NOT TILEC_COVERAGE)
    set(commit_build release)
else()
    set(commit_build none)
endif()
add_custom_target(commit_tests)

# tilec_runs_here(OUT TEST): does scripts/test.sh run the test in this build?
function(tilec_runs_here out test)
    set(build sanitized)
    if("${test}" MATCHES "^(${release_tests})")
        set(build release)
    endif()
    set(${out} OFF PARENT_SCOPE)
    if(build STREQUAL commit_build)
        set(${out} ON PARENT_SCOPE)
    endif()
endfunction()

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
    pkg_check_modules(CMOCKA QUIET IMPORTED_TARGET cmocka)
endif()
if(TARGET PkgConfig::CMOCKA)
    add_library(tilec_cmocka ALIAS PkgConfig::CMOCKA)
else()
    find_library(CMOCKA_LIBRARY cmocka)
    find_path(CMOCKA_INCLUDE cmocka.h)
    if(NOT CMOCKA_LIBRARY OR NOT CMOCKA_INCLUDE)
        message(FATAL_ERROR "cmocka is missing: run scripts/setup.sh (Debian: libcmocka-dev), "
                            "or configure with -DTILEC_TESTS=OFF")
    endif()
    add_library(tilec_cmocka INTERFACE)
    target_link_libraries(tilec_cmocka INTERFACE "${CMOCKA_LIBRARY}")
    target_include_directories(tilec_cmocka SYSTEM INTERFACE "${CMOCKA_INCLUDE}")
endif()

# The libraries for all test programs. They are one shared library if the names of the library's
# objects are visible (TILEC_TEST_SHARED): 170 programs that each contain all of it take 2.5 GB and
# half a minute.
tilec_room_sources(support_sources tests/support/*.c tests/gen/gen_*.c tests/codegen/bundle.c)
add_library(test_flags INTERFACE)
target_link_libraries(test_flags INTERFACE tilec_flags tilec_cmocka ${CMAKE_DL_LIBS})
add_library(test_support_objects OBJECT ${support_sources})
target_link_libraries(test_support_objects PUBLIC test_flags)
if(TILEC_TEST_SHARED)
    add_library(test_support SHARED $<TARGET_OBJECTS:test_support_objects>
        $<TARGET_OBJECTS:tilec_rt_objects> $<TARGET_OBJECTS:tilec_objects>)
    target_link_libraries(test_support PUBLIC test_flags tilec_lzma)
    if(TILEC_FFI_FOUND)
        target_link_libraries(test_support PUBLIC tilec_ffi)
    endif()
    # Programs that test running out of memory wrap functions of the library, which requires its
    # objects.
    add_library(test_support_static STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:test_support_objects>)
    target_link_libraries(test_support_static PUBLIC test_flags tilec)
else()
    add_library(test_support STATIC $<TARGET_OBJECTS:test_support_objects>)
    target_link_libraries(test_support PUBLIC test_flags tilec)
    add_library(test_support_static ALIAS test_support)
endif()
# Tests run in the root of the sources; these definitions are for tests that need a full path.
target_compile_definitions(test_flags INTERFACE
    TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TEST_BINARY_DIR="${PROJECT_BINARY_DIR}"
    TEST_TOOL="${PROJECT_BINARY_DIR}/tilec" TEST_LIBDIR_BESIDE="${tilec_libdir_beside}")

# Libraries that test programs open at run time.
add_custom_target(test_fakes)

# Fakes: a compiler library without LLVM that follows instructions, the code that it produces, and a
# driver that is too old.
foreach(fake plugin kernel old)
    add_library(fake_${fake} MODULE tests/fakes/${fake}.c)
    target_link_libraries(fake_${fake} PRIVATE tilec_flags)
    set_target_properties(fake_${fake} PROPERTIES LIBRARY_OUTPUT_DIRECTORY
                                                  "${PROJECT_BINARY_DIR}/tests")
    target_compile_definitions(test_flags INTERFACE
        TEST_FAKE_$<UPPER_CASE:${fake}>="$<TARGET_FILE:fake_${fake}>")
    add_dependencies(test_fakes fake_${fake})
endforeach()
target_link_libraries(fake_plugin PRIVATE tilec_rt)
target_link_options(fake_plugin PRIVATE
    "-Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map")
if(TARGET tilec_llvm)
    target_compile_definitions(test_flags INTERFACE TEST_CODEGEN)
    if(NOT TILEC_LLVM_SHARED)
        target_compile_definitions(test_flags INTERFACE TEST_LLVM_STATIC)
    endif()
endif()

# Drivers without a GPU, NVIDIA's and AMD's: kernels run on the warp machine.
file(GLOB fake_gpu_sources CONFIGURE_DEPENDS tests/fakes/gpu/*.c)
list(FILTER fake_gpu_sources EXCLUDE REGEX "/(cuda|hip)\\.c$")
foreach(side cuda cuda11 hip hip5)
    string(REGEX REPLACE "[0-9]+" "" file ${side})
    add_library(fake_${side} MODULE ${fake_gpu_sources} tests/fakes/gpu/${file}.c)
    target_link_libraries(fake_${side} PRIVATE tilec)
    target_link_options(fake_${side} PRIVATE "-Wl,--exclude-libs,ALL")
    set_target_properties(fake_${side} PROPERTIES
        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    target_compile_definitions(test_flags INTERFACE
        TEST_FAKE_$<UPPER_CASE:${side}>="$<TARGET_FILE:fake_${side}>")
    add_dependencies(test_fakes fake_${side})
endforeach()
target_compile_definitions(fake_cuda11 PRIVATE FAKE_CUDA_11=1)
target_compile_definitions(fake_hip PRIVATE FAKE_HIP=1)
target_compile_definitions(fake_hip5 PRIVATE FAKE_HIP=1 FAKE_HIP_5=1)

# Run code of AArch64 and of x86-64-v4 for the tests on other machines, under qemu and on Bochs
# (scripts/bochs.sh); need clang.
find_program(TILEC_RUNNER_CLANG NAMES clang-22 clang)
set(runners "${PROJECT_BINARY_DIR}/tests")
set(runner_sources runner.c aarch64.c x86_64.c)
list(TRANSFORM runner_sources PREPEND "${PROJECT_SOURCE_DIR}/tests/foreign/")
set(runner_command "${TILEC_RUNNER_CLANG}" -std=c17 -O1 -ffreestanding -fno-pic
    -fno-stack-protector -nostdlib -static -fuse-ld=lld "-I${PROJECT_SOURCE_DIR}" ${runner_sources})
set(to_aarch64 --target=aarch64-unknown-linux-gnu)
set(to_x86_64 --target=x86_64-unknown-linux-gnu -Wl,-e,begin)
set(runner_kinds "")
if(TILEC_RUNNER_CLANG AND NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    foreach(kind aarch64 x86_64)
        execute_process(COMMAND ${runner_command} ${to_${kind}} -o "${PROJECT_BINARY_DIR}/probe"
                        RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
        if(NOT failed)
            list(APPEND runner_kinds ${kind})
        endif()
    endforeach()
endif()
if(runner_kinds)
    set(runner_files "")
    foreach(kind IN LISTS runner_kinds)
        add_custom_command(OUTPUT "${runners}/foreign_${kind}"
            COMMAND ${runner_command} ${to_${kind}} -o "${runners}/foreign_${kind}"
            DEPENDS ${runner_sources} tests/foreign/runner.h tests/foreign/call.h base/cpu_abi.h)
        list(APPEND runner_files "${runners}/foreign_${kind}")
    endforeach()
    add_library(foreign_glibc MODULE tests/foreign/glibc.c)
    set_target_properties(foreign_glibc PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${runners}"
                          C_VISIBILITY_PRESET default)
    add_custom_target(foreign_runners DEPENDS ${runner_files})
    add_dependencies(test_fakes foreign_runners foreign_glibc)
    target_compile_definitions(test_flags INTERFACE
        TEST_FOREIGN_RUNNERS="${runners}"
        TEST_FOREIGN_PYTHON="${PROJECT_SOURCE_DIR}/build/bochs/bin/python")
endif()

# An emulator runs a test, but not the programs that the test starts. Many tests start the command
# by its name, so the command is a script that calls the emulator; the program itself is in bin/.
set(tilec_command $<TARGET_FILE:tilec_tool>)
if(CMAKE_CROSSCOMPILING_EMULATOR AND TARGET tilec_tool)
    set_source_files_properties(tests/base/test_os.c tests/runtime/test_cpu_pool.c
                                PROPERTIES COMPILE_DEFINITIONS TEST_EMULATED)
    set_target_properties(tilec_tool PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                                "${PROJECT_BINARY_DIR}/bin")
    list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
    set(tilec_command "${PROJECT_BINARY_DIR}/tilec")
    file(GENERATE OUTPUT "${tilec_command}"
        CONTENT "#!/bin/sh\nexec ${emulator} '$<TARGET_FILE:tilec_tool>' \"$@\"\n"
        FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                         WORLD_EXECUTE)
endif()

# Under the address sanitizer a server runs the commands of tests (tests/served/served.h).
if(TARGET tilec_tool AND TILEC_SANITIZE MATCHES "address" AND NOT CMAKE_CROSSCOMPILING)
    add_executable(tool_server tests/served/server.c $<TARGET_OBJECTS:tilec_tool>)
    target_link_libraries(tool_server PRIVATE tilec)
    target_link_options(tool_server PRIVATE -no-pie -Wl,--wrap=main)
    target_compile_definitions(tool_server PRIVATE TEST_BINARY_DIR="${PROJECT_BINARY_DIR}")
    add_executable(served_tilec tests/served/command.c)
    target_include_directories(served_tilec PRIVATE "${PROJECT_SOURCE_DIR}")
    target_compile_definitions(served_tilec PRIVATE TEST_TOOL="${PROJECT_BINARY_DIR}/tilec")
    set_target_properties(served_tilec PROPERTIES OUTPUT_NAME tilec
        RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/served")
    target_compile_definitions(test_flags INTERFACE
        TEST_SERVER="${PROJECT_BINARY_DIR}/tool_server"
        TEST_SERVED="${PROJECT_BINARY_DIR}/served")
    add_dependencies(test_fakes tool_server served_tilec)
endif()

# Code shared by the programs of tests/matrix.
file(GLOB matrix_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/matrix/*.c")
list(FILTER matrix_sources EXCLUDE REGEX "/(test|long)_[^/]*$")
if(matrix_sources)
    add_library(test_matrix STATIC ${matrix_sources})
    target_link_libraries(test_matrix PUBLIC test_support)
endif()

# Kernels in C as shared objects without undefined symbols, for the device cpu: no sanitizers.
add_library(test_twice MODULE tests/runtime/modules/twice.c)
target_include_directories(test_twice PRIVATE "${PROJECT_SOURCE_DIR}")
set_target_properties(test_twice PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")

# Programs look for the compiler library in their own folder.
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
file(CREATE_LINK ../libtilec_llvm.so "${PROJECT_BINARY_DIR}/tests/libtilec_llvm.so" SYMBOLIC)

# The machine's GPUs must not affect the tests.
set(no_gpus "TILEC_CUDA_LIBRARY=none" "TILEC_HIP_LIBRARY=none")

function(tilec_test_program target test_name label)
    add_executable(${target} ${ARGN})
    if(test_name MATCHES "^memory/")
        target_link_libraries(${target} PRIVATE test_support_static)
    else()
        target_link_libraries(${target} PRIVATE test_support)
    endif()
    add_dependencies(${target} test_fakes)
    tilec_runs_here(here "${test_name}")
    if(here AND label STREQUAL "quick")
        add_dependencies(commit_tests ${target})
    endif()
    set_target_properties(${target} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    if(TARGET tilec_tool)
        add_dependencies(${target} tilec_tool)  # some run the command
    endif()
    if(test_name MATCHES "/test_cpu_module$")
        add_dependencies(${target} test_twice)
    endif()
    if(TARGET tilec_llvm)
        add_dependencies(${target} tilec_llvm)  # some open it
    endif()
    if(TARGET tilec_rt_shared)
        add_dependencies(${target} tilec_rt_shared)  # which built libraries ask for
    endif()
    add_test(NAME "${test_name}" COMMAND ${target} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties("${test_name}" PROPERTIES LABELS "${label}"
        ENVIRONMENT "TILEC_CACHE_DIR=${PROJECT_BINARY_DIR}/cache;${no_gpus}")
    # scripts/test-all.sh sets the variable before it configures: whole matrices do not count as
    # quick.
    if(label STREQUAL "quick" AND NOT DEFINED ENV{TILEC_TEST_WHOLE})
        set_tests_properties("${test_name}" PROPERTIES TIMEOUT 600)
    else()
        set_tests_properties("${test_name}" PROPERTIES TIMEOUT 14400)
    endif()
endfunction()

file(GLOB_RECURSE unit_sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/tests"
     "${PROJECT_SOURCE_DIR}/tests/test_*.c" "${PROJECT_SOURCE_DIR}/tests/long_*.c")
foreach(source IN LISTS unit_sources)
    if(source MATCHES "^(support|fuzz|filetest|files)/"
       OR source MATCHES "^mutate/"
       OR source MATCHES "^examples/[^/]*$" AND NOT source MATCHES "/long_")
        continue()
    endif()
    string(REGEX REPLACE "\\.c$" "" name "${source}")
    string(REPLACE "/" "_" target "${name}")
    if(source MATCHES "(^|/)long_[^/]*$")
        set(label long)
    else()
        set(label quick)
    endif()
    tilec_test_program(${target} "${name}" ${label} "tests/${source}")
    if(source MATCHES "^matrix/")
        target_link_libraries(${target} PRIVATE test_matrix)
    endif()
    if(source MATCHES "^triton/")
        file(GLOB triton_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/triton/*.c")
        list(FILTER triton_sources EXCLUDE REGEX "/test_[^/]*$")
        target_sources(${target} PRIVATE ${triton_sources})
    endif()
    if(source MATCHES "^memory/")  # whose memory runs out when they say so
        target_sources(${target} PRIVATE tests/memory/failing.c tests/memory/session.c)
        foreach(function malloc calloc realloc aligned_alloc os_pages_map arena_alloc arena_array)
            target_link_options(${target} PRIVATE "-Wl,--wrap=${function}")
        endforeach()
    endif()
endforeach()

# gcc 12 for AArch64 crashes when it vectorizes a loop there (in vect_transform_reduction).
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 13
   AND CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    set_source_files_properties(tests/sim/test_triton.c PROPERTIES
                                COMPILE_OPTIONS -fno-tree-vectorize)
endif()

# For scripts/triton-corpus.sh.
add_executable(triton_corpus EXCLUDE_FROM_ALL tests/frontend/triton/corpus.c)
target_link_libraries(triton_corpus PRIVATE tilec tilec_flags)
set_target_properties(triton_corpus PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")

file(GLOB example_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/examples/*.c")
list(FILTER example_sources EXCLUDE REGEX "/long_[^/]*$")
# They run through the public API that the command uses, so they are built if the command is.
if(example_sources AND TARGET tilec_tool)
    tilec_test_program(test_examples examples quick ${example_sources})
    add_test(NAME examples_long COMMAND test_examples --long
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(examples_long PROPERTIES LABELS long TIMEOUT 14400)
endif()

# The host program that uses most of the API, on every kind of device. tests/install/ builds it, and
# the others, as users do.
add_executable(example_layers examples/c/layers.c)
target_link_libraries(example_layers PRIVATE tilec tilec_flags)
set_target_properties(example_layers PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
add_dependencies(example_layers test_fakes)
add_dependencies(commit_tests example_layers)
add_test(NAME examples_c/layers COMMAND bash tests/examples/layers.sh $<TARGET_FILE:example_layers>
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
set_tests_properties(examples_c/layers PROPERTIES LABELS quick TIMEOUT 600
    ENVIRONMENT "TILEC_CACHE_DIR=${PROJECT_BINARY_DIR}/cache")

# Kernels in Python files, compiled while the program runs and ahead of time.
foreach(name matmul moe)
    add_executable(example_${name}_jit examples/triton/${name}_jit.c examples/triton/check.c)
    target_link_libraries(example_${name}_jit PRIVATE tilec tilec_flags)
    set_target_properties(example_${name}_jit PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    add_dependencies(commit_tests example_${name}_jit)
endforeach()
add_test(NAME examples_triton COMMAND bash tests/examples/triton.sh
         "${PROJECT_BINARY_DIR}/tests" "${PROJECT_BINARY_DIR}/tests/example_ahead"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
set_tests_properties(examples_triton PROPERTIES LABELS quick TIMEOUT 600
    ENVIRONMENT "TILEC_CACHE_DIR=${PROJECT_BINARY_DIR}/cache;TILEC_TUNE_FILE=")

# Mutants of the examples' code for GPUs: a slice of them in the quick run, all in the long one.
file(GLOB mutate_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/mutate/*.c")
if(example_sources AND TARGET tilec_llvm)
    set(example_parts ${example_sources})
    list(FILTER example_parts EXCLUDE REGEX "/test_[^/]*$")
    set(mutate_parts ${mutate_sources})
    list(FILTER mutate_parts EXCLUDE REGEX "/test_[^/]*$")
    tilec_test_program(test_mutants mutate/mutants quick ${mutate_parts} ${example_parts}
                       "${PROJECT_SOURCE_DIR}/tests/mutate/test_main.c")
    tilec_test_program(test_producers mutate/producers quick ${mutate_parts} ${example_parts}
                       "${PROJECT_SOURCE_DIR}/tests/mutate/test_producers.c")
    add_test(NAME mutate/long_producers COMMAND test_producers --whole
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    add_test(NAME mutate/long_mutants COMMAND test_mutants --whole
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    add_test(NAME mutate/mutants_gfx942 COMMAND test_mutants --device sim:gfx942
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    # In AMD code fewer mutants are detected, or proven to be equivalent (docs/sim.md).
    add_test(NAME mutate/long_mutants_gfx942
             COMMAND test_mutants --whole --device sim:gfx942 --least 970
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(mutate/mutants_gfx942 PROPERTIES LABELS quick TIMEOUT 600)
    set_tests_properties(mutate/long_mutants mutate/long_mutants_gfx942 mutate/long_producers
        PROPERTIES LABELS long TIMEOUT 14400)
    set_tests_properties(mutate/mutants_gfx942 mutate/long_mutants mutate/long_mutants_gfx942
        mutate/long_producers
        PROPERTIES ENVIRONMENT "TILEC_CACHE_DIR=${PROJECT_BINARY_DIR}/cache;${no_gpus}")
endif()

# Compiled code: the examples and the blocks of docs/language.md, for each target that this machine
# runs. The quick run has two targets, the long one all of them (the examples with all extents). The
# examples also run on simulated GPUs, with small extents.
function(tilec_target_test name target label)
    add_test(NAME "${name}" COMMAND ${ARGN} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set(environment "TILEC_CACHE_DIR=${PROJECT_BINARY_DIR}/cache" ${no_gpus}
        "TILEC_CPU_TARGET=${target}")
    set_tests_properties("${name}" PROPERTIES LABELS ${label} TIMEOUT 14400
        ENVIRONMENT "${environment}")
endfunction()
if(TARGET tilec_llvm AND TARGET test_examples)
    set(tilec_targets native)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
        file(READ /proc/cpuinfo cpuinfo)
        foreach(level "v2 sse4_2" "v3 avx2" "v4 avx512vl")
            separate_arguments(level UNIX_COMMAND "${level}")
            list(GET level 0 name)
            list(GET level 1 feature)
            if(cpuinfo MATCHES " ${feature} ")
                list(APPEND tilec_targets x86-64-${name})
            endif()
        endforeach()
    endif()
    foreach(target IN LISTS tilec_targets)
        set(label long)
        if(target STREQUAL "native")
            set(label quick)
        else()
            tilec_target_test(examples/slice-${target} ${target} quick
                              test_examples --device cpu --one-in 8)
        endif()
        tilec_target_test(examples/cpu-${target} ${target} ${label} test_examples --device cpu)
        tilec_target_test(examples_long/cpu-${target} ${target} long
                          test_examples --long --device cpu)
        if(TARGET docs_test_language AND NOT target STREQUAL "native")
            tilec_target_test(docs/test_language-${target} ${target} quick docs_test_language)
        endif()
    endforeach()
    foreach(arch sm_75 sm_80 sm_89 sm_90 sm_90a gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1201)
        set(one_in 12)
        if(arch MATCHES "^(sm_80|sm_90a|gfx942|gfx1100)$")
            set(one_in 8)
        endif()
        tilec_target_test(examples/slice-${arch} native quick
                          test_examples --device sim:${arch} --one-in ${one_in})
        tilec_target_test(examples/sim-${arch} native long test_examples --device sim:${arch})
        tilec_target_test(examples_long/sim-${arch} native long
                          test_examples --long --device sim:${arch})
    endforeach()
    # From sm_100 on LLVM keeps other vectors in registers: the quick run has examples that depend
    # on it.
    foreach(arch sm_100 sm_120)
        tilec_target_test(examples/sim-${arch} native long test_examples --device sim:${arch})
        tilec_target_test(examples/slice-${arch} native quick
                          test_examples --device sim:${arch} --one-in 8)
        foreach(name adam dropout)
            tilec_target_test(examples/sim-${arch}-${name} native quick
                              test_examples --device sim:${arch} ${name})
        endforeach()
    endforeach()
    # Options that are off by default.
    foreach(arch gfx942 gfx950)
        foreach(option direct=1 chiplets=8 turns=1)
            string(REPLACE "=" "" name ${option})
            tilec_target_test(examples/sim-${arch}-${name} native long
                              test_examples --device sim:${arch} --option ${option})
        endforeach()
        foreach(kernel matmul matmul_i8 linear_relu attention)
            tilec_target_test(examples/sim-${arch}-options-${kernel} native quick
                              test_examples --device sim:${arch} --option direct=1
                              --option chiplets=8 --one-in 8 ${kernel})
        endforeach()
    endforeach()
    # These tests write to the same folders, so they must not run at the same time.
    get_property(all_tests DIRECTORY PROPERTY TESTS)
    list(FILTER all_tests INCLUDE REGEX "^docs/test_language")
    set_tests_properties(${all_tests} PROPERTIES RESOURCE_LOCK docs_language)
endif()

file(GLOB filetest_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/filetest/*.c")
if(filetest_sources)
    add_executable(filetest ${filetest_sources})
    target_link_libraries(filetest PRIVATE test_support)
    add_test(NAME filetest/selftest
        COMMAND bash "${PROJECT_SOURCE_DIR}/tests/filetest/selftest.sh" $<TARGET_FILE:filetest>)
    set_tests_properties(filetest/selftest PROPERTIES LABELS quick TIMEOUT 300)
    if(TARGET tilec_tool)
        file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE
             "${PROJECT_SOURCE_DIR}/tests/files" "${PROJECT_SOURCE_DIR}/tests/files/*")
        foreach(folder IN LISTS folders)
            if(NOT IS_DIRECTORY "${PROJECT_SOURCE_DIR}/tests/files/${folder}")
                continue()
            endif()
            # Large folders are three tests, which have turns.
            set(parts 1)
            if(folder MATCHES "^(explain|passes|run)$")
                set(parts 1 2 3)
            endif()
            list(LENGTH parts count)
            foreach(part IN LISTS parts)
                set(name "files/${folder}")
                set(labels quick)
                if(count GREATER 1)
                    string(APPEND name "-${part}")
                    math(EXPR turn "${part} - 1")
                    list(APPEND labels turn${turn})
                endif()
                add_test(NAME "${name}"
                    COMMAND filetest --tool ${tilec_command} --part ${part}/${count}
                            "tests/files/${folder}"
                    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
                set_tests_properties("${name}" PROPERTIES LABELS "${labels}" TIMEOUT 600
                    ENVIRONMENT
                    "TILEC_CACHE_DIR=${PROJECT_BINARY_DIR}/cache;${no_gpus}")
            endforeach()
        endforeach()
    endif()
endif()

# --- what users get: the installed tree, the public headers, the binary interface
if(TARGET tilec_sealed AND TARGET tilec_tool AND NOT TILEC_TEST_SHARED)
    set(flags "")
    if(TILEC_SANITIZE)
        set(flags "-fsanitize=${TILEC_SANITIZE}")
    elseif(TILEC_COVERAGE)
        set(flags "--coverage")
    endif()
    add_test(NAME install/install
        COMMAND bash tests/install/install.sh "${PROJECT_BINARY_DIR}" "${flags}"
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    # The C++ compiler of the same family: sanitizers of two families do not mix.
    get_filename_component(cxx "${CMAKE_C_COMPILER}" NAME)
    string(REPLACE "clang" "clang++" cxx "${cxx}")
    string(REPLACE "gcc" "g++" cxx "${cxx}")
    set_tests_properties(install/install PROPERTIES
        ENVIRONMENT "CC=${CMAKE_C_COMPILER};CXX=${cxx}")
    add_test(NAME python/package
        COMMAND bash tests/python/run.sh "${PROJECT_BINARY_DIR}"
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(python/package PROPERTIES LABELS quick TIMEOUT 600 SKIP_RETURN_CODE 77
        ENVIRONMENT "TILEC_CACHE_DIR=${PROJECT_BINARY_DIR}/cache;${no_gpus}")
    add_test(NAME install/hardening
        COMMAND bash tests/install/hardening.sh "${PROJECT_BINARY_DIR}"
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    add_test(NAME install/size COMMAND bash tests/install/size.sh
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(install/size PROPERTIES ENVIRONMENT "CC=${CMAKE_C_COMPILER}")
    # The cost of a launch with a runtime as users have it: this build's, or a separate one.
    set(plain "")
    if(CMAKE_BUILD_TYPE STREQUAL "Release" AND flags STREQUAL "")
        set(plain "${PROJECT_BINARY_DIR}")
    endif()
    if(TARGET tilec_llvm)
        add_test(NAME cost/launch
            COMMAND bash tests/cost/cost.sh $<TARGET_FILE:tilec_tool> ${plain}
            WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
        set_tests_properties(cost/launch PROPERTIES LABELS quick TIMEOUT 600 SKIP_RETURN_CODE 77
            ENVIRONMENT "CC=${CMAKE_C_COMPILER};TILEC_CACHE_DIR=${PROJECT_BINARY_DIR}/cache")
    endif()
    add_test(NAME install/headers COMMAND bash tests/install/headers.sh
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    # Kernels compiled ahead of time: the examples as users have them, and tilec_add_library in this
    # tree.
    add_test(NAME aot/aot COMMAND bash tests/aot/aot.sh "${PROJECT_BINARY_DIR}" "${flags}"
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(aot/aot PROPERTIES LABELS quick TIMEOUT 600 SKIP_RETURN_CODE 77
        ENVIRONMENT
        "CC=${CMAKE_C_COMPILER};CXX=${cxx};TILEC_CACHE_DIR=${PROJECT_BINARY_DIR}/cache")
    if(TARGET tilec_llvm)
        tilec_add_library(tree_ops SOURCES examples/vector_add.tile TARGETS native SET T=f32)
        include(examples/triton/ops.cmake)
        tilec_add_library(triton_ops
            SOURCES examples/triton/matmul.py examples/triton/moe.py NAME ops
            TARGETS sm_80 sm_90a gfx942 native ${OPS_FUNCTIONS} RUNTIME tilec)
        add_executable(example_ahead examples/triton/ahead.c examples/triton/check.c)
        target_link_libraries(example_ahead PRIVATE triton_ops tilec_flags)
        set_target_properties(example_ahead PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
        add_dependencies(commit_tests example_ahead)
        add_executable(aot_tree tests/aot/tree.c)
        target_link_libraries(aot_tree PRIVATE tree_ops tilec_flags)
        set_target_properties(aot_tree PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
        add_test(NAME aot/tree COMMAND aot_tree)
        set_tests_properties(aot/tree PROPERTIES LABELS quick TIMEOUT 60
            ENVIRONMENT "${no_gpus}")
    endif()
    add_test(NAME abi/symbols COMMAND bash tests/abi/symbols.sh "${PROJECT_BINARY_DIR}"
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    add_test(NAME docs/tables COMMAND bash tests/docs/tables.sh
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    add_test(NAME docs/c_api COMMAND bash tests/docs/c_api.sh
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    add_test(NAME docs/links COMMAND bash tests/docs/links.sh
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    add_test(NAME docs/blocks COMMAND bash tests/docs/blocks.sh
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    add_test(NAME docs/results COMMAND bash tests/docs/results.sh
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    add_test(NAME docs/selftest COMMAND bash tests/docs/selftest.sh
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    if(TARGET tilec_llvm)
        file(GLOB tutorial_pages CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
            "${PROJECT_SOURCE_DIR}/docs/tutorial/*.md")
        file(GLOB pages CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
            "${PROJECT_SOURCE_DIR}/docs/*.md")
        add_test(NAME docs/console COMMAND bash tests/docs/console.sh "${PROJECT_BINARY_DIR}"
            README.md ${pages} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
        add_test(NAME docs/tutorial COMMAND bash tests/docs/console.sh "${PROJECT_BINARY_DIR}"
            ${tutorial_pages} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
        add_test(NAME docs/pictures COMMAND bash tests/docs/pictures.sh $<TARGET_FILE:tilec_tool>
            WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
        set_tests_properties(docs/console docs/tutorial docs/pictures PROPERTIES LABELS quick
            TIMEOUT 600 ENVIRONMENT "TILEC_CACHE_DIR=${PROJECT_BINARY_DIR}/cache;${no_gpus}")
    endif()
    set_tests_properties(install/install install/headers install/hardening install/size
        abi/symbols docs/blocks docs/c_api docs/links docs/results docs/selftest docs/tables
        PROPERTIES LABELS quick TIMEOUT 600 SKIP_RETURN_CODE 77)
    if(TILEC_COVERAGE)  # whose names are not hidden
        set_tests_properties(abi/symbols PROPERTIES DISABLED ON)
    endif()
endif()

# --- rules of the code: every script of scripts/check, except its helpers and same-code.sh, which
# builds another commit. They read the data of this build and its sibling builds.
file(GLOB check_scripts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/scripts/check/*.sh")
list(FILTER check_scripts EXCLUDE REGEX "/same-code\\.sh$")
foreach(script IN LISTS check_scripts)
    get_filename_component(name "${script}" NAME_WE)
    add_test(NAME "check/${name}" COMMAND bash "${script}" "${PROJECT_SOURCE_DIR}"
                                           "${PROJECT_BINARY_DIR}"
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties("check/${name}" PROPERTIES LABELS "quick;check" TIMEOUT 600
                                                    SKIP_RETURN_CODE 77)
endforeach()

# Generated pages must match the output of their generators.
foreach(page ir explain chips triton)
    add_test(NAME check/${page}_docs COMMAND gen_${page}_docs --check docs/${page}.md
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(check/${page}_docs PROPERTIES LABELS "quick;check" TIMEOUT 60)
endforeach()

# Other files that tests with the label `commit` need.
if(commit_build STREQUAL "release")
    add_dependencies(commit_tests ${tilec_installed} gen_ir_docs gen_explain_docs gen_chips_docs
                     gen_triton_docs filetest test_fakes)
    foreach(target test_examples test_mutants docs_test_language aot_tree)
        if(TARGET ${target})
            add_dependencies(commit_tests ${target})
        endif()
    endforeach()
elseif(commit_build STREQUAL "sanitized")
    add_dependencies(commit_tests filetest test_fakes)
endif()
if(TARGET tilec_tool)
    add_dependencies(commit_tests tilec_tool)
endif()

# Bounded fuzzing builds its own tree; it has a separate label, so that `-L quick` stays quick.
if(EXISTS "${PROJECT_SOURCE_DIR}/scripts/fuzz.sh")
    add_test(NAME fuzz COMMAND bash scripts/fuzz.sh WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(fuzz PROPERTIES LABELS fuzz TIMEOUT 3600 SKIP_RETURN_CODE 77)
endif()

# The fuzz targets on their corpus: inputs that failed once must not fail again.
file(GLOB fuzz_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_*.c")
foreach(source IN LISTS fuzz_sources)
    get_filename_component(name "${source}" NAME_WE)
    string(REPLACE "fuzz_" "" name "${name}")
    set(inputs "")
    if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name}")
        list(APPEND inputs "tests/fuzz/corpus/${name}")
    endif()
    if(name STREQUAL "source")
        list(APPEND inputs examples tests/files/errors)
    elseif(name STREQUAL "archive")
        list(APPEND inputs tests/compile/archive_format1.bin)
    endif()
    add_executable(replay_${name} "${source}" tests/fuzz/replay.c)
    if(name STREQUAL "npy")
        target_sources(replay_${name} PRIVATE tools/npy.c)
    endif()
    target_link_libraries(replay_${name} PRIVATE test_support)
    set_target_properties(replay_${name} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests")
    add_test(NAME fuzz/${name} COMMAND replay_${name} ${inputs}
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(fuzz/${name} PROPERTIES LABELS quick TIMEOUT 600
                                                 ENVIRONMENT "${no_gpus}")
    if(commit_build STREQUAL "sanitized")
        add_dependencies(commit_tests replay_${name})
    endif()
endforeach()

# --help of the scripts, the output of an interrupted test command, and which tests it chooses.
foreach(script scripts turns)
    add_test(NAME scripts/${script} COMMAND bash tests/scripts/${script}.sh
             WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(scripts/${script} PROPERTIES LABELS quick TIMEOUT 60)
endforeach()

# The bundle for machines with GPUs: it builds the preset release, and has a separate label, too.
add_test(NAME bundle COMMAND bash tests/bundle/bundle.sh WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
set_tests_properties(bundle PROPERTIES LABELS "quick" TIMEOUT 3600 SKIP_RETURN_CODE 77)

# NVIDIA's assembler accepts the examples' PTX and spills nothing.
add_test(NAME examples/ptxas COMMAND bash tests/ptxas/ptxas.sh $<TARGET_FILE:tilec_tool>
         WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
set_tests_properties(examples/ptxas PROPERTIES LABELS quick TIMEOUT 900 SKIP_RETURN_CODE 77)
add_test(NAME examples/amdgpu COMMAND bash tests/amdgpu/objects.sh $<TARGET_FILE:tilec_tool>
         WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
set_tests_properties(examples/amdgpu PROPERTIES LABELS quick TIMEOUT 900)
add_test(NAME examples/amdgpu-options COMMAND bash tests/amdgpu/options.sh $<TARGET_FILE:tilec_tool>
         WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
set_tests_properties(examples/amdgpu-options PROPERTIES LABELS quick TIMEOUT 900)
add_test(NAME examples/amdgpu-loops COMMAND bash tests/amdgpu/loops.sh $<TARGET_FILE:tilec_tool>
         WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
set_tests_properties(examples/amdgpu-loops PROPERTIES LABELS quick TIMEOUT 900)

# The exact reference for the math functions, if it is installed.
find_library(MPFR_LIBRARY mpfr)
find_library(GMP_LIBRARY gmp)
find_path(MPFR_INCLUDE mpfr.h)
if(MPFR_LIBRARY AND GMP_LIBRARY AND MPFR_INCLUDE)
    foreach(target passes_test_expand_math passes_long_expand_math)
        target_compile_definitions(${target} PRIVATE TEST_HAS_MPFR)
        target_include_directories(${target} SYSTEM PRIVATE "${MPFR_INCLUDE}")
        target_link_libraries(${target} PRIVATE "${MPFR_LIBRARY}" "${GMP_LIBRARY}")
    endforeach()
endif()

# NVIDIA's own header, if the toolkit is installed.
find_path(CUDA_INCLUDE cuda.h PATHS /usr/local/cuda/include "$ENV{CUDA_HOME}/include"
          NO_DEFAULT_PATH)
if(CUDA_INCLUDE)
    target_compile_definitions(runtime_test_cuda_header PRIVATE TEST_HAS_CUDA)
    target_include_directories(runtime_test_cuda_header SYSTEM PRIVATE "${CUDA_INCLUDE}")
endif()

# AMD's own headers, if they are installed (Debian: libamdhip64-dev).
find_path(HIP_INCLUDE hip/hip_runtime_api.h PATHS "$ENV{ROCM_PATH}/include" /opt/rocm/include)
if(HIP_INCLUDE)
    target_compile_definitions(runtime_test_hip_header PRIVATE TEST_HAS_HIP)
    target_include_directories(runtime_test_hip_header SYSTEM PRIVATE "${HIP_INCLUDE}")
endif()

# --- labels and variables of all tests, when all are known
include(cmake/turns.cmake)
get_property(all_tests DIRECTORY PROPERTY TESTS)
foreach(test IN LISTS all_tests)
    get_test_property("${test}" LABELS labels)
    tilec_runs_here(here "${test}")
    if(here AND "quick" IN_LIST labels)
        list(APPEND labels commit)
        set_tests_properties("${test}" PROPERTIES LABELS "${labels}")
    endif()
    # The address sanitizer mistakes some thread-local blocks of loaded libraries for those of an
    # older glibc.
    get_test_property("${test}" ENVIRONMENT environment)
    if(NOT environment)
        set(environment "")
    endif()
    set_tests_properties("${test}" PROPERTIES
        ENVIRONMENT "${environment};ASAN_OPTIONS=intercept_tls_get_addr=0")
endforeach()
