#include "ir/option.h"
#include "ir/text/literal.h"
#include "ir/text/parser.h"

// ---- tokens -------------------------------------------------------------------------------------

void parser_next(IrParser *p) {
    p->last_end = p->token.span.end;
    if (!p->stopped) p->token = ir_lexer_next(&p->lexer);
}

void parser_stop(IrParser *p) {
    p->stopped = true;
    p->token.kind = IR_TOK_END;
    p->token.first = true;
}

bool parser_at(const IrParser *p, char punct) {
    return p->token.kind == IR_TOK_PUNCT && p->token.punct == punct;
}

bool parser_at_name(const IrParser *p, const char *name) {
    return p->token.kind == IR_TOK_NAME && str_equal(p->token.text, str(name));
}

bool parser_take(IrParser *p, char punct) {
    if (!parser_at(p, punct)) return false;
    parser_next(p);
    return true;
}

Str parser_short(Str text) { return (Str){text.text, text.size < 60 ? text.size : 60}; }

bool parser_fail(IrParser *p, const char *what) {
    if (p->stopped) return false;
    if (p->token.kind == IR_TOK_END) {
        diag_error(p->diags, p->token.span, DIAG_IR_SYNTAX,
                   "expected %s, found the end of the text", what);
    } else {
        Str text = parser_short(p->token.text);
        diag_error(p->diags, p->token.span, DIAG_IR_SYNTAX, "expected %s, found '%s%.*s'", what,
                   p->token.kind == IR_TOK_VALUE ? "%" : "", STR_ARG(text));
    }
    return false;
}

bool parser_expect(IrParser *p, char punct, const char *where) {
    if (parser_take(p, punct)) return true;
    return parser_fail(p, arena_printf(p->scratch, "'%c' %s", punct, where));
}

bool parser_name(IrParser *p, const char *what, Symbol *name) {
    if (p->token.kind != IR_TOK_NAME) return parser_fail(p, what);
    *name = intern(p->module->names, p->token.text);
    parser_next(p);
    return true;
}

bool parser_int(IrParser *p, const char *what, int64_t min, int64_t max, int64_t *value) {
    if (p->token.kind != IR_TOK_NUMBER) return parser_fail(p, what);
    IrLiteral read = ir_literal_int(p->token.text, value);
    if (read == IR_LITERAL_MALFORMED) {
        diag_error(p->diags, p->token.span, DIAG_BAD_NUMBER, "expected %s, found '%.*s'", what,
                   STR_ARG(parser_short(p->token.text)));
        return false;
    }
    if (read == IR_LITERAL_RANGE || *value < min || *value > max) {
        diag_error(p->diags, p->token.span, DIAG_LITERAL_RANGE,
                   "expected %s from %lld to %lld, found %.*s", what, (long long)min,
                   (long long)max, STR_ARG(parser_short(p->token.text)));
        return false;
    }
    parser_next(p);
    return true;
}

bool parser_string(IrParser *p, const char *what, Str *text) {
    if (p->token.kind != IR_TOK_STRING) return parser_fail(p, what);
    TRY(ir_lexer_string(&p->lexer, p->token, p->arena, text));
    parser_next(p);
    return true;
}

bool parser_at_attrs(const IrParser *p) {
    if (!parser_at(p, '{')) return false;
    IrLexer ahead = p->lexer;
    ahead.diags = NULL;
    if (ir_lexer_next(&ahead).kind != IR_TOK_NAME) return false;
    IrToken equals = ir_lexer_next(&ahead);
    return equals.kind == IR_TOK_PUNCT && equals.punct == '=';
}

bool parser_at_block(const IrParser *p) {
    if (!parser_at(p, '{')) return false;
    IrLexer ahead = p->lexer;
    ahead.diags = NULL;
    IrToken next = ir_lexer_next(&ahead);
    return next.first || (next.kind == IR_TOK_PUNCT && next.punct == '}');
}

