// Claims of the analyses as asserts: after gen_claims a run ends at the first value that ir_ranges
// is wrong about.
//
// For every integer in every scope but combiners: range, divisor, runs that are contiguous or
// constant, what their first elements divide by. Ownership: the function's arena.
//
//     gen_claims(f);   // then any_launch_run(…) must still give IR_RUN_DONE
#ifndef TILEC_TESTS_GEN_GEN_CLAIMS_H
#define TILEC_TESTS_GEN_GEN_CLAIMS_H

#include "ir/ir.h"

void gen_claims(IrFunc *f);

#endif
