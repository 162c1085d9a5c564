#include "tests/mutate/mutants.h"

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "tests/mutate/listing.h"
#include "tests/mutate/statements.h"

enum { APART = 128 };  // bytes that a place in shared memory is moved by

const char *mutant_kind_name(MutantKind kind) {
    static const char *const names[] = {
#define MUTANT_KIND(name, text) text,
        MUTANT_KINDS(MUTANT_KIND)
#undef MUTANT_KIND
    };
    return names[kind];
}

// The uses of a register, on any path through the kernel.
typedef enum Use {
    USE_DATA = 1,   // it comes from memory, another lane, or floats
    USE_PLACE = 2,  // it goes into an address or names a lane
    USE_GUARD = 4   // it goes into a guard
} Use;

typedef struct Maker {
    Arena *arena;
    Str text;
    Statements statements;
    Map uses;  // of registers: Use bits
    const Statement *s;
    Mutants list;
} Maker;

static bool has(Str s, const char *part) { return statement_has(s, part); }
static bool starts(Str s, const char *with) { return str_starts(s, str(with)); }

// ---- What registers are for ----

static unsigned uses_in(const Maker *m, Str s) {
    unsigned uses = 0;
    size_t at = 0;
    for (uint64_t key; (key = statement_register(s, &at)) != 0;) {
        const uint64_t *known = map_find(&m->uses, key);
        if (known) uses |= (unsigned)*known;
    }
    return uses;
}
static bool add_uses(Maker *m, Str s, unsigned uses) {
    bool more = false;
    size_t at = 0;
    for (uint64_t key; uses && (key = statement_register(s, &at)) != 0;) {
        uint64_t *known = map_at(m->arena, &m->uses, key);
        more |= (*known | uses) != *known;
        *known |= uses;
    }
    return more;
}

static bool loads(const Statement *s) {
    return starts(s->opcode, "ld") || starts(s->opcode, "atom") || starts(s->opcode, "shfl");
}
static bool brings_data(const Statement *s) {
    static const char *const floats[] = {".f16", ".bf16", ".f32", ".f64"};
    bool memory = starts(s->opcode, "ld") && !starts(s->opcode, "ld.param");
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        if (has(s->opcode, floats[i])) return true;
    return memory || starts(s->opcode, "atom") || starts(s->opcode, "shfl");
}

// Adds the facts of one statement about its registers. True: something new.
static bool flow(Maker *m, const Statement *s) {
    bool more = add_uses(m, s->guard, USE_GUARD);
    bool result = statement_has_result(s);
    unsigned from = 0, to = result ? uses_in(m, s->operands[0]) : 0;
    for (uint32_t n = result; n < s->operand_count; n++) {
        Str o = s->operands[n];
        bool place = (o.size && o.text[0] == '[') || (n == 2 && starts(s->opcode, "shfl"));
        if (place) more |= add_uses(m, o, USE_PLACE);
        from |= uses_in(m, o);
        // Through memory nothing goes on; an address is none of the data.
        if (!loads(s)) more |= add_uses(m, o, to & (USE_PLACE | USE_GUARD));
    }
    if (!result) return more;
    return add_uses(m, s->operands[0], (from & USE_DATA) | (brings_data(s) ? USE_DATA : 0)) || more;
}

static void find_uses(Maker *m) {
    for (bool more = true; more;) {
        more = false;
        for (size_t i = m->statements.count; i-- > 0;) more |= flow(m, &m->statements.data[i]);
        for (size_t i = 0; i < m->statements.count; i++) more |= flow(m, &m->statements.data[i]);
    }
}

// A coordinate: what decides where, not what.
static bool is_coordinate(const Maker *m, Str s) {
    unsigned uses = uses_in(m, s);
    return (uses & USE_PLACE) || ((uses & USE_GUARD) && !(uses & USE_DATA));
}

// ---- Making ----

