// Tables and literals of tiles: const f32 W[3] = { … };  W[i]  tile(f32, { … })
//
// A read computes the row-major number of each element, and looks the numbers up. A lookup gives 0
// outside of all values; with several dimensions, a number is -1 where an index is outside of its
// dimension.
#include "frontend/tile/elaborate.h"

// ---- values in braces ---------------------------------------------------------------------------

typedef struct Filling {
    Table *table;
    const char *what;  // for messages
    uint32_t at;       // values so far
    bool good;
} Filling;

static uint32_t list_count(const Ast *list) {
    uint32_t count = 0;
    for (; list; list = list->next) count++;
    return count;
}

// How many values a list at this dimension has if it has no braces.
static uint32_t flat_count(const Table *t, uint32_t dim) {
    uint32_t count = 1;
    for (uint32_t d = dim; d < t->rank; d++) count *= t->dims[d];
    return count;
}

// Too many values are reported at the first of them, too few at the brace that ends the list.
static void wrong_count(Elab *e, Filling *f, const Ast *braces, uint32_t wanted,
                        const char *items) {
    uint32_t count = list_count(braces->list), i = 0;
    Span span = {braces->span.end - 1, braces->span.end};
    for (const Ast *item = braces->list; item; item = item->next)
        if (i++ == wanted) span = item->span;
    el_error(e, span, DIAG_SHAPE, "expected %u %s%s for %s, found %u", wanted, items,
             wanted == 1 ? "" : "s", f->what, count);
    f->good = false;
}

static void fill_value(Elab *e, Filling *f, const Ast *ast) {
    Val v = el_const_expr(e, ast);
    Table *t = f->table;
    uint32_t at = f->at++;
    if (v.kind == VAL_IR) {
        el_error(e, ast->span, DIAG_NOT_CONSTANT, "a value of %s must be known at compile time",
                 f->what);
        el_help(e, "use a literal, a const or a let of those");
    } else if (!el_is_const(v) && v.kind != VAL_POISON) {
        el_error(e, ast->span, DIAG_NOT_A_VALUE, "expected a value for %s, found %s", f->what,
                 el_val_text(e, v));
    }
    bool fits = el_is_const(v) && el_adopt_bits(e, v, t->elem, ast->span, &t->bits[at]);
    f->good = fits && f->good;
}

static void fill_list(Elab *e, Filling *f, const Ast *braces, uint32_t dim) {
    const Table *t = f->table;
    bool nested = braces->list && braces->list->kind == AST_BRACES;
    uint32_t wanted = nested ? t->dims[dim] : flat_count(t, dim);
    for (const Ast *item = braces->list; item; item = item->next) {
        bool odd = (item->kind == AST_BRACES) != nested;
        if (!odd && !(nested && dim + 1 == t->rank)) continue;
        el_error(
            e, item->span, DIAG_SHAPE,
            odd ? "values and braces do not mix in a list" : "expected a value for %s, found '{'",
            f->what);
        f->good = false;
        return;
    }
    if (list_count(braces->list) != wanted) {
        wrong_count(e, f, braces, wanted, nested ? "row" : "value");
        return;
    }
    for (const Ast *item = braces->list; item; item = item->next) {
        if (nested)
            fill_list(e, f, item, dim + 1);
        else
            fill_value(e, f, item);
    }
}

static bool fill(Elab *e, Table *t, const Ast *braces, const char *what) {
    Filling f = {.table = t, .what = what, .good = true};
    t->count = flat_count(t, 0);
    t->bits = arena_new(e->module->arena, uint64_t, t->count);
    if (braces->kind != AST_BRACES) {
        el_silent(e);
        return false;
    }
    fill_list(e, &f, braces, 0);
    return f.good;
}

// ---- declarations -------------------------------------------------------------------------------

static bool storable(Elab *e, Dtype elem, Span span) {
    if (!dtype_is(elem, DTYPE_CLASS_PACKED)) return true;
    el_error(e, span, DIAG_PACKED, "%s is a storage type of views only, not a type of tables",
             dtype_name(elem));
    el_help(e, "use %s", elem == DTYPE_I4 ? "i8" : "u8");
    return false;
}

