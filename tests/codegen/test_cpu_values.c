// Every op that makes values of values, for every element type, as scalars and vectors, on every
// level of this machine: compiled against interpreted, bit for bit.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "target/machine.h"
#include "tests/codegen/bundle.h"
#include "tests/support/slice.h"

static const uint32_t lengths[] = {0, 1, 4, 16, 64};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

typedef struct Values {
    CpuTarget targets[4];
    uint32_t target_count;
    bool seen[IR_OPCODES];
} Values;

// A third of the combinations in each slice.
static bool is_due(uint32_t target, uint32_t length, Dtype elem) {
    return slice_has(target + length + elem, 3);
}

static int set_up(void **state) {
    static Values values;
    values.target_count = compiled_targets(values.targets);
    *state = &values;
    return 0;
}

// ---- elementwise --------------------------------------------------------------------------------

static bool has_arithmetic(const Machine *m, Dtype elem) {
    if (elem == DTYPE_F16) return m->f16;
    return !dtype_is(elem, DTYPE_CLASS_FP8) && elem != DTYPE_BF16;
}

// True for the ops that codegen/cpu must support; it must refuse the rest.
static bool is_owed(const Machine *m, IrOpcode code, Dtype elem) {
    if (bundle_place(code) != VALUES) return false;
    if (code == IR_NEG || code == IR_ABS || code == IR_SELECT) return true;
    if (code == IR_REM && elem == DTYPE_F16) return false;
    if (code == IR_FMA && !m->fma) return false;
    return has_arithmetic(m, elem);
}

static bool is_elementwise(const IrOpInfo *info) {
    switch (info->rule) {
    case IR_RULE_UNARY:
    case IR_RULE_BINARY:
    case IR_RULE_SHIFT:
    case IR_RULE_COMPARE:
    case IR_RULE_TERNARY:
    case IR_RULE_SELECT: return true;
    default: return false;
    }
}

// One op with operands of this type, into the bundle.
static void add_op(Bundle *b, IrOpcode code, Dtype elem, const uint32_t x[3]) {
    const IrOpInfo *info = ir_op_info(code);
    Dtype result = info->rule == IR_RULE_COMPARE ? DTYPE_BOOL : elem;
    const char *type = bundle_type(b, result, b->lanes);
    uint32_t r = 0;
    if (info->rule == IR_RULE_SELECT) {
        uint32_t c = bundle_input(b, DTYPE_BOOL, 2);
        r = bundle_op(b, "select %%%u, %%%u, %%%u : %s", c, x[0], x[1], type);
    } else if (info->max_operands == 1) {
        r = bundle_op(b, "%s %%%u : %s", info->text, x[0], type);
    } else if (info->max_operands == 2) {
        r = bundle_op(b, "%s %%%u, %%%u : %s", info->text, x[0], x[1], type);
    } else {
        r = bundle_op(b, "%s %%%u, %%%u, %%%u : %s", info->text, x[0], x[1], x[2], type);
    }
    bundle_output(b, result, b->lanes, info->text, r);
}

static void add_shifts(Bundle *b, Dtype elem, uint32_t x) {
    static const Dtype counts[] = {DTYPE_I8, DTYPE_U16, DTYPE_I64};
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t n = bundle_input(b, counts[i], 1);
        const char *type = bundle_type(b, elem, b->lanes);
        bundle_output(b, elem, b->lanes, "shl by another type",
                      bundle_op(b, "shl %%%u, %%%u : %s", x, n, type));
        bundle_output(b, elem, b->lanes, "shr by another type",
                      bundle_op(b, "shr %%%u, %%%u : %s", x, n, type));
    }
}

static bool check_elementwise(Values *v, Dtype elem, uint32_t lanes, CpuTarget target) {
    Arena *arena = arena_create();
    Machine m = machine_of_cpu(target);
    Bundle *b = bundle_create(arena, lanes);
    uint32_t x[3];
    for (unsigned i = 0; i < 3; i++) x[i] = bundle_input(b, elem, i);
    for (unsigned code = 0; code < IR_OPCODES; code++) {
        const IrOpInfo *info = ir_op_info((IrOpcode)code);
        bool takes = (info->classes & dtype_class(elem)) != 0;
        if (is_elementwise(info) && takes && is_owed(&m, (IrOpcode)code, elem))
            add_op(b, (IrOpcode)code, elem, x);
    }
    if (dtype_is(elem, DTYPE_CLASS_INT)) add_shifts(b, elem, x[0]);
    bool fine = bundle_check(b, target, v->seen);
    arena_destroy(arena);
    return fine;
}

