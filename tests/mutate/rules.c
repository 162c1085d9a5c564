#include "tests/mutate/rules.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tests/mutate/barriers.h"
#include "tests/mutate/bits.h"
#include "tests/mutate/branches.h"
#include "tests/mutate/copies.h"
#include "tests/mutate/counters.h"
#include "tests/mutate/listing.h"
#include "tests/mutate/waits.h"

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

// The two registers in the text that a mutant replaces: "%r1, %r2".
static bool pair_of(Str text, const Mutant *m, Str *a, Str *b) {
    *a = trim(str_cut((Str){text.text + m->begin, m->size}, ',', b));
    *b = trim(*b);
    return a->size && b->size;
}

// The one statement that reads a register which is defined once. Its declaration is a range
// ("%r<9>"), which does not mention it.
static bool only_user(Str text, Str name, Str *user) {
    if (mention(text, name, 2) < text.size) return false;
    size_t use = mention(text, name, 1);
    if (use == text.size) return false;
    *user = statement_at(text, use);
    return true;
}

// "op d, a" and "op d, a, 16" of both: what they make of a and b in the same way.
static bool follow(Str user, Str other, Str *a, Str *b) {
    Statement x = statement_parse(user), y = statement_parse(other);
    bool alike = str_equal(x.opcode, y.opcode) && x.operand_count == y.operand_count &&
                 !x.guard.size && !y.guard.size && x.operand_count > 1 &&
                 statement_has_result(&x) && x.operands[0].text[0] == '%';
    if (!alike || !str_equal(x.operands[1], *a) || !str_equal(y.operands[1], *b)) return false;
    for (uint32_t n = 2; n < x.operand_count; n++)
        if (!str_equal(x.operands[n], y.operands[n]) || x.operands[n].text[0] == '%') return false;
    *a = x.operands[0], *b = y.operands[0];
    return true;
}

static bool is_commutative(Str text, const Mutant *m) {
    enum { STEPS = 8 };
    Str a, b, user, other;
    bool load = str_starts(m->opcode, STR("ld."));
    if (m->kind != MUTANT_FRAGMENT || !load || strcmp(m->change, "swapped in 1") != 0) return false;
    if (!pair_of(text, m, &a, &b)) return false;
    for (int i = 0; i < STEPS; i++) {
        if (!only_user(text, a, &user) || !only_user(text, b, &other)) return false;
        if (user.text == other.text) return combines(user, a, b);
        if (!follow(user, other, &a, &b)) return false;
    }
    return false;
}

static bool is_other_copy(Arena *arena, Str text, const Mutant *m) {
    if (m->kind != MUTANT_PREDICATE || strcmp(m->change, "contrary") != 0) return false;
    return copies_store(copies_of(arena, text), text.text + m->begin);
}

static bool is_equal_copy(Arena *arena, Str text, const Mutant *m) {
    if (m->kind != MUTANT_BASIS) return false;
    return copies_read(copies_of(arena, text), copies_of(arena, mutant_text(arena, text, m)));
}

// The statement that a mutant changes.
static const Statement *changed_statement(const Statements *list, Str text, const Mutant *m) {
    for (size_t i = 0; i < list->count; i++) {
        Str whole = list->data[i].whole;
        size_t begin = (size_t)(whole.text - text.text);
        if (begin <= m->begin && m->begin + m->size <= begin + whole.size) return &list->data[i];
    }
    return NULL;
}

static bool is_known_bit(Arena *arena, Str text, const Mutant *m, const Facts *facts) {
    int64_t before, after;
    if (m->kind != MUTANT_BASIS || !str_starts(m->opcode, STR("and."))) return false;
    Statements list = statements_of(arena, text);
    const Statement *s = changed_statement(&list, text, m);
    if (!s || !statement_number((Str){text.text + m->begin, m->size}, &before)) return false;
    if (!statement_number(m->by, &after) || s->operand_count != 3) return false;
    Bits bits = {&list, facts, 0};
    uint64_t other = (uint64_t)before ^ (uint64_t)after;
    return s->operands[2].text == text.text + m->begin &&
           !(other & ~bits_zeros(&bits, s->operands[1]));
}

