// Tile's row in the table of front ends: its kernels as other rooms see them.
#include <string.h>

#include "base/status.h"
#include "frontend/tile/internal.h"

// ---- descriptions

static FrontParamKind param_kind(const AstDecl *decl) {
    switch (decl->kind) {
    case DECL_TYPE_PARAM: return FRONT_TYPE;
    case DECL_CONST_PARAM: return FRONT_CONST;
    case DECL_POINTER: return FRONT_POINTER;
    case DECL_VIEW: return FRONT_VIEW;
    case DECL_SCALAR:
    case DECL_KERNEL:
    case DECL_FN:
    case DECL_EXTENT:
    case DECL_FN_PARAM:
    case DECL_LET:
    case DECL_VAR:
    case DECL_LOOP:
    case DECL_CONST: break;
    }
    return FRONT_SCALAR;
}

static void describe_dims(Arena *arena, const AstDecl *decl, FrontParam *param) {
    for (const Ast *d = decl->dims; d; d = d->next) param->rank++;
    Symbol *extents = arena_new(arena, Symbol, param->rank + 1);
    uint32_t i = 0;
    for (const Ast *d = decl->dims; d; d = d->next, i++)
        if (d->kind == AST_NAME && d->decl && d->decl->kind == DECL_EXTENT) extents[i] = d->name;
    param->extents = extents;
}

static const FrontParam *describe_params(Arena *arena, const AstDecl *decl) {
    const FrontParam *first = NULL, **place = &first;
    for (; decl; decl = decl->next) {
        FrontParam *p = arena_new(arena, FrontParam, 1);
        *p = (FrontParam){.kind = param_kind(decl),
                          .name = decl->name,
                          .span = decl->span,
                          .dtype = decl->type.dtype,
                          .type_param = decl->type.param,
                          .has_default = decl->value != NULL,
                          .strided = decl->strided};
        if (p->kind == FRONT_VIEW) describe_dims(arena, decl, p);
        *place = p;
        place = &p->next;
    }
    return first;
}

static const FrontExtent *describe_extents(Arena *arena, const AstDecl *decl) {
    const FrontExtent *first = NULL, **place = &first;
    for (; decl; decl = decl->next) {
        FrontExtent *e = arena_new(arena, FrontExtent, 1);
        e->name = decl->name;
        *place = e;
        place = &e->next;
    }
    return first;
}

static FrontFile *load(const FrontInput *in, const SourceFile *file, Diags *diags) {
    TileFile *t = tile_load(in->arena, in->sources, in->names, file, in->import, in->user, diags);
    FrontFile *f = arena_new(in->arena, FrontFile, 1);
    size_t count = tile_kernel_count(t);
    FrontKernel *kernels = arena_new(in->arena, FrontKernel, count + 1);
    for (size_t i = 0; i < count; i++) {
        const AstKernel *k = tile_kernel(t, i);
        kernels[i] = (FrontKernel){.name = k->decl->name,
                                   .span = k->decl->span,
                                   .file = k->file,
                                   .in = f,
                                   .params = describe_params(in->arena, k->params),
                                   .extents = describe_extents(in->arena, k->extents),
                                   .own = k};
    }
    *f = (FrontFile){&tile_frontend, count, kernels, t};
    return f;
}

// ---- types from arguments

static bool infer_one(Arena *arena, const FrontParam *param, Dtype type, FrontSpec *spec,
                      Diags *diags) {
    const IrBinding *known = frontend_spec_find(spec, param->type_param);
    if (!known) {
        IrBinding binding = {.name = param->type_param, .is_type = true, .type = type};
        vec_push(arena, &spec->bindings, binding);
        return true;
    }
    if (known->type == type) return true;
    diag_error(diags, param->span, DIAG_LAUNCH, "argument '%s' is of %s, but %s is %s", param->name,
               dtype_name(type), param->type_param, dtype_name(known->type));
    return false;
}

