// mma.sync: products of matrices that lie over a warp's registers. Sums are
// exact and rounded once.
//
// Where element j of register r of lane l lies (PTX ISA, matrix fragments),
// with e elements in a register, g = l / 4 and t = l % 4:
//     A   row g + 8 (r % 2), column t e + j + 4e (r / 2); of 8 rows: row g,
//     column t e + j + 4e r B   row t e + j + 4e r, column g C   row g + 8 (r /
//     2), column 2t + r % 2; of f16: row g + 8r, column 2t + j
#include "sim/machine/exact.h"
#include "sim/machine/ops.h"

enum { ROWS = 16, COLUMNS = 8, DEPTH = 64 };

static uint32_t elements(SimType t) {
    unsigned bits = sim_type_bits(t);
    return t == SIM_TF32 ? 1 : bits > 31 ? 1 : 32 / bits;
}

typedef struct Fragment {
    const SimOperand *regs;
    uint32_t count;
    SimType type;
    bool is_a;
    uint32_t m;
} Fragment;

// Row and column within A (m by k), or row of k and column within B.
static void place(const Fragment *f, uint32_t r, uint32_t l, uint32_t j, uint32_t *row,
                  uint32_t *column) {
    uint32_t e = elements(f->type), g = l / 4, t = l % 4;
    if (!f->is_a) {
        *row = t * e + j + 4 * e * r, *column = g;
    } else if (f->m == 16) {
        *row = g + 8 * (r & 1), *column = t * e + j + 4 * e * (r >> 1);
    } else {
        *row = g, *column = t * e + j + 4 * e * r;
    }
}

static int32_t small_int(SimType type, uint32_t bits) {
    switch ((int)type) {
    case SIM_S8: return (int8_t)bits;
    case SIM_S4: return (int32_t)(bits << 28) >> 28;
    default: return (int32_t)bits;
    }
}

static uint32_t part_of(const SimWarp *w, const Fragment *f, uint32_t r, uint32_t l, uint32_t j) {
    uint32_t e = elements(f->type), bits = 32 / e, v = SIM_REG(w, f->regs[r], LaneU32)[l];
    return bits == 32 ? v : v >> (j * bits) & ((1u << bits) - 1);
}

// A by rows, B by rows of k; only the first k columns and rows are used.
typedef struct Floats {
    float a[ROWS * DEPTH], b[DEPTH * COLUMNS];
    uint32_t m, k;
} Floats;

// Value j of each lane's register.
SIM_CLONES static void halves(const LaneU32 *from, float *low, float *high) {
    for (uint32_t l = 0; l < SIM_LANES; l++) low[l] = sim_f16_value(from[l] & 0xffff);
    for (uint32_t l = 0; l < SIM_LANES; l++) high[l] = sim_f16_value(from[l] >> 16);
}
static void values(SimType type, const LaneU32 *from, float to[4][SIM_LANES]) {
    if (type == SIM_F16) {
        halves(from, to[0], to[1]);
        return;
    }
    uint32_t e = elements(type), bits = 32 / e;
    for (uint32_t l = 0; l < SIM_LANES; l++)
        for (uint32_t j = 0; j < e; j++) {
            uint32_t v = bits == 32 ? from[l] : from[l] >> (j * bits) & ((1u << bits) - 1);
            to[j][l] = type == SIM_BF16   ? sim_bf16_value(v)
                       : type == SIM_TF32 ? sim_f32_bits(v & 0xffffe000)
                                          : (float)sim_number_value(sim_format(type), v);
        }
}

static void read_floats(const SimWarp *w, const Fragment *f, uint32_t row_size, float *to) {
    uint32_t e = elements(f->type), row, column;
    float v[4][SIM_LANES];
    for (uint32_t r = 0; r < f->count; r++) {
        values(f->type, SIM_REG(w, f->regs[r], LaneU32), v);
        for (uint32_t l = 0; l < SIM_LANES; l++) {
            place(f, r, l, 0, &row, &column);
            float *at = to + (size_t)row * row_size + column;
            // Along k: columns of A, rows of B.
            size_t step = f->is_a ? 1 : row_size;
            for (uint32_t j = 0; j < e; j++) at[j * step] = v[j][l];
        }
    }
}

