#include "base/arena.h"
#include "ir/option.h"
#include "ir/text/literal.h"
#include "ir/text/text.h"

// ---- numbers ------------------------------------------------------------------------------------

struct IrNumbers {
    uint32_t *numbers;  // by value id: the number + 1, 0 for none
    uint32_t count;
    uint32_t next;
};

static void number_value(IrNumbers *numbers, const IrValue *value) {
    if (value->id < numbers->count) numbers->numbers[value->id] = ++numbers->next;
}

static void number_block(IrNumbers *numbers, const IrBlock *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) number_value(numbers, block->args[i]);
    for (const IrOp *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->result_count; i++) number_value(numbers, &op->results[i]);
        for (uint32_t i = 0; i < op->region_count; i++) number_block(numbers, op->regions[i]);
    }
}

IrNumbers *ir_numbers(Arena *arena, const IrFunc *f) {
    IrNumbers *numbers = arena_new(arena, IrNumbers, 1);
    numbers->count = f->value_count;
    numbers->numbers = arena_new(arena, uint32_t, f->value_count);
    for (size_t i = 0; i < f->sections.count; i++) {
        number_block(numbers, f->sections.data[i].block);
    }
    return numbers;
}

// ---- parts of an op -----------------------------------------------------------------------------

static void print_value(const IrNumbers *numbers, const IrValue *value, StrBuf *out) {
    if (!value) {
        strbuf_char(out, '_');
    } else if (!value->def && !value->block) {
        strbuf_printf(out, "%%%s", value->name);
    } else if (value->id < numbers->count && numbers->numbers[value->id]) {
        strbuf_printf(out, "%%%u", numbers->numbers[value->id] - 1);
    } else {
        strbuf_add(out, STR("%?"));  // of another function: the verifier reports it
    }
}

static void print_ints(const IrAttr *attr, StrBuf *out) {
    strbuf_char(out, '[');
    for (uint32_t i = 0; i < attr->u.ints.count; i++) {
        strbuf_printf(out, "%s%lld", i ? ", " : "", (long long)attr->u.ints.items[i]);
    }
    strbuf_char(out, ']');
}

static void print_texts(const IrAttr *attr, StrBuf *out) {
    strbuf_char(out, '[');
    for (uint32_t i = 0; i < attr->u.texts.count; i++) {
        if (i) strbuf_add(out, STR(", "));
        ir_literal_quote(attr->u.texts.items[i], out);
    }
    strbuf_char(out, ']');
}

static void print_enum(IrAttrKind kind, int64_t value, StrBuf *out) {
    const char *text = ir_enum_text(kind, value);
    if (text) {
        strbuf_add(out, str(text));
    } else {
        strbuf_printf(out, "%lld", (long long)value);
    }
}

static void print_dtypes(const IrAttr *attr, StrBuf *out) {
    strbuf_char(out, '[');
    for (uint32_t i = 0; i < attr->u.ints.count; i++) {
        if (i) strbuf_add(out, STR(", "));
        print_enum(IR_KIND_DTYPE, attr->u.ints.items[i], out);
    }
    strbuf_char(out, ']');
}

static void print_bits(const IrOp *op, uint64_t bits, StrBuf *out) {
    const IrType *t = op->result_count > 0 ? op->results[0].type : NULL;
    if (t && t->kind == IR_TILE) {
        ir_literal_print(t->elem, bits, out);
    } else {
        strbuf_printf(out, "0x%llx", (unsigned long long)bits);
    }
}

static void print_consts(const IrOp *op, const IrAttr *attr, StrBuf *out) {
    strbuf_char(out, '[');
    for (uint32_t i = 0; i < attr->u.consts.count; i++) {
        if (i) strbuf_add(out, STR(", "));
        print_bits(op, attr->u.consts.items[i], out);
    }
    strbuf_char(out, ']');
}

