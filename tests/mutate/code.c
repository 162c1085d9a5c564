#include "tests/mutate/code.h"

#include <string.h>

#include "tests/mutate/listing.h"

enum { BRANCH_UNIT = 4 };  // bytes

// ---- What a line does ----

// Which counters count it, or may do so.
static uint8_t adds(const Code *c, const Line *l) {
    static const char *const scalar[] = {"s_load",        "s_buffer_load", "s_sendmsg", "s_memtime",
                                         "s_memrealtime", "s_store",       "s_dcache",  "s_atc"};
    static const char *const vector[] = {"buffer_", "global_", "scratch_"};
    uint8_t stores = c->older ? 1 << LOADS : 1 << STORES;
    if (LINE_IS_ONE_OF(l, scalar)) return c->newer ? 1 << SCALAR : 1 << LOCAL;
    if (line_is(l, "ds_")) return 1 << LOCAL;
    if (line_is(l, "global_inv") || line_is(l, "global_wb")) return 1 << LOADS | 1 << STORES;
    if (!LINE_IS_ONE_OF(l, vector) || statement_has(l->s.opcode, "_inv")) return 0;
    if (line_is(l, "buffer_load") || line_is(l, "global_load") || line_is(l, "scratch_load"))
        return 1 << LOADS;
    if (line_is(l, "buffer_store") || line_is(l, "global_store") || line_is(l, "scratch_store"))
        return stores;
    return (uint8_t)(1 << LOADS | stores);  // atomics with a result and without
}

bool line_is_load(const Line *l) {
    static const char *const loads[] = {"buffer_load", "global_load", "scratch_load", "ds_read",
                                        "ds_load",     "ds_swizzle",  "ds_bpermute",  "ds_permute"};
    return LINE_IS_ONE_OF(l, loads) && !statement_has(l->s.whole, "lds");
}
bool line_is_store(const Line *l) {
    static const char *const stores[] = {"buffer_store", "global_store", "scratch_store",
                                         "ds_write", "ds_store"};
    return LINE_IS_ONE_OF(l, stores) && !statement_has(l->s.opcode, "xchg");
}

