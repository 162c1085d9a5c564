// cpu_merge_programs: neighbouring programs of a kernel of products become one run of the body. A
// tile of 128 rows, taken at program(0) * 128, becomes one of 256, so that an operand that both
// programs share is read and packed once.
//
// Needs: level cpu_tile. Keeps: what each program does.
//
// Programs along a dimension of the grid can be merged under two conditions. The program's place
// along it is only used as the start of selections of the program's own width. And the tile
// dimensions that come from these selections only meet each other: they pass through elementwise
// ops, rows of products and reductions along other axes, and end in stores there. Each program then
// does the same as alone. Stores end at the last program of the run: `cpu.span` says how many
// programs there are, `spans` says which stores.
#include "ir/build.h"
#include "passes/cpu/dot_form.h"
#include "passes/cpu/tuning.h"
#include "passes/passes.h"
#include "passes/rewrite.h"

typedef struct Merging {
    IrFunc *func;
    const PassContext *context;
    int64_t grid_dim;
    IrValue *base;   // program(grid_dim) * width: where the selections start
    uint32_t width;  // of one program
    uint8_t *mark;   // by value id: the dimension that is its program's, + 1
    bool changed, refused;
    bool product;  // some product has the dimension
    bool tiles;    // the dimension is the rows of a product in tile registers
    VEC(IrOp *) accesses;
} Merging;

static bool is_tile(const IrValue *v) { return v && v->type->kind != IR_VIEW && v->type->rank > 0; }

static uint32_t mark_of(const Merging *c, const IrValue *v) { return c->mark[v->id]; }

static void put_mark(Merging *c, const IrValue *v, uint32_t mark) {
    if (mark == 0 || c->mark[v->id] == mark) return;
    bool fits = is_tile(v) && mark <= v->type->rank && v->type->shape[mark - 1] == c->width;
    if (c->mark[v->id] != 0 || !fits) {
        c->refused = true;
        return;
    }
    c->mark[v->id] = (uint8_t)mark;
    c->changed = true;
}

static void same_mark(Merging *c, const IrValue *a, const IrValue *b) {
    if (!is_tile(a) || !is_tile(b)) return;
    put_mark(c, a, mark_of(c, b));
    put_mark(c, b, mark_of(c, a));
}

// ---- accesses -----------------------------------------------------------------------------------

static const uint32_t no_dim = UINT32_MAX;

// The dimension of the view whose index is the base.
static uint32_t base_dim(const Merging *c, const IrOp *op) {
    uint32_t start = ir_view_index_start(op->code);
    for (uint32_t i = start; i < op->operand_count; i++)
        if (ir_operand(op, i) == c->base) return i - start;
    return no_dim;
}

// The mark that a view's dimension gives the selection: its position among the widths, + 1.
static uint32_t selection_mark(const IrOp *op, uint32_t dim) {
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT);
    uint32_t mark = 0;
    for (uint32_t d = 0; d <= dim; d++)
        if (select->u.ints.items[d] > 0) mark++;
    return mark;
}

static bool has_tile_index(const IrOp *op) {
    for (uint32_t i = ir_view_index_start(op->code); i < op->operand_count; i++)
        if (is_tile(ir_operand(op, i))) return true;
    return false;
}

static void visit_access(Merging *c, const IrOp *op) {
    bool store = op->code == IR_VIEW_STORE;
    uint32_t dim = base_dim(c, op), mark = dim == no_dim ? 0 : selection_mark(op, dim);
    if (mark && has_tile_index(op)) c->refused = true;
    if (!store) {
        put_mark(c, &op->results[0], mark);
        if (mark_of(c, &op->results[0]) != mark) c->refused = true;
        return;
    }
    for (uint32_t i = 1; i <= 2; i++) {
        const IrValue *x = ir_operand(op, i);
        if (is_tile(x)) put_mark(c, x, mark);
        if (is_tile(x) && mark_of(c, x) != mark) c->refused = true;
    }
    if (!mark) c->refused = true;  // otherwise each program would write it
}

// ---- other ops ----------------------------------------------------------------------------------

static void visit_elementwise(Merging *c, const IrOp *op) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (ir_operand(op, i)) same_mark(c, ir_operand(op, i), &op->results[0]);
}

