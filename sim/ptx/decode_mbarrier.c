// mbarrier.* and cp.async.mbarrier.arrive.
#include "sim/ptx/decode.h"

static SimMbarrierOp *new_op(Decoder *d) {
    SimMbarrierOp *op = arena_new(d->arena, SimMbarrierOp, 1);
    op->count = op->state = op->access.address = no_operand();
    d->now.detail = op, d->now.run = sim_mbarrier_update, d->now.flags |= SIM_OWN_POISON;
    SimScope ignored;
    static const char *const known[] = {"release", "relaxed", "acquire", "noComplete"};
    bool shared = take(d, "shared") || take(d, "shared::cta");
    op->access.far = take(d, "shared::cluster") || !shared;
    for (size_t n = 0; n < sizeof known / sizeof *known; n++) take(d, known[n]);
    take_scope(d, &ignored);
    return op;
}

static bool address(Decoder *d, SimMbarrierOp *op) {
    const PtxOperand *o = take_any(d);
    return o && address_operand(d, o, &op->access);
}

static bool count(Decoder *d, SimMbarrierOp *op) {
    return !more_operands(d) || next_read(d, SIM_U32, &op->count);
}

// Reads "state, [address]", "[address]" alone, or "_, [address]".
static bool arrive(Decoder *d, SimMbarrierOp *op) {
    op->kind = take(d, "expect_tx") ? SIM_MBARRIER_ARRIVE_EXPECT : SIM_MBARRIER_ARRIVE;
    const PtxOperand *o = peek_operand(d);
    if (o && o->kind == PTX_NAME) TRY(next_write(d, SIM_B64, &op->state));
    return address(d, op) && count(d, op);
}

static bool test(Decoder *d, SimMbarrierOp *op) {
    op->kind = SIM_MBARRIER_TEST;
    op->parity = take(d, "parity");
    d->now.run = sim_mbarrier_test;
    TRY(next_write(d, SIM_PRED, &d->now.d));
    TRY(address(d, op));
    TRY(op->parity ? next_read(d, SIM_U32, &op->count) : next_read(d, SIM_B64, &op->state));
    SimOperand hint;
    return !more_operands(d) || next_read(d, SIM_U32, &hint);
}

bool decode_mbarrier(Decoder *d) {
    SimMbarrierOp *op = new_op(d);
    if (take(d, "init")) return op->kind = SIM_MBARRIER_INIT, address(d, op) && count(d, op);
    if (take(d, "inval")) return op->kind = SIM_MBARRIER_INVAL, address(d, op);
    if (take(d, "arrive")) return arrive(d, op);
    op->tries = take(d, "try_wait");
    if (op->tries || take(d, "test_wait")) return test(d, op);
    if (take(d, "arrive_drop")) {
        TRY(arrive(d, op));
        return op->kind = SIM_MBARRIER_DROP, true;
    }
    if (take(d, "expect_tx")) return op->kind = SIM_MBARRIER_EXPECT, address(d, op) && count(d, op);
    if (take(d, "complete_tx"))
        return op->kind = SIM_MBARRIER_COMPLETE, address(d, op) && count(d, op);
    return decode_unknown(d);
}

bool decode_mbarrier_copy(Decoder *d) {
    SimMbarrierOp *op = new_op(d);
    take(d, "arrive");
    op->kind = take(d, "noinc") ? SIM_MBARRIER_COPY_NOINC : SIM_MBARRIER_COPY;
    return address(d, op);
}