bool parser_at_function(const IrParser *p) {
    if (!p->token.first || (!parser_at_name(p, "kernel") && !parser_at_name(p, "func")))
        return false;
    IrLexer ahead = p->lexer;
    ahead.diags = NULL;
    IrToken at = ir_lexer_next(&ahead);
    return at.kind == IR_TOK_PUNCT && at.punct == '@';
}

// ---- types --------------------------------------------------------------------------------------

bool parser_elem(IrParser *p, Dtype *elem) {
    if (p->token.kind != IR_TOK_NAME) return parser_fail(p, "an element type");
    if (!dtype_from_name(p->token.text, elem)) {
        diag_error(p->diags, p->token.span, DIAG_IR_SYNTAX, "unknown type '%.*s'",
                   STR_ARG(parser_short(p->token.text)));
        return false;
    }
    parser_next(p);
    return true;
}

static bool shape(IrParser *p, uint32_t *rank, uint32_t *extents) {
    *rank = 0;
    if (!parser_take(p, '[')) return true;
    do {
        int64_t extent;
        if (*rank == IR_MAX_RANK) {
            diag_error(p->diags, p->token.span, DIAG_IR_SYNTAX, "a shape has at most %d dimensions",
                       IR_MAX_RANK);
            return false;
        }
        TRY(parser_int(p, "an extent", 0, UINT32_MAX, &extent));
        extents[(*rank)++] = (uint32_t)extent;
    } while (parser_take(p, ','));
    return parser_expect(p, ']', "after a shape");
}

// "(reg=(1) lane=…)" right after a shape; arguments of a region begin with a '%' instead.
static bool layout_of_type(IrParser *p, const IrType **type) {
    Str text = p->lexer.file->text;
    size_t begin = p->lexer.at - 1, next = p->lexer.at;
    while (next < text.size && text.text[next] == ' ') next++;
    bool is_layout = next < text.size &&
                     (text.text[next] == ')' || (text.text[next] >= 'a' && text.text[next] <= 'z'));
    if (!parser_at(p, '(') || !is_layout) return true;
    Layout layout;
    LayoutMistake mistake;
    size_t used;
    const IrType *t = *type;
    if (!layout_parse_bases((Str){text.text + begin, text.size - begin}, t->rank, t->shape, &layout,
                            &used, &mistake)) {
        diag_error(p->diags, p->token.span, DIAG_IR_SYNTAX, "%s in a layout", mistake.what);
        return false;
    }
    *type = ir_with_layout(p->module, t, &layout);
    p->lexer.at = begin + used;
    parser_next(p);
    return true;
}

bool parser_type(IrParser *p, const IrType **type) {
    Dtype elem;
    if (parser_at_name(p, "view")) {
        int64_t view_rank;
        parser_next(p);
        TRY(parser_elem(p, &elem));
        TRY(parser_int(p, "a view's rank", 1, IR_MAX_VIEW_RANK, &view_rank));
        *type = ir_view(p->module, elem, (uint32_t)view_rank);
        return true;
    }
    bool pointer = parser_take(p, '*');
    uint32_t rank, extents[IR_MAX_RANK];
    TRY(parser_elem(p, &elem));
    TRY(shape(p, &rank, extents));
    *type =
        pointer ? ir_ptr(p->module, elem, rank, extents) : ir_tile(p->module, elem, rank, extents);
    return !rank || layout_of_type(p, type);
}

// ---- parameters ---------------------------------------------------------------------------------

static bool dim(IrParser *p, IrDim *to) {
    if (p->token.kind == IR_TOK_NAME) return parser_name(p, "an extent", &to->extent);
    return parser_int(p, "an extent", 0, INT64_MAX, &to->value);
}

static bool view_type(IrParser *p, IrParam *param, const IrType **type) {
    if (parser_at_name(p, "strided")) {
        param->strided = true;
        parser_next(p);
    }
    if (!parser_at_name(p, "view")) return parser_fail(p, "'view'");
    parser_next(p);
    Dtype elem;
    uint32_t rank = 0;
    TRY(parser_elem(p, &elem));
    TRY(parser_expect(p, '[', "before a view's extents"));
    do {
        if (rank == IR_MAX_VIEW_RANK) {
            diag_error(p->diags, p->token.span, DIAG_IR_SYNTAX, "a view has at most %d dimensions",
                       IR_MAX_VIEW_RANK);
            return false;
        }
        TRY(dim(p, &param->dims[rank++]));
    } while (parser_take(p, ','));
    TRY(parser_expect(p, ']', "after a view's extents"));
    *type = ir_view(p->module, elem, rank);
    return true;
}

