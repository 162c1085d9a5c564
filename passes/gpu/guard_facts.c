// The facts that the variant's guard has checked, as facts about the kernel's extents and programs.
#include "passes/gpu/gpu.h"

// ---- there are programs -------------------------------------------------------------------------

static bool is_zero(const IrValue *v) {
    return v->def && v->def->code == IR_CONST && ir_attr(v->def, IR_ATTR_VALUE)->u.bits == 0;
}

// Is the value 0, or false, if the extent is 0?
static bool vanishes(const IrValue *v, Symbol extent, int depth) {
    const IrOp *op = v->def;
    if (!op || depth == 0) return false;
    switch (op->code) {
    case IR_CONST: return is_zero(v);
    case IR_EXTENT: return ir_attr(op, IR_ATTR_EXTENT)->u.name == extent;
    case IR_MUL:
        return vanishes(ir_operand(op, 0), extent, depth - 1) ||
               vanishes(ir_operand(op, 1), extent, depth - 1);
    case IR_ADD:
        return vanishes(ir_operand(op, 0), extent, depth - 1) &&
               vanishes(ir_operand(op, 1), extent, depth - 1);
    case IR_GT:  // 0 > 0
        return is_zero(ir_operand(op, 1)) && vanishes(ir_operand(op, 0), extent, depth - 1);
    case IR_DIV:  // 0 / 0 and 0 % 0 are 0
    case IR_REM:
    case IR_CAST: return vanishes(ir_operand(op, 0), extent, depth - 1);
    default: break;
    }
    return false;
}

static bool vanishes_with(const IrFunc *f, Symbol extent) {
    enum { DEPTH = 12 };
    for (size_t i = 0; i < f->sections.count; i++) {
        const IrSection *s = &f->sections.data[i];
        const IrOp *end = s->kind == IR_GRID ? s->block->last : NULL;
        for (uint32_t d = 0; end && d < end->operand_count; d++)
            if (vanishes(ir_operand(end, d), extent, DEPTH)) return true;
    }
    return false;
}

// ---- narrow and wide ----------------------------------------------------------------------------

static void narrow_extents(IrFunc *f) {
    for (size_t i = 0; i < f->extents.count; i++) {
        IrFacts *facts = &f->extents.data[i].facts;
        int64_t least = vanishes_with(f, f->extents.data[i].name) ? 1 : 0;
        if (!facts->has_range || facts->min < least) facts->min = least;
        if (!facts->has_range || facts->max > INT32_MAX) facts->max = INT32_MAX;
        facts->has_range = true;
    }
}

static void narrow_programs(IrBlock *block) {
    IR_EACH_OP(op, block) {
        if (op->code == IR_PROGRAM || op->code == IR_PROGRAMS)
            ir_attr_set_int(op, IR_ATTR_NARROW, 1);
        for (uint32_t i = 0; i < op->region_count; i++) narrow_programs(op->regions[i]);
    }
}

static void multiple(IrFunc *f, Symbol name, uint64_t of) {
    for (size_t i = 0; i < f->extents.count; i++) {
        IrFacts *facts = &f->extents.data[i].facts;
        if (f->extents.data[i].name != name) continue;
        uint64_t known = facts->divisor ? facts->divisor : 1, power = known & (0 - known);
        if (power < of) facts->divisor = known / power * of;
    }
}

// Rows are multiples of 16 bytes.
static void wide_extents(IrFunc *f) {
    for (size_t i = 0; i < f->params.count; i++) {
        const IrParam *param = &f->params.data[i];
        const IrType *type = param->value->type;
        if (type->kind != IR_VIEW || !type->rank || param->strided) continue;
        Symbol last = param->dims[type->rank - 1].extent;
        bool packed = dtype_is(type->elem, DTYPE_CLASS_PACKED);
        uint64_t bits = packed ? dtype_bits(type->elem) : 8 * dtype_size(type->elem);
        if (last) multiple(f, last, 8 * GPU_ACCESS_BYTES / bits);
    }
}

void gpu_apply_guard_facts(IrFunc *f, unsigned facts) {
    if (facts & FACT_NARROW) {
        narrow_extents(f);
        narrow_programs(ir_body(f));
    }
    if (facts & FACT_WIDE) wide_extents(f);
}
