// Threads of the device `cpu`: each program runs exactly once whatever their number; they park,
// wake, and are started again after a fork. Run it in the tsan preset, too.
#define _GNU_SOURCE  // pthread_getname_np, setenv
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/os_thread.h"
#include "runtime/cpu/pool.h"
#include "tests/support/cpu_rig.h"

static void count_entry(const void *args, int64_t first, int64_t last, void *scratch,
                        const CpuServices *services) {
    const CpuRigBlock *b = args;
    (void)scratch, (void)services;
    _Atomic uint8_t *counts = b->array;
    for (int64_t p = first; p < last; p++)
        atomic_fetch_add_explicit(&counts[p], 1, memory_order_relaxed);
}

static void check_counts(const _Atomic uint8_t *counts, size_t n, unsigned expected) {
    for (size_t i = 0; i < n; i++)
        if (counts[i] != expected)
            fail_msg("program %zu of %zu ran %u times, expected %u", i, n, counts[i], expected);
}

static void run_counts(const char *device, const int64_t grid[3], uint32_t chunk) {
    CpuRig rig;
    CpuRigKernel k;
    cpu_rig_open(&rig, device);
    cpu_rig_kernel(&rig, &k, count_entry);
    k.variant.chunk = chunk;
    size_t n = (size_t)(grid[0] * grid[1] * grid[2]);
    _Atomic uint8_t *counts = test_calloc(n, 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(cpu_rig_launch3(&rig, NULL, &k, grid, (CpuRigBlock){counts, 0}), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(rig.device), TILEC_OK);
    check_counts(counts, n, 3);
    test_free(counts);
    cpu_rig_unload(&rig, &k);
    cpu_rig_close(&rig);
}

static void test_each_once(void **state) {
    (void)state;
    static const char *const devices[] = {"cpu:1", "cpu:2", "cpu:7"};
    static const int64_t grids[][3] = {{1, 1, 1},     {2, 1, 1},     {1000003, 1, 1},
                                       {1, 1, 999},   {7, 11, 13},   {1, 10007, 10},
                                       {4096, 31, 1}, {3, 100000, 1}};
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
        for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
            run_counts(devices[d], grids[g], 0);
            run_counts(devices[d], grids[g], 48);
        }
}

// ---- names ----

static void test_names(void **state) {
    (void)state;
    CpuRig rig;
    cpu_rig_open(&rig, "cpu");
    static const char *const bad[] = {"cpu:0", "cpu:x", "cpu:-1", "cpu:1025", "cpu:2 "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tilec_device *d = NULL;
        assert_int_equal(tilec_device_open(rig.context, bad[i], &d), TILEC_INVALID_ARGUMENT);
        assert_non_null(strstr(tilec_last_error(rig.context), "expected 1 to 1024 threads"));
    }
    tilec_device *none = NULL;
    assert_int_equal(tilec_device_open(rig.context, "cpu:", &none), TILEC_INVALID_ARGUMENT);
    assert_non_null(
        strstr(tilec_last_error(rig.context), "device 'cpu:': nothing follows the ':'"));
    assert_null(none);
    setenv("TILEC_CPU_THREADS", "many", 1);
    tilec_device *d = NULL;
    assert_int_equal(tilec_device_open(rig.context, "cpu", &d), TILEC_INVALID_ARGUMENT);
    assert_non_null(strstr(tilec_last_error(rig.context), "TILEC_CPU_THREADS: expected"));
    setenv("TILEC_CPU_THREADS", "99999999999999999999", 1);
    assert_int_equal(tilec_device_open(rig.context, "cpu", &d), TILEC_INVALID_ARGUMENT);
    assert_non_null(strstr(tilec_last_error(rig.context), "found '99999999999999999999'"));
    setenv("TILEC_CPU_THREADS", "3", 1);
    assert_int_equal(tilec_device_open(rig.context, "cpu", &d), TILEC_OK);
    unsetenv("TILEC_CPU_THREADS");
    cpu_rig_close(&rig);
}

