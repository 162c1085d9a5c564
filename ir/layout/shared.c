// Shared memory: swizzled layouts, banks, ldmatrix (build.h, query.h).
#include <string.h>

#include "base/os/os.h"
#include "ir/layout/build.h"
#include "ir/layout/gf2.h"
#include "ir/layout/query.h"

Layout layout_swizzled(uint32_t rank, const uint32_t *shape, const uint8_t *order, uint32_t vec,
                       uint32_t per_phase, uint32_t max_phase) {
    CHECK(vec && per_phase && max_phase, "a swizzle of 0");
    CHECK(((vec & (vec - 1)) | (per_phase & (per_phase - 1)) | (max_phase & (max_phase - 1))) == 0,
          "a swizzle of %u, %u, %u is not linear", vec, per_phase, max_phase);
    Layout l = layout_empty(rank, shape);
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t axis = order ? order[i] : rank - 1 - i;
        CHECK(axis < rank, "axis %u of rank %u", axis, rank);
        uint32_t fast = order ? order[0] : rank - 1;
        for (uint32_t step = 1; step < shape[axis]; step *= 2) {
            uint32_t coords[IR_MAX_RANK] = {0};
            coords[axis] = step;
            if (i == 1) {
                coords[fast] = (step / per_phase % max_phase * vec) & (shape[fast] - 1);
            }
            layout_add(&l, LAYOUT_OFFSET, layout_element(&l, coords));
        }
    }
    return l;
}

Layout layout_plain(uint32_t rank, const uint32_t *shape, const uint8_t *order) {
    return layout_swizzled(rank, shape, order, 1, 1, 1);
}

// ---- banks

static uint32_t log2_of(uint32_t power) {
    CHECK(power != 0 && (power & (power - 1)) == 0, "%u is not a power of two", power);
    return (uint32_t)__builtin_ctz(power);
}

// The number of words that a phase reads (spanned by `offsets`, in elements) and that share a bank.
static uint32_t words_on_a_bank(const Gf2List *offsets, uint32_t bits, uint32_t banks) {
    Gf2Span words = {0}, places = {0};
    for (uint32_t i = 0; i < offsets->count; i++) {
        uint64_t address = (uint64_t)offsets->v[i] << log2_of(bits);
        uint32_t word = (uint32_t)(address >> 5);
        gf2_add(&words, word, 0);
        gf2_add(&places, word & (banks - 1), 0);
    }
    return UINT32_C(1) << (words.rank - places.rank);
}

static const SharedPhase *phase_of(const SharedBanks *banks, uint32_t bytes, bool store) {
    const SharedPhase *rows = store ? banks->store : banks->load;
    return &rows[bytes <= 4 ? 0 : bytes <= 8 ? 1 : 2];
}

LayoutConflicts layout_conflicts(const Layout *l, const Layout *shared, uint32_t vector,
                                 uint32_t bits, const SharedBanks *banks, bool store) {
    LayoutMap map;
    CHECK(layout_map_between(l, shared, &map), "a memory without some of the tile's elements");
    const SharedPhase *phase = phase_of(banks, vector * bits / 8, store);
    Gf2List offsets = {0};
    for (uint32_t step = 1; step < vector; step *= 2) offsets.v[offsets.count++] = step;
    uint32_t lanes = layout_size(l, LAYOUT_LANE);
    uint32_t in_phase = 0;
    for (uint32_t i = 0; i < phase->count; i++) {
        uint32_t lane = phase->lanes[i] & (lanes - 1);
        if (!lane) continue;  // the warp is smaller
        in_phase++;
        offsets.v[offsets.count++] = gf2_apply(map.bases + layout_dim_start(l, LAYOUT_LANE), lane);
    }
    LayoutConflicts result = {.phases = lanes >> in_phase};
    result.wavefronts = result.phases * words_on_a_bank(&offsets, bits, banks->banks);
    return result;
}

uint32_t layout_shared_vector(const Layout *l, const Layout *shared, uint32_t bits,
                              uint32_t max_bytes) {
    LayoutMap map;
    if (!layout_map_between(l, shared, &map)) return 1;
    Gf2Span registers = {0};
    for (uint32_t i = 0; i < l->dim_bits[LAYOUT_REG]; i++) gf2_add(&registers, map.bases[i], 0);
    uint32_t vector = 1;
    while (vector * 2 * bits <= max_bytes * 8 && gf2_has(&registers, vector)) vector *= 2;
    return vector;
}

// ---- ldmatrix

// The input bits along a row of 16 bytes, in order, and those that count its eight rows.
typedef struct MatrixBits {
    uint32_t row_count, row[8];
    uint32_t line[3];
} MatrixBits;

static MatrixBits matrix_bits(const Layout *l, uint32_t packed, bool transposed) {
    MatrixBits m = {0};
    uint32_t lane = layout_dim_start(l, LAYOUT_LANE);
    if (transposed) {
        for (uint32_t i = 0; i < 3; i++) m.row[m.row_count++] = lane + 2 + i;
        m.line[0] = 0;
        m.line[1] = lane;
        m.line[2] = lane + 1;
        return m;
    }
    for (uint32_t i = 0; i < packed; i++) m.row[m.row_count++] = i;
    m.row[m.row_count++] = lane;
    m.row[m.row_count++] = lane + 1;
    for (uint32_t i = 0; i < 3; i++) m.line[i] = lane + 2 + i;
    return m;
}

bool layout_matrix(const Layout *l, const Layout *shared, uint32_t bits, bool transposed,
                   uint32_t max_count, LayoutMatrix *matrix) {
    LayoutMap map;
    if (bits > 32 || (transposed && bits != 16) || !layout_map_between(l, shared, &map))
        return false;
    uint32_t packed = log2_of(32 / bits);
    if (l->dim_bits[LAYOUT_LANE] != 5 || l->dim_bits[LAYOUT_REG] < packed) return false;
    MatrixBits m = matrix_bits(l, packed, transposed);
    uint32_t in_row = 0;
    for (uint32_t i = 0; i < m.row_count; i++) {
        if (map.bases[m.row[i]] != UINT32_C(1) << i) return false;
        in_row |= UINT32_C(1) << m.row[i];
    }
    for (uint32_t i = 0; i < l->bits; i++) {
        uint32_t inside = map.bases[i] & (128 / bits - 1);
        if (!(in_row >> i & 1) && inside) return false;
    }
    memset(matrix, 0, sizeof *matrix);
    matrix->packed = packed;
    matrix->count = 1;
    for (uint32_t i = 0; i < 3; i++) matrix->row_lanes[i] = map.bases[m.line[i]];
    for (uint32_t i = 0; i < 2 && matrix->count * 2 <= max_count; i++) {
        if (packed + i >= l->dim_bits[LAYOUT_REG]) break;
        matrix->matrix_bits[i] = (uint8_t)(packed + i);
        matrix->row_lanes[3 + i] = map.bases[packed + i];
        matrix->count *= 2;
    }
    return true;
}

uint32_t layout_matrix_wavefronts(const LayoutMatrix *matrix, uint32_t bits) {
    Gf2List offsets = {0};
    for (uint32_t step = 1; step < 128 / bits; step *= 2) offsets.v[offsets.count++] = step;
    for (uint32_t i = 0; i < 3; i++) offsets.v[offsets.count++] = matrix->row_lanes[i];
    return matrix->count * words_on_a_bank(&offsets, bits, 32);
}
