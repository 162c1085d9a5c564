// DLPack tensors in and out, on every device.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <tilec/dlpack.h>

#include <cmocka.h>

#include "tests/support/host.h"

static int64_t extents[] = {2, 3, 4, 5, 6, 7};

static tilec_dl_tensor tensor_of(void *data, int32_t rank) {
    return (tilec_dl_tensor){.data = data,
                             .device = {TILEC_DL_CPU, 0},
                             .ndim = rank,
                             .dtype = {TILEC_DL_FLOAT, 32, 1},
                             .shape = extents};
}

// The specification's layout, on machines with pointers of 8 bytes.
static void test_layout(Host *h) {
    (void)h;
    assert_int_equal(sizeof(tilec_dl_tensor), 48);
    assert_int_equal(offsetof(tilec_dl_tensor, device), 8);
    assert_int_equal(offsetof(tilec_dl_tensor, ndim), 16);
    assert_int_equal(offsetof(tilec_dl_tensor, dtype), 20);
    assert_int_equal(offsetof(tilec_dl_tensor, shape), 24);
    assert_int_equal(offsetof(tilec_dl_tensor, strides), 32);
    assert_int_equal(offsetof(tilec_dl_tensor, byte_offset), 40);
    assert_int_equal(sizeof(tilec_dl_managed), 64);
    assert_int_equal(offsetof(tilec_dl_managed, deleter), 56);
    assert_int_equal(sizeof(tilec_dl_versioned), 80);
    assert_int_equal(offsetof(tilec_dl_versioned, flags), 24);
    assert_int_equal(offsetof(tilec_dl_versioned, tensor), 32);
}

static void test_in(Host *h) {
    float data[7] = {9, 1, 2, 3, 4, 5, 6};
    tilec_dl_tensor t = tensor_of(data, 2);
    t.byte_offset = 4;
    tilec_view v;
    host_expect(h, TILEC_OK, "", tilec_view_from_dlpack(h->device, &t, &v));
    assert_ptr_equal(v.data, data + 1);
    assert_true(v.dtype == TILEC_F32 && v.rank == 2 && v.extent[1] == 3 && v.stride[0] == 3 &&
                v.stride[1] == 1 && v.offset == 0 && v.flags == 0 && v.buffer.handle == 0);
    tilec_kernel *k =
        host_kernel(h,
                    "kernel twice(strided f32 x[M, N]) grid(M) {\n"
                    "    for j in 0 .. N x[program(0), j] = x[program(0), j] * 2;\n}\n");
    host_expect(h, TILEC_OK, "", tilec_launch(k, NULL, TILEC_ARGS(v)));
    host_expect(h, TILEC_OK, "", tilec_device_synchronize(h->device));
    assert_true(data[0] == 9 && data[1] == 2 && data[6] == 12);
    t.byte_offset = UINT64_MAX - 3;
    host_expect(h, TILEC_OK, "", tilec_view_from_dlpack(h->device, &t, &v));
    t.byte_offset = 4;
    // Columns first: the strides are the tensor's own.
    int64_t strides[2] = {1, 2};
    t.strides = strides;
    host_expect(h, TILEC_OK, "", tilec_view_from_dlpack(h->device, &t, &v));
    assert_true(v.stride[0] == 1 && v.stride[1] == 2);
    // A read-only one may not be written.
    tilec_dl_versioned ro = {.major = 1, .minor = 0, .flags = TILEC_DL_READ_ONLY, .tensor = t};
    host_expect(h, TILEC_OK, "", tilec_view_from_dlpack_versioned(h->device, &ro, &v));
    host_expect(h, TILEC_LAUNCH_REFUSED, "argument 'x' is written, and the view is read-only",
                tilec_launch(k, NULL, TILEC_ARGS(v)));
}

