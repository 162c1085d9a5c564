// Products on GPUs: kernels on the interpreter before and after the pipeline `gpu`, for
// architectures with different matrix units and different numbers of warps. Values are such that
// sums are exact, so bits agree; those of reduced precision keep the documented bound. And what
// comes out is PTX that ptxas takes, without spills.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "base/os/os_folder.h"
#include "ir/edit.h"
#include "passes/pass.h"
#include "tests/support/codegen_plugin.h"
#include "tests/support/dice.h"
#include "tests/support/process.h"
#include "tests/support/slice.h"
#include "tests/support/tir.h"

typedef struct Types {
    Dtype a, b, sum;
} Types;
static const Types all_types[] = {
    {DTYPE_F32, DTYPE_F32, DTYPE_F32},       {DTYPE_F64, DTYPE_F64, DTYPE_F64},
    {DTYPE_F16, DTYPE_F16, DTYPE_F32},       {DTYPE_F16, DTYPE_F16, DTYPE_F16},
    {DTYPE_F16, DTYPE_F16, DTYPE_F64},       {DTYPE_BF16, DTYPE_BF16, DTYPE_F32},
    {DTYPE_BF16, DTYPE_BF16, DTYPE_F16},     {DTYPE_F8E4M3, DTYPE_F8E5M2, DTYPE_F32},
    {DTYPE_F8E5M2, DTYPE_F8E5M2, DTYPE_F16}, {DTYPE_F8E4M3, DTYPE_F8E4M3, DTYPE_F64},
    {DTYPE_I8, DTYPE_I8, DTYPE_I32},         {DTYPE_U8, DTYPE_I8, DTYPE_I32},
    {DTYPE_I8, DTYPE_U8, DTYPE_I32},         {DTYPE_U8, DTYPE_U8, DTYPE_I32},
    {DTYPE_I16, DTYPE_I16, DTYPE_I16},       {DTYPE_I32, DTYPE_I32, DTYPE_I32},
    {DTYPE_I64, DTYPE_I64, DTYPE_I64},
};
enum { TYPES = sizeof all_types / sizeof all_types[0] };

static const char *const targets[] = {"sm_75",  "sm_80",   "sm_89",   "sm_90",
                                      "sm_90a", "sm_120",  "gfx90a",  "gfx942",
                                      "gfx950", "gfx1030", "gfx1100", "gfx1201"};
enum { TARGETS = sizeof targets / sizeof targets[0], OF_NVIDIA = 6 };

typedef struct Case {
    Types types;
    uint32_t batch, m, n, k;  // batch 0: rank 2
    int warps;
    bool turned_a, turned_b;  // the views hold the transposed operands
    bool loop;                // three steps of k
    bool acc;                 // begins with a tile, else with none (loop: zeros)
    bool twice;               // the product is a factor of another
    IrPrecision precision;
    bool rounds;  // values with all bits: compared by a bound
} Case;

// ---- the kernel ---------------------------------------------------------------------------------

static void print_type(StrBuf *f, const Case *c, Dtype t, uint32_t rows, uint32_t columns) {
    if (c->batch)
        strbuf_printf(f, "%s[%u,%u,%u]", dtype_name(t), c->batch, rows, columns);
    else
        strbuf_printf(f, "%s[%u,%u]", dtype_name(t), rows, columns);
}

// Values have numbers: 0 zero, 1 acc, 2 end, 3 the step, 4 the loop's result, 5 k, 6 its sum, 7 a,
// 8 turned, 9 b, 10 turned, 12 the product, 13 cast, 14 the square, 15 its product with it.
static void load(StrBuf *f, const Case *c, int value, const char *view, Dtype t, const char *at,
                 uint32_t rows, uint32_t columns) {
    strbuf_printf(f, "    %%%d = view_load %%%s, _, %s%s {select = [", value, view,
                  c->batch ? "%0, " : "", at);
    if (c->batch) strbuf_printf(f, "%u, ", c->batch);
    strbuf_printf(f, "%u, %u], inside = [%s0, 0]} : ", rows, columns, c->batch ? "0, " : "");
    print_type(f, c, t, rows, columns);
    strbuf_printf(f, "\n");
}

