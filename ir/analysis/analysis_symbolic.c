// Ranges: proofs of inequalities.
//
// A value is written as a sum of multiples of atoms (values about which nothing more is known) plus
// a number. Only ops that were exact are followed, so the sum is mathematical, without wrapping. To
// prove L >= 0, its least value over the atoms' ranges is tried. If that fails, some fact F >= 0
// that shares an atom with L is subtracted k times, such that the atom cancels, and L - kF >= 0 is
// to be proven. Facts come from requires, from guards around the position, from asserts before it,
// and from the meaning of atoms: loop variables, quotients, remainders, minima and maxima. All
// facts are true, whichever are tried, so the conclusion is true; the budget only bounds the time.
//
// Lanes: an atom that is a tile means its element in the same lane everywhere; dimensions of 1
// stretch. That is why sums are not followed through reshapes of tiles, which move lanes.
#include "ir/analysis/analysis_internal.h"
#include "ir/edit.h"

enum {
    TERMS_MAX = 8,
    FORM_DEPTH = 24,
    STEPS_MAX = 64,
    PROOF_DEPTH = 4,
    PROOF_BUDGET = 400,
    HERE_MAX = 48
};

typedef struct SymbolicTerm {
    const void *atom;
    const IrValue *value;  // one that has the atom; NULL for an extent that no op names
    int64_t factor;
} SymbolicTerm;

typedef struct SymbolicSum {
    SymbolicTerm terms[TERMS_MAX];
    int count;
    int steps;  // values visited; the limit is for values used twice at every level, which take
                // exponential time
    Int128 constant;
    bool known;
} SymbolicSum;

// The limit keeps sums of a few terms of greatest factor and range, and the constant, within 128
// bits. The factors of a known sum can be negated, and divided by -1: none is INT64_MIN.
#define FACTOR_MAX (INT64_C(1) << 58)
#define CONSTANT_MAX ((Int128)1 << 122)

typedef struct Proof {
    const IrRanges *r;
    SymbolicSum here[HERE_MAX];  // facts that hold at the position, as sums >= 0
    int here_count;
    int budget;
} Proof;

// ---- sums ---------------------------------------------------------------------------------------

static void add_constant(SymbolicSum *sum, Int128 number) {
    if (!sum->known || number > CONSTANT_MAX || number < -CONSTANT_MAX) {
        sum->known = false;
        return;
    }
    sum->constant += number;
    if (sum->constant > CONSTANT_MAX || sum->constant < -CONSTANT_MAX) sum->known = false;
}

static void add_term(SymbolicSum *sum, const void *atom, const IrValue *value, int64_t factor) {
    if (factor > FACTOR_MAX || factor < -FACTOR_MAX || !sum->known) {
        sum->known = false;
        return;
    }
    for (int i = 0; i < sum->count; i++) {
        SymbolicTerm *term = &sum->terms[i];
        if (term->atom != atom) continue;
        term->factor += factor;
        if (term->factor > FACTOR_MAX || term->factor < -FACTOR_MAX) sum->known = false;
        if (term->factor == 0) *term = sum->terms[--sum->count];
        return;
    }
    if (factor == 0) return;
    if (sum->count == TERMS_MAX) {
        sum->known = false;
        return;
    }
    sum->terms[sum->count++] = (SymbolicTerm){atom, value, factor};
}

static IrRange atom_range(const IrRanges *r, const SymbolicTerm *term) {
    if (term->value) return range_get(r, term->value);
    const IrExtent *extent = term->atom;
    return r->extents[extent - r->func->extents.data];
}

static void add_value(const IrRanges *r, SymbolicSum *sum, const IrValue *value, int64_t factor,
                      int depth);

static void add_atom(const IrRanges *r, SymbolicSum *sum, const IrValue *value, int64_t factor) {
    IrRange range = range_get(r, value);
    if (!range.known || range_is_full_u64(value->type, &range)) {
        sum->known = false;
        return;
    }
    if (range.min == range.max) {
        add_constant(sum, (Int128)range.min * factor);
        return;
    }
    add_term(sum, range_atom(r, value), value, factor);
}