// The span of exponents of what is not zero: from the greatest down to the
// least's last bit.
SIM_CLONES static int span(const float *x, uint32_t count, int precision) {
    uint32_t most = 0, least = UINT32_MAX;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t u = sim_bits_f32(x[n]) & 0x7fffffff, v = u - 1;
        most = u > most ? u : most;
        least = v < least ? v : least;
    }
    if (!most) return 0;
    least++;
    if (most >= 0x7f800000 || least < 0x800000) return 1000;
    return (int)(most >> 23) - (int)(least >> 23) + precision;
}

static uint64_t exact_element(const Floats *f, uint32_t row, uint32_t column, double c,
                              const SimFormat *to) {
    SimExact e;
    sim_exact_clear(&e);
    sim_exact_add(&e, c, 1.0);
    for (uint32_t n = 0; n < f->k; n++)
        sim_exact_add(&e, (double)f->a[row * f->k + n], (double)f->b[n * COLUMNS + column]);
    return sim_exact_round(&e, to, SIM_RN);
}

typedef double Row[COLUMNS];

// Sums that plain double arithmetic holds whole.
SIM_CLONES static void plain_sums(const Floats *f, Row *sums) {
    double b[DEPTH][COLUMNS];
    for (uint32_t n = 0; n < f->k; n++)
        for (uint32_t c = 0; c < COLUMNS; c++) b[n][c] = (double)f->b[n * COLUMNS + c];
    for (uint32_t r = 0; r < f->m; r++) {
        Row sum = {0};
        for (uint32_t n = 0; n < f->k; n++) {
            double a = (double)f->a[r * f->k + n];
            for (uint32_t c = 0; c < COLUMNS; c++) sum[c] += a * b[n][c];
        }
        for (uint32_t c = 0; c < COLUMNS; c++) sums[r][c] = sum[c];
    }
}

// The common case: f32 in and out.
SIM_CLONES static void add_rounded(const Floats *f, Row *sums, const uint64_t *c, uint64_t *d) {
    const double *sum = &sums[0][0];
    for (uint32_t n = 0; n < f->m * COLUMNS; n++) {
        float r = (float)sim_add_odd(sum[n], (double)sim_f32_bits((uint32_t)c[n]));
        d[n] = sim_bits_f32(r == r ? r : sim_f32_bits(0x7fffffff));
    }
}

static uint64_t rounded_sum(const SimMatrixOp *op, double sum, double c) {
    double odd = sim_add_odd(sum, c);
    if (op->d == SIM_F32 && odd - odd == 0) return sim_bits_f32((float)odd);
    return sim_number_round(sim_format(op->d), odd, SIM_RN, false);
}

static void result_place(SimType d, uint32_t r, uint32_t l, uint32_t j, uint32_t *row,
                         uint32_t *column) {
    bool halves = d == SIM_F16;
    *row = l / 4 + 8 * (halves ? r : r >> 1);
    *column = 2 * (l % 4) + (halves ? j : r & 1);
}

