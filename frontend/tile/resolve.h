// Inside name resolution: what resolve.c (globals, kernels, fns, tune), resolve_body.c (statements,
// expressions) and resolve_scope.c (what a name means here) share.
//
// Invariants: `current` maps each name to its innermost binding + 1, or 0; closing a scope restores
// the names that it hid. Scope 0 holds the built-ins, scope 1 the globals, and one kernel or fn is
// open at a time. An unknown name is reported once in each kernel or fn.
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

typedef struct FnUse {  // a use of fn `to` in fn `from`
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
    Map unknown;       // Symbol → the last `unit` that reported it
    uint64_t unit;     // counts kernels, fns and consts
    bool warns;        // the unit is in the file itself, not imported
    bool head_broken;  // names may be missing: do not report unknown ones
    uint32_t slots;    // of the unit
    const AstFn *fn;   // the current one
    const AstKernel *kernel;
    const AstDecl *value_of;  // the const whose value is being resolved: it sees earlier ones only
    bool in_requires;
    int loops;    // loops that are open here
    bool breaks;  // the innermost loop has a break
    VEC(FnUse) uses;
} Resolver;

typedef enum NameUse { USE_VALUE, USE_ARGUMENT, USE_CALLEE } NameUse;

// ---- resolve_scope.c
void scope_begin(Resolver *r);  // the built-ins and the globals
size_t scope_open(Resolver *r);
void scope_close(Resolver *r, size_t mark);  // warns about unused names
// Gives a declaration a slot and binds it; reports it if its name is taken in this scope.
void scope_declare(Resolver *r, AstDecl *decl);
const Binding *scope_find(const Resolver *r, Symbol name);
void scope_unknown(Resolver *r, const char *what, Symbol name, Span span);
// Records a use at the span: the declaration and the import that brought it are not unused.
void resolve_use(Resolver *r, AstDecl *decl, Span at);
// Reports the unknown target of an assignment: perhaps it has not been declared yet.
void scope_unknown_target(Resolver *r, Symbol name, Span span);
// Binds the name of an element type, if the type has one.
void resolve_type_name(Resolver *r, AstTypeName *type);
const char *decl_phrase(const AstDecl *decl);  // "a fn", "a scalar parameter"

// ---- resolve_body.c
void resolve_expr(Resolver *r, Ast *e, NameUse use);
void resolve_each(Resolver *r, Ast *list, NameUse use);
// The statements of a block in the open scope; true when control never reaches their end.
bool resolve_statements(Resolver *r, Ast *list);

// ---- resolve_recursion.c
void resolve_recursion(Resolver *r);

#endif
