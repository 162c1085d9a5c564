// The text form of the IR: printer and parser; printing what was parsed gives the same text.
//
// Invariants: values are numbered by order of definition within a function, never by address;
// parameters print by name. Everything in a function is printed (facts, bindings, options, math)
// except spans: parsed ops have spans into the .tir text.
//
// Grammar:
//     module  = { kernel | func }
//     kernel  = "kernel" "@" name "(" [ param { "," param } ] ")" [ attrs ] "{" { section } "}"
//     func    = "func" "@" name "(" [ param { "," param } ] ")" [ "->" type { "," type } ]
//               [ attrs ] "{" { op } "}"
//     param   = "%" name ":" ( [ "strided" ] "view" elem "[" dim { "," dim } "]" | type ) [ attrs ]
//     dim     = name | integer
//     section = "requires" string "{" { op } "}" | "grid" "{" { op } "}" | "body" "{" { op } "}"
//     op      = [ results "=" ] opname [ operand { "," operand } ] [ attrs ]
//               [ ":" type { "," type } ] { region }
//     operand = "%" ( number | name ) | "_"
//     region  = [ "(" "%" n ":" type { "," "%" n ":" type } ")" ] "{" { op } "}"
//     attrs   = "{" key "=" value { "," key "=" value } "}"
//   Kernel attrs: level, math = [contract, approx], the options of ir/options.def, lanes, group,
//   bind = [T = f16, BM = 128], facts = [M divisor 16 range 0 1024], extents = [M, N] if that is
//   not the order of first mention in the parameters; param attrs: divisor, min, max. A boolean
//   attribute that is false, and `inside` that is all 0, are left out. Float constants print as
//   the shortest decimal that reads back, or as hex bits (0x7fc00001) if decimal would lose a
//   NaN's payload or sign; constants of no element type (ill-typed) are hex bits.
//   "//" begins a comment. Operands, attributes and types are on the line of their op's name.
#ifndef TILEC_IR_TEXT_TEXT_H
#define TILEC_IR_TEXT_TEXT_H

#include "base/diag.h"
#include "ir/ir.h"

void ir_print_module(const IrModule *m, StrBuf *out);
void ir_print_func(const IrFunc *f, StrBuf *out);
void ir_print_op(const IrOp *op, StrBuf *out);  // one line, for messages

// The numbers of a function's values, for printing many ops one by one.
typedef struct IrNumbers IrNumbers;
IrNumbers *ir_numbers(Arena *arena, const IrFunc *f);
void ir_print_op_with(const IrNumbers *numbers, const IrOp *op, StrBuf *out);

enum {
    IR_MAX_DEPTH = 400,   // of nested regions in a text
    IR_MAX_PARAMS = 256,  // of one function in a text
};

// Reads a whole .tir text. Reports every mistake it can; NULL if there was one. The module obeys
// the grammar and its names resolve; the verifier has not checked it yet.
IrModule *ir_parse(Arena *arena, Sources *sources, Interner *names, const SourceFile *file,
                   Diags *diags);

#endif
