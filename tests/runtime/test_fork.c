// Forks while other threads launch, compile, and are called back: what a child may do with a
// context of its own, and with the one it has from its parent. A child that hangs is ended by
// SIGALRM.
#define _GNU_SOURCE  // fork, alarm
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilec/tilec.h>

#include <cmocka.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 64, WATCHDOG = 20, CHILD_WORKS = 0, CHILD_REFUSED = 1, CHILD_FAILS = 2 };

static const char source[] =
    "kernel twice(type T, T x[N], T y[N]) grid(1) {\n"
    "    var v = x[0 +: 64];\n"
    "    for i in 0 .. 30 { v = -v; }\n"
    "    y[0 +: 64] = v + v;\n"
    "}\n"
    "kernel says(f32 y[N]) grid(1) { print(\"said\"); y[0 +: 64] = full(f32, 7, 64); }\n";

typedef struct World {
    const char *name;
    tilec_context *context;
    tilec_device *device;
    tilec_source *open;
    tilec_kernel *twice, *says;
    tilec_stream *idle, *busy;  // the main thread's and those of the others
    tilec_buffer x, y, other;
    _Atomic bool stop, failed;
    // A print that waits, and one that forks.
    _Atomic bool waits, forks;
    sem_t said, go;
    int status;
} World;

static bool report(const World *w, const char *what, tilec_status status) {
    fprintf(stderr, "%s: %s: status %d: %s\n", w->name, what, (int)status,
            w->context ? tilec_last_error(w->context) : "no context");
    return false;
}

// A call on something that the fork cut off fails with a message; everything else works.
static bool refused(const World *w, tilec_status status) {
    return status == TILEC_UNAVAILABLE &&
           strstr(tilec_last_error(w->context), "the process forked") != NULL;
}

static tilec_status kernel_of(const World *w, const char *name, tilec_kernel **kernel) {
    return tilec_kernel_from_source(w->context, w->device, "fork.tile", source, strlen(source),
                                    name, NULL, kernel);
}

static tilec_status launch_twice(const World *w, tilec_dtype type, tilec_stream *stream,
                                 tilec_buffer x, tilec_buffer y) {
    tilec_arg args[] = {tilec_arg_view(tilec_buffer_view1(type, x, N)),
                        tilec_arg_view(tilec_buffer_view1(type, y, N))};
    return tilec_launch(w->twice, stream, args, 2);
}

static tilec_status launch_says(const World *w, tilec_stream *stream, tilec_buffer y) {
    tilec_arg args[] = {tilec_arg_view(tilec_buffer_view1(TILEC_F32, y, N))};
    return tilec_launch(w->says, stream, args, 1);
}

// ---- What a process does with its context ----

static tilec_status compute(const World *w, float *results) {
    float values[N];
    for (int i = 0; i < N; i++) values[i] = (float)i;
    tilec_status s = tilec_buffer_write(w->device, w->idle, w->x, 0, values, sizeof values);
    if (!s) s = launch_twice(w, TILEC_F32, w->idle, w->x, w->y);
    if (!s) s = tilec_stream_synchronize(w->idle);
    if (!s) s = tilec_buffer_read(w->device, w->idle, w->y, 0, results, sizeof values);
    return s;
}

static bool computes(const World *w, bool *whole) {
    float results[N] = {0};
    tilec_status s = compute(w, results);
    for (int i = 0; !s && i < N; i++)
        if (results[i] != 2.0f * (float)i) return report(w, "a wrong result", s);
    if (refused(w, s)) *whole = false;
    return !s || refused(w, s) || report(w, "computing", s);
}

static tilec_status make_things(const World *w) {
    tilec_kernel *kernel;
    tilec_buffer buffer;
    tilec_stream *stream;
    tilec_status s = kernel_of(w, "says", &kernel);
    if (s) return s;
    tilec_kernel_destroy(kernel);
    s = tilec_buffer_create(w->device, 1000, &buffer);
    if (s) return s;
    tilec_buffer_destroy(w->device, buffer);
    s = tilec_stream_create(w->device, &stream);
    if (s) return s;
    tilec_stream_destroy(stream);
    return TILEC_OK;
}

