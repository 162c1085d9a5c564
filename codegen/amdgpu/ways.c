// Other ways to have a function scheduled and given registers, where LLVM's own keeps registers in
// memory or in lanes of others, or misses a wave more on each SIMD by a few.
#include <stdio.h>
#include <string.h>

#include "codegen/amdgpu/compile.h"
#include "codegen/amdgpu/gen.h"
#include "target/occupancy.h"

// The first has no attributes. What is wrong with code, the worst in the highest bits: vector
// registers that are kept in memory; waves that there are not; scalar registers that are kept in
// lanes; the waves that were nearly reached. For more vector registers than MOST no other way is
// looked for in vain: such code is large.
enum { PLAIN, WAVES, FEWER, CLAUSES, MOST = 32 };
enum { NEARLY_BITS = 6, SCALAR_BITS = 8, WAVES_BITS = 6, WAVES_MOST = 1 << 5 };

typedef struct Fault {
    uint32_t vectors, waves, scalars, nearly;  // nearly: 0: none was
} Fault;

static uint32_t at_most(uint32_t x, uint32_t bits) {
    uint32_t most = (1u << bits) - 1;
    return x < most ? x : most;
}

static uint32_t number_of_fault(Fault f) {
    uint32_t n = at_most(f.vectors, 32 - WAVES_BITS - SCALAR_BITS - NEARLY_BITS);
    n = n << WAVES_BITS | (WAVES_MOST - f.waves);
    n = n << SCALAR_BITS | at_most(f.scalars, SCALAR_BITS);
    return n << NEARLY_BITS | f.nearly;
}

static Fault fault_of_number(uint32_t n) {
    Fault f = {.nearly = n & ((1 << NEARLY_BITS) - 1)};
    n >>= NEARLY_BITS;
    f.scalars = n & ((1 << SCALAR_BITS) - 1);
    n >>= SCALAR_BITS;
    f.waves = WAVES_MOST - (n & ((1 << WAVES_BITS) - 1));
    f.vectors = n >> WAVES_BITS;
    return f;
}

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
    const Chip *chip = chip_of(m->options->target.gpu);
    AmdNeeds needs = {.threads = ir_thread_count(m->func),
                      .lanes = ir_lane_count(m->func),
                      .vectors = number_of(m, code, ".vgpr_count"),
                      .shared_bytes = gpu_shared_size(m->func)};
    Fault f = {.vectors = number_of(m, code, ".vgpr_spill_count"),
               .waves = amd_occupancy(chip, &needs).warps / SIMDS,
               .scalars = number_of(m, code, ".sgpr_spill_count")};
    needs.vectors -= needs.vectors / NEARLY;
    f.nearly = amd_occupancy(chip, &needs).warps / SIMDS;
    if (f.nearly <= f.waves) f.nearly = 0;
    return number_of_fault(f);
}

bool amdgpu_mends(uint32_t way, uint32_t fault) {
    Fault f = fault_of_number(fault);
    if (f.nearly && !f.vectors) return way == WAVES;
    return way > WAVES && (f.vectors ? f.vectors <= MOST : f.scalars != 0);
}

void amdgpu_go_way(Gen *g) {
    static const char *const strategies[AMDGPU_WAYS] = {
        [FEWER] = "iterative-minreg", [CLAUSES] = "max-memory-clause"};
    const unsigned at = (unsigned)LLVMAttributeFunctionIndex;
    const GpuGen *n = gpu_gen(g);
    char waves[12];
    if (n->way == WAVES) {
        snprintf(waves, sizeof waves, "%u", fault_of_number(n->fault).nearly);
        gpu_text_attribute(g, at, "amdgpu-waves-per-eu", waves);
    } else if (strategies[n->way]) {
        gpu_text_attribute(g, at, "amdgpu-sched-strategy", strategies[n->way]);
    }
}
