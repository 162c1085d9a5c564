// The checks between a caller's arguments and a launch, on hand-made metadata and a fake device.
#include "runtime/launch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fake_device.h"

// kernel k(f16 alpha, *f32 p, f32 x[M, N], strided i8 y[N, 4]) requires N % 2 == 0 grid(M, 3)
typedef struct Fixture {
    FakeLog log;
    tilec_context *context;
    tilec_device *device;
    MetaArg args[4];
    Str extents[2];
    LaunchInstr code[6];
    MetaRequires requires;
    MetaVariant variants[2];
    LaunchInstr guard_code[8];
    MetaKernel meta;
    float memory[64];
    tilec_arg actual[4];
    LaunchBuffers room;
    LaunchPlan plan;
} Fixture;

static const LaunchInstr base_code[6] = {
    {.op = LAUNCH_ARG_EXTENT, .dtype = DTYPE_I64, .result = DTYPE_I64, .a = 2, .b = 0},
    {.op = LAUNCH_ARG_EXTENT, .dtype = DTYPE_I64, .result = DTYPE_I64, .a = 2, .b = 1},
    {.op = LAUNCH_CONST, .dtype = DTYPE_I64, .result = DTYPE_I64, .imm = 2},
    {.op = LAUNCH_REM, .dtype = DTYPE_I64, .result = DTYPE_I64, .a = 1, .b = 2},
    {.op = LAUNCH_CONST, .dtype = DTYPE_I64, .result = DTYPE_I64, .imm = 0},
    {.op = LAUNCH_EQ, .dtype = DTYPE_I64, .result = DTYPE_BOOL, .a = 3, .b = 4},
};

static void make_meta(Fixture *f) {
    f->args[0] = (MetaArg){.name = STR("alpha"), .kind = META_SCALAR, .dtype = DTYPE_F16};
    f->args[1] = (MetaArg){.name = STR("p"), .kind = META_POINTER, .dtype = DTYPE_F32};
    f->args[2] = (MetaArg){.name = STR("x"),
                           .kind = META_VIEW,
                           .dtype = DTYPE_F32,
                           .rank = 2,
                           .dims = {{0, 0}, {1, 0}}};
    f->args[3] = (MetaArg){.name = STR("y"),
                           .kind = META_VIEW,
                           .dtype = DTYPE_I8,
                           .rank = 2,
                           .strided = true,
                           .written = true,
                           .dims = {{1, 0}, {-1, 4}}};
    f->extents[0] = STR("M"), f->extents[1] = STR("N");
    memcpy(f->code, base_code, sizeof f->code);
    f->requires = (MetaRequires){STR("N % 2 == 0"), 5};
    f->variants[0] = (MetaVariant){.guard = META_NO_VALUE,
                                   .code = {6, f->code},
                                   .requires_count = 1,
                                   .requires = &f->requires,
                                   .grid_rank = 2,
                                   .grid = {0, 2}};
    // A second variant for N > 4, whose grid is (M, M).
    memcpy(f->guard_code, base_code, sizeof base_code);
    f->guard_code[6] =
        (LaunchInstr){.op = LAUNCH_CONST, .dtype = DTYPE_I64, .result = DTYPE_I64, .imm = 4};
    f->guard_code[7] =
        (LaunchInstr){.op = LAUNCH_GT, .dtype = DTYPE_I64, .result = DTYPE_BOOL, .a = 1, .b = 6};
    f->variants[1] = (MetaVariant){.guard = 7,
                                   .code = {8, f->guard_code},
                                   .requires_count = 1,
                                   .requires = &f->requires,
                                   .grid_rank = 2,
                                   .grid = {0, 0}};
    f->meta = (MetaKernel){.name = STR("k"),
                           .arg_count = 4,
                           .args = f->args,
                           .extent_count = 2,
                           .extents = f->extents,
                           .variant_count = 2,
                           .variants = f->variants};
    meta_layout(f->args, 4, &f->meta.size);
}