static tilec_status make_of_open(const World *w) {
    tilec_kernel *kernel = NULL;
    tilec_status s = tilec_kernel_from_open(w->open, w->device, "says", NULL, &kernel);
    tilec_kernel_destroy(kernel);
    return s;
}

static void on_print(void *user, const char *line, size_t size);

static bool world_open(World *w, const char *name) {
    static const char *const folder = "";
    tilec_context_options o = {
        .size = sizeof o, .print = on_print, .user = w, .cache_folder = folder};
    *w = (World){.name = name};
    tilec_status s = tilec_context_create(&o, &w->context);
    if (!s) s = tilec_device_open(w->context, name, &w->device);
    if (!s) s = tilec_source_open_text(w->context, "open.tile", source, strlen(source), &w->open);
    if (!s) s = kernel_of(w, "twice", &w->twice);
    if (!s) s = kernel_of(w, "says", &w->says);
    if (!s) s = tilec_stream_create(w->device, &w->idle);
    if (!s) s = tilec_stream_create(w->device, &w->busy);
    tilec_buffer *buffers[] = {&w->x, &w->y, &w->other};
    for (int i = 0; i < 3 && !s; i++) {
        static const float zeros[N];
        s = tilec_buffer_create(w->device, sizeof zeros, buffers[i]);
        if (!s) s = tilec_buffer_write(w->device, NULL, *buffers[i], 0, zeros, sizeof zeros);
    }
    return !s || report(w, "opening", s);
}

// ---- What a child does ----

static bool works_anew(const char *name) {
    World w;
    bool whole = true;
    bool good = world_open(&w, name) && computes(&w, &whole) && whole;
    tilec_context_destroy(w.context);
    return good;
}

// A stream says once what it lost, and works from then on.
static bool stream_ends(const World *w, tilec_stream *stream, bool *whole) {
    tilec_status s = tilec_stream_synchronize(stream);
    if (refused(w, s)) {
        *whole = false;
        s = tilec_stream_synchronize(stream);
    }
    return !s || report(w, "synchronising", s);
}

static bool uses_parents(const World *w, bool *whole) {
    tilec_status s = make_things(w);
    if (refused(w, s)) *whole = false;
    if (s && !refused(w, s)) return report(w, "making", s);
    s = make_of_open(w);  // another thread nearly always makes one of it, too
    if (s && !refused(w, s)) return report(w, "making of an open source", s);
    s = launch_says(w, w->idle, w->y);
    if (refused(w, s)) *whole = false;
    if (s && !refused(w, s)) return report(w, "printing", s);
    return stream_ends(w, w->idle, whole) && stream_ends(w, w->busy, whole) && computes(w, whole);
}

static _Noreturn void child(World *w) {
    bool whole = true;
    alarm(WATCHDOG);
    w->waits = w->forks = false;
    if (!works_anew(w->name) || !uses_parents(w, &whole)) _exit(CHILD_FAILS);
    tilec_context_destroy(w->context);
    _exit(whole ? CHILD_WORKS : CHILD_REFUSED);
}

