#include "base/wire.h"

void wire_put_number(StrBuf *out, uint64_t number) {
    for (int i = 0; i < 8; i++, number >>= 8) strbuf_char(out, (char)(number & 255));
}

void wire_put_text(StrBuf *out, Str text) {
    wire_put_number(out, text.size);
    strbuf_add(out, text);
}

static size_t left(const WireReader *r) { return r->bytes.size - r->at; }

uint64_t wire_number(WireReader *r) {
    if (r->failed || left(r) < 8) {
        r->failed = true;
        return 0;
    }
    uint64_t number = 0;
    for (size_t i = 8; i-- > 0;) number = number << 8 | (uint8_t)r->bytes.text[r->at + i];
    r->at += 8;
    return number;
}

uint32_t wire_below(WireReader *r, uint64_t limit) {
    uint64_t number = wire_number(r);
    if (number < limit) return (uint32_t)number;
    r->failed = true;
    return 0;
}

uint32_t wire_count(WireReader *r) {
    uint64_t count = wire_number(r);
    if (count <= left(r) && count <= UINT32_MAX) return (uint32_t)count;
    r->failed = true;
    return 0;
}

Str wire_text(WireReader *r) {
    uint64_t size = wire_number(r);
    if (r->failed || size > left(r)) {
        r->failed = true;
        return STR("");
    }
    Str text = {r->bytes.text + r->at, (size_t)size};
    r->at += text.size;
    return text;
}

bool wire_ended(const WireReader *r) { return !r->failed && !left(r); }
