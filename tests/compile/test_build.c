// Built libraries: the same plan gives the same bytes, only what changed is compiled, several can
// be loaded together, and mistakes are reported.
#include "tests/compile/build_world.h"

// ---- The same plan, the same bytes ----

#define PLAIN                                                            \
    "kernel plus(f32 x[N], f32 y[N], const B = 64) grid(cdiv(N, B)) {\n" \
    "    y[program(0) * B +: B] = x[program(0) * B +: B] + 1.0;\n"       \
    "}\n"
#define MINUS                                                             \
    "kernel minus(f32 x[N], f32 y[N], const B = 64) grid(cdiv(N, B)) {\n" \
    "    y[program(0) * B +: B] = x[program(0) * B +: B] - 1.0;\n"        \
    "}\n"
#define SMALL_TARGETS "sm_80,gfx942,x86-64-v2,x86-64-v3"

typedef struct Outcome {
    Str archive, library;
    size_t codes, cached;
    uint64_t interface_number;
} Outcome;

static Outcome build_small(World *w, const char *const *sources, size_t count, uint32_t threads,
                           const char *cache) {
    Outcome o = {0};
    MadeLibrary *m = made_library("small", SMALL_TARGETS);
    m->plan.host.level = CPU_X86_64_V2;
    m->plan.threads = threads;
    if (cache) made_cache(m, cache);
    for (size_t i = 0; i < count; i++) made_source(m, sources[i]);
    if (count > 1) made_function(m, "minus");
    made_function(m, "plus B=64 | B=128");
    made_build(m);
    Str bytes;
    assert_true(
        ar_write(m->arena, m->built.members.data, (uint32_t)m->built.members.count, &bytes));
    o.library = (Str){arena_copy(w->arena, bytes.text, bytes.size), bytes.size};
    o.archive = (Str){arena_copy(w->arena, m->built.archive.text, m->built.archive.size),
                      m->built.archive.size};
    o.interface_number = m->built.interface_number;
    o.codes = m->built.codes.count;
    for (size_t i = 0; i < o.codes; i++) o.cached += m->built.codes.data[i].cached;
    made_free(m);
    return o;
}

static void expect_equal(const Outcome *a, const Outcome *b) {
    assert_true(str_equal(a->archive, b->archive));
    assert_true(str_equal(a->library, b->library));
    assert_true(a->interface_number == b->interface_number);
}

static void the_same_plan_gives_the_same_bytes(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    const char *sources[] = {write_source(w, "plus.tile", PLAIN),
                             write_source(w, "minus.tile", MINUS)};
    const char *cache = arena_printf(w->arena, "%s/cache", w->folder);
    Outcome first = build_small(w, sources, 2, 1, NULL);
    assert_int_equal(first.cached, 0);
    assert_true(first.codes >= 12);
    Outcome others[] = {
        build_small(w, sources, 2, 1, NULL),  build_small(w, sources, 2, 3, NULL),
        build_small(w, sources, 2, 2, cache), build_small(w, sources, 2, 1, cache),
        build_small(w, sources, 2, 8, cache),
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        expect_equal(&first, &others[i]);
        assert_int_equal(others[i].cached, i < 3 ? 0 : first.codes);
    }
}

// However the path is spelled; only line tables name folders.
static void folders_are_not_in_it(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    static const char text[] = "kernel plus(f32 x[N]) grid(1) { assert(N > 1); x[0] = 1.0; }\n";
    const char *first = write_source(w, "plus.tile", text);
    assert_int_equal(system(arena_printf(w->arena, "mkdir %s/in", w->folder)), 0);
    const char *paths[] = {first, write_source(w, "in/plus.tile", text),
                           arena_printf(w->arena, "%s/./plus.tile", w->folder),
                           arena_printf(w->arena, "%s/in/../plus.tile", w->folder)};
    Str bytes[4];
    for (size_t i = 0; i < 4; i++) {
        MadeLibrary *m = made_library("spelled", SMALL_TARGETS);
        made_source(m, paths[i]);
        made_function(m, "plus");
        made_build(m);
        StrBuf all = strbuf(w->arena);
        for (size_t k = 0; k < m->built.members.count; k++)
            strbuf_add(&all, m->built.members.data[k].bytes);
        bytes[i] = strbuf_str(&all);
        made_free(m);
    }
    for (size_t i = 1; i < 4; i++) assert_true(str_equal(bytes[0], bytes[i]));
}

