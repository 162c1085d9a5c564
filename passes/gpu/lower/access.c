// Addresses within views: where the elements of a lane are, which of them are inside, and how many
// neighbours one access takes, up to 16 bytes.
#include "passes/gpu/lower/access.h"

// ---- facts about a view -------------------------------------------------------------------------

static IrValue *view_number(Threads *t, IrOpcode code, const IrValue *view, uint32_t dim) {
    IrValue *operand = (IrValue *)(uintptr_t)view;
    const IrType *type = ir_scalar(t->module, DTYPE_I64);
    IrOp *op = ir_op(&t->b, code, 1, &operand, 1, &type, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_DIM, dim);
    return ir_result(op, 0);
}

// Extents with the same name are one value, whichever view they come from.
static IrValue *view_extent(Threads *t, const IrValue *view, uint32_t dim) {
    const IrParam *param = &t->func->params.data[view->index];
    if (!param->dims[dim].extent) return threads_i64(t, param->dims[dim].value);
    return ir_extent(&t->b, param->dims[dim].extent);
}

// The strides of a view that has none of its own follow from its extents, and are the same for
// another view of these extents.
static IrValue *view_stride(Threads *t, const IrValue *view, uint32_t dim) {
    const IrParam *param = &t->func->params.data[view->index];
    if (param->strided) return view_number(t, IR_VEC_STRIDE, view, dim);
    IrValue *stride = threads_i64(t, 1);
    for (uint32_t d = view->type->rank; d-- > dim + 1;)
        stride = ir_binary(&t->b, IR_MUL, stride, view_extent(t, view, d));
    return stride;
}

static IrValue *view_data(Threads *t, const IrValue *view) {
    IrValue *operand = (IrValue *)(uintptr_t)view;
    Dtype elem = access_is_packed(view) ? DTYPE_U8 : view->type->elem;
    const IrType *type = ir_ptr(t->module, elem, 0, NULL);
    return ir_result(ir_op(&t->b, IR_VEC_DATA, 1, &operand, 1, &type, 0, NULL), 0);
}

// A u64 that is not an i64 is beyond every extent, whatever coordinates are added to it.
IrValue *access_i64(Threads *t, IrValue *x) {
    if (x->type->elem == DTYPE_I64) return x;
    if (x->type->elem == DTYPE_U64)
        x = ir_binary(&t->b, IR_MIN, x, ir_const_bits(&t->b, x->type, INT64_MAX));
    return ir_cast(&t->b, x, DTYPE_I64, false);
}

static void add_to(Threads *t, IrValue **sum, IrValue *x) {
    *sum = *sum ? ir_binary(&t->b, IR_ADD, *sum, x) : x;
}

static IrValue *index_const(Threads *t, const Selection *s, int64_t value) {
    return s->narrow ? threads_i32(t, value) : threads_i64(t, value);
}

static IrValue *as_number(Threads *t, const Selection *s, IrValue *x) {
    return s->narrow ? ir_cast(&t->b, x, DTYPE_I32, false) : access_i64(t, x);
}

// A sum of the selection's numbers as a number of elements: narrow sums are never negative.
static IrValue *as_distance(Threads *t, const Selection *s, IrValue *sum) {
    return s->narrow ? access_i64(t, ir_cast(&t->b, sum, DTYPE_U32, false)) : sum;
}

// ---- narrow selections --------------------------------------------------------------------------

static int64_t width_of(const Selection *s, const SelectionDim *dim) {
    return dim->axis >= 0 && s->layout ? layout_extent(s->layout, (uint32_t)dim->axis) : 1;
}

