// Blocks, loops, branches, and the one switch over all ops.
#include "ir/interp/internal.h"

// Nesting of regions and calls; the parser's and the front end's own limits are far below.
enum { DEPTH_LIMIT = 1000 };

bool execute_step(InterpRun *run) {
    run->steps++;
    if (run->launch->step_limit && run->steps > run->launch->step_limit) run->over_limit = true;
    return !run->over_limit;
}

bool execute_block(InterpRun *run, InterpFrame *frame, const IrBlock *block) {
    if (++run->depth > DEPTH_LIMIT) {
        run->over_limit = true;
        return false;
    }
    for (const IrOp *op = block->first; op; op = op->next)
        if (!execute_step(run) || !execute_op(run, frame, op)) return false;
    run->depth--;
    return true;
}

// ---- carried values -----------------------------------------------------------------------------

// A yield may permute the loop's arguments: all are copied to scratch memory before any is
// replaced.
static void carry_one(InterpRun *run, InterpFrame *frame, const IrBlock *to, uint32_t first,
                      const IrOp *from, uint32_t from_first, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        InterpSlot *arg = slot_of(run, frame, to->args[first + i]);
        const InterpSlot *next = operand_slot(run, frame, from, from_first + i);
        size_t size = (size_t)arg->count * arg->size;
        if (!arg->spare) arg->spare = arena_alloc(run->interp->arena, size + 1);
        if (arg->type->kind != IR_VIEW) memcpy(arg->spare, next->data, size);
        if (next->wrap) {
            if (!arg->spare_wrapped)
                arg->spare_wrapped = arena_alloc(run->interp->arena, arg->count);
            memcpy(arg->spare_wrapped, next->wrapped, arg->count);
        }
        if (!next->shadowed) continue;
        size_t shadow_size = arg->count * sizeof(ShadowValue);
        if (!arg->spare_shadow) arg->spare_shadow = arena_alloc(run->interp->arena, shadow_size);
        memcpy(arg->spare_shadow, next->shadow, shadow_size);
    }
    // Whether each next value is shadowed or wrapped is read for all of them before it is set for
    // any.
    ArenaMark mark = arena_mark(run->scratch);
    bool *shadowed = arena_new(run->scratch, bool, count + 1);
    const IrOp **wrap = arena_new(run->scratch, const IrOp *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        shadowed[i] = operand_slot(run, frame, from, from_first + i)->shadowed;
        wrap[i] = operand_slot(run, frame, from, from_first + i)->wrap;
    }
    for (uint32_t i = 0; i < count; i++) {
        InterpSlot *arg = slot_of(run, frame, to->args[first + i]);
        unsigned char *data = arg->data;
        arg->data = arg->spare;
        arg->spare = data;
        arg->shadowed = shadowed[i];
        arg->wrap = wrap[i];
        if (wrap[i]) {
            uint8_t *flags = arg->wrapped;
            arg->wrapped = arg->spare_wrapped;
            arg->spare_wrapped = flags;
        }
        if (!shadowed[i]) continue;
        ShadowValue *shadow = arg->shadow;
        arg->shadow = arg->spare_shadow;
        arg->spare_shadow = shadow;
    }
    arena_reset(run->scratch, mark);
}

static void carry(InterpRun *run, InterpFrame *frame, const IrBlock *to, uint32_t first,
                  const IrOp *from, uint32_t from_first, uint32_t count) {
    for (uint32_t t = 0; t < frame_threads(frame); t++)
        carry_one(run, frame_thread(frame, t), to, first, from, from_first, count);
}

// Result i of op is this value.
static void take_one(InterpRun *run, InterpFrame *frame, const IrOp *op, uint32_t i,
                     const IrValue *value, bool doubt) {
    for (uint32_t t = 0; t < frame_threads(frame); t++) {
        InterpFrame *f = frame_thread(frame, t);
        InterpSlot *r = result_slot(run, f, op, i);
        slot_copy(run, r, slot_of(run, f, value));
        if (doubt) slot_set_undecided(run, r);
    }
}

static void take_results(InterpRun *run, InterpFrame *frame, const IrOp *op, const IrBlock *block,
                         uint32_t first, bool doubt) {
    for (uint32_t i = 0; i < op->result_count; i++)
        take_one(run, frame, op, i, block->args[first + i], doubt);
}

static bool undecided(const InterpRun *run, const InterpSlot *s) {
    return run->shadow && s && s->shadowed && s->shadow[0].e > 0;
}

