// Views: selections, reads with pads, writes with masks, packed elements.
#include "frontend/tile/elaborate.h"

static bool view_packed(const View *view) { return dtype_is(view->elem, DTYPE_CLASS_PACKED); }

// ---- indices

static IrValue *access_index(Elab *e, const Ast *ast, bool scalar) {
    Val v = el_operand(e, ast);
    if (v.kind == VAL_POISON) return NULL;
    if (v.kind == VAL_INT) return el_adopt(e, v, DTYPE_I64, 0, NULL, ast->span);
    if (v.kind != VAL_IR || el_is_ptr(v.ir) || !dtype_is(el_elem(v.ir), DTYPE_CLASS_INT)) {
        el_error(e, ast->span, DIAG_INDEX, "an index must be an integer, found %s",
                 el_val_text(e, v));
        return NULL;
    }
    if (!v.ir->type->rank) return el_index_to_i64(e, v.ir);
    if (scalar) {
        el_error(e, ast->span, DIAG_INDEX, "the start of a part-select is a scalar, found %s",
                 el_val_text(e, v));
        el_help(e, "a tile of indices is written without '+:'");
        return NULL;
    }
    Dtype elem = el_elem(v.ir);
    if (elem == DTYPE_I32 || elem == DTYPE_I64) return v.ir;
    return dtype_bits(elem) < 32 ? el_convert(e, v.ir, DTYPE_I32) : el_index_to_i64(e, v.ir);
}

static bool access_select(Elab *e, Access *a, const Ast *ast, uint32_t dim) {
    uint32_t width = 0;
    bool good = el_const_extent(e, ast->b, "the width of a part-select", DIAG_SELECT_WIDTH, &width);
    a->index[dim] = access_index(e, ast->a, true);
    a->select[dim] = width;
    if (!a->index[dim] || !good) return false;
    if (!view_packed(a->view) || dim + 1 != a->view->rank || el_provably_even(e, a->index[dim]))
        return true;
    el_error(e, ast->a->span, DIAG_PACKED, "the offset into %s data must be provably even",
             dtype_name(a->view->elem));
    el_help(e, "use a multiple of an even constant, as program(0) * 64");
    return false;
}

static bool access_view(Elab *e, const Ast *index, Access *a) {
    Val v = el_expr(e, index->a);
    if (v.kind == VAL_POISON) return false;
    if (v.kind == VAL_VIEW) {
        a->view = v.view;
        if (tile_of(e)->place == EL_IN_BODY) return true;
        el_error(e, index->span, tile_of(e)->place == EL_IN_GRID ? DIAG_GRID : DIAG_REQUIRES,
                 "memory can't be read before the launch");
        return false;
    }
    el_not_indexed(e, v, index->a->span);
    return false;
}

Val el_not_indexed(Elab *e, Val v, Span span) {
    el_error(e, span, DIAG_INDEX, "only views, tiles and arrays are indexed, found %s",
             el_val_text(e, v));
    if (v.kind == VAL_IR && el_is_ptr(v.ir)) el_help(e, "use load(p + i) and store(p + i, v)");
    return EL_POISON;
}

bool el_access(Elab *e, const Ast *index, Access *a) {
    *a = (Access){.span = index->span};
    bool good = access_view(e, index, a);
    uint32_t given = 0;
    for (const Ast *i = index->list; i; i = i->next) given++;
    if (good && given != a->view->rank) {
        el_error(e, index->span, DIAG_INDEX, "view '%s' has %u dimension%s, %u ind%s given",
                 a->view->name, a->view->rank, a->view->rank == 1 ? "" : "s", given,
                 given == 1 ? "ex" : "ices");
        el_help(e, "every dimension is indexed or selected, as in %s[%s]", a->view->name,
                a->view->rank > 1 ? "i, 0 +: W" : "0 +: W");
        return false;
    }
    if (!good) return false;
    for (const Ast *i = index->list; i; i = i->next) {
        uint32_t dim = a->count++;
        if (i->kind == AST_SELECT && !i->a) {
            el_error(e, i->span, DIAG_INDEX,
                     "a view has no ':': its extents are not those of tiles");
            el_help(e, "select a part, as in %s[%s]", a->view->name,
                    a->view->rank > 1 ? "i, 0 +: W" : "0 +: W");
            good = false;
        } else if (i->kind == AST_SELECT) {
            good = access_select(e, a, i, dim) && good;
        } else {
            a->index[dim] = access_index(e, i, false);
            good = a->index[dim] && good;
        }
    }
    return good && el_access_shape(e, a);
}

