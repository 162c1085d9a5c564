#include "compile/pipeline/launch_build.h"

#include <string.h>

#include "base/map.h"
#include "base/vec.h"
#include "ir/option.h"
#include "runtime/launch.h"

typedef struct Builder {
    Arena *arena;
    const IrFunc *func;
    Diags *diags;
    Map values;  // IrValue * → index of its instruction
    VEC(LaunchInstr) code;
    bool failed;
} Builder;

static uint32_t emit(Builder *b, LaunchInstr x) {
    vec_push(b->arena, &b->code, x);
    return (uint32_t)b->code.count - 1;
}

static uint32_t refuse(Builder *b, const IrOp *op, const char *what) {
    if (!b->failed)
        diag_error(b->diags, op->span, DIAG_GRID,
                   "grid and requires are computed by the launcher, which cannot do %s ('%s')",
                   what, ir_op_info(op->code)->text);
    b->failed = true;
    return emit(b, (LaunchInstr){.op = LAUNCH_CONST, .dtype = DTYPE_I64, .result = DTYPE_I64});
}

static uint32_t value_of(Builder *b, const IrValue *v) {
    const uint64_t *found = map_find(&b->values, map_key(v));
    return found ? (uint32_t)*found : 0;
}

// Scalar and pointer parameters and extents are inputs; each gets one instruction.
static uint32_t parameter_index(const Builder *b, const IrValue *v) {
    for (size_t i = 0; i < b->func->params.count; i++)
        if (b->func->params.data[i].value == v) return (uint32_t)i;
    return UINT32_MAX;
}

static void bind_scalars(Builder *b) {
    for (size_t i = 0; i < b->func->params.count; i++) {
        const IrValue *v = b->func->params.data[i].value;
        if (v->type->kind != IR_TILE) continue;
        LaunchInstr x = {.op = LAUNCH_ARG_SCALAR, .a = (uint32_t)i};
        x.dtype = x.result = (uint8_t)v->type->elem;
        map_put(b->arena, &b->values, map_key(v), emit(b, x));
    }
}

static uint32_t emit_extent(Builder *b, const IrOp *op) {
    Symbol name = ir_attr(op, IR_ATTR_EXTENT)->u.name;
    for (size_t i = 0; i < b->func->params.count; i++) {
        const IrParam *p = &b->func->params.data[i];
        for (uint32_t d = 0; p->value->type->kind == IR_VIEW && d < p->value->type->rank; d++)
            if (p->dims[d].extent == name)
                return emit(b, (LaunchInstr){.op = LAUNCH_ARG_EXTENT,
                                             .dtype = DTYPE_I64,
                                             .result = DTYPE_I64,
                                             .a = (uint32_t)i,
                                             .b = d});
    }
    return refuse(b, op, "an extent of no view");
}

static bool launch_op_of(IrOpcode code, LaunchOp *op) {
    const char *text = ir_op_info(code)->text;
    for (int i = LAUNCH_NEG; i < LAUNCH_OPS; i++)
        if (strcmp(text, launch_op_text((LaunchOp)i)) == 0) {
            *op = (LaunchOp)i;
            return true;
        }
    return false;
}

static void emit_block(Builder *b, const IrBlock *block);

// Both sides are computed (sections have no effects), then one result is chosen.
static void emit_if(Builder *b, const IrOp *op) {
    uint32_t condition = value_of(b, ir_operand(op, 0));
    emit_block(b, op->regions[0]);
    emit_block(b, op->regions[1]);
    for (uint32_t i = 0; i < op->result_count; i++) {
        Dtype t = op->results[i].type->elem;
        LaunchInstr x = {
            .op = LAUNCH_SELECT, .dtype = (uint8_t)t, .result = (uint8_t)t, .a = condition};
        x.b = value_of(b, ir_operand(op->regions[0]->last, i));
        x.c = value_of(b, ir_operand(op->regions[1]->last, i));
        map_put(b->arena, &b->values, map_key(&op->results[i]), emit(b, x));
    }
}

