#include "tests/mutate/bits.h"

#include <string.h>

#include "base/str.h"

enum { DEPTH_MAX = 24 };
#define HIGH_HALF (UINT64_MAX << 32)

// The lowest n bits.
static uint64_t low(uint64_t n) { return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX; }
// The number of bits that are 0, from the lowest on.
static uint64_t count(uint64_t zeros) {
    return ~zeros ? (uint64_t)__builtin_ctzll(~zeros) : UINT64_C(64);
}

// "[k_param_0+40]": 40; the entry's one parameter is the block of arguments.
static bool argument(Str s, uint32_t *offset) {
    Str rest, name = str_cut(s, '+', &rest);
    uint64_t value = 0;
    if (!statement_has(name, "_param_0")) return false;
    if (rest.size && !str_to_u64((Str){rest.text, rest.size - 1}, &value, NULL)) return false;
    *offset = (uint32_t)value;
    return true;
}

static const Statement *definition(const Bits *b, Str name) {
    const Statement *found = NULL;
    size_t at = 0, from;
    uint64_t key = statement_register(name, &at), other;
    for (size_t i = 0; key && i < b->statements->count; i++) {
        const Statement *s = &b->statements->data[i];
        if (!statement_has_result(s)) continue;
        for (from = 0; (other = statement_register(s->operands[0], &from)) != 0;) {
            if (other != key) continue;
            if (found || s->guard.size) return NULL;
            found = s;
        }
    }
    return found;
}

static uint64_t moved(const Statement *s, uint64_t x, int64_t by) {
    if (by < 0 || by > 63) return 0;
    if (statement_is(s, "shl")) return x << by | low((uint64_t)by);
    return statement_is(s, "shr.u") ? x >> by | (by ? UINT64_MAX << (64 - by) : 0) : 0;
}

// The zeros of a statement's result on operands whose zeros are x, y, z.
static uint64_t result(const Statement *s, const uint64_t *x, bool fixed, int64_t by) {
    if (statement_is(s, "and")) return x[0] | x[1];
    if (statement_is(s, "or") || statement_is(s, "xor") || statement_is(s, "min.") ||
        statement_is(s, "max."))
        return x[0] & x[1];
    if (statement_is(s, "selp.b") || statement_is(s, "selp.s") || statement_is(s, "selp.u"))
        return x[0] & x[1];
    if (fixed && (statement_is(s, "shl") || statement_is(s, "shr"))) return moved(s, x[0], by);
    if (statement_is(s, "mov.b") || statement_is(s, "mov.u") || statement_is(s, "cvt.u64.u32") ||
        statement_is(s, "cvt.u32.u64"))
        return x[0];
    if (statement_is(s, "cvt.s64.s32")) return x[0] & low(31);
    uint64_t sum = count(x[0]) < count(x[1]) ? count(x[0]) : count(x[1]);
    if (statement_is(s, "add.s") || statement_is(s, "sub.s") || statement_is(s, "add.u") ||
        statement_is(s, "sub.u"))
        return low(sum);
    uint64_t product = count(x[0]) + count(x[1]);
    if (statement_is(s, "mul.lo.") || statement_is(s, "mul.wide.")) return low(product);
    if (statement_is(s, "mad.lo.") || statement_is(s, "mad.wide."))
        return low(product < count(x[2]) ? product : count(x[2]));
    return 0;
}

static bool is_wide(const Statement *s) {
    return statement_has(s->opcode, "64") || statement_has(s->opcode, ".wide");
}

uint64_t bits_zeros(const Bits *b, Str operand) {
    int64_t value, by = 0;
    uint64_t x[3] = {0};
    uint32_t offset;
    if (statement_number(operand, &value)) return ~(uint64_t)value;
    const Statement *s = b->depth < DEPTH_MAX ? definition(b, operand) : NULL;
    if (!s || operand.text[0] != '%') return 0;
    bool narrow = !is_wide(s) || statement_is(s, "cvt.u32") || statement_is(s, "cvt.s32");
    uint64_t above = narrow || statement_is(s, "cvt.u64.u32") ? HIGH_HALF : 0;
    if (statement_is(s, "ld.param.b") || statement_is(s, "ld.param.u"))
        return above | (argument(s->operands[1], &offset) ? facts_zeros(b->facts, offset) : 0);
    if (s->operand_count < 2 || s->operand_count > 4 || s->operands[0].text[0] == '{') return 0;
    Bits below = {b->statements, b->facts, b->depth + 1};
    for (uint32_t n = 1; n < s->operand_count; n++) x[n - 1] = bits_zeros(&below, s->operands[n]);
    bool fixed = s->operand_count == 3 && statement_number(s->operands[2], &by);
    // A register of 32 bits as the result of 64: what is above is gone.
    return result(s, x, fixed, by) | above;
}
