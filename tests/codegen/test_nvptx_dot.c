// Which matrix instruction a product of 64 by 64 by 64 is made of: of every pair of types and every
// precision, on every architecture. As many of them as the arithmetic takes, and no others; ptxas,
// where it is installed, takes the code.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/os_folder.h"
#include "passes/pass.h"
#include "tests/support/codegen_plugin.h"
#include "tests/support/process.h"
#include "tests/support/tir.h"

// ---- the table ----------------------------------------------------------------------------------

enum { EXTENT = 64 };

// m, n, k, and the types as in the instruction; NULL: no matrix unit has it, so it is made of
// multiplications and additions.
typedef struct Form {
    unsigned m, n, k;
    const char *types;
    unsigned times;  // products of parts: 3 of numbers that are split in two
} Form;

#define NONE \
    { 0, 0, 0, NULL, 0 }
typedef struct Row {
    const char *a, *b, *sum, *precision;
    Form sm_75, sm_80, sm_89;  // sm_89 stands for all newer ones, too
} Row;

#define F16_SMALL \
    { 16, 8, 8, "f32.f16.f16.f32", 1 }
#define F16_LARGE \
    { 16, 8, 16, "f32.f16.f16.f32", 1 }
#define I8(pair)                                                             \
    {8, 8, 16, "s32." pair ".s32", 1}, {16, 8, 32, "s32." pair ".s32", 1}, { \
        16, 8, 32, "s32." pair ".s32", 1                                     \
    }
#define FP8(pair) \
    F16_SMALL, F16_LARGE, { 16, 8, 32, "f32." pair ".f32", 1 }
static const Row rows[] = {
    {"f16", "f16", "f32", "ieee", F16_SMALL, F16_LARGE, F16_LARGE},
    {"f16",
     "f16",
     "f16",
     "ieee",
     {16, 8, 8, "f16.f16.f16.f16", 1},
     {16, 8, 16, "f16.f16.f16.f16", 1},
     {16, 8, 16, "f16.f16.f16.f16", 1}},
    {"f16", "f16", "f64", "ieee", NONE, NONE, NONE},
    {"bf16",
     "bf16",
     "f32",
     "ieee",
     NONE,
     {16, 8, 16, "f32.bf16.bf16.f32", 1},
     {16, 8, 16, "f32.bf16.bf16.f32", 1}},
    {"bf16", "bf16", "f64", "ieee", NONE, NONE, NONE},
    {"f32", "f32", "f32", "ieee", NONE, NONE, NONE},
    {"f32",
     "f32",
     "f32",
     "tf32",
     NONE,
     {16, 8, 8, "f32.tf32.tf32.f32", 1},
     {16, 8, 8, "f32.tf32.tf32.f32", 1}},
    {"f32",
     "f32",
     "f32",
     "tf32x3",
     NONE,
     {16, 8, 8, "f32.tf32.tf32.f32", 3},
     {16, 8, 8, "f32.tf32.tf32.f32", 3}},
    {"f32",
     "f32",
     "f32",
     "bf16x3",
     NONE,
     {16, 8, 16, "f32.bf16.bf16.f32", 3},
     {16, 8, 16, "f32.bf16.bf16.f32", 3}},
    {"f64",
     "f64",
     "f64",
     "ieee",
     NONE,
     {8, 8, 4, "f64.f64.f64.f64", 1},
     {8, 8, 4, "f64.f64.f64.f64", 1}},
    {"i8", "i8", "i32", "ieee", I8("s8.s8")},
    {"u8", "u8", "i32", "ieee", I8("u8.u8")},
    {"i8", "u8", "i32", "ieee", I8("s8.u8")},
    {"u8", "i8", "i32", "ieee", I8("u8.s8")},
    // fp8 becomes f16, which holds all of it, where the unit has none of it.
    {"f8e4m3", "f8e4m3", "f32", "unit", FP8("e4m3.e4m3")},
    {"f8e5m2", "f8e5m2", "f32", "unit", FP8("e5m2.e5m2")},
    {"f8e4m3", "f8e5m2", "f32", "unit", FP8("e4m3.e5m2")},
    {"f8e5m2", "f8e4m3", "f32", "unit", FP8("e5m2.e4m3")},
    {"f8e4m3fnuz", "f8e4m3fnuz", "f32", "ieee", F16_SMALL, F16_LARGE, F16_LARGE},
    {"f8e5m2fnuz", "f8e5m2fnuz", "f32", "ieee", F16_SMALL, F16_LARGE, F16_LARGE},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const uint32_t architectures[] = {75, 80, 86, 89, 90, 100, 120};
enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };

static const Form *form_of(const Row *row, uint32_t number) {
    return number < 80 ? &row->sm_75 : number < 89 ? &row->sm_80 : &row->sm_89;
}

// ---- the code -----------------------------------------------------------------------------------