static bool param_fact(IrParser *p, IrFacts *facts, bool *min, bool *max) {
    Symbol key;
    Span span = p->token.span;
    int64_t divisor;
    TRY(parser_name(p, "the name of an attribute", &key));
    TRY(parser_expect(p, '=', "after the name of an attribute"));
    if (str_equal(str(key), STR("divisor"))) {
        TRY(parser_int(p, "a divisor", 1, INT64_MAX, &divisor));
        facts->divisor = (uint64_t)divisor;
        return true;
    }
    bool is_min = str_equal(str(key), STR("min"));
    if (is_min || str_equal(str(key), STR("max"))) {
        *(is_min ? min : max) = true;
        return parser_int(p, "a number", INT64_MIN, INT64_MAX, is_min ? &facts->min : &facts->max);
    }
    diag_error(p->diags, span, DIAG_IR_SYNTAX, "a parameter has no attribute '%s'", key);
    diag_help(p->diags, "it has divisor, min, max");
    return false;
}

static bool param_facts(IrParser *p, IrFacts *facts) {
    if (!parser_at_attrs(p)) return true;
    bool min = false, max = false;
    Span span = p->token.span;
    parser_next(p);
    do TRY(param_fact(p, facts, &min, &max));
    while (parser_take(p, ','));
    facts->has_range = min;
    if (min != max) {
        diag_error(p->diags, span, DIAG_IR_SYNTAX, "expected both min and max, found only %s",
                   min ? "min" : "max");
    }
    return parser_expect(p, '}', "after attributes");
}

static bool add_param(IrParser *p, IrParam *from, const IrType *type) {
    if (map_find(&p->named, map_key(from->name))) {
        diag_error(p->diags, from->span, DIAG_DUPLICATE_NAME, "parameter '%s' is named twice",
                   from->name);
        return true;
    }
    if (p->func->params.count == IR_MAX_PARAMS) {
        diag_error(p->diags, from->span, DIAG_TOO_LARGE, "a function has at most %d parameters",
                   IR_MAX_PARAMS);
        return false;
    }
    IrParam *param = ir_func_add_param(p->func, from->name, type);
    from->value = param->value;
    *param = *from;
    map_put(p->scratch, &p->named, map_key(from->name), map_key(from->value));
    for (uint32_t i = 0; p->func->is_kernel && i < IR_MAX_VIEW_RANK; i++) {
        if (from->dims[i].extent) ir_func_add_extent(p->func, from->dims[i].extent);
    }
    return true;
}

static bool param(IrParser *p) {
    IrParam made = {.span = p->token.span};
    const IrType *type;
    Str name = p->token.text;
    if (p->token.kind != IR_TOK_VALUE || (name.text[0] >= '0' && name.text[0] <= '9')) {
        return parser_fail(p, "a parameter '%name'");
    }
    made.name = intern(p->module->names, name);
    parser_next(p);
    TRY(parser_expect(p, ':', "after a parameter's name"));
    if (parser_at_name(p, "view") || parser_at_name(p, "strided")) {
        TRY(view_type(p, &made, &type));
    } else {
        TRY(parser_type(p, &type));
    }
    TRY(param_facts(p, &made.facts));
    return add_param(p, &made, type);
}

// Recovers from a mistake in a parameter: skips to the next one, or to the end of the list or line.
static void skip_param(IrParser *p) {
    while (p->token.kind != IR_TOK_VALUE && !parser_at(p, ')')) {
        if (p->token.kind == IR_TOK_END || p->token.first) return;
        parser_next(p);
    }
}

