// The trees of expressions, as texts; and their places.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/py_tree.h"

static const PyCase operators[] = {
    {"a + b * c", "(expr (+ a (* b c)))"},
    {"a * b + c", "(expr (+ (* a b) c))"},
    {"a - b - c", "(expr (- (- a b) c))"},
    {"a / b // c % d @ e", "(expr (@ (% (// (/ a b) c) d) e))"},
    {"a << b + c >> d", "(expr (>> (<< a (+ b c)) d))"},
    {"a & b << c", "(expr (& a (<< b c)))"},
    {"a ^ b & c | d", "(expr (| (^ a (& b c)) d))"},
    {"-a ** -b", "(expr (neg (** a (neg b))))"},
    {"2 ** 3 ** 4", "(expr (** 2 (** 3 4)))"},
    {"~a + -b - +c", "(expr (- (+ (inv a) (neg b)) (pos c)))"},
    {"(a + b) * c", "(expr (* (+ a b) c))"},
    {"not a == b", "(expr (not (cmp a == b)))"},
    {"not a and not b or c and d", "(expr (or (and (not a) (not b)) (and c d)))"},
    {"a or b or c", "(expr (or a b c))"},
    {"a or (b or c)", "(expr (or a (or b c)))"},
    {"a < b <= c != d", "(expr (cmp a < b <= c != d))"},
    {"a is not b", "(expr (cmp a is not b))"},
    {"a not in b", "(expr (cmp a not in b))"},
    {"a in b is c", "(expr (cmp a in b is c))"},
    {"a > b >= c == d", "(expr (cmp a > b >= c == d))"},
    {"not a in b", "(expr (not (cmp a in b)))"},
    {"await a ** b", "(expr (** (await a) b))"},
    {"x if a else y if b else z", "(expr (choose a x (choose b y z)))"},
    {"(a := 1) + b", "(expr (+ (:= a 1) b))"},
};

static void test_operators(void **state) {
    (void)state;
    py_text_check_trees(operators, sizeof operators / sizeof *operators);
}

static const PyCase atoms[] = {
    {"(True, False, None, ...)", "(expr (tuple True False None ...))"},
    {"()", "(expr (tuple))"},
    {"(a)", "(expr a)"},
    {"(a,)", "(expr (tuple a))"},
    {"(a, b,)", "(expr (tuple a b))"},
    {"[]", "(expr (list))"},
    {"[a, *b]", "(expr (list a (star b)))"},
    {"{}", "(expr (dict))"},
    {"{a}", "(expr (set a))"},
    {"{a, *b}", "(expr (set a (star b)))"},
    {"{a: b, **c}", "(expr (dict (: a b) (** c)))"},
    {"{a: b for a, b in c}", "(expr (dict-comp a b (for (tuple a b) c)))"},
    {"a, b", "(expr (tuple a b))"},
    {"a,", "(expr (tuple a))"},
    {"*a, b", "(expr (tuple (star a) b))"},
    {"(yield)", "(expr (yield))"},
    {"(yield a, b)", "(expr (yield (tuple a b)))"},
    {"(yield from a)", "(expr (yield-from a))"},
    {"(*a, b := 1)", "(expr (tuple (star a) (:= b 1)))"},
};

static void test_atoms(void **state) {
    (void)state;
    py_text_check_trees(atoms, sizeof atoms / sizeof *atoms);
}

static const PyCase primaries[] = {
    {"f()", "(expr (call f))"},
    {"f(a, *b, c=1, **d, e=2, **g)", "(expr (call f a (star b) (= c 1) (** d) (= e 2) (** g)))"},
    {"f(a=1, *b)", "(expr (call f (= a 1) (star b)))"},
    {"f(*a, b, c=2, **d)", "(expr (call f (star a) b (= c 2) (** d)))"},
    {"f(a for a in b)", "(expr (call f (generator a (for a b))))"},
    {"f((a for a in b), c)", "(expr (call f (generator a (for a b)) c))"},
    {"f(a := 1, b=c)", "(expr (call f (:= a 1) (= b c)))"},
    {"a.b.c(d)[e].f", "(expr (. (at (call (. (. a b) c) d) e) f))"},
    {"kernel[grid](a, B=2)", "(expr (call (at kernel grid) a (= B 2)))"},
    {"a[b]", "(expr (at a b))"},
    {"a[b, c]", "(expr (at a (tuple b c)))"},
    {"a[b,]", "(expr (at a (tuple b)))"},
    {"a[:]", "(expr (at a (slice - - -)))"},
    {"a[b:c]", "(expr (at a (slice b c -)))"},
    {"a[b:c:d, ::e, :f]", "(expr (at a (tuple (slice b c d) (slice - - e) (slice - f -))))"},
    {"a[:, None]", "(expr (at a (tuple (slice - - -) None)))"},
    {"a[*b]", "(expr (at a (tuple (star b))))"},
    {"a[b := 1]", "(expr (at a (:= b 1)))"},
    {"a[(b, c)]", "(expr (at a (tuple b c)))"},
    {"match.case(type)[_]", "(expr (at (call (. match case) type) _))"},
};