static bool orders(const Line *l) {
    static const char *const scopes[] = {" sc0", " sc1", " glc", " slc", " dlc", " scope:", "lds"};
    static const char *const plain[] = {"s_load", "s_buffer_load", "s_memtime"};
    if (line_is(l, "s_barrier") || line_is(l, "s_sendmsg")) return true;
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        if (statement_has(l->s.whole, scopes[i])) return true;
    if (statement_has(l->s.opcode, "_inv")) return true;
    return l->adds && !line_is_load(l) && !line_is_store(l) && !LINE_IS_ONE_OF(l, plain);
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
    if (!line_is(l, "s_wait") || LINE_IS_ONE_OF(l, others)) return true;
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
    if (LINE_IS_ONE_OF(l, unknown)) return false;
    l->jumps = line_is(l, "s_cbranch") || line_is(l, "s_branch");
    l->goes = line_is(l, "s_branch") || line_is(l, "s_endpgm");
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

bool code_read(Code *c, Str listing) {
    Str rest, head = str_cut(listing, '\n', &rest);
    c->older = str_starts(head, STR(LISTING_BEGIN "gfx9"));
    c->newer = str_starts(head, STR(LISTING_BEGIN "gfx12"));
    while (rest.size) {
        Line l = line_of(str_cut(rest, '\n', &rest));
        if (!read_wait(&l) || !read_flow(&l)) return false;
        l.adds = adds(c, &l);
        l.sure = (line_is_load(&l) || line_is_store(&l)) && !line_is(&l, "scratch_");
        l.orders = orders(&l);
        vec_push(c->arena, &c->lines, l);
    }
    return find_targets(c);
}

// ---- Ways ----

void code_flood(const Code *c, uint32_t line, const bool *stop, bool *marked) {
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

// ---- Registers ----

static int64_t digits_at(Str s, size_t *at) {
    int64_t value = 0;
    for (; *at < s.size && s.text[*at] >= '0' && s.text[*at] <= '9'; ++*at)
        value = 10 * value + (s.text[*at] - '0');
    return value;
}

bool span_next(Str s, size_t *at, Span *span) {
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

bool line_mentions(const Line *l, const Span *span) {
    Span other;
    for (size_t at = 0; span_next(l->s.rest, &at, &other);)
        if (other.kind == span->kind && other.first <= span->last && span->first <= other.last)
            return true;
    return false;
}

bool span_overlaps(const Span *a, const Span *b) {
    return a->kind == b->kind && a->first <= b->last && b->first <= a->last;
}

bool span_is(Str operand, Span *span) {
    size_t at = 0;
    return operand.size && span_next(operand, &at, span) && at + 1 >= operand.size;
}

// Some have a second result.
bool line_writes(const Line *l, const Span *span) {
    static const char *const none[] = {"s_cmp_", "s_bitcmp"};
    static const char *const one[] = {"v_cmp", "v_cndmask", "s_"};
    Span other;
    uint32_t results = LINE_IS_ONE_OF(l, none) ? 0 : LINE_IS_ONE_OF(l, one) ? 1 : 2;
    for (uint32_t k = 0; k < results && k < l->s.operand_count; k++)
        for (size_t at = 0; span_next(l->s.operands[k], &at, &other);)
            if (span_overlaps(&other, span)) return true;
    return false;
}

bool line_has_operand(const Line *l, uint32_t k, const char *name) {
    return k < l->s.operand_count && str_starts(l->s.operands[k], str(name));
}

bool line_writes_exec(const Line *l) {
    return line_has_operand(l, 0, "exec") || statement_has(l->s.opcode, "saveexec") ||
           statement_has(l->s.opcode, "wrexec") || line_is(l, "v_cmpx");
}

bool code_made_by(const Code *c, const Span *mask, uint32_t line, uint32_t *made) {
    size_t count = c->lines.count;
    bool *makes = arena_new(c->arena, bool, count), *marked = arena_new(c->arena, bool, count);
    for (size_t i = 0; i < count; i++) makes[i] = line_writes(&c->lines.data[i], mask);
    code_flood(c, 0, makes, marked);
    uint32_t found = marked[line];
    *made = CODE_ENTRY;
    for (uint32_t i = 0; i < count; i++) {
        if (!makes[i]) continue;
        memset(marked, 0, count * sizeof *marked);
        code_flood(c, i + 1, makes, marked);
        if (marked[line]) *made = i, found++;
    }
    return found == 1;
}

bool code_made_once(const Code *c, const Span *mask, uint32_t line, uint32_t *made) {
    if (!code_made_by(c, mask, line, made)) return false;
    if (*made == CODE_ENTRY) return true;
    bool *marked = arena_new(c->arena, bool, c->lines.count);
    code_flood(c, *made + 1, NULL, marked);
    return !marked[*made];
}

// ---- Which lanes are awake ----

typedef enum Awake { NOBODY_KNOWS, ALL, MASKED, UNKNOWN } Awake;
typedef struct Lanes {
    const Code *code;
    Awake *awake;  // before each line: all lanes that there are, or what `saved` saves of them
    Span *saved;
} Lanes;

static void keep_awake(Lanes *w, uint32_t line, Awake awake, const Span *saved, bool *moved) {
    if (line >= w->code->lines.count) return;
    Awake *known = &w->awake[line];
    bool same = awake != MASKED ||
                (w->saved[line].first == saved->first && w->saved[line].kind == saved->kind);
    if (*known == UNKNOWN || (*known == awake && same)) return;
    *moved = true;
    w->saved[line] = *saved;
    *known = *known == NOBODY_KNOWS ? awake : UNKNOWN;
}

static void step_awake(Lanes *w, uint32_t line, bool *moved) {
    const Line *l = &w->code->lines.data[line];
    Awake awake = w->awake[line];
    Span saved = w->saved[line], other;
    bool restores = line_is(l, "s_or_b") && line_has_operand(l, 0, "exec") &&
                    line_has_operand(l, 1, "exec") && l->s.operand_count == 3 &&
                    span_is(l->s.operands[2], &other);
    if (awake == NOBODY_KNOWS) return;
    if (awake == MASKED && restores && span_overlaps(&saved, &other)) {
        awake = ALL;
    } else if (line_writes_exec(l)) {
        bool saves =
            awake == ALL && line_is(l, "s_and_saveexec") && span_is(l->s.operands[0], &saved);
        awake = saves ? MASKED : UNKNOWN;
    } else if (awake == MASKED && line_writes(l, &saved)) {
        awake = UNKNOWN;
    }
    if (!l->goes) keep_awake(w, line + 1, awake, &saved, moved);
    if (l->jumps) keep_awake(w, l->target, awake, &saved, moved);
}

const bool *code_all_awake(const Code *c) {
    size_t count = c->lines.count;
    Lanes w = {c, arena_new(c->arena, Awake, count + 1), arena_new(c->arena, Span, count + 1)};
    bool *all = arena_new(c->arena, bool, count + 1);
    w.awake[0] = ALL;
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < count; i++) step_awake(&w, i, &moved);
    }
    for (uint32_t i = 0; i < count; i++) all[i] = w.awake[i] == ALL;
    return all;
}

Str code_listing(Arena *arena, const char *processor, const char *body) {
    StrBuf b = strbuf(arena);
    Str rest = str(body);
    strbuf_printf(&b, LISTING_BEGIN "%s 0\n", processor);
    uint32_t at = 0;
    for (; rest.size; at += 4) {
        Str line = str_cut(rest, '\n', &rest);
        strbuf_printf(&b, "%u 4: %.*s\n", at, STR_ARG(line));
    }
    strbuf_printf(&b, "%u 4: s_endpgm\n", at);
    return strbuf_str(&b);
}
