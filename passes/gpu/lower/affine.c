// Tiles whose elements are a coordinate plus a part that all of them share: j + iota(B), stretched
// or transposed.
#include "passes/gpu/lower/affine.h"

#include "passes/rewrite.h"

enum { DEPTH = 16 };

int gpu_axis_before(const IrOp *op, uint32_t axis) {
    const IrType *from = ir_operand(op, 0)->type, *to = op->results[0].type;
    uint32_t k = 0;
    int found = -1;
    for (uint32_t d = 0; d < to->rank; d++) {
        if (to->shape[d] == 1) continue;
        while (k < from->rank && from->shape[k] == 1) k++;
        if (k == from->rank || from->shape[k] != to->shape[d]) return -1;
        if (d == axis) found = (int)k;
        k++;
    }
    return found;
}

// For each axis of a value, the axis of the original tile that runs along it; -1: none.
typedef struct AffineAxes {
    int of[IR_MAX_RANK];
} AffineAxes;

static bool axes_before(const IrOp *op, const AffineAxes *here, AffineAxes *before) {
    const IrType *from = ir_operand(op, 0)->type, *to = op->results[0].type;
    for (uint32_t d = 0; d < IR_MAX_RANK; d++) before->of[d] = -1;
    for (uint32_t d = 0; d < to->rank; d++) {
        if (to->shape[d] == 1) continue;
        int k = (int)d;
        if (op->code == IR_PERMUTE) k = (int)ir_attr(op, IR_ATTR_PERM)->u.ints.items[d];
        if (op->code == IR_RESHAPE) k = gpu_axis_before(op, d);
        if (k < 0) return false;
        if (from->shape[k] != 1) before->of[k] = here->of[d];
    }
    return true;
}

static bool add_scalar(const IrRanges *ranges, const IrValue *v, bool minus, GpuAffine *line) {
    const int64_t most = INT64_C(1) << 56;
    IrRange range = ir_range_of(ranges, v);
    if (line->count == GPU_AFFINE_MAX || !range.known || range.min < -most || range.max > most)
        return false;
    line->scalars[line->count] = v;
    line->minus[line->count++] = minus;
    line->min += minus ? -range.max : range.min;
    line->max += minus ? -range.min : range.max;
    return true;
}

static bool add_value(const IrRanges *ranges, const IrValue *v, const AffineAxes *axes, bool minus,
                      int depth, GpuAffine *line) {
    const IrOp *op = v->def;
    int64_t number;
    AffineAxes before = {{0}};
    if (!v->type->rank) return add_scalar(ranges, v, minus, line);
    if (!op || depth > DEPTH) return false;
    switch (op->code) {
    case IR_IOTA:
        if (minus || line->axis >= 0) return false;
        line->axis = axes->of[0];
        return true;
    case IR_CONST:
        if (!rewrite_constant_int(v, &number) || number != (int32_t)number) return false;
        if (number < 0 && !dtype_signed(v->type->elem)) return false;  // a u64 above INT64_MAX
        line->number += minus ? -number : number;
        return true;
    case IR_GPU_CONVERT: return add_value(ranges, ir_operand(op, 0), axes, minus, depth + 1, line);
    case IR_BROADCAST:
    case IR_RESHAPE:
    case IR_PERMUTE:
        return axes_before(op, axes, &before) &&
               add_value(ranges, ir_operand(op, 0), &before, minus, depth + 1, line);
    case IR_CAST:
    case IR_ADD:
    case IR_SUB:
        if (!ir_is_exact(ranges, v)) return false;
        for (uint32_t i = 0; i < op->operand_count; i++) {
            bool less = minus != (i && op->code == IR_SUB);
            if (!add_value(ranges, ir_operand(op, i), axes, less, depth + 1, line)) return false;
        }
        return true;
    default: break;
    }
    return false;
}

bool gpu_affine(const IrRanges *ranges, const IrValue *tile, GpuAffine *line) {
    AffineAxes axes;
    for (int d = 0; d < IR_MAX_RANK; d++) axes.of[d] = d;
    *line = (GpuAffine){.axis = -1};
    return add_value(ranges, tile, &axes, false, 0, line);
}
