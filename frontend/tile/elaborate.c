// Kernels: parameters, specialisation, requires, grid, body. One IrFunc for one FrontSpec.
#include <stdlib.h>

#include "frontend/tile/elaborate.h"

#include "ir/option.h"

Val el_silent(Elab *e) {
    tile_of(e)->silent = true;
    return EL_POISON;
}

// Adds a note for each call of a fn that led to an error.
static void trace(Elab *e) {
    for (const Frame *f = tile_of(e)->frame; f && f->caller; f = f->caller) {
        if (!f->fn) continue;
        diag_note(e->diags, f->call, "in the %s of '%s' here", f->role, f->fn->decl->name);
    }
}

static const char *cast_text(Arena *arena, Dtype to) {
    return arena_printf(arena, "%s(…)", dtype_name(to));
}

static const Language language = {
    .operator_text = ast_op_text,
    .cast_text = cast_text,
    .dtype_text = dtype_name,
    .pointer = {"*", ""},
    .tile = "tile",
    .rank_help = "give the smaller one a dimension with expand(v, axis = …)",
    .trace = trace,
};

void el_begin(TileElab *t, TileFile *file, IrModule *module, Diags *diags, Arena *scratch) {
    *t = (TileElab){
        .elab = {.language = &language, .module = module, .diags = diags, .scratch = scratch},
        .file = file};
    size_t consts = file->module.consts.count;
    t->consts = arena_new(scratch, Val, consts + 1);
    t->const_states = arena_new(scratch, uint8_t, consts + 1);
}

// ---- what is known to be wrong

static int by_position(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void collect_blame(Elab *e) {
    size_t count = diags_errors(e->diags) ? diags_count(e->diags) : 0;
    tile_of(e)->blamed = arena_new(e->scratch, uint32_t, count);
    for (size_t i = 0; i < count; i++) {
        const Diag *d = diags_get(e->diags, i);
        if (d->severity == DIAG_ERROR && span_known(d->span))
            tile_of(e)->blamed[tile_of(e)->blamed_count++] = d->span.begin;
    }
    if (tile_of(e)->blamed_count)
        qsort(tile_of(e)->blamed, tile_of(e)->blamed_count, sizeof *tile_of(e)->blamed,
              by_position);
}

bool el_blamed(Elab *e, Span span) {
    size_t low = 0, high = tile_of(e)->blamed_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tile_of(e)->blamed[middle] < span.begin)
            low = middle + 1;
        else
            high = middle;
    }
    if (low >= tile_of(e)->blamed_count) return false;
    uint32_t at = tile_of(e)->blamed[low];
    // The text that the parser could not read may follow the part that it repaired, up to the end
    // of the line.
    if (at >= span.end) {
        if (at - span.end > 200) return false;
        Str between = source_text(tile_of(e)->file->sources, (Span){span.end, at});
        for (size_t i = 0; i < between.size; i++)
            if (between.text[i] == '\n') return false;
    }
    el_silent(e);
    return true;
}

// Is the kernel's head wrong by grammar? Then its parameters are guesses.
static bool head_is_broken(const AstKernel *kernel) { return kernel->broken || !kernel->body; }

// ---- specialisation

static void bind_type(Elab *e, const AstDecl *decl) {
    const IrBinding *given = frontend_spec_find(tile_of(e)->spec, decl->name);
    Slot *slot = el_slot(e, decl);
    if (given && given->is_type) {
        IrBinding b = {.name = decl->name, .is_type = true, .type = given->type};
        vec_push(e->module->arena, &e->func->bindings, b);
        if (slot) el_declare_slot(e, slot, (Val){.kind = VAL_TYPE, .type = given->type});
        return;
    }
    el_error(e, decl->span, DIAG_SPECIALIZE,
             given ? "the type '%s' is given a number" : "the type '%s' is not given", decl->name);
    el_help(e, "give it, as in --set %s=f32", decl->name);
}

