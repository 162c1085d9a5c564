// Reductions: registers of a lane, then lanes of a warp, then warps through shared memory.
//
// A bit of the hardware's number that moves along the axis has two halves to combine. Taken from
// the lowest coordinate bit on, the halves are always neighbours, the earlier first, so any
// associative combiner gives the same result. Built-in kinds commute as well and take the cheap
// bits first. A bit that replicates has nothing to combine. In the end every thread has its
// results, in the layout without the axis.
#include "ir/reduce.h"
#include "passes/gpu/lower/combine.h"
#include "passes/gpu/tuning.h"

typedef struct LayoutBit {
    LayoutDim dim;
    uint32_t at;  // of the dimension's number
} LayoutBit;

typedef struct Reduce {
    Combiner c;
    uint32_t axis;
    Layout layout;  // of the remaining elements; registers whose halves are combined are dropped
    CombineState x;
    LayoutBit bits[LAYOUT_MAX_TILE_BITS];  // of the axis, in the order in which they are taken
    uint32_t bit_count;
    bool loops;      // the combiner loops
    uint32_t wrong;  // bits of lanes whose values are wrong: the lanes without these bits have the
                     // right ones
} Reduce;

// ---- the bits -----------------------------------------------------------------------------------

static LayoutBit bit_of(const Layout *l, uint32_t basis) {
    for (LayoutDim dim = LAYOUT_REG; dim <= LAYOUT_WARP; dim++)
        for (uint32_t at = 0; at < l->dim_bits[dim]; at++)
            if (layout_basis(l, dim, at) == basis) return (LayoutBit){dim, at};
    UNREACHABLE("no lane holds element %u", basis);
}

// Registers far apart come first if the machine adds neighbours two at once.
static void find_bits(const Threads *t, Reduce *r) {
    uint32_t count = r->layout.axis_bits[r->axis], start = layout_axis_start(&r->layout, r->axis);
    LayoutBit all[LAYOUT_MAX_TILE_BITS];
    for (uint32_t k = 0; k < count; k++) all[k] = bit_of(&r->layout, UINT32_C(1) << (start + k));
    if (r->c.custom) {
        for (uint32_t k = 0; k < count; k++) r->bits[r->bit_count++] = all[k];
        return;
    }
    for (LayoutDim dim = LAYOUT_REG; dim <= LAYOUT_WARP; dim++)
        for (uint32_t i = 0; i < count; i++) {
            bool far_first = dim == LAYOUT_REG && t->machine->packed_f32;
            uint32_t k = far_first ? count - 1 - i : i;
            if (all[k].dim == dim) r->bits[r->bit_count++] = all[k];
        }
}

// ---- registers ----------------------------------------------------------------------------------

static CombineState half_of(Threads *t, const Reduce *r, uint32_t bit, uint32_t which) {
    uint32_t count = layout_size(&r->layout, LAYOUT_REG) / 2, low = (1u << bit) - 1;
    uint32_t *regs = arena_new(t->scratch, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) regs[i] = (i & low) | (i & ~low) << 1 | which << bit;
    return combine_pick(t, &r->c, &r->x, count, regs);
}

static void take_register(Threads *t, Reduce *r, uint32_t k) {
    uint32_t bit = r->bits[k].at;
    CombineState low = half_of(t, r, bit, 0), high = half_of(t, r, bit, 1);
    r->x = combine_states(t, &r->c, &low, &high);
    layout_drop(&r->layout, LAYOUT_REG, bit);
    for (uint32_t i = k + 1; i < r->bit_count; i++)
        if (r->bits[i].dim == LAYOUT_REG && r->bits[i].at > bit) r->bits[i].at--;
}

// ---- lanes --------------------------------------------------------------------------------------

