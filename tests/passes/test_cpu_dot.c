// Products on the CPU: kernels on the interpreter before and after lowering, for every machine.
// Integers agree bit for bit, and so do floats that sum exactly; others keep the documented bound.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "ir/edit.h"
#include "passes/pass.h"
#include "tests/support/dice.h"
#include "tests/support/tir.h"

typedef struct Types {
    Dtype a, b, sum;
} Types;
static const Types all_types[] = {
    {DTYPE_F32, DTYPE_F32, DTYPE_F32},       {DTYPE_F64, DTYPE_F64, DTYPE_F64},
    {DTYPE_F16, DTYPE_F16, DTYPE_F32},       {DTYPE_F16, DTYPE_F16, DTYPE_F16},
    {DTYPE_F16, DTYPE_F16, DTYPE_F64},       {DTYPE_BF16, DTYPE_BF16, DTYPE_F32},
    {DTYPE_BF16, DTYPE_BF16, DTYPE_F16},     {DTYPE_F8E4M3, DTYPE_F8E5M2, DTYPE_F32},
    {DTYPE_F8E5M2, DTYPE_F8E5M2, DTYPE_F16}, {DTYPE_I8, DTYPE_I8, DTYPE_I32},
    {DTYPE_U8, DTYPE_I8, DTYPE_I32},         {DTYPE_I8, DTYPE_U8, DTYPE_I32},
    {DTYPE_U8, DTYPE_U8, DTYPE_I32},         {DTYPE_I16, DTYPE_I16, DTYPE_I16},
    {DTYPE_I32, DTYPE_I32, DTYPE_I32},       {DTYPE_I64, DTYPE_I64, DTYPE_I64},
};
enum { TYPES = sizeof all_types / sizeof all_types[0] };

static const char *const machines[] = {
    "x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4+vnni+bf16", "x86-64-v4+amx-bf16+amx-int8",
    "aarch64"};
enum { MACHINES = sizeof machines / sizeof machines[0] };

typedef enum Strides {
    STRIDES_NONE,
    STRIDES_COLUMNS,  // one after the other
    STRIDES_ROWS,
    STRIDES_FAR,  // no neighbours at all
} Strides;

typedef struct Case {
    Types types;
    uint32_t batch, m, n, k;          // tiles; batch 0: rank 2
    bool turned_a, turned_b;          // the views hold the transposed operands
    Strides strides;                  // they are declared strided
    bool loop;                        // k runs over the view in steps
    bool acc;                         // begins with a tile; else with none (loop: zeros)
    bool computed;                    // a is computed where it is used
    int64_t rows, columns, depth;     // extents of the views
    int64_t first_row, first_column;  // of the tile
    bool fractions;                   // sums that are rounded
} Case;

// ---- the kernel ---------------------------------------------------------------------------------

static void declare(StrBuf *f, const Case *c, const char *name, Dtype t, const char *extents) {
    bool strided = c->strides != STRIDES_NONE && name[0] != 'c';
    strbuf_printf(f, "%%%s: %sview %s[%s%s]", name, strided ? "strided " : "", dtype_name(t),
                  c->batch ? "B, " : "", extents);
}

static void print_type(StrBuf *f, const Case *c, Dtype t, uint32_t rows, uint32_t columns) {
    if (c->batch)
        strbuf_printf(f, "%s[%u,%u,%u]", dtype_name(t), c->batch, rows, columns);
    else
        strbuf_printf(f, "%s[%u,%u]", dtype_name(t), rows, columns);
}

// Values have numbers: 0 zero, 1 acc, 2 K, 3 the step, 4 the loop's result, 5 k, 6 its sum, 7 a,
// 8 turned, 9 b, 10 turned, 11 computed, 12 the product.
static int loaded(const char *view) { return view[0] == 'a' ? 7 : view[0] == 'b' ? 9 : 1; }

