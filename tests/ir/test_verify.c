// The verifier: every message it has, reached by a text or, where no text can be so wrong, by
// editing.
#include "tests/ir/support.h"

typedef struct Bad {
    const char *ops;
    const char *message;
} Bad;

static const char header[] =
    "func @callee(%v: f32, %w: i32) -> f32, i32 {\n  return %v, %w\n}\n"
    "kernel @other() {\n  body {\n    return\n  }\n}\n"
    "kernel @k(%x: view f32[N, 16], %q: view i4[N, 64], %h: view i32[N], %p: *f32, %pi: *i32, "
    "%pq: *i4, %n: i64, %a: f32, %c: bool, %i: i32, %u: u8, %pb: *bool, %hb: view bool[N], %hf: "
    "view f64[8, 8, 8, 8, 8]) {\n"
    "  body {\n"
    "    %0 = iota : i32[8]\n"
    "    %1 = const {value = 1.5} : f32[8]\n"
    "    %2 = const {value = true} : bool[8]\n"
    "    %3 = broadcast %a : f32[4,8]\n"
    "    %4 = iota : i32[4]\n"
    "    %5 = reshape %4 : i32[4,1]\n";

static const char *with_ops(Fixture *f, const char *ops) {
    return arena_printf(f->arena, "%s%s\n    return\n  }\n}\n", header, ops);
}

static void expect_bad_text(Fixture *f, const char *text, const char *message) {
    IrModule *m = fixture_parse(f, text);
    if (!m) fail_msg("does not parse:\n%s%s", text, fixture_messages(f));
    const char *before = fixture_print(f, m);
    if (ir_verify(m, f->diags)) fail_msg("nothing was found in:\n%s", text);
    assert_true(diags_errors(f->diags) > 0);
    expect_message(f, message);
    // What is ill-typed prints and reads back as well.
    IrModule *again = fixture_parse(f, before);
    assert_non_null(again);
    expect_same_text(fixture_print(f, again), before);
}

static void expect_bad_ops(const Bad *bads, size_t count) {
    for (size_t i = 0; i < count; i++) {
        Fixture f = fixture_create();
        expect_bad_text(&f, with_ops(&f, bads[i].ops), bads[i].message);
        fixture_destroy(&f);
    }
}
#define EXPECT_BAD_OPS(bads) expect_bad_ops(bads, sizeof bads / sizeof bads[0])

static void the_header_is_fine(void **state) {
    (void)state;
    Fixture f = fixture_create();
    IrModule *m = fixture_parse(&f, with_ops(&f, ""));
    assert_non_null(m);
    if (!ir_verify(m, f.diags)) fail_msg("%s", fixture_messages(&f));
    fixture_destroy(&f);
}

static void counts_and_attributes(void **state) {
    (void)state;
    static const Bad bads[] = {
        {"%9 = add %a : f32", "expected 2 operands, found 1, in '%6 = add %a : f32' [ir-invalid]"},
        {"%9 = dot %3 {precision = ieee} : f32", "expected 2 to 3 operands, found 1"},
        {"%9 = reduce _ {kind = sum, axis = 0} : f32", "expected at least 2 operands, found 1"},
        {"add %a, %a", "expected 1 results, found 0"},
        {"%9 = add %a, %a : f32 {\n yield\n}", "expected 0 regions, found 1"},
        {"if %c {\n yield\n}", "expected 2 regions, found 1"},
        {"%8 = reduce _, %1 {kind = custom, axis = 0} : f32 {\n yield\n} {\n yield\n}",
         "expected 0 to 1 regions, found 2"},
        {"%9 = add %a, _ : f32", "expected operand 1, found none"},
        {"%9 = reduce _, _ {kind = sum, axis = 0} : f32", "expected operand 1, found none"},
        {"%9 = program {dim = 3} : i64", "attribute 'dim' can't be 3"},
        {"%9 = programs {dim = -1} : i64", "attribute 'dim' can't be -1"},
    };
    EXPECT_BAD_OPS(bads);
}

