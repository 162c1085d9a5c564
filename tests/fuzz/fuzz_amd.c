// Fuzzing the reader of AMD's code objects and their warp machine: any bytes are a program or are
// refused with a word why; kernels of a program run (tests/support/sim_fuzz.h).
//
// An input that begins as an ELF file is a code object; its words stand for the instructions of a
// table. Any other input is "PROCESSOR LDS SCRATCH LANES" and lines of instructions, from which a
// code object is made.
#include <stdio.h>
#include <stdlib.h>

#include "sim/amd/amd.h"
#include "tests/support/amd_object.h"
#include "tests/support/sim_fuzz.h"

enum { INPUT_MAX = 1 << 15, SHARED = 1024, LINES_MAX = 4000, LDS_MAX = 1 << 16, WORD = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const instructions[] = {
    "s_endpgm",
    "v_mov_b32_e32 v1, v0",
    "s_load_dwordx2 s[4:5], s[0:1], 0x0",
    "s_load_b64 s[4:5], s[0:1], 0x0",
    "s_waitcnt vmcnt(0) lgkmcnt(0)",
    "s_wait_kmcnt 0x0",
    "v_lshlrev_b32_e32 v1, 2, v0",
    "global_load_dword v2, v1, s[4:5]",
    "global_load_b32 v2, v1, s[4:5]",
    "global_store_dword v1, v2, s[4:5]",
    "global_store_b32 v1, v2, s[4:5]",
    "ds_write_b32 v1, v2",
    "ds_store_b32 v1, v2",
    "ds_read_b32 v2, v1 offset:4",
    "ds_load_b32 v2, v1 offset:4",
    "s_barrier",
    "s_cbranch_execz 2",
    "s_cbranch_scc1 65533",
    "s_cmp_lg_u32 s4, s5",
    "v_add_f32_dpp v1, v1, v1 row_shr:8 row_mask:0xf bank_mask:0xf bound_ctrl:1",
    "v_mfma_f32_16x16x16_f16 v[4:7], v[0:1], v[2:3], v[4:7]",
    "v_wmma_f32_16x16x16_f16 v[4:11], v[0:7], v[0:7], v[4:11]",
    "v_dual_mov_b32 v1, 0 :: v_dual_add_f32 v2, v3, v4",
    "global_load_lds_dwordx4 v[0:1], off",
    "scratch_store_dword off, v1, off",
    "",
};

static bool by_words(void *user, Arena *arena, const GpuCodeJob *job, GpuCode *code) {
    (void)user;
    size_t count = job->bytes.size / WORD;
    GpuCodeLine *lines = arena_new(arena, GpuCodeLine, count + 1);
    for (size_t n = 0; n < count; n++) {
        uint8_t which = (uint8_t)job->bytes.text[WORD * n];
        const char *text = instructions[which % (sizeof instructions / sizeof *instructions)];
        lines[n] = (GpuCodeLine){(uint32_t)(WORD * n), WORD, str(text)};
    }
    *code = (GpuCode){lines, (uint32_t)count};
    return true;
}

static uint32_t number_of(Str *rest, uint32_t most) {
    uint64_t n;
    bool overflow = false;
    if (!str_to_u64(str_cut(*rest, ' ', rest), &n, &overflow) || overflow) return 0;
    return n < most ? (uint32_t)n : most;
}

static const SimProgram *read_text(Arena *arena, Str input, Diags *diags) {
    Str text, head = str_cut(input, '\n', &text), rest = head;
    Str name = str_cut(head, ' ', &rest);
    AmdSource s = {.processor = arena_printf(arena, "gfx%.*s", STR_ARG(name)),
                   .text = arena_text(arena, text.text, text.size),
                   .args = 4};
    s.lds = number_of(&rest, LDS_MAX), s.scratch = number_of(&rest, 256);
    s.lanes = number_of(&rest, 64) == 32 ? 32 : 0;
    return amd_read(arena, amd_object_bytes(arena, &s),
                    (GpuDisassembler){amd_object_disassemble, NULL}, diags);
}

static bool is_long(Str text) {
    uint32_t lines = 0;
    for (size_t i = 0; i < text.size; i++) lines += text.text[i] == '\n';
    return lines > LINES_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Str input = {(const char *)data, size};
    bool object = str_starts(input, STR("\177ELF"));
    if (size > INPUT_MAX || (!object && is_long(input))) return -1;
    Arena *arena = arena_create();
    Diags *diags = diags_create(arena, sources_create(arena));
    const SimProgram *p = object ? amd_read(arena, input, (GpuDisassembler){by_words, NULL}, diags)
                                 : read_text(arena, input, diags);
    if (!p && !diags_errors(diags)) {
        fprintf(stderr, "refused, and nothing was said\n");
        abort();
    }
    if (p) {
        SimFuzz how = {.device = {GPU_AMD, p->arch, false, false},
                       .base = SIM_AMD_BASE,
                       .threads = 128,
                       .shared = SHARED};
        sim_fuzz(arena, p, &how);
    }
    StrBuf said = strbuf(arena);
    diags_text(diags, (DiagStyle){0}, &said);
    arena_destroy(arena);
    return 0;
}
