// Matrix products: which lane holds which element, and the products themselves.
//
// The maps are those of AMD's instruction set documents. MFMA: a lane's number is line + m * (block
// + blocks * group), and group g holds e elements from depth g * e on. Results of f32 and i32 are
// in groups of four registers, one for each of four rows. WMMA on gfx11: both halves of the wave
// hold all of a line, and rows alternate between the halves. On gfx12 each half has half of the
// depth and half of the rows.
#include <string.h>

#include "sim/amd/matrix.h"
#include "sim/machine/number/exact.h"
#include "sim/machine/product.h"

enum { LINES_MAX = 64, DEPTH = 128, RESULTS_MAX = 2048 };

// ---- Maps ----

AmdCell amd_matrix_operand(const AmdMatrix *m, uint32_t lines, uint32_t lane, uint32_t element) {
    if (m->form) {
        uint32_t half = m->form == 11 ? 0 : m->k / 2;
        return (AmdCell){0, lane % 16, lane / 16 * half + element};
    }
    uint32_t groups = 64 / (lines * m->blocks), each = m->k / groups;
    return (AmdCell){lane / lines % m->blocks, lane % lines,
                     lane / (lines * m->blocks) * each + element};
}

uint32_t amd_matrix_elements(const AmdMatrix *m, uint32_t lines) {
    if (m->form) return m->form == 11 ? m->k : m->k / 2u;
    return m->k * lines * m->blocks / 64;
}

static AmdCell result_f64(const AmdMatrix *m, uint32_t lane, uint32_t n) {
    if (m->m == 16) return (AmdCell){0, 4 * n + lane / 16, lane % 16};
    return (AmdCell){lane / 4 % 4, lane / 16, lane % 4};
}

AmdCell amd_matrix_result(const AmdMatrix *m, uint32_t lane, uint32_t n) {
    if (m->form == 11) return (AmdCell){0, 2 * n + lane / 16, lane % 16};
    if (m->form) return (AmdCell){0, 8 * (lane / 16) + n, lane % 16};
    if (m->c == AMD_E_F64) return result_f64(m, lane, n);
    switch (m->m) {
    case 32: return (AmdCell){n / 16, 8 * (n / 4 % 4) + 4 * (lane / 32) + n % 4, lane % 32};
    case 16: return (AmdCell){n / 4, 4 * (lane / 16) + n % 4, lane % 16};
    default: return (AmdCell){lane / 4, n % 4, lane % 4};
    }
}

// ---- Elements ----

static uint64_t bits_at(const AmdWave *w, const AmdOperand *o, uint32_t element, uint32_t bits,
                        uint32_t l, bool poison) {
    uint32_t at = element * bits, word = at / 32, shift = at % 32;
    uint64_t v = poison ? amd_word_poison(w, o, word, l) : amd_word(w, o, word, l);
    if (shift + bits > 32 && word + 1 < o->words)
        v |= (uint64_t)(poison ? amd_word_poison(w, o, word + 1, l) : amd_word(w, o, word + 1, l))
             << 32;
    v >>= shift;
    return bits == 64 ? v : v & ((UINT64_C(1) << bits) - 1);
}

static bool any_poison(const AmdWave *w, const AmdOperand *o) {
    uint32_t any = 0;
    for (uint32_t n = 0; o->kind == AMD_VECTOR && n < o->words; n++) any |= w->dirty[o->number + n];
    return any != 0;
}

static const SimFormat e4m3_fnuz = {8, 4, 8, 0x7f, 0, 0};
static const SimFormat e5m2_fnuz = {8, 3, 16, 0x7f, 0, 0};

static double value8(const AmdWave *w, bool is_bf8, uint64_t bits) {
    bool fnuz = w->kernel->processor == 0x942;
    if (!fnuz) return sim_number_value(is_bf8 ? &sim_e5m2 : &sim_e4m3, bits);
    if (bits == 0x80) return (double)sim_f32_bits(0x7fc00000);
    return sim_number_value(is_bf8 ? &e5m2_fnuz : &e4m3_fnuz, bits);
}

// gfx90a treats denormal halves as zeros.
static float half_value(const AmdWave *w, uint32_t element, uint32_t h) {
    bool bf16 = element == AMD_E_BF16;
    if (w->kernel->processor == 0x90a && !(h & (bf16 ? 0x7f80 : 0x7c00))) h &= 0x8000;
    return bf16 ? sim_bf16_value(h) : sim_f16_value(h);
}