// ---- for ----------------------------------------------------------------------------------------

// The number of iterations: exact for all bounds, nothing overflows.
static uint64_t iterations(int64_t lo, int64_t hi, int64_t by, bool down) {
    if (down ? by >= 0 || lo <= hi : by <= 0 || lo >= hi) return 0;
    uint64_t span = down ? (uint64_t)lo - (uint64_t)hi : (uint64_t)hi - (uint64_t)lo;
    uint64_t stride = down ? 0 - (uint64_t)by : (uint64_t)by;
    return (span - 1) / stride + 1;
}

static bool execute_for(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    const IrBlock *body = op->regions[0];
    bool down = ir_attr_int(op, IR_ATTR_DOWN) != 0;
    bool may_exit = ir_attr_int(op, IR_ATTR_EXIT) != 0;
    int64_t bound[3];
    bool doubt = false;
    for (uint32_t i = 0; i < 3; i++) {
        const InterpSlot *s = operand_slot(run, frame, op, i);
        TRY(threads_agree(run, frame, op, i));
        slot_i64(s, 0, &bound[i]);
        doubt |= undecided(run, s);
    }
    uint64_t count = iterations(bound[0], bound[1], bound[2], down);
    uint64_t place = (uint64_t)bound[0];
    run->undecided_depth += doubt;
    carry(run, frame, body, 1, op, 3, op->operand_count - 3);
    for (uint64_t n = 0; n < count; n++, place += (uint64_t)bound[2]) {
        if (may_exit) {
            const InterpSlot *go = slot_of(run, frame, body->args[1]);
            if (!doubt && undecided(run, go)) {
                doubt = true;
                run->undecided_depth++;
            }
            if (!slot_get(go, 0)) break;
        }
        for (uint32_t t = 0; t < frame_threads(frame); t++) {
            InterpSlot *counter = slot_of(run, frame_thread(frame, t), body->args[0]);
            counter->shadowed = false;
            slot_put(counter, 0, place);
        }
        TRY(execute_block(run, frame, body));
        if (may_exit) TRY(threads_agree(run, frame, body->last, 0));
        carry(run, frame, body, 1, body->last, 0, body->last->operand_count);
    }
    if (may_exit && !doubt && undecided(run, slot_of(run, frame, body->args[1]))) {
        doubt = true;
        run->undecided_depth++;
    }
    run->undecided_depth -= doubt;
    if (doubt) poison_written(run, frame, body);
    take_results(run, frame, op, body, 1, doubt);
    return true;
}

// ---- endless loops ------------------------------------------------------------------------------

// After a carry `spare` has the values of the iteration before.
static bool carried_the_same(InterpRun *run, InterpFrame *frame, const IrBlock *to) {
    for (uint32_t t = 0; t < frame_threads(frame); t++)
        for (uint32_t i = 0; i < to->arg_count; i++) {
            const InterpSlot *s = slot_of(run, frame_thread(frame, t), to->args[i]);
            if (s->type->kind != IR_VIEW && memcmp(s->data, s->spare, (size_t)s->count * s->size))
                return false;
        }
    return true;
}

// Programs run one after another, so nothing else changes what the next iteration reads.
static bool can_end(InterpRun *run, InterpFrame *frame, const IrOp *loop) {
    if (!run->sanitize || run->changed || !carried_the_same(run, frame, loop->regions[0]))
        return true;
    finding_add(run, loop->regions[0]->last, FINDING_ENDLESS, 0,  // its condition's place
                "this loop never ends: no iteration changes what the next one reads");
    run->endless = true;
    return false;
}

// ---- while, if ----------------------------------------------------------------------------------

static bool execute_while(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    const IrBlock *test = op->regions[0];
    const IrBlock *body = op->regions[1];
    bool doubt = false, changed = run->changed;
    carry(run, frame, test, 0, op, 0, op->operand_count);
    for (;;) {
        run->changed = false;
        TRY(execute_block(run, frame, test));
        const InterpSlot *go = operand_slot(run, frame, test->last, 0);
        TRY(threads_agree(run, frame, test->last, 0));
        if (!doubt && undecided(run, go)) {
            doubt = true;
            run->undecided_depth++;
        }
        if (!slot_get(go, 0)) break;
        TRY(execute_step(run));
        for (uint32_t t = 0; t < frame_threads(frame); t++) {
            InterpFrame *f = frame_thread(frame, t);
            for (uint32_t i = 0; i < body->arg_count; i++)
                slot_copy(run, slot_of(run, f, body->args[i]), slot_of(run, f, test->args[i]));
        }
        TRY(execute_block(run, frame, body));
        carry(run, frame, test, 0, body->last, 0, body->last->operand_count);
        TRY(can_end(run, frame, op));
        changed |= run->changed;
    }
    run->changed |= changed;
    run->undecided_depth -= doubt;
    if (doubt) poison_written(run, frame, body);
    take_results(run, frame, op, test, 0, doubt);
    return true;
}

