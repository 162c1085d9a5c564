// Code objects as bytes: what is read of them, what is refused by name, and damaged ones.
#include "tests/support/amd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "target/amd_object.h"

static const AmdSource plain = {
    .processor = "gfx942", .text = "s_nop 0\ns_endpgm", .args = 3, .lds = 256};

static void test_reads(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Diags *diags = diags_create(arena, sources_create(arena));
    const AmdObject *o = amd_object_read(arena, amd_object_bytes(arena, &plain), diags);
    assert_non_null(o);
    assert_int_equal(o->target.number, 0x942);
    assert_int_equal(o->version, 5);
    assert_int_equal(o->kernel_count, 1);
    const AmdObjectKernel *k = &o->kernels[0];
    assert_true(str_equal(k->name, STR("k")));
    assert_int_equal(k->descriptor.lds, 256);
    assert_int_equal(k->descriptor.kernarg, 24);
    assert_int_equal(k->size, 8);
    assert_int_equal(k->arg_count, 3);
    assert_int_equal(k->args[2].offset, 16);
    assert_int_equal(k->args[2].kind, AMD_ARG_VALUE);
    arena_destroy(arena);
}

static void refuses(const AmdSource *source, const char *says) {
    Arena *arena = arena_create();
    Str text = amd_refused(arena, source);
    if (!strstr(text.text, says))
        fail_msg("%s, '%s': %s", source->processor, source->text, text.text);
    arena_destroy(arena);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"v_frobnicate_b32 v0, v1\ns_endpgm", "'v_frobnicate_b32 v0, v1': the simulated"},
        {"v_add_f32_e32 v0, v1, q7\ns_endpgm", "operand 'q7' is not known"},
        {"v_add_f32_e32 v0, v1\ns_endpgm", "there are only 2 operands"},
        {"v_add_f32_e32 v0, v1, v2 frob:1\ns_endpgm", "modifier 'frob:1' is not known"},
        {"v_mov_b32_e32 v200, 0\ns_endpgm", "v200 is not one of the 128 registers"},
        {"v_mov_b32_e32 v[0:1], 0\ns_endpgm", "has 2 registers, 1 are expected"},
        {"v_cvt_f32_i32_e32 scc, v1\ns_endpgm", "the result must be a vector register"},
        {"v_mov_b32_e32 1, v1\ns_endpgm", "the result must be a vector register"},
        {"v_readlane_b32 v0, v1, 0\ns_endpgm", "the result must be a scalar register"},
        {"v_cmp_eq_u32_e64 v[0:1], v1, v2\ns_endpgm", "the result must be a scalar register"},
        {"s_mov_b32 v0, s1\ns_endpgm", "the result must be a scalar register"},
        {"s_getreg_b32 v0, hwreg(HW_REG_MODE)\ns_endpgm", "the result must be a scalar register"},
        {"ds_bpermute_b32 s0, v1, v2\ns_endpgm", "the result must be a vector register"},
        {"v_mfma_f32_4x4x4_16b_f16 s[0:3], v[4:5], v[6:7], v[0:3]\ns_endpgm",
         "the result must be a vector register"},
        {"v_swap_b32 v0, s1\ns_endpgm", "both operands must be vector registers"},
        {"v_permlane32_swap_b32_e32 v0, 1\ns_endpgm", "both operands must be vector registers"},
        {"s_nop 0", "the code does not end here"},
        {"s_branch 5\ns_endpgm", "does not go to an instruction"},
        {"v_mov_b32_dpp v0, v1 row_frob:1\ns_endpgm", "lane movement is unknown"},
        {"s_getreg_b32 s4, hwreg(HW_REG_HW_ID)\ns_endpgm", "is not simulated"},
        {"s_getreg_b32 s4, hwreg(\ns_endpgm", "register '' is not simulated"},
        {"s_load_dwordx4 s[0:3], s[\ns_endpgm", "operand 's[' is not known"},
        {"ds_swizzle_b32 v1, v2 offset:swizzle(\ns_endpgm", "an unknown swizzle"},
        {"ds_swizzle_b32 v1, v2 offset:swizzle(SWAP,-1)\ns_endpgm", "an unknown swizzle"},
        {"ds_read_b32 v0, v1 :: v_mov_b32 v1, v2\ns_endpgm", "these two do not form a pair"},
        {"v_mov_b32 v0, v1 :: v_mov_b32 v1, v2 :: v_mov_b32 v3, v4\ns_endpgm",
         "do not form a pair"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuses(&(AmdSource){.processor = "gfx942", .text = cases[i].text}, cases[i].says);
}

#define MFMA "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]\ns_endpgm"
#define WMMA "v_wmma_f32_16x16x16_f16 v[0:7], v[8:15], v[8:15], v[0:7]\ns_endpgm"

// Instructions that one family has and another has not.
static void test_of_another_family(void **state) {
    (void)state;
    static const char *const none = "the simulated processor has no such instruction";
    refuses(&(AmdSource){.processor = "gfx1030", .text = MFMA}, none);
    refuses(&(AmdSource){.processor = "gfx1201", .text = MFMA}, none);
    refuses(&(AmdSource){.processor = "gfx942", .text = WMMA}, none);
    refuses(&(AmdSource){.processor = "gfx1030", .text = WMMA}, none);
    refuses(&(AmdSource){.processor = "gfx942", .text = "s_endpgm", .lanes = 32},
            "for waves of 32 lanes, and 'gfx942' has none");
}

// The kernel's descriptor with bits set in a byte of it.
static void refuses_descriptor(uint32_t at, uint8_t bits, const char *says) {
    Arena *arena = arena_create();
    Diags *diags = diags_create(arena, sources_create(arena));
    Str whole = amd_object_bytes(arena, &plain);
    const AmdObject *o = amd_object_read(arena, whole, diags);
    assert_non_null(o);
    char *bytes = arena_copy(arena, whole.text, whole.size);
    bytes[o->kernels[0].address + at] = (char)(bytes[o->kernels[0].address + at] | bits);
    assert_null(amd_object_read(arena, (Str){bytes, whole.size}, diags));
    StrBuf said = strbuf(arena);
    diags_text(diags, (DiagStyle){0}, &said);
    if (!strstr(strbuf_str(&said).text, says)) fail_msg("%s", strbuf_str(&said).text);
    arena_destroy(arena);
}

// Values that the descriptor has room for and no machine supports.
static void test_descriptors(void **state) {
    (void)state;
    enum { KERNARG = 8, RSRC2 = 52 };
    refuses_descriptor(KERNARG + 3, 1, "more than a MiB of arguments");
    refuses_descriptor(RSRC2 + 1, 3 << 11 >> 8, "indices in four dimensions");
}

// Every byte changed, every length: an answer or a diagnostic, and nothing else.
static void test_damaged(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Str whole = amd_object_bytes(arena, &plain);
    for (size_t at = 0; at < whole.size; at += at < 128 ? 1 : 3)
        for (int kind = 0; kind < 3; kind++) {
            ArenaMark mark = arena_mark(arena);
            Diags *diags = diags_create(arena, sources_create(arena));
            char *bytes = arena_copy(arena, whole.text, whole.size);
            Str damaged = {bytes, kind == 2 ? at : whole.size};
            bytes[at] = (char)(kind ? 0xff : bytes[at] ^ 1);
            const AmdObject *o = amd_object_read(arena, damaged, diags);
            assert_true(o || diags_errors(diags));
            arena_reset(arena, mark);
        }
    arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reads), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_of_another_family),
                                       cmocka_unit_test(test_descriptors),
                                       cmocka_unit_test(test_damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
