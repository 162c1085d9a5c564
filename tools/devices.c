// tilec devices: lists the devices that can run kernels here, and the reasons why others cannot.
#include <stdio.h>
#include <tilec/tilec.h>

#include "base/os/os.h"
#include "base/vec.h"
#include "compile/jit/plugin.h"
#include "runtime/device.h"
#include "target/gpu_card.h"
#include "tools/cli.h"

static const struct {
    const char *name, *opens, *what;
} rows[] = {
    {"interp", "interp", "the reference interpreter: exact, slow, always there"},
    {"cpu", "cpu", "this machine's processor"},
    {"cuda", "cuda", "NVIDIA GPUs"},
    {"hip", "hip", "AMD GPUs"},
    {"sim", "sim:sm_80",
     "GPUs, simulated: sim:sm_75 to sim:sm_121, sim:gfx90a to sim:gfx1201; kernels, PTX and "
     "objects"},
};
enum { ROWS = sizeof rows / sizeof *rows, ROW_CPU = 1, ROW_HIP = 3 };

// Facts about compiling for the processor.
typedef struct CpuFacts {
    char target[CPU_NAME_MAX];
    unsigned processors;
    Str library;       // libtilec_llvm; empty: not found
    const char *llvm;  // its version; NULL: the library cannot be used
    Str why;           // the reason why not
} CpuFacts;

// Opens the library: its version, and whether it fits, are known only then.
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

// Devices of one kind of hardware: "hip:1", and a description.
typedef struct Card {
    Str name, what;
} Card;
typedef VEC(Card) Cards;

// Opens devices from the first one on until one does not open. The first is known to open.
static Cards find_cards(Arena *arena, tilec_context *context, const char *kind,
                        tilec_device *device) {
    enum { MOST = 64 };
    Cards cards = {0};
    for (int i = 0; device && device->api->describe && i < MOST; i++) {
        const char *name = arena_printf(arena, "%s:%d", kind, i);
        if (i && tilec_device_open(context, name, &device)) break;
        StrBuf what = strbuf(arena);
        device->api->describe(device, &what);
        vec_push(arena, &cards, ((Card){str(name), strbuf_str(&what)}));
    }
    return cards;
}

