// The syntax tree of a .tile file.
//
// Purpose: the parser makes the tree, the resolver binds its names, and the elaborator turns it
// into tile IR. Invariants: nodes are allocated in the front end's arena; every node has a span.
// Lists are linked through `next` in source order. After resolve(), every AST_NAME has `decl`, or
// `builtin` is not -1, or it is the word of a named argument (order, scope, precision: only `name`
// counts), or an error was reported (decl == NULL, builtin == -1: the elaborator reports nothing
// about it). No fn calls itself, directly or through others. From a body's block down to any leaf
// there are at most AST_MAX_DEPTH + 2 nodes, of which a chain (ast_chain) is one. One node type
// with a tagged union keeps the tree small and quick to walk.
#ifndef TILEC_FRONTEND_TILE_AST_H
#define TILEC_FRONTEND_TILE_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"
#include "base/source.h"
#include "base/str.h"
#include "base/vec.h"
#include "frontend/common/operator.h"

enum { AST_MAX_DEPTH = 200 };

typedef struct Ast Ast;
typedef struct AstDecl AstDecl;

typedef enum AstKind {
    // Expressions
    AST_INT,     // integer: value
    AST_FLOAT,   // real: text kept in `text` too
    AST_BOOL,    // integer 0 or 1
    AST_STRING,  // text (unescaped); only as an argument of print, assert, static_assert
    AST_NAME,    // name, decl or builtin
    AST_UNARY,   // op, a
    AST_BINARY,  // op, a, b
    AST_CALL,    // a: callee (an AST_NAME or AST_TYPE), list: arguments, AST_NAMED among them last;
                 // b: the pad of `load(…) or v`, or NULL
    AST_NAMED,   // name = a (in calls)
    AST_INDEX,   // a [ list ]: list of expressions and AST_SELECT; b: the pad of `or`, or NULL
    AST_SELECT,  // a +: b, or ":" if both are NULL
    AST_TYPE,    // dtype: an element type's name used as a value (cast, argument)
    AST_TUPLE,   // list of two or more; only after return, or as an argument of a call
    AST_BRACES,  // list of expressions and AST_BRACES; the values of a table or of tile(…)
    AST_ERROR,   // inserted where the parser recovered
    // Statements
    AST_LET,  // decls (one or a tuple), a: value; a table's decl is a DECL_CONST with dims
    AST_VAR,
    // a: target (name or index), op: OPERATOR_NONE or the compound operator, b: value, c: mask
    AST_ASSIGN,
    AST_EXPR,   // a
    AST_IF,     // a: condition, b: then, c: else or NULL; is_const
    AST_FOR,    // decl: variable, a .. b step c (c may be NULL), d: body; is_const
    AST_WHILE,  // a, b: body
    AST_BREAK,
    AST_CONTINUE,
    AST_RETURN,  // a: value, AST_TUPLE, or NULL
    AST_BLOCK,   // list
} AstKind;

struct Ast {  // a cache line: a file is mostly these, and walking them costs misses
    AstKind kind : 8;
    Operator op : 8;
    Dtype dtype : 8;
    bool is_const : 1;
    bool broken : 1;  // the parser reported a mistake in it: no more errors about it
    uint8_t height;   // nodes on the longest path down, itself included (expressions)
    int16_t builtin;  // a TileBuiltin when the name is one (internal.h), else -1
    Span span;
    Ast *next;  // next element of the list
    AstDecl *decl;
    union {
        struct {
            Ast *a, *b;
            union {
                Ast *c;
                Ast *list;  // each kind uses only one of them
            };
            union {
                Ast *d;
                Symbol name;  // AST_NAME, AST_NAMED, AST_TYPE
            };
        };
        struct {
            uint64_t integer;
            double real;
            Str text;
        };
    };
};
_Static_assert(sizeof(Ast) == 64, "a node is a cache line");

// Operators whose left sides may be a chain of any length: all binary operators but && and ||. A
// chain counts as one node of the depth, because it is walked without recursion.
static inline bool ast_chain(const Ast *e) {
    return e->kind == AST_BINARY && !e->broken && e->op != OPERATOR_LAND && e->op != OPERATOR_LOR;
}
// The node and the nodes down its left side, itself first; chain[count - 1]->a is the leftmost
// operand.
Ast *const *ast_chain_of(Arena *arena, const Ast *top, size_t *count);

// The kinds of things that a name can stand for.
typedef enum AstDeclKind {
    DECL_KERNEL,
    DECL_FN,
    DECL_TYPE_PARAM,   // type T
    DECL_CONST_PARAM,  // const W = 1024
    DECL_SCALAR,       // f32 eps
    DECL_POINTER,      // *f32 p
    DECL_VIEW,         // f32 x[R, C]
    DECL_EXTENT,       // R, bound by a view
    DECL_FN_PARAM,
    DECL_LET,
    DECL_VAR,
    DECL_LOOP,   // a for's variable
    DECL_CONST,  // `const N = 4;` at the top of a file; a table, which has dims
} AstDeclKind;

typedef struct AstTypeName {  // an element type or a type parameter
    Dtype dtype;
    Symbol param;  // NULL: `dtype` is the type
    AstDecl *decl;
    Span span;
} AstTypeName;

struct AstDecl {
    AstDeclKind kind;
    Symbol name;
    Span span;  // of the name
    bool used;
    bool broken;       // its declaration has a mistake that was reported: its type is unknown
    bool assigned;     // a var that is assigned after its declaration
    uint32_t slot;     // dense within its kernel or fn: the elaborator's side table; of a top-level
                       // const its place in AstModule.consts
    AstDecl *next;     // next element of the list
    AstTypeName type;  // scalars, pointers, views, tables
    bool strided;      // views
    Ast *dims;         // views, tables: the extents, linked; an array: the number of its tiles
    Ast *value;        // default of a const parameter; value of a const
    void *owner;       // DECL_KERNEL, DECL_FN: the AstKernel or AstFn
};

typedef struct AstTuneEntry {
    Symbol name;
    Span span;
    VEC(Ast *) values;  // constant expressions
} AstTuneEntry;

typedef struct AstTune {
    Symbol kernel;
    Span span;
    Str target;        // empty: all targets
    Span target_span;  // unknown if there is no target
    VEC(AstTuneEntry) entries;
} AstTune;

typedef struct AstFn {
    AstDecl *decl;
    AstDecl *params;
    Ast *body;
    uint32_t slots;
    uint32_t id;  // its index in AstModule.fns
    bool broken;  // an error hid names that it declares: a name that seems unknown may be right
    const SourceFile *file;
} AstFn;

typedef struct AstKernel {
    AstDecl *decl;
    AstDecl *params;   // in source order: types, consts, scalars, pointers, views
    AstDecl *extents;  // in order of first mention
    Ast *grid;         // list of 1 to 3
    Ast *requires;     // list; noalias(a, b) is a call among them
    unsigned math;     // IrMath bits
    Ast *body;
    uint32_t slots;
    bool broken;  // see AstFn
    const SourceFile *file;
    Str comment;  // the comment right before it, for headers and `check --json`
    VEC(AstTune *) tunes;
} AstKernel;

typedef struct AstModule {
    VEC(AstKernel *) kernels;
    VEC(AstFn *) fns;
    VEC(AstDecl *) consts;
    VEC(AstTune *) tunes;
    VEC(Str) imports;  // resolved paths, for depfiles
} AstModule;

const char *ast_op_text(Operator op);

#endif