// If one kernel of a library changed, only that kernel is compiled.
static void only_what_changed_is_compiled(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    const char *sources[] = {write_source(w, "plus.tile", PLAIN),
                             write_source(w, "minus.tile", MINUS)};
    const char *cache = arena_printf(w->arena, "%s/cache", w->folder);
    Outcome plus = build_small(w, sources, 1, 1, cache);
    Outcome both = build_small(w, sources, 2, 1, cache);
    assert_int_equal(both.cached, plus.codes);
    write_source(w, "minus.tile",
                 "kernel minus(f32 x[N], f32 y[N], const B = 64) grid(cdiv(N, B)) {\n"
                 "    y[program(0) * B +: B] = x[program(0) * B +: B] - 2.0;\n"
                 "}\n");
    Outcome changed = build_small(w, sources, 2, 1, cache);
    assert_int_equal(changed.cached, plus.codes);
    assert_true(changed.interface_number == both.interface_number);
}

// A library is of the sources as they were read at first, all of it.
static void what_becomes_of_files_meanwhile_is_not_in_it(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    write_source(w, "one.tile", "fn one() { return 1.0; }\n");
    const char *path = write_source(w, "plus.tile",
                                    "import \"one.tile\";\n"
                                    "kernel plus(f32 x[N]) grid(1) { x[0] = one(); }\n");
    Str archives[2];
    for (int i = 0; i < 2; i++) {
        MadeLibrary *m = made_library("meanwhile", "sm_80,gfx942");
        made_source(m, path);
        made_function(m, "plus");
        if (i) write_source(w, "one.tile", "fn one() { return 2.0; }\n");
        if (i) assert_int_equal(remove(path), 0);
        made_build(m);
        archives[i] = (Str){arena_copy(w->arena, m->built.archive.text, m->built.archive.size),
                            m->built.archive.size};
        made_free(m);
    }
    assert_true(str_equal(archives[0], archives[1]));
}

static Str built_names(World *w, const char *path, const char *cache, const char *const *names,
                       bool link) {
    MadeLibrary *m = made_library("names", "x86-64-v2");
    if (cache) made_cache(m, cache);
    made_source(m, path);
    for (size_t i = 0; i < 2; i++) made_function(m, names[i]);
    made_build(m);
    StrBuf bytes = strbuf(w->arena);
    for (size_t i = 0; i < m->built.members.count; i++)
        strbuf_add(&bytes, m->built.members.data[i].bytes);
    if (link) made_link(m);
    made_free(m);
    return strbuf_str(&bytes);
}

// An object's name does not depend on which build made it first. Two functions that give the same
// code share it, also in a shared library.
static void objects_have_names_of_their_own(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    static const char *const first[] = {"a=plus", "b=plus"}, *const second[] = {"c=plus", "d=plus"};
    const char *path = write_source(w, "plus.tile", PLAIN);
    const char *cache = arena_printf(w->arena, "%s/cache", w->folder);
    built_names(w, path, cache, first, true);
    Str cached = built_names(w, path, cache, second, false);
    Str fresh = built_names(w, path, NULL, second, false);
    assert_true(fresh.size > 0);
    assert_true(str_equal(cached, fresh));
}

// All errors of all functions, each once.
static void errors_are_all_reported(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    MadeLibrary *m = made_library("bad", "sm_80,gfx942,x86-64-v2");
    made_source(m, write_source(w, "a.tile",
                                "kernel a(f32 x[N], const B = 64) grid(1) {\n"
                                "    static_assert(B == 1, \"one of a\");\n    x[0] = 1.0;\n}\n"));
    made_source(m, write_source(w, "b.tile",
                                "kernel b(f32 x[N], const B = 64) grid(1) {\n"
                                "    static_assert(B == 1, \"one of b\");\n    x[0] = 1.0;\n}\n"));
    made_function(m, "a");
    made_function(m, "b");
    m->plan.threads = 3;
    assert_false(made_try(m));
    for (size_t i = 0; i < 2; i++) assert_int_equal(diags_errors(m->units.data[i]->diags), 1);
    Str text = made_diagnostics(m);
    assert_non_null(strstr(text.text, "one of a"));
    assert_non_null(strstr(text.text, "one of b"));
    made_free(m);
}

