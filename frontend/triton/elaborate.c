// A kernel: its parameters, its options, its grid and its body.
#include <stdarg.h>

#include "frontend/triton/elaborate.h"

#include "base/os/os.h"
#include "frontend/triton/infer.h"
#include "ir/option.h"

// ---- the language's words in messages

static const char *operator_text(Operator op) {
    switch (op) {
    case OPERATOR_ADD: return "+";
    case OPERATOR_SUB: return "-";
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
    case OPERATOR_LAND: return "and";
    case OPERATOR_LOR: return "or";
    case OPERATOR_NEG: return "-";
    case OPERATOR_NOT: return "not";
    case OPERATOR_BITNOT: return "~";
    case OPERATOR_NONE: break;
    }
    return "";
}

static const char *cast_text(Arena *arena, Dtype to) {
    return arena_printf(arena, "x.to(tl.%s)", tr_tl_type_name(to));
}

static bool same_span(Span a, Span b) { return a.begin == b.begin && a.end == b.end; }

static TritonPlace place_of_last(const Elab *e) {
    const TritonElab *t = (const TritonElab *)e;
    TritonPlace place = {.kernel = e->b.span, .certain = t->certain};
    size_t count = diags_count(e->diags);
    if (count) place.at = diags_get(e->diags, count - 1)->span;
    for (const JitFrame *f = t->frame; f && f->caller; f = f->caller) {
        place.kernel = f->call;
        place.inside = true;
    }
    return place;
}

static const TritonPlace *known_place(const TritonProgress *p, const TritonPlace *place) {
    for (size_t i = 0; i < p->known.count; i++) {
        const TritonPlace *known = &p->known.data[i];
        if (same_span(known->kernel, place->kernel) && same_span(known->at, place->at))
            return known;
    }
    return NULL;
}

// The error reported last: is it the first one that counts?
static void note_progress(Elab *e) {
    TritonElab *t = triton_of(e);
    TritonProgress *p = t->progress;
    if (!p || p->failed) return;
    TritonPlace place = place_of_last(e);
    if (known_place(p, &place)) return;
    p->failed = true;
    p->reached = t->reached;
    p->ops = e->func->op_count + 1;
    p->place = place;
    t->stopped = p->stops;
}

// Says with which types and values the error was found.
static void note_assumed(Elab *e) {
    const TritonProgress *p = triton_of(e)->progress;
    if (!p || p->stops) return;
    TritonPlace place = place_of_last(e);
    const TritonPlace *known = known_place(p, &place);
    if (known && known->assumed) el_note(e, (Span){0}, "checked with %s", known->assumed);
}

Val tr_certain(Elab *e, Span span, DiagCode code, const char *format, ...) {
    StrBuf text = strbuf(e->scratch);
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    triton_of(e)->certain = true;
    el_error(e, span, code, "%.*s", (int)text.size, text.text);
    triton_of(e)->certain = false;
    return EL_POISON;
}

static void trace(Elab *e) {
    note_progress(e);
    for (const JitFrame *f = triton_of(e)->frame; f && f->caller; f = f->caller)
        el_note(e, f->call, "in the call of '%s'", f->func->name ? f->func->name : "lambda");
    note_assumed(e);
}

static const Language language = {.operator_text = operator_text,
                                  .cast_text = cast_text,
                                  .dtype_text = tr_type_name,
                                  .pointer = {"pointer<", ">"},
                                  .tile = "tensor",
                                  .val_text = tr_own_text,
                                  .rank_help = "x[:, None] adds a dimension",
                                  .trace = trace};

void tr_begin(TritonElab *t, TritonFile *file, IrModule *module, Diags *diags, Arena *scratch) {
    static const FrontSpec nothing;
    file->run++;
    *t = (TritonElab){
        .elab = {.language = &language, .module = module, .diags = diags, .scratch = scratch},
        .file = file,
        .spec = &nothing};
    // Values at compile time need no op. Where a mistake makes one, it goes here.
    t->elab.func = ir_func_create(module, "host", false);
    module->funcs.count--;
    t->elab.b = ir_builder_at_end(ir_block_create(t->elab.func));
}

// ---- values of constexprs

