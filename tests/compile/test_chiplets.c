// The option chiplets: which program runs when. Programs draw numbers as they run, one after the
// other on a simulated GPU that is given no seed.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilec/tilec.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "tests/support/codegen_plugin.h"

enum { MOST = 40, GROUP = 8 };

static const char plain_text[] =
    "kernel order(i32 turn[M, N], i32 next[1]) grid(M, N) {\n"
    "    turn[program(0), program(1)] = atomic_add(next[0], 1);\n"
    "}\n";

// A product whose programs run in groups.
static const char product_text[] =
    "kernel order(f16 a[M, K], f16 b[K, N], f32 c[M, N], i32 turn[P, Q], i32 next[1])\n"
    "    grid(cdiv(M, 16), cdiv(N, 16)) {\n"
    "    let i = program(0) * 16;\n"
    "    let j = program(1) * 16;\n"
    "    var acc = zeros(f32, 16, 16);\n"
    "    for k in 0 .. K step 16 acc = dot(a[i +: 16, k +: 16], b[k +: 16, j +: 16], acc);\n"
    "    c[i +: 16, j +: 16] = acc;\n"
    "    turn[program(0), program(1)] = atomic_add(next[0], 1);\n"
    "}\n";

typedef struct World {
    tilec_context *context;
    tilec_device *device;
    tilec_kernel *kernel;
    tilec_buffer turn, next, zeros;
} World;

static void fine(const World *w, tilec_status s) {
    if (s) fail_msg("%s", tilec_last_error(w->context));
}

static void open_world(World *w, const char *device, const char *text, int64_t chiplets) {
    tilec_context_options o = {.size = sizeof o};
    *w = (World){0};
    assert_int_equal(tilec_context_create(&o, &w->context), TILEC_OK);
    fine(w, tilec_device_open(w->context, device, &w->device));
    const tilec_spec *spec = TILEC_SPEC(TILEC_OPTION("chiplets", chiplets));
    fine(w, tilec_kernel_from_source(w->context, w->device, "k.tile", text, strlen(text), NULL,
                                     spec, &w->kernel));
    fine(w, tilec_buffer_create(w->device, MOST * MOST * sizeof(int32_t), &w->turn));
    fine(w, tilec_buffer_create(w->device, sizeof(int32_t), &w->next));
    size_t bytes = (size_t)MOST * MOST * 16 * 16 * sizeof(float);
    void *none = calloc(1, bytes);
    assert_non_null(none);
    fine(w, tilec_buffer_create(w->device, bytes, &w->zeros));
    fine(w, tilec_buffer_write(w->device, NULL, w->zeros, 0, none, bytes));
    free(none);
}

static void launch(World *w, bool product, int64_t rows, int64_t columns, int32_t *turn) {
    const int32_t zero = 0;
    size_t bytes = (size_t)(rows * columns) * sizeof *turn;
    memset(turn, 0xff, bytes);
    fine(w, tilec_buffer_write(w->device, NULL, w->turn, 0, turn, bytes));
    fine(w, tilec_buffer_write(w->device, NULL, w->next, 0, &zero, sizeof zero));
    tilec_view vt = tilec_buffer_view2(TILEC_I32, w->turn, rows, columns);
    tilec_view vn = tilec_buffer_view1(TILEC_I32, w->next, 1);
    if (product) {
        tilec_view va = tilec_buffer_view2(TILEC_F16, w->zeros, rows * 16, 16);
        tilec_view vb = tilec_buffer_view2(TILEC_F16, w->zeros, 16, columns * 16);
        tilec_buffer sums;
        size_t size = (size_t)(rows * columns) * 16 * 16 * sizeof(float);
        fine(w, tilec_buffer_create(w->device, size, &sums));
        tilec_view vc = tilec_buffer_view2(TILEC_F32, sums, rows * 16, columns * 16);
        fine(w, tilec_launch(w->kernel, NULL, TILEC_ARGS(va, vb, vc, vt, vn)));
        fine(w, tilec_device_synchronize(w->device));
        tilec_buffer_destroy(w->device, sums);
    } else {
        fine(w, tilec_launch(w->kernel, NULL, TILEC_ARGS(vt, vn)));
        fine(w, tilec_device_synchronize(w->device));
    }
    fine(w, tilec_buffer_read(w->device, NULL, w->turn, 0, turn, bytes));
}

