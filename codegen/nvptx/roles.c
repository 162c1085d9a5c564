// Kernels with warps that only begin copies (the option `producers`). The IR says what a program
// does in sequence. Here it becomes two bodies, and each warp executes one of them:
//
//     the program's warps: every op but those marked `producer`
//     the producer's:      those, and what they depend on: addresses, bounds, conditions
//
// The first warp of the producers does it; others only give up their registers, which four warps
// can do (setmaxnreg). Barriers marked `producer` are in both. The pass gpu_pipeline marks only
// copies whose addresses follow from the arguments, so the producer's part has neither products nor
// shared memory's values.
#include "base/os/os.h"
#include "codegen/nvptx/gen.h"

typedef struct WarpRoles {
    bool *others;  // by op id: not the producer's
    bool *own;     // by op id: only the producer's
    bool *needed;  // by value id: the producer needs it
} WarpRoles;

static bool is_marked(const IrOp *op) {
    switch (op->code) {
    case IR_THREAD_BARRIER:
    case IR_THREAD_MBARRIER_EXPECT:
    case IR_THREAD_MBARRIER_WAIT:
    case IR_THREAD_TMA_LOAD: return ir_attr_int(op, IR_ATTR_PRODUCER) != 0;
    default: return false;
    }
}

static void mark_value_needed(WarpRoles *r, const IrValue *v);
static void mark_carried_needed(WarpRoles *r, const IrOp *loop, uint32_t i);

// An op runs where all around it runs, as often as that does.
static void mark_needed(WarpRoles *r, const IrOp *op) {
    if (!r->others[op->id]) return;
    r->others[op->id] = false;
    const IrOp *around = op->block->parent;
    if (around) mark_needed(r, around);
    bool loop = op->code == IR_FOR, branch = op->code == IR_IF;
    bool plain = is_marked(op) || ir_op_info(op->code)->effect == IR_EFFECT_PURE ||
                 op->code == IR_THREAD_SHARED;
    CHECK(loop || branch || (plain && !op->region_count), "a producer cannot execute %s",
          ir_op_info(op->code)->text);
    // The values that a loop carries are needed where they are used.
    uint32_t count = loop ? 3 : branch ? 1 : op->operand_count;
    for (uint32_t i = 0; i < count; i++) mark_value_needed(r, ir_operand(op, i));
    if (loop && ir_attr_int(op, IR_ATTR_EXIT)) mark_carried_needed(r, op, 0);
}

static void mark_carried_needed(WarpRoles *r, const IrOp *loop, uint32_t i) {
    CHECK(loop->code == IR_FOR, "a producer cannot execute %s", ir_op_info(loop->code)->text);
    mark_value_needed(r, ir_operand(loop, i + 3));
    mark_value_needed(r, ir_operand(loop->regions[0]->last, i));
}

static void mark_value_needed(WarpRoles *r, const IrValue *v) {
    if (!v || r->needed[v->id]) return;
    r->needed[v->id] = true;
    if (v->def) {
        mark_needed(r, v->def);
        if (v->def->code == IR_FOR) mark_carried_needed(r, v->def, v->index);
        for (uint32_t k = 0; v->def->code == IR_IF && k < 2; k++)
            mark_value_needed(r, ir_operand(v->def->regions[k]->last, v->index));
    } else if (v->block && v->block->parent) {
        mark_needed(r, v->block->parent);
        if (v->index) mark_carried_needed(r, v->block->parent, v->index - 1);
    }
}

static void find_roles(WarpRoles *r, const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        r->own[op->id] = is_marked(op) && op->code != IR_THREAD_BARRIER;
        if (is_marked(op)) mark_needed(r, op);
        for (uint32_t i = 0; i < op->region_count; i++) find_roles(r, op->regions[i]);
    }
}

// The last barrier of all warps, if there is one in the body itself.
static const IrOp *last_barrier(const IrBlock *body) {
    const IrOp *last = NULL;
    for (const IrOp *op = body->first; op; op = op->next)
        if (op->code == IR_THREAD_BARRIER && is_marked(op)) last = op;
    return last;
}

