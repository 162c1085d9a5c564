// Cells of memory through pointers: loads, stores, atomics, address arithmetic, scratch.
#include <string.h>

#include "tests/matrix/memory.h"

// ---- buffers ------------------------------------------------------------------------------------

enum { GUARD = 64 };

uint8_t *buffer_add(Matrix *m, Program *p, Dtype elem, uint64_t size) {
    Buffer *b = &p->buffers[p->buffer_count++];
    b->elem = elem;
    b->size = size + 2 * GUARD;
    b->bytes = arena_new(m->arena, uint8_t, b->size);
    b->expected = arena_new(m->arena, uint8_t, b->size);
    for (uint64_t i = 0; i < b->size; i++) b->bytes[i] = (uint8_t)matrix_random(m);
    memcpy(b->expected, b->bytes, b->size);
    return b->bytes + GUARD;
}

uint8_t *buffer_expected(const Program *p, uint32_t index) {
    return p->buffers[index].expected + GUARD;
}

uint32_t element_size(Dtype t) { return (uint32_t)(type_width(t) + 7) / 8; }

uint64_t bytes_get(Dtype t, const uint8_t *memory, uint64_t i) {
    uint32_t size = element_size(t);
    uint64_t bits = 0;
    if (type_width(t) == 4) return memory[i / 2] >> (i % 2 ? 4 : 0) & 15;
    for (uint32_t b = 0; b < size; b++) bits |= (uint64_t)memory[i * size + b] << 8 * b;
    return t == DTYPE_BOOL ? bits != 0 : bits;
}

void bytes_put(Dtype t, uint8_t *memory, uint64_t i, uint64_t bits) {
    uint32_t size = element_size(t);
    if (type_width(t) == 4) {
        unsigned half = (unsigned)(bits & 15), shift = i % 2 ? 4 : 0;
        memory[i / 2] = (uint8_t)((memory[i / 2] & ~(15U << shift)) | half << shift);
        return;
    }
    for (uint32_t b = 0; b < size; b++) memory[i * size + b] = (uint8_t)(bits >> 8 * b);
}

void program_tile(Matrix *m, Program *p, const Tile *t) {
    uint8_t *memory = buffer_add(m, p, t->elem, (uint64_t)t->count * element_size(t->elem));
    IrArg *arg = &p->args[p->arg_count++];
    int64_t stride = 1;
    *arg = (IrArg){.data = memory, .extent = {1}, .stride = {1}};
    for (uint32_t d = t->rank; d-- > 0;) {
        arg->extent[d] = t->shape[d];
        arg->stride[d] = stride;
        stride *= t->shape[d];
    }
    uint8_t *expected = buffer_expected(p, p->buffer_count - 1);
    for (uint32_t i = 0; i < t->count; i++) {
        bytes_put(t->elem, memory, i, t->bits[i]);
        bytes_put(t->elem, expected, i, t->bits[i]);
    }
}

// Memory begins as something else, so that a store that does not happen is seen.
void program_result(Matrix *m, Program *p, const Tile *t) {
    program_tile(m, p, t);
    uint8_t *memory = p->args[p->arg_count - 1].data;
    for (uint64_t i = 0; i < (uint64_t)t->count * element_size(t->elem); i++)
        memory[i] = (uint8_t)matrix_random(m);
}

// The text of a parameter that holds a tile, of its load into %value, of a store from it.
const char *tile_param(Matrix *m, const Tile *t, const char *name) {
    StrBuf out = strbuf(m->arena);
    strbuf_printf(&out, "%%%s: view %s[", name, dtype_name(t->elem));
    for (uint32_t d = 0; d < t->rank; d++) strbuf_printf(&out, "%s%u", d ? "," : "", t->shape[d]);
    strbuf_printf(&out, "%s]", t->rank ? "" : "1");
    return out.text;
}

static const char *whole_of(Matrix *m, const Tile *t) {
    StrBuf out = strbuf(m->arena);
    for (uint32_t d = 0; d < t->rank || d == 0; d++) strbuf_printf(&out, ", %%0");
    strbuf_printf(&out, " {select = [");
    for (uint32_t d = 0; d < t->rank; d++) strbuf_printf(&out, "%s%u", d ? "," : "", t->shape[d]);
    strbuf_printf(&out, "%s]}", t->rank ? "" : "0");
    return out.text;
}

const char *tile_loaded(Matrix *m, const Tile *t, const char *name, int value) {
    return matrix_text(m, "%%%d = view_load %%%s, _%s : %s\n", value, name, whole_of(m, t),
                       tile_type(m, t));
}

