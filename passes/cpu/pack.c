// Operands of products in memory: copied, converted and laid out for the loops of dot.c.
#include "passes/cpu/dot.h"

IrValue *dot_scratch(Lower *l, Dtype elem, uint64_t count) {
    const IrType *pointer = ir_ptr(l->module, elem, 0, NULL);
    IrOp *op = ir_op(&l->top, IR_CPU_SCRATCH, 0, NULL, 1, &pointer, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_ELEM, elem);
    ir_attr_set_int(op, IR_ATTR_COUNT, (int64_t)count);
    return ir_result(op, 0);
}

static uint32_t at_most(uint32_t x, uint32_t limit) { return x < limit ? x : limit; }

// ---- how an operand lies in memory --------------------------------------------------------------

// Does the tile's memory run along its last dimension but one? Looks through conversions and
// permutations for the load.
static bool runs_across(Lower *l, const IrValue *tile) {
    uint32_t last = tile->type->rank - 1, dim = last;
    for (const IrOp *op = tile->def; op; op = ir_operand(op, 0)->def) {
        if (lower_tile(l, &op->results[0])->mode == MODE_BUFFER) return dim != last;
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

// A copy of a tile's matrix: coordinate 0 goes by `step[0]`, coordinate 1 by `step[1]`; the lanes'
// elements are neighbours.
typedef struct Copy {
    IrValue *to;
    int64_t step[2];
    Place place;  // of the two coordinates in the nest
} Copy;

static void store_copy(Lower *l, Nest *nest, Val x, void *user) {
    const Copy *copy = user;
    IrBuilder *b = nest_builder(nest, nest->depth);
    IrValue *value = value_splat(l, nest, x).value;
    Dtype elem = copy->to->type->elem;
    if (value->type->elem != elem) value = ir_cast(b, value, elem, true);
    IrValue *linear = lower_i64(b, 0);
    for (uint32_t d = 0; d < 2; d++) {
        IrValue *c = nest_coord(l, nest, copy->place.at[d]).value;
        linear = lower_add(b, linear, lower_mul(b, c, lower_i64(b, copy->step[d])));
    }
    IrValue *operands[3] = {ir_ptr_add(b, copy->to, linear), value, NULL};
    ir_op(b, value->type->rank ? IR_CPU_STORE : IR_STORE, 3, operands, 0, NULL, 0, NULL);
}

typedef struct Matrix {
    IrValue *tile;
    IrValue *item;      // of the batch; NULL
    IrValue *limit[2];  // NULL: the whole
    uint32_t lane;      // the coordinate that is packed in vectors
    uint32_t lanes;
} Matrix;

static void copy_matrix(Lower *l, const IrBuilder *b, const Matrix *m, IrValue *to, int64_t step_0,
                        int64_t step_1) {
    uint32_t rank = m->tile->type->rank, first = rank - 2;
    Copy copy = {.to = to, .step = {step_0, step_1}, .place = {.rank = 2}};
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

static uint32_t copy_lanes(const Lower *l, const Dot *d, uint32_t extent) {
    uint32_t size = (uint32_t)dtype_size(d->part), sums = (uint32_t)dtype_size(d->sum);
    return at_most(extent, l->machine->vector_bytes / (size < sums ? sums : size) * 2);
}

// ---- in place -----------------------------------------------------------------------------------

// An operand that lies in a buffer, as it is wanted.
static bool lies_ready(Lower *l, const Dot *d, const IrValue *tile) {
    const Tile *t = lower_tile(l, tile);
    return t->mode == MODE_BUFFER && !t->pending && tile->type->elem == d->part;
}

static Operand buffer_operand(Lower *l, const Dot *d, IrBuilder *b, const IrValue *tile,
                              uint32_t across) {
    Buffer buffer = lower_buffer_of(l, tile);
    uint32_t first = tile->type->rank - 2;
    IrValue *data = buffer.data;
    if (d->item) data = ir_ptr_add(b, data, lower_mul(b, d->item, lower_i64(b, buffer.step[0])));
    return (Operand){data, lower_i64(b, buffer.step[first + across]),
                     lower_i64(b, buffer.step[first + 1 - across])};
}

// ---- a ------------------------------------------------------------------------------------------

// Rows that are a large power of two apart would share the places of a cache.
static int64_t row_step(const Dot *d) {
    enum { FAR = 2048, LINE = 64 };
    int64_t size = (int64_t)dtype_size(d->part), bytes = size * d->k;
    return bytes < FAR ? d->k : (bytes + LINE) / size;
}

void dot_pack_a(Lower *l, Dot *d, IrBuilder *b) {
    IrValue *tile = ir_operand(d->op, 0);
    if (lies_ready(l, d, tile)) {
        d->a = buffer_operand(l, d, b, tile, 0);
        return;
    }
    bool turned = d->group == 1 && (runs_across(l, tile) || d->k < d->m / 8);
    int64_t across = turned ? 1 : row_step(d), step = turned ? d->m : 1;
    d->a.data = dot_scratch(l, d->part, (uint64_t)(turned ? step * d->k : across * d->m));
    d->a.across = lower_i64(b, across);
    d->a.step = lower_i64(b, step);
    Matrix m = {.tile = tile, .item = d->item, .limit = {d->row_end, NULL}};
    m.lane = turned ? 0 : 1;
    m.lanes = copy_lanes(l, d, turned ? d->m : d->k);
    copy_matrix(l, b, &m, d->a.data, across, step);
}

// ---- b ------------------------------------------------------------------------------------------

static void panels_of_b(Lower *l, Dot *d, const IrBuilder *b, IrValue *to) {
    Matrix m = {.tile = ir_operand(d->op, 1), .item = d->item, .limit = {NULL, d->column_end}};
    m.lane = 1;
    m.lanes = dot_columns(d);
    copy_matrix(l, b, &m, to, dot_columns(d), d->k);
}

static bool may_stay(Lower *l, const Dot *d, const IrValue *tile) {
    return d->group == 1 && !d->item && tile->def && tile->type->elem == d->part &&
           lower_tile(l, tile)->mode == MODE_INLINE && access_is_whole(l, tile->def);
}

// Few rows do not pay for a copy: then b's rows are read where they are, if all of them are inside.
static void b_in_place_or_panels(Lower *l, Dot *d, IrBuilder *b, IrValue *panels) {
    Whole whole = access_whole(l, b, ir_operand(d->op, 1)->def);
    IrValue *few = ir_binary(b, IR_LE, d->row_end, lower_i64(b, d->block.rows));
    IrValue *condition = lower_and(b, whole.inside, few);
    IrBlock *regions[2] = {ir_block_create(b->func), ir_block_create(b->func)};
    IrBuilder stay = ir_builder_at_end(regions[0]), copy = ir_builder_at_end(regions[1]);
    stay.span = copy.span = b->span;
    IrValue *there[3] = {whole.pointer, lower_i64(&stay, 1), whole.step[0]};
    ir_yield(&stay, 3, there);
    panels_of_b(l, d, &copy, panels);
    IrValue *packed[3] = {panels, lower_i64(&copy, d->k), lower_i64(&copy, dot_columns(d))};
    ir_yield(&copy, 3, packed);
    const IrType *types[3] = {panels->type, packed[1]->type, packed[2]->type};
    IrOp *op = ir_op(b, IR_IF, 1, &condition, 3, types, 2, regions);
    d->b = (Operand){ir_result(op, 0), ir_result(op, 1), ir_result(op, 2)};
}

void dot_pack_b(Lower *l, Dot *d, IrBuilder *b) {
    IrValue *tile = ir_operand(d->op, 1);
    if (d->group == 1 && lies_ready(l, d, tile)) {
        d->b = buffer_operand(l, d, b, tile, 1);
        return;
    }
    IrValue *panels = dot_scratch(l, d->part, (uint64_t)d->k * d->n);
    if (may_stay(l, d, tile)) {
        b_in_place_or_panels(l, d, b, panels);
        return;
    }
    panels_of_b(l, d, b, panels);
    d->b = (Operand){panels, lower_i64(b, d->k), lower_i64(b, dot_columns(d))};
}