static bool small_enough(Elab *e, const Table *t, Span span) {
    uint64_t count = 1, size = dtype_size(t->elem);
    for (uint32_t d = 0; d < t->rank; d++)
        if (count <= IR_TABLE_BYTES) count *= t->dims[d];
    if (count * size <= IR_TABLE_BYTES) return true;
    el_error(e, span, DIAG_TOO_LARGE, "a table has at most %d bytes, %u values of %s",
             IR_TABLE_BYTES, (unsigned)(IR_TABLE_BYTES / size), dtype_name(t->elem));
    el_help(e, "pass more as a view");
    return false;
}

static bool declared_elem(Elab *e, const AstTypeName *type, Dtype *elem) {
    *elem = type->dtype;
    if (!type->param) return storable(e, *elem, type->span);
    Slot *slot = el_slot(e, type->decl);
    if (slot && slot->val.kind != VAL_TYPE && slot->val.kind != VAL_POISON) {
        el_error(e, type->span, DIAG_TYPE, "expected an element type, found %s",
                 el_val_text(e, slot->val));
        return false;
    }
    if (!slot || slot->val.kind != VAL_TYPE) {
        el_silent(e);
        return false;
    }
    *elem = slot->val.type;
    return storable(e, *elem, type->span);
}

static bool declared_extents(Elab *e, const AstDecl *decl, Table *t) {
    bool good = true;
    for (const Ast *ast = decl->dims; ast; ast = ast->next) {
        int64_t extent = 1;
        if (t->rank == IR_MAX_RANK) {
            el_error(e, ast->span, DIAG_SHAPE, "a table has at most %d dimensions", IR_MAX_RANK);
            return false;
        }
        good = el_const_range(e, ast, "an extent of a table", 1, IR_TABLE_BYTES, &extent) && good;
        t->dims[t->rank++] = (uint32_t)extent;
    }
    return good;
}

Val el_table_declared(Elab *e, const AstDecl *decl) {
    if (decl->broken) return el_silent(e);
    Table *t = arena_new(e->scratch, Table, 1);
    t->name = decl->name;
    bool good = declared_elem(e, &decl->type, &t->elem);
    good = declared_extents(e, decl, t) && good;
    if (!good || !small_enough(e, t, decl->span)) return EL_POISON;
    const char *what = arena_printf(e->scratch, "'%s'", decl->name);
    if (!fill(e, t, decl->value, what)) return EL_POISON;
    return (Val){.kind = VAL_TABLE, .table = t};
}

bool el_check_tables(TileFile *file, IrModule *module, Diags *diags, Arena *scratch) {
    TileElab t;
    Frame frame = {0};
    el_begin(&t, file, module, diags, scratch);
    t.frame = &frame;
    t.place = EL_IN_CONST;
    t.elab.func = ir_func_create(module, intern(file->names, STR("tables")), false);
    t.elab.b = ir_builder_at_end(ir_block_create(t.elab.func));
    for (size_t i = 0; i < file->module.consts.count; i++) {
        const AstDecl *decl = file->module.consts.data[i];
        Ast name = {.kind = AST_NAME, .name = decl->name, .span = decl->span, .builtin = -1};
        name.decl = file->module.consts.data[i];
        if (decl->dims) el_expr(&t.elab, &name);
    }
    return !t.elab.errors && !t.silent;
}

// ---- tile(T, { … }) -----------------------------------------------------------------------------

static bool literal_extents(Elab *e, const Ast *braces, Table *t) {
    for (const Ast *list = braces; list; list = list->list) {
        if (list->kind != AST_BRACES) return true;
        uint32_t count = list_count(list->list);
        if (t->rank == IR_MAX_RANK) {
            el_error(e, list->span, DIAG_SHAPE, "a tile has at most %d dimensions", IR_MAX_RANK);
            return false;
        }
        if (!count || (count & (count - 1))) {
            el_error(e, list->span, DIAG_SHAPE,
                     "the number of values must be a power of two, found %u", count);
            if (count) el_help(e, "the next one is %llu", (unsigned long long)el_next_power(count));
            return false;
        }
        t->dims[t->rank++] = count;
    }
    return true;
}

