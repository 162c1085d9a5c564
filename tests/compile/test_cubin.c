// Machine code of PTX: tools that are found, missing, too old or of another opinion; and on the way
// of a kernel to a device `cuda`, whose driver is the one without a GPU. The tools are scripts; the
// real ones are asked, too, where they are.
#define _GNU_SOURCE  // setenv, mkdtemp
#include "compile/device/cubin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tilec/tilec.h>
#include <unistd.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "base/os/os_dl.h"
#include "tests/fakes/gpu/fake.h"
#include "tests/support/codegen_plugin.h"

static const char ptx[] =
    "//\n.version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n";

typedef struct World {
    Arena *arena;
    Sources *sources;
    Diags *diags;
    char folder[64];
    tilec_context *context;
    StrBuf logged;
} World;

static const char *const variables[] = {"TILEC_PTXAS",      "TILEC_NVJITLINK",    "CUDA_HOME",
                                        "TILEC_CACHE_SIZE", "TILEC_PTX_COMPILER", "TILEC_CACHE"};
enum { VARIABLES = sizeof variables / sizeof *variables };

static int set_up(void **state) {
    World *w = calloc(1, sizeof *w);
    w->arena = arena_create();
    w->sources = sources_create(w->arena);
    w->diags = diags_create(w->arena, w->sources);
    w->logged = strbuf(w->arena);
    snprintf(w->folder, sizeof w->folder, "%s/tilec-test-XXXXXX", P_tmpdir);
    assert_non_null(mkdtemp(w->folder));
    for (size_t i = 0; i < VARIABLES; i++) unsetenv(variables[i]);
    setenv("TILEC_NVJITLINK", "/none/link.so", 1);
    *state = w;
    return 0;
}

static int tear_down(void **state) {
    World *w = *state;
    tilec_context_destroy(w->context);
    assert_int_equal(system(arena_printf(w->arena, "rm -rf '%s'", w->folder)), 0);
    for (size_t i = 0; i < VARIABLES; i++) unsetenv(variables[i]);
    arena_destroy(w->arena);
    free(w);
    return 0;
}

// A ptxas of this release that does what `rest` says with its input.
static const char *program(World *w, const char *name, const char *release, const char *rest) {
    const char *path = arena_printf(w->arena, "%s/%s", w->folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f,
            "#!/bin/sh\n"
            "if [ \"$1\" = --version ]; then\n"
            "echo 'Cuda compilation tools, release 1.0, V%s'; exit 0; fi\n"
            "echo \"$*\" >> '%s/calls'\n"
            "%s\n",
            release, w->folder, rest);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0700), 0);
    return path;
}
#define ELF "printf '\\177ELF and more'\n"

static bool make(World *w, PtxBy by, Cubin *cubin) {
    CubinMaker *m = cubin_maker_create(by);
    w->diags = diags_create(w->arena, w->sources);
    bool made = cubin_make(m, w->arena, w->sources, str(ptx), cubin, w->diags);
    cubin_maker_destroy(m);
    return made;
}

static const char *words(World *w) {
    StrBuf text = strbuf(w->arena);
    diags_text(w->diags, (DiagStyle){0}, &text);
    return text.text ? text.text : "";
}

static void says(World *w, const char *text) {
    if (!strstr(words(w), text)) fail_msg("expected '%s' in\n%s", text, words(w));
}

// ---- The tools ----

static void a_tool_makes_code(void **state) {
    World *w = *state;
    Cubin c;
    setenv("TILEC_PTXAS",
           program(w, "ptxas", "12.4.99",
                   "cat > \"$(dirname \"$0\")/input\"\n"
                   "echo 'ptxas info    : Function properties for k' >&2\n"
                   "echo '    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads' >&2\n"
                   "echo 'ptxas info    : Used 40 registers, used 1 barriers' >&2\n" ELF),
           1);
    if (!make(w, PTX_BY_ANY, &c)) fail_msg("%s", words(w));
    assert_true(str_equal(c.bytes, STR("\177ELF and more")));
    assert_true(c.facts.known);
    assert_int_equal(c.facts.registers, 40);
    assert_int_equal(c.facts.stack, 8);
    assert_int_equal(c.facts.spill_stores + c.facts.spill_loads, 0);
    assert_string_equal(words(w), "");
    Str text;
    OsError e;
    const char *input = arena_printf(w->arena, "%s/input", w->folder);
    assert_true(os_read_file(w->arena, input, 1 << 20, &text, &e));
    assert_true(str_equal(text, str(ptx)));
    const char *calls = arena_printf(w->arena, "%s/calls", w->folder);
    assert_true(os_read_file(w->arena, calls, 1 << 20, &text, &e));
    assert_non_null(strstr(text.text, "-arch=sm_80"));
    CubinMaker *m = cubin_maker_create(PTX_BY_PTXAS);
    assert_true(str_equal(cubin_tool(m, w->arena, str(ptx), NULL), STR("ptxas 12.4.99")));
    cubin_maker_destroy(m);
}

