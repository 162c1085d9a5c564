// tilec run FILE [KERNEL]: fills arrays, launches through the public API, shows or keeps the
// results.
#include "tools/run.h"

#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "compile/jit/compiler.h"
#include "compile/pipeline/launch_guard.h"
#include "compile/tune/search.h"
#include "runtime/kernel.h"
#include "runtime/launch.h"
#include "tools/front.h"
#include "tools/progress.h"

static const CliOption options[] = {
    {"device", "D", "interp, cpu or cpu:THREADS, cuda:N, hip:N, sim:ARCH, or auto (default)",
     false},
    SETTINGS_OPTIONS,
    FRONT_LIMIT_OPTION,
    {"in", "NAME=F.npy", "an array from a NumPy file", true},
    {"out", "NAME=F.npy", "keep an array as a NumPy file", true},
    {"grid", "X[,Y[,Z]]", "this grid (a .py kernel: or an expression) instead of the kernel's own",
     false},
    {"seed", "S", "fills arrays without --in (default 1)", false},
    {"stats", NULL, "counts of a simulated GPU: instructions, sectors, bank conflicts", false},
    {"repeat", "N", "launch N times, each on the same input (default 1)", false},
    {"check", NULL, "compare with the interpreter within the documented bounds", false},
    {"sanitize", NULL, "report accesses out of bounds, false assumes, races", false},
    FRONT_PASS_OPTIONS,
    {"block", "X[,Y[,Z]]", "for .ptx and .hsaco files: threads of a block", false},
    {"shared", "N", "for .ptx and .hsaco files: bytes of dynamic shared memory", false},
    {"arg", "KIND:VALUE", "for .ptx and .hsaco files: the next argument", true},
};

// Is --grid an expression of the kernel's language? It is bound once the kernel is known.
static bool grid_is_text(const Run *r) {
    Str text = cli_value(r->cli, "grid");
    for (size_t i = 0; i < text.size; i++)
        if (!strchr("0123456789,", text.text[i])) return true;
    return false;
}

static int bind_grid(Run *r) {
    bool texts = r->kernel->in->frontend->texts;
    if (!cli_has(r->cli, "grid")) {
        if (!texts) return EXIT_OK;
        return cli_fail(r->cli, EXIT_USAGE, DIAG_USAGE, "--grid 'cdiv(n, BLOCK)', for example",
                        "kernel '%s' has no grid of its own", r->kernel->name);
    }
    Str text = cli_value(r->cli, "grid");
    if (!texts && !grid_is_text(r)) return EXIT_OK;
    r->own_grid = false;
    if (!texts)
        return cli_usage_error(r->cli,
                               "--grid takes up to three numbers up to %d: X,Y,Z; found '%.*s'",
                               INT32_MAX, STR_ARG(text));
    IrBinding b = {.name = intern(r->unit->names, STR(FRONT_GRID)),
                   .text = intern(r->unit->names, text)};
    vec_push(r->cli->arena, &r->settings.spec.bindings, b);
    return EXIT_OK;
}

// Up to three numbers: X[,Y[,Z]].
static int parse_grid(Run *r) {
    Str rest = cli_value(r->cli, "grid");
    r->own_grid = cli_has(r->cli, "grid") && !grid_is_text(r);
    bool more = r->own_grid;
    for (int d = 0; d < 3; d++) {
        r->grid[d] = 1;
        if (!more) continue;
        Str next, word = str_cut(rest, ',', &next);
        uint64_t n;
        bool overflow = false;
        if (!str_to_u64(word, &n, &overflow) || overflow || n > INT32_MAX)
            return cli_usage_error(r->cli,
                                   "--grid takes up to three numbers up to %d: X,Y,Z; found '%.*s'",
                                   INT32_MAX, STR_ARG(word));
        r->grid[d] = (int64_t)n;
        more = word.size < rest.size;
        rest = next;
    }
    return more ? cli_usage_error(r->cli, "--grid takes up to three numbers: X,Y,Z; found more")
                : EXIT_OK;
}

