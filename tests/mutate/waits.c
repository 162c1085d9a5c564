#include "tests/mutate/waits.h"

#include <string.h>

#include "tests/mutate/code.h"
#include "tests/mutate/listing.h"

// ---- What is under way ----

static bool merge(Counts *into, const Counts *from) {
    bool grew = false;
    for (int k = 0; k < COUNTERS; k++)
        if (from->of[k] > into->of[k]) into->of[k] = from->of[k], grew = true;
    return grew;
}

static Counts after(const Line *l, Counts before) {
    for (int k = 0; k < COUNTERS; k++) {
        if (before.of[k] > l->wait.of[k]) before.of[k] = l->wait.of[k];
        if (l->adds >> k & 1 && before.of[k] < MOST) before.of[k]++;
    }
    return before;
}

// Before each line, at most.
static Counts *under_way(const Code *c) {
    Counts *before = arena_new(c->arena, Counts, c->lines.count + 1);
    bool *reached = arena_new(c->arena, bool, c->lines.count + 1);
    code_flood(c, 0, NULL, reached);
    for (bool grew = true; grew;) {
        grew = false;
        for (size_t i = 0; i < c->lines.count; i++) {
            const Line *l = &c->lines.data[i];
            if (!reached[i]) continue;
            Counts then = after(l, before[i]);
            if (!l->goes) grew |= merge(&before[i + 1], &then);
            if (l->jumps) grew |= merge(&before[l->target], &then);
        }
    }
    return before;
}

// ---- What comes later ----

typedef struct Follow {
    const Code *code;  // as changed
    uint32_t changed;  // the line
    Counter counter;
    uint32_t access;
    bool known;  // what it is
    bool loads;  // it has a result,
    bool alone;  // its result does not depend on other threads: from other lanes, or an argument
    Span into;
    uint8_t *newer[2];  // by line, before and after the change: accesses since
} Follow;

// No other order of events is possible for who looks at it.
static bool is_harmless(const Follow *f, const Line *l) {
    bool relative = statement_has(l->s.opcode, "movrel") || statement_has(l->s.opcode, "gpr_idx");
    bool ordered = l->orders && !f->alone;
    if (!f->loads && line_is_store(l)) return false;  // which may be what says that it is there
    return f->known && !ordered && !relative && !(f->loads && line_mentions(l, &f->into));
}

static bool covers(const Follow *f, const Line *l, uint8_t newer) {
    uint8_t left = l->wait.of[f->counter];
    return left == 0 || (left != NO_WAIT && f->code->lines.data[f->access].sure && newer >= left);
}

static bool reach(const Follow *f, uint32_t line, int behind, uint8_t newer) {
    uint8_t *known = &f->newer[behind][line];
    if (*known <= newer) return false;
    *known = newer;
    return true;
}

// One step along all paths from a line; false: a line after the change conflicts with the access.
static bool step(const Follow *f, uint32_t line, int behind, bool *moved) {
    const Line *l = &f->code->lines.data[line];
    uint8_t newer = f->newer[behind][line];
    if (newer == UINT8_MAX || covers(f, l, newer)) return true;
    if (behind && !is_harmless(f, l)) return false;
    if (line == f->changed) behind = 1;
    if (l->sure && l->adds >> f->counter & 1 && newer < MOST) newer++;
    if (!l->goes) *moved |= reach(f, line + 1, behind, newer);
    if (l->jumps) *moved |= reach(f, l->target, behind, newer);
    return true;
}

// Does the line do more with what the registers hold than to load from there, or to replace it?
static bool passes_on(const Line *l, const Span *base, Str operand) {
    Span other;
    for (uint32_t k = 1; k < l->s.operand_count; k++)
        for (size_t at = 0; span_next(l->s.operands[k], &at, &other);)
            if (span_overlaps(&other, base) &&
                !(k == 1 && line_is(l, "s_load") && str_equal(l->s.operands[k], operand)))
                return true;
    return false;
}