const char *rules_excuse(Arena *arena, Str text, const Mutant *m, const Facts *facts) {
    if (str_starts(text, STR(LISTING_BEGIN))) {
        const char *why = waits_excuse(arena, text, m);
        if (!why) why = barriers_excuse(arena, text, m);
        if (!why) why = branches_excuse(arena, text, m);
        if (!why) why = counters_excuse(arena, text, m);
        return why;
    }
    if (is_known_bit(arena, text, m, facts)) return "known bit";
    if (is_commutative(text, m)) return "commutative";
    if (is_other_copy(arena, text, m)) return "other copy";
    return is_equal_copy(arena, text, m) ? "equal copy" : NULL;
}

// ---- what the rules must and must not excuse ----------------------------------------------------

// The rule must excuse each mutant whose change is `change`, and no rule any other.
typedef struct Case {
    const char *rule, *change;  // NULL: of all mutants none
    const char *body;
} Case;
// The facts of all their launches: the word at byte 8 is a multiple of 16.
static Fact case_fact = {8, 15};
static const Facts case_facts = {&case_fact, 1, 1};

#define PAIR "\tld.shared.v2.b32 {%r1, %r2}, [%r9];\n"
#define SWAP "commutative", "swapped in 1"
#define OTHER "other copy", "contrary"
#define EQUAL "equal copy", "without its lowest bit"
#define KNOWN "known bit", "without its lowest bit"
#define NONE NULL, NULL
// %r1: the thread's number, %r2 and %r3: what two threads 64 apart share, as a number and a place;
// %r4: its own place.
#define HALVES                    \
    "\tmov.u32 %r1, %tid.x;\n"    \
    "\tbfe.u32 %r2, %r1, 0, 6;\n" \
    "\tadd.s32 %r3, %r2, %r2;\n"  \
    "\tadd.s32 %r4, %r1, %r1;\n"  \
    "\tsetp.lt.u32 %p1, %r1, 64;\n"

#define ROWS(at) "\tld.param.b64 %rd1, [k_param_0+" at "];\n"
#define FAR "\tld.global.b32 %r9, [%rd3];\n\tst.global.b32 [%rd4], %r9;\n"