static Tir *kernel_of(const Row *r) {
    return tir_load(
        "kernel @k(%%a: view %s[64, 64], %%b: view %s[64, 64], %%c: view %s[64, 64]) { body {\n"
        "  %%0 = const {value = 0} : i64\n"
        "  %%1 = view_load %%a, _, %%0, %%0 {select = [64, 64]} : %s[64,64]\n"
        "  %%2 = view_load %%b, _, %%0, %%0 {select = [64, 64]} : %s[64,64]\n"
        "  %%3 = view_load %%c, _, %%0, %%0 {select = [64, 64]} : %s[64,64]\n"
        "  %%4 = dot %%1, %%2, %%3 {precision = %s} : %s[64,64]\n"
        "  view_store %%c, %%4, _, %%0, %%0 {select = [64, 64]}\n"
        "  return\n} }\n",
        r->a, r->b, r->sum, r->a, r->b, r->sum, r->precision, r->sum);
}

static void failed(const Tir *t, const char *where) {
    StrBuf text = strbuf(t->arena);
    diags_text(t->diags, (DiagStyle){0}, &text);
    fail_msg("%s: %s", where, text.text ? text.text : "");
}

static Str ptx_of(Tir *t, uint32_t number, const char *where) {
    GpuTarget target = {.vendor = GPU_NVIDIA, .number = number};
    Machine machine = machine_of_gpu(target);
    PassOptions options = {.verify = true, .machine = &machine};
    size_t tile, gpu;
    const PassStep *tile_steps = pipeline_steps(PIPELINE_TILE, &tile);
    const PassStep *gpu_steps = pipeline_steps(PIPELINE_GPU, &gpu);
    t->module->funcs.data[0]->warps = 4;
    CodegenOptions o = {.target.gpu = target, .output = CODEGEN_ASM, .entry = STR("kernel_entry")};
    Str text = {0};
    if (!passes_run(t->module, tile_steps, tile, &options, t->diags) ||
        !passes_run(t->module, gpu_steps, gpu, &options, t->diags) ||
        !codegen_plugin()->compile(t->arena, t->module->funcs.data[0], &o, &text, t->diags))
        failed(t, where);
    return text;
}

static void count_forms(const Form *form, Str text, const char *where) {
    static const char mma[] = "mma.sync.";
    char expected[96] = "";
    unsigned count = 0, wanted = 0;
    if (form->types) {
        snprintf(expected, sizeof expected, "mma.sync.aligned.m%un%uk%u.row.col.%s", form->m,
                 form->n, form->k, form->types);
        unsigned all = EXTENT / form->m * (EXTENT / form->n) * (EXTENT / form->k);
        wanted = all * form->times / 4;  // of each of the four warps
    }
    for (const char *at = strstr(text.text, mma); at; at = strstr(at + 1, mma)) {
        size_t size = strcspn(at, " \t\n");
        if (size != strlen(expected) || memcmp(at, expected, size) != 0)
            fail_msg("%s: found %.*s, expected %s", where, (int)size, at,
                     *expected ? expected : "none");
        count++;
    }
    if (count != wanted) fail_msg("%s: %u of %s, expected %u", where, count, expected, wanted);
}

static void assemble(Tir *t, Str text, uint32_t number, const char *where) {
    OsError error;
    const char *path = os_keep_temporary(t->arena, "tilec_dot_", ".ptx", text, &error);
    assert_non_null(path);
    Process process = {.folder = ".", .tool_folder = TEST_BINARY_DIR, .seconds = 60};
    process.command = arena_printf(t->arena,
                                   "PATH=\"$PATH:/usr/local/cuda/bin\"; "
                                   "if command -v ptxas >/dev/null; then "
                                   "ptxas -arch=sm_%u -o /dev/null %s; fi; rm -f %s",
                                   number, path, path);
    ProcessResult result;
    assert_true(process_run(t->arena, &process, &result));
    if (result.output.size) fail_msg("%s: ptxas says %.*s", where, STR_ARG(result.output));
}

// ptxas takes its time: every row on the architecture where its form is new.
static bool is_new(const Row *row, uint32_t number) {
    const Form *now = form_of(row, number);
    if (number == 75) return now->types != NULL;
    return (number == 80 || number == 89) && now->types &&
           memcmp(now, form_of(row, number == 80 ? 75 : 80), sizeof *now) != 0;
}

static void every_pair_has_its_form(void **state) {
    (void)state;
    if (!codegen_plugin()) {
        print_message(
            "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
        skip();
    }
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < ARCHITECTURES; i++) {
            const Row *row = &rows[r];
            uint32_t number = architectures[i];
            char where[96];
            snprintf(where, sizeof where, "%s x %s to %s, %s, sm_%u", row->a, row->b, row->sum,
                     row->precision, number);
            Tir *t = kernel_of(row);
            Str text = ptx_of(t, number, where);
            count_forms(form_of(row, number), text, where);
            if (is_new(row, number)) assemble(t, text, number, where);
            tir_free(t);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_pair_has_its_form)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