Val el_tile_literal(Elab *e, const Args *a) {
    Table *t = arena_new(e->scratch, Table, 1);
    bool good = el_type_arg(e, a->at[0], &t->elem);
    const Ast *braces = a->at[1];
    if (braces->kind != AST_BRACES) {
        Val v = el_operand(e, braces);
        if (v.kind == VAL_POISON) return v;
        el_error(e, braces->span, DIAG_ARGUMENTS, "expected values in braces, found %s",
                 el_val_text(e, v));
        el_help(e, "as in tile(f32, {1, 2, 3, 4})");
        return EL_POISON;
    }
    good = literal_extents(e, braces, t) && good;
    if (!good || !small_enough(e, t, a->call->span)) return EL_POISON;
    return fill(e, t, braces, "the tile") ? (Val){.kind = VAL_TABLE, .table = t} : EL_POISON;
}

// ---- indices ------------------------------------------------------------------------------------

typedef struct Place {
    Val index;       // a number, or IR: a scalar or a tile
    uint32_t width;  // of a part; 0: an index
    bool whole;      // ':'
} Place;

typedef struct Reading {
    const Table *t;
    Span span;
    Place places[IR_MAX_RANK];
    Shape shape;       // of the selection
    Shape tile;        // of the tile indices together
    uint32_t tile_at;  // where their dimensions stand
    Dtype word;        // in which numbers are computed
} Reading;

static bool part_of(Elab *e, const Ast *ast, uint32_t extent, Place *p) {
    p->whole = !ast->a;
    p->width = extent;
    p->index = el_int(0);
    if (p->whole && !(extent & (extent - 1))) return true;
    if (p->whole) {
        el_error(e, ast->span, DIAG_SHAPE,
                 "':' takes an extent that is a power of two, this one is %u", extent);
        el_help(e, "select a part, as 0 +: %llu", (unsigned long long)el_next_power(extent));
        return false;
    }
    TRY(el_const_extent(e, ast->b, "the width of a part-select", DIAG_SELECT_WIDTH, &p->width));
    p->index = el_operand(e, ast->a);
    return p->index.kind != VAL_POISON;
}

static bool place_of(Elab *e, const Ast *ast, uint32_t extent, Place *p) {
    bool part = ast->kind == AST_SELECT;
    if (part) TRY(part_of(e, ast, extent, p));
    if (!part) p->index = el_operand(e, ast);
    const Ast *at = part && ast->a ? ast->a : ast;
    if (p->index.kind == VAL_POISON) return false;
    if (p->index.kind == VAL_INT) return true;
    IrValue *i = p->index.kind == VAL_IR ? p->index.ir : NULL;
    if (!i || el_is_ptr(i) || !dtype_is(el_elem(i), DTYPE_CLASS_INT)) {
        el_error(e, at->span, DIAG_INDEX, "an index must be an integer, found %s",
                 el_val_text(e, p->index));
        return false;
    }
    if (!part || !i->type->rank) return true;
    el_error(e, at->span, DIAG_INDEX, "the start of a part-select is a scalar, found %s",
             el_val_text(e, p->index));
    return false;
}

static bool read_places(Elab *e, const Table *t, const Ast *index, Reading *r) {
    uint32_t given = list_count(index->list), dim = 0;
    bool good = true;
    if (given != t->rank) {
        el_error(e, index->span, DIAG_INDEX, "%s has %u dimension%s, %u ind%s given",
                 el_val_text(e, (Val){.kind = VAL_TABLE, .table = t}), t->rank,
                 t->rank == 1 ? "" : "s", given, given == 1 ? "ex" : "ices");
        return false;
    }
    for (const Ast *ast = index->list; ast; ast = ast->next, dim++)
        good = place_of(e, ast, t->dims[dim], &r->places[dim]) && good;
    return good;
}

static IrValue *tile_index(const Place *p) {
    bool is = !p->width && p->index.kind == VAL_IR && p->index.ir->type->rank;
    return is ? p->index.ir : NULL;
}

