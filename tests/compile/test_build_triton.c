// Built functions of kernels in Python files: alternatives by promises and types, and the caller's
// grid.
#include "tests/compile/build_world.h"

#include "runtime/archive.h"

// Says which alternative runs, and how many programs there are.
static const char tells[] =
    "import triton\nimport triton.language as tl\n\n\n"
    "@triton.jit\n"
    "def tells(y_ptr, x_ptr, n, W: tl.constexpr = 0, ADD: tl.constexpr = 0):\n"
    "    first = tl.program_id(0) + tl.program_id(1) + tl.program_id(2) == 0\n"
    "    tl.store(y_ptr, W, mask=first)\n"
    "    tl.store(y_ptr + 1, n.to(tl.int64), mask=first)\n"
    "    tl.store(y_ptr + 2, x_ptr.dtype.element_ty.primitive_bitwidth, mask=first)\n"
    "    tl.atomic_add(y_ptr + 3, 1)\n";

enum { SAID = 4, BYTES = 256 };

// A library on a device, with memory for the kernel's arguments.
typedef struct Bench {
    World *w;
    MadeLibrary *made;
    tilec_device *device;
    tilec_library *library;
    tilec_buffer x, y;
    char *at_x;
    void *at_y;
    int64_t said[SAID];
} Bench;

static MadeLibrary *make(World *w, const char *targets, const char *function) {
    MadeLibrary *m = made_library("tells", targets);
    made_source(m, write_source(w, "tells.py", tells));
    made_function(m, function);
    return m;
}

static Bench open_bench(World *w, MadeLibrary *m, const char *device,
                        const struct tilec_archive *data) {
    Bench b = {.w = w, .made = m, .device = open_device(w, device)};
    b.library = load(w, b.device, data);
    assert_int_equal(tilec_buffer_create(b.device, BYTES, &b.x), TILEC_OK);
    assert_int_equal(tilec_buffer_create(b.device, sizeof b.said, &b.y), TILEC_OK);
    assert_int_equal(tilec_buffer_address(b.device, b.x, (void **)&b.at_x, NULL), TILEC_OK);
    assert_int_equal(tilec_buffer_address(b.device, b.y, &b.at_y, NULL), TILEC_OK);
    return b;
}

static tilec_status answer(Bench *b) {
    tilec_status s = tilec_buffer_read(b->device, NULL, b->y, 0, b->said, sizeof b->said);
    return s ? s : tilec_device_synchronize(b->device);
}

// Calls the function as C does: with the addresses of its arguments.
static tilec_status call(Bench *b, const void *const *values) {
    memset(b->said, 0, sizeof b->said);
    tilec_status s = tilec_buffer_write(b->device, NULL, b->y, 0, b->said, sizeof b->said);
    if (!s) s = tilec_library_call(b->library, "tells", tilec_device_stream(b->device), values);
    return s ? s : answer(b);
}

static void expect(Bench *b, tilec_status s, int64_t which, int64_t n) {
    if (s) fail_msg("%s", tilec_last_error(b->w->context));
    assert_int_equal(b->said[0], which);
    assert_int_equal(b->said[1], n);
}

static int format_of(const MadeLibrary *m) { return m->built.archive.text[ARCHIVE_AT_FORMAT]; }

// Each device with code: sm_80, gfx942 and the CPU.
static void on_each(World *w, const char *function, void (*run)(Bench *b)) {
    static const char *const devices[] = {"sim:sm_80", "sim:gfx942"};
    MadeLibrary *m = make(w, "sm_80,gfx942", function);
    made_build(m);
    for (size_t i = 0; i < 2; i++) {
        Bench b = open_bench(w, m, devices[i], &m->data);
        run(&b);
        tilec_device_close(b.device);
    }
    made_free(m);
    CpuTarget v2;
    assert_true(cpu_target_parse(STR("x86-64-v2"), &v2));
    if (!cpu_runs_here(v2)) return;
    m = make(w, "x86-64-v2", function);
    made_build(m);
    made_link(m);
    Bench b = open_bench(w, m, "cpu", m->linked);
    run(&b);
    tilec_device_close(b.device);
    made_free(m);
}

// ---- Promises

