// Inlining: every call becomes a copy of the body of the called function, calls in it included.
//
// Needs: verified IR (the verifier refuses recursion). Keeps: everything; spans stay those of the
// function's source. Exceeding the limit on the size of the result is an error of the input: calls
// that double at every level would otherwise not end.
#include "passes/passes.h"
#include "passes/rewrite.h"

enum { OPS_MAX = 1 << 20 };

typedef struct Inline {
    IrFunc *func;
    PassContext *context;
    VEC(IrOp *) calls;
} Inline;

static void collect_calls(Inline *in, IrOp *op) {
    if (op->code == IR_CALL) vec_push(in->context->scratch, &in->calls, op);
    for (uint32_t i = 0; i < op->region_count; i++) {
        IR_EACH_OP(inner, op->regions[i]) { collect_calls(in, inner); }
    }
}

static IrValue *image(const Map *map, IrValue *value) {
    const uint64_t *found = map_find(map, map_key(value));
    return found ? (IrValue *)(uintptr_t)*found : value;
}

// The copies are between `before` (or the block's beginning) and the call; calls among them come
// next.
static void expand(Inline *in, IrOp *call, const IrFunc *callee) {
    Arena *scratch = in->context->scratch;
    Map map = {0};
    for (size_t i = 0; i < callee->params.count; i++) {
        map_put(scratch, &map, map_key(callee->params.data[i].value),
                map_key(ir_operand(call, (uint32_t)i)));
    }
    IrBlock *block = call->block;
    IrOp *before = call->prev;
    IrBuilder b = ir_builder_before(call);
    ir_clone_block(&b, ir_body(callee), &map, scratch);
    for (IrOp *op = before ? before->next : block->first; op != call; op = op->next) {
        collect_calls(in, op);
    }
    const IrOp *end = rewrite_terminator(ir_body(callee));
    IrValue **results = arena_new(scratch, IrValue *, call->result_count);
    for (uint32_t i = 0; i < call->result_count; i++) results[i] = image(&map, ir_operand(end, i));
    rewrite_replace_op(call, results);
}

bool pass_inline(IrFunc *f, PassContext *context) {
    Inline in = {.func = f, .context = context};
    for (size_t i = 0; i < f->sections.count; i++) {
        IR_EACH_OP(op, f->sections.data[i].block) { collect_calls(&in, op); }
    }
    bool changed = in.calls.count > 0;
    while (in.calls.count) {
        IrOp *call = vec_pop(&in.calls);
        const IrFunc *callee = ir_func_find(f->module, ir_attr(call, IR_ATTR_CALLEE)->u.name);
        if (!callee || callee->is_kernel || callee == f || !ir_body(callee)) {
            diag_error(context->diags, call->span, DIAG_PASS, "call of '%s': expected a function",
                       ir_attr(call, IR_ATTR_CALLEE)->u.name);
            return changed;
        }
        if (f->op_count > OPS_MAX) {
            diag_error(context->diags, call->span, DIAG_TOO_LARGE,
                       "'%s' grows over %d operations when its calls are inlined", f->name,
                       OPS_MAX);
            return changed;
        }
        expand(&in, call, callee);
    }
    return changed;
}