// The installed version of ROCm, in the folder of its own packages; empty if there is none.
static Str rocm_here(Arena *arena) {
    const char *path = os_env("ROCM_PATH");
    Str version;
    OsError error;
    if (!path || !path[0]) path = "/opt/rocm";
    const char *file = arena_printf(arena, "%s/.info/version", path);
    if (!os_read_file(arena, file, 4096, &version, &error)) return STR("");
    version = str_trim(version);
    return str(arena_printf(arena, "ROCm %.*s, %s", STR_ARG(version), path));
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

static void add_cards_json(Json *j, const Cards *cards) {
    json_key(j, "cards"), json_open(j, '[');
    for (size_t i = 0; i < cards->count; i++) {
        json_open(j, '{');
        json_key(j, "name"), json_str(j, cards->data[i].name);
        json_key(j, "description"), json_str(j, cards->data[i].what);
        json_close(j, '}');
    }
    json_close(j, ']');
}

// The row of one kind of device, with what was found.
typedef struct DeviceFound {
    bool available;
    const char *why;  // the reason why it is not available
    Cards cards;
    Str rocm;
} DeviceFound;

static void add_json(Json *j, size_t i, const DeviceFound *f, const CpuFacts *cpu) {
    json_open(j, '{');
    json_key(j, "name"), json_str(j, str(rows[i].name));
    json_key(j, "description"), json_str(j, str(rows[i].what));
    json_key(j, "available"), json_bool(j, f->available);
    if (f->available)
        json_key(j, "version"), json_str(j, str(tilec_version()));
    else
        json_key(j, "missing"), json_str(j, str(f->why));
    if (i == ROW_CPU) add_cpu_json(j, cpu);
    if (f->cards.count) add_cards_json(j, &f->cards);
    if (f->rocm.size) json_key(j, "rocm"), json_str(j, f->rocm);
    json_close(j, '}');
}

static void print_cpu(const CpuFacts *f) {
    printf("         %s, %u processor%s\n", f->target, f->processors,
           f->processors == 1 ? "" : "s");
    if (f->llvm)
        printf("         LLVM %s, %.*s\n", f->llvm, STR_ARG(f->library));
    else
        printf("         runs only cached kernels: %.*s\n", STR_ARG(f->why));
}

static void print_row(size_t i, const DeviceFound *f, const CpuFacts *cpu) {
    if (f->available)
        printf("%-8s %s (tilec %s)\n", rows[i].name, rows[i].what, tilec_version());
    else
        printf("%-8s %s: not available, %s\n", rows[i].name, rows[i].what, f->why);
    if (i == ROW_CPU && f->available) print_cpu(cpu);
    for (size_t k = 0; k < f->cards.count; k++)
        printf("         %.*s: %.*s\n", STR_ARG(f->cards.data[k].name),
               STR_ARG(f->cards.data[k].what));
    if (f->rocm.size) printf("         %.*s\n", STR_ARG(f->rocm));
}

static DeviceFound find(Arena *arena, tilec_context *context, size_t i) {
    tilec_device *device = NULL;
    DeviceFound f = {.available = tilec_device_open(context, rows[i].opens, &device) == TILEC_OK};
    Str why = f.available ? STR("") : str(tilec_last_error(context));
    f.why = arena_text(arena, why.text, why.size);
    f.cards = find_cards(arena, context, rows[i].name, device);
    if (i == ROW_HIP) f.rocm = rocm_here(arena);
    return f;
}

// The cards of a target, separated by commas, with those that take another form of it (sm_90 and
// sm_90a).
static Str cards_of(Arena *arena, GpuTarget target) {
    StrBuf out = strbuf(arena);
    const GpuCard *card;
    GpuTarget own;
    for (size_t i = 0; (card = gpu_card_at(i)); i++)
        if (gpu_target_parse(str(card->target), &own) && own.vendor == target.vendor &&
            own.number == target.number && !target.generic)
            strbuf_printf(&out, "%s%s", out.size ? ", " : "", card->name);
    return strbuf_str(&out);
}

static int list_targets(Cli *cli) {
    static const char *const others[][2] = {
        {"x86-64-v2", ""},
        {"x86-64-v3", ""},
        {"x86-64-v4", "also with +vnni, +bf16, +fp16, +amx-bf16, +amx-int8, in this order"},
        {"aarch64", ""},
        {"native", "this machine's processor"},
        {"interp", "the interpreter: IR, no code"},
    };
    Json *j = &cli->json_out;
    GpuTarget target;
    json_key(j, "targets"), json_open(j, '[');
    for (size_t i = 0; gpu_target_at(i, &target); i++) {
        char name[GPU_NAME_MAX];
        Str cards = cards_of(cli->arena, target);
        gpu_target_name(target, name);
        json_open(j, '{');
        json_key(j, "name"), json_str(j, str(name));
        json_key(j, "cards"), json_str(j, cards);
        json_close(j, '}');
        if (!cli->json) printf("%-*s%.*s\n", cards.size ? 16 : 0, name, STR_ARG(cards));
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        json_open(j, '{');
        json_key(j, "name"), json_str(j, str(others[i][0]));
        json_key(j, "about"), json_str(j, str(others[i][1]));
        json_close(j, '}');
        if (!cli->json) printf("%-*s%s\n", others[i][1][0] ? 16 : 0, others[i][0], others[i][1]);
    }
    json_close(j, ']');
    return EXIT_OK;
}

static const CliOption options[] = {
    {"targets", NULL, "instead: the targets of code, and the cards that run it", false},
};

static int run(Cli *cli) {
    if (cli_has(cli, "targets")) return list_targets(cli);
    tilec_context *context = NULL;
    if (tilec_context_create(NULL, &context))
        return cli_fail(cli, EXIT_DEFECT, DIAG_UNSUPPORTED, NULL, "cannot create a context");
    Plugin *plugin = plugin_create(NULL);
    CpuFacts cpu = cpu_facts(cli->arena, plugin);
    json_key(&cli->json_out, "devices"), json_open(&cli->json_out, '[');
    for (size_t i = 0; i < ROWS; i++) {
        DeviceFound f = find(cli->arena, context, i);
        add_json(&cli->json_out, i, &f, &cpu);
        if (!cli->json && (f.available || !cli->quiet)) print_row(i, &f, &cpu);
    }
    json_close(&cli->json_out, ']');
    plugin_destroy(plugin);
    tilec_context_destroy(context);
    return EXIT_OK;
}

const CliCommand command_devices = {
    .name = "devices",
    .usage = "[options]",
    .summary = "list what can run kernels here",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .max_operands = 0,
    .run = run,
};
