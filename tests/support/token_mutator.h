// Mutants of a text by its tokens: one is dropped, replaced by a word or another token, or gets a
// neighbour. For tests of front ends, each of which says what its tokens and words are.
//
// Invariants: the text ends with 0 and stays below the room; the same seed makes the same mutants.
// Ownership: the arena given.
//
//     TokenMutator *m = token_mutator(arena, text, 1 << 16);
//     token_mutator_begin(m, text, seed);
//     find_tokens(m);
//     token_mutator_change(m, &(TokenChange){words, count, 6, " "});
#ifndef TILEC_TESTS_SUPPORT_TOKEN_MUTATOR_H
#define TILEC_TESTS_SUPPORT_TOKEN_MUTATOR_H

#include "base/arena.h"
#include "base/str.h"

enum { MUTATOR_TOKENS_MAX = 1 << 14 };

typedef struct TokenMutator {
    uint64_t state;
    char *text;
    size_t size, room;
    struct {
        size_t begin, end;
    } tokens[MUTATOR_TOKENS_MAX];
    size_t count;
} TokenMutator;

typedef struct TokenChange {
    const char *const *words;
    size_t word_count;
    size_t ways;       // 6 or more: the tokens' own text and words, put in place or before
    const char *glue;  // around what is put in: " ", or ""
    bool glue_words;   // only around words
} TokenChange;

TokenMutator *token_mutator(Arena *arena, size_t room);
// Takes the text as it is.
void token_mutator_begin(TokenMutator *m, Str text, uint64_t seed);
size_t token_mutator_pick(TokenMutator *m, size_t below);
void token_mutator_add(TokenMutator *m, size_t begin, size_t end);
// Needs tokens, and changes the text; they are to be found again after it.
void token_mutator_change(TokenMutator *m, const TokenChange *change);

#endif
