// The syntax tree of a Python file.
//
// Purpose: the parser makes the tree of the whole file, host code included; names are resolved and
// kernels elaborated from it. Invariants: nodes are allocated in the front end's arena; every node
// has a span. Lists are linked through `next` in source order. A tree is at most PY_MAX_DEPTH nodes
// deep; the left sides of binary operators, calls, attributes and subscripts may be chains of any
// length, and so may be the elif of a PY_IF: they are walked without recursion where depth matters.
// The tree never changes after the parser has made it.
//
//     for (const Py *s = file->body->list; s; s = s->next)
//         if (s->kind == PY_DEF) use(s->func);
#ifndef TILEC_FRONTEND_TRITON_SYNTAX_AST_H
#define TILEC_FRONTEND_TRITON_SYNTAX_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/source.h"
#include "base/str.h"

enum { PY_MAX_DEPTH = 200 };

typedef struct Py Py;
typedef struct PyFunc PyFunc;

__extension__ typedef __int128 PyInt;  // larger integers are PY_INT with `huge` set

typedef enum PyKind {
    // Expressions
    PY_INT,      // integer
    PY_FLOAT,    // real; PY_INT and PY_FLOAT with `imaginary` set are complex numbers
    PY_STRING,   // text, with escapes replaced; `bytes` is set for b"…"
    PY_FSTRING,  // list of PY_STRING and PY_FORMAT
    PY_FORMAT,   // {a!name:b}: name is NULL, "r", "s" or "a"; b is a PY_FSTRING or NULL. `debug`
                 // is set for {a=}: c is its text with the '=', a PY_STRING, and without !name and
                 // :b, name is "r"
    PY_NAME,     // name
    PY_TRUE,
    PY_FALSE,
    PY_NONE,
    PY_ELLIPSIS,
    PY_UNARY,         // op a: PY_NEG, PY_POS, PY_INVERT, PY_NOT
    PY_BINARY,        // a op b
    PY_BOOL_OP,       // op: PY_AND or PY_OR; list of two or more operands
    PY_COMPARE,       // a, list of PY_COMPARE_STEP
    PY_COMPARE_STEP,  // op a
    PY_TERNARY,       // b if a else c
    PY_CALL,          // a(list): PY_KEYWORD and PY_STARRED among the arguments
    PY_KEYWORD,       // name=a; name is NULL for **a
    PY_STARRED,       // *a
    PY_ATTRIBUTE,     // a.name
    PY_SUBSCRIPT,     // a[b]; b is a PY_TUPLE when there is a comma
    PY_SLICE,         // a:b:c, each may be NULL
    PY_TUPLE,         // list
    PY_LIST,          // list
    PY_SET,           // list
    PY_DICT,          // list of PY_PAIR
    PY_PAIR,          // a: b; a is NULL for **b
    PY_LAMBDA,        // func, whose body is one PY_RETURN
    PY_LIST_COMP,     // [a for …], list of PY_CLAUSE
    PY_SET_COMP,      // {a for …}
    PY_DICT_COMP,     // {a: b for …}
    PY_GENERATOR,     // (a for …)
    PY_CLAUSE,        // for a in b, list: the conditions after it
    PY_WALRUS,        // a := b
    PY_AWAIT,         // a
    PY_YIELD,         // a or NULL; `from` is set for yield from
    PY_ERROR,         // inserted where the parser recovered
    // Statements
    PY_EXPR,       // a
    PY_ASSIGN,     // list of targets = a
    PY_ANNOTATED,  // a: b = c; c may be NULL
    PY_AUGMENTED,  // a op= b
    PY_RETURN,     // a or NULL
    PY_PASS,
    PY_BREAK,
    PY_CONTINUE,
    PY_IF,          // if a: b else: c; c is a PY_BLOCK or NULL (elif is a block of one PY_IF)
    PY_FOR,         // for a in b: c else: d
    PY_WHILE,       // while a: b else: c
    PY_WITH,        // list of PY_WITH_ITEM; b: the body
    PY_WITH_ITEM,   // a as b; b may be NULL
    PY_TRY,         // try: a, list of PY_EXCEPT, else: b, finally: c; op is PY_MUL for except*
    PY_EXCEPT,      // except a as name: b; a and name may be NULL
    PY_RAISE,       // a from b
    PY_ASSERT,      // assert a, b
    PY_DEL,         // list
    PY_GLOBAL,      // list of PY_NAME
    PY_NONLOCAL,    // list of PY_NAME
    PY_IMPORT,      // list of PY_ALIAS
    PY_FROM,        // from text import list of PY_ALIAS; `dots`; list is NULL for *
    PY_ALIAS,       // text ("a.b.c") as name; name is NULL without `as`
    PY_DEF,         // func
    PY_CLASS,       // class name[d](list): b; c: the decorators, a list; d: of PY_TYPE_PARAM
    PY_MATCH,       // match a: list of PY_CASE
    PY_CASE,        // case b if a: c; b is the pattern, read as an expression, where `x as y` is a
                    // PY_WITH_ITEM
    PY_TYPE_ALIAS,  // type name[b] = a; b: a list of PY_TYPE_PARAM
    PY_TYPE_PARAM,  // name: a = b, each may be NULL; op is PY_MUL for *name, PY_POW for **name
    PY_BLOCK,       // list of statements
} PyKind;

