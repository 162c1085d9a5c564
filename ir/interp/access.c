// The memory that the lanes of an op access: selections of views, pointers, bounds, races.
//
// Views: an index is any 64-bit number; it is compared with the extent before a lane number is
// added, so nothing overflows, and no address of a lane outside is ever used.
#include "ir/interp/internal.h"

// ---- elements in memory -------------------------------------------------------------------------

uint64_t memory_read(Dtype elem, uint64_t address) {
    const unsigned char *at = (const unsigned char *)(uintptr_t)address;
    if (dtype_is(elem, DTYPE_CLASS_PACKED)) {
        at = (const unsigned char *)(uintptr_t)(address >> 1);
        uint64_t half = (address & 1) ? *at >> 4 : *at & 15;
        return elem == DTYPE_I4 && half > 7 ? half | 0xf0 : half;  // as i8
    }
    if (elem == DTYPE_BOOL) return *at != 0;
    return bits_get(at, (uint32_t)dtype_size(elem), 0);
}

void memory_write(Dtype elem, uint64_t address, uint64_t bits) {
    unsigned char *at = (unsigned char *)(uintptr_t)address;
    if (dtype_is(elem, DTYPE_CLASS_PACKED)) {
        at = (unsigned char *)(uintptr_t)(address >> 1);
        unsigned low = (unsigned)(bits & 15);
        *at = (unsigned char)((address & 1) ? (*at & 0x0fU) | low << 4 : (*at & 0xf0U) | low);
        return;
    }
    bits_put(at, (uint32_t)dtype_size(elem), 0, bits);
}

// ---- selections ---------------------------------------------------------------------------------

typedef struct Dimension {
    const IrOp *op;
    uint32_t place;
    int64_t extent, stride, width;
    const InterpSlot *index;
    bool proven;
    int64_t kept;  // at most the width: lanes from there on are dropped
} Dimension;

static void check_proof(InterpRun *run, const Dimension *d, uint32_t lane, bool inside) {
    if (d->proven && !inside)
        finding_add(run, d->op, FINDING_PROOF, lane, "dimension %u is marked inside and is not",
                    d->place);
}

static Axis axis_of_width(InterpRun *run, const Dimension *d) {
    uint32_t width = (uint32_t)d->width;
    Axis axis = {width, arena_new(run->scratch, uint64_t, width),
                 arena_new(run->scratch, uint8_t, width)};
    int64_t first;
    bool fits = slot_i64(d->index, 0, &first);
    bool near = fits && first > -d->width && first < d->extent;
    for (uint32_t w = 0; w < width; w++) {
        int64_t at = near ? first + w : -1;
        axis.inside[w] = at >= 0 && at < d->extent && w < d->kept;
        if (axis.inside[w])
            axis.offset[w] = (uint64_t)at * (uint64_t)d->stride;
        else
            check_proof(run, d, w, false);
    }
    return axis;
}

static bool index_inside(const Dimension *d, uint64_t lane, uint64_t *offset) {
    int64_t at;
    bool inside = slot_i64(d->index, lane, &at) && at >= 0 && at < d->extent;
    if (inside) *offset += (uint64_t)at * (uint64_t)d->stride;
    return inside;
}

// Tile indices broadcast against one another: the element of one of them for a lane of the whole.
static uint64_t stretched(const IrType *t, uint32_t rank, const uint32_t *shape, uint64_t lane) {
    uint64_t at = 0, step = 1;
    for (uint32_t d = rank; d-- > 0;) {
        uint64_t coordinate = lane % shape[d];
        lane /= shape[d];
        if (t->shape[d] != 1) at += coordinate * step;
        step *= t->shape[d];
    }
    return at;
}

