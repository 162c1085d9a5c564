// tilec emit FILE [KERNEL]: prints a kernel at one stage of its compilation.
#include <string.h>

#include "compile/pipeline/launch_guard.h"
#include "ir/text/text.h"
#include "tools/front.h"
#include "tools/progress.h"
#include "tools/settings.h"

static const CliOption options[] = {
    SETTINGS_OPTIONS,
    FRONT_LIMIT_OPTION,
    {"target", "T",
     "x86-64-v4, aarch64, sm_80, native (default for code), …; its `tune` lines apply", false},
    {"as", "FORM", "tile-ir (default), metadata, cpu-ir, thread-ir, llvm, asm or object", false},
    {"variant", "N", "of the metadata, for code (default: the likeliest one)", false},
    {"passes", "LIST", "passes and pipelines to run (default: tile); none: as written", false},
    FRONT_PASS_OPTIONS,
    {"o", "OUT", "write there instead of to standard output", false},
};

typedef enum Form {
    FORM_TILE_IR,
    FORM_METADATA,
    FORM_CPU_IR,
    FORM_THREAD_IR,
    FORM_LLVM,
    FORM_ASM,
    FORM_OBJECT
} Form;
static const char *const form_names[] = {"tile-ir", "metadata", "cpu-ir", "thread-ir",
                                         "llvm",    "asm",      "object"};
enum { FORMS = sizeof form_names / sizeof *form_names };

typedef struct Emit {
    Cli *cli;
    Unit *unit;
    const FrontKernel *kernel;
    Form form;
    Settings settings;
    FrontPasses passes;
    CompileOptions options;
    bool has_target;  // a target was given, or the form needs one
    CodeTarget target;
    Machine machine;  // of the target
    int64_t variant;  // -1: the likeliest one
    PtxFacts facts;   // of a GPU's object
} Emit;

static const Compiled *compile(Emit *e) {
    return unit_compile(e->unit, e->kernel, &e->settings.spec, &e->options);
}

static int failed(Emit *e) {
    front_report(e->cli, e->unit);
    front_passes_report(&e->passes);
    return front_status(e->unit->diags);
}

static int choose_variant(Emit *e, const Compiled *c, uint32_t *variant) {
    uint32_t count = c->meta->variant_count;
    *variant = e->variant < 0 ? launch_likely_variant(c->meta) : (uint32_t)e->variant;
    if (*variant < count) return EXIT_OK;
    return cli_usage_error(e->cli,
                           "the kernel has %u variant%s, counted from 0; there is no variant %u",
                           count, count == 1 ? "" : "s", *variant);
}

// Machine code from PTX, made by a tool, because there is no driver here.
static bool assemble(Emit *e, Code *code) {
    CubinMaker *maker = front_cubin_maker(e->cli);
    Cubin cubin;
    bool made =
        cubin_make(maker, e->unit->arena, e->unit->sources, code->bytes, &cubin, e->unit->diags);
    cubin_maker_destroy(maker);
    if (!made) return false;
    code->bytes = cubin.bytes;
    e->facts = cubin.facts;
    return true;
}

// The code of one variant, or its IR.
static int emit_code(Emit *e, const Compiled *c, StrBuf *out) {
    static const CodegenOutput outputs[FORMS] = {
        [FORM_LLVM] = CODEGEN_LLVM, [FORM_ASM] = CODEGEN_ASM, [FORM_OBJECT] = CODEGEN_OBJECT};
    CodeOptions o = {.target = e->target,
                     .output = outputs[e->form],
                     .lines = true,
                     .passes = e->passes.options};
    int status = choose_variant(e, c, &o.variant);
    if (status) return status;
    // The form that a loader takes: for GPUs, linked machine code.
    bool loads = e->form == FORM_OBJECT && code_target_is_gpu(e->target);
    bool cubin = loads && code_target_takes_ptx(e->target);
    if (loads) o.output = code_output(e->target);
    if (e->form == FORM_CPU_IR || e->form == FORM_THREAD_IR) {
        if (!code_lower(e->unit, c, &o, NULL)) return failed(e);
        ir_print_module(c->module, out);
        return EXIT_OK;
    }
    Code code;
    Progress *p = progress_begin(e->cli, "compiling %s", e->kernel->name);
    bool good = front_code(&e->passes, e->unit, c, &o, &code);
    if (good && cubin) good = assemble(e, &code);
    progress_end(p);
    if (!good) return failed(e);
    strbuf_add(out, code.bytes);
    return EXIT_OK;
}

