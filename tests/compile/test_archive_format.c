// An archive of format 1, made when the format was frozen, loads and runs for good. The file is
// never regenerated; archive_format1.tile names what it was made from. A failure here means that
// tilec no longer reads archives which users have built.
#include "tests/compile/build_world.h"

#include "base/dtype.h"
#include "base/os/os.h"
#include "tests/support/archive_walk.h"

typedef struct Fixed {
    World *w;
    struct tilec_archive data;
    tilec_device *device;
    tilec_library *library;
} Fixed;

static struct tilec_archive fixture(World *w) {
    char *path = arena_printf(w->arena, "%s/tests/compile/archive_format1.bin", TEST_SOURCE_DIR);
    Str bytes;
    OsError error;
    if (!os_read_file(w->arena, path, 1 << 20, &bytes, &error)) fail_msg("%s", error.text);
    return (struct tilec_archive){.magic = ARCHIVE_MAGIC,
                                  .abi = ARCHIVE_ABI,
                                  .size = sizeof(struct tilec_archive),
                                  .cpu_abi = CPU_ABI_VERSION,
                                  .bytes = (const uint8_t *)bytes.text,
                                  .byte_count = bytes.size};
}

static void it_tells_what_it_holds(void **state) {
    World *w = *state;
    struct tilec_archive data = fixture(w);
    static const char *const prototypes[] = {
        ("tilec_status add(tilec_stream *stream, const int32_t *x, const int32_t *y, int32_t *z, "
         "int64_t n)"),
        "tilec_status checked(tilec_stream *stream, tilec_view x, int32_t most)",
        "tilec_status scale_f16(tilec_stream *stream, tilec_view x, tilec_view y, float by)",
        "tilec_status scale_f32(tilec_stream *stream, tilec_view x, tilec_view y, float by)"};
    tilec_archive_info info;
    assert_int_equal(tilec_archive_describe(w->context, &data, &info), TILEC_OK);
    assert_string_equal(info.name, "format1");
    assert_int_equal(info.function_count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        tilec_function_info f;
        assert_int_equal(tilec_archive_function(w->context, &data, i, &f), TILEC_OK);
        assert_string_equal(f.prototype, prototypes[i]);
    }
    assert_string_equal(tilec_archive_target(&data, 0), "sm_80");
    assert_string_equal(tilec_archive_target(&data, 1), "gfx942");
    assert_null(tilec_archive_target(&data, 2));
}

static tilec_buffer buffer_of(const Fixed *f, const void *from, size_t size) {
    tilec_buffer b;
    assert_int_equal(tilec_buffer_create(f->device, size, &b), TILEC_OK);
    assert_int_equal(tilec_buffer_write(f->device, NULL, b, 0, from, size), TILEC_OK);
    return b;
}

// Every second element of x, times 3; which alternative was taken shows in the const B.
static void scales(const Fixed *f, int64_t n, int64_t block) {
    float x[2 * 1024], y[1024] = {0};
    for (int i = 0; i < 2 * 1024; i++) x[i] = (float)i / 2;
    tilec_view from = tilec_view_of_buffer(TILEC_F32, buffer_of(f, x, sizeof x), 1, &n);
    tilec_view to = tilec_view_of_buffer(TILEC_F32, buffer_of(f, y, sizeof y), 1, &n);
    from.stride[0] = 2;
    tilec_kernel *k = NULL;
    const RtLoaded *loaded = NULL;
    assert_int_equal(tilec_library_kernel(f->library, "scale_f32", &k), TILEC_OK);
    const tilec_arg args[] = {tilec_arg_view(from), tilec_arg_view(to), tilec_arg_double(3)};
    assert_int_equal(k->resolve(k, args, 3, true, &loaded), TILEC_OK);
    const MetaVariant *v = &loaded->meta->variants[0];
    bool found = false;
    for (uint32_t i = 0; i < v->binding_count; i++)
        if (str_equal(v->bindings[i].name, STR("B"))) {
            assert_int_equal(v->bindings[i].value, block);
            found = true;
        }
    assert_true(found);
    assert_int_equal(tilec_launch(k, NULL, args, 3), TILEC_OK);
    assert_int_equal(tilec_buffer_read(f->device, NULL, to.buffer, 0, y, sizeof y), TILEC_OK);
    for (int i = 0; i < 1024; i++) assert_true(y[i] == (i < n ? 3 * (float)i : 0));
}

static uint16_t half(double x) { return (uint16_t)dtype_from_double(DTYPE_F16, x, true); }

static void scales_halves(const Fixed *f) {
    uint16_t x[64], y[64] = {0};
    int64_t n = 64;
    float by = 0.5f;
    for (int i = 0; i < 64; i++) x[i] = half(i);
    tilec_view from = tilec_view_of_buffer(TILEC_F16, buffer_of(f, x, sizeof x), 1, &n);
    tilec_view to = tilec_view_of_buffer(TILEC_F16, buffer_of(f, y, sizeof y), 1, &n);
    const void *values[] = {&from, &to, &by};
    assert_int_equal(tilec_library_call(f->library, "scale_f16", NULL, values), TILEC_OK);
    assert_int_equal(tilec_buffer_read(f->device, NULL, to.buffer, 0, y, sizeof y), TILEC_OK);
    for (int i = 0; i < 64; i++) assert_int_equal(y[i], half((double)i / 2));
}

