// Kinds of parameters, found from how they are used: pointers or scalars.
//
// A parameter is a pointer when it is the base of an address that tl.load, tl.store or an atomic
// accesses, also through names, and through jit functions of the same file. In a sum the pointer is
// the operand that can be one; a name that is multiplied, divided or compared cannot.
#include "frontend/triton/infer.h"

enum { INFER_DEPTH = 16 };

typedef struct Infer {
    const TritonModule *module;
    Arena *arena;
    const PyFunc *func;
    Map kinds;    // Symbol → 1: an address
    Map values;   // Symbol → const Py *: what a name is assigned first
    Map scalars;  // Symbol → 1: used as a number
    bool changed;
    int depth;
} Infer;

static bool marked(const Map *map, Symbol name) { return map_find(map, map_key(name)) != NULL; }

static const PyParam *param_of(const PyFunc *func, Symbol name) {
    for (const PyParam *p = func->params; p; p = p->next)
        if (p->name == name) return p;
    return NULL;
}

Str tr_last_name(const Py *node) {
    if (node->kind == PY_ATTRIBUTE || node->kind == PY_NAME) return str(node->name);
    return STR("");
}

// ---- can it be a pointer?

static bool passes_through(Str function) {
    static const char *const names[] = {"multiple_of", "max_contiguous", "max_constancy", "cast",
                                        "to",          "broadcast_to",   "expand_dims",   "where"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_equal(function, str(names[i]))) return true;
    return false;
}

static bool can_be_pointer(const Infer *in, const Py *x, int depth) {
    if (!x || depth > INFER_DEPTH) return false;
    switch (x->kind) {
    case PY_NAME: {
        if (marked(&in->kinds, x->name)) return true;
        if (param_of(in->func, x->name)) {
            const PyParam *p = param_of(in->func, x->name);
            return !marked(&in->scalars, x->name) && !tr_is_constexpr_param(p);
        }
        const uint64_t *value = map_find(&in->values, map_key(x->name));
        return value && can_be_pointer(in, (const Py *)(uintptr_t)*value, depth + 1);
    }
    case PY_BINARY:
        return (x->op == PY_ADD || x->op == PY_SUB) &&
               (can_be_pointer(in, x->a, depth + 1) || can_be_pointer(in, x->b, depth + 1));
    case PY_TERNARY:
        return can_be_pointer(in, x->b, depth + 1) || can_be_pointer(in, x->c, depth + 1);
    case PY_SUBSCRIPT: return can_be_pointer(in, x->a, depth + 1);
    case PY_CALL:
        if (!passes_through(tr_last_name(x->a))) return false;
        if (str_equal(tr_last_name(x->a), STR("where")))
            return x->list && can_be_pointer(in, x->list->next, depth + 1);
        if (x->a->kind == PY_ATTRIBUTE && can_be_pointer(in, x->a->a, depth + 1)) return true;
        return x->list && can_be_pointer(in, x->list, depth + 1);
    default: return false;
    }
}

// ---- marking

static void mark_address(Infer *in, const Py *x, int depth) {
    if (!x || depth > INFER_DEPTH) return;
    switch (x->kind) {
    case PY_NAME:
        if (marked(&in->kinds, x->name)) return;
        map_put(in->arena, &in->kinds, map_key(x->name), 1);
        in->changed = true;
        return;
    case PY_BINARY:
        if (x->b->kind == PY_NAME && marked(&in->kinds, x->b->name) &&
            !(x->a->kind == PY_NAME && marked(&in->kinds, x->a->name)))
            mark_address(in, x->b, depth + 1);
        else if (can_be_pointer(in, x->a, 0) || !can_be_pointer(in, x->b, 0))
            mark_address(in, x->a, depth + 1);
        else
            mark_address(in, x->b, depth + 1);
        return;
    case PY_TERNARY:
        mark_address(in, x->b, depth + 1);
        mark_address(in, x->c, depth + 1);
        return;
    case PY_SUBSCRIPT: mark_address(in, x->a, depth + 1); return;
    case PY_CALL:
        if (!passes_through(tr_last_name(x->a))) return;
        if (str_equal(tr_last_name(x->a), STR("where"))) {
            for (const Py *arg = x->list ? x->list->next : NULL; arg; arg = arg->next)
                mark_address(in, arg, depth + 1);
            return;
        }
        // x.to(tl.pointer_type(…)): an integer becomes a pointer
        if (str_equal(tr_last_name(x->a), STR("to"))) return;
        mark_address(in, x->list, depth + 1);
        return;
    default: return;
    }
}

