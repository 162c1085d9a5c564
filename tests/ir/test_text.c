// The text form: printed text parses back the same; every mistake is reported, and none crashes.
#include "ir/text/literal.h"
#include "tests/ir/support.h"

static Str all_ops(Fixture *f) {
    Str text;
    OsError error;
    assert_true(os_read_file(f->arena, "tests/ir/all_ops.tir", 1 << 20, &text, &error));
    return text;
}

static void mark_ops(const IrBlock *block, bool *seen) {
    for (const IrOp *op = block->first; op; op = op->next) {
        seen[op->code] = true;
        for (uint32_t i = 0; i < op->region_count; i++) mark_ops(op->regions[i], seen);
    }
}

static void every_op_round_trips(void **state) {
    (void)state;
    Fixture f = fixture_create();
    Str text = all_ops(&f);
    IrModule *m = fixture_parse_str(&f, text);
    if (!m) fail_msg("%s", fixture_messages(&f));
    expect_same_text(fixture_print(&f, m), text.text);
    if (!ir_verify(m, f.diags)) fail_msg("%s", fixture_messages(&f));
    bool seen[IR_OPCODES] = {false};
    for (size_t i = 0; i < m->funcs.count; i++) {
        const IrFunc *func = m->funcs.data[i];
        for (size_t s = 0; s < func->sections.count; s++) {
            mark_ops(func->sections.data[s].block, seen);
        }
    }
    for (int i = 0; i < IR_OPCODES; i++) {
        if (!seen[i]) {
            fail_msg("op '%s' is not in tests/ir/all_ops.tir", ir_op_info((IrOpcode)i)->text);
        }
    }
    fixture_destroy(&f);
}

static void functions_keep_all_they_hold(void **state) {
    (void)state;
    static const char *const texts[] = {
        "kernel @k() {\n  body {\n  }\n}\n",
        "kernel @k(%x: view f32[N, M]) {extents = [M, N, K], facts = [K divisor 4]} {\n"
        "  body {\n    return\n  }\n}\n",
        "kernel @k(%x: view f32[N]) {extents = []} {\n  body {\n    return\n  }\n}\n",
        "kernel @k(%p: *u4 {divisor = 256}, %i: i64 {min = -9223372036854775808, max = "
        "9223372036854775807}) {level = cpu, math = [approx], bind = [T = u4]} {\n"
        "  requires \"\\x01a\\xff\\t\\r\\n\\\\ \\\"b\\\"\xc3\xa9\" {\n  }\n  grid {\n  }\n  body "
        "{\n  }\n}\n",
        "func @f(%x: view f32[N, 0]) -> f32, *f16[8] {level = gpu} {\n}\n",
        "kernel @k(%x: view f16[M, K], %y: strided view f32[B, M, K]) {level = thread, maps = [x "
        "[1, 0] box [64, 128] swizzle 128 promotion 256, y [2, 0, 1] box [4, 1, 256]]} {\n"
        "  body {\n    return\n  }\n}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        Fixture f = fixture_create();
        IrModule *m = fixture_parse(&f, texts[i]);
        if (!m) fail_msg("%s%s", texts[i], fixture_messages(&f));
        const char *once = fixture_print(&f, m);
        assert_string_equal(once, texts[i]);
        m = fixture_parse(&f, once);
        assert_non_null(m);
        assert_string_equal(fixture_print(&f, m), once);
        fixture_destroy(&f);
    }
}

static void facts_are_read(void **state) {
    (void)state;
    Fixture f = fixture_create();
    IrModule *m = fixture_parse_str(&f, all_ops(&f));
    assert_non_null(m);
    const IrFunc *k = ir_func_find(m, fixture_name(&f, "values"));
    assert_non_null(k);
    assert_int_equal(k->math, IR_MATH_CONTRACT | IR_MATH_APPROX);
    assert_int_equal(k->warps, 4);
    assert_int_equal(k->stages, 2);
    assert_int_equal(k->ctas, 1);
    assert_int_equal(k->bindings.count, 3);
    assert_true(k->bindings.data[0].is_type);
    assert_int_equal(k->bindings.data[2].value, -3);
    const IrExtent *n = ir_extent_find(k, fixture_name(&f, "N"));
    assert_int_equal(n->facts.divisor, 16);
    assert_int_equal(n->facts.max, 1024);
    assert_false(k->params.data[0].strided);
    assert_true(k->params.data[1].strided);
    assert_int_equal(k->params.data[0].dims[1].value, 16);
    assert_int_equal(k->params.data[4].facts.max, 4096);
    const IrSection *section = &k->sections.data[1];
    assert_int_equal(section->kind, IR_REQUIRES);
    assert_true(str_equal(section->text, STR("noalias(x, \"y\")")));
    // Spans point into the text.
    const IrOp *op = ir_body(k)->first;
    assert_true(str_equal(source_text(f.sources, op->span), STR("%8 = program {dim = 0} : i64")));
    fixture_destroy(&f);
}

