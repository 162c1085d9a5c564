// Calls: of functions of tl.def, of jit functions, which are inlined, and of Python's own.
#include <string.h>

#include "frontend/triton/elaborate.h"

// ---- the table

static const TlFunction functions[] = {
#define TL(name, signature, body, which) {name, signature, body, (int)(which)},
#include "frontend/triton/tl/tl.def"
};

const TlFunction *tl_find(Str name) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (str_equal(name, str(functions[i].name))) return &functions[i];
    return NULL;
}

uint32_t tl_functions(const TlFunction **list) {
    *list = functions;
    return sizeof functions / sizeof *functions;
}

// ---- arguments as written

static void add_argument(Elab *e, Arguments *a, uint32_t *room, Val v, Symbol name, Span span) {
    if (a->count == *room) {
        uint32_t more = *room * 2 + 8;
        Arguments bigger = {.vals = arena_new(e->scratch, Val, more),
                            .names = arena_new(e->scratch, Symbol, more),
                            .spans = arena_new(e->scratch, Span, more)};
        for (uint32_t i = 0; i < a->count; i++) {
            bigger.vals[i] = a->vals[i];
            bigger.names[i] = a->names[i];
            bigger.spans[i] = a->spans[i];
        }
        bigger.count = a->count;
        bigger.poison = a->poison;
        *a = bigger;
        *room = more;
    }
    a->vals[a->count] = v;
    a->names[a->count] = name;
    a->spans[a->count++] = span;
    if (el_is_poison(v)) a->poison = true;
}

static Arguments arguments_of(Elab *e, const Py *call, const Object *callee) {
    Arguments a = {0};
    uint32_t room = 0;
    if (callee && callee->self) add_argument(e, &a, &room, *callee->self, NULL, call->a->span);
    for (const Py *x = call->list; x; x = x->next) {
        if (x->kind == PY_KEYWORD && !x->name) {
            tr_certain(e, x->span, DIAG_UNSUPPORTED, "a kernel cannot use '**' in a call");
            a.poison = true;
            continue;
        }
        Val v = tr_expr(e, x->kind == PY_KEYWORD || x->kind == PY_STARRED ? x->a : x);
        if (x->kind == PY_STARRED && v.kind != VAL_TUPLE && v.kind != VAL_POISON)
            v = el_error(e, x->span, DIAG_TYPE, "'*' needs a tuple, found %s", tr_text(e, v));
        if (x->kind == PY_STARRED && v.kind == VAL_TUPLE) {
            for (uint32_t i = 0; i < v.tuple.count; i++)
                add_argument(e, &a, &room, v.tuple.items[i], NULL, x->span);
        } else {
            add_argument(e, &a, &room, v, x->kind == PY_KEYWORD ? x->name : NULL, x->span);
        }
    }
    return a;
}

// ---- functions of tl.def

// The next parameter of a signature: "mask=None".
bool tl_next_param(Str *rest, Str *name, bool *has_default, bool *takes_all) {
    *rest = str_trim(*rest);
    if (!rest->size) return false;
    size_t i = 0;
    int depth = 0;
    for (; i < rest->size && (depth || rest->text[i] != ','); i++)
        depth += rest->text[i] == '(' ? 1 : rest->text[i] == ')' ? -1 : 0;
    Str one = str_trim((Str){rest->text, i}), value;
    *rest = i < rest->size ? (Str){rest->text + i + 1, rest->size - i - 1} : STR("");
    *takes_all = str_starts(one, STR("*"));
    if (*takes_all) one = (Str){one.text + 1, one.size - 1};
    *name = str_trim(str_cut(one, '=', &value));
    *has_default = name->size < one.size;
    return true;
}

static bool is_config(Str name) {  // arguments that every function takes and that mean nothing here
    return str_equal(name, STR("_semantic")) || str_equal(name, STR("_builder")) ||
           str_equal(name, STR("_generator"));
}

static Val wrong_arguments(Elab *e, const TlFunction *tl, Span span, const char *what) {
    tr_certain(e, span, DIAG_ARGUMENTS, "'tl.%s': %s", tl->name, what);
    el_help(e, "tl.%s(%s)", tl->name, tl->signature);
    return EL_POISON;
}