static double value_of(const AmdWave *w, uint32_t element, uint64_t bits) {
    switch ((AmdElement)element) {
    case AMD_E_F64: return sim_f64_bits(bits);
    case AMD_E_F32: return (double)sim_f32_bits((uint32_t)bits);
    case AMD_E_XF32: return (double)sim_f32_bits((uint32_t)bits & 0xffffe000);
    case AMD_E_F16:
    case AMD_E_BF16: return (double)half_value(w, element, (uint32_t)bits);
    case AMD_E_FP8: return value8(w, false, bits);
    case AMD_E_BF8: return value8(w, true, bits);
    case AMD_E_F6: return sim_number_value(&sim_e2m3, bits);
    case AMD_E_BF6: return sim_number_value(&sim_e3m2, bits);
    case AMD_E_F4: return sim_number_value(&sim_e2m1, bits);
    case AMD_E_I8:
    case AMD_E_I4:
    case AMD_E_I32: break;
    }
    return 0;
}

// The type with the precision of the elements, for product.h.
static SimType type_of(uint32_t element) {
    switch ((AmdElement)element) {
    case AMD_E_F32: return SIM_F32;
    case AMD_E_XF32: return SIM_TF32;
    case AMD_E_F16: return SIM_F16;
    case AMD_E_BF16: return SIM_BF16;
    case AMD_E_BF8: return SIM_E5M2;
    case AMD_E_FP8:
    case AMD_E_F6:
    case AMD_E_BF6:
    case AMD_E_F4: return SIM_E4M3;
    case AMD_E_F64:
    case AMD_E_I8:
    case AMD_E_I4:
    case AMD_E_I32: break;
    }
    return SIM_F32;
}

static int16_t integer_of(uint32_t element, bool sign, uint64_t bits) {
    if (element == AMD_E_I8) return sign ? (int8_t)bits : (int16_t)bits;
    return (int16_t)(sign && bits & 8 ? (int)bits - 16 : (int)bits);
}

// ---- A product ----

typedef struct MatrixLines {
    double at[LINES_MAX][DEPTH];  // line `line` of block b is at b * lines + line
    uint8_t poison[LINES_MAX];
} MatrixLines;

typedef struct MatrixProduct {
    MatrixLines a, b;
    uint64_t c[RESULTS_MAX], d[RESULTS_MAX];
    uint8_t poison[RESULTS_MAX];
} MatrixProduct;

static double scale_of(const AmdWave *w, const AmdOperand *o, uint32_t byte, uint32_t lane) {
    uint32_t e = amd_word(w, o, 0, lane) >> (8 * byte) & 255;
    return sim_number_value(&sim_f32, e ? (uint64_t)e << 23 : 0x00400000);
}

static void read_lines(const AmdWave *w, const AmdInstr *i, const AmdMatrix *m, bool second,
                       MatrixLines *to) {
    uint32_t lines = second ? m->n : m->m, element = second ? m->b : m->a;
    uint32_t bits = amd_element_bits(element), count = amd_matrix_elements(m, lines);
    const AmdOperand *o = &i->s[second], *scale = second ? &m->b_scale : &m->a_scale;
    bool integer = m->c == AMD_E_I32, sign = second ? m->b_signed : m->a_signed;
    // WMMA can negate halves by neg_lo and neg_hi; compiled kernels do not use it.
    memset(to->poison, 0, sizeof to->poison);
    bool dirty = any_poison(w, o);
    for (uint32_t l = 0; l < w->lanes; l++) {
        double factor = m->scaled ? scale_of(w, scale, second ? m->b_byte : m->a_byte, l) : 1;
        for (uint32_t e = 0; e < count; e++) {
            AmdCell cell = amd_matrix_operand(m, lines, l, e);
            uint32_t line = cell.block * lines + cell.row;
            uint64_t v = bits_at(w, o, e, bits, l, false);
            to->at[line][cell.column] =
                integer ? integer_of(element, sign, v) : factor * value_of(w, element, v);
            if (dirty && bits_at(w, o, e, bits, l, true)) to->poison[line] = 1;
        }
        if (m->scaled && amd_word_poison(w, scale, 0, l))
            to->poison[amd_matrix_operand(m, lines, l, 0).row] = 1;
    }
}

typedef struct MatrixPlace {
    uint32_t word, shift, bits;
} MatrixPlace;

// The register and bits of a lane's n-th result.
static MatrixPlace matrix_place(const AmdMatrix *m, uint32_t n) {
    uint32_t bits = amd_element_bits(m->c);
    if (bits == 64) return (MatrixPlace){2 * n, 0, 64};
    if (bits == 32) return (MatrixPlace){n, 0, 32};
    if (m->form == 11) return (MatrixPlace){n, m->high ? 16 : 0, 16};
    return (MatrixPlace){n / 2, n % 2 * 16, 16};
}

