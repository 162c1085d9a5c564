// Cells of products, reductions, scans, orders, histograms and random numbers.
#include "tests/matrix/matrix.h"

// Numbers around 1, some of them the rarer ones that a sum can still have an answer for.
static void add_rare(Matrix *m, Tile *t) {
    if (t->absent || !type_is_float(t->elem)) return;
    const Format *f = format_of(t->elem);
    uint64_t sign = UINT64_C(1) << (f->exponent + f->fraction);
    const uint64_t rare[] = {nan_bits(t->elem), f->ieee ? f->highest + 1 : 0,
                             f->ieee ? (f->highest + 1) | sign : 1, f->one_nan ? 0 : sign, 1};
    for (uint32_t i = 0; i < t->count; i++)
        if (matrix_random(m) % 12 == 0) t->bits[i] = rare[matrix_random(m) % 5];
}

static Tile summands(Matrix *m, int column, Shape s, int variant) {
    Tile t = tile_filled(m, column, s, variant == 0 ? FILL_SMALL : FILL_MEDIUM);
    if (variant == 2) add_rare(m, &t);
    return t;
}

// ---- dot ----------------------------------------------------------------------------------------

typedef struct Product {
    uint32_t batch, rows, inner, columns;  // batch 0: rank 2
} Product;
static const Product products[] = {
    {0, 4, 16, 8}, {0, 1, 1, 1}, {0, 16, 16, 16}, {0, 1, 32, 1},
    {0, 16, 1, 4}, {2, 4, 8, 2}, {1, 2, 2, 2},    {0, 16, 64, 32},
};

static Shape matrix_shape(uint32_t batch, uint32_t rows, uint32_t columns) {
    return batch ? (Shape){3, {batch, rows, columns}} : (Shape){2, {rows, columns}};
}

static void dot_one(Matrix *m, int a, int b, int sum, const Product *p, IrPrecision precision,
                    int variant) {
    bool acc = variant % 2 != 0;
    int fill = variant / 2;
    Shape to = matrix_shape(p->batch, p->rows, p->columns);
    Name name = cell_name(IR_DOT, a, to, "inner %u by %s to %s precision %d variant %d", p->inner,
                          column_name(b), column_name(sum), (int)precision, variant);
    // Each kind occurs twice: whole numbers, and rare values in a product that fills vectors and
    // tiles.
    uint32_t kind = (uint32_t)(((int)precision * COLUMNS + sum) * COLUMNS + b) * 2;
    bool large = p->rows >= 16 && p->inner >= 64 && p->columns >= 16;
    if (!matrix_takes_kind(m, IR_DOT, a, kind + (large && fill == 2), name.text)) return;
    Case c = {.code = IR_DOT, .operand_count = 3, .result_count = 1, .precision = precision};
    c.in[0] = summands(m, a, matrix_shape(p->batch, p->rows, p->inner), fill);
    c.in[1] = summands(m, b, matrix_shape(p->batch, p->inner, p->columns), fill);
    c.in[2] = acc ? summands(m, sum, to, fill) : tile_absent();
    c.out[0] = tile_shaped(m, sum, to);
    matrix_case(m, name.text, &c);
}

static bool multiplies(int a, int b) {
    bool bytes = (a == DTYPE_I8 || a == DTYPE_U8) && (b == DTYPE_I8 || b == DTYPE_U8);
    bool ocp = (a == DTYPE_F8E4M3 || a == DTYPE_F8E5M2) && (b == DTYPE_F8E4M3 || b == DTYPE_F8E5M2);
    return a == b || bytes || ocp;
}

static bool sums_in(int a, int sum) {
    if (a == DTYPE_I8 || a == DTYPE_U8) return sum == DTYPE_I32;
    if (!type_is_float((Dtype)a) || a == DTYPE_F32 || a == DTYPE_F64) return sum == a;
    return sum == DTYPE_F32 || sum == DTYPE_F64 || sum == DTYPE_F16;
}