const char *tile_store(Matrix *m, const Tile *t, const char *name, int value) {
    return matrix_text(m, "view_store %%%s, %%%d, _%s\n", name, value, whole_of(m, t));
}

Dtype held_as(Dtype t) { return t == DTYPE_I4 ? DTYPE_I8 : t == DTYPE_U4 ? DTYPE_U8 : t; }

Tile tile_mask(Matrix *m, uint32_t rank, const uint32_t *shape, bool there) {
    if (!there) return tile_absent();
    Tile t = tile_make(m, DTYPE_BOOL, rank, shape);
    for (uint32_t i = 0; i < t.count; i++) t.bits[i] = matrix_random(m) >> 20 & 1;
    return t;
}

// ---- atomics ------------------------------------------------------------------------------------

bool rmw_fits(IrRmw rmw, Dtype t) {
    switch (rmw) {
    case IR_RMW_ADD:
    case IR_RMW_SUB:
    case IR_RMW_MIN:
    case IR_RMW_MAX: return t != DTYPE_BOOL;
    case IR_RMW_AND:
    case IR_RMW_OR:
    case IR_RMW_XOR: return !type_is_float(t);
    case IR_RMW_XCHG:
    case IR_RMW_LOAD:
    case IR_RMWS: break;
    }
    return true;
}

uint64_t rmw_result(Matrix *m, IrRmw rmw, Dtype t, uint64_t old, uint64_t x) {
    static const IrOpcode codes[] = {
        [IR_RMW_ADD] = IR_ADD, [IR_RMW_SUB] = IR_SUB, [IR_RMW_AND] = IR_AND, [IR_RMW_OR] = IR_OR,
        [IR_RMW_XOR] = IR_XOR, [IR_RMW_MIN] = IR_MIN, [IR_RMW_MAX] = IR_MAX,
    };
    if (rmw == IR_RMW_XCHG) return x;
    if (rmw == IR_RMW_LOAD) return old;
    uint64_t a[1] = {old}, b[1] = {x};
    Case c = {.code = codes[rmw], .operand_count = 2, .result_count = 1};
    c.in[0] = (Tile){.elem = t, .count = 1, .bits = a};
    c.in[1] = (Tile){.elem = t, .count = 1, .bits = b};
    c.out[0] = (Tile){.elem = t, .count = 1};
    c.want[0] = arena_new(m->arena, Answer, 1);
    reference_of(c.code)(&c);
    return c.want[0]->bits;
}

// ---- cells --------------------------------------------------------------------------------------

// A cell of pointers: lanes at places of a buffer, and tiles.
typedef struct Access {
    Dtype elem;
    Tile place, mask, x, expected, old;
    Program p;
    uint8_t *memory, *after;
} Access;

enum { PLACES = 256 };
static const int64_t far_away = INT64_C(1) << 40;

// Different places for all lanes; where the mask is off, places that must not be accessed.
static void choose_places(Matrix *m, Access *a) {
    uint32_t step = 2 * (uint32_t)(matrix_random(m) % 64) + 1, first = (uint32_t)matrix_random(m);
    for (uint32_t i = 0; i < a->place.count; i++) {
        a->place.bits[i] = (first + i * step) % PLACES;
        if (!a->mask.absent && !a->mask.bits[i])
            a->place.bits[i] = (uint64_t)(i % 2 ? far_away : -far_away);
    }
}

static Access access_make(Matrix *m, Dtype elem, Shape s, bool masked, Fill fill) {
    Access a = {.elem = elem};
    a.mask = tile_mask(m, s.rank, s.extent, masked);
    a.place = tile_shaped(m, DTYPE_I64, s);
    choose_places(m, &a);
    a.x = tile_filled(m, (int)elem, s, fill);
    a.expected = tile_filled(m, (int)elem, s, fill);
    a.old = tile_shaped(m, (int)elem, s);
    a.memory = buffer_add(m, &a.p, elem, PLACES * element_size(elem));
    a.after = buffer_expected(&a.p, 0);
    Tile held = tile_filled(m, (int)elem, (Shape){1, {PLACES}}, fill);
    for (uint32_t i = 0; i < PLACES; i++) {
        bytes_put(elem, a.memory, i, held.bits[i]);
        bytes_put(elem, a.after, i, held.bits[i]);
    }
    a.p.args[a.p.arg_count++] =
        (IrArg){.data = a.memory, .base = a.memory, .size = PLACES * element_size(elem)};
    return a;
}

static bool lane_on(const Access *a, uint32_t i) { return a->mask.absent || a->mask.bits[i]; }

