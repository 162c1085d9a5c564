// Mutants of AMD's code, of its listing: the same kinds as of PTX, by what the machine has for
// them.
#include <stdio.h>
#include <string.h>

#include "tests/mutate/listing.h"
#include "tests/mutate/mutants.h"
#include "tests/mutate/statements.h"

enum {
    APART = 128,   // bytes that a place in shared memory is moved by
    EXPONENT = 23  // where that of a float begins
};

typedef struct Maker {
    Arena *arena;
    Str text, opcode;
    Str operands[OPERANDS_MAX];
    uint32_t operand_count;
    Str before[2];  // masks that integers were compared to, by their registers; a ring of two
    int next;
    Mutants list;
} Maker;

static bool starts(Str s, const char *with) { return str_starts(s, str(with)); }

static void make(Maker *m, MutantKind kind, const char *change, Str part, Str by) {
    Mutant made = {.kind = kind,
                   .change = change,
                   .opcode = m->opcode,
                   .begin = (size_t)(part.text - m->text.text),
                   .size = part.size,
                   .by = by};
    vec_push(m->arena, &m->list, made);
}

// The whole instruction.
static Str whole(const Maker *m) {
    size_t size = m->opcode.size;
    if (m->operand_count) {
        Str last = m->operands[m->operand_count - 1];
        size = (size_t)(last.text + last.size - m->opcode.text);
    }
    return (Str){m->opcode.text, size};
}

// Another opcode with the same operands: `from` becomes `to`.
static void exchange(Maker *m, MutantKind kind, const char *change, const char *from,
                     const char *to) {
    size_t n = strlen(from);
    for (size_t i = 0; i + n <= m->opcode.size; i++)
        if (!memcmp(m->opcode.text + i, from, n)) {
            make(m, kind, change, (Str){m->opcode.text + i, n}, str(to));
            return;
        }
}

// "s_wait_loadcnt_dscnt 0x103", "s_waitcnt_vscnt null, 0x0".
static void mutate_wait_number(Maker *m) {
    enum { HIGH = 8 };  // where the first of two counts begins
    Str last = m->operand_count ? m->operands[m->operand_count - 1] : (Str){0};
    int64_t count;
    if (!statement_number(last, &count)) return;
    for (int shift = 0; shift <= (statement_has(m->opcode, "cnt_dscnt") ? HIGH : 0); shift += HIGH)
        make(m, MUTANT_WAIT, "one more", last,
             str(arena_printf(m->arena, "0x%llx", (long long)count + (1 << shift))));
}

// "vmcnt(0) lgkmcnt(1)": one more of each, one at a time.
static void mutate_wait(Maker *m) {
    make(m, MUTANT_WAIT, "gone", whole(m), STR("s_nop 0"));
    mutate_wait_number(m);
    Str all = whole(m);
    for (size_t i = 0; i + 1 < all.size; i++) {
        size_t n = 0;
        while (i + 1 + n < all.size && strchr("0123456789", all.text[i + 1 + n])) n++;
        int64_t count;
        Str digits = {all.text + i + 1, n};
        if (all.text[i] != '(' || !statement_number(digits, &count)) continue;
        make(m, MUTANT_WAIT, "one more", digits,
             str(arena_printf(m->arena, "%lld", (long long)count + 1)));
    }
}

// exec = s & exec: all that were awake, none, the others.
static void mutate_guard(Maker *m) {
    bool older = starts(m->text, LISTING_BEGIN "gfx9");
    exchange(m, MUTANT_PREDICATE, "always", "s_and_saveexec", "s_or_saveexec");
    exchange(m, MUTANT_PREDICATE, "never", "s_and_saveexec",
             older ? "s_andn2_saveexec" : "s_and_not1_saveexec");
    exchange(m, MUTANT_PREDICATE, "contrary", "s_and_saveexec",
             older ? "s_andn1_saveexec" : "s_and_not0_saveexec");
}

static void mutate_branch(Maker *m) {
    static const char *const pairs[][2] = {{"scc0", "scc1"}, {"vccz", "vccnz"}};
    Str all = whole(m);
    make(m, MUTANT_PREDICATE, "always", m->opcode, STR("s_branch"));
    make(m, MUTANT_PREDICATE, "never", all, STR("s_nop 0"));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int n = 0; n < 2; n++) {
            Str condition = {m->opcode.text + strlen("s_cbranch_"),
                             m->opcode.size - strlen("s_cbranch_")};
            if (str_equal(condition, str(pairs[i][n])))
                make(m, MUTANT_PREDICATE, "contrary", condition, str(pairs[i][1 - n]));
        }
}

// By a mask of integers that were compared.
static void mutate_choice(Maker *m) {
    if (m->operand_count != 4 || str_equal(m->operands[1], m->operands[2])) return;
    for (int i = 0; i < 2; i++) {
        if (!str_equal(m->before[i], m->operands[3])) continue;
        make(m, MUTANT_PREDICATE, "first", m->operands[2], m->operands[1]);
        make(m, MUTANT_PREDICATE, "second", m->operands[1], m->operands[2]);
        return;
    }
}

static void note_compare(Maker *m) {
    static const char *const floats[] = {"_f16", "_f32", "_f64", "_class"};
    for (int i = 0; i < 2; i++)
        if (m->operand_count && str_equal(m->before[i], m->operands[0])) m->before[i] = (Str){0};
    bool integers = starts(m->opcode, "v_cmp_") && m->operand_count == 3;
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
        integers &= !statement_has(m->opcode, floats[i]);
    if (!integers) return;
    m->before[m->next] = m->operands[0];
    m->next = 1 - m->next;
}

