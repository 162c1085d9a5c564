// Splits an instruction's text into parts.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "sim/amd/decode.h"
#include "sim/machine/number/number.h"

bool amd_decode_fail(AmdDecoder *d, const char *format, ...) {
    char text[256];
    StrBuf place = strbuf(d->arena);
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (d->line.file.size)
        strbuf_printf(&place, "%.*s:%u:%u: ", STR_ARG(d->line.file), d->line.line, d->line.column);
    diag_error(d->diags, (Span){0}, DIAG_UNSUPPORTED, "%.*skernel '%.*s': '%.*s': %s",
               STR_ARG(strbuf_str(&place)), STR_ARG(d->source->name), STR_ARG(d->text), text);
    return false;
}

static const char *const encodings[] = {"_e64_dpp", "_e32", "_e64", "_dpp", "_dpp8", "_sdwa"};

static void strip(AmdText *t) {
    t->name = t->mnemonic;
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
        Str ending = str(encodings[i]);
        if (!str_ends(t->name, ending)) continue;
        t->name.size -= ending.size;
        t->vop3 = i == 0 || i == 2;
        t->dpp = i == 0 || i == 3 || i == 4;
        t->sdwa = i == 5;
        return;
    }
}

// The end of a piece: the next separator outside brackets.
static size_t piece_end(Str s, char separator) {
    int depth = 0;
    for (size_t i = 0; i < s.size; i++) {
        char c = s.text[i];
        if (c == '[' || c == '(') depth++;
        if (c == ']' || c == ')') depth--;
        if (c == separator && depth <= 0) return i;
    }
    return s.size;
}

static Str rest_of(Str s, size_t from) {
    return from >= s.size ? (Str){"", 0} : (Str){s.text + from, s.size - from};
}

static bool add_modifier(AmdDecoder *d, AmdText *t, Str s) {
    if (!s.size) return true;
    if (t->modifier_count == AMD_TEXT_MODIFIERS) return amd_decode_fail(d, "too many modifiers");
    t->modifiers[t->modifier_count++] = s;
    return true;
}

// Commas separate operands; modifiers follow the last operand, separated by blanks.
bool amd_text_split(AmdDecoder *d, Str line, AmdText *t) {
    memset(t, 0, sizeof *t);
    line = str_trim(line);
    size_t end = piece_end(line, ' ');
    t->mnemonic = (Str){line.text, end};
    strip(t);
    line = str_trim(rest_of(line, end));
    while (line.size) {
        end = piece_end(line, ',');
        Str piece = str_trim((Str){line.text, end});
        line = str_trim(rest_of(line, end + 1));
        size_t blank = piece_end(piece, ' ');
        if (t->operand_count == AMD_TEXT_OPERANDS) return amd_decode_fail(d, "too many operands");
        t->operands[t->operand_count++] = (Str){piece.text, blank};
        for (Str more = str_trim(rest_of(piece, blank)); more.size;) {
            size_t stop = piece_end(more, ' ');
            TRY(add_modifier(d, t, (Str){more.text, stop}));
            more = str_trim(rest_of(more, stop));
        }
    }
    return true;
}

bool amd_text_modifier(AmdText *t, const char *name, Str *value) {
    size_t size = strlen(name);
    for (uint32_t n = 0; n < t->modifier_count; n++) {
        Str m = t->modifiers[n];
        if (m.size < size || memcmp(m.text, name, size) != 0) continue;
        if (m.size > size && m.text[size] != ':') continue;
        if (value) *value = rest_of(m, size + 1);
        t->taken |= 1u << n;
        return true;
    }
    return false;
}

Str amd_text_inner(Str s, size_t head) {
    return s.size > head ? (Str){s.text + head, s.size - head - 1} : (Str){"", 0};
}

bool amd_text_number(Str s, int64_t *value) {
    bool negative = s.size && s.text[0] == '-';
    if (negative) s = rest_of(s, 1);
    uint64_t number;
    bool overflow = false;
    if (!str_to_u64(s, &number, &overflow) || overflow) return false;
    *value = negative ? (int64_t)(0 - number) : (int64_t)number;
    return true;
}

uint32_t amd_text_list(Str s, uint32_t *values, uint32_t most) {
    if (s.size < 2 || s.text[0] != '[') return 0;
    s = amd_text_inner(s, 1);
    uint32_t count = 0;
    while (s.size && count < most) {
        Str rest, one = str_trim(str_cut(s, ',', &rest));
        int64_t number;
        if (!amd_text_number(one, &number)) return 0;
        values[count++] = (uint32_t)number;
        s = str_trim(rest);
    }
    return count;
}

// ---- Operands ----