static Axis axis_of_tiles(InterpRun *run, const Dimension *dims, uint32_t count) {
    uint32_t rank = 0, shape[IR_MAX_RANK] = {0};
    for (uint32_t k = 0; k < count; k++) {
        const IrType *t = dims[k].index->type;
        rank = t->rank;
        for (uint32_t d = 0; d < rank; d++)
            if (t->shape[d] > shape[d]) shape[d] = t->shape[d];
    }
    Axis axis = {.count = 1};
    for (uint32_t d = 0; d < rank; d++) axis.count *= shape[d];
    axis.offset = arena_new(run->scratch, uint64_t, axis.count);
    axis.inside = arena_new(run->scratch, uint8_t, axis.count);
    for (uint32_t i = 0; i < axis.count; i++) {
        axis.inside[i] = 1;
        for (uint32_t k = 0; k < count; k++) {
            uint64_t lane = stretched(dims[k].index->type, rank, shape, i);
            bool inside = index_inside(&dims[k], lane, &axis.offset[i]);
            check_proof(run, &dims[k], i, inside);
            if (!inside) axis.inside[i] = 0;
        }
    }
    return axis;
}

static void select_scalar(InterpRun *run, InterpSelection *s, const Dimension *d,
                          uint64_t *offset) {
    bool inside = index_inside(d, 0, offset);
    check_proof(run, d, 0, inside);
    if (!inside) s->inside = false;
}

static bool is_undecided(const InterpSlot *s) {
    for (uint32_t i = 0; s->shadowed && i < s->count; i++)
        if (s->shadow[i].e > 0) return true;
    return false;
}

// The number of lanes that a store keeps: in the interpreter a run of the body is one program.
static int64_t kept_of(const IrOp *store, uint32_t d, int64_t width) {
    const IrAttr *spans = ir_attr(store, IR_ATTR_SPANS);
    bool cut = d < spans->u.ints.count && spans->u.ints.items[d] != 0;
    return cut ? spans->u.ints.items[d] : width;
}

static Dimension dimension_of(InterpRun *run, InterpFrame *frame, const IrOp *op, const IrArg *arg,
                              uint32_t d) {
    Dimension dim = {op, d, arg->extent[d], arg->stride[d], 0, NULL, false, 0};
    dim.width = dim.kept = ir_attr(op, IR_ATTR_SELECT)->u.ints.items[d];
    if (op->code == IR_VIEW_STORE) dim.kept = kept_of(op, d, dim.width);
    dim.index = operand_slot(run, frame, op, ir_view_index_start(op->code) + d);
    if (op->code != IR_VIEW_INSIDE) {
        const IrAttr *proofs = ir_attr(op, IR_ATTR_INSIDE);
        dim.proven = d < proofs->u.ints.count && proofs->u.ints.items[d] != 0;
    }
    return dim;
}

InterpSelection selection_of(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    const InterpSlot *view = operand_slot(run, frame, op, 0);
    const IrArg *arg = &run->launch->args[view->argument];
    uint32_t rank = view->type->rank, tiles = 0;
    Dimension tile[IR_MAX_VIEW_RANK];
    uint64_t offset = 0;
    uint32_t tile_axis = 0;
    InterpSelection s = {.elem = view->elem, .origin = view->argument + 1, .inside = true};
    for (uint32_t d = 0; d < rank; d++) {
        Dimension dim = dimension_of(run, frame, op, arg, d);
        if (run->shadow && is_undecided(dim.index)) s.undecided_address = true;
        s.run_last = dim.width > 0 && dim.stride == 1;
        if (dim.width > 0) {
            s.axis[s.axis_count++] = axis_of_width(run, &dim);
        } else if (dim.index->type->rank == 0) {
            select_scalar(run, &s, &dim, &offset);
        } else {
            if (tiles == 0) tile_axis = s.axis_count++;
            tile[tiles++] = dim;
        }
    }
    if (tiles) s.axis[tile_axis] = axis_of_tiles(run, tile, tiles);
    bool packed = dtype_is(s.elem, DTYPE_CLASS_PACKED);
    uint64_t data = (uint64_t)(uintptr_t)arg->data;
    s.base = packed ? data * 2 + offset : data + offset * dtype_size(s.elem);
    return s;
}

static uint64_t selection_count(const InterpSelection *s) {
    uint64_t count = 1;
    for (uint32_t a = 0; a < s->axis_count; a++) count *= s->axis[a].count;
    return count;
}