#define PROMISES                                         \
    "tells y_ptr=*i64 x_ptr=*f32:16 n=i32:16 grid=1 W=1" \
    " | y_ptr=*i64 x_ptr=*f32:16 n=i32:1 grid=1 W=2"     \
    " | y_ptr=*i64 x_ptr=*f32:16 n=i32 grid=1 W=3"       \
    " | y_ptr=*i64 x_ptr=*f32 n=i32 grid=1 W=4"

static int64_t promised(Bench *b, int offset, int32_t n) {
    void *x = b->at_x + offset;
    tilec_status s = call(b, (const void *[]){&b->at_y, &x, &n});
    expect(b, s, b->said[0], n);
    return b->said[0];
}

// In every order, so that what a launch remembers of the one before does not decide.
static void run_promises(Bench *b) {
    assert_int_equal(format_of(b->made), 1);
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 3; k++) assert_int_equal(promised(b, 0, 32), 1);
        for (int k = 0; k < 3; k++) assert_int_equal(promised(b, 4, 32), 4);
        for (int k = 0; k < 3; k++) assert_int_equal(promised(b, 16, 1), 2);
        for (int k = 0; k < 3; k++) assert_int_equal(promised(b, 16, 7), 3);
        assert_int_equal(promised(b, 8, 1), 4);
        assert_int_equal(promised(b, 0, -16), 1);
        assert_int_equal(promised(b, 0, 0), 1);
    }
}

static void promises_choose(void **state) {
    if (!codegen_built()) return;
    on_each(*state, PROMISES, run_promises);
}

static void run_unkept(Bench *b) {
    const World *w = b->w;
    int32_t n = 15;
    void *x = b->at_x + 4;
    assert_int_equal(call(b, (const void *[]){&b->at_y, &x, &n}), TILEC_LAUNCH_REFUSED);
    said(w,
         "tells requires n % 16 == 0, which does not hold for these arguments (n is 15). It is "
         "built for W=1 (n % 16 == 0) | W=2 (x_ptr % 16 == 0), and none fits. Build it for "
         "another value, too: tilec build");
    assert_int_equal(promised(b, 4, 16), 1);
    assert_int_equal(promised(b, 0, 15), 2);
}

static void what_no_alternative_fits_is_told(void **state) {
    if (!codegen_built()) return;
    on_each(*state,
            "tells y_ptr=*i64 x_ptr=*f32 n=i32:16 grid=1 W=1"
            " | y_ptr=*i64 x_ptr=*f32:16 n=i32 grid=1 W=2",
            run_unkept);
}

// ---- Types

#define TYPES                                      \
    "tells y_ptr=*i64 x_ptr=*f16 n=i32 grid=1 W=1" \
    " | y_ptr=*i64 x_ptr=*f32 n=i32 grid=1 W=2"    \
    " | y_ptr=*i64 x_ptr=*f32 n=i64 grid=1 W=3"

static void expect_typed(Bench *b, tilec_dtype type, int64_t n, int64_t which) {
    tilec_view x = tilec_buffer_view1(type, b->x, 4);
    expect(b, call(b, (const void *[]){&b->at_y, &x, &n}), which, n);
    assert_int_equal(b->said[2], tilec_dtype_bits(type));
}

static void run_types(Bench *b) {
    const int64_t large = INT64_C(1) << 40;
    tilec_kernel *k = NULL;
    assert_int_equal(format_of(b->made), 3);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 3; j++) expect_typed(b, TILEC_F16, -5, 1);
        for (int j = 0; j < 3; j++) expect_typed(b, TILEC_F32, -5, 2);
        for (int j = 0; j < 3; j++) expect_typed(b, TILEC_F32, -large, 3);
    }
    tilec_view x = tilec_buffer_view1(TILEC_F16, b->x, 4);
    assert_int_equal(call(b, (const void *[]){&b->at_y, &x, &large}), TILEC_LAUNCH_REFUSED);
    said(b->w,
         "argument 'n' is i32; 1099511627776 does not fit. It is built for x_ptr=*f16 n=i32 "
         "W=1 | x_ptr=*f32 n=i32 W=2 | x_ptr=*f32 n=i64 W=3, and none fits");
    // The same as a kernel, with a view of the memory.
    assert_int_equal(tilec_library_kernel(b->library, "tells", &k), TILEC_OK);
    for (int i = 0; i < 3; i++) {
        tilec_view y = tilec_buffer_view1(TILEC_I64, b->y, SAID);
        tilec_status s =
            tilec_launch(k, NULL, TILEC_ARGS(y, tilec_buffer_view1(TILEC_F32, b->x, 4), large));
        if (!s) s = answer(b);
        expect(b, s, 3, large);
    }
}

