#include "compile/tune/model.h"

#include <math.h>
#include <string.h>

#include "ir/interp/interp.h"
#include "target/chip.h"
#include "target/rates.h"

// The numbers that rates.h does not have. Those of CPUs are from the candidates of 60 launches on
// an x86-64-v3 (AMD EPYC); those of GPUs are from latencies of an H100 (docs/hopper.md).
static const double CPU_HZ = 3e9;
static const double CPU_PROGRAM = 600;  // clocks to begin and end a program
static const double CPU_WAKE = 15000;   // clocks until a second thread runs its first program
static const double CPU_STEP = 40;      // clocks of an iteration without its work
static const double GPU_PROGRAM = 1500;
static const double GPU_LATENCY = 900;  // clocks from a load to its use
static const double GPU_START = 3e-6;   // seconds
enum {
    WALKS_NESTED = 3,  // loops in loops whose last iterations are walked, too
    DEALT_MOST = 1024  // programs that are dealt to units one by one
};

// ---- Work ----

typedef struct ModelWork {
    double useful;    // multiply-adds of matrix products of elements inside of their views
    double products;  // multiply-adds of matrix products, each as one of f16
    double lanes;     // operations on f32
    double shared;    // bytes
    double global;    // bytes
    double chain;     // clocks that a program takes even on an idle unit
} ModelWork;

static void add(ModelWork *w, const ModelWork *more, double times) {
    w->useful += more->useful * times;
    w->products += more->products * times;
    w->lanes += more->lanes * times;
    w->shared += more->shared * times;
    w->global += more->global * times;
    w->chain += more->chain * times;
}

// ---- Facts ----

typedef struct Fact {
    bool known;     // of a scalar
    uint64_t bits;  // of its type
    // A tile's elements along each dimension that are inside of the views from which they came.
    uint32_t live[IR_MAX_RANK];
} Fact;

typedef struct Walk {
    const IrFunc *func;
    const ModelMachine *machine;
    const tilec_arg *args;
    int64_t program[3], programs[3];
    Fact *facts;  // by id
    int warps, stages;
    double factors;  // bytes of the factors of products of one iteration
    double sums;     // registers of the largest sums of products
    uint32_t depth;
    bool lost;     // something is not known on which the work depends
    bool guesses;  // the products are known, the time is not
} Walk;

static Fact *fact_of(const Walk *w, const IrValue *v) { return &w->facts[v->id]; }

static void set_whole(const Walk *w, const IrValue *v) {
    Fact *f = fact_of(w, v);
    f->known = false;
    for (uint32_t d = 0; d < v->type->rank; d++) f->live[d] = v->type->shape[d];
}

static void set_scalar(const Walk *w, const IrValue *v, uint64_t bits) {
    fact_of(w, v)->known = true;
    fact_of(w, v)->bits = bits;
}

static bool integer_of(const Walk *w, const IrValue *v, int64_t *value) {
    const Fact *f = fact_of(w, v);
    if (!f->known || v->type->kind != IR_TILE || v->type->rank) return false;
    *value = dtype_to_i64(v->type->elem, f->bits);
    return true;
}

static double live_count(const Walk *w, const IrValue *v) {
    double count = 1;
    const Fact *f = fact_of(w, v);
    for (uint32_t d = 0; d < v->type->rank; d++) count *= f->live[d];
    return count;
}

// An operand of the same extent limits the result.
static void limit(const Walk *w, const IrValue *result, const IrValue *by) {
    Fact *f = fact_of(w, result);
    if (!by || by->type->rank != result->type->rank || by->type->kind == IR_VIEW) return;
    const Fact *from = fact_of(w, by);
    for (uint32_t d = 0; d < by->type->rank; d++)
        if (by->type->shape[d] == result->type->shape[d] && from->live[d] < f->live[d])
            f->live[d] = from->live[d];
}

