#include "tests/mutate/barriers.h"

#include <string.h>

#include "tests/mutate/code.h"
#include "tests/mutate/listing.h"

enum { DEPTH_MAX = 8 };

typedef struct Barriers {
    Code code;
    bool *first;  // of each line: only lanes of the workgroup's first wave are awake before it
    bool *before, *after;  // the barrier can come after it, or before it, with no other between
} Barriers;

// A wave has at least this many lanes.
static int64_t lanes_of(const Code *c) { return c->older ? 64 : 32; }

// ---- Masks of the first wave ----

// The thread's number in the workgroup, with which v0 begins; those of other dimensions are above
// it in the same word, so that a small word is a small number.
static bool is_thread(const Code *c, Str operand, uint32_t line) {
    static const Span first = {'v', 0, 0};
    uint32_t made;
    return str_equal(operand, STR("v0")) && code_made_by(c, &first, line, &made) &&
           made == CODE_ENTRY;
}

// Has what the operand holds before the line only lanes of the first wave?
static bool is_first_mask(const Code *c, Str operand, uint32_t line, int depth) {
    Span mask;
    uint32_t made;
    int64_t most;
    if (depth == DEPTH_MAX || !span_is(operand, &mask) || mask.kind != 's') return false;
    if (!code_made_by(c, &mask, line, &made) || made == CODE_ENTRY) return false;
    const Line *l = &c->lines.data[made];
    if (l->s.operand_count != 3 || !str_equal(l->s.operands[0], operand)) return false;
    if (line_is(l, "s_and_b64"))
        return is_first_mask(c, l->s.operands[1], made, depth + 1) ||
               is_first_mask(c, l->s.operands[2], made, depth + 1);
    return line_is(l, "v_cmp_gt_u32_e64") && statement_number(l->s.operands[1], &most) &&
           most >= 0 && most <= lanes_of(c) && is_thread(c, l->s.operands[2], made);
}

static bool keeps_first(const Barriers *b, uint32_t line) {
    const Line *l = &b->code.lines.data[line];
    if (line_is(l, "s_and_saveexec") && l->s.operand_count == 2)
        return b->first[line] || is_first_mask(&b->code, l->s.operands[1], line, 0);
    return b->first[line] && !line_writes_exec(l);
}

static bool lose_first(Barriers *b, uint32_t line) {
    bool lost = line < b->code.lines.count && b->first[line];
    if (lost) b->first[line] = false;
    return lost;
}

// The greatest fixpoint: until some way says otherwise.
static void find_first(Barriers *b) {
    size_t count = b->code.lines.count;
    bool *reached = arena_new(b->code.arena, bool, count + 1);
    code_flood(&b->code, 0, NULL, reached);
    b->first = arena_new(b->code.arena, bool, count + 1);
    for (uint32_t i = 1; i < count; i++) b->first[i] = true;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < count; i++) {
            const Line *l = &b->code.lines.data[i];
            if (!reached[i] || keeps_first(b, i)) continue;
            if (!l->goes) moved |= lose_first(b, i + 1);
            if (l->jumps) moved |= lose_first(b, l->target);
        }
    }
}

// ---- Accesses around the barrier ----

typedef enum Memory { NO_MEMORY, LDS, OTHER_MEMORY } Memory;

static Memory memory_of(const Line *l) {
    static const char *const none[] = {"ds_swizzle", "ds_bpermute", "ds_permute"};
    static const char *const scalar[] = {"s_load", "s_buffer_load", "s_store", "s_atomic"};
    if (LINE_IS_ONE_OF(l, none)) return NO_MEMORY;
    if (line_is(l, "ds_")) return LDS;
    return l->adds && (!line_is(l, "s_") || LINE_IS_ONE_OF(l, scalar)) ? OTHER_MEMORY : NO_MEMORY;
}

static bool only_reads(const Line *l) {
    static const char *const scalar[] = {"s_load", "s_buffer_load"};
    return line_is_load(l) || LINE_IS_ONE_OF(l, scalar);
}