static const Py *parsed_text(TritonFile *file, Symbol text, Diags *diags) {
    const uint64_t *known = map_find(&file->texts, map_key(text));
    if (known) return (const Py *)(uintptr_t)*known;
    const SourceFile *source = source_add(file->sources, STR("<given>"), str(text));
    const Py *node = source ? py_parse_expression(file->arena, file->names, diags, source) : NULL;
    map_put(file->arena, &file->texts, map_key(text), map_key(node));
    return node;
}

Val tr_text_value(Elab *e, Symbol text, Span span) {
    TritonElab *t = triton_of(e);
    size_t errors = diags_errors(e->diags);
    const Py *node = parsed_text(t->file, text, e->diags);
    if (!node || diags_errors(e->diags) != errors) {
        e->errors++;
        return EL_POISON;
    }
    // A word that names nothing is a string: --set ACTIVATION=relu.
    bool word = node->kind == PY_NAME && !tr_slot(e, node->name) &&
                !tr_find_global(t->file->main, node->name);
    Dtype type;
    if (word && tr_type_named(str(node->name), &type)) return (Val){.kind = VAL_TYPE, .type = type};
    if (word) return (Val){.kind = VAL_STRING, .text = str(node->name)};
    (void)span;
    return tr_expr(e, node);
}

static Val binding_value(Elab *e, const IrBinding *b, Span span) {
    if (b->text) return tr_text_value(e, b->text, span);
    if (b->is_type) return (Val){.kind = VAL_TYPE, .type = b->type};
    return el_int(b->value);
}

// A value of the first configuration: Config({"BLOCK": 128}, num_warps=4)
bool tr_config_value(Elab *e, Symbol name, Val *value) {
    const TritonKernel *k = triton_of(e)->kernel->own;
    for (uint32_t i = 0; k->config && i < k->config->count; i++) {
        Val key = k->config->fields[2 * i];
        if (key.kind != VAL_STRING || !str_equal(key.text, str(name))) continue;
        *value = k->config->fields[2 * i + 1];
        return true;
    }
    return false;
}

bool tr_known_constexpr(Elab *e, const PyParam *p, Val *value) {
    const IrBinding *given = frontend_spec_find(triton_of(e)->spec, p->name);
    if (given) {
        *value = binding_value(e, given, p->span);
        return true;
    }
    if (tr_config_value(e, p->name, value)) return true;
    if (p->value) *value = tr_expr(e, p->value);
    return p->value != NULL;
}

static Val constexpr_value(Elab *e, const PyParam *p) {
    Val v;
    if (tr_known_constexpr(e, p, &v)) return v;
    el_error(e, p->span, DIAG_SPECIALIZE, "the constexpr '%s' has no value", p->name);
    el_help(e, "give it, as in --set %s=64", p->name);
    return EL_POISON;
}

static void add_binding(Elab *e, Symbol name, Val v) {
    IrBinding b = {.name = name, .is_type = v.kind == VAL_TYPE};
    if (b.is_type)
        b.type = v.type;
    else if (v.kind == VAL_INT)
        b.value = (int64_t)v.integer;
    else if (v.kind == VAL_BOOL)
        b.value = v.truth;
    else
        return;
    vec_push(e->module->arena, &e->func->bindings, b);
}

// ---- parameters

static void declare(Elab *e, JitFrame *frame, Symbol name, Val v) {
    Slot *slot = arena_new(e->scratch, Slot, 1);
    *slot = (Slot){.kind = SLOT_NAME, .val = v, .region = e->region, .name = name};
    map_put(e->scratch, &frame->slots, map_key(name), map_key(slot));
}

// The fact that the specialisation gives about an integer: 1, or 16 for a multiple; 0: none.
static int64_t fact_of(Elab *e, const IrParam *p) {
    const IrType *type = p->value->type;
    const IrBinding *given = frontend_spec_find(triton_of(e)->spec, p->name);
    bool counts = type->kind == IR_TILE && dtype_is(type->elem, DTYPE_CLASS_INT);
    return given && given->is_type && counts ? given->value : 0;
}

