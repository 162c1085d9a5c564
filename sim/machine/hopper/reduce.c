// Reductions of bulk copies: element by element, in global memory.
#include <string.h>

#include "sim/machine/hopper/bulk.h"
#include "sim/machine/number/number.h"

SimType sim_map_type(GpuMapType type) {
    static const SimType types[] = {SIM_U8,  SIM_U16, SIM_U32,  SIM_S32, SIM_U64, SIM_S64, SIM_F16,
                                    SIM_F32, SIM_F64, SIM_BF16, SIM_F32, SIM_F32, SIM_F32};
    return types[type];
}

static uint64_t bits_at(const uint8_t *p, uint32_t size) {
    uint64_t v = 0;
    memcpy(&v, p, size);
    return v;
}

static bool is_signed(SimType t) { return t == SIM_S32 || t == SIM_S64; }

static uint64_t whole(SimType type, SimAtom atom, uint64_t x, uint64_t y) {
    bool narrow = sim_type_bits(type) == 32;
    int64_t sx = narrow ? (int32_t)x : (int64_t)x, sy = narrow ? (int32_t)y : (int64_t)y;
    bool less = is_signed(type) ? sx < sy : x < y;
    switch (atom) {
    case SIM_ATOM_ADD: return x + y;
    case SIM_ATOM_MIN: return less ? x : y;
    case SIM_ATOM_MAX: return less ? y : x;
    case SIM_ATOM_AND: return x & y;
    case SIM_ATOM_OR: return x | y;
    case SIM_ATOM_XOR: return x ^ y;
    case SIM_ATOM_INC: return x >= y ? 0 : x + 1;
    case SIM_ATOM_DEC: return !x || x > y ? y : x - 1;
    case SIM_ATOM_EXCH:
    case SIM_ATOM_CAS: break;
    }
    return y;
}

// Sums of two numbers of up to 53 bits of precision, rounded once: a sum of doubles is rounded to
// odd before it becomes narrower.
static uint64_t number(SimType type, SimAtom atom, uint64_t x, uint64_t y) {
    const SimFormat *f = sim_format(type);
    double a = sim_number_value(f, x), b = sim_number_value(f, y);
    switch (atom) {
    case SIM_ATOM_MIN: return a < b || b != b ? x : y;
    case SIM_ATOM_MAX: return a > b || b != b ? x : y;
    default: break;
    }
    double sum = type == SIM_F64 ? a + b : sim_add_odd(a, b);
    return sum == sum ? sim_number_round(f, sum, SIM_RN, false) : f->nan;
}

void sim_reduce(SimType type, SimAtom atom, uint8_t *to, const uint8_t *from, uint32_t bytes) {
    uint32_t size = sim_type_bits(type) / 8;
    for (uint32_t n = 0; n + size <= bytes; n += size) {
        uint64_t x = bits_at(to + n, size), y = bits_at(from + n, size);
        uint64_t v = sim_format(type) ? number(type, atom, x, y) : whole(type, atom, x, y);
        memcpy(to + n, &v, size);
    }
}
