// mma.sync: converts fragments in a warp's registers to matrices and back.
//
// In one register, four lanes hold one step of a line along k: a row of A, a column of B; 16 bytes,
// for f64 32. With g = lane / 4 and t = lane % 4 (PTX ISA, matrix fragments):
//     A   row g + 8 (r % 2), step r / 2; of 8 rows: row g, step r
//     B   column g, step r
//     C   row g + 8 (r / 2), column 2t + r % 2; of f16: row g + 8r, column 2t + j
// Columns are stored in the order 0 2 4 6 1 3 5 7, so that the registers of four lanes are four
// neighbours.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "sim/machine/fragment.h"
#include "sim/machine/number/number.h"
#include "sim/machine/ops.h"
#include "sim/machine/product.h"

enum { GROUPS = SIM_LANES / 4, LINE_MAX = 128, HALF_RESULTS = SIM_RESULTS / 2 };

typedef struct Fragment {
    const SimOperand *regs;
    uint32_t count;
    SimType type;
    uint32_t halves;  // of 8 lines each
    bool columns;
} Fragment;

static Fragment fragment_a(const SimMatrixOp *op) {
    return (Fragment){op->ra, op->a_regs, op->a, op->m / 8u, false};
}
static Fragment fragment_b(const SimMatrixOp *op) {
    return (Fragment){op->rb, op->b_regs, op->b, 1, true};
}
static uint32_t line_of(const Fragment *f, uint32_t r, uint32_t g) {
    return g + 8 * (r % f->halves);
}

// Reads the lines one after another; `step` is the size of what four lanes hold.
static inline void read_steps(const SimWarp *w, const Fragment *f, uint32_t step, uint8_t *to) {
    uint32_t steps = f->count / f->halves, line = steps * step;
    for (uint32_t r = 0; r < f->count; r++) {
        const uint8_t *from = w->regs + f->regs[r].at;
        uint8_t *first = to + line_of(f, r, 0) * line + r / f->halves * step;
        for (uint32_t g = 0; g < GROUPS; g++)
            memcpy(first + (size_t)(f->columns ? sim_column_place(g) : g) * line,
                   from + (size_t)g * step, step);
    }
}
static void read_lines(const SimWarp *w, const Fragment *f, uint8_t *to) {
    if (f->type == SIM_F64)
        read_steps(w, f, 32, to);
    else
        read_steps(w, f, 16, to);
}

static inline float e4m3_value(uint32_t v) {
    // Read as a subnormal or small f32 and multiplied by 2^120: exact.
    uint32_t u = sim_bits_f32(sim_f32_bits((v & 0x7f) << 20) * 0x1p120f);
    u = (v & 0x7f) == 0x7f ? 0x7fc00000 : u;
    return sim_f32_bits(u | (v & 0x80) << 24);
}

#define EACH_VALUE(T, ...)                         \
    for (uint32_t n = 0; n < count; n++) {         \
        T v;                                       \
        memcpy(&v, from + n * sizeof v, sizeof v); \
        to[n] = __VA_ARGS__;                       \
    }
// Uses the hardware's conversion, which gcc 12 does not vectorize by itself.
#if defined(SIM_HAS_CLONES)
__attribute__((target("avx512f"))) static uint32_t halves(const uint8_t *from, uint32_t count,
                                                          float *to) {
    uint32_t n = 0;
    for (; n + 16 <= count; n += 16)
        _mm512_storeu_ps(to + n, _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(from + 2 * n))));
    return n;
}
static uint32_t quick_halves(const uint8_t *from, uint32_t count, float *to) {
    return __builtin_cpu_supports("avx512f") ? halves(from, count, to) : 0;
}
#else
static uint32_t quick_halves(const uint8_t *from, uint32_t count, float *to) {
    (void)from, (void)count, (void)to;
    return 0;
}
#endif

