// Ping-pong scheduling (the option `turns`), for programs with at least two waves on each SIMD.
//
// Two waves of a SIMD are never quite in step. A wave has priority while it multiplies, so the
// other wave does not delay its matrix instructions; the other one loads, converts and stores
// meanwhile. Then they swap roles. A phase is a run of matrix instructions and the reads of their
// factors. LLVM keeps it separate from the code before and after it. Within a phase, reads are
// interleaved with the matrix instructions.
#include "codegen/amdgpu/gen.h"

// Counts of one phase: matrix instructions, and accesses that read factors.
typedef struct Phase {
    uint32_t products, reads;
    bool first, last;  // is the op the first or last matrix instruction?
} Phase;

// A phase ends at work for other units that does not make the factors of the next product.
static bool ends_phase(const IrOp *op) {
    switch (op->code) {
    case IR_THREAD_BARRIER:
    case IR_THREAD_WAIT:
    case IR_THREAD_SHUFFLE:
    case IR_VEC_REDUCE:
    case IR_EXP2: return true;
    default: break;
    }
    return op->region_count > 0;
}

static bool is_read(const IrOp *op) {
    if (op->code != IR_THREAD_LOAD) return false;
    const IrValue *p = ir_operand(op, 0);
    while (p->def && p->def->code == IR_PTR_ADD) p = ir_operand(p->def, 0);
    return p->def && p->def->code == IR_THREAD_SHARED;
}

static Phase phase_of(const IrOp *op) {
    Phase p = {.products = 1, .first = true, .last = true};
    uint32_t reads = 0;
    for (const IrOp *at = op->next; at && !ends_phase(at); at = at->next)
        if (at->code == IR_THREAD_MMA) p.last = false;
    for (const IrOp *at = op->prev; at && !ends_phase(at); at = at->prev) {
        reads += is_read(at);
        if (at->code != IR_THREAD_MMA) continue;
        p.first = false;
        p.products++;
        p.reads += reads;
        reads = 0;
    }
    return p;
}

static bool in_loop(const IrOp *op) {
    const IrOp *around = op->block->parent;
    return around && (around->code == IR_FOR || around->code == IR_WHILE);
}

static void hint(Gen *g, const char *name, bool wide, int32_t value) {
    LLVMValueRef n =
        wide ? gen_i32(g, value) : LLVMConstInt(gpu_int(g, 16), (unsigned long long)value, false);
    gen_intrinsic(g, name, 0, NULL, 1, &n);
}

static void group(Gen *g, int32_t kind, uint32_t count) {
    LLVMValueRef args[] = {gen_i32(g, kind), gen_i32(g, (int32_t)count), gen_i32(g, 0)};
    if (count) gen_intrinsic(g, "llvm.amdgcn.sched.group.barrier", 0, NULL, 3, args);
}

// Alternates some reads with one matrix instruction.
static void interleave(Gen *g, const Phase *p) {
    enum { MATRIX = 0x8, READS = 0x100 };
    uint32_t left = p->reads;
    for (uint32_t i = 0; i < p->products; i++) {
        uint32_t now = (left + p->products - i - 1) / (p->products - i);
        group(g, READS, now);
        group(g, MATRIX, 1);
        left -= now;
    }
}

static bool is_ping_pong(Gen *g, const IrOp *op) {
    enum { WAVES = 8 };  // two for each SIMD of a compute unit
    const Machine *m = &gpu_gen(g)->machine;
    return g->func->turns && g->func->warps >= WAVES && m->warp == 64 && in_loop(op);
}

void amdgpu_phase_begins(Gen *g, const IrOp *op) {
    if (!is_ping_pong(g, op) || !phase_of(op).first) return;
    hint(g, "llvm.amdgcn.sched.barrier", true, 0);
    hint(g, "llvm.amdgcn.s.setprio", false, 1);
}

void amdgpu_phase_ends(Gen *g, const IrOp *op) {
    if (!is_ping_pong(g, op)) return;
    Phase p = phase_of(op);
    if (!p.last) return;
    interleave(g, &p);
    hint(g, "llvm.amdgcn.s.setprio", false, 0);
    hint(g, "llvm.amdgcn.sched.barrier", true, 0);
}
