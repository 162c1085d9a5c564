// Memory that stays allocated after compilations: it does not grow, neither with threads that
// compile and end nor with compilations on one thread.
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <tilec/tilec.h>

#include <cmocka.h>
#include <pthread.h>

// Rounds until what is made once is there, rounds that are counted, and bytes that they may leave:
// lists of the process's allocator are not the same in each round.
enum { WARM = 40, COUNTED = 20, MOST = 32 << 10 };

static const char text[] =
    "kernel scaled(f32 x[N], f32 y[N], const B = 64) grid(cdiv(N, B)) {\n"
    "    y[program(0) * B +: B] = x[program(0) * B +: B] * 3;\n"
    "}\n";

typedef struct Round {
    tilec_context *context;
    const char *device;
    tilec_status status;
} Round;

static void *compile_once(void *user) {
    Round *r = user;
    tilec_device *device = NULL;
    tilec_kernel *kernel = NULL;
    r->status = tilec_device_open(r->context, r->device, &device);
    if (!r->status)
        r->status = tilec_kernel_from_source(r->context, device, "left.tile", text, strlen(text),
                                             "scaled", NULL, &kernel);
    tilec_kernel_destroy(kernel);
    tilec_device_close(device);
    return NULL;
}

static size_t in_use(void) {
#ifdef __GLIBC__
    return mallinfo2().uordblks;
#else
    return 0;
#endif
}

static void round_of(Round *r, bool on_thread) {
    pthread_t thread;
    if (on_thread) {
        assert_int_equal(pthread_create(&thread, NULL, compile_once, r), 0);
        pthread_join(thread, NULL);
    } else {
        compile_once(r);
    }
    if (r->status) fail_msg("%s: %s", r->device, tilec_status_text(r->status));
}

// Keeps nothing on disk: each round compiles and links.
static void leaves_little(bool on_threads) {
    static const char *const devices[] = {"cpu:1", "sim:sm_80", "sim:gfx942"};
    tilec_context_options o = {.size = sizeof o, .cache_folder = ""};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        Round r = {.device = devices[i]};
        assert_int_equal(tilec_context_create(&o, &r.context), TILEC_OK);
        for (int n = 0; n < WARM; n++) round_of(&r, on_threads);
        size_t before = in_use();
        for (int n = 0; n < COUNTED; n++) round_of(&r, on_threads);
        size_t after = in_use();
        print_message("%s: %zu bytes in use, %lld more after %d compilations%s\n", devices[i],
                      before, (long long)after - (long long)before, COUNTED,
                      on_threads ? " on threads of their own" : "");
        if (after > before + MOST) fail_msg("%s: memory grows", devices[i]);
        tilec_context_destroy(r.context);
    }
}

static void skip_where_unknown(void) {
#if !defined TEST_CODEGEN || !defined TEST_LLVM_STATIC
    print_message("skipped: libtilec_llvm was not built, or shares the system's libLLVM\n");
    skip();
#elif defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    print_message("skipped: a sanitizer's allocator does not say what is in use\n");
    skip();
#endif
}

static void test_threads_that_end(void **state) {
    (void)state;
    skip_where_unknown();
    leaves_little(true);
}

static void test_a_thread_that_goes_on(void **state) {
    (void)state;
    skip_where_unknown();
    leaves_little(false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_that_end),
        cmocka_unit_test(test_a_thread_that_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
