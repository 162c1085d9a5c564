// Loops: range, tl.range, tl.static_range, while.
#include "frontend/triton/elaborate.h"

// ---- facts of a loop, from the tree

static bool leaves(const Py *block, bool inner);

// Does the statement leave the loop around it? `inner`: it stands in a loop within that loop.
static bool statement_leaves(const Py *s, bool inner) {
    switch (s->kind) {
    case PY_BREAK: return !inner;
    case PY_RETURN: return true;
    case PY_IF: return leaves(s->b, inner) || leaves(s->c, inner);
    case PY_FOR: return leaves(s->c, true) || leaves(s->d, inner);
    case PY_WHILE: return leaves(s->b, true) || leaves(s->c, inner);
    case PY_WITH: return leaves(s->b, inner);
    default: return false;
    }
}

static bool leaves(const Py *block, bool inner) {
    if (!block) return false;
    for (const Py *s = block->list; s; s = s->next)
        if (statement_leaves(s, inner)) return true;
    return false;
}

// The slots that the body assigns.
static LoopFacts facts_of(Elab *e, const Py *body, const Py *condition) {
    JitFrame walk = {0};
    tr_declare_names(e, &walk, body);
    if (condition) {
        Py ask = {.kind = PY_EXPR}, block = {.kind = PY_BLOCK};
        ask.a = (Py *)(uintptr_t)condition;
        block.list = &ask;
        tr_declare_names(e, &walk, &block);
    }
    LoopFacts facts = {.exits = leaves(body, false)};
    uint32_t most = 1;
    for (uint32_t i = 0; i < walk.slots.count; i++) {
        const Slot *slot = tr_slot(e, (Symbol)(uintptr_t)walk.slots.entries[i].key);
        if (slot) most += tr_slot_count(slot);
    }
    Slot **slots = arena_new(e->scratch, Slot *, most);
    for (uint32_t i = 0; i < walk.slots.count; i++) {
        Slot *slot = tr_slot(e, (Symbol)(uintptr_t)walk.slots.entries[i].key);
        if (slot) facts.count += tr_slot_list(slot, slots + facts.count);
    }
    facts.assigned = slots;
    return facts;
}

// Names that the body assigns first have no value in the next iteration, nor after the loop.
static void forget_locals(Elab *e, const LoopFacts *facts, const bool *local) {
    for (uint32_t i = 0; i < facts->count; i++)
        if (local[i]) el_assign_slot(e, facts->assigned[i], EL_NONE);
}

static const bool *locals_of(Elab *e, const LoopFacts *facts) {
    bool *local = arena_new(e->scratch, bool, facts->count + 1);
    for (uint32_t i = 0; i < facts->count; i++) local[i] = facts->assigned[i]->val.kind == VAL_NONE;
    return local;
}

static void loop_begin(Elab *e, Loop *loop) {
    el_loop_begin(e, loop);
    loop->outer = triton_of(e)->frame->loop;
}

static void loop_body(Elab *e, Loop *loop, const Py *body) {
    el_loop_enter(e, loop);
    triton_of(e)->frame->loop = loop;
    tr_block(e, body);
    triton_of(e)->frame->loop = loop->outer;
    el_loop_leave(e, loop);
}

static void no_else(Elab *e, const Py *block) {
    if (block)
        el_error(e, block->span, DIAG_UNSUPPORTED, "'else' of a loop is not supported in a kernel");
}

static bool is_assigned(const Py *target, Symbol name) {
    if (target->kind == PY_NAME) return target->name == name;
    bool found = false;
    if (target->kind == PY_TUPLE || target->kind == PY_LIST)
        for (const Py *t = target->list; t && !found; t = t->next) found = is_assigned(t, name);
    return found;
}

// The last statement of the block that assigns the name.
static const Py *assignment_of(const Py *block, Symbol name) {
    const Py *last = NULL;
    for (const Py *s = block ? block->list : NULL; s; s = s->next) {
        const Py *inner = NULL;
        if (s->kind == PY_IF || s->kind == PY_WHILE) {
            inner = assignment_of(s->c, name);
            if (!inner) inner = assignment_of(s->b, name);
        } else if (s->kind == PY_FOR) {
            inner = assignment_of(s->c, name);
        } else if (s->kind == PY_ASSIGN) {
            for (const Py *t = s->list; t && !inner; t = t->next)
                if (is_assigned(t, name)) inner = s;
        } else if ((s->kind == PY_AUGMENTED || s->kind == PY_ANNOTATED) &&
                   is_assigned(s->a, name)) {
            inner = s;
        }
        if (inner) last = inner;
    }
    return last;
}

