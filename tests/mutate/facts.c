#include "tests/mutate/facts.h"

typedef struct Reader {
    Arena *arena;
    const MetaKernel *meta;
    const LaunchCode *code;
    Facts facts;
} Reader;

static void add(Reader *r, uint32_t offset, uint64_t zeros) {
    Fact fact = {offset, zeros};
    vec_push(r->arena, &r->facts, fact);
}

static uint32_t extent_offset(const MetaArg *arg, uint32_t d) { return arg->offset + 8 + 8 * d; }

static void extent_has(Reader *r, uint32_t arg, uint32_t d, uint64_t zeros) {
    const MetaArg *own = &r->meta->args[arg];
    int32_t name = own->dims[d].extent;
    if (name < 0) add(r, extent_offset(own, d), zeros);
    for (uint32_t i = 0; name >= 0 && i < r->meta->arg_count; i++)
        for (uint32_t k = 0; k < r->meta->args[i].rank; k++)
            if (r->meta->args[i].dims[k].extent == name)
                add(r, extent_offset(&r->meta->args[i], k), zeros);
}

// The bits of value n are 0: so they are in each part of an `or`.
static void is_zero(Reader *r, uint32_t n, uint64_t zeros) {
    const LaunchInstr *i = &r->code->code[n];
    if (i->op == LAUNCH_OR) is_zero(r, i->a, zeros), is_zero(r, i->b, zeros);
    if (i->op == LAUNCH_ARG_EXTENT) extent_has(r, i->a, i->b, zeros);
    if (i->op == LAUNCH_ARG_ADDRESS) add(r, r->meta->args[i->a].offset, zeros);
}

static bool constant(const Reader *r, uint32_t n, uint64_t *value) {
    *value = r->code->code[n].imm;
    return r->code->code[n].op == LAUNCH_CONST;
}

static void holds(Reader *r, uint32_t n) {
    const LaunchInstr *i = &r->code->code[n], *x = &r->code->code[i->a];
    uint64_t zero, bits;
    if (i->op == LAUNCH_AND) holds(r, i->a), holds(r, i->b);
    if (i->op != LAUNCH_EQ || !constant(r, i->b, &zero) || zero) return;
    bool two = x->op == LAUNCH_AND || x->op == LAUNCH_REM;
    if (!two || !constant(r, x->b, &bits)) return;
    if (x->op == LAUNCH_AND) is_zero(r, x->a, bits);
    if (x->op == LAUNCH_REM && bits && !(bits & (bits - 1))) is_zero(r, x->a, bits - 1);
}

Facts facts_of(Arena *arena, const MetaKernel *meta, uint32_t variant) {
    const MetaVariant *v = &meta->variants[variant];
    Reader r = {.arena = arena, .meta = meta, .code = &v->code};
    if (v->guard != META_NO_VALUE) holds(&r, (uint32_t)v->guard);
    for (uint32_t i = 0; i < v->requires_count; i++) holds(&r, v->requires[i].value);
    return r.facts;
}

uint64_t facts_zeros(const Facts *facts, uint32_t offset) {
    uint64_t zeros = 0;
    for (size_t i = 0; i < facts->count; i++)
        if (facts->data[i].offset == offset) zeros |= facts->data[i].zeros;
    return zeros;
}

// ---- what it must and must not find -------------------------------------------------------------

#define ROW(name, ...) \
    { .op = LAUNCH_##name, .dtype = DTYPE_I64, __VA_ARGS__ }

// (N & 15) == 0 && ((p | q) & 7) == 0 && (M & 3 == 0 || M % 32 == 0) && K % 8 == 0, of which the
// third says nothing of M.
static const LaunchInstr guard_code[] = {
    ROW(ARG_EXTENT, .a = 0, .b = 1),
    ROW(CONST, .imm = 15),
    ROW(AND, .a = 0, .b = 1),
    ROW(CONST, .imm = 0),
    ROW(EQ, .a = 2, .b = 3),
    ROW(ARG_ADDRESS, .a = 0),
    ROW(ARG_ADDRESS, .a = 1),
    ROW(OR, .a = 5, .b = 6),
    ROW(CONST, .imm = 7),
    ROW(AND, .a = 7, .b = 8),
    ROW(EQ, .a = 9, .b = 3),
    ROW(AND, .a = 4, .b = 10),
    ROW(ARG_EXTENT, .a = 0, .b = 0),
    ROW(CONST, .imm = 3),
    ROW(AND, .a = 12, .b = 13),
    ROW(EQ, .a = 14, .b = 3),
    ROW(CONST, .imm = 32),
    ROW(REM, .a = 12, .b = 16),
    ROW(EQ, .a = 17, .b = 3),
    ROW(OR, .a = 15, .b = 18),
    ROW(AND, .a = 11, .b = 19),
    ROW(ARG_EXTENT, .a = 1, .b = 1),
    ROW(CONST, .imm = 8),
    ROW(REM, .a = 21, .b = 22),
    ROW(EQ, .a = 23, .b = 3),
    ROW(AND, .a = 20, .b = 24),
};

const char *facts_fail(Arena *arena) {
    // x[M, N] at byte 0, y[N, K] at byte 24.
    const MetaArg args[] = {
        {.kind = META_VIEW, .rank = 2, .dims = {{.extent = 0}, {.extent = 1}}},
        {.kind = META_VIEW, .rank = 2, .dims = {{.extent = 1}, {.extent = 2}}, .offset = 24}};
    enum { ALL = sizeof guard_code / sizeof *guard_code };
    static const uint64_t wanted[] = {7, 0, 15, 7, 15, 7};
    for (int64_t guard = META_NO_VALUE; guard < ALL; guard += ALL) {
        const MetaVariant variant = {.code = {ALL, guard_code}, .guard = guard};
        const MetaKernel meta = {
            .arg_count = 2, .args = args, .variant_count = 1, .variants = &variant};
        Facts facts = facts_of(arena, &meta, 0);
        for (uint32_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
            if (facts_zeros(&facts, 8 * i) != (guard < 0 ? 0 : wanted[i]))
                return arena_printf(arena, "the word at byte %u has zeros %llx", 8 * i,
                                    (unsigned long long)facts_zeros(&facts, 8 * i));
    }
    return NULL;
}
