// References of the examples that move, count, order and look things up: all exact but the sums.
#include <stdlib.h>

#include "tests/examples/examples.h"

void make_transposed(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t m = shape->n[0], n = shape->n[1];
    run_type(run, "T", t);
    tile(run, shape, "BM", 8);
    tile(run, shape, "BN", 16);
    Fill fill = dtype_is(t, DTYPE_CLASS_INT) ? FILL_INT : FILL_REAL;
    Array *x = run_input(run, "x", t, fill, EXTENTS(m, n));
    Array *y = run_output(run, "y", t, EXTENTS(n, m));
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) want(y, at2(y, j, i), num_at(x, at2(x, i, j)));
}

void make_byte_histogram(Run *run, const Shape *shape) {
    tile(run, shape, "B", 64);
    Array *x = run_input(run, "x", DTYPE_U8, FILL_INT, EXTENTS(shape->n[0]));
    Array *counts = run_input(run, "counts", DTYPE_I32, FILL_ZERO, EXTENTS(256));
    run_updates(counts);
    double found[256] = {0};
    for (int64_t i = 0; i < shape->n[0]; i++) found[(int)get(x, i)] += 1;
    for (int64_t bin = 0; bin < 256; bin++) want_exact(counts, bin, found[bin]);
}

typedef struct Item {
    double key;
    int64_t place;
} Item;

