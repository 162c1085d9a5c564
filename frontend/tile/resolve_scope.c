// The meaning of a name at a position, and the errors about names without one.
#include "frontend/tile/resolve.h"

static void bind(Resolver *r, Symbol name, AstDecl *decl, int16_t builtin) {
    uint64_t *place = map_at(r->arena, &r->current, map_key(name));
    Binding b = {.name = name,
                 .decl = decl,
                 .builtin = builtin,
                 .scope = r->scope,
                 .hidden = (uint32_t)*place};
    vec_push(r->arena, &r->bindings, b);
    *place = r->bindings.count;
}

void scope_begin(Resolver *r) {
    for (int i = 0; i < TILE_BUILTINS; i++)
        bind(r, intern(r->t->names, str(tile_builtin_name((TileBuiltin)i))), NULL, (int16_t)i);
    r->scope++;
    for (uint32_t i = 0; i < r->t->globals.count; i++) {
        AstDecl *decl = (AstDecl *)(uintptr_t)r->t->globals.entries[i].value;
        bind(r, decl->name, decl, -1);
    }
}

size_t scope_open(Resolver *r) {
    r->scope++;
    return r->bindings.count;
}

static void warn_unused(Resolver *r, const AstDecl *decl) {
    bool exempt = decl->used || decl->name[0] == '_' || decl->kind == DECL_TYPE_PARAM ||
                  decl->kind == DECL_EXTENT || decl->kind == DECL_LOOP;
    if (exempt || !r->warns || r->t->broken) return;
    if (decl->assigned) {
        diag_warning(r->diags, decl->span, DIAG_UNUSED, "'%s' is assigned but never read",
                     decl->name);
    } else {
        diag_warning(r->diags, decl->span, DIAG_UNUSED, "'%s' is never used", decl->name);
    }
    diag_help(r->diags, "remove it, or begin its name with '_'");
}

void scope_close(Resolver *r, size_t mark) {
    for (size_t i = mark; i < r->bindings.count; i++)
        if (r->bindings.data[i].decl) warn_unused(r, r->bindings.data[i].decl);
    while (r->bindings.count > mark) {
        Binding b = vec_pop(&r->bindings);
        *map_at(r->arena, &r->current, map_key(b.name)) = b.hidden;
    }
    r->scope--;
}

const Binding *scope_find(const Resolver *r, Symbol name) {
    const uint64_t *place = map_find(&r->current, map_key(name));
    return place && *place ? &r->bindings.data[*place - 1] : NULL;
}

const char *decl_phrase(const AstDecl *decl) {
    switch (decl->kind) {
    case DECL_KERNEL: return "a kernel";
    case DECL_FN: return "a fn";
    case DECL_TYPE_PARAM: return "a type parameter";
    case DECL_CONST_PARAM: return "a const parameter";
    case DECL_SCALAR: return "a scalar parameter";
    case DECL_POINTER: return "a pointer";
    case DECL_VIEW: return "a view";
    case DECL_EXTENT: return "an extent";
    case DECL_FN_PARAM: return "a parameter";
    case DECL_LET: return "declared with 'let'";
    case DECL_VAR: return "declared with 'var'";
    case DECL_LOOP: return "the variable of a 'for'";
    case DECL_CONST: return "a const";
    }
    return "";
}

static void report_duplicate(Resolver *r, AstDecl *old, AstDecl *decl) {
    bool in_order = old->span.begin <= decl->span.begin;
    const AstDecl *first = in_order ? old : decl, *second = in_order ? decl : old;
    diag_error(r->diags, second->span, DIAG_DUPLICATE_NAME, "'%s' is declared twice", second->name);
    diag_note(r->diags, first->span, "'%s' is %s here", first->name, decl_phrase(first));
    if (first->kind == DECL_EXTENT || second->kind == DECL_EXTENT)
        diag_help(r->diags, "an extent is bound by its views and needs no parameter");
    old->used = decl->used = true;
    old->broken = decl->broken = true;  // a use could mean either
}

void scope_declare(Resolver *r, AstDecl *decl) {
    decl->slot = r->slots++;
    if (decl->name[0] == '_' && !decl->name[1]) return;  // '_' is not a name
    const Binding *b = scope_find(r, decl->name);
    if (b && b->decl && b->scope == r->scope) {
        report_duplicate(r, b->decl, decl);
        return;
    }
    bind(r, decl->name, decl, -1);
}

