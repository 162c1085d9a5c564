// Rows and elements of tiles, and arrays of tiles: m[k, :], m[i, j], a[1], a[1, k, :].
//
// A read picks by `gather`, one dimension after the other, which gives 0 where an index is outside.
// A write selects between the new and the old value, lane by lane: no lane is at an index that is
// outside. Each tile of an array is a variable of its own, so its number is known at compile time.
#include "frontend/tile/elaborate.h"

enum { ARRAY_MAX = 256 };  // tiles of one array

// ---- arrays

static bool array_count(Elab *e, const Ast *ast, uint32_t *count) {
    int64_t value = 0;
    TRY(el_const_range(e, ast, "the number of an array's tiles", 1, ARRAY_MAX, &value));
    *count = (uint32_t)value;
    return true;
}

// The value of each tile: all of them are the same one, or a tuple has one for each.
static IrValue *array_item(Elab *e, Val v, uint32_t i, Span span) {
    return el_value(e, v.kind == VAL_TUPLE ? v.tuple.items[i] : v, span);
}

Val el_array(Elab *e, const AstDecl *decl, Val v, Span span) {
    Array *array = arena_new(e->scratch, Array, 1);
    if (!array_count(e, decl->dims, &array->count) || v.kind == VAL_POISON) return EL_POISON;
    if (v.kind == VAL_TUPLE && v.tuple.count != array->count)
        return el_error(e, span, DIAG_TYPE, "expected a tuple of %u values, found %s", array->count,
                        el_val_text(e, v));
    array->name = decl->name;
    array->slots = arena_new(e->scratch, Slot, array->count);
    IrValue *item = NULL;
    for (uint32_t i = 0; i < array->count; i++) {
        if (!item || v.kind == VAL_TUPLE) item = array_item(e, v, i, span);
        if (!item) return EL_POISON;
        if (!array->type) array->type = item->type;
        if (array->type != item->type)
            return el_error(e, span, DIAG_TYPE,
                            "the tiles of an array have one type, found %s and %s",
                            el_type_text(e, array->type), el_type_text(e, item->type));
        array->slots[i].name = decl->name;
        el_declare_slot(e, &array->slots[i], el_ir(item));
    }
    return (Val){.kind = VAL_ARRAY, .array = array};
}

// The tile that the first subscript names; NULL after an error.
static Slot *array_slot(Elab *e, const Array *array, const Ast *subscript) {
    if (subscript->kind == AST_SELECT) {
        el_error(e, subscript->span, DIAG_INDEX, "the array '%s' takes the number of a tile first",
                 array->name);
        return NULL;
    }
    Val v = el_operand(e, subscript);
    if (v.kind == VAL_IR) {
        el_error(e, subscript->span, DIAG_NOT_CONSTANT,
                 "the subscript of the array '%s' must be known at compile time", array->name);
        el_help(e,
                "use a constant or the counter of a 'for const'; a row of a tile, m[k, :], may "
                "be chosen at run time");
        return NULL;
    }
    int64_t number = 0;
    const char *what = arena_printf(e->scratch, "the subscript of the array '%s'", array->name);
    bool good = v.kind != VAL_POISON &&
                el_const_range_of(e, v, subscript, what, 0, array->count - 1, &number);
    return good ? &array->slots[number] : NULL;
}

// ---- indices of a tile

typedef struct Element {
    const IrType *tile;
    IrValue *index[IR_MAX_RANK];  // NULL: the whole dimension
    Shape shape;                  // of the selection
} Element;

