// Tile IR and what the passes of the gpu pipeline make of it: the interpreter, which runs the level
// of threads for all of them in step, must find the same bits in memory, for any number of warps
// and any layouts.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ir/analysis/layout_infer.h"
#include "ir/build.h"
#include "ir/edit.h"
#include "ir/text/text.h"
#include "ir/verify/verify.h"
#include "passes/pass.h"
#include "tests/support/slice.h"
#include "tests/support/tir.h"

static uint64_t dice = 0x2545f4914f6cdd1dU;
static uint32_t roll(uint32_t below) {
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return (uint32_t)(dice >> 20) % below;
}

// ---- layouts at random --------------------------------------------------------------------------

// Tile bits in any order to lanes, warps and registers; some hardware bits replicate.
static Layout any_layout(const IrType *type, const IrFunc *f) {
    uint32_t order[LAYOUT_MAX_TILE_BITS], next = 0, counts[3] = {0};
    Layout l = layout_empty(type->rank, type->shape);
    for (uint32_t i = 0; i < l.tile_bits; i++) order[i] = i;
    for (uint32_t i = l.tile_bits; i > 1; i--) {
        uint32_t k = roll(i), t = order[k];
        order[k] = order[i - 1];
        order[i - 1] = t;
    }
    while (1u << counts[1] < ir_lane_count(f)) counts[1]++;
    while (1 << counts[2] < f->warps) counts[2]++;
    for (int dim = 2; dim > 0; dim--) {
        for (uint32_t i = 0; i < counts[dim]; i++) {
            bool moves = next < l.tile_bits && (roll(4) != 0 || l.tile_bits - next > 4);
            layout_add(&l, dim == 2 ? LAYOUT_WARP : LAYOUT_LANE, moves ? 1u << order[next++] : 0);
        }
    }
    while (next < l.tile_bits) {
        if (roll(8) == 0 && l.dim_bits[LAYOUT_REG] < 3) layout_add(&l, LAYOUT_REG, 0);
        layout_add(&l, LAYOUT_REG, 1u << order[next++]);
    }
    return l;
}

// The same with the same warps: registers and lanes in another order.
static Layout any_in_warp(const Layout *from) {
    uint32_t shape[IR_MAX_RANK], order[LAYOUT_MAX_BITS], count = 0;
    layout_shape(from, shape);
    Layout l = layout_empty(from->rank, shape);
    for (LayoutDim dim = LAYOUT_REG; dim <= LAYOUT_LANE; dim++)
        for (uint32_t i = 0; i < from->dim_bits[dim]; i++)
            order[count++] = layout_basis(from, dim, i);
    for (uint32_t i = count; i > 1; i--) {
        uint32_t k = roll(i), t = order[k];
        order[k] = order[i - 1];
        order[i - 1] = t;
    }
    uint32_t regs = count - from->dim_bits[LAYOUT_LANE];
    for (uint32_t i = 0; i < count; i++)
        layout_add(&l, i < regs ? LAYOUT_REG : LAYOUT_LANE, order[i]);
    for (uint32_t i = 0; i < from->dim_bits[LAYOUT_WARP]; i++)
        layout_add(&l, LAYOUT_WARP, layout_basis(from, LAYOUT_WARP, i));
    return l;
}

static IrValue *convert(IrBuilder *b, IrValue *v, const Layout *l) {
    const IrType *t = ir_with_layout(b->module, v->type, l);
    return ir_result(ir_op(b, IR_GPU_CONVERT, 1, &v, 1, &t, 0, NULL), 0);
}

static void scramble_operand(IrOp *op, uint32_t i, const Layout *l) {
    if (!ir_value_is_tile(ir_operand(op, i))) return;
    IrBuilder b = ir_builder_before(op);
    ir_set_operand(op, i, convert(&b, ir_operand(op, i), l));
}

static void scramble_result(IrFunc *f, IrOp *op, uint32_t i, const Layout *l) {
    IrValue *r = ir_result(op, i);
    const IrType *old = r->type;
    if (!ir_value_is_tile(r)) return;
    r->type = ir_with_layout(f->module, old, l);
    IrBuilder b = ir_builder_at_end(op->block);
    b.before = op->next;
    IrValue *none = NULL;
    IrOp *made = ir_op(&b, IR_GPU_CONVERT, 1, &none, 1, &old, 0, NULL);
    ir_replace_all(r, ir_result(made, 0));
    ir_set_operand(made, 0, r);
}

