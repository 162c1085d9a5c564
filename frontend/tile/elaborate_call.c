// Calls and casts. The body of a fn is elaborated at each call.
#include "frontend/tile/elaborate.h"

// ---- return

static void return_clear_flags(Elab *e) {
    Frame *frame = tile_of(e)->frame;
    for (Loop *loop = frame->loop; loop; loop = loop->outer) {
        el_assign_slot(e, &loop->active, el_bool(false));
        el_assign_slot(e, &loop->going, el_bool(false));
    }
    el_assign_slot(e, &frame->active, el_bool(false));
}

static bool return_same_count(Elab *e, uint32_t count, Span span) {
    Frame *frame = tile_of(e)->frame;
    if (!frame->returned) {
        frame->returned = true;
        frame->first_return = span;
        frame->result_count = count;
        frame->results = arena_new(e->scratch, Slot, count);
        frame->types = arena_new(e->scratch, const IrType *, count);
        for (uint32_t i = 0; i < count; i++)
            frame->results[i] =
                (Slot){.kind = SLOT_RESULT, .val = EL_NONE, .region = frame->region};
        return true;
    }
    if (frame->result_count == count) return true;
    el_error(e, span, DIAG_TYPE, "this return gives %u values, an earlier one %u", count,
             frame->result_count);
    el_note(e, frame->first_return, "the earlier one is here");
    return false;
}

// Later returns take the type of the first that has one; literals are converted to it.
static Val return_agree(Elab *e, uint32_t i, Val v, Span span) {
    Frame *frame = tile_of(e)->frame;
    const IrType *type = frame->types[i];
    if (v.kind == VAL_IR && !type) frame->types[i] = v.ir->type;
    if (!type || v.kind == VAL_POISON) return v;
    if (el_is_const(v) && type->kind == IR_TILE)
        return el_ir(el_adopt(e, v, type->elem, type->rank, type->shape, span));
    if (v.kind == VAL_IR && v.ir->type == type) return v;
    el_error(e, span, DIAG_TYPE, "this return gives %s, an earlier one %s", el_val_text(e, v),
             el_type_text(e, type));
    el_note(e, frame->first_return, "the earlier one is here");
    return EL_POISON;
}

static void return_values(Elab *e, uint32_t count, const Val *vals, Span span) {
    if (return_same_count(e, count, span)) {
        for (uint32_t i = 0; i < count; i++)
            el_assign_slot(e, &tile_of(e)->frame->results[i], return_agree(e, i, vals[i], span));
    }
    return_clear_flags(e);
}

void el_return_poison(Elab *e) {
    Frame *frame = tile_of(e)->frame;
    for (uint32_t i = 0; i < frame->result_count; i++)
        el_assign_slot(e, &frame->results[i], EL_POISON);
    frame->broken = true;
    return_clear_flags(e);
}

void el_return(Elab *e, const Ast *ast) {
    if (!tile_of(e)->frame->fn) {
        if (ast->a) {
            el_error(e, ast->a->span, DIAG_MISPLACED, "a kernel returns no value");
            el_help(e, "store it to a view or pointer");
        }
        return_clear_flags(e);
        return;
    }
    Val v = ast->a ? el_expr(e, ast->a) : EL_NONE;
    if (v.kind == VAL_TUPLE)
        return_values(e, v.tuple.count, v.tuple.items, ast->span);
    else if (v.kind == VAL_NONE && !ast->a)
        return_values(e, 0, NULL, ast->span);
    else if (v.kind == VAL_VIEW || v.kind == VAL_TYPE)
        return_values(e, 1, &v, ast->span);
    else
        return_values(e, 1, (Val[]){el_check_operand(e, v, ast->a->span)}, ast->span);
}

// ---- fns

static Val call_result(Elab *e, Frame *frame) {
    const AstFn *fn = frame->fn;
    if (frame->broken) return el_silent(e);
    bool all_paths = frame->active.val.kind == VAL_BOOL && !frame->active.val.truth;
    if (!all_paths && frame->result_count) {
        el_error(e, fn->decl->span, DIAG_MISSING_RETURN,
                 "'%s' does not return a value on every path", fn->decl->name);
        return EL_POISON;
    }
    if (!frame->result_count) return EL_NONE;
    if (frame->result_count == 1) return frame->results[0].val;
    Val *items = arena_new(e->scratch, Val, frame->result_count);
    for (uint32_t i = 0; i < frame->result_count; i++) items[i] = frame->results[i].val;
    return el_tuple(e, frame->result_count, items);
}

static bool call_count(Elab *e, const AstFn *fn, uint32_t count, Span call) {
    uint32_t expected = 0;
    for (const AstDecl *p = fn->params; p; p = p->next) expected++;
    if (expected == count) return true;
    el_error(e, call, DIAG_ARGUMENTS, "'%s' takes %u argument%s, %u given", fn->decl->name,
             expected, expected == 1 ? "" : "s", count);
    el_note(e, fn->decl->span, "'%s' is declared here", fn->decl->name);
    return false;
}

