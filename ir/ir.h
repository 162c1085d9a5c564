// The IR: modules, functions, blocks, ops, values.
//
// Shape: a module holds functions; a kernel has parameters, named extents and sections: any number
// of `requires`, one `grid` (or none), one `body`. A section is one block. A block is a list of
// ops; ops nest blocks (regions, each of exactly one block). Control flow is structured: there are
// no branches.
// Invariants (kept by build.h and edit.h, checked by verify.h, listed there):
//   - every operand is a value defined before its use in the same block or an enclosing one, a
//     block argument of an enclosing block, or a parameter of the function; sections share
//     nothing but parameters;
//   - the use list of a value holds exactly the operands that refer to it;
//   - ids of values and ops are dense per function and never reused, so that passes can keep
//     facts in arrays of value_count or op_count;
//   - an absent optional operand has value NULL and is in no use list.
// Ownership: everything is in the module's arena; erased ops stay as garbage until it is freed.
//
// Example (text form):
//     kernel @scale(%x: view f32[N], %a: f32) {
//       grid {
//         %0 = extent {extent = N} : i64
//         yield %0
//       }
//       body {
//         %1 = program {dim = 0} : i64
//         %2 = view_load %x, _, %1 {select = [0], inside = [0]} : f32
//         %3 = mul %2, %a : f32
//         view_store %x, %3, _, %1 {select = [0], inside = [0]}
//         return
//       }
//     }
#ifndef TILEC_IR_IR_H
#define TILEC_IR_IR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/source.h"
#include "base/str.h"
#include "base/vec.h"
#include "ir/layout/layout.h"
#include "ir/op.h"
#include "ir/type.h"

typedef struct IrOp IrOp;
typedef struct IrBlock IrBlock;
typedef struct IrFunc IrFunc;
typedef struct IrValue IrValue;

// One operand; linked into its value's list of uses.
typedef struct IrUse {
    IrValue *value;  // NULL: absent
    IrOp *user;
    struct IrUse *next;
    struct IrUse **link;  // the pointer that points at this use
} IrUse;

struct IrValue {
    const IrType *type;
    IrOp *def;       // NULL for block arguments and parameters
    IrBlock *block;  // of a block argument; else NULL
    uint32_t index;  // among the op's results, the block's arguments or the parameters
    uint32_t id;
    IrUse *uses;
    Symbol name;  // a name from the source, or NULL; printed for parameters only
};

typedef struct IrAttr {
    union {
        int64_t i;      // INT, BOOL and the enums
        uint64_t bits;  // CONST
        Symbol name;    // NAME
        Str text;       // TEXT
        struct {
            uint32_t count;
            const int64_t *items;
        } ints;  // INTS
        struct {
            uint32_t count;
            const uint64_t *items;
        } consts;  // CONSTS: each as the bits of a CONST
        struct {
            uint32_t count;
            const Str *items;
        } texts;  // TEXTS
    } u;
} IrAttr;

// Level cpu_nest: the numbers of the nests that an op's roots belong to, in their order.
typedef struct IrNests {
    uint32_t count;
    const int64_t *items;
} IrNests;

struct IrOp {
    IrOpcode code;
    uint32_t id;
    Span span;
    IrBlock *block;  // NULL once erased
    IrOp *prev, *next;
    uint32_t operand_count;
    uint32_t result_count;
    uint32_t region_count;
    uint32_t nests;  // in the function's list: index + 1; 0: none
    IrUse *operands;
    IrValue *results;
    IrBlock **regions;
    IrAttr *attrs;  // in the order of the op table's row
};

struct IrBlock {
    IrFunc *func;
    IrOp *parent;  // NULL for a section's block
    IrOp *first, *last;
    uint32_t arg_count;
    IrValue **args;
};

typedef struct IrDim {
    Symbol extent;  // a named extent, or NULL
    int64_t value;  // of a fixed extent
} IrDim;

// Known facts about a parameter or extent; the zeroed struct holds none.
typedef struct IrFacts {
    uint64_t divisor;  // divides it (for pointers and views: the address in bytes); 0 means 1
    bool has_range;
    int64_t min, max;
} IrFacts;

