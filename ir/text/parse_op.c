#include "ir/text/literal.h"
#include "ir/text/parser.h"

// ---- values -------------------------------------------------------------------------------------

// A value's number; false unless its text is a number below 2^32.
static bool value_number(Str text, uint64_t *number) {
    bool overflow = false;
    for (size_t i = 0; i < text.size; i++) {
        if (text.text[i] < '0' || text.text[i] > '9') return false;
    }
    return str_to_u64(text, number, &overflow) && !overflow && *number <= UINT32_MAX;
}

static bool define(IrParser *p, IrToken token, IrValue *value) {
    uint64_t number = 0;
    if (!value_number(token.text, &number)) {
        diag_error(p->diags, token.span, DIAG_IR_SYNTAX,
                   "expected a number for a result, found '%%%.*s'",
                   STR_ARG(parser_short(token.text)));
        return false;
    }
    if (map_find(&p->numbered, number)) {
        diag_error(p->diags, token.span, DIAG_DUPLICATE_NAME, "%%%u is defined twice",
                   (unsigned)number);
        return false;
    }
    map_put(p->scratch, &p->numbered, number, map_key(value));
    return true;
}

static bool operand(IrParser *p, IrValue **value) {
    *value = NULL;
    if (parser_at_name(p, "_")) {
        parser_next(p);
        return true;
    }
    if (p->token.kind != IR_TOK_VALUE) return parser_fail(p, "an operand");
    uint64_t number;
    const uint64_t *found =
        value_number(p->token.text, &number)
            ? map_find(&p->numbered, number)
            : map_find(&p->named, map_key(intern(p->module->names, p->token.text)));
    if (!found) {
        diag_error(p->diags, p->token.span, DIAG_UNKNOWN_NAME, "unknown value '%%%.*s'",
                   STR_ARG(parser_short(p->token.text)));
        diag_help(p->diags, "a value is defined before its uses");
    } else {
        *value = (IrValue *)(uintptr_t)*found;
    }
    parser_next(p);
    return true;
}

static bool operands(IrParser *p) {
    bool more = p->token.kind == IR_TOK_VALUE || parser_at_name(p, "_");
    if (!more || p->token.first) return true;
    do {
        IrValue *value;
        TRY(operand(p, &value));
        vec_push(p->scratch, &p->operands, value);
    } while (parser_take(p, ','));
    return true;
}

// ---- attributes ---------------------------------------------------------------------------------

// The parts of an op, as read before it can be created.
typedef struct Draft {
    IrOpcode code;
    const IrOpInfo *info;
    IrToken first;
    IrAttr attrs[IR_MAX_ATTRS];
    bool given[IR_MAX_ATTRS];
    IrAttr nests;            // every op may have them
    VEC(IrToken) constants;  // of a CONST or CONSTS attribute: read once the type is known
    size_t operands, names, types, regions;  // where its parts begin on the stacks
} Draft;

static bool ints(IrParser *p, IrAttr *attr) {
    VEC(int64_t) items = {0};
    TRY(parser_expect(p, '[', "before a list of numbers"));
    while (!parser_at(p, ']')) {
        int64_t value;
        TRY(parser_int(p, "a number", INT64_MIN, INT64_MAX, &value));
        vec_push(p->arena, &items, value);
        if (!parser_take(p, ',')) break;
    }
    TRY(parser_expect(p, ']', "after a list of numbers"));
    attr->u.ints.count = (uint32_t)items.count;
    attr->u.ints.items = items.data;
    return true;
}

static bool texts(IrParser *p, IrAttr *attr) {
    VEC(Str) items = {0};
    TRY(parser_expect(p, '[', "before a list of texts"));
    while (!parser_at(p, ']')) {
        Str text;
        TRY(parser_string(p, "a text", &text));
        vec_push(p->arena, &items, text);
        if (!parser_take(p, ',')) break;
    }
    TRY(parser_expect(p, ']', "after a list of texts"));
    attr->u.texts.count = (uint32_t)items.count;
    attr->u.texts.items = items.data;
    return true;
}

static bool boolean(IrParser *p, IrAttr *attr) {
    attr->u.i = parser_at_name(p, "true");
    if (!attr->u.i && !parser_at_name(p, "false")) return parser_fail(p, "true or false");
    parser_next(p);
    return true;
}

static bool enumerated(IrParser *p, IrAttrName name, IrAttr *attr) {
    IrAttrKind kind = ir_attr_kind(name);
    if (p->token.kind == IR_TOK_NAME && ir_enum_from_text(kind, p->token.text, &attr->u.i)) {
        parser_next(p);
        return true;
    }
    if (p->token.kind != IR_TOK_NAME) return parser_fail(p, "a name");
    diag_error(p->diags, p->token.span, DIAG_IR_SYNTAX, "attribute '%s' can't be '%.*s'",
               ir_attr_text(name), STR_ARG(parser_short(p->token.text)));
    StrBuf list = strbuf(p->scratch);
    for (int64_t i = 0; ir_enum_text(kind, i); i++) {
        strbuf_printf(&list, "%s%s", i ? ", " : "", ir_enum_text(kind, i));
    }
    diag_help(p->diags, "it is one of %s", list.text);
    return false;
}