static const char *factor(StrBuf *f, const Case *c, bool b) {
    bool turned = b ? c->turned_b : c->turned_a;
    Dtype t = b ? c->types.b : c->types.a;
    uint32_t rows = b ? c->k : c->m, columns = b ? c->n : c->k;
    bool k_first = b != turned;
    int value = b ? 9 : 7;
    load(f, c, value, b ? "b" : "a", t, k_first ? "%5, %0" : "%0, %5", turned ? columns : rows,
         turned ? rows : columns);
    if (!turned) return b ? "%9" : "%7";
    strbuf_printf(f, "    %%%d = permute %%%d {perm = %s} : ", value + 1, value,
                  c->batch ? "[0, 2, 1]" : "[1, 0]");
    print_type(f, c, t, rows, columns);
    strbuf_printf(f, "\n");
    return b ? "%10" : "%8";
}

static void print_dot(StrBuf *f, const Case *c, const char *acc) {
    const char *a = factor(f, c, false), *b = factor(f, c, true);
    strbuf_printf(f, "    %%12 = dot %s, %s, %s {precision = %s} : ", a, b, acc,
                  ir_enum_text(IR_KIND_PRECISION, c->precision));
    print_type(f, c, c->types.sum, c->m, c->n);
    strbuf_printf(f, "\n");
}

static void print_loop(StrBuf *f, const Case *c) {
    strbuf_printf(f, "    %%2 = const {value = %u} : i64\n", 3 * c->k);
    strbuf_printf(f,
                  "    %%3 = const {value = %u} : i64\n    %%4 = for %%0, %%2, %%3, %%1 : ", c->k);
    print_type(f, c, c->types.sum, c->m, c->n);
    strbuf_printf(f, " (%%5: i64, %%6: ");
    print_type(f, c, c->types.sum, c->m, c->n);
    strbuf_printf(f, ") {\n");
    print_dot(f, c, "%6");
    strbuf_printf(f, "    yield %%12\n    }\n");
}

// The product, as a factor of the type of a, times b of [N, N].
static const char *print_second(StrBuf *f, const Case *c, const char *result) {
    strbuf_printf(f, "    %%13 = cast %s : ", result);
    print_type(f, c, c->types.a, c->m, c->n);
    strbuf_printf(f, "\n");
    load(f, c, 14, "b", c->types.b, "%0, %0", c->n, c->n);
    strbuf_printf(f, "    %%15 = dot %%13, %%14, _ {precision = ieee} : ");
    print_type(f, c, c->types.sum, c->m, c->n);
    strbuf_printf(f, "\n");
    return "%15";
}

static const char *kernel_text(Arena *arena, const Case *c) {
    StrBuf text = strbuf(arena), *f = &text;
    const char *batch = c->batch ? "B, " : "", *result = "%12";
    strbuf_printf(f, "kernel @k(%%a: view %s[%sAM, AK], %%b: view %s[%sBK, BN], ",
                  dtype_name(c->types.a), batch, dtype_name(c->types.b), batch);
    strbuf_printf(f, "%%c: view %s[%sM, N]) {warps = %d} {\n  body {\n", dtype_name(c->types.sum),
                  batch, c->warps);
    strbuf_printf(f, "    %%0 = const {value = 0} : i64\n");
    if (c->acc) {
        load(f, c, 1, "c", c->types.sum, "%0, %0", c->m, c->n);
    } else if (c->loop) {
        bool is_float = dtype_is(c->types.sum, DTYPE_CLASS_ANYFLOAT);
        strbuf_printf(f, "    %%1 = const {value = %s} : ", is_float ? "0.0" : "0");
        print_type(f, c, c->types.sum, c->m, c->n);
        strbuf_printf(f, "\n");
    }
    if (c->loop) {
        print_loop(f, c);
        result = "%4";
    } else {
        strbuf_printf(f, "    %%5 = const {value = 0} : i64\n");
        print_dot(f, c, c->acc ? "%1" : "_");
    }
    if (c->twice) result = print_second(f, c, result);
    strbuf_printf(f, "    view_store %%c, %s, _, %s%%0, %%0 {select = [", result,
                  c->batch ? "%0, " : "");
    if (c->batch) strbuf_printf(f, "%u, ", c->batch);
    strbuf_printf(f, "%u, %u], inside = [%s0, 0]}\n    return\n  }\n}\n", c->m, c->n,
                  c->batch ? "0, " : "");
    return text.text;
}

// ---- the data -----------------------------------------------------------------------------------

typedef struct Array {
    Dtype elem;
    uint64_t count;
    uint8_t *data;
    IrArg arg;
} Array;

static uint64_t draw(Dice *dice, Dtype t, bool rounds) {
    if (!dtype_is(t, DTYPE_CLASS_ANYFLOAT)) return dice_next(dice);
    double x = (double)dice_below(dice, 7) - 3;
    if (rounds) x = (double)(int64_t)dice_next(dice) * 0x1p-63;
    return dtype_from_double(t, x, true);
}

