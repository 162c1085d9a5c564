// Inside the elaborator: values while elaborating, the state of one elaboration, and what its files
// (elaborate*.c, check.c) share.
//
// Purpose: one walk over a kernel's tree checks types and shapes, computes compile-time values and
// emits tile IR, with fns inlined at each call.
// Invariants: a Val is compile-time (INT, FLOAT, BOOL: untyped; TYPE, VIEW, FN, STRING), an IR
// value, a tuple of those, NONE (a call without result, a return value not yet set) or POISON.
// POISON stands for a value whose error was reported: whoever meets one stays silent. Errors go
// through el_error, which adds a note for each call of a fn that led there. A name's value lives in
// the Slot of its declaration; slots changed inside a region (branch, loop body) are logged, so
// that their merge with the outside becomes results of the region's op. Ownership: IR in the
// module's arena, everything else in `scratch`, which ends with the elaboration.
//
//     Val a = el_operand(e, ast->a), b = el_operand(e, ast->b);
//     return el_binary(e, AST_OP_ADD, a, b, ast);
#ifndef TILEC_FRONTEND_TILE_ELABORATE_H
#define TILEC_FRONTEND_TILE_ELABORATE_H

#include "base/diag.h"
#include "base/status.h"
#include "frontend/tile/internal.h"
#include "ir/build.h"

__extension__ typedef __int128 Wide;  // exact for every untyped integer and one operation on two

enum {
    EL_CALL_DEPTH = 64,     // fns within fns
    EL_CALL_ALL = 65536,    // calls of fns of a kernel, each inlined
    EL_WALK_DEPTH = 1000,   // nodes within nodes, calls included
    EL_NEST_DEPTH = 200,    // regions within regions
    EL_UNROLL_MAX = 4096,   // iterations of one `for const`
    EL_UNROLL_ALL = 65536,  // iterations of all `for const` of a kernel
    EL_POSITIONAL = 12,     // arguments a builtin may have, print excepted
};

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
} ValKind;

typedef struct Val Val;

typedef struct View {
    Symbol name;
    IrValue *value;
    Dtype elem;
    uint32_t rank;
    const AstDecl *decl;
} View;

struct Val {
    ValKind kind;
    union {
        Wide integer;
        double real;
        bool truth;
        Dtype type;
        IrValue *ir;
        const View *view;
        const AstFn *fn;
        Str text;
        struct {
            uint32_t count;
            Val *items;
        } tuple;
    };
};

#define EL_POISON ((Val){.kind = VAL_POISON})
#define EL_NONE ((Val){.kind = VAL_NONE})

// What a slot is for; control.c treats the hidden ones of its own differently when regions merge.
typedef enum SlotKind {
    SLOT_NAME,    // of a declaration
    SLOT_ACTIVE,  // true while the statements of this loop iteration or body still run
    SLOT_GOING,   // true while a loop may start another iteration
    SLOT_RESULT,  // a return value of a fn; NONE until set
} SlotKind;

typedef struct Slot {
    Val val;
    SlotKind kind;
    bool tail;          // ACTIVE: nothing follows that would ask for it
    uint32_t region;    // in which it was last declared or logged
    uint32_t declared;  // order of its declaration in the walk over loops
    uint32_t mark;      // of the merge or loop that handled it last
    uint32_t place;     // its index there
    Symbol name;
} Slot;

typedef struct LogEntry {
    Slot *slot;
    Val old;
    uint32_t old_region;
} LogEntry;

typedef struct Change {
    Slot *slot;
    Val val;
} Change;

typedef struct Loop {
    struct Loop *outer;      // within the same body of kernel or fn
    struct Loop *outer_any;  // also across calls
    Slot active, going;
    IrValue *var, *low, *step;  // of a run-time `for`
} Loop;

typedef struct Frame {
    struct Frame *caller;
    const AstFn *fn;  // NULL for the kernel
    Span call;
    const char *role;  // "call" or "combiner"
    Slot *slots;
    uint32_t slot_count;
    Loop *loop;
    Slot active;
    Slot *results;
    uint32_t result_count;
    bool returned;         // some return was seen
    bool broken;           // one of them was wrong by grammar or names
    Span first_return;     // and where
    const IrType **types;  // of the results, NULL until one of them has a type
    uint32_t region;
} Frame;

