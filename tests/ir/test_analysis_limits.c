// Ranges and proofs at the limits of the integers: every op on every pair of limits, against what
// the interpreter's arithmetic gives. Under UBSan also: nothing overflows on the way.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/analysis/analysis.h"
#include "ir/interp/interp.h"
#include "tests/support/pass_world.h"

__extension__ typedef __int128 Wide;

enum { VALUES_MAX = 24, PLACES_MAX = 3 };

static const char *const binary[] = {"add", "sub", "mul", "div", "rem", "min",
                                     "max", "and", "or",  "xor", "shl", "shr"};
static const char *const unary[] = {"neg", "abs", "not"};
static const Dtype types[] = {DTYPE_I8, DTYPE_U8, DTYPE_I32, DTYPE_I64, DTYPE_U64};

// The limits of the type, their neighbours, powers of two where factors are cut off, small ones.
static size_t limits_of(Dtype type, uint64_t *values) {
    static const int64_t numbers[] = {0,
                                      1,
                                      2,
                                      3,
                                      -1,
                                      -2,
                                      7,
                                      63,
                                      64,
                                      INT64_MIN,
                                      INT64_MIN + 1,
                                      INT64_MAX,
                                      INT64_MAX - 1,
                                      INT64_C(1) << 58,
                                      -(INT64_C(1) << 58),
                                      (INT64_C(1) << 58) + 1,
                                      INT64_C(1) << 62,
                                      -(INT64_C(1) << 62),
                                      INT32_MIN,
                                      INT32_MAX,
                                      INT8_MIN,
                                      INT8_MAX};
    size_t count = 0;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        uint64_t bits = dtype_cast(type, DTYPE_I64, (uint64_t)numbers[i], true);
        bool seen = false;
        for (size_t k = 0; k < count; k++) seen = seen || values[k] == bits;
        if (!seen) values[count++] = bits;
    }
    return count;
}

static Wide number(Dtype type, uint64_t bits) {
    return dtype_signed(type) ? (Wide)dtype_to_i64(type, bits) : (Wide)bits;
}

typedef struct Place {
    const IrValue *value;
    Wide is;  // in the run at hand
} Place;

typedef struct Limits {
    Dtype type;
    const IrRanges *ranges;
    const IrOp *at;
    Place places[PLACES_MAX];
    int count;
    int proofs;
    const char *text;
} Limits;

static void check_range(const Limits *l, const Place *p) {
    IrRange r = ir_range_of(l->ranges, p->value);
    assert_true(r.known);
    bool full = l->type == DTYPE_U64 && r.min < 0;
    if (!full && (p->is < r.min || p->is > r.max))
        fail_msg("%lld is not in %lld..%lld of %s", (long long)p->is, (long long)r.min,
                 (long long)r.max, l->text);
    Wide size = p->is < 0 ? -p->is : p->is;
    bool divides = r.divisor == IR_ZERO_DIVISOR ? p->is == 0 : size % (Wide)r.divisor == 0;
    if (!divides)
        fail_msg("%lld is not a multiple of %llu: %s", (long long)p->is,
                 (unsigned long long)r.divisor, l->text);
}

static void check_proofs(Limits *l, const Place *a, const int64_t *adds, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (ir_provably_at_least(l->ranges, l->at, a->value, adds[i])) {
            l->proofs++;
            if (a->is < adds[i])
                fail_msg("proven to be at least %lld: %s", (long long)adds[i], l->text);
        }
        for (int b = 0; b < l->count; b++) {
            if (!ir_provably_le(l->ranges, l->at, a->value, adds[i], l->places[b].value)) continue;
            l->proofs++;
            if (a->is + adds[i] > l->places[b].is)
                fail_msg("proven to be %lld below place %d: %s", (long long)adds[i], b, l->text);
        }
    }
}

// ---- kernels ------------------------------------------------------------------------------------

// `x` of the op: a parameter's lowest bit, or the parameter itself.
static const char *kernel_text(PassWorld *w, Dtype type, const char *op, uint64_t limit, bool bit,
                               bool turned) {
    const char *t = dtype_name(type), *x = bit ? "%2" : "%n";
    const char *c = dtype_signed(type)
                        ? arena_printf(w->arena, "%lld", (long long)dtype_to_i64(type, limit))
                        : arena_printf(w->arena, "%llu", (unsigned long long)limit);
    return arena_printf(w->arena,
                        "kernel @k(%%n: %s, %%m: %s) {\nbody {\n"
                        "%%0 = const {value = %s} : %s\n%%1 = const {value = 1} : %s\n"
                        "%%2 = and %%n, %%1 : %s\n%%3 = le %s, %%m : bool\n"
                        "if %%3 {\n%%4 = %s %s, %s : %s\nyield\n} {\nyield\n}\nreturn\n}\n}\n",
                        t, t, c, t, t, t, x, op, turned ? "%0" : x, turned ? x : "%0", t);
}