static uint32_t emit_plain(Builder *b, const IrOp *op) {
    LaunchOp code;
    if (!launch_op_of(op->code, &code)) return refuse(b, op, "this");
    const IrType *type = op->results[0].type, *from = ir_operand(op, op->code == IR_SELECT)->type;
    if (type->kind != IR_TILE || type->rank || from->kind != IR_TILE || from->rank)
        return refuse(b, op, "tiles and pointers");
    LaunchInstr x = {
        .op = (uint8_t)code, .dtype = (uint8_t)from->elem, .result = (uint8_t)type->elem};
    uint32_t *operands[3] = {&x.a, &x.b, &x.c};
    for (uint32_t i = 0; i < op->operand_count && i < 3; i++)
        *operands[i] = value_of(b, ir_operand(op, i));
    if (op->code == IR_CAST) x.imm = ir_attr_int(op, IR_ATTR_SATURATE) != 0;
    // The count of a shift may have another type. A negative count is, as unsigned bits, larger
    // than every width.
    return emit(b, x);
}

// Compares the address ranges of views. The size of the memory of a raw pointer is unknown, so we
// trust the caller unless both are the same address and not NULL.
static uint32_t emit_noalias(Builder *b, const IrOp *op) {
    uint32_t p = parameter_index(b, ir_operand(op, 0)), q = parameter_index(b, ir_operand(op, 1));
    unsigned views = (ir_operand(op, 0)->type->kind == IR_VIEW) +
                     (unsigned)(ir_operand(op, 1)->type->kind == IR_VIEW);
    LaunchInstr x = {.op = LAUNCH_ARG_DISJOINT, .dtype = DTYPE_BOOL, .result = DTYPE_BOOL};
    if (views == 2) {
        x.a = p, x.b = q;
        return emit(b, x);
    }
    if (views == 1) {
        x.op = LAUNCH_CONST, x.imm = 1;
        return emit(b, x);
    }
    LaunchInstr address = {.op = LAUNCH_ARG_ADDRESS, .dtype = DTYPE_U64, .result = DTYPE_U64};
    LaunchInstr null = {.op = LAUNCH_CONST, .dtype = DTYPE_U64, .result = DTYPE_U64};
    address.a = p;
    uint32_t first = emit(b, address);
    address.a = q;
    uint32_t second = emit(b, address), none = emit(b, null);
    LaunchInstr compare = {.dtype = DTYPE_U64, .result = DTYPE_BOOL, .a = first};
    compare.op = LAUNCH_NE, compare.b = second;
    x.a = emit(b, compare);
    compare.op = LAUNCH_EQ, compare.b = none;
    x.b = emit(b, compare);
    x.op = LAUNCH_OR;
    return emit(b, x);
}

static void emit_op(Builder *b, const IrOp *op) {
    uint32_t index;
    if (b->code.count >= LAUNCH_CODE_MAX - 8) {
        refuse(b, op, "that many steps");
        return;
    }
    switch (op->code) {
    case IR_YIELD: return;
    case IR_IF: emit_if(b, op); return;
    case IR_CONST: {
        Dtype t = op->results[0].type->elem;
        if (!ir_is_scalar(op->results[0].type)) {
            refuse(b, op, "tiles");
            return;
        }
        index = emit(b, (LaunchInstr){.op = LAUNCH_CONST,
                                      .dtype = (uint8_t)t,
                                      .result = (uint8_t)t,
                                      .imm = ir_attr(op, IR_ATTR_VALUE)->u.bits});
        break;
    }
    case IR_EXTENT: index = emit_extent(b, op); break;
    case IR_UNITS:
        index = emit(b, (LaunchInstr){.op = LAUNCH_UNITS, .dtype = DTYPE_I64, .result = DTYPE_I64});
        break;
    case IR_NOALIAS: index = emit_noalias(b, op); break;
    default: index = op->result_count == 1 ? emit_plain(b, op) : refuse(b, op, "this"); break;
    }
    if (op->result_count == 1) map_put(b->arena, &b->values, map_key(&op->results[0]), index);
}

static void emit_block(Builder *b, const IrBlock *block) {
    for (const IrOp *op = block->first; op && !b->failed; op = op->next) emit_op(b, op);
}