// Each as it likes.
static void scramble_each(IrFunc *f, IrOp *op) {
    Layout l;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (!ir_value_is_tile(ir_operand(op, i))) continue;
        l = any_layout(ir_operand(op, i)->type, f);
        scramble_operand(op, i, &l);
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (!ir_value_is_tile(ir_result(op, i))) continue;
        l = any_layout(op->results[i].type, f);
        scramble_result(f, op, i, &l);
    }
}

static void scramble_reduce(IrFunc *f, IrOp *op) {
    Layout l = any_layout(ir_operand(op, 1)->type, f), r;
    for (uint32_t i = 0; i < op->operand_count; i++) scramble_operand(op, i, &l);
    for (uint32_t i = 0; i < op->result_count; i++)
        if (layout_infer_result(op, i, &l, &r)) scramble_result(f, op, i, &r);
}

static void scramble_same(IrFunc *f, IrOp *op) {
    Layout l = any_layout(op->results[0].type, f);
    for (uint32_t i = 0; i < op->operand_count; i++) scramble_operand(op, i, &l);
    for (uint32_t i = 0; i < op->result_count; i++) scramble_result(f, op, i, &l);
}

// The stored value is first moved about inside its warps.
static void scramble_store(IrFunc *f, IrOp *op) {
    if (!ir_value_is_tile(ir_operand(op, 1)) || ir_operand(op, 2)) return;
    for (uint32_t i = 3; i < op->operand_count; i++)
        if (ir_value_is_tile(ir_operand(op, i))) return;
    Layout l = any_layout(ir_operand(op, 1)->type, f);
    scramble_operand(op, 1, &l);
    for (int i = 0; i < 2; i++) {
        l = any_in_warp(&l);
        scramble_operand(op, 1, &l);
    }
}

static void scramble(IrFunc *f) {
    for (IrOp *op = ir_body(f)->first, *next; op; op = next) {
        next = op->next;
        switch (op->code) {
        case IR_REDUCE: scramble_reduce(f, op); break;
        case IR_SCAN:
        case IR_GATHER:
        case IR_SORT:
        case IR_TOPK:
        case IR_HISTOGRAM: scramble_each(f, op); break;
        case IR_ATOMIC:
        case IR_ATOMIC_CAS:
        case IR_VIEW_ATOMIC:
        case IR_VIEW_CAS:
            if (ir_value_is_tile(ir_result(op, 0))) scramble_same(f, op);
            break;
        case IR_VIEW_STORE:
            if (roll(2)) scramble_store(f, op);
            break;
        default: break;
        }
    }
}

// ---- before and after ---------------------------------------------------------------------------

typedef struct Data {
    IrArg args[8];
    void *memory[8];
    size_t bytes[8];
    Dtype elem[8];
} Data;

// Small whole numbers, which every type holds and which add exactly; specials now and then.
static uint64_t any_bits(Dtype t) {
    int64_t small = (int64_t)roll(9) - (dtype_signed(t) ? 3 : 0);
    if (t == DTYPE_BOOL) return roll(2);
    if (!dtype_is(t, DTYPE_CLASS_ANYFLOAT)) return dtype_wrap(t, (uint64_t)small);
    if (roll(40) == 0) return dtype_from_double(t, NAN, false);
    if (roll(12) == 0) return dtype_from_double(t, -0.0, false);
    return dtype_from_double(t, (double)((int64_t)roll(5) - 2), false);
}

enum { POINTED = 64 };  // elements after a pointer

static void make_data(Arena *arena, const IrFunc *f, Data *d, const Data *copy) {
    for (uint32_t i = 0; i < f->params.count; i++) {
        const IrParam *p = &f->params.data[i];
        const IrType *t = p->value->type;
        int64_t extents[IR_MAX_VIEW_RANK];
        size_t n = t->kind == IR_PTR ? POINTED : 1;
        for (uint32_t k = 0; k < t->rank; k++) n *= (size_t)(extents[k] = p->dims[k].value);
        bool packed = dtype_is(t->elem, DTYPE_CLASS_PACKED);
        d->elem[i] = packed ? DTYPE_U8 : t->elem;
        d->bytes[i] = packed ? n / 2 : n * dtype_size(t->elem);
        d->memory[i] = arena_alloc(arena, d->bytes[i]);
        for (size_t k = 0; k < (packed ? n / 2 : n); k++)
            dtype_store(d->elem[i], d->memory[i], k, packed ? roll(256) : any_bits(d->elem[i]));
        if (copy) memcpy(d->memory[i], copy->memory[i], d->bytes[i]);
        d->args[i] = tir_view(d->memory[i], t->rank, extents);
        if (t->kind == IR_PTR) d->args[i] = tir_pointer(d->memory[i], d->bytes[i]);
    }
}

