// Launch code against the interpreter: random grid and requires expressions give the same bits.
#include "compile/pipeline/launch_build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "compile/pipeline/compile.h"
#include "compile/pipeline/launch_guard.h"
#include "ir/interp/interp.h"

static uint64_t next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static const char *const leaves[] = {"M", "N", "n", "i64(u)", "7", "0", "-3", "i64(small)", "64"};

// An i64 expression; with `depth` 0 a leaf.
static void integer(StrBuf *b, uint64_t *r, int depth);

static void condition(StrBuf *b, uint64_t *r, int depth) {
    static const char *const compare[] = {"<", "<=", ">", ">=", "==", "!="};
    if (depth > 0 && next(r) % 3 == 0) {
        strbuf_add(b, STR("("));
        condition(b, r, depth - 1);
        strbuf_add(b, next(r) % 2 ? STR(" && ") : STR(" || "));
        condition(b, r, depth - 1);
        strbuf_add(b, STR(")"));
        return;
    }
    if (next(r) % 6 == 0) {
        strbuf_printf(b, "(scale * %llu.5 %s half / 0.25)", (unsigned long long)(next(r) % 9),
                      compare[next(r) % 4]);
        return;
    }
    strbuf_add(b, STR("("));
    integer(b, r, depth - 1);
    strbuf_printf(b, " %s ", compare[next(r) % 6]);
    integer(b, r, depth - 1);
    strbuf_add(b, STR(")"));
}

