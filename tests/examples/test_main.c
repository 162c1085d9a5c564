// Every example against its reference, through the public C API.
//
//     test_examples [--long] [--device NAME] [--flushes] [--option NAME=NUMBER]… [--one-in N]
//                   [KERNEL]
//
// --one-in N: one example in N, others in the next slice (tests/support/slice.h).
// --flushes: the device takes subnormal f16 and bf16 as 0 in dots (gfx90a as "hip:0").
// On a simulated GPU (sim:sm_80) shapes are small, and each runs with two orders of warps, --long
// with all of them; what the GPU has too little shared memory for is skipped there and on real ones
// (cuda:0), with the reason.
//
// The quick shapes take every extent at 1, 7, 127 and 1000 (one at a time where all of them at once
// would take long), and one shape that is smaller than the kernel's own tile in every dimension;
// the long ones are the whole product.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/examples/launch.h"
#include "tests/examples/test_parts.h"
#include "tests/support/slice.h"

enum { SHAPES_MAX = 1100 };
static const int64_t sizes[] = {1, 7, 127, 1000};
static const double quick_work = 2.5e5, long_work = 2e7, gpu_work = 2e4;
enum { ORDERS = 20 };  // of warps, on simulated GPUs

typedef struct Session {
    Launcher launchers[ORDERS];
    int launcher_count;
    const char *device;
    tilec_spec_entry options[LAUNCHER_OPTIONS];
    int option_count;
    uint64_t one_in;
    bool all, gpu;
    bool hardware;    // a real GPU, not a simulated one
    bool flushes;     // it takes subnormal f16 and bf16 as 0 in dots
    bool short_sums;  // it keeps 13 bits of the sums of fp8
} Session;

typedef struct Case {
    Session *session;
    const Example *example;
} Case;

typedef struct Shapes {
    Shape at[SHAPES_MAX];
    int count;
} Shapes;

static double shape_work(const Example *example, const Shape *shape) {
    double work = example->work;
    for (int d = 0; d < example->dims; d++) work *= (double)shape->n[d];
    return work;
}

static Shape even_shape(int64_t n) {
    Shape shape = {0};
    for (int d = 0; d < EXAMPLE_MAX_DIMS; d++) shape.n[d] = n;
    return shape;
}

// Extent d is n, the others as great as the work allows.
static Shape long_in_one(const Example *example, int d, int64_t n) {
    static const int64_t others[] = {7, 3, 1};
    Shape shape = {0};
    for (int i = 0; i < 3; i++) {
        shape = even_shape(others[i]);
        shape.n[d] = n;
        if (shape_work(example, &shape) <= quick_work) break;
    }
    return shape;
}

static void quick_shapes(const Example *example, Shapes *shapes) {
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        Shape even = even_shape(sizes[i]);
        if (shape_work(example, &even) <= quick_work) {
            shapes->at[shapes->count++] = even;
            continue;
        }
        for (int d = 0; d < example->dims; d++)
            shapes->at[shapes->count++] = long_in_one(example, d, sizes[i]);
    }
    shapes->at[shapes->count++] = (Shape){.n = {2, 3, 5, 4}, .own_tiles = true};
    Shape wide = long_in_one(example, example->dims - 1, 1000);
    wide.own_tiles = true;
    shapes->at[shapes->count++] = wide;
}

static void all_shapes(const Example *example, Shapes *shapes) {
    int count = 1;
    for (int d = 0; d < example->dims; d++) count *= 4;
    for (int i = 0; i < 2 * count; i++) {
        Shape shape = {.own_tiles = i >= count};
        for (int d = 0, rest = i % count; d < example->dims; d++, rest /= 4)
            shape.n[d] = sizes[rest % 4];
        if (shape_work(example, &shape) <= long_work) shapes->at[shapes->count++] = shape;
    }
}

