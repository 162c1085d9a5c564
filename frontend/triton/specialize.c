// Specialisation by arguments: types and facts of parameters, and the constexprs that
// @triton.heuristics computes from them.
#include "frontend/triton/specialize.h"

#include "base/status.h"

// ---- types and facts

// Memory for a parameter that nothing makes an address of: a pointer whose use is not seen.
static bool is_hidden_pointer(const FrontParam *p, const FrontArg *arg) {
    return p->kind == FRONT_SCALAR && p->dtype == DTYPES && arg->kind == FRONT_ARG_OTHER &&
           arg->type != DTYPES;
}

// A number for a parameter that is a pointer elsewhere in the kernel.
static bool is_number(const FrontParam *p, const FrontArg *arg) {
    return p->kind == FRONT_POINTER && p->dtype == DTYPES && arg->type == DTYPES &&
           (arg->kind == FRONT_ARG_INT || arg->kind == FRONT_ARG_HUGE ||
            arg->kind == FRONT_ARG_REAL);
}

static Dtype type_of(const FrontParam *p, const FrontArg *arg) {
    if ((p->kind != FRONT_SCALAR && !is_number(p, arg)) || is_hidden_pointer(p, arg))
        return arg->type;
    if (p->dtype != DTYPES) return p->dtype;
    switch (arg->kind) {
    case FRONT_ARG_INT:
        return arg->integer < INT32_MIN || arg->integer > INT32_MAX ? DTYPE_I64 : DTYPE_I32;
    case FRONT_ARG_HUGE: return DTYPE_U64;
    case FRONT_ARG_REAL: return DTYPE_F32;
    case FRONT_ARG_OTHER:
    case FRONT_ARG_NONE: break;
    }
    return DTYPES;
}

static bool bind_argument(TritonFile *file, Arena *arena, const FrontParam *p, const FrontArg *arg,
                          FrontSpec *spec, Diags *diags) {
    const IrBinding *known = frontend_spec_find(spec, p->name);
    IrBinding b = {.name = p->name,
                   .is_type = true,
                   .type = type_of(p, arg),
                   .pointer = is_hidden_pointer(p, arg),
                   .number = !known && is_number(p, arg)};
    if (known && is_number(p, arg)) return true;  // the launch refuses it
    if (arg->kind == FRONT_ARG_NONE) {
        b = (IrBinding){.name = p->name, .text = intern(file->names, STR("None"))};
    } else if (b.type == DTYPES) {
        return true;
    } else if (known) {
        if (known->type == b.type || p->kind == FRONT_SCALAR) return true;
        diag_error(diags, p->span, DIAG_LAUNCH, "argument '%s' is of %s, but was given %s", p->name,
                   tr_type_name(b.type), tr_type_name(known->type));
        return false;
    }
    if (p->kind == FRONT_POINTER && p->dtype != DTYPES && !b.text) return true;
    if (arg->kind == FRONT_ARG_INT && dtype_is(b.type, DTYPE_CLASS_INT))
        b.value = front_scalar_fact(arg->integer);
    if (known)
        *(IrBinding *)(uintptr_t)known = b;
    else
        vec_push(arena, &spec->bindings, b);
    return true;
}

// ---- @triton.heuristics({"EVEN_K": lambda args: args["K"] % args["BLOCK_K"] == 0})

// The first pair of the decorator's dict; NULL: it is another decorator.
static const Py *heuristics_of(const TritonFile *file, const Py *decorator, Arena *scratch) {
    if (decorator->kind != PY_CALL || !decorator->list) return NULL;
    Str path = tr_path_of(file->main, decorator->a, scratch);
    if (!str_ends(path, STR("heuristics"))) return NULL;
    const Py *first = decorator->list;
    const Py *dict = first->kind == PY_KEYWORD ? first->a : first;
    return dict->kind == PY_DICT ? dict->list : NULL;
}

static const Py *in_dict(const Py *pairs, Symbol name) {
    for (const Py *pair = pairs; pair; pair = pair->next)
        if (pair->a && pair->a->kind == PY_STRING && str_equal(pair->a->text, str(name)))
            return pair->b;
    return NULL;
}

const Py *tr_heuristic(const TritonFile *file, const PyFunc *func, Symbol name) {
    for (const Py *d = func->decorators; d; d = d->next) {
        const Py *found = in_dict(heuristics_of(file, d, file->arena), name);
        if (found) return found;
    }
    return NULL;
}

// `type`: of a pointer's elements
static Val argument_value(Elab *e, const FrontArg *arg, Dtype type) {
    switch (arg->kind) {
    case FRONT_ARG_INT: return el_int(arg->integer);
    case FRONT_ARG_HUGE: return el_int((Int128)(uint64_t)arg->integer);
    case FRONT_ARG_REAL: return (Val){.kind = VAL_FLOAT, .real = arg->real};
    case FRONT_ARG_NONE: return tr_none();
    case FRONT_ARG_OTHER: break;
    }
    return tr_object(e, (Object){.kind = OBJECT_ARGUMENT, .type = type});
}

static void declare(Elab *e, JitFrame *frame, Symbol name, Val v) {
    Slot *slot = arena_new(e->scratch, Slot, 1);
    *slot = (Slot){.kind = SLOT_NAME, .val = v, .region = e->region, .name = name};
    map_put(e->scratch, &frame->slots, map_key(name), map_key(slot));
}