static void selection_lane(const InterpSelection *s, uint64_t scale, uint64_t lane,
                           InterpPlace *place, uint8_t *inside) {
    uint64_t offset = 0;
    bool in = s->inside;
    for (uint32_t a = s->axis_count; a-- > 0;) {
        uint64_t k = lane % s->axis[a].count;
        lane /= s->axis[a].count;
        offset += s->axis[a].offset[k];
        in = in && s->axis[a].inside[k];
    }
    *place = (InterpPlace){s->base + offset * scale, s->origin};
    *inside = in;
}

// ---- checks under sanitize, and of buffers whose size is known ----------------------------------

static uint64_t byte_address(const InterpAccess *a, uint32_t i) {
    bool packed = dtype_is(a->elem, DTYPE_CLASS_PACKED);
    return packed ? a->place[i].address >> 1 : a->place[i].address;
}

static const char *what_it_does(const IrOp *op) {
    if (ir_changes_memory(op)) return "writes";
    switch (ir_op_info(op->code)->effect) {
    case IR_EFFECT_READ:
    case IR_EFFECT_WRITE: return "reads";
    case IR_EFFECT_PURE:
    case IR_EFFECT_KEEP:
    case IR_EFFECT_NEST:
    case IR_EFFECT_END: break;
    }
    return "touches";
}

int64_t accessed_element(const InterpAccess *a, uint32_t i, const InterpBuffer *b) {
    return (int64_t)(byte_address(a, i) - b->data) / (int64_t)a->bytes;
}

static bool made_by_wrapping(const InterpAccess *a, uint32_t i) { return a->wrap && a->wrapped[i]; }

static void report_wrapping(InterpRun *run, const InterpAccess *a, uint32_t i,
                            const InterpBuffer *b) {
    if (finding_add(
            run, a->op, FINDING_WRAPPED, i,
            "%s element %lld of '%s', an index that was computed with a number that wrapped",
            what_it_does(a->op), (long long)accessed_element(a, i, b), b->name ? b->name : "?"))
        finding_cause(run, a->wrap);
}

static bool in_bounds(InterpRun *run, const InterpAccess *a, uint32_t i, const InterpBuffer *b) {
    if (b->high == 0) return true;
    uint64_t address = byte_address(a, i);
    if (address >= b->low && address <= b->high && b->high - address >= a->bytes) return true;
    if (run->sanitize && !made_by_wrapping(a, i)) {
        int64_t place = accessed_element(a, i, b);
        uint64_t room = b->high > b->data ? (b->high - b->data) / a->bytes : 0;
        finding_add(run, a->op, FINDING_BOUNDS, i,
                    "%s element %lld of '%s', a buffer of %llu elements", what_it_does(a->op),
                    (long long)place, b->name ? b->name : "scratch", (unsigned long long)room);
    }
    return false;
}

static void check_alignment(InterpRun *run, const InterpAccess *a, uint32_t i) {
    uint64_t address = byte_address(a, i);
    if (address % a->bytes)
        finding_add(run, a->op, FINDING_ALIGNMENT, i,
                    "%s an address that is %llu bytes past a "
                    "multiple of %u",
                    what_it_does(a->op), (unsigned long long)(address % a->bytes), a->bytes);
}

// `lacking`: what the atomics lack, if the access is one.
static void check_race(InterpRun *run, const InterpAccess *a, uint32_t i, Touch touch,
                       const InterpBuffer *b, const char *lacking) {
    uint64_t address = byte_address(a, i);
    if (b->op) {  // scratch is private to the program
        bool written = pages_written(run->interp->pages, address, a->bytes);
        // Vectors of lowered code may have lanes that are not used.
        bool matters = b->op->code == IR_THREAD_SHARED || b->op->code == IR_GPU_SHARED;
        if (matters && touch != TOUCH_WRITE && !written)
            finding_add(run, a->op, FINDING_UNWRITTEN, i,
                        "reads scratch memory that nothing has written");
        if (touch == TOUCH_WRITE || touch == TOUCH_ATOMIC)
            pages_touch(run->interp->pages, address, a->bytes, TOUCH_WRITE, 1);
        return;
    }
    uint32_t other =
        pages_touch(run->interp->pages, address, a->bytes, touch, run->program_number + 1);
    if (!other) return;
    int64_t place = accessed_element(a, i, b);
    finding_add(run, a->op, FINDING_RACE, i,
                "%s element %lld of '%s', which program %u touches too, without atomics%s",
                what_it_does(a->op), (long long)place, b->name ? b->name : "?", other - 1, lacking);
}