static uint32_t results_of(const AmdWave *w, const AmdMatrix *m) {
    return (uint32_t)(m->blocks * m->m * m->n) / w->lanes;
}
static uint32_t index_of(const AmdMatrix *m, AmdCell c) {
    return (c.block * m->m + c.row) * m->n + c.column;
}

static void read_sums(const AmdWave *w, const AmdInstr *i, const AmdMatrix *m, MatrixProduct *p) {
    const AmdOperand *o = &i->s[2];
    bool dirty = any_poison(w, o);
    for (uint32_t l = 0; l < w->lanes; l++)
        for (uint32_t n = 0; n < results_of(w, m); n++) {
            MatrixPlace at = matrix_place(m, n);
            AmdCell cell = amd_matrix_result(m, l, n);
            uint32_t to = index_of(m, cell);
            uint64_t v = o->value, poison = 0;
            if (o->kind == AMD_VECTOR) {
                uint32_t element = (at.word * 32 + at.shift) / at.bits;
                v = bits_at(w, o, element, at.bits, l, false);
                poison = dirty ? bits_at(w, o, element, at.bits, l, true) : 0;
            }
            p->c[to] = v;
            p->poison[to] = poison != 0 || p->a.poison[cell.block * m->m + cell.row] ||
                            p->b.poison[cell.block * m->n + cell.column];
        }
}

