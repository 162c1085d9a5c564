// Ranges: the walk over the function, to a fixed point of the values that loops carry.
//
// Every sweep visits all ops in order. The argument of a loop holds the join of its initial value
// and the values that the body yielded in earlier sweeps, so the last sweep, in which nothing
// changes, proves itself. From the third sweep on, a bound that still moves is set to its type's
// limit. After SWEEPS_MAX sweeps only the types of carried values are known, and one more sweep is
// then correct by itself. Inside a region that a condition guards, an overlay refines the facts
// during the walk.
#include "base/os/os.h"
#include "ir/analysis/analysis_internal.h"

enum { WIDEN_FROM = 2, SWEEPS_MAX = 8, OVERLAY_MAX = 64, ASSERTED_MAX = 32 };

// ---- ranges as values ---------------------------------------------------------------------------

bool range_is_integer(const IrValue *value) {
    return value && value->type->kind == IR_TILE && dtype_is(value->type->elem, DTYPE_CLASS_INT);
}

IrRange range_nothing(void) { return (IrRange){.divisor = 1}; }

static void no_runs(IrRange *range) {
    for (int d = 0; d < IR_MAX_RANK; d++) {
        range->contiguous[d] = range->constant[d] = 1;
        range->first[d] = range->divisor;
    }
}

IrRange range_full(const IrType *type) {
    IrRange range = {.known = true, .min = INT64_MIN, .max = INT64_MAX, .divisor = 1};
    if (type->elem != DTYPE_U64) {
        range.min = dtype_int_min(type->elem);
        range.max = (int64_t)dtype_int_max(type->elem);
    }
    no_runs(&range);
    return range;
}

bool range_is_full_u64(const IrType *type, const IrRange *range) {
    return type->elem == DTYPE_U64 && range->min < 0;
}

uint64_t range_divisor_of(int64_t value) {
    if (value == 0) return IR_ZERO_DIVISOR;
    if (value == INT64_MIN) return IR_ZERO_DIVISOR >> 1;  // 2^63 itself stands for zero
    return (uint64_t)(value < 0 ? -value : value);
}