// For a combiner of the program's own, the order matters: a lane whose bit is set has the two in
// the wrong order. Its value is not used (settle_lanes), but loops might not end for it.
static void take_lane(Threads *t, Reduce *r, uint32_t bit) {
    CombineState other = combine_empty(t, &r->c);
    for (uint32_t i = 0; i < r->c.parts; i++)
        other.part[i] = threads_xor_lane(t, r->x.part[i], 1u << bit);
    if (!r->c.custom) {
        r->x = combine_states(t, &r->c, &r->x, &other);
        return;
    }
    if (!r->loops) {
        r->x = combine_states(t, &r->c, &r->x, &other);
        r->wrong |= 1u << bit;
        return;
    }
    IrValue *mine = ir_binary(&t->b, IR_AND, t->thread, threads_i32(t, 1 << bit));
    IrValue *second = ir_binary(&t->b, IR_NE, mine, threads_i32(t, 0));
    CombineState early = combine_choose(t, &r->c, second, &other, &r->x);
    CombineState late = combine_choose(t, &r->c, second, &r->x, &other);
    r->x = combine_states(t, &r->c, &early, &late);
}

static bool has_loop(const IrBlock *block) {
    IR_EACH_OP(op, block) {
        if (op->code == IR_FOR || op->code == IR_WHILE) return true;
        for (uint32_t i = 0; i < op->region_count; i++)
            if (has_loop(op->regions[i])) return true;
    }
    return false;
}

// The value of the lane whose bits are not set, for all lanes.
static void settle_lanes(Threads *t, Reduce *r) {
    if (!r->wrong) return;
    IrValue *lane =
        ir_binary(&t->b, IR_AND, t->thread, threads_i32(t, ir_lane_count(t->func) - 1 - r->wrong));
    for (uint32_t i = 0; i < r->c.parts; i++)
        r->x.part[i] = threads_from_lane(t, r->x.part[i], lane);
    r->wrong = 0;
}

// ---- warps --------------------------------------------------------------------------------------

// The distance, in threads, of the g-th of a group from the group's first.
static uint32_t away(uint32_t lanes, const LayoutBit *bits, uint32_t count, uint32_t g) {
    uint32_t by = 0;
    for (uint32_t i = 0; i < count; i++)
        if (g >> i & 1) by |= lanes << bits[i].at;
    return by;
}

static CombineState combine_tree(Threads *t, const Combiner *c, CombineState *all, uint32_t count) {
    for (; count > 1; count /= 2)
        for (uint32_t i = 0; i < count / 2; i++)
            all[i] = combine_states(t, c, &all[2 * i], &all[2 * i + 1]);
    return all[0];
}

// All warps of a group store their states, and each reads all of them. The barrier at the end keeps
// the memory until all have read it.
static CombineState combine_warps(Threads *t, const Reduce *r, const CombineState *x,
                                  const LayoutBit *bits, uint32_t count) {
    ExchangeBuffer buffer = combine_exchange_buffer(t, &r->c, x);
    combine_store(t, &r->c, &buffer, x);
    threads_barrier(t);
    uint32_t group = 1u << count, lanes = ir_lane_count(t->func);
    uint32_t mask = away(lanes, bits, count, group - 1);
    CombineState *all = arena_new(t->scratch, CombineState, group);
    IrValue *first = ir_binary(&t->b, IR_AND, t->thread, threads_i32(t, ~(int64_t)mask));
    for (uint32_t g = 0; g < group; g++)
        all[g] = combine_load(t, &r->c, &buffer, first, away(lanes, bits, count, g));
    threads_barrier(t);
    return combine_tree(t, &r->c, all, group);
}

// ---- warps whose lanes agree --------------------------------------------------------------------

// Do all lanes of a warp have the same value, once the first `taken` bits are combined?
static bool lanes_agree(const Reduce *r, uint32_t taken) {
    for (uint32_t at = 0; at < r->layout.dim_bits[LAYOUT_LANE]; at++) {
        bool same = layout_basis(&r->layout, LAYOUT_LANE, at) == 0;
        for (uint32_t k = 0; k < taken && !same; k++)
            same = r->bits[k].dim == LAYOUT_LANE && r->bits[k].at == at;
        if (!same) return false;
    }
    return true;
}

// Warps whose values another warp has as well: the bits of their numbers.
static uint32_t replicas(Threads *t, const Reduce *r) {
    uint32_t bits = 0, warp_bits = (uint32_t)__builtin_ctz((uint32_t)t->func->warps);
    for (uint32_t at = 0; at < warp_bits; at++)
        if (!layout_basis(&r->layout, LAYOUT_WARP, at)) bits |= 1u << at;
    return bits;
}

