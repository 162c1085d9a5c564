#include "sim/ptx/parse.h"

#include <string.h>

#include "base/status.h"
#include "target/gpu.h"

enum { DEPTH_MAX = 8, VARIABLE_BYTES_MAX = 1 << 28 };

typedef struct PtxParser {
    PtxLexer lexer;
    PtxToken now;
    Arena *arena;
    Diags *diags;
    PtxModule *module;
    Map files;  // number to an index into file_names
    VEC(Str) file_names;
    SimLine line;      // line of the statements that follow
    uint32_t line_at;  // position up to which text lines were counted
    uint32_t text_line;
} PtxParser;

bool ptx_type_named(Str name, SimType *type) {
    static const char *const names[] = {
#define SIM_TYPE(name, text, bits) text,
#include "sim/machine/type.def"
#undef SIM_TYPE
    };
    for (int t = SIM_PRED; t < SIM_TYPES; t++)
        if (str_equal(name, str(names[t]))) return *type = (SimType)t, true;
    return false;
}

static void next(PtxParser *p) { p->now = ptx_lex(&p->lexer); }

static bool fail(PtxParser *p, const char *wanted) {
    if (p->lexer.failed) return false;
    if (p->now.kind == PTX_END)
        diag_error(p->diags, p->now.span, DIAG_SYNTAX, "expected %s, found the end of the text",
                   wanted);
    else
        diag_error(p->diags, p->now.span, DIAG_SYNTAX, "expected %s, found '%.*s'", wanted,
                   STR_ARG(p->now.text));
    return false;
}

static bool is_punct(const PtxParser *p, char c) {
    return p->now.kind == PTX_PUNCT && p->now.text.text[0] == c;
}
static bool is_word(const PtxParser *p, const char *text) {
    return p->now.kind == PTX_WORD && str_equal(p->now.text, str(text));
}
static bool accept(PtxParser *p, char c) {
    if (!is_punct(p, c)) return false;
    next(p);
    return true;
}
static bool expect(PtxParser *p, char c) {
    if (accept(p, c)) return true;
    char wanted[4] = {'\'', c, '\'', 0};
    return fail(p, wanted);
}
static bool take_word(PtxParser *p, Str *word) {
    if (p->now.kind != PTX_WORD) return fail(p, "a name");
    *word = p->now.text;
    next(p);
    return true;
}
static bool take_integer(PtxParser *p, int64_t *value) {
    bool minus = accept(p, '-');
    if (p->now.kind != PTX_INTEGER) return fail(p, "an integer");
    *value = (int64_t)(minus ? 0 - p->now.bits : p->now.bits);
    next(p);
    return true;
}

// ---- Operands ----

static bool parse_operand(PtxParser *p, PtxOperand *o, int depth);

static bool parse_items(PtxParser *p, PtxOperand *o, char end, int depth) {
    VEC(PtxOperand) items = {0};
    if (depth > DEPTH_MAX) return fail(p, "fewer brackets");
    while (!is_punct(p, end)) {
        PtxOperand item;
        TRY(parse_operand(p, &item, depth + 1));
        vec_push(p->arena, &items, item);
        if (!accept(p, ',')) break;
    }
    TRY(expect(p, end));
    o->items = items.data, o->count = (uint32_t)items.count;
    return true;
}

static bool parse_number(PtxParser *p, PtxOperand *o, bool minus) {
    o->kind = PTX_NUMBER;
    o->number = p->now.kind;
    o->bits = p->now.bits;
    if (minus) {
        if (o->number == PTX_F32)
            o->bits ^= 0x80000000;
        else if (o->number == PTX_F64)
            o->bits ^= UINT64_C(1) << 63;
        else
            o->bits = 0 - o->bits;
    }
    next(p);
    return true;
}

static bool parse_plain(PtxParser *p, PtxOperand *o, int depth) {
    if (accept(p, '{')) return o->kind = PTX_VECTOR, parse_items(p, o, '}', depth);
    if (accept(p, '(')) return o->kind = PTX_LIST, parse_items(p, o, ')', depth);
    if (accept(p, '[')) return o->kind = PTX_ADDRESS, parse_items(p, o, ']', depth);
    bool minus = accept(p, '-');
    if (p->now.kind == PTX_INTEGER || p->now.kind == PTX_F32 || p->now.kind == PTX_F64)
        return parse_number(p, o, minus);
    o->kind = PTX_NAME;
    TRY(take_word(p, &o->name));
    while (is_punct(p, '+') || is_punct(p, '-')) {
        bool down = is_punct(p, '-');
        next(p);
        int64_t value;
        TRY(take_integer(p, &value));
        uint64_t step = (uint64_t)value;
        o->offset = (int64_t)((uint64_t)o->offset + (down ? 0 - step : step));
    }
    return true;
}