uint64_t range_gcd(uint64_t a, uint64_t b) {
    if (a == IR_ZERO_DIVISOR) return b;
    if (b == IR_ZERO_DIVISOR) return a;
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// A value that does not fit the type wraps; the divisor then keeps only its power of two, as
// wrapping does.
IrRange range_between(const IrType *type, Int128 min, Int128 max, uint64_t divisor) {
    IrRange range = range_full(type);
    int64_t least = type->elem == DTYPE_U64 ? 0 : range.min;
    if (min >= least && max <= range.max && min <= max) {
        range.min = (int64_t)min;
        range.max = (int64_t)max;
        range.divisor = divisor;
        if (min == max) range.divisor = range_divisor_of(range.min);
    } else {
        range.divisor = divisor & (0 - divisor);
    }
    no_runs(&range);
    for (uint32_t d = 0; d < type->rank && range.min == range.max; d++) {
        range.constant[d] = type->shape[d];
    }
    return range;
}

IrRange range_constant(const IrType *type, int64_t value) {
    return range_between(type, value, value, range_divisor_of(value));
}

static uint64_t first_of(const IrRange *range, int d, uint32_t run) {
    // A shorter run may also begin in the middle of a longer one.
    return run < range->contiguous[d] ? range_gcd(range->first[d], run) : range->first[d];
}

IrRange range_join(const IrRange *a, const IrRange *b) {
    if (!a->known || !b->known) return range_nothing();
    IrRange range = {.known = true,
                     .min = a->min < b->min ? a->min : b->min,
                     .max = a->max > b->max ? a->max : b->max,
                     .divisor = range_gcd(a->divisor, b->divisor)};
    for (int d = 0; d < IR_MAX_RANK; d++) {
        uint32_t run = a->contiguous[d] < b->contiguous[d] ? a->contiguous[d] : b->contiguous[d];
        range.contiguous[d] = run;
        range.constant[d] = a->constant[d] < b->constant[d] ? a->constant[d] : b->constant[d];
        range.first[d] = range_gcd(first_of(a, d, run), first_of(b, d, run));
        if (range.first[d] < range.divisor) range.first[d] = range.divisor;
    }
    return range;
}

// ---- the state ----------------------------------------------------------------------------------

IrRange *range_extent(const IrRanges *r, Symbol name) {
    const IrExtent *extent = ir_extent_find(r->func, name);
    return extent ? &r->extents[extent - r->func->extents.data] : NULL;
}

const void *range_atom(const IrRanges *r, const IrValue *value) {
    const IrOp *def = value->def;
    if (def && def->code == IR_EXTENT) {
        const IrExtent *extent = ir_extent_find(r->func, ir_attr(def, IR_ATTR_EXTENT)->u.name);
        return extent ? (const void *)extent : value;
    }
    if (def && (def->code == IR_PROGRAM || def->code == IR_PROGRAMS)) {
        int64_t dim = ir_attr_int(def, IR_ATTR_DIM);
        bool one = dim >= 0 && dim < 3;
        const IrValue *stands = one ? r->programs[dim + (def->code == IR_PROGRAMS ? 3 : 0)] : value;
        return stands ? stands : value;
    }
    return value;
}

IrRange range_get(const IrRanges *r, const IrValue *value) {
    if (!range_is_integer(value) || !r->seen[value->id]) return range_nothing();
    IrRange range = r->facts[value->id];
    if (r->overlay.count == 0) return range;
    const void *atom = range_atom(r, value);
    for (size_t i = 0; i < r->overlay.count; i++) {
        const RangeOverlay *o = &r->overlay.data[i];
        if (o->atom != atom) continue;
        int64_t min = o->min > range.min ? o->min : range.min;
        int64_t max = o->max < range.max ? o->max : range.max;
        if (min > max) continue;  // never reached, so any range is correct
        range.min = min;
        range.max = max;
        // Both divide it. The greater one is kept if the lesser does not divide it.
        if (o->divisor > range.divisor && range.divisor != IR_ZERO_DIVISOR) {
            range.divisor = o->divisor;
        }
    }
    return range;
}

bool range_is_constant(const IrRanges *r, const IrValue *value, int64_t *number) {
    IrRange range = range_get(r, value);
    if (!range.known || range.min != range.max) return false;
    *number = range.min;
    return true;
}

// ---- the walk -----------------------------------------------------------------------------------

static void set_range(IrRanges *r, const IrValue *value, IrRange range) {
    r->facts[value->id] = range;
    r->seen[value->id] = true;
}

static void set_full(IrRanges *r, const IrValue *value) {
    set_range(r, value, range_is_integer(value) ? range_full(value->type) : range_nothing());
}

// A bound that moves again after some sweeps is set to its limit, where it cannot move any more.
static void widen(const IrRanges *r, const IrValue *value, const IrRange *old, IrRange *range) {
    if (r->sweep < WIDEN_FROM) return;
    IrRange full = range_full(value->type);
    bool unsigned64 = value->type->elem == DTYPE_U64;
    if (range->min < old->min) range->min = unsigned64 && range->max < INT64_MAX ? 0 : full.min;
    if (range->max > old->max) range->max = full.max;
    if (unsigned64 && range->max == INT64_MAX) range->min = INT64_MIN;
    if (range->divisor != old->divisor) {
        bool late = r->sweep > WIDEN_FROM + 2;
        range->divisor = late ? 1 : range->divisor & (0 - range->divisor);
    }
    for (int d = 0; d < IR_MAX_RANK; d++) {
        if (range->contiguous[d] != old->contiguous[d]) range->contiguous[d] = 1;
        if (range->constant[d] != old->constant[d]) range->constant[d] = 1;
        if (range->first[d] != old->first[d] || range->contiguous[d] == 1) {
            range->first[d] = range->contiguous[d] == 1 ? range->divisor : 1;
        }
    }
}

static bool same_range(const IrRange *a, const IrRange *b) {
    if (a->known != b->known || a->min != b->min || a->max != b->max || a->divisor != b->divisor) {
        return false;
    }
    for (int d = 0; d < IR_MAX_RANK; d++) {
        if (a->contiguous[d] != b->contiguous[d] || a->constant[d] != b->constant[d] ||
            a->first[d] != b->first[d]) {
            return false;
        }
    }
    return true;
}

// `from` flows into `value`, which the loop carries.
static void flow(IrRanges *r, const IrValue *value, const IrValue *from) {
    if (!range_is_integer(value)) {
        set_full(r, value);
        return;
    }
    IrRange more = range_get(r, from);
    if (!r->seen[value->id]) {
        set_range(r, value, more);
        return;
    }
    IrRange old = r->facts[value->id], joined = range_join(&old, &more);
    if (same_range(&old, &joined)) return;
    widen(r, value, &old, &joined);
    r->facts[value->id] = joined;
    r->changed = true;
}

static void walk_block(IrRanges *r, const IrBlock *block);

// A value that the region yields is read while its guards are known: `if (x < 0) 0 else x` is not
// negative.
static void walk_guarded(IrRanges *r, const IrOp *op, uint32_t region, IrRange *yielded) {
    size_t known = r->overlay.count;
    RangeFacts guards = {0};
    range_guards(r, op, op->regions[region], &guards);
    for (size_t i = 0; i < guards.count; i++) range_refine(r, &guards.data[i], false);
    walk_block(r, op->regions[region]);
    const IrOp *end = op->regions[region]->last;
    for (uint32_t i = 0; yielded && i < end->operand_count; i++) {
        yielded[i] = range_get(r, ir_operand(end, i));
    }
    r->overlay.count = known;
}

static void walk_if(IrRanges *r, const IrOp *op) {
    IrRange *yielded[2];
    for (uint32_t k = 0; k < 2; k++) {
        yielded[k] = arena_new(r->arena, IrRange, op->result_count);
        walk_guarded(r, op, k, yielded[k]);
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (range_is_integer(&op->results[i])) {
            set_range(r, &op->results[i], range_join(&yielded[0][i], &yielded[1][i]));
        } else {
            set_full(r, &op->results[i]);
        }
    }
}

static IrRange induction(const IrRanges *r, const IrOp *loop) {
    const IrType *type = loop->regions[0]->args[0]->type;
    IrRange lo = range_get(r, ir_operand(loop, 0)), hi = range_get(r, ir_operand(loop, 1));
    IrRange step = range_get(r, ir_operand(loop, 2));
    if (!lo.known || !hi.known || !step.known) return range_full(type);
    bool down = ir_attr_int(loop, IR_ATTR_DOWN) != 0;
    Int128 min = down ? (Int128)hi.min + 1 : lo.min, max = down ? lo.max : (Int128)hi.max - 1;
    if (min > max) return range_full(type);  // no iteration, so any range is correct
    uint64_t divisor = range_gcd(lo.divisor, step.divisor);
    // There is nothing between multiples of the divisor.
    if (divisor > 1 && divisor < (uint64_t)1 << 62) {
        Int128 d = (Int128)divisor, over = ((max % d) + d) % d, under = ((min % d) + d) % d;
        Int128 top = max - over, bottom = under ? min + d - under : min;
        if (bottom <= top) {
            min = bottom;
            max = top;
        }
    }
    return range_between(type, min, max, divisor);
}

static void walk_for(IrRanges *r, const IrOp *op) {
    const IrBlock *body = op->regions[0];
    for (uint32_t i = 0; i < op->result_count; i++)
        flow(r, body->args[i + 1], ir_operand(op, 3 + i));
    set_range(r, body->args[0], induction(r, op));
    walk_guarded(r, op, 0, NULL);
    for (uint32_t i = 0; i < op->result_count; i++) {
        flow(r, body->args[i + 1], ir_operand(body->last, i));
        set_range(r, &op->results[i], r->facts[body->args[i + 1]->id]);
    }
}

static void walk_while(IrRanges *r, const IrOp *op) {
    const IrBlock *condition = op->regions[0], *body = op->regions[1];
    for (uint32_t i = 0; i < op->result_count; i++) flow(r, condition->args[i], ir_operand(op, i));
    walk_block(r, condition);
    for (uint32_t i = 0; i < op->result_count; i++) {
        set_range(r, body->args[i], r->facts[condition->args[i]->id]);
    }
    walk_guarded(r, op, 1, NULL);
    for (uint32_t i = 0; i < op->result_count; i++) {
        flow(r, condition->args[i], ir_operand(body->last, i));
        set_range(r, &op->results[i], r->facts[condition->args[i]->id]);
    }
}

// A combiner may see any elements.
static void walk_combiner(IrRanges *r, const IrOp *op) {
    for (uint32_t k = 0; k < op->region_count; k++) {
        const IrBlock *block = op->regions[k];
        for (uint32_t i = 0; i < block->arg_count; i++) set_full(r, block->args[i]);
        walk_block(r, block);
    }
}

static void note_program(IrRanges *r, const IrOp *op) {
    int64_t dim = ir_attr_int(op, IR_ATTR_DIM);
    if (dim < 0 || dim > 2) return;
    const IrValue **stands = &r->programs[dim + (op->code == IR_PROGRAMS ? 3 : 0)];
    if (!*stands) *stands = &op->results[0];
}

// After an assert its condition holds, to the end of its block.
static void note_assertion(IrRanges *r, const IrOp *op) {
    bool assumes = op->code == IR_ASSUME;
    if (assumes && (r->trust == IR_TRUST_CHECKED || ir_attr_int(op, IR_ATTR_BOUNDS))) return;
    RangeFacts facts = {0};
    range_condition(r, ir_operand(op, 0), true, &facts);
    // Those that say nothing of integers would only take the places of others.
    if (r->sweep == 0 && facts.count && r->asserted.count < ASSERTED_MAX)
        vec_push(r->arena, &r->asserted, op);
    for (size_t i = 0; i < facts.count; i++) range_refine(r, &facts.data[i], false);
}

static void walk_op(IrRanges *r, const IrOp *op) {
    switch (op->code) {
    case IR_IF: walk_if(r, op); return;
    case IR_FOR: walk_for(r, op); return;
    case IR_WHILE: walk_while(r, op); return;
    case IR_ASSERT:
    case IR_ASSUME: note_assertion(r, op); return;
    case IR_PROGRAM:
    case IR_PROGRAMS: note_program(r, op); break;
    case IR_REDUCE:
    case IR_SCAN: walk_combiner(r, op); break;
    default: break;
    }
    for (uint32_t i = 0; i < op->result_count; i++) {
        const IrValue *result = &op->results[i];
        bool exact = false;
        set_range(r, result,
                  range_is_integer(result) ? range_of_op(r, op, i, &exact) : range_nothing());
        r->exact[result->id] = exact;
    }
}

static void walk_block(IrRanges *r, const IrBlock *block) {
    size_t known = r->overlay.count;
    for (const IrOp *op = block->first; op; op = op->next) walk_op(r, op);
    r->overlay.count = known;
}

// ---- refining -----------------------------------------------------------------------------------

static void refine_global(IrRanges *r, const IrValue *value, const RangeOverlay *o) {
    IrRange *range = NULL;
    if (value->def && value->def->code == IR_EXTENT) {
        range = range_extent(r, ir_attr(value->def, IR_ATTR_EXTENT)->u.name);
    } else if (!value->def && !value->block) {
        range = &r->facts[value->id];
    }
    if (!range || !range->known) return;
    int64_t min = o->min > range->min ? o->min : range->min;
    int64_t max = o->max < range->max ? o->max : range->max;
    if (min > max) return;
    range->min = min;
    range->max = max;
    if (o->divisor > range->divisor && range->divisor != IR_ZERO_DIVISOR) {
        range->divisor = o->divisor;
        no_runs(range);
    }
    if (min == max) *range = range_constant(value->type, min);
}

// x is in [min, max] and a multiple of divisor. This refines x itself and the values that x is an
// image of.
static void refine_value(IrRanges *r, const IrValue *value, RangeOverlay o, bool global) {
    for (int depth = 0; depth < 8; depth++) {
        IrRange now = range_get(r, value);
        if (!now.known) return;
        if (range_is_full_u64(value->type, &now)) {
            if (o.max == INT64_MAX || o.max < 0) return;  // it may still be beyond INT64_MAX
            if (o.min < 0) o.min = 0;
        }
        o.atom = range_atom(r, value);
        if (global) {
            refine_global(r, value, &o);
        } else if (r->overlay.count < OVERLAY_MAX) {
            vec_push(r->arena, &r->overlay, o);
        }
        const IrOp *def = value->def;
        bool image = def && (def->code == IR_CAST || def->code == IR_BROADCAST) &&
                     range_is_integer(ir_operand(def, 0)) &&
                     (def->code == IR_BROADCAST || r->exact[value->id]);
        if (!image) return;
        value = ir_operand(def, 0);
    }
}

void range_refine(IrRanges *r, const RangeFact *fact, bool global) {
    static const RangeOverlay anything = {.min = INT64_MIN, .max = INT64_MAX, .divisor = 1};
    RangeOverlay o = anything;
    if (!fact->b) {
        o.divisor = fact->divisor;
        refine_value(r, fact->a, o, global);
        return;
    }
    IrRange a = range_get(r, fact->a), b = range_get(r, fact->b);
    if (!a.known || !b.known) return;
    Int128 top = (Int128)b.max - fact->add, bottom = (Int128)a.min + fact->add;
    if (!range_is_full_u64(fact->b->type, &b) && top >= INT64_MIN && top < a.max) {
        o.max = (int64_t)top;
        refine_value(r, fact->a, o, global);
    }
    o = anything;
    if (!range_is_full_u64(fact->a->type, &a) && bottom <= INT64_MAX && bottom > b.min) {
        o.min = (int64_t)bottom;
        refine_value(r, fact->b, o, global);
    }
}

// ---- the analysis -------------------------------------------------------------------------------

static IrRange with_facts(IrRange range, const IrType *type, const IrFacts *facts) {
    if (facts->has_range && facts->min <= facts->max) {
        if (facts->min > range.min) range.min = facts->min;
        if (facts->max < range.max) range.max = facts->max;
        if (range.min > range.max) range = range_full(type);
    }
    if (facts->divisor > 1 && facts->divisor < IR_ZERO_DIVISOR) range.divisor = facts->divisor;
    if (range.min == range.max) return range_constant(type, range.min);
    no_runs(&range);
    return range;
}

static void begin_params(IrRanges *r) {
    for (size_t i = 0; i < r->func->params.count; i++) {
        const IrParam *param = &r->func->params.data[i];
        set_full(r, param->value);
        const IrType *type = param->value->type;
        if (!range_is_integer(param->value)) continue;
        IrFacts facts = param->facts;
        // A u64 is below 2^63 when its greatest value is.
        if (type->elem == DTYPE_U64 && (!facts.has_range || facts.min < 0)) facts.has_range = false;
        r->facts[param->value->id] = with_facts(range_full(type), type, &facts);
    }
}

static void begin_extents(IrRanges *r) {
    IrType type = {.kind = IR_TILE, .elem = DTYPE_I64, .count = 1};
    r->extents = arena_new(r->arena, IrRange, r->func->extents.count);
    for (size_t i = 0; i < r->func->extents.count; i++) {
        IrRange range = range_between(&type, 0, LIMIT_EXTENT, 1);
        r->extents[i] = with_facts(range, &type, &r->func->extents.data[i].facts);
    }
}

static void walk_sections(IrRanges *r, bool bodies) {
    for (size_t i = 0; i < r->func->sections.count; i++) {
        const IrSection *section = &r->func->sections.data[i];
        if ((section->kind == IR_BODY) == bodies) walk_block(r, section->block);
    }
}

// Requires hold in the body. They are learned twice, since one may help another's condition.
static void learn_requires(IrRanges *r) {
    for (int round = 0; round < 2; round++) {
        walk_sections(r, false);
        r->required.count = 0;
        for (size_t i = 0; i < r->func->sections.count; i++) {
            const IrSection *section = &r->func->sections.data[i];
            if (section->kind != IR_REQUIRES || !section->block->last) continue;
            range_condition(r, ir_operand(section->block->last, 0), true, &r->required);
        }
        for (size_t i = 0; i < r->required.count; i++) range_refine(r, &r->required.data[i], true);
    }
}

static void forget_block(IrRanges *r, const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        bool loop = op->code == IR_FOR || op->code == IR_WHILE;
        for (uint32_t k = 0; k < op->region_count; k++) {
            const IrBlock *inner = op->regions[k];
            for (uint32_t i = 0; loop && i < inner->arg_count; i++) set_full(r, inner->args[i]);
            forget_block(r, inner);
        }
    }
}