static void to_threads(Tir *t, const Machine *machine, uint32_t warps, bool shaken) {
    IrFunc *f = t->module->funcs.data[0];
    PassOptions options = {.verify = true, .machine = machine};
    size_t count, first = 0;
    const PassStep *steps = pipeline_steps(PIPELINE_GPU, &count);
    f->warps = (int)warps;
    while (steps[first++].pass != PASS_GPU_LAYOUT) continue;
    bool fine = passes_run(t->module, steps, first, &options, t->diags);
    if (fine && shaken) {
        scramble(f);
        fine = ir_verify(t->module, t->diags);
    }
    // Less shared memory for a conversion than a tile needs: it goes in slices.
    Machine small = *machine;
    small.shared_bytes = UINT32_C(16) << roll(12);
    size_t last = first;
    while (steps[last++].pass != PASS_GPU_THREADS) continue;
    if (shaken) options.machine = &small;
    fine = fine && passes_run(t->module, steps + first, last - first, &options, t->diags);
    options.machine = machine;
    fine = fine && passes_run(t->module, steps + last, count - last, &options, t->diags);
    if (!fine) {
        StrBuf out = strbuf(t->arena);
        diags_text(t->diags, (DiagStyle){0}, &out);
        fail_msg("%s", out.text);
    }
    ir_interp_destroy(t->interp);
    t->interp = ir_interp_create(t->arena, f);
}

static bool same_element(Dtype t, uint64_t x, uint64_t y) {
    if (x == y) return true;
    return dtype_is(t, DTYPE_CLASS_ANYFLOAT) && isnan(dtype_to_double(t, x)) &&
           isnan(dtype_to_double(t, y));
}

static void compare(const Data *x, const Data *y, uint32_t count, const char *text,
                    uint32_t warps) {
    for (uint32_t i = 0; i < count; i++) {
        size_t size = dtype_size(x->elem[i]);
        for (size_t k = 0; k < x->bytes[i] / size; k++) {
            uint64_t a = dtype_load(x->elem[i], x->memory[i], k);
            uint64_t b = dtype_load(y->elem[i], y->memory[i], k);
            if (same_element(x->elem[i], a, b)) continue;
            fail_msg("argument %u at %zu: %g by tiles, %g by %u warps\n%s", i, k,
                     dtype_to_double(x->elem[i], a), dtype_to_double(x->elem[i], b), warps, text);
        }
    }
}

// Warps of 32 lanes and of 64.
static const GpuTarget machines[] = {{GPU_NVIDIA, 80, false, false},
                                     {GPU_AMD, 0x942, false, false},
                                     {GPU_AMD, 0x1100, false, false}};
enum { MACHINES = sizeof machines / sizeof *machines };

static void same_with(const char *text, uint32_t warps, bool shaken) {
    Tir *tile = tir_load("%s", text), *thread = tir_load("%s", text);
    const IrFunc *f = tile->module->funcs.data[0];
    uint32_t count = (uint32_t)f->params.count;
    Data x = {0}, y = {0};
    make_data(tile->arena, f, &x, NULL);
    make_data(thread->arena, f, &y, &x);
    IrOutcome expected = tir_run(tile, x.args, count, 1);
    Machine machine = machine_of_gpu(machines[roll(MACHINES)]);
    to_threads(thread, &machine, warps, shaken);
    IrOutcome found = tir_run(thread, y.args, count, 1);
    if (found != expected) fail_msg("outcome %d, expected %d\n%s", (int)found, (int)expected, text);
    compare(&x, &y, count, text, warps);
    tir_free(tile);
    tir_free(thread);
}

static const uint32_t warp_counts[] = {1, 2, 4, 8};

// The layouts that the pass chooses for one number of warps, others for all.
static void same(const char *text) {
    same_with(text, warp_counts[roll(4)], false);
    for (uint32_t i = 0; i < 4; i++) same_with(text, warp_counts[i], true);
}

static void same_file(const char *path) {
    Arena *arena = arena_create();
    same(tir_read(arena, path));
    arena_destroy(arena);
}

// ---- texts --------------------------------------------------------------------------------------

typedef struct Shape {
    uint32_t rank, extent[3];
} Shape;

