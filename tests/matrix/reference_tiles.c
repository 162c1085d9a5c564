// References of the ops on whole tiles: shapes, products, reductions, orders, random numbers.
#include <math.h>
#include <string.h>

#include "tests/matrix/matrix.h"

// ---- places -------------------------------------------------------------------------------------

static void place_of(const Tile *t, uint32_t lane, uint32_t *at) {
    for (uint32_t d = t->rank; d-- > 0;) {
        at[d] = lane % t->shape[d];
        lane /= t->shape[d];
    }
}

static uint32_t lane_of(const Tile *t, const uint32_t *at) {
    uint32_t lane = 0;
    for (uint32_t d = 0; d < t->rank; d++) lane = lane * t->shape[d] + at[d];
    return lane;
}

// ---- values out of nothing, shapes --------------------------------------------------------------

static bool constant(Case *c) {
    for (uint32_t i = 0; i < c->out[0].count; i++) c->want[0][i] = answer_bits(c->value);
    return true;
}

static bool iota(Case *c) {
    for (uint32_t i = 0; i < c->out[0].count; i++) c->want[0][i] = answer_bits(i);
    return true;
}

static bool broadcast(Case *c) {
    const Tile *x = &c->in[0], *r = &c->out[0];
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t at[IR_MAX_RANK] = {0};
        place_of(r, i, at);
        for (uint32_t d = 0; d < x->rank; d++)
            if (x->shape[d] == 1) at[d] = 0;
        c->want[0][i] = answer_bits(x->bits[x->rank == 0 ? 0 : lane_of(x, at)]);
    }
    return true;
}

static bool reshape(Case *c) {
    for (uint32_t i = 0; i < c->out[0].count; i++) c->want[0][i] = answer_bits(c->in[0].bits[i]);
    return true;
}

static bool permute(Case *c) {
    const Tile *x = &c->in[0], *r = &c->out[0];
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t at[IR_MAX_RANK] = {0}, from[IR_MAX_RANK] = {0};
        place_of(r, i, at);
        for (uint32_t d = 0; d < r->rank; d++) from[c->perm[d]] = at[d];
        c->want[0][i] = answer_bits(x->bits[lane_of(x, from)]);
    }
    return true;
}

static bool join(Case *c) {
    for (uint32_t i = 0; i < c->out[0].count; i++)
        c->want[0][i] = answer_bits(c->in[i % 2].bits[i / 2]);
    return true;
}

static bool split(Case *c) {
    for (uint32_t i = 0; i < c->in[0].count; i++)
        c->want[i % 2][i / 2] = answer_bits(c->in[0].bits[i]);
    return true;
}

static bool cat(Case *c) {
    const Tile *x = &c->in[0], *r = &c->out[0];
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t at[IR_MAX_RANK] = {0};
        place_of(r, i, at);
        bool second = at[c->axis] >= x->shape[c->axis];
        if (second) at[c->axis] -= x->shape[c->axis];
        c->want[0][i] = answer_bits(c->in[second].bits[lane_of(x, at)]);
    }
    return true;
}

static bool gather(Case *c) {
    const Tile *x = &c->in[0], *index = &c->in[1];
    for (uint32_t i = 0; i < c->out[0].count; i++) {
        uint32_t at[IR_MAX_RANK] = {0};
        place_of(&c->out[0], i, at);
        Int128 place = integer_of(index->elem, index->bits[i]);
        bool inside = place >= 0 && place < x->shape[c->axis];
        at[c->axis] = inside ? (uint32_t)place : 0;
        c->want[0][i] = answer_bits(inside ? x->bits[lane_of(x, at)] : 0);
    }
    return true;
}

// ---- lines along an axis ------------------------------------------------------------------------

typedef struct Line {
    uint32_t n, lane[1 << 12];
} Line;

// The lines of a tile along an axis, in the order of the tile without that axis.
static uint32_t line_count(const Tile *t, int64_t axis) { return t->count / t->shape[axis]; }

static void line_of(const Tile *t, int64_t axis, uint32_t number, Line *l) {
    uint32_t inner = 1;
    for (uint32_t d = (uint32_t)axis + 1; d < t->rank; d++) inner *= t->shape[d];
    l->n = t->shape[axis];
    uint32_t first = number / inner * inner * l->n + number % inner;
    for (uint32_t k = 0; k < l->n; k++) l->lane[k] = first + k * inner;
}

// ---- folding ------------------------------------------------------------------------------------

