// Cells of control, calls, effects on the program, and what a launch gives: few, each with a text
// of its own, for every type of the values that they carry.
#include <string.h>

#include "tests/matrix/memory.h"

static const Shape carried = {1, {8}};

// ---- values carried -----------------------------------------------------------------------------

// Two tiles a, b of a type go in, two come out; scalars and control stand between.
typedef struct Carried {
    Tile a, b, first, second, count;  // count: i64, what the control counted
    Program p;
    const char *type;
} Carried;

static Carried carried_make(Matrix *m, int column) {
    Carried c = {.a = tile_filled(m, column, carried, FILL_ANY),
                 .b = tile_filled(m, column, carried, FILL_ANY)};
    c.first = tile_shaped(m, column, carried);
    c.second = tile_shaped(m, column, carried);
    c.count = tile_shaped(m, DTYPE_I64, (Shape){0});
    c.type = tile_type(m, &c.a);
    return c;
}

static const char *loaded(Matrix *m, const Tile *t, const char *name, int value) {
    if (!t->pointer) return tile_loaded(m, t, name, value);
    Tile plain = *t;
    plain.pointer = false;
    return matrix_text(m, "%s%%%d = bitcast %%%d : %s\n", tile_loaded(m, &plain, name, value + 50),
                       value, value + 50, tile_type(m, t));
}

static const char *stored(Matrix *m, const Tile *t, const char *name, int value) {
    if (!t->pointer) return tile_store(m, t, name, value);
    Tile plain = *t;
    plain.pointer = false;
    return matrix_text(m, "%%%d = bitcast %%%d : %s\n%s", value + 50, value, tile_type(m, &plain),
                       tile_store(m, &plain, name, value + 50));
}

// `swaps`: how often a and b were swapped; `count`: the value of %42. The text makes %40 and %41 of
// %1 and %2. `scalars` are parameters that follow, `bits` their arguments.
static void carried_run(Matrix *m, const char *name, Carried *c, int64_t swaps, uint64_t count,
                        const char *functions, const char *scalars, const uint64_t *bits,
                        uint32_t scalar_count, const char *text) {
    for (uint32_t i = 0; i < c->a.count; i++) {
        c->first.bits[i] = swaps % 2 ? c->b.bits[i] : c->a.bits[i];
        c->second.bits[i] = swaps % 2 ? c->a.bits[i] : c->b.bits[i];
    }
    c->count.bits[0] = count;
    program_tile(m, &c->p, &c->a);
    program_tile(m, &c->p, &c->b);
    program_result(m, &c->p, &c->first);
    program_result(m, &c->p, &c->second);
    program_result(m, &c->p, &c->count);
    for (uint32_t i = 0; i < scalar_count; i++)
        c->p.args[c->p.arg_count++] = (IrArg){.bits = bits[i]};
    c->p.text = matrix_text(
        m,
        "%skernel @cell(%s, %s, %s, %s, %s%s) { body {\n%%0 = const {value = 0} : i64\n%s%s%s%s%s%s"
        "return\n} }\n",
        functions, tile_param(m, &c->a, "a"), tile_param(m, &c->b, "b"),
        tile_param(m, &c->first, "y"), tile_param(m, &c->second, "z"),
        tile_param(m, &c->count, "c"), scalars, loaded(m, &c->a, "a", 1), loaded(m, &c->b, "b", 2),
        text, stored(m, &c->first, "y", 40), stored(m, &c->second, "z", 41),
        tile_store(m, &c->count, "c", 42));
    matrix_program(m, name, &c->p);
}

// ---- loops --------------------------------------------------------------------------------------

typedef struct Range {
    int64_t low, high, step;
    bool down;
} Range;
static const Range ranges[] = {
    {0, 10, 3, false},
    {5, 5, 1, false},
    {5, 4, 1, false},
    {-3, 4, 1, false},
    {0, 10, 0, false},
    {0, 10, -1, false},
    {INT64_MAX - 5, INT64_MAX, 4, false},
    {0, INT64_MAX, INT64_MAX, false},
    {INT64_MIN, INT64_MIN + 3, 1, false},
    {INT64_MIN, INT64_MAX, INT64_MAX, false},
    {10, 0, -3, true},
    {0, 10, -1, true},
    {10, 0, 0, true},
    {10, 0, 3, true},
    {INT64_MIN + 5, INT64_MIN, -4, true},
    {INT64_MAX, INT64_MIN, INT64_MIN, true},
};

