// Kernels of a few lines that become very long code: each compiles, or is refused, in bounded time.
//
// The bound is on the time of processors, so that a loaded machine changes little. On an idle one
// the longest takes 6.4 seconds (`loops` on cpu), most take less than 3. A quick run does one cell
// of the table, TILEC_TEST_WHOLE=1 all of them.
#define _GNU_SOURCE  // setenv, rusage
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tilec/tilec.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "base/os/os.h"
#include "compile/pipeline/compile.h"
#include "tests/support/slice.h"

enum { SECONDS_MOST = 25, SECONDS_BELOW = 10 };  // of processors; of code just below the limit

typedef struct Program {
    const char *name, *text;
    const char *refused;  // on GPUs; NULL: there is code
    bool on_cpu;          // refused there, too
    bool below;           // the limit from which code counts as long
} Program;

#define FOUR(text) text text text text
#define UNROLLED(statement) "for const k in 0 .. 5 for const j in 0 .. 1000 " statement
// All numbers below 1000 or 2000, in an order of which no loop can be made (passes/roll.c).
#define MIXED(i) "(" i " * 389 % 1000)"
#define MIXED2(i) "(" i " * 389 % 2000)"

static const Program programs[] = {
    {"dots",
     "kernel dots(f16 a[M, K], f16 b[K, N], f32 c[M, N]) grid(1) { var s = zeros(f32, 64, 64);"
     "for const k in 0 .. 64 s = dot(a[0 +: 64, k * 64 +: 64], b[k * 64 +: 64, 0 +: 64], s);"
     "c[0 +: 64, 0 +: 64] = s; }",
     NULL, false, false},
    {"sines",
     "kernel sines(f32 x[N], f32 y[N]) grid(1) { var v = x[0 +: 1024];"
     "for const k in 0 .. 64 { v = sin(v); v = pow(v, 1.5 + v); } y[0 +: 1024] = v; }",
     NULL, false, false},
    {"loads",
     "kernel loads(f32 x[N], f32 y[N]) grid(1) { var s = zeros(f32, 16);" UNROLLED(
         "s = s + x[k * 16000 + " MIXED("j") " * 16 +: 16];") "y[0 +: 16] = s; }",
     NULL, false, false},
    {"scalars",
     "kernel scalars(f32 x[N], f32 y[N]) grid(1) { var s = x[0];" UNROLLED(
         "s = s + x[program(0) + k * 1000 + " MIXED("j") "];") "y[0] = s; }",
     NULL, false, false},
    {"chain",
     "kernel chain(i32 x[N], i32 y[N]) grid(1) { var s = x[0];" UNROLLED(
         "s = s + x[program(0) + k * 1000 + " MIXED("j") "];") "y[0] = s; }",
     NULL, false, false},
    {"stores",
     "kernel stores(f32 x[N], f32 y[N]) grid(1) {" UNROLLED("y[k * 16000 + " MIXED(
         "j") " * 16 +: 16] = x[k * 16000 + " MIXED("j") " * 16 +: 16];") "}",
     NULL, false, false},
    {"branches",
     "kernel branches(f32 x[N], f32 y[N]) grid(1) {"
     "for const k in 0 .. 2000 { let m = " MIXED2("k") ";"
                                                       "if x[m] > 0 { y[m] = x[m + 1]; } } }",
     NULL, false, false},
    {"asserts",
     "kernel asserts(f32 x[N], f32 y[N]) grid(1) {"
     "for const k in 0 .. 2000 { let m = " MIXED2(
         "k") ";"
              "assert(x[m] > 0, \"positive\"); y[m] = x[m]; } }",
     NULL, false, false},
    {"sums",
     "kernel sums(f32 x[N], f32 y[N]) grid(1) {"
     "for const k in 0 .. 1000 y[" MIXED("k") "] = sum(x[k * 1024 +: 1024]); }",
     NULL, false, false},
    {"large",
     "kernel large(f16 a[M, K], f16 b[K, N], f32 c[M, N]) grid(1) {"
     "c[0 +: 1024, 0 +: 1024] = dot(a[0 +: 1024, 0 +: 1024], b[0 +: 1024, 0 +: 1024]); }",
     "registers of each of its", false, false},
    {"prints", NULL, "bytes of shared memory", false, false},  // of 3,000 tiles in one line
    {"loops",
     "kernel loops(f32 x[N], f32 y[N]) grid(1) { for const k in 0 .. 1000 {"
     "var s = zeros(f32, 128); for i in 0 .. N step 128 s = s + x[i + k +: 128];"
     "y[" MIXED("k") " * 128 +: 128] = s; } }",
     NULL, false, false},
    {"nest",
     "kernel nest(f32 x[N], f32 y[N]) grid(1) { var v = x[0 +: 64];" FOUR(FOUR(
         "for i in 0 .. N { v = v + x[i +: 64];")) FOUR("for i in 0 .. N { v = v + x[i +: 64];")
         FOUR(FOUR("}")) FOUR("}") "y[0 +: 64] = v; }",
     NULL, false, false},
    {"barriers",
     "kernel barriers(f32 x[N], f32 y[N]) grid(1) {" FOUR(
         FOUR("for i in 0 .. N { y[i +: 64] = x[i +: 64] + sum(x[i +: 64]);"))
         FOUR(FOUR("for i in 0 .. N { y[i +: 64] = x[i +: 64] + sum(x[i +: 64]);")) FOUR(FOUR("}"))
             FOUR(FOUR("}")) "}",
     NULL, false, false},
    // On RDNA, 64 and 128 elements a thread.
    {"powers",
     "kernel powers(f8e4m3 x[N, M], f8e4m3 y[N, M], f8e4m3 z[N, M]) grid(1) {"
     "z[0 +: 64, 0 +: 64] = pow(x[0 +: 64, 0 +: 64], y[0 +: 64, 0 +: 64]); }"
     "tune powers { warps: 2; }",
     NULL, false, true},
    {"remainders",
     "kernel remainders(f8e4m3 x[N, M], f8e4m3 y[N, M], f8e4m3 z[N, M]) grid(1) {"
     "z[0 +: 64, 0 +: 64] = x[0 +: 64, 0 +: 64] % y[0 +: 64, 0 +: 64]; }"
     "tune remainders { warps: 1; }",
     NULL, false, true},
    {"longest",
     "kernel longest(f32 x[N], f32 y[N]) grid(1) {"
     "for const k in 0 .. 16 for const j in 0 .. 4095 y[k * 4096 + j * 389 % 4096] = x[k * 4096 + "
     "j + 1]; }",
     "'longest' is too long", true, false},
    // Loops are made of these.
    {"elements",
     "kernel elements(f32 x[N], f32 y[N], i64 n) grid(1) { var v = x[0 +: 8];"
     "for const i in 0 .. 4096 { v[(n + i) % 8] += i; } y[0 +: 8] = v; }",
     NULL, false, true},
    {"rows",
     "kernel rows(f32 x[N, M], f32 y[N, M], i64 n) grid(1) { var v = x[0 +: 128, 0 +: 128];"
     "for const i in 0 .. 128 { v[(n + i) % 128, :] = v[(n + i + 1) % 128, :] * 2; }"
     "y[0 +: 128, 0 +: 128] = v; }",
     NULL, false, true},
    {"products", NULL, NULL, false, true},  // a sum of 20,000 of them in one line
    {"lines", "kernel lines(f32 x[N]) grid(1) { for const i in 0 .. 4000 print(x[i]); }", NULL,
     false, true},
    {"many_dots",
     "kernel many_dots(f16 a[M, K], f16 b[K, N], f32 c[M, N]) grid(1) {"
     "var s = zeros(f32, 64, 64); for const k in 0 .. 512"
     " s = dot(a[0 +: 64, k * 64 +: 64], b[k * 64 +: 64, 0 +: 64], s);"
     "c[0 +: 64, 0 +: 64] = s; }",
     NULL, false, true},
    {"tile_asserts",
     "kernel tile_asserts(f32 x[N], f32 y[N]) grid(1) { for const k in 0 .. 1000"
     " assert(x[k * 64 +: 64] > 0, \"positive\"); }",
     NULL, false, true},
    {"atomics",
     "kernel atomics(f16 x[N], f16 y[N]) grid(1) { for const k in 0 .. 500"
     " atomic_add(y[k * 64 +: 64], x[k * 64 +: 64]); }",
     NULL, false, true},
    {"quotients",
     "kernel quotients(i64 x[N], i64 y[N]) grid(1) { for const k in 0 .. 500"
     " y[k * 64 +: 64] = x[k * 64 +: 64] / x[k * 64 + 7 +: 64]; }",
     NULL, false, true},
};

