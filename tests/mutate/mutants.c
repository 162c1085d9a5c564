#include "tests/mutate/mutants.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

enum { OPERANDS_MAX = 8, APART = 128 };  // bytes that a place in shared memory is moved by

const char *mutant_kind_name(MutantKind kind) {
    static const char *const names[] = {
#define MUTANT_KIND(name, text) text,
        MUTANT_KINDS(MUTANT_KIND)
#undef MUTANT_KIND
    };
    return names[kind];
}

// One statement: "@%p1 add.s32 %r1, %r2, 3;" over one line or several.
typedef struct Statement {
    Str whole;  // with the semicolon
    Str guard;  // "@%p1", "@!%p1", or empty
    Str opcode;
    Str rest;  // operands, without the semicolon
    Str operands[OPERANDS_MAX];
    uint32_t operand_count;
    uint32_t line;
} Statement;

// What a register is for, by any way through the kernel.
typedef enum Use {
    USE_DATA = 1,   // it comes from memory, another lane, or floats
    USE_PLACE = 2,  // it goes into an address or names a lane
    USE_GUARD = 4   // it goes into a guard
} Use;

typedef struct Maker {
    Arena *arena;
    Str text;
    VEC(Statement) statements;
    Map uses;  // of registers: Use bits
    const Statement *s;
    Mutants list;
} Maker;

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static Str trimmed(Str s) {
    while (s.size && is_space(s.text[0])) s.text++, s.size--;
    while (s.size && is_space(s.text[s.size - 1])) s.size--;
    return s;
}
static Str word(Str *s) {
    *s = trimmed(*s);
    size_t n = 0;
    while (n < s->size && !is_space(s->text[n])) n++;
    Str first = {s->text, n};
    *s = trimmed((Str){s->text + n, s->size - n});
    return first;
}
static bool has(Str s, const char *part) {
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= s.size; i++)
        if (!memcmp(s.text + i, part, n)) return true;
    return false;
}
static bool starts(Str s, const char *with) { return str_starts(s, str(with)); }

// Operands apart at commas outside of brackets and braces.
static void split(Statement *s) {
    size_t from = 0;
    int depth = 0;
    for (size_t i = 0; i <= s->rest.size; i++) {
        char c = i < s->rest.size ? s->rest.text[i] : ',';
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (c != ',' || depth || s->operand_count == OPERANDS_MAX) continue;
        s->operands[s->operand_count++] = trimmed((Str){s->rest.text + from, i - from});
        from = i + 1;
    }
}

static Statement parse(Str whole, uint32_t line) {
    Statement s = {.whole = whole, .line = line};
    Str rest = {whole.text, whole.size - 1};
    if (rest.size && rest.text[0] == '@') s.guard = word(&rest);
    s.opcode = word(&rest);
    s.rest = rest;
    if (rest.size) split(&s);
    return s;
}

// ---- What registers are for ----

// The next register of the text from *at on: a key, 0: none.
static uint64_t next_register(Str s, size_t *at) {
    while (*at < s.size && s.text[*at] != '%') ++*at;
    if (*at >= s.size) return 0;
    uint64_t letters = 0, digits = 0;
    for (++*at; *at < s.size && (isalnum((unsigned char)s.text[*at]) || s.text[*at] == '_');
         ++*at) {
        char c = s.text[*at];
        if (isdigit((unsigned char)c))
            digits = digits * 10 + (uint64_t)(c - '0');
        else
            letters = letters * 31 + (uint64_t)(unsigned char)c;
    }
    return letters << 32 | (digits & UINT32_MAX);
}

static unsigned uses_in(const Maker *m, Str s) {
    unsigned uses = 0;
    size_t at = 0;
    for (uint64_t key; (key = next_register(s, &at)) != 0;) {
        const uint64_t *known = map_find(&m->uses, key);
        if (known) uses |= (unsigned)*known;
    }
    return uses;
}
static bool add_uses(Maker *m, Str s, unsigned uses) {
    bool more = false;
    size_t at = 0;
    for (uint64_t key; uses && (key = next_register(s, &at)) != 0;) {
        uint64_t *known = map_at(m->arena, &m->uses, key);
        more |= (*known | uses) != *known;
        *known |= uses;
    }
    return more;
}