static IrValue *element_index(Elab *e, const Ast *ast, uint32_t dim, uint32_t extent) {
    Val v = el_operand(e, ast);
    if (v.kind == VAL_POISON) return NULL;
    bool known = v.kind == VAL_INT, fits = known && v.integer >= 0 && v.integer < extent;
    if (known) v = el_ir(el_adopt(e, v, fits ? DTYPE_I32 : DTYPE_I64, 0, NULL, ast->span));
    if (v.kind == VAL_POISON) return NULL;
    if (v.kind != VAL_IR || el_is_ptr(v.ir) || !dtype_is(el_elem(v.ir), DTYPE_CLASS_INT)) {
        el_error(e, ast->span, DIAG_INDEX, "an index must be an integer, found %s",
                 el_val_text(e, v));
        return NULL;
    }
    if (v.ir->type->rank) {
        el_error(e, ast->span, DIAG_INDEX, "an index of a tile is a scalar, found %s",
                 el_val_text(e, v));
        el_help(e, "use gather(v, index, axis = %u)", dim);
        return NULL;
    }
    Dtype elem = el_elem(v.ir);
    bool narrow = elem == DTYPE_I32 || dtype_bits(elem) < 32;
    IrValue *i = narrow ? el_convert(e, v.ir, DTYPE_I32) : el_index_to_i64(e, v.ir);
    if (!fits) el_check_index(e, i, extent);
    return i;
}

static bool element_of(Elab *e, const IrType *tile, const Ast *list, Span span, Element *m) {
    *m = (Element){.tile = tile};
    uint32_t given = 0;
    for (const Ast *i = list; i; i = i->next) given++;
    if (given != tile->rank) {
        el_error(e, span, DIAG_INDEX, "%s has %u dimension%s, %u ind%s given",
                 el_type_text(e, tile), tile->rank, tile->rank == 1 ? "" : "s", given,
                 given == 1 ? "ex" : "ices");
        if (tile->rank) el_help(e, "each dimension takes an index, or ':' for the whole of it");
        return false;
    }
    bool good = true;
    uint32_t dim = 0;
    for (const Ast *i = list; i; i = i->next, dim++) {
        bool whole = i->kind == AST_SELECT && !i->a;
        if (i->kind == AST_SELECT && !whole) {
            el_error(e, i->span, DIAG_INDEX, "a tile has no part-select");
            el_help(e, "take a whole dimension, ':', or use reshape(v, …) and split(v)");
            good = false;
        } else if (whole) {
            m->shape.dims[m->shape.rank++] = tile->shape[dim];
        } else {
            m->index[dim] = element_index(e, i, dim, tile->shape[dim]);
            good = m->index[dim] && good;
        }
    }
    return good;
}

// ---- reads and writes

static IrValue *element_read(Elab *e, IrValue *v, const Element *m) {
    Shape shape = el_shape_of(v->type);
    for (uint32_t d = 0; d < m->tile->rank; d++) {
        if (!m->index[d]) continue;
        shape.dims[d] = 1;
        const IrType *type = ir_with_shape(e->module, v->type, shape.rank, shape.dims);
        IrValue *index = el_broadcast(e, m->index[d], shape.rank, shape.dims);
        v = el_op1(e, IR_GATHER, 2, (IrValue *[]){v, index}, type);
        ir_attr_set_int(v->def, IR_ATTR_AXIS, d);
    }
    return m->shape.rank == m->tile->rank ? v : ir_reshape(&e->b, v, m->shape.rank, m->shape.dims);
}

// Which lanes along the dimension are at the index.
static IrValue *lanes_at(Elab *e, const IrType *tile, uint32_t d, IrValue *index) {
    Shape along = {.rank = tile->rank};
    for (uint32_t i = 0; i < along.rank; i++) along.dims[i] = i == d ? tile->shape[d] : 1;
    IrValue *lanes = el_convert(e, ir_iota(&e->b, tile->shape[d]), el_elem(index));
    IrValue *there = ir_binary(&e->b, IR_EQ, lanes, el_broadcast(e, index, 1, &tile->shape[d]));
    there = ir_reshape(&e->b, there, along.rank, along.dims);
    return el_broadcast(e, there, tile->rank, tile->shape);
}

static IrValue *element_write(Elab *e, IrValue *old, const Element *m, IrValue *x) {
    IrValue *there = NULL;
    Shape shape = {.rank = m->tile->rank};
    for (uint32_t d = 0; d < shape.rank; d++) {
        shape.dims[d] = m->index[d] ? 1 : m->tile->shape[d];
        if (!m->index[d]) continue;
        IrValue *lanes = lanes_at(e, m->tile, d, m->index[d]);
        there = there ? ir_binary(&e->b, IR_AND, there, lanes) : lanes;
    }
    if (!there) return x;
    x = ir_reshape(&e->b, x, shape.rank, shape.dims);
    x = el_broadcast(e, x, m->tile->rank, m->tile->shape);
    return ir_ternary(&e->b, IR_SELECT, there, x, old);
}