static uint64_t seed_of(const Example *example, const Shape *shape) {
    uint64_t seed = 14695981039346656037U;  // FNV-1a, so that a case's data hang on nothing else
    for (const char *c = example->kernel; *c; c++)
        seed = (seed ^ (uint64_t)(unsigned char)*c) * 1099511628211U;
    for (int d = 0; d < example->dims; d++) seed = (seed ^ (uint64_t)shape->n[d]) * 1099511628211U;
    return seed ^ (uint64_t)shape->type;
}

// Extents that leave tiles partly filled, and some whose rows are multiples of 16 bytes.
static void gpu_shapes(const Example *example, Shapes *shapes) {
    static const int64_t some[] = {1, 7, 64, 1000};
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        Shape even = even_shape(some[i]), long_one = even_shape(3);
        long_one.n[example->dims - 1] = some[i];
        bool fits = shape_work(example, &even) <= gpu_work;
        shapes->at[shapes->count++] = fits ? even : long_one;
    }
    shapes->at[shapes->count++] = (Shape){.n = {2, 3, 5, 4}, .own_tiles = true};
    Shape own = {.n = {8, 16, 40, 24}, .own_tiles = true};
    if (shape_work(example, &own) <= gpu_work) shapes->at[shapes->count++] = own;
}

static bool run_shape(Session *session, Launcher *launcher, const Example *example,
                      const Shape *shape) {
    char text[512];
    Run run = {.seed = seed_of(example, shape),
               .flushes_halves = session->flushes,
               .short_sums = session->short_sums};
    example->make(&run, shape);
    const char *wrong = launcher_run(launcher, example, &run);
    if (wrong && session->gpu && launcher->unsupported) {
        if (launcher == session->launchers)
            print_message("left out: %s, %s: %.*s\n", example->kernel, dtype_name(shape->type),
                          (int)strcspn(wrong, "\n"), wrong);
        run_free(&run);
        return true;
    }
    if (!wrong) wrong = run_compare(&run, text, sizeof text);
    if (wrong)
        print_error("%s %s, %s, extents %lld %lld %lld %lld%s: %s\n", example->file,
                    example->kernel, dtype_name(shape->type), (long long)shape->n[0],
                    (long long)shape->n[1], (long long)shape->n[2], (long long)shape->n[3],
                    shape->own_tiles ? ", own tiles" : "", wrong);
    run_free(&run);
    return !wrong;
}

// With the first order of warps and another, or with each; a kernel that cannot be compiled is
// tried once.
static bool run_orders(Session *session, const Example *example, const Shape *shape,
                       bool *some_ran) {
    bool good = true;
    uint64_t seed = (seed_of(example, shape) >> 32) + slice_number();
    uint64_t other = 1 + seed % (ORDERS - 1);
    for (int i = 0; i < session->launcher_count; i++) {
        if (i && !session->all && (uint64_t)i != other) continue;
        Launcher *launcher = &session->launchers[i];
        good = run_shape(session, launcher, example, shape) && good;
        if (launcher->unsupported) return good;
        *some_ran = true;
    }
    return good;
}

static void test_example(void **state) {
    const Case *c = *state;
    Shapes *shapes = calloc(1, sizeof *shapes);
    int failed = 0;
    assert_non_null(shapes);
    if (c->session->gpu && !c->session->hardware)
        gpu_shapes(c->example, shapes);
    else if (c->session->all)
        all_shapes(c->example, shapes);
    else
        quick_shapes(c->example, shapes);
    bool some_ran = false;
    for (int t = 0; t < c->example->type_count; t++)
        for (int i = 0; i < shapes->count; i++) {
            shapes->at[i].type = c->example->types[t];
            failed += !run_orders(c->session, c->example, &shapes->at[i], &some_ran);
        }
    free(shapes);
    assert_int_equal(failed, 0);
    if (!some_ran) skip();
}

// Each device has other examples in the same slice, so that each example has some device.
static bool in_slice(const Session *session, size_t example) {
    uint64_t device = 0;
    for (const char *c = session->device; *c; c++) device = device * 31 + (unsigned char)*c;
    return slice_has(example + device, session->one_in);
}

