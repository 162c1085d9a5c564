// A drawing of a layout: the tile, each element with the lane and register that hold it (layout.h).
#include "ir/layout/gf2.h"
#include "ir/layout/layout.h"

enum { CELL_WIDTH = 52, CELL_HEIGHT = 22, MARGIN = 44, MAX_SIDE = 128 };

// The tile as rows and columns: the last axis across, all others down.
typedef struct SvgPage {
    const Layout *l;
    Gf2Span holders;  // element → input number
    uint32_t copies;  // positions that hold an element
    uint32_t row_bits, column_bits;
    uint32_t rows, columns;  // drawn
} SvgPage;

static SvgPage page_of(const Layout *l) {
    SvgPage p = {.l = l};
    for (uint32_t i = 0; i < l->bits; i++) gf2_add(&p.holders, l->bases[i], UINT32_C(1) << i);
    p.copies = UINT32_C(1) << (l->bits - p.holders.rank);
    p.column_bits = l->rank ? l->axis_bits[l->rank - 1] : 0;
    p.row_bits = l->tile_bits - p.column_bits;
    p.rows = UINT32_C(1) << p.row_bits;
    p.columns = UINT32_C(1) << p.column_bits;
    if (p.rows > MAX_SIDE) p.rows = MAX_SIDE;
    if (p.columns > MAX_SIDE) p.columns = MAX_SIDE;
    return p;
}

// Neighbouring warps get distant colours; odd lanes are a shade darker, so that they differ
// visibly.
static void fill(const SvgPage *p, LayoutPoint at, StrBuf *out) {
    uint32_t group = at.at[LAYOUT_WARP] + at.at[LAYOUT_BLOCK] * layout_size(p->l, LAYOUT_WARP);
    if (p->l->dim_bits[LAYOUT_OFFSET]) group = at.at[LAYOUT_OFFSET] / 32;
    uint32_t shade = 86 - 8 * (at.at[LAYOUT_LANE] & 1);
    strbuf_printf(out, "fill=\"hsl(%u,65%%,%u%%)\"", group * 137 % 360, shade);
}

static void label(const SvgPage *p, LayoutPoint at, StrBuf *out) {
    const Layout *l = p->l;
    if (l->dim_bits[LAYOUT_OFFSET]) {
        strbuf_printf(out, "%u", at.at[LAYOUT_OFFSET]);
        return;
    }
    if (l->dim_bits[LAYOUT_BLOCK]) strbuf_printf(out, "b%u", at.at[LAYOUT_BLOCK]);
    if (l->dim_bits[LAYOUT_WARP]) strbuf_printf(out, "w%u ", at.at[LAYOUT_WARP]);
    strbuf_printf(out, "%u:%u", at.at[LAYOUT_LANE], at.at[LAYOUT_REG]);
    if (p->copies > 1) strbuf_char(out, '+');
}

static void draw_cell(const SvgPage *p, uint32_t row, uint32_t column, StrBuf *out) {
    uint32_t x = MARGIN + column * CELL_WIDTH, y = MARGIN + row * CELL_HEIGHT;
    uint32_t input;
    bool held = gf2_solve(&p->holders, row << p->column_bits | column, &input);
    strbuf_printf(out, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" ", x, y,
                  (unsigned)CELL_WIDTH, (unsigned)CELL_HEIGHT);
    if (!held) {
        strbuf_add(out, STR("fill=\"white\"/>\n"));
        return;
    }
    LayoutPoint at = layout_point(p->l, input);
    fill(p, at, out);
    strbuf_printf(out, "/><text x=\"%u\" y=\"%u\">", x + CELL_WIDTH / 2, y + CELL_HEIGHT - 7);
    label(p, at, out);
    strbuf_add(out, STR("</text>\n"));
}

static void draw_heads(const SvgPage *p, StrBuf *out) {
    for (uint32_t i = 0; i < p->columns; i++) {
        strbuf_printf(out, "<text x=\"%u\" y=\"%u\">%u</text>\n",
                      MARGIN + i * CELL_WIDTH + CELL_WIDTH / 2, MARGIN - 6u, i);
    }
    for (uint32_t i = 0; i < p->rows; i++) {
        strbuf_printf(out, "<text x=\"%u\" y=\"%u\">%u</text>\n", MARGIN / 2u,
                      MARGIN + i * CELL_HEIGHT + CELL_HEIGHT - 7u, i);
    }
}

void layout_svg(const Layout *l, StrBuf *out) {
    SvgPage p = page_of(l);
    uint32_t width = 2 * MARGIN + p.columns * CELL_WIDTH;
    uint32_t height = 2 * MARGIN + p.rows * CELL_HEIGHT;
    strbuf_printf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
                  "font-family=\"monospace\" font-size=\"11\" text-anchor=\"middle\" "
                  "stroke-width=\"0.5\">\n<title>",
                  width, height);
    layout_text(l, out);
    strbuf_add(out, STR("</title>\n<g stroke=\"none\">\n"));
    draw_heads(&p, out);
    strbuf_printf(out, "<text x=\"%u\" y=\"16\" text-anchor=\"start\">", (unsigned)MARGIN);
    bool memory = l->dim_bits[LAYOUT_OFFSET] != 0;
    strbuf_add(out, memory ? STR("offset") : STR("warp, lane:register"));
    if (p.copies > 1) strbuf_printf(out, " (+: the first of %u that hold it)", p.copies);
    bool cut = p.rows < UINT64_C(1) << p.row_bits || p.columns < UINT64_C(1) << p.column_bits;
    if (cut) strbuf_printf(out, "; only the first %u by %u elements", p.rows, p.columns);
    strbuf_add(out, STR("</text>\n</g>\n<g stroke=\"none\">\n"));
    for (uint32_t row = 0; row < p.rows; row++) {
        for (uint32_t column = 0; column < p.columns; column++) draw_cell(&p, row, column, out);
    }
    strbuf_add(out, STR("</g>\n</svg>\n"));
}