static bool dtypes(IrParser *p, IrAttr *attr) {
    VEC(int64_t) items = {0};
    TRY(parser_expect(p, '[', "before a list of element types"));
    while (!parser_at(p, ']')) {
        int64_t value;
        if (p->token.kind != IR_TOK_NAME ||
            !ir_enum_from_text(IR_KIND_DTYPE, p->token.text, &value))
            return parser_fail(p, "an element type");
        parser_next(p);
        vec_push(p->arena, &items, value);
        if (!parser_take(p, ',')) break;
    }
    TRY(parser_expect(p, ']', "after a list of element types"));
    attr->u.ints.count = (uint32_t)items.count;
    attr->u.ints.items = items.data;
    return true;
}

static bool constant(IrParser *p, Draft *draft) {
    if (p->token.kind != IR_TOK_NUMBER && p->token.kind != IR_TOK_NAME) {
        return parser_fail(p, "a constant");
    }
    vec_push(p->scratch, &draft->constants, p->token);
    parser_next(p);
    return true;
}

static bool constants(IrParser *p, Draft *draft) {
    TRY(parser_expect(p, '[', "before a list of constants"));
    while (!parser_at(p, ']')) {
        TRY(constant(p, draft));
        if (!parser_take(p, ',')) break;
    }
    return parser_expect(p, ']', "after a list of constants");
}

static bool attr_value(IrParser *p, Draft *draft, IrAttrName name, IrAttr *attr) {
    switch (ir_attr_kind(name)) {
    case IR_KIND_INT: return parser_int(p, "a number", INT64_MIN, INT64_MAX, &attr->u.i);
    case IR_KIND_BOOL: return boolean(p, attr);
    case IR_KIND_INTS: return ints(p, attr);
    case IR_KIND_DTYPES: return dtypes(p, attr);
    case IR_KIND_CONST: return constant(p, draft);
    case IR_KIND_CONSTS: return constants(p, draft);
    case IR_KIND_TEXT: return parser_string(p, "a text", &attr->u.text);
    case IR_KIND_TEXTS: return texts(p, attr);
    case IR_KIND_NAME: return parser_name(p, "a name", &attr->u.name);
    case IR_KIND_REDUCE:
    case IR_KIND_RMW:
    case IR_KIND_ORDER:
    case IR_KIND_SCOPE:
    case IR_KIND_PRECISION:
    case IR_KIND_CACHE:
    case IR_KIND_PLAN:
    case IR_KIND_DTYPE: return enumerated(p, name, attr);
    }
    return false;
}

static bool attr_unknown(IrParser *p, const Draft *draft) {
    diag_error(p->diags, p->token.span, DIAG_IR_SYNTAX, "op '%s' has no attribute '%.*s'",
               draft->info->text, STR_ARG(parser_short(p->token.text)));
    StrBuf list = strbuf(p->scratch);
    for (int i = 0; i < draft->info->attr_count; i++) {
        strbuf_printf(&list, "%s%s", i ? ", " : "", ir_attr_text(draft->info->attrs[i]));
    }
    if (list.size) diag_help(p->diags, "it has %s", list.text);
    return false;
}

static bool nests(IrParser *p, Draft *draft) {
    parser_next(p);
    TRY(parser_expect(p, '=', "after the name of an attribute"));
    return ints(p, &draft->nests);
}

static bool attr(IrParser *p, Draft *draft) {
    if (p->token.kind != IR_TOK_NAME) return parser_fail(p, "the name of an attribute");
    if (parser_at_name(p, "nests")) return nests(p, draft);
    int i = 0;
    while (i < draft->info->attr_count &&
           !str_equal(p->token.text, str(ir_attr_text(draft->info->attrs[i])))) {
        i++;
    }
    if (i == draft->info->attr_count) return attr_unknown(p, draft);
    if (draft->given[i]) {
        diag_error(p->diags, p->token.span, DIAG_IR_SYNTAX, "attribute '%.*s' is given twice",
                   STR_ARG(parser_short(p->token.text)));
        return false;
    }
    draft->given[i] = true;
    parser_next(p);
    TRY(parser_expect(p, '=', "after the name of an attribute"));
    return attr_value(p, draft, draft->info->attrs[i], &draft->attrs[i]);
}

