#include "tests/mutate/waits.h"

#include <string.h>

#include "tests/mutate/listing.h"
#include "tests/mutate/statements.h"

typedef enum Counter { LOADS, STORES, LOCAL, SCALAR, COUNTERS } Counter;
enum { MOST = 64, NO_WAIT = 255, BRANCH_UNIT = 4 };  // the hardware counts to 63

typedef struct Counts {
    uint8_t of[COUNTERS];
} Counts;
typedef struct Line {
    Statement s;
    uint32_t offset, size;
    uint8_t adds;       // a bit for each counter that may count it
    bool sure;          // that one does, and those of it come in order
    Counts wait;        // at most so many are left; NO_WAIT: as many as there are
    bool goes, may_go;  // away: always, or maybe
    uint32_t target;    // of lines
    bool orders;        // what others do may come between what is before it and what is after
} Line;
typedef struct Code {
    Arena *arena;
    VEC(Line) lines;
    bool older, newer;  // before gfx10 stores count as loads; from gfx12 on scalars by themselves
} Code;

static bool is(const Line *l, const char *begin) { return str_starts(l->s.opcode, str(begin)); }

static bool is_one_of(const Line *l, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (is(l, list[i])) return true;
    return false;
}
#define IS_ONE_OF(line, list) is_one_of(line, list, sizeof(list) / sizeof *(list))

// ---- What a line does ----

// Which counters count it, or may do so.
static uint8_t adds(const Code *c, const Line *l) {
    static const char *const scalar[] = {"s_load",        "s_buffer_load", "s_sendmsg", "s_memtime",
                                         "s_memrealtime", "s_store",       "s_dcache",  "s_atc"};
    static const char *const vector[] = {"buffer_", "global_", "scratch_"};
    uint8_t stores = c->older ? 1 << LOADS : 1 << STORES;
    if (IS_ONE_OF(l, scalar)) return c->newer ? 1 << SCALAR : 1 << LOCAL;
    if (is(l, "ds_")) return 1 << LOCAL;
    if (is(l, "global_inv") || is(l, "global_wb")) return 1 << LOADS | 1 << STORES;
    if (!IS_ONE_OF(l, vector) || statement_has(l->s.opcode, "_inv")) return 0;
    if (is(l, "buffer_load") || is(l, "global_load") || is(l, "scratch_load")) return 1 << LOADS;
    if (is(l, "buffer_store") || is(l, "global_store") || is(l, "scratch_store")) return stores;
    return (uint8_t)(1 << LOADS | stores);  // atomics with a result and without
}

static bool is_load(const Line *l) {
    static const char *const loads[] = {"buffer_load", "global_load", "scratch_load", "ds_read",
                                        "ds_load",     "ds_swizzle",  "ds_bpermute",  "ds_permute"};
    return IS_ONE_OF(l, loads) && !statement_has(l->s.whole, "lds");
}
static bool is_store(const Line *l) {
    static const char *const stores[] = {"buffer_store", "global_store", "scratch_store",
                                         "ds_write", "ds_store"};
    return IS_ONE_OF(l, stores) && !statement_has(l->s.opcode, "xchg");
}

static bool orders(const Line *l) {
    static const char *const scopes[] = {" sc0", " sc1", " glc", " slc", " dlc", " scope:", "lds"};
    static const char *const plain[] = {"s_load", "s_buffer_load", "s_memtime"};
    if (is(l, "s_barrier") || is(l, "s_sendmsg")) return true;
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        if (statement_has(l->s.whole, scopes[i])) return true;
    if (statement_has(l->s.opcode, "_inv")) return true;
    return l->adds && !is_load(l) && !is_store(l) && !IS_ONE_OF(l, plain);
}

// "vmcnt(0) lgkmcnt(1)".
static bool read_counts(Str text, Counts *wait) {
    static const struct {
        const char *name;
        Counter counter;
    } names[] = {{"vmcnt(", LOADS}, {"lgkmcnt(", LOCAL}};
    size_t known = 0, parts = 0;
    for (size_t i = 0; i < text.size; i++) parts += text.text[i] == '(';
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (size_t i = 0, n = strlen(names[k].name); i + n < text.size; i++) {
            Str rest, digits = {text.text + i + n, text.size - i - n};
            int64_t value;
            if (memcmp(text.text + i, names[k].name, n) != 0) continue;
            if (!statement_number(str_cut(digits, ')', &rest), &value)) return false;
            wait->of[names[k].counter] = (uint8_t)(value < MOST ? value : NO_WAIT);
            known++;
        }
    return known == parts;
}