static bool execute_if(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    const InterpSlot *condition = operand_slot(run, frame, op, 0);
    bool doubt = undecided(run, condition);
    TRY(threads_agree(run, frame, op, 0));
    const IrBlock *taken = op->regions[slot_get(condition, 0) ? 0 : 1];
    run->undecided_depth += doubt;
    TRY(execute_block(run, frame, taken));
    run->undecided_depth -= doubt;
    if (doubt) poison_written(run, frame, op->regions[slot_get(condition, 0) ? 1 : 0]);
    for (uint32_t i = 0; i < op->result_count; i++)
        take_one(run, frame, op, i, ir_operand(taken->last, i), doubt);
    return true;
}

bool execute_control(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    if (op->code == IR_FOR) return execute_for(run, frame, op);
    if (op->code == IR_WHILE) return execute_while(run, frame, op);
    return execute_if(run, frame, op);
}

// ---- combiners ----------------------------------------------------------------------------------

bool combine(InterpRun *run, InterpFrame *frame, const IrOp *op, const Scalar *inputs,
             Scalar *outputs) {
    const IrBlock *body = op->regions[0];
    for (uint32_t i = 0; i < body->arg_count; i++) {
        InterpSlot *arg = slot_of(run, frame, body->args[i]);
        slot_put(arg, 0, inputs[i].bits);
        arg->shadowed = false;
        if (run->shadow) *slot_shadow_blank(run, arg) = inputs[i].shadow;
    }
    run->combining++;
    TRY(execute_block(run, frame, body));
    run->combining--;
    for (uint32_t i = 0; i < body->last->operand_count; i++) {
        const InterpSlot *r = operand_slot(run, frame, body->last, i);
        outputs[i].bits = slot_get(r, 0);
        if (run->shadow) outputs[i].shadow = shadow_get(r, 0);
    }
    return true;
}

// ---- small ops ----------------------------------------------------------------------------------

static bool execute_launch_value(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    int64_t value = 0;
    if (op->code == IR_EXTENT) {
        Symbol name = ir_attr(op, IR_ATTR_EXTENT)->u.name;
        const IrFunc *f = run->interp->func;
        for (uint32_t i = 0; i < f->params.count; i++) {
            const IrParam *param = &f->params.data[i];
            if (param->value->type->kind != IR_VIEW) continue;
            for (uint32_t d = 0; d < param->value->type->rank; d++)
                if (param->dims[d].extent == name) {
                    slot_put(result_slot(run, frame, op, 0), 0,
                             (uint64_t)run->launch->args[i].extent[d]);
                    return true;
                }
        }
        run->missing = true;
        return false;
    }
    if (run->section) {
        run->missing = true;
        return false;
    }
    int64_t dim = ir_attr_int(op, IR_ATTR_DIM);
    if (dim >= 0 && dim < 3)
        value = op->code == IR_PROGRAM ? run->program[dim] : run->launch->grid[dim];
    slot_put(result_slot(run, frame, op, 0), 0, (uint64_t)value);
    return true;
}

static bool memory_allowed(InterpRun *run) {
    if (run->section) run->missing = true;
    return !run->section;
}

static void execute_order(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    if (op->code == IR_GATHER) execute_gather(run, frame, op);
    if (op->code == IR_SORT) execute_sort(run, frame, op);
    if (op->code == IR_TOPK) execute_topk(run, frame, op);
    if (op->code == IR_HISTOGRAM) execute_histogram(run, frame, op);
}

static bool touch_memory(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    return memory_allowed(run) && execute_memory(run, frame, op);
}

static bool make_scratch(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    if (!memory_allowed(run)) return false;
    execute_scratch(run, frame, op);
    return true;
}