// ---- threads that share, block signals, park and wake ----

typedef struct Meeting {
    _Atomic int arrived;
    _Atomic bool signals_open;
    int wanted;
} Meeting;

static bool signals_blocked(void) {
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    bool raised = sigismember(&set, SIGSEGV) || sigismember(&set, SIGBUS) ||
                  sigismember(&set, SIGFPE) || sigismember(&set, SIGILL) ||
                  sigismember(&set, SIGTRAP) || sigismember(&set, SIGABRT);
    return !raised && sigismember(&set, SIGINT) && sigismember(&set, SIGTERM) &&
           sigismember(&set, SIGUSR1);
}

static uint64_t now(void) { return os_time_ns(); }

// Every program waits until as many as there are threads have come: one thread alone never gets on.
static void meet_entry(const void *args, int64_t first, int64_t last, void *scratch,
                       const CpuServices *services) {
    Meeting *m = ((const CpuRigBlock *)args)->array;
    (void)scratch, (void)services;
    for (int64_t p = first; p < last; p++) {
        char name[16] = "";
        pthread_getname_np(pthread_self(), name, sizeof name);
        if (strncmp(name, "tilec-cpu-", 10) == 0 && !signals_blocked())
            atomic_store(&m->signals_open, true);
        atomic_fetch_add(&m->arrived, 1);
        uint64_t end = now() + 20000000000u;
        while (atomic_load(&m->arrived) < m->wanted && now() < end) sched_yield();
    }
}

static void meet(CpuRig *rig, const CpuRigKernel *k, int threads) {
    Meeting m = {.wanted = threads};
    assert_int_equal(cpu_rig_launch(rig, NULL, k, threads, (CpuRigBlock){&m, 0}), TILEC_OK);
    uint64_t begin = now();
    assert_int_equal(tilec_device_synchronize(rig->device), TILEC_OK);
    assert_true(now() - begin < 15000000000u);
    assert_int_equal(m.arrived, threads);
    assert_false(m.signals_open);
}

