// Runs: setting up frames, walking the grid, evaluating sections.
#include "ir/interp/interp.h"

#include "ir/interp/internal.h"

IrInterp *ir_interp_create(Arena *arena, const IrFunc *f) {
    IrInterp *interp = arena_new(arena, IrInterp, 1);
    interp->arena = arena_create();
    interp->scratch = arena_create();
    interp->memory = arena_create();
    interp->func = f;
    return interp;
}

void ir_interp_destroy(IrInterp *interp) {
    if (!interp) return;
    arena_destroy(interp->arena);
    arena_destroy(interp->scratch);
    arena_destroy(interp->memory);
}

// ---- slots --------------------------------------------------------------------------------------

// The frame of thread 0, the first of all threads' frames. An op runs for one thread after the
// other, so the slots of one value in all threads are neighbours.
static InterpFrame *frame_of(IrInterp *interp, const IrFunc *f) {
    for (size_t i = 0; i < interp->frames.count; i++)
        if (interp->frames.data[i]->func == f) return interp->frames.data[i];
    uint32_t count = f->level == IR_LEVEL_THREAD ? ir_thread_count(f) : 1;
    InterpFrame *frames = arena_new(interp->arena, InterpFrame, count);
    InterpSlot *slots = arena_new(interp->arena, InterpSlot, (size_t)f->value_count * count);
    for (uint32_t i = 0; i < count; i++) {
        frames[i] = (InterpFrame){.func = f, .slots = slots + i, .slot_stride = count};
        if (f->level != IR_LEVEL_THREAD) continue;
        frames[i].thread = i;
        frames[i].thread_count = count;
        frames[i].threads = frames;
    }
    vec_push(interp->arena, &interp->frames, frames);
    return frames;
}

static void slot_prepare(Arena *arena, InterpSlot *s, const IrType *type) {
    s->type = type;
    s->elem = type->elem;
    s->count = type->kind == IR_VIEW ? 1 : type->count;
    s->size = type->kind == IR_PTR ? (uint32_t)sizeof(InterpPlace) : ir_elem_size(type);
    if (type->kind != IR_VIEW) s->data = arena_alloc(arena, (size_t)s->count * s->size);
}

InterpSlot *slot_of(InterpRun *run, InterpFrame *frame, const IrValue *value) {
    CHECK(value->id < frame->func->value_count, "value %u is not of this function", value->id);
    InterpSlot *s = &frame->slots[(size_t)value->id * frame->slot_stride];
    if (!s->type) slot_prepare(run->interp->arena, s, value->type);
    return s;
}

bool slot_i64(const InterpSlot *s, uint64_t i, int64_t *value) {
    uint64_t bits = slot_get(s, i);
    *value = dtype_to_i64(s->elem, bits);
    return dtype_signed(s->elem) || *value >= 0;
}

void slot_copy(InterpRun *run, InterpSlot *to, const InterpSlot *from) {
    if (from->type->kind == IR_VIEW) {
        to->argument = from->argument;
        return;
    }
    memcpy(to->data, from->data, (size_t)from->count * from->size);
    to->shadowed = false;
    if (from->shadowed)
        memcpy(slot_shadow_blank(run, to), from->shadow, from->count * sizeof(ShadowValue));
    wrap_copy(run, to, from);
}

// ---- arguments ----------------------------------------------------------------------------------

static void buffers_prepare(IrInterp *interp, const IrLaunch *launch) {
    const IrFunc *f = interp->func;
    interp->buffers.count = 0;
    vec_push(interp->arena, &interp->buffers, (InterpBuffer){0});
    for (uint32_t i = 0; i < f->params.count; i++) {
        const IrArg *arg = i < launch->arg_count ? &launch->args[i] : &(IrArg){0};
        InterpBuffer b = {.name = f->params.data[i].name, .data = (uint64_t)(uintptr_t)arg->data};
        if (arg->base && arg->size) {
            b.low = (uint64_t)(uintptr_t)arg->base;
            b.high = b.low + arg->size;
        } else if (f->params.data[i].value->type->kind == IR_VIEW) {
            InterpReach reach;
            if (view_reach(f->params.data[i].value->type, arg, &reach)) {
                b.low = reach.low;
                b.high = reach.high;
            }
        } else if (!arg->data) {
            b.low = b.high = 1;  // nothing is inside
        }
        vec_push(interp->arena, &interp->buffers, b);
    }
}

static void arguments_bind(InterpRun *run, InterpFrame *frame) {
    const IrFunc *f = frame->func;
    for (uint32_t i = 0; i < f->params.count; i++) {
        const IrValue *value = f->params.data[i].value;
        InterpSlot *s = slot_of(run, frame, value);
        const IrArg *arg = &run->launch->args[i];
        s->shadowed = false;
        s->wrap = NULL;
        if (value->type->kind == IR_VIEW) {
            s->argument = i;
        } else if (value->type->kind == IR_PTR) {
            bool packed = dtype_is(value->type->elem, DTYPE_CLASS_PACKED);
            uint64_t address = (uint64_t)(uintptr_t)arg->data;
            slot_put_place(s, 0, (InterpPlace){packed ? address * 2 : address, i + 1});
        } else {
            uint64_t bits = s->elem == DTYPE_BOOL ? arg->bits != 0 : arg->bits;
            slot_put(s, 0, bits);
        }
    }
}

