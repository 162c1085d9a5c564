#include "sim/machine/number/exact.h"

enum { LOWEST = -2176 };

void sim_exact_clear(SimExact *e) { memset(e, 0, sizeof *e); }

static void split(double x, bool *negative, uint64_t *m, int *exponent) {
    uint64_t u = sim_bits_f64(x);
    int e = (int)(u >> 52 & 0x7ff);
    *negative = u >> 63;
    *m = u & ((UINT64_C(1) << 52) - 1);
    if (e) *m |= UINT64_C(1) << 52;
    *exponent = (e ? e : 1) - 1075;
}

static bool special(SimExact *e, double a, double b) {
    double p = a * b;
    if (a - a == 0 && b - b == 0) return false;
    if (p != p)
        e->nan = true;
    else if (p > 0)
        e->plus_infinity = true;
    else
        e->minus_infinity = true;
    return true;
}

static void add_limb(SimExact *e, int at, uint32_t value, bool negative) {
    e->limbs[at] += negative ? -(int64_t)value : (int64_t)value;
}

void sim_exact_add(SimExact *e, double a, double b) {
    if (special(e, a, b)) return;
    bool na, nb;
    uint64_t ma, mb;
    int ea, eb;
    split(a, &na, &ma, &ea);
    split(b, &nb, &mb, &eb);
    if (!ma || !mb) {
        if (na == nb) e->positive_zero = true;
        e->any = true;
        return;
    }
    e->any = true, e->positive_zero |= na == nb;
    // The 106-bit product, in four parts of at most 64 bits, each added at its position.
    uint64_t a_parts[2] = {ma & UINT32_MAX, ma >> 32}, b_parts[2] = {mb & UINT32_MAX, mb >> 32};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            uint64_t p = a_parts[i] * b_parts[j];
            int at = ea + eb + 32 * (i + j) - LOWEST, limb = at >> 5, shift = at & 31;
            uint32_t low = (uint32_t)p, high = (uint32_t)(p >> 32);
            uint64_t first = (uint64_t)low << shift, second = (uint64_t)high << shift;
            add_limb(e, limb, (uint32_t)first, na != nb);
            add_limb(e, limb + 1, (uint32_t)(first >> 32), na != nb);
            add_limb(e, limb + 1, (uint32_t)second, na != nb);
            add_limb(e, limb + 2, (uint32_t)(second >> 32), na != nb);
        }
}

// Makes the limbs 0 to 2^32-1, with a separate sign.
static bool normalize(SimExact *e) {
    int64_t carry = 0;
    for (int i = 0; i < SIM_EXACT_LIMBS; i++) {
        int64_t v = e->limbs[i] + carry;
        e->limbs[i] = v & UINT32_MAX;
        carry = v >> 32;
    }
    if (carry >= 0) return false;
    carry = 1;
    for (int i = 0; i < SIM_EXACT_LIMBS; i++) {
        int64_t v = (e->limbs[i] ^ UINT32_MAX) + carry;
        e->limbs[i] = v & UINT32_MAX;
        carry = v >> 32;
    }
    return true;
}

static uint64_t limb(const SimExact *e, int at) { return at < 0 ? 0 : (uint64_t)e->limbs[at]; }

uint64_t sim_exact_round(SimExact *e, const SimFormat *f, SimRound round) {
    uint64_t sign = UINT64_C(1) << (f->bits - 1);
    if (e->nan || (e->plus_infinity && e->minus_infinity)) return f->nan;
    if (e->plus_infinity) return f->infinity;
    if (e->minus_infinity) return sign | f->infinity;
    bool negative = normalize(e);
    int top = SIM_EXACT_LIMBS - 1;
    while (top >= 0 && !e->limbs[top]) top--;
    if (top < 0) return e->any && !e->positive_zero ? sign : 0;
    // The top 64 bits, and whether any lower bit is set.
    uint64_t high = limb(e, top) << 32 | limb(e, top - 1), low = limb(e, top - 2);
    int shift = __builtin_clzll(high);
    uint64_t m = shift ? high << shift | low >> (32 - shift) : high;
    bool sticky = (uint32_t)(low << shift) != 0;
    for (int i = 0; i < top - 2; i++) sticky |= e->limbs[i] != 0;
    int exponent = 32 * (top - 1) + LOWEST - shift + e->scale;
    return sim_number_pack(f, negative, m, exponent, sticky, round, false);
}