static bool has_result(const Statement *s) {
    static const char *const without[] = {"st.",   "red.", "bra",  "bar",  "cp.",      "membar",
                                          "fence", "ret",  "exit", "trap", "stmatrix", "prefetch"};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (starts(s->opcode, without[i])) return false;
    return s->operand_count > 1;
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

// What one statement says of its registers. True: something new.
static bool flow(Maker *m, const Statement *s) {
    bool more = add_uses(m, s->guard, USE_GUARD);
    bool result = has_result(s);
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

static bool number(Str s, int64_t *value) {
    char text[32], *end;
    if (!s.size || s.size >= sizeof text) return false;
    memcpy(text, s.text, s.size);
    text[s.size] = 0;
    *value = strtoll(text, &end, 0);
    return !*end;
}

static void mutate_wait(Maker *m) {
    int64_t groups;
    drop(m, MUTANT_WAIT);
    if (m->s->operand_count == 1 && number(m->s->operands[0], &groups))
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

// Of `d, a, b, …`: a twice, and b twice.
static void mutate_choice(Maker *m) {
    if (m->s->operand_count < 3) return;
    Str a = m->s->operands[1], b = m->s->operands[2];
    if (str_equal(a, b) || m->s->operand_count < 4 || (uses_in(m, m->s->operands[3]) & USE_DATA))
        return;
    // What keeps a loop's last index from overflow: no array is as long.
    if (str_equal(a, STR("-9223372036854775808"))) return;
    make(m, MUTANT_PREDICATE, "first", b, a);
    make(m, MUTANT_PREDICATE, "second", a, b);
}

static void mutate_constant(Maker *m, bool shift) {
    int64_t value;
    if (m->s->operand_count < 3) return;
    Str last = m->s->operands[m->s->operand_count - 1];
    if (!number(last, &value) || !value || !is_coordinate(m, m->s->operands[0])) return;
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
        if (plus && number((Str){plus + 1, (size_t)(end.text - plus - 1)}, &offset)) {
            made->begin = (size_t)(plus - m->text.text);
            made->size = (size_t)(end.text + 1 - plus);
            made->by = str(arena_printf(m->arena, "+%lld]", (long long)offset + APART));
        }
        return;
    }
}

// The first two registers of each vector change places.
static void mutate_vectors(Maker *m) {
    static const char *const names[] = {"swapped in 1", "swapped in 2", "swapped in 3",
                                        "swapped in 4", "swapped in 5"};
    for (uint32_t n = 0; n < m->s->operand_count && n < 5; n++) {
        Str o = m->s->operands[n];
        if (o.size < 2 || o.text[0] != '{') continue;
        Str rest, inside = {o.text + 1, o.size - 2};
        Str a = str_cut(inside, ',', &rest), b = str_cut(rest, ',', &rest);
        if (!b.size || str_equal(trimmed(a), trimmed(b))) continue;
        Str both = {a.text, (size_t)(b.text + b.size - a.text)};
        make_text(m, MUTANT_FRAGMENT, names[n], both,
                  arena_printf(m->arena, "%.*s,%.*s", STR_ARG(b), STR_ARG(a)));
    }
}

static void mutate_lane(Maker *m) {
    int64_t lane;
    if (m->s->operand_count < 3 || !number(m->s->operands[2], &lane)) return;
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

// ---- The text ----

static uint32_t loc_line(Str line, uint32_t before) {
    uint64_t value;
    Str rest = line;
    if (!str_equal(word(&rest), STR(".loc"))) return before;
    word(&rest);
    return str_to_u64(word(&rest), &value, NULL) ? (uint32_t)value : before;
}

// What begins so is no instruction: directives, labels, comments, scopes.
static bool begins_statement(Str line) {
    return line.size && !strchr("./${})(", line.text[0]) && line.text[line.size - 1] != ':';
}

Mutants mutants_of(Arena *arena, Str text) {
    Maker m = {.arena = arena, .text = text};
    uint32_t source_line = 0;
    bool body = false;
    for (size_t at = 0; at < text.size;) {
        const char *newline = memchr(text.text + at, '\n', text.size - at);
        size_t end = newline ? (size_t)(newline - text.text) : text.size;
        Str line = trimmed((Str){text.text + at, end - at});
        at = end + 1;
        source_line = loc_line(line, source_line);
        if (line.size == 1 && (line.text[0] == '{' || line.text[0] == '}'))
            body = line.text[0] == '{';
        if (!body || !begins_statement(line)) continue;
        size_t left = text.size - (size_t)(line.text - text.text);
        const char *stop = memchr(line.text, ';', left);
        if (!stop) break;
        Statement s = parse((Str){line.text, (size_t)(stop + 1 - line.text)}, source_line);
        vec_push(arena, &m.statements, s);
        at = (size_t)(stop + 1 - text.text);  // there may be another one on the line
    }
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