// Parameters and loads in order: %1 places, %2 x, %3 mask, %4 expected; %9 pointers; `line` is the
// op, %10 its result if any.
static void access_run(Matrix *m, const char *name, Access *a, const char *line, bool result) {
    StrBuf params = strbuf(m->arena), body = strbuf(m->arena);
    const char *elem = dtype_name(a->elem);
    const struct {
        const char *name;
        const Tile *tile;
    } tiles[] = {{"n", &a->place}, {"x", &a->x}, {"m", &a->mask}, {"e", &a->expected}};
    strbuf_printf(&params, "kernel @cell(%%p: *%s", elem);
    for (int k = 0; k < 4; k++) {
        if (tiles[k].tile->absent) continue;
        strbuf_printf(&params, ", %s", tile_param(m, tiles[k].tile, tiles[k].name));
        strbuf_printf(&body, "%s", tile_loaded(m, tiles[k].tile, tiles[k].name, k + 1));
        program_tile(m, &a->p, tiles[k].tile);
    }
    Tile pointers = a->place;
    const char *shape = strchr(tile_type(m, &pointers), '[');
    if (!shape) shape = "";
    strbuf_printf(&body, "%%8 = broadcast %%p : *%s%s\n%%9 = ptr_add %%8, %%1 : *%s%s\n", elem,
                  shape, elem, shape);
    strbuf_printf(&body, "%s\n", line);
    if (result) {
        strbuf_printf(&params, ", %s", tile_param(m, &a->old, "y"));
        strbuf_printf(&body, "%s", tile_store(m, &a->old, "y", 10));
        program_result(m, &a->p, &a->old);
    }
    strbuf_printf(&params, ") { body {\n%%0 = const {value = 0} : i64\n%sreturn\n} }\n", body.text);
    a->p.text = params.text;
    matrix_program(m, name, &a->p);
}

const char *matrix_hint(Matrix *m) {
    return ir_enum_text(IR_KIND_CACHE, (int64_t)(matrix_random(m) % (IR_CACHE_L2 + 1)));
}

static void load(Matrix *m, IrOpcode code, int column) {
    for (int s = 0; s < SHAPES; s++)
        for (int variant = 0; variant < 4; variant++) {
            Shape shape = matrix_shapes[s];
            Name name = cell_name(code, column, shape, "variant %d", variant);
            if (!matrix_takes(m, code, column, name.text)) continue;
            bool masked = variant & 1, other = variant & 2;
            Access a = access_make(m, (Dtype)column, shape, masked, FILL_ANY);
            for (uint32_t i = 0; i < a.old.count; i++) {
                uint64_t pad = other ? a.x.bits[i] : 0;
                a.old.bits[i] = lane_on(&a, i) ? bytes_get(a.elem, a.memory, a.place.bits[i]) : pad;
            }
            access_run(
                m, name.text, &a,
                matrix_text(m, "%%10 = load %%9, %s, %s {cache = %s} : %s", masked ? "%3" : "_",
                            other ? "%2" : "_", matrix_hint(m), tile_type(m, &a.old)),
                true);
        }
}

static void store(Matrix *m, IrOpcode code, int column) {
    for (int s = 0; s < SHAPES; s++)
        for (int masked = 0; masked < 2; masked++) {
            Name name = cell_name(code, column, matrix_shapes[s], "masked %d", masked);
            if (!matrix_takes(m, code, column, name.text)) continue;
            Access a = access_make(m, (Dtype)column, matrix_shapes[s], masked, FILL_ANY);
            for (uint32_t i = 0; i < a.place.count; i++)
                if (lane_on(&a, i)) bytes_put(a.elem, a.after, a.place.bits[i], a.x.bits[i]);
            access_run(m, name.text, &a,
                       matrix_text(m, "store %%9, %%2, %s {cache = %s}", masked ? "%3" : "_",
                                   matrix_hint(m)),
                       false);
        }
}

static void atomic_one(Matrix *m, int column, Shape s, IrRmw rmw, int order, int scope,
                       bool masked) {
    Name name =
        cell_name(IR_ATOMIC, column, s, "%s %s %s masked %d", ir_enum_text(IR_KIND_RMW, rmw),
                  ir_enum_text(IR_KIND_ORDER, order), ir_enum_text(IR_KIND_SCOPE, scope), masked);
    if (!matrix_takes(m, IR_ATOMIC, column, name.text)) return;
    Access a = access_make(m, (Dtype)column, s, masked, FILL_TIES);
    for (uint32_t i = 0; i < a.place.count; i++) {
        if (!lane_on(&a, i)) continue;
        uint64_t old = bytes_get(a.elem, a.memory, a.place.bits[i]);
        a.old.bits[i] = old;
        bytes_put(a.elem, a.after, a.place.bits[i], rmw_result(m, rmw, a.elem, old, a.x.bits[i]));
    }
    a.p.makes_nans = rmw != IR_RMW_XCHG && rmw != IR_RMW_LOAD;
    access_run(m, name.text, &a,
               matrix_text(m, "%%10 = atomic %%9, %%2, %s {op = %s, order = %s, scope = %s} : %s",
                           masked ? "%3" : "_", ir_enum_text(IR_KIND_RMW, rmw),
                           ir_enum_text(IR_KIND_ORDER, order), ir_enum_text(IR_KIND_SCOPE, scope),
                           tile_type(m, &a.old)),
               true);
}

