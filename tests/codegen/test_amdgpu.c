// Code objects for AMD's GPUs from thread-level IR: ops on every kind of processor compile, or are
// refused by name; the metadata is what a loader needs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "target/amd_object.h"
#include "target/machine.h"
#include "tests/support/codegen_plugin.h"
#include "tests/support/tir.h"

static const char *const processors[] = {"gfx803",  "gfx900",         "gfx90a",       "gfx942",
                                         "gfx950",  "gfx1010",        "gfx1030",      "gfx1100",
                                         "gfx1151", "gfx1201",        "gfx600",       "gfx700",
                                         "gfx1250", "gfx9-4-generic", "gfx11-generic"};
enum { PROCESSORS = sizeof processors / sizeof *processors };

static bool code_of(Tir *t, const char *gfx, CodegenOutput output, uint32_t version, Str *code) {
    GpuTarget target;
    assert_true(gpu_target_parse(str(gfx), &target));
    CodegenOptions options = {.target.gpu = target,
                              .output = output,
                              .entry = STR("kernel_entry"),
                              .object_version = version};
    t->module->funcs.data[0]->lanes = (int)machine_of_gpu(target).warp;
    return codegen_plugin()->compile(t->arena, t->module->funcs.data[0], &options, code, t->diags);
}

static const char *said(const Tir *t) {
    StrBuf text = strbuf(t->arena);
    diags_text(t->diags, (DiagStyle){0}, &text);
    return text.text;
}

