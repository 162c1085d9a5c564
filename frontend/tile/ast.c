// Operators as the source writes them.
#include "frontend/tile/ast.h"

const char *ast_op_text(Operator op) {
    switch (op) {
    case OPERATOR_NONE: return "=";
    case OPERATOR_ADD: return "+";
    case OPERATOR_SUB:
    case OPERATOR_NEG: return "-";
    case OPERATOR_MUL: return "*";
    case OPERATOR_DIV: return "/";
    case OPERATOR_REM: return "%";
    case OPERATOR_SHL: return "<<";
    case OPERATOR_SHR: return ">>";
    case OPERATOR_AND: return "&";
    case OPERATOR_OR: return "|";
    case OPERATOR_XOR: return "^";
    case OPERATOR_LT: return "<";
    case OPERATOR_LE: return "<=";
    case OPERATOR_GT: return ">";
    case OPERATOR_GE: return ">=";
    case OPERATOR_EQ: return "==";
    case OPERATOR_NE: return "!=";
    case OPERATOR_LAND: return "&&";
    case OPERATOR_LOR: return "||";
    case OPERATOR_NOT: return "!";
    case OPERATOR_BITNOT: return "~";
    }
    return "";
}

Ast *const *ast_chain_of(Arena *arena, const Ast *top, size_t *count) {
    size_t length = 1;
    for (const Ast *e = top; ast_chain(e) && ast_chain(e->a); e = e->a) length++;
    Ast **chain = arena_new(arena, Ast *, length);
    chain[0] = (Ast *)(uintptr_t)top;
    for (size_t i = 1; i < length; i++) chain[i] = chain[i - 1]->a;
    *count = length;
    return chain;
}