static Val given_twice(Elab *e, const TlFunction *tl, Span span, Str name) {
    return wrong_arguments(
        e, tl, span, arena_printf(e->scratch, "the argument '%.*s' is given twice", STR_ARG(name)));
}

// The tuple of all arguments by position from `first` on, or the one that is a tuple.
static Val rest_of(Elab *e, const Arguments *a, uint32_t first) {
    uint32_t count = 0;
    Val *items = arena_new(e->scratch, Val, a->count + 1);
    for (uint32_t i = first; i < a->count; i++)
        if (!a->names[i]) items[count++] = a->vals[i];
    if (count == 1 && items[0].kind == VAL_TUPLE) return items[0];
    return el_tuple(e, count, items);
}

static Val call_tl(Elab *e, const TlFunction *tl, const Arguments *a, Span span) {
    TlCall c = {.tl = tl, .span = span};
    bool *used = arena_new(e->scratch, bool, a->count + 1);
    Str rest = str(tl->signature), name;
    bool has_default, takes_all;
    uint32_t at = 0, position = 0;
    if (a->poison) return EL_POISON;
    for (; tl_next_param(&rest, &name, &has_default, &takes_all); at++) {
        c.arg[at] = EL_NONE;
        c.at[at] = span;
        for (uint32_t i = 0; i < a->count; i++) {
            if (!a->names[i] || !str_equal(str(a->names[i]), name)) continue;
            if (c.arg[at].kind != VAL_NONE) return given_twice(e, tl, a->spans[i], name);
            c.arg[at] = a->vals[i];
            c.at[at] = a->spans[i];
            used[i] = true;
        }
        if (takes_all) {
            if (c.arg[at].kind == VAL_NONE) c.arg[at] = rest_of(e, a, position);
            for (uint32_t i = position; i < a->count; i++) used[i] = used[i] || !a->names[i];
            position = a->count;
        } else if (position < a->count && !a->names[position]) {
            if (c.arg[at].kind != VAL_NONE) return given_twice(e, tl, c.at[at], name);
            c.arg[at] = a->vals[position];
            c.at[at] = a->spans[position];
            used[position++] = true;
        }
        if (c.arg[at].kind == VAL_NONE && !has_default && !takes_all)
            return wrong_arguments(
                e, tl, span,
                arena_printf(e->scratch, "the argument '%.*s' is missing", STR_ARG(name)));
    }
    for (uint32_t i = 0; i < a->count; i++) {
        if (used[i] || (a->names[i] && is_config(str(a->names[i])))) continue;
        if (!a->names[i]) return wrong_arguments(e, tl, a->spans[i], "too many arguments");
        tr_certain(e, a->spans[i], DIAG_ARGUMENTS, "'tl.%s' has no argument '%s'", tl->name,
                   a->names[i]);
        Str near = tr_nearest_param(e, tl->signature, str(a->names[i]));
        el_help(e, near.size ? "did you mean '%.*s'? tl.%s(%s)" : "%.*stl.%s(%s)", STR_ARG(near),
                tl->name, tl->signature);
        return EL_POISON;
    }
    return tl->body(e, &c);
}

bool tr_given(const TlCall *c, uint32_t i) {
    return c->arg[i].kind != VAL_NONE && !tr_is_none(c->arg[i]);
}

bool tr_call_int(Elab *e, const TlCall *c, uint32_t i, const char *what, int64_t missing,
                 int64_t *value) {
    Int128 wide = missing;
    if (tr_given(c, i) && !tr_const_int(e, c->arg[i], what, c->at[i], &wide)) return false;
    if (wide < INT64_MIN || wide > INT64_MAX) {
        el_error(e, c->at[i], DIAG_CONSTANT_VALUE, "%s is too large", what);
        return false;
    }
    *value = (int64_t)wide;
    return true;
}

bool tr_call_bool(Elab *e, const TlCall *c, uint32_t i, bool missing, bool *value) {
    *value = missing;
    if (!tr_given(c, i) || tr_const_truth(e, c->arg[i], value)) return true;
    el_error(e, c->at[i], DIAG_NOT_CONSTANT, "expected True or False, found %s",
             tr_text(e, c->arg[i]));
    return false;
}