// Does the load read the kernel's arguments? Its address is in registers that hold what the kernel
// began with, and all other uses of them are loads like it.
static bool is_argument(const Code *c, uint32_t load) {
    size_t count = c->lines.count;
    Span base;
    uint32_t made;
    const Line *l = &c->lines.data[load];
    if (l->s.operand_count < 2 || !span_is(l->s.operands[1], &base)) return false;
    if (!code_made_by(c, &base, load, &made) || made != CODE_ENTRY) return false;
    bool *makes = arena_new(c->arena, bool, count), *begun = arena_new(c->arena, bool, count + 1);
    for (size_t i = 0; i < count; i++) makes[i] = line_writes(&c->lines.data[i], &base);
    code_flood(c, 0, makes, begun);
    for (size_t i = 0; i < count; i++)
        if (begun[i] && passes_on(&c->lines.data[i], &base, l->s.operands[1])) return false;
    return true;
}

// An access that the wait no longer covers meets nothing before another wait does.
static bool comes_later(Follow *f) {
    static const char *const shuffles[] = {"ds_swizzle", "ds_bpermute", "ds_permute"};
    const Line *access = &f->code->lines.data[f->access];
    size_t at = 0, count = f->code->lines.count;
    bool scalar = line_is(access, "s_load") || line_is(access, "s_buffer_load");
    f->loads = !line_is_store(access);
    f->alone = LINE_IS_ONE_OF(access, shuffles) || (scalar && is_argument(f->code, f->access));
    f->known = (access->sure || scalar) && access->s.operand_count > 0;
    if (f->loads && f->known) f->known = span_next(access->s.operands[0], &at, &f->into);
    for (int behind = 0; behind < 2; behind++) {
        f->newer[behind] = arena_alloc(f->code->arena, count + 1);
        memset(f->newer[behind], UINT8_MAX, count + 1);
    }
    reach(f, f->access + 1, 0, 0);
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t line = 0; line < count; line++)
            for (int behind = 0; behind < 2; behind++)
                if (!step(f, line, behind, &moved)) return false;
    }
    return true;
}

static bool all_come_later(const Code *changed, uint32_t line, Counter counter) {
    Follow f = {.code = changed, .changed = line, .counter = counter};
    bool *reached = arena_new(changed->arena, bool, changed->lines.count + 1);
    code_flood(changed, 0, NULL, reached);
    for (f.access = 0; f.access < changed->lines.count; f.access++)
        if (reached[f.access] && changed->lines.data[f.access].adds >> counter & 1 &&
            !comes_later(&f))
            return false;
    return true;
}

// ---- Conditions that never change ----

// A mask in scalar registers that is set once and keeps its value. A run can be followed under the
// assumption that it has no lane, or that it has some, which leaves fewer paths.
typedef struct Condition {
    Span mask;
    uint32_t made;  // it is valid after this line
} Condition;
enum { CONDITIONS_MAX = 5 };

typedef struct Ways {
    const Code *code;
    bool *targets;          // of each line: some line goes there
    const bool *all_awake;  // before it, all lanes that there are
    Condition conditions[CONDITIONS_MAX];
    size_t count;
} Ways;

// ---- What an assumption says of ways ----

// The mask by which the line puts lanes to sleep, or asks whether any is awake.
static bool mask_of(const Line *l, Span *mask) {
    if (line_is(l, "s_and_saveexec"))
        return l->s.operand_count == 2 && span_is(l->s.operands[1], mask);
    return line_is(l, "s_and_b") && line_has_operand(l, 0, "vcc") &&
           line_has_operand(l, 1, "exec") && l->s.operand_count == 3 &&
           span_is(l->s.operands[2], mask);
}

static bool same_mask(const Span *a, const Span *b) {
    return a->kind == 's' && a->kind == b->kind && a->first == b->first && a->last == b->last;
}