static bool parse_operand(PtxParser *p, PtxOperand *o, int depth) {
    *o = (PtxOperand){.span = p->now.span};
    o->negated = accept(p, '!');
    TRY(parse_plain(p, o, depth));
    o->span.end = p->lexer.file->base + (uint32_t)p->lexer.at;
    if (!is_punct(p, '|')) return true;
    next(p);
    PtxOperand *items = arena_new(p->arena, PtxOperand, 2);
    items[0] = *o;
    TRY(parse_operand(p, &items[1], depth + 1));
    *o = (PtxOperand){.kind = PTX_PAIR, .items = items, .count = 2, .span = items[0].span};
    return true;
}

// ---- Variables ----

static bool space_named(Str s, PtxSpace *space) {
    static const struct {
        const char *name;
        PtxSpace space;
    } rows[] = {{".reg", PTX_SPACE_REG},       {".param", PTX_SPACE_PARAM},
                {".local", PTX_SPACE_LOCAL},   {".shared", PTX_SPACE_SHARED},
                {".global", PTX_SPACE_GLOBAL}, {".const", PTX_SPACE_CONST}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_equal(s, str(rows[i].name))) return *space = rows[i].space, true;
    return false;
}

static bool put_value(PtxParser *p, PtxVariable *v, uint64_t *at) {
    unsigned size = sim_type_bits(v->type) / 8;
    if (*at + size > v->bytes) return fail(p, "no more values than the variable holds");
    bool generic = is_word(p, "generic");
    if (generic) {
        next(p);
        TRY(expect(p, '('));
    }
    PtxOperand o;
    TRY(parse_operand(p, &o, 0));
    if (generic) TRY(expect(p, ')'));
    if (o.kind == PTX_NAME) {
        struct PtxAddress a = {*at, o.offset, o.name, o.span};
        vec_push(p->arena, &v->addresses, a);
    } else {
        if (o.number == PTX_F64 && size == 4 && o.kind == PTX_NUMBER) {
            double wide;
            memcpy(&wide, &o.bits, sizeof wide);
            float narrow = (float)wide;
            memcpy(&o.bits, &narrow, sizeof narrow);
        }
        memcpy(v->contents + *at, &o.bits, size < 8 ? size : 8);
    }
    *at += size;
    return true;
}

static bool parse_values(PtxParser *p, PtxVariable *v, uint64_t *at, int depth) {
    if (depth > DEPTH_MAX) return fail(p, "fewer braces");
    if (!accept(p, '{')) return put_value(p, v, at);
    while (!is_punct(p, '}')) {
        TRY(parse_values(p, v, at, depth + 1));
        if (!accept(p, ',')) break;
    }
    return expect(p, '}');
}

static bool parse_extent(PtxParser *p, PtxVariable *v) {
    while (accept(p, '[')) {
        int64_t n = 0;
        if (!is_punct(p, ']')) TRY(take_integer(p, &n));
        TRY(expect(p, ']'));
        if (n < 0 || (n && v->bytes > (uint64_t)VARIABLE_BYTES_MAX / (uint64_t)n))
            return fail(p, "a smaller variable");
        v->bytes *= (uint64_t)n;
    }
    return true;
}

static bool parse_attributes(PtxParser *p, PtxVariable *v, uint64_t *vector) {
    SimType type;
    *vector = 1;
    for (; p->now.kind == PTX_WORD && p->now.text.text[0] == '.';) {
        Str word = p->now.text, name = {word.text + 1, word.size - 1};
        next(p);
        if (str_equal(word, STR(".align"))) {
            int64_t align;
            TRY(take_integer(p, &align));
            if (align < 1 || align > 4096 || (align & (align - 1)))
                return fail(p, "a power of two");
            v->align = (uint32_t)align;
        } else if (str_equal(word, STR(".v2")) || str_equal(word, STR(".v4"))) {
            *vector = (uint64_t)(word.text[2] - '0');
        } else if (str_equal(word, STR(".ptr"))) {
            v->pointer = true;
        } else if (ptx_type_named(name, &type)) {
            v->type = type;
        } else if (!v->pointer && !str_equal(word, STR(".attribute"))) {
            return fail(p, "a type");
        }
    }
    return true;
}

