// The entry: arguments, the loop over programs, and the body within it.
//
//     entry:    read arguments and grid; first < last ? place of `first` : done
//     program:  phis of number and place; cancelled ? done
//     run:      the body; early ends go to `next`
//     next:     number + 1, place with carry; number < last ? program : done
#include <stddef.h>
#include <string.h>

#include "codegen/cpu/gen.h"
#include "codegen/cpu/lines.h"

#define OF_FUNCTION ((LLVMAttributeIndex)LLVMAttributeFunctionIndex)  // an enumerator below zero

static void attribute(Gen *g, unsigned index, const char *name, uint64_t value) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(g->function, index, LLVMCreateEnumAttribute(g->context, kind, value));
}

static void text_attribute(Gen *g, const char *name, const char *value) {
    LLVMAddAttributeAtIndex(g->function, OF_FUNCTION,
                            LLVMCreateStringAttribute(g->context, name, (unsigned)strlen(name),
                                                      value, (unsigned)strlen(value)));
}

static void declare(Gen *g, const char *name) {
    LLVMTypeRef p = LLVMPointerTypeInContext(g->context, 0);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(g->context);
    LLVMTypeRef params[] = {p, i64, i64, p, p};
    LLVMTypeRef t = LLVMFunctionType(LLVMVoidTypeInContext(g->context), params, 5, false);
    g->function = LLVMAddFunction(g->module, name, t);
    LLVMValueRef *fields[] = {&g->args, &g->first, &g->last, &g->scratch, &g->services};
    const char *const names[] = {"args", "first", "last", "scratch", "services"};
    for (unsigned i = 0; i < 5; i++) {
        *fields[i] = LLVMGetParam(g->function, i);
        LLVMSetValueName2(*fields[i], names[i], strlen(names[i]));
    }
    static const unsigned pointers[] = {1, 4, 5};
    for (unsigned i = 0; i < 3; i++) {
        attribute(g, pointers[i], "noalias", 0);
        attribute(g, pointers[i], "nonnull", 0);
        if (pointers[i] != 4) attribute(g, pointers[i], "readonly", 0);
    }
    attribute(g, 4, "align", CPU_SCRATCH_ALIGN);
    attribute(g, 1, "align", 8);
    attribute(g, 5, "align", 8);
    attribute(g, OF_FUNCTION, "nounwind", 0);
    if (g->lines) attribute(g, OF_FUNCTION, "uwtable", 2);
    text_attribute(g, "no-builtins", "true");
    if (g->machine.vector_bytes == 64) {
        text_attribute(g, "prefer-vector-width", "512");
        text_attribute(g, "min-legal-vector-width", "512");
    }
}

// ---- arguments: the layout of runtime/meta.h ----------------------------------------------------

static LLVMValueRef read_argument(Gen *g, LLVMTypeRef t, uint32_t offset) {
    LLVMValueRef place = gen_i64(g, offset);
    LLVMTypeRef byte = LLVMInt8TypeInContext(g->context);
    LLVMValueRef p = LLVMBuildInBoundsGEP2(g->b, byte, g->args, &place, 1, "");
    LLVMValueRef v = LLVMBuildLoad2(g->b, t, p, "");
    LLVMMetadataRef none = LLVMMDNodeInContext2(g->context, NULL, 0);
    LLVMSetMetadata(v, g->kinds.invariant, LLVMMetadataAsValue(g->context, none));
    return v;
}

static LLVMValueRef read_i64(Gen *g, uint32_t offset) {
    return read_argument(g, LLVMInt64TypeInContext(g->context), offset);
}

static void read_view(Gen *g, uint32_t i, uint32_t offset) {
    const IrParam *param = &g->func->params.data[i];
    uint32_t rank = param->value->type->rank;
    for (uint32_t d = 0; d < rank; d++) {
        bool named = param->dims[d].extent != NULL;
        g->extents[i][d] =
            named ? read_i64(g, offset + 8 * (d + 1)) : gen_i64(g, param->dims[d].value);
        if (param->strided) g->strides[i][d] = read_i64(g, offset + 8 * (rank + d + 1));
    }
    if (param->strided) return;
    LLVMValueRef stride = gen_i64(g, 1);
    for (uint32_t d = rank; d-- > 0;) {
        g->strides[i][d] = stride;
        stride = LLVMBuildMul(g->b, stride, g->extents[i][d], "");
    }
}

