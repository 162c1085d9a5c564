// AMD's code as lines that rules look at: what each does, waits for and leads to.
//
// Purpose: rules about a listing follow paths and registers through it. Invariants: a listing with
// lines that no rule knows (calls, accesses of flat addresses) is not read. A statement about a
// path holds for all runs, because the paths that are followed include some that no run takes.
// Ownership: the arena of the Code.
//
//     Code code = {.arena = arena};
//     if (code_read(&code, listing)) …
//     code_made_by(&code, &mask, line, &made)   // lines.data[made] is what set the mask
#ifndef TILEC_TESTS_MUTATE_CODE_H
#define TILEC_TESTS_MUTATE_CODE_H

#include "tests/mutate/statements.h"

typedef enum Counter { LOADS, STORES, LOCAL, SCALAR, COUNTERS } Counter;
enum { MOST = 64, NO_WAIT = 255 };  // the hardware counts to 63

typedef struct Counts {
    uint8_t of[COUNTERS];
} Counts;
typedef struct Line {
    Statement s;
    uint32_t offset, size;
    uint8_t adds;     // a bit for each counter that may count it
    bool sure;        // that one does, and those of it come in order
    Counts wait;      // at most this many stay in flight; NO_WAIT: any number
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

typedef struct Span {
    char kind;  // v, s, a
    int64_t first, last;
} Span;

static inline bool line_is(const Line *l, const char *begin) {
    return str_starts(l->s.opcode, str(begin));
}
static inline bool line_is_one_of(const Line *l, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (line_is(l, list[i])) return true;
    return false;
}
#define LINE_IS_ONE_OF(line, list) line_is_one_of(line, list, sizeof(list) / sizeof *(list))

// A listing of instructions of 4 bytes, one a line, which ends the program: what the rules are
// tried on.
Str code_listing(Arena *arena, const char *processor, const char *body);
bool code_read(Code *c, Str listing);  // false: it has lines that no rule knows

bool line_is_load(const Line *l);
bool line_is_store(const Line *l);
bool line_has_operand(const Line *l, uint32_t k, const char *name);
bool line_writes_exec(const Line *l);
bool line_mentions(const Line *l, const Span *span);
bool line_writes(const Line *l, const Span *span);  // maybe

bool span_next(Str s, size_t *at, Span *span);  // the next of the text from *at on: "v7", "s[4:7]"
bool span_is(Str operand, Span *span);          // the registers of an operand that is nothing else
bool span_overlaps(const Span *a, const Span *b);

// Lines that are reached from one, which does not pass on what `stop` holds of it.
void code_flood(const Code *c, uint32_t line, const bool *stop, bool *marked);
// The one line whose value is in the registers before `line`; CODE_ENTRY: it is what they began
// with.
static const uint32_t CODE_ENTRY = UINT32_MAX;
bool code_made_by(const Code *c, const Span *mask, uint32_t line, uint32_t *made);
// … and which is passed once at most.
bool code_made_once(const Code *c, const Span *mask, uint32_t line, uint32_t *made);

// Before each line: whether all lanes that the wave began with are awake, on all ways to it.
const bool *code_all_awake(const Code *c);

#endif
