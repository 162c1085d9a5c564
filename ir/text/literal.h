// Literals: constants of the text form, as raw bits of an element type.
//
// Invariants: ir_literal_read(ir_literal_print(bits)) == bits for every type and all bits that fit
// it. Ownership: none; the printer writes to the buffer given.
//
//     ir_literal_print(DTYPE_F16, 0x3e00, out);   // 1.5
//     ir_literal_read(DTYPE_F16, STR("1.5"), &bits);
#ifndef TILEC_IR_TEXT_LITERAL_H
#define TILEC_IR_TEXT_LITERAL_H

#include "base/dtype.h"
#include "base/str.h"

typedef enum IrLiteral { IR_LITERAL_OK, IR_LITERAL_MALFORMED, IR_LITERAL_RANGE } IrLiteral;

// A text in quotes. Bytes that are not UTF-8 are kept as \xHH, which JSON does not have.
void ir_literal_quote(Str text, StrBuf *out);
void ir_literal_print(Dtype elem, uint64_t bits, StrBuf *out);
IrLiteral ir_literal_read(Dtype elem, Str text, uint64_t *bits);
// A number of the text form that is not a constant: decimal with an optional sign, or hex.
IrLiteral ir_literal_int(Str text, int64_t *value);

#endif