static void every_elementwise_op(void **state) {
    Values *v = *state;
    if (!codegen_plugin()) skip();
    bool fine = true;
    for (uint32_t i = 0; i < v->target_count; i++)
        for (uint32_t n = 0; n < LENGTHS; n++)
            for (Dtype elem = 0; elem < DTYPE_I4; elem++)
                if (is_due(i, n, elem))
                    fine &= check_elementwise(v, elem, lengths[n], v->targets[i]);
    assert_true(fine);
}

// ---- what is not owed is refused ----------------------------------------------------------------

static bool is_refused(IrOpcode code, Dtype elem, CpuTarget target) {
    Arena *arena = arena_create();
    Bundle *b = bundle_create(arena, 4);
    uint32_t x[3];
    for (unsigned i = 0; i < 3; i++) x[i] = bundle_input(b, elem, i);
    add_op(b, code, elem, x);
    Tir *t = tir_load("%s", bundle_text(b));
    Str output;
    char name[CPU_NAME_MAX];
    bool fine = !compiled_output(t, target, CODEGEN_OBJECT, false, &output) &&
                diags_count(t->diags) == 1 && diags_get(t->diags, 0)->code == DIAG_UNSUPPORTED &&
                tir_reported(t, ir_op_info(code)->text) && tir_reported(t, dtype_name(elem)) &&
                tir_reported(t, cpu_target_name(target, name)) && tir_reported(t, "help: ");
    if (!fine) printf("%s of %s on %s\n", ir_op_info(code)->text, dtype_name(elem), name);
    tir_free(t);
    arena_destroy(arena);
    return fine;
}

static void every_other_is_refused(void **state) {
    Values *v = *state;
    if (!codegen_plugin()) skip();
    bool fine = true;
    for (uint32_t i = 0; i < v->target_count; i++) {
        Machine m = machine_of_cpu(v->targets[i]);
        for (unsigned code = 0; code < IR_OPCODES; code++) {
            const IrOpInfo *info = ir_op_info((IrOpcode)code);
            for (Dtype elem = 0; elem < DTYPE_I4; elem++)
                if (is_elementwise(info) && (info->classes & dtype_class(elem)) &&
                    !is_owed(&m, (IrOpcode)code, elem))
                    fine &= is_refused((IrOpcode)code, elem, v->targets[i]);
        }
    }
    assert_true(fine);
}

// ---- casts --------------------------------------------------------------------------------------

static bool cast_is_owed(const Machine *m, Dtype to, Dtype from) {
    if (to == from) return true;
    bool half = to == DTYPE_F16 || from == DTYPE_F16;
    Dtype other = to == DTYPE_F16 ? from : to;
    if (dtype_is(to, DTYPE_CLASS_FP8) || dtype_is(from, DTYPE_CLASS_FP8)) return false;
    if (to == DTYPE_BF16 || from == DTYPE_BF16) return false;
    if (!half || m->f16) return true;
    return m->f16_convert && (other == DTYPE_F32 || (other == DTYPE_F64 && from == DTYPE_F16));
}

// Lookups of values of each width.
static void add_lookups(Bundle *b, Dtype from, uint32_t lanes, uint32_t x, uint32_t y) {
    static const struct {
        Dtype to;
        const char *values;
    } tables[] = {{DTYPE_BOOL, "true, false, true"},
                  {DTYPE_I8, "-1, 2, 3, -4, 5"},
                  {DTYPE_F16, "0x3c00, 0x7e01"},
                  {DTYPE_F32, "1.5, -0.0, 2.5, nan"},
                  {DTYPE_U64, "7, 0, 9, 1, 2"}};
    if (!dtype_is(from, DTYPE_CLASS_INT)) return;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const char *type = bundle_type(b, tables[i].to, lanes);
        for (int k = 0; k < 2; k++)
            bundle_output(b, tables[i].to, lanes, "lookup",
                          bundle_op(b, "lookup %%%u {values = [%s]} : %s", k ? y : x,
                                    tables[i].values, type));
    }
}

