#include "ir/verify/verify.h"

#include <stdarg.h>

#include "ir/verify/verifier.h"

// ---- messages about functions -------------------------------------------------------------------

bool verifier_func_fail(Verifier *v, Span span, const char *format, ...) {
    v->ok = false;
    StrBuf text = strbuf(v->scratch);
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    diag_error(v->diags, span_known(span) ? span : v->func->span, DIAG_IR_INVALID, "%s, in '@%s'",
               text.text, v->func->name);
    return false;
}

// ---- V8 and V10: types and ids of values --------------------------------------------------------

static const char *type_problem(const IrType *t) {
    if (t->kind == IR_VIEW) {
        return t->rank < 1 || t->rank > IR_MAX_VIEW_RANK ? "has no rank from 1 to 5" : NULL;
    }
    if (t->kind == IR_TILE && dtype_is(t->elem, DTYPE_CLASS_PACKED)) {
        return "is packed: only views and pointers hold packed elements";
    }
    uint64_t shape[IR_MAX_RANK];
    for (uint32_t i = 0; i < t->rank; i++) shape[i] = t->shape[i];
    return ir_shape_problem(t->rank, shape);
}

// Takes a value into scope. Messages show it by `op`: its op, or the op of its region; NULL for a
// parameter or a section's argument.
static void define(Verifier *v, const IrValue *value, const IrOp *op) {
    const char *problem = type_problem(value->type);
    if (problem && op) {
        verifier_fail(v, op, "type %s %s", verifier_type(v, value->type), problem);
    } else if (problem) {
        verifier_func_fail(v, v->func->span, "type %s %s", verifier_type(v, value->type), problem);
    }
    if (value->type->kind == IR_VIEW && op) {
        verifier_fail(v, op, "expected a view to be a parameter, found another value");
    }
    if (value->id >= v->func->value_count || v->by_id[value->id]) {
        verifier_func_fail(v, op ? op->span : v->func->span, "value id %u is taken or not below %u",
                           value->id, v->func->value_count);
        return;
    }
    v->by_id[value->id] = value;
    v->scope[value->id] = 1;
    vec_push(v->scratch, &v->defined, value->id);
}

static void leave(Verifier *v, size_t from) {
    while (v->defined.count > from) v->scope[vec_pop(&v->defined)] = 0;
}

// ---- V1: the op table ---------------------------------------------------------------------------

static bool check_enum(Verifier *v, const IrOp *op, IrAttrName name, int64_t value) {
    IrAttrKind kind = ir_attr_kind(name);
    bool fits = true;
    if (name == IR_ATTR_DIM) {
        bool of_view =
            ir_op_info(op->code)->rule == IR_RULE_CPU_DIM;  // verify_cpu.c knows the rank
        fits = value >= 0 && (of_view || value <= 2);
    }
    if (kind == IR_KIND_BOOL) fits = value == 0 || value == 1;
    bool listed = kind == IR_KIND_REDUCE || kind == IR_KIND_RMW || kind == IR_KIND_ORDER ||
                  kind == IR_KIND_SCOPE || kind == IR_KIND_PRECISION || kind == IR_KIND_PLAN ||
                  kind == IR_KIND_DTYPE || kind == IR_KIND_CACHE;
    if (listed) fits = ir_enum_text(kind, value) != NULL;
    if (fits) return true;
    return verifier_fail(v, op, "attribute '%s' can't be %lld", ir_attr_text(name),
                         (long long)value);
}

static bool check_attrs(Verifier *v, const IrOp *op) {
    const IrOpInfo *info = ir_op_info(op->code);
    bool fine = true;
    for (int i = 0; i < info->attr_count; i++) {
        IrAttrName name = info->attrs[i];
        if (ir_attr_kind(name) == IR_KIND_NAME) {
            if (!op->attrs[i].u.name) {
                fine = verifier_fail(v, op, "attribute '%s' is missing", ir_attr_text(name));
            }
        } else {
            fine &= check_enum(v, op, name, op->attrs[i].u.i);
        }
    }
    return fine;
}