static void expect_literal(StrBuf *out, Dtype elem, uint64_t bits) {
    uint64_t again = ~bits;
    out->size = 0;
    ir_literal_print(elem, bits, out);
    assert_int_equal(ir_literal_read(elem, strbuf_str(out), &again), IR_LITERAL_OK);
    if (again != bits) {
        fail_msg("%s: 0x%llx prints as %s, which reads as 0x%llx", dtype_name(elem),
                 (unsigned long long)bits, out->text, (unsigned long long)again);
    }
}

static void literals_keep_their_bits(void **state) {
    (void)state;
    Fixture f = fixture_create();
    StrBuf out = strbuf(f.arena);
    for (int e = 0; e < DTYPES; e++) {
        Dtype elem = (Dtype)e;
        unsigned width = elem == DTYPE_BOOL ? 1 : dtype_bits(elem);
        uint64_t bits = 0x9e3779b97f4a7c15u;
        for (uint64_t i = 0; i < 4096; i++) {
            bits = width <= 8 ? i & ((1u << width) - 1) : bits * 0x5851f42d4c957f2du + i;
            expect_literal(&out, elem, width < 64 ? bits >> (width <= 8 ? 0 : 64 - width) : bits);
        }
        for (unsigned i = 0; i < width; i++) {
            expect_literal(&out, elem, UINT64_C(1) << i);
            expect_literal(&out, elem, (UINT64_C(2) << i) - 1);
        }
    }
    fixture_destroy(&f);
}

typedef struct Bad {
    const char *text;
    const char *message;
} Bad;

// A kernel with these ops; the first of them is line 3.
static const char *with_ops(Fixture *f, const char *ops) {
    return arena_printf(
        f->arena, "kernel @k(%%a: f32, %%p: *f32) {\n  body {\n%s\n    return\n  }\n}\n", ops);
}

static void expect_bad(const Bad *bad, bool ops) {
    Fixture f = fixture_create();
    const char *text = ops ? with_ops(&f, bad->text) : bad->text;
    IrModule *m = fixture_parse(&f, text);
    if (m) fail_msg("no mistake was found in:\n%s", text);
    expect_message(&f, bad->message);
    if (diags_errors(f.diags) != 1) {
        fail_msg("expected one message for:\n%s\nfound:%s", text, fixture_messages(&f));
    }
    fixture_destroy(&f);
}