// ---- entry

static bool has_elements(Val v) {
    return v.kind == VAL_ARRAY || (v.kind == VAL_IR && !el_is_ptr(v.ir) && v.ir->type->rank);
}

Val el_index(Elab *e, const Ast *index) {
    Val table = el_table_named(e, index->a);
    if (table.kind == VAL_TABLE) return el_table_read(e, table.table, index);
    if (tile_of(e)->place != EL_IN_BODY) return el_view_load(e, index);
    Val v = el_expr(e, index->a);
    if (v.kind == VAL_POISON) return v;
    if (v.kind == VAL_VIEW) return el_view_load(e, index);
    if (v.kind == VAL_TABLE) return el_table_read(e, v.table, index);
    if (!has_elements(v)) return el_not_indexed(e, v, index->a->span);
    if (index->b)
        return el_error(e, index->b->span, DIAG_PAD,
                        "a read of a tile has no 'or': outside it is 0");
    const Ast *list = index->list;
    if (v.kind == VAL_ARRAY) {
        Slot *slot = array_slot(e, v.array, list);
        if (!slot) return EL_POISON;
        v = slot->val;
        list = list->next;
        if (!list || v.kind != VAL_IR) return v;
    }
    Element m;
    if (!element_of(e, v.ir->type, list, index->span, &m)) return EL_POISON;
    return el_ir(element_read(e, v.ir, &m));
}

// Is the target a tile or an array, which only a `var` may be? *slot is the variable's.
bool el_is_element(Elab *e, const Ast *target, Slot **slot) {
    *slot = target->a->kind == AST_NAME ? el_slot(e, target->a->decl) : NULL;
    return *slot && target->a->decl->kind != DECL_CONST && has_elements((*slot)->val);
}

static bool is_writable(Elab *e, const Ast *ast) {
    const AstDecl *decl = ast->a->a->decl;
    if (ast->c) {
        el_error(e, ast->c->span, DIAG_ASSIGN, "only writes to a view take 'if'");
        el_help(e, "write the value that select(mask, …, …) gives");
        return false;
    }
    if (decl->kind == DECL_VAR) return true;
    el_error(e, ast->a->span, DIAG_ASSIGN, "'%s' is not a 'var' and cannot be assigned",
             decl->name);
    el_note(e, decl->span, "'%s' is declared here", decl->name);
    el_help(e, "declare it with 'var'");
    return false;
}

void el_element_assign(Elab *e, const Ast *ast, Slot *slot) {
    const Ast *list = ast->a->list;
    Val v = el_expr(e, ast->b);
    if (!is_writable(e, ast)) return;
    const char *name = arena_printf(e->scratch, "%s[…]", ast->a->a->name);
    if (slot->val.kind == VAL_ARRAY) {
        slot = array_slot(e, slot->val.array, list);
        if (!slot || slot->val.kind != VAL_IR) return;
        list = list->next;
    }
    IrValue *old = slot->val.ir;
    Element m = {.tile = old->type, .shape = el_shape_of(old->type)};
    if (list && !element_of(e, old->type, list, ast->a->span, &m)) return;
    if (ast->op != OPERATOR_NONE) {
        Val now = el_ir(list ? element_read(e, old, &m) : old);
        v = el_binary(e, ast->op, now, v, ast->span, ast->a->span, ast->b->span);
    }
    const IrType *type = ir_with_shape(e->module, old->type, m.shape.rank, m.shape.dims);
    IrValue *x = el_assigned_value(e, type, v, ast->b->span, name);
    if (!x) return;
    if (list) x = element_write(e, old, &m, x);
    if (!x->name) x->name = slot->name;
    el_assign_slot(e, slot, el_ir(x));
}
