#include "ir/remark.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/os/os.h"
#include "base/vec.h"

// Remarks at one span are chained; there are few, since an op gets few remarks.
typedef struct RemarkEntry {
    Remark remark;
    size_t serial;
    struct RemarkEntry *same_span;
} RemarkEntry;

struct Remarks {
    Arena *arena;
    VEC(RemarkEntry *) entries;
    Map at_span;  // span → the Entry added last there
};

Remarks *remarks_create(Arena *arena) {
    Remarks *r = arena_new(arena, Remarks, 1);
    r->arena = arena;
    return r;
}

static uint64_t span_key(Span span) { return (uint64_t)span.begin << 32 | span.end; }

static RemarkEntry *entry_of(uint64_t value) { return (RemarkEntry *)(uintptr_t)value; }

static bool says(const Remark *x, Reason reason, const char *what, const RemarkNumbers *numbers) {
    return x->reason == reason && strcmp(x->what, what) == 0 &&
           memcmp(&x->numbers, numbers, sizeof *numbers) == 0;
}

void remark(Remarks *r, Span span, Reason reason, const char *what, RemarkNumbers numbers) {
    if (!r) return;
    if (!what) what = "";
    uint64_t *first = map_at(r->arena, &r->at_span, span_key(span));
    for (RemarkEntry *e = entry_of(*first); e; e = e->same_span) {
        if (!says(&e->remark, reason, what, &numbers)) continue;
        e->remark.times++;
        return;
    }
    RemarkEntry *entry = arena_new(r->arena, RemarkEntry, 1);
    entry->remark = (Remark){.reason = reason, .span = span, .numbers = numbers, .times = 1};
    entry->remark.what = arena_text(r->arena, what, strlen(what));
    entry->serial = r->entries.count;
    entry->same_span = entry_of(*first);
    *first = map_key(entry);
    vec_push(r->arena, &r->entries, entry);
}

size_t remarks_count(const Remarks *r) { return r->entries.count; }

const Remark *remarks_get(const Remarks *r, size_t i) {
    CHECK(i < r->entries.count, "remark %zu of %zu", i, r->entries.count);
    return &r->entries.data[i]->remark;
}

static int compare(const void *left, const void *right) {
    const RemarkEntry *a = *(RemarkEntry *const *)left, *b = *(RemarkEntry *const *)right;
    if (a->remark.span.begin != b->remark.span.begin)
        return a->remark.span.begin < b->remark.span.begin ? -1 : 1;
    if (a->remark.span.end != b->remark.span.end)
        return a->remark.span.end < b->remark.span.end ? -1 : 1;
    return a->serial < b->serial ? -1 : a->serial > b->serial;
}

void remarks_sort(Remarks *r) {
    if (r->entries.count < 2) return;
    qsort(r->entries.data, r->entries.count, sizeof *r->entries.data, compare);
}

// ---- the table ----------------------------------------------------------------------------------

static const ReasonInfo infos[REASONS] = {
#define REASON(code, slug, kind, cost, text, help) \
    [REASON_##code] = {slug, REASON_##kind, REASON_COST_##cost, text, help},
#include "ir/reasons.def"
#undef REASON
};

const ReasonInfo *reason_info(Reason reason) { return &infos[reason]; }

bool reason_from_slug(Str slug, Reason *reason) {
    for (int i = 0; i < REASONS; i++) {
        if (!str_equal(slug, str(infos[i].slug))) continue;
        *reason = (Reason)i;
        return true;
    }
    return false;
}

// The next {name} of a text, with the text before and after it. False if there is none.
static bool next_name(Str text, Str *before, Str *name, Str *rest) {
    const char *open = memchr(text.text, '{', text.size);
    if (!open) return false;
    *before = (Str){text.text, (size_t)(open - text.text)};
    Str behind = {open + 1, text.size - before->size - 1};
    const char *close = memchr(behind.text, '}', behind.size);
    CHECK(close, "a '{' without '}' in '%s'", text.text);
    *name = (Str){behind.text, (size_t)(close - behind.text)};
    *rest = (Str){close + 1, behind.size - name->size - 1};
    return true;
}

static bool is_subject(Str name) { return str_equal(name, STR("what")); }

bool reason_number_name(Reason reason, uint32_t number, Str *name) {
    Str text = str(infos[reason].text), before;
    while (next_name(text, &before, name, &text))
        if (!is_subject(*name) && number-- == 0) return true;
    return false;
}

void remark_text(const Remark *r, StrBuf *out) {
    Str text = str(infos[r->reason].text), before, name;
    for (uint32_t number = 0; next_name(text, &before, &name, &text);) {
        strbuf_add(out, before);
        if (is_subject(name)) {
            strbuf_add(out, str(r->what));
            continue;
        }
        CHECK(number < REMARK_NUMBERS, "too many numbers in '%s'", infos[r->reason].text);
        strbuf_printf(out, "%lld", (long long)r->numbers.of[number++]);
    }
    strbuf_add(out, text);
}