static void values_and_elementwise(void **state) {
    (void)state;
    static const Bad bads[] = {
        {"%9 = const {value = 0x1} : *f32", "expected a tile of numbers or bool, found *f32"},
        {"%9 = const {value = 0x1} : i4", "expected a tile of numbers or bool, found i4"},
        {"%9 = program {dim = 0} : i32", "expected result 0 of type i64, found i32"},
        {"%9 = extent {extent = N} : i32", "expected result 0 of type i64, found i32"},
        {"%9 = extent {extent = Q} : i64", "expected an extent of the kernel, found 'Q'"},
        {"%9 = iota : i64[8]", "expected an i32 tile of rank 1, found i64[8]"},
        {"%9 = iota : i32[8,1]", "expected an i32 tile of rank 1, found i32[8,1]"},
        {"%9 = neg %2 : bool[8]", "expected operand 0 of integers, floats, fp8, found bool[8]"},
        {"%9 = not %1 : f32[8]", "expected operand 0 of bool, integers, found f32[8]"},
        {"%9 = exp %0 : i32[8]", "expected operand 0 of floats, fp8, found i32[8]"},
        {"%9 = neg %x : f32", "expected operand 0 of integers, floats, fp8, found view f32 2"},
        {"%9 = neg %p : *f32", "found *f32, in '%6 = neg %p : *f32'"},
        {"%9 = add %1, %a : f32[8]", "expected operand 1 of type f32[8], found f32"},
        {"%9 = add %1, %1 : f32[4]", "expected result 0 of type f32[8], found f32[4]"},
        {"%9 = fma %1, %1, %0 : f32[8]", "expected operand 2 of type f32[8], found i32[8]"},
        {"%9 = shl %1, %0 : f32[8]", "expected operand 0 of integers, found f32[8]"},
        {"%9 = shl %0, %1 : i32[8]", "expected operand 1 of integers, found f32[8]"},
        {"%9 = shl %0, %i : i32[8]", "expected operand 1 of the shape of i32[8], found i32"},
        {"%9 = shl %0, %0 : i64[8]", "expected result 0 of type i32[8], found i64[8]"},
        {"%9 = lt %2, %2 : bool[8]", "expected operand 0 of integers, floats, fp8, found bool[8]"},
        {"%9 = lt %0, %1 : bool[8]", "expected operand 1 of type i32[8], found f32[8]"},
        {"%9 = lt %0, %0 : i32[8]", "expected result 0 of type bool[8], found i32[8]"},
        {"%9 = select %0, %1, %1 : f32[8]", "expected operand 0 of bool, found i32[8]"},
        {"%9 = select %2, %x, %x : f32[8]",
         "expected operand 1 of bool, integers, floats, fp8, "
         "pointers, found view f32 2"},
        {"%9 = select %2, %1, %0 : f32[8]", "expected operand 2 of type f32[8], found i32[8]"},
        {"%9 = select %2, %a, %a : f32", "expected operand 0 of the shape of f32, found bool[8]"},
        {"%9 = select %c, %1, %1 : f32", "expected result 0 of type f32[8], found f32"},
        {"%9 = cast %p : i64", "expected operand 0 of bool, integers, floats, fp8, found *f32"},
        {"%9 = cast %1 : i32", "expected result 0 of type i32[8], found i32"},
        {"%9 = cast %1 : *f32[8]", "expected result 0 of type f32[8], found *f32[8]"},
        {"%9 = cast %1 : i4[8]", "type i4[8] is packed: only views and pointers hold packed"},
        {"%9 = bitcast %1 : f64[8]",
         "expected types of one shape and width, none bool, found "
         "f32[8] and f64[8]"},
        {"%9 = bitcast %2 : u8[8]", "none bool, found bool[8] and u8[8]"},
        {"%9 = bitcast %1 : i32", "none bool, found f32[8] and i32"},
        {"%9 = bitcast %p : u32", "none bool, found *f32 and u32"},
        {"%9 = bitcast %x : u32", "none bool, found view f32 2 and u32"},
    };
    EXPECT_BAD_OPS(bads);
}

static void shapes(void **state) {
    (void)state;
    static const Bad bads[] = {
        {"%9 = broadcast %1 : i32[8]", "expected result 0 of type f32[8], found i32[8]"},
        {"%9 = broadcast %1 : f32[4,8]",
         "expected a shape that stretches to f32[4,8], found f32[8]"},
        {"%9 = broadcast %5 : i32[8,8]", "stretches to i32[8,8], found i32[4,1]"},
        {"%9 = broadcast %x : f32[8]", "expected operand 0 of bool, integers, floats, fp8, point"},
        {"%9 = reshape %1 : f32[4]", "expected 8 elements, found 4"},
        {"%9 = reshape %1 : *f32[8]", "expected result 0 of type f32[8], found *f32[8]"},
        {"%9 = permute %3 {perm = [0]} : f32[4,8]", "expected a permutation of 2 dimensions"},
        {"%9 = permute %3 {perm = [0, 0]} : f32[4,8]", "expected a permutation of 2 dimensions"},
        {"%9 = permute %3 {perm = [0, 2]} : f32[4,8]", "expected a permutation of 2 dimensions"},
        {"%9 = permute %3 {perm = [0, -1]} : f32[4,8]", "expected a permutation of 2 dimensions"},
        {"%9 = permute %3 {perm = [1, 0]} : f32[4,8]", "expected result 0 of type f32[8,4], found"},
        {"%9 = join %1, %0 : f32[8,2]", "expected operand 1 of type f32[8], found i32[8]"},
        {"%9 = join %1, %1 : f32[2,8]", "expected result 0 of type f32[8,2], found f32[2,8]"},
        {"%8 = reshape %1 : f32[1,1,1,1,1,1,1,8]\n%9 = join %8, %8 : f32[8,2]",
         "expected at most 7 dimensions, found 1 more"},
        {"%8, %9 = split %1 : f32[4], f32[4]", "expected a last dimension of 2, found f32[8]"},
        {"%8, %9 = split %a : f32, f32", "expected a last dimension of 2, found f32"},
        {"%7 = join %1, %1 : f32[8,2]\n%8, %9 = split %7 : f32[8], f32[4]",
         "expected result 1 of type f32[8], found f32[4]"},
        {"%9 = cat %1, %0 {axis = 0} : f32[16]", "expected operand 1 of type f32[8], found i32[8]"},
        {"%9 = cat %1, %1 {axis = 1} : f32[16]", "expected an axis from 0 to 0, found 1"},
        {"%9 = cat %1, %1 {axis = -1} : f32[16]", "expected an axis from 0 to 0, found -1"},
        {"%9 = cat %a, %a {axis = 0} : f32[2]", "expected a tile with dimensions, found a scalar"},
        {"%9 = cat %1, %1 {axis = 0} : f32[8]", "expected result 0 of type f32[16], found f32[8]"},
        {"%9 = gather %1, %1 {axis = 0} : f32[8]", "expected operand 1 of integers, found f32[8]"},
        {"%9 = gather %3, %0 {axis = 0} : f32[8]",
         "expected operand 1 of type i32[4,8], found i32"},
        {"%9 = gather %3, %5 {axis = 0} : f32[4,1]", "expected operand 1 of type i32[4,8], found"},
        {"%9 = gather %3, %5 {axis = 1} : f32[4]", "expected result 0 of type f32[4,1], found"},
        {"%9 = const {value = 1.0} : f32[3]",
         "type f32[3] has an extent that is not a power of two"},
        {"%9 = const {value = 1.0} : f32[0]", "type f32[0] has an extent of 0"},
        {"%9 = const {value = 1.0} : f32[2048,1024]", "has more than 1048576 elements"},
        {"%9 = const {value = 1.0} : f32[2147483648]", "has more than 1048576 elements"},
        {"%9 = if %c : view f32 2 {\n yield %x\n} {\n yield %x\n}",
         "expected a view to be a parameter, found another value"},
    };
    EXPECT_BAD_OPS(bads);
}