static Str symbol_text(Symbol s) { return (Str){s, symbol_size(s)}; }

static void note_options(Builder *b, MetaVariant *v) {
    MetaOption *options = arena_new(b->arena, MetaOption, IR_OPTIONS);
    for (size_t i = 0; i < IR_OPTIONS; i++) {
        int value = ir_option_value(b->func, &ir_options[i]);
        if (value) options[v->option_count++] = (MetaOption){ir_options[i].name, value};
    }
    v->options = options;
}

// Facts about the address of a pointer are promises of the caller.
static void require_addresses(Builder *b, MetaRequires *requires, MetaVariant *v) {
    for (size_t i = 0; i < b->func->params.count; i++) {
        const IrParam *p = &b->func->params.data[i];
        uint64_t divisor = p->facts.divisor;
        if (p->value->type->kind != IR_PTR || divisor < 2 || divisor & (divisor - 1)) continue;
        LaunchInstr x = {.dtype = DTYPE_U64, .result = DTYPE_U64};
        LaunchInstr address = x, mask = x, zero = x, holds = x;
        address.op = LAUNCH_ARG_ADDRESS, address.a = (uint32_t)i;
        mask.op = zero.op = LAUNCH_CONST, mask.imm = divisor - 1;
        x.op = LAUNCH_AND, x.a = emit(b, address), x.b = emit(b, mask);
        holds.op = LAUNCH_EQ, holds.result = DTYPE_BOOL;
        holds.a = emit(b, x), holds.b = emit(b, zero);
        const char *text =
            arena_printf(b->arena, "%s %% %llu == 0", p->name, (unsigned long long)divisor);
        requires[v->requires_count++] = (MetaRequires){str(text), emit(b, holds)};
    }
}

static MetaVariant build_variant(Builder *b) {
    const IrFunc *f = b->func;
    MetaVariant v = {
        .entry = symbol_text(f->name), .guard = META_NO_VALUE, .ctas = f->ctas, .block = {1, 1, 1}};
    MetaRequires *requires =
        arena_new(b->arena, MetaRequires, f->sections.count + f->params.count + 1);
    for (size_t i = 0; i < f->sections.count; i++) {
        const IrSection *s = &f->sections.data[i];
        if (s->kind == IR_BODY) continue;
        emit_block(b, s->block);
        if (b->failed) break;
        const IrOp *yield = s->block->last;
        if (s->kind == IR_REQUIRES) {
            requires[v.requires_count++] =
                (MetaRequires){.text = s->text, .value = value_of(b, ir_operand(yield, 0))};
            continue;
        }
        v.grid_rank = yield->operand_count;
        for (uint32_t d = 0; d < v.grid_rank && d < 3; d++)
            v.grid[d] = value_of(b, ir_operand(yield, d));
    }
    require_addresses(b, requires, &v);
    v.requires = requires;
    MetaBinding *bindings = arena_new(b->arena, MetaBinding, f->bindings.count + 1);
    for (size_t i = 0; i < f->bindings.count; i++) {
        const IrBinding *from = &f->bindings.data[i];
        bindings[i] =
            (MetaBinding){symbol_text(from->name), from->is_type, from->type, from->value};
    }
    v.bindings = bindings;
    v.binding_count = (uint32_t)f->bindings.count;
    note_options(b, &v);
    v.code = (LaunchCode){(uint32_t)b->code.count, b->code.data};
    return v;
}

// Does every program that runs to its end access this memory, on every lane?
static bool is_certain(const IrOp *op) {
    const IrSection *body = ir_section(op->block->func, IR_BODY);
    if (!body || op->block != body->block) return false;
    switch (op->code) {
    case IR_LOAD: return !ir_operand(op, 1);
    case IR_STORE:
    case IR_ATOMIC: return !ir_operand(op, 2);
    case IR_ATOMIC_CAS: return !ir_operand(op, 3);
    default: return false;
    }
}

