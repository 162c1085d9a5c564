// Cells of the elementwise ops, constants and changes of shape.
#include "tests/matrix/matrix.h"

static Tile like(Matrix *m, int column, const Tile *shape) {
    return tile_make(m, column, shape->rank, shape->shape);
}

// All pairs of values of a list: a changes with the row, b with the column.
enum { PAIRS = 64 };
static void fill_pairs(Tile *a, Tile *b, const uint64_t *values, uint32_t n, uint32_t side) {
    for (uint32_t i = 0; i < side; i++)
        for (uint32_t j = 0; j < side; j++) {
            a->bits[i * side + j] = values[i % n];
            b->bits[i * side + j] = values[j % n];
        }
}

// ---- one operand --------------------------------------------------------------------------------

static void run_unary(Matrix *m, const char *name, IrOpcode code, Tile x) {
    Case c = {.code = code, .operand_count = 1, .in = {x}, .result_count = 1};
    c.out[0] = like(m, x.pointer ? POINTERS : (int)x.elem, &x);
    matrix_case(m, name, &c);
}

// Every bit pattern of a narrow type.
static Tile every_pattern(Matrix *m, int column) {
    bool wide = type_width((Dtype)column) == 16;
    Shape s = {wide ? 2 : 1, {256, wide ? 256 : 0}};
    Tile t = tile_shaped(m, column, s);
    for (uint32_t i = 0; i < t.count; i++) t.bits[i] = i;
    return t;
}

static bool has_every_pattern(int column) {
    return column != POINTERS &&
           (type_width((Dtype)column) == 8 || type_width((Dtype)column) == 16);
}

static Tile specials(Matrix *m, int column) {
    uint64_t values[PAIRS];
    uint32_t n = special_values((Dtype)column, values, PAIRS);
    Tile t = tile_shaped(m, column, (Shape){1, {PAIRS}});
    for (uint32_t i = 0; i < t.count; i++) t.bits[i] = values[i % n];
    return t;
}

static void unary(Matrix *m, IrOpcode code, int column) {
    Shape none = {0};
    Name name = cell_name(code, column, none, "special values");
    if (matrix_takes(m, code, column, name.text))
        run_unary(m, name.text, code, specials(m, column));
    for (int s = 0; s < SHAPES; s++)
        for (int variant = 0; variant < 2; variant++) {
            name = cell_name(code, column, matrix_shapes[s], "%d", variant);
            if (matrix_takes(m, code, column, name.text))
                run_unary(
                    m, name.text, code,
                    tile_filled(m, column, matrix_shapes[s], variant ? FILL_SMALL : FILL_ANY));
        }
    name = cell_name(code, column, none, "every pattern");
    if (has_every_pattern(column) && matrix_takes(m, code, column, name.text))
        run_unary(m, name.text, code, every_pattern(m, column));
}

// ---- two and three operands ---------------------------------------------------------------------

static int result_column(IrOpcode code, int column) {
    return ir_op_info(code)->rule == IR_RULE_COMPARE ? DTYPE_BOOL : column;
}

static void run_binary(Matrix *m, const char *name, IrOpcode code, int column, Tile a, Tile b) {
    Case c = {.code = code, .operand_count = 2, .in = {a, b}, .result_count = 1};
    c.out[0] = like(m, result_column(code, column), &a);
    matrix_case(m, name, &c);
}

static void binary_pairs(Matrix *m, IrOpcode code, int column, bool every) {
    uint32_t side = every ? 256 : PAIRS;
    uint64_t values[256];
    uint32_t n = every ? 256 : special_values((Dtype)column, values, PAIRS);
    Name name = cell_name(code, column, (Shape){0}, every ? "every pair" : "special pairs");
    if (!matrix_takes(m, code, column, name.text)) return;
    for (uint32_t i = 0; every && i < n; i++) values[i] = i;
    Tile a = tile_shaped(m, column, (Shape){2, {side, side}}), b = like(m, column, &a);
    fill_pairs(&a, &b, values, n, side);
    run_binary(m, name.text, code, column, a, b);
}

static void binary(Matrix *m, IrOpcode code, int column) {
    if (column != POINTERS) binary_pairs(m, code, column, false);
    for (int s = 0; s < SHAPES; s++)
        for (int variant = 0; variant < 2; variant++) {
            Name name = cell_name(code, column, matrix_shapes[s], "%d", variant);
            if (!matrix_takes(m, code, column, name.text)) continue;
            Fill fill = variant ? FILL_TIES : FILL_ANY;
            Tile a = tile_filled(m, column, matrix_shapes[s], fill);
            Tile b = tile_filled(m, column, matrix_shapes[s], fill);
            run_binary(m, name.text, code, column, a, b);
        }
    if (column != POINTERS && type_width((Dtype)column) == 8) binary_pairs(m, code, column, true);
}

