// Common subexpressions: an op that equals one that dominates it is replaced by that one's results.
//
// Needs: verified IR; folding first makes more values look equal. Keeps: the order of effects.
// Equal means the same opcode, attributes, operands (in either order if that does not matter) and
// result types. Dominance is structured: an op dominates those after it in the same block, and
// those nested in them. Sections share nothing, so each begins with an empty table. A read equals
// an earlier one while memory is known to be unchanged: every op that may write begins a new
// version of memory, and a loop that writes begins one before it and one after it. Any write counts
// against any read: views of one kernel may overlap (language rule 17). Ops with regions (custom
// combiners, control) are left out.
#include "passes/passes.h"
#include "passes/rewrite.h"

typedef struct CseEntry {
    IrOp *op;
    uint64_t hash;
    uint64_t version;       // of memory; 0 for pure ops
    struct CseEntry *next;  // in its bucket
} CseEntry;

typedef struct Cse {
    Arena *scratch;
    CseEntry **buckets;
    size_t mask;
    VEC(CseEntry *) order;  // in order of insertion: a block's entries are removed when it ends
    uint64_t version;       // of memory, here
    uint64_t newest;        // the last version number that was used
    bool changed;
} Cse;

// ---- equality -----------------------------------------------------------------------------------

static bool commutes(IrOpcode code) {
    return code == IR_ADD || code == IR_MUL || code == IR_MIN || code == IR_MAX ||
           code == IR_MINNUM || code == IR_MAXNUM || code == IR_AND || code == IR_OR ||
           code == IR_XOR || code == IR_EQ || code == IR_NE;
}