// ---- Several ----

static MadeLibrary *make_tells(World *w, const char *name, const char *function,
                               const char *targets) {
    MadeLibrary *m = made_library(name, targets);
    made_source(m, write_source(w, "tells.tile", TELLS));
    made_function(m, function);
    made_build(m);
    return m;
}

static void libraries_live_beside_each_other(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    MadeLibrary *a = make_tells(w, "one", "tells B=1", "sm_80");
    MadeLibrary *b = make_tells(w, "two", "tells B=2", "sm_80");
    tilec_device *first = open_device(w, "sim:sm_80"), *second = open_device(w, "sim:sm_90");
    tilec_library *one = load(w, first, &a->data), *two = load(w, first, &b->data);
    tilec_library *other = load(w, second, &a->data), *again = load(w, first, &a->data);
    assert_ptr_equal(one, again);
    assert_ptr_not_equal(one, other);
    assert_int_equal(told(one, 4), 101);
    assert_int_equal(told(two, 4), 201);
    assert_int_equal(told(other, 4), 101);
    tilec_library_unload(again);
    assert_int_equal(told(one, 4), 101);
    tilec_library_unload(one);
    tilec_kernel *k = NULL;
    assert_int_equal(tilec_library_kernel(one, "tells", &k), TILEC_INVALID_ARGUMENT);
    said(w, "the library was unloaded");
    assert_int_equal(told(two, 4), 201);
    assert_int_equal(told(other, 4), 101);
    one = load(w, first, &a->data);
    assert_int_equal(told(one, 4), 101);
    // Closing a device unloads what is left.
    tilec_device_close(first);
    assert_int_equal(told(other, 4), 101);
    tilec_library_unload(other);
    made_free(a);
    made_free(b);
}

// The grid of a built kernel, too, asks the device that runs it.
static void grids_ask_the_device(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    MadeLibrary *m = made_library("counts", "sm_80,gfx90a");
    made_source(m, write_source(w, "counts.tile",
                                "kernel counts(i64 y[N]) grid(min(units(), N)) {\n"
                                "    y[program(0)] = programs(0);\n}\n"));
    made_function(m, "counts");
    made_build(m);
    static const char *const devices[] = {"sim:sm_80", "sim:gfx90a"};
    for (int i = 0; i < 2; i++) {
        tilec_device *device = open_device(w, devices[i]);
        tilec_device_info info = {.size = sizeof info};
        tilec_kernel *k = NULL;
        tilec_buffer y;
        int64_t found[8] = {0};
        assert_int_equal(tilec_device_describe(device, &info), TILEC_OK);
        assert_int_equal(tilec_library_kernel(load(w, device, &m->data), "counts", &k), TILEC_OK);
        assert_int_equal(tilec_buffer_create(device, sizeof found, &y), TILEC_OK);
        assert_int_equal(tilec_buffer_write(device, NULL, y, 0, found, sizeof found), TILEC_OK);
        assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_buffer_view1(TILEC_I64, y, 8))),
                         TILEC_OK);
        assert_int_equal(tilec_buffer_read(device, NULL, y, 0, found, sizeof found), TILEC_OK);
        for (uint32_t p = 0; p < 8; p++)
            assert_int_equal(found[p], p < info.multiprocessors ? info.multiprocessors : 0);
        tilec_device_close(device);
    }
    made_free(m);
}

static void a_place_is_taken_again(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    MadeLibrary *a = make_tells(w, "one", "tells B=1", "sm_80");
    MadeLibrary *b = make_tells(w, "two", "tells B=2", "sm_80");
    tilec_device *device = open_device(w, "sim:sm_80");
    for (int i = 0; i < 10; i++) {
        bool odd = i % 2;
        tilec_library *l = load(w, device, odd ? &b->data : &a->data);
        assert_int_equal(told(l, 4), odd ? 201 : 101);
        tilec_library_unload(l);
    }
    unsigned count = 0;
    for (tilec_library *l = atomic_load(&device->libraries); l; l = l->next) count++;
    assert_int_equal(count, 1);
    made_free(a);
    made_free(b);
}