static void sleep_ms(long ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static void test_parked_wake(void **state) {
    (void)state;
    CpuRig rig;
    CpuRigKernel k;
    cpu_rig_open(&rig, "cpu:5");
    cpu_rig_kernel(&rig, &k, meet_entry);
    for (int i = 0; i < 20; i++) {
        meet(&rig, &k, 5);
        if (i % 2) sleep_ms(3);  // far beyond what they spin
    }
    cpu_rig_unload(&rig, &k);
    cpu_rig_close(&rig);
}

// An idle pool takes no processor time.
static void test_idle_is_idle(void **state) {
    (void)state;
    CpuRig rig;
    CpuRigKernel k;
    cpu_rig_open(&rig, "cpu:4");
    cpu_rig_kernel(&rig, &k, meet_entry);
    meet(&rig, &k, 4);
    sleep_ms(20);
    struct timespec before, after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    sleep_ms(200);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    int64_t used = (after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec;
    assert_true(used < 50000000);
    cpu_rig_unload(&rig, &k);
    cpu_rig_close(&rig);
}

// ---- many callers ----

enum { CALLERS = 8, CALLER_ROUNDS = 60, CALLER_PROGRAMS = 997 };

typedef struct Caller {
    CpuRig *rig;
    const CpuRigKernel *kernel;
    tilec_stream *shared;
    _Atomic uint8_t *common;
    bool good;
} Caller;

static void *caller_main(void *argument) {
    Caller *c = argument;
    tilec_stream *own = NULL;
    _Atomic uint8_t *counts = calloc(CALLER_PROGRAMS, 1);
    c->good = counts && tilec_stream_create(c->rig->device, &own) == TILEC_OK;
    for (int i = 0; c->good && i < CALLER_ROUNDS; i++) {
        c->good =
            !cpu_rig_launch(c->rig, own, c->kernel, CALLER_PROGRAMS, (CpuRigBlock){counts, 0}) &&
            !cpu_rig_launch(c->rig, c->shared, c->kernel, i % 3 ? CALLER_PROGRAMS : 1,
                            (CpuRigBlock){c->common, 0});
        if (c->good && i % 7 == 0) c->good = !tilec_stream_synchronize(own);
    }
    if (c->good) c->good = !tilec_stream_synchronize(own);
    for (int i = 0; c->good && i < CALLER_PROGRAMS; i++) c->good = counts[i] == CALLER_ROUNDS;
    tilec_stream_destroy(own);
    free(counts);
    return NULL;
}

static void many_callers(const char *device) {
    CpuRig rig;
    CpuRigKernel k;
    cpu_rig_open(&rig, device);
    cpu_rig_kernel(&rig, &k, count_entry);
    tilec_stream *shared = NULL;
    assert_int_equal(tilec_stream_create(rig.device, &shared), TILEC_OK);
    _Atomic uint8_t *common = test_calloc(CALLER_PROGRAMS, 1);
    Caller callers[CALLERS];
    pthread_t threads[CALLERS];
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (Caller){&rig, &k, shared, common, false};
        assert_int_equal(pthread_create(&threads[i], NULL, caller_main, &callers[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) pthread_join(threads[i], NULL);
    assert_int_equal(tilec_stream_synchronize(shared), TILEC_OK);
    for (int i = 0; i < CALLERS; i++) assert_true(callers[i].good);
    assert_int_equal(common[0], CALLERS * CALLER_ROUNDS % 256);
    assert_int_equal(common[CALLER_PROGRAMS - 1], CALLERS * CALLER_ROUNDS * 2 / 3 % 256);
    test_free(common);
    cpu_rig_unload(&rig, &k);
    cpu_rig_close(&rig);
}

static void test_many_callers(void **state) {
    (void)state;
    many_callers("cpu:1");
    many_callers("cpu:2");
    many_callers("cpu:4");
}

// ---- forks ----

// Runs `work` in a child; its exit status.
static int in_child(void (*work)(CpuRig *rig, CpuRigKernel *k), CpuRig *rig, CpuRigKernel *k) {
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        work(rig, k);
        _exit(0);
    }
    assert_true(child > 0);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

// gcc's thread sanitizer ends a child that starts threads after a fork with threads.
static void skip_forks(void) {
#if defined __SANITIZE_THREAD__
    print_message("skipped: the thread sanitizer does not support threads in a forked child\n");
    skip();
#endif
}

static void skip_emulated(const char *why) {
#ifdef TEST_EMULATED
    print_message("skipped: %s\n", why);
    skip();
#endif
    (void)why;
}

static void require(bool good, int code) {
    if (!good) _exit(code);
}

static void child_launches(CpuRig *rig, CpuRigKernel *k) {
    enum { N = 5000 };
    _Atomic uint8_t *counts = calloc(N, 1);
    for (int i = 0; i < 2; i++)
        require(!cpu_rig_launch(rig, NULL, k, N, (CpuRigBlock){counts, 0}), 11);
    require(!tilec_device_synchronize(rig->device), 12);
    for (int i = 0; i < N; i++) require(counts[i] == 2, 13);
    cpu_rig_unload(rig, k);
    cpu_rig_close(rig);
}

static void test_fork(void **state) {
    (void)state;
    skip_forks();
    CpuRig rig;
    CpuRigKernel k;
    cpu_rig_open(&rig, "cpu:3");
    cpu_rig_kernel(&rig, &k, count_entry);
    _Atomic uint8_t counts[2000] = {0};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cpu_rig_launch(&rig, NULL, &k, 2000, (CpuRigBlock){counts, 0}), TILEC_OK);
        assert_int_equal(tilec_device_synchronize(rig.device), TILEC_OK);
        assert_int_equal(in_child(child_launches, &rig, &k), 0);
    }
    check_counts(counts, 2000, 3);
    cpu_rig_unload(&rig, &k);
    cpu_rig_close(&rig);
}

static void gate_entry(const void *args, int64_t first, int64_t last, void *scratch,
                       const CpuServices *services) {
    const _Atomic int *gate = ((const CpuRigBlock *)args)->array;
    (void)first, (void)last, (void)scratch, (void)services;
    while (!atomic_load(gate)) sched_yield();
}

// The work goes on in the parent. The child gets one error about it, and then its stream works
// again.
static void child_of_busy(CpuRig *rig, CpuRigKernel *k) {
    require(tilec_device_synchronize(rig->device) == TILEC_UNAVAILABLE, 21);
    require(strstr(tilec_last_error(rig->context), "the process forked") != NULL, 22);
    require(tilec_device_synchronize(rig->device) == TILEC_OK, 23);
    _Atomic int gate = 1;
    require(!cpu_rig_launch(rig, NULL, k, 100, (CpuRigBlock){&gate, 0}), 24);
    require(tilec_device_synchronize(rig->device) == TILEC_OK, 25);
    cpu_rig_unload(rig, k);
    cpu_rig_close(rig);
}

static void test_fork_while_busy(void **state) {
    (void)state;
    skip_forks();
    skip_emulated("qemu starts no threads in the child of a process with several");
    CpuRig rig;
    CpuRigKernel k;
    cpu_rig_open(&rig, "cpu:3");
    cpu_rig_kernel(&rig, &k, gate_entry);
    _Atomic int gate = 0;
    for (int i = 0; i < 3; i++)
        assert_int_equal(cpu_rig_launch(&rig, NULL, &k, 100, (CpuRigBlock){&gate, 0}), TILEC_OK);
    assert_int_equal(in_child(child_of_busy, &rig, &k), 0);
    atomic_store(&gate, 1);
    assert_int_equal(tilec_device_synchronize(rig.device), TILEC_OK);
    cpu_rig_unload(&rig, &k);
    cpu_rig_close(&rig);
}

// ---- scratch ----

static void scratch_entry(const void *args, int64_t first, int64_t last, void *scratch,
                          const CpuServices *services) {
    const CpuRigBlock *b = args;
    (void)services;
    size_t size = (size_t)b->number;
    _Atomic bool *bad = b->array;
    if (!scratch || (uintptr_t)scratch % CPU_SCRATCH_ALIGN) {
        atomic_store(bad, true);
        return;
    }
    // A race with another thread would be seen by the thread sanitizer, and here.
    for (int64_t p = first; p < last; p++) {
        memset(scratch, (int)(p & 0x7f), size);
        const uint8_t *bytes = scratch;
        if (bytes[0] != (p & 0x7f) || bytes[size - 1] != (p & 0x7f)) atomic_store(bad, true);
    }
}

static void test_scratch(void **state) {
    (void)state;
    CpuRig rig;
    CpuRigKernel k;
    cpu_rig_open(&rig, "cpu:4");
    cpu_rig_kernel(&rig, &k, scratch_entry);
    _Atomic bool bad = false;
    static const uint32_t sizes[] = {1, 64, 5000, 3 << 20, 100};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        k.variant.scratch_bytes = sizes[i];
        for (int64_t n = 1; n <= 50; n += 49) {
            assert_int_equal(cpu_rig_launch(&rig, NULL, &k, n, (CpuRigBlock){&bad, sizes[i]}), 0);
            assert_int_equal(tilec_device_synchronize(rig.device), TILEC_OK);
        }
    }
    assert_false(bad);
    cpu_rig_unload(&rig, &k);
    cpu_rig_close(&rig);
}

// ---- the context's allocator, and its end ----

typedef struct Heap {
    _Atomic int live;
    _Atomic int calls;
    _Atomic bool full;
    _Atomic bool crooked;  // gives memory that is not aligned
} Heap;

static void *heap_allocate(void *user, size_t size, size_t alignment) {
    Heap *h = user;
    atomic_fetch_add(&h->calls, 1);
    if (atomic_load(&h->full)) return NULL;
    atomic_fetch_add(&h->live, 1);
    char *memory =
        aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment + alignment);
    return memory && atomic_load(&h->crooked) ? memory + 1 : memory;
}

