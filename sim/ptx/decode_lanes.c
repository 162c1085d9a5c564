// Arithmetic, logic, comparisons, conversions, moves.
#include <string.h>

#include "sim/ptx/decode.h"

static void take_flags(Decoder *d) {
    static const struct {
        const char *name;
        uint16_t flag;
    } flags[] = {{"ftz", SIM_FTZ},       {"sat", SIM_SAT},     {"relu", SIM_RELU},
                 {"NaN", SIM_NAN},       {"cc", SIM_CARRY},    {"abs", SIM_XORSIGN},
                 {"approx", SIM_APPROX}, {"full", SIM_APPROX}, {"wrap", SIM_WRAP},
                 {"xorsign", 0},         {"clamp", 0},         {"satfinite", 0}};
    for (size_t n = 0; n < sizeof flags / sizeof *flags; n++)
        if (take(d, flags[n].name)) d->now.flags |= flags[n].flag;
    take_rounding(d);
}

static SimType twice(SimType t) {
    switch (sim_type_bits(t)) {
    case 16: return SIM_B32;
    case 32: return SIM_B64;
    default: return SIM_NONE;
    }
}

static bool operand(Decoder *d, char role, SimOperand *to, uint16_t not_flag) {
    SimType t = type_at(d, 0);
    switch (role) {
    case 'd': return next_write(d, t, to);
    case 's': return next_read(d, t, to);
    case 'w': return next_write(d, twice(t), to);
    case 'W': return next_read(d, twice(t), to);
    case 'n': return next_write(d, SIM_U32, to);
    case 'u': return next_read(d, SIM_U32, to);
    case 't': return next_read(d, type_at(d, 1), to);
    case 'q': return next_write(d, SIM_PRED, to);
    case 'i': return constant_operand(d, take_any(d), &d->now.immediate);
    default: break;
    }
    const PtxOperand *o = take_any(d);
    if (!o) return false;
    // A negated number was already inverted.
    if (o->negated && o->kind == PTX_NAME) d->now.flags |= not_flag;
    return read_operand(d, o, SIM_PRED, to);
}

static bool operands(Decoder *d) {
    static const uint16_t not_flags[] = {0, SIM_NOT_A, SIM_NOT_B, SIM_NOT_C, 0};
    SimInstr *i = &d->now;
    SimOperand *places[] = {&i->d, &i->a, &i->b, &i->c, &i->e};
    const char *roles = d->operands;
    for (uint32_t n = 0; roles[n]; n++)
        TRY(operand(d, roles[n], places[n < 5 ? n : 4], not_flags[n < 5 ? n : 4]));
    return true;
}

static SimOp with_carry(SimOp op) {
    switch (op) {
    case SIM_OP_ADD: return SIM_OP_ADD_CC;
    case SIM_OP_SUB: return SIM_OP_SUB_CC;
    case SIM_OP_MAD_LO: return SIM_OP_MAD_CC_LO;
    case SIM_OP_MAD_HI: return SIM_OP_MAD_CC_HI;
    default: return op;
    }
}

static bool find_handler(Decoder *d, SimOp op, SimType type) {
    d->now.run = sim_lanes_find(op, type);
    if (d->now.run) return true;
    return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED,
                       "'%.*s': no such instruction with type .%s", STR_ARG(d->statement->name),
                       sim_type_name(type));
}

// add.f32.f16 and similar.
static SimOp widened(SimOp op) {
    switch (op) {
    case SIM_OP_ADD: return SIM_OP_ADD_WIDENED;
    case SIM_OP_SUB: return SIM_OP_SUB_WIDENED;
    case SIM_OP_FMA: return SIM_OP_FMA_WIDENED;
    default: return op;
    }
}

static bool decode_widened(Decoder *d, SimOp op) {
    d->operands = op == SIM_OP_FMA_WIDENED ? "dtts" : "dts";
    TRY(find_handler(d, op, type_at(d, 1)));
    return operands(d);
}