static void ternary(Matrix *m, IrOpcode code, int column) {
    static const Shape large = {2, {64, 64}};
    for (int s = -1; s < SHAPES; s++)
        for (int variant = 0; variant < 3; variant++) {
            Shape shape = s < 0 ? large : matrix_shapes[s];
            static const Fill fills[] = {FILL_ANY, FILL_TIES, FILL_MEDIUM};
            Name name = cell_name(code, column, shape, "%d", variant);
            if (!matrix_takes(m, code, column, name.text)) continue;
            Case c = {.code = code, .operand_count = 3, .result_count = 1};
            for (int k = 0; k < 3; k++) c.in[k] = tile_filled(m, column, shape, fills[variant]);
            c.out[0] = tile_shaped(m, column, shape);
            matrix_case(m, name.text, &c);
        }
}

static void shift(Matrix *m, IrOpcode code, int column) {
    for (int by = 0; by < DTYPES; by++) {
        if (!dtype_is((Dtype)by, DTYPE_CLASS_INT)) continue;
        for (int s = 0; s < SHAPES; s++)
            for (int variant = 0; variant < 2; variant++) {
                Name name =
                    cell_name(code, column, matrix_shapes[s], "by %s %d", column_name(by), variant);
                if (!matrix_takes(m, code, column, name.text)) continue;
                Tile a = tile_filled(m, column, matrix_shapes[s], FILL_ANY);
                Tile n = tile_filled(m, by, matrix_shapes[s], variant ? FILL_SMALL : FILL_ANY);
                run_binary(m, name.text, code, column, a, n);
            }
    }
}

static void select(Matrix *m, IrOpcode code, int column) {
    for (int s = 0; s < SHAPES; s++)
        for (int variant = 0; variant < 3; variant++) {  // scalars true and false, a tile
            Shape shape = matrix_shapes[s];
            Name name = cell_name(code, column, shape, "condition %d", variant);
            if (!matrix_takes(m, code, column, name.text)) continue;
            Case c = {.code = code, .operand_count = 3, .result_count = 1};
            c.in[0] = tile_filled(m, DTYPE_BOOL, variant == 2 ? shape : (Shape){0}, FILL_ANY);
            if (variant < 2) c.in[0].bits[0] = (uint64_t)variant;
            c.in[1] = tile_filled(m, column, shape, FILL_ANY);
            c.in[2] = tile_filled(m, column, shape, FILL_ANY);
            c.out[0] = tile_shaped(m, column, shape);
            matrix_case(m, name.text, &c);
        }
}

// ---- conversions --------------------------------------------------------------------------------

static void run_cast(Matrix *m, const char *name, Tile x, int to, bool saturate) {
    Case c = {.code = IR_CAST, .operand_count = 1, .in = {x}, .result_count = 1};
    c.saturate = saturate;
    c.out[0] = like(m, to, &x);
    matrix_case(m, name, &c);
}

static void cast_to(Matrix *m, int column, int to, bool saturate) {
    const char *how = saturate ? "saturating" : "plain";
    Name name =
        cell_name(IR_CAST, column, (Shape){0}, "to %s %s: special values", column_name(to), how);
    if (matrix_takes_kind(m, IR_CAST, column, (uint32_t)to, name.text))
        run_cast(m, name.text, specials(m, column), to, saturate);
    for (int s = 0; s < SHAPES; s++) {
        name = cell_name(IR_CAST, column, matrix_shapes[s], "to %s %s", column_name(to), how);
        if (matrix_takes_kind(m, IR_CAST, column, (uint32_t)to, name.text))
            run_cast(m, name.text, tile_filled(m, column, matrix_shapes[s], FILL_ANY), to,
                     saturate);
    }
    name = cell_name(IR_CAST, column, (Shape){0}, "to %s %s: every pattern", column_name(to), how);
    if (has_every_pattern(column) && column != DTYPE_BOOL &&
        matrix_takes_kind(m, IR_CAST, column, (uint32_t)to, name.text))
        run_cast(m, name.text, every_pattern(m, column), to, saturate);
}

