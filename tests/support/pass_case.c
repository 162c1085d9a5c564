#include "tests/support/pass_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ir/build.h"
#include "ir/interp/interp.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "passes/pass.h"

PassWorld pass_world(void) {
    PassWorld w = {.arena = arena_create()};
    w.sources = sources_create(w.arena);
    w.names = interner_create(w.arena);
    w.diags = diags_create(w.arena, w.sources);
    return w;
}

void pass_world_free(PassWorld *w) { arena_destroy(w->arena); }

static void no_errors(PassWorld *w, const char *text) {
    if (diags_errors(w->diags) == 0) return;
    StrBuf out = strbuf(w->arena);
    diags_text(w->diags, (DiagStyle){0}, &out);
    fail_msg("%s\n%s", out.text, text);
}

IrModule *pass_parse(PassWorld *w, const char *text) {
    const SourceFile *file = source_add(w->sources, STR("case.tir"), str(text));
    IrModule *m = ir_parse(w->arena, w->sources, w->names, file, w->diags);
    no_errors(w, text);
    assert_non_null(m);
    ir_verify(m, w->diags);
    no_errors(w, text);
    return m;
}

bool pass_run(PassWorld *w, IrModule *m, const char *passes) {
    size_t count;
    const PassStep *steps = passes_parse(w->arena, str(passes), &count, w->diags);
    no_errors(w, passes);
    PassTimings timings = {0};
    PassOptions options = {.verify = true, .timings = &timings};
    passes_run(m, steps, count, &options, w->diags);
    no_errors(w, passes);
    bool changed = false;
    for (size_t i = 0; i < timings.count; i++) changed |= timings.data[i].changed;
    return changed;
}

const char *pass_print(PassWorld *w, const IrModule *m) {
    StrBuf out = strbuf(w->arena);
    ir_print_module(m, &out);
    return out.text;
}

// ---- running functions --------------------------------------------------------------------------

enum { BUFFER = 4096, RUNS = 24, PARAMS_MAX = 16 };

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
    assert_true(buffers->count < PARAMS_MAX);
    snprintf(name, sizeof name, "p%u", buffers->count);
    buffers->elem[buffers->count] = elem;
    buffers->elements[buffers->count++] = elements;
    Symbol symbol = intern(b->module->names, str(name));
    const IrType *type = ir_ptr(b->module, elem, 0, NULL);
    return ir_func_add_param(b->func, symbol, type)->value;
}

static IrFunc *wrap(IrModule *m, const IrFunc *f, Buffers *buffers) {
    IrFunc *kernel = ir_func_create(m, intern(m->names, STR("wrapped")), true);
    IrBlock *body = ir_func_add_section(kernel, IR_BODY, (Str){0}, (Span){0});
    IrBuilder b = ir_builder_at_end(body);
    IrValue *args[PARAMS_MAX];
    for (size_t i = 0; i < f->params.count; i++) {
        const IrType *type = f->params.data[i].value->type;
        bool tile = type->kind == IR_TILE;
        IrValue *p = add_buffer(&b, buffers, type->elem, tile ? type->count : 64);
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
    for (uint32_t i = 0; i < buffers->count; i++) {
        assert_true(buffers->elements[i] * dtype_size(buffers->elem[i]) <= BUFFER);
        for (uint32_t k = 0; k < buffers->elements[i]; k++) {
            dtype_store(buffers->elem[i], buffers->bytes[i], k, pick(buffers->elem[i], &seed));
        }
    }
}

static IrOutcome interpret(PassWorld *w, const IrFunc *kernel, Buffers *buffers) {
    IrArg args[PARAMS_MAX] = {0};
    for (uint32_t i = 0; i < buffers->count; i++) {
        args[i].data = buffers->bytes[i];
        args[i].base = buffers->bytes[i];
        args[i].size = BUFFER;
    }
    IrInterp *interp = ir_interp_create(w->arena, kernel);
    IrLaunch launch = {.args = args, .arg_count = buffers->count, .grid = {1, 1, 1}};
    launch.step_limit = 20000;
    IrOutcome outcome = ir_interp_run(interp, &launch, w->diags);
    ir_interp_destroy(interp);
    return outcome;
}

static void compare(const PassCase *c, const Buffers *a, const Buffers *b) {
    for (uint32_t i = 0; i < a->count; i++) {
        Dtype t = a->elem[i];
        for (uint32_t k = 0; k < a->elements[i]; k++) {
            uint64_t x = dtype_load(t, a->bytes[i], k), y = dtype_load(t, b->bytes[i], k);
            if (x == y || (dtype_is_nan(t, x) && dtype_is_nan(t, y))) continue;
            fail_msg("%s: buffer %u, element %u: %s 0x%llx before the passes, 0x%llx after",
                     c->name, i, k, dtype_name(t), (unsigned long long)x, (unsigned long long)y);
        }
    }
}

static bool can_run(const IrFunc *f) {
    if (f->is_kernel || f->params.count + f->results.count > PARAMS_MAX) return false;
    for (size_t i = 0; i < f->params.count; i++) {
        const IrType *type = f->params.data[i].value->type;
        if (type->kind == IR_VIEW || type->rank > 0 ? type->kind != IR_TILE : false) return false;
    }
    for (size_t i = 0; i < f->results.count; i++) {
        if (f->results.data[i]->kind != IR_TILE) return false;
    }
    return true;
}

static void same_results(PassWorld *w, const PassCase *c) {
    IrModule *plain = pass_parse(w, c->before), *passed = pass_parse(w, c->before);
    Buffers *a = arena_new(w->arena, Buffers, 1), *b = arena_new(w->arena, Buffers, 1);
    if (!can_run(plain->funcs.data[0])) return;
    IrFunc *plain_kernel = wrap(plain, plain->funcs.data[0], a);
    IrFunc *passed_kernel = wrap(passed, passed->funcs.data[0], b);
    pass_run(w, plain, "inline");
    pass_run(w, passed, "inline");
    pass_run(w, passed, c->passes);
    for (uint64_t run = 0; run < RUNS; run++) {
        fill(a, run);
        fill(b, run);
        IrOutcome one = interpret(w, plain_kernel, a), other = interpret(w, passed_kernel, b);
        // A run without end says nothing: fewer ops come farther in the same number of steps.
        if (one == IR_RUN_LIMIT || other == IR_RUN_LIMIT) continue;
        assert_int_equal(one, other);
        compare(c, a, b);
    }
}

// What went wrong is printed; whoever calls goes on with the next case.
static bool check_one(const PassCase *c) {
    PassWorld w = pass_world();
    IrModule *m = pass_parse(&w, c->before);
    const char *start = pass_print(&w, m);
    const char *wanted = c->after ? pass_print(&w, pass_parse(&w, c->after)) : start;
    pass_run(&w, m, c->passes);
    const char *found = pass_print(&w, m);
    bool right = strcmp(found, wanted) == 0;
    if (!right) {
        print_error("%s (%s)\nexpected:\n%s\nfound:\n%s", c->name, c->passes, wanted, found);
    } else if (pass_run(&w, m, c->passes) || strcmp(pass_print(&w, m), wanted) != 0) {
        right = false;
        print_error("%s (%s): changes again:\n%s", c->name, c->passes, pass_print(&w, m));
    }
    same_results(&w, c);
    pass_world_free(&w);
    return right;
}

void pass_cases_check(const PassCase *cases, size_t count) {
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) wrong += !check_one(&cases[i]);
    assert_int_equal(wrong, 0);
}
