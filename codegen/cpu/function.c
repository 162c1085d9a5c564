// The entry: arguments, the loop over programs, and the body within it.
//
//     entry:    read arguments and grid; first < last ? place of `first` : done
//     program:  phis of number and place; cancelled ? done
//     run:      the body; early ends go to `next`
//     next:     number + 1, place with carry; number < last ? program : done
#include <stddef.h>
#include <string.h>

#include "codegen/common/lines.h"
#include "codegen/cpu/gen.h"

#define OF_FUNCTION ((LLVMAttributeIndex)LLVMAttributeFunctionIndex)  // the enumerator is negative

static void attribute(CpuGen *c, unsigned index, const char *name, uint64_t value) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(c->g.function, index,
                            LLVMCreateEnumAttribute(c->g.context, kind, value));
}

static void text_attribute(CpuGen *c, const char *name, const char *value) {
    LLVMAddAttributeAtIndex(c->g.function, OF_FUNCTION,
                            LLVMCreateStringAttribute(c->g.context, name, (unsigned)strlen(name),
                                                      value, (unsigned)strlen(value)));
}

static void declare(CpuGen *c, const char *name) {
    LLVMTypeRef p = LLVMPointerTypeInContext(c->g.context, 0);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(c->g.context);
    LLVMTypeRef params[] = {p, i64, i64, p, p};
    LLVMTypeRef t = LLVMFunctionType(LLVMVoidTypeInContext(c->g.context), params, 5, false);
    c->g.function = LLVMAddFunction(c->g.module, name, t);
    LLVMValueRef *fields[] = {&c->args, &c->first, &c->last, &c->scratch, &c->services};
    const char *const names[] = {"args", "first", "last", "scratch", "services"};
    for (unsigned i = 0; i < 5; i++) {
        *fields[i] = LLVMGetParam(c->g.function, i);
        LLVMSetValueName2(*fields[i], names[i], strlen(names[i]));
    }
    static const unsigned pointers[] = {1, 4, 5};
    for (unsigned i = 0; i < 3; i++) {
        attribute(c, pointers[i], "noalias", 0);
        attribute(c, pointers[i], "nonnull", 0);
        if (pointers[i] != 4) attribute(c, pointers[i], "readonly", 0);
    }
    attribute(c, 4, "align", CPU_SCRATCH_ALIGN);
    attribute(c, 1, "align", 8);
    attribute(c, 5, "align", 8);
    attribute(c, OF_FUNCTION, "nounwind", 0);
    if (c->g.lines) attribute(c, OF_FUNCTION, "uwtable", 2);
    text_attribute(c, "no-builtins", "true");
    // LLVM's estimates, refined by Newton steps, are NaN for 0 and infinities.
    text_attribute(c, "reciprocal-estimates", "none");
    if (c->machine.vector_bytes == 64) {
        text_attribute(c, "prefer-vector-width", "512");
        text_attribute(c, "min-legal-vector-width", "512");
    }
}

// ---- programs -----------------------------------------------------------------------------------

// The number of dimensions in which a block uses the place of its program.
static int programs_asked(const IrBlock *block) {
    int most = 0;
    for (const IrOp *op = block->first; op; op = op->next) {
        int here = op->code == IR_PROGRAM ? (int)ir_attr_int(op, IR_ATTR_DIM) + 1 : 0;
        if (here > most) most = here;
        for (uint32_t r = 0; r < op->region_count; r++) {
            here = programs_asked(op->regions[r]);
            if (here > most) most = here;
        }
    }
    return most;
}

// The place of program `first` in the grid. It is divided here only, once.
static void first_place(CpuGen *c, LLVMValueRef place[3]) {
    LLVMValueRef rest = c->first;
    for (int d = 0; d < c->program_dims; d++) {
        place[d] = d < 2 ? LLVMBuildURem(c->g.b, rest, c->g.grid[d], "") : rest;
        if (d + 1 < c->program_dims) rest = LLVMBuildUDiv(c->g.b, rest, c->g.grid[d], "");
    }
}

