// Names at the top of a file: what they stand for, evaluated on demand, and the attributes of
// modules and values.
#include <math.h>

#include "frontend/triton/elaborate.h"

static Val path_value(Elab *e, Str path);

static Str path_join(Arena *arena, Str a, Str b) {
    return str(arena_printf(arena, "%.*s.%.*s", STR_ARG(a), STR_ARG(b)));
}

static Str last_part(Str path) {
    size_t i = path.size;
    while (i && path.text[i - 1] != '.') i--;
    return (Str){path.text + i, path.size - i};
}

// ---- values of paths

static Val unknown(Elab *e, Str path) {
    return tr_object(e, (Object){.kind = OBJECT_UNKNOWN, .path = path});
}

static Val module_value(Elab *e, Str path) {
    return tr_object(e, (Object){.kind = OBJECT_MODULE, .path = path});
}

// tl.PropagateNan and its two numbers, which are Triton's own.
static Val propagate_nan(Elab *e, Str path, Str name) {
    if (str_equal(name, STR("PropagateNan"))) return module_value(e, path);
    if (str_ends(path, STR(".PropagateNan.NONE"))) return el_int(TR_NUMBER_WINS);
    if (str_ends(path, STR(".PropagateNan.ALL"))) return el_int(TR_NAN_WINS);
    return unknown(e, path);
}

// A name of triton.language or one of its submodules.
static Val tl_value(Elab *e, Str path, Str name) {
    Dtype type;
    if (str_equal(name, STR("constexpr")))
        return tr_object(e, (Object){.kind = OBJECT_CONSTEXPR, .path = name});
    if (str_equal(name, STR("pointer_type")) || str_equal(name, STR("tensor")) ||
        str_equal(name, STR("dtype")) || str_equal(name, STR("tuple")) ||
        str_equal(name, STR("tensor_descriptor")) || str_equal(name, STR("tensor_descriptor_base")))
        return tr_object(e, (Object){.kind = OBJECT_PYTHON, .path = name});
    const TlFunction *tl = tl_find(name);
    if (tl) return tr_object(e, (Object){.kind = OBJECT_TL, .tl = tl, .path = name});
    static const char *const modules[] = {"math", "extra", "core",      "standard",    "random",
                                          "cuda", "hip",   "libdevice", "target_info", "intel"};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        if (str_equal(name, str(modules[i]))) return module_value(e, path);
    if (str_starts(name, STR("float")) || str_starts(name, STR("int")) ||
        str_starts(name, STR("uint")) || str_starts(name, STR("bfloat")))
        if (tr_type_named(name, &type)) return (Val){.kind = VAL_TYPE, .type = type};
    return propagate_nan(e, path, name);
}

static Val triton_value(Elab *e, Str path, Str name) {
    if (str_equal(name, STR("language"))) return module_value(e, STR("triton.language"));
    if (str_equal(name, STR("Config")))
        return tr_object(e, (Object){.kind = OBJECT_PYTHON, .path = path});
    if (str_equal(name, STR("cdiv")) || str_equal(name, STR("next_power_of_2")))
        return tr_object(e, (Object){.kind = OBJECT_TL, .tl = tl_find(name), .path = name});
    return unknown(e, path);
}

static Val torch_value(Elab *e, Str path, Str name) {
    Dtype type;
    // PyTorch has None here where the GPUs are NVIDIA's.
    if (str_equal(path, STR("torch.version.hip"))) return tr_none();
    if (str_equal(path, STR("torch.version"))) return module_value(e, path);
    if (tr_type_named(name, &type)) return (Val){.kind = VAL_TYPE, .type = type};
    if (str_equal(name, STR("finfo")) || str_equal(name, STR("iinfo")))
        return tr_object(e, (Object){.kind = OBJECT_PYTHON, .path = name});
    return unknown(e, path);
}

static Val os_value(Elab *e, Str path, Str name) {
    if (str_equal(name, STR("environ"))) return module_value(e, path);
    if (str_equal(name, STR("getenv")) || str_equal(path, STR("os.environ.get")))
        return tr_object(e, (Object){.kind = OBJECT_PYTHON, .path = STR("getenv")});
    return unknown(e, path);
}