static void test_types(Host *h) {
    static const struct {
        tilec_dl_dtype from;
        tilec_dtype to;
    } rows[] = {
        {{TILEC_DL_BOOL, 8, 1}, TILEC_BOOL},       {{TILEC_DL_INT, 64, 1}, TILEC_I64},
        {{TILEC_DL_UINT, 16, 1}, TILEC_U16},       {{TILEC_DL_FLOAT, 16, 1}, TILEC_F16},
        {{TILEC_DL_BFLOAT, 16, 1}, TILEC_BF16},    {{TILEC_DL_FLOAT, 64, 1}, TILEC_F64},
        {{TILEC_DL_F8E4M3FN, 8, 1}, TILEC_F8E4M3}, {{TILEC_DL_F8E4M3FNUZ, 8, 1}, TILEC_F8E4M3FNUZ},
        {{TILEC_DL_F8E5M2, 8, 1}, TILEC_F8E5M2},   {{TILEC_DL_F8E5M2FNUZ, 8, 1}, TILEC_F8E5M2FNUZ},
        {{TILEC_DL_INT, 4, 1}, TILEC_I4},          {{TILEC_DL_UINT, 4, 2}, TILEC_U4},
    };
    char data[64];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tilec_dl_tensor t = tensor_of(data, 2);
        t.dtype = rows[i].from;
        tilec_view v;
        host_expect(h, TILEC_OK, "", tilec_view_from_dlpack(h->device, &t, &v));
        assert_int_equal(v.dtype, rows[i].to);
        // Two lanes of 4 bits: bytes become pairs.
        assert_int_equal(v.extent[1], t.dtype.lanes == 2 ? 6 : 3);
        assert_int_equal(v.stride[0], t.dtype.lanes == 2 ? 6 : 3);
    }
}

static void refused(Host *h, const tilec_dl_tensor *t, tilec_status s, const char *text) {
    tilec_view v = {.rank = 77};
    host_expect(h, s, text, tilec_view_from_dlpack(h->device, t, &v));
    assert_int_equal(v.rank, 77);
}

static void test_refusals(Host *h) {
    float data[6];
    tilec_dl_tensor t = tensor_of(data, 6);
    refused(h, &t, TILEC_INVALID_ARGUMENT, "the tensor has rank 6; 0 to 5");
    t = tensor_of(data, 2), t.dtype.lanes = 4;
    refused(h, &t, TILEC_UNSUPPORTED, "vectors of 4 lanes");
    t = tensor_of(data, 2), t.dtype.code = 5;
    refused(h, &t, TILEC_UNSUPPORTED, "DLPack code 5 of 32 bits");
    t = tensor_of(data, 2), t.device.type = TILEC_DL_CUDA;
    refused(h, &t, TILEC_UNSUPPORTED, "memory of DLPack device 2; the memory of device");
    t = tensor_of(data, 2), t.shape = NULL;
    refused(h, &t, TILEC_INVALID_ARGUMENT, "the tensor's shape is NULL");
    int64_t negative[2] = {2, -1};
    t = tensor_of(data, 2), t.shape = negative;
    refused(h, &t, TILEC_INVALID_ARGUMENT, "extent 1 is negative (-1)");
    refused(h, NULL, TILEC_INVALID_ARGUMENT, "the tensor or view is NULL");
    tilec_dl_versioned newer = {.major = 2, .tensor = tensor_of(data, 2)};
    tilec_view v;
    host_expect(h, TILEC_UNSUPPORTED, "DLPack version 2.0",
                tilec_view_from_dlpack_versioned(h->device, &newer, &v));
    newer.major = 1, newer.flags = TILEC_DL_SUBBYTE_PADDED;
    newer.tensor.dtype = (tilec_dl_dtype){TILEC_DL_INT, 4, 1};
    host_expect(h, TILEC_UNSUPPORTED, "padded to bytes",
                tilec_view_from_dlpack_versioned(h->device, &newer, &v));
}