static void print_attr_value(const IrOp *op, IrAttrName name, const IrAttr *attr, StrBuf *out) {
    IrAttrKind kind = ir_attr_kind(name);
    switch (kind) {
    case IR_KIND_INT: strbuf_printf(out, "%lld", (long long)attr->u.i); break;
    case IR_KIND_BOOL: strbuf_add(out, attr->u.i ? STR("true") : STR("false")); break;
    case IR_KIND_INTS: print_ints(attr, out); break;
    case IR_KIND_DTYPES: print_dtypes(attr, out); break;
    case IR_KIND_CONST: print_bits(op, attr->u.bits, out); break;
    case IR_KIND_CONSTS: print_consts(op, attr, out); break;
    case IR_KIND_TEXT: ir_literal_quote(attr->u.text, out); break;
    case IR_KIND_TEXTS: print_texts(attr, out); break;
    case IR_KIND_NAME: strbuf_add(out, attr->u.name ? str(attr->u.name) : STR("_")); break;
    case IR_KIND_REDUCE:
    case IR_KIND_RMW:
    case IR_KIND_ORDER:
    case IR_KIND_SCOPE:
    case IR_KIND_PRECISION:
    case IR_KIND_CACHE:
    case IR_KIND_PLAN:
    case IR_KIND_DTYPE: print_enum(kind, attr->u.i, out); break;
    }
}

// Does the text leave the attribute out? It does for a false boolean, no plan, no hint, an empty
// list if that is allowed, and an `inside` of zeros as long as the op's selection.
static bool attr_implied(const IrOp *op, IrAttrName name, const IrAttr *attr) {
    IrAttrKind kind = ir_attr_kind(name);
    if (!ir_attr_optional(name)) return false;
    if (kind == IR_KIND_BOOL || kind == IR_KIND_PLAN || kind == IR_KIND_CACHE ||
        name == IR_ATTR_AHEAD)
        return attr->u.i == 0;
    if (name != IR_ATTR_INSIDE) return attr->u.ints.count == 0;
    for (uint32_t i = 0; i < attr->u.ints.count; i++) {
        if (attr->u.ints.items[i] != 0) return false;
    }
    return attr->u.ints.count == ir_attr(op, IR_ATTR_SELECT)->u.ints.count;
}

static void print_attrs(const IrOp *op, StrBuf *out) {
    const IrOpInfo *info = ir_op_info(op->code);
    bool any = false;
    for (int i = 0; i < info->attr_count; i++) {
        if (attr_implied(op, info->attrs[i], &op->attrs[i])) continue;
        strbuf_printf(out, "%s%s = ", any ? ", " : " {", ir_attr_text(info->attrs[i]));
        print_attr_value(op, info->attrs[i], &op->attrs[i], out);
        any = true;
    }
    const IrNests *nests = ir_nests(op);
    for (uint32_t i = 0; nests && i < nests->count; i++) {
        strbuf_add(out, i ? STR(", ") : any ? STR(", nests = [") : STR(" {nests = ["));
        strbuf_printf(out, "%lld", (long long)nests->items[i]);
    }
    if (nests) strbuf_char(out, ']');
    if (any || nests) strbuf_char(out, '}');
}

void ir_print_op_with(const IrNumbers *numbers, const IrOp *op, StrBuf *out) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (i) strbuf_add(out, STR(", "));
        print_value(numbers, &op->results[i], out);
    }
    if (op->result_count) strbuf_add(out, STR(" = "));
    strbuf_add(out, str(ir_op_info(op->code)->text));
    for (uint32_t i = 0; i < op->operand_count; i++) {
        strbuf_add(out, i ? STR(", ") : STR(" "));
        print_value(numbers, ir_operand(op, i), out);
    }
    print_attrs(op, out);
    for (uint32_t i = 0; i < op->result_count; i++) {
        strbuf_add(out, i ? STR(", ") : STR(" : "));
        ir_type_text(op->results[i].type, out);
    }
}

void ir_print_op(const IrOp *op, StrBuf *out) {
    if (!op->block) {  // erased: there is no function to number it by
        strbuf_printf(out, "(erased) %s", ir_op_info(op->code)->text);
        return;
    }
    Arena *scratch = arena_create();
    ir_print_op_with(ir_numbers(scratch, op->block->func), op, out);
    arena_destroy(scratch);
}

// ---- blocks -------------------------------------------------------------------------------------

static void indent(StrBuf *out, int depth) {
    for (int i = 0; i < depth; i++) strbuf_add(out, STR("  "));
}

static void print_block(const IrNumbers *numbers, const IrBlock *block, int depth, StrBuf *out);

static void print_region(const IrNumbers *numbers, const IrBlock *block, int depth, StrBuf *out) {
    for (uint32_t i = 0; i < block->arg_count; i++) {
        strbuf_add(out, i ? STR(", ") : STR(" ("));
        print_value(numbers, block->args[i], out);
        strbuf_add(out, STR(": "));
        ir_type_text(block->args[i]->type, out);
    }
    strbuf_add(out, block->arg_count ? STR(") {\n") : STR(" {\n"));
    print_block(numbers, block, depth + 1, out);
    indent(out, depth);
    strbuf_char(out, '}');
}