static Val math_value(Elab *e, Str path, Str name) {
    static const struct {
        const char *name;
        double value;
    } constants[] = {{"pi", 3.14159265358979323846},
                     {"e", 2.71828182845904523536},
                     {"inf", __builtin_inf()},
                     {"nan", __builtin_nan("")},
                     {"tau", 6.28318530717958647692}};
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (str_equal(name, str(constants[i].name)))
            return (Val){.kind = VAL_FLOAT, .real = constants[i].value};
    return tr_object(e, (Object){.kind = OBJECT_PYTHON, .path = path});
}

static bool is_tl_path(Str path) {
    return str_starts(path, STR("triton.language")) || str_has_word(path, STR("libdevice")) ||
           str_equal(path, STR("tl"));
}

static Val path_value(Elab *e, Str path) {
    Str name = last_part(path);
    if (name.size == path.size) return module_value(e, path);
    Str base = {path.text, path.size - name.size - 1};
    if (is_tl_path(base)) return tl_value(e, path, name);
    if (str_equal(path, STR("triton.language"))) return module_value(e, path);
    if (str_equal(base, STR("triton"))) return triton_value(e, path, name);
    if (str_equal(base, STR("torch")) || str_equal(base, STR("torch.version")))
        return torch_value(e, path, name);
    if (str_equal(base, STR("math"))) return math_value(e, path, name);
    if (str_equal(base, STR("os")) || str_equal(base, STR("os.environ")))
        return os_value(e, path, name);
    return unknown(e, path);
}

// ---- evaluation

static Val unpack_global(Elab *e, const Py *target, Val v, Symbol name) {
    if (target->kind == PY_NAME) return target->name == name ? v : EL_NONE;
    if (target->kind != PY_TUPLE && target->kind != PY_LIST) return EL_NONE;
    if (v.kind != VAL_TUPLE) return EL_NONE;
    uint32_t i = 0;
    for (const Py *t = target->list; t && i < v.tuple.count; t = t->next, i++) {
        Val found = unpack_global(e, t, v.tuple.items[i], name);
        if (found.kind != VAL_NONE) return found;
    }
    return EL_NONE;
}

static Val file_value(Elab *e, TritonModule *module, Str path) {
    return tr_object(e, (Object){.kind = OBJECT_MODULE, .path = path, .module = module});
}

static Val module_name(Elab *e, TritonModule *module, Symbol name, bool *found);

// from a.b import c: a name of a file, a file of a package, or something that is not read
static Val imported(Elab *e, const Py *from, Str name) {
    TritonElab *t = triton_of(e);
    TritonModule *here = tr_module(e);
    Str path = from->text.size ? path_join(e->scratch, from->text, name) : name;
    if (is_tl_path(path) || str_starts(path, STR("triton."))) return path_value(e, path);
    // Projects hand tl and triton on through modules of their own.
    if (str_equal(name, STR("tl"))) return module_value(e, STR("triton.language"));
    if (str_equal(name, STR("triton"))) return module_value(e, STR("triton"));
    if (str_equal(name, STR("tldevice")) || str_equal(name, STR("tl_extra_shim")) ||
        str_equal(name, STR("libdevice")))
        return module_value(e, STR("triton.language.extra.libdevice"));
    TritonModule *m = tr_import(t->file, here, from->text, from->dots);
    bool found = false;
    Val v = EL_POISON;
    if (m && m != here) v = module_name(e, m, intern(t->file->names, name), &found);
    if (found) return v;
    TritonModule *inner = tr_import(t->file, here, path, from->dots);
    if (inner) return file_value(e, inner, path);
    if (m && m != here && !m->stars.count) return tr_not_defined(e, m, name, from->span);
    return path_value(e, path);
}

static Val alias_value(Elab *e, const Global *g) {
    if (g->from) return imported(e, g->from, g->node->text);
    TritonElab *t = triton_of(e);
    Str path = g->node->name ? g->node->text : str(g->name);
    if (is_tl_path(path) || str_equal(path, STR("triton"))) return path_value(e, path);
    TritonModule *m = tr_import(t->file, tr_module(e), path, 0);
    return m ? file_value(e, m, path) : path_value(e, path);
}

