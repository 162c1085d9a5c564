// cpu.*: vectors of the lowered level, lane by lane.
#include "ir/interp/internal.h"

// ---- views --------------------------------------------------------------------------------------

bool execute_cpu_view(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    const InterpSlot *view = operand_slot(run, frame, op, 0);
    InterpSlot *r = result_slot(run, frame, op, 0);
    const IrArg *arg = &run->launch->args[view->argument];
    if (op->code == IR_VEC_DATA) {
        slot_put_place(r, 0, (InterpPlace){(uint64_t)(uintptr_t)arg->data, view->argument + 1});
        return true;
    }
    slot_put(r, 0, (uint64_t)arg->stride[ir_attr_int(op, IR_ATTR_DIM)]);
    return true;
}

// ---- vectors ------------------------------------------------------------------------------------

// Any lane of any type: pointers are wider than bits.
static void copy_lane(InterpSlot *to, uint32_t i, const InterpSlot *from, uint32_t k) {
    copy_element(to->data + (size_t)i * to->size, from->data + (size_t)k * from->size, to->size);
}

static void reduce_lanes(InterpRun *run, const IrOp *op, const InterpSlot *x, InterpSlot *r) {
    IrOpcode code = reduce_opcode((IrReduce)ir_attr_int(op, IR_ATTR_REDUCE), x->elem);
    uint64_t *lanes = arena_new(run->scratch, uint64_t, x->count);
    for (uint32_t i = 0; i < x->count; i++) lanes[i] = slot_get(x, i);
    for (uint32_t half = x->count / 2; half; half /= 2) {
        for (uint32_t i = 0; i < half; i++) {
            uint64_t pair[2] = {lanes[i], lanes[i + half]};
            ir_eval(code, x->elem, pair, &lanes[i]);
        }
    }
    slot_put(r, 0, lanes[0]);
}

static void shuffle_lanes(const IrOp *op, const InterpSlot *a, const InterpSlot *b, InterpSlot *r) {
    const IrAttr *lanes = ir_attr(op, IR_ATTR_LANES);
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t lane = (uint32_t)lanes->u.ints.items[i];
        bool first = lane < a->count;
        copy_lane(r, i, first ? a : b, first ? lane : lane - a->count);
    }
}

float flush_subnormal(float x) { return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x; }

static float itself(float x) { return x; }

// Subnormals count as 0 if factors are bf16, as in the instruction: those of a, b and acc, and
// those of the result.
static void dot_pairs(const InterpSlot *acc, const InterpSlot *a, const InterpSlot *b,
                      InterpSlot *r) {
    float (*taken)(float) = a->elem == DTYPE_BF16 ? flush_subnormal : itself;
    for (uint32_t i = 0; i < r->count && a->elem == DTYPE_I16; i++) {
        uint32_t sum = (uint32_t)slot_get(acc, i);
        for (uint32_t k = 0; k < 2; k++)
            sum += (uint32_t)((int16_t)slot_get(a, 2 * i + k) * (int16_t)slot_get(b, 2 * i + k));
        slot_put(r, i, sum);
    }
    for (uint32_t i = 0; i < r->count && a->elem != DTYPE_I16; i++) {
        float sum = taken(dtype_to_float(DTYPE_F32, slot_get(acc, i)));
        for (uint32_t k = 2; k-- > 0;)
            sum = taken(fmaf(taken(dtype_to_float(a->elem, slot_get(a, 2 * i + k))),
                             taken(dtype_to_float(b->elem, slot_get(b, 2 * i + k))), sum));
        slot_put(r, i, dtype_from_float(DTYPE_F32, isnan(sum) ? (float)NAN : sum, true));
    }
}

static void dot_fours(const InterpSlot *acc, const InterpSlot *a, const InterpSlot *b,
                      InterpSlot *r) {
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t sum = (uint32_t)slot_get(acc, i);
        for (uint32_t k = 0; k < 4; k++) {
            int32_t product =
                (int32_t)(uint8_t)slot_get(a, 4 * i + k) * (int32_t)(int8_t)slot_get(b, 4 * i + k);
            sum += (uint32_t)product;
        }
        slot_put(r, i, sum);
    }
}

// Bounds of lowered code are those of the tile code it came from: a shadowed input makes the result
// doubtful.
void execute_cpu_vector(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    InterpSlot *x = operand_slot(run, frame, op, 0), *y = operand_slot(run, frame, op, 1);
    InterpSlot *z = operand_slot(run, frame, op, 2), *r = result_slot(run, frame, op, 0);
    if (op->code == IR_VEC_REDUCE) reduce_lanes(run, op, x, r);
    if (op->code == IR_VEC_SHUFFLE) shuffle_lanes(op, x, y, r);
    if (op->code == IR_VEC_LANE) copy_lane(r, 0, x, (uint32_t)ir_attr_int(op, IR_ATTR_LANE));
    if (op->code == IR_VEC_DOT2) dot_pairs(x, y, z, r);
    if (op->code == IR_CPU_DOT4) dot_fours(x, y, z, r);
    if (run->shadow) slot_set_undecided(run, r);
}

// ---- effects ------------------------------------------------------------------------------------

bool execute_vec_assert(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    int64_t lane = (int64_t)slot_get(operand_slot(run, frame, op, 0), 0);
    return lane < 0 || assert_failed(run, op, (uint32_t)lane);
}

// A tile in memory, as a slot of its own.
static InterpSlot tile_at(InterpRun *run, InterpPlace place, Dtype elem, uint32_t rank,
                          const int64_t *shape) {
    IrType *t = arena_new(run->scratch, IrType, 1);
    *t = (IrType){.kind = IR_TILE, .elem = elem, .rank = rank, .count = 1};
    for (uint32_t d = 0; d < rank; d++) {
        t->shape[d] = (uint32_t)shape[d];
        t->count *= t->shape[d];
    }
    InterpSlot s = {.type = t, .elem = elem, .size = (uint32_t)dtype_size(elem), .count = t->count};
    s.data = arena_alloc(run->scratch, (size_t)s.size * s.count);
    for (uint32_t i = 0; i < s.count; i++)
        slot_put(&s, i, memory_read(elem, place.address + (uint64_t)i * s.size));
    return s;
}

void execute_vec_print(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    if (!run->launch->print) return;
    StrBuf line = strbuf(run->scratch);
    const IrAttr *texts = ir_attr(op, IR_ATTR_TEXTS);
    const int64_t *shapes = ir_attr(op, IR_ATTR_SELECT)->u.ints.items;
    for (uint32_t i = 0; i < texts->u.texts.count; i++) {
        strbuf_add(&line, texts->u.texts.items[i]);
        if (i >= op->operand_count) continue;
        const InterpSlot *p = operand_slot(run, frame, op, i);
        InterpSlot tile = tile_at(run, slot_place(p, 0), p->elem, (uint32_t)shapes[0], shapes + 1);
        print_tile(&tile, 0, 0, &line);
        shapes += shapes[0] + 1;
    }
    run->launch->print(run->launch->user, strbuf_str(&line));
}