static Val packed(Elab *e, const FrontParam *p, const PyParam *py, Dtype elem) {
    return el_error(e, py->span, DIAG_PACKED, "'%s' is of %s, which is a storage type", p->name,
                    dtype_name(elem));
}

// A tensor descriptor that the host gives is a view. Its extents are named after it.
static Val descriptor(Elab *e, const FrontParam *p, const PyParam *py, const IrBinding *given) {
    FrontDescriptor d;
    Shape block;
    Interner *names = triton_of(e)->file->names;
    bool known = frontend_descriptor(triton_of(e)->kernel->in->frontend, str(given->text), &d);
    CHECK(known, "the type of a tensor descriptor is '%s'", given->text);
    if (dtype_is(d.type, DTYPE_CLASS_PACKED)) return packed(e, p, py, d.type);
    const char *shape = arena_printf(e->scratch, "(%.*s,)", STR_ARG(d.block));
    Val v = tr_text_value(e, intern(names, str(shape)), py->span);
    if (v.kind == VAL_POISON || !tr_shape(e, v, py->span, &block)) return EL_POISON;
    if (block.rank > IR_MAX_VIEW_RANK)
        return el_error(e, py->span, DIAG_SHAPE, "a tensor descriptor has at most %d dimensions",
                        IR_MAX_VIEW_RANK);
    IrParam *param = ir_func_add_param(e->func, p->name, ir_view(e->module, d.type, block.rank));
    param->span = py->span;
    param->strided = d.strided;
    for (uint32_t i = 0; i < block.rank; i++) {
        param->dims[i].extent = intern(names, str(arena_printf(e->scratch, "%s_%u", p->name, i)));
        ir_func_add_extent(e->func, param->dims[i].extent);
    }
    add_binding(e, p->name, (Val){.kind = VAL_TYPE, .type = d.type});
    View *view = arena_new(e->scratch, View, 1);
    *view = (View){p->name, param->value, d.type, block.rank};
    return tr_object(e, (Object){.kind = OBJECT_VIEW,
                                 .is_static = true,
                                 .type = d.type,
                                 .block = block,
                                 .is_strided = d.strided,
                                 .view = view});
}

static Val argument(Elab *e, const FrontParam *p, const PyParam *py) {
    const IrBinding *given = frontend_spec_find(triton_of(e)->spec, p->name);
    if (front_is_descriptor(given)) return descriptor(e, p, py, given);
    Dtype elem = given && given->is_type ? given->type : p->dtype;
    if (given && !given->is_type) return binding_value(e, given, py->span);
    if (elem == DTYPES && p->kind == FRONT_SCALAR) elem = DTYPE_I32;
    if (elem == DTYPES) {
        el_error(e, py->span, DIAG_SPECIALIZE, "the type of the pointer '%s' is not known",
                 p->name);
        el_help(e, "give it, as in --set %s=*fp32", p->name);
        return EL_POISON;
    }
    if (dtype_is(elem, DTYPE_CLASS_PACKED)) return packed(e, p, py, elem);
    const IrType *type =
        front_is_pointer(p, given) ? ir_ptr(e->module, elem, 0, NULL) : ir_scalar(e->module, elem);
    IrParam *param = ir_func_add_param(e->func, p->name, type);
    param->span = py->span;
    add_binding(e, p->name, (Val){.kind = VAL_TYPE, .type = elem});
    int64_t fact = fact_of(e, param);
    if (fact == 16 || (type->kind == IR_PTR && given && given->value == 16))
        param->facts.divisor = 16;
    return fact == 1 ? el_int(1) : el_ir(param->value);
}

static void kernel_params(Elab *e, const PyFunc *func, JitFrame *frame) {
    const FrontParam *p = triton_of(e)->kernel->params;
    uint32_t count = 0;
    for (const PyParam *py = func->params; py && p; py = py->next, p = p->next) {
        if (p->kind != FRONT_CONST) {
            if (++count == IR_MAX_ARGS + 1) {
                el_error(e, py->span, DIAG_KERNEL, "a kernel has at most %d arguments",
                         IR_MAX_ARGS);
                return;
            }
            declare(e, frame, p->name, argument(e, p, py));
            continue;
        }
        Val v = constexpr_value(e, py);
        add_binding(e, p->name, v);
        declare(e, frame, p->name, v);
    }
}