// The selection at these indices.
static void load(StrBuf *f, const Case *c, const char *view, Dtype t, const char *at, uint32_t rows,
                 uint32_t columns) {
    strbuf_printf(f, "    %%%d = view_load %%%s, _, %s%s {select = [", loaded(view), view,
                  c->batch ? "%0, " : "", at);
    if (c->batch) strbuf_printf(f, "%u, ", c->batch);
    strbuf_printf(f, "%u, %u], inside = [%s0, 0]} : ", rows, columns, c->batch ? "0, " : "");
    print_type(f, c, t, rows, columns);
    strbuf_printf(f, "\n");
}

static void turn(StrBuf *f, const Case *c, const char *view, Dtype t, uint32_t rows,
                 uint32_t columns) {
    strbuf_printf(f, "    %%%d = permute %%%d {perm = %s} : ", loaded(view) + 1, loaded(view),
                  c->batch ? "[0, 2, 1]" : "[1, 0]");
    print_type(f, c, t, rows, columns);
    strbuf_printf(f, "\n");
}

static void print_dot(StrBuf *f, const Case *c, const char *acc) {
    Types t = c->types;
    if (c->turned_a) {
        load(f, c, "a", t.a, "%5, %row", c->k, c->m);
        turn(f, c, "a", t.a, c->m, c->k);
    } else {
        load(f, c, "a", t.a, "%row, %5", c->m, c->k);
    }
    if (c->turned_b) {
        load(f, c, "b", t.b, "%column, %5", c->n, c->k);
        turn(f, c, "b", t.b, c->k, c->n);
    } else {
        load(f, c, "b", t.b, "%5, %column", c->k, c->n);
    }
    const char *a = c->turned_a ? "%8" : "%7", *b = c->turned_b ? "%10" : "%9";
    if (c->computed) {
        strbuf_printf(f, "    %%11 = neg %s : ", a);
        print_type(f, c, t.a, c->m, c->k);
        strbuf_printf(f, "\n");
        a = "%11";
    }
    strbuf_printf(f, "    %%12 = dot %s, %s, %s {precision = ieee} : ", a, b, acc);
    print_type(f, c, t.sum, c->m, c->n);
    strbuf_printf(f, "\n");
}

static void print_body(StrBuf *f, const Case *c) {
    strbuf_printf(f, "    %%0 = const {value = 0} : i64\n");
    if (c->acc) {
        load(f, c, "c", c->types.sum, "%row, %column", c->m, c->n);
    } else if (c->loop) {
        bool is_float = dtype_is(c->types.sum, DTYPE_CLASS_ANYFLOAT);
        strbuf_printf(f, "    %%1 = const {value = %s} : ", is_float ? "0.0" : "0");
        print_type(f, c, c->types.sum, c->m, c->n);
        strbuf_printf(f, "\n");
    }
    const char *result = "%12";
    if (c->loop) {
        strbuf_printf(f, "    %%2 = extent {extent = K} : i64\n");
        strbuf_printf(f, "    %%3 = const {value = %u} : i64\n", c->k);
        strbuf_printf(f, "    %%4 = for %%0, %%2, %%3, %%1 : ");
        print_type(f, c, c->types.sum, c->m, c->n);
        strbuf_printf(f, " (%%5: i64, %%6: ");
        print_type(f, c, c->types.sum, c->m, c->n);
        strbuf_printf(f, ") {\n");
        print_dot(f, c, "%6");
        strbuf_printf(f, "    yield %%12\n    }\n");
        result = "%4";
    } else {
        strbuf_printf(f, "    %%5 = const {value = 0} : i64\n");
        print_dot(f, c, c->acc ? "%1" : "_");
    }
    strbuf_printf(f, "    view_store %%c, %s, _, %s%%row, %%column {select = [", result,
                  c->batch ? "%0, " : "");
    if (c->batch) strbuf_printf(f, "%u, ", c->batch);
    strbuf_printf(f, "%u, %u], inside = [%s0, 0]}\n    return\n", c->m, c->n,
                  c->batch ? "0, " : "");
}

static const char *kernel_text(Arena *arena, const Case *c) {
    StrBuf text = strbuf(arena), *f = &text;
    strbuf_printf(f, "kernel @k(");
    declare(f, c, "a", c->types.a, c->turned_a ? "K, M" : "M, K");
    strbuf_printf(f, ", ");
    declare(f, c, "b", c->types.b, c->turned_b ? "N, K" : "K, N");
    strbuf_printf(f, ", ");
    declare(f, c, "c", c->types.sum, "M, N");
    strbuf_printf(f, ", %%row: i64, %%column: i64) {\n  body {\n");
    print_body(f, c);
    strbuf_printf(f, "  }\n}\n");
    return text.text;
}

