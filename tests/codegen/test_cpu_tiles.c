// cpu.tiles: every pair of types, every block, with and without sums to begin with: compiled
// against interpreted; the instructions; and who else may use tile registers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "target/machine.h"
#include "tests/codegen/bundle.h"
#include "tests/support/dice.h"

typedef struct Case {
    Dtype a, b, sum;
    uint32_t rows, columns;
    bool acc;
    const char *after;  // ops after the block
    int64_t depth, a_step, b_step;
} Case;

// Steps and extents are larger than any block: the elements between must not change.
enum { MOST_DEPTH = 200, A_STEP = 300, B_STEP = 140, SUM_STEP = 37, SUMS = 40 * SUM_STEP };
enum { A_SIZE = 32 * A_STEP, B_SIZE = 128 * B_STEP };

typedef struct Arrays {
    unsigned char a[A_SIZE * 2], b[B_SIZE * 2];
    uint32_t acc[SUMS], sums[2][SUMS];
} Arrays;

static bool seen[IR_OPCODES];

static Tir *load(const Case *c) {
    Tir *t = tir_load(
        "kernel @k(%%to: *%s, %%acc: *%s, %%a: *%s, %%b: *%s, %%depth: i64, %%as: i64, %%bs: i64) "
        "{level = cpu} { body {\n %%0 = const {value = %d} : i64\n"
        " cpu.tiles %%to, %%0, %s, %%a, %%as, %%b, %%bs, %%depth {rows = %u, columns = %u}\n"
        "%s return } }",
        dtype_name(c->sum), dtype_name(c->sum), dtype_name(c->a), dtype_name(c->b), SUM_STEP,
        c->acc ? "%acc, %0" : "_, _", c->rows, c->columns, c->after ? c->after : "");
    bundle_mark(ir_body(t->module->funcs.data[0]), seen);
    return t;
}

static void fill(Arrays *all, const Case *c, Dice *dice) {
    for (size_t i = 0; i < sizeof all->a; i++) all->a[i] = (unsigned char)dice_next(dice);
    for (size_t i = 0; i < sizeof all->b; i++) all->b[i] = (unsigned char)dice_next(dice);
    for (size_t i = 0; i < SUMS; i++) {
        all->acc[i] = (uint32_t)dice_next(dice);
        all->sums[0][i] = all->sums[1][i] = 0x5a5a5a5a;
    }
    if (c->sum != DTYPE_F32) return;
    // Small whole numbers, whose sums are exact in any order.
    for (size_t i = 0; i < sizeof all->a; i += 2) {
        uint16_t x = (uint16_t)dtype_from_double(DTYPE_BF16, (double)(all->a[i] % 9) - 4, true);
        memcpy(all->a + i, &x, 2);
    }
    for (size_t i = 0; i < sizeof all->b; i += 2) {
        uint16_t x = (uint16_t)dtype_from_double(DTYPE_BF16, (double)(all->b[i] % 9) - 4, true);
        memcpy(all->b + i, &x, 2);
    }
    for (size_t i = 0; i < SUMS; i++)
        all->acc[i] = (uint32_t)dtype_from_double(DTYPE_F32, (double)(all->acc[i] % 999), true);
}

enum { ARGUMENTS = 7 };

static void arguments(IrArg args[ARGUMENTS], Arrays *all, const Case *c, int which) {
    args[0] = tir_pointer(all->sums[which], sizeof all->sums[0]);
    args[1] = tir_pointer(all->acc, sizeof all->acc);
    args[2] = tir_pointer(all->a, sizeof all->a);
    args[3] = tir_pointer(all->b, sizeof all->b);
    args[4] = tir_scalar((uint64_t)c->depth);
    args[5] = tir_scalar((uint64_t)c->a_step);
    args[6] = tir_scalar((uint64_t)c->b_step);
}

static bool same_sum(Dtype sum, uint32_t x, uint32_t y) {
    bool nan = sum == DTYPE_F32 && (x & 0x7fffffff) > 0x7f800000 && (y & 0x7fffffff) > 0x7f800000;
    return x == y || nan;
}