static void spills_are_warned_of(void **state) {
    World *w = *state;
    Cubin c;
    setenv("TILEC_PTXAS",
           program(w, "ptxas", "13.0.88",
                   "echo '    96 bytes stack frame, 64 bytes spill stores, 80 bytes spill loads' "
                   ">&2\n" ELF),
           1);
    assert_true(make(w, PTX_BY_PTXAS, &c));
    says(w, "warning: the kernel spills registers: 64 bytes of spill stores, 80 of");
    assert_int_equal(diags_errors(w->diags), 0);
}

static void what_it_says_is_told(void **state) {
    World *w = *state;
    Cubin c;
    setenv("TILEC_PTXAS",
           program(w, "ptxas", "13.0.88",
                   "echo \"ptxas /dev/stdin, line 7; error   : Not a name: 'rot'\" >&2\n"
                   "echo 'ptxas fatal   : Ptx assembly aborted due to errors' >&2\nexit 255"),
           1);
    assert_false(make(w, PTX_BY_ANY, &c));
    says(w, "kernel.ptx:7:1: error: ptxas /dev/stdin, line 7; error   : Not a name: 'rot'");
    assert_int_equal(diags_errors(w->diags), 2);
    // Code whose matrix instructions wait for each other is too slow to be used.
    setenv("TILEC_PTXAS",
           program(w, "ptxas", "13.0.88",
                   "echo 'ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async "
                   "instructions are serialized' >&2\n" ELF),
           1);
    assert_false(make(w, PTX_BY_ANY, &c));
    says(w, "error: ptxas info    : (C7510) Potential Performance Loss");
    setenv("TILEC_PTXAS", program(w, "ptxas", "13.0.88", "exit 3"), 1);
    assert_false(make(w, PTX_BY_ANY, &c));
    says(w, "made no machine code from the PTX");
    setenv("TILEC_PTXAS", program(w, "ptxas", "13.0.88", "kill -SEGV $$"), 1);
    assert_false(make(w, PTX_BY_ANY, &c));
    says(w, "was ended by a signal");
}

// The first that knows the text's version of PTX.
static void places_have_an_order(void **state) {
    World *w = *state;
    Cubin c;
    const char *path = getenv("PATH"), *kept = arena_printf(w->arena, "%s", path ? path : "");
    const char *other = arena_printf(w->arena, "%s/home/bin", w->folder);
    assert_int_equal(system(arena_printf(w->arena, "mkdir -p '%s'", other)), 0);
    program(w, "ptxas", "11.0.1", "printf '\\177ELF of path'");
    program(w, "home/bin/ptxas", "10.2.89", "printf '\\177ELF of home'");
    setenv("CUDA_HOME", arena_printf(w->arena, "%s/home", w->folder), 1);
    setenv("PATH", arena_printf(w->arena, "%s:%s", w->folder, kept), 1);
    bool old = make(w, PTX_BY_PTXAS, &c);
    program(w, "home/bin/ptxas", "11.8.1", "printf '\\177ELF of home'");
    Cubin d;
    bool new = make(w, PTX_BY_PTXAS, &d);
    setenv("PATH", kept, 1);
    assert_true(old && new);
    assert_true(str_equal(c.bytes, STR("\177ELF of path")));
    assert_true(str_equal(d.bytes, STR("\177ELF of home")));
}

