// Kernels on device cpu through the public API: variants made when they are chosen, shared and
// kept; the interpreter under sanitize; what is wrong comes back as a status.
//
// Most tests use a compiler library that has no LLVM and makes the code of tests/fakes/kernel.c:
// what is tested is who compiles when, not what.
#define _GNU_SOURCE  // setenv, mkdtemp
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tilec/tilec.h>
#include <unistd.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "base/os/os.h"
#include "compile/jit/plugin.h"

static const char copy_text[] =
    "kernel copy(f32 x[N], f32 y[N], const B = 64) grid(cdiv(N, B)) {\n"
    "    y[program(0) * B +: B] = x[program(0) * B +: B];\n"
    "}\n";

typedef struct World {
    Arena *arena;
    char folder[64];
    const char *log;
    tilec_context *context;
    tilec_device *device;
    char said[1024];
} World;

static void listen(void *user, tilec_severity severity, const char *text) {
    (void)severity;
    World *w = user;
    snprintf(w->said, sizeof w->said, "%s", text);
}

static void open_context(World *w) {
    tilec_context_options o = {.size = sizeof o, .log = listen, .user = w, .cpu_threads = 2};
    assert_int_equal(tilec_context_create(&o, &w->context), TILEC_OK);
    assert_int_equal(tilec_device_open(w->context, "cpu", &w->device), TILEC_OK);
}

static void use_fakes(World *w) {
    w->log = arena_printf(w->arena, "%s/log", w->folder);
    setenv("TILEC_LLVM_LIBRARY", TEST_FAKE_PLUGIN, 1);
    setenv("FAKE_KERNEL", TEST_FAKE_KERNEL, 1);
    setenv("FAKE_LOG", w->log, 1);
}

static int set_up(void **state) {
    World *w = calloc(1, sizeof *w);
    w->arena = arena_create();
    snprintf(w->folder, sizeof w->folder, "%s/tilec-test-XXXXXX", P_tmpdir);
    assert_non_null(mkdtemp(w->folder));
    setenv("TILEC_CACHE_DIR", arena_printf(w->arena, "%s/cache", w->folder), 1);
    setenv("TMPDIR", w->folder, 1);
    use_fakes(w);
    open_context(w);
    *state = w;
    return 0;
}

static int tear_down(void **state) {
    static const char *const set[] = {
        "TILEC_CACHE_DIR", "TILEC_LLVM_LIBRARY",     "FAKE_KERNEL",     "FAKE_LOG", "FAKE_PLUGIN",
        "TILEC_CACHE",     "TILEC_COMPILE_IN_CHILD", "TILEC_CPU_TARGET"};
    World *w = *state;
    tilec_context_destroy(w->context);
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) unsetenv(set[i]);
    assert_int_equal(system(arena_printf(w->arena, "rm -rf '%s'", w->folder)), 0);
    arena_destroy(w->arena);
    free(w);
    return 0;
}

static void reopen(World *w) {
    tilec_context_destroy(w->context);
    open_context(w);
}

static tilec_kernel *kernel_of(World *w, const char *text, const tilec_spec *spec) {
    tilec_kernel *k = NULL;
    tilec_status s = tilec_kernel_from_source(w->context, w->device, "k.tile", text, strlen(text),
                                              NULL, spec, &k);
    if (s) fail_msg("%s", tilec_last_error(w->context));
    return k;
}

// How often the compiler library was asked, and for what.
static const char *asked(World *w) {
    Str text = {0};
    OsError e;
    if (!os_read_file(w->arena, w->log, 1 << 20, &text, &e)) return "";
    char *copy = arena_text(w->arena, text.text, text.size);
    for (char *at = copy; *at; at++)
        if (*at == '\n') *at = ' ';
    return copy;
}

