// cp.async.bulk, cp.async.bulk.tensor and their reductions; groups of them.
#include "sim/machine/hopper/bulk.h"
#include "sim/ptx/decode.h"

static bool unsupported(Decoder *d) {
    return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED,
                       "'%.*s' is not supported by the warp machine", STR_ARG(d->statement->name));
}

static bool since_hopper(Decoder *d) {
    if (d->program->arch >= 90) return true;
    return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED, "'%.*s' needs the target sm_90",
                       STR_ARG(d->statement->name));
}

bool decode_bulk_commit(Decoder *d) {
    d->now.run = sim_bulk_commit;
    return since_hopper(d);
}

bool decode_bulk_wait(Decoder *d) {
    d->now.run = sim_bulk_wait;
    if (take(d, "read")) d->now.flags |= SIM_WRAP;
    return since_hopper(d) && constant_operand(d, take_any(d), &d->now.immediate);
}

static SimBulkOp *new_op(Decoder *d) {
    SimBulkOp *op = arena_new(d->arena, SimBulkOp, 1);
    op->size = op->blocks = no_operand();
    op->shared.address = op->global.address = op->mbarrier.address = no_operand();
    op->shared.fixed = op->global.fixed = op->mbarrier.fixed = true;
    d->now.detail = op, d->now.run = sim_bulk;
    d->now.flags |= SIM_OWN_POISON | SIM_IN_FLIGHT;
    take(d, "bulk_group"), take(d, "tile");
    return op;
}

// The spaces come in the order destination, source.
static bool kind(Decoder *d, SimBulkOp *op) {
    bool far = take(d, "shared::cluster"), near = take(d, "shared::cta"),
         global = take(d, "global");
    bool lands = take(d, "mbarrier::complete_tx::bytes");
    op->shared.far = op->mbarrier.far = far;
    op->kind = !global ? SIM_BULK_MOVE : lands ? SIM_BULK_LOAD : SIM_BULK_STORE;
    return global ? far != near : far && near;
}

static bool reduction(Decoder *d, SimBulkOp *op) {
    static const char *const names[] = {"add", "inc", "dec", "min", "max", "and", "or", "xor"};
    static const SimAtom atoms[] = {SIM_ATOM_ADD, SIM_ATOM_INC, SIM_ATOM_DEC, SIM_ATOM_MIN,
                                    SIM_ATOM_MAX, SIM_ATOM_AND, SIM_ATOM_OR,  SIM_ATOM_XOR};
    op->reduces = str_starts(d->statement->name, STR("cp.reduce"));
    if (!op->reduces) return true;
    int n = take_one(d, names, 8);
    if (n < 0 || op->kind != SIM_BULK_STORE) return unsupported(d);
    op->atom = atoms[n], op->type = type_at(d, 0);
    take(d, "noftz");
    return true;
}

static bool address(Decoder *d, SimAccessOp *to) {
    const PtxOperand *o = take_any(d);
    to->fixed = false;
    return o && address_operand(d, o, to);
}

// [map, {c0, c1, …}]
static bool box(Decoder *d, SimBulkOp *op) {
    const PtxOperand *o = take_any(d);
    if (!o) return false;
    if (o->kind != PTX_ADDRESS || o->count != 2 || o->items[1].kind != PTX_VECTOR ||
        o->items[1].count != op->rank)
        return decode_fail(d, o->span, DIAG_ARGUMENTS, "[map, {%u coordinates}] is expected here",
                           op->rank);
    op->global.fixed = false;
    TRY(address_operand(d, o, &op->global));
    for (uint32_t n = 0; n < op->rank; n++)
        TRY(read_operand(d, &o->items[1].items[n], SIM_B32, &op->coordinates[n]));
    return true;
}

// The operands after the addresses: mask of blocks, cache policy.
static bool rest(Decoder *d, SimBulkOp *op) {
    bool policy = take(d, "L2::cache_hint");
    op->multicast = take(d, "multicast::cluster");
    if (op->multicast) TRY(next_read(d, SIM_B16, &op->blocks));
    SimOperand ignored;
    return !policy || next_read(d, SIM_B64, &ignored);
}

bool decode_tensor(Decoder *d) {
    static const char *const ranks[] = {"1d", "2d", "3d", "4d", "5d"};
    SimBulkOp *op = new_op(d);
    int rank = take_one(d, ranks, 5);
    TRY(since_hopper(d));
    if (rank < 0 || !kind(d, op) || op->kind == SIM_BULK_MOVE) return unsupported(d);
    op->rank = (uint8_t)(rank + 1);
    TRY(reduction(d, op));
    if (op->kind == SIM_BULK_STORE) return box(d, op) && address(d, &op->shared) && rest(d, op);
    return address(d, &op->shared) && box(d, op) && address(d, &op->mbarrier) && rest(d, op);
}

bool decode_bulk(Decoder *d) {
    SimBulkOp *op = new_op(d);
    TRY(since_hopper(d));
    if (!kind(d, op)) return unsupported(d);
    TRY(reduction(d, op));
    bool stores = op->kind == SIM_BULK_STORE;
    TRY(address(d, stores ? &op->global : &op->shared));
    TRY(address(d, stores ? &op->shared : &op->global));
    TRY(next_read(d, SIM_U32, &op->size));
    if (!stores) TRY(address(d, &op->mbarrier));
    return rest(d, op);
}
