// Other ways to have a function scheduled and given registers, where LLVM's own keeps registers in
// memory, or misses a wave more on each SIMD by a few.
#include <stdio.h>
#include <string.h>

#include "codegen/amdgpu/compile.h"
#include "codegen/amdgpu/gen.h"
#include "ir/occupancy.h"

// The first has no attributes. A fault is the number of waves that were nearly reached, or beyond
// SPILLS the number of registers that are kept in memory: so many at most that another way may do
// with none, and is not looked for in vain in code that is large.
enum { PLAIN, WAVES, FEWER, CLAUSES, SPILLS = 64, MOST = 32 };

// A number of the code's metadata: in assembly decimal behind a colon, in an object MessagePack's.
static uint32_t number_of(const Module *m, Str code, const char *key) {
    enum { BYTE = 0xcc, PAIR = 0xcd };
    size_t at = 0, size = strlen(key);
    while (at + size < code.size && memcmp(code.text + at, key, size) != 0) at++;
    if (at + size + 2 >= code.size) return 0;
    const unsigned char *number = (const unsigned char *)code.text + at + size;
    if (m->options->output == CODEGEN_ASM) {
        uint32_t n = 0;
        for (at += size + 1; at < code.size && code.text[at] != '\n'; at++)
            if (code.text[at] >= '0' && code.text[at] <= '9')
                n = 10 * n + (uint32_t)(code.text[at] - '0');
        return n;
    }
    if (*number == PAIR) return (uint32_t)(number[1] << 8 | number[2]);
    return *number == BYTE ? number[1] : *number;
}

uint32_t amdgpu_fault(const Module *m, Str code) {
    enum { SIMDS = 4, NEARLY = 16 };
    uint32_t spills = number_of(m, code, ".vgpr_spill_count"),
             number = m->options->target.gpu.number;
    if (spills) return SPILLS + spills;
    AmdNeeds needs = {.threads = ir_thread_count(m->func),
                      .lanes = ir_lane_count(m->func),
                      .vectors = number_of(m, code, ".vgpr_count"),
                      .shared_bytes = gpu_shared_size(m->func)};
    uint32_t waves = amd_occupancy(number, &needs).warps / SIMDS;
    if (m->way == WAVES) return waves < m->fault ? m->fault : 0;
    needs.vectors -= needs.vectors / NEARLY;
    uint32_t nearly = amd_occupancy(number, &needs).warps / SIMDS;
    return nearly > waves ? nearly : 0;
}

bool amdgpu_mends(uint32_t way, uint32_t fault) {
    if (fault < SPILLS) return way == WAVES;
    return way > WAVES && fault <= SPILLS + MOST;
}

void amdgpu_go_way(Gen *g) {
    static const char *const strategies[AMDGPU_WAYS] = {
        [FEWER] = "iterative-minreg", [CLAUSES] = "max-memory-clause"};
    const unsigned at = (unsigned)LLVMAttributeFunctionIndex;
    const GpuGen *n = gpu_gen(g);
    char waves[12];
    if (n->way == WAVES) {
        snprintf(waves, sizeof waves, "%u", n->fault);
        gpu_text_attribute(g, at, "amdgpu-waves-per-eu", waves);
    } else if (strategies[n->way]) {
        gpu_text_attribute(g, at, "amdgpu-sched-strategy", strategies[n->way]);
    }
}