// y = what the kernel makes of x; overlapping arrays choose the general variant.
static float launch(World *w, tilec_kernel *k, float *x, float *y) {
    tilec_status s = tilec_launch(
        k, NULL, TILEC_ARGS(tilec_view1(TILEC_F32, x, 10), tilec_view1(TILEC_F32, y, 10)));
    if (!s) s = tilec_device_synchronize(w->device);
    if (s) fail_msg("%s", tilec_last_error(w->context));
    return y[0];
}

static void variants_are_made_when_chosen(void **state) {
    World *w = *state;
    float x[20] = {0}, y[20] = {0};
    tilec_kernel *k = kernel_of(w, copy_text, NULL);
    assert_string_equal(asked(w), "copy_B_64_v1 ");  // the likeliest, at creation
    assert_true(launch(w, k, x, y) == 2);
    assert_true(launch(w, k, x, x) == 2);  // in place: as good as apart
    assert_string_equal(asked(w), "copy_B_64_v1 ");
    x[0] = x[1] = 0;
    assert_true(launch(w, k, x + 1, x) == 1);  // overlapping
    assert_string_equal(asked(w), "copy_B_64_v1 copy_B_64 ");
    assert_true(launch(w, k, y, y) == 4);
    assert_true(launch(w, k, x, x + 1) == x[0] + 1);
    assert_string_equal(asked(w), "copy_B_64_v1 copy_B_64 ");
    tilec_kernel_destroy(k);
}

// Neither the cache nor code in memory may be written: no signal ends the process, the status says
// what the limit is, and without it the same calls work.
static void a_limit_on_files_is_a_status(void **state) {
    World *w = *state;
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit small = {1000, old.rlim_max};
    tilec_kernel *k = NULL;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    tilec_status s = tilec_kernel_from_source(w->context, w->device, "k.tile", copy_text,
                                              strlen(copy_text), NULL, NULL, &k);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(s, TILEC_IO);
    assert_non_null(strstr(tilec_last_error(w->context),
                           "the process may not make files larger than 1000 bytes (RLIMIT_FSIZE"));
    assert_non_null(strstr(w->said, "RLIMIT_FSIZE"));
    float x[10] = {0}, y[10] = {0};
    assert_true(launch(w, kernel_of(w, copy_text, NULL), x, y) == 2);
}

static void equal_kernels_share_code(void **state) {
    World *w = *state;
    setenv("TILEC_CACHE", "off", 1);
    reopen(w);
    float x[10] = {0}, y[10] = {0};
    tilec_kernel *a = kernel_of(w, copy_text, NULL), *b = kernel_of(w, copy_text, NULL);
    assert_string_equal(asked(w), "copy_B_64_v1 ");
    tilec_kernel_destroy(a);
    assert_true(launch(w, b, x, y) == 2);
    tilec_kernel_destroy(b);
    // No kernel used it any more, and nothing was kept on disk.
    tilec_kernel_destroy(kernel_of(w, copy_text, NULL));
    assert_string_equal(asked(w), "copy_B_64_v1 copy_B_64_v1 ");
}

static void other_kernels_do_not(void **state) {
    World *w = *state;
    kernel_of(w, copy_text, NULL);
    // A blank line more: line tables and asserts name other places.
    kernel_of(w, arena_printf(w->arena, "\n%s", copy_text), NULL);
    kernel_of(w, copy_text, TILEC_SPEC(TILEC_OPTION("debug", 0)));
    assert_string_equal(asked(w), "copy_B_64_v1 copy_B_64_v1 copy_B_64_v1 ");
#ifdef __x86_64__  // elsewhere there is one target
    setenv("TILEC_CPU_TARGET", "x86-64-v2", 1);
    World other = {.arena = w->arena};
    open_context(&other);
    kernel_of(&other, copy_text, NULL);
    tilec_context_destroy(other.context);
    assert_string_equal(asked(w), "copy_B_64_v1 copy_B_64_v1 copy_B_64_v1 copy_B_64_v1 ");
#endif
}

