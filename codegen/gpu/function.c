// The part of an entry that all GPUs share: the block of arguments, the body.
#include <stddef.h>
#include <string.h>

#include "base/gpu_abi.h"
#include "base/os/os.h"
#include "codegen/common/lines.h"
#include "codegen/gpu/gen.h"

LLVMTypeRef gpu_pointer(const Gen *g, unsigned space) {
    return LLVMPointerTypeInContext(g->context, space);
}

LLVMTypeRef gpu_int(const Gen *g, unsigned bits) { return LLVMIntTypeInContext(g->context, bits); }

LLVMValueRef gpu_in_space(Gen *g, LLVMValueRef p, unsigned space) {
    return LLVMBuildAddrSpaceCast(g->b, p, gpu_pointer(g, space), "");
}

unsigned gpu_space_of(LLVMValueRef p) {
    for (;;) {
        bool constant = LLVMIsAConstantExpr(p) != NULL;
        if (!constant && !LLVMIsAInstruction(p)) return 0;
        LLVMOpcode code = constant ? LLVMGetConstOpcode(p) : LLVMGetInstructionOpcode(p);
        if (code != LLVMGetElementPtr && code != LLVMAddrSpaceCast) return 0;
        p = LLVMGetOperand(p, 0);
        unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(p));
        if (space == SPACE_GLOBAL || space == SPACE_SHARED) return space;
    }
}

void gpu_text_attribute(Gen *g, unsigned index, const char *name, const char *value) {
    LLVMAddAttributeAtIndex(g->function, index,
                            LLVMCreateStringAttribute(g->context, name, (unsigned)strlen(name),
                                                      value, (unsigned)strlen(value)));
}