static void make(Maker *m, MutantKind kind, const char *change, Str part, Str by) {
    Mutant made = {.kind = kind,
                   .change = change,
                   .opcode = m->s->opcode,
                   .line = m->s->line,
                   .begin = (size_t)(part.text - m->text.text),
                   .size = part.size,
                   .by = by};
    vec_push(m->arena, &m->list, made);
}
static void make_text(Maker *m, MutantKind kind, const char *change, Str part, const char *by) {
    make(m, kind, change, part, str(by));
}
static void drop(Maker *m, MutantKind kind) { make_text(m, kind, "gone", m->s->whole, ""); }

static void mutate_wait(Maker *m) {
    int64_t groups;
    drop(m, MUTANT_WAIT);
    if (m->s->operand_count == 1 && statement_number(m->s->operands[0], &groups))
        make_text(m, MUTANT_WAIT, "one more", m->s->operands[0],
                  arena_printf(m->arena, "%lld", (long long)groups + 1));
}

static void mutate_guard(Maker *m) {
    Str g = m->s->guard;
    bool negated = g.size > 1 && g.text[1] == '!';
    make_text(m, MUTANT_PREDICATE, "always", g, "");
    drop(m, MUTANT_PREDICATE);
    m->list.data[m->list.count - 1].change = "never";
    make_text(m, MUTANT_PREDICATE, "contrary", g,
              arena_printf(m->arena, "@%s%.*s", negated ? "" : "!", (int)g.size - 1 - negated,
                           g.text + 1 + negated));
}

// `d, a, b, …` becomes a twice, and b twice.
static void mutate_choice(Maker *m) {
    if (m->s->operand_count < 3) return;
    Str a = m->s->operands[1], b = m->s->operands[2];
    if (str_equal(a, b) || m->s->operand_count < 4 || (uses_in(m, m->s->operands[3]) & USE_DATA))
        return;
    // This constant keeps a loop's last index from overflow: no array is that long.
    if (str_equal(a, STR("-9223372036854775808"))) return;
    make(m, MUTANT_PREDICATE, "first", b, a);
    make(m, MUTANT_PREDICATE, "second", a, b);
}

static void mutate_constant(Maker *m, bool shift) {
    int64_t value;
    if (m->s->operand_count < 3) return;
    Str last = m->s->operands[m->s->operand_count - 1];
    if (!statement_number(last, &value) || !value || !is_coordinate(m, m->s->operands[0])) return;
    int64_t other = shift ? (value > 1 ? value - 1 : value + 1) : value ^ (value & -value);
    make_text(m, MUTANT_BASIS, shift ? "one off" : "without its lowest bit", last,
              arena_printf(m->arena, "%lld", (long long)other));
}

static void mutate_place(Maker *m) {
    for (uint32_t n = 0; n < m->s->operand_count; n++) {
        Str o = m->s->operands[n];
        if (!o.size || o.text[0] != '[') continue;
        Str end = {o.text + o.size - 1, 1};
        make_text(m, MUTANT_BASIS, "elsewhere", end, arena_printf(m->arena, "+%d]", APART));
        Mutant *made = &m->list.data[m->list.count - 1];
        // "[%r1+64]": the sum, for an address has one offset.
        const char *plus = memchr(o.text, '+', o.size);
        int64_t offset;
        if (plus && statement_number((Str){plus + 1, (size_t)(end.text - plus - 1)}, &offset)) {
            made->begin = (size_t)(plus - m->text.text);
            made->size = (size_t)(end.text + 1 - plus);
            made->by = str(arena_printf(m->arena, "+%lld]", (long long)offset + APART));
        }
        return;
    }
}

