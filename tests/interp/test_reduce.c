// Reductions, scans, sort, topk, histogram, random: each on every type it allows, against plain
// loops.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/interp/internal.h"
#include "tests/support/tir.h"

enum { ROWS = 4, COLUMNS = 16, CELLS = ROWS * COLUMNS };

static uint64_t random_state = 0x2545f4914f6cdd1dU;
static uint64_t random_bits(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

// Small whole numbers, which every type holds and which sum exactly; now and then a NaN.
static void fill(Dtype t, void *data, bool specials) {
    for (uint64_t i = 0; i < CELLS; i++) {
        int64_t small = (int64_t)(random_bits() % 5) - (dtype_signed(t) ? 2 : 0);
        uint64_t bits = dtype_wrap(t, (uint64_t)small);
        if (dtype_is(t, DTYPE_CLASS_ANYFLOAT)) {
            bits = dtype_from_double(t, (double)((int64_t)(random_bits() % 5) - 2), false);
            if (specials && random_bits() % 24 == 0) bits = dtype_from_double(t, NAN, false);
            if (specials && random_bits() % 8 == 0) bits = dtype_from_double(t, -0.0, false);
        }
        if (t == DTYPE_BOOL) bits = random_bits() & 1;
        dtype_store(t, data, i, bits);
    }
}

static Tir *reduce_kernel(const char *kind, Dtype t, const char *to, int axis, bool masked) {
    return tir_load(
        "kernel @k(%%x: view %s[4, 16], %%m: view bool[4, 16], %%r: view %s[16]) { body {\n"
        "%%0 = const {value = 0} : i64\n"
        "%%1 = view_load %%x, _, %%0, %%0 {select = [4, 16]} : %s[4,16]\n"
        "%%2 = view_load %%m, _, %%0, %%0 {select = [4, 16]} : bool[4,16]\n"
        "%%3 = reduce %s, %%1 {kind = %s, axis = %d} : %s[%d]\n"
        "view_store %%r, %%3, _, %%0 {select = [%d]}\n"
        "return\n} }",
        dtype_name(t), to, dtype_name(t), masked ? "%2" : "_", kind, axis, to, axis ? 4 : 16,
        axis ? 4 : 16);
}

typedef struct Case {
    const char *name;
    IrReduce kind;
    bool place, logic;
} Case;
static const Case kinds[] = {
    {"sum", IR_REDUCE_SUM, false, false},       {"prod", IR_REDUCE_PROD, false, false},
    {"min", IR_REDUCE_MIN, false, false},       {"max", IR_REDUCE_MAX, false, false},
    {"minnum", IR_REDUCE_MINNUM, false, false}, {"maxnum", IR_REDUCE_MAXNUM, false, false},
    {"argmin", IR_REDUCE_ARGMIN, true, false},  {"argmax", IR_REDUCE_ARGMAX, true, false},
    {"any", IR_REDUCE_ANY, false, true},        {"all", IR_REDUCE_ALL, false, true},
};

static bool number_wins(IrReduce kind) {
    return kind == IR_REDUCE_MINNUM || kind == IR_REDUCE_MAXNUM;
}

static bool wins(IrReduce kind, double x, double best) {
    if (number_wins(kind) && (isnan(x) || isnan(best))) return isnan(best);
    if (isnan(best)) return false;
    if (isnan(x)) return true;
    if (kind == IR_REDUCE_ARGMIN) return x < best;
    if (kind == IR_REDUCE_ARGMAX) return x > best;
    bool least = kind == IR_REDUCE_MIN || kind == IR_REDUCE_MINNUM;
    if (x == best) return least ? signbit(x) && !signbit(best) : !signbit(x) && signbit(best);
    return least ? x < best : x > best;
}

static double number(Dtype t, const void *data, uint64_t i) {
    uint64_t bits = dtype_load(t, data, i);
    if (dtype_is(t, DTYPE_CLASS_ANYFLOAT)) return dtype_to_double(t, bits);
    return dtype_signed(t) ? (double)dtype_to_i64(t, bits) : (double)bits;
}

// The reference's small numbers, or a limit of the type, which double may have rounded up.
static uint64_t bits_of(Dtype t, double v) {
    if (dtype_is(t, DTYPE_CLASS_ANYFLOAT)) return dtype_from_double(t, v, !isinf(v));
    if (v >= (double)dtype_int_max(t)) return dtype_int_max(t);
    if (v <= (double)dtype_int_min(t)) return dtype_wrap(t, (uint64_t)dtype_int_min(t));
    return dtype_wrap(t, (uint64_t)(int64_t)v);
}

static double empty(IrReduce kind, Dtype t) {
    bool is_float = dtype_is(t, DTYPE_CLASS_ANYFLOAT);
    const DtypeFloat *f = dtype_float(t);
    double limit = is_float ? (f->has_inf ? HUGE_VAL : f->greatest) : 0;
    switch (kind) {
    case IR_REDUCE_PROD: return 1;
    case IR_REDUCE_MIN: return is_float ? limit : (double)dtype_int_max(t);
    case IR_REDUCE_MAX: return is_float ? -limit : (double)dtype_int_min(t);
    case IR_REDUCE_MINNUM:
    case IR_REDUCE_MAXNUM: return (double)NAN;
    case IR_REDUCE_ALL: return 1;
    default: return 0;
    }
}

static double reference(const Case *c, Dtype t, const void *x, const uint8_t *mask, uint64_t first,
                        uint64_t stride, uint64_t n) {
    double best = empty(c->kind, t);
    double place = 0;
    bool any = false;
    for (uint64_t k = 0; k < n; k++) {
        uint64_t at = first + k * stride;
        if (!mask[at]) continue;
        double v = number(t, x, at);
        if (c->kind == IR_REDUCE_SUM)
            best += v;
        else if (c->kind == IR_REDUCE_PROD)
            best *= v;
        else if (c->kind == IR_REDUCE_ANY)
            best = best != 0 || v != 0;
        else if (c->kind == IR_REDUCE_ALL)
            best = best != 0 && v != 0;
        else if (!any || wins(c->kind, v, best)) {
            best = v;
            place = (double)k;
        }
        any = true;
    }
    return c->place ? place : best;
}

static void check_reduce(const Case *c, Dtype t, int axis, int density) {
    static uint64_t x[CELLS], r[COLUMNS];
    uint8_t mask[CELLS];
    bool sums = c->kind == IR_REDUCE_SUM || c->kind == IR_REDUCE_PROD;
    fill(t, x, !sums);
    for (int i = 0; i < CELLS; i++) mask[i] = (int)(random_bits() % 4) < density;
    Dtype to = c->place ? DTYPE_I32 : t;
    Tir *k = reduce_kernel(c->name, t, dtype_name(to), axis, density < 4);
    int64_t shape[2] = {ROWS, COLUMNS}, n = axis ? ROWS : COLUMNS;
    IrArg args[] = {tir_view(x, 2, shape), tir_view(mask, 2, shape), tir_view(r, 1, &n)};
    assert_int_equal(tir_run(k, args, 3, 1), IR_RUN_DONE);
    for (uint64_t i = 0; i < (uint64_t)n; i++) {
        double want = reference(c, t, x, mask, axis ? i * COLUMNS : i, axis ? 1 : COLUMNS,
                                axis ? COLUMNS : ROWS);
        double got = number(to, r, i);
        if (sums && dtype_is(t, DTYPE_CLASS_INT)) {  // they wrap
            uint64_t wrapped = dtype_wrap(t, (uint64_t)(int64_t)want);
            assert_int_equal(dtype_load(to, r, i), wrapped);
        } else if (sums) {
            assert_true(got == number(t, (uint64_t[]){dtype_from_double(t, want, true)}, 0));
        } else if (!(isnan(want) ? isnan(got) : got == want && !signbit(got) == !signbit(want))) {
            bool zero = !dtype_is(t, DTYPE_CLASS_ANYFLOAT) || !dtype_float(t)->has_negative_zero;
            if (!(zero && got == want))
                fail_msg("%s of %s: %g, expected %g", c->name, dtype_name(t), got, want);
        }
    }
    tir_free(k);
}

static void built_in_reductions(void **state) {
    (void)state;
    for (size_t c = 0; c < sizeof kinds / sizeof *kinds; c++)
        for (int t = 0; t < DTYPES; t++) {
            if (!dtype_is((Dtype)t, ir_reduce_classes(kinds[c].kind))) continue;
            for (int axis = 0; axis < 2; axis++)
                for (int density = 0; density <= 4; density += 2)
                    check_reduce(&kinds[c], (Dtype)t, axis, density);
        }
}

// 2048 times 1 in f16 stops at 2048 when summed there; in f32 it does not.
static void narrow_sums_round_once(void **state) {
    (void)state;
    static const char *const types[] = {"f16", "bf16"};
    for (int i = 0; i < 2; i++) {
        Tir *t = tir_load(
            "kernel @k(%%r: view %s[1]) { body {\n"
            "%%0 = const {value = 1.0} : %s[4096]\n"
            "%%1 = reduce _, %%0 {kind = sum, axis = 0} : %s\n"
            "%%2 = const {value = 0} : i64\n"
            "view_store %%r, %%1, _, %%2 {select = [0]}\n"
            "return\n} }",
            types[i], types[i], types[i]);
        uint16_t r = 0;
        IrArg args[] = {tir_view(&r, 1, (int64_t[]){1})};
        assert_int_equal(tir_run(t, args, 1, 1), IR_RUN_DONE);
        Dtype type = i ? DTYPE_BF16 : DTYPE_F16;
        assert_true(dtype_to_double(type, r) == 4096);
        tir_free(t);
    }
}

// argmax and max of pairs by a combiner, earlier first; with a mask and without lanes.
static void custom_reductions(void **state) {
    (void)state;
    Tir *t = tir_load_file("tests/interp/data/custom_reduce.tir");
    for (int round = 0; round < 200; round++) {
        float x[16], r;
        uint8_t mask[16];
        int32_t place, want = -1;
        for (int i = 0; i < 16; i++) {
            x[i] = (float)(random_bits() % 7);
            mask[i] = round > 0 && random_bits() % 2;
            if (mask[i] && (want < 0 || x[i] > x[want])) want = i;
        }
        int64_t n = 16, one = 1;
        IrArg args[] = {tir_view(x, 1, &n), tir_view(mask, 1, &n), tir_view(&r, 1, &one),
                        tir_view(&place, 1, &one)};
        assert_int_equal(tir_run(t, args, 4, 1), IR_RUN_DONE);
        assert_int_equal(place, want < 0 ? 0 : want);
        assert_true(r == (want < 0 ? 0 : x[want]));
    }
    tir_free(t);
}

// ---- scans --------------------------------------------------------------------------------------

static void check_scan(const Case *c, Dtype t, bool reverse, bool exclusive, bool custom) {
    static uint64_t x[CELLS], r[CELLS];
    fill(t, x, false);
    const char *elem = dtype_name(t);
    const char *combiner = c->kind == IR_REDUCE_SUM    ? "add"
                           : c->kind == IR_REDUCE_PROD ? "mul"
                                                       : c->name;
    Arena *arena = arena_create();
    char *region = arena_printf(arena, "(%%4: %s, %%5: %s) {\n%%6 = %s %%4, %%5 : %s\nyield %%6\n}",
                                elem, elem, combiner, elem);
    Tir *k = tir_load(
        "kernel @k(%%x: view %s[4, 16], %%r: view %s[4, 16]) { body {\n"
        "%%0 = const {value = 0} : i64\n"
        "%%1 = view_load %%x, _, %%0, %%0 {select = [4, 16]} : %s[4,16]\n"
        "%%2 = scan %%1 {kind = %s, axis = 1, reverse = %s, exclusive = %s} : %s[4,16] %s\n"
        "view_store %%r, %%2, _, %%0, %%0 {select = [4, 16]}\n"
        "return\n} }",
        elem, elem, elem, custom ? "custom" : c->name, reverse ? "true" : "false",
        exclusive ? "true" : "false", elem, custom ? region : "");
    arena_destroy(arena);
    int64_t shape[2] = {ROWS, COLUMNS};
    IrArg args[] = {tir_view(x, 2, shape), tir_view(r, 2, shape)};
    assert_int_equal(tir_run(k, args, 2, 1), IR_RUN_DONE);
    uint8_t on[CELLS];
    memset(on, 1, sizeof on);
    for (uint64_t row = 0; row < ROWS; row++)
        for (uint64_t i = 0; i < COLUMNS; i++) {
            uint64_t n = (reverse ? COLUMNS - i : i + 1) - exclusive;
            uint64_t first = row * COLUMNS + (reverse ? i + exclusive : 0);
            double want = custom && n == 0 ? 0 : reference(c, t, x, on, first, 1, n);
            double got = number(t, r, row * COLUMNS + i);
            // Sums of small numbers may wrap, limits may not.
            bool limit = n == 0 || c->kind == IR_REDUCE_MIN || c->kind == IR_REDUCE_MAX;
            uint64_t bits = limit || dtype_is(t, DTYPE_CLASS_ANYFLOAT)
                                ? bits_of(t, want)
                                : dtype_wrap(t, (uint64_t)(int64_t)want);
            double expected = number(t, &bits, 0);
            if (isnan(expected) ? !isnan(got) : got != expected)
                fail_msg("%s scan of %s at %d: %g, expected %g", c->name, elem, (int)i, got, want);
        }
    tir_free(k);
}

static void scans(void **state) {
    (void)state;
    for (size_t c = 0; c < 6; c++)
        for (int t = 0; t < DTYPES; t++) {
            if (!dtype_is((Dtype)t, ir_reduce_classes(kinds[c].kind))) continue;
            // Products wrap beyond what the reference's double holds.
            bool is_float = dtype_is((Dtype)t, DTYPE_CLASS_ANYFLOAT);
            if (kinds[c].kind == IR_REDUCE_PROD && !is_float) continue;
            for (int mode = 0; mode < 8; mode++) {
                bool custom = (mode & 4) != 0;
                // fp8 and f16 combiners round at each step, unlike the built-in sums.
                if (custom && dtype_bits((Dtype)t) < 32 && is_float) continue;
                check_scan(&kinds[c], (Dtype)t, mode & 1, mode & 2, custom);
            }
        }
}

// ---- sort, topk, histogram ----------------------------------------------------------------------

static bool sorts_before(double a, double b, bool descending) {
    if (isnan(a) || isnan(b)) return !isnan(a) && isnan(b);
    return descending ? a > b : a < b;
}

static void check_sort(Dtype t, bool descending) {
    static uint64_t x[CELLS], r[CELLS];
    int32_t places[CELLS];
    fill(t, x, true);
    Tir *k = tir_load(
        "kernel @k(%%x: view %s[4, 16], %%r: view %s[4, 16], %%p: view i32[4, 16]) { body {\n"
        "%%0 = const {value = 0} : i64\n"
        "%%1 = view_load %%x, _, %%0, %%0 {select = [4, 16]} : %s[4,16]\n"
        "%%2 = iota : i32[16]\n"
        "%%3 = reshape %%2 : i32[1,16]\n"
        "%%4 = broadcast %%3 : i32[4,16]\n"
        "%%5, %%6 = sort %%1, %%4 {axis = 1, descending = %s} : %s[4,16], i32[4,16]\n"
        "view_store %%r, %%5, _, %%0, %%0 {select = [4, 16]}\n"
        "view_store %%p, %%6, _, %%0, %%0 {select = [4, 16]}\n"
        "return\n} }",
        dtype_name(t), dtype_name(t), dtype_name(t), descending ? "true" : "false", dtype_name(t));
    int64_t shape[2] = {ROWS, COLUMNS};
    IrArg args[] = {tir_view(x, 2, shape), tir_view(r, 2, shape), tir_view(places, 2, shape)};
    assert_int_equal(tir_run(k, args, 3, 1), IR_RUN_DONE);
    for (uint64_t row = 0; row < ROWS; row++) {
        unsigned seen = 0;
        for (uint64_t i = 0; i < COLUMNS; i++) {
            uint64_t at = row * COLUMNS + i;
            uint64_t from = row * COLUMNS + (uint64_t)places[at];
            seen |= 1U << places[at];
            assert_int_equal(dtype_load(t, r, at), dtype_load(t, x, from));
            if (i == 0) continue;
            double a = number(t, r, at - 1), b = number(t, r, at);
            assert_false(sorts_before(b, a, descending));
            if (!sorts_before(a, b, descending)) assert_true(places[at - 1] < places[at]);
        }
        assert_int_equal(seen, 0xffff);
    }
    tir_free(k);
}

static void sorts_are_stable(void **state) {
    (void)state;
    for (int t = 0; t < DTYPES; t++)
        if (dtype_is((Dtype)t, DTYPE_CLASS_ANY))
            for (int round = 0; round < 6; round++) check_sort((Dtype)t, round & 1);
}

static void topk_is_the_head_of_the_descending_sort(void **state) {
    (void)state;
    for (int t = 0; t < DTYPES; t++) {
        if (!dtype_is((Dtype)t, DTYPE_CLASS_NUMBER)) continue;
        static uint64_t x[CELLS], r[CELLS];
        int32_t p[16], q[16];
        fill((Dtype)t, x, true);
        const char *e = dtype_name((Dtype)t);
        Tir *k = tir_load(
            "kernel @k(%%x: view %s[4, 16], %%r: view %s[4, 4], %%p: view i32[4, 4], "
            "%%q: view i32[4, 4]) { body {\n"
            "%%0 = const {value = 0} : i64\n"
            "%%1 = view_load %%x, _, %%0, %%0 {select = [4, 16]} : %s[4,16]\n"
            "%%2, %%3 = topk %%1 {axis = 1, count = 4} : %s[4,4], i32[4,4]\n"
            "view_store %%r, %%2, _, %%0, %%0 {select = [4, 4]}\n"
            "view_store %%p, %%3, _, %%0, %%0 {select = [4, 4]}\n"
            "%%4 = iota : i32[16]\n"
            "%%5 = reshape %%4 : i32[1,16]\n"
            "%%6 = broadcast %%5 : i32[4,16]\n"
            "%%7, %%8 = sort %%1, %%6 {axis = 1, descending = true} : %s[4,16], i32[4,16]\n"
            "view_store %%q, %%8, _, %%0, %%0 {select = [4, 16]}\n"
            "return\n} }",
            e, e, e, e, e);
        int64_t shape[2] = {ROWS, COLUMNS}, four[2] = {4, 4};
        IrArg args[] = {tir_view(x, 2, shape), tir_view(r, 2, four), tir_view(p, 2, four),
                        tir_view(q, 2, four)};
        assert_int_equal(tir_run(k, args, 4, 1), IR_RUN_DONE);
        assert_memory_equal(p, q, sizeof p);  // columns past 3 of the sort are not written
        for (uint64_t i = 0; i < 16; i++) {
            uint64_t from = (i / 4) * COLUMNS + (uint64_t)p[i];
            assert_int_equal(dtype_load((Dtype)t, r, i), dtype_load((Dtype)t, x, from));
        }
        tir_free(k);
    }
}

static void histograms_count(void **state) {
    (void)state;
    for (int t = 0; t < DTYPES; t++) {
        if (!dtype_is((Dtype)t, DTYPE_CLASS_INT)) continue;
        Tir *k = tir_load(
            "kernel @k(%%x: view %s[64], %%m: view bool[64], %%r: view i32[4]) { body {\n"
            "%%0 = const {value = 0} : i64\n"
            "%%1 = view_load %%x, _, %%0 {select = [64]} : %s[64]\n"
            "%%2 = view_load %%m, _, %%0 {select = [64]} : bool[64]\n"
            "%%3 = histogram %%2, %%1 : i32[4]\n"
            "view_store %%r, %%3, _, %%0 {select = [4]}\n"
            "return\n} }",
            dtype_name((Dtype)t), dtype_name((Dtype)t));
        static uint64_t x[CELLS];
        uint8_t mask[CELLS];
        int32_t r[4], want[4] = {0};
        for (uint64_t i = 0; i < CELLS; i++) {
            uint64_t v = dtype_wrap((Dtype)t, random_bits() % 8 - 2);
            dtype_store((Dtype)t, x, i, v);
            mask[i] = random_bits() % 4 != 0;
            if (mask[i] && v < 4) want[v]++;
        }
        int64_t n = CELLS, four = 4;
        IrArg args[] = {tir_view(x, 1, &n), tir_view(mask, 1, &n), tir_view(r, 1, &four)};
        assert_int_equal(tir_run(k, args, 3, 1), IR_RUN_DONE);
        assert_memory_equal(r, want, sizeof r);
        tir_free(k);
    }
}

// ---- random -------------------------------------------------------------------------------------

// The known answers published with Random123 (kat_vectors, philox4x32 10).
static void philox_known_answers(void **state) {
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], want[4];
    } vectors[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < 3; i++) {
        uint32_t out[4];
        philox(vectors[i].counter, vectors[i].key, out);
        assert_memory_equal(out, vectors[i].want, sizeof out);
    }
}

