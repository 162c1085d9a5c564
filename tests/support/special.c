#include "tests/support/special.h"

#include <math.h>

static uint64_t from(Dtype t, double value) { return dtype_from_double(t, value, false); }

static uint64_t plain_nan(Dtype t) { return from(t, (double)NAN); }

static uint64_t least_normal(Dtype t) { return UINT64_C(1) << (dtype_float(t)->precision - 1); }

static uint64_t with_sign(Dtype t, uint64_t magnitude, Dice *dice) {
    bool negative = dice_chance(dice, 50);
    if (magnitude == 0 && !dtype_float(t)->has_negative_zero) negative = false;
    return magnitude | (uint64_t)negative << (dtype_bits(t) - 1);
}

static uint64_t subnormal(Dtype t, Dice *dice) {
    uint64_t beyond = least_normal(t);
    switch (dice_below(dice, 3)) {
    case 0: return 1;
    case 1: return beyond - 1;
    }
    return dice_below(dice, beyond - 1) + 1;
}

// A value where a cast to a narrower type has to round: on a tie, or next to it.
static uint64_t between(Dtype t, Dice *dice) {
    static const Dtype narrow[] = {DTYPE_F32,    DTYPE_F16,    DTYPE_BF16,       DTYPE_F16,
                                   DTYPE_F8E4M3, DTYPE_F8E5M2, DTYPE_F8E4M3FNUZ, DTYPE_F8E5M2FNUZ};
    Dtype n = narrow[dice_below(dice, sizeof narrow / sizeof *narrow)];
    uint64_t greatest = from(n, dtype_float(n)->greatest), low;
    switch (dice_below(dice, 4)) {
    case 0: low = dice_below(dice, 3); break;
    case 1: low = least_normal(n) - dice_below(dice, 2); break;
    case 2: low = greatest - 1 - dice_below(dice, 2); break;
    default: low = dice_below(dice, greatest);
    }
    double middle = (dtype_to_double(n, low) + dtype_to_double(n, low + 1)) / 2;
    if (dice_chance(dice, 10)) {  // beyond the greatest: where infinity begins
        double top = dtype_to_double(n, greatest);
        middle = top + (top - dtype_to_double(n, greatest - 1)) / 2;
    }
    uint64_t bits = from(t, middle);
    if (dtype_is_nan(t, bits) || bits == 0) return bits;
    bits += dice_below(dice, 3) - 1;
    return dtype_is_nan(t, bits) ? plain_nan(t) : bits;
}

static uint64_t plain(Dtype t, Dice *dice) {
    const DtypeFloat *facts = dtype_float(t);
    int low = facts->min_exponent > -20 ? facts->min_exponent : -20;
    int high = facts->max_exponent < 20 ? facts->max_exponent : 20;
    double fraction = (double)dice_below(dice, UINT64_C(1) << 53) * 0x1p-53 + 1;
    return from(t, ldexp(fraction, low + (int)dice_below(dice, (uint64_t)(high - low))));
}

// Its sign is drawn afterwards.
static uint64_t magnitude(Dtype t, Dice *dice) {
    const DtypeFloat *facts = dtype_float(t);
    switch (dice_below(dice, 16)) {
    case 0:
    case 1: return 0;
    case 2:
    case 3: return subnormal(t, dice);
    case 4: return least_normal(t) + dice_below(dice, 2);
    case 5: return from(t, 1) + dice_below(dice, 3) - 1;
    case 6: return from(t, facts->greatest) - dice_below(dice, 2);
    case 7: return from(t, facts->has_inf ? HUGE_VAL : facts->greatest);
    case 8: return from(t, (double)dice_below(dice, 5));
    case 9: return from(t, (double)dice_below(dice, 6) + 0.5);
    case 10:
    case 11: return between(t, dice);
    }
    return plain(t, dice);
}

uint64_t special_float(Dtype t, Dice *dice) {
    if (dice_below(dice, 20) == 0) return plain_nan(t);
    uint64_t bits = dice_below(dice, 20) == 0 ? dtype_wrap(t, dice_next(dice))
                                              : with_sign(t, magnitude(t, dice), dice);
    return dtype_is_nan(t, bits) ? plain_nan(t) : bits;
}

uint64_t special_nan(Dtype t, Dice *dice) {
    const DtypeFloat *facts = dtype_float(t);
    uint64_t bits = plain_nan(t);
    if (!facts->has_inf) {  // one NaN of each sign, or one
        return facts->has_negative_zero ? with_sign(t, bits, dice) : bits;
    }
    uint64_t fraction = least_normal(t) - 1;
    bits = (bits & ~fraction) | (dice_below(dice, fraction) + 1);
    return with_sign(t, bits, dice);
}