// Returns the bytes that the argument takes.
static uint32_t read_param(Gen *g, uint32_t i, uint32_t offset) {
    const IrParam *param = &g->func->params.data[i];
    const IrType *t = param->value->type;
    if (t->kind == IR_TILE) {
        LLVMValueRef v = read_argument(g, gen_bytes_type(g, t), offset);
        if (t->elem == DTYPE_BOOL)
            v = LLVMBuildICmp(g->b, LLVMIntNE, v, LLVMConstNull(LLVMTypeOf(v)), "");
        g->params[i] = v;
        g->values[param->value->id] = v;
        return (uint32_t)dtype_size(t->elem);
    }
    g->params[i] = read_argument(g, LLVMPointerTypeInContext(g->context, 0), offset);
    LLVMSetValueName2(g->params[i], param->name, strlen(param->name));
    g->values[param->value->id] = g->params[i];
    if (t->kind == IR_PTR) return 8;
    read_view(g, i, offset);
    return 8 + 8 * t->rank * (param->strided ? 2 : 1);
}

static void read_arguments(Gen *g) {
    uint32_t offset = 0;
    for (uint32_t i = 0; i < g->func->params.count; i++) {
        const IrType *t = g->func->params.data[i].value->type;
        uint32_t align = t->kind == IR_TILE ? (uint32_t)dtype_size(t->elem) : 8;
        offset = (offset + align - 1) / align * align;
        offset += read_param(g, i, offset);
    }
}

// ---- programs -----------------------------------------------------------------------------------

// The place in the grid of program `first`; divisions happen once.
static void first_place(Gen *g, LLVMValueRef place[3]) {
    LLVMValueRef rest = g->first;
    for (int d = 0; d < 2; d++) {
        place[d] = LLVMBuildURem(g->b, rest, g->grid[d], "");
        rest = LLVMBuildUDiv(g->b, rest, g->grid[d], "");
    }
    place[2] = rest;
}

// The next place: the first dimension is fastest.
static void next_place(Gen *g, LLVMValueRef next[3]) {
    LLVMValueRef carry = NULL;
    for (int d = 0; d < 3; d++) {
        LLVMValueRef by = d < 2 ? g->span[d] : gen_i64(g, 1);
        LLVMValueRef more = LLVMBuildAdd(g->b, g->place[d], by, "");
        if (carry) more = LLVMBuildSelect(g->b, carry, more, g->place[d], "");
        LLVMValueRef full = LLVMBuildICmp(g->b, LLVMIntEQ, more, g->grid[d], "");
        next[d] = d == 2 ? more : LLVMBuildSelect(g->b, full, gen_i64(g, 0), more, "");
        carry = carry ? LLVMBuildAnd(g->b, carry, full, "") : full;
    }
}

// The number of the program there: a run of several rows of the grid skips all but the first.
static LLVMValueRef next_number(Gen *g, LLVMValueRef next[3]) {
    LLVMValueRef number = LLVMBuildAdd(g->b, g->linear, g->span[0], "");
    if (g->most[1] == 1) return number;
    LLVMValueRef rows = LLVMBuildSub(g->b, g->span[1], gen_i64(g, 1), "");
    LLVMValueRef skipped = LLVMBuildMul(g->b, rows, g->grid[0], "");
    LLVMValueRef wraps = LLVMBuildICmp(g->b, LLVMIntEQ, next[0], gen_i64(g, 0), "");
    skipped = LLVMBuildSelect(g->b, wraps, skipped, gen_i64(g, 0), "");
    return LLVMBuildAdd(g->b, number, skipped, "");
}

// ---- runs: neighbours that the body does at once ------------------------------------------------

static LLVMValueRef least(Gen *g, LLVMValueRef x, LLVMValueRef y) {
    LLVMValueRef less = LLVMBuildICmp(g->b, LLVMIntSLT, x, y, "");
    return LLVMBuildSelect(g->b, less, x, y, "");
}

static void find_spans(Gen *g) {
    g->most[0] = g->most[1] = 1;
    for (const IrOp *op = ir_body(g->func)->first; op; op = op->next)
        if (op->code == IR_CPU_SPAN)
            g->most[ir_attr_int(op, IR_ATTR_DIM)] = ir_attr_int(op, IR_ATTR_COUNT);
}