static Array array_of(Dice *dice, const Case *c, Dtype t, uint32_t rows, uint32_t columns) {
    int64_t extents[3] = {c->batch, rows, columns};
    uint32_t batch = c->batch ? c->batch : 1;
    Array a = {.elem = t, .count = (uint64_t)rows * columns * batch};
    size_t size = dtype_size(t);
    a.data = malloc(a.count * size);
    for (uint64_t i = 0; i < a.count; i++) {
        uint64_t bits = draw(dice, t, c->rounds);
        memcpy(a.data + i * size, &bits, size);
    }
    a.arg = tir_view(a.data, c->batch ? 3 : 2, c->batch ? extents : extents + 1);
    a.arg.base = a.data;
    a.arg.size = a.count * size;
    return a;
}

static double number(const Array *a, uint64_t i) {
    uint64_t bits = 0;
    size_t size = dtype_size(a->elem);
    memcpy(&bits, a->data + i * size, size);
    return dtype_to_double(a->elem, bits);
}

// ---- running ------------------------------------------------------------------------------------

static Machine machine_of(const char *target) {
    GpuTarget gpu;
    assert_true(gpu_target_parse(str(target), &gpu));
    return machine_of_gpu(gpu);
}

static void lower(Tir *t, const char *target, unsigned facts) {
    Machine m = machine_of(target);
    size_t count;
    const PassStep *steps = passes_parse(t->arena, STR("tile,gpu"), &count, t->diags);
    PassOptions options = {.verify = true, .machine = &m, .facts = facts};
    if (!passes_run(t->module, steps, count, &options, t->diags))
        fail_msg("%s: %s", target, tir_text(t));
}

typedef struct Count {
    uint32_t products, matrices, turned;
    uint32_t groups;  // products of four warps
    uint32_t narrow;  // stores of less than 4 bytes
} Count;

static void count_ops(const IrBlock *block, Count *count) {
    for (const IrOp *op = block->first; op; op = op->next) {
        count->products += op->code == IR_THREAD_MMA;
        count->groups += op->code == IR_THREAD_WGMMA;
        count->matrices += op->code == IR_THREAD_MATRIX_LOAD;
        count->turned += op->code == IR_THREAD_MATRIX_LOAD && ir_attr_int(op, IR_ATTR_TURNED) != 0;
        if (op->code == IR_THREAD_STORE) {
            const IrType *type = ir_operand(op, 1)->type;
            count->narrow += type->count * ir_elem_size(type) < 4;
        }
        for (uint32_t r = 0; r < op->region_count; r++) count_ops(op->regions[r], count);
    }
}

static Count run(const char *text, const char *target, const IrArg *args) {
    Tir *t = tir_load("%s", text);
    Count count = {0};
    if (target) {
        lower(t, target, 0);
        count_ops(ir_body(t->module->funcs.data[0]), &count);
    }
    IrInterp *interp = ir_interp_create(t->arena, t->module->funcs.data[0]);
    IrLaunch launch = {.args = args, .arg_count = 3, .grid = {1, 1, 1}, .sanitize = true};
    if (ir_interp_run(interp, &launch, t->diags) != IR_RUN_DONE)
        fail_msg("%s: %s\n%s", target ? target : "not lowered", tir_text(t), text);
    ir_interp_destroy(interp);
    tir_free(t);
    return count;
}

// Twice the documented bound with operands below 1: each of the two sides may be off by it.
static bool close_enough(const Case *c, double x, double y) {
    static const double terms[] = {[IR_PRECISION_IEEE] = 0,
                                   [IR_PRECISION_TF32] = 2 * 0x1p-11 + 0x1p-22,
                                   [IR_PRECISION_TF32X3] = 3 * 0x1p-22,
                                   [IR_PRECISION_BF16X3] = 3 * 0x1p-16};
    double depth = c->loop ? 3.0 * c->k : c->k, u = 0x1p-24;
    if (c->types.sum == DTYPE_F64) u = 0x1p-53;
    if (c->types.sum == DTYPE_F16) u = 0x1p-11;
    double steps = c->precision >= IR_PRECISION_TF32X3 ? 3 * depth : depth;
    double bound = 2 * (2 * (steps + 2) * u * (depth + 1) + terms[c->precision] * depth);
    return fabs(x - y) <= bound;
}

