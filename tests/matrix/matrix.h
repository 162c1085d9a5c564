// The matrix: every op of the table × every element type it allows × shapes × attributes, run on a
// device and compared with references in plain C that know nothing of the interpreter.
//
// The way of a cell: cases*.c (one maker per typing rule) fill a Case with typed operands and
// attributes, or a Program with a text of its own; run.c writes the kernel's text, which is parsed,
// verified and run on every row of the device table; reference*.c says what must come out.
// Invariants: an op without a maker or a reference fails, and so does an (op, type) without a cell,
// unless unsupported.def names the test of the diagnostic. In a slice a cell runs by the hash of
// its name; the first of each (op, type) always runs, and so does the first of each kind of dot,
// cast and reduce (matrix_takes_kind), as compiled code, too. Ownership: a cell's memory is the
// arena of the matrix, reset after the cell.
//
//     Matrix *m = matrix_create(whole);
//     matrix_run_all(m);          // cmocka failures name the cell
//     matrix_report(m);
#ifndef TILEC_TESTS_MATRIX_MATRIX_H
#define TILEC_TESTS_MATRIX_MATRIX_H

#include "base/arena.h"
#include "ir/interp/interp.h"
#include "tests/matrix/number.h"
#include "tests/support/portion.h"

enum {
    MAX_OPERANDS = 6,
    MAX_RESULTS = 4,
    MAX_BUFFERS = 8,
    MAX_ARGS = 16,
    POINTERS = DTYPES,
    ONCE,
    COLUMNS
};
enum { MATRIX_ONCE = 1 << 9 };  // a class of ops without an element type

// ---- values -------------------------------------------------------------------------------------

typedef struct Tile {
    bool absent;   // an optional operand that is not there
    bool pointer;  // to f32; its elements are addresses as u64
    Dtype elem;
    uint32_t rank, shape[IR_MAX_RANK], count;
    uint64_t *bits;
} Tile;

typedef enum AnswerKind {
    ANSWER_NONE,   // the reference does not know this type: a red cell
    ANSWER_BITS,   // these bits, a NaN's payload too
    ANSWER_VALUE,  // these bits, but any NaN for a NaN
    ANSWER_BOUND,  // within a bound of a value; zeros of either sign
} AnswerKind;

typedef struct Answer {
    AnswerKind kind;
    uint64_t bits;
    long double value, bound;
} Answer;

typedef struct Case {
    IrOpcode code;
    uint32_t operand_count, result_count;
    Tile in[MAX_OPERANDS], out[MAX_RESULTS];
    Answer *want[MAX_RESULTS];
    // Attributes, whichever the op has.
    uint64_t value;
    int64_t axis, count, perm[IR_MAX_RANK];
    IrReduce kind;
    IrPrecision precision;
    bool ties_away;  // not of the op: how the reference rounds to tf32
    int flushes;     // nor this: dots take operands below 2 to this power as 0; 0: none
    bool saturate, reverse, exclusive, descending;
    const char *region;  // text of a combiner
    Tile table;          // of a lookup: its values, of the result's type
} Case;

// One reference per opcode: fills want; false where it does not know the case.
typedef bool (*Reference)(Case *c);
Reference reference_of(IrOpcode code);
Reference reference_elementwise_of(IrOpcode code);
Reference reference_math_of(IrOpcode code);
Reference reference_tile_of(IrOpcode code);

static inline Answer answer_bits(uint64_t bits) { return (Answer){ANSWER_BITS, bits, 0, 0}; }
static inline Answer answer_value(uint64_t bits) { return (Answer){ANSWER_VALUE, bits, 0, 0}; }
static inline Answer answer_bound(long double value, long double bound) {
    return (Answer){ANSWER_BOUND, 0, value, bound};
}
bool answer_fits(Dtype t, Answer want, uint64_t got);

// ---- programs -----------------------------------------------------------------------------------

// Memory an argument names, between guards that must not be accessed.
typedef struct Buffer {
    Dtype elem;
    uint64_t count;  // elements
    uint8_t *bytes;  // the first element
    uint64_t size;
    uint8_t *expected;  // what must be there after the run; NULL: not looked at
} Buffer;

enum { MATRIX_REFUSED = 100 };  // one more outcome than IrOutcome has: a `requires` does not hold

typedef struct Program {
    const char *text;
    const char *pieces;  // the same by several programs, where a device runs that; else NULL
    Buffer buffers[MAX_BUFFERS];
    uint32_t buffer_count;
    IrArg args[MAX_ARGS];
    uint32_t arg_count;
    int64_t grid[3];
    bool sanitize;
    bool quick;           // for compiled devices: as in JittedOptions
    bool first_of_kind;   // see matrix_takes_kind
    bool makes_nans;      // by arithmetic, in memory: code may give them any sign and payload
    IrOutcome outcome;    // what it must end with
    const char *printed;  // all lines, each with its end
} Program;

typedef struct Matrix Matrix;

typedef enum DeviceResult {
    DEVICE_RAN,
    DEVICE_REFUSED,   // a failure
    DEVICE_LEFT_OUT,  // the cell says nothing of this device
} DeviceResult;

