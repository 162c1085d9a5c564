// Statements: assignments, branches, return, and the names of a function.
#include "frontend/triton/elaborate.h"

// ---- names

static void declare_name(Elab *e, JitFrame *frame, Symbol name) {
    if (map_find(&frame->slots, map_key(name))) return;
    Slot *slot = arena_new(e->scratch, Slot, 1);
    *slot = (Slot){.kind = SLOT_NAME, .val = EL_NONE, .region = e->region, .name = name};
    map_put(e->scratch, &frame->slots, map_key(name), map_key(slot));
}

static void declare_target(Elab *e, JitFrame *frame, const Py *target) {
    if (!target) return;
    if (target->kind == PY_NAME) declare_name(e, frame, target->name);
    if (target->kind == PY_STARRED) declare_target(e, frame, target->a);
    if (target->kind == PY_TUPLE || target->kind == PY_LIST)
        for (const Py *t = target->list; t; t = t->next) declare_target(e, frame, t);
}

// Names that := and comprehensions assign.
static void declare_inside(Elab *e, JitFrame *frame, const Py *x, int depth) {
    while (x && x->kind == PY_BINARY) {  // a chain of any length
        declare_inside(e, frame, x->b, depth + 1);
        x = x->a;
    }
    if (!x || depth > PY_MAX_DEPTH || x->kind == PY_INT || x->kind == PY_FLOAT ||
        x->kind == PY_STRING || x->kind == PY_LAMBDA)
        return;
    if (x->kind == PY_WALRUS) declare_target(e, frame, x->a);
    if (x->kind == PY_CLAUSE) declare_target(e, frame, x->a);
    const Py *parts[4] = {x->a, x->b, x->c, x->d};
    for (int i = 0; i < 4; i++) declare_inside(e, frame, parts[i], depth + 1);
    for (const Py *item = x->list; item; item = item->next)
        declare_inside(e, frame, item, depth + 1);
}

static void declare_statement(Elab *e, JitFrame *frame, const Py *s) {
    switch (s->kind) {
    case PY_ASSIGN:
        for (const Py *t = s->list; t; t = t->next) declare_target(e, frame, t);
        declare_inside(e, frame, s->a, 0);
        break;
    case PY_ANNOTATED:
    case PY_AUGMENTED: declare_target(e, frame, s->a); break;
    case PY_EXPR:
    case PY_RETURN: declare_inside(e, frame, s->a, 0); break;
    case PY_FOR:
        declare_target(e, frame, s->a);
        tr_declare_names(e, frame, s->c);
        tr_declare_names(e, frame, s->d);
        break;
    case PY_WHILE:
        declare_inside(e, frame, s->a, 0);
        tr_declare_names(e, frame, s->b);
        tr_declare_names(e, frame, s->c);
        break;
    case PY_IF:
        declare_inside(e, frame, s->a, 0);
        tr_declare_names(e, frame, s->b);
        tr_declare_names(e, frame, s->c);
        break;
    case PY_WITH: tr_declare_names(e, frame, s->b); break;
    default: break;
    }
}

void tr_declare_names(Elab *e, JitFrame *frame, const Py *block) {
    if (!block) return;
    for (const Py *s = block->list; s; s = s->next) declare_statement(e, frame, s);
}

Slot *tr_slot(Elab *e, Symbol name) {
    for (const JitFrame *f = triton_of(e)->frame; f; f = f->nested ? f->caller : NULL) {
        const uint64_t *found = map_find(&f->slots, map_key(name));
        if (found) return (Slot *)(uintptr_t)*found;
    }
    return NULL;
}

// ---- assignment

Val tr_named(Elab *e, Val v, Span span) {
    const JitFrame *frame = triton_of(e)->frame;
    if (!frame || frame->host) return v;
    if (el_is_const(v)) return el_ir(tr_tensor(e, v, span));
    if (v.kind != VAL_TUPLE) return v;
    Val *items = arena_new(e->scratch, Val, v.tuple.count + 1);
    for (uint32_t i = 0; i < v.tuple.count; i++) items[i] = tr_named(e, v.tuple.items[i], span);
    Val named = el_tuple(e, v.tuple.count, items);
    named.tuple.names = v.tuple.names;
    return named;
}