// The facts of the specialisation are checked at launch. A number that is 1 has no range of 1: each
// condition on it would hold already, and passes would drop the check.
static void kernel_requires(Elab *e) {
    for (size_t i = 0; i < e->func->params.count; i++) {
        const IrParam *p = &e->func->params.data[i];
        int64_t fact = fact_of(e, p);
        if (!fact) continue;
        bool divides = fact == 16;
        const char *text =
            arena_printf(e->module->arena, divides ? "%s %% 16 == 0" : "%s == 1", p->name);
        e->b = ir_builder_at_end(ir_func_add_section(e->func, IR_REQUIRES, str(text), p->span));
        e->b.span = p->span;
        IrValue *v = p->value, *to = ir_const_int(&e->b, el_elem(v), divides ? 0 : 1);
        if (divides) v = ir_binary(&e->b, IR_REM, v, ir_const_int(&e->b, el_elem(v), 16));
        IrValue *holds = ir_binary(&e->b, IR_EQ, v, to);
        ir_yield(&e->b, 1, &holds);
    }
}

static void check_bindings(Elab *e, const PyFunc *func) {
    const FrontSpec *spec = triton_of(e)->spec;
    for (size_t i = 0; i < spec->bindings.count; i++) {
        const IrBinding *b = &spec->bindings.data[i];
        bool known = frontend_is_option(b->name) || str_equal(str(b->name), STR(FRONT_GRID));
        for (const PyParam *p = func->params; p && !known; p = p->next)
            known = str_equal(str(p->name), str(b->name));
        if (!known)
            el_error(e, func->span, DIAG_SPECIALIZE, "kernel '%s' has no parameter '%s'",
                     func->name, b->name);
    }
}

// num_warps, num_stages and num_ctas of the configuration
static int option_value(Elab *e, const IrOption *option) {
    Interner *names = triton_of(e)->file->names;
    const IrBinding *given =
        frontend_spec_find(triton_of(e)->spec, intern(names, str(option->name)));
    if (given) return ir_option_allows(option, given->value) ? (int)given->value : 0;
    Val v;
    Symbol name = intern(names, str(arena_printf(e->scratch, "num_%s", option->name)));
    if (!tr_config_value(e, name, &v) || v.kind != VAL_INT) return 0;
    int64_t value = (int64_t)v.integer;
    return value && ir_option_allows(option, value) ? (int)value : 0;
}

// ---- the grid that the caller gives

static IrValue *grid_extent(Elab *e, Val v, Span span) {
    IrValue *x = tr_numbers(e, v, span);
    if (!x) return NULL;
    if (!x->type->rank && dtype_is(el_elem(x), DTYPE_CLASS_INT)) return el_convert(e, x, DTYPE_I64);
    el_error(e, span, DIAG_GRID, "an extent of the grid must be a scalar integer, found %s",
             tr_text(e, v));
    return NULL;
}

static bool launchable(Elab *e, const IrBlock *block) {
    IR_EACH_OP(op, block) {
        if (ir_launchable(op)) continue;
        el_error(e, op->span, DIAG_GRID, "the grid is computed by the launcher, which has no '%s'",
                 ir_op_info(op->code)->text);
        return false;
    }
    return true;
}

static Val grid_value(Elab *e, Symbol text, Span span) {
    Val v = tr_text_value(e, text, span);
    const Object *o = tr_object_of(v);
    if (!o || o->kind != OBJECT_LAMBDA) return v;
    // lambda META: (triton.cdiv(n, META["BLOCK"]),): its body sees the kernel's parameters.
    const PyParam *meta = o->func->params;
    JitFrame *frame = triton_of(e)->frame;
    triton_of(e)->meta = frame;
    if (meta) {
        Slot *slot = arena_new(e->scratch, Slot, 1);
        *slot = (Slot){.kind = SLOT_NAME,
                       .val = tr_object(e, (Object){.kind = OBJECT_META}),
                       .region = e->region};
        map_put(e->scratch, &frame->slots, map_key(meta->name), map_key(slot));
    }
    return tr_expr(e, o->func->body->list->a);
}

