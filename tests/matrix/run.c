// Running: the device table, guarded memory, and programs compared with what must come out.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/os/os.h"
#include "ir/text/text.h"
#include "ir/verify/verify.h"
#include "tests/matrix/matrix.h"
#include "tests/support/foreign.h"
#include "tests/support/jitted.h"
#include "tests/support/lowered.h"
#include "tests/support/simulated.h"
#include "tests/support/slice.h"

// ---- devices ------------------------------------------------------------------------------------

static void keep_line(void *user, Str line) {
    StrBuf *printed = user;
    strbuf_add(printed, line);
    strbuf_char(printed, '\n');
}

static IrFunc *kernel_of(const IrModule *module) {
    for (size_t i = 0; i < module->funcs.count; i++)
        if (module->funcs.data[i]->is_kernel) return module->funcs.data[i];
    return NULL;
}

static const char *text_of(const Program *p) { return p->pieces ? p->pieces : p->text; }

static IrModule *parse_cell(const Program *p, Arena *arena, Sources *sources, Diags *diags) {
    const SourceFile *file = source_add(sources, STR("cell.tir"), str(text_of(p)));
    IrModule *module = ir_parse(arena, sources, interner_create(arena), file, diags);
    return module && ir_verify(module, diags) ? module : NULL;
}

static IrLaunch launch_of(const Program *p, StrBuf *printed) {
    return (IrLaunch){.args = p->args,
                      .arg_count = p->arg_count,
                      .grid = {p->grid[0], p->grid[1], p->grid[2]},
                      .sanitize = p->sanitize,
                      .print = keep_line,
                      .user = printed};
}

static bool is_allowed(IrInterp *interp, const IrFunc *kernel, const IrLaunch *launch) {
    for (size_t i = 0; i < kernel->sections.count; i++) {
        const IrSection *section = &kernel->sections.data[i];
        uint64_t holds = 0;
        if (section->kind != IR_REQUIRES) continue;
        if (!ir_interp_section(interp, section, launch, 1, &holds) || !holds) return false;
    }
    return true;
}

static void run_kernel(const IrFunc *kernel, const IrLaunch *launch, Arena *arena, Diags *diags,
                       IrOutcome *outcome) {
    IrInterp *interp = ir_interp_create(arena, kernel);
    *outcome = is_allowed(interp, kernel, launch) ? ir_interp_run(interp, launch, diags)
                                                  : (IrOutcome)MATRIX_REFUSED;
    ir_interp_destroy(interp);
}

static DeviceResult run_interp(const Device *d, Program *p, Arena *arena, IrOutcome *outcome,
                               StrBuf *printed, StrBuf *message) {
    (void)d;
    Sources *sources = sources_create(arena);
    Diags *diags = diags_create(arena, sources);
    IrModule *module = parse_cell(p, arena, sources, diags);
    IrLaunch launch = launch_of(p, printed);
    if (module) run_kernel(kernel_of(module), &launch, arena, diags, outcome);
    diags_text(diags, (DiagStyle){0}, message);
    return module ? DEVICE_RAN : DEVICE_REFUSED;
}

