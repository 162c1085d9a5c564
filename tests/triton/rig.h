// A rig: one device, and arrays for launches of kernels in Python files through the public API.
//
// Purpose: each case makes arrays, launches a kernel of tests/triton/kernels, and compares arrays
// with what C computes. Devices without the host's memory get buffers, which run() fills before a
// launch and reads after it. Invariants: the same case makes the same numbers on every device; a
// launch that fails ends the test with the message. Ownership: the rig has the arrays.
//
//     static void add(Rig *r) {
//         Array *x = array_random(r, TILEC_F32, 1000, -1, 1), *y = array_new(r, TILEC_F32, 1000);
//         run(r, "add.py", "add_kernel", TILEC_SPEC(TILEC_CONST("BLOCK", 128)), GRID(8, 1, 1),
//             TILEC_ARGS(view1(x), view1(y), 1000));
//         for (int64_t i = 0; i < 1000; i++) near(y, i, 2 * get(x, i), 1e-6, 0);
//     }
#ifndef TILEC_TESTS_TRITON_RIG_H
#define TILEC_TESTS_TRITON_RIG_H

#include <stdbool.h>
#include <tilec/tilec.h>

enum { RIG_ARRAYS = 32 };

typedef struct Array {
    const struct Rig *rig;
    tilec_dtype type;
    int64_t count;
    unsigned char *data;
    tilec_buffer buffer;  // of devices with memory of their own
} Array;

typedef struct Rig {
    tilec_context *context;
    tilec_device *device;
    const char *name;  // of the device
    bool own_memory;
    uint64_t seed;
    size_t count;
    Array arrays[RIG_ARRAYS];
} Rig;

typedef struct RigCase {
    const char *name;
    void (*run)(Rig *rig);
} RigCase;

// Zeroed.
Array *array_new(Rig *r, tilec_dtype type, int64_t count);
// Uniform in [low, high), rounded to the type.
Array *array_random(Rig *r, tilec_dtype type, int64_t count, double low, double high);
// Whole numbers from low to high - 1.
Array *array_ints(Rig *r, tilec_dtype type, int64_t count, int64_t low, int64_t high);
// The element's value; exact for integers up to 2^53.
double get(const Array *a, int64_t i);
int64_t get_int(const Array *a, int64_t i);
void set(Array *a, int64_t i, double value);  // rounded to the type
void set_int(Array *a, int64_t i, int64_t value);
uint64_t next_number(Rig *r);

tilec_view view1(const Array *a);
tilec_view view2(const Array *a, int64_t rows, int64_t columns);
// `offset` and strides in elements.
tilec_view view_strided(const Array *a, int64_t offset, int64_t rows, int64_t columns,
                        int64_t row_stride, int64_t column_stride);
// The address of the array's element on the device, as kernels see it in tables.
int64_t address_of(const Array *a, int64_t i);

#define GRID(x, y, z) ((const int64_t[3]){(x), (y), (z)})
// Launches a kernel of tests/triton/kernels and waits. NULL for the grid: the kernel's own, which
// TILEC_GRID gives.
void run(Rig *r, const char *file, const char *kernel, const tilec_spec *spec, const int64_t *grid,
         const tilec_arg *args, size_t count);
// The element differs from the value by at most `relative` of it plus `absolute`.
void near(const Array *a, int64_t i, double expected, double relative, double absolute);
// The very number, with the sign of a zero; any NaN for a NaN.
void exact(const Array *a, int64_t i, double expected);
void same(const Array *a, int64_t i, int64_t expected);
// tl.rand(seed, offset), bit by bit.
float philox_uniform(uint64_t seed, uint32_t offset);
// The number `which` of the four that Philox makes, as bits and as rand4x has it.
uint32_t philox_bits(uint64_t seed, uint32_t offset, int which);
float philox_uniform_of(uint64_t seed, uint32_t offset, int which);

#endif
