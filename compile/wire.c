#include "compile/wire.h"

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

// ---- Diagnostics ----

static void put_span(StrBuf *out, Span span) {
    wire_put_number(out, (uint64_t)span.begin << 32 | span.end);
}

static Span read_span(WireReader *r) {
    uint64_t both = wire_number(r);
    return (Span){(uint32_t)(both >> 32), (uint32_t)both};
}

void wire_put_diags(StrBuf *out, const Diags *diags, size_t first) {
    wire_put_number(out, diags_count(diags) - first);
    for (size_t i = first; i < diags_count(diags); i++) {
        const Diag *d = diags_get(diags, i);
        wire_put_number(out, d->severity);
        wire_put_text(out, str(diag_slug(d->code)));
        put_span(out, d->span);
        wire_put_text(out, d->text);
        wire_put_text(out, d->help);
        uint64_t notes = 0;
        for (const DiagNote *n = d->notes; n; n = n->next) notes++;
        wire_put_number(out, notes);
        for (const DiagNote *n = d->notes; n; n = n->next) {
            put_span(out, n->span);
            wire_put_text(out, n->text);
        }
    }
}

static void read_diag(WireReader *r, Diags *diags) {
    uint64_t severity = wire_number(r);
    DiagCode code;
    Str slug = wire_text(r);
    Span span = read_span(r);
    Str text = wire_text(r), help = wire_text(r);
    if (r->failed || !diag_code_from_slug(slug, &code)) {
        r->failed = true;
        return;
    }
    if (severity == DIAG_ERROR)
        diag_error(diags, span, code, "%.*s", STR_ARG(text));
    else
        diag_warning(diags, span, code, "%.*s", STR_ARG(text));
    if (help.size) diag_help(diags, "%.*s", STR_ARG(help));
    for (uint32_t n = wire_count(r); n && !r->failed; n--) {
        Span at = read_span(r);
        Str note = wire_text(r);
        diag_note(diags, at, "%.*s", STR_ARG(note));
    }
}

void wire_diags(WireReader *r, Diags *diags) {
    for (uint32_t n = wire_count(r); n && !r->failed; n--) read_diag(r, diags);
}