static void products_and_reductions(void **state) {
    (void)state;
    static const Bad bads[] = {
        {"%9 = dot %2, %2 {precision = ieee} : f32", "expected operand 0 of integers, floats, fp8"},
        {"%9 = dot %1, %2 {precision = ieee} : f32", "expected operand 1 of integers, floats, fp8"},
        {"%9 = dot %1, %0 {precision = ieee} : f32",
         "expected elements that multiply, found f32 "
         "and i32"},
        {"%9 = dot %1, %1 {precision = ieee} : f32",
         "expected [M,K] and [K,N], or both with one "
         "batch, found f32[8] and f32[8]"},
        {"%9 = dot %3, %3 {precision = ieee} : f32", "found f32[4,8] and f32[4,8]"},
        {"%7 = permute %3 {perm = [1, 0]} : f32[8,4]\n%9 = dot %3, %7 {precision = ieee} : "
         "f64[4,4]",
         "expected the accumulator of f32, found f64"},
        {"%7 = const {value = 1} : u8[4,4]\n%9 = dot %7, %7 {precision = ieee} : u8[4,4]",
         "expected the accumulator of u8, found u8"},
        {"%7 = const {value = 1.0} : f16[4,4]\n%9 = dot %7, %7 {precision = ieee} : i32[4,4]",
         "expected the accumulator of f16, found i32"},
        {"%7 = const {value = 1.0} : f16[4,4]\n%9 = dot %7, %7 {precision = tf32} : f32[4,4]",
         "expected precision ieee for f16, found tf32"},
        {"%7 = permute %3 {perm = [1, 0]} : f32[8,4]\n%9 = dot %3, %7 {precision = ieee} : "
         "f32[4,8]",
         "expected result 0 of type f32[4,4], found f32[4,8]"},
        {"%7 = permute %3 {perm = [1, 0]} : f32[8,4]\n%9 = dot %3, %7, %3 {precision = ieee} : "
         "f32[4,4]",
         "expected operand 2 of type f32[4,4], found f32[4,8]"},
        {"%9 = reduce _, %2 {kind = sum, axis = 0} : bool", "expected operand 1 of integers, fl"},
        {"%9 = reduce _, %1 {kind = any, axis = 0} : bool",
         "expected operand 1 of bool, found f32"},
        {"%9 = reduce %1, %1 {kind = sum, axis = 0} : f32",
         "expected operand 0 of type bool[8], fo"},
        {"%9 = reduce _, %1 {kind = sum, axis = 1} : f32", "expected an axis from 0 to 0, found 1"},
        {"%9 = reduce _, %1 {kind = sum, axis = 0} : f32[1]",
         "expected result 0 of type f32, found"},
        {"%9 = reduce _, %1 {kind = argmax, axis = 0} : f32",
         "expected result 0 of type i32, found"},
        {"%8, %9 = reduce _, %1, %1 {kind = sum, axis = 0} : f32, f32",
         "expected 1 tile for a built-in kind, found 2"},
        {"%8, %9 = reduce _, %1 {kind = sum, axis = 0} : f32, f32", "expected 1 results, found 2"},
        {"%8, %9 = reduce _, %1, %3 {kind = custom, axis = 0} : f32, f32",
         "expected operand 2 of type f32[8], found f32[4,8]"},
        {"%9 = reduce _, %1 {kind = custom, axis = 0} : f32",
         "expected a combiner, found 0 regions"},
        {"%9 = reduce _, %1 {kind = sum, axis = 0} : f32 {\n yield %a\n}",
         "expected no region for a built-in kind, found 1 regions"},
        {"%9 = scan %0 {kind = argmin, axis = 0} : i32[8]",
         "expected kind sum, prod, min, max or custom, found argmin"},
        {"%9 = scan %0 {kind = sum, axis = 0} : i32",
         "expected result 0 of type i32[8], found i32"},
        {"%9 = scan %1 {kind = custom, axis = 0} : f32[8]", "expected a combiner, found 0 regions"},
        {"%9 = sort %1, %3 {axis = 0} : f32[8]",
         "expected operand 1 of type f32[8], found f32[4,8]"},
        {"%9 = sort %1 {axis = 0} : i32[8]", "expected result 0 of type f32[8], found i32[8]"},
        {"%9 = sort %1, %1 {axis = 0} : f32[8]", "expected 2 results, found 1"},
        {"%8, %9 = topk %1 {axis = 0, count = 3} : f32[4], i32[4]",
         "expected a count that is a power of two up to 8, found 3"},
        {"%8, %9 = topk %1 {axis = 0, count = 16} : f32[4], i32[4]", "up to 8, found 16"},
        {"%8, %9 = topk %1 {axis = 0, count = 0} : f32[4], i32[4]", "up to 8, found 0"},
        {"%8, %9 = topk %1 {axis = 0, count = 4} : f32[8], i32[4]",
         "expected result 0 of type f32[4]"},
        {"%8, %9 = topk %1 {axis = 0, count = 4} : f32[4], f32[4]",
         "expected result 1 of type i32[4]"},
        {"%9 = histogram _, %1 : i32[8]", "expected operand 1 of integers, found f32[8]"},
        {"%9 = histogram _, %5 : i32[8]", "expected a tile of rank 1, found i32[4,1]"},
        {"%9 = histogram %0, %0 : i32[8]", "expected operand 0 of type bool[8], found i32[8]"},
        {"%9 = histogram _, %0 : i64[8]", "expected an i32 tile of rank 1 as result, found i64[8]"},
        {"%6, %7, %8, %9 = random %0, %0 : u32, u32, u32, u32",
         "expected a scalar seed, found i32[8]"},
        {"%6, %7, %8, %9 = random %a, %0 : u32, u32, u32, u32", "expected operand 0 of integers"},
        {"%6, %7, %8, %9 = random %n, %1 : u32, u32, u32, u32", "expected operand 1 of integers"},
        {"%6, %7, %8, %9 = random %n, %i : u32, u32, i32, u32", "expected result 2 of type u32"},
    };
    EXPECT_BAD_OPS(bads);
}