static void dot(Matrix *m, IrOpcode code, int column) {
    (void)code;
    for (int b = 0; b < DTYPES; b++)
        for (int sum = 0; sum < DTYPES && multiplies(column, b); sum++)
            for (size_t p = 0; p < sizeof products / sizeof *products && sums_in(column, sum); p++)
                for (int how = 0; how < (column == DTYPE_F32 ? 4 : 1); how++)
                    for (int variant = 0; variant < 6; variant++)
                        dot_one(m, column, b, sum, &products[p], (IrPrecision)how, variant);
}

// ---- reduce and scan ----------------------------------------------------------------------------

// The combiners that fold_custom of the references knows: one value, or one with a sum.
static const char *combiner(Matrix *m, int column, bool two) {
    const char *t = column_name(column), *op = type_is_float((Dtype)column) ? "max" : "xor";
    if (!two)
        return matrix_text(m, " (%%80: %s, %%81: %s) {\n%%82 = %s %%80, %%81 : %s\nyield %%82\n}",
                           t, t, op, t);
    return matrix_text(m,
                       " (%%80: %s, %%81: i32, %%82: %s, %%83: i32) {\n%%84 = %s %%80, %%82 : %s\n"
                       "%%85 = add %%81, %%83 : i32\nyield %%84, %%85\n}",
                       t, t, op, t);
}

static bool floats_only(IrReduce kind) {
    return kind == IR_REDUCE_MINNUM || kind == IR_REDUCE_MAXNUM;
}

static bool kind_fits(IrReduce kind, int column) {
    if (kind == IR_REDUCE_CUSTOM) return true;
    if (floats_only(kind)) return type_is_float((Dtype)column);
    bool logic = kind == IR_REDUCE_ANY || kind == IR_REDUCE_ALL;
    return logic == (column == DTYPE_BOOL);
}

static bool sums(IrReduce kind) { return kind == IR_REDUCE_SUM || kind == IR_REDUCE_PROD; }

// Ones, infinities, zeros, NaNs: nothing that could underflow or not by the order of the factors.
static Tile factors(Matrix *m, int column, Shape s) {
    Tile t = tile_filled(m, column, s, FILL_ANY);
    if (!type_is_float(t.elem)) return t;
    for (uint32_t i = 0; i < t.count; i++)
        t.bits[i] = element_small(t.elem, 1 - (int64_t)(i % 2) * 2);
    add_rare(m, &t);
    for (uint32_t i = 0; i < t.count; i++)
        if (t.bits[i] == 1) t.bits[i] = element_small(t.elem, 1);
    return t;
}

// Bools of which a few, some or most are true: random ones would never all be so.
static Tile truths(Matrix *m, Shape s, int fill) {
    Tile t = tile_filled(m, DTYPE_BOOL, s, FILL_ANY);
    for (uint32_t i = 0; fill > 0 && i < t.count; i++) {
        bool rare = matrix_random(m) % (t.count + 1) == 0;
        t.bits[i] = (fill == 1) != rare;
    }
    return t;
}

static Tile folded(Matrix *m, int column, Shape s, IrReduce kind, int fill) {
    if (kind == IR_REDUCE_ANY || kind == IR_REDUCE_ALL) return truths(m, s, fill);
    if (kind == IR_REDUCE_PROD && fill == 2) return factors(m, column, s);
    if (sums(kind)) return summands(m, column, s, fill);
    return tile_filled(m, column, s, fill == 0 ? FILL_ANY : FILL_TIES);
}

static Tile mask_tile(Matrix *m, Shape s, int how) {  // absent, some, none
    if (how == 0) return tile_absent();
    Tile t = tile_filled(m, DTYPE_BOOL, s, FILL_ANY);
    for (uint32_t i = 0; how == 2 && i < t.count; i++) t.bits[i] = 0;
    return t;
}

