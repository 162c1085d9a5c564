// The cost of a launch on the device `cpu`: empty kernels. Prints medians; asserts nothing.
//
//     GOMP_SPINCOUNT=10000 build/release/bench_pool [threads [rounds]]
//
// Measures one program on the calling thread; then as many programs as threads, with a synchronize,
// alternating with a parallel region of libomp and libgomp: empty programs, which run on the
// calling thread, and busy ones, for which the pool's threads are woken; and a million programs.
// The OpenMP libraries are opened if they are installed: Debian's libomp5 and libgomp1.
#include <stdio.h>
#include <stdlib.h>

#include "base/os/os.h"
#include "base/os/os_dl.h"
#include "base/os/os_thread.h"
#include "runtime/context.h"
#include "runtime/cpu/device.h"

enum { BATCH = 200, MILLION = 1000000, BUSY_STEPS = 2000, PAUSE_NS = 2000000 };

typedef struct Bench {
    tilec_context *context;
    tilec_device *device;
    RtModule *module, *busy;
    MetaVariant variant;
    MetaKernel meta;
    int threads;
    size_t rounds;
} Bench;

// The same form as a compiled kernel: a loop over programs that reads `cancel` between them.
static void empty_entry(const void *args, int64_t first, int64_t last, void *scratch,
                        const CpuServices *services) {
    (void)args, (void)scratch;
    const volatile int32_t *cancel = services->cancel;
    for (int64_t p = first; p < last && !*cancel; p++) {}
}

// Some microseconds of dependent arithmetic: a program that is worth sharing.
static void work_a_while(void) {
    volatile uint64_t seed = 1;
    uint64_t x = seed;
    for (int i = 0; i < BUSY_STEPS; i++) x = x * 6364136223846793005u + 1;
    seed = x;
}

static void busy_entry(const void *args, int64_t first, int64_t last, void *scratch,
                       const CpuServices *services) {
    (void)args, (void)scratch, (void)services;
    for (int64_t p = first; p < last; p++) work_a_while();
}

static void launch_of(Bench *b, RtModule *module, int64_t programs) {
    RtLaunch l = {.module = module, .meta = &b->meta, .grid = {programs, 1, 1}, .block = b};
    if (cpu_device_api.launch(b->device, b->device->first->state, &l)) exit(1);
}

static void launch(Bench *b, int64_t programs) { launch_of(b, b->module, programs); }

static void synchronize(Bench *b) {
    if (tilec_device_synchronize(b->device)) exit(1);
}

// ---- OpenMP, by the entry points that compilers call ----

typedef void GompParallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
typedef void KmpMicro(int32_t *global, int32_t *bound, ...);
typedef struct KmpPlace {
    int32_t reserved, flags, more, last;
    const char *source;
} KmpPlace;
typedef void KmpFork(KmpPlace *place, int32_t count, KmpMicro *body, ...);
typedef void SetNumber(int number);

typedef struct Peer {
    const char *name;
    OsLibrary *library;
    GompParallel *gomp;
    KmpFork *kmp;
} Peer;

static void empty_body(void *data) { (void)data; }
static void empty_micro(int32_t *global, int32_t *bound, ...) { (void)global, (void)bound; }
static void busy_body(void *data) {
    (void)data;
    work_a_while();
}
static void busy_micro(int32_t *global, int32_t *bound, ...) {
    (void)global, (void)bound;
    work_a_while();
}

// ISO C does not convert a data pointer to a function pointer.
static void symbol(const OsLibrary *library, const char *name, void *function) {
    *(void **)function = os_library_symbol(library, name);
}

static Peer open_peer(const char *name, int threads) {
    OsError error;
    Peer p = {.name = name, .library = os_library_open(name, &error)};
    if (!p.library) return p;
    symbol(p.library, "GOMP_parallel", &p.gomp);
    symbol(p.library, "__kmpc_fork_call", &p.kmp);
    SetNumber *set = NULL;
    symbol(p.library, "omp_set_num_threads", &set);
    if (set) set(threads);
    symbol(p.library, "kmp_set_blocktime", &set);
    if (set) set(1);
    return p;
}

static void region(const Peer *p, int threads, bool busy) {
    static const char source[] = ";pool.c;region;1;1;;";
    KmpPlace place = {.flags = 2, .source = source};
    if (p->kmp)
        p->kmp(&place, 0, busy ? busy_micro : empty_micro);
    else
        p->gomp(busy ? busy_body : empty_body, NULL, (unsigned)threads, 0);
}

// ---- Times ----

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *times, size_t n) {
    qsort(times, n, sizeof *times, compare);
    return times[n / 2];
}

typedef void Work(Bench *b, const Peer *peer);

