// Loads, stores and atomics, through pointers and views alike: one list of addresses, then plain
// loops.
#include "ir/interp/internal.h"

// ---- shadows ------------------------------------------------------------------------------------

static InterpBuffer *buffer_of(InterpRun *run, InterpPlace p) {
    return &run->interp->buffers.data[p.origin];
}

static bool is_poisoned(InterpRun *run, const InterpAccess *a, uint32_t i) {
    return buffer_of(run, a->place[i])->poisoned;
}

static uint64_t shadow_address(const InterpAccess *a, uint32_t i) { return a->place[i].address; }

static ShadowValue memory_shadow(InterpRun *run, const InterpAccess *a, uint32_t i, uint64_t bits) {
    ShadowValue s = shadow_exact(a->elem, bits);
    if (is_poisoned(run, a, i))
        s.e = HUGE_VAL;
    else
        pages_get_shadow(run->interp->pages, shadow_address(a, i), a->elem, &s);
    return s;
}

static void load_shadows(InterpRun *run, const InterpAccess *a, const InterpSlot *other,
                         InterpSlot *r) {
    for (uint32_t i = 0; i < a->count; i++) {
        ShadowValue pad = other ? shadow_get(other, slot_lane(other, i)) : (ShadowValue){0, 0};
        ShadowValue s = a->on[i] ? memory_shadow(run, a, i, slot_get(r, i)) : pad;
        if (a->mask_undecided && a->mask_undecided[i]) {
            if (a->on[i])
                s = shadow_join(s, pad);
            else
                s.e = HUGE_VAL;  // the value that the other branch would have read is not examined
        }
        if (a->undecided_address) s.e = HUGE_VAL;
        ShadowValue plain = shadow_exact(r->elem, slot_get(r, i));
        bool same = s.e == 0 && (s.v == plain.v || !dtype_is(r->elem, DTYPE_CLASS_ANYFLOAT) ||
                                 (isnan(s.v) && isnan(plain.v)));
        if (!same || r->shadowed) slot_shadow(run, r)[i] = s;
    }
}

// All of an argument is unknown from here on.
static void poison(InterpRun *run, const InterpAccess *a) {
    for (uint32_t i = 0; i < a->count; i++)
        if (a->inside[i]) buffer_of(run, a->place[i])->poisoned = true;
}

static void poison_argument(InterpRun *run, InterpFrame *frame, const IrValue *value) {
    if (value->type->kind == IR_VIEW) {
        run->interp->buffers.data[slot_of(run, frame, value)->argument + 1].poisoned = true;
        return;
    }
    for (size_t i = 1; i < run->interp->buffers.count; i++)  // it may point into any buffer
        run->interp->buffers.data[i].poisoned = true;
}

void poison_written(InterpRun *run, InterpFrame *frame, const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->region_count; i++) poison_written(run, frame, op->regions[i]);
        if (!ir_changes_memory(op)) continue;
        uint32_t written = op->code == IR_CALL ? op->operand_count : 1;
        for (uint32_t i = 0; i < written; i++) {
            const IrValue *value = ir_operand(op, i);
            if (value && value->type->kind != IR_TILE) poison_argument(run, frame, value);
        }
    }
}

static void put_shadow(InterpRun *run, const InterpAccess *a, uint32_t i, ShadowValue s) {
    bool is_float = dtype_is(a->elem, DTYPE_CLASS_ANYFLOAT);
    if (run->undecided_depth) s.e = HUGE_VAL;
    if (is_float || s.e > 0)
        pages_put_shadow(run->interp->pages, shadow_address(a, i), a->elem, s);
    else
        pages_clear_shadow(run->interp->pages, shadow_address(a, i), a->bytes);
}

// Before the bytes change: joins the shadows of memory and value where the mask is undecided.
static void store_shadow(InterpRun *run, const InterpAccess *a, uint32_t i, const InterpSlot *x) {
    uint64_t lane = slot_lane(x, i);
    ShadowValue s = shadow_get(x, lane);
    if (a->mask_undecided && a->mask_undecided[i]) {
        if (!a->on[i]) {
            s = shadow_exact(a->elem, 0);
            s.e = HUGE_VAL;
        } else {
            uint64_t old = memory_read(a->elem, a->place[i].address);
            s = shadow_join(s, memory_shadow(run, a, i, old));
        }
    } else if (!a->on[i]) {
        return;
    }
    Tally *tally = pages_tally(run->interp->pages, shadow_address(a, i), false);
    if (tally) tally->n = 0;
    put_shadow(run, a, i, s);
}

// ---- loads --------------------------------------------------------------------------------------

