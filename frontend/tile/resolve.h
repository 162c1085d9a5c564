// Inside name resolution: what resolve.c (globals, kernels, fns, tune), resolve_body.c (statements,
// expressions) and resolve_scope.c (what a name means here) share.
//
// Invariants: `current` maps each name to its innermost binding + 1, or 0; closing a scope restores
// what it hid. Scope 0 holds the built-ins, 1 the globals, and one kernel or fn is open at a time.
// A name that is unknown is reported once in each kernel or fn.
//
//     size_t mark = scope_open(r);
//     scope_declare(r, decl);
//     resolve_block(r, body);
//     scope_close(r, mark);
#ifndef TILEC_FRONTEND_TILE_RESOLVE_H
#define TILEC_FRONTEND_TILE_RESOLVE_H

#include "frontend/tile/internal.h"

typedef struct Binding {
    Symbol name;
    AstDecl *decl;  // NULL: a built-in
    int16_t builtin;
    uint32_t scope;
    uint32_t hidden;  // what `current` held before
} Binding;

typedef struct FnUse {  // fn `from` mentions fn `to`
    uint32_t from, to;
    Ast *name;
} FnUse;

typedef struct Resolver {
    TileFile *t;
    Arena *arena;
    Diags *diags;
    Map current;
    VEC(Binding) bindings;
    uint32_t scope;
    Map unknown;       // Symbol → the `unit` that reported it last
    uint64_t unit;     // counts kernels, fns and consts
    bool warns;        // the unit is of the file itself, not imported
    bool head_broken;  // names may be missing: say nothing of unknown ones
    uint32_t slots;    // of the unit
    const AstFn *fn;   // the one at hand
    const AstKernel *kernel;
    const AstDecl *value_of;  // the const whose value is at hand: it sees earlier ones only
    bool in_requires;
    int loops;    // open around here
    bool breaks;  // the innermost loop has a break
    VEC(FnUse) uses;
} Resolver;

typedef enum NameUse { USE_VALUE, USE_ARGUMENT, USE_CALLEE } NameUse;

// --- resolve_scope.c
// ------------------------------------------------------------------------------
void scope_begin(Resolver *r);  // the built-ins and the globals
size_t scope_open(Resolver *r);
void scope_close(Resolver *r, size_t mark);  // warns of what was never used
// Gives it a slot and binds it, unless its name is taken in this scope: that is reported.
void scope_declare(Resolver *r, AstDecl *decl);
const Binding *scope_find(const Resolver *r, Symbol name);
void scope_unknown(Resolver *r, const char *what, Symbol name, Span span);
// A declaration is named at the span: neither it nor the import that brought it is unused.
void resolve_use(Resolver *r, AstDecl *decl, Span at);
// Of what is assigned to: that it may not have been declared yet.
void scope_unknown_target(Resolver *r, Symbol name, Span span);
const char *decl_phrase(const AstDecl *decl);  // "a fn", "a scalar parameter"

// --- resolve_body.c
// -------------------------------------------------------------------------------
void resolve_expr(Resolver *r, Ast *e, NameUse use);
void resolve_each(Resolver *r, Ast *list, NameUse use);
// The statements of a block in the scope that is open; true when control never passes their end.
bool resolve_statements(Resolver *r, Ast *list);

// --- resolve_recursion.c
// --------------------------------------------------------------------------
void resolve_recursion(Resolver *r);

#endif
