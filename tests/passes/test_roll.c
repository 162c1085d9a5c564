// roll: which runs become loops, and that kernels print, store and compute the same.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "passes/pass.h"
#include "tests/support/tir.h"

// A body that is repeated. Its values are #2 to #9; <2 is that of the iteration before, and ~2 that
// of two before; I is the number of the iteration, Q its square. Before the first iteration <2 is
// %x[0], and <3 is %n + 7.
typedef struct Case {
    const char *name, *body;
    int iterations;
    int loops;  // that there are afterwards
} Case;

#define LOAD "#5 = const {value = I} : i64\n#6 = view_load %x, _, #5 {select = [0]} : i32\n"
#define SUM                                                                                    \
    LOAD "#7 = mul #6, #6 : i32\n#8 = xor #7, <2 : i32\n#9 = neg #8 : i32\n#2 = add #9, <2 : " \
         "i32\n"

static const Case cases[] = {
    {"a sum", SUM, 130, 1},
    {"as few as are rolled", SUM, 100, 1},
    {"too few", SUM, 99, 0},
    {"too short", LOAD "#2 = add <2, #6 : i32\n", 120, 0},
    {"stores",
     LOAD "#7 = mul #6, #6 : i32\nview_store %x, #7, _, #5 {select = [0]}\n"
          "#8 = neg #7 : i32\n#2 = add #8, <2 : i32\n",
     130, 1},
    {"prints", SUM "print #5, #2 {texts = [\"\", \" \", \"\"]}\n", 130, 1},
    {"texts that differ", SUM "print #2 {texts = [\"I \", \"\"]}\n", 130, 0},
    {"regions",
     LOAD "#7 = lt #6, <2 : bool\n#2 = if #7 : i32 {\n#8 = const {value = I} : i32\n"
          "#9 = add #8, <2 : i32\nyield #9\n} {\nprint #6 {texts = [\"\", \"\"]}\nyield <2\n}\n",
     130, 1},
    {"loops",
     "#5 = const {value = 3} : i64\n#6 = const {value = 0} : i64\n#7 = const {value = 1} : i64\n"
     "#2 = for #6, #5, #7, <2 : i32 (#8: i64, #9: i32) {\n#4 = cast #8 : i32\n"
     "#1 = add #9, #4 : i32\nyield #1\n}\n#3 = neg #2 : i32\n",
     130, 3},
    {"values that swap",
     "#5 = neg <3 : i32\n#6 = not #5 : i32\n#7 = neg #6 : i32\n#2 = not #7 : i32\n"
     "#8 = neg <2 : i32\n#3 = not #8 : i32\n",
     130, 1},
    {"whole floats",
     LOAD "#7 = const {value = I.0} : f32\n#8 = cast #6 : f32\n#9 = mul #7, #8 : f32\n"
          "#3 = cast #9 : i32\n#2 = add #3, <2 : i32\n",
     130, 1},
    {"tiles of numbers",
     LOAD "#7 = const {value = I.0} : f32[4]\n#8 = cast <2 : f32\n#9 = broadcast #8 : f32[4]\n"
          "#4 = add #7, #9 : f32[4]\nprint #4 {texts = [\"\", \"\"]}\n#2 = add #6, <2 : i32\n",
     130, 1},
    {"floats with a fraction",
     LOAD "#7 = const {value = I.25} : f32\n#8 = cast #6 : f32\n#9 = mul #7, #8 : f32\n"
          "#3 = cast #9 : i32\n#2 = add #3, <2 : i32\n",
     130, 0},
    {"squares",
     "#5 = const {value = Q} : i32\n#6 = add #5, <2 : i32\n#7 = neg #6 : i32\n"
     "#8 = xor #7, <2 : i32\n#2 = not #8 : i32\n",
     130, 0},
    {"two iterations before",
     "#5 = neg <2 : i32\n#6 = xor #5, <2 : i32\n#7 = not #6 : i32\n#8 = neg #7 : i32\n"
     "#2 = add #8, ~2 : i32\n",
     130, 0},
    {"one value of all iterations",
     "#5 = neg <2 : i32\n#6 = xor #5, %n : i32\n#7 = not #6 : i32\n#8 = neg #7 : i32\n"
     "#2 = add #8, <2 : i32\n",
     130, 1},
};