static void types_choose(void **state) {
    if (!codegen_built()) return;
    on_each(*state, TYPES, run_types);
}

static Str header_of(MadeLibrary *m) { return build_header(m->arena, &m->plan, &m->built); }

static void header_has(MadeLibrary *m, const char *text) {
    Str header = header_of(m);
    if (!strstr(header.text, text)) fail_msg("expected '%s' in: %s", text, header.text);
}

static void the_header_tells_types_and_promises(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    MadeLibrary *m = make(w, "sm_80", TYPES);
    made_build(m);
    header_has(m,
               "tilec_status tells(tilec_stream *stream, int64_t *y_ptr, tilec_view x_ptr, "
               "int64_t n);");
    header_has(m, "//   x_ptr: a view of f16 or f32, not used\n");
    header_has(m, "//   y_ptr = *i64, x_ptr = *f16, n = i32, W = 1\n");
    made_free(m);
    m = make(w, "sm_80", PROMISES);
    made_build(m);
    header_has(m,
               "tilec_status tells(tilec_stream *stream, int64_t *y_ptr, const float *x_ptr, "
               "int32_t n);");
    header_has(m, "//   y_ptr = *i64, x_ptr = *f32:16, n = i32:16, W = 1\n");
    assert_null(strstr(header_of(m).text, "Requires"));  // the last one requires nothing
    made_free(m);
    m = make(w, "sm_80", "tells y_ptr=*i64 x_ptr=*f32:16 n=u32:16 grid=1");
    made_build(m);
    header_has(m, "// Requires: n % 16 == 0\n");
    header_has(m, "// Requires: x_ptr % 16 == 0\n");
    made_free(m);
}

static void expect_joined(World *w, const char *a, const char *b, const char *type) {
    const char *function = arena_printf(
        w->arena, "tells y_ptr=*i64 x_ptr=*f32 n=%s grid=1 | y_ptr=*i64 x_ptr=*f32 n=%s grid=1", a,
        b);
    MadeLibrary *m = make(w, "sm_80", function);
    if (type) {
        made_build(m);
        header_has(m, arena_printf(w->arena, "const float *x_ptr, %s n);", type));
    } else {
        assert_false(made_try(m));
        const char *text =
            arena_printf(w->arena,
                         "alternatives of 'tells' take %s and %s for 'n', and no type of C has the "
                         "values of both",
                         a, b);
        if (!strstr(made_diagnostics(m).text, text)) fail_msg("%s", made_diagnostics(m).text);
    }
    made_free(m);
}

static void c_has_one_type_for_all(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    expect_joined(w, "i32", "i32:16", "int32_t");
    expect_joined(w, "i8", "i32", "int64_t");
    expect_joined(w, "u32", "i32", "int64_t");
    expect_joined(w, "u32", "u64", "uint64_t");
    expect_joined(w, "i64", "u64", NULL);
    expect_joined(w, "i32", "f32", NULL);
    expect_joined(w, "i32", "bool", "int64_t");
}

static void other_arguments_are_no_alternatives(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    static const char optional[] =
        "import triton\nimport triton.language as tl\n\n\n"
        "@triton.jit\n"
        "def tells(y_ptr, x_ptr):\n"
        "    tl.store(y_ptr, x_ptr is None)\n";
    MadeLibrary *m = made_library("tells", "sm_80");
    made_source(m, write_source(w, "optional.py", optional));
    made_function(m, "tells y_ptr=*i64 x_ptr=*f32 grid=1 | y_ptr=*i64 x_ptr=None grid=1");
    assert_false(made_try(m));
    if (!strstr(made_diagnostics(m).text, "alternatives of 'tells' take 2 and 1 arguments"))
        fail_msg("%s", made_diagnostics(m).text);
    made_free(m);
}

// ---- Tensor descriptors

static const char product[] =
    "import triton\nimport triton.language as tl\n\n\n"
    "@triton.jit\n"
    "def product(a, b, c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):\n"
    "    m = tl.program_id(0) * BM\n"
    "    n = tl.program_id(1) * BN\n"
    "    sums = tl.zeros((BM, BN), tl.float32)\n"
    "    for k in range(0, a.shape[1], BK):\n"
    "        sums = tl.dot(a.load([m, k]), b.load([k, n]), sums)\n"
    "    c.store([m, n], sums)\n";

