// Conversions inside lanes and inside warps: the rounds of layout_shuffle.
//
// How: registers are first permuted so that every lane offers register i in round i, in all lanes;
// after the rounds they are permuted to where the lane keeps them. Both permutations are linear:
// register r becomes register r ^ F(thread). That is one exchange of register pairs for each
// independent value of F, selected by a bit (or an xor of bits) of the thread's number.
#include "passes/gpu/lower/threads.h"

// F by the bits of the thread's number: the lane's five, then the warp's.
typedef struct ByThread {
    uint32_t bases[GPU_LANE_BITS_MAX + LAYOUT_MAX_BITS];
    uint32_t bits;
} ByThread;

// The bits mask[i] of the thread's number together contribute step[i] to F; the steps are
// independent.
typedef struct ShuffleSteps {
    uint32_t count;
    uint32_t mask[LAYOUT_MAX_BITS], step[LAYOUT_MAX_BITS];
} ShuffleSteps;

static void flip(ShuffleSteps *s, uint32_t at, uint32_t bit) { s->mask[at] ^= UINT32_C(1) << bit; }

// Gaussian elimination: each step has a bit that no other has, by which a basis is decomposed.
static ShuffleSteps steps_of(const ByThread *f) {
    ShuffleSteps s = {0};
    for (uint32_t bit = 0; bit < f->bits; bit++) {
        uint32_t left = f->bases[bit];
        for (uint32_t i = 0; i < s.count; i++) {
            if ((left ^ s.step[i]) >= left) continue;
            left ^= s.step[i];
            flip(&s, i, bit);
        }
        if (!left) continue;
        s.step[s.count] = left;
        s.mask[s.count] = 0;
        flip(&s, s.count++, bit);
    }
    return s;
}

static IrValue *parity(Threads *t, uint32_t mask) {
    IrValue *sum = NULL;
    if ((mask & (mask - 1)) == 0) {
        sum = ir_binary(&t->b, IR_AND, t->thread, threads_i32(t, mask));
        return ir_binary(&t->b, IR_NE, sum, threads_i32(t, 0));
    }
    for (; mask; mask &= mask - 1) {
        IrValue *bit = ir_binary(&t->b, IR_SHR, t->thread, threads_i32(t, __builtin_ctz(mask)));
        sum = sum ? ir_binary(&t->b, IR_XOR, sum, bit) : bit;
    }
    sum = ir_binary(&t->b, IR_AND, sum, threads_i32(t, 1));
    return ir_binary(&t->b, IR_NE, sum, threads_i32(t, 0));
}

// Register r of the result is register r ^ F(thread) of x.
static IrValue *exchange(Threads *t, IrValue *x, const ByThread *f) {
    ShuffleSteps s = steps_of(f);
    uint32_t count = x->type->count, *regs = arena_new(t->scratch, uint32_t, count);
    for (uint32_t i = 0; i < s.count; i++) {
        for (uint32_t r = 0; r < count; r++) regs[r] = r ^ s.step[i];
        IrValue *other = threads_pick(t, x, count, regs);
        IrValue *which = threads_splat(t, parity(t, s.mask[i]), count);
        x = ir_ternary(&t->b, IR_SELECT, which, other, x);
    }
    return x;
}

static ByThread by_thread(const Layout *l, const uint32_t *lanes, const uint32_t *warps) {
    ByThread f = {.bits = l->dim_bits[LAYOUT_LANE]};
    for (uint32_t i = 0; i < l->dim_bits[LAYOUT_LANE]; i++) f.bases[i] = lanes[i];
    for (uint32_t i = 0; warps && i < l->dim_bits[LAYOUT_WARP]; i++) f.bases[f.bits++] = warps[i];
    return f;
}