// A position for each warp that is not a replica, those of a group adjacent: maps a warp's number
// to it; `own`: the position of the warp itself, else that of the first of its group.
static IrValue *place_of_warp(Threads *t, const Reduce *r, const LayoutBit *bits, uint32_t count,
                              bool own) {
    uint32_t none[GPU_LANE_BITS_MAX] = {0}, bases[LAYOUT_MAX_BITS] = {0};
    uint32_t warp_bits = (uint32_t)__builtin_ctz((uint32_t)t->func->warps), others = count;
    uint32_t lane_bits = (uint32_t)__builtin_ctz(ir_lane_count(t->func));
    for (uint32_t at = 0; at < warp_bits; at++) {
        bool of_group = (replicas(t, r) >> at & 1) != 0;
        for (uint32_t k = 0; k < count; k++) {
            if (bits[k].at != at) continue;
            of_group = true;
            if (own) bases[at] = 1u << k;
        }
        if (!of_group) bases[at] = 1u << others++;
    }
    return threads_linear(t, none, lane_bits, bases, warp_bits);
}

static IrValue *at_register(Threads *t, IrValue *p, uint32_t reg, uint32_t by) {
    int64_t offset = (int64_t)reg * t->func->warps + by;
    return offset ? threads_at(t, p, threads_i64(t, offset)) : p;
}

// The values of one register that all warps of a group stored, in accesses as wide as possible.
static void read_group(Threads *t, IrValue *p, uint32_t reg, uint32_t group, IrValue **out) {
    uint32_t size = (uint32_t)dtype_size(p->type->elem), some = GPU_ACCESS_BYTES / size;
    if (some > group) some = group;
    for (uint32_t g = 0; g < group; g++) {
        if (g % some == 0)
            out[g] = threads_load(t, at_register(t, p, reg, g), some, some * size, NULL, NULL);
        else
            out[g] = out[g - g % some];
    }
    for (uint32_t g = group; g-- > 0;) out[g] = threads_get(t, out[g], g % some);
}

// One part of a state, which each warp stores once; the result is the memory.
static IrValue *leave_once(Threads *t, const Reduce *reduce, IrValue *x, const LayoutBit *bits,
                           uint32_t count) {
    if (x->type->elem == DTYPE_BOOL) x = ir_cast(&t->b, x, DTYPE_U8, false);
    uint32_t regs = x->type->count;
    IrValue *memory = threads_shared(t, x->type->elem, regs * (uint32_t)t->func->warps);
    uint32_t lanes = ir_lane_count(t->func), others = lanes - 1 + lanes * replicas(t, reduce);
    IrValue *lane = ir_binary(&t->b, IR_AND, t->thread, threads_i32(t, others));
    IrValue *owner = ir_binary(&t->b, IR_EQ, lane, threads_i32(t, 0));
    IrValue *own = threads_at(t, memory, place_of_warp(t, reduce, bits, count, true));
    for (uint32_t r = 0; r < regs; r++)
        threads_store(t, at_register(t, own, r, 0), threads_get(t, x, r), 0, owner);
    return memory;
}

// Reads all the values that a group stored of it.
static void read_all(Threads *t, const Reduce *reduce, IrValue *memory, const IrType *type,
                     const LayoutBit *bits, uint32_t count, IrValue **parts) {
    uint32_t regs = type->count, group = 1u << count;
    IrValue *first = threads_at(t, memory, place_of_warp(t, reduce, bits, count, false));
    IrValue **all = arena_new(t->scratch, IrValue *, regs * group);
    IrValue **one = arena_new(t->scratch, IrValue *, regs);
    for (uint32_t r = 0; r < regs; r++) read_group(t, first, r, group, all + r * group);
    for (uint32_t g = 0; g < group; g++) {
        for (uint32_t r = 0; r < regs; r++) one[r] = all[r * group + g];
        parts[g] = threads_pack(t, regs, one);
        if (type->elem == DTYPE_BOOL) parts[g] = ir_cast(&t->b, parts[g], DTYPE_BOOL, false);
    }
}

