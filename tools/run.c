// tilec run FILE [KERNEL]: fills arrays, launches through the public API, shows or keeps the
// results.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilec/tilec.h>

#include "base/json.h"
#include "base/os.h"
#include "compile/compare.h"
#include "tools/arrays.h"

static const CliOption options[] = {
    {"device", "D", "interp (default)", false},
    SETTINGS_OPTIONS,
    {"in", "NAME=F.npy", "an array from a NumPy file", true},
    {"out", "NAME=F.npy", "keep an array as a NumPy file", true},
    {"grid", "X[,Y[,Z]]", "this grid instead of the kernel's own", false},
    {"seed", "S", "fills arrays without --in (default 1)", false},
    {"repeat", "N", "launch N times (default 1)", false},
    {"check", NULL, "compare with the interpreter within the documented bounds", false},
    {"sanitize", NULL, "report accesses out of bounds, false assumes, races", false},
};

typedef struct Run {
    Cli *cli;
    Unit *unit;
    const AstKernel *kernel;
    Settings settings;
    RunArrays arrays;
    const Compiled *compiled;  // for metadata and --check; the launch compiles for itself
    tilec_context *context;
    tilec_device *device;
    tilec_kernel *handle;
    tilec_arg *args;
    bool own_grid;
    int64_t grid[3];
    int64_t seed, repeat;
    uint64_t best_ns;
    StrBuf report;  // JSON of --check
} Run;

static int exit_status(tilec_status status) {
    switch (status) {
    case TILEC_OK: return EXIT_FINE;
    case TILEC_INVALID_SOURCE:
    case TILEC_INVALID_ARGUMENT:
    case TILEC_LAUNCH_REFUSED:
    case TILEC_OUT_OF_MEMORY:
    case TILEC_IO: return EXIT_INPUT;
    case TILEC_KERNEL_FAILED: return EXIT_MISMATCH;
    case TILEC_UNAVAILABLE:
    case TILEC_UNSUPPORTED: return EXIT_UNAVAILABLE;
    case TILEC_INTERNAL: return EXIT_DEFECT;
    }
    return EXIT_DEFECT;
}

// What the API said: diagnostics have their own form, other refusals become one line.
static int api_error(Run *r, tilec_status status) {
    const char *text = tilec_last_error(r->context);
    if (r->cli->json) {
        StrBuf b = strbuf(r->cli->arena);
        Json j = json_begin(&b);
        json_open(&j, '{');
        json_key(&j, "status"), json_str(&j, str(tilec_status_text(status)));
        json_key(&j, "error"), json_str(&j, str_trim(str(text)));
        json_close(&j, '}');
        printf("%s\n", b.text);
    }
    if (tilec_diagnostic_count(r->context))
        fputs(text, stderr);
    else
        fprintf(stderr, "tilec run: error: %s [launch]\n", text);
    return exit_status(status);
}

static int parse_grid(Run *r) {
    r->own_grid = cli_has(r->cli, "grid");
    Str rest = cli_value(r->cli, "grid");
    for (int d = 0; d < 3; d++) {
        r->grid[d] = 1;
        if (!r->own_grid || !rest.size) continue;
        Str next, word = str_cut(rest, ',', &next);
        uint64_t n;
        bool overflow = false;
        if (!str_to_u64(word, &n, &overflow) || overflow || n > INT32_MAX)
            return cli_usage_error(r->cli, "--grid takes up to three numbers: X,Y,Z; found '%.*s'",
                                   STR_ARG(word));
        r->grid[d] = (int64_t)n;
        rest = next;
    }
    if (r->own_grid && (rest.size || !cli_value(r->cli, "grid").size))
        return cli_usage_error(r->cli, "--grid takes up to three numbers: X,Y,Z");
    return EXIT_FINE;
}

static int parse_options(Run *r) {
    int status = parse_grid(r);
    if (status) return status;
    if (!cli_number(r->cli, "seed", 1, 0, INT64_MAX, &r->seed)) return EXIT_USAGE;
    if (!cli_number(r->cli, "repeat", 1, 1, 1000000, &r->repeat)) return EXIT_USAGE;
    return EXIT_FINE;
}