// ---- the data -----------------------------------------------------------------------------------

typedef struct Array {
    Dtype elem;
    uint64_t count;
    uint8_t *data;
    IrArg arg;
} Array;

static uint64_t draw(Dice *dice, Dtype t, bool fractions) {
    if (!dtype_is(t, DTYPE_CLASS_ANYFLOAT)) return dice_next(dice);
    double x = (double)dice_below(dice, 7) - 3;
    if (fractions) x = (double)(int64_t)dice_next(dice) * 0x1p-63;
    return dtype_from_double(t, x, true);
}

static Array array_of(Dice *dice, const Case *c, Dtype t, int64_t rows, int64_t columns,
                      Strides strides) {
    int64_t extents[3] = {c->batch, rows, columns};
    uint32_t rank = c->batch ? 3 : 2;
    const int64_t *e = c->batch ? extents : extents + 1;
    int64_t apart = strides == STRIDES_FAR ? 2 : 1;
    Array a = {.elem = t, .count = (uint64_t)(rows * columns * apart) * (c->batch ? c->batch : 1)};
    size_t size = dtype_size(t);
    a.data = malloc(a.count * size + 1);
    for (uint64_t i = 0; i < a.count; i++) {
        uint64_t bits = draw(dice, t, c->fractions);
        memcpy(a.data + i * size, &bits, size);
    }
    a.arg = tir_view(a.data, rank, e);
    if (strides == STRIDES_COLUMNS) {
        a.arg.stride[rank - 2] = 1;
        a.arg.stride[rank - 1] = rows;
    }
    for (uint32_t d = 0; d < rank; d++) a.arg.stride[d] *= apart;
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

static void lower(Tir *t, const char *machine) {
    CpuTarget target;
    assert_true(cpu_target_parse(str(machine), &target));
    Machine m = machine_of_cpu(target);
    size_t count;
    const PassStep *steps =
        passes_parse(t->arena, STR("cpu_loops,simplify,cse,licm,dce"), &count, t->diags);
    PassOptions options = {.verify = true, .machine = &m};
    if (passes_run(t->module, steps, count, &options, t->diags)) return;
    StrBuf text = strbuf(t->arena);
    diags_text(t->diags, (DiagStyle){0}, &text);
    fail_msg("%s", text.text);
}

// Rows and columns whose results are not used are computed along with others, from memory that was
// never written.
static bool only_idle_lanes(const char *said) {
    for (const char *at = said; (at = strstr(at, "error: ")); at++) {
        const char *end = strchr(at, '\n'), *idle = strstr(at, "scratch memory that nothing has");
        if (!idle || !end || idle > end) return false;
    }
    return true;
}

static void run(const char *text, const char *machine, const IrArg *args) {
    Tir *t = tir_load("%s", text);
    if (machine) lower(t, machine);
    IrInterp *interp = ir_interp_create(t->arena, t->module->funcs.data[0]);
    IrLaunch launch = {.args = args, .arg_count = 5, .grid = {1, 1, 1}, .sanitize = true};
    ir_interp_run(interp, &launch, t->diags);
    StrBuf said = strbuf(t->arena);
    diags_text(t->diags, (DiagStyle){0}, &said);
    bool fine = only_idle_lanes(said.text);
    if (!fine) fail_msg("%s: %s\n%s", machine ? machine : "not lowered", said.text, text);
    ir_interp_destroy(interp);
    tir_free(t);
}

// Twice the documented bound with operands below 1: each of the two sides may be off by it.
static bool close_enough(const Case *c, double x, double y) {
    double depth = c->loop ? (double)c->depth : c->k, u = 0x1p-24;
    if (c->types.sum == DTYPE_F64) u = 0x1p-53;
    double bound = 2 * 2 * (depth + 2) * u * (depth + 1);
    if (c->types.sum == DTYPE_F16) bound += 2 * 0x1p-11 * (depth / c->k + 1) * (depth + 1);
    return fabs(x - y) <= bound;
}

static void check_same(const Case *c, const char *text, const char *machine, const Array *expected,
                       const Array *found) {
    size_t size = dtype_size(expected->elem);
    for (uint64_t i = 0; i < expected->count; i++) {
        if (memcmp(expected->data + i * size, found->data + i * size, size) == 0) continue;
        double x = number(expected, i), y = number(found, i);
        if (c->fractions && close_enough(c, x, y)) continue;
        fail_msg(
            "%s: element (%lld, %lld) is %.17g, expected %.17g; a[%lld,%lld] b[%lld,%lld] at "
            "%lld, %lld\n%s",
            machine, (long long)(i / (uint64_t)c->columns), (long long)(i % (uint64_t)c->columns),
            y, x, (long long)c->rows, (long long)c->depth, (long long)c->depth,
            (long long)c->columns, (long long)c->first_row, (long long)c->first_column, text);
    }
}

static void check(const Case *c, const char *machine, uint64_t seed) {
    Dice dice = dice_roll(seed);
    Arena *arena = arena_create();
    const char *text = kernel_text(arena, c);
    Array a = array_of(&dice, c, c->types.a, c->turned_a ? c->depth : c->rows,
                       c->turned_a ? c->rows : c->depth, c->strides);
    Array b = array_of(&dice, c, c->types.b, c->turned_b ? c->columns : c->depth,
                       c->turned_b ? c->depth : c->columns, c->strides);
    Array before = array_of(&dice, c, c->types.sum, c->rows, c->columns, STRIDES_NONE);
    Array after = before;
    size_t bytes = before.count * dtype_size(before.elem);
    after.data = malloc(bytes + 1);
    memcpy(after.data, before.data, bytes);
    after.arg.data = after.data;
    after.arg.base = after.data;
    IrArg row = tir_scalar((uint64_t)c->first_row), column = tir_scalar((uint64_t)c->first_column);
    run(text, NULL, (IrArg[]){a.arg, b.arg, before.arg, row, column});
    run(text, machine, (IrArg[]){a.arg, b.arg, after.arg, row, column});
    check_same(c, text, machine, &before, &after);
    free(a.data);
    free(b.data);
    free(before.data);
    free(after.data);
    arena_destroy(arena);
}

// ---- the cases ----------------------------------------------------------------------------------

static int64_t around(Dice *dice, uint32_t extent) {
    switch (dice_below(dice, 4)) {
    case 0: return (int64_t)extent;
    case 1: return 1 + (int64_t)dice_below(dice, extent);
    case 2: return (int64_t)extent + (int64_t)dice_below(dice, 5);
    default: return 1 + (int64_t)dice_below(dice, 8);
    }
}

static Case random_case(Dice *dice, Types types, uint32_t largest) {
    Case c = {.types = types};
    c.m = 1u << dice_below(dice, largest);
    c.n = 1u << dice_below(dice, largest);
    c.k = 1u << dice_below(dice, largest);
    if (dice_chance(dice, 20)) c.batch = 1u << dice_below(dice, 3);
    c.turned_a = dice_chance(dice, 25);
    c.turned_b = dice_chance(dice, 25);
    if (dice_chance(dice, 25)) c.strides = (Strides)(1 + dice_below(dice, 3));
    c.loop = dice_chance(dice, 40);
    c.acc = dice_chance(dice, 40);
    c.computed = dice_chance(dice, 25);
    c.rows = around(dice, c.m);
    c.columns = around(dice, c.n);
    c.depth = around(dice, c.k);
    if (c.loop && c.k >= 4) c.depth += (int64_t)c.k;
    if (dice_chance(dice, 20)) c.first_row = (int64_t)dice_below(dice, 9) - 4;
    if (dice_chance(dice, 20)) c.first_column = (int64_t)dice_below(dice, 9) - 4;
    return c;
}

static void every_type_on_every_machine(void **state) {
    (void)state;
    enum { EACH = 12, LARGEST = 7 };
    for (uint32_t t = 0; t < TYPES; t++)
        for (uint32_t m = 0; m < MACHINES; m++)
            for (uint64_t i = 0; i < EACH; i++) {
                Dice dice = dice_roll(i * 1000 + t * 10 + m);
                Case c = random_case(&dice, all_types[t], LARGEST);
                check(&c, machines[m], i);
            }
}

static void floats_that_round_keep_the_bound(void **state) {
    (void)state;
    enum { EACH = 8, LARGEST = 7 };
    for (uint32_t t = 0; t < TYPES; t++) {
        if (!dtype_is(all_types[t].sum, DTYPE_CLASS_ANYFLOAT)) continue;
        for (uint32_t m = 0; m < MACHINES; m++)
            for (uint64_t i = 0; i < EACH; i++) {
                Dice dice = dice_roll(i * 1001 + t * 10 + m);
                Case c = random_case(&dice, all_types[t], LARGEST);
                c.fractions = true;
                check(&c, machines[m], i);
            }
    }
}

// Blocks of the size that matters, few rows included.
static void whole_blocks_and_few_rows(void **state) {
    (void)state;
    static const int64_t rows[] = {1, 7, 16, 100, 127, 128};
    for (uint32_t m = 0; m < MACHINES; m++)
        for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            Case c = {.types = all_types[0], .m = 128, .n = 64, .k = 32, .loop = true};
            c.rows = rows[i];
            c.columns = i % 2 ? 64 : 50;
            c.depth = i % 3 ? 64 : 70;
            check(&c, machines[m], i);
        }
}