static void heap_release(void *user, void *memory, size_t size) {
    Heap *h = user;
    (void)size;
    atomic_fetch_sub(&h->live, 1);
    free((char *)memory - (uintptr_t)memory % 2);
}

static void open_on_heap(CpuRig *rig, Heap *heap) {
    static const RtDeviceApi *const apis[] = {&cpu_device_api};
    tilec_context_options options = {
        .size = sizeof options, .allocator = {heap_allocate, heap_release, heap}, .cpu_threads = 4};
    *rig = (CpuRig){0};
    assert_int_equal(rt_context_create(&options, apis, 1, &rig->context), TILEC_OK);
    assert_int_equal(tilec_device_open(rig->context, "cpu", &rig->device), TILEC_OK);
}

static void test_allocator(void **state) {
    (void)state;
    Heap heap = {0};
    CpuRig rig;
    open_on_heap(&rig, &heap);
    tilec_buffer b;
    for (size_t size = 1; size <= 4 << 20; size *= 4)
        assert_int_equal(tilec_buffer_create(rig.device, size, &b), TILEC_OK);
    CpuRigKernel k;
    cpu_rig_kernel(&rig, &k, scratch_entry);
    k.variant.scratch_bytes = 2 << 20;
    _Atomic bool bad = false;
    assert_int_equal(cpu_rig_launch(&rig, NULL, &k, 20, (CpuRigBlock){&bad, 2 << 20}), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(rig.device), TILEC_OK);
    assert_false(bad);
    assert_true(heap.calls > 12);
    atomic_store(&heap.full, true);
    k.variant.scratch_bytes = 3 << 20;
    for (int64_t n = 1; n < 30; n += 28) {
        assert_int_equal(cpu_rig_launch(&rig, NULL, &k, n, (CpuRigBlock){&bad, 3 << 20}), TILEC_OK);
        assert_string_equal(tilec_last_error(rig.context), "");
        assert_int_equal(tilec_device_synchronize(rig.device), TILEC_OUT_OF_MEMORY);
        assert_string_equal(tilec_last_error(rig.context),
                            "k: no 3145728 bytes of scratch memory for a thread");
    }
    assert_int_equal(tilec_buffer_create(rig.device, 100, &b), TILEC_OUT_OF_MEMORY);
    cpu_rig_unload(&rig, &k);
    cpu_rig_close(&rig);
    assert_int_equal(heap.live, 0);
}

