#include "tests/support/diff.h"

#include <string.h>

#include "base/vec.h"

enum { CONTEXT = 3, TABLE_MAX = 16 << 20 };

typedef VEC(Str) Lines;
typedef struct Edit {
    char sign;
    Str line;
} Edit;
typedef VEC(Edit) Edits;

static Lines split(Arena *arena, Str text) {
    Lines lines = {0};
    while (text.size > 0) {
        Str rest;
        vec_push(arena, &lines, str_cut(text, '\n', &rest));
        text = rest;
    }
    return lines;
}

// Longest common subsequence, from the ends: length[i * (m + 1) + j] for the tails from i and j.
static uint32_t *common_tails(Arena *arena, const Lines *a, const Lines *b) {
    size_t width = b->count + 1;
    uint32_t *length = arena_new(arena, uint32_t, (a->count + 1) * width);
    for (size_t i = a->count; i-- > 0;) {
        for (size_t j = b->count; j-- > 0;) {
            uint32_t down = length[(i + 1) * width + j], right = length[i * width + j + 1];
            length[i * width + j] = str_equal(a->data[i], b->data[j])
                                        ? length[(i + 1) * width + j + 1] + 1
                                        : (down > right ? down : right);
        }
    }
    return length;
}

static Edits edits_of(Arena *arena, const Lines *a, const Lines *b) {
    Edits edits = {0};
    size_t width = b->count + 1, i = 0, j = 0;
    bool small = (a->count + 1) * width <= TABLE_MAX;
    const uint32_t *length = small ? common_tails(arena, a, b) : NULL;
    while (i < a->count || j < b->count) {
        bool both = small && i < a->count && j < b->count;
        if (both && str_equal(a->data[i], b->data[j])) {
            vec_push(arena, &edits, ((Edit){' ', a->data[i]}));
            i++, j++;
        } else if (i < a->count &&
                   (!both || length[(i + 1) * width + j] >= length[i * width + j + 1])) {
            vec_push(arena, &edits, ((Edit){'-', a->data[i++]}));
        } else {
            vec_push(arena, &edits, ((Edit){'+', b->data[j++]}));
        }
    }
    return edits;
}

static bool near_change(const Edits *edits, size_t at) {
    size_t from = at > CONTEXT ? at - CONTEXT : 0;
    for (size_t i = from; i < edits->count && i <= at + CONTEXT; i++)
        if (edits->data[i].sign != ' ') return true;
    return false;
}

void diff_unified(Arena *arena, Str before, Str after, StrBuf *out) {
    Lines a = split(arena, before), b = split(arena, after);
    Edits edits = edits_of(arena, &a, &b);
    size_t old_line = 1, new_line = 1;
    for (size_t i = 0; i < edits.count;) {
        if (!near_change(&edits, i)) {
            old_line++, new_line++, i++;
            continue;
        }
        size_t end = i, olds = 0, news = 0;
        for (; end < edits.count && near_change(&edits, end); end++) {
            olds += edits.data[end].sign != '+';
            news += edits.data[end].sign != '-';
        }
        strbuf_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", old_line, olds, new_line, news);
        for (; i < end; i++)
            strbuf_printf(out, "%c%.*s\n", edits.data[i].sign, STR_ARG(edits.data[i].line));
        old_line += olds;
        new_line += news;
    }
}
