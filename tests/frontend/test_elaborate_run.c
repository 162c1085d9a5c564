// The meaning of kernels, seen by running them: control flow, scopes, arithmetic, views, built-ins.
#include "tests/frontend/elaborate_case.h"

static void test_untyped(void **state) {
    (void)state;
    GIVES("", "y[0] = 7 % 4; y[1] = -7 / 2; y[2] = -7 % 2; y[3] = 1 << 40; y[4] = ~0;", 3, -3, -1,
          1ll << 40, -1);
    GIVES("", "y[0] = i64(u32(-1)); y[1] = i64(i8(300)); y[2] = i64(2.9); y[3] = i64(bool(2));",
          4294967295, 44, 2, 1);
    GIVES("const A = 3;\nconst B = A * A;",
          "let c = B + 1; y[c] = B; y[0] = max(A, B); y[1] = cdiv(7, -2);", 9, -3);
    GIVES("", "y[0] = 18446744073709551615 - 18446744073709551614; y[1] = -9223372036854775808;", 1,
          INT64_MIN);
    GIVES("",
          "y[0] = i64(18446744073709551615 == u64(s - 6)); y[1] = cdiv(s, 2); y[2] = cdiv(-s, 2);",
          1, 3, -2);
}

// Up, whatever the signs are; s is 5.
static void test_cdiv(void **state) {
    (void)state;
    GIVES("",
          "y[0] = cdiv(s, -2); y[1] = cdiv(-s, -2); y[2] = cdiv(s, -5); y[3] = cdiv(s - 5, -3);",
          -2, 3, -1, 0);
    GIVES("", "let t = 3 - s; y[0] = cdiv(s, t); y[1] = cdiv(-s, t); y[2] = cdiv(s, -t);", -2, 3,
          3);
    GIVES("", "y[0] = i64(cdiv(u32(s), 2)); y[1] = i64(cdiv(u32(s), 5)); y[2] = cdiv(6, s);", 3, 1,
          2);
    GIVES("", "let v = iota(4) + i32(s); y[0 +: 4] = i64(cdiv(v, -4));", -1, -1, -1, -2);
}

static void test_promotion(void **state) {
    (void)state;
    GIVES("", "y[0] = i64(u8(200) + u8(100)); y[1] = i64(u8(200) + i16(100));", 44, 300);
    GIVES("", "y[0] = i64(f32(i32(7) + 0) / 2.5 * 10.0);", 28);
    GIVES("", "var t = 0; t -= 1; y[0] = i64(t >> 1); y[1] = i64(u32(t) >> 1);", -1, 2147483647);
    GIVES("", "y[0] = 1 << s; y[1] = i64(u8(1) << 9); y[2] = -8 >> s; y[3] = s % 3;", 32, 0, -1, 2);
    GIVES("", "y[0] = i64(f16(2048.0) + f16(1.0)); y[1] = i64(f16(2048.0) + bf16(1.0));", 2048,
          2049);
}

static void test_conditions(void **state) {
    (void)state;
    GIVES("", "if (s > 4 && s < 6) y[0] = 1; else y[0] = 2; if (s > 5 || s == 0) y[1] = 1;", 1, 0);
    GIVES("", "if (true || s / 0 > 1) { y[0] = 1; } if (false && s > 0) { y[0] = 2; }", 1);
    GIVES("",
          "if (s == 1) y[0] = 1; else if (s == 5) y[0] = 2; else y[0] = 3; y[1] = i64(!(s > 1));",
          2, 0);
    GIVES("",
          "var a = 1; var b = 2; if (s > 0) { let c = a; a = b; b = c; } y[0] = i64(a); y[1] = "
          "i64(b);",
          2, 1);
    GIVES("", "if const (1 > 2) { y[0] = 1.5 + y; } else { y[0] = 4; }", 4);
}

static void test_for(void **state) {
    (void)state;
    GIVES(
        "",
        "var t = 0; for i in 0 .. s t += i32(i); y[0] = i64(t); for i in s .. 0 step -2 y[i] = i;",
        10, 1, 0, 3, 0, 5);
    GIVES("",
          "for i in 0 .. 10 step s - 5 y[0] = 1; for i in 3 .. 3 y[0] = 1; for i in 0 .. 9 step s "
          "y[i] = 7;",
          7, 0, 0, 0, 0, 7);
    GIVES("", "for i in 0 .. 10 { if (i % 2 == 0) continue; if (i > 6) break; y[i] = i; }", 0, 1, 0,
          3, 0, 5, 0, 0);
    GIVES("",
          "var n = 0; for i in 0 .. 4 { for j in 0 .. 4 { if (j > i) break; n += 1; } n += 10; } "
          "y[0] = i64(n);",
          50);
    GIVES("", "for const i in 0 .. 4 { let w = 1 << i; y[i] = sum(i64(iota(w))); }", 0, 1, 6, 28);
    GIVES(
        "",
        "for const i in 6 .. 0 step -2 { if const (i == 4) continue; if (s < 0) break; y[i] = i; }",
        0, 0, 2, 0, 0, 0, 6);
    GIVES("", "for const i in 0 .. 5 { if (x[i] > 2.0) break; y[i] = 1; } y[10] = 1;", 1, 1, 1, 0,
          0, 0, 0, 0, 0, 0, 1);
}