static const Shape shapes[] = {{1, {1}},      {1, {8}},      {1, {64}},
                               {1, {1024}},   {2, {4, 16}},  {2, {64, 2}},
                               {2, {32, 64}}, {2, {1, 128}}, {3, {2, 8, 4}}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static char *dims(const Shape *s) {
    static char texts[8][64];
    static int next;
    char *text = texts[next++ % 8];
    int at = snprintf(text, 64, "[%u", s->extent[0]);
    for (uint32_t i = 1; i < s->rank; i++)
        at += snprintf(text + at, 64 - (size_t)at, ",%u", s->extent[i]);
    snprintf(text + at, 64 - (size_t)at, "]");
    return text;
}

static Shape without(const Shape *s, uint32_t axis) {
    Shape r = {0};
    for (uint32_t i = 0; i < s->rank; i++)
        if (i != axis) r.extent[r.rank++] = s->extent[i];
    return r;
}

static const char *zeros(uint32_t rank) {
    static const char *const texts[] = {"", "%0", "%0, %0", "%0, %0, %0"};
    return texts[rank];
}

static void add_load(StrBuf *s, const char *name, const char *view, const char *elem,
                     const Shape *shape) {
    strbuf_printf(s, "%%%s = view_load %%%s, _, %s {select = %s} : %s%s\n", name, view,
                  zeros(shape->rank), dims(shape), elem, dims(shape));
}

// Scalars go to element 0 of a view of one.
static void add_store(StrBuf *s, const char *name, const char *view, const Shape *shape) {
    strbuf_printf(s, "view_store %%%s, %%%s, _, %s {select = %s}\n", view, name,
                  zeros(shape->rank ? shape->rank : 1), shape->rank ? dims(shape) : "[0]");
}

static const char *view_dims(const Shape *s) { return s->rank ? dims(s) : "[1]"; }

// ---- reductions ---------------------------------------------------------------------------------

static const struct {
    const char *kind;
    bool place, logic, floats;
} kinds[] = {{.kind = "sum"},
             {.kind = "prod"},
             {.kind = "min"},
             {.kind = "max"},
             {.kind = "argmin", .place = true},
             {.kind = "argmax", .place = true},
             {.kind = "any", .logic = true},
             {.kind = "all", .logic = true},
             {.kind = "minnum", .floats = true},
             {.kind = "maxnum", .floats = true}};

static const Dtype types[] = {DTYPE_F32, DTYPE_I32, DTYPE_F16,    DTYPE_F64, DTYPE_BF16,
                              DTYPE_U8,  DTYPE_I64, DTYPE_F8E4M3, DTYPE_BOOL};

static void reduce_text(StrBuf *s, const char *kind, const char *elem, const char *to,
                        const Shape *shape, uint32_t axis, bool masked) {
    Shape rest = without(shape, axis);
    strbuf_printf(s, "kernel @k(%%x: view %s%s, %%m: view bool%s, %%r: view %s%s) { body {\n", elem,
                  dims(shape), dims(shape), to, view_dims(&rest));
    strbuf_printf(s, "%%0 = const {value = 0} : i64\n");
    add_load(s, "1", "x", elem, shape);
    add_load(s, "2", "m", "bool", shape);
    strbuf_printf(s, "%%3 = reduce %s, %%1 {kind = %s, axis = %u} : %s%s\n", masked ? "%2" : "_",
                  kind, axis, to, rest.rank ? dims(&rest) : "");
    add_store(s, "3", "r", &rest);
    strbuf_printf(s, "return\n} }\n");
}

static void check_reduction(size_t kind, Dtype type, const Shape *shape, bool masked) {
    for (uint32_t axis = 0; axis < shape->rank; axis++) {
        Arena *arena = arena_create();
        StrBuf text = strbuf(arena);
        const char *elem = dtype_name(type);
        reduce_text(&text, kinds[kind].kind, elem, kinds[kind].place ? "i32" : elem, shape, axis,
                    masked);
        same(text.text);
        arena_destroy(arena);
    }
}

// Every kind with every type on some shapes, and on every shape with some types.
// Half of the combinations in each slice, as with `sorts`.
static void reductions(void **state) {
    (void)state;
    size_t n = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            if (kinds[k].logic != (types[i] == DTYPE_BOOL)) continue;
            if (kinds[k].floats && !dtype_is(types[i], DTYPE_CLASS_ANYFLOAT)) continue;
            for (int masked = 0; masked < 2; masked++, n++)
                if (slice_has(n, 2)) check_reduction(k, types[i], &shapes[n % SHAPES], masked != 0);
        }
    for (size_t i = 0; i < SHAPES; i++) {
        check_reduction(0, DTYPE_F32, &shapes[i], i % 2 != 0);
        check_reduction(5, DTYPE_F32, &shapes[i], i % 2 == 0);
    }
}