// Swaps the first two registers of each vector.
static void mutate_vectors(Maker *m) {
    static const char *const names[] = {"swapped in 1", "swapped in 2", "swapped in 3",
                                        "swapped in 4", "swapped in 5"};
    for (uint32_t n = 0; n < m->s->operand_count && n < 5; n++) {
        Str o = m->s->operands[n];
        if (o.size < 2 || o.text[0] != '{') continue;
        Str rest, inside = {o.text + 1, o.size - 2};
        Str a = str_cut(inside, ',', &rest), b = str_cut(rest, ',', &rest);
        if (!b.size || str_equal(statement_trim(a), statement_trim(b))) continue;
        Str both = {a.text, (size_t)(b.text + b.size - a.text)};
        make_text(m, MUTANT_FRAGMENT, names[n], both,
                  arena_printf(m->arena, "%.*s,%.*s", STR_ARG(b), STR_ARG(a)));
    }
}

static void mutate_lane(Maker *m) {
    int64_t lane;
    if (m->s->operand_count < 3 || !statement_number(m->s->operands[2], &lane)) return;
    make_text(m, MUTANT_FRAGMENT, "another lane", m->s->operands[2],
              arena_printf(m->arena, "%lld", (long long)(lane > 1 ? lane / 2 : 2)));
}

static void mutate_transposed(Maker *m) {
    Str op = m->s->opcode;
    for (size_t i = 0; i + 6 <= op.size; i++)
        if (!memcmp(op.text + i, ".trans", 6))
            make_text(m, MUTANT_FRAGMENT, "not transposed", (Str){op.text + i, 6}, "");
}

// cp.async …, 16, %r: the bytes that are read, the rest is zeros.
static void mutate_bytes(Maker *m) {
    if (m->s->operand_count < 4 || m->s->operands[3].text[0] != '%') return;
    make(m, MUTANT_PREDICATE, "always", m->s->operands[3], m->s->operands[2]);
    make_text(m, MUTANT_PREDICATE, "never", m->s->operands[3], "0");
}

static bool one_of(Str opcode, const char *const *names) {
    Str rest, first = str_cut(opcode, '.', &rest);
    for (; *names; names++)
        if (str_equal(first, str(*names))) return true;
    return false;
}

static void mutate(Maker *m) {
    static const char *const bits[] = {"and", "or", "xor", NULL}, *const shifts[] = {"shl", "shr",
                                                                                     NULL};
    Str op = m->s->opcode;
    bool barrier = starts(op, "bar.") || starts(op, "barrier.");
    if (barrier && !has(op, ".red")) drop(m, MUTANT_BARRIER);
    if (starts(op, "cp.async.wait") || starts(op, "cp.async.commit")) mutate_wait(m);
    if (starts(op, "membar") || starts(op, "fence")) drop(m, MUTANT_FENCE);
    if (m->s->guard.size) mutate_guard(m);
    if (starts(op, "selp")) mutate_choice(m);
    if (one_of(op, bits)) mutate_constant(m, false);
    if (one_of(op, shifts)) mutate_constant(m, true);
    if (has(op, ".shared")) mutate_place(m);
    if (starts(op, "mma") || starts(op, "ldmatrix") || has(op, ".v2.") || has(op, ".v4."))
        mutate_vectors(m);
    if (starts(op, "shfl")) mutate_lane(m);
    if (starts(op, "ldmatrix")) mutate_transposed(m);
    if (starts(op, "cp.async.c") && !starts(op, "cp.async.commit")) mutate_bytes(m);
}

// ---- The whole ----

Mutants mutants_of(Arena *arena, Str text) {
    if (str_starts(text, STR(LISTING_BEGIN))) return mutants_of_listing(arena, text);
    Maker m = {.arena = arena, .text = text, .statements = statements_of(arena, text)};
    find_uses(&m);
    for (size_t i = 0; i < m.statements.count; i++) {
        m.s = &m.statements.data[i];
        mutate(&m);
    }
    return m.list;
}

Str mutant_text(Arena *arena, Str text, const Mutant *m) {
    StrBuf b = strbuf(arena);
    strbuf_add(&b, (Str){text.text, m->begin});
    strbuf_add(&b, m->by);
    strbuf_add(&b, (Str){text.text + m->begin + m->size, text.size - m->begin - m->size});
    return strbuf_str(&b);
}
