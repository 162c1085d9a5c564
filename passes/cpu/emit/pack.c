// Operands of products in memory: copied, converted and laid out for the loops of dot.c.
#include "passes/cpu/emit/dot.h"
#include "passes/cpu/emit/transpose.h"
#include "passes/cpu/tuning.h"

IrValue *dot_scratch(Lower *l, Dtype elem, uint64_t count) {
    const IrType *pointer = ir_ptr(l->module, elem, 0, NULL);
    IrOp *op = ir_op(&l->top, IR_CPU_SCRATCH, 0, NULL, 1, &pointer, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_ELEM, elem);
    ir_attr_set_int(op, IR_ATTR_COUNT, (int64_t)count);
    return ir_result(op, 0);
}

static uint32_t at_most(uint32_t x, uint32_t limit) { return x < limit ? x : limit; }

// ---- the layout of an operand in memory ---------------------------------------------------------

// Are the tile's neighbours in memory along its last dimension but one? Looks for the load through
// conversions and permutations.
static bool is_column_major(Lower *l, const IrValue *tile) {
    uint32_t last = tile->type->rank - 1, dim = last;
    for (const IrOp *op = tile->def; op; op = ir_operand(op, 0)->def) {
        if (lower_tile(l, &op->results[0])->in_memory) return dim != last;
        IrRule rule = ir_op_info(op->code)->rule;
        if (op->code == IR_PERMUTE) {
            // Which of our dimensions is the operand's last one?
            const IrAttr *perm = ir_attr(op, IR_ATTR_PERM);
            if (perm->u.ints.count != tile->type->rank) return false;
            if (dim != last) return false;
            for (uint32_t d = 0; d <= last; d++)
                if (perm->u.ints.items[d] == (int64_t)last) dim = d;
            continue;
        }
        if (op->code == IR_VIEW_LOAD || op->code == IR_LOAD) return last > 0 && dim == last - 1;
        if (rule != IR_RULE_UNARY && rule != IR_RULE_CAST && rule != IR_RULE_BITCAST) return false;
    }
    return false;
}

// ---- copying ------------------------------------------------------------------------------------

// A copy of a tile's matrix: coordinate 0 has the stride `step[0]`, coordinate 1 `step[1]`; the
// lanes' elements are neighbours.
typedef struct MatrixCopy {
    IrValue *to;
    bool flip;  // bytes are shifted by 128
    int64_t step[2];
    LanePlace place;  // the two coordinates, in loops of the nest
} MatrixCopy;

static IrValue *flip_bytes(IrBuilder *b, IrValue *x, Dtype to) {
    x = ir_binary(b, IR_XOR, x, ir_const_bits(b, x->type, 128));
    return ir_bitcast(b, x, ir_with_elem(b->module, x->type, to));
}

static void store_copy(Lower *l, Nest *nest, NestValue x, void *user) {
    (void)l;
    const MatrixCopy *copy = user;
    IrBuilder *b = nest_builder(nest, nest->depth);
    IrValue *value = value_splat(nest, x).value;
    Dtype elem = copy->to->type->elem;
    if (copy->flip) value = flip_bytes(b, value, elem);
    if (value->type->elem != elem) value = ir_cast(b, value, elem, true);
    IrValue *linear = lower_i64(b, 0);
    for (uint32_t d = 0; d < 2; d++) {
        IrValue *c = nest_coord(nest, copy->place.at[d]).value;
        linear = lower_add(b, linear, lower_mul(b, c, lower_i64(b, copy->step[d])));
    }
    dot_store(b, ir_ptr_add(b, copy->to, linear), value);
}

typedef struct DotMatrix {
    IrValue *tile;
    IrValue *item;      // of the batch; NULL: none
    IrValue *limit[2];  // NULL: no limit
    uint32_t lane;      // the coordinate that is packed in vectors
    uint32_t lanes;
    bool flip;
} DotMatrix;