// A carried name keeps its type: what the body assigns must have it.
static void check_carried(Elab *e, const LoopOp *op, const Py *body) {
    for (size_t i = op->exits ? 1 : 0; i < op->carried.count; i++) {
        const LoopCarried *c = &op->carried.data[i];
        Val v = c->slot->val;
        if (v.kind == VAL_IR && v.ir->type == c->type) continue;
        if (v.kind == VAL_POISON) continue;
        if (v.kind == VAL_IR && v.ir->type->kind == c->type->kind &&
            el_elem(v.ir) == c->type->elem && !v.ir->type->rank) {
            el_assign_slot(e, c->slot, el_ir(el_broadcast(e, v.ir, c->type->rank, c->type->shape)));
            continue;
        }
        const Py *place = assignment_of(body, c->slot->name);
        e->b.span = place ? place->span : body->span;
        el_error(e, e->b.span, DIAG_TYPE, "'%s' is %s before the loop, but the body makes it %s",
                 c->slot->name, tr_text(e, el_ir(c->init)), tr_text(e, v));
        el_help(e,
                "a name keeps its type through a loop: begin with that type, as in "
                "tl.zeros([N], dtype=tl.float32), or convert in the body");
        el_assign_slot(e, c->slot, EL_POISON);
    }
}

// ---- for over a range that runs

typedef struct LoopRange {
    Val bounds[3];
    bool is_static;
} LoopRange;

static bool range_type(Elab *e, const LoopRange *r, const Py *node, Dtype *type) {
    *type = DTYPE_I32;
    for (int i = 0; i < 3; i++) {
        IrValue *v = tr_numbers(e, r->bounds[i], node->b->span);
        if (!v) return false;
        if (!dtype_is(el_elem(v), DTYPE_CLASS_INT | DTYPE_CLASS_BOOL) || v->type->rank) {
            el_error(e, node->b->span, DIAG_TYPE, "a range counts scalar integers, found %s",
                     tr_text(e, r->bounds[i]));
            return false;
        }
        if (dtype_bits(el_elem(v)) > 32) *type = el_elem(v);
        if (el_elem(v) == DTYPE_U32 && *type == DTYPE_I32) *type = DTYPE_U32;
    }
    return true;
}

static void running_for(Elab *e, const Py *node, const LoopRange *r) {
    Dtype type;
    if (!range_type(e, r, node, &type)) return;
    IrValue *bounds[3];
    for (int i = 0; i < 3; i++) bounds[i] = tr_cast(e, r->bounds[i], DTYPE_I64, node->b->span);
    bool down = r->bounds[2].kind == VAL_INT && r->bounds[2].integer < 0;
    if (r->bounds[2].kind == VAL_INT && r->bounds[2].integer == 0) {
        el_error(e, node->b->span, DIAG_STEP, "the step of a range is 0");
        return;
    }
    Loop loop;
    loop_begin(e, &loop);
    LoopOp op;
    LoopFacts facts = facts_of(e, node->c, NULL);
    const bool *local = locals_of(e, &facts);
    Slot *counter = node->a->kind == PY_NAME ? tr_slot(e, node->a->name) : NULL;
    Val before = counter ? counter->val : EL_NONE;
    if (!el_for_begin(e, &op, &loop, bounds, &facts, node->span)) return;
    if (node->a->kind == PY_NAME) loop.var->name = node->a->name;
    tr_assign(e, node->a, el_ir(el_convert(e, loop.var, type)));
    loop_body(e, &loop, node->c);
    check_carried(e, &op, node->c);
    forget_locals(e, &facts, local);
    // The counter has no value after the loop.
    if (counter) el_assign_slot(e, counter, before);
    el_for_end(e, &op, down, node->span);
    if (counter) el_assign_slot(e, counter, EL_NONE);
}

// ---- loops that are unrolled

typedef struct StaticLoop {
    const Py *node;
    Loop *loop;
    Val item;
} StaticLoop;

static void unroll_once(Elab *e, void *user) {
    const StaticLoop *u = user;
    tr_assign(e, u->node->a, u->item);
    loop_body(e, u->loop, u->node->c);
}

static bool unroll_item(Elab *e, StaticLoop *u) {
    if (triton_of(e)->stopped) return false;
    if (triton_of(e)->unrolled++ >= TR_UNROLL_ALL) {
        el_error(e, u->node->span, DIAG_UNROLL, "a kernel unrolls at most %d iterations",
                 TR_UNROLL_ALL);
        return false;
    }
    const Slot *going = &u->loop->going;
    if (going->val.kind == VAL_IR)
        el_guarded(e, &u->loop->going, unroll_once, u, u->node->span);
    else if (going->val.kind == VAL_BOOL && going->val.truth)
        unroll_once(e, u);
    else
        return false;
    return true;
}