static Dtype accumulator(Dtype t) { return type_is_float(t) && t != DTYPE_F64 ? DTYPE_F32 : t; }
static long double unit(Dtype t) { return ldexpl(1, -format_of(t)->fraction - 1); }

static Answer identity(IrReduce kind, Dtype t) {
    switch (kind) {
    case IR_REDUCE_PROD: return answer_bits(element_small(t, 1));
    case IR_REDUCE_ALL: return answer_bits(1);
    case IR_REDUCE_MIN:
    case IR_REDUCE_MAX: {
        bool low = kind == IR_REDUCE_MAX;
        if (!type_is_float(t))
            return answer_bits(integer_wrap(t, low ? integer_least(t) : integer_greatest(t)));
        return answer_bits(
            number_round(t, (Number){NUMBER_INFINITE, low, 0, 0}, !format_of(t)->ieee));
    }
    case IR_REDUCE_MINNUM:
    case IR_REDUCE_MAXNUM: return answer_value(nan_bits(t));
    case IR_REDUCE_SUM:
    case IR_REDUCE_ARGMIN:
    case IR_REDUCE_ARGMAX:
    case IR_REDUCE_ANY:
    case IR_REDUCE_CUSTOM: break;
    }
    return answer_bits(0);
}

// A sum or product of floats: its value in long double and the bound of docs/numerics.md.
static Answer fold_floats(IrReduce kind, Dtype t, const uint64_t *x, uint32_t n) {
    bool product = kind == IR_REDUCE_PROD;
    long double value = product, size = product;
    for (uint32_t k = 0; k < n; k++) {
        long double e = element_value(t, x[k]);
        value = product ? value * e : value + e;
        size = product ? size * fabsl(e) : size + fabsl(e);
    }
    if (isnan(value)) return answer_value(nan_bits(t));
    if (isinf(value)) {
        Number infinite = {NUMBER_INFINITE, value < 0, 0, 0};
        return answer_value(number_round(t, infinite, true));
    }
    Dtype a = accumulator(t);
    long double bound = n < 2 ? 0 : 2 * n * unit(a) * size;
    if (product && n > 1) bound += n * format_half(a, 0);
    if (a != t) bound += format_half(t, fabsl(value) + bound);
    if (type_width(t) == 8 && fabsl(value) > format_greatest(t))
        value = copysignl(format_greatest(t), value);
    return answer_bound(value, bound);
}

// Does element b come before the best one so far?
static bool beats(IrReduce kind, Dtype t, uint64_t best, uint64_t b) {
    bool number = kind == IR_REDUCE_MINNUM || kind == IR_REDUCE_MAXNUM;
    bool least = kind == IR_REDUCE_MIN || kind == IR_REDUCE_MINNUM || kind == IR_REDUCE_ARGMIN;
    if (number && (bits_are_nan(t, best) || bits_are_nan(t, b))) return bits_are_nan(t, best);
    if (bits_are_nan(t, best)) return false;
    if (bits_are_nan(t, b)) return true;
    if (!type_is_float(t)) {
        Int128 x = integer_of(t, best), y = integer_of(t, b);
        return least ? y < x : y > x;
    }
    Number x = number_of(t, best), y = number_of(t, b);
    int side = number_compare(y, x);
    bool zeros = kind != IR_REDUCE_ARGMIN && kind != IR_REDUCE_ARGMAX;  // -0 is below +0
    if (side == 0 && zeros) side = (int)x.negative - (int)y.negative;
    return least ? side < 0 : side > 0;
}

static Answer fold_best(IrReduce kind, Dtype t, const uint64_t *x, const uint32_t *place,
                        uint32_t n) {
    uint32_t best = 0;
    for (uint32_t k = 1; k < n; k++)
        if (beats(kind, t, x[best], x[k])) best = k;
    bool places = kind == IR_REDUCE_ARGMIN || kind == IR_REDUCE_ARGMAX;
    return places ? answer_bits(place[best]) : answer_value(x[best]);
}

static Answer fold_integers(IrReduce kind, Dtype t, const uint64_t *x, uint32_t n) {
    uint64_t total = kind == IR_REDUCE_PROD || kind == IR_REDUCE_ALL;
    for (uint32_t k = 0; k < n; k++) {
        if (kind == IR_REDUCE_SUM) total += x[k];
        if (kind == IR_REDUCE_PROD) total *= x[k];
        if (kind == IR_REDUCE_ANY) total |= x[k];
        if (kind == IR_REDUCE_ALL) total &= x[k];
    }
    return answer_bits(total & type_mask(t));
}

