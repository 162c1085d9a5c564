#include "passes/places.h"

// The op of the body that contains the op.
static const IrOp *outermost(const Places *p, const IrOp *op) {
    while (op->block != p->body) op = op->block->parent;
    return op;
}

enum { SWIZZLE_ALIGN = 1024 };  // of memory that wgmma reads

static void need(Places *p, Piece *piece, const IrValue *pointer);

static void need_here(Places *p, Piece *piece, const IrOp *op) {
    uint32_t at = p->number[outermost(p, op)->id];
    if (at < piece->first) piece->first = at;
    if (at > piece->last) piece->last = at;
    vec_push(p->scratch, &piece->users, op);
}

// A pointer that a loop or an `if` carries is followed to all values that it may become.
static void need_carried(Places *p, Piece *piece, const IrOp *op) {
    const IrOp *around = op->code == IR_YIELD ? op->block->parent : op;
    need_here(p, piece, around);
    piece->copied = true;  // perhaps: carried pointers are not followed that far
    for (uint32_t i = 0; i < around->result_count; i++)
        if (around->results[i].type->kind == IR_PTR) need(p, piece, &around->results[i]);
    for (uint32_t r = 0; r < around->region_count; r++)
        for (uint32_t i = 0; i < around->regions[r]->arg_count; i++) {
            const IrValue *arg = around->regions[r]->args[i];
            if (arg->type->kind != IR_PTR) continue;
            for (const IrUse *use = arg->uses; use; use = use->next) need_here(p, piece, use->user);
        }
}

static void need(Places *p, Piece *piece, const IrValue *pointer) {
    for (const IrUse *use = pointer->uses; use; use = use->next) {
        const IrOp *op = use->user;
        need_here(p, piece, op);
        if (op->code == IR_THREAD_WGMMA) piece->align = SWIZZLE_ALIGN;
        piece->copied =
            piece->copied || op->code == IR_THREAD_COPY || op->code == IR_THREAD_TMA_LOAD;
        bool carried = op->region_count > 0 || op->code == IR_YIELD;
        if (carried) {
            need_carried(p, piece, op);
            continue;
        }
        for (uint32_t i = 0; i < op->result_count; i++)
            if (op->results[i].type->kind == IR_PTR) need(p, piece, &op->results[i]);
    }
}

static uint64_t bytes_of(const Places *p, const IrOp *op) {
    uint64_t size = dtype_size((Dtype)ir_attr_int(op, IR_ATTR_ELEM));
    uint64_t bytes = (uint64_t)ir_attr_int(op, IR_ATTR_COUNT) * size;
    return (bytes + p->align - 1) / p->align * p->align;
}

static void find_pieces(Places *p, IrBlock *block) {
    IR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->region_count; i++) find_pieces(p, op->regions[i]);
        if (op->code != p->code) continue;
        Piece piece = {.op = op, .size = bytes_of(p, op), .align = p->align, .first = UINT32_MAX};
        need(p, &piece, ir_result(op, 0));
        vec_push(p->scratch, &p->pieces, piece);
    }
}

static void sort_by_need(Places *p) {
    for (size_t i = 1; i < p->pieces.count; i++) {
        Piece piece = p->pieces.data[i];
        size_t k = i;
        for (; k > 0 && p->pieces.data[k - 1].first > piece.first; k--)
            p->pieces.data[k] = p->pieces.data[k - 1];
        p->pieces.data[k] = piece;
    }
}

static bool interferes(const Places *p, const Piece *a, const Piece *b) {
    (void)p;
    return a->first <= b->last && b->first <= a->last;
}

static uint64_t aligned(uint64_t place, uint64_t align) {
    return (place + align - 1) / align * align;
}

// The lowest address that overlaps no piece needed at the same time: moved past a conflicting
// piece, again and again. `placed` are the pieces before, in order of address.
static void place_piece(Places *p, size_t i, size_t *placed) {
    Piece *piece = &p->pieces.data[i];
    size_t at = i;
    for (size_t k = 0; k < i; k++) {
        const Piece *other = &p->pieces.data[placed[k]];
        if (other->place >= piece->place + piece->size) break;
        bool ends_below = other->place + other->size <= piece->place;
        if (!ends_below && p->interferes(p, piece, other))
            piece->place = aligned(other->place + other->size, piece->align);
    }
    for (; at > 0 && p->pieces.data[placed[at - 1]].place > piece->place; at--)
        placed[at] = placed[at - 1];
    placed[at] = i;
}

Places places_find(IrFunc *f, Arena *scratch, IrOpcode code, uint64_t align) {
    Places p = {.scratch = scratch,
                .code = code,
                .align = align,
                .body = ir_body(f),
                .interferes = interferes};
    p.number = arena_new(scratch, uint32_t, f->op_count);
    uint32_t number = 0;
    IR_EACH_OP(op, p.body) { p.number[op->id] = number++; }
    find_pieces(&p, ir_body(f));
    return p;
}

bool places_assign(Places *p) {
    bool changed = false;
    size_t *placed = arena_new(p->scratch, size_t, p->pieces.count);
    sort_by_need(p);
    for (size_t i = 0; i < p->pieces.count; i++) {
        p->pieces.data[i].place = 0;
        place_piece(p, i, placed);
        const Piece *piece = &p->pieces.data[i];
        changed = changed || ir_attr_int(piece->op, IR_ATTR_PLACE) != (int64_t)piece->place;
        ir_attr_set_int(piece->op, IR_ATTR_PLACE, (int64_t)piece->place);
    }
    return changed;
}

uint64_t places_end(const Places *p) {
    uint64_t end = 0;
    for (size_t i = 0; i < p->pieces.count; i++) {
        const Piece *piece = &p->pieces.data[i];
        if (piece->place + piece->size > end) end = piece->place + piece->size;
    }
    return end;
}
