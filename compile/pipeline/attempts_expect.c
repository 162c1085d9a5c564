// Predicts the facts of the first attempt from the registers that the function itself keeps live.
// With them the likely second attempt can begin on an idle processor before the first has ended.
// LLVM orders instructions differently, so this is a guess, and decides nothing.
#include "compile/pipeline/attempts.h"
#include "ir/analysis/analysis.h"
#include "passes/gpu/tuning.h"
#include "target/chip.h"

// Longer code has no second attempt before the first has ended: it would double the time of code
// that takes seconds. A remainder is about this many instructions for each element.
enum { LENGTH_MAX = 16384, REMAINDER = 128 };

typedef struct AttemptSurvey {
    const IrLiveness *live;
    int32_t *change;  // of the number of live registers, at each position
    uint64_t shared;  // bytes
    uint64_t length;  // of the code: about as many instructions
    bool multiplies;  // by the matrix unit
} AttemptSurvey;

// Registers of a lane. Scalars of one element do not count: they are addresses and counters, many
// of them the same for the whole wave.
static int32_t registers_of(const IrType *t) {
    if (t->kind == IR_PTR || !t->rank) return 0;
    uint32_t bits = dtype_bits(t->elem);
    return (int32_t)((t->count * (bits < 16 ? 16 : bits) + 31) / 32);
}

static void add_value(const AttemptSurvey *s, const IrValue *v) {
    int32_t n = registers_of(v->type);
    s->change[ir_live_begin(s->live, v)] += n;
    s->change[ir_live_end(s->live, v)] -= n;
}

static void add_shared(AttemptSurvey *s, const IrOp *op) {
    uint64_t bytes =
        (uint64_t)ir_attr_int(op, IR_ATTR_COUNT) * dtype_size((Dtype)ir_attr_int(op, IR_ATTR_ELEM));
    uint64_t end = (uint64_t)ir_attr_int(op, IR_ATTR_PLACE) + bytes;
    if (end > s->shared) s->shared = end;
}

static void add_block(AttemptSurvey *s, const IrBlock *block) {
    for (uint32_t i = 0; i < block->arg_count; i++) add_value(s, block->args[i]);
    for (const IrOp *op = block->first; op; op = op->next) {
        if (op->code == IR_THREAD_SHARED) add_shared(s, op);
        s->multiplies |= op->code == IR_THREAD_MMA;
        if (op->code != IR_CONST)
            for (uint32_t i = 0; i < op->result_count; i++) {
                add_value(s, &op->results[i]);
                s->length += op->results[i].type->count * (op->code == IR_REM ? REMAINDER : 1u);
            }
        for (uint32_t i = 0; i < op->region_count; i++) add_block(s, op->regions[i]);
    }
}

// CDNA's accumulators are vector registers, too.
static uint32_t registers_max(const Chip *chip) {
    enum { NAMED = 256 };
    return chip->generation < 10 ? chip->registers : NAMED;
}

CodegenFacts attempts_expected(Arena *arena, const AttemptProgram *program, const IrFunc *func) {
    size_t positions = 2 * (size_t)func->op_count + 2;
    AttemptSurvey s = {.live = ir_liveness(arena, func),
                       .change = arena_new(arena, int32_t, positions)};
    uint32_t most = registers_max(chip_of(program->target.gpu)), peak = 0;
    int32_t now = 0;
    add_block(&s, ir_body(func));
    if (s.length > LENGTH_MAX) return (CodegenFacts){.known = false};
    for (size_t i = 0; i < positions; i++) {
        now += s.change[i];
        if (now > (int32_t)peak) peak = (uint32_t)now;
    }
    CodegenFacts facts = {.known = true, .shared_bytes = (uint32_t)s.shared};
    facts.vectors = peak + (s.multiplies ? peak / TUNE_REGISTERS_MARGIN : 0);
    if (facts.vectors > most - most / TUNE_WAVE_NEARLY) facts.vector_spills = 1;
    if (facts.vectors > most) facts.vectors = most;
    return facts;
}