// The sum of i and the number of iterations, at most `most` of them.
static int64_t iterate(const Range *r, int64_t most, uint64_t *sum) {
    int64_t n = 0;
    *sum = 0;
    if (r->down ? r->step >= 0 : r->step <= 0) return 0;
    for (Int128 i = r->low; (r->down ? i > r->high : i < r->high) && n < most; i += r->step) {
        *sum += (uint64_t)(int64_t)i;
        n++;
    }
    return n;
}

static void for_one(Matrix *m, int column, uint32_t number, int exit) {
    const Range *r = &ranges[number];
    Name name = cell_name(IR_FOR, column, carried, "range %u exit %d", number, exit);
    if (!matrix_takes(m, IR_FOR, column, name.text)) return;
    Carried c = carried_make(m, column);
    // exit 1: after two iterations; 2: before the first
    int64_t most = exit == 0 ? INT64_MAX : exit == 1 ? 2 : 0;
    uint64_t sum, bits[] = {(uint64_t)r->low, (uint64_t)r->high, (uint64_t)r->step, exit != 2};
    int64_t swaps = iterate(r, most, &sum);
    const char *t = c.type;
    const char *body =
        exit
            ? matrix_text(
                  m,
                  "%%3 = const {value = 2} : i64\n%%4 = const {value = 1} : i64\n"
                  "%%39, %%40, %%41, %%42, %%43 = for %%lo, %%hi, %%step, %%go, %%1, %%2, %%0, %%0 "
                  "{down = %s, exit = true} : bool, %s, %s, i64, i64 "
                  "(%%10: i64, %%11: bool, %%12: %s, %%13: %s, %%14: i64, %%15: i64) {\n"
                  "%%16 = add %%14, %%10 : i64\n%%17 = add %%15, %%4 : i64\n"
                  "%%18 = lt %%17, %%3 : bool\nyield %%18, %%13, %%12, %%16, %%17\n}\n",
                  r->down ? "true" : "false", t, t, t, t)
            : matrix_text(m,
                          "%%40, %%41, %%42 = for %%lo, %%hi, %%step, %%1, %%2, %%0 {down = %s} : "
                          "%s, %s, i64 (%%10: i64, %%12: %s, %%13: %s, %%14: i64) {\n"
                          "%%16 = add %%14, %%10 : i64\nyield %%13, %%12, %%16\n}\n",
                          r->down ? "true" : "false", t, t, t, t);
    carried_run(m, name.text, &c, swaps, sum, "", ", %lo: i64, %hi: i64, %step: i64, %go: bool",
                bits, 4, body);
}

static void for_(Matrix *m, IrOpcode code, int column) {
    (void)code;
    for (uint32_t r = 0; r < sizeof ranges / sizeof *ranges; r++)
        for (int exit = 0; exit < 3; exit++) for_one(m, column, r, exit);
}

static void while_(Matrix *m, IrOpcode code, int column) {
    for (uint64_t n = 0; n < 6; n++) {
        Name name = cell_name(code, column, carried, "%d times", (int)n);
        if (!matrix_takes(m, code, column, name.text)) continue;
        Carried c = carried_make(m, column);
        const char *t = c.type;
        const char *body = matrix_text(
            m,
            "%%3 = const {value = 1} : i64\n"
            "%%40, %%41, %%42 = while %%1, %%2, %%0 : %s, %s, i64 (%%10: %s, %%11: %s, %%12: i64) "
            "{\n"
            "%%13 = lt %%12, %%n : bool\nyield %%13\n} (%%20: %s, %%21: %s, %%22: i64) {\n"
            "%%23 = add %%22, %%3 : i64\nyield %%21, %%20, %%23\n}\n",
            t, t, t, t, t, t);
        carried_run(m, name.text, &c, (int64_t)n, n, "", ", %n: i64", &n, 1, body);
    }
}