// Selections whose last axis is contiguous in memory, and which need no checks: row by row.
typedef struct MemoryRows {
    const InterpSelection *s;
    const Axis *last;
    uint32_t low, high;  // the lanes of a row that are inside
    uint64_t count;
} MemoryRows;

static bool rows_of(const InterpRun *run, const InterpSelection *s, uint64_t lanes,
                    MemoryRows *rows) {
    if (run->sanitize || run->shadow || !s->run_last || s->axis_count == 0) return false;
    if (s->elem == DTYPE_BOOL || dtype_is(s->elem, DTYPE_CLASS_PACKED)) return false;
    const Axis *last = &s->axis[s->axis_count - 1];
    *rows = (MemoryRows){s, last, 0, last->count, lanes / last->count};
    while (rows->low < rows->high && !last->inside[rows->low]) rows->low++;
    while (rows->high > rows->low && !last->inside[rows->high - 1]) rows->high--;
    return true;
}

// The address of a row's first lane that is inside; NULL if none is.
static unsigned char *row_start(const MemoryRows *rows, uint64_t row) {
    const InterpSelection *s = rows->s;
    uint64_t offset = 0;
    bool inside = s->inside && rows->low < rows->high;
    for (uint32_t a = s->axis_count - 1; a-- > 0;) {
        uint64_t k = row % s->axis[a].count;
        row /= s->axis[a].count;
        offset += s->axis[a].offset[k];
        inside = inside && s->axis[a].inside[k];
    }
    if (!inside) return NULL;
    uint64_t from = offset + rows->last->offset[rows->low];
    return (unsigned char *)(uintptr_t)(s->base + from * dtype_size(s->elem));
}

static void load_rows(const MemoryRows *rows, const InterpSlot *pad, InterpSlot *r) {
    uint64_t fill = pad ? slot_get(pad, 0) : 0;
    uint32_t width = rows->last->count;
    for (uint64_t row = 0; row < rows->count; row++) {
        const unsigned char *from = row_start(rows, row);
        uint32_t low = from ? rows->low : 0, high = from ? rows->high : 0;
        uint64_t first = row * width;
        for (uint32_t w = 0; w < low; w++) slot_put(r, first + w, fill);
        for (uint32_t w = high; w < width; w++) slot_put(r, first + w, fill);
        if (from) memcpy(r->data + (first + low) * r->size, from, (size_t)(high - low) * r->size);
    }
}

static void store_rows(const MemoryRows *rows, const InterpSlot *x) {
    for (uint64_t row = 0; row < rows->count; row++) {
        unsigned char *to = row_start(rows, row);
        uint64_t first = row * rows->last->count + rows->low;
        if (to) memcpy(to, x->data + first * x->size, (size_t)(rows->high - rows->low) * x->size);
    }
}

static void execute_load(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    bool view = op->code == IR_VIEW_LOAD;
    const InterpSlot *other = operand_slot(run, frame, op, view ? 1 : 2);
    InterpSlot *r = result_slot(run, frame, op, 0);
    if (view && !run->sanitize && !run->shadow) {
        InterpSelection s = selection_of(run, frame, op);
        MemoryRows rows;
        if (rows_of(run, &s, r->count, &rows)) {
            load_rows(&rows, other, r);
            return;
        }
    }
    InterpAccess a = access_of(run, frame, op, TOUCH_READ);
    for (uint32_t i = 0; i < a.count; i++) {
        uint64_t pad = other ? slot_get(other, slot_lane(other, i)) : 0;
        slot_put(r, i, a.on[i] ? memory_read(a.elem, a.place[i].address) : pad);
    }
    if (run->shadow) load_shadows(run, &a, other, r);
}

// ---- stores -------------------------------------------------------------------------------------

static void execute_store(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    const InterpSlot *x = operand_slot(run, frame, op, 1);
    run->changed = true;
    if (op->code == IR_VIEW_STORE && !ir_operand(op, 2) && !run->sanitize && !run->shadow) {
        InterpSelection s = selection_of(run, frame, op);
        MemoryRows rows;
        if (rows_of(run, &s, x->count, &rows)) {
            store_rows(&rows, x);
            return;
        }
    }
    InterpAccess a = access_of(run, frame, op, TOUCH_WRITE);
    if (run->sanitize && frame->func->level == IR_LEVEL_TILE) store_check_duplicates(run, &a, x);
    for (uint32_t i = 0; i < a.count; i++) {
        if (run->shadow) store_shadow(run, &a, i, x);
        if (a.on[i]) memory_write(a.elem, a.place[i].address, slot_get(x, slot_lane(x, i)));
    }
    if (run->shadow && a.undecided_address) poison(run, &a);
}