static uint32_t words_of(AmdType type) { return amd_slot(type) / 4; }

static bool named_scalar(Str s, uint32_t *number, uint32_t *words) {
    static const struct {
        const char *name;
        uint8_t number, words;
    } names[] = {{"vcc", AMD_VCC, 2},
                 {"vcc_lo", AMD_VCC, 1},
                 {"vcc_hi", AMD_VCC + 1, 1},
                 {"exec", AMD_EXEC, 2},
                 {"exec_lo", AMD_EXEC, 1},
                 {"exec_hi", AMD_EXEC + 1, 1},
                 {"m0", AMD_M0, 1},
                 {"null", AMD_NULL, 1},
                 {"flat_scratch", AMD_FLAT, 2},
                 {"flat_scratch_lo", AMD_FLAT, 1},
                 {"flat_scratch_hi", AMD_FLAT + 1, 1},
                 {"xnack_mask", AMD_XNACK, 2},
                 {"xnack_mask_lo", AMD_XNACK, 1},
                 {"xnack_mask_hi", AMD_XNACK + 1, 1},
                 {"scc", AMD_SCC, 1},
                 {"src_scc", AMD_SCC, 1},
                 {"vccz", AMD_VCCZ, 1},
                 {"src_vccz", AMD_VCCZ, 1},
                 {"execz", AMD_EXECZ, 1},
                 {"src_execz", AMD_EXECZ, 1}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_equal(s, str(names[i].name))) {
            *number = names[i].number, *words = names[i].words;
            return true;
        }
    return false;
}

// Reads "12" or "[12:15]".
static bool range(Str s, uint32_t *first, uint32_t *words) {
    int64_t low, high;
    if (s.size && s.text[0] == '[') {
        Str rest, begin = str_cut(amd_text_inner(s, 1), ':', &rest);
        if (!amd_text_number(begin, &low)) return false;
        if (!rest.size) rest = begin;
        if (!amd_text_number(rest, &high)) return false;
    } else {
        if (!amd_text_number(s, &low)) return false;
        high = low;
    }
    if (low < 0 || high < low || high - low >= 64 || high >= AMD_ACCUMULATORS) return false;
    *first = (uint32_t)low, *words = (uint32_t)(high - low) + 1;
    return true;
}

static bool check_vector(AmdDecoder *d, const AmdOperand *o) {
    bool accumulator = o->number >= AMD_ACCUMULATORS;
    uint32_t number = accumulator ? o->number - (uint32_t)AMD_ACCUMULATORS : o->number;
    uint32_t most = accumulator ? d->accumulators : d->vectors;
    if (number + o->words > most)
        return amd_decode_fail(d, "%c%u is not one of the %u registers that the descriptor gives",
                               accumulator ? 'a' : 'v', number + o->words - 1u, most);
    uint32_t end = (uint32_t)o->number + o->words;
    if (end > d->kernel->vectors) d->kernel->vectors = end;
    return true;
}

static bool register_of(AmdDecoder *d, Str s, AmdOperand *o) {
    uint32_t number, words;
    if (named_scalar(s, &number, &words)) {
        o->kind = AMD_SCALAR, o->number = (uint16_t)number, o->words = (uint8_t)words;
        return true;
    }
    if (str_ends(s, STR(".l")) || str_ends(s, STR(".h"))) {
        o->half = true, o->high = s.text[s.size - 1] == 'h';
        s.size -= 2;
    }
    if (s.size < 2) return false;
    if (str_starts(s, STR("ttmp"))) {
        if (!range(rest_of(s, 4), &number, &words) || number + words > 16) return false;
        o->kind = AMD_SCALAR, o->number = (uint16_t)(AMD_TTMP + number);
    } else if (s.text[0] == 's') {
        if (!range(rest_of(s, 1), &number, &words) || number + words > AMD_VCC) return false;
        o->kind = AMD_SCALAR, o->number = (uint16_t)number;
        if (number + words > d->scalars)
            return amd_decode_fail(d,
                                   "s%u is not one of the %u registers that the descriptor gives",
                                   number + words - 1, d->scalars);
    } else if (s.text[0] == 'v' || s.text[0] == 'a') {
        if (!range(rest_of(s, 1), &number, &words)) return false;
        o->kind = AMD_VECTOR;
        o->number = (uint16_t)(number + (s.text[0] == 'a' ? AMD_ACCUMULATORS : 0));
        o->words = (uint8_t)words;
        return check_vector(d, o);
    } else {
        return false;
    }
    o->words = (uint8_t)words;
    return true;
}

