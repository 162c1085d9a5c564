// Json: what is written, and which texts are read.
#include "base/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void writes_commas_and_quotes(void **state) {
    (void)state;
    Arena *a = arena_create();
    StrBuf b = strbuf(a);
    Json j = json_begin(&b);
    json_open(&j, '{');
    json_key(&j, "list");
    json_open(&j, '[');
    json_int(&j, INT64_MIN);
    json_uint(&j, UINT64_MAX);
    json_double(&j, 0.5);
    json_double(&j, -(double)INFINITY);
    json_double(&j, (double)NAN);
    json_open(&j, '[');
    json_close(&j, ']');
    json_open(&j, '{');
    json_close(&j, '}');
    json_close(&j, ']');
    json_key(&j, "a\"b");
    json_str(&j, STR("x\ny"));
    json_key(&j, "t");
    json_bool(&j, true);
    json_key(&j, "f");
    json_bool(&j, false);
    json_key(&j, "n");
    json_null(&j);
    json_key(&j, "raw");
    json_raw(&j, STR("[1]"));
    json_close(&j, '}');
    assert_string_equal(b.text,
                        "{\"list\":[-9223372036854775808,18446744073709551615,0.5,\"-inf\","
                        "\"nan\",[],{}],\"a\\\"b\":\"x\\ny\",\"t\":true,\"f\":false,\"n\":null,"
                        "\"raw\":[1]}");
    assert_non_null(json_parse(a, strbuf_str(&b), NULL));
    arena_destroy(a);
}

static void reads_a_document(void **state) {
    (void)state;
    Arena *a = arena_create();
    const JsonValue *v = json_parse(
        a, STR(" { \"a\" : [1, -2.5e1 ,true,false,null] , \"b\":{\"c\":\"d\"}, \"e\":\"\" } "),
        NULL);
    assert_non_null(v);
    const JsonValue *list = json_get(v, "a");
    assert_int_equal(list->kind, JSON_ARRAY);
    const JsonValue *e = list->first;
    assert_true(e->kind == JSON_NUMBER && e->number == 1);
    e = e->next;
    assert_true(e->number == -25);
    e = e->next;
    assert_true(e->kind == JSON_BOOL && e->boolean);
    e = e->next;
    assert_true(e->kind == JSON_BOOL && !e->boolean);
    e = e->next;
    assert_true(e->kind == JSON_NULL && !e->next);
    assert_true(str_equal(json_get(json_get(v, "b"), "c")->string, STR("d")));
    assert_int_equal(json_get(v, "e")->string.size, 0);
    assert_null(json_get(v, "z"));
    assert_null(json_get(list, "a"));
    assert_null(json_get(NULL, "a"));
    arena_destroy(a);
}

static void reads_escapes(void **state) {
    (void)state;
    Arena *a = arena_create();
    const JsonValue *v = json_parse(
        a, STR("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\ud83d\\ude00\\u0000\""), NULL);
    assert_non_null(v);
    assert_true(
        str_equal(v->string, STR("\"\\/\b\f\n\r\tA\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\0")));
    arena_destroy(a);
}

static void strings_return(void **state) {
    (void)state;
    Arena *a = arena_create();
    char text[127];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)i;
    StrBuf b = strbuf(a);
    strbuf_quoted(&b, (Str){text, sizeof text});
    const JsonValue *v = json_parse(a, strbuf_str(&b), NULL);
    assert_non_null(v);
    assert_true(str_equal(v->string, (Str){text, sizeof text}));
    arena_destroy(a);
}

static void refuses_what_is_no_json(void **state) {
    (void)state;
    const char *const texts[] = {
        "",
        "  ",
        "{",
        "}",
        "[1",
        "[1,]",
        "{\"a\"}",
        "{\"a\":}",
        "{a:1}",
        "{\"a\":1,}",
        "[1 2]",
        "1 2",
        "tru",
        "nul",
        "+1",
        "01",
        "1.",
        ".5",
        "1e",
        "-",
        "0x10",
        "inf",
        "nan",
        "\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\\u12\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\"a\nb\"",
        "[1}",
        "{\"a\":1]",
        "\"\\",
        "\"\\u\x10\x10\x10\x10\"",
        "1_0",
    };
    Arena *a = arena_create();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        size_t where = 1000;
        if (json_parse(a, str(texts[i]), &where)) fail_msg("'%s' is read", texts[i]);
        assert_true(where <= strlen(texts[i]));
    }
    size_t where = 0;
    assert_null(json_parse(a, STR("[1, x]"), &where));
    assert_int_equal(where, 4);
    assert_null(json_parse(a, STR("1\0"), &where));
    arena_destroy(a);
}

static void nesting_is_bounded(void **state) {
    (void)state;
    Arena *a = arena_create();
    static char deep[200000];
    memset(deep, '[', sizeof deep);
    assert_null(json_parse(a, (Str){deep, sizeof deep}, NULL));
    memset(deep + 64, ']', 64);
    assert_non_null(json_parse(a, (Str){deep, 128}, NULL));
    assert_null(json_parse(a, (Str){deep, 127}, NULL));
    memset(deep + 65, ']', 65);
    deep[64] = '[';
    assert_null(json_parse(a, (Str){deep, 130}, NULL));
    arena_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_commas_and_quotes),
        cmocka_unit_test(reads_a_document),
        cmocka_unit_test(reads_escapes),
        cmocka_unit_test(strings_return),
        cmocka_unit_test(refuses_what_is_no_json),
        cmocka_unit_test(nesting_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