static const IrOp *inner_op(const IrFunc *f) {
    const IrOp *op = ir_body(f)->first;
    while (op->code != IR_IF) op = op->next;
    return op->regions[0]->first;
}

static void run_op(Limits *l, const IrOp *op, uint64_t limit, uint64_t n, bool bit, bool turned) {
    static const int64_t adds[] = {0, 1, -1, INT64_MIN, INT64_MAX};
    uint64_t x = bit ? n & 1 : n, result;
    uint64_t operands[2] = {turned ? limit : x, turned ? x : limit};
    assert_true(ir_eval(op->code, l->type, operands, &result));
    const IrValue *given = ir_operand(op, turned ? 1 : 0), *fixed = ir_operand(op, turned ? 0 : 1);
    l->count = 3;
    l->places[0] = (Place){&op->results[0], number(l->type, result)};
    l->places[1] = (Place){given, number(l->type, x)};
    l->places[2] = (Place){fixed, number(l->type, limit)};
    check_range(l, &l->places[0]);
    for (int i = 0; i < l->count; i++)
        check_proofs(l, &l->places[i], adds, sizeof adds / sizeof *adds);
}

static int one_op(Dtype type, const char *name, uint64_t limit, bool bit, bool turned) {
    PassWorld w = pass_world();
    Limits l = {.type = type, .text = kernel_text(&w, type, name, limit, bit, turned)};
    const IrFunc *f = pass_parse(&w, l.text)->funcs.data[0];
    l.ranges = ir_ranges(w.arena, f, IR_TRUST_CHECKED);
    const IrOp *op = inner_op(f);
    l.at = op->next;
    uint64_t values[VALUES_MAX];
    size_t count = bit ? 2 : limits_of(type, values);
    for (size_t i = 0; i < count; i++) run_op(&l, op, limit, bit ? i : values[i], bit, turned);
    pass_world_free(&w);
    return l.proofs;
}

static void every_op_holds_at_the_limits(void **state) {
    (void)state;
    int proofs = 0;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        uint64_t limits[VALUES_MAX];
        size_t count = limits_of(types[t], limits);
        for (size_t o = 0; o < sizeof binary / sizeof *binary; o++)
            for (size_t i = 0; i < count; i++)
                for (int form = 0; form < 4; form++)
                    proofs += one_op(types[t], binary[o], limits[i], form & 1, form & 2);
    }
    assert_true(proofs > 10000);  // what proves nothing tests nothing
}

// ---- negations ----------------------------------------------------------------------------------

static void negations_hold_at_the_limits(void **state) {
    (void)state;
    for (size_t o = 0; o < sizeof unary / sizeof *unary; o++) {
        PassWorld w = pass_world();
        Limits l = {.type = DTYPE_I64};
        l.text = arena_printf(w.arena,
                              "kernel @k(%%n: i64, %%m: i64) {\nbody {\n%%0 = le %%n, %%m : bool\n"
                              "if %%0 {\n%%1 = %s %%n : i64\nyield\n} {\nyield\n}\nreturn\n}\n}\n",
                              unary[o]);
        const IrFunc *f = pass_parse(&w, l.text)->funcs.data[0];
        l.ranges = ir_ranges(w.arena, f, IR_TRUST_CHECKED);
        const IrOp *op = inner_op(f);
        l.at = op->next;
        uint64_t values[VALUES_MAX];
        size_t count = limits_of(DTYPE_I64, values);
        for (size_t i = 0; i < count; i++) {
            static const int64_t adds[] = {0, 1, -1, INT64_MIN, INT64_MAX};
            uint64_t result;
            assert_true(ir_eval(op->code, DTYPE_I64, &values[i], &result));
            l.count = 2;
            l.places[0] = (Place){&op->results[0], number(DTYPE_I64, result)};
            l.places[1] = (Place){ir_operand(op, 0), number(DTYPE_I64, values[i])};
            check_range(&l, &l.places[0]);
            for (int k = 0; k < 2; k++)
                check_proofs(&l, &l.places[k], adds, sizeof adds / sizeof *adds);
        }
        pass_world_free(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_holds_at_the_limits),
        cmocka_unit_test(negations_hold_at_the_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