// The child's status, or what it failed of.
static int fork_child(World *w) {
    pid_t pid = fork();
    if (pid == 0) child(w);
    int status = -1;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

// A lock that is held while the callback runs is held by this thread, in the child, too: the child
// creates something new, and uses what is idle.
static int fork_in_print(const World *w) {
    pid_t pid = fork();
    if (pid == 0) {
        bool whole = true;
        alarm(WATCHDOG);
        _exit(works_anew(w->name) && computes(w, &whole) && whole ? CHILD_WORKS : CHILD_FAILS);
    }
    int status = -1;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void on_print(void *user, const char *line, size_t size) {
    World *w = user;
    (void)line, (void)size;
    if (w->waits) {
        w->waits = false;
        sem_post(&w->said);
        sem_wait(&w->go);
    }
    if (w->forks) {
        w->forks = false;
        w->status = fork_in_print(w);
    }
}

// ---- The tests, on each device ----

static const char *const devices[] = {"interp", "cpu:1", "cpu:3", "sim:sm_80", "sim:gfx942"};

static void skip_sanitized(void) {
#if defined __SANITIZE_THREAD__
    print_message("skipped: the thread sanitizer does not support threads in a forked child\n");
    skip();
#elif defined __SANITIZE_ADDRESS__
    print_message("skipped: the address sanitizer's malloc does not free its locks in a fork\n");
    skip();
#endif
}

static bool is_there(const char *name) {
    World w;
    if (strcmp(name, "interp") == 0) return true;
    bool there = world_open(&w, name);
    tilec_context_destroy(w.context);
    if (!there) print_message("skipped: device %s does not work here\n", name);
    return there;
}

static void *say_once(void *user) {
    World *w = user;
    w->failed = launch_says(w, w->busy, w->other) || tilec_stream_synchronize(w->busy);
    return NULL;
}

// The one thread is within the program's own callback, with the locks of stream and kernel, as the
// other forks.
static void forks_beside_a_print(const char *name) {
    World w;
    pthread_t thread;
    assert_true(world_open(&w, name));
    sem_init(&w.said, 0, 0);
    sem_init(&w.go, 0, 0);
    w.waits = true;
    assert_int_equal(pthread_create(&thread, NULL, say_once, &w), 0);
    sem_wait(&w.said);
    int status = fork_child(&w);
    sem_post(&w.go);
    pthread_join(thread, NULL);
    // The simulator says lines when the kernel has ended.
    int expected = strncmp(name, "sim:", 4) == 0 ? CHILD_WORKS : CHILD_REFUSED;
    if (status != expected) fail_msg("%s: the child ends with %d", name, status);
    assert_false(w.failed);
    tilec_context_destroy(w.context);
}

static void forks_within_a_print(const char *name) {
    World w;
    assert_true(world_open(&w, name));
    w.forks = true;
    w.status = -1;
    assert_int_equal(launch_says(&w, w.busy, w.other), TILEC_OK);
    assert_int_equal(tilec_stream_synchronize(w.busy), TILEC_OK);
    if (w.status != CHILD_WORKS) fail_msg("%s: the child ends with %d", name, w.status);
    tilec_context_destroy(w.context);
}

static void *launch_on(void *user) {
    World *w = user;
    for (int i = 0; !w->stop && !w->failed; i++) {
        tilec_status s =
            launch_twice(w, i % 2 ? TILEC_F32 : TILEC_I32, w->busy, w->other, w->other);
        if (!s && i % 8 == 0) s = launch_says(w, w->busy, w->other);
        if (!s) s = tilec_stream_synchronize(w->busy);
        if (s) w->failed = !report(w, "launching during forks", s);
    }
    return NULL;
}

static void *make_on(void *user) {
    World *w = user;
    while (!w->stop && !w->failed) {
        tilec_kernel *none;
        tilec_status s = make_things(w);
        if (!s) s = make_of_open(w);
        if (s) w->failed = !report(w, "creating during forks", s);
        if (!kernel_of(w, "nothing", &none)) w->failed = true;
    }
    return NULL;
}

static void forks_beside_everything(const char *name) {
    World w;
    pthread_t threads[3];
    const char *whole = getenv("TILEC_TEST_WHOLE");
    int rounds = whole && *whole == '1' ? 400 : 6, refusals = 0;
    assert_true(world_open(&w, name));
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i == 2 ? make_on : launch_on, &w), 0);
    int status = CHILD_WORKS;
    for (int i = 0; i < rounds && status <= CHILD_REFUSED && status >= 0; i++) {
        usleep(1000 + (useconds_t)(i * 977 % 3000));
        status = fork_child(&w);
        refusals += status == CHILD_REFUSED;
    }
    w.stop = true;
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    print_message("%s: %d of %d children were refused something\n", name, refusals, rounds);
    if (status > CHILD_REFUSED || status < 0) fail_msg("%s: a child ends with %d", name, status);
    assert_false(w.failed);
    tilec_context_destroy(w.context);
}

static void on_each(void (*test)(const char *name)) {
    skip_sanitized();
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (is_there(devices[i])) test(devices[i]);
}

static void test_beside_a_print(void **state) {
    (void)state;
    on_each(forks_beside_a_print);
}

static void test_within_a_print(void **state) {
    (void)state;
    on_each(forks_within_a_print);
}

static void test_beside_everything(void **state) {
    (void)state;
    on_each(forks_beside_everything);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beside_a_print),
        cmocka_unit_test(test_within_a_print),
        cmocka_unit_test(test_beside_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
