// The entry: its parameters, the program's place, the body.
#include <stdio.h>

#include "base/gpu_abi.h"
#include "codegen/nvptx/gen.h"

enum { PTX_KERNEL_CONVENTION = 71 };
#define OF_FUNCTION ((LLVMAttributeIndex)LLVMAttributeFunctionIndex)  // the enumerator is negative

// The number of programs for which ptxas must leave registers.
static void ask_for_blocks(GpuGen *n) {
    enum { COUNT_TEXT = 12 };
    char count[COUNT_TEXT];
    // A trade of registers needs to know how many each thread begins with.
    bool trades = nvptx_trades_registers(n->g.func);
    if (n->schedule.strategy != CODEGEN_BLOCKS && !trades) return;
    snprintf(count, sizeof count, "%u", trades ? 1 : n->schedule.count);
    gpu_text_attribute(&n->g, OF_FUNCTION, "nvvm.minctasm", count);
}

static void declare(GpuGen *n, const char *name) {
    Gen *g = &n->g;
    LLVMTypeRef byte = LLVMInt8TypeInContext(g->context);
    uint32_t maps = (uint32_t)g->func->maps.count;
    LLVMTypeRef block = LLVMArrayType2(byte, gpu_params_size(gpu_block_size(g->func), maps));
    LLVMTypeRef p = LLVMPointerTypeInContext(g->context, 0);
    LLVMTypeRef t = LLVMFunctionType(LLVMVoidTypeInContext(g->context), &p, 1, false);
    g->function = LLVMAddFunction(g->module, name, t);
    LLVMSetFunctionCallConv(g->function, PTX_KERNEL_CONVENTION);
    unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
    unsigned align = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAddAttributeAtIndex(g->function, 1, LLVMCreateTypeAttribute(g->context, byval, block));
    LLVMAddAttributeAtIndex(g->function, 1,
                            LLVMCreateEnumAttribute(g->context, align, maps ? GPU_MAP_ALIGN : 16));
    gpu_text_attribute(g, 1, "nvvm.grid_constant", "");
    char threads[16];
    snprintf(threads, sizeof threads, "%u", ir_launch_thread_count(g->func));
    gpu_text_attribute(g, OF_FUNCTION, "nvvm.reqntid", threads);
    ask_for_blocks(n);
    unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
    LLVMAddAttributeAtIndex(g->function, OF_FUNCTION,
                            LLVMCreateEnumAttribute(g->context, nounwind, 0));
}

static LLVMValueRef special(Gen *g, const char *name) {
    LLVMValueRef v = gen_intrinsic(g, name, 0, NULL, 0, NULL);
    return LLVMBuildZExt(g->b, v, LLVMInt64TypeInContext(g->context), "");
}

void nvptx_program_ids(Gen *g) {
    static const char *const places[] = {"llvm.nvvm.read.ptx.sreg.ctaid.x",
                                         "llvm.nvvm.read.ptx.sreg.ctaid.y",
                                         "llvm.nvvm.read.ptx.sreg.ctaid.z"};
    static const char *const grids[] = {"llvm.nvvm.read.ptx.sreg.nctaid.x",
                                        "llvm.nvvm.read.ptx.sreg.nctaid.y",
                                        "llvm.nvvm.read.ptx.sreg.nctaid.z"};
    for (int d = 0; d < 3; d++) {
        g->program_id[d] = special(g, places[d]);
        g->grid[d] = special(g, grids[d]);
    }
}

void nvptx_function(Gen *g, const char *entry) {
    declare(gpu_gen(g), entry);
    gpu_body(gpu_gen(g), LLVMGetParam(g->function, 0));
}