// The program that comes next on each chiplet, found by counting: chiplet after chiplet has as
// many as are dealt to it.
static void deal(int64_t count, int64_t chiplets, int64_t *program) {
    int64_t n = 0;
    for (int64_t c = 0; c < chiplets; c++)
        for (int64_t at = c; at < count; at += chiplets) program[at] = n++;
    assert_int_equal(n, count);
}

// Programs in groups of rows, column by column in each.
static void walk(int64_t rows, int64_t columns, int64_t group, int64_t *row, int64_t *column) {
    int64_t n = 0;
    for (int64_t first = 0; first < rows; first += group)
        for (int64_t j = 0; j < columns; j++)
            for (int64_t i = first; i < rows && i < first + group; i++, n++)
                row[n] = i, column[n] = j;
}

static void check(World *w, bool product, int64_t rows, int64_t columns, int64_t chiplets) {
    static int32_t turn[MOST * MOST];
    static int64_t program[MOST * MOST], row[MOST * MOST], column[MOST * MOST];
    launch(w, product, rows, columns, turn);
    deal(rows * columns, chiplets, program);
    walk(rows, columns, product ? GROUP : rows, row, column);
    for (int64_t t = 0; t < rows * columns; t++) {
        int64_t n = program[t];
        int32_t found = turn[row[n] * columns + column[n]];
        if (found != t)
            fail_msg(
                "%lld x %lld programs on %lld chiplets: program (%lld, %lld) ran at turn %d, "
                "expected %lld",
                (long long)rows, (long long)columns, (long long)chiplets, (long long)row[n],
                (long long)column[n], found, (long long)t);
    }
}

static void close_world(World *w) {
    tilec_kernel_destroy(w->kernel);
    tilec_context_destroy(w->context);
}

// Every number of programs up to some of each remainder, in one row and in several.
static void all_programs_run_once(void **state) {
    (void)state;
    static const int64_t chiplets[] = {0, 1, 2, 3, 6, 8, 64};
    if (!codegen_built()) return;
    for (size_t k = 0; k < sizeof chiplets / sizeof *chiplets; k++) {
        World w;
        int64_t n = chiplets[k] > 1 ? chiplets[k] : 1;
        open_world(&w, "sim:gfx942", plain_text, chiplets[k]);
        for (int64_t rows = 1; rows <= MOST; rows++) check(&w, false, rows, 1, n);
        for (int64_t rows = 1; rows <= 7; rows++)
            for (int64_t columns = 2; columns <= 7; columns++) check(&w, false, rows, columns, n);
        close_world(&w);
    }
}

static void groups_are_within_chiplets(void **state) {
    (void)state;
    static const int64_t sizes[][2] = {{1, 1}, {3, 5}, {8, 4}, {9, 7}, {17, 3}, {20, 6}};
    if (!codegen_built()) return;
    for (int64_t chiplets = 1; chiplets <= 8; chiplets += 7) {
        World w;
        open_world(&w, "sim:gfx950", product_text, chiplets);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            check(&w, true, sizes[i][0], sizes[i][1], chiplets);
        close_world(&w);
    }
}

// On targets whose programs are not dealt to chiplets the option changes nothing.
static void elsewhere_it_means_nothing(void **state) {
    (void)state;
    static const char *const devices[] = {"sim:gfx90a", "sim:gfx1100", "sim:sm_80"};
    if (!codegen_built()) return;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        World w;
        open_world(&w, devices[i], plain_text, 8);
        check(&w, false, 11, 3, 1);
        close_world(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_programs_run_once),
        cmocka_unit_test(groups_are_within_chiplets),
        cmocka_unit_test(elsewhere_it_means_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