static void copy_as_known(Lower *l, const IrBuilder *b, const DotMatrix *m, IrValue *to,
                          int64_t step_0, int64_t step_1) {
    uint32_t rank = m->tile->type->rank, first = rank - 2;
    MatrixCopy copy = {.to = to, .flip = m->flip, .step = {step_0, step_1}, .place = {.rank = 2}};
    Pack pack = {.tile = m->tile, .rank = 2, .place = {.rank = rank}, .lane = m->lane};
    pack.lanes = m->lanes;
    for (uint32_t d = 0; d < 2; d++) {
        pack.shape[d] = m->tile->type->shape[first + d];
        pack.limit[d] = m->limit[d];
        bool loop = pack.shape[d] > 1 || d == m->lane;
        copy.place.at[d] = (Coord){loop ? COORD_LOOP : COORD_ZERO, (uint8_t)d, 0, NULL};
        pack.place.at[first + d] = copy.place.at[d];
    }
    if (m->item) pack.place.at[0] = (Coord){COORD_VALUE, 0, 0, m->item};
    pack.store = store_copy;
    pack.user = &copy;
    nest_pack(l, b, &pack);
}

// The load that the tile comes from, possibly converted or permuted; NULL: it comes from elsewhere.
static const IrOp *load_of(Lower *l, const IrValue *tile) {
    for (const IrOp *op = tile->def; op; op = ir_operand(op, 0)->def) {
        if (lower_tile(l, &op->results[0])->in_memory) return NULL;
        if (op->code == IR_VIEW_LOAD) return op;
        IrRule rule = ir_op_info(op->code)->rule;
        if (op->code != IR_PERMUTE && rule != IR_RULE_UNARY && rule != IR_RULE_CAST) return NULL;
    }
    return NULL;
}

// The view that the tile is loaded from, if it may be a matrix and its strides are unknown:
// neighbours may be along either of its last dimensions.
static IrValue *unknown_matrix(Lower *l, const IrValue *tile) {
    const IrOp *load = load_of(l, tile);
    IrValue *view = load ? ir_operand(load, 0) : NULL;
    bool unknown = view && access_run(l, view) < 0 && view->type->rank >= 2;
    return unknown && dtype_bits(view->type->elem) >= 8 ? view : NULL;
}

typedef struct CopyTarget {
    IrValue *to;
    int64_t step[2];
} CopyTarget;

// Three copies: for neighbours along the last dimension, along the last but one, and along neither.
static void copy_as_found(Lower *l, IrBuilder *b, const DotMatrix *m, const CopyTarget *t,
                          IrValue *view, uint32_t dim) {
    IrValue *one = access_has_stride_1(b, view, dim);
    IrBlock *regions[2] = {ir_block_create(b->func), ir_block_create(b->func)};
    IrBuilder known = ir_builder_at_end(regions[0]), other = ir_builder_at_end(regions[1]);
    known.span = other.span = b->span;
    l->assumed.view = view;
    l->assumed.dim = dim;
    copy_as_known(l, &known, m, t->to, t->step[0], t->step[1]);
    l->assumed.view = NULL;
    ir_yield(&known, 0, NULL);
    if (dim + 1 == view->type->rank)
        copy_as_found(l, &other, m, t, view, dim - 1);
    else
        copy_as_known(l, &other, m, t->to, t->step[0], t->step[1]);
    ir_yield(&other, 0, NULL);
    ir_op(b, IR_IF, 1, &one, 0, NULL, 2, regions);
}

static void copy_matrix(Lower *l, IrBuilder *b, const DotMatrix *m, IrValue *to, int64_t step_0,
                        int64_t step_1) {
    IrValue *view = unknown_matrix(l, m->tile);
    CopyTarget t = {to, {step_0, step_1}};
    if (view)
        copy_as_found(l, b, m, &t, view, view->type->rank - 1);
    else
        copy_as_known(l, b, m, to, step_0, step_1);
}

// Two registers of the wider type.
static uint32_t copy_lanes(const Lower *l, const IrValue *tile, Dtype part, uint32_t extent) {
    uint32_t from = (uint32_t)dtype_size(tile->type->elem), size = (uint32_t)dtype_size(part);
    return at_most(extent,
                   l->machine->vector_bytes / (size < from ? from : size) * TUNE_COPY_REGISTERS);
}

// ---- in place -----------------------------------------------------------------------------------

// Is the operand in a buffer already, with the right type?
static bool is_in_buffer(Lower *l, const IrValue *tile, Dtype part) {
    const TileState *t = lower_tile(l, tile);
    return t->in_memory && !t->pending && tile->type->elem == part;
}

