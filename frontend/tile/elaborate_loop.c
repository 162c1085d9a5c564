// Loops: `for`, `while`, `for const`; what a loop carries from iteration to iteration.
//
// Carried are the variables a loop's body assigns (found by a walk over the tree, once per loop),
// and what leaving early needs: the flag `going` (first, so that `exit` of the IR's for sees it),
// flags of outer loops and return values. The latter are only known once the body is emitted, and
// no iteration reads them: they join the carried list late.
#include "frontend/tile/elaborate.h"

// ---- facts of a loop, from the tree

typedef struct CarriedWalk {
    Elab *e;
    VEC(AstDecl *) assigned;
    LoopFacts *loop;
} CarriedWalk;

static void walk_list(CarriedWalk *w, const Ast *list);

static void walk_loop(CarriedWalk *w, const Ast *ast) {
    LoopFacts *outer = w->loop, *facts = arena_new(w->e->scratch, LoopFacts, 1);
    size_t start = w->assigned.count;
    uint32_t order = w->e->walked;
    w->loop = facts;
    walk_list(w, ast->kind == AST_FOR ? ast->d : ast->b);
    w->loop = outer;
    facts->assigned = arena_new(w->e->scratch, AstDecl *, w->assigned.count - start);
    for (size_t i = start; i < w->assigned.count; i++) {
        const Slot *slot = el_slot(w->e, w->assigned.data[i]);
        if (slot && slot->declared <= order) facts->assigned[facts->count++] = w->assigned.data[i];
    }
    if (outer && facts->returns) outer->returns = true;
    map_put(w->e->scratch, &w->e->loop_facts, map_key(ast), map_key(facts));
}

static void walk_declare(CarriedWalk *w, const Ast *ast) {
    for (const AstDecl *decl = ast->decl; decl; decl = decl->next) {
        Slot *slot = el_slot(w->e, decl);
        if (slot) slot->declared = ++w->e->walked;
    }
}

static void walk_list(CarriedWalk *w, const Ast *list) {
    for (const Ast *ast = list; ast; ast = ast->next) {
        if (ast->kind == AST_BLOCK) walk_list(w, ast->list);
        if (ast->kind == AST_VAR) walk_declare(w, ast);
        if (ast->kind == AST_FOR || ast->kind == AST_WHILE) walk_loop(w, ast);
        if (ast->kind == AST_BREAK) w->loop->breaks = true;
        if (ast->kind == AST_RETURN) w->loop->returns = true;
        if (ast->kind == AST_IF) {
            walk_list(w, ast->b);
            walk_list(w, ast->c);
        }
        bool assigns = ast->kind == AST_ASSIGN && ast->a->kind == AST_NAME && ast->a->decl &&
                       ast->a->decl->kind == DECL_VAR;
        if (assigns) vec_push(w->e->scratch, &w->assigned, ast->a->decl);
    }
}

const LoopFacts *el_loop_facts(Elab *e, const Ast *loop) {
    uint64_t *found = map_find(&e->loop_facts, map_key(loop));
    if (!found) {
        CarriedWalk w = {.e = e};
        walk_loop(&w, loop);
        found = map_find(&e->loop_facts, map_key(loop));
    }
    return (const LoopFacts *)(uintptr_t)*found;
}

// ---- carried values

typedef struct LoopCarried {
    Slot *slot;
    IrValue *init, *next;
    const IrType *type;
} LoopCarried;

typedef struct CarriedList {
    VEC(LoopCarried) items;
    IrBlock *blocks[2];  // both regions of a while take all carried values
    uint32_t mark;
    bool exits;  // items[0] is `going`
} CarriedList;

static void carry(Elab *e, CarriedList *list, Slot *slot, IrValue *init) {
    LoopCarried item = {.slot = slot, .init = init, .type = init->type};
    slot->mark = list->mark;
    vec_push(e->scratch, &list->items, item);
    for (int i = 0; i < 2; i++) {
        if (!list->blocks[i]) continue;
        IrValue *arg = ir_block_add_arg(list->blocks[i], init->type);
        arg->name = slot->name;
    }
}