static void integer(StrBuf *b, uint64_t *r, int depth) {
    static const char *const binary[] = {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"};
    if (depth <= 0) {
        strbuf_add(b, str(leaves[next(r) % (sizeof leaves / sizeof *leaves)]));
        return;
    }
    switch (next(r) % 7) {
    case 0:
        strbuf_add(b, STR("select("));
        condition(b, r, depth - 1);
        break;
    case 1:
    case 2:
        strbuf_add(b, next(r) % 2 ? STR("min(") : STR("max("));
        integer(b, r, depth - 1);
        strbuf_add(b, STR(", "));
        integer(b, r, depth - 1);
        strbuf_add(b, STR(")"));
        return;
    case 3:
        strbuf_add(b, next(r) % 2 ? STR("(-") : STR("(~"));
        integer(b, r, depth - 1);
        strbuf_add(b, STR(")"));
        return;
    default: {
        size_t op = next(r) % 10;
        strbuf_add(b, STR("("));
        integer(b, r, depth - 1);
        strbuf_printf(b, " %s ", binary[op]);
        // A constant divisor of 0 is an error of its own; shifts take any count.
        if (op == 3 || op == 4)
            strbuf_add(b, STR("(N - M)"));
        else
            integer(b, r, depth - 1);
        strbuf_add(b, STR(")"));
        return;
    }
    }
    strbuf_add(b, STR(", "));
    integer(b, r, depth - 1);
    strbuf_add(b, STR(", "));
    integer(b, r, depth - 1);
    strbuf_add(b, STR(")"));
}

static Str make_source(Arena *arena, uint64_t *r) {
    StrBuf b = strbuf(arena);
    strbuf_add(&b, STR("kernel k(f32 x[M, N], i64 n, u32 u, i8 small, f32 scale, f16 half)\n"
                       "    requires "));
    condition(&b, r, 4);
    strbuf_add(&b, STR("\n    grid("));
    integer(&b, r, 4);
    strbuf_add(&b, STR(", "));
    integer(&b, r, 3);
    strbuf_add(&b, STR(")\n{\n    x[0, 0] = 1.0;\n}\n"));
    return strbuf_str(&b);
}

static void set_inputs(uint64_t *r, IrArg *args, LaunchInput *in) {
    memset(args, 0, 6 * sizeof *args);
    memset(in, 0, 6 * sizeof *in);
    args[0].extent[0] = in[0].extent[0] = (int64_t)(next(r) % 5000);
    args[0].extent[1] = in[0].extent[1] = (int64_t)(next(r) % 3 ? next(r) % 100 : 0);
    args[1].bits = in[1].scalar = next(r) << 33 ^ next(r);
    args[2].bits = in[2].scalar = next(r) & 0xffffffff;
    args[3].bits = in[3].scalar = next(r) & 0xff;
    args[4].bits = in[4].scalar =
        dtype_from_double(DTYPE_F32, (double)(next(r) % 1000) / 37 - 9, false);
    args[5].bits = in[5].scalar = next(r) % 12 ? next(r) & 0x7bff : 0x7e00;  // a NaN now and then
}

// One kernel on several inputs; also with the sections as the passes leave them.
static void check_kernel(const Compiled *c, uint64_t *r, const char *source) {
    Arena *arena = arena_create();
    IrInterp *interp = ir_interp_create(arena, c->func);
    const MetaVariant *v = &c->meta->variants[0];
    assert_true(launch_code_valid(&v->code, c->meta->arg_count));
    for (int round = 0; round < 8; round++) {
        IrArg args[6];
        LaunchInput in[6];
        uint64_t values[LAUNCH_CODE_MAX], expected[3];
        set_inputs(r, args, in);
        IrLaunch launch = {.args = args, .arg_count = 6, .grid = {1, 1, 1}};
        launch_code_run(&v->code, in, values);
        uint32_t requires = 0;
        for (size_t i = 0; i < c->func->sections.count; i++) {
            const IrSection *s = &c->func->sections.data[i];
            if (s->kind == IR_BODY) continue;
            uint32_t count = s->kind == IR_GRID ? 2 : 1;
            assert_true(ir_interp_section(interp, s, &launch, count, expected));
            for (uint32_t k = 0; k < count; k++) {
                uint64_t found =
                    s->kind == IR_GRID ? values[v->grid[k]] : values[v->requires[requires].value];
                if (found != expected[k])
                    fail_msg("found %llx, expected %llx in\n%s", (unsigned long long)found,
                             (unsigned long long)expected[k], source);
            }
            requires += s->kind == IR_REQUIRES;
        }
    }
    ir_interp_destroy(interp);
    arena_destroy(arena);
}

static void test_random(void **state) {
    (void)state;
    uint64_t r = 20261121;
    int checked = 0;
    for (int i = 0; i < 400; i++) {
        Arena *arena = arena_create();
        Str source = make_source(arena, &r);
        for (int plain = 0; plain < 2; plain++) {
            Unit *u = unit_load_text(STR("random.tile"), source);
            const FrontKernel *k = diags_errors(u->diags) ? NULL : unit_kernel(u, STR("k"));
            CompileOptions o = {.elaborate_only = plain != 0, .passes = {.verify = true}};
            const Compiled *c = k ? unit_compile(u, k, &(FrontSpec){0}, &o) : NULL;
            // A failure to compile must mean wrong source (a literal out of range, say), never a
            // refusal.
            StrBuf said = strbuf(arena);
            diags_text(u->diags, (DiagStyle){0}, &said);
            if (strstr(said.text, "computed by the launcher")) fail_msg("%s", said.text);
            if (c) check_kernel(c, &r, source.text);
            checked += c != NULL;
            unit_destroy(u);
        }
        arena_destroy(arena);
    }
    print_message("%d of 800 random kernels compiled and agreed\n", checked);
    assert_true(checked > 400);
}

static void test_refuses_loops(void **state) {
    (void)state;
    static const char source[] =
        "fn steps(n) {\n    var k = 0;\n    var m = n;\n    while (m > 1) {\n        m = m / 2;\n"
        "        k = k + 1;\n    }\n    return k;\n}\n"
        "kernel k(f32 x[N]) grid(steps(N)) {\n    x[0] = 1.0;\n}\n";
    Unit *u = unit_load_text(STR("loop.tile"), str(source));
    const FrontKernel *k = unit_kernel(u, STR("k"));
    assert_non_null(k);
    assert_null(unit_compile(u, k, &(FrontSpec){0}, NULL));
    assert_int_equal(diags_errors(u->diags), 1);
    assert_int_equal(diags_get(u->diags, 0)->code, DIAG_GRID);
    unit_destroy(u);
}

static void test_metadata(void **state) {
    (void)state;
    static const char source[] =
        "kernel k(type T, f16 a, *T p, strided T x[M, 8], T y[M, M], const B = 4)\n"
        "    requires noalias(x, y), M % B == 0 grid(cdiv(M, B)) {\n"
        "    y[0, 0] = x[0, 0] + load(p) * T(a);\n}\n";
    Unit *u = unit_load_text(STR("meta.tile"), str(source));
    FrontSpec spec = {0};
    IrBinding t = {.name = intern(u->names, STR("T")), .is_type = true, .type = DTYPE_F32};
    vec_push(u->arena, &spec.bindings, t);
    const FrontKernel *k = unit_kernel(u, STR("k"));
    const Compiled *c = k ? unit_compile(u, k, &spec, NULL) : NULL;
    assert_non_null(c);
    const MetaKernel *m = c->meta;
    assert_int_equal(m->arg_count, 4);
    assert_int_equal(m->args[0].kind, META_SCALAR);
    assert_int_equal(m->args[1].offset, 8);
    assert_true(m->args[1].read && !m->args[1].written);
    assert_true(m->args[2].strided && m->args[2].read && !m->args[2].written);
    assert_int_equal(m->args[2].dims[1].value, 8);
    assert_true(m->args[3].written && !m->args[3].read);
    assert_int_equal(m->args[3].dims[0].extent, m->args[3].dims[1].extent);
    assert_int_equal(m->variants[0].requires_count, 2);
    assert_true(str_equal(m->variants[0].requires[0].text, STR("noalias(x, y)")));
    assert_int_equal(m->size, 8 + 8 + 8 + 32 + 24);
    StrBuf b = strbuf(u->arena);
    meta_json(m, &b);
    assert_non_null(json_parse(u->arena, strbuf_str(&b), NULL));
    unit_destroy(u);
}

// ---- variants of GPUs ---------------------------------------------------------------------------

// Launches run guards: nothing is computed twice, and extents of one name are looked at once.
static void test_short(void **state) {
    (void)state;
    static const char source[] =
        "kernel k(f32 x[M, N], f32 y[M, N], f32 z[N, M]) grid(1) { z[0, 0] = x[0, 0] + y[0, 0]; }";
    Unit *u = unit_load_text(STR("short.tile"), str(source));
    const FrontKernel *k = unit_kernel(u, STR("k"));
    CompileOptions options = {.variants = VARIANTS_GPU};
    const Compiled *c = k ? unit_compile(u, k, &(FrontSpec){0}, &options) : NULL;
    assert_non_null(c);
    const LaunchCode *code = &c->meta->variants[c->meta->variant_count - 1].code;
    uint32_t extents = 0;
    for (uint32_t i = 0; i < code->count; i++) {
        extents += code->code[i].op == LAUNCH_ARG_EXTENT;
        for (uint32_t n = 0; n < i; n++)
            assert_memory_not_equal(&code->code[i], &code->code[n], sizeof code->code[n]);
    }
    assert_int_equal(extents, 2);
    unit_destroy(u);
}

// The last variant whose guard holds, as the runtime chooses; -1: one holds without those before.
static int chosen(const MetaKernel *m, const LaunchInput *in) {
    int last = 0;
    for (uint32_t i = 1; i < m->variant_count; i++) {
        uint64_t values[LAUNCH_CODE_MAX];
        assert_true(launch_code_valid(&m->variants[i].code, m->arg_count));
        launch_code_run(&m->variants[i].code, in, values);
        if (!values[m->variants[i].guard]) continue;
        if (last + 1 != (int)i) return -1;
        last = (int)i;
    }
    return last;
}

static void test_narrow(void **state) {
    (void)state;
    enum { GENERAL, NARROW, APART, WIDE };
    static const char source[] =
        "kernel k(f32 x[A, B, C], strided f32 y[M, N]) grid(1) {\n    y[0, 0] = x[0, 0, 0];\n}\n";
    static const struct {
        int64_t a, b, c, m, n, sm, sn;  // extents and strides
        int variant;
    } cases[] = {
        {4, 4, 4, 4, 4, 4, 1, WIDE},
        {4, 4, 3, 4, 4, 4, 1, APART},
        {0, 0, 0, 0, 0, 0, 0, WIDE},
        {1 << 10, 1 << 10, (1 << 11) - 4, 1, 1, 1, 1, WIDE},
        {1 << 10, 1 << 10, 1 << 11, 1, 1, 1, 1, GENERAL},  // 2^31 elements
        {1 << 11, 1 << 10, 1 << 11, 1, 1, 1, 1, GENERAL},  // 2^32, no bit of which is in the low 32
        {1, 1, INT32_MAX - 3, 1, 1, 1, 1, WIDE},
        {1, 1, INT64_C(1) << 31, 1, 1, 1, 1, GENERAL},
        {0, INT64_C(1) << 40, 4, 1, 1, 1, 1, GENERAL},  // no element, but an extent of 40 bits
        {0, INT64_C(1) << 32, INT64_C(1) << 32, 1, 1, 1, 1, GENERAL},  // the product wraps to 0
        {INT64_C(1) << 22, INT64_C(1) << 21, INT64_C(1) << 21, 1, 1, 1, 1, GENERAL},  // 2^64
        {1, 1, 4, 2, 2, INT32_MAX - 1, 1, WIDE},
        {1, 1, 4, 2, 2, INT32_MAX, 1, GENERAL},
        {1, 1, 4, 1, 2, INT32_MAX, 1, WIDE},
        {1, 1, 4, 2, 1, INT64_C(1) << 31, 1, GENERAL},
        {1, 1, 4, 3, 2, -8, 1, GENERAL},
        {1, 1, 4, 1 << 16, 1 << 16, 1 << 16, 1, GENERAL},
        {1, 1, 4, 1 << 16, 1 << 15, 1 << 15, 1, WIDE},
        {1, 1, 4, 1 << 30, 1 << 30, 0, 1, WIDE},  // rows that are one
    };
    Unit *u = unit_load_text(STR("narrow.tile"), str(source));
    const FrontKernel *k = unit_kernel(u, STR("k"));
    CompileOptions options = {.variants = VARIANTS_GPU};
    const Compiled *c = k ? unit_compile(u, k, &(FrontSpec){0}, &options) : NULL;
    assert_non_null(c);
    assert_int_equal(c->meta->variant_count, 4);
    assert_int_equal(c->meta->variants[NARROW].facts, FACT_NARROW);
    assert_int_equal(c->meta->variants[APART].facts, FACT_NARROW | FACT_DISJOINT);
    assert_int_equal(c->meta->variants[WIDE].facts, FACT_NARROW | FACT_DISJOINT | FACT_WIDE);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        LaunchInput in[2] = {
            {.address = 4096,
             .first = 4096,
             .last = 4096 + 64,
             .extent = {cases[i].a, cases[i].b, cases[i].c}},
            {.address = 4096 + 64,
             .first = 4096 + 64,
             .last = 4096 + 128,
             .extent = {cases[i].m, cases[i].n},
             .stride = {cases[i].sm, cases[i].sn}},
        };
        int found = chosen(c->meta, in);
        if (found != cases[i].variant)
            fail_msg("case %zu: variant %d, expected %d", i, found, cases[i].variant);
    }
    // y over x: what rests on arrays that are apart does not hold, however well they are aligned.
    LaunchInput over[2] = {
        {.address = 4096, .first = 4096, .last = 4160, .extent = {1, 4, 4}},
        {.address = 4144, .first = 4144, .last = 4208, .extent = {4, 4}, .stride = {4, 1}}};
    assert_int_equal(chosen(c->meta, over), NARROW);
    over[0].last = 4144;
    assert_int_equal(chosen(c->meta, over), WIDE);
    unit_destroy(u);
}