// "s_waitcnt_vscnt null, 0x0", "s_wait_loadcnt_dscnt 0x103".
static bool read_one(Line *l) {
    static const struct {
        const char *name;
        Counter low, high;  // those of six bits each, at bits 0 and 8
    } names[] = {{"s_waitcnt_vscnt", STORES, COUNTERS},   {"s_waitcnt_vmcnt", LOADS, COUNTERS},
                 {"s_waitcnt_lgkmcnt", LOCAL, COUNTERS},  {"s_wait_loadcnt", LOADS, COUNTERS},
                 {"s_wait_storecnt", STORES, COUNTERS},   {"s_wait_dscnt", LOCAL, COUNTERS},
                 {"s_wait_kmcnt", SCALAR, COUNTERS},      {"s_wait_loadcnt_dscnt", LOCAL, LOADS},
                 {"s_wait_storecnt_dscnt", LOCAL, STORES}};
    int64_t value;
    if (!l->s.operand_count || !statement_number(l->s.operands[l->s.operand_count - 1], &value))
        return false;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (!str_equal(l->s.opcode, str(names[k].name))) continue;
        l->wait.of[names[k].low] = (uint8_t)(value & (MOST - 1));
        if (names[k].high != COUNTERS) l->wait.of[names[k].high] = (uint8_t)(value >> 8 & 63);
        return true;
    }
    return false;
}

static bool read_wait(Line *l) {
    static const char *const others[] = {"s_waitcnt_depctr", "s_wait_alu", "s_waitcnt_expcnt"};
    memset(l->wait.of, NO_WAIT, sizeof l->wait.of);
    if (!is(l, "s_wait") || IS_ONE_OF(l, others)) return true;
    return str_equal(l->s.opcode, STR("s_waitcnt")) ? read_counts(l->s.rest, &l->wait)
                                                    : read_one(l);
}

static bool read_flow(Line *l) {
    static const char *const unknown[] = {"flat_",         "s_setpc",
                                          "s_swappc",      "s_call",
                                          "image_",        "tbuffer",
                                          "s_subvector",   "s_cbranch_i",
                                          "s_trap",        "exp",
                                          "lds_",          "tensor_",
                                          "s_get_barrier", "s_barrier_signal_isfirst",
                                          "s_cbranch_j",   "s_cbranch_g"};
    int64_t far;
    if (IS_ONE_OF(l, unknown)) return false;
    l->may_go = is(l, "s_cbranch");
    l->goes = is(l, "s_branch") || is(l, "s_endpgm");
    if (!l->may_go && !is(l, "s_branch")) return true;
    if (!l->s.operand_count || !statement_number(l->s.operands[0], &far)) return false;
    l->target = l->offset + l->size + (uint32_t)(BRANCH_UNIT * (int16_t)(uint16_t)far);
    return true;
}

static Line line_of(Str text) {
    Str instruction, size, offset, numbers = str_cut(text, ':', &instruction);
    uint64_t at = 0, bytes = 0;
    offset = str_cut(numbers, ' ', &size);
    str_to_u64(offset, &at, NULL);
    str_to_u64(size, &bytes, NULL);
    return (Line){.s = statement_parse(statement_trim(instruction)),
                  .offset = (uint32_t)at,
                  .size = (uint32_t)bytes};
}

// A branch's target is the offset of a line; from then on its place among them.
static bool find_targets(Code *c) {
    for (size_t i = 0; i < c->lines.count; i++) {
        Line *l = &c->lines.data[i];
        uint32_t n = 0;
        if (!l->may_go && !is(l, "s_branch")) continue;
        while (n < c->lines.count && c->lines.data[n].offset != l->target) n++;
        if (n == c->lines.count) return false;
        l->target = n;
    }
    return true;
}

