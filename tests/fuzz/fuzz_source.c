// Fuzzing the Tile front end: any bytes are loaded and checked without a crash, and what is right
// becomes IR that verifies, before and after every pass of the tile level and of the CPU.
//
// The first line may say `//T` and one character each for the type and the const that open
// parameters get; the source is all of the input either way.
#include <stdio.h>
#include <stdlib.h>

#include "frontend/tile/tile.h"
#include "ir/text/text.h"
#include "ir/verify/verify.h"
#include "passes/pass.h"

enum { INPUT_MAX = 1 << 16, KERNELS_MAX = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct World {
    Arena *arena;
    Sources *sources;
    Interner *names;
    Diags *diags;
} World;

static void fail(const World *w, const char *what, const IrModule *m) {
    StrBuf text = strbuf(w->arena);
    diags_text(w->diags, (DiagStyle){0}, &text);
    if (m) ir_print_module(m, &text);
    fprintf(stderr, "%s\n%.*s\n", what, STR_ARG(strbuf_str(&text)));
    abort();
}

static FrontSpec spec_for(const World *w, const AstKernel *kernel, Dtype type, int64_t value) {
    FrontSpec spec = {0};
    for (const AstDecl *p = kernel->params; p; p = p->next) {
        IrBinding b = {.name = p->name, .is_type = p->kind == DECL_TYPE_PARAM};
        b.type = type;
        b.value = value;
        bool open = b.is_type || (p->kind == DECL_CONST_PARAM && !p->value);
        if (open) vec_push(w->arena, &spec.bindings, b);
    }
    return spec;
}

static void elaborate(const World *w, TileFile *file, const AstKernel *kernel, unsigned choice) {
    static const Dtype types[] = {DTYPE_F32, DTYPE_I32, DTYPE_F16, DTYPE_BF16, DTYPE_F8E5M2};
    FrontSpec spec = spec_for(w, kernel, types[choice % 5], 1 << (choice % 8 + 1));
    IrModule *m = ir_module_create(w->arena, w->sources, w->names);
    IrFunc *f = tile_elaborate(file, m, kernel, &spec, w->diags);
    if (!f) {
        if (!diags_errors(w->diags))
            fail(w, "nothing came of a kernel, and nothing was said", NULL);
        diags_truncate(w->diags, 0);
        return;
    }
    if (!ir_verify(m, w->diags)) fail(w, "the front end made invalid IR", m);
    static const PipelineId pipelines[] = {PIPELINE_TILE, PIPELINE_CPU};
    for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++) {
        size_t count;
        const PassStep *steps = pipeline_steps(pipelines[i], &count);
        if (!passes_run(m, steps, count, &(PassOptions){.verify = true}, w->diags))
            fail(w, "a pass failed", m);
    }
}

static void report(const World *w) {
    StrBuf out = strbuf(w->arena);
    diags_sort(w->diags);
    diags_text(w->diags, (DiagStyle){0}, &out);
    diags_json(w->diags, &out);
}

static void check(const World *w, const SourceFile *source) {
    TileFile *file = tile_load(w->arena, w->sources, w->names, source, NULL, NULL, w->diags);
    bool loaded = diags_errors(w->diags) == 0;
    bool good = tile_check(file, w->diags) && loaded;
    if (loaded && !good && !diags_errors(w->diags)) fail(w, "not good, and nothing was said", NULL);
    if (good && diags_errors(w->diags)) fail(w, "good, and with errors", NULL);
    report(w);
    if (!good) return;
    diags_truncate(w->diags, 0);
    unsigned choice = source->text.size > 3 ? (unsigned char)source->text.text[3] : 0;
    for (size_t i = 0; i < tile_kernel_count(file) && i < KERNELS_MAX; i++)
        elaborate(w, file, tile_kernel(file, i), choice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > INPUT_MAX) return -1;
    World w = {.arena = arena_create()};
    w.sources = sources_create(w.arena);
    w.names = interner_create(w.arena);
    w.diags = diags_create(w.arena, w.sources);
    Str text = {(const char *)data, size};
    check(&w, source_add(w.sources, STR("fuzz.tile"), text));
    arena_destroy(w.arena);
    return 0;
}