// class Point(NamedTuple): x: int; y: int = 0
static Val class_value(Elab *e, const Global *g) {
    const Py *node = g->node, *base = node->list;
    if (!base || base->next || !str_equal(tr_last_name(base), STR("NamedTuple")))
        return unknown(e, str(g->name));
    Arena *arena = e->scratch;
    VEC(Symbol) names = {0};
    VEC(Val) defaults = {0};
    for (const Py *s = node->b->list; s; s = s->next) {
        if (s->kind != PY_ANNOTATED || s->a->kind != PY_NAME) continue;
        vec_push(arena, &names, s->a->name);
        vec_push(arena, &defaults, s->c ? tr_expr(e, s->c) : EL_NONE);
    }
    return tr_object(e, (Object){.kind = OBJECT_CLASS,
                                 .path = str(g->name),
                                 .count = (uint32_t)names.count,
                                 .names = names.data,
                                 .fields = defaults.data});
}

static Val global_value(Elab *e, const Global *g) {
    const Py *node = g->node;
    if (node->kind == PY_DEF) {
        bool jit = tr_is_jit(tr_module(e), node->func);
        return tr_object(e, (Object){.kind = jit ? OBJECT_JIT : OBJECT_HOST,
                                     .func = node->func,
                                     .path = str(g->name)});
    }
    if (node->kind == PY_ALIAS) return alias_value(e, g);
    if (node->kind == PY_ANNOTATED) return tr_expr(e, node->c);
    if (node->kind == PY_CLASS) return class_value(e, g);
    Val v = tr_expr(e, node->a);
    for (const Py *t = node->list; t; t = t->next) {
        Val found = unpack_global(e, t, v, g->name);
        if (found.kind != VAL_NONE) return found;
    }
    return unknown(e, str(g->name));
}

// Is the definition's branch taken? A condition that cannot be evaluated counts as true.
static bool guard_holds(Elab *e, const GlobalGuard *guard) {
    for (; guard; guard = guard->outer) {
        size_t count = diags_count(e->diags), errors = e->errors;
        TritonProgress *progress = triton_of(e)->progress;
        bool truth = true;
        triton_of(e)->progress = NULL;
        Val v = tr_expr(e, guard->node->a);
        if (v.kind == VAL_POISON || !tr_const_truth(e, v, &truth)) truth = true;
        triton_of(e)->progress = progress;
        diags_truncate(e->diags, count);
        e->errors = errors;
        if (truth == guard->otherwise) return false;
    }
    return true;
}

// Is the name being evaluated? An evaluation that ran out of memory left its mark, but its run has
// ended.
static bool is_open(Elab *e, const Global *g) {
    return !g->known && g->run == triton_of(e)->file->run;
}

// Errors are kept: they are reported where the name is used.
static void evaluate(Elab *e, TritonModule *module, Global *g) {
    TritonElab *t = triton_of(e);
    TritonElab outer = *t;
    g->run = t->file->run;
    t->frame = NULL;
    t->module = module;
    t->progress = NULL;
    e->scratch = t->file->arena;  // the value lives as long as the file
    e->diags = diags_create(t->file->arena, t->file->sources);
    Global *chosen = g;
    while (chosen && chosen->guard && !guard_holds(e, chosen->guard)) chosen = chosen->earlier;
    g->val = global_value(e, chosen ? chosen : g);
    if (el_is_poison(g->val) && diags_count(e->diags)) g->wrong = diags_get(e->diags, 0);
    e->scratch = outer.elab.scratch;
    e->diags = outer.elab.diags;
    e->errors = outer.elab.errors;
    t->frame = outer.frame;
    t->module = outer.module;
    t->progress = outer.progress;
    g->known = true;
}

static Val known_value(Elab *e, const Global *g) {
    if (!el_is_poison(g->val)) return g->val;
    if (g->node->kind == PY_ALIAS)
        tr_certain(e, e->b.span, DIAG_IMPORT, "'%s' cannot be imported", g->name);
    else
        tr_certain(e, e->b.span, DIAG_NOT_CONSTANT,
                   "the value of '%s' is not known at compile time", g->name);
    if (!g->wrong) return EL_POISON;
    // The reason is the innermost one.
    const DiagNote *note = g->wrong->notes;
    while (note && note->next) note = note->next;
    el_note(e, note ? note->span : g->wrong->span, "%.*s",
            STR_ARG(note ? note->text : g->wrong->text));
    return EL_POISON;
}

