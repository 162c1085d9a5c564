// Bounds: dimensions that must be marked, and, more important, those that must not.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ir/edit.h"
#include "tests/support/pass_world.h"

typedef struct Bounds {
    const char *name;
    const char *head;    // extents' facts and requires
    const char *body;    // with one or more view_loads of %x
    const char *inside;  // of the loads in order: "1", "0", or "10" for two dimensions
} Bounds;

static const char requires_k32[] =
    "  requires \"K % 32 == 0\" {\n"
    "    %0 = extent {extent = K} : i64\n"
    "    %1 = const {value = 32} : i64\n"
    "    %2 = rem %0, %1 : i64\n"
    "    %3 = const {value = 0} : i64\n"
    "    %4 = eq %2, %3 : bool\n"
    "    yield %4\n"
    "  }\n";

static const char requires_k_at_least_32[] =
    "  requires \"K >= 32\" {\n"
    "    %0 = extent {extent = K} : i64\n"
    "    %1 = const {value = 32} : i64\n"
    "    %4 = ge %0, %1 : bool\n"
    "    yield %4\n"
    "  }\n";

#define LOOP(lo, step, load)                    \
    "    %20 = const {value = " lo              \
    "} : i64\n"                                 \
    "    %21 = extent {extent = K} : i64\n"     \
    "    %22 = const {value = " step            \
    "} : i64\n"                                 \
    "    for %20, %21, %22 (%23: i64) {\n" load \
    "      yield\n"                             \
    "    }\n"