// The given value, else the first value of the tune space, else the default.
static bool const_value(Elab *e, const AstDecl *decl, int64_t *value) {
    const IrBinding *given = frontend_spec_find(tile_of(e)->spec, decl->name);
    if (given && !given->is_type) {
        *value = given->value;
        return true;
    }
    if (given) {
        el_error(e, decl->span, DIAG_SPECIALIZE, "the const '%s' is given a type", decl->name);
        return false;
    }
    FrontTune tune = el_tune_find(e, tile_of(e)->kernel, decl->name, tile_of(e)->spec->target);
    if (tune.count) {
        *value = tune.values[0];
        return true;
    }
    if (decl->value) {
        const char *what = arena_printf(e->scratch, "the default of '%s'", decl->name);
        return el_const_range(e, decl->value, what, INT64_MIN, INT64_MAX, value);
    }
    el_error(e, decl->span, DIAG_SPECIALIZE, "the const '%s' has no value", decl->name);
    el_help(e, "give it, as in --set %s=64, by tune, or by a default: const %s = 64", decl->name,
            decl->name);
    return false;
}

static void bind_const(Elab *e, const AstDecl *decl) {
    int64_t value;
    if (!const_value(e, decl, &value)) return;
    IrBinding b = {.name = decl->name, .value = value};
    vec_push(e->module->arena, &e->func->bindings, b);
    Slot *slot = el_slot(e, decl);
    if (slot) el_declare_slot(e, slot, el_int(value));
}

static void option_range_error(Elab *e, Span span, const IrOption *option, int64_t value) {
    el_error(e, span, DIAG_TUNE, "'%s' must be from %d to %d, found %lld", option->name,
             option->min, option->max, (long long)value);
}

static int option_value(Elab *e, const IrOption *option) {
    Symbol symbol = intern(tile_of(e)->file->names, str(option->name));
    const IrBinding *given = frontend_spec_find(tile_of(e)->spec, symbol);
    int64_t value = given ? given->value : 0;
    if (!given) {
        FrontTune tune = el_tune_find(e, tile_of(e)->kernel, symbol, tile_of(e)->spec->target);
        if (tune.count) value = tune.values[0];
    }
    if (value == 0 || ir_option_allows(option, value)) return (int)value;
    // Values of a tune line were reported where they stand.
    if (given) option_range_error(e, tile_of(e)->kernel->decl->span, option, value);
    return 0;
}

// Those of all targets: the one that a mistake is for may not be at hand.
static void check_tuned_options(Elab *e) {
    const AstKernel *kernel = tile_of(e)->kernel;
    for (size_t t = 0; t < kernel->tunes.count; t++)
        for (size_t i = 0; i < kernel->tunes.data[t]->entries.count; i++) {
            const AstTuneEntry *entry = &kernel->tunes.data[t]->entries.data[i];
            const IrOption *option = ir_option_find(str(entry->name));
            for (size_t k = 0; option && k < entry->values.count; k++) {
                int64_t value;
                const Ast *ast = entry->values.data[k];
                if (el_const_range(e, ast, option->name, INT64_MIN, INT64_MAX, &value) && value &&
                    !ir_option_allows(option, value))
                    option_range_error(e, ast->span, option, value);
            }
        }
}

static void check_bindings(Elab *e) {
    for (size_t i = 0; i < tile_of(e)->spec->bindings.count; i++) {
        const IrBinding *b = &tile_of(e)->spec->bindings.data[i];
        bool known = frontend_is_option(b->name);
        for (const AstDecl *p = tile_of(e)->kernel->params; p && !known; p = p->next)
            known = str_equal(str(p->name), str(b->name)) &&
                    (p->kind == DECL_TYPE_PARAM || p->kind == DECL_CONST_PARAM);
        if (known) continue;
        el_error(e, tile_of(e)->kernel->decl->span, DIAG_SPECIALIZE,
                 "kernel '%s' has no type or const '%s'", tile_of(e)->kernel->decl->name, b->name);
    }
}

