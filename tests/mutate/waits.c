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
    uint8_t adds;     // a bit for each counter that may count it
    bool sure;        // that one does, and those of it come in order
    Counts wait;      // at most so many are left; NO_WAIT: as many as there are
    bool goes;        // away, always: the next line does not follow
    bool jumps;       // to the target, maybe
    uint32_t target;  // of lines
    bool orders;      // what others do may come between what is before it and what is after
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
    l->jumps = is(l, "s_cbranch") || is(l, "s_branch");
    l->goes = is(l, "s_branch") || is(l, "s_endpgm");
    if (!l->jumps) return true;
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
        if (!l->jumps) continue;
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

// Lines that are reached from one, which does not pass on what `stop` holds of it.
static void flood(const Code *c, uint32_t line, const bool *stop, bool *marked) {
    if (line < c->lines.count) marked[line] = true;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < c->lines.count; i++) {
            const Line *l = &c->lines.data[i];
            uint32_t next = i + 1;
            if (!marked[i] || (stop && stop[i])) continue;
            if (!l->goes && next < c->lines.count && !marked[next]) marked[next] = moved = true;
            if (l->jumps && !marked[l->target]) marked[l->target] = moved = true;
        }
    }
}

// Before each line, at most.
static Counts *under_way(const Code *c) {
    Counts *before = arena_new(c->arena, Counts, c->lines.count + 1);
    bool *reached = arena_new(c->arena, bool, c->lines.count + 1);
    flood(c, 0, NULL, reached);
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

// ---- Registers ----

typedef struct Span {
    char kind;  // v, s, a
    int64_t first, last;
} Span;

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
        if ((*at && str_word_char(s.text[*at - 1])) || !strchr("vsa", c)) continue;
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
    if (l->jumps) *moved |= reach(f, l->target, behind, newer);
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
    bool *reached = arena_new(changed->arena, bool, changed->lines.count + 1);
    flood(changed, 0, NULL, reached);
    for (f.access = 0; f.access < changed->lines.count; f.access++)
        if (reached[f.access] && changed->lines.data[f.access].adds >> counter & 1 &&
            !comes_later(&f))
            return false;
    return true;
}

// ---- Conditions that never change ----

// A mask in scalar registers, as it is where it was made, once. That no lane is of it and that some
// are can each be taken for all of the run, which then has fewer ways.
typedef struct Condition {
    Span mask;
    uint32_t made;  // behind this line
} Condition;
enum { CONDITIONS_MAX = 5 };

typedef enum Awake { NOBODY_KNOWS, ALL, MASKED, UNKNOWN } Awake;
typedef struct Ways {
    const Code *code;
    bool *targets;  // of each line: some line goes there
    Awake *awake;   // before it: all lanes that there are, or what `saved` saves of them
    Span *saved;
    Condition conditions[CONDITIONS_MAX];
    size_t count;
} Ways;

static bool overlap(const Span *a, const Span *b) {
    return a->kind == b->kind && a->first <= b->last && b->first <= a->last;
}

// The registers of an operand that is nothing else.
static bool is_span(Str operand, Span *span) {
    size_t at = 0;
    return operand.size && next_span(operand, &at, span) && at + 1 >= operand.size;
}

// Maybe: some have a second result.
static bool writes(const Line *l, const Span *span) {
    static const char *const one[] = {"v_cmp", "v_cndmask", "s_"};
    Span other;
    uint32_t results = IS_ONE_OF(l, one) ? 1 : 2;
    for (uint32_t k = 0; k < results && k < l->s.operand_count; k++)
        for (size_t at = 0; next_span(l->s.operands[k], &at, &other);)
            if (overlap(&other, span)) return true;
    return false;
}

static bool has_operand(const Line *l, uint32_t k, const char *name) {
    return k < l->s.operand_count && str_starts(l->s.operands[k], str(name));
}

static bool writes_exec(const Line *l) {
    return has_operand(l, 0, "exec") || statement_has(l->s.opcode, "saveexec") ||
           statement_has(l->s.opcode, "wrexec") || is(l, "v_cmpx");
}

static const uint32_t ENTRY = UINT32_MAX;

