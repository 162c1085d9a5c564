// Targets of assignments, and the words for expressions that cannot be one.
#include "frontend/triton/syntax/parser.h"

const char *py_describe(const Py *node) {
    switch (node->kind) {
    case PY_INT:
    case PY_FLOAT: return "a number";
    case PY_STRING: return "a string";
    case PY_FSTRING:
    case PY_FORMAT: return "an f-string";
    case PY_NAME: return node->parenthesized ? "a name in parentheses" : "a name";
    case PY_TRUE: return "True";
    case PY_FALSE: return "False";
    case PY_NONE: return "None";
    case PY_ELLIPSIS: return "'...'";
    case PY_UNARY:
    case PY_BINARY:
    case PY_BOOL_OP: return "an operation";
    case PY_COMPARE: return "a comparison";
    case PY_TERNARY: return "a choice";
    case PY_CALL: return "a call";
    case PY_KEYWORD: return "an argument";
    case PY_STARRED: return "a '*' expression";
    case PY_ATTRIBUTE: return "an attribute";
    case PY_SUBSCRIPT: return "a subscript";
    case PY_TUPLE: return "a tuple";
    case PY_LIST: return "a list";
    case PY_SET: return "a set";
    case PY_DICT: return "a dict";
    case PY_LAMBDA: return "a lambda";
    case PY_LIST_COMP:
    case PY_SET_COMP:
    case PY_DICT_COMP: return "a comprehension";
    case PY_GENERATOR: return "a generator";
    case PY_WALRUS: return "an assignment with ':='";
    case PY_AWAIT: return "an await";
    case PY_YIELD: return "a yield";
    default: return "an expression";
    }
}

bool py_is_single_target(const Py *target) {
    PyKind kind = target->kind;
    return kind == PY_NAME || kind == PY_ATTRIBUTE || kind == PY_SUBSCRIPT || kind == PY_ERROR;
}

static void check(PyParser *p, const Py *target, const char *verb, bool stars) {
    if (py_is_single_target(target)) return;
    if (target->kind == PY_TUPLE || target->kind == PY_LIST) {
        for (const Py *e = target->list; e; e = e->next) check(p, e, verb, stars);
        return;
    }
    if (target->kind == PY_STARRED && stars) {
        check(p, target->a, verb, stars);
        return;
    }
    py_complain(p, target->span, DIAG_ASSIGN, "cannot %s %s", verb, py_describe(target));
}

void py_check_target(PyParser *p, const Py *target) { check(p, target, "assign to", true); }

void py_check_deleted(PyParser *p, const Py *target) { check(p, target, "delete", false); }
