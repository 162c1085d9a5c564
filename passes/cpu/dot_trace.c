#include "passes/cpu/dot_trace.h"

#include "base/os/os.h"

static uint32_t selected_dim(const IrOp *load, uint32_t tile_dim) {
    const IrAttr *select = ir_attr(load, IR_ATTR_SELECT);
    uint32_t at = 0;
    for (uint32_t d = 0; d < select->u.ints.count; d++)
        if (select->u.ints.items[d] > 0 && at++ == tile_dim) return d;
    return select->u.ints.count;
}

static bool is_zero_pad(const IrValue *pad) {
    return !pad || (pad->def && pad->def->code == IR_CONST &&
                    ir_attr(pad->def, IR_ATTR_VALUE)->u.bits == 0);
}

static bool has_tile_index(const IrOp *load) {
    for (uint32_t i = ir_view_index_start(load->code); i < load->operand_count; i++)
        if (ir_operand(load, i)->type->rank > 0) return true;
    return false;
}

static bool trace_factor(Arena *scratch, IrValue *v, uint32_t along, DotTrace *trace) {
    for (IrOp *op = v->def; op; v = ir_operand(op, 0), op = v->def) {
        vec_push(scratch, &trace->tile, v);
        vec_push(scratch, &trace->along, along);
        IrRule rule = ir_op_info(op->code)->rule;
        if (op->code == IR_VIEW_LOAD) {
            trace->load = op;
            trace->dim = selected_dim(op, along);
            return is_zero_pad(ir_operand(op, 1)) && !has_tile_index(op);
        }
        if (op->code == IR_PERMUTE)
            along = (uint32_t)ir_attr(op, IR_ATTR_PERM)->u.ints.items[along];
        else if (rule != IR_RULE_UNARY && rule != IR_RULE_CAST)
            return false;
    }
    return false;
}

// The padding must still be 0 after the ops between; cos(0), for example, is 1.
static bool keeps_zero(const DotTrace *trace) {
    for (size_t i = 0; i < trace->tile.count; i++) {
        const IrOp *op = trace->tile.data[i]->def;
        bool keeps = op->code == IR_VIEW_LOAD || op->code == IR_PERMUTE || op->code == IR_CAST ||
                     op->code == IR_NEG;
        if (!keeps) return false;
    }
    return true;
}

bool dot_trace_factors(Arena *scratch, const IrOp *dot, DotTrace traces[2]) {
    uint32_t rank = ir_operand(dot, 0)->type->rank;
    for (uint32_t i = 0; i < 2; i++) {
        traces[i] = (DotTrace){0};
        if (!trace_factor(scratch, ir_operand(dot, i), rank - 1 - i, &traces[i])) return false;
        if (!keeps_zero(&traces[i])) return false;
    }
    return true;
}

IrValue *dot_trace_index(const DotTrace *trace) {
    return ir_operand(trace->load, ir_view_index_start(trace->load->code) + trace->dim);
}

const IrDim *dot_trace_extent(const IrFunc *f, const DotTrace *trace) {
    for (size_t i = 0; i < f->params.count; i++)
        if (f->params.data[i].value == ir_operand(trace->load, 0))
            return &f->params.data[i].dims[trace->dim];
    UNREACHABLE("a view that is not a parameter");
}
