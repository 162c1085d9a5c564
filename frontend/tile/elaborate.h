// Inside Tile's elaborator: the state of one elaboration, and the functions that its files
// (elaborate*.c, check.c) share.
//
// Purpose: one walk over a kernel's tree checks types and shapes, computes compile-time values and
// emits tile IR; fns are inlined at each call. The parts that do not depend on syntax are in
// frontend/common. Invariants: those of frontend/common/elab.h; every Elab here is the first member
// of a TileElab. Errors carry a note for each call of a fn that led there. Ownership: IR in the
// module's arena, everything else in `scratch`, which ends with the elaboration.
//
//     Val a = el_operand(e, ast->a), b = el_operand(e, ast->b);
//     return el_binary(e, OPERATOR_ADD, a, b, ast->span, ast->a->span, ast->b->span);
#ifndef TILEC_FRONTEND_TILE_ELABORATE_H
#define TILEC_FRONTEND_TILE_ELABORATE_H

#include "base/diag.h"
#include "base/status.h"
#include "frontend/common/build.h"
#include "frontend/tile/internal.h"
#include "ir/build.h"

enum {
    EL_CALL_DEPTH = 64,     // nested calls of fns
    EL_CALL_ALL = 65536,    // calls of fns in a kernel, each inlined
    EL_WALK_DEPTH = 1000,   // nested nodes, through calls, too
    EL_UNROLL_MAX = 4096,   // iterations of one `for const`
    EL_UNROLL_ALL = 65536,  // iterations of all `for const` of a kernel
    EL_POSITIONAL = 12,     // arguments a builtin may have, print excepted
};

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
    bool returned;         // a return was elaborated
    bool broken;           // one of the returns was wrong by grammar or names
    Span first_return;     // and its position
    const IrType **types;  // the type of each result, NULL until a return gives one
    uint32_t region;
} Frame;

typedef enum ElPlace { EL_IN_BODY, EL_IN_GRID, EL_IN_REQUIRES, EL_IN_CONST } ElPlace;

typedef struct TileElab {
    Elab elab;  // must be the first member
    TileFile *file;
    const AstKernel *kernel;
    const FrontSpec *spec;
    Frame *frame;
    ElPlace place;
    Map loop_walks;         // Ast * of a loop → LoopWalk *
    uint32_t walked;        // declarations that the walk over loops has found
    Val *consts;            // of top-level consts, by slot
    uint8_t *const_states;  // 0: not computed, 1: being computed, 2: known
    int depth, calls, inlined;
    int unrolled;
    uint32_t reported_region;  // the region of a condition that was reported as a whole
    bool constant;             // elements of tables are untyped here: the value must be a constant
    bool silent;       // reached a part of the tree whose error the parser or resolver reported
    uint32_t *blamed;  // positions of the errors reported before this elaboration, ascending
    size_t blamed_count;
} TileElab;

static inline TileElab *tile_of(Elab *e) { return (TileElab *)e; }

// ---- elaborate_const.c: expressions that must be compile-time
Val el_const_expr(Elab *e, const Ast *ast);  // the elements of tables are untyped
bool el_const_int(Elab *e, const Ast *ast, const char *what, Int128 *value);
bool el_const_range(Elab *e, const Ast *ast, const char *what, int64_t low, int64_t high,
                    int64_t *value);
// The same of a value that is known, which the expression gave.
bool el_const_range_of(Elab *e, Val v, const Ast *ast, const char *what, int64_t low, int64_t high,
                       int64_t *value);
bool el_const_bool(Elab *e, const Ast *ast, const char *what, bool *value);
// A power of two that may be an extent of a tile.
bool el_const_extent(Elab *e, const Ast *ast, const char *what, DiagCode code, uint32_t *value);

// ---- elaborate_expr.c
// Any value as IR; an untyped one gets its default type; NULL for poison.
IrValue *el_value(Elab *e, Val v, Span span);
Val el_expr(Elab *e, const Ast *ast);
Val el_operand(Elab *e, const Ast *ast);  // a compile-time or IR value; after an error POISON
Val el_check_operand(Elab *e, Val v, Span span);
IrValue *el_tile(Elab *e, const Ast *ast);  // an IR value; NULL for poison
Val el_binary(Elab *e, Operator op, Val a, Val b, Span span, Span left, Span right);
Val el_cast(Elab *e, Dtype to, Val v, bool saturate, Span span);
bool el_type_arg(Elab *e, const Ast *ast, Dtype *type);  // an element type given as a value
Slot *el_slot(Elab *e, const AstDecl *decl);

// ---- elaborate_call.c: fns
Val el_call_fn(Elab *e, const AstFn *fn, uint32_t count, const Val *args, Span call,
               const char *role);
Val el_call(Elab *e, const Ast *call);
void el_return(Elab *e, const Ast *ast);
void el_return_poison(Elab *e);  // a return whose value is unknown

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
    NAMED_EVICT,
    NAMED_CACHE,
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
// Sorts the arguments of a call; false after an error.
bool el_args(Elab *e, const Ast *call, const char *name, uint32_t min, uint32_t max, unsigned named,
             const char *signature, Args *args);
bool el_named_bool(Elab *e, const Args *a, Named name, bool *value);
// The axis that is given, else `missing`; checked to be below rank.
bool el_named_axis(Elab *e, const Args *a, uint32_t rank, uint32_t *axis, bool *given);
bool el_named_word(Elab *e, const Args *a, Named name, IrAttrKind kind, const char *expected,
                   int64_t *value);