static void test_crooked_allocator(void **state) {
    (void)state;
    Heap heap = {0};
    CpuRig rig;
    open_on_heap(&rig, &heap);
    CpuRigKernel k;
    cpu_rig_kernel(&rig, &k, scratch_entry);
    k.variant.scratch_bytes = 5000;
    _Atomic bool bad = false;
    atomic_store(&heap.crooked, true);
    for (int64_t n = 1; n < 30; n += 28) {
        assert_int_equal(cpu_rig_launch(&rig, NULL, &k, n, (CpuRigBlock){&bad, 5000}), TILEC_OK);
        assert_int_equal(tilec_device_synchronize(rig.device), TILEC_INVALID_ARGUMENT);
        assert_string_equal(tilec_last_error(rig.context),
                            "k: no 5000 bytes of scratch memory for a thread; the context's "
                            "allocator gave some that is not aligned");
    }
    assert_int_equal(cpu_rig_prepare(&rig, &k, 100), TILEC_INVALID_ARGUMENT);
    cpu_rig_unload(&rig, &k);
    cpu_rig_close(&rig);
    assert_int_equal(heap.live, 0);
}

typedef struct Helper {
    CpuRig *rig;
    tilec_status status;
} Helper;

static void *help(void *user) {
    Helper *h = user;
    h->status = tilec_device_synchronize(h->rig->device);
    return NULL;
}

