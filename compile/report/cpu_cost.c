#include "compile/report/cpu_cost.h"

static const CpuUnitInfo infos[] = {
#define UNIT(name, key, text) {key, text},
    CPU_UNITS_LIST(UNIT)
#undef UNIT
};
const CpuUnitInfo *cpu_unit_info(CpuUnit unit) { return &infos[unit]; }

static double bytes_of(const IrType *t) {
    return (t->rank ? t->count : 1) * (double)dtype_bits(t->elem) / 8;
}

// Vector registers that a value takes.
static double registers_of(const IrType *t, const Machine *m) {
    uint32_t bytes = (uint32_t)bytes_of(t);
    return bytes <= m->vector_bytes ? 1 : (double)((bytes + m->vector_bytes - 1) / m->vector_bytes);
}

static void note_width(CpuCost *cost, const IrType *t) {
    if (t->rank && t->kind != IR_PTR && t->elem != DTYPE_BOOL &&
        (!cost->widest || bytes_of(t) > bytes_of(cost->widest)))
        cost->widest = t;
}

static void add(CpuCost *cost, CpuUnit unit, double clocks, double instructions,
                const CpuRates *rates) {
    cost->busy[unit] += clocks;
    cost->busy[CPU_UNIT_ISSUE] += instructions / rates->issued;
}

static void add_accesses(CpuCost *cost, const IrType *t, bool load, double count,
                         const CpuRates *r) {
    cost->bytes += bytes_of(t);
    if (load)
        add(cost, CPU_UNIT_LOADS, count / r->loads, r->operands ? 0 : count, r);
    else
        add(cost, CPU_UNIT_STORES, count / r->stores, count, r);
}

// Neighbouring elements.
static void add_vector(CpuCost *cost, const IrType *t, bool load, const Machine *m,
                       const CpuRates *r) {
    note_width(cost, t);
    add_accesses(cost, t, load, registers_of(t, m), r);
}

static void add_elements(CpuCost *cost, const IrType *t, bool load, const CpuRates *r) {
    add_accesses(cost, t, load, t->rank ? t->count : 1, r);
}

static void add_multiply(CpuCost *cost, const IrType *t, const Machine *m, const CpuRates *r) {
    double n = registers_of(t, m);
    note_width(cost, t);
    cost->busy[CPU_UNIT_ARITHMETIC] += n / r->arithmetic;
    add(cost, CPU_UNIT_MULTIPLY_ADDS, n / r->multiply_adds, n, r);
}

static void add_division(CpuCost *cost, const IrType *t, const Machine *m, const CpuRates *r) {
    const double narrowest = 16;  // bytes of a vector; scalars and shorter ones take as long
    double n = registers_of(t, m), bytes = bytes_of(t) > narrowest ? bytes_of(t) : narrowest;
    double clocks = dtype_bits(t->elem) > 32 ? r->divide_f64 : r->divide_f32;
    add(cost, CPU_UNIT_DIVISION, clocks * bytes / m->vector_bytes, n, r);
}

// Halves are combined: registers first, then lanes, which are shuffled.
static void add_reduction(CpuCost *cost, const IrType *t, const Machine *m, const CpuRates *r) {
    double n = registers_of(t, m);
    double lanes = (t->rank ? t->count : 1) / n, steps = 0;
    for (; lanes > 1; lanes /= 2) steps++;
    add(cost, CPU_UNIT_ARITHMETIC, (n - 1 + steps) / r->arithmetic, n - 1 + steps, r);
    add(cost, CPU_UNIT_SHUFFLES, steps / r->shuffles, steps, r);
}

static void add_arithmetic(CpuCost *cost, const IrOp *op, const Machine *m, const CpuRates *r) {
    const IrType *t = op->results[0].type;
    bool is_float = dtype_is(t->elem, DTYPE_CLASS_FLOAT);
    if (!t->rank && !is_float) {  // counters and addresses: not by the units of vectors
        cost->busy[CPU_UNIT_ISSUE] += 1 / r->issued;
        return;
    }
    if (is_float && (op->code == IR_DIV || op->code == IR_SQRT || op->code == IR_REM)) {
        add_division(cost, t, m, r);
    } else if (op->code == IR_FMA ||
               (is_float && (op->code == IR_MUL || op->code == IR_ADD || op->code == IR_SUB))) {
        add_multiply(cost, t, m, r);
    } else {
        double n = registers_of(t, m);
        note_width(cost, t);
        add(cost, CPU_UNIT_ARITHMETIC, n / r->arithmetic, n, r);
    }
}

void cpu_cost_add(CpuCost *cost, const IrOp *op, const Machine *m, const CpuRates *r) {
    const double tile_rows = 16;
    switch (op->code) {
    case IR_CPU_LOAD: add_vector(cost, op->results[0].type, true, m, r); return;
    case IR_CPU_STORE: add_vector(cost, ir_operand(op, 1)->type, false, m, r); return;
    case IR_LOAD: add_elements(cost, op->results[0].type, true, r); return;
    case IR_STORE: add_elements(cost, ir_operand(op, 1)->type, false, r); return;
    case IR_VEC_DOT2:
    case IR_CPU_DOT4: add_multiply(cost, op->results[0].type, m, r); return;
    case IR_VEC_SHUFFLE: {
        double n = registers_of(ir_operand(op, 0)->type, m);
        add(cost, CPU_UNIT_SHUFFLES, n / r->shuffles, n, r);
        return;
    }
    case IR_VEC_REDUCE: add_reduction(cost, ir_operand(op, 0)->type, m, r); return;
    case IR_CPU_TILES: {  // a row of a tile takes a clock
        int64_t rows = ir_attr_int(op, IR_ATTR_ROWS), columns = ir_attr_int(op, IR_ATTR_COLUMNS);
        add(cost, CPU_UNIT_MULTIPLY_ADDS, (double)(rows * columns) / tile_rows, 0, r);
        return;
    }
    default: break;
    }
    switch (ir_op_family(op->code)) {
    case IR_FAMILY_ARITHMETIC:
    case IR_FAMILY_COMPARE:
    case IR_FAMILY_SELECT:
    case IR_FAMILY_CAST:
    case IR_FAMILY_TABLE: add_arithmetic(cost, op, m, r); return;
    default: return;
    }
}

CpuUnit cpu_cost_bound(const CpuCost *cost) {
    CpuUnit bound = (CpuUnit)0;
    for (int i = 1; i < CPU_UNITS; i++)
        if (cost->busy[i] > cost->busy[bound]) bound = (CpuUnit)i;
    return bound;
}
