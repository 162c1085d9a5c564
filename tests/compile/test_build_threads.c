// Libraries from several threads at once: loaded, launched, unloaded, loaded again. Run it in the
// tsan preset to see that there are no races either.
#include "tests/compile/build_world.h"

#include "base/os/os_thread.h"

enum { THREADS = 4, ROUNDS = 40, N = 200 };

#define ADDS                                                                   \
    "kernel adds(f32 x[N], f32 y[N], f32 a, const B = 8) grid(cdiv(N, B)) {\n" \
    "    let i = program(0) * B;\n"                                            \
    "    y[i +: B] = x[i +: B] + a;\n"                                         \
    "}\n"                                                                      \
    "kernel more(f32 x[N], f32 y[N], f32 a, const B = 8) grid(cdiv(N, B)) {\n" \
    "    let i = program(0) * B;\n"                                            \
    "    y[i +: B] = x[i +: B] + a + a;\n"                                     \
    "}\n"

static MadeLibrary *make_adds(World *w, const char *name, const char *lists) {
    char target[CPU_NAME_MAX];
    MadeLibrary *m = made_library(name, cpu_target_name(cpu_native(), target));
    made_source(m, write_source(w, "adds.tile", ADDS));
    made_function(m, arena_printf(w->arena, "adds %s", lists));
    made_function(m, arena_printf(w->arena, "more %s", lists));
    made_build(m);
    made_link(m);
    return m;
}

typedef struct Worker {
    tilec_context *context;
    tilec_device *device;
    const struct tilec_archive *archives[2];
    int number;
    const char *problem;  // NULL: all is well
} Worker;

static const char *launch(Worker *w, tilec_library *l, tilec_stream *stream, int round) {
    float x[N], y[N] = {0};
    bool more = (w->number + round) % 2;
    for (int i = 0; i < N; i++) x[i] = (float)i;
    float a = (float)(w->number + 1);
    tilec_view from = tilec_view1(TILEC_F32, x, N), to = tilec_view1(TILEC_F32, y, N);
    const void *values[] = {&from, &to, &a};
    if (tilec_library_call(l, more ? "more" : "adds", stream, values)) return "launch refused";
    if (tilec_stream_synchronize(stream)) return "launch failed";
    for (int i = 0; i < N; i++)
        if (y[i] != x[i] + (more ? 2 * a : a)) return "wrong result";
    return NULL;
}

static const char *one_round(Worker *w, int round) {
    tilec_library *l = NULL;
    tilec_kernel *k = NULL;
    tilec_stream *stream = NULL;
    const struct tilec_archive *archive = w->archives[(w->number / 2 + round / 3) % 2];
    if (tilec_library_load(w->device, archive, 0, &l)) return "not loaded";
    if (tilec_stream_create(w->device, &stream)) return "no stream";
    const char *problem = launch(w, l, stream, round);
    if (!problem && tilec_library_kernel(l, "nothing", &k) != TILEC_INVALID_ARGUMENT)
        problem = "a function that is not there";
    if (!problem) problem = launch(w, l, stream, round + 1);
    tilec_stream_destroy(stream);
    tilec_library_unload(l);
    return problem;
}

static void work(void *user) {
    Worker *w = user;
    for (int round = 0; round < ROUNDS && !w->problem; round++) w->problem = one_round(w, round);
}

static void work_all(World *w, tilec_device *device, const struct tilec_archive *a,
                     const struct tilec_archive *b) {
    OsThread *threads[THREADS];
    Worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (Worker){w->context, device, {a, b}, i, NULL};
        threads[i] = os_thread_start("test", work, &workers[i]);
        assert_non_null(threads[i]);
    }
    for (int i = 0; i < THREADS; i++) os_thread_join(threads[i]);
    for (int i = 0; i < THREADS; i++)
        if (workers[i].problem) fail_msg("thread %d: %s", i, workers[i].problem);
}

static void threads_load_and_unload(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    MadeLibrary *a = make_adds(w, "one", "B=8 | B=16"), *b = make_adds(w, "two", "B=8");
    tilec_device *device = open_device(w, "cpu:2");
    work_all(w, device, a->linked, b->linked);
    // All that was loaded is unloaded; nothing was made for each load.
    unsigned count = 0;
    for (tilec_library *l = atomic_load(&device->libraries); l; l = l->next) {
        assert_null((const void *)atomic_load(&l->data));
        assert_int_equal(l->users, 0);
        count++;
    }
    assert_true(count <= 2 * THREADS);
    // The same while one library stays loaded.
    tilec_library *stays = load(w, device, a->linked);
    work_all(w, device, a->linked, b->linked);
    assert_int_equal(stays->users, 1);
    tilec_context_destroy(w->context);
    w->context = NULL;
    made_free(a);
    made_free(b);
}

// Launches that wait on a stream are done before their code goes.
static void unloading_waits(void **state) {
    enum { LAUNCHES = 50, MANY = 20000 };
    static float x[MANY], y[2][MANY];
    World *w = *state;
    if (!codegen_built()) return;
    MadeLibrary *m = make_adds(w, "one", "B=8");
    tilec_device *device = open_device(w, "cpu:2");
    tilec_library *l = load(w, device, m->linked);
    tilec_kernel *k = NULL;
    assert_int_equal(tilec_library_kernel(l, "adds", &k), TILEC_OK);
    memset(y, 0, sizeof y);
    for (int i = 0; i < LAUNCHES; i++) {
        const float *from = i ? y[(i + 1) % 2] : x;
        tilec_view in = tilec_view1(TILEC_F32, y[(i + 1) % 2], MANY);
        if (from == x) in = tilec_view1(TILEC_F32, x, MANY);
        assert_int_equal(
            tilec_launch(k, NULL, TILEC_ARGS(in, tilec_view1(TILEC_F32, y[i % 2], MANY), 1.0)),
            TILEC_OK);
    }
    tilec_library_unload(l);
    for (int i = 0; i < MANY; i++) assert_true(y[(LAUNCHES - 1) % 2][i] == (float)LAUNCHES);
    tilec_context_destroy(w->context);
    w->context = NULL;
    made_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        BUILD_TEST(threads_load_and_unload),
        BUILD_TEST(unloading_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