static void test_primaries(void **state) {
    (void)state;
    py_text_check_trees(primaries, sizeof primaries / sizeof *primaries);
}

static const PyCase comprehensions[] = {
    {"[a for a in b]", "(expr (list-comp a (for a b)))"},
    {"[a async for a in b]", "(expr (list-comp a (async-for a b)))"},
    {"[a for a in b if c if d for e, *f in a]",
     "(expr (list-comp a (for a b c d) (for (tuple e (star f)) a)))"},
    {"{a for a in b}", "(expr (set-comp a (for a b)))"},
    {"(a for a.b in c)", "(expr (generator a (for (. a b) c)))"},
    {"[*a, b]", "(expr (list (star a) b))"},
    {"[a for a in b or c]", "(expr (list-comp a (for a (or b c))))"},
    {"[a if b else c for d in e]", "(expr (list-comp (choose b a c) (for d e)))"},
};

static void test_comprehensions(void **state) {
    (void)state;
    py_text_check_trees(comprehensions, sizeof comprehensions / sizeof *comprehensions);
}

static const PyCase lambdas[] = {
    {"lambda: a", "(expr (lambda () a))"},
    {"lambda a: b", "(expr (lambda (a) b))"},
    {"lambda a, b=1, *c, d, **e: f", "(expr (lambda (a b= 1 *c =d **e) f))"},
    {"lambda a, /, b, *, c: d", "(expr (lambda (/a b =c) d))"},
    {"lambda *a: (yield)", "(expr (lambda (*a) (yield)))"},
    {"lambda a: lambda b: a", "(expr (lambda (a) (lambda (b) a)))"},
};

static void test_lambdas(void **state) {
    (void)state;
    py_text_check_trees(lambdas, sizeof lambdas / sizeof *lambdas);
}

static const PyCase numbers[] = {
    {"0", "(expr 0)"},
    {"1_000", "(expr 1000)"},
    {"0xFf_f", "(expr 4095)"},
    {"0o17", "(expr 15)"},
    {"0b1_01", "(expr 5)"},
    {"0_0", "(expr 0)"},
    {"1.5", "(expr 1.5)"},
    {"1.", "(expr 1.0)"},
    {".5e3", "(expr 500.0)"},
    {"1e-3", "(expr 0.001)"},
    {"10_0.0_1", "(expr 100.01)"},
    {"1j", "(expr j1.0)"},
    {"1.5e2J", "(expr j150.0)"},
    {"00.5", "(expr 0.5)"},
    {"09.5", "(expr 9.5)"},
    {"1if a else 2", "(expr (choose a 1 2))"},
    {"170141183460469231731687303715884105727", "(expr 170141183460469231731687303715884105727)"},
    {"170141183460469231731687303715884105728", "(expr huge)"},
    {"0xffffffffffffffffffffffffffffffff", "(expr huge)"},
    {"1e400", "(expr inf)"},
};

static void test_numbers(void **state) {
    (void)state;
    py_text_check_trees(numbers, sizeof numbers / sizeof *numbers);
}