SIM_CLONES static void floats(SimType type, const uint8_t *from, uint32_t count, float *to) {
    switch (type) {
    case SIM_F16: EACH_VALUE(uint16_t, sim_f16_value(v)) return;
    case SIM_BF16: EACH_VALUE(uint16_t, sim_bf16_value(v)) return;
    case SIM_TF32: EACH_VALUE(uint32_t, sim_f32_bits(v & 0xffffe000)) return;
    case SIM_E5M2: EACH_VALUE(uint8_t, sim_f16_value((uint32_t)v << 8)) return;
    default: EACH_VALUE(uint8_t, e4m3_value(v)) return;
    }
}
void sim_floats_of(SimType type, const uint8_t *from, uint32_t count, float *to) {
    uint32_t done = type == SIM_F16 ? quick_halves(from, count, to) : 0;
    if (done < count) floats(type, from + (size_t)2 * done, count - done, to + done);
}
SIM_CLONES static void read_ints(SimType type, const uint8_t *from, uint32_t count, int16_t *to) {
    switch (type) {
    case SIM_S8: EACH_VALUE(int8_t, v) return;
    case SIM_U8: EACH_VALUE(uint8_t, v) return;
    default: break;
    }
    for (uint32_t n = 0; n < count; n++) {
        int v = from[n / 2] >> (4 * (n & 1)) & 15;
        to[n] = (int16_t)(type == SIM_S4 && v > 7 ? v - 16 : v);
    }
}
void sim_ints_of(SimType type, const uint8_t *from, uint32_t count, int16_t *to) {
    read_ints(type, from, count, to);
}

// ---- C and D: stored by rows ----

// The place of the four lanes of group g in register r of C.
static uint32_t result_offset(uint32_t r, uint32_t g) {
    return HALF_RESULTS * (r / 2) + SIM_COLUMNS * g + 4 * (r % 2);
}
static uint32_t half_result_offset(uint32_t r, uint32_t l, uint32_t j) {
    return HALF_RESULTS * r + SIM_COLUMNS * (l / 4) + 4 * j + l % 4;
}

void sim_results_read(const SimWarp *w, SimType type, const SimOperand *regs, uint32_t count,
                      uint32_t *c) {
    for (uint32_t r = 0; r < count; r++) {
        const LaneU32 *from = SIM_REG(w, regs[r], LaneU32);
        for (uint32_t l = 0; type == SIM_F16 && l < SIM_LANES; l++) {
            c[half_result_offset(r, l, 0)] = from[l] & 0xffff;
            c[half_result_offset(r, l, 1)] = from[l] >> 16;
        }
        for (uint32_t g = 0; type != SIM_F16 && g < GROUPS; g++)
            memcpy(c + result_offset(r, g), from + (size_t)4 * g, 16);
    }
}
void sim_results_write(SimWarp *w, SimType type, const SimOperand *regs, uint32_t count,
                       const uint32_t *d) {
    for (uint32_t r = 0; r < count; r++) {
        LaneU32 *to = SIM_REG(w, regs[r], LaneU32);
        for (uint32_t l = 0; type == SIM_F16 && l < SIM_LANES; l++)
            to[l] = d[half_result_offset(r, l, 0)] | d[half_result_offset(r, l, 1)] << 16;
        for (uint32_t g = 0; type != SIM_F16 && g < GROUPS; g++)
            memcpy(to + (size_t)4 * g, d + result_offset(r, g), 16);
    }
}

// ---- Poison: poison in the row of A, the column of B, or in c poisons an element ----

static uint32_t poison_lines(const SimWarp *w, const Fragment *f) {
    uint32_t lines = 0;
    for (uint32_t r = 0; r < f->count; r++) {
        uint32_t lanes = sim_poison_of(w, f->regs[r]);
        for (uint32_t l = 0; lanes && l < SIM_LANES; l++)
            if (lanes >> l & 1) lines |= 1u << line_of(f, r, l / 4);
    }
    return lines;
}

// The lanes whose element in register r of D is in one of the poisoned lines.
uint32_t sim_result_poison(SimType d, uint32_t r, uint32_t rows, uint32_t columns) {
    uint32_t lanes = 0;
    for (uint32_t l = 0; (rows | columns) && l < SIM_LANES; l++) {
        uint32_t row = l / 4 + 8 * (d == SIM_F16 ? r : r / 2), column = 2 * (l % 4);
        uint32_t mine = d == SIM_F16 ? 3u << column : 1u << (column + r % 2);
        lanes |= ((rows >> row & 1) | ((columns & mine) != 0)) << l;
    }
    return lanes;
}

// ---- A factor of 16 rows in four registers ----

static Fragment rows_in(const SimOperand regs[4], SimType type) {
    return (Fragment){regs, 4, type, 2, false};
}
void sim_rows_read(const SimWarp *w, const SimOperand regs[4], SimType type, uint8_t *to) {
    Fragment f = rows_in(regs, type);
    read_lines(w, &f, to);
}
uint32_t sim_rows_poison(const SimWarp *w, const SimOperand regs[4], SimType type) {
    Fragment f = rows_in(regs, type);
    return poison_lines(w, &f);
}