static void run_both(const Case *c, Arrays *all, Tir *t, Compiled *k) {
    IrArg args[ARGUMENTS];
    arguments(args, all, c, 0);
    assert_int_equal(tir_run(t, args, ARGUMENTS, 1), IR_RUN_DONE);
    assert_int_equal(diags_count(t->diags), 0);
    arguments(args, all, c, 1);
    compiled_run(k, args, ARGUMENTS, (int64_t[]){1, 1, 1});
    for (uint32_t i = 0; i < SUMS; i++)
        if (!same_sum(c->sum, all->sums[0][i], all->sums[1][i]))
            fail_msg("%s by %s, %u by %u, depth %lld%s: (%u, %u) is 0x%x, expected 0x%x",
                     dtype_name(c->a), dtype_name(c->b), c->rows, c->columns, (long long)c->depth,
                     c->acc ? ", with acc" : "", i / SUM_STEP, i % SUM_STEP, all->sums[1][i],
                     all->sums[0][i]);
}

// ---- what runs here -----------------------------------------------------------------------------

static const CpuTarget tiles_alone = {CPU_X86_64_V4, CPU_AMX};

static bool runs(bool floats) {
    CpuTarget t = {CPU_X86_64_V4, floats ? CPU_AMX_BF16 : CPU_AMX_INT8};
    if (codegen_plugin() && cpu_runs_here(t)) return true;
    print_message("not run: this machine has no tile registers for %s, or may not use them\n",
                  floats ? "bf16" : "bytes");
    return false;
}

static CpuTarget target_of(bool floats) {
    CpuTarget native = cpu_native();
    return cpu_runs(native, tiles_alone)
               ? tiles_alone
               : (CpuTarget){CPU_X86_64_V4, floats ? CPU_AMX_BF16 : CPU_AMX_INT8};
}

static void every_depth(Case c, CpuTarget target, uint64_t seed) {
    static const int64_t depths[] = {-3, 0, 1, 32, 64, 65, 128, 130};
    static Arrays all;
    Tir *t = load(&c);
    Compiled *k = compiled_load(t, target);
    for (uint32_t d = 0; d < sizeof depths / sizeof *depths; d++) {
        c.depth = depths[d];
        c.a_step = d % 2 ? A_STEP : 193;
        c.b_step = d % 3 ? B_STEP : 131;
        Dice dice = dice_roll(seed * 100 + d);
        fill(&all, &c, &dice);
        run_both(&c, &all, t, k);
    }
    compiled_free(k);
    tir_free(t);
}

static void every_block(const Case *types) {
    for (uint32_t i = 0; i < 8; i++) {
        Case c = *types;
        c.rows = i & 1 ? 32 : 16;
        c.columns = i & 2 ? 32 : 16;
        c.acc = i & 4;
        every_depth(c, i % 3 ? cpu_native() : target_of(c.sum == DTYPE_F32), i);
    }
}

static void pairs_of_bf16(void **state) {
    (void)state;
    if (!runs(true)) skip();
    every_block(&(Case){.a = DTYPE_BF16, .b = DTYPE_BF16, .sum = DTYPE_F32});
}

static void fours_of_every_sign(void **state) {
    (void)state;
    if (!runs(false)) skip();
    for (int i = 0; i < 4; i++)
        every_block(&(Case){
            .a = i & 1 ? DTYPE_I8 : DTYPE_U8, .b = i & 2 ? DTYPE_I8 : DTYPE_U8, .sum = DTYPE_I32});
}

// One product a sum, of values that are NaN, infinite, zero, or too small: subnormal ones are 0.
static void special_values(void **state) {
    (void)state;
    if (!runs(true)) skip();
    static const uint16_t special[] = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80,
                                       0x7fc0, 0x0001, 0x807f, 0x0080, 0x8080, 0x7f7f,
                                       0xff7f, 0x2000, 0x1f80, 0x0040};
    static Arrays all;
    memset(&all, 0, sizeof all);
    for (uint32_t i = 0; i < 32; i++) {
        memcpy(all.a + (size_t)i * A_STEP * 2, &special[i % 16], 2);
        memcpy(all.b + (size_t)i * 4, &special[(i + i / 16) % 16], 2);
    }
    Case c = {.a = DTYPE_BF16, .b = DTYPE_BF16, .sum = DTYPE_F32, .rows = 32, .columns = 32};
    c.depth = 32;
    c.a_step = A_STEP;
    c.b_step = B_STEP;
    Tir *t = load(&c);
    Compiled *k = compiled_load(t, target_of(true));
    run_both(&c, &all, t, k);
    compiled_free(k);
    tir_free(t);
}

// ---- the instructions ---------------------------------------------------------------------------

static bool holds(Str s, const char *text) {
    size_t size = strlen(text);
    for (size_t i = 0; i + size <= s.size; i++)
        if (memcmp(s.text + i, text, size) == 0) return true;
    return false;
}

