// Opening the compiler library: once, the right one, or a message with all that was tried.
#define _GNU_SOURCE  // setenv, dlopen
#include "compile/jit/plugin.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "ir/text/text.h"

typedef struct World {
    Arena *arena;
    Diags *diags;
    Plugin *plugin;
} World;

static int set_up(void **state) {
    World *w = calloc(1, sizeof *w);
    w->arena = arena_create();
    w->diags = diags_create(w->arena, sources_create(w->arena));
    w->plugin = plugin_create(NULL);
    setenv("TILEC_LLVM_LIBRARY", TEST_FAKE_PLUGIN, 1);
    unsetenv("FAKE_PLUGIN");
    *state = w;
    return 0;
}

static int tear_down(void **state) {
    World *w = *state;
    plugin_destroy(w->plugin);
    arena_destroy(w->arena);
    free(w);
    unsetenv("TILEC_LLVM_LIBRARY");
    unsetenv("FAKE_PLUGIN");
    return 0;
}

static void opens_it_once(void **state) {
    World *w = *state;
    const CodegenApi *api = plugin_open(w->plugin, w->diags);
    assert_non_null(api);
    assert_string_equal(api->llvm_version, "0.0");
    setenv("TILEC_LLVM_LIBRARY", "/nowhere.so", 1);
    assert_ptr_equal(plugin_open(w->plugin, w->diags), api);
    assert_int_equal(diags_count(w->diags), 0);
}

static void expect(World *w, const char *text) {
    StrBuf all = strbuf(w->arena);
    diags_text(w->diags, (DiagStyle){0}, &all);
    if (!strstr(all.text, text)) fail_msg("expected '%s', found: %s", text, all.text);
}

static void refuses_strangers(void **state) {
    World *w = *state;
    setenv("FAKE_PLUGIN", "other version", 1);
    assert_null(plugin_open(w->plugin, w->diags));
    expect(w, arena_printf(w->arena, "its interface is of version %d, expected %d",
                           CODEGEN_VERSION + 1, CODEGEN_VERSION));
    expect(w, "TILEC_LLVM_LIBRARY=");
    plugin_destroy(w->plugin);
    w->plugin = plugin_create(NULL);
    setenv("FAKE_PLUGIN", "other build", 1);
    assert_null(plugin_open(w->plugin, w->diags));
    expect(w, "it is from 'tilec 9.9', expected '" CODEGEN_BUILD_TEXT "'");
    plugin_destroy(w->plugin);
    w->plugin = plugin_create(NULL);
    setenv("TILEC_LLVM_LIBRARY", "libm.so.6", 1);
    assert_null(plugin_open(w->plugin, w->diags));
    expect(w, "it is not a compiler library of tilec");
}

// Only the library that the context names is opened; no other place is searched.
static void takes_what_is_named(void **state) {
    World *w = *state;
    setenv("TILEC_LLVM_LIBRARY", "/no/such/file.so", 1);
    char path[] = TEST_FAKE_PLUGIN;
    Plugin *named = plugin_create(path);
    memset(path, 'x', sizeof path - 1);  // it has a copy
    assert_true(str_equal(plugin_find(named, w->arena), STR(TEST_FAKE_PLUGIN)));
    const CodegenApi *api = plugin_open(named, w->diags);
    assert_non_null(api);
    assert_string_equal(api->llvm_version, "0.0");
    plugin_destroy(named);
    setenv("TILEC_LLVM_LIBRARY", TEST_FAKE_PLUGIN, 1);
    named = plugin_create("/none/named.so");
    assert_int_equal(plugin_find(named, w->arena).size, 0);
    assert_null(plugin_open(named, w->diags));
    expect(w, "/none/named.so: no such file");
    const Diag *d = diags_get(w->diags, 0);
    assert_true(d->notes && !d->notes->next);
    plugin_destroy(named);
}

static void says_what_it_tried(void **state) {
    World *w = *state;
    setenv("TILEC_LLVM_LIBRARY", "/no/such/file.so", 1);
    assert_int_equal(plugin_find(w->plugin, w->arena).size, 0);
    assert_null(plugin_open(w->plugin, w->diags));
    expect(w, "/no/such/file.so: no such file");
    assert_int_equal(diags_get(w->diags, 0)->code, DIAG_UNAVAILABLE);
    // A second try reports the error again.
    size_t before = diags_errors(w->diags);
    assert_null(plugin_open(w->plugin, w->diags));
    assert_int_equal(diags_errors(w->diags), before + 1);
    // Not only what the variable names, when it is not set.
    unsetenv("TILEC_LLVM_LIBRARY");
    Plugin *other = plugin_create(NULL);
    Diags *diags = diags_create(w->arena, sources_create(w->arena));
    const CodegenApi *api = plugin_open(other, diags);
    if (!api) assert_true(diags_get(diags, 0)->notes && diags_get(diags, 0)->notes->next);
    plugin_destroy(other);
}

static const char kernel_text[] =
    "kernel @k(%x: view f32[N]) {level = cpu} {\n"
    "  grid {\n"
    "    %0 = const {value = 1} : i64\n"
    "    yield %0\n"
    "  }\n"
    "  body {\n"
    "    return\n"
    "  }\n"
    "}\n";

// Host processes often carry an LLVM of their own, with all its symbols shown.
static void lives_beside_another_llvm(void **state) {
    World *w = *state;
    static const char *const names[] = {"libLLVM-22.so", "libLLVM.so.22.1", "libLLVM-14.so.1",
                                        "libLLVM-14.so", "libLLVM.so"};
    unsetenv("TILEC_LLVM_LIBRARY");
    void *other = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !other; i++)
        other = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
    if (!other) print_message("skipped: no shared LLVM is installed besides ours\n");
    if (!plugin_find(w->plugin, w->arena).size) {
        print_message(
            "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
        if (other) dlclose(other);
        return;
    }
    const CodegenApi *api = plugin_open(w->plugin, w->diags);
    assert_non_null(api);
    Sources *sources = sources_create(w->arena);
    const SourceFile *file = source_add(sources, STR("k.tir"), str(kernel_text));
    IrModule *m = ir_parse(w->arena, sources, interner_create(w->arena), file, w->diags);
    assert_non_null(m);
    CodegenOptions options = {
        .target.cpu = {.level = CPU_X86_64_V3}, .output = CODEGEN_SHARED, .entry = STR("k")};
    Str object = {0};
    assert_true(api->compile(w->arena, m->funcs.data[0], &options, &object, w->diags));
    assert_true(str_starts(object, STR("\177ELF")));
    if (other) dlclose(other);
}

#define PLUGIN_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        PLUGIN_TEST(opens_it_once),
        PLUGIN_TEST(refuses_strangers),
        PLUGIN_TEST(takes_what_is_named),
        PLUGIN_TEST(says_what_it_tried),
        PLUGIN_TEST(lives_beside_another_llvm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