// Reshapes that only add and drop extents of 1.
static void reshape(const Walk *w, const IrValue *to, const IrValue *from) {
    uint32_t t = 0, rank = to->type->rank;
    uint32_t live[IR_MAX_RANK];
    for (uint32_t d = 0; d < from->type->rank; d++) {
        if (from->type->shape[d] == 1) continue;
        while (t < rank && to->type->shape[t] == 1) live[t++] = 1;
        if (t == rank || to->type->shape[t] != from->type->shape[d]) return;
        live[t++] = fact_of(w, from)->live[d];
    }
    while (t < rank && to->type->shape[t] == 1) live[t++] = 1;
    if (t == rank && rank) memcpy(fact_of(w, to)->live, live, rank * sizeof *live);
}

static bool varies_along(const IrValue *v, uint32_t dim) {
    for (; v->def && v->def->code == IR_BROADCAST; v = ir_operand(v->def, 0))
        if (!ir_operand(v->def, 0)->type->rank || ir_operand(v->def, 0)->type->shape[dim] == 1)
            return false;
    return true;
}

// A kernel that masks an axis by itself computes all of it.
static void set_select(const Walk *w, const IrOp *op) {
    const IrValue *r = &op->results[0], *mask = ir_operand(op, 0);
    for (uint32_t d = 0; d < r->type->rank && mask->type->rank == r->type->rank; d++)
        if (fact_of(w, mask)->live[d] == r->type->shape[d] && varies_along(mask, d))
            fact_of(w, r)->live[d] = r->type->shape[d];
}

static void set_dot(const Walk *w, const IrOp *op) {
    const IrValue *a = ir_operand(op, 0), *b = ir_operand(op, 1);
    Fact *f = fact_of(w, &op->results[0]);
    uint32_t rank = a->type->rank;
    f->live[rank - 2] = fact_of(w, a)->live[rank - 2];
    f->live[rank - 1] = fact_of(w, b)->live[rank - 1];
}

static void drop_axis(const Walk *w, const IrOp *op) {
    uint32_t axis = (uint32_t)ir_attr_int(op, IR_ATTR_AXIS);
    const IrValue *x = ir_operand(op, 1);
    for (uint32_t i = 0; i < op->result_count; i++)
        for (uint32_t d = 0, to = 0; d < x->type->rank; d++)
            if (d != axis) fact_of(w, &op->results[i])->live[to++] = fact_of(w, x)->live[d];
}

// How many elements of `index +: extent` are inside of a dimension.
static uint32_t inside(const Walk *w, const IrOp *op, const IrValue *index, uint32_t dim,
                       uint32_t extent) {
    const IrValue *view = ir_operand(op, 0);
    int64_t at;
    if (view->def || view->block || !integer_of(w, index, &at)) return extent;
    int64_t whole = w->args[view->index].view.extent[dim];
    int64_t from = at < 0 ? 0 : at, to = at < whole - (int64_t)extent ? at + extent : whole;
    return to > from ? (uint32_t)(to - from) : 0;
}

// The part of a selection that is inside of the view, along its dimensions.
static void selected(const Walk *w, const IrOp *op, uint32_t rank, const uint32_t *shape,
                     uint32_t *live) {
    const int64_t *select = ir_attr(op, IR_ATTR_SELECT)->u.ints.items;
    uint32_t first = ir_view_index_start(op->code), dims = ir_operand(op, 0)->type->rank, to = 0;
    for (uint32_t d = 0; d < rank; d++) live[d] = shape[d];
    for (uint32_t d = 0; d < dims; d++) {
        const IrValue *index = ir_operand(op, first + d);
        if (!select[d] && !index->type->rank) continue;
        if (index->type->rank > 1 || to == rank) return;
        if (select[d]) live[to] = inside(w, op, index, d, (uint32_t)select[d]);
        to++;
    }
}

static bool is_elementwise(IrOpcode code) {
    return (ir_op_family(code) & (IR_FAMILIES_ELEMENTWISE | IR_FAMILY_CAST)) != 0;
}

// The scalar result of an op on scalars.
static void compute(Walk *w, const IrOp *op) {
    uint64_t bits[4], result;
    const IrValue *r = &op->results[0];
    if (!is_elementwise(op->code) || op->operand_count > 3 || !op->operand_count) return;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const IrValue *v = ir_operand(op, i);
        if (!v || v->type->kind != IR_TILE || v->type->rank || !fact_of(w, v)->known) return;
        bits[i] = fact_of(w, v)->bits;
    }
    Dtype elem = ir_operand(op, 0)->type->elem;
    if (op->code == IR_CAST)
        set_scalar(w, r, dtype_cast(r->type->elem, elem, bits[0], false));
    else if (ir_eval(op->code, elem, bits, &result))
        set_scalar(w, r, result);
}