// The combiners of the cases: greatest of floats, exclusive or of everything else; the second of
// two values is always summed.
static Answer fold_custom(Dtype t, uint32_t operand, const uint64_t *x, uint32_t n) {
    if (type_is_float(t)) return fold_best(IR_REDUCE_MAX, t, x, NULL, n);
    uint64_t total = 0;
    for (uint32_t k = 0; k < n; k++) total = operand ? total + x[k] : total ^ x[k];
    return answer_bits(total & type_mask(t));
}

static Answer fold(IrReduce kind, Dtype t, uint32_t operand, const uint64_t *x,
                   const uint32_t *place, uint32_t n) {
    if (n == 0) return identity(kind, t);
    switch (kind) {
    case IR_REDUCE_SUM:
    case IR_REDUCE_PROD:
        if (type_is_float(t)) return fold_floats(kind, t, x, n);
        return fold_integers(kind, t, x, n);
    case IR_REDUCE_MIN:
    case IR_REDUCE_MAX:
    case IR_REDUCE_MINNUM:
    case IR_REDUCE_MAXNUM:
    case IR_REDUCE_ARGMIN:
    case IR_REDUCE_ARGMAX: return fold_best(kind, t, x, place, n);
    case IR_REDUCE_ANY:
    case IR_REDUCE_ALL: return fold_integers(kind, t, x, n);
    case IR_REDUCE_CUSTOM: return fold_custom(t, operand, x, n);
    }
    return (Answer){.kind = ANSWER_NONE};
}

static bool reduce(Case *c) {
    const Tile *mask = &c->in[0];
    Line l;
    for (uint32_t v = 0; v < c->result_count; v++) {
        const Tile *x = &c->in[v + 1];
        for (uint32_t i = 0; i < line_count(x, c->axis); i++) {
            uint64_t taken[1 << 12];
            uint32_t place[1 << 12], n = 0;
            line_of(x, c->axis, i, &l);
            for (uint32_t k = 0; k < l.n; k++) {
                if (!mask->absent && !mask->bits[l.lane[k]]) continue;
                place[n] = k;
                taken[n++] = x->bits[l.lane[k]];
            }
            c->want[v][i] = fold(c->kind, x->elem, v, taken, place, n);
        }
    }
    return true;
}

static bool scan(Case *c) {
    Line l;
    for (uint32_t v = 0; v < c->result_count; v++) {
        const Tile *x = &c->in[v];
        for (uint32_t i = 0; i < line_count(x, c->axis); i++) {
            uint64_t prefix[1 << 12];
            line_of(x, c->axis, i, &l);
            for (uint32_t k = 0; k < l.n; k++) {
                uint32_t lane = l.lane[c->reverse ? l.n - 1 - k : k];
                prefix[k] = x->bits[lane];
                uint32_t n = c->exclusive ? k : k + 1;
                c->want[v][lane] = fold(c->kind, x->elem, v, prefix, NULL, n);
            }
        }
    }
    return true;
}

// ---- orders -------------------------------------------------------------------------------------

// Must b stand before a? NaNs are last either way, zeros are equal.
static bool stands_before(Dtype t, uint64_t b, uint64_t a, bool descending) {
    if (bits_are_nan(t, b)) return false;
    if (bits_are_nan(t, a)) return true;
    return beats(descending ? IR_REDUCE_ARGMAX : IR_REDUCE_ARGMIN, t, a, b);
}

// Insertion sort of the places of a line.
static void sorted(const Tile *x, const Line *l, bool descending, uint32_t *place) {
    for (uint32_t k = 0; k < l->n; k++) {
        uint32_t at = k;
        while (at > 0 && stands_before(x->elem, x->bits[l->lane[k]],
                                       x->bits[l->lane[place[at - 1]]], descending)) {
            place[at] = place[at - 1];
            at--;
        }
        place[at] = k;
    }
}

static bool sort(Case *c) {
    Line l;
    for (uint32_t i = 0; i < line_count(&c->in[0], c->axis); i++) {
        uint32_t place[1 << 12];
        line_of(&c->in[0], c->axis, i, &l);
        sorted(&c->in[0], &l, c->descending, place);
        for (uint32_t v = 0; v < c->result_count; v++)
            for (uint32_t k = 0; k < l.n; k++)
                c->want[v][l.lane[k]] = answer_bits(c->in[v].bits[l.lane[place[k]]]);
    }
    return true;
}