typedef struct IrParam {
    Symbol name;
    IrValue *value;
    bool strided;                  // views
    IrDim dims[IR_MAX_VIEW_RANK];  // views
    IrFacts facts;
    Span span;
} IrParam;

typedef struct IrExtent {
    Symbol name;
    IrFacts facts;
} IrExtent;

// A type or const parameter with the value it was specialised to; for metadata and messages.
typedef struct IrBinding {
    Symbol name;
    bool is_type;
    // The argument decides, not the use in the kernel: it is a pointer to elements of the type, or
    // a number.
    bool pointer, number;
    Dtype type;
    int64_t value;  // of a scalar's type: it is 1, or a multiple of 16; 0: neither is known
    // An expression of a front end's language, in place of the value; with is_type the type of a
    // tensor descriptor (frontend_descriptor). NULL: neither.
    Symbol text;
} IrBinding;

// A tensor map: a view as the hardware copies boxes of it. The kernel takes it as a parameter
// (base/gpu_abi.h). The dimensions of a map are those of the view, listed innermost first.
typedef struct IrMap {
    uint32_t param;                  // the view
    uint8_t rank;                    // the view's
    uint8_t axes[IR_MAX_VIEW_RANK];  // dimensions of the view; the first is its last one
    uint32_t box[IR_MAX_VIEW_RANK];  // elements of a box along each of them
    uint8_t swizzle;                 // bytes: 0, 32, 64, 128
    uint16_t promotion;              // bytes that L2 fetches at once: 0, 64, 128, 256
} IrMap;

typedef enum IrSectionKind { IR_REQUIRES, IR_GRID, IR_BODY } IrSectionKind;
typedef struct IrSection {
    IrSectionKind kind;
    Str text;  // of a requires: its source, for messages
    Span span;
    IrBlock *block;
} IrSection;

// Freedoms of a function's arithmetic. `wrap`: where neighbours in memory are looked for, sums and
// products of numbers that are not negative are taken as not negative, as if they never wrapped,
// and quotients and remainders of them, whatever the divisor.
typedef enum IrMath { IR_MATH_CONTRACT = 1, IR_MATH_APPROX = 2, IR_MATH_WRAP = 4 } IrMath;

// A call that the front end replaced by the function's body.
typedef struct IrInlined {
    Symbol name;
    Span body;  // of the function: ops of the call are from there
    Span call;
} IrInlined;

struct IrFunc {
    IrModule *module;
    Symbol name;
    bool is_kernel;
    IrLevel level;  // the most machine-bound level its ops may have: TILE, GPU or CPU
    Span span;
    VEC(IrParam) params;
    VEC(IrExtent) extents;        // kernels: in order of first mention
    VEC(IrBinding) bindings;      // kernels: in order of declaration
    VEC(IrSection) sections;      // requires…, grid, body; a function has a body only
    VEC(const IrType *) results;  // functions
    unsigned math;                // IrMath bits
#define IR_OPTION(name, least, most) int name;  // an option; 0: not given
#include "ir/options.def"
#undef IR_OPTION
    int lanes;  // of a warp, if the machine's warps do not have 32 of them; 0: 32
    int group;  // programs of dimension 0 that run one after the other before the next dimension;
                // 0: no grouping
    VEC(IrMap) maps;         // kernels: in the order of the parameters that they are
    VEC(IrNests) nests;      // of ops
    VEC(IrInlined) inlined;  // for texts only; a call in an unrolled loop is there several times
    uint32_t value_count;
    uint32_t op_count;
};

struct IrModule {
    Arena *arena;
    Sources *sources;
    Interner *names;
    VEC(IrFunc *) funcs;
    VEC(const IrType *) types;
    Map type_index;  // by hash; see type.c
    LayoutPool layouts;
};

