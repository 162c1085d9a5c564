// Fragments of matrices in a warp's registers, as mma.sync and wgmma have them (matrix.c).
//
// Purpose: what the two families share: results of 16 rows by 8 columns, factors of 16 rows.
// Invariants: columns are in the order 0 2 4 6 1 3 5 7. Lines of factors are along k.
//
//     sim_results_read(w, SIM_F32, op->rd, 4, c);   // 16 rows of 8
#ifndef TILEC_SIM_MACHINE_FRAGMENT_H
#define TILEC_SIM_MACHINE_FRAGMENT_H

#include "sim/machine/warp.h"

// The place of a column in that order.
static inline uint32_t sim_column_place(uint32_t column) { return column / 2 + 4 * (column & 1); }

// Elements as numbers.
void sim_floats_of(SimType type, const uint8_t *from, uint32_t count, float *to);
void sim_ints_of(SimType type, const uint8_t *from, uint32_t count, int16_t *to);

// Results in `count` registers, as bits of their type.
void sim_results_read(const SimWarp *w, SimType type, const SimOperand *regs, uint32_t count,
                      uint32_t *c);
void sim_results_write(SimWarp *w, SimType type, const SimOperand *regs, uint32_t count,
                       const uint32_t *d);
// The lanes whose element in register r is in one of the poisoned rows or columns.
uint32_t sim_result_poison(SimType type, uint32_t r, uint32_t rows, uint32_t columns);

// 16 rows of 32 bytes in four registers; poisoned rows.
void sim_rows_read(const SimWarp *w, const SimOperand regs[4], SimType type, uint8_t *to);
uint32_t sim_rows_poison(const SimWarp *w, const SimOperand regs[4], SimType type);

#endif