static CombineState combine_warps_once(Threads *t, const Reduce *r, const CombineState *x,
                                       const LayoutBit *bits, uint32_t count) {
    uint32_t group = 1u << count;
    IrValue **memory = arena_new(t->scratch, IrValue *, r->c.parts);
    CombineState *all = arena_new(t->scratch, CombineState, group);
    for (uint32_t g = 0; g < group; g++) all[g] = combine_empty(t, &r->c);
    IrValue **parts = arena_new(t->scratch, IrValue *, group);
    for (uint32_t i = 0; i < r->c.parts; i++) memory[i] = leave_once(t, r, x->part[i], bits, count);
    threads_barrier(t);
    for (uint32_t i = 0; i < r->c.parts; i++) {
        read_all(t, r, memory[i], x->part[i]->type, bits, count, parts);
        for (uint32_t g = 0; g < group; g++) all[g].part[i] = parts[g];
    }
    threads_barrier(t);
    return combine_tree(t, &r->c, all, group);
}

// Some registers at a time, which keeps the memory small.
static void take_warps(Threads *t, Reduce *r, const LayoutBit *bits, uint32_t count) {
    uint32_t regs = layout_size(&r->layout, LAYOUT_REG);
    uint32_t step = TUNE_REDUCE_ELEMENTS / (ir_thread_count(t->func));
    if (step < 1) step = 1;
    if (step > regs) step = regs;
    bool once = lanes_agree(r, (uint32_t)(bits - r->bits));
    if (once) step = regs;
    remark(t->remarks, t->b.span, REASON_REDUCE_SHARED, NULL, REMARK(1 << count));
    CombineState *done = arena_new(t->scratch, CombineState, regs / step);
    uint32_t *some = arena_new(t->scratch, uint32_t, step);
    for (uint32_t at = 0; at < regs; at += step) {
        for (uint32_t i = 0; i < step; i++) some[i] = at + i;
        CombineState x = combine_pick(t, &r->c, &r->x, step, some);
        done[at / step] =
            once ? combine_warps_once(t, r, &x, bits, count) : combine_warps(t, r, &x, bits, count);
    }
    r->x = combine_pack(t, &r->c, regs / step, done);
    if (once) r->wrong = 0;  // the first lane's value was stored for all
}

static void take_all(Threads *t, Reduce *r) {
    for (uint32_t k = 0; k < r->bit_count;) {
        uint32_t run = 1;
        switch (r->bits[k].dim) {
        case LAYOUT_REG: take_register(t, r, k); break;
        case LAYOUT_LANE: take_lane(t, r, r->bits[k].at); break;
        case LAYOUT_WARP:
            while (k + run < r->bit_count && r->bits[k + run].dim == LAYOUT_WARP) run++;
            take_warps(t, r, r->bits + k, run);
            break;
        default: break;
        }
        k += run;
    }
    settle_lanes(t, r);
}

// ---- the beginning and the end ------------------------------------------------------------------

static IrValue *places(Threads *t, const Layout *l, uint32_t axis) {
    uint32_t count = layout_size(l, LAYOUT_REG);
    IrValue **parts = arena_new(t->scratch, IrValue *, count);
    for (uint32_t r = 0; r < count; r++) parts[r] = threads_coord_of(t, l, axis, r);
    return threads_pack(t, count, parts);
}

static bool is_float(const IrValue *x) { return dtype_is(x->type->elem, DTYPE_CLASS_ANYFLOAT); }

// Can no element be -0? Masked lanes may then add 0 instead of -0, and a sum of no elements is 0.
static bool never_minus_zero(const IrValue *x, int depth) {
    const IrOp *op = x->def;
    if (!op || depth == 0) return false;
    switch (op->code) {
    case IR_ABS: return true;
    case IR_MUL: return ir_operand(op, 0) == ir_operand(op, 1);  // a square
    case IR_CAST:
        return !is_float(ir_operand(op, 0)) || never_minus_zero(ir_operand(op, 0), depth - 1);
    case IR_BROADCAST:
    case IR_RESHAPE:
    case IR_PERMUTE:
    case IR_GPU_CONVERT: return never_minus_zero(ir_operand(op, 0), depth - 1);
    case IR_SELECT:
        return never_minus_zero(ir_operand(op, 1), depth - 1) &&
               never_minus_zero(ir_operand(op, 2), depth - 1);
    default: break;
    }
    return false;
}