static int set_up(void **state) {
    Fixture *f = test_calloc(1, sizeof *f);
    f->plan = launch_plan(&f->room);
    f->context = fake_context(&f->log);
    assert_int_equal(tilec_device_open(f->context, "fake", &f->device), TILEC_OK);
    make_meta(f);
    f->actual[0] = tilec_arg_double(0.1);
    f->actual[1] = tilec_arg_pointer(f->memory);
    f->actual[2] = tilec_arg_view(tilec_view2(TILEC_F32, f->memory, 3, 4));
    f->actual[3] = tilec_arg_view(tilec_view2(TILEC_I8, f->memory, 4, 4));
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    tilec_context_destroy(f->context);
    assert_int_equal(f->log.allocs, f->log.frees);
    assert_int_equal(f->log.streams, 0);
    test_free(f);
    return 0;
}

static tilec_status prepare(Fixture *f) {
    return launch_prepare(f->context, f->device, &f->meta, f->actual, 4, NULL, &f->plan);
}

static void refused(Fixture *f, const char *text) {
    assert_int_equal(prepare(f), TILEC_LAUNCH_REFUSED);
    if (!strstr(tilec_last_error(f->context), text))
        fail_msg("expected '%s' in '%s'", text, tilec_last_error(f->context));
}

static void test_layout(void **state) {
    Fixture *f = *state;
    assert_int_equal(f->args[0].offset, 0);
    assert_int_equal(f->args[1].offset, 8);
    assert_int_equal(f->args[2].offset, 16);
    assert_int_equal(f->args[2].size, 24);
    assert_int_equal(f->args[3].offset, 40);
    assert_int_equal(f->args[3].size, 40);
    assert_int_equal(f->meta.size, 80);
}

static void test_packs(void **state) {
    Fixture *f = *state;
    tilec_view strided = tilec_view2(TILEC_I8, f->memory, 4, 4);
    strided.stride[0] = -4, strided.stride[1] = 1, strided.offset = 12;
    f->actual[3] = tilec_arg_view(strided);
    assert_int_equal(prepare(f), TILEC_OK);
    int64_t words[10];
    memcpy(words, f->plan.block, 80);
    uint16_t alpha;
    memcpy(&alpha, f->plan.block, 2);
    assert_int_equal(alpha, dtype_from_double(DTYPE_F16, 0.1, true));
    assert_ptr_equal((void *)(uintptr_t)words[1], f->memory);
    assert_int_equal(words[3], 3);
    assert_int_equal(words[4], 4);
    assert_ptr_equal((void *)(uintptr_t)words[5], (char *)f->memory + 12);
    assert_int_equal(words[8], -4);
    assert_int_equal(words[9], 1);
    assert_int_equal(f->plan.grid[0], 3);
    assert_int_equal(f->plan.grid[1], 2);
    assert_int_equal(f->plan.grid[2], 1);
}

static void test_refuses_types(void **state) {
    Fixture *f = *state;
    assert_int_equal(launch_prepare(f->context, f->device, &f->meta, f->actual, 3, NULL, &f->plan),
                     TILEC_LAUNCH_REFUSED);
    assert_non_null(strstr(tilec_last_error(f->context), "takes 4 arguments, found 3"));
    f->actual[0] = tilec_arg_view(tilec_view1(TILEC_F16, f->memory, 1));
    refused(f, "argument 'alpha' expects a number of type f16, found a view");
}