// As of a selection of a view: tile indices go together and stand where the first of them stands.
static bool read_shape(Elab *e, Reading *r) {
    IrValue *tiles[IR_MAX_RANK];
    uint32_t dims[2 * IR_MAX_RANK], rank = 0;
    bool placed = false;
    for (uint32_t d = 0; d < r->t->rank; d++) tiles[d] = tile_index(&r->places[d]);
    TRY(el_common_shape(e, r->span, r->t->rank, tiles, &r->tile));
    for (uint32_t d = 0; d < r->t->rank; d++) {
        if (r->places[d].width) dims[rank++] = r->places[d].width;
        if (!tiles[d] || placed) continue;
        placed = true;
        r->tile_at = rank;
        for (uint32_t k = 0; k < r->tile.rank; k++) dims[rank++] = r->tile.dims[k];
    }
    TRY(el_shape_limits(e, r->span, rank, dims));
    r->shape.rank = rank;
    for (uint32_t k = 0; k < rank; k++) r->shape.dims[k] = dims[k];
    return true;
}

// ---- reads --------------------------------------------------------------------------------------

static Dtype index_word(const Place *p, uint32_t extent) {
    if (p->index.kind == VAL_INT)
        return p->index.integer < INT32_MIN || p->index.integer > INT32_MAX - extent ? DTYPE_I64
                                                                                     : DTYPE_I32;
    Dtype elem = el_elem(p->index.ir);
    return elem == DTYPE_I32 || dtype_bits(elem) < 32 ? DTYPE_I32 : DTYPE_I64;
}

static IrValue *as_word(Elab *e, const Reading *r, IrValue *i) {
    return r->word == DTYPE_I64 ? el_index_to_i64(e, i) : el_convert(e, i, DTYPE_I32);
}

// The tile of some dimensions of the selection, in its place.
static IrValue *spread(Elab *e, const Reading *r, IrValue *v, uint32_t at, const Shape *own) {
    Shape ones = {.rank = r->shape.rank};
    v = el_broadcast(e, v, own->rank, own->dims);
    for (uint32_t k = 0; k < ones.rank; k++)
        ones.dims[k] = k >= at && k < at + own->rank ? own->dims[k - at] : 1;
    if (ones.rank != own->rank) v = ir_reshape(&e->b, v, ones.rank, ones.dims);
    return el_broadcast(e, v, r->shape.rank, r->shape.dims);
}

static bool starts_at_0(const Place *p) {
    return p->index.kind == VAL_INT && p->index.integer == 0;
}

// The index of a dimension at each element of the selection; `at`: the part's dimension there.
static IrValue *index_of(Elab *e, const Reading *r, uint32_t d, uint32_t at) {
    const Place *p = &r->places[d];
    IrValue *i = p->index.kind == VAL_IR ? as_word(e, r, p->index.ir) : NULL;
    if (!p->width && tile_index(p)) return spread(e, r, i, r->tile_at, &r->tile);
    if (!i) i = ir_const_int(&e->b, r->word, (int64_t)p->index.integer);
    if (!p->width) return el_broadcast(e, i, r->shape.rank, r->shape.dims);
    Shape own = {.rank = 1, .dims = {p->width}};
    IrValue *lanes = el_convert(e, ir_iota(&e->b, p->width), r->word);
    if (!starts_at_0(p)) lanes = ir_binary(&e->b, IR_ADD, el_broadcast(e, i, 1, own.dims), lanes);
    return spread(e, r, lanes, at, &own);
}

static bool surely_inside(const Place *p, uint32_t extent) {
    if (p->index.kind != VAL_INT || p->index.integer < 0) return false;
    return p->index.integer + (p->width ? p->width : 1) <= extent;
}

static IrValue *inside_of(Elab *e, IrValue *i, uint32_t extent) {
    IrValue *low = ir_binary(&e->b, IR_GE, i, ir_const_bits(&e->b, i->type, 0));
    IrValue *high = ir_binary(&e->b, IR_LT, i, ir_const_bits(&e->b, i->type, extent));
    return ir_binary(&e->b, IR_AND, low, high);
}