static const char *const devices[] = {"cpu",        "sim:sm_80",   "sim:sm_90",
                                      "sim:gfx942", "sim:gfx1100", "sim:gfx1201"};

enum {
    PROGRAMS = sizeof programs / sizeof *programs,
    DEVICES = sizeof devices / sizeof *devices,
    CELLS = PROGRAMS * DEVICES,
};

static const char *products_of(Arena *arena) {
    enum { PRODUCTS = 20000 };
    StrBuf b = strbuf(arena);
    strbuf_printf(&b, "kernel products(f32 x[N], f32 y[N]) grid(1) { y[0] = x[0]");
    for (int i = 0; i < PRODUCTS; i++) strbuf_printf(&b, " + x[%d] * x[%d]", i, i + 1);
    strbuf_printf(&b, "; }");
    return b.text;
}

static const char *text_of(Arena *arena, const Program *p) {
    enum { TILES = 3000 };
    if (p->text) return p->text;
    if (strcmp(p->name, "products") == 0) return products_of(arena);
    StrBuf b = strbuf(arena);
    strbuf_printf(&b, "kernel prints(f32 x[N]) grid(1) {");
    for (int i = 0; i < TILES; i++) strbuf_printf(&b, "let v%d = x[%d +: 64] * 2;", i, i * 64);
    for (int i = 0; i < TILES; i++) strbuf_printf(&b, "%sv%d", i ? ", " : "print(", i);
    strbuf_printf(&b, "); }");
    return b.text;
}

