// Specialising: extents and integer parameters with only one possible value become constants.
//
// Needs: verified IR with facts (a range of one number). Keeps: parameters, extents and their
// facts, which launches and metadata still name and check. A `requires` that is then true for every
// launch is removed; one that is false stays and is reported at launch. The remaining part of a
// requires is simplified, so that analyses find its facts in their plain form.
#include "passes/passes.h"
#include "passes/rewrite.h"
#include "passes/simplify.h"

static bool fixed(const IrFacts *facts, int64_t *value) {
    if (!facts->has_range || facts->min != facts->max) return false;
    *value = facts->min;
    return true;
}

static bool fix_extents(IrFunc *f, IrBlock *block) {
    bool changed = false;
    IR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->region_count; i++) changed |= fix_extents(f, op->regions[i]);
        int64_t value;
        if (op->code != IR_EXTENT) continue;
        const IrExtent *extent = ir_extent_find(f, ir_attr(op, IR_ATTR_EXTENT)->u.name);
        if (!extent || !fixed(&extent->facts, &value)) continue;
        IrBuilder b = ir_builder_before(op);
        IrValue *constant = ir_const_int(&b, DTYPE_I64, value);
        rewrite_replace_op(op, &constant);
        changed = true;
    }
    return changed;
}

// Is the use of a parameter in this section? Each section gets a constant of its own.
static bool fix_uses(IrValue *param, IrBlock *section, int64_t value) {
    IrValue *constant = NULL;
    for (IrUse *use = param->uses, *next; use; use = next) {
        next = use->next;
        if (!ir_block_within(use->user->block, section)) continue;
        if (!constant) {
            IrBuilder b = ir_builder_before(section->first);
            constant = ir_const_int(&b, param->type->elem, value);
        }
        for (uint32_t i = 0; i < use->user->operand_count; i++) {
            if (&use->user->operands[i] == use) {
                ir_set_operand(use->user, i, constant);
                break;
            }
        }
    }
    return constant != NULL;
}

static bool fix_params(IrFunc *f) {
    bool changed = false;
    for (size_t i = 0; i < f->params.count; i++) {
        const IrParam *param = &f->params.data[i];
        const IrType *type = param->value->type;
        int64_t value;
        bool integer =
            type->kind == IR_TILE && type->rank == 0 && dtype_is(type->elem, DTYPE_CLASS_INT);
        if (!integer || !fixed(&param->facts, &value)) continue;
        for (size_t k = 0; k < f->sections.count; k++) {
            changed |= fix_uses(param->value, f->sections.data[k].block, value);
        }
    }
    return changed;
}

static void erase_all(IrBlock *block) {
    while (block->last) ir_erase(block->last);
}

static bool drop_requires(IrFunc *f, Arena *scratch) {
    bool changed = false;
    size_t kept = 0;
    for (size_t i = 0; i < f->sections.count; i++) {
        IrSection section = f->sections.data[i];
        if (section.kind == IR_REQUIRES) {
            changed |= simplify_block(section.block, scratch);
            if (rewrite_is_bool(ir_operand(rewrite_terminator(section.block), 0), true)) {
                erase_all(section.block);
                changed = true;
                continue;
            }
        }
        f->sections.data[kept++] = section;
    }
    f->sections.count = kept;
    return changed;
}

bool pass_specialize(IrFunc *f, PassContext *context) {
    bool changed = false;
    for (size_t i = 0; i < f->sections.count; i++) {
        changed |= fix_extents(f, f->sections.data[i].block);
    }
    changed |= fix_params(f);
    changed |= drop_requires(f, context->scratch);
    return changed;
}
