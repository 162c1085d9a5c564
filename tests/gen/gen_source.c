// Whole Tile texts: functions, a kernel with its parameters, statements.
#include "tests/gen/gen_source.h"

enum { DEPTH = 3 };

#define SAY(...) strbuf_printf(&s->out, __VA_ARGS__)

static uint64_t roll(Src *s, uint64_t n) { return dice_below(&s->dice, n); }

static void line(Src *s) {
    SAY("\n");
    for (uint32_t i = 0; i < s->indent; i++) SAY("    ");
}

static SrcVar named(Src *s, char letter, SrcType type) {
    return (SrcVar){.letter = letter, .number = s->names++, .type = type};
}

// ---- statements ---------------------------------------------------------------------------------

static void statements(Src *s, uint64_t count);

static void block(Src *s, uint64_t count) {
    size_t scope = s->vars.count;
    SAY(" {");
    s->indent++;
    statements(s, count);
    s->indent--;
    line(s);
    SAY("}");
    s->vars.count = scope;
}

static void bind(Src *s) {
    SrcVar v = named(s, 't', source_type(s, DTYPE_CLASS_ANY));
    const SrcVar *other = roll(s, 2) ? source_var(s, NULL, false) : NULL;
    if (other) v.type = other->type;
    v.assignable = roll(s, 2);
    SAY("%s t%u = ", v.assignable ? "var" : "let", v.number);
    source_expr(s, &v.type, DEPTH);
    SAY(";");
    vec_push(s->arena, &s->vars, v);
}

static void bind_two(Src *s) {
    SrcType t = source_type(s, DTYPE_CLASS_NUMBER);
    if (t.rank == 0) t = (SrcType){t.elem, 1, {8}};
    SrcVar a = named(s, 't', t), b = named(s, 't', t);
    uint64_t way = roll(s, 3);
    SAY("let (t%u, t%u) = %s(", a.number, b.number, (const char *[]){"topk", "sort", "split"}[way]);
    if (way == 0) {
        t.rank = 1;
        b.type = a.type = (SrcType){t.elem, 1, {1}};
        b.type.elem = DTYPE_I32;
        source_expr(s, &t, DEPTH - 1);
        SAY(", 1);");
    } else if (way == 1) {
        SAY("(");
        source_expr(s, &t, DEPTH - 1);
        SAY(", ");
        source_expr(s, &t, DEPTH - 1);
        SAY("), axis = %u%s);", (unsigned)roll(s, t.rank), roll(s, 2) ? ", descending = true" : "");
    } else {
        t.rank = 2;
        t.shape[1] = 2;
        a.type = b.type = (SrcType){t.elem, 1, {t.shape[0]}};
        source_expr(s, &t, DEPTH - 1);
        SAY(");");
    }
    vec_push(s->arena, &s->vars, a);
    vec_push(s->arena, &s->vars, b);
}

static void assign(Src *s) {
    const SrcVar *v = source_var(s, NULL, true);
    if (!v) {
        bind(s);
        return;
    }
    SrcType t = v->type;
    bool number = t.elem != DTYPE_BOOL;
    SAY("t%u", v->number);
    if (t.rank && roll(s, 3) == 0) t = source_element(s, &v->type);
    SAY(" %s ", number && roll(s, 3) == 0 ? "+=" : "=");
    source_expr(s, &t, DEPTH);
    SAY(";");
}

// Into a view that holds whole elements.
static void write(Src *s) {
    const SrcVar *view = NULL;
    for (size_t i = 0; i < s->vars.count; i++) {
        const SrcVar *v = &s->vars.data[i];
        if (v->is_view && v->letter == 'y' && (!view || roll(s, 2))) view = v;
    }
    SrcType t = view->type;
    for (uint32_t d = 0; d < t.rank; d++) t.shape[d] = 1u << roll(s, 3);
    SAY("y%u[", view->number);
    for (uint32_t d = 0; d < t.rank; d++)
        SAY("%s%d +: %u", d ? ", " : "", (int)roll(s, 12) - 4, t.shape[d]);
    SAY("] = ");
    source_expr(s, &t, DEPTH);
    if (roll(s, 3) == 0) {
        t.elem = DTYPE_BOOL;
        SAY(" if ");
        source_expr(s, &t, 1);
    }
    SAY(";");
}

static void poke(Src *s) {
    SrcType t = {.elem = source_elem(s, DTYPE_CLASS_NUMBER), .rank = 1, .shape = {8}};
    const SrcVar *p = source_pointer(s, t.elem);
    if (!p) {
        bind(s);
        return;
    }
    bool store = roll(s, 2);
    SAY("%s(p%u + iota(8) * %d, ", store ? "store" : "atomic_add", p->number, (int)roll(s, 4) + 1);
    source_expr(s, &t, DEPTH - 1);
    if (roll(s, 2)) {
        t.elem = DTYPE_BOOL;
        SAY(", ");
        source_expr(s, &t, 1);
    }
    SAY(!store && roll(s, 2) ? ", order = acq_rel);" : ");");
}

static void choose(Src *s) {
    SrcType c = {.elem = DTYPE_BOOL};
    SAY("if (");
    source_expr(s, &c, DEPTH - 1);
    SAY(")");
    block(s, roll(s, 4) + 1);
    if (roll(s, 2)) {
        SAY(" else");
        block(s, roll(s, 3) + 1);
    }
}

static void leave(Src *s) {
    SrcType c = {.elem = DTYPE_BOOL};
    if (!s->loops) {
        bind(s);
        return;
    }
    SAY("if (");
    source_expr(s, &c, 1);
    SAY(") %s;", roll(s, 2) ? "break" : "continue");
}

