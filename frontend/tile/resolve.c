// Names of a whole file: globals, the heads of kernels and fns, tune blocks.
#include "frontend/tile/resolve.h"

#include "ir/option.h"

static bool lies_in(const SourceFile *file, Span span) {
    return span.begin >= file->base && span.begin <= file->base + file->text.size;
}

void resolve_use(Resolver *r, AstDecl *decl, Span at) {
    TileFile *t = r->t;
    decl->used = true;
    bool global = decl->kind == DECL_FN || decl->kind == DECL_CONST || decl->kind == DECL_KERNEL;
    if (!global || t->sources_read.count < 2 || !lies_in(t->main, at)) return;
    for (size_t i = 1; i < t->sources_read.count; i++)
        if (lies_in(t->sources_read.data[i].file, decl->span)) t->sources_read.data[i].used = true;
}

static bool own_file(const Resolver *r, const SourceFile *file) { return file == r->t->main; }

// ---- heads of kernels

static void check_reserved(Resolver *r, const AstDecl *decl) {
    if (!frontend_is_option(decl->name)) return;
    diag_error(r->diags, decl->span, DIAG_RESERVED_NAME,
               "'%s' is the name of an option and cannot be %s", decl->name, decl_phrase(decl));
    Str options = ir_option_list(r->arena, ", ", " and ");
    diag_help(r->diags, "%.*s are given by 'tune' or '--set'", STR_ARG(options));
}

static void declare_param(Resolver *r, AstDecl *decl) {
    check_reserved(r, decl);
    scope_declare(r, decl);
}

void resolve_type_name(Resolver *r, AstTypeName *type) {
    if (!type->param) return;
    const Binding *b = scope_find(r, type->param);
    AstDeclKind kind = b && b->decl ? b->decl->kind : DECL_KERNEL;
    if (kind == DECL_TYPE_PARAM || kind == DECL_FN_PARAM) {
        type->decl = b->decl;
        b->decl->used = true;
    } else if (b && b->decl) {
        diag_error(r->diags, type->span, DIAG_UNKNOWN_NAME, "'%s' is %s, not a type", type->param,
                   decl_phrase(b->decl));
        diag_note(r->diags, b->decl->span, "'%s' is declared here", type->param);
        b->decl->used = true;
    } else {
        scope_unknown(r, "type", type->param, type->span);
    }
}

static void declare_extent(Resolver *r, Ast *name, AstDecl ***end) {
    AstDecl *extent = arena_new(r->arena, AstDecl, 1);
    extent->kind = DECL_EXTENT;
    extent->name = name->name;
    extent->span = name->span;
    declare_param(r, extent);
    **end = extent;
    *end = &extent->next;
    name->decl = extent;
}

static void resolve_extent(Resolver *r, Ast *name, AstDecl ***end) {
    const Binding *b = scope_find(r, name->name);
    const AstDecl *decl = b ? b->decl : NULL;
    bool param = decl && b->scope == r->scope;
    if ((param && (decl->kind == DECL_EXTENT || decl->kind == DECL_CONST_PARAM)) ||
        (decl && decl->kind == DECL_CONST)) {
        name->decl = b->decl;
        resolve_use(r, b->decl, name->span);
    } else if (param) {
        b->decl->used = true;
        diag_error(r->diags, name->span, DIAG_DUPLICATE_NAME, "'%s' is %s and cannot be an extent",
                   name->name, decl_phrase(decl));
        diag_note(r->diags, decl->span, "'%s' is declared here", name->name);
        diag_help(r->diags, "an extent is bound by its views and needs no parameter");
    } else {
        declare_extent(r, name, end);
    }
}

static void resolve_param(Resolver *r, AstDecl *p, AstDecl ***extents) {
    if (p->kind == DECL_TYPE_PARAM) return;
    if (p->kind == DECL_CONST_PARAM) {
        r->value_of = p;
        if (p->value) resolve_expr(r, p->value, USE_VALUE);
        r->value_of = NULL;
        return;
    }
    resolve_type_name(r, &p->type);
    declare_param(r, p);
    for (Ast *dim = p->dims; dim; dim = dim->next) {
        if (dim->kind == AST_NAME)
            resolve_extent(r, dim, extents);
        else
            resolve_expr(r, dim, USE_VALUE);
    }
}

