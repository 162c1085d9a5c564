// Operators as the source writes them.
#include "frontend/tile/ast.h"

const char *ast_op_text(AstOp op) {
    switch (op) {
    case AST_OP_NONE: return "=";
    case AST_OP_ADD: return "+";
    case AST_OP_SUB:
    case AST_OP_NEG: return "-";
    case AST_OP_MUL: return "*";
    case AST_OP_DIV: return "/";
    case AST_OP_REM: return "%";
    case AST_OP_SHL: return "<<";
    case AST_OP_SHR: return ">>";
    case AST_OP_AND: return "&";
    case AST_OP_OR: return "|";
    case AST_OP_XOR: return "^";
    case AST_OP_LT: return "<";
    case AST_OP_LE: return "<=";
    case AST_OP_GT: return ">";
    case AST_OP_GE: return ">=";
    case AST_OP_EQ: return "==";
    case AST_OP_NE: return "!=";
    case AST_OP_LAND: return "&&";
    case AST_OP_LOR: return "||";
    case AST_OP_NOT: return "!";
    case AST_OP_BITNOT: return "~";
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