static bool attrs(IrParser *p, Draft *draft) {
    if (parser_at_attrs(p)) {
        parser_next(p);
        do TRY(attr(p, draft));
        while (parser_take(p, ','));
        TRY(parser_expect(p, '}', "after attributes"));
    }
    for (int i = 0; i < draft->info->attr_count; i++) {
        IrAttrName name = draft->info->attrs[i];
        if (draft->given[i] || ir_attr_optional(name)) continue;
        diag_error(p->diags, draft->first.span, DIAG_IR_SYNTAX, "op '%s' lacks attribute '%s'",
                   draft->info->text, ir_attr_text(name));
        return false;
    }
    return true;
}

// ---- the head of an op: all but its regions -----------------------------------------------------

static bool result_names(IrParser *p) {
    if (p->token.kind != IR_TOK_VALUE) return true;
    do {
        if (p->token.kind != IR_TOK_VALUE) return parser_fail(p, "a result");
        vec_push(p->scratch, &p->names, p->token);
        parser_next(p);
    } while (parser_take(p, ','));
    return parser_expect(p, '=', "after the results");
}

static bool opcode(IrParser *p, Draft *draft) {
    if (p->token.kind != IR_TOK_NAME) return parser_fail(p, "the name of an op");
    if (!ir_op_from_text(p->token.text, &draft->code)) {
        diag_error(p->diags, p->token.span, DIAG_IR_SYNTAX, "unknown op '%.*s'",
                   STR_ARG(parser_short(p->token.text)));
        Str known[IR_OPCODES];
        for (int i = 0; i < IR_OPCODES; i++) known[i] = str(ir_op_info((IrOpcode)i)->text);
        Str nearest = str_nearest(parser_short(p->token.text), known, IR_OPCODES);
        if (nearest.size) diag_help(p->diags, "did you mean '%.*s'?", STR_ARG(nearest));
        return false;
    }
    draft->info = ir_op_info(draft->code);
    parser_next(p);
    return true;
}

static bool result_types(IrParser *p, const Draft *draft) {
    if (parser_take(p, ':')) {
        do {
            const IrType *type;
            TRY(parser_type(p, &type));
            vec_push(p->scratch, &p->types, type);
        } while (parser_take(p, ','));
    }
    size_t names = p->names.count - draft->names, types = p->types.count - draft->types;
    if (names == types) return true;
    diag_error(p->diags, draft->first.span, DIAG_IR_SYNTAX,
               "expected as many types as results: %zu, found %zu", names, types);
    return false;
}

static bool constant_bits(IrParser *p, Dtype elem, const IrToken *token, uint64_t *bits) {
    switch (ir_literal_read(elem, token->text, bits)) {
    case IR_LITERAL_OK: return true;
    case IR_LITERAL_MALFORMED:
        diag_error(p->diags, token->span, DIAG_BAD_NUMBER, "expected a value of %s, found '%.*s'",
                   dtype_name(elem), STR_ARG(parser_short(token->text)));
        break;
    case IR_LITERAL_RANGE:
        diag_error(p->diags, token->span, DIAG_LITERAL_RANGE, "'%.*s' does not fit %s",
                   STR_ARG(parser_short(token->text)), dtype_name(elem));
        break;
    }
    return false;
}

// Reads the values of `const` and `lookup`, now that their type is known.
static bool constants_bits(IrParser *p, Draft *draft) {
    const IrType *type = p->types.count > draft->types ? p->types.data[draft->types] : NULL;
    Dtype elem = type && type->kind == IR_TILE ? type->elem : DTYPE_U64;
    uint32_t count = (uint32_t)draft->constants.count;
    IrAttr *attr = &draft->attrs[0];
    if (draft->code == IR_CONST)
        return constant_bits(p, elem, &draft->constants.data[0], &attr->u.bits);
    if (draft->code != IR_LOOKUP) return true;
    uint64_t *bits = arena_new(p->arena, uint64_t, count + 1);
    for (uint32_t i = 0; i < count; i++)
        TRY(constant_bits(p, elem, &draft->constants.data[i], &bits[i]));
    attr->u.consts.count = count;
    attr->u.consts.items = bits;
    return true;
}

static bool head(IrParser *p, Draft *draft) {
    TRY(result_names(p));
    TRY(opcode(p, draft));
    TRY(operands(p));
    TRY(attrs(p, draft));
    TRY(result_types(p, draft));
    return constants_bits(p, draft);
}

// ---- regions ------------------------------------------------------------------------------------

static bool region_arg(IrParser *p, IrBlock *block) {
    IrToken token = p->token;
    if (token.kind != IR_TOK_VALUE) return parser_fail(p, "an argument of a region");
    parser_next(p);
    TRY(parser_expect(p, ':', "after an argument of a region"));
    const IrType *type;
    TRY(parser_type(p, &type));
    return define(p, token, ir_block_add_arg(block, type));
}