// By number, as built functions do: functions are in the order of their names.
static void adds(const Fixed *f) {
    int32_t x[200], y[200];
    int64_t n = 199;
    for (int i = 0; i < 200; i++) x[i] = i, y[i] = 1000 * i;
    tilec_buffer b[] = {buffer_of(f, x, sizeof x), buffer_of(f, y, sizeof y),
                        buffer_of(f, x, sizeof x)};
    void *at[3];
    size_t size;
    for (int i = 0; i < 3; i++)
        assert_int_equal(tilec_buffer_address(f->device, b[i], &at[i], &size), TILEC_OK);
    const void *values[] = {&at[0], &at[1], &at[2], &n};
    tilec_stream *stream = tilec_device_stream(f->device);
    assert_int_equal(tilec_archive_call(&f->data, 0, stream, values), TILEC_OK);
    assert_int_equal(tilec_buffer_read(f->device, NULL, b[2], 0, x, sizeof x), TILEC_OK);
    for (int i = 0; i < 200; i++) assert_int_equal(x[i], i < n ? 1001 * i : i);
}

static void checks(const Fixed *f) {
    const int32_t x[4] = {1, 2, 3, 4};
    const int64_t four = 4;
    int32_t most = 3;
    tilec_view v = tilec_view_of_buffer(TILEC_I32, buffer_of(f, x, sizeof x), 1, &four);
    const void *values[] = {&v, &most};
    tilec_status s = tilec_library_call(f->library, "checked", NULL, values);
    if (!s) s = tilec_device_synchronize(f->device);
    assert_int_equal(s, TILEC_KERNEL_FAILED);
    const char *text = tilec_last_error(f->w->context);
    assert_non_null(strstr(text, "x is too large"));
    if (!strstr(text, "archive_format1.tile:26:")) fail_msg("%s", text);
}

static void refuses(const Fixed *f) {
    const int64_t odd = 7;
    float by = 1;
    tilec_view v = tilec_view_of_buffer(TILEC_F32, buffer_of(f, (float[8]){0}, 32), 1, &odd);
    const void *values[] = {&v, &v, &by};
    assert_int_equal(tilec_library_call(f->library, "scale_f32", NULL, values),
                     TILEC_LAUNCH_REFUSED);
    assert_non_null(strstr(tilec_last_error(f->w->context), "requires N % 2 == 0"));
}

static void it_runs_with(World *w, const char *device, struct tilec_archive data) {
    Fixed f = {.w = w, .data = data};
    f.device = open_device(w, device);
    f.library = load(w, f.device, &f.data);
    scales(&f, 100, 64);    // the first alternative
    scales(&f, 1000, 256);  // the table's
    scales_halves(&f);
    adds(&f);
    checks(&f);
    refuses(&f);
    tilec_device_close(f.device);
}

static void it_runs_on(World *w, const char *device) { it_runs_with(w, device, fixture(w)); }

static void it_runs_on_nvidia(void **state) { it_runs_on(*state, "sim:sm_90a"); }

static void it_runs_on_amd(void **state) {
    if (codegen_built()) it_runs_on(*state, "sim:gfx942");
}

// The fixture as a newer tilec writes it: with code for a target that this version does not know.
static struct tilec_archive with_unknown(World *w, const char *target, const char *unknown) {
    struct tilec_archive data = fixture(w);
    size_t size = strlen(target), found = 0;
    uint8_t *bytes = arena_alloc(w->arena, data.byte_count);
    memcpy(bytes, data.bytes, data.byte_count);
    assert_int_equal(strlen(unknown), size);
    for (size_t i = 0; i + size < data.byte_count; i++) {
        if (memcmp(bytes + i, target, size + 1) != 0) continue;
        memcpy(bytes + i, unknown, size);
        found++;
    }
    assert_int_equal(found, 1);
    archive_repair(bytes, data.byte_count);
    data.bytes = bytes;
    return data;
}

static void unknown_targets_are_passed_over(void **state) {
    World *w = *state;
    struct tilec_archive behind = with_unknown(w, "gfx942", "gfx9zz");
    struct tilec_archive before = with_unknown(w, "sm_80", "sm_8z");
    tilec_archive_info info;
    assert_int_equal(tilec_archive_describe(w->context, &behind, &info), TILEC_OK);
    assert_int_equal(info.target_count, 2);
    assert_string_equal(tilec_archive_target(&behind, 1), "gfx9zz");
    assert_string_equal(tilec_archive_target(&before, 1), "gfx942");
    it_runs_with(w, "sim:sm_90a", behind);
    if (codegen_built()) it_runs_with(w, "sim:gfx942", before);
    // A caller without fitting code gets a list of all the code that there is.
    tilec_library *library = NULL;
    tilec_device *device = open_device(w, "cpu");
    assert_int_equal(tilec_library_load(device, &before, 0, &library), TILEC_UNAVAILABLE);
    said(w, "it has code for sm_8z, gfx942");
    assert_int_equal(tilec_device_open_for(w->context, &before, &device), TILEC_UNAVAILABLE);
    said(w, "it has code for sm_8z, gfx942");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        BUILD_TEST(it_tells_what_it_holds),
        BUILD_TEST(it_runs_on_nvidia),
        BUILD_TEST(it_runs_on_amd),
        BUILD_TEST(unknown_targets_are_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
