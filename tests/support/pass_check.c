#include "tests/support/pass_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "ir/build.h"
#include "ir/interp/interp.h"
#include "ir/text/text.h"
#include "ir/verify/verify.h"
#include "passes/pass.h"
#include "tests/support/diff.h"

typedef struct Checker {
    Arena *arena;
    const PassCheck *check;
    Sources *sources;
    Interner *names;
    Diags *diags;
    StrBuf *report;
} Checker;

// True when there were no errors since the last call; else they are reported.
static bool no_errors(Checker *c, const char *when) {
    bool fine = diags_errors(c->diags) == 0;
    if (!fine) {
        strbuf_printf(c->report, "  %s:\n", when);
        diags_text(c->diags, (DiagStyle){0}, c->report);
    }
    diags_truncate(c->diags, 0);
    return fine;
}

static IrModule *parse(Checker *c) {
    const SourceFile *file = source_add(c->sources, str(c->check->file), c->check->text);
    IrModule *m = ir_parse(c->arena, c->sources, c->names, file, c->diags);
    if (!no_errors(c, "the module does not parse") || !m) return NULL;
    ir_verify(m, c->diags);
    return no_errors(c, "the module does not verify") ? m : NULL;
}

static Str print(Checker *c, const IrModule *m) {
    StrBuf out = strbuf(c->arena);
    ir_print_module(m, &out);
    return strbuf_str(&out);
}

// ---- planted defects ----------------------------------------------------------------------------

static bool planted(const char *name) {
    const char *plant = os_env("FILETEST_PLANT");
    return plant && strcmp(plant, name) == 0;
}

// The first addition of the block becomes another op; false when there is none.
static bool plant_op(IrBlock *block, IrOpcode code) {
    IR_EACH_OP(op, block) {
        if (op->code == IR_ADD) {
            op->code = code;
            return true;
        }
        for (uint32_t i = 0; i < op->region_count; i++)
            if (plant_op(op->regions[i], code)) return true;
    }
    return false;
}

static void plant(IrFunc *f, IrOpcode code) {
    for (size_t i = 0; i < f->sections.count; i++) plant_op(f->sections.data[i].block, code);
}

// ---- the passes ---------------------------------------------------------------------------------

static bool run_passes(Checker *c, IrModule *m, Str passes, bool *changed) {
    size_t count;
    const PassStep *steps = passes_parse(c->arena, passes, &count, c->diags);
    if (!no_errors(c, "no list of passes") || !steps) return false;
    if (planted("crash")) abort();
    PassTimings timings = {0};
    PassOptions options = {.verify = true, .timings = &timings};
    passes_run(m, steps, count, &options, c->diags);
    *changed = false;
    for (size_t i = 0; i < timings.count; i++) *changed |= timings.data[i].changed;
    if (planted("silent")) *changed = false;
    if (!no_errors(c, "a pass failed")) return false;
    // A comparison has a result of another type than an addition.
    if (planted("verify")) plant(m->funcs.data[0], IR_LT);
    ir_verify(m, c->diags);
    return no_errors(c, "the result does not verify");
}

// The manager does not verify what a pass says it has not changed.
static bool says_changes(Checker *c, Str before, Str after, bool changed) {
    if (changed || str_equal(before, after)) return true;
    strbuf_printf(c->report, "  the passes change the module, but report no change\n");
    diff_unified(c->arena, before, after, c->report);
    return false;
}

static bool stable(Checker *c, IrModule *m, Str printed) {
    bool changed;
    if (!run_passes(c, m, c->check->passes, &changed)) return false;
    changed |= planted("change");
    Str again = print(c, m);
    bool same = str_equal(again, printed);
    if (same && !changed) return true;
    strbuf_printf(c->report, "  the passes, run again, %s\n",
                  same ? "report a change, but the text is the same" : "change the module again");
    if (!same) diff_unified(c->arena, printed, again, c->report);
    return false;
}

// ---- running functions --------------------------------------------------------------------------

enum { BUFFER = 4096, RUNS = 24, PARAMS_MAX = 16, SCALAR_ELEMENTS = 64, STEPS = 20000 };

typedef struct Buffers {
    _Alignas(16) unsigned char bytes[PARAMS_MAX][BUFFER];
    uint32_t count;
    Dtype elem[PARAMS_MAX];
    uint32_t elements[PARAMS_MAX];
} Buffers;

// A tile of pointers to the elements of `p`, in the order of `type`.
static IrValue *places(IrBuilder *b, IrValue *p, const IrType *type) {
    if (type->rank == 0) return p;
    IrValue *n = ir_cast(b, ir_iota(b, type->count), DTYPE_I64, true);
    n = ir_reshape(b, n, type->rank, type->shape);
    return ir_ptr_add(b, ir_broadcast(b, p, type->rank, type->shape), n);
}

