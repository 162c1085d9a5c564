// The matrix as a whole: which columns an op owes, who makes its cells, what is missing.
#include <stdio.h>
#include <string.h>

#include "tests/matrix/matrix.h"

enum {
    CLASS_ELEMENTS = DTYPE_CLASS_ANY,
    CLASS_MEMORY = DTYPE_CLASS_ANY | DTYPE_CLASS_PACKED,
};

unsigned matrix_classes(IrOpcode code) {
    const IrOpInfo *info = ir_op_info(code);
    switch (info->rule) {
    case IR_RULE_CONST:
    case IR_RULE_UNARY:
    case IR_RULE_BINARY:
    case IR_RULE_SHIFT:
    case IR_RULE_COMPARE:
    case IR_RULE_TERNARY:
    case IR_RULE_SELECT:
    case IR_RULE_CAST:
    case IR_RULE_LOOKUP:
    case IR_RULE_BITCAST:
    case IR_RULE_BROADCAST:
    case IR_RULE_RESHAPE:
    case IR_RULE_PERMUTE:
    case IR_RULE_JOIN:
    case IR_RULE_SPLIT:
    case IR_RULE_CAT:
    case IR_RULE_GATHER:
    case IR_RULE_DOT:
    case IR_RULE_REDUCE:
    case IR_RULE_SCAN:
    case IR_RULE_SORT:
    case IR_RULE_TOPK:
    case IR_RULE_HISTOGRAM:
    case IR_RULE_RANDOM: return info->classes;
    // Through memory: by the type of the elements there.
    case IR_RULE_PTR_ADD:
    case IR_RULE_LOAD:
    case IR_RULE_STORE:
    case IR_RULE_ATOMIC:
    case IR_RULE_ATOMIC_CAS:
    case IR_RULE_VIEW_LOAD:
    case IR_RULE_VIEW_STORE:
    case IR_RULE_VIEW_ATOMIC:
    case IR_RULE_VIEW_CAS:
    case IR_RULE_VIEW_INSIDE:
    case IR_RULE_SCRATCH: return CLASS_MEMORY;
    // The op carries values: every type of them.
    case IR_RULE_PRINT: return CLASS_ELEMENTS;
    case IR_RULE_FOR:
    case IR_RULE_WHILE:
    case IR_RULE_IF:
    case IR_RULE_YIELD:
    case IR_RULE_RETURN:
    case IR_RULE_CALL: return CLASS_ELEMENTS | IR_CLASS_POINTER;
    case IR_RULE_SCALAR_I64:
    case IR_RULE_EXTENT:
    case IR_RULE_IOTA:
    case IR_RULE_ASSERT:
    case IR_RULE_NOALIAS:
    case IR_RULE_UNITS:
    case IR_RULE_NOTHING: return MATRIX_ONCE;
    // Lowered code: the tile ops' cells on the CPU are what exercises it.
    case IR_RULE_VEC_DATA:
    case IR_RULE_CPU_DIM:
    case IR_RULE_CPU_SPAN:
    case IR_RULE_CPU_LOAD:
    case IR_RULE_CPU_STORE:
    case IR_RULE_CPU_PREFETCH:
    case IR_RULE_VEC_REDUCE:
    case IR_RULE_VEC_SHUFFLE:
    case IR_RULE_VEC_LANE:
    case IR_RULE_CPU_DOT:
    case IR_RULE_CPU_TILES:
    case IR_RULE_VEC_ASSERT:
    case IR_RULE_VEC_PRINT:
    case IR_RULE_GPU_CONVERT:
    case IR_RULE_GPU_SHARED:
    case IR_RULE_GPU_SLOT:
    case IR_RULE_GPU_COPY:
    case IR_RULE_GPU_MBARRIER:
    case IR_RULE_GPU_MBARRIER_EXPECT:
    case IR_RULE_GPU_MBARRIER_ARRIVE:
    case IR_RULE_GPU_TMA_LOAD:
    case IR_RULE_GPU_MBARRIER_WAIT:
    case IR_RULE_GPU_MBARRIER_END:
    case IR_RULE_GPU_READ:
    case IR_RULE_THREAD_ID:
    case IR_RULE_THREAD_LOAD:
    case IR_RULE_THREAD_STORE:
    case IR_RULE_THREAD_SHUFFLE:
    case IR_RULE_THREAD_PACK:
    case IR_RULE_THREAD_MATRIX_LOAD:
    case IR_RULE_THREAD_MMA:
    case IR_RULE_THREAD_WGMMA:
    case IR_RULE_THREAD_WGMMA_BEGIN:
    case IR_RULE_THREAD_WGMMA_WAIT:
    case IR_RULE_THREAD_COPY:
    case IR_RULE_THREAD_MBARRIER:
    case IR_RULE_THREAD_MBARRIER_WAIT:
    case IR_RULE_THREAD_TMA_LOAD:
    case IR_RULE_THREAD_UPDATE: return 0;
    }
    return 0;
}

