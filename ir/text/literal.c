#include "ir/text/literal.h"

#include <math.h>

static void escape(unsigned char c, StrBuf *out) {
    switch (c) {
    case '"': strbuf_add(out, STR("\\\"")); break;
    case '\\': strbuf_add(out, STR("\\\\")); break;
    case '\n': strbuf_add(out, STR("\\n")); break;
    case '\t': strbuf_add(out, STR("\\t")); break;
    case '\r': strbuf_add(out, STR("\\r")); break;
    default: strbuf_printf(out, "\\x%02x", c); break;
    }
}

void ir_literal_quote(Str text, StrBuf *out) {
    strbuf_char(out, '"');
    for (size_t i = 0; i < text.size;) {
        uint32_t point = 0;
        size_t size = str_utf8((Str){text.text + i, text.size - i}, &point);
        if (size == 0 || point < 0x20 || point == 0x7f || point == '"' || point == '\\') {
            escape((unsigned char)text.text[i++], out);
        } else {
            strbuf_add(out, (Str){text.text + i, size});
            i += size;
        }
    }
    strbuf_char(out, '"');
}

static bool hex_text(Str s) { return s.size > 2 && s.text[0] == '0' && (s.text[1] | 32) == 'x'; }

static bool bits_fit(Dtype elem, uint64_t bits) {
    unsigned width = elem == DTYPE_BOOL ? 1 : dtype_bits(elem);
    return width >= 64 || bits >> width == 0;
}

void ir_literal_print(Dtype elem, uint64_t bits, StrBuf *out) {
    if (dtype_is(elem, DTYPE_CLASS_NUMBER | DTYPE_CLASS_BOOL) && bits_fit(elem, bits)) {
        size_t start = out->size;
        dtype_text(elem, bits, out);
        uint64_t again;
        Str text = {out->text + start, out->size - start};
        if (ir_literal_read(elem, text, &again) == IR_LITERAL_OK && again == bits) return;
        out->size = start;
        out->text[start] = 0;
    }
    strbuf_printf(out, "0x%llx", (unsigned long long)bits);
}

// The magnitude, and whether a minus precedes it.
static IrLiteral magnitude(Str text, bool *minus, uint64_t *value) {
    *minus = text.size > 0 && text.text[0] == '-';
    if (*minus) text = (Str){text.text + 1, text.size - 1};
    bool overflow = false;
    if (!str_to_u64(text, value, &overflow)) {
        return overflow ? IR_LITERAL_RANGE : IR_LITERAL_MALFORMED;
    }
    return overflow ? IR_LITERAL_RANGE : IR_LITERAL_OK;
}

IrLiteral ir_literal_int(Str text, int64_t *value) {
    bool minus;
    uint64_t size;
    IrLiteral result = magnitude(text, &minus, &size);
    if (result != IR_LITERAL_OK) return result;
    if (size > (uint64_t)INT64_MAX + (minus ? 1 : 0)) return IR_LITERAL_RANGE;
    *value = minus ? (int64_t)(0 - size) : (int64_t)size;
    return IR_LITERAL_OK;
}

static IrLiteral read_int(Dtype elem, Str text, uint64_t *bits) {
    bool minus;
    uint64_t size;
    IrLiteral result = magnitude(text, &minus, &size);
    if (result != IR_LITERAL_OK) return result;
    uint64_t limit = minus ? 0 - (uint64_t)dtype_int_min(elem) : dtype_int_max(elem);
    if (size > limit) return IR_LITERAL_RANGE;
    *bits = dtype_wrap(elem, minus ? 0 - size : size);
    return IR_LITERAL_OK;
}

static IrLiteral read_float(Dtype elem, Str text, uint64_t *bits) {
    double value;
    if (!str_to_double(text, &value)) return IR_LITERAL_MALFORMED;
    *bits = dtype_from_double(elem, value, false);
    if (isnan(value)) return IR_LITERAL_OK;
    if (dtype_is_nan(elem, *bits)) return IR_LITERAL_RANGE;
    // Formats that overflow to an infinity: only the text of an infinity may become one.
    return isinf(dtype_to_double(elem, *bits)) && !isinf(value) ? IR_LITERAL_RANGE : IR_LITERAL_OK;
}

IrLiteral ir_literal_read(Dtype elem, Str text, uint64_t *bits) {
    if (hex_text(text)) {
        bool overflow = false;
        if (!str_to_u64(text, bits, &overflow)) {
            return overflow ? IR_LITERAL_RANGE : IR_LITERAL_MALFORMED;
        }
        return overflow || !bits_fit(elem, *bits) ? IR_LITERAL_RANGE : IR_LITERAL_OK;
    }
    if (dtype_is(elem, DTYPE_CLASS_INT)) return read_int(elem, text, bits);
    if (dtype_is(elem, DTYPE_CLASS_ANYFLOAT)) return read_float(elem, text, bits);
    if (elem != DTYPE_BOOL) return IR_LITERAL_MALFORMED;
    *bits = str_equal(text, STR("true"));
    return *bits || str_equal(text, STR("false")) ? IR_LITERAL_OK : IR_LITERAL_MALFORMED;
}