IrValue *threads_renamed(Threads *t, IrValue *x, const Layout *from, const Layout *to) {
    LayoutMoves moves;
    CHECK(layout_moves(from, to, &moves), "a conversion that registers cannot do");
    ByThread f = by_thread(to, moves.by_lane, moves.by_warp);
    uint32_t count = layout_size(to, LAYOUT_REG);
    uint32_t *regs = arena_new(t->scratch, uint32_t, count);
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t bit = 0; r >> bit; bit++)
            if (r >> bit & 1) regs[r] ^= moves.by_register[bit];
    return threads_pick(t, exchange(t, x, &f), count, regs);
}

// ---- rounds -------------------------------------------------------------------------------------

// The lane that each lane reads from, without the round's xor; NULL: each from itself.
static IrValue *sources(Threads *t, const LayoutShuffle *s, const Layout *l) {
    uint32_t lane_bits = l->dim_bits[LAYOUT_LANE], warp_bits = l->dim_bits[LAYOUT_WARP];
    bool own = true;
    for (uint32_t i = 0; i < lane_bits; i++) own &= s->source_lane[i] == 1u << i;
    for (uint32_t i = 0; i < warp_bits; i++) own &= s->source_warp[i] == 0;
    return own ? NULL : threads_linear(t, s->source_lane, lane_bits, s->source_warp, warp_bits);
}

static IrValue *shuffled(Threads *t, IrValue *x, IrValue *lanes, uint32_t by) {
    if (!lanes) return by ? threads_xor_lane(t, x, by) : x;
    if (by) lanes = ir_binary(&t->b, IR_XOR, lanes, threads_i32(t, by));
    return threads_from_lane(t, x, lanes);
}

// The registers received, round by round; regs[i]: where the i-th of all of them is kept.
static IrValue *exchange_lanes(Threads *t, IrValue *x, const LayoutShuffle *s, const Layout *l,
                               uint32_t kept_count, uint32_t *regs) {
    uint32_t rounds = 1u << s->round_bits, pack = 1u << s->pack_bits, offered[32];
    IrValue **parts = arena_new(t->scratch, IrValue *, rounds), *lanes = sources(t, s, l);
    for (uint32_t r = 0; r < rounds; r++) {
        uint32_t turn = r >> (s->round_bits - s->alternate_bits);
        uint32_t from = layout_shuffle_offer(s, r, 0, 0), to = layout_shuffle_keep(s, r, 0);
        for (uint32_t i = 0; i < pack; i++) {
            uint32_t a = from, b = to + turn * kept_count;
            for (uint32_t bit = 0; i >> bit; bit++) {
                if ((i >> bit & 1) == 0) continue;
                a ^= s->from_pack[bit];
                b ^= s->to_pack[bit];
            }
            offered[i] = a;
            regs[b] = r * pack + i;
        }
        IrValue *some = threads_pick(t, x, pack, offered);
        parts[r] = shuffled(t, some, lanes, layout_shuffle_source(s, r, 0, 0));
    }
    return threads_pack(t, rounds, parts);
}

IrValue *threads_shuffled(Threads *t, IrValue *x, const Layout *from, const Layout *to,
                          const LayoutShuffle *s) {
    ByThread offer = by_thread(to, s->offer_lane, s->offer_warp);
    ByThread keep = by_thread(to, s->keep_lane, NULL);
    uint32_t count = layout_size(to, LAYOUT_REG), all = count << s->alternate_bits;
    // In rotation: the registers received in rotation k are kept k * count higher.
    for (uint32_t i = 0; i < to->dim_bits[LAYOUT_LANE]; i++)
        keep.bases[i] |= s->alternate_lane[i] * count;
    uint32_t *regs = arena_new(t->scratch, uint32_t, all);
    uint32_t *holders = arena_new(t->scratch, uint32_t, count);
    x = exchange_lanes(t, exchange(t, x, &offer), s, from, count, regs);
    // Registers that only replicate are kept once.
    for (uint32_t r = 0; r < all; r++) {
        uint32_t turn = r / count * count;
        regs[r] = regs[turn + threads_first_holder(to, r - turn)];
    }
    x = exchange(t, threads_pick(t, x, all, regs), &keep);
    for (uint32_t r = 0; r < count; r++) holders[r] = r;
    return threads_pick(t, x, count, holders);
}