// Is all that the access began there, once the line is passed?
static bool completes(const Line *access, const Line *l) {
    for (int k = 0; k < COUNTERS; k++)
        if (access->adds >> k & 1 && l->wait.of[k] != 0) return false;
    return true;
}

static bool mark(bool *marked, uint32_t line) {
    bool more = !marked[line];
    marked[line] = true;
    return more;
}

// Does the access come to the barrier without another between? Another barrier does not order an
// access that is still in flight: it orders only accesses that were waited for before it.
static bool comes_before(const Barriers *b, uint32_t access, uint32_t barrier) {
    size_t count = b->code.lines.count;
    bool *marked[2];  // … and has been waited for
    for (int w = 0; w < 2; w++) marked[w] = arena_new(b->code.arena, bool, count + 1);
    marked[0][access + 1] = true;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < 2 * count; i++) {
            uint32_t line = i / 2;
            const Line *l = &b->code.lines.data[line];
            bool waited = i % 2;
            if (!marked[waited][line]) continue;
            if (waited && line != barrier && line_is(l, "s_barrier")) continue;
            waited |= completes(&b->code.lines.data[access], l);
            if (!l->goes) moved |= mark(marked[waited], line + 1);
            if (l->jumps) moved |= mark(marked[waited], l->target);
        }
    }
    return marked[0][barrier] || marked[1][barrier];
}

static void find_around(Barriers *b, uint32_t barrier) {
    size_t count = b->code.lines.count;
    bool *stop = arena_new(b->code.arena, bool, count + 1);
    b->before = arena_new(b->code.arena, bool, count + 1);
    b->after = arena_new(b->code.arena, bool, count + 1);
    for (uint32_t i = 0; i < count; i++)
        stop[i] = i != barrier && line_is(&b->code.lines.data[i], "s_barrier");
    code_flood(&b->code, barrier + 1, stop, b->after);
    for (uint32_t i = 0; i < count; i++)
        b->before[i] =
            memory_of(&b->code.lines.data[i]) != NO_MEMORY && comes_before(b, i, barrier);
}

static bool orders(const Barriers *b, uint32_t before, uint32_t after) {
    const Line *x = &b->code.lines.data[before], *y = &b->code.lines.data[after];
    if (memory_of(x) == NO_MEMORY || memory_of(x) != memory_of(y)) return false;
    if (only_reads(x) && only_reads(y)) return false;
    return !(memory_of(x) == LDS && b->first[before] && b->first[after]);
}

// Accesses of one kind may be others in disguise: those that say who sees them, and when.
static bool is_plain(const Line *l) {
    static const char *const special[] = {" sc0", " sc1", " glc", " slc", " dlc", " scope:", "lds"};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (statement_has(l->s.whole, special[i])) return false;
    return memory_of(l) == NO_MEMORY || only_reads(l) || line_is_store(l);
}

static bool is_needed(const Barriers *b) {
    for (uint32_t i = 0; i < b->code.lines.count; i++) {
        bool around = b->before[i] || b->after[i];
        if (around && !is_plain(&b->code.lines.data[i])) return true;
        for (uint32_t k = 0; b->before[i] && k < b->code.lines.count; k++)
            if (b->after[k] && orders(b, i, k)) return true;
    }
    return false;
}

const char *barriers_excuse(Arena *arena, Str listing, const Mutant *m) {
    Barriers b = {.code = {.arena = arena}};
    if (m->kind != MUTANT_BARRIER || !str_equal(m->opcode, STR("s_barrier"))) return NULL;
    if (!code_read(&b.code, listing)) return NULL;
    uint32_t barrier = 0;
    while (barrier < b.code.lines.count &&
           b.code.lines.data[barrier].s.opcode.text != listing.text + m->begin)
        barrier++;
    if (barrier == b.code.lines.count) return NULL;
    find_first(&b);
    find_around(&b, barrier);
    return is_needed(&b) ? NULL : "one wave";
}

