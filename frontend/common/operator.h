// Operators of source languages, as elaboration sees them. Each language has its own spelling.
//
// Invariants: LAND and LOR, which may skip their right side, and NOT take bools. The row of the
// operation (ir/ops.def) says what any other operator takes. Ownership: none.
//
//     IrOpcode code = operator_opcode(OPERATOR_ADD);  // IR_ADD
#ifndef TILEC_FRONTEND_COMMON_OPERATOR_H
#define TILEC_FRONTEND_COMMON_OPERATOR_H

#include "ir/ir.h"

typedef enum Operator {
    OPERATOR_NONE,
    OPERATOR_ADD,
    OPERATOR_SUB,
    OPERATOR_MUL,
    OPERATOR_DIV,
    OPERATOR_REM,
    OPERATOR_SHL,
    OPERATOR_SHR,
    OPERATOR_AND,
    OPERATOR_OR,
    OPERATOR_XOR,
    OPERATOR_LT,
    OPERATOR_LE,
    OPERATOR_GT,
    OPERATOR_GE,
    OPERATOR_EQ,
    OPERATOR_NE,
    OPERATOR_LAND,
    OPERATOR_LOR,
    OPERATOR_NEG,
    OPERATOR_NOT,
    OPERATOR_BITNOT,  // unary: - ! ~
} Operator;

// The opcode of a binary operator.
IrOpcode operator_opcode(Operator op);

#endif