static void test_refuses_views(void **state) {
    Fixture *f = *state;
    tilec_arg good = f->actual[2];
    f->actual[2] = tilec_arg_view(tilec_view2(TILEC_F16, f->memory, 3, 4));
    refused(f, "argument 'x' expects elements of f32, found f16");
    f->actual[2] = tilec_arg_view(tilec_view1(TILEC_F32, f->memory, 3));
    refused(f, "expects rank 2, found rank 1");
    f->actual[2] = tilec_arg_view(tilec_view2(TILEC_F32, f->memory, 3, -1));
    refused(f, "extent 1 of argument 'x' is negative (-1)");
    f->actual[2] = good;
    f->actual[2].view.stride[0] = 8;
    refused(f, "must be contiguous in row-major order: stride 0 is 8, expected 4");
    f->actual[2] = tilec_arg_view(tilec_view2(TILEC_F32, (char *)f->memory + 2, 3, 4));
    refused(f, "not aligned to the 4 bytes");
    f->actual[2] = tilec_arg_view(tilec_view2(TILEC_F32, NULL, 3, 4));
    refused(f, "has no memory");
    f->actual[2] = tilec_arg_view(tilec_view2(TILEC_F32, f->memory, INT64_MAX / 2, 4));
    refused(f, "argument 'x'");
    f->actual[2] = tilec_arg_view(tilec_view2(TILEC_F32, f->memory, (INT64_C(1) << 56) + 1, 4));
    refused(f, "extent 0 of argument 'x' is over 2^56");
    f->actual[2] = good;
    f->actual[3].view.stride[1] = 0;
    refused(f, "is written, so its stride 1 must not be 0");
    // Without elements there is nothing that a stride could bring together.
    f->actual[2] = tilec_arg_view(tilec_view2(TILEC_F32, NULL, 3, 0));
    f->actual[3] = tilec_arg_view(tilec_view2(TILEC_I8, NULL, 0, 4));
    f->actual[3].view.stride[1] = 0;
    assert_int_equal(prepare(f), TILEC_OK);
}

static void test_refuses_extents(void **state) {
    Fixture *f = *state;
    f->actual[3] = tilec_arg_view(tilec_view2(TILEC_I8, f->memory, 4, 5));
    refused(f, "extent 1 of argument 'y' must be 4, found 5");
    f->actual[3] = tilec_arg_view(tilec_view2(TILEC_I8, f->memory, 6, 4));
    refused(f, "extent N is 4 in argument 'x' and 6 in 'y'");
    f->args[2].dims[0].extent = 1;
    refused(f, "extent N is 3 in dimension 0 of argument 'x' and 4 in dimension 1");
    f->args[2].dims[0].extent = 0;
    f->actual[2] = tilec_arg_view(tilec_view2(TILEC_F32, f->memory, 3, 3));
    f->actual[3] = tilec_arg_view(tilec_view2(TILEC_I8, f->memory, 3, 4));
    refused(f, "k requires N % 2 == 0, which does not hold");
}

static void test_scalars_fit(void **state) {
    Fixture *f = *state;
    f->args[0].dtype = DTYPE_U8;
    f->actual[0] = tilec_arg_int(255);
    assert_int_equal(prepare(f), TILEC_OK);
    f->actual[0] = tilec_arg_int(256);
    refused(f, "argument 'alpha' is u8; 256 does not fit");
    f->actual[0] = tilec_arg_int(-1);
    refused(f, "-1 does not fit");
    f->actual[0] = tilec_arg_double(1);
    refused(f, "expects a number of type u8, found a floating-point number");
    f->args[0].dtype = DTYPE_I8;
    f->actual[0] = tilec_arg_int(-128);
    assert_int_equal(prepare(f), TILEC_OK);
    f->actual[0] = tilec_arg_uint(128);
    refused(f, "128 does not fit");
}

static void test_buffers(void **state) {
    Fixture *f = *state;
    tilec_buffer buffer;
    assert_int_equal(tilec_buffer_create(f->device, 48, &buffer), TILEC_OK);
    f->actual[2] = tilec_arg_view(tilec_buffer_view2(TILEC_F32, buffer, 3, 4));
    assert_int_equal(prepare(f), TILEC_OK);
    f->actual[2].view.offset = 1;
    refused(f, "reaches bytes 4 to 52 of a buffer of 48");
    f->actual[2].view.offset = -1;
    refused(f, "reaches bytes -4 to 44");
    f->actual[2].view.offset = 0;
    assert_int_equal(tilec_buffer_destroy(f->device, buffer), TILEC_OK);
    refused(f, "names a buffer that does not exist (any more)");
    tilec_buffer again;
    assert_int_equal(tilec_buffer_create(f->device, 48, &again), TILEC_OK);
    assert_int_not_equal(again.handle, buffer.handle);
    refused(f, "does not exist (any more)");
}

