#include "ir/ir.h"

#include "base/os/os.h"

IrModule *ir_module_create(Arena *arena, Sources *sources, Interner *names) {
    IrModule *m = arena_new(arena, IrModule, 1);
    m->arena = arena;
    m->sources = sources;
    m->names = names;
    return m;
}

uint32_t ir_lane_count(const IrFunc *f) { return f->lanes > 0 ? (uint32_t)f->lanes : 32; }

uint32_t ir_thread_count(const IrFunc *f) {
    return f->warps > 0 ? (uint32_t)f->warps * ir_lane_count(f) : 1;
}

uint32_t ir_launch_thread_count(const IrFunc *f) {
    return ir_thread_count(f) + (uint32_t)f->producers * ir_lane_count(f);
}

void ir_note_inlined(IrFunc *f, Symbol name, Span body, Span call) {
    IrInlined made = {name, body, call};
    vec_push(f->module->arena, &f->inlined, made);
}

IrFunc *ir_func_find(const IrModule *m, Symbol name) {
    for (size_t i = 0; i < m->funcs.count; i++) {
        if (m->funcs.data[i]->name == name) return m->funcs.data[i];
    }
    return NULL;
}

const IrSection *ir_section(const IrFunc *f, IrSectionKind kind) {
    for (size_t i = 0; i < f->sections.count; i++) {
        if (f->sections.data[i].kind == kind) return &f->sections.data[i];
    }
    return NULL;
}

IrBlock *ir_body(const IrFunc *f) {
    const IrSection *body = ir_section(f, IR_BODY);
    return body ? body->block : NULL;
}

const IrExtent *ir_extent_find(const IrFunc *f, Symbol name) {
    for (size_t i = 0; i < f->extents.count; i++) {
        if (f->extents.data[i].name == name) return &f->extents.data[i];
    }
    return NULL;
}

// ---- attributes

static IrAttr *attr_place(const IrOp *op, IrAttrName name) {
    const IrOpInfo *info = ir_op_info(op->code);
    for (int i = 0; i < info->attr_count; i++) {
        if (info->attrs[i] == name) return &op->attrs[i];
    }
    UNREACHABLE("op '%s' has no attribute '%s'", info->text, ir_attr_text(name));
}

static Arena *op_arena(const IrOp *op) {
    CHECK(op->block, "op '%s' is in no block", ir_op_info(op->code)->text);
    return op->block->func->module->arena;
}

const IrAttr *ir_attr(const IrOp *op, IrAttrName name) { return attr_place(op, name); }

void ir_attr_set_int(IrOp *op, IrAttrName name, int64_t value) {
    attr_place(op, name)->u.i = value;
}

void ir_attr_set_bits(IrOp *op, IrAttrName name, uint64_t bits) {
    attr_place(op, name)->u.bits = bits;
}

void ir_attr_set_name(IrOp *op, IrAttrName name, Symbol value) {
    attr_place(op, name)->u.name = value;
}

void ir_attr_set_ints(IrOp *op, IrAttrName name, uint32_t count, const int64_t *items) {
    IrAttr *attr = attr_place(op, name);
    attr->u.ints.count = count;
    attr->u.ints.items = count ? arena_copy(op_arena(op), items, count * sizeof *items) : NULL;
}

void ir_attr_set_consts(IrOp *op, IrAttrName name, uint32_t count, const uint64_t *items) {
    IrAttr *attr = attr_place(op, name);
    attr->u.consts.count = count;
    attr->u.consts.items = count ? arena_copy(op_arena(op), items, count * sizeof *items) : NULL;
}

static Str text_copy(Arena *arena, Str text) {
    return (Str){arena_text(arena, text.text, text.size), text.size};
}

void ir_attr_set_text(IrOp *op, IrAttrName name, Str text) {
    attr_place(op, name)->u.text = text_copy(op_arena(op), text);
}

void ir_attr_set_texts(IrOp *op, IrAttrName name, uint32_t count, const Str *items) {
    Str *copies = arena_new(op_arena(op), Str, count);
    for (uint32_t i = 0; i < count; i++) copies[i] = text_copy(op_arena(op), items[i]);
    IrAttr *attr = attr_place(op, name);
    attr->u.texts.count = count;
    attr->u.texts.items = copies;
}

// ---- nests

const IrNests *ir_nests(const IrOp *op) {
    return op->nests ? &op->block->func->nests.data[op->nests - 1] : NULL;
}

void ir_set_nests(IrOp *op, uint32_t count, const int64_t *items) {
    IrFunc *f = op->block->func;
    Arena *arena = f->module->arena;
    op->nests = 0;
    if (count == 0) return;
    IrNests nests = {count, arena_copy(arena, items, count * sizeof *items)};
    vec_push(arena, &f->nests, nests);
    op->nests = (uint32_t)f->nests.count;
}

// ---- selections of views

uint32_t ir_view_index_start(IrOpcode code) {
    IrRule rule = ir_op_info(code)->rule;
    if (rule == IR_RULE_VIEW_INSIDE) return 1;
    if (rule == IR_RULE_VIEW_LOAD) return 2;
    if (rule == IR_RULE_VIEW_STORE || rule == IR_RULE_VIEW_ATOMIC) return 3;
    CHECK(rule == IR_RULE_VIEW_CAS, "op '%s' selects from no view", ir_op_info(code)->text);
    return 4;
}

