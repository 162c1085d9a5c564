// Functions of triton.language: ranges, hints, assertions, prints.
#include "frontend/triton/elaborate.h"

Val tl_range(Elab *e, const TlCall *c) {
    bool two = tr_given(c, 1);
    Object o = {.kind = OBJECT_RANGE,
                .is_static = c->tl->which,
                .items = {two ? c->arg[0] : el_int(0), two ? c->arg[1] : c->arg[0],
                          tr_given(c, 2) ? c->arg[2] : el_int(1)}};
    return tr_object(e, o);
}

Val tl_hint(Elab *e, const TlCall *c) {
    (void)e;
    return c->arg[0];
}

Val tl_nothing(Elab *e, const TlCall *c) {
    (void)e;
    (void)c;
    return tr_none();
}

Val tl_assume(Elab *e, const TlCall *c) {
    bool truth;
    if (tr_const_truth(e, c->arg[0], &truth)) return tr_none();
    IrValue *cond = tr_truth(e, c->arg[0], c->at[0]);
    if (!cond) return EL_POISON;
    IrOp *op = ir_op(&e->b, IR_ASSUME, 1, &cond, 0, NULL, 0, NULL);
    ir_attr_set_int(op, IR_ATTR_BOUNDS, 0);
    return tr_none();
}

Val tl_static_assert(Elab *e, const TlCall *c) {
    bool truth;
    if (!tr_const_truth(e, c->arg[0], &truth)) {
        if (c->arg[0].kind == VAL_POISON) return EL_POISON;
        return el_error(e, c->at[0], DIAG_NOT_CONSTANT,
                        "tl.static_assert needs a condition known at compile time, found %s",
                        tr_text(e, c->arg[0]));
    }
    if (truth) return tr_none();
    Str text = tr_call_text(c, 1);
    return el_error(e, c->span, DIAG_STATIC_ASSERT, "the assertion does not hold%s%.*s",
                    text.size ? ": " : "", STR_ARG(text));
}

Val tl_device_assert(Elab *e, const TlCall *c) {
    IrValue *cond = tr_truth(e, c->arg[0], c->at[0]);
    if (!cond) return EL_POISON;
    if (tr_given(c, 2)) {
        IrValue *both[2] = {cond, tr_truth(e, c->arg[2], c->at[2])};
        if (!both[1] || !tr_same_shape(e, c->span, 2, both)) return EL_POISON;
        both[1] = ir_unary(&e->b, IR_NOT, both[1]);
        cond = ir_binary(&e->b, IR_OR, both[0], both[1]);
    }
    IrOp *op = ir_op(&e->b, IR_ASSERT, 1, &cond, 0, NULL, 0, NULL);
    Str text = tr_call_text(c, 1);
    if (!text.size) text = source_text(triton_of(e)->file->sources, c->at[0]);
    ir_attr_set_text(op, IR_ATTR_TEXT, text);
    return tr_none();
}

Val tl_device_print(Elab *e, const TlCall *c) {
    if (c->arg[0].kind != VAL_STRING) {
        el_error(e, c->at[0], DIAG_TYPE, "tl.device_print begins with a string, found %s",
                 tr_text(e, c->arg[0]));
        el_help(e, "write tl.device_print(\"name\", value)");
        return EL_POISON;
    }
    uint32_t count = c->arg[1].tuple.count;
    IrValue **values = arena_new(e->scratch, IrValue *, count + 1);
    Str *texts = arena_new(e->scratch, Str, count + 1);
    texts[0] = str(arena_printf(e->scratch, "%.*s ", STR_ARG(tr_call_text(c, 0))));
    for (uint32_t i = 0; i < count; i++) {
        values[i] = tr_numbers(e, c->arg[1].tuple.items[i], c->at[1]);
        if (!values[i]) return EL_POISON;
        texts[i + 1] = i + 1 < count ? STR(" ") : STR("");
    }
    IrOp *op = ir_op(&e->b, IR_PRINT, count, values, 0, NULL, 0, NULL);
    ir_attr_set_texts(op, IR_ATTR_TEXTS, count + 1, texts);
    return tr_none();
}

// ---- tl.swizzle2d: programs in groups of rows

Val tl_swizzle2d(Elab *e, const TlCall *c) {
    Span s = c->span, spans[2] = {s, s};
#define OP(op, a, b) tr_binary(e, op, a, b, s, spans)
    Val i = c->arg[0], j = c->arg[1], rows = c->arg[2], columns = c->arg[3], group = c->arg[4];
    Val ij = OP(PY_ADD, OP(PY_MUL, i, columns), j);
    Val size = OP(PY_MUL, group, columns);
    Val first = OP(PY_MUL, OP(PY_FLOOR_DIV, ij, size), group);
    const TlFunction *least = tl_find(STR("minimum"));
    TlCall m = {
        .tl = least, .span = s, .arg = {OP(PY_SUB, rows, first), group, EL_NONE}, .at = {s, s, s}};
    Val height = least->body(e, &m);
    Val at = OP(PY_MOD, ij, size);
    Val row = OP(PY_ADD, first, OP(PY_MOD, at, height));
    Val column = OP(PY_FLOOR_DIV, at, height);
#undef OP
    return el_tuple(e, 2, (Val[]){row, column});
}
