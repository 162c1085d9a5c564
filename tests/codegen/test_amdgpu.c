// Code objects for AMD's GPUs from thread-level IR: ops on every kind of processor compile, or are
// refused by name; the metadata is what a loader needs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ir/machine.h"
#include "tests/support/codegen_plugin.h"
#include "tests/support/tir.h"

static const char *const processors[] = {"gfx803",  "gfx900",  "gfx90a",  "gfx942",  "gfx950",
                                         "gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1201"};
enum { PROCESSORS = sizeof processors / sizeof *processors };

static bool code_of(Tir *t, const char *gfx, CodegenOutput output, uint32_t version, Str *code) {
    GpuTarget target;
    assert_true(gpu_target_parse(str(gfx), &target));
    CodegenGpuOptions options = {.target = target,
                                 .output = output,
                                 .entry = STR("kernel_entry"),
                                 .object_version = version};
    t->module->funcs.data[0]->lanes = (int)machine_of_gpu(target).warp;
    return codegen_plugin()->gpu_compile(t->arena, t->module->funcs.data[0], &options, code,
                                         t->diags);
}

static const char *said(const Tir *t) {
    StrBuf text = strbuf(t->arena);
    diags_text(t->diags, (DiagStyle){0}, &text);
    return text.text;
}

static int group_setup(void **state) {
    (void)state;
    if (!codegen_plugin()) print_message("skipped: libtilec_llvm was not built\n");
    return 0;
}
static void need_library(void) {
    if (!codegen_plugin()) skip();
}

// The assembly for each processor has all of `wanted` (those that are not NULL).
static void compiles(const char *body, const char *const wanted[PROCESSORS]) {
    for (int i = 0; i < PROCESSORS; i++) {
        Tir *t = tir_load("%s", body);
        Str text = {0}, object = {0};
        if (!code_of(t, processors[i], CODEGEN_ASM, 0, &text) ||
            !code_of(t, processors[i], CODEGEN_SHARED, 0, &object))
            fail_msg("%s: %s", processors[i], said(t));
        assert_true(str_starts(object, STR("\177ELF")));
        const char *all = arena_text(t->arena, text.text, text.size);
        if (wanted && wanted[i] && !strstr(all, wanted[i]))
            fail_msg("%s: no '%s' in\n%s", processors[i], wanted[i], all);
        tir_free(t);
    }
}

static const char add_text[] =
    "kernel @add(%x: *f32, %n: i64) {level = thread, warps = 2} { body {\n"
    "%0 = thread.id : i32\n%1 = cast %0 : i64\n%2 = program {dim = 0} : i64\n"
    "%3 = const {value = 512} : i64\n%4 = mul %2, %3 : i64\n%5 = const {value = 4} : i64\n"
    "%6 = mul %1, %5 : i64\n%7 = add %4, %6 : i64\n%8 = lt %7, %n : bool\n"
    "%9 = ptr_add %x, %7 : *f32\n%10 = thread.load %9, %8, _ {align = 16} : f32[4]\n"
    "%11 = add %10, %10 : f32[4]\nthread.store %9, %11, %8 {align = 16}\nreturn } }";

static void accesses_are_wide(void **state) {
    (void)state;
    need_library();
    static const char *const loads[PROCESSORS] = {
        "flat_load_dwordx4",   "global_load_dwordx4", "global_load_dwordx4", "global_load_dwordx4",
        "global_load_dwordx4", "global_load_dwordx4", "global_load_dwordx4", "global_load_b128",
        "global_load_b128",    "global_load_b128"};
    compiles(add_text, loads);
}

// No hidden arguments, no scratch; the block's size is required; the block of arguments is 16
// bytes, and the report's address.
static void loaders_are_told(void **state) {
    (void)state;
    need_library();
    Tir *t = tir_load("%s", add_text);
    Str text;
    assert_true(code_of(t, "gfx942", CODEGEN_ASM, 0, &text));
    const char *all = arena_text(t->arena, text.text, text.size);
    static const char *const lines[] = {".kernarg_segment_size: 24",
                                        ".max_flat_workgroup_size: 128",
                                        ".private_segment_fixed_size: 0",
                                        ".uniform_work_group_size: 1",
                                        ".size:           24",
                                        ".value_kind:     by_value"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(all, lines[i])) fail_msg("no '%s' in\n%s", lines[i], all);
    assert_null(strstr(all, "hidden_"));
    tir_free(t);
}