static uint64_t mix(uint64_t hash, uint64_t more) {
    hash = (hash ^ more) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t hash_attr(uint64_t hash, IrAttrName name, const IrAttr *attr) {
    switch (ir_attr_kind(name)) {
    case IR_KIND_INT:
    case IR_KIND_BOOL:
    case IR_KIND_REDUCE:
    case IR_KIND_RMW:
    case IR_KIND_ORDER:
    case IR_KIND_SCOPE:
    case IR_KIND_PRECISION:
    case IR_KIND_CACHE:
    case IR_KIND_PLAN:
    case IR_KIND_DTYPE: return mix(hash, (uint64_t)attr->u.i);
    case IR_KIND_CONST: return mix(hash, attr->u.bits);
    case IR_KIND_NAME: return mix(hash, map_key(attr->u.name));
    case IR_KIND_TEXT: return mix(hash, str_hash(attr->u.text));
    case IR_KIND_INTS:
    case IR_KIND_DTYPES:
        for (uint32_t i = 0; i < attr->u.ints.count; i++) {
            hash = mix(hash, (uint64_t)attr->u.ints.items[i]);
        }
        return hash;
    case IR_KIND_CONSTS:
        for (uint32_t i = 0; i < attr->u.consts.count; i++)
            hash = mix(hash, attr->u.consts.items[i]);
        return hash;
    case IR_KIND_TEXTS: return mix(hash, attr->u.texts.count);
    }
    return hash;
}

static uint32_t value_id(const IrValue *value) { return value ? value->id + 1 : 0; }

static uint64_t hash_op(const IrOp *op) {
    const IrOpInfo *info = ir_op_info(op->code);
    uint64_t hash = mix(0x1234567u, op->code);
    if (commutes(op->code)) {
        uint64_t a = value_id(ir_operand(op, 0)), b = value_id(ir_operand(op, 1));
        hash = mix(mix(hash, a < b ? a : b), a < b ? b : a);
    } else {
        for (uint32_t i = 0; i < op->operand_count; i++) {
            hash = mix(hash, value_id(ir_operand(op, i)));
        }
    }
    for (uint32_t i = 0; i < op->result_count; i++) hash = mix(hash, op->results[i].type->id);
    for (int i = 0; i < info->attr_count; i++) {
        hash = hash_attr(hash, info->attrs[i], &op->attrs[i]);
    }
    return hash;
}

static bool same_operands(const IrOp *a, const IrOp *b) {
    if (a->operand_count != b->operand_count) return false;
    bool same = true;
    for (uint32_t i = 0; i < a->operand_count; i++) same &= ir_operand(a, i) == ir_operand(b, i);
    if (same || !commutes(a->code)) return same;
    return ir_operand(a, 0) == ir_operand(b, 1) && ir_operand(a, 1) == ir_operand(b, 0);
}

static bool same_op(const IrOp *a, const IrOp *b) {
    if (a->code != b->code || a->result_count != b->result_count) return false;
    if (!same_operands(a, b)) return false;
    for (uint32_t i = 0; i < a->result_count; i++) {
        if (a->results[i].type != b->results[i].type) return false;
    }
    return rewrite_same_attrs(a, b);
}

// ---- the walk -----------------------------------------------------------------------------------

static bool is_candidate(const IrOp *op) {
    if (op->result_count == 0 || op->region_count > 0) return false;
    switch (ir_op_info(op->code)->effect) {
    case IR_EFFECT_PURE:
    case IR_EFFECT_READ: return true;
    case IR_EFFECT_NEST: return true;  // reductions and scans of built-in kinds: no regions
    case IR_EFFECT_WRITE:
    case IR_EFFECT_KEEP:
    case IR_EFFECT_END: return false;
    }
    return false;
}

static void share(Cse *c, IrOp *op) {
    uint64_t version = ir_op_info(op->code)->effect == IR_EFFECT_READ ? c->version : 0;
    uint64_t hash = mix(hash_op(op), version);
    CseEntry **bucket = &c->buckets[hash & c->mask];
    for (CseEntry *e = *bucket; e; e = e->next) {
        if (e->hash != hash || e->version != version || !same_op(e->op, op)) continue;
        for (uint32_t i = 0; i < op->result_count; i++) {
            ir_replace_all(ir_result(op, i), ir_result(e->op, i));
        }
        ir_erase(op);
        c->changed = true;
        return;
    }
    CseEntry *entry = arena_new(c->scratch, CseEntry, 1);
    *entry = (CseEntry){.op = op, .hash = hash, .version = version, .next = *bucket};
    *bucket = entry;
    vec_push(c->scratch, &c->order, entry);
}

static void walk(Cse *c, const IrBlock *block);

static void walk_regions(Cse *c, const IrOp *op) {
    bool changes = rewrite_clobbers_memory(op);
    // A later iteration sees the writes of earlier ones; a branch sees memory as it was before the
    // if.
    if (changes && op->code != IR_IF) c->version = ++c->newest;
    uint64_t entered = c->version;
    for (uint32_t i = 0; i < op->region_count; i++) {
        if (op->code == IR_IF) c->version = entered;
        walk(c, op->regions[i]);
    }
    c->version = changes ? ++c->newest : entered;
}

static void walk(Cse *c, const IrBlock *block) {
    size_t begin = c->order.count;
    IR_EACH_OP(op, block) {
        if (op->region_count) {
            walk_regions(c, op);
        } else if (is_candidate(op)) {
            share(c, op);
        } else if (rewrite_clobbers_memory(op)) {
            c->version = ++c->newest;
        }
    }
    while (c->order.count > begin) {  // newest first, so each is the head of its bucket
        CseEntry *entry = vec_pop(&c->order);
        c->buckets[entry->hash & c->mask] = entry->next;
    }
}

bool pass_cse(IrFunc *f, PassContext *context) {
    Cse c = {.scratch = context->scratch, .version = 1, .newest = 1};
    size_t buckets = 16;
    while (buckets < f->op_count) buckets *= 2;
    c.buckets = arena_new(c.scratch, CseEntry *, buckets);
    c.mask = buckets - 1;
    for (size_t i = 0; i < f->sections.count; i++) walk(&c, f->sections.data[i].block);
    return c.changed;
}