static bool check_count(Verifier *v, const IrOp *op, const char *what, uint32_t found, int min,
                        int max) {
    if (found >= (uint32_t)min && (max < 0 || found <= (uint32_t)max)) return true;
    if (min == max) return verifier_fail(v, op, "expected %d %s, found %u", min, what, found);
    if (max < 0) {
        return verifier_fail(v, op, "expected at least %d %s, found %u", min, what, found);
    }
    return verifier_fail(v, op, "expected %d to %d %s, found %u", min, max, what, found);
}

static bool check_counts(Verifier *v, const IrOp *op) {
    const IrOpInfo *info = ir_op_info(op->code);
    TRY(check_count(v, op, "operands", op->operand_count, info->min_operands, info->max_operands));
    if (info->results >= 0) {
        TRY(check_count(v, op, "results", op->result_count, info->results, info->results));
    }
    TRY(check_count(v, op, "regions", op->region_count, info->regions < 0 ? 0 : info->regions,
                    info->regions < 0 ? 1 : info->regions));
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (ir_operand(op, i) || ir_operand_optional(op->code, i)) continue;
        return verifier_fail(v, op, "expected operand %u, found none", i);
    }
    return true;
}

// ---- V3 and V4: operands ------------------------------------------------------------------------

static bool check_operands(Verifier *v, const IrOp *op) {
    bool fine = true;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const IrUse *use = &op->operands[i];
        const IrValue *value = use->value;
        if (!value) continue;
        bool known = value->id < v->func->value_count && v->by_id[value->id] == value;
        if (!known || !v->scope[value->id]) {
            fine = verifier_fail(v, op, "operand %u is not defined before its use, or out of scope",
                                 i);
        }
        if (known) v->seen[value->id]++;
        if (use->user != op || !use->link || *use->link != use) {
            fine = verifier_fail(v, op, "operand %u is not in its value's list of uses", i);
        }
    }
    return fine;
}

// Is this entry of a list an operand of its user?
static bool use_fits(const IrUse *use, const IrValue *value) {
    const IrOp *op = use->user;
    if (use->value != value || !op || !op->block) return false;
    uintptr_t place = (uintptr_t)use, first = (uintptr_t)op->operands;
    return place >= first && place < first + op->operand_count * sizeof *use;
}

// The list has as many entries as operands were seen in the walk, each of them once.
static bool uses_fit(const Verifier *v, const IrValue *value) {
    IrUse *const *link = &value->uses;
    uint32_t listed = 0;
    for (const IrUse *use = value->uses; use; link = &use->next, use = use->next) {
        // A circular list would be longer than the number of operands seen.
        if (use->link != link || listed == v->seen[value->id]) return false;
        if (!use_fits(use, value)) return false;
        listed++;
    }
    return listed == v->seen[value->id];
}

static void check_uses(Verifier *v) {
    for (uint32_t id = 0; id < v->func->value_count; id++) {
        const IrValue *value = v->by_id[id];
        if (!value || uses_fit(v, value)) continue;
        if (value->def) {
            verifier_fail(v, value->def, "the listed uses of result %u are not its operands",
                          value->index);
        } else {
            verifier_func_fail(v, v->func->span,
                               "the listed uses of argument %u are not its operands", value->index);
        }
    }
}

// ---- V6 and V7: where ops may stand -------------------------------------------------------------

static bool check_level(Verifier *v, const IrOp *op) {
    IrLevel level = ir_op_info(op->code)->level;
    return ir_level_allows(v->func->level, level) ||
           verifier_fail(v, op, "expected ops of level %s or below, found one of %s",
                         ir_level_text(v->func->level), ir_level_text(level));
}

// The number of nests that an op at level cpu_nest names, if it names any; UINT32_MAX: any number.
static uint32_t nests_named(const IrOp *op) {
    switch (op->code) {
    case IR_STORE:
    case IR_VIEW_STORE:
    case IR_REDUCE: return 1;
    case IR_JOIN:
    case IR_CAT: return 2;
    case IR_FOR:
    case IR_WHILE:
    case IR_YIELD: return UINT32_MAX;
    default: return op->result_count;
    }
}

