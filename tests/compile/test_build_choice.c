// Which code of a built library is taken: the target for the device, the alternative for the
// arguments, what a table of `tilec tune` says.
#include "tests/compile/build_world.h"

// ---- Which target, which alternative ----

static const char *target_of(World *w, tilec_library *l, const char *function) {
    tilec_kernel *k = NULL;
    if (tilec_library_kernel(l, function, &k)) fail_msg("%s", tilec_last_error(w->context));
    return l->targets[((LibraryFunction *)k)->target].name.text;
}

static void the_best_target_is_taken(void **state) {
    static const struct {
        const char *targets, *device, *taken;
    } rows[] = {
        {"sm_80,sm_90a,gfx942", "sim:sm_80", "sm_80"},
        {"sm_80,sm_90a,gfx942", "sim:sm_90a", "sm_90a"},
        {"sm_80,sm_90,sm_90a", "sim:sm_90", "sm_90a"},
        {"sm_80,sm_90,sm_100a", "sim:sm_90", "sm_90"},
        {"sm_80,sm_90,gfx942", "sim:sm_90a", "sm_90"},
        {"sm_75,sm_80,gfx942", "sim:sm_90a", "sm_80"},
        {"sm_75,sm_86", "sim:sm_80", "sm_75"},
        {"gfx1100,gfx942,sm_80", "sim:gfx942", "gfx942"},
        {"sm_90a,gfx942", "sim:sm_100", NULL},
        {"gfx942", "sim:gfx90a", NULL},
        {"gfx942,gfx1100", "sim:sm_80", NULL},
        {"sm_90", "sim:sm_80", NULL},
    };
    World *w = *state;
    if (!codegen_built()) return;
    const char *path = write_source(w, "tells.tile", TELLS);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        MadeLibrary *m = made_library("which", rows[i].targets);
        made_cache(m, NULL);
        made_source(m, path);
        made_function(m, "tells");
        made_build(m);
        tilec_device *device = open_device(w, rows[i].device);
        tilec_library *l = NULL;
        tilec_status s = tilec_library_load(device, &m->data, 0, &l);
        if (rows[i].taken) {
            assert_int_equal(s, TILEC_OK);
            assert_string_equal(target_of(w, l, "tells"), rows[i].taken);
        } else {
            assert_int_equal(s, TILEC_UNAVAILABLE);
            said(w, "library which has no code for device sim:");
            said(w, "; it has code for ");
            said(w, arena_printf(w->arena, "tilec build --target %s,%s", rows[i].targets,
                                 rows[i].device + 4));
        }
        tilec_device_close(device);
        made_free(m);
    }
}

static void cpu_levels_have_a_limit(void **state) {
    static const struct {
        const char *limit, *taken;
    } rows[] = {{"x86-64-v2", "x86-64-v2"}, {"x86-64-v3", "x86-64-v3"}, {"x86-64-v4", "x86-64-v3"}};
    World *w = *state;
    CpuTarget v3;
    assert_true(cpu_target_parse(STR("x86-64-v3"), &v3));
    if (!codegen_built() || !cpu_runs_here(v3)) return;
    MadeLibrary *m = made_library("levels", "x86-64-v2,x86-64-v3,sm_80");
    made_source(m, write_source(w, "tells.tile", TELLS));
    made_function(m, "tells");
    made_build(m);
    made_link(m);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        setenv("TILEC_CPU_TARGET", rows[i].limit, 1);
        tilec_device *device = open_device(w, "cpu");
        tilec_library *l = load(w, device, m->linked);
        assert_string_equal(target_of(w, l, "tells"), rows[i].taken);
        tilec_device_close(device);
    }
    setenv("TILEC_CPU_TARGET", "x86-64-v9", 1);
    tilec_device *device = open_device(w, "cpu");
    tilec_library *l = NULL;
    assert_int_equal(tilec_library_load(device, m->linked, 0, &l), TILEC_INVALID_ARGUMENT);
    said(w, "TILEC_CPU_TARGET is 'x86-64-v9'");
    made_free(m);
    // The error names the targets that this device would take.
    m = made_library("levels", "x86-64-v3");
    made_source(m, write_source(w, "tells.tile", TELLS));
    made_function(m, "tells");
    made_build(m);
    setenv("TILEC_CPU_TARGET", "x86-64-v2", 1);
    assert_int_equal(tilec_library_load(device, &m->data, 0, &l), TILEC_UNAVAILABLE);
    said(w, "--target x86-64-v3,x86-64-v2");
    // No library has code for a processor of another architecture.
    setenv("TILEC_CPU_TARGET", "aarch64", 1);
    assert_int_equal(tilec_library_load(device, &m->data, 0, &l), TILEC_UNAVAILABLE);
    said(w, "TILEC_CPU_TARGET is 'aarch64', which this machine does not run");
    tilec_device *none = NULL;
    assert_int_equal(tilec_device_open_for(w->context, &m->data, &none), TILEC_UNAVAILABLE);
    said(w, "TILEC_CPU_TARGET is 'aarch64', which this machine does not run");
    tilec_device_close(device);
    made_free(m);
}

