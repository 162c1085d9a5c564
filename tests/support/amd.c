#include "tests/support/amd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/amd/amd.h"

static const SimProgram *read_source(Arena *arena, const AmdSource *s, Diags *diags) {
    return amd_read(arena, amd_object_bytes(arena, s),
                    (GpuDisassembler){amd_object_disassemble, NULL}, diags);
}

void amd_open_object(Warp *w, Str bytes, GpuDisassemble *disassemble) {
    *w = (Warp){.arena = arena_create()};
    w->sources = sources_create(w->arena);
    w->diags = diags_create(w->arena, w->sources);
    w->printed = strbuf(w->arena);
    Str own = {arena_text(w->arena, bytes.text, bytes.size), bytes.size};
    w->program = amd_read(w->arena, own, (GpuDisassembler){disassemble, NULL}, w->diags);
    if (!w->program) {
        StrBuf b = strbuf(w->arena);
        diags_text(w->diags, (DiagStyle){0}, &b);
        fail_msg("%s", b.text);
    }
    w->memory = sim_memory_create_at(true, SIM_AMD_BASE);
    w->variables = arena_new(w->arena, uint64_t, w->program->variable_count + 1);
    assert_true(sim_program_load(w->program, w->memory, w->variables));
    w->findings = sim_findings_create(w->arena);
    w->step_limit = 50000000;
}

void amd_open(Warp *w, const AmdSource *source) {
    Arena *arena = arena_create();
    amd_open_object(w, amd_object_bytes(arena, source), amd_object_disassemble);
    arena_destroy(arena);
}

Str amd_refused(Arena *arena, const AmdSource *source) {
    Diags *diags = diags_create(arena, sources_create(arena));
    assert_null(read_source(arena, source, diags));
    assert_true(diags_errors(diags) > 0);
    StrBuf b = strbuf(arena);
    diags_text(diags, (DiagStyle){0}, &b);
    return strbuf_str(&b);
}

// ---- Kernels around a body ----

const char *amd_kernel(Arena *arena, const char *processor, const char *body) {
    uint32_t number = (uint32_t)strtoul(processor + 3, NULL, 16);
    bool twelve = number >= 0x1200, eleven = number >= 0x1100, ten = number >= 0x1000;
    const char *load =
        eleven ? "s_load_b128 s[20:23], s[0:1], 0x0" : "s_load_dwordx4 s[20:23], s[0:1], 0x0";
    const char *wait = twelve ? "s_wait_kmcnt 0x0" : "s_waitcnt lgkmcnt(0)";
    const char *add = ten ? "v_add_co_u32 v10, vcc_lo, s20, v10\n"
                            "v_add_co_ci_u32_e64 v11, null, s21, 0, vcc_lo\n"
                          : "v_mov_b32_e32 v11, s21\nv_add_co_u32_e32 v10, vcc, s20, v10\n"
                            "v_addc_co_u32_e32 v11, vcc, 0, v11, vcc\n";
    const char *get = eleven ? "global_load_b128 v[12:15], v[10:11], off"
                             : "global_load_dwordx4 v[12:15], v[10:11], off";
    const char *come = twelve ? "s_wait_loadcnt 0x0" : "s_waitcnt vmcnt(0)";
    const char *store = eleven ? "global_store_b128 v[10:11], v[16:19], off"
                               : "global_store_dwordx4 v[10:11], v[16:19], off";
    return arena_printf(arena,
                        "v_and_b32_e32 v0, 0x3ff, v0\nv_lshlrev_b32_e32 v10, 4, v0\n%s\n%s\n%s"
                        "%s\n%s\nv_mov_b32_e32 v16, 0\nv_mov_b32_e32 v17, 0\n"
                        "v_mov_b32_e32 v18, 0\nv_mov_b32_e32 v19, 0\n%s\n%s\ns_endpgm",
                        load, wait, add, get, come, body, store);
}
