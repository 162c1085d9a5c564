// Every pass, and the pipeline, keeps what random kernels print, and where they stop.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "passes/pass.h"
#include "tests/support/random_kernel.h"
#include "tests/support/slice.h"

enum { KERNELS = 120, SLICES = 16, LAUNCHES = 5, STEPS = 20000 };

typedef struct Output {
    StrBuf text;
    IrOutcome outcome;
    bool satisfied;
} Output;

static void take_line(void *user, Str line) {
    Output *out = user;
    strbuf_add(&out->text, line);
    strbuf_char(&out->text, '\n');
}

static Output run(PassWorld *w, IrFunc *f, const IrArg *args) {
    Output out = {.text = strbuf(w->arena)};
    IrInterp *interp = ir_interp_create(w->arena, f);
    IrLaunch launch = {.args = args, .arg_count = RANDOM_ARGS, .grid = {3, 1, 1}};
    launch.step_limit = STEPS;
    launch.print = take_line;
    launch.user = &out;
    out.satisfied = random_satisfied(interp, f, &launch);
    if (out.satisfied) out.outcome = ir_interp_run(interp, &launch, w->diags);
    ir_interp_destroy(interp);
    return out;
}

// After passes there may be fewer steps: then one text is the beginning of the other.
static bool agree(const Output *a, const Output *b) {
    if (a->satisfied != b->satisfied) return false;
    if (!a->satisfied) return true;
    Str x = strbuf_str(&a->text), y = strbuf_str(&b->text);
    if (a->outcome == IR_RUN_LIMIT || b->outcome == IR_RUN_LIMIT) {
        return x.size < y.size ? str_starts(y, x) : str_starts(x, y);
    }
    return a->outcome == b->outcome && str_equal(x, y);
}

static int compare(uint64_t seed, const char *passes, const char *text) {
    static float data[RANDOM_ELEMENTS];
    PassWorld w = pass_world();
    IrModule *plain = pass_parse(&w, text), *passed = pass_parse(&w, text);
    pass_run(&w, passed, passes);
    uint64_t state = seed;
    int told = 0;
    for (int i = 0; i < LAUNCHES; i++) {
        IrArg args[RANDOM_ARGS];
        random_arguments(&state, data, args);
        Output a = run(&w, plain->funcs.data[0], args), b = run(&w, passed->funcs.data[0], args);
        told += a.satisfied && a.outcome == IR_RUN_DONE && a.text.size > 0;
        if (agree(&a, &b)) continue;
        fail_msg("seed %llu, %s, M = %lld, n = %lld, c = %d\n%s\n%s\nbefore:\n%s\nafter:\n%s",
                 (unsigned long long)seed, passes, (long long)args[0].extent[0],
                 (long long)args[1].bits, (int)args[2].bits, text, pass_print(&w, passed),
                 a.text.text, b.text.text);
    }
    pass_world_free(&w);
    return told;
}

static void passes_keep_what_kernels_print(void **state) {
    (void)state;
    int told = 0;
    uint64_t first = 1 + slice_begin(SLICES, KERNELS);
    for (uint64_t seed = first; seed < first + KERNELS; seed++) {
        PassWorld w = pass_world();
        IrFunc *f = random_kernel(&w, seed, true);
        const char *text = pass_print(&w, f->module);
        told += compare(seed, "tile", text);
        told += compare(seed, pass_info((PassId)(seed % PASSES))->text, text);
        pass_world_free(&w);
    }
    assert_true(told > KERNELS);  // runs that end and print
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(passes_keep_what_kernels_print)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
