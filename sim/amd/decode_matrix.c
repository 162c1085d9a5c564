// Matrix products: their names give the shape and the types.
#include <string.h>

#include "base/status.h"
#include "sim/amd/decode.h"
#include "sim/amd/matrix.h"

static const struct {
    const char *name;
    AmdElement element;
    uint8_t bits;
} elements[] = {{"f32", AMD_E_F32, 32},  {"xf32", AMD_E_XF32, 32}, {"f64", AMD_E_F64, 64},
                {"f16", AMD_E_F16, 16},  {"bf16", AMD_E_BF16, 16}, {"bf16_1k", AMD_E_BF16, 16},
                {"fp8", AMD_E_FP8, 8},   {"bf8", AMD_E_BF8, 8},    {"i8", AMD_E_I8, 8},
                {"iu8", AMD_E_I8, 8},    {"iu4", AMD_E_I4, 4},     {"i32", AMD_E_I32, 32},
                {"f8f6f4", AMD_E_FP8, 8}};

static bool find_element(Str name, uint8_t *to) {
    for (size_t n = 0; n < sizeof elements / sizeof *elements; n++)
        if (str_equal(name, str(elements[n].name))) {
            *to = (uint8_t)elements[n].element;
            return true;
        }
    return false;
}

static uint16_t take_number(Str *s) {
    uint32_t value = 0;
    while (s->size && s->text[0] >= '0' && s->text[0] <= '9' && value < 1000) {
        value = 10 * value + (uint32_t)(s->text[0] - '0');
        *s = (Str){s->text + 1, s->size - 1};
    }
    return (uint16_t)value;
}
static bool take_char(Str *s, char c) {
    if (!s->size || s->text[0] != c) return false;
    *s = (Str){s->text + 1, s->size - 1};
    return true;
}

// "32x32x4_2b_f16", "32x32x8f16", "16x16x32_fp8_bf8"
static bool parse_shape(Str s, AmdMatrix *m) {
    m->m = take_number(&s);
    if (!take_char(&s, 'x')) return false;
    m->n = take_number(&s);
    if (!take_char(&s, 'x')) return false;
    m->k = take_number(&s);
    (void)take_char(&s, '_');
    Str rest = s;
    if (take_number(&rest) && take_char(&rest, 'b') && take_char(&rest, '_')) s = rest;
    if (find_element(s, &m->a)) {
        m->b = m->a;
        return true;
    }
    Str second, first = str_cut(s, '_', &second);
    return find_element(first, &m->a) && find_element(second, &m->b);
}

static bool parse_name(Str name, AmdMatrix *m, uint32_t generation) {
    Str family = generation == 9 ? STR("v_mfma_") : STR("v_wmma_");
    if (generation == 10 || !str_starts(name, family)) return false;
    if (generation > 9) m->form = (uint8_t)(generation >= 12 ? 12 : 11);
    m->scaled = str_starts(name, STR("v_mfma_scale_"));
    if (m->scaled) name = (Str){name.text + 6, name.size - 6};
    Str shape, type = str_cut((Str){name.text + 7, name.size - 7}, '_', &shape);
    return find_element(type, &m->c) && parse_shape(shape, m);
}

uint32_t amd_element_bits(uint32_t element) {
    switch ((AmdElement)element) {
    case AMD_E_F64: return 64;
    case AMD_E_F32:
    case AMD_E_XF32:
    case AMD_E_I32: return 32;
    case AMD_E_F16:
    case AMD_E_BF16: return 16;
    case AMD_E_FP8:
    case AMD_E_BF8:
    case AMD_E_I8: return 8;
    case AMD_E_F6:
    case AMD_E_BF6: return 6;
    case AMD_E_F4:
    case AMD_E_I4: return 4;
    }
    return 32;
}

// The types of f8f6f4: 0 e4m3, 1 e5m2, 2 e2m3, 3 e3m2, 4 e2m1.
static bool take_format(AmdDecoder *d, AmdText *t, const char *name, uint8_t *to) {
    static const uint8_t formats[] = {AMD_E_FP8, AMD_E_BF8, AMD_E_F6, AMD_E_BF6, AMD_E_F4};
    Str v;
    int64_t n = 0;
    if (amd_text_modifier(t, name, &v) && !amd_text_number(v, &n)) n = -1;
    if (n < 0 || n > 4) return amd_decode_fail(d, "an unknown format");
    *to = formats[n];
    return true;
}

