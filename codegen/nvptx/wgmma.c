// thread.wgmma: assembly, because LLVM has no intrinsic for the products.
//
// The sums are operands of the assembly that stay in their registers. LLVM knows nothing of a
// product in flight: all it sees is that a product's sums go to the next one, and at last to the
// wait, which defines them once more. The verifier has checked that nothing else uses them.
#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "codegen/nvptx/gen.h"
#include "ir/analysis/spread.h"

enum { FIELDS = 5, FACTOR_WORDS = 4, MOST_SUMS = 512, TEXT = 16384 };

// A text and the operands of an assembly.
typedef struct Assembly {
    char text[TEXT], constraints[TEXT];
    size_t text_size, constraints_size;
    LLVMTypeRef results[MOST_SUMS];
    LLVMValueRef operands[2 * MOST_SUMS];
    uint32_t result_count, operand_count;
} Assembly;

#define ADD(a, field, ...) \
    ((a)->field##_size +=  \
     (size_t)snprintf((a)->field + (a)->field##_size, TEXT - (a)->field##_size, __VA_ARGS__))

static Assembly *begin(Gen *g) {
    Assembly *a = arena_new(g->arena, Assembly, 1);
    a->text_size = a->constraints_size = 0;
    a->result_count = a->operand_count = 0;
    return a;
}

static void add_result(Assembly *a, LLVMTypeRef type, char constraint) {
    CHECK(a->result_count < MOST_SUMS, "more than %d sums", MOST_SUMS);
    ADD(a, constraints, "%s=%c", a->constraints_size ? "," : "", constraint);
    a->results[a->result_count++] = type;
}

static void add_operand(Assembly *a, LLVMValueRef v, const char *constraint) {
    ADD(a, constraints, "%s%s", a->constraints_size ? "," : "", constraint);
    a->operands[a->operand_count++] = v;
}

// The register of result i.
static void add_tied(Assembly *a, LLVMValueRef v, uint32_t i) {
    char number[12];
    snprintf(number, sizeof number, "%u", i);
    add_operand(a, v, number);
}

static void end(Gen *g, Assembly *a, LLVMValueRef *results) {
    LLVMTypeRef types[2 * MOST_SUMS];
    ADD(a, constraints, "%s~{memory}", a->constraints_size ? "," : "");
    CHECK(a->text_size < TEXT && a->constraints_size < TEXT, "a long assembly");
    for (uint32_t i = 0; i < a->operand_count; i++) types[i] = LLVMTypeOf(a->operands[i]);
    LLVMTypeRef result = LLVMVoidTypeInContext(g->context);
    if (a->result_count == 1) result = a->results[0];
    if (a->result_count > 1)
        result = LLVMStructTypeInContext(g->context, a->results, a->result_count, false);
    LLVMTypeRef function = LLVMFunctionType(result, types, a->operand_count, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(function, a->text, a->text_size, a->constraints, a->constraints_size, true,
                         false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef all = LLVMBuildCall2(g->b, function, code, a->operands, a->operand_count, "");
    for (uint32_t i = 0; i < a->result_count; i++)
        results[i] = a->result_count == 1 ? all : LLVMBuildExtractValue(g->b, all, i, "");
}

// ---- products -----------------------------------------------------------------------------------

static uint64_t mode_of(int64_t swizzle) { return swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3; }

// The descriptor of the memory from the pointer on, plus the steps to where the factor begins.
static LLVMValueRef descriptor(Gen *g, const IrOp *op, uint32_t operand) {
    enum { UNIT_BITS = 4, ADDRESS_MASK = 0x3fff, LBO = 16, SBO = 32, MODE = 62 };
    const int64_t *f = ir_attr(op, IR_ATTR_FACTORS)->u.ints.items + (size_t)FIELDS * operand;
    LLVMTypeRef word = LLVMInt32TypeInContext(g->context),
                wide = LLVMInt64TypeInContext(g->context);
    LLVMValueRef p = gpu_in_space(g, gen_operand(g, op, operand), SPACE_SHARED);
    LLVMValueRef at = LLVMBuildPtrToInt(g->b, p, word, "");
    at = LLVMBuildLShr(g->b, at, gen_i32(g, UNIT_BITS), "");
    at = LLVMBuildAnd(g->b, at, gen_i32(g, ADDRESS_MASK), "");
    uint64_t fixed = (uint64_t)f[2] >> UNIT_BITS << LBO | (uint64_t)f[1] >> UNIT_BITS << SBO |
                     mode_of(f[0]) << MODE;
    uint64_t steps = (uint64_t)f[4] * dtype_size(ir_operand(op, operand)->type->elem);
    LLVMValueRef d =
        LLVMBuildOr(g->b, LLVMBuildZExt(g->b, at, wide, ""), gen_i64(g, (int64_t)fixed), "");
    return LLVMBuildAdd(g->b, d, gen_i64(g, (int64_t)(steps >> UNIT_BITS)), "");
}

// The words that each thread holds of a.
static void words_of(Gen *g, const IrValue *v, LLVMValueRef *words) {
    LLVMValueRef *parts = gen_parts(g, v);
    uint32_t bits = dtype_bits(v->type->elem), per = 32 / bits;
    for (uint32_t i = 0; i < FACTOR_WORDS; i++)
        words[i] = nvptx_word(g, parts + (size_t)i * per, bits, false);
}

static const char *type_of(Dtype t) {
    switch (t) {
    case DTYPE_I8: return "s8";
    case DTYPE_U8: return "u8";
    case DTYPE_I32: return "s32";
    case DTYPE_F8E4M3: return "e4m3";
    case DTYPE_F8E5M2: return "e5m2";
    default: return dtype_name(t);
    }
}

static LLVMTypeRef sum_type(Gen *g, Dtype t) {
    return t == DTYPE_I32 ? LLVMInt32TypeInContext(g->context) : LLVMFloatTypeInContext(g->context);
}
static char sum_constraint(Dtype t) { return t == DTYPE_I32 ? 'r' : 'f'; }

// Does another product begin the sum?
static bool continues(const IrOp *op) {
    const IrValue *acc = ir_operand(op, 2);
    return acc && acc->def && acc->def->code == IR_THREAD_WGMMA;
}

void nvptx_wgmma(Gen *g, const IrOp *op) {
    MatrixShape p = spread_product(op);
    const IrValue *a = ir_operand(op, 0), *acc = ir_operand(op, 2);
    const IrType *sum = op->results[0].type;
    const int64_t *factors = ir_attr(op, IR_ATTR_FACTORS)->u.ints.items;
    bool in_memory = a->type->kind == IR_PTR;
    Assembly *s = begin(g);
    LLVMTypeRef type = sum_type(g, sum->elem);
    bool halves = p.bits == 16, whole = sum->elem == DTYPE_I32;
    if (!continues(op) || !in_memory) ADD(s, text, "wgmma.fence.sync.aligned; ");
    ADD(s, text, "wgmma.mma_async.sync.aligned.m%un%uk%u.%s.%s.%s {", p.m, p.n, p.k,
        type_of(sum->elem), type_of(a->type->elem), type_of(ir_operand(op, 1)->type->elem));
    for (uint32_t i = 0; i < sum->count; i++) {
        ADD(s, text, "%s$%u", i ? ", " : "", i);
        add_result(s, type, sum_constraint(sum->elem));
    }
    ADD(s, text, "}, ");
    if (in_memory) {
        ADD(s, text, "$%u", sum->count);
        add_operand(s, descriptor(g, op, 0), "l");
    } else {
        LLVMValueRef words[FACTOR_WORDS];
        words_of(g, a, words);
        for (uint32_t i = 0; i < FACTOR_WORDS; i++) {
            ADD(s, text, "%s$%u", i ? ", " : "{", sum->count + i);
            add_operand(s, words[i], "r");
        }
        ADD(s, text, "}");
    }
    ADD(s, text, ", $%u, %d%s", sum->count + s->operand_count, acc != NULL, whole ? "" : ", 1, 1");
    add_operand(s, descriptor(g, op, 1), "l");
    if (halves && in_memory) ADD(s, text, ", %d", factors[3] != 0);
    if (halves) ADD(s, text, ", %d", factors[FIELDS + 3] != 0);
    ADD(s, text, ";");
    LLVMValueRef *sums = acc ? gen_parts(g, acc) : NULL;
    for (uint32_t i = 0; acc && i < sum->count; i++) add_tied(s, sums[i], i);
    end(g, s, gen_define_parts(g, op));
}

void nvptx_wgmma_commit(Gen *g) {
    Assembly *s = begin(g);
    ADD(s, text, "wgmma.commit_group.sync.aligned;");
    end(g, s, NULL);
}

void nvptx_wgmma_wait(Gen *g, const IrOp *op) {
    const IrValue *x = ir_operand(op, 0);
    LLVMValueRef *sums = gen_parts(g, x);
    Assembly *s = begin(g);
    ADD(s, text, "wgmma.wait_group.sync.aligned %d;", (int)ir_attr_int(op, IR_ATTR_COUNT));
    for (uint32_t i = 0; i < x->type->count; i++)
        add_result(s, sum_type(g, x->type->elem), sum_constraint(x->type->elem));
    for (uint32_t i = 0; i < x->type->count; i++) add_tied(s, sums[i], i);
    end(g, s, gen_define_parts(g, op));
}
