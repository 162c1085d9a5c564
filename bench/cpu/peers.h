// The peers: libraries and loops that do the same work; each is used if it is available.
//
// Invariants: the build needs nothing of a peer. Libraries are opened by name, and the file that
// calls their few functions declares them. A runner that cannot be made is NULL, and row_add leaves
// it out.
// Ownership: the bench's arena; libraries stay open.
//
//     Peers *peers = peers_open(arena, threads, "build/bench/libhand.so");
//     row_add(&row, "C", ROLE_PEER, peers_hand(bench, "hand_add", &job, count, &self), self);
#ifndef TILEC_BENCH_PEERS_H
#define TILEC_BENCH_PEERS_H

#include "base/os/os_dl.h"
#include "bench/cpu/measure.h"
#include "bench/hand/hand.h"

typedef void Runner(void *self);

typedef struct Peers {
    OsLibrary *hand, *openmp, *blas, *onednn, *opencl;
    struct OneDnn *dnnl;
    struct Pocl *pocl;  // NULL: no PoCL
} Peers;

typedef struct PeerPaths {
    const char *hand, *openmp, *blas, *onednn, *opencl;
} PeerPaths;

Peers *peers_open(Bench *bench, const PeerPaths *paths);
// Prints the missing peers, with the commands that install them.
void peers_print_missing(const Peers *peers);

// A hand-written loop over `units`, in pieces that are multiples of `grain` units, by OpenMP when
// there is more than one thread.
Runner *peers_hand(Bench *bench, const char *loop, const HandJob *job, int64_t units, int64_t grain,
                   void **self);
// Runs the kernel of a peak; sets *operations to those of one run. NULL if this CPU lacks the
// instruction.
Runner *peers_peak(Bench *bench, const char *loop, double *operations, void **self);
// An empty parallel region.
Runner *peers_region(Bench *bench, void **self);

// c = a b; rows of a and b are contiguous, or columns if transposed.
typedef struct MatmulJob {
    int64_t m, n, k;
    bool transpose_a, transpose_b;
    const void *a, *b;
    void *c;
} MatmulJob;
Runner *peers_sgemm(Bench *bench, const MatmulJob *job, void **self);
Runner *peers_sbgemm(Bench *bench, const MatmulJob *job, void **self);

// oneDNN, with its own numbers for types.
typedef enum DnnlType { DNNL_BF16 = 2, DNNL_F32 = 3, DNNL_S32 = 4, DNNL_S8 = 5 } DnnlType;
typedef enum DnnlMap { DNNL_EXP = 42, DNNL_GELU_TANH = 43, DNNL_GELU_ERF = 49 } DnnlMap;
Runner *onednn_matmul(Bench *bench, const MatmulJob *job, DnnlType in, DnnlType out, void **self);
Runner *onednn_map(Bench *bench, DnnlMap map, const HandJob *job, int64_t count, void **self);
Runner *onednn_add(Bench *bench, const HandJob *job, int64_t count, void **self);
Runner *onednn_sum(Bench *bench, const HandJob *job, int64_t count, void **self);
Runner *onednn_softmax(Bench *bench, const HandJob *job, void **self);
Runner *onednn_layernorm(Bench *bench, const HandJob *job, void **self);
Runner *onednn_transpose(Bench *bench, const HandJob *job, void **self);
// False if the library cannot create an engine here.
bool onednn_start(Bench *bench, Peers *peers);

// PoCL: a kernel of bench/cpu/pocl.cl with its arguments, given by the macros below.
typedef struct Pocl Pocl;
typedef struct PoclArg {
    bool given;
    const float *memory;  // an array of `count` floats; NULL: a number
    int64_t count;
    union {
        float real;
        int32_t whole;
    } number;
} PoclArg;
#define POCL_MEMORY(data, floats) \
    { .given = true, .memory = (data), .count = (floats) }
#define POCL_REAL(value) \
    { .given = true, .number.real = (value) }
#define POCL_WHOLE(value) \
    { .given = true, .number.whole = (int32_t)(value) }

enum { POCL_ARGS = 8 };
typedef struct PoclJob {
    const char *kernel;
    PoclArg args[POCL_ARGS];
    int64_t items[2], group[2];  // multiples of the group; 0: 1
} PoclJob;
// False if there is no PoCL or it does not start; prints a line on stderr if that helps.
bool pocl_start(Bench *bench, Peers *peers);

#endif