static bool extent_of(const Walk *w, Symbol name, int64_t *extent) {
    for (size_t i = 0; i < w->func->params.count; i++) {
        const IrParam *p = &w->func->params.data[i];
        for (uint32_t d = 0; p->value->type->kind == IR_VIEW && d < p->value->type->rank; d++)
            if (p->dims[d].extent == name) {
                *extent = w->args[i].view.extent[d];
                return true;
            }
    }
    return false;
}

static void set_result(Walk *w, const IrOp *op) {
    const IrValue *r = &op->results[0];
    int64_t extent;
    for (uint32_t i = 0; i < op->result_count; i++) {
        set_whole(w, &op->results[i]);
        for (uint32_t k = 0; k < op->operand_count; k++)
            limit(w, &op->results[i], ir_operand(op, k));
    }
    switch (op->code) {
    case IR_CONST:
        if (!r->type->rank) set_scalar(w, r, ir_attr(op, IR_ATTR_VALUE)->u.bits);
        return;
    case IR_PROGRAM: set_scalar(w, r, (uint64_t)w->program[ir_attr_int(op, IR_ATTR_DIM)]); return;
    case IR_PROGRAMS: set_scalar(w, r, (uint64_t)w->programs[ir_attr_int(op, IR_ATTR_DIM)]); return;
    case IR_EXTENT:
        if (extent_of(w, ir_attr(op, IR_ATTR_EXTENT)->u.name, &extent))
            set_scalar(w, r, (uint64_t)extent);
        return;
    case IR_UNITS: set_scalar(w, r, (uint64_t)w->machine->units); return;
    case IR_RESHAPE: reshape(w, r, ir_operand(op, 0)); return;
    case IR_PERMUTE:
        for (uint32_t d = 0; d < r->type->rank; d++)
            fact_of(w, r)->live[d] =
                fact_of(w, ir_operand(op, 0))->live[ir_attr(op, IR_ATTR_PERM)->u.ints.items[d]];
        return;
    case IR_DOT: set_dot(w, op); return;
    case IR_SELECT:
        if (!r->type->rank) break;
        set_select(w, op);
        return;
    case IR_REDUCE: drop_axis(w, op); return;
    case IR_VIEW_LOAD: selected(w, op, r->type->rank, r->type->shape, fact_of(w, r)->live); return;
    default: break;
    }
    if (op->result_count == 1 && r->type->kind == IR_TILE && !r->type->rank) compute(w, op);
}

// ---- The work of an op ----

static double bytes_of(const IrType *type) { return dtype_bits(type->elem) / 8.0; }

// A product on a CPU: multiply-adds of whole vectors, the packing of b, and sums that are loaded
// and stored.
static void add_cpu_dot(const Walk *w, const IrOp *op, ModelWork *work) {
    const CpuRates *r = w->machine->cpu;
    const IrValue *a = ir_operand(op, 0), *result = &op->results[0];
    uint32_t rank = result->type->rank;
    const Fact *f = fact_of(w, result);
    double size = bytes_of(result->type), vector = w->machine->machine.vector_bytes / size;
    double rows = f->live[rank - 2], columns = ceil(f->live[rank - 1] / vector) * vector;
    double inner = fact_of(w, a)->live[rank - 1], batch = rank > 2 ? f->live[0] : 1;
    double words = size / 4;
    work->lanes += batch * words * rows * columns * inner * r->arithmetic / r->multiply_adds;
    work->global += batch * size * (columns * inner + 2 * rows * columns);
}

