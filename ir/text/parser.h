// Parser: the interface between parse.c (modules, functions) and parse_op.c (ops, regions). Only
// for this room.
//
// Invariants: `token` is the next unread token. A function that returns false has reported a
// mistake and may stop anywhere in the line; the caller that recovers skips the rest. After
// `stopped` only the end is read.
// Ownership: IR in the module's arena, everything else in scratch.
#ifndef TILEC_IR_TEXT_PARSER_H
#define TILEC_IR_TEXT_PARSER_H

#include "base/status.h"
#include "ir/build.h"
#include "ir/text/lexer.h"
#include "ir/text/text.h"

typedef struct IrParser {
    Arena *arena;
    Arena *scratch;
    IrModule *module;
    Diags *diags;
    IrLexer lexer;
    IrToken token;
    uint32_t last_end;  // where the previous token ended
    IrFunc *func;
    Map numbered;  // of this function: %12 → IrValue *, NULL for one whose op is malformed
    Map named;     // parameters by Symbol
    int depth;
    bool stopped;
    VEC(IrValue *) operands;  // stacks: an op uses the entries pushed since it began
    VEC(IrToken) names;
    VEC(const IrType *) types;
    VEC(IrBlock *) regions;
} IrParser;

void parser_next(IrParser *p);
// No further mistakes are worth reporting: the parser continues as if the text ended here.
void parser_stop(IrParser *p);
bool parser_at(const IrParser *p, char punct);
bool parser_at_name(const IrParser *p, const char *name);
bool parser_take(IrParser *p, char punct);
bool parser_expect(IrParser *p, char punct, const char *where);
// Reports "expected `what`, found …" at the token; false.
bool parser_fail(IrParser *p, const char *what);
// At most the first 60 bytes, for messages.
Str parser_short(Str text);
bool parser_name(IrParser *p, const char *what, Symbol *name);
bool parser_int(IrParser *p, const char *what, int64_t min, int64_t max, int64_t *value);
bool parser_string(IrParser *p, const char *what, Str *text);
bool parser_type(IrParser *p, const IrType **type);
bool parser_elem(IrParser *p, Dtype *elem);
// Does a list of attributes begin here, rather than a region?
bool parser_at_attrs(const IrParser *p);
// Is the token the `{` of a block, after which the line (or the block) ends?
bool parser_at_block(const IrParser *p);
// Does a line begin here that can only be the next function's?
bool parser_at_function(const IrParser *p);

// Ops up to the closing brace, which is not read. False if the text ended before it.
bool parser_ops(IrParser *p, IrBlock *block);

#endif
