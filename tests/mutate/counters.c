#include "tests/mutate/counters.h"

#include <string.h>

#include "tests/mutate/code.h"
#include "tests/mutate/listing.h"

enum { WORD = 32, LAST_BIT = WORD - 1 };

static bool is_number(Str operand, int64_t wanted) {
    int64_t value;
    return statement_number(operand, &value) && value == wanted;
}

// "OPCODE D, A, B", which alone makes the register that `operand` names before the line.
static const Line *maker(const Code *c, Str operand, uint32_t line, const char *opcode,
                         uint32_t *made) {
    Span span;
    if (!span_is(operand, &span) || span.kind != 's') return NULL;
    if (!code_made_by(c, &span, line, made) || *made == CODE_ENTRY) return NULL;
    const Line *l = &c->lines.data[*made];
    bool right = line_is(l, opcode) && str_equal(l->s.operands[0], operand);
    return right ? l : NULL;
}

// ---- A counter ----

typedef struct Counting {
    const Code *code;
    const bool *all_awake;
    Str pair;  // "s[14:15]"
    Span span;
    uint32_t read;  // the line that reads the lower half
} Counting;

static bool is_half(Str operand, const Counting *n, int half) {
    Span span;
    return span_is(operand, &span) && span.kind == 's' && span.first == span.last &&
           span.first == n->span.first + half;
}

// "s_add_u32; s_addc_u32" from this line on: TO = N + 1.
static bool adds_one(const Counting *n, uint32_t line, const Span *to) {
    const Line *add = &n->code->lines.data[line], *carry = add + 1;
    Span low, high;
    return line_is(add, "s_add_u32") && line_is(carry, "s_addc_u32") &&
           span_is(add->s.operands[0], &low) && span_is(carry->s.operands[0], &high) &&
           low.kind == 's' && high.kind == 's' && low.first == to->first &&
           high.first == to->last && is_half(add->s.operands[1], n, 0) &&
           is_half(carry->s.operands[1], n, 1) && is_number(add->s.operands[2], 1) &&
           is_number(carry->s.operands[2], 0);
}

// "v_cmp_gt_u64 N, N, LAST".
static bool compares(const Counting *n, const Line *l) {
    int64_t last;
    return line_is(l, "v_cmp_gt_u64_e64") && str_equal(l->s.operands[0], n->pair) &&
           str_equal(l->s.operands[1], n->pair) && statement_number(l->s.operands[2], &last) &&
           last >= 0 && last < LAST_BIT;
}

// The lines between the comparison and the move: vcc becomes what was compared, and nothing else
// that matters changes.
static bool asks_between(const Counting *n, uint32_t compare, uint32_t move, const Span *to) {
    bool asked = false;
    for (uint32_t k = compare + 1; k < move; k++) {
        const Line *l = &n->code->lines.data[k];
        bool asks = line_is(l, "s_and_b64") && str_equal(l->s.operands[0], STR("vcc")) &&
                    str_equal(l->s.operands[1], STR("exec")) &&
                    str_equal(l->s.operands[2], n->pair);
        bool other = statement_has(l->s.rest, "vcc") || line_is(l, "v_") || line_writes_exec(l) ||
                     line_writes(l, &n->span) || line_writes(l, to);
        if (!asks && other) return false;
        asked |= asks;
    }
    return asked;
}

static const uint32_t NO_STEP = UINT32_MAX;
static bool counts_at(const Counting *n, const bool *targets, uint32_t line, uint32_t step);

// "s_mov_b64 N, TO" where TO = N + 1 is made right before a comparison, by which only those go on
// to the reader for whom N was not above LAST: LLVM's loop over 64 bits. All of it are lines of
// which none but the last jumps, and none but the first is jumped to.
static bool is_step(const Counting *n, const bool *targets, uint32_t move) {
    const Line *lines = n->code->lines.data, *branch = &lines[move + 1];
    Span to;
    uint32_t i = move;
    if (!span_is(lines[move].s.operands[1], &to) || to.kind != 's' || to.last != to.first + 1)
        return false;
    if (!line_is(branch, "s_cbranch_vccnz") || targets[move + 1]) return false;
    while (i && !targets[i] && !lines[i - 1].jumps && !lines[i - 1].goes &&
           !line_is(&lines[i], "v_cmp_gt_u64"))
        i--;
    if (i < 2 || targets[i] || targets[i - 1] || !n->all_awake[i]) return false;
    if (!compares(n, &lines[i]) || !adds_one(n, i - 2, &to) || !asks_between(n, i, move, &to))
        return false;
    bool *out = arena_new(n->code->arena, bool, n->code->lines.count + 1);
    code_flood(n->code, branch->target, NULL, out);
    return !out[n->read] && counts_at(n, targets, i - 2, move);
}

