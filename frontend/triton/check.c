// Checking a kernel whose types and constexprs are not given: a search for values that fit.
//
// Every open parameter has a list of candidates, the likeliest first. An elaboration that fails
// tells how far it came. The search changes one parameter at a time, of those that the failing
// statement depends on, and keeps what comes further. When nothing comes further, the error is a
// mistake in the kernel: its place is known from then on, and the search goes on after it. At the
// end the errors of the best attempt are reported.
#include "frontend/triton/check.h"

#include "frontend/triton/infer.h"

enum { CANDIDATES = 24, ROUNDS = 24, ATTEMPTS = 4000, MISTAKES = 100, POINTER_TYPES = 8 };

typedef struct Open {
    const FrontParam *param;
    const PyParam *py;
    uint32_t count, current;
    IrBinding candidates[CANDIDATES];
} Open;

typedef struct TypeSearch {
    TritonFile *file;
    const FrontKernel *kernel;
    const FrontSpec *given;
    Diags *diags;
    Arena *arena;  // of the search
    Arena *ir;     // of one attempt
    uint32_t count;
    Open *open;
    uint32_t attempts;
    VEC(TritonPlace) known;  // mistakes
} TypeSearch;

// ---- candidates

static void add(Open *o, IrBinding b) {
    b.name = o->param->name;
    for (uint32_t i = 0; i < o->count; i++) {
        const IrBinding *x = &o->candidates[i];
        if (x->is_type == b.is_type && x->type == b.type && x->value == b.value &&
            x->text == b.text)
            return;
    }
    if (o->count < CANDIDATES) o->candidates[o->count++] = b;
}

static void add_type(Open *o, Dtype type) { add(o, (IrBinding){.is_type = true, .type = type}); }
static void add_value(Open *o, int64_t value) { add(o, (IrBinding){.value = value}); }
static void add_text(const TypeSearch *s, Open *o, const char *text) {
    add(o, (IrBinding){.text = intern(s->file->names, str(text))});
}

// Adds the constants that the constexpr is compared with: NAME == 'silu', NAME in (1, 2).
static void add_compared(const TypeSearch *s, Open *o, const Py *x, int depth) {
    if (!x || depth > 8) return;
    if (x->kind == PY_INT && !x->huge && x->integer >= INT64_MIN && x->integer <= INT64_MAX)
        add_value(o, (int64_t)x->integer);
    if (x->kind == PY_STRING) add_text(s, o, arena_printf(s->arena, "'%.*s'", STR_ARG(x->text)));
    if (x->kind == PY_NONE) add_text(s, o, "None");
    if (x->kind == PY_ATTRIBUTE) {
        Dtype type;
        if (tr_type_named(str(x->name), &type)) add_type(o, type);
    }
    if (x->kind == PY_TUPLE || x->kind == PY_LIST)
        for (const Py *i = x->list; i; i = i->next) add_compared(s, o, i, depth + 1);
}

static bool is_leaf(const Py *x) {
    return x->kind == PY_INT || x->kind == PY_FLOAT || x->kind == PY_STRING ||
           x->kind == PY_LAMBDA || x->kind == PY_DEF || x->kind == PY_IMPORT || x->kind == PY_FROM;
}

static void find_compared(const TypeSearch *s, Open *o, const Py *x, int depth) {
    if (!x || depth > PY_MAX_DEPTH || is_leaf(x)) return;
    if (x->kind == PY_COMPARE && x->list) {
        bool left = x->a->kind == PY_NAME && x->a->name == o->param->name;
        if (left) add_compared(s, o, x->list->a, 0);
        if (x->list->a->kind == PY_NAME && x->list->a->name == o->param->name)
            add_compared(s, o, x->a, 0);
    }
    const Py *parts[4] = {x->a, x->b, x->c, x->d};
    for (int i = 0; i < 4; i++) find_compared(s, o, parts[i], depth + 1);
    for (const Py *i = x->list; i; i = i->next) find_compared(s, o, i, depth + 1);
}

// Does tl.arange get the parameter?
static bool is_extent(const Py *x, Symbol name, bool inside, int depth) {
    if (!x || depth > PY_MAX_DEPTH || is_leaf(x)) return false;
    if (x->kind == PY_NAME) return inside && x->name == name;
    if (x->kind == PY_CALL) inside = str_equal(tr_last_name(x->a), STR("arange"));
    const Py *parts[4] = {x->a, x->b, x->c, x->d};
    for (int i = 0; i < 4; i++)
        if (is_extent(parts[i], name, inside, depth + 1)) return true;
    for (const Py *i = x->list; i; i = i->next)
        if (is_extent(i, name, inside, depth + 1)) return true;
    return false;
}

