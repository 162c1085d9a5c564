// cpu_lower: kernels that it once lowered wrongly, by name, and what its code must look like. That
// all ops keep their meaning is shown by the matrix and by random kernels.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ir/interp/interp.h"
#include "passes/pass.h"
#include "tests/support/lowered.h"
#include "tests/support/pass_world.h"
#include "tests/support/tir.h"

enum { ELEMENTS = 64, ARGS = 2 };

typedef struct Memory {
    int32_t x[ELEMENTS], y[ELEMENTS];
} Memory;

static void fill(Memory *m) {
    for (int i = 0; i < ELEMENTS; i++) {
        m->x[i] = (i * 37 + 11) % 101 - 50;
        m->y[i] = 1000 + i;
    }
}

// x is 8 × 8, or shorter; y 64 or less: the kernel's extents are fixed. In place: y is x.
static void run_with(PassWorld *w, IrModule *module, Memory *m, bool in_place) {
    fill(m);
    IrFunc *f = module->funcs.data[0];
    IrArg args[ARGS] = {{.data = m->x}, {.data = in_place ? m->x : m->y}};
    for (int a = 0; a < ARGS; a++) {
        int64_t stride = 1;
        const IrParam *p = &f->params.data[a];
        for (uint32_t d = p->value->type->rank; d-- > 0; stride *= p->dims[d].value) {
            args[a].extent[d] = p->dims[d].value;
            args[a].stride[d] = stride;
        }
        args[a].base = args[a].data;
        args[a].size = (uint64_t)stride * sizeof *m->x;
    }
    IrInterp *interp = ir_interp_create(w->arena, f);
    IrLaunch launch = {.args = args, .arg_count = ARGS, .grid = {1, 1, 1}, .sanitize = true};
    assert_int_equal(ir_interp_run(interp, &launch, w->diags), IR_RUN_DONE);
    ir_interp_destroy(interp);
}

// Every machine, with and without facts, with and without the passes that follow.
static void same_lowered_with(const char *text, bool in_place) {
    PassWorld w = pass_world();
    Memory plain, lowered;
    run_with(&w, pass_parse(&w, text), &plain, in_place);
    for (uint64_t choice = 0; choice < LOWERED_CHOICES; choice++) {
        IrModule *m = pass_parse(&w, text);
        unsigned facts = FACT_DISJOINT | FACT_CONTIGUOUS;
        assert_true(lowered_run(m, choice, facts, w.diags));
        assert_int_equal(m->funcs.data[0]->level, IR_LEVEL_CPU);
        run_with(&w, m, &lowered, in_place);
        assert_memory_equal(&plain, &lowered, sizeof plain);
    }
    pass_world_free(&w);
}

static void same_lowered(const char *text) { same_lowered_with(text, false); }

static void same_lowered_file(const char *path) {
    Arena *arena = arena_create();
    same_lowered(tir_read(arena, path));
    arena_destroy(arena);
}

// A value that does not move with the lanes is loaded before their loop, whose edge reads it as
// well.
static void a_load_before_the_loop_of_lanes_has_a_mask(void **state) {
    (void)state;
    same_lowered(
        "kernel @k(%x: view i32[7,9], %y: view i32[4,8]) { body {\n"
        "%0 = const {value = 0} : i64\n%1 = const {value = 0} : i32[8]\n"
        "%2 = const {value = 9223372036854775807} : i64\n%3 = const {value = 5} : i32\n"
        "%4 = view_load %x, %3, %1, %2 {select = [0,0], inside = [0,0]} : i32[8]\n"
        "%5 = reshape %4 : i32[1,8]\n%6 = broadcast %5 : i32[4,8]\n"
        "view_store %y, %6, _, %0, %0 {select = [4,8], inside = [0,0]}\nreturn\n} }\n");
}

