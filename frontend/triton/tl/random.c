// Functions of triton.language: random numbers, by Philox 4x32 or 4x64.
#include "frontend/triton/elaborate.h"

// ---- Philox

static IrValue *constant_like(Elab *e, IrValue *v, uint64_t bits) {
    return ir_const_bits(&e->b, v->type, bits);
}

// One round on four words; the key is moved on by its constants.
static void philox_round(Elab *e, IrValue **c, IrValue **k, bool wide) {
    static const uint64_t factors[2][2] = {{0xD2511F53, 0xCD9E8D57},
                                           {0xD2E7470EE14C6C93, 0xCA5A826395121157}};
    static const uint64_t steps[2][2] = {{0x9E3779B9, 0xBB67AE85},
                                         {0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B}};
    IrValue *a = constant_like(e, c[0], factors[wide][0]);
    IrValue *b = constant_like(e, c[0], factors[wide][1]);
    IrValue *high2 = ir_binary(&e->b, IR_MULHI, b, c[2]);
    IrValue *high0 = ir_binary(&e->b, IR_MULHI, a, c[0]);
    IrValue *low2 = ir_binary(&e->b, IR_MUL, b, c[2]), *low0 = ir_binary(&e->b, IR_MUL, a, c[0]);
    IrValue *next[4] = {ir_binary(&e->b, IR_XOR, ir_binary(&e->b, IR_XOR, high2, c[1]), k[0]), low2,
                        ir_binary(&e->b, IR_XOR, ir_binary(&e->b, IR_XOR, high0, c[3]), k[1]),
                        low0};
    for (int i = 0; i < 4; i++) c[i] = next[i];
    for (int i = 0; i < 2; i++)
        k[i] = ir_binary(&e->b, IR_ADD, k[i], constant_like(e, k[i], steps[wide][i]));
}

// False after an error. The counters c are replaced by the words.
static bool philox(Elab *e, IrValue **c, IrValue **k, int64_t rounds, Span span) {
    IrValue *all[6] = {c[0], c[1], c[2], c[3], k[0], k[1]};
    if (!tr_same_shape(e, span, 6, all)) return false;
    bool wide = dtype_bits(el_elem(c[0])) == 64;
    for (int64_t r = 0; r < rounds; r++) philox_round(e, all, all + 4, wide);
    for (int i = 0; i < 4; i++) c[i] = all[i];
    return true;
}

// The two halves of a 64-bit seed, as words.
static bool keys_of(Elab *e, Val seed, Dtype word, Span span, IrValue **k) {
    IrValue *all = tr_cast(e, seed, DTYPE_U64, span);
    if (!all) return false;
    IrValue *shift = constant_like(e, all, 32), *low = constant_like(e, all, 0xffffffff);
    k[0] = el_convert(e, ir_binary(&e->b, IR_AND, all, low), word);
    k[1] = el_convert(e, ir_binary(&e->b, IR_SHR, all, shift), word);
    return true;
}

static bool rounds_of(Elab *e, const TlCall *c, uint32_t at, int64_t *rounds) {
    if (!tr_call_int(e, c, at, "n_rounds", 10, rounds)) return false;
    if (*rounds >= 0 && *rounds <= 64) return true;
    el_error(e, c->at[at], DIAG_ARGUMENTS, "n_rounds is 0 to 64, found %lld", (long long)*rounds);
    return false;
}

Val tl_philox(Elab *e, const TlCall *c) {
    int64_t rounds;
    uint32_t first = c->tl->which ? 0 : 1;
    IrValue *counters[4], *keys[2];
    if (!rounds_of(e, c, c->tl->which ? 6 : 5, &rounds)) return EL_POISON;
    IrValue *c0 = tr_numbers(e, c->arg[first], c->at[first]);
    if (!c0) return EL_POISON;
    Dtype word = dtype_bits(el_elem(c0)) == 64 ? DTYPE_U64 : DTYPE_U32;
    for (uint32_t i = 0; i < 4; i++)
        if (!(counters[i] = tr_cast(e, c->arg[first + i], word, c->at[first + i])))
            return EL_POISON;
    if (c->tl->which) {
        for (uint32_t i = 0; i < 2; i++)
            if (!(keys[i] = tr_cast(e, c->arg[4 + i], word, c->at[4 + i]))) return EL_POISON;
    } else if (!keys_of(e, c->arg[0], word, c->at[0], keys)) {
        return EL_POISON;
    }
    if (!philox(e, counters, keys, rounds, c->span)) return EL_POISON;
    Val words[4];
    for (int i = 0; i < 4; i++) words[i] = el_ir(counters[i]);
    return el_tuple(e, 4, words);
}

// ---- numbers made of words