// ---- parameters

static bool param_elem(Elab *e, const AstDecl *decl, Dtype *elem) {
    const AstTypeName *t = &decl->type;
    *elem = t->dtype;
    if (t->param) {
        Slot *slot = el_slot(e, t->decl);
        if (!t->decl || !slot || slot->val.kind != VAL_TYPE) {
            el_silent(e);
            return false;
        }
        *elem = slot->val.type;
    }
    if (decl->kind == DECL_VIEW || !dtype_is(*elem, DTYPE_CLASS_PACKED)) return true;
    el_error(e, decl->span, DIAG_PACKED, "%s is a storage type of views only, '%s' is a %s",
             dtype_name(*elem), decl->name, decl->kind == DECL_POINTER ? "pointer" : "scalar");
    el_help(e, "use %s", *elem == DTYPE_I4 ? "i8" : "u8");
    return false;
}

static bool view_dim(Elab *e, const Ast *ast, IrDim *dim) {
    if (ast->kind == AST_NAME && ast->decl && ast->decl->kind == DECL_EXTENT) {
        dim->extent = ast->decl->name;
        return true;
    }
    Val v = el_expr(e, ast);
    if (v.kind == VAL_IR) {
        el_error(e, ast->span, DIAG_NOT_CONSTANT,
                 "an extent is a name, or known at compile time; this needs a value of the launch");
        el_help(e, "give it a name of its own, and state what must hold under 'requires'");
        return false;
    }
    return el_const_range_of(e, v, ast, "an extent", 0, INT64_MAX, &dim->value);
}

static bool view_dims(Elab *e, const AstDecl *decl, Dtype elem, IrDim *dims, uint32_t *rank) {
    bool good = true;
    const Ast *last = NULL;
    *rank = 0;
    for (const Ast *ast = decl->dims; ast; ast = ast->next, ++*rank) {
        if (*rank >= IR_MAX_VIEW_RANK) {
            el_error(e, ast->span, DIAG_KERNEL, "a view has at most %d dimensions",
                     IR_MAX_VIEW_RANK);
            return false;
        }
        good = view_dim(e, ast, &dims[*rank]) && good;
        last = ast;
    }
    if (!good || !last) return false;
    const IrDim *inner = &dims[*rank - 1];
    if (!dtype_is(elem, DTYPE_CLASS_PACKED) || inner->extent || inner->value % 2 == 0) return true;
    el_error(e, last->span, DIAG_PACKED, "the last extent of %s data must be even, found %lld",
             dtype_name(elem), (long long)inner->value);
    return false;
}

static void add_view(Elab *e, const AstDecl *decl, Dtype elem, Slot *slot) {
    IrDim dims[IR_MAX_VIEW_RANK] = {{0}};
    uint32_t rank;
    if (!view_dims(e, decl, elem, dims, &rank)) {
        el_silent(e);
        return;
    }
    IrParam *param = ir_func_add_param(e->func, decl->name, ir_view(e->module, elem, rank));
    param->span = decl->span;
    param->strided = decl->strided;
    for (uint32_t i = 0; i < rank; i++) param->dims[i] = dims[i];
    View *view = arena_new(e->scratch, View, 1);
    *view = (View){.name = decl->name, .value = param->value, .elem = elem, .rank = rank};
    if (slot) el_declare_slot(e, slot, (Val){.kind = VAL_VIEW, .view = view});
}

static void add_param(Elab *e, const AstDecl *decl) {
    Dtype elem;
    Slot *slot = el_slot(e, decl);
    if (decl->broken) {
        el_silent(e);
        return;
    }
    if (!param_elem(e, decl, &elem)) return;
    if (decl->kind == DECL_VIEW) {
        add_view(e, decl, elem, slot);
        return;
    }
    const IrType *type =
        decl->kind == DECL_POINTER ? ir_ptr(e->module, elem, 0, NULL) : ir_scalar(e->module, elem);
    IrParam *param = ir_func_add_param(e->func, decl->name, type);
    param->span = decl->span;
    if (slot) el_declare_slot(e, slot, el_ir(param->value));
}

