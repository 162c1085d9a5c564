// Effects that reach the host through the report (base/gpu_abi.h): failed asserts, prints.
#include <stddef.h>

#include "base/gpu_abi.h"
#include "base/os/os.h"
#include "codegen/gpu/gen.h"

static LLVMValueRef place_at(Gen *g, LLVMValueRef base, int64_t offset) {
    LLVMValueRef at = gen_i64(g, offset);
    return LLVMBuildInBoundsGEP2(g->b, LLVMInt8TypeInContext(g->context), base, &at, 1, "");
}

static void put(Gen *g, LLVMValueRef base, size_t offset, LLVMValueRef value) {
    LLVMValueRef store = LLVMBuildStore(g->b, value, place_at(g, base, (int64_t)offset));
    LLVMSetAlignment(store, offset % 8 ? 4 : 8);
}

static LLVMValueRef is_first_thread(Gen *g) {
    LLVMValueRef thread = gpu_gen(g)->ops->thread_id(g);
    return LLVMBuildICmp(g->b, LLVMIntEQ, thread, gen_i32(g, 0), "");
}

// Continues in programs of the first launch that failed only; the first of these writes the grid.
static void claim_launch(Gen *g) {
    LLVMValueRef report = gpu_gen(g)->report, launch = gpu_gen(g)->launch;
    LLVMBasicBlockRef first = gen_block(g, "first"), other = gen_block(g, "other");
    LLVMBasicBlockRef ours = gen_block(g, "ours");
    LLVMValueRef pair =
        LLVMBuildAtomicCmpXchg(g->b, report, gen_i64(g, 0), launch, LLVMAtomicOrderingMonotonic,
                               LLVMAtomicOrderingMonotonic, false);
    LLVMBuildCondBr(g->b, LLVMBuildExtractValue(g->b, pair, 1, ""), first, other);
    LLVMPositionBuilderAtEnd(g->b, first);
    put(g, report, offsetof(GpuReport, rows), g->grid[0]);
    put(g, report, offsetof(GpuReport, columns), g->grid[1]);
    LLVMBuildBr(g->b, ours);
    LLVMPositionBuilderAtEnd(g->b, other);
    LLVMValueRef found = LLVMBuildExtractValue(g->b, pair, 0, "");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntEQ, found, launch, ""), ours,
                    gpu_gen(g)->done);
    LLVMPositionBuilderAtEnd(g->b, ours);
}

static LLVMValueRef program_number(Gen *g) {
    LLVMValueRef n = LLVMBuildMul(g->b, g->program_id[2], g->grid[1], "");
    n = LLVMBuildMul(g->b, LLVMBuildAdd(g->b, n, g->program_id[1], ""), g->grid[0], "");
    return LLVMBuildAdd(g->b, n, g->program_id[0], "");
}

// An atomic minimum by compare-and-swap: the report is in host memory, and the bus does not support
// a suitable atomic minimum.
static void atomic_min(Gen *g, LLVMValueRef at, LLVMValueRef value) {
    LLVMTypeRef wide = LLVMInt64TypeInContext(g->context);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b), loop = gen_block(g, "least");
    LLVMBasicBlockRef again = gen_block(g, "again"), after = gen_block(g, "told");
    LLVMBuildBr(g->b, loop);
    LLVMPositionBuilderAtEnd(g->b, loop);
    LLVMValueRef seen = LLVMBuildPhi(g->b, wide, "");
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(g->b, at, seen, value, LLVMAtomicOrderingMonotonic,
                                               LLVMAtomicOrderingMonotonic, false);
    LLVMBuildCondBr(g->b, LLVMBuildExtractValue(g->b, pair, 1, ""), after, again);
    LLVMPositionBuilderAtEnd(g->b, again);
    LLVMValueRef found = LLVMBuildExtractValue(g->b, pair, 0, "");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntUGT, found, value, ""), loop, after);
    LLVMAddIncoming(seen, (LLVMValueRef[]){gen_i64(g, -1), found},
                    (LLVMBasicBlockRef[]){before, again}, 2);
    LLVMPositionBuilderAtEnd(g->b, after);
}

// In each piece the lowest-numbered program wins: base/gpu_abi.h.
static void leave_failure(Gen *g, LLVMValueRef what) {
    LLVMValueRef report = gpu_gen(g)->report, bits = gen_i64(g, GPU_PIECE_BITS);
    LLVMValueRef program = LLVMBuildShl(g->b, program_number(g), bits, "");
    for (size_t i = 0; i < GPU_PIECES; i++) {
        LLVMValueRef piece = LLVMBuildAnd(g->b, what, gen_i64(g, (1 << GPU_PIECE_BITS) - 1), "");
        atomic_min(g, place_at(g, report, (int64_t)(offsetof(GpuReport, lowest) + 8 * i)),
                   LLVMBuildOr(g->b, program, piece, ""));
        what = LLVMBuildLShr(g->b, what, bits, "");
    }
}