// The specialisation as the public API takes it.
static tilec_spec public_spec(const Run *r) {
    const TileSpec *s = &r->settings.spec;
    tilec_spec_entry *e = arena_new(r->cli->arena, tilec_spec_entry, s->bindings.count + 3);
    size_t n = 0;
    for (size_t i = 0; i < s->bindings.count; i++) {
        const IrBinding *b = &s->bindings.data[i];
        bool is_const = false;
        for (const AstDecl *p = r->kernel->params; p; p = p->next)
            is_const = is_const || p->name == b->name;
        e[n++] = (tilec_spec_entry){b->is_type ? TILEC_SPEC_TYPE
                                    : is_const ? TILEC_SPEC_CONST
                                               : TILEC_SPEC_OPTION,
                                    b->name, (tilec_dtype)b->type, b->value};
    }
    if (s->math & IR_MATH_CONTRACT)
        e[n++] = (tilec_spec_entry){TILEC_SPEC_OPTION, "math.contract", 0, 1};
    if (s->math & IR_MATH_APPROX)
        e[n++] = (tilec_spec_entry){TILEC_SPEC_OPTION, "math.approx", 0, 1};
    if (cli_has(r->cli, "sanitize"))
        e[n++] = (tilec_spec_entry){TILEC_SPEC_OPTION, "sanitize", 0, 1};
    return (tilec_spec){n, e};
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
    return EXIT_FINE;
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

static int make_args(Run *r) {
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
        if (s) return api_error(r, s);
    }
    return EXIT_FINE;
}

// Arrays the kernel writes are put back before each repeated launch, so that all runs see the same.
static tilec_status restore(Run *r) {
    for (size_t i = 0; i < r->arrays.count; i++) {
        const RunArray *a = &r->arrays.items[i];
        if (!a->size) continue;
        tilec_status s = tilec_buffer_write(r->device, NULL, a->buffer, 0, a->given, a->size);
        if (s) return s;
    }
    return TILEC_OK;
}

static int launch(Run *r) {
    uint32_t count = r->compiled->meta->arg_count;
    r->best_ns = UINT64_MAX;
    for (int64_t n = 0; n < r->repeat; n++) {
        tilec_status s = n ? restore(r) : TILEC_OK;
        if (s) return api_error(r, s);
        uint64_t begin = os_time_ns();
        s = r->own_grid ? tilec_launch_grid(r->handle, NULL, 0, r->grid, r->args, count)
                        : tilec_launch(r->handle, NULL, r->args, count);
        if (!s) s = tilec_device_synchronize(r->device);
        if (s) return api_error(r, s);
        uint64_t took = os_time_ns() - begin;
        if (took < r->best_ns) r->best_ns = took;
    }
    for (size_t i = 0; i < r->arrays.count; i++) {
        RunArray *a = &r->arrays.items[i];
        if (!a->size) continue;
        tilec_status s = tilec_buffer_read(r->device, NULL, a->buffer, 0, a->left, a->size);
        if (s) return api_error(r, s);
    }
    return EXIT_FINE;
}

// The interpreter's own arguments, on copies of what the device was given.
static IrArg *interp_args(Run *r, uint8_t **memory) {
    const MetaKernel *meta = r->compiled->meta;
    IrArg *args = arena_new(r->cli->arena, IrArg, meta->arg_count + 1);
    size_t next = 0;
    for (uint32_t i = 0; i < meta->arg_count; i++) {
        const MetaArg *arg = &meta->args[i];
        if (arg->kind == META_SCALAR) {
            settings_scalar_bits(&r->settings, intern(r->unit->names, arg->name), arg->dtype,
                                 &args[i].bits);
            continue;
        }
        const RunArray *a = &r->arrays.items[next];
        memory[next] = arena_copy(r->cli->arena, a->given, a->size + 1);
        args[i].data = memory[next];
        args[i].base = memory[next];
        args[i].size = a->size;
        memcpy(args[i].extent, a->extent, sizeof args[i].extent);
        memcpy(args[i].stride, a->stride, sizeof args[i].stride);
        next++;
    }
    return args;
}

