// The remarks of `tilec explain` about accesses: how wide they are and why not wider, which memory
// they touch, which bounds are checked.
#include <stdio.h>

#include "passes/gpu/lower/access.h"

enum { SECTOR = 32 };

typedef struct AccessRemarks {
    Remarks *remarks;
    const Selection *s;
    const IrParam *param;
    const char *what;  // "load of x"
    uint32_t size;     // of an element, in bytes
    uint32_t vector;
} AccessRemarks;

static void add_remark(const AccessRemarks *x, Reason reason, RemarkNumbers numbers) {
    remark(x->remarks, x->s->op->span, reason, x->what, numbers);
}

static uint64_t lowest_bit(uint64_t x) { return x & (0 - x); }

// ---- why no wider -------------------------------------------------------------------------------

// The widest access, in bytes, that a divisor (0: of everything) allows.
static uint64_t allowed(uint64_t divisor, uint64_t unit) {
    uint64_t bit = lowest_bit(divisor);
    return bit && bit < GPU_ACCESS_BYTES ? bit * unit : UINT64_MAX;
}

static void remark_unaligned(const AccessRemarks *x, const LayoutMemory *memory, uint32_t most) {
    const SelectionDim *last = &x->s->dims[x->s->rank - 1];
    uint64_t start = allowed(last->divisor, x->size);
    uint64_t rows = allowed(memory->stride_divisor, x->size);
    uint64_t base = allowed(memory->base_divisor, 1), edge = memory->edge_divisor;
    RemarkNumbers numbers = REMARK((int64_t)x->vector * x->size, most);
    if (start < most && start <= rows)
        add_remark(x, REASON_ACCESS_START, numbers);
    else if (rows < most || (edge && allowed(edge, x->size) < most))
        add_remark(x, REASON_ACCESS_ROWS, numbers);
    else if (base < most)
        add_remark(x, REASON_ACCESS_BASE, numbers);
}

// The contiguous bytes that a lane holds, up to an access.
static uint32_t most_bytes(const AccessRemarks *x) {
    int axis = x->s->dims[x->s->rank - 1].axis;
    uint32_t most = axis < 0 ? x->size : layout_contiguity(x->s->layout, (uint32_t)axis) * x->size;
    return most < GPU_ACCESS_BYTES ? most : GPU_ACCESS_BYTES;
}

// All bytes that a lane holds, counting each element once.
static uint32_t held_bytes(const AccessRemarks *x) {
    const Layout *l = x->s->layout;
    uint32_t copies = 1u << __builtin_popcount(layout_free_bits(l, LAYOUT_REG));
    return layout_size(l, LAYOUT_REG) / copies * x->size;
}

// Does neither the tile along the innermost dimension nor the lane have more than one access?
static bool is_small(const AccessRemarks *x, uint32_t width) {
    uint32_t axis = (uint32_t)x->s->dims[x->s->rank - 1].axis;
    return held_bytes(x) <= width || layout_extent(x->s->layout, axis) * x->size <= width;
}

static void remark_width(const AccessRemarks *x, const LayoutMemory *memory) {
    const SelectionDim *last = &x->s->dims[x->s->rank - 1];
    uint32_t width = x->vector * x->size, most = most_bytes(x);
    if (width >= GPU_ACCESS_BYTES || ir_operand(x->s->op, 0)->type->elem == DTYPE_BOOL) return;
    if (x->param->strided) {
        add_remark(x, REASON_ACCESS_STRIDED, REMARK(x->size));
    } else if (last->axis < 0) {
        if (last->tile) add_remark(x, REASON_ACCESS_INDEXED, REMARK(x->size));
    } else if (most > width) {
        remark_unaligned(x, memory, most);
    } else if (!is_small(x, width)) {
        add_remark(x, REASON_ACCESS_LAYOUT, REMARK(width, held_bytes(x)));
    } else {
        add_remark(x, REASON_ACCESS_SMALL, REMARK(width, layout_elements(x->s->layout)));
    }
}

// ---- sectors ------------------------------------------------------------------------------------

// The start of rows is known at launch only: here they are far apart, at multiples of a sector.
static bool strides_of(const AccessRemarks *x, int64_t *strides) {
    int64_t step = x->size;
    for (uint32_t d = x->s->rank; d-- > 0;) {
        const SelectionDim *dim = &x->s->dims[d];
        if (dim->tile) return false;
        if (dim->axis >= 0) strides[dim->axis] = step;
        bool fixed = !x->param->dims[d].extent;
        step *= fixed ? x->param->dims[d].value : INT64_C(1) << 14;
    }
    return true;
}

static void remark_sectors(const AccessRemarks *x) {
    const Layout *l = x->s->layout;
    int64_t strides[IR_MAX_RANK] = {0};
    if (x->param->strided || !strides_of(x, strides)) return;
    int axis = x->s->dims[x->s->rank - 1].axis;
    uint32_t fast = axis < 0 ? 0 : (uint32_t)axis;
    uint32_t sectors = layout_sectors(l, 0, 0, x->vector, fast, x->size, 0, strides);
    uint32_t copies = 1u << __builtin_popcount(layout_free_bits(l, LAYOUT_LANE));
    uint32_t bytes = layout_size(l, LAYOUT_LANE) / copies * x->vector * x->size;
    uint32_t ideal = (bytes + SECTOR - 1) / SECTOR;
    add_remark(x, REASON_ACCESS, REMARK(x->vector * x->size, sectors, ideal));
    // After a narrow access, the following ones touch the rest of its sectors.
    if (sectors > ideal && x->vector * x->size >= most_bytes(x))
        add_remark(x, REASON_ACCESS_SCATTERED, REMARK(sectors, ideal));
}

// ---- all ----------------------------------------------------------------------------------------

static const char *verb_of(const IrOp *op) {
    if (op->code == IR_VIEW_LOAD || op->code == IR_LOAD) return "load";
    return op->code == IR_VIEW_STORE || op->code == IR_STORE ? "store" : "atomic";
}

void access_remarks(const Threads *t, const Selection *s, const LayoutMemory *memory,
                    uint32_t vector) {
    if (!t->remarks || !s->layout) return;
    const IrValue *view = ir_operand(s->op, 0);
    char what[96];
    AccessRemarks x = {.remarks = t->remarks, .s = s, .what = what, .vector = vector};
    x.param = &t->func->params.data[view->index];
    x.size = (uint32_t)dtype_size(view->type->elem);
    snprintf(what, sizeof what, "%s of '%.64s'", verb_of(s->op), x.param->name);
    remark_width(&x, memory);
    remark_sectors(&x);
    for (uint32_t d = 0; d < s->rank; d++)
        if (!s->dims[d].inside && (s->dims[d].axis >= 0 || s->dims[d].tile))
            add_remark(&x, REASON_MASK_KEPT, REMARK(d));
}

void access_remarks_pointer(const Threads *t, const IrOp *op) {
    const IrType *type = ir_operand(op, 0)->type;
    if (!t->remarks || !type->rank) return;
    remark(t->remarks, op->span, REASON_ACCESS_POINTER, verb_of(op),
           REMARK((int64_t)dtype_size(type->elem)));
}
