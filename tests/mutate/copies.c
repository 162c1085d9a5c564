#include "tests/mutate/copies.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

enum { THREADS_MAX = 1024, LANES = 32 };

typedef VEC(size_t) Places;
typedef struct Register {
    Places defs;
    int64_t *number;  // of each thread; NULL: not known
    bool same;        // in t and t ^ bit
} Register;

struct Copies {
    Arena *arena;
    Statements statements;
    int64_t **addresses;  // of each statement's access by each thread; NULL: not known
    Map names;            // of registers: their place and one
    VEC(Register) registers;
    size_t threads;
    size_t bit;
};

static Register *find(const Copies *c, Str name) {
    size_t at = 0;
    uint64_t key = statement_register(name, &at);
    const uint64_t *place = key ? map_find(&c->names, key) : NULL;
    return place ? &c->registers.data[*place - 1] : NULL;
}

// ---- numbers ------------------------------------------------------------------------------------

// An operand as the thread sees it; shared memory begins at 0.
static bool number_of(const Copies *c, Str s, size_t thread, int64_t *value) {
    if (statement_number(s, value)) return true;
    *value = str_equal(s, STR("%tid.x")) ? (int64_t)thread : 0;
    if (str_equal(s, STR("%tid.x")) || str_equal(s, STR("tilec_shared"))) return true;
    const Register *r = find(c, s);
    if (r && r->number) *value = r->number[thread];
    return r && r->number;
}

static bool compute(const Statement *s, const int64_t *x, int64_t *y) {
    uint64_t a = (uint32_t)x[0], b = (uint32_t)x[1], n = (uint32_t)x[2];
    if (statement_is(s, "mov.b32") || statement_is(s, "mov.u32") ||
        statement_is(s, "cvt.u64.u32") || statement_is(s, "cvt.u32.u64"))
        *y = (int64_t)a;
    else if (statement_is(s, "and.b32"))
        *y = (int64_t)(a & b);
    else if (statement_is(s, "or.b32"))
        *y = (int64_t)(a | b);
    else if (statement_is(s, "xor.b32"))
        *y = (int64_t)(a ^ b);
    else if (statement_is(s, "add.s32"))
        *y = (uint32_t)(a + b);
    else if (statement_is(s, "sub.s32"))
        *y = (uint32_t)(a - b);
    else if (statement_is(s, "shl.b32"))
        *y = b < 32 ? (uint32_t)(a << b) : 0;
    else if (statement_is(s, "shr.u32"))
        *y = b < 32 ? (int64_t)(a >> b) : 0;
    else if (statement_is(s, "bfe.u32") && b + n < 32)
        *y = (int64_t)(a >> b & ((UINT64_C(1) << n) - 1));
    else if (statement_is(s, "bfe.s32") && b + n < 32 && n)
        *y = (uint32_t)((int64_t)(a << (64 - b - n)) >> (64 - n));
    else if (statement_is(s, "setp.lt.u32"))
        *y = a < b;
    else if (statement_is(s, "setp.gt.u32"))
        *y = a > b;
    else if (statement_is(s, "setp.eq.b32"))
        *y = a == b;
    else if (statement_is(s, "setp.ne.b32"))
        *y = a != b;
    else if (statement_is(s, "selp.b32"))
        *y = (int64_t)(n ? a : b);
    else
        return false;
    return true;
}

static void number_register(Copies *c, Register *r) {
    if (r->defs.count != 1) return;
    const Statement *s = &c->statements.data[r->defs.data[0]];
    if (s->guard.size || s->operand_count < 2 || s->operand_count > 4) return;
    int64_t *all = arena_new(c->arena, int64_t, c->threads);
    for (size_t t = 0; t < c->threads; t++) {
        int64_t x[3] = {0};
        for (uint32_t n = 1; n < s->operand_count; n++)
            if (!number_of(c, s->operands[n], t, &x[n - 1])) return;
        if (!compute(s, x, &all[t])) return;
    }
    r->number = all;
}

// ---- what is the same in both threads -----------------------------------------------------------

static bool number_same(const Copies *c, const Register *r) {
    for (size_t t = 0; t < c->threads; t++)
        if (r->number[t] != r->number[t ^ c->bit]) return false;
    return true;
}