// The row-major number of each element, -1 where an index is outside of its dimension.
static IrValue *numbers(Elab *e, const Reading *r) {
    IrValue *number = NULL, *inside = NULL;
    uint32_t at = 0;
    bool placed = false;
    for (uint32_t d = 0; d < r->t->rank; d++) {
        const Place *p = &r->places[d];
        IrValue *i = index_of(e, r, d, at);
        if (p->width) at++;
        if (tile_index(p) && !placed) at += r->tile.rank, placed = true;
        if (number) {
            IrValue *step = ir_const_bits(&e->b, number->type, r->t->dims[d]);
            number = ir_binary(&e->b, IR_ADD, ir_binary(&e->b, IR_MUL, number, step), i);
        } else {
            number = i;
        }
        if (surely_inside(p, r->t->dims[d])) continue;
        IrValue *fits = inside_of(e, i, r->t->dims[d]);
        inside = inside ? ir_binary(&e->b, IR_AND, inside, fits) : fits;
    }
    if (!inside) return number;
    IrValue *none = ir_const_bits(&e->b, number->type, dtype_wrap(r->word, UINT64_MAX));
    return ir_ternary(&e->b, IR_SELECT, inside, number, none);
}

// The number of the element that known indices name; false if it is outside.
static bool known_number(const Reading *r, uint32_t *number) {
    uint32_t at = 0;
    for (uint32_t d = 0; d < r->t->rank; d++) {
        const Place *p = &r->places[d];
        if (p->index.integer < 0 || p->index.integer >= r->t->dims[d]) return false;
        at = at * r->t->dims[d] + (uint32_t)p->index.integer;
    }
    *number = at;
    return true;
}

static Val read_known(Elab *e, const Reading *r) {
    uint32_t number;
    bool untyped = tile_of(e)->constant || tile_of(e)->place != EL_IN_BODY;
    bool inside = known_number(r, &number);
    if (untyped && inside) return el_table_value(r->t, number);
    if (untyped)
        return el_error(e, r->span, DIAG_CONSTANT_VALUE, "this is outside of %s",
                        el_val_text(e, (Val){.kind = VAL_TABLE, .table = r->t}));
    uint64_t bits = inside ? r->t->bits[number] : 0;
    return el_ir(ir_const_bits(&e->b, ir_scalar(e->module, r->t->elem), bits));
}

// An index as it stands is also a number.
static IrValue *plain_index(const Reading *r) {
    const Place *p = &r->places[0];
    return r->t->rank == 1 && !p->width && p->index.kind == VAL_IR ? p->index.ir : NULL;
}

Val el_table_read(Elab *e, const Table *t, const Ast *index) {
    Reading r = {.t = t, .span = index->span, .word = DTYPE_I32};
    if (index->b)
        return el_error(e, index->b->span, DIAG_PAD,
                        "a read of a table has no 'or': outside it is 0");
    if (!read_places(e, t, index, &r) || !read_shape(e, &r)) return EL_POISON;
    bool known = true;
    for (uint32_t d = 0; d < t->rank; d++) {
        Place *p = &r.places[d];
        known = known && !p->width && p->index.kind == VAL_INT;
        if (index_word(p, p->width) == DTYPE_I64) r.word = DTYPE_I64;
    }
    if (known) return read_known(e, &r);
    for (uint32_t d = 0; d < t->rank; d++) {
        Place *p = &r.places[d];
        if (p->index.kind == VAL_INT) continue;
        if (!p->width) el_check_index(e, as_word(e, &r, p->index.ir), t->dims[d]);
    }
    IrValue *plain = plain_index(&r);
    return el_ir(el_table_lookup(e, t, plain ? plain : numbers(e, &r)));
}

Val el_table_named(Elab *e, const Ast *ast) {
    const AstDecl *decl = ast->kind == AST_NAME ? ast->decl : NULL;
    if (!decl) return EL_NONE;
    if (decl->kind == DECL_CONST && decl->dims) return el_expr(e, ast);
    bool may = decl->kind == DECL_LET || decl->kind == DECL_FN_PARAM;
    Slot *slot = may ? el_slot(e, decl) : NULL;
    return slot && slot->val.kind == VAL_TABLE ? slot->val : EL_NONE;
}