// All are in one file; each is there, and computes what it should.
static void many_kernels(void **state) {
    enum { KERNELS = 200, FIRST = 100, N = 64 };
    World *w = *state;
    if (!codegen_built()) return;
    StrBuf text = strbuf(w->arena);
    for (int i = FIRST; i < FIRST + KERNELS; i++)
        strbuf_printf(&text,
                      "kernel k%d(f32 x[N]) grid(cdiv(N, 64)) {\n"
                      "    x[program(0) * 64 +: 64] = %d.0;\n}\n",
                      i, i);
    MadeLibrary *m = made_library("many", "sm_80");
    m->plan.threads = 2;
    made_cache(m, NULL);
    made_source(m, write_source(w, "many.tile", text.text));
    for (int i = FIRST; i < FIRST + KERNELS; i++)
        made_function(m, arena_printf(w->arena, "k%d", i));
    made_build(m);
    tilec_device *device = open_device(w, "sim:sm_80");
    tilec_library *l = load(w, device, &m->data);
    for (int i = FIRST; i < FIRST + KERNELS; i++) {
        tilec_kernel *k = NULL;
        tilec_buffer x;
        float y = 0;
        const char *name = arena_printf(w->arena, "k%d", i);
        assert_int_equal(tilec_library_kernel(l, name, &k), TILEC_OK);
        assert_string_equal(tilec_kernel_name(k), name);
        if (i % 67) continue;
        assert_int_equal(tilec_buffer_create(device, N * sizeof y, &x), TILEC_OK);
        assert_int_equal(tilec_launch(k, NULL, TILEC_ARGS(tilec_buffer_view1(TILEC_F32, x, N))),
                         TILEC_OK);
        assert_int_equal(tilec_buffer_read(device, NULL, x, (N - 1) * sizeof y, &y, sizeof y),
                         TILEC_OK);
        assert_true(y == (float)i);
    }
    tilec_device_close(device);
    made_free(m);
}

// ---- What is refused ----

static void wrong_uses_are_told(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    MadeLibrary *m = make_tells(w, "refused", "tells", "sm_80,gfx942");
    tilec_device *device = open_device(w, "sim:sm_80"), *interp = open_device(w, "interp");
    tilec_library *l = NULL;
    tilec_kernel *k = NULL;
    uint64_t right = m->built.interface_number;
    assert_int_equal(tilec_library_load(device, &m->data, right + 1, &l), TILEC_INVALID_ARGUMENT);
    said(w, "the header is not that of library refused");
    said(w, "it has: tells. Compile the program with the header that is written with it: tilec");
    assert_int_equal(tilec_library_load(interp, &m->data, right, &l), TILEC_UNSUPPORTED);
    said(w,
         "device interp runs no compiled code: open cpu, cuda or hip for library refused; it has "
         "code for sm_80, gfx942");
    assert_int_equal(tilec_library_load(device, NULL, 0, &l), TILEC_INVALID_ARGUMENT);
    said(w, "the archive is NULL");
    assert_int_equal(tilec_library_load(device, &m->data, 0, NULL), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_library_load(NULL, &m->data, 0, &l), TILEC_INVALID_ARGUMENT);
    struct tilec_archive damaged = m->data;
    damaged.byte_count--;
    assert_int_equal(tilec_library_load(device, &damaged, 0, &l), TILEC_IO);
    said(w, "the archive cannot be read: it is cut off; rebuild it");
    // Before it is loaded.
    const void *values[] = {NULL, NULL};
    tilec_stream *stream = tilec_device_stream(device);
    assert_int_equal(tilec_archive_call(&m->data, 0, stream, values), TILEC_INVALID_ARGUMENT);
    said(w, "library refused is not loaded on device sim:sm_80: call refused_load for it first");
    assert_int_equal(tilec_library_load(device, &m->data, right, &l), TILEC_OK);
    assert_int_equal(tilec_archive_call(&m->data, 1, stream, values), TILEC_INVALID_ARGUMENT);
    said(w, "library refused has no function with number 1");
    assert_int_equal(tilec_library_kernel(l, "tels", &k), TILEC_INVALID_ARGUMENT);
    said(w, "library refused has no function 'tels'; did you mean 'tells'? it has: tells");
    said(w, "It was built by: tilec build --target sm_80,gfx942");
    assert_int_equal(tilec_library_kernel(l, NULL, &k), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_library_kernel(l, "tells", NULL), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_library_kernel(NULL, "tells", &k), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_library_call(l, "tells", stream, NULL), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_library_call(l, "none", stream, values), TILEC_INVALID_ARGUMENT);
    tilec_library_unload(NULL);
    // A kernel of the library is the library's.
    assert_int_equal(tilec_library_kernel(l, "tells", &k), TILEC_OK);
    tilec_kernel_destroy(k);
    assert_int_equal(told(l, 4), 401);
    tilec_library_unload(l);
    assert_int_equal(tilec_archive_call(&m->data, 0, stream, values), TILEC_INVALID_ARGUMENT);
    said(w, "is not loaded on device");
    assert_int_equal(tilec_archive_call(NULL, 0, stream, values), TILEC_INVALID_ARGUMENT);
    said(w, "the archive is NULL");
    made_free(m);
}