Val el_call_fn(Elab *e, const AstFn *fn, uint32_t count, const Val *args, Span call,
               const char *role) {
    if (!call_count(e, fn, count, call)) return EL_POISON;
    if (tile_of(e)->calls >= EL_CALL_DEPTH) {
        return el_error(e, call, DIAG_TOO_DEEP, "calls nest deeper than %d", EL_CALL_DEPTH);
    }
    if (tile_of(e)->inlined > EL_CALL_ALL) return el_silent(e);  // reported only once
    if (tile_of(e)->inlined++ == EL_CALL_ALL)
        return el_error(e, call, DIAG_TOO_DEEP, "a kernel inlines at most %d calls", EL_CALL_ALL);
    Frame frame = {.caller = tile_of(e)->frame,
                   .fn = fn,
                   .call = call,
                   .role = role,
                   .slot_count = fn->slots,
                   .region = e->region};
    frame.slots = arena_new(e->scratch, Slot, fn->slots);
    frame.active =
        (Slot){.kind = SLOT_ACTIVE, .val = el_bool(true), .tail = true, .region = e->region};
    tile_of(e)->frame = &frame;
    tile_of(e)->calls++;
    uint32_t i = 0;
    for (const AstDecl *p = fn->params; p; p = p->next) {
        Slot *slot = el_slot(e, p);
        if (slot) el_declare_slot(e, slot, args[i]);
        i++;
    }
    ir_note_inlined(e->func, fn->decl->name, fn->body->span, call);
    el_body(e, fn->body);
    Val result = call_result(e, &frame);
    tile_of(e)->calls--;
    tile_of(e)->frame = frame.caller;
    return result;
}

static Val call_fn(Elab *e, const Ast *call, const AstFn *fn) {
    uint32_t count = 0;
    for (const Ast *arg = call->list; arg; arg = arg->next) count++;
    Val *args = arena_new(e->scratch, Val, count);
    bool good = true;
    uint32_t i = 0;
    for (const Ast *arg = call->list; arg; arg = arg->next) {
        if (arg->kind == AST_NAMED) {
            el_error(e, arg->span, DIAG_ARGUMENTS, "'%s' takes no named arguments", fn->decl->name);
            good = false;
        } else {
            Val v = args[i] = el_expr(e, arg);
            if (v.kind == VAL_NONE || v.kind == VAL_STRING)
                args[i] = el_check_operand(e, v, arg->span);
        }
        i++;
    }
    return good ? el_call_fn(e, fn, count, args, call->span, "call") : EL_POISON;
}

// ---- casts

static Val call_cast(Elab *e, const Ast *call, Dtype to) {
    Args a;
    const char *name = dtype_name(to);
    const char *signature = arena_printf(e->scratch, "%s(x), %s(x, saturate = false)", name, name);
    if (!el_args(e, call, name, 1, 1, 1u << NAMED_SATURATE, signature, &a)) return EL_POISON;
    bool saturate = true;
    Val v = el_operand(e, a.at[0]);
    if (!el_named_bool(e, &a, NAMED_SATURATE, &saturate)) return EL_POISON;
    if (a.named[NAMED_SATURATE] && !dtype_is(to, DTYPE_CLASS_FP8)) {
        el_error(e, a.named[NAMED_SATURATE]->span, DIAG_ARGUMENTS,
                 "'saturate' is for casts to fp8 types, not to %s", name);
        return EL_POISON;
    }
    return el_cast(e, to, v, saturate, call->span);
}

// ---- dispatch

Val el_call(Elab *e, const Ast *call) {
    const Ast *callee = call->a;
    if (!callee) return el_silent(e);
    bool reads = callee->kind == AST_NAME && !callee->decl && callee->builtin == (int)TILE_LOAD;
    if (call->b && !reads) {
        el_error(e, call->b->span, DIAG_PAD,
                 "'or' gives the value of lanes that a read leaves out");
        el_help(e, "it follows x[…] and load(…)");
        return EL_POISON;
    }
    if (callee->kind == AST_TYPE) return call_cast(e, call, callee->dtype);
    if (callee->kind != AST_NAME)
        return callee->kind == AST_ERROR ? el_silent(e)
                                         : el_error(e, callee->span, DIAG_NOT_CALLABLE,
                                                    "only functions and types are called");
    if (!callee->decl)
        return callee->builtin < 0 ? el_silent(e)
                                   : el_call_builtin(e, call, (TileBuiltin)callee->builtin);
    if (callee->decl->kind == DECL_FN) return call_fn(e, call, callee->decl->owner);
    if (callee->decl->kind != DECL_KERNEL) {
        Slot *slot = el_slot(e, callee->decl);
        if (slot && slot->val.kind == VAL_TYPE) return call_cast(e, call, slot->val.type);
        if (slot && slot->val.kind == VAL_FN) return call_fn(e, call, slot->val.fn.own);
        if (slot && slot->val.kind == VAL_POISON && callee->decl->kind != DECL_CONST)
            return EL_POISON;
    }
    return el_error(e, callee->span, DIAG_NOT_CALLABLE, "'%s' can't be called", callee->name);
}