// A proof that the lanes are inside proves nothing about the rows.
static void a_load_along_rows_and_lanes_has_two_masks(void **state) {
    static const char text[] =
        "kernel @k(%%x: view i32[%d], %%y: view i32[%d,8]) { body {\n"
        "%%0 = const {value = 0} : i64\n%%1 = const {value = 5} : i32\n"
        "%%2 = view_load %%x, %s, %%0 {select = [8], inside = [0]} : i32[8]\n"
        "%%3 = reshape %%2 : i32[%d,%d]\n%%4 = reshape %%2 : i32[%d,%d]\n"
        "%%5 = broadcast %%3 : i32[8,8]\n%%6 = broadcast %%4 : i32[8,8]\n"
        "%%7 = sub %%5, %%6 : i32[8,8]\n"
        "view_store %%y, %%7, _, %%0, %%0 {select = [8,8], inside = [0,0]}\nreturn\n} }\n";
    (void)state;
    for (int length = 1; length <= 9; length++)
        for (int form = 0; form < 8; form++) {
            char all[1024];
            int a = form & 1 ? 1 : 8, b = form & 1 ? 8 : 1;
            snprintf(all, sizeof all, text, length, form & 2 ? 8 : 3, form & 4 ? "%1" : "_", a, b,
                     b, a);
            same_lowered(all);
        }
}

// 2^64 - 1 does not equal -1: all lanes are outside.
static void an_index_of_u64_does_not_wrap(void **state) {
    (void)state;
    same_lowered(
        "kernel @k(%x: view i32[16], %y: view i32[8]) { body {\n"
        "%0 = const {value = 0} : i64\n%1 = const {value = 18446744073709551615} : u64\n"
        "%2 = const {value = 5} : i32\n"
        "%3 = view_load %x, %2, %1 {select = [8], inside = [0]} : i32[8]\n"
        "view_store %y, %3, _, %0 {select = [8], inside = [0]}\n"
        "view_store %y, %3, _, %1 {select = [8], inside = [0]}\nreturn\n} }\n");
}

static void carried_tiles_change_places(void **state) {
    (void)state;
    same_lowered_file("tests/passes/data/carried_tiles.tir");
}

// The load must not move past the store, though nothing but the second store needs it.
static void a_load_stays_before_a_store(void **state) {
    (void)state;
    same_lowered(
        "kernel @k(%x: view i32[16], %y: view i32[16]) { body {\n"
        "%0 = const {value = 0} : i64\n%1 = const {value = 1} : i64\n"
        "%2 = view_load %y, _, %1 {select = [8], inside = [0]} : i32[8]\n"
        "%3 = view_load %x, _, %0 {select = [8], inside = [0]} : i32[8]\n"
        "view_store %y, %3, _, %0 {select = [8], inside = [0]}\n"
        "%4 = const {value = 8} : i64\n"
        "view_store %y, %2, _, %4 {select = [8], inside = [0]}\nreturn\n} }\n");
}

static void elements_of_tiles_become_scalars(void **state) {
    (void)state;
    same_lowered(
        "kernel @k(%x: view i32[16], %y: view i32[16]) { body {\n"
        "%0 = const {value = 0} : i64\n%1 = const {value = 3} : i64\n"
        "%2 = view_load %x, _, %1 {select = [2], inside = [0]} : i32[2]\n"
        "%3, %4 = split %2 : i32, i32\n%5 = sub %3, %4 : i32\n"
        "%6 = view_load %x, _, %0 {select = [1], inside = [0]} : i32[1]\n"
        "%7 = reshape %6 : i32\n%8 = mul %5, %7 : i32\n"
        "view_store %y, %8, _, %1 {select = [0], inside = [0]}\nreturn\n} }\n");
}

static void part_of_a_line_in_any_direction(const char *op) {
    PassWorld w = pass_world();
    StrBuf text = strbuf(w.arena);
    strbuf_printf(
        &text,
        "kernel @k(%%x: view i32[8,8], %%y: view i32[8,8]) { body {\n"
        "%%0 = const {value = 0} : i64\n%%1 = view_load %%x, _, %%0, %%0 {select = [8,8], "
        "inside = [0,0]} : i32[8,8]\n%%2 = %s : i32[8,8]\n"
        "view_store %%y, %%2, _, %%0, %%0 {select = [8,8], inside = [0,0]}\nreturn\n} }\n",
        op);
    same_lowered(text.text);
    pass_world_free(&w);
}