static bool check_nests(Verifier *v, const IrOp *op) {
    const IrNests *nests = ir_nests(op);
    bool planned = v->func->level == IR_LEVEL_CPU_NEST && v->section->kind == IR_BODY;
    bool root = op->code == IR_VIEW_STORE || op->code == IR_REDUCE;
    uint32_t named = nests_named(op);
    if (!nests) return !(planned && root) || verifier_fail(v, op, "expected the nest of its root");
    if (!planned) return verifier_fail(v, op, "expected nests at level cpu_nest only");
    if (named != UINT32_MAX && nests->count != named)
        return verifier_fail(v, op, "expected %u nests, found %u", named, nests->count);
    for (uint32_t i = 0; i < nests->count; i++)
        if (nests->items[i] < 0 || nests->items[i] > INT32_MAX)
            return verifier_fail(v, op, "expected a number of a nest, found %lld",
                                 (long long)nests->items[i]);
    return true;
}

// Conditions and grids are evaluated before a launch: no memory, no program, no effects.
static bool check_launch_op(Verifier *v, const IrOp *op) {
    if (v->section->kind == IR_BODY) return true;
    switch (ir_op_info(op->code)->effect) {
    case IR_EFFECT_PURE:
        if (op->code != IR_PROGRAM && op->code != IR_PROGRAMS && op->code != IR_VIEW_INSIDE) {
            return true;
        }
        break;
    case IR_EFFECT_NEST:
    case IR_EFFECT_END: return true;
    case IR_EFFECT_READ:
    case IR_EFFECT_WRITE:
    case IR_EFFECT_KEEP: break;
    }
    return verifier_fail(v, op, "expected an op on extents and scalars before a launch");
}

// ---- blocks -------------------------------------------------------------------------------------

static bool check_links(Verifier *v, const IrOp *op, const IrBlock *block) {
    bool linked = op->block == block && (op->prev ? op->prev->next : block->first) == op &&
                  (op->next ? op->next->prev : block->last) == op;
    for (uint32_t i = 0; i < op->result_count; i++) {
        linked &= op->results[i].def == op && op->results[i].index == i;
    }
    for (uint32_t i = 0; i < op->region_count; i++) linked &= op->regions[i]->parent == op;
    if (!linked) verifier_fail(v, op, "links of the op do not fit its place");
    if (op->id >= v->func->op_count || v->op_ids[op->id]) {
        return verifier_fail(v, op, "op id %u is taken or not below %u", op->id, v->func->op_count);
    }
    v->op_ids[op->id] = 1;
    return linked;
}

// V5. The rules of yield and return check the kind of terminator.
static void check_terminator(Verifier *v, const IrBlock *block, const IrOp *parent) {
    bool ends = block->last && ir_op_info(block->last->code)->effect == IR_EFFECT_END;
    if (!ends && parent) {
        verifier_fail(v, parent, "expected 'yield' at the end of a region, found %s",
                      block->last ? ir_op_info(block->last->code)->text : "nothing");
    } else if (!ends) {
        verifier_func_fail(v, v->section->span, "expected '%s' at the end of the block, found %s",
                           v->section->kind == IR_BODY ? "return" : "yield",
                           block->last ? ir_op_info(block->last->code)->text : "nothing");
    }
}

static void check_block(Verifier *v, const IrBlock *block, const IrOp *parent);

static void check_op(Verifier *v, const IrOp *op, const IrBlock *block) {
    if ((unsigned)op->code >= IR_OPCODES) {
        verifier_func_fail(v, op->span, "opcode %u is not in the table", (unsigned)op->code);
        return;
    }
    bool fine = check_links(v, op, block);
    if (op->next && ir_op_info(op->code)->effect == IR_EFFECT_END) {
        fine = verifier_fail(v, op, "expected the end of a block as its last op");
    }
    fine &= check_counts(v, op);
    fine &= check_attrs(v, op);
    fine &= check_operands(v, op);
    fine &= check_level(v, op);
    fine &= check_nests(v, op);
    fine &= check_launch_op(v, op);
    if (fine && verifier_rule(v, op) && op->code == IR_DOT) verifier_dot_plan(v, op);
    for (uint32_t i = 0; i < op->region_count; i++) check_block(v, op->regions[i], op);
    if (v->ok && v->func->level == IR_LEVEL_GPU) verifier_layouts(v, op);
    for (uint32_t i = 0; i < op->result_count; i++) define(v, &op->results[i], op);
}