// Affine maps one after the other, (a, b) then (c, d) being (ca, cb + d): associative, not
// commutative. With control in the combiner, or without.
static void custom_text(StrBuf *s, const Shape *shape, uint32_t axis, const char *op,
                        bool control) {
    bool reduces = op[0] == 'r';
    Shape rest = reduces ? without(shape, axis) : *shape;
    char types_of[2][80];
    const char *elems[] = {"i32", "i32"};
    for (int i = 0; i < 2; i++)
        snprintf(types_of[i], 80, "%s%s", elems[i], rest.rank ? dims(&rest) : "");
    strbuf_printf(s,
                  "kernel @k(%%x: view i32%s, %%y: view i32%s, %%m: view bool%s, %%r: view i32%s, "
                  "%%q: view i32%s) { body {\n%%0 = const {value = 0} : i64\n",
                  dims(shape), dims(shape), dims(shape), view_dims(&rest), view_dims(&rest));
    add_load(s, "1", "x", "i32", shape);
    add_load(s, "2", "y", "i32", shape);
    add_load(s, "3", "m", "bool", shape);
    strbuf_printf(s, "%%4 = const {value = 3} : i32\n%%5, %%6 = %s, axis = %u}", op, axis);
    strbuf_printf(s, " : %s, %s (%%7: i32, %%8: i32, %%9: i32, %%10: i32) {\n", types_of[0],
                  types_of[1]);
    if (control) {
        strbuf_printf(s,
                      "  %%11 = gt %%9, %%4 : bool\n"
                      "  %%12 = if %%11 : i32 {\n    %%13 = mul %%9, %%7 : i32\n"
                      "    yield %%13\n  } {\n    %%14 = mul %%7, %%9 : i32\n"
                      "    yield %%14\n  }\n");
    } else {
        strbuf_printf(s, "  %%12 = mul %%7, %%9 : i32\n");
    }
    strbuf_printf(s,
                  "  %%15 = mul %%9, %%8 : i32\n  %%16 = add %%15, %%10 : i32\n"
                  "  yield %%12, %%16\n}\n");
    add_store(s, "5", "r", &rest);
    add_store(s, "6", "q", &rest);
    strbuf_printf(s, "return\n} }\n");
}

static void check_custom(const char *op) {
    for (size_t i = 0; i < SHAPES; i++)
        for (uint32_t axis = 0; axis < shapes[i].rank; axis++) {
            Arena *arena = arena_create();
            StrBuf text = strbuf(arena);
            bool small = shapes[i].extent[0] * (shapes[i].rank > 1 ? shapes[i].extent[1] : 1) < 100;
            custom_text(&text, &shapes[i], axis, op, small && axis == 0);
            same(text.text);
            arena_destroy(arena);
        }
}

static void reductions_by_combiners(void **state) {
    (void)state;
    check_custom("reduce _, %1, %2 {kind = custom");
    check_custom("reduce %3, %1, %2 {kind = custom");
}

// ---- scans --------------------------------------------------------------------------------------

static void scan_text(StrBuf *s, const char *kind, const char *elem, const Shape *shape,
                      uint32_t axis, int way) {
    strbuf_printf(s, "kernel @k(%%x: view %s%s, %%r: view %s%s) { body {\n", elem, dims(shape),
                  elem, dims(shape));
    strbuf_printf(s, "%%0 = const {value = 0} : i64\n");
    add_load(s, "1", "x", elem, shape);
    strbuf_printf(s, "%%2 = scan %%1 {kind = %s, axis = %u, reverse = %s, exclusive = %s} : %s%s\n",
                  kind, axis, way & 1 ? "true" : "false", way & 2 ? "true" : "false", elem,
                  dims(shape));
    add_store(s, "2", "r", shape);
    strbuf_printf(s, "return\n} }\n");
}

static void scans(void **state) {
    (void)state;
    int n = 0;
    for (size_t k = 0; k < 4; k++)
        for (size_t i = 0; i < SHAPES; i++)
            for (uint32_t axis = 0; axis < shapes[i].rank; axis++) {
                Arena *arena = arena_create();
                StrBuf text = strbuf(arena);
                // Products leave what is exact: integers, which wrap.
                Dtype type = k == 1 ? DTYPE_I32 : types[n % 8];
                scan_text(&text, kinds[k].kind, dtype_name(type), &shapes[i], axis, n++ % 4);
                same(text.text);
                arena_destroy(arena);
            }
}

static void scans_by_combiners(void **state) {
    (void)state;
    check_custom("scan %1, %2 {kind = custom, reverse = false, exclusive = false");
    check_custom("scan %1, %2 {kind = custom, reverse = true, exclusive = true");
}

// ---- orders -------------------------------------------------------------------------------------