// The memory goes with the last of buffer and tensor.
static void test_out(Host *h) {
    tilec_buffer b;
    assert_int_equal(tilec_buffer_create(h->device, 64, &b), TILEC_OK);
    void *address = NULL;
    assert_int_equal(tilec_buffer_address(h->device, b, &address, NULL), TILEC_OK);
    size_t live = h->live;
    tilec_view v = tilec_buffer_view2(TILEC_F32, b, 2, 3);
    v.offset = 1;
    tilec_dl_managed *m = NULL;
    tilec_dl_versioned *n = NULL;
    host_expect(h, TILEC_OK, "", tilec_view_to_dlpack(h->device, &v, &m));
    assert_ptr_equal(m->tensor.data, (char *)address + 4);
    assert_true(m->tensor.ndim == 2 && m->tensor.shape[1] == 3 && m->tensor.strides[0] == 3 &&
                m->tensor.dtype.code == TILEC_DL_FLOAT && m->tensor.dtype.bits == 32 &&
                m->tensor.device.type == TILEC_DL_CPU);
    v.flags = TILEC_VIEW_READ_ONLY;
    host_expect(h, TILEC_OK, "", tilec_view_to_dlpack_versioned(h->device, &v, &n));
    assert_true(n->major == 1 && n->flags == TILEC_DL_READ_ONLY);
    assert_int_equal(tilec_buffer_destroy(h->device, b), TILEC_OK);
    host_expect(h, TILEC_INVALID_ARGUMENT, "does not exist", tilec_buffer_destroy(h->device, b));
    host_expect(h, TILEC_INVALID_ARGUMENT, "does not exist",
                tilec_view_to_dlpack_versioned(h->device, &v, &n));
    memset(m->tensor.data, 1, 24);
    assert_int_equal(h->live, live);
    m->deleter(m);
    assert_int_equal(h->live, live);
    n->deleter(n);
    assert_int_equal(h->live, live - 1);
}

static void test_out_refusals(Host *h) {
    tilec_buffer b;
    assert_int_equal(tilec_buffer_create(h->device, 24, &b), TILEC_OK);
    tilec_dl_managed *m = NULL;
    tilec_view v = tilec_buffer_view2(TILEC_F32, b, 2, 4);
    host_expect(h, TILEC_INVALID_ARGUMENT, "reaches bytes 0 to 32 of a buffer of 24",
                tilec_view_to_dlpack(h->device, &v, &m));
    v = tilec_buffer_view2(TILEC_F32, b, 2, 3), v.offset = -1;
    host_expect(h, TILEC_INVALID_ARGUMENT, "reaches bytes -4 to 20",
                tilec_view_to_dlpack(h->device, &v, &m));
    v.offset = 0, v.flags = TILEC_VIEW_READ_ONLY;
    host_expect(h, TILEC_UNSUPPORTED, "tilec_view_to_dlpack_versioned",
                tilec_view_to_dlpack(h->device, &v, &m));
    v.rank = 6;
    host_expect(h, TILEC_UNSUPPORTED, "read-only", tilec_view_to_dlpack(h->device, &v, &m));
    v.flags = 0;
    host_expect(h, TILEC_INVALID_ARGUMENT, "rank 6", tilec_view_to_dlpack(h->device, &v, &m));
    host_expect(h, TILEC_INVALID_ARGUMENT, "NULL", tilec_view_to_dlpack(h->device, NULL, &m));
    tilec_device *other = NULL;
    assert_int_equal(tilec_device_open(h->context, h->name, &other), TILEC_OK);
    v = tilec_buffer_view2(TILEC_F32, b, 2, 3);
    host_expect(h, TILEC_INVALID_ARGUMENT, "the buffer belongs to another device",
                tilec_view_to_dlpack(other, &v, &m));
    tilec_device_close(other);
    assert_null(m);
    // A raw pointer is taken as it is; what goes out comes in again.
    float data[6] = {0};
    tilec_view in, out = tilec_view2(TILEC_F32, data, 2, 3);
    host_expect(h, TILEC_OK, "", tilec_view_to_dlpack(h->device, &out, &m));
    host_expect(h, TILEC_OK, "", tilec_view_from_dlpack(h->device, &m->tensor, &in));
    assert_ptr_equal(in.data, data);
    m->deleter(m);
}

int main(void) {
    static const HostTest tests[] = {
        {"layout", test_layout},     {"in", test_in},   {"types", test_types},
        {"refusals", test_refusals}, {"out", test_out}, {"out refusals", test_out_refusals},
    };
    return host_run(tests, sizeof tests / sizeof *tests);
}