// All asserts share one block; the phi says which failed.
static LLVMBasicBlockRef failure_block(Gen *g) {
    GpuGen *n = gpu_gen(g);
    if (n->failure) return n->failure;
    LLVMBasicBlockRef from = LLVMGetInsertBlock(g->b), claim = gen_block(g, "claim");
    n->failure = gen_block(g, "failure");
    LLVMPositionBuilderAtEnd(g->b, n->failure);
    n->failed = LLVMBuildPhi(g->b, LLVMInt64TypeInContext(g->context), "");
    LLVMBuildCondBr(g->b, is_first_thread(g), claim, n->done);
    LLVMPositionBuilderAtEnd(g->b, claim);
    claim_launch(g);
    leave_failure(g, n->failed);
    LLVMBuildBr(g->b, n->done);
    LLVMPositionBuilderAtEnd(g->b, from);
    return n->failure;
}

// The lane is the same in all threads, so all threads of the program end.
static void fail(Gen *g, const IrOp *op) {
    LLVMValueRef lane = gen_operand(g, op, 0);
    LLVMValueRef site = gen_i64(g, ir_attr_int(op, IR_ATTR_SITE) << GPU_LANE_BITS);
    LLVMBasicBlockRef failure = failure_block(g), holds = gen_block(g, "holds");
    LLVMValueRef what = LLVMBuildOr(g->b, lane, site, "");
    LLVMAddIncoming(gpu_gen(g)->failed, &what, (LLVMBasicBlockRef[]){LLVMGetInsertBlock(g->b)}, 1);
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntSGE, lane, gen_i64(g, 0), ""), failure, holds);
    LLVMPositionBuilderAtEnd(g->b, holds);
}

// ---- print --------------------------------------------------------------------------------------

// The bytes of a printed value. *shape points to its rank, and its extents follow.
static uint64_t value_bytes(Dtype elem, const int64_t **shape) {
    uint64_t bytes = dtype_size(elem);
    int64_t rank = *(*shape)++;
    for (int64_t d = 0; d < rank; d++) bytes *= (uint64_t) * (*shape)++;
    return bytes;
}

static uint64_t whole_words(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

// Reserves `size` bytes of the report for this thread. The result is valid in `taken`, which is
// reached if there is room.
static LLVMValueRef claim_record(Gen *g, uint64_t size, LLVMBasicBlockRef taken,
                                 LLVMBasicBlockRef full) {
    LLVMTypeRef wide = LLVMInt64TypeInContext(g->context);
    LLVMTypeRef byte = LLVMInt8TypeInContext(g->context);
    LLVMValueRef report = gpu_gen(g)->report, bytes = gen_i64(g, (int64_t)size);
    LLVMValueRef at = LLVMBuildAtomicRMW(g->b, LLVMAtomicRMWBinOpAdd,
                                         place_at(g, report, offsetof(GpuReport, used)), bytes,
                                         LLVMAtomicOrderingMonotonic, false);
    LLVMValueRef room =
        LLVMBuildLoad2(g->b, wide, place_at(g, report, offsetof(GpuReport, capacity)), "");
    LLVMValueRef end = LLVMBuildAdd(g->b, at, bytes, "");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntULE, end, room, ""), taken, full);
    LLVMPositionBuilderAtEnd(g->b, taken);
    LLVMValueRef first = place_at(g, report, sizeof(GpuReport));
    return LLVMBuildInBoundsGEP2(g->b, byte, first, &at, 1, "");
}

static void print(Gen *g, const IrOp *op) {
    const int64_t *shape = ir_attr(op, IR_ATTR_SELECT)->u.ints.items;
    uint64_t size = sizeof(GpuRecord);
    for (uint32_t i = 0; i < op->operand_count; i++)
        size += whole_words(value_bytes(ir_operand(op, i)->type->elem, &shape));
    LLVMBasicBlockRef claim = gen_block(g, "print"), taken = gen_block(g, "taken");
    LLVMBasicBlockRef after = gen_block(g, "printed");
    LLVMBuildCondBr(g->b, is_first_thread(g), claim, after);
    LLVMPositionBuilderAtEnd(g->b, claim);
    LLVMValueRef record = claim_record(g, size, taken, after);
    put(g, record, offsetof(GpuRecord, site), gen_i32(g, (int32_t)ir_attr_int(op, IR_ATTR_SITE)));
    put(g, record, offsetof(GpuRecord, bytes), gen_i32(g, (int32_t)size));
    for (size_t d = 0; d < 3; d++)
        put(g, record, offsetof(GpuRecord, place) + 8 * d, g->program_id[d]);
    shape = ir_attr(op, IR_ATTR_SELECT)->u.ints.items;
    uint64_t at = sizeof(GpuRecord);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        Dtype elem = ir_operand(op, i)->type->elem;
        uint64_t bytes = value_bytes(elem, &shape);
        LLVMBuildMemCpy(g->b, place_at(g, record, (int64_t)at), 8, gen_operand(g, op, i),
                        (unsigned)dtype_size(elem), gen_i64(g, (int64_t)bytes));
        at += whole_words(bytes);
    }
    LLVMBuildBr(g->b, after);
    LLVMPositionBuilderAtEnd(g->b, after);
}

void gpu_effect(Gen *g, const IrOp *op) {
    if (op->code == IR_VEC_ASSERT) fail(g, op);
    if (op->code == IR_VEC_PRINT) print(g, op);
}