// More threads than were prepared for wait for it, and would help if they had memory.
static void wait_with_many(CpuRig *rig) {
    Helper helpers[6];
    pthread_t threads[6];
    for (int i = 0; i < 6; i++) {
        helpers[i] = (Helper){rig, TILEC_OK};
        assert_int_equal(pthread_create(&threads[i], NULL, help, &helpers[i]), 0);
    }
    for (int i = 0; i < 6; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(helpers[i].status, TILEC_OK);
    }
}

// A prepared launch runs when there is no memory left: its threads have theirs, however the
// programs are shared out, and the queue has commands.
static void test_prepared(void **state) {
    (void)state;
    for (int round = 0; round < 5; round++) {
        Heap heap = {0};
        CpuRig rig;
        CpuRigKernel k;
        _Atomic bool bad = false;
        open_on_heap(&rig, &heap);
        cpu_rig_kernel(&rig, &k, scratch_entry);
        static const uint32_t sizes[] = {100, 64 << 10, 5000, 1 << 20};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            k.variant.scratch_bytes = sizes[i];
            assert_int_equal(cpu_rig_prepare(&rig, &k, 100), TILEC_OK);
            int calls = heap.calls;
            atomic_store(&heap.full, true);
            for (int n = 0; n < COMMANDS_PREPARED; n++)
                assert_int_equal(
                    cpu_rig_launch(&rig, NULL, &k, n ? 100 : 1, (CpuRigBlock){&bad, sizes[i]}), 0);
            assert_int_equal(tilec_device_synchronize(rig.device), TILEC_OK);
            assert_int_equal(heap.calls, calls);
            for (int n = 0; n < 10; n++)
                assert_int_equal(cpu_rig_launch(&rig, NULL, &k, 100, (CpuRigBlock){&bad, sizes[i]}),
                                 0);
            wait_with_many(&rig);
            atomic_store(&heap.full, false);
        }
        assert_false(bad);
        atomic_store(&heap.full, true);
        k.variant.scratch_bytes = 2 << 20;
        assert_int_equal(cpu_rig_prepare(&rig, &k, 100), TILEC_OUT_OF_MEMORY);
        assert_string_equal(tilec_last_error(rig.context),
                            "k: no 2097152 bytes of scratch memory for each thread");
        cpu_rig_unload(&rig, &k);
        cpu_rig_close(&rig);
        assert_int_equal(heap.live, 0);
    }
}

// With no room for stacks there are fewer threads, or none, and all is done nevertheless.
static void child_without_threads(CpuRig *rig, CpuRigKernel *k) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    require(file && fscanf(file, "%ld", &pages) == 1, 31);
    fclose(file);
    struct rlimit limit = {0};
    limit.rlim_cur = limit.rlim_max = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (40 << 20);
    require(setrlimit(RLIMIT_AS, &limit) == 0, 32);
    enum { N = 3000 };
    _Atomic uint8_t counts[N] = {0};
    for (int i = 0; i < 3; i++)
        require(!cpu_rig_launch(rig, NULL, k, N, (CpuRigBlock){counts, 0}), 33);
    require(!tilec_device_synchronize(rig->device), 34);
    for (int i = 0; i < N; i++) require(counts[i] == 3, 35);
    cpu_rig_unload(rig, k);
    cpu_rig_close(rig);
}

static void test_no_threads_left(void **state) {
    (void)state;
    skip_forks();
    skip_emulated("the limit of memory would be qemu's");
    CpuRig rig;
    CpuRigKernel k;
    cpu_rig_open(&rig, "cpu:200");
    cpu_rig_kernel(&rig, &k, count_entry);
    assert_int_equal(in_child(child_without_threads, &rig, &k), 0);
    cpu_rig_unload(&rig, &k);
    cpu_rig_close(&rig);
}

// ---- the mode of floats ----

static void third_entry(const void *args, int64_t first, int64_t last, void *scratch,
                        const CpuServices *services) {
    float *values = ((const CpuRigBlock *)args)->array;
    volatile float one = 1, three = 3;
    (void)scratch, (void)services;
    for (int64_t p = first; p < last; p++) values[p] = one / three;
}