static void combiners(void **state) {
    (void)state;
    static const Bad bads[] = {
        {"%9 = reduce _, %1 {kind = custom, axis = 0} : f32 (%6: f32) {\n yield %6\n}",
         "expected a combiner of 2 arguments, found 1"},
        {"%9 = reduce _, %1 {kind = custom, axis = 0} : f32 (%6: f32, %7: i32) {\n yield %6\n}",
         "expected argument 1 of the combiner of type f32, found i32"},
        {"%9 = scan %1 {kind = custom, axis = 0} : f32[8] (%6: f32, %7: f32) {\n yield %1\n}",
         "expected scalars only in a combiner, found f32[8]"},
        {"%9 = scan %1 {kind = custom, axis = 0} : f32[8] (%6: f32, %7: f32) {\n %8 = iota : "
         "i32[8]\n"
         " yield %6\n}",
         "expected scalars only in a combiner, found i32[8]"},
        {"%9 = scan %1 {kind = custom, axis = 0} : f32[8] (%6: f32, %7: f32) {\n %8 = load %p, _, "
         "_ : "
         "f32\n yield %6\n}",
         "expected an op without effects in a combiner"},
        {"%9 = scan %1 {kind = custom, axis = 0} : f32[8] (%6: f32, %7: f32) {\n if %c {\n assume "
         "%c\n"
         " yield\n} {\n yield\n}\n yield %6\n}",
         "expected an op without effects in a combiner"},
        {"%9 = scan %1 {kind = custom, axis = 0} : f32[8] (%6: f32, %7: f32) {\n yield %6, %7\n}",
         "expected 1 values, found 2"},
        {"%9 = scan %1 {kind = custom, axis = 0} : f32[8] (%6: f32, %7: f32) {\n yield %i\n}",
         "expected operand 0 of type f32, found i32"},
    };
    EXPECT_BAD_OPS(bads);
}

static void pointers(void **state) {
    (void)state;
    static const Bad bads[] = {
        {"%9 = ptr_add %a, %n : f32", "expected operand 0 of pointers, found f32"},
        {"%9 = ptr_add %p, %i : *f32", "expected operand 1 of type i64, found i32"},
        {"%9 = ptr_add %p, %n : *i32", "expected result 0 of type *f32, found *i32"},
        {"%9 = load %a, _, _ : f32", "expected operand 0 of pointers, found f32"},
        {"%9 = ptr_add %pq, %n : *i4", "expected a pointer to whole bytes, found *i4"},
        {"%9 = load %pq, _, _ : i8",
         "expected a pointer to whole bytes, found *i4: packed elements "
         "are read and written through views"},
        {"%9 = load %p, %2, _ : f32", "expected operand 1 of type bool, found bool[8]"},
        {"%9 = load %p, _, %i : f32", "expected operand 2 of type f32, found i32"},
        {"%9 = load %p, _, _ : i32", "expected result 0 of type f32, found i32"},
        {"store %p, %i, _", "expected operand 1 of type f32, found i32"},
        {"store %p, %a, %i", "expected operand 2 of type bool, found i32"},
        {"%9 = atomic %p, %a, _ {op = and, order = relaxed, scope = device} : f32",
         "atomic and does not work on f32"},
        {"%8 = const {value = true} : bool\n%9 = atomic %pb, %8, _ {op = add, order = relaxed, "
         "scope "
         "= device} : bool",
         "atomic add does not work on bool"},
        {"%9 = atomic %p, %i, _ {op = add, order = relaxed, scope = device} : f32",
         "expected operand 1 of type f32, found i32"},
        {"%9 = atomic %p, %a, _ {op = add, order = relaxed, scope = device} : i32",
         "expected result 0 of type f32, found i32"},
        {"%9 = atomic_cas %p, %i, %a, _ {order = relaxed, scope = device} : f32",
         "expected operand 1 of type f32, found i32"},
        {"%9 = atomic_cas %p, %a, %i, _ {order = relaxed, scope = device} : f32",
         "expected operand 2 of type f32, found i32"},
        {"%9 = atomic_cas %p, %a, %a, %2 {order = relaxed, scope = device} : f32",
         "expected operand 3 of type bool, found bool[8]"},
        {"%9 = atomic_cas %p, %a, %a, _ {order = relaxed, scope = device} : i32",
         "expected result 0 of type f32, found i32"},
    };
    EXPECT_BAD_OPS(bads);
}