static void the_disk_keeps_code(void **state) {
    World *w = *state;
    float x[20] = {0}, y[20] = {0};
    assert_true(launch(w, kernel_of(w, copy_text, NULL), x + 1, x) == 1);
    // As in another process, and without a compiler library at all.
    setenv("TILEC_LLVM_LIBRARY", "/nowhere.so", 1);
    reopen(w);
    tilec_kernel *k = kernel_of(w, copy_text, NULL);
    assert_true(launch(w, k, y, y + 10) == 2);
    assert_string_equal(asked(w), "copy_B_64_v1 copy_B_64 ");
    assert_string_equal(w->said, "");
}

static void a_useless_cache_is_no_failure(void **state) {
    World *w = *state;
    assert_int_equal(system(arena_printf(w->arena, "mkdir -p '%s/cache' && chmod 777 '%s/cache'",
                                         w->folder, w->folder)),
                     0);
    float x[10] = {0}, y[10] = {0};
    assert_true(launch(w, kernel_of(w, copy_text, NULL), x, y) == 2);
    assert_non_null(strstr(w->said, "others may write there"));
}

// The file that an image is loaded from may be deleted at any time: another process makes room.
static void loaded_code_outlives_its_file(void **state) {
    World *w = *state;
    float x[10] = {0}, y[10] = {0};
    tilec_kernel *k = kernel_of(w, copy_text, NULL);
    assert_int_equal(system(arena_printf(w->arena, "rm -r '%s/cache'", w->folder)), 0);
    assert_true(launch(w, k, x, y) == 2);
    reopen(w);
    assert_true(launch(w, kernel_of(w, copy_text, NULL), x, y) == 2);
}

static void children_compile(void **state) {
    World *w = *state;
    setenv("TILEC_COMPILE_IN_CHILD", "1", 1);
    reopen(w);
    float x[10] = {0}, y[10] = {0};
    setenv("FAKE_PLUGIN", "abort", 1);
    tilec_kernel *k = NULL;
    tilec_status s = tilec_kernel_from_source(w->context, w->device, "k.tile", copy_text,
                                              strlen(copy_text), NULL, NULL, &k);
    assert_int_equal(s, TILEC_INTERNAL);
    assert_null(k);
    assert_non_null(strstr(tilec_last_error(w->context), "the code generator crashed (signal 6)"));
    assert_string_equal((tilec_diagnostic_count(w->context) > 0) ? "some" : "none", "some");
    // Later calls work.
    unsetenv("FAKE_PLUGIN");
    assert_true(launch(w, kernel_of(w, copy_text, NULL), x, y) == 2);
}

static void failures_are_statuses(void **state) {
    World *w = *state;
    tilec_kernel *k = NULL;
    setenv("FAKE_PLUGIN", "refuse", 1);
    assert_int_equal(tilec_kernel_from_source(w->context, w->device, "k.tile", copy_text,
                                              strlen(copy_text), NULL, NULL, &k),
                     TILEC_UNSUPPORTED);
    // A variant that cannot be made fails the launch that chose it, and no other.
    unsetenv("FAKE_PLUGIN");
    float x[20] = {0}, y[10] = {0};
    k = kernel_of(w, copy_text, NULL);
    setenv("FAKE_PLUGIN", "refuse", 1);
    assert_int_equal(
        tilec_launch(k, NULL,
                     TILEC_ARGS(tilec_view1(TILEC_F32, x + 1, 10), tilec_view1(TILEC_F32, x, 10))),
        TILEC_UNSUPPORTED);
    assert_non_null(strstr(tilec_last_error(w->context), "'copy' is refused"));
    assert_true(launch(w, k, x, y) == 2);
    unsetenv("FAKE_PLUGIN");
    assert_true(launch(w, k, x + 1, x) == 1);
    setenv("TILEC_LLVM_LIBRARY", "/nowhere.so", 1);
    setenv("TILEC_CACHE", "off", 1);
    reopen(w);
    assert_int_equal(tilec_kernel_from_source(w->context, w->device, "k.tile", copy_text,
                                              strlen(copy_text), NULL, NULL, &k),
                     TILEC_UNAVAILABLE);
    setenv("TILEC_CPU_TARGET", "aarch64-or-so", 1);
    reopen(w);
    assert_int_equal(tilec_kernel_from_source(w->context, w->device, "k.tile", copy_text,
                                              strlen(copy_text), NULL, NULL, &k),
                     TILEC_INVALID_ARGUMENT);
    assert_non_null(strstr(tilec_last_error(w->context), "TILEC_CPU_TARGET is 'aarch64-or-so'"));
    assert_non_null(strstr(tilec_last_error(w->context), "there are: x86-64-v2, x86-64-v3"));
#if defined __x86_64__
    setenv("TILEC_CPU_TARGET", "aarch64", 1);
    reopen(w);
    assert_int_equal(tilec_kernel_from_source(w->context, w->device, "k.tile", copy_text,
                                              strlen(copy_text), NULL, NULL, &k),
                     TILEC_UNAVAILABLE);
    assert_non_null(strstr(tilec_last_error(w->context), "which this machine does not run"));
#endif
}