// All that is read by the operand; of special registers only those of the whole program.
static bool operand_same(const Copies *c, Str s) {
    static const char *const uniform[] = {"%ctaid", "%nctaid", "%ntid"};
    size_t at = 0;
    for (size_t from = 0; statement_register(s, &at); from = at) {
        while (s.text[from] != '%') from++;
        Str name = {s.text + from, s.size - from};
        const Register *r = find(c, name);
        bool known = r && r->same;
        for (size_t i = 0; !r && i < sizeof uniform / sizeof *uniform; i++)
            known |= str_starts(name, str(uniform[i]));
        if (!known) return false;
    }
    return true;
}

static bool guard_same(const Copies *c, const Statement *s) { return operand_same(c, s->guard); }

// "[%r1+8]" as a number of the thread.
static bool thread_address(const Copies *c, Str s, size_t thread, int64_t *address) {
    Str rest, inside = {s.text + 1, s.size - 2};
    int64_t offset = 0;
    if (s.size < 3 || s.text[0] != '[') return false;
    Str base = statement_trim(str_cut(inside, '+', &rest));
    if (rest.size && !statement_number(statement_trim(rest), &offset)) return false;
    if (!number_of(c, base, thread, address)) return false;
    *address += offset;
    return true;
}

// The address of an access of shared memory, by each thread. NULL: not known.
static int64_t *addresses_of(const Copies *c, const Statement *s) {
    if (!statement_has(s->opcode, ".shared") || statement_is(s, "cp.async")) return NULL;
    int64_t *all = arena_new(c->arena, int64_t, c->threads);
    uint32_t n = statement_is(s, "st") ? 0 : 1;
    for (size_t t = 0; t < c->threads; t++)
        if (n >= s->operand_count || !thread_address(c, s->operands[n], t, &all[t])) return NULL;
    return all;
}

static bool ends_stretch(const Statement *s) {
    return statement_is(s, "bar.sync") || statement_is(s, "barrier");
}
static bool leaves(const Statement *s) {
    return statement_is(s, "bra") || statement_is(s, "ret") || statement_is(s, "exit");
}

// The statements before `at` up to the barrier before it, on the only way to it.
static bool stretch_before(const Copies *c, size_t at, size_t *begin) {
    const Statement *all = c->statements.data;
    for (*begin = at; *begin > 0 && !ends_stretch(&all[*begin - 1]); --*begin)
        if (all[*begin].label || leaves(&all[*begin - 1])) return false;
    return !all[*begin].label;
}

static size_t access_bytes(const Statement *s) {
    size_t bits = statement_has(s->opcode, "64") ? 64 : statement_has(s->opcode, "32") ? 32 : 16;
    if (statement_has(s->opcode, ".v2")) bits *= 2;
    if (statement_has(s->opcode, ".v4")) bits *= 4;
    return bits / 8;
}

typedef struct Writer {
    size_t statement, thread;
} Writer;

// The one plain store of the stretch that wrote what is read; races are none of the text's.
static bool writer_of(const Copies *c, size_t begin, size_t end, int64_t address, size_t bytes,
                      Writer *w) {
    int found = 0;
    for (size_t i = begin; i < end; i++) {
        const Statement *s = &c->statements.data[i];
        if (statement_is(s, "stmatrix") || statement_is(s, "atom") || statement_is(s, "red"))
            return false;
        if (!statement_is(s, "st.shared")) continue;
        if (!c->addresses[i]) return false;
        int64_t size = (int64_t)access_bytes(s);
        for (size_t t = 0; t < c->threads; t++) {
            int64_t place = c->addresses[i][t];
            if (place + size <= address || address + (int64_t)bytes <= place) continue;
            if (s->guard.size || place != address || size != (int64_t)bytes) return false;
            *w = (Writer){i, t};
            found++;
        }
    }
    return found == 1;
}

// The surroundings of a load of shared memory: between the last barrier and the next one, and the
// stores right before. These have overwritten all earlier stores, or there would be a race.
typedef struct Around {
    size_t begin, end;  // the stores
    size_t from, to;    // between the barriers
} Around;