static IrValue *add_buffer(IrBuilder *b, Buffers *buffers, Dtype elem, uint32_t elements) {
    char name[16];
    snprintf(name, sizeof name, "p%u", buffers->count);
    buffers->elem[buffers->count] = elem;
    buffers->elements[buffers->count++] = elements;
    Symbol symbol = intern(b->module->names, str(name));
    const IrType *type = ir_ptr(b->module, elem, 0, NULL);
    return ir_func_add_param(b->func, symbol, type)->value;
}

// A kernel that loads the arguments of `f` (a pointer gets the buffer itself), calls it and stores
// the results.
static IrFunc *wrap(Checker *c, IrModule *m, const IrFunc *f, Buffers *buffers) {
    const char *name = arena_printf(c->arena, "wrapped_%s", f->name);
    IrFunc *kernel = ir_func_create(m, intern(m->names, str(name)), true);
    IrBlock *body = ir_func_add_section(kernel, IR_BODY, (Str){0}, (Span){0});
    IrBuilder b = ir_builder_at_end(body);
    IrValue *args[PARAMS_MAX];
    for (size_t i = 0; i < f->params.count; i++) {
        const IrType *type = f->params.data[i].value->type;
        bool tile = type->kind == IR_TILE;
        IrValue *p = add_buffer(&b, buffers, type->elem, tile ? type->count : SCALAR_ELEMENTS);
        args[i] = p;
        if (!tile) continue;
        IrValue *operands[] = {places(&b, p, type), NULL, NULL};
        args[i] = ir_result(ir_op(&b, IR_LOAD, 3, operands, 1, &type, 0, NULL), 0);
    }
    IrOp *call = ir_op(&b, IR_CALL, (uint32_t)f->params.count, args, (uint32_t)f->results.count,
                       f->results.data, 0, NULL);
    call->attrs[0].u.name = f->name;
    for (uint32_t i = 0; i < call->result_count; i++) {
        IrValue *value = ir_result(call, i);
        IrValue *p = add_buffer(&b, buffers, value->type->elem, value->type->count);
        IrValue *operands[] = {places(&b, p, value->type), value, NULL};
        ir_op(&b, IR_STORE, 3, operands, 0, NULL, 0, NULL);
    }
    ir_return(&b, 0, NULL);
    return kernel;
}

