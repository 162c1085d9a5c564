// Rings: slots for tiles in shared memory, filled by copies that run during the computation, and
// read in the layout that their users need.
#include "passes/gpu/lower/access.h"
#include "passes/gpu/lower/dot.h"
#include "passes/rewrite.h"

// ---- copies of a lane ---------------------------------------------------------------------------

// Elements of a lane, if the lanes of a warp write consecutive places in memory; else 0.
static uint32_t row_vector(const Layout *l, const Layout *memory) {
    uint32_t lanes = l->dim_bits[LAYOUT_LANE], bits = memory->dim_bits[LAYOUT_OFFSET], low = 0;
    uint32_t first = layout_basis(l, LAYOUT_LANE, 0);
    while (low < bits && layout_basis(memory, LAYOUT_OFFSET, low) != first) low++;
    if (low + lanes > bits) return 0;
    for (uint32_t i = 0; i < lanes; i++)
        if (layout_basis(l, LAYOUT_LANE, i) != layout_basis(memory, LAYOUT_OFFSET, low + i))
            return 0;
    return 1u << low;
}

// The elements of a lane that are neighbours in memory.
static uint32_t load_vector(const IrFunc *f, const GpuFacts *facts, const IrOp *load,
                            const Layout *l) {
    if (load->code == IR_VIEW_LOAD) return gpu_view_vector(f, facts->facts, facts->ranges, load, l);
    GpuFuncFacts known = {f, facts->ranges, facts->facts};
    uint32_t run = gpu_pointer_run(&known, load, l->rank - 1u);
    uint32_t most = layout_contiguity(l, l->rank - 1u);
    return run < most ? run : most;
}

const IrValue *gpu_load_pad(const IrOp *load) {
    return ir_operand(load, load->code == IR_VIEW_LOAD ? 1 : 2);
}

uint32_t gpu_copy_vector(const IrFunc *f, const GpuFacts *facts, const IrOp *load,
                         const Layout *memory) {
    const IrValue *x = &load->results[0];
    if (!gpu_copy_bytes(f, facts, GPU_ACCESS_BYTES)) return 0;
    if (load->code != IR_VIEW_LOAD && load->code != IR_LOAD) return 0;
    if (!ir_value_is_tile(x)) return 0;
    // Without asynchronous copies of single lanes all lanes copy, so that none has a mask.
    if (load->code == IR_LOAD && !facts->machine->async_copy) return 0;
    const Layout *l = x->type->layout;
    Dtype elem = ir_operand(load, 0)->type->elem;
    if (dtype_is(elem, DTYPE_CLASS_PACKED) || elem == DTYPE_BOOL) return 0;
    const IrValue *pad = gpu_load_pad(load);
    if (pad && !rewrite_is_zero(pad)) return 0;
    if (layout_free_bits(l, LAYOUT_LANE) || layout_free_bits(l, LAYOUT_WARP)) return 0;
    uint32_t vector = load_vector(f, facts, load, l);
    uint32_t bytes = (uint32_t)dtype_size(elem);
    for (uint32_t bit = 0; memory && 1u << bit < vector; bit++)
        if (layout_basis(memory, LAYOUT_OFFSET, bit) != 1u << bit) vector = 1u << bit;
    vector = gpu_copy_bytes(f, facts, vector * bytes) / bytes;
    if (facts->machine->async_copy || !memory) return vector;
    uint32_t row = row_vector(l, memory);
    return row <= vector && gpu_copy_bytes(f, facts, row * bytes) == row * bytes ? row : 0;
}

// Are the elements that one copy moves contiguous in memory, the last axis the fastest?
static bool copies(const Threads *t, const IrOp *load, const Layout *memory, uint32_t *vector) {
    GpuFacts facts = {t->machine, t->facts, t->ranges};
    *vector = gpu_copy_vector(t->func, &facts, load, memory);
    return *vector > 0;
}

// The gpu.copy that a load is a part of; NULL: it is a plain load.
static const IrOp *copy_of(const IrOp *load) {
    const IrUse *use = load->result_count ? load->results[0].uses : NULL;
    bool copies = use && (use->user->code == IR_GPU_COPY || use->user->code == IR_GPU_TMA_LOAD);
    if (!copies || use->next) return NULL;
    return use->user->block == load->block && ir_operand(use->user, 1) == load->results ? use->user
                                                                                        : NULL;
}