static void report_array(Run *r, Json *j, const RunArray *a, const CompareReport *c) {
    json_open(j, '{');
    json_key(j, "array"), json_str(j, str(a->param->name));
    json_key(j, "compared"), json_uint(j, c->elements);
    json_key(j, "undecided"), json_uint(j, c->undecided);
    json_key(j, "wrong"), json_uint(j, c->wrong);
    json_key(j, "worstRatio"), json_double(j, c->elements ? c->worst_ratio : 0);
    json_close(j, '}');
    if (r->cli->json && !c->wrong) return;
    FILE *to = c->wrong ? stderr : stdout;
    if (c->wrong)
        fprintf(to,
                "tilec run: error: '%s' differs from the reference in %llu of %llu elements "
                "[mismatch]\n",
                a->param->name, (unsigned long long)c->wrong, (unsigned long long)c->elements);
    else if (!r->cli->quiet)
        fprintf(to, "check %s: %llu elements agree, %llu undecided, worst at %.3g of the bound\n",
                a->param->name, (unsigned long long)c->elements, (unsigned long long)c->undecided,
                c->worst_ratio);
    if (c->wrong)
        fprintf(to, "  worst at element %llu: found %.17g, expected %.17g within %.3g\n",
                (unsigned long long)c->worst_index, c->worst_value, c->worst_expected,
                c->worst_bound);
}

