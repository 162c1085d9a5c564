#include "tests/gen/gen_mutate.h"

#include <string.h>

#include "base/vec.h"
#include "ir/edit.h"
#include "ir/text/text.h"
#include "ir/verify/verify.h"
#include "tests/gen/gen.h"
#include "tests/support/special.h"

typedef struct Mutation {
    Arena *arena;
    IrModule *m;
    Dice *dice;
    VEC(IrOp *) ops;
} Mutation;

static uint64_t roll(Mutation *k, uint64_t n) { return dice_below(k->dice, n); }

static void collect(Mutation *k, const IrBlock *block) {
    IR_EACH_OP(op, block) {
        vec_push(k->arena, &k->ops, op);
        for (uint32_t i = 0; i < op->region_count; i++) collect(k, op->regions[i]);
    }
}

static bool is_end(const IrOp *op) { return ir_op_info(op->code)->effect == IR_EFFECT_END; }

// ---- values of a type ---------------------------------------------------------------------------

typedef struct Choice {
    const IrType *type;
    IrValue *found;
    uint64_t seen;
} Choice;

static void offer(Mutation *k, Choice *c, IrValue *v) {
    if (v->type == c->type && roll(k, ++c->seen) == 0) c->found = v;
}

// One of those in scope before the op; NULL: none has the type.
static IrValue *in_scope(Mutation *k, const IrOp *place, const IrType *type) {
    Choice c = {.type = type};
    const IrFunc *f = place->block->func;
    for (const IrOp *at = place; at; at = at->block->parent) {
        const IrBlock *block = at->block;
        for (IrOp *op = block->first; op != at; op = op->next)
            for (uint32_t i = 0; i < op->result_count; i++) offer(k, &c, ir_result(op, i));
        for (uint32_t i = 0; i < block->arg_count; i++) offer(k, &c, block->args[i]);
    }
    for (size_t i = 0; i < f->params.count; i++) offer(k, &c, f->params.data[i].value);
    return c.found;
}

// ---- changes: false where the op is not for them ------------------------------------------------

static bool change_operand(Mutation *k, IrOp *op) {
    if (!op->operand_count) return false;
    uint32_t i = (uint32_t)roll(k, op->operand_count);
    IrValue *now = ir_operand(op, i);
    if (!now || (ir_operand_optional(op->code, i) && roll(k, 4) == 0)) {
        if (!ir_operand_optional(op->code, i)) return false;
        const IrValue *like = op->result_count ? ir_result(op, 0) : ir_operand(op, 0);
        if (!like || like->type->kind != IR_TILE) return false;
        Dtype elem = roll(k, 2) ? DTYPE_BOOL : like->type->elem;
        ir_set_operand(op, i, now ? NULL : in_scope(k, op, ir_with_elem(k->m, like->type, elem)));
        return true;
    }
    IrValue *other = in_scope(k, op, now->type);
    if (!other || other == now) return false;
    ir_set_operand(op, i, other);
    return true;
}

static bool swap_operands(Mutation *k, IrOp *op) {
    if (op->operand_count < 2) return false;
    uint32_t i = (uint32_t)roll(k, op->operand_count), j = (uint32_t)roll(k, op->operand_count);
    IrValue *a = ir_operand(op, i), *b = ir_operand(op, j);
    if (a == b || !a || !b || a->type != b->type) return false;
    ir_set_operand(op, i, b);
    ir_set_operand(op, j, a);
    return true;
}

static bool is_alike(const IrOpInfo *a, const IrOpInfo *b) {
    return a->rule == b->rule && a->effect == b->effect && a->attr_count == b->attr_count &&
           !memcmp(a->attrs, b->attrs, (size_t)a->attr_count * sizeof *a->attrs);
}

static bool change_code(Mutation *k, IrOp *op) {
    IrOpcode code = (IrOpcode)roll(k, IR_OPCODES);
    for (int i = 0; i < IR_OPCODES; i++, code = (IrOpcode)((code + 1) % IR_OPCODES)) {
        if (code == op->code || !is_alike(ir_op_info(code), ir_op_info(op->code))) continue;
        op->code = code;
        return true;
    }
    return false;
}

static uint64_t const_bits(Mutation *k, Dtype t) {
    if (dtype_is(t, DTYPE_CLASS_ANYFLOAT)) return special_float(t, k->dice);
    if (t == DTYPE_BOOL) return roll(k, 2);
    switch (roll(k, 5)) {
    case 0: return dtype_wrap(t, (uint64_t)dtype_int_min(t));
    case 1: return dtype_int_max(t);
    case 2: return dtype_wrap(t, dice_next(k->dice));
    case 3: return dtype_wrap(t, UINT64_C(1) << roll(k, 64));
    }
    return dtype_wrap(t, roll(k, 12) - 4);
}

