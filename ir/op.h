// Ops as a table: the properties of each operation, independent of any instance of it.
//
// Purpose: the enums and the row type that derive from ops.def.
// Invariants: the table is constant; ir_op_info never returns NULL for a valid opcode.
//
//     const IrOpInfo *info = ir_op_info(IR_REDUCE);   // info->text, info->effect, …
#ifndef TILEC_IR_OP_H
#define TILEC_IR_OP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef enum IrOpcode {
#define OP(name, ...) IR_##name,
#include "ir/ops.def"
    IR_OPCODES
} IrOpcode;

typedef enum IrAttrName {
#define ATTR(name, text, kind) IR_ATTR_##name,
#include "ir/ops.def"
    IR_ATTRS
} IrAttrName;

typedef enum IrAttrKind {
    IR_KIND_INT,
    IR_KIND_BOOL,
    IR_KIND_INTS,
    IR_KIND_CONST,
    IR_KIND_CONSTS,
    IR_KIND_TEXT,
    IR_KIND_TEXTS,
    IR_KIND_NAME,
    IR_KIND_REDUCE,
    IR_KIND_RMW,
    IR_KIND_ORDER,
    IR_KIND_SCOPE,
    IR_KIND_PRECISION,
    IR_KIND_PLAN,
    IR_KIND_DTYPE,
    IR_KIND_DTYPES,
    IR_KIND_CACHE,
} IrAttrKind;

// The ops that a function may hold (the first six), and where an op may be used: VECTOR means CPU
// and THREAD.
typedef enum IrLevel {
    IR_LEVEL_TILE,
    IR_LEVEL_GPU,       // tiles distributed over threads by layouts
    IR_LEVEL_CPU_TILE,  // tiles together with ops of level CPU: code for a CPU before it is lowered
    IR_LEVEL_CPU_NEST,  // the same, after it is decided which loops compute what: ops have nests
    IR_LEVEL_CPU,       // scalars and vectors of one thread
    IR_LEVEL_THREAD,    // the same, for each of a program's threads
    IR_LEVEL_VECTOR,
    IR_LEVEL_ANY
} IrLevel;
bool ir_level_allows(IrLevel function, IrLevel op);
const char *ir_level_text(IrLevel level);
typedef enum IrEffect {
    IR_EFFECT_PURE,
    IR_EFFECT_READ,
    IR_EFFECT_WRITE,
    IR_EFFECT_KEEP,
    IR_EFFECT_NEST,
    IR_EFFECT_END,
} IrEffect;

typedef enum IrReduce {
    IR_REDUCE_SUM,
    IR_REDUCE_PROD,
    IR_REDUCE_MIN,
    IR_REDUCE_MAX,
    IR_REDUCE_MINNUM,  // as min and max, but a number wins over a NaN
    IR_REDUCE_MAXNUM,
    IR_REDUCE_ARGMIN,
    IR_REDUCE_ARGMAX,
    IR_REDUCE_ANY,
    IR_REDUCE_ALL,
    IR_REDUCE_CUSTOM,
} IrReduce;
typedef enum IrRmw {
    IR_RMW_ADD,
    IR_RMW_SUB,
    IR_RMW_AND,
    IR_RMW_OR,
    IR_RMW_XOR,
    IR_RMW_MIN,
    IR_RMW_MAX,
    IR_RMW_XCHG,
    IR_RMW_LOAD,
    IR_RMWS
} IrRmw;
typedef enum IrOrder {
    IR_ORDER_RELAXED,
    IR_ORDER_ACQUIRE,
    IR_ORDER_RELEASE,
    IR_ORDER_ACQ_REL,
} IrOrder;
typedef enum IrScope { IR_SCOPE_PROGRAM, IR_SCOPE_DEVICE, IR_SCOPE_SYSTEM } IrScope;
// How the caches keep what an access moves: a hint.
typedef enum IrCache {
    IR_CACHE_NORMAL,
    IR_CACHE_FIRST,   // the first to be evicted
    IR_CACHE_LAST,    // the last to be evicted
    IR_CACHE_STREAM,  // used once
    IR_CACHE_L2,      // not in the caches of one multiprocessor
} IrCache;
typedef enum IrPrecision {
    IR_PRECISION_IEEE,
    IR_PRECISION_TF32,
    IR_PRECISION_TF32X3,
    IR_PRECISION_BF16X3,
    IR_PRECISION_UNIT,  // fp8: with as many bits of the sums as the matrix unit keeps
} IrPrecision;
// How a `dot` of the gpu level is computed.
typedef enum IrPlan {
    IR_PLAN_NONE,    // not decided: above the gpu level
    IR_PLAN_FMA,     // one product after the other
    IR_PLAN_PAIRS,   // by vec.dot2
    IR_PLAN_MATRIX,  // by the matrix unit, as are the following
    IR_PLAN_EXACT,   // factors of f32 keep all their bits
    IR_PLAN_SPLIT,   // a high and a low part of each factor, three products
} IrPlan;