// The one line whose value is in the mask before `line`, and which is passed once at most.
static bool is_made_once(const Code *c, const Span *mask, uint32_t line, uint32_t *made) {
    size_t count = c->lines.count;
    bool *makes = arena_new(c->arena, bool, count), *marked = arena_new(c->arena, bool, count);
    for (size_t i = 0; i < count; i++) makes[i] = writes(&c->lines.data[i], mask);
    flood(c, 0, makes, marked);
    uint32_t found = marked[line];
    *made = ENTRY;
    for (uint32_t i = 0; i < count; i++) {
        if (!makes[i]) continue;
        memset(marked, 0, count * sizeof *marked);
        flood(c, i + 1, makes, marked);
        if (marked[line]) *made = i, found++;
    }
    if (found != 1 || *made == ENTRY) return found == 1;
    memset(marked, 0, count * sizeof *marked);
    flood(c, *made + 1, NULL, marked);
    return !marked[*made];
}

// ---- Which lanes are awake ----

static void keep_awake(Ways *w, uint32_t line, Awake awake, const Span *saved, bool *moved) {
    if (line >= w->code->lines.count) return;
    Awake *known = &w->awake[line];
    bool same = awake != MASKED ||
                (w->saved[line].first == saved->first && w->saved[line].kind == saved->kind);
    if (*known == UNKNOWN || (*known == awake && same)) return;
    *moved = true;
    w->saved[line] = *saved;
    *known = *known == NOBODY_KNOWS ? awake : UNKNOWN;
}

static void step_awake(Ways *w, uint32_t line, bool *moved) {
    const Line *l = &w->code->lines.data[line];
    Awake awake = w->awake[line];
    Span saved = w->saved[line], other;
    bool restores = is(l, "s_or_b") && has_operand(l, 0, "exec") && has_operand(l, 1, "exec") &&
                    l->s.operand_count == 3 && is_span(l->s.operands[2], &other);
    if (awake == NOBODY_KNOWS) return;
    if (awake == MASKED && restores && overlap(&saved, &other)) {
        awake = ALL;
    } else if (writes_exec(l)) {
        bool saves = awake == ALL && is(l, "s_and_saveexec") && is_span(l->s.operands[0], &saved);
        awake = saves ? MASKED : UNKNOWN;
    } else if (awake == MASKED && writes(l, &saved)) {
        awake = UNKNOWN;
    }
    if (!l->goes) keep_awake(w, line + 1, awake, &saved, moved);
    if (l->jumps) keep_awake(w, l->target, awake, &saved, moved);
}

// ---- What an assumption says of ways ----

// The mask by which the line puts lanes to sleep, or asks whether any is awake.
static bool mask_of(const Line *l, Span *mask) {
    if (is(l, "s_and_saveexec")) return l->s.operand_count == 2 && is_span(l->s.operands[1], mask);
    return is(l, "s_and_b") && has_operand(l, 0, "vcc") && has_operand(l, 1, "exec") &&
           l->s.operand_count == 3 && is_span(l->s.operands[2], mask);
}

static bool same_mask(const Span *a, const Span *b) {
    return a->kind == 's' && a->kind == b->kind && a->first == b->first && a->last == b->last;
}

// "v_cmp_ne_u32 MASK, 1, V" of "v_cndmask V, 0, 1, OTHER" of "s_cselect OTHER, -1, 0": LLVM's way
// to keep a condition of all lanes. The mask has all lanes or none, when the other has none or all.
static bool is_opposite(const Ways *w, uint32_t made, Condition *other) {
    Span number;
    uint32_t chosen;
    const Line *lines = w->code->lines.data, *l = made == ENTRY ? NULL : &lines[made];
    if (!l || !is(l, "v_cmp_ne_u32") || w->awake[made] != ALL || l->s.operand_count != 3 ||
        !has_operand(l, 1, "1") || !is_span(l->s.operands[2], &number) ||
        !is_made_once(w->code, &number, made, &chosen) || chosen == ENTRY)
        return false;
    l = &lines[chosen];
    if (!is(l, "v_cndmask_b32") || w->awake[chosen] != ALL || l->s.operand_count != 4 ||
        !has_operand(l, 1, "0") || !has_operand(l, 2, "1") ||
        !is_span(l->s.operands[3], &other->mask) ||
        !is_made_once(w->code, &other->mask, chosen, &other->made) || other->made == ENTRY)
        return false;
    l = &lines[other->made];
    return is(l, "s_cselect_b") && l->s.operand_count == 3 && has_operand(l, 1, "-1") &&
           str_equal(l->s.operands[2], STR("0"));
}