static bool topk(Case *c) {
    Line from, to;
    for (uint32_t i = 0; i < line_count(&c->in[0], c->axis); i++) {
        uint32_t place[1 << 12];
        line_of(&c->in[0], c->axis, i, &from);
        line_of(&c->out[0], c->axis, i, &to);
        sorted(&c->in[0], &from, true, place);
        for (uint32_t k = 0; k < to.n; k++) {
            c->want[0][to.lane[k]] = answer_bits(c->in[0].bits[from.lane[place[k]]]);
            c->want[1][to.lane[k]] = answer_bits(place[k]);
        }
    }
    return true;
}

static bool histogram(Case *c) {
    const Tile *mask = &c->in[0], *x = &c->in[1];
    for (uint32_t bin = 0; bin < c->out[0].count; bin++) {
        uint64_t n = 0;
        for (uint32_t i = 0; i < x->count; i++)
            n += (mask->absent || mask->bits[i]) && integer_of(x->elem, x->bits[i]) == bin;
        c->want[0][bin] = answer_bits(n);
    }
    return true;
}

// ---- dot ----------------------------------------------------------------------------------------

static long double precision_term(IrPrecision p) {
    switch (p) {
    case IR_PRECISION_UNIT:  // for fp8 alone
    case IR_PRECISION_IEEE: return 0;
    case IR_PRECISION_TF32: return 2 * ldexpl(1, -11) + ldexpl(1, -22);
    case IR_PRECISION_TF32X3: return 3 * ldexpl(1, -22);
    case IR_PRECISION_BF16X3: return 3 * ldexpl(1, -16);
    }
    return 0;
}

// A factor as `precision` has it: rounded to 11 or 8 bits, and for the split forms what is left of
// a finite one, rounded likewise.
typedef struct Parts {
    long double high, low;
} Parts;

static long double rounded_to(long double x, int bits, bool ties_away) {
    int exponent;
    if (!isfinite(x) || x == 0) return x;
    frexpl(x, &exponent);
    if (exponent < -125) exponent = -125;  // subnormal numbers have fewer bits
    long double units = ldexpl(x, bits - exponent);
    return ldexpl(ties_away ? roundl(units) : rintl(units), exponent - bits);
}

static Parts parts_of(IrPrecision p, bool ties_away, long double x) {
    if (p == IR_PRECISION_IEEE) return (Parts){x, 0};
    int bits = p == IR_PRECISION_BF16X3 ? 8 : 11;
    bool away = ties_away && bits == 11;
    long double high = rounded_to(x, bits, away);
    bool split = p != IR_PRECISION_TF32 && isfinite(x);
    return (Parts){high, split ? rounded_to(x - high, bits, away) : 0};
}

typedef struct Products {
    uint32_t n, a[1 << 10], b[1 << 10];  // lanes that meet
} Products;

// Subnormals of the operands as 0, where the reckoning has them so.
static long double factor(const Case *c, Dtype t, uint64_t bits) {
    long double x = element_value(t, bits);
    return c->flushes && fabsl(x) < ldexpl(1, c->flushes) ? 0 : x;
}

static Answer dot_floats(const Case *c, const Products *p, long double start) {
    Dtype a = c->in[0].elem, b = c->in[1].elem, sum = c->out[0].elem;
    Dtype by = sum == DTYPE_F64 ? DTYPE_F64 : sum == DTYPE_F16 ? DTYPE_F16 : DTYPE_F32;
    bool split = c->precision == IR_PRECISION_TF32X3 || c->precision == IR_PRECISION_BF16X3;
    long double value = start, size = 0, largest = 0, special = start;
    for (uint32_t k = 0; k < p->n; k++) {
        long double x = factor(c, a, c->in[0].bits[p->a[k]]);
        long double y = factor(c, b, c->in[1].bits[p->b[k]]);
        Parts u = parts_of(c->precision, c->ties_away, x);
        Parts v = parts_of(c->precision, c->ties_away, y);
        special += u.high * v.high;
        if (split) special += u.high * v.low + u.low * v.high;
        value += x * y;
        size += fabsl(x * y);
        largest = fmaxl(largest, fmaxl(fabsl(x), fabsl(y)));
    }
    // NaNs and infinities come of the parts: an infinity times a low part of 0 is a NaN.
    if (isnan(special)) return answer_value(nan_bits(sum));
    if (isinf(special))
        return answer_value(number_round(sum, (Number){NUMBER_INFINITE, special < 0, 0, 0}, true));
    long double n = split ? 3.0L * p->n : p->n;
    long double bound = 2 * (n + 2) * unit(by) * (size + fabsl(start));
    bound += precision_term(c->precision) * size;
    if (split) bound += p->n * ldexpl(1, -126) * 2 * largest;
    if (a == by) bound += n * format_half(by, 0);
    if (c->flushes) bound += (n + 1) * ldexpl(1, -126);
    return answer_bound(value, bound);
}