static void sort_text(StrBuf *s, const char *elem, const Shape *shape, uint32_t axis, bool down) {
    strbuf_printf(s,
                  "kernel @k(%%x: view %s%s, %%y: view i32%s, %%z: view bool%s, %%p: view %s%s, "
                  "%%q: view i32%s, %%r: view bool%s) { body {\n%%0 = const {value = 0} : i64\n",
                  elem, dims(shape), dims(shape), dims(shape), elem, dims(shape), dims(shape),
                  dims(shape));
    add_load(s, "1", "x", elem, shape);
    add_load(s, "2", "y", "i32", shape);
    add_load(s, "3", "z", "bool", shape);
    strbuf_printf(s,
                  "%%4, %%5, %%6 = sort %%1, %%2, %%3 {axis = %u, descending = %s} : %s%s, i32%s, "
                  "bool%s\n",
                  axis, down ? "true" : "false", elem, dims(shape), dims(shape), dims(shape));
    add_store(s, "4", "p", shape);
    add_store(s, "5", "q", shape);
    add_store(s, "6", "r", shape);
    strbuf_printf(s, "return\n} }\n");
}

static void topk_text(StrBuf *s, const char *elem, const Shape *shape, uint32_t axis,
                      uint32_t count) {
    Shape to = *shape;
    to.extent[axis] = count;
    strbuf_printf(s,
                  "kernel @k(%%x: view %s%s, %%p: view %s%s, %%q: view i32%s) { body {\n"
                  "%%0 = const {value = 0} : i64\n",
                  elem, dims(shape), elem, dims(&to), dims(&to));
    add_load(s, "1", "x", elem, shape);
    strbuf_printf(s, "%%2, %%3 = topk %%1 {axis = %u, count = %u} : %s%s, i32%s\n", axis, count,
                  elem, dims(&to), dims(&to));
    add_store(s, "2", "p", &to);
    add_store(s, "3", "q", &to);
    strbuf_printf(s, "return\n} }\n");
}

static void sorts(void **state) {
    (void)state;
    size_t n = 0;
    for (size_t k = 0; k < 2 * SHAPES; k++)
        for (uint32_t axis = 0; axis < shapes[k % SHAPES].rank; axis++, n++) {
            if (!slice_has(n, 2)) continue;
            Arena *arena = arena_create();
            StrBuf text = strbuf(arena), best = strbuf(arena);
            const Shape *shape = &shapes[k % SHAPES];
            uint32_t count = shape->extent[axis] >> n % 3;
            sort_text(&text, dtype_name(types[n % 9]), shape, axis, n % 2 != 0);
            topk_text(&best, dtype_name(types[n % 8]), shape, axis, count ? count : 1);
            same(text.text);
            same(best.text);
            arena_destroy(arena);
        }
}

static void gather_text(StrBuf *s, const char *elem, const char *index, const Shape *shape,
                        uint32_t axis, uint32_t count) {
    Shape to = *shape;
    to.extent[axis] = count;
    strbuf_printf(s,
                  "kernel @k(%%x: view %s%s, %%i: view %s%s, %%r: view %s%s) { body {\n"
                  "%%0 = const {value = 0} : i64\n",
                  elem, dims(shape), index, dims(&to), elem, dims(&to));
    add_load(s, "1", "x", elem, shape);
    add_load(s, "2", "i", index, &to);
    strbuf_printf(s, "%%3 = gather %%1, %%2 {axis = %u} : %s%s\n", axis, elem, dims(&to));
    add_store(s, "3", "r", &to);
    strbuf_printf(s, "return\n} }\n");
}

static void gathers(void **state) {
    (void)state;
    static const char *const indices[] = {"i32", "u8", "i64", "i8"};
    size_t n = 0;
    for (size_t k = 0; k < SHAPES; k++)
        for (uint32_t axis = 0; axis < shapes[k].rank; axis++, n++) {
            Arena *arena = arena_create();
            StrBuf text = strbuf(arena);
            gather_text(&text, dtype_name(types[n % 9]), indices[n % 4], &shapes[k], axis,
                        4u << n % 3);
            same(text.text);
            arena_destroy(arena);
        }
}

static void histograms(void **state) {
    (void)state;
    static const struct {
        const char *elem;
        uint32_t count, bins;
    } cases[] = {{"i32", 64, 4}, {"u8", 1024, 256}, {"i64", 8, 2}, {"i8", 256, 1}};
    for (int i = 0; i < 8; i++) {
        Arena *arena = arena_create();
        StrBuf s = strbuf(arena);
        Shape from = {1, {cases[i % 4].count}}, to = {1, {cases[i % 4].bins}};
        strbuf_printf(&s,
                      "kernel @k(%%x: view %s%s, %%m: view bool%s, %%r: view i32%s) { body {\n"
                      "%%0 = const {value = 0} : i64\n",
                      cases[i % 4].elem, dims(&from), dims(&from), dims(&to));
        add_load(&s, "1", "x", cases[i % 4].elem, &from);
        add_load(&s, "2", "m", "bool", &from);
        strbuf_printf(&s, "%%3 = histogram %s, %%1 : i32%s\n", i < 4 ? "%2" : "_", dims(&to));
        add_store(&s, "3", "r", &to);
        strbuf_printf(&s, "return\n} }\n");
        same(s.text);
        arena_destroy(arena);
    }
}