void tr_assign_name(Elab *e, Symbol name, Val v, Span span) {
    Slot *slot = tr_slot(e, name);
    if (!slot) return;
    if (v.kind == VAL_NONE)
        v = el_error(e, span, DIAG_NOT_A_VALUE, "the function returns no value for '%s'", name);
    if (v.kind == VAL_IR && !v.ir->name) v.ir->name = name;
    tr_set_slot(e, slot, v);
}

static void assign_items(Elab *e, const Py *target, Val v) {
    uint32_t count = 0, i = 0;
    for (const Py *t = target->list; t; t = t->next) count++;
    if (v.kind != VAL_TUPLE && v.kind != VAL_POISON)
        v = el_error(e, target->span, DIAG_ASSIGN, "%u names need a tuple, found %s", count,
                     tr_text(e, v));
    if (v.kind == VAL_TUPLE && v.tuple.count != count)
        v = el_error(e, target->span, DIAG_ASSIGN, "%u names, but %u values", count, v.tuple.count);
    for (const Py *t = target->list; t; t = t->next, i++)
        tr_assign(e, t, v.kind == VAL_TUPLE ? v.tuple.items[i] : EL_POISON);
}

void tr_assign(Elab *e, const Py *target, Val v) {
    if (target->kind == PY_NAME) {
        tr_assign_name(e, target->name, v, target->span);
    } else if (target->kind == PY_TUPLE || target->kind == PY_LIST) {
        assign_items(e, target, v);
    } else if (target->kind == PY_SUBSCRIPT) {
        el_error(e, target->span, DIAG_ASSIGN, "a tensor's elements cannot be assigned");
        el_help(e, "tl.where(condition, new, old) makes a changed tensor; tl.store writes memory");
    } else {
        el_error(e, target->span, DIAG_ASSIGN, "a kernel assigns to names only");
    }
}

static bool is_constexpr_annotation(Elab *e, const Py *annotation) {
    if (!annotation) return false;
    if (annotation->kind == PY_SUBSCRIPT) return is_constexpr_annotation(e, annotation->a);
    if (annotation->kind == PY_ATTRIBUTE || annotation->kind == PY_NAME)
        return str_equal(str(annotation->name), STR("constexpr"));
    return annotation->kind == PY_STRING && str_has_word(annotation->text, STR("constexpr"));
}

static void annotated(Elab *e, const Py *s) {
    if (!s->c) return;
    Val v = tr_expr(e, s->c);
    if (!is_constexpr_annotation(e, s->b)) v = tr_named(e, v, s->c->span);
    tr_assign(e, s->a, v);
}

static void assignment(Elab *e, const Py *s) {
    Val v = tr_named(e, tr_expr(e, s->a), s->a->span);
    for (const Py *t = s->list; t; t = t->next) tr_assign(e, t, v);
}

static void augmented(Elab *e, const Py *s) {
    Val before = tr_expr(e, s->a), by = tr_expr(e, s->b);
    Val v = tr_binary(e, s->op, before, by, s->span, (Span[]){s->a->span, s->b->span});
    tr_assign(e, s->a, tr_named(e, v, s->span));
}

// ---- return

static void clear_flags(Elab *e) {
    JitFrame *frame = triton_of(e)->frame;
    for (Loop *loop = frame->loop; loop; loop = loop->outer) {
        el_assign_slot(e, &loop->active, el_bool(false));
        el_assign_slot(e, &loop->going, el_bool(false));
    }
    el_assign_slot(e, &frame->active, el_bool(false));
}

static void returned(Elab *e, const Py *s) {
    JitFrame *frame = triton_of(e)->frame;
    // A number that is returned stays one, unless a loop has to carry it.
    Val v = s->a ? tr_expr(e, s->a) : tr_none();
    if (s->a && frame->loop) v = tr_named(e, v, s->a->span);
    if (!frame->caller && !frame->host && s->a && !tr_is_none(v)) {
        el_error(e, s->a->span, DIAG_MISPLACED, "a kernel returns no value");
        el_help(e, "store it with tl.store");
    }
    if (!frame->returned) frame->first_return = s->span;
    frame->returned = true;
    tr_set_slot(e, &frame->result, v);
    clear_flags(e);
}

