// Atomics, lane by lane in order. An order beyond relaxed is one fence before or after all lanes;
// between the programs of a launch the atomics themselves are relaxed. Types without an atomic
// instruction go through compare-and-swap of their bits.
#include <string.h>

#include "base/os/os.h"
#include "codegen/common/gen.h"

typedef struct Lane {
    const IrOp *op;
    const IrType *t;   // of the element, as a scalar
    LLVMTypeRef bits;  // an integer of the same width
    LLVMValueRef p, expected, x;
} Lane;

static LLVMValueRef to_bits(Gen *g, const Lane *lane, LLVMValueRef v) {
    if (lane->t->elem == DTYPE_BOOL) return LLVMBuildZExt(g->b, v, lane->bits, "");
    return LLVMBuildBitCast(g->b, v, lane->bits, "");
}

static LLVMValueRef from_bits(Gen *g, const Lane *lane, LLVMValueRef v) {
    if (lane->t->elem == DTYPE_BOOL)
        return LLVMBuildICmp(g->b, LLVMIntNE, v, LLVMConstNull(lane->bits), "");
    return LLVMBuildBitCast(g->b, v, gen_type(g, lane->t), "");
}

static IrOpcode opcode_of(IrRmw rmw) {
    switch (rmw) {
    case IR_RMW_ADD: return IR_ADD;
    case IR_RMW_SUB: return IR_SUB;
    case IR_RMW_AND: return IR_AND;
    case IR_RMW_OR: return IR_OR;
    case IR_RMW_XOR: return IR_XOR;
    case IR_RMW_MIN: return IR_MIN;
    case IR_RMW_MAX: return IR_MAX;
    case IR_RMW_XCHG:
    case IR_RMW_LOAD:
    case IR_RMWS: break;
    }
    return IR_OPCODES;
}

static LLVMAtomicRMWBinOp instruction_of(IrRmw rmw, bool with_sign) {
    switch (rmw) {
    case IR_RMW_ADD: return LLVMAtomicRMWBinOpAdd;
    case IR_RMW_SUB: return LLVMAtomicRMWBinOpSub;
    case IR_RMW_AND: return LLVMAtomicRMWBinOpAnd;
    case IR_RMW_OR: return LLVMAtomicRMWBinOpOr;
    case IR_RMW_XOR: return LLVMAtomicRMWBinOpXor;
    case IR_RMW_MIN: return with_sign ? LLVMAtomicRMWBinOpMin : LLVMAtomicRMWBinOpUMin;
    case IR_RMW_MAX: return with_sign ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpUMax;
    case IR_RMW_XCHG:
    case IR_RMW_LOAD:
    case IR_RMWS: break;
    }
    return LLVMAtomicRMWBinOpXchg;
}

// Returns the old bits; *swapped: they were the expected ones.
static LLVMValueRef exchange(Gen *g, const Lane *lane, LLVMValueRef expected, LLVMValueRef x,
                             LLVMValueRef *swapped) {
    IrScope scope = (IrScope)ir_attr_int(lane->op, IR_ATTR_SCOPE);
    LLVMValueRef own = g->target->swap ? g->target->swap(g, lane->p, expected, x, scope) : NULL;
    if (own) {
        *swapped = LLVMBuildICmp(g->b, LLVMIntEQ, own, expected, "");
        return own;
    }
    LLVMValueRef pair =
        LLVMBuildAtomicCmpXchg(g->b, lane->p, expected, x, LLVMAtomicOrderingMonotonic,
                               LLVMAtomicOrderingMonotonic, false);
    *swapped = LLVMBuildExtractValue(g->b, pair, 1, "");
    return LLVMBuildExtractValue(g->b, pair, 0, "");
}

// The result of thread.update's region for the two, which are scalars of one part.
static LLVMValueRef run_region(Gen *g, const IrOp *op, LLVMValueRef old, LLVMValueRef x) {
    const IrBlock *region = op->regions[0];
    gen_set(g, region->args[0], old);
    gen_set(g, region->args[1], x);
    gen_ops(g, region);
    return gen_operand(g, region->last, 0);
}