static void print_block(const IrNumbers *numbers, const IrBlock *block, int depth, StrBuf *out) {
    for (const IrOp *op = block->first; op; op = op->next) {
        indent(out, depth);
        ir_print_op_with(numbers, op, out);
        for (uint32_t i = 0; i < op->region_count; i++) {
            print_region(numbers, op->regions[i], depth, out);
        }
        strbuf_char(out, '\n');
    }
}

// ---- functions ----------------------------------------------------------------------------------

// Prints the separator before an attribute: the brace that opens the list, or a comma.
static void next_attr(bool *any, StrBuf *out) {
    strbuf_add(out, *any ? STR(", ") : STR(" {"));
    *any = true;
}

static void print_param_facts(const IrFacts *facts, StrBuf *out) {
    bool any = false;
    if (facts->divisor) {
        next_attr(&any, out);
        strbuf_printf(out, "divisor = %llu", (unsigned long long)facts->divisor);
    }
    if (facts->has_range) {
        next_attr(&any, out);
        strbuf_printf(out, "min = %lld, max = %lld", (long long)facts->min, (long long)facts->max);
    }
    if (any) strbuf_char(out, '}');
}

static void print_param(const IrParam *param, StrBuf *out) {
    const IrType *t = param->value->type;
    strbuf_printf(out, "%%%s: ", param->name);
    if (t->kind == IR_VIEW) {
        strbuf_printf(out, "%sview %s[", param->strided ? "strided " : "", dtype_name(t->elem));
        for (uint32_t i = 0; i < t->rank && i < IR_MAX_VIEW_RANK; i++) {
            const IrDim *dim = &param->dims[i];
            if (i) strbuf_add(out, STR(", "));
            if (dim->extent) {
                strbuf_add(out, str(dim->extent));
            } else {
                strbuf_printf(out, "%lld", (long long)dim->value);
            }
        }
        strbuf_char(out, ']');
    } else {
        ir_type_text(t, out);
    }
    print_param_facts(&param->facts, out);
}

static void print_bindings(const IrFunc *f, StrBuf *out) {
    strbuf_add(out, STR("bind = ["));
    for (size_t i = 0; i < f->bindings.count; i++) {
        const IrBinding *bind = &f->bindings.data[i];
        strbuf_printf(out, "%s%s = ", i ? ", " : "", bind->name);
        if (bind->is_type) {
            strbuf_add(out, str(dtype_name(bind->type)));
        } else {
            strbuf_printf(out, "%lld", (long long)bind->value);
        }
    }
    strbuf_char(out, ']');
}

static void print_extent_facts(const IrFunc *f, bool *any, StrBuf *out) {
    bool open = false;
    for (size_t i = 0; i < f->extents.count; i++) {
        const IrFacts *facts = &f->extents.data[i].facts;
        if (!facts->divisor && !facts->has_range) continue;
        if (!open) next_attr(any, out);
        strbuf_add(out, open ? STR(", ") : STR("facts = ["));
        open = true;
        strbuf_add(out, str(f->extents.data[i].name));
        if (facts->divisor) {
            strbuf_printf(out, " divisor %llu", (unsigned long long)facts->divisor);
        }
        if (facts->has_range) {
            strbuf_printf(out, " range %lld %lld", (long long)facts->min, (long long)facts->max);
        }
    }
    if (open) strbuf_char(out, ']');
}

// Are the extents those of a kernel's parameters, in order of first mention? Functions have none.
static bool extents_implied(const IrFunc *f) {
    if (!f->is_kernel) return f->extents.count == 0;
    size_t next = 0;
    for (size_t i = 0; i < f->params.count; i++) {
        const IrParam *param = &f->params.data[i];
        for (uint32_t d = 0; d < IR_MAX_VIEW_RANK; d++) {
            Symbol name = param->dims[d].extent;
            if (!name) continue;
            size_t known = 0;
            while (known < next && f->extents.data[known].name != name) known++;
            if (known < next) continue;
            if (next >= f->extents.count || f->extents.data[next].name != name) return false;
            next++;
        }
    }
    return next == f->extents.count;
}

