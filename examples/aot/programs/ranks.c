// A matrix product over the ranks of MPI. Each rank has a slice of K and computes its part of the
// sum with the library's kernel on its own device; MPI_Allreduce adds the parts. MPI, which works
// between machines, and tilec, which works on a device, share only a buffer.
//
//     mpirun -n 3 ./ranks [DEVICE]       cpu, cpu:4 (threads of each rank), cuda, hip
//
// "cuda" and "hip" mean one GPU for each rank of a machine: cuda:0, cuda:1, …
#include <mpi.h>
#include <ops.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { M = 40, N = 36, K = 100, NAME = 64 };

typedef struct Rank {
    int rank, count, local;  // local: number among the ranks of this machine
    tilec_context *context;
    tilec_device *device;
    tilec_library *library;
    tilec_stream *stream;
} Rank;

static int failed(const Rank *r, const char *what) {
    fprintf(stderr, "rank %d: %s: %s\n", r->rank, what, tilec_last_error(r->context));
    return 0;
}

static void find_place(Rank *r) {
    MPI_Comm machine;
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->count);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, r->rank, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &r->local);
    MPI_Comm_free(&machine);
}

static int open_device(Rank *r, const char *device) {
    char name[NAME];
    int gpu = !strcmp(device, "cuda") || !strcmp(device, "hip");
    snprintf(name, sizeof name, gpu ? "%s:%d" : "%s", device, r->local);
    if (tilec_context_create(NULL, &r->context)) return 0;
    if (tilec_device_open(r->context, name, &r->device)) return failed(r, "no device");
    if (ops_load(r->device, &r->library)) return failed(r, "the library is not loaded");
    r->stream = tilec_device_stream(r->device);
    return 1;
}

// A rank's part: columns [first, first + k) of a, and the same rows of b.
static int multiply(const Rank *r, const float *a, const float *b, int first, int k, float *c) {
    static float slice[M * K];
    tilec_buffer da, db, dc;
    size_t a_size = (size_t)(M * k) * sizeof *a, b_size = (size_t)(k * N) * sizeof *b;
    size_t c_size = (size_t)(M * N) * sizeof *c;
    for (int i = 0; i < M; i++) memcpy(slice + i * k, a + i * K + first, (size_t)k * sizeof *slice);
    if (tilec_buffer_create(r->device, a_size, &da) ||
        tilec_buffer_create(r->device, b_size, &db) ||
        tilec_buffer_create(r->device, c_size, &dc) ||
        tilec_buffer_write(r->device, r->stream, da, 0, slice, a_size) ||
        tilec_buffer_write(r->device, r->stream, db, 0, b + (size_t)first * N, b_size))
        return failed(r, "no memory on the device");
    if (ops_matmul_f32(r->stream, tilec_buffer_view2(TILEC_F32, da, M, k),
                       tilec_buffer_view2(TILEC_F32, db, k, N),
                       tilec_buffer_view2(TILEC_F32, dc, M, N)))
        return failed(r, "matmul");
    // Runs after the launch, in stream order. An MPI that reads GPU memory itself could take the
    // address of the buffer (tilec_buffer_address) after tilec_stream_synchronize, without this
    // copy.
    if (tilec_buffer_read(r->device, r->stream, dc, 0, c, c_size)) return failed(r, "not read");
    return 1;
}

static int work(Rank *r, const char *device) {
    static float a[M * K], b[K * N], part[M * N], c[M * N];
    const Matmul shape = {M, N, K, r->count, 0};
    fill(a, M * K, 5), fill(b, K * N, 6);  // for simplicity every rank has both whole
    int first = r->rank * K / r->count, end = (r->rank + 1) * K / r->count;
    int good = open_device(r, device) && multiply(r, a, b, first, end - first, part);
    // If one rank fails, all must know it before they wait for each other.
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!good) return 0;
    MPI_Allreduce(part, c, M * N, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d on %s: K from %d to %d\n", r->rank, r->count,
           tilec_device_name(r->device), first, end);
    good = r->rank || check_matmul("matmul of all ranks", a, b, c, shape);
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return good;
}

int main(int argc, char **argv) {
    Rank r = {0};
    MPI_Init(&argc, &argv);
    find_place(&r);
    int good = work(&r, argc > 1 ? argv[1] : "cpu");
    tilec_context_destroy(r.context);
    MPI_Finalize();
    return good ? 0 : 1;
}