typedef enum PyOp {
    PY_OP_NONE,
    PY_ADD,
    PY_SUB,
    PY_MUL,
    PY_DIV,
    PY_FLOOR_DIV,
    PY_MOD,
    PY_POW,
    PY_MATMUL,
    PY_LSHIFT,
    PY_RSHIFT,
    PY_BIT_AND,
    PY_BIT_OR,
    PY_BIT_XOR,
    PY_AND,
    PY_OR,
    PY_LT,
    PY_LE,
    PY_GT,
    PY_GE,
    PY_EQ,
    PY_NE,
    PY_IN,
    PY_NOT_IN,
    PY_IS,
    PY_IS_NOT,
    PY_NEG,
    PY_POS,
    PY_INVERT,
    PY_NOT,
} PyOp;

struct Py {
    PyKind kind : 8;
    PyOp op : 8;
    bool imaginary : 1, bytes : 1, debug : 1, from : 1, huge : 1, is_async : 1;
    bool parenthesized : 1;  // (…) stood around it
    uint8_t dots;            // PY_FROM: the dots before the module's name
    Span span;               // without the brackets of `parenthesized`; a tuple's are in it
    uint8_t height;          // nodes from here down; chains and the PY_IF of an elif count as one
    Py *next;
    Symbol name;
    union {
        struct {
            Py *a, *b, *c, *d;
        };
        PyInt integer;
        double real;
        Str text;  // PY_STRING, PY_FROM, PY_ALIAS
    };
    union {
        Py *list;
        PyFunc *func;
    };
    Span name_span;  // of `name` (attributes, keywords, aliases, classes, except)
};

typedef enum PyParamKind {
    PY_PARAM_POSITIONAL,  // before "/"
    PY_PARAM_NORMAL,
    PY_PARAM_ARGS,     // *args
    PY_PARAM_KEYWORD,  // after "*"
    PY_PARAM_KWARGS,   // **kwargs
} PyParamKind;

typedef struct PyParam {
    PyParamKind kind;
    Symbol name;
    Span span;  // of the name
    struct PyParam *next;
    Py *annotation;  // or NULL
    Py *value;       // the default, or NULL
} PyParam;

struct PyFunc {
    Symbol name;  // NULL for a lambda
    Span span;    // of the name, or of the lambda
    bool is_async;
    PyParam *params;
    Py *type_params;  // a list of PY_TYPE_PARAM
    Py *decorators;   // a list of expressions
    Py *returns;      // the annotation, or NULL
    Py *body;         // a PY_BLOCK
    PyFunc *outer;    // the function around it, or NULL
    const SourceFile *file;
    Str doc;  // the string that begins the body, or empty
};

// "+", "not in", "**": the operator as it is written.
const char *py_op_text(PyOp op);

#endif
