// The verifier checks that IR is well formed. It runs after every pass in debug builds and tests.
//
// Checks, each with op, expected and found in its message [ir-invalid]:
//   V1  operand and result counts, region counts, attributes present and in range by the op table
//   V2  the typing rule of the op (verify_rules.c, one function a rule); a dot of the gpu level has
//       a plan, others have none (verify_dot.c)
//   V3  operands defined before use, in scope; sections share nothing but parameters
//   V4  use lists: each operand is in its value's list once, each list entry is such an operand
//   V5  blocks end in exactly one terminator of the right kind; yields match the op they end
//   V6  levels: no op above the function's level
//   V7  kernels: one body, at most one grid (1 to 3 i64), requires yield one bool; both pure (no
//       memory, no program, no assert); extents used are declared; the body ends in `return`
//   V8  packed elements only in views and pointers; shapes are powers of two within limits
//   V9  combiners: pure, scalars only; from outside they use constants and scalars only
//   V10 ids unique and below value_count / op_count; parent links right
//   V11 calls: the callee exists and is not a kernel, argument and result types agree, no recursion
//   V12 maps: of views of kernels, within what hardware takes (verify_maps.c)
#ifndef TILEC_IR_VERIFY_VERIFY_H
#define TILEC_IR_VERIFY_VERIFY_H

#include "base/diag.h"
#include "ir/ir.h"

// Reports every violation; true if there are none.
bool ir_verify(const IrModule *m, Diags *diags);
// `scratch` is left as it was; it is another arena than that of the diagnostics.
bool ir_verify_func(const IrFunc *f, Arena *scratch, Diags *diags);

#endif