static void add_gpu_dot(Walk *w, const IrOp *op, ModelWork *work) {
    const IrType *a = ir_operand(op, 0)->type, *b = ir_operand(op, 1)->type,
                 *result = op->results[0].type;
    double inner = a->shape[a->rank - 1], half_words = bytes_of(a) / 2;
    double products = result->count * inner, side = sqrt(w->warps);
    bool words = a->elem == DTYPE_F32 && ir_attr_int(op, IR_ATTR_PRECISION) == IR_PRECISION_IEEE;
    bool matrix = w->machine->gpu->matrix && !words && a->elem != DTYPE_F64;
    *(matrix ? &work->products : &work->lanes) += products * (matrix ? half_words : 1);
    // Warps share the sums; each reads its rows of a and columns of b.
    work->shared += (a->count * bytes_of(a) + b->count * bytes_of(b)) * side;
    w->factors += a->count * bytes_of(a) + b->count * bytes_of(b);
    double registers = result->count * bytes_of(result) / 4;
    if (registers > w->sums) w->sums = registers;
}

static double useful_products(const Walk *w, const IrOp *op) {
    const IrValue *a = ir_operand(op, 0), *b = ir_operand(op, 1);
    const IrType *type = a->type;
    uint32_t across = fact_of(w, a)->live[type->rank - 1];
    uint32_t down = fact_of(w, b)->live[type->rank - 2];
    return live_count(w, &op->results[0]) * (across < down ? across : down);
}

static double weight_of(const IrOp *op) {
    const double function = 8, order = 8;
    switch (ir_op_family(op->code)) {
    case IR_FAMILY_FUNCTION: return function;
    case IR_FAMILY_ORDER:
    case IR_FAMILY_RANDOM: return order;
    case IR_FAMILY_ARITHMETIC:
    case IR_FAMILY_COMPARE:
    case IR_FAMILY_SELECT:
    case IR_FAMILY_CAST:
    case IR_FAMILY_REDUCTION:
    case IR_FAMILY_TABLE: return 1;
    default: return 0;
    }
}

static void add_access(const Walk *w, const IrOp *op, const IrType *type, const IrValue *limited,
                       ModelWork *work) {
    uint32_t live[IR_MAX_RANK];
    double count = 1;
    selected(w, op, type->rank, type->shape, live);
    for (uint32_t d = 0; d < type->rank; d++)
        count *= limited && fact_of(w, limited)->live[d] < live[d] ? fact_of(w, limited)->live[d]
                                                                   : live[d];
    if (w->machine->gpu) count = type->count;
    work->global += count * bytes_of(type);
}

static void add_op(Walk *w, const IrOp *op, ModelWork *work) {
    const IrValue *wide = op->result_count ? &op->results[0] : NULL;
    switch (op->code) {
    case IR_DOT:
        work->useful += useful_products(w, op);
        if (w->machine->gpu) add_gpu_dot(w, op, work);
        if (w->machine->cpu) add_cpu_dot(w, op, work);
        return;
    case IR_VIEW_LOAD: add_access(w, op, wide->type, NULL, work); return;
    case IR_VIEW_STORE:
    case IR_VIEW_ATOMIC:
        add_access(w, op, ir_operand(op, 1)->type, ir_operand(op, 1), work);
        return;
    case IR_LOAD:
    case IR_STORE:
    case IR_ATOMIC: w->guesses = true; return;  // how many elements are masked?
    case IR_REDUCE:
    case IR_SCAN: wide = ir_operand(op, op->code == IR_REDUCE); break;
    default: break;
    }
    if (!wide) return;
    double count = w->machine->gpu ? wide->type->count : live_count(w, wide);
    work->lanes += count * weight_of(op) * fmax(bytes_of(wide->type) / 4, 0.25);
}

// ---- Control ----

static ModelWork walk_block(Walk *w, const IrBlock *block);

static void copy_fact(const Walk *w, const IrValue *to, const IrValue *from) {
    *fact_of(w, to) = *fact_of(w, from);
}

// Values that a loop carries into a later iteration are others, and have the same extents.
static void carry(const Walk *w, const IrBlock *body) {
    for (uint32_t i = 1; i < body->arg_count; i++) {
        copy_fact(w, body->args[i], ir_operand(body->last, i - 1));
        fact_of(w, body->args[i])->known = false;
    }
}