static int parse_options(Run *r) {
    static const char *const foreign[] = {"block", "shared", "arg"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (cli_has(r->cli, foreign[i]))
            return cli_usage_error(r->cli, "--%s is for .ptx and .hsaco files", foreign[i]);
    int status = parse_grid(r);
    if (status) return status;
    if (!cli_number(r->cli, "seed", 1, 0, INT64_MAX, &r->seed)) return EXIT_USAGE;
    if (!cli_number(r->cli, "repeat", 1, 1, 1000000, &r->repeat)) return EXIT_USAGE;
    return EXIT_OK;
}

// ---- The launch, through the public API ----

tilec_spec run_spec(const Run *r) {
    tilec_spec spec = tune_given(r->cli->arena, r->kernel, &r->settings.spec);
    tilec_spec_entry *entries = (tilec_spec_entry *)(uintptr_t)spec.entries;
    if (cli_has(r->cli, "sanitize"))
        entries[spec.count++] = (tilec_spec_entry){TILEC_SPEC_OPTION, "sanitize", 0, 1};
    return spec;
}

static int scalar_arg(Run *r, const MetaArg *arg, tilec_arg *out) {
    uint64_t bits;
    int status =
        settings_scalar_bits(&r->settings, intern(r->unit->names, arg->name), arg->dtype, &bits);
    if (status) return status;
    if (dtype_is(arg->dtype, DTYPE_CLASS_ANYFLOAT))
        *out = tilec_arg_double(dtype_to_double(arg->dtype, bits));
    else if (dtype_signed(arg->dtype))
        *out = tilec_arg_int(dtype_to_i64(arg->dtype, bits));
    else
        *out = tilec_arg_uint(bits);
    return EXIT_OK;
}

static tilec_status array_arg(Run *r, RunArray *a, const MetaArg *arg, tilec_arg *out) {
    tilec_status s = tilec_buffer_create(r->device, a->size, &a->buffer);
    if (!s && a->size) s = tilec_buffer_write(r->device, NULL, a->buffer, 0, a->given, a->size);
    if (s) return s;
    if (arg->kind == META_POINTER) {
        *out = tilec_arg_buffer(a->buffer, 0);
        return TILEC_OK;
    }
    tilec_view v =
        tilec_view_of_buffer((tilec_dtype)a->dtype, a->buffer, (int32_t)a->rank, a->extent);
    memcpy(v.stride, a->stride, sizeof v.stride);
    *out = tilec_arg_view(v);
    return TILEC_OK;
}

int run_make_args(Run *r) {
    const MetaKernel *meta = r->compiled->meta;
    r->args = arena_new(r->cli->arena, tilec_arg, meta->arg_count + 1);
    size_t next = 0;
    for (uint32_t i = 0; i < meta->arg_count; i++) {
        const MetaArg *arg = &meta->args[i];
        if (arg->kind == META_SCALAR) {
            int status = scalar_arg(r, arg, &r->args[i]);
            if (status) return status;
            continue;
        }
        tilec_status s = array_arg(r, &r->arrays.items[next++], arg, &r->args[i]);
        if (s) return run_api_error(r, s);
    }
    return EXIT_OK;
}

// Arrays that the kernel writes are restored before each repeated launch, so that all launches have
// the same input.
static tilec_status restore(Run *r) {
    for (size_t i = 0; i < r->arrays.count; i++) {
        const RunArray *a = &r->arrays.items[i];
        if (!a->size) continue;
        tilec_status s = tilec_buffer_write(r->device, NULL, a->buffer, 0, a->given, a->size);
        if (s) return s;
    }
    return TILEC_OK;
}

tilec_status run_launch(const Run *r, tilec_kernel *kernel) {
    uint32_t count = r->compiled->meta->arg_count;
    tilec_status s = r->own_grid ? tilec_launch_grid(kernel, NULL, 0, r->grid, r->args, count)
                                 : tilec_launch(kernel, NULL, r->args, count);
    return s ? s : tilec_device_synchronize(r->device);
}

static bool has_print(const IrBlock *block) {
    IR_EACH_OP(op, block) {
        if (op->code == IR_PRINT) return true;
        for (uint32_t i = 0; i < op->region_count; i++)
            if (has_print(op->regions[i])) return true;
    }
    return false;
}

bool run_has_print(const Run *r) { return has_print(ir_body(r->compiled->func)); }

static tilec_status read_arrays(Run *r) {
    for (size_t i = 0; i < r->arrays.count; i++) {
        RunArray *a = &r->arrays.items[i];
        if (!a->size) continue;
        tilec_status s = tilec_buffer_read(r->device, NULL, a->buffer, 0, a->left, a->size);
        if (s) return s;
    }
    return TILEC_OK;
}

tilec_status run_again(Run *r) {
    tilec_status s = restore(r);
    if (!s) s = run_launch(r, r->handle);
    return s ? s : read_arrays(r);
}

static tilec_status launch(Run *r) {
    r->best_ns = UINT64_MAX;
    r->tallied = r->device->api->simulated && (r->cli->json || cli_has(r->cli, "stats"));
    if (r->tallied) sim_device_tally(r->device, &r->tally);
    for (int64_t n = 0; n < r->repeat; n++) {
        tilec_status s = n ? restore(r) : TILEC_OK;
        if (s) return s;
        uint64_t begin = os_time_ns();
        s = run_launch(r, r->handle);
        if (r->tallied) sim_device_tally(r->device, NULL);
        if (s) return s;
        uint64_t took = os_time_ns() - begin;
        if (took < r->best_ns) r->best_ns = took;
    }
    return read_arrays(r);
}

void run_compute_grid(Run *r) {
    if (r->own_grid) return;
    const MetaKernel *meta = r->compiled->meta;
    LaunchInput *inputs = arena_new(r->cli->arena, LaunchInput, meta->arg_count + 1);
    uint64_t values[LAUNCH_CODE_MAX];
    size_t next = 0;
    for (uint32_t i = 0; i < meta->arg_count; i++) {
        if (meta->args[i].kind == META_SCALAR) {
            settings_scalar_bits(&r->settings, intern(r->unit->names, meta->args[i].name),
                                 meta->args[i].dtype, &inputs[i].scalar);
        } else {
            memcpy(inputs[i].extent, r->arrays.items[next].extent, sizeof inputs[i].extent);
            next++;
        }
    }
    const MetaVariant *v = &meta->variants[0];
    launch_code_run(&v->code, inputs, values);
    for (uint32_t d = 0; d < v->grid_rank; d++) r->grid[d] = (int64_t)values[v->grid[d]];
    if (!launch_code_asks_units(&v->code)) return;
    int64_t asked[3];
    run_launched_grid(r, asked);  // a failure is reported by the launch
    memcpy(r->grid, asked, sizeof asked);
}

// The specialisation that run_launch launches; NULL: the launch fails.
static const RtLoaded *launched(const Run *r) {
    const RtLoaded *loaded = r->handle->loaded;
    if (loaded && (!r->handle->by_shape || r->own_grid)) return loaded;
    uint32_t count = r->compiled->meta->arg_count;
    return r->handle->resolve(r->handle, r->args, count, !r->own_grid, &loaded) ? NULL : loaded;
}

void run_launched_consts(const Run *r, RunConst *consts, uint32_t *count) {
    const RtLoaded *loaded = launched(r);
    const MetaVariant *usual = &r->compiled->meta->variants[0];
    *count = 0;
    if (!loaded) return;
    const MetaVariant *v = &loaded->meta->variants[0];
    for (uint32_t i = 0; i < v->binding_count; i++)
        for (uint32_t k = 0; k < usual->binding_count && *count < RUN_CONSTS; k++) {
            const MetaBinding *a = &v->bindings[i], *b = &usual->bindings[k];
            bool other = str_equal(a->name, b->name) && !a->is_type && a->value != b->value;
            if (other) consts[(*count)++] = (RunConst){a->name, a->value};
        }
}

void run_launched_grid(const Run *r, int64_t grid[3]) {
    uint32_t count = r->compiled->meta->arg_count;
    LaunchBuffers room;
    LaunchPlan plan = launch_plan(&room);
    memcpy(grid, r->grid, sizeof r->grid);
    bool asks = launch_code_asks_units(&r->compiled->meta->variants[0].code);
    if (r->own_grid || (!r->handle->by_shape && !asks)) return;
    const RtLoaded *loaded = launched(r);
    if (!loaded) return;
    RtUnits units = {r->handle, loaded};
    rt_kernel_units(&units, &plan);
    if (!launch_prepare(r->context, r->device, loaded->meta, r->args, count, NULL, &plan))
        memcpy(grid, plan.grid, sizeof plan.grid);
}

// ---- The command ----

bool run_as_code(const Run *r, CodeTarget *target) {
    return compiler_target_of(r->device, target) && !cli_has(r->cli, "sanitize");
}

// Compiles once more for --time-passes and --dump-after on a device with code, because the kernel
// that runs may have come from a cache.
static bool watch_code(Run *r, CodeTarget target, FrontPasses *passes) {
    Machine machine = code_target_machine(target);
    CompileOptions o = {.passes = passes->options, .variants = compile_variants_of(target)};
    o.passes.machine = &machine;
    const Compiled *c = unit_compile(r->unit, r->kernel, &r->settings.spec, &o);
    if (!c) return false;
    CodeOptions code = {.target = target,
                        .variant = launch_likely_variant(c->meta),
                        .output = code_output(target),
                        .lines = true,
                        .passes = passes->options};
    Code made;
    return front_code(passes, r->unit, c, &code, &made);
}

static int compile_for_report(Run *r, FrontPasses *passes) {
    CodeTarget target;
    bool watched = run_as_code(r, &target) && (passes->options.timings || passes->options.dump);
    CompileOptions o = {0};
    if (!watched) o.passes = passes->options;
    r->compiled = unit_compile(r->unit, r->kernel, &r->settings.spec, &o);
    size_t said = diags_count(r->unit->diags);
    bool good = r->compiled && (!watched || watch_code(r, target, passes));
    if (good) diags_truncate(r->unit->diags, said);  // the same warnings a second time
    int status = good ? EXIT_OK : front_status(r->unit->diags);
    front_report(r->cli, r->unit);
    front_passes_report(passes);
    return status;
}

// Types, facts and consts that follow from the arguments, where the language has such.
static int bind_arguments(Run *r) {
    if (!r->kernel->in->frontend->texts) return EXIT_OK;
    size_t count = 0, next = 0;
    for (const FrontParam *p = r->kernel->params; p; p = p->next) count++;
    FrontArg *args = arena_new(r->cli->arena, FrontArg, count + 1);
    count = 0;
    for (const FrontParam *p = r->kernel->params; p; p = p->next) {
        const IrBinding *b = frontend_spec_find(&r->settings.spec, p->name);
        if (p->kind == FRONT_CONST || (b && b->text && !b->is_type)) continue;
        FrontArg arg = {.type = DTYPES};
        if (front_is_pointer(p, b) || front_is_descriptor(b)) {
            const RunArray *array = &r->arrays.items[next++];
            if (array->from_file) arg.type = array->file.dtype;
            if (b && b->is_type) arg.type = b->type;
        } else {
            settings_front_arg(&r->settings, p->name, &arg);
        }
        args[count++] = arg;
    }
    bool fine = frontend_specialize(r->unit->file, r->cli->arena, r->kernel, args, count,
                                    &r->settings.spec, r->unit->diags);
    if (fine) return EXIT_OK;
    front_report(r->cli, r->unit);
    return EXIT_INPUT;
}

static int prepare(Run *r) {
    FrontPasses passes;
    int status = settings_parse(r->cli, r->unit, r->kernel, &r->settings);
    if (!status) status = bind_grid(r);
    CodeTarget target;
    if (run_as_code(r, &target))
        r->settings.spec.target = compiler_target_name(r->cli->arena, r->device);
    if (!status) status = arrays_collect(&r->settings, &r->arrays);
    if (!status) status = bind_arguments(r);
    if (!status) status = settings_require_types(&r->settings);
    if (!status) status = front_passes(r->cli, r->unit->diags, &passes);
    if (status) return status;
    status = compile_for_report(r, &passes);
    if (status) return status;
    return arrays_fill(&r->settings, r->compiled->meta, (uint64_t)r->seed, &r->arrays);
}

static void keep_line(void *user, const char *line, size_t length) {
    Run *r = user;
    Str copy = {arena_text(r->cli->arena, line, length), length};
    vec_push(r->cli->arena, &r->printed, copy);
}

// Prints a warning that does not fail the command: a cache that cannot be used. The compilation on
// this thread logs it.
static void warn(void *user, tilec_severity severity, const char *text) {
    const Run *r = user;
    if (severity == TILEC_WARNING) cli_warn(r->cli, DIAG_IO, text);
}

// The device for another usual name of one; NULL: not known.
static const char *usual_device(Str name) {
    static const char *const names[][2] = {
        {"nvidia", "cuda"}, {"ptx", "cuda"}, {"amd", "hip"},    {"rocm", "hip"}, {"x86", "cpu"},
        {"x86-64", "cpu"},  {"avx2", "cpu"}, {"avx512", "cpu"}, {"arm", "cpu"},  {"arm64", "cpu"},
        {"aarch64", "cpu"}, {"host", "cpu"}, {"native", "cpu"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_equal(name, str(names[i][0]))) return names[i][1];
    return NULL;
}

static int open_device(Run *r) {
    unsigned seconds;
    int status = front_seconds(r->cli, &seconds);
    if (status) return status;
    tilec_context_options o = {.size = sizeof o,
                               .print = r->cli->json ? keep_line : NULL,
                               .log = warn,
                               .user = r,
                               .compile_seconds = seconds};
    if (tilec_context_create(&o, &r->context))
        return cli_fail(r->cli, EXIT_DEFECT, DIAG_UNSUPPORTED, NULL, "cannot create a context");
    const char *name =
        cli_has(r->cli, "device") ? cli_text(r->cli, cli_value(r->cli, "device")) : "auto";
    const char *usual = usual_device(str_lower(r->cli->arena, str(name)));
    if (usual)
        return cli_fail(r->cli, EXIT_INPUT, DIAG_LAUNCH, NULL,
                        "no device '%s' here; did you mean '%s'?", name, usual);
    tilec_status s = tilec_device_open(r->context, name, &r->device);
    return s ? run_api_error(r, s) : EXIT_OK;
}

Str run_source(const Run *r, const char **path) {
    Str name = r->cli->operands.data[0];
    if (str_equal(name, STR("-"))) name = STR(FRONT_STDIN);
    *path = cli_text(r->cli, name);
    return source_find(r->unit->sources, name)->text;
}

int run_make_kernel(Run *r) {
    const char *path;
    Str text = run_source(r, &path);
    tilec_spec spec = run_spec(r);
    Progress *p = progress_begin(r->cli, "compiling %s", r->kernel->name);
    tilec_status s = tilec_kernel_from_source(r->context, r->device, path, text.text, text.size,
                                              r->kernel->name, &spec, &r->handle);
    progress_end(p);
    return s ? run_api_error(r, s) : EXIT_OK;
}

int run_open(Cli *cli, Run *r) {
    *r = (Run){.cli = cli, .report = strbuf(cli->arena), .special = strbuf(cli->arena)};
    int status = parse_options(r);
    if (!status) status = front_open(cli, &r->unit, &r->kernel);
    if (!status) status = open_device(r);
    return status ? status : prepare(r);
}

void run_close(Run *r) {
    tilec_kernel_destroy(r->handle);
    tilec_context_destroy(r->context);
    unit_destroy(r->unit);
}

static int on_device(Run *r) {
    int status = run_make_kernel(r);
    if (!status) status = run_make_args(r);
    if (status) return status;
    run_warn_of_stale_row(r);
    run_compute_grid(r);
    // Prints of the kernel would mix with the progress line.
    Progress *p = run_has_print(r) ? NULL
                                   : progress_begin(r->cli, "running %s on %s", r->kernel->name,
                                                    tilec_device_name(r->device));
    tilec_status s = launch(r);
    progress_end(p);
    status = s ? run_api_error(r, s) : EXIT_OK;
    bool done = !status;
    if (done && cli_has(r->cli, "check")) status = run_check(r);
    if (done && !status) status = arrays_write(&r->settings, &r->arrays);
    run_print(r, done && !status);
    return status;
}

static int run(Cli *cli) {
    Str path = cli->operands.data[0];
    if (str_ends(path, STR(".ptx")) || str_ends(path, STR(".hsaco"))) return run_foreign(cli);
    Run r;
    int status = run_open(cli, &r);
    if (!status && cli_has(cli, "stats") && !r.device->api->simulated)
        status = cli_fail(cli, EXIT_USAGE, DIAG_USAGE, "--device sim:sm_90a counts",
                          "--stats is for simulated devices, but '%s' is not simulated",
                          tilec_device_name(r.device));
    if (!status) status = on_device(&r);
    run_close(&r);
    return status;
}

const CliCommand command_run = {
    .name = "run",
    .usage = "FILE [KERNEL] [options]",
    .summary = "run a kernel on arrays from files or a seed",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .min_operands = 1,
    .max_operands = 2,
    .run = run,
};