static bool may_be_narrow(const Threads *t, const IrOp *op, const Layout *layout) {
    const IrValue *view = ir_operand(op, 0);
    if (!(t->facts & FACT_NARROW) || access_is_packed(view)) return false;
    const int64_t *widths = ir_attr(op, IR_ATTR_SELECT)->u.ints.items;
    uint32_t axis = 0;
    for (uint32_t d = 0; d < view->type->rank; d++) {
        const IrValue *index = ir_operand(op, ir_view_index_start(op->code) + d);
        IrRange range = ir_range_of(t->ranges, index);
        if (index->type->rank || !range.known || range.min < 0) return false;
        if (widths[d] > 0 && layout && !threads_disjoint(layout, axis)) return false;
        axis += widths[d] > 0;
    }
    return true;
}

// Extents are below 2^31, so a start beyond that may be replaced by the greatest one that is not.
// Sums with it may be beyond 2^31, differences are not.
static void compare_from_start(Threads *t, const Selection *s, SelectionDim *dim, IrValue *start,
                               IrRange range) {
    int64_t width = width_of(s, dim);
    if (range.max <= INT32_MAX - width + 1) return;
    IrValue *least = start;
    if (range.max > INT32_MAX) {
        if (range.max <= UINT32_MAX) least = ir_cast(&t->b, start, DTYPE_U32, false);
        IrValue *most = ir_const_bits(&t->b, least->type, INT32_MAX);
        least = ir_binary(&t->b, IR_MIN, least, most);
    }
    dim->left = ir_binary(&t->b, IR_SUB, dim->extent, ir_cast(&t->b, least, DTYPE_I32, false));
    dim->coord = width > 1 ? threads_coord(t, s->layout, (uint32_t)dim->axis) : threads_i32(t, 0);
}

static int64_t group_of(const Threads *t, const IrValue *view, uint32_t d, uint64_t start) {
    enum { MOST = 1 << 16 };
    uint64_t both = access_extent_divisor(t, &t->func->params.data[view->index], d) | start | MOST;
    return (int64_t)(both & (0 - both));
}

// ---- a view op, dimension by dimension ----------------------------------------------------------

static SelectionDim dim_of(Threads *t, Selection *s, uint32_t d, int *axis, int *tile_axis) {
    const IrOp *op = s->op;
    const IrValue *view = ir_operand(op, 0);
    const IrValue *index = ir_operand(op, ir_view_index_start(op->code) + d);
    int64_t width = ir_attr(op, IR_ATTR_SELECT)->u.ints.items[d];
    SelectionDim r = {.axis = -1};
    IrRange range = ir_range_of(t->ranges, index);
    r.divisor = range.known ? range.divisor : 1;
    r.group = group_of(t, view, d, r.divisor);
    r.extent = as_number(t, s, view_extent(t, view, d));
    r.stride = as_number(t, s, view_stride(t, view, d));
    if (op->code != IR_VIEW_INSIDE) r.inside = ir_attr(op, IR_ATTR_INSIDE)->u.ints.items[d] != 0;
    IrValue *value = access_i64(t, threads_value(t, index));
    if (width > 0) {
        r.axis = (*axis)++;
    } else if (index->type->rank) {
        r.tile = value;
        r.tile_layout = index->type->layout;
        r.tile_rank = index->type->rank;
        if (*tile_axis < 0) {
            *tile_axis = *axis;
            *axis += (int)index->type->rank;
        }
        r.tile_axis = (uint32_t)*tile_axis;
        return r;
    }
    r.start = as_number(t, s, value);
    r.base = r.start;
    if (s->narrow && !r.inside) compare_from_start(t, s, &r, value, range);
    if (r.axis >= 0 && s->layout)
        r.base = ir_binary(&t->b, IR_ADD, r.start,
                           as_number(t, s, threads_coord(t, s->layout, (uint32_t)r.axis)));
    return r;
}