// An atomic's release is noted after the access itself, because it covers that access. To other
// programs an atomic of the program's scope is a plain access.
static void check_atomic(InterpRun *run, const InterpAccess *a, uint32_t i, Touch touch,
                         const InterpBuffer *b) {
    int64_t order = ir_attr_int(a->op, IR_ATTR_ORDER);
    uint32_t program = run->program_number + 1;
    if (ir_attr_int(a->op, IR_ATTR_SCOPE) == IR_SCOPE_PROGRAM) {
        check_race(run, a, i, touch == TOUCH_ATOMIC_READ ? TOUCH_READ : TOUCH_WRITE, b,
                   " whose scope has both");
        return;
    }
    if (order == IR_ORDER_ACQUIRE || order == IR_ORDER_ACQ_REL)
        pages_acquire(run->interp->pages, byte_address(a, i), program);
    check_race(run, a, i, touch, b, "");
    if (order == IR_ORDER_RELEASE || order == IR_ORDER_ACQ_REL)
        pages_release(run->interp->pages, byte_address(a, i), program);
}

// Compares with all accesses through the buffers that `noalias` keeps apart from this one.
static void check_noalias(InterpRun *run, const InterpAccess *a, uint32_t i, Touch touch,
                          const InterpBuffer *b) {
    const IrInterp *interp = run->interp;
    uint64_t address = byte_address(a, i), own = a->place[i].origin;
    for (size_t k = 0; k < interp->noalias_pairs.count; k++) {
        const NoAliasPair *pair = &interp->noalias_pairs.data[k];
        if (pair->a != own && pair->b != own) continue;
        const InterpBuffer *other = &interp->buffers.data[pair->a == own ? pair->b : pair->a];
        if (!pages_forbid(other->touched, address, a->bytes, touch)) continue;
        finding_add(
            run, a->op, FINDING_NOALIAS, i,
            "%s element %lld of '%s', which is also accessed through '%s', in spite of noalias",
            what_it_does(a->op), (long long)accessed_element(a, i, b), b->name, other->name);
    }
    pages_touch(b->touched, address, a->bytes, touch, 1);
}

static void access_check(InterpRun *run, InterpAccess *a, Touch touch, bool pointers) {
    const InterpBuffer *buffers = run->interp->buffers.data;
    for (uint32_t i = 0; i < a->count; i++) {
        if (!a->on[i]) continue;
        const InterpBuffer *b = &buffers[a->place[i].origin];
        if (made_by_wrapping(a, i)) report_wrapping(run, a, i, b);
        if (pointers && !in_bounds(run, a, i, b)) a->on[i] = 0;
        if (!run->sanitize || !a->on[i]) continue;
        if (pointers) check_alignment(run, a, i);
        if (b->touched) check_noalias(run, a, i, touch, b);
        if (touch == TOUCH_READ || touch == TOUCH_WRITE)
            check_race(run, a, i, touch, b, "");
        else
            check_atomic(run, a, i, touch, b);
    }
}

// ---- accesses -----------------------------------------------------------------------------------

static InterpAccess access_blank(InterpRun *run, const IrOp *op, Dtype elem, uint32_t count) {
    InterpAccess a = {.op = op, .elem = elem, .count = count};
    a.bytes = dtype_is(elem, DTYPE_CLASS_PACKED) ? 1 : (uint32_t)dtype_size(elem);
    a.place = arena_new(run->scratch, InterpPlace, count);
    a.on = arena_new(run->scratch, uint8_t, count);
    a.inside = arena_new(run->scratch, uint8_t, count);
    return a;
}

