// Numbers to turn: what somebody with the hardware would try other values of, for code of GPUs.
//
// Each has its unit, why it is there, and where its value comes from. What depends on the chip is
// in target/chips.def, what moving data costs in passes/gpu/cost.h; limits that only bound the time
// of compiling stay where they are. A change here changes code, and nothing else: every value of
// every number is right.
//
//     if (vectors - vectors / TUNE_WAVE_NEARLY …
#ifndef TILEC_PASSES_GPU_TUNING_H
#define TILEC_PASSES_GPU_TUNING_H

enum {
    // ---- programs ----

    // Warps of a program that asks for none (`warps`).
    TUNE_WARPS = 4,
    // Programs along dimension 0 that run before the next one along dimension 1 does: of a product
    // so many tiles of rows share a tile of columns in the cache.
    TUNE_PROGRAM_GROUP = 8,

    // ---- layouts (passes/gpu/layout) ----

    // Times that a loop's body is taken to run where that is not known, when costs are added up.
    TUNE_LOOP_TIMES = 8,
    // What is made once more in another layout rather than converted: ops of one conversion that
    // are looked at, elements that are loaded again.
    TUNE_REMAT_OPS = 16,
    TUNE_REMAT_LOADED = 1024,
    // Issue slots of a division, and of a function such as exp; of other arithmetic 1.
    TUNE_PRICE_DIVISION = 20,
    TUNE_PRICE_FUNCTION = 8,

    // ---- products ----

    // Registers of 32 bits of a thread, for a factor that is loaded several rows deep.
    TUNE_DOT_REGISTERS = 64,
    // Without a matrix unit: a thread's part of the sum is at most so many elements high and wide,
    // and so many lanes lie side by side.
    TUNE_DOT_SIDE = 4,
    TUNE_DOT_LANES = 8,
    // And steps along K in one turn of the loop.
    TUNE_DOT_UNROLL = 4,

    // ---- pipelines (passes/gpu/pipeline) ----

    // Steps of a loop with products that are under way where none are asked for (`stages`), and at
    // most: more would wait for nothing.
    TUNE_STAGES = 3,
    TUNE_STAGES_MOST = 8,
    // Registers of 32 bits of a thread for what is loaded steps before its use; and with all else
    // that a loop carries, so that the step itself has enough.
    TUNE_STAGED_REGISTERS = 64,
    TUNE_CARRIED_REGISTERS = 144,
    // Bytes of shared memory that are left to reductions, scans and conversions of a step.
    TUNE_SHARED_SPARE = 4096,

    // ---- reductions ----

    // Elements of a reduction across warps that go through shared memory at a time.
    TUNE_REDUCE_ELEMENTS = 2048,

    // ---- what LLVM and ptxas are asked for (compile/pipeline/attempts_choose.c) ----

    // Of vector registers, one part in so many: AMD code that misses one more wave on each SIMD by
    // no more is made again for that wave. attention f16 on gfx942: 130 registers become 122, 4
    // waves for 3.
    TUNE_WAVE_NEARLY = 16,
    // Vector registers: AMD code that spills more is not tried in other orders; it is large, and
    // each attempt takes long.
    TUNE_SPILLS_MOST = 32,
    // Of the registers that a function keeps live, one part in so many comes on top for addresses
    // and what LLVM's order adds: when an attempt is begun before it is known to be wanted.
    // attention f16: 107 become 129 on gfx942, 195 become 256 and 6 spills on gfx1100.
    TUNE_REGISTERS_BESIDE = 4,
    // Registers of a thread that ptxas is told to take all the same where shared memory leaves room
    // for few blocks; and the most that one can have. sm_80: the tf32 loop of matmul.
    TUNE_PTXAS_WORTH = 128,
    TUNE_PTXAS_MOST = 256,
};

#endif