static int group_setup(void **state) {
    (void)state;
    if (!codegen_plugin())
        print_message(
            "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
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

static void file_compiles(const char *path, const char *const wanted[PROCESSORS]) {
    Arena *arena = arena_create();
    compiles(tir_read(arena, path), wanted);
    arena_destroy(arena);
}

static const char add_path[] = "tests/codegen/data/add.tir";

static CodegenFacts facts_of(Tir *t, const char *gfx, CodegenOutput output,
                             CodegenSchedule schedule) {
    CodegenFacts facts = {0};
    CodegenOptions options = {
        .output = output, .entry = STR("kernel_entry"), .schedule = schedule, .facts = &facts};
    Str code;
    assert_true(gpu_target_parse(str(gfx), &options.target.gpu));
    t->module->funcs.data[0]->lanes = (int)machine_of_gpu(options.target.gpu).warp;
    assert_true(
        codegen_plugin()->compile(t->arena, t->module->funcs.data[0], &options, &code, t->diags));
    return facts;
}

// LLVM says the same of assembly, of an object and of a linked one; of LLVM IR nothing.
static void facts_are_read(void **state) {
    (void)state;
    need_library();
    static const char body[] =
        "kernel @k(%x: *i8) {level = thread, warps = 4} { body {\n"
        "%0 = thread.shared {elem = i8, count = 4096, place = 0} : *i8\n"
        "%1 = thread.load %0, _, _ {align = 1} : i8\n"
        "thread.store %x, %1, _ {align = 1}\nreturn } }";
    static const CodegenOutput outputs[] = {CODEGEN_ASM, CODEGEN_OBJECT, CODEGEN_SHARED};
    for (int i = 0; i < PROCESSORS; i++) {
        Tir *t = tir_load("%s", body);
        CodegenFacts first = facts_of(t, processors[i], CODEGEN_SHARED, (CodegenSchedule){0});
        for (int k = 0; k < 3; k++) {
            CodegenFacts f = facts_of(t, processors[i], outputs[k], (CodegenSchedule){0});
            assert_true(f.known && !f.is_long && f.vectors && f.scalars);
            assert_int_equal(f.shared_bytes, 4096);
            assert_int_equal(f.scratch_bytes + f.vector_spills + f.scalar_spills, 0);
            assert_int_equal(f.vectors, first.vectors);
            assert_int_equal(f.scalars, first.scalars);
        }
        assert_false(facts_of(t, processors[i], CODEGEN_LLVM, (CodegenSchedule){0}).known);
        tir_free(t);
    }
}

// Each schedule reaches LLVM as an attribute of its own.
static void schedules_are_asked_for(void **state) {
    (void)state;
    need_library();
    static const struct {
        CodegenSchedule schedule;
        const char *attribute;
    } rows[] = {{{CODEGEN_WAVES, 3}, "\"amdgpu-waves-per-eu\"=\"3\""},
                {{CODEGEN_REGISTERS, 0}, "\"amdgpu-sched-strategy\"=\"iterative-minreg\""},
                {{CODEGEN_CLAUSES, 0}, "\"amdgpu-sched-strategy\"=\"max-memory-clause\""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Tir *t = tir_load("kernel @k(%%x: *i8) {level = thread, warps = 4} { body {return} }");
        CodegenOptions options = {
            .output = CODEGEN_LLVM, .entry = STR("kernel_entry"), .schedule = rows[i].schedule};
        Str text;
        assert_true(gpu_target_parse(STR("gfx942"), &options.target.gpu));
        t->module->funcs.data[0]->lanes = 64;
        assert_true(codegen_plugin()->compile(t->arena, t->module->funcs.data[0], &options, &text,
                                              t->diags));
        if (!strstr(text.text, rows[i].attribute)) fail_msg("no %s", rows[i].attribute);
        tir_free(t);
    }
}

// The number in the object is LLVM's, and chips.def has the same one.
static void objects_name_their_processor(void **state) {
    (void)state;
    need_library();
    GpuTarget target;
    uint32_t count = 0;
    for (size_t i = 0; gpu_target_at(i, &target); i++) {
        char name[GPU_NAME_MAX];
        Str object;
        if (target.vendor != GPU_AMD) continue;
        Arena *arena = arena_create();
        Tir *t = tir_load("%s", tir_read(arena, add_path));
        gpu_target_name(target, name);
        if (!code_of(t, name, CODEGEN_SHARED, 0, &object)) fail_msg("%s: %s", name, said(t));
        const AmdObject *o = amd_object_read(t->arena, object, t->diags);
        if (!o) fail_msg("%s: %s", name, said(t));
        if (o->target.number != target.number || o->target.generic != target.generic)
            fail_msg("%s: ELF number %#x is not that of chips.def", name, o->mach);
        tir_free(t);
        arena_destroy(arena);
        count++;
    }
    assert_true(count > 40);
}

static void accesses_are_wide(void **state) {
    (void)state;
    need_library();
    static const char *const loads[PROCESSORS] = {
        "flat_load_dwordx4",   "global_load_dwordx4", "global_load_dwordx4", "global_load_dwordx4",
        "global_load_dwordx4", "global_load_dwordx4", "global_load_dwordx4", "global_load_b128",
        "global_load_b128",    "global_load_b128",    "buffer_load_dwordx4", "flat_load_dwordx4",
        "global_load_b128",    "global_load_dwordx4", "global_load_b128"};
    file_compiles(add_path, loads);
}

// No hidden arguments, no scratch; the block's size is required; the block of arguments is 16
// bytes, and the report's address.
static void loaders_are_told(void **state) {
    (void)state;
    need_library();
    Tir *t = tir_load_file(add_path);
    Str text;
    assert_true(code_of(t, "gfx942", CODEGEN_ASM, 0, &text));
    const char *all = arena_text(t->arena, text.text, text.size);
    static const char *const lines[] = {".kernarg_segment_size: 32",
                                        ".max_flat_workgroup_size: 128",
                                        ".private_segment_fixed_size: 0",
                                        ".uniform_work_group_size: 1",
                                        ".size:           32",
                                        ".value_kind:     by_value"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(all, lines[i])) fail_msg("no '%s' in\n%s", lines[i], all);
    assert_null(strstr(all, "hidden_"));
    tir_free(t);
}

static void versions_are_chosen(void **state) {
    (void)state;
    need_library();
    enum { ABI_VERSION = 8 };  // of the identification: 2 for version 4, and so on
    static const uint32_t versions[] = {0, 4, 5, 6};
    static const char abi[] = {3, 2, 3, 4};
    for (int i = 0; i < 4; i++) {
        Tir *t = tir_load_file(add_path);
        Str object, again;
        assert_true(code_of(t, "gfx1100", CODEGEN_SHARED, versions[i], &object));
        assert_int_equal(object.text[ABI_VERSION], abi[i]);
        assert_true(code_of(t, "gfx1100", CODEGEN_SHARED, versions[i], &again));
        assert_true(str_equal(object, again));
        tir_free(t);
    }
}

// Code for several processors says so, and has version 6 at least.
static void code_is_for_several(void **state) {
    (void)state;
    need_library();
    enum { ABI_VERSION = 8, FLAGS = 48 };
    static const struct {
        const char *gfx;
        int mach;
    } rows[] = {{"gfx9-generic", 0x51},    {"gfx9-4-generic", 0x5f}, {"gfx10-1-generic", 0x52},
                {"gfx10-3-generic", 0x53}, {"gfx11-generic", 0x54},  {"gfx12-generic", 0x59}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (uint32_t version = 0; version <= 6; version += 6) {
            Tir *t = tir_load_file(add_path);
            Str object;
            if (!code_of(t, rows[i].gfx, CODEGEN_SHARED, version, &object))
                fail_msg("%s: %s", rows[i].gfx, said(t));
            assert_int_equal(object.text[ABI_VERSION], 4);
            assert_int_equal((uint8_t)object.text[FLAGS], rows[i].mach);
            assert_int_equal((uint8_t)object.text[FLAGS + 3], 1);  // the code's own version
            tir_free(t);
        }
    Tir *t = tir_load_file(add_path);
    Str object;
    assert_false(code_of(t, "gfx11-generic", CODEGEN_SHARED, 5, &object));
    assert_non_null(
        strstr(said(t), "there are code objects for 'gfx11-generic' from version 6 on"));
    assert_non_null(strstr(said(t), "or name one processor, as gfx1100"));
    tir_free(t);
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
          "quad_perm", "quad_perm", "quad_perm", "ds_swizzle", "ds_swizzle", "quad_perm",
          "quad_perm", "quad_perm"}},
        {4,
         {"ds_swizzle", "ds_swizzle", "ds_swizzle", "ds_swizzle", "ds_swizzle", "row_xmask:4",
          "row_xmask:4", "row_xmask:4", "row_xmask:4", "row_xmask:4", "ds_swizzle", "ds_swizzle",
          "row_xmask:4", "ds_swizzle", "row_xmask:4"}},
        {8,
         {"row_ror:8", "row_ror:8", "row_ror:8", "row_ror:8", "row_ror:8", "row_xmask:8",
          "row_xmask:8", "row_xmask:8", "row_xmask:8", "row_xmask:8", "ds_swizzle", "ds_swizzle",
          "row_xmask:8", "row_ror:8", "row_xmask:8"}},
        {16,
         {"ds_swizzle", "ds_swizzle", "ds_swizzle", "ds_swizzle", "ds_swizzle", "permlanex16",
          "permlanex16", "permlanex16", "permlanex16", "permlanex16", "ds_swizzle", "ds_swizzle",
          "permlanex16", "ds_swizzle", "permlanex16"}},
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

// An instruction of 64 bits does not read the value of another lane itself: a move before it does.
static void wide_instructions_read_their_lane(void **state) {
    (void)state;
    need_library();
    static const char *const bodies[] = {
        "%5 = cast %4 : i64\n%6 = cast %3 : i64\n%7 = mul %5, %6 : i64",
        "%5 = cast %4 : u32\n%6 = cast %3 : u32\n%10 = cast %5 : u64\n%11 = cast %6 : u64\n"
        "%12 = mul %10, %11 : u64\n%7 = bitcast %12 : i64",
        "%5 = const {value = 63} : i32\n%6 = and %4, %5 : i32\n%10 = cast %6 : i64\n"
        "%11 = cast %3 : i64\n%7 = shl %11, %10 : i64",
        "%5 = cast %4 : f64\n%7 = bitcast %5 : i64",
        "%5 = bitcast %4 : f32\n%6 = cast %5 : f64\n%7 = bitcast %6 : i64",
        "%5 = mul %4, %3 : i32\n%6 = cast %1 : i32\n%10 = add %5, %6 : i32\n"
        "%7 = cast %10 : i64",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        for (int p = 0; p < PROCESSORS; p++) {
            Tir *t = tir_load(
                "kernel @k(%%x: *i32, %%y: *i64) {level = thread, warps = 1} { body {\n"
                "%%0 = thread.id : i32\n%%1 = cast %%0 : i64\n"
                "%%2 = ptr_add %%x, %%1 : *i32\n"
                "%%3 = thread.load %%2, _, _ {align = 4} : i32\n"
                "%%4 = thread.shuffle %%3, _ {lane = 1} : i32\n%s\n"
                "%%8 = ptr_add %%y, %%1 : *i64\n"
                "thread.store %%8, %%7, _ {align = 8}\nreturn } }",
                bodies[i]);
            Str text = {0};
            if (!code_of(t, processors[p], CODEGEN_ASM, 0, &text))
                fail_msg("%s: %s", processors[p], said(t));
            while (text.size) {
                Str line = str_cut(text, '\n', &text);
                const char *one = arena_text(t->arena, line.text, line.size);
                if (strstr(one, "_dpp ") && strstr(one, "v["))
                    fail_msg("%s: '%s' of\n%s", processors[p], one, bodies[i]);
            }
            tir_free(t);
        }
}

// The oldest processors have no crossbar: lanes exchange through a word of each thread, after the
// program's own memory.
static void lanes_of_the_oldest(void **state) {
    (void)state;
    need_library();
    static const char *const gfx[] = {"gfx600", "gfx700", "gfx803"};
    for (size_t i = 0; i < sizeof gfx / sizeof *gfx; i++) {
        Tir *t = tir_load(
            "kernel @k(%%x: *i32) {level = thread, warps = 2} { body {\n"
            "%%0 = thread.id : i32\n%%1 = cast %%0 : i64\n%%2 = ptr_add %%x, %%1 : *i32\n"
            "%%3 = thread.load %%2, _, _ {align = 4} : i32\n"
            "%%4 = thread.shuffle %%3, %%3 {lane = 0} : i32\n"
            "%%5 = thread.shuffle %%4, _ {lane = 32} : i32\n"
            "thread.store %%2, %%5, _ {align = 4}\nreturn } }");
        Str code;
        if (!code_of(t, gfx[i], CODEGEN_ASM, 0, &code)) fail_msg("%s: %s", gfx[i], said(t));
        const char *all = arena_text(t->arena, code.text, code.size);
        bool old = strcmp(gfx[i], "gfx803") != 0;
        if ((strstr(all, "ds_bpermute") != NULL) == old) fail_msg("%s:\n%s", gfx[i], all);
        for (int k = 0; k < 2 && old; k++) {
            all = strstr(all, "ds_write_b32");
            assert_non_null(all);
            all = strstr(all, "ds_read_b32");
            assert_non_null(all);
        }
        if (!strstr(all, old ? ".group_segment_fixed_size: 512" : ".group_segment_fixed_size: 0"))
            fail_msg("%s:\n%s", gfx[i], all);
        tir_free(t);
    }
}

static void shared_memory(void **state) {
    (void)state;
    need_library();
    file_compiles("tests/codegen/data/shared.tir", NULL);
}

// An access under a mask that is known to be near is a buffer load or store, at 2^31 where the mask
// is false. An access that is not known to be near is in a branch.
static void masks_are_bounds(void **state) {
    (void)state;
    need_library();
    static const struct {
        const char *gfx, *load, *store, *word;
    } rows[] = {{"gfx900", "buffer_load_dwordx4", "buffer_store_dwordx4", "0x27000"},
                {"gfx90a", "buffer_load_dwordx4", "buffer_store_dwordx4", "0x27000"},
                {"gfx950", "buffer_load_dwordx4", "buffer_store_dwordx4", "0x27000"},
                {"gfx1030", "buffer_load_dwordx4", "buffer_store_dwordx4", "0x31016000"},
                {"gfx1100", "buffer_load_b128", "buffer_store_b128", "0x30016000"},
                {"gfx1201", "buffer_load_b128", "buffer_store_b128", "0x30016000"}};
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        const char *near = i % 2 ? "" : ", narrow = true", *gfx = rows[i / 2].gfx;
        Tir *t = tir_load(
            "kernel @add(%%x: view f32[N]) {level = thread, warps = 2} { body {\n"
            "%%0 = thread.id : i32\n%%1 = const {value = 2} : i32\n%%2 = shl %%0, %%1 : i32\n"
            "%%3 = cast %%2 : i64\n%%4 = extent {extent = N} : i64\n%%5 = lt %%3, %%4 : bool\n"
            "%%6 = vec.data %%x : *f32\n%%7 = ptr_add %%6, %%3 : *f32\n"
            "%%8 = thread.load %%7, %%5, _ {align = 16%s} : f32[4]\n%%9 = add %%8, %%8 : f32[4]\n"
            "thread.store %%7, %%9, %%5 {align = 16%s}\nreturn } }",
            near, near);
        Str code = {0};
        if (!code_of(t, gfx, CODEGEN_ASM, 0, &code)) fail_msg("%s: %s", gfx, said(t));
        const char *all = arena_text(t->arena, code.text, code.size);
        const char *const wanted[] = {rows[i / 2].load, rows[i / 2].store, rows[i / 2].word};
        for (int k = 0; k < 3; k++)
            if ((strstr(all, wanted[k]) != NULL) != (i % 2 == 0))
                fail_msg("%s: '%s' in\n%s", gfx, wanted[k], all);
        if ((strstr(all, "s_cbranch") != NULL) != (i % 2 != 0))
            fail_msg("%s: branches in\n%s", gfx, all);
        tir_free(t);
    }
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

// Forms of matrix instructions: of `gfx` and what follows it in the same line of processors, by the
// mnemonics that are not NULL.
typedef struct Form {
    const char *a, *b, *c;
    int mn, k, unit, ab_count, c_count, lanes;
    const char *gfx[4], *mnemonic[4];
} Form;

// clang-format off
static const Form forms[] = {
    {"f16", "f16", "f32", 16, 16, 1, 4, 4, 64, {"gfx90a", "gfx942", "gfx950", "gfx9-4-generic"},
     {"v_mfma_f32_16x16x16f16", "v_mfma_f32_16x16x16_f16", "v_mfma_f32_16x16x16_f16",
      "v_mfma_f32_16x16x16_f16"}},
    {"i8", "i8", "i32", 16, 32, 1, 8, 4, 64, {"gfx942", "gfx950", "gfx9-4-generic"},
     {"v_mfma_i32_16x16x32_i8", "v_mfma_i32_16x16x32_i8", "v_mfma_i32_16x16x32_i8"}},
    {"bf16", "bf16", "f32", 16, 32, 1, 8, 4, 64, {"gfx950"}, {"v_mfma_f32_16x16x32_bf16"}},
    {"f8e4m3fnuz", "f8e5m2fnuz", "f32", 32, 16, 1, 8, 16, 64, {"gfx942"},
     {"v_mfma_f32_32x32x16_bf8_fp8"}},
    {"f8e5m2", "f8e4m3", "f32", 16, 32, 1, 8, 4, 64, {"gfx950"}, {"v_mfma_f32_16x16x32_fp8_bf8"}},
    {"f64", "f64", "f64", 16, 4, 1, 1, 4, 64, {"gfx90a", "gfx942", "gfx950", "gfx9-4-generic"},
     {"v_mfma_f64_16x16x4f64", "v_mfma_f64_16x16x4_f64", "v_mfma_f64_16x16x4_f64",
      "v_mfma_f64_16x16x4_f64"}},
    {"f16", "f16", "f32", 16, 16, 2, 16, 8, 32, {"gfx1100", "gfx1151", "gfx11-generic"},
     {"v_wmma_f32_16x16x16_f16", "v_wmma_f32_16x16x16_f16", "v_wmma_f32_16x16x16_f16"}},
    {"i8", "u8", "i32", 16, 16, 3, 8, 8, 32, {"gfx1201"}, {"v_wmma_i32_16x16x16_iu8"}},
};
// clang-format on

// NULL: `gfx` has it not.
static const char *mnemonic_of(const Form *f, const char *gfx) {
    for (int i = 0; i < 4 && f->gfx[i]; i++)
        if (strcmp(f->gfx[i], gfx) == 0) return f->mnemonic[i];
    return NULL;
}

// The kernel of a product; `end` uses the result %z, which has %3's type `c`.
static Tir *product(const Form *f, const char *end) {
    return tir_load(
        "kernel @mma(%%x: *%s, %%y: *%s, %%z: *%s) {level = thread, warps = 1, lanes = %d} "
        "{ body {\n%%0 = thread.load %%x, _, _ {align = 0} : %s[%d]\n"
        "%%1 = thread.load %%y, _, _ {align = 0} : %s[%d]\n"
        "%%2 = thread.load %%z, _, _ {align = 0} : %s[%d]\n"
        "%%3 = thread.mma %%0, %%1, %%2 {select = [%d, %d, %d, %d], precision = ieee} : "
        "%s[%d]\n%s\nreturn } }",
        f->a, f->b, f->c, f->lanes, f->a, f->ab_count, f->b, f->ab_count, f->c, f->c_count, f->mn,
        f->mn, f->k, f->unit, f->c, f->c_count, end);
}

// A matrix instruction on the processors that have it, and refused on the others.
static void matrix_units(void **state) {
    (void)state;
    need_library();
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (int i = 0; i < PROCESSORS; i++) {
            GpuTarget target;
            assert_true(gpu_target_parse(str(processors[i]), &target));
            if (machine_of_gpu(target).warp != (uint32_t)forms[f].lanes) continue;
            Tir *t = product(&forms[f], "thread.store %z, %3, _ {align = 0}");
            Str code;
            const char *wanted = mnemonic_of(&forms[f], processors[i]);
            bool fine = code_of(t, processors[i], CODEGEN_ASM, 0, &code);
            if (fine != (wanted != NULL)) fail_msg("%s, form %zu: %s", processors[i], f, said(t));
            if (wanted && !strstr(arena_text(t->arena, code.text, code.size), wanted))
                fail_msg("%s: no '%s' in\n%.*s", processors[i], wanted, STR_ARG(code));
            tir_free(t);
        }
}

// All lanes take part in a product, though only some store its result.
static void products_are_of_all_lanes(void **state) {
    (void)state;
    need_library();
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        if (forms[f].lanes != 32) continue;
        Tir *t = product(&forms[f],
                         "%4 = thread.id : i32\n%5 = const {value = 7} : i32\n"
                         "%6 = lt %4, %5 : bool\nthread.store %z, %3, %6 {align = 0}");
        Str code;
        if (!code_of(t, forms[f].gfx[0], CODEGEN_ASM, 0, &code)) fail_msg("%s", said(t));
        const char *all = arena_text(t->arena, code.text, code.size);
        const char *mma = strstr(all, forms[f].mnemonic[0]);
        const char *some = strstr(all, "s_cbranch_execz");
        if (!mma || !some || some < mma) fail_msg("not of all lanes:\n%s", all);
        tir_free(t);
    }
}

// Copies straight to shared memory: as wide as the processor does them, from a view's data; what
// waits counts instructions, of which each group has two here.
static const char copies_text[] =
    "kernel @k(%%a: view f32[N], %%n: i32) {level = thread, warps = 2, direct = 1} {\n  body {\n"
    "    %%0 = thread.id : i32\n    %%1 = cast %%0 : i64\n    %%2 = const {value = %u} : i64\n"
    "    %%3 = mul %%1, %%2 : i64\n    %%4 = thread.shared {count = 1024, elem = f32, place = 0} : "
    "*f32\n"
    "    %%5 = ptr_add %%4, %%3 : *f32\n    %%6 = vec.data %%a : *f32\n"
    "    %%7 = ptr_add %%6, %%3 : *f32\n    %%8 = const {value = 512} : i64\n"
    "    %%9 = ptr_add %%5, %%8 : *f32\n    %%10 = ptr_add %%7, %%8 : *f32\n"
    "    %%11 = const {value = 7} : i32\n    %%12 = lt %%0, %%11 : bool\n"
    "    thread.copy %%5, %%7, %%12 {count = %u}\n    thread.copy %%9, %%10, _ {count = %u}\n"
    "    thread.commit\n    thread.copy %%5, %%7, _ {count = %u}\n"
    "    thread.copy %%9, %%10, %%12 {count = %u}\n    thread.commit\n"
    "    thread.wait {count = 1}\n    thread.barrier\n    thread.wait {count = 0}\n"
    "    return\n  }\n}\n";

static void copies_go_straight(void **state) {
    (void)state;
    need_library();
    for (int i = 0; i < PROCESSORS; i++)
        for (unsigned count = 1; count <= 4; count *= 2) {
            bool wide = strcmp(processors[i], "gfx950") == 0;
            bool narrow =
                !strcmp(processors[i], "gfx942") || !strcmp(processors[i], "gfx9-4-generic");
            bool can = (count == 1 && (wide || narrow)) || (count == 4 && wide);
            Tir *t = tir_load(copies_text, count, count, count, count, count);
            Str text = {0};
            bool did = code_of(t, processors[i], CODEGEN_ASM, 0, &text);
            if (did != can)
                fail_msg("%s, %u words: %s", processors[i], count, did ? "compiles" : said(t));
            if (can) {
                const char *all = arena_text(t->arena, text.text, text.size);
                assert_non_null(strstr(all, count == 1 ? "buffer_load_dword v" : "load_dwordx4 v"));
                assert_non_null(strstr(all, "offen lds"));
                const char *wait = strstr(all, "vmcnt(2)");
                if (!wait) fail_msg("%s", all);
                assert_non_null(strstr(wait, "s_barrier"));
                assert_non_null(strstr(wait, "vmcnt(0)"));
            } else {
                assert_non_null(strstr(said(t), "thread.copy"));
            }
            tir_free(t);
        }
}

// A barrier of global memory waits for its loads and stores even while copies run. A barrier of
// shared memory leaves them in flight.
static void copies_leave_barriers_whole(void **state) {
    static const char text[] =
        "kernel @k(%%a: view f32[N], %%b: *i32, %%n: i32) {level = thread, warps = 2, direct = 1} "
        "{\n  body {\n"
        "    %%0 = thread.id : i32\n    %%1 = cast %%0 : i64\n"
        "    %%2 = thread.shared {count = 128, elem = f32, place = 0} : *f32\n"
        "    %%3 = ptr_add %%2, %%1 : *f32\n    %%4 = vec.data %%a : *f32\n"
        "    %%5 = ptr_add %%4, %%1 : *f32\n    %%6 = ptr_add %%b, %%1 : *i32\n"
        "    thread.copy %%3, %%5, _ {count = 1}\n    thread.commit\n"
        "    thread.store %%6, %%n, _ {align = 4}\n"
        "    thread.barrier {global = %s}\n    thread.wait {count = 0}\n"
        "    return\n  }\n}\n";
    (void)state;
    need_library();
    for (int global = 0; global < 2; global++) {
        Tir *t = tir_load(text, global ? "true" : "false");
        Str code = {0};
        if (!code_of(t, "gfx942", CODEGEN_ASM, 0, &code)) fail_msg("%s", said(t));
        char *all = arena_text(t->arena, code.text, code.size);
        char *store = strstr(all, "global_store"), *barrier = strstr(all, "s_barrier");
        assert_true(store && barrier && store < barrier);
        *barrier = '\0';
        bool waits = strstr(store, "vmcnt(0)") != NULL;
        if (waits != (global == 1)) fail_msg("global %d: %s", global, all);
        tir_free(t);
    }
}

// A barrier at a loop's head waits for what the iteration before began.
static void loops_wait_for_their_turns(void **state) {
    static const struct {
        const char *gfx, *store, *wait;
    } rows[] = {{"gfx90a", "global_store", "s_waitcnt vmcnt(0)"},
                {"gfx1030", "global_store", "s_waitcnt_vscnt null, 0x0"},
                {"gfx1100", "global_store", "s_waitcnt_vscnt null, 0x0"},
                {"gfx1201", "global_store", "s_wait_storecnt"},
                {"gfx90a", "ds_write", "lgkmcnt(0)"},
                {"gfx1100", "ds_store", "lgkmcnt(0)"},
                {"gfx1201", "ds_store", "dscnt"}};
    (void)state;
    need_library();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool global = rows[i].store[0] == 'g';
        Tir *t = tir_load(
            "kernel @k(%%x: *i32, %%n: i32) {level = thread, warps = 2} {\n  body {\n"
            "    %%0 = thread.id : i32\n    %%1 = cast %%0 : i64\n    %%2 = const {value = 0} : "
            "i32\n"
            "    %%3 = const {value = 1} : i32\n"
            "    %%4 = thread.shared {count = 1024, elem = i32, place = 0} : *i32\n"
            "    %%5 = ptr_add %%%s, %%1 : *i32\n"
            "    for %%2, %%n, %%3 (%%6: i32) {\n      thread.barrier {global = %s}\n"
            "      thread.store %%5, %%6, _ {align = 4}\n      yield\n    }\n"
            "    return\n  }\n}\n",
            global ? "x" : "4", global ? "true" : "false");
        Str text = {0};
        if (!code_of(t, rows[i].gfx, CODEGEN_ASM, 0, &text))
            fail_msg("%s: %s", rows[i].gfx, said(t));
        const char *all = arena_text(t->arena, text.text, text.size);
        const char *loop = strstr(all, "\n.LBB0_"), *end = strstr(all, "s_endpgm");
        const char *wait = loop ? strstr(loop, rows[i].wait) : NULL;
        if (!wait || wait > end || !strstr(loop, rows[i].store))
            fail_msg("%s: no '%s' in the loop of\n%s", rows[i].gfx, rows[i].wait, all);
        tir_free(t);
    }
}

// Codes that processors reserve have no text; LLVM ends the process at some of them.
static void reserved_codes_have_no_text(void **state) {
    (void)state;
    static const struct {
        const char *gfx;
        uint32_t words[2];
        const char *text;  // how it begins
    } rows[] = {
        {"gfx942", {0xd1c80001, 0x02150300}, "v_bfe_u32"},  // all of it is there
        {"gfx942", {0xd1c80001, 0x021502ff}, ""},           // a constant follows it
        {"gfx942", {0xd0ec0004, 0x00022d14}, "v_cmp"},
        {"gfx942", {0xd0ec00ff, 0x00022d14}, ""},  // a constant as the result
        {"gfx942", {0xe0501000, 0x80010100}, "buffer_load_dword"},
        {"gfx942", {0xe0501000, 0xff010100}, ""},  // a constant as the offset
        {"gfx90a", {0x280808f9, 0x06060607}, "v_or"},
        {"gfx90a", {0x280808f9, 0x06060f07}, ""},   // a part of the result that there is not
        {"gfx1030", {0x280808f9, 0x07060607}, ""},  // a part of an operand
        {"gfx1201", {0x7e000000, 0xbf800000}, "v_nop"},
    };
    Arena *arena = arena_create();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        GpuCodeJob job = {.bytes = {(const char *)rows[i].words, sizeof rows[i].words},
                          .processor = str(rows[i].gfx),
                          .lanes = 64};
        GpuCode code;
        assert_true(codegen_plugin()->amd_disassemble(NULL, arena, &job, &code));
        Str text = code.lines[0].text;
        bool right = rows[i].text[0] ? str_starts(text, str(rows[i].text)) : !text.size;
        if (!right) fail_msg("row %zu: '%.*s'", i, STR_ARG(text));
    }
    arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_wait_for_their_turns),
        cmocka_unit_test(facts_are_read),
        cmocka_unit_test(schedules_are_asked_for),
        cmocka_unit_test(objects_name_their_processor),
        cmocka_unit_test(accesses_are_wide),
        cmocka_unit_test(loaders_are_told),
        cmocka_unit_test(versions_are_chosen),
        cmocka_unit_test(code_is_for_several),
        cmocka_unit_test(lanes_read_one_another),
        cmocka_unit_test(wide_instructions_read_their_lane),
        cmocka_unit_test(lanes_of_the_oldest),
        cmocka_unit_test(shared_memory),
        cmocka_unit_test(masks_are_bounds),
        cmocka_unit_test(what_is_not_there),
        cmocka_unit_test(matrix_units),
        cmocka_unit_test(products_are_of_all_lanes),
        cmocka_unit_test(copies_go_straight),
        cmocka_unit_test(copies_leave_barriers_whole),
        cmocka_unit_test(reserved_codes_have_no_text),
    };
    return cmocka_run_group_tests(tests, group_setup, NULL);
}
