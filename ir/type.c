#include "ir/type.h"

#include "base/os/os.h"
#include "ir/ir.h"
#include "ir/layout/layout.h"

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
}

static uint64_t type_hash(const IrType *t) {
    uint64_t hash = mix(mix((uint64_t)t->kind << 8 | (uint64_t)t->elem, t->rank),
                        (uint64_t)(uintptr_t)t->layout);
    for (uint32_t i = 0; i < t->rank && t->kind != IR_VIEW; i++) hash = mix(hash, t->shape[i]);
    return hash;
}

static bool type_equal(const IrType *a, const IrType *b) {
    if (a->kind != b->kind || a->elem != b->elem || a->rank != b->rank || a->layout != b->layout) {
        return false;
    }
    return a->kind == IR_VIEW || ir_same_shape(a, b);
}

// The module's one copy. Types that collide take the keys that follow their hash.
static const IrType *type_intern(IrModule *m, const IrType *wanted) {
    uint64_t key = type_hash(wanted);
    for (;; key++) {
        uint64_t *found = map_find(&m->type_index, key);
        if (!found) break;
        const IrType *t = m->types.data[*found];
        if (type_equal(t, wanted)) return t;
    }
    IrType *made = arena_new(m->arena, IrType, 1);
    *made = *wanted;
    made->id = (uint32_t)m->types.count;
    map_put(m->arena, &m->type_index, key, made->id);
    vec_push(m->arena, &m->types, made);
    return made;
}

// The verifier reports shapes that no type may have; here they must only not overflow.
static const IrType *shaped(IrModule *m, IrTypeKind kind, Dtype elem, uint32_t rank,
                            const uint32_t *shape) {
    CHECK(rank <= IR_MAX_RANK, "a type of rank %u", rank);
    IrType t = {.kind = kind, .elem = elem, .rank = rank};
    uint64_t count = 1;
    for (uint32_t i = 0; i < rank; i++) {
        t.shape[i] = shape[i];
        count *= shape[i];
        if (count > UINT32_MAX) count = UINT32_MAX;
    }
    t.count = (uint32_t)count;
    return type_intern(m, &t);
}

const IrType *ir_tile(IrModule *m, Dtype elem, uint32_t rank, const uint32_t *shape) {
    return shaped(m, IR_TILE, elem, rank, shape);
}

const IrType *ir_ptr(IrModule *m, Dtype elem, uint32_t rank, const uint32_t *shape) {
    return shaped(m, IR_PTR, elem, rank, shape);
}

const IrType *ir_view(IrModule *m, Dtype elem, uint32_t rank) {
    CHECK(rank <= IR_MAX_RANK, "a view of rank %u", rank);
    IrType t = {.kind = IR_VIEW, .elem = elem, .rank = rank};
    return type_intern(m, &t);
}

const IrType *ir_scalar(IrModule *m, Dtype elem) {
    IrType t = {.kind = IR_TILE, .elem = elem, .count = 1};
    return type_intern(m, &t);
}

const IrType *ir_with_shape(IrModule *m, const IrType *t, uint32_t rank, const uint32_t *shape) {
    return shaped(m, t->kind, t->elem, rank, shape);
}

const IrType *ir_with_elem(IrModule *m, const IrType *t, Dtype elem) {
    IrType made = *t;
    made.elem = elem;
    return type_intern(m, &made);
}

const IrType *ir_with_layout(IrModule *m, const IrType *t, const struct IrLayout *layout) {
    IrType made = *t;
    made.layout = layout ? layout_intern(m->arena, &m->layouts, layout) : NULL;
    return type_intern(m, &made);
}

bool ir_is_scalar(const IrType *t) { return t->kind != IR_VIEW && t->rank == 0; }

bool ir_is_tile(const IrType *t, Dtype elem) { return t->kind == IR_TILE && t->elem == elem; }

bool ir_same_shape(const IrType *a, const IrType *b) {
    if (a->rank != b->rank) return false;
    for (uint32_t i = 0; i < a->rank; i++) {
        if (a->shape[i] != b->shape[i]) return false;
    }
    return true;
}

const char *ir_shape_problem(uint32_t rank, const uint64_t *shape) {
    if (rank > IR_MAX_RANK) return "has more than 8 dimensions";
    uint64_t count = 1;
    for (uint32_t i = 0; i < rank; i++) {
        if (shape[i] == 0) return "has an extent of 0";
        if ((shape[i] & (shape[i] - 1)) != 0) return "has an extent that is not a power of two";
        if (shape[i] > IR_MAX_COUNT) return "has more than 1048576 elements";
        count *= shape[i];
        if (count > IR_MAX_COUNT) return "has more than 1048576 elements";
    }
    return NULL;
}

uint32_t ir_elem_size(const IrType *t) {
    if (t->kind == IR_PTR) return 8;
    return (uint32_t)((dtype_bits(t->elem) + 7) / 8);
}

static void shape_text(const IrType *t, StrBuf *out) {
    if (t->rank == 0) return;
    for (uint32_t i = 0; i < t->rank; i++) {
        strbuf_printf(out, "%c%u", i == 0 ? '[' : ',', t->shape[i]);
    }
    strbuf_char(out, ']');
    if (t->layout) layout_bases_text(t->layout, out);
}

void ir_type_text(const IrType *t, StrBuf *out) {
    switch (t->kind) {
    case IR_TILE:
        strbuf_add(out, str(dtype_name(t->elem)));
        shape_text(t, out);
        break;
    case IR_PTR:
        strbuf_char(out, '*');
        strbuf_add(out, str(dtype_name(t->elem)));
        shape_text(t, out);
        break;
    case IR_VIEW: strbuf_printf(out, "view %s %u", dtype_name(t->elem), t->rank); break;
    }
}