static const Bounds cases[] = {
    {"a loop by steps that divide the extent", requires_k32,
     LOOP("0", "32", "      %24 = view_load %x, _, %23 {select = [32]} : f32[32]\n"), "1"},
    {"the same without the requires", "",
     LOOP("0", "32", "      %24 = view_load %x, _, %23 {select = [32]} : f32[32]\n"), "0"},
    {"a tile wider than the step", requires_k32,
     LOOP("0", "32", "      %24 = view_load %x, _, %23 {select = [64]} : f32[64]\n"), "0"},
    {"a step that the extent need not be a multiple of", requires_k32,
     LOOP("0", "64", "      %24 = view_load %x, _, %23 {select = [64]} : f32[64]\n"), "0"},
    {"from an offset that breaks the steps", requires_k32,
     LOOP("8", "32", "      %24 = view_load %x, _, %23 {select = [32]} : f32[32]\n"), "0"},
    {"steps of 16 in multiples of 32, twice 16", requires_k32,
     LOOP("0", "16", "      %24 = view_load %x, _, %23 {select = [16]} : f32[16]\n"), "1"},
    {"from below zero", requires_k32,
     LOOP("-32", "32", "      %24 = view_load %x, _, %23 {select = [32]} : f32[32]\n"), "0"},
    {"a single element in a loop", "",
     LOOP("0", "1", "      %24 = view_load %x, _, %23 {select = [0]} : f32\n"), "1"},
    {"one past it", "",
     LOOP("0", "1",
          "      %25 = const {value = 1} : i64\n"
          "      %26 = add %23, %25 : i64\n"
          "      %24 = view_load %x, _, %26 {select = [0]} : f32\n"),
     "0"},
    {"a constant place under an extent's least", requires_k_at_least_32,
     "    %20 = const {value = 0} : i64\n"
     "    %21 = view_load %x, _, %20 {select = [32]} : f32[32]\n"
     "    %22 = view_load %x, _, %20 {select = [64]} : f32[64]\n"
     "    %23 = const {value = 31} : i64\n"
     "    %24 = view_load %x, _, %23 {select = [0]} : f32\n"
     "    %25 = const {value = 32} : i64\n"
     "    %26 = view_load %x, _, %25 {select = [0]} : f32\n"
     "    %27 = const {value = -1} : i64\n"
     "    %28 = view_load %x, _, %27 {select = [0]} : f32\n",
     "10100"},
    {"tile indices", requires_k_at_least_32,
     "    %20 = iota : i32[32]\n"
     "    %21 = view_load %x, _, %20 {select = [0]} : f32[32]\n"
     "    %22 = const {value = 1} : i32[32]\n"
     "    %23 = add %20, %22 : i32[32]\n"
     "    %24 = view_load %x, _, %23 {select = [0]} : f32[32]\n",
     "10"},
    {"a program id is never outside below, and unknown above", "",
     "    %20 = program {dim = 0} : i64\n"
     "    %21 = view_load %x, _, %20 {select = [0]} : f32\n",
     "0"},
    {"a guard", "",
     "    %20 = program {dim = 0} : i64\n"
     "    %21 = const {value = 32} : i64\n"
     "    %22 = mul %20, %21 : i64\n"
     "    %23 = add %22, %21 : i64\n"
     "    %24 = extent {extent = K} : i64\n"
     "    %25 = le %23, %24 : bool\n"
     "    if %25 {\n"
     "      %26 = view_load %x, _, %22 {select = [32]} : f32[32]\n"
     "      %27 = view_load %x, _, %22 {select = [64]} : f32[64]\n"
     "      yield\n"
     "    } {\n"
     "      %28 = view_load %x, _, %22 {select = [32]} : f32[32]\n"
     "      yield\n"
     "    }\n"
     "    %29 = view_load %x, _, %22 {select = [32]} : f32[32]\n",
     "1000"},
    {"a guard on the first element is enough where blocks divide the extent", requires_k32,
     "    %20 = program {dim = 0} : i64\n"
     "    %21 = const {value = 32} : i64\n"
     "    %22 = mul %20, %21 : i64\n"
     "    %24 = extent {extent = K} : i64\n"
     "    %25 = lt %22, %24 : bool\n"
     "    if %25 {\n"
     "      %26 = view_load %x, _, %22 {select = [32]} : f32[32]\n"
     "      yield\n"
     "    } {\n"
     "      yield\n"
     "    }\n",
     "1"},
    {"a guard on a sum that may wrap proves nothing", "",
     "    %21 = const {value = 32} : i64\n"
     "    %23 = add %n, %21 : i64\n"
     "    %24 = extent {extent = K} : i64\n"
     "    %25 = le %23, %24 : bool\n"
     "    %30 = const {value = 0} : i64\n"
     "    %31 = ge %n, %30 : bool\n"
     "    %32 = and %25, %31 : bool\n"
     "    if %32 {\n"
     "      %26 = view_load %x, _, %n {select = [32]} : f32[32]\n"
     "      yield\n"
     "    } {\n"
     "      yield\n"
     "    }\n",
     "0"},
    {"the same guard as a difference", "",
     "    %21 = const {value = 32} : i64\n"
     "    %24 = extent {extent = K} : i64\n"
     "    %23 = sub %24, %21 : i64\n"
     "    %25 = le %n, %23 : bool\n"
     "    %30 = const {value = 0} : i64\n"
     "    %31 = ge %n, %30 : bool\n"
     "    %32 = and %25, %31 : bool\n"
     "    if %32 {\n"
     "      %26 = view_load %x, _, %n {select = [32]} : f32[32]\n"
     "      yield\n"
     "    } {\n"
     "      yield\n"
     "    }\n",
     "1"},
    {"an or says something where it does not hold", "",
     "    %24 = extent {extent = K} : i64\n"
     "    %25 = ge %n, %24 : bool\n"
     "    %30 = const {value = 0} : i64\n"
     "    %31 = lt %n, %30 : bool\n"
     "    %32 = or %25, %31 : bool\n"
     "    if %32 {\n"
     "      %26 = view_load %x, _, %n {select = [0]} : f32\n"
     "      yield\n"
     "    } {\n"
     "      %27 = view_load %x, _, %n {select = [0]} : f32\n"
     "      yield\n"
     "    }\n",
     "01"},
    {"an assume removes no check", "",
     "    %24 = extent {extent = K} : i64\n"
     "    %25 = lt %n, %24 : bool\n"
     "    %30 = const {value = 0} : i64\n"
     "    %31 = ge %n, %30 : bool\n"
     "    %32 = and %25, %31 : bool\n"
     "    assume %32\n"
     "    %26 = view_load %x, _, %n {select = [0]} : f32\n",
     "0"},
    {"an assert does, after it", "",
     "    %24 = extent {extent = K} : i64\n"
     "    %25 = lt %n, %24 : bool\n"
     "    %30 = const {value = 0} : i64\n"
     "    %31 = ge %n, %30 : bool\n"
     "    %32 = and %25, %31 : bool\n"
     "    %27 = view_load %x, _, %n {select = [0]} : f32\n"
     "    assert %32 {text = \"\"}\n"
     "    %26 = view_load %x, _, %n {select = [0]} : f32\n",
     "01"},
    {"the condition of a while", "",
     "    %20 = const {value = 0} : i64\n"
     "    %21 = const {value = 1} : i64\n"
     "    %22 = while %20 : i64 (%23: i64) {\n"
     "      %24 = extent {extent = K} : i64\n"
     "      %25 = lt %23, %24 : bool\n"
     "      yield %25\n"
     "    } (%26: i64) {\n"
     "      %27 = view_load %x, _, %26 {select = [0]} : f32\n"
     "      %28 = add %26, %21 : i64\n"
     "      %29 = view_load %x, _, %28 {select = [0]} : f32\n"
     "      yield %28\n"
     "    }\n",
     "10"},
    {"a clamp to the extent", requires_k_at_least_32,
     "    %20 = extent {extent = K} : i64\n"
     "    %21 = const {value = 1} : i64\n"
     "    %22 = sub %20, %21 : i64\n"
     "    %23 = min %n, %22 : i64\n"
     "    %24 = const {value = 0} : i64\n"
     "    %25 = max %23, %24 : i64\n"
     "    %26 = view_load %x, _, %25 {select = [0]} : f32\n"
     "    %27 = select %c, %24, %22 : i64\n"
     "    %28 = view_load %x, _, %27 {select = [0]} : f32\n"
     "    %29 = select %c, %24, %20 : i64\n"
     "    %30 = view_load %x, _, %29 {select = [0]} : f32\n"
     "    %31 = view_load %x, _, %23 {select = [0]} : f32\n",
     "1100"},
    {"a rest by the extent's quotient", "",
     "    %20 = extent {extent = K} : i64\n"
     "    %21 = const {value = 32} : i64\n"
     "    %22 = div %20, %21 : i64\n"
     "    %23 = const {value = 0} : i64\n"
     "    %24 = const {value = 1} : i64\n"
     "    for %23, %22, %24 (%25: i64) {\n"
     "      %26 = mul %25, %21 : i64\n"
     "      %27 = view_load %x, _, %26 {select = [32]} : f32[32]\n"
     "      yield\n"
     "    }\n",
     "1"},
    {"rounded up, the last block is outside", "",
     "    %20 = extent {extent = K} : i64\n"
     "    %21 = const {value = 32} : i64\n"
     "    %28 = const {value = 31} : i64\n"
     "    %29 = add %20, %28 : i64\n"
     "    %22 = div %29, %21 : i64\n"
     "    %23 = const {value = 0} : i64\n"
     "    %24 = const {value = 1} : i64\n"
     "    for %23, %22, %24 (%25: i64) {\n"
     "      %26 = mul %25, %21 : i64\n"
     "      %27 = view_load %x, _, %26 {select = [32]} : f32[32]\n"
     "      yield\n"
     "    }\n",
     "0"},
    {"backwards", "",
     "    %20 = extent {extent = K} : i64\n"
     "    %21 = const {value = 1} : i64\n"
     "    %22 = sub %20, %21 : i64\n"
     "    %23 = const {value = -1} : i64\n"
     "    for %22, %23, %23 {down = true} (%25: i64) {\n"
     "      %27 = view_load %x, _, %25 {select = [0]} : f32\n"
     "      yield\n"
     "    }\n",
     "1"},
    {"a carried index that grows is not known above", "",
     "    %20 = const {value = 0} : i64\n"
     "    %21 = extent {extent = K} : i64\n"
     "    %22 = const {value = 1} : i64\n"
     "    %23 = for %20, %21, %22, %20 : i64 (%24: i64, %25: i64) {\n"
     "      %26 = view_load %x, _, %25 {select = [0]} : f32\n"
     "      %27 = add %25, %22 : i64\n"
     "      %28 = add %27, %22 : i64\n"
     "      yield %28\n"
     "    }\n",
     "0"},
};

static void collect(const IrBlock *block, char *out) {
    IR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->region_count; i++) collect(op->regions[i], out);
        if (op->code != IR_VIEW_LOAD) continue;
        const IrAttr *inside = ir_attr(op, IR_ATTR_INSIDE);
        bool yes = inside->u.ints.count > 0 && inside->u.ints.items[0];
        strcat(out, yes ? "1" : "0");
    }
}

static void check_one(const Bounds *c) {
    PassWorld w = pass_world();
    StrBuf text = strbuf(w.arena);
    strbuf_printf(
        &text,
        "kernel @k(%%x: view f32[K], %%n: i64, %%c: bool) {\n%s  body {\n%s    return\n  }\n}\n",
        c->head, c->body);
    IrModule *m = pass_parse(&w, text.text);
    pass_run(&w, m, "bounds");
    char found[64] = "";
    collect(ir_body(m->funcs.data[0]), found);
    if (strcmp(found, c->inside) != 0) {
        fail_msg("%s: expected %s, found %s\n%s", c->name, c->inside, found, pass_print(&w, m));
    }
    assert_false(pass_run(&w, m, "bounds"));
    pass_world_free(&w);
}

static void marks_what_is_proven(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) check_one(&cases[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(marks_what_is_proven)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