static bool check_casts(Values *v, Dtype from, uint32_t lanes, CpuTarget target) {
    Arena *arena = arena_create();
    Machine m = machine_of_cpu(target);
    Bundle *b = bundle_create(arena, lanes);
    uint32_t x = bundle_input(b, from, 0), y = bundle_input(b, from, 2);
    for (Dtype to = 0; to < DTYPE_I4; to++) {
        if (!cast_is_owed(&m, to, from)) continue;
        const char *what = arena_printf(arena, "cast from %s", dtype_name(from));
        const char *type = bundle_type(b, to, lanes);
        bundle_output(b, to, lanes, what, bundle_op(b, "cast %%%u : %s", x, type));
        bundle_output(b, to, lanes, what, bundle_op(b, "cast %%%u : %s", y, type));
    }
    for (Dtype to = 0; to < DTYPE_I4; to++) {
        if (dtype_bits(to) != dtype_bits(from) || to == DTYPE_BOOL || from == DTYPE_BOOL) continue;
        bundle_output(b, to, lanes, "bitcast",
                      bundle_op(b, "bitcast %%%u : %s", x, bundle_type(b, to, lanes)));
    }
    add_lookups(b, from, lanes, x, y);
    bool fine = bundle_check(b, target, v->seen);
    arena_destroy(arena);
    return fine;
}

static void every_cast(void **state) {
    Values *v = *state;
    if (!codegen_plugin()) skip();
    bool fine = true;
    for (uint32_t i = 0; i < v->target_count; i++)
        for (uint32_t n = 0; n < LENGTHS; n++)
            for (Dtype from = 0; from < DTYPE_I4; from++)
                if (is_due(i, n, from)) fine &= check_casts(v, from, lengths[n], v->targets[i]);
    assert_true(fine);
}

// ---- vectors as wholes --------------------------------------------------------------------------

static void add_lanes(Bundle *b, Dtype elem, uint32_t x, uint32_t y) {
    uint32_t n = b->lanes;
    const char *type = bundle_type(b, elem, n), *scalar = dtype_name(elem);
    uint32_t last = bundle_op(b, "vec.lane %%%u {lane = %u} : %s", x, n - 1, scalar);
    bundle_output(b, elem, 0, "vec.lane", last);
    bundle_output(b, elem, n, "broadcast", bundle_op(b, "broadcast %%%u : %s", last, type));
    StrBuf lanes = strbuf(b->arena);
    for (uint32_t i = 0; i < n; i++) strbuf_printf(&lanes, "%s%u", i ? ", " : "", i * 5 % (2 * n));
    bundle_output(
        b, elem, n, "vec.shuffle of two",
        bundle_op(b, "vec.shuffle %%%u, %%%u {lanes = [%s]} : %s", x, y, lanes.text, type));
    bundle_output(b, elem, 1, "vec.shuffle of one",
                  bundle_op(b, "vec.shuffle %%%u, _ {lanes = [%u]} : %s[1]", x, n / 2, scalar));
    uint32_t one = bundle_op(b, "reshape %%%u : %s[1]", last, scalar);
    bundle_output(b, elem, 0, "reshape", bundle_op(b, "reshape %%%u : %s", one, scalar));
    bundle_output(b, elem, n, "broadcast of one lane",
                  bundle_op(b, "broadcast %%%u : %s", one, type));
    bundle_output(b, elem, n, "const",
                  bundle_op(b, "const {value = %s} : %s",
                            elem == DTYPE_BOOL                ? "true"
                            : dtype_is(elem, DTYPE_CLASS_INT) ? "5"
                                                              : "1.5",
                            type));
    uint32_t c = bundle_op(b, "const {value = true} : bool");
    bundle_output(b, elem, n, "select by a scalar",
                  bundle_op(b, "select %%%u, %%%u, %%%u : %s", c, x, y, type));
    bundle_output(b, DTYPE_I32, n, "iota", bundle_op(b, "iota : %s", bundle_type(b, DTYPE_I32, n)));
}

static void add_reductions(Bundle *b, Dtype elem, uint32_t x) {
    static const char *const numbers[] = {"sum", "prod", "min", "max"};
    static const char *const bools[] = {"any", "all"};
    bool logical = elem == DTYPE_BOOL;
    for (uint32_t i = 0; i < (logical ? 2 : 4); i++) {
        const char *kind = logical ? bools[i] : numbers[i];
        bundle_output(b, elem, 0, arena_printf(b->arena, "vec.reduce %s", kind),
                      bundle_op(b, "vec.reduce %%%u {kind = %s} : %s", x, kind, dtype_name(elem)));
    }
}