static void check_same(const Case *c, const char *text, const char *target, const Array *expected,
                       const Array *found) {
    size_t size = dtype_size(expected->elem);
    for (uint64_t i = 0; i < expected->count; i++) {
        if (memcmp(expected->data + i * size, found->data + i * size, size) == 0) continue;
        double x = number(expected, i), y = number(found, i);
        if (c->rounds && close_enough(c, x, y)) continue;
        fail_msg("%s: element (%llu, %llu) is %.17g, expected %.17g\n%s", target,
                 (unsigned long long)(i / c->n), (unsigned long long)(i % c->n), y, x, text);
    }
}

static Count check(const Case *c, const char *target, uint64_t seed) {
    Dice dice = dice_roll(seed);
    Arena *arena = arena_create();
    const char *text = kernel_text(arena, c);
    uint32_t depth = c->loop ? 3 * c->k : c->k;
    if (c->twice && depth < c->n) depth = c->n;
    Array a =
        array_of(&dice, c, c->types.a, c->turned_a ? depth : c->m, c->turned_a ? c->m : depth);
    Array b =
        array_of(&dice, c, c->types.b, c->turned_b ? c->n : depth, c->turned_b ? depth : c->n);
    Array before = array_of(&dice, c, c->types.sum, c->m, c->n), after = before;
    size_t bytes = before.count * dtype_size(before.elem);
    after.data = malloc(bytes);
    memcpy(after.data, before.data, bytes);
    after.arg.data = after.data;
    after.arg.base = after.data;
    run(text, NULL, (IrArg[]){a.arg, b.arg, before.arg});
    Count count = run(text, target, (IrArg[]){a.arg, b.arg, after.arg});
    check_same(c, text, target, &before, &after);
    free(a.data);
    free(b.data);
    free(before.data);
    free(after.data);
    arena_destroy(arena);
    return count;
}

// ---- the cases: those of the larger tests in slices ---------------------------------------------

static Case random_case(Dice *dice, Types types) {
    enum { LARGEST = 7 };
    Case c = {.types = types};
    c.m = 1u << dice_below(dice, LARGEST);
    c.n = 1u << dice_below(dice, LARGEST);
    c.k = 1u << dice_below(dice, LARGEST);
    c.warps = 1 << dice_below(dice, 4);
    if (dice_chance(dice, 25)) c.batch = 1u << dice_below(dice, 3);
    c.turned_a = dice_chance(dice, 25);
    c.turned_b = dice_chance(dice, 25);
    c.loop = dice_chance(dice, 30);
    c.acc = dice_chance(dice, 40);
    return c;
}

static void every_type_on_every_target(void **state) {
    (void)state;
    enum { EACH = 9 };
    for (uint32_t t = 0; t < TYPES; t++)
        for (uint32_t m = 0; m < TARGETS; m++)
            for (uint64_t i = 0; i < EACH; i++) {
                if (!slice_has(i + t + m, 3)) continue;
                Dice dice = dice_roll(i * 1000 + t * 10 + m);
                Case c = random_case(&dice, all_types[t]);
                if (m >= OF_NVIDIA && c.batch) c.batch = 1;  // 64 KiB are all there is
                check(&c, targets[m], i);
            }
}

static void blocks_of_the_size_that_matters(void **state) {
    (void)state;
    static const uint32_t shapes[][3] = {{128, 128, 32}, {64, 128, 16}, {16, 16, 128},
                                         {128, 16, 64},  {1, 128, 64},  {16, 8, 4}};
    static const Types types[] = {{DTYPE_F16, DTYPE_F16, DTYPE_F32},
                                  {DTYPE_F32, DTYPE_F32, DTYPE_F32},
                                  {DTYPE_I8, DTYPE_U8, DTYPE_I32}};
    for (uint32_t i = 0; i < 6; i++)
        for (uint32_t t = 0; t < 3; t++) {
            Case c = {.types = types[t], .m = shapes[i][0], .n = shapes[i][1], .k = shapes[i][2]};
            c.warps = i % 2 ? 4 : 8;
            c.loop = c.acc = i == 0;
            check(&c, t == 2 && i ? "sm_75" : "sm_90", i);
        }
}

// Does the target have an instruction for products of f32?
static bool has_unit(uint32_t target, IrPrecision precision) {
    if (target < OF_NVIDIA) return precision != IR_PRECISION_IEEE && target > 0;
    if (machine_of(targets[target]).warp == 64) return true;  // CDNA: of all its bits, too
    return precision == IR_PRECISION_BF16X3 && strcmp(targets[target], "gfx1030") != 0;
}