// Rounding that the caller has set changes no result, and is his again afterwards.
static void test_float_mode(void **state) {
    (void)state;
    CpuRig rig;
    CpuRigKernel k;
    cpu_rig_open(&rig, "cpu:3");
    cpu_rig_kernel(&rig, &k, third_entry);
    float values[300] = {0};
    fesetround(FE_DOWNWARD);
    for (int64_t n = 1; n <= 300; n += 299) {
        assert_int_equal(cpu_rig_launch(&rig, NULL, &k, n, (CpuRigBlock){values, 0}), TILEC_OK);
        assert_int_equal(tilec_device_synchronize(rig.device), TILEC_OK);
        assert_int_equal(fegetround(), FE_DOWNWARD);
        for (int64_t i = 0; i < n; i++) assert_true(values[i] == 0x1.555556p-2f);
    }
    fesetround(FE_TONEAREST);
    cpu_rig_unload(&rig, &k);
    cpu_rig_close(&rig);
}

// ---- the grid's limits ----

static void chunk_entry(const void *args, int64_t first, int64_t last, void *scratch,
                        const CpuServices *services) {
    (void)scratch, (void)services;
    atomic_fetch_add((_Atomic int64_t *)((const CpuRigBlock *)args)->array, last - first);
}

static void test_grid_limits(void **state) {
    (void)state;
    CpuRig rig;
    CpuRigKernel k;
    cpu_rig_open(&rig, "cpu:3");
    cpu_rig_kernel(&rig, &k, chunk_entry);
    _Atomic int64_t programs = 0;
    CpuRigBlock block = {&programs, 0};
    static const int64_t top = INT32_MAX;
    assert_int_equal(cpu_rig_launch3(&rig, NULL, &k, (int64_t[3]){top, top, top}, block),
                     TILEC_LAUNCH_REFUSED);
    assert_non_null(strstr(tilec_last_error(rig.context), "more than 2^63 programs"));
    assert_int_equal(cpu_rig_launch3(&rig, NULL, &k, (int64_t[3]){top, 0, 1}, block), TILEC_OK);
    assert_int_equal(cpu_rig_launch3(&rig, NULL, &k, (int64_t[3]){top, top, 1}, block), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(rig.device), TILEC_OK);
    assert_true(programs == top * top);
    cpu_rig_unload(&rig, &k);
    cpu_rig_close(&rig);
}

// ---- short grids, and those that were believed to be ----

enum { SHORT_GRID = 64, SLOW = 1, PATIENCE_NS = 20000000 };  // PATIENCE_NS: times 1000

typedef struct Threads {
    pthread_t launcher;
    _Atomic uint8_t counts[SHORT_GRID];
    _Atomic bool others;  // have run a program
    int slow;             // programs that the launcher ran
} Threads;

static void wait_for_others(Threads *t) {
    uint64_t begin = os_time_ns();
    while (!t->others && (os_time_ns() - begin) / 1000 < PATIENCE_NS) os_spin_hint();
}

// Slow programs of the second half do not end before another thread than the launcher is there.
static void short_entry(const void *args, int64_t first, int64_t last, void *scratch,
                        const CpuServices *services) {
    const CpuRigBlock *b = args;
    Threads *t = b->array;
    (void)scratch, (void)services;
    if (!pthread_equal(pthread_self(), t->launcher)) t->others = true;
    for (int64_t p = first; p < last; p++) {
        t->counts[p]++;
        uint64_t begin = os_time_ns();
        while (b->number == SLOW && os_time_ns() - begin < POOL_INLINE_NS) os_spin_hint();
        if (b->number == SLOW && pthread_equal(pthread_self(), t->launcher)) t->slow++;
        if (b->number == SLOW && p >= SHORT_GRID / 2) wait_for_others(t);
    }
}