static void visit_broadcast(Merging *c, const IrOp *op) {
    const IrValue *x = ir_operand(op, 0), *r = &op->results[0];
    if (!is_tile(x)) return;
    put_mark(c, r, mark_of(c, x));
    uint32_t mark = mark_of(c, r);
    if (mark && x->type->shape[mark - 1] > 1) put_mark(c, x, mark);
}

// Extents of 1 are added or dropped.
static void visit_reshape(Merging *c, const IrOp *op) {
    const IrValue *x = ir_operand(op, 0), *r = &op->results[0];
    if (!is_tile(x) || !is_tile(r)) return;
    uint32_t i = 0;
    bool alike = true;
    for (uint32_t d = 0; d < x->type->rank; d++) {
        if (x->type->shape[d] == 1) continue;
        while (i < r->type->rank && r->type->shape[i] == 1) i++;
        alike = alike && i < r->type->rank && r->type->shape[i] == x->type->shape[d];
        if (!alike) break;
        if (mark_of(c, x) == d + 1) put_mark(c, r, i + 1);
        if (mark_of(c, r) == i + 1) put_mark(c, x, d + 1);
        i++;
    }
    if (!alike && (mark_of(c, x) || mark_of(c, r))) c->refused = true;
}

static void visit_permute(Merging *c, const IrOp *op) {
    const IrAttr *perm = ir_attr(op, IR_ATTR_PERM);
    const IrValue *x = ir_operand(op, 0), *r = &op->results[0];
    for (uint32_t d = 0; d < perm->u.ints.count; d++) {
        uint32_t from = (uint32_t)perm->u.ints.items[d];
        if (mark_of(c, x) == from + 1) put_mark(c, r, d + 1);
        if (mark_of(c, r) == d + 1) put_mark(c, x, from + 1);
    }
}

static void visit_dot(Merging *c, IrOp *op) {
    const IrValue *a = ir_operand(op, 0), *b = ir_operand(op, 1), *r = &op->results[0];
    uint32_t rows = r->type->rank - 1, columns = r->type->rank;
    if (op->operand_count > 2 && ir_operand(op, 2)) same_mark(c, ir_operand(op, 2), r);
    if (mark_of(c, a) == rows) put_mark(c, r, rows);
    if (mark_of(c, b) == columns) put_mark(c, r, columns);
    if (mark_of(c, r) == rows) put_mark(c, a, rows);
    if (mark_of(c, r) == columns) put_mark(c, b, columns);
    bool fits = r->type->rank == 2 && mark_of(c, a) != columns && mark_of(c, b) != rows;
    if (!fits && (mark_of(c, a) || mark_of(c, b))) c->refused = true;
    if (mark_of(c, r)) c->product = true;
    if (mark_of(c, r) == rows && dot_form(c->context->machine, op).tiles) c->tiles = true;
}

static void visit_reduce(Merging *c, const IrOp *op) {
    uint32_t axis = (uint32_t)ir_attr_int(op, IR_ATTR_AXIS);
    for (uint32_t k = 0; k < op->result_count; k++) {
        const IrValue *r = &op->results[k];
        for (uint32_t i = 0; i < op->operand_count; i++) {
            const IrValue *x = ir_operand(op, i);
            if (!x) continue;
            uint32_t mark = mark_of(c, x), back = mark_of(c, r);
            if (mark == axis + 1) c->refused = true;
            if (mark) put_mark(c, r, mark > axis + 1 ? mark - 1 : mark);
            if (back) put_mark(c, x, back > axis ? back + 1 : back);
        }
    }
}

static void visit_control(Merging *c, const IrOp *op) {
    bool loop = op->code == IR_FOR;
    for (uint32_t i = 0; i < op->result_count; i++) {
        const IrValue *r = &op->results[i];
        if (loop) same_mark(c, r, ir_operand(op, 3 + i));
        if (loop) same_mark(c, r, op->regions[0]->args[1 + i]);
        for (uint32_t k = 0; k < op->region_count; k++)
            same_mark(c, r, ir_operand(op->regions[k]->last, i));
    }
}

static bool touches_marked(const Merging *c, const IrOp *op) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (ir_operand(op, i) && mark_of(c, ir_operand(op, i))) return true;
    for (uint32_t i = 0; i < op->result_count; i++)
        if (mark_of(c, &op->results[i])) return true;
    return false;
}