static void reduced_precision(void **state) {
    (void)state;
    for (uint32_t m = 0; m < TARGETS; m++)
        for (int p = IR_PRECISION_IEEE; p <= IR_PRECISION_BF16X3; p++)
            for (uint64_t i = 0; i < 6; i++) {
                if (!slice_has(i + (uint64_t)p + m, 2)) continue;
                Dice dice = dice_roll(i * 100 + (uint64_t)p * 10 + m);
                Case c = random_case(&dice, all_types[0]);
                c.precision = (IrPrecision)p;
                if (i == 0) c.k = 64;
                if (c.batch) c.batch = 1;  // all has to find room in shared memory
                c.rounds = i < 4;
                Count count = check(&c, targets[m], i);
                if (has_unit(m, (IrPrecision)p) && c.k >= 16) assert_true(count.products > 0);
                if (!has_unit(m, (IrPrecision)p)) assert_int_equal(count.products, 0);
            }
}

// Infinities, NaNs and numbers that round to infinity go through parts as through the whole.
static void special_values_in_parts(void **state) {
    (void)state;
    static const uint32_t special[] = {0x7f800000, 0xff800000, 0x7fffffff, 0x7f800001,
                                       0x7f7fffff, 0x00000001, 0x80000000, 0x3f801fff};
    for (int p = IR_PRECISION_TF32; p <= IR_PRECISION_BF16X3; p++) {
        Case c = {.types = all_types[0], .m = 16, .n = 8, .k = 16, .warps = 1};
        c.precision = (IrPrecision)p;
        uint32_t a[16 * 16] = {0}, b[16 * 8] = {0}, results[2][16 * 8];
        for (int i = 0; i < 8; i++) a[i * 16 + i] = special[i];
        for (int i = 0; i < 8; i++) b[i * 8 + i] = 0x3f800000;
        Arena *arena = arena_create();
        const char *text = kernel_text(arena, &c);
        for (int side = 0; side < 2; side++) {
            IrArg args[] = {tir_view(a, 2, (int64_t[]){16, 16}), tir_view(b, 2, (int64_t[]){16, 8}),
                            tir_view(results[side], 2, (int64_t[]){16, 8})};
            run(text, side ? "sm_80" : NULL, args);
        }
        for (int i = 0; i < 16 * 8; i++) {
            float x, y;
            memcpy(&x, &results[0][i], 4);
            memcpy(&y, &results[1][i], 4);
            if (isnan(x) && isnan(y)) continue;
            if (x != y && !(fabsf(x - y) <= 0x1p-10f)) fail_msg("%d: %g and %g", i, x, y);
        }
        arena_destroy(arena);
    }
}

// ---- the instructions ---------------------------------------------------------------------------

