#include "tests/support/tir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/os.h"
#include "ir/text/text.h"
#include "ir/verify/verify.h"

static void print_line(void *user, Str line) {
    Tir *t = user;
    strbuf_add(&t->printed, line);
    strbuf_char(&t->printed, '\n');
}

static Str diagnostics(const Tir *t) {
    StrBuf text = strbuf(t->arena);
    diags_text(t->diags, (DiagStyle){0}, &text);
    return strbuf_str(&text);
}

static Tir *load(Arena *arena, const char *name, const char *text) {
    Tir *t = arena_new(arena, Tir, 1);
    t->arena = arena;
    t->sources = sources_create(arena);
    t->diags = diags_create(arena, t->sources);
    const SourceFile *file = source_add(t->sources, str(name), str(text));
    t->module = ir_parse(arena, t->sources, interner_create(arena), file, t->diags);
    if (!t->module || !ir_verify(t->module, t->diags))
        fail_msg("%.*s\n%s", STR_ARG(diagnostics(t)), text);
    t->interp = ir_interp_create(arena, t->module->funcs.data[0]);
    tir_forget(t);
    return t;
}

Tir *tir_load(const char *format, ...) {
    Arena *arena = arena_create();
    StrBuf text = strbuf(arena);
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    return load(arena, "test.tir", text.text);
}

const char *tir_read(Arena *arena, const char *path) {
    enum { LIMIT = 1 << 20 };
    Str text;
    OsError error;
    if (!os_read_file(arena, path, LIMIT, &text, &error)) fail_msg("%s: %s", path, error.text);
    return arena_text(arena, text.text, text.size);
}

Tir *tir_load_file(const char *path) {
    Arena *arena = arena_create();
    return load(arena, path, tir_read(arena, path));
}

IrFunc *tir_kernel(const Tir *t, const char *name) {
    for (size_t i = 0; i < t->module->funcs.count; i++)
        if (strcmp(t->module->funcs.data[i]->name, name) == 0) return t->module->funcs.data[i];
    fail_msg("no kernel %s", name);
    return NULL;
}

void tir_small_halves(Dice *dice, uint16_t *x, size_t count) {
    for (size_t i = 0; i < count; i++)
        x[i] = (uint16_t)dtype_from_double(DTYPE_F16, (double)dice_below(dice, 3) - 1, true);
}

void tir_free(Tir *t) {
    ir_interp_destroy(t->interp);
    arena_destroy(t->arena);
}

IrArg tir_view(void *data, uint32_t rank, const int64_t *extents) {
    IrArg arg = {.data = data};
    int64_t stride = 1;
    for (uint32_t d = rank; d-- > 0;) {
        arg.extent[d] = extents[d];
        arg.stride[d] = stride;
        stride *= extents[d];
    }
    return arg;
}

IrArg tir_pointer(void *data, uint64_t size) {
    return (IrArg){.data = data, .base = data, .size = size};
}

IrArg tir_scalar(uint64_t bits) { return (IrArg){.bits = bits}; }

IrOutcome tir_run(Tir *t, const IrArg *args, uint32_t count, int64_t programs) {
    t->launch.args = args;
    t->launch.arg_count = count;
    t->launch.grid[0] = programs;
    t->launch.grid[1] = t->launch.grid[2] = 1;
    t->launch.print = print_line;
    t->launch.user = t;
    return ir_interp_run(t->interp, &t->launch, t->diags);
}

const char *tir_text(const Tir *t) { return diagnostics(t).text; }

bool tir_reported(const Tir *t, const char *text) {
    return strstr(diagnostics(t).text, text) != NULL;
}

void tir_forget(Tir *t) {
    diags_truncate(t->diags, 0);
    t->printed = strbuf(t->arena);
}