// Also the cells of yield, which ends every region here.
static void if_(Matrix *m, IrOpcode code, int column) {
    for (uint64_t taken = 0; taken < 2; taken++)
        for (int nested = 0; nested < 2; nested++) {
            Name name = cell_name(code, column, carried, "%d nested %d", (int)taken, nested);
            if (!matrix_takes(m, code, column, name.text)) continue;
            Carried c = carried_make(m, column);
            const char *t = c.type;
            const char *inner = nested
                                    ? matrix_text(m,
                                                  "%%10, %%11 = if %%u : %s, %s {\nyield %%1, %%2\n"
                                                  "} {\nyield %%2, %%1\n}\nyield %%11, %%10, %%3\n",
                                                  t, t)
                                    : "yield %2, %1, %3\n";
            const char *body = matrix_text(m,
                                           "%%3 = const {value = 7} : i64\n"
                                           "%%40, %%41, %%42 = if %%t : %s, %s, i64 {\n%s} {\n"
                                           "yield %%1, %%2, %%0\n}\n",
                                           t, t, inner);
            uint64_t bits[] = {taken, 1};
            carried_run(m, name.text, &c, (int64_t)taken, taken * 7, "", ", %t: bool, %u: bool",
                        bits, 2, body);
        }
}

// Also the cells of return, which ends the functions.
static void call(Matrix *m, IrOpcode code, int column) {
    for (int nested = 0; nested < 2; nested++) {
        Name name = cell_name(code, column, carried, "nested %d", nested);
        if (!matrix_takes(m, code, column, name.text)) continue;
        Carried c = carried_make(m, column);
        const char *t = c.type;
        const char *functions =
            matrix_text(m,
                        "func @swap(%%a: %s, %%b: %s) -> %s, %s {\nreturn %%b, %%a\n}\n"
                        "func @twice(%%a: %s, %%b: %s) -> %s, %s {\n"
                        "%%0, %%1 = call %%a, %%b {callee = swap} : %s, %s\n"
                        "%%2, %%3 = call %%0, %%1 {callee = swap} : %s, %s\nreturn %%2, %%3\n}\n"
                        "func @nothing() {\nreturn\n}\n",
                        t, t, t, t, t, t, t, t, t, t, t, t);
        const char *body =
            matrix_text(m,
                        "call {callee = nothing}\n%%40, %%41 = call %%1, %%2 {callee = "
                        "%s} : %s, %s\n%%42 = const {value = 3} : i64\n",
                        nested ? "twice" : "swap", t, t);
        carried_run(m, name.text, &c, nested ? 2 : 1, 3, functions, "", NULL, 0, body);
    }
}

// ---- prints -------------------------------------------------------------------------------------

static const char *as_text(Dtype t, int64_t value) {
    static const char *const floats[] = {"-2.0", "-1.0", "0.0", "1.0", "2.0"};
    static const char *const integers[] = {"-2", "-1", "0", "1", "2"};
    if (t == DTYPE_BOOL) return value & 1 ? "true" : "false";
    return type_is_float(t) ? floats[value + 2] : integers[value + 2];
}

static void print(Matrix *m, IrOpcode code, int column) {
    Dtype t = (Dtype)column;
    bool negative = type_is_float(t) || type_is_signed(t);
    for (int64_t v = negative ? -2 : 0; v <= 2; v++) {
        Name name = cell_name(code, column, (Shape){0}, "of %d", (int)v);
        if (!matrix_takes(m, code, column, name.text)) continue;
        Program p = {.grid = {2, 1, 1}};
        Tile x = tile_shaped(m, column, (Shape){2, {2, 2}});
        for (uint32_t i = 0; i < 4; i++) x.bits[i] = element_small(t, i % 2 ? 1 : v);
        program_tile(m, &p, &x);
        p.args[p.arg_count++] = (IrArg){.bits = element_small(t, v)};
        const char *a = as_text(t, v), *b = as_text(t, 1);
        const char *row = matrix_text(m, "[%s, %s]", a, b);
        StrBuf lines = strbuf(m->arena);
        for (int program = 0; program < 2; program++)
            strbuf_printf(&lines, "%d: s = %s, t = [%s, %s]!\n", program, a, row, row);
        p.printed = lines.text;
        p.text =
            matrix_text(m,
                        "kernel @cell(%s, %%s: %s) { body {\n%%0 = const {value = 0} : i64\n%s"
                        "%%2 = program {dim = 0} : i64\n"
                        "print %%2, %%s, %%1 {texts = [\"\", \": s = \", \", t = \", \"!\"]}\n"
                        "return\n} }\n",
                        tile_param(m, &x, "x"), column_name(column), tile_loaded(m, &x, "x", 1));
        matrix_program(m, name.text, &p);
    }
}

// ---- asserts, assumes, noalias, barriers --------------------------------------------------------