static bool read_code(Code *c, Str listing) {
    Str rest, head = str_cut(listing, '\n', &rest);
    c->older = str_starts(head, STR(LISTING_BEGIN "gfx9"));
    c->newer = str_starts(head, STR(LISTING_BEGIN "gfx12"));
    while (rest.size) {
        Line l = line_of(str_cut(rest, '\n', &rest));
        if (!read_wait(&l) || !read_flow(&l)) return false;
        l.adds = adds(c, &l);
        l.sure = (is_load(&l) || is_store(&l)) && !is(&l, "scratch_");
        l.orders = orders(&l);
        vec_push(c->arena, &c->lines, l);
    }
    return find_targets(c);
}

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
    for (bool grew = true; grew;) {
        grew = false;
        for (size_t i = 0; i < c->lines.count; i++) {
            const Line *l = &c->lines.data[i];
            Counts then = after(l, before[i]);
            if (!l->goes) grew |= merge(&before[i + 1], &then);
            if (l->may_go || is(l, "s_branch")) grew |= merge(&before[l->target], &then);
        }
    }
    return before;
}

// ---- Registers ----

typedef struct Span {
    char kind;  // v, s, a
    int64_t first, last;
} Span;

static bool in_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static int64_t digits_at(Str s, size_t *at) {
    int64_t value = 0;
    for (; *at < s.size && s.text[*at] >= '0' && s.text[*at] <= '9'; ++*at)
        value = 10 * value + (s.text[*at] - '0');
    return value;
}

// The next of the text from *at on: "v7", "s[4:7]".
static bool next_span(Str s, size_t *at, Span *span) {
    for (; *at + 1 < s.size; ++*at) {
        char c = s.text[*at], next = s.text[*at + 1];
        if ((*at && in_word(s.text[*at - 1])) || !strchr("vsa", c)) continue;
        if (next != '[' && (next < '0' || next > '9')) continue;
        *at += next == '[' ? 2 : 1;
        span->kind = c, span->first = span->last = digits_at(s, at);
        if (next == '[' && *at < s.size && s.text[*at] == ':') ++*at, span->last = digits_at(s, at);
        return true;
    }
    return false;
}

static bool mentions(const Line *l, const Span *span) {
    Span other;
    for (size_t at = 0; next_span(l->s.rest, &at, &other);)
        if (other.kind == span->kind && other.first <= span->last && span->first <= other.last)
            return true;
    return false;
}

// ---- What comes later ----

typedef struct Follow {
    const Code *code;  // as changed
    uint32_t changed;  // the line
    Counter counter;
    uint32_t access;
    bool known;  // what it is
    bool loads;  // it has a result,
    bool alone;  // of what nobody else changes: of other lanes, or of arguments
    Span into;
    uint8_t *newer[2];  // of each line, before and behind the change: so many accesses came since
} Follow;