// Reads the bits, computes new ones, and tries again if another thread was faster. For cas it stops
// without a write if the old value is not the expected one.
static LLVMValueRef swap_loop(Gen *g, const Lane *lane) {
    LLVMValueRef first = LLVMBuildLoad2(g->b, lane->bits, lane->p, "");
    LLVMSetOrdering(first, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(first, (unsigned)dtype_size(lane->t->elem));
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b);
    LLVMBasicBlockRef loop = gen_block(g, "swap"), after = gen_block(g, "swapped");
    LLVMBuildBr(g->b, loop);
    LLVMPositionBuilderAtEnd(g->b, loop);
    LLVMValueRef bits = LLVMBuildPhi(g->b, lane->bits, "");
    LLVMAddIncoming(bits, &first, &before, 1);
    LLVMValueRef old = from_bits(g, lane, bits), next = lane->x;
    LLVMBasicBlockRef attempt = loop;
    if (lane->expected) {
        attempt = gen_block(g, "attempt");
        LLVMValueRef equal = LLVMBuildICmp(g->b, LLVMIntEQ, to_bits(g, lane, old),
                                           to_bits(g, lane, lane->expected), "");
        LLVMBuildCondBr(g->b, equal, attempt, after);
        LLVMPositionBuilderAtEnd(g->b, attempt);
    } else if (lane->op->code == IR_THREAD_UPDATE) {
        next = run_region(g, lane->op, old, lane->x);
        attempt = LLVMGetInsertBlock(g->b);
    } else if (ir_attr_int(lane->op, IR_ATTR_RMW) != IR_RMW_XCHG) {
        IrOpcode code = opcode_of((IrRmw)ir_attr_int(lane->op, IR_ATTR_RMW));
        next = gen_binary(g, code, lane->t, old, lane->x);
    }
    LLVMValueRef swapped, found = exchange(g, lane, bits, to_bits(g, lane, next), &swapped);
    attempt = LLVMGetInsertBlock(g->b);
    LLVMAddIncoming(bits, &found, &attempt, 1);
    LLVMBuildCondBr(g->b, swapped, after, loop);
    LLVMPositionBuilderAtEnd(g->b, after);
    return old;
}

// The machine's atomic sum of floats; NULL if it has none. a - b is a + (-b), including signs of
// zero.
static LLVMValueRef own_sum(Gen *g, const Lane *lane) {
    IrRmw rmw = (IrRmw)ir_attr_int(lane->op, IR_ATTR_RMW);
    bool sums = rmw == IR_RMW_ADD || rmw == IR_RMW_SUB;
    if (!g->target->add || !sums || !dtype_is(lane->t->elem, DTYPE_CLASS_ANYFLOAT)) return NULL;
    LLVMValueRef x = lane->x;
    if (rmw == IR_RMW_SUB) {
        uint64_t sign = UINT64_C(1) << (dtype_bits(lane->t->elem) - 1);
        x = LLVMBuildXor(g->b, to_bits(g, lane, x), LLVMConstInt(lane->bits, sign, false), "");
        x = from_bits(g, lane, x);
    }
    return g->target->add(g, lane->p, lane->t->elem, x,
                          (IrScope)ir_attr_int(lane->op, IR_ATTR_SCOPE));
}

// Loads, and exchanges whose result is not used, are plain instructions that are atomic.
static LLVMValueRef load_or_store(Gen *g, const Lane *lane, bool loads) {
    const char *const *scopes = g->target->plain_scopes;
    const char *name = scopes ? scopes[ir_attr_int(lane->op, IR_ATTR_SCOPE)] : "";
    LLVMValueRef v = loads ? LLVMBuildLoad2(g->b, lane->bits, lane->p, "")
                           : LLVMBuildStore(g->b, to_bits(g, lane, lane->x), lane->p);
    LLVMSetOrdering(v, LLVMAtomicOrderingMonotonic);
    LLVMSetAtomicSyncScopeID(v, LLVMGetSyncScopeID(g->context, name, strlen(name)));
    LLVMSetAlignment(v, (unsigned)dtype_size(lane->t->elem));
    return loads ? from_bits(g, lane, v) : LLVMConstNull(gen_type(g, lane->t));
}