static void test_variants(void **state) {
    Fixture *f = *state;
    assert_int_equal(prepare(f), TILEC_OK);
    assert_int_equal(f->plan.variant, 0);
    LaunchOverride wrong = {.variant = 1, .grid = {1, 1, 1}};  // its guard does not hold
    assert_int_equal(
        launch_prepare(f->context, f->device, &f->meta, f->actual, 4, &wrong, &f->plan),
        TILEC_LAUNCH_REFUSED);
    assert_non_null(strstr(tilec_last_error(f->context), "facts that do not hold"));
    f->actual[2] = tilec_arg_view(tilec_view2(TILEC_F32, f->memory, 3, 6));
    f->actual[3] = tilec_arg_view(tilec_view2(TILEC_I8, f->memory, 6, 4));
    assert_int_equal(prepare(f), TILEC_OK);
    assert_int_equal(f->plan.variant, 1);
    assert_int_equal(f->plan.grid[1], 3);
    LaunchOverride own = {.variant = 0, .grid = {5, 1, 1}};
    assert_int_equal(launch_prepare(f->context, f->device, &f->meta, f->actual, 4, &own, &f->plan),
                     TILEC_OK);
    assert_int_equal(f->plan.variant, 0);
    assert_int_equal(f->plan.grid[0], 5);
    own.grid[1] =
        (INT64_C(1) << 31) - 1;  // the most there may be: proofs of the compiler rest on it
    assert_int_equal(launch_prepare(f->context, f->device, &f->meta, f->actual, 4, &own, &f->plan),
                     TILEC_OK);
    own.grid[1]++;
    assert_int_equal(launch_prepare(f->context, f->device, &f->meta, f->actual, 4, &own, &f->plan),
                     TILEC_LAUNCH_REFUSED);
    assert_non_null(strstr(tilec_last_error(f->context), "dimension 1 has more than 2^31 - 1"));
    own.grid[1] = 1;
    own.variant = 2;
    assert_int_equal(launch_prepare(f->context, f->device, &f->meta, f->actual, 4, &own, &f->plan),
                     TILEC_LAUNCH_REFUSED);
}

static void test_empty(void **state) {
    Fixture *f = *state;
    f->actual[2] = tilec_arg_view(tilec_view2(TILEC_F32, NULL, 0, 4));
    assert_int_equal(prepare(f), TILEC_OK);
    assert_true(f->plan.empty);
}

// Without elements no stride is followed, whatever it is.
static void test_empty_view(void **state) {
    Fixture *f = *state;
    f->actual[2] = tilec_arg_view(tilec_view2(TILEC_F32, f->memory, 3, 0));
    f->actual[3] = tilec_arg_view(tilec_view2(TILEC_I8, f->memory, 0, 4));
    assert_int_equal(prepare(f), TILEC_OK);
    f->actual[2].view.stride[0] = 77;
    assert_int_equal(prepare(f), TILEC_OK);
}

static void test_reach(void **state) {
    (void)state;
    tilec_view v = tilec_view2(TILEC_F32, NULL, 3, 4);
    int64_t first, last;
    assert_true(launch_view_reach(&v, &first, &last));
    assert_int_equal(first, 0);
    assert_int_equal(last, 48);
    v.stride[0] = -4;
    assert_true(launch_view_reach(&v, &first, &last));
    assert_int_equal(first, -32);
    assert_int_equal(last, 16);
    v.stride[0] = INT64_MAX / 2;
    v.stride[1] = INT64_MAX / 2;
    assert_false(launch_view_reach(&v, &first, &last));
    tilec_view packed = tilec_view1(TILEC_I4, NULL, 6);
    assert_true(launch_view_reach(&packed, &first, &last));
    assert_int_equal(last, 3);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_layout),
        TEST(test_packs),
        TEST(test_refuses_types),
        TEST(test_refuses_views),
        TEST(test_refuses_extents),
        TEST(test_scalars_fit),
        TEST(test_buffers),
        TEST(test_variants),
        TEST(test_empty),
        TEST(test_empty_view),
        cmocka_unit_test(test_reach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