static const PyCase strings[] = {
    {"'a'", "(expr \"a\")"},
    {"\"b\"", "(expr \"b\")"},
    {"''", "(expr \"\")"},
    {"\"\"\" a \"\" \n"
     " b \"\"\"",
     "(expr \" a \\x22\\x22 \\x0a b \")"},
    {"'''x'''", "(expr \"x\")"},
    {"r'\\n'", "(expr \"\\x5cn\")"},
    {"R'\\''", "(expr \"\\x5c'\")"},
    {"b'\\xff\\101'", "(expr b\"\\xffA\")"},
    {"rb'\\x' Br'\\y'", "(expr b\"\\x5cx\\x5cy\")"},
    {"u'\\u00e9\\U0001F600\\xe9'", "(expr \"\\xc3\\xa9\\xf0\\x9f\\x98\\x80\\xc3\\xa9\")"},
    {"'\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\\"\\0\\18\\777'",
     "(expr \"\\x07\\x08\\x0c\\x0a\\x0d\\x09\\x0b\\x5c'\\x22\\x00\\x018\\xc7\\xbf\")"},
    {"'\\q\\N{BULLET}'", "(expr \"\\x5cq\\xef\\xbf\\xbd\")"},
    {"'a\\\n"
     "b'",
     "(expr \"ab\")"},
    {"\"a\" 'b' \"\"\"c\"\"\"", "(expr \"abc\")"},
    {"(\"a\"\n"
     " \"b\")",
     "(expr \"ab\")"},
    {"'\303\251'", "(expr \"\\xc3\\xa9\")"},
    {"'''a\r\n"
     "b'''",
     "(expr \"a\\x0ab\")"},
    {"'\\ud800'", "(expr \"\\xed\\xa0\\x80\")"},
};

static void test_strings(void **state) {
    (void)state;
    py_text_check_trees(strings, sizeof strings / sizeof *strings);
}

static const PyCase fstrings[] = {
    {"f'a'", "(expr (f \"a\"))"},
    {"f''", "(expr (f))"},
    {"f'{a}'", "(expr (f (format a)))"},
    {"f'{a!r}'", "(expr (f (format a !r)))"},
    {"f'{a:>10}'", "(expr (f (format a (f \">10\"))))"},
    {"f'{a!s:{b}.{c}x}'", "(expr (f (format a !s (f (format b) \".\" (format c) \"x\"))))"},
    {"f'{{a}}'", "(expr (f \"{a}\"))"},
    {"f'{a=}'", "(expr (f \"a=\" (format a !r)))"},
    {"f'{ a + b = }'", "(expr (f \" a + b = \" (format (+ a b) !r)))"},
    {"f'{a=!s}'", "(expr (f \"a=\" (format a !s)))"},
    {"f'{a=:.2f}'", "(expr (f \"a=\" (format a (f \".2f\"))))"},
    {"f'{a!=b}'", "(expr (f (format (cmp a != b))))"},
    {"f'{a:=5}'", "(expr (f (format a (f \"=5\"))))"},
    {"f'{(a:=5)}'", "(expr (f (format (:= a 5))))"},
    {"f'{a[\"b\"]}{f\"{c}\"}'", "(expr (f (format (at a \"b\")) (format (f (format c)))))"},
    {"f\"{x[\"a\"]}\"", "(expr (f (format (at x \"a\"))))"},
    {"f\"{f\"{f\"{1}\"}\"}\"", "(expr (f (format (f (format (f (format 1)))))))"},
    {"'a' f'{b}' 'c' f'd'", "(expr (f \"a\" (format b) \"cd\"))"},
    {"rf'\\{a}\\n'", "(expr (f \"\\x5c\" (format a) \"\\x5cn\"))"},
    {"f'\\n{a}\\x41'", "(expr (f \"\\x0a\" (format a) \"A\"))"},
    {"f'{a, b}'", "(expr (f (format (tuple a b))))"},
    {"f'{*a, b}'", "(expr (f (format (tuple (star a) b))))"},
    {"f'{lambda_}'", "(expr (f (format lambda_)))"},
    {"f'{yield_}'", "(expr (f (format yield_)))"},
    {"f'{(lambda x: x)(1)}'", "(expr (f (format (call (lambda (x) x) 1))))"},
    {"f'''{\n"
     "a\n"
     "}'''",
     "(expr (f (format a)))"},
    {"f'{\n"
     "a # note\n"
     "}'",
     "(expr (f (format a)))"},
    {"f'{d[1:2]}'", "(expr (f (format (at d (slice 1 2 -)))))"},
    {"f'{ {1: 2}[1] }'", "(expr (f (format (at (dict (: 1 2)) 1))))"},
    {"f'{a:}'", "(expr (f (format a (f))))"},
    {"f'\\N{BULLET}{a}'", "(expr (f \"\\xef\\xbf\\xbd\" (format a)))"},
    {"f'{a}' 'b' rf'{c}\\d'", "(expr (f (format a) \"b\" (format c) \"\\x5cd\"))"},
    {"f'{yield a}'", "(expr (f (format (yield a))))"},
    {"Rf'''{a:\\d}'''", "(expr (f (format a (f \"\\x5cd\"))))"},
};