// Values half way between neighbours of the target, and one step off.
static void cast_halfway(Matrix *m, int column, int to) {
    Name name = cell_name(IR_CAST, column, (Shape){0}, "to %s: halfway", column_name(to));
    if (!type_is_float((Dtype)to) ||
        !matrix_takes_kind(m, IR_CAST, column, (uint32_t)to, name.text))
        return;
    Tile x = tile_shaped(m, column, (Shape){1, {1024}});
    for (uint32_t i = 0; i < x.count; i++) {
        uint64_t pattern = matrix_random(m) & type_mask((Dtype)to) >> 1;
        Number low = number_of((Dtype)to, pattern);
        if (low.kind != NUMBER_FINITE) low = number_from_integer(1);
        Number middle = {NUMBER_FINITE, (i & 1) != 0, 2 * low.m + 1, low.x - 1};
        if (type_is_float((Dtype)column))
            x.bits[i] = number_round((Dtype)column, middle, true) + i / 2 % 3 - 1;
        else
            x.bits[i] = number_to_integer((Dtype)column, middle) + i / 2 % 3 - 1;
        x.bits[i] &= type_mask((Dtype)column);
    }
    run_cast(m, name.text, x, to, true);
}

static void cast(Matrix *m, IrOpcode code, int column) {
    for (int to = 0; to < DTYPES; to++) {
        if (!dtype_is((Dtype)to, DTYPE_CLASS_ANY)) continue;
        cast_to(m, column, to, true);
        if (dtype_is((Dtype)to, DTYPE_CLASS_FP8)) cast_to(m, column, to, false);
        if (column != DTYPE_BOOL) cast_halfway(m, column, to);
    }
    (void)code;
}

static void bitcast(Matrix *m, IrOpcode code, int column) {
    int width = column == POINTERS ? 64 : type_width((Dtype)column);
    if (column == DTYPE_BOOL) return;  // unsupported.def
    for (int to = 0; to <= POINTERS; to++) {
        bool fits = to == POINTERS ? width == 64 : type_width((Dtype)to) == width;
        if (!fits || to == DTYPE_BOOL) continue;
        for (int s = 0; s < SHAPES; s++) {
            Name name = cell_name(code, column, matrix_shapes[s], "to %s", column_name(to));
            if (!matrix_takes(m, code, column, name.text)) continue;
            Case c = {.code = code, .operand_count = 1, .result_count = 1};
            c.in[0] = tile_filled(m, column, matrix_shapes[s], FILL_ANY);
            c.out[0] = tile_shaped(m, to, matrix_shapes[s]);
            matrix_case(m, name.text, &c);
        }
    }
}

// ---- values out of nothing ----------------------------------------------------------------------

static void constant(Matrix *m, IrOpcode code, int column) {
    uint64_t values[PAIRS];
    uint32_t n = special_values((Dtype)column, values, PAIRS);
    for (int s = 0; s < SHAPES; s++)
        for (uint32_t v = 0; v < n; v++) {
            Name name = cell_name(code, column, matrix_shapes[s], "value %u", v);
            if (!matrix_takes(m, code, column, name.text)) continue;
            Case c = {.code = code, .result_count = 1, .value = values[v]};
            c.out[0] = tile_shaped(m, column, matrix_shapes[s]);
            matrix_case(m, name.text, &c);
        }
}

static void iota(Matrix *m, IrOpcode code, int column) {
    for (uint32_t count = 1; count <= 4096; count *= 4) {
        Shape s = {1, {count}};
        Name name = cell_name(code, column, s, "%s", "");
        if (!matrix_takes(m, code, column, name.text)) continue;
        Case c = {.code = code, .result_count = 1};
        c.out[0] = tile_shaped(m, DTYPE_I32, s);
        matrix_case(m, name.text, &c);
    }
}

// ---- shapes -------------------------------------------------------------------------------------

typedef struct Change {
    Shape from, to;
} Change;

static void changes(Matrix *m, IrOpcode code, int column, const Change *list, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        Name name = cell_name(code, column, list[i].to, "change %u", i);
        if (!matrix_takes(m, code, column, name.text)) continue;
        Case c = {.code = code, .operand_count = 1, .result_count = 1};
        c.in[0] = tile_filled(m, column, list[i].from, FILL_ANY);
        c.out[0] = tile_shaped(m, column, list[i].to);
        matrix_case(m, name.text, &c);
    }
}