static void views(void **state) {
    (void)state;
    static const Bad bads[] = {
        {"%9 = view_load %p, _, %n {select = [8]} : f32[8]", "expected a view, found *f32"},
        {"%9 = view_load %x, _, %n {select = [8]} : f32[8]",
         "expected select for 2 dimensions, "
         "found 1"},
        {"%9 = view_load %h, _, %n {select = [3]} : i32[4]",
         "expected a width that is 0 or a power of two, found 3"},
        {"%9 = view_load %h, _, %n {select = [-4]} : i32[4]",
         "expected a width that is 0 or a power of two, found -4"},
        {"%9 = view_load %h, _, %n {select = [2097152]} : i32[4]", "power of two, found 2097152"},
        {"%9 = view_load %h, _, %n {select = [4], inside = [2]} : i32[4]",
         "expected inside of 1 numbers 0 or 1"},
        {"%9 = view_load %h, _, %n {select = [4], inside = [1, 1]} : i32[4]",
         "expected inside of 1 numbers 0 or 1"},
        {"%9 = view_load %x, _, %n {select = [4, 4]} : f32[4,4]", "expected 2 indices, found 1"},
        {"%9 = view_load %h, _, %a {select = [4]} : i32[4]",
         "expected operand 2 of integers, found "
         "f32"},
        {"%9 = view_load %h, _, _ {select = [4]} : i32[4]", "expected operand 2, found none"},
        {"%9 = view_load %h, _, %0 {select = [4]} : i32[4]",
         "expected a scalar where 4 elements begin, found i32[8]"},
        {"%9 = view_load %x, _, %0, %4 {select = [0, 0]} : f32[8]",
         "expected tile indices that go together, and at most 8 dimensions"},
        {"%9 = view_load %x, _, %0, %5 {select = [0, 0]} : f32[8]",
         "expected tile indices that go"},
        {"%7 = reshape %0 : i32[8,1,1,1,1,1,1,1]\n%9 = view_load %x, _, %n, %7 {select = [4, 0]} : "
         "f32",
         "expected tile indices that go together, and at most 8 dimensions"},
        {"%9 = view_load %x, _, %n, %n {select = [1048576, 2]} : f32",
         "the selection has more than 1048576 elements"},
        {"%9 = view_load %h, %a, %n {select = [4]} : i32[4]",
         "expected operand 1 of type i32, found "
         "f32"},
        {"%9 = view_load %h, _, %n {select = [4]} : i32",
         "expected result 0 of type i32[4], found"},
        {"%9 = view_load %q, _, %n, %n {select = [0, 4]} : i4[4]",
         "expected result 0 of type i8[4]"},
        {"view_store %h, %i, _, %n {select = [4]}", "expected operand 1 of type i32[4], found i32"},
        {"view_store %h, %4, %2, %n {select = [4]}",
         "expected operand 2 of type bool[4], found bool"},
        {"%8 = const {value = 1} : i8[8]\nview_store %q, %8, _, %0, %n {select = [0, 0]}",
         "expected no scatter to i4, found a tile index"},
        {"%8 = const {value = 1} : i8\nview_store %q, %8, _, %n, %n {select = [0, 0]}",
         "expected an even number of i4 elements to write, found 1"},
        {"%8 = const {value = 1} : i8[1]\nview_store %q, %8, _, %n, %n {select = [0, 1]}",
         "expected an even number of i4 elements to write, found 1"},
        {"%8 = const {value = 1} : i8[8]\nview_store %q, %8, %2, %n, %n {select = [0, 8]}",
         "expected no mask on a write of i4"},
        {"%8 = const {value = 1} : i8[8]\n%9 = view_atomic %q, %8, _, %n, %n {select = [0, 8], op "
         "= "
         "add, order = relaxed, scope = device} : i8[8]",
         "atomics do not work on i4"},
        {"%8 = const {value = 1} : i8[8]\n%9 = view_cas %q, %8, %8, _, %n, %n {select = [0, 8], "
         "order "
         "= relaxed, scope = device} : i8[8]",
         "atomics do not work on i4"},
        {"%9 = view_atomic %hb, %2, _, %n {select = [8], op = sub, order = relaxed, scope = "
         "device} : "
         "bool[8]",
         "atomic sub does not work on bool"},
        {"%9 = view_atomic %h, %1, _, %n {select = [8], op = add, order = relaxed, scope = device} "
         ": "
         "i32[8]",
         "expected operand 1 of type i32[8], found f32[8]"},
        {"%9 = view_atomic %h, %0, _, %n {select = [8], op = add, order = relaxed, scope = device} "
         ": "
         "i32",
         "expected result 0 of type i32[8], found i32"},
        {"%9 = view_cas %h, %1, %0, _, %n {select = [8], order = relaxed, scope = device} : i32[8]",
         "expected operand 1 of type i32[8], found f32[8]"},
        {"%9 = view_cas %h, %0, %1, _, %n {select = [8], order = relaxed, scope = device} : i32[8]",
         "expected operand 2 of type i32[8], found f32[8]"},
        {"%9 = view_cas %h, %0, %0, %c, %n {select = [8], order = relaxed, scope = device} : "
         "i32[8]",
         "expected operand 3 of type bool[8], found bool"},
        {"%9 = view_cas %h, %0, %0, _, %n {select = [8], order = relaxed, scope = device} : i32[4]",
         "expected result 0 of type i32[8], found i32[4]"},
        {"%9 = view_inside %h, %n {select = [8]} : i32[8]",
         "expected result 0 of type bool[8], found"},
    };
    EXPECT_BAD_OPS(bads);
}