static bool params(IrParser *p) {
    TRY(parser_expect(p, '(', "before the parameters"));
    if (parser_take(p, ')')) return true;
    for (;;) {
        bool more = true;
        if (param(p)) {
            more = parser_take(p, ',');
        } else {
            if (p->token.kind == IR_TOK_VALUE) parser_next(p);
            skip_param(p);
            more = p->token.kind == IR_TOK_VALUE;
        }
        if (!more) return parser_expect(p, ')', "after the parameters");
    }
}

// ---- a function's attributes --------------------------------------------------------------------

static bool level_attr(IrParser *p) {
    for (IrLevel level = IR_LEVEL_TILE; level <= IR_LEVEL_THREAD; level++) {
        if (!parser_at_name(p, ir_level_text(level))) continue;
        p->func->level = level;
        parser_next(p);
        return true;
    }
    return parser_fail(p, "a level: tile, gpu, cpu_tile, cpu_nest, cpu or thread");
}

static bool math_item(IrParser *p) {
    if (parser_at_name(p, "contract")) {
        p->func->math |= IR_MATH_CONTRACT;
    } else if (parser_at_name(p, "approx")) {
        p->func->math |= IR_MATH_APPROX;
    } else if (parser_at_name(p, "wrap")) {
        p->func->math |= IR_MATH_WRAP;
    } else {
        return parser_fail(p, "contract, approx or wrap");
    }
    parser_next(p);
    return true;
}

static bool bind_item(IrParser *p) {
    IrBinding made = {0};
    TRY(parser_name(p, "the name of a binding", &made.name));
    TRY(parser_expect(p, '=', "after the name of a binding"));
    made.is_type = p->token.kind == IR_TOK_NAME;
    if (made.is_type) {
        TRY(parser_elem(p, &made.type));
    } else {
        TRY(parser_int(p, "a type or a number", INT64_MIN, INT64_MAX, &made.value));
    }
    vec_push(p->arena, &p->func->bindings, made);
    return true;
}

static IrExtent *extent_named(IrFunc *f, Symbol name) {
    for (size_t i = 0; i < f->extents.count; i++) {
        if (f->extents.data[i].name == name) return &f->extents.data[i];
    }
    return NULL;
}

static bool fact_item(IrParser *p) {
    Span span = p->token.span;
    Symbol name;
    TRY(parser_name(p, "an extent", &name));
    IrExtent *extent = extent_named(p->func, name);
    if (!extent) {
        diag_error(p->diags, span, DIAG_UNKNOWN_NAME, "unknown extent '%s'", name);
        return false;
    }
    if (parser_at_name(p, "divisor")) {
        int64_t divisor;
        parser_next(p);
        TRY(parser_int(p, "a divisor", 1, INT64_MAX, &divisor));
        extent->facts.divisor = (uint64_t)divisor;
    }
    if (parser_at_name(p, "range")) {
        parser_next(p);
        TRY(parser_int(p, "a number", INT64_MIN, INT64_MAX, &extent->facts.min));
        TRY(parser_int(p, "a number", INT64_MIN, INT64_MAX, &extent->facts.max));
        extent->facts.has_range = true;
    }
    return true;
}

static bool extent_item(IrParser *p) {
    Symbol name;
    TRY(parser_name(p, "an extent", &name));
    if (p->func->extents.count < (size_t)IR_MAX_PARAMS * IR_MAX_VIEW_RANK) {
        ir_func_add_extent(p->func, name);
    }
    return true;
}

static bool list(IrParser *p, bool (*item)(IrParser *)) {
    TRY(parser_expect(p, '[', "before a list"));
    if (parser_take(p, ']')) return true;
    do TRY(item(p));
    while (parser_take(p, ','));
    return parser_expect(p, ']', "after a list");
}

static bool map_numbers(IrParser *p, int64_t most, uint32_t *numbers, uint32_t *count) {
    int64_t value;
    TRY(parser_expect(p, '[', "before numbers"));
    *count = 0;
    do {
        if (*count == IR_MAX_VIEW_RANK)
            return parser_fail(p, "']', as no view has more dimensions");
        TRY(parser_int(p, "a number", 0, most, &value));
        numbers[(*count)++] = (uint32_t)value;
    } while (parser_take(p, ','));
    return parser_expect(p, ']', "after numbers");
}

