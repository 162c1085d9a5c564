// Layouts for readers: a table of positions (layout.h).
#include "ir/layout/layout.h"

static uint32_t digits(uint32_t v) {
    uint32_t count = 1;
    while (v >= 10) {
        v /= 10;
        count++;
    }
    return count;
}

static void cell(const Layout *l, uint32_t element, StrBuf *out) {
    uint32_t coords[IR_MAX_RANK];
    layout_coords(l, element, coords);
    strbuf_add(out, STR("  ("));
    for (uint32_t i = 0; i < l->rank; i++) {
        strbuf_printf(out, i ? ",%*u" : "%*u", (int)digits(layout_extent(l, i) - 1), coords[i]);
    }
    strbuf_char(out, ')');
}

static void column_head(const Layout *l, uint32_t number, StrBuf *out) {
    uint32_t width = 2 + (l->rank ? l->rank - 1u : 0);
    for (uint32_t i = 0; i < l->rank; i++) width += digits(layout_extent(l, i) - 1);
    strbuf_printf(out, "  %-*u", (int)width, number);
}

static const char *const short_names[LAYOUT_DIMS] = {"r", "l", "w", "b", "o"};

// The position of a line, without the bits that its columns count; the same width everywhere.
static void line_head(const Layout *l, LayoutPoint point, LayoutDim columns, StrBuf *out) {
    for (uint32_t d = LAYOUT_DIMS; d-- > 0;) {
        if (d == (uint32_t)columns || l->dim_bits[d] == 0) continue;
        strbuf_printf(out, "%s%-*u ", short_names[d], (int)digits(layout_size(l, (LayoutDim)d) - 1),
                      point.at[d]);
    }
}

// Memory has no registers: its lines are 32 offsets.
typedef struct TableGrid {
    LayoutDim columns;
    uint32_t column_bits;
} TableGrid;

static TableGrid grid_of(const Layout *l) {
    bool memory = l->bits == l->dim_bits[LAYOUT_OFFSET] && l->bits > 0;
    if (!memory) return (TableGrid){LAYOUT_REG, l->dim_bits[LAYOUT_REG]};
    return (TableGrid){LAYOUT_OFFSET, l->bits < 5 ? l->bits : 5u};
}

void layout_table(const Layout *l, uint32_t max_lines, StrBuf *out) {
    TableGrid grid = grid_of(l);
    uint32_t columns = UINT32_C(1) << grid.column_bits;
    uint64_t lines = UINT64_C(1) << (l->bits - grid.column_bits);
    layout_text(l, out);
    strbuf_char(out, '\n');
    StrBuf head = strbuf(out->arena);
    line_head(l, (LayoutPoint){{0}}, grid.columns, &head);
    if (grid.columns == LAYOUT_OFFSET) strbuf_printf(&head, "o%-7u", 0u);
    strbuf_printf(out, "%-*s", (int)head.size, grid.columns == LAYOUT_REG ? "reg" : "offset");
    for (uint32_t i = 0; i < columns; i++) column_head(l, i, out);
    strbuf_char(out, '\n');
    for (uint64_t line = 0; line < lines; line++) {
        if (max_lines && line == max_lines) {
            strbuf_printf(out, "(%llu more lines)\n", (unsigned long long)(lines - line));
            return;
        }
        uint32_t first = (uint32_t)(line << grid.column_bits);
        line_head(l, layout_point(l, first), grid.columns, out);
        if (grid.columns == LAYOUT_OFFSET) strbuf_printf(out, "o%-7u", first);
        for (uint32_t i = 0; i < columns; i++) cell(l, layout_apply_input(l, first | i), out);
        strbuf_char(out, '\n');
    }
}