bool decode_lanes(Decoder *d) {
    if (!d->type_count)
        return decode_fail(d, d->statement->span, DIAG_TYPE, "'%.*s' has no type",
                           STR_ARG(d->statement->name));
    take_flags(d);
    SimOp op = d->op;
    SimType type = type_at(d, 0);
    d->now.type = (uint8_t)type, d->now.from = (uint8_t)type_at(d, 1);
    bool narrow = type_at(d, 1) == SIM_F16 || type_at(d, 1) == SIM_BF16;
    if (type == SIM_F32 && narrow && widened(op) != op) return decode_widened(d, widened(op));
    bool saturated_int = d->now.flags & SIM_SAT && type == SIM_S32;
    if (saturated_int && op == SIM_OP_ADD) op = SIM_OP_ADD_SAT;
    if (saturated_int && op == SIM_OP_SUB) op = SIM_OP_SUB_SAT;
    if (d->now.flags & SIM_CARRY) op = with_carry(op);
    if (op == SIM_OP_DP4A || op == SIM_OP_DP2A_LO || op == SIM_OP_DP2A_HI) type = SIM_U32;
    if (op == SIM_OP_SLCT) type = type_at(d, 0);
    if (op == SIM_OP_SELP || op == SIM_OP_SLCT) {
        unsigned bits = sim_type_bits(type);
        type = bits == 64 ? SIM_B64 : bits == 32 ? SIM_B32 : SIM_B16;
    }
    if (op == SIM_OP_SELP) d->now.flags |= SIM_OWN_POISON;
    bool extreme = (op == SIM_OP_MIN || op == SIM_OP_MAX) && type == SIM_F32;
    if (extreme && d->statement->operand_count == 4) d->operands = "dsss";
    TRY(find_handler(d, op, type));
    return operands(d);
}

bool decode_prmt(Decoder *d) {
    static const char *const modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
    int mode = take_one(d, modes, 6);
    d->operands = "dssu";
    TRY(decode_lanes(d));
    d->now.immediate = (uint64_t)(mode + 1);
    return true;
}

bool decode_testp(Decoder *d) {
    static const char *const kinds[] = {"finite",     "infinite", "number",
                                        "notanumber", "normal",   "subnormal"};
    int kind = take_one(d, kinds, 6);
    d->now.immediate = (uint64_t)(kind < 0 ? 0 : kind);
    return decode_lanes(d);
}

bool decode_logic(Decoder *d) {
    if (type_at(d, 0) != SIM_PRED) return decode_lanes(d);
    d->operands = d->op == SIM_OP_NOT ? "qp" : "qpp";
    TRY(operands(d));
    switch (d->op) {
    case SIM_OP_AND: d->now.run = sim_pred_and; break;
    case SIM_OP_OR: d->now.run = sim_pred_or; break;
    case SIM_OP_XOR: d->now.run = sim_pred_xor; break;
    default: d->now.run = sim_pred_not; break;
    }
    if (d->op == SIM_OP_AND || d->op == SIM_OP_OR) d->now.flags |= SIM_OWN_POISON;
    return true;
}

// ---- setp, set ----

static bool comparison(Decoder *d, SimSetOp *s) {
    static const char *const names[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",
                                        "equ", "neu", "ltu", "leu", "gtu", "geu",
                                        "num", "nan", "lo",  "ls",  "hi",  "hs"};
    static const SimCompare unsigned_of[] = {SIM_LT, SIM_LE, SIM_GT, SIM_GE};
    static const char *const bools[] = {"and", "or", "xor"};
    int n = take_one(d, names, 18), b = take_one(d, bools, 3);
    if (n < 0)
        return decode_fail(d, d->statement->span, DIAG_SYNTAX, "'%.*s' names no comparison",
                           STR_ARG(d->statement->name));
    s->compare = n < 14 ? (SimCompare)n : unsigned_of[n - 14];
    s->combine = (SimBool)(b + 1);
    return true;
}

