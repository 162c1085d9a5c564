// Built libraries of examples on every kind of device, compared with the interpreter.
#include "tests/compile/build_world.h"

#include <math.h>

#include "tests/fakes/gpu/fake.h"
#include "tests/support/dice.h"
#include "tests/support/slice.h"

// ---- What is launched, beside the interpreter ----

enum { ARRAYS_MAX = 5, RANK_MAX = 4, SPARE = 64 };

typedef struct ArrayOf {
    tilec_dtype type;
    int32_t rank;
    int64_t extent[RANK_MAX];
    int64_t offset;  // in elements, from the buffer's beginning
    int same;        // an earlier array, from 1, whose buffer it has; 0: its own
} ArrayOf;

typedef struct Call {
    const char *function, *source, *kernel;
    tilec_dtype type;  // of T; TILEC_BOOL: it has none
    int array_count;
    ArrayOf arrays[ARRAYS_MAX];
    double scalar;  // after the arrays; 0: none
    double error;
} Call;

#define EXAMPLE(name) "examples/" name ".tile"
#define SOFTMAX "softmax", EXAMPLE("softmax"), "softmax", TILEC_BOOL, 2
#define LONG_F16 "softmax_f16", EXAMPLE("softmax"), "softmax_long", TILEC_F16, 2
#define RMSNORM "add_rmsnorm_f32", EXAMPLE("rmsnorm"), "add_rmsnorm", TILEC_F32, 4
#define MATMUL "matmul_f16", EXAMPLE("matmul"), "matmul", TILEC_F16, 3
#define ATTENTION "attention_f16", EXAMPLE("attention"), "attention", TILEC_F16, 4
#define F32 TILEC_F32
#define F16 TILEC_F16
static const Call calls[] = {
    {SOFTMAX, {{F32, 2, {4, 128}, 0, 0}, {F32, 2, {4, 128}, 0, 0}}, 0, 1e-5},
    {SOFTMAX, {{F32, 2, {3, 77}, 1, 0}, {F32, 2, {3, 77}, 3, 0}}, 0, 1e-5},
    {SOFTMAX, {{F32, 2, {2, 64}, 0, 0}, {F32, 2, {2, 64}, 0, 1}}, 0, 1e-5},
    {LONG_F16, {{F16, 2, {2, 192}, 0, 0}, {F16, 2, {2, 192}, 0, 0}}, 0, 2e-3},
    {LONG_F16, {{F16, 2, {2, 150}, 1, 0}, {F16, 2, {2, 150}, 0, 0}}, 0, 2e-3},
    {RMSNORM,
     {{F32, 2, {3, 64}, 0, 0},
      {F32, 2, {3, 64}, 0, 0},
      {F32, 1, {64}, 0, 0},
      {F32, 2, {3, 64}, 0, 0}},
     1e-5,
     1e-5},
    {RMSNORM,
     {{F32, 2, {2, 45}, 1, 0},
      {F32, 2, {2, 45}, 0, 0},
      {F32, 1, {45}, 2, 0},
      {F32, 2, {2, 45}, 1, 1}},
     1e-5,
     1e-5},
    {MATMUL,
     {{F16, 2, {64, 64}, 0, 0}, {F16, 2, {64, 64}, 0, 0}, {F16, 2, {64, 64}, 0, 0}},
     0,
     2e-3},
    {MATMUL,
     {{F16, 2, {33, 30}, 1, 0}, {F16, 2, {30, 17}, 0, 0}, {F16, 2, {33, 17}, 3, 0}},
     0,
     2e-3},
    {ATTENTION,
     {{F16, 4, {1, 2, 5, 16}, 0, 0},
      {F16, 4, {1, 1, 9, 16}, 0, 0},
      {F16, 4, {1, 1, 9, 16}, 0, 0},
      {F16, 4, {1, 2, 5, 16}, 0, 0}},
     0.25,
     4e-3},
};
enum { CALLS = sizeof calls / sizeof *calls };

static size_t size_of(tilec_dtype type) { return type == F16 ? 2 : 4; }

static size_t elements(const ArrayOf *a) {
    size_t n = 1;
    for (int d = 0; d < a->rank; d++) n *= (size_t)a->extent[d];
    return n;
}

// Bytes of its buffer.
static size_t room_of(const ArrayOf *a) {
    return (elements(a) + (size_t)a->offset + SPARE) * size_of(a->type);
}