static void check_block(Verifier *v, const IrBlock *block, const IrOp *parent) {
    size_t outer = v->defined.count;
    if (block->func != v->func)
        verifier_func_fail(v, v->func->span, "a block is of another function");
    if (!parent && block->arg_count) {
        verifier_func_fail(v, v->section->span, "expected a section without arguments, found %u",
                           block->arg_count);
    }
    for (uint32_t i = 0; i < block->arg_count; i++) {
        const IrValue *arg = block->args[i];
        if (arg->def || arg->block != block || arg->index != i) {
            verifier_func_fail(v, v->func->span, "links of argument %u do not fit its block", i);
        }
        define(v, arg, parent);
    }
    for (const IrOp *op = block->first; op; op = op->next) check_op(v, op, block);
    check_terminator(v, block, parent);
    leave(v, outer);
}

// ---- V7: kernels --------------------------------------------------------------------------------

static void check_dims(Verifier *v, const IrParam *param) {
    const IrType *t = param->value->type;
    for (uint32_t i = 0; i < t->rank && i < IR_MAX_VIEW_RANK; i++) {
        const IrDim *dim = &param->dims[i];
        if (dim->extent && v->func->is_kernel && !ir_extent_find(v->func, dim->extent)) {
            verifier_func_fail(v, param->span, "extent '%s' of parameter '%s' is not declared",
                               dim->extent, param->name);
        }
        if (!dim->extent && dim->value < 0) {
            verifier_func_fail(v, param->span, "expected an extent of 0 or more, found %lld",
                               (long long)dim->value);
        }
    }
    const IrDim *inner = &param->dims[t->rank > 0 && t->rank <= IR_MAX_VIEW_RANK ? t->rank - 1 : 0];
    if (dtype_is(t->elem, DTYPE_CLASS_PACKED) && !inner->extent && (inner->value & 1)) {
        verifier_func_fail(v, param->span, "expected an even innermost extent of %s, found %lld",
                           dtype_name(t->elem), (long long)inner->value);
    }
}

static void check_facts(Verifier *v, Span span, const char *name, const IrFacts *facts) {
    if (facts->has_range && facts->min > facts->max) {
        verifier_func_fail(v, span, "expected min <= max of '%s', found %lld and %lld", name,
                           (long long)facts->min, (long long)facts->max);
    }
}

static void check_param(Verifier *v, uint32_t i) {
    const IrParam *param = &v->func->params.data[i];
    const IrValue *value = param->value;
    if (value->def || value->block || value->index != i) {
        verifier_func_fail(v, param->span, "links of parameter '%s' do not fit", param->name);
    }
    define(v, value, NULL);
    if (value->type->kind == IR_VIEW) {
        check_dims(v, param);
    } else if (v->func->is_kernel && value->type->rank != 0) {
        verifier_func_fail(v, param->span,
                           "expected a scalar, pointer or view as parameter, found %s",
                           verifier_type(v, value->type));
    }
    check_facts(v, param->span, param->name, &param->facts);
}

static void check_sections(Verifier *v) {
    const IrFunc *f = v->func;
    unsigned bodies = 0, grids = 0;
    for (size_t i = 0; i < f->sections.count; i++) {
        const IrSection *section = &f->sections.data[i];
        bodies += section->kind == IR_BODY;
        grids += section->kind == IR_GRID;
        if (!f->is_kernel && section->kind != IR_BODY) {
            verifier_func_fail(v, section->span, "expected a body only, of a function");
        }
    }
    if (bodies != 1) verifier_func_fail(v, f->span, "expected one body, found %u", bodies);
    if (grids > 1) verifier_func_fail(v, f->span, "expected one grid, found %u", grids);
    if (f->is_kernel && f->results.count) {
        verifier_func_fail(v, f->span, "expected a kernel without results, found %zu",
                           f->results.count);
    }
    for (size_t i = 0; i < f->extents.count; i++) {
        check_facts(v, f->span, f->extents.data[i].name, &f->extents.data[i].facts);
    }
}

// ---- functions and modules ----------------------------------------------------------------------