// Rows of the grid go together when all of each is wanted; then what is left bounds no run in it.
static void find_run(Gen *g, LLVMValueRef rows) {
    LLVMValueRef one = gen_i64(g, 1), left = LLVMBuildSub(g->b, g->last, g->linear, "");
    g->span[0] = g->span[1] = one;
    if (g->most[1] > 1) {
        LLVMValueRef begins = LLVMBuildICmp(g->b, LLVMIntEQ, g->place[0], gen_i64(g, 0), "");
        LLVMValueRef whole = LLVMBuildUDiv(g->b, left, g->grid[0], "");
        LLVMValueRef room = LLVMBuildSub(g->b, g->grid[1], g->place[1], "");
        room = least(g, least(g, room, whole), gen_i64(g, g->most[1]));
        LLVMValueRef none = LLVMBuildICmp(g->b, LLVMIntSLT, room, one, "");
        room = LLVMBuildSelect(g->b, none, one, room, "");
        g->span[1] = LLVMBuildSelect(g->b, begins, room, rows, "");
    }
    if (g->most[0] > 1) {
        LLVMValueRef room = LLVMBuildSub(g->b, g->grid[0], g->place[0], "");
        LLVMValueRef several = LLVMBuildICmp(g->b, LLVMIntSGT, g->span[1], one, "");
        room = LLVMBuildSelect(g->b, several, room, least(g, room, left), "");
        g->span[0] = least(g, room, gen_i64(g, g->most[0]));
    }
}

static LLVMValueRef cancelled(Gen *g) {
    LLVMTypeRef pointer = LLVMPointerTypeInContext(g->context, 0);
    LLVMValueRef where = gen_service(g, offsetof(CpuServices, cancel), pointer);
    LLVMValueRef flag = LLVMBuildLoad2(g->b, LLVMInt32TypeInContext(g->context), where, "");
    LLVMSetOrdering(flag, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(flag, 4);
    return LLVMBuildICmp(g->b, LLVMIntNE, flag, gen_i32(g, 0), "");
}

static LLVMValueRef phi_of(Gen *g, LLVMValueRef start, LLVMBasicBlockRef from) {
    LLVMValueRef phi = LLVMBuildPhi(g->b, LLVMTypeOf(start), "");
    LLVMAddIncoming(phi, &start, &from, 1);
    return phi;
}

static void program_loop(Gen *g, LLVMValueRef place[3], LLVMBasicBlockRef from,
                         LLVMBasicBlockRef program, LLVMBasicBlockRef done) {
    LLVMBasicBlockRef run = gen_block(g, "run");
    g->next_program = gen_block(g, "next");
    LLVMPositionBuilderAtEnd(g->b, program);
    g->linear = phi_of(g, g->first, from);
    for (int d = 0; d < 3; d++) g->place[d] = phi_of(g, place[d], from);
    find_spans(g);
    LLVMValueRef rows = g->most[1] > 1 ? phi_of(g, gen_i64(g, 1), from) : NULL;
    LLVMBuildCondBr(g->b, cancelled(g), done, run);
    LLVMPositionBuilderAtEnd(g->b, run);
    find_run(g, rows);
    gen_ops(g, ir_body(g->func));
    LLVMBuildBr(g->b, g->next_program);
    LLVMPositionBuilderAtEnd(g->b, g->next_program);
    LLVMValueRef next[3];
    next_place(g, next);
    for (int d = 0; d < 3; d++) LLVMAddIncoming(g->place[d], &next[d], &g->next_program, 1);
    if (rows) LLVMAddIncoming(rows, &g->span[1], &g->next_program, 1);
    LLVMValueRef number = next_number(g, next);
    LLVMAddIncoming(g->linear, &number, &g->next_program, 1);
    LLVMValueRef more = LLVMBuildICmp(g->b, LLVMIntSLT, number, g->last, "");
    LLVMBuildCondBr(g->b, more, program, done);
}

void gen_function(Gen *g, const char *entry) {
    declare(g, entry);
    if (g->lines) lines_function(g->lines, g->b, g->func, g->function);
    g->entry = gen_block(g, "entry");
    LLVMBasicBlockRef start = gen_block(g, "start"), program = gen_block(g, "program");
    LLVMBasicBlockRef done = gen_block(g, "done");
    LLVMPositionBuilderAtEnd(g->b, g->entry);
    read_arguments(g);
    for (int d = 0; d < 3; d++)
        g->grid[d] = gen_service(g, offsetof(CpuServices, grid) + 8 * (size_t)d,
                                 LLVMInt64TypeInContext(g->context));
    LLVMValueRef some = LLVMBuildICmp(g->b, LLVMIntSLT, g->first, g->last, "");
    LLVMBuildCondBr(g->b, some, start, done);
    LLVMPositionBuilderAtEnd(g->b, start);
    LLVMValueRef place[3];
    first_place(g, place);
    LLVMBuildBr(g->b, program);
    program_loop(g, place, start, program, done);
    LLVMPositionBuilderAtEnd(g->b, done);
    // Stores past the caches are ordered with nothing, not even the end of the launch.
    if (g->streams && g->machine.cpu.level != CPU_AARCH64)
        gen_intrinsic(g, "llvm.x86.sse.sfence", 0, NULL, 0, NULL);
    LLVMBuildRetVoid(g->b);
}