static int count_tiles(const IrBlock *block) {
    int count = 0;
    for (const IrOp *op = block->first; op; op = op->next) {
        count += op->code == IR_CPU_TILES;
        for (uint32_t i = 0; i < op->region_count; i++) count += count_tiles(op->regions[i]);
    }
    return count;
}

static bool takes_tiles(const Case *c, const char *machine) {
    Arena *arena = arena_create();
    Tir *t = tir_load("%s", kernel_text(arena, c));
    lower(t, machine);
    bool takes = count_tiles(ir_body(t->module->funcs.data[0])) > 0;
    tir_free(t);
    arena_destroy(arena);
    return takes;
}

// Rows, columns and depths that end within a tile register; operands in place, and copied.
static void tile_registers_whole_and_cut(void **state) {
    (void)state;
    static const char machine[] = "x86-64-v4+amx-bf16+amx-int8";
    static const int64_t rows[] = {1, 16, 17, 40, 64}, depths[] = {128, 64, 70, 31};
    for (uint32_t t = 0; t < TYPES; t++) {
        bool bytes = dtype_size(all_types[t].a) == 1 && all_types[t].sum == DTYPE_I32;
        bool pairs = all_types[t].a == DTYPE_BF16 && all_types[t].sum == DTYPE_F32;
        for (uint32_t i = 0; i < 5; i++) {
            Case c = {.types = all_types[t], .m = 64, .n = 32, .k = 64, .loop = true};
            assert_int_equal(takes_tiles(&c, machine), bytes || pairs);
            if (!bytes && !pairs) break;
            c.rows = rows[i];
            c.columns = i % 2 ? 32 : 19;
            c.depth = depths[i % 4];
            c.acc = i == 3;
            c.turned_b = i == 2;
            check(&c, machine, i);
        }
    }
}

