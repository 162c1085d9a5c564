// tilec devices: what can run kernels here, and what cannot, and why.
#include <stdio.h>
#include <tilec/tilec.h>

#include "base/os.h"
#include "compile/plugin.h"
#include "tools/cli.h"

// `mend` says what a device needs that is not there; NULL: opening it does.
static const struct {
    const char *name, *opens, *what, *mend;
} rows[] = {
    {"interp", "interp", "the reference interpreter: exact, slow, always there", ""},
    {"cpu", "cpu", "this machine's processor", ""},
    {"cuda", "cuda", "NVIDIA GPUs", NULL},
    {"hip", "hip", "AMD GPUs",
     "this version makes code for them (tilec emit), and runs it on sim:gfx… only"},
    {"sim", "sim:sm_80",
     "GPUs, simulated: sim:sm_75 to sim:sm_121, sim:gfx90a to sim:gfx1201; kernels, PTX and "
     "objects",
     ""},
};
enum { ROWS = sizeof rows / sizeof *rows, ROW_CPU = 1 };

// What code for the processor is made for and with.
typedef struct CpuFacts {
    char target[CPU_NAME_MAX];
    unsigned processors;
    Str library;       // libtilec_llvm; empty: not found
    const char *llvm;  // its version; NULL: it cannot be used
    Str why;           // it cannot
} CpuFacts;

// Opens the library: only that tells whether it fits, and its version.
static CpuFacts cpu_facts(Arena *arena, Plugin *plugin) {
    CpuFacts f = {.processors = os_cpu_count()};
    cpu_target_name(cpu_native(), f.target);
    Diags *diags = diags_create(arena, sources_create(arena));
    const CodegenApi *api = plugin_open(plugin, diags);
    f.library = plugin_find(plugin, arena);
    if (api) {
        f.llvm = api->llvm_version;
        return f;
    }
    const Diag *d = diags_get(diags, 0);
    StrBuf why = strbuf(arena);
    strbuf_printf(&why, "%.*s", STR_ARG(d->text));
    for (const DiagNote *n = d->notes; n; n = n->next)
        strbuf_printf(&why, "\n           %.*s", STR_ARG(n->text));
    strbuf_printf(&why, "\n           help: %.*s", STR_ARG(d->help));
    f.why = strbuf_str(&why);
    return f;
}

static void add_cpu_json(Json *j, const CpuFacts *f) {
    json_key(j, "target"), json_str(j, str(f->target));
    json_key(j, "processors"), json_uint(j, f->processors);
    json_key(j, "compiler");
    if (f->llvm)
        json_str(j, f->library);
    else
        json_null(j);
    if (f->llvm) json_key(j, "llvm"), json_str(j, str(f->llvm));
    if (!f->llvm) json_key(j, "missing"), json_str(j, f->why);
}

static void add_json(Json *j, size_t i, bool found, const char *why, const CpuFacts *cpu) {
    json_open(j, '{');
    json_key(j, "name"), json_str(j, str(rows[i].name));
    json_key(j, "description"), json_str(j, str(rows[i].what));
    json_key(j, "available"), json_bool(j, found);
    if (found)
        json_key(j, "version"), json_str(j, str(tilec_version()));
    else
        json_key(j, "missing"), json_str(j, str(why));
    if (i == ROW_CPU) add_cpu_json(j, cpu);
    json_close(j, '}');
}

static void print_cpu(const CpuFacts *f) {
    printf("         %s, %u processor%s\n", f->target, f->processors,
           f->processors == 1 ? "" : "s");
    if (f->llvm)
        printf("         LLVM %s, %.*s\n", f->llvm, STR_ARG(f->library));
    else
        printf("         runs only what its cache holds: %.*s\n", STR_ARG(f->why));
}

static void print_row(size_t i, bool found, const char *why, const CpuFacts *cpu) {
    if (!found) {
        printf("%-8s %s: not available, %s\n", rows[i].name, rows[i].what, why);
        return;
    }
    printf("%-8s %s (tilec %s)\n", rows[i].name, rows[i].what, tilec_version());
    if (i == ROW_CPU) print_cpu(cpu);
}

static int run(Cli *cli) {
    tilec_context *context = NULL;
    if (tilec_context_create(NULL, &context))
        return cli_fail(cli, EXIT_DEFECT, DIAG_UNSUPPORTED, NULL, "no context can be made");
    Plugin *plugin = plugin_create(NULL);
    CpuFacts cpu = cpu_facts(cli->arena, plugin);
    json_key(&cli->json_out, "devices"), json_open(&cli->json_out, '[');
    for (size_t i = 0; i < ROWS; i++) {
        tilec_device *device = NULL;
        bool found = tilec_device_open(context, rows[i].opens, &device) == TILEC_OK;
        const char *why = rows[i].mend ? rows[i].mend : tilec_last_error(context);
        add_json(&cli->json_out, i, found, why, &cpu);
        if (!cli->json && (found || !cli->quiet)) print_row(i, found, why, &cpu);
    }
    json_close(&cli->json_out, ']');
    plugin_destroy(plugin);
    tilec_context_destroy(context);
    return EXIT_FINE;
}

const CliCommand command_devices = {
    .name = "devices",
    .usage = "[options]",
    .summary = "what can run kernels here",
    .options = NULL,
    .option_count = 0,
    .max_operands = 0,
    .run = run,
};
