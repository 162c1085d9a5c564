#include "compile/pipeline/diag_wire.h"

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