static bool look_around(const Copies *c, size_t load, Around *r) {
    const Statement *all = c->statements.data;
    if (!stretch_before(c, load, &r->from) || !r->from) return false;
    for (r->to = load; !ends_stretch(&all[r->to]) && !statement_is(&all[r->to], "ret"); r->to++)
        if (leaves(&all[r->to]) || statement_is(&all[r->to], "stmatrix") ||
            r->to + 1 == c->statements.count)
            return false;
    r->end = r->begin = r->from - 1;
    while (r->begin && !all[r->begin].label && !leaves(&all[r->begin - 1]) &&
           !ends_stretch(&all[r->begin - 1]))
        r->begin--;
    return true;
}

// No store changes the place between the barriers around the load.
static bool is_quiet(const Copies *c, const Around *r, int64_t address, size_t bytes) {
    for (size_t i = r->from; i < r->to; i++) {
        const Statement *s = &c->statements.data[i];
        if (!statement_is(s, "st.shared")) continue;
        if (!c->addresses[i]) return false;
        for (size_t t = 0; t < c->threads; t++)
            if (c->addresses[i][t] < address + (int64_t)bytes &&
                address < c->addresses[i][t] + (int64_t)access_bytes(s))
                return false;
    }
    return true;
}

// Who wrote what is read here, and there?
static bool writers_of(const Copies *c, size_t load, const int64_t *places, Writer *writers) {
    Around r;
    size_t bytes = access_bytes(&c->statements.data[load]);
    if (!look_around(c, load, &r)) return false;
    for (int n = 0; n < 2; n++)
        if (!is_quiet(c, &r, places[n], bytes) ||
            !writer_of(c, r.begin, r.end, places[n], bytes, &writers[n]))
            return false;
    return writers[0].statement == writers[1].statement;
}

static bool pair_same(const Copies *c, size_t load, int64_t here, int64_t there) {
    Writer w[2];
    return writers_of(c, load, (const int64_t[]){here, there}, w) &&
           (w[0].thread ^ w[1].thread) == c->bit &&
           operand_same(c, c->statements.data[w[0].statement].operands[1]);
}

// The threads read different places, but each the other's copy.
static bool copy_same(const Copies *c, size_t load) {
    const int64_t *places = c->addresses[load];
    if (!places || c->statements.data[load].guard.size) return false;
    for (size_t t = 0; t < c->threads; t++)
        if (!pair_same(c, load, places[t], places[t ^ c->bit])) return false;
    return true;
}

// Nothing leads away or here between.
static bool straight(const Copies *c, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++)
        if (leaves(&c->statements.data[i]) || c->statements.data[i + 1].label) return false;
    return begin <= end;
}

// x and its neighbour's, joined in any order.
static bool joins_both(const Copies *c, size_t place) {
    static const char *const joins[] = {"add", "mul", "min", "max", "and", "or", "xor"};
    const Statement *s = &c->statements.data[place];
    bool commutes = false;
    for (size_t i = 0; i < sizeof joins / sizeof *joins; i++) commutes |= statement_is(s, joins[i]);
    if (!commutes || s->operand_count != 3 || s->guard.size) return false;
    for (int n = 1; n <= 2; n++) {
        const Register *moved = find(c, s->operands[n]), *x = find(c, s->operands[3 - n]);
        if (!moved || !x || moved->defs.count != 1 || x->defs.count != 1) continue;
        size_t at = moved->defs.data[0], from = x->defs.data[0];
        const Statement *shuffle = &c->statements.data[at];
        int64_t lanes;
        if (statement_is(shuffle, "shfl.sync.bfly.b32") && !shuffle->guard.size &&
            str_equal(shuffle->operands[1], s->operands[3 - n]) &&
            statement_number(shuffle->operands[2], &lanes) && lanes == (int64_t)c->bit &&
            straight(c, from, at) && straight(c, at, place))
            return true;
    }
    return false;
}