static double half_value(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    double fraction = bits & 1023;
    double value = exponent == 0    ? ldexp(fraction, -24)
                   : exponent == 31 ? (fraction != 0 ? (double)NAN : (double)INFINITY)
                                    : ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

static double value_at(const ArrayOf *a, const unsigned char *bytes, size_t i) {
    if (a->type == F16) {
        uint16_t bits;
        memcpy(&bits, bytes + 2 * i, 2);
        return half_value(bits);
    }
    float value;
    memcpy(&value, bytes + 4 * i, 4);
    return (double)value;
}

// Eighths from -2 to 2.
static void fill(unsigned char *bytes, const ArrayOf *a, uint64_t seed) {
    static const uint16_t halves[] = {0x3000, 0x3400, 0x3600, 0x3800,
                                      0x3a00, 0x3c00, 0x3e00, 0x4000};
    Dice dice = dice_roll(seed);
    for (size_t i = 0; i < room_of(a) / size_of(a->type); i++) {
        uint16_t bits =
            (uint16_t)(halves[dice_below(&dice, 8)] | (dice_chance(&dice, 50) ? 0x8000 : 0));
        float value = (float)half_value(bits);
        if (a->type == F16)
            memcpy(bytes + 2 * i, &bits, 2);
        else
            memcpy(bytes + 4 * i, &value, 4);
    }
}

typedef struct Running {
    tilec_device *device;
    tilec_buffer buffers[ARRAYS_MAX];
    tilec_view views[ARRAYS_MAX];
    unsigned char *bytes[ARRAYS_MAX];  // what was there at the end
} Running;

static void make_arrays(World *w, const Call *c, Running *r) {
    for (int i = 0; i < c->array_count; i++) {
        const ArrayOf *a = &c->arrays[i];
        if (a->same) {
            r->buffers[i] = r->buffers[a->same - 1];
        } else {
            r->bytes[i] = arena_alloc(w->arena, room_of(a));
            fill(r->bytes[i], a, (uint64_t)i + 1);
            assert_int_equal(tilec_buffer_create(r->device, room_of(a), &r->buffers[i]), TILEC_OK);
            assert_int_equal(
                tilec_buffer_write(r->device, NULL, r->buffers[i], 0, r->bytes[i], room_of(a)),
                TILEC_OK);
        }
        r->views[i] = tilec_view_of_buffer(a->type, r->buffers[i], a->rank, a->extent);
        r->views[i].offset = a->offset;
    }
}

static void read_arrays(World *w, const Call *c, Running *r) {
    if (tilec_device_synchronize(r->device)) fail_msg("%s", tilec_last_error(w->context));
    for (int i = 0; i < c->array_count; i++) {
        if (c->arrays[i].same) continue;
        size_t size = room_of(&c->arrays[i]);
        assert_int_equal(tilec_buffer_read(r->device, NULL, r->buffers[i], 0, r->bytes[i], size),
                         TILEC_OK);
        assert_int_equal(tilec_buffer_destroy(r->device, r->buffers[i]), TILEC_OK);
    }
}

static size_t args_of(const Call *c, const Running *r, tilec_arg *args) {
    size_t count = 0;
    for (int i = 0; i < c->array_count; i++) args[count++] = tilec_arg_view(r->views[i]);
    if (c->scalar != 0) args[count++] = tilec_arg_double(c->scalar);
    return count;
}

static void run_interp(World *w, const Call *c, Running *r) {
    tilec_kernel *k = NULL;
    tilec_arg args[ARRAYS_MAX + 1];
    const tilec_spec_entry type = TILEC_TYPE("T", c->type);
    const tilec_spec spec = {c->type != TILEC_BOOL, &type};
    if (tilec_kernel_from_file(w->context, r->device, c->source, c->kernel, &spec, &k))
        fail_msg("%s", tilec_last_error(w->context));
    make_arrays(w, c, r);
    size_t count = args_of(c, r, args);
    if (tilec_launch(k, NULL, args, count)) fail_msg("%s", tilec_last_error(w->context));
    read_arrays(w, c, r);
    tilec_kernel_destroy(k);
}

// One time as a kernel, another as generic runners call it.
static void run_library(World *w, const Call *c, tilec_library *library, bool by_values,
                        Running *r) {
    make_arrays(w, c, r);
    tilec_status s;
    if (by_values) {
        float scalar = (float)c->scalar;
        const void *values[ARRAYS_MAX + 1];
        for (int i = 0; i < c->array_count; i++) values[i] = &r->views[i];
        values[c->array_count] = &scalar;
        s = tilec_library_call(library, c->function, tilec_device_stream(r->device), values);
    } else {
        tilec_kernel *k = NULL;
        tilec_arg args[ARRAYS_MAX + 1];
        size_t count = args_of(c, r, args);
        s = tilec_library_kernel(library, c->function, &k);
        if (!s) s = tilec_launch(k, NULL, args, count);
    }
    if (s) fail_msg("%s on %s: %s", c->function, r->device->name, tilec_last_error(w->context));
    read_arrays(w, c, r);
}

static void compare(const Call *c, const Running *found, const Running *expected) {
    for (int i = 0; i < c->array_count; i++) {
        const ArrayOf *a = &c->arrays[i];
        for (size_t k = 0; !a->same && k < room_of(a) / size_of(a->type); k++) {
            double x = value_at(a, found->bytes[i], k), y = value_at(a, expected->bytes[i], k);
            if (!(fabs(x - y) <= c->error * (1 + fabs(y))))
                fail_msg("%s on %s, array %d, element %zu: expected %g, found %g", c->function,
                         found->device->name, i, k, y, x);
        }
    }
}

static MadeLibrary *make_examples(const char *targets) {
    MadeLibrary *m = made_library("examples", targets);
    made_cache(m, NULL);
    m->plan.threads = 2;
    made_source(m, EXAMPLE("softmax"));
    made_source(m, EXAMPLE("rmsnorm"));
    made_source(m, EXAMPLE("matmul"));
    made_source(m, EXAMPLE("attention"));
    made_function(m, "add_rmsnorm_f32=add_rmsnorm T=f32 W=128");
    made_function(m, "attention_f16=attention T=f16 BM=32 BN=32 BD=16");
    made_function(m, "matmul_f16=matmul T=f16 BM=64 BN=64 BK=32 | T=f16 BM=32 BN=32 BK=32");
    made_function(m, "softmax W=128");
    made_function(m, "softmax_f16=softmax_long T=f16 W=64");
    made_build(m);
    return m;
}

// `parts`: a call is made in one of this many slices, and in another one on the next device.
static void all_calls(World *w, const struct tilec_archive *archive, const char *const *devices,
                      size_t count, uint64_t parts) {
    tilec_device *interp = open_device(w, "interp");
    tilec_device *opened[8];
    tilec_library *libraries[8];
    assert_true(count <= 8);
    for (size_t d = 0; d < count; d++) {
        opened[d] = open_device(w, devices[d]);
        libraries[d] = load(w, opened[d], archive);
    }
    for (size_t i = 0; i < CALLS; i++) {
        Running expected = {.device = interp};
        run_interp(w, &calls[i], &expected);
        for (size_t d = 0; d < count; d++) {
            Running found = {.device = opened[d]};
            if (!slice_has(i + d, parts)) continue;
            run_library(w, &calls[i], libraries[d], (i + d) % 2, &found);
            compare(&calls[i], &found, &expected);
        }
    }
    for (size_t d = 0; d < count; d++) tilec_library_unload(libraries[d]);
}

#define GPU_TARGETS "sm_80,sm_90a,gfx942,gfx1100,gfx1201"

static void simulated_gpus_do_what_interp_does(void **state) {
    static const char *const devices[] = {"sim:sm_80", "sim:sm_90a", "sim:gfx942", "sim:gfx1100",
                                          "sim:gfx1201"};
    World *w = *state;
    if (!codegen_built()) return;
    MadeLibrary *m = make_examples(GPU_TARGETS);
    all_calls(w, &m->data, devices, sizeof devices / sizeof *devices, 2);
    tilec_context_destroy(w->context);
    w->context = NULL;
    made_free(m);
}

static const FakeGpu *fake_of(const char *path) {
    OsError e;
    OsLibrary *l = os_library_open(path, &e);
    if (!l) fail_msg("%s", e.text);
    void *symbol = os_library_symbol(l, "fake_gpu");
    const FakeGpu *(*get)(void);
    memcpy(&get, &symbol, sizeof get);
    os_library_keep(l);
    return get();
}

static void drivers_run_the_archives_code(void **state) {
    static const char *const devices[] = {"cuda:0", "hip:0", "hip:1", "hip:2"};
    static const int archs[] = {0x942, 0x1100, 0x1201};
    World *w = *state;
    if (!codegen_built()) return;
    MadeLibrary *m = make_examples(GPU_TARGETS);
    setenv("TILEC_CUDA_LIBRARY", TEST_FAKE_CUDA, 1);
    setenv("TILEC_HIP_LIBRARY", TEST_FAKE_HIP, 1);
    const FakeGpu *cuda = fake_of(TEST_FAKE_CUDA), *hip = fake_of(TEST_FAKE_HIP);
    cuda->reset();
    hip->reset();
    hip->configure(3, 0, 60224000, 5);
    for (int i = 0; i < 3; i++) hip->configure_one(i, archs[i]);
    all_calls(w, &m->data, devices, sizeof devices / sizeof *devices, 2);
    tilec_context_destroy(w->context);
    w->context = NULL;
    assert_string_equal(cuda->problems(), "");
    assert_string_equal(hip->problems(), "");
    assert_int_equal(cuda->live(), 0);
    assert_int_equal(hip->live(), 0);
    made_free(m);
}

static void cpus_do_what_interp_does(void **state) {
    static const char *const devices[] = {"cpu:2"};
    static const char *const limits[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4", ""};
    World *w = *state;
    if (!codegen_built() || cpu_native().level == CPU_AARCH64) return;
    MadeLibrary *m = make_examples("x86-64-v2,x86-64-v3,x86-64-v4");
    made_link(m);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        CpuTarget t;
        if (cpu_target_parse(str(limits[i]), &t) && !cpu_runs_here(t)) continue;
        setenv("TILEC_CPU_TARGET", limits[i], 1);
        all_calls(w, m->linked, devices, 1, 2);
        tilec_context_destroy(w->context);
        assert_int_equal(tilec_context_create(NULL, &w->context), TILEC_OK);
    }
    tilec_context_destroy(w->context);
    w->context = NULL;
    made_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        BUILD_TEST(simulated_gpus_do_what_interp_does),
        BUILD_TEST(drivers_run_the_archives_code),
        BUILD_TEST(cpus_do_what_interp_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