// The guard of GPUs with buffers: every view ends within 2^31 bytes.
static void test_near(void **state) {
    (void)state;
    enum { GENERAL, WIDE = 3, NEAR };
    static const char source[] =
        "kernel k(f16 x[A, B], strided f32 y[M, N]) grid(1) {\n    y[0, 0] = f32(x[0, 0]);\n}\n";
    static const struct {
        int64_t a, b, m, n, sm;
        int variant;
    } cases[] = {
        {8, 8, 4, 4, 4, NEAR},
        {1 << 10, 1 << 20, 4, 4, 4, NEAR},              // 2^31 bytes
        {(1 << 10) + 1, 1 << 20, 4, 4, 4, WIDE},        // and some
        {8, 8, 1 << 15, 1 << 14, 1 << 14, NEAR},        // 2^29 elements of 4 bytes
        {8, 8, 1 << 15, 1 << 14, (1 << 14) + 4, WIDE},  // further apart
        {1 << 16, 1 << 15, 4, 4, 4, GENERAL},           // 2^31 elements
    };
    Unit *u = unit_load_text(STR("near.tile"), str(source));
    const FrontKernel *k = unit_kernel(u, STR("k"));
    CompileOptions options = {.variants = VARIANTS_BUFFERS};
    const Compiled *c = k ? unit_compile(u, k, &(FrontSpec){0}, &options) : NULL;
    assert_non_null(c);
    assert_int_equal(c->meta->variant_count, 5);
    assert_int_equal(c->meta->variants[NEAR].facts,
                     FACT_NARROW | FACT_DISJOINT | FACT_WIDE | FACT_NEAR);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        LaunchInput in[2] = {
            {.address = 4096, .first = 4096, .last = 4160, .extent = {cases[i].a, cases[i].b}},
            {.address = 4160,
             .first = 4160,
             .last = 4224,
             .extent = {cases[i].m, cases[i].n},
             .stride = {cases[i].sm, 1}},
        };
        int found = chosen(c->meta, in);
        if (found != cases[i].variant)
            fail_msg("case %zu: variant %d, expected %d", i, found, cases[i].variant);
    }
    unit_destroy(u);
}

