#include "bench/cpu/peers.h"

#include <stdio.h>
#include <string.h>

// Casts a symbol's address to a function pointer.
#define SYMBOL(library, name, pointer)                         \
    do {                                                       \
        void *address_ = os_library_symbol((library), (name)); \
        memcpy((pointer), &address_, sizeof address_);         \
    } while (0)

// libomp's entry for code compiled by GCC, and a function that returns a thread's number.
typedef void OpenMpParallel(void (*run)(void *data), void *data, unsigned threads, unsigned flags);
typedef int OpenMpThread(void);

static OsLibrary *open_library(const char *path) {
    OsError error;
    return path && path[0] ? os_library_open(path, &error) : NULL;
}

static void set_threads(const OsLibrary *library, const char *name, unsigned threads) {
    void (*set)(int) = NULL;
    if (library) SYMBOL(library, name, &set);
    if (set) set((int)threads);
}

Peers *peers_open(Bench *bench, const PeerPaths *paths) {
    Peers *p = arena_new(bench->arena, Peers, 1);
    p->hand = open_library(paths->hand);
    p->openmp = open_library(paths->openmp);
    p->blas = open_library(paths->blas);
    p->onednn = open_library(paths->onednn);
    set_threads(p->blas, "openblas_set_num_threads", bench->threads);
    set_threads(p->openmp, "omp_set_num_threads", bench->threads);
    bench->peers = p;
    if (p->onednn && !onednn_start(bench, p)) p->onednn = NULL;
    p->opencl = open_library(paths->opencl);
    if (p->opencl && !pocl_start(bench, p)) p->pocl = NULL;
    return p;
}

void peers_print_missing(const Peers *p) {
    if (!p->hand) printf("no hand-written loops: scripts/bench.sh builds them with clang\n");
    if (!p->openmp) printf("no OpenMP: apt-get install libomp5\n");
    if (!p->blas) printf("no OpenBLAS: apt-get install libopenblas0-pthread\n");
    if (!p->onednn) printf("no oneDNN: scripts/bench.sh --peers (pip install onednn, 800 MB)\n");
    if (!p->pocl) printf("no PoCL: apt-get install pocl-opencl-icd ocl-icd-libopencl1\n");
}

// ---- Hand-written loops ----

typedef struct HandRun {
    HandLoop *loop;
    HandJob job;
    int64_t units, grain;
    unsigned threads;
    OpenMpParallel *parallel;
    OpenMpThread *thread;
} HandRun;

static void hand_alone(void *self) {
    HandRun *r = self;
    r->loop(&r->job, 0, r->units);
}

static void hand_part(void *self) {
    HandRun *r = self;
    int64_t part = r->thread(), grains = (r->units + r->grain - 1) / r->grain;
    int64_t first = grains * part / r->threads * r->grain;
    int64_t last = grains * (part + 1) / r->threads * r->grain;
    r->loop(&r->job, first, last < r->units ? last : r->units);
}

static void hand_together(void *self) {
    HandRun *r = self;
    r->parallel(hand_part, r, r->threads, 0);
}

Runner *peers_hand(Bench *bench, const char *loop, const HandJob *job, int64_t units, int64_t grain,
                   void **self) {
    const Peers *p = bench->peers;
    if (!p->hand || (bench->threads > 1 && !p->openmp)) return NULL;
    HandRun *r = arena_new(bench->arena, HandRun, 1);
    *r = (HandRun){.job = *job, .units = units, .grain = grain, .threads = bench->threads};
    SYMBOL(p->hand, loop, &r->loop);
    if (!r->loop) return NULL;
    *self = r;
    if (bench->threads == 1) return hand_alone;
    SYMBOL(p->openmp, "GOMP_parallel", &r->parallel);
    SYMBOL(p->openmp, "omp_get_thread_num", &r->thread);
    return r->parallel && r->thread ? hand_together : NULL;
}

Runner *peers_peak(Bench *bench, const char *loop, double *operations, void **self) {
    enum { ROUNDS = 100000 };
    char name[64];
    snprintf(name, sizeof name, "%s_operations", loop);
    int64_t (*of_round)(void) = NULL;
    if (bench->peers->hand) SYMBOL(bench->peers->hand, name, &of_round);
    if (!of_round || !of_round()) return NULL;
    HandJob job = {.alpha = 0.5f, .eps = 0.25f, .z = bench->z};
    int64_t rounds = (int64_t)ROUNDS * bench->threads;
    *operations = (double)of_round() * (double)rounds;
    return peers_hand(bench, loop, &job, rounds, ROUNDS, self);
}

static void nothing(const HandJob *job, int64_t first, int64_t last) {
    (void)job, (void)first, (void)last;
}

Runner *peers_region(Bench *bench, void **self) {
    Runner *r = peers_hand(bench, "hand_read", &(HandJob){0}, bench->threads, 1, self);
    if (r) ((HandRun *)*self)->loop = nothing;
    return r;
}

// ---- OpenBLAS ----

enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111, TRANSPOSE = 112 };
typedef void Sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a,
                   int lda, const float *b, int ldb, float beta, float *c, int ldc);
typedef void Sbgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const void *a,
                    int lda, const void *b, int ldb, float beta, float *c, int ldc);

typedef struct BlasRun {
    MatmulJob job;
    Sgemm *sgemm;
    Sbgemm *sbgemm;
} BlasRun;

static void run_blas(void *self) {
    BlasRun *r = self;
    const MatmulJob *j = &r->job;
    int m = (int)j->m, n = (int)j->n, k = (int)j->k;
    int ta = j->transpose_a ? TRANSPOSE : NO_TRANSPOSE,
        tb = j->transpose_b ? TRANSPOSE : NO_TRANSPOSE;
    int lda = j->transpose_a ? m : k, ldb = j->transpose_b ? k : n;
    if (r->sgemm)
        r->sgemm(ROW_MAJOR, ta, tb, m, n, k, 1, j->a, lda, j->b, ldb, 0, j->c, n);
    else
        r->sbgemm(ROW_MAJOR, ta, tb, m, n, k, 1, j->a, lda, j->b, ldb, 0, j->c, n);
}

Runner *peers_sgemm(Bench *bench, const MatmulJob *job, void **self) {
    if (!bench->peers->blas) return NULL;
    BlasRun *r = arena_new(bench->arena, BlasRun, 1);
    r->job = *job;
    SYMBOL(bench->peers->blas, "cblas_sgemm", &r->sgemm);
    *self = r;
    return r->sgemm ? run_blas : NULL;
}

Runner *peers_sbgemm(Bench *bench, const MatmulJob *job, void **self) {
    if (!bench->peers->blas) return NULL;
    BlasRun *r = arena_new(bench->arena, BlasRun, 1);
    r->job = *job;
    SYMBOL(bench->peers->blas, "cblas_sbgemm", &r->sbgemm);
    *self = r;
    return r->sbgemm ? run_blas : NULL;
}