static void reduce_one(Matrix *m, int column, Shape s, uint32_t axis, IrReduce kind, int variant) {
    int mask = variant % 3, fill = variant / 3 % 3;
    bool two = kind == IR_REDUCE_CUSTOM && fill == 2;
    Name name = cell_name(IR_REDUCE, column, s, "%s axis %u mask %d fill %d",
                          ir_enum_text(IR_KIND_REDUCE, kind), axis, mask, fill);
    if (!matrix_takes_kind(m, IR_REDUCE, column, (uint32_t)kind, name.text)) return;
    Case c = {.code = IR_REDUCE, .kind = kind, .axis = axis, .operand_count = 2, .result_count = 1};
    bool places = kind == IR_REDUCE_ARGMIN || kind == IR_REDUCE_ARGMAX;
    Shape to = {s.rank - 1, {0}};
    for (uint32_t d = 0; d < to.rank; d++) to.extent[d] = s.extent[d < axis ? d : d + 1];
    c.in[0] = mask_tile(m, s, mask);
    c.in[1] = folded(m, column, s, kind, fill);
    c.out[0] = tile_shaped(m, places ? DTYPE_I32 : column, to);
    if (two) {
        c.operand_count = 3;
        c.in[2] = tile_filled(m, DTYPE_I32, s, FILL_ANY);
        c.out[c.result_count++] = tile_shaped(m, DTYPE_I32, to);
    }
    if (kind == IR_REDUCE_CUSTOM) c.region = combiner(m, column, two);
    matrix_case(m, name.text, &c);
}

static void reduce(Matrix *m, IrOpcode code, int column) {
    (void)code;
    for (int kind = 0; kind <= IR_REDUCE_CUSTOM; kind++)
        for (int s = 0; s < SHAPES && kind_fits((IrReduce)kind, column); s++)
            for (uint32_t axis = 0; axis < matrix_shapes[s].rank; axis++)
                for (int variant = 0; variant < 9; variant++)
                    reduce_one(m, column, matrix_shapes[s], axis, (IrReduce)kind, variant);
}

static void scan_one(Matrix *m, int column, Shape s, uint32_t axis, IrReduce kind, int variant) {
    int fill = variant / 4;
    bool two = kind == IR_REDUCE_CUSTOM && fill == 2;
    Name name = cell_name(IR_SCAN, column, s, "%s axis %u variant %d",
                          ir_enum_text(IR_KIND_REDUCE, kind), axis, variant);
    if (!matrix_takes(m, IR_SCAN, column, name.text)) return;
    Case c = {.code = IR_SCAN, .kind = kind, .axis = axis, .operand_count = 1, .result_count = 1};
    c.reverse = variant & 1;
    c.exclusive = variant & 2;
    c.in[0] = folded(m, column, s, kind, fill);
    c.out[0] = tile_shaped(m, column, s);
    if (two) {
        c.in[c.operand_count++] = tile_filled(m, DTYPE_I32, s, FILL_ANY);
        c.out[c.result_count++] = tile_shaped(m, DTYPE_I32, s);
    }
    if (kind == IR_REDUCE_CUSTOM) c.region = combiner(m, column, two);
    matrix_case(m, name.text, &c);
}

static bool scans(IrReduce kind, int column) {
    if (kind == IR_REDUCE_CUSTOM) return true;
    if (floats_only(kind)) return type_is_float((Dtype)column);
    return kind <= IR_REDUCE_MAX && column != DTYPE_BOOL;
}

static void scan(Matrix *m, IrOpcode code, int column) {
    (void)code;
    for (int kind = 0; kind <= IR_REDUCE_CUSTOM; kind++)
        for (int s = 0; s < SHAPES && scans((IrReduce)kind, column); s++)
            for (uint32_t axis = 0; axis < matrix_shapes[s].rank; axis++)
                for (int variant = 0; variant < 12; variant++)
                    scan_one(m, column, matrix_shapes[s], axis, (IrReduce)kind, variant);
}

// ---- orders -------------------------------------------------------------------------------------

static void sort_one(Matrix *m, int column, Shape s, uint32_t axis, int variant) {
    Name name = cell_name(IR_SORT, column, s, "axis %u variant %d", axis, variant);
    if (!matrix_takes(m, IR_SORT, column, name.text)) return;
    uint32_t count = 1 + (uint32_t)variant / 4;  // the key alone, and what follows it
    Case c = {.code = IR_SORT, .axis = axis, .operand_count = count, .result_count = count};
    c.descending = variant & 1;
    for (uint32_t k = 0; k < count; k++) {
        int type = k == 0 ? column : k == 1 ? DTYPE_I32 : DTYPE_F8E5M2;
        c.in[k] = tile_filled(m, type, s, variant & 2 ? FILL_ANY : FILL_TIES);
        c.out[k] = tile_shaped(m, type, s);
    }
    matrix_case(m, name.text, &c);
}

