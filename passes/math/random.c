// Philox 4x32-10 (J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011) on u32
// tiles; the 32 by 32 products use u64. The key is the same in the whole program, so its arithmetic
// is scalar.
#include "passes/math/math.h"

static IrValue *of_scalar(IrBuilder *b, IrValue *x, const IrType *type) {
    return type->rank ? ir_broadcast(b, x, type->rank, type->shape) : x;
}

static IrValue *like(IrBuilder *b, IrValue *x, uint64_t bits) {
    return ir_const_bits(b, x->type, bits);
}

static IrValue *high_half(IrBuilder *b, IrValue *x) {  // of 64 bits, as u32
    return ir_cast(b, ir_binary(b, IR_SHR, x, like(b, x, 32)), DTYPE_U32, false);
}

static void multiply(IrBuilder *b, IrValue *x, uint32_t by, IrValue **high, IrValue **low) {
    IrValue *wide = ir_cast(b, x, DTYPE_U64, false);
    wide = ir_binary(b, IR_MUL, wide, like(b, wide, by));
    *high = high_half(b, wide);
    *low = ir_cast(b, wide, DTYPE_U32, false);
}

void math_random(IrBuilder *b, IrValue *seed, IrValue *offset, IrValue **results) {
    IrValue *key = ir_cast(b, ir_cast(b, seed, DTYPE_I64, false), DTYPE_U64, false);
    IrValue *place = ir_cast(b, ir_cast(b, offset, DTYPE_I64, false), DTYPE_U64, false);
    IrValue *k0 = ir_cast(b, key, DTYPE_U32, false), *k1 = high_half(b, key);
    IrValue *c0 = ir_cast(b, place, DTYPE_U32, false), *c1 = high_half(b, place);
    IrValue *c2 = like(b, c0, 0), *c3 = c2;
    for (int round = 0; round < 10; round++) {
        IrValue *high0, *low0, *high2, *low2;
        multiply(b, c0, 0xD2511F53, &high0, &low0);
        multiply(b, c2, 0xCD9E8D57, &high2, &low2);
        IrValue *a = ir_binary(b, IR_XOR, high2, c1), *c = ir_binary(b, IR_XOR, high0, c3);
        c0 = ir_binary(b, IR_XOR, a, of_scalar(b, k0, a->type));
        c1 = low2;
        c2 = ir_binary(b, IR_XOR, c, of_scalar(b, k1, c->type));
        c3 = low0;
        k0 = ir_binary(b, IR_ADD, k0, like(b, k0, 0x9E3779B9));
        k1 = ir_binary(b, IR_ADD, k1, like(b, k1, 0xBB67AE85));
    }
    IrValue *made[4] = {c0, c1, c2, c3};
    for (int i = 0; i < 4; i++) results[i] = made[i];
}
