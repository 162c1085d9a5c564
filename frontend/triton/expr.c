// Expressions.
#include "frontend/triton/elaborate.h"

bool tr_const_int(Elab *e, Val v, const char *what, Span span, Wide *value) {
    if (v.kind == VAL_POISON) return false;
    if (v.kind == VAL_BOOL) v = el_int(v.truth);
    *value = v.integer;
    if (v.kind == VAL_INT) return true;
    el_error(e, span, DIAG_NOT_CONSTANT, "%s must be an integer known at compile time, found %s",
             what, tr_text(e, v));
    if (v.kind == VAL_IR)
        el_help(e, "a parameter is known at compile time when it is annotated: N: tl.constexpr");
    return false;
}

// ---- names

static Val python_name(Elab *e, const Py *node) {
    static const char *const known[] = {"range", "len",       "min",     "max",     "abs",
                                        "int",   "float",     "bool",    "str",     "isinstance",
                                        "list",  "tuple",     "print",   "sum",     "round",
                                        "zip",   "enumerate", "hasattr", "getattr", "dict"};
    Str name = str(node->name);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_equal(name, str(known[i])))
            return tr_object(e, (Object){.kind = OBJECT_PYTHON, .path = name});
    if (triton_of(e)->launch && tl_find(name))
        return tr_object(e, (Object){.kind = OBJECT_TL, .tl = tl_find(name), .path = name});
    el_error(e, node->span, DIAG_UNKNOWN_NAME, "unknown name '%s'", node->name);
    VEC(Str) names = {0};
    TritonElab *t = triton_of(e);
    const TritonModule *module = tr_module(e);
    for (size_t i = 0; i < module->globals.count; i++)
        vec_push(e->scratch, &names, str(module->globals.data[i]->name));
    for (const PyParam *p = t->frame ? t->frame->func->params : NULL; p; p = p->next)
        vec_push(e->scratch, &names, str(p->name));
    Str near = str_nearest(name, names.data, names.count);
    if (near.size) el_help(e, "did you mean '%.*s'?", STR_ARG(near));
    return EL_POISON;
}

static Val name_value(Elab *e, const Py *node) {
    Slot *slot = tr_slot(e, node->name);
    if (slot) {
        Val v = tr_slot_value(e, slot);
        if (v.kind != VAL_NONE) return v;
        el_error(e, node->span, DIAG_UNKNOWN_NAME, "'%s' has no value here", node->name);
        el_help(e, "it is assigned in a loop or on one side of an 'if' only: assign it before");
        return EL_POISON;
    }
    bool found;
    Val v = tr_global(e, node->name, node->span, &found);
    return found ? v : python_name(e, node);
}

// ---- and, or, comparisons, x if c else y

static Val logical(Elab *e, const Py *node) {
    Val left = tr_expr(e, node->list);
    Span span = node->list->span;
    for (const Py *x = node->list->next; x; x = x->next) {
        bool truth;
        if (left.kind == VAL_POISON) return left;
        if (tr_const_truth(e, left, &truth)) {
            if (truth != (node->op == PY_AND)) return left;
            left = tr_expr(e, x);
            continue;
        }
        Val right = tr_expr(e, x);
        if (tr_const_truth(e, right, &truth)) {
            // tensor and True; tensor or False
            if (truth == (node->op == PY_AND)) continue;
            left = el_bool(truth);
            continue;
        }
        IrValue *both[2] = {tr_truth(e, left, span), tr_truth(e, right, x->span)};
        if (!both[0] || !both[1] || !tr_same_shape(e, node->span, 2, both)) return EL_POISON;
        left = el_ir(ir_binary(&e->b, node->op == PY_AND ? IR_AND : IR_OR, both[0], both[1]));
    }
    return left;
}