static void units_are_used_where_they_are(void **state) {
    (void)state;
    static const struct {
        Types types;
        uint32_t counts[TARGETS];  // of one tile of 16 by 16 by 32 on one warp
    } rows[] = {
        {{DTYPE_F16, DTYPE_F16, DTYPE_F32}, {8, 4, 4, 4, 4, 4, 2, 2, 1, 0, 2, 2}},
        {{DTYPE_F16, DTYPE_F16, DTYPE_F16}, {8, 4, 4, 4, 4, 4, 2, 2, 1, 0, 2, 2}},
        {{DTYPE_BF16, DTYPE_BF16, DTYPE_F32}, {0, 4, 4, 4, 4, 4, 2, 2, 1, 0, 2, 2}},
        {{DTYPE_F64, DTYPE_F64, DTYPE_F64}, {0, 32, 32, 32, 32, 32, 8, 8, 8, 0, 0, 0}},
        {{DTYPE_I8, DTYPE_U8, DTYPE_I32}, {8, 2, 2, 2, 2, 2, 0, 0, 0, 0, 2, 2}},
        {{DTYPE_I8, DTYPE_I8, DTYPE_I32}, {8, 2, 2, 2, 2, 2, 2, 1, 1, 0, 2, 2}},
        {{DTYPE_F8E4M3, DTYPE_F8E5M2, DTYPE_F32}, {8, 4, 2, 2, 2, 2, 2, 2, 1, 0, 2, 2}},
        {{DTYPE_F8E4M3, DTYPE_F8E5M2, DTYPE_F16}, {8, 4, 2, 2, 2, 2, 2, 2, 1, 0, 2, 2}},
        {{DTYPE_F8E4M3FNUZ, DTYPE_F8E4M3FNUZ, DTYPE_F32}, {8, 4, 4, 4, 4, 4, 2, 1, 1, 0, 2, 2}},
        {{DTYPE_F32, DTYPE_F32, DTYPE_F32}, {0, 0, 0, 0, 0, 0, 8, 8, 8, 0, 0, 0}},
        {{DTYPE_F16, DTYPE_F16, DTYPE_F64}, {0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int t = 0; t < TARGETS; t++) {
            Case c = {.types = rows[i].types, .m = 16, .n = 16, .k = 32, .warps = 1};
            if (dtype_is(c.types.a, DTYPE_CLASS_FP8)) c.precision = IR_PRECISION_UNIT;
            Count count = check(&c, targets[t], i);
            assert_int_equal(count.products, rows[i].counts[t]);
        }
}

// Both factors of 16 bits are read by matrix loads; the transposed factor by loads that transpose.
static void fragments_come_as_matrices(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        Case c = {.types = all_types[2], .m = 64, .n = 64, .k = 32, .warps = 4};
        c.turned_a = i % 2 != 0;
        c.turned_b = i / 2 != 0;
        Count count = check(&c, "sm_80", (uint64_t)i);
        // Each warp has 4 fragments of a, and 8 of b in pairs.
        assert_int_equal(count.matrices, 8);
        assert_int_equal(count.turned, (c.turned_a ? 4 : 0) + (c.turned_b ? 0 : 4));
    }
}

// Rows of bytes and of words are read by matrix loads as well; a factor whose K is not along its
// rows is stored by whole registers.
static void bytes_and_words_come_whole(void **state) {
    (void)state;
    Case c = {.types = {DTYPE_I8, DTYPE_U8, DTYPE_I32}, .m = 64, .n = 64, .k = 64, .warps = 4};
    Count count = check(&c, "sm_80", 1);
    assert_int_equal(count.matrices,
                     8);  // of each warp: 2 by 2 fragments of a, 4 by 2 of b in pairs
    assert_int_equal(count.narrow, 0);
    c.types = all_types[0];
    c.precision = IR_PRECISION_TF32;
    c.k = 32;
    count = check(&c, "sm_80", 2);
    assert_int_equal(count.matrices, 8);
    assert_int_equal(count.narrow, 0);
}

// The sum of one product is a factor of the next in the registers where it is: rows stay with their
// warp.
static void a_product_is_a_factor_in_place(void **state) {
    (void)state;
    for (int warps = 1; warps <= 8; warps *= 2) {
        Case c = {.types = all_types[2], .m = 128, .n = 32, .k = 16, .warps = warps, .twice = true};
        Count count = check(&c, "sm_80", (uint64_t)warps);
        // 8 rows of tiles, by 4 columns, by K: 1 and 2 steps.
        assert_int_equal(count.products, 8 / warps * 4 * 3);
        // a: as many as rows of tiles; b: 2, and 4 of the second.
        assert_int_equal(count.matrices, 8 / warps + 2 + 4);
    }
}

// Do the sums leave a thread enough registers?
static bool sums_fit(const Case *c) {
    uint32_t threads = 32 * (uint32_t)c->warps, own = threads > 256 ? 65536 / threads : 255;
    return c->m * c->n * (c->batch ? c->batch : 1) / threads + 32 <= own;
}

// wgmma: all orders of memory, both ways to share a tile, factors in registers, and what is too
// small for it.
static void four_warps_multiply_together(void **state) {
    (void)state;
    enum { CASES = 120 };
    for (uint64_t i = 0; i < CASES; i++) {
        if (!slice_has(i / 3, 3)) continue;
        Dice dice = dice_roll(i);
        Case c = {.types = all_types[i % 3 == 2 ? 5 : i % 3 == 1 ? 3 : 2]};
        c.m = 32u << dice_below(&dice, 4);
        c.n = 8u << dice_below(&dice, 6);
        c.k = 8u << dice_below(&dice, 5);
        c.warps = 2 << dice_below(&dice, 4);
        if (dice_chance(&dice, 20)) c.batch = 1u << dice_below(&dice, 2);
        if (c.batch && c.m > 64) c.m = 64;
        if ((uint64_t)c.m * c.n > 128 * 256) c.n = 128;
        c.turned_a = dice_chance(&dice, 40);
        c.turned_b = dice_chance(&dice, 40);
        c.loop = dice_chance(&dice, 50);
        c.acc = dice_chance(&dice, 40);
        Count count = check(&c, "sm_90a", i);
        bool fits = c.m >= 64 && c.n >= 16 && c.k >= 16 && c.warps >= 4 && sums_fit(&c);
        assert_int_equal(count.groups > 0, fits);
        assert_int_equal(count.products > 0, !fits);
    }
}

// Factors of bytes must have k along the neighbours, and fp8 must not ask for all bits of its sums.
static void bytes_lie_along_k(void **state) {
    (void)state;
    static const Types types[] = {{DTYPE_F8E4M3, DTYPE_F8E5M2, DTYPE_F32},
                                  {DTYPE_F8E5M2, DTYPE_F8E5M2, DTYPE_F16},
                                  {DTYPE_I8, DTYPE_I8, DTYPE_I32},
                                  {DTYPE_U8, DTYPE_I8, DTYPE_I32}};
    for (uint64_t i = 0; i < 96; i++) {
        if (!slice_has(i / 4, 3)) continue;
        Dice dice = dice_roll(i);
        Case c = {.types = types[i % 4]};
        c.m = 64u << dice_below(&dice, 2);
        c.n = 16u << dice_below(&dice, 5);
        c.k = 16u << dice_below(&dice, 4);
        c.warps = 4 << dice_below(&dice, 2);
        c.turned_a = dice_chance(&dice, 10);
        c.turned_b = dice_chance(&dice, 80);
        c.loop = dice_chance(&dice, 50);
        c.acc = dice_chance(&dice, 40);
        bool ieee = i % 4 < 2 && dice_chance(&dice, 20);
        if (i % 4 < 2 && !ieee) c.precision = IR_PRECISION_UNIT;
        Count count = check(&c, "sm_90a", i);
        bool as_f16 = i % 4 < 2 && (ieee || c.k < 32), along = c.turned_b && !c.turned_a;
        bool fits = as_f16 || (along && c.k >= 32);
        assert_int_equal(count.groups > 0, fits && sums_fit(&c));
    }
}

// Attention's order: the sum of one product is a factor of the next, in its registers.
static void a_sum_is_a_factor_of_four_warps(void **state) {
    (void)state;
    for (int warps = 4; warps <= 8; warps *= 2) {
        Case c = {.types = all_types[2], .m = 128, .n = 32, .k = 16, .warps = warps, .twice = true};
        Count count = check(&c, "sm_90a", (uint64_t)warps);
        assert_int_equal(count.groups, 8 / warps * 3);
        assert_int_equal(count.matrices, 0);
    }
}

// ---- PTX ----------------------------------------------------------------------------------------

static Str assembled(Tir *t, const char *target) {
    CodegenOptions options = {.output = CODEGEN_ASM, .entry = STR("kernel_entry")};
    Str text;
    assert_true(gpu_target_parse(str(target), &options.target.gpu));
    if (!codegen_plugin()->compile(t->arena, t->module->funcs.data[0], &options, &text, t->diags))
        fail_msg("%s: %s", target, tir_text(t));
    OsError error;
    const char *path = os_keep_temporary(t->arena, "tilec_ptx_", ".ptx", text, &error);
    assert_non_null(path);
    Process process = {.folder = ".", .tool_folder = TEST_BINARY_DIR, .seconds = 120};
    process.command = arena_printf(
        t->arena,
        "PATH=\"$PATH:/usr/local/cuda/bin\"; if ! command -v ptxas >/dev/null; then echo no ptxas; "
        "else ptxas -v -arch=%s -o /dev/null %s; fi; rm -f %s",
        target, path, path);
    ProcessResult result;
    assert_true(process_run(t->arena, &process, &result));
    if (result.status) fail_msg("%s: %.*s", target, STR_ARG(result.output));
    return result.output;
}

// AMD's: linked, as a loader takes it.
static void link_object(const char *text, const char *target) {
    Tir *t = tir_load("%s", text);
    CodegenOptions options = {.output = CODEGEN_SHARED, .entry = STR("kernel_entry")};
    Str object;
    lower(t, target, FACT_CONTIGUOUS | FACT_WIDE);
    assert_true(gpu_target_parse(str(target), &options.target.gpu));
    if (!codegen_plugin()->compile(t->arena, t->module->funcs.data[0], &options, &object, t->diags))
        fail_msg("%s: %s\n%s", target, tir_text(t), text);
    assert_true(str_starts(object, STR("\177ELF")));
    tir_free(t);
}

// The messages of ptxas about a kernel, or "" if there is no ptxas.
static const char *compiled(Arena *arena, const char *text, const char *target) {
    Tir *t = tir_load("%s", text);
    lower(t, target, FACT_CONTIGUOUS | FACT_WIDE);
    Str output = assembled(t, target);
    const char *all = arena_printf(arena, "%.*s", STR_ARG(output));
    tir_free(t);
    // Products that ptxas serializes, waits that it adds.
    if (strstr(all, "C75")) fail_msg("%s: %s", target, all);
    if (strcmp(all, "no ptxas\n") != 0) return all;
    print_message("not assembled for %s: there is no ptxas here\n", target);
    return "";
}

static void ptxas_takes_it(void **state) {
    (void)state;
    if (!codegen_plugin()) {
        print_message(
            "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
        skip();
    }
    for (uint32_t i = 0; i < TYPES; i++)
        for (uint32_t t = 0; t < OF_NVIDIA; t++) {
            if (!slice_has(i + t, 2)) continue;
            Case c = {.types = all_types[i], .m = 32, .n = 32, .k = 32, .warps = 2};
            Arena *arena = arena_create();
            compiled(arena, kernel_text(arena, &c), targets[t]);
            arena_destroy(arena);
        }
    for (uint32_t i = 0; i < 8; i++) {
        Case c = {.types = all_types[i % 2 ? 2 : 5], .m = 128, .n = 64, .k = 32, .warps = 4};
        c.loop = i & 2, c.acc = !c.loop, c.turned_b = i & 4, c.twice = i == 7;
        Arena *arena = arena_create();
        compiled(arena, kernel_text(arena, &c), "sm_90a");
        arena_destroy(arena);
    }
}

static void objects_link(void **state) {
    (void)state;
    if (!codegen_plugin()) {
        print_message(
            "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
        skip();
    }
    for (uint32_t i = 0; i < TYPES; i++)
        for (uint32_t t = OF_NVIDIA; t < TARGETS; t++)
            for (int p = IR_PRECISION_IEEE; p <= IR_PRECISION_BF16X3; p++) {
                Case c = {.types = all_types[i], .m = 32, .n = 32, .k = 32, .warps = 2};
                if (p != IR_PRECISION_IEEE && c.types.a != DTYPE_F32) continue;
                if (!slice_has(i + t + (uint32_t)p, 2)) continue;
                c.precision = (IrPrecision)p;
                Arena *arena = arena_create();
                link_object(kernel_text(arena, &c), targets[t]);
                arena_destroy(arena);
            }
}

static const char *tile_ir(Arena *arena, const char *kernel) {
    Process process = {.folder = TEST_SOURCE_DIR, .tool_folder = TEST_BINARY_DIR, .seconds = 60};
    process.command = arena_printf(arena, "tilec emit examples/%s --as tile-ir", kernel);
    ProcessResult result;
    assert_true(process_run(arena, &process, &result));
    if (result.status) fail_msg("%s: %.*s", kernel, STR_ARG(result.output));
    return arena_printf(arena, "%.*s", STR_ARG(result.output));
}

static void spills_nothing(Arena *arena, const char *text, const char *target) {
    const char *output = compiled(arena, text, target);
    if (*output && !strstr(output, "0 bytes spill stores, 0 bytes spill loads"))
        fail_msg("%s: %s", target, output);
}

static void the_example_does_not_spill(void **state) {
    (void)state;
    if (!codegen_plugin()) {
        print_message(
            "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
        skip();
    }
    Arena *arena = arena_create();
    const char *text = tile_ir(arena, "matmul.tile matmul --set T=f16 --set BK=32");
    for (uint32_t t = 0; t < OF_NVIDIA; t++) spills_nothing(arena, text, targets[t]);
    static const char *const large[] = {
        "matmul.tile matmul --set T=f16 --set BM=128 --set BN=256 --set warps=8 --set stages=4",
        "matmul.tile matmul --set T=bf16 --set BM=256 --set BN=128 --set warps=8 --set stages=3",
        "matmul.tile matmul --set T=f16 --set BM=128 --set BN=128 --set warps=4 --set stages=4",
        "attention.tile attention --set T=f16 --set BM=128 --set BN=128 --set BD=128 --set warps=8",
        "attention.tile attention --set T=bf16 --set BM=64 --set BN=64 --set D=64 --set CAUSAL=1",
    };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        spills_nothing(arena, tile_ir(arena, large[i]), "sm_90a");
    arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_used_where_they_are),
        cmocka_unit_test(fragments_come_as_matrices),
        cmocka_unit_test(bytes_and_words_come_whole),
        cmocka_unit_test(a_product_is_a_factor_in_place),
        cmocka_unit_test(four_warps_multiply_together),
        cmocka_unit_test(a_sum_is_a_factor_of_four_warps),
        cmocka_unit_test(bytes_lie_along_k),
        cmocka_unit_test(blocks_of_the_size_that_matters),
        cmocka_unit_test(every_type_on_every_target),
        cmocka_unit_test(reduced_precision),
        cmocka_unit_test(special_values_in_parts),
        cmocka_unit_test(ptxas_takes_it),
        cmocka_unit_test(objects_link),
        cmocka_unit_test(the_example_does_not_spill),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