Maker maker_of(IrRule rule) {
    Maker maker = maker_of_values(rule);
    if (!maker) maker = maker_of_tiles(rule);
    if (!maker) maker = maker_of_memory(rule);
    return maker ? maker : maker_of_control(rule);
}

void matrix_run_op(Matrix *m, IrOpcode code) {
    const IrOpInfo *info = ir_op_info(code);
    bool lowered = info->level != IR_LEVEL_TILE && info->level != IR_LEVEL_ANY;
    if (lowered && matrix_classes(code) == 0) return;
    Maker maker = maker_of(info->rule);
    if (!maker) {
        matrix_fail(m, info->text, "no cases for this op's typing rule in tests/matrix/cases*.c");
        return;
    }
    if (matrix_classes(code) == 0) matrix_fail(m, info->text, "the table says no element types");
    for (int column = 0; column < COLUMNS; column++)
        if (column_allowed(matrix_classes(code), column)) maker(m, code, column);
}

// ---- what is missing ----------------------------------------------------------------------------

typedef struct Unsupported {
    IrOpcode code;
    int column;
    const char *file, *text;
} Unsupported;

static const Unsupported unsupported[] = {
#define UNSUPPORTED(op, dtype, file, text) {IR_##op, DTYPE_##dtype, file, text},
#include "tests/matrix/unsupported.def"
#undef UNSUPPORTED
    {IR_OPCODES, 0, NULL, NULL},
};

// Does the filetest hold the text?
static bool test_exists(const Unsupported *u) {
    FILE *file = fopen(u->file, "rb");
    if (!file) return false;
    static char text[1 << 17];
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = 0;
    return strstr(text, u->text) != NULL;
}

static const Unsupported *unsupported_find(IrOpcode code, int column) {
    for (const Unsupported *u = unsupported; u->file; u++)
        if (u->code == code && u->column == column) return u;
    return NULL;
}

uint32_t matrix_unsupported_count(void) {
    return (uint32_t)(sizeof unsupported / sizeof *unsupported) - 1;
}

uint32_t matrix_missing(Matrix *m) {
    uint32_t missing = 0;
    for (int code = 0; code < IR_OPCODES; code++)
        for (int column = 0; column < COLUMNS; column++) {
            const Unsupported *u = unsupported_find((IrOpcode)code, column);
            bool owed = column_allowed(matrix_classes((IrOpcode)code), column);
            bool there = m->covered[code][column] > 0;
            Name name = cell_name((IrOpcode)code, column, (Shape){0}, "%s", "");
            if (owed != (there || u != NULL) || (there && u)) {
                missing++;
                matrix_fail(m, name.text,
                            there && u ? "a cell, and a row of unsupported.def"
                            : owed     ? "no cell ran, and no row of unsupported.def"
                                       : "a cell or row that the op table does not allow");
            } else if (u && !test_exists(u)) {
                missing++;
                matrix_fail(m, name.text, "no '%s' in %s", u->text, u->file);
            }
        }
    return missing;
}
