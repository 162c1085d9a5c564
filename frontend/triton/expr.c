// Expressions.
#include "frontend/triton/elaborate.h"

// Says how a value becomes one that is known at compile time.
static void help_constant(Elab *e, const IrValue *v) {
    const char *name = v->name ? v->name : "N";
    for (size_t i = 0; i < e->func->params.count; i++)
        if (e->func->params.data[i].value == v) {
            el_help(e, "a parameter is known when it is annotated: %s: tl.constexpr", name);
            return;
        }
    if (v->def && v->def->code == IR_CONST)
        el_help(e, "'=' makes a tensor; a number stays known when it is written %s: tl.constexpr",
                name);
    else if (!v->def)
        el_help(e, "the counter of tl.static_range is known, that of range is not");
    else
        el_help(e, "a value is known when it is computed from constexprs and numbers only");
}

bool tr_const_int(Elab *e, Val v, const char *what, Span span, Int128 *value) {
    if (v.kind == VAL_POISON) return false;
    if (v.kind == VAL_BOOL) v = el_int(v.truth);
    *value = v.integer;
    if (v.kind == VAL_INT) return true;
    el_error(e, span, DIAG_NOT_CONSTANT, "%s must be an integer known at compile time, found %s",
             what, tr_text(e, v));
    if (v.kind == VAL_IR) help_constant(e, v.ir);
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
    if (tr_is_builtin(name))
        return tr_certain(e, node->span, DIAG_UNSUPPORTED,
                          "a kernel cannot use Python's function '%s'", node->name);
    tr_certain(e, node->span, DIAG_UNKNOWN_NAME, "unknown name '%s'", node->name);
    VEC(Str) names = {0};
    TritonElab *t = triton_of(e);
    const TritonModule *module = tr_module(e);
    for (size_t i = 0; i < module->globals.count; i++)
        vec_push(e->scratch, &names, str(module->globals.data[i]->name));
    for (uint32_t i = 0; t->frame && i < t->frame->slots.count; i++)
        vec_push(e->scratch, &names, str((Symbol)(uintptr_t)t->frame->slots.entries[i].key));
    Str near = str_nearest(name, names.data, names.count);
    if (near.size)
        el_help(e, "did you mean '%.*s'?", STR_ARG(near));
    else if (str_equal(name, STR("tl")))
        el_help(e, "add 'import triton.language as tl' at the top of the file");
    else if (tl_find(name))
        el_help(e, "did you mean 'tl.%s'?", node->name);
    return EL_POISON;
}