static const Case cases[] = {
    {SWAP, PAIR "\tadd.rn.f32 %r3, %r1, %r2;\n\tst.shared.b32 [%r9], %r3;\n"},
    {SWAP, PAIR "\tmax.NaN.f32 %r3, %r2, %r1;\n\tst.shared.b32 [%r9], %r3;\n"},
    {SWAP, PAIR "\tshl.b32 %r5, %r1, 16;\n\tshl.b32 %r6, %r2, 16;\n"
                "\tmax.NaN.f32 %r3, %r5, %r6;\n\tst.shared.b32 [%r9], %r3;\n"},
    {NONE, PAIR "\tshl.b32 %r5, %r1, 16;\n\tshl.b32 %r6, %r2, 8;\n"
                "\tmax.NaN.f32 %r3, %r5, %r6;\n\tst.shared.b32 [%r9], %r3;\n"},
    {NONE, PAIR "\tneg.f32 %r5, %r1;\n\tneg.f32 %r6, %r2;\n\tst.shared.b32 [%r9+4], %r5;\n"
                "\tmax.NaN.f32 %r3, %r5, %r6;\n\tst.shared.b32 [%r9], %r3;\n"},
    {NONE, PAIR "\tsub.rn.f32 %r3, %r1, %r2;\n\tst.shared.b32 [%r9], %r3;\n"},
    {NONE, PAIR "\tfma.rn.f32 %r3, %r1, %r2, %r1;\n\tst.shared.b32 [%r9], %r3;\n"},
    {NONE, PAIR "\tadd.rn.f32 %r3, %r1, %r2;\n\tst.shared.b32 [%r9], %r1;\n"},
    {NONE, PAIR "\tadd.rn.f32 %r3, %r4, %r1;\n\tadd.rn.f32 %r5, %r3, %r2;\n"},
    {NONE, PAIR "\t@%p1 add.rn.f32 %r3, %r1, %r2;\n"},
    {NONE, PAIR "\tst.shared.v2.b32 [%r9+8], {%r1, %r2};\n"},
    {NONE, PAIR "\tadd.rn.f32 %r3, %r1, %r12;\n\tadd.rn.f32 %r5, %r3, %r2;\n"},
    {OTHER, HALVES "\t@%p1 st.shared.b16 [%r3], %r2;\n\tbar.sync 0;\n"},
    {OTHER, HALVES "\tld.global.b16 %rs1, [%r3];\n\t@%p1 st.shared.b16 [%r3], %rs1;\n"},
    {NONE, HALVES "\t@%p1 st.shared.b16 [%r3], %r1;\n\tbar.sync 0;\n"},
    {NONE, HALVES "\t@%p1 st.shared.b16 [%r4], %r2;\n\tbar.sync 0;\n"},
    {NONE, HALVES "\tld.global.b16 %rs1, [%r4];\n\t@%p1 st.shared.b16 [%r3], %rs1;\n"},
    {NONE, HALVES "\t@%p1 st.shared.b16 [%r3], %r2;\n\tld.shared.b16 %rs1, [%r4];\n"},
    {NONE, HALVES "\t@%p1 st.shared.b16 [%r3], %r2;\n\t@%p3 bra $L__BB0_1;\n"},
    {NONE, HALVES "\tsetp.lt.u32 %p2, %r1, 32;\n\t@%p2 st.shared.b16 [%r3], %r2;\n"},
    {EQUAL, HALVES "\tadd.s32 %r7, %r4, %r4;\n\tbfe.u32 %r5, %r1, 1, 5;\n"
                   "\tst.shared.b32 [%r7], %r5;\n\tbar.sync 0;\n"
                   "\tand.b32 %r6, %r7, 508;\n\tld.shared.b32 %r8, [%r6];\n"},
    {NONE, HALVES "\tadd.s32 %r7, %r4, %r4;\n\tst.shared.b32 [%r7], %r2;\n\tbar.sync 0;\n"
                  "\tand.b32 %r6, %r7, 508;\n\tld.shared.b32 %r8, [%r6];\n"},
    {NONE, HALVES "\tadd.s32 %r7, %r4, %r4;\n\tbfe.u32 %r5, %r1, 1, 5;\n"
                  "\tst.shared.b32 [%r7], %r5;\n"
                  "\tand.b32 %r6, %r7, 508;\n\tld.shared.b32 %r8, [%r6];\n"},
    {NONE, HALVES "\tadd.s32 %r7, %r4, %r4;\n\tbfe.u32 %r5, %r1, 1, 5;\n"
                  "\tst.shared.b32 [%r7], %r5;\n\tbar.sync 0;\n"
                  "\tand.b32 %r6, %r7, 508;\n\tld.shared.b32 %r8, [%r6];\n"
                  "\tst.global.b32 [%r6], %r8;\n"},
    {KNOWN, ROWS("8") "\tmul.lo.s64 %rd2, %rd1, 6;\n\tand.b64 %rd3, %rd2, 4294967280;\n" FAR},
    {KNOWN, ROWS("8") "\tcvt.u32.u64 %r1, %rd1;\n\tadd.s32 %r2, %r1, %r1;\n"
                      "\tand.b32 %r3, %r2, 1016;\n\tcvt.u64.u32 %rd3, %r3;\n" FAR},
    {NONE, ROWS("8") "\tmul.lo.s64 %rd2, %rd1, 6;\n\tand.b64 %rd3, %rd2, 4294967264;\n" FAR},
    {NONE, ROWS("16") "\tmul.lo.s64 %rd2, %rd1, 6;\n\tand.b64 %rd3, %rd2, 4294967280;\n" FAR},
    {NONE, ROWS("8") "\tadd.s64 %rd2, %rd1, %rd5;\n\tand.b64 %rd3, %rd2, 4294967280;\n" FAR},
    {NONE, ROWS("8") "\t@%p1 mov.b64 %rd1, %rd5;\n\tand.b64 %rd3, %rd1, 4294967288;\n" FAR},
    {NONE, ROWS("8") "\tor.b64 %rd3, %rd1, 8;\n" FAR},
};

static const char *fail(Arena *arena, const Case *c) {
    Str text = str(arena_printf(arena, ".entry k()\n.reqntid 128\n{\n%s\tret;\n}\n", c->body));
    Mutants list = mutants_of(arena, text);
    bool wanted = !c->rule;
    for (size_t i = 0; i < list.count; i++) {
        const Mutant *m = &list.data[i];
        const char *rule = rules_excuse(arena, text, m, &case_facts);
        bool right = c->rule && rule && !strcmp(rule, c->rule) && !strcmp(m->change, c->change);
        wanted |= right;
        if (rule && !right)
            return arena_printf(arena, "%.*s %s: %s in\n%s", STR_ARG(m->opcode), m->change, rule,
                                c->body);
    }
    if (!wanted) return arena_printf(arena, "not %s in\n%s", c->rule, c->body);
    return list.count ? NULL : "no mutants";
}

const char *rules_fail(Arena *arena) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *wrong = fail(arena, &cases[i]);
        if (wrong) return wrong;
    }
    return NULL;
}
