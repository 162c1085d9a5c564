// thread.*: all threads of a program, in step. An op that one thread does alone is executed for one
// thread after the other by the code of the other levels; ops of several threads are implemented
// here, literally.
#include "ir/interp/internal.h"

bool threads_agree(InterpRun *run, InterpFrame *frame, const IrOp *op, uint32_t operand) {
    uint64_t first = slot_get(operand_slot(run, frame, op, operand), 0);
    for (uint32_t t = 1; t < frame_threads(frame); t++) {
        InterpFrame *f = frame_thread(frame, t);
        uint64_t other = slot_get(operand_slot(run, f, op, operand), 0);
        if (other == first) continue;
        finding_add(run, op, FINDING_DIVERGED, t,
                    "thread 0 has %llu where thread %u has %llu, and control must be uniform",
                    (unsigned long long)first, t, (unsigned long long)other);
        run->over_limit = true;
        return false;
    }
    return true;
}

static void copy_lane(InterpSlot *to, uint32_t i, const InterpSlot *from, uint32_t k) {
    copy_element(to->data + (size_t)i * to->size, from->data + (size_t)k * from->size, to->size);
}

void execute_thread_value(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    InterpSlot *r = result_slot(run, frame, op, 0);
    if (op->code == IR_THREAD_ID) {
        slot_put(r, 0, frame->thread);
        return;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const InterpSlot *x = operand_slot(run, frame, op, i);
        for (uint32_t k = 0; k < x->count; k++) copy_lane(r, at++, x, k);
    }
}

// ---- within a warp ------------------------------------------------------------------------------

static void shuffle(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    uint32_t by = (uint32_t)ir_attr_int(op, IR_ATTR_LANE), lanes = ir_lane_count(frame->func);
    for (uint32_t t = 0; t < frame_threads(frame); t++) {
        InterpFrame *f = frame_thread(frame, t);
        const InterpSlot *from = operand_slot(run, f, op, 1);
        uint32_t lane = from ? (uint32_t)slot_get(from, 0) : t ^ by;
        uint32_t source = (t & ~(lanes - 1)) | (lane & (lanes - 1));
        if (source >= frame_threads(frame)) source = t;  // one thread is its own warp
        const InterpSlot *x = operand_slot(run, frame_thread(frame, source), op, 0);
        InterpSlot *r = result_slot(run, f, op, 0);
        for (uint32_t i = 0; i < r->count; i++) copy_lane(r, i, x, i);
    }
}

enum { MATRIX_LANES = 32 };

// Row r of matrix m begins at the pointer of lane 8m + r. A lane gets 4 bytes of each.
static void matrix_load(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    uint32_t count = (uint32_t)ir_attr_int(op, IR_ATTR_COUNT);
    bool turned = ir_attr_int(op, IR_ATTR_TURNED) != 0;
    for (uint32_t t = 0; t < frame_threads(frame); t++) {
        InterpSlot *r = result_slot(run, frame_thread(frame, t), op, 0);
        uint32_t lane = t % MATRIX_LANES, warp = t - lane, size = (uint32_t)dtype_size(r->elem);
        uint32_t word = 4 / size;
        for (uint32_t i = 0; i < word * count; i++) {
            uint32_t row = lane / 4, column = word * (lane % 4) + i % word;
            uint32_t from = warp + 8 * (i / word) + (turned ? column : row);
            if (from >= frame_threads(frame)) continue;
            const InterpSlot *p = operand_slot(run, frame_thread(frame, from), op, 0);
            uint64_t address = slot_place(p, 0).address + size * (turned ? row : column);
            slot_put(r, i, memory_read(r->elem, address));
        }
    }
}

// ---- copies -------------------------------------------------------------------------------------

// Zeros where the mask is false. The copy is complete at once: only the machine has poison until
// the wait.
static void copy(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    const InterpSlot *to = operand_slot(run, frame, op, 0), *from = operand_slot(run, frame, op, 1);
    const InterpSlot *mask = operand_slot(run, frame, op, 2);
    uint32_t size = (uint32_t)dtype_size(to->elem),
             count = (uint32_t)ir_attr_int(op, IR_ATTR_COUNT);
    size_t bytes = (size_t)count * size;
    unsigned char *target = (unsigned char *)(uintptr_t)slot_place(to, 0).address;
    const unsigned char *source = (const unsigned char *)(uintptr_t)slot_place(from, 0).address;
    if (mask && !slot_get(mask, 0))
        memset(target, 0, bytes);
    else
        memcpy(target, source, bytes);
    for (uint32_t i = 0; run->sanitize && i < count; i++)
        pages_touch(run->interp->pages, slot_place(to, 0).address + i * size, size, TOUCH_WRITE, 1);
}

// ---- copies by maps -----------------------------------------------------------------------------

// The element of a box at these coordinates: its offset from the beginning in shared memory.
static uint64_t box_offset(const IrMap *map, const uint32_t *at, uint32_t size) {
    enum { UNIT_BITS = 4 };
    uint64_t offset = 0;
    for (uint32_t d = map->rank; d-- > 0;) offset = offset * map->box[d] + at[d];
    offset *= size;
    uint64_t mask = map->swizzle ? map->swizzle - (1u << UNIT_BITS) : 0;
    return offset ^ (offset >> 3 & mask);
}