#define HEAD                                                                        \
    "kernel @k(%x: view i32[N], %n: i32) { body {\n%0 = const {value = 0} : i64\n"  \
    "%1 = const {value = 7} : i32\n%2 = view_load %x, _, %0 {select = [0]} : i32\n" \
    "%3 = add %1, %n : i32\n"
enum { IDS = 10, ELEMENTS = 160 };

static void add_value(StrBuf *b, char kind, char digit, int i) {
    int at = kind == '#' ? i : kind == '<' ? i - 1 : i - 2, n = digit - '0';
    strbuf_printf(b, "%%%d", at < 0 ? n : (at + 1) * IDS + n);
}

static void add_body(StrBuf *b, const Case *c, int i) {
    for (const char *p = c->body; *p; p++) {
        if (strchr("#<~", *p)) {
            add_value(b, p[0], p[1], i);
            p++;
        } else if (*p == 'I') {
            strbuf_printf(b, "%d", i);
        } else if (*p == 'Q') {
            strbuf_printf(b, "%d", i * i);
        } else {
            strbuf_char(b, *p);
        }
    }
}

static const char *text_of(Arena *arena, const Case *c) {
    StrBuf b = strbuf(arena);
    strbuf_printf(&b, "%s", HEAD);
    for (int i = 0; i < c->iterations; i++) add_body(&b, c, i);
    strbuf_printf(&b, "print %%%d {texts = [\"\", \"\"]}\nreturn\n} }\n", c->iterations * IDS + 2);
    return b.text;
}

static int loops_in(const IrBlock *block) {
    int count = 0;
    for (const IrOp *op = block->first; op; op = op->next) {
        count += op->code == IR_FOR;
        for (uint32_t i = 0; i < op->region_count; i++) count += loops_in(op->regions[i]);
    }
    return count;
}

static void roll(Tir *t) {
    static const PassStep steps[] = {{PASS_ROLL, "what is tested"}};
    PassTimings timings = {0};
    PassOptions o = {.verify = true, .timings = &timings};
    if (!passes_run(t->module, steps, 1, &o, t->diags)) fail_msg("%s", tir_text(t));
    ir_interp_destroy(t->interp);
    t->interp = ir_interp_create(t->arena, t->module->funcs.data[0]);
}

static void run(Tir *t, int32_t *x) {
    int64_t extents[] = {ELEMENTS};
    for (int i = 0; i < ELEMENTS; i++) x[i] = i * i % 41 - 20;
    IrArg args[] = {tir_view(x, 1, extents), tir_scalar(13)};
    assert_int_equal(tir_run(t, args, 2, 1), IR_RUN_DONE);
}

static void runs_become_loops(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        Arena *arena = arena_create();
        const char *text = text_of(arena, c);
        Tir *plain = tir_load("%s", text), *rolled = tir_load("%s", text);
        int32_t x[ELEMENTS], y[ELEMENTS];
        roll(rolled);
        int loops = loops_in(ir_body(rolled->module->funcs.data[0]));
        if (loops != c->loops) fail_msg("%s: %d loops, not %d", c->name, loops, c->loops);
        run(plain, x);
        run(rolled, y);
        if (strcmp(plain->printed.text, rolled->printed.text) != 0)
            fail_msg("%s prints\n%sand not\n%s", c->name, rolled->printed.text,
                     plain->printed.text);
        assert_memory_equal(x, y, sizeof x);
        tir_free(plain);
        tir_free(rolled);
        arena_destroy(arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_become_loops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