// x * c with an exact product; false for any other op.
static bool add_multiple(const IrRanges *r, SymbolicSum *sum, const IrOp *def, int64_t factor,
                         int depth) {
    int64_t c, product;
    if (!range_is_constant(r, ir_operand(def, 1), &c)) {
        if (def->code != IR_MUL || !range_is_constant(r, ir_operand(def, 0), &c)) return false;
        if (__builtin_mul_overflow(factor, c, &product)) return false;
        add_value(r, sum, ir_operand(def, 1), product, depth);
        return true;
    }
    if (def->code == IR_SHL) {
        if (c < 0 || c > 62) return false;
        c = INT64_C(1) << c;
    }
    if (__builtin_mul_overflow(factor, c, &product)) return false;
    add_value(r, sum, ir_operand(def, 0), product, depth);
    return true;
}

static bool is_image(const IrOp *def) {
    if (def->code == IR_BROADCAST || def->code == IR_CAST || def->code == IR_BITCAST) {
        return range_is_integer(ir_operand(def, 0));
    }
    return def->code == IR_RESHAPE && ir_operand(def, 0)->type->count == 1;
}

static void add_value(const IrRanges *r, SymbolicSum *sum, const IrValue *value, int64_t factor,
                      int depth) {
    const IrOp *def = value->def;
    bool exact =
        r->exact[value->id] || (def && (def->code == IR_BROADCAST || def->code == IR_RESHAPE));
    if (!def || !exact || depth == 0 || factor == INT64_MIN || sum->steps++ > STEPS_MAX) {
        add_atom(r, sum, value, factor);
        return;
    }
    if (is_image(def)) {
        add_value(r, sum, ir_operand(def, 0), factor, depth - 1);
    } else if (def->code == IR_ADD || def->code == IR_SUB) {
        add_value(r, sum, ir_operand(def, 0), factor, depth - 1);
        add_value(r, sum, ir_operand(def, 1), def->code == IR_ADD ? factor : -factor, depth - 1);
    } else if (def->code == IR_NEG) {
        add_value(r, sum, ir_operand(def, 0), -factor, depth - 1);
    } else if ((def->code != IR_MUL && def->code != IR_SHL) ||
               !add_multiple(r, sum, def, factor, depth - 1)) {
        add_atom(r, sum, value, factor);
    }
}

// b - a - add
static SymbolicSum difference(const IrRanges *r, const IrValue *b, const IrValue *a, Int128 add) {
    SymbolicSum sum = {.known = true, .constant = -add};
    add_value(r, &sum, b, 1, FORM_DEPTH);
    add_value(r, &sum, a, -1, FORM_DEPTH);
    return sum;
}

// ---- facts as sums ------------------------------------------------------------------------------

// a + add <= b between multiples of one number: the distance is a multiple as well.
static Int128 rounded_distance(const IrRanges *r, const RangeFact *fact) {
    IrRange a = range_get(r, fact->a), b = range_get(r, fact->b);
    uint64_t step = range_gcd(a.divisor, b.divisor);
    if (!a.known || !b.known || step <= 1 || step >= (uint64_t)1 << 62) return fact->add;
    Int128 d = (Int128)step, rest = ((fact->add % d) + d) % d;
    return rest ? fact->add + (d - rest) : fact->add;
}

static void add_fact(Proof *p, const RangeFact *fact) {
    if (!fact->b || p->here_count == HERE_MAX) return;
    SymbolicSum sum = difference(p->r, fact->b, fact->a, rounded_distance(p->r, fact));
    if (sum.known && sum.count > 0) p->here[p->here_count++] = sum;
}

static void add_facts(Proof *p, const RangeFacts *facts) {
    for (size_t i = 0; i < facts->count; i++) add_fact(p, &facts->data[i]);
}

static void gather_facts(Proof *p, const IrOp *at) {
    const IrRanges *r = p->r;
    for (const IrBlock *block = at ? at->block : NULL; block && block->parent;
         block = block->parent->block) {
        RangeFacts guards = {0};
        range_guards(r, block->parent, block, &guards);
        add_facts(p, &guards);
    }
    for (size_t i = 0; at && i < r->asserted.count; i++) {
        const IrOp *op = r->asserted.data[i];
        if (!ir_dominates(op, at)) continue;
        RangeFacts facts = {0};
        range_condition(r, ir_operand(op, 0), true, &facts);
        add_facts(p, &facts);
    }
    add_facts(p, &r->required);
}

// ---- facts from the meaning of atoms ------------------------------------------------------------

typedef struct SymbolicKnown {
    SymbolicSum sums[4];
    int count;
} SymbolicKnown;

static void know(SymbolicKnown *known, SymbolicSum sum) {
    if (sum.known && known->count < 4) known->sums[known->count++] = sum;
}

