#include "tests/support/py_walk.h"

typedef struct Walk {
    const SourceFile *file;
    const char *problem;
} Walk;

static void walk(Walk *w, const Py *n, unsigned most);

static void walk_list(Walk *w, const Py *list, unsigned most) {
    for (; list && !w->problem; list = list->next) walk(w, list, most);
}

static void walk_func(Walk *w, const PyFunc *f, unsigned most) {
    for (const PyParam *a = f->params; a; a = a->next) {
        if (!a->name) w->problem = "a parameter without a name";
        walk(w, a->annotation, most);
        walk(w, a->value, most);
    }
    walk_list(w, f->type_params, most);
    walk_list(w, f->decorators, most);
    walk(w, f->returns, most);
    if (!f->body || f->body->kind != PY_BLOCK) w->problem = "a function without a block";
    walk(w, f->body, most);
}

static void check(Walk *w, const Py *n, unsigned most) {
    uint32_t begin = w->file->base, end = begin + (uint32_t)w->file->text.size;
    if (n->span.begin < begin || n->span.end > end || n->span.begin > n->span.end)
        w->problem = "a place that is not in the file";
    if (n->height < 1 || n->height > most) w->problem = "a wrong height";
}

// The left side of a chain, or the next `if` of a chain of elif; NULL at its end.
static const Py *next_of_chain(const Py *n) {
    switch (n->kind) {
    case PY_BINARY:
    case PY_CALL:
    case PY_ATTRIBUTE:
    case PY_SUBSCRIPT: return n->a;
    case PY_IF: return n->c && n->c->height == n->height ? n->c->list : NULL;
    default: return NULL;
    }
}

static void walk_parts(Walk *w, const Py *n, unsigned most) {
    const Py *left = next_of_chain(n);
    if (n->a != left) walk(w, n->a, most);
    walk(w, n->b, most);
    if (!left || n->kind != PY_IF) walk(w, n->c, most);
    walk(w, n->d, most);
    walk_list(w, n->list, most);
}

static void walk(Walk *w, const Py *n, unsigned most) {
    while (n && !w->problem) {
        check(w, n, most);
        most = n->height;
        unsigned below = most - 1U;
        switch (n->kind) {
        case PY_INT:
        case PY_FLOAT:
        case PY_STRING: return;
        case PY_FROM:
        case PY_ALIAS: walk_list(w, n->list, below); return;
        case PY_DEF:
        case PY_LAMBDA: walk_func(w, n->func, below); return;
        case PY_CLASS:
            walk(w, n->b, below);
            walk_list(w, n->c, below);
            walk_list(w, n->d, below);
            walk_list(w, n->list, below);
            return;
        case PY_TYPE_ALIAS:
            walk(w, n->a, below);
            walk_list(w, n->b, below);
            return;
        default: walk_parts(w, n, below); break;
        }
        n = next_of_chain(n);
    }
}

const char *py_walk(const Py *module, const SourceFile *file) {
    Walk w = {file, NULL};
    if (module->kind != PY_BLOCK) return "no block";
    walk_list(&w, module->list, PY_MAX_DEPTH);
    return w.problem;
}
