// The statements of a PTX kernel, taken apart.
//
// Purpose: mutants and rules look at opcodes and operands, not at text. Invariants: all strings
// point into the text given; directives, labels and comments are left out. Ownership: the arena
// given.
//
//     Statements list = statements_of(arena, text);
//     list.data[0].opcode                              // "ld.param.b64"
#ifndef TILEC_TESTS_MUTATE_STATEMENTS_H
#define TILEC_TESTS_MUTATE_STATEMENTS_H

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

enum { OPERANDS_MAX = 8 };

// "@%p1 add.s32 %r1, %r2, 3;" over one line or several.
typedef struct Statement {
    Str whole;  // with the semicolon
    Str guard;  // "@%p1", "@!%p1", or empty
    Str opcode;
    Str rest;  // operands, without the semicolon
    Str operands[OPERANDS_MAX];
    uint32_t operand_count;
    uint32_t line;
    bool label;  // that of a block stands before it
} Statement;
typedef VEC(Statement) Statements;

Statements statements_of(Arena *arena, Str text);
Statement statement_parse(Str text);  // of one, without its semicolon
// The next register of the text from *at on: a key, 0: none.
uint64_t statement_register(Str s, size_t *at);
// Does the opcode begin so?
static inline bool statement_is(const Statement *s, const char *begin) {
    return str_starts(s->opcode, str(begin));
}
// A literal, in any of C's notations.
bool statement_number(Str s, int64_t *value);
bool statement_has_result(const Statement *s);
bool statement_has(Str s, const char *part);  // somewhere in it
Str statement_trim(Str s);

#endif
