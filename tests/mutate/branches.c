#include "tests/mutate/branches.h"

#include <string.h>

#include "tests/mutate/code.h"
#include "tests/mutate/listing.h"

// A signed scalar is below a number, or (not) so.
typedef struct Test {
    Span scalar;
    uint32_t made;
    int64_t below;
    bool opposite;
} Test;

// ---- What a branch asks ----

static bool leaves_scc(const Line *l) {
    static const char *const leaving[] = {"s_mov_b",   "s_movk",    "s_cselect_b", "s_mul_i32",
                                          "s_waitcnt", "s_load_dw", "s_nop"};
    return !line_is(l, "s_") || LINE_IS_ONE_OF(l, leaving);
}

static bool *targets_of(const Code *c) {
    bool *targets = arena_new(c->arena, bool, c->lines.count + 1);
    for (size_t i = 0; i < c->lines.count; i++)
        if (c->lines.data[i].jumps) targets[c->lines.data[i].target] = true;
    return targets;
}

// The comparison whose result is in SCC before the line, on the only way to it.
static bool compared_at(const Code *c, const bool *targets, uint32_t line, Test *t) {
    static const struct {
        const char *opcode;
        int64_t more;
        bool opposite;
    } kinds[] = {{"s_cmp_lt_i32", 0, false},
                 {"s_cmp_le_i32", 1, false},
                 {"s_cmp_ge_i32", 0, true},
                 {"s_cmp_gt_i32", 1, true}};
    uint32_t i = line;
    do {
        if (!i || targets[i]) return false;
        i--;
    } while (leaves_scc(&c->lines.data[i]));
    const Line *l = &c->lines.data[i];
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        int64_t number;
        if (!line_is(l, kinds[k].opcode) || l->s.operand_count != 2) continue;
        t->below = 0, t->opposite = kinds[k].opposite;
        if (!statement_number(l->s.operands[1], &number)) return false;
        t->below = number + kinds[k].more;
        return span_is(l->s.operands[0], &t->scalar) && t->scalar.kind == 's' &&
               code_made_once(c, &t->scalar, i, &t->made);
    }
    return false;
}

static bool leaves_vcc(const Line *l) {
    static const char *const leaving[] = {"v_mov_b32", "s_mov_b", "s_load_dw", "s_waitcnt",
                                          "s_nop"};
    return LINE_IS_ONE_OF(l, leaving) && !statement_has(l->s.rest, "vcc") && !line_writes_exec(l);
}

// "s_and_b64 vcc, exec, MASK" or "s_andn2_b64 vcc, exec, MASK" right before the branch, of
// "s_cselect_b64 MASK, -1, 0": some lanes are of it, or none.
static bool chosen_at(const Code *c, const bool *targets, uint32_t line, Test *t) {
    Span mask;
    uint32_t made, i = line;
    do {
        if (!i || targets[i]) return false;
        i--;
    } while (leaves_vcc(&c->lines.data[i]));
    const Line *l = &c->lines.data[i];
    bool without = line_is(l, "s_andn2_b64");
    if ((!without && !line_is(l, "s_and_b64")) || l->s.operand_count != 3) return false;
    if (!str_equal(l->s.operands[0], STR("vcc")) || !str_equal(l->s.operands[1], STR("exec")))
        return false;
    if (!span_is(l->s.operands[2], &mask) || mask.kind != 's') return false;
    if (!code_made_once(c, &mask, i, &made) || made == CODE_ENTRY) return false;
    Str choice = l->s.operands[2];
    l = &c->lines.data[made];
    if (!line_has_operand(l, 0, "s") || !str_equal(l->s.operands[0], choice)) return false;
    if (!line_is(l, "s_cselect_b64") || l->s.operand_count != 3 || !line_has_operand(l, 1, "-1") ||
        !str_equal(l->s.operands[2], STR("0")) || !compared_at(c, targets, made, t))
        return false;
    t->opposite ^= without;
    return true;
}

// Does the branch jump when the test says yes, or when it says no?
static bool tested_at(const Code *c, const bool *targets, const bool *all_awake, uint32_t line,
                      Test *t) {
    const Line *l = &c->lines.data[line];
    bool scc = line_is(l, "s_cbranch_scc"), vcc = line_is(l, "s_cbranch_vcc");
    if (vcc && (!all_awake[line] || !chosen_at(c, targets, line, t))) return false;
    if (scc && !compared_at(c, targets, line, t)) return false;
    if (line_is(l, "s_cbranch_scc0") || line_is(l, "s_cbranch_vccz")) t->opposite = !t->opposite;
    return scc || vcc;
}

// ---- The paths that are left ----

// A test `known` of a scalar has come true: where must a branch by `asked` go? -1: not known.
static int answer(const Test *known, const Test *asked) {
    if (asked->made != known->made || asked->scalar.first != known->scalar.first ||
        asked->scalar.last != known->scalar.last)
        return -1;
    bool below = !known->opposite;  // known: scalar < below; else scalar >= below
    if (below && known->below <= asked->below) return !asked->opposite;
    if (!below && known->below >= asked->below) return asked->opposite;
    return -1;
}