static uint64_t canonical(uint32_t element, uint64_t d) {
    if (element == AMD_E_F16) return (d & 0x7fff) > 0x7c00 ? 0x7e00 : d;
    return (d & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : d;
}

// Tiles of SIM_ROWS by SIM_COLUMNS, at most SIM_DEPTH deep. Elements of deeper ones are summed
// exactly, one by one.
static uint64_t exact_element(const AmdMatrix *m, const double *a, const double *b, uint64_t c) {
    const SimFormat *f = m->c == AMD_E_F64    ? &sim_f64
                         : m->c == AMD_E_BF16 ? &sim_bf16
                         : m->c == AMD_E_F16  ? &sim_f16
                                              : &sim_f32;
    SimExact e;
    sim_exact_clear(&e);
    sim_exact_add(&e, sim_number_value(f, c), 1.0);
    for (uint32_t k = 0; k < m->k; k++) sim_exact_add(&e, a[k], b[k]);
    uint64_t d = sim_exact_round(&e, f, SIM_RN);
    if (m->c == AMD_E_BF16) return (d & 0x7fff) > 0x7f80 ? 0x7fc0 : d;
    return m->c == AMD_E_F64 ? d : canonical(m->c, d);
}

static void multiply_exactly(const AmdMatrix *m, uint32_t block, MatrixProduct *p) {
    for (uint32_t r = 0; r < m->m; r++)
        for (uint32_t c = 0; c < m->n; c++) {
            uint32_t at = (block * m->m + r) * m->n + c;
            p->d[at] =
                exact_element(m, p->a.at[block * m->m + r], p->b.at[block * m->n + c], p->c[at]);
        }
}

static void fill_tile(const AmdMatrix *m, const MatrixProduct *p, uint32_t block, uint32_t row,
                      uint32_t column, SimFloats *f, uint32_t *c) {
    f->m = m->m < SIM_ROWS ? m->m : SIM_ROWS, f->k = m->k;
    memset(c, 0, SIM_RESULTS * sizeof *c);
    for (uint32_t r = 0; r < f->m; r++)
        for (uint32_t k = 0; k < m->k; k++)
            f->a[r * m->k + k] = (float)p->a.at[block * m->m + row + r][k];
    for (uint32_t n = 0; n < SIM_COLUMNS; n++) {
        bool there = column + n < m->n;
        for (uint32_t k = 0; k < m->k; k++)
            f->b[n * m->k + k] = there ? (float)p->b.at[block * m->n + column + n][k] : 0;
        for (uint32_t r = 0; there && r < f->m; r++)
            c[r * SIM_COLUMNS + n] = (uint32_t)p->c[(block * m->m + row + r) * m->n + column + n];
    }
}

static void multiply_floats(const AmdMatrix *m, uint32_t block, MatrixProduct *p) {
    SimFloats f;
    uint32_t c[SIM_RESULTS], d[SIM_RESULTS];
    SimType sum = m->c == AMD_E_F16 ? SIM_F16 : SIM_F32;
    for (uint32_t row = 0; row < m->m; row += SIM_ROWS)
        for (uint32_t column = 0; column < m->n; column += SIM_COLUMNS) {
            fill_tile(m, p, block, row, column, &f, c);
            sim_product_floats(&f, type_of(m->a), type_of(m->b), sum, c, sum, d);
            for (uint32_t r = 0; r < f.m; r++)
                for (uint32_t n = 0; n < SIM_COLUMNS && column + n < m->n; n++)
                    p->d[(block * m->m + row + r) * m->n + column + n] =
                        canonical(m->c, d[r * SIM_COLUMNS + n]);
        }
}

static void multiply_ints(const AmdMatrix *m, uint32_t block, MatrixProduct *p) {
    for (uint32_t r = 0; r < m->m; r++)
        for (uint32_t c = 0; c < m->n; c++) {
            const double *a = p->a.at[block * m->m + r], *b = p->b.at[block * m->n + c];
            uint32_t at = (block * m->m + r) * m->n + c;
            int64_t sum = 0;
            for (uint32_t k = 0; k < m->k; k++) sum += (int64_t)(a[k] * b[k]);
            int64_t whole = sum + (int32_t)(uint32_t)p->c[at];
            if (m->clamp)
                whole = whole > INT32_MAX ? INT32_MAX : whole < INT32_MIN ? INT32_MIN : whole;
            p->d[at] = (uint32_t)whole;
        }
}

static void multiply(const AmdMatrix *m, MatrixProduct *p) {
    bool plain =
        (m->c == AMD_E_F32 || m->c == AMD_E_F16) && m->k <= SIM_DEPTH && !m->scaled && m->k > 1;
    for (uint32_t block = 0; block < m->blocks; block++)
        if (m->c == AMD_E_I32)
            multiply_ints(m, block, p);
        else if (plain)
            multiply_floats(m, block, p);
        else
            multiply_exactly(m, block, p);
}

static void write_results(AmdWave *w, const AmdInstr *i, const AmdMatrix *m,
                          const MatrixProduct *p) {
    const AmdOperand *o = &i->d[0];
    uint32_t values[AMD_LANES], poison[AMD_LANES];
    bool flush = w->kernel->processor == 0x90a && (m->a == AMD_E_F16 || m->a == AMD_E_BF16);
    for (uint32_t word = 0; word < o->words; word++) {
        for (uint32_t l = 0; l < w->lanes; l++)
            values[l] = amd_word(w, o, word, l), poison[l] = amd_word_poison(w, o, word, l);
        for (uint32_t n = 0; n < results_of(w, m); n++) {
            MatrixPlace at = matrix_place(m, n);
            if (at.word != word && !(at.bits == 64 && at.word + 1 == word)) continue;
            uint32_t field = at.bits >= 32 ? UINT32_MAX : 0xffffu << at.shift;
            for (uint32_t l = 0; l < w->lanes; l++) {
                uint32_t from = index_of(m, amd_matrix_result(m, l, n));
                uint64_t d = p->d[from];
                if (flush && m->c == AMD_E_F32 && !(d & 0x7f800000)) d &= 0x80000000;
                uint32_t v = (uint32_t)(at.word == word ? d << at.shift : d >> 32);
                values[l] = (values[l] & ~field) | (v & field);
                poison[l] = (poison[l] & ~field) | (p->poison[from] ? field : 0);
            }
        }
        amd_put_word(w, o, word, amd_wave_mask(w), values, poison);
    }
}

// Both halves of a gfx11 wave must hold the same data.
static bool halves_agree(const AmdWave *w, const AmdOperand *o) {
    for (uint32_t n = 0; n < o->words; n++)
        for (uint32_t l = 0; l < 16; l++)
            if (!amd_word_poison(w, o, n, l) && !amd_word_poison(w, o, n, l + 16) &&
                amd_word(w, o, n, l) != amd_word(w, o, n, l + 16))
                return false;
    return true;
}

void amd_run_matrix(AmdWave *w, const AmdInstr *i) {
    const AmdMatrix *m = i->detail;
    if (m->form && amd_exec(w) != amd_wave_mask(w)) {
        amd_fail(w, i, (SimFault){.kind = SIM_FAULT_USE}, "all lanes of the wave must execute it");
        return;
    }
    if (m->form == 11 && (!halves_agree(w, &i->s[0]) || !halves_agree(w, &i->s[1]))) {
        amd_fail(w, i, (SimFault){.kind = SIM_FAULT_USE},
                 "lanes 16 to 31 must hold what lanes 0 to 15 hold");
        return;
    }
    MatrixProduct *p = w->run->product;
    read_lines(w, i, m, false, &p->a);
    read_lines(w, i, m, true, &p->b);
    read_sums(w, i, m, p);
    multiply(m, p);
    write_results(w, i, m, p);
}

size_t amd_product_size(void) { return sizeof(MatrixProduct); }