static void test_fstrings(void **state) {
    (void)state;
    py_text_check_trees(fstrings, sizeof fstrings / sizeof *fstrings);
}

// Each node begins at its first character and ends after its last one; brackets around it do not
// count, those of a tuple do.
static void test_places(void **state) {
    (void)state;
    static const PyCase cases[] = {
        {"a = (b) + c * 2", "(assign@0-15 a@0-1 = (+@4-15 b@5-6 (*@10-15 c@10-11 2@14-15)))"},
        {"f(x=1).y[0]", "(expr@0-11 (at@0-11 (.@0-8 (call@0-6 f@0-1 (=@2-5 x 1@4-5)) y) 0@9-10))"},
        {"a, (b, c), = d,",
         "(assign@0-15 (tuple@0-10 a@0-1 (tuple@3-9 b@4-5 c@7-8)) = (tuple@13-15 d@13-14))"},
        {"f(a for a in b)",
         "(expr@0-15 (call@0-15 f@0-1 (generator@1-15 a@2-3 (for a@8-9 b@13-14))))"},
        {"if a:\n    b\n\n# c\n", "(@0-11if a@3-4 (do (expr@10-11 b@10-11)))"},
        {"@a\ndef f(b): c\n", "(def@3-14 f (b@9) (decorators a@1-2) (do (expr@13-14 c@13-14)))"},
        {"x = not a < b", "(assign@0-13 x@0-1 = (not@4-13 (cmp@8-13 a@8-9 < b@12-13)))"},
        {"f'a{b!r:>{c}}d'",
         "(expr@0-15 (f@0-15 \"a\" (format@3-13 b@4-5 !r (f \">\" (format@9-12 c@10-11))) \"d\"))"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PyText t = py_text(cases[i].text);
        StrBuf out = strbuf(t.arena);
        py_tree_write(&out, t.tree->list, t.source);
        assert_string_equal(strbuf_str(&out).text, cases[i].expected);
        py_text_free(&t);
    }
}

// An expression that stands alone, and what may not follow it.
static void test_alone(void **state) {
    (void)state;
    static const PyCase trees[] = {
        {"a + 1", "(+ a 1)"},
        {"  a, b\n", "(tuple a b)"},
        {"(n + B - 1) // B", "(// (- (+ n B) 1) B)"},
        {"lambda m: (m['B'],)", "(lambda (m) (tuple (at m \"B\")))"},
    };
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        PyText t = py_text_expression(trees[i].text);
        assert_string_equal(py_text_diags(&t), "");
        assert_string_equal(py_text_tree(&t), trees[i].expected);
        py_text_free(&t);
    }
    static const PyCase errors[] = {
        {"", "1:1: expected an expression, found the end of the file [syntax]"},
        {"a b", "1:3: expected the end of the expression, found 'b' [syntax]"},
        {"a\nb", "2:1: expected the end of the expression, found 'b' [syntax]"},
        {"a = 1", "1:3: expected the end of the expression, found '=' [syntax]"},
        {"(a",
         "1:3: expected ')' after the expression, found the end of the file [syntax]\n"
         "  note 1:1: the bracket is opened here"},
    };
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        PyText t = py_text_expression(errors[i].text);
        assert_string_equal(py_text_diags(&t), errors[i].expected);
        py_text_free(&t);
    }
}

static void test_operator_words(void **state) {
    (void)state;
    assert_string_equal(py_op_text(PY_OP_NONE), "=");
    assert_string_equal(py_op_text(PY_NEG), "-");
    assert_string_equal(py_op_text(PY_POS), "+");
    assert_string_equal(py_op_text(PY_INVERT), "~");
    assert_string_equal(py_op_text(PY_IS_NOT), "is not");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators),      cmocka_unit_test(test_atoms),
        cmocka_unit_test(test_primaries),      cmocka_unit_test(test_comprehensions),
        cmocka_unit_test(test_lambdas),        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_strings),        cmocka_unit_test(test_fstrings),
        cmocka_unit_test(test_places),         cmocka_unit_test(test_alone),
        cmocka_unit_test(test_operator_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