// Notes how the body uses the memory of a parameter, through pointer arithmetic, too.
static void note_access(const IrValue *v, MetaArg *arg) {
    for (const IrUse *u = v->uses; u; u = u->next) {
        const IrOp *op = u->user;
        bool address = op->operand_count && &op->operands[0] == u;
        IrEffect effect = ir_op_info(op->code)->effect;
        if (address && v->type->kind == IR_PTR && is_certain(op)) arg->needed = true;
        if (address && effect == IR_EFFECT_READ) {
            arg->read = true;
        } else if (address && effect == IR_EFFECT_WRITE) {
            arg->written = arg->written || ir_changes_memory(op);
            arg->read = arg->read || op->result_count > 0;
        } else if (op->code == IR_PTR_ADD || op->code == IR_BROADCAST || op->code == IR_RESHAPE ||
                   op->code == IR_PERMUTE) {
            note_access(&op->results[0], arg);
        } else if (v->type->kind == IR_PTR && op->code != IR_NOALIAS && op->code != IR_EQ &&
                   op->code != IR_NE) {
            // carried by a loop or mixed with others: assume everything
            arg->read = arg->written = true;
        }
    }
}

static void note_hints(const IrValue *view, MetaArg *arg) {
    arg->leaves = true;
    for (const IrUse *u = view->uses; u; u = u->next) {
        if (u->user->code == IR_VIEW_STORE && !ir_evicts_first(u->user)) arg->leaves = false;
        if (ir_evicts_last(u->user)) arg->keeps = true;
    }
}

static void build_arg(const IrFunc *f, const IrParam *p, MetaArg *arg) {
    const IrType *t = p->value->type;
    arg->name = symbol_text(p->name);
    arg->dtype = t->elem;
    arg->rank = t->rank;
    arg->strided = p->strided;
    switch (t->kind) {
    case IR_TILE: arg->kind = META_SCALAR; return;
    case IR_PTR: arg->kind = META_POINTER; break;
    case IR_VIEW: arg->kind = META_VIEW; break;
    }
    note_access(p->value, arg);
    if (arg->kind == META_VIEW) note_hints(p->value, arg);
    for (uint32_t d = 0; t->kind == IR_VIEW && d < t->rank; d++) {
        arg->dims[d] = (MetaDim){.extent = -1, .value = p->dims[d].value};
        for (size_t e = 0; p->dims[d].extent && e < f->extents.count; e++)
            if (f->extents.data[e].name == p->dims[d].extent) arg->dims[d].extent = (int32_t)e;
    }
}

_Static_assert((int)LAUNCH_MAX_ARGS == (int)IR_MAX_ARGS,
               "a kernel that the language allows can be launched");

MetaKernel *launch_build_meta(Arena *arena, const IrFunc *kernel, Diags *diags) {
    if (kernel->params.count > LAUNCH_MAX_ARGS) {
        diag_error(diags, kernel->span, DIAG_KERNEL, "a kernel has at most %d arguments, found %zu",
                   LAUNCH_MAX_ARGS, kernel->params.count);
        return NULL;
    }
    MetaKernel *meta = arena_new(arena, MetaKernel, 1);
    meta->name = symbol_text(kernel->name);
    meta->arg_count = (uint32_t)kernel->params.count;
    MetaArg *args = arena_new(arena, MetaArg, kernel->params.count + 1);
    for (size_t i = 0; i < kernel->params.count; i++)
        build_arg(kernel, &kernel->params.data[i], &args[i]);
    meta_layout(args, meta->arg_count, &meta->size);
    meta->args = args;
    Str *extents = arena_new(arena, Str, kernel->extents.count + 1);
    for (size_t i = 0; i < kernel->extents.count; i++)
        extents[i] = symbol_text(kernel->extents.data[i].name);
    meta->extents = extents;
    meta->extent_count = (uint32_t)kernel->extents.count;
    Builder b = {.arena = arena, .func = kernel, .diags = diags};
    bind_scalars(&b);
    MetaVariant *variant = arena_new(arena, MetaVariant, 1);
    *variant = build_variant(&b);
    meta->variants = variant;
    meta->variant_count = 1;
    return b.failed ? NULL : meta;
}
