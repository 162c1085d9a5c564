// Built-in functions: the table of their arguments, and the calls' common checks.
#include "frontend/tile/elaborate.h"

#define N(name) (1u << NAMED_##name)

typedef struct Signature {
    Val (*emit)(Elab *e, const Args *a);
    uint8_t min, max;  // positional arguments
    uint16_t named;
    const char *text;
} Signature;

enum { MANY = EL_POSITIONAL };

#define UNARY(name) \
    { el_builtin_math, 1, 1, 0, #name "(x)" }
#define REDUCTION(name, max)                                                             \
    {                                                                                    \
        el_builtin_reduce, 1, max, N(AXIS) | N(KEEP) | N(WHERE),                         \
            max == 2 ? #name "(a, b), " #name "(v, axis = 0, keep = true, where = mask)" \
                     : #name "(v, axis = 0, keep = true, where = mask)"                  \
    }
#define ATOMIC(name)                                                                           \
    {                                                                                          \
        el_builtin_memory, 2, 3, N(ORDER) | N(SCOPE),                                          \
            #name "(p, v, ok, order = relaxed, scope = device), " #name "(x[…], v, ok, …)" \
    }

static const Signature signatures[TILE_BUILTINS] = {
    [TILE_PROGRAM] = {el_builtin_value, 1, 1, 0, "program(d)"},
    [TILE_PROGRAMS] = {el_builtin_value, 1, 1, 0, "programs(d)"},
    [TILE_UNITS] = {el_builtin_value, 0, 0, 0, "units()"},
    [TILE_CDIV] = {el_builtin_value, 2, 2, 0, "cdiv(a, b)"},
    [TILE_IOTA] = {el_builtin_value, 1, 1, 0, "iota(B)"},
    [TILE_ZEROS] = {el_builtin_value, 1, MANY, 0, "zeros(T, dims…)"},
    [TILE_FULL] = {el_builtin_value, 2, MANY, 0, "full(T, v, dims…)"},
    [TILE_TILE] = {el_tile_literal, 2, 2, 0, "tile(T, { values… })"},
    [TILE_SELECT] = {el_builtin_value, 3, 3, 0, "select(c, a, b)"},
    [TILE_BITCAST] = {el_builtin_value, 2, 2, 0, "bitcast(T, x)"},
    [TILE_EXP] = UNARY(exp),
    [TILE_EXP2] = UNARY(exp2),
    [TILE_LOG] = UNARY(log),
    [TILE_LOG2] = UNARY(log2),
    [TILE_SIN] = UNARY(sin),
    [TILE_COS] = UNARY(cos),
    [TILE_TAN] = UNARY(tan),
    [TILE_TANH] = UNARY(tanh),
    [TILE_ERF] = UNARY(erf),
    [TILE_SIGMOID] = UNARY(sigmoid),
    [TILE_SQRT] = UNARY(sqrt),
    [TILE_RSQRT] = UNARY(rsqrt),
    [TILE_FLOOR] = UNARY(floor),
    [TILE_CEIL] = UNARY(ceil),
    [TILE_ROUND] = UNARY(round),
    [TILE_ABS] = UNARY(abs),
    [TILE_POW] = {el_builtin_math, 2, 2, 0, "pow(a, b)"},
    [TILE_LOG1P] = UNARY(log1p),
    [TILE_EXPM1] = UNARY(expm1),
    [TILE_LOG10] = UNARY(log10),
    [TILE_SINH] = UNARY(sinh),
    [TILE_COSH] = UNARY(cosh),
    [TILE_ATAN] = UNARY(atan),
    [TILE_ASIN] = UNARY(asin),
    [TILE_ACOS] = UNARY(acos),
    [TILE_CBRT] = UNARY(cbrt),
    [TILE_ERFC] = UNARY(erfc),
    [TILE_ATAN2] = {el_builtin_math, 2, 2, 0, "atan2(y, x)"},
    [TILE_COPYSIGN] = {el_builtin_math, 2, 2, 0, "copysign(a, b)"},
    [TILE_ISNAN] = UNARY(isnan),
    [TILE_ISINF] = UNARY(isinf),
    [TILE_ISFINITE] = UNARY(isfinite),
    [TILE_POPCOUNT] = {el_builtin_bits, 1, 1, 0, "popcount(x)"},
    [TILE_CLZ] = {el_builtin_bits, 1, 1, 0, "clz(x)"},
    [TILE_CTZ] = {el_builtin_bits, 1, 1, 0, "ctz(x)"},
    [TILE_BREV] = {el_builtin_bits, 1, 1, 0, "brev(x)"},
    [TILE_MULHI] = {el_builtin_bits, 2, 2, 0, "mulhi(a, b)"},
    [TILE_FMA] = {el_builtin_math, 3, 3, 0, "fma(a, b, c)"},
    [TILE_CLAMP] = {el_builtin_math, 3, 3, 0, "clamp(v, low, high)"},
    [TILE_RESHAPE] = {el_builtin_shape, 1, MANY, 0, "reshape(v, dims…)"},
    [TILE_EXPAND] = {el_builtin_shape, 1, 1, N(AXIS), "expand(v, axis = 0)"},
    [TILE_PERMUTE] = {el_builtin_shape, 1, MANY, 0, "permute(v, places…)"},
    [TILE_TRANSPOSE] = {el_builtin_shape, 1, 1, 0, "transpose(v)"},
    [TILE_BROADCAST] = {el_builtin_shape, 1, MANY, 0, "broadcast(v, dims…)"},
    [TILE_SPLIT] = {el_builtin_shape, 1, 1, N(AXIS), "split(v, axis = -1)"},
    [TILE_JOIN] = {el_builtin_shape, 2, 2, N(AXIS), "join(a, b, axis = -1)"},
    [TILE_CAT] = {el_builtin_shape, 2, 2, N(AXIS), "cat(a, b, axis = 0)"},
    [TILE_GATHER] = {el_builtin_shape, 2, 2, N(AXIS), "gather(v, index, axis = 0)"},
    [TILE_DOT] = {el_builtin_dot, 2, 3, N(PRECISION), "dot(a, b, acc, precision = ieee)"},
    [TILE_MIN] = REDUCTION(min, 2),
    [TILE_MAX] = REDUCTION(max, 2),
    [TILE_SUM] = REDUCTION(sum, 1),
    [TILE_PROD] = REDUCTION(prod, 1),
    [TILE_ARGMIN] = REDUCTION(argmin, 1),
    [TILE_ARGMAX] = REDUCTION(argmax, 1),
    [TILE_ANY] = REDUCTION(any, 1),
    [TILE_ALL] = REDUCTION(all, 1),
    [TILE_REDUCE] = {el_builtin_reduce, 2, 2, N(AXIS) | N(KEEP) | N(WHERE),
                     "reduce(v, f, axis = 0, keep = true, where = mask), reduce((a, b), f, …)"},
    [TILE_SCAN] = {el_builtin_scan, 2, 2, N(AXIS) | N(REVERSE) | N(EXCLUSIVE),
                   "scan(v, f, axis = 0, reverse = true, exclusive = true), scan((a, b), f, …)"},
    [TILE_CUMSUM] = {el_builtin_scan, 1, 1, N(AXIS) | N(REVERSE) | N(EXCLUSIVE),
                     "cumsum(v, axis = 0, reverse = true, exclusive = true)"},
    [TILE_CUMPROD] = {el_builtin_scan, 1, 1, N(AXIS) | N(REVERSE) | N(EXCLUSIVE),
                      "cumprod(v, axis = 0, reverse = true, exclusive = true)"},
    [TILE_SORT] = {el_builtin_scan, 1, 1, N(AXIS) | N(DESCENDING),
                   "sort(v, axis = 0, descending = true), sort((key, v), …)"},
    [TILE_TOPK] = {el_builtin_scan, 2, 2, N(AXIS), "topk(v, K, axis = 0)"},
    [TILE_HISTOGRAM] = {el_builtin_scan, 2, 2, N(WHERE), "histogram(v, bins, where = mask)"},
    [TILE_RANDOM] = {el_builtin_scan, 2, 2, 0, "random(seed, offset)"},
    [TILE_RANDOM4] = {el_builtin_scan, 2, 2, 0, "random4(seed, offset)"},
    [TILE_INSIDE] = {el_builtin_memory, 1, 1, 0, "inside(x[…])"},
    [TILE_LOAD] = {el_builtin_memory, 1, 2, N(EVICT) | N(CACHE),
                   "load(p, ok, evict = first), load(x[…], cache = stream)"},
    [TILE_STORE] = {el_builtin_memory, 2, 3, N(EVICT) | N(CACHE),
                    "store(p, v, ok, evict = first), store(x[…], v, ok, cache = stream)"},
    [TILE_ATOMIC_LOAD] = {el_builtin_memory, 1, 2, N(ORDER) | N(SCOPE),
                          "atomic_load(p, ok, order = relaxed, scope = device), "
                          "atomic_load(x[…], ok, …)"},
    [TILE_ATOMIC_STORE] = ATOMIC(atomic_store),
    [TILE_ATOMIC_ADD] = ATOMIC(atomic_add),
    [TILE_ATOMIC_SUB] = ATOMIC(atomic_sub),
    [TILE_ATOMIC_AND] = ATOMIC(atomic_and),
    [TILE_ATOMIC_OR] = ATOMIC(atomic_or),
    [TILE_ATOMIC_XOR] = ATOMIC(atomic_xor),
    [TILE_ATOMIC_MIN] = ATOMIC(atomic_min),
    [TILE_ATOMIC_MAX] = ATOMIC(atomic_max),
    [TILE_ATOMIC_XCHG] = ATOMIC(atomic_xchg),
    [TILE_ATOMIC_CAS] = {el_builtin_memory, 3, 4, N(ORDER) | N(SCOPE),
                         "atomic_cas(p, expected, v, ok, order = relaxed, scope = device), "
                         "atomic_cas(x[…], expected, v, ok, …)"},
    [TILE_ASSERT] = {el_builtin_effect, 1, 2, 0, "assert(c, \"text\")"},
    [TILE_ASSUME] = {el_builtin_effect, 1, 1, 0, "assume(c)"},
    [TILE_STATIC_ASSERT] = {el_builtin_effect, 1, 2, 0, "static_assert(c, \"text\")"},
    [TILE_NOALIAS] = {el_builtin_effect, 2, 2, 0, "noalias(a, b)"},
    [TILE_PRINT] = {NULL, 0, 0, 0, "print(\"text\", v, …)"},
};

static const char *const named_texts[NAMED_COUNT] = {
    "axis",      "keep",  "where", "reverse",  "exclusive", "descending",
    "precision", "order", "scope", "saturate", "evict",     "cache",
};

// ---- arguments

static bool args_wrong(Elab *e, Span span, const char *signature, const char *text) {
    el_error(e, span, DIAG_ARGUMENTS, "%s", text);
    el_help(e, "it is called as %s", signature);
    return false;
}

static bool args_named(Elab *e, const Ast *arg, const char *name, unsigned allowed,
                       const char *signature, Args *a) {
    for (int i = 0; i < NAMED_COUNT; i++) {
        if (!str_equal(str(arg->name), str(named_texts[i])) || !(allowed & (1u << i))) continue;
        if (a->named[i]) {
            const char *text = arena_printf(e->scratch, "'%s' is given twice", arg->name);
            return args_wrong(e, arg->span, signature, text);
        }
        a->named[i] = arg->a;
        return true;
    }
    const char *text =
        arena_printf(e->scratch, "'%s' takes no argument named '%s'", name, arg->name);
    return args_wrong(e, arg->span, signature, text);
}

bool el_args(Elab *e, const Ast *call, const char *name, uint32_t min, uint32_t max, unsigned named,
             const char *signature, Args *a) {
    *a = (Args){.call = call, .name = name};
    uint32_t count = 0;
    bool good = true;
    for (const Ast *arg = call->list; arg; arg = arg->next) {
        if (arg->kind == AST_NAMED) {
            good = args_named(e, arg, name, named, signature, a) && good;
        } else {
            if (count < EL_POSITIONAL) a->at[count] = arg;
            count++;
        }
    }
    a->count = count;
    if (count >= min && count <= max) return good;
    const char *expected = min == max    ? arena_printf(e->scratch, "%u", min)
                           : max == MANY ? arena_printf(e->scratch, "at least %u", min)
                                         : arena_printf(e->scratch, "%u or %u", min, max);
    const char *text = arena_printf(e->scratch, "'%s' takes %s argument%s, %u given", name,
                                    expected, max == 1 ? "" : "s", count);
    return args_wrong(e, call->span, signature, text);
}

bool el_named_bool(Elab *e, const Args *a, Named name, bool *value) {
    if (!a->named[name]) return true;
    const char *what = arena_printf(e->scratch, "'%s'", named_texts[name]);
    return el_const_bool(e, a->named[name], what, value);
}

bool el_named_axis(Elab *e, const Args *a, uint32_t rank, uint32_t *axis, bool *given) {
    *given = a->named[NAMED_AXIS] != NULL;
    if (!*given) return true;
    Int128 value;
    TRY(el_const_int(e, a->named[NAMED_AXIS], "'axis'", &value));
    if (value < -(Int128)rank || value >= rank) {
        el_error(e, a->named[NAMED_AXIS]->span, DIAG_SHAPE,
                 "axis %s is outside of a tile of rank %u", el_wide_text(e, value), rank);
        if (rank) el_help(e, "axes count from 0 to %u, or back from -1 to -%u", rank - 1, rank);
        return false;
    }
    *axis = (uint32_t)(value < 0 ? value + rank : value);
    return true;
}

bool el_named_word(Elab *e, const Args *a, Named name, IrAttrKind kind, const char *expected,
                   int64_t *value) {
    const Ast *word = a->named[name];
    if (!word) return true;
    if (word->kind == AST_NAME && word->name && ir_enum_from_text(kind, str(word->name), value))
        return true;
    el_error(e, word->span, DIAG_ARGUMENTS, "'%s' must be %s", named_texts[name], expected);
    return false;
}

bool el_named_choice(Elab *e, const Args *a, Named name, IrAttrKind kind, const char *expected,
                     unsigned allowed, int64_t *value) {
    const Ast *word = a->named[name];
    TRY(el_named_word(e, a, name, kind, expected, value));
    if (!word || (allowed >> *value & 1)) return true;
    el_error(e, word->span, DIAG_ARGUMENTS, "expected %s for '%s' of '%s'", expected,
             named_texts[name], a->name);
    return false;
}

bool el_dims(Elab *e, const Args *a, uint32_t first, Shape *shape) {
    *shape = (Shape){0};
    bool good = true;
    uint32_t rank = a->count - first;
    for (uint32_t i = first; i < a->count && i < EL_POSITIONAL; i++) {
        uint32_t extent = 1;
        good = el_const_extent(e, a->at[i], "a tile's extent", DIAG_SHAPE, &extent) && good;
        if (i - first < IR_MAX_RANK) shape->dims[i - first] = extent;
    }
    if (!good) return false;
    shape->rank = rank;
    return el_shape_limits(e, a->call->span, rank, shape->dims);
}

// ---- dispatch

// In requires and grid only values are allowed: there are no memory accesses, effects or programs
// yet.
static bool allowed_here(Elab *e, const Ast *call, TileBuiltin which) {
    if (which == TILE_UNITS && tile_of(e)->place != EL_IN_GRID) {
        el_error(e, call->span, DIAG_MISPLACED, "'units' is allowed only in 'grid'");
        el_help(e, "in the body, 'programs(0)' is the number of programs that the grid has");
        return false;
    }
    if (tile_of(e)->place != EL_IN_GRID && tile_of(e)->place != EL_IN_REQUIRES) return true;
    bool memory = signatures[which].emit == el_builtin_memory;
    bool effect = signatures[which].emit == el_builtin_effect && which != TILE_STATIC_ASSERT;
    bool program = which == TILE_PROGRAM || which == TILE_PROGRAMS;
    if (which == TILE_NOALIAS && tile_of(e)->place == EL_IN_REQUIRES) return true;
    if (!memory && !effect && !program && which != TILE_PRINT) return true;
    el_error(e, call->span, tile_of(e)->place == EL_IN_GRID ? DIAG_GRID : DIAG_REQUIRES,
             "'%s' can't be used in %s", tile_builtin_name(which),
             tile_of(e)->place == EL_IN_GRID ? "grid" : "requires");
    el_help(e, "extents, scalars and consts are known before the launch");
    return false;
}

Val el_call_builtin(Elab *e, const Ast *call, TileBuiltin which) {
    if ((int)which < 0 || which >= TILE_BUILTINS) return EL_POISON;
    if (!allowed_here(e, call, which)) return EL_POISON;
    if (which == TILE_PRINT) return el_builtin_print(e, call);
    const Signature *s = &signatures[which];
    Args a;
    if (!el_args(e, call, tile_builtin_name(which), s->min, s->max, s->named, s->text, &a))
        return EL_POISON;
    a.which = which;
    return s->emit(e, &a);
}