static void change_ints(Mutation *k, IrOp *op, IrAttrName name) {
    int64_t items[IR_MAX_RANK + IR_MAX_VIEW_RANK];
    const IrAttr *attr = ir_attr(op, name);
    uint32_t count = attr->u.ints.count;
    if (!count || count > IR_MAX_RANK) return;
    memcpy(items, attr->u.ints.items, count * sizeof *items);
    uint64_t i = roll(k, count), j = roll(k, count);
    int64_t was = items[i];
    items[i] = items[j];
    items[j] = was;
    if (i == j) items[i] = roll(k, 2) ? items[i] * 2 : (int64_t)roll(k, 4);
    ir_attr_set_ints(op, name, count, items);
}

// Another value, or fewer of them.
static void change_consts(Mutation *k, IrOp *op, IrAttrName name) {
    const IrAttr *attr = ir_attr(op, name);
    uint32_t count = attr->u.consts.count;
    uint64_t *items = arena_new(k->arena, uint64_t, count + 1);
    memcpy(items, attr->u.consts.items, count * sizeof *items);
    if (count > 1 && roll(k, 2))
        count = 1 + (uint32_t)roll(k, count - 1);
    else
        items[roll(k, count)] = const_bits(k, op->results[0].type->elem);
    ir_attr_set_consts(op, name, count, items);
}

static bool change_attr(Mutation *k, IrOp *op) {
    const IrOpInfo *info = ir_op_info(op->code);
    if (!info->attr_count) return false;
    IrAttrName name = info->attrs[roll(k, (uint64_t)info->attr_count)];
    int64_t now = ir_attr(op, name)->u.i, other = (int64_t)roll(k, 9);
    switch (ir_attr_kind(name)) {
    case IR_KIND_INT: ir_attr_set_int(op, name, roll(k, 2) ? other : now * 2); break;
    case IR_KIND_BOOL: ir_attr_set_int(op, name, !now); break;
    case IR_KIND_INTS: change_ints(k, op, name); break;
    case IR_KIND_CONSTS: change_consts(k, op, name); break;
    case IR_KIND_CONST: ir_attr_set_bits(op, name, const_bits(k, op->results[0].type->elem)); break;
    case IR_KIND_NAME: {
        const IrFunc *f = op->block->func;
        if (op->code != IR_EXTENT) return false;
        ir_attr_set_name(op, name, f->extents.data[roll(k, f->extents.count)].name);
        break;
    }
    case IR_KIND_REDUCE:
    case IR_KIND_RMW:
    case IR_KIND_ORDER:
    case IR_KIND_SCOPE:
    case IR_KIND_PRECISION:
    case IR_KIND_CACHE:
    case IR_KIND_PLAN:
        if (!ir_enum_text(ir_attr_kind(name), other)) return false;
        ir_attr_set_int(op, name, other);
        break;
    case IR_KIND_DTYPE:
    case IR_KIND_DTYPES:
    case IR_KIND_TEXT:
    case IR_KIND_TEXTS: return false;
    }
    return true;
}

// Some who used the op's results use the copy's.
static bool repeat(Mutation *k, IrOp *op) {
    if (is_end(op) || !op->next) return false;
    Map map = {0};
    IrBuilder b = ir_builder_before(op->next);
    IrOp *copy = ir_clone(&b, op, &map, k->arena);
    for (uint32_t i = 0; i < op->result_count; i++) {
        for (IrUse *use = op->results[i].uses, *next; use; use = next) {
            next = use->next;
            uint32_t at = (uint32_t)(use - use->user->operands);
            if (roll(k, 2)) ir_set_operand(use->user, at, ir_result(copy, i));
        }
    }
    return true;
}

// Repeats the contents of a region once, before its op.
static bool unfold(Mutation *k, IrOp *op) {
    if (!op->region_count) return false;
    const IrBlock *region = op->regions[roll(k, op->region_count)];
    Map map = {0};
    for (uint32_t i = 0; i < region->arg_count; i++) {
        IrValue *arg = in_scope(k, op, region->args[i]->type);
        if (!arg) return false;
        map_put(k->arena, &map, map_key(region->args[i]), map_key(arg));
    }
    IrBuilder b = ir_builder_before(op);
    ir_clone_block(&b, region, &map, k->arena);
    return true;
}

static bool swap_regions(Mutation *k, IrOp *op) {
    (void)k;
    if (op->code != IR_IF) return false;
    IrBlock *first = op->regions[0];
    op->regions[0] = op->regions[1];
    op->regions[1] = first;
    return true;
}

static bool drop(Mutation *k, IrOp *op) {
    (void)k;
    if (!gen_drop(op)) return false;
    ir_erase(op);
    return true;
}

