#include "tests/support/host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/os.h"
#include "tests/support/devices.h"

typedef struct Case {
    HostTest test;
    const char *device;
} Case;

static void keep(char *into, size_t room, const char *line, size_t length) {
    size_t used = strlen(into);
    if (used + length + 2 > room) return;
    memcpy(into + used, line, length);
    into[used + length] = '\n';
    into[used + length + 1] = 0;
}

static void keep_line(void *user, const char *line, size_t length) {
    Host *h = user;
    keep(h->printed, sizeof h->printed, line, length);
}

static void keep_log(void *user, tilec_severity severity, const char *text) {
    (void)severity;
    Host *h = user;
    keep(h->logged, sizeof h->logged, text, strlen(text));
}

// Devices ask from their own threads, too.
static void *allocate(void *user, size_t size, size_t alignment) {
    Host *h = user;
    size_t left = __atomic_load_n(&h->left, __ATOMIC_RELAXED);
    if (left == 0 || size > SIZE_MAX / 2) return NULL;
    if (left != SIZE_MAX) __atomic_store_n(&h->left, left - 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&h->live, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&h->live_bytes, size, __ATOMIC_RELAXED);
    __atomic_fetch_add(&h->total, 1, __ATOMIC_RELAXED);
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void release(void *user, void *memory, size_t size) {
    Host *h = user;
    __atomic_fetch_sub(&h->live, 1, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&h->live_bytes, size, __ATOMIC_RELAXED);
    free(memory);
}

// A build without the compiler library runs no kernels on some devices.
static bool can_compile(Host *h) {
    static const char any[] = "kernel k() grid(1) { }";
    tilec_kernel *k = NULL;
    tilec_status s = tilec_kernel_from_source(h->context, h->device, "any.tile", any,
                                              sizeof any - 1, NULL, NULL, &k);
    if (s != TILEC_UNAVAILABLE) tilec_kernel_destroy(k);
    return s != TILEC_UNAVAILABLE;
}

static void run_case(void **state) {
    const Case *c = *state;
    Host *h = test_calloc(1, sizeof *h);
    h->name = c->device;
    h->left = SIZE_MAX;
    tilec_context_options options = {.size = sizeof options,
                                     .print = keep_line,
                                     .user = h,
                                     .log = keep_log,
                                     .allocator = {allocate, release, h},
                                     .cpu_threads = 2,
                                     .cache_folder = ""};
    assert_int_equal(tilec_context_create(&options, &h->context), TILEC_OK);
    assert_int_equal(tilec_device_open(h->context, c->device, &h->device), TILEC_OK);
    bool ready = can_compile(h);
    if (ready) c->test.run(h);
    if (!ready) print_message("skipped: %s\n", tilec_last_error(h->context));
    tilec_context_destroy(h->context);
    assert_int_equal(h->live, 0);
    assert_int_equal(h->live_bytes, 0);
    test_free(h);
}

int host_run(const HostTest *tests, size_t count) {
    size_t total = count * TEST_DEVICES, n = 0;
    Case *cases = calloc(total, sizeof *cases);
    struct CMUnitTest *units = calloc(total, sizeof *units);
    char(*names)[96] = calloc(total, sizeof *names);
    CHECK(cases && units && names, "out of memory");
    for (size_t d = 0; d < TEST_DEVICES; d++) {
        for (size_t i = 0; i < count; i++, n++) {
            cases[n] = (Case){tests[i], test_devices[d]};
            snprintf(names[n], sizeof names[n], "%s on %s", tests[i].name, test_devices[d]);
            units[n] = (struct CMUnitTest){
                .name = names[n], .test_func = run_case, .initial_state = &cases[n]};
        }
    }
    int failed = _cmocka_run_group_tests("host", units, total, NULL, NULL);
    free(names);
    free(units);
    free(cases);
    return failed;
}

tilec_kernel *host_kernel_spec(Host *host, const char *source, const tilec_spec *spec) {
    tilec_kernel *k = NULL;
    if (tilec_kernel_from_source(host->context, host->device, "test.tile", source, strlen(source),
                                 NULL, spec, &k))
        fail_msg("%s", tilec_last_error(host->context));
    return k;
}

tilec_kernel *host_kernel(Host *host, const char *source) {
    return host_kernel_spec(host, source, NULL);
}

void host_expect(Host *host, tilec_status expected, const char *text, tilec_status found) {
    const char *message = tilec_last_error(host->context);
    if (found != expected)
        fail_msg("expected '%s', found '%s': %s", tilec_status_text(expected),
                 tilec_status_text(found), message);
    if (!strstr(message, text)) fail_msg("expected '%s' in '%s'", text, message);
}