// No device of this machine has code here, neither the GPUs nor the processor: the error names
// them.
static void devices_that_are_there_are_told(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    MadeLibrary *m = made_library("none", "sm_90a,gfx942");
    made_source(m, write_source(w, "tells.tile", TELLS));
    made_function(m, "tells");
    made_build(m);
    setenv("TILEC_CUDA_LIBRARY", TEST_FAKE_CUDA, 1);
    tilec_device *device = NULL;
    assert_int_equal(tilec_device_open_for(w->context, &m->data, &device), TILEC_UNAVAILABLE);
    said(w, "library none has no code for device cuda:0 (sm_80), cuda:1 (sm_80), cpu (");
    said(w, "--target sm_90a,gfx942,sm_80,");
    assert_null(strstr(tilec_last_error(w->context), "sm_80,sm_80"));
    setenv("TILEC_CUDA_LIBRARY", "none", 1);
    made_free(m);
}

static unsigned made_modules(tilec_library *l) {
    tilec_kernel *k = NULL;
    unsigned count = 0;
    assert_int_equal(tilec_library_kernel(l, "tells", &k), TILEC_OK);
    const LibraryFunction *f = (const LibraryFunction *)k;
    for (uint32_t i = 0; i < f->count; i++)
        for (uint32_t v = 0; v < f->alternatives[i].loaded.meta->variant_count; v++)
            count += atomic_load(&f->alternatives[i].modules[v]) != NULL;
    return count;
}

// The first alternative whose requires hold; what no alternative takes says why of the first.
static void the_first_that_fits_is_taken(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    MadeLibrary *m = made_library("lists", "sm_80,gfx942");
    made_source(m, write_source(w, "tells.tile", TELLS));
    made_function(m, "tells B=64 | B=16 | B=32 C=2 | B=16 C=3");
    made_build(m);
    static const char *const devices[] = {"sim:sm_80", "sim:gfx942"};
    for (size_t i = 0; i < 2; i++) {
        tilec_device *device = open_device(w, devices[i]);
        tilec_library *l = load(w, device, &m->data);
        assert_int_equal(made_modules(l), 0);
        assert_int_equal(told(l, 64), 6401);
        assert_int_equal(made_modules(l), 1);
        assert_int_equal(told(l, 128), 6401);
        assert_int_equal(made_modules(l), 1);
        assert_int_equal(told(l, 32), 1601);
        assert_int_equal(told(l, 48), 1601);
        assert_int_equal(made_modules(l), 2);
        assert_int_equal(told(l, 50), -1);
        said(w, "N % B == 0");
        said(w, "It is built for B=64 C=1 | B=16 C=1 | B=32 C=2 | B=16 C=3, and none fits");
        said(w, "tilec build --target sm_80,gfx942");
        // An error that holds for all specialisations does not mention their consts.
        tilec_kernel *k = NULL;
        assert_int_equal(tilec_library_kernel(l, "tells", &k), TILEC_OK);
        assert_int_not_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_arg_int(1), tilec_arg_int(2))),
                             TILEC_OK);
        assert_null(strstr(tilec_last_error(w->context), "It is built for"));
        tilec_device_close(device);
    }
    made_free(m);
}