// Does the function ask whether the parameter is None, or whether it is given?
static bool may_be_none(const Py *x, Symbol name, int depth) {
    if (!x || depth > PY_MAX_DEPTH || is_leaf(x)) return false;
    const Py *asked = x->kind == PY_IF || x->kind == PY_TERNARY ? x->a : NULL;
    if (x->kind == PY_COMPARE && x->list && x->list->a->kind == PY_NONE) asked = x->a;
    if (asked && asked->kind == PY_UNARY && asked->op == PY_NOT) asked = asked->a;
    if (asked && asked->kind == PY_NAME && asked->name == name) return true;
    // A jit function that gets it may ask.
    if (x->kind == PY_CALL && x->a->kind == PY_NAME)
        for (const Py *a = x->list; a; a = a->next)
            if (a->kind == PY_NAME && a->name == name) return true;
    const Py *parts[4] = {x->a, x->b, x->c, x->d};
    for (int i = 0; i < 4; i++)
        if (may_be_none(parts[i], name, depth + 1)) return true;
    for (const Py *i = x->list; i; i = i->next)
        if (may_be_none(i, name, depth + 1)) return true;
    return false;
}

static void constexpr_candidates(const TypeSearch *s, Open *o) {
    const TritonKernel *own = s->kernel->own;
    static const int64_t usual[] = {16, 1, 32, 0, 64, 2, 4, 8, 128};
    Str name = str(o->param->name);
    bool type = str_ends(name, STR("dtype")) || str_ends(name, STR("DTYPE")) ||
                str_ends(name, STR("_type")) || str_ends(name, STR("_TYPE"));
    if (type) add_type(o, DTYPE_F32);
    add_value(o, usual[0]);
    find_compared(s, o, own->func->body, 0);
    // One element would hide shapes that do not fit: it goes with every other shape.
    bool extent = is_extent(own->func->body, o->param->name, false, 0);
    for (size_t i = 1; i < sizeof usual / sizeof *usual; i++)
        if (!extent || usual[i] > 1) add_value(o, usual[i]);
    add_type(o, DTYPE_F32);
    add_text(s, o, "1.0");
    add_text(s, o, "None");
    add_type(o, DTYPE_I32);
    add_text(s, o, "False");
}

static void open_params(TypeSearch *s) {
    const TritonKernel *own = s->kernel->own;
    const PyParam *py = own->func->params;
    for (const FrontParam *p = s->kernel->params; p; p = p->next) s->count++;
    s->open = arena_new(s->arena, Open, s->count + 1);
    s->count = 0;
    for (const FrontParam *p = s->kernel->params; p; p = p->next, py = py->next) {
        if (s->given && frontend_spec_find(s->given, p->name)) continue;
        Open *o = &s->open[s->count];
        *o = (Open){.param = p, .py = py};
        if (p->kind == FRONT_CONST && p->has_default) {
            // The default comes first; it needs no binding.
            o->count = 1;
            constexpr_candidates(s, o);
        } else if (p->kind == FRONT_CONST) {
            constexpr_candidates(s, o);
        } else {
            if (p->dtype != DTYPES) continue;
            bool pointer = p->kind == FRONT_POINTER;
            static const Dtype types[] = {DTYPE_F32,    DTYPE_I32,  DTYPE_I64,
                                          DTYPE_F16,    DTYPE_BF16, DTYPE_U8,
                                          DTYPE_F8E4M3, DTYPE_BOOL, DTYPE_I8};
            if (!pointer) add_type(o, DTYPE_I32);
            for (size_t i = 0; i < sizeof types / sizeof *types; i++) add_type(o, types[i]);
            if (may_be_none(own->func->body, o->param->name, 0)) add_text(s, o, "None");
        }
        s->count++;
    }
}

// ---- one attempt

typedef struct Trial {
    bool good;
    uint32_t reached, ops;
    TritonPlace failed;
} Trial;

// Progress is a later place: more operations before an error at the same place do not count.
static bool is_further(const Trial *a, const Trial *b) {
    if (a->reached != b->reached) return a->reached > b->reached;
    bool same = a->failed.at.begin == b->failed.at.begin && a->failed.at.end == b->failed.at.end;
    return !same && a->ops > b->ops;
}

static bool is_default(const Open *o) {
    return o->current == 0 && o->param->kind == FRONT_CONST && o->param->has_default;
}