static void print_map(const IrFunc *f, const IrMap *map, StrBuf *out) {
    strbuf_printf(out, "%s [", f->params.data[map->param].name);
    for (uint32_t i = 0; i < map->rank; i++)
        strbuf_printf(out, "%s%u", i ? ", " : "", map->axes[i]);
    strbuf_add(out, STR("] box ["));
    for (uint32_t i = 0; i < map->rank; i++) strbuf_printf(out, "%s%u", i ? ", " : "", map->box[i]);
    strbuf_char(out, ']');
    if (map->swizzle) strbuf_printf(out, " swizzle %u", map->swizzle);
    if (map->promotion) strbuf_printf(out, " promotion %u", map->promotion);
}

static void print_maps(const IrFunc *f, bool *any, StrBuf *out) {
    if (!f->maps.count) return;
    next_attr(any, out);
    for (size_t i = 0; i < f->maps.count; i++) {
        strbuf_add(out, i ? STR(", ") : STR("maps = ["));
        print_map(f, &f->maps.data[i], out);
    }
    strbuf_char(out, ']');
}

static void print_number(const char *name, int value, bool *any, StrBuf *out) {
    if (!value) return;
    next_attr(any, out);
    strbuf_printf(out, "%s = %d", name, value);
}

static void print_options(const IrFunc *f, bool *any, StrBuf *out) {
    for (size_t i = 0; i < IR_OPTIONS; i++)
        print_number(ir_options[i].name, ir_option_value(f, &ir_options[i]), any, out);
    print_number("lanes", f->lanes, any, out);
    print_number("group", f->group, any, out);
}

static void print_math(unsigned math, StrBuf *out) {
    static const char *const names[] = {"contract", "approx", "wrap"};
    const char *between = "";
    strbuf_add(out, STR("math = ["));
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (!(math & 1u << i)) continue;
        strbuf_printf(out, "%s%s", between, names[i]);
        between = ", ";
    }
    strbuf_char(out, ']');
}

static void print_func_attrs(const IrFunc *f, StrBuf *out) {
    bool any = false;
    if (f->level != IR_LEVEL_TILE) {
        next_attr(&any, out);
        strbuf_printf(out, "level = %s", ir_level_text(f->level));
    }
    if (f->math) {
        next_attr(&any, out);
        print_math(f->math, out);
    }
    print_options(f, &any, out);
    if (f->bindings.count) {
        next_attr(&any, out);
        print_bindings(f, out);
    }
    if (!extents_implied(f)) {
        next_attr(&any, out);
        for (size_t i = 0; i < f->extents.count; i++) {
            strbuf_printf(out, "%s%s", i ? ", " : "extents = [", f->extents.data[i].name);
        }
        strbuf_add(out, f->extents.count ? STR("]") : STR("extents = []"));
    }
    print_extent_facts(f, &any, out);
    print_maps(f, &any, out);
    if (any) strbuf_char(out, '}');
}

static void print_sections(const IrNumbers *numbers, const IrFunc *f, StrBuf *out) {
    for (size_t i = 0; i < f->sections.count; i++) {
        const IrSection *section = &f->sections.data[i];
        switch (section->kind) {
        case IR_REQUIRES:
            strbuf_add(out, STR("  requires "));
            ir_literal_quote(section->text, out);
            break;
        case IR_GRID: strbuf_add(out, STR("  grid")); break;
        case IR_BODY: strbuf_add(out, STR("  body")); break;
        }
        print_region(numbers, section->block, 1, out);
        strbuf_char(out, '\n');
    }
}

void ir_print_func(const IrFunc *f, StrBuf *out) {
    Arena *scratch = arena_create();
    const IrNumbers *numbers = ir_numbers(scratch, f);
    strbuf_printf(out, "%s @%s(", f->is_kernel ? "kernel" : "func", f->name);
    for (size_t i = 0; i < f->params.count; i++) {
        if (i) strbuf_add(out, STR(", "));
        print_param(&f->params.data[i], out);
    }
    strbuf_char(out, ')');
    for (size_t i = 0; i < f->results.count; i++) {
        strbuf_add(out, i ? STR(", ") : STR(" -> "));
        ir_type_text(f->results.data[i], out);
    }
    print_func_attrs(f, out);
    strbuf_add(out, STR(" {\n"));
    if (f->is_kernel) {
        print_sections(numbers, f, out);
    } else if (ir_body(f)) {
        print_block(numbers, ir_body(f), 1, out);
    }
    strbuf_add(out, STR("}\n"));
    arena_destroy(scratch);
}

void ir_print_module(const IrModule *m, StrBuf *out) {
    for (size_t i = 0; i < m->funcs.count; i++) {
        if (i) strbuf_char(out, '\n');
        ir_print_func(m->funcs.data[i], out);
    }
}