static void mutate_constant(Maker *m, bool shift) {
    int64_t value;
    for (uint32_t n = 1; n < m->operand_count; n++) {
        if (!statement_number(m->operands[n], &value) || value <= 0) continue;
        if (shift && value == EXPONENT) return;  // it makes a power of two, no coordinate
        int64_t other = shift ? (value > 1 ? value - 1 : value + 1) : value ^ (value & -value);
        make(m, MUTANT_BASIS, shift ? "one off" : "without its lowest bit", m->operands[n],
             str(arena_printf(m->arena, "%lld", (long long)other)));
        return;
    }
}

// "v1 offset:16", or two places, in elements.
static void mutate_place(Maker *m) {
    bool two = starts(m->opcode, "ds_read2") || starts(m->opcode, "ds_load_2addr") ||
               starts(m->opcode, "ds_write2") || starts(m->opcode, "ds_store_2addr");
    if (two || !m->operand_count) return;
    Str all = whole(m), end = {all.text + all.size, 0};
    for (size_t i = 0; i + 7 < all.size; i++) {
        int64_t offset;
        Str digits = {all.text + i + 7, 0};
        if (memcmp(all.text + i, "offset:", 7) != 0) continue;
        while (i + 7 + digits.size < all.size && strchr("0123456789", digits.text[digits.size]))
            digits.size++;
        if (statement_number(digits, &offset))
            make(m, MUTANT_BASIS, "elsewhere", digits,
                 str(arena_printf(m->arena, "%lld", (long long)offset + APART)));
        return;
    }
    make(m, MUTANT_BASIS, "elsewhere", end, str(arena_printf(m->arena, " offset:%d", APART)));
}

static void mutate_lane(Maker *m) {
    static const char *const ways[][2] = {{"quad_perm:[1,0,3,2]", "quad_perm:[2,3,0,1]"},
                                          {"quad_perm:[2,3,0,1]", "quad_perm:[1,0,3,2]"},
                                          {"row_ror:8", "row_ror:12"},
                                          {"row_ror:4", "row_ror:8"},
                                          {"swizzle(SWAP,4)", "swizzle(SWAP,2)"},
                                          {"swizzle(SWAP,8)", "swizzle(SWAP,4)"},
                                          {"swizzle(SWAP,16)", "swizzle(SWAP,8)"}};
    Str all = whole(m);
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (size_t i = 0, n = strlen(ways[w][0]); i + n <= all.size; i++)
            if (!memcmp(all.text + i, ways[w][0], n)) {
                make(m, MUTANT_FRAGMENT, "another lane", (Str){all.text + i, n}, str(ways[w][1]));
                return;
            }
}

// The two factors of a product of matrices.
static void mutate_product(Maker *m) {
    if (m->operand_count < 4 || str_equal(m->operands[1], m->operands[2])) return;
    Str both = {m->operands[1].text,
                (size_t)(m->operands[2].text + m->operands[2].size - m->operands[1].text)};
    make(m, MUTANT_FRAGMENT, "swapped", both,
         str(arena_printf(m->arena, "%.*s, %.*s", STR_ARG(m->operands[2]),
                          STR_ARG(m->operands[1]))));
}

static void mutate(Maker *m) {
    static const char *const bits[] = {"v_and_b32", "v_or_b32", "v_xor_b32", "s_and_b32"};
    static const char *const shifts[] = {"v_lshlrev_b32",  "v_lshrrev_b32", "v_lshl_or_b32",
                                         "v_lshl_add_u32", "s_lshl_b32",    "s_lshr_b32"};
    Str op = m->opcode;
    if (starts(op, "s_barrier")) make(m, MUTANT_BARRIER, "gone", whole(m), STR("s_nop 0"));
    if (starts(op, "s_wait") && statement_has(op, "cnt") && !starts(op, "s_waitcnt_depctr"))
        mutate_wait(m);
    if (starts(op, "s_and_saveexec")) mutate_guard(m);
    if (starts(op, "s_cbranch_scc") || starts(op, "s_cbranch_vcc")) mutate_branch(m);
    if (starts(op, "v_cndmask_b32")) mutate_choice(m);
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        if (starts(op, bits[i])) mutate_constant(m, false);
    for (size_t i = 0; i < sizeof shifts / sizeof *shifts; i++)
        if (starts(op, shifts[i])) mutate_constant(m, true);
    bool local = starts(op, "ds_read") || starts(op, "ds_write") || starts(op, "ds_load") ||
                 starts(op, "ds_store");
    if (local) mutate_place(m);
    if (statement_has(op, "_dpp") || starts(op, "ds_swizzle")) mutate_lane(m);
    if (starts(op, "v_mfma") || starts(op, "v_wmma")) mutate_product(m);
    note_compare(m);
}

Mutants mutants_of_listing(Arena *arena, Str text) {
    Maker m = {.arena = arena, .text = text};
    Str rest;
    str_cut(text, '\n', &rest);
    while (rest.size) {
        Str instruction, line = str_cut(rest, '\n', &rest);
        str_cut(line, ':', &instruction);
        Statement s = statement_parse(instruction);
        if (!s.opcode.size) continue;
        m.opcode = s.opcode, m.operand_count = s.operand_count;
        memcpy(m.operands, s.operands, sizeof m.operands);
        mutate(&m);
    }
    return m.list;
}
