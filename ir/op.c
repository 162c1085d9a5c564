#include "ir/op.h"

#include <string.h>

#include "base/dtype.h"
#include "base/os/os.h"
#include "base/recover.h"

// The letters in the table's column of classes.
enum {
    B = DTYPE_CLASS_BOOL,
    I = DTYPE_CLASS_INT,
    F = DTYPE_CLASS_FLOAT,
    Q = DTYPE_CLASS_FP8,
    P = IR_CLASS_POINTER,
    A = DTYPE_CLASS_ANY,
};

#define A0 \
    0, { 0 }
#define A1(a) \
    1, { IR_ATTR_##a }
#define A2(a, b) \
    2, { IR_ATTR_##a, IR_ATTR_##b }
#define A3(a, b, c) \
    3, { IR_ATTR_##a, IR_ATTR_##b, IR_ATTR_##c }
#define A4(a, b, c, d) \
    4, { IR_ATTR_##a, IR_ATTR_##b, IR_ATTR_##c, IR_ATTR_##d }
#define A5(a, b, c, d, e) \
    5, { IR_ATTR_##a, IR_ATTR_##b, IR_ATTR_##c, IR_ATTR_##d, IR_ATTR_##e }
#define A6(a, b, c, d, e, f) \
    6, { IR_ATTR_##a, IR_ATTR_##b, IR_ATTR_##c, IR_ATTR_##d, IR_ATTR_##e, IR_ATTR_##f }
// The attributes arrive expanded, as two arguments: the count and the braced
// list.
#define ROW(...) {__VA_ARGS__},
#define OP(name, text, family, level, rule, classes, min, max, results, regions, effect, attrs, \
           sig, doc)                                                                            \
    ROW(#name, text, IR_FAMILY_##family, IR_LEVEL_##level, IR_RULE_##rule, (unsigned)(classes), \
        min, max, results, regions, IR_EFFECT_##effect, attrs, sig, doc)
static const IrOpInfo op_table[IR_OPCODES] = {
#include "ir/ops.def"
};

#define OP(name, text, ...) {text, sizeof(text) - 1},
static const Str op_texts[IR_OPCODES] = {
#include "ir/ops.def"
};

#define ATTR(name, text, kind) {text, IR_KIND_##kind},
static const struct {
    const char *text;
    IrAttrKind kind;
} attr_table[IR_ATTRS] = {
#include "ir/ops.def"
};

// Every loop over ops asks for the facts of each of them, so this is where passes notice that their
// time is up.
const IrOpInfo *ir_op_info(IrOpcode code) {
    recover_step();
    CHECK((unsigned)code < IR_OPCODES, "opcode %u is not in the table", (unsigned)code);
    return &op_table[code];
}

bool ir_level_allows(IrLevel function, IrLevel op) {
    bool cpu =
        function == IR_LEVEL_CPU_TILE || function == IR_LEVEL_CPU_NEST || function == IR_LEVEL_CPU;
    if (op == IR_LEVEL_CPU) return cpu;
    if (op == IR_LEVEL_VECTOR) return cpu || function == IR_LEVEL_THREAD;
    return op == IR_LEVEL_ANY || op == IR_LEVEL_TILE || op == function;
}

const char *ir_level_text(IrLevel level) {
    switch (level) {
    case IR_LEVEL_TILE: return "tile";
    case IR_LEVEL_GPU: return "gpu";
    case IR_LEVEL_CPU_TILE: return "cpu_tile";
    case IR_LEVEL_CPU_NEST: return "cpu_nest";
    case IR_LEVEL_CPU: return "cpu";
    case IR_LEVEL_THREAD: return "thread";
    case IR_LEVEL_VECTOR: return "cpu, thread";
    case IR_LEVEL_ANY: break;
    }
    return "any";
}

bool ir_op_from_text(Str text, IrOpcode *code) {
    for (unsigned i = 0; i < IR_OPCODES; i++) {
        if (op_texts[i].size == text.size && memcmp(op_texts[i].text, text.text, text.size) == 0) {
            *code = (IrOpcode)i;
            return true;
        }
    }
    return false;
}

IrFamily ir_op_family(IrOpcode code) { return ir_op_info(code)->family; }

bool ir_op_is(IrOpcode code, unsigned families) { return (ir_op_family(code) & families) != 0; }

const char *ir_attr_text(IrAttrName name) {
    CHECK((unsigned)name < IR_ATTRS, "attribute %u is not in the table", (unsigned)name);
    return attr_table[name].text;
}

IrAttrKind ir_attr_kind(IrAttrName name) {
    CHECK((unsigned)name < IR_ATTRS, "attribute %u is not in the table", (unsigned)name);
    return attr_table[name].kind;
}

bool ir_attr_optional(IrAttrName name) {
    return ir_attr_kind(name) == IR_KIND_BOOL || name == IR_ATTR_INSIDE || name == IR_ATTR_PLAN ||
           name == IR_ATTR_INSTRUCTION || name == IR_ATTR_ELEMS || name == IR_ATTR_WARPS ||
           name == IR_ATTR_SPANS || name == IR_ATTR_AHEAD || name == IR_ATTR_CACHE;
}

bool ir_operand_optional(IrOpcode code, uint32_t index) {
    const char *item = ir_op_info(code)->signature;
    for (uint32_t i = 0; i < index; i++) {
        const char *comma = strchr(item, ',');
        if (!comma) return false;  // the last item is `x…`, or there is no such operand
        item = comma + 1;
    }
    size_t size = strcspn(item, ",");
    return size > 0 && item[size - 1] == '?';
}

static const char *const reduce_texts[] = {"sum",    "prod",   "min", "max", "minnum", "maxnum",
                                           "argmin", "argmax", "any", "all", "custom"};
static const char *const rmw_texts[] = {"add", "sub", "and",  "or",  "xor",
                                        "min", "max", "xchg", "load"};
static const char *const order_texts[] = {"relaxed", "acquire", "release", "acq_rel"};
static const char *const scope_texts[] = {"program", "device", "system"};
static const char *const precision_texts[] = {"ieee", "tf32", "tf32x3", "bf16x3", "unit"};
static const char *const cache_texts[] = {"normal", "first", "last", "stream", "l2"};
static const char *const plan_texts[] = {"none", "fma", "pairs", "matrix", "exact", "split"};

static const char *const *enum_texts(IrAttrKind kind, size_t *count) {
#define TEXTS_OF(array) (*count = sizeof array / sizeof array[0], array)
    switch (kind) {
    case IR_KIND_REDUCE: return TEXTS_OF(reduce_texts);
    case IR_KIND_RMW: return TEXTS_OF(rmw_texts);
    case IR_KIND_ORDER: return TEXTS_OF(order_texts);
    case IR_KIND_SCOPE: return TEXTS_OF(scope_texts);
    case IR_KIND_PRECISION: return TEXTS_OF(precision_texts);
    case IR_KIND_PLAN: return TEXTS_OF(plan_texts);
    case IR_KIND_CACHE: return TEXTS_OF(cache_texts);
    case IR_KIND_INT:
    case IR_KIND_BOOL:
    case IR_KIND_INTS:
    case IR_KIND_CONST:
    case IR_KIND_CONSTS:
    case IR_KIND_TEXT:
    case IR_KIND_TEXTS:
    case IR_KIND_NAME:
    case IR_KIND_DTYPE:
    case IR_KIND_DTYPES: break;
    }
#undef TEXTS_OF
    *count = 0;
    return NULL;
}

const char *ir_enum_text(IrAttrKind kind, int64_t value) {
    if (kind == IR_KIND_DTYPE) {
        return value >= 0 && value < DTYPES ? dtype_name((Dtype)value) : NULL;
    }
    size_t count;
    const char *const *texts = enum_texts(kind, &count);
    return value >= 0 && (uint64_t)value < count ? texts[value] : NULL;
}

bool ir_enum_from_text(IrAttrKind kind, Str text, int64_t *value) {
    if (kind == IR_KIND_DTYPE) {
        Dtype t;
        if (!dtype_from_name(text, &t)) return false;
        *value = t;
        return true;
    }
    size_t count;
    const char *const *texts = enum_texts(kind, &count);
    for (size_t i = 0; i < count; i++) {
        if (str_equal(text, str(texts[i]))) {
            *value = (int64_t)i;
            return true;
        }
    }
    return false;
}

unsigned ir_rmw_classes(IrRmw rmw) {
    switch (rmw) {
    case IR_RMW_ADD:
    case IR_RMW_SUB:
    case IR_RMW_MIN:
    case IR_RMW_MAX: return DTYPE_CLASS_NUMBER;
    case IR_RMW_AND:
    case IR_RMW_OR:
    case IR_RMW_XOR: return DTYPE_CLASS_INT | DTYPE_CLASS_BOOL;
    case IR_RMW_XCHG:
    case IR_RMW_LOAD:
    case IR_RMWS: break;
    }
    return DTYPE_CLASS_ANY;
}

unsigned ir_reduce_classes(IrReduce kind) {
    switch (kind) {
    case IR_REDUCE_SUM:
    case IR_REDUCE_PROD:
    case IR_REDUCE_MIN:
    case IR_REDUCE_MAX:
    case IR_REDUCE_ARGMIN:
    case IR_REDUCE_ARGMAX: return DTYPE_CLASS_NUMBER;
    case IR_REDUCE_MINNUM:
    case IR_REDUCE_MAXNUM: return DTYPE_CLASS_ANYFLOAT;
    case IR_REDUCE_ANY:
    case IR_REDUCE_ALL: return DTYPE_CLASS_BOOL;
    case IR_REDUCE_CUSTOM: break;
    }
    return DTYPE_CLASS_ANY;
}