// ns for each run of the batch. Before it, the threads measured last go to sleep, and ours wake up.
static double batch(Bench *b, Work *work, const Peer *peer, int count) {
    uint64_t begin = os_time_ns();
    while (b->threads > 1 && os_time_ns() - begin < PAUSE_NS) os_spin_hint();
    for (int i = 0; i < count; i++) work(b, peer);
    begin = os_time_ns();
    for (int i = 0; i < count; i++) work(b, peer);
    return (double)(os_time_ns() - begin) / count;
}

static void one_program(Bench *b, const Peer *peer) {
    (void)peer;
    launch(b, 1);
}

static void pool_region(Bench *b, const Peer *peer) {
    (void)peer;
    launch(b, b->threads);
    synchronize(b);
}

static void peer_region(Bench *b, const Peer *peer) { region(peer, b->threads, false); }

static void busy_alone(Bench *b, const Peer *peer) {
    (void)b, (void)peer;
    work_a_while();
}

static void busy_region(Bench *b, const Peer *peer) {
    (void)peer;
    launch_of(b, b->busy, b->threads);
    synchronize(b);
}

static void busy_peer(Bench *b, const Peer *peer) { region(peer, b->threads, true); }

static void million(Bench *b, const Peer *peer) {
    (void)peer;
    launch(b, MILLION);
    synchronize(b);
}

static void bench_alone(Bench *b, const char *what, Work *work, int count, double scale) {
    double *times = calloc(b->rounds, sizeof *times);
    batch(b, work, NULL, count);
    for (size_t i = 0; i < b->rounds; i++) times[i] = batch(b, work, NULL, count) / scale;
    printf("%-44s %9.2f ns\n", what, median(times, b->rounds));
    free(times);
}

// Alternates, so that other load on the machine affects both.
static void bench_pair(Bench *b, const char *what, const Peer *peer, Work *our, Work *their) {
    double *ours = calloc(b->rounds, sizeof *ours), *theirs = calloc(b->rounds, sizeof *theirs),
           *ratios = calloc(b->rounds, sizeof *ratios);
    batch(b, their, peer, BATCH);
    batch(b, our, NULL, BATCH);
    for (size_t i = 0; i < b->rounds; i++) {
        ours[i] = batch(b, our, NULL, BATCH);
        theirs[i] = batch(b, their, peer, BATCH);
        ratios[i] = ours[i] / theirs[i];
    }
    printf("%s, %-30s %9.2f ns, ours %9.2f ns, ratio %.2f\n", what, peer->name,
           median(theirs, b->rounds), median(ours, b->rounds), median(ratios, b->rounds));
    free(ours), free(theirs), free(ratios);
}

static void bench_peer(Bench *b, const char *name) {
    Peer peer = open_peer(name, b->threads);
    if (!peer.gomp && !peer.kmp) {
        printf("%s is not here (Debian: apt install libomp5-14 libgomp1)\n", name);
        return;
    }
    bench_pair(b, "empty region", &peer, pool_region, peer_region);
    bench_pair(b, "busy region ", &peer, busy_region, busy_peer);
}

static void open_bench(Bench *b) {
    static const RtDeviceApi *const apis[] = {&cpu_device_api};
    char name[32];
    snprintf(name, sizeof name, "cpu:%d", b->threads);
    b->variant = (MetaVariant){.guard = META_NO_VALUE};
    b->meta =
        (MetaKernel){.name = STR("empty"), .size = 64, .variant_count = 1, .variants = &b->variant};
    RtCpuFunction function = {CPU_ABI_VERSION, cpu_native(), empty_entry};
    RtCpuFunction busy = {CPU_ABI_VERSION, cpu_native(), busy_entry};
    RtImage image = {RT_IMAGE_CPU_ENTRY, &function, sizeof function};
    RtImage busy_image = {RT_IMAGE_CPU_ENTRY, &busy, sizeof busy};
    if (rt_context_create(NULL, apis, 1, &b->context) ||
        tilec_device_open(b->context, name, &b->device) ||
        cpu_device_api.module_load(b->device, &image, &b->module) ||
        cpu_device_api.module_load(b->device, &busy_image, &b->busy))
        exit(1);
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : (int)os_cpu_count();
    Bench b = {.threads = threads > 0 ? threads : 1,
               .rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 51};
    if (!b.rounds) b.rounds = 1;
    open_bench(&b);
    printf("%d threads, medians of %zu rounds\n", b.threads, b.rounds);
    bench_alone(&b, "one empty program on the calling thread", one_program, BATCH, 1);
    bench_alone(&b, "an empty region through the pool", pool_region, BATCH, 1);
    bench_alone(&b, "a million empty programs, each", million, 4, MILLION);
    bench_alone(&b, "the work of a program of the busy region", busy_alone, BATCH, 1);
    bench_peer(&b, "libomp.so.5");
    bench_peer(&b, "libgomp.so.1");
    cpu_device_api.module_unload(b.device, b.module);
    cpu_device_api.module_unload(b.device, b.busy);
    tilec_context_destroy(b.context);
    return 0;
}