// "v_cmp_ne_u32 MASK, 1, V" of "v_cndmask V, 0, 1, OTHER" of "s_cselect OTHER, -1, 0": LLVM's way
// to keep a condition of all lanes. The mask has all lanes or none, when the other has none or all.
static bool is_opposite(const Ways *w, uint32_t made, Condition *other) {
    Span number;
    uint32_t chosen;
    const Line *lines = w->code->lines.data, *l = made == CODE_ENTRY ? NULL : &lines[made];
    if (!l || !line_is(l, "v_cmp_ne_u32") || !w->all_awake[made] || l->s.operand_count != 3 ||
        !line_has_operand(l, 1, "1") || !span_is(l->s.operands[2], &number) ||
        !code_made_once(w->code, &number, made, &chosen) || chosen == CODE_ENTRY)
        return false;
    l = &lines[chosen];
    if (!line_is(l, "v_cndmask_b32") || !w->all_awake[chosen] || l->s.operand_count != 4 ||
        !line_has_operand(l, 1, "0") || !line_has_operand(l, 2, "1") ||
        !span_is(l->s.operands[3], &other->mask) ||
        !code_made_once(w->code, &other->mask, chosen, &other->made) || other->made == CODE_ENTRY)
        return false;
    l = &lines[other->made];
    return line_is(l, "s_cselect_b") && l->s.operand_count == 3 && line_has_operand(l, 1, "-1") &&
           str_equal(l->s.operands[2], STR("0"));
}

// The condition that the line tests, if the answer never changes; or the opposite of it.
static bool condition_of(const Ways *w, uint32_t line, Condition *c, bool *opposite) {
    Condition other;
    if (!mask_of(&w->code->lines.data[line], &c->mask) || c->mask.kind != 's') return false;
    if (!code_made_once(w->code, &c->mask, line, &c->made)) return false;
    *opposite = is_opposite(w, c->made, &other);
    if (*opposite) *c = other;
    return true;
}

static bool same_condition(const Condition *a, const Condition *b) {
    return same_mask(&a->mask, &b->mask) && a->made == b->made;
}

static void find_conditions(Ways *w) {
    for (uint32_t i = 0; i < w->code->lines.count; i++) {
        Condition c;
        bool opposite, known = false;
        if (!condition_of(w, i, &c, &opposite)) continue;
        for (size_t k = 0; k < w->count; k++) known |= same_condition(&w->conditions[k], &c);
        if (!known && w->count < CONDITIONS_MAX) w->conditions[w->count++] = c;
    }
}

static Ways find_ways(const Code *code) {
    size_t count = code->lines.count;
    Ways w = {.code = code};
    w.targets = arena_new(code->arena, bool, count);
    for (uint32_t i = 0; i < count; i++) {
        const Line *l = &code->lines.data[i];
        bool relative =
            statement_has(l->s.opcode, "movrel") || statement_has(l->s.opcode, "gpr_idx");
        if (relative) return w;
        if (l->jumps) w.targets[l->target] = true;
    }
    w.all_awake = code_all_awake(code);
    find_conditions(&w);
    return w;
}

static void never(Line *l) { l->jumps = false; }
static void always(Line *l) { l->goes = true; }

// Changes the lines after `line` of `code`, up to the next that another line may lead to, for the
// case that no lane is awake, or that some are.
static void assume_awake(const Ways *w, Code *code, uint32_t line, bool some) {
    for (uint32_t i = line + 1; i < code->lines.count && !w->targets[i]; i++) {
        Line *l = &code->lines.data[i];
        bool scalar = line_is(l, "s_");
        if (line_writes_exec(l)) return;
        if (!some && !scalar) l->adds = 0;
        if (line_is(l, "s_cbranch_execz")) (some ? never : always)(l);
        if (line_is(l, "s_cbranch_execnz")) (some ? always : never)(l);
        if (l->goes) return;
    }
}

static void assume_vcc(const Ways *w, Code *code, uint32_t line, bool some) {
    for (uint32_t i = line + 1; i < code->lines.count && !w->targets[i]; i++) {
        Line *l = &code->lines.data[i];
        if (line_is(l, "s_cbranch_vccz")) (some ? never : always)(l);
        if (line_is(l, "s_cbranch_vccnz")) (some ? always : never)(l);
        if (l->goes || statement_has(l->s.rest, "vcc")) return;
    }
}

