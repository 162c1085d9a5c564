// Operators as the source writes them.
#include "frontend/triton/syntax/ast.h"

const char *py_op_text(PyOp op) {
    switch (op) {
    case PY_OP_NONE: return "=";
    case PY_ADD:
    case PY_POS: return "+";
    case PY_SUB:
    case PY_NEG: return "-";
    case PY_MUL: return "*";
    case PY_DIV: return "/";
    case PY_FLOOR_DIV: return "//";
    case PY_MOD: return "%";
    case PY_POW: return "**";
    case PY_MATMUL: return "@";
    case PY_LSHIFT: return "<<";
    case PY_RSHIFT: return ">>";
    case PY_BIT_AND: return "&";
    case PY_BIT_OR: return "|";
    case PY_BIT_XOR: return "^";
    case PY_AND: return "and";
    case PY_OR: return "or";
    case PY_LT: return "<";
    case PY_LE: return "<=";
    case PY_GT: return ">";
    case PY_GE: return ">=";
    case PY_EQ: return "==";
    case PY_NE: return "!=";
    case PY_IN: return "in";
    case PY_NOT_IN: return "not in";
    case PY_IS: return "is";
    case PY_IS_NOT: return "is not";
    case PY_INVERT: return "~";
    case PY_NOT: return "not";
    }
    return "";
}