static bool move(Mutation *k, IrOp *op) {
    if (is_end(op)) return false;
    uint64_t count = 0;
    IrOp *place = NULL;
    IR_EACH_OP(other, op->block) {
        if (other != op && roll(k, ++count) == 0) place = other;
    }
    if (!place) return false;
    ir_move_before(op, place);
    return true;
}

static IrFacts some_facts(Mutation *k) {
    IrFacts facts = {.divisor = UINT64_C(1) << roll(k, 6)};
    if (roll(k, 2)) return facts;
    facts.has_range = true;
    facts.min = (int64_t)roll(k, 9) - 4;
    facts.max = facts.min + (int64_t)roll(k, 40);
    return facts;
}

static bool change_kernel(Mutation *k, IrOp *op) {
    IrFunc *f = op->block->func;
    if (!f->is_kernel || !f->params.count) return false;
    IrParam *p = &f->params.data[roll(k, f->params.count)];
    switch (roll(k, 6)) {
    case 0: f->math = (unsigned)roll(k, 4); return true;
    case 1: f->warps = 1 << roll(k, 6); return true;
    case 2: p->facts = some_facts(k); return true;
    case 3:
        if (p->value->type->kind != IR_VIEW) return false;
        p->strided = !p->strided;
        return true;
    case 4:
        if (!f->extents.count) return false;
        f->extents.data[roll(k, f->extents.count)].facts = some_facts(k);
        return true;
    }
    if (p->value->type->kind != IR_VIEW) return false;
    p->dims[p->value->type->rank - 1] = (IrDim){.value = (int64_t)roll(k, 70) + 1};
    return true;
}

static bool change(Mutation *k) {
    typedef bool Change(Mutation * k, IrOp * op);
    static Change *const changes[] = {change_operand, change_operand, change_operand, swap_operands,
                                      change_code,    change_code,    change_attr,    change_attr,
                                      repeat,         unfold,         swap_regions,   drop,
                                      move,           change_kernel};
    Change *way = changes[roll(k, sizeof changes / sizeof *changes)];
    for (size_t i = 0; i < k->m->funcs.count; i++) {
        const IrFunc *f = k->m->funcs.data[i];
        for (size_t s = 0; s < f->sections.count; s++) collect(k, f->sections.data[s].block);
    }
    // Most ops are not for a change of regions.
    for (int tries = 0; tries < 20 && k->ops.count; tries++)
        if (way(k, k->ops.data[roll(k, k->ops.count)])) return true;
    return false;
}

// ---- types and shapes, in the text --------------------------------------------------------------

static bool is_word(char c) { return str_word_char(c); }

static Str replaced(Arena *arena, Str text, Str word, Str by) {
    StrBuf out = strbuf(arena);
    for (size_t i = 0; i < text.size;) {
        Str rest = {text.text + i, text.size - i};
        bool starts = i == 0 || !is_word(text.text[i - 1]);
        bool ends = rest.size > word.size && !is_word(rest.text[word.size]);
        if (starts && ends && str_starts(rest, word)) {
            strbuf_add(&out, by);
            i += word.size;
        } else {
            strbuf_char(&out, text.text[i++]);
        }
    }
    return strbuf_str(&out);
}

static Str retyped(Arena *arena, Str text, Dice *dice) {
    static const char *const names[] = {"f32",    "f16",    "bf16",       "f64",       "f8e4m3",
                                        "f8e5m2", "f8e4m3", "f8e4m3fnuz", "f8e5m2fnuz"};
    static const char *const ints[] = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"};
    static const char *const extents[] = {"1", "2", "4", "8", "16", "32", "64", "128"};
    const char *const *list = names;
    uint64_t count = 9;
    uint64_t which = dice_below(dice, 4);
    if (which == 0) list = ints, count = 8;
    if (which == 1) list = extents, count = 8;
    return replaced(arena, text, str(list[dice_below(dice, count)]),
                    str(list[dice_below(dice, count)]));
}

bool gen_mutate(Arena *arena, Str text, Dice *dice, Str *mutant) {
    Arena *own = arena_create();
    Sources *sources = sources_create(own);
    Diags *diags = diags_create(own, sources);
    Str from = text;
    bool types = dice_below(dice, 12) == 0;
    if (types) from = retyped(own, text, dice);
    const SourceFile *file = source_add(sources, STR("mutant.tir"), from);
    IrModule *m = ir_parse(own, sources, interner_create(own), file, diags);
    bool fine = m && (!types || ir_verify(m, diags));
    if (fine && !types) {
        Mutation k = {.arena = own, .m = m, .dice = dice};
        fine = change(&k) && ir_verify(m, diags);
    }
    if (fine) {
        StrBuf out = strbuf(own);
        ir_print_module(m, &out);
        Str made = strbuf_str(&out);
        fine = !str_equal(made, text);
        if (fine) *mutant = (Str){arena_text(arena, made.text, made.size), made.size};
    }
    arena_destroy(own);
    return fine;
}