static void carry_names(Elab *e, CarriedList *list, const LoopFacts *facts, Loop *loop) {
    list->mark = ++e->marks;
    list->exits = facts->breaks || facts->returns;
    if (list->exits) carry(e, list, &loop->going, ir_const_bool(&e->b, true));
    for (uint32_t i = 0; i < facts->count; i++) {
        Slot *slot = el_slot(e, facts->assigned[i]);
        if (slot && slot->mark != list->mark && slot->val.kind == VAL_IR)
            carry(e, list, slot, slot->val.ir);
    }
}

// Inside a region: the carried names stand for its arguments.
static void carried_enter(Elab *e, CarriedList *list, IrBlock *block, uint32_t first_arg) {
    for (size_t i = list->exits ? 1 : 0; i < list->items.count; i++)
        el_assign_slot(e, list->items.data[i].slot, el_ir(block->args[first_arg + i]));
}

static void carried_next(Elab *e, CarriedList *list, IrBlock *block, uint32_t first_arg,
                         Span span) {
    for (size_t i = 0; i < list->items.count; i++) {
        LoopCarried *item = &list->items.data[i];
        Val v = item->slot->val;
        bool poison = v.kind != VAL_IR && !el_is_const(v);
        item->next = poison ? block->args[first_arg + i] : el_materialize(e, v, item->type, span);
    }
}

// Flags of outer loops and return values that the body set.
static void carry_late(Elab *e, CarriedList *list, const Region *region, Span span) {
    list->mark = ++e->marks;  // merges inside the body have used the marks
    for (size_t i = 0; i < list->items.count; i++) list->items.data[i].slot->mark = list->mark;
    for (uint32_t i = 0; i < region->count; i++) {
        Slot *slot = region->changes[i].slot;
        Val body = region->changes[i].val;
        if (slot->mark == list->mark) continue;
        if (body.kind == VAL_POISON || slot->val.kind == VAL_POISON ||
            (slot->kind == SLOT_ACTIVE && slot->tail)) {
            el_assign_slot(e, slot, body.kind == VAL_POISON ? EL_POISON : EL_NONE);
            continue;
        }
        bool wrong;
        const IrType *type = el_meet(e, slot->val, body, span, &wrong);
        if (!type) {
            el_assign_slot(e, slot, wrong ? EL_POISON : body.kind == VAL_NONE ? slot->val : body);
            continue;
        }
        carry(e, list, slot, el_materialize(e, slot->val, type, span));
        IrBuilder outer = e->b;
        e->b.block = region->block;
        e->b.before = NULL;
        vec_last(&list->items).next = el_materialize(e, body, type, span);
        e->b = outer;
    }
}

static IrOp *carried_op(Elab *e, CarriedList *list, IrOpcode code, uint32_t first,
                        IrValue *const *operands, uint32_t regions, IrBlock *body) {
    uint32_t count = (uint32_t)list->items.count;
    IrValue **all = arena_new(e->scratch, IrValue *, first + count);
    IrValue **next = arena_new(e->scratch, IrValue *, count);
    const IrType **types = arena_new(e->scratch, const IrType *, count);
    for (uint32_t i = 0; i < first; i++) all[i] = operands[i];
    for (uint32_t i = 0; i < count; i++) {
        all[first + i] = list->items.data[i].init;
        next[i] = list->items.data[i].next;
        types[i] = list->items.data[i].type;
    }
    IrBuilder inner = ir_builder_at_end(body);
    inner.span = e->b.span;
    ir_yield(&inner, count, next);
    IrOp *op = ir_op(&e->b, code, first + count, all, count, types, regions, list->blocks);
    for (uint32_t i = 0; i < count; i++) {
        Slot *slot = list->items.data[i].slot;
        IrValue *result = ir_result(op, i);
        result->name = slot->name;
        el_assign_slot(e, slot, el_ir(result));
    }
    return op;
}

// ---- entering and leaving

static void loop_enter(Elab *e, Loop *loop) {
    *loop = (Loop){.outer = e->frame->loop, .outer_any = e->loops};
    loop->going = (Slot){.kind = SLOT_GOING, .val = el_bool(true), .region = e->region};
}