static void mark_scalar(Infer *in, const Py *x) {
    if (x && x->kind == PY_NAME && !marked(&in->kinds, x->name))
        map_put(in->arena, &in->scalars, map_key(x->name), 1);
}

static void walk(Infer *in, const Py *x, int depth);

static void walk_list(Infer *in, const Py *list, int depth) {
    for (; list; list = list->next) walk(in, list, depth);
}

static bool takes_address(Str function) {
    return str_equal(function, STR("load")) || str_equal(function, STR("store")) ||
           str_starts(function, STR("atomic_")) || str_equal(function, STR("make_block_ptr")) ||
           str_equal(function, STR("make_tensor_descriptor"));
}

// Arguments of jit functions, also of imported ones, whose parameters are pointers.
static void walk_jit_call(Infer *in, const Py *call) {
    const TritonModule *module = NULL;
    const PyFunc *func =
        call->a->kind == PY_NAME ? tr_find_func(in->module, call->a->name, &module) : NULL;
    if (!func || func == in->func || in->depth > 4) return;
    Map kinds = tr_pointers_of(module, func, in->arena, in->depth + 1);
    const PyParam *p = func->params;
    for (const Py *x = call->list; x; x = x->next) {
        if (x->kind == PY_KEYWORD) {
            if (x->name && marked(&kinds, x->name)) mark_address(in, x->a, 0);
            continue;
        }
        if (p && marked(&kinds, p->name)) mark_address(in, x, 0);
        if (p) p = p->next;
    }
}

static void walk_call(Infer *in, const Py *x) {
    Str name = tr_last_name(x->a);
    if (!takes_address(name)) {
        walk_jit_call(in, x);
        return;
    }
    const Py *first = x->list;
    for (const Py *a = x->list; a; a = a->next)
        if (a->kind == PY_KEYWORD && a->name &&
            (str_equal(str(a->name), STR("pointer")) || str_equal(str(a->name), STR("base"))))
            first = a->a;
    if (first && first->kind != PY_KEYWORD) mark_address(in, first, 0);
}

static void note_value(Infer *in, const Py *target, const Py *value) {
    if (!target || target->kind != PY_NAME || !value) return;  // wrong targets are NULL
    if (!map_find(&in->values, map_key(target->name)))
        map_put(in->arena, &in->values, map_key(target->name), map_key(value));
    if (marked(&in->kinds, target->name)) mark_address(in, value, 0);
}

static void walk_parts(Infer *in, const Py *x, int depth) {
    const Py *parts[4] = {x->a, x->b, x->c, x->d};
    for (int i = 0; i < 4; i++) walk(in, parts[i], depth + 1);
    if (x->kind != PY_DEF && x->kind != PY_LAMBDA) walk_list(in, x->list, depth + 1);
}

static void walk(Infer *in, const Py *x, int depth) {
    if (!x || depth > PY_MAX_DEPTH) return;
    switch (x->kind) {
    case PY_INT:
    case PY_FLOAT:
    case PY_STRING:
    case PY_LAMBDA:
    case PY_IMPORT:
    case PY_FROM: return;
    case PY_CALL: walk_call(in, x); break;
    case PY_ASSIGN:
        for (const Py *t = x->list; t; t = t->next) note_value(in, t, x->a);
        break;
    case PY_ANNOTATED: note_value(in, x->a, x->c); break;
    case PY_AUGMENTED:
        if (x->op == PY_MUL || x->op == PY_FLOOR_DIV || x->op == PY_MOD) mark_scalar(in, x->b);
        break;
    case PY_BINARY:
        if (x->op != PY_ADD && x->op != PY_SUB) {
            mark_scalar(in, x->a);
            mark_scalar(in, x->b);
        }
        break;
    case PY_COMPARE:
        if (x->list && x->list->op <= PY_NE) {
            mark_scalar(in, x->a);
            mark_scalar(in, x->list->a);
        }
        break;
    default: break;
    }
    walk_parts(in, x, depth);
}

// ---- annotations