static void kernel_grid(Elab *e, JitFrame *frame) {
    TritonElab *t = triton_of(e);
    const IrBinding *given = frontend_spec_find(t->spec, intern(t->file->names, STR(FRONT_GRID)));
    if (!given || !given->text) return;
    Span span = e->func->span;
    e->b = ir_builder_at_end(ir_func_add_section(e->func, IR_GRID, (Str){0}, span));
    e->b.span = span;
    t->frame = frame;
    t->launch = true;
    Val v = grid_value(e, given->text, span);
    t->launch = false;
    if (v.kind == VAL_POISON) return;
    if (v.kind != VAL_TUPLE) v = el_tuple(e, 1, &v);
    IrValue *extents[3];
    if (v.tuple.count < 1 || v.tuple.count > 3) {
        el_error(e, span, DIAG_GRID, "a grid has one to three extents, this one %u", v.tuple.count);
        return;
    }
    for (uint32_t i = 0; i < v.tuple.count; i++)
        if (!(extents[i] = grid_extent(e, v.tuple.items[i], span))) return;
    ir_yield(&e->b, v.tuple.count, extents);
    launchable(e, e->b.block);
}

// ---- entry

static bool ends_with_type(const Diags *diags) {
    size_t count = diags_count(diags);
    return count && diags_get(diags, count - 1)->code == DIAG_TYPE;
}

// An error may come from memory that was passed for a number.
static void note_pointers(const TritonElab *t, Diags *diags) {
    for (const FrontParam *p = t->kernel->params; p; p = p->next) {
        const IrBinding *given = frontend_spec_find(t->spec, p->name);
        if (given && given->pointer)
            diag_note(diags, p->span, "'%s' is a pointer here: memory is passed for it", p->name);
        if (given && given->number)
            diag_note(diags, p->span, "'%s' is a number here: a number is passed for it", p->name);
    }
}

IrFunc *tr_kernel(TritonFile *file, IrModule *module, const FrontKernel *kernel,
                  const FrontSpec *spec, Diags *diags, TritonProgress *progress) {
    static const FrontSpec nothing;
    const TritonKernel *own = kernel->own;
    const PyFunc *func = own->func;
    if (file->broken) return NULL;
    Arena *scratch = arena_create();
    TritonElab t;
    tr_begin(&t, file, module, diags, scratch);
    Elab *e = &t.elab;
    size_t funcs = module->funcs.count;
    t.kernel = kernel;
    t.spec = spec ? spec : &nothing;
    t.progress = progress;
    e->func = ir_func_create(module, kernel->name, true);
    e->func->span = func->span;
    // Triton's own defaults.
    e->func->math = t.spec->math | IR_MATH_CONTRACT | IR_MATH_APPROX | IR_MATH_WRAP;
    e->b = ir_builder_at_end(ir_block_create(e->func));
    e->region = ++e->regions;
    JitFrame frame = {.func = func, .module = file->main, .region = e->region};
    t.module = file->main;
    check_bindings(e, func);
    kernel_params(e, func, &frame);
    for (size_t i = 0; i < IR_OPTIONS; i++)
        *ir_option_of(e->func, &ir_options[i]) = option_value(e, &ir_options[i]);
    kernel_requires(e);
    kernel_grid(e, &frame);
    e->b = ir_builder_at_end(ir_func_add_section(e->func, IR_BODY, (Str){0}, func->body->span));
    e->b.span = func->span;
    t.emits = true;
    t.frame = &frame;
    frame.active = (Slot){.kind = SLOT_ACTIVE,
                          .val = el_bool(true),
                          .tail = true,
                          .whole = true,
                          .region = e->region};
    frame.result =
        (Slot){.kind = SLOT_RESULT, .val = EL_NONE, .region = e->region, .name = "return"};
    tr_declare_names(e, &frame, func->body);
    tr_block(e, func->body);
    e->b.span = func->span;
    ir_return(&e->b, 0, NULL);
    bool good = !e->errors;
    if (!good && !progress && ends_with_type(diags)) note_pointers(&t, diags);
    IrFunc *made = e->func;
    if (!good) module->funcs.count = funcs;
    arena_destroy(scratch);
    return good ? made : NULL;
}