static void orders_along_every_axis(void **state) {
    (void)state;
    for (int axis = 0; axis < 2; axis++)
        for (int way = 0; way < 4; way++) {
            char op[128];
            const char *reverse = way & 1 ? "true" : "false", *other = way & 2 ? "true" : "false";
            snprintf(op, sizeof op,
                     "scan %%1 {kind = sum, axis = %d, reverse = %s, exclusive = %s}", axis,
                     reverse, other);
            part_of_a_line_in_any_direction(op);
            snprintf(op, sizeof op, "sort %%1 {axis = %d, descending = %s}", axis, other);
            part_of_a_line_in_any_direction(op);
        }
}

// The number of ops is the same for a line of 4096 and for one of 64.
static uint32_t ops_in(const IrBlock *block) {
    uint32_t n = 0;
    for (const IrOp *op = block->first; op; op = op->next) {
        n++;
        for (uint32_t i = 0; i < op->region_count; i++) n += ops_in(op->regions[i]);
    }
    return n;
}

static uint32_t size_of_sort(uint32_t extent) {
    PassWorld w = pass_world();
    StrBuf text = strbuf(w.arena);
    strbuf_printf(
        &text,
        "kernel @k(%%x: view f32[%u], %%y: view f32[%u]) { body {\n"
        "%%0 = const {value = 0} : i64\n"
        "%%1 = view_load %%x, _, %%0 {select = [%u], inside = [0]} : f32[%u]\n"
        "%%2 = sort %%1 {axis = 0, descending = false} : f32[%u]\n"
        "%%3 = scan %%2 {kind = sum, axis = 0, reverse = false, exclusive = true} : "
        "f32[%u]\nview_store %%y, %%3, _, %%0 {select = [%u], inside = [0]}\nreturn\n} }\n",
        extent, extent, extent, extent, extent, extent, extent);
    IrModule *m = pass_parse(&w, text.text);
    pass_run(&w, m, "tile,cpu_loops");
    uint32_t n = ops_in(ir_body(m->funcs.data[0]));
    pass_world_free(&w);
    return n;
}

static void code_is_no_longer_for_larger_tiles(void **state) {
    (void)state;
    assert_int_equal(size_of_sort(64), size_of_sort(4096));
}

// Chains of ops share a loop, but not without end: LLVM's time grows with the square of a body.
// Values that are needed beyond the next one cross from loop to loop.
static const char *long_chain(PassWorld *w, uint32_t length) {
    StrBuf text = strbuf(w->arena);
    strbuf_printf(&text,
                  "kernel @k(%%x: view i32[64], %%y: view i32[64]) { body {\n"
                  "%%0 = const {value = 0} : i64\n"
                  "%%1 = view_load %%x, _, %%0 {select = [64], inside = [1]} : i32[64]\n"
                  "%%2 = add %%1, %%1 : i32[64]\n");
    for (uint32_t i = 3; i < length; i++)
        strbuf_printf(&text, "%%%u = %s %%%u, %%%u : i32[64]\n", i, i % 3 ? "add" : "mul", i - 1,
                      i % 7 ? i - 2 : i - (i < 50 ? 2 : 45));
    strbuf_printf(&text,
                  "view_store %%y, %%%u, _, %%0 {select = [64], inside = [1]}\nreturn\n} }\n",
                  length - 1);
    return text.text;
}

static uint32_t longest_block(const IrBlock *block) {
    uint32_t own = 0, longest = 0;
    for (const IrOp *op = block->first; op; op = op->next) {
        own++;
        for (uint32_t i = 0; i < op->region_count; i++) {
            uint32_t inner = longest_block(op->regions[i]);
            if (inner > longest) longest = inner;
        }
    }
    return own > longest ? own : longest;
}

static void long_chains_of_ops_are_cut(void **state) {
    (void)state;
    PassWorld w = pass_world();
    const char *text = long_chain(&w, 20000);
    IrModule *m = pass_parse(&w, text);
    pass_run(&w, m, "tile,cpu_loops");
    assert_in_range(longest_block(ir_body(m->funcs.data[0])), 500, 4000);
    same_lowered(long_chain(&w, 6000));
    pass_world_free(&w);
}