static InterpAccess access_view(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    InterpSelection s = selection_of(run, frame, op);
    InterpAccess a = access_blank(run, op, s.elem, (uint32_t)selection_count(&s));
    uint64_t scale = dtype_is(s.elem, DTYPE_CLASS_PACKED) ? 1 : dtype_size(s.elem);
    for (uint32_t i = 0; i < a.count; i++) selection_lane(&s, scale, i, &a.place[i], &a.inside[i]);
    a.undecided_address = s.undecided_address;
    return a;
}

static bool is_neighbours_load(IrOpcode code) {
    return code == IR_CPU_LOAD || code == IR_THREAD_LOAD;
}

static bool is_neighbours_store(IrOpcode code) {
    return code == IR_CPU_STORE || code == IR_THREAD_STORE;
}

// cpu.load and similar ops: neighbours from a scalar pointer on.
static InterpAccess access_neighbours(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    const InterpSlot *p = operand_slot(run, frame, op, 0);
    const IrType *x = is_neighbours_load(op->code) ? op->results[0].type : ir_operand(op, 1)->type;
    InterpAccess a = access_blank(run, op, p->elem, x->count);
    for (uint32_t i = 0; i < a.count; i++) {
        a.place[i] = slot_place(p, 0);
        a.place[i].address += (uint64_t)i * dtype_size(p->elem);
        a.inside[i] = 1;
    }
    a.undecided_address = run->shadow && is_undecided(p);
    return a;
}

InterpAccess access_rows(InterpRun *run, const IrOp *op, const InterpSlot *p,
                         const InterpRuns *runs, Touch touch) {
    uint64_t size = dtype_size(p->elem);
    InterpAccess a = access_blank(run, op, p->elem, runs->count * runs->length);
    for (uint32_t i = 0; i < a.count; i++) {
        uint64_t at = (uint64_t)runs->first + i / runs->length * (uint64_t)runs->step;
        a.place[i] = slot_place(p, 0);
        a.place[i].address += (at + i % runs->length) * size;
        a.inside[i] = a.on[i] = 1;
    }
    access_check(run, &a, touch, true);
    return a;
}

static InterpAccess access_pointer(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    if (is_neighbours_load(op->code) || is_neighbours_store(op->code))
        return access_neighbours(run, frame, op);
    const InterpSlot *p = operand_slot(run, frame, op, 0);
    InterpAccess a = access_blank(run, op, p->elem, p->count);
    for (uint32_t i = 0; i < a.count; i++) {
        a.place[i] = slot_place(p, i);
        a.inside[i] = 1;
    }
    a.undecided_address = run->shadow && is_undecided(p);
    a.wrap = p->wrap;
    a.wrapped = p->wrapped;
    return a;
}

// The index of the mask among the operands; 0: the op has none.
static uint32_t mask_operand(IrOpcode code) {
    if (code == IR_LOAD || is_neighbours_load(code)) return 1;
    if (code == IR_STORE || is_neighbours_store(code) || code == IR_ATOMIC ||
        code == IR_THREAD_UPDATE || code == IR_VIEW_STORE || code == IR_VIEW_ATOMIC)
        return 2;
    if (code == IR_ATOMIC_CAS || code == IR_VIEW_CAS) return 3;
    return 0;
}

InterpAccess access_of(InterpRun *run, InterpFrame *frame, const IrOp *op, Touch touch) {
    const IrType *first = ir_operand(op, 0)->type;
    bool pointers = first->kind == IR_PTR;
    InterpAccess a = pointers ? access_pointer(run, frame, op) : access_view(run, frame, op);
    uint32_t place = mask_operand(op->code);
    const InterpSlot *mask = place ? operand_slot(run, frame, op, place) : NULL;
    for (uint32_t i = 0; i < a.count; i++)
        a.on[i] = a.inside[i] && (!mask || slot_get(mask, slot_lane(mask, i)));
    if (run->shadow && mask && mask->shadowed) {
        a.mask_undecided = arena_new(run->scratch, uint8_t, a.count);
        for (uint32_t i = 0; i < a.count; i++)
            a.mask_undecided[i] = a.inside[i] && shadow_get(mask, slot_lane(mask, i)).e > 0;
    }
    access_check(run, &a, touch, pointers);
    return a;
}