static void loop_body(Elab *e, Loop *loop, const Ast *body) {
    loop->active =
        (Slot){.kind = SLOT_ACTIVE, .val = el_bool(true), .tail = true, .region = e->region};
    e->frame->loop = loop;
    e->loops = loop;
    el_body(e, body);
    e->frame->loop = loop->outer;
    e->loops = loop->outer_any;
}

// ---- for

static IrValue *for_bound(Elab *e, const Ast *ast, const char *what) {
    if (e->blamed_count && el_blamed(e, ast->span)) return NULL;
    Val v = el_operand(e, ast);
    if (v.kind == VAL_POISON) return NULL;
    if (v.kind == VAL_INT) return el_adopt(e, v, DTYPE_I64, 0, NULL, ast->span);
    if (v.kind == VAL_IR && !el_is_ptr(v.ir) && dtype_is(el_elem(v.ir), DTYPE_CLASS_INT) &&
        !v.ir->type->rank) {
        if (el_elem(v.ir) != DTYPE_U64) return el_convert(e, v.ir, DTYPE_I64);
        el_error(e, ast->span, DIAG_TYPE, "%s must fit i64, found u64", what);
        el_help(e, "cast it: i64(…)");
        return NULL;
    }
    el_error(e, ast->span, DIAG_TYPE, "%s must be a scalar integer, found %s", what,
             el_val_text(e, v));
    return NULL;
}

// False after an error. *down: the step is a negative constant.
static bool for_step(Elab *e, const Ast *ast, IrValue **step, bool *down) {
    *down = false;
    if (!ast) {
        *step = ir_const_int(&e->b, DTYPE_I64, 1);
        return true;
    }
    *step = for_bound(e, ast, "the step of 'for'");
    if (!*step) return false;
    const IrOp *def = (*step)->def;
    if (!def || def->code != IR_CONST) return true;
    int64_t value = (int64_t)ir_attr(def, IR_ATTR_VALUE)->u.bits;
    *down = value < 0;
    if (value) return true;
    el_error(e, ast->span, DIAG_STEP, "the step of 'for' is 0");
    return false;
}

static void for_const(Elab *e, const Ast *ast);

void el_for(Elab *e, const Ast *ast) {
    if (ast->is_const) {
        for_const(e, ast);
        return;
    }
    IrValue *bounds[3];
    bool down;
    bounds[0] = for_bound(e, ast->a, "the start of 'for'");
    bounds[1] = for_bound(e, ast->b, "the end of 'for'");
    bool good = for_step(e, ast->c, &bounds[2], &down) && bounds[0] && bounds[1];
    for (int i = 0; i < 3; i++)  // go on with any, to find the errors of the body
        if (!good) bounds[i] = ir_const_int(&e->b, DTYPE_I64, 1);
    Loop loop;
    loop_enter(e, &loop);
    CarriedList list = {.blocks = {ir_block_create(e->func), NULL}};
    loop.var = ir_block_add_arg(list.blocks[0], ir_scalar(e->module, DTYPE_I64));
    loop.low = bounds[0];
    loop.step = bounds[2];
    carry_names(e, &list, el_loop_facts(e, ast), &loop);
    Region region;
    if (!el_region_begin(e, &region, list.blocks[0], ast->span)) return;
    carried_enter(e, &list, list.blocks[0], 1);
    Slot *slot = el_slot(e, ast->decl);
    if (slot) {
        loop.var->name = ast->decl->name;
        el_declare_slot(e, slot, el_ir(loop.var));
    }
    loop_body(e, &loop, ast->d);
    carried_next(e, &list, list.blocks[0], 1, ast->span);
    el_region_end(e, &region);
    carry_late(e, &list, &region, ast->span);
    IrOp *op = carried_op(e, &list, IR_FOR, 3, bounds, 1, list.blocks[0]);
    ir_attr_set_int(op, IR_ATTR_DOWN, down);
    ir_attr_set_int(op, IR_ATTR_EXIT, list.exits);
}

// ---- while