// Once programs are known to be cheap the launching thread does all of them, until they are not.
static void test_short_grids(void **state) {
    (void)state;
    CpuRig rig;
    CpuRigKernel k;
    Threads t = {.launcher = pthread_self()};
    cpu_rig_open(&rig, "cpu:3");
    cpu_rig_kernel(&rig, &k, short_entry);
    unsigned runs = 0;
    for (int turn = 0; turn < 20; turn++) {
        for (int cheap = 0; cheap < 50; cheap++, runs++)
            assert_int_equal(cpu_rig_launch(&rig, NULL, &k, SHORT_GRID, (CpuRigBlock){&t, 0}),
                             TILEC_OK);
        assert_int_equal(tilec_device_synchronize(rig.device), TILEC_OK);
        t.others = false;
        t.slow = 0;
        assert_int_equal(cpu_rig_launch(&rig, NULL, &k, SHORT_GRID, (CpuRigBlock){&t, SLOW}),
                         TILEC_OK);
        runs++;
        assert_true(t.slow <= 1);  // that says how slow they are
        // A launch that follows it waits for it.
        assert_int_equal(cpu_rig_launch(&rig, NULL, &k, SHORT_GRID, (CpuRigBlock){&t, 0}),
                         TILEC_OK);
        runs++;
        assert_int_equal(tilec_device_synchronize(rig.device), TILEC_OK);
        assert_true(t.others);
        for (int p = 0; p < SHORT_GRID; p++) assert_int_equal(t.counts[p], runs % 256);
    }
    cpu_rig_unload(&rig, &k);
    cpu_rig_close(&rig);
}

// ---- what a launch teaches the next ----

enum { FAILS = 1 };

static void failing_entry(const void *args, int64_t first, int64_t last, void *scratch,
                          const CpuServices *services) {
    const CpuRigBlock *b = args;
    (void)last, (void)scratch;
    uint64_t begin = os_time_ns();
    if (b->number == FAILS)
        services->assert_failed(services, first, 0, 0);
    else
        while (os_time_ns() - begin < 200000) os_spin_hint();
}

// Programs that fail are quick: that says nothing of those that do not.
static void test_failures_teach_nothing(void **state) {
    (void)state;
    CpuRig rig;
    CpuRigKernel k;
    static const MetaSite sites[] = {{.kind = META_SITE_ASSERT}};
    cpu_rig_open(&rig, "cpu:3");
    cpu_rig_kernel(&rig, &k, failing_entry);
    k.variant.sites = sites;
    k.variant.site_count = 1;
    for (int64_t fails = FAILS; fails >= 0; fails--) {
        assert_int_equal(cpu_rig_launch(&rig, NULL, &k, 64, (CpuRigBlock){NULL, fails}), TILEC_OK);
        assert_int_equal(tilec_device_synchronize(rig.device),
                         fails ? TILEC_KERNEL_FAILED : TILEC_OK);
        assert_true((k.module->cost == 0) == (fails == FAILS));
    }
    uint64_t known = k.module->cost;
    assert_int_equal(cpu_rig_launch(&rig, NULL, &k, 64, (CpuRigBlock){NULL, FAILS}), TILEC_OK);
    assert_int_equal(tilec_device_synchronize(rig.device), TILEC_KERNEL_FAILED);
    assert_true(k.module->cost == known);
    cpu_rig_unload(&rig, &k);
    cpu_rig_close(&rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_once),         cmocka_unit_test(test_names),
        cmocka_unit_test(test_parked_wake),       cmocka_unit_test(test_idle_is_idle),
        cmocka_unit_test(test_many_callers),      cmocka_unit_test(test_fork),
        cmocka_unit_test(test_fork_while_busy),   cmocka_unit_test(test_scratch),
        cmocka_unit_test(test_grid_limits),       cmocka_unit_test(test_allocator),
        cmocka_unit_test(test_crooked_allocator), cmocka_unit_test(test_no_threads_left),
        cmocka_unit_test(test_float_mode),        cmocka_unit_test(test_short_grids),
        cmocka_unit_test(test_prepared),          cmocka_unit_test(test_failures_teach_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
