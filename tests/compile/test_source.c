// Open sources: one file for many kernels, which outlive it, from several threads.
#define _GNU_SOURCE  // mkdtemp
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilec/tilec.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "base/os/os.h"
#include "compile/jit/source.h"

enum { COUNT = 10 };

#define HEAD "import triton\nimport triton.language as tl\n\nSTEP = tl.constexpr(3)\n\n\n"

static const char python[] = HEAD
    "@triton.jit\n"
    "def at(B):\n"
    "    return tl.program_id(0) * B + tl.arange(0, B)\n\n\n"
    "@triton.jit\n"
    "def step(x_ptr, n, B: tl.constexpr = 4):\n"
    "    i = at(B)\n"
    "    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) + STEP, mask=i < n)\n\n\n"
    "@triton.jit\n"
    "def scale(x_ptr, n, by, B: tl.constexpr = 4):\n"
    "    i = at(B)\n"
    "    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * by, mask=i < n)\n";

static const char tile[] =
    "kernel step(f32 x[N], const B = 4) grid(cdiv(N, B)) {\n"
    "    let i = program(0) * B;\n"
    "    x[i +: B] = x[i +: B] + 3.0;\n"
    "}\n"
    "kernel scale(type T, T x[N], T by, const B = 4) grid(cdiv(N, B)) {\n"
    "    let i = program(0) * B;\n"
    "    x[i +: B] = x[i +: B] * by;\n"
    "}\n";

typedef struct Fixture {
    tilec_context *context;
    tilec_device *device;
} Fixture;

static int set_up(void **state) {
    Fixture *f = test_calloc(1, sizeof *f);
    assert_int_equal(tilec_context_create(NULL, &f->context), TILEC_OK);
    assert_int_equal(tilec_device_open(f->context, "interp", &f->device), TILEC_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    tilec_context_destroy(f->context);
    test_free(f);
    return 0;
}

static void expect(const Fixture *f, tilec_status expected, const char *text, tilec_status found) {
    if (found != expected || !strstr(tilec_last_error(f->context), text))
        fail_msg("expected %d '%s', found %d: %s", expected, text, found,
                 tilec_last_error(f->context));
}

static tilec_source *open_text(const Fixture *f, const char *name, const char *text) {
    tilec_source *s = NULL;
    expect(f, TILEC_OK, "", tilec_source_open_text(f->context, name, text, strlen(text), &s));
    return s;
}

static tilec_kernel *make(const Fixture *f, tilec_source *s, const char *name,
                          const tilec_spec *spec) {
    tilec_kernel *k = NULL;
    expect(f, TILEC_OK, "", tilec_kernel_from_open(s, f->device, name, spec, &k));
    return k;
}

// ---- Kernels of one source

#define GRID TILEC_SPEC(TILEC_GRID("triton.cdiv(n, B)"))

static void run_both(const Fixture *f, tilec_kernel *step, tilec_kernel *scale, bool is_python) {
    float x[COUNT] = {0};
    tilec_view v = tilec_view1(TILEC_F32, x, COUNT);
    tilec_status s = is_python ? tilec_launch(step, NULL, TILEC_ARGS(v, COUNT - 1))
                               : tilec_launch(step, NULL, TILEC_ARGS(v));
    expect(f, TILEC_OK, "", s);
    s = is_python ? tilec_launch(scale, NULL, TILEC_ARGS(v, COUNT, 2.0))
                  : tilec_launch(scale, NULL, TILEC_ARGS(v, 2.0));
    expect(f, TILEC_OK, "", s);
    expect(f, TILEC_OK, "", tilec_device_synchronize(f->device));
    for (int i = 0; i < COUNT; i++)
        assert_true(x[i] == (is_python && i == COUNT - 1 ? 0.0F : 6.0F));
}

static void many_kernels_of_one_source(void **state) {
    const Fixture *f = *state;
    for (int is_python = 0; is_python < 2; is_python++) {
        tilec_source *s = open_text(f, is_python ? "k.py" : "k.tile", is_python ? python : tile);
        const tilec_spec *spec = is_python ? GRID : NULL;
        size_t count = 0;
        const char *name = NULL;
        expect(f, TILEC_OK, "", tilec_source_kernel_count(s, &count));
        assert_int_equal(count, 2);
        expect(f, TILEC_OK, "", tilec_source_kernel_name(s, 0, &name));
        assert_string_equal(name, "step");
        expect(f, TILEC_OK, "", tilec_source_kernel_name(s, 1, &name));
        assert_string_equal(name, "scale");
        tilec_kernel *step = make(f, s, "step", spec), *scale = make(f, s, "scale", spec);
        tilec_kernel *again = make(f, s, "step", spec);
        run_both(f, step, scale, is_python);
        // The kernels outlive the source, and each other.
        tilec_kernel_destroy(step);
        tilec_source_close(s);
        run_both(f, again, scale, is_python);
        tilec_kernel_destroy(again);
        float x[1] = {1};
        double y[1] = {1};
        tilec_view views[] = {tilec_view1(TILEC_F64, y, 1), tilec_view1(TILEC_F32, x, 1)};
        for (int i = 0; i < 2; i++)  // compiled after the source was closed
            expect(f, TILEC_OK, "",
                   is_python ? tilec_launch(scale, NULL, TILEC_ARGS(views[i], 1, 5.0))
                             : tilec_launch(scale, NULL, TILEC_ARGS(views[i], 5.0)));
        expect(f, TILEC_OK, "", tilec_device_synchronize(f->device));
        assert_true(x[0] == 5 && y[0] == 5);
        tilec_kernel_destroy(scale);
    }
}

// The file is read once: what becomes of it later does not matter. Neither the kernel nor the
// source is destroyed here: the context does that.
static void files_are_read_once(void **state) {
    const Fixture *f = *state;
    char folder[] = P_tmpdir "/tilec-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/k.py", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(python, file) >= 0 && !fclose(file));
    tilec_source *s = NULL;
    expect(f, TILEC_OK, "", tilec_source_open(f->context, path, &s));
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove(folder), 0);
    run_both(f, make(f, s, "step", GRID), make(f, s, "scale", GRID), true);
}