static void sanitize_is_the_interpreter(void **state) {
    World *w = *state;
    float x[10] = {5}, y[10] = {0};
    static const char bad[] = "kernel bad(*f32 x, *f32 y) grid(1) { store(y, load(x + 1000)); }\n";
    tilec_kernel *k = kernel_of(w, copy_text, TILEC_SPEC(TILEC_OPTION("sanitize", 1)));
    assert_true(launch(w, k, x, y) == 5);
    tilec_buffer small, out;
    assert_int_equal(tilec_buffer_create(w->device, 64, &small), TILEC_OK);
    assert_int_equal(tilec_buffer_create(w->device, 64, &out), TILEC_OK);
    k = kernel_of(w, bad, TILEC_SPEC(TILEC_OPTION("sanitize", 1)));
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(small, out)), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(w->device), TILEC_KERNEL_FAILED);
    assert_non_null(strstr(tilec_last_error(w->context), "[bounds]"));
    assert_string_equal(asked(w), "");
}

// ---- Several threads compile at once, each kernel its own or all the same one.

enum { THREADS = 4, ROUNDS = 6 };
typedef struct Worker {
    World *w;
    int number;
    int wrong;
} Worker;

static void *compile_many(void *argument) {
    Worker *me = argument;
    for (int i = 0; i < ROUNDS; i++) {
        char text[512];
        // Even rounds: the same for all threads.
        int size = i % 2 ? 64 : 64 << me->number;
        snprintf(text, sizeof text,
                 "kernel copy(f32 x[N], f32 y[N], const B = %d) grid(cdiv(N, B)) {\n"
                 "    y[program(0) * B +: B] = x[program(0) * B +: B] + %d;\n}\n",
                 size, i);
        tilec_kernel *k = NULL;
        float x[100] = {1}, y[100] = {0};
        tilec_stream *stream = NULL;
        tilec_status s = tilec_kernel_from_source(me->w->context, me->w->device, "k.tile", text,
                                                  strlen(text), NULL, NULL, &k);
        if (!s) s = tilec_stream_create(me->w->device, &stream);
        if (!s)
            s = tilec_launch(
                k, stream,
                TILEC_ARGS(tilec_view1(TILEC_F32, x, 100), tilec_view1(TILEC_F32, y, 100)));
        if (!s) s = tilec_stream_synchronize(stream);
        if (s) fprintf(stderr, "%s\n", tilec_last_error(me->w->context));
        me->wrong += s || y[0] != 1 + (float)i || y[99] != (float)i;
        tilec_stream_destroy(stream);
        tilec_kernel_destroy(k);
    }
    return NULL;
}