static void assume(const Ways *w, Code *code, const Condition *wanted, bool some) {
    for (uint32_t i = 0; i < code->lines.count; i++) {
        const Line *l = &w->code->lines.data[i];
        Condition c;
        bool opposite;
        if (!condition_of(w, i, &c, &opposite) || !same_condition(&c, wanted)) continue;
        bool own = some != opposite;
        if (own && !w->all_awake[i]) continue;  // those of the mask may sleep
        (line_is(l, "s_and_saveexec") ? assume_awake : assume_vcc)(w, code, i, own);
    }
}

// The code if bit k of `some` decides condition k.
static Code taken(const Ways *w, const Code *code, unsigned some) {
    Code c = *code;
    c.lines.data = arena_copy(code->arena, code->lines.data, code->lines.count * sizeof(Line));
    for (size_t k = 0; k < w->count; k++) assume(w, &c, &w->conditions[k], some >> k & 1);
    return c;
}

// ---- Rules ----

static const char *excuse(const Code *own, const Code *changed) {
    const Counts *before = under_way(own);
    const char *why = NULL;
    for (uint32_t i = 0; i < own->lines.count; i++)
        for (int k = 0; k < COUNTERS; k++) {
            uint8_t a = own->lines.data[i].wait.of[k], b = changed->lines.data[i].wait.of[k];
            if (a == b) continue;
            if (!why) why = "idle wait";
            if (before[i].of[k] <= a && before[i].of[k] <= b) continue;
            if (!all_come_later(changed, i, (Counter)k)) return NULL;
            why = "early wait";
        }
    return why;
}

const char *waits_excuse(Arena *arena, Str listing, const Mutant *m) {
    Code own = {.arena = arena}, changed = {.arena = arena};
    if (m->kind != MUTANT_WAIT || !code_read(&own, listing)) return NULL;
    if (!code_read(&changed, mutant_text(arena, listing, m))) return NULL;
    const char *why = excuse(&own, &changed);
    if (why) return why;
    Ways ways = find_ways(&own);
    for (unsigned some = 0; some < 1u << ways.count; some++) {
        Code of_own = taken(&ways, &own, some), of_changed = taken(&ways, &changed, some);
        why = excuse(&of_own, &of_changed);
        if (!why) return NULL;
    }
    return why;
}

// ---- what the rules must and must not excuse ----------------------------------------------------

// The mutant changes the last wait as `change` says; `rule` must excuse it. NULL: no rule may.
typedef struct Case {
    const char *processor, *change, *rule, *body;  // each line 4 bytes
} Case;

#define IDLE "idle wait"
#define EARLY "early wait"
#define REGIONS(first, other, between)                                                   \
    first                                                                                \
        "\ns_and_saveexec_b64 s[8:9], s[4:5]\nds_read_b32 v1, v2\ns_or_b64 exec, exec, " \
        "s[8:9]\n" between "\ns_and_saveexec_b64 s[8:9], " other                         \
        "\ns_cbranch_execz 1\ns_waitcnt lgkmcnt(0)\n"                                    \
        "s_or_b64 exec, exec, s[8:9]\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v4, v1"
#define LOOP(begin)                                                                               \
    "s_mov_b64 s[4:5], s[6:7]\ns_and_saveexec_b64 s[8:9], s[4:5]\ns_cbranch_execz 1\n"            \
    "s_waitcnt lgkmcnt(0)\ns_or_b64 exec, exec, s[8:9]\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v4, v1\n" \
    "s_and_saveexec_b64 s[8:9], s[4:5]\nds_read_b32 v1, v2\ns_or_b64 exec, exec, s[8:9]\n"        \
    "s_cbranch_scc1 " begin
#define BRANCHES(made, way, mask)                                                 \
    made "\nv_cndmask_b32_e64 v3, 0, 1, s[4:5]\nv_cmp_ne_u32_e64 s[6:7], 1, v3\n" \
         "s_and_b64 vcc, exec, s[4:5]\ns_cbranch_vccz 1\nds_read_b32 v1, v2\n"    \
         "s_and_b64 vcc, exec, " mask "\ns_cbranch_" way                          \
         " 1\ns_waitcnt lgkmcnt(0)\n"                                             \
         "s_waitcnt lgkmcnt(0)\nv_mov_b32 v4, v1"