static void effects_and_control(void **state) {
    (void)state;
    static const Bad bads[] = {
        {"assert %i {text = \"\"}", "expected operand 0 of bool, found i32"},
        {"print %i {texts = []}", "expected 1 or 2 texts, found 0"},
        {"print %p {texts = [\"\"]}",
         "expected operand 0 of bool, integers, floats, fp8, found *f32"},
        {"%9 = noalias %x, %q : bool", "expected noalias in requires only"},
        {"%9 = noalias %x, %n : bool", "expected parameters that are views or pointers"},
        {"for %n, %n, %i (%6: i64) {\n yield\n}", "expected operand 2 of type i64, found i32"},
        {"%9 = for %n, %n, %n : f32 (%6: i64) {\n yield\n}", "expected 0 results, found 1"},
        {"for %n, %n, %n, %a (%6: i64) {\n yield\n}", "expected 1 results, found 0"},
        {"%9 = for %n, %n, %n, %a : i32 (%6: i64, %7: f32) {\n yield %7\n}",
         "expected result 0 of type f32, found i32"},
        {"%9 = for %n, %n, %n, %a : f32 (%6: i64) {\n yield %a\n}",
         "expected 2 arguments of region 0, found 1"},
        {"%9 = for %n, %n, %n, %a : f32 (%6: i64, %7: i32) {\n yield %a\n}",
         "expected argument 1 of region 0 of type f32, found i32"},
        {"for %n, %n, %n (%6: i32) {\n yield\n}",
         "expected argument 0 of region 0 of type i64, found"},
        {"for %n, %n, %n {exit = true} (%6: i64) {\n yield\n}",
         "expected a carried bool for exit, found none"},
        {"%9 = for %n, %n, %n, %a {exit = true} : f32 (%6: i64, %7: f32) {\n yield %7\n}",
         "expected operand 3 of type bool, found f32"},
        {"%9 = for %n, %n, %n, %x : f32 (%6: i64, %7: f32) {\n yield %7\n}",
         "expected no view among carried values"},
        {"%9 = for %n, %n, %n, %a : f32 (%6: i64, %7: f32) {\n yield %6\n}",
         "expected operand 0 of type f32, found i64"},
        {"%9 = for %n, %n, %n, %a : f32 (%6: i64, %7: f32) {\n yield\n}",
         "expected 1 values, found 0"},
        {"for %n, %n, %n (%6: i64) {\n}", "expected 'yield' at the end of a region, found nothing"},
        {"for %n, %n, %n (%6: i64) {\n assume %c\n}",
         "expected 'yield' at the end of a region, found "
         "assume"},
        {"for %n, %n, %n (%6: i64) {\n yield\n yield\n}",
         "expected the end of a block as its last op"},
        {"for %n, %n, %n (%6: i64) {\n return\n}",
         "expected 'yield' at the end of a region, a grid or a requires"},
        {"while %n {\n yield %c\n} {\n yield\n}", "expected 1 results, found 0"},
        {"%9 = while %n : i64 {\n yield %c\n} (%6: i64) {\n yield %6\n}",
         "expected 1 arguments of region 0, found 0"},
        {"%9 = while %n : i64 (%6: i64) {\n yield %c\n} {\n yield %n\n}",
         "expected 1 arguments of region 1, found 0"},
        {"while {\n yield %i\n} {\n yield\n}", "expected operand 0 of type bool, found i32"},
        {"while {\n yield\n} {\n yield\n}", "expected 1 values, found 0"},
        {"if %2 {\n yield\n} {\n yield\n}", "expected operand 0 of type bool, found bool[8]"},
        {"if %c (%6: i32) {\n yield\n} {\n yield\n}", "expected 0 arguments of region 0, found 1"},
        {"%9 = if %c : f32 {\n yield %a\n} {\n yield\n}", "expected 1 values, found 0"},
        {"%9 = if %c : f32 {\n yield %a\n} {\n yield %i\n}",
         "expected operand 0 of type f32, found"},
        {"yield", "expected the end of a block as its last op"},
        {"return %a", "expected the end of a block as its last op"},
        {"%8, %9 = call %a, %i {callee = nobody} : f32, i32",
         "expected a function of the module, "
         "found 'nobody'"},
        {"call {callee = other}", "expected a function to call, found kernel 'other'"},
        {"%8, %9 = call %a {callee = callee} : f32, i32", "expected 2 arguments, found 1"},
        {"%8, %9 = call %a, %a {callee = callee} : f32, i32",
         "expected operand 1 of type i32, found"},
        {"%9 = call %a, %i {callee = callee} : f32", "expected 2 results, found 1"},
        {"%8, %9 = call %a, %i {callee = callee} : f32, f32",
         "expected result 1 of type i32, found"},
        {"%9 = thread.shared {elem = f32, count = 4, place = 0} : *f32",
         "expected ops of level tile or below, found one of thread"},
        {"thread.barrier", "expected ops of level tile or below, found one of thread"},
        {"%9 = cpu.scratch {elem = f32, count = 4, place = 0} : *f32",
         "expected ops of level tile or below, found one of cpu"},
        {"if %c {\n %6 = neg %a : f32\n yield\n} {\n %7 = neg %6 : f32\n yield\n}",
         "operand 0 is not defined before its use, or out of scope"},
        {"%6 = if %c : f32 {\n %7 = neg %a : f32\n yield %7\n} {\n yield %a\n}\n%8 = neg %7 : f32",
         "operand 0 is not defined before its use, or out of scope"},
    };
    EXPECT_BAD_OPS(bads);
}

