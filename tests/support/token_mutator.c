#include "tests/support/token_mutator.h"

#include <stdio.h>
#include <string.h>

TokenMutator *token_mutator(Arena *arena, size_t room) {
    TokenMutator *m = arena_new(arena, TokenMutator, 1);
    m->text = arena_new(arena, char, room);
    m->room = room;
    return m;
}

void token_mutator_begin(TokenMutator *m, Str text, uint64_t seed) {
    m->state = seed;
    memcpy(m->text, text.text, text.size);
    m->text[text.size] = 0;
    m->size = text.size;
    m->count = 0;
}

size_t token_mutator_pick(TokenMutator *m, size_t below) {
    m->state ^= m->state << 13;
    m->state ^= m->state >> 7;
    m->state ^= m->state << 17;
    return (size_t)(m->state % below);
}

void token_mutator_add(TokenMutator *m, size_t begin, size_t end) {
    if (m->count == MUTATOR_TOKENS_MAX) return;
    m->tokens[m->count].begin = begin;
    m->tokens[m->count++].end = end;
}

void token_mutator_change(TokenMutator *m, const TokenChange *change) {
    if (!m->count) return;
    size_t at = token_mutator_pick(m, m->count), other = token_mutator_pick(m, m->count);
    size_t how = token_mutator_pick(m, change->ways);
    size_t begin = m->tokens[at].begin, end = m->tokens[at].end;
    if (how >= change->ways - 2) end = begin;
    const char *word = change->words[token_mutator_pick(m, change->word_count)];
    Str put = how == 0  ? STR("")
              : how % 2 ? str(word)
                        : (Str){m->text + m->tokens[other].begin,
                                m->tokens[other].end - m->tokens[other].begin};
    const char *glue = how % 2 || !change->glue_words ? change->glue : "";
    char piece[256];
    int size = snprintf(piece, sizeof piece, "%s%.*s%s", glue, STR_ARG(put), how ? glue : "");
    size_t length = size < (int)sizeof piece ? (size_t)size : sizeof piece - 1;
    if (m->size - (end - begin) + length + 1 > m->room) return;
    memmove(m->text + begin + length, m->text + end, m->size - end);
    memcpy(m->text + begin, piece, length);
    m->size = m->size - (end - begin) + length;
    m->text[m->size] = 0;
}
