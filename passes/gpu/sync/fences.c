// gpu_fences: the accesses of a program happen one after the other, but its threads do not run in
// step. If an access may touch an element that another thread of the program accessed before it,
// and one of the two writes, a gpu.barrier is put between them.
//
// How: walking in order, the accesses since the last barrier are kept; loops are walked again with
// the accesses that are open at their end, until no barrier is added. Two accesses of the same
// elements in the same layout stay within each thread; in different iterations of a loop they do so
// if iterations touch the same elements, or different ones (passes/iterations.h).
#include "base/facts.h"
#include "passes/alias.h"
#include "passes/gpu/gpu.h"
#include "passes/iterations.h"
#include "passes/passes.h"

typedef struct PriorAccess {
    const IrOp *op;
    const IrOp *loop;  // in an earlier iteration of it: the outermost one; NULL: in this iteration
} PriorAccess;
typedef VEC(PriorAccess) Pending;

// The accesses that the iterations of a loop leave to the next one, as found before the barrier of
// that number.
typedef struct CarriedAccesses {
    Pending accesses;
    uint32_t barriers;
} CarriedAccesses;

typedef struct Fences {
    const IrFunc *func;
    Iterations iterations;
    Arena *scratch;
    unsigned facts;
    CarriedAccesses *carried;  // of loops, by the number of the op
    uint32_t barriers;
    Remarks *remarks;
} Fences;

static bool is_access(const IrOp *op) {
    IrEffect effect = ir_op_info(op->code)->effect;
    // A ring has memory of its own.
    bool ring = op->code == IR_GPU_COPY || op->code == IR_GPU_TMA_LOAD || op->code == IR_GPU_READ;
    return (effect == IR_EFFECT_READ || effect == IR_EFFECT_WRITE) && op->code != IR_CALL && !ring;
}

static bool writes(const IrOp *op) { return ir_op_info(op->code)->effect == IR_EFFECT_WRITE; }

// The tile that is moved: the result of a load, the operand of a store.
static const IrType *moved(const IrOp *op) {
    return op->result_count ? op->results[0].type : ir_operand(op, 1)->type;
}

static bool is_packed(const IrOp *op) {
    return dtype_is(ir_operand(op, 0)->type->elem, DTYPE_CLASS_PACKED);
}
static bool is_store(const IrOp *op) { return op->code == IR_STORE || op->code == IR_VIEW_STORE; }

// Does the same thread touch an element both times? For packed elements whole bytes are stored, and
// the storing thread is known only later. Always the same one of the threads that hold an element
// stores it; for a scalar, the first thread does.
static bool stays_in_thread(const Fences *f, const IrOp *a, const IrOp *b) {
    const Layout *x = moved(a)->layout, *y = moved(b)->layout;
    bool stores = is_store(a) && is_store(b);
    if (is_packed(a) || is_packed(b)) return false;
    if (stores && !x && !y) return true;
    if (!x || !y || !layout_equal(x, y) || !alias_same_elements(f->facts, a, b)) return false;
    bool once = !layout_free_bits(x, LAYOUT_LANE) && !layout_free_bits(x, LAYOUT_WARP);
    return stores || once;
}

static bool needs_fence(const Fences *f, const PriorAccess *before, const IrOp *b) {
    const IrOp *a = before->op;
    if (!writes(a) && !writes(b)) return false;
    if (!alias_conflict(f->func, f->facts, a, b)) return false;
    if (before->loop && !iterations_agree(&f->iterations, before->loop, b)) return true;
    return !stays_in_thread(f, a, b);
}

static void add(Fences *f, Pending *pending, PriorAccess before) {
    for (size_t i = 0; i < pending->count; i++)
        if (pending->data[i].op == before.op && pending->data[i].loop == before.loop) return;
    vec_push(f->scratch, pending, before);
}

static void add_all(Fences *f, Pending *pending, const Pending *more) {
    for (size_t i = 0; i < more->count; i++) add(f, pending, more->data[i]);
}

static Pending copy_of(Fences *f, const Pending *pending) {
    Pending made = {0};
    add_all(f, &made, pending);
    return made;
}