// Is the pair before the line 1 always, or the result of a step? Checks all lines that may have set
// it.
static bool counts_at(const Counting *n, const bool *targets, uint32_t line, uint32_t step) {
    const Code *c = n->code;
    size_t count = c->lines.count;
    bool *makes = arena_new(c->arena, bool, count), *marked = arena_new(c->arena, bool, count + 1);
    for (size_t i = 0; i < count; i++) makes[i] = line_writes(&c->lines.data[i], &n->span);
    code_flood(c, 0, makes, marked);
    if (marked[line]) return false;
    for (uint32_t i = 0; i < count; i++) {
        const Line *l = &c->lines.data[i];
        if (!makes[i] || i == step) continue;
        memset(marked, 0, (count + 1) * sizeof *marked);
        code_flood(c, i + 1, makes, marked);
        if (!marked[line]) continue;
        bool moves = line_is(l, "s_mov_b64") && str_equal(l->s.operands[0], n->pair);
        if (!moves) return false;
        if (!is_number(l->s.operands[1], 1) && (step != NO_STEP || !is_step(n, targets, i)))
            return false;
    }
    return true;
}

// The pair whose lower half the operand is: as a move names it.
static bool find_pair(Counting *n, Str half) {
    Span own;
    if (!span_is(half, &own) || own.kind != 's' || own.first != own.last) return false;
    for (uint32_t i = 0; i < n->code->lines.count; i++) {
        const Line *l = &n->code->lines.data[i];
        if (!line_is(l, "s_mov_b64") || !span_is(l->s.operands[0], &n->span)) continue;
        if (n->span.kind != 's' || n->span.first != own.first) continue;
        n->pair = l->s.operands[0];
        return true;
    }
    return false;
}

const char *counters_excuse(Arena *arena, Str listing, const Mutant *m) {
    Code c = {.arena = arena};
    int64_t before, after;
    if (m->kind != MUTANT_BASIS || !str_equal(m->opcode, STR("s_and_b32"))) return NULL;
    if (!code_read(&c, listing)) return NULL;
    uint32_t line = 0, shift, least;
    while (line < c.lines.count && c.lines.data[line].s.opcode.text != m->opcode.text) line++;
    if (line == c.lines.count) return NULL;
    const Line *l = &c.lines.data[line], *power, *exponent;
    if (l->s.operand_count != 3 || l->s.operands[2].text != listing.text + m->begin) return NULL;
    if (!statement_number(l->s.operands[2], &before) || !statement_number(m->by, &after))
        return NULL;
    if ((before ^ after) != 1) return NULL;
    power = maker(&c, l->s.operands[1], line, "s_lshl_b32", &shift);
    if (!power || !is_number(power->s.operands[1], 1)) return NULL;
    exponent = maker(&c, power->s.operands[2], shift, "s_min_u32", &least);
    if (!exponent || !is_number(exponent->s.operands[2], LAST_BIT)) return NULL;
    bool *targets = arena_new(arena, bool, c.lines.count + 1);
    for (size_t i = 0; i < c.lines.count; i++)
        if (c.lines.data[i].jumps) targets[c.lines.data[i].target] = true;
    Counting n = {.code = &c, .all_awake = code_all_awake(&c), .read = least};
    return find_pair(&n, exponent->s.operands[1]) && counts_at(&n, targets, least, NO_STEP)
               ? "never 0"
               : NULL;
}

// ---- what the rule must and must not excuse -----------------------------------------------------

typedef struct Case {
    bool excused;
    const char *body;  // each line 4 bytes
} Case;

#define LOOP(begin, step, last, power, exit)                                             \
    "s_mov_b64 s[14:15], " begin "\ns_branch 6\ns_add_u32 s8, s14, " step                \
    "\ns_addc_u32 s9, s15, 0\nv_cmp_gt_u64_e64 s[14:15], s[14:15], " last                \
    "\ns_and_b64 vcc, exec, s[14:15]\ns_mov_b64 s[14:15], s[8:9]\ns_cbranch_vccnz " exit \
    "\ns_min_u32 s18, s14, 31\ns_lshl_b32 s18, " power                                   \
    ", s18\ns_and_b32 s20, s18, 63\ns_branch "                                           \
    "65526\n"
static const Case cases[] = {
    {true, LOOP("1", "1", "5", "1", "4")},
    {false, LOOP("0", "1", "5", "1", "4")},
    {false, LOOP("1", "2", "5", "1", "4")},
    {false, LOOP("1", "1", "-1", "1", "4")},
    {false, LOOP("1", "1", "5", "3", "4")},
    {false, LOOP("1", "1", "5", "1", "0")},
    {false, LOOP("1", "1", "5", "1", "4") "s_mov_b64 s[14:15], -1\ns_branch 65525\n"},
    {false, "s_mov_b64 exec, s[6:7]\n" LOOP("1", "1", "5", "1", "4")},
};

const char *counters_fail(Arena *arena) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Str listing = code_listing(arena, "gfx942", cases[i].body);
        Mutants list = mutants_of_listing(arena, listing);
        bool excused = false;
        for (size_t n = 0; n < list.count; n++)
            excused |= counters_excuse(arena, listing, &list.data[n]) != NULL;
        if (excused != cases[i].excused)
            return arena_printf(arena, "%s: %s", excused ? "never 0" : "not never 0",
                                cases[i].body);
    }
    return NULL;
}
