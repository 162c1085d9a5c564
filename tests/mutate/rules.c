#include "tests/mutate/rules.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool in_name(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '%' || c == '$';
}
static bool blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static Str trim(Str s) {
    while (s.size && blank(s.text[0])) s.text++, s.size--;
    while (s.size && blank(s.text[s.size - 1])) s.size--;
    return s;
}

// The place of the n-th mention of a register in the text, not as a part of a longer name;
// text.size: there is none.
static size_t mention(Str text, Str name, size_t n) {
    for (size_t i = 0; i + name.size <= text.size; i++) {
        if (memcmp(text.text + i, name.text, name.size) != 0) continue;
        bool alone = (!i || !in_name(text.text[i - 1])) &&
                     (i + name.size == text.size || !in_name(text.text[i + name.size]));
        if (alone && n-- == 0) return i;
    }
    return text.size;
}

// The statement around a place, without its semicolon.
static Str statement_at(Str text, size_t at) {
    size_t begin = at, end = at;
    while (begin && !strchr(";\n", text.text[begin - 1])) begin--;
    while (end < text.size && text.text[end] != ';') end++;
    return trim((Str){text.text + begin, end - begin});
}

static bool commutes(Str opcode) {
    static const char *const kinds[] = {"add", "mul", "min", "max", "and", "or", "xor"};
    Str rest, kind = str_cut(opcode, '.', &rest);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_equal(kind, str(kinds[i]))) return true;
    return false;
}

// "op d, a, b", a and b in any order, without a guard.
static bool combines(Str statement, Str a, Str b) {
    size_t n = 0;
    while (n < statement.size && !blank(statement.text[n])) n++;
    Str rest, last;
    Str operands = {statement.text + n, statement.size - n};
    str_cut(operands, ',', &rest);
    Str first = trim(str_cut(rest, ',', &last));
    last = trim(last);
    bool both =
        (str_equal(first, a) && str_equal(last, b)) || (str_equal(first, b) && str_equal(last, a));
    return both && commutes((Str){statement.text, n});
}

// Of the text that a mutant replaces: "%r1, %r2".
static bool pair_of(Str text, const Mutant *m, Str *a, Str *b) {
    *a = trim(str_cut((Str){text.text + m->begin, m->size}, ',', b));
    *b = trim(*b);
    return a->size && b->size;
}

static bool is_commutative(Str text, const Mutant *m) {
    Str a, b;
    bool load = str_starts(m->opcode, STR("ld."));
    if (m->kind != MUTANT_FRAGMENT || !load || strcmp(m->change, "swapped in 1") != 0) return false;
    if (!pair_of(text, m, &a, &b)) return false;
    // Their declaration is a range ("%r<9>"), which mentions neither.
    if (mention(text, a, 2) < text.size || mention(text, b, 2) < text.size) return false;
    size_t use = mention(text, a, 1), other = mention(text, b, 1);
    if (use == text.size || other == text.size) return false;
    Str user = statement_at(text, use);
    return user.text == statement_at(text, other).text && combines(user, a, b);
}

const char *rules_excuse(Arena *arena, Str text, const Mutant *m) {
    (void)arena;
    return is_commutative(text, m) ? "commutative" : NULL;
}

// ---- what the rules must and must not excuse ----------------------------------------------------

typedef struct Case {
    const char *body;
    bool excused;
} Case;

#define PAIR "\tld.shared.v2.b32 {%r1, %r2}, [%r9];\n"

static const Case cases[] = {
    {PAIR "\tadd.rn.f32 %r3, %r1, %r2;\n\tst.shared.b32 [%r9], %r3;\n", true},
    {PAIR "\tmax.NaN.f32 %r3, %r2, %r1;\n\tst.shared.b32 [%r9], %r3;\n", true},
    {PAIR "\tsub.rn.f32 %r3, %r1, %r2;\n\tst.shared.b32 [%r9], %r3;\n", false},
    {PAIR "\tfma.rn.f32 %r3, %r1, %r2, %r1;\n\tst.shared.b32 [%r9], %r3;\n", false},
    {PAIR "\tadd.rn.f32 %r3, %r1, %r2;\n\tst.shared.b32 [%r9], %r1;\n", false},
    {PAIR "\tadd.rn.f32 %r3, %r4, %r1;\n\tadd.rn.f32 %r5, %r3, %r2;\n", false},
    {PAIR "\t@%p1 add.rn.f32 %r3, %r1, %r2;\n", false},
    {PAIR "\tst.shared.v2.b32 [%r9+8], {%r1, %r2};\n", false},
    {PAIR "\tadd.rn.f32 %r3, %r1, %r12;\n\tadd.rn.f32 %r5, %r3, %r2;\n", false},
};

static const char *fail(Arena *arena, const Case *c) {
    Str text = str(arena_printf(arena, ".entry k()\n{\n%s\tret;\n}\n", c->body));
    Mutants list = mutants_of(arena, text);
    for (size_t i = 0; i < list.count; i++) {
        const Mutant *m = &list.data[i];
        bool swap = m->kind == MUTANT_FRAGMENT && str_starts(m->opcode, STR("ld."));
        if ((rules_excuse(arena, text, m) != NULL) != (swap && c->excused))
            return arena_printf(arena, "%.*s %s: %sexcused in\n%s", STR_ARG(m->opcode), m->change,
                                c->excused ? "not " : "", c->body);
    }
    return list.count ? NULL : "no mutants";
}

const char *rules_fail(Arena *arena) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *wrong = fail(arena, &cases[i]);
        if (wrong) return wrong;
    }
    return NULL;
}