// Stretches `shape` so that a tile index of type `t` broadcasts with those before it.
static bool stretch_index(const IrType *t, uint32_t rank, uint32_t *shape) {
    if (t->rank != rank) return false;
    for (uint32_t i = 0; i < rank; i++) {
        if (shape[i] == 1) shape[i] = t->shape[i];
        if (t->shape[i] != shape[i] && t->shape[i] != 1) return false;
    }
    return true;
}

// The shape of all tile indices broadcast together; *rank is 0 when there are none.
static bool index_shape(const IrOp *op, const IrAttr *select, uint32_t *rank, uint32_t *shape) {
    uint32_t start = ir_view_index_start(op->code);
    *rank = 0;
    for (uint32_t i = 0; i < select->u.ints.count; i++) {
        const IrValue *index = ir_operand(op, start + i);
        if (!index || index->type->kind != IR_TILE) return false;
        const IrType *t = index->type;
        if (t->rank == 0) continue;
        if (select->u.ints.items[i] != 0) return false;
        if (*rank == 0) {
            *rank = t->rank;
            for (uint32_t d = 0; d < t->rank; d++) shape[d] = t->shape[d];
        } else if (!stretch_index(t, *rank, shape)) {
            return false;
        }
    }
    return true;
}

bool ir_selection_shape(const IrOp *op, uint32_t *rank, uint32_t *shape) {
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT);
    uint32_t start = ir_view_index_start(op->code);
    if (op->operand_count != start + select->u.ints.count) return false;
    uint32_t tile_rank, tile_shape[IR_MAX_RANK];
    if (!index_shape(op, select, &tile_rank, tile_shape)) return false;
    bool placed = false;
    *rank = 0;
    for (uint32_t i = 0; i < select->u.ints.count; i++) {
        int64_t width = select->u.ints.items[i];
        if (width < 0 || width > IR_MAX_COUNT) return false;
        if (width > 0) {
            if (*rank == IR_MAX_RANK) return false;
            shape[(*rank)++] = (uint32_t)width;
        } else if (ir_operand(op, start + i)->type->rank > 0 && !placed) {
            if (*rank + tile_rank > IR_MAX_RANK) return false;
            for (uint32_t d = 0; d < tile_rank; d++) shape[(*rank)++] = tile_shape[d];
            placed = true;
        }
    }
    return true;
}

// ---- effects and nesting

unsigned ir_effects(const IrOp *op) {
    switch (ir_op_info(op->code)->effect) {
    case IR_EFFECT_READ: return 1u << IR_EFFECT_READ;
    case IR_EFFECT_WRITE: return 1u << IR_EFFECT_WRITE;
    case IR_EFFECT_KEEP: return 1u << IR_EFFECT_KEEP;
    case IR_EFFECT_PURE:
    case IR_EFFECT_END: return 0;
    case IR_EFFECT_NEST: break;
    }
    unsigned effects = 0;
    for (uint32_t i = 0; i < op->region_count; i++) {
        IR_EACH_OP(inner, op->regions[i]) { effects |= ir_effects(inner); }
    }
    return effects;
}

bool ir_changes_memory(const IrOp *op) {
    bool modifies = op->code == IR_ATOMIC || op->code == IR_VIEW_ATOMIC;
    if (modifies) return ir_attr_int(op, IR_ATTR_RMW) != IR_RMW_LOAD;
    return ir_op_info(op->code)->effect == IR_EFFECT_WRITE;
}

bool ir_evicts_last(const IrOp *op) {
    return op->code == IR_VIEW_STORE && ir_attr_int(op, IR_ATTR_CACHE) == IR_CACHE_LAST;
}

bool ir_evicts_first(const IrOp *op) {
    int64_t cache = op->code == IR_VIEW_STORE ? ir_attr_int(op, IR_ATTR_CACHE) : IR_CACHE_NORMAL;
    return cache == IR_CACHE_FIRST || cache == IR_CACHE_STREAM;
}

bool ir_block_within(const IrBlock *inner, const IrBlock *outer) {
    while (inner && inner != outer) inner = inner->parent ? inner->parent->block : NULL;
    return inner == outer && outer;
}

// Arithmetic that launch code has no instructions for (runtime/launch_code.def).
static bool beyond_launch_code(IrOpcode code) {
    return code == IR_FMA || code == IR_MULHI || code == IR_POPCOUNT || code == IR_CLZ ||
           code == IR_CTZ || code == IR_BREV;
}

static bool launch_opcode(IrOpcode code) {
    if (code == IR_CONST || code == IR_EXTENT || code == IR_UNITS || code == IR_NOALIAS ||
        code == IR_IF || code == IR_YIELD)
        return true;
    return !beyond_launch_code(code) && ir_op_is(code, IR_FAMILY_ARITHMETIC | IR_FAMILY_COMPARE |
                                                           IR_FAMILY_SELECT | IR_FAMILY_CAST);
}

static bool launch_type(const IrType *t) { return t->kind == IR_TILE && t->rank == 0; }

bool ir_launchable(const IrOp *op) {
    if (!launch_opcode(op->code)) return false;
    for (uint32_t i = 0; i < op->result_count; i++)
        if (!launch_type(op->results[i].type)) return false;
    for (uint32_t i = 0; i < op->operand_count && op->code != IR_NOALIAS; i++)
        if (op->operands[i].value && !launch_type(op->operands[i].value->type)) return false;
    return true;
}