// Fewer rows, columns or neighbours than a tile has, or other sums.
static void small_products_stay_out_of_tiles(void **state) {
    (void)state;
    static const uint32_t shapes[][3] = {{8, 64, 64}, {64, 8, 64}, {64, 64, 16}};
    Case c = {.types = {DTYPE_BF16, DTYPE_BF16, DTYPE_F32}};
    for (uint32_t i = 0; i < 3; i++) {
        c.m = shapes[i][0];
        c.n = shapes[i][1];
        c.k = shapes[i][2];
        assert_false(takes_tiles(&c, "x86-64-v4+amx-bf16"));
    }
    c.m = c.n = c.k = 64;
    assert_true(takes_tiles(&c, "x86-64-v4+amx-bf16"));
    assert_false(takes_tiles(&c, "x86-64-v4+amx-int8"));
    assert_false(takes_tiles(&c, "x86-64-v4+bf16"));
}

// ---- runs of several programs -------------------------------------------------------------------

static const char grid_kernel[] =
    "kernel @k(%%a: view f32[M, K], %%b: view f32[K, N], %%c: view f32[M, N], %%d: view f32[N]) {\n"
    "  body {\n"
    "    %%0 = program {dim = 0} : i64\n"
    "    %%1 = program {dim = 1} : i64\n"
    "    %%2 = const {value = 64} : i64\n"
    "    %%3 = mul %%0, %%2 : i64\n"
    "    %%4 = mul %%1, %%2 : i64\n"
    "    %%5 = const {value = 0} : i64\n"
    "    %%6 = view_load %%a, _, %%3, %%5 {select = [64, 16], inside = [0, 0]} : f32[64,16]\n"
    "    %%7 = view_load %%b, _, %%5, %%4 {select = [16, 64], inside = [0, 0]} : f32[16,64]\n"
    "    %%8 = dot %%6, %%7, _ {precision = ieee} : f32[64,64]\n"
    "    %%9 = view_load %%d, _, %%4 {select = [64], inside = [0]} : f32[64]\n"
    "    %%10 = reshape %%9 : f32[1,64]\n"
    "    %%11 = broadcast %%10 : f32[64,64]\n"
    "    %%12 = add %%8, %%11 : f32[64,64]\n"
    "    view_store %%c, %%12, _, %s, %%4 {select = [64, 64], inside = [0, 0]}\n"
    "    return\n"
    "  }\n"
    "}\n";