// The next place: the first dimension varies fastest.
static void next_place(CpuGen *c, LLVMValueRef next[3]) {
    LLVMValueRef carry = NULL;
    for (int d = 0; d < c->program_dims; d++) {
        LLVMValueRef by = d < 2 ? c->span[d] : gen_i64(&c->g, 1);
        LLVMValueRef more = LLVMBuildAdd(c->g.b, c->g.program_id[d], by, "");
        if (carry) more = LLVMBuildSelect(c->g.b, carry, more, c->g.program_id[d], "");
        LLVMValueRef full = LLVMBuildICmp(c->g.b, LLVMIntEQ, more, c->g.grid[d], "");
        next[d] = d == 2 ? more : LLVMBuildSelect(c->g.b, full, gen_i64(&c->g, 0), more, "");
        carry = carry ? LLVMBuildAnd(c->g.b, carry, full, "") : full;
    }
}

// The number of the program at the next place. After a run of several rows of the grid, the numbers
// of all rows but the first are skipped.
static LLVMValueRef next_number(CpuGen *c, LLVMValueRef next[3]) {
    LLVMValueRef number = LLVMBuildAdd(c->g.b, c->linear, c->span[0], "");
    if (c->span_max[1] == 1) return number;
    LLVMValueRef rows = LLVMBuildSub(c->g.b, c->span[1], gen_i64(&c->g, 1), "");
    LLVMValueRef skipped = LLVMBuildMul(c->g.b, rows, c->g.grid[0], "");
    LLVMValueRef wraps = LLVMBuildICmp(c->g.b, LLVMIntEQ, next[0], gen_i64(&c->g, 0), "");
    skipped = LLVMBuildSelect(c->g.b, wraps, skipped, gen_i64(&c->g, 0), "");
    return LLVMBuildAdd(c->g.b, number, skipped, "");
}

// ---- runs: neighbouring programs that the body computes together --------------------------------

static LLVMValueRef signed_min(CpuGen *c, LLVMValueRef x, LLVMValueRef y) {
    LLVMValueRef less = LLVMBuildICmp(c->g.b, LLVMIntSLT, x, y, "");
    return LLVMBuildSelect(c->g.b, less, x, y, "");
}

static void find_spans(CpuGen *c) {
    c->span_max[0] = c->span_max[1] = 1;
    for (const IrOp *op = ir_body(c->g.func)->first; op; op = op->next)
        if (op->code == IR_CPU_SPAN)
            c->span_max[ir_attr_int(op, IR_ATTR_DIM)] = ir_attr_int(op, IR_ATTR_COUNT);
    // A run depends on the place where it begins.
    bool runs = c->span_max[0] > 1 || c->span_max[1] > 1;
    c->program_dims = programs_asked(ir_body(c->g.func));
    if (runs && c->program_dims < 2) c->program_dims = 2;
}

// Rows of the grid are joined if all programs of each are wanted. The number of programs left does
// not limit a run in such rows.
static void find_run(CpuGen *c, LLVMValueRef rows) {
    LLVMValueRef one = gen_i64(&c->g, 1), left = LLVMBuildSub(c->g.b, c->last, c->linear, "");
    c->span[0] = c->span[1] = one;
    if (c->span_max[1] > 1) {
        LLVMValueRef begins =
            LLVMBuildICmp(c->g.b, LLVMIntEQ, c->g.program_id[0], gen_i64(&c->g, 0), "");
        LLVMValueRef whole = LLVMBuildUDiv(c->g.b, left, c->g.grid[0], "");
        LLVMValueRef room = LLVMBuildSub(c->g.b, c->g.grid[1], c->g.program_id[1], "");
        room = signed_min(c, signed_min(c, room, whole), gen_i64(&c->g, c->span_max[1]));
        LLVMValueRef none = LLVMBuildICmp(c->g.b, LLVMIntSLT, room, one, "");
        room = LLVMBuildSelect(c->g.b, none, one, room, "");
        c->span[1] = LLVMBuildSelect(c->g.b, begins, room, rows, "");
    }
    if (c->span_max[0] > 1) {
        LLVMValueRef room = LLVMBuildSub(c->g.b, c->g.grid[0], c->g.program_id[0], "");
        LLVMValueRef several = LLVMBuildICmp(c->g.b, LLVMIntSGT, c->span[1], one, "");
        room = LLVMBuildSelect(c->g.b, several, room, signed_min(c, room, left), "");
        c->span[0] = signed_min(c, room, gen_i64(&c->g, c->span_max[0]));
    }
}

