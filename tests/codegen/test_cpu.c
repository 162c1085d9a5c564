// The door of codegen: refusals, outputs, symbols, repeatable bytes, several threads at once.
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/os_thread.h"
#include "tests/codegen/bundle.h"

static void every_op_has_a_cell(void **state) {
    (void)state;
    for (unsigned i = 0; i < IR_OPCODES; i++) {
        const IrOpInfo *info = ir_op_info((IrOpcode)i);
        bool owed = ir_level_allows(IR_LEVEL_CPU, info->level) && info->level != IR_LEVEL_TILE;
        if (owed != (bundle_place((IrOpcode)i) != NONE))
            fail_msg("'%s' needs a cell in tests/codegen/cells.def, or has one too many",
                     info->text);
    }
}

// ---- refusals -----------------------------------------------------------------------------------

static void refused(const char *body, const char *text, const char *help) {
    Tir *t = tir_load(
        "kernel @k(%%x: f32, %%c: bool, %%v: view i4[N]) {level = cpu} { body {\n"
        "%s return } }\nfunc @twice(%%a: f32) -> f32 { return %%a }",
        body);
    Str output;
    assert_false(compiled_output(t, (CpuTarget){CPU_X86_64_V2, 0}, CODEGEN_SHARED, false, &output));
    assert_int_equal(diags_get(t->diags, 0)->code, DIAG_UNSUPPORTED);
    if (!tir_reported(t, text) || !tir_reported(t, help) || !tir_reported(t, "x86-64-v2")) {
        StrBuf all = strbuf(t->arena);
        diags_text(t->diags, (DiagStyle){0}, &all);
        fail_msg("expected '%s' and '%s' in\n%s", text, help, all.text);
    }
    tir_free(t);
}

static void what_has_no_translation_is_refused(void **state) {
    (void)state;
    if (!codegen_plugin()) skip();
    for (unsigned i = 0; i < IR_OPCODES; i++) {
        const IrOpInfo *info = ir_op_info((IrOpcode)i);
        if (bundle_place((IrOpcode)i) != REFUSED || info->rule != IR_RULE_UNARY) continue;
        char body[80], text[40];
        snprintf(body, sizeof body, "%%0 = %s %%x : f32\n", info->text);
        snprintf(text, sizeof text, "'%s' of f32", info->text);
        refused(body, text, "expand_math");
    }
    refused("%0 = pow %x, %x : f32\n", "'pow' of f32", "expand_math");
    refused("%0 = copysign %x, %x : f32\n", "'copysign' of f32", "expand_math");
    refused("assert %c {text = \"c\"}\n", "'assert' of bool", "cpu_lower");
    refused("print %x {texts = [\"\", \"\"]}\n", "'print' of f32", "cpu_lower");
    refused("%0 = call %x {callee = twice} : f32\n", "'call' of f32", "inline");
    refused("%0 = fma %x, %x, %x : f32\n", "'fma' of f32", "legalize");
    refused("%0 = cast %x : f16\n", "it is a cast to f16", "legalize");
    refused("%0 = broadcast %x : f32[2048]\n", "a vector of more than 1024 lanes", "cpu_lower");
    refused("%0 = broadcast %x : f32[2,2]\n", "more than one dimension", "cpu_lower");
    refused(
        "%0 = const {value = 1.0} : bf16[8]\n %1 = broadcast %x : f32[4]\n"
        " %2 = vec.dot2 %1, %0, %0 : f32[4]\n",
        "'vec.dot2' of f32", "no such instruction");
}

static void every_refusal_is_reported(void **state) {
    (void)state;
    if (!codegen_plugin()) skip();
    Tir *t = tir_load(
        "kernel @k(%%x: f32) {level = cpu} { body {\n %%0 = exp %%x : f32\n"
        " %%1 = sin %%x : f32\n return } }");
    Str output;
    assert_false(compiled_output(t, cpu_native(), CODEGEN_SHARED, false, &output));
    assert_int_equal(diags_errors(t->diags), 2);
    tir_free(t);
}

// ---- outputs ------------------------------------------------------------------------------------

static const char kernel[] =
    "kernel @scale(%%x: view f32[N], %%a: f32) {level = cpu} { body {\n"
    " %%0 = program {dim = 0} : i64\n %%1 = const {value = 16} : i64\n %%2 = mul %%0, %%1 : i64\n"
    " %%3 = vec.data %%x : *f32\n %%4 = ptr_add %%3, %%2 : *f32\n"
    " %%5 = cpu.load %%4, _, _ : f32[16]\n %%6 = broadcast %%a : f32[16]\n"
    " %%7 = mul %%5, %%6 : f32[16]\n %%8 = rem %%7, %%6 : f32[16]\n cpu.store %%4, %%8, _\n"
    " return } }";

static Str output_of(Tir *t, CpuTarget target, CodegenOutput output, bool lines) {
    Str text = {0};
    assert_true(compiled_output(t, target, output, lines, &text));
    assert_int_equal(diags_count(t->diags), 0);
    return text;
}

static bool holds(Str s, const char *text) {
    size_t size = strlen(text);
    for (size_t i = 0; i + size <= s.size; i++)
        if (memcmp(s.text + i, text, size) == 0) return true;
    return false;
}