static uint64_t hash_of(const char *text) {  // FNV-1a
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

// If the cell is the first of its kind, each vendor's row takes a GPU of that vendor.
static uint64_t gpu_among(const Device *d, const Program *p, uint64_t place) {
    if (!p->first_of_kind) return place % LOWERED_GPUS;
    if (d->kinds) return LOWERED_NVIDIA + place % (LOWERED_GPUS - LOWERED_NVIDIA);
    return place % LOWERED_NVIDIA;
}

// Chooses a GPU, warps, facts and an order of warps (lowered.h, simulated.h). Each slice chooses
// others, and so does TILEC_TEST_CHOICE=N: 44 consecutive numbers are every GPU with every number
// of warps, 20 are every order.
static uint64_t choice_of(const Device *d, const Program *p) {
    const char *text = getenv("TILEC_TEST_CHOICE");
    uint64_t hash = hash_of(p->text), n = text ? strtoull(text, NULL, 10) : slice_number();
    uint64_t place = (hash + n) % (LOWERED_GPUS * LOWERED_WARPS);
    return lowered_choice(gpu_among(d, p, place), place / LOWERED_GPUS, (hash >> 8) + n / 3,
                          hash >> 16, (hash >> 24) + n);
}

static CpuTarget target_of(const Device *d) {
    CpuTarget target;
    CHECK(cpu_target_parse(str(d->target), &target), "'%s' is not a target", d->target);
    return target;
}

static bool is_refused(const IrFunc *kernel, const IrLaunch *launch, Arena *arena) {
    IrInterp *interp = ir_interp_create(arena, kernel);
    bool refused = !is_allowed(interp, kernel, launch);
    ir_interp_destroy(interp);
    return refused;
}

// The result of cpu_lower for the cell, on the interpreter. Findings of `sanitize` are of tile
// code.
static DeviceResult run_lowered(const Device *d, Program *p, Arena *arena, IrOutcome *outcome,
                                StrBuf *printed, StrBuf *message) {
    (void)d;
    if (p->sanitize) return DEVICE_LEFT_OUT;
    Sources *sources = sources_create(arena);
    Diags *diags = diags_create(arena, sources);
    IrModule *module = parse_cell(p, arena, sources, diags);
    IrLaunch launch = launch_of(p, printed);
    const IrFunc *kernel = module ? kernel_of(module) : NULL;
    if (kernel && kernel->level == IR_LEVEL_THREAD) return DEVICE_LEFT_OUT;
    if (kernel && is_refused(kernel, &launch, arena)) {
        *outcome = (IrOutcome)MATRIX_REFUSED;
        return DEVICE_RAN;
    }
    bool fine =
        module && lowered_run(module, hash_of(p->text), lowered_facts(kernel, p->args), diags);
    if (fine) run_kernel(kernel, &launch, arena, diags, outcome);
    diags_text(diags, (DiagStyle){0}, message);
    if (fine && *outcome == p->outcome) return DEVICE_RAN;
    if (module) ir_print_module(module, message);
    return fine ? DEVICE_RAN : DEVICE_REFUSED;
}

// Every pattern of 16 bits at once is more than small machines' shared memory, and more than the
// registers of one warp; nothing else is.
static bool lacks_room(const Program *p, const StrBuf *message) {
    return strstr(p->text, "[256,256]") &&
           (strstr(message->text, " of shared memory for each program, and ") ||
            strstr(message->text, " registers of each of its "));
}

// The result of gpu_threads for the cell, all threads in step on the interpreter.
static DeviceResult run_threads(const Device *d, Program *p, Arena *arena, IrOutcome *outcome,
                                StrBuf *printed, StrBuf *message) {
    (void)d;
    if (p->sanitize) return DEVICE_LEFT_OUT;
    Sources *sources = sources_create(arena);
    Diags *diags = diags_create(arena, sources);
    IrModule *module = parse_cell(p, arena, sources, diags);
    IrLaunch launch = launch_of(p, printed);
    const IrFunc *kernel = module ? kernel_of(module) : NULL;
    if (kernel && kernel->level != IR_LEVEL_TILE) return DEVICE_LEFT_OUT;
    if (kernel && is_refused(kernel, &launch, arena)) {
        *outcome = (IrOutcome)MATRIX_REFUSED;
        return DEVICE_RAN;
    }
    uint64_t choice = choice_of(d, p);
    bool fine =
        module && lowered_to_threads(module, choice, false, lowered_facts(kernel, p->args), diags);
    if (fine) run_kernel(kernel, &launch, arena, diags, outcome);
    diags_text(diags, (DiagStyle){0}, message);
    if (fine && *outcome == p->outcome) return DEVICE_RAN;
    if (!fine && lacks_room(p, message)) return DEVICE_LEFT_OUT;
    if (module) ir_print_module(module, message);
    return fine ? DEVICE_RAN : DEVICE_REFUSED;
}

// PTX of the cell on the warp machine, watched.
static DeviceResult run_simulated(const Device *d, Program *p, Arena *arena, IrOutcome *outcome,
                                  StrBuf *printed, StrBuf *message) {
    (void)d;
    if (p->sanitize) return DEVICE_LEFT_OUT;
    Sources *sources = sources_create(arena);
    Diags *diags = diags_create(arena, sources);
    IrModule *module = parse_cell(p, arena, sources, diags);
    IrLaunch launch = launch_of(p, printed);
    IrFunc *kernel = module ? kernel_of(module) : NULL;
    if (kernel && kernel->level != IR_LEVEL_TILE) return DEVICE_LEFT_OUT;
    if (kernel && is_refused(kernel, &launch, arena)) {
        *outcome = (IrOutcome)MATRIX_REFUSED;
        return DEVICE_RAN;
    }
    SimulatedOptions options = {.choice = choice_of(d, p)};
    if (module) options.facts = lowered_facts(kernel, p->args);
    bool fine = module && simulated_run(module, kernel, &options, &launch, outcome, diags);
    diags_text(diags, (DiagStyle){0}, message);
    if (!fine && lacks_room(p, message)) return DEVICE_LEFT_OUT;
    if (!fine && module) ir_print_module(module, message);
    return fine ? DEVICE_RAN : DEVICE_REFUSED;
}

// Code of a target. Findings of `sanitize` are of tile code. thread.* ops do not occur in code of a
// CPU. A cell of a cpu.* op also has tile code, which no pass lowers (tests/codegen has those ops).
static DeviceResult run_compiled(const Device *d, Program *p, Arena *arena, IrOutcome *outcome,
                                 StrBuf *printed, StrBuf *message) {
    if (p->sanitize) return DEVICE_LEFT_OUT;
    Sources *sources = sources_create(arena);
    Diags *diags = diags_create(arena, sources);
    IrModule *module = parse_cell(p, arena, sources, diags);
    IrLaunch launch = launch_of(p, printed);
    IrFunc *kernel = module ? kernel_of(module) : NULL;
    if (kernel && kernel->level != IR_LEVEL_TILE) return DEVICE_LEFT_OUT;
    if (kernel && is_refused(kernel, &launch, arena)) {
        *outcome = (IrOutcome)MATRIX_REFUSED;
        return DEVICE_RAN;
    }
    JittedOptions options = {.target = target_of(d), .quick = p->quick};
    uint64_t choice = hash_of(p->text) >> 8;
    if (module && choice % 2) options.facts = lowered_facts(kernel, p->args);
    bool fine = module && jitted_run(module, kernel, &options, &launch, outcome, diags);
    diags_text(diags, (DiagStyle){0}, message);
    if (!fine && module) ir_print_module(module, message);
    return fine ? DEVICE_RAN : DEVICE_REFUSED;
}

// The best target without tile registers.
#define V4_WITHOUT_TILES "x86-64-v4+vnni+bf16"

const Device matrix_devices[] = {
    {.name = "interp", .run = run_interp, .splits = true},
    {.name = "lowered", .run = run_lowered},
    {.name = "gpu", .run = run_threads, .ties_away = true},
    {.name = "cpu v2", .run = run_compiled, .compiled = true, .target = "x86-64-v2"},
    {.name = "cpu v3", .run = run_compiled, .compiled = true, .target = "x86-64-v3"},
    {.name = "cpu v4", .run = run_compiled, .compiled = true, .target = "x86-64-v4"},
    {.name = "cpu v4 pairs", .run = run_compiled, .compiled = true, .target = V4_WITHOUT_TILES},
    {.name = "cpu native", .run = run_compiled, .compiled = true, .target = "native"},
    {.name = "cpu aarch64", .run = run_compiled, .compiled = true, .target = "aarch64"},
    {.name = "sim", .run = run_simulated, .compiled = true, .ties_away = true},
    {.name = "sim amd", .run = run_simulated, .compiled = true, .ties_away = true, .kinds = true},
};
const uint32_t matrix_device_count = sizeof matrix_devices / sizeof *matrix_devices;
enum { COMPILED_DEVICES = 7, OTHER_LEVELS = 4, KIND_SLICES = 3, FIRST_SLICES = 3 };

const char *matrix_not_compiled(const Device *d) {
    if (!jitted_possible()) return "libtilec_llvm was not built";
    return d->target ? foreign_missing(target_of(d)) : NULL;
}

static bool is_set(const char *variable, const char *value) {
    const char *text = getenv(variable);
    return text && strcmp(text, value) == 0;
}

// The first cell of a kind: the machine's own level of x86-64, another level in rotation, and both
// vendors' GPUs, each in one of KIND_SLICES slices.
static bool takes_kind(const Device *d, uint64_t hash) {
    bool due = slice_has(hash >> 8, KIND_SLICES);
    if (!d->target) return getenv("TILEC_TEST_GPU") ? !d->kinds : due;
    if (strcmp(d->target, "native") == 0) return due;
    if (target_of(d).level == CPU_AARCH64) return false;
    return slice_has(hash - (uint64_t)(d - matrix_devices), OTHER_LEVELS);
}

bool matrix_is_compiled(const Matrix *m, const Device *d, const char *name, Program *p) {
    if (matrix_not_compiled(d)) return false;
    p->quick = false;
    p->first_of_kind = m->first_of_kind && !m->whole;
    if (d->kinds && !p->first_of_kind) return false;
    uint64_t hash = hash_of(name) * 31 + hash_of(p->text);
    uint64_t number = (uint64_t)(d - matrix_devices) % COMPILED_DEVICES;
    bool named = is_set("TILEC_TEST_DEVICE", d->name);
    bool own = named || slice_has(hash - number, COMPILED_DEVICES);
    if (p->first_of_kind && takes_kind(d, hash)) return true;
    uint64_t slices = m->compiled_slice;
    if (m->first) slices = named || m->whole ? 1 : FIRST_SLICES;
    bool sliced = own && slice_has(hash / COMPILED_DEVICES, slices);
    bool all = is_set("TILEC_TEST_TARGETS", "all");
    p->quick = all && !sliced;
    if (p->quick)
        return d->target && target_of(d).level != CPU_AARCH64 && strcmp(d->target, "native") != 0;
    return sliced || (own && is_set("TILEC_TEST_WHOLE", "1"));
}

// ---- the matrix ---------------------------------------------------------------------------------

// One cell in SLICE runs, of those one in COMPILED_SLICE as compiled code of one of
// COMPILED_DEVICES. No two have a common factor, so that in the end each cell meets each device.
enum { SHOWN_FAILURES = 40, SLICE = 97, COMPILED_SLICE = 31 };

Matrix *matrix_create(bool whole) {
    Arena *messages = arena_create();
    Matrix *m = arena_new(messages, Matrix, 1);
    m->messages = messages;
    m->arena = arena_create();
    m->start = arena_mark(m->arena);
    m->whole = whole;
    m->portion = portion();
    m->compiled_slice = COMPILED_SLICE;
    m->random = UINT64_C(0x9e3779b97f4a7c15);
    m->kinds = arena_new(messages, uint8_t, IR_OPCODES * COLUMNS * MATRIX_KINDS / 8 + 1);
    m->failed = strbuf(messages);
    return m;
}

void matrix_destroy(Matrix *m) {
    arena_destroy(m->arena);
    arena_destroy(m->messages);
}

char *matrix_text(Matrix *m, const char *format, ...) {
    StrBuf text = strbuf(m->arena);
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    return text.text;
}

void matrix_fail(Matrix *m, const char *name, const char *format, ...) {
    m->failures++;
    if (m->failures > SHOWN_FAILURES) return;
    va_list args;
    va_start(args, format);
    strbuf_printf(&m->failed, "%s: ", name);
    strbuf_vprintf(&m->failed, format, args);
    strbuf_char(&m->failed, '\n');
    va_end(args);
}

static bool takes(Matrix *m, IrOpcode code, int column, const char *name) {
    arena_reset(m->arena, m->start);
    m->cells++;
    m->made[code][column]++;
    m->first = m->covered[code][column] == 0;
    if (!m->whole && !m->first && !m->first_of_kind && !slice_has(hash_of(name), SLICE))
        return false;
    m->covered[code][column]++;
    if (m->whole && !portion_has(m->portion, m->cells)) return false;
    m->ran++;
    m->random = hash_of(name) | 1;  // a cell has its own numbers, whichever ran before
    return true;
}

bool matrix_takes(Matrix *m, IrOpcode code, int column, const char *name) {
    m->first_of_kind = false;
    return takes(m, code, column, name);
}

bool matrix_takes_kind(Matrix *m, IrOpcode code, int column, uint32_t kind, const char *name) {
    CHECK(kind < MATRIX_KINDS, "kind %u", kind);
    size_t bit = ((size_t)code * COLUMNS + (size_t)column) * MATRIX_KINDS + kind;
    m->first_of_kind = !(m->kinds[bit / 8] >> bit % 8 & 1);
    m->kinds[bit / 8] = (uint8_t)(m->kinds[bit / 8] | 1u << bit % 8);
    return takes(m, code, column, name);
}

static uint32_t bytes_of(Dtype t) { return (uint32_t)(type_width(t) + 7) / 8; }

// ---- programs -----------------------------------------------------------------------------------

// Code that runs wild says nothing: TILEC_TEST_TRACE=1 names each cell before it runs.
static void trace(const char *name, const Device *d) {
    if (d->compiled && getenv("TILEC_TEST_TRACE")) fprintf(stderr, "%s on %s\n", name, d->name);
}

// The CPU time of this process and of those that it started and that have ended.
static double cpu_seconds(void) {
    static const int whose[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
    double sum = 0;
    for (int i = 0; i < 2; i++) {
        struct rusage used;
        if (getrusage(whose[i], &used)) continue;
        sum += (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
        sum += (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    }
    return sum;
}

// TILEC_TEST_COSTS=1 prints what each run of a cell costs: milliseconds, device, GPU and warps,
// and the name.
static void report_cost(const char *name, const Device *d, const Program *p, double seconds) {
    if (!is_set("TILEC_TEST_COSTS", "1")) return;
    bool gpu = d->run == run_threads || d->run == run_simulated;
    Machine machine = gpu ? lowered_gpu(choice_of(d, p)) : (Machine){0};
    printf("cost\t%.3f\t%s\t%d-%x\t%u\t%s\n", seconds * 1e3, d->name, (int)machine.gpu.vendor,
           (unsigned)machine.gpu.number, gpu ? lowered_warps(choice_of(d, p)) : 0, name);
}

bool matrix_execute(Matrix *m, const char *name, const Device *d, Program *p) {
    StrBuf printed = strbuf(m->arena), message = strbuf(m->arena);
    IrOutcome outcome = IR_RUN_DONE;
    const char *only = getenv("TILEC_TEST_DEVICE");
    if (only && strcmp(only, d->name) != 0) return false;
    if (d->compiled && !matrix_is_compiled(m, d, name, p)) return false;
    for (int i = 0; i < 3; i++)
        if (p->grid[i] == 0) p->grid[i] = 1;
    trace(name, d);
    double began = cpu_seconds();
    DeviceResult result = d->run(d, p, m->arena, &outcome, &printed, &message);
    report_cost(name, d, p, cpu_seconds() - began);
    m->runs[d - matrix_devices] += result != DEVICE_LEFT_OUT;
    m->left_out[d - matrix_devices] += result == DEVICE_LEFT_OUT;
    if (result == DEVICE_LEFT_OUT) return false;
    if (result == DEVICE_REFUSED) {
        matrix_fail(m, name, "refused by %s:\n%s\n%s", d->name, message.text, text_of(p));
        return false;
    }
    if (outcome != p->outcome) {
        matrix_fail(m, name, "ended with %d on %s, expected %d:\n%s\n%s", (int)outcome, d->name,
                    (int)p->outcome, message.text ? message.text : "", text_of(p));
        return false;
    }
    const char *lines = printed.text ? printed.text : "";
    if (p->printed && strcmp(lines, p->printed) != 0) {
        matrix_fail(m, name, "printed on %s:\n%sexpected:\n%s", d->name, lines, p->printed);
        return false;
    }
    return true;
}

// Where a NaN is expected, any NaN of the element's type will do.
static bool both_nan(const Buffer *buffer, uint64_t i) {
    uint32_t size = bytes_of(buffer->elem);
    if (!type_is_float(buffer->elem)) return false;
    uint64_t at = i / size, want = 0, got = 0;  // guards are of whole elements
    for (uint32_t b = 0; b < size; b++) {
        want |= (uint64_t)buffer->expected[at * size + b] << 8 * b;
        got |= (uint64_t)buffer->bytes[at * size + b] << 8 * b;
    }
    return bits_are_nan(buffer->elem, want) && bits_are_nan(buffer->elem, got);
}

static void compare_buffer(Matrix *m, const char *name, const Device *d, const Program *p,
                           uint32_t b) {
    const Buffer *buffer = &p->buffers[b];
    for (uint64_t i = 0; buffer->expected && i < buffer->size; i++) {
        if (buffer->bytes[i] == buffer->expected[i]) continue;
        if (d->compiled && p->makes_nans && both_nan(buffer, i)) continue;
        matrix_fail(m, name, "on %s byte %llu of buffer %u is 0x%02x, expected 0x%02x\n%s", d->name,
                    (unsigned long long)i, b, buffer->bytes[i], buffer->expected[i], p->text);
        return;
    }
}

void matrix_program(Matrix *m, const char *name, Program *p) {
    uint8_t *before[MAX_BUFFERS];
    for (uint32_t b = 0; b < p->buffer_count; b++) {
        before[b] = arena_new(m->arena, uint8_t, p->buffers[b].size + 1);
        memcpy(before[b], p->buffers[b].bytes, p->buffers[b].size);
    }
    for (uint32_t d = 0; d < matrix_device_count; d++) {
        for (uint32_t b = 0; b < p->buffer_count; b++)
            memcpy(p->buffers[b].bytes, before[b], p->buffers[b].size);
        if (!matrix_execute(m, name, &matrix_devices[d], p)) continue;
        for (uint32_t b = 0; b < p->buffer_count; b++)
            compare_buffer(m, name, &matrix_devices[d], p, b);
    }
}

// ---- kernels of values --------------------------------------------------------------------------

static void shape_text(StrBuf *out, const Tile *t) {
    for (uint32_t d = 0; d < t->rank; d++) strbuf_printf(out, "%s%u", d ? "," : "[", t->shape[d]);
    if (t->rank) strbuf_char(out, ']');
}

const char *tile_type(Matrix *m, const Tile *t) {
    StrBuf out = strbuf(m->arena);
    strbuf_printf(&out, "%s", t->pointer ? "*f32" : dtype_name(t->elem));
    shape_text(&out, t);
    return out.text;
}

static const char *memory_type(Matrix *m, const Tile *t) {
    Tile plain = *t;
    plain.pointer = false;
    return tile_type(m, &plain);
}

static void param_text(StrBuf *out, const Tile *t, const char *name, uint32_t k) {
    strbuf_printf(out, "%%%s%u: view %s[", name, k, dtype_name(t->elem));
    for (uint32_t d = 0; d < t->rank; d++) strbuf_printf(out, "%s%u", d ? "," : "", t->shape[d]);
    strbuf_printf(out, "%s]", t->rank ? "" : "1");
}

// The indices and the selection of a tile in its memory; a piece begins at row %3.
static void selection_text(StrBuf *out, const Tile *t, bool piece) {
    for (uint32_t d = 0; d < t->rank || d == 0; d++)
        strbuf_printf(out, piece && t->rank && d == 0 ? ", %%3" : ", %%0");
    strbuf_printf(out, " {select = [");
    for (uint32_t d = 0; d < t->rank; d++) strbuf_printf(out, "%s%u", d ? "," : "", t->shape[d]);
    strbuf_printf(out, "%s]}", t->rank ? "" : "0");
}

static void constant_text(StrBuf *out, Dtype t, uint64_t bits) {
    if (t == DTYPE_BOOL)
        strbuf_printf(out, "%s", bits ? "true" : "false");
    else if (type_is_float(t))
        strbuf_printf(out, "0x%llx", (unsigned long long)bits);
    else if (type_is_signed(t))
        strbuf_printf(out, "%lld", (long long)integer_of(t, bits));
    else
        strbuf_printf(out, "%llu", (unsigned long long)bits);
}

static void table_text(StrBuf *out, const Case *c) {
    for (uint32_t i = 0; i < c->table.count; i++) {
        strbuf_printf(out, i ? ", " : "[");
        constant_text(out, c->out[0].elem, c->table.bits[i]);
    }
    strbuf_printf(out, "]");
}

// Every attribute of the row that a value op can have; the other ops have texts of their own.
static bool attr_text(StrBuf *out, const Case *c, IrAttrName name) {
    switch (name) {
    case IR_ATTR_VALUE: constant_text(out, c->out[0].elem, c->value); return true;
    case IR_ATTR_VALUES: table_text(out, c); return true;
    case IR_ATTR_AXIS: strbuf_printf(out, "%d", (int)c->axis); return true;
    case IR_ATTR_COUNT: strbuf_printf(out, "%d", (int)c->count); return true;
    case IR_ATTR_SATURATE: strbuf_printf(out, "%s", c->saturate ? "true" : "false"); return true;
    case IR_ATTR_REVERSE: strbuf_printf(out, "%s", c->reverse ? "true" : "false"); return true;
    case IR_ATTR_EXACT: strbuf_printf(out, "false"); return true;  // of kernels with math(…)
    case IR_ATTR_EXCLUSIVE: strbuf_printf(out, "%s", c->exclusive ? "true" : "false"); return true;
    case IR_ATTR_DESCENDING:
        strbuf_printf(out, "%s", c->descending ? "true" : "false");
        return true;
    case IR_ATTR_REDUCE:
        strbuf_printf(out, "%s", ir_enum_text(IR_KIND_REDUCE, c->kind));
        return true;
    case IR_ATTR_PRECISION:
        strbuf_printf(out, "%s", ir_enum_text(IR_KIND_PRECISION, c->precision));
        return true;
    case IR_ATTR_PERM:
        for (uint32_t d = 0; d < c->in[0].rank; d++)
            strbuf_printf(out, "%s%d", d ? ", " : "[", (int)c->perm[d]);
        strbuf_printf(out, "%s]", c->in[0].rank ? "" : "[");
        return true;
    case IR_ATTR_DIM:
    case IR_ATTR_EXTENT:
    case IR_ATTR_SELECT:
    case IR_ATTR_INSIDE:
    case IR_ATTR_SPANS:
    case IR_ATTR_RMW:
    case IR_ATTR_ORDER:
    case IR_ATTR_SCOPE:
    case IR_ATTR_TEXT:
    case IR_ATTR_TEXTS:
    case IR_ATTR_DOWN:
    case IR_ATTR_EXIT:
    case IR_ATTR_CALLEE:
    case IR_ATTR_ELEM:
    case IR_ATTR_LANES:
    case IR_ATTR_LANE:
    case IR_ATTR_STREAM:
    case IR_ATTR_AHEAD:
    case IR_ATTR_SITE:
    case IR_ATTR_PLACE:
    case IR_ATTR_ALIGN:
    case IR_ATTR_TURNED:
    case IR_ATTR_GLOBAL:
    case IR_ATTR_NARROW:
    case IR_ATTR_AGAIN:
    case IR_ATTR_ARRIVALS:
    case IR_ATTR_PRODUCER:
    case IR_ATTR_ROWS:
    case IR_ATTR_COLUMNS:
    case IR_ATTR_PLAN:
    case IR_ATTR_INSTRUCTION:
    case IR_ATTR_ELEMS:
    case IR_ATTR_WARPS:
    case IR_ATTR_FACTORS:
    case IR_ATTR_MAP:
    case IR_ATTR_ASYNC:
    case IR_ATTR_CACHE:
    case IR_ATTR_BOUNDS:
    case IR_ATTRS: break;
    }
    return false;
}

static void op_text(Matrix *m, StrBuf *out, const Case *c) {
    const IrOpInfo *info = ir_op_info(c->code);
    for (uint32_t k = 0; k < c->result_count; k++)
        strbuf_printf(out, "%s%%%u", k ? ", " : "", 60 + k);
    strbuf_printf(out, " = %s", info->text);
    for (uint32_t k = 0; k < c->operand_count; k++)
        strbuf_printf(out, c->in[k].absent ? "%s _" : "%s %%%u", k ? "," : "", 20 + k);
    for (int i = 0; i < info->attr_count; i++) {
        if (c->code == IR_DOT && info->attrs[i] != IR_ATTR_PRECISION) continue;  // no plan yet
        strbuf_printf(out, "%s%s = ", i ? ", " : " {", ir_attr_text(info->attrs[i]));
        if (!attr_text(out, c, info->attrs[i]))
            strbuf_printf(out, "no text for this attribute in tests/matrix/run.c");
    }
    strbuf_printf(out, "%s : ", info->attr_count ? "}" : "");
    for (uint32_t k = 0; k < c->result_count; k++)
        strbuf_printf(out, "%s%s", k ? ", " : "", tile_type(m, &c->out[k]));
    strbuf_printf(out, "%s\n", c->region ? c->region : "");
}

// The rows of each tile that one program of `parts` takes.
static Case piece_of(const Case *c, uint32_t parts) {
    Case piece = *c;
    for (uint32_t k = 0; k < c->operand_count; k++)
        if (piece.in[k].rank) piece.in[k].shape[0] /= parts;
    for (uint32_t k = 0; k < c->result_count; k++)
        if (piece.out[k].rank) piece.out[k].shape[0] /= parts;
    return piece;
}

static const char *case_text(Matrix *m, const Case *whole, uint32_t parts) {
    Case piece = piece_of(whole, parts), *c = &piece;
    StrBuf out = strbuf(m->arena);
    uint32_t params = 0;
    strbuf_printf(&out, "kernel @cell(");
    for (uint32_t k = 0; k < c->operand_count; k++) {
        if (c->in[k].absent) continue;
        strbuf_printf(&out, "%s", params++ ? ", " : "");
        param_text(&out, &whole->in[k], "x", k);
    }
    for (uint32_t k = 0; k < c->result_count; k++) {
        strbuf_printf(&out, "%s", params++ ? ", " : "");
        param_text(&out, &whole->out[k], "y", k);
    }
    strbuf_printf(&out, ") { body {\n%%0 = const {value = 0} : i64\n");
    if (parts > 1)
        strbuf_printf(&out,
                      "%%1 = program {dim = 0} : i64\n%%2 = const {value = %u} : i64\n"
                      "%%3 = mul %%1, %%2 : i64\n",
                      c->out[0].shape[0]);
    for (uint32_t k = 0; k < c->operand_count; k++) {
        const Tile *t = &c->in[k];
        if (t->absent) continue;
        strbuf_printf(&out, "%%%u = view_load %%x%u, _", t->pointer ? 40 + k : 20 + k, k);
        selection_text(&out, t, parts > 1);
        strbuf_printf(&out, " : %s\n", memory_type(m, t));
        if (t->pointer)
            strbuf_printf(&out, "%%%u = bitcast %%%u : %s\n", 20 + k, 40 + k, tile_type(m, t));
    }
    op_text(m, &out, c);
    for (uint32_t k = 0; k < c->result_count; k++) {
        const Tile *t = &c->out[k];
        if (t->pointer)
            strbuf_printf(&out, "%%%u = bitcast %%%u : %s\n", 70 + k, 60 + k, memory_type(m, t));
        strbuf_printf(&out, "view_store %%y%u, %%%u, _", k, t->pointer ? 70 + k : 60 + k);
        selection_text(&out, t, parts > 1);
        strbuf_char(&out, '\n');
    }
    strbuf_printf(&out, "return\n} }\n");
    return out.text;
}

// ---- memory of values ---------------------------------------------------------------------------

static void *memory_of(Matrix *m, const Tile *t) {
    uint32_t size = bytes_of(t->elem);
    uint8_t *memory = arena_new(m->arena, uint8_t, (uint64_t)t->count * size);
    for (uint32_t i = 0; t->bits && i < t->count; i++)
        for (uint32_t b = 0; b < size; b++) memory[i * size + b] = (uint8_t)(t->bits[i] >> 8 * b);
    return memory;
}

static uint64_t element_of(const Tile *t, const uint8_t *memory, uint32_t i) {
    uint32_t size = bytes_of(t->elem);
    uint64_t bits = 0;
    for (uint32_t b = 0; b < size; b++) bits |= (uint64_t)memory[i * size + b] << 8 * b;
    return bits;
}

static IrArg view_of(const Tile *t, void *memory) {
    IrArg arg = {.data = memory, .extent = {1}, .stride = {1}};
    int64_t stride = 1;
    for (uint32_t d = t->rank; d-- > 0;) {
        arg.extent[d] = t->shape[d];
        arg.stride[d] = stride;
        stride *= t->shape[d];
    }
    return arg;
}

bool answer_fits(Dtype t, Answer want, uint64_t got) {
    switch (want.kind) {
    case ANSWER_NONE: return false;
    case ANSWER_BITS: return got == want.bits;
    case ANSWER_VALUE:
        return got == want.bits || (bits_are_nan(t, want.bits) && bits_are_nan(t, got));
    case ANSWER_BOUND: break;
    }
    Number n = number_of(t, got);
    if (n.kind == NUMBER_NAN) return false;
    if (n.kind == NUMBER_INFINITE) {
        long double greatest = format_greatest(t);
        long double size = n.negative ? -want.value : want.value;
        return size + want.bound >= greatest + format_half(t, greatest);
    }
    long double off = number_value(n) - want.value;
    return (off < 0 ? -off : off) <= want.bound;
}

static void explain(Matrix *m, const char *name, const Case *c, uint32_t k, uint32_t i,
                    uint64_t got, const char *device) {
    Answer want = c->want[k][i];
    StrBuf inputs = strbuf(m->arena);
    for (uint32_t v = 0; v < c->operand_count; v++)
        if (!c->in[v].absent)
            strbuf_printf(&inputs, " 0x%llx",
                          (unsigned long long)c->in[v].bits[c->in[v].count > i ? i : 0]);
    matrix_fail(m, name,
                "on %s result %u, lane %u is 0x%llx, expected %s 0x%llx (%.20Lg within %Lg); "
                "operands there:%s",
                device, k, i, (unsigned long long)got,
                want.kind == ANSWER_NONE ? "(no reference of this type)" : "",
                (unsigned long long)want.bits, want.value, want.bound,
                inputs.text ? inputs.text : "");
}

static bool fits(const Case *c, const Case *const *others, uint32_t k, uint32_t i, uint64_t got) {
    Dtype t = c->out[k].elem;
    bool fine = answer_fits(t, c->want[k][i], got);
    for (uint32_t o = 0; others[o]; o++) fine |= answer_fits(t, others[o]->want[k][i], got);
    return fine;
}

static void compare_case(Matrix *m, const char *name, const Case *c, const Case *const *others,
                         void **memory, const char *device) {
    for (uint32_t k = 0; k < c->result_count; k++)
        for (uint32_t i = 0; i < c->out[k].count; i++) {
            uint64_t got = element_of(&c->out[k], memory[k], i);
            if (fits(c, others, k, i, got)) continue;
            explain(m, name, c, k, i, got, device);
            break;
        }
}

// The same case by another reckoning.
static const Case *other_case(Matrix *m, const Case *c, IrPrecision precision, bool ties_away,
                              int flushes) {
    Case *other = arena_new(m->arena, Case, 1);
    *other = *c;
    other->precision = precision;
    other->ties_away = ties_away;
    other->flushes = flushes;
    other->want[0] = arena_new(m->arena, Answer, c->out[0].count);
    return reference_of(c->code)(other) ? other : NULL;
}

// The bound of a split precision holds of exact products, too, but infinities and NaNs come as they
// do with ieee; and as the parts are rounded. Pairs of bf16 are multiplied by instructions of CPUs,
// and short floats by those of gfx90a, that take subnormals as 0 (docs/numerics.md, where hardware
// deviates): an infinity times one is a NaN.
static int flushes_below(const Case *c, const Device *d, const Program *p) {
    enum { LEAST_F16 = -14, LEAST_BF16 = -126 };
    bool bf16 = c->in[0].elem == DTYPE_BF16 && c->in[1].elem == DTYPE_BF16;
    if (d->target && target_of(d).extras & (CPU_BF16 | CPU_AMX_BF16))
        return bf16 && c->out[0].elem == DTYPE_F32 ? LEAST_BF16 : 0;
    if (d->run != run_simulated) return 0;
    GpuTarget gpu = lowered_gpu(choice_of(d, p)).gpu;
    bool flushes = gpu.vendor == GPU_AMD && gpu.number == 0x90a && dtype_bits(c->in[0].elem) <= 16;
    return !flushes || !type_is_float(c->in[0].elem) ? 0 : bf16 ? LEAST_BF16 : LEAST_F16;
}

enum { OTHERS = 3 };
static void other_cases(Matrix *m, const Case *c, const Device *d, const Program *p,
                        const Case *others[OTHERS]) {
    uint32_t count = 0;
    memset(others, 0, OTHERS * sizeof *others);
    if (c->code != IR_DOT) return;
    int least = flushes_below(c, d, p);
    if (least) others[count++] = other_case(m, c, c->precision, false, least);
    if (c->precision == IR_PRECISION_IEEE) return;
    if (!d->splits) others[count++] = other_case(m, c, IR_PRECISION_IEEE, false, 0);
    if (d->ties_away) others[count] = other_case(m, c, c->precision, true, 0);
}

// Sums may be made in another order; all else has one answer, which the interpreter gives.
static bool has_one_answer(const Case *c) {
    bool sums = c->code == IR_REDUCE || c->code == IR_SCAN || c->code == IR_DOT;
    return !sums || !type_is_float(c->out[0].elem);
}

static void compare_bits(Matrix *m, const char *name, const Case *c, void **first, void **memory,
                         const char *device) {
    for (uint32_t k = 0; k < c->result_count; k++)
        for (uint32_t i = 0; i < c->out[k].count; i++) {
            Dtype t = c->out[k].elem;
            uint64_t a = element_of(&c->out[k], first[k], i);
            uint64_t b = element_of(&c->out[k], memory[k], i);
            if (a == b || (bits_are_nan(t, a) && bits_are_nan(t, b))) continue;
            matrix_fail(m, name, "result %u, lane %u is 0x%llx on the interpreter, 0x%llx on %s", k,
                        i, (unsigned long long)a, (unsigned long long)b, device);
            break;
        }
}

static bool is_elementwise(const Case *c) {
    IrRule rule = ir_op_info(c->code)->rule;
    bool by_lane = rule == IR_RULE_UNARY || rule == IR_RULE_BINARY || rule == IR_RULE_SHIFT ||
                   rule == IR_RULE_COMPARE || rule == IR_RULE_TERNARY || rule == IR_RULE_SELECT ||
                   rule == IR_RULE_CAST || rule == IR_RULE_LOOKUP;
    for (uint32_t k = 0; k < c->operand_count; k++)
        by_lane &= c->in[k].rank == 0 || c->in[k].count == c->out[0].count;
    return by_lane;
}

// Large tiles are shared among several programs of a GPU. With one warp of threads there are tiles
// that no registers can hold, and LLVM's time grows with the square of the length of RDNA's code:
// all pairs of two operands in one program take up to 20 seconds.
static uint32_t parts_of(const Matrix *m, const Device *d, const Case *c, const Program *p) {
    enum { HELD = 512, QUICK = 16 };  // elements of a thread
    bool simulated = d->run == run_simulated;
    if ((!simulated && d->run != run_threads) || !is_elementwise(c)) return 1;
    uint64_t choice = choice_of(d, p);
    uint32_t threads = lowered_gpu(choice).warp * lowered_warps(choice);
    uint32_t most = threads * (simulated && !m->whole ? QUICK : HELD), parts = 1;
    while (c->out[0].count / parts > most && c->out[0].shape[0] % (2 * parts) == 0) parts *= 2;
    return parts;
}

static void divide(Matrix *m, const Device *d, const Case *c, Program *p) {
    if (d->compiled) p->first_of_kind = m->first_of_kind && !m->whole;  // part of the choice
    uint32_t parts = parts_of(m, d, c, p);
    p->pieces = parts > 1 ? case_text(m, c, parts) : NULL;
    p->grid[0] = parts;
}

void matrix_case(Matrix *m, const char *name, Case *c) {
    Reference reference = reference_of(c->code);
    if (!reference) {
        matrix_fail(m, name, "no reference for op '%s'", ir_op_info(c->code)->text);
        return;
    }
    for (uint32_t k = 0; k < c->result_count; k++)
        c->want[k] = arena_new(m->arena, Answer, c->out[k].count);
    if (!reference(c)) {
        matrix_fail(m, name, "the reference does not know this type");
        return;
    }
    Program p = {.text = case_text(m, c, 1)};
    void *results[MAX_RESULTS], *lowered[MAX_RESULTS] = {NULL};
    for (uint32_t k = 0; k < c->operand_count; k++)
        if (!c->in[k].absent) p.args[p.arg_count++] = view_of(&c->in[k], memory_of(m, &c->in[k]));
    uint32_t first = p.arg_count;
    for (uint32_t d = 0; d < matrix_device_count; d++) {
        p.arg_count = first;
        for (uint32_t k = 0; k < c->result_count; k++) {
            Tile blank = c->out[k];
            blank.bits = NULL;
            results[k] = memory_of(m, &blank);
            p.args[p.arg_count++] = view_of(&blank, results[k]);
        }
        const Device *device = &matrix_devices[d];
        divide(m, device, c, &p);
        if (!matrix_execute(m, name, device, &p)) continue;
        const Case *others[OTHERS];
        other_cases(m, c, device, &p, others);
        compare_case(m, name, c, others, results, device->name);
        if (device->run == run_lowered) memcpy(lowered, results, sizeof lowered);
        if (device->compiled && lowered[0] && has_one_answer(c))
            compare_bits(m, name, c, lowered, results, device->name);
    }
}