static Val comparison(Elab *e, const Py *node) {
    Val left = tr_expr(e, node->a), result = EL_NONE;
    const Py *before = node->a;
    for (const Py *step = node->list; step; step = step->next) {
        Val right = tr_expr(e, step->a);
        if (left.kind == VAL_POISON || right.kind == VAL_POISON) return EL_POISON;
        bool folds = (step->op >= PY_IN && step->op <= PY_IS_NOT) || tr_object_of(left) ||
                     tr_object_of(right);
        Span spans[2] = {before->span, step->a->span};
        Val v = folds ? tr_fold(e, step->op, left, right, node->span)
                      : tr_binary(e, step->op, left, right, node->span, spans);
        result =
            result.kind == VAL_NONE ? v : tr_binary(e, PY_BIT_AND, result, v, node->span, spans);
        left = right;
        before = step->a;
    }
    return result;
}

static Val ternary(Elab *e, const Py *node) {
    Val cond = tr_expr(e, node->a);
    bool truth;
    if (cond.kind == VAL_POISON) return cond;
    if (tr_const_truth(e, cond, &truth)) return tr_expr(e, truth ? node->b : node->c);
    IrValue *flag = tr_condition(e, cond, node->a->span);
    if (!flag) return EL_POISON;
    Region arms[2];
    Val vals[2];
    const Py *sides[2] = {node->b, node->c};
    for (int i = 0; i < 2; i++) {
        if (!el_region_begin(e, &arms[i], ir_block_create(e->func), node->span)) return EL_POISON;
        vals[i] = tr_named(e, tr_expr(e, sides[i]), sides[i]->span);
        el_region_end(e, &arms[i]);
    }
    Slot slot = {.kind = SLOT_RESULT, .val = EL_NONE, .region = e->region};
    for (int i = 0; i < 2; i++) {
        arms[i].changes = arena_new(e->scratch, Change, arms[i].count + 1);
        arms[i].changes[0] = (Change){&slot, vals[i]};
        arms[i].count = 1;
    }
    el_merge(e, flag, &arms[0], &arms[1], node->span);
    return slot.val;
}

// ---- x[…]

static Val tuple_item(Elab *e, Val v, const Py *node) {
    const Py *at = node->b;
    Wide count = v.kind == VAL_TUPLE ? v.tuple.count : v.text.size, i;
    if (at->kind == PY_SLICE) {
        Wide bounds[2] = {0, count};
        const Py *ends[2] = {at->a, at->b};
        for (int k = 0; k < 2; k++) {
            if (!ends[k]) continue;
            if (!tr_const_int(e, tr_expr(e, ends[k]), "a bound of a slice", ends[k]->span,
                              &bounds[k]))
                return EL_POISON;
            if (bounds[k] < 0) bounds[k] += count;
            if (bounds[k] < 0) bounds[k] = 0;
            if (bounds[k] > count) bounds[k] = count;
        }
        uint32_t n = bounds[1] > bounds[0] ? (uint32_t)(bounds[1] - bounds[0]) : 0;
        if (v.kind == VAL_STRING)
            return (Val){.kind = VAL_STRING, .text = {v.text.text + (size_t)bounds[0], n}};
        return el_tuple(e, n, v.tuple.items + (size_t)bounds[0]);
    }
    if (!tr_const_int(e, tr_expr(e, at), "the index of a tuple", at->span, &i)) return EL_POISON;
    if (i < 0) i += count;
    if (i < 0 || i >= count)
        return el_error(e, at->span, DIAG_INDEX, "the index is outside of %s", tr_text(e, v));
    if (v.kind == VAL_STRING)
        return (Val){.kind = VAL_STRING, .text = {v.text.text + (size_t)i, 1}};
    return v.tuple.items[i];
}

static bool is_full_slice(const Py *x) { return x->kind == PY_SLICE && !x->a && !x->b && !x->c; }

