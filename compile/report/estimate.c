#include "compile/report/estimate.h"

#include "target/machine.h"
#include "target/matrix.h"

const char *estimate_unit_key(EstimateUnit unit) {
    static const char *const keys[] = {
#define UNIT(name, key, text) key,
        ESTIMATE_UNITS_LIST(UNIT)
#undef UNIT
    };
    return keys[unit];
}

const char *estimate_unit_text(EstimateUnit unit) {
    static const char *const texts[] = {
#define UNIT(name, key, text) text,
        ESTIMATE_UNITS_LIST(UNIT)
#undef UNIT
    };
    return texts[unit];
}

// The work of a program's threads in a step.
typedef struct Work {
    double products[2];  // multiply-adds of f16, or as much work: by one warp, by four
    double arithmetic, special, multiply_adds;
    double shared, global;  // bytes
} Work;

typedef struct Estimator {
    const IrFunc *func;
    const Rates *rates;
    Estimate found;
    double weight;  // of what was found
} Estimator;

static double threads_of(const Estimator *s) { return ir_thread_count(s->func); }
static double lanes_of(const IrType *type) { return type->rank ? type->count : 1; }

bool estimate_is_shared(const IrValue *p) {
    while (p->def && p->def->operand_count && ir_operand(p->def, 0)) p = ir_operand(p->def, 0);
    return p->def && p->def->code == IR_THREAD_SHARED;
}

// The work of a product relative to one of f16: bytes take half as long, words twice.
static double work_of(Dtype elem) {
    const double half_bits = 16;
    return dtype_bits(elem) / half_bits;
}

static void add_product(const Estimator *s, const IrOp *op, Work *w) {
    enum { GROUP = 4 };
    const int64_t *shape = ir_attr(op, IR_ATTR_SELECT)->u.ints.items;
    bool group = op->code == IR_THREAD_WGMMA;
    Dtype elem = ir_operand(op, 1)->type->elem;
    double times = s->func->warps / (group ? (double)GROUP : 1);
    w->products[group] += (double)(shape[0] * shape[1] * shape[2]) * times * work_of(elem);
    if (!group) return;
    // The unit reads b from shared memory, and a unless it is in registers.
    double read = (double)(shape[1] * shape[2]);
    if (ir_operand(op, 0)->type->kind == IR_PTR) read += (double)(shape[0] * shape[2]);
    w->shared += read * (double)dtype_size(elem) * times;
}

static void add_access(const Estimator *s, const IrOp *op, const IrType *type, Work *w) {
    double bytes = lanes_of(type) * dtype_bits(type->elem) / 8 * threads_of(s);
    *(estimate_is_shared(ir_operand(op, 0)) ? &w->shared : &w->global) += bytes;
}

static double box_bytes(const Estimator *s, const IrOp *op) {
    const IrMap *map = &s->func->maps.data[ir_attr_int(op, IR_ATTR_MAP)];
    double bytes = (double)dtype_size(ir_operand(op, 0)->type->elem);
    for (uint32_t d = 0; d < map->rank; d++) bytes *= map->box[d];
    return bytes;
}

static void add_op(const Estimator *s, const IrOp *op, Work *w) {
    enum { MATRIX_BYTES = 4 };  // that a thread gets of each matrix
    const IrType *type = op->result_count ? op->results[0].type : NULL;
    switch (op->code) {
    case IR_THREAD_MMA:
    case IR_THREAD_WGMMA: add_product(s, op, w); return;
    case IR_THREAD_LOAD: add_access(s, op, type, w); return;
    case IR_THREAD_STORE: add_access(s, op, ir_operand(op, 1)->type, w); return;
    case IR_LOAD: add_access(s, op, type, w); return;
    case IR_STORE: add_access(s, op, ir_operand(op, 1)->type, w); return;
    case IR_THREAD_MATRIX_LOAD:
        w->shared += (double)(MATRIX_BYTES * ir_attr_int(op, IR_ATTR_COUNT)) * threads_of(s);
        return;
    case IR_THREAD_COPY:
        w->global += (double)(ir_attr_int(op, IR_ATTR_COUNT) *
                              (int64_t)dtype_size(ir_operand(op, 0)->type->elem)) *
                     threads_of(s);
        return;
    case IR_THREAD_TMA_LOAD: w->global += box_bytes(s, op); return;
    case IR_EXP2:
    case IR_RSQRT:
    case IR_SIN:
    case IR_COS:
    case IR_SQRT: w->special += lanes_of(type) * threads_of(s); return;
    default: break;
    }
    switch (ir_op_family(op->code)) {
    case IR_FAMILY_ARITHMETIC:
    case IR_FAMILY_COMPARE:
    case IR_FAMILY_SELECT:
    case IR_FAMILY_CAST:
        w->arithmetic += lanes_of(type) * threads_of(s);
        if (op->code == IR_FMA) w->multiply_adds += lanes_of(type) * threads_of(s);
        return;
    default: return;
    }
}

static bool is_loop(const IrOp *op) { return op->code == IR_FOR || op->code == IR_WHILE; }

