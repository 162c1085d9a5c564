// Texts that are wrong: each named with its line; and texts that are rubbish, which end in a
// program or in diagnostics, never in a crash.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/warp.h"

static void refused(const char *body, const char *message) {
    Arena *arena = arena_create();
    Str said = warp_refused(arena, warp_kernel(arena, "sm_80", body));
    if (!strstr(said.text, message)) fail_msg("%s: %s", body, said.text);
    assert_non_null(strstr(said.text, "k.ptx:"));
    arena_destroy(arena);
}

static void test_refused(void **state) {
    (void)state;
    refused("frobnicate.b32 %r0, %r1;", "unknown instruction 'frobnicate.b32'");
    refused("add.strange.u32 %r0, %r1, %r2;", "modifier '.strange' is not supported");
    refused("cvt.pack.sat.u8.s32.b32 %r0, %r1, %r2, %r3;",
            "'cvt.pack.sat.u8.s32.b32' is not supported");
    refused("mul.f16x3 %r0, %r1, %r2;", "has no type");
    refused("add.u32 %r0, %r1;", "too few operands");
    refused("add.u32 %r0, %r1, %r2, %r3;", "too many operands");
    refused("add.u32 %r0, %r1, %rd2;", "does not hold a .u32");
    refused("add.u32 %r0, %r1, %zz;", "'%zz' is not declared");
    refused("bra NOWHERE;", "label 'NOWHERE' is not defined");
    refused("A:\nA:", "defined twice");
    refused("{ A: }\nbra A;", "label 'A' is not defined");
    refused("@%r1 add.u32 %r0, %r1, %r2;", "is not a predicate");
    refused("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r0,%r1}, {%r2}, {%r3}, {%r4,%r5};",
            "is not supported");
    refused(
        "mma.sync.aligned.m16n8k16.row.col.f32 {%r0,%r1,%r2,%r3}, {%r4,%r5,%r6,%r7}, {%r8,%r9}, "
        "{%r0,%r1,%r2,%r3};",
        "is not supported");
    refused("ld.global.v2.u32 {%r0, %rd0}, [%rd1];", "registers of different sizes");
    refused("atom.global.add.u32 %rd0, [%rd1], %r0;", "registers of different sizes");
    refused("{ .reg .b128 %q<3>; atom.global.add.b128 %q0, [%rd1], %q1; }",
            "is not possible with its type");
    refused("call elsewhere, ();", "has no body in this text");
    refused("mov.u32 %r0, 0f12;", "is not a number");
    refused("add.u32 %r0, %r1, %r2", "expected");
}

// The line is the instruction's own.
static void test_unknown(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Str said = warp_refused(arena,
                            ".version 8.0\n.target sm_80\n.address_size 64\n"
                            ".visible .entry k()\n{\nbar.sync 0;\n"
                            "\twgmma.fence.sync.aligned;\nret;\n}\n");
    assert_non_null(strstr(said.text, "wgmma.fence.sync.aligned"));
    assert_non_null(strstr(said.text, "k.ptx:7:"));
    arena_destroy(arena);
}

static void test_recursion(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Str said = warp_refused(
        arena,
        ".version 8.0\n.target sm_80\n.address_size 64\n.func f() { call f, (); ret; }\n"
        ".visible .entry k() { call f, (); ret; }\n");
    assert_non_null(strstr(said.text, "recursion is not supported"));
    arena_destroy(arena);
}

// Every cut, and many changed bytes, of a text that uses most of the syntax.
static const char model[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"a.cu\"\n.extern .shared .align 16 "
    ".b8 s[];\n"
    ".global .align 4 .u32 g[3] = {1, 2, 0x3};\n.const .align 8 .u64 c = generic(g)+4;\n"
    ".func (.param .b32 r) f(.param .b32 x) { .reg .b32 %a<3>; ld.param.b32 %a1, [x]; add.u32 %a2, "
    "%a1, 1;"
    "st.param.b32 [r], %a2; ret; }\n"
    ".visible .entry k(.param .u64 p) .maxntid 128, 1, 1\n{\n.reg .pred %p<3>; .reg .b32 %r<9>; "
    ".reg .b64 %rd<4>;\n"
    ".loc 1 3 5\nld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nsetp.lt.s32 %p1, %r1, 5;\n@!%p1 "
    "bra $L1;\n"
    "{ .param .b32 q; st.param.b32 [q], %r1; .param .b32 w; call.uni (w), f, (q); ld.param.b32 "
    "%r2, [w]; }\n"
    "mov.b64 %rd2, {%r1, %r2};\nst.shared.v2.b32 [s+8], {%r1, %r2};\nT: .branchtargets $L1, "
    "$L2;\nbrx.idx %r1, T;\n"
    "$L1: fma.rn.f32 %r3, %r1, 0f3F800000, 1.5;\n$L2: shfl.sync.bfly.b32 %r4|%p2, %r3, 1, 31, "
    "-1;\nret;\n}\n";

static void read_any(const char *text, size_t size) {
    Arena *arena = arena_create();
    Sources *sources = sources_create(arena);
    Diags *diags = diags_create(arena, sources);
    const SourceFile *f = source_add(sources, STR("k.ptx"), (Str){text, size});
    bool read = ptx_read(arena, f, diags) != NULL;
    assert_int_equal(read, diags_errors(diags) == 0);
    arena_destroy(arena);
}

static void test_rubbish(void **state) {
    (void)state;
    read_any(model, sizeof model - 1);
    for (size_t n = 0; n < sizeof model; n += 3) read_any(model, n);
    char text[sizeof model];
    uint32_t s = 1;
    for (int round = 0; round < 3000; round++) {
        memcpy(text, model, sizeof model);
        for (int n = 0; n < 3; n++) {
            s = s * 1664525u + 1013904223u;
            size_t at = (s >> 8) % (sizeof model - 1);
            s = s * 1664525u + 1013904223u;
            text[at] = s >> 30 ? model[(s >> 8) % (sizeof model - 1)] : (char)(s >> 16);
        }
        read_any(text, sizeof model - 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused), cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_recursion), cmocka_unit_test(test_rubbish)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
