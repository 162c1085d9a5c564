// Fuzzing the PTX reader and the warp machine: any bytes are a program or are refused with a word
// why; kernels of a program run (tests/support/sim_fuzz.h).
#include <stdio.h>
#include <stdlib.h>

#include "sim/ptx/ptx.h"
#include "tests/support/sim_fuzz.h"

enum { INPUT_MAX = 1 << 14, SHARED = 2048, REGISTERS_MAX = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > INPUT_MAX) return -1;
    Arena *arena = arena_create();
    Sources *sources = sources_create(arena);
    Diags *diags = diags_create(arena, sources);
    const SourceFile *file = source_add(sources, STR("fuzz.ptx"), (Str){(const char *)data, size});
    const SimProgram *p = file ? ptx_read(arena, file, diags) : NULL;
    if (!p && !diags_errors(diags)) {
        fprintf(stderr, "refused, and nothing was said\n");
        abort();
    }
    if (p) {
        SimFuzz how = {.device = {GPU_NVIDIA, p->arch, p->arch_a, false},
                       .threads = 64,
                       .shared = SHARED,
                       .registers_max = REGISTERS_MAX};
        sim_fuzz(arena, p, &how);
    }
    StrBuf said = strbuf(arena);
    diags_text(diags, (DiagStyle){0}, &said);
    arena_destroy(arena);
    return 0;
}