// A row of the device table: a back end that runs programs adds one.
typedef struct Device Device;
struct Device {
    const char *name;
    bool splits;  // dot's operands by `precision`; else all products are exact, as with ieee
    // Prints go to `printed`, why it is refused to `message`.
    DeviceResult (*run)(const Device *device, Program *p, Arena *arena, IrOutcome *outcome,
                        StrBuf *printed, StrBuf *message);
    bool compiled;       // takes a part of the slice; see matrix_is_compiled
    const char *target;  // of compiled code
    bool ties_away;      // f32 becomes tf32 by rounding ties away from zero
    bool kinds;          // takes the first cells of kinds, and nothing else
};
extern const Device matrix_devices[];
extern const uint32_t matrix_device_count;
enum { MATRIX_DEVICES_MAX = 12 };

// ---- the matrix ---------------------------------------------------------------------------------

struct Matrix {
    Arena *arena;  // of one cell
    ArenaMark start;
    bool whole;
    Portion portion;  // of the whole
    uint64_t cells, ran, failures;
    uint64_t compiled_slice;
    bool first;          // the cell is the first of its op and type
    bool first_of_kind;  // or of a kind of those
    uint8_t *kinds;      // a bit for each that was met
    uint64_t runs[MATRIX_DEVICES_MAX], left_out[MATRIX_DEVICES_MAX];  // of each device
    uint32_t covered[IR_OPCODES][COLUMNS], made[IR_OPCODES][COLUMNS];
    uint64_t random;
    StrBuf failed;  // messages
    Arena *messages;
};

Matrix *matrix_create(bool whole);
void matrix_destroy(Matrix *m);
void matrix_run_op(Matrix *m, IrOpcode code);
// Does a compiled device take this cell? One device in seven takes a cell, by hash: the first of
// each (op, type), one in compiled_slice of the others, and with TILEC_TEST_WHOLE=1 every one; with
// TILEC_TEST_TARGETS=all v2, v3 and v4 take all cells, those beyond the slice compiled the quick
// way. The first cell of a kind is taken by one level of x86-64 and by both simulated GPUs.
bool matrix_is_compiled(const Matrix *m, const Device *d, const char *name, Program *p);
// Why a compiled device takes nothing here; NULL when it does.
const char *matrix_not_compiled(const Device *d);
// The test: runs all ops, prints the number of cells, fails with the cells that differ.
void matrix_check(bool whole);
// Cells that are missing; 0 when all there are or have a row of unsupported.def.
uint32_t matrix_missing(Matrix *m);
uint32_t matrix_unsupported_count(void);

// Does this cell run here? Counts it and frees the last one; `column` is its element type or
// POINTERS. `name` must not be in the arena.
bool matrix_takes(Matrix *m, IrOpcode code, int column, const char *name);
// The same of an op whose cells are of several kinds, 0 to MATRIX_KINDS - 1: the types of its
// operands and results, or what it does. The first of each kind always runs.
enum { MATRIX_KINDS = 4096 };
bool matrix_takes_kind(Matrix *m, IrOpcode code, int column, uint32_t kind, const char *name);
void matrix_fail(Matrix *m, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Cells of values: operands are there, results typed; the reference and all devices are asked.
void matrix_case(Matrix *m, const char *name, Case *c);
void matrix_program(Matrix *m, const char *name, Program *p);
bool matrix_execute(Matrix *m, const char *name, const Device *d, Program *p);

// ---- making cases -------------------------------------------------------------------------------

typedef void (*Maker)(Matrix *m, IrOpcode code, int column);
// The element types (DtypeClass bits and IR_CLASS_POINTER) that the matrix owes an op.
unsigned matrix_classes(IrOpcode code);
Maker maker_of(IrRule rule);
Maker maker_of_values(IrRule rule);
Maker maker_of_tiles(IrRule rule);
Maker maker_of_memory(IrRule rule);
Maker maker_of_control(IrRule rule);

typedef struct Shape {
    uint32_t rank, extent[3];
} Shape;
extern const Shape matrix_shapes[];
enum { SHAPES = 7 };

typedef enum Fill {
    FILL_ANY,     // special values and random bits
    FILL_SMALL,   // whole numbers -4 … 4 (0 … 8)
    FILL_MEDIUM,  // random numbers around 1, for sums
    FILL_TIES,    // few different values, with zeros of both signs and NaNs
} Fill;

Tile tile_make(Matrix *m, int column, uint32_t rank, const uint32_t *shape);
Tile tile_shaped(Matrix *m, int column, Shape s);
Tile tile_filled(Matrix *m, int column, Shape s, Fill fill);
Tile tile_absent(void);

void tile_fill(Matrix *m, Tile *t, Fill fill);
uint64_t matrix_random(Matrix *m);
uint64_t element_small(Dtype t, int64_t value);  // a small whole number in a type
// The special values of a type; the count is returned.
uint32_t special_values(Dtype t, uint64_t *values, uint32_t room);

enum { NAME_SIZE = 160 };
typedef struct Name {
    char text[NAME_SIZE];
} Name;
// "op type [4,8] variant"
Name cell_name(IrOpcode code, int column, Shape s, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
const char *column_name(int column);
bool column_allowed(unsigned classes, int column);
char *matrix_text(Matrix *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *tile_type(Matrix *m, const Tile *t);

#endif