static void functions(void **state) {
    (void)state;
    static const Bad bads[] = {
        {"kernel @k() {\n}\n", "expected one body, found 0, in '@k'"},
        {"kernel @k() {\n  body {\n    return\n  }\n  body {\n    return\n  }\n}\n",
         "expected one body, found 2"},
        {"kernel @k(%n: i64) {\n  grid {\n    yield %n\n  }\n  grid {\n    yield %n\n  }\n  body "
         "{\n"
         "    return\n  }\n}\n",
         "expected one grid, found 2"},
        {"kernel @k() {\n  body {\n  }\n}\n",
         "expected 'return' at the end of the block, found nothing"},
        {"kernel @k() {\n  grid {\n  }\n  body {\n    return\n  }\n}\n",
         "expected 'yield' at the end of the block, found nothing"},
        {"kernel @k(%c: bool) {\n  body {\n    assume %c\n  }\n}\n",
         "expected 'return' at the end of the block, found assume"},
        {"kernel @k() {\n  body {\n    yield\n  }\n}\n", "expected 'return' at the end of a body"},
        {"kernel @k(%n: i64) {\n  body {\n    return %n\n  }\n}\n", "expected 0 values, found 1"},
        {"kernel @k() {\n  grid {\n    yield\n  }\n  body {\n    return\n  }\n}\n",
         "expected 1 to 3 extents of a grid, found 0"},
        {"kernel @k(%n: i64) {\n  grid {\n    yield %n, %n, %n, %n\n  }\n  body {\n    return\n  "
         "}\n}\n",
         "expected 1 to 3 extents of a grid, found 4"},
        {"kernel @k(%n: i32) {\n  grid {\n    yield %n\n  }\n  body {\n    return\n  }\n}\n",
         "expected operand 0 of type i64, found i32"},
        {"kernel @k(%n: i32) {\n  requires \"n\" {\n    yield %n\n  }\n  body {\n    return\n  "
         "}\n}\n",
         "expected operand 0 of type bool, found i32"},
        {"kernel @k() {\n  requires \"n\" {\n    return\n  }\n  body {\n    return\n  }\n}\n",
         "expected 'yield' at the end of a region, a grid or a requires"},
        {"kernel @k() {\n  grid {\n    %0 = program {dim = 0} : i64\n    yield %0\n  }\n  body {\n"
         "    return\n  }\n}\n",
         "expected an op on extents and scalars before a launch"},
        {"kernel @k(%p: *i64) {\n  grid {\n    %0 = load %p, _, _ : i64\n    yield %0\n  }\n  body "
         "{\n"
         "    return\n  }\n}\n",
         "expected an op on extents and scalars before a launch"},
        {"kernel @k(%c: bool) {\n  requires \"c\" {\n    assume %c\n    yield %c\n  }\n  body {\n"
         "    return\n  }\n}\n",
         "expected an op on extents and scalars before a launch"},
        {"kernel @k(%n: i64) {\n  grid {\n    %0 = neg %n : i64\n    yield %0\n  }\n  body {\n"
         "    %1 = neg %0 : i64\n    return\n  }\n}\n",
         "operand 0 is not defined before its use, or out of scope"},
        {"kernel @k(%x: view f32[N]) {extents = []} {\n  body {\n    return\n  }\n}\n",
         "extent 'N' of parameter 'x' is not declared"},
        {"kernel @k(%x: view i4[3]) {\n  body {\n    return\n  }\n}\n",
         "expected an even innermost extent of i4, found 3"},
        {"kernel @k(%x: f32[8]) {\n  body {\n    return\n  }\n}\n",
         "expected a scalar, pointer or view as parameter, found f32[8]"},
        {"kernel @k(%x: i4) {\n  body {\n    return\n  }\n}\n",
         "type i4 is packed: only views and pointers hold packed elements"},
        {"kernel @k(%x: i64 {min = 2, max = 1}) {\n  body {\n    return\n  }\n}\n",
         "expected min <= max of 'x', found 2 and 1"},
        {"kernel @k(%x: view f32[N]) {facts = [N range 2 1]} {\n  body {\n    return\n  }\n}\n",
         "expected min <= max of 'N', found 2 and 1"},
        {"func @f(%a: f32) -> f32 {\n  return\n}\n", "expected 1 values, found 0"},
        {"func @f(%a: f32) -> i32 {\n  return %a\n}\n",
         "expected operand 0 of type i32, found f32"},
        {"func @f(%a: f32) -> f32 {\n  %0 = call %a {callee = g} : f32\n  return %0\n}\n"
         "func @g(%a: f32) -> f32 {\n  %0 = call %a {callee = f} : f32\n  return %0\n}\n",
         "expected calls without recursion, found a circle, in '@g'"},
        {"kernel @k() {level = thread} {\n  body {\n    %0 = cpu.scratch {elem = f32, count = 4, "
         "place = 0} : "
         "*f32\n"
         "    return\n  }\n}\n",
         "expected ops of level thread or below, found one of cpu"},
        {"kernel @k() {level = thread} {\n  body {\n    %0 = thread.shared {elem = i4, count = 4, "
         "place = 0} : *i4\n"
         "    return\n  }\n}\n",
         "expected elements of whole bytes, found i4"},
        {"kernel @k() {level = thread} {\n  body {\n    %0 = thread.shared {elem = f32, count = 0, "
         "place = 0} : "
         "*f32\n"
         "    return\n  }\n}\n",
         "expected a count from 1 to 268435456, found 0"},
        {"kernel @k() {level = thread} {\n  body {\n    %0 = thread.shared {elem = f32, count = 4, "
         "place = 0} : "
         "*i32\n"
         "    return\n  }\n}\n",
         "expected result 0 of type *f32, found *i32"},
    };
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) {
        Fixture f = fixture_create();
        expect_bad_text(&f, bads[i].ops, bads[i].message);
        fixture_destroy(&f);
    }
}

// ---- what no text can say -----------------------------------------------------------------------

static IrFunc *sample(Fixture *f) {
    IrModule *m = fixture_parse(f,
                                "kernel @k(%a: f32) {\n  body {\n    %0 = neg %a : f32\n"
                                "    %1 = add %0, %a : f32\n    %2 = iota : i32[8]\n"
                                "    %3 = permute %2 {perm = [0]} : i32[8]\n    return\n  }\n}\n");
    assert_non_null(m);
    assert_true(ir_verify(m, f->diags));
    return m->funcs.data[0];
}