static bool set_results(Decoder *d, SimSetOp *s, SimType result) {
    const PtxOperand *o = take_any(d);
    if (!o) return false;
    if (o->kind != PTX_PAIR) return write_operand(d, o, result, &d->now.d);
    return write_operand(d, &o->items[0], result, &d->now.d) &&
           write_operand(d, &o->items[1], SIM_PRED, &s->other);
}

bool decode_setp(Decoder *d) {
    SimSetOp *s = arena_new(d->arena, SimSetOp, 1);
    s->other = no_operand();
    bool number = str_starts(d->statement->name, STR("set."));
    TRY(comparison(d, s));
    take_flags(d);
    SimType result = number ? type_at(d, 0) : SIM_PRED, type = type_at(d, number ? 1 : 0);
    if (number && sim_type_bits(result) != 32)
        return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED,
                           "set gives 32-bit numbers only here");
    d->now.type = (uint8_t)result, d->now.from = (uint8_t)type;
    d->now.detail = s;
    TRY(find_handler(d, SIM_OP_SETP, type));
    TRY(set_results(d, s, result));
    TRY(next_read(d, type, &d->now.a));
    TRY(next_read(d, type, &d->now.b));
    if (s->combine == SIM_BOOL_NONE) return true;
    return operand(d, 'p', &d->now.c, SIM_NOT_C);
}

// ---- mov ----

static bool parts(Decoder *d, const PtxOperand *v, SimType whole, SimPackOp *p, bool write) {
    unsigned bits = sim_type_bits(whole);
    if (v->count < 2 || v->count > 8 || bits % (8 * v->count))
        return decode_fail(d, v->span, DIAG_TYPE, "a vector of %u parts does not make a .%s",
                           v->count, sim_type_name(whole));
    p->count = (uint8_t)v->count, p->bytes = (uint8_t)(bits / 8 / v->count);
    static const SimType types[] = {[1] = SIM_B8, [2] = SIM_B16, [4] = SIM_B32, [8] = SIM_B64};
    for (uint32_t n = 0; n < v->count; n++) {
        SimType t = types[p->bytes];
        TRY(write ? write_operand(d, &v->items[n], t, &p->parts[n])
                  : read_operand(d, &v->items[n], t, &p->parts[n]));
    }
    return true;
}

static bool is_clock(Str name, SimType *type) {
    if (str_equal(name, STR("%clock")) || str_equal(name, STR("%clock_hi")) ||
        str_equal(name, STR("%globaltimer_lo")) || str_equal(name, STR("%globaltimer_hi")))
        return *type = SIM_U32, true;
    if (str_equal(name, STR("%clock64")) || str_equal(name, STR("%globaltimer")))
        return *type = SIM_U64, true;
    return false;
}

bool decode_mov(Decoder *d) {
    SimType type = type_at(d, 0), clock;
    const PtxOperand *to = take_any(d), *from = take_any(d);
    if (!to || !from) return false;
    d->now.type = (uint8_t)type;
    if (to->kind == PTX_VECTOR || from->kind == PTX_VECTOR) {
        SimPackOp *p = arena_new(d->arena, SimPackOp, 1);
        bool unpack = to->kind == PTX_VECTOR;
        d->now.detail = p;
        d->now.run = unpack ? sim_mov_unpack : sim_mov_pack;
        d->now.flags |= SIM_OWN_POISON;
        return unpack ? read_operand(d, from, type, &p->whole) && parts(d, to, type, p, true)
                      : write_operand(d, to, type, &p->whole) && parts(d, from, type, p, false);
    }
    if (from->kind == PTX_NAME && is_clock(from->name, &clock)) {
        d->now.run = sim_clock, d->now.type = (uint8_t)clock, d->now.flags |= SIM_OWN_POISON;
        return write_operand(d, to, clock, &d->now.d);
    }
    TRY(write_operand(d, to, type, &d->now.d));
    if (type == SIM_PRED && from->negated && from->kind == PTX_NAME) d->now.flags |= SIM_NOT_A;
    TRY(read_operand(d, from, type, &d->now.a));
    if (type == SIM_PRED) return d->now.run = sim_pred_mov, true;
    unsigned slot = sim_type_slot(type);
    return find_handler(d, SIM_OP_MOV,
                        slot == 2   ? SIM_B16
                        : slot == 4 ? SIM_B32
                        : slot == 8 ? SIM_B64
                                    : SIM_B128);
}