static bool map_number(IrParser *p, const char *name, int64_t most, int64_t *value) {
    if (!parser_at_name(p, name)) return true;
    parser_next(p);
    return parser_int(p, "a number", 0, most, value);
}

static bool map_param(IrParser *p, IrMap *map) {
    Span span = p->token.span;
    Symbol name;
    TRY(parser_name(p, "the view of a map", &name));
    for (size_t i = 0; i < p->func->params.count; i++)
        if (p->func->params.data[i].name == name) {
            map->param = (uint32_t)i;
            return true;
        }
    diag_error(p->diags, span, DIAG_UNKNOWN_NAME, "unknown parameter '%s'", name);
    return false;
}

// "a [1, 0] box [64, 128] swizzle 128 promotion 256"
static bool map_item(IrParser *p) {
    IrMap map = {0};
    uint32_t axes[IR_MAX_VIEW_RANK], rank, boxes;
    int64_t swizzle = 0, promotion = 0;
    TRY(map_param(p, &map));
    TRY(map_numbers(p, UINT8_MAX, axes, &rank));
    if (!parser_at_name(p, "box")) return parser_fail(p, "'box'");
    parser_next(p);
    TRY(map_numbers(p, UINT32_MAX, map.box, &boxes));
    if (boxes != rank) return parser_fail(p, "as many numbers of a box as dimensions");
    TRY(map_number(p, "swizzle", UINT8_MAX, &swizzle));
    TRY(map_number(p, "promotion", UINT16_MAX, &promotion));
    for (uint32_t i = 0; i < rank; i++) map.axes[i] = (uint8_t)axes[i];
    map.rank = (uint8_t)rank;
    map.swizzle = (uint8_t)swizzle;
    map.promotion = (uint16_t)promotion;
    vec_push(p->arena, &p->func->maps, map);
    return true;
}

static bool whole(IrParser *p, int64_t least, int64_t most, int *to) {
    int64_t value;
    TRY(parser_int(p, "a number", least, most, &value));
    *to = (int)value;
    return true;
}

static bool lanes_attr(IrParser *p) {
    Span span = p->token.span;
    TRY(whole(p, 1, 1 << 16, &p->func->lanes));
    if (p->func->lanes == 32 || p->func->lanes == 64) return true;
    diag_error(p->diags, span, DIAG_IR_SYNTAX, "expected 32 or 64 lanes, found %d", p->func->lanes);
    return false;
}

static bool func_attr(IrParser *p) {
    Span span = p->token.span;
    Symbol name;
    TRY(parser_name(p, "the name of an attribute", &name));
    TRY(parser_expect(p, '=', "after the name of an attribute"));
    Str key = str(name);
    if (str_equal(key, STR("level"))) return level_attr(p);
    if (str_equal(key, STR("math"))) return list(p, math_item);
    const IrOption *option = ir_option_find(key);
    if (option) return whole(p, option->min, option->max, ir_option_of(p->func, option));
    if (str_equal(key, STR("lanes"))) return lanes_attr(p);
    if (str_equal(key, STR("group"))) return whole(p, 1, 1 << 16, &p->func->group);
    if (str_equal(key, STR("bind"))) return list(p, bind_item);
    if (str_equal(key, STR("facts"))) return list(p, fact_item);
    if (str_equal(key, STR("maps"))) return list(p, map_item);
    if (str_equal(key, STR("extents"))) {
        p->func->extents.count = 0;
        return list(p, extent_item);
    }
    diag_error(p->diags, span, DIAG_IR_SYNTAX, "a function has no attribute '%s'", name);
    Str options = ir_option_list(p->module->arena, ", ", ", ");
    diag_help(p->diags, "it has level, math, %.*s, lanes, group, bind, facts, extents, maps",
              STR_ARG(options));
    return false;
}

static bool func_attrs(IrParser *p) {
    if (!parser_at_attrs(p)) return true;
    parser_next(p);
    do TRY(func_attr(p));
    while (parser_take(p, ','));
    return parser_expect(p, '}', "after attributes");
}

