// mma.sync.
#include "sim/ptx/decode.h"

static bool shape(Decoder *d, SimMatrixOp *op) {
    static const struct {
        const char *name;
        uint16_t m, n, k;
    } shapes[] = {{"m16n8k4", 16, 8, 4},   {"m16n8k8", 16, 8, 8},   {"m16n8k16", 16, 8, 16},
                  {"m16n8k32", 16, 8, 32}, {"m16n8k64", 16, 8, 64}, {"m8n8k16", 8, 8, 16},
                  {"m8n8k32", 8, 8, 32},   {"m8n8k4", 8, 8, 4}};
    for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++)
        if (take(d, shapes[n].name)) {
            op->m = shapes[n].m, op->n = shapes[n].n, op->k = shapes[n].k;
            return true;
        }
    return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED, "'%.*s': unknown shape",
                       STR_ARG(d->statement->name));
}

static bool registers(Decoder *d, SimType type, SimOperand *to, uint8_t count, bool write) {
    const PtxOperand *v = take_any(d);
    if (!v) return false;
    const PtxOperand *items = v->kind == PTX_VECTOR ? v->items : v;
    uint32_t given = v->kind == PTX_VECTOR ? v->count : 1;
    if (given != count)
        return decode_fail(d, v->span, DIAG_ARGUMENTS, "%u registers where the shape has %u", given,
                           count);
    for (uint32_t n = 0; n < count; n++)
        TRY(write ? write_operand(d, &items[n], type, &to[n])
                  : read_operand(d, &items[n], type, &to[n]));
    return true;
}

// The registers of a lane that hold `elements` elements of a matrix.
static uint8_t registers_of(SimType type, uint32_t elements) {
    unsigned bits = type == SIM_TF32 ? 32 : sim_type_bits(type);
    return (uint8_t)(elements / SIM_LANES * bits / (bits == 64 ? 64 : 32));
}

static bool is_int(SimType t) { return t == SIM_S8 || t == SIM_U8 || t == SIM_S4 || t == SIM_U4; }
static bool is_small(SimType t) {
    return t == SIM_F16 || t == SIM_BF16 || t == SIM_TF32 || t == SIM_E4M3 || t == SIM_E5M2;
}

// The elements of k in one step of the fragment's pattern: the registers of four lanes.
static uint32_t step(SimType t) {
    unsigned bits = t == SIM_TF32 ? 32 : sim_type_bits(t);
    return bits == 64 ? 4 : 128 / bits;
}

static bool check(Decoder *d, const SimMatrixOp *op) {
    bool ints = is_int(op->a) && is_int(op->b) && op->c == SIM_S32 && op->d == SIM_S32;
    bool floats = is_small(op->a) && is_small(op->b) && (op->c == SIM_F32 || op->c == SIM_F16) &&
                  (op->d == SIM_F32 || op->d == SIM_F16);
    bool doubles = op->a == SIM_F64 && op->b == SIM_F64 && op->c == SIM_F64 && op->d == SIM_F64;
    bool known = ints || floats || doubles;
    bool fits = known && step(op->a) == step(op->b) && op->k % step(op->a) == 0 &&
                op->k <= 4 * step(op->a) && (op->m == 16 || !floats);
    if (fits) return true;
    return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED,
                       "'%.*s' is not supported by the warp machine", STR_ARG(d->statement->name));
}

bool decode_mma(Decoder *d) {
    SimMatrixOp *op = arena_new(d->arena, SimMatrixOp, 1);
    take(d, "sync"), take(d, "aligned"), take(d, "row"), take(d, "col"), take(d, "kind::f8f6f4");
    op->saturate = take(d, "satfinite");
    TRY(shape(d, op));
    op->d = type_at(d, 0), op->a = type_at(d, 1), op->b = type_at(d, 2), op->c = type_at(d, 3);
    TRY(check(d, op));
    op->a_regs = registers_of(op->a, (uint32_t)op->m * op->k);
    op->b_regs = registers_of(op->b, (uint32_t)op->n * op->k);
    op->c_regs = registers_of(op->c, (uint32_t)op->m * op->n);
    op->d_regs = registers_of(op->d, (uint32_t)op->m * op->n);
    d->now.detail = op, d->now.flow = SIM_COLLECT;
    d->now.flags |= SIM_OWN_POISON | SIM_UNIFORM | SIM_MATRIX;
    d->now.run = is_int(op->a) ? sim_matrix_int : op->a == SIM_F64 ? sim_matrix_double : sim_matrix;
    SimType wide = op->a == SIM_F64 ? SIM_B64 : SIM_B32;
    TRY(registers(d, wide, op->rd, op->d_regs, true));
    TRY(registers(d, wide, op->ra, op->a_regs, false));
    TRY(registers(d, wide, op->rb, op->b_regs, false));
    return registers(d, wide, op->rc, op->c_regs, false);
}