Selection access_select(Threads *t, const IrOp *op, const Layout *layout) {
    const IrValue *view = ir_operand(op, 0);
    Selection s = {.op = op, .layout = layout, .rank = view->type->rank};
    int axis = 0, tile_axis = -1;
    s.data = view_data(t, view);
    s.narrow = may_be_narrow(t, op, layout);
    IrValue *sum = NULL;
    for (uint32_t d = 0; d < s.rank; d++) {
        s.dims[d] = dim_of(t, &s, d, &axis, &tile_axis);
        SelectionDim *dim = &s.dims[d];
        if (dim->base) add_to(t, &sum, ir_binary(&t->b, IR_MUL, dim->base, dim->stride));
    }
    s.pointer = sum && !access_is_packed(view) ? ir_ptr_add(&t->b, s.data, as_distance(t, &s, sum))
                                               : s.data;
    return s;
}

// The register of an index tile that belongs to register `reg` of the value.
static uint32_t tile_register(const Selection *s, const SelectionDim *dim, uint32_t reg) {
    uint32_t wanted[IR_MAX_RANK];
    for (uint32_t k = 0; k < dim->tile_rank; k++) {
        wanted[k] = threads_offset(s->layout, reg, dim->tile_axis + k);
        if (layout_extent(dim->tile_layout, k) == 1) wanted[k] = 0;
    }
    uint32_t element = layout_element(dim->tile_layout, wanted);
    for (uint32_t r = 0; r < layout_size(dim->tile_layout, LAYOUT_REG); r++)
        if (layout_apply(dim->tile_layout, layout_at(r, 0, 0)) == element) return r;
    UNREACHABLE("no register of the index");
}

// The index on a dimension for a register; *offset is its distance from dim->base if that is a
// constant (else the result is the whole index and *offset is -1).
static IrValue *index_at(Threads *t, const Selection *s, const SelectionDim *dim, uint32_t reg,
                         int64_t *offset) {
    *offset = -1;
    if (dim->tile) return threads_get(t, dim->tile, tile_register(s, dim, reg));
    *offset = 0;
    if (dim->axis < 0 || !s->layout) return dim->base;
    uint32_t axis = (uint32_t)dim->axis;
    if (threads_disjoint(s->layout, axis)) {
        *offset = threads_offset(s->layout, reg, axis);
        return *offset ? ir_binary(&t->b, IR_ADD, dim->base, index_const(t, s, *offset))
                       : dim->base;
    }
    if (reg == 0) return dim->base;
    *offset = -1;
    IrValue *coord = access_i64(t, threads_coord_of(t, s->layout, axis, reg));
    return ir_binary(&t->b, IR_ADD, dim->start, coord);
}

// 0 <= index < extent, in one comparison.
static IrValue *is_inside(Threads *t, IrValue *index, IrValue *extent) {
    if (index->type->elem == DTYPE_I32) return ir_binary(&t->b, IR_LT, index, extent);
    IrValue *i = ir_cast(&t->b, index, DTYPE_U64, false);
    return ir_binary(&t->b, IR_LT, i, ir_cast(&t->b, extent, DTYPE_U64, false));
}

// Is the element of a register inside on a dimension? NULL: it is known to be.
static IrValue *mask_along(Threads *t, const Selection *s, const SelectionDim *dim, uint32_t reg) {
    int64_t offset;
    if (dim->inside) return NULL;
    IrValue *index = index_at(t, s, dim, reg, &offset);
    // Without the low bits that only the register determines, it is in the same group.
    if (offset > 0) {
        offset &= -dim->group;
        index = offset ? ir_binary(&t->b, IR_ADD, dim->base, index_const(t, s, offset)) : dim->base;
    }
    if (dim->left)
        index = offset ? ir_binary(&t->b, IR_ADD, dim->coord, threads_i32(t, offset)) : dim->coord;
    return is_inside(t, index, dim->left ? dim->left : dim->extent);
}

IrValue *access_mask(Threads *t, const Selection *s, uint32_t reg) {
    IrValue *mask = NULL;
    for (uint32_t d = 0; d < s->rank; d++)
        mask = access_both(t, mask, mask_along(t, s, &s->dims[d], reg));
    return mask;
}

