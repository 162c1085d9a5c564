// The manager: names, pipelines, order, dumps, timings, errors.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/diag.h"
#include "passes/pass.h"
#include "tests/support/pass_world.h"

static const char dead[] =
    "func @f(%x: i32) -> i32 {\n"
    "  %0 = add %x, %x : i32\n"
    "  return %x\n"
    "}\n"
    "func @g(%x: i32) -> i32 {\n"
    "  return %x\n"
    "}\n";

static void every_pass_has_a_name_that_reads_back(void **state) {
    (void)state;
    for (int i = 0; i < PASSES; i++) {
        PassId id = PASSES;
        const PassInfo *info = pass_info((PassId)i);
        assert_true(pass_from_text(str(info->text), &id));
        assert_int_equal(id, i);
        assert_non_null(info->run);
        assert_true(strlen(info->doc) > 0);
    }
    PassId id;
    assert_false(pass_from_text(STR("nothing"), &id));
}

static void every_step_of_a_pipeline_says_why(void **state) {
    (void)state;
    for (int i = 0; i < PIPELINES; i++) {
        size_t count;
        PipelineId id = PIPELINES;
        const PassStep *steps = pipeline_steps((PipelineId)i, &count);
        for (size_t k = 0; k < count; k++) assert_true(strlen(steps[k].why_here) > 0);
        assert_true(pipeline_from_text(str(pipeline_name((PipelineId)i)), &id));
        assert_int_equal(id, i);
    }
}

static void lists_name_passes_and_pipelines(void **state) {
    (void)state;
    PassWorld w = pass_world();
    size_t count, tile;
    pipeline_steps(PIPELINE_TILE, &tile);
    const PassStep *steps = passes_parse(w.arena, STR("cse, dce,tile"), &count, w.diags);
    assert_non_null(steps);
    assert_int_equal(count, 2 + tile);
    assert_int_equal(steps[0].pass, PASS_CSE);
    assert_int_equal(steps[1].pass, PASS_DCE);
    assert_int_equal(steps[2].pass, pipeline_steps(PIPELINE_TILE, &tile)[0].pass);
    assert_non_null(passes_parse(w.arena, STR(""), &count, w.diags));
    assert_int_equal(count, 0);
    assert_int_equal(diags_errors(w.diags), 0);
    pass_world_free(&w);
}

static void unknown_names_are_all_reported(void **state) {
    (void)state;
    PassWorld w = pass_world();
    size_t count;
    assert_null(passes_parse(w.arena, STR("dec,cse,frobnicate"), &count, w.diags));
    assert_int_equal(diags_errors(w.diags), 2);
    const Diag *first = diags_get(w.diags, 0);
    assert_int_equal(first->code, DIAG_USAGE);
    assert_non_null(strstr(first->text.text, "unknown pass 'dec'"));
    assert_non_null(strstr(first->text.text, "bounds"));
    assert_non_null(strstr(first->help.text, "'dce'"));
    pass_world_free(&w);
}

typedef struct Seen {
    PassId passes[8];
    int count;
} Seen;

static void see(void *user, PassId pass, const IrFunc *f) {
    Seen *seen = user;
    assert_non_null(f);
    if (seen->count < 8) seen->passes[seen->count++] = pass;
}

static void dumps_come_after_the_passes_asked_for(void **state) {
    (void)state;
    PassWorld w = pass_world();
    IrModule *m = pass_parse(&w, dead);
    const PassStep steps[] = {{PASS_CSE, ""}, {PASS_DCE, ""}};
    const PassId after[] = {PASS_DCE};
    Seen seen = {.count = 0};
    PassTimings timings = {0};
    PassOptions options = {.verify = true, .dump_after = after, .dump_after_count = 1};
    options.dump = see;
    options.user = &seen;
    options.timings = &timings;
    assert_true(passes_run(m, steps, 2, &options, w.diags));
    assert_int_equal(seen.count, 2);  // one for each function
    assert_int_equal(seen.passes[0], PASS_DCE);
    assert_int_equal(timings.count, 2);
    assert_false(timings.data[0].changed);
    assert_int_equal(timings.data[0].ops_after, 3);
    assert_true(timings.data[1].changed);
    assert_int_equal(timings.data[1].ops_after, 2);
    seen.count = 0;
    options.dump_all = true;
    assert_true(passes_run(m, steps, 2, &options, w.diags));
    assert_int_equal(seen.count, 4);
    pass_world_free(&w);
}

// IR that no pass may leave: an op whose result has another type than its operands.
static void invalid_ir_is_a_defect_that_names_the_pass(void **state) {
    (void)state;
    PassWorld w = pass_world();
    IrModule *m = pass_parse(&w, dead);
    IrOp *add = ir_body(m->funcs.data[0])->first;
    add->results[0].type = ir_scalar(m, DTYPE_F32);
    const PassStep steps[] = {{PASS_CSE, ""}};
    assert_true(passes_run(m, steps, 1, NULL, w.diags));  // no verification was requested
    assert_false(passes_run(m, steps, 1, &(PassOptions){.verify = true}, w.diags));
    const Diag *last = diags_get(w.diags, diags_count(w.diags) - 1);
    assert_int_equal(last->code, DIAG_PASS);
    assert_non_null(strstr(last->text.text, "'cse'"));
    assert_non_null(last->notes);
    assert_non_null(strstr(last->notes->text.text, "func @f"));
    pass_world_free(&w);
}

static void calls_that_double_at_every_level_are_refused(void **state) {
    (void)state;
    PassWorld w = pass_world();
    StrBuf text = strbuf(w.arena);
    strbuf_printf(&text,
                  "func @f0(%%x: i32) -> i32 {\n  %%0 = add %%x, %%x : i32\n  return %%0\n}\n");
    for (int i = 1; i <= 40; i++) {
        strbuf_printf(&text,
                      "func @f%d(%%x: i32) -> i32 {\n"
                      "  %%0 = call %%x {callee = f%d} : i32\n"
                      "  %%1 = call %%0 {callee = f%d} : i32\n"
                      "  return %%1\n}\n",
                      i, i - 1, i - 1);
    }
    IrModule *m = pass_parse(&w, text.text);
    const PassStep steps[] = {{PASS_INLINE, ""}};
    assert_false(passes_run(m, steps, 1, NULL, w.diags));
    assert_int_equal(diags_get(w.diags, 0)->code, DIAG_TOO_LARGE);
    pass_world_free(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pass_has_a_name_that_reads_back),
        cmocka_unit_test(every_step_of_a_pipeline_says_why),
        cmocka_unit_test(lists_name_passes_and_pipelines),
        cmocka_unit_test(unknown_names_are_all_reported),
        cmocka_unit_test(dumps_come_after_the_passes_asked_for),
        cmocka_unit_test(invalid_ir_is_a_defect_that_names_the_pass),
        cmocka_unit_test(calls_that_double_at_every_level_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