// A store before and one after: an assert that fails keeps the second from happening.
static void assert_(Matrix *m, IrOpcode code, int column) {
    for (int bad = -1; bad < 8; bad++)
        for (int sanitize = 0; sanitize < 2; sanitize++) {
            Name name = cell_name(code, column, carried, "bad %d sanitize %d", bad, sanitize);
            if (!matrix_takes(m, code, column, name.text)) continue;
            bool assume = code == IR_ASSUME;
            Program p = {.sanitize = sanitize != 0};
            Tile c = tile_shaped(m, DTYPE_BOOL, carried);
            Tile y = tile_shaped(m, DTYPE_BOOL, carried), z = tile_shaped(m, DTYPE_BOOL, carried);
            for (int i = 0; i < 8; i++) c.bits[i] = y.bits[i] = z.bits[i] = i != bad;
            program_tile(m, &p, &c);
            program_result(m, &p, &y);
            program_result(m, &p, &z);
            if (bad >= 0 && !assume) {
                p.outcome = IR_RUN_ASSERT;  // nothing is written after it
                Buffer *last = &p.buffers[p.buffer_count - 1];
                memcpy(last->expected, last->bytes, last->size);
            }
            if (bad >= 0 && assume && sanitize) p.outcome = IR_RUN_FINDINGS;
            p.text = matrix_text(
                m,
                "kernel @cell(%s, %s, %s) { body {\n%%0 = const {value = 0} : i64\n%s%s"
                "%s %%1%s\n%sreturn\n} }\n",
                tile_param(m, &c, "c"), tile_param(m, &y, "y"), tile_param(m, &z, "z"),
                tile_loaded(m, &c, "c", 1), tile_store(m, &y, "y", 1), ir_op_info(code)->text,
                assume ? "" : " {text = \"c\"}", tile_store(m, &z, "z", 1));
            matrix_program(m, name.text, &p);
        }
}

static void noalias(Matrix *m, IrOpcode code, int column) {
    static const struct {
        int64_t place, stride;
        bool disjoint;
    } seconds[] = {{8, 1, true},    {7, 1, false}, {0, 1, false}, {15, -1, true},
                   {14, -1, false}, {1, 2, false}, {40, -4, true}};
    for (uint32_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        Name name = cell_name(code, column, carried, "%u", i);
        if (!matrix_takes(m, code, column, name.text)) continue;
        Program p = {.outcome = seconds[i].disjoint ? IR_RUN_DONE : (IrOutcome)MATRIX_REFUSED};
        uint8_t *memory = buffer_add(m, &p, DTYPE_I16, 128);
        p.args[0] = (IrArg){.data = memory, .extent = {8}, .stride = {1}};
        p.args[1] = (IrArg){
            .data = memory + 2 * seconds[i].place, .extent = {8}, .stride = {seconds[i].stride}};
        p.arg_count = 2;
        p.text =
            "kernel @cell(%a: view i16[8], %b: strided view i16[8]) {\n"
            "requires \"noalias(a, b)\" {\n%0 = noalias %a, %b : bool\nyield %0\n}\n"
            "body {\nreturn\n} }\n";
        matrix_program(m, name.text, &p);
    }
}

// The grid of a launch is given here: the program is compiled and run with a grid that asks.
static void units(Matrix *m, IrOpcode code, int column) {
    Name name = cell_name(code, column, carried, "%s", "");
    if (!matrix_takes(m, code, column, name.text)) return;
    Program p = {0};
    p.text = "kernel @cell() {\ngrid {\n%0 = units : i64\nyield %0\n}\nbody {\nreturn\n} }\n";
    matrix_program(m, name.text, &p);
}

// Values that are written before the barrier are read after it, from other places.
static void barrier(Matrix *m, IrOpcode code, int column) {
    Name name = cell_name(code, column, carried, "%s", "");
    if (!matrix_takes(m, code, column, name.text)) return;
    Program p = {0};
    Tile y = tile_shaped(m, DTYPE_I32, carried);
    for (uint32_t i = 0; i < 8; i++) y.bits[i] = 7 - i;
    program_result(m, &p, &y);
    p.text = matrix_text(
        m,
        "kernel @cell(%s) {level = thread} { body {\n%%0 = const {value = 0} : i64\n"
        "%%1 = iota : i32[8]\n%%2 = cast %%1 : i64[8]\n%%3 = const {value = 7} : i64[8]\n"
        "%%4 = sub %%3, %%2 : i64[8]\n%%5 = thread.shared {elem = i32, count = 8, place = 0} : "
        "*i32\n"
        "%%6 = broadcast %%5 : *i32[8]\n%%7 = ptr_add %%6, %%2 : *i32[8]\n"
        "%%8 = ptr_add %%6, %%4 : *i32[8]\nstore %%7, %%1, _\nthread.barrier\n"
        "%%9 = load %%8, _, _ : i32[8]\n%sreturn\n} }\n",
        tile_param(m, &y, "y"), tile_store(m, &y, "y", 9));
    matrix_program(m, name.text, &p);
}

