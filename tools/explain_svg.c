// Draws the layouts of a kernel's tiles, one below the other.
#include <stdio.h>
#include <string.h>

#include "tools/explain.h"

enum { CAPTION_HEIGHT = 26, PLACES_MAX = 8 };

// Reads the number of an attribute in the head of the drawing: width="…".
static unsigned attribute(const char *svg, const char *name) {
    const char *at = strstr(svg, name);
    unsigned value = 0;
    if (at) sscanf(at + strlen(name), "=\"%u\"", &value);
    return value;
}

static void caption(const Unit *unit, const ExplainLayout *l, unsigned y, StrBuf *out) {
    strbuf_printf(out, "<text x=\"8\" y=\"%u\" font-family=\"monospace\" font-size=\"14\">",
                  y + 18);
    strbuf_add(out, str(dtype_name(l->type->elem)));
    for (uint32_t d = 0; d < l->type->rank; d++)
        strbuf_printf(out, "%s%u", d ? "," : "[", l->type->shape[d]);
    strbuf_add(out, STR("], made in "));
    uint32_t lines[PLACES_MAX], count = 0;
    for (size_t i = 0; i < l->places.count && count < PLACES_MAX; i++) {
        SourceLine at = source_line(unit->sources, l->places.data[i].begin);
        bool known = !at.file || !span_known(l->places.data[i]);
        for (uint32_t k = 0; k < count; k++) known = known || lines[k] == at.line;
        if (known) continue;
        lines[count] = at.line;
        strbuf_printf(out, count ? ", %u" : "line %u", at.line);
        count++;
    }
    if (!count) strbuf_add(out, STR("no line of the source"));
    strbuf_add(out, STR("</text>\n"));
}

void explain_svg(const Unit *unit, const Explain *e, StrBuf *out) {
    StrBuf body = strbuf(out->arena);
    unsigned y = 0, width = 400;
    for (size_t i = 0; i < e->layouts.count; i++) {
        const ExplainLayout *l = &e->layouts.data[i];
        StrBuf one = strbuf(out->arena);
        layout_svg(l->type->layout, &one);
        caption(unit, l, y, &body);
        y += CAPTION_HEIGHT;
        strbuf_printf(&body, "<svg y=\"%u\"%s", y, one.text + strlen("<svg"));
        y += attribute(one.text, " height");
        unsigned own = attribute(one.text, " width");
        if (own > width) width = own;
    }
    strbuf_printf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\">\n"
                  "<title>%.*s: layouts of its tiles</title>\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                  width, y ? y : CAPTION_HEIGHT, STR_ARG(e->meta->name));
    strbuf_add(out, strbuf_str(&body));
    strbuf_add(out, STR("</svg>\n"));
}
