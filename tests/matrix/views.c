#include "tests/matrix/views.h"

#include <string.h>

// ---- selections ---------------------------------------------------------------------------------

void view_strides(ViewCell *v, bool strided) {
    bool packed = dtype_is(v->elem, DTYPE_CLASS_PACKED);
    int64_t step = 1;
    v->strided = strided;
    for (uint32_t d = v->rank; d-- > 0;) {
        bool innermost = d + 1 == v->rank;
        if (strided && innermost && !packed) step = 2;
        // Every other dimension runs backwards; packed elements of a row are adjacent.
        bool back = strided && (v->rank - d) % 2 == 1 && !(packed && innermost);
        v->stride[d] = back ? -step : step;
        step *= v->extent[d] < 1 ? 1 : v->extent[d];
        if (strided) step += 2;
        if (packed && step % 2) step++;
    }
}

ViewIndex view_part(uint32_t width, int64_t first) {
    return (ViewIndex){.width = width, .type = DTYPE_I64, .value = first};
}

ViewIndex view_scalar(Dtype type, int64_t value) {
    return (ViewIndex){.type = type, .value = value};
}

static Int128 index_value(const ViewIndex *index, uint32_t lane) {
    if (!index->tile) return integer_of(index->type, integer_wrap(index->type, index->value));
    return integer_of(index->type, index->values.bits[lane]);
}

// If several lanes write one element, their order is not defined: the elements inside are all
// different.
ViewIndex view_tile(Matrix *m, Dtype type, uint32_t rank, const uint32_t *shape, int64_t extent) {
    ViewIndex index = {.tile = true, .type = type, .values = tile_make(m, (int)type, rank, shape)};
    tile_fill(m, &index.values, FILL_ANY);
    uint64_t first = matrix_random(m);
    for (uint32_t i = 0; i < index.values.count; i++) {
        uint64_t *bits = &index.values.bits[i];
        Int128 any = index_value(&index, i);
        if (i % 4 != 3)
            *bits = (first % 64 + i) % (uint64_t)(extent + 1) & type_mask(type) >> 1;
        else if (any >= 0 && any < extent)
            *bits = (uint64_t)extent;
    }
    return index;
}

// The extents of all tile indices stretched together.
static Tile tiles_together(const ViewCell *v) {
    Tile t = {.count = 1};
    for (uint32_t d = 0; d < v->rank; d++) {
        const Tile *x = &v->index[d].values;
        if (!v->index[d].tile) continue;
        t.rank = x->rank;
        for (uint32_t k = 0; k < x->rank; k++)
            if (x->shape[k] > t.shape[k]) t.shape[k] = x->shape[k];
    }
    for (uint32_t k = 0; k < t.rank; k++) t.count *= t.shape[k];
    return t;
}

static void selection_shape(const ViewCell *v, ViewLanes *l, uint32_t *tile_start, Tile *tiles) {
    bool placed = false;
    *tiles = tiles_together(v);
    l->rank = 0;
    for (uint32_t d = 0; d < v->rank; d++) {
        if (v->index[d].width) l->shape[l->rank++] = v->index[d].width;
        if (!v->index[d].tile || placed) continue;
        placed = true;
        *tile_start = l->rank;
        for (uint32_t k = 0; k < tiles->rank; k++) l->shape[l->rank++] = tiles->shape[k];
    }
    l->count = 1;
    for (uint32_t k = 0; k < l->rank; k++) l->count *= l->shape[k];
}

// Lane of a tile of indices for the coordinates of the stretched whole.
static uint32_t tile_lane(const Tile *t, const uint32_t *at) {
    uint32_t lane = 0;
    for (uint32_t k = 0; k < t->rank; k++)
        lane = lane * t->shape[k] + (t->shape[k] == 1 ? 0 : at[k]);
    return lane;
}

ViewLanes *view_lanes(Matrix *m, const ViewCell *v) {
    ViewLanes *l = arena_new(m->arena, ViewLanes, 1);
    uint32_t start = 0;
    Tile tiles;
    selection_shape(v, l, &start, &tiles);
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t at[IR_MAX_RANK] = {0}, rest = i, next = 0;
        for (uint32_t k = l->rank; k-- > 0; rest /= l->shape[k]) at[k] = rest % l->shape[k];
        l->lane[i].inside = true;
        bool placed = false;
        for (uint32_t d = 0; d < v->rank; d++) {
            const ViewIndex *index = &v->index[d];
            Int128 place =
                index_value(index, index->tile ? tile_lane(&index->values, at + start) : 0);
            if (index->width) place += at[next++];
            if (index->tile && !placed) {
                placed = true;
                next += tiles.rank;
            }
            if (place < 0 || place >= v->extent[d])
                l->lane[i].inside = false;
            else
                l->lane[i].offset += (int64_t)place * v->stride[d];
        }
    }
    return l;
}