// The kind of work that an op does: each op is of one family. The values are bits, so that several
// can be tested at once.
typedef enum IrFamily {
    IR_FAMILY_CONSTANT = 1 << 0,    // const, iota: known without operands
    IR_FAMILY_LAUNCH = 1 << 1,      // values known at launch: program, programs, extent, noalias
    IR_FAMILY_ARITHMETIC = 1 << 2,  // ops that machines have: neg … fma
    IR_FAMILY_FUNCTION = 1 << 3,  // exp, pow, copysign, …: each is within 2 ulp, and becomes the
                                  // same arithmetic for every target (passes/expand_math.c)
    IR_FAMILY_COMPARE = 1 << 4,   // eq … ge
    IR_FAMILY_SELECT = 1 << 5,
    IR_FAMILY_CAST = 1 << 6,     // cast, bitcast
    IR_FAMILY_POINTER = 1 << 7,  // ptr_add
    IR_FAMILY_SHAPE = 1 << 8,    // broadcast, reshape, permute, join, split, cat
    IR_FAMILY_DOT = 1 << 9,
    IR_FAMILY_REDUCTION = 1 << 10,  // reduce, scan
    IR_FAMILY_ORDER = 1 << 11,      // gather, sort, topk, histogram
    IR_FAMILY_RANDOM = 1 << 12,
    IR_FAMILY_MEMORY = 1 << 13,  // loads and stores, of pointers and views; view_inside
    IR_FAMILY_ATOMIC = 1 << 14,
    IR_FAMILY_EFFECT = 1 << 15,   // assert, assume, print
    IR_FAMILY_CONTROL = 1 << 16,  // for, while, if
    IR_FAMILY_END = 1 << 17,      // yield, return
    IR_FAMILY_CALL = 1 << 18,
    IR_FAMILY_CONVERT = 1 << 19,  // gpu.convert
    IR_FAMILY_STAGE = 1 << 20,    // gpu.*: tiles staged in shared memory
    IR_FAMILY_THREAD = 1 << 21,   // thread.*
    IR_FAMILY_VECTOR = 1 << 22,   // vec.*
    IR_FAMILY_CPU = 1 << 23,      // cpu.*
    IR_FAMILY_TABLE = 1 << 24,    // lookup: elementwise, in values that the op holds
} IrFamily;
enum {
    IR_FAMILIES_ELEMENTWISE =
        IR_FAMILY_ARITHMETIC | IR_FAMILY_FUNCTION | IR_FAMILY_COMPARE | IR_FAMILY_SELECT,
};