// The guard of maps, for the views of the first two arguments.
static void test_mapped(void **state) {
    (void)state;
    enum { APART = 2, WIDE, MAPPED };
    static const char source[] =
        "kernel k(f16 x[A, K, 32], strided f16 y[M, K], f16 z[N]) grid(1) {\n    z[0] = x[0, 0, "
        "0];\n"
        "}\n";
    static const struct {
        int64_t a, k, m, sm, sk, n;  // extents and strides
        int variant;
    } cases[] = {
        {4, 4, 4, 8, 1, 8, MAPPED}, {4, 4, 4, 8, 1, 4, APART},
        {4, 4, 4, 4, 1, 8, WIDE},   // rows of 8 bytes
        {4, 4, 4, 12, 1, 8, WIDE},  // of 24
        {4, 4, 4, 8, 2, 8, WIDE},   // columns
        {4, 4, 4, 0, 1, 8, WIDE},   // one row
        {0, 4, 4, 8, 1, 8, WIDE},   {4, 0, 4, 8, 1, 8, WIDE},
        {4, 4, 0, 8, 1, 8, WIDE},   {4, 4, 4, 8, 1, 0, MAPPED},  // an array without a map
        {1, 1, 1, 8, 1, 8, MAPPED},
    };
    Unit *u = unit_load_text(STR("mapped.tile"), str(source));
    const FrontKernel *k = unit_kernel(u, STR("k"));
    const Compiled *c = k ? unit_compile(u, k, &(FrontSpec){0}, NULL) : NULL;
    assert_non_null(c);
    launch_add_gpu_variants(u->arena, c->meta, (LaunchGpuFacts){.mapped = 3});
    assert_int_equal(c->meta->variant_count, 5);
    assert_int_equal(c->meta->variants[MAPPED].facts,
                     FACT_NARROW | FACT_DISJOINT | FACT_WIDE | FACT_MAPPED);
    assert_int_equal(launch_likely_variant(c->meta), MAPPED);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        LaunchInput in[3] = {
            {.address = 4096, .first = 4096, .last = 8192, .extent = {cases[i].a, cases[i].k, 32}},
            {.address = 8192,
             .first = 8192,
             .last = 9000,
             .extent = {cases[i].m, cases[i].k},
             .stride = {cases[i].sm, cases[i].sk}},
            {.address = 9216, .first = 9216, .last = 9300, .extent = {cases[i].n}},
        };
        int found = chosen(c->meta, in);
        if (found != cases[i].variant)
            fail_msg("case %zu: variant %d, expected %d", i, found, cases[i].variant);
    }
    unit_destroy(u);
}

