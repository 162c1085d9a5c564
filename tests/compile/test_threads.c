// One context from several threads: each sees its own errors, all see right results. Run it in the
// tsan preset to see that there are no races either.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <tilec/tilec.h>

#include <cmocka.h>

enum { THREADS = 4, ROUNDS = 25 };

typedef struct Worker {
    tilec_context *context;
    tilec_device *device;
    tilec_kernel *shared;  // generic: each thread asks for another type of it now and then
    tilec_kernel *plain;   // of known types: its facts and its function are asked for by all
    int number;
    const char *problem;  // NULL: all is well
} Worker;

static const char shared_source[] =
    "kernel add(type T, T x[N], T a, const B = 8) grid(cdiv(N, B)) {\n"
    "    let i = program(0) * B;\n"
    "    x[i +: B] = x[i +: B] + a;\n"
    "}\n";

static const char plain_source[] =
    "kernel twice(f32 x[N]) grid(N) {\n    x[program(0)] = x[program(0)] * 2;\n}\n";

static const char *one_function(Worker *w) {
    tilec_function_pointer f;
    tilec_param p;
    const char *json = NULL, *signature = NULL;
    if (tilec_kernel_param(w->plain, 0, &p) || strcmp(p.name, "x") != 0) return "no parameter";
    if (tilec_kernel_metadata(w->plain, &json) || !strstr(json, "twice")) return "no metadata";
    if (tilec_function_signature(w->plain, &signature) ||
        strcmp(signature, "tilec_status twice(float *x, int64_t N)") != 0)
        return "no signature";
    tilec_status s = tilec_function(w->plain, &f);
    if (s == TILEC_UNAVAILABLE) return NULL;  // no libffi: test_function says so
    float x[3] = {1, 2, (float)w->number};
    if (s || ((tilec_status(*)(float *, int64_t))f)(x, 3)) return "no function";
    return x[1] == 4 && x[2] == (float)(2 * w->number) ? NULL : "a wrong result of a function";
}

static const char *one_round(Worker *w, int round) {
    tilec_stream *stream = NULL;
    if (tilec_stream_create(w->device, &stream)) return "no stream";
    float f[20] = {0};
    double d[20] = {0};
    bool wide = (w->number + round) % 2;
    tilec_arg view =
        tilec_arg_view(wide ? tilec_view1(TILEC_F64, d, 20) : tilec_view1(TILEC_F32, f, 20));
    for (int i = 0; i < 3; i++)
        if (tilec_launch(w->shared, stream, TILEC_ARGS(view, w->number))) return "launch refused";
    if (tilec_stream_synchronize(stream)) return "launch failed";
    tilec_stream_destroy(stream);
    for (int i = 0; i < 20; i++)
        if ((wide ? d[i] : (double)f[i]) != 3.0 * w->number) return "wrong result";

    char name[32], source[64];
    snprintf(name, sizeof name, "thread%d.tile", w->number);
    snprintf(source, sizeof source, "kernel k(f32 x[N]) grid(1) { x[0] = y%d; }", w->number);
    tilec_kernel *k = NULL;
    if (tilec_kernel_from_source(w->context, w->device, name, source, strlen(source), NULL, NULL,
                                 &k) != TILEC_INVALID_SOURCE)
        return "a wrong kernel was taken";
    if (!strstr(tilec_last_error(w->context), name)) return "another thread's error";
    if (tilec_diagnostic_count(w->context) == 0) return "no diagnostics";

    tilec_buffer buffer;
    if (tilec_buffer_create(w->device, 64, &buffer)) return "no buffer";
    if (tilec_buffer_write(w->device, NULL, buffer, 0, f, sizeof f > 64 ? 64 : sizeof f))
        return "no write";
    if (tilec_buffer_destroy(w->device, buffer)) return "no destroy";
    if (tilec_buffer_destroy(w->device, buffer) != TILEC_INVALID_ARGUMENT) return "destroyed twice";
    return NULL;
}

static void *work(void *user) {
    Worker *w = user;
    for (int round = 0; round < ROUNDS && !w->problem; round++) {
        w->problem = one_function(w);
        if (!w->problem) w->problem = one_round(w, round);
    }
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    tilec_context *context = NULL;
    tilec_device *device = NULL;
    tilec_kernel *shared = NULL, *plain = NULL;
    assert_int_equal(tilec_context_create(NULL, &context), TILEC_OK);
    assert_int_equal(tilec_device_open(context, "interp", &device), TILEC_OK);
    assert_int_equal(tilec_kernel_from_source(context, device, "shared.tile", shared_source,
                                              strlen(shared_source), "add", NULL, &shared),
                     TILEC_OK);
    assert_int_equal(tilec_kernel_from_source(context, device, "plain.tile", plain_source,
                                              strlen(plain_source), NULL, NULL, &plain),
                     TILEC_OK);
    pthread_t threads[THREADS];
    Worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (Worker){context, device, shared, plain, i + 1, NULL};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        if (workers[i].problem) fail_msg("thread %d: %s", i, workers[i].problem);
    tilec_kernel_destroy(shared);
    tilec_context_destroy(context);
}