typedef enum IrRule {
    IR_RULE_CONST,
    IR_RULE_SCALAR_I64,
    IR_RULE_UNITS,
    IR_RULE_EXTENT,
    IR_RULE_IOTA,
    IR_RULE_UNARY,
    IR_RULE_BINARY,
    IR_RULE_SHIFT,
    IR_RULE_COMPARE,
    IR_RULE_TERNARY,
    IR_RULE_SELECT,
    IR_RULE_CAST,
    IR_RULE_LOOKUP,
    IR_RULE_BITCAST,
    IR_RULE_BROADCAST,
    IR_RULE_RESHAPE,
    IR_RULE_PERMUTE,
    IR_RULE_JOIN,
    IR_RULE_SPLIT,
    IR_RULE_CAT,
    IR_RULE_GATHER,
    IR_RULE_DOT,
    IR_RULE_REDUCE,
    IR_RULE_SCAN,
    IR_RULE_SORT,
    IR_RULE_TOPK,
    IR_RULE_HISTOGRAM,
    IR_RULE_RANDOM,
    IR_RULE_PTR_ADD,
    IR_RULE_LOAD,
    IR_RULE_STORE,
    IR_RULE_ATOMIC,
    IR_RULE_ATOMIC_CAS,
    IR_RULE_VIEW_LOAD,
    IR_RULE_VIEW_STORE,
    IR_RULE_VIEW_ATOMIC,
    IR_RULE_VIEW_CAS,
    IR_RULE_VIEW_INSIDE,
    IR_RULE_ASSERT,
    IR_RULE_PRINT,
    IR_RULE_NOALIAS,
    IR_RULE_FOR,
    IR_RULE_WHILE,
    IR_RULE_IF,
    IR_RULE_YIELD,
    IR_RULE_RETURN,
    IR_RULE_CALL,
    IR_RULE_SCRATCH,
    IR_RULE_NOTHING,
    IR_RULE_VEC_DATA,
    IR_RULE_CPU_DIM,
    IR_RULE_CPU_SPAN,
    IR_RULE_CPU_LOAD,
    IR_RULE_CPU_STORE,
    IR_RULE_CPU_PREFETCH,
    IR_RULE_VEC_REDUCE,
    IR_RULE_VEC_SHUFFLE,
    IR_RULE_VEC_LANE,
    IR_RULE_CPU_DOT,
    IR_RULE_CPU_TILES,
    IR_RULE_VEC_ASSERT,
    IR_RULE_VEC_PRINT,
    IR_RULE_GPU_CONVERT,
    IR_RULE_GPU_SHARED,
    IR_RULE_GPU_SLOT,
    IR_RULE_GPU_COPY,
    IR_RULE_GPU_READ,
    IR_RULE_GPU_MBARRIER,
    IR_RULE_GPU_MBARRIER_EXPECT,
    IR_RULE_GPU_MBARRIER_ARRIVE,
    IR_RULE_GPU_TMA_LOAD,
    IR_RULE_GPU_MBARRIER_WAIT,
    IR_RULE_GPU_MBARRIER_END,
    IR_RULE_THREAD_ID,
    IR_RULE_THREAD_LOAD,
    IR_RULE_THREAD_STORE,
    IR_RULE_THREAD_SHUFFLE,
    IR_RULE_THREAD_PACK,
    IR_RULE_THREAD_MATRIX_LOAD,
    IR_RULE_THREAD_MMA,
    IR_RULE_THREAD_WGMMA,
    IR_RULE_THREAD_WGMMA_BEGIN,
    IR_RULE_THREAD_WGMMA_WAIT,
    IR_RULE_THREAD_COPY,
    IR_RULE_THREAD_MBARRIER,
    IR_RULE_THREAD_MBARRIER_WAIT,
    IR_RULE_THREAD_TMA_LOAD,
    IR_RULE_THREAD_UPDATE,
} IrRule;

enum { IR_TABLE_BYTES = 65536 };  // of the values of a `lookup`, at most

enum {  // element classes of a row, in addition to DtypeClass bits
    IR_CLASS_POINTER = 1 << 8,
};
enum { IR_MAX_ATTRS = 6 };

typedef struct IrOpInfo {
    const char *name;  // "ADD"
    const char *text;  // "add"
    IrFamily family;
    IrLevel level;
    IrRule rule;
    unsigned classes;  // DtypeClass bits and IR_CLASS_POINTER
    int min_operands;
    int max_operands;  // -1: any number
    int results;       // -1: by the typing rule
    int regions;       // -1: 0 or 1
    IrEffect effect;
    int attr_count;
    IrAttrName attrs[IR_MAX_ATTRS];
    const char *signature;
    const char *doc;
} IrOpInfo;

const IrOpInfo *ir_op_info(IrOpcode code);
bool ir_op_from_text(Str text, IrOpcode *code);
IrFamily ir_op_family(IrOpcode code);
// Is its family one of these (IrFamily bits)?
bool ir_op_is(IrOpcode code, unsigned families);
const char *ir_attr_text(IrAttrName name);
IrAttrKind ir_attr_kind(IrAttrName name);
// May the text leave the attribute out? It is then false, 0 or empty; `inside` is zeros.
bool ir_attr_optional(IrAttrName name);
// Is the operand with this index marked `?` in the signature?
bool ir_operand_optional(IrOpcode code, uint32_t index);

// Names of the enums' values as the text form has them; NULL past the end of the enum.
const char *ir_enum_text(IrAttrKind kind, int64_t value);
bool ir_enum_from_text(IrAttrKind kind, Str text, int64_t *value);

// The classes of elements (DTYPE_CLASS_ bits) that an atomic, a reduction or a scan works on.
unsigned ir_rmw_classes(IrRmw rmw);
unsigned ir_reduce_classes(IrReduce kind);

#endif