// Many lanes at few places: the old values are anyone's, the sum is not.
static void atomic_crowd(Matrix *m, int column, IrRmw rmw) {
    Shape s = {1, {64}};
    Name name = cell_name(IR_ATOMIC, column, s, "%s crowd", ir_enum_text(IR_KIND_RMW, rmw));
    bool rounds = type_is_float((Dtype)column) && type_width((Dtype)column) == 8;
    if (rmw == IR_RMW_XCHG || (rounds && (rmw == IR_RMW_ADD || rmw == IR_RMW_SUB))) return;
    if (!matrix_takes(m, IR_ATOMIC, column, name.text)) return;
    Access a = access_make(m, (Dtype)column, s, true, FILL_SMALL);
    for (uint32_t i = 0; i < a.place.count; i++) {
        if (!lane_on(&a, i)) continue;
        uint64_t at = a.place.bits[i] = matrix_random(m) % 4;
        bytes_put(a.elem, a.after, at,
                  rmw_result(m, rmw, a.elem, bytes_get(a.elem, a.after, at), a.x.bits[i]));
    }
    access_run(m, name.text, &a,
               matrix_text(
                   m, "%%10 = atomic %%9, %%2, %%3 {op = %s, order = relaxed, scope = device} : %s",
                   ir_enum_text(IR_KIND_RMW, rmw), tile_type(m, &a.old)),
               false);
}

static void atomic(Matrix *m, IrOpcode code, int column) {
    (void)code;
    for (int rmw = 0; rmw < IR_RMWS; rmw++) {
        if (!rmw_fits((IrRmw)rmw, (Dtype)column)) continue;
        for (int s = 0; s < SHAPES; s++)
            for (int way = 0; way < 12; way++)
                atomic_one(m, column, matrix_shapes[s], (IrRmw)rmw, way / 3, way % 3,
                           (s + way) % 2 != 0);
        atomic_crowd(m, column, (IrRmw)rmw);
    }
}

static void atomic_cas(Matrix *m, IrOpcode code, int column) {
    for (int s = 0; s < SHAPES; s++)
        for (int way = 0; way < 24; way++) {
            bool masked = way & 1;
            int order = way / 2 % 4, scope = way / 8;
            Name name = cell_name(code, column, matrix_shapes[s], "way %d", way);
            if (!matrix_takes(m, code, column, name.text)) continue;
            Access a = access_make(m, (Dtype)column, matrix_shapes[s], masked, FILL_TIES);
            for (uint32_t i = 0; i < a.place.count; i++) {
                if (!lane_on(&a, i)) continue;
                uint64_t old = bytes_get(a.elem, a.memory, a.place.bits[i]);
                if (i % 2 == 0) a.expected.bits[i] = old;
                a.old.bits[i] = old;
                if (a.expected.bits[i] == old)
                    bytes_put(a.elem, a.after, a.place.bits[i], a.x.bits[i]);
            }
            access_run(
                m, name.text, &a,
                matrix_text(m, "%%10 = atomic_cas %%9, %%4, %%2, %s {order = %s, scope = %s} : %s",
                            masked ? "%3" : "_", ir_enum_text(IR_KIND_ORDER, order),
                            ir_enum_text(IR_KIND_SCOPE, scope), tile_type(m, &a.old)),
                true);
        }
}

