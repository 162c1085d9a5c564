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
    // ---- what LLVM and ptxas are asked for (compile/pipeline/attempts_choose.c) ----

    // Of vector registers, one part in so many: AMD code that misses one more wave on each SIMD by
    // no more is made again for that wave. attention f16 on gfx942 (130 registers become 122, 4
    // waves for 3); a tenth was tried and spills.
    TUNE_WAVE_NEARLY = 16,
    // Vector registers: AMD code that spills more is not tried in other orders. It is large, and no
    // kernel of the examples was mended that spilled more.
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
