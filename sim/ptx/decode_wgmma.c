// wgmma.*: instructions of a warpgroup.
#include <stdio.h>

#include "sim/machine/hopper/wgmma.h"
#include "sim/ptx/decode.h"

static bool for_this_target(Decoder *d) {
    take(d, "sync"), take(d, "aligned");
    d->now.flow = SIM_COLLECT, d->now.flags |= SIM_OWN_POISON | SIM_UNIFORM;
    if (d->program->arch == 90 && d->program->arch_a) return true;
    return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED, "'%.*s' needs the target sm_90a",
                       STR_ARG(d->statement->name));
}

// wgmma.fence, commit_group, wait_group n.
bool decode_wgmma_step(Decoder *d) {
    bool fence = take(d, "fence"), commit = take(d, "commit_group");
    d->now.run = fence ? sim_wgmma_fence : commit ? sim_wgmma_commit : sim_wgmma_wait;
    TRY(for_this_target(d));
    return fence || commit || constant_operand(d, take_any(d), &d->now.immediate);
}

// m64nNkK, of 32 bytes along k. The sizes of n are those of the ISA.
static bool shape(Decoder *d, SimWgmmaOp *op) {
    unsigned bits = op->a == SIM_TF32 ? 32 : sim_type_bits(op->a);
    bool ints = op->d == SIM_S32;
    op->k = (uint16_t)(SIM_FACTOR_BYTES * 8 / bits);
    for (uint16_t n = 8; n <= SIM_WGMMA_COLUMNS; n = (uint16_t)(n + (ints && n >= 32 ? 16 : 8))) {
        char name[24];
        snprintf(name, sizeof name, "m64n%uk%u", n, op->k);
        if (take(d, name)) return op->n = n, true;
    }
    return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED, "'%.*s': unknown shape",
                       STR_ARG(d->statement->name));
}

static bool is_byte_float(SimType t) { return t == SIM_E4M3 || t == SIM_E5M2; }
static bool is_byte_int(SimType t) { return t == SIM_S8 || t == SIM_U8; }

static bool types(Decoder *d, SimWgmmaOp *op) {
    op->d = type_at(d, 0), op->a = type_at(d, 1), op->b = type_at(d, 2);
    bool half = op->d == SIM_F16, single = op->d == SIM_F32, same = op->a == op->b;
    bool fits = (op->a == SIM_F16 && same && (half || single)) ||
                ((op->a == SIM_BF16 || op->a == SIM_TF32) && same && single) ||
                (is_byte_float(op->a) && is_byte_float(op->b) && (half || single)) ||
                (is_byte_int(op->a) && is_byte_int(op->b) && op->d == SIM_S32);
    if (fits) return true;
    return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED,
                       "'%.*s' is not supported by the warp machine", STR_ARG(d->statement->name));
}

static bool results(Decoder *d, SimWgmmaOp *op) {
    const PtxOperand *v = take_any(d);
    if (!v) return false;
    op->results = (uint8_t)(op->n / (op->d == SIM_F16 ? 4 : 2));
    if (v->kind != PTX_VECTOR || v->count != op->results)
        return decode_fail(d, v->span, DIAG_ARGUMENTS, "%u registers where the shape has %u",
                           v->count, op->results);
    for (uint32_t n = 0; n < op->results; n++) {
        TRY(write_operand(d, &v->items[n], SIM_B32, &op->rd[n]));
        op->numbers[n] = op->rd[n].number;
    }
    return true;
}

// A: a descriptor, or four registers.
static bool factor_a(Decoder *d, SimWgmmaOp *op) {
    const PtxOperand *a = take_any(d);
    if (!a) return false;
    op->registers = a->kind == PTX_VECTOR;
    if (!op->registers) return read_operand(d, a, SIM_B64, &op->da);
    if (a->count != 4)
        return decode_fail(d, a->span, DIAG_ARGUMENTS, "%u registers where A has 4", a->count);
    for (uint32_t n = 0; n < 4; n++) {
        TRY(read_operand(d, &a->items[n], SIM_B32, &op->ra[n]));
        op->numbers[op->results + n] = op->ra[n].number;
    }
    return true;
}

static bool choice(Decoder *d, int64_t no, int64_t yes, bool *chosen) {
    const PtxOperand *o = take_any(d);
    uint64_t value;
    TRY(o && constant_operand(d, o, &value));
    *chosen = (int64_t)value == yes;
    if (*chosen || (int64_t)value == no) return true;
    return decode_fail(d, o->span, DIAG_ARGUMENTS, "%lld or %lld is expected here", (long long)no,
                       (long long)yes);
}

static bool scales(Decoder *d, SimWgmmaOp *op) {
    const PtxOperand *p = take_any(d);
    TRY(p && read_operand(d, p, SIM_PRED, &op->adds));
    op->adds_negated = p->negated && p->kind == PTX_NAME;
    if (op->d == SIM_S32) return true;
    bool minus_a, minus_b;
    TRY(choice(d, 1, -1, &minus_a) && choice(d, 1, -1, &minus_b));
    op->negative = minus_a != minus_b;
    if (op->a != SIM_F16 && op->a != SIM_BF16) return true;
    return (op->registers || choice(d, 0, 1, &op->transposed_a)) &&
           choice(d, 0, 1, &op->transposed_b);
}

bool decode_wgmma(Decoder *d) {
    SimWgmmaOp *op = arena_new(d->arena, SimWgmmaOp, 1);
    d->now.detail = op, d->now.run = sim_wgmma;
    op->da = op->db = no_operand();
    TRY(for_this_target(d));
    d->now.flags |= SIM_MATRIX | SIM_IN_FLIGHT;
    TRY(types(d, op) && shape(d, op));
    op->saturate = op->d == SIM_S32 && take(d, "satfinite");
    return results(d, op) && factor_a(d, op) && next_read(d, SIM_B64, &op->db) && scales(d, op);
}