// ---- unknown names

#define NO_BARRIERS "leave it out: the compiler places the barriers that a program needs"

static const struct {
    const char *name;
    const char *help;
} foreign_names[] = {
    {"threadIdx", "a program works on whole tiles; 'iota(B)' numbers their elements"},
    {"blockIdx", "write 'program(0)'"},
    {"blockDim", "a program works on whole tiles; their sizes are consts"},
    {"gridDim", "write 'programs(0)'"},
    {"program_id", "write 'program(0)'"},
    {"arange", "write 'iota(B)'"},
    {"True", "write 'true'"},
    {"False", "write 'false'"},
    {"where", "write 'select(condition, a, b)'"},
    {"NULL", "there are no null pointers"},
    {"not", "write '!'"},
    {"and", "write '&&', or '&' for tiles"},
    {"printf", "write 'print(\"x = \", x)'"},
    {"fabs", "write 'abs'"},
    {"fmax", "write 'max'"},
    {"fmin", "write 'min'"},
    {"expf", "write 'exp'"},
    {"sqrtf", "write 'sqrt'"},
    {"INFINITY", "write 'inf'"},
    {"NAN", "write 'nan'"},
    {"rcp", "write '1.0 / x'"},
    {"reciprocal", "write '1.0 / x'"},
    {"barrier", NO_BARRIERS},
    {"syncthreads", NO_BARRIERS},
    {"__syncthreads", NO_BARRIERS},
    {"__syncwarp", NO_BARRIERS},
    {"debug_barrier", NO_BARRIERS},
    {"s_barrier", NO_BARRIERS},
    {"__threadfence", "an atomic orders by itself: 'atomic_add(p, 1, order = acq_rel)'"},
};

static const char *foreign_help(Resolver *r, Symbol name) {
    for (size_t i = 0; i < sizeof foreign_names / sizeof *foreign_names; i++)
        if (str_equal(str(foreign_names[i].name), str(name))) return foreign_names[i].help;
    const char *type = tile_foreign_type(str(name));
    return type ? arena_printf(r->arena, "this type is called '%s'", type) : NULL;
}

// The visible name that is most similar to `name`, innermost first, or NULL.
static const Binding *nearest(Resolver *r, Symbol name) {
    enum { LOOKED_AT = 2000 };
    size_t count = r->bindings.count < LOOKED_AT ? r->bindings.count : LOOKED_AT;
    Str *candidates = arena_new(r->arena, Str, count + TILE_BUILTINS);
    for (size_t i = 0; i < count; i++)
        candidates[i] = str(r->bindings.data[r->bindings.count - 1 - i].name);
    for (size_t i = 0; i < TILE_BUILTINS; i++)
        candidates[count + i] = str(r->bindings.data[i].name);
    Str found = str_nearest(str(name), candidates, count + TILE_BUILTINS);
    return found.size ? scope_find(r, intern(r->t->names, found)) : NULL;
}

void scope_unknown_target(Resolver *r, Symbol name, Span span) {
    size_t before = diags_count(r->diags);
    bool hint = foreign_help(r, name) || nearest(r, name);
    scope_unknown(r, "name", name, span);
    if (!hint && diags_count(r->diags) > before)
        diag_help(r->diags, "declare it where it gets its first value: 'var %s = …;'", name);
}

void scope_unknown(Resolver *r, const char *what, Symbol name, Span span) {
    uint64_t *last = map_at(r->arena, &r->unknown, map_key(name));
    if (r->head_broken || *last == r->unit) return;
    *last = r->unit;
    diag_error(r->diags, span, DIAG_UNKNOWN_NAME, "unknown %s '%s'", what, name);
    const char *help = foreign_help(r, name);
    const Binding *near = help ? NULL : nearest(r, name);
    if (help) diag_help(r->diags, "%s", help);
    if (!near && !help && what[0] == 't')
        diag_help(r->diags, "a type parameter is declared as 'type %s' among the parameters", name);
    if (!near) return;
    if (near->decl) near->decl->used = true;  // one message for each mistake
    if (near->decl) diag_note(r->diags, near->decl->span, "'%s' is declared here", near->name);
    diag_help(r->diags, "did you mean '%s'?", near->name);
}
