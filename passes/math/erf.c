// erf as 1 - exp(-T), T = -ln(erfc |x|) a polynomial in |x| without selects: 1 - exp(-T) is
// computed as -expm1(-T), so that a small T keeps its relative precision; a large T needs little of
// it. The fit's weight accounts for that: it is the derivative of erf with respect to T.
#include "passes/math/math.h"

// T(a) / a - c on [0, 3.95] and [0, 5.95], where c is 2/sqrt(pi) rounded: 2^-30.8, 2^-55.5 of
// erf(a).
static const double rest_f32[] = {-0x1.f7ac50p-25, 0x1.45f308p-1,  0x1.a4f3d8p-4,   -0x1.39400cp-6,
                                  -0x1.05618cp-12, 0x1.d65bd2p-10, -0x1.82436cp-11, 0x1.5b8b48p-13,
                                  -0x1.5f4e30p-16, 0x1.3591d4p-20};
static const double rest_f64[] = {
    0x1.1ae3a916a773bp-56,  0x1.45f306dc9c87bp-1,   0x1.a4f4e2a1b668bp-4,   -0x1.39668595d0640p-6,
    -0x1.b6b67d84bfce9p-13, 0x1.bca66c102c4a2p-10,  -0x1.35649a08a22ccp-11, 0x1.b1cfe2a27329ep-16,
    0x1.0ec3df573d60dp-14,  -0x1.f5170964a0e20p-16, 0x1.eaf20bf031202p-19,  0x1.4e079b59f913ep-19,
    -0x1.6c799624f0fc3p-20, -0x1.0c9d9cb5062b4p-27, 0x1.a1adb10c115b3p-22,  -0x1.3a78aa4f47ff9p-22,
    0x1.2d773c72c07bep-23,  -0x1.b950c51f9ccc1p-25, 0x1.0585928915646p-26,  -0x1.01311fc5ad76fp-28,
    0x1.a8217a9a1f28ep-31,  -0x1.25fd6721d0059p-33, 0x1.55bff37091190p-36,  -0x1.4acf24a4bb5dap-39,
    0x1.07968093a2e6ap-42,  -0x1.53dac493506a0p-46, 0x1.59a6a5d31a45fp-50,  -0x1.0adbab974fb81p-54,
    0x1.25dd19ee3cc25p-59,  -0x1.9b109aa1fbc30p-65, 0x1.126253627ae78p-71};

IrValue *math_erf(Math *m, IrValue *x) {
    // From here on erf is 1.
    IrValue *a = math_at_most(m, math_abs(m, x), m->wide ? 5.9375 : 3.9375);
    IrValue *rest = m->wide ? MATH_POLY(m, a, rest_f64) : MATH_POLY(m, a, rest_f32);
    IrValue *c = math_const(m, m->wide ? 0x1.20dd750429b6dp+0 : 0x1.20dd760p+0);
    IrValue *t = math_fma(m, a, c, math_mul(m, a, rest));
    MathExpm1 by = math_expm1_parts(m, math_neg(m, t));
    IrValue *short_of_one = math_sub(m, math_const(m, 1), by.scale);
    IrValue *r = math_fma(m, math_neg(m, by.scale), by.part, short_of_one);
    return math_with_sign(m, math_abs(m, r), x);  // at 0 the sum of two zeros may have any sign
}