static double seconds_of(int who) {
    struct rusage u;
    assert_int_equal(getrusage(who, &u), 0);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

// AMD's code reaches across 128 KiB by a jump to a register. It is compiled, and the warp machine
// does not run it.
static bool jumps_far(tilec_context *c, tilec_status s) {
    return s == TILEC_UNSUPPORTED && strstr(tilec_last_error(c), "'s_setpc_b64") &&
           strstr(tilec_last_error(c), "the simulated processor has no such instruction");
}

static void expect_refused(tilec_context *c, const Program *p, bool gpu, tilec_status s) {
    if (jumps_far(c, s)) {
        print_message("%s: compiled; the simulator has no jump to a register\n", p->name);
        return;
    }
    if (!p->refused || (!gpu && !p->on_cpu)) fail_msg("%s: %s", p->name, tilec_last_error(c));
    assert_int_equal(s, TILEC_UNSUPPORTED);
    if (!strstr(tilec_last_error(c), p->refused)) fail_msg("%s", tilec_last_error(c));
}

static void compile_cell(const Program *p, const char *device) {
    Arena *arena = arena_create();
    tilec_context_options o = {.size = sizeof o, .cache_folder = ""};
    tilec_context *c;
    tilec_device *d;
    tilec_kernel *k = NULL;
    bool gpu = strcmp(device, "cpu") != 0;
    double before = seconds_of(RUSAGE_SELF);
    const char *text = text_of(arena, p);
    assert_int_equal(tilec_context_create(&o, &c), TILEC_OK);
    assert_int_equal(tilec_device_open(c, device, &d), TILEC_OK);
    tilec_status s = tilec_kernel_from_source(c, d, "k.tile", text, strlen(text), NULL, NULL, &k);
    if (s) expect_refused(c, p, gpu, s);
    if (!s && p->refused && (gpu || p->on_cpu))
        fail_msg("%s is not refused on %s", p->name, device);
    double took = seconds_of(RUSAGE_SELF) - before;
    print_message("%s on %s: %.1f s\n", p->name, device, took);
    if (took > (double)(p->below ? SECONDS_BELOW : SECONDS_MOST))
        fail_msg("%s on %s takes %.1f s", p->name, device, took);
    tilec_context_destroy(c);
    arena_destroy(arena);
}

#ifdef TEST_CODEGEN
static const bool has_codegen = true;
#else
static const bool has_codegen = false;
#endif

static void long_code_takes_bounded_time(void **state) {
    const char *whole = os_env("TILEC_TEST_WHOLE");
    (void)state;
    for (uint32_t i = 0; has_codegen && i < CELLS; i++)
        if ((whole && whole[0]) || slice_has(i * UINT64_C(17), CELLS))
            compile_cell(&programs[i / DEVICES], devices[i % DEVICES]);
    if (!has_codegen) {
        print_message("skipped: there is no code generator\n");
        skip();
    }
}

// A loop carries 22 tiles of 1024 registers of each thread and swaps them: more than a thread has
// memory for.
static void what_no_memory_holds_is_refused(void **state) {
    enum { TILES = 22, SIZE = 131072 };
    const char *whole = os_env("TILEC_TEST_WHOLE");
    (void)state;
    if (!has_codegen || !((whole && whole[0]) || slice_has(CELLS, CELLS))) return;
    Arena *arena = arena_create();
    StrBuf b = strbuf(arena);
    strbuf_printf(&b, "kernel deep(f32 x[N], f32 y[N]) grid(1) {");
    for (int i = 0; i < TILES; i++) strbuf_printf(&b, "var v%d = x[%d +: %d];", i, i * SIZE, SIZE);
    strbuf_printf(&b, "for i in 0 .. N { let first = v0; ");
    for (int i = 1; i < TILES; i++) strbuf_printf(&b, "v%d = v%d; ", i - 1, i);
    strbuf_printf(&b, "v%d = first; } y[0 +: %d] = v0; }", TILES - 1, SIZE);
    const Program deep = {"deep", b.text,
                          "the values of a thread fit neither registers nor its own memory", false,
                          false};
    compile_cell(&deep, "sim:gfx1100");
    arena_destroy(arena);
}

// ---- a limit ------------------------------------------------------------------------------------

typedef struct World {
    Unit *unit;
    Machine machine;
    CompileOptions compile;
} World;

static int set_up(void **state) {
    static const char text[] = "kernel k(f32 x[N]) grid(1) { x[0 +: 16] = x[16 +: 16]; }";
    World *w = calloc(1, sizeof *w);
    w->unit = unit_load_text(STR("k.tile"), str(text));
    w->machine = machine_of_cpu((CpuTarget){.level = CPU_X86_64_V3});
    w->compile = (CompileOptions){.passes = {.machine = &w->machine}, .variants = VARIANTS_CPU};
    *state = w;
    return 0;
}

static int tear_down(void **state) {
    World *w = *state;
    unit_destroy(w->unit);
    free(w);
    unsetenv("TILEC_COMPILE_SECONDS");
    return 0;
}

static const Compiled *compile(World *w) {
    FrontSpec spec = {0};
    return unit_compile(w->unit, unit_kernel(w->unit, STR("k")), &spec, &w->compile);
}

static void expect(const World *w, const char *what) {
    assert_int_equal(diags_errors(w->unit->diags), 1);
    const Diag *d = diags_get(w->unit->diags, 0);
    assert_int_equal(d->code, DIAG_LIMIT);
    assert_string_equal(d->text.text, what);
    assert_true(d->help.size > 0);
}

static void passes_look_at_the_time(void **state) {
    World *w = *state;
    unit_begin(w->unit, 3600);
    const Compiled *c = compile(w);
    assert_non_null(c);
    w->unit->limit.end = 1;
    CodeOptions o = {.target.cpu = {.level = CPU_X86_64_V3}};
    assert_false(code_lower(w->unit, c, &o, NULL));
    expect(w, "compiling 'k' took more than 3600 seconds (in the pass 'roll')");
}

static void so_does_who_elaborates(void **state) {
    World *w = *state;
    unit_begin(w->unit, 1);
    w->unit->limit.end = 1;
    assert_null(compile(w));
    expect(w, "compiling 'k' took more than 1 second (in the front end)");
}

static void seconds_are_checked(void **state) {
    static const char *const wrong[] = {"0", "-1", "1.5", "5 s", "86401", "99999999999999999999",
                                        ""};
    unsigned seconds = 7;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(compile_seconds_parse(str(wrong[i]), &seconds));
    assert_int_equal(seconds, 7);
    assert_true(compile_seconds_parse(STR("86400"), &seconds));
    assert_int_equal(seconds, 86400);
}

static tilec_status make(tilec_context *c, const char *text, tilec_kernel **k) {
    tilec_device *d;
    assert_int_equal(tilec_device_open(c, "interp", &d), TILEC_OK);
    return tilec_kernel_from_source(c, d, "k.tile", text, strlen(text), NULL, NULL, k);
}

static void contexts_take_it_from_the_environment(void **state) {
    static const char small[] = "kernel k(f32 x[N]) grid(1) { x[0] = 1; }";
    tilec_context_options o = {.size = sizeof o, .compile_seconds = 86401};
    tilec_context *c = NULL;
    tilec_kernel *k;
    (void)state;
    assert_int_equal(tilec_context_create(&o, &c), TILEC_INVALID_ARGUMENT);
    setenv("TILEC_COMPILE_SECONDS", "soon", 1);
    assert_int_equal(tilec_context_create(NULL, &c), TILEC_OK);
    assert_int_equal(make(c, small, &k), TILEC_INVALID_ARGUMENT);
    assert_string_equal(
        tilec_last_error(c),
        "TILEC_COMPILE_SECONDS is 'soon', expected a number of seconds from 1 to 86400");
    tilec_context_destroy(c);
    o.compile_seconds = 60;  // comes first
    assert_int_equal(tilec_context_create(&o, &c), TILEC_OK);
    assert_int_equal(make(c, small, &k), TILEC_OK);
    tilec_context_destroy(c);
}

// Passes of this kernel, then LLVM's, take seconds: wherever the limit ends it, nothing is left.
static void a_limit_ends_a_compilation_in_order(void **state) {
    (void)state;
#ifdef TEST_CODEGEN
    static const char small[] = "kernel k(f32 x[N]) grid(1) { x[0] = 1; }";
    tilec_context_options o = {.size = sizeof o, .cache_folder = "", .compile_seconds = 1};
    tilec_context *c;
    tilec_device *d;
    tilec_kernel *k = NULL;
    const char *text = programs[5].text;
    assert_int_equal(tilec_context_create(&o, &c), TILEC_OK);
    assert_int_equal(tilec_device_open(c, "sim:gfx942", &d), TILEC_OK);
    assert_int_equal(tilec_kernel_from_source(c, d, "k", text, strlen(text), NULL, NULL, &k),
                     TILEC_UNSUPPORTED);
    assert_null(k);
    assert_non_null(strstr(tilec_last_error(c), "compiling 'stores' took more than 1 second (in "));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(make(c, small, &k), TILEC_OK);
    tilec_context_destroy(c);
#else
    skip();
#endif
}

#define LIMIT(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_no_memory_holds_is_refused),
        cmocka_unit_test(long_code_takes_bounded_time),
        LIMIT(passes_look_at_the_time),
        LIMIT(so_does_who_elaborates),
        LIMIT(seconds_are_checked),
        LIMIT(contexts_take_it_from_the_environment),
        cmocka_unit_test(a_limit_ends_a_compilation_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
