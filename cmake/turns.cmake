# The seconds of the longest tests, and the turns of most of them; see docs/testing.md.
#
# The test command starts the longest tests first. It runs a third of the tests in `turns`: each has
# its turn in one of three consecutive slices, and its label, turn0, turn1 or turn2, is the rest of
# that slice's number divided by three. Every folder of tests has others, which run in each slice
# (tests/scripts/turns.sh). The seconds are means of four slices on two slow processors.

# In each slice. The seconds are of the slice where the test is longest.
set(longest
    "32 check/selftest" "29 compile/test_long_code" "28 matrix/test_matrix"
    "20 mutate/mutants_gfx942" "16 files/run-1" "16 files/run-2" "16 files/run-3"
    "15 examples/sim-gfx950-options-attention" "15 tools/test_arrays" "13 examples/slice-gfx942"
    "12 examples/slice-gfx1100" "10 compile/test_no_memory" "8 mutate/mutants"
    "7 filetest/selftest" "6 check/headers" "5 cost/launch" "5 files/errors" "5 files/explain-1"
    "5 files/explain-2" "5 files/explain-3" "5 gen/test_special" "5 runtime/test_archive"
    "5 variants/test_mutants" "4 matrix/test_chains")

# In one slice of three.
set(turns
    "35 bundle" "26 codegen/test_cpu_memory" "26 codegen/test_cpu_values"
    "24 codegen/test_library" "22 aot/aot" "22 tools/test_measure" "20 passes/test_gpu_dot"
    "20 passes/test_gpu_threads" "19 compile/test_build_calls" "19 examples/ptxas"
    "18 examples/cpu-native" "18 matrix/test_views" "18 tools/test_build_command"
    "17 docs/tutorial" "17 gen/test_random" "17 passes/test_expand_math" "15 compile/test_build"
    "15 examples/amdgpu" "13 install/size" "13 passes/test_legalize" "12 memory/test_no_memory"
    "11 docs/console" "11 tools/test_bad_input" "11 tools/test_debuggers" "10 gen/test_planted"
    "10 install/install" "9 compile/test_foreign" "9 compile/test_overlap" "9 runtime/test_cuda"
    "8 runtime/test_hip" "7 compile/test_pack" "7 compile/test_tune" "7 examples"
    "7 examples/amdgpu-loops" "7 passes/test_gpu_wgmma" "7 sim/test_ring" "7 tools/test_options"
    "6 codegen/test_nvptx_dot" "6 compile/test_chiplets" "6 ir/test_analysis_random"
    "6 passes/test_cpu_lower" "5 base/test_ar" "5 gen/test_foreign" "5 passes/test_cpu_square"
    "5 passes/test_gpu_persistent" "5 passes/test_gpu_stage_factors" "5 passes/test_manager"
    "4 codegen/test_amdgpu" "4 codegen/test_nvptx" "4 examples/amdgpu-options" "4 ir/test_robust"
    "4 passes/test_gpu_map" "4 passes/test_gpu_pipeline" "4 passes/test_random"
    "4 sim/amd/test_clang" "4 tools/test_explain")

# tilec_row(ROW): sets `seconds` and `test`, and the test's COST if this build has the test.
macro(tilec_row row)
    string(REGEX MATCH "^[0-9]+" seconds "${row}")
    string(REGEX REPLACE "^[0-9]+ " "" test "${row}")
    if(TEST "${test}")
        set_tests_properties("${test}" PROPERTIES COST ${seconds})
    endif()
endmacro()

foreach(row IN LISTS longest)
    tilec_row("${row}")
endforeach()

# Deals the turns: the longest test first, each to the turn with the fewest seconds until then.
# Tests that a build or a machine lacks count as well, so a commit has the same turns everywhere.
list(SORT turns COMPARE NATURAL ORDER DESCENDING)
foreach(turn 0 1 2)
    set(dealt_${turn} 0)
endforeach()
foreach(row IN LISTS turns)
    tilec_row("${row}")
    set(turn 0)
    foreach(other 1 2)
        if(dealt_${other} LESS dealt_${turn})
            set(turn ${other})
        endif()
    endforeach()
    math(EXPR dealt_${turn} "${dealt_${turn}} + ${seconds}")
    if(TEST "${test}")
        get_test_property("${test}" LABELS labels)
        set_tests_properties("${test}" PROPERTIES LABELS "${labels};turn${turn}")
    endif()
endforeach()