static bool execute_stage(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    if (op->code == IR_GPU_SHARED || op->code == IR_GPU_MBARRIER)
        return make_scratch(run, frame, op);
    if (op->code == IR_GPU_COPY || op->code == IR_GPU_TMA_LOAD || op->code == IR_GPU_READ)
        return touch_memory(run, frame, op);
    if (op->code == IR_GPU_SLOT) execute_slot(run, frame, op);
    if (op->code == IR_GPU_SETTLE)
        slot_copy(run, result_slot(run, frame, op, 0), operand_slot(run, frame, op, 0));
    return true;  // commits, waits and barriers: programs run in order
}

static bool execute_thread_op(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    switch (op->code) {
    case IR_THREAD_LOAD:
    case IR_THREAD_STORE:
    case IR_THREAD_UPDATE: return touch_memory(run, frame, op);
    case IR_THREAD_SHARED: return make_scratch(run, frame, op);
    case IR_THREAD_ID:
    case IR_THREAD_PACK: execute_thread_value(run, frame, op); return true;
    default: return execute_threads(run, frame, op);
    }
}

static bool execute_vector_op(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    switch (op->code) {
    case IR_VEC_DATA:
    case IR_VEC_STRIDE: return execute_cpu_view(run, frame, op);
    case IR_VEC_ASSERT: return execute_vec_assert(run, frame, op);
    case IR_VEC_PRINT: execute_vec_print(run, frame, op); return true;
    default: execute_cpu_vector(run, frame, op); return true;
    }
}

static bool execute_cpu_op(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    switch (op->code) {
    case IR_CPU_SPAN: slot_put(result_slot(run, frame, op, 0), 0, 1); return true;
    case IR_CPU_SCRATCH: return make_scratch(run, frame, op);
    case IR_CPU_PREFETCH: return true;
    case IR_CPU_DOT4: execute_cpu_vector(run, frame, op); return true;
    case IR_CPU_TILES: return memory_allowed(run) && execute_cpu_tiles(run, frame, op);
    default: return touch_memory(run, frame, op);
    }
}

bool execute_op(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    if (frame->threads && !run->one_thread && !run->section) return execute_threads(run, frame, op);
    ArenaMark mark = arena_mark(run->scratch);
    bool next = true;
    switch (ir_op_family(op->code)) {
    case IR_FAMILY_CONSTANT: execute_constant(run, frame, op); break;
    case IR_FAMILY_LAUNCH:
        next = (op->code == IR_NOALIAS ? execute_noalias : execute_launch_value)(run, frame, op);
        break;
    case IR_FAMILY_ARITHMETIC:
    case IR_FAMILY_FUNCTION:
    case IR_FAMILY_COMPARE:
    case IR_FAMILY_SELECT:
    case IR_FAMILY_CAST:
    case IR_FAMILY_TABLE:
    case IR_FAMILY_POINTER: execute_elementwise(run, frame, op); break;
    case IR_FAMILY_SHAPE: execute_shape(run, frame, op); break;
    case IR_FAMILY_DOT: execute_dot(run, frame, op); break;
    case IR_FAMILY_REDUCTION:
        next = (op->code == IR_SCAN ? execute_scan : execute_reduce)(run, frame, op);
        break;
    case IR_FAMILY_ORDER: execute_order(run, frame, op); break;
    case IR_FAMILY_RANDOM: execute_random(run, frame, op); break;
    case IR_FAMILY_MEMORY:
    case IR_FAMILY_ATOMIC: next = touch_memory(run, frame, op); break;
    case IR_FAMILY_EFFECT:
        if (op->code == IR_PRINT)
            execute_print(run, frame, op);
        else
            next = execute_assert(run, frame, op);
        break;
    case IR_FAMILY_CONTROL: next = execute_control(run, frame, op); break;
    case IR_FAMILY_END: break;  // the enclosing op reads the operands
    case IR_FAMILY_CALL: next = execute_call(run, frame, op); break;
    case IR_FAMILY_CONVERT:
        slot_copy(run, result_slot(run, frame, op, 0), operand_slot(run, frame, op, 0));
        break;
    case IR_FAMILY_STAGE: next = execute_stage(run, frame, op); break;
    case IR_FAMILY_THREAD: next = execute_thread_op(run, frame, op); break;
    case IR_FAMILY_VECTOR: next = execute_vector_op(run, frame, op); break;
    case IR_FAMILY_CPU: next = execute_cpu_op(run, frame, op); break;
    }
    arena_reset(run->scratch, mark);
    return next;
}