static Val module_name(Elab *e, TritonModule *module, Symbol name, bool *found) {
    Global *g = tr_find_global(module, name);
    *found = g != NULL;
    if (module->wrong) {
        *found = true;
        el_error(e, e->b.span, DIAG_IMPORT, "%.*s has errors", STR_ARG(module->source->path));
        el_note(e, module->wrong->span, "%.*s", STR_ARG(module->wrong->text));
        return EL_POISON;
    }
    if (g && is_open(e, g))
        return el_error(e, g->node->span, DIAG_RECURSION, "'%s' is defined by itself", name);
    if (g && !g->known) evaluate(e, module, g);
    if (g) return known_value(e, g);
    for (size_t i = 0; i < module->stars.count && triton_of(e)->stars < 16; i++) {
        const Py *star = module->stars.data[i];
        TritonModule *m = tr_import(triton_of(e)->file, module, star->text, star->dots);
        if (!m || m == module) continue;
        triton_of(e)->stars++;
        Val v = module_name(e, m, name, found);
        triton_of(e)->stars--;
        if (*found) return v;
    }
    return EL_POISON;
}

static bool is_constexpr_global(const TritonModule *module, const Global *g, int depth);

// Is the value a tl.constexpr, by its text?
static bool makes_constexpr(const TritonModule *module, const Py *x, int depth) {
    if (!x || depth > 16) return false;
    if (x->kind == PY_CALL || x->kind == PY_ATTRIBUTE)
        return str_equal(x->kind == PY_CALL ? tr_last_name(x->a) : str(x->name), STR("constexpr"));
    if (x->kind == PY_NAME) {
        const Global *g = tr_find_global(module, x->name);
        return g && is_constexpr_global(module, g, depth + 1);
    }
    if (x->kind != PY_BINARY && x->kind != PY_UNARY && x->kind != PY_TERNARY) return false;
    return makes_constexpr(module, x->a, depth + 1) || makes_constexpr(module, x->b, depth + 1);
}

static bool is_constexpr_global(const TritonModule *module, const Global *g, int depth) {
    const Py *node = g->node;
    if (node->kind == PY_ANNOTATED)
        return makes_constexpr(module, node->b, depth) || makes_constexpr(module, node->c, depth);
    return node->kind != PY_ASSIGN || makes_constexpr(module, node->a, depth);
}

// Triton takes a global only if it is a constexpr, a type, a function or a module.
static void warn_global(Elab *e, const TritonModule *module, const Global *g, Val v, Span span) {
    const TritonElab *t = triton_of(e);
    bool plain = el_is_const(v) || v.kind == VAL_STRING || v.kind == VAL_TUPLE;
    if (!t->progress || !t->frame || t->frame->host || !plain) return;
    if (is_constexpr_global(module, g, 0)) return;
    diag_warning(e->diags, span, DIAG_NOT_CONSTANT,
                 "Triton refuses '%s': it must be a tl.constexpr", g->name);
    diag_help(e->diags, "write %s = tl.constexpr(…) at the top of the file", g->name);
}

Val tr_global(Elab *e, Symbol name, Span span, bool *found) {
    TritonModule *module = tr_module(e);
    const Global *g = tr_find_global(module, name);
    if (g && is_open(e, g)) {
        *found = true;
        return el_error(e, span, DIAG_RECURSION, "'%s' is defined by itself", name);
    }
    Val v = module_name(e, module, name, found);
    if (g) warn_global(e, module, g, v, span);
    return v;
}

// ---- attributes

static Val shape_tuple(Elab *e, const IrType *t) {
    Val items[IR_MAX_RANK + 1];
    for (uint32_t i = 0; i < t->rank; i++) items[i] = el_int(t->shape[i]);
    return el_tuple(e, t->rank, items);
}

static Val type_value(Elab *e, const IrType *t) {
    if (t->kind == IR_PTR) return tr_object(e, (Object){.kind = OBJECT_POINTER, .type = t->elem});
    return (Val){.kind = VAL_TYPE, .type = t->elem};
}