// The bits of an inline constant, in the operand's type.
static uint64_t float_bits(AmdType type, double x, bool inverse_2pi) {
    switch (type) {
    case AMD_F64: return inverse_2pi ? UINT64_C(0x3fc45f306dc9c882) : sim_bits_f64(x);
    case AMD_F16:
    case AMD_F16X2: return inverse_2pi ? 0x3118 : sim_f16_round((float)x);
    case AMD_BF16:
    case AMD_BF16X2: return inverse_2pi ? 0x3e22 : sim_bf16_round((float)x);
    case AMD_B64: return sim_bits_f64(x);
    case AMD_F32X2: {
        uint64_t one = inverse_2pi ? 0x3e22f983 : sim_bits_f32((float)x);
        return one | one << 32;
    }
    default: return inverse_2pi ? 0x3e22f983 : sim_bits_f32((float)x);
    }
}

static bool special_base(Str s, uint64_t *value) {
    static const struct {
        const char *name;
        uint64_t value;
    } bases[] = {{"src_shared_base", SIM_SHARED_BASE},
                 {"src_shared_limit", SIM_SHARED_BASE | UINT32_MAX},
                 {"src_private_base", SIM_LOCAL_BASE},
                 {"src_private_limit", SIM_LOCAL_BASE | UINT32_MAX}};
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        if (str_equal(s, str(bases[i].name))) {
            *value = bases[i].value;
            return true;
        }
    return false;
}

static bool constant_of(Str s, AmdType type, AmdOperand *o) {
    o->kind = AMD_CONSTANT, o->words = (uint8_t)words_of(type);
    if (special_base(s, &o->value)) {
        if (o->words == 1) o->value >>= 32;  // the high halves of the apertures
        return true;
    }
    if (memchr(s.text, '.', s.size)) {
        double x;
        if (!str_to_double(s, &x)) return false;
        o->value = float_bits(type, x, x > 0.159 && x < 0.16);
        return true;
    }
    int64_t number;
    if (!amd_text_number(s, &number)) return false;
    o->value = (uint64_t)number;
    bool literal = number > 64 || number < -16;
    if (type == AMD_F64 && literal) o->value <<= 32;
    if (type == AMD_SIGNED16) o->value = (uint64_t)(int64_t)(int16_t)number;
    if (type == AMD_F32X2) o->value = (uint32_t)number | (uint64_t)number << 32;
    if (o->words == 1 && type != AMD_SIGNED16) o->value = (uint32_t)o->value;
    return true;
}

// Removes "name(" … ")".
static bool wrapped(Str *s, const char *name) {
    size_t size = strlen(name);
    if (s->size < size + 2 || memcmp(s->text, name, size) != 0 || s->text[size] != '(' ||
        s->text[s->size - 1] != ')')
        return false;
    *s = (Str){s->text + size + 1, s->size - size - 2};
    return true;
}

static void take_signs(Str *s, AmdOperand *o) {
    bool digit = s->size > 1 && s->text[1] >= '0' && s->text[1] <= '9';
    if (s->size > 1 && s->text[0] == '-' && !digit) {
        o->negated = true;
        *s = rest_of(*s, 1);
    } else if (wrapped(s, "neg")) {
        o->negated = true;
    }
    if (s->size > 2 && s->text[0] == '|' && s->text[s->size - 1] == '|') {
        o->absolute = true;
        *s = (Str){s->text + 1, s->size - 2};
    } else if (wrapped(s, "abs")) {
        o->absolute = true;
    }
    if (wrapped(s, "sext")) o->extended = true;
    (void)wrapped(s, "lit");
}

bool amd_text_one(AmdDecoder *d, Str text, AmdType type, AmdOperand *o) {
    Str s = text;
    memset(o, 0, sizeof *o);
    o->type = (uint8_t)type;
    if (str_equal(s, STR("off"))) return true;
    take_signs(&s, o);
    size_t errors = diags_errors(d->diags);
    if (register_of(d, s, o)) {
        if (type == AMD_WORDS || type == AMD_MASK) return true;
        uint32_t words = words_of(type);
        // A single scalar where two are expected: null.
        if (o->words == words || o->number == AMD_NULL) return true;
        return amd_decode_fail(d, "operand '%.*s' has %u registers, %u are expected", STR_ARG(text),
                               o->words, words);
    }
    if (diags_errors(d->diags) > errors) return false;
    if (constant_of(s, type, o)) return true;
    return amd_decode_fail(d, "operand '%.*s' is not known", STR_ARG(text));
}

bool amd_text_operand(AmdDecoder *d, const AmdText *t, uint32_t n, AmdType type, AmdOperand *o) {
    if (n >= t->operand_count) return amd_decode_fail(d, "there are only %u operands", n);
    return amd_text_one(d, t->operands[n], type, o);
}
