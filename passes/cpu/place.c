// cpu_place: where each piece of scratch memory lies. Pieces that are never needed at once share.
//
// A piece is needed from the first to the last op, of those that stand directly in the body, that
// works on a pointer into it; a loop counts as one op, so that what goes round in it stays. Pieces
// are placed in order of first need, each as low as those already placed and still needed allow.
#include <string.h>

#include "base/cpu_abi.h"
#include "passes/pass.h"
#include "passes/passes.h"

typedef struct Piece {
    IrOp *op;
    uint64_t size, place;
    uint32_t first, last;
} Piece;
typedef VEC(Piece) Pieces;

typedef struct Placing {
    Arena *scratch;
    const IrBlock *body;
    uint32_t *number;  // by op id: of the ops of the body
    Pieces pieces;
} Placing;

// The op of the body that holds the op.
static const IrOp *outermost(const Placing *p, const IrOp *op) {
    while (op->block != p->body) op = op->block->parent;
    return op;
}

static void need(Placing *p, Piece *piece, const IrValue *pointer);

static void need_here(Placing *p, Piece *piece, const IrOp *op) {
    uint32_t at = p->number[outermost(p, op)->id];
    if (at < piece->first) piece->first = at;
    if (at > piece->last) piece->last = at;
}

// A pointer that a loop or an `if` carries is followed to wherever it may come out.
static void need_carried(Placing *p, Piece *piece, const IrOp *op) {
    const IrOp *around = op->code == IR_YIELD ? op->block->parent : op;
    need_here(p, piece, around);
    for (uint32_t i = 0; i < around->result_count; i++)
        if (around->results[i].type->kind == IR_PTR) need(p, piece, &around->results[i]);
    for (uint32_t r = 0; r < around->region_count; r++)
        for (uint32_t i = 0; i < around->regions[r]->arg_count; i++) {
            const IrValue *arg = around->regions[r]->args[i];
            if (arg->type->kind != IR_PTR) continue;
            for (const IrUse *use = arg->uses; use; use = use->next) need_here(p, piece, use->user);
        }
}

static void need(Placing *p, Piece *piece, const IrValue *pointer) {
    for (const IrUse *use = pointer->uses; use; use = use->next) {
        const IrOp *op = use->user;
        need_here(p, piece, op);
        bool carried = op->region_count > 0 || op->code == IR_YIELD;
        if (carried) {
            need_carried(p, piece, op);
            continue;
        }
        for (uint32_t i = 0; i < op->result_count; i++)
            if (op->results[i].type->kind == IR_PTR) need(p, piece, &op->results[i]);
    }
}

static uint64_t bytes_of(const IrOp *op) {
    uint64_t size = dtype_size((Dtype)ir_attr_int(op, IR_ATTR_ELEM));
    uint64_t bytes = (uint64_t)ir_attr_int(op, IR_ATTR_COUNT) * size;
    return (bytes + CPU_SCRATCH_ALIGN - 1) / CPU_SCRATCH_ALIGN * CPU_SCRATCH_ALIGN;
}

static void find_pieces(Placing *p, IrBlock *block) {
    IR_EACH_OP(op, block) {
        for (uint32_t i = 0; i < op->region_count; i++) find_pieces(p, op->regions[i]);
        if (op->code != IR_CPU_SCRATCH) continue;
        Piece piece = {.op = op, .size = bytes_of(op), .first = UINT32_MAX};
        need(p, &piece, ir_result(op, 0));
        vec_push(p->scratch, &p->pieces, piece);
    }
}

static void sort_by_need(Pieces *pieces) {
    for (size_t i = 1; i < pieces->count; i++) {
        Piece piece = pieces->data[i];
        size_t k = i;
        for (; k > 0 && pieces->data[k - 1].first > piece.first; k--)
            pieces->data[k] = pieces->data[k - 1];
        pieces->data[k] = piece;
    }
}

static bool overlap(const Piece *a, const Piece *b) {
    bool time = a->first <= b->last && b->first <= a->last;
    return time && a->place < b->place + b->size && b->place < a->place + a->size;
}

// The lowest place at which nothing that is needed at the same time lies: past one that is in the
// way, again and again.
static void place_piece(Pieces *pieces, size_t i) {
    Piece *piece = &pieces->data[i];
    bool moved = true;
    while (moved) {
        moved = false;
        for (size_t k = 0; k < i; k++) {
            if (!overlap(piece, &pieces->data[k])) continue;
            piece->place = pieces->data[k].place + pieces->data[k].size;
            moved = true;
        }
    }
}

bool pass_cpu_place(IrFunc *f, PassContext *context) {
    if (!f->is_kernel || f->level != IR_LEVEL_CPU) return false;
    Placing p = {.scratch = context->scratch, .body = ir_body(f)};
    p.number = arena_new(p.scratch, uint32_t, f->op_count);
    uint32_t number = 0;
    IR_EACH_OP(op, p.body) { p.number[op->id] = number++; }
    find_pieces(&p, ir_body(f));
    sort_by_need(&p.pieces);
    bool changed = false;
    for (size_t i = 0; i < p.pieces.count; i++) {
        place_piece(&p.pieces, i);
        const Piece *piece = &p.pieces.data[i];
        changed = changed || ir_attr_int(piece->op, IR_ATTR_PLACE) != (int64_t)piece->place;
        ir_attr_set_int(piece->op, IR_ATTR_PLACE, (int64_t)piece->place);
    }
    return changed;
}