static bool is_elementwise(const IrOp *op) {
    switch (ir_op_info(op->code)->rule) {
    case IR_RULE_UNARY:
    case IR_RULE_BINARY:
    case IR_RULE_SHIFT:
    case IR_RULE_COMPARE:
    case IR_RULE_TERNARY:
    case IR_RULE_SELECT:
    case IR_RULE_CAST:
    case IR_RULE_BITCAST: return true;
    default: return false;
    }
}

static void visit_op(Merging *c, IrOp *op) {
    switch (op->code) {
    case IR_VIEW_LOAD:
    case IR_VIEW_STORE: visit_access(c, op); return;
    case IR_BROADCAST: visit_broadcast(c, op); return;
    case IR_RESHAPE: visit_reshape(c, op); return;
    case IR_PERMUTE: visit_permute(c, op); return;
    case IR_DOT: visit_dot(c, op); return;
    case IR_REDUCE: visit_reduce(c, op); return;
    case IR_FOR:
    case IR_IF: visit_control(c, op); return;
    case IR_CONST:
    case IR_YIELD: return;
    default: break;
    }
    unsigned effects = ir_effects(op);
    bool acts = effects & (1u << IR_EFFECT_WRITE | 1u << IR_EFFECT_KEEP);
    if (acts || op->code == IR_WHILE) c->refused = true;
    if (is_elementwise(op))
        visit_elementwise(c, op);
    else if (touches_marked(c, op))
        c->refused = true;
}

static void visit_block(Merging *c, const IrBlock *block) {
    IR_EACH_OP(op, block) {
        visit_op(c, op);
        if (op->code == IR_REDUCE || op->code == IR_SCAN) continue;
        for (uint32_t i = 0; i < op->region_count; i++) visit_block(c, op->regions[i]);
    }
}

// ---- the dimension of the grid ------------------------------------------------------------------

static IrOp *find_program(const IrBlock *body, int64_t dim, bool *several) {
    IrOp *found = NULL;
    IR_EACH_OP(op, body) {
        if (op->code != IR_PROGRAM || ir_attr_int(op, IR_ATTR_DIM) != dim) continue;
        *several = found != NULL;
        found = op;
    }
    return found;
}

static bool names_program(const IrBlock *block, int64_t dim, const IrOp *but) {
    IR_EACH_OP(op, block) {
        if (op->code == IR_PROGRAM && ir_attr_int(op, IR_ATTR_DIM) == dim && op != but) return true;
        for (uint32_t i = 0; i < op->region_count; i++)
            if (names_program(op->regions[i], dim, but)) return true;
    }
    return false;
}

// Finds program * width, which must be the only use of the program's index.
static bool find_base(Merging *c, const IrOp *program) {
    const IrUse *use = program->results[0].uses;
    if (!use || use->next || use->user->code != IR_MUL) return false;
    IrOp *mul = use->user;
    int64_t width;
    bool constant = rewrite_constant_int(ir_operand(mul, 0), &width) ||
                    rewrite_constant_int(ir_operand(mul, 1), &width);
    enum { LEAST = 64, MOST = 4096 };  // any vector type fits
    if (!constant || width < LEAST || width > MOST || (width & (width - 1))) return false;
    c->base = &mul->results[0];
    c->width = (uint32_t)width;
    return true;
}

static bool note_accesses(Merging *c) {
    for (const IrUse *use = c->base->uses; use; use = use->next) {
        IrOp *op = use->user;
        if (op->code != IR_VIEW_LOAD && op->code != IR_VIEW_STORE) return false;
        uint32_t dim = base_dim(c, op);
        if (dim == no_dim || ir_attr(op, IR_ATTR_SELECT)->u.ints.items[dim] != c->width)
            return false;
        for (size_t i = 0; i < c->accesses.count; i++)
            if (c->accesses.data[i] == op) return false;  // two of its indices are the base
        vec_push(c->context->scratch, &c->accesses, op);
    }
    return c->accesses.count > 0;
}

static bool find_marks(Merging *c, const IrBlock *body) {
    c->mark = arena_new(c->context->scratch, uint8_t, c->func->value_count);
    do {
        c->changed = false;
        visit_block(c, body);
    } while (c->changed && !c->refused);
    return c->product && !c->refused;
}