static Trial attempt(TypeSearch *s, Diags *diags, bool stops) {
    ArenaMark mark = arena_mark(s->ir);
    IrModule *module = ir_module_create(s->ir, s->file->sources, s->file->names);
    FrontSpec spec = {0};
    if (s->given) {
        spec.target = s->given->target;
        spec.math = s->given->math;
        for (size_t i = 0; i < s->given->bindings.count; i++)
            vec_push(s->ir, &spec.bindings, s->given->bindings.data[i]);
    }
    for (uint32_t i = 0; i < s->count; i++)
        if (!is_default(&s->open[i]))
            vec_push(s->ir, &spec.bindings, s->open[i].candidates[s->open[i].current]);
    TritonProgress progress = {.stops = stops};
    progress.known.data = s->known.data;
    progress.known.count = s->known.count;
    bool made = tr_kernel(s->file, module, s->kernel, &spec, diags, &progress) != NULL;
    Trial a = {.good = stops ? !progress.failed : made,
               .reached = progress.reached,
               .ops = progress.ops,
               .failed = progress.place};
    arena_reset(s->ir, mark);
    s->attempts++;
    return a;
}

static Trial quietly(TypeSearch *s) {
    ArenaMark mark = arena_mark(s->arena);
    Trial a = attempt(s, diags_create(s->arena, s->file->sources), true);
    arena_reset(s->arena, mark);
    return a;
}

// ---- which parameters the failing statement depends on

typedef struct Blame {
    const TypeSearch *s;
    Map names;  // those found so far, in order
} Blame;

static void blame_names(Blame *b, const Py *x, int depth) {
    if (!x || depth > PY_MAX_DEPTH || is_leaf(x)) return;
    if (x->kind == PY_NAME) map_put(b->s->arena, &b->names, map_key(x->name), 1);
    const Py *parts[4] = {x->a, x->b, x->c, x->d};
    for (int i = 0; i < 4; i++) blame_names(b, parts[i], depth + 1);
    for (const Py *i = x->list; i; i = i->next) blame_names(b, i, depth + 1);
}

static bool assigns(const Py *target, Symbol name) {
    if (target->kind == PY_NAME) return target->name == name;
    if (target->kind != PY_TUPLE && target->kind != PY_LIST) return false;
    for (const Py *t = target->list; t; t = t->next)
        if (assigns(t, name)) return true;
    return false;
}

typedef struct Failure {
    TritonPlace place;
    Symbol name;  // if not NULL: statements that assign the name are meant, not the place
} Failure;

static bool blame_block(Blame *b, const Py *block, const Failure *f);

// Adds the names of the statement that is meant, and those of the conditions around it. True if it
// is this one, or inside.
static bool blame_statement(Blame *b, const Py *s, const Failure *f) {
    Span at = f->place.kernel;
    bool found = false, here = !f->name && s->span.begin <= at.begin && at.begin < s->span.end;
    const Py *condition = s->kind == PY_FOR ? s->b : s->a;
    switch (s->kind) {
    case PY_IF:
    case PY_FOR:
    case PY_WHILE:
        if (s->kind == PY_FOR && f->name) here = assigns(s->a, f->name);
        found = blame_block(b, s->b, f);
        found = blame_block(b, s->c, f) || found;
        if (here || found) blame_names(b, condition, 0);
        return here || found;
    case PY_WITH: return blame_block(b, s->b, f);
    case PY_ASSIGN:
        for (const Py *t = s->list; f->name && t && !here; t = t->next) here = assigns(t, f->name);
        break;
    case PY_ANNOTATED:
    case PY_AUGMENTED: here = here || (f->name && assigns(s->a, f->name)); break;
    default: break;
    }
    if (here && (f->name || f->place.inside || !f->place.certain)) blame_names(b, s, 0);
    return here;
}

static bool blame_block(Blame *b, const Py *block, const Failure *f) {
    bool found = false;
    for (const Py *s = block ? block->list : NULL; s; s = s->next)
        if (blame_statement(b, s, f)) found = true;
    return found;
}

// The open parameters that the failure depends on, in the order in which they are tried.
static uint32_t *order_of(TypeSearch *s, TritonPlace failed, uint32_t *count) {
    const TritonKernel *own = s->kernel->own;
    Blame b = {.s = s};
    bool found = blame_block(&b, own->func->body, &(Failure){failed, NULL});
    for (uint32_t i = 0; i < b.names.count && i < 200; i++) {
        Symbol name = (Symbol)(uintptr_t)b.names.entries[i].key;
        blame_block(&b, own->func->body, &(Failure){failed, name});
    }
    uint32_t *order = arena_new(s->arena, uint32_t, s->count + 1), n = 0;
    for (uint32_t i = 0; i < b.names.count; i++)
        for (uint32_t k = 0; k < s->count; k++)
            if (map_key(s->open[k].param->name) == b.names.entries[i].key) order[n++] = k;
    // It is at no statement: in a parameter's own text, or in the grid.
    if (!found)
        for (n = 0; n < s->count; n++) order[n] = n;
    *count = n;
    return order;
}

