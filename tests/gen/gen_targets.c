// The targets on which elementwise results have the same bits.
#include "tests/gen/gen.h"
#include "tests/support/compiled.h"
#include "tests/support/foreign.h"

const GenTarget gen_targets[GEN_TARGETS] = {
    {.name = "tile", .kind = GEN_PASSES},
    {.name = "v2", .kind = GEN_CPU, .cpu = {CPU_X86_64_V2, 0}},
    {.name = "v3", .kind = GEN_CPU, .cpu = {CPU_X86_64_V3, 0}},
    {.name = "v4", .kind = GEN_CPU, .cpu = {CPU_X86_64_V4, 0}},
    {.name = "aarch64", .kind = GEN_CPU, .cpu = {CPU_AARCH64, 0}},
    {.name = "sm_75", .kind = GEN_GPU, .gpu = {GPU_NVIDIA, 75, false, false}},
    {.name = "sm_90", .kind = GEN_GPU, .gpu = {GPU_NVIDIA, 90, false, false}},
    {.name = "gfx90a", .kind = GEN_GPU, .gpu = {GPU_AMD, 0x90a, false, false}},
    {.name = "gfx942", .kind = GEN_GPU, .gpu = {GPU_AMD, 0x942, false, false}},
    {.name = "gfx1030", .kind = GEN_GPU, .gpu = {GPU_AMD, 0x1030, false, false}},
    {.name = "gfx1100", .kind = GEN_GPU, .gpu = {GPU_AMD, 0x1100, false, false}},
    {.name = "gfx1201", .kind = GEN_GPU, .gpu = {GPU_AMD, 0x1201, false, false}},
};

const char *gen_target_missing(const GenTarget *target) {
    if (target->kind == GEN_PASSES) return NULL;
    if (!jitted_possible()) return "libtilec_llvm was not built";
    return target->kind == GEN_GPU ? NULL : foreign_missing(target->cpu);
}