// ---- widening -----------------------------------------------------------------------------------

static void widen_value(Merging *c, IrValue *v, uint32_t times) {
    uint32_t mark = mark_of(c, v), shape[IR_MAX_RANK];
    if (!mark) return;
    for (uint32_t d = 0; d < v->type->rank; d++)
        shape[d] = v->type->shape[d] * (d + 1 == mark ? times : 1);
    v->type = ir_with_shape(c->func->module, v->type, v->type->rank, shape);
}

static void widen_block(Merging *c, const IrBlock *block, uint32_t times) {
    for (uint32_t i = 0; i < block->arg_count; i++) widen_value(c, block->args[i], times);
    IR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->result_count; i++) widen_value(c, ir_result(op, i), times);
        for (uint32_t i = 0; i < op->region_count; i++) widen_block(c, op->regions[i], times);
    }
}

// Sets the extent of one program's stores; spans that are already set hold for the other dimension.
static void end_store(Merging *c, IrOp *store, uint32_t dim) {
    const IrAttr *known = ir_attr(store, IR_ATTR_SPANS);
    uint32_t count = ir_attr(store, IR_ATTR_SELECT)->u.ints.count;
    int64_t spans[IR_MAX_VIEW_RANK];
    for (uint32_t d = 0; d < count; d++)
        spans[d] = d == dim ? c->width : known->u.ints.count ? known->u.ints.items[d] : 0;
    ir_attr_set_ints(store, IR_ATTR_SPANS, count, spans);
}

static void widen_access(Merging *c, IrOp *op, uint32_t times) {
    const IrAttr *select = ir_attr(op, IR_ATTR_SELECT), *inside = ir_attr(op, IR_ATTR_INSIDE);
    uint32_t dim = base_dim(c, op), count = select->u.ints.count;
    int64_t widths[IR_MAX_VIEW_RANK], proven[IR_MAX_VIEW_RANK];
    for (uint32_t d = 0; d < count; d++) {
        widths[d] = select->u.ints.items[d] * (d == dim ? times : 1);
        proven[d] = d == dim ? 0 : inside->u.ints.items[d];
    }
    ir_attr_set_ints(op, IR_ATTR_SELECT, count, widths);
    ir_attr_set_ints(op, IR_ATTR_INSIDE, count, proven);
    if (op->code == IR_VIEW_STORE) end_store(c, op, dim);
}

static void add_span(const Merging *c, IrBlock *body, uint32_t times) {
    IrBuilder b = ir_builder_before(body->first);
    const IrType *t = ir_scalar(b.module, DTYPE_I64);
    IrOp *span = ir_op(&b, IR_CPU_SPAN, 0, NULL, 1, &t, 0, NULL);
    ir_attr_set_int(span, IR_ATTR_DIM, c->grid_dim);
    ir_attr_set_int(span, IR_ATTR_COUNT, times);
}

static bool widen_grid(IrFunc *f, const PassContext *context, IrBlock *body, int64_t dim) {
    Merging c = {.func = f, .context = context, .grid_dim = dim};
    bool several = false;
    IrOp *program = find_program(body, dim, &several);
    if (!program || several || names_program(body, dim, program)) return false;
    if (!find_base(&c, program) || !note_accesses(&c) || !find_marks(&c, body)) return false;
    // Rows or columns of a run. Tile registers multiply so fast that packing b dominates.
    uint32_t wide = c.tiles ? TUNE_TILES_RUN_ROWS : TUNE_RUN_ROWS;
    if (c.width >= wide) return false;
    uint32_t times = wide / c.width;
    widen_block(&c, body, times);
    add_span(&c, body, times);
    for (size_t i = 0; i < c.accesses.count; i++) widen_access(&c, c.accesses.data[i], times);
    return true;
}

bool pass_cpu_merge_programs(IrFunc *f, PassContext *context) {
    IrBlock *body = f->is_kernel ? ir_body(f) : NULL;
    if (!body || f->level != IR_LEVEL_CPU_TILE) return false;
    bool rows = widen_grid(f, context, body, 0);
    return widen_grid(f, context, body, 1) || rows;
}