static ModelWork walk_for(Walk *w, const IrOp *op) {
    ModelWork sum = {0};
    int64_t lo, hi, step;
    const IrBlock *body = op->regions[0];
    bool known = integer_of(w, ir_operand(op, 0), &lo) && integer_of(w, ir_operand(op, 1), &hi) &&
                 integer_of(w, ir_operand(op, 2), &step);
    if (!known || ir_attr_int(op, IR_ATTR_DOWN) || ir_attr_int(op, IR_ATTR_EXIT) || step <= 0) {
        w->lost = true;
        return sum;
    }
    for (uint32_t i = 0; i < op->result_count; i++)
        copy_fact(w, &op->results[i], ir_operand(op, 3 + i));
    if (lo >= hi) return sum;
    int64_t trips = (int64_t)(((uint64_t)hi - (uint64_t)lo + (uint64_t)step - 1) / (uint64_t)step);
    set_scalar(w, body->args[0], (uint64_t)lo);
    for (uint32_t i = 1; i < body->arg_count; i++)
        copy_fact(w, body->args[i], ir_operand(op, 2 + i));
    bool twice = trips > 1 && ++w->depth <= WALKS_NESTED;
    ModelWork one = walk_block(w, body);
    double turn = 0;  // clocks of an iteration, whatever its work is
    if (w->machine->gpu && one.global > 0) turn = GPU_LATENCY / (w->stages > 2 ? w->stages - 1 : 1);
    if (w->machine->cpu) turn = CPU_STEP;
    one.chain += turn;
    add(&sum, &one, (double)(twice ? trips - 1 : trips));
    if (twice) {
        set_scalar(w, body->args[0], (uint64_t)lo + (uint64_t)(trips - 1) * (uint64_t)step);
        carry(w, body);
        double factors = w->factors;  // counted once
        ModelWork last = walk_block(w, body);
        w->factors = factors;
        last.chain += turn;
        add(&sum, &last, 1);
    }
    if (trips > 1) w->depth--;
    for (uint32_t i = 0; i < op->result_count; i++) {
        copy_fact(w, &op->results[i], ir_operand(body->last, i));
        if (trips > 1) fact_of(w, &op->results[i])->known = false;
    }
    return sum;
}

// Both sides of an unknown condition are taken for likely.
static ModelWork walk_if(Walk *w, const IrOp *op) {
    int64_t condition = 0;
    bool known = integer_of(w, ir_operand(op, 0), &condition);
    ModelWork sum = {0}, sides[2] = {0};
    for (int i = 0; i < 2; i++)
        if (!known || (i == 0) == (condition != 0)) sides[i] = walk_block(w, op->regions[i]);
    for (int i = 0; i < 2; i++) add(&sum, &sides[i], known ? 1 : 0.5);
    const IrBlock *from = op->regions[known && !condition];
    for (uint32_t i = 0; i < op->result_count; i++) {
        copy_fact(w, &op->results[i], ir_operand(from->last, i));
        if (!known) fact_of(w, &op->results[i])->known = false;
    }
    return sum;
}

static ModelWork walk_block(Walk *w, const IrBlock *block) {
    ModelWork sum = {0};
    for (const IrOp *op = block->first; op && !w->lost; op = op->next) {
        ModelWork inner = {0};
        if (op->code == IR_FOR) {
            inner = walk_for(w, op);
            add(&sum, &inner, 1);
        } else if (op->code == IR_IF) {
            inner = walk_if(w, op);
            add(&sum, &inner, 1);
        } else if (op->code == IR_WHILE || op->code == IR_CALL) {
            w->lost = true;
        } else {
            set_result(w, op);
            add_op(w, op, &sum);
        }
    }
    return sum;
}

// ---- A launch ----

// On a CPU one core does all kinds of work one after the other; units of a GPU do them at once.
static double clocks_of(const Walk *w, const ModelWork *work) {
    const ModelMachine *m = w->machine;
    if (!m->cpu && !m->gpu) return 0;
    if (m->cpu) {
        double vector = m->machine.vector_bytes;
        return work->lanes / (vector / 4 * m->cpu->arithmetic) +
               work->global / (vector * m->cpu->stores) + work->chain + CPU_PROGRAM;
    }
    const Rates *r = m->gpu;
    const double kilo = 1000;
    double matrix = r->matrix_async > r->matrix ? r->matrix_async : r->matrix;
    double cache = r->l2 ? (double)r->l2 / r->units : r->memory * kilo / r->mhz / r->units;
    double clocks = fmax(work->lanes / r->lanes, work->global / cache);
    if (work->products > 0) clocks = fmax(clocks, work->products / matrix);
    return fmax(clocks, work->shared / r->shared) + GPU_PROGRAM;
}