static void check_func(Verifier *v, const IrFunc *f) {
    ArenaMark mark = arena_mark(v->scratch);
    v->func = f;
    v->section = NULL;
    v->numbers = NULL;
    v->by_id = arena_new(v->scratch, const IrValue *, f->value_count);
    v->seen = arena_new(v->scratch, uint32_t, f->value_count);
    v->scope = arena_new(v->scratch, unsigned char, f->value_count);
    v->op_ids = arena_new(v->scratch, unsigned char, f->op_count);
    v->defined.data = NULL;
    v->defined.count = v->defined.capacity = 0;
    check_sections(v);
    verifier_maps(v);
    for (uint32_t i = 0; i < f->params.count; i++) check_param(v, i);
    for (size_t i = 0; i < f->sections.count; i++) {
        v->section = &f->sections.data[i];
        check_block(v, v->section->block, NULL);
    }
    check_uses(v);
    arena_reset(v->scratch, mark);
}

static Verifier verifier(const IrModule *m, Arena *scratch, Diags *diags) {
    Verifier v = {.diags = diags, .scratch = scratch, .module = m, .ok = true};
    for (size_t i = 0; i < m->funcs.count; i++) {
        Symbol name = m->funcs.data[i]->name;
        v.func = m->funcs.data[i];
        if (map_find(&v.functions, map_key(name))) {
            verifier_func_fail(&v, v.func->span, "function '%s' is defined twice", name);
        }
        map_put(v.scratch, &v.functions, map_key(name), i);
    }
    return v;
}

bool ir_verify_func(const IrFunc *f, Arena *scratch, Diags *diags) {
    ArenaMark mark = arena_mark(scratch);
    Verifier v = verifier(f->module, scratch, diags);
    check_func(&v, f);
    arena_reset(scratch, mark);
    return v.ok;
}

// V11: which functions call which. A function is `open` while one of its callees is. Those that are
// still open when nothing changes any more call each other recursively, or reach such a cycle.
typedef struct CallGraph {
    VEC(uint32_t) * callers;  // by callee
    uint32_t *callees;        // how many open ones, by caller
} CallGraph;

static void collect_calls(Verifier *v, CallGraph *graph, const IrBlock *block, uint32_t caller) {
    for (const IrOp *op = block->first; op; op = op->next) {
        if (op->code == IR_CALL) {
            Symbol name = ir_attr(op, IR_ATTR_CALLEE)->u.name;
            const uint64_t *callee = map_find(&v->functions, map_key(name));
            if (callee) {
                vec_push(v->scratch, &graph->callers[*callee], caller);
                graph->callees[caller]++;
            }
        }
        for (uint32_t i = 0; i < op->region_count; i++) {
            collect_calls(v, graph, op->regions[i], caller);
        }
    }
}

static void check_recursion(Verifier *v) {
    uint32_t count = (uint32_t)v->module->funcs.count;
    CallGraph graph = {.callees = arena_new(v->scratch, uint32_t, count)};
    graph.callers = arena_array(v->scratch, sizeof *graph.callers, count);
    for (uint32_t i = 0; i < count; i++) {
        const IrFunc *f = v->module->funcs.data[i];
        for (size_t s = 0; s < f->sections.count; s++) {
            collect_calls(v, &graph, f->sections.data[s].block, i);
        }
    }
    uint32_t *closed = arena_new(v->scratch, uint32_t, count), done = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (graph.callees[i] == 0) closed[done++] = i;
    }
    for (uint32_t next = 0; next < done; next++) {
        for (size_t i = 0; i < graph.callers[closed[next]].count; i++) {
            uint32_t caller = graph.callers[closed[next]].data[i];
            if (--graph.callees[caller] == 0) closed[done++] = caller;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (graph.callees[i] == 0) continue;
        v->func = v->module->funcs.data[i];
        verifier_func_fail(v, v->func->span,
                           "expected calls without recursion, found a cycle of calls");
    }
}

bool ir_verify(const IrModule *m, Diags *diags) {
    Arena *scratch = arena_create();
    Verifier v = verifier(m, scratch, diags);
    for (size_t i = 0; i < m->funcs.count; i++) check_func(&v, m->funcs.data[i]);
    if (v.ok) check_recursion(&v);
    arena_destroy(scratch);
    return v.ok;
}