static Answer dot_integers(const Case *c, const Products *p, uint64_t start) {
    uint64_t sum = start;
    for (uint32_t k = 0; k < p->n; k++)
        sum += (uint64_t)integer_of(c->in[0].elem, c->in[0].bits[p->a[k]]) *
               (uint64_t)integer_of(c->in[1].elem, c->in[1].bits[p->b[k]]);
    return answer_bits(sum & type_mask(c->out[0].elem));
}

static bool dot(Case *c) {
    const Tile *a = &c->in[0], *b = &c->in[1], *r = &c->out[0];
    const Tile *acc = c->operand_count > 2 && !c->in[2].absent ? &c->in[2] : NULL;
    uint32_t last = r->rank - 1;
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t at[IR_MAX_RANK] = {0}, left[IR_MAX_RANK], right[IR_MAX_RANK];
        place_of(r, i, at);
        memcpy(left, at, sizeof at);
        memcpy(right, at, sizeof at);
        Products p = {.n = a->shape[last]};
        for (uint32_t k = 0; k < p.n; k++) {
            left[last] = right[last - 1] = k;
            p.a[k] = lane_of(a, left);
            p.b[k] = lane_of(b, right);
        }
        if (type_is_float(r->elem))
            c->want[0][i] = dot_floats(c, &p, acc ? element_value(r->elem, acc->bits[i]) : 0);
        else
            c->want[0][i] = dot_integers(c, &p, acc ? acc->bits[i] : 0);
    }
    return true;
}

// ---- Philox 4x32-10 (Salmon et al., SC 2011) ----------------------------------------------------

static void philox_round(uint32_t x[4], uint32_t key0, uint32_t key1) {
    uint64_t first = UINT64_C(0xD2511F53) * x[0], second = UINT64_C(0xCD9E8D57) * x[2];
    uint32_t y0 = (uint32_t)(second >> 32) ^ x[1] ^ key0,
             y2 = (uint32_t)(first >> 32) ^ x[3] ^ key1;
    x[0] = y0;
    x[1] = (uint32_t)second;
    x[2] = y2;
    x[3] = (uint32_t)first;
}

static bool random_numbers(Case *c) {
    uint64_t seed = (uint64_t)integer_of(c->in[0].elem, c->in[0].bits[0]);
    for (uint32_t i = 0; i < c->in[1].count; i++) {
        uint64_t offset = (uint64_t)integer_of(c->in[1].elem, c->in[1].bits[i]);
        uint32_t x[4] = {(uint32_t)offset, (uint32_t)(offset >> 32), 0, 0};
        for (uint32_t round = 0; round < 10; round++)
            philox_round(x, (uint32_t)seed + round * 0x9E3779B9U,
                         (uint32_t)(seed >> 32) + round * 0xBB67AE85U);
        for (int v = 0; v < 4; v++) c->want[v][i] = answer_bits(x[v]);
    }
    return true;
}

Reference reference_tile_of(IrOpcode code) {
    static const Reference references[IR_OPCODES] = {
        [IR_CONST] = constant,      [IR_IOTA] = iota,
        [IR_BROADCAST] = broadcast, [IR_RESHAPE] = reshape,
        [IR_PERMUTE] = permute,     [IR_JOIN] = join,
        [IR_SPLIT] = split,         [IR_CAT] = cat,
        [IR_GATHER] = gather,       [IR_DOT] = dot,
        [IR_REDUCE] = reduce,       [IR_SCAN] = scan,
        [IR_SORT] = sort,           [IR_TOPK] = topk,
        [IR_HISTOGRAM] = histogram, [IR_RANDOM] = random_numbers,
    };
    return references[code];
}

Reference reference_of(IrOpcode code) {
    Reference r = reference_elementwise_of(code);
    if (!r) r = reference_math_of(code);
    return r ? r : reference_tile_of(code);
}