static void expect_instruction(Case c, const char *name) {
    c.rows = c.columns = 32;
    c.a_step = A_STEP;
    c.b_step = B_STEP;
    Tir *t = load(&c);
    Str text = {0};
    assert_true(compiled_output(t, tiles_alone, CODEGEN_ASM, false, &text));
    if (!holds(text, name)) fail_msg("no '%s' in\n%.*s", name, STR_ARG(text));
    assert_true(holds(text, "ldtilecfg") && holds(text, "tilerelease"));
    tir_free(t);
}

static void each_has_its_instruction(void **state) {
    (void)state;
    if (!codegen_plugin()) skip();
    expect_instruction((Case){.a = DTYPE_BF16, .b = DTYPE_BF16, .sum = DTYPE_F32}, "tdpbf16ps");
    expect_instruction((Case){.a = DTYPE_I8, .b = DTYPE_I8, .sum = DTYPE_I32}, "tdpbssd");
    expect_instruction((Case){.a = DTYPE_I8, .b = DTYPE_U8, .sum = DTYPE_I32}, "tdpbsud");
    expect_instruction((Case){.a = DTYPE_U8, .b = DTYPE_I8, .sum = DTYPE_I32}, "tdpbusd");
    expect_instruction((Case){.a = DTYPE_U8, .b = DTYPE_U8, .sum = DTYPE_I32}, "tdpbuud");
}

// A machine may have one kind of products and not the other.
static void others_have_none(void **state) {
    (void)state;
    if (!codegen_plugin()) skip();
    for (int floats = 0; floats < 2; floats++) {
        Dtype factor = floats ? DTYPE_BF16 : DTYPE_I8;
        Case c = {.a = factor, .b = factor, .sum = floats ? DTYPE_F32 : DTYPE_I32};
        c.rows = c.columns = 16;
        Tir *t = load(&c);
        CpuTarget other = {CPU_X86_64_V4, ~(unsigned)(floats ? CPU_AMX_BF16 : CPU_AMX_INT8) & 31};
        Str text;
        assert_false(compiled_output(t, other, CODEGEN_ASM, false, &text));
        assert_true(tir_reported(t, "'cpu.tiles' of") && tir_reported(t, "no such instruction"));
        tir_free(t);
    }
}

// ---- others use the registers, too --------------------------------------------------------------

#if defined __x86_64__
// TILERELEASE, for assemblers that do not know it.
static void releasing(const CpuServices *services, int64_t program, uint32_t site,
                      const void *const *values) {
    (void)services, (void)program, (void)site, (void)values;
    __asm__ volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0xc0");
}

static void a_print_may_use_them(void **state) {
    (void)state;
    if (!runs(false)) skip();
    static Arrays all;
    Case c = {.a = DTYPE_I8, .b = DTYPE_I8, .sum = DTYPE_I32, .rows = 16, .columns = 16};
    c.depth = 64;
    c.a_step = A_STEP;
    c.b_step = B_STEP;
    c.after =
        " vec.print %a {texts = [\"\", \"\"], select = [0], site = 0}\n"
        " cpu.tiles %to, %0, %to, %0, %a, %as, %b, %bs, %depth {rows = 16, columns = 32}\n";
    Dice dice = dice_roll(1);
    fill(&all, &c, &dice);
    Tir *t = load(&c);
    IrArg args[ARGUMENTS];
    arguments(args, &all, &c, 0);
    assert_int_equal(tir_run(t, args, ARGUMENTS, 3), IR_RUN_DONE);
    Compiled *k = compiled_load(t, target_of(false));
    k->services.print = releasing;
    arguments(args, &all, &c, 1);
    compiled_run(k, args, ARGUMENTS, (int64_t[]){3, 1, 1});
    assert_memory_equal(all.sums[1], all.sums[0], sizeof all.sums[0]);
    compiled_free(k);
    tir_free(t);
}
#else
static void a_print_may_use_them(void **state) {
    (void)state;
    skip();
}
#endif

static void no_op_is_left_out(void **state) {
    (void)state;
    if (!codegen_plugin()) skip();
    bundle_all_seen(TILES, seen);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_of_bf16),     cmocka_unit_test(fours_of_every_sign),
        cmocka_unit_test(special_values),    cmocka_unit_test(each_has_its_instruction),
        cmocka_unit_test(others_have_none),  cmocka_unit_test(a_print_may_use_them),
        cmocka_unit_test(no_op_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