// The element's address; 0: it is outside of the view.
static uint64_t box_source(const IrArg *arg, const IrMap *map, const int64_t *first,
                           const uint32_t *at, uint32_t size) {
    uint64_t address = (uint64_t)(uintptr_t)arg->data;
    for (uint32_t d = 0; d < map->rank; d++) {
        uint32_t axis = map->axes[d];
        int64_t index = first[axis] + at[d];
        if (index < 0 || index >= arg->extent[axis]) return 0;
        address += (uint64_t)(index * arg->stride[axis]) * size;
    }
    return address;
}

static bool next_in_box(const IrMap *map, uint32_t *at) {
    for (uint32_t d = 0; d < map->rank; d++) {
        if (++at[d] < map->box[d]) return true;
        at[d] = 0;
    }
    return false;
}

// The whole box is there at once: only the machine has poison until the wait.
static void tma_load(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    enum { FIRST = 4 };
    const InterpSlot *mask = operand_slot(run, frame, op, 3);
    if (mask && !slot_get(mask, 0)) return;
    const IrMap *map = &frame->func->maps.data[ir_attr_int(op, IR_ATTR_MAP)];
    const InterpSlot *to = operand_slot(run, frame, op, 0), *view = operand_slot(run, frame, op, 1);
    const IrArg *arg = &run->launch->args[view->argument];
    uint32_t size = (uint32_t)dtype_size(to->elem), at[IR_MAX_VIEW_RANK] = {0};
    int64_t first[IR_MAX_VIEW_RANK];
    for (uint32_t d = 0; d < map->rank; d++)
        first[d] = (int32_t)slot_get(operand_slot(run, frame, op, FIRST + d), 0);
    do {
        uint64_t source = box_source(arg, map, first, at, size);
        uint64_t target = slot_place(to, 0).address + box_offset(map, at, size);
        memory_write(to->elem, target, source ? memory_read(to->elem, source) : 0);
        if (run->sanitize) pages_touch(run->interp->pages, target, size, TOUCH_WRITE, 1);
    } while (next_in_box(map, at));
}

// Products are complete at once.
static void wait(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    InterpSlot *r = result_slot(run, frame, op, 0);
    const InterpSlot *x = operand_slot(run, frame, op, 0);
    for (uint32_t i = 0; i < r->count; i++) copy_lane(r, i, x, i);
}

// ---- all ----------------------------------------------------------------------------------------

// One allocation: all threads get what thread 0 got.
static bool shared(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    run->one_thread = true;
    bool fine = execute_op(run, frame, op);
    run->one_thread = false;
    const InterpSlot *first = slot_of(run, frame, &op->results[0]);
    for (uint32_t t = 1; fine && t < frame_threads(frame); t++)
        copy_lane(result_slot(run, frame_thread(frame, t), op, 0), 0, first, 0);
    return fine;
}

static bool one_by_one(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    bool fine = true;
    run->one_thread = true;
    for (uint32_t t = 0; fine && t < frame_threads(frame); t++)
        fine = execute_op(run, frame_thread(frame, t), op);
    run->one_thread = false;
    return fine;
}

bool execute_threads(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    switch (op->code) {
    case IR_FOR:
    case IR_WHILE:
    case IR_IF: return execute_control(run, frame, op);
    case IR_THREAD_SHARED: return shared(run, frame, op);
    case IR_THREAD_SHUFFLE: shuffle(run, frame, op); return true;
    case IR_THREAD_MATRIX_LOAD: matrix_load(run, frame, op); return true;
    case IR_THREAD_MMA: thread_mma(run, frame, op); return true;
    case IR_THREAD_WGMMA: thread_wgmma(run, frame, op); return true;
    case IR_THREAD_WGMMA_BEGIN:
    case IR_THREAD_WGMMA_WAIT:
        for (uint32_t t = 0; t < frame_threads(frame); t++) wait(run, frame_thread(frame, t), op);
        return true;
    case IR_THREAD_COPY:
        for (uint32_t t = 0; t < frame_threads(frame); t++) copy(run, frame_thread(frame, t), op);
        return true;
    case IR_THREAD_TMA_LOAD:
        for (uint32_t t = 0; t < frame_threads(frame); t++)
            tma_load(run, frame_thread(frame, t), op);
        return true;
    case IR_VEC_PRINT: execute_vec_print(run, frame, op); return true;  // once for all threads
    case IR_THREAD_BARRIER:  // threads run in step, so everything is visible at once
    case IR_THREAD_COMMIT:
    case IR_THREAD_WGMMA_COMMIT:
    case IR_THREAD_WAIT:
    case IR_THREAD_MBARRIER_INIT:
    case IR_THREAD_MBARRIER_EXPECT:
    case IR_THREAD_MBARRIER_ARRIVE:
    case IR_THREAD_MBARRIER_WAIT:
    case IR_THREAD_MBARRIER_END: return true;
    default: break;
    }
    return one_by_one(run, frame, op);
}