static bool is_argument(const AstDecl *p) {
    return p->kind == DECL_SCALAR || p->kind == DECL_POINTER || p->kind == DECL_VIEW;
}

static void count_arguments(Elab *e) {
    const AstDecl *excess = NULL;
    uint32_t count = 0;
    for (const AstDecl *p = tile_of(e)->kernel->params; p; p = p->next)
        if (is_argument(p) && ++count == IR_MAX_ARGS + 1) excess = p;
    if (!excess) return;
    el_error(e, excess->span, DIAG_KERNEL, "a kernel has at most %d arguments, found %u",
             IR_MAX_ARGS, count);
    el_help(e, "one view of more dimensions replaces several views");
}

static void kernel_params(Elab *e) {
    count_arguments(e);
    for (const AstDecl *p = tile_of(e)->kernel->params; p; p = p->next) {
        if (p->kind == DECL_TYPE_PARAM) bind_type(e, p);
        if (p->kind == DECL_CONST_PARAM) bind_const(e, p);
    }
    for (const AstDecl *p = tile_of(e)->kernel->params; p; p = p->next)
        if (is_argument(p)) add_param(e, p);
    for (const AstDecl *x = tile_of(e)->kernel->extents; x; x = x->next) {
        ir_func_add_extent(e->func, x->name);
        const uint64_t *fixed = map_find(&tile_of(e)->spec->fixed_extents, map_key(x->name));
        if (!fixed) continue;
        IrFacts *facts = &vec_last(&e->func->extents).facts;
        facts->has_range = true;
        facts->min = facts->max = (int64_t)*fixed;
    }
}

// ---- sections

static void section_begin(Elab *e, IrSectionKind kind, Str text, Span span, ElPlace place) {
    e->b = ir_builder_at_end(ir_func_add_section(e->func, kind, text, span));
    e->b.span = span;
    tile_of(e)->place = place;
    e->region = ++e->regions;
    tile_of(e)->frame->region = e->region;
}

// Reports an op that the launcher cannot compute; once for each section.
static bool launchable(Elab *e, const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        if (!ir_launchable(op)) {
            el_error(e, op->span, DIAG_GRID,
                     "grid and requires are computed by the launcher, which has no '%s'",
                     ir_op_info(op->code)->text);
            el_help(e, "use integer and comparison operators on scalars, extents and consts");
            return false;
        }
        for (uint32_t i = 0; i < op->region_count; i++)
            if (!launchable(e, op->regions[i])) return false;
    }
    return true;
}

static void kernel_requires(Elab *e) {
    for (const Ast *ast = tile_of(e)->kernel->requires; ast; ast = ast->next) {
        section_begin(e, IR_REQUIRES, source_text(tile_of(e)->file->sources, ast->span), ast->span,
                      EL_IN_REQUIRES);
        Val v = el_operand(e, ast);
        if (v.kind == VAL_POISON) continue;
        IrValue *cond = el_is_const(v) && v.kind != VAL_BOOL ? NULL : el_value(e, v, ast->span);
        if (!cond || cond->type != ir_scalar(e->module, DTYPE_BOOL)) {
            el_error(e, ast->span, DIAG_REQUIRES,
                     "a condition of 'requires' must be a scalar bool, "
                     "found %s",
                     el_val_text(e, v));
            continue;
        }
        ir_yield(&e->b, 1, &cond);
        launchable(e, e->b.block);
    }
}