// Types and consts come first: a view may use those that follow it.
static void resolve_params(Resolver *r, AstKernel *k) {
    AstDecl **extents = &k->extents;
    for (AstDecl *p = k->params; p; p = p->next)
        if (p->kind == DECL_TYPE_PARAM || p->kind == DECL_CONST_PARAM) declare_param(r, p);
    for (AstDecl *p = k->params; p; p = p->next) resolve_param(r, p, &extents);
}

// ---- units

static void unit_begin(Resolver *r, bool own, bool broken) {
    r->unit++;
    r->warns = own;
    r->head_broken = broken;
    r->slots = 0;
    r->loops = 0;
}

static void resolve_kernel(Resolver *r, AstKernel *k) {
    unit_begin(r, own_file(r, k->file), k->broken);
    r->kernel = k;
    size_t mark = scope_open(r);
    resolve_params(r, k);
    r->in_requires = true;
    resolve_each(r, k->requires, USE_VALUE);
    r->in_requires = false;
    resolve_each(r, k->grid, USE_VALUE);
    resolve_statements(r, k->body->list);
    scope_close(r, mark);
    k->slots = r->slots;
    r->kernel = NULL;
}

static void resolve_fn(Resolver *r, AstFn *fn) {
    unit_begin(r, own_file(r, fn->file), fn->broken);
    r->fn = fn;
    size_t mark = scope_open(r);
    for (AstDecl *p = fn->params; p; p = p->next) scope_declare(r, p);
    if (!resolve_statements(r, fn->body->list) && !fn->broken) {
        diag_error(r->diags, fn->decl->span, DIAG_MISSING_RETURN,
                   "fn '%s' does not return on every path", fn->decl->name);
        diag_help(r->diags, "end its body with a 'return'");
    }
    scope_close(r, mark);
    fn->slots = r->slots;
    r->fn = NULL;
}

static void resolve_consts(Resolver *r) {
    for (size_t i = 0; i < r->t->module.consts.count; i++) {
        AstDecl *decl = r->t->module.consts.data[i];
        unit_begin(r, false, false);
        r->value_of = decl;
        resolve_each(r, decl->dims, USE_VALUE);
        resolve_expr(r, decl->value, USE_VALUE);
        r->value_of = NULL;
    }
}

// Warns about imports of the main file whose names, and those of their own imports, it does not
// use.
static void warn_unused_imports(Resolver *r) {
    const TileFile *t = r->t;
    if (t->broken || t->module.kernels.count == 0) return;
    bool *used = arena_new(r->arena, bool, t->sources_read.count + 1);
    for (size_t i = 0; i < t->sources_read.count; i++)
        for (size_t k = i; t->sources_read.data[i].used && k; k = t->sources_read.data[k].importer)
            used[k] = true;
    for (size_t i = 1; i < t->sources_read.count; i++) {
        const TileSource *s = &t->sources_read.data[i];
        if (s->importer != 0 || used[i]) continue;
        diag_warning(r->diags, s->import, DIAG_UNUSED, "nothing of this import is used");
        diag_help(r->diags, "remove it");
    }
}

// A file without kernels is meant to be imported.
static void warn_unused_consts(Resolver *r) {
    const SourceFile *main = r->t->main;
    if (r->t->broken || r->t->module.kernels.count == 0) return;
    for (size_t i = 0; i < r->t->module.consts.count; i++) {
        const AstDecl *decl = r->t->module.consts.data[i];
        bool own = decl->span.begin >= main->base && decl->span.end <= main->base + main->text.size;
        if (decl->used || !own || decl->name[0] == '_') continue;
        diag_warning(r->diags, decl->span, DIAG_UNUSED, "'%s' is never used", decl->name);
        diag_help(r->diags, "remove it, or begin its name with '_'");
    }
}

// ---- tune

static const AstDecl *const_param(const AstKernel *k, Symbol name) {
    for (const AstDecl *p = k->params; p; p = p->next)
        if (p->name == name && p->kind == DECL_CONST_PARAM) return p;
    return NULL;
}