static void mistakes_in_ops_are_told(void **state) {
    (void)state;
    static const Bad bads[] = {
        {"%0 = ad %a, %a : f32", "3:6: unknown op 'ad' [ir-syntax]"},
        {"%0 = add %a, %b : f32", "3:14: unknown value '%b' [unknown-name]"},
        {"%0 = add %a, %1 : f32\n%1 = add %a, %a : f32", "3:14: unknown value '%1'"},
        {"%0 = add %a, %a : f32\n%0 = add %a, %a : f32", "4:1: %0 is defined twice"},
        {"%x = add %a, %a : f32", "3:1: expected a number for a result, found '%x'"},
        {"%4294967296 = add %a, %a : f32", "expected a number for a result"},
        {"%0 = add %a : f32, f32", "3:1: expected as many types as results: 1, found 2"},
        {"%0, %1 = add %a : f32", "expected as many types as results: 2, found 1"},
        {"add %a, : f32", "3:9: expected an operand, found ':'"},
        {"%0, = add %a, %a : f32", "3:5: expected a result, found '='"},
        {"%0 add %a", "3:4: expected '=' after the results, found 'add'"},
        {"%0 = : f32", "3:6: expected the name of an op, found ':'"},
        {"%0 = neg %a : f33", "3:15: unknown type 'f33'"},
        {"%0 = neg %a : [4]", "3:15: expected an element type, found '['"},
        {"%0 = neg %a : f32[]", "3:19: expected an extent, found ']'"},
        {"%0 = neg %a : f32[4", "expected ']' after a shape, found 'return'"},
        {"%0 = neg %a : f32[1,1,1,1,1,1,1,1,1]", "a shape has at most 8 dimensions"},
        {"%0 = neg %a : f32[4294967296]", "expected an extent from 0 to 4294967295"},
        {"%0 = neg %a : f32[1x]", "expected an extent, found '1x' [bad-number]"},
        {"%0 = neg %a : view f32 6", "expected a view's rank from 1 to 5, found 6"},
        {"%0 = neg %a {dim = 1} : f32", "3:14: op 'neg' has no attribute 'dim'"},
        {"%0 = program {dim = 0, dim = 0} : i64", "3:24: attribute 'dim' is given twice"},
        {"%0 = program {dim = 0, = 0} : i64", "expected the name of an attribute, found '='"},
        {"%0 = program : i64", "3:1: op 'program' lacks attribute 'dim'"},
        {"%0 = program {dim = x} : i64", "3:21: expected a number, found 'x'"},
        {"%0 = program {dim = 9223372036854775808} : i64", "expected a number from "},
        {"%0 = program {dim = 0 : i64", "3:23: expected '}' after attributes, found ':'"},
        {"%0 = cast %a {saturate = 1} : f32", "3:26: expected true or false, found '1'"},
        {"%0 = permute %a {perm = 0} : f32", "expected '[' before a list of numbers, found '0'"},
        {"%0 = permute %a {perm = [0 1]} : f32", "expected ']' after a list of numbers"},
        {"print {texts = a}", "expected '[' before a list of texts, found 'a'"},
        {"print {texts = [1]}", "expected a text, found '1'"},
        {"print {texts = [\"a\" 1]}", "expected ']' after a list of texts, found '1'"},
        {"assert %a {text = \"\\q\"}", "3:20: unknown escape in a string [bad-string]"},
        {"assert %a {text = \"\\xg0\"}", "unknown escape in a string"},
        {"assert %a {text = \"abc", "the string is not closed on its line [bad-string]"},
        {"%0 = reduce _, %a {kind = summ, axis = 0} : f32", "attribute 'kind' can't be 'summ'"},
        {"%0 = reduce _, %a {kind = 3, axis = 0} : f32", "expected a name, found '3'"},
        {"%0 = extent {extent = 3} : i64", "expected a name, found '3'"},
        {"%0 = const {value = %a} : f32", "expected a constant, found '%a'"},
        {"%0 = const {value = 1.5} : i32", "3:21: expected a value of i32, found '1.5'"},
        {"%0 = const {value = 256} : u8", "3:21: '256' does not fit u8 [literal-range]"},
        {"%0 = const {value = -129} : i8", "'-129' does not fit i8"},
        {"%0 = const {value = -1} : u64", "'-1' does not fit u64"},
        {"%0 = const {value = 18446744073709551616} : u64", "does not fit u64"},
        {"%0 = const {value = 65536.0} : f16", "'65536.0' does not fit f16"},
        {"%0 = const {value = inf} : f8e4m3", "'inf' does not fit f8e4m3"},
        {"%0 = const {value = 0x10000} : f16", "'0x10000' does not fit f16"},
        {"%0 = const {value = 0xg} : f16", "expected a value of f16, found '0xg'"},
        {"%0 = const {value = 0x10000000000000000} : f64", "does not fit f64"},
        {"%0 = const {value = 2} : bool", "expected a value of bool, found '2'"},
        {"%0 = const {value = 1} : i4", "expected a value of i4, found '1'"},
        {"%0 = neg %a : f32 %1", "3:19: expected the end of the line, found '%1'"},
        {"if %a {\n yield\n} {\n yield\n} x", "7:3: expected the end of the line, found 'x'"},
        {"if %a (%1 f32) {\n yield\n} {\n yield\n}", "expected ':' after an argument of a region"},
        {"if %a (f32) {\n yield\n}", "expected an argument of a region, found 'f32'"},
        {"if %a (%1: f32 {\n yield\n}", "expected ')' after the arguments of a region"},
        {"if %a (%1: f32)\nyield", "expected '{' before the ops of a region, found 'yield'"},
        {"#", "3:1: unexpected character '#' [bad-character]"},
        {"\x80\x81", "3:1: unexpected byte 0x80 [bad-character]"},
    };
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) expect_bad(&bads[i], true);
}

