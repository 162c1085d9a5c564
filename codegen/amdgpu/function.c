// The entry: its parameters, the program's place, the metadata that loaders read.
#include <stdio.h>
#include <string.h>

#include "base/gpu_abi.h"
#include "codegen/amdgpu/gen.h"

enum { KERNEL_CONVENTION = 91 };
#define OF_FUNCTION ((LLVMAttributeIndex)LLVMAttributeFunctionIndex)  // the enumerator is negative

static void enum_attribute(Gen *g, unsigned index, const char *name, uint64_t value) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(g->function, index, LLVMCreateEnumAttribute(g->context, kind, value));
}

// The number of threads in each program, which a loader checks.
static void required_size(Gen *g, uint32_t threads) {
    static const char name[] = "reqd_work_group_size";
    LLVMMetadataRef size[3];
    for (int d = 0; d < 3; d++) size[d] = LLVMValueAsMetadata(gen_i32(g, d ? 1 : (int32_t)threads));
    unsigned kind = LLVMGetMDKindIDInContext(g->context, name, sizeof name - 1);
    LLVMGlobalSetMetadata(g->function, kind, LLVMMDNodeInContext2(g->context, size, 3));
}

// All arguments are one block, passed by reference, where the hardware has the kernel arguments.
static void declare(GpuGen *n, const char *name) {
    Gen *g = &n->g;
    LLVMTypeRef block = LLVMArrayType2(gpu_int(g, 8), gpu_block_size(g->func) + sizeof(GpuTail));
    LLVMTypeRef p = gpu_pointer(g, SPACE_CONSTANT);
    LLVMTypeRef t = LLVMFunctionType(LLVMVoidTypeInContext(g->context), &p, 1, false);
    g->function = LLVMAddFunction(g->module, name, t);
    LLVMSetFunctionCallConv(g->function, KERNEL_CONVENTION);
    LLVMSetVisibility(g->function, LLVMProtectedVisibility);
    unsigned byref = LLVMGetEnumAttributeKindForName("byref", 5);
    LLVMAddAttributeAtIndex(g->function, 1, LLVMCreateTypeAttribute(g->context, byref, block));
    enum_attribute(g, 1, "align", 16);
    enum_attribute(g, OF_FUNCTION, "nounwind", 0);
    uint32_t threads = ir_thread_count(g->func);
    char range[32];
    snprintf(range, sizeof range, "%u,%u", threads, threads);
    gpu_text_attribute(g, OF_FUNCTION, "amdgpu-flat-work-group-size", range);
    gpu_text_attribute(g, OF_FUNCTION, "uniform-work-group-size", "true");
    gpu_text_attribute(g, OF_FUNCTION, "amdgpu-ieee", "false");
    amdgpu_schedule(g);
    required_size(g, threads);
}

LLVMValueRef amdgpu_thread_id(Gen *g) {
    return gen_intrinsic(g, "llvm.amdgcn.workitem.id.x", 0, NULL, 0, NULL);
}

// The dispatch packet counts threads, and all programs have the same number of threads.
static LLVMValueRef programs(Gen *g, LLVMValueRef packet, int d) {
    enum { GRID_SIZES = 12 };
    LLVMValueRef at = gen_i64(g, GRID_SIZES + 4 * d), count;
    LLVMValueRef p = LLVMBuildInBoundsGEP2(g->b, gpu_int(g, 8), packet, &at, 1, "");
    count = LLVMBuildLoad2(g->b, gpu_int(g, 32), p, "");
    LLVMSetAlignment(count, 4);
    LLVMMetadataRef none = LLVMMDNodeInContext2(g->context, NULL, 0);
    LLVMSetMetadata(count, g->kinds.invariant, LLVMMetadataAsValue(g->context, none));
    if (!d) {
        int32_t threads = (int32_t)ir_thread_count(g->func);
        count = LLVMBuildUDiv(g->b, count, gen_i32(g, threads), "");
    }
    return LLVMBuildZExt(g->b, count, gpu_int(g, 64), "");
}

// A failed assert reports the grid.
static bool asks_for_programs(const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        if (op->code == IR_PROGRAMS || op->code == IR_VEC_ASSERT) return true;
        for (uint32_t i = 0; i < op->region_count; i++)
            if (asks_for_programs(op->regions[i])) return true;
    }
    return false;
}

void amdgpu_program_ids(Gen *g) {
    static const char *const places[] = {"llvm.amdgcn.workgroup.id.x", "llvm.amdgcn.workgroup.id.y",
                                         "llvm.amdgcn.workgroup.id.z"};
    LLVMValueRef packet = NULL;
    if (gpu_reorders_programs(g) || asks_for_programs(ir_body(g->func)))
        packet = gen_intrinsic(g, "llvm.amdgcn.dispatch.ptr", 0, NULL, 0, NULL);
    for (int d = 0; d < 3; d++) {
        LLVMValueRef place = gen_intrinsic(g, places[d], 0, NULL, 0, NULL);
        g->program_id[d] = LLVMBuildZExt(g->b, place, gpu_int(g, 64), "");
        g->grid[d] = packet ? programs(g, packet, d) : NULL;
    }
}

// A global in shared memory; its size is part of the size that the loader reads.
static LLVMValueRef in_shared(Gen *g, const char *name, uint32_t size) {
    enum { ALIGN = 16 };
    LLVMTypeRef bytes = LLVMArrayType2(gpu_int(g, 8), size);
    LLVMValueRef v = LLVMAddGlobalInAddressSpace(g->module, bytes, name, SPACE_SHARED);
    LLVMSetLinkage(v, LLVMInternalLinkage);
    LLVMSetInitializer(v, LLVMGetPoison(bytes));
    LLVMSetAlignment(v, ALIGN);
    return v;
}

LLVMValueRef amdgpu_shared_memory(Gen *g) {
    GpuGen *n = gpu_gen(g);
    if (!n->shared) n->shared = in_shared(g, "tilec_shared", gpu_shared_size(g->func));
    return n->shared;
}

LLVMValueRef amdgpu_exchange_words(Gen *g) {
    static const char name[] = "tilec_exchange";
    LLVMValueRef v = LLVMGetNamedGlobal(g->module, name);
    return v ? v : in_shared(g, name, ir_thread_count(g->func) * 4);
}

// Atomics access memory of this device only. Without these notes LLVM avoids the instructions for
// minimum, maximum and bits, because the bus does not support them, and makes a loop that begins
// with a plain load.
static void atomics_are_local(Gen *g) {
    static const char *const notes[] = {"amdgpu.no.fine.grained.memory", "amdgpu.no.remote.memory"};
    LLVMMetadataRef none = LLVMMDNodeInContext2(g->context, NULL, 0);
    LLVMValueRef empty = LLVMMetadataAsValue(g->context, none);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(g->function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef v = LLVMGetFirstInstruction(b); v; v = LLVMGetNextInstruction(v))
            for (size_t i = 0; LLVMIsAAtomicRMWInst(v) && i < 2; i++) {
                unsigned kind =
                    LLVMGetMDKindIDInContext(g->context, notes[i], (unsigned)strlen(notes[i]));
                LLVMSetMetadata(v, kind, empty);
            }
}

void amdgpu_function(Gen *g, const char *entry) {
    GpuGen *n = gpu_gen(g);
    declare(n, entry);
    amdgpu_find_copies(n);
    gpu_body(n, LLVMGetParam(g->function, 0));
    if (n->copies) amdgpu_copy_scopes(g);
    atomics_are_local(g);
    amdgpu_wait_at_latches(g);
}
