#include "tests/support/warp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

void warp_open(Warp *w, const char *text) {
    *w = (Warp){.arena = arena_create()};
    w->sources = sources_create(w->arena);
    w->diags = diags_create(w->arena, w->sources);
    w->printed = strbuf(w->arena);
    const SourceFile *f = source_add(w->sources, STR("k.ptx"), str(text));
    assert_non_null(f);
    w->program = ptx_read(w->arena, f, w->diags);
    if (!w->program) {
        StrBuf b = strbuf(w->arena);
        diags_text(w->diags, (DiagStyle){0}, &b);
        fail_msg("%s", b.text);
    }
    w->memory = sim_memory_create(true);
    w->variables = arena_new(w->arena, uint64_t, w->program->variable_count + 1);
    assert_true(sim_program_load(w->program, w->memory, w->variables));
    w->findings = sim_findings_create(w->arena);
    w->step_limit = 50000000;
}

Str warp_refused(Arena *arena, const char *text) {
    Sources *sources = sources_create(arena);
    Diags *diags = diags_create(arena, sources);
    const SourceFile *f = source_add(sources, STR("k.ptx"), str(text));
    assert_null(ptx_read(arena, f, diags));
    assert_true(diags_errors(diags) > 0);
    StrBuf b = strbuf(arena);
    diags_text(diags, (DiagStyle){0}, &b);
    return strbuf_str(&b);
}

void warp_watch(Warp *w) {
    w->observers[0] = sim_observe_bounds(w->arena, w->findings);
    w->observers[1] = sim_observe_poison(w->arena, w->findings);
    w->observers[2] = sim_observe_races(w->arena, w->findings);
    w->observers[3] = sim_observe_divergence(w->arena, w->findings);
    w->observers[4] = sim_observe_registers(w->arena, w->findings);
    w->observer_count = 5;
}

void warp_close(Warp *w) {
    sim_memory_destroy(w->memory);
    arena_destroy(w->arena);
}

uint64_t warp_alloc(Warp *w, size_t size) {
    uint64_t address;
    assert_true(sim_memory_alloc(w->memory, size, "buffer", &address));
    return address;
}
uint64_t warp_upload(Warp *w, const void *data, size_t size) {
    uint64_t address = warp_alloc(w, size);
    assert_true(sim_memory_write(w->memory, address, data, size));
    return address;
}
void warp_download(Warp *w, uint64_t address, void *data, size_t size) {
    assert_true(sim_memory_read(w->memory, address, data, size));
}

static void keep_text(void *user, Str text) { strbuf_add(&((Warp *)user)->printed, text); }

SimResult warp_run(Warp *w, const char *name, uint32_t blocks, uint32_t threads, uint32_t shared,
                   const uint64_t *args, uint32_t count) {
    const SimKernel *k = sim_kernel_find(w->program, str(name));
    assert_non_null(k);
    uint8_t *params = arena_alloc(w->arena, k->param_bytes + 8);
    for (uint32_t i = 0; i < k->param_count && i < count; i++)
        memcpy(params + k->params[i].offset, &args[i],
               k->params[i].size < 8 ? k->params[i].size : 8);
    for (uint32_t i = 0; i < k->param_count && i < 8; i++)
        if (w->maps[i]) memcpy(params + k->params[i].offset, w->maps[i], sizeof *w->maps[i]);
    SimLaunch l = {.kernel = k,
                   .memory = w->memory,
                   .variables = w->variables,
                   .grid = {blocks, 1, 1},
                   .block = {threads, 1, 1},
                   .device = {GPU_NVIDIA, w->program->arch, w->program->arch_a, false},
                   .shared = shared,
                   .params = params,
                   .seed = w->seed,
                   .step_limit = w->step_limit,
                   .observers = w->observers,
                   .observer_count = w->observer_count,
                   .print = keep_text,
                   .user = w};
    memcpy(l.cluster, w->cluster, sizeof l.cluster);
    if (w->grid[0]) memcpy(l.grid, w->grid, sizeof l.grid);
    if (w->block[0]) memcpy(l.block, w->block, sizeof l.block);
    return sim_run(&l);
}

void warp_run_ok(Warp *w, const char *name, uint32_t blocks, uint32_t threads, uint32_t shared,
                 const uint64_t *args, uint32_t count) {
    SimResult r = warp_run(w, name, blocks, threads, shared, args, count);
    if (r.outcome != SIM_DONE) fail_msg("%s (line %u of the text)", r.text, r.line.text_line);
    for (size_t i = 0; i < w->findings->list.count; i++) {
        const SimFinding *f = &w->findings->list.data[i];
        if (sim_finding_is_error(f->kind))
            fail_msg("%s: %.*s (line %u of the text)", sim_finding_slug(f->kind), STR_ARG(f->text),
                     f->line.text_line);
    }
}

bool warp_found(const Warp *w, SimFindingKind kind) {
    for (size_t i = 0; i < w->findings->list.count; i++)
        if (w->findings->list.data[i].kind == kind) return true;
    return false;
}

const char *warp_kernel(Arena *arena, const char *arch, const char *body) {
    return arena_printf(
        arena,
        ".version 8.7\n.target %s\n.address_size 64\n"
        ".visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1)\n{\n"
        ".reg .pred %%p<64>;\n.reg .b16 %%h<64>;\n.reg .b32 %%r<64>;\n.reg .f32 %%f<64>;\n"
        ".reg .b64 %%rd<64>;\n.reg .f64 %%fd<64>;\n.reg .b128 %%q<8>;\n"
        "ld.param.u64 %%rd63, [k_param_0];\nld.param.u64 %%rd61, [k_param_1];\n"
        "mov.u32 %%r63, %%tid.x;\n"
        "mul.wide.u32 %%rd62, %%r63, 16;\nadd.s64 %%rd63, %%rd63, %%rd62;\n"
        "%s\nret;\n}\n",
        arch, body);
}