static bool result_same(const Copies *c, size_t place) {
    static const char *const of_warps[] = {"mma", "ldmatrix", "wmma", "vote", "match", "redux"};
    const Statement *s = &c->statements.data[place];
    bool warps = c->bit < LANES && statement_is(s, "shfl") && !statement_is(s, "shfl.sync.bfly");
    for (size_t i = 0; i < sizeof of_warps / sizeof *of_warps; i++)
        warps |= c->bit < LANES && statement_is(s, of_warps[i]);
    bool waits = statement_has(s->opcode, ".acquire") || statement_has(s->opcode, ".volatile") ||
                 statement_has(s->opcode, ".relaxed");
    if (warps || waits || statement_is(s, "atom") || statement_is(s, "activemask") ||
        !guard_same(c, s))
        return false;
    bool same = true;
    for (uint32_t n = 1; n < s->operand_count; n++) same &= operand_same(c, s->operands[n]);
    return same || joins_both(c, place) || (statement_is(s, "ld.shared") && copy_same(c, place));
}

static bool branches_same(const Copies *c) {
    for (size_t i = 0; i < c->statements.count; i++)
        if (leaves(&c->statements.data[i]) && !guard_same(c, &c->statements.data[i])) return false;
    return true;
}

// Do threads that are `bit` apart hold copies of each other, and take the same branches?
static bool settle(Copies *c, size_t bit) {
    if (!bit || c->threads % (2 * bit)) return false;
    c->bit = bit;
    for (size_t i = 0; i < c->registers.count; i++) {
        Register *r = &c->registers.data[i];
        r->same = !r->number || number_same(c, r);
    }
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < c->registers.count; i++) {
            Register *r = &c->registers.data[i];
            for (size_t n = 0; r->same && !r->number && n < r->defs.count; n++)
                if (!result_same(c, r->defs.data[n])) r->same = false, again = true;
        }
    }
    return branches_same(c);
}

// ---- making -------------------------------------------------------------------------------------

static void define(Copies *c, Str operand, size_t place) {
    size_t at = 0;
    for (uint64_t key; (key = statement_register(operand, &at)) != 0;) {
        uint64_t *known = map_at(c->arena, &c->names, key);
        if (!*known) {
            vec_push(c->arena, &c->registers, (Register){0});
            *known = c->registers.count;
        }
        vec_push(c->arena, &c->registers.data[*known - 1].defs, place);
    }
}

// ".reqntid 128", of the one kernel there is.
static size_t threads_of(Str text) {
    for (size_t i = 0; i + 9 < text.size; i++)
        if (!memcmp(text.text + i, ".reqntid ", 9)) return (size_t)atoi(text.text + i + 9);
    return 0;
}

Copies *copies_of(Arena *arena, Str text) {
    Copies *c = arena_new(arena, Copies, 1);
    c->arena = arena, c->statements = statements_of(arena, text);
    c->threads = threads_of(text);
    if (c->threads > THREADS_MAX) c->threads = 0;
    const Statements *all = &c->statements;
    for (size_t i = 0; i < all->count; i++)
        if (statement_has_result(&all->data[i])) define(c, all->data[i].operands[0], i);
    for (size_t i = 0; i < c->registers.count; i++)  // in the order of the text
        number_register(c, &c->registers.data[i]);
    c->addresses = arena_new(arena, int64_t *, all->count);
    for (size_t i = 0; i < all->count; i++) c->addresses[i] = addresses_of(c, &all->data[i]);
    return c;
}

// ---- what is asked ------------------------------------------------------------------------------

// Another access between the same barriers is harmless if it does not overlap the store, or if both
// copies do it at the same place, which would be a race.
static bool harmless(const Copies *c, size_t store, size_t other) {
    const Statement *s = &c->statements.data[other];
    const int64_t *x = c->addresses[store], *y = c->addresses[other];
    if (!statement_has(s->opcode, ".shared") || statement_is(s, "cp.async")) return true;
    uint32_t n = statement_is(s, "st") ? 0 : 1;
    if (n < s->operand_count && guard_same(c, s) && operand_same(c, s->operands[n])) return true;
    if (!x || !y || statement_is(s, "ldmatrix") || statement_is(s, "stmatrix")) return false;
    int64_t wide = (int64_t)access_bytes(&c->statements.data[store]);
    for (size_t t = 0; t < c->threads; t++)
        for (size_t u = 0; u < c->threads; u++)
            if (x[t] < y[u] + (int64_t)access_bytes(s) && y[u] < x[t] + wide) return false;
    return true;
}