static void repeat(Src *s) {
    SrcVar i = named(s, 'j', (SrcType){.elem = DTYPE_I64});
    bool down = roll(s, 3) == 0, fixed = roll(s, 5) == 0;
    int from = (int)roll(s, 9) - 4, steps = (int)roll(s, 5);
    if (fixed) {
        SAY("for const j%u in 0 .. %d", i.number, steps);
        uint32_t loops = s->loops;
        s->loops = 0;
        block(s, roll(s, 3) + 1);
        s->loops = loops;
        return;
    }
    SAY("for j%u in %d .. %d step %d", i.number, from, down ? from - steps : from + steps,
        down ? -1 : 1);
    size_t scope = s->vars.count;
    vec_push(s->arena, &s->vars, i);
    s->loops++;
    block(s, roll(s, 4) + 1);
    s->loops--;
    s->vars.count = scope;
}

static void repeat_while(Src *s) {
    SrcType c = {.elem = DTYPE_BOOL};
    uint32_t number = s->names++;
    SAY("var w%u = 0;", number);
    line(s);
    SAY("while (w%u < %d && ", number, (int)roll(s, 5));
    source_expr(s, &c, 1);
    SAY(") {");
    size_t scope = s->vars.count;
    s->indent++;
    line(s);
    SAY("w%u += 1;", number);
    s->loops++;
    statements(s, roll(s, 3) + 1);
    s->loops--;
    s->indent--;
    line(s);
    SAY("}");
    s->vars.count = scope;
}

static void say(Src *s) {
    SrcType t = source_type(s, DTYPE_CLASS_INT);
    switch (roll(s, 3)) {
    case 0: SAY("assert(M >= 1 && L < 100, \"small\");"); return;
    case 1: SAY("assume(N > 0);"); return;
    default:
        SAY("print(\"x = \", ");
        source_expr(s, &t, 1);
        SAY(", \".\");");
    }
}

static void statement(Src *s) {
    bool deep = s->indent >= 4;
    line(s);
    switch (roll(s, 14)) {
    case 0:
    case 1: assign(s); return;
    case 2:
    case 3: write(s); return;
    case 4: poke(s); return;
    case 5: bind_two(s); return;
    case 6:
        if (!deep) {
            choose(s);
            return;
        }
        break;
    case 7:
        if (!deep) {
            repeat(s);
            return;
        }
        break;
    case 8:
        if (!deep) {
            repeat_while(s);
            return;
        }
        break;
    case 9: say(s); return;
    case 10: leave(s); return;
    }
    bind(s);
}

static void statements(Src *s, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) statement(s);
}

// ---- the text -----------------------------------------------------------------------------------

static void view(Src *s, bool write_it) {
    static const char *const extents[] = {"L", "M", "N", "6", "16"};
    unsigned classes = DTYPE_CLASS_ANY | (write_it ? 0 : DTYPE_CLASS_PACKED);
    SrcVar v = named(s, write_it ? 'y' : 'x', source_type(s, classes));
    bool packed = dtype_is(v.type.elem, DTYPE_CLASS_PACKED);
    v.is_view = true;
    if (v.type.rank == 0) v.type.rank = 1;
    SAY("%s%s %c%u[", !packed && roll(s, 5) == 0 ? "strided " : "", dtype_name(v.type.elem),
        v.letter, v.number);
    for (uint32_t d = 0; d < v.type.rank; d++) {
        bool even = packed && d + 1 == v.type.rank;
        SAY("%s%s", d ? ", " : "", even ? "16" : extents[roll(s, 5)]);
    }
    SAY("], ");
    vec_push(s->arena, &s->vars, v);
}

static void params(Src *s) {
    for (uint64_t n = roll(s, 3) + 1; n > 0; n--) view(s, false);
    for (uint64_t n = roll(s, 3) + 1; n > 0; n--) view(s, true);
    for (uint64_t n = roll(s, 3); n > 0; n--) {
        SrcVar v = named(s, 's', (SrcType){.elem = source_elem(s, DTYPE_CLASS_ANY)});
        SAY("%s s%u, ", dtype_name(v.type.elem), v.number);
        vec_push(s->arena, &s->vars, v);
    }
    for (uint64_t n = roll(s, 4); n > 0; n--) {
        SrcVar v = named(s, 'p', (SrcType){.elem = source_elem(s, DTYPE_CLASS_ANY)});
        v.is_pointer = true;
        SAY("*%s p%u, ", dtype_name(v.type.elem), v.number);
        vec_push(s->arena, &s->vars, v);
    }
    SAY("f32 last[L, M, N], const B = 8)");
}

Str gen_source(Arena *arena, uint64_t seed) {
    Src source = {.arena = arena, .dice = dice_roll(seed), .out = strbuf(arena)};
    Src *s = &source;
    SAY("fn larger(a, b) { return max(a, b); }\n");
    SAY("fn twice(a) { var t = a; for const i in 0 .. 2 { t = t + a; } return t; }\n");
    SAY("fn blend(a, b) { if const (B0 == 8) { return twice(a) - b; } return a * b; }\n");
    SAY("const B0 = %u;\n\nkernel k(", roll(s, 2) ? 8u : 4u);
    params(s);
    SAY("\n    requires L <= 9, M >= 1, noalias(last, %c%u)\n    grid(1)\n{",
        s->vars.data[0].letter, s->vars.data[0].number);
    s->indent = 1;
    statements(s, roll(s, 14) + 3);
    line(s);
    SAY("last[0, 0, 0 +: B] = zeros(f32, B);\n}\n");
    return strbuf_str(&source.out);
}