static void mistakes_in_functions_are_told(void **state) {
    (void)state;
    static const Bad bads[] = {
        {"hello", "1:1: expected 'kernel' or 'func', found 'hello'"},
        {"kernel k() {\n}\n", "1:8: expected '@' before a function's name, found 'k'"},
        {"kernel @3() {\n}\n", "1:9: expected a function's name, found '3'"},
        {"kernel @k {\n}\n", "1:11: expected '(' before the parameters, found '{'"},
        {"kernel @k()", "expected '{' before a function's body, found the end of the text"},
        {"kernel @k() {\n", "expected 'requires', 'grid' or 'body', found the end of the text"},
        {"kernel @k() {\n  body {\n", "expected '}', found the end of the text"},
        {"kernel @k() {\n  body {\nfunc @f() {\n}\n", "3:1: expected '}', found 'func'"},
        {"kernel @k() {\n  head {\n  }\n}\n",
         "expected 'requires', 'grid' or 'body', found 'head'"},
        {"kernel @k() {\n  body\n}\n", "expected '{' before a section, found '}'"},
        {"kernel @k() {\n  requires {\n  }\n}\n", "expected the text of a condition, found '{'"},
        {"kernel @k() {\n}\nfunc @k() {\n}\n", "3:7: function 'k' is defined twice"},
        {"kernel @k(x: f32) {\n}\n", "1:11: expected a parameter '%name', found 'x'"},
        {"kernel @k(%1: f32) {\n}\n", "1:11: expected a parameter '%name', found '%1'"},
        {"kernel @k(%x f32) {\n}\n", "expected ':' after a parameter's name, found 'f32'"},
        {"kernel @k(%x: f32, %x: f32) {\n}\n", "1:20: parameter 'x' is named twice"},
        {"kernel @k(%x: f32 %y: f32) {\n}\n", "expected ')' after the parameters, found '%y'"},
        {"kernel @k(%x: strided f32) {\n}\n", "expected 'view', found 'f32'"},
        {"kernel @k(%x: view f32) {\n}\n", "expected '[' before a view's extents, found ')'"},
        {"kernel @k(%x: view f32[-1]) {\n}\n", "expected an extent from 0 to"},
        {"kernel @k(%x: view f32[N) {\n}\n", "expected ']' after a view's extents, found ')'"},
        {"kernel @k(%x: view f32[A, B, C, D, E, F]) {\n}\n", "a view has at most 5 dimensions"},
        {"kernel @k(%x: f32 {max = 1}) {\n}\n", "expected both min and max, found only max"},
        {"kernel @k(%x: f32 {min = 1}) {\n}\n", "expected both min and max, found only min"},
        {"kernel @k(%x: f32 {divisor = 0}) {\n}\n", "expected a divisor from 1 to"},
        {"kernel @k(%x: f32 {size = 0}) {\n}\n", "a parameter has no attribute 'size'"},
        {"kernel @k() {level = any} {\n}\n",
         "expected a level: tile, gpu, cpu_tile, cpu_nest, cpu or thread, found 'any'"},
        {"kernel @k() {math = [fast]} {\n}\n", "expected contract, approx or wrap, found 'fast'"},
        {"kernel @k() {math = fast} {\n}\n", "expected '[' before a list, found 'fast'"},
        {"kernel @k() {math = [approx} {\n}\n", "expected ']' after a list, found '}'"},
        {"kernel @k() {warps = 0} {\n}\n", "expected a number from 1 to 1024, found 0"},
        {"kernel @k() {speed = 1} {\n}\n", "a function has no attribute 'speed'"},
        {"kernel @k(%x: view f16[M]) {maps = [y [0] box [8]]} {\n}\n", "unknown parameter 'y'"},
        {"kernel @k(%x: view f16[M]) {maps = [x [0] 8]} {\n}\n", "expected 'box'"},
        {"kernel @k(%x: view f16[M]) {maps = [x [0] box [8, 8]]} {\n}\n",
         "expected as many numbers of a box as dimensions"},
        {"kernel @k(%x: view f16[M]) {maps = [x [0, 1, 2, 3, 4, 5] box [8]]} {\n}\n",
         "expected ']', as no view has more dimensions"},
        {"kernel @k() {warps = 1, 2} {\n}\n", "expected the name of an attribute, found '2'"},
        {"kernel @k() {bind = [T]} {\n}\n", "expected '=' after the name of a binding"},
        {"kernel @k() {bind = [1]} {\n}\n", "expected the name of a binding, found '1'"},
        {"kernel @k() {bind = [T = f1]} {\n}\n", "unknown type 'f1'"},
        {"kernel @k() {facts = [N divisor 1]} {\n}\n", "unknown extent 'N'"},
        {"kernel @k() {extents = [1]} {\n}\n", "expected an extent, found '1'"},
        {"func @f() -> {\n}\n", "expected an element type, found '{'"},
    };
    for (size_t i = 0; i < sizeof bads / sizeof bads[0]; i++) expect_bad(&bads[i], false);
}