// ---- branches

typedef struct Rest {
    const Py *first;
} Rest;

static void run_list(Elab *e, const Py *first);
static void run_rest(Elab *e, void *user) { run_list(e, ((const Rest *)user)->first); }

static Slot *active_slot(Elab *e) {
    JitFrame *frame = triton_of(e)->frame;
    return frame->loop ? &frame->loop->active : &frame->active;
}

static bool is_stopped(const Slot *active) {
    return active->val.kind == VAL_BOOL && !active->val.truth;
}

// Names that only one side assigns have no value afterwards, unless the other side never gets
// there.
static void forget_one_sided(Region *arm, const Region *other, bool other_stopped) {
    if (other_stopped) return;
    for (uint32_t i = 0; i < arm->count; i++) {
        Slot *slot = arm->changes[i].slot;
        if (slot->kind != SLOT_NAME || slot->val.kind != VAL_NONE) continue;
        bool both = false;
        for (uint32_t k = 0; k < other->count && !both; k++)
            both = other->changes[k].slot == slot && other->changes[k].val.kind != VAL_NONE;
        if (!both) arm->changes[i].val = EL_NONE;
    }
}

// Python's own functions run while the kernel is compiled: there is no code that could decide.
static void unknown_in_host(Elab *e, Val v, Span span) {
    JitFrame *frame = triton_of(e)->frame;
    if (v.kind != VAL_POISON)
        el_error(e, span, DIAG_NOT_CONSTANT,
                 "a condition in a Python function must be known at compile time, found %s",
                 tr_text(e, v));
    tr_set_slot(e, &frame->result, EL_POISON);
    frame->returned = true;
    clear_flags(e);
}

// Tuples meet item by item only when they are the same.
static bool branch(Elab *e, const Py *s, const Py *rest, bool tail) {
    Slot *active = active_slot(e);
    IrValue *cond = NULL;
    Val v = tr_expr(e, s->a);
    bool truth;
    if (tr_const_truth(e, v, &truth)) {
        if (truth)
            tr_block(e, s->b);
        else if (s->c)
            tr_block(e, s->c);
        return false;
    }
    if (triton_of(e)->frame->host) {
        unknown_in_host(e, v, s->a->span);
        return false;
    }
    if (v.kind != VAL_POISON) cond = tr_condition(e, v, s->a->span);
    if (!cond) cond = ir_const_bool(&e->b, false);
    Region arms[2];
    if (!el_region_begin(e, &arms[0], ir_block_create(e->func), s->span)) return true;
    tr_block(e, s->b);
    bool stopped[2] = {is_stopped(active), false};
    bool takes_rest = rest && stopped[0];
    el_region_end(e, &arms[0]);
    if (!el_region_begin(e, &arms[1], ir_block_create(e->func), s->span)) return true;
    if (s->c) tr_block(e, s->c);
    if (takes_rest) {
        active->tail = tail;
        if (active->val.kind == VAL_IR)
            el_guarded(e, active, run_rest, &(Rest){rest}, rest->span);
        else if (!is_stopped(active))
            run_list(e, rest);
    }
    stopped[1] = is_stopped(active);
    el_region_end(e, &arms[1]);
    forget_one_sided(&arms[0], &arms[1], stopped[1]);
    forget_one_sided(&arms[1], &arms[0], stopped[0]);
    el_merge(e, cond, &arms[0], &arms[1], s->span);
    return takes_rest;
}

// ---- all statements

static void leave_loop(Elab *e, const Py *s) {
    Loop *loop = triton_of(e)->frame->loop;
    if (!loop) {
        tr_certain(e, s->span, DIAG_MISPLACED, "'%s' outside of a loop",
                   s->kind == PY_BREAK ? "break" : "continue");
        return;
    }
    if (s->kind == PY_BREAK) el_assign_slot(e, &loop->going, el_bool(false));
    el_assign_slot(e, &loop->active, el_bool(false));
}