typedef enum ElPlace { EL_IN_BODY, EL_IN_GRID, EL_IN_REQUIRES, EL_IN_CONST } ElPlace;

typedef struct Elab {
    TileFile *file;
    IrModule *module;
    IrFunc *func;
    IrBuilder b;
    Diags *diags;
    Arena *scratch;
    const AstKernel *kernel;
    const FrontSpec *spec;
    Frame *frame;
    Loop *loops;  // the innermost, across calls
    ElPlace place;
    VEC(LogEntry) log;
    uint32_t region, regions, marks;
    Map loop_facts;         // Ast * of a loop → LoopFacts *
    uint32_t walked;        // declarations met by the walk over loops
    Val *consts;            // of top-level consts, by slot
    uint8_t *const_states;  // 0: not asked yet, 1: being computed, 2: known
    int depth, nesting, calls, inlined;
    int unrolled;
    size_t errors;        // reported, also those that were dropped as said before
    uint32_t complained;  // the region of a condition that was found wrong as a whole
    bool silent;          // met a part of the tree whose error the parser or resolver reported
    uint32_t *blamed;     // where errors were reported before this elaboration, ascending
    size_t blamed_count;
} Elab;

// ---- elaborate_value.c: values as text, conversion, unification, broadcasting
Val el_error(Elab *e, Span span, DiagCode code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define el_help(e, ...) diag_help((e)->diags, __VA_ARGS__)
#define el_note(e, ...) diag_note((e)->diags, __VA_ARGS__)
const char *el_type_text(Elab *e, const IrType *t);  // f32[16, 32]
const char *el_val_text(Elab *e, Val v);             // what a value is: "f32[16]", "the integer 3"
const char *el_shape_text(Elab *e, uint32_t rank, const uint32_t *shape);
const char *el_wide_text(Elab *e, Wide value);
Val el_ir(IrValue *v);
Val el_int(Wide value);
Val el_bool(bool value);
bool el_is_const(Val v);   // INT, FLOAT, BOOL
bool el_is_value(Val v);   // those and IR
bool el_is_poison(Val v);  // a tuple is when an item is
// The dtype an untyped value takes when nothing else says one.
Dtype el_default_dtype(Val v);
// A compile-time value as a constant of this element and shape; NULL after an error at `span`.
IrValue *el_adopt(Elab *e, Val v, Dtype elem, uint32_t rank, const uint32_t *shape, Span span);
// Any value as IR, untyped ones with their default type; NULL for poison.
IrValue *el_value(Elab *e, Val v, Span span);
IrValue *el_convert(Elab *e, IrValue *v, Dtype elem);  // a cast where needed
// To `shape`, which v is known to stretch to.
IrValue *el_broadcast(Elab *e, IrValue *v, uint32_t rank, const uint32_t *shape);
// The common shape of all, or false after an error at `span`. NULLs are skipped.
typedef struct Shape {
    uint32_t rank;
    uint32_t dims[IR_MAX_RANK];
} Shape;
bool el_common_shape(Elab *e, Span span, uint32_t count, IrValue *const *values, Shape *shape);
bool el_stretches(const IrType *from, uint32_t rank, const uint32_t *shape);
bool el_shape_limits(Elab *e, Span span, uint32_t rank, const uint32_t *shape);
// Rule 20: the type two elements meet in; false when there is none.
bool el_promote(Dtype a, Dtype b, Dtype *common);
// All values (compile-time or IR) brought to one element type and one shape; false after an error.
// `what` names the operation, as written. pointers are let through when all types are equal.
bool el_unify(Elab *e, Span span, const char *what, uint32_t count, const Val *vals,
              const Span *spans, IrValue **out);
Dtype el_elem(IrValue *v);
bool el_is_ptr(IrValue *v);
uint64_t el_next_power(uint64_t n);
// Sets an attribute of an op.
IrAttr *el_attr(IrOp *op, IrAttrName name);
// An op with one result.
IrValue *el_op1(Elab *e, IrOpcode code, uint32_t count, IrValue *const *operands,
                const IrType *result);

// ---- elaborate_const.c: compile-time arithmetic
Val el_fold_unary(Elab *e, AstOp op, Val a, Span span);
Val el_fold_binary(Elab *e, AstOp op, Val a, Val b, Span span, Span right);
bool el_const_int(Elab *e, const Ast *ast, const char *what, Wide *value);
bool el_const_range(Elab *e, const Ast *ast, const char *what, int64_t low, int64_t high,
                    int64_t *value);
bool el_const_bool(Elab *e, const Ast *ast, const char *what, bool *value);
// A power of two that may be an extent of a tile.
bool el_const_extent(Elab *e, const Ast *ast, const char *what, DiagCode code, uint32_t *value);

// ---- elaborate_expr.c
Val el_expr(Elab *e, const Ast *ast);
Val el_operand(Elab *e, const Ast *ast);  // a compile-time or IR value; else an error and POISON
Val el_check_operand(Elab *e, Val v, Span span);
IrValue *el_tile(Elab *e, const Ast *ast);  // an IR value; NULL for poison
Val el_binary(Elab *e, AstOp op, Val a, Val b, Span span, Span left, Span right);
Val el_cast(Elab *e, Dtype to, Val v, bool saturate, Span span);
bool el_type_arg(Elab *e, const Ast *ast, Dtype *type);  // an element type given as a value
Slot *el_slot(Elab *e, const AstDecl *decl);

// ---- elaborate_call.c: fns
Val el_call_fn(Elab *e, const AstFn *fn, uint32_t count, const Val *args, Span call,
               const char *role);
Val el_call(Elab *e, const Ast *call);
void el_return(Elab *e, const Ast *ast);
void el_return_poison(Elab *e);  // a return whose value is not known

// ---- elaborate_builtin*.c
typedef enum Named {
    NAMED_AXIS,
    NAMED_KEEP,
    NAMED_WHERE,
    NAMED_REVERSE,
    NAMED_EXCLUSIVE,
    NAMED_DESCENDING,
    NAMED_PRECISION,
    NAMED_ORDER,
    NAMED_SCOPE,
    NAMED_SATURATE,
    NAMED_COUNT,
} Named;

typedef struct Args {
    const Ast *call;
    TileBuiltin which;
    const char *name;
    uint32_t count;
    const Ast *at[EL_POSITIONAL];
    const Ast *named[NAMED_COUNT];
} Args;

Val el_call_builtin(Elab *e, const Ast *call, TileBuiltin which);
// Sorts a call's arguments; false after an error.
bool el_args(Elab *e, const Ast *call, const char *name, uint32_t min, uint32_t max, unsigned named,
             const char *signature, Args *args);
bool el_named_bool(Elab *e, const Args *a, Named name, bool *value);
// The axis given, else `missing`, below rank.
bool el_named_axis(Elab *e, const Args *a, uint32_t rank, uint32_t *axis, bool *given);
bool el_named_word(Elab *e, const Args *a, Named name, IrAttrKind kind, const char *expected,
                   int64_t *value);
bool el_dims(Elab *e, const Args *a, uint32_t first, Shape *shape);
Val el_builtin_value(Elab *e, const Args *a);  // program … full, select, casts, cdiv
Val el_builtin_math(Elab *e, const Args *a);
Val el_builtin_shape(Elab *e, const Args *a);
Val el_builtin_dot(Elab *e, const Args *a);
Val el_builtin_reduce(Elab *e, const Args *a);  // reductions
Val el_builtin_scan(Elab *e, const Args *a);    // scans, sort, topk, histogram, random
Val el_builtin_memory(Elab *e, const Args *a);  // load, store, atomics, inside
Val el_builtin_effect(Elab *e, const Args *a);  // assert, assume, static_assert, noalias
Val el_builtin_print(Elab *e, const Ast *call);
Val el_minmax(Elab *e, const Args *a, IrOpcode code);  // two operands
Val el_tuple(Elab *e, uint32_t count, const Val *items);

// ---- elaborate_view.c
typedef struct Access {
    const View *view;
    Span span;
    uint32_t count;
    IrValue *index[IR_MAX_VIEW_RANK];
    int64_t select[IR_MAX_VIEW_RANK];
    bool gathers;  // a tile among the indices
    Shape shape;
} Access;
bool el_access(Elab *e, const Ast *index, Access *access);  // all but the pad
Val el_view_load(Elab *e, const Ast *index);
IrOp *el_view_op(Elab *e, const Access *a, IrOpcode code, uint32_t leading, IrValue *const *first);
IrValue *el_pad(Elab *e, const Ast *ast, Dtype elem);
IrValue *el_view_read(Elab *e, const Access *access, IrValue *pad);
void el_view_assign(Elab *e, const Ast *assign);
Val el_view_inside(Elab *e, const Ast *index);
Dtype el_view_elem(const View *view);  // as read: i8 for i4
// The value made ready for the selection: element exact, shape stretched; NULL after an error.
IrValue *el_stored(Elab *e, Val v, Dtype elem, const Shape *shape, Span span,
                   Symbol view);  // NULL: through a pointer
IrValue *el_mask(Elab *e, const Ast *ast, const Shape *shape);
bool el_no_packed_store(Elab *e, const Access *access, const Ast *mask);

// ---- elaborate_control.c, elaborate_loop.c, elaborate_stmt.c
void el_list(Elab *e, const Ast *first);
void el_body(Elab *e, const Ast *body);  // a block or a single statement
// `rest` follows in the list: true when it was taken along into the branch that flows on. `tail`:
// nothing follows the list.
bool el_if(Elab *e, const Ast *ast, const Ast *rest, bool tail);
void el_guarded(Elab *e, Slot *flag, void (*run)(Elab *e, void *user), void *user, Span span);
void el_guarded_list(Elab *e, const Ast *rest);
void el_for(Elab *e, const Ast *ast);
void el_while(Elab *e, const Ast *ast);
void el_assign_slot(Elab *e, Slot *slot, Val v);
void el_declare_slot(Elab *e, Slot *slot, Val v);
Slot *el_active(Elab *e);
IrValue *el_condition(Elab *e, const Ast *ast, const char *what);  // a scalar bool; NULL if poison
Val el_logical(Elab *e, const Ast *ast);                           // && ||
typedef struct Region {
    IrBlock *block, *outer_block;
    IrOp *outer_before;
    uint32_t outer_region;
    size_t log_start;
    Change *changes;  // once ended: what was assigned inside
    uint32_t count;
} Region;
// Emits into `block` from here on; false (and no region) after an error: nested too deep.
bool el_region_begin(Elab *e, Region *r, IrBlock *block, Span span);
void el_region_end(Elab *e, Region *r);
void el_merge(Elab *e, IrValue *cond, Region *then_arm, Region *else_arm, Span span);
// The type in which two values of one slot meet: NULL when they need none (equal, or unset), or
// after an error, which sets *wrong.
const IrType *el_meet(Elab *e, Val a, Val b, Span span, bool *wrong);
// A value as IR of `type`, at the builder's place: unset ones become zeros nobody reads.
IrValue *el_materialize(Elab *e, Val v, const IrType *type, Span span);
bool el_same(Val a, Val b);
// left && right (or ||), right computed by the ops of `block`, which run only where they matter.
IrValue *el_join_conditions(Elab *e, bool is_and, IrValue *left, IrBlock *block, IrValue *right);

typedef struct LoopFacts {
    uint32_t count;
    AstDecl **assigned;  // declared outside the loop, assigned inside; may name one twice
    bool breaks;         // a break of this loop
    bool returns;
} LoopFacts;
const LoopFacts *el_loop_facts(Elab *e, const Ast *loop);

// ---- elaborate_tune.c
// The candidates for one name and target, most specific line first; count 0 when there is none.
FrontTune el_tune_find(Elab *e, const AstKernel *kernel, Symbol name, Str target);

// ---- elaborate.c
Val el_silent(Elab *e);  // POISON whose error was reported before elaboration
// Was an error inside this span reported before? The parser mends what it can, and what it made of
// a mistake must not be called a second mistake. Then the elaboration counts as failed.
bool el_blamed(Elab *e, Span span);
void el_begin(Elab *e, TileFile *file, IrModule *module, Diags *diags, Arena *scratch);
// Elaborates; NULL when there were errors (counted in *errors) or the tree has holes.
IrFunc *el_kernel(TileFile *file, IrModule *module, const AstKernel *kernel, const FrontSpec *spec,
                  Diags *diags, Arena *scratch, size_t *errors);

#endif