// Two threads on one stream: every launch that was accepted is done.
typedef struct Launcher {
    tilec_kernel *kernel;
    tilec_arg view;
    bool failed;
} Launcher;

enum { LAUNCHES = 300 };

static void *launch_many(void *user) {
    Launcher *l = user;
    for (int i = 0; i < LAUNCHES && !l->failed; i++)
        l->failed = tilec_launch(l->kernel, NULL, TILEC_ARGS(l->view, 1)) != TILEC_OK;
    return NULL;
}

static void test_one_stream(void **state) {
    (void)state;
    tilec_context *context = NULL;
    tilec_device *device = NULL;
    tilec_kernel *kernels[2] = {NULL, NULL};
    float values[2][20] = {{0}};
    pthread_t threads[2];
    Launcher launchers[2];
    assert_int_equal(tilec_context_create(NULL, &context), TILEC_OK);
    assert_int_equal(tilec_device_open(context, "interp", &device), TILEC_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tilec_kernel_from_source(context, device, "one.tile", shared_source,
                                                  strlen(shared_source), "add", NULL, &kernels[i]),
                         TILEC_OK);
        launchers[i] =
            (Launcher){kernels[i], tilec_arg_view(tilec_view1(TILEC_F32, values[i], 20)), false};
        assert_int_equal(pthread_create(&threads[i], NULL, launch_many, &launchers[i]), 0);
    }
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(tilec_device_synchronize(device), TILEC_OK);
    for (int i = 0; i < 2; i++) {
        assert_false(launchers[i].failed);
        for (int k = 0; k < 20; k++) assert_true(values[i][k] == (float)LAUNCHES);
    }
    tilec_context_destroy(context);  // with its kernels
}

// Threads make, use and destroy streams of their own, and ask for an event that another one
// records, while one waits for the whole device.
typedef struct Crowd {
    tilec_kernel *kernel;
    tilec_device *device;
    tilec_event *event;
    atomic_uint left;  // threads that are not done
    atomic_bool failed;
} Crowd;

enum { CROWD = 3, STREAMS = 400 };

static bool comes_and_goes(Crowd *c) {
    float x[20] = {0};
    int done;
    tilec_stream *stream = NULL;
    tilec_arg view = tilec_arg_view(tilec_view1(TILEC_F32, x, 20));
    if (tilec_stream_create(c->device, &stream)) return false;
    bool fine = tilec_launch(c->kernel, stream, TILEC_ARGS(view, 2)) == TILEC_OK &&
                tilec_event_record(c->event, stream) == TILEC_OK &&
                tilec_event_query(c->event, &done) == TILEC_OK &&
                tilec_stream_wait_event(stream, c->event) == TILEC_OK;
    tilec_stream_destroy(stream);  // not before its work is done
    return fine && x[0] == 2 && x[19] == 2;
}

static void *come_and_go(void *user) {
    Crowd *c = user;
    for (int i = 0; i < STREAMS; i++)
        if (!comes_and_goes(c)) c->failed = true;
    c->left--;
    return NULL;
}

static void waits_for_a_crowd(const char *name) {
    tilec_context *context = NULL;
    Crowd c = {.left = CROWD};
    pthread_t threads[CROWD];
    assert_int_equal(tilec_context_create(NULL, &context), TILEC_OK);
    assert_int_equal(tilec_device_open(context, name, &c.device), TILEC_OK);
    tilec_status s = tilec_kernel_from_source(context, c.device, "one.tile", shared_source,
                                              strlen(shared_source), "add",
                                              TILEC_SPEC(TILEC_TYPE("T", TILEC_F32)), &c.kernel);
    if (s) fail_msg("%s: %s", name, tilec_last_error(context));
    assert_int_equal(tilec_event_create(c.device, &c.event), TILEC_OK);
    for (int i = 0; i < CROWD; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &c), 0);
    while (c.left) assert_int_equal(tilec_device_synchronize(c.device), TILEC_OK);
    for (int i = 0; i < CROWD; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_false(c.failed);
    tilec_context_destroy(context);
}

static void test_device_waits(void **state) {
    (void)state;
    waits_for_a_crowd("interp");
#ifdef TEST_CODEGEN
    waits_for_a_crowd("cpu:2");
#endif
}

static void *fail_once(void *user) {
    tilec_device *device = NULL;
    tilec_device_open(user, "nowhere", &device);
    return NULL;
}

static void *read_error(void *user) {
    tilec_context *context = user;
    return tilec_last_error(context)[0] ? context : NULL;
}

// A thread that ended leaves nothing to one that takes its id.
static void test_errors_end_with_threads(void **state) {
    (void)state;
    tilec_context *context = NULL;
    assert_int_equal(tilec_context_create(NULL, &context), TILEC_OK);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        void *heard = NULL;
        assert_int_equal(pthread_create(&thread, NULL, fail_once, context), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(pthread_create(&thread, NULL, read_error, context), 0);
        assert_int_equal(pthread_join(thread, &heard), 0);
        assert_null(heard);
    }
    tilec_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_device_waits),
        cmocka_unit_test(test_one_stream),
        cmocka_unit_test(test_errors_end_with_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