static void unrolled_range(Elab *e, const Py *node, const LoopRange *r) {
    Int128 bound[3];
    for (int i = 0; i < 3; i++)
        if (!tr_const_int(e, r->bounds[i], "a bound of tl.static_range", node->b->span, &bound[i]))
            return;
    if (bound[2] == 0) {
        el_error(e, node->b->span, DIAG_STEP, "the step of a range is 0");
        return;
    }
    Int128 span = bound[2] > 0 ? bound[1] - bound[0] : bound[0] - bound[1];
    Int128 step = bound[2] > 0 ? bound[2] : -bound[2];
    if (span > 0 && (span + step - 1) / step > TR_UNROLL_MAX) {
        el_error(e, node->span, DIAG_UNROLL, "tl.static_range runs at most %d iterations",
                 TR_UNROLL_MAX);
        el_help(e, "range(…) loops while the kernel runs");
        return;
    }
    Loop loop;
    loop_begin(e, &loop);
    StaticLoop u = {.node = node, .loop = &loop};
    for (Int128 i = bound[0]; bound[2] > 0 ? i < bound[1] : i > bound[1]; i += bound[2]) {
        u.item = el_int(i);
        if (!unroll_item(e, &u)) break;
    }
}

static void unrolled_tuple(Elab *e, const Py *node, Val list) {
    Loop loop;
    loop_begin(e, &loop);
    StaticLoop u = {.node = node, .loop = &loop};
    for (uint32_t i = 0; i < list.tuple.count; i++) {
        u.item = list.tuple.items[i];
        if (!unroll_item(e, &u)) break;
    }
}

void tr_for(Elab *e, const Py *node) {
    no_else(e, node->d);
    Val over = tr_expr(e, node->b);
    const Object *o = tr_object_of(over);
    if (over.kind == VAL_POISON) return;
    if (over.kind == VAL_TUPLE) {
        unrolled_tuple(e, node, over);
    } else if (o && o->kind == OBJECT_RANGE) {
        LoopRange r = {.bounds = {o->items[0], o->items[1], o->items[2]},
                       .is_static = o->is_static};
        bool host = triton_of(e)->frame && triton_of(e)->frame->host;
        (r.is_static || host ? unrolled_range : running_for)(e, node, &r);
    } else {
        el_error(e, node->b->span, DIAG_TYPE, "a 'for' runs over a range or a tuple, found %s",
                 tr_text(e, over));
        el_help(e, "use range(n), tl.range(n) or tl.static_range(n)");
    }
}

// ---- while

typedef struct HostWhile {
    StaticLoop loop;
    bool more;
} HostWhile;

static void host_while_once(Elab *e, HostWhile *w) {
    const Py *node = w->loop.node;
    Val v = tr_expr(e, node->a);
    if (!tr_const_truth(e, v, &w->more)) {
        w->more = false;
        if (v.kind != VAL_POISON)
            el_error(e, node->a->span, DIAG_NOT_CONSTANT, "%s is not known at compile time",
                     tr_text(e, v));
    }
    if (w->more) loop_body(e, w->loop.loop, node->b);
}

// In a plain Python function, a loop runs at compile time.
static void host_while(Elab *e, const Py *node) {
    Loop loop;
    loop_begin(e, &loop);
    HostWhile w = {.loop = {.node = node, .loop = &loop}, .more = true};
    for (int i = 0; w.more && loop.going.val.kind == VAL_BOOL && loop.going.val.truth; i++) {
        if (i >= TR_UNROLL_MAX || triton_of(e)->unrolled++ >= TR_UNROLL_ALL) {
            el_error(e, node->span, DIAG_UNROLL, "a loop at compile time runs at most %d times",
                     TR_UNROLL_MAX);
            return;
        }
        host_while_once(e, &w);
    }
}

static IrValue *while_ask(Elab *e, void *user) {
    const Py *node = user;
    Val v = tr_expr(e, node->a);
    if (v.kind == VAL_POISON) return NULL;
    return tr_condition(e, v, node->a->span);
}

void tr_while(Elab *e, const Py *node) {
    no_else(e, node->c);
    if (triton_of(e)->frame && triton_of(e)->frame->host) {
        host_while(e, node);
        return;
    }
    Loop loop;
    loop_begin(e, &loop);
    LoopOp op;
    LoopFacts facts = facts_of(e, node->b, node->a);
    const bool *local = locals_of(e, &facts);
    bool always;
    if (!el_while_condition(e, &op, &loop, &facts, while_ask, (void *)(uintptr_t)node,
                            node->a->span, &always))
        return;
    if (!el_while_begin(e, &op, node->span)) return;
    loop_body(e, &loop, node->b);
    check_carried(e, &op, node->b);
    forget_locals(e, &facts, local);
    el_while_end(e, &op, node->span);
}
