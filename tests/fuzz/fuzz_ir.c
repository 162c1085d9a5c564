// Fuzzing IR texts: any bytes parse or are refused; what was parsed prints and parses back to the
// same text; what verifies passes through the pipeline, and kernels small enough do the same on
// the interpreter before and after it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/text/text.h"
#include "ir/verify/verify.h"
#include "passes/pass.h"
#include "tests/support/any_launch.h"

enum { INPUT_MAX = 1 << 16, STEPS = 400, COUNT_MAX = 512, SCRATCH_MAX = 4096, RUNS = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct World {
    Arena *arena;
    Sources *sources;
    Interner *names;
    Diags *diags;
} World;

static void fail(const World *w, const char *what, const char *detail) {
    StrBuf text = strbuf(w->arena);
    diags_text(w->diags, (DiagStyle){0}, &text);
    fprintf(stderr, "%s\n%s\n%.*s\n", what, detail, STR_ARG(strbuf_str(&text)));
    abort();
}

static IrModule *parse(const World *w, Str text) {
    const SourceFile *file = source_add(w->sources, STR("fuzz.tir"), text);
    return ir_parse(w->arena, w->sources, w->names, file, w->diags);
}

static Str print(const World *w, const IrModule *m) {
    StrBuf out = strbuf(w->arena);
    ir_print_module(m, &out);
    return strbuf_str(&out);
}

static void round_trip(const World *w, const IrModule *m) {
    Str once = print(w, m);
    IrModule *again = parse(w, once);
    if (!again) fail(w, "what was printed does not parse", once.text);
    Str twice = print(w, again);
    if (!str_equal(once, twice)) {
        fprintf(stderr, "%.*s\n", STR_ARG(once));
        fail(w, "what was printed prints as something else", twice.text);
    }
}

// ---- which kernels are run ----------------------------------------------------------------------

// A NaN's bits are not defined (language rule 23), so nothing may look at them; and the work of one
// step must be small, for the limit counts steps.
static bool op_is_fit(const IrOp *op) {
    for (uint32_t i = 0; i < op->result_count; i++)
        if (op->results[i].type->count > COUNT_MAX) return false;
    if (op->code == IR_DOT) {
        const IrType *a = ir_operand(op, 0)->type;
        uint64_t work = (uint64_t)op->results[0].type->count * a->shape[a->rank - 1];
        if (work > SCRATCH_MAX) return false;
    }
    if (op->code == IR_THREAD_SHARED || op->code == IR_CPU_SCRATCH)
        return ir_attr_int(op, IR_ATTR_COUNT) <= SCRATCH_MAX;
    return op->code != IR_BITCAST && op->code != IR_ATOMIC_CAS && op->code != IR_VIEW_CAS;
}

static bool block_is_fit(const IrBlock *block) {
    IR_EACH_OP(op, block) {
        if (!op_is_fit(op)) return false;
        for (uint32_t i = 0; i < op->region_count; i++)
            if (!block_is_fit(op->regions[i])) return false;
    }
    return true;
}

static bool module_is_fit(const IrModule *m) {
    for (size_t i = 0; i < m->funcs.count; i++) {
        const IrFunc *f = m->funcs.data[i];
        for (size_t k = 0; k < f->sections.count; k++)
            if (!block_is_fit(f->sections.data[k].block)) return false;
    }
    return true;
}

// ---- before and after ---------------------------------------------------------------------------

static bool outcome_tells(IrOutcome outcome) {
    return outcome == IR_RUN_DONE || outcome == IR_RUN_ASSERT;
}

static void compare(const World *w, const IrFunc *plain, const IrFunc *passed, uint64_t seed) {
    AnyLaunch *a = any_launch(w->arena, plain, seed, ANY_BITS);
    AnyLaunch *b = any_launch(w->arena, passed, seed, ANY_BITS);
    if (!a || !b || !any_launch_allowed(a, plain)) return;
    size_t said = diags_count(w->diags);
    IrOutcome before = any_launch_run(a, plain, STEPS, w->diags);
    IrOutcome after = any_launch_run(b, passed, STEPS, w->diags);
    if (!outcome_tells(before) || after == IR_RUN_LIMIT) {
        diags_truncate(w->diags, said);
        return;
    }
    if (before != after) fail(w, "another outcome after the passes", print(w, passed->module).text);
    Str difference = any_launch_difference(w->arena, a, b, false);
    if (difference.size) {
        fprintf(stderr, "%.*s\n", STR_ARG(print(w, passed->module)));
        fail(w, "another result after the passes", difference.text);
    }
    diags_truncate(w->diags, said);
}

static void run(const World *w, const IrModule *m, Str text) {
    IrModule *passed = parse(w, text);
    size_t count;
    const PassStep *steps = pipeline_steps(PIPELINE_TILE, &count);
    if (!passes_run(passed, steps, count, &(PassOptions){.verify = true}, w->diags))
        fail(w, "a pass failed", print(w, m).text);
    round_trip(w, passed);
    if (!module_is_fit(m) || !module_is_fit(passed)) return;
    IrModule *written = parse(w, text);
    any_launch_expand(written, w->diags);
    for (size_t i = 0; i < m->funcs.count; i++) {
        const IrFunc *f = written->funcs.data[i];
        if (!f->is_kernel) continue;
        for (uint64_t seed = 0; seed < RUNS; seed++) compare(w, f, passed->funcs.data[i], seed);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > INPUT_MAX) return -1;
    World w = {.arena = arena_create()};
    w.sources = sources_create(w.arena);
    w.names = interner_create(w.arena);
    w.diags = diags_create(w.arena, w.sources);
    Str text = {(const char *)data, size};
    IrModule *m = parse(&w, text);
    if (!m && !diags_errors(w.diags)) fail(&w, "refused, and nothing was said", "");
    if (m) {
        round_trip(&w, m);
        if (ir_verify(m, w.diags)) run(&w, m, text);
    }
    StrBuf said = strbuf(w.arena);
    diags_text(w.diags, (DiagStyle){0}, &said);
    arena_destroy(w.arena);
    return 0;
}