static Val method(Elab *e, const TlFunction *tl, Val self) {
    Val *copy = arena_new(e->scratch, Val, 1);
    *copy = self;
    return tr_object(e, (Object){.kind = OBJECT_METHOD, .tl = tl, .self = copy});
}

static Val no_attribute(Elab *e, Val v, const Py *node) {
    return el_error(e, node->name_span, DIAG_UNKNOWN_NAME, "%s has no attribute '%s'",
                    tr_text(e, v), node->name);
}

static Val tensor_attribute(Elab *e, Val v, const Py *node) {
    Str name = str(node->name);
    if (str_equal(name, STR("dtype")) || str_equal(name, STR("type")))
        return type_value(e, v.ir->type);
    if (str_equal(name, STR("shape"))) return shape_tuple(e, v.ir->type);
    if (str_equal(name, STR("numel"))) {
        Int128 count = 1;
        for (uint32_t i = 0; i < v.ir->type->rank; i++) count *= v.ir->type->shape[i];
        return el_int(count);
    }
    if (str_equal(name, STR("T"))) {
        TlCall c = {
            .tl = tl_find(STR("trans")), .span = node->span, .arg = {v}, .at = {node->span}};
        return c.tl->body(e, &c);
    }
    const TlFunction *tl = tl_find(name);
    return tl ? method(e, tl, v) : no_attribute(e, v, node);
}

static Val type_attribute(Elab *e, Val v, const Py *node) {
    Str name = str(node->name);
    Dtype t = v.type;
    if (str_equal(name, STR("primitive_bitwidth")) || str_equal(name, STR("itemsize")))
        return el_int(str_equal(name, STR("itemsize")) ? (Int128)dtype_size(t)
                      : t == DTYPE_BOOL                ? 1
                                                       : (Int128)dtype_bits(t));
    if (str_equal(name, STR("name")))
        return (Val){.kind = VAL_STRING, .text = str(tr_type_name(t))};
    if (str_equal(name, STR("scalar")) || str_equal(name, STR("element_ty")) ||
        str_equal(name, STR("value")))
        return v;
    if (str_starts(name, STR("is_"))) {
        Val *self = arena_new(e->scratch, Val, 1);
        *self = v;
        return tr_object(e, (Object){.kind = OBJECT_PYTHON, .path = name, .self = self});
    }
    return no_attribute(e, v, node);
}

// torch.finfo(…).max and others
static Val limit_attribute(Elab *e, Val v, const Py *node) {
    Dtype t = tr_object_of(v)->type;
    Str name = str(node->name);
    bool least = str_equal(name, STR("min"));
    if (str_equal(name, STR("bits"))) return el_int((Int128)dtype_bits(t));
    const DtypeFloat *f = dtype_float(t);
    if (!f) {
        if (least) return el_int((Int128)dtype_int_min(t));
        if (str_equal(name, STR("max"))) return el_int((Int128)dtype_int_max(t));
        return no_attribute(e, v, node);
    }
    double value = least                          ? -f->greatest
                   : str_equal(name, STR("max"))  ? f->greatest
                   : str_equal(name, STR("eps"))  ? ldexp(1, 1 - f->precision)
                   : str_equal(name, STR("tiny")) ? ldexp(1, f->min_exponent)
                                                  : 0;
    if (value == 0) return no_attribute(e, v, node);
    return (Val){.kind = VAL_FLOAT, .real = value};
}

// Attributes and methods of block pointers and tensor descriptors
static Val block_attribute(Elab *e, Val v, const Py *node) {
    const Object *o = tr_object_of(v);
    Str name = str(node->name);
    if (str_equal(name, STR("dtype"))) return (Val){.kind = VAL_TYPE, .type = o->type};
    if (str_equal(name, STR("block_shape"))) {
        Val items[IR_MAX_RANK];
        for (uint32_t i = 0; i < o->block.rank; i++) items[i] = el_int(o->block.dims[i]);
        return el_tuple(e, o->block.rank, items);
    }
    if (str_equal(name, STR("shape"))) return el_tuple(e, o->block.rank, o->fields + 1);
    if (str_equal(name, STR("strides")))
        return el_tuple(e, o->block.rank, o->fields + 1 + o->block.rank);
    const TlFunction *tl =
        o->is_static ? tl_find(str(arena_printf(e->scratch, "descriptor_%s", node->name))) : NULL;
    if (!tl) tl = tl_find(name);
    return tl ? method(e, tl, v) : no_attribute(e, v, node);
}