static void missing_tools_are_named(void **state) {
    World *w = *state;
    Cubin c;
    setenv("TILEC_PTXAS", "/none/ptxas", 1);
    assert_false(make(w, PTX_BY_ANY, &c));
    says(w, "machine code for sm_80 needs ptxas or libnvJitLink that knows PTX 7.0");
    says(w, "note: /none/ptxas: no such program");
    says(w, "note: /none/link.so: ");
    says(w, "help: install NVIDIA's toolkit (Debian, Ubuntu: apt-get install nvidia-cuda-toolkit");
    assert_int_equal(diags_get(w->diags, 0)->code, DIAG_UNAVAILABLE);
    setenv("TILEC_PTXAS", program(w, "ptxas", "10.2.89", ELF), 1);
    assert_false(make(w, PTX_BY_PTXAS, &c));
    says(w, "needs ptxas that knows PTX 7.0");
    says(w, "of CUDA 10.2.89, which is older");
    setenv("TILEC_PTXAS", "/bin/true", 1);
    assert_false(make(w, PTX_BY_PTXAS, &c));
    says(w, "/bin/true: it does not say its version");
    setenv("TILEC_NVJITLINK", "libm.so.6", 1);
    assert_false(make(w, PTX_BY_NVJITLINK, &c));
    says(w, "libm.so.6: it has no function nvJitLinkVersion");
}

static void real_tools(void **state) {
    World *w = *state;
    static const PtxBy all[] = {PTX_BY_PTXAS, PTX_BY_NVJITLINK};
    unsetenv("TILEC_NVJITLINK");
    for (int i = 0; i < 2; i++) {
        Cubin c;
        if (make(w, all[i], &c)) {
            assert_true(str_starts(c.bytes, STR("\177ELF")));
            assert_true(c.facts.known && c.facts.registers > 0);
        } else {
            assert_int_equal(diags_get(w->diags, 0)->code, DIAG_UNAVAILABLE);
            print_message("skipped: %s\n", words(w));
        }
    }
}

// ---- On the way to a device ----

static const char source[] =
    "kernel scale(f32 x[N], f32 y[N], const B = 64) grid(cdiv(N, B))\n"
    "{\n"
    "    let i = program(0) * B;\n"
    "    y[i +: B] = 2.0 * x[i +: B];\n"
    "}\n";
enum { N = 1000 };

static void keep_log(void *user, tilec_severity severity, const char *text) {
    World *w = user;
    strbuf_printf(&w->logged, "%d %s\n", (int)severity, text);
}

static const FakeGpu *open_fake(void) {
    OsError e;
    OsLibrary *l = os_library_open(TEST_FAKE_CUDA, &e);
    if (!l) fail_msg("%s", e.text);
    void *symbol = os_library_symbol(l, "fake_gpu");
    const FakeGpu *(*get)(void);
    memcpy(&get, &symbol, sizeof get);
    os_library_keep(l);
    get()->reset();
    setenv("TILEC_CUDA_LIBRARY", TEST_FAKE_CUDA, 1);
    return get();
}

// A context of its own runs the kernel; the result must be right with any compiler.
static void runs(World *w, const char *compiler) {
    float x[N], y[N];
    tilec_buffer from, to;
    tilec_device *device;
    tilec_kernel *k;
    tilec_context_options o = {.size = sizeof o,
                               .user = w,
                               .log = keep_log,
                               .cache_folder = arena_printf(w->arena, "%s/cache", w->folder),
                               .ptx_compiler = compiler};
    tilec_context_destroy(w->context);
    w->logged = strbuf(w->arena);
    assert_int_equal(tilec_context_create(&o, &w->context), TILEC_OK);
    for (int i = 0; i < N; i++) x[i] = (float)i;
    tilec_status s = tilec_device_open(w->context, "cuda:0", &device);
    if (!s) s = tilec_buffer_create(device, sizeof x, &from);
    if (!s) s = tilec_buffer_create(device, sizeof y, &to);
    if (!s) s = tilec_buffer_write(device, NULL, from, 0, x, sizeof x);
    if (!s)
        s = tilec_kernel_from_source(w->context, device, "k.tile", source, strlen(source), NULL,
                                     NULL, &k);
    if (!s)
        s = tilec_launch(k, NULL,
                         TILEC_ARGS(tilec_buffer_view1(TILEC_F32, from, N),
                                    tilec_buffer_view1(TILEC_F32, to, N)));
    if (!s) s = tilec_buffer_read(device, NULL, to, 0, y, sizeof y);
    if (s) fail_msg("%s", tilec_last_error(w->context));
    for (int i = 0; i < N; i++) assert_true(y[i] == (float)(2 * i));
}

