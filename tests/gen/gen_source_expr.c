// Expressions of a wanted type.
#include <string.h>

#include "tests/gen/gen_source.h"

enum { COUNT_MAX = 64 };

#define SAY(...) strbuf_printf(&s->out, __VA_ARGS__)

static uint64_t roll(Src *s, uint64_t n) { return dice_below(&s->dice, n); }

Dtype source_elem(Src *s, unsigned classes) {
    for (;;) {
        Dtype t = (Dtype)roll(s, DTYPES);
        if (dtype_is(t, classes)) return t;
    }
}

SrcType source_type(Src *s, unsigned classes) {
    SrcType t = {.elem = source_elem(s, classes), .rank = (uint32_t)roll(s, 4)};
    uint32_t count = 1;
    for (uint32_t d = 0; d < t.rank; d++) {
        t.shape[d] = 1u << roll(s, 4);
        while (count * t.shape[d] > COUNT_MAX) t.shape[d] /= 2;
        count *= t.shape[d];
    }
    return t;
}

uint32_t source_elements(const SrcType *t) {
    uint32_t count = 1;
    for (uint32_t d = 0; d < t->rank; d++) count *= t->shape[d];
    return count;
}

static bool same(const SrcType *a, const SrcType *b) {
    return a->elem == b->elem && a->rank == b->rank &&
           memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

const SrcVar *source_var(Src *s, const SrcType *t, bool assignable) {
    const SrcVar *found = NULL;
    uint64_t seen = 0;
    for (size_t i = 0; i < s->vars.count; i++) {
        const SrcVar *v = &s->vars.data[i];
        if (v->is_view || v->is_pointer || (assignable && !v->assignable)) continue;
        if (t && !same(&v->type, t)) continue;
        if (roll(s, ++seen) == 0) found = v;
    }
    return found;
}

const SrcVar *source_pointer(Src *s, Dtype elem) {
    for (size_t i = 0; i < s->vars.count; i++)
        if (s->vars.data[i].is_pointer && s->vars.data[i].type.elem == elem)
            return &s->vars.data[i];
    return NULL;
}

// ---- views --------------------------------------------------------------------------------------

static void offset(Src *s) {
    static const SrcType i64 = {.elem = DTYPE_I64};
    switch (roll(s, 4)) {
    case 0: SAY("%d", (int)roll(s, 14) - 4); return;
    case 1: SAY("program(0) * %d", (int)roll(s, 5)); return;
    case 2: SAY("1 << %d", (int)roll(s, 50)); return;
    default: source_expr(s, &i64, 1);
    }
}

static Dtype read_as(Dtype t) {
    if (t == DTYPE_I4) return DTYPE_I8;
    return t == DTYPE_U4 ? DTYPE_U8 : t;
}

bool source_selection(Src *s, const SrcType *t) {
    const SrcVar *view = NULL;
    uint64_t seen = 0;
    for (size_t i = 0; i < s->vars.count; i++) {
        const SrcVar *v = &s->vars.data[i];
        bool fits = v->is_view && read_as(v->type.elem) == t->elem && v->type.rank >= t->rank;
        if (fits && roll(s, ++seen) == 0) view = v;
    }
    if (!view) return false;
    uint32_t scalars = view->type.rank - t->rank;
    SAY("%c%u[", view->letter, view->number);
    for (uint32_t d = 0, k = 0; d < view->type.rank; d++) {
        SAY("%s", d ? ", " : "");
        bool select = scalars == 0 || (k < t->rank && roll(s, 2));
        if (!select) scalars--;
        if (!select) {
            offset(s);
        } else if (t->rank == 1 && view->type.rank == 1 && roll(s, 3) == 0) {
            SAY("iota(%u) * %d + %d", t->shape[k++], (int)roll(s, 3) + 1, (int)roll(s, 5) - 2);
        } else {
            // The innermost offset of packed elements is even, and seen to be.
            bool packed = dtype_is(view->type.elem, DTYPE_CLASS_PACKED) && d + 1 == view->type.rank;
            if (packed) SAY("%d", (int)roll(s, 8) * 2 - 4);
            if (!packed) offset(s);
            SAY(" +: %u", t->shape[k++]);
        }
    }
    SAY("]");
    return true;
}

static bool is_packed_scalar_read(const Src *s, const SrcType *t) {
    (void)s;
    return t->rank == 0 && (t->elem == DTYPE_I8 || t->elem == DTYPE_U8);
}

static bool read(Src *s, const SrcType *t, int depth) {
    SrcType pad = {.elem = t->elem};
    if (is_packed_scalar_read(s, t)) return false;
    size_t start = s->out.size;
    SAY("(");
    if (!source_selection(s, t)) {
        s->out.size = start;
        return false;
    }
    if (roll(s, 2)) {
        SAY(" or (");
        source_expr(s, &pad, depth - 1);
        SAY(")");
    }
    SAY(")");
    return true;
}

// ---- pieces -------------------------------------------------------------------------------------

static void dims(Src *s, const SrcType *t) {
    for (uint32_t d = 0; d < t->rank; d++) SAY(", %u", t->shape[d]);
}

static void call(Src *s, const char *name, const SrcType *t, int count, int depth) {
    SAY("%s(", name);
    for (int i = 0; i < count; i++) {
        if (i) SAY(", ");
        source_expr(s, t, depth - 1);
    }
    SAY(")");
}

// A variable of the same shape, or a scalar, with other elements; NULL when there is none.
static const SrcVar *relative(Src *s, const SrcType *t) {
    const SrcVar *found = NULL;
    uint64_t seen = 0;
    for (size_t i = 0; i < s->vars.count; i++) {
        const SrcVar *v = &s->vars.data[i];
        if (v->is_view || v->is_pointer) continue;
        SrcType as = *t;
        as.elem = v->type.elem;
        if (same(&v->type, &as) || v->type.rank == 0)
            if (roll(s, ++seen) == 0) found = v;
    }
    return found;
}

static bool converted(Src *s, const SrcType *t) {
    const SrcVar *v = roll(s, 4) ? relative(s, t) : NULL;
    if (!v) return false;
    bool scalar = v->type.rank == 0 && t->rank > 0;
    SAY("%s%s(%c%u)", scalar ? "broadcast(" : "", dtype_name(t->elem), v->letter, v->number);
    if (!scalar) return true;
    dims(s, t);
    SAY(")");
    return true;
}

// Constants in braces, as a tile or read at a few places.
static void table(Src *s, const SrcType *t) {
    uint32_t count = t->shape[0];
    bool reads = roll(s, 2);
    if (reads) count = 4;
    SAY("tile(%s, {", dtype_name(t->elem));
    for (uint32_t i = 0; i < count; i++) {
        if (i) SAY(", ");
        if (t->elem == DTYPE_BOOL)
            SAY("%s", roll(s, 2) ? "true" : "false");
        else
            SAY("%d", (int)roll(s, 8));
    }
    if (reads) SAY("})[iota(%u) %% %u]", t->shape[0], count);
    if (!reads) SAY("})");
}

static void leaf(Src *s, const SrcType *t) {
    const SrcVar *v = source_var(s, t, false);
    if (v && roll(s, 4)) {
        SAY("%c%u", v->letter, v->number);
        return;
    }
    if (converted(s, t)) return;
    const char *name = dtype_name(t->elem);
    if (t->elem == DTYPE_I32 && t->rank == 1 && roll(s, 2)) {
        SAY("iota(%u)", t->shape[0]);
    } else if (t->rank == 1 && t->shape[0] <= 16 && roll(s, 3) == 0) {
        table(s, t);
    } else if (t->elem == DTYPE_I64 && t->rank == 0 && roll(s, 2)) {
        SAY("%s", (const char *[]){"program(0)", "programs(1)", "L", "M"}[roll(s, 4)]);
    } else if (t->rank > 0 && roll(s, 3) == 0) {
        SAY("zeros(%s", name);
        dims(s, t);
        SAY(")");
    } else {
        if (t->rank > 0) SAY("full(%s, ", name);
        if (t->elem == DTYPE_BOOL)
            SAY("%s", roll(s, 2) ? "true" : "false");
        else
            SAY("%s(%d)", name, (int)roll(s, 8));
        dims(s, t);
        if (t->rank > 0) SAY(")");
    }
}

static void binary(Src *s, const SrcType *t, int depth) {
    static const char *const ints[] = {"+", "-", "*", "&", "|", "^", "/", "%"};
    static const char *const bools[] = {"&", "|", "^"};
    const char *op = ints[roll(s, 8)];
    if (t->elem == DTYPE_BOOL) op = bools[roll(s, 3)];
    if (dtype_is(t->elem, DTYPE_CLASS_ANYFLOAT))
        op = (const char *[]){"+", "-", "*", "/"}[roll(s, 4)];
    SrcType scalar = {.elem = t->elem};
    bool divides = (op[0] == '/' || op[0] == '%') && dtype_is(t->elem, DTYPE_CLASS_INT);
    SAY("(");
    source_expr(s, t, depth - 1);
    SAY(" %s ", op);
    if (divides) SAY("(%s(1) | ", dtype_name(t->elem));
    source_expr(s, roll(s, 4) ? t : &scalar, depth - 1);
    SAY(divides ? "))" : ")");
}

static void compare(Src *s, const SrcType *t, int depth) {
    static const char *const ops[] = {"==", "!=", "<", "<=", ">", ">="};
    static const char *const kinds[] = {"isnan", "isinf", "isfinite"};
    SrcType other = *t;
    if (roll(s, 6) == 0) {
        other.elem = source_elem(s, DTYPE_CLASS_ANYFLOAT);
        call(s, kinds[roll(s, 3)], &other, 1, depth);
        return;
    }
    other.elem = source_elem(s, DTYPE_CLASS_NUMBER);
    SAY("(");
    source_expr(s, &other, depth - 1);
    SAY(" %s ", ops[roll(s, 6)]);
    source_expr(s, &other, depth - 1);
    SAY(")");
}

static void cast(Src *s, const SrcType *t, int depth) {
    SrcType from = *t;
    from.elem = source_elem(s, DTYPE_CLASS_ANY);
    SAY("%s(", dtype_name(t->elem));
    source_expr(s, &from, depth - 1);
    SAY(")");
}

static void choose(Src *s, const SrcType *t, int depth) {
    SrcType c = *t;
    c.elem = DTYPE_BOOL;
    SAY("select(");
    source_expr(s, &c, depth - 1);
    SAY(", ");
    source_expr(s, t, depth - 1);
    SAY(", ");
    source_expr(s, t, depth - 1);
    SAY(")");
}

// Floats whose sums, or products, are the same in any order, since lowered code has one of its own.
static void exact(Src *s, const SrcType *t, bool products, int depth) {
    SrcType from = *t;
    if (!dtype_is(t->elem, DTYPE_CLASS_ANYFLOAT)) {
        source_expr(s, t, depth - 1);
        return;
    }
    from.elem = products ? DTYPE_BOOL : DTYPE_U8;
    if (products)
        SAY("select(");
    else
        SAY("%s((", dtype_name(t->elem));
    source_expr(s, &from, depth - 1);
    if (!products) {
        SAY(" & 3))");
        return;
    }
    for (int sign = 1; sign >= -1; sign -= 2) {
        SAY(", full(%s, %d", dtype_name(t->elem), sign);
        dims(s, t);
        SAY(")");
    }
    SAY(")");
}

static void reduction(Src *s, const SrcType *t, int depth) {
    SrcType from = *t;
    uint32_t axis = (uint32_t)roll(s, t->rank + 1);
    if (t->rank == 3 || source_elements(t) > COUNT_MAX / 4) {
        leaf(s, t);
        return;
    }
    for (uint32_t d = t->rank; d > axis; d--) from.shape[d] = from.shape[d - 1];
    from.shape[axis] = 4;
    from.rank++;
    bool truth = t->elem == DTYPE_BOOL;
    const char *name = truth ? (const char *[]){"any", "all"}[roll(s, 2)]
                             : (const char *[]){"sum", "max", "min", "prod", "reduce"}[roll(s, 5)];
    SAY("%s(", name);
    if (name[0] == 's' || name[0] == 'p')
        exact(s, &from, name[0] == 'p', depth);
    else
        source_expr(s, &from, depth - 1);
    SAY("%s, axis = %u)", name[0] == 'r' ? ", larger" : "", axis);
}

static void reshaped(Src *s, const SrcType *t, int depth) {
    SrcType from = {.elem = t->elem, .rank = 1, .shape = {source_elements(t)}};
    if (t->rank == 2 && roll(s, 2)) {
        from = (SrcType){t->elem, 2, {t->shape[1], t->shape[0]}};
        call(s, "transpose", &from, 1, depth);
        return;
    }
    SAY("reshape(");
    source_expr(s, &from, depth - 1);
    dims(s, t);
    SAY(")");
}

static void stretched(Src *s, const SrcType *t, int depth) {
    SrcType from = {.elem = t->elem};
    if (roll(s, 2)) {
        from = *t;
        from.shape[roll(s, t->rank)] = 1;
    }
    SAY("broadcast(");
    source_expr(s, &from, depth - 1);
    dims(s, t);
    SAY(")");
}

static void scanned(Src *s, const SrcType *t, int depth) {
    bool products = roll(s, 2) != 0;
    SAY("%s(", products ? "cumprod" : "cumsum");
    exact(s, t, products, depth);
    SAY(", axis = %u%s%s)", (unsigned)roll(s, t->rank), roll(s, 2) ? ", reverse = true" : "",
        roll(s, 2) ? ", exclusive = true" : "");
}

static void product(Src *s, const SrcType *t, int depth) {
    uint32_t k = 1u << roll(s, 3);
    Dtype elem = t->elem;
    if (elem == DTYPE_F32) elem = (Dtype[]){DTYPE_F32, DTYPE_F16, DTYPE_BF16}[roll(s, 3)];
    if (elem == DTYPE_I32) elem = DTYPE_I8;
    SrcType a = {elem, 2, {t->shape[0], k}}, b = {elem, 2, {k, t->shape[1]}};
    SAY("dot(");
    exact(s, &a, false, depth);
    SAY(", ");
    exact(s, &b, false, depth);
    if (roll(s, 2)) {
        SAY(", ");
        exact(s, t, false, depth);
    }
    SAY(")");
}

// The index of a row or an element. It is inside, because the sanitizer is to find nothing.
static void place(Src *s, uint32_t extent) {
    uint32_t first = (uint32_t)roll(s, extent);
    if (roll(s, 2))
        SAY("%u", first);
    else
        SAY("(program(0) + %u) %% %u", first, extent);
}

SrcType source_element(Src *s, const SrcType *t) {
    SrcType rest = {.elem = t->elem};
    SAY("[");
    for (uint32_t d = 0; d < t->rank; d++) {
        bool whole = roll(s, 2) != 0;
        if (d) SAY(", ");
        if (whole) SAY(":");
        if (whole) rest.shape[rest.rank++] = t->shape[d];
        if (!whole) place(s, t->shape[d]);
    }
    SAY("]");
    return rest;
}

// A row or an element of a tile that has one dimension more.
static bool picked(Src *s, const SrcType *t, int depth) {
    SrcType from = *t;
    uint32_t at = (uint32_t)roll(s, t->rank + 1), extent = 1u << roll(s, 4);
    while (source_elements(t) * extent > COUNT_MAX && extent > 1) extent /= 2;
    if (t->rank >= 3) return false;
    for (uint32_t d = from.rank++; d > at; d--) from.shape[d] = from.shape[d - 1];
    from.shape[at] = extent;
    SAY("(");
    source_expr(s, &from, depth - 1);
    SAY(")[");
    for (uint32_t d = 0; d < from.rank; d++) {
        if (d) SAY(", ");
        if (d != at) SAY(":");
        if (d == at) place(s, extent);
    }
    SAY("]");
    return true;
}

static void loaded(Src *s, const SrcType *t) {
    const SrcVar *p = source_pointer(s, t->elem);
    if (!p || t->rank > 1) {
        leaf(s, t);
        return;
    }
    SAY("load(%c%u + ", p->letter, p->number);
    if (t->rank)
        SAY("iota(%u)", t->shape[0]);
    else
        SAY("%u", (unsigned)roll(s, 16));
    SAY("%s)", (const char *[]){"", "", ", evict = last", ", cache = stream"}[roll(s, 4)]);
}

// ---- choosing -----------------------------------------------------------------------------------

static void of_bits(Src *s, const SrcType *t, int depth) {
    static const char *const names[] = {"~", "popcount", "clz", "ctz", "brev"};
    uint64_t which = roll(s, 6);
    if (which == 5)
        call(s, "mulhi", t, 2, depth);
    else
        call(s, names[which], t, 1, depth);
}

static void of_number(Src *s, const SrcType *t, int depth) {
    static const char *const floats[] = {
        "exp",     "exp2", "log",   "log2",  "sin",  "cos",   "tan",   "tanh",  "erf",
        "sigmoid", "sqrt", "rsqrt", "floor", "ceil", "round", "log1p", "expm1", "log10",
        "sinh",    "cosh", "atan",  "asin",  "acos", "cbrt",  "erfc"};
    bool is_float = dtype_is(t->elem, DTYPE_CLASS_ANYFLOAT);
    switch (roll(s, 8)) {
    case 0: call(s, "abs", t, 1, depth); return;
    case 1: call(s, roll(s, 2) ? "min" : "max", t, 2, depth); return;
    case 2: call(s, "blend", t, 2, depth); return;
    case 3: call(s, "clamp", t, 3, depth); return;
    case 4: call(s, "-", t, 1, depth); return;
    case 5:
        if (is_float && roll(s, 3) == 0)
            call(s, roll(s, 2) ? "copysign" : "atan2", t, 2, depth);
        else if (is_float)
            call(s, "fma", t, 3, depth);
        else
            of_bits(s, t, depth);
        return;
    default:
        if (is_float) call(s, floats[roll(s, 25)], t, 1, depth);
        if (is_float) return;
        SAY("(");
        source_expr(s, t, depth - 1);
        SAY(" %s %d)", roll(s, 2) ? "<<" : ">>", (int)roll(s, 9));
    }
}

static bool dot_sums(Dtype t) { return t == DTYPE_F32 || t == DTYPE_F64 || t == DTYPE_I32; }

void source_expr(Src *s, const SrcType *t, int depth) {
    bool number = t->elem != DTYPE_BOOL;
    if (depth <= 0) {
        leaf(s, t);
        return;
    }
    switch (roll(s, 14)) {
    case 0:
    case 1: binary(s, t, depth); return;
    case 2:
    case 3:
        if (number) of_number(s, t, depth);
        if (!number) compare(s, t, depth);
        return;
    case 4: cast(s, t, depth); return;
    case 5: choose(s, t, depth); return;
    case 6: reduction(s, t, depth); return;
    case 7:
        if (t->rank > 0) {
            reshaped(s, t, depth);
            return;
        }
        break;
    case 8:
        if (t->rank > 0) {
            stretched(s, t, depth);
            return;
        }
        break;
    case 9:
        if (t->rank > 0 && number) {
            scanned(s, t, depth);
            return;
        }
        break;
    case 10:
        if (t->rank == 2 && dot_sums(t->elem)) {
            product(s, t, depth);
            return;
        }
        break;
    case 11: loaded(s, t); return;
    case 12:
        if (picked(s, t, depth)) return;
        break;
    default:
        if (read(s, t, depth)) return;
    }
    leaf(s, t);
}