static bool differs(const Selection *s, const SelectionDim *dim, const AccessRuns *r) {
    if (dim->tile) return true;
    if (dim->axis < 0) return false;
    uint32_t axis = (uint32_t)dim->axis, first = threads_offset(s->layout, r->registers[0], axis);
    for (uint32_t i = 1; i < r->count; i++)
        if (threads_offset(s->layout, r->registers[i * r->vector], axis) != first) return true;
    return false;
}

IrValue *access_mask_when(Threads *t, const Selection *s, const AccessRuns *r, uint32_t i,
                          IrValue *when) {
    for (int own = 0; own < 2; own++)
        for (uint32_t d = 0; d < s->rank; d++)
            if (differs(s, &s->dims[d], r) == own)
                when = access_both(t, when,
                                   mask_along(t, s, &s->dims[d], r->registers[i * r->vector]));
    return when;
}

IrValue *access_pointer(Threads *t, const Selection *s, uint32_t reg) {
    IrValue *sum = NULL;
    int64_t plain = 0;  // along dimensions whose stride is known to be one
    for (uint32_t d = 0; d < s->rank; d++) {
        const SelectionDim *dim = &s->dims[d];
        int64_t offset;
        IrValue *index = index_at(t, s, dim, reg, &offset);
        bool last = d + 1 == s->rank;
        const IrParam *param = &t->func->params.data[ir_operand(s->op, 0)->index];
        if (offset >= 0 && last && !param->strided) {
            plain = offset;
            continue;
        }
        if (offset == 0) continue;
        IrValue *by = offset > 0  ? index_const(t, s, offset)
                      : dim->base ? ir_binary(&t->b, IR_SUB, index, dim->base)
                                  : index;
        add_to(t, &sum, ir_binary(&t->b, IR_MUL, by, dim->stride));
    }
    IrValue *p = sum ? ir_ptr_add(&t->b, s->pointer, as_distance(t, s, sum)) : s->pointer;
    return plain ? ir_ptr_add(&t->b, p, threads_i64(t, plain)) : p;
}

IrValue *access_number(Threads *t, const Selection *s, uint32_t reg) {
    IrValue *sum = NULL;
    for (uint32_t d = 0; d < s->rank; d++) {
        int64_t offset;
        IrValue *index = index_at(t, s, &s->dims[d], reg, &offset);
        add_to(t, &sum, ir_binary(&t->b, IR_MUL, index, s->dims[d].stride));
    }
    return sum ? as_distance(t, s, sum) : threads_i64(t, 0);
}

// ---- how wide -----------------------------------------------------------------------------------

static uint64_t extent_divisor(const IrFunc *f, const IrParam *param, uint32_t d) {
    if (!param->dims[d].extent) return (uint64_t)param->dims[d].value;
    const IrExtent *extent = ir_extent_find(f, param->dims[d].extent);
    return extent && extent->facts.divisor ? extent->facts.divisor : 1;
}

uint64_t access_extent_divisor(const Threads *t, const IrParam *param, uint32_t d) {
    return extent_divisor(t->func, param, d);
}

static uint64_t index_divisor(const IrRanges *ranges, const IrOp *op, uint32_t d) {
    IrRange range = ir_range_of(ranges, ir_operand(op, ir_view_index_start(op->code) + d));
    return range.known ? range.divisor : 1;
}

