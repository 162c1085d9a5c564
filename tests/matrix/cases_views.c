// Cells of memory through views: ranks 1 to 3, every kind of index, both layouts.
#include "tests/matrix/views.h"

// A selection as letters, one for each dimension: w and W part-selects of 4 and 16 elements, one
// outside in part; s a scalar; o a scalar outside; t a tile of 8; c and r a column and a row of a
// tile of [4,8].
static const char *const selections[] = {
    "w",  "W",  "s",  "o",   "t",   "ww",  "sW",  "Ws",  "tw",  "wt",  "cr",
    "rc", "ow", "tt", "www", "sww", "wsw", "wts", "cwr", "rcs", "sss", "ccw",
};
static const Dtype index_types[] = {DTYPE_I64, DTYPE_I32, DTYPE_U64, DTYPE_U8, DTYPE_I16};

static ViewIndex index_of(Matrix *m, char letter, Dtype type, int64_t extent) {
    static const uint32_t eight[] = {8}, column[] = {4, 1}, row[] = {1, 8};
    bool is_signed = type_is_signed(type);
    ViewIndex index = {.type = type};
    switch (letter) {
    case 'w':
    case 'W':
        index.width = letter == 'w' ? 4 : 16;
        index.value = letter == 'w' ? 2 : is_signed ? -4 : extent - 4;
        return index;
    case 's': return view_scalar(type, (int64_t)(matrix_random(m) % (uint64_t)extent));
    case 'o': return view_scalar(type, is_signed && matrix_random(m) % 2 ? -1 : extent);
    case 't': return view_tile(m, type, 1, eight, extent);
    case 'c': return view_tile(m, type, 2, column, extent);
    default: return view_tile(m, type, 2, row, extent);
    }
}

static bool is_packed(Dtype t) { return dtype_is(t, DTYPE_CLASS_PACKED); }

// Language rule 19: packed elements are written in whole bytes.
static bool writes_packed(const char *letters) {
    char last = 0;
    for (; *letters; letters++) {
        if (*letters == 't' || *letters == 'c' || *letters == 'r') return false;
        last = *letters;
    }
    return last == 'w' || last == 'W';
}

static ViewCell cell_of(Matrix *m, Dtype elem, const char *letters, bool strided, Dtype type) {
    static const int64_t extents[VIEW_RANK] = {9, 6, 14};
    ViewCell v = {.elem = elem, .inside_marked = true};
    for (; letters[v.rank]; v.rank++) v.extent[v.rank] = letters[v.rank + 1] ? extents[v.rank] : 14;
    view_strides(&v, strided);
    for (uint32_t d = 0; d < v.rank; d++) v.index[d] = index_of(m, letters[d], type, v.extent[d]);
    return v;
}

typedef void (*Body)(Matrix *m, const char *name, const ViewCell *v, int variant);

static void read(Matrix *m, const char *name, const ViewCell *v, int variant) {
    view_read(m, name, v, variant & 1);
}
static void write(Matrix *m, const char *name, const ViewCell *v, int variant) {
    view_write(m, name, v, variant & 1);
}
static void rmw(Matrix *m, const char *name, const ViewCell *v, int variant) {
    IrRmw kind = (IrRmw)(variant % IR_RMWS);
    while (!rmw_fits(kind, v->elem)) kind = (IrRmw)((kind + 1) % IR_RMWS);
    view_rmw(m, name, v, kind, variant % 4, variant / IR_RMWS, variant & 1);
}
static void cas(Matrix *m, const char *name, const ViewCell *v, int variant) {
    view_cas(m, name, v, variant % 4, variant % 3, variant & 1);
}
static void inside(Matrix *m, const char *name, const ViewCell *v, int variant) {
    (void)variant;
    view_inside(m, name, v);
}

static void cells(Matrix *m, IrOpcode code, int column, int variants, Body body) {
    bool packed = is_packed((Dtype)column);
    for (size_t s = 0; s < sizeof selections / sizeof *selections; s++)
        for (int t = 0; t < 5; t++)
            for (int variant = 0; variant < 2 * variants; variant++) {
                bool strided = variant & 1, writes = code == IR_VIEW_STORE;
                if (packed && writes && (!writes_packed(selections[s]) || variant & 2)) continue;
                Name name = cell_name(code, column, (Shape){0}, "%s by %s variant %d",
                                      selections[s], dtype_name(index_types[t]), variant);
                if (!matrix_takes(m, code, column, name.text)) continue;
                ViewCell v = cell_of(m, (Dtype)column, selections[s], strided, index_types[t]);
                body(m, name.text, &v, variant / 2);
            }
}

static void loads(Matrix *m, IrOpcode code, int column) { cells(m, code, column, 2, read); }
static void stores(Matrix *m, IrOpcode code, int column) { cells(m, code, column, 2, write); }
static void atomics(Matrix *m, IrOpcode code, int column) {
    if (!is_packed((Dtype)column)) cells(m, code, column, 3 * IR_RMWS, rmw);  // unsupported.def
}
static void exchanges(Matrix *m, IrOpcode code, int column) {
    if (!is_packed((Dtype)column)) cells(m, code, column, 12, cas);  // unsupported.def
}
static void insides(Matrix *m, IrOpcode code, int column) { cells(m, code, column, 1, inside); }

Maker maker_of_views(IrRule rule) {
    switch (rule) {
    case IR_RULE_VIEW_LOAD: return loads;
    case IR_RULE_VIEW_STORE: return stores;
    case IR_RULE_VIEW_ATOMIC: return atomics;
    case IR_RULE_VIEW_CAS: return exchanges;
    case IR_RULE_VIEW_INSIDE: return insides;
    default: return NULL;  // not of views
    }
}