static void check_entry_name(Resolver *r, const AstKernel *k, const AstTuneEntry *e) {
    if (frontend_is_option(e->name) || k->broken || const_param(k, e->name)) return;
    diag_error(r->diags, e->span, DIAG_TUNE, "kernel '%s' has no const '%s'", k->decl->name,
               e->name);
    diag_note(r->diags, k->decl->span, "'%s' is declared here", k->decl->name);
    size_t count = IR_OPTIONS;
    for (const AstDecl *p = k->params; p; p = p->next) count += p->kind == DECL_CONST_PARAM;
    Str *names = arena_new(r->arena, Str, count);
    size_t n = 0;
    while (n < IR_OPTIONS) names[n] = str(ir_options[n].name), n++;
    for (const AstDecl *p = k->params; p; p = p->next)
        if (p->kind == DECL_CONST_PARAM) names[n++] = str(p->name);
    Str near = str_nearest(str(e->name), names, count);
    if (near.size) diag_help(r->diags, "did you mean '%.*s'?", STR_ARG(near));
}

// `seen`: from "kernel target name" to the entry that gave its values.
static void resolve_entry(Resolver *r, const AstTune *tune, AstTuneEntry *e, Map *seen) {
    StrBuf key = strbuf(r->arena);
    strbuf_printf(&key, "%s %s %.*s", tune->kernel, e->name, STR_ARG(tune->target));
    uint64_t *first = map_at(r->arena, seen, map_key(intern(r->t->names, strbuf_str(&key))));
    if (*first) {
        diag_error(r->diags, e->span, DIAG_TUNE, "values for '%s' are given twice", e->name);
        diag_note(r->diags, ((const AstTuneEntry *)(uintptr_t)*first)->span, "the first are here");
    } else {
        *first = map_key(e);
    }
    for (size_t i = 0; i < e->values.count; i++) resolve_expr(r, e->values.data[i], USE_VALUE);
}

static void check_target(Resolver *r, const AstTune *tune) {
    if (!span_known(tune->target_span) || tile_tune_target_known(tune->target)) return;
    diag_error(r->diags, tune->target_span, DIAG_TUNE, "unknown target '%.*s'",
               STR_ARG(tune->target));
    diag_help(r->diags,
              "there are sm_80, sm_90a, …; gfx942, gfx1100, …; x86-64 and x86-64-v2, -v3, -v4 "
              "(+bf16); aarch64, native, interp; and the families nvidia, amd, cdna, rdna, cpu");
}

static void resolve_tune(Resolver *r, AstTune *tune, Map *seen) {
    unit_begin(r, false, false);
    check_target(r, tune);
    const uint64_t *place = map_find(&r->t->globals, map_key(tune->kernel));
    const AstDecl *decl = place ? (const AstDecl *)(uintptr_t)*place : NULL;
    if (!decl || decl->kind != DECL_KERNEL) {
        diag_error(r->diags, tune->span, DIAG_TUNE,
                   decl ? "'%s' is not a kernel" : "unknown kernel '%s'", tune->kernel);
        if (decl) diag_note(r->diags, decl->span, "'%s' is declared here", tune->kernel);
        return;
    }
    AstKernel *k = decl->owner;
    const SourceFile *file = k->file;
    if (tune->span.begin < file->base || tune->span.begin > file->base + file->text.size) {
        diag_error(r->diags, tune->span, DIAG_TUNE, "kernel '%s' belongs to another file",
                   tune->kernel);
        diag_note(r->diags, decl->span, "'%s' is declared here", tune->kernel);
        diag_help(r->diags, "put its 'tune' there");
        return;
    }
    vec_push(r->arena, &k->tunes, tune);
    for (size_t i = 0; i < tune->entries.count; i++) {
        check_entry_name(r, k, &tune->entries.data[i]);
        resolve_entry(r, tune, &tune->entries.data[i], seen);
    }
}

void tile_resolve(TileFile *t) {
    Resolver r = {.t = t, .arena = t->arena, .diags = t->diags};
    Map seen = {0};
    scope_begin(&r);
    resolve_consts(&r);
    for (size_t i = 0; i < t->module.fns.count; i++) resolve_fn(&r, t->module.fns.data[i]);
    for (size_t i = 0; i < t->module.kernels.count; i++)
        resolve_kernel(&r, t->module.kernels.data[i]);
    for (size_t i = 0; i < t->imported_kernels.count; i++)
        resolve_kernel(&r, t->imported_kernels.data[i]);
    for (size_t i = 0; i < t->module.tunes.count; i++)
        resolve_tune(&r, t->module.tunes.data[i], &seen);
    for (size_t i = 0; i < t->imported_tunes.count; i++)
        resolve_tune(&r, t->imported_tunes.data[i], &seen);
    resolve_recursion(&r);
    warn_unused_consts(&r);
    warn_unused_imports(&r);
}