// Kernels of one source on two devices; one device is closed.
static void several_devices(void **state) {
    const Fixture *f = *state;
    tilec_source *s = open_text(f, "k.py", python);
    tilec_device *other = NULL;
    tilec_kernel *k = NULL;
    expect(f, TILEC_OK, "", tilec_device_open(f->context, "interp", &other));
    expect(f, TILEC_OK, "", tilec_kernel_from_open(s, other, "step", GRID, &k));
    tilec_kernel *step = make(f, s, "step", GRID);
    tilec_source_close(s);
    tilec_device_close(other);
    float x[1] = {0};
    expect(f, TILEC_OK, "", tilec_launch(step, NULL, TILEC_ARGS(tilec_view1(TILEC_F32, x, 1), 1)));
    expect(f, TILEC_OK, "", tilec_device_synchronize(f->device));
    assert_true(x[0] == 3);
}

// ---- What may be wrong

static void wrong_sources_are_not_opened(void **state) {
    const Fixture *f = *state;
    tilec_source *s = NULL;
    static const char wrong[] =
        "kernel k(f32 x[N]) grid(1) {\n    x[0] = yy;\n    x[1] = 1 +;\n}\n";
    expect(f, TILEC_INVALID_SOURCE, "k.tile:2:12: error: unknown name 'yy'",
           tilec_source_open_text(f->context, "k.tile", wrong, strlen(wrong), &s));
    assert_int_equal(tilec_diagnostic_count(f->context), 2);
    expect(f, TILEC_INVALID_SOURCE,
           "source:", tilec_source_open_text(f->context, NULL, wrong, strlen(wrong), &s));
    static const char unfinished[] = "def f(:\n";
    expect(f, TILEC_INVALID_SOURCE, "k.py:1:",
           tilec_source_open_text(f->context, "k.py", unfinished, strlen(unfinished), &s));
    expect(f, TILEC_IO, "cannot read 'no/such.py'",
           tilec_source_open(f->context, "no/such.py", &s));
    expect(f, TILEC_INVALID_SOURCE, "no front end reads '.md'",
           tilec_source_open(f->context, "README.md", &s));
    assert_null(s);
}

static void arguments_are_checked(void **state) {
    const Fixture *f = *state;
    tilec_source *s = open_text(f, "k.py", python), *none = NULL;
    tilec_kernel *k = NULL;
    size_t count;
    const char *name;
    assert_int_equal(tilec_source_open(NULL, "k.py", &s), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_source_kernel_count(NULL, &count), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_source_kernel_name(NULL, 0, &name), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_kernel_from_open(NULL, NULL, NULL, NULL, &k), TILEC_INVALID_ARGUMENT);
    tilec_source_close(NULL);
#define REFUSED(text, call) expect(f, TILEC_INVALID_ARGUMENT, text, call)
    REFUSED("the path is NULL", tilec_source_open(f->context, NULL, &none));
    REFUSED("the pointer for the source is NULL", tilec_source_open(f->context, "k.py", NULL));
    REFUSED("the source is NULL", tilec_source_open_text(f->context, "k.py", NULL, 0, &none));
    REFUSED("the pointer for the count is NULL", tilec_source_kernel_count(s, NULL));
    REFUSED("the pointer for the name is NULL", tilec_source_kernel_name(s, 0, NULL));
    REFUSED("the source has 2 kernels, and none with number 2",
            tilec_source_kernel_name(s, 2, &name));
    REFUSED("the source is NULL", tilec_kernel_from_open(NULL, f->device, NULL, NULL, &k));
    REFUSED("the device is NULL", tilec_kernel_from_open(s, NULL, "step", NULL, &k));
    REFUSED("the pointer for the kernel is NULL",
            tilec_kernel_from_open(s, f->device, "step", NULL, NULL));
    tilec_context *other = NULL;
    tilec_device *far = NULL;
    assert_int_equal(tilec_context_create(NULL, &other), TILEC_OK);
    assert_int_equal(tilec_device_open(other, "interp", &far), TILEC_OK);
    REFUSED("the device belongs to another context",
            tilec_kernel_from_open(s, far, "step", NULL, &k));
    tilec_context_destroy(other);
    assert_null(k);
    assert_null(none);
}