// ---- memory -------------------------------------------------------------------------------------

typedef struct ViewProgram {
    Program p;
    const ViewCell *v;
    ViewLanes *l;
    uint64_t first;  // element 0 of the view in its buffer, in elements
    uint8_t *memory, *after;
    StrBuf params, body, operands, select;
    Tile shape;  // the selection's, of what its elements are read as
} ViewProgram;

static void view_memory(Matrix *m, ViewProgram *w) {
    const ViewCell *v = w->v;
    int64_t low = 0, high = 0;
    for (uint32_t d = 0; d < v->rank; d++) {
        int64_t reach = v->extent[d] > 0 ? (v->extent[d] - 1) * v->stride[d] : 0;
        if (reach < 0) low += reach;
        if (reach > 0) high += reach;
    }
    low -= low & 1;  // packed elements begin with a byte
    uint64_t count = (uint64_t)(high - low + 1);
    bool packed = dtype_is(v->elem, DTYPE_CLASS_PACKED);
    uint64_t size = packed ? (count + 1) / 2 : count * element_size(v->elem);
    w->memory = buffer_add(m, &w->p, v->elem, size);
    w->after = buffer_expected(&w->p, 0);
    w->first = (uint64_t)-low;
    uint64_t skipped = packed ? w->first / 2 : w->first * element_size(v->elem);
    IrArg *arg = &w->p.args[w->p.arg_count++];
    *arg = (IrArg){.data = w->memory + skipped, .base = w->memory, .size = size};
    for (uint32_t d = 0; d < v->rank; d++) {
        arg->extent[d] = v->extent[d];
        arg->stride[d] = v->stride[d];
    }
}

static uint64_t place_of(const ViewProgram *w, uint32_t lane) {
    return w->first + (uint64_t)w->l->lane[lane].offset;
}

// The value of a lane, as a tile has it: packed elements extended.
static uint64_t held(const ViewProgram *w, const uint8_t *memory, uint32_t lane) {
    uint64_t bits = bytes_get(w->v->elem, memory, place_of(w, lane));
    Dtype t = w->v->elem;
    return type_width(t) == 4 ? integer_wrap(held_as(t), integer_of(t, bits)) : bits;
}

static void index_text(Matrix *m, ViewProgram *w, uint32_t d) {
    const ViewIndex *index = &w->v->index[d];
    if (index->tile) {
        const char *name = matrix_text(m, "i%u", d);
        strbuf_printf(&w->params, ", %s", tile_param(m, &index->values, name));
        strbuf_printf(&w->body, "%s", tile_loaded(m, &index->values, name, 10 + (int)d));
        strbuf_printf(&w->operands, ", %%%u", 10 + d);
        program_tile(m, &w->p, &index->values);
    } else {
        strbuf_printf(&w->params, ", %%i%u: %s", d, dtype_name(index->type));
        strbuf_printf(&w->operands, ", %%i%u", d);
        w->p.args[w->p.arg_count++] = (IrArg){.bits = integer_wrap(index->type, index->value)};
    }
}

// Is every lane's place in this dimension inside?
static bool dimension_inside(const ViewCell *v, uint32_t d) {
    const ViewIndex *index = &v->index[d];
    uint32_t count = index->tile ? index->values.count : 1;
    for (uint32_t i = 0; i < count; i++) {
        Int128 place = index_value(index, i), last = place + (index->width ? index->width - 1 : 0);
        if (place < 0 || last >= v->extent[d]) return false;
    }
    return true;
}