// No other order of events is possible for who looks at it.
static bool is_harmless(const Follow *f, const Line *l) {
    bool relative = statement_has(l->s.opcode, "movrel") || statement_has(l->s.opcode, "gpr_idx");
    bool ordered = l->orders && !f->alone;
    if (!f->loads && is_store(l)) return false;  // which may be what says that it is there
    return f->known && !ordered && !relative && !(f->loads && mentions(l, &f->into));
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

// One step along all ways from a line; false: something meets the access behind the change.
static bool step(const Follow *f, uint32_t line, int behind, bool *moved) {
    const Line *l = &f->code->lines.data[line];
    uint8_t newer = f->newer[behind][line];
    if (newer == UINT8_MAX || covers(f, l, newer)) return true;
    if (behind && !is_harmless(f, l)) return false;
    if (line == f->changed) behind = 1;
    if (l->sure && l->adds >> f->counter & 1 && newer < MOST) newer++;
    if (!l->goes) *moved |= reach(f, line + 1, behind, newer);
    if (l->may_go || is(l, "s_branch")) *moved |= reach(f, l->target, behind, newer);
    return true;
}

// Of the kernel's arguments: through registers that nothing but such loads has to do with.
static bool is_argument(const Code *c, const Line *load) {
    size_t at = 0;
    Span base, into;
    if (load->s.operand_count < 2 || !next_span(load->s.operands[1], &at, &base)) return false;
    for (size_t i = 0; i < c->lines.count; i++) {
        const Line *l = &c->lines.data[i];
        if (!mentions(l, &base)) continue;
        bool same = is(l, "s_load") && l->s.operand_count > 1 &&
                    str_equal(l->s.operands[1], load->s.operands[1]);
        at = 0;
        if (!same || !next_span(l->s.operands[0], &at, &into)) return false;
        if (into.kind == base.kind && into.first <= base.last && base.first <= into.last)
            return false;
    }
    return true;
}

// An access that the wait no longer covers meets nothing before another wait does.
static bool comes_later(Follow *f) {
    static const char *const shuffles[] = {"ds_swizzle", "ds_bpermute", "ds_permute"};
    const Line *access = &f->code->lines.data[f->access];
    size_t at = 0, count = f->code->lines.count;
    bool scalar = is(access, "s_load") || is(access, "s_buffer_load");
    f->loads = !is_store(access);
    f->alone = IS_ONE_OF(access, shuffles) || (scalar && is_argument(f->code, access));
    f->known = (access->sure || scalar) && access->s.operand_count > 0;
    if (f->loads && f->known) f->known = next_span(access->s.operands[0], &at, &f->into);
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
    for (f.access = 0; f.access < changed->lines.count; f.access++)
        if (changed->lines.data[f.access].adds >> counter & 1 && !comes_later(&f)) return false;
    return true;
}

const char *waits_excuse(Arena *arena, Str listing, const Mutant *m) {
    Code own = {.arena = arena}, changed = {.arena = arena};
    if (m->kind != MUTANT_WAIT || !read_code(&own, listing)) return NULL;
    if (!read_code(&changed, mutant_text(arena, listing, m))) return NULL;
    const Counts *before = under_way(&own);
    const char *why = NULL;
    for (uint32_t i = 0; i < own.lines.count; i++)
        for (int k = 0; k < COUNTERS; k++) {
            uint8_t a = own.lines.data[i].wait.of[k], b = changed.lines.data[i].wait.of[k];
            if (a == b) continue;
            if (!why) why = "idle wait";
            if (before[i].of[k] <= a && before[i].of[k] <= b) continue;
            if (!all_come_later(&changed, i, (Counter)k)) return NULL;
            why = "early wait";
        }
    return why;
}

// ---- what the rules must and must not excuse ----------------------------------------------------

// Of the mutants that change a wait as said; NULL: no rule is wanted.
typedef struct Case {
    const char *processor, *change, *rule, *body;  // each line 4 bytes
} Case;

#define IDLE "idle wait"
#define EARLY "early wait"
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
    // Behind a branch, and of the loop's step before.
    {"gfx942", "gone", NULL,
     "ds_read_b32 v1, v2\ns_waitcnt lgkmcnt(0)\ns_cbranch_scc1 1\ns_endpgm\nv_mov_b32 v4, v1"},
    {"gfx942", "gone", NULL,
     "s_nop 0\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v4, v1\nds_read_b32 v1, v2\ns_cbranch_scc1 65531"},
    {"gfx942", "gone", IDLE,
     "s_nop 0\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v4, v1\nds_read_b32 v1, v2\ns_cbranch_scc1 0"},
    // What fills a register is met by whoever writes it, too, or writes a part.
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
    {"gfx942", "gone", NULL,
     "global_store_dword v[2:3], v1, off\ns_waitcnt vmcnt(0)\nglobal_atomic_add v[4:5], v1, off"},
    {"gfx942", "gone", NULL, "flat_load_dword v1, v[2:3]\ns_waitcnt vmcnt(0)\nv_mov_b32 v4, v5"},
};

static Str listing_of(Arena *arena, const Case *c) {
    StrBuf b = strbuf(arena);
    Str rest = str(c->body);
    strbuf_printf(&b, LISTING_BEGIN "%s 0\n", c->processor);
    uint32_t at = 0;
    for (; rest.size; at += 4) {
        Str line = str_cut(rest, '\n', &rest);
        strbuf_printf(&b, "%u 4: %.*s\n", at, STR_ARG(line));
    }
    strbuf_printf(&b, "%u 4: s_endpgm\n", at);
    return strbuf_str(&b);
}

const char *waits_fail(Arena *arena) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        Str listing = listing_of(arena, c);
        Mutants list = mutants_of_listing(arena, listing);
        bool tried = false;
        for (size_t n = 0; n < list.count; n++) {
            const Mutant *m = &list.data[n];
            if (m->kind != MUTANT_WAIT || strcmp(m->change, c->change) != 0) continue;
            const char *rule = waits_excuse(arena, listing, m);
            bool same = rule && c->rule ? !strcmp(rule, c->rule) : rule == c->rule;
            tried = true;
            if (!same)
                return arena_printf(arena, "%s: %s, not %s: %s", c->processor, rule ? rule : "none",
                                    c->rule ? c->rule : "none", c->body);
        }
        if (!tried) return arena_printf(arena, "%s: no mutant: %s", c->processor, c->body);
    }
    return NULL;
}