Str tr_call_text(const TlCall *c, uint32_t i) {
    return c->arg[i].kind == VAL_STRING ? c->arg[i].text : STR("");
}

bool tr_call_word(Elab *e, const TlCall *c, uint32_t i, const char *what, const char *words) {
    Str given = tr_call_text(c, i), rest = str(words), list = str(words);
    if (!tr_given(c, i) || (c->arg[i].kind == VAL_STRING && !given.size)) return true;
    while (rest.size && given.size)
        if (str_equal(str_cut(rest, ' ', &rest), given)) return true;
    el_error(e, c->at[i], DIAG_ARGUMENTS, "%s is unknown for '%s'", tr_text(e, c->arg[i]), what);
    el_help(e, "it is one of: %.*s", STR_ARG(list));
    return false;
}

bool tr_shape(Elab *e, Val v, Span span, Shape *shape) {
    if (v.kind != VAL_TUPLE) v = el_tuple(e, 1, &v);
    *shape = (Shape){.rank = v.tuple.count};
    if (v.tuple.count > IR_MAX_RANK) {
        el_error(e, span, DIAG_SHAPE, "a tensor has at most %d dimensions, this one %u",
                 IR_MAX_RANK, v.tuple.count);
        return false;
    }
    for (uint32_t d = 0; d < v.tuple.count; d++) {
        Int128 extent;
        if (!tr_const_int(e, v.tuple.items[d], "an extent", span, &extent)) return false;
        if (extent < 1 || extent > IR_MAX_COUNT || (extent & (extent - 1))) {
            el_error(e, span, DIAG_SHAPE, "an extent must be a power of two, found %s",
                     el_wide_text(e, extent));
            if (extent > 0 && extent < IR_MAX_COUNT)
                el_help(e, "take %llu, and mask what is beyond the end",
                        (unsigned long long)el_next_power((uint64_t)extent));
            return false;
        }
        shape->dims[d] = (uint32_t)extent;
    }
    return el_shape_limits(e, span, shape->rank, shape->dims);
}

bool tr_call_shape(Elab *e, const TlCall *c, uint32_t i, Shape *shape) {
    return tr_shape(e, c->arg[i], c->at[i], shape);
}

bool tr_call_type(Elab *e, const TlCall *c, uint32_t i, Dtype missing, Dtype *type) {
    *type = missing;
    if (!tr_given(c, i)) return true;
    Val v = c->arg[i];
    if (v.kind == VAL_STRING && tr_type_named(v.text, type)) return true;
    *type = v.type;
    if (v.kind == VAL_TYPE) return true;
    el_error(e, c->at[i], DIAG_TYPE, "expected a type such as tl.float32, found %s", tr_text(e, v));
    return false;
}

// ---- jit functions, host functions, lambdas

