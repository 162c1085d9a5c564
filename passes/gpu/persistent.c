// gpu_persistent: a program computes several tiles, one after the other, so that the copies for the
// next tile can be in flight while it stores this one.
//
//     n = programs of the kernel's own grid         by its extents, as the grid section says
//     for t in program(0) .. n step programs(0):
//         place = position of number t in that grid, in groups as gpu_program_order says
//         … the body
//
// The launch has as many programs as run at once (compile/pipeline/launch_guard.c).
// Needs: level tile, the fact `persistent`; after gpu_program_order, whose groups it takes over.
// Keeps: every value, but for the numbers of programs, which only the body's positions use.
#include "base/facts.h"
#include "passes/gpu/gpu.h"
#include "passes/passes.h"

typedef struct Persistent {
    IrFunc *func;
    Arena *scratch;
    IrBuilder b;
    VEC(IrOp *) positions;  // the program ops of the body
    IrValue *dims[3];       // of the kernel's own grid, i64
    IrValue *place[3];      // of the tile, i64
} Persistent;

static void find_positions(Persistent *p, IrBlock *block) {
    IR_EACH_OP(op, block) {
        if (op->code == IR_PROGRAM) vec_push(p->scratch, &p->positions, op);
        for (uint32_t r = 0; r < op->region_count; r++) find_positions(p, op->regions[r]);
    }
}

// Computes the grid's extents where the builder is.
static void find_dims(Persistent *p) {
    const IrBlock *grid = ir_section(p->func, IR_GRID)->block;
    Map map = {0};
    ir_clone_block(&p->b, grid, &map, p->scratch);
    for (uint32_t d = 0; d < 3; d++) {
        p->dims[d] = NULL;
        if (d >= grid->last->operand_count) continue;
        IrValue *own = ir_operand(grid->last, d);
        uint64_t *copy = map_find(&map, map_key(own));
        p->dims[d] = copy ? (IrValue *)(uintptr_t)*copy : own;
    }
}

static IrValue *all_of(Persistent *p) {
    IrValue *all = p->dims[0];
    for (uint32_t d = 1; d < 3 && p->dims[d]; d++) all = ir_binary(&p->b, IR_MUL, all, p->dims[d]);
    return all;
}

// ---- the place of a tile ------------------------------------------------------------------------

static IrValue *u32(Persistent *p, IrValue *x) { return ir_cast(&p->b, x, DTYPE_U32, false); }
static IrValue *number(Persistent *p, int64_t n) { return ir_const_int(&p->b, DTYPE_U32, n); }
static IrValue *two(Persistent *p, IrOpcode code, IrValue *a, IrValue *b) {
    return ir_binary(&p->b, code, a, b);
}

// A position is below its extent: this keeps what is known about that.
static IrValue *position(Persistent *p, IrValue *x, IrValue *extent) {
    return two(p, IR_MIN, ir_cast(&p->b, x, DTYPE_I64, false), extent);
}

// The launch has checked that all numbers are below 2^31, so 32 bits are enough.
static void find_place(Persistent *p, IrValue *counter) {
    IrValue *t = u32(p, counter), *rows = u32(p, p->dims[0]);
    for (uint32_t d = 0; d < 3; d++) p->place[d] = NULL;
    if (!p->dims[1]) {
        p->place[0] = position(p, t, p->dims[0]);
        return;
    }
    IrValue *columns = u32(p, p->dims[1]), *rest = t, *row, *column;
    if (p->dims[2]) {
        IrValue *plane = two(p, IR_MUL, rows, columns);
        p->place[2] = position(p, two(p, IR_DIV, t, plane), p->dims[2]);
        rest = two(p, IR_REM, t, plane);
    }
    if (p->func->group) {
        IrValue *most = number(p, p->func->group), *span = two(p, IR_MUL, most, columns);
        IrValue *first = two(p, IR_MUL, two(p, IR_DIV, rest, span), most);
        IrValue *height = two(p, IR_MIN, two(p, IR_SUB, rows, first), most);
        IrValue *within = two(p, IR_REM, rest, span);
        column = two(p, IR_DIV, within, height);
        row = two(p, IR_ADD, first, two(p, IR_REM, within, height));
    } else {
        column = two(p, IR_DIV, rest, rows);
        row = two(p, IR_REM, rest, rows);
    }
    p->place[0] = position(p, row, p->dims[0]);
    p->place[1] = position(p, column, p->dims[1]);
}

static void use_place(Persistent *p) {
    IrValue *zero = ir_const_int(&p->b, DTYPE_I64, 0);
    for (size_t i = 0; i < p->positions.count; i++) {
        IrOp *op = p->positions.data[i];
        IrValue *place = p->place[ir_attr_int(op, IR_ATTR_DIM)];
        ir_replace_all(ir_result(op, 0), place ? place : zero);
        ir_erase(op);
    }
}

bool pass_gpu_persistent(IrFunc *f, PassContext *context) {
    IrBlock *body = f->is_kernel ? ir_body(f) : NULL;
    if (!body || f->level != IR_LEVEL_TILE || !(context->facts & FACT_PERSISTENT)) return false;
    Persistent p = {.func = f, .scratch = context->scratch};
    IrOp *end = body->last;
    find_positions(&p, body);
    p.b = ir_builder_before(body->first);
    p.b.span = f->span;
    find_dims(&p);
    IrValue *bounds[3] = {ir_program(&p.b, 0), all_of(&p), ir_programs(&p.b, 0)};
    IrBlock *tile = ir_block_create(f);
    IrValue *counter = ir_block_add_arg(tile, bounds[1]->type);
    p.b = ir_builder_before(end);
    p.b.span = f->span;
    IrOp *loop = ir_op(&p.b, IR_FOR, 3, bounds, 0, NULL, 1, &tile);
    p.b = ir_builder_at_end(tile);
    p.b.span = f->span;
    find_place(&p, counter);
    use_place(&p);
    for (IrOp *op = bounds[2]->def->next, *next; op != loop; op = next) {
        next = op->next;
        ir_move_to_end(op, tile);
    }
    p.b = ir_builder_at_end(tile);
    p.b.span = f->span;
    ir_yield(&p.b, 0, NULL);
    f->group = 0;
    return true;
}