bool threads_load_is_copy(Threads *t, const IrOp *load) {
    uint32_t vector;
    const IrOp *copy = copy_of(load);
    if (copy && copy->code == IR_GPU_TMA_LOAD) return true;
    return copy && copies(t, load, ir_operand(copy, 0)->type->layout, &vector);
}

bool threads_copies(Threads *t, const IrOp *copy) {
    const IrOp *load = ir_operand(copy, 1)->def;
    return load && copy_of(load) == copy && threads_load_is_copy(t, load);
}

// ---- copying ------------------------------------------------------------------------------------

static void begin_copy(Threads *t, IrValue *to, IrValue *from, uint32_t count, IrValue *mask) {
    IrValue *operands[3] = {to, from, mask};
    IrOp *op = ir_op(&t->b, IR_THREAD_COPY, 3, operands, 0, NULL, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_COUNT, count);
}

static void copy_tile(Threads *t, const IrOp *load, IrValue *p, const Layout *memory,
                      uint32_t vector) {
    const Layout *l = load->results[0].type->layout;
    Selection s = access_select(t, load, l);
    (void)access_vector(t, &s);  // for its remarks
    AccessRuns r = access_runs(t, l, l->rank - 1u, vector);
    ThreadsPlaces places = threads_places(t, l, memory);
    for (uint32_t i = 0; i < r.count; i++) {
        uint32_t reg = r.registers[i * r.vector];
        if (threads_first_holder(l, reg) != reg) continue;
        IrValue *to = threads_places_at(t, &places, p, reg);
        IrValue *mask = access_mask_when(t, &s, &r, i, t->when);
        begin_copy(t, to, access_pointer(t, &s, reg), vector, mask);
    }
}

static void copy_pointers(Threads *t, const IrOp *load, IrValue *p, const Layout *memory,
                          uint32_t vector) {
    const Layout *l = load->results[0].type->layout;
    IrValue *from = threads_operand(t, load, 0), *masks = threads_operand(t, load, 1);
    AccessRuns r = access_runs(t, l, l->rank - 1u, vector);
    ThreadsPlaces places = threads_places(t, l, memory);
    for (uint32_t i = 0; i < r.count; i++) {
        uint32_t reg = r.registers[i * r.vector];
        if (threads_first_holder(l, reg) != reg) continue;
        IrValue *to = threads_places_at(t, &places, p, reg);
        IrValue *mask = access_both(t, masks ? threads_get(t, masks, reg) : NULL, t->when);
        begin_copy(t, to, threads_get(t, from, reg), vector, mask);
    }
}

static void lower_copy(Threads *t, const IrOp *op) {
    IrValue *p = threads_operand(t, op, 0);
    const IrValue *x = ir_operand(op, 1);
    const Layout *memory = ir_operand(op, 0)->type->layout;
    uint32_t vector;
    if (x->def && copy_of(x->def) == op && copies(t, x->def, memory, &vector))
        (x->def->code == IR_LOAD ? copy_pointers : copy_tile)(t, x->def, p, memory, vector);
    else
        threads_trip_store(t, p, threads_value(t, x), x->type->layout, memory);
}

// ---- reading ------------------------------------------------------------------------------------

// May its registers be loaded where they are used? Only if no store writes the slot before that.
static bool all_in_products(const IrOp *op) {
    uint32_t uses = 0;
    for (const IrUse *use = op->results[0].uses; use; use = use->next, uses++) {
        if (use->user->code != IR_DOT || use->user->block != op->block) return false;
        GpuDot d = gpu_dot_of(use->user);
        const Layout *wanted = ir_operand(use->user, 0) == op->results ? &d.a : &d.b;
        if (!d.matrix || !layout_equal(wanted, op->results[0].type->layout)) return false;
    }
    for (const IrOp *at = op->next; at && uses; at = at->next) {
        if (at->code == IR_GPU_WAIT || at->code == IR_GPU_COPY || at->region_count) return false;
        if (at->code == IR_GPU_MBARRIER_WAIT || at->code == IR_GPU_TMA_LOAD) return false;
        for (uint32_t i = 0; i < at->operand_count; i++) uses -= ir_operand(at, i) == op->results;
    }
    return true;
}