// The same of the words whose bits are in `allowed`.
bool el_named_choice(Elab *e, const Args *a, Named name, IrAttrKind kind, const char *expected,
                     unsigned allowed, int64_t *value);
bool el_dims(Elab *e, const Args *a, uint32_t first, Shape *shape);
Val el_builtin_value(Elab *e, const Args *a);  // program … full, select, casts, cdiv
Val el_builtin_math(Elab *e, const Args *a);
Val el_builtin_bits(Elab *e, const Args *a);                // popcount, clz, ctz, brev, mulhi
Val el_float_kind(Elab *e, TileBuiltin which, IrValue *x);  // isnan, isinf, isfinite
Val el_builtin_shape(Elab *e, const Args *a);
Val el_builtin_dot(Elab *e, const Args *a);
Val el_builtin_reduce(Elab *e, const Args *a);  // reductions
Val el_builtin_scan(Elab *e, const Args *a);    // scans, sort, topk, histogram, random
Val el_builtin_memory(Elab *e, const Args *a);  // load, store, atomics, inside
Val el_builtin_effect(Elab *e, const Args *a);  // assert, assume, static_assert, noalias
Val el_builtin_print(Elab *e, const Ast *call);
Val el_minmax(Elab *e, const Args *a, IrOpcode code);  // those of two operands

// ---- elaborate_view.c
bool el_access(Elab *e, const Ast *index, Access *access);  // all of the access but the pad
Val el_view_load(Elab *e, const Ast *index);
// Reads with this operand of `or`, or NULL, and a hint.
Val el_view_load_as(Elab *e, const Ast *index, const Ast *other, IrCache cache);
IrValue *el_pad(Elab *e, const Ast *ast, Dtype elem);
void el_view_assign(Elab *e, const Ast *assign);
void el_view_store(Elab *e, const Ast *index, Val v, Span span, const Ast *mask, IrCache cache);
Val el_not_indexed(Elab *e, Val v, Span span);  // the error
bool el_selects_view(Elab *e, const Ast *ast);  // is it a selection of a view?
Val el_view_inside(Elab *e, const Ast *index);
// Converts the value for the selection: exact element type, stretched shape; NULL after an error.
IrValue *el_stored(Elab *e, Val v, Dtype elem, const Shape *shape, Span span,
                   Symbol view);  // NULL: through a pointer
IrValue *el_mask(Elab *e, const Ast *ast, const Shape *shape);
bool el_no_packed_store(Elab *e, const Access *access, const Ast *mask);

// ---- elaborate_element.c: elements of tiles and of arrays
Val el_index(Elab *e, const Ast *index);  // any read by indices, of views too
Val el_array(Elab *e, const AstDecl *decl, Val v, Span span);
bool el_is_element(Elab *e, const Ast *target, Slot **slot);
void el_element_assign(Elab *e, const Ast *ast, Slot *slot);

// ---- elaborate_table.c
Val el_table_declared(Elab *e, const AstDecl *decl);  // a table, or POISON
// Every table of the file, and of those that it imports; false after errors.
bool el_check_tables(TileFile *file, IrModule *module, Diags *diags, Arena *scratch);
Val el_tile_literal(Elab *e, const Args *a);
// The table that the expression names; VAL_NONE: it names none.
Val el_table_named(Elab *e, const Ast *ast);
Val el_table_read(Elab *e, const Table *t, const Ast *index);

// ---- elaborate_control.c, elaborate_loop.c, elaborate_stmt.c
void el_list(Elab *e, const Ast *first);
// Converts the value for a variable of type t: literals take its type, scalars stretch.
IrValue *el_assigned_value(Elab *e, const IrType *t, Val v, Span span, const char *name);
void el_body(Elab *e, const Ast *body);  // a block or a single statement
// `rest` follows the `if` in the list; returns true when it was emitted into the branch that does
// not exit. `tail`: nothing follows the list.
bool el_if(Elab *e, const Ast *ast, const Ast *rest, bool tail);
void el_guarded_list(Elab *e, const Ast *rest);
void el_for(Elab *e, const Ast *ast);
void el_while(Elab *e, const Ast *ast);
Slot *el_active(Elab *e);
IrValue *el_condition(Elab *e, const Ast *ast, const char *what);  // a scalar bool; NULL if poison
Val el_logical(Elab *e, const Ast *ast);                           // && ||
typedef struct LoopWalk {
    uint32_t count;
    AstDecl **assigned;  // declared outside the loop, assigned inside; may contain one twice
    bool breaks;         // there is a break of this loop
    bool returns;
} LoopWalk;
const LoopWalk *el_loop_walk(Elab *e, const Ast *loop);

// ---- elaborate_tune.c
// The candidates for one name and target, most specific line first; count 0 when there is none.
FrontTune el_tune_find(Elab *e, const AstKernel *kernel, Symbol name, Str target);

// ---- elaborate.c
Val el_silent(Elab *e);  // POISON for a value whose error was reported before elaboration
// Was an error inside this span reported before? The parser repairs mistakes where it can, and the
// repaired code must not cause a second error. If so, the elaboration counts as failed.
bool el_blamed(Elab *e, Span span);
void el_begin(TileElab *t, TileFile *file, IrModule *module, Diags *diags, Arena *scratch);
// Elaborates; NULL when there were errors (counted in *errors) or the tree has holes.
IrFunc *el_kernel(TileFile *file, IrModule *module, const AstKernel *kernel, const FrontSpec *spec,
                  Diags *diags, Arena *scratch, size_t *errors);

#endif