// ---- atomics ------------------------------------------------------------------------------------

static uint64_t modified(IrRmw rmw, Dtype t, uint64_t old, uint64_t x) {
    uint64_t operands[2] = {old, x}, result = x;
    bool logical = t == DTYPE_BOOL;
    switch (rmw) {
    case IR_RMW_ADD: ir_eval(logical ? IR_XOR : IR_ADD, t, operands, &result); break;
    case IR_RMW_SUB: ir_eval(logical ? IR_XOR : IR_SUB, t, operands, &result); break;
    case IR_RMW_AND: ir_eval(IR_AND, t, operands, &result); break;
    case IR_RMW_OR: ir_eval(IR_OR, t, operands, &result); break;
    case IR_RMW_XOR: ir_eval(IR_XOR, t, operands, &result); break;
    case IR_RMW_MIN: ir_eval(logical ? IR_AND : IR_MIN, t, operands, &result); break;
    case IR_RMW_MAX: ir_eval(logical ? IR_OR : IR_MAX, t, operands, &result); break;
    case IR_RMW_LOAD: return old;
    case IR_RMW_XCHG:
    case IR_RMWS: break;
    }
    return result;
}

static void tally_add(Tally *t, ShadowValue s) {
    t->sum += s.v;
    t->magnitude += fabs(s.v) + s.e;
    t->error += s.e;
    if (s.e > 0 || !isfinite(s.v))
        t->exact = false;
    else if (s.v != 0 && t->exact) {
        int last = last_bit(s.v);
        if (last < t->lowest) t->lowest = last;
    }
}

// A float sum that grows in any order: the row of `sum` over the start and all terms (with rule S).
static ShadowValue tally_shadow(const Tally *t, Dtype elem, uint64_t bits, bool approximate) {
    const DtypeFloat *f = dtype_float(elem);
    bool flushed = approximate && elem == DTYPE_F32 && !(t->exact && t->lowest >= f->min_exponent);
    double u = ldexp(1, -f->precision);
    ShadowValue s = shadow_exact(elem, bits);
    if (isnan(t->sum) || isinf(t->sum))
        return (ShadowValue){t->sum, isfinite(t->error) ? 0 : HUGE_VAL};
    if (t->exact && !flushed && t->magnitude < ldexp(1, t->lowest + f->precision)) return s;
    double n = (double)t->n;
    double e = t->error + 2 * n * u * t->magnitude + ldexp(n, -53) * t->magnitude;
    if (flushed) e += 2 * n * ldexp(1, f->min_exponent);  // an operand and a sum of each addition
    if (t->magnitude > f->greatest) e = HUGE_VAL;
    return (ShadowValue){t->sum, e};
}

// The tally of an element that `rmw` changes now. If another kind came before, a program that alone
// uses the element restarts from the value there, unless another program comes later; with several
// programs, their order is unknown.
static Tally *tally_of(InterpRun *run, uint64_t address, IrRmw rmw, ShadowValue old) {
    Tally *t = pages_tally(run->interp->pages, address, true);
    uint8_t kind = (uint8_t)(rmw == IR_RMW_SUB ? IR_RMW_ADD : rmw);
    uint32_t program = run->program_number;
    bool again = t->n > 0 && t->kind != kind && !t->shared && t->program == program;
    if (t->n == 0 || again) {
        *t = (Tally){
            .exact = true, .lowest = 10000, .kind = kind, .program = program, .again = again};
        tally_add(t, old);
    }
    t->shared |= t->program != program;
    t->mixed |= t->kind != kind || (t->again && t->shared);
    t->n++;
    return t;
}

// The shadow of memory after one atomic; `old` is the shadow before it, `x` the operand's.
static ShadowValue atomic_shadow(InterpRun *run, const InterpAccess *a, uint32_t i, IrRmw rmw,
                                 ShadowValue old, ShadowValue x, uint64_t result) {
    Tally *t = tally_of(run, shadow_address(a, i), rmw, old);
    bool sums = rmw == IR_RMW_ADD || rmw == IR_RMW_SUB;
    bool floats = dtype_is(a->elem, DTYPE_CLASS_ANYFLOAT);
    if (rmw == IR_RMW_SUB) x.v = -x.v;
    tally_add(t, x);
    ShadowValue s = shadow_exact(a->elem, result);
    if (t->mixed) return (ShadowValue){s.v, HUGE_VAL};
    if (floats && sums) return tally_shadow(t, a->elem, result, run->approximate);
    if (rmw == IR_RMW_MIN || rmw == IR_RMW_MAX)
        return shadow_lane(&(ShadowLane){.code = rmw == IR_RMW_MIN ? IR_MIN : IR_MAX,
                                         .from = a->elem,
                                         .to = a->elem,
                                         .same_bits = true,
                                         .n = 2,
                                         .in = {old, x},
                                         .result = result});
    if (rmw == IR_RMW_XCHG) {
        s = t->n > 1 ? shadow_join(x, old) : x;
        return s;
    }
    if (old.e == 0 && x.e == 0) return s;
    s.e = sums ? old.e + x.e : HUGE_VAL;
    return s;
}