static bool bind_params(Elab *e, const PyFunc *func, const Arguments *a, JitFrame *frame,
                        Span span) {
    bool *used = arena_new(e->scratch, bool, a->count + 1);
    uint32_t position = 0;
    for (const PyParam *p = func->params; p; p = p->next) {
        Val v = EL_NONE;
        if (p->kind == PY_PARAM_ARGS) {
            uint32_t first = position, count = 0;
            Val *items = arena_new(e->scratch, Val, a->count + 1);
            for (uint32_t i = first; i < a->count; i++) {
                if (a->names[i]) continue;
                items[count++] = a->vals[i];
                used[i] = true;
            }
            position = a->count;
            v = el_tuple(e, count, items);
        } else if (p->kind != PY_PARAM_KEYWORD && position < a->count && !a->names[position]) {
            v = a->vals[position];
            used[position++] = true;
        }
        for (uint32_t i = 0; i < a->count && v.kind == VAL_NONE; i++) {
            if (!a->names[i] || a->names[i] != p->name) continue;
            v = a->vals[i];
            used[i] = true;
        }
        if (v.kind == VAL_NONE && p->value) {
            TritonElab *t = triton_of(e);
            JitFrame *outer = t->frame;
            TritonModule *module = t->module;
            t->frame = NULL;
            t->module = frame->module;
            v = tr_expr(e, p->value);
            t->frame = outer;
            t->module = module;
        }
        if (v.kind == VAL_NONE && p->kind != PY_PARAM_KWARGS) {
            tr_certain(e, span, DIAG_ARGUMENTS, "'%s': the argument '%s' is missing",
                       func->name ? func->name : "lambda", p->name);
            el_note(e, p->span, "it is declared here");
            return false;
        }
        Slot *slot = arena_new(e->scratch, Slot, 1);
        *slot = (Slot){.kind = SLOT_NAME, .val = v, .region = e->region, .name = p->name};
        map_put(e->scratch, &frame->slots, map_key(p->name), map_key(slot));
    }
    for (uint32_t i = 0; i < a->count; i++) {
        if (used[i]) continue;
        const char *name = func->name ? func->name : "lambda";
        bool is_param = false;
        for (const PyParam *p = func->params; p; p = p->next)
            is_param = is_param || (a->names[i] && p->name == a->names[i]);
        if (is_param)
            tr_certain(e, a->spans[i], DIAG_ARGUMENTS, "'%s': the argument '%s' is given twice",
                       name, a->names[i]);
        else if (a->names[i])
            tr_certain(e, a->spans[i], DIAG_ARGUMENTS, "'%s' has no parameter '%s'", name,
                       a->names[i]);
        else
            tr_certain(e, a->spans[i], DIAG_ARGUMENTS, "'%s' is given too many arguments", name);
        el_note(e, func->span, "it is declared here");
        return false;
    }
    return true;
}

// Tuples and block pointers get slots of their own for their parts, so that loops can carry them.
static void hold_parts(Elab *e, const JitFrame *frame) {
    for (uint32_t i = 0; i < frame->slots.count; i++) {
        Slot *slot = (Slot *)(uintptr_t)frame->slots.entries[i].value;
        tr_set_slot(e, slot, slot->val);
    }
}

static Val call_result(Elab *e, const JitFrame *frame, Span span) {
    bool all_paths = frame->active.val.kind == VAL_BOOL && !frame->active.val.truth;
    if (!frame->returned) return tr_none();
    if (all_paths || tr_is_none(frame->result.val)) return tr_slot_value(e, &frame->result);
    el_error(e, span, DIAG_MISSING_RETURN, "'%s' does not return a value on every path",
             frame->func->name);
    el_note(e, frame->first_return, "it returns one here");
    return EL_POISON;
}

// Is it a call within itself with the same values known at compile time? It would never end.
static bool repeats(Elab *e, const JitFrame *outer, const Arguments *a, Span span) {
    if (!outer->args || outer->args->count != a->count) return false;
    for (uint32_t i = 0; i < a->count; i++) {
        Val x = outer->args->vals[i], y = a->vals[i];
        if (x.kind == VAL_IR && y.kind == VAL_IR) continue;
        if (x.kind == VAL_IR || y.kind == VAL_IR) return false;
        Val same = tr_fold(e, PY_EQ, x, y, span);
        if (same.kind == VAL_BOOL && !same.truth) return false;
    }
    return true;
}

Val tr_call_func(Elab *e, const PyFunc *func, const Arguments *a, bool host, Span span) {
    TritonElab *t = triton_of(e);
    if (a->poison) return EL_POISON;
    if (t->calls >= TR_CALL_DEPTH)
        return el_error(e, span, DIAG_TOO_DEEP, "calls nest deeper than %d", TR_CALL_DEPTH);
    for (const JitFrame *f = t->frame; f; f = f->caller)
        if (f->func == func && !host && (e->errors || repeats(e, f, a, span))) {
            tr_certain(e, span, DIAG_RECURSION, "'%s' calls itself", func->name);
            el_help(e,
                    "a jit function is inlined at each call: only values known at compile time "
                    "can end a recursion");
            return EL_POISON;
        }
    JitFrame frame = {.caller = t->frame,
                      .func = func,
                      .module = tr_module_of(t->file, func),
                      .call = span,
                      .args = a,
                      .host = host || (t->frame && t->frame->host),
                      .region = e->region};
    frame.active = (Slot){.kind = SLOT_ACTIVE,
                          .val = el_bool(true),
                          .tail = true,
                          .whole = true,
                          .region = e->region};
    frame.result =
        (Slot){.kind = SLOT_RESULT, .val = EL_NONE, .region = e->region, .name = "return"};
    if (!bind_params(e, func, a, &frame, span)) return EL_POISON;
    t->frame = &frame;
    hold_parts(e, &frame);
    tr_declare_names(e, &frame, func->body);
    t->calls++;
    Span outer = e->b.span;
    ir_note_inlined(e->func, func->name, func->body->span, span);
    tr_block(e, func->body);
    Val result = call_result(e, &frame, span);
    e->b.span = outer;
    t->calls--;
    t->frame = frame.caller;
    return result;
}