// ---- atomics ------------------------------------------------------------------------------------

// Every element by itself, so that the order does not show.
static void atomic_text(StrBuf *s, const char *rmw, const char *elem, const Shape *shape,
                        bool masked, bool old) {
    strbuf_printf(s,
                  "kernel @k(%%x: view %s%s, %%y: view %s%s, %%m: view bool%s, %%r: view %s%s) { "
                  "body {\n%%0 = const {value = 0} : i64\n",
                  elem, dims(shape), elem, dims(shape), dims(shape), elem, dims(shape));
    add_load(s, "1", "y", elem, shape);
    add_load(s, "2", "m", "bool", shape);
    strbuf_printf(s,
                  "%%3 = view_atomic %%x, %%1, %s, %s {op = %s, order = acq_rel, scope = device, "
                  "select = %s} : %s%s\n",
                  masked ? "%2" : "_", zeros(shape->rank), rmw, dims(shape), elem, dims(shape));
    if (old) add_store(s, "3", "r", shape);
    strbuf_printf(s, "return\n} }\n");
}

static void cas_text(StrBuf *s, const Shape *shape, bool masked) {
    strbuf_printf(s,
                  "kernel @k(%%x: view i32%s, %%y: view i32%s, %%m: view bool%s, %%r: view i32%s) {"
                  " body {\n%%0 = const {value = 0} : i64\n",
                  dims(shape), dims(shape), dims(shape), dims(shape));
    add_load(s, "1", "y", "i32", shape);
    add_load(s, "2", "m", "bool", shape);
    strbuf_printf(s,
                  "%%3 = add %%1, %%1 : i32%s\n%%4 = view_cas %%x, %%1, %%3, %s, %s {order = "
                  "relaxed, scope = device, select = %s} : i32%s\n",
                  dims(shape), masked ? "%2" : "_", zeros(shape->rank), dims(shape), dims(shape));
    add_store(s, "4", "r", shape);
    strbuf_printf(s, "return\n} }\n");
}

static void atomics(void **state) {
    (void)state;
    static const char *const ops[] = {"add", "max", "xchg", "sub"};
    for (size_t i = 0; i < 2 * SHAPES; i++) {
        Arena *arena = arena_create();
        StrBuf text = strbuf(arena), cas = strbuf(arena);
        const Shape *shape = &shapes[i % SHAPES];
        atomic_text(&text, ops[i % 4], i % 3 ? "i32" : "f32", shape, i % 2 != 0, i % 5 != 0);
        cas_text(&cas, shape, i % 2 == 0);
        same(text.text);
        same(cas.text);
        arena_destroy(arena);
    }
}

// All threads must agree on the result of a scalar atomic; sums into few places.
static void scalar_atomics(void **state) {
    (void)state;
    same_file("tests/passes/data/scalar_atomics.tir");
    same(
        "kernel @k(%c: view i32[8], %x: view i32[64]) { body {\n"
        "%0 = const {value = 0} : i64\n%1 = view_load %x, _, %0 {select = [64]} : i32[64]\n"
        "%2 = const {value = 7} : i32[64]\n%3 = and %1, %2 : i32[64]\n"
        "%4 = view_atomic %c, %1, _, %3 {op = add, order = release, scope = device, select = [0]}"
        " : i32[64]\nreturn\n} }\n");
}

// ---- asserts ------------------------------------------------------------------------------------

static void asserts(void **state) {
    (void)state;
    for (int i = 0; i < 12; i++) {
        Arena *arena = arena_create();
        StrBuf s = strbuf(arena);
        const Shape *shape = &shapes[i % SHAPES];
        strbuf_printf(&s, "kernel @k(%%x: view i32%s) { body {\n%%0 = const {value = 0} : i64\n",
                      dims(shape));
        add_load(&s, "1", "x", "i32", shape);
        strbuf_printf(&s,
                      "%%2 = const {value = %d} : i32%s\n%%3 = lt %%1, %%2 : bool%s\n"
                      "assert %%3 {text = \"small\"}\nreturn\n} }\n",
                      i % 3 == 0 ? 9 : 5, dims(shape), dims(shape));
        same(s.text);
        arena_destroy(arena);
    }
}