// Whether the line is reached where `known` holds for all of the run.
static bool is_reached(const Code *code, const bool *targets, const bool *all_awake,
                       const Test *known, uint32_t line) {
    Code c = *code;
    c.lines.data = arena_copy(code->arena, code->lines.data, code->lines.count * sizeof(Line));
    for (uint32_t i = 0; i < c.lines.count; i++) {
        Test asked;
        if (i == line || !c.lines.data[i].jumps || c.lines.data[i].goes) continue;
        if (!tested_at(code, targets, all_awake, i, &asked)) continue;
        int jumps = answer(known, &asked);
        if (jumps == 1) c.lines.data[i].goes = true;
        if (jumps == 0) c.lines.data[i].jumps = false;
    }
    bool *marked = arena_new(c.arena, bool, c.lines.count + 1);
    code_flood(&c, 0, NULL, marked);
    return marked[line];
}

const char *branches_excuse(Arena *arena, Str listing, const Mutant *m) {
    Code c = {.arena = arena};
    Test t;
    bool branch = m->kind == MUTANT_PREDICATE && str_starts(m->opcode, STR("s_cbranch"));
    if (!branch || !strcmp(m->change, "contrary") || !code_read(&c, listing)) return NULL;
    uint32_t line = 0;
    while (line < c.lines.count && c.lines.data[line].s.opcode.text != listing.text + m->begin)
        line++;
    if (line == c.lines.count) return NULL;
    const bool *targets = targets_of(&c), *all_awake = code_all_awake(&c);
    if (!tested_at(&c, targets, all_awake, line, &t)) return NULL;
    // The change matters only if this test can hold here.
    if (!strcmp(m->change, "always")) t.opposite = !t.opposite;
    return is_reached(&c, targets, all_awake, &t, line) ? NULL : "settled";
}

// ---- what the rule must and must not excuse -----------------------------------------------------

// The mutant changes the last branch.
typedef struct Case {
    const char *change, *body;  // each line 4 bytes
    bool excused;
} Case;

#define LOADED "s_load_dword s8, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n"
#define CHOICE                                                                \
    LOADED                                                                    \
    "s_cmp_gt_i32 s8, 0\ns_cselect_b64 s[12:13], -1, 0\ns_cmp_lt_i32 s8, 1\n" \
    "s_cbranch_scc1 2\n"
static const Case cases[] = {
    {"never", LOADED "s_cmp_lt_i32 s8, 1\ns_cbranch_scc1 2\ns_cmp_lt_i32 s8, 1\ns_cbranch_scc1 0\n",
     true},
    {"always",
     LOADED "s_cmp_lt_i32 s8, 1\ns_cbranch_scc1 2\ns_cmp_ge_i32 s8, 1\ns_cbranch_scc1 0\n", true},
    {"always",
     LOADED "s_cmp_lt_i32 s8, 1\ns_cbranch_scc1 2\ns_cmp_ge_i32 s8, 2\ns_cbranch_scc1 0\n", false},
    {"always",
     LOADED "s_cmp_lt_i32 s8, 1\ns_cbranch_scc1 2\ns_cmp_gt_i32 s9, 0\ns_cbranch_scc1 0\n", false},
    {"never", LOADED "s_cmp_lt_i32 s8, 1\ns_cbranch_scc1 2\ns_cmp_ge_i32 s8, 1\ns_cbranch_scc1 0\n",
     false},
    // The other branch leads here, too; or the scalar is another by then.
    {"never", LOADED "s_cmp_lt_i32 s8, 1\ns_cbranch_scc1 0\ns_cmp_lt_i32 s8, 1\ns_cbranch_scc1 0\n",
     false},
    {"never",
     LOADED "s_cmp_lt_i32 s8, 1\ns_cbranch_scc1 3\ns_add_i32 s8, s8, -1\n"
            "s_cmp_lt_i32 s8, 1\ns_cbranch_scc1 0\n",
     false},
    {"never",
     LOADED "s_cmp_lt_i32 s8, 1\ns_cbranch_scc1 3\ns_cmp_lt_i32 s8, 1\ns_add_i32 s9, s9, 1\n"
            "s_cbranch_scc1 0\n",
     false},
    {"always", CHOICE "s_andn2_b64 vcc, exec, s[12:13]\ns_cbranch_vccz 0\n", true},
    {"never", CHOICE "s_andn2_b64 vcc, exec, s[12:13]\ns_cbranch_vccnz 0\n", true},
    {"always", CHOICE "s_and_b64 vcc, exec, s[12:13]\ns_cbranch_vccz 0\n", false},
    {"always", CHOICE "s_andn2_b64 vcc, exec, s[14:15]\ns_cbranch_vccz 0\n", false},
    {"always",
     "s_mov_b64 exec, s[6:7]\n" CHOICE "s_andn2_b64 vcc, exec, s[12:13]\ns_cbranch_vccz 0\n",
     false},
};

const char *branches_fail(Arena *arena) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Str listing = code_listing(arena, "gfx942", cases[i].body);
        Mutants list = mutants_of_listing(arena, listing);
        const Mutant *last = NULL;
        for (size_t n = 0; n < list.count; n++)
            if (!strcmp(list.data[n].change, cases[i].change)) last = &list.data[n];
        if (!last || (branches_excuse(arena, listing, last) != NULL) != cases[i].excused)
            return arena_printf(arena, "%s, but should %sbe settled: %s", cases[i].change,
                                cases[i].excused ? "" : "not ", cases[i].body);
    }
    return NULL;
}