static void outputs_are_what_they_say(void **state) {
    (void)state;
    if (!codegen_plugin()) skip();
    Tir *t = tir_load(kernel);
    CpuTarget v4 = {CPU_X86_64_V4, 0}, arm = {CPU_AARCH64, 0};
    assert_true(holds(output_of(t, v4, CODEGEN_LLVM, false), "define void @kernel_entry("));
    assert_true(holds(output_of(t, v4, CODEGEN_ASM, false), "vmulps"));
    assert_true(holds(output_of(t, v4, CODEGEN_ASM, false), "%zmm"));
    assert_true(holds(output_of(t, arm, CODEGEN_ASM, false), "fmul\tv"));
    Elf64_Ehdr head;
    memcpy(&head, output_of(t, arm, CODEGEN_OBJECT, false).text, sizeof head);
    assert_int_equal(head.e_type, ET_REL);
    assert_int_equal(head.e_machine, EM_AARCH64);
    memcpy(&head, output_of(t, arm, CODEGEN_SHARED, false).text, sizeof head);
    assert_int_equal(head.e_type, ET_DYN);
    assert_int_equal(head.e_machine, EM_AARCH64);
    tir_free(t);
}

static void lines_are_those_of_the_source(void **state) {
    (void)state;
    if (!codegen_plugin()) skip();
    Tir *t = tir_load(kernel);
    Str text = output_of(t, cpu_native(), CODEGEN_ASM, true);
    assert_true(holds(text, "test.tir"));
    assert_true(holds(text, ".loc\t0 9 "));  // the multiplication
    assert_true(holds(text, "scale"));
    assert_true(holds(output_of(t, cpu_native(), CODEGEN_SHARED, true), ".debug_line"));
    assert_false(holds(output_of(t, cpu_native(), CODEGEN_SHARED, false), ".debug_line"));
    tir_free(t);
}

// ---- symbols ------------------------------------------------------------------------------------

// Undefined symbols of an object.
static unsigned undefined_in(Str object) {
    Elf64_Ehdr head;
    memcpy(&head, object.text, sizeof head);
    unsigned count = 0;
    for (unsigned i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr s;
        memcpy(&s, object.text + head.e_shoff + (size_t)i * head.e_shentsize, sizeof s);
        if (s.sh_type != SHT_SYMTAB) continue;
        for (size_t at = sizeof(Elf64_Sym); at < s.sh_size; at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            memcpy(&symbol, object.text + s.sh_offset + at, sizeof symbol);
            count += symbol.st_shndx == SHN_UNDEF;
        }
    }
    return count;
}

static void objects_are_closed(void **state) {
    (void)state;
    if (!codegen_plugin()) skip();
    Tir *t = tir_load(kernel);
    for (CpuLevel level = CPU_X86_64_V2; level <= CPU_AARCH64; level++)
        assert_int_equal(undefined_in(output_of(t, (CpuTarget){level, 0}, CODEGEN_OBJECT, true)),
                         0);
    tir_free(t);
}

// ---- bytes and threads --------------------------------------------------------------------------

static void the_same_input_gives_the_same_bytes(void **state) {
    (void)state;
    if (!codegen_plugin()) skip();
    Tir *a = tir_load(kernel), *b = tir_load(kernel);
    for (int lines = 0; lines < 2; lines++) {
        Str x = output_of(a, cpu_native(), CODEGEN_SHARED, lines);
        Str y = output_of(b, cpu_native(), CODEGEN_SHARED, lines);
        assert_true(str_equal(x, y));
    }
    tir_free(a);
    tir_free(b);
}

typedef struct Worker {
    Tir *t;
    const CodegenApi *api;
    Str first;
    bool same;
} Worker;

static void work(void *user) {
    Worker *w = user;
    CodegenOptions options = {.target.cpu = cpu_native(),
                              .output = CODEGEN_SHARED,
                              .entry = STR("kernel_entry"),
                              .lines = true};
    w->same = true;
    for (int i = 0; i < 10; i++) {
        Str text = {0};
        w->same &=
            w->api->compile(w->t->arena, w->t->module->funcs.data[0], &options, &text, w->t->diags);
        if (i == 0) w->first = text;
        w->same &= str_equal(text, w->first);
    }
}

static void threads_compile_at_once(void **state) {
    (void)state;
    const CodegenApi *api = codegen_plugin();
    if (!api) skip();
    Worker workers[4] = {{0}};
    OsThread *threads[4];
    for (int i = 0; i < 4; i++) {
        workers[i] = (Worker){.t = tir_load(kernel), .api = api};
        threads[i] = os_thread_start("compile", work, &workers[i]);
        assert_non_null(threads[i]);
    }
    for (int i = 0; i < 4; i++) os_thread_join(threads[i]);
    for (int i = 0; i < 4; i++) {
        assert_true(workers[i].same);
        assert_true(str_equal(workers[i].first, workers[0].first));
    }
    for (int i = 0; i < 4; i++) tir_free(workers[i].t);
}

static void times_are_kept(void **state) {
    (void)state;
    const CodegenApi *api = codegen_plugin();
    if (!api) skip();
    Tir *t = tir_load(kernel);
    CodegenTimes times = {0};
    CodegenOptions options = {.target.cpu = cpu_native(),
                              .output = CODEGEN_SHARED,
                              .entry = STR("kernel_entry"),
                              .times = &times};
    Str text;
    assert_true(api->compile(t->arena, t->module->funcs.data[0], &options, &text, t->diags));
    assert_true(times.build && times.optimise && times.emit && times.link);
    tir_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_has_a_cell),
        cmocka_unit_test(what_has_no_translation_is_refused),
        cmocka_unit_test(every_refusal_is_reported),
        cmocka_unit_test(outputs_are_what_they_say),
        cmocka_unit_test(lines_are_those_of_the_source),
        cmocka_unit_test(objects_are_closed),
        cmocka_unit_test(the_same_input_gives_the_same_bytes),
        cmocka_unit_test(threads_compile_at_once),
        cmocka_unit_test(times_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