static Val name_value(Elab *e, const Py *node) {
    Slot *slot = tr_slot(e, node->name);
    if (slot) {
        Val v = tr_slot_value(e, slot);
        if (v.kind != VAL_NONE) return v;
        el_error(e, node->span, DIAG_NOT_A_VALUE, "'%s' has no value here", node->name);
        el_help(e,
                "a name that is assigned in a loop, or on one side of an 'if', has none "
                "afterwards: assign it before");
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

static Val dict_item(Elab *e, const Object *o, Val key, Span span);

Val tr_meta(Elab *e, Str name) {
    TritonElab *t = triton_of(e);
    Symbol symbol = intern(t->file->names, name);
    const uint64_t *found = t->meta ? map_find(&t->meta->slots, map_key(symbol)) : NULL;
    return found ? tr_slot_value(e, (const Slot *)(uintptr_t)*found) : EL_NONE;
}

static Val tuple_item(Elab *e, Val v, const Py *node) {
    const Py *at = node->b;
    Int128 count = v.kind == VAL_TUPLE ? v.tuple.count : v.text.size, i;
    if (at->kind == PY_SLICE) {
        Int128 bounds[2] = {0, count};
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

// `:`, whose parts may be None.
static bool is_full_slice(const Py *x) {
    const Py *parts[3] = {x->a, x->b, x->c};
    if (x->kind != PY_SLICE) return false;
    for (int i = 0; i < 3; i++)
        if (parts[i] && parts[i]->kind != PY_NONE) return false;
    return true;
}

static Val wrong_subscript(Elab *e, Val v, const Py *x) {
    if (triton_of(e)->stopped) return EL_POISON;
    bool pointer = el_is_ptr(v.ir);
    el_error(e, x->span, DIAG_INDEX, "a %s takes ':' and 'None' as subscripts",
             pointer ? "pointer" : "tensor");
    if (pointer)
        el_help(e, "p + i is the address of element i; tl.load and tl.store access it");
    else
        el_help(e, "elements are chosen by tl.gather, or when they are loaded");
    return EL_POISON;
}

// x[:, None]: only whole dimensions and new ones.
static Val tensor_subscript(Elab *e, Val v, const Py *node) {
    const Py *list = node->b->kind == PY_TUPLE ? node->b->list : node->b;
    Shape shape = {0};
    uint32_t used = 0;
    const IrType *t = v.ir->type;
    for (const Py *x = list; x; x = node->b->kind == PY_TUPLE ? x->next : NULL) {
        bool whole = is_full_slice(x);
        bool names_none = !whole && x->kind != PY_ELLIPSIS && x->kind != PY_SLICE &&
                          (x->kind == PY_NONE || tr_is_none(tr_expr(e, x)));
        if (!whole && !names_none) return wrong_subscript(e, v, x);
        if (shape.rank == IR_MAX_RANK)
            return el_error(e, node->span, DIAG_SHAPE, "a tensor has at most %d dimensions",
                            IR_MAX_RANK);
        if (whole && used == t->rank) {
            if (!t->rank) continue;  // Triton lets ':' of a scalar pass
            return el_error(e, x->span, DIAG_INDEX, "%s has only %u dimension%s", tr_text(e, v),
                            t->rank, t->rank == 1 ? "" : "s");
        }
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
    if (tr_is(v, OBJECT_DICT))
        return dict_item(e, tr_object_of(v), tr_expr(e, node->b), node->b->span);
    if (tr_is(v, OBJECT_META)) {
        Val key = tr_expr(e, node->b);
        Val found = key.kind == VAL_STRING ? tr_meta(e, key.text) : EL_NONE;
        if (found.kind != VAL_NONE) return found;
        return el_error(e, node->b->span, DIAG_UNKNOWN_NAME, "the kernel has no such parameter");
    }
    // tl.constexpr[int] and other generic types of annotations
    if (tr_is(v, OBJECT_CONSTEXPR) || tr_is(v, OBJECT_PYTHON) || tr_is(v, OBJECT_UNKNOWN)) return v;
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
    StrBuf text = strbuf(e->scratch);
    for (const Py *x = node->list; x; x = x->next) {
        if (x->kind == PY_STRING) {
            strbuf_add(&text, x->text);
            continue;
        }
        Val v = tr_expr(e, x->a);
        strbuf_add(&text, tr_str(e, v));
    }
    return (Val){.kind = VAL_STRING, .text = strbuf_str(&text)};
}

// ---- [f(i) for i in range(4) if i != 2]

typedef struct Comprehension {
    const Py *node;
    VEC(Val) items;
    bool poison;
} Comprehension;

static void run_clauses(Elab *e, Comprehension *c, const Py *clause);

static void run_clause(Elab *e, Comprehension *c, const Py *clause, Val item) {
    enum { MOST = 4096 };
    tr_assign(e, clause->a, item);
    bool keep = true;
    for (const Py *x = clause->list; x && keep; x = x->next)
        if (!tr_const_truth(e, tr_expr(e, x), &keep)) keep = false;
    if (!keep || c->poison) return;
    if (clause->next) {
        run_clauses(e, c, clause->next);
        return;
    }
    Val v = tr_expr(e, c->node->a);
    if (c->items.count >= MOST)
        v = el_error(e, c->node->span, DIAG_TOO_MANY, "a comprehension of more than %d values",
                     MOST);
    if (v.kind == VAL_POISON) c->poison = true;
    vec_push(e->scratch, &c->items, v);
}

static void run_clauses(Elab *e, Comprehension *c, const Py *clause) {
    Val over = tr_expr(e, clause->b);
    const Object *o = tr_object_of(over);
    if (over.kind == VAL_TUPLE) {
        for (uint32_t i = 0; i < over.tuple.count && !c->poison; i++)
            run_clause(e, c, clause, over.tuple.items[i]);
        return;
    }
    bool counts = o && o->kind == OBJECT_RANGE && o->items[0].kind == VAL_INT &&
                  o->items[1].kind == VAL_INT && o->items[2].kind == VAL_INT &&
                  o->items[2].integer > 0;
    if (!counts) {
        if (over.kind != VAL_POISON)
            el_error(e, clause->b->span, DIAG_NOT_CONSTANT,
                     "a comprehension needs a sequence known at compile time, found %s",
                     tr_text(e, over));
        c->poison = true;
        return;
    }
    for (Int128 i = o->items[0].integer; i < o->items[1].integer && !c->poison;
         i += o->items[2].integer)
        run_clause(e, c, clause, el_int(i));
}

static Val comprehension(Elab *e, const Py *node) {
    // Its names are its own; it sees those around it.
    TritonElab *t = triton_of(e);
    JitFrame frame = {.caller = t->frame,
                      .func = t->frame ? t->frame->func : NULL,
                      .module = tr_module(e),
                      .nested = true,
                      .host = true,
                      .loop = t->frame ? t->frame->loop : NULL,
                      .region = e->region};
    Py block = {.kind = PY_BLOCK};
    Py inside = {.kind = PY_EXPR};
    inside.a = (Py *)(uintptr_t)node;
    block.list = &inside;
    tr_declare_names(e, &frame, &block);
    Comprehension c = {.node = node};
    t->frame = &frame;
    run_clauses(e, &c, node->list);
    t->frame = frame.caller;
    return c.poison ? EL_POISON : el_tuple(e, (uint32_t)c.items.count, c.items.data);
}

// ---- {"a": 1}

static Val dict_value(Elab *e, const Py *node) {
    Object o = {.kind = OBJECT_DICT};
    for (const Py *pair = node->list; pair; pair = pair->next) o.count++;
    o.fields = arena_new(e->scratch, Val, 2 * o.count + 1);
    uint32_t n = 0;
    for (const Py *pair = node->list; pair; pair = pair->next, n += 2) {
        if (!pair->a)
            return el_error(e, pair->span, DIAG_UNSUPPORTED, "'**' in a dict is not supported");
        o.fields[n] = tr_expr(e, pair->a);
        o.fields[n + 1] = tr_expr(e, pair->b);
        if (o.fields[n].kind == VAL_POISON || el_is_poison(o.fields[n + 1])) return EL_POISON;
    }
    return tr_object(e, o);
}

static Val dict_item(Elab *e, const Object *o, Val key, Span span) {
    for (uint32_t i = 0; i < o->count; i++) {
        Val same = tr_fold(e, PY_EQ, o->fields[2 * i], key, span);
        if (same.kind == VAL_BOOL && same.truth) return o->fields[2 * i + 1];
    }
    return el_error(e, span, DIAG_UNKNOWN_NAME, "the dict has no such key");
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
    return tr_certain(e, node->span, DIAG_UNSUPPORTED, "a kernel cannot use %s", what);
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
    case PY_DICT: return dict_value(e, node);
    case PY_SET: return unsupported(e, node, "a set");
    case PY_AWAIT:
    case PY_YIELD: return unsupported(e, node, "await and yield");
    case PY_ERROR: return EL_POISON;
    default: return unsupported(e, node, "this expression");
    }
}

Val tr_expr(Elab *e, const Py *node) {
    TritonElab *t = triton_of(e);
    if (t->stopped) return EL_POISON;
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
