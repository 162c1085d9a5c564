// An estimate of the time of one launch of a candidate, from its tile IR and the launch's
// arguments: it is made before anything is compiled, in some hundredths of a millisecond.
//
//     some programs of the grid ─▶ each is walked: scalars are computed, loops counted, tiles cut
//     to their part inside of the views ─▶ clocks of a program ─▶ programs dealt to units
//
// A walk knows the extents and scalar arguments, so it computes indices and loop bounds. A loop's
// first and last iteration are walked. On a CPU, elements outside of a view cost nothing; a GPU
// computes whole tiles. Rates are those of target/rates.h; what else a model needs to know is in
// model.c, at its head. Waits, conflicts and caches are not modelled, so only the ratio of two
// estimates of one kernel means something.
// Invariants: an estimate; it decides which of several correct kernels runs. Nothing is kept in the
// arena.
//
//     ModelMachine m;
//     if (model_machine(target, units, &m))
//         seconds = model_seconds(arena, func, args, count, options, &m);
#ifndef TILEC_COMPILE_TUNE_MODEL_H
#define TILEC_COMPILE_TUNE_MODEL_H

#include <tilec/tilec.h>

#include "ir/ir.h"
#include "target/machine.h"
#include "target/target.h"

typedef struct ModelMachine {
    Machine machine;
    const struct Rates *gpu;     // of a GPU, or NULL
    const struct CpuRates *cpu;  // of a CPU, or NULL
    double units;                // that run programs at once
} ModelMachine;

// Options of a candidate that its tile IR need not have.
typedef struct ModelOptions {
    int warps, stages;  // 0: those of the IR
} ModelOptions;

// False: there are no rates for the target. `units` of a GPU are its multiprocessors.
bool model_machine(CodeTarget target, double units, ModelMachine *machine);

// 0: not known, since the time depends on more than extents and scalars, or on masks. INFINITY: the
// candidate cannot be launched with these arguments, or its tiles do not fit.
double model_seconds(Arena *scratch, const IrFunc *tile, const tilec_arg *args, size_t count,
                     ModelOptions options, const ModelMachine *machine);

// Twice the multiply-adds of the launch's matrix products, without those of elements outside of the
// views. 0: not known, or there are none.
double model_flops(Arena *scratch, const IrFunc *tile, const tilec_arg *args, size_t count,
                   const int64_t grid[3]);

#endif