// Maps copy nothing that the kernel writes by another argument, which may be the same array. A
// launch of that variant has no more programs than run at once.
static void test_persistent(void **state) {
    (void)state;
    enum { APART = 2, WIDE, MAPPED, UNITS = 4 };
    static const char source[] =
        "kernel k(f16 x[M, K], f16 z[M, K]) grid(M, K) {\n"
        "    z[program(0), program(1)] = x[program(0), program(1)];\n}\n";
    static const struct {
        int64_t m, k;
        uint64_t address;  // of z
        int variant;
        uint64_t grid;
    } cases[] = {
        {16, 8, 8192, MAPPED, UNITS},         {1, 2, 8192, APART, 0},  // rows of 4 bytes
        {1, 8, 8192, MAPPED, UNITS},          {16, 8, 4096, WIDE, 0},  // the same array
        {1 << 20, 1 << 12, 1ull << 40, 0, 0},                          // too many positions
    };
    Unit *u = unit_load_text(STR("persistent.tile"), str(source));
    const FrontKernel *k = unit_kernel(u, STR("k"));
    const Compiled *c = k ? unit_compile(u, k, &(FrontSpec){0}, NULL) : NULL;
    assert_non_null(c);
    launch_add_gpu_variants(u->arena, c->meta, (LaunchGpuFacts){.mapped = 1, .persistent = true});
    assert_int_equal(c->meta->variant_count, 5);
    const MetaVariant *v = &c->meta->variants[MAPPED];
    assert_true(v->facts & FACT_PERSISTENT);
    assert_false(c->meta->variants[WIDE].facts & FACT_PERSISTENT);
    assert_int_equal(v->grid_rank, 1);
    assert_int_equal(c->meta->variants[WIDE].grid_rank, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t bytes = (uint64_t)(cases[i].m * cases[i].k * 2), z = cases[i].address;
        int64_t m = cases[i].m, n = cases[i].k;
        LaunchInput in[2] = {
            {.address = 4096, .first = 4096, .last = 4096 + bytes, .extent = {m, n}},
            {.address = z, .first = z, .last = z + bytes, .extent = {m, n}}};
        int found = chosen(c->meta, in);
        if (found != cases[i].variant)
            fail_msg("case %zu: variant %d, expected %d", i, found, cases[i].variant);
        if (found != MAPPED) continue;
        uint64_t values[LAUNCH_CODE_MAX];
        launch_code_run_with(&v->code, in, UNITS, values);
        assert_int_equal(values[v->grid[0]], cases[i].grid);
        launch_code_run_with(&v->code, in, 1000, values);
        assert_int_equal(values[v->grid[0]], m * n);
    }
    unit_destroy(u);
}