// x[:, None]: only whole dimensions and new ones.
static Val tensor_subscript(Elab *e, Val v, const Py *node) {
    const Py *list = node->b->kind == PY_TUPLE ? node->b->list : node->b;
    Shape shape = {0};
    uint32_t used = 0;
    const IrType *t = v.ir->type;
    for (const Py *x = list; x; x = node->b->kind == PY_TUPLE ? x->next : NULL) {
        bool whole = is_full_slice(x);
        if (x->kind == PY_ELLIPSIS || (!whole && x->kind != PY_NONE)) {
            Val index = x->kind == PY_ELLIPSIS ? EL_POISON : tr_expr(e, x);
            if (tr_is_none(index)) {
                whole = false;
            } else {
                el_error(e, x->span, DIAG_INDEX, "a tensor takes ':' and 'None' as subscripts");
                el_help(e, "elements are chosen by tl.gather, or when they are loaded");
                return EL_POISON;
            }
        }
        if (shape.rank == IR_MAX_RANK)
            return el_error(e, node->span, DIAG_SHAPE, "a tensor has at most %d dimensions",
                            IR_MAX_RANK);
        if (whole && used == t->rank)
            return el_error(e, x->span, DIAG_INDEX, "%s has %u dimensions", tr_text(e, v), t->rank);
        shape.dims[shape.rank++] = whole ? t->shape[used++] : 1;
    }
    while (used < t->rank && shape.rank < IR_MAX_RANK) shape.dims[shape.rank++] = t->shape[used++];
    return el_ir(ir_reshape(&e->b, v.ir, shape.rank, shape.dims));
}

static Val subscript(Elab *e, const Py *node) {
    Val v = tr_expr(e, node->a);
    if (v.kind == VAL_POISON) return v;
    if (v.kind == VAL_TUPLE || v.kind == VAL_STRING) return tuple_item(e, v, node);
    if (v.kind == VAL_IR) return tensor_subscript(e, v, node);
    if (tr_is(v, OBJECT_META)) {
        Val key = tr_expr(e, node->b);
        Slot *slot =
            key.kind == VAL_STRING ? tr_slot(e, intern(triton_of(e)->file->names, key.text)) : NULL;
        if (slot) return slot->val;
        return el_error(e, node->b->span, DIAG_UNKNOWN_NAME, "the kernel has no such parameter");
    }
    // tl.constexpr[int] and other generic types of annotations
    if (tr_object_of(v)) return v;
    return el_error(e, node->span, DIAG_INDEX, "%s has no elements", tr_text(e, v));
}

// ---- tuples, strings, lambdas

static Val sequence(Elab *e, const Py *node) {
    VEC(Val) items = {0};
    for (const Py *x = node->list; x; x = x->next) {
        Val v = tr_expr(e, x->kind == PY_STARRED ? x->a : x);
        if (v.kind == VAL_POISON) return v;
        if (x->kind == PY_STARRED && v.kind == VAL_TUPLE)
            for (uint32_t i = 0; i < v.tuple.count; i++)
                vec_push(e->scratch, &items, v.tuple.items[i]);
        else
            vec_push(e->scratch, &items, v);
    }
    return el_tuple(e, (uint32_t)items.count, items.data);
}

static Val format_string(Elab *e, const Py *node) {
    StrBuf text = strbuf(triton_of(e)->file->arena);
    for (const Py *x = node->list; x; x = x->next) {
        if (x->kind == PY_STRING) {
            strbuf_add(&text, x->text);
            continue;
        }
        Val v = tr_expr(e, x->a);
        if (v.kind == VAL_STRING)
            strbuf_add(&text, v.text);
        else if (v.kind == VAL_INT)
            strbuf_add(&text, str(el_wide_text(e, v.integer)));
        else
            strbuf_add(&text, str(tr_text(e, v)));
    }
    return (Val){.kind = VAL_STRING, .text = strbuf_str(&text)};
}

// [f(i) for i in range(4)], with one clause
static Val comprehension(Elab *e, const Py *node) {
    const Py *clause = node->list;
    Val over = clause ? tr_expr(e, clause->b) : EL_POISON;
    VEC(Val) source = {0}, items = {0};
    const Object *o = tr_object_of(over);
    if (over.kind == VAL_TUPLE)
        for (uint32_t i = 0; i < over.tuple.count; i++)
            vec_push(e->scratch, &source, over.tuple.items[i]);
    else if (o && o->kind == OBJECT_RANGE && o->items[0].kind == VAL_INT &&
             o->items[1].kind == VAL_INT && o->items[2].kind == VAL_INT && o->items[2].integer > 0)
        for (Wide i = o->items[0].integer; i < o->items[1].integer && source.count < 4096;
             i += o->items[2].integer)
            vec_push(e->scratch, &source, el_int(i));
    else if (over.kind != VAL_POISON)
        return el_error(e, node->span, DIAG_NOT_CONSTANT,
                        "a comprehension needs a sequence known at compile time");
    if (over.kind == VAL_POISON || clause->next || clause->a->kind != PY_NAME ||
        !triton_of(e)->frame)
        return over.kind == VAL_POISON
                   ? over
                   : el_error(e, node->span, DIAG_UNSUPPORTED,
                              "this comprehension is not supported: one name, one 'for'");
    for (size_t i = 0; i < source.count; i++) {
        tr_assign(e, clause->a, source.data[i]);
        bool keep = true;
        for (const Py *c = clause->list; c && keep; c = c->next)
            if (!tr_const_truth(e, tr_expr(e, c), &keep)) keep = false;
        if (keep) vec_push(e->scratch, &items, tr_expr(e, node->a));
    }
    return el_tuple(e, (uint32_t)items.count, items.data);
}