static int run_examples(Session *session, const char *only) {
    struct CMUnitTest *tests = calloc(example_count, sizeof *tests);
    Case *cases = calloc(example_count, sizeof *cases);
    size_t count = 0, known = 0;
    int failed = 1;
    for (size_t i = 0; tests && cases && i < example_count; i++) {
        if (only && strcmp(only, example_table[i].kernel) != 0) continue;
        known++;
        if (!in_slice(session, i)) continue;
        cases[count] = (Case){session, &example_table[i]};
        tests[count] = (struct CMUnitTest){.name = example_table[i].kernel,
                                           .test_func = test_example,
                                           .initial_state = &cases[count]};
        count++;
    }
    if (count)
        failed = _cmocka_run_group_tests("examples", tests, count, NULL, NULL);
    else if (known && session->one_in > 1)
        failed = 0, print_message("nothing of this slice\n");
    else
        print_error("no example is called %s\n", only ? only : "");
    free(tests);
    free(cases);
    return failed;
}

static bool open_launchers(Session *session) {
    int orders = session->gpu && !session->hardware ? ORDERS : 1;
    for (int i = 0; i < orders; i++) {
        char name[64];
        snprintf(name, sizeof name, i ? "%s:%d" : "%s", session->device, i);
        Launcher *launcher = &session->launchers[session->launcher_count++];
        const char *wrong = launcher_open(launcher, name);
        launcher->options = session->options, launcher->option_count = session->option_count;
        if (!wrong) continue;
        print_error("%s: %s\n", name, wrong);
        return false;
    }
    return true;
}

static bool add_option(Session *session, char *text) {
    char *value = strchr(text, '=');
    if (!value || session->option_count == LAUNCHER_OPTIONS) return false;
    *value = '\0';
    session->options[session->option_count++] = (tilec_spec_entry){
        .kind = TILEC_SPEC_OPTION, .name = text, .value = strtoll(value + 1, NULL, 10)};
    return true;
}

// NVIDIA's devices from sm_89 on, but for sm_90 without its own instructions (docs/numerics.md). A
// real one may be any of them.
static bool keeps_few_bits(const char *device) {
    static const char *const others[] = {"sim:sm_7", "sim:sm_80", "sim:sm_86", "sim:sm_87"};
    bool cuda = strncmp(device, "cuda", 4) == 0, few = strncmp(device, "sim:sm_", 7) == 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strncmp(device, others[i], strlen(others[i])) == 0) few = false;
    return cuda || (few && strcmp(device, "sim:sm_90") != 0);
}

int main(int argc, char **argv) {
    Session session = {.device = "interp", .one_in = 1};
    const char *only = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--long"))
            session.all = true;
        else if (!strcmp(argv[i], "--device") && i + 1 < argc)
            session.device = argv[++i];
        else if (!strcmp(argv[i], "--one-in") && i + 1 < argc && atoi(argv[i + 1]) > 0)
            session.one_in = (uint64_t)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--flushes"))
            session.flushes = true;
        else if (!strcmp(argv[i], "--option") && i + 1 < argc && add_option(&session, argv[i + 1]))
            i++;
        else
            only = argv[i];
    }
    session.flushes |= strstr(session.device, "gfx90a") != NULL;
    session.short_sums = keeps_few_bits(session.device);
    int failed = only || session.one_in > 1 ? 0 : test_parts();
    session.hardware =
        strncmp(session.device, "cuda", 4) == 0 || strncmp(session.device, "hip", 3) == 0;
    session.gpu = session.hardware || strncmp(session.device, "sim:", 4) == 0;
    failed += open_launchers(&session) ? run_examples(&session, only) : 1;
    for (int i = 0; i < session.launcher_count; i++) launcher_close(&session.launchers[i]);
    return failed != 0;
}
