// Bounds: finds the dimensions of view accesses that are proven inside, so that they need no check.
//
// Needs: verified IR; simplified, so that conditions and extents are visible. Keeps: everything;
// `inside` only states a fact. Code that moves an access afterwards must not move it out of the
// loop or the guard that the proof rests on (licm does not). Only checked facts are used: `assume`
// removes no check (language rule 28), and program(d) < cdiv(M, B) is not a fact, since a host may
// override the grid. A view_inside whose dimensions are all proven is `true`.
#include "ir/analysis/analysis.h"
#include "passes/passes.h"
#include "passes/rewrite.h"

// The parameter that a view is; NULL if it is not a parameter (its extents are then unknown here).
static const IrParam *view_param(const IrFunc *f, const IrValue *view) {
    if (view->def || view->block || view->index >= f->params.count) return NULL;
    const IrParam *param = &f->params.data[view->index];
    return param->value == view ? param : NULL;
}

static bool dimension_inside(const IrRanges *ranges, const IrOp *op, const IrParam *param,
                             uint32_t d) {
    int64_t width = ir_attr(op, IR_ATTR_SELECT)->u.ints.items[d];
    const IrValue *index = ir_operand(op, ir_view_index_start(op->code) + d);
    return ir_provably_at_least(ranges, op, index, 0) &&
           ir_provably_within(ranges, op, index, width ? width : 1, &param->dims[d]);
}

static bool mark(const IrRanges *ranges, IrOp *op, const IrParam *param) {
    const IrAttr *inside = ir_attr(op, IR_ATTR_INSIDE);
    uint32_t rank = ir_attr(op, IR_ATTR_SELECT)->u.ints.count;
    int64_t bits[IR_MAX_VIEW_RANK] = {0};
    bool changed = false;
    for (uint32_t d = 0; d < rank; d++) {
        bits[d] = d < inside->u.ints.count ? inside->u.ints.items[d] : 0;
        if (bits[d] || !dimension_inside(ranges, op, param, d)) continue;
        bits[d] = 1;
        changed = true;
    }
    if (changed) ir_attr_set_ints(op, IR_ATTR_INSIDE, rank, bits);
    return changed;
}

static bool replace_inside(const IrRanges *ranges, IrOp *op, const IrParam *param) {
    uint32_t rank = ir_attr(op, IR_ATTR_SELECT)->u.ints.count;
    for (uint32_t d = 0; d < rank; d++) {
        if (!dimension_inside(ranges, op, param, d)) return false;
    }
    IrBuilder b = ir_builder_before(op);
    IrValue *yes = ir_const_bits(&b, op->results[0].type, 1);
    rewrite_replace_op(op, &yes);
    return true;
}

static bool is_view_access(IrOpcode code) {
    return code == IR_VIEW_LOAD || code == IR_VIEW_STORE || code == IR_VIEW_ATOMIC ||
           code == IR_VIEW_CAS;
}

// view_inside is done last: the constant that replaces it is not known to the ranges.
static bool bounds_in(const IrRanges *ranges, const IrFunc *f, const IrBlock *block, bool masks) {
    bool changed = false;
    IR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->region_count; i++) {
            changed |= bounds_in(ranges, f, op->regions[i], masks);
        }
        bool mask = op->code == IR_VIEW_INSIDE;
        if (mask != masks || !(mask || is_view_access(op->code))) continue;
        const IrParam *param = view_param(f, ir_operand(op, 0));
        if (!param) continue;
        changed |= mask ? replace_inside(ranges, op, param) : mark(ranges, op, param);
    }
    return changed;
}

static bool has_views(const IrFunc *f) {
    for (size_t i = 0; i < f->params.count; i++) {
        if (f->params.data[i].value->type->kind == IR_VIEW) return true;
    }
    return false;
}

bool pass_bounds(IrFunc *f, PassContext *context) {
    IrBlock *body = ir_body(f);
    if (!f->is_kernel || !body || !has_views(f)) return false;
    IrRanges *ranges = pass_ranges(context, f);
    bool changed = bounds_in(ranges, f, body, false);
    return bounds_in(ranges, f, body, true) || changed;
}