const IrValue *threads_read_place(const IrValue *v) {
    const IrOp *op = v->def;
    return op && op->code == IR_GPU_READ && all_in_products(op) ? ir_operand(op, 0) : NULL;
}

ThreadsTrip *threads_read(Threads *t, const IrValue *v) {
    const IrValue *p = threads_read_place(v);
    if (!p) return NULL;
    return threads_trip_open(t, threads_value(t, p), p->type->layout, v->type->layout);
}

static void lower_read(Threads *t, const IrOp *op) {
    const IrValue *p = ir_operand(op, 0);
    if (all_in_products(op)) return;
    ThreadsTrip *trip =
        threads_trip_open(t, threads_value(t, p), p->type->layout, op->results[0].type->layout);
    threads_define(t, op, 0, threads_trip_load_all(t, trip));
}

// ---- places -------------------------------------------------------------------------------------

static void lower_shared(Threads *t, const IrOp *op) {
    const IrType *type = op->results[0].type;
    uint32_t count = type->count * (uint32_t)ir_attr_int(op, IR_ATTR_COUNT);
    threads_define(t, op, 0, threads_shared(t, type->elem, count));
}

static void lower_slot(Threads *t, const IrOp *op) {
    IrValue *size = threads_i32(t, op->results[0].type->count);
    IrValue *at = ir_binary(&t->b, IR_MUL, threads_operand(t, op, 1), size);
    threads_define(t, op, 0, threads_at(t, threads_operand(t, op, 0), at));
}

static void lower_barrier(Threads *t, bool global) {
    IrOp *barrier = ir_op(&t->b, IR_THREAD_BARRIER, 0, NULL, 0, NULL, 0, NULL);
    if (global) ir_attr_set_int(barrier, IR_ATTR_GLOBAL, true);
}

// Without such copies everything that is copied is stored at once.
static bool has_copies(const Threads *t) {
    GpuFacts facts = {t->machine, t->facts, t->ranges};
    return gpu_copy_bytes(t->func, &facts, GPU_ACCESS_BYTES) > 0;
}

static void lower_commit(Threads *t) {
    if (has_copies(t)) ir_op(&t->b, IR_THREAD_COMMIT, 0, NULL, 0, NULL, 0, NULL);
}

static void lower_wait(Threads *t, const IrOp *op) {
    if (!has_copies(t)) {
        lower_barrier(t, false);
        return;
    }
    IrOp *wait = ir_op(&t->b, IR_THREAD_WAIT, 0, NULL, 0, NULL, 0, NULL);
    ir_attr_set_int(wait, IR_ATTR_COUNT, ir_attr_int(op, IR_ATTR_COUNT));
    lower_barrier(t, ir_attr_int(op, IR_ATTR_GLOBAL) != 0);
}

static void lower_settle(Threads *t, const IrOp *op) {
    IrValue *x = threads_operand(t, op, 0);
    threads_define(t, op, 0,
                   ir_result(ir_op(&t->b, IR_THREAD_WGMMA_WAIT, 1, &x, 1, &x->type, 0, NULL), 0));
}

void threads_ring(Threads *t, const IrOp *op) {
    switch (op->code) {
    case IR_GPU_SHARED: lower_shared(t, op); return;
    case IR_GPU_SLOT: lower_slot(t, op); return;
    case IR_GPU_COPY: lower_copy(t, op); return;
    case IR_GPU_COMMIT: lower_commit(t); return;
    case IR_GPU_BARRIER: lower_barrier(t, true); return;
    case IR_GPU_WAIT: lower_wait(t, op); return;
    case IR_GPU_READ: lower_read(t, op); return;
    case IR_GPU_SETTLE: lower_settle(t, op); return;
    case IR_GPU_MBARRIER:
    case IR_GPU_MBARRIER_EXPECT:
    case IR_GPU_MBARRIER_ARRIVE:
    case IR_GPU_MBARRIER_WAIT:
    case IR_GPU_MBARRIER_END:
    case IR_GPU_TMA_LOAD: threads_map(t, op); return;
    case IR_PERMUTE: threads_define(t, op, 0, threads_operand(t, op, 0)); return;
    default: break;
    }
}