static void versions_are_chosen(void **state) {
    (void)state;
    need_library();
    enum { ABI_VERSION = 8 };  // of the identification: 3 for version 5, 4 for version 6
    static const uint32_t versions[] = {0, 5, 6};
    static const char abi[] = {3, 3, 4};
    for (int i = 0; i < 3; i++) {
        Tir *t = tir_load("%s", add_text);
        Str object, again;
        assert_true(code_of(t, "gfx1100", CODEGEN_SHARED, versions[i], &object));
        assert_int_equal(object.text[ABI_VERSION], abi[i]);
        assert_true(code_of(t, "gfx1100", CODEGEN_SHARED, versions[i], &again));
        assert_true(str_equal(object, again));
        tir_free(t);
    }
}

// Each distance by the cheapest way that the processor has.
static void lanes_read_one_another(void **state) {
    (void)state;
    need_library();
    static const struct {
        int by;
        const char *wanted[PROCESSORS];
    } rows[] = {
        {1,
         {"quad_perm", "quad_perm", "quad_perm", "quad_perm", "quad_perm", "quad_perm", "quad_perm",
          "quad_perm", "quad_perm", "quad_perm"}},
        {4,
         {"ds_swizzle", "ds_swizzle", "ds_swizzle", "ds_swizzle", "ds_swizzle", "row_xmask:4",
          "row_xmask:4", "row_xmask:4", "row_xmask:4", "row_xmask:4"}},
        {8,
         {"row_ror:8", "row_ror:8", "row_ror:8", "row_ror:8", "row_ror:8", "row_xmask:8",
          "row_xmask:8", "row_xmask:8", "row_xmask:8", "row_xmask:8"}},
        {16,
         {"ds_swizzle", "ds_swizzle", "ds_swizzle", "ds_swizzle", "ds_swizzle", "permlanex16",
          "permlanex16", "permlanex16", "permlanex16", "permlanex16"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "kernel @k(%%x: *i32) {level = thread, warps = 1} { body {\n"
                 "%%0 = thread.id : i32\n%%1 = cast %%0 : i64\n%%2 = ptr_add %%x, %%1 : *i32\n"
                 "%%3 = thread.load %%2, _, _ {align = 4} : i32\n"
                 "%%4 = thread.shuffle %%3, _ {lane = %d} : i32\n"
                 "thread.store %%2, %%4, _ {align = 4}\nreturn } }",
                 rows[i].by);
        compiles(text, rows[i].wanted);
    }
}

static void shared_memory(void **state) {
    (void)state;
    need_library();
    compiles(
        "kernel @k(%x: *f16) {level = thread, warps = 2} { body {\n"
        "%0 = thread.id : i32\n%1 = cast %0 : i64\n%2 = const {value = 8} : i64\n"
        "%3 = mul %1, %2 : i64\n%4 = thread.shared {elem = f16, count = 1024, place = 0} : *f16\n"
        "%5 = ptr_add %4, %3 : *f16\n%6 = ptr_add %x, %3 : *f16\n"
        "%7 = thread.load %6, _, _ {align = 16} : f16[8]\n"
        "thread.store %5, %7, _ {align = 16}\nthread.barrier\n"
        "%8 = thread.shuffle %0, %0 {lane = 0} : i32\n%9 = cast %8 : i64\n"
        "%10 = ptr_add %4, %9 : *f16\n%11 = thread.load %10, _, _ {align = 2} : f16\n"
        "thread.store %6, %11, _ {align = 2}\nreturn } }",
        NULL);
}

static void what_is_not_there(void **state) {
    (void)state;
    need_library();
    Tir *t = tir_load(
        "kernel @copy(%%x: *f16) {level = thread, warps = 1} { body {\n"
        "%%0 = thread.shared {elem = f16, count = 1024, place = 0} : *f16\n"
        "thread.copy %%0, %%x, _ {count = 8}\nthread.commit\nthread.wait {count = 0}\n"
        "%%1 = thread.matrix_load %%0 {count = 4, turned = false} : f16[8]\n"
        "thread.store %%x, %%1, _ {align = 16}\nreturn } }");
    Str code;
    assert_false(code_of(t, "gfx1100", CODEGEN_ASM, 0, &code));
    assert_non_null(strstr(said(t), "target gfx1100 has no 'thread.copy'"));
    assert_non_null(strstr(said(t), "target gfx1100 has no 'thread.matrix_load'"));
    tir_free(t);
}

// A matrix instruction on the processors that have it, and refused on the others.
static void matrix_units(void **state) {
    (void)state;
    need_library();
    static const struct {
        const char *a, *b, *c;
        int mn, k, unit, ab_count, c_count, lanes;
        const char *mnemonic[PROCESSORS];
    } forms[] = {
#define MFMA90 "v_mfma_f32_16x16x16f16", "v_mfma_f32_16x16x16_f16", "v_mfma_f32_16x16x16_f16"
        {"f16",
         "f16",
         "f32",
         16,
         16,
         1,
         4,
         4,
         64,
         {NULL, NULL, MFMA90, NULL, NULL, NULL, NULL, NULL}},
        {"bf16",
         "bf16",
         "f32",
         16,
         32,
         1,
         8,
         4,
         64,
         {NULL, NULL, NULL, NULL, "v_mfma_f32_16x16x32_bf16", NULL, NULL, NULL, NULL, NULL}},
        {"f8e4m3fnuz",
         "f8e5m2fnuz",
         "f32",
         32,
         16,
         1,
         8,
         16,
         64,
         {NULL, NULL, NULL, "v_mfma_f32_32x32x16_fp8_bf8", NULL, NULL, NULL, NULL, NULL, NULL}},
        {"f8e5m2",
         "f8e4m3",
         "f32",
         16,
         32,
         1,
         8,
         4,
         64,
         {NULL, NULL, NULL, NULL, "v_mfma_f32_16x16x32_bf8_fp8", NULL, NULL, NULL, NULL, NULL}},
        {"f64",
         "f64",
         "f64",
         16,
         4,
         1,
         1,
         4,
         64,
         {NULL, NULL, "v_mfma_f64_16x16x4f64", "v_mfma_f64_16x16x4_f64", "v_mfma_f64_16x16x4_f64",
          NULL, NULL, NULL, NULL, NULL}},
        {"f16",
         "f16",
         "f32",
         16,
         16,
         2,
         16,
         8,
         32,
         {NULL, NULL, NULL, NULL, NULL, NULL, NULL, "v_wmma_f32_16x16x16_f16",
          "v_wmma_f32_16x16x16_f16", NULL}},
        {"i8",
         "u8",
         "i32",
         16,
         16,
         3,
         8,
         8,
         32,
         {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "v_wmma_i32_16x16x16_iu8"}},
    };
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (int i = 0; i < PROCESSORS; i++) {
            GpuTarget target;
            assert_true(gpu_target_parse(str(processors[i]), &target));
            if (machine_of_gpu(target).warp != (uint32_t)forms[f].lanes) continue;
            Tir *t = tir_load(
                "kernel @mma(%%x: *%s, %%y: *%s, %%z: *%s) {level = thread, warps = 1, lanes = %d} "
                "{ body {\n%%0 = thread.load %%x, _, _ {align = 0} : %s[%d]\n"
                "%%1 = thread.load %%y, _, _ {align = 0} : %s[%d]\n"
                "%%2 = thread.load %%z, _, _ {align = 0} : %s[%d]\n"
                "%%3 = thread.mma %%0, %%1, %%2 {select = [%d, %d, %d, %d], precision = ieee} : "
                "%s[%d]\nthread.store %%z, %%3, _ {align = 0}\nreturn } }",
                forms[f].a, forms[f].b, forms[f].c, forms[f].lanes, forms[f].a, forms[f].ab_count,
                forms[f].b, forms[f].ab_count, forms[f].c, forms[f].c_count, forms[f].mn,
                forms[f].mn, forms[f].k, forms[f].unit, forms[f].c, forms[f].c_count);
            Str code;
            const char *wanted = forms[f].mnemonic[i];
            bool fine = code_of(t, processors[i], CODEGEN_ASM, 0, &code);
            if (fine != (wanted != NULL)) fail_msg("%s, form %zu: %s", processors[i], f, said(t));
            if (wanted && !strstr(arena_text(t->arena, code.text, code.size), wanted))
                fail_msg("%s: no '%s' in\n%.*s", processors[i], wanted, STR_ARG(code));
            tir_free(t);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_are_wide),   cmocka_unit_test(loaders_are_told),
        cmocka_unit_test(versions_are_chosen), cmocka_unit_test(lanes_read_one_another),
        cmocka_unit_test(shared_memory),       cmocka_unit_test(what_is_not_there),
        cmocka_unit_test(matrix_units),
    };
    return cmocka_run_group_tests(tests, group_setup, NULL);
}