// Is this the only access to the lanes' memory, as far as one op of one program can know?
static bool is_exclusive(const InterpRun *run, const InterpAccess *a) {
    const int64_t *grid = run->launch->grid;
    if (grid[0] != 1 || grid[1] != 1 || grid[2] != 1) return false;
    for (uint32_t i = 1; i < a->count; i++)
        if (a->place[i].address <= a->place[i - 1].address) return false;
    return true;
}

static void atomic_lane(InterpRun *run, const InterpAccess *a, uint32_t i,
                        const InterpSlot *expected, const InterpSlot *x, InterpSlot *r,
                        bool exclusive) {
    uint64_t address = a->place[i].address, lane = slot_lane(x, i);
    uint64_t old = memory_read(a->elem, address), value = slot_get(x, lane), next;
    IrRmw rmw = expected ? IR_RMW_XCHG : (IrRmw)ir_attr_int(a->op, IR_ATTR_RMW);
    bool swaps = !expected || old == slot_get(expected, slot_lane(expected, i));
    if (rmw == IR_RMW_LOAD) {
        bool sure =
            exclusive && !(a->mask_undecided && a->mask_undecided[i]) && !a->undecided_address;
        ShadowValue known = run->shadow ? memory_shadow(run, a, i, old) : (ShadowValue){0, 0};
        if (run->shadow) r->shadow[i] = sure ? known : (ShadowValue){known.v, HUGE_VAL};
        slot_put(r, i, old);
        return;
    }
    next = swaps ? modified(rmw, a->elem, old, value) : old;
    if (run->shadow) {
        ShadowValue before = memory_shadow(run, a, i, old), operand = shadow_get(x, lane);
        bool doubt = (a->mask_undecided && a->mask_undecided[i]) || a->undecided_address ||
                     (expected && !exclusive);
        if (expected && shadow_get(expected, slot_lane(expected, i)).e + before.e > 0) doubt = true;
        ShadowValue after = before;
        if (swaps) after = atomic_shadow(run, a, i, rmw, before, operand, next);
        if (doubt) after.e = HUGE_VAL;
        put_shadow(run, a, i, after);
        r->shadow[i] = exclusive && !doubt ? before : (ShadowValue){before.v, HUGE_VAL};
    }
    run->changed |= next != old;
    memory_write(a->elem, address, next);
    slot_put(r, i, old);
}

static void execute_atomic(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    bool cas = op->code == IR_ATOMIC_CAS || op->code == IR_VIEW_CAS;
    const InterpSlot *expected = cas ? operand_slot(run, frame, op, 1) : NULL;
    const InterpSlot *x = operand_slot(run, frame, op, cas ? 2 : 1);
    InterpSlot *r = result_slot(run, frame, op, 0);
    bool loads = !cas && ir_attr_int(op, IR_ATTR_RMW) == IR_RMW_LOAD;
    InterpAccess a = access_of(run, frame, op, loads ? TOUCH_ATOMIC_READ : TOUCH_ATOMIC);
    bool exclusive = run->shadow && is_exclusive(run, &a);
    // The host may be what such an atomic waits for.
    run->changed |= ir_attr_int(op, IR_ATTR_SCOPE) == IR_SCOPE_SYSTEM;
    if (run->shadow) slot_shadow_blank(run, r);
    for (uint32_t i = 0; i < a.count; i++) {
        bool maybe = a.mask_undecided && a.mask_undecided[i];
        if (a.on[i]) {
            atomic_lane(run, &a, i, expected, x, r, exclusive);
        } else {
            slot_put(r, i, 0);
            if (!run->shadow) continue;
            r->shadow[i] = (ShadowValue){0, maybe ? HUGE_VAL : 0};
            if (maybe && !loads) store_shadow(run, &a, i, x);
        }
    }
    if (run->shadow && a.undecided_address && !loads) poison(run, &a);
}

// ---- inside, scratch ----------------------------------------------------------------------------