IrModule *ir_module_create(Arena *arena, Sources *sources, Interner *names);
// Threads of a warp.
uint32_t ir_lane_count(const IrFunc *f);
// Threads that run a program of `thread` or `gpu` level; 1 while `warps` is not given.
uint32_t ir_thread_count(const IrFunc *f);
// The same, with the warps that only begin copies (the option `producers`).
uint32_t ir_launch_thread_count(const IrFunc *f);
IrFunc *ir_func_find(const IrModule *m, Symbol name);
void ir_note_inlined(IrFunc *f, Symbol name, Span body, Span call);
// The block of the body; NULL if there is none.
IrBlock *ir_body(const IrFunc *f);
const IrSection *ir_section(const IrFunc *f, IrSectionKind kind);
const IrExtent *ir_extent_find(const IrFunc *f, Symbol name);

static inline IrValue *ir_operand(const IrOp *op, uint32_t i) { return op->operands[i].value; }
static inline IrValue *ir_result(const IrOp *op, uint32_t i) { return &op->results[i]; }
const IrAttr *ir_attr(const IrOp *op, IrAttrName name);  // a CHECK fails if the row has no such
                                                         // attribute
static inline int64_t ir_attr_int(const IrOp *op, IrAttrName name) {
    return ir_attr(op, name)->u.i;
}
const IrNests *ir_nests(const IrOp *op);                            // NULL: none
void ir_set_nests(IrOp *op, uint32_t count, const int64_t *items);  // copied; 0: none
void ir_attr_set_int(IrOp *op, IrAttrName name, int64_t value);
// Numbers and texts are copied.
void ir_attr_set_ints(IrOp *op, IrAttrName name, uint32_t count, const int64_t *items);
void ir_attr_set_bits(IrOp *op, IrAttrName name, uint64_t bits);
void ir_attr_set_consts(IrOp *op, IrAttrName name, uint32_t count, const uint64_t *items);
void ir_attr_set_name(IrOp *op, IrAttrName name, Symbol value);
void ir_attr_set_text(IrOp *op, IrAttrName name, Str text);
void ir_attr_set_texts(IrOp *op, IrAttrName name, uint32_t count, const Str *items);

// The index of the first index operand of a view op (after view, pad / x / mask …).
uint32_t ir_view_index_start(IrOpcode code);
// The shape of a view op's selection; false if the indices cannot be broadcast together.
bool ir_selection_shape(const IrOp *op, uint32_t *rank, uint32_t *shape);
// The effects of an op and all ops nested in it: bits 1 << IrEffect of READ, WRITE, KEEP.
unsigned ir_effects(const IrOp *op);
// Has the op the attribute `exact`?
static inline bool ir_may_be_exact(IrOpcode code) {
    return code == IR_ADD || code == IR_SUB || code == IR_MUL || code == IR_DIV || code == IR_SQRT;
}
// Is it a float op that math(contract, approx) do not change?
static inline bool ir_math_exact(const IrOp *op) {
    return ir_may_be_exact(op->code) && ir_attr_int(op, IR_ATTR_EXACT) != 0;
}
// The result of an op that may be exact is so from now on; another value stays as it is.
static inline void ir_set_math_exact(IrValue *v) {
    if (v->def && ir_may_be_exact(v->def->code)) ir_attr_set_int(v->def, IR_ATTR_EXACT, 1);
}
// Does it change the memory that it accesses? An atomic load has the effect of a write, which keeps
// it in its place, but changes nothing.
bool ir_changes_memory(const IrOp *op);
// Is it a store to a view with a hint that the caches should keep the memory, or need not keep it?
bool ir_evicts_last(const IrOp *op);
bool ir_evicts_first(const IrOp *op);
// May the op be used in `requires` and `grid`? The launcher computes them on scalars, in a straight
// line: no loops, no tiles, no functions such as exp (runtime/launch_code.def has the same list).
bool ir_launchable(const IrOp *op);
// Is block `inner` inside (or the same as) `outer`?
bool ir_block_within(const IrBlock *inner, const IrBlock *outer);

#define IR_EACH_OP(op, block)                                              \
    for (IrOp *op = (block)->first, *op##_next = op ? op->next : NULL; op; \
         op = op##_next, op##_next = op ? op->next : NULL)

#endif