static void test_while(void **state) {
    (void)state;
    GIVES("", "var i = 0; while (i < 5) { y[i] = 9; i += 2; } y[6] = i64(i);", 9, 0, 9, 0, 9, 0, 6);
    GIVES("",
          "var i = 0; while (true) { i += 1; if (i == 2) continue; if (i > 4) break; y[i] = 1; } "
          "y[0] = i64(i);",
          5, 1, 0, 1, 1, 0);
    // The condition is not asked once a break was taken: it would divide the search's end.
    GIVES(
        "",
        "var i = 0; var a = s; while (a > 0 && x[i] < 9.0) { a -= 1; if (a == 2) break; i += 1; } "
        "y[0] = i64(i); y[1] = a;",
        2, 2);
}

static void test_early_return(void **state) {
    (void)state;
    GIVES("", "y[0] = 1; if (s > 4) { y[1] = 1; return; } y[2] = 1;", 1, 1, 0);
    GIVES("", "y[0] = 1; if (s > 5) { y[1] = 1; return; } y[2] = 1;", 1, 0, 1);
    GIVES("",
          "if (s > 4) { y[0] = 1; } else { return; } y[1] = 1; if (s > 4) { if (s > 3) return; } "
          "y[2] = 1;",
          1, 1, 0);
    GIVES("",
          "for i in 0 .. 9 { for j in 0 .. 9 { if (i * j == 6) return; y[i] += 1; } y[20] += 1; } "
          "y[30] = 1;",
          9, 6, 0);
    GIVES("", "for i in 0 .. 9 { if (i == 3) return; y[i] = 1; } y[9] = 1;", 1, 1, 1, 0, 0, 0, 0, 0,
          0, 0);
    GIVES("", "while (true) { if (s > 0) return; }", 0);
}

static void test_fns(void **state) {
    (void)state;
    GIVES("fn sign(a) { if (a > 0) return 1; if (a < 0) return -1; return 0; }",
          "y[0] = i64(sign(s)); y[1] = i64(sign(-s)); y[2] = i64(sign(s - 5));", 1, -1, 0);
    GIVES("fn find(v, n, what) { for i in 0 .. n { if (v[i] == what) return i; } return -1; }",
          "y[0] = find(x, M, 3.0); y[1] = find(x, M, 99.0);", 3, -1);
    GIVES("fn both(a, b) { return (a + b, a - b); }",
          "let (p, q) = both(s, 2); y[0] = p; y[1] = q; let (a, b) = both(7, 3); y[a] = b;", 7, 3,
          0, 0, 0, 0, 0, 0, 0, 0, 4);
    GIVES("fn w() { return 8; }", "y[0 +: w()] = 3;", 3, 3, 3, 3, 3, 3, 3, 3, 0);
    GIVES("fn pick(c, a, b) { if (c) { return a; } else { return b; } }",
          "y[0] = pick(s > 4, s, 1); y[1] = pick(s > 5, s, 1); y[2] = i64(sum(pick(s > 4, 0.0, x[0 "
          "+: 4])));",
          5, 1, 0);
    GIVES(
        "fn nest(n) { var t = n; for i in 0 .. 3 { if (t > 100) return t; t = t * t; } return t + "
        "1; }",
        "y[0] = nest(s); y[1] = nest(s - 4);", 625, 2);
    GIVES("fn show(a, v) { a[v] = v; return; }", "show(y, 2); show(y, s);", 0, 0, 2, 0, 0, 5);
}

static void test_views(void **state) {
    (void)state;
    GIVES("", "y[0 +: 4] = i64(x[14 +: 4] or -1.0); y[4] = i64(x[-1] or 7); y[5] = i64(x[100]);",
          14, 15, -1, -1, 7, 0);
    GIVES("", "y[62 +: 4] = 8; y[-2 +: 4] = 9; y[0 +: 4] += 1;", 10, 10, 1, 1);
    GIVES("", "let i = iota(4); y[i * 2] = i64(i) if i > 0; y[1] = sum(y[i]);", 0, 1, 1, 0, 2, 0,
          3);
    GIVES("", "y[0 +: 4] = i64(inside(x[14 +: 4]));", 1, 1, 0, 0);
    GIVES("", "let i = u8(iota(4)); y[i] = i64(x[i + 1]); var k = 0; y[k + 5] = 2;", 1, 2, 3, 4, 0,
          2);
}