static void execute_inside(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    InterpSlot *r = result_slot(run, frame, op, 0);
    InterpSelection s = selection_of(run, frame, op);
    for (uint64_t i = 0; i < r->count; i++) {
        bool inside = s.inside;
        uint64_t lane = i;
        for (uint32_t a = s.axis_count; a-- > 0;) {
            inside = inside && s.axis[a].inside[lane % s.axis[a].count];
            lane /= s.axis[a].count;
        }
        slot_put(r, i, inside);
    }
    if (s.undecided_address) slot_set_undecided(run, r);
}

static uint64_t scratch_origin(InterpRun *run, const IrOp *op) {
    IrInterp *interp = run->interp;
    for (size_t i = 1; i < interp->buffers.count; i++)
        if (interp->buffers.data[i].op == op) return i;
    vec_push(interp->arena, &interp->buffers, (InterpBuffer){.op = op});
    return interp->buffers.count - 1;
}

void execute_scratch(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    enum { SCRATCH_LIMIT = 1 << 28, POISON = 0xA5 };
    InterpSlot *r = result_slot(run, frame, op, 0);
    int64_t count = ir_attr_int(op, IR_ATTR_COUNT);
    bool packed = dtype_is(r->elem, DTYPE_CLASS_PACKED);
    uint64_t bytes = packed ? 1 : dtype_size(r->elem);
    if (count > 0 && count < SCRATCH_LIMIT) count *= r->count;
    uint64_t size = count > 0 && count < SCRATCH_LIMIT ? (uint64_t)count * bytes : 0;
    uint64_t origin = scratch_origin(run, op);
    if (!r->spare) r->spare = arena_alloc(run->interp->arena, size + 1);
    memset(r->spare, POISON, size);
    uint64_t address = (uint64_t)(uintptr_t)r->spare;
    InterpBuffer *b = &run->interp->buffers.data[origin];
    b->data = b->low = address;
    b->high = address + size;
    if (run->interp->pages) pages_forget(run->interp->pages, address, size);
    uint32_t inverse[LAYOUT_MAX_TILE_BITS];
    bool laid = r->type->layout && layout_invert(r->type->layout, inverse);
    for (uint32_t i = 0; i < r->count; i++) {
        uint64_t offset = 0;
        for (uint32_t bit = 0; laid && i >> bit; bit++)
            if (i >> bit & 1) offset ^= inverse[bit];
        uint64_t at = address + offset * bytes;
        slot_put_place(r, i, (InterpPlace){packed ? at * 2 : at, origin});
    }
}

void execute_slot(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    const InterpSlot *p = operand_slot(run, frame, op, 0), *n = operand_slot(run, frame, op, 1);
    InterpSlot *r = result_slot(run, frame, op, 0);
    uint64_t size = (uint64_t)r->count * dtype_size(r->elem);
    for (uint32_t i = 0; i < r->count; i++) {
        InterpPlace place = slot_place(p, i);
        place.address += (uint64_t)(int64_t)(int32_t)slot_get(n, 0) * size;
        slot_put_place(r, i, place);
    }
}

// thread.update. The shadow of its region is not needed at this level.
static bool execute_update(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    const InterpSlot *x = operand_slot(run, frame, op, 1);
    InterpSlot *r = result_slot(run, frame, op, 0);
    InterpAccess a = access_of(run, frame, op, TOUCH_ATOMIC);
    if (run->shadow) slot_set_undecided(run, r);
    for (uint32_t i = 0; i < a.count; i++) {
        uint64_t address = a.place[i].address, old = 0;
        if (a.on[i]) {
            old = memory_read(a.elem, address);
            Scalar inputs[2] = {{.bits = old}, {.bits = slot_get(x, slot_lane(x, i))}}, next;
            TRY(combine(run, frame, op, inputs, &next));
            run->changed = true;
            memory_write(a.elem, address, next.bits);
            if (run->shadow) put_shadow(run, &a, i, (ShadowValue){0, HUGE_VAL});
        }
        slot_put(r, i, old);
    }
    return true;
}

bool execute_memory(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    if (op->code == IR_THREAD_UPDATE) return execute_update(run, frame, op);
    if (op->code == IR_VIEW_INSIDE)
        execute_inside(run, frame, op);
    else if (op->code == IR_LOAD || op->code == IR_VIEW_LOAD || op->code == IR_CPU_LOAD ||
             op->code == IR_THREAD_LOAD || op->code == IR_GPU_READ)
        execute_load(run, frame, op);
    else if (op->code == IR_STORE || op->code == IR_VIEW_STORE || op->code == IR_CPU_STORE ||
             op->code == IR_THREAD_STORE || op->code == IR_GPU_COPY || op->code == IR_GPU_TMA_LOAD)
        execute_store(run, frame, op);
    else
        execute_atomic(run, frame, op);
    return true;
}