// ---- dispatch

static Val call_constexpr(Elab *e, const Arguments *a, Span span) {
    if (a->count != 1) return el_error(e, span, DIAG_ARGUMENTS, "tl.constexpr takes one value");
    if (a->vals[0].kind != VAL_IR) return a->vals[0];
    return el_error(e, span, DIAG_NOT_CONSTANT, "%s is not known at compile time",
                    tr_text(e, a->vals[0]));
}

static Val make_named_tuple(Elab *e, const Object *o, const Arguments *a, Span span) {
    Val *items = arena_new(e->scratch, Val, o->count + 1);
    for (uint32_t i = 0; i < o->count; i++) items[i] = o->fields[i];
    uint32_t at = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t place = at;
        if (a->names[i])
            for (place = 0; place < o->count && o->names[place] != a->names[i];) place++;
        else
            at++;
        if (place >= o->count)
            return a->names[i]
                       ? el_error(e, a->spans[i], DIAG_ARGUMENTS, "'%.*s' has no field '%s'",
                                  STR_ARG(o->path), a->names[i])
                       : el_error(e, span, DIAG_ARGUMENTS, "'%.*s' has %u field%s, found %u values",
                                  STR_ARG(o->path), o->count, o->count == 1 ? "" : "s", a->count);
        items[place] = a->vals[i];
    }
    for (uint32_t i = 0; i < o->count; i++)
        if (items[i].kind == VAL_NONE)
            return el_error(e, span, DIAG_ARGUMENTS, "the field '%s' of '%.*s' has no value",
                            o->names[i], STR_ARG(o->path));
    Val v = el_tuple(e, o->count, items);
    v.tuple.names = o->names;
    return v;
}

static Val call_object(Elab *e, const Object *o, const Arguments *a, const Py *node) {
    switch (o->kind) {
    case OBJECT_TL:
    case OBJECT_METHOD: return call_tl(e, o->tl, a, node->span);
    case OBJECT_JIT: return tr_call_func(e, o->func, a, false, node->span);
    case OBJECT_HOST:
    case OBJECT_LAMBDA: return tr_call_func(e, o->func, a, true, node->span);
    case OBJECT_PYTHON: return a->poison ? EL_POISON : tr_call_python(e, o, a, node->span);
    case OBJECT_CLASS: return a->poison ? EL_POISON : make_named_tuple(e, o, a, node->span);
    case OBJECT_CONSTEXPR: return a->poison ? EL_POISON : call_constexpr(e, a, node->span);
    case OBJECT_UNKNOWN: return tr_not_read(e, o, node->a->span);
    default: break;
    }
    return el_error(e, node->a->span, DIAG_NOT_CALLABLE, "%s cannot be called",
                    tr_text(e, (Val){.kind = VAL_FN, .fn = {o, ""}}));
}

Val tr_call(Elab *e, const Py *node) {
    Val callee = tr_expr(e, node->a);
    if (callee.kind == VAL_POISON) return callee;
    const Object *o = tr_object_of(callee);
    Arguments a = arguments_of(e, node, o);
    e->b.span = node->span;
    if (o) return call_object(e, o, &a, node);
    if (callee.kind == VAL_TYPE && a.count == 1 && !a.poison)
        return el_ir(tr_cast(e, a.vals[0], callee.type, node->span));
    return el_error(e, node->a->span, DIAG_NOT_CALLABLE, "%s cannot be called", tr_text(e, callee));
}
