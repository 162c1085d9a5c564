// The output of `tilec run`: failures of the API, previews.
#include <stdio.h>
#include <string.h>

#include "compile/jit/compiler.h"
#include "tools/progress.h"
#include "tools/run.h"

// ---- Failures of the API ----

static int exit_status(tilec_status status) {
    switch (status) {
    case TILEC_OK: return EXIT_OK;
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

// The position of line and column (from 1) in a file.
static uint32_t position(const SourceFile *file, uint32_t line, uint32_t column) {
    const char *at = file->text.text, *end = at + file->text.size;
    for (; line > 1 && at < end; line--) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        at = next ? next + 1 : end;
    }
    size_t offset = (size_t)(at - file->text.text) + column - 1;
    return file->base + (uint32_t)(offset < file->text.size ? offset : file->text.size);
}

static Span find_span(const Run *r, const tilec_diagnostic *d) {
    const SourceFile *file = source_find(r->unit->sources, str(d->file));
    if (!file || !d->line || !d->column) return (Span){0};
    uint32_t begin = position(file, d->line, d->column);
    uint32_t end = d->end_line ? position(file, d->end_line, d->end_column) : begin;
    return (Span){begin, end < begin ? begin : end};
}

static void add_diag(const Run *r, Diags *to, const tilec_diagnostic *d) {
    DiagCode code = DIAG_LAUNCH;
    diag_code_from_slug(str(d->code), &code);
    Span span = find_span(r, d);
    switch (d->severity) {
    case TILEC_ERROR: diag_error(to, span, code, "%s", d->message); break;
    case TILEC_WARNING: diag_warning(to, span, code, "%s", d->message); break;
    case TILEC_NOTE: diag_note(to, span, "%s", d->message); break;
    }
    if (d->help[0]) diag_help(to, "%s", d->help);
}

// Did the kernel need more than the device has? Then its consts are wrong, and nothing is missing
// here.
static bool beyond_limits(tilec_context *context) {
    tilec_diagnostic d;
    for (size_t i = 0; i < tilec_diagnostic_count(context); i++) {
        DiagCode code;
        if (tilec_diagnostic_get(context, i, &d) == TILEC_OK && d.severity == TILEC_ERROR &&
            diag_code_from_slug(str(d.code), &code) && code == DIAG_LIMIT)
            return true;
    }
    return false;
}

int run_api_error(Run *r, tilec_status status) {
    size_t n = tilec_diagnostic_count(r->context);
    int exit = beyond_limits(r->context) ? EXIT_INPUT : exit_status(status);
    DiagCode code = exit == EXIT_UNAVAILABLE ? DIAG_UNSUPPORTED : DIAG_LAUNCH;
    if (!n) return cli_fail(r->cli, exit, code, NULL, "%s", tilec_last_error(r->context));
    Diags *all = diags_create(r->cli->arena, r->unit->sources);
    for (size_t i = 0; i < n; i++) {
        tilec_diagnostic d;
        if (tilec_diagnostic_get(r->context, i, &d) == TILEC_OK) add_diag(r, all, &d);
    }
    cli_diags(r->cli, all);
    return exit;
}

// ---- Results ----

enum { SHOWN = 8 };  // elements of a preview

// The bits of the k-th element. The last index varies fastest, for any strides.
static uint64_t element(const RunArray *a, uint64_t k) {
    uint64_t at = 0;
    for (uint32_t d = a->rank; d-- > 0;) {
        at += k % (uint64_t)a->extent[d] * (uint64_t)a->stride[d];
        k /= (uint64_t)a->extent[d];
    }
    return dtype_load(a->dtype, a->left, at);
}

static void print_array(Run *r, const RunArray *a) {
    StrBuf b = strbuf(r->cli->arena);
    strbuf_printf(&b, "%s: %s[", a->param->name, dtype_name(a->dtype));
    for (uint32_t d = 0; d < a->rank; d++)
        strbuf_printf(&b, "%s%lld", d ? ", " : "", (long long)a->extent[d]);
    strbuf_printf(&b, "] =");
    for (uint64_t k = 0; k < a->count && k < SHOWN; k++) {
        strbuf_char(&b, ' ');
        dtype_text(a->dtype, element(a, k), &b);
    }
    if (a->count > SHOWN) strbuf_add(&b, STR(" …"));
    if (!a->count) strbuf_add(&b, STR(" (empty)"));
    if (a->out.size) strbuf_printf(&b, "  -> %.*s", STR_ARG(a->out));
    printf("%s\n", b.text);
}

static void print_text(Run *r) {
    const MetaKernel *meta = r->compiled->meta;
    for (uint32_t i = 0, next = 0; i < meta->arg_count; i++) {
        if (meta->args[i].kind == META_SCALAR) continue;
        const RunArray *a = &r->arrays.items[next++];
        if (meta->args[i].written || a->out.size) print_array(r, a);
    }
    if (r->tallied) run_print_tally(r->cli, &r->tally);
    if (r->repeat > 1)
        printf("%lld launches, the fastest took %.6g s\n", (long long)r->repeat,
               (double)r->best_ns * 1e-9);
}

static void json_values(Json *j, const RunArray *a) {
    json_key(j, "values"), json_open(j, '[');
    for (uint64_t k = 0; k < a->count && k < SHOWN; k++) {
        uint64_t bits = element(a, k);
        if (dtype_is(a->dtype, DTYPE_CLASS_ANYFLOAT))
            json_double(j, dtype_to_double(a->dtype, bits));
        else if (a->dtype == DTYPE_BOOL)
            json_bool(j, bits != 0);
        else if (dtype_signed(a->dtype))
            json_int(j, dtype_to_i64(a->dtype, bits));
        else
            json_uint(j, bits);
    }
    json_close(j, ']');
}

static void json_array(Json *j, const RunArray *a, const MetaArg *arg, bool done) {
    json_open(j, '{');
    json_key(j, "name"), json_str(j, str(a->param->name));
    json_key(j, "type"), json_str(j, str(dtype_name(a->dtype)));
    json_key(j, "shape"), json_open(j, '[');
    for (uint32_t d = 0; d < a->rank; d++) json_int(j, a->extent[d]);
    json_close(j, ']');
    json_key(j, "written"), json_bool(j, arg->written);
    if (a->in.size) json_key(j, "in"), json_str(j, a->in);
    if (a->out.size && done) json_key(j, "out"), json_str(j, a->out);
    if (done && (arg->written || a->out.size)) json_values(j, a);
    json_close(j, '}');
}

static void print_json(Run *r, bool done) {
    Json *j = &r->cli->json_out;
    const MetaKernel *meta = r->compiled->meta;
    json_key(j, "kernel"), json_str(j, meta->name);
    json_key(j, "device"), json_str(j, str(tilec_device_name(r->device)));
    json_key(j, "grid"), json_open(j, '[');
    int64_t grid[3];
    run_launched_grid(r, grid);
    for (int d = 0; d < 3; d++) json_int(j, grid[d]);
    json_close(j, ']');
    json_key(j, "seed"), json_int(j, r->seed);
    json_key(j, "repeat"), json_int(j, r->repeat);
    if (done) json_key(j, "seconds"), json_double(j, (double)r->best_ns * 1e-9);
    json_key(j, "arrays"), json_open(j, '[');
    for (uint32_t i = 0, next = 0; i < meta->arg_count; i++)
        if (meta->args[i].kind != META_SCALAR)
            json_array(j, &r->arrays.items[next++], &meta->args[i], done);
    json_close(j, ']');
    json_key(j, "printed"), json_open(j, '[');
    for (size_t i = 0; i < r->printed.count; i++) json_str(j, r->printed.data[i]);
    json_close(j, ']');
    if (r->tallied && done) {
        json_key(j, "counts"), json_open(j, '{');
        run_print_tally(r->cli, &r->tally);
        json_close(j, '}');
    }
    if (r->report.size) json_key(j, "check"), json_raw(j, strbuf_str(&r->report));
    if (r->special.size) json_key(j, "checkSpecial"), json_raw(j, strbuf_str(&r->special));
}

void run_print(Run *r, bool done) {
    if (r->cli->json)
        print_json(r, done);
    else if (done && !r->cli->quiet)
        print_text(r);
}
