// Elaboration: source values to tile IR, shared by all front ends.
//
// Purpose: the part of elaboration that does not depend on syntax. A front end walks its tree and
// computes with values (Val); the functions here fold compile-time values, convert operands to one
// type and shape, emit operations, and report operands that do not fit. Control flow is in
// control.h, operations with rules of their own (reductions, products, accesses) are in build.h. A
// front end's own state begins with an Elab. Invariants: a Val is compile-time (INT, FLOAT, BOOL:
// untyped; TYPE, VIEW, FN, STRING, TABLE), an IR value, a tuple of those, NONE (a call without
// result, a return value not yet set) or POISON. POISON stands for a value whose error was
// reported: code that gets one reports nothing more. Errors go through el_error, which lets the
// language add notes on the calls that led there. Ownership: IR in the module's arena, everything
// else in `scratch`, which ends with the elaboration.
//
//     Val sum = el_operate(e, OPERATOR_ADD, a, b, span, (Span[]){left, right});
//     if (sum.kind == VAL_POISON) return sum;
#ifndef TILEC_FRONTEND_COMMON_ELAB_H
#define TILEC_FRONTEND_COMMON_ELAB_H

#include "base/diag.h"
#include "base/status.h"
#include "frontend/common/operator.h"
#include "ir/build.h"

typedef enum ValKind {
    VAL_POISON,
    VAL_NONE,
    VAL_INT,
    VAL_FLOAT,
    VAL_BOOL,
    VAL_IR,
    VAL_TYPE,
    VAL_TUPLE,
    VAL_VIEW,
    VAL_FN,
    VAL_STRING,
    VAL_ARRAY,
    VAL_TABLE,
} ValKind;

typedef struct Val Val;

typedef struct View {
    Symbol name;
    IrValue *value;
    Dtype elem;
    uint32_t rank;
} View;

typedef struct Slot Slot;

// Tiles of one type, each a variable of its own.
typedef struct Array {
    Symbol name;
    const IrType *type;
    uint32_t count;
    Slot *slots;
} Array;

// Constants of one type, known at compile time: a tile if all extents are powers of two.
typedef struct Table {
    Symbol name;  // NULL: it has none
    Dtype elem;
    uint32_t rank, dims[IR_MAX_RANK], count;
    uint64_t *bits;  // row-major; in the module's arena
} Table;

struct Val {
    ValKind kind;
    union {
        Int128 integer;
        double real;
        bool truth;
        Dtype type;
        IrValue *ir;
        const View *view;
        const Array *array;
        const Table *table;
        Str text;
        struct {
            const void *own;  // defined by the front end
            Symbol name;
        } fn;
        struct {
            uint32_t count;
            Val *items;
            const Symbol *names;  // of the items; NULL: they have none
        } tuple;
    };
};

#define EL_POISON ((Val){.kind = VAL_POISON})
#define EL_NONE ((Val){.kind = VAL_NONE})

typedef struct Loop Loop;
typedef struct LogEntry LogEntry;
typedef struct Elab Elab;

// The parts of messages that depend on the language, as a constant table.
typedef struct Language {
    const char *(*operator_text)(Operator op);         // "+"
    const char *(*cast_text)(Arena *arena, Dtype to);  // how a value is cast: "f32(…)"
    const char *(*dtype_text)(Dtype t);                // "f32"
    const char *pointer[2];                            // what stands around a pointer's elements
    const char *tile;                                  // the word for an array of values: "tile"
    const char *rank_help;                             // how to give a tile more dimensions
    // The text for values that the language names differently; NULL for the others.
    const char *(*val_text)(Elab *e, Val v);  // NULL: there are none
    void (*trace)(Elab *e);  // adds notes to the last error: the calls that led there
} Language;

struct Elab {
    const Language *language;
    IrModule *module;
    IrFunc *func;
    IrBuilder b;
    Diags *diags;
    Arena *scratch;
    VEC(LogEntry) log;  // control.h defines them
    uint32_t region, regions, marks;
    int nesting;
    Loop *loops;    // the innermost loop, also across calls
    size_t errors;  // errors reported, with the duplicates that were dropped
};