static DotOperand buffer_operand(Lower *l, const Dot *d, IrBuilder *b, const IrValue *tile,
                                 uint32_t across) {
    TileBuffer buffer = lower_buffer_of(l, tile);
    uint32_t first = tile->type->rank - 2;
    IrValue *data = buffer.data;
    if (d->item) data = ir_ptr_add(b, data, lower_mul(b, d->item, lower_i64(b, buffer.step[0])));
    return (DotOperand){data, lower_i64(b, buffer.step[first + across]),
                        lower_i64(b, buffer.step[first + 1 - across])};
}

// ---- a ------------------------------------------------------------------------------------------

// Rows at a distance of a large power of two would map to the same cache sets.
static int64_t step_along(Dtype part, uint32_t depth) {
    int64_t size = (int64_t)dtype_size(part), bytes = size * depth;
    return bytes < TUNE_FAR_ROWS_BYTES ? depth : (bytes + CPU_LINE_BYTES) / size;
}

// Are the rows in a view already, with the right type?
static bool rows_are_in_view(Lower *l, const Dot *d, const IrValue *tile, Dtype part) {
    return !d->item && tile->def && tile->type->elem == part && !lower_tile(l, tile)->in_memory &&
           access_is_whole(l, tile->def);
}

// Neighbouring rows, at a distance of `step` elements.
typedef struct DotRows {
    IrValue *data, *step;
} DotRows;

// Rows at a distance of whole pages map to the same cache sets.
static IrValue *sets_differ(IrBuilder *b, IrValue *step, Dtype part) {
    IrValue *rest =
        ir_binary(b, IR_AND, step, lower_i64(b, TUNE_PAGE_BYTES / (int64_t)dtype_size(part) - 1));
    return ir_binary(b, IR_NE, rest, lower_i64(b, 0));
}

// The rows in place if all of them are inside, otherwise a copy. `again`: they are read often.
static DotRows rows_in_place_or_copy(Lower *l, IrBuilder *b, const DotMatrix *m, IrValue *to,
                                     int64_t step, bool again) {
    WholeMatrix whole = access_whole(l, b, m->tile->def);
    if (again)
        whole.inside = lower_and(b, whole.inside, sets_differ(b, whole.step[0], to->type->elem));
    if (!whole.inside) return (DotRows){whole.pointer, whole.step[0]};
    IrBlock *regions[2] = {ir_block_create(b->func), ir_block_create(b->func)};
    IrBuilder stay = ir_builder_at_end(regions[0]), copy = ir_builder_at_end(regions[1]);
    stay.span = copy.span = b->span;
    ir_yield(&stay, 2, (IrValue *[]){whole.pointer, whole.step[0]});
    copy_matrix(l, &copy, m, to, step, 1);
    ir_yield(&copy, 2, (IrValue *[]){to, lower_i64(&copy, step)});
    const IrType *types[2] = {to->type, whole.step[0]->type};
    IrOp *op = ir_op(b, IR_IF, 1, &whole.inside, 2, types, 2, regions);
    return (DotRows){ir_result(op, 0), ir_result(op, 1)};
}

// Tile registers can read rows at any distance.
static void rows_for_tiles(Lower *l, Dot *d, IrBuilder *b, IrValue *tile) {
    DotMatrix m = {.tile = tile, .limit = {d->row_end, d->depth_end}, .lane = 1};
    m.lanes = copy_lanes(l, tile, d->form.part_a, d->form.k);
    int64_t step = step_along(d->form.part_a, d->form.k);
    IrValue *to = dot_scratch(l, d->form.part_a, (uint64_t)step * d->form.m);
    DotRows rows = rows_in_place_or_copy(l, b, &m, to, step, true);
    d->a = (DotOperand){rows.data, rows.step, lower_i64(b, 1)};
}

void dot_pack_a(Lower *l, Dot *d, IrBuilder *b) {
    IrValue *tile = ir_operand(d->op, 0);
    if (is_in_buffer(l, tile, d->form.part_a)) {
        d->a = buffer_operand(l, d, b, tile, 0);
        return;
    }
    if (d->form.tiles && rows_are_in_view(l, d, tile, d->form.part_a)) {
        rows_for_tiles(l, d, b, tile);
        return;
    }
    bool transposed = d->form.group == 1 && (is_column_major(l, tile) || d->form.k < d->form.m / 8);
    int64_t across = transposed ? 1 : step_along(d->form.part_a, d->form.k),
            step = transposed ? d->form.m : 1;
    d->a.data = dot_scratch(l, d->form.part_a,
                            (uint64_t)(transposed ? step * d->form.k : across * d->form.m));
    d->a.across = lower_i64(b, across);
    d->a.step = lower_i64(b, step);
    DotMatrix m = {.tile = tile,
                   .item = d->item,
                   .limit = {d->row_end, d->depth_end},
                   .flip = d->form.flipped};
    m.lane = transposed ? 0 : 1;
    m.lanes = copy_lanes(l, tile, d->form.part_a, transposed ? d->form.m : d->form.k);
    copy_matrix(l, b, &m, d->a.data, across, step);
}