static void sort(Matrix *m, IrOpcode code, int column) {
    (void)code;
    for (int s = 0; s < SHAPES; s++)
        for (uint32_t axis = 0; axis < matrix_shapes[s].rank; axis++)
            for (int variant = 0; variant < 12; variant++)
                sort_one(m, column, matrix_shapes[s], axis, variant);
}

static void topk(Matrix *m, IrOpcode code, int column) {
    for (int s = 0; s < SHAPES; s++)
        for (uint32_t axis = 0; axis < matrix_shapes[s].rank; axis++)
            for (uint32_t count = 1; count <= matrix_shapes[s].extent[axis]; count *= 2)
                for (int fill = 0; fill < 2; fill++) {
                    Shape from = matrix_shapes[s], to = from;
                    Name name = cell_name(code, column, from, "axis %u count %u fill %d", axis,
                                          count, fill);
                    if (!matrix_takes(m, code, column, name.text)) continue;
                    Case c = {.code = code, .axis = axis, .count = count, .operand_count = 1};
                    c.result_count = 2;
                    to.extent[axis] = count;
                    c.in[0] = tile_filled(m, column, from, fill ? FILL_ANY : FILL_TIES);
                    c.out[0] = tile_shaped(m, column, to);
                    c.out[1] = tile_shaped(m, DTYPE_I32, to);
                    matrix_case(m, name.text, &c);
                }
}

static void histogram(Matrix *m, IrOpcode code, int column) {
    for (uint32_t count = 1; count <= 256; count *= 4)
        for (uint32_t bins = 1; bins <= 256; bins *= 16)
            for (int variant = 0; variant < 6; variant++) {
                Shape s = {1, {count}};
                Name name = cell_name(code, column, s, "bins %u variant %d", bins, variant);
                if (!matrix_takes(m, code, column, name.text)) continue;
                Case c = {.code = code, .operand_count = 2, .result_count = 1};
                c.in[0] = mask_tile(m, s, variant % 3);
                c.in[1] = tile_filled(m, column, s, variant < 3 ? FILL_SMALL : FILL_ANY);
                c.out[0] = tile_shaped(m, DTYPE_I32, (Shape){1, {bins}});
                matrix_case(m, name.text, &c);
            }
}

static void random_numbers(Matrix *m, IrOpcode code, int column) {
    for (int seed = 0; seed < DTYPES; seed++)
        for (int s = 0; s < SHAPES && dtype_is((Dtype)seed, DTYPE_CLASS_INT); s++) {
            Name name = cell_name(code, column, matrix_shapes[s], "seed %s", column_name(seed));
            if (!matrix_takes(m, code, column, name.text)) continue;
            Case c = {.code = code, .operand_count = 2, .result_count = 4};
            c.in[0] = tile_filled(m, seed, (Shape){0}, FILL_ANY);
            c.in[1] = tile_filled(m, column, matrix_shapes[s], FILL_ANY);
            for (int k = 0; k < 4; k++) c.out[k] = tile_shaped(m, DTYPE_U32, matrix_shapes[s]);
            matrix_case(m, name.text, &c);
        }
}

Maker maker_of_tiles(IrRule rule) {
    static const Maker makers[] = {
        [IR_RULE_DOT] = dot,
        [IR_RULE_REDUCE] = reduce,
        [IR_RULE_SCAN] = scan,
        [IR_RULE_SORT] = sort,
        [IR_RULE_TOPK] = topk,
        [IR_RULE_HISTOGRAM] = histogram,
        [IR_RULE_RANDOM] = random_numbers,
    };
    return rule < sizeof makers / sizeof *makers ? makers[rule] : NULL;
}