static bool constant(const IrValue *v, int64_t *value) {
    if (!v->def || v->def->code != IR_CONST) return false;
    uint64_t bits = ir_attr(v->def, IR_ATTR_VALUE)->u.bits;
    *value = dtype_bits(v->type->elem) == 32 ? (int32_t)bits : (int64_t)bits;
    return true;
}

// The iterations of a loop; 0: not known.
static double iterations(const IrOp *loop) {
    int64_t lo, hi, step;
    bool known = loop->code == IR_FOR && constant(ir_operand(loop, 0), &lo) &&
                 constant(ir_operand(loop, 1), &hi) && constant(ir_operand(loop, 2), &step);
    return known && step > 0 && hi > lo ? (double)((hi - lo + step - 1) / step) : 0;
}

// Is there a loop in it whose iterations are not known? Then it is not the main one.
static bool has_loop(const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        if (is_loop(op) && iterations(op) <= 0) return true;
        for (uint32_t r = 0; r < op->region_count; r++)
            if (has_loop(op->regions[r])) return true;
    }
    return false;
}

static void add_work(Work *w, const Work *more, double times) {
    for (int i = 0; i < 2; i++) w->products[i] += more->products[i] * times;
    w->arithmetic += more->arithmetic * times;
    w->special += more->special * times;
    w->multiply_adds += more->multiply_adds * times;
    w->shared += more->shared * times;
    w->global += more->global * times;
}

static Work work_in(const Estimator *s, const IrBlock *block) {
    Work w = {0};
    for (const IrOp *op = block->first; op; op = op->next) {
        add_op(s, op, &w);
        double times = is_loop(op) ? iterations(op) : 1;
        for (uint32_t r = 0; r < op->region_count; r++) {
            Work in = work_in(s, op->regions[r]);
            add_work(&w, &in, times);
        }
    }
    return w;
}

// Do programs compute much with each byte, so that tiles are loaded by several of them?
static bool reuses(const Work *w) {
    const double least = 4;  // multiply-adds with a byte; exp of f32 has 2
    return w->products[0] + w->products[1] > 0 || w->multiply_adds > least * w->global;
}

static Estimate clocks_of(const Estimator *s, const Work *w) {
    const double kilo = 1000;  // bytes in a clock: GB/s over MHz
    const Rates *r = s->rates;
    Estimate e = {.rates = r};
    bool reused = reuses(w);
    double *clocks = e.clocks, memory = r->memory * kilo / r->mhz / r->units;
    if (r->matrix) clocks[ESTIMATE_MATRIX] += w->products[0] / r->matrix;
    if (r->matrix_async) clocks[ESTIMATE_MATRIX] += w->products[1] / r->matrix_async;
    clocks[ESTIMATE_ARITHMETIC] = w->arithmetic / r->lanes;
    clocks[ESTIMATE_SPECIAL] = w->special / r->special;
    clocks[ESTIMATE_SHARED] = w->shared / r->shared;
    if (reused && r->l2) clocks[ESTIMATE_CACHE] = w->global * r->units / r->l2;
    if (!reused) clocks[ESTIMATE_MEMORY] = w->global / memory;
    for (int i = 1; i < ESTIMATE_UNITS; i++)
        if (clocks[i] > clocks[e.bound]) e.bound = (EstimateUnit)i;
    return e;
}

// An iteration that goes round a ring of slots has a step for each, which waits for its slot once.
static double steps_in(const IrBlock *block) {
    double steps = 0;
    for (const IrOp *op = block->first; op; op = op->next)
        steps += op->code == IR_THREAD_MBARRIER_WAIT && !ir_attr_int(op, IR_ATTR_PRODUCER);
    return steps > 0 ? steps : 1;
}

static void consider(Estimator *s, const IrBlock *block, Span span, bool loop, uint32_t depth) {
    enum { DEPTH_BITS = 2 };
    Work w = {0}, all = work_in(s, block);
    add_work(&w, &all, loop ? 1 / steps_in(block) : 1);
    Estimate e = clocks_of(s, &w);
    double weight =
        e.clocks[e.bound] * (double)(UINT64_C(1) << DEPTH_BITS * (depth < 8 ? depth : 8));
    if (s->found.rates && weight <= s->weight) return;
    e.span = span, e.loop = loop;
    s->found = e;
    s->weight = weight;
}

static void consider_loops(Estimator *s, const IrBlock *block, uint32_t depth) {
    for (const IrOp *op = block->first; op; op = op->next)
        for (uint32_t r = 0; r < op->region_count; r++) {
            bool steps = is_loop(op) && r + 1 == op->region_count;
            if (steps && !has_loop(op->regions[r]))
                consider(s, op->regions[r], op->span, true, depth + 1);
            consider_loops(s, op->regions[r], depth + steps);
        }
}

Estimate estimate_of(const IrFunc *func, GpuTarget target) {
    Estimator s = {.func = func, .rates = rates_of(target)};
    if (!s.rates) return (Estimate){0};
    consider_loops(&s, ir_body(func), 0);
    if (!s.found.rates || s.weight <= 0) consider(&s, ir_body(func), func->span, false, 0);
    return s.found;
}