static bool specialize(Arena *arena, const FrontKernel *kernel, const FrontArg *args, size_t count,
                       FrontSpec *spec, Diags *diags) {
    size_t i = 0;
    for (const FrontParam *p = kernel->params; p; p = p->next) {
        if (p->kind == FRONT_TYPE || p->kind == FRONT_CONST) continue;
        if (i < count && args[i].type != DTYPES && p->type_param)
            TRY(infer_one(arena, p, args[i].type, spec, diags));
        i++;
    }
    return true;
}

static Str canonical_text(const FrontKernel *kernel, Arena *arena) {
    return tile_canonical_text(kernel->in->own, kernel->own, arena);
}

// ---- the comment above a kernel

static size_t line_begin(Str text, size_t end) {
    while (end && text.text[end - 1] != '\n') end--;
    return end;
}

// The begin of the comment of "//" or of "/*" that ends right above `end`; `end` if there is none.
static size_t comment_begin(Str text, size_t end) {
    size_t begin = end;
    bool block = false;
    while (begin) {
        size_t line = line_begin(text, begin - 1);
        Str found = str_trim((Str){text.text + line, begin - 1 - line});
        bool ends = str_ends(found, STR("*/")) && !str_starts(found, STR("//"));
        bool begins = str_starts(found, STR("/*"));
        if (!block && !(begin == end && ends) && !str_starts(found, STR("//"))) break;
        block = (block || ends) && !begins;
        begin = line;
        if (begins) break;
    }
    return block ? end : begin;
}

// Is this one comment, and not several with code between them?
static bool is_one_block(Str text) {
    size_t end = 2;
    while (end + 2 <= text.size && memcmp(text.text + end, "*/", 2) != 0) end++;
    return end + 2 == text.size;
}

static size_t doc(const FrontFile *file, const FrontKernel *kernel, Arena *arena,
                  const Str **lines) {
    const TileFile *t = file->own;
    SourceLine at = source_line(t->sources, kernel->span.begin);
    if (!at.file) return 0;
    Str text = at.file->text;
    size_t end = (size_t)(at.text.text - text.text), begin = comment_begin(text, end);
    Str rest = str_trim((Str){text.text + begin, end - begin});
    bool block = str_starts(rest, STR("/*"));
    if (block && !is_one_block(rest)) return 0;
    if (block) rest = str_trim((Str){rest.text + 2, rest.size - 4});
    VEC(Str) found = {0};
    while (rest.size) {
        Str line = str_trim(str_cut(rest, '\n', &rest));
        size_t marks = block ? 0 : 2;
        while (block && marks < line.size && line.text[marks] == '*') marks++;
        line = (Str){line.text + marks, line.size - marks};
        vec_push(arena, &found, line);
    }
    *lines = found.data;
    return found.count;
}

// ---- the row

static bool check(FrontFile *file, Diags *diags) { return tile_check(file->own, diags); }

static bool check_open(FrontFile *file, const FrontKernel *kernel, const FrontSpec *given,
                       Diags *diags) {
    return tile_check_open(file->own, kernel->own, given, diags);
}

static IrFunc *elaborate(FrontFile *file, IrModule *module, const FrontKernel *kernel,
                         const FrontSpec *spec, Diags *diags) {
    return tile_elaborate(file->own, module, kernel->own, spec, diags);
}

static size_t tune_space(FrontFile *file, const FrontKernel *kernel, Str target,
                         const FrontTune **space) {
    return tile_tune_space(file->own, kernel->own, target, space);
}

const Frontend tile_frontend = {
    .language = "Tile",
    .suffix = ".tile",
    .is_kernel = "a kernel begins with the word kernel: kernel add(f32 x[N]) grid(1) { … }",
    .load = load,
    .check = check,
    .check_open = check_open,
    .specialize = specialize,
    .elaborate = elaborate,
    .tune_space = tune_space,
    .canonical_text = canonical_text,
    .doc = doc,
};