// ---- b ------------------------------------------------------------------------------------------

static void panels_of_b(Lower *l, Dot *d, IrBuilder *b, IrValue *to) {
    DotMatrix m = {
        .tile = ir_operand(d->op, 1), .item = d->item, .limit = {d->depth_end, d->column_end}};
    m.lane = 1;
    m.lanes = dot_columns(&d->form);
    copy_matrix(l, b, &m, to, dot_columns(&d->form), d->form.k);
}

static bool can_stay_in_place(Lower *l, const Dot *d, const IrValue *tile) {
    return d->form.group == 1 && rows_are_in_view(l, d, tile, d->form.part_b);
}

bool dot_b_in_place(Lower *l, const Dot *d, IrBuilder *b, DotOperand *there, IrValue **inside) {
    IrValue *tile = ir_operand(d->op, 1);
    if (!can_stay_in_place(l, d, tile)) return false;
    WholeMatrix whole = access_whole(l, b, tile->def);
    *there = (DotOperand){whole.pointer, lower_i64(b, 1), whole.step[0]};
    *inside = whole.inside;
    return true;
}

// Rows are close if the tile fills at least half of its memory range: a copy would not be better.
static IrValue *are_close(IrBuilder *b, IrValue *step, uint32_t extent) {
    return ir_binary(b, IR_LE, step, lower_i64(b, TUNE_CLOSE_ROWS * (int64_t)extent));
}

// With few rows of a, a copy of b does not pay.
static void b_in_place_or_panels(Lower *l, Dot *d, IrBuilder *b, IrValue *panels) {
    DotOperand place;
    IrValue *inside;
    CHECK(dot_b_in_place(l, d, b, &place, &inside), "b has no place");
    IrValue *few = ir_binary(b, IR_LE, d->row_end, lower_i64(b, d->form.block.rows));
    few = ir_binary(b, IR_OR, few, are_close(b, place.step, d->form.n));
    IrValue *condition = lower_and(b, inside, few);
    IrBlock *regions[2] = {ir_block_create(b->func), ir_block_create(b->func)};
    IrBuilder stay = ir_builder_at_end(regions[0]), copy = ir_builder_at_end(regions[1]);
    stay.span = copy.span = b->span;
    IrValue *there[3] = {place.data, place.across, place.step};
    ir_yield(&stay, 3, there);
    panels_of_b(l, d, &copy, panels);
    IrValue *packed[3] = {panels, lower_i64(&copy, d->form.k),
                          lower_i64(&copy, dot_columns(&d->form))};
    ir_yield(&copy, 3, packed);
    const IrType *types[3] = {panels->type, packed[1]->type, packed[2]->type};
    IrOp *op = ir_op(b, IR_IF, 1, &condition, 3, types, 2, regions);
    d->b = (DotOperand){ir_result(op, 0), ir_result(op, 1), ir_result(op, 2)};
}

// The rows of b one after the other, not in panels.
static DotOperand rows_of_b(Lower *l, Dot *d, IrBuilder *b) {
    IrValue *tile = ir_operand(d->op, 1);
    if (is_in_buffer(l, tile, d->form.part_b)) return buffer_operand(l, d, b, tile, 1);
    IrValue *rows = dot_scratch(l, d->form.part_b, (uint64_t)d->form.k * d->form.n);
    DotMatrix m = {
        .tile = tile, .item = d->item, .limit = {d->depth_end, d->column_end}, .lane = 1};
    m.lanes = copy_lanes(l, tile, d->form.part_b, d->form.n);
    if (rows_are_in_view(l, d, tile, d->form.part_b)) {
        DotRows there = rows_in_place_or_copy(l, b, &m, rows, d->form.n, false);
        return (DotOperand){there.data, lower_i64(b, 1), there.step};
    }
    copy_matrix(l, b, &m, rows, d->form.n, 1);
    return (DotOperand){rows, lower_i64(b, 1), lower_i64(b, d->form.n)};
}