static int count_spans(const Tir *t) {
    int count = 0;
    for (const IrOp *op = ir_body(t->module->funcs.data[0])->first; op; op = op->next)
        count += op->code == IR_CPU_SPAN;
    return count;
}

static void run_grid(Tir *t, const IrArg *args) {
    IrInterp *interp = ir_interp_create(t->arena, t->module->funcs.data[0]);
    IrLaunch launch = {.args = args, .arg_count = 4, .grid = {2, 2, 1}};
    assert_int_equal(ir_interp_run(interp, &launch, t->diags), IR_RUN_DONE);
    ir_interp_destroy(interp);
}

// The grid is shorter than the array: elements beyond its programs must not change.
static void neighbours_become_one_run(void **state) {
    (void)state;
    enum { M = 150, N = 140, K = 13 };
    static float a[M * K], b[K * N], d[N], c[2][M * N];
    for (int i = 0; i < M * K; i++) a[i] = (float)(i % 7 - 3);
    for (int i = 0; i < K * N; i++) b[i] = (float)(i % 5 - 2);
    for (int i = 0; i < N; i++) d[i] = (float)i;
    for (int i = 0; i < 2; i++) {
        Tir *t = tir_load(grid_kernel, "%3");
        if (i) lower(t, "x86-64-v4");
        assert_int_equal(count_spans(t), i ? 2 : 0);
        memset(c[i], 0x55, sizeof c[i]);
        run_grid(t,
                 (IrArg[]){tir_view(a, 2, (int64_t[]){M, K}), tir_view(b, 2, (int64_t[]){K, N}),
                           tir_view(c[i], 2, (int64_t[]){M, N}), tir_view(d, 1, (int64_t[]){N})});
        tir_free(t);
    }
    assert_memory_equal(c[0], c[1], sizeof c[0]);
}

// A store that does not go with its program's rows: they cannot be done at once.
static void others_stay_alone(void **state) {
    (void)state;
    Tir *t = tir_load(grid_kernel, "%5");
    lower(t, "x86-64-v4");
    assert_int_equal(count_spans(t), 1);
    tir_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_on_every_machine),
        cmocka_unit_test(floats_that_round_keep_the_bound),
        cmocka_unit_test(whole_blocks_and_few_rows),
        cmocka_unit_test(tile_registers_whole_and_cut),
        cmocka_unit_test(small_products_stay_out_of_tiles),
        cmocka_unit_test(neighbours_become_one_run),
        cmocka_unit_test(others_stay_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