// The asserts, prints and scratch memory of a variant are known only after it is lowered. Each
// variant is lowered separately.
static int note_variants(Emit *e, const Compiled *c) {
    MetaVariant *variants =
        arena_copy(e->unit->arena, c->meta->variants, c->meta->variant_count * sizeof *variants);
    for (uint32_t i = 0; i < c->meta->variant_count; i++) {
        const Compiled *own = compile(e);
        CodeOptions o = {.target = e->target, .variant = i, .passes = e->passes.options};
        Str entry = own ? code_entry(e->unit->arena, own->func, i) : STR("");
        if (!own || !code_lower(e->unit, own, &o, NULL)) return failed(e);
        CodeNotes notes = code_notes_of(e->unit->arena, own->func, false);
        notes.entry = entry;
        code_note_variant(&notes, &variants[i]);
    }
    c->meta->variants = variants;
    return EXIT_OK;
}

static void facts_json(Json *j, const PtxFacts *facts) {
    json_key(j, "registers"), json_uint(j, facts->registers);
    json_key(j, "stack"), json_uint(j, facts->stack);
    json_key(j, "spillStores"), json_uint(j, facts->spill_stores);
    json_key(j, "spillLoads"), json_uint(j, facts->spill_loads);
}

static int write_form(Emit *e, Str text, const MetaKernel *meta) {
    Cli *cli = e->cli;
    if (cli->json) {
        json_key(&cli->json_out, "kernel"), json_str(&cli->json_out, meta->name);
        json_key(&cli->json_out, "form"), json_str(&cli->json_out, str(form_names[e->form]));
    }
    if (cli->json && e->facts.known) facts_json(&cli->json_out, &e->facts);
    if (e->form == FORM_METADATA && cli->json && !cli_has(cli, "o")) {
        json_key(&cli->json_out, "metadata"), json_raw(&cli->json_out, str_trim(text));
        return EXIT_OK;
    }
    return cli_output(cli, "text", text);
}

static int emit(Emit *e) {
    const Compiled *c = compile(e);
    if (!c || diags_errors(e->unit->diags)) return failed(e);
    StrBuf out = strbuf(e->cli->arena);
    int status = EXIT_OK;
    switch (e->form) {
    case FORM_TILE_IR: ir_print_module(c->module, &out); break;
    case FORM_METADATA:
        if (e->has_target) status = note_variants(e, c);
        meta_json(c->meta, &out);
        strbuf_char(&out, '\n');
        break;
    case FORM_CPU_IR:
    case FORM_THREAD_IR:
    case FORM_LLVM:
    case FORM_ASM:
    case FORM_OBJECT: status = emit_code(e, c, &out); break;
    }
    if (status) return status;
    front_report(e->cli, e->unit);
    front_passes_report(&e->passes);
    return write_form(e, strbuf_str(&out), c->meta);
}

static int prepare(Emit *e) {
    Cli *cli = e->cli;
    int status = settings_parse(cli, e->unit, e->kernel, &e->settings);
    e->settings.spec.target = cli_value(cli, "target");
    if (e->has_target) {
        char name[CODE_TARGET_NAME_MAX];
        e->settings.spec.target = str(cli_text(cli, str(code_target_name(e->target, name))));
    }
    if (!status) status = settings_require_types(&e->settings);
    if (!status) status = front_passes(cli, e->unit->diags, &e->passes);
    if (status) return status;
    e->passes.options.verify = true;
    if (e->has_target) {
        e->machine = code_target_machine(e->target);
        e->passes.options.machine = &e->machine;
    }
    CompileVariants variants = e->has_target ? compile_variants_of(e->target) : VARIANTS_NONE;
    e->options = (CompileOptions){.passes = e->passes.options, .variants = variants};
    Str list = cli_value(cli, "passes");
    e->options.elaborate_only = str_equal(list, STR("none"));
    if (!cli_has(cli, "passes") || e->options.elaborate_only) return EXIT_OK;
    e->options.steps = passes_parse(cli->arena, list, &e->options.step_count, e->unit->diags);
    if (e->options.steps) return EXIT_OK;
    front_report(cli, e->unit);
    return EXIT_USAGE;
}