static bool check_vectors(Values *v, Dtype elem, uint32_t lanes, CpuTarget target) {
    Arena *arena = arena_create();
    Machine m = machine_of_cpu(target);
    Bundle *b = bundle_create(arena, lanes);
    uint32_t x = bundle_input(b, elem, 0), y = bundle_input(b, elem, 1);
    add_lanes(b, elem, x, y);
    if (elem == DTYPE_BOOL || has_arithmetic(&m, elem)) add_reductions(b, elem, x);
    bool fine = bundle_check(b, target, v->seen);
    arena_destroy(arena);
    return fine;
}

static void every_vector_op(void **state) {
    Values *v = *state;
    if (!codegen_plugin()) skip();
    bool fine = true;
    for (uint32_t i = 0; i < v->target_count; i++)
        for (uint32_t n = 1; n < LENGTHS; n++)
            for (Dtype elem = 0; elem < DTYPE_I4; elem++)
                if (is_due(i, n, elem)) fine &= check_vectors(v, elem, lengths[n], v->targets[i]);
    assert_true(fine);
}

// ---- dots ---------------------------------------------------------------------------------------

typedef struct DotKind {
    const char *op;
    uint32_t group;
    Dtype sum, a, b;
} DotKind;

static const DotKind dot_kinds[] = {
    {"vec.dot2", 2, DTYPE_F32, DTYPE_BF16, DTYPE_BF16},
    {"vec.dot2", 2, DTYPE_I32, DTYPE_I16, DTYPE_I16},
    {"cpu.dot4", 4, DTYPE_I32, DTYPE_U8, DTYPE_I8},
};
enum { DOT_KINDS = sizeof dot_kinds / sizeof *dot_kinds };

static bool has_dot(const Machine *m, size_t kind) {
    const bool has[DOT_KINDS] = {m->bf16_dot, m->i16_dot, m->i8_dot};
    return has[kind];
}

static bool check_dot(Values *v, const DotKind *d, uint32_t sums, CpuTarget target) {
    Arena *arena = arena_create();
    Bundle *b = bundle_create(arena, sums * d->group);
    b->x86 = true;
    uint32_t x = bundle_input(b, d->a, 0), y = bundle_input(b, d->b, 1);
    uint32_t z = bundle_input(b, d->sum, 2);
    StrBuf lanes = strbuf(arena);
    for (uint32_t i = 0; i < sums; i++) strbuf_printf(&lanes, "%s%u", i ? ", " : "", i);
    uint32_t acc = bundle_op(b, "vec.shuffle %%%u, _ {lanes = [%s]} : %s[%u]", z, lanes.text,
                             dtype_name(d->sum), sums);
    uint32_t r =
        bundle_op(b, "%s %%%u, %%%u, %%%u : %s[%u]", d->op, acc, x, y, dtype_name(d->sum), sums);
    bundle_output(b, d->sum, sums, d->op, r);
    bool fine = bundle_check(b, target, v->seen);
    arena_destroy(arena);
    return fine;
}

static void every_dot(void **state) {
    Values *v = *state;
    if (!codegen_plugin()) skip();
    bool fine = true;
    for (uint32_t i = 0; i < v->target_count; i++) {
        Machine m = machine_of_cpu(v->targets[i]);
        for (uint32_t sums = 1; sums <= 32; sums *= 2)
            for (size_t k = 0; k < DOT_KINDS; k++)
                if (has_dot(&m, k)) fine &= check_dot(v, &dot_kinds[k], sums, v->targets[i]);
    }
    assert_true(fine);
    Machine best = machine_of_cpu(cpu_native());
    if (!best.bf16_dot)
        print_message("vec.dot2 of bf16 was not run: this machine has no AVX512-BF16\n");
    if (!best.i8_dot) print_message("cpu.dot4 was not run: this machine has no AVX512-VNNI\n");
    v->seen[IR_VEC_DOT2] |= !best.bf16_dot && !best.i16_dot;
    v->seen[IR_CPU_DOT4] |= !best.i8_dot;
    v->seen[IR_FMA] |= !best.fma;
}

static void no_op_is_left_out(void **state) {
    Values *v = *state;
    if (!codegen_plugin()) skip();
    bundle_all_seen(VALUES, v->seen);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_elementwise_op),
        cmocka_unit_test(every_other_is_refused),
        cmocka_unit_test(every_cast),
        cmocka_unit_test(every_vector_op),
        cmocka_unit_test(every_dot),
        cmocka_unit_test(no_op_is_left_out),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