static void declare_params(Elab *e, JitFrame *frame, const FrontArg *args, size_t count) {
    TritonElab *t = triton_of(e);
    const TritonKernel *own = t->kernel->own;
    const PyParam *py = own->func->params;
    size_t i = 0;
    for (const FrontParam *p = t->kernel->params; p; p = p->next, py = py->next) {
        const IrBinding *b = frontend_spec_find(t->spec, p->name);
        Val v;
        if (p->kind == FRONT_CONST) {
            if (tr_known_constexpr(e, py, &v)) declare(e, frame, p->name, v);
            continue;
        }
        bool takes = !b || b->is_type || (b->text && i < count && args[i].kind == FRONT_ARG_NONE);
        if (takes && i < count)
            declare(e, frame, p->name,
                    argument_value(e, &args[i], b && b->is_type ? b->type : args[i].type));
        else if (b && !b->is_type && tr_known_constexpr(e, py, &v))
            declare(e, frame, p->name, v);
        if (takes) i++;
    }
}

static void bind_value(TritonElab *t, Arena *arena, Symbol name, Val v, Span span,
                       FrontSpec *spec) {
    IrBinding b = {.name = name, .is_type = v.kind == VAL_TYPE};
    StrBuf text = strbuf(t->elab.scratch);
    switch (v.kind) {
    case VAL_INT: b.value = (int64_t)v.integer; break;
    case VAL_BOOL: b.value = v.truth; break;
    case VAL_TYPE: b.type = v.type; break;
    case VAL_FLOAT: strbuf_double(&text, v.real, false); break;
    case VAL_STRING: strbuf_printf(&text, "'%.*s'", STR_ARG(v.text)); break;
    case VAL_TUPLE: strbuf_add(&text, tr_str(&t->elab, v)); break;
    case VAL_POISON: return;
    default:
        if (!tr_is_none(v)) {
            el_error(&t->elab, span, DIAG_SPECIALIZE, "the value of '%s' cannot be %s", name,
                     tr_text(&t->elab, v));
            el_help(&t->elab, "give it, as in --set %s=64", name);
            return;
        }
        strbuf_add(&text, STR("None"));
    }
    if (text.size) b.text = intern(t->file->names, strbuf_str(&text));
    vec_push(arena, &spec->bindings, b);
}

static void bind_heuristic(TritonElab *t, Arena *arena, JitFrame *frame, Symbol name,
                           const Py *function, FrontSpec *spec) {
    Elab *e = &t->elab;
    const Object *f = tr_object_of(tr_expr(e, function));
    if (!f || !f->func) return;
    Val meta = tr_object(e, (Object){.kind = OBJECT_META});
    Arguments a = {
        .count = 1, .vals = &meta, .names = (Symbol[]){NULL}, .spans = (Span[]){function->span}};
    Val v = tr_call_func(e, f->func, &a, true, function->span);
    bind_value(t, arena, name, v, function->span, spec);
    declare(e, frame, name, v);
}

// In the order of the text: each sees the values of those before it.
static void bind_heuristics(TritonElab *t, Arena *arena, const FrontArg *args, size_t count,
                            FrontSpec *spec) {
    Elab *e = &t->elab;
    const TritonKernel *own = t->kernel->own;
    JitFrame frame = {.func = own->func, .module = t->file->main, .host = true};
    declare_params(e, &frame, args, count);
    t->meta = &frame;
    for (const Py *d = own->func->decorators; d; d = d->next)
        for (const Py *pair = heuristics_of(t->file, d, e->scratch); pair; pair = pair->next)
            for (const FrontParam *p = t->kernel->params; p; p = p->next) {
                bool is = p->at_launch && pair->a && pair->a->kind == PY_STRING &&
                          str_equal(pair->a->text, str(p->name));
                if (is && !frontend_spec_find(spec, p->name))
                    bind_heuristic(t, arena, &frame, p->name, pair->b, spec);
            }
    t->meta = NULL;
}

bool tr_specialize(Arena *arena, const FrontKernel *kernel, const FrontArg *args, size_t count,
                   FrontSpec *spec, Diags *diags) {
    TritonFile *file = kernel->in->own;
    bool heuristics = false;
    size_t i = 0;
    for (const FrontParam *p = kernel->params; p; p = p->next) {
        heuristics = heuristics || p->at_launch;
        if (p->kind == FRONT_CONST) continue;
        const IrBinding *known = frontend_spec_find(spec, p->name);
        if (known && !known->is_type) continue;  // it has a value, and takes no argument
        if (i < count) TRY(bind_argument(file, arena, p, &args[i], spec, diags));
        i++;
    }
    if (!heuristics) return true;
    Arena *scratch = arena_create();
    TritonElab t;
    size_t errors = diags_errors(diags);
    tr_begin(&t, file, ir_module_create(scratch, file->sources, file->names), diags, scratch);
    t.kernel = kernel;
    t.spec = spec;
    t.module = file->main;
    bind_heuristics(&t, arena, args, count, spec);
    arena_destroy(scratch);
    return diags_errors(diags) == errors;
}