// Names that other tools use for some forms, and the options for them here.
static const struct {
    const char *name, *help;
} other_forms[] = {
    {"ptx", "PTX is the assembly of NVIDIA's targets: --as asm --target sm_80"},
    {"gcn", "AMD's assembly: --as asm --target gfx942"},
    {"amdgcn", "AMD's assembly: --as asm --target gfx942"},
    {"cubin", "machine code is --as object --target sm_80 -o FILE; NVIDIA's ptxas makes it"},
    {"hsaco", "AMD's code object is --as object --target gfx942 -o FILE"},
    {"sass", "machine code is --as object --target sm_80 -o FILE; NVIDIA's tools list it"},
    {"assembly", "--as asm"},
    {"llvm-ir", "--as llvm"},
    {"ir", "--as tile-ir, or cpu-ir and thread-ir for a target"},
};

static int parse_form(Emit *e) {
    Str form = cli_has(e->cli, "as") ? cli_value(e->cli, "as") : STR("tile-ir");
    for (int i = 0; i < FORMS; i++) {
        if (!str_equal(form, str(form_names[i]))) continue;
        e->form = (Form)i;
        if (e->form == FORM_OBJECT && e->cli->json && !cli_has(e->cli, "o"))
            return cli_usage_error(e->cli, "--as object under --json takes -o: it is not text");
        return EXIT_OK;
    }
    for (size_t i = 0; i < sizeof other_forms / sizeof *other_forms; i++)
        if (str_equal(str_lower(e->cli->arena, form), str(other_forms[i].name)))
            return cli_fail(e->cli, EXIT_USAGE, DIAG_USAGE, other_forms[i].help,
                            "there is no form '%.*s'", STR_ARG(form));
    return cli_usage_error(
        e->cli,
        "--as takes tile-ir, metadata, cpu-ir, thread-ir, llvm, asm or object, found '%.*s'",
        STR_ARG(form));
}

// Each level below tile IR, and objects, belong to one kind of target.
static int check_form(Emit *e) {
    bool gpu = code_target_is_gpu(e->target);
    char name[CODE_TARGET_NAME_MAX];
    code_target_name(e->target, name);
    if (gpu && e->form == FORM_CPU_IR)
        return cli_usage_error(e->cli, "--as cpu-ir is for CPUs: for %s, take thread-ir", name);
    if (!gpu && e->form == FORM_THREAD_IR)
        return cli_usage_error(
            e->cli, "--as thread-ir is for GPUs: for %s, take cpu-ir, or --target sm_80", name);
    return EXIT_OK;
}

static int parse_target(Emit *e) {
    Str target = cli_value(e->cli, "target");
    bool code = e->form >= FORM_CPU_IR;
    if (!cli_has(e->cli, "target") || str_equal(target, STR("native"))) {
        e->has_target = code || cli_has(e->cli, "target");
        e->target.cpu = cpu_native();
        return check_form(e);
    }
    int status = front_target(e->cli, target, code, &e->target, &e->has_target);
    return status || !e->has_target ? status : check_form(e);
}

static int run(Cli *cli) {
    Emit e = {.cli = cli};
    int status = parse_form(&e);
    if (!status) status = parse_target(&e);
    if (!status && !cli_number(cli, "variant", -1, 0, 100, &e.variant)) status = EXIT_USAGE;
    if (!status) status = front_open(cli, &e.unit, &e.kernel);
    if (!status) status = prepare(&e);
    if (!status) status = emit(&e);
    unit_destroy(e.unit);
    return status;
}

const CliCommand command_emit = {
    .name = "emit",
    .usage = "FILE [KERNEL] [options]",
    .summary = "print what a kernel becomes: IR, metadata, LLVM IR, assembly or PTX, an object",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .min_operands = 1,
    .max_operands = 2,
    .run = run,
};