// C and D as matrices of bits.
typedef uint64_t Bits[ROWS][COLUMNS];
static void read_c(const SimWarp *w, const SimMatrixOp *op, Bits c) {
    uint32_t row, column, e = op->c == SIM_F16 ? 2 : 1;
    for (uint32_t r = 0; r < op->c_regs; r++)
        for (uint32_t l = 0; l < SIM_LANES; l++)
            for (uint32_t j = 0; j < e; j++) {
                result_place(op->c, r, l, j, &row, &column);
                if (op->c == SIM_F64)
                    c[row][column] = SIM_REG(w, op->rc[r], LaneU64)[l];
                else
                    c[row][column] = SIM_REG(w, op->rc[r], LaneU32)[l] >> (16 * j) &
                                     (e == 2 ? 0xffff : UINT32_MAX);
            }
}
static void write_d(SimWarp *w, const SimMatrixOp *op, Bits d) {
    uint32_t row, column, e = op->d == SIM_F16 ? 2 : 1;
    for (uint32_t r = 0; r < op->d_regs; r++)
        for (uint32_t l = 0; l < SIM_LANES; l++) {
            uint64_t v = 0;
            for (uint32_t j = 0; j < e; j++) {
                result_place(op->d, r, l, j, &row, &column);
                v |= d[row][column] << (16 * j);
            }
            if (op->d == SIM_F64)
                SIM_REG(w, op->rd[r], LaneU64)[l] = v;
            else
                SIM_REG(w, op->rd[r], LaneU32)[l] = (uint32_t)v;
        }
}

// ---- Poison: a row of A, a column of B, or its own c makes an element poison
// ----

static uint32_t poison_lines(const SimWarp *w, const Fragment *f) {
    uint32_t lines = 0, row, column;
    for (uint32_t r = 0; r < f->count; r++) {
        uint32_t lanes = sim_poison_of(w, f->regs[r]);
        for (uint32_t l = 0; lanes && l < SIM_LANES; l++)
            if (lanes >> l & 1) {
                place(f, r, l, 0, &row, &column);
                lines |= 1u << (f->is_a ? row : column);
            }
    }
    return lines;
}

static void flow_poison(SimWarp *w, const SimMatrixOp *op, const Fragment *a, const Fragment *b) {
    uint32_t rows = poison_lines(w, a), columns = poison_lines(w, b), row, column;
    uint32_t out[8] = {0};
    for (uint32_t r = 0; r < op->d_regs; r++) {
        bool same = op->c == op->d;
        for (uint32_t l = 0; l < SIM_LANES; l++)
            for (uint32_t j = 0; j < 2; j++) {
                result_place(op->d, r, l, j, &row, &column);
                out[r] |= ((rows >> row & 1) | (columns >> column & 1)) << l;
            }
        for (uint32_t n = 0; n < op->c_regs; n++)
            if (!same || n == r) out[r] |= sim_poison_of(w, op->rc[n]);
    }
    for (uint32_t r = 0; r < op->d_regs; r++) sim_poison_put(w, op->rd[r], out[r]);
}

static Fragment fragment_a(const SimMatrixOp *op) {
    return (Fragment){op->ra, op->a_regs, op->a, true, op->m};
}
static Fragment fragment_b(const SimMatrixOp *op) {
    return (Fragment){op->rb, op->b_regs, op->b, false, op->m};
}

static bool whole_warp(SimWarp *w, const SimInstr *i) {
    if (w->mask == UINT32_MAX) return true;
    sim_fail(w, i, (SimFault){.kind = SIM_FAULT_USE, .mask = w->mask},
             "'%s' needs all 32 lanes of the warp, here are %08x", i->name, (unsigned)w->mask);
    return false;
}

static void float_product(SimWarp *w, const SimMatrixOp *op, const Floats *f, Bits c) {
    Row sums[ROWS];
    int bits = span(f->a, f->m * f->k, sim_format(op->a)->precision) +
               span(f->b, f->k * COLUMNS, sim_format(op->b)->precision) + 8;
    bool plain = bits <= 53;
    if (plain) plain_sums(f, sums);
    const SimFormat *from = sim_format(op->c), *to = sim_format(op->d);
    Bits d;
    bool singles = op->c == SIM_F32 && op->d == SIM_F32;
    if (plain && singles) {
        add_rounded(f, sums, &c[0][0], &d[0][0]);
        write_d(w, op, d);
        return;
    }
    for (uint32_t r = 0; r < op->m; r++)
        for (uint32_t n = 0; n < COLUMNS; n++) {
            double add = op->c == SIM_F32 ? (double)sim_f32_bits((uint32_t)c[r][n])
                                          : sim_number_value(from, c[r][n]);
            d[r][n] = plain ? rounded_sum(op, sums[r][n], add) : exact_element(f, r, n, add, to);
        }
    write_d(w, op, d);
}