static int count_lines(World *w, const char *command) {
    FILE *f = popen(arena_printf(w->arena, "cd '%s' && %s", w->folder, command), "r");
    int lines = 0;
    assert_non_null(f);
    for (int c; (c = fgetc(f)) != EOF;) lines += c == '\n';
    pclose(f);
    return lines;
}

#define FAKE_CODE "printf '\\177ELFfake\\n'; cat; printf '\\000'"

static void machine_code_runs_and_is_kept(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    const FakeGpu *fake = open_fake();
    setenv("TILEC_PTXAS", program(w, "ptxas", "13.0.88", FAKE_CODE), 1);
    runs(w, "driver");
    assert_int_equal(fake->cubins(), 0);
    assert_int_equal(count_lines(w, "ls cache/*.ptx"), 1);
    runs(w, "ptxas");
    assert_int_equal(fake->cubins(), 1);
    assert_int_equal(count_lines(w, "ls cache/*.cubin"), 1);
    assert_int_equal(count_lines(w, "cat calls"), 1);
    runs(w, "auto");  // from the disk
    assert_int_equal(fake->cubins(), 2);
    assert_int_equal(count_lines(w, "cat calls"), 1);
    // A tool of another version may make better code.
    setenv("TILEC_PTXAS", program(w, "ptxas", "13.1.7", FAKE_CODE), 1);
    setenv("TILEC_PTX_COMPILER", "ptxas", 1);
    runs(w, NULL);
    assert_int_equal(fake->cubins(), 3);
    assert_int_equal(count_lines(w, "cat calls"), 2);
    assert_int_equal(count_lines(w, "ls cache/*.so 2>/dev/null"), 0);
    assert_int_equal(w->logged.size, 0);
}

static void logs(const World *w, const char *text) {
    const char *all = w->logged.size ? w->logged.text : "";
    if (!strstr(all, text)) fail_msg("expected '%s' in\n%s", text, all);
}

// If machine code cannot be made, the PTX is used.
static void ptx_is_the_way_back(void **state) {
    World *w = *state;
    if (!codegen_built()) return;
    const FakeGpu *fake = open_fake();
    setenv("TILEC_PTXAS", program(w, "ptxas", "13.0.88", ELF), 1);  // of another architecture
    runs(w, "ptxas");
    logs(w, "does not run the machine code (CUDA_ERROR_NO_BINARY_FOR_GPU): its PTX");
    assert_int_equal(fake->calls("cuModuleLoadDataEx"), 2);
    setenv("TILEC_PTXAS", program(w, "ptxas", "12.9.1", "echo 'ptxas fatal   : no' >&2"), 1);
    runs(w, "ptxas");
    logs(w, "1 scale: ptxas fatal   : no");
    setenv("TILEC_PTXAS", "/none/ptxas", 1);
    runs(w, "ptxas");
    logs(w, "needs ptxas that knows PTX");
    logs(w, "(/none/ptxas: no such program): TILEC_PTX_COMPILER or the context asks for it");
    assert_int_equal(fake->cubins(), 0);
}

static void wishes_are_checked(void **state) {
    World *w = *state;
    tilec_context_options o = {.size = sizeof o, .ptx_compiler = "nvcc"};
    assert_int_equal(tilec_context_create(&o, &w->context), TILEC_INVALID_ARGUMENT);
    assert_null(w->context);
    o = (tilec_context_options){.size = sizeof o, .compile_in_child = 7};
    assert_int_equal(tilec_context_create(&o, &w->context), TILEC_INVALID_ARGUMENT);
    assert_null(w->context);
    setenv("TILEC_PTX_COMPILER", "nvcc", 1);
    o = (tilec_context_options){.size = sizeof o, .user = w, .log = keep_log};
    assert_int_equal(tilec_context_create(&o, &w->context), TILEC_OK);
    logs(w, "TILEC_PTX_COMPILER is 'nvcc', expected one of driver, auto, ptxas and nvjitlink");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_tool_makes_code),
        TEST(spills_are_warned_of),
        TEST(what_it_says_is_told),
        TEST(places_have_an_order),
        TEST(missing_tools_are_named),
        TEST(real_tools),
        TEST(machine_code_runs_and_is_kept),
        TEST(ptx_is_the_way_back),
        TEST(wishes_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
