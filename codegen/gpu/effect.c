// What reaches the host through the report (base/gpu_abi.h): failed asserts, prints.
#include <stddef.h>

#include "base/gpu_abi.h"
#include "base/os.h"
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

// The lane is the same in all threads: the program ends as one.
static void fail(Gen *g, const IrOp *op) {
    LLVMValueRef lane = gen_operand(g, op, 0), report = gpu_gen(g)->report;
    LLVMBasicBlockRef failed = gen_block(g, "failed"), holds = gen_block(g, "holds");
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, LLVMIntSGE, lane, gen_i64(g, 0), ""), failed, holds);
    LLVMPositionBuilderAtEnd(g->b, failed);
    LLVMBasicBlockRef first = gen_block(g, "first"), claim = gen_block(g, "claim");
    LLVMBuildCondBr(g->b, is_first_thread(g), claim, gpu_gen(g)->done);
    LLVMPositionBuilderAtEnd(g->b, claim);
    LLVMValueRef site = gen_i32(g, (int32_t)ir_attr_int(op, IR_ATTR_SITE) + 1);
    LLVMValueRef pair =
        LLVMBuildAtomicCmpXchg(g->b, report, gen_i32(g, 0), site, LLVMAtomicOrderingMonotonic,
                               LLVMAtomicOrderingMonotonic, false);
    LLVMBuildCondBr(g->b, LLVMBuildExtractValue(g->b, pair, 1, ""), first, gpu_gen(g)->done);
    LLVMPositionBuilderAtEnd(g->b, first);
    for (size_t d = 0; d < 3; d++) put(g, report, offsetof(GpuReport, place) + 8 * d, g->place[d]);
    put(g, report, offsetof(GpuReport, lane), lane);
    LLVMBuildBr(g->b, gpu_gen(g)->done);
    LLVMPositionBuilderAtEnd(g->b, holds);
}

// ---- print --------------------------------------------------------------------------------------

// Bytes of a printed value: its extents follow its rank, which *shape leads to.
static uint64_t value_bytes(Dtype elem, const int64_t **shape) {
    uint64_t bytes = dtype_size(elem);
    int64_t rank = *(*shape)++;
    for (int64_t d = 0; d < rank; d++) bytes *= (uint64_t) * (*shape)++;
    return bytes;
}

static uint64_t whole_words(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

// Where `size` bytes of the report are this thread's; in `taken`, reached if there is room.
static LLVMValueRef claim_record(Gen *g, uint64_t size, LLVMBasicBlockRef taken,
                                 LLVMBasicBlockRef full) {
    LLVMTypeRef wide = LLVMInt64TypeInContext(g->context);
    LLVMTypeRef byte = LLVMInt8TypeInContext(g->context);
    LLVMValueRef report = gpu_gen(g)->report, bytes = gen_i64(g, (int64_t)size);
    LLVMValueRef at = LLVMBuildAtomicRMW(g->b, LLVMAtomicRMWBinOpAdd,
                                         place_at(g, report, offsetof(GpuReport, used)), bytes,
                                         LLVMAtomicOrderingMonotonic, false);
    LLVMValueRef room =
        LLVMBuildLoad2(g->b, wide, place_at(g, report, offsetof(GpuReport, room)), "");
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
    for (size_t d = 0; d < 3; d++) put(g, record, offsetof(GpuRecord, place) + 8 * d, g->place[d]);
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
    if (op->code == IR_CPU_ASSERT) fail(g, op);
    if (op->code == IR_CPU_PRINT) print(g, op);
}