// Extents that are consts.
static void fixed_extents_choose_too(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    MadeLibrary *m = made_library("fixed", "sm_80");
    made_source(m, write_source(w, "fixed.tile",
                                "kernel tells(f32 x[B], i64 y[M], const B = 4) grid(1)\n"
                                "{ y[0] = B * 100; }\n"));
    made_function(m, "tells B=64 | B=16 | B=32");
    made_build(m);
    tilec_device *device = open_device(w, "sim:sm_80");
    tilec_library *l = load(w, device, &m->data);
    assert_int_equal(told(l, 32), 3200);
    assert_int_equal(told(l, 16), 1600);
    assert_int_equal(told(l, 64), 6400);
    assert_int_equal(told(l, 8), -1);
    tilec_device_close(device);
    made_free(m);
}

static void tables_choose(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    MadeLibrary *m = made_library("tuned", "sm_80,gfx942");
    made_source(m, write_source(w, "tells.tile", TELLS));
    made_function(m, "tells | B=16");
    made_tuned(m,
               "tilec-tune 1\n"
               "tells $ sm_80 - N=64,M=1 B=16\n"
               "tells $ sm_80 - N=128,M=1 B=32,C=7\n"
               "tells $ sim:sm_80 - N=128,M=1 B=64,C=6\n"
               "tells $ gfx942 - N=64,M=1 C=9\n"
               "tells 0123456789abcdef sm_80 - N=16,M=1 B=16\n"
               "other $ sm_80 - N=16,M=1 B=16\n");
    made_build(m);
    tilec_device *device = open_device(w, "sim:sm_80");
    tilec_library *l = load(w, device, &m->data);
    assert_int_equal(told(l, 64), 1601);
    assert_int_equal(told(l, 48), 1601);   // of the same size class
    assert_int_equal(told(l, 40), 401);    // which 16 does not divide
    assert_int_equal(told(l, 128), 3207);  // what only the table asks for
    assert_int_equal(told(l, 16), 401);
    // Another table of the host's.
    StrBuf table = strbuf(w->arena);
    strbuf_printf(&table, "tilec-tune 1\ntells %.*s sm_80 - N=64,M=1 B=32,C=7\n",
                  STR_ARG(made_source_hash(m, 0)));
    assert_int_equal(tilec_library_tune(l, table.text, table.size), TILEC_OK);
    assert_int_equal(told(l, 64), 3207);
    assert_int_equal(told(l, 128), 401);
    assert_int_equal(tilec_library_tune(l, "nonsense", 8), TILEC_INVALID_ARGUMENT);
    said(w, "the table, line 1");
    assert_int_equal(told(l, 64), 3207);
    assert_int_equal(tilec_library_tune(l, NULL, 0), TILEC_OK);
    assert_int_equal(told(l, 64), 401);
    assert_int_equal(tilec_library_tune(l, NULL, 1), TILEC_INVALID_ARGUMENT);
    // A table of the simulator: its rows are for the simulator alone.
    table = strbuf(w->arena);
    strbuf_printf(&table, "tilec-tune 1\ntells %.*s sim:sm_80 - N=64,M=1 B=16\n",
                  STR_ARG(made_source_hash(m, 0)));
    assert_int_equal(tilec_library_tune(l, table.text, table.size), TILEC_OK);
    assert_int_equal(told(l, 64), 1601);
    tilec_device_close(device);
    device = open_device(w, "sim:gfx942");
    l = load(w, device, &m->data);
    assert_int_equal(told(l, 64), 409);
    assert_int_equal(told(l, 128), 401);
    tilec_device_close(device);
    made_free(m);
}