// Loads of the loop of lanes, not of its edge, prefetch later data where there are many ops between
// them.
static uint32_t loads_in(const IrBlock *block, bool ahead) {
    uint32_t n = 0;
    for (const IrOp *op = block->first; op; op = op->next) {
        if (op->code == IR_CPU_LOAD) n += (ir_attr_int(op, IR_ATTR_AHEAD) != 0) == ahead;
        for (uint32_t i = 0; i < op->region_count; i++) n += loads_in(op->regions[i], ahead);
    }
    return n;
}

static void expect_loads(const char *op, uint32_t ahead, uint32_t plain) {
    PassWorld w = pass_world();
    StrBuf text = strbuf(w.arena);
    strbuf_printf(&text,
                  "kernel @k(%%x: view f32[N], %%y: view f32[N]) { body {\n"
                  "%%0 = const {value = 0} : i64\n"
                  "%%1 = view_load %%x, _, %%0 {select = [4096], inside = [0]} : f32[4096]\n"
                  "%%2 = %s %%1 : f32[4096]\n"
                  "view_store %%y, %%2, _, %%0 {select = [4096], inside = [0]}\nreturn\n} }\n",
                  op);
    IrModule *m = pass_parse(&w, text.text);
    assert_true(lowered_run(m, LOWERED_FACTS, FACT_DISJOINT, w.diags));
    assert_int_equal(loads_in(ir_body(m->funcs.data[0]), true), ahead);
    assert_int_equal(loads_in(ir_body(m->funcs.data[0]), false), plain);
    pass_world_free(&w);
}

static void long_chains_of_ops_fetch_ahead(void **state) {
    (void)state;
    expect_loads("exp", 1, 1);
    expect_loads("neg", 0, 2);
}

// A value that is kept where it will be stored, when that is where it was read (the same array
// twice): what was read must be used up by then.
static void kept_early_in_place(const char *after, const char *stored) {
    PassWorld w = pass_world();
    StrBuf text = strbuf(w.arena);
    strbuf_printf(&text,
                  "kernel @k(%%x: view i32[64], %%y: view i32[64]) { body {\n"
                  "%%0 = const {value = 0} : i64\n%%1 = const {value = 1} : i32[256]\n"
                  "%%2 = const {value = 1000} : i32[256]\n"
                  "%%3 = view_load %%x, _, %%0 {select = [256], inside = [0]} : i32[256]\n"
                  "%%4 = or %%3, %%1 : i32[256]\n%%5 = div %%2, %%4 : i32[256]\n"
                  "%%6 = reduce _, %%5 {kind = sum, axis = 0} : i32\n"
                  "%%7 = broadcast %%6 : i32[256]\n%%8 = sub %%5, %%7 : i32[256]\n%s"
                  "view_store %%y, %s, _, %%0 {select = [256], inside = [0]}\nreturn\n} }\n",
                  after, stored);
    same_lowered_with(text.text, false);
    same_lowered_with(text.text, true);
    pass_world_free(&w);
}

static void what_is_kept_early_may_lie_where_it_was_read(void **state) {
    (void)state;
    kept_early_in_place("", "%8");
    kept_early_in_place("%9 = add %8, %3 : i32[256]\n", "%9");
    kept_early_in_place("%9 = mul %8, %4 : i32[256]\n", "%9");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_before_the_loop_of_lanes_has_a_mask),
        cmocka_unit_test(a_load_along_rows_and_lanes_has_two_masks),
        cmocka_unit_test(an_index_of_u64_does_not_wrap),
        cmocka_unit_test(carried_tiles_change_places),
        cmocka_unit_test(a_load_stays_before_a_store),
        cmocka_unit_test(elements_of_tiles_become_scalars),
        cmocka_unit_test(orders_along_every_axis),
        cmocka_unit_test(code_is_no_longer_for_larger_tiles),
        cmocka_unit_test(long_chains_of_ops_are_cut),
        cmocka_unit_test(long_chains_of_ops_fetch_ahead),
        cmocka_unit_test(what_is_kept_early_may_lie_where_it_was_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