static ViewProgram view_begin(Matrix *m, const ViewCell *v, bool marks) {
    ViewProgram w = {.v = v, .l = view_lanes(m, v)};
    w.params = strbuf(m->arena);
    w.body = strbuf(m->arena);
    w.operands = strbuf(m->arena);
    w.select = strbuf(m->arena);
    w.shape = tile_make(m, (int)held_as(v->elem), w.l->rank, w.l->shape);
    view_memory(m, &w);
    strbuf_printf(&w.params, "kernel @cell(%%v: %sview %s[", v->strided ? "strided " : "",
                  dtype_name(v->elem));
    for (uint32_t d = 0; d < v->rank; d++)
        strbuf_printf(&w.params, "%s%lld", d ? ", " : "", (long long)v->extent[d]);
    strbuf_printf(&w.params, "]");
    strbuf_printf(&w.body, "%%0 = const {value = 0} : i64\n");
    strbuf_printf(&w.select, "select = [");
    for (uint32_t d = 0; d < v->rank; d++) {
        index_text(m, &w, d);
        strbuf_printf(&w.select, "%s%u", d ? ", " : "", v->index[d].width);
    }
    strbuf_printf(&w.select, "]");
    if (!marks) return w;
    strbuf_printf(&w.select, ", inside = [");
    for (uint32_t d = 0; d < v->rank; d++)
        strbuf_printf(&w.select, "%s%d", d ? ", " : "", v->inside_marked && dimension_inside(v, d));
    strbuf_printf(&w.select, "]");
    return w;
}

static void view_operand(Matrix *m, ViewProgram *w, const Tile *t, const char *name, int value) {
    if (t->absent) return;
    strbuf_printf(&w->params, ", %s", tile_param(m, t, name));
    strbuf_printf(&w->body, "%s", tile_loaded(m, t, name, value));
    program_tile(m, &w->p, t);
}

static void view_end(Matrix *m, const char *name, ViewProgram *w, const char *line,
                     const Tile *result) {
    strbuf_printf(&w->body, "%s\n", line);
    if (result) {
        strbuf_printf(&w->params, ", %s", tile_param(m, result, "y"));
        strbuf_printf(&w->body, "%s", tile_store(m, result, "y", 30));
        program_result(m, &w->p, result);
    }
    w->p.text = matrix_text(m, "%s) { body {\n%sreturn\n} }\n", w->params.text, w->body.text);
    matrix_program(m, name, &w->p);
}

// ---- the ops ------------------------------------------------------------------------------------

void view_read(Matrix *m, const char *name, const ViewCell *v, bool pad) {
    ViewProgram w = view_begin(m, v, true);
    Tile y = w.shape, padding = tile_make(m, (int)y.elem, 0, NULL);
    tile_fill(m, &padding, FILL_ANY);
    if (pad) view_operand(m, &w, &padding, "pad", 20);
    for (uint32_t i = 0; i < y.count; i++)
        y.bits[i] = w.l->lane[i].inside ? held(&w, w.memory, i) : pad ? padding.bits[0] : 0;
    view_end(m, name, &w,
             matrix_text(m, "%%30 = view_load %%v, %s%s {%s, cache = %s} : %s", pad ? "%20" : "_",
                         w.operands.text, w.select.text, matrix_hint(m), tile_type(m, &y)),
             &y);
}

// Two lanes at one place: which value stays is unspecified, so they are given the same.
static void same_where_same(const ViewProgram *w, Tile *x) {
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (w->l->lane[i].inside && w->l->lane[j].inside &&
                w->l->lane[i].offset == w->l->lane[j].offset)
                x->bits[i] = x->bits[j];
}