bool tr_is_constexpr_param(const PyParam *p) {
    const Py *a = p->annotation;
    if (a && a->kind == PY_SUBSCRIPT) a = a->a;
    if (!a) return false;
    if (a->kind == PY_STRING) return str_has_word(a->text, STR("constexpr"));
    return str_equal(tr_last_name(a), STR("constexpr"));
}

Dtype tr_scalar_annotation(const PyParam *p) {
    const Py *a = p->annotation;
    Dtype type = DTYPES;
    if (a && a->kind == PY_STRING) tr_type_named(a->text, &type);
    if (a && a->kind == PY_ATTRIBUTE) tr_type_named(tr_last_name(a), &type);  // tl.int64
    return type;
}

bool tr_is_pointer_param(const PyParam *p, Dtype *type) {
    *type = DTYPES;
    const Py *a = p->annotation;
    if (a && a->kind == PY_CALL && str_equal(tr_last_name(a->a), STR("pointer_type"))) {
        if (a->list) tr_type_named(tr_last_name(a->list), type);
        return true;
    }
    if (!a || a->kind != PY_STRING || !str_starts(a->text, STR("*"))) return false;
    tr_type_named((Str){a->text.text + 1, a->text.size - 1}, type);
    return true;
}

// A parameter whose use says nothing (it is handed on, or never used) is a pointer by its name:
// x_ptr, ptr0, out_pointer.
static void mark_by_name(Infer *in) {
    for (const PyParam *p = in->func->params; p; p = p->next) {
        Str name = str(p->name);
        while (name.size && name.text[name.size - 1] >= '0' && name.text[name.size - 1] <= '9')
            name.size--;
        bool pointer = str_ends(name, STR("ptr")) || str_ends(name, STR("Ptr")) ||
                       str_ends(name, STR("PTR")) || str_ends(name, STR("pointer"));
        if (pointer && !marked(&in->scalars, p->name) && !tr_is_constexpr_param(p))
            map_put(in->arena, &in->kinds, map_key(p->name), 1);
    }
}

Map tr_pointers_of(const TritonModule *module, const PyFunc *func, Arena *arena, int depth) {
    Infer in = {.module = module, .arena = arena, .func = func, .depth = depth};
    for (const PyParam *p = func->params; p; p = p->next) {
        Dtype type;
        if (tr_is_pointer_param(p, &type))
            map_put(arena, &in.kinds, map_key(p->name), 1);
        else if (p->annotation && p->annotation->kind == PY_STRING)
            map_put(arena, &in.scalars, map_key(p->name), 1);
    }
    do {
        in.changed = false;
        walk(&in, func->body, 0);
    } while (in.changed);
    mark_by_name(&in);
    return in.kinds;
}

// ---- which functions are kernels

static bool returns_value(const Py *block, int depth) {
    if (!block || depth > PY_MAX_DEPTH) return false;
    for (const Py *s = block->list; s; s = s->next) {
        if (s->kind == PY_RETURN && s->a && s->a->kind != PY_NONE) return true;
        if (s->kind == PY_IF && (returns_value(s->b, depth + 1) || returns_value(s->c, depth + 1)))
            return true;
        if (s->kind == PY_FOR && returns_value(s->c, depth + 1)) return true;
        if (s->kind == PY_WHILE && returns_value(s->b, depth + 1)) return true;
    }
    return false;
}

static void find_called(const TritonModule *module, Arena *arena, const Py *x, Map *called,
                        Symbol own, int depth) {
    if (!x || depth > PY_MAX_DEPTH || x->kind == PY_INT || x->kind == PY_FLOAT ||
        x->kind == PY_STRING || x->kind == PY_LAMBDA || x->kind == PY_DEF || x->kind == PY_IMPORT ||
        x->kind == PY_FROM)
        return;
    // A function that is handed on (tl.reduce) is called, too.
    if (x->kind == PY_NAME && x->name != own && tr_find_global(module, x->name))
        map_put(arena, called, map_key(x->name), 1);
    const Py *parts[4] = {x->a, x->b, x->c, x->d};
    for (int i = 0; i < 4; i++) find_called(module, arena, parts[i], called, own, depth + 1);
    for (const Py *i = x->list; i; i = i->next)
        find_called(module, arena, i, called, own, depth + 1);
}

void tr_find_called(const TritonModule *module, const PyFunc *func, Arena *arena, Map *called) {
    find_called(module, arena, func->body, called, func->name, 0);
}

bool tr_returns_value(const PyFunc *func) { return returns_value(func->body, 0); }