static LLVMValueRef one_lane(Gen *g, const Lane *lane) {
    bool integer = dtype_is(lane->t->elem, DTYPE_CLASS_INT);
    if (lane->expected || lane->op->code == IR_THREAD_UPDATE) return swap_loop(g, lane);
    IrRmw rmw = (IrRmw)ir_attr_int(lane->op, IR_ATTR_RMW);
    bool xchg = rmw == IR_RMW_XCHG, loads = rmw == IR_RMW_LOAD;
    bool marked = !g->target->marks_stores || g->target->marks_stores(g);
    bool stores = xchg && !lane->op->results[0].uses && marked;
    if (loads || stores) return load_or_store(g, lane, loads);
    LLVMValueRef sum = own_sum(g, lane);
    if (sum) return sum;
    // On NVIDIA's GPUs, LLVM gives every read-modify-write the scope of the device.
    IrScope scope = (IrScope)ir_attr_int(lane->op, IR_ATTR_SCOPE);
    bool farther = !g->target->scopes && scope == IR_SCOPE_SYSTEM;
    bool own = g->target->swap && dtype_size(lane->t->elem) < 4;
    if ((!integer && !xchg) || own || (g->target->splits_vectors && farther)) {
        remark(g->remarks, lane->op->span, REASON_ATOMIC_SWAP, dtype_name(lane->t->elem),
               REMARK(0));
        return swap_loop(g, lane);
    }
    LLVMAtomicRMWBinOp code = instruction_of(rmw, dtype_signed(lane->t->elem));
    const char *name = g->target->scopes ? g->target->scopes[scope] : "";
    unsigned id = LLVMGetSyncScopeID(g->context, name, strlen(name));
    LLVMValueRef old = LLVMBuildAtomicRMWSyncScope(g->b, code, lane->p, to_bits(g, lane, lane->x),
                                                   LLVMAtomicOrderingMonotonic, id);
    return from_bits(g, lane, old);
}

// If the mask is false, memory is not accessed, and the old value is 0.
static LLVMValueRef under_mask(Gen *g, const Lane *lane, LLVMValueRef mask) {
    if (!mask) return one_lane(g, lane);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b);
    LLVMBasicBlockRef act = gen_block(g, "atomic"), after = gen_block(g, "end");
    LLVMBuildCondBr(g->b, mask, act, after);
    LLVMPositionBuilderAtEnd(g->b, act);
    LLVMValueRef old = one_lane(g, lane);
    LLVMBasicBlockRef last = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, after);
    LLVMPositionBuilderAtEnd(g->b, after);
    LLVMValueRef phi = LLVMBuildPhi(g->b, LLVMTypeOf(old), "");
    LLVMAddIncoming(phi, (LLVMValueRef[]){old, LLVMConstNull(LLVMTypeOf(old))},
                    (LLVMBasicBlockRef[]){last, before}, 2);
    return phi;
}

// Lane i of an operand, which is a vector or has separate lanes; NULL if it is absent.
static LLVMValueRef lane_of(Gen *g, const IrOp *op, uint32_t operand, uint32_t i) {
    const IrValue *v = ir_operand(op, operand);
    if (!v || g->target->splits_vectors || !v->type->rank)
        return gen_operand_part(g, op, operand, i);
    return LLVMBuildExtractElement(g->b, gen_value(g, v), gen_i32(g, (int32_t)i), "");
}

static void fence(Gen *g, const IrOp *op, bool before) {
    IrOrder order = (IrOrder)ir_attr_int(op, IR_ATTR_ORDER);
    bool acquires = order == IR_ORDER_ACQUIRE || order == IR_ORDER_ACQ_REL;
    bool releases = order == IR_ORDER_RELEASE || order == IR_ORDER_ACQ_REL;
    if (before ? releases : acquires)
        g->target->fence(g, before, (IrScope)ir_attr_int(op, IR_ATTR_SCOPE));
}

void gen_atomic(Gen *g, const IrOp *op) {
    bool cas = op->code == IR_ATOMIC_CAS;
    const IrType *t = op->results[0].type;
    IrType elem = *t;
    elem.rank = 0;
    elem.count = 1;
    Lane lane = {.op = op, .t = &elem};
    lane.bits = LLVMIntTypeInContext(g->context, 8 * (unsigned)dtype_size(t->elem));
    LLVMValueRef *r = arena_new(g->arena, LLVMValueRef, t->count);
    fence(g, op, true);
    for (uint32_t i = 0; i < t->count; i++) {
        lane.p = lane_of(g, op, 0, i);
        lane.expected = cas ? lane_of(g, op, 1, i) : NULL;
        lane.x = lane_of(g, op, cas ? 2 : 1, i);
        r[i] = under_mask(g, &lane, lane_of(g, op, cas ? 3 : 2, i));
    }
    fence(g, op, false);
    gen_define_lanes(g, op, r);
}