static Val number_node(const Py *node) {
    if (node->kind == PY_FLOAT) return (Val){.kind = VAL_FLOAT, .real = node->real};
    return el_int(node->integer);
}

static Val binary_node(Elab *e, const Py *node) {
    // The left side may be a chain of any length.
    VEC(const Py *) chain = {0};
    const Py *x = node;
    for (; x->kind == PY_BINARY; x = x->a) vec_push(e->scratch, &chain, x);
    Val v = tr_expr(e, x);
    for (size_t i = chain.count; i-- > 0;) {
        const Py *b = chain.data[i];
        Val right = tr_expr(e, b->b);
        e->b.span = b->span;
        v = tr_binary(e, b->op, v, right, b->span, (Span[]){b->a->span, b->b->span});
    }
    return v;
}

static Val unsupported(Elab *e, const Py *node, const char *what) {
    return el_error(e, node->span, DIAG_UNSUPPORTED, "a kernel cannot use %s", what);
}

static Val expression(Elab *e, const Py *node) {
    switch (node->kind) {
    case PY_INT:
        if (node->huge)
            return el_error(e, node->span, DIAG_LITERAL_RANGE, "the integer needs over 64 bits");
        return number_node(node);
    case PY_FLOAT: return number_node(node);
    case PY_STRING: return (Val){.kind = VAL_STRING, .text = node->text};
    case PY_FSTRING: return format_string(e, node);
    case PY_NAME: return name_value(e, node);
    case PY_TRUE: return el_bool(true);
    case PY_FALSE: return el_bool(false);
    case PY_NONE: return tr_none();
    case PY_UNARY: return tr_unary(e, node->op, tr_expr(e, node->a), node->span);
    case PY_BINARY: return binary_node(e, node);
    case PY_BOOL_OP: return logical(e, node);
    case PY_COMPARE: return comparison(e, node);
    case PY_TERNARY: return ternary(e, node);
    case PY_CALL: return tr_call(e, node);
    case PY_ATTRIBUTE: return tr_attribute(e, tr_expr(e, node->a), node);
    case PY_SUBSCRIPT: return subscript(e, node);
    case PY_TUPLE:
    case PY_LIST: return sequence(e, node);
    case PY_LIST_COMP:
    case PY_GENERATOR: return comprehension(e, node);
    case PY_LAMBDA: return tr_object(e, (Object){.kind = OBJECT_LAMBDA, .func = node->func});
    case PY_WALRUS: {
        Val v = tr_expr(e, node->b);
        tr_assign(e, node->a, v);
        return v;
    }
    case PY_DICT: return unsupported(e, node, "a dict");
    case PY_SET: return unsupported(e, node, "a set");
    case PY_AWAIT:
    case PY_YIELD: return unsupported(e, node, "await and yield");
    case PY_ERROR: return EL_POISON;
    default: return unsupported(e, node, "this expression");
    }
}

Val tr_expr(Elab *e, const Py *node) {
    TritonElab *t = triton_of(e);
    if (t->depth >= TR_WALK_DEPTH)
        return el_error(e, node->span, DIAG_TOO_DEEP, "expressions and calls nest deeper than %d",
                        TR_WALK_DEPTH);
    t->depth++;
    Span outer = e->b.span;
    e->b.span = node->span;
    Val v = expression(e, node);
    e->b.span = outer;
    t->depth--;
    return v;
}
