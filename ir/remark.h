// Remarks: what passes and code generators did, or did not do and why, as data.
//
// Purpose: `tilec explain` shows them; no generated code depends on them. The closed list of
// reasons is reasons.def: facts about what was done, and what was missed (with what to change).
// Invariants: every remark has a reason, the span of the op it is about, the numbers that its
// reason's text names, in the order of the text, and a subject if the text contains {what}. Equal
// remarks are kept once, with a count. Without a list (NULL) nothing is done: test `if (list)`
// before computing something only for a remark.
// Ownership: the list's arena owns all texts; subjects are copied. One thread at a time.
//
//     remark(context->remarks, op->span, REASON_ACCESS_NARROW, "load", REMARK(4, 16));
//     for (size_t i = 0; i < remarks_count(r); i++) remark_text(remarks_get(r, i), &out);
#ifndef TILEC_IR_REMARK_H
#define TILEC_IR_REMARK_H

#include "base/source.h"
#include "base/str.h"

typedef enum ReasonKind {
    REASON_DONE,    // a fact: what the compiler chose
    REASON_MISSED,  // something it did not do, and what to change
} ReasonKind;

// The estimated loss of speed of the code around it, as an order of magnitude.
typedef enum ReasonCost {
    REASON_COST_NONE,
    REASON_COST_LITTLE,
    REASON_COST_SOME,  // a tenth
    REASON_COST_MUCH,  // half
} ReasonCost;

typedef enum Reason {
#define REASON(code, slug, kind, cost, text, help) REASON_##code,
#include "ir/reasons.def"
#undef REASON
    REASONS
} Reason;

enum { REMARK_NUMBERS = 4 };

typedef struct RemarkNumbers {
    int64_t of[REMARK_NUMBERS];
} RemarkNumbers;
#define REMARK(...) ((RemarkNumbers){{__VA_ARGS__}})

typedef struct Remark {
    Reason reason;
    Span span;
    const char *what;  // "" when the reason's text has no subject
    RemarkNumbers numbers;
    uint32_t times;
} Remark;

typedef struct Remarks Remarks;

Remarks *remarks_create(Arena *arena);
// `what` may be NULL.
void remark(Remarks *r, Span span, Reason reason, const char *what, RemarkNumbers numbers);
size_t remarks_count(const Remarks *r);
const Remark *remarks_get(const Remarks *r, size_t i);
// By position in the source; remarks at one position stay in the order in which they were made.
void remarks_sort(Remarks *r);

typedef struct ReasonInfo {
    const char *slug;  // "access-narrow"
    ReasonKind kind;
    ReasonCost cost;
    const char *text;  // "… moves {bytes} bytes …": numbers by name, and {what}
    const char *help;  // what to change; "" for facts
} ReasonInfo;
const ReasonInfo *reason_info(Reason reason);
bool reason_from_slug(Str slug, Reason *reason);
// The name of a reason's number, in the order of its text; false if there are no more.
bool reason_number_name(Reason reason, uint32_t number, Str *name);
// The reason's text, filled with the remark's subject and numbers.
void remark_text(const Remark *r, StrBuf *out);

#endif