static LLVMValueRef cancelled(CpuGen *c) {
    LLVMTypeRef pointer = LLVMPointerTypeInContext(c->g.context, 0);
    LLVMValueRef where = cpu_service(&c->g, offsetof(CpuServices, cancel), pointer);
    LLVMValueRef flag = LLVMBuildLoad2(c->g.b, LLVMInt32TypeInContext(c->g.context), where, "");
    LLVMSetOrdering(flag, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(flag, 4);
    return LLVMBuildICmp(c->g.b, LLVMIntNE, flag, gen_i32(&c->g, 0), "");
}

static LLVMValueRef phi_of(CpuGen *c, LLVMValueRef start, LLVMBasicBlockRef from) {
    LLVMValueRef phi = LLVMBuildPhi(c->g.b, LLVMTypeOf(start), "");
    LLVMAddIncoming(phi, &start, &from, 1);
    return phi;
}

static void program_loop(CpuGen *c, LLVMValueRef place[3], LLVMBasicBlockRef from,
                         LLVMBasicBlockRef program, LLVMBasicBlockRef done) {
    LLVMBasicBlockRef run = gen_block(&c->g, "run");
    c->next_program = gen_block(&c->g, "next");
    LLVMPositionBuilderAtEnd(c->g.b, program);
    c->linear = phi_of(c, c->first, from);
    for (int d = 0; d < c->program_dims; d++) c->g.program_id[d] = phi_of(c, place[d], from);
    LLVMValueRef rows = c->span_max[1] > 1 ? phi_of(c, gen_i64(&c->g, 1), from) : NULL;
    LLVMBuildCondBr(c->g.b, cancelled(c), done, run);
    LLVMPositionBuilderAtEnd(c->g.b, run);
    find_run(c, rows);
    cpu_tiles_begin(c);
    gen_ops(&c->g, ir_body(c->g.func));
    LLVMBuildBr(c->g.b, c->next_program);
    LLVMPositionBuilderAtEnd(c->g.b, c->next_program);
    LLVMValueRef next[3];
    next_place(c, next);
    for (int d = 0; d < c->program_dims; d++)
        LLVMAddIncoming(c->g.program_id[d], &next[d], &c->next_program, 1);
    if (rows) LLVMAddIncoming(rows, &c->span[1], &c->next_program, 1);
    LLVMValueRef number = next_number(c, next);
    LLVMAddIncoming(c->linear, &number, &c->next_program, 1);
    LLVMValueRef more = LLVMBuildICmp(c->g.b, LLVMIntSLT, number, c->last, "");
    LLVMBuildCondBr(c->g.b, more, program, done);
}

void cpu_function(CpuGen *c, const char *entry) {
    declare(c, entry);
    if (c->g.lines) lines_function(c->g.lines, c->g.b, c->g.func, c->g.function);
    c->entry = gen_block(&c->g, "entry");
    LLVMBasicBlockRef start = gen_block(&c->g, "start"), program = gen_block(&c->g, "program");
    LLVMBasicBlockRef done = gen_block(&c->g, "done");
    LLVMPositionBuilderAtEnd(c->g.b, c->entry);
    gen_arguments(&c->g, c->args);
    for (int d = 0; d < 3; d++)
        c->g.grid[d] = cpu_service(&c->g, offsetof(CpuServices, grid) + 8 * (size_t)d,
                                   LLVMInt64TypeInContext(c->g.context));
    LLVMValueRef some = LLVMBuildICmp(c->g.b, LLVMIntSLT, c->first, c->last, "");
    LLVMBuildCondBr(c->g.b, some, start, done);
    LLVMPositionBuilderAtEnd(c->g.b, start);
    LLVMValueRef place[3];
    find_spans(c);
    first_place(c, place);
    LLVMBuildBr(c->g.b, program);
    program_loop(c, place, start, program, done);
    LLVMPositionBuilderAtEnd(c->g.b, done);
    // Non-temporal stores are not ordered with anything, not even the end of the launch.
    if (c->streams && c->machine.cpu.level != CPU_AARCH64)
        gen_intrinsic(&c->g, "llvm.x86.sse.sfence", 0, NULL, 0, NULL);
    cpu_tiles_end(c);
    LLVMBuildRetVoid(c->g.b);
}