static bool alone(const Copies *c, size_t place) {
    size_t begin;
    if (!stretch_before(c, place, &begin)) return false;
    for (size_t i = begin; i < c->statements.count; i++) {
        const Statement *s = &c->statements.data[i];
        if (i > place && ends_stretch(s)) return true;
        if (leaves(s)) return statement_is(s, "ret");
        if (i != place && !harmless(c, place, i)) return false;
    }
    return true;
}

// The one bit of a thread's number that says whether the guard holds, if it is that of a warp. 0:
// there is none.
static size_t guard_bit(const Copies *c, const Register *guard) {
    size_t bit = 0;
    while (bit < c->threads && guard->number[bit] == guard->number[0]) bit++;
    return bit < c->threads && bit >= LANES && !(bit & (bit - 1)) ? bit : 0;
}

bool copies_store(Copies *c, const char *at) {
    size_t place = 0;
    while (place < c->statements.count && c->statements.data[place].guard.text != at) place++;
    if (place == c->statements.count) return false;
    const Statement *s = &c->statements.data[place];
    const Register *guard = find(c, s->guard);
    if (!statement_is(s, "st.shared") || !guard || !guard->number) return false;
    if (!settle(c, guard_bit(c, guard))) return false;
    for (size_t t = 0; t < c->threads; t++)
        if (guard->number[t] == guard->number[t ^ c->bit]) return false;
    return operand_same(c, s->operands[0]) && operand_same(c, s->operands[1]) && alone(c, place);
}

// Do the operands of a statement that are the same in both texts hold other numbers?
static bool sees_change(const Copies *c, const Copies *changed, const Statement *s) {
    for (uint32_t n = 0; n <= s->operand_count; n++) {
        size_t at = 0;
        Str o = n < s->operand_count ? s->operands[n] : s->guard;
        if (n == 0 && statement_has_result(s)) continue;
        for (uint64_t key; (key = statement_register(o, &at)) != 0;) {
            const uint64_t *place = map_find(&c->names, key);
            if (!place) continue;
            const int64_t *x = c->registers.data[*place - 1].number;
            const int64_t *y = changed->registers.data[*place - 1].number;
            if (x != y && (!x || !y || memcmp(x, y, c->threads * sizeof *x) != 0)) return true;
        }
    }
    return false;
}

// Is the result a number of the thread in both? Its change is looked at where it is used.
static bool is_number(const Copies *c, const Copies *changed, const Statement *s) {
    const Register *r = statement_has_result(s) ? find(c, s->operands[0]) : NULL;
    return r && r->number && changed->registers.data[r - c->registers.data].number;
}

// A load whose places are others: all that are, are copies as far apart.
static bool loads_copy(Copies *c, const Copies *changed, size_t load) {
    const int64_t *x = c->addresses[load], *y = changed->addresses[load];
    const Statement *s = &c->statements.data[load];
    if (!statement_is(s, "ld.shared") || s->guard.size || !x || !y) return false;
    c->bit = 0;
    for (size_t t = 0; t < c->threads; t++) {
        Writer w[2];
        if (x[t] == y[t]) continue;
        if (!writers_of(c, load, (const int64_t[]){x[t], y[t]}, w)) return false;
        size_t bit = w[0].thread ^ w[1].thread;
        if (!c->bit && ((bit & (bit - 1)) || !settle(c, bit))) return false;
        if (bit != c->bit || !pair_same(c, load, x[t], y[t])) return false;
    }
    return true;
}

bool copies_read(Copies *c, const Copies *changed) {
    if (!c->threads || c->statements.count != changed->statements.count) return false;
    bool any = false;
    for (size_t i = 0; i < c->statements.count; i++) {
        const Statement *s = &c->statements.data[i], *other = &changed->statements.data[i];
        if (str_equal(s->whole, other->whole) && !sees_change(c, changed, s)) continue;
        bool same_kind = str_equal(s->opcode, other->opcode) && str_equal(s->guard, other->guard);
        if (!same_kind || (!is_number(c, changed, s) && !loads_copy(c, changed, i))) return false;
        any = true;
    }
    return any;
}
