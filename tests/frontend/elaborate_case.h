// A Tile kernel elaborated, printed and run on the interpreter: for tests of the elaborator.
//
// Invariants: what elaborates also verifies (a test fails otherwise).
//
//     elaborate_prints("{ x[0] = 1.0; }", "…");   // the body's IR
//     elaborate_gives("y[0] = 7 % 4;", 1, (int64_t[]){3});
#ifndef TILEC_TESTS_FRONTEND_ELABORATE_CASE_H
#define TILEC_TESTS_FRONTEND_ELABORATE_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "frontend/tile/internal.h"
#include "ir/interp/interp.h"
#include "ir/text/text.h"
#include "ir/verify/verify.h"
#include "tests/support/tile_text.h"

// The first kernel of a source, elaborated and verified; the test fails on errors.
typedef struct Elaborated {
    TileText text;
    IrModule *module;
    IrFunc *func;
} Elaborated;

static Elaborated elaborated(const char *source, const FrontSpec *spec) {
    Elaborated out = {.text = tile_text(source)};
    TileText *t = &out.text;
    if (diags_errors(t->diags)) fail_msg("%s\n%s", source, tile_text_diags(t));
    out.module = ir_module_create(t->arena, t->sources, t->names);
    out.func = tile_elaborate(t->file, out.module, tile_kernel(t->file, 0), spec, t->diags);
    if (!out.func) fail_msg("%s\n%s", source, tile_text_diags(t));
    if (!ir_verify(out.module, t->diags)) fail_msg("%s\n%s", source, tile_text_diags(t));
    return out;
}

static void elaborated_free(Elaborated *e) { tile_text_free(&e->text); }

// Runs statements as the body of a kernel with one program: i64 y[N] begins as zeros, f32 x[M] as
// 0, 1, 2 …, i64 s is 5. `head` holds declarations before the kernel.
enum { CASE_X = 16, CASE_Y = 64 };

__attribute__((unused)) static void gives(const char *head, const char *body, size_t count,
                                          const int64_t *expected) {
    char source[8192];
    int size =
        snprintf(source, sizeof source,
                 "%s\nkernel k(i64 y[N], f32 x[M], i64 s) grid(1)\n{\n%s\nx[0] = x[0]; y[63] "
                 "= s;\n}\n",
                 head, body);
    assert_true(size > 0 && (size_t)size < sizeof source);
    Elaborated e = elaborated(source, NULL);
    int64_t y[CASE_Y] = {0};
    float x[CASE_X];
    for (int i = 0; i < CASE_X; i++) x[i] = (float)i;
    IrArg args[3] = {
        {.data = y, .extent = {CASE_Y}, .stride = {1}, .base = y, .size = sizeof y},
        {.data = x, .extent = {CASE_X}, .stride = {1}, .base = x, .size = sizeof x},
        {.bits = 5},
    };
    IrLaunch launch = {.args = args, .arg_count = 3, .grid = {1, 1, 1}, .step_limit = 1000000};
    IrInterp *interp = ir_interp_create(e.text.arena, e.func);
    IrOutcome outcome = ir_interp_run(interp, &launch, e.text.diags);
    if (outcome != IR_RUN_DONE)
        fail_msg("outcome %d of\n%s\n%s", (int)outcome, body, tile_text_diags(&e.text));
    for (size_t i = 0; i < count; i++) {
        if (y[i] == expected[i]) continue;
        fail_msg("y[%zu] is %lld, not %lld, after\n%s", i, (long long)y[i], (long long)expected[i],
                 body);
    }
    ir_interp_destroy(interp);
    elaborated_free(&e);
}

#define GIVES(head, body, ...) \
    gives(head, body, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

#endif