// Bytes between a pointer and the moved one.
static void ptr_add(Matrix *m, IrOpcode code, int column) {
    for (int s = 0; s < SHAPES; s++) {
        Name name = cell_name(code, column, matrix_shapes[s], "%s", "");
        if (!matrix_takes(m, code, column, name.text)) continue;
        Tile n = tile_filled(m, DTYPE_I64, matrix_shapes[s], FILL_ANY);
        Tile off = tile_shaped(m, DTYPE_U64, matrix_shapes[s]);
        for (uint32_t i = 0; i < n.count; i++)
            off.bits[i] = n.bits[i] * element_size((Dtype)column);
        Program p = {0};
        p.args[p.arg_count++] = (IrArg){.data = buffer_add(m, &p, (Dtype)column, 64)};
        program_tile(m, &p, &n);
        program_result(m, &p, &off);
        const char *shape = strchr(tile_type(m, &n), '[');
        const char *t = column_name(column), *u64 = tile_type(m, &off);
        if (!shape) shape = "";
        p.text = matrix_text(
            m,
            "kernel @cell(%%p: *%s, %s, %s) { body {\n%%0 = const {value = 0} : i64\n"
            "%s%%2 = broadcast %%p : *%s%s\n%%3 = ptr_add %%2, %%1 : *%s%s\n"
            "%%4 = bitcast %%2 : %s\n%%5 = bitcast %%3 : %s\n%%6 = sub %%5, %%4 : %s\n"
            "%sreturn\n} }\n",
            t, tile_param(m, &n, "n"), tile_param(m, &off, "y"), tile_loaded(m, &n, "n", 1), t,
            shape, t, shape, u64, u64, u64, tile_store(m, &off, "y", 6));
        matrix_program(m, name.text, &p);
    }
}

// Values stored in scratch are read there, element by element, after a barrier where the op has
// one.
static void scratch(Matrix *m, IrOpcode code, int column) {
    bool shared = code == IR_THREAD_SHARED;
    for (int s = 0; s < SHAPES; s++) {
        Name name = cell_name(code, column, matrix_shapes[s], "%s", "");
        if (!matrix_takes(m, code, column, name.text)) continue;
        Access a = access_make(m, (Dtype)column, matrix_shapes[s], false, FILL_ANY);
        for (uint32_t i = 0; i < a.place.count; i++) a.old.bits[i] = a.x.bits[i];
        const char *shape = strchr(tile_type(m, &a.x), '['), *t = column_name(column);
        if (!shape) shape = "";
        Program p = {0};
        program_tile(m, &p, &a.place);
        program_tile(m, &p, &a.x);
        program_result(m, &p, &a.old);
        p.text = matrix_text(
            m,
            "kernel @cell(%s, %s, %s) {level = %s} { body {\n%%0 = const {value = 0} : i64\n%s%s"
            "%%3 = %s {elem = %s, count = %d, place = 0} : *%s\n%%4 = broadcast %%3 : *%s%s\n"
            "%%5 = ptr_add %%4, %%1 : *%s%s\nstore %%5, %%2, _\n%s%%6 = load %%5, _, _ : "
            "%s\n%sreturn\n} }\n",
            tile_param(m, &a.place, "n"), tile_param(m, &a.x, "x"), tile_param(m, &a.old, "y"),
            shared ? "thread" : "cpu", tile_loaded(m, &a.place, "n", 1),
            tile_loaded(m, &a.x, "x", 2), ir_op_info(code)->text, t, PLACES, t, t, shape, t, shape,
            shared ? "thread.barrier\n" : "", tile_type(m, &a.x), tile_store(m, &a.old, "y", 6));
        matrix_program(m, name.text, &p);
    }
}

static void whole_bytes(Matrix *m, IrOpcode code, int column, Maker maker) {
    if (!dtype_is((Dtype)column, DTYPE_CLASS_PACKED)) maker(m, code, column);  // unsupported.def
}
static void make_load(Matrix *m, IrOpcode code, int column) { whole_bytes(m, code, column, load); }
static void make_store(Matrix *m, IrOpcode code, int column) {
    whole_bytes(m, code, column, store);
}
static void make_atomic(Matrix *m, IrOpcode code, int column) {
    whole_bytes(m, code, column, atomic);
}
static void make_cas(Matrix *m, IrOpcode code, int column) {
    whole_bytes(m, code, column, atomic_cas);
}
static void make_ptr_add(Matrix *m, IrOpcode code, int column) {
    whole_bytes(m, code, column, ptr_add);
}
static void make_scratch(Matrix *m, IrOpcode code, int column) {
    whole_bytes(m, code, column, scratch);
}

Maker maker_of_memory(IrRule rule) {
    switch (rule) {
    case IR_RULE_PTR_ADD: return make_ptr_add;
    case IR_RULE_LOAD: return make_load;
    case IR_RULE_STORE: return make_store;
    case IR_RULE_ATOMIC: return make_atomic;
    case IR_RULE_ATOMIC_CAS: return make_cas;
    case IR_RULE_SCRATCH: return make_scratch;
    default: return maker_of_views(rule);  // the rest are views, or not memory
    }
}