enum { M = 200, P = 136, Q = 72, ONE = 0x3c00 };  // one of 16 bits

// A is ones, B is ones in every other row: each sum is half of Q.
static void multiply(World *w, tilec_device *device, tilec_library *l) {
    static uint16_t a[M * Q], b[Q * P];
    static float c[M * P];
    tilec_buffer x, y, z;
    for (int i = 0; i < M * Q; i++) a[i] = ONE;
    for (int i = 0; i < Q * P; i++) b[i] = i / P % 2 ? ONE : 0;
    memset(c, 0, sizeof c);
    assert_int_equal(tilec_buffer_create(device, sizeof a, &x), TILEC_OK);
    assert_int_equal(tilec_buffer_create(device, sizeof b, &y), TILEC_OK);
    assert_int_equal(tilec_buffer_create(device, sizeof c, &z), TILEC_OK);
    assert_int_equal(tilec_buffer_write(device, NULL, x, 0, a, sizeof a), TILEC_OK);
    assert_int_equal(tilec_buffer_write(device, NULL, y, 0, b, sizeof b), TILEC_OK);
    tilec_view va = tilec_buffer_view2(TILEC_F16, x, M, Q);
    tilec_view vb = tilec_buffer_view2(TILEC_F16, y, Q, P);
    tilec_view vc = tilec_buffer_view2(TILEC_F32, z, M, P);
    tilec_status s = tilec_library_call(l, "product", tilec_device_stream(device),
                                        (const void *[]){&va, &vb, &vc});
    if (!s) s = tilec_buffer_read(device, NULL, z, 0, c, sizeof c);
    if (!s) s = tilec_device_synchronize(device);
    if (s) fail_msg("%s", tilec_last_error(w->context));
    for (int i = 0; i < M * P; i++) assert_true(c[i] == Q / 2);
}

// C passes a view for a descriptor; on sm_90a tensor maps copy its blocks.
static void descriptors_are_views(void **state) {
    static const char *const devices[] = {"sim:sm_80", "sim:sm_90a", "sim:gfx942"};
    World *w = *state;
    if (!codegen_built()) return;
    MadeLibrary *m = made_library("product", "sm_80,sm_90a,gfx942");
    made_source(m, write_source(w, "product.py", product));
    made_function(m,
                  "product a=tensordesc<f16[128,64]> b=tensordesc<f16[64,128]> "
                  "c=tensordesc<f32[128,128]> BM=128 BN=128 BK=64 "
                  "grid=triton.cdiv(a.shape[0],BM),triton.cdiv(c.shape[1],BN)");
    made_build(m);
    header_has(m,
               "//   a: f16[a_0, a_1], read\n"
               "//   b: f16[b_0, b_1], read\n"
               "//   c: f32[c_0, c_1], written\n");
    header_has(m,
               "tilec_status product(tilec_stream *stream, tilec_view a, tilec_view b, "
               "tilec_view c);");
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        tilec_device *device = open_device(w, devices[i]);
        tilec_library *l = load(w, device, &m->data);
        multiply(w, device, l);
        tilec_device_close(device);
    }
    unsigned maps = 0;
    for (size_t i = 0; i < m->built.codes.count; i++) {
        const BuiltCode *c = &m->built.codes.data[i];
        maps += c->target == 1 && strstr(c->bytes.text, "cp.async.bulk.tensor") != NULL;
    }
    assert_true(maps > 0);
    made_free(m);
}

// ---- The caller's grid