// After the space come attributes, then one name, or several with commas.
static PtxVariable *parse_variable(PtxParser *p, PtxSpace space, const PtxVariable *shared) {
    PtxVariable *v = arena_new(p->arena, PtxVariable, 1);
    uint64_t vector = 1;
    if (shared) {
        *v = *shared;
    } else {
        v->space = space;
        if (!parse_attributes(p, v, &vector)) return NULL;
    }
    v->span = p->now.span;
    if (!take_word(p, &v->name)) return NULL;
    unsigned size = sim_type_bits(v->type) / 8;
    v->bytes = size * vector;
    if (!v->align) v->align = (uint32_t)(v->bytes && v->bytes <= 16 ? v->bytes : 1);
    if (accept(p, '<')) {
        int64_t n;
        if (!take_integer(p, &n) || !expect(p, '>')) return NULL;
        if (n < 0 || n > 1 << 24) return fail(p, "a smaller range"), NULL;
        v->range = (uint32_t)n;
        if (!n) v->range = 1;
    }
    if (!parse_extent(p, v)) return NULL;
    if (accept(p, '=')) {
        v->contents = arena_alloc(p->arena, v->bytes + 16);
        uint64_t at = 0;
        if (!parse_values(p, v, &at, 0)) return NULL;
    }
    return v;
}

// ---- Lines ----

static uint32_t text_line(PtxParser *p, Span at) {
    const SourceFile *f = p->lexer.file;
    uint32_t to = at.begin - f->base;
    for (; p->line_at < to; p->line_at++) p->text_line += f->text.text[p->line_at] == '\n';
    return p->text_line;
}

static bool parse_file(PtxParser *p) {
    int64_t number, ignored;
    TRY(take_integer(p, &number));
    if (p->now.kind != PTX_STRING) return fail(p, "a file's name");
    map_put(p->arena, &p->files, (uint64_t)number, p->file_names.count);
    vec_push(p->arena, &p->file_names, p->now.text);
    next(p);
    while (accept(p, ',')) TRY(take_integer(p, &ignored));
    return true;
}

static bool parse_loc(PtxParser *p) {
    int64_t file, line, column;
    TRY(take_integer(p, &file));
    TRY(take_integer(p, &line));
    TRY(take_integer(p, &column));
    // ", function_name label, inlined_at file line column"
    while (accept(p, ',')) {
        Str word;
        TRY(take_word(p, &word));
        if (p->now.kind == PTX_WORD) next(p);
        while (p->now.kind == PTX_INTEGER || is_punct(p, '+')) next(p);
    }
    const uint64_t *name = map_find(&p->files, (uint64_t)file);
    // Files may be declared after their use, so the file's number is stored until the end.
    p->line = (SimLine){.file = name ? p->file_names.data[*name] : (Str){NULL, (size_t)file + 1},
                        .line = (uint32_t)line,
                        .column = (uint32_t)column};
    return true;
}

static void resolve_line(PtxParser *p, SimLine *line) {
    if (line->file.text || !line->file.size) return;
    const uint64_t *name = map_find(&p->files, line->file.size - 1);
    line->file = name ? p->file_names.data[*name] : (Str){0};
}

// ---- Statements ----

static bool skip_braces(PtxParser *p) {
    TRY(expect(p, '{'));
    for (int depth = 1; depth;) {
        if (p->now.kind == PTX_END) return fail(p, "'}'");
        depth += is_punct(p, '{');
        depth -= is_punct(p, '}');
        next(p);
    }
    return true;
}
static bool skip_statement(PtxParser *p) {
    while (!is_punct(p, ';')) {
        if (p->now.kind == PTX_END) return fail(p, "';'");
        next(p);
    }
    return expect(p, ';');
}

static bool parse_operands(PtxParser *p, PtxStatement *s) {
    VEC(PtxOperand) operands = {0};
    while (!is_punct(p, ';')) {
        PtxOperand o;
        TRY(parse_operand(p, &o, 0));
        vec_push(p->arena, &operands, o);
        // wgmma and calls have no other form; a word may follow a list without a comma.
        if (!accept(p, ',')) break;
    }
    s->operands = operands.data, s->operand_count = (uint32_t)operands.count;
    return expect(p, ';');
}

static bool parse_instr(PtxParser *p, PtxFunction *f) {
    PtxStatement s = {.kind = PTX_INSTR, .span = p->now.span, .line = p->line};
    s.line.text_line = text_line(p, s.span);
    if (accept(p, '@')) {
        s.guarded = true;
        s.guard_negated = accept(p, '!');
        TRY(take_word(p, &s.guard));
    }
    TRY(take_word(p, &s.name));
    if (!s.guarded && accept(p, ':')) {
        s.kind = PTX_LABEL;
        vec_push(p->arena, &f->statements, s);
        if (is_word(p, ".branchtargets")) {
            next(p);
            s.kind = PTX_TARGETS;
            TRY(parse_operands(p, &s));
            vec_push(p->arena, &f->statements, s);
        }
        return true;
    }
    TRY(parse_operands(p, &s));
    s.span.end = p->lexer.file->base + (uint32_t)p->lexer.at;
    vec_push(p->arena, &f->statements, s);
    return true;
}