uint32_t gpu_block_size(const IrFunc *f) {
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

void gpu_thread_id(Gen *g, const IrOp *op) {
    const GpuOps *ops = gpu_gen(g)->ops;
    LLVMValueRef v = ops->thread_id(g);
    if (ir_attr_int(op, IR_ATTR_AGAIN) && ops->rematerialized) v = ops->rematerialized(g, v);
    unsigned kind = LLVMGetEnumAttributeKindForName("range", 5);
    uint64_t from = gpu_gen(g)->first_thread, to = ir_launch_thread_count(g->func);
    if (!from) to = ir_thread_count(g->func);
    LLVMAddCallSiteAttribute(v, 0,
                             LLVMCreateConstantRangeAttribute(g->context, kind, 32, &from, &to));
    if (from) v = LLVMBuildSub(g->b, v, gen_i32(g, (int32_t)from), "");
    gen_define(g, op, v);
}

// Pointers in arguments lead to global memory.
static void arguments_are_global(Gen *g) {
    for (uint32_t i = 0; i < g->func->params.count; i++) {
        const IrValue *v = g->func->params.data[i].value;
        if (v->type->kind == IR_TILE) continue;
        LLVMValueRef there = gpu_in_space(g, g->params[i], SPACE_GLOBAL);
        g->params[i] = gpu_in_space(g, there, 0);
        gen_set(g, v, g->params[i]);
    }
}

// A plane of the grid (dimensions 0 and 1), and the number in it of the program that runs.
typedef struct Plane {
    LLVMValueRef rows, columns, number;  // i32: a launch has less than 2^32 programs
} Plane;

static Plane plane_of(Gen *g) {
    LLVMTypeRef word = gpu_int(g, 32);
    Plane p = {.rows = LLVMBuildTrunc(g->b, g->grid[0], word, ""),
               .columns = LLVMBuildTrunc(g->b, g->grid[1], word, "")};
    LLVMValueRef x = LLVMBuildTrunc(g->b, g->program_id[0], word, "");
    LLVMValueRef y = LLVMBuildTrunc(g->b, g->program_id[1], word, "");
    p.number = LLVMBuildAdd(g->b, LLVMBuildMul(g->b, y, p.rows, ""), x, "");
    return p;
}

// The hardware deals programs to chiplets in rotation. Each chiplet gets a contiguous range of
// programs: the i-th program on chiplet c takes the i-th number after the ranges of the chiplets
// before it. The first count % chiplets ranges have one more program.
static LLVMValueRef by_chiplet(Gen *g, const Plane *p) {
    LLVMTypeRef word = gpu_int(g, 32);
    LLVMValueRef chiplets = gen_i32(g, g->func->chiplets);
    LLVMValueRef count = LLVMBuildMul(g->b, p->rows, p->columns, "");
    LLVMValueRef each = LLVMBuildUDiv(g->b, count, chiplets, "");
    LLVMValueRef more = LLVMBuildURem(g->b, count, chiplets, "");
    LLVMValueRef rotation = LLVMBuildUDiv(g->b, p->number, chiplets, "");
    LLVMValueRef c = LLVMBuildURem(g->b, p->number, chiplets, "");
    LLVMValueRef before = gen_intrinsic(g, "llvm.umin", 1, &word, 2, (LLVMValueRef[]){c, more});
    before = LLVMBuildAdd(g->b, LLVMBuildMul(g->b, c, each, ""), before, "");
    return LLVMBuildAdd(g->b, before, rotation, "");
}

// Sets the place from the number. Programs run in groups of func->group along dimension 0; within a
// group dimension 0 varies fastest, then dimension 1. 0: all of dimension 0 is one group.
static void place_in(Gen *g, const Plane *p) {
    LLVMTypeRef word = gpu_int(g, 32);
    LLVMValueRef row, column;
    if (g->func->group) {
        LLVMValueRef most = gen_i32(g, g->func->group);
        LLVMValueRef span = LLVMBuildMul(g->b, most, p->columns, "");
        LLVMValueRef group = LLVMBuildUDiv(g->b, p->number, span, "");
        LLVMValueRef rest = LLVMBuildSub(g->b, p->number, LLVMBuildMul(g->b, group, span, ""), "");
        LLVMValueRef first = LLVMBuildMul(g->b, group, most, "");
        LLVMValueRef left = LLVMBuildSub(g->b, p->rows, first, "");
        LLVMValueRef height =
            gen_intrinsic(g, "llvm.umin", 1, &word, 2, (LLVMValueRef[]){left, most});
        column = LLVMBuildUDiv(g->b, rest, height, "");
        LLVMValueRef within = LLVMBuildSub(g->b, rest, LLVMBuildMul(g->b, column, height, ""), "");
        row = LLVMBuildAdd(g->b, first, within, "");
    } else {
        column = LLVMBuildUDiv(g->b, p->number, p->rows, "");
        row = LLVMBuildSub(g->b, p->number, LLVMBuildMul(g->b, column, p->rows, ""), "");
    }
    g->program_id[0] = LLVMBuildZExt(g->b, row, gpu_int(g, 64), "");
    g->program_id[1] = LLVMBuildZExt(g->b, column, gpu_int(g, 64), "");
}

static bool has_chiplets(Gen *g) { return g->func->chiplets > 1 && gpu_gen(g)->machine.chiplets; }

bool gpu_reorders_programs(Gen *g) { return g->func->group || has_chiplets(g); }

// Replaces this program's place by that of the program to run here.
static void renumber(Gen *g) {
    Plane p = plane_of(g);
    if (has_chiplets(g)) p.number = by_chiplet(g, &p);
    place_in(g, &p);
}

// A word of the GpuTail, which follows the arguments.
static LLVMValueRef tail_word(Gen *g, LLVMTypeRef type, size_t offset) {
    LLVMValueRef at = gen_i64(g, gpu_block_size(g->func) + (int64_t)offset);
    LLVMValueRef place = LLVMBuildInBoundsGEP2(g->b, gpu_int(g, 8), g->block, &at, 1, "");
    return LLVMBuildLoad2(g->b, type, place, "");
}

void gpu_body(GpuGen *n, LLVMValueRef block) {
    Gen *g = &n->g;
    if (g->lines) lines_function(g->lines, g->b, g->func, g->function);
    LLVMBasicBlockRef start = gen_block(g, "entry");
    n->done = gen_block(g, "done");
    LLVMPositionBuilderAtEnd(g->b, start);
    uint32_t size = gen_arguments(g, block);
    CHECK((size + 7) / 8 * 8 == gpu_block_size(g->func), "arguments of %u bytes", size);
    n->report = tail_word(g, gpu_pointer(g, 0), offsetof(GpuTail, report));
    n->launch = tail_word(g, gpu_int(g, 64), offsetof(GpuTail, launch));
    arguments_are_global(g);
    n->ops->program_ids(g);
    if (gpu_reorders_programs(g)) renumber(g);
    if (n->ops->body)
        n->ops->body(g);
    else
        gen_ops(g, ir_body(g->func));
    LLVMBuildBr(g->b, n->done);
    LLVMPositionBuilderAtEnd(g->b, n->done);
    LLVMBuildRetVoid(g->b);
    gpu_rewrite_min_max(n);
}

static void max_shared(const IrBlock *block, uint64_t *most) {
    for (const IrOp *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->region_count; i++) max_shared(op->regions[i], most);
        if (op->code != IR_THREAD_SHARED) continue;
        uint64_t end =
            (uint64_t)ir_attr_int(op, IR_ATTR_PLACE) +
            (uint64_t)ir_attr_int(op, IR_ATTR_COUNT) * dtype_size(op->results[0].type->elem);
        if (end > *most) *most = end;
    }
}

uint32_t gpu_shared_size(const IrFunc *f) {
    uint64_t most = 0;
    max_shared(ir_body(f), &most);
    return (uint32_t)(most + 15) / 16 * 16;
}