// ---- launch -------------------------------------------------------------------------------------

// Every program of a grid writes its own number, or the grid's extent, in each dimension.
static void programs(Matrix *m, IrOpcode code, int column) {
    static const uint32_t grids[][3] = {{1, 1, 1}, {4, 1, 1}, {2, 4, 1}, {2, 4, 8}};
    for (uint32_t g = 0; g < 4; g++)
        for (uint32_t dim = 0; dim < 3; dim++) {
            const uint32_t *grid = grids[g];
            Shape s = {3, {grid[0], grid[1], grid[2]}};
            Name name = cell_name(code, column, s, "dim %u", dim);
            if (!matrix_takes(m, code, column, name.text)) continue;
            Program p = {.grid = {grid[0], grid[1], grid[2]}};
            Tile y = tile_shaped(m, DTYPE_I64, s);
            for (uint32_t i = 0; i < y.count; i++) {
                uint32_t at[3] = {i / grid[2] / grid[1], i / grid[2] % grid[1], i % grid[2]};
                y.bits[i] = code == IR_PROGRAM ? at[dim] : grid[dim];
            }
            program_result(m, &p, &y);
            p.text = matrix_text(
                m,
                "kernel @cell(%s) { body {\n%%0 = program {dim = 0} : i64\n"
                "%%1 = program {dim = 1} : i64\n%%2 = program {dim = 2} : i64\n"
                "%%3 = %s {dim = %u} : i64\n"
                "view_store %%y, %%3, _, %%0, %%1, %%2 {select = [0, 0, 0]}\nreturn\n} }\n",
                tile_param(m, &y, "y"), ir_op_info(code)->text, dim);
            matrix_program(m, name.text, &p);
        }
}

static void extent(Matrix *m, IrOpcode code, int column) {
    static const int64_t values[] = {0, 1, 7, INT64_C(1) << 40, INT64_MAX};
    for (uint32_t i = 0; i < 25; i++) {
        Name name = cell_name(code, column, (Shape){0}, "%u", i);
        if (!matrix_takes(m, code, column, name.text)) continue;
        Program p = {0};
        Tile y = tile_shaped(m, DTYPE_I64, (Shape){1, {2}});
        y.bits[0] = (uint64_t)values[i % 5];
        y.bits[1] = (uint64_t)values[i / 5];
        program_result(m, &p, &y);
        p.args[p.arg_count++] = (IrArg){.data = buffer_add(m, &p, DTYPE_F32, 0),
                                        .extent = {values[i % 5], values[i / 5]},
                                        .stride = {1, 1}};
        p.text = matrix_text(
            m,
            "kernel @cell(%s, %%v: strided view f32[M, N]) { body {\n"
            "%%0 = const {value = 0} : i64\n%%1 = extent {extent = M} : i64\n"
            "%%2 = extent {extent = N} : i64\n%%3 = join %%1, %%2 : i64[2]\n%sreturn\n} }\n",
            tile_param(m, &y, "y"), tile_store(m, &y, "y", 3));
        matrix_program(m, name.text, &p);
    }
}

Maker maker_of_control(IrRule rule) {
    switch (rule) {
    case IR_RULE_SCALAR_I64: return programs;
    case IR_RULE_EXTENT: return extent;
    case IR_RULE_ASSERT: return assert_;
    case IR_RULE_PRINT: return print;
    case IR_RULE_NOALIAS: return noalias;
    case IR_RULE_UNITS: return units;
    case IR_RULE_FOR: return for_;
    case IR_RULE_WHILE: return while_;
    case IR_RULE_IF:
    case IR_RULE_YIELD: return if_;
    case IR_RULE_RETURN:
    case IR_RULE_CALL: return call;
    case IR_RULE_NOTHING: return barrier;
    default: return NULL;  // made elsewhere, or nowhere: a red op
    }
}