static void test_builtins(void **state) {
    (void)state;
    GIVES("",
          "let v = x[0 +: 8]; y[0] = i64(sum(v)); y[1] = i64(max(v, where = v < 4.5)); y[2] = "
          "i64(argmax(v)); "
          "y[3] = i64(any(v > 6.5)); y[4] = i64(all(v > 0.5));",
          28, 4, 7, 1, 0);
    GIVES("",
          "let v = reshape(x[0 +: 8], 2, 4); y[0 +: 4] = i64(sum(v, axis = 0)); "
          "y[4 +: 2] = i64(max(v, axis = 1)); let k = sum(v, axis = 1, keep = true); "
          "y[6 +: 2] = i64(reshape(k, 2));",
          4, 6, 8, 10, 3, 7, 6, 22);
    GIVES("fn add(a, b) { return a + b; }",
          "let v = i64(iota(4)); y[0 +: 4] = scan(v, add); y[4 +: 4] = cumsum(v, exclusive = true, "
          "reverse = true); "
          "y[8] = reduce(v, add);",
          0, 1, 3, 6, 6, 5, 3, 0, 6);
    GIVES("fn best(a, i, b, j) { let c = a >= b; return (select(c, a, b), select(c, i, j)); }",
          "let (v, i) = reduce((x[0 +: 8] * 3.0 % 8.0, iota(8)), best); y[0] = i64(v); y[1] = "
          "i64(i);",
          7, 5);
    GIVES("",
          "let k = iota(4); let (a, b) = sort((3 - k, k)); y[0 +: 4] = i64(b); "
          "let (t, i) = topk(x[0 +: 8], 2); y[4 +: 2] = i64(t); y[6 +: 2] = i64(i);",
          3, 2, 1, 0, 7, 6, 7, 6);
    GIVES("",
          "let v = i64(iota(4)); let (a, b) = split(reshape(v, 2, 2)); y[0 +: 2] = b; y[2 +: 4] = "
          "reshape(join(b, a), 4); "
          "y[6 +: 4] = reshape(transpose(reshape(v, 2, 2)), 4);",
          1, 3, 1, 0, 3, 2, 0, 2, 1, 3);
    GIVES("",
          "let v = i64(iota(4)); y[0 +: 8] = cat(v, v + 10); y[8 +: 4] = gather(v, 3 - iota(4)); "
          "y[12 +: 4] = broadcast(s, 4);",
          0, 1, 2, 3, 10, 11, 12, 13, 3, 2, 1, 0, 5, 5, 5, 5);
    GIVES("",
          "y[0 +: 4] = i64(histogram(iota(8) % 3, 4)); y[4] = clamp(s, 0, 3); y[5] = i64(abs(-2.5) "
          "* 2.0); "
          "y[6] = min(s, 3); y[7] = i64(fma(2.0, x[3], 1));",
          3, 3, 2, 0, 3, 5, 3, 7);
    GIVES("",
          "let a = reshape(x[0 +: 4], 2, 2); y[0 +: 4] = i64(reshape(dot(a, a), 4)); "
          "y[4 +: 4] = i64(reshape(dot(i8(a), u8(a), full(i32, 1, 2, 2)), 4));",
          2, 3, 6, 11, 3, 4, 7, 12);
    GIVES("",
          "y[0] = i64(select(s > 4, 2, 3)); y[1 +: 4] = select(iota(4) > 1, s, 0); "
          "y[5] = i64(bitcast(u32, f32(1.0)));",
          2, 0, 0, 5, 5, 1065353216);
    GIVES("",
          "y[0] = atomic_add(y[3], 4); y[1] = atomic_cas(y[3], 4, 9); y[2] = "
          "i64(sum(atomic_max(y[4 +: 4], s))); "
          "atomic_xchg(y[8 +: 2], 6, iota(2) > 0, order = acq_rel, scope = system);",
          0, 4, 0, 9, 5, 5, 5, 5, 0, 6);
    GIVES("",
          "let (a, b, c, d) = random4(s, iota(2)); y[0 +: 2] = i64(a == random(s, iota(2)));"
          "assert(s == 5, \"five\"); assume(s > 0); static_assert(1 + 1 == 2); print(\"s = \", s, "
          "\"!\");",
          1, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_untyped),      cmocka_unit_test(test_cdiv),
        cmocka_unit_test(test_promotion),    cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_for),          cmocka_unit_test(test_while),
        cmocka_unit_test(test_early_return), cmocka_unit_test(test_fns),
        cmocka_unit_test(test_views),        cmocka_unit_test(test_builtins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
