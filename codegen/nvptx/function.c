// The entry: its parameters, the program's place, the body.
#include <string.h>

#include "base/os.h"
#include "codegen/common/lines.h"
#include "codegen/nvptx/gen.h"

enum { PTX_KERNEL_CONVENTION = 71 };
#define OF_FUNCTION ((LLVMAttributeIndex)LLVMAttributeFunctionIndex)  // an enumerator below zero

static void text_attribute(Gen *g, unsigned index, const char *name, const char *value) {
    LLVMAddAttributeAtIndex(g->function, index,
                            LLVMCreateStringAttribute(g->context, name, (unsigned)strlen(name),
                                                      value, (unsigned)strlen(value)));
}

// Bytes of the block of arguments: known before the parameters are read.
static uint32_t block_size(const IrFunc *f) {
    uint32_t size = 0;
    for (uint32_t i = 0; i < f->params.count; i++) {
        const IrParam *p = &f->params.data[i];
        const IrType *t = p->value->type;
        uint32_t bytes = t->kind == IR_TILE  ? (uint32_t)dtype_size(t->elem)
                         : t->kind == IR_PTR ? 8
                                             : 8 + 8 * t->rank * (p->strided ? 2 : 1);
        uint32_t align = t->kind == IR_TILE ? bytes : 8;
        size = (size + align - 1) / align * align + bytes;
    }
    return (size + 7) / 8 * 8;
}

static void declare(NvptxGen *n, const char *name) {
    Gen *g = &n->g;
    LLVMTypeRef byte = LLVMInt8TypeInContext(g->context);
    LLVMTypeRef block = LLVMArrayType2(byte, block_size(g->func) + 8);
    LLVMTypeRef p = LLVMPointerTypeInContext(g->context, 0);
    LLVMTypeRef t = LLVMFunctionType(LLVMVoidTypeInContext(g->context), &p, 1, false);
    g->function = LLVMAddFunction(g->module, name, t);
    LLVMSetFunctionCallConv(g->function, PTX_KERNEL_CONVENTION);
    unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
    unsigned align = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAddAttributeAtIndex(g->function, 1, LLVMCreateTypeAttribute(g->context, byval, block));
    LLVMAddAttributeAtIndex(g->function, 1, LLVMCreateEnumAttribute(g->context, align, 16));
    text_attribute(g, 1, "nvvm.grid_constant", "");
    char threads[16];
    snprintf(threads, sizeof threads, "%u", ir_thread_count(g->func));
    text_attribute(g, OF_FUNCTION, "nvvm.reqntid", threads);
    unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
    LLVMAddAttributeAtIndex(g->function, OF_FUNCTION,
                            LLVMCreateEnumAttribute(g->context, nounwind, 0));
}

static LLVMValueRef special(Gen *g, const char *name) {
    LLVMValueRef v = gen_intrinsic(g, name, 0, NULL, 0, NULL);
    return LLVMBuildZExt(g->b, v, LLVMInt64TypeInContext(g->context), "");
}

// Arguments lead to global memory.
static void arguments_are_global(Gen *g) {
    for (uint32_t i = 0; i < g->func->params.count; i++) {
        const IrValue *v = g->func->params.data[i].value;
        if (v->type->kind == IR_TILE) continue;
        LLVMValueRef there = nvptx_in_space(g, g->params[i], SPACE_GLOBAL);
        g->params[i] = nvptx_in_space(g, there, 0);
        gen_set(g, v, g->params[i]);
    }
}

void nvptx_function(NvptxGen *n, const char *entry) {
    static const char *const places[] = {"llvm.nvvm.read.ptx.sreg.ctaid.x",
                                         "llvm.nvvm.read.ptx.sreg.ctaid.y",
                                         "llvm.nvvm.read.ptx.sreg.ctaid.z"};
    static const char *const grids[] = {"llvm.nvvm.read.ptx.sreg.nctaid.x",
                                        "llvm.nvvm.read.ptx.sreg.nctaid.y",
                                        "llvm.nvvm.read.ptx.sreg.nctaid.z"};
    Gen *g = &n->g;
    declare(n, entry);
    if (g->lines) lines_function(g->lines, g->b, g->func, g->function);
    LLVMBasicBlockRef start = gen_block(g, "entry");
    n->done = gen_block(g, "done");
    LLVMPositionBuilderAtEnd(g->b, start);
    uint32_t size = gen_arguments(g, LLVMGetParam(g->function, 0));
    CHECK((size + 7) / 8 * 8 == block_size(g->func), "arguments of %u bytes", size);
    LLVMValueRef at = gen_i64(g, block_size(g->func));
    LLVMTypeRef byte = LLVMInt8TypeInContext(g->context);
    LLVMValueRef place = LLVMBuildInBoundsGEP2(g->b, byte, g->block, &at, 1, "");
    n->report = LLVMBuildLoad2(g->b, nvptx_pointer(g, 0), place, "report");
    arguments_are_global(g);
    for (int d = 0; d < 3; d++) {
        g->place[d] = special(g, places[d]);
        g->grid[d] = special(g, grids[d]);
    }
    gen_ops(g, ir_body(g->func));
    LLVMBuildBr(g->b, n->done);
    LLVMPositionBuilderAtEnd(g->b, n->done);
    LLVMBuildRetVoid(g->b);
}