static void expect_broken(Fixture *f, const IrFunc *func, const char *message) {
    assert_false(ir_verify_func(func, f->diags));
    expect_message(f, message);
    fixture_destroy(f);
    *f = fixture_create();
}

static void broken_links_are_found(void **state) {
    (void)state;
    Fixture f = fixture_create();
    IrFunc *func = sample(&f);
    IrOp *add = ir_body(func)->first->next;
    add->operands[0].value->uses = NULL;
    expect_broken(&f, func, "operand 0 is not in its value's list of uses");
    func = sample(&f);
    IrOp *neg = ir_body(func)->first;
    neg->operands[0].next = NULL;
    func->params.data[0].value->uses = &neg->operands[0];
    neg->operands[0].link = &func->params.data[0].value->uses;
    expect_broken(&f, func, "the uses listed of argument 0 are not its operand places");
    func = sample(&f);
    neg = ir_body(func)->first;
    neg->results[0].uses->next = neg->results[0].uses;
    expect_broken(&f, func, "the uses listed of result 0 are not its operand places");
    func = sample(&f);
    ir_body(func)->first->id = 1;
    expect_broken(&f, func, "op id 1 is taken or not below 5");
    func = sample(&f);
    ir_body(func)->first->results[0].id = 99;
    expect_broken(&f, func, "value id 99 is taken or not below 5");
    func = sample(&f);
    ir_body(func)->first->results[0].def = NULL;
    expect_broken(&f, func, "links of the op do not fit its place");
    func = sample(&f);
    ir_body(func)->last->prev = NULL;
    expect_broken(&f, func, "links of the op do not fit its place");
    func = sample(&f);
    func->params.data[0].value->index = 7;
    expect_broken(&f, func, "links of parameter 'a' do not fit");
    func = sample(&f);
    ir_block_add_arg(ir_body(func), ir_scalar(func->module, DTYPE_I64));
    expect_broken(&f, func, "expected a section without arguments, found 1");
    func = sample(&f);
    ir_body(func)->first->code = (IrOpcode)(IR_OPCODES + 3);
    expect_broken(&f, func, "is none of the table");
    func = sample(&f);
    ir_func_add_section(func, IR_GRID, (Str){0}, (Span){0});
    func->is_kernel = false;
    expect_broken(&f, func, "expected a body only, of a function");
    func = sample(&f);
    vec_push(f.arena, &func->results, ir_scalar(func->module, DTYPE_I64));
    expect_broken(&f, func, "expected a kernel without results, found 1");
    func = sample(&f);
    ir_func_create(func->module, func->name, false);
    expect_broken(&f, func, "function 'k' is defined twice");
    fixture_destroy(&f);
}

static void broken_attributes_are_found(void **state) {
    (void)state;
    Fixture f = fixture_create();
    IrFunc *func = sample(&f);
    IrBuilder b = ir_builder_before(ir_body(func)->last);
    IrValue *made = ir_const_bits(&b, ir_scalar(func->module, DTYPE_I8), 256);
    expect_broken(&f, func, "expected 8 bits, found 0x100");
    func = sample(&f);
    b = ir_builder_before(ir_body(func)->last);
    made = ir_cast(&b, func->params.data[0].value, DTYPE_F16, true);
    ir_attr_set_int(made->def, IR_ATTR_SATURATE, 2);
    expect_broken(&f, func, "attribute 'saturate' can't be 2");
    func = sample(&f);
    b = ir_builder_before(ir_body(func)->last);
    ir_extent(&b, NULL);
    expect_broken(&f, func, "attribute 'extent' is missing");
    func = sample(&f);
    b = ir_builder_before(ir_body(func)->last);
    IrValue *operands[] = {NULL, ir_result(ir_body(func)->first->next->next, 0)};
    const IrType *type = ir_scalar(func->module, DTYPE_I32);
    IrOp *reduce = ir_op(&b, IR_REDUCE, 2, operands, 1, &type, 0, NULL);
    assert_true(ir_verify_func(func, f.diags));
    ir_attr_set_int(reduce, IR_ATTR_REDUCE, 77);
    expect_broken(&f, func, "attribute 'kind' can't be 77");
    func = sample(&f);
    func->params.data[0].value->type = ir_view(func->module, DTYPE_F32, 1);
    func->params.data[0].dims[0].value = -1;
    expect_broken(&f, func, "expected an extent of 0 or more, found -1");
    func = sample(&f);
    func->params.data[0].value->type = ir_view(func->module, DTYPE_F32, 7);
    expect_broken(&f, func, "type view f32 7 has no rank from 1 to 5");
    fixture_destroy(&f);
}

static void every_violation_is_reported(void **state) {
    (void)state;
    Fixture f = fixture_create();
    IrModule *m = fixture_parse(&f, with_ops(&f,
                                             "%6 = neg %2 : bool[8]\n"
                                             "%7 = add %a, %i : f32\n"
                                             "if %i {\n"
                                             "  %8 = add %a, %i : f32\n"
                                             "  yield %8\n"
                                             "} {\n"
                                             "}\n"));
    assert_non_null(m);
    assert_false(ir_verify(m, f.diags));
    assert_int_equal(diags_errors(f.diags), 5);
    fixture_destroy(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_header_is_fine),
        cmocka_unit_test(counts_and_attributes),
        cmocka_unit_test(values_and_elementwise),
        cmocka_unit_test(shapes),
        cmocka_unit_test(products_and_reductions),
        cmocka_unit_test(combiners),
        cmocka_unit_test(pointers),
        cmocka_unit_test(views),
        cmocka_unit_test(effects_and_control),
        cmocka_unit_test(functions),
        cmocka_unit_test(broken_links_are_found),
        cmocka_unit_test(broken_attributes_are_found),
        cmocka_unit_test(every_violation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