static void double_product(SimWarp *w, const SimMatrixOp *op, Bits c) {
    Fragment fa = fragment_a(op), fb = fragment_b(op);
    double a[ROWS][DEPTH] = {{0}}, b[DEPTH][COLUMNS] = {{0}};
    uint32_t row, column;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        for (uint32_t r = 0; r < fa.count; r++) {
            place(&fa, r, l, 0, &row, &column);
            a[row][column] = SIM_REG(w, op->ra[r], LaneF64)[l];
        }
        for (uint32_t r = 0; r < fb.count; r++) {
            place(&fb, r, l, 0, &row, &column);
            b[row][column] = SIM_REG(w, op->rb[r], LaneF64)[l];
        }
    }
    Bits d;
    for (uint32_t r = 0; r < op->m; r++)
        for (uint32_t n = 0; n < COLUMNS; n++) {
            SimExact e;
            sim_exact_clear(&e);
            sim_exact_add(&e, sim_f64_bits(c[r][n]), 1.0);
            for (uint32_t k = 0; k < op->k; k++) sim_exact_add(&e, a[r][k], b[k][n]);
            d[r][n] = sim_exact_round(&e, &sim_f64, SIM_RN);
        }
    write_d(w, op, d);
}

void sim_matrix(SimWarp *w, const SimInstr *i) {
    const SimMatrixOp *op = i->detail;
    if (!whole_warp(w, i)) return;
    Fragment fa = fragment_a(op), fb = fragment_b(op);
    if (w->poison) flow_poison(w, op, &fa, &fb);
    Bits c;
    read_c(w, op, c);
    if (op->a == SIM_F64) {
        double_product(w, op, c);
        return;
    }
    Floats f;
    f.m = op->m, f.k = op->k;
    read_floats(w, &fa, op->k, f.a);
    read_floats(w, &fb, COLUMNS, f.b);
    float_product(w, op, &f, c);
}

void sim_matrix_int(SimWarp *w, const SimInstr *i) {
    const SimMatrixOp *op = i->detail;
    if (!whole_warp(w, i)) return;
    Fragment fa = fragment_a(op), fb = fragment_b(op);
    if (w->poison) flow_poison(w, op, &fa, &fb);
    int32_t a[ROWS][DEPTH] = {{0}}, b[DEPTH][COLUMNS] = {{0}};
    uint32_t row, column;
    for (uint32_t l = 0; l < SIM_LANES; l++) {
        for (uint32_t r = 0; r < fa.count; r++)
            for (uint32_t j = 0; j < elements(op->a); j++) {
                place(&fa, r, l, j, &row, &column);
                a[row][column] = small_int(op->a, part_of(w, &fa, r, l, j));
            }
        for (uint32_t r = 0; r < fb.count; r++)
            for (uint32_t j = 0; j < elements(op->b); j++) {
                place(&fb, r, l, j, &row, &column);
                b[row][column] = small_int(op->b, part_of(w, &fb, r, l, j));
            }
    }
    Bits c, d;
    read_c(w, op, c);
    for (uint32_t r = 0; r < op->m; r++)
        for (uint32_t n = 0; n < COLUMNS; n++) {
            int64_t sum = (int32_t)(uint32_t)c[r][n];
            for (uint32_t k = 0; k < op->k; k++) sum += (int64_t)a[r][k] * b[k][n];
            if (op->saturate) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
            d[r][n] = (uint32_t)sum;
        }
    write_d(w, op, d);
}