// In [0, 1): the word as a signed integer, folded to its non-negative half.
static Val uniform(Elab *e, IrValue *word) {
    IrValue *x =
        ir_bitcast(&e->b, word, ir_tile(e->module, DTYPE_I32, word->type->rank, word->type->shape));
    IrValue *negative = ir_binary(&e->b, IR_LT, x, constant_like(e, x, 0));
    x = ir_ternary(&e->b, IR_SELECT, negative, ir_unary(&e->b, IR_NOT, x), x);
    IrValue *f = el_convert(e, x, DTYPE_F32);
    IrValue *scale = constant_like(e, f, dtype_from_double(DTYPE_F32, 4.6566127342e-10, false));
    return el_ir(ir_binary(&e->b, IR_MUL, f, scale));
}

static IrValue *real_like(Elab *e, IrValue *v, double value) {
    return constant_like(e, v, dtype_from_double(el_elem(v), value, false));
}

// Box and Muller's transform of two uniform numbers.
static void normal(Elab *e, IrValue *u1, IrValue *u2, Val *out) {
    u1 = ir_binary(&e->b, IR_MAX, u1, real_like(e, u1, 1.0e-7));
    IrValue *angle = ir_binary(&e->b, IR_MUL, u2, real_like(e, u2, 6.283185307179586));
    IrValue *log = ir_unary(&e->b, IR_LOG, u1);
    IrValue *r = ir_unary(&e->b, IR_SQRT, ir_binary(&e->b, IR_MUL, log, real_like(e, log, -2.0)));
    out[0] = el_ir(ir_binary(&e->b, IR_MUL, r, ir_unary(&e->b, IR_COS, angle)));
    out[1] = el_ir(ir_binary(&e->b, IR_MUL, r, ir_unary(&e->b, IR_SIN, angle)));
}

Val tl_uniform(Elab *e, const TlCall *c) {
    IrValue *v = tr_numbers(e, c->arg[0], c->at[0]);
    if (!v) return EL_POISON;
    if (!dtype_is(el_elem(v), DTYPE_CLASS_INT) || dtype_bits(el_elem(v)) != 32)
        return el_error(e, c->at[0], DIAG_TYPE, "expected 32-bit integers, found %s",
                        tr_text(e, c->arg[0]));
    return uniform(e, v);
}

Val tl_normal(Elab *e, const TlCall *c) {
    IrValue *both[2];
    Val out[2];
    if (!tr_promote(e, c->arg[0], c->arg[1], false, c->span, (Span[]){c->at[0], c->at[1]}, both))
        return EL_POISON;
    if (!dtype_is(el_elem(both[0]), DTYPE_CLASS_FLOAT))
        return el_error(e, c->span, DIAG_TYPE, "expected floats, found %s",
                        tr_text(e, el_ir(both[0])));
    normal(e, both[0], both[1], out);
    return el_tuple(e, 2, out);
}

// The four words for a seed and offsets: the counter is the offset, its high half too if it is of
// 64 bits.
static bool words_of(Elab *e, const TlCall *c, IrValue **words) {
    int64_t rounds;
    IrValue *offset = tr_numbers(e, c->arg[1], c->at[1]), *keys[2];
    if (!offset || !rounds_of(e, c, 2, &rounds) ||
        !keys_of(e, c->arg[0], DTYPE_U32, c->at[0], keys))
        return false;
    if (!dtype_is(el_elem(offset), DTYPE_CLASS_INT | DTYPE_CLASS_BOOL)) {
        el_error(e, c->at[1], DIAG_TYPE, "the offset must be an integer, found %s",
                 tr_text(e, c->arg[1]));
        return false;
    }
    words[0] = el_convert(e, offset, DTYPE_U32);
    words[1] = words[2] = words[3] = constant_like(e, words[0], 0);
    if (dtype_bits(el_elem(offset)) > 32)
        words[1] = el_convert(e, ir_binary(&e->b, IR_SHR, offset, constant_like(e, offset, 32)),
                              DTYPE_U32);
    return philox(e, words, keys, rounds, c->span);
}

Val tl_rand(Elab *e, const TlCall *c) {
    IrValue *words[4];
    Val out[4];
    if (!words_of(e, c, words)) return EL_POISON;
    int which = c->tl->which;
    if (which == TR_RANDINT) return el_ir(words[0]);
    if (which == TR_RAND) return uniform(e, words[0]);
    for (int i = 0; i < 4; i++)
        out[i] = which == TR_RANDINT4X ? el_ir(words[i]) : uniform(e, words[i]);
    if (which == TR_RANDN || which == TR_RANDN4X) {
        normal(e, out[0].ir, out[1].ir, out);
        if (which == TR_RANDN) return out[0];
        normal(e, out[2].ir, out[3].ir, out + 2);
    }
    return el_tuple(e, 4, out);
}