static bool region_args(IrParser *p, IrBlock *block) {
    if (!parser_take(p, '(')) return true;
    do TRY(region_arg(p, block));
    while (parser_take(p, ','));
    return parser_expect(p, ')', "after the arguments of a region");
}

// Skips to the brace that opens a region's ops, within the line.
static bool skip_to_brace(IrParser *p) {
    while (!parser_at(p, '{')) {
        if (p->token.kind == IR_TOK_END || p->token.first || parser_at(p, '}')) return false;
        parser_next(p);
    }
    return true;
}

static bool region(IrParser *p) {
    IrBlock *block = ir_block_create(p->func);
    vec_push(p->scratch, &p->regions, block);
    if (p->depth == IR_MAX_DEPTH) {
        diag_error(p->diags, p->token.span, DIAG_TOO_DEEP, "regions are nested more than %d deep",
                   IR_MAX_DEPTH);
        parser_stop(p);
        return false;
    }
    if (!region_args(p, block)) TRY(skip_to_brace(p));
    TRY(parser_expect(p, '{', "before the ops of a region"));
    p->depth++;
    bool closed = parser_ops(p, block);
    p->depth--;
    parser_next(p);
    return closed;
}

static bool regions(IrParser *p) {
    while (!p->token.first && (parser_at(p, '{') || parser_at(p, '('))) TRY(region(p));
    return true;
}

// ---- mending ------------------------------------------------------------------------------------

// Recovers from a mistake in an op's head: skips the rest of it from its first token on, so that
// braces are seen in pairs, and reads its regions to report their mistakes.
static void mend(IrParser *p, const Draft *draft, IrLexer lexer) {
    if (p->stopped) return;
    p->lexer = lexer;
    p->token = draft->first;
    int braces = 0;
    do {
        if (parser_at(p, '{')) braces++;
        if (parser_at(p, '}')) braces--;
        parser_next(p);
        if (p->token.first || parser_at(p, '(') || parser_at_block(p)) break;
    } while (!parser_at(p, '}') || braces > 0);
    for (size_t i = draft->names; i < p->names.count; i++) {
        uint64_t number;
        if (!value_number(p->names.data[i].text, &number)) continue;
        if (!map_find(&p->numbered, number)) map_put(p->scratch, &p->numbered, number, 0);
    }
    regions(p);
}

// ---- ops ----------------------------------------------------------------------------------------

static void make(IrParser *p, const Draft *draft, IrBlock *block, uint32_t end) {
    IrBuilder b = ir_builder_at_end(block);
    b.span = (Span){draft->first.span.begin, end};
    IrOp *op = ir_op(&b, draft->code, (uint32_t)(p->operands.count - draft->operands),
                     p->operands.data + draft->operands, (uint32_t)(p->types.count - draft->types),
                     p->types.data + draft->types, (uint32_t)(p->regions.count - draft->regions),
                     p->regions.data + draft->regions);
    for (int i = 0; i < draft->info->attr_count; i++) {
        op->attrs[i] = draft->attrs[i];
        if (draft->info->attrs[i] != IR_ATTR_INSIDE || draft->given[i]) continue;
        uint32_t count = ir_attr(op, IR_ATTR_SELECT)->u.ints.count;
        op->attrs[i].u.ints.count = count;
        op->attrs[i].u.ints.items = arena_new(p->arena, int64_t, count);
    }
    ir_set_nests(op, draft->nests.u.ints.count, draft->nests.u.ints.items);
    for (uint32_t i = 0; i < op->result_count; i++) {
        define(p, p->names.data[draft->names + i], &op->results[i]);
    }
}

static void op(IrParser *p, IrBlock *block) {
    Draft draft = {
        .first = p->token,
        .operands = p->operands.count,
        .names = p->names.count,
        .types = p->types.count,
        .regions = p->regions.count,
    };
    IrLexer lexer = p->lexer;
    if (head(p, &draft)) {
        uint32_t end = p->last_end;
        if (regions(p)) make(p, &draft, block, end);
    } else {
        mend(p, &draft, lexer);
    }
    p->operands.count = draft.operands;
    p->names.count = draft.names;
    p->types.count = draft.types;
    p->regions.count = draft.regions;
}

bool parser_ops(IrParser *p, IrBlock *block) {
    while (!parser_at(p, '}')) {
        if (p->token.kind == IR_TOK_END || parser_at_function(p)) return parser_fail(p, "'}'");
        op(p, block);
        // The text after an op must be on a line of its own.
        if (p->token.first || parser_at(p, '}') || p->stopped) continue;
        parser_fail(p, "the end of the line");
        while (!p->token.first && !parser_at(p, '}')) parser_next(p);
    }
    return true;
}