static void asserted(Elab *e, const Py *s) {
    Val v = tr_expr(e, s->a);
    bool truth;
    if (v.kind == VAL_POISON) return;
    if (tr_const_truth(e, v, &truth)) {
        if (!truth) el_error(e, s->span, DIAG_STATIC_ASSERT, "the assertion does not hold");
        return;
    }
    IrValue *cond = tr_truth(e, v, s->a->span);
    if (!cond) return;
    IrOp *op = ir_op(&e->b, IR_ASSERT, 1, &cond, 0, NULL, 0, NULL);
    ir_attr_set_text(op, IR_ATTR_TEXT, source_text(triton_of(e)->file->sources, s->a->span));
}

static void statement(Elab *e, const Py *s) {
    switch (s->kind) {
    case PY_EXPR:
        if (s->a->kind != PY_STRING) tr_expr(e, s->a);
        break;
    case PY_ASSIGN: assignment(e, s); break;
    case PY_ANNOTATED: annotated(e, s); break;
    case PY_AUGMENTED: augmented(e, s); break;
    case PY_RETURN: returned(e, s); break;
    case PY_PASS:
    case PY_GLOBAL:
    case PY_NONLOCAL: break;
    case PY_BREAK:
    case PY_CONTINUE: leave_loop(e, s); break;
    case PY_FOR: tr_for(e, s); break;
    case PY_WHILE: tr_while(e, s); break;
    case PY_ASSERT: asserted(e, s); break;
    case PY_BLOCK: tr_block(e, s); break;
    case PY_ERROR: break;
    case PY_DEF:
        tr_certain(e, s->span, DIAG_UNSUPPORTED, "a kernel cannot define a function");
        el_help(e, "define it at the top of the file, with @triton.jit");
        break;
    case PY_CLASS:
    case PY_IMPORT:
    case PY_FROM:
    case PY_TRY:
    case PY_WITH:
    case PY_DEL:
    case PY_RAISE:
    case PY_MATCH: {
        Str word = source_text(triton_of(e)->file->sources, s->span);
        size_t size = 0;
        while (size < word.size && str_word_char(word.text[size])) size++;
        word.size = size;
        tr_certain(e, s->span, DIAG_UNSUPPORTED, "a kernel cannot use '%.*s'", STR_ARG(word));
        break;
    }
    default: tr_certain(e, s->span, DIAG_UNSUPPORTED, "a kernel cannot use this statement"); break;
    }
}

static void note_reached(Elab *e, const Py *s) {
    TritonElab *t = triton_of(e);
    e->b.span = s->span;
    const TritonKernel *kernel = t->kernel ? t->kernel->own : NULL;
    if (kernel && t->frame->func == kernel->func && s->span.begin > t->reached)
        t->reached = s->span.begin;
}

static void run_list(Elab *e, const Py *first) {
    Slot *active = active_slot(e);
    bool tail = active->tail;
    for (const Py *s = first; s && !triton_of(e)->stopped; s = s->next) {
        note_reached(e, s);
        bool took_rest = false;
        active->tail = tail && !s->next;
        if (s->kind == PY_IF)
            took_rest = branch(e, s, s->next, tail);
        else
            statement(e, s);
        active->tail = tail;
        if (took_rest || is_stopped(active)) break;
        if (active->val.kind != VAL_IR || !s->next) continue;
        el_guarded(e, active, run_rest, &(Rest){s->next}, s->next->span);
        break;
    }
    active->tail = tail;
}

void tr_block(Elab *e, const Py *block) {
    TritonElab *t = triton_of(e);
    if (!block || t->stopped) return;
    if (t->depth >= TR_WALK_DEPTH) {
        el_error(e, block->span, DIAG_TOO_DEEP, "statements and calls nest deeper than %d",
                 TR_WALK_DEPTH);
        return;
    }
    t->depth++;
    run_list(e, block->list);
    t->depth--;
}
