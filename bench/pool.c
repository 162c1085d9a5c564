// What a launch on the device `cpu` costs: empty kernels. Prints medians; asserts nothing.
//
//     build/release/bench_pool [threads [rounds]]
//
// One program on the calling thread; a region through the pool (as many programs as threads, then
// synchronize) beside an empty parallel region of libomp and libgomp, in turn; a million programs.
// The OpenMP libraries are opened if they are there: Debian's libomp5 and libgomp1.
#include <stdio.h>
#include <stdlib.h>

#include "base/os.h"
#include "base/os_dl.h"
#include "runtime/context.h"
#include "runtime/cpu/device.h"

enum { BATCH = 200, MILLION = 1000000 };

typedef struct Bench {
    tilec_context *context;
    tilec_device *device;
    RtModule *module;
    MetaVariant variant;
    MetaKernel meta;
    int threads;
    size_t rounds;
} Bench;

// As compiled kernels are: a loop over programs that looks at `cancel` between them.
static void empty_entry(const void *args, int64_t first, int64_t last, void *scratch,
                        const CpuServices *services) {
    (void)args, (void)scratch;
    const volatile int32_t *cancel = services->cancel;
    for (int64_t p = first; p < last && !*cancel; p++) {}
}

static void launch(Bench *b, int64_t programs) {
    RtLaunch l = {.module = b->module, .meta = &b->meta, .grid = {programs, 1, 1}, .block = b};
    if (cpu_device_api.launch(b->device, b->device->first->state, &l)) exit(1);
}

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
typedef void SetThreads(int threads);

typedef struct Peer {
    OsLibrary *library;
    GompParallel *gomp;
    KmpFork *kmp;
} Peer;

static void empty_body(void *data) { (void)data; }
static void empty_micro(int32_t *global, int32_t *bound, ...) { (void)global, (void)bound; }

// A function's address, which ISO C does not convert from a pointer to data.
static void symbol(const OsLibrary *library, const char *name, void *function) {
    *(void **)function = os_library_symbol(library, name);
}

static Peer open_peer(const char *name, int threads) {
    OsError error;
    Peer p = {.library = os_library_open(name, &error)};
    if (!p.library) return p;
    symbol(p.library, "GOMP_parallel", &p.gomp);
    symbol(p.library, "__kmpc_fork_call", &p.kmp);
    SetThreads *set = NULL;
    symbol(p.library, "omp_set_num_threads", &set);
    if (set) set(threads);
    return p;
}

static void region(const Peer *p, int threads) {
    static const char source[] = ";pool.c;region;1;1;;";
    KmpPlace place = {.flags = 2, .source = source};
    if (p->kmp)
        p->kmp(&place, 0, empty_micro);
    else
        p->gomp(empty_body, NULL, (unsigned)threads, 0);
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

// ns of each of the batch.
static double batch(Bench *b, Work *work, const Peer *peer, int count) {
    uint64_t begin = os_time_ns();
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

static void peer_region(Bench *b, const Peer *peer) { region(peer, b->threads); }

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

// In turn, so that what else the machine does meets both.
static void bench_peer(Bench *b, const char *name) {
    Peer peer = open_peer(name, b->threads);
    if (!peer.gomp && !peer.kmp) {
        printf("%s is not here (Debian: apt install libomp5-14 libgomp1)\n", name);
        return;
    }
    double *ours = calloc(b->rounds, sizeof *ours), *theirs = calloc(b->rounds, sizeof *theirs),
           *ratios = calloc(b->rounds, sizeof *ratios);
    batch(b, peer_region, &peer, BATCH);
    batch(b, pool_region, NULL, BATCH);
    for (size_t i = 0; i < b->rounds; i++) {
        ours[i] = batch(b, pool_region, NULL, BATCH);
        theirs[i] = batch(b, peer_region, &peer, BATCH);
        ratios[i] = ours[i] / theirs[i];
    }
    printf("empty region, %-30s %9.2f ns, ours %9.2f ns, ratio %.2f\n", name,
           median(theirs, b->rounds), median(ours, b->rounds), median(ratios, b->rounds));
    free(ours), free(theirs), free(ratios);
}

static void open_bench(Bench *b) {
    static const RtDeviceApi *const apis[] = {&cpu_device_api};
    char name[32];
    snprintf(name, sizeof name, "cpu:%d", b->threads);
    b->variant = (MetaVariant){.guard = META_NO_VALUE};
    b->meta =
        (MetaKernel){.name = STR("empty"), .size = 64, .variant_count = 1, .variants = &b->variant};
    RtCpuFunction function = {CPU_ABI_VERSION, cpu_native(), empty_entry};
    RtImage image = {RT_IMAGE_CPU_ENTRY, &function, sizeof function};
    if (rt_context_create(NULL, apis, 1, &b->context) ||
        tilec_device_open(b->context, name, &b->device) ||
        cpu_device_api.module_load(b->device, &image, &b->module))
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
    bench_peer(&b, "libomp.so.5");
    bench_peer(&b, "libgomp.so.1");
    cpu_device_api.module_unload(b.device, b.module);
    tilec_context_destroy(b.context);
    return 0;
}