// A kernel that cannot be made leaves the source as it was; its errors are reported once.
static void wrong_kernels_leave_the_source_alone(void **state) {
    const Fixture *f = *state;
    static const char mixed[] = HEAD
        "def loop():\n    return OPEN\n\n\n"
        "OPEN = loop()\n\n\n"
        "@triton.jit\n"
        "def bad(x_ptr):\n    tl.store(x_ptr, nothing)\n\n\n"
        "@triton.jit\n"
        "def circular(x_ptr):\n    tl.store(x_ptr, OPEN)\n\n\n"
        "@triton.jit\n"
        "def good(x_ptr):\n    tl.store(x_ptr, STEP)\n";
    tilec_source *s = open_text(f, "mixed.py", mixed);
    tilec_kernel *k = NULL;
    const tilec_spec *spec = TILEC_SPEC(TILEC_TYPE("x_ptr", TILEC_F32), TILEC_GRID("1"));
    for (int i = 0; i < 3; i++) {
        expect(f, TILEC_INVALID_SOURCE, "unknown name 'nothing'",
               tilec_kernel_from_open(s, f->device, "bad", spec, &k));
        assert_int_equal(tilec_diagnostic_count(f->context), 1);
        expect(f, TILEC_INVALID_SOURCE, "OPEN",
               tilec_kernel_from_open(s, f->device, "circular", spec, &k));
        expect(f, TILEC_INVALID_SOURCE, "there are 3 kernels, and none is named",
               tilec_kernel_from_open(s, f->device, NULL, spec, &k));
        expect(f, TILEC_INVALID_SOURCE, "did you mean 'good'",
               tilec_kernel_from_open(s, f->device, "god", spec, &k));
        expect(f, TILEC_INVALID_SOURCE, "has no parameter 'y'",
               tilec_kernel_from_open(s, f->device, "good", TILEC_SPEC(TILEC_VALUE("y", "1")), &k));
        assert_null(k);
        tilec_kernel *good = make(f, s, "good", spec);
        assert_int_equal(tilec_diagnostic_count(f->context), 0);
        float x = 0;
        expect(f, TILEC_OK, "", tilec_launch(good, NULL, TILEC_ARGS((void *)&x)));
        expect(f, TILEC_OK, "", tilec_device_synchronize(f->device));
        assert_true(x == 3);
        tilec_kernel_destroy(good);
    }
}

// An imported file is read when a kernel first needs it. Here a folder has its name.
static void imports_are_read_when_needed(void **state) {
    const Fixture *f = *state;
    static const char imports[] = HEAD
        "from other import helper\n\n\n"
        "@triton.jit\n"
        "def needs(x_ptr):\n    tl.store(x_ptr, helper(1))\n\n\n"
        "@triton.jit\n"
        "def alone(x_ptr):\n    tl.store(x_ptr, STEP)\n";
    char folder[] = P_tmpdir "/tilec-test-XXXXXX", path[64], other[64];
    OsError error;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/k.py", folder);
    snprintf(other, sizeof other, "%s/other.py", folder);
    Arena *arena = arena_create();
    assert_true(os_write_file(arena, path, str(imports), &error));
    assert_true(os_make_folder(other, &error));
    arena_destroy(arena);
    tilec_source *s = NULL;
    tilec_kernel *k = NULL;
    const tilec_spec *spec = TILEC_SPEC(TILEC_TYPE("x_ptr", TILEC_F32), TILEC_GRID("1"));
    expect(f, TILEC_OK, "", tilec_source_open(f->context, path, &s));
    for (int i = 0; i < 2; i++) {
        expect(f, TILEC_INVALID_SOURCE, "other.py': is a directory",
               tilec_kernel_from_open(s, f->device, "needs", spec, &k));
        tilec_kernel_destroy(make(f, s, "alone", spec));
    }
    assert_int_equal(remove(other) || remove(path) || remove(folder), 0);
}