static IrBuilder open_for(IrBuilder *b, IrValue *end, int64_t step, IrValue **variable) {
    IrOp *loop = lower_for(b, lower_i64(b, 0), end, step, 0, NULL);
    IrBuilder inside = ir_builder_at_end(loop->regions[0]);
    inside.span = b->span;
    *variable = loop->regions[0]->args[0];
    return inside;
}

// Interleaves the rows of a group along k: element i of row r goes to place i * group + r.
static void interleave_rows(Lower *l, const Dot *d, IrBuilder *b, IrValue *from, IrValue *step,
                            IrValue *to) {
    uint32_t lanes = d->form.block.lanes, count = lanes;
    IrValue *row[4];
    for (uint32_t r = 0; r < d->form.group; r++) {
        IrValue *by = lower_mul(b, lower_i64(b, r), step);
        row[r] = dot_load(l, b, ir_ptr_add(b, from, by), lanes);
    }
    int64_t *places = arena_new(l->scratch, int64_t, (size_t)lanes * d->form.group);
    // Rows 0 and 2, 1 and 3 first, so that the last step makes neighbours adjacent.
    for (uint32_t width = d->form.group / 2; width >= 1; width /= 2) {
        for (uint32_t i = 0; i < count; i++) {
            places[2 * i] = i;
            places[2 * i + 1] = count + i;
        }
        for (uint32_t r = 0; r < width; r++)
            row[r] = dot_shuffle(l, b, row[r], row[r + width], 2 * count, places);
        count *= 2;
    }
    dot_store(b, to, row[0]);
}

static void interleaved_panels(Lower *l, Dot *d, IrBuilder *b, DotOperand rows, IrValue *panels) {
    IrValue *k, *j;
    IrBuilder outer = open_for(b, d->depth_end, d->form.group, &k);
    IrBuilder inside = open_for(&outer, d->column_end, dot_columns(&d->form), &j);
    IrValue *from = lower_add(&inside, lower_mul(&inside, k, rows.step), j);
    IrValue *to = lower_add(&inside, lower_mul(&inside, j, lower_i64(&inside, d->form.k)),
                            lower_mul(&inside, k, lower_i64(&inside, dot_columns(&d->form))));
    for (uint32_t v = 0; v < d->form.block.vectors; v++) {
        IrValue *by = lower_i64(&inside, v * d->form.block.lanes);
        IrValue *there = lower_i64(&inside, v * d->form.block.lanes * d->form.group);
        interleave_rows(l, d, &inside, ir_ptr_add(&inside, rows.data, lower_add(&inside, from, by)),
                        rows.step, ir_ptr_add(&inside, panels, lower_add(&inside, to, there)));
    }
    ir_yield(&inside, 0, NULL);
    ir_yield(&outer, 0, NULL);
}

// ---- b transposed: neighbours in memory are along its columns -----------------------------------

// Copies columns, which are `step` elements apart, into panels.
static void transposed_panels(Lower *l, Dot *d, IrBuilder *b, IrValue *columns, IrValue *step,
                              IrValue *panels) {
    enum { MOST = 64 };
    uint32_t units = d->form.block.lanes, wide = dot_columns(&d->form);
    CHECK(units <= MOST, "%u lanes", units);
    IrValue *n, *k, *row[MOST];
    IrBuilder outer = open_for(b, d->column_end, units, &n);
    IrBuilder in = open_for(&outer, d->depth_end, (int64_t)units * d->form.group, &k);
    IrValue *from = lower_add(&in, lower_mul(&in, n, step), k);
    for (uint32_t r = 0; r < units; r++) {
        IrValue *at = lower_add(&in, from, lower_mul(&in, lower_i64(&in, r), step));
        row[r] = dot_load(l, &in, ir_ptr_add(&in, columns, at), units * d->form.group);
    }
    transpose_exchange(l, &in, row, units, d->form.group);
    IrValue *panel = ir_binary(&in, IR_AND, n, lower_i64(&in, -(int64_t)wide));
    IrValue *rest = ir_binary(&in, IR_SUB, n, panel);
    IrValue *to = lower_add(&in, lower_mul(&in, panel, lower_i64(&in, d->form.k)),
                            lower_mul(&in, k, lower_i64(&in, wide)));
    to = lower_add(&in, to, lower_mul(&in, rest, lower_i64(&in, d->form.group)));
    for (uint32_t r = 0; r < units; r++) {
        IrValue *by = lower_i64(&in, (int64_t)r * wide * d->form.group);
        dot_store(&in, ir_ptr_add(&in, panels, lower_add(&in, to, by)), row[r]);
    }
    ir_yield(&in, 0, NULL);
    ir_yield(&outer, 0, NULL);
}