// ---- reads

// The operand of `or`: a scalar, converted to the element type; NULL after an error.
IrValue *el_pad(Elab *e, const Ast *ast, Dtype elem) {
    Val v = el_operand(e, ast);
    if (v.kind == VAL_POISON) return NULL;
    if (el_is_const(v)) return el_adopt(e, v, elem, 0, NULL, ast->span);
    bool is_bool = el_elem(v.ir) == DTYPE_BOOL;
    if (el_is_ptr(v.ir) || v.ir->type->rank || is_bool != (elem == DTYPE_BOOL)) {
        el_error(e, ast->span, DIAG_PAD, "the operand of 'or' must be a scalar %s, found %s",
                 dtype_name(elem), el_val_text(e, v));
        if (v.ir->type->rank) el_help(e, "use select(inside(…), …, tile)");
        return NULL;
    }
    return el_convert(e, v.ir, elem);
}

Val el_view_load_as(Elab *e, const Ast *index, const Ast *other, IrCache cache) {
    Access a;
    bool good = el_access(e, index, &a);
    IrValue *pad = NULL;
    if (other) {
        if (!good) {
            el_operand(e, other);
            return EL_POISON;
        }
        pad = el_pad(e, other, el_view_elem(a.view));
        if (!pad) return EL_POISON;
    }
    if (!good) return EL_POISON;
    IrValue *v = el_view_read(e, &a, pad);
    ir_attr_set_int(v->def, IR_ATTR_CACHE, cache);
    return el_ir(v);
}

Val el_view_load(Elab *e, const Ast *index) {
    return el_view_load_as(e, index, index->b, IR_CACHE_NORMAL);
}

bool el_selects_view(Elab *e, const Ast *ast) {
    const Ast *base = ast->kind == AST_INDEX ? ast->a : NULL;
    Slot *slot = base && base->kind == AST_NAME ? el_slot(e, base->decl) : NULL;
    return slot && slot->val.kind == VAL_VIEW;
}

Val el_view_inside(Elab *e, const Ast *index) {
    Access a;
    if (!el_access(e, index, &a)) return EL_POISON;
    return el_ir(ir_result(el_view_op(e, &a, IR_VIEW_INSIDE, 0, NULL), 0));
}

// ---- writes

static const char *stored_into(Elab *e, Symbol view) {
    return view ? arena_printf(e->scratch, "view '%s'", view) : "this pointer's memory";
}

IrValue *el_stored(Elab *e, Val v, Dtype elem, const Shape *shape, Span span, Symbol view) {
    v = el_check_operand(e, v, span);
    if (v.kind == VAL_POISON) return NULL;
    if (el_is_const(v)) return el_adopt(e, v, elem, shape->rank, shape->dims, span);
    if (el_is_ptr(v.ir) || el_elem(v.ir) != elem) {
        el_error(e, span, DIAG_TYPE, "%s holds %s, found %s", stored_into(e, view),
                 dtype_name(elem), el_val_text(e, v));
        if (!el_is_ptr(v.ir)) el_help(e, "cast it: %s(…)", dtype_name(elem));
        return NULL;
    }
    if (el_stretches(v.ir->type, shape->rank, shape->dims))
        return el_broadcast(e, v.ir, shape->rank, shape->dims);
    const char *wanted = shape->rank ? el_shape_text(e, shape->rank, shape->dims) : "";
    el_error(e, span, DIAG_SHAPE, "%s takes %s%s here, found %s", stored_into(e, view),
             shape->rank ? "the shape " : "a scalar", wanted, el_type_text(e, v.ir->type));
    el_help(e, "the value stretches to the selection, never the selection to the value");
    return NULL;
}