static void warnings_come_with_the_text(void **state) {
    const Fixture *f = *state;
    static const char warns[] =
        "kernel k(f32 x[N]) grid(1) {\n    let unused = 1;\n    x[0] = 1.0;\n}\n";
    tilec_source *s = open_text(f, "k.tile", warns);
    assert_int_equal(tilec_diagnostic_count(f->context), 1);
    tilec_diagnostic d;
    assert_int_equal(tilec_diagnostic_get(f->context, 0, &d), TILEC_OK);
    assert_int_equal(d.severity, TILEC_WARNING);
    make(f, s, NULL, NULL);
    assert_int_equal(tilec_diagnostic_count(f->context), 0);
}

// ---- Memory

// A kernel's own memory goes with it. The second one finds all that the source keeps.
static void kernels_leave_nothing_in_the_source(void **state) {
    const Fixture *f = *state;
    for (int is_python = 0; is_python < 2; is_python++) {
        tilec_source *s = open_text(f, is_python ? "k.py" : "k.tile", is_python ? python : tile);
        size_t used = 0;
        for (int i = 0; i < 20; i++) {
            tilec_kernel *step = make(f, s, "step", is_python ? GRID : NULL);
            tilec_kernel *scale = make(f, s, "scale", is_python ? GRID : NULL);
            run_both(f, step, scale, is_python);
            tilec_kernel_destroy(step);
            tilec_kernel_destroy(scale);
            if (i == 1) used = arena_used(s->unit->arena);
        }
        assert_int_equal(arena_used(s->unit->arena), used);
        tilec_source_close(s);
    }
}

// ---- Threads

enum { THREADS = 4, ROUNDS = 12 };

typedef struct Worker {
    tilec_context *context;
    tilec_device *device;
    tilec_source *source;
    tilec_kernel *shared;
    int number;
    const char *problem;
} Worker;

static const char *one_round(const Worker *w, int round) {
    float x[COUNT] = {0};
    double y[COUNT] = {0};
    tilec_stream *stream = NULL;
    tilec_kernel *k = NULL;
    const char *name;
    char block[8];
    snprintf(block, sizeof block, "%d", 1 << (w->number + round) % 4);
    tilec_view v = tilec_view1(TILEC_F32, x, COUNT), u = tilec_view1(TILEC_F64, y, COUNT);
    if (tilec_source_kernel_name(w->source, 0, &name)) return "no name";
    if (tilec_kernel_from_open(w->source, w->device, "god", NULL, &k) != TILEC_INVALID_SOURCE ||
        !strstr(tilec_last_error(w->context), "'god'"))
        return "no error, or that of another thread";
    if (tilec_kernel_from_open(w->source, w->device, name,
                               TILEC_SPEC(TILEC_VALUE("B", block), TILEC_GRID("triton.cdiv(n, B)")),
                               &k))
        return "no kernel";
    if (tilec_stream_create(w->device, &stream)) return "no stream";
    for (int i = 0; i < 3; i++)
        if (tilec_launch(k, stream, TILEC_ARGS(v, COUNT)) ||
            tilec_launch(w->shared, stream, TILEC_ARGS(w->number % 2 ? v : u, COUNT)))
            return "a launch is refused";
    if (tilec_stream_synchronize(stream)) return "a launch failed";
    tilec_stream_destroy(stream);
    tilec_kernel_destroy(k);
    for (int i = 0; i < COUNT; i++) {
        if (x[i] != (w->number % 2 ? 18 : 9)) return "a wrong result";
        if (y[i] != (w->number % 2 ? 0 : 9)) return "a wrong result of the shared kernel";
    }
    return NULL;
}

static void *work(void *user) {
    Worker *w = user;
    for (int round = 0; round < ROUNDS && !w->problem; round++) w->problem = one_round(w, round);
    tilec_source *own = NULL;
    if (!w->problem && tilec_source_open_text(w->context, "own.py", python, strlen(python), &own))
        w->problem = "no source";
    tilec_source_close(own);
    return NULL;
}

// Threads that make kernels of one source, and launch one that all share.
static void threads_share_a_source(void **state) {
    const Fixture *f = *state;
    tilec_source *s = open_text(f, "k.py", python);
    tilec_kernel *shared = make(f, s, "step", GRID);
    pthread_t threads[THREADS];
    Worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (Worker){f->context, f->device, s, shared, i + 1, NULL};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        if (workers[i].problem) fail_msg("thread %d: %s", i, workers[i].problem);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(many_kernels_of_one_source),
        TEST(files_are_read_once),
        TEST(several_devices),
        TEST(wrong_sources_are_not_opened),
        TEST(arguments_are_checked),
        TEST(wrong_kernels_leave_the_source_alone),
        TEST(imports_are_read_when_needed),
        TEST(warnings_come_with_the_text),
        TEST(kernels_leave_nothing_in_the_source),
        TEST(threads_share_a_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