// `depth` ifs, one in the other.
static const char *nested(Fixture *f, int depth) {
    StrBuf text = strbuf(f->arena);
    strbuf_add(&text, STR("kernel @k(%c: bool) {\n  body {\n"));
    for (int i = 0; i < depth; i++) strbuf_add(&text, STR("if %c {\n"));
    for (int i = 0; i < depth; i++) strbuf_add(&text, STR("yield\n} {\nyield\n}\n"));
    strbuf_add(&text, STR("return\n}\n}\n"));
    return text.text;
}

static void nesting_has_a_limit(void **state) {
    (void)state;
    Fixture f = fixture_create();
    IrModule *m = fixture_parse(&f, nested(&f, IR_MAX_DEPTH));
    if (!m) fail_msg("%s", fixture_messages(&f));
    if (!ir_verify(m, f.diags)) fail_msg("%s", fixture_messages(&f));
    IrFunc *twin = ir_func_clone(m->funcs.data[0], fixture_name(&f, "twin"));
    Arena *scratch = arena_create();
    assert_true(ir_verify_func(twin, scratch, f.diags));
    arena_destroy(scratch);
    assert_null(fixture_parse(&f, nested(&f, 100000)));
    expect_message(&f, "regions are nested more than 400 deep [too-deep]");
    assert_int_equal(diags_errors(f.diags), 1);
    fixture_destroy(&f);
}

static void too_many_parameters(void **state) {
    (void)state;
    Fixture f = fixture_create();
    StrBuf text = strbuf(f.arena);
    strbuf_add(&text, STR("kernel @k(%x: f32"));
    for (int i = 1; i < IR_MAX_PARAMS + 1; i++) strbuf_printf(&text, ", %%x%d: f32", i);
    strbuf_add(&text, STR(") {\n  body {\n    return\n  }\n}\n"));
    assert_null(fixture_parse_str(&f, strbuf_str(&text)));
    expect_message(&f, "a function has at most 256 parameters [too-large]");
    fixture_destroy(&f);
}

static void one_op_prints_as_a_line(void **state) {
    (void)state;
    Fixture f = fixture_create();
    IrModule *m = fixture_parse(&f,
                                "kernel @k(%a: f32) {\n  body {\n    %0 = neg %a : f32\n"
                                "    %1 = neg %0 : f32\n    return\n  }\n}\n");
    assert_non_null(m);
    IrOp *op = ir_body(m->funcs.data[0])->first->next;
    StrBuf out = strbuf(f.arena);
    ir_print_op(op, &out);
    assert_string_equal(out.text, "%1 = neg %0 : f32");
    ir_erase(op);
    out.size = 0;
    ir_print_op(op, &out);
    assert_string_equal(out.text, "(erased) neg");
    fixture_destroy(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_round_trips),
        cmocka_unit_test(functions_keep_all_they_hold),
        cmocka_unit_test(facts_are_read),
        cmocka_unit_test(literals_keep_their_bits),
        cmocka_unit_test(mistakes_in_ops_are_told),
        cmocka_unit_test(mistakes_in_functions_are_told),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(too_many_parameters),
        cmocka_unit_test(one_op_prints_as_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