static void sweep(IrRanges *r, bool bodies) {
    for (r->sweep = 0, r->changed = true; r->changed && r->sweep < SWEEPS_MAX; r->sweep++) {
        r->changed = false;
        walk_sections(r, bodies);
    }
    if (!r->changed) return;
    for (size_t i = 0; i < r->func->sections.count; i++) {
        if ((r->func->sections.data[i].kind == IR_BODY) == bodies) {
            forget_block(r, r->func->sections.data[i].block);
        }
    }
    walk_sections(r, bodies);
}

IrRanges *ir_ranges(Arena *arena, const IrFunc *f, IrTrust trust) {
    IrRanges *r = arena_new(arena, IrRanges, 1);
    r->arena = arena;
    r->func = f;
    r->trust = trust;
    r->count = f->value_count;
    r->facts = arena_new(arena, IrRange, f->value_count);
    r->seen = arena_new(arena, bool, f->value_count);
    r->exact = arena_new(arena, bool, f->value_count);
    begin_extents(r);
    begin_params(r);
    sweep(r, false);
    learn_requires(r);
    sweep(r, true);
    return r;
}

bool ir_is_exact(const IrRanges *ranges, const IrValue *result) {
    return result->id < ranges->count && ranges->exact[result->id];
}

IrRange ir_range_of(const IrRanges *ranges, const IrValue *value) {
    if (!range_is_integer(value) || value->id >= ranges->count) return range_nothing();
    return ranges->seen[value->id] ? ranges->facts[value->id] : range_full(value->type);
}