static void broadcast(Matrix *m, IrOpcode code, int column) {
    static const Change list[] = {
        {{0, {0}}, {0, {0}}},
        {{0, {0}}, {1, {1}}},
        {{0, {0}}, {1, {16}}},
        {{0, {0}}, {2, {4, 8}}},
        {{0, {0}}, {3, {2, 4, 8}}},
        {{1, {1}}, {1, {128}}},
        {{1, {16}}, {1, {16}}},
        {{2, {1, 16}}, {2, {8, 16}}},
        {{2, {4, 1}}, {2, {4, 8}}},
        {{2, {1, 1}}, {2, {4, 8}}},
        {{3, {2, 1, 8}}, {3, {2, 4, 8}}},
        {{3, {1, 4, 1}}, {3, {2, 4, 8}}},
    };
    changes(m, code, column, list, sizeof list / sizeof *list);
}

static void reshape(Matrix *m, IrOpcode code, int column) {
    static const Change list[] = {
        {{0, {0}}, {1, {1}}},
        {{1, {1}}, {0, {0}}},
        {{0, {0}}, {3, {1, 1, 1}}},
        {{1, {16}}, {2, {4, 4}}},
        {{1, {16}}, {2, {1, 16}}},
        {{2, {1, 16}}, {1, {16}}},
        {{2, {4, 8}}, {1, {32}}},
        {{2, {4, 8}}, {2, {8, 4}}},
        {{3, {2, 4, 8}}, {2, {8, 8}}},
        {{1, {128}}, {3, {8, 2, 8}}},
        {{3, {2, 4, 8}}, {3, {8, 4, 2}}},
        {{0, {0}}, {0, {0}}},
    };
    changes(m, code, column, list, sizeof list / sizeof *list);
}