static void know_le(const IrRanges *r, SymbolicKnown *known, const IrValue *a, int64_t add,
                    const IrValue *b) {
    RangeFact fact = {.a = a, .b = b, .add = add};
    know(known, difference(r, b, a, rounded_distance(r, &fact)));
}

// While the body runs, lo <= i < hi, or the reverse for a negative step.
static void know_loop(const IrRanges *r, SymbolicKnown *known, const IrValue *i) {
    const IrOp *loop = i->block->parent;
    if (!loop || loop->code != IR_FOR || i->index != 0) return;
    const IrValue *lo = ir_operand(loop, 0), *hi = ir_operand(loop, 1);
    bool down = ir_attr_int(loop, IR_ATTR_DOWN) != 0;
    know_le(r, known, down ? hi : lo, down ? 1 : 0, i);
    know_le(r, known, i, down ? 0 : 1, down ? lo : hi);
}

// q = x / c and m = x % c with x >= 0, c > 0: c*q <= x < c*q + c, and m <= x.
static void know_quotient(const IrRanges *r, SymbolicKnown *known, const IrValue *q) {
    const IrOp *def = q->def;
    const IrValue *x = ir_operand(def, 0);
    int64_t c;
    IrRange range = range_get(r, x);
    if (!range.known || range.min < 0 || !range_is_constant(r, ir_operand(def, 1), &c)) return;
    if (def->code == IR_SHR) {
        if (c < 0 || c > 62) return;
        c = INT64_C(1) << c;
    }
    if (c <= 0) return;
    SymbolicSum under = {.known = true}, over = {.known = true, .constant = (Int128)c - 1};
    add_value(r, &under, x, 1, FORM_DEPTH);
    add_value(r, &over, x, -1, FORM_DEPTH);
    if (def->code == IR_REM) {
        add_term(&under, range_atom(r, q), q, -1);
        know(known, under);
        return;
    }
    add_term(&under, range_atom(r, q), q, -c);
    add_term(&over, range_atom(r, q), q, c);
    know(known, under);
    know(known, over);
}

static void know_atom(const IrRanges *r, SymbolicKnown *known, const SymbolicTerm *term) {
    const IrValue *value = term->value;
    if (!value) return;
    if (value->block) {
        know_loop(r, known, value);
        return;
    }
    if (!value->def) return;
    switch (value->def->code) {
    case IR_DIV:
    case IR_REM:
    case IR_SHR: know_quotient(r, known, value); return;
    case IR_MIN:
        know_le(r, known, value, 0, ir_operand(value->def, 0));
        know_le(r, known, value, 0, ir_operand(value->def, 1));
        return;
    case IR_MAX:
        know_le(r, known, ir_operand(value->def, 0), 0, value);
        know_le(r, known, ir_operand(value->def, 1), 0, value);
        return;
    case IR_PROGRAM:
        for (int d = 0; d < 3; d++) {
            if (range_atom(r, value) == r->programs[d] && r->programs[3 + d]) {
                know_le(r, known, value, 1, r->programs[3 + d]);
            }
        }
        return;
    default: break;
    }
}

// ---- the search ---------------------------------------------------------------------------------

static bool never_negative(const IrRanges *r, const SymbolicSum *sum) {
    Int128 least = sum->constant;
    for (int i = 0; i < sum->count; i++) {
        IrRange range = atom_range(r, &sum->terms[i]);
        if (!range.known) return false;
        int64_t factor = sum->terms[i].factor;
        least += (Int128)(factor > 0 ? range.min : range.max) * factor;
    }
    return least >= 0;
}

static int64_t factor_of(const SymbolicSum *sum, const void *atom) {
    for (int i = 0; i < sum->count; i++) {
        if (sum->terms[i].atom == atom) return sum->terms[i].factor;
    }
    return 0;
}

// sum - times * fact; unknown when a factor does not fit.
static SymbolicSum without(const SymbolicSum *sum, const SymbolicSum *fact, int64_t times) {
    SymbolicSum rest = *sum;
    for (int i = 0; i < fact->count; i++) {
        int64_t factor;
        if (__builtin_mul_overflow(fact->terms[i].factor, -times, &factor))
            rest.known = false;
        else
            add_term(&rest, fact->terms[i].atom, fact->terms[i].value, factor);
    }
    Int128 limit = (Int128)1 << 100;
    if (times > (1 << 20) || fact->constant > limit || fact->constant < -limit)
        rest.known = false;
    else
        add_constant(&rest, -fact->constant * times);
    return rest;
}