static void archives_describe_themselves(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    MadeLibrary *m = make_tells(w, "told", "tells", "sm_80,gfx942");
    tilec_archive_info info;
    tilec_function_info f;
    assert_int_equal(tilec_archive_describe(w->context, &m->data, &info), TILEC_OK);
    assert_string_equal(info.name, "told");
    assert_int_equal(info.function_count, 1);
    assert_int_equal(info.target_count, 2);
    assert_true(info.interface_number == m->built.interface_number);
    assert_true(info.bytes == m->data.byte_count);
    assert_int_equal(tilec_archive_function(w->context, &m->data, 0, &f), TILEC_OK);
    assert_string_equal(f.name, "tells");
    assert_string_equal(f.prototype,
                        "tilec_status tells(tilec_stream *stream, tilec_view x, tilec_view y)");
    assert_int_equal(tilec_archive_function(w->context, &m->data, 1, &f), TILEC_INVALID_ARGUMENT);
    assert_string_equal(tilec_archive_target(&m->data, 1), "gfx942");
    assert_null(tilec_archive_target(&m->data, 2));
    assert_null(tilec_archive_target(NULL, 0));
    assert_int_equal(tilec_archive_describe(w->context, NULL, &info), TILEC_INVALID_ARGUMENT);
    assert_int_equal(tilec_archive_describe(w->context, &m->data, NULL), TILEC_INVALID_ARGUMENT);
    made_free(m);
}

// Each byte of an archive that was built, through what users call.
static void a_flipped_bit_never_runs(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    MadeLibrary *m = make_tells(w, "flipped", "tells", "sm_80");
    tilec_device *device = open_device(w, "sim:sm_80");
    unsigned char *bytes = arena_copy(w->arena, m->built.archive.text, m->built.archive.size);
    m->data.bytes = bytes;
    for (size_t i = 0; i < m->data.byte_count; i++) {
        tilec_library *l = NULL;
        tilec_kernel *k = NULL;
        bytes[i] = (unsigned char)(bytes[i] ^ 1 << i % 8);
        tilec_status s = tilec_library_load(device, &m->data, 0, &l);
        if (!s) s = tilec_library_kernel(l, "tells", &k);
        if (s != TILEC_IO) fail_msg("byte %zu: status %d", i, (int)s);
        tilec_library_unload(l);
        bytes[i] = (unsigned char)(bytes[i] ^ 1 << i % 8);
    }
    tilec_library *l = load(w, device, &m->data);
    assert_int_equal(told(l, 4), 401);
    tilec_library_unload(l);
    made_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        BUILD_TEST(the_same_plan_gives_the_same_bytes),
        BUILD_TEST(folders_are_not_in_it),
        BUILD_TEST(only_what_changed_is_compiled),
        BUILD_TEST(what_becomes_of_files_meanwhile_is_not_in_it),
        BUILD_TEST(objects_have_names_of_their_own),
        BUILD_TEST(errors_are_all_reported),
        BUILD_TEST(libraries_live_beside_each_other),
        BUILD_TEST(grids_ask_the_device),
        BUILD_TEST(a_place_is_taken_again),
        BUILD_TEST(many_kernels),
        BUILD_TEST(wrong_uses_are_told),
        BUILD_TEST(archives_describe_themselves),
        BUILD_TEST(a_flipped_bit_never_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