static void permute(Matrix *m, IrOpcode code, int column) {
    static const int64_t perms[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                       {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int s = 0; s < SHAPES; s++)
        for (int p = 0; p < 6; p++) {
            Shape shape = matrix_shapes[s];
            bool fits = true;
            for (uint32_t d = 0; d < shape.rank; d++) fits = fits && perms[p][d] < shape.rank;
            Name name = cell_name(code, column, shape, "perm %d", p);
            if (!fits || !matrix_takes(m, code, column, name.text)) continue;
            Case c = {.code = code, .operand_count = 1, .result_count = 1};
            Shape to = shape;
            for (uint32_t d = 0; d < shape.rank; d++) {
                c.perm[d] = perms[p][d];
                to.extent[d] = shape.extent[perms[p][d]];
            }
            c.in[0] = tile_filled(m, column, shape, FILL_ANY);
            c.out[0] = tile_shaped(m, column, to);
            matrix_case(m, name.text, &c);
        }
}

static Tile with_pair(Matrix *m, int column, Shape s) {
    uint32_t shape[4] = {s.extent[0], s.extent[1], s.extent[2]};
    shape[s.rank] = 2;
    return tile_make(m, column, s.rank + 1, shape);
}

static void join(Matrix *m, IrOpcode code, int column) {
    for (int s = 0; s < SHAPES; s++) {
        Name name = cell_name(code, column, matrix_shapes[s], "%s", "");
        if (!matrix_takes(m, code, column, name.text)) continue;
        Case c = {.code = code, .operand_count = 2, .result_count = 1};
        c.in[0] = tile_filled(m, column, matrix_shapes[s], FILL_ANY);
        c.in[1] = tile_filled(m, column, matrix_shapes[s], FILL_ANY);
        c.out[0] = with_pair(m, column, matrix_shapes[s]);
        matrix_case(m, name.text, &c);
    }
}

static void split(Matrix *m, IrOpcode code, int column) {
    for (int s = 0; s < SHAPES; s++) {
        Name name = cell_name(code, column, matrix_shapes[s], "%s", "");
        if (!matrix_takes(m, code, column, name.text)) continue;
        Case c = {.code = code, .operand_count = 1, .result_count = 2};
        c.in[0] = with_pair(m, column, matrix_shapes[s]);
        tile_fill(m, &c.in[0], FILL_ANY);
        c.out[0] = tile_shaped(m, column, matrix_shapes[s]);
        c.out[1] = tile_shaped(m, column, matrix_shapes[s]);
        matrix_case(m, name.text, &c);
    }
}

static void cat(Matrix *m, IrOpcode code, int column) {
    for (int s = 0; s < SHAPES; s++)
        for (uint32_t axis = 0; axis < matrix_shapes[s].rank; axis++) {
            Shape to = matrix_shapes[s];
            Name name = cell_name(code, column, to, "axis %u", axis);
            if (!matrix_takes(m, code, column, name.text)) continue;
            Case c = {.code = code, .operand_count = 2, .result_count = 1, .axis = axis};
            c.in[0] = tile_filled(m, column, to, FILL_ANY);
            c.in[1] = tile_filled(m, column, to, FILL_ANY);
            to.extent[axis] *= 2;
            c.out[0] = tile_shaped(m, column, to);
            matrix_case(m, name.text, &c);
        }
}

static void gather_one(Matrix *m, int column, int by, Shape s, uint32_t axis, uint32_t extent) {
    Name name = cell_name(IR_GATHER, column, s, "axis %u by %u %s", axis, extent, column_name(by));
    if (!matrix_takes(m, IR_GATHER, column, name.text)) return;
    Case c = {.code = IR_GATHER, .operand_count = 2, .result_count = 1, .axis = axis};
    Shape to = s;
    to.extent[axis] = extent;
    c.in[0] = tile_filled(m, column, s, FILL_ANY);
    c.in[1] = tile_filled(m, by, to, FILL_ANY);
    for (uint32_t i = 0; i < c.in[1].count; i++)  // half of them inside
        if (i % 2) c.in[1].bits[i] = matrix_random(m) % s.extent[axis] & type_mask((Dtype)by) >> 1;
    c.out[0] = tile_shaped(m, column, to);
    matrix_case(m, name.text, &c);
}

static void gather(Matrix *m, IrOpcode code, int column) {
    (void)code;
    for (int by = 0; by < DTYPES; by++)
        for (int s = 0; s < SHAPES && dtype_is((Dtype)by, DTYPE_CLASS_INT); s++)
            for (uint32_t axis = 0; axis < matrix_shapes[s].rank; axis++)
                for (uint32_t extent = 1; extent <= 32; extent *= 8)
                    gather_one(m, column, by, matrix_shapes[s], axis, extent);
}

// Indices of every kind, and those of a whole table: in order, twice, and outside at either end.
static Tile lookup_index(Matrix *m, int column, Shape shape, uint32_t count, bool near) {
    Tile t = tile_filled(m, column, shape, FILL_ANY);
    uint64_t base = near ? 0 : matrix_random(m);
    for (uint32_t i = 0; near && i < t.count; i++)
        t.bits[i] = (base + i % (2 * count + 2) - 1) & type_mask((Dtype)column);
    return t;
}

static void lookup_one(Matrix *m, int column, int to, Shape shape, uint32_t count) {
    for (int near = 0; near < 2; near++) {
        Name name = cell_name(IR_LOOKUP, column, shape, "in %u of %s: %s", count, column_name(to),
                              near ? "near" : "any");
        if (!matrix_takes_kind(m, IR_LOOKUP, column, (uint32_t)to, name.text)) continue;
        Case c = {.code = IR_LOOKUP, .operand_count = 1, .result_count = 1};
        c.in[0] = lookup_index(m, column, shape, count, near != 0);
        c.out[0] = like(m, to, &c.in[0]);
        c.table = tile_filled(m, to, (Shape){1, {count}}, FILL_ANY);
        matrix_case(m, name.text, &c);
    }
}

static void lookup(Matrix *m, IrOpcode code, int column) {
    enum { COUNTS = 6 };
    static const uint32_t counts[COUNTS] = {1, 5, 16, 33, 256, 300};
    (void)code;
    for (int to = 0; to < DTYPES; to++)
        for (int s = 0; s < SHAPES && dtype_is((Dtype)to, DTYPE_CLASS_ANY); s++)
            for (int i = 0; i < COUNTS; i += 3)
                lookup_one(m, column, to, matrix_shapes[s], counts[(s + to + i) % COUNTS]);
}

Maker maker_of_values(IrRule rule) {
    static const Maker makers[] = {
        [IR_RULE_CONST] = constant,  [IR_RULE_IOTA] = iota,           [IR_RULE_UNARY] = unary,
        [IR_RULE_BINARY] = binary,   [IR_RULE_SHIFT] = shift,         [IR_RULE_COMPARE] = binary,
        [IR_RULE_TERNARY] = ternary, [IR_RULE_SELECT] = select,       [IR_RULE_CAST] = cast,
        [IR_RULE_BITCAST] = bitcast, [IR_RULE_BROADCAST] = broadcast, [IR_RULE_RESHAPE] = reshape,
        [IR_RULE_PERMUTE] = permute, [IR_RULE_JOIN] = join,           [IR_RULE_SPLIT] = split,
        [IR_RULE_CAT] = cat,         [IR_RULE_GATHER] = gather,       [IR_RULE_LOOKUP] = lookup,
    };
    return rule < sizeof makers / sizeof *makers ? makers[rule] : NULL;
}