static void flow_poison(SimWarp *w, const SimMatrixOp *op, const Fragment *a, const Fragment *b) {
    uint32_t rows = poison_lines(w, a), columns = poison_lines(w, b), out[8];
    for (uint32_t r = 0; r < op->d_regs; r++) {
        out[r] = sim_result_poison(op->d, r, rows, columns);
        for (uint32_t n = 0; n < op->c_regs; n++)
            if (op->c != op->d || n == r) out[r] |= sim_poison_of(w, op->rc[n]);
    }
    for (uint32_t r = 0; r < op->d_regs; r++) sim_poison_put(w, op->rd[r], out[r]);
}

static bool begin(SimWarp *w, const SimInstr *i, const Fragment *a, const Fragment *b) {
    if (w->mask != UINT32_MAX) {
        sim_fail(w, i, (SimFault){.kind = SIM_FAULT_USE, .mask = w->mask},
                 "'%s' needs all 32 lanes of the warp, found %08x", i->name, (unsigned)w->mask);
        return false;
    }
    if (w->poison) flow_poison(w, i->detail, a, b);
    return true;
}

// ---- Instructions ----

void sim_matrix(SimWarp *w, const SimInstr *i) {
    const SimMatrixOp *op = i->detail;
    Fragment fa = fragment_a(op), fb = fragment_b(op);
    if (!begin(w, i, &fa, &fb)) return;
    uint8_t a[SIM_ROWS * LINE_MAX], b[SIM_COLUMNS * LINE_MAX];
    uint32_t c[SIM_RESULTS], d[SIM_RESULTS];
    read_lines(w, &fa, a), read_lines(w, &fb, b);
    sim_results_read(w, op->c, op->rc, op->c_regs, c);
    SimFloats p;
    p.m = op->m, p.k = op->k;
    sim_floats_of(op->a, a, p.m * p.k, p.a);
    sim_floats_of(op->b, b, SIM_COLUMNS * p.k, p.b);
    sim_product_floats(&p, op->a, op->b, op->c, c, op->d, d);
    sim_results_write(w, op->d, op->rd, op->d_regs, d);
}

void sim_matrix_double(SimWarp *w, const SimInstr *i) {
    const SimMatrixOp *op = i->detail;
    Fragment fa = fragment_a(op), fb = fragment_b(op);
    if (!begin(w, i, &fa, &fb)) return;
    uint8_t a[SIM_ROWS * LINE_MAX], b[SIM_COLUMNS * LINE_MAX];
    uint64_t c[SIM_RESULTS], d[SIM_RESULTS];
    read_lines(w, &fa, a), read_lines(w, &fb, b);
    SimDoubles p = {.m = op->m, .k = op->k};
    memcpy(p.a, a, sizeof(double) * p.m * p.k);
    memcpy(p.b, b, sizeof(double) * SIM_COLUMNS * p.k);
    for (uint32_t r = 0; r < op->c_regs; r++)
        for (uint32_t l = 0; l < SIM_LANES; l++)
            c[result_offset(r, l / 4) + l % 4] = SIM_REG(w, op->rc[r], LaneU64)[l];
    sim_product_doubles(&p, c, d);
    for (uint32_t r = 0; r < op->d_regs; r++)
        for (uint32_t l = 0; l < SIM_LANES; l++)
            SIM_REG(w, op->rd[r], LaneU64)[l] = d[result_offset(r, l / 4) + l % 4];
}

void sim_matrix_int(SimWarp *w, const SimInstr *i) {
    const SimMatrixOp *op = i->detail;
    Fragment fa = fragment_a(op), fb = fragment_b(op);
    if (!begin(w, i, &fa, &fb)) return;
    uint8_t a[SIM_ROWS * LINE_MAX], b[SIM_COLUMNS * LINE_MAX];
    uint32_t c[SIM_RESULTS], d[SIM_RESULTS];
    read_lines(w, &fa, a), read_lines(w, &fb, b);
    sim_results_read(w, op->c, op->rc, op->c_regs, c);
    SimInts p;
    p.m = op->m, p.k = op->k, p.saturate = op->saturate;
    sim_ints_of(op->a, a, p.m * p.k, p.a);
    sim_ints_of(op->b, b, SIM_COLUMNS * p.k, p.b);
    sim_product_ints(&p, c, d);
    sim_results_write(w, op->d, op->rd, op->d_regs, d);
}