static void random_keys_and_counters(void **state) {
    (void)state;
    Tir *t = tir_load(
        "kernel @k(%%s: i64, %%o: view i64[8], %%r: view u32[4, 8]) { body {\n"
        "%%0 = const {value = 0} : i64\n"
        "%%1 = view_load %%o, _, %%0 {select = [8]} : i64[8]\n"
        "%%2, %%3, %%4, %%5 = random %%s, %%1 : u32[8], u32[8], u32[8], u32[8]\n"
        "%%6 = const {value = 1} : i64\n"
        "%%7 = const {value = 2} : i64\n"
        "%%8 = const {value = 3} : i64\n"
        "view_store %%r, %%2, _, %%0, %%0 {select = [0, 8]}\n"
        "view_store %%r, %%3, _, %%6, %%0 {select = [0, 8]}\n"
        "view_store %%r, %%4, _, %%7, %%0 {select = [0, 8]}\n"
        "view_store %%r, %%5, _, %%8, %%0 {select = [0, 8]}\n"
        "return\n} }");
    uint64_t seed = 0x0123456789abcdefU;
    int64_t offsets[8] = {0, 1, -1, INT64_MAX, INT64_MIN, 1LL << 32, 7, 8}, eight = 8;
    uint32_t r[4][8];
    IrArg args[] = {tir_scalar(seed), tir_view(offsets, 1, &eight),
                    tir_view(r, 2, (int64_t[]){4, 8})};
    assert_int_equal(tir_run(t, args, 3, 1), IR_RUN_DONE);
    for (int i = 0; i < 8; i++) {
        uint64_t at = (uint64_t)offsets[i];
        uint32_t counter[4] = {(uint32_t)at, (uint32_t)(at >> 32), 0, 0}, out[4];
        uint32_t key[2] = {0x89abcdef, 0x01234567};
        philox(counter, key, out);
        for (int w = 0; w < 4; w++) assert_int_equal(r[w][i], out[w]);
    }
    tir_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_reductions),
        cmocka_unit_test(narrow_sums_round_once),
        cmocka_unit_test(custom_reductions),
        cmocka_unit_test(scans),
        cmocka_unit_test(sorts_are_stable),
        cmocka_unit_test(topk_is_the_head_of_the_descending_sort),
        cmocka_unit_test(histograms_count),
        cmocka_unit_test(philox_known_answers),
        cmocka_unit_test(random_keys_and_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