// ---- value.c: messages and texts
Val el_error(Elab *e, Span span, DiagCode code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define el_help(e, ...) diag_help((e)->diags, __VA_ARGS__)
#define el_note(e, ...) diag_note((e)->diags, __VA_ARGS__)
const char *el_dtype_text(const Elab *e, Dtype t);   // f32
const char *el_type_text(Elab *e, const IrType *t);  // f32[16, 32]
const char *el_val_text(Elab *e, Val v);  // describes a value: "f32[16]", "the integer 3"
const char *el_shape_text(Elab *e, uint32_t rank, const uint32_t *shape);
const char *el_wide_text(Elab *e, Int128 value);
const char *el_cast_text(Elab *e, Dtype to);
const char *el_operator_text(const Elab *e, Operator op);

// ---- value.c: makers and questions
Val el_ir(IrValue *v);
Val el_int(Int128 value);
Val el_bool(bool value);
Val el_tuple(Elab *e, uint32_t count, const Val *items);
bool el_is_const(Val v);   // true for INT, FLOAT, BOOL
bool el_is_value(Val v);   // true for those and for IR
bool el_is_poison(Val v);  // a tuple is poisoned when one of its items is
Dtype el_elem(IrValue *v);
bool el_is_ptr(IrValue *v);
uint64_t el_next_power(uint64_t n);
// Sets an attribute of an op.
IrAttr *el_attr(IrOp *op, IrAttrName name);
// An op with one result.
IrValue *el_op1(Elab *e, IrOpcode code, uint32_t count, IrValue *const *operands,
                const IrType *result);

// ---- value.c: types
// The dtype of an untyped value that nothing else gives a type.
Dtype el_default_dtype(Val v);
// The bits of a compile-time value in this element type; false after an error at `span`.
bool el_adopt_bits(Elab *e, Val v, Dtype elem, Span span, uint64_t *bits);
// A compile-time value as a constant of this element type and shape; NULL after an error at `span`.
IrValue *el_adopt(Elab *e, Val v, Dtype elem, uint32_t rank, const uint32_t *shape, Span span);
IrValue *el_convert(Elab *e, IrValue *v, Dtype elem);  // adds a cast if it is needed
// The common type of two element types; false when there is none.
bool el_promote(Dtype a, Dtype b, Dtype *common);
// Converts all values (compile-time or IR) to one element type and one shape; false after an error.
// `what` is the operation's name in the source. Pointers are accepted when all types are equal.
bool el_unify(Elab *e, Span span, const char *what, uint32_t count, const Val *vals,
              const Span *spans, IrValue **out);

// ---- value.c: shapes
typedef struct Shape {
    uint32_t rank;
    uint32_t dims[IR_MAX_RANK];
} Shape;
Shape el_shape_of(const IrType *t);
// Broadcasts v to `shape`; the caller knows that it stretches to it.
IrValue *el_broadcast(Elab *e, IrValue *v, uint32_t rank, const uint32_t *shape);
// Reported under sanitize only: an index, or a tile of them, is from 0 to extent - 1. It has at
// least 32 bits.
void el_check_index(Elab *e, IrValue *i, uint32_t extent);
// The common shape of all values, or false after an error at `span`. NULLs are skipped.
bool el_common_shape(Elab *e, Span span, uint32_t count, IrValue *const *values, Shape *shape);
bool el_stretches(const IrType *from, uint32_t rank, const uint32_t *shape);
bool el_shape_limits(Elab *e, Span span, uint32_t rank, const uint32_t *shape);

// ---- table.c
// The table as a tile; NULL after an error at `span`.
IrValue *el_table_tile(Elab *e, const Table *t, Span span);
// Element `i` as a compile-time value.
Val el_table_value(const Table *t, uint32_t i);
// The elements at these numbers, which count in row-major order; 0 where a number is outside.
IrValue *el_table_lookup(Elab *e, const Table *t, IrValue *numbers);

// ---- fold.c: compile-time arithmetic
Val el_fold_unary(Elab *e, Operator op, Val a, Span span);
Val el_fold_binary(Elab *e, Operator op, Val a, Val b, Span span, Span right);

// ---- operate.c: on compile-time values and IR; POISON after an error
Val el_operate(Elab *e, Operator op, Val a, Val b, Span span, const Span *spans);
Val el_operate_unary(Elab *e, Operator op, Val v, Span span);
// Casts to an element type that is not a storage type. An IR value must not be a pointer.
Val el_cast_value(Elab *e, Dtype to, Val v, bool saturate);

#endif
