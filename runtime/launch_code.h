// Launch code: grid, requires and the choice of the variant, as a small program that needs neither
// LLVM nor IR.
//
// A program is straight-line: instruction i computes value i from earlier values. Every value is
// the raw bits of its dtype, in a uint64_t. The arithmetic is the language's own (rules 21, 22):
// the interpreter computes the same bits from the same source.
// Invariants: operands come before their instruction; a program is at most LAUNCH_CODE_MAX long.
// launch_code_valid checks this for programs read from files.
// Ownership: the code that made the arrays.
//
//     uint64_t values[LAUNCH_CODE_MAX];
//     launch_code_run(&code, &inputs, values);
//     grid[0] = (int64_t)values[variant->grid[0]];
#ifndef TILEC_RUNTIME_LAUNCH_CODE_H
#define TILEC_RUNTIME_LAUNCH_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"

enum { LAUNCH_CODE_MAX = 4096 };

typedef enum LaunchOp {
#define LAUNCH_OP(name, text, operands) LAUNCH_##name,
#include "runtime/launch_code.def"
#undef LAUNCH_OP
    LAUNCH_OPS
} LaunchOp;

typedef struct LaunchInstr {
    uint8_t op;      // LaunchOp
    uint8_t dtype;   // dtype of the operands (CAST, BITCAST: of the operand)
    uint8_t result;  // dtype of the value
    uint8_t unused;
    uint32_t a, b,
        c;         // earlier values; ARG_*: argument index in a, dimension or other argument in b
    uint64_t imm;  // CONST
} LaunchInstr;

typedef struct LaunchCode {
    uint32_t count;
    const LaunchInstr *code;
} LaunchCode;

// The facts about one argument that programs may read.
typedef struct LaunchInput {
    uint64_t scalar;  // bits
    uint64_t address;
    uint64_t first, last;  // bytes [first, last) that the kernel may access; first == last: none
    int64_t extent[5];
    int64_t stride[5];
} LaunchInput;

// Do the two have no byte in common?
static inline bool launch_disjoint(const LaunchInput *a, const LaunchInput *b) {
    if (a->first >= a->last || b->first >= b->last) return true;
    return a->last <= b->first || b->last <= a->first;
}

void launch_code_run(const LaunchCode *code, const LaunchInput *inputs, uint64_t *values);
// Does a value depend on the number of programs that run at once? launch_code_run takes 1 for it.
bool launch_code_asks_units(const LaunchCode *code);
void launch_code_run_with(const LaunchCode *code, const LaunchInput *inputs, uint64_t units,
                          uint64_t *values);
// After launch_code_run: does values[value] depend on a signed sum, difference, product or left
// shift whose exact result does not fit? For a select, only the chosen operand counts.
bool launch_code_wraps(const LaunchCode *code, const uint64_t *values, uint32_t value);
bool launch_code_valid(const LaunchCode *code, uint32_t input_count);
const char *launch_op_text(LaunchOp op);
int launch_op_operands(LaunchOp op);  // values among a, b, c

#endif