// ---- functions ----------------------------------------------------------------------------------

static bool section(IrParser *p) {
    Span span = p->token.span;
    IrSectionKind kind = IR_BODY;
    Str text = {0};
    if (parser_at_name(p, "requires")) {
        kind = IR_REQUIRES;
    } else if (parser_at_name(p, "grid")) {
        kind = IR_GRID;
    } else if (!parser_at_name(p, "body")) {
        return parser_fail(p, "'requires', 'grid' or 'body'");
    }
    parser_next(p);
    if (kind == IR_REQUIRES) TRY(parser_string(p, "the text of a condition", &text));
    TRY(parser_expect(p, '{', "before a section"));
    TRY(parser_ops(p, ir_func_add_section(p->func, kind, text, span)));
    parser_next(p);
    return true;
}

static bool func_results(IrParser *p) {
    if (p->func->is_kernel || p->token.kind != IR_TOK_ARROW) return true;
    parser_next(p);
    do {
        const IrType *type;
        TRY(parser_type(p, &type));
        vec_push(p->arena, &p->func->results, type);
    } while (parser_take(p, ','));
    return true;
}

static bool func_name(IrParser *p, bool is_kernel, Map *known) {
    parser_next(p);
    TRY(parser_expect(p, '@', "before a function's name"));
    Span span = p->token.span;
    Symbol name;
    TRY(parser_name(p, "a function's name", &name));
    if (map_find(known, map_key(name))) {
        diag_error(p->diags, span, DIAG_DUPLICATE_NAME, "function '%s' is defined twice", name);
    }
    map_put(p->scratch, known, map_key(name), 1);
    p->func = ir_func_create(p->module, name, is_kernel);
    p->func->span = span;
    p->numbered = (Map){0};
    p->named = (Map){0};
    return true;
}

static bool func_head(IrParser *p) {
    TRY(params(p));
    TRY(func_results(p));
    return func_attrs(p);
}

static bool function(IrParser *p, bool is_kernel, Map *known) {
    TRY(func_name(p, is_kernel, known));
    if (!func_head(p)) {  // the body is still read, to report its own mistakes
        while (!parser_at_block(p)) {
            if (p->token.first) return false;
            parser_next(p);
        }
    }
    TRY(parser_expect(p, '{', "before a function's body"));
    if (is_kernel) {
        while (!parser_at(p, '}')) TRY(section(p));
    } else {
        TRY(parser_ops(p, ir_func_add_section(p->func, IR_BODY, (Str){0}, p->func->span)));
    }
    parser_next(p);
    return true;
}

static void skip_to_function(IrParser *p) {
    while (p->token.kind != IR_TOK_END && !parser_at_function(p)) parser_next(p);
}

static void module(IrParser *p) {
    Map known = {0};
    while (p->token.kind != IR_TOK_END) {
        bool is_kernel = parser_at_name(p, "kernel");
        bool done = is_kernel || parser_at_name(p, "func") ? function(p, is_kernel, &known)
                                                           : parser_fail(p, "'kernel' or 'func'");
        p->depth = 0;
        if (done) continue;
        skip_to_function(p);
    }
}

// The stacks always have memory, so that a pointer into one is valid even when it is empty.
static void create_stacks(IrParser *p) {
    vec_push(p->scratch, &p->operands, NULL);
    vec_push(p->scratch, &p->names, (IrToken){0});
    vec_push(p->scratch, &p->types, NULL);
    vec_push(p->scratch, &p->regions, NULL);
    p->operands.count = p->names.count = p->types.count = p->regions.count = 0;
}

IrModule *ir_parse(Arena *arena, Sources *sources, Interner *names, const SourceFile *file,
                   Diags *diags) {
    size_t errors = diags_errors(diags);
    IrParser p = {
        .arena = arena,
        .scratch = arena_create(),
        .module = ir_module_create(arena, sources, names),
        .diags = diags,
        .lexer = ir_lexer(file, diags),
    };
    create_stacks(&p);
    parser_next(&p);
    module(&p);
    arena_destroy(p.scratch);
    return diags_errors(diags) == errors ? p.module : NULL;
}
