#include "tests/triton/rig.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/dtype.h"

static size_t width(const Array *a) { return tilec_dtype_bits(a->type) / 8; }

static size_t bytes(const Array *a) { return (size_t)a->count * width(a); }

Array *array_new(Rig *r, tilec_dtype type, int64_t count) {
    assert_true(r->count < RIG_ARRAYS);
    Array *a = &r->arrays[r->count++];
    *a = (Array){.rig = r, .type = type, .count = count};
    a->data = calloc(1, bytes(a) + 1);
    assert_non_null(a->data);
    if (r->own_memory)
        assert_int_equal(tilec_buffer_create(r->device, bytes(a), &a->buffer), TILEC_OK);
    return a;
}

uint64_t next_number(Rig *r) {
    r->seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = r->seed;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

Array *array_random(Rig *r, tilec_dtype type, int64_t count, double low, double high) {
    Array *a = array_new(r, type, count);
    for (int64_t i = 0; i < count; i++)
        set(a, i, low + (high - low) * ((double)(next_number(r) >> 11) / 0x1p53));
    return a;
}

Array *array_ints(Rig *r, tilec_dtype type, int64_t count, int64_t low, int64_t high) {
    Array *a = array_new(r, type, count);
    for (int64_t i = 0; i < count; i++)
        set(a, i, (double)(low + (int64_t)(next_number(r) % (uint64_t)(high - low))));
    return a;
}

static uint64_t bits_at(const Array *a, int64_t i) {
    uint64_t bits = 0;
    memcpy(&bits, a->data + (size_t)i * width(a), width(a));  // little endian
    return bits;
}

double get(const Array *a, int64_t i) {
    Dtype t = (Dtype)a->type;
    if (dtype_is(t, DTYPE_CLASS_ANYFLOAT)) return dtype_to_double(t, bits_at(a, i));
    return (double)get_int(a, i);
}

int64_t get_int(const Array *a, int64_t i) { return dtype_to_i64((Dtype)a->type, bits_at(a, i)); }

void set_int(Array *a, int64_t i, int64_t value) {
    uint64_t bits = dtype_wrap((Dtype)a->type, (uint64_t)value);
    memcpy(a->data + (size_t)i * width(a), &bits, width(a));
}

void set(Array *a, int64_t i, double value) {
    Dtype t = (Dtype)a->type;
    if (!dtype_is(t, DTYPE_CLASS_ANYFLOAT)) {
        set_int(a, i, (int64_t)value);
        return;
    }
    uint64_t bits = dtype_from_double(t, value, true);
    memcpy(a->data + (size_t)i * width(a), &bits, width(a));
}

tilec_view view_strided(const Array *a, int64_t offset, int64_t rows, int64_t columns,
                        int64_t row_stride, int64_t column_stride) {
    tilec_view v = tilec_view2(a->type, a->rig->own_memory ? NULL : a->data, rows, columns);
    v.buffer = a->buffer;
    v.offset = offset;
    v.stride[0] = row_stride;
    v.stride[1] = column_stride;
    return v;
}

tilec_view view2(const Array *a, int64_t rows, int64_t columns) {
    return view_strided(a, 0, rows, columns, columns, 1);
}

tilec_view view1(const Array *a) {
    tilec_view v = tilec_view1(a->type, a->rig->own_memory ? NULL : a->data, a->count);
    v.buffer = a->buffer;
    return v;
}

int64_t address_of(const Array *a, int64_t i) {
    void *base = a->data;
    size_t size;
    if (a->rig->own_memory)
        assert_int_equal(tilec_buffer_address(a->rig->device, a->buffer, &base, &size), TILEC_OK);
    return (int64_t)(uintptr_t)base + i * (int64_t)width(a);
}

static void check(const Rig *r, const char *what, tilec_status status) {
    if (status) fail_msg("%s on %s: %s", what, r->name, tilec_last_error(r->context));
}

void run(Rig *r, const char *file, const char *kernel, const tilec_spec *spec, const int64_t *grid,
         const tilec_arg *args, size_t count) {
    char path[200];
    tilec_kernel *k = NULL;
    snprintf(path, sizeof path, "%s/tests/triton/kernels/%s", TEST_SOURCE_DIR, file);
    for (size_t i = 0; r->own_memory && i < r->count; i++)
        check(r, kernel,
              tilec_buffer_write(r->device, NULL, r->arrays[i].buffer, 0, r->arrays[i].data,
                                 bytes(&r->arrays[i])));
    check(r, kernel, tilec_kernel_from_file(r->context, r->device, path, kernel, spec, &k));
    check(r, kernel,
          grid ? tilec_launch_grid(k, NULL, -1, grid, args, count)
               : tilec_launch(k, NULL, args, count));
    check(r, kernel, tilec_device_synchronize(r->device));
    tilec_kernel_destroy(k);
    for (size_t i = 0; r->own_memory && i < r->count; i++)
        check(r, kernel,
              tilec_buffer_read(r->device, NULL, r->arrays[i].buffer, 0, r->arrays[i].data,
                                bytes(&r->arrays[i])));
}

void near(const Array *a, int64_t i, double expected, double relative, double absolute) {
    double found = get(a, i);
    if (found == expected || (isnan(found) && isnan(expected))) return;
    if (fabs(found - expected) <= fabs(expected) * relative + absolute) return;
    fail_msg("element %lld is %.9g, expected %.9g", (long long)i, found, expected);
}

void exact(const Array *a, int64_t i, double expected) {
    double found = get(a, i);
    if (isnan(found) && isnan(expected)) return;
    if (found == expected && !signbit(found) == !signbit(expected)) return;
    fail_msg("element %lld is %.9g, expected %.9g", (long long)i, found, expected);
}

void same(const Array *a, int64_t i, int64_t expected) {
    if (get_int(a, i) == expected) return;
    fail_msg("element %lld is %lld, expected %lld", (long long)i, (long long)get_int(a, i),
             (long long)expected);
}

// ---- Philox with ten rounds

static void philox(uint32_t c[4], uint64_t seed) {
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t b = (uint64_t)UINT32_C(0xCD9E8D57) * c[2],
                 a = (uint64_t)UINT32_C(0xD2511F53) * c[0];
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k0, (uint32_t)b,
                            (uint32_t)(a >> 32) ^ c[3] ^ k1, (uint32_t)a};
        for (int i = 0; i < 4; i++) c[i] = next[i];
        k0 += UINT32_C(0x9E3779B9);
        k1 += UINT32_C(0xBB67AE85);
    }
}

uint32_t philox_bits(uint64_t seed, uint32_t offset, int which) {
    uint32_t c[4] = {offset, 0, 0, 0};
    philox(c, seed);
    return c[which];
}

float philox_uniform_of(uint64_t seed, uint32_t offset, int which) {
    int32_t x = (int32_t)philox_bits(seed, offset, which);
    if (x < 0) x = -x - 1;
    return (float)x * 4.6566127342e-10f;
}

float philox_uniform(uint64_t seed, uint32_t offset) { return philox_uniform_of(seed, offset, 0); }