static int by_key_then_place(const void *a, const void *b) {
    const Item *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

// The row in ascending order of sign · key, equals by place. The caller frees it.
static Item *sorted_row(const Array *x, int64_t row, double sign) {
    int64_t n = x->extent[1];
    Item *items = calloc((size_t)n, sizeof *items);
    for (int64_t c = 0; items && c < n; c++) items[c] = (Item){sign * get(x, at2(x, row, c)), c};
    if (items) qsort(items, (size_t)n, sizeof *items, by_key_then_place);
    return items;
}

// Values on a coarse grid, so that many are equal.
static Array *coarse_input(Run *run, Dtype t, int64_t rows, int64_t columns) {
    Array *x = run_input(run, "x", t, FILL_ZERO, EXTENTS(rows, columns));
    for (int64_t i = 0; i < x->count; i++) put(x, i, (double)run_below(run, -100, 100) / 4);
    return x;
}

void make_sort_rows(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t rows = shape->n[0], columns = shape->n[1];
    run_type(run, "T", t);
    tile(run, shape, "W", next_power(columns, 1));
    Array *x = coarse_input(run, t, rows, columns);
    Array *y = run_output(run, "y", t, EXTENTS(rows, columns));
    Array *place = run_output(run, "place", DTYPE_I32, EXTENTS(rows, columns));
    for (int64_t r = 0; r < rows; r++) {
        Item *items = sorted_row(x, r, 1);
        for (int64_t c = 0; items && c < columns; c++) {
            want_exact(y, at2(y, r, c), items[c].key);
            want_exact(place, at2(y, r, c), (double)items[c].place);
        }
        free(items);
    }
}

void make_topk_rows(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t rows = shape->n[0], columns = shape->n[1], k = 8;
    while (k > columns) k /= 2;
    run_type(run, "T", t);
    run_const(run, "K", k);
    tile(run, shape, "W", next_power(columns, 1));
    Array *x = coarse_input(run, t, rows, columns);
    Array *value = run_output(run, "value", t, EXTENTS(rows, k));
    Array *place = run_output(run, "place", DTYPE_I32, EXTENTS(rows, k));
    for (int64_t r = 0; r < rows; r++) {
        Item *items = sorted_row(x, r, -1);
        for (int64_t i = 0; items && i < k; i++) {
            want_exact(value, at2(value, r, i), -items[i].key);
            want_exact(place, at2(place, r, i), (double)items[i].place);
        }
        free(items);
    }
}

void make_compact(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t rows = shape->n[0], columns = shape->n[1];
    run_type(run, "T", t);
    tile(run, shape, "W", 32);
    Array *x = run_input(run, "x", t, FILL_REAL, EXTENTS(rows, columns));
    Array *y = run_output(run, "y", t, EXTENTS(rows, columns));
    Array *count = run_output(run, "count", DTYPE_I32, EXTENTS(rows));
    double limit = run_scalar(t, -0.5);
    run_real(run, limit);
    for (int64_t r = 0; r < rows; r++) {
        int64_t kept = 0;  // what comes after these keeps its bytes
        for (int64_t c = 0; c < columns; c++)
            if (get(x, at2(x, r, c)) > limit) want(y, at2(y, r, kept++), num_at(x, at2(x, r, c)));
        want_exact(count, r, (double)kept);
    }
}

// An index names a row of the table, or (one in eight) none.
static Array *row_index(Run *run, const char *name, int64_t n, int64_t table) {
    Array *index = run_input(run, name, DTYPE_I32, FILL_ZERO, EXTENTS(n));
    for (int64_t i = 0; i < n; i++) {
        int64_t row = run_below(run, 0, table);
        if (run_below(run, 0, 8) == 0) row = run_below(run, 0, 2) ? -1 : table;
        put(index, i, (double)row);
    }
    return index;
}

void make_embedding(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t table_rows = shape->n[0], n = shape->n[1], width = shape->n[2];
    run_type(run, "T", t);
    tile(run, shape, "BN", 4);
    tile(run, shape, "BD", 16);
    Array *table = run_input(run, "table", t, FILL_REAL, EXTENTS(table_rows, width));
    Array *index = row_index(run, "index", n, table_rows);
    Array *y = run_output(run, "y", t, EXTENTS(n, width));
    for (int64_t i = 0; i < n; i++)
        for (int64_t d = 0; d < width; d++) {
            int64_t row = (int64_t)get(index, i);
            bool known = row >= 0 && row < table_rows;
            want(y, at2(y, i, d), known ? num_at(table, at2(table, row, d)) : num_exact(0));
        }
}

// Quarters whose sums stay exact in f16, so that no order of the additions rounds.
static void make_exact(Run *run, Array *a) {
    for (int64_t i = 0; i < a->count; i++) put(a, i, (double)run_below(run, -1, 2) / 4);
}

// Each addition rounds to T, in any order: 2·n·u(T)·(|start| + Σ|x|), n additions to one element; 0
// where the sum of the magnitudes, all of them quarters, is below 2^(p - 2).
static Num element_sum(const Array *table, const Array *update, const Array *index, int64_t row,
                       int64_t d) {
    Dtype t = table->type;
    NumSum sum = {0};
    for (int64_t i = 0; i < index->count; i++)
        if ((int64_t)get(index, i) == row) num_sum_add(&sum, num_at(update, at2(update, i, d)));
    double n = sum.n;
    num_sum_add(&sum, num_at(table, at2(table, row, d)));
    sum.n = n;
    if (t == DTYPE_F16 && sum.magnitude < 512) return num_exact(sum.v);
    return num_sum(t, &sum);
}

void make_scatter_add(Run *run, const Shape *shape) {
    Dtype t = shape->type;
    int64_t table_rows = shape->n[0], n = shape->n[1], width = shape->n[2];
    run_type(run, "T", t);
    tile(run, shape, "BN", 4);
    tile(run, shape, "BD", 16);
    Array *table = run_input(run, "table", t, FILL_REAL, EXTENTS(table_rows, width));
    Array *index = row_index(run, "index", n, table_rows);
    Array *update = run_input(run, "update", t, FILL_REAL, EXTENTS(n, width));
    run_updates(table);
    if (t == DTYPE_F16) {
        make_exact(run, table);
        make_exact(run, update);
    }
    for (int64_t row = 0; row < table_rows; row++)
        for (int64_t d = 0; d < width; d++)  // without an addition: exact, kept
            want(table, at2(table, row, d), element_sum(table, update, index, row, d));
}