static IrValue *grid_value(Elab *e, const Ast *ast) {
    Val v = el_operand(e, ast);
    if (v.kind == VAL_POISON) return NULL;
    if (v.kind == VAL_INT && v.integer < 0) {
        el_error(e, ast->span, DIAG_GRID, "an extent of the grid is negative: %s",
                 el_wide_text(e, v.integer));
        return NULL;
    }
    if (v.kind == VAL_INT) return el_adopt(e, v, DTYPE_I64, 0, NULL, ast->span);
    if (v.kind == VAL_IR && !el_is_ptr(v.ir) && !v.ir->type->rank &&
        dtype_is(el_elem(v.ir), DTYPE_CLASS_INT))
        return el_convert(e, v.ir, DTYPE_I64);
    el_error(e, ast->span, DIAG_GRID, "an extent of the grid must be a scalar integer, found %s",
             el_val_text(e, v));
    return NULL;
}

static void kernel_grid(Elab *e) {
    const Ast *list = tile_of(e)->kernel->grid;
    if (!list) return;
    section_begin(e, IR_GRID, (Str){0}, list->span, EL_IN_GRID);
    IrValue *values[3];
    uint32_t count = 0;
    bool good = true;
    for (const Ast *ast = list; ast && count < 3; ast = ast->next) {
        values[count] = grid_value(e, ast);
        good = values[count++] && good;
    }
    if (!good) return;
    ir_yield(&e->b, count, values);
    launchable(e, e->b.block);
}

static void kernel_body(Elab *e) {
    Span span =
        tile_of(e)->kernel->body ? tile_of(e)->kernel->body->span : tile_of(e)->kernel->decl->span;
    section_begin(e, IR_BODY, (Str){0}, span, EL_IN_BODY);
    tile_of(e)->frame->active =
        (Slot){.kind = SLOT_ACTIVE, .val = el_bool(true), .tail = true, .region = e->region};
    el_body(e, tile_of(e)->kernel->body);
    e->b.span = span;
    ir_return(&e->b, 0, NULL);
}

// ---- entry

IrFunc *el_kernel(TileFile *file, IrModule *module, const AstKernel *kernel, const FrontSpec *spec,
                  Diags *diags, Arena *scratch, size_t *errors) {
    TileElab t;
    Elab *e = &t.elab;
    static const FrontSpec nothing;
    Frame frame = {.slot_count = kernel->slots};
    size_t funcs = module->funcs.count;
    if (errors) *errors = 0;
    if (head_is_broken(kernel)) return NULL;
    el_begin(&t, file, module, diags, scratch);
    collect_blame(e);
    t.kernel = kernel;
    t.spec = spec ? spec : &nothing;
    frame.slots = arena_new(e->scratch, Slot, kernel->slots + 1);
    t.frame = &frame;
    e->func = ir_func_create(module, kernel->decl->name, true);
    e->func->span = kernel->decl->span;
    e->func->math = kernel->math | t.spec->math;
    // Compile-time values of the head need no op. Where a mistake makes one necessary, it goes into
    // this block.
    e->b = ir_builder_at_end(ir_block_create(e->func));
    t.place = EL_IN_CONST;
    check_bindings(e);
    check_tuned_options(e);
    kernel_params(e);
    for (size_t i = 0; i < IR_OPTIONS; i++)
        *ir_option_of(e->func, &ir_options[i]) = option_value(e, &ir_options[i]);
    kernel_requires(e);
    kernel_grid(e);
    kernel_body(e);
    bool good = !e->errors && !t.silent;
    if (errors) *errors = e->errors;
    IrFunc *func = e->func;
    if (!good) module->funcs.count = funcs;
    return good ? func : NULL;
}

IrFunc *tile_elaborate(TileFile *file, IrModule *module, const AstKernel *kernel,
                       const FrontSpec *spec, Diags *diags) {
    Arena *scratch = arena_create();
    IrFunc *func = el_kernel(file, module, kernel, spec, diags, scratch, NULL);
    arena_destroy(scratch);
    return func;
}