static void threads_compile_at_once(void **state) {
    World *w = *state;
    unsetenv("TILEC_LLVM_LIBRARY");
    reopen(w);
    Plugin *plugin = plugin_create(NULL);
    bool built = plugin_find(plugin, w->arena).size > 0;
    plugin_destroy(plugin);
    if (!built) {
        print_message(
            "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
        return;
    }
    pthread_t threads[THREADS];
    Worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (Worker){w, i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, compile_many, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(workers[i].wrong, 0);
    }
}

// The option names the library, whatever the variable says, in this process and in a child.
static void the_context_names_the_compiler(void **state) {
    World *w = *state;
    char path[sizeof TEST_FAKE_PLUGIN] = TEST_FAKE_PLUGIN;
    setenv("TILEC_LLVM_LIBRARY", "/none/variable.so", 1);
    setenv("TILEC_CACHE", "off", 1);
    for (uint32_t child = 0; child < 2; child++) {
        tilec_context_options o = {
            .size = sizeof o, .compile_in_child = child, .compiler_library = path};
        tilec_context_destroy(w->context);
        assert_int_equal(tilec_context_create(&o, &w->context), TILEC_OK);
        memset(path, 'x', sizeof path - 1);  // the context has a copy
        assert_int_equal(tilec_device_open(w->context, "auto", &w->device), TILEC_OK);
        assert_string_equal(tilec_device_name(w->device), "cpu");
        tilec_kernel_destroy(kernel_of(w, copy_text, NULL));
        memcpy(path, TEST_FAKE_PLUGIN, sizeof path);
        // A wrong name is not made good by the variable.
        setenv("TILEC_LLVM_LIBRARY", TEST_FAKE_PLUGIN, 1);
        o.compiler_library = "/none/option.so";
        tilec_context_destroy(w->context);
        assert_int_equal(tilec_context_create(&o, &w->context), TILEC_OK);
        assert_int_equal(tilec_device_open(w->context, "cpu", &w->device), TILEC_OK);
        tilec_kernel *k = NULL;
        assert_int_equal(tilec_kernel_from_source(w->context, w->device, "k.tile", copy_text,
                                                  strlen(copy_text), NULL, NULL, &k),
                         TILEC_UNAVAILABLE);
        assert_non_null(
            strstr(tilec_last_error(w->context), "note: /none/option.so: no such file"));
        setenv("TILEC_LLVM_LIBRARY", "/none/variable.so", 1);
    }
}

// ---- forks ----

// In a context of its own: nothing is known yet.
static bool compiles_anew(bool in_child) {
    tilec_context_options o = {.size = sizeof o, .cache_folder = "", .compile_in_child = in_child};
    tilec_context *c = NULL;
    tilec_device *d = NULL;
    tilec_kernel *k = NULL;
    bool fine = !tilec_context_create(&o, &c) && !tilec_device_open(c, "cpu:1", &d) &&
                !tilec_kernel_from_source(c, d, "k", copy_text, strlen(copy_text), NULL, NULL, &k);
    if (!fine) fprintf(stderr, "%s\n", c ? tilec_last_error(c) : "no context");
    tilec_context_destroy(c);
    return fine;
}

typedef struct Compiling {
    _Atomic bool stop;
    bool failed;
} Compiling;

static void *compile_on(void *user) {
    Compiling *c = user;
    while (!c->stop && !c->failed) c->failed = !compiles_anew(false);
    return NULL;
}

// While another thread compiles, which holds locks that no fork knows of, this one forks: by
// itself, and to compile in a child.
static void forks_wait_for_compilations(void **state) {
    (void)state;
#if defined __SANITIZE_THREAD__
    print_message("skipped: the thread sanitizer does not support locks in a forked child\n");
    skip();
#elif defined __SANITIZE_ADDRESS__  // GCC's; that of clang does
    print_message("skipped: the address sanitizer's malloc does not free its locks in a fork\n");
    skip();
#endif
    setenv("FAKE_PLUGIN", "lock", 1);
    unsetenv("FAKE_LOG");
    Compiling other = {.failed = false};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, compile_on, &other), 0);
    for (int i = 0; i < 8; i++) {
        usleep(7000 + (useconds_t)i * 3000);
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            _exit(compiles_anew(false) ? 0 : 1);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        assert_true(compiles_anew(true));
    }
    other.stop = true;
    pthread_join(thread, NULL);
    assert_false(other.failed);
}