// What the line asks, if the answer never changes; or the opposite of it.
static bool condition_of(const Ways *w, uint32_t line, Condition *c, bool *opposite) {
    Condition other;
    if (!mask_of(&w->code->lines.data[line], &c->mask) || c->mask.kind != 's') return false;
    if (!is_made_once(w->code, &c->mask, line, &c->made)) return false;
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
    w.awake = arena_new(code->arena, Awake, count);
    w.saved = arena_new(code->arena, Span, count);
    for (uint32_t i = 0; i < count; i++) {
        const Line *l = &code->lines.data[i];
        bool relative =
            statement_has(l->s.opcode, "movrel") || statement_has(l->s.opcode, "gpr_idx");
        if (relative) return w;
        if (l->jumps) w.targets[l->target] = true;
    }
    if (count) w.awake[0] = ALL;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < count; i++) step_awake(&w, i, &moved);
    }
    find_conditions(&w);
    return w;
}

static void never(Line *l) { l->jumps = false; }
static void always(Line *l) { l->goes = true; }

// Lines behind `line` of `code` up to the next that something else may lead to, where no lane is
// awake, or some are.
static void assume_awake(const Ways *w, Code *code, uint32_t line, bool some) {
    for (uint32_t i = line + 1; i < code->lines.count && !w->targets[i]; i++) {
        Line *l = &code->lines.data[i];
        bool scalar = is(l, "s_");
        if (writes_exec(l)) return;
        if (!some && !scalar) l->adds = 0;
        if (is(l, "s_cbranch_execz")) (some ? never : always)(l);
        if (is(l, "s_cbranch_execnz")) (some ? always : never)(l);
        if (l->goes) return;
    }
}

static void assume_vcc(const Ways *w, Code *code, uint32_t line, bool some) {
    for (uint32_t i = line + 1; i < code->lines.count && !w->targets[i]; i++) {
        Line *l = &code->lines.data[i];
        if (is(l, "s_cbranch_vccz")) (some ? never : always)(l);
        if (is(l, "s_cbranch_vccnz")) (some ? always : never)(l);
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
        if (own && w->awake[i] != ALL) continue;  // those of the mask may sleep
        (is(l, "s_and_saveexec") ? assume_awake : assume_vcc)(w, code, i, own);
    }
}

// Of each condition a bit says which is taken.
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
    if (m->kind != MUTANT_WAIT || !read_code(&own, listing)) return NULL;
    if (!read_code(&changed, mutant_text(arena, listing, m))) return NULL;
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

// Of the last wait, changed as said; NULL: no rule is wanted.
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
    // Two regions under one mask: what the first began the second waited for.
    {"gfx942", "gone", IDLE, REGIONS("s_nop 0", "s[4:5]", "s_nop 0")},
    {"gfx942", "gone", NULL, REGIONS("s_nop 0", "s[6:7]", "s_nop 0")},
    {"gfx942", "gone", NULL, REGIONS("s_nop 0", "s[4:5]", "s_mov_b64 s[4:5], 0")},
    {"gfx942", "gone", NULL, REGIONS("s_nop 0", "s[4:5]", "s_load_dwordx4 s[4:7], s[0:1], 0x0")},
    {"gfx942", "gone", NULL, REGIONS("s_mov_b64 exec, s[6:7]", "s[4:5]", "s_mov_b64 exec, -1")},
    // In a loop, and made anew in each step.
    {"gfx942", "gone", IDLE, LOOP("65526")},
    {"gfx942", "gone", NULL, LOOP("65525")},
    // Branches by one condition, and by the opposite.
    {"gfx942", "gone", IDLE, BRANCHES("s_cselect_b64 s[4:5], -1, 0", "vccz", "s[4:5]")},
    {"gfx942", "gone", NULL, BRANCHES("s_cselect_b64 s[4:5], -1, 0", "vccnz", "s[4:5]")},
    {"gfx942", "gone", IDLE, BRANCHES("s_cselect_b64 s[4:5], -1, 0", "vccnz", "s[6:7]")},
    {"gfx942", "gone", NULL, BRANCHES("s_cselect_b64 s[4:5], -1, 0", "vccz", "s[6:7]")},
    {"gfx942", "gone", NULL, BRANCHES("s_mov_b64 s[4:5], s[12:13]", "vccnz", "s[6:7]")},
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