static void translate(Gen *g, const bool *left_out, uint32_t first_thread) {
    GpuGen *n = gpu_gen(g);
    g->skipped = left_out;
    n->first_thread = first_thread;
    n->leader_only_after = first_thread ? last_barrier(ir_body(g->func)) : NULL;
    n->leader = NULL;
    gen_ops(g, ir_body(g->func));
}

// ptxas knows that all lanes branch alike, and so keeps what they share in uniform registers, if
// the warp's number comes from one lane.
static LLVMValueRef warp_number(Gen *g) {
    enum { LANE_BITS = 5, WARP_MASK = 31 };
    LLVMValueRef id = gpu_gen(g)->ops->thread_id(g);
    LLVMValueRef warp = LLVMBuildLShr(g->b, id, gen_i32(g, LANE_BITS), "");
    LLVMValueRef x[] = {gen_i32(g, -1), warp, gen_i32(g, 0), gen_i32(g, WARP_MASK)};
    return gen_intrinsic(g, "llvm.nvvm.shfl.sync.idx.i32", 0, NULL, 4, x);
}

// Goes on in `yes` or `no`.
static void branch(Gen *g, LLVMIntPredicate p, LLVMValueRef a, int b, LLVMBasicBlockRef yes,
                   LLVMBasicBlockRef no) {
    LLVMBuildCondBr(g->b, LLVMBuildICmp(g->b, p, a, gen_i32(g, b), ""), yes, no);
}

// The first thread goes on: what it does needs no branch around what one thread does.
void nvptx_continue_as_leader(Gen *g) {
    LLVMBasicBlockRef alone = gen_block(g, "alone");
    branch(g, LLVMIntEQ, nvptx_ops.thread_id(g), (int)gpu_gen(g)->first_thread, alone,
           gpu_gen(g)->done);
    LLVMPositionBuilderAtEnd(g->b, alone);
}

bool nvptx_trades_registers(const IrFunc *f) {
    enum { GROUP = 4 };
    return f->producers == GROUP && f->warps == 2 * GROUP;
}

// Twelve warps share 64 K registers: each thread begins with 168.
static void trade_registers(Gen *g, bool give) {
    enum { PRODUCER = 40, PROGRAM = 232 };
    if (!nvptx_trades_registers(g->func)) return;
    LLVMValueRef count = gen_i32(g, give ? PRODUCER : PROGRAM);
    gen_intrinsic(g,
                  give ? "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32"
                       : "llvm.nvvm.setmaxnreg.inc.sync.aligned.u32",
                  0, NULL, 1, &count);
}

void nvptx_specialize_warps(Gen *g) {
    if (!g->func->producers) {
        gen_ops(g, ir_body(g->func));
        return;
    }
    WarpRoles r = {.others = arena_new(g->arena, bool, g->func->op_count),
                   .own = arena_new(g->arena, bool, g->func->op_count),
                   .needed = arena_new(g->arena, bool, g->func->value_count)};
    for (uint32_t i = 0; i < g->func->op_count; i++) r.others[i] = true;
    find_roles(&r, ir_body(g->func));
    LLVMBasicBlockRef producers = gen_block(g, "producers"), copies = gen_block(g, "copies");
    LLVMBasicBlockRef program = gen_block(g, "program"), done = gpu_gen(g)->done;
    LLVMValueRef warp = warp_number(g);
    branch(g, LLVMIntUGE, warp, g->func->warps, producers, program);
    LLVMPositionBuilderAtEnd(g->b, producers);
    trade_registers(g, true);
    branch(g, LLVMIntEQ, warp, g->func->warps, copies, done);
    LLVMPositionBuilderAtEnd(g->b, copies);
    translate(g, r.others, ir_thread_count(g->func));
    LLVMBuildBr(g->b, done);
    LLVMPositionBuilderAtEnd(g->b, program);
    trade_registers(g, false);
    translate(g, r.own, 0);
    g->skipped = NULL;
}