// A value as it takes part: widened, and the identity where the mask is false.
static IrValue *term(Threads *t, const Reduce *r, IrValue *x, IrValue *mask) {
    Dtype elem = combine_elem(r->c.kind, x->type->elem);
    if (x->type->elem != elem) x = ir_cast(&t->b, x, elem, true);
    if (!mask || r->c.custom || r->c.arg) return x;
    bool zero = r->c.kind == IR_REDUCE_SUM && !r->c.has;
    uint64_t identity = zero ? 0 : ir_reduce_identity(r->c.kind, elem);
    IrValue *nothing = ir_const_bits(&t->b, x->type, identity);
    return ir_ternary(&t->b, IR_SELECT, mask, x, nothing);
}

// Only for float sums: -0 if all elements that take part are -0, and 0 if none does.
static bool needs_has(const IrOp *op, IrReduce kind) {
    if (!ir_operand(op, 0)) return false;
    const IrValue *x = ir_operand(op, 1);
    bool sum = kind == IR_REDUCE_SUM && is_float(x) && !never_minus_zero(x, 8);
    return sum || kind == IR_REDUCE_CUSTOM || kind == IR_REDUCE_ARGMIN || kind == IR_REDUCE_ARGMAX;
}

// Values `first` … of the operands, each register once.
static Reduce begin(Threads *t, const IrOp *op, uint32_t first, uint32_t values) {
    IrReduce kind = (IrReduce)ir_attr_int(op, IR_ATTR_REDUCE);
    const Layout *l = ir_operand(op, 1)->type->layout;
    Reduce r = {.c = combine_of(op, values, needs_has(op, kind))};
    r.axis = (uint32_t)ir_attr_int(op, IR_ATTR_AXIS);
    r.loops = r.c.custom && has_loop(op->regions[0]);
    r.layout = layout_without_free(l, LAYOUT_REG, NULL);
    IrValue *mask = threads_operand(t, op, 0);
    uint32_t at = 0;
    r.x = combine_empty(t, &r.c);
    for (uint32_t i = 0; i < values; i++)
        r.x.part[at++] = term(t, &r, threads_operand(t, op, first + i), mask);
    if (r.c.arg) r.x.part[at++] = places(t, l, r.axis);
    if (r.c.has) r.x.part[at++] = mask;
    uint32_t count = layout_size(&r.layout, LAYOUT_REG), next = 0;
    uint32_t *kept = arena_new(t->scratch, uint32_t, count);
    for (uint32_t reg = 0; reg < layout_size(l, LAYOUT_REG); reg++)
        if (threads_first_holder(l, reg) == reg) kept[next++] = reg;
    r.x = combine_pick(t, &r.c, &r.x, count, kept);
    return r;
}

// If nothing took part: 0 (for sums, positions and combiners of the program's own).
static IrValue *result(Threads *t, const Reduce *r, const IrType *type, IrValue *x) {
    if (r->c.has) {
        IrValue *zero = ir_const_bits(&t->b, x->type, 0);
        x = ir_ternary(&t->b, IR_SELECT, r->x.part[r->c.parts - 1], x, zero);
    }
    if (x->type->elem != type->elem) x = ir_cast(&t->b, x, type->elem, true);
    return type->rank ? x : threads_get(t, x, 0);
}

static void reduce_some(Threads *t, const IrOp *op, uint32_t first, uint32_t values) {
    Reduce r = begin(t, op, first, values);
    find_bits(t, &r);
    if (r.bit_count == 0) combine_quiet_nan(t, &r.c, &r.x);
    take_all(t, &r);
    for (uint32_t i = 0; i < values; i++) {
        IrValue *x = r.x.part[r.c.arg ? 1 : i];
        threads_define(t, op, first - 1 + i, result(t, &r, op->results[first - 1 + i].type, x));
    }
}

void threads_reduce(Threads *t, const IrOp *op) {
    uint32_t values = op->operand_count - 1;
    if (ir_attr_int(op, IR_ATTR_REDUCE) == IR_REDUCE_CUSTOM) {
        reduce_some(t, op, 1, values);
        return;
    }
    for (uint32_t i = 0; i < values; i++) reduce_some(t, op, 1 + i, 1);
}
