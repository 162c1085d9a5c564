// Lexer of the IR's text form.
//
// Invariants: it reads no byte past the text's end, for any bytes; every token except IR_TOK_END is
// at least one byte. A token records whether it is the first of its line: the parser recovers from
// mistakes at line ends.
// Ownership: tokens point into the source. Malformed input is reported to diags, unless that is
// NULL.
//
//     IrLexer lexer = ir_lexer(file, diags);
//     IrToken token = ir_lexer_next(&lexer);
#ifndef TILEC_IR_TEXT_LEXER_H
#define TILEC_IR_TEXT_LEXER_H

#include "base/diag.h"

typedef enum IrTokenKind {
    IR_TOK_END,
    IR_TOK_NAME,    // word, also with dots: thread.barrier
    IR_TOK_NUMBER,  // -1  0x7f  1.5e-3  -inf
    IR_TOK_VALUE,   // %x  %12; its text is without the sign
    IR_TOK_STRING,  // its text is with the quotes
    IR_TOK_PUNCT,   // one character of ( ) { } [ ] , : = * @
    IR_TOK_ARROW,
} IrTokenKind;

typedef struct IrToken {
    IrTokenKind kind;
    char punct;
    bool first;  // of its line
    Str text;
    Span span;
} IrToken;

typedef struct IrLexer {
    const SourceFile *file;
    Diags *diags;
    size_t at;
} IrLexer;

IrLexer ir_lexer(const SourceFile *file, Diags *diags);
IrToken ir_lexer_next(IrLexer *lexer);
// The bytes that a string token denotes; false (and reported) if an escape is malformed.
bool ir_lexer_string(const IrLexer *lexer, IrToken token, Arena *arena, Str *text);

#endif