static void launched_grid(Run *r, int64_t grid[3], LaunchInput *inputs) {
    const MetaKernel *meta = r->compiled->meta;
    uint64_t values[LAUNCH_CODE_MAX];
    size_t next = 0;
    for (uint32_t i = 0; i < meta->arg_count; i++) {
        inputs[i] = (LaunchInput){0};
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
    for (uint32_t d = 0; d < 3; d++)
        grid[d] = r->own_grid ? r->grid[d] : d < v->grid_rank ? (int64_t)values[v->grid[d]] : 1;
}

static int check(Run *r) {
    uint8_t **memory = arena_new(r->cli->arena, uint8_t *, r->arrays.count + 1);
    IrArg *args = interp_args(r, memory);
    int64_t grid[3];
    launched_grid(r, grid, arena_new(r->cli->arena, LaunchInput, r->compiled->meta->arg_count + 1));
    Compare *compare = compare_run(r->cli->arena, r->compiled, args, grid, r->unit->diags);
    if (!compare) {
        cli_diags(r->cli, r->unit->diags);
        return EXIT_MISMATCH;
    }
    Json j = json_begin(&r->report);
    json_open(&j, '[');
    uint64_t wrong = 0;
    for (size_t i = 0; i < r->arrays.count; i++) {
        const RunArray *a = &r->arrays.items[i];
        CompareReport c = {0};
        for (uint64_t k = 0; k < a->count; k++)
            compare_element(compare, a->dtype, memory[i], k, dtype_load(a->dtype, a->left, k), &c);
        report_array(r, &j, a, &c);
        wrong += c.wrong;
    }
    json_close(&j, ']');
    compare_destroy(compare);
    return wrong ? EXIT_MISMATCH : EXIT_FINE;
}

static void print_text(Run *r) {
    enum { SHOWN = 8 };
    const MetaKernel *meta = r->compiled->meta;
    for (uint32_t i = 0, next = 0; i < meta->arg_count; i++) {
        if (meta->args[i].kind == META_SCALAR) continue;
        const RunArray *a = &r->arrays.items[next++];
        if (!meta->args[i].written) continue;
        StrBuf b = strbuf(r->cli->arena);
        strbuf_printf(&b, "%s: %s[", a->param->name, dtype_name(a->dtype));
        for (uint32_t d = 0; d < a->rank; d++)
            strbuf_printf(&b, "%s%lld", d ? ", " : "", (long long)a->extent[d]);
        strbuf_printf(&b, "] =");
        for (uint64_t k = 0; k < a->count && k < SHOWN; k++) {
            strbuf_char(&b, ' ');
            dtype_text(a->dtype, dtype_load(a->dtype, a->left, k), &b);
        }
        if (a->count > SHOWN) strbuf_add(&b, STR(" …"));
        if (a->out.size) strbuf_printf(&b, "  -> %.*s", STR_ARG(a->out));
        printf("%s\n", b.text);
    }
}

static void print_json(Run *r, int status) {
    StrBuf b = strbuf(r->cli->arena);
    Json j = json_begin(&b);
    json_open(&j, '{');
    json_key(&j, "status"), json_str(&j, status ? STR("mismatch") : STR("ok"));
    json_key(&j, "kernel"), json_str(&j, r->compiled->meta->name);
    json_key(&j, "device"), json_str(&j, str(tilec_device_name(r->device)));
    json_key(&j, "seconds"), json_double(&j, (double)r->best_ns * 1e-9);
    json_key(&j, "arrays"), json_open(&j, '[');
    for (size_t i = 0; i < r->arrays.count; i++) {
        const RunArray *a = &r->arrays.items[i];
        json_open(&j, '{');
        json_key(&j, "name"), json_str(&j, str(a->param->name));
        json_key(&j, "type"), json_str(&j, str(dtype_name(a->dtype)));
        json_key(&j, "shape"), json_open(&j, '[');
        for (uint32_t d = 0; d < a->rank; d++) json_int(&j, a->extent[d]);
        json_close(&j, ']');
        if (a->out.size) json_key(&j, "out"), json_str(&j, a->out);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    if (r->report.size) json_key(&j, "check"), json_raw(&j, strbuf_str(&r->report));
    json_close(&j, '}');
    printf("%s\n", b.text);
}

// Everything before a device is needed: names, types, extents, contents.
static int prepare(Run *r) {
    int status = parse_options(r);
    if (!status) status = settings_parse(r->cli, r->unit, r->kernel, &r->settings);
    if (!status) status = arrays_collect(&r->settings, &r->arrays);
    if (!status) status = settings_require_types(&r->settings);
    if (status) return status;
    r->compiled = unit_compile(r->unit, r->kernel, &r->settings.spec, NULL);
    if (!r->compiled) {
        cli_diags(r->cli, r->unit->diags);
        return EXIT_INPUT;
    }
    return arrays_fill(&r->settings, r->compiled->meta, (uint64_t)r->seed, &r->arrays);
}

static int on_device(Run *r) {
    Str name = cli_value(r->cli, "device"), path = r->cli->operands.data[0];
    tilec_status s = tilec_context_create(NULL, &r->context);
    if (s) return exit_status(s);
    s = tilec_device_open(r->context,
                          name.size ? arena_text(r->cli->arena, name.text, name.size) : "interp",
                          &r->device);
    if (s) return api_error(r, s);
    tilec_spec spec = public_spec(r);
    s = tilec_kernel_from_file(r->context, r->device,
                               arena_text(r->cli->arena, path.text, path.size),
                               r->kernel->decl->name, &spec, &r->handle);
    if (s) return api_error(r, s);
    int status = make_args(r);
    if (!status) status = launch(r);
    if (!status && cli_has(r->cli, "check")) status = check(r);
    if (status && status != EXIT_MISMATCH) return status;
    int written = status ? EXIT_FINE : arrays_write(&r->settings, &r->arrays);
    if (written) return written;
    if (r->cli->json)
        print_json(r, status);
    else if (!r->cli->quiet && !status)
        print_text(r);
    return status;
}

static int run(Cli *cli) {
    Str path = cli->operands.data[0];
    if (str_ends(path, STR(".ptx")) || str_ends(path, STR(".hsaco"))) {
        fprintf(stderr,
                "tilec run: error: no simulated device in this version runs '%.*s' [unsupported]\n",
                STR_ARG(path));
        return EXIT_UNAVAILABLE;
    }
    Run r = {.cli = cli, .report = strbuf(cli->arena)};
    r.unit = unit_load_file(arena_text(cli->arena, path.text, path.size));
    int status = EXIT_INPUT;
    if (diags_errors(r.unit->diags)) {
        cli_diags(cli, r.unit->diags);
    } else {
        if (!cli->json) cli_diags_text(cli, r.unit->diags);
        r.kernel = unit_kernel(r.unit, cli->operands.count > 1 ? cli->operands.data[1] : STR(""));
        if (r.kernel) diags_truncate(r.unit->diags, 0);
        status = EXIT_USAGE;
        if (r.kernel)
            status = prepare(&r);
        else
            cli_diags(cli, r.unit->diags);
        if (r.kernel && !status) status = on_device(&r);
    }
    tilec_kernel_destroy(r.handle);
    tilec_context_destroy(r.context);
    unit_destroy(r.unit);
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