// Tries all other candidates of one parameter; keeps the one that comes furthest. True when the
// kernel is right with it.
static bool improve_one(TypeSearch *s, Open *o, Trial *best, bool *better) {
    uint32_t kept = o->current;
    for (uint32_t c = 0; c < o->count && s->attempts < ATTEMPTS; c++) {
        if (c == kept) continue;
        o->current = c;
        Trial a = quietly(s);
        if (a.good) return true;
        if (!is_further(&a, best)) continue;
        *best = a;
        *better = true;
        kept = c;
    }
    o->current = kept;
    return false;
}

// Tries one type for all pointers that the failure depends on.
static bool improve_all(TypeSearch *s, const uint32_t *order, uint32_t count, Trial *best,
                        bool *better) {
    uint32_t *kept = arena_new(s->arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++) kept[i] = s->open[order[i]].current;
    for (uint32_t c = 0; c < POINTER_TYPES && s->attempts < ATTEMPTS; c++) {
        for (uint32_t i = 0; i < count; i++) {
            Open *o = &s->open[order[i]];
            if (o->param->kind == FRONT_POINTER && c < o->count) o->current = c;
        }
        Trial a = quietly(s);
        if (a.good) return true;
        if (!is_further(&a, best)) continue;
        *best = a;
        *better = true;
        for (uint32_t i = 0; i < count; i++) kept[i] = s->open[order[i]].current;
    }
    for (uint32_t i = 0; i < count; i++) s->open[order[i]].current = kept[i];
    return false;
}

// Improves until the kernel is right, or nothing comes further.
static Trial climb(TypeSearch *s) {
    Trial best = quietly(s);
    for (uint32_t round = 0; !best.good && round < ROUNDS && s->attempts < ATTEMPTS; round++) {
        uint32_t count;
        const uint32_t *order = order_of(s, best.failed, &count);
        bool better = false;
        for (uint32_t i = 0; i < count && !better; i++)
            if (improve_one(s, &s->open[order[i]], &best, &better)) return (Trial){.good = true};
        if (!better && improve_all(s, order, count, &best, &better)) return (Trial){.good = true};
        if (!better) break;
    }
    return best;
}

// "BLOCK=16, x_ptr=*fp32": what is assumed of the parameters that the failure may depend on.
static const char *assumed_text(TypeSearch *s, TritonPlace failed) {
    enum { MOST = 6 };
    if (failed.certain && !failed.inside) return NULL;
    uint32_t count;
    const uint32_t *order = order_of(s, failed, &count);
    StrBuf out = strbuf(s->arena);
    for (uint32_t i = 0; i < count && i < MOST; i++) {
        const Open *o = &s->open[order[i]];
        const IrBinding *b = &o->candidates[o->current];
        if (is_default(o)) continue;
        strbuf_printf(&out, "%s%s=", out.size ? ", " : "", o->param->name);
        if (b->text)
            strbuf_add(&out, str(b->text));
        else if (b->is_type)
            strbuf_printf(&out, "%s%s", o->param->kind == FRONT_POINTER ? "*" : "",
                          tr_type_name(b->type));
        else
            strbuf_printf(&out, "%lld", (long long)b->value);
    }
    if (count > MOST) strbuf_add(&out, STR(" …"));
    return out.size ? out.text : NULL;
}

// Ends when the kernel is right but for mistakes whose places are known then.
static void search(TypeSearch *s) {
    Trial best = climb(s);
    while (!best.good && s->attempts < ATTEMPTS && s->known.count < MISTAKES) {
        vec_push(s->arena, &s->known, best.failed);
        best = climb(s);
    }
}

bool tr_check(TritonFile *file, const FrontKernel *kernel, const FrontSpec *given, Diags *diags) {
    TypeSearch s = {.file = file,
                    .kernel = kernel,
                    .given = given,
                    .diags = diags,
                    .arena = arena_create(),
                    .ir = arena_create()};
    open_params(&s);
    search(&s);
    for (size_t i = 0; i < s.known.count; i++)
        s.known.data[i].assumed = assumed_text(&s, s.known.data[i]);
    // Once more: for the errors, or for the warnings.
    bool good = attempt(&s, diags, false).good;
    arena_destroy(s.ir);
    arena_destroy(s.arena);
    return good;
}