static uint32_t variants_with_maps(const char *params, uint64_t mapped) {
    char source[128];
    snprintf(source, sizeof source, "kernel k(%s) grid(1) {\n}\n", params);
    Unit *u = unit_load_text(STR("maps.tile"), str(source));
    const FrontKernel *k = unit_kernel(u, STR("k"));
    const Compiled *c = k ? unit_compile(u, k, &(FrontSpec){0}, NULL) : NULL;
    assert_non_null(c);
    launch_add_gpu_variants(u->arena, c->meta, (LaunchGpuFacts){.mapped = mapped});
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->meta->variant_count; i++)
        count += (c->meta->variants[i].facts & FACT_MAPPED) != 0;
    if (count) assert_true(c->meta->variants[c->meta->variant_count - 1].facts & FACT_MAPPED);
    unit_destroy(u);
    return count;
}

// No maps wanted, or of what they cannot describe: no variant. A guard that always
// holds has one all the same, for devices without maps.
static void test_no_maps(void **state) {
    (void)state;
    static const struct {
        const char *params;
        uint64_t mapped;
        uint32_t variants;
    } cases[] = {{"f16 x[M, K]", 0, 0},       {"f16 x[M, K]", 1, 1}, {"f16 x[M, 8]", 1, 1},
                 {"f16 x[M, 12]", 1, 0},      {"f16 x[12]", 1, 1},   {"f16 x[16, 16]", 1, 1},
                 {"f16 x[0, 16]", 1, 0},      {"i4 x[M, K]", 1, 0},  {"*f16 x", 1, 0},
                 {"f16 x[M, K], i32 n", 2, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (variants_with_maps(cases[i].params, cases[i].mapped) != cases[i].variants)
            fail_msg("case %zu", i);
}

// The guard of the kernel's own grid: some programs, and not too many.
static void test_few_programs(void **state) {
    (void)state;
    enum { GENERAL, NARROW };
    static const struct {
        int64_t programs;
        int variant;
    } cases[] = {{-1, GENERAL},
                 {0, GENERAL},
                 {1, NARROW},
                 {LIMIT_NARROW_GRID, NARROW},
                 {LIMIT_NARROW_GRID + 1, GENERAL},
                 {LIMIT_GRID, GENERAL}};
    Unit *u = unit_load_text(STR("few.tile"), STR("kernel k(i64 n) grid(1, n) {\n}\n"));
    const FrontKernel *k = unit_kernel(u, STR("k"));
    CompileOptions options = {.variants = VARIANTS_GPU};
    const Compiled *c = k ? unit_compile(u, k, &(FrontSpec){0}, &options) : NULL;
    assert_non_null(c);
    assert_int_equal(c->meta->variants[1].facts & FACT_NARROW, FACT_NARROW);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        LaunchInput in = {.scalar = (uint64_t)cases[i].programs};
        assert_int_equal(chosen(c->meta, &in), cases[i].variant);
    }
    unit_destroy(u);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),     cmocka_unit_test(test_refuses_loops),
        cmocka_unit_test(test_metadata),   cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_near),       cmocka_unit_test(test_few_programs),
        cmocka_unit_test(test_short),      cmocka_unit_test(test_mapped),
        cmocka_unit_test(test_persistent), cmocka_unit_test(test_no_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