static bool transposes_blocks(const Dot *d) {
    return d->form.block.lanes > 1 && d->form.k >= d->form.block.lanes * d->form.group;
}

// The columns, copied or in place.
typedef struct DotColumns {
    IrValue *data, *step;
} DotColumns;

static DotColumns copy_columns(Lower *l, const Dot *d, IrBuilder *b, IrValue *to) {
    IrValue *tile = ir_operand(d->op, 1);
    int64_t step = step_along(d->form.part_b, d->form.k);
    DotMatrix m = {
        .tile = tile, .item = d->item, .limit = {d->depth_end, d->column_end}, .lane = 0};
    m.lanes = copy_lanes(l, tile, d->form.part_b, d->form.k);
    copy_matrix(l, b, &m, to, 1, step);
    return (DotColumns){to, lower_i64(b, step)};
}

// The load whose rows are the tile's columns, with the right type; NULL: there is none.
static IrOp *load_of_columns(Lower *l, const Dot *d) {
    const IrValue *tile = ir_operand(d->op, 1);
    IrOp *permute = tile->def, *load;
    if (d->item || !permute || permute->code != IR_PERMUTE || tile->type->elem != d->form.part_b)
        return NULL;
    load = ir_operand(permute, 0)->def;
    bool as_is = load && !lower_tile(l, tile)->in_memory &&
                 !lower_tile(l, &load->results[0])->in_memory && access_is_whole(l, load);
    return as_is ? load : NULL;
}

static DotColumns find_columns(Lower *l, const Dot *d, IrBuilder *b) {
    IrValue *to = dot_scratch(
        l, d->form.part_b, (uint64_t)step_along(d->form.part_b, d->form.k) * (uint64_t)d->form.n);
    IrOp *load = load_of_columns(l, d);
    if (!load) return copy_columns(l, d, b, to);
    WholeMatrix whole = access_whole(l, b, load);
    IrValue *condition = lower_and(b, whole.inside, are_close(b, whole.step[0], d->form.k));
    IrBlock *regions[2] = {ir_block_create(b->func), ir_block_create(b->func)};
    IrBuilder stay = ir_builder_at_end(regions[0]), copy = ir_builder_at_end(regions[1]);
    stay.span = copy.span = b->span;
    ir_yield(&stay, 2, (IrValue *[]){whole.pointer, whole.step[0]});
    DotColumns copied = copy_columns(l, d, &copy, to);
    ir_yield(&copy, 2, (IrValue *[]){copied.data, copied.step});
    const IrType *types[2] = {to->type, copied.step->type};
    IrOp *op = ir_op(b, IR_IF, 1, &condition, 2, types, 2, regions);
    return (DotColumns){ir_result(op, 0), ir_result(op, 1)};
}

static void columns_to_panels(Lower *l, Dot *d, IrBuilder *b, IrValue *panels) {
    DotColumns c = find_columns(l, d, b);
    transposed_panels(l, d, b, c.data, c.step, panels);
}

void dot_pack_b(Lower *l, Dot *d, IrBuilder *b) {
    IrValue *tile = ir_operand(d->op, 1);
    if (d->form.group == 1 && is_in_buffer(l, tile, d->form.part_b)) {
        d->b = buffer_operand(l, d, b, tile, 1);
        return;
    }
    IrValue *panels = dot_scratch(l, d->form.part_b, (uint64_t)d->form.k * d->form.n);
    if (can_stay_in_place(l, d, tile)) {
        b_in_place_or_panels(l, d, b, panels);
        return;
    }
    if (is_column_major(l, tile) && transposes_blocks(d))
        columns_to_panels(l, d, b, panels);
    else if (d->form.group > 1)
        interleaved_panels(l, d, b, rows_of_b(l, d, b), panels);
    else
        panels_of_b(l, d, b, panels);
    d->b = (DotOperand){panels, lower_i64(b, d->form.k), lower_i64(b, dot_columns(&d->form))};
}