static InterpRun run_begin(IrInterp *interp, const IrLaunch *launch) {
    unsigned math = interp->func->math;
    return (InterpRun){
        .interp = interp,
        .launch = launch,
        .scratch = interp->scratch,
        .report = interp->memory,
        .shadow = launch->shadow,
        .sanitize = launch->sanitize,
        .relaxed_math = math != 0,
        .approximate = (math & IR_MATH_APPROX) != 0,
    };
}

// ---- the grid -----------------------------------------------------------------------------------

static void run_program(InterpRun *run, InterpFrame *frame, const IrBlock *body) {
    run->undecided_depth = 0;
    run->combining = 0;
    run->depth = 0;
    execute_block(run, frame, body);
    for (size_t i = 0; i < run->interp->frames.count; i++)
        run->interp->frames.data[i]->busy = false;
    run->program_number++;
}

static void run_grid(InterpRun *run, InterpFrame *frame, const IrBlock *body) {
    const int64_t *grid = run->launch->grid;
    for (int64_t z = 0; z < grid[2]; z++)
        for (int64_t y = 0; y < grid[1]; y++)
            for (int64_t x = 0; x < grid[0]; x++) {
                run->program[0] = x;
                run->program[1] = y;
                run->program[2] = z;
                run_program(run, frame, body);
                if (run->over_limit || run->endless) return;
            }
}

static IrOutcome run_outcome(const InterpRun *run) {
    if (run->over_limit) return IR_RUN_LIMIT;
    if (run->failed) return IR_RUN_ASSERT;
    return run->findings.count ? IR_RUN_FINDINGS : IR_RUN_DONE;
}

IrOutcome ir_interp_run(IrInterp *interp, const IrLaunch *launch, Diags *diags) {
    const IrFunc *f = interp->func;
    CHECK(launch->arg_count == f->params.count, "%u arguments for %zu parameters",
          launch->arg_count, f->params.count);
    arena_reset(interp->memory, (ArenaMark){0});
    interp->pages = launch->shadow || launch->sanitize ? pages_create(interp->memory) : NULL;
    InterpRun run = run_begin(interp, launch);
    const IrBlock *body = ir_body(f);
    if (!body) return IR_RUN_DONE;
    buffers_prepare(interp, launch);
    memset(&interp->noalias_pairs, 0,
           sizeof interp->noalias_pairs);  // they were in the memory of the last run
    if (launch->sanitize) noalias_prepare(interp);
    InterpFrame *frame = frame_of(interp, f);
    for (uint32_t i = 0; i < frame_threads(frame); i++)
        arguments_bind(&run, frame_thread(frame, i));
    run_grid(&run, frame, body);
    findings_report(&run, diags);
    interp->steps = run.steps;
    return run_outcome(&run);
}

uint64_t ir_interp_steps(const IrInterp *interp) { return interp->steps; }

bool ir_interp_section(IrInterp *interp, const IrSection *section, const IrLaunch *launch,
                       uint32_t count, uint64_t *results) {
    const IrFunc *f = interp->func;
    if (launch->arg_count != f->params.count || !section->block) return false;
    InterpRun run = run_begin(interp, launch);
    run.shadow = run.sanitize = false;
    run.section = true;
    buffers_prepare(interp, launch);
    InterpFrame *frame = frame_of(interp, f);
    arguments_bind(&run, frame);
    TRY(execute_block(&run, frame, section->block) && !run.missing && !run.over_limit);
    const IrOp *end = section->block->last;
    TRY(end && end->operand_count == count);
    for (uint32_t i = 0; i < count; i++) {
        const InterpSlot *s = operand_slot(&run, frame, end, i);
        TRY(s && s->count == 1 && s->size <= 8);
        results[i] = slot_get(s, 0);
    }
    return true;
}

// ---- calls --------------------------------------------------------------------------------------

bool execute_call(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    const IrFunc *callee = ir_func_find(frame->func->module, ir_attr(op, IR_ATTR_CALLEE)->u.name);
    const IrBlock *body = callee ? ir_body(callee) : NULL;
    if (!body || callee->params.count != op->operand_count) {
        run->missing = true;
        return false;
    }
    InterpFrame *inner = frame_of(run->interp, callee);
    if (inner->busy) {  // one frame each: the verifier refuses recursion
        finding_add(run, op, FINDING_RECURSION, 0, "'%s' calls itself", callee->name);
        run->over_limit = true;
        return false;
    }
    inner->busy = true;
    for (uint32_t i = 0; i < op->operand_count; i++)
        slot_copy(run, slot_of(run, inner, callee->params.data[i].value),
                  operand_slot(run, frame, op, i));
    TRY(execute_block(run, inner, body));
    inner->busy = false;
    for (uint32_t i = 0; i < op->result_count; i++)
        slot_copy(run, result_slot(run, frame, op, i), operand_slot(run, inner, body->last, i));
    return true;
}

bool ir_interp_shadow(const IrInterp *interp, const void *address, IrShadow *shadow) {
    uint64_t at = (uint64_t)(uintptr_t)address;
    for (size_t i = 1; i < interp->buffers.count; i++) {
        const InterpBuffer *b = &interp->buffers.data[i];
        if (b->poisoned && at >= b->low && at < b->high) {
            *shadow = (IrShadow){0, HUGE_VAL, true};
            return true;
        }
    }
    ShadowValue s;
    if (!interp->pages || !pages_find_shadow(interp->pages, at, &s)) return false;
    *shadow = (IrShadow){s.v, s.e, isinf(s.e) != 0};
    return true;
}