static bool prove(Proof *p, const SymbolicSum *sum, int depth);

static bool prove_with(Proof *p, const SymbolicSum *sum, const SymbolicTerm *term,
                       const SymbolicSum *fact, int depth) {
    int64_t has = factor_of(fact, term->atom);
    if (has == 0 || (has > 0) != (term->factor > 0) || term->factor % has != 0) return false;
    SymbolicSum rest = without(sum, fact, term->factor / has);
    return rest.known && prove(p, &rest, depth - 1);
}

// A bound on a maximum must hold for both of its operands: the arms that the term may be, both of
// which are to be proven. 0: the term is not one of these.
static int arms_of(const SymbolicTerm *term, const IrValue *arms[2]) {
    const IrOp *def = term->value ? term->value->def : NULL;
    if (!def) return 0;
    uint32_t first = def->code == IR_SELECT ? 1 : 0;
    bool extreme = term->factor > 0 ? def->code == IR_MIN : def->code == IR_MAX;
    if (def->code != IR_SELECT && !extreme) return 0;
    for (uint32_t i = 0; i < 2; i++) arms[i] = ir_operand(def, first + i);
    return 2;
}

static bool prove_cases(Proof *p, const SymbolicSum *sum, const SymbolicTerm *term, int depth) {
    const IrValue *arms[2];
    int count = arms_of(term, arms);
    if (count == 0 || term->factor == INT64_MIN) return false;
    for (int i = 0; i < count; i++) {
        SymbolicSum rest = *sum;
        add_term(&rest, term->atom, term->value, -term->factor);
        add_value(p->r, &rest, arms[i], term->factor, FORM_DEPTH);
        if (!rest.known || !prove(p, &rest, depth - 1)) return false;
    }
    return true;
}

static bool prove(Proof *p, const SymbolicSum *sum, int depth) {
    if (never_negative(p->r, sum)) return true;
    if (depth == 0 || p->budget-- <= 0) return false;
    for (int i = 0; i < sum->count; i++) {
        SymbolicKnown known = {.count = 0};
        if (prove_cases(p, sum, &sum->terms[i], depth)) return true;
        know_atom(p->r, &known, &sum->terms[i]);
        for (int k = 0; k < known.count; k++) {
            if (prove_with(p, sum, &sum->terms[i], &known.sums[k], depth)) return true;
        }
        for (int k = 0; k < p->here_count; k++) {
            if (prove_with(p, sum, &sum->terms[i], &p->here[k], depth)) return true;
        }
    }
    return false;
}

static bool prove_at(const IrRanges *r, const IrOp *at, const SymbolicSum *sum) {
    if (!sum->known) return false;
    if (never_negative(r, sum)) return true;
    Proof p;  // not cleared: `here` is long, and only its first `here_count` facts are read
    p.r = r;
    p.here_count = 0;
    p.budget = PROOF_BUDGET;
    gather_facts(&p, at);
    return prove(&p, sum, PROOF_DEPTH);
}

bool ir_provably_le(const IrRanges *ranges, const IrOp *at, const IrValue *a, int64_t add,
                    const IrValue *b) {
    if (!range_is_integer(a) || !range_is_integer(b)) return false;
    SymbolicSum sum = difference(ranges, b, a, add);
    return prove_at(ranges, at, &sum);
}

bool ir_provably_within(const IrRanges *ranges, const IrOp *at, const IrValue *a, int64_t add,
                        const IrDim *dim) {
    if (!range_is_integer(a)) return false;
    SymbolicSum sum = {.known = true, .constant = -(Int128)add};
    add_value(ranges, &sum, a, -1, FORM_DEPTH);
    if (!dim->extent) {
        add_constant(&sum, dim->value);
        return prove_at(ranges, at, &sum);
    }
    const IrExtent *extent = ir_extent_find(ranges->func, dim->extent);
    if (!extent) return false;
    IrRange range = ranges->extents[extent - ranges->func->extents.data];
    if (range.min == range.max)
        add_constant(&sum, range.min);
    else
        add_term(&sum, extent, NULL, 1);
    return prove_at(ranges, at, &sum);
}

bool ir_provably_at_least(const IrRanges *ranges, const IrOp *at, const IrValue *a, int64_t least) {
    if (!range_is_integer(a)) return false;
    SymbolicSum sum = {.known = true, .constant = -(Int128)least};
    add_value(ranges, &sum, a, 1, FORM_DEPTH);
    return prove_at(ranges, at, &sum);
}