static bool bind_args(Walk *w, size_t count) {
    if (w->func->params.count != count) return false;
    for (size_t i = 0; i < count; i++) {
        const IrValue *v = w->func->params.data[i].value;
        const tilec_arg *a = &w->args[i];
        if (v->type->kind == IR_PTR) continue;
        bool view = v->type->kind == IR_VIEW;
        if (view != (a->kind == TILEC_ARG_VIEW)) return false;
        if (view && a->view.rank != (int32_t)v->type->rank) return false;
        if (view) continue;
        Dtype elem = v->type->elem;
        bool real = a->kind == TILEC_ARG_DOUBLE;
        if (real) set_scalar(w, v, dtype_from_double(elem, a->real, false));
        uint64_t whole = a->kind == TILEC_ARG_UINT ? a->natural : (uint64_t)a->integer;
        if (!real)
            set_scalar(
                w, v,
                dtype_cast(elem, a->kind == TILEC_ARG_UINT ? DTYPE_U64 : DTYPE_I64, whole, false));
    }
    return true;
}

// Does a condition of the launch fail?
static bool is_refused(Walk *w) {
    int64_t holds;
    for (size_t i = 0; i < w->func->sections.count; i++) {
        const IrSection *s = &w->func->sections.data[i];
        if (s->kind != IR_REQUIRES) continue;
        walk_block(w, s->block);
        if (integer_of(w, ir_operand(s->block->last, 0), &holds) && !holds) return true;
    }
    return false;
}

static bool find_grid(Walk *w) {
    const IrSection *s = ir_section(w->func, IR_GRID);
    if (!s) return false;
    walk_block(w, s->block);
    for (uint32_t i = 0; i < 3; i++) w->programs[i] = 1;
    for (uint32_t i = 0; i < s->block->last->operand_count; i++)
        if (!integer_of(w, ir_operand(s->block->last, i), &w->programs[i])) return false;
    return !w->lost && w->programs[0] > 0 && w->programs[1] > 0 && w->programs[2] > 0;
}

// The clocks of programs, by whether they are the last ones of each dimension.
typedef struct Programs {
    double clocks[8], useful[8], chain;
} Programs;

static Programs walk_programs(Walk *w) {
    Programs p = {0};
    for (unsigned last = 0; last < 8 && !w->lost; last++) {
        bool seen = true;
        for (unsigned d = 0; d < 3; d++) {
            bool end = (last >> d & 1) != 0;
            seen &= end || w->programs[d] > 1;
            w->program[d] = end ? w->programs[d] - 1 : (w->programs[d] - 1) / 2;
        }
        if (!seen) continue;
        w->factors = 0;
        ModelWork work = walk_block(w, ir_body(w->func));
        p.clocks[last] = clocks_of(w, &work);
        p.useful[last] = work.useful;
        p.chain = fmax(p.chain, work.chain);
    }
    return p;
}

// How many programs are of a class.
static double count_of(const int64_t grid[3], unsigned last) {
    double count = 1;
    for (unsigned d = 0; d < 3; d++) count *= last >> d & 1 ? 1 : (double)grid[d] - 1;
    return count;
}

static unsigned class_of(const Walk *w, int64_t program) {
    unsigned last = 0;
    for (unsigned d = 0; d < 3; d++) {
        last |= (unsigned)(program % w->programs[d] == w->programs[d] - 1) << d;
        program /= w->programs[d];
    }
    return last;
}

