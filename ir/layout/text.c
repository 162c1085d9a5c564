// The text form of layouts: printer and parser (layout.h).
//
//     layout = "layout" "[" [ number { "," number } ] "]" bases
//     bases  = "(" { dim "=" basis { basis } } ")"
//     basis  = "(" [ number { "," number } ] ")"
#include "base/os/os.h"
#include "ir/layout/layout.h"

static const char *const dim_names[LAYOUT_DIMS] = {
    [LAYOUT_REG] = "reg",     [LAYOUT_LANE] = "lane",     [LAYOUT_WARP] = "warp",
    [LAYOUT_BLOCK] = "block", [LAYOUT_OFFSET] = "offset",
};

static void numbers_text(const uint32_t *numbers, uint32_t count, StrBuf *out) {
    for (uint32_t i = 0; i < count; i++) strbuf_printf(out, i ? ",%u" : "%u", numbers[i]);
}

void layout_bases_text(const Layout *l, StrBuf *out) {
    strbuf_char(out, '(');
    bool first = true;
    for (uint32_t d = 0; d < LAYOUT_DIMS; d++) {
        if (l->dim_bits[d] == 0) continue;
        strbuf_printf(out, first ? "%s=" : " %s=", dim_names[d]);
        first = false;
        for (uint32_t i = 0; i < l->dim_bits[d]; i++) {
            uint32_t coords[IR_MAX_RANK];
            layout_coords(l, layout_basis(l, (LayoutDim)d, i), coords);
            strbuf_char(out, '(');
            numbers_text(coords, l->rank, out);
            strbuf_char(out, ')');
        }
    }
    strbuf_char(out, ')');
}

void layout_text(const Layout *l, StrBuf *out) {
    uint32_t shape[IR_MAX_RANK];
    layout_shape(l, shape);
    strbuf_add(out, STR("layout["));
    numbers_text(shape, l->rank, out);
    strbuf_char(out, ']');
    layout_bases_text(l, out);
}

// ---- parsing

typedef struct LayoutReader {
    Str text;
    size_t at;
    LayoutMistake *mistake;
} LayoutReader;

static bool fail(LayoutReader *r, const char *what) {
    *r->mistake = (LayoutMistake){r->at, what};
    return false;
}

static char peek(LayoutReader *r) {
    while (r->at < r->text.size && (r->text.text[r->at] == ' ' || r->text.text[r->at] == '\t')) {
        r->at++;
    }
    return r->at < r->text.size ? r->text.text[r->at] : '\0';
}

static bool take(LayoutReader *r, char c) {
    if (peek(r) != c) return false;
    r->at++;
    return true;
}

static Str word(LayoutReader *r) {
    peek(r);
    size_t start = r->at;
    while (r->at < r->text.size && r->text.text[r->at] >= 'a' && r->text.text[r->at] <= 'z') {
        r->at++;
    }
    return (Str){r->text.text + start, r->at - start};
}

static bool read_number(LayoutReader *r, uint32_t *value) {
    char c = peek(r);
    if (c < '0' || c > '9') return fail(r, "expected a number");
    size_t start = r->at;
    uint32_t sum = 0;
    for (; r->at < r->text.size; r->at++) {
        c = r->text.text[r->at];
        if (c < '0' || c > '9') break;
        sum = sum * 10 + (uint32_t)(c - '0');
        if (sum > UINT32_C(1) << LAYOUT_MAX_TILE_BITS) {
            r->at = start;
            return fail(r, "the number is too large");
        }
    }
    *value = sum;
    return true;
}

// Numbers between brackets, at most IR_MAX_RANK of them.
static bool numbers(LayoutReader *r, char close, uint32_t *values, uint32_t *count) {
    *count = 0;
    if (take(r, close)) return true;
    do {
        if (*count == IR_MAX_RANK) return fail(r, "more than 8 dimensions");
        if (!read_number(r, &values[(*count)++])) return false;
    } while (take(r, ','));
    if (take(r, close)) return true;
    return fail(r, close == ']' ? "expected ',' or ']'" : "expected ',' or ')'");
}

static bool read_basis(LayoutReader *r, Layout *l, LayoutDim dim) {
    uint32_t coords[IR_MAX_RANK], count;
    if (!take(r, '(')) return fail(r, "expected '('");
    size_t start = r->at;
    if (!numbers(r, ')', coords, &count)) return false;
    bool fits = count == l->rank;
    for (uint32_t i = 0; fits && i < count; i++) fits = coords[i] < layout_extent(l, i);
    if (!fits) r->at = start;
    if (count != l->rank) return fail(r, "expected one coordinate for each axis");
    if (!fits) return fail(r, "a coordinate past the extent of its axis");
    if (l->bits == LAYOUT_MAX_BITS) return fail(r, "more than 32 bits");
    layout_add(l, dim, layout_element(l, coords));
    return true;
}

static bool read_dim(LayoutReader *r, LayoutDim *dim) {
    peek(r);
    size_t start = r->at;
    Str name = word(r);
    for (uint32_t d = 0; d < LAYOUT_DIMS; d++) {
        *dim = (LayoutDim)d;
        if (str_equal(name, str(dim_names[d]))) return true;
    }
    r->at = start;
    return fail(r, "expected reg, lane, warp, block, offset or ')'");
}

static bool read_bases(LayoutReader *r, Layout *l) {
    if (!take(r, '(')) return fail(r, "expected '('");
    while (!take(r, ')')) {
        LayoutDim dim;
        if (!read_dim(r, &dim)) return false;
        if (l->dim_bits[dim]) return fail(r, "a dimension that was given before");
        if (!take(r, '=')) return fail(r, "expected '='");
        do {
            if (!read_basis(r, l, dim)) return false;
        } while (peek(r) == '(');
    }
    return true;
}

// Layouts that exceed the text's limits are refused here, before layout_empty sees them.
static bool shape_fits(LayoutReader *r, uint32_t rank, const uint32_t *shape) {
    uint64_t total = 1;
    for (uint32_t i = 0; i < rank; i++) {
        if (shape[i] == 0 || (shape[i] & (shape[i] - 1)) != 0) {
            return fail(r, "an extent that is not a power of two");
        }
        total *= shape[i];
        if (total > UINT64_C(1) << LAYOUT_MAX_TILE_BITS) return fail(r, "too many elements");
    }
    return true;
}

bool layout_parse_bases(Str text, uint32_t rank, const uint32_t *shape, Layout *l, size_t *used,
                        LayoutMistake *mistake) {
    LayoutReader r = {text, 0, mistake};
    if (!shape_fits(&r, rank, shape)) return false;
    *l = layout_empty(rank, shape);
    if (!read_bases(&r, l)) return false;
    *used = r.at;
    return true;
}

bool layout_parse(Str text, Layout *l, size_t *used, LayoutMistake *mistake) {
    LayoutReader r = {text, 0, mistake};
    uint32_t shape[IR_MAX_RANK], rank;
    if (!str_equal(word(&r), STR("layout"))) {
        r.at = 0;
        return fail(&r, "expected 'layout'");
    }
    if (!take(&r, '[')) return fail(&r, "expected '['");
    if (!numbers(&r, ']', shape, &rank) || !shape_fits(&r, rank, shape)) return false;
    *l = layout_empty(rank, shape);
    if (!read_bases(&r, l)) return false;
    *used = r.at;
    return true;
}