// ---- cvt ----

static bool is_pair(SimType t) {
    switch (t) {
    case SIM_F16X2:
    case SIM_BF16X2:
    case SIM_E4M3X2:
    case SIM_E5M2X2:
    case SIM_E2M1X2:
    case SIM_E2M3X2:
    case SIM_E3M2X2:
    case SIM_UE8M0X2: return true;
    default: return false;
    }
}
static bool is_float(SimType t) {
    return t == SIM_F16 || t == SIM_BF16 || t == SIM_F32 || t == SIM_F64 || t == SIM_TF32;
}
static bool is_int(SimType t) { return t >= SIM_B8 && t <= SIM_U64; }

bool decode_cvt(Decoder *d) {
    SimCvtOp *op = arena_new(d->arena, SimCvtOp, 1);
    SimType to = type_at(d, 0), from = type_at(d, 1);
    d->now.detail = op;
    op->to = to, op->from = from, op->second = no_operand();
    static const char *const integral[] = {"rni", "rzi", "rmi", "rpi"};
    op->to_integral = take_one(d, integral, 4) >= 0 && is_float(to);
    op->saturate_finite = take(d, "satfinite");
    take_flags(d);
    if (d->type_count != 2)
        return decode_fail(d, d->statement->span, DIAG_TYPE, "cvt names two types");
    if (is_pair(to)) {
        bool two = from == SIM_F32;
        if (!two && !is_pair(from))
            return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED, "cvt of .%s to .%s",
                               sim_type_name(from), sim_type_name(to));
        const PtxOperand *o = take_any(d);
        TRY(o && write_wide(d, o, to, &d->now.d, &op->to_slot));
        o = take_any(d);
        TRY(o && read_wide(d, o, from, &d->now.a, &op->from_slot));
        d->now.run = sim_cvt_packed;
        return !two || next_read(d, SIM_F32, &op->second);
    }
    if (!(is_float(to) || is_int(to)) || !(is_float(from) || is_int(from)))
        return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED, "cvt of .%s to .%s",
                           sim_type_name(from), sim_type_name(to));
    const PtxOperand *o = take_any(d);
    TRY(o && write_wide(d, o, to, &d->now.d, &op->to_slot));
    o = take_any(d);
    TRY(o && read_wide(d, o, from, &d->now.a, &op->from_slot));
    d->now.run = sim_cvt;
    return true;
}

// ---- Addresses ----

static uint64_t window(Decoder *d) {
    bool shared = take(d, "shared") || take(d, "shared::cta") || take(d, "shared::cluster");
    if (shared) return SIM_SHARED_BASE;
    if (take(d, "local")) return SIM_LOCAL_BASE;
    if (take(d, "param") || take(d, "param::entry")) return SIM_PARAM_BASE;
    if (take(d, "global") || take(d, "const")) return SIM_GLOBAL_BASE;
    return 0;
}

bool decode_cvta(Decoder *d) {
    bool to = take(d, "to");
    uint64_t base = window(d);
    SimType type = type_at(d, 0);
    if (sim_type_bits(type) != 64)
        return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED, "addresses have 64 bits here");
    TRY(next_write(d, type, &d->now.d));
    TRY(next_read(d, type, &d->now.a));
    if (base == SIM_GLOBAL_BASE) return find_handler(d, SIM_OP_MOV, SIM_B64);
    d->now.immediate = base;
    d->now.run = to ? sim_cvta_to : sim_cvta_from;
    return true;
}

bool decode_isspacep(Decoder *d) {
    d->now.immediate = window(d);
    d->now.run = sim_isspacep;
    TRY(next_write(d, SIM_PRED, &d->now.d));
    return next_read(d, SIM_B64, &d->now.a);
}