IrValue *el_mask(Elab *e, const Ast *ast, const Shape *shape) {
    Val v = el_operand(e, ast);
    if (v.kind == VAL_POISON) return NULL;
    if (v.kind == VAL_BOOL) return el_adopt(e, v, DTYPE_BOOL, shape->rank, shape->dims, ast->span);
    if (v.kind != VAL_IR || el_is_ptr(v.ir) || el_elem(v.ir) != DTYPE_BOOL) {
        el_error(e, ast->span, DIAG_TYPE, "a mask must be bool, found %s", el_val_text(e, v));
        el_help(e, "compare with 0");
        return NULL;
    }
    if (el_stretches(v.ir->type, shape->rank, shape->dims))
        return el_broadcast(e, v.ir, shape->rank, shape->dims);
    el_error(e, ast->span, DIAG_SHAPE, "the mask of shape %s does not fit %s",
             el_shape_text(e, v.ir->type->rank, v.ir->type->shape),
             el_shape_text(e, shape->rank, shape->dims));
    return NULL;
}

bool el_no_packed_store(Elab *e, const Access *a, const Ast *mask) {
    if (!view_packed(a->view)) return true;
    const char *problem = NULL;
    Span span = a->span;
    if (a->gathers)
        problem = "have no scatter";
    else if (a->select[a->count - 1] == 0)
        problem = "take a part-select in the last dimension";
    else if (a->select[a->count - 1] == 1)
        problem = "are at least 2 elements wide";
    else if (mask)
        problem = "have no 'if'";
    if (!problem) return true;
    if (mask && !a->gathers && a->select[a->count - 1] > 1) span = mask->span;
    el_error(e, span, DIAG_PACKED, "writes of %s %s", dtype_name(a->view->elem), problem);
    el_help(e, "two elements share a byte");
    return false;
}

void el_view_assign(Elab *e, const Ast *assign) {
    Access a;
    bool good = el_access(e, assign->a, &a);
    if (assign->a->b) {
        el_error(e, assign->a->b->span, DIAG_PAD, "'or' belongs to a read, not to a write");
        good = false;
    }
    Val v = el_expr(e, assign->b);
    if (!good) {
        if (assign->c) el_operand(e, assign->c);
        return;
    }
    good = el_no_packed_store(e, &a, assign->c);
    if (assign->op != OPERATOR_NONE) {
        Val old = el_ir(el_view_read(e, &a, NULL));
        v = el_binary(e, assign->op, old, v, assign->span, assign->a->span, assign->b->span);
    }
    IrValue *value = el_stored(e, v, el_view_elem(a.view), &a.shape, assign->b->span, a.view->name);
    IrValue *mask = assign->c ? el_mask(e, assign->c, &a.shape) : NULL;
    if (!value || (assign->c && !mask) || !good) return;
    el_view_op(e, &a, IR_VIEW_STORE, 2, (IrValue *[]){value, mask});
}

void el_view_store(Elab *e, const Ast *index, Val v, Span span, const Ast *mask, IrCache cache) {
    Access a;
    if (!el_access(e, index, &a)) {
        if (mask) el_operand(e, mask);
        return;
    }
    bool good = el_no_packed_store(e, &a, mask);
    IrValue *value = el_stored(e, v, el_view_elem(a.view), &a.shape, span, a.view->name);
    IrValue *on = mask ? el_mask(e, mask, &a.shape) : NULL;
    if (!value || (mask && !on) || !good) return;
    IrOp *op = el_view_op(e, &a, IR_VIEW_STORE, 2, (IrValue *[]){value, on});
    ir_attr_set_int(op, IR_ATTR_CACHE, cache);
}