// The known facts about the memory along the last dimension; *memory is zeroed if no lane's
// neighbours are neighbours there.
static uint32_t vector_of(const IrFunc *f, unsigned facts, const IrRanges *ranges, const IrOp *op,
                          const Layout *l, LayoutMemory *memory) {
    const IrValue *view = ir_operand(op, 0);
    const IrParam *param = &f->params.data[view->index];
    uint32_t bytes = (uint32_t)dtype_size(view->type->elem), last = view->type->rank - 1;
    *memory = (LayoutMemory){0};
    if (!l || ir_attr(op, IR_ATTR_SELECT)->u.ints.items[last] <= 0) return 1;
    uint32_t axis = l->rank - 1u;
    if (param->strided || view->type->elem == DTYPE_BOOL || !threads_disjoint(l, axis)) return 1;
    bool wide = (facts & FACT_WIDE) != 0;
    uint64_t row = extent_divisor(f, param, last), base = param->facts.divisor;
    bool named = param->dims[last].extent != NULL;
    if (wide && named && row % (GPU_ACCESS_BYTES / bytes)) row *= GPU_ACCESS_BYTES / bytes;
    if (wide && base < GPU_ACCESS_BYTES) base = GPU_ACCESS_BYTES;
    bool inside = ir_attr(op, IR_ATTR_INSIDE)->u.ints.items[last] != 0;
    *memory = (LayoutMemory){.element_bytes = bytes,
                             .fast_axis = axis,
                             .base_divisor = base ? base : 1,
                             .stride_divisor = last ? row : 0,
                             .edge_divisor = inside ? 0 : row,
                             .max_bytes = GPU_ACCESS_BYTES};
    // The start on the fast axis shifts both the address and the edge.
    uint64_t divisor = index_divisor(ranges, op, last), start = divisor * bytes;
    if (start && memory->base_divisor > (start & (0 - start)))
        memory->base_divisor = start & (0 - start);
    if (memory->edge_divisor && divisor < memory->edge_divisor)
        memory->edge_divisor = divisor & (0 - divisor);
    return layout_vector(l, memory);
}

uint32_t gpu_view_vector(const IrFunc *f, unsigned facts, const IrRanges *ranges, const IrOp *op,
                         const Layout *l) {
    LayoutMemory memory;
    return vector_of(f, facts, ranges, op, l, &memory);
}

uint32_t access_vector(Threads *t, const Selection *s) {
    LayoutMemory memory;
    uint32_t vector = vector_of(t->func, t->facts, t->ranges, s->op, s->layout, &memory);
    access_remarks(t, s, &memory, vector);
    return vector;
}

// ---- walking the registers ----------------------------------------------------------------------

// Accesses in order of their first register, each register once.
AccessRuns access_runs(Threads *t, const Layout *l, uint32_t axis, uint32_t vector) {
    uint32_t total = l ? layout_size(l, LAYOUT_REG) : 1, steps[LAYOUT_MAX_BITS] = {0};
    AccessRuns r = {.vector = vector, .registers = arena_new(t->scratch, uint32_t, total)};
    bool *taken = arena_new(t->scratch, bool, total);
    if (vector > 1) CHECK(layout_run_registers(l, axis, vector, steps), "no runs of %u", vector);
    for (uint32_t reg = 0; reg < total; reg++) {
        if (taken[reg]) continue;
        for (uint32_t i = 0; i < vector; i++) {
            uint32_t at = reg;
            for (uint32_t bit = 0; bit < 16; bit++)
                if (i >> bit & 1) at ^= steps[bit];
            taken[at] = true;
            r.registers[r.count * vector + i] = at;
        }
        r.count++;
    }
    return r;
}

// ---- views --------------------------------------------------------------------------------------

// Accesses concatenate to a vector in memory order; this puts it into the order of the registers.
IrValue *access_in_order(Threads *t, const AccessRuns *r, IrValue *const *parts) {
    uint32_t total = r->count * r->vector, *where = arena_new(t->scratch, uint32_t, total);
    for (uint32_t i = 0; i < total; i++) where[r->registers[i]] = i;
    return threads_pick(t, threads_pack(t, r->count, parts), total, where);
}

IrValue *access_both(Threads *t, IrValue *a, IrValue *b) {
    return !a ? b : !b ? a : ir_binary(&t->b, IR_AND, a, b);
}

// A scalar belongs to the program: thread 0 writes it.
IrValue *access_owner(Threads *t, const Layout *l) {
    if (l) return threads_owner(t, l);
    return ir_binary(&t->b, IR_EQ, t->thread, threads_i32(t, 0));
}