static void run_grids(Bench *b) {
    assert_int_equal(format_of(b->made), 1);
    for (int i = 0; i < 4; i++) {
        const int64_t grid[3] = {2 + i % 2, 1, 3};
        for (int k = 0; k < 3; k++) {
            int32_t n = k == 1 ? 7 : 16;
            const void *values[] = {&b->at_y, &b->at_x, &n, &grid[0], &grid[1], &grid[2]};
            expect(b, call(b, values), 0, n);
            assert_int_equal(b->said[3], 3 * grid[0]);
        }
    }
    int32_t n = 1;
    const int64_t none = 0, one = 1, wrong = -1;
    const void *empty[] = {&b->at_y, &b->at_x, &n, &one, &none, &one};
    expect(b, call(b, empty), 0, 0);
    assert_int_equal(b->said[3], 0);
    const void *negative[] = {&b->at_y, &b->at_x, &n, &one, &wrong, &one};
    assert_int_equal(call(b, negative), TILEC_LAUNCH_REFUSED);
    said(b->w, "the grid's dimension 1 is negative (-1)");
    const void *missing[] = {&b->at_y, &b->at_x, &n, &one, NULL, &one};
    assert_int_equal(call(b, missing), TILEC_INVALID_ARGUMENT);
    said(b->w, "the pointer to value 4 is NULL");
    tilec_kernel *k = NULL;
    assert_int_equal(tilec_library_kernel(b->library, "tells", &k), TILEC_OK);
    tilec_view y = tilec_buffer_view1(TILEC_I64, b->y, SAID);
    tilec_view x = tilec_buffer_view1(TILEC_F32, b->x, 4);
    assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(y, x, 1)), TILEC_LAUNCH_REFUSED);
    said(b->w, "tells has no grid: ");
    assert_int_equal(
        tilec_launch_grid(k, NULL, -1, (const int64_t[3]){1, 1, 1}, TILEC_ARGS(y, x, 1)), TILEC_OK);
}

static void the_caller_gives_the_grid(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    on_each(w, "tells y_ptr=*i64 x_ptr=*f32 n=i32", run_grids);
    // Alternatives by promises, on the caller's grid.
    on_each(w, "tells y_ptr=*i64 x_ptr=*f32 n=i32:16 | y_ptr=*i64 x_ptr=*f32 n=i32", run_grids);
    MadeLibrary *m = make(w, "sm_80", "tells y_ptr=*i64 x_ptr=*f32 n=i32");
    made_build(m);
    header_has(m, "// The caller gives the grid.\n");
    header_has(m, "int32_t n,\n    int64_t grid_x, int64_t grid_y, int64_t grid_z);");
    made_free(m);
}

static void parameters_keep_their_names(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    static const char named[] =
        "import triton\nimport triton.language as tl\n\n\n"
        "@triton.jit\n"
        "def tells(grid_y, grid_x, grid_x_):\n"
        "    tl.store(grid_y, grid_x + grid_x_)\n";
    MadeLibrary *m = made_library("tells", "sm_80");
    made_source(m, write_source(w, "named.py", named));
    made_function(m, "tells grid_y=*i32 grid_x=i32 grid_x_=i32");
    made_build(m);
    header_has(m,
               "(tilec_stream *stream, int32_t *grid_y, int32_t grid_x, int32_t grid_x_,\n"
               "    int64_t grid_x__, int64_t grid_y_, int64_t grid_z);");
    made_free(m);
}

// A grid of the host's is for the consts of the first alternative.
static void run_host_grid(Bench *b) {
    tilec_kernel *k = NULL;
    const int64_t grid[3] = {2, 1, 1};
    tilec_view y = tilec_buffer_view1(TILEC_I64, b->y, SAID);
    tilec_view x = tilec_buffer_view1(TILEC_F32, b->x, 4);
    assert_int_equal(tilec_library_kernel(b->library, "tells", &k), TILEC_OK);
    for (int i = 0; i < 3; i++) {
        tilec_status s = tilec_launch_grid(k, NULL, -1, grid, TILEC_ARGS(y, x, 5));
        if (!s) s = answer(b);
        expect(b, s, 1, 5);
        s = tilec_launch(k, NULL, TILEC_ARGS(y, x, 5));
        if (!s) s = answer(b);
        expect(b, s, 2, 5);
    }
}

static void host_grids_keep_the_consts(void **state) {
    if (!codegen_built()) return;
    on_each(*state,
            "tells y_ptr=*i64 x_ptr=*f32 n=i32:16 grid=1 W=1"
            " | y_ptr=*i64 x_ptr=*f32 n=i32 grid=1 W=2"
            " | y_ptr=*i64 x_ptr=*f32 n=i32 grid=1 W=1",
            run_host_grid);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        BUILD_TEST(promises_choose),
        BUILD_TEST(what_no_alternative_fits_is_told),
        BUILD_TEST(types_choose),
        BUILD_TEST(the_header_tells_types_and_promises),
        BUILD_TEST(c_has_one_type_for_all),
        BUILD_TEST(other_arguments_are_no_alternatives),
        BUILD_TEST(descriptors_are_views),
        BUILD_TEST(the_caller_gives_the_grid),
        BUILD_TEST(parameters_keep_their_names),
        BUILD_TEST(host_grids_keep_the_consts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