// Adds the accesses that the end of an iteration leaves to the next one.
static void add_carried(Fences *f, Pending *pending, const Pending *end, const IrOp *loop) {
    for (size_t i = 0; i < end->count; i++) add(f, pending, (PriorAccess){end->data[i].op, loop});
}

static void walk(Fences *f, IrBlock *block, Pending *pending);

// The tiles that a program computes one after the other are positions of the kernel's grid, between
// which nothing is ordered.
static bool is_over_tiles(const Fences *f, const IrOp *loop) {
    return f->facts & FACT_PERSISTENT && loop->block == ir_body(f->func);
}

// A walk of an enclosing loop comes here again with at least the same accesses. It begins with
// those that were found then; otherwise the time would double with each loop of a nest. A barrier
// since then may have ended some of them.
static void walk_loop(Fences *f, IrOp *op, Pending *pending) {
    if (is_over_tiles(f, op)) {
        walk(f, op->regions[0], pending);
        return;
    }
    CarriedAccesses *last = &f->carried[op->id];
    bool again = true;
    if (last->barriers == f->barriers) add_all(f, pending, &last->accesses);
    while (again) {
        uint32_t barriers = f->barriers;
        Pending state = copy_of(f, pending), carried = {0};
        for (uint32_t r = 0; r < op->region_count; r++) walk(f, op->regions[r], &state);
        size_t known = pending->count;
        add_carried(f, &carried, &state, op);
        add_all(f, pending, &carried);
        *last = (CarriedAccesses){carried, f->barriers};
        again = f->barriers != barriers || pending->count != known;
    }
}

static void walk_if(Fences *f, IrOp *op, Pending *pending) {
    Pending out = {0};
    for (uint32_t r = 0; r < op->region_count; r++) {
        Pending state = copy_of(f, pending);
        walk(f, op->regions[r], &state);
        add_all(f, &out, &state);
    }
    *pending = out;
}

static void visit(Fences *f, IrOp *op, Pending *pending) {
    for (size_t i = 0; i < pending->count; i++) {
        if (!needs_fence(f, &pending->data[i], op)) continue;
        IrBuilder b = ir_builder_before(op);
        b.span = op->span;
        ir_op(&b, IR_GPU_BARRIER, 0, NULL, 0, NULL, 0, NULL);
        remark(f->remarks, op->span, REASON_BARRIER_KEPT, NULL, REMARK(0));
        pending->count = 0;
        f->barriers++;
        break;
    }
    add(f, pending, (PriorAccess){op, NULL});
}

static bool is_copied(const IrOp *op) {
    const IrUse *use = op->result_count ? op->results[0].uses : NULL;
    return use && !use->next && use->user->code == IR_GPU_COPY;
}

// A wait is a barrier; a wait for groups without copies comes after the barriers of all others.
static void visit_wait(const IrOp *op, Pending *pending) {
    bool global = ir_attr_int(op, IR_ATTR_GLOBAL) != 0;
    size_t left = 0;
    for (size_t i = 0; i < pending->count && !global; i++)
        if (!is_copied(pending->data[i].op)) pending->data[left++] = pending->data[i];
    pending->count = left;
}

static void walk(Fences *f, IrBlock *block, Pending *pending) {
    IR_EACH_OP(op, block) {
        if (op->code == IR_FOR || op->code == IR_WHILE)
            walk_loop(f, op, pending);
        else if (op->code == IR_IF)
            walk_if(f, op, pending);
        else if (op->code == IR_GPU_BARRIER)
            pending->count = 0;
        else if (op->code == IR_GPU_WAIT)
            visit_wait(op, pending);
        else if (is_access(op))
            visit(f, op, pending);
    }
}

bool pass_gpu_fences(IrFunc *f, PassContext *context) {
    if (!f->is_kernel || !ir_body(f) || f->level != IR_LEVEL_GPU) return false;
    context->keeps_ranges = true;  // barriers and waits have no results
    Fences fences = {.func = f,
                     .iterations = {f, pass_ranges(context, f)},
                     .scratch = context->scratch,
                     .facts = context->facts,
                     .carried = arena_new(context->scratch, CarriedAccesses, f->op_count),
                     .remarks = context->remarks};
    Pending pending = {0};
    walk(&fences, ir_body(f), &pending);
    return fences.barriers > 0;
}