static bool parse_declaration(PtxParser *p, PtxFunction *f, PtxSpace space) {
    PtxVariable *v = NULL;
    do {
        PtxVariable *one = parse_variable(p, space, v);
        if (!one) return false;
        v = one;
        PtxStatement s = {.kind = PTX_DECLARE, .span = v->span, .variable = v, .name = v->name};
        vec_push(p->arena, &f->statements, s);
    } while (accept(p, ','));
    return expect(p, ';');
}

static bool parse_directive(PtxParser *p, PtxFunction *f) {
    Str word = p->now.text;
    PtxSpace space;
    next(p);
    if (str_equal(word, STR(".loc"))) return parse_loc(p);
    if (str_equal(word, STR(".file"))) return parse_file(p);
    if (str_equal(word, STR(".pragma"))) return skip_statement(p);
    if (space_named(word, &space)) return parse_declaration(p, f, space);
    diag_error(p->diags, p->now.span, DIAG_UNSUPPORTED, "unknown directive '%.*s'", STR_ARG(word));
    return false;
}

static bool parse_body(PtxParser *p, PtxFunction *f) {
    TRY(expect(p, '{'));
    for (int depth = 1; depth;) {
        PtxStatement brace = {.span = p->now.span};
        if (accept(p, '{')) {
            brace.kind = PTX_OPEN;
            depth++;
            vec_push(p->arena, &f->statements, brace);
        } else if (accept(p, '}')) {
            brace.kind = PTX_CLOSE;
            if (--depth) vec_push(p->arena, &f->statements, brace);
        } else if (p->now.kind == PTX_WORD && p->now.text.text[0] == '.') {
            TRY(parse_directive(p, f));
        } else if (!accept(p, ';')) {
            TRY(parse_instr(p, f));
        }
    }
    return true;
}

// ---- Functions ----

static bool parse_params(PtxParser *p, PtxFunction *f, bool results) {
    if (!accept(p, '(')) return true;
    while (!is_punct(p, ')')) {
        Str word;
        PtxSpace space;
        TRY(take_word(p, &word));
        if (!space_named(word, &space)) return fail(p, "'.param'");
        PtxVariable *v = parse_variable(p, space, NULL);
        if (!v) return false;
        if (results)
            vec_push(p->arena, &f->results, v);
        else
            vec_push(p->arena, &f->params, v);
        if (!accept(p, ',')) break;
    }
    return expect(p, ')');
}

static bool parse_triple(PtxParser *p, uint32_t *to) {
    for (int d = 0; d < 3; d++) {
        int64_t n;
        TRY(take_integer(p, &n));
        if (n < 1 || n > 1024) return fail(p, "1 to 1024 threads");
        to[d] = (uint32_t)n;
        if (!accept(p, ',')) break;
    }
    return true;
}

static bool parse_bounds(PtxParser *p, PtxFunction *f) {
    while (p->now.kind == PTX_WORD) {
        Str word = p->now.text;
        int64_t n;
        next(p);
        if (str_equal(word, STR(".maxntid"))) {
            TRY(parse_triple(p, f->maxntid));
        } else if (str_equal(word, STR(".reqntid"))) {
            TRY(parse_triple(p, f->reqntid));
        } else if (str_equal(word, STR(".reqnctapercluster"))) {
            TRY(parse_triple(p, f->cluster));
        } else if (str_equal(word, STR(".maxnreg"))) {
            TRY(take_integer(p, &n));
            f->maxnreg = (uint32_t)n;
        } else if (str_equal(word, STR(".noreturn")) || str_equal(word, STR(".explicitcluster"))) {
            continue;
        } else if (str_equal(word, STR(".pragma"))) {
            TRY(skip_statement(p));
        } else if (str_equal(word, STR(".minnctapersm")) ||
                   str_equal(word, STR(".maxclusterrank")) ||
                   str_equal(word, STR(".maxnctapersm"))) {
            TRY(take_integer(p, &n));
        } else {
            diag_error(p->diags, p->now.span, DIAG_UNSUPPORTED,
                       "directive '%.*s' of a function is not supported", STR_ARG(word));
            return false;
        }
    }
    return true;
}