// ---- packed views -------------------------------------------------------------------------------

static void packed_text(StrBuf *s, const char *elem, const Shape *shape, int start) {
    const char *wide = elem[0] == 'i' ? "i8" : "u8";
    Shape view = *shape;
    view.extent[view.rank - 1] += 6;  // some of it outside
    strbuf_printf(s,
                  "kernel @k(%%x: view %s%s, %%y: view %s%s, %%z: view %s%s) { body {\n"
                  "%%0 = const {value = 0} : i64\n%%1 = const {value = %d} : i64\n",
                  elem, dims(&view), elem, dims(&view), wide, dims(shape), start);
    const char *first = shape->rank == 1 ? "" : shape->rank == 2 ? "%0, " : "%0, %0, ";
    strbuf_printf(s, "%%2 = const {value = 3} : %s\n", wide);
    strbuf_printf(s, "%%3 = view_load %%x, %%2, %s%%1 {select = %s} : %s%s\n", first, dims(shape),
                  wide, dims(shape));
    add_store(s, "3", "z", shape);
    strbuf_printf(s, "%%4 = add %%3, %%3 : %s%s\n", wide, dims(shape));
    strbuf_printf(s, "view_store %%y, %%4, _, %s%%1 {select = %s}\nreturn\n} }\n", first,
                  dims(shape));
}

static void packed_views(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        if (shapes[i].extent[shapes[i].rank - 1] < 2) continue;
        Arena *arena = arena_create();
        StrBuf text = strbuf(arena);
        packed_text(&text, i % 2 ? "i4" : "u4", &shapes[i], (int)(i % 3 * 4));
        same(text.text);
        arena_destroy(arena);
    }
    same(
        "kernel @k(%x: view u4[8,16], %i: view i32[32], %r: view u8[32], %s: view u8[1]) { body {\n"
        "%0 = const {value = 3} : i64\n%1 = const {value = 0} : i64\n"
        "%2 = view_load %i, _, %1 {select = [32]} : i32[32]\n"
        "%3 = view_load %x, _, %0, %2 {select = [0, 0]} : u8[32]\n"
        "%4 = view_load %x, _, %0, %0 {select = [0, 0]} : u8\n"
        "view_store %r, %3, _, %1 {select = [32]}\n"
        "view_store %s, %4, _, %1 {select = [0]}\nreturn\n} }\n");
}

// ---- indices and pointers -----------------------------------------------------------------------

// An index of u64 that does not fit i64 is outside, and so are all indices after it.
static void far_indices(void **state) {
    (void)state;
    same_file("tests/passes/data/far_indices.tir");
}

// Pointers are numbers of 64 bits on their way, whatever they point to.
static void moved_pointers(void **state) {
    (void)state;
    static const char *const elems[] = {"bool", "u8", "f32"};
    for (int i = 0; i < 3; i++) {
        Arena *arena = arena_create();
        const char *e = elems[i];
        same(arena_printf(
            arena,
            "kernel @k(%%p: *%s, %%y: view %s[128], %%z: view %s[64,2]) { body {\n"
            "%%0 = const {value = 0} : i64\n%%1 = iota : i32[64]\n%%2 = cast %%1 : i64[64]\n"
            "%%3 = const {value = 63} : i64[64]\n%%4 = sub %%3, %%2 : i64[64]\n"
            "%%5 = broadcast %%p : *%s[64]\n%%6 = ptr_add %%5, %%2 : *%s[64]\n"
            "%%7 = ptr_add %%5, %%4 : *%s[64]\n%%8 = cat %%6, %%7 {axis = 0} : *%s[128]\n"
            "%%9 = load %%8, _, _ : %s[128]\nview_store %%y, %%9, _, %%0 {select = [128]}\n"
            "%%10 = reshape %%8 : *%s[2,64]\n%%11 = permute %%10 {perm = [1, 0]} : *%s[64,2]\n"
            "%%12 = load %%11, _, _ : %s[64,2]\n"
            "view_store %%z, %%12, _, %%0, %%0 {select = [64, 2]}\nreturn\n} }\n",
            e, e, e, e, e, e, e, e, e, e, e));
        arena_destroy(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions),     cmocka_unit_test(reductions_by_combiners),
        cmocka_unit_test(scans),          cmocka_unit_test(scans_by_combiners),
        cmocka_unit_test(sorts),          cmocka_unit_test(gathers),
        cmocka_unit_test(histograms),     cmocka_unit_test(atomics),
        cmocka_unit_test(scalar_atomics), cmocka_unit_test(asserts),
        cmocka_unit_test(packed_views),   cmocka_unit_test(far_indices),
        cmocka_unit_test(moved_pointers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
