// thread.wgmma: assembly, because LLVM has no intrinsic for the products.
//
// The sums are operands of the assembly that stay in their registers. LLVM knows nothing of a
// product in flight: all it sees is that a product's sums go to the next one, and at last to a
// wait, which defines them once more. The verifier has checked that nothing else uses them.
//
// LLVM copies an operand that stays in its register before the assembly when it needs the result
// elsewhere. Before a wait that would read sums in flight. So where LLVM may need copies, the sums
// are copied after the wait, which nothing else uses, by assembly of their own. LLVM then has no
// reason to copy what the wait takes. ptxas removes the copies that it can.
#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "codegen/nvptx/gen.h"
#include "ir/analysis/layout_infer.h"

enum { FIELDS = 5, FACTOR_WORDS = 4, SUMS_MAX = 512, TEXT = 16384 };

// A text and the operands of an assembly.
typedef struct Assembly {
    char text[TEXT], constraints[TEXT];
    size_t text_size, constraints_size;
    LLVMTypeRef results[SUMS_MAX];
    LLVMValueRef operands[2 * SUMS_MAX];
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

static void add_result(Assembly *a, LLVMTypeRef type, const char *how, char constraint) {
    CHECK(a->result_count < SUMS_MAX, "more than %d sums", SUMS_MAX);
    ADD(a, constraints, "%s%s%c", a->constraints_size ? "," : "", how, constraint);
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
    LLVMTypeRef types[2 * SUMS_MAX];
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

static uint32_t mode_of(int64_t swizzle) { return swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3; }

// The only instruction before `from` that those from there on depend on; NULL: there is none, or
// more than one (`*many`).
static LLVMValueRef only_leaf(LLVMValueRef from, bool *many) {
    LLVMValueRef leaf = NULL;
    *many = false;
    for (LLVMValueRef x = from; x; x = LLVMGetNextInstruction(x))
        for (int i = 0; i < LLVMGetNumOperands(x); i++) {
            LLVMValueRef y = LLVMGetOperand(x, (unsigned)i), own = from;
            while (own && own != y) own = LLVMGetNextInstruction(own);
            if (!LLVMIsAInstruction(y) || own || y == leaf) continue;
            *many |= leaf != NULL;
            leaf = y;
        }
    return leaf;
}

// LLVM moves little out of loops: arithmetic that ends the block goes to the instruction that it
// depends on, or to the entry.
static void hoist(Gen *g, LLVMValueRef last) {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(g->b);
    LLVMValueRef from = last ? LLVMGetNextInstruction(last) : LLVMGetFirstInstruction(here);
    bool many;
    LLVMValueRef leaf = only_leaf(from, &many);
    LLVMValueRef place = leaf ? LLVMGetNextInstruction(leaf)
                              : LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(g->function));
    if (many || !place || place == from || LLVMIsAPHINode(place)) return;
    LLVMPositionBuilderBefore(g->b, place);
    for (LLVMValueRef x = from, next; x; x = next) {
        next = LLVMGetNextInstruction(x);
        LLVMInstructionRemoveFromParent(x);
        LLVMInsertIntoBuilder(g->b, x);
    }
    LLVMPositionBuilderAtEnd(g->b, here);
}

// Two words as one number. LLVM would add the known word to what is added to the number, and ptxas
// would then add word by word.
static LLVMValueRef join_words(Gen *g, LLVMValueRef low, uint32_t high) {
    static const char text[] = "mov.b64 $0, {$1, $2};", constraints[] = "=l,r,n";
    LLVMTypeRef word = LLVMInt32TypeInContext(g->context), types[] = {word, word};
    LLVMTypeRef type = LLVMFunctionType(LLVMInt64TypeInContext(g->context), types, 2, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(type, text, sizeof text - 1, constraints, sizeof constraints - 1, false,
                         false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef x[] = {low, gen_i32(g, (int32_t)high)};
    LLVMValueRef joined = LLVMBuildCall2(g->b, type, code, x, 2, "");
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[] = {"memory", "nounwind", "willreturn"};
        unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
        LLVMAddCallSiteAttribute(joined, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                 LLVMCreateEnumAttribute(g->context, kind, 0));
    }
    return joined;
}

// The descriptor of the memory from the pointer on, plus the steps to where the factor begins.
// Constants are added to the descriptor of the place to which the pointer adds them: slots of a
// ring then share that descriptor, and differ by a sum of 64 bits. Shared memory has fewer bytes
// than there are addresses, so no sum overflows.
static LLVMValueRef descriptor(Gen *g, const IrOp *op, uint32_t operand) {
    enum { UNIT_BITS = 4, ADDRESS_MASK = 0x3fff, LBO = 16, MODE = 30 };
    const int64_t *f = ir_attr(op, IR_ATTR_FACTORS)->u.ints.items + (size_t)FIELDS * operand;
    LLVMValueRef last = LLVMGetLastInstruction(LLVMGetInsertBlock(g->b));
    int64_t more = f[4] * (int64_t)dtype_size(ir_operand(op, operand)->type->elem);
    LLVMValueRef at = nvptx_shared_number(g, gen_operand(g, op, operand), &more);
    at = LLVMBuildLShr(g->b, at, gen_i32(g, UNIT_BITS), "");
    at = LLVMBuildAnd(g->b, at, gen_i32(g, ADDRESS_MASK), "");
    uint32_t lbo = (uint32_t)f[2] >> UNIT_BITS, sbo = (uint32_t)f[1] >> UNIT_BITS;
    LLVMValueRef low = LLVMBuildOr(g->b, at, gen_i32(g, (int32_t)(lbo << LBO)), "");
    LLVMValueRef d = join_words(g, low, sbo | mode_of(f[0]) << MODE);
    hoist(g, last);
    return LLVMBuildAdd(g->b, d, gen_i64(g, more >> UNIT_BITS), "");
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

// Does the next op add to this product's sum, which nothing else uses? Its factors are in memory.
static bool goes_on(const IrOp *op) {
    const IrOp *next = op->next;
    const IrUse *use = op->results[0].uses;
    return next && next->code == IR_THREAD_WGMMA && ir_operand(next, 2) == op->results &&
           !use->next && ir_operand(next, 0)->type->kind == IR_PTR;
}

// Products that add to one sum, one after the other, share an assembly, up to a number of them:
// LLVM spends its time with the sums of each assembly. The number of those before this one.
static uint32_t joined_before(const IrOp *op) {
    enum { MOST = 8 };
    uint32_t count = 0;
    for (; op->prev && op->prev->code == IR_THREAD_WGMMA && goes_on(op->prev); op = op->prev)
        count++;
    return count % MOST;
}

static void add_product(Gen *g, const IrOp *op, Assembly *s) {
    MatrixShape p = ir_mma_shape(op);
    const IrValue *a = ir_operand(op, 0);
    const IrType *sum = op->results[0].type;
    const int64_t *factors = ir_attr(op, IR_ATTR_FACTORS)->u.ints.items;
    bool in_memory = a->type->kind == IR_PTR;
    bool halves = p.bits == 16, whole = sum->elem == DTYPE_I32;
    if (!continues(op) || !in_memory) ADD(s, text, "wgmma.fence.sync.aligned; ");
    ADD(s, text, "wgmma.mma_async.sync.aligned.m%un%uk%u.%s.%s.%s {", p.m, p.n, p.k,
        type_of(sum->elem), type_of(a->type->elem), type_of(ir_operand(op, 1)->type->elem));
    for (uint32_t i = 0; i < sum->count; i++) ADD(s, text, "%s$%u", i ? ", " : "", i);
    ADD(s, text, "}, ");
    if (in_memory) {
        ADD(s, text, "$%u", sum->count + s->operand_count);
        add_operand(s, descriptor(g, op, 0), "l");
    } else {
        LLVMValueRef words[FACTOR_WORDS];
        words_of(g, a, words);
        for (uint32_t i = 0; i < FACTOR_WORDS; i++) {
            ADD(s, text, "%s$%u", i ? ", " : "{", sum->count + s->operand_count);
            add_operand(s, words[i], "r");
        }
        ADD(s, text, "}");
    }
    ADD(s, text, ", $%u, %d%s", sum->count + s->operand_count, ir_operand(op, 2) != NULL,
        whole ? "" : ", 1, 1");
    add_operand(s, descriptor(g, op, 1), "l");
    if (halves && in_memory) ADD(s, text, ", %d", factors[3] != 0);
    if (halves) ADD(s, text, ", %d", factors[FIELDS + 3] != 0);
    ADD(s, text, ";");
}

void nvptx_wgmma(Gen *g, const IrOp *op) {
    const IrOp *first = op;
    uint32_t before = joined_before(op);
    const IrType *sum = op->results[0].type;
    if (goes_on(op) && joined_before(op->next) > before) return;
    while (before--) first = first->prev;
    const IrValue *acc = ir_operand(first, 2);
    Assembly *s = begin(g);
    for (uint32_t i = 0; i < sum->count; i++)
        add_result(s, sum_type(g, sum->elem), "=", sum_constraint(sum->elem));
    for (const IrOp *at = first; at != op->next; at = at->next) {
        if (at != first) ADD(s, text, "\n\t");
        add_product(g, at, s);
    }
    LLVMValueRef *sums = acc ? gen_parts(g, acc) : NULL;
    for (uint32_t i = 0; acc && i < sum->count; i++) add_tied(s, sums[i], i);
    end(g, s, gen_define_parts(g, op));
}

// LLVM would compute a sum just before its first product, while others run.
void nvptx_wgmma_begin(Gen *g, const IrOp *op) {
    const IrValue *x = ir_operand(op, 0);
    LLVMValueRef *sums = gen_parts(g, x);
    Assembly *s = begin(g);
    ADD(s, text, "wgmma.fence.sync.aligned;");
    for (uint32_t i = 0; i < x->type->count; i++)
        add_result(s, sum_type(g, x->type->elem), "=", sum_constraint(x->type->elem));
    for (uint32_t i = 0; i < x->type->count; i++) add_tied(s, sums[i], i);
    end(g, s, gen_define_parts(g, op));
}

void nvptx_wgmma_commit(Gen *g) {
    Assembly *s = begin(g);
    ADD(s, text, "wgmma.commit_group.sync.aligned;");
    end(g, s, NULL);
}

// ---- waits --------------------------------------------------------------------------------------

// Where the products that a wait ends begin: the first of them, or a loop that leaves one in
// flight.
static const IrOp *first_in_flight(const IrOp *wait) {
    const IrOp *first = ir_operand(wait, 0)->def;
    for (const IrOp *op = wait->prev; op && op->code != IR_THREAD_WGMMA_WAIT; op = op->prev)
        if (op->code == IR_THREAD_WGMMA) first = op;
    return first;
}

// Is the value used after an op of its block, or within that op?
static bool used_after(const IrValue *v, const IrOp *op) {
    for (const IrUse *use = v->uses; use; use = use->next) {
        const IrOp *at = use->user;
        while (at && at->block != op->block) at = at->block->parent;
        if (!at || use->user == op) continue;
        while (at && at != op) at = at->prev;
        if (at) return true;
    }
    return false;
}

// The value that the products of these sums began with; NULL: zero.
static const IrValue *origin_of(const IrValue *sums) {
    enum { FOR_INIT = 3 };
    while (sums && sums->def) {
        const IrOp *op = sums->def;
        switch (op->code) {
        case IR_THREAD_WGMMA: sums = ir_operand(op, 2); break;
        case IR_FOR: sums = ir_operand(op, FOR_INIT + sums->index); break;
        case IR_THREAD_WGMMA_BEGIN:
        case IR_THREAD_WGMMA_WAIT:
        case IR_THREAD_PACK:
        case IR_VEC_SHUFFLE: sums = ir_operand(op, 0); break;
        default: return sums;
        }
    }
    return sums;
}

// Do the sums, as the result of the region that ends here, move to another register? They do if
// another value of that variable is needed while they are in flight, or if they began as another
// variable.
static bool moves_to(const IrOp *yield, uint32_t i, const IrOp *first, const IrValue *origin) {
    const IrBlock *body = yield->block;
    const IrOp *parent = body->parent;
    if (!parent || body != first->block) return true;
    if (parent->code == IR_FOR) {
        const IrValue *before = body->args[1 + i];
        if (origin && origin->block == body && origin != before) return true;
        return used_after(before, first);
    }
    if (parent->code != IR_IF) return true;
    for (const IrUse *use = parent->results[i].uses; use; use = use->next)
        if (use->user->code == IR_YIELD) return true;
    for (uint32_t r = 0; r < parent->region_count; r++)
        if (used_after(ir_operand(parent->regions[r]->last, i), first) &&
            parent->regions[r] != body)
            return true;
    return false;
}

// May LLVM need a sum in another register than its product's?
static bool moves(const IrOp *wait) {
    const IrOp *first = first_in_flight(wait);
    const IrValue *origin = origin_of(ir_operand(wait, 0));
    if (!first) return true;
    for (const IrUse *use = wait->results[0].uses; use; use = use->next) {
        uint32_t i = (uint32_t)(use - use->user->operands);
        if (use->user->code == IR_YIELD && moves_to(use->user, i, first, origin)) return true;
    }
    return false;
}

// One assembly for each sum: results of one may be in registers of another's operands.
static void copy_sums(Gen *g, Dtype elem, uint32_t count, LLVMValueRef *sums) {
    static const char text[] = "mov.b32 $0, $1;";
    const char *how = sum_constraint(elem) == 'r' ? "=r,r,~{memory}" : "=f,f,~{memory}";
    LLVMTypeRef type = sum_type(g, elem), function = LLVMFunctionType(type, &type, 1, false);
    LLVMValueRef code = LLVMGetInlineAsm(function, text, sizeof text - 1, how, strlen(how), true,
                                         false, LLVMInlineAsmDialectATT, false);
    for (uint32_t i = 0; i < count; i++)
        sums[i] = LLVMBuildCall2(g->b, function, code, &sums[i], 1, "");
}

void nvptx_wgmma_wait(Gen *g, const IrOp *op) {
    const IrValue *x = ir_operand(op, 0);
    LLVMValueRef *sums = gen_parts(g, x), *results = gen_define_parts(g, op);
    Assembly *s = begin(g);
    int ahead = (int)ir_attr_int(op, IR_ATTR_COUNT);
    uint32_t count = x->type->count;
    ADD(s, text, "wgmma.wait_group.sync.aligned %d;", ahead);
    for (uint32_t i = 0; i < count; i++)
        add_result(s, sum_type(g, x->type->elem), "=", sum_constraint(x->type->elem));
    for (uint32_t i = 0; i < count; i++) add_tied(s, sums[i], i);
    end(g, s, results);
    if (!ahead && moves(op)) copy_sums(g, x->type->elem, count, results);
}

static bool is_in_flight(const Gen *g, const IrValue *v) {
    const IrOp *op = v->def;
    if (!op || (g->skipped && g->skipped[op->id])) return false;
    if (op->code == IR_THREAD_WGMMA_WAIT) return ir_attr_int(op, IR_ATTR_COUNT) > 0;
    return op->code == IR_THREAD_WGMMA;
}

// ptxas makes products wait for each other (C7514) if the wait for those of a loop's last step
// comes where code that passed the loop by comes as well.
void nvptx_leave_loop(Gen *g, const IrOp *loop) {
    const IrOp *yield = loop->regions[0]->last;
    bool any = false;
    for (uint32_t i = 0; i < yield->operand_count; i++)
        any |= is_in_flight(g, ir_operand(yield, i));
    if (!any) return;
    Assembly *s = begin(g);
    ADD(s, text, "wgmma.wait_group.sync.aligned 0;");
    end(g, s, NULL);
}
