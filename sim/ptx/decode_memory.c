// Loads, stores, atomics, asynchronous copies, matrices in shared memory.
#include "sim/ptx/decode.h"

// `far`: the shared memory of other blocks of the cluster, too.
static bool take_space(Decoder *d, SimSpace *space, bool *far) {
    static const char *const names[] = {"global",          "shared",      "shared::cta",
                                        "shared::cluster", "local",       "const",
                                        "param",           "param::func", "param::entry"};
    static const SimSpace spaces[] = {SIM_SPACE_GLOBAL, SIM_SPACE_SHARED, SIM_SPACE_SHARED,
                                      SIM_SPACE_SHARED, SIM_SPACE_LOCAL,  SIM_SPACE_CONST,
                                      SIM_SPACE_PARAM,  SIM_SPACE_PARAM,  SIM_SPACE_PARAM};
    int n = take_one(d, names, 9);
    *space = n < 0 ? SIM_SPACE_GENERIC : spaces[n];
    *far = n < 0 || n == 3;
    return true;
}

static void take_order(Decoder *d, SimAccessOp *op) {
    static const char *const names[] = {"weak",    "volatile", "relaxed", "acquire",
                                        "release", "acq_rel",  "mmio"};
    int n = take_one(d, names, 7);
    op->order = n < 0 ? SIM_ORDER_WEAK : n == 6 ? SIM_ORDER_RELAXED : (SimOrder)n;
    op->scope = SIM_SCOPE_GPU;
    take_scope(d, &op->scope);
}

