// Compare-and-swap of narrower values than the machine supports: within a wider unit, whose other
// bits stay as they are.
#include "codegen/gpu/gen.h"

typedef struct Part {
    LLVMTypeRef type;                   // of the unit
    LLVMValueRef whole, shift, others;  // its address, the part's place, a mask of the rest
} Part;

static Part part_at(Gen *g, LLVMValueRef p, unsigned unit, unsigned width) {
    LLVMTypeRef wide = gpu_int(g, 64), type = gpu_int(g, unit);
    LLVMValueRef at = LLVMBuildPtrToInt(g->b, p, wide, ""), bytes;
    LLVMTypeRef mask_types[] = {gpu_pointer(g, 0), wide};
    int64_t size = unit / 8;
    bytes = LLVMBuildTrunc(g->b, LLVMBuildAnd(g->b, at, gen_i64(g, size - 1), ""), type, "");
    Part b = {.type = type, .shift = LLVMBuildShl(g->b, bytes, LLVMConstInt(type, 3, false), "")};
    b.whole =
        gen_intrinsic(g, "llvm.ptrmask", 2, mask_types, 2, (LLVMValueRef[]){p, gen_i64(g, -size)});
    LLVMValueRef ones = LLVMConstInt(type, (UINT64_C(1) << width) - 1, false);
    b.others = LLVMBuildNot(g->b, LLVMBuildShl(g->b, ones, b.shift, ""), "");
    return b;
}

static LLVMValueRef placed(Gen *g, const Part *b, LLVMValueRef rest, LLVMValueRef x) {
    LLVMValueRef wide = LLVMBuildZExt(g->b, x, b->type, "");
    return LLVMBuildOr(g->b, rest, LLVMBuildShl(g->b, wide, b->shift, ""), "");
}

// Tries again while only the other bits have changed. They may belong to other programs, so an
// exchange in the scope of this program gets the scope of the device.
LLVMValueRef gpu_swap_within(Gen *g, unsigned unit, GpuSwap *swap, LLVMValueRef p,
                             LLVMValueRef expected, LLVMValueRef x, IrScope scope) {
    if (scope == IR_SCOPE_PROGRAM) scope = IR_SCOPE_DEVICE;
    LLVMTypeRef own = LLVMTypeOf(x);
    Part b = part_at(g, p, unit, LLVMGetIntTypeWidth(own));
    LLVMValueRef first = LLVMBuildLoad2(g->b, b.type, b.whole, "");
    LLVMSetOrdering(first, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(first, unit / 8);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b), loop = gen_block(g, "whole");
    LLVMBasicBlockRef after = gen_block(g, "part");
    LLVMBuildBr(g->b, loop);
    LLVMPositionBuilderAtEnd(g->b, loop);
    LLVMValueRef seen = LLVMBuildPhi(g->b, b.type, "");
    LLVMValueRef rest = LLVMBuildAnd(g->b, seen, b.others, "");
    LLVMValueRef found =
        swap(g, b.whole, placed(g, &b, rest, expected), placed(g, &b, rest, x), scope);
    LLVMValueRef part = LLVMBuildTrunc(g->b, LLVMBuildLShr(g->b, found, b.shift, ""), own, "");
    LLVMValueRef same = LLVMBuildICmp(g->b, LLVMIntEQ, part, expected, "");
    LLVMValueRef other =
        LLVMBuildICmp(g->b, LLVMIntNE, LLVMBuildAnd(g->b, found, b.others, ""), rest, "");
    LLVMAddIncoming(seen, (LLVMValueRef[]){first, found}, (LLVMBasicBlockRef[]){before, loop}, 2);
    LLVMBuildCondBr(g->b, LLVMBuildAnd(g->b, same, other, ""), loop, after);
    LLVMPositionBuilderAtEnd(g->b, after);
    return part;
}