static uint64_t next_random(uint64_t *state) {
    *state += 0x9e3779b97f4a7c15u;
    uint64_t x = *state;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

// Values at the edges of a type as often as any.
static uint64_t pick(Dtype t, uint64_t *state) {
    static const double edges[] = {0.0,  -0.0,  1.0,   -1.0,  0.5,  3.0,
                                   1e30, -1e30, 1e-40, 448.0, 1e300};
    uint64_t r = next_random(state);
    if (t == DTYPE_BOOL) return r & 1;
    unsigned kind = (unsigned)(r >> 8 & 7);
    if (dtype_is(t, DTYPE_CLASS_ANYFLOAT)) {
        if (kind < 4) return dtype_from_double(t, edges[r % 11], false);
        if (kind == 4) return dtype_from_double(t, (r & 1) ? HUGE_VAL : -HUGE_VAL, false);
        return dtype_wrap(t, next_random(state));
    }
    if (kind == 0) return dtype_wrap(t, (uint64_t)dtype_int_min(t));
    if (kind == 1) return dtype_int_max(t);
    if (kind < 6) return dtype_wrap(t, r % 9 - 4);
    return dtype_wrap(t, next_random(state));
}

static void fill(Buffers *buffers, uint64_t seed) {
    memset(buffers->bytes, 0, sizeof buffers->bytes);
    for (uint32_t i = 0; i < buffers->count; i++)
        for (uint32_t k = 0; k < buffers->elements[i]; k++)
            dtype_store(buffers->elem[i], buffers->bytes[i], k, pick(buffers->elem[i], &seed));
}

static IrOutcome interpret(Checker *c, const IrFunc *kernel, Buffers *buffers) {
    IrArg args[PARAMS_MAX] = {0};
    for (uint32_t i = 0; i < buffers->count; i++) {
        args[i].data = buffers->bytes[i];
        args[i].base = buffers->bytes[i];
        args[i].size = BUFFER;
    }
    IrInterp *interp = ir_interp_create(c->arena, kernel);
    IrLaunch launch = {.args = args, .arg_count = buffers->count, .grid = {1, 1, 1}};
    launch.step_limit = STEPS;
    IrOutcome outcome = ir_interp_run(interp, &launch, c->diags);
    ir_interp_destroy(interp);
    diags_truncate(c->diags, 0);
    return outcome;
}

static bool same_bits(Checker *c, const IrFunc *f, const Buffers *a, const Buffers *b) {
    for (uint32_t i = 0; i < a->count; i++) {
        Dtype t = a->elem[i];
        for (uint32_t k = 0; k < a->elements[i]; k++) {
            uint64_t x = dtype_load(t, a->bytes[i], k), y = dtype_load(t, b->bytes[i], k);
            if (x == y || (dtype_is_nan(t, x) && dtype_is_nan(t, y))) continue;
            strbuf_printf(c->report,
                          "  @%s: other bits: buffer %u, element %u: %s 0x%llx before the passes, "
                          "0x%llx after\n",
                          f->name, i, k, dtype_name(t), (unsigned long long)x,
                          (unsigned long long)y);
            return false;
        }
    }
    return true;
}

// Both runs must end in the same way and leave the same memory.
static bool same_runs(Checker *c, const IrFunc *f, const IrFunc *plain, const IrFunc *passed,
                      Buffers *a, Buffers *b) {
    for (uint64_t run = 0; run < RUNS; run++) {
        fill(a, run);
        fill(b, run);
        IrOutcome one = interpret(c, plain, a), other = interpret(c, passed, b);
        // A run without end says nothing: fewer ops come farther in the same number of steps.
        if (one == IR_RUN_LIMIT || other == IR_RUN_LIMIT) continue;
        if (one != other) {
            strbuf_printf(c->report, "  @%s: ends otherwise after the passes: %d, then %d\n",
                          f->name, (int)one, (int)other);
            return false;
        }
        if (!same_bits(c, f, a, b)) return false;
    }
    return true;
}

static bool too_large(const IrType *type) {
    return type->kind == IR_TILE && type->count * dtype_size(type->elem) > BUFFER;
}

static bool all_small(const IrFunc *f) {
    bool large = false;
    for (size_t i = 0; i < f->params.count; i++) large |= too_large(f->params.data[i].value->type);
    for (size_t i = 0; i < f->results.count; i++) large |= too_large(f->results.data[i]);
    return !large;
}

static bool can_run(const IrFunc *f) {
    if (f->is_kernel || f->params.count + f->results.count > PARAMS_MAX) return false;
    for (size_t i = 0; i < f->params.count; i++) {
        const IrType *type = f->params.data[i].value->type;
        if (type->kind == IR_VIEW || (type->kind != IR_TILE && type->rank > 0)) return false;
    }
    for (size_t i = 0; i < f->results.count; i++)
        if (f->results.data[i]->kind != IR_TILE) return false;
    return true;
}

static bool same_results(Checker *c) {
    IrModule *plain = parse(c), *passed = parse(c);
    if (!plain || !passed) return false;
    size_t count = plain->funcs.count;  // the kernels that follow are ours
    IrFunc **before = arena_new(c->arena, IrFunc *, count);
    IrFunc **after = arena_new(c->arena, IrFunc *, count);
    Buffers *a = arena_new(c->arena, Buffers, count);
    Buffers *b = arena_new(c->arena, Buffers, count);
    for (size_t i = 0; i < count; i++) {
        const IrFunc *f = plain->funcs.data[i];
        if (!can_run(f)) continue;
        if (!all_small(f)) {
            strbuf_printf(c->report, "  @%s: tiles of more than %d bytes cannot be run here\n",
                          f->name, BUFFER);
            return false;
        }
        before[i] = wrap(c, plain, f, &a[i]);
        after[i] = wrap(c, passed, passed->funcs.data[i], &b[i]);
    }
    bool changed, fine = true;
    if (!run_passes(c, plain, STR("inline"), &changed)) return false;
    if (!run_passes(c, passed, STR("inline"), &changed)) return false;
    if (!run_passes(c, passed, c->check->passes, &changed)) return false;
    for (size_t i = 0; i < count; i++) {
        if (!before[i]) continue;
        if (planted("bits")) plant(after[i], IR_SUB);
        fine &= same_runs(c, plain->funcs.data[i], before[i], after[i], &a[i], &b[i]);
    }
    return fine;
}

bool pass_check(Arena *arena, PassCheck *check, StrBuf *report) {
    Checker c = {.arena = arena, .check = check, .report = report};
    c.sources = sources_create(arena);
    c.names = interner_create(arena);
    c.diags = diags_create(arena, c.sources);
    bool changed;
    check->printed = (Str){0};
    IrModule *m = parse(&c);
    if (!m) return false;
    Str before = print(&c, m);
    if (!run_passes(&c, m, check->passes, &changed)) return false;
    check->printed = print(&c, m);
    bool fine = says_changes(&c, before, check->printed, changed);
    fine &= stable(&c, m, check->printed);
    return same_results(&c) && fine;
}