// The clocks until all programs have run: the next one goes to the unit that is idle first.
static double deal(Arena *scratch, const Walk *w, const Programs *p) {
    double total = (double)w->programs[0] * (double)w->programs[1] * (double)w->programs[2];
    size_t units = (size_t)w->machine->units;
    if (total > (double)DEALT_MOST) {
        double sum = 0;
        for (unsigned last = 0; last < 8; last++)
            sum += p->clocks[last] * count_of(w->programs, last);
        return ceil(total / (double)units) * (sum / total);
    }
    double *busy = arena_array(scratch, sizeof *busy, units), end = 0;
    for (size_t u = 1; u < units && w->machine->cpu; u++) busy[u] = CPU_WAKE;
    for (int64_t i = 0; i < (int64_t)total; i++) {
        size_t first = 0;
        for (size_t u = 1; u < units && busy[first] > 0; u++)
            if (busy[u] < busy[first]) first = u;
        busy[first] += p->clocks[class_of(w, i)];
        end = fmax(end, busy[first]);
    }
    return end;
}

// Programs of a GPU that one unit has at once; 0: not even one.
static double resident(const Walk *w) {
    const Machine *m = &w->machine->machine;
    const double least_registers = 48, registers = 65536, most_threads = 1536, most = 8;
    double threads = (double)w->warps * m->warp, sums = w->sums / threads;
    const double most_sums = m->tile_registers ? m->tile_registers : 224;  // of 255 registers
    if (sums > most_sums) return 0;
    // The compiler uses as many slots as fit.
    double shared = fmin(w->factors * (w->stages > 1 ? w->stages : 1), m->shared_bytes);
    double count = fmin(most, most_threads / threads);
    count = fmin(count, registers / (threads * (sums + least_registers)));
    if (shared > 0) count = fmin(count, m->shared_bytes / shared);
    return fmax(1, floor(count));
}

bool model_machine(CodeTarget target, double units, ModelMachine *machine) {
    bool gpu = code_target_is_gpu(target);
    *machine = (ModelMachine){.units = units};
    machine->machine = gpu ? machine_of_gpu(target.gpu) : machine_of_cpu(target.cpu);
    if (gpu)
        machine->gpu = rates_of(target.gpu);
    else
        machine->cpu = rates_of_cpu(target.cpu);
    return units >= 1 && (machine->gpu || machine->cpu);
}

static double seconds_of(Arena *scratch, Walk *w, size_t count) {
    if (!bind_args(w, count)) return 0;
    if (is_refused(w)) return INFINITY;
    if (!find_grid(w)) return 0;
    Programs p = walk_programs(w);
    if (w->lost || w->guesses) return 0;
    double clocks = deal(scratch, w, &p);
    if (w->machine->cpu) return clocks / CPU_HZ;
    const double mega = 1e6;
    double at_once = resident(w);
    if (at_once == 0) return INFINITY;
    double total = (double)w->programs[0] * (double)w->programs[1] * (double)w->programs[2];
    clocks = fmax(clocks, ceil(total / (w->machine->units * at_once)) * p.chain);
    return GPU_START + clocks / (w->machine->gpu->mhz * mega);
}

double model_flops(Arena *scratch, const IrFunc *tile, const tilec_arg *args, size_t count,
                   const int64_t grid[3]) {
    const ModelMachine none = {.units = 1};
    ArenaMark mark = arena_mark(scratch);
    Walk w = {.func = tile, .machine = &none, .args = args};
    w.facts = arena_array(scratch, sizeof *w.facts, tile->value_count);
    memcpy(w.programs, grid, sizeof w.programs);
    double sum = 0;
    bool known = bind_args(&w, count) && grid[0] > 0 && grid[1] > 0 && grid[2] > 0;
    Programs p = {0};
    if (known) p = walk_programs(&w);
    for (unsigned last = 0; last < 8; last++) sum += 2 * p.useful[last] * count_of(grid, last);
    arena_reset(scratch, mark);
    return known && !w.lost ? sum : 0;
}

double model_seconds(Arena *scratch, const IrFunc *tile, const tilec_arg *args, size_t count,
                     ModelOptions options, const ModelMachine *machine) {
    const int usual = 4;
    ArenaMark mark = arena_mark(scratch);
    Walk w = {.func = tile, .machine = machine, .args = args};
    w.facts = arena_array(scratch, sizeof *w.facts, tile->value_count);
    w.warps = options.warps ? options.warps : tile->warps ? tile->warps : usual;
    w.stages = options.stages ? options.stages : tile->stages;
    double seconds = seconds_of(scratch, &w, count);
    arena_reset(scratch, mark);
    return seconds;
}
