// Loops: `for`, `while`, `for const`. A walk over the tree, once per loop, finds the variables that
// a loop's body assigns.
#include "frontend/tile/elaborate.h"

// ---- facts of a loop, from the tree

typedef struct CarriedWalk {
    Elab *e;
    VEC(AstDecl *) assigned;
    LoopWalk *loop;
} CarriedWalk;

static void walk_list(CarriedWalk *w, const Ast *list);

static void walk_loop(CarriedWalk *w, const Ast *ast) {
    LoopWalk *outer = w->loop, *facts = arena_new(w->e->scratch, LoopWalk, 1);
    size_t start = w->assigned.count;
    uint32_t order = tile_of(w->e)->walked;
    w->loop = facts;
    walk_list(w, ast->kind == AST_FOR ? ast->d : ast->b);
    w->loop = outer;
    facts->assigned = arena_new(w->e->scratch, AstDecl *, w->assigned.count - start);
    for (size_t i = start; i < w->assigned.count; i++) {
        const Slot *slot = el_slot(w->e, w->assigned.data[i]);
        if (slot && slot->declared <= order) facts->assigned[facts->count++] = w->assigned.data[i];
    }
    if (outer && facts->returns) outer->returns = true;
    map_put(w->e->scratch, &tile_of(w->e)->loop_walks, map_key(ast), map_key(facts));
}

static void walk_declare(CarriedWalk *w, const Ast *ast) {
    for (const AstDecl *decl = ast->decl; decl; decl = decl->next) {
        Slot *slot = el_slot(w->e, decl);
        if (slot) slot->declared = ++tile_of(w->e)->walked;
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
        if (ast->kind != AST_ASSIGN) continue;
        const Ast *name = ast->a->kind == AST_INDEX ? ast->a->a : ast->a;
        bool assigns = name->kind == AST_NAME && name->decl && name->decl->kind == DECL_VAR;
        if (assigns) vec_push(w->e->scratch, &w->assigned, name->decl);
    }
}

const LoopWalk *el_loop_walk(Elab *e, const Ast *loop) {
    uint64_t *found = map_find(&tile_of(e)->loop_walks, map_key(loop));
    if (!found) {
        CarriedWalk w = {.e = e};
        walk_loop(&w, loop);
        found = map_find(&tile_of(e)->loop_walks, map_key(loop));
    }
    return (const LoopWalk *)(uintptr_t)*found;
}

// ---- entering and leaving

static void loop_begin(Elab *e, Loop *loop) {
    el_loop_begin(e, loop);
    loop->outer = tile_of(e)->frame->loop;
}

static void loop_body(Elab *e, Loop *loop, const Ast *body) {
    el_loop_enter(e, loop);
    tile_of(e)->frame->loop = loop;
    el_body(e, body);
    tile_of(e)->frame->loop = loop->outer;
    el_loop_leave(e, loop);
}

static uint32_t slot_count(const Slot *slot) {
    return !slot ? 0 : slot->val.kind == VAL_ARRAY ? slot->val.array->count : 1;
}

// The slots of the variables that the loop assigns, in this call of a fn; of an array all tiles.
static LoopFacts facts_here(Elab *e, const LoopWalk *walk) {
    uint32_t count = 0, most = 0;
    for (uint32_t i = 0; i < walk->count; i++) most += slot_count(el_slot(e, walk->assigned[i]));
    Slot **slots = arena_new(e->scratch, Slot *, most + 1);
    for (uint32_t i = 0; i < walk->count; i++) {
        Slot *slot = el_slot(e, walk->assigned[i]);
        for (uint32_t k = 0; k < slot_count(slot); k++)
            slots[count++] = slot->val.kind == VAL_ARRAY ? &slot->val.array->slots[k] : slot;
    }
    return (LoopFacts){count, slots, walk->breaks || walk->returns};
}

// ---- for

static IrValue *for_bound(Elab *e, const Ast *ast, const char *what) {
    if (tile_of(e)->blamed_count && el_blamed(e, ast->span)) return NULL;
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
    for (int i = 0; i < 3; i++)  // continue with any value, to find the errors of the body
        if (!good) bounds[i] = ir_const_int(&e->b, DTYPE_I64, 1);
    Loop loop;
    loop_begin(e, &loop);
    LoopOp op;
    LoopFacts facts = facts_here(e, el_loop_walk(e, ast));
    if (!el_for_begin(e, &op, &loop, bounds, &facts, ast->span)) return;
    Slot *slot = el_slot(e, ast->decl);
    if (slot) {
        loop.var->name = ast->decl->name;
        el_declare_slot(e, slot, el_ir(loop.var));
    }
    loop_body(e, &loop, ast->d);
    el_for_end(e, &op, down, ast->span);
}

// ---- while

static IrValue *while_ask(Elab *e, void *condition) {
    return el_condition(e, condition, "the condition of 'while'");
}

void el_while(Elab *e, const Ast *ast) {
    Loop loop;
    loop_begin(e, &loop);
    LoopOp op;
    const LoopWalk *walk = el_loop_walk(e, ast);
    LoopFacts facts = facts_here(e, walk);
    bool always;
    if (!el_while_condition(e, &op, &loop, &facts, while_ask, ast->a, ast->a->span, &always))
        return;
    if (!el_while_begin(e, &op, ast->span)) return;
    loop_body(e, &loop, ast->b);
    el_while_end(e, &op, ast->span);
    // Only `return` leaves this loop: code after it never runs, and needs no value on this path.
    if (always && !walk->breaks) el_assign_slot(e, el_active(e), el_bool(false));
}

// ---- for const

typedef struct Unroll {
    const Ast *ast;
    Loop *loop;
    Int128 i;
} Unroll;

static void unroll_once(Elab *e, void *user) {
    const Unroll *u = user;
    Slot *slot = el_slot(e, u->ast->decl);
    if (slot) el_declare_slot(e, slot, el_int(u->i));
    loop_body(e, u->loop, u->ast->d);
}

static bool unroll_bounds(Elab *e, const Ast *ast, Int128 *low, Int128 *high, Int128 *step) {
    *step = 1;
    bool good = el_const_int(e, ast->a, "the start of 'for const'", low);
    good = el_const_int(e, ast->b, "the end of 'for const'", high) && good;
    if (ast->c) good = el_const_int(e, ast->c, "the step of 'for const'", step) && good;
    if (!good) return false;
    if (*step == 0) {
        el_error(e, ast->c->span, DIAG_STEP, "the step of 'for const' is 0");
        return false;
    }
    Int128 span = *step > 0 ? *high - *low : *low - *high, size = *step > 0 ? *step : -*step;
    Int128 count = span <= 0 ? 0 : (span + size - 1) / size;
    if (count > EL_UNROLL_MAX) {
        el_error(e, ast->span, DIAG_UNROLL, "'for const' runs at most %d iterations, this one %s",
                 EL_UNROLL_MAX, el_wide_text(e, count));
        el_help(e, "leave out 'const' to loop at run time");
        return false;
    }
    if (tile_of(e)->unrolled + count > EL_UNROLL_ALL) {
        el_error(e, ast->span, DIAG_UNROLL, "all 'for const' of a kernel run at most %d iterations",
                 EL_UNROLL_ALL);
        return false;
    }
    tile_of(e)->unrolled += (int)count;
    return true;
}

static void for_const(Elab *e, const Ast *ast) {
    Int128 low, high, step;
    if (!unroll_bounds(e, ast, &low, &high, &step)) return;
    Loop loop;
    loop_begin(e, &loop);
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