// The condition's region: going && condition, the latter not run once going is false. *always: it
// is the constant true.
static bool while_condition(Elab *e, const Ast *ast, CarriedList *list, bool *always) {
    IrBlock *block = list->blocks[0];
    Region outer, inner;
    if (!el_region_begin(e, &outer, block, ast->a->span)) return false;
    carried_enter(e, list, block, 0);
    IrBlock *asked = list->exits ? ir_block_create(e->func) : block;
    if (list->exits && !el_region_begin(e, &inner, asked, ast->a->span)) return false;
    IrValue *cond = el_condition(e, ast->a, "the condition of 'while'");
    if (!cond) cond = ir_const_bool(&e->b, false);
    *always =
        cond->def && cond->def->code == IR_CONST && ir_attr(cond->def, IR_ATTR_VALUE)->u.bits != 0;
    if (list->exits) {
        el_region_end(e, &inner);
        cond = el_join_conditions(e, true, block->args[0], asked, cond);
    }
    ir_yield(&e->b, 1, &cond);
    el_region_end(e, &outer);
    return true;
}

void el_while(Elab *e, const Ast *ast) {
    Loop loop;
    loop_enter(e, &loop);
    CarriedList list = {.blocks = {ir_block_create(e->func), ir_block_create(e->func)}};
    const LoopFacts *facts = el_loop_facts(e, ast);
    carry_names(e, &list, facts, &loop);
    bool always;
    if (!while_condition(e, ast, &list, &always)) return;
    Region region;
    if (!el_region_begin(e, &region, list.blocks[1], ast->span)) return;
    carried_enter(e, &list, list.blocks[1], 0);
    loop_body(e, &loop, ast->b);
    carried_next(e, &list, list.blocks[1], 0, ast->span);
    el_region_end(e, &region);
    carry_late(e, &list, &region, ast->span);
    carried_op(e, &list, IR_WHILE, 0, NULL, 2, list.blocks[1]);
    // Only `return` leaves it: what follows never runs, and needs no value on this path.
    if (always && !facts->breaks) el_assign_slot(e, el_active(e), el_bool(false));
}

// ---- for const

typedef struct Unroll {
    const Ast *ast;
    Loop *loop;
    Wide i;
} Unroll;

static void unroll_once(Elab *e, void *user) {
    const Unroll *u = user;
    Slot *slot = el_slot(e, u->ast->decl);
    if (slot) el_declare_slot(e, slot, el_int(u->i));
    loop_body(e, u->loop, u->ast->d);
}

static bool unroll_bounds(Elab *e, const Ast *ast, Wide *low, Wide *high, Wide *step) {
    *step = 1;
    bool good = el_const_int(e, ast->a, "the start of 'for const'", low);
    good = el_const_int(e, ast->b, "the end of 'for const'", high) && good;
    if (ast->c) good = el_const_int(e, ast->c, "the step of 'for const'", step) && good;
    if (!good) return false;
    if (*step == 0) {
        el_error(e, ast->c->span, DIAG_STEP, "the step of 'for const' is 0");
        return false;
    }
    Wide span = *step > 0 ? *high - *low : *low - *high, size = *step > 0 ? *step : -*step;
    Wide count = span <= 0 ? 0 : (span + size - 1) / size;
    if (count > EL_UNROLL_MAX) {
        el_error(e, ast->span, DIAG_UNROLL, "'for const' runs at most %d iterations, this one %s",
                 EL_UNROLL_MAX, el_wide_text(e, count));
        el_help(e, "leave out 'const' to loop at run time");
        return false;
    }
    if (e->unrolled + count > EL_UNROLL_ALL) {
        el_error(e, ast->span, DIAG_UNROLL, "all 'for const' of a kernel run at most %d iterations",
                 EL_UNROLL_ALL);
        return false;
    }
    e->unrolled += (int)count;
    return true;
}

static void for_const(Elab *e, const Ast *ast) {
    Wide low, high, step;
    if (!unroll_bounds(e, ast, &low, &high, &step)) return;
    Loop loop;
    loop_enter(e, &loop);
    Unroll u = {.ast = ast, .loop = &loop};
    for (u.i = low; step > 0 ? u.i < high : u.i > high; u.i += step) {
        if (loop.going.val.kind == VAL_IR)
            el_guarded(e, &loop.going, unroll_once, &u, ast->span);
        else if (loop.going.val.kind == VAL_BOOL && loop.going.val.truth)
            unroll_once(e, &u);
        else
            break;
    }
}