// Rows name devices; what they found is built for the target whose code such a device takes. Where
// the arguments do not fit it, the target's own row holds.
static void tables_name_devices(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    MadeLibrary *m = made_library("tuned", "sm_80,sm_90a");
    made_source(m, write_source(w, "tells.tile", TELLS));
    made_function(m, "tells");
    made_tuned(m,
               "tilec-tune 1\n"
               "tells $ sm_86 - N=64,M=1 C=2\n"
               "tells $ sm_86 - N=128,M=1 B=64,C=8\n"
               "tells $ sm_80 - N=64,M=1 C=3\n"
               "tells $ sm_80 - N=128,M=1 C=4\n"
               "tells $ sm_90 - N=64,M=1 C=5\n"
               "tells $ sm_75 - N=64,M=1 C=6\n");
    made_build(m);
    static const struct {
        const char *device;
        int64_t n, told;
    } rows[] = {{"sim:sm_86", 64, 402}, {"sim:sm_86", 128, 6408}, {"sim:sm_86", 96, 404},
                {"sim:sm_80", 64, 403}, {"sim:sm_80", 128, 404},  {"sim:sm_89", 64, 403},
                {"sim:sm_90", 64, 405}, {"sim:sm_90", 128, 401},  {"sim:sm_90a", 64, 405}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tilec_device *device = open_device(w, rows[i].device);
        assert_int_equal(told(load(w, device, &m->data), rows[i].n), rows[i].told);
        tilec_device_close(device);
    }
    made_free(m);
}

// A row that sets another value than the function's own does not make an alternative.
static void settings_come_first(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    MadeLibrary *m = made_library("tuned", "sm_80");
    made_source(m, write_source(w, "tells.tile", TELLS));
    made_function(m, "tells B=8");
    made_tuned(m,
               "tilec-tune 1\n"
               "tells $ sm_80 - N=64,M=1 B=16,C=7\n"
               "tells $ sm_80 - N=32,M=1 B=8,C=5\n");
    made_build(m);
    tilec_device *device = open_device(w, "sim:sm_80");
    tilec_library *l = load(w, device, &m->data);
    assert_int_equal(told(l, 64), 801);
    assert_int_equal(told(l, 32), 805);
    for (size_t i = 0; i < m->built.codes.count; i++)
        assert_true(m->built.codes.data[i].alternative < 2);
    tilec_device_close(device);
    made_free(m);
}

// A damaged table is an error, unlike a table that is missing.
static void a_damaged_table_is_told(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    MadeLibrary *m = made_library("tuned", "sm_80");
    made_source(m, write_source(w, "tells.tile", TELLS));
    made_function(m, "tells B=8 | B=16");
    made_tuned(m, "tilec-tune 1\ntells $ sm_80 - N=64,M=1 B=16\n");
    made_build(m);
    Archive a;
    const char *wrong;
    assert_true(archive_open(&m->data, &a, &wrong));
    assert_true(a.tuned > 0);
    const uint8_t *row = a.groups + (size_t)(a.tuned - 1) * INDEX_GROUP_WORDS * 4;
    uint64_t at = 0;
    for (int i = 8; i-- > 0;) at = at << 8 | row[16 + i];
    unsigned char *bytes = arena_copy(w->arena, m->built.archive.text, m->built.archive.size);
    bytes[at + 3] ^= 1;
    m->data.bytes = bytes;
    tilec_device *device = open_device(w, "sim:sm_80");
    tilec_library *l = load(w, device, &m->data);
    tilec_kernel *k = NULL;
    assert_int_equal(tilec_library_kernel(l, "tells", &k), TILEC_IO);
    said(w, "the archive of library tuned is damaged");
    tilec_device_close(device);
    made_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        BUILD_TEST(the_best_target_is_taken),
        BUILD_TEST(cpu_levels_have_a_limit),
        BUILD_TEST(devices_that_are_there_are_told),
        BUILD_TEST(the_first_that_fits_is_taken),
        BUILD_TEST(fixed_extents_choose_too),
        BUILD_TEST(tables_choose),
        BUILD_TEST(tables_name_devices),
        BUILD_TEST(settings_come_first),
        BUILD_TEST(a_damaged_table_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