static Val view_attribute(Elab *e, Val v, const Py *node) {
    const Object *o = tr_object_of(v);
    Str name = str(node->name);
    uint32_t rank = o->block.rank;
    Val items[IR_MAX_VIEW_RANK];
    bool strides = str_equal(name, STR("strides"));
    if (!strides && !str_equal(name, STR("shape"))) return block_attribute(e, v, node);
    if (strides && o->is_strided)
        return el_error(e, node->span, DIAG_UNSUPPORTED,
                        "the strides of a descriptor that the host gives are not known here");
    const IrParam *param = &e->func->params.data[o->view->value->index];
    IrValue *stride = ir_const_int(&e->b, DTYPE_I64, 1);
    for (uint32_t d = rank; d-- > 0;) {
        IrValue *extent = ir_extent(&e->b, param->dims[d].extent);
        items[d] = el_ir(strides ? stride : extent);
        stride = ir_binary(&e->b, IR_MUL, stride, extent);
    }
    return el_tuple(e, rank, items);
}

static Val object_attribute(Elab *e, Val v, const Py *node) {
    const Object *o = tr_object_of(v);
    Str name = str(node->name);
    if (o->kind == OBJECT_MODULE && o->module) {
        bool found;
        Val inside = module_name(e, o->module, node->name, &found);
        if (found) return inside;
        TritonModule *m = tr_import(triton_of(e)->file, o->module, name, 1);
        if (m) return file_value(e, m, name);
        if (triton_of(e)->frame && !o->module->stars.count)
            return tr_not_defined(e, o->module, name, node->span);
    }
    if (o->kind == OBJECT_MODULE) {
        Str path = path_join(e->scratch, o->path, name);
        Val inside = path_value(e, path);
        bool used = triton_of(e)->frame && tr_is(inside, OBJECT_UNKNOWN);
        return used && is_tl_path(o->path) ? tr_no_function(e, path, node->span) : inside;
    }
    if (o->kind == OBJECT_UNKNOWN) return unknown(e, path_join(e->scratch, o->path, name));
    if (o->kind == OBJECT_ARGUMENT && o->type != DTYPES && str_equal(name, STR("dtype")))
        return (Val){.kind = VAL_TYPE, .type = o->type};
    if (o->kind == OBJECT_LIMITS) return limit_attribute(e, v, node);
    if (o->kind == OBJECT_BLOCK) return block_attribute(e, v, node);
    if (o->kind == OBJECT_VIEW) return view_attribute(e, v, node);
    if (o->kind == OBJECT_META && str_equal(name, STR("get")))
        return tr_object(e, (Object){.kind = OBJECT_PYTHON, .path = STR("args.get")});
    if (o->kind == OBJECT_POINTER) {
        if (str_equal(name, STR("element_ty")) || str_equal(name, STR("scalar")))
            return (Val){.kind = VAL_TYPE, .type = o->type};
        if (str_equal(name, STR("primitive_bitwidth"))) return el_int(64);
        if (str_starts(name, STR("is_"))) {
            Val *self = arena_new(e->scratch, Val, 1);
            *self = v;
            return tr_object(e, (Object){.kind = OBJECT_PYTHON, .path = name, .self = self});
        }
    }
    return no_attribute(e, v, node);
}

Val tr_attribute(Elab *e, Val v, const Py *node) {
    if (v.kind == VAL_POISON) return v;
    if (v.kind == VAL_IR) return tensor_attribute(e, v, node);
    if (v.kind == VAL_TYPE) return type_attribute(e, v, node);
    if (v.kind == VAL_FN) return object_attribute(e, v, node);
    for (uint32_t i = 0; v.kind == VAL_TUPLE && v.tuple.names && i < v.tuple.count; i++)
        if (v.tuple.names[i] == node->name) return v.tuple.items[i];
    // The value of a constexpr.
    if (str_equal(str(node->name), STR("value"))) return v;
    const TlFunction *tl = el_is_const(v) ? tl_find(str(node->name)) : NULL;
    return tl ? method(e, tl, v) : no_attribute(e, v, node);
}