// A name that says nothing is none: messages call the text as without one.
static void an_empty_name_is_none(void **state) {
    World *w = *state;
    tilec_kernel *k = NULL;
    static const char bad[] = "kernel k(f32 x[N]) grid(1) { x[0] = nothing; }";
    assert_int_equal(
        tilec_kernel_from_source(w->context, w->device, "", bad, strlen(bad), NULL, NULL, &k),
        TILEC_INVALID_SOURCE);
    tilec_diagnostic d;
    assert_int_equal(tilec_diagnostic_get(w->context, 0, &d), TILEC_OK);
    assert_string_equal(d.file, "source");
}

// ---- stacks ----

// The stack that the calls below may use, without the kernel's own code: docs/c-api.md promises
// twice that. Sanitizers have larger frames.
#if defined __SANITIZE_ADDRESS__
enum { LAUNCH_STACK = 24 << 10 };
#else
enum { LAUNCH_STACK = 12 << 10 };
#endif
enum { WHOLE_STACK = 512 << 10, PAINT = 0x5a };

typedef struct Launching {
    World *world;
    tilec_kernel *kernel;
    float x[10], y[10];
    const char *top;
} Launching;

static void *launch_on(void *user) {
    Launching *l = user;
    char here = 0;
    l->top = &here;
    launch(l->world, l->kernel, l->x, l->y);
    return NULL;
}

// On a thread of its own, with a stack that shows how deep it was.
static size_t stack_of_a_launch(Launching *l) {
    long page = sysconf(_SC_PAGESIZE);
    char *stack = aligned_alloc((size_t)page, WHOLE_STACK);
    assert_non_null(stack);
    memset(stack, PAINT, WHOLE_STACK);
    pthread_attr_t attributes;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, stack, WHOLE_STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, launch_on, l), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    const char *low = stack;
    while (low < l->top && *low == PAINT) low++;
    size_t used = (size_t)(l->top - low);
    free(stack);
    return used;
}

static void a_launch_takes_little_stack(void **state) {
    World *w = *state;
#if defined __SANITIZE_THREAD__
    print_message("skipped: threads on stacks of ours are nothing for the thread sanitizer\n");
    skip();
#endif
    Launching l = {.world = w, .kernel = kernel_of(w, copy_text, NULL), .x = {1, 2, 3}};
    for (int i = 0; i < 2; i++) {  // the first one makes the variant that it chooses
        size_t used = stack_of_a_launch(&l);
        if (i && used > LAUNCH_STACK) fail_msg("a launch took %zu bytes of stack", used);
    }
    assert_true(l.y[0] != 0);
    tilec_kernel_destroy(l.kernel);
}

#define JIT_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        JIT_TEST(the_context_names_the_compiler),
        JIT_TEST(variants_are_made_when_chosen),
        JIT_TEST(a_limit_on_files_is_a_status),
        JIT_TEST(equal_kernels_share_code),
        JIT_TEST(other_kernels_do_not),
        JIT_TEST(the_disk_keeps_code),
        JIT_TEST(a_useless_cache_is_no_failure),
        JIT_TEST(loaded_code_outlives_its_file),
        JIT_TEST(children_compile),
        JIT_TEST(failures_are_statuses),
        JIT_TEST(sanitize_is_the_interpreter),
        JIT_TEST(threads_compile_at_once),
        JIT_TEST(forks_wait_for_compilations),
        JIT_TEST(an_empty_name_is_none),
        JIT_TEST(a_launch_takes_little_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