static bool take_scales(AmdDecoder *d, AmdText *t, AmdMatrix *m) {
    Str v;
    uint32_t low[2] = {0}, high[2] = {0};
    if (!m->scaled) return true;
    TRY(amd_text_operand(d, t, 4, AMD_B32, &m->a_scale));
    TRY(amd_text_operand(d, t, 5, AMD_B32, &m->b_scale));
    if (amd_text_modifier(t, "op_sel", &v)) (void)amd_text_list(v, low, 2);
    if (amd_text_modifier(t, "op_sel_hi", &v)) (void)amd_text_list(v, high, 2);
    m->a_byte = (uint8_t)((low[0] & 1) + 2 * (high[0] & 1));
    m->b_byte = (uint8_t)((low[1] & 1) + 2 * (high[1] & 1));
    return true;
}

static void take_signs(AmdText *t, AmdMatrix *m, AmdInstr *i) {
    Str v;
    uint32_t list[3] = {0};
    m->a_signed = m->b_signed = !m->form;
    if (!m->form || m->c != AMD_E_I32) return;
    if (amd_text_modifier(t, "neg_lo", &v)) (void)amd_text_list(v, list, 3);
    m->a_signed = list[0] & 1, m->b_signed = list[1] & 1;
    (void)i;
}

// The number of registers that the shape requires for an operand.
static uint32_t words_of(const AmdMatrix *m, uint32_t element, uint32_t lines) {
    uint32_t count = lines * (uint32_t)(m->k * m->blocks) * amd_element_bits(element);
    if (m->form == 11) return count / 16 / 32;  // both halves of the wave hold all elements
    return count / (m->form ? 32 : 64) / 32;
}

static bool check_shape(AmdDecoder *d, const AmdInstr *i, AmdMatrix *m) {
    uint32_t bits = amd_element_bits(m->c), lanes = m->form ? 32 : 64;
    if (m->form && d->kernel->lanes != 32)
        return amd_decode_fail(d, "WMMA is simulated for waves of 32 lanes only");
    bool square = m->m == m->n && (m->m == 4 || m->m == 16 || m->m == 32);
    if (!square || !m->k || m->k > 128 || (m->form && (m->m != 16 || m->k % 16)))
        return amd_decode_fail(d, "an unknown shape");
    uint32_t place = m->form == 11 && bits == 16 ? 32 : bits;  // halves in separate registers
    uint32_t count = i->d[0].words * 32u / place * lanes;
    m->blocks = (uint16_t)(count / (m->m * m->n));
    bool whole = m->blocks && (uint32_t)(m->blocks * m->m * m->n) == count && count <= 2048;
    uint32_t spread = (uint32_t)(m->m * m->blocks);
    if (!m->form) whole = whole && spread <= 64 && m->k % (64 / spread) == 0;
    if (!whole || (m->form && m->blocks != 1) || i->s[0].words < words_of(m, m->a, m->m) ||
        i->s[1].words < words_of(m, m->b, m->n))
        return amd_decode_fail(d, "operands that do not hold the matrices");
    if (i->s[2].kind == AMD_VECTOR && i->s[2].words != i->d[0].words)
        return amd_decode_fail(d, "the sum and the result have different numbers of registers");
    return true;
}

bool amd_decode_matrix(AmdDecoder *d, AmdText *t, AmdInstr *i, bool *mine) {
    AmdMatrix *m = arena_new(d->arena, AmdMatrix, 1);
    Str v;
    if (!parse_name(t->name, m, d->kernel->generation)) return true;
    *mine = true;
    i->detail = m, i->run = amd_run_matrix, i->matrix = true;
    i->results = 1, i->operands = 3;
    AmdType sum = m->c == AMD_E_F64 ? AMD_F64 : m->c == AMD_E_F16 ? AMD_F16 : AMD_F32;
    TRY(amd_decode_result(d, t, 0, AMD_WORDS, &i->d[0]));
    for (uint32_t n = 0; n < 3; n++) {
        TRY(amd_text_operand(d, t, n + 1, AMD_WORDS, &i->s[n]));
        if (i->s[n].kind != AMD_VECTOR && n < 2)
            return amd_decode_fail(d, "matrices must be in vector registers");
    }
    // A constant is read with the sum's type.
    if (i->s[2].kind == AMD_CONSTANT) TRY(amd_text_operand(d, t, 3, sum, &i->s[2]));
    take_signs(t, m, i);
    if (str_ends(t->name, STR("f8f6f4"))) {
        TRY(take_format(d, t, "cbsz", &m->a));
        TRY(take_format(d, t, "blgp", &m->b));
    }
    TRY(take_scales(d, t, m));
    m->clamp = amd_text_modifier(t, "clamp", NULL);
    uint32_t list[4] = {0};
    if (m->form == 11 && amd_text_modifier(t, "op_sel", &v) && amd_text_list(v, list, 4) >= 3)
        m->high = list[2] & 1;
    return check_shape(d, i, m);
}