static bool parse_function(PtxParser *p, bool entry, bool external) {
    PtxFunction *f = arena_new(p->arena, PtxFunction, 1);
    f->entry = entry;
    p->line = (SimLine){0};
    if (!entry) TRY(parse_params(p, f, true));
    f->span = p->now.span;
    TRY(take_word(p, &f->name));
    TRY(parse_params(p, f, false));
    TRY(parse_bounds(p, f));
    f->external = external;
    if (accept(p, ';'))
        f->external = true;
    else
        TRY(parse_body(p, f));
    vec_push(p->arena, &p->module->functions, f);
    return true;
}

static bool parse_target(PtxParser *p) {
    Str word;
    do {
        TRY(take_word(p, &word));
        if (!str_starts(word, STR("sm_"))) continue;  // debug, texmode_…
        Str digits = {word.text + 3, word.size - 3};
        if (str_ends(digits, STR("a"))) p->module->arch_a = true;
        if (str_ends(digits, STR("a")) || str_ends(digits, STR("f"))) digits.size--;
        uint64_t arch;
        if (!str_to_u64(digits, &arch, NULL)) return fail(p, "a target such as sm_80");
        p->module->arch = (unsigned)arch;
    } while (accept(p, ','));
    return true;
}

// Compilers write newer versions than ours; instructions added there are refused where they are
// used.
enum { VERSION_MAX = 904 };

static bool parse_version(PtxParser *p) {
    Str rest, major = str_cut(p->now.text, '.', &rest);
    uint64_t a, b;
    bool overflow = false;
    if (p->now.kind != PTX_F64 || !str_to_u64(major, &a, &overflow) ||
        !str_to_u64(rest, &b, &overflow) || overflow || rest.size > 1)
        return fail(p, "a version such as 8.0");
    if (a > VERSION_MAX / 100 || a * 100 + b > VERSION_MAX) {
        diag_error(p->diags, p->now.span, DIAG_UNSUPPORTED,
                   "PTX %.*s is newer than %d.%d, the newest known here", STR_ARG(p->now.text),
                   VERSION_MAX / 100, VERSION_MAX % 100);
        diag_help(p->diags, "let the compiler that wrote it write an older version");
        return false;
    }
    p->module->version = (unsigned)(a * 10 + b);
    next(p);
    return true;
}

static bool parse_module_variable(PtxParser *p, PtxSpace space, bool external) {
    PtxVariable *v = NULL;
    do {
        PtxVariable *one = parse_variable(p, space, v);
        if (!one) return false;
        v = one;
        v->external = external;
        vec_push(p->arena, &p->module->variables, v);
    } while (accept(p, ','));
    return expect(p, ';');
}

static bool parse_top(PtxParser *p) {
    bool external = false;
    int64_t ignored;
    for (;;) {
        Str word;
        PtxSpace space;
        TRY(take_word(p, &word));
        if (str_equal(word, STR(".version"))) return parse_version(p);
        if (str_equal(word, STR(".target"))) return parse_target(p);
        if (str_equal(word, STR(".address_size"))) return take_integer(p, &ignored);
        if (str_equal(word, STR(".file"))) return parse_file(p);
        if (str_equal(word, STR(".section"))) return next(p), skip_braces(p);
        if (str_equal(word, STR(".pragma"))) return skip_statement(p);
        if (str_equal(word, STR(".entry"))) return parse_function(p, true, false);
        if (str_equal(word, STR(".func"))) return parse_function(p, false, external);
        if (space_named(word, &space)) return parse_module_variable(p, space, external);
        if (str_equal(word, STR(".extern"))) {
            external = true;
        } else if (!str_equal(word, STR(".visible")) && !str_equal(word, STR(".weak")) &&
                   !str_equal(word, STR(".common"))) {
            diag_error(p->diags, p->now.span, DIAG_SYNTAX, "'%.*s' is unknown here", STR_ARG(word));
            return false;
        }
    }
}

PtxModule *ptx_parse(Arena *arena, const SourceFile *file, Diags *diags) {
    PtxParser p = {
        .lexer = {.file = file, .diags = diags}, .arena = arena, .diags = diags, .text_line = 1};
    p.module = arena_new(arena, PtxModule, 1);
    next(&p);
    while (p.now.kind != PTX_END)
        if (!parse_top(&p)) return NULL;
    if (p.lexer.failed) return NULL;
    for (size_t i = 0; i < p.module->functions.count; i++) {
        PtxFunction *f = p.module->functions.data[i];
        for (size_t n = 0; n < f->statements.count; n++)
            resolve_line(&p, &f->statements.data[n].line);
    }
    return p.module;
}
