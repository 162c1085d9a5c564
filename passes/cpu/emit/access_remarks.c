// Remarks for `tilec explain` on loads and stores on CPUs: element by element, or past the caches.
#include <stdio.h>

#include "passes/alias.h"
#include "passes/cpu/emit/access.h"

static const char *name_of(const Lower *l, const IrValue *array) {
    while (array->def && (array->def->code == IR_PTR_ADD || array->def->code == IR_BROADCAST))
        array = ir_operand(array->def, 0);
    for (size_t i = 0; i < l->func->params.count; i++)
        if (l->func->params.data[i].value == array) return l->func->params.data[i].name;
    return "a pointer";
}

static bool has_tile_index(const IrOp *op) {
    for (uint32_t i = ir_view_index_start(op->code); i < op->operand_count; i++)
        if (cpu_is_tile(ir_operand(op, i))) return true;
    return false;
}

static void remark_strided(const Lower *l, const IrOp *op, const char *what) {
    const IrValue *array = ir_operand(op, 0);
    Reason reason = REASON_ACCESS_APART;
    if (!alias_is_view_access(op))
        reason = REASON_ACCESS_POINTER;
    else if (has_tile_index(op))
        reason = REASON_ACCESS_INDEXED;
    else if (access_run(l, array) < 0)
        reason = REASON_ACCESS_STRIDED;
    remark(l->remarks, op->span, reason, what, REMARK((int64_t)dtype_size(array->type->elem)));
}

static void remark_lanes(const Lower *l, const IrOp *op, const AccessLanes *lanes) {
    bool load = op->code == IR_VIEW_LOAD || op->code == IR_LOAD;
    char what[96];
    snprintf(what, sizeof what, "%s of '%.64s'", load ? "load" : "store",
             name_of(l, ir_operand(op, 0)));
    if (lanes->vector && !lanes->neighbours) remark_strided(l, op, what);
    bool could =
        (l->facts & FACT_STREAM) && op->code == IR_VIEW_STORE && lanes->neighbours && !lanes->mask;
    if (could)
        remark(l->remarks, op->span,
               l->aligned[op->id] ? REASON_STORE_STREAMED : REASON_STORE_CACHED, what, REMARK(0));
}

IrBuilder *access_begin(Lower *l, Nest *nest, const IrOp *op, const AccessLanes *lanes,
                        uint8_t depth) {
    IrBuilder *b = nest_builder(nest, depth);
    b->span = op->span;
    if (l->remarks) remark_lanes(l, op, lanes);
    return b;
}
