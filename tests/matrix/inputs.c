// Inputs of a cell: shapes, special values, seeded random ones.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/matrix/matrix.h"

const Shape matrix_shapes[SHAPES] = {
    {0, {0}}, {1, {1}}, {1, {16}}, {2, {4, 8}}, {3, {2, 4, 8}}, {2, {1, 16}}, {1, {128}},
};

uint64_t matrix_random(Matrix *m) {  // xorshift64*
    m->random ^= m->random >> 12;
    m->random ^= m->random << 25;
    m->random ^= m->random >> 27;
    return m->random * UINT64_C(0x2545f4914f6cdd1d);
}

Tile tile_make(Matrix *m, int column, uint32_t rank, const uint32_t *shape) {
    Tile t = {.pointer = column == POINTERS,
              .elem = column == POINTERS ? DTYPE_U64 : (Dtype)column,
              .rank = rank,
              .count = 1};
    for (uint32_t d = 0; d < rank; d++) {
        t.shape[d] = shape[d];
        t.count *= shape[d];
    }
    t.bits = arena_new(m->arena, uint64_t, t.count);
    return t;
}

Tile tile_shaped(Matrix *m, int column, Shape s) { return tile_make(m, column, s.rank, s.extent); }
Tile tile_absent(void) { return (Tile){.absent = true}; }

static uint32_t special_floats(Dtype t, uint64_t *values) {
    const Format *f = format_of(t);
    uint64_t sign = UINT64_C(1) << (f->exponent + f->fraction);
    uint64_t least = UINT64_C(1) << f->fraction, one = (uint64_t)f->bias << f->fraction;
    const uint64_t patterns[] = {
        0,          // zero
        1,          // the least subnormal
        least - 1,  // the greatest one
        least,      // the least normal
        least + 1,
        one,  // one
        one + 1,
        one - 1,
        one - least,              // a half
        one + least,              // two
        one + least / 2,          // one and a half
        one + least + least / 4,  // two and a half, or nearly
        one + 5 * least + 1,
        one - 3 * least,
        f->highest,
        f->highest - 1,
        f->highest - least,
        f->highest + 1 > sign - 1 ? f->highest : f->highest + 1,  // infinity, or the first NaN
        nan_bits(t) & (sign - 1),
    };
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        values[n++] = patterns[i];
        values[n++] = patterns[i] | sign;
    }
    if (f->ieee) values[n++] = f->highest + 2;  // a NaN of another payload
    return n;
}

uint32_t special_values(Dtype t, uint64_t *values, uint32_t room) {
    uint64_t all[64];
    uint32_t n = 0;
    if (type_is_float(t)) {
        n = special_floats(t, all);
    } else if (t == DTYPE_BOOL) {
        all[n++] = 0;
        all[n++] = 1;
    } else {
        Int128 least = integer_least(t), greatest = integer_greatest(t);
        const Int128 numbers[] = {
            0,   1,         -1,        2,        -2,           3,  7,
            -7,  least,     least + 1, greatest, greatest - 1, 31, greatest / 2,
            32,  least / 2, 63,        64,       15,           16, -64,
            100, 8,         127};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            all[n++] = integer_wrap(t, numbers[i]);
    }
    if (n > room) n = room;
    memcpy(values, all, n * sizeof *values);
    return n;
}

uint64_t element_small(Dtype t, int64_t value) {
    if (type_is_float(t)) return number_round(t, number_from_integer(value), true);
    return t == DTYPE_BOOL ? (value & 1) != 0 : integer_wrap(t, value);
}

static uint64_t any_element(Matrix *m, Dtype t) {
    uint64_t r = matrix_random(m), values[64];
    if (r % 3 != 0) {
        uint32_t n = special_values(t, values, 64);
        return values[(r >> 8) % n];
    }
    if (r % 2 == 0 && type_is_float(t)) {  // near one, where most functions are not flat
        int64_t whole = (int64_t)(matrix_random(m) % 4096) - 2048;
        Number n = number_from_integer(whole);
        n.x = -(int)(matrix_random(m) % 12);
        return number_round(t, n, true);
    }
    return matrix_random(m) & type_mask(t);
}

static uint64_t medium_element(Matrix *m, Dtype t) {
    if (!type_is_float(t)) return matrix_random(m) & type_mask(t);
    Number n = number_from_integer((int64_t)(matrix_random(m) % 65536) - 32768);
    n.x = -15;
    return number_round(t, n, true);
}

static uint64_t tied_element(Matrix *m, Dtype t) {
    uint64_t r = matrix_random(m), values[64];
    uint32_t n = special_values(t, values, 64);
    if (r % 4 == 0) return values[(r >> 8) % n];
    if (r % 4 == 1 && type_is_float(t)) return values[(r >> 8) % 2];  // zeros
    return element_small(t,
                         (int64_t)((r >> 8) % 5) - (type_is_float(t) || type_is_signed(t) ? 2 : 0));
}

static uint64_t element(Matrix *m, Dtype t, Fill fill) {
    bool is_signed = type_is_float(t) || type_is_signed(t);
    switch (fill) {
    case FILL_ANY: return any_element(m, t);
    case FILL_SMALL: return element_small(t, (int64_t)(matrix_random(m) % 9) - (is_signed ? 4 : 0));
    case FILL_MEDIUM: return medium_element(m, t);
    case FILL_TIES: return tied_element(m, t);
    }
    return 0;
}

void tile_fill(Matrix *m, Tile *t, Fill fill) {
    for (uint32_t i = 0; i < t->count; i++)
        t->bits[i] = t->pointer ? matrix_random(m) % 8 * 4 + 4096 : element(m, t->elem, fill);
}

Tile tile_filled(Matrix *m, int column, Shape s, Fill fill) {
    Tile t = tile_shaped(m, column, s);
    tile_fill(m, &t, fill);
    return t;
}

const char *column_name(int column) {
    if (column == ONCE) return "once";
    return column == POINTERS ? "pointer" : dtype_name((Dtype)column);
}

bool column_allowed(unsigned classes, int column) {
    if (column == POINTERS) return (classes & IR_CLASS_POINTER) != 0;
    if (column == ONCE) return (classes & MATRIX_ONCE) != 0;
    return (classes & dtype_class((Dtype)column)) != 0;
}

Name cell_name(IrOpcode code, int column, Shape s, const char *format, ...) {
    Name name;
    int n = snprintf(name.text, NAME_SIZE, "%s %s [", ir_op_info(code)->text, column_name(column));
    for (uint32_t d = 0; d < s.rank; d++)
        n += snprintf(name.text + n, NAME_SIZE - (size_t)n, "%s%u", d ? "," : "", s.extent[d]);
    n += snprintf(name.text + n, NAME_SIZE - (size_t)n, "] ");
    va_list args;
    va_start(args, format);
    vsnprintf(name.text + n, NAME_SIZE - (size_t)n, format, args);
    va_end(args);
    return name;
}