// Cache hints have no effect here.
static bool take_hints(Decoder *d) {
    bool policy = false;
    for (uint32_t n = 0; n < d->modifier_count; n++) {
        Str m = d->modifiers[n];
        bool hint = str_starts(m, STR("L1::")) || str_starts(m, STR("L2::"));
        static const char *const names[] = {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc"};
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            hint |= str_equal(m, str(names[k]));
        if (hint) d->taken |= 1u << n;
        policy |= str_equal(m, STR("L2::cache_hint"));
    }
    return policy;
}

static bool skip_policy(Decoder *d, bool policy) {
    SimOperand ignored;
    return !policy || next_read(d, SIM_B64, &ignored);
}

static uint8_t take_vector(Decoder *d) {
    static const char *const names[] = {"v2", "v4", "v8"};
    int n = take_one(d, names, 3);
    return (uint8_t)(n < 0 ? 1 : 2 << n);
}

static bool is_signed(SimType t) {
    return t == SIM_S8 || t == SIM_S16 || t == SIM_S32 || t == SIM_S64;
}

static bool access_op(Decoder *d, SimAccessOp *op) {
    op->type = type_at(d, 0);
    unsigned bits = sim_type_bits(op->type);
    if (bits < 8)
        return decode_fail(d, d->statement->span, DIAG_TYPE, "'%.*s' names no type of memory",
                           STR_ARG(d->statement->name));
    op->width = (uint8_t)(bits / 8), op->slot = 0;
    op->count = take_vector(d);
    op->sign = is_signed(op->type);
    op->compare = no_operand();
    for (int n = 0; n < 8; n++) op->values[n] = op->values2[n] = no_operand();
    if (op->width * op->count > 32)
        return decode_fail(d, d->statement->span, DIAG_TYPE, "an access has at most 32 bytes");
    return true;
}

// One register, or a vector of op->count.
static bool values(Decoder *d, const PtxOperand *o, SimAccessOp *op, SimOperand *to, bool write) {
    const PtxOperand *items = o->kind == PTX_VECTOR ? o->items : o;
    uint32_t count = o->kind == PTX_VECTOR ? o->count : 1;
    if (count != op->count)
        return decode_fail(d, o->span, DIAG_ARGUMENTS, "%u registers for a vector of %u", count,
                           op->count);
    for (uint32_t n = 0; n < count; n++) {
        uint8_t slot = 0;
        TRY(write ? write_wide(d, &items[n], op->type, &to[n], &slot)
                  : read_wide(d, &items[n], op->type, &to[n], &slot));
        if (to[n].number < 0) continue;
        if (op->slot && op->slot != slot)
            return decode_fail(d, items[n].span, DIAG_TYPE, "registers of different sizes");
        op->slot = slot;
    }
    return true;
}

static SimAccessOp *new_access(Decoder *d) {
    SimAccessOp *op = arena_new(d->arena, SimAccessOp, 1);
    op->address = no_operand();
    d->now.detail = op;
    return op;
}

static bool load(Decoder *d, SimAccessOp *op) {
    d->now.run = sim_load, d->now.flags |= SIM_OWN_POISON;
    take_order(d, op);
    bool policy = take_hints(d);
    TRY(access_op(d, op));
    const PtxOperand *to = take_any(d), *from = take_any(d);
    TRY(to && from && values(d, to, op, op->values, true));
    TRY(address_operand(d, from, op));
    return skip_policy(d, policy);
}

bool decode_load(Decoder *d) {
    SimAccessOp *op = new_access(d);
    take_space(d, &op->space, &op->far);
    return load(d, op);
}

// Parameters of the kernel, or arguments of an inlined call.
bool decode_load_param(Decoder *d) {
    SimAccessOp *op = new_access(d);
    const PtxOperand *from = d->statement->operand_count > 1 ? &d->statement->operands[1] : NULL;
    op->space = SIM_SPACE_PARAM;
    TRY(load(d, op));
    PtxSymbol *s = from->items[0].kind == PTX_NAME ? find_symbol(d, from->items[0].name) : NULL;
    if (s && s->kind == SYMBOL_LOCAL)
        op->space = SIM_SPACE_LOCAL;
    else
        d->now.run = sim_load_param;
    return true;
}

static bool store(Decoder *d, SimAccessOp *op) {
    d->now.run = sim_store, d->now.flags |= SIM_OWN_POISON;
    take_order(d, op);
    bool policy = take_hints(d);
    TRY(access_op(d, op));
    const PtxOperand *to = take_any(d), *from = take_any(d);
    TRY(to && from && address_operand(d, to, op));
    TRY(values(d, from, op, op->values, false));
    return skip_policy(d, policy);
}
bool decode_store(Decoder *d) {
    SimAccessOp *op = new_access(d);
    take_space(d, &op->space, &op->far);
    return store(d, op);
}
bool decode_store_param(Decoder *d) {
    SimAccessOp *op = new_access(d);
    op->space = SIM_SPACE_LOCAL;
    return store(d, op);
}

bool decode_atom(Decoder *d) {
    static const char *const names[] = {"add", "inc", "dec", "min",  "max",
                                        "and", "or",  "xor", "exch", "cas"};
    SimAccessOp *op = new_access(d);
    d->now.run = sim_atom, d->now.flags |= SIM_OWN_POISON;
    op->no_result = str_starts(d->statement->name, STR("red"));
    take_space(d, &op->space, &op->far);
    op->order = SIM_ORDER_RELAXED;
    take_order(d, op);
    if (op->order == SIM_ORDER_WEAK) op->order = SIM_ORDER_RELAXED;
    take(d, "noftz");
    bool policy = take_hints(d);
    int atom = take_one(d, names, 10);
    if (atom < 0)
        return decode_fail(d, d->statement->span, DIAG_SYNTAX, "'%.*s' names no operation",
                           STR_ARG(d->statement->name));
    op->atom = (SimAtom)atom;
    TRY(access_op(d, op));
    const PtxOperand *o;
    if (!op->no_result) TRY((o = take_any(d)) && values(d, o, op, op->values, true));
    TRY((o = take_any(d)) && address_operand(d, o, op));
    if (op->atom == SIM_ATOM_CAS) TRY(next_read(d, op->type, &op->compare));
    TRY((o = take_any(d)) && values(d, o, op, op->values2, false));
    bool cas = op->atom == SIM_ATOM_CAS, whole = cas || op->atom == SIM_ATOM_EXCH;
    if ((cas && (op->count > 1 || op->slot != sim_type_slot(op->type))) ||
        (op->type == SIM_B128 && (!whole || op->count > 1)))
        return decode_fail(d, d->statement->span, DIAG_TYPE, "'%.*s' is not possible with its type",
                           STR_ARG(d->statement->name));
    return skip_policy(d, policy);
}

bool decode_ignored(Decoder *d) {
    d->now.run = sim_nothing;
    d->taken = UINT32_MAX;
    d->next_operand = d->statement->operand_count;
    return true;
}

// A cache policy is a number that is not used.
bool decode_policy(Decoder *d) {
    d->taken = UINT32_MAX;
    TRY(next_write(d, SIM_B64, &d->now.d));
    PtxOperand zero = {.kind = PTX_NUMBER, .number = PTX_INTEGER};
    TRY(read_operand(d, &zero, SIM_B64, &d->now.a));
    d->next_operand = d->statement->operand_count;
    d->now.run = sim_lanes_find(SIM_OP_MOV, SIM_B64);
    return true;
}

// ---- cp.async ----

static bool copy_source(Decoder *d, SimCopyOp *op) {
    const PtxOperand *o = take_any(d);
    TRY(o && address_operand(d, o, &op->from));
    if (!op->from.fixed && !op->from.wide)
        return decode_fail(d, o->span, DIAG_TYPE, "an address of global memory has 64 bits");
    return true;
}

bool decode_copy(Decoder *d) {
    SimCopyOp *op = arena_new(d->arena, SimCopyOp, 1);
    d->now.detail = op, d->now.run = sim_copy_async, d->now.flags |= SIM_OWN_POISON;
    op->source_bytes = op->ignore = op->from.address = no_operand();
    take(d, "async"), take(d, "shared"), take(d, "shared::cta"), take(d, "shared::cluster");
    take(d, "global");
    bool policy = take_hints(d);
    SimAccessOp *to = arena_new(d->arena, SimAccessOp, 1);
    to->address = no_operand();
    const PtxOperand *o = take_any(d);
    TRY(o && address_operand(d, o, to));
    op->to = to->address, op->to_wide = to->wide, op->to_fixed = to->fixed;
    op->to_offset = to->offset;
    if (d->dynamic_offsets.count && vec_last(&d->dynamic_offsets) == &to->offset)
        vec_last(&d->dynamic_offsets) = &op->to_offset;
    TRY(copy_source(d, op));
    uint64_t bytes;
    TRY(constant_operand(d, take_any(d), &bytes));
    if (bytes != 4 && bytes != 8 && bytes != 16)
        return decode_fail(d, d->statement->span, DIAG_SYNTAX, "cp.async copies 4, 8 or 16 bytes");
    op->from.width = (uint8_t)bytes;
    uint32_t left = d->statement->operand_count - d->next_operand;
    if (left > (policy ? 1u : 0u)) TRY(next_read(d, SIM_U32, &op->source_bytes));
    return skip_policy(d, policy);
}

bool decode_commit(Decoder *d) {
    d->now.run = sim_copy_commit;
    return true;
}

bool decode_wait(Decoder *d) {
    d->now.run = sim_copy_wait;
    d->now.immediate = UINT64_MAX;
    if (!more_operands(d)) return true;
    return constant_operand(d, take_any(d), &d->now.immediate);
}

// ---- ldmatrix, stmatrix, movmatrix ----

static bool tile(Decoder *d, bool is_store) {
    static const char *const counts[] = {"x1", "x2", "x4"};
    SimTileOp *op = arena_new(d->arena, SimTileOp, 1);
    d->now.detail = op, d->now.flags |= SIM_OWN_POISON | SIM_UNIFORM;
    d->now.flow = SIM_COLLECT;
    d->now.run = is_store ? sim_tile_store : sim_tile_load;
    take(d, "sync"), take(d, "aligned");
    int n = take_one(d, counts, 3);
    SimSpace ignored;
    bool far;
    take_space(d, &ignored, &far);
    if (n < 0 || !take(d, "m8n8") || type_at(d, 0) != SIM_B16)
        return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED,
                           "'%.*s': matrices of 8 by 8 16-bit values only",
                           STR_ARG(d->statement->name));
    op->matrices = (uint8_t)(1 << n), op->transposed = take(d, "trans"), op->store = is_store;
    const PtxOperand *first = take_any(d), *second = take_any(d);
    TRY(first && second && address_operand(d, is_store ? first : second, &op->access));
    const PtxOperand *v = is_store ? second : first;
    const PtxOperand *items = v->kind == PTX_VECTOR ? v->items : v;
    uint32_t count = v->kind == PTX_VECTOR ? v->count : 1;
    if (count != op->matrices)
        return decode_fail(d, v->span, DIAG_ARGUMENTS, "%u registers for %u matrices", count,
                           op->matrices);
    for (uint32_t k = 0; k < count; k++)
        TRY(is_store ? read_operand(d, &items[k], SIM_B32, &op->values[k])
                     : write_operand(d, &items[k], SIM_B32, &op->values[k]));
    return true;
}
bool decode_ldmatrix(Decoder *d) { return tile(d, false); }
bool decode_stmatrix(Decoder *d) { return tile(d, true); }

bool decode_movmatrix(Decoder *d) {
    take(d, "sync"), take(d, "aligned"), take(d, "trans"), take(d, "m8n8");
    d->now.run = sim_tile_transpose, d->now.flow = SIM_COLLECT;
    d->now.flags |= SIM_OWN_POISON | SIM_UNIFORM;
    TRY(next_write(d, SIM_B32, &d->now.d));
    return next_read(d, SIM_B32, &d->now.a);
}