// Lanes that share their place with an earlier one are masked off: for atomics.
static void alone(const ViewProgram *w, Tile *mask) {
    for (uint32_t i = 0; i < mask->count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (w->l->lane[i].inside && w->l->lane[j].inside &&
                w->l->lane[i].offset == w->l->lane[j].offset)
                mask->bits[i] = 0;
}

static bool has_doubles(const ViewProgram *w) {
    for (uint32_t i = 0; i < w->l->count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (w->l->lane[i].inside && w->l->lane[j].inside &&
                w->l->lane[i].offset == w->l->lane[j].offset)
                return true;
    return false;
}

static bool written(const ViewProgram *w, const Tile *mask, uint32_t i) {
    return w->l->lane[i].inside && (mask->absent || mask->bits[i]);
}

void view_write(Matrix *m, const char *name, const ViewCell *v, bool masked) {
    ViewProgram w = view_begin(m, v, true);
    Tile x = w.shape, mask = tile_mask(m, x.rank, x.shape, masked);
    tile_fill(m, &x, FILL_ANY);
    same_where_same(&w, &x);
    view_operand(m, &w, &x, "x", 20);
    view_operand(m, &w, &mask, "m", 21);
    for (uint32_t i = 0; i < x.count; i++)
        if (written(&w, &mask, i)) bytes_put(v->elem, w.after, place_of(&w, i), x.bits[i]);
    view_end(m, name, &w,
             matrix_text(m, "view_store %%v, %%20, %s%s {%s, cache = %s}", masked ? "%21" : "_",
                         w.operands.text, w.select.text, matrix_hint(m)),
             NULL);
}

// Elements of the view that arithmetic has an answer for without doubt.
static void tame_memory(Matrix *m, ViewProgram *w) {
    for (uint32_t i = 0; i < w->l->count; i++) {
        if (!w->l->lane[i].inside) continue;
        uint64_t bits = element_small(w->v->elem, (int64_t)(matrix_random(m) % 5));
        bytes_put(w->v->elem, w->memory, place_of(w, i), bits);
        bytes_put(w->v->elem, w->after, place_of(w, i), bits);
    }
}

void view_rmw(Matrix *m, const char *name, const ViewCell *v, IrRmw rmw, int order, int scope,
              bool masked) {
    ViewProgram w = view_begin(m, v, true);
    masked = masked || has_doubles(&w);
    Tile x = w.shape, old = tile_make(m, (int)x.elem, x.rank, x.shape);
    Tile mask = tile_mask(m, x.rank, x.shape, masked);
    if (masked) alone(&w, &mask);
    tame_memory(m, &w);
    tile_fill(m, &x, FILL_SMALL);
    view_operand(m, &w, &x, "x", 20);
    view_operand(m, &w, &mask, "m", 21);
    for (uint32_t i = 0; i < x.count; i++) {
        if (!written(&w, &mask, i)) continue;
        old.bits[i] = held(&w, w.memory, i);
        bytes_put(v->elem, w.after, place_of(&w, i),
                  rmw_result(m, rmw, v->elem, old.bits[i], x.bits[i]));
    }
    view_end(m, name, &w,
             matrix_text(
                 m, "%%30 = view_atomic %%v, %%20, %s%s {%s, op = %s, order = %s, scope = %s} : %s",
                 masked ? "%21" : "_", w.operands.text, w.select.text,
                 ir_enum_text(IR_KIND_RMW, rmw), ir_enum_text(IR_KIND_ORDER, order),
                 ir_enum_text(IR_KIND_SCOPE, scope), tile_type(m, &old)),
             &old);
}

void view_cas(Matrix *m, const char *name, const ViewCell *v, int order, int scope, bool masked) {
    ViewProgram w = view_begin(m, v, true);
    masked = masked || has_doubles(&w);
    Tile x = w.shape, old = tile_make(m, (int)x.elem, x.rank, x.shape);
    Tile expected = tile_make(m, (int)x.elem, x.rank, x.shape);
    Tile mask = tile_mask(m, x.rank, x.shape, masked);
    if (masked) alone(&w, &mask);
    tame_memory(m, &w);
    tile_fill(m, &x, FILL_ANY);
    tile_fill(m, &expected, FILL_SMALL);
    for (uint32_t i = 0; i < x.count; i++) {
        if (!written(&w, &mask, i)) continue;
        old.bits[i] = held(&w, w.memory, i);
        if (i % 2 == 0) expected.bits[i] = old.bits[i];
        if (expected.bits[i] == old.bits[i])
            bytes_put(v->elem, w.after, place_of(&w, i), x.bits[i]);
    }
    view_operand(m, &w, &expected, "e", 22);
    view_operand(m, &w, &x, "x", 20);
    view_operand(m, &w, &mask, "m", 21);
    view_end(
        m, name, &w,
        matrix_text(m, "%%30 = view_cas %%v, %%22, %%20, %s%s {%s, order = %s, scope = %s} : %s",
                    masked ? "%21" : "_", w.operands.text, w.select.text,
                    ir_enum_text(IR_KIND_ORDER, order), ir_enum_text(IR_KIND_SCOPE, scope),
                    tile_type(m, &old)),
        &old);
}

void view_inside(Matrix *m, const char *name, const ViewCell *v) {
    ViewProgram w = view_begin(m, v, false);
    Tile y = tile_make(m, DTYPE_BOOL, w.l->rank, w.l->shape);
    for (uint32_t i = 0; i < y.count; i++) y.bits[i] = w.l->lane[i].inside;
    view_end(m, name, &w,
             matrix_text(m, "%%30 = view_inside %%v%s {%s} : %s", w.operands.text, w.select.text,
                         tile_type(m, &y)),
             &y);
}