// ---- what the rule must and must not excuse -----------------------------------------------------

typedef struct Case {
    bool excused;      // the last barrier
    const char *body;  // each line 4 bytes
} Case;

#define MASK(most, thread) "v_cmp_gt_u32_e64 s[4:5], " most ", " thread "\n"
#define MASKED(access) \
    "s_and_saveexec_b64 s[8:9], s[4:5]\n" access "\ns_or_b64 exec, exec, s[8:9]\n"
#define WRITE "ds_write_b32 v1, v2"
#define READ "ds_read_b32 v3, v4"
#define STOP "s_waitcnt lgkmcnt(0)\ns_barrier\n"
static const Case cases[] = {
    {true, MASK("64", "v0") MASKED(WRITE) STOP MASKED(READ)},
    {false, MASK("65", "v0") MASKED(WRITE) STOP MASKED(READ)},
    {false, MASK("64", "v1") MASKED(WRITE) STOP MASKED(READ)},
    {false, "v_add_u32_e32 v0, 64, v0\n" MASK("64", "v0") MASKED(WRITE) STOP MASKED(READ)},
    {false, MASK("64", "v0") MASKED(WRITE) STOP READ "\n"},
    {false, MASK("64", "v0") WRITE "\n" STOP MASKED(READ)},
    {false, MASK("64", "v0") "s_mov_b64 s[4:5], -1\n" MASKED(WRITE) STOP MASKED(READ)},
    // Another barrier orders the writes of other waves, but not where a path goes around it.
    {true, MASK("64", "v0") WRITE "\n" STOP STOP MASKED(READ)},
    {false, WRITE "\ns_cbranch_scc1 2\n" STOP STOP READ "\n"},
    // … nor accesses that were not yet waited for.
    {true,
     "global_load_dword v1, v[2:3], off\ns_waitcnt vmcnt(0)\ns_barrier\ns_waitcnt "
     "vmcnt(0)\ns_barrier\nglobal_store_dword v[4:5], v1, off\n"},
    {false,
     "global_load_dword v1, v[2:3], off\ns_barrier\ns_waitcnt vmcnt(0)\ns_barrier\n"
     "global_store_dword v[4:5], v1, off\n"},
    // Readers only, lanes' registers, and memory whose places are not known.
    {true, READ "\n" STOP READ "\n"},
    {true, "ds_bpermute_b32 v1, v2, v3\n" STOP WRITE "\n"},
    {true, "global_load_dword v1, v[2:3], off\n" STOP WRITE "\n"},
    {false, "global_load_dword v1, v[2:3], off\n" STOP "global_store_dword v[4:5], v1, off\n"},
    {false, MASK("64", "v0") MASKED("global_store_dword v[4:5], v1, off")
                STOP MASKED("global_load_dword v1, v[2:3], off")},
    {false, "ds_add_u32 v1, v2\n" STOP MASKED(READ)},
    {false, "s_load_dword s4, s[2:3], 0x0\n" STOP "global_store_dword v[4:5], v1, off\n"},
    // In a loop, what comes after the barrier comes before it, too.
    {false, MASK("64", "v0") STOP READ "\n" MASKED(WRITE) "s_cbranch_scc1 65529\n"},
    {true, MASK("64", "v0") STOP MASKED(READ) MASKED(WRITE) "s_cbranch_scc1 65527\n"},
};

const char *barriers_fail(Arena *arena) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Str listing = code_listing(arena, "gfx942", cases[i].body);
        Mutants list = mutants_of_listing(arena, listing);
        const Mutant *last = NULL;
        for (size_t n = 0; n < list.count; n++)
            if (list.data[n].kind == MUTANT_BARRIER) last = &list.data[n];
        bool excused = last && barriers_excuse(arena, listing, last);
        if (excused != cases[i].excused)
            return arena_printf(arena, "%s: %s", excused ? "one wave" : "not one wave",
                                cases[i].body);
    }
    return NULL;
}