static const Case cases[] = {
    {"gfx942", "gone", NULL,
     "global_load_dword v1, v[2:3], off\ns_waitcnt vmcnt(0)\nv_mov_b32 v4, v1"},
    {"gfx942", "one more", NULL,
     "global_load_dword v1, v[2:3], off\ns_waitcnt vmcnt(0)\nv_mov_b32 v4, v1"},
    {"gfx942", "one more", EARLY,
     "ds_read_b32 v1, v2\nds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v4, v1"},
    {"gfx942", "one more", NULL,
     "ds_read_b32 v1, v2\nds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v4, v3"},
    {"gfx942", "one more", NULL,
     "ds_read_b32 v1, v2\nds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)\ns_barrier\nv_mov_b32 v4, v1"},
    // Nothing is counted by that counter, or all of it has come.
    {"gfx942", "gone", IDLE, "global_load_dword v1, v[2:3], off\ns_waitcnt lgkmcnt(0)\ns_barrier"},
    {"gfx942", "gone", NULL, "global_store_dword v[2:3], v1, off\ns_waitcnt vmcnt(0)\ns_barrier"},
    {"gfx1100", "gone", IDLE, "global_store_b32 v[2:3], v1, off\ns_waitcnt vmcnt(0)\ns_barrier"},
    {"gfx1100", "gone", NULL,
     "global_store_b32 v[2:3], v1, off\ns_waitcnt_vscnt null, 0x0\ns_barrier"},
    {"gfx1201", "gone", IDLE, "s_load_b32 s4, s[0:1], 0x0\ns_wait_dscnt 0x0\ns_mov_b32 s5, s4"},
    {"gfx1201", "gone", NULL, "s_load_b32 s4, s[0:1], 0x0\ns_wait_kmcnt 0x0\ns_mov_b32 s5, s4"},
    {"gfx1201", "gone", NULL, "ds_load_b32 v1, v2\ns_wait_loadcnt_dscnt 0x300\nv_mov_b32 v4, v1"},
    // After a branch, and from the loop's iteration before.
    {"gfx942", "gone", NULL,
     "ds_read_b32 v1, v2\ns_waitcnt lgkmcnt(0)\ns_cbranch_scc1 1\ns_endpgm\nv_mov_b32 v4, v1"},
    {"gfx942", "gone", NULL,
     "s_nop 0\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v4, v1\nds_read_b32 v1, v2\ns_cbranch_scc1 65531"},
    {"gfx942", "gone", IDLE,
     "s_nop 0\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v4, v1\nds_read_b32 v1, v2\ns_cbranch_scc1 0"},
    // A line that writes a register which a load fills, or a part of it, conflicts with the load.
    {"gfx942", "gone", NULL, "ds_read_b32 v1, v2\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v1, 0"},
    {"gfx942", "gone", NULL,
     "ds_read_b128 v[4:7], v2\ns_waitcnt lgkmcnt(0)\nv_pk_add_f32 v[8:9], v[6:7], v[2:3]"},
    {"gfx942", "gone", EARLY,
     "ds_read_b128 v[4:7], v2\ns_waitcnt lgkmcnt(0)\nv_pk_add_f32 v[8:9], v[2:3], s[4:5]"},
    {"gfx1100", "gone", NULL,
     "ds_storexchg_rtn_b32 v1, v2, v3\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v4, v1"},
    {"gfx1201", "gone", NULL,
     "global_load_b32 v1, v[2:3], off\nglobal_inv scope:SCOPE_DEV\ns_wait_loadcnt 0x1\n"
     "v_mov_b32 v4, v1"},
    {"gfx942", "gone", NULL,
     "s_load_dword s4, s[2:3], 0x0\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
     "global_store_dword v1, v2, s[2:3]"},
    {"gfx1100", "gone", NULL,
     "global_store_b32 v[2:3], v1, off\ns_waitcnt_vscnt null, 0x0\n"
     "global_store_b32 v[4:5], v6, off"},
    {"gfx942", "gone", NULL,
     "ds_write_b32 v1, v2\ns_waitcnt lgkmcnt(0)\nbuffer_store_lds_dword s[4:7], 0"},
    {"gfx1100", "gone", NULL, "ds_store_b32 v1, v2\ns_waitcnt lgkmcnt(0)\nlds_direct_load v4"},
    // Lanes of a warp and arguments have no barriers.
    {"gfx942", "gone", EARLY, "ds_bpermute_b32 v1, v2, v3\ns_waitcnt lgkmcnt(0)\ns_barrier"},
    {"gfx942", "gone", NULL, "ds_read_b32 v1, v2\ns_waitcnt lgkmcnt(0)\ns_barrier"},
    {"gfx942", "gone", NULL, "ds_write_b32 v1, v2\ns_waitcnt lgkmcnt(0)\ns_barrier"},
    {"gfx942", "gone", EARLY, "s_load_dword s4, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_barrier"},
    {"gfx942", "gone", EARLY,
     "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
     "s_mov_b64 s[0:1], s[8:9]\nglobal_store_dword v1, v2, s[0:1]"},
    {"gfx942", "gone", NULL,
     "s_mov_b64 s[0:1], s[8:9]\ns_load_dword s4, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_barrier"},
    {"gfx942", "gone", NULL,
     "s_mov_b64 s[6:7], s[0:1]\ns_load_dword s4, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_barrier"},
    {"gfx942", "gone", NULL,
     "global_store_dword v[2:3], v1, off\ns_waitcnt vmcnt(0)\nglobal_atomic_add v[4:5], v1, off"},
    {"gfx942", "gone", NULL, "flat_load_dword v1, v[2:3]\ns_waitcnt vmcnt(0)\nv_mov_b32 v4, v5"},
    // Two regions under one mask: what the first began the second waited for.
    {"gfx942", "gone", IDLE, REGIONS("s_nop 0", "s[4:5]", "s_nop 0")},
    {"gfx942", "gone", NULL, REGIONS("s_nop 0", "s[6:7]", "s_nop 0")},
    {"gfx942", "gone", NULL, REGIONS("s_nop 0", "s[4:5]", "s_mov_b64 s[4:5], 0")},
    {"gfx942", "gone", NULL, REGIONS("s_nop 0", "s[4:5]", "s_load_dwordx4 s[4:7], s[0:1], 0x0")},
    {"gfx942", "gone", NULL, REGIONS("s_mov_b64 exec, s[6:7]", "s[4:5]", "s_mov_b64 exec, -1")},
    // In a loop, and set again in each iteration.
    {"gfx942", "gone", IDLE, LOOP("65526")},
    {"gfx942", "gone", NULL, LOOP("65525")},
    // Branches by one condition, and by the opposite.
    {"gfx942", "gone", IDLE, BRANCHES("s_cselect_b64 s[4:5], -1, 0", "vccz", "s[4:5]")},
    {"gfx942", "gone", NULL, BRANCHES("s_cselect_b64 s[4:5], -1, 0", "vccnz", "s[4:5]")},
    {"gfx942", "gone", IDLE, BRANCHES("s_cselect_b64 s[4:5], -1, 0", "vccnz", "s[6:7]")},
    {"gfx942", "gone", NULL, BRANCHES("s_cselect_b64 s[4:5], -1, 0", "vccz", "s[6:7]")},
    {"gfx942", "gone", NULL, BRANCHES("s_mov_b64 s[4:5], s[12:13]", "vccnz", "s[6:7]")},
};

const char *waits_fail(Arena *arena) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        Str listing = code_listing(arena, c->processor, c->body);
        Mutants list = mutants_of_listing(arena, listing);
        const Mutant *last = NULL;
        for (size_t n = 0; n < list.count; n++) {
            const Mutant *m = &list.data[n];
            if (m->kind == MUTANT_WAIT && !strcmp(m->change, c->change)) last = m;
        }
        if (!last) return arena_printf(arena, "%s: no mutant: %s", c->processor, c->body);
        const char *rule = waits_excuse(arena, listing, last);
        if (rule && c->rule ? !strcmp(rule, c->rule) : rule == c->rule) continue;
        return arena_printf(arena, "%s: %s, not %s: %s", c->processor, rule ? rule : "none",
                            c->rule ? c->rule : "none", c->body);
    }
    return NULL;
}
