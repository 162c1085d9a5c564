// Numbers to tune: constants of the code for GPUs of which a person with the hardware would try
// other values.
//
// Each has its unit, its reason, and the source of its value. Numbers that depend on the chip are
// in target/chips.def, costs of moving data in passes/gpu/cost.h; limits that only bound the time
// of compiling stay where they are used. A change here changes code, and nothing else: the results
// are right for every value of every number.
//
//     if (vectors - vectors / TUNE_WAVE_NEARLY …
#ifndef TILEC_PASSES_GPU_TUNING_H
#define TILEC_PASSES_GPU_TUNING_H

enum {
    // ---- programs ----

    // Warps of a program without the option `warps`.
    TUNE_WARPS = 4,
    // Programs along dimension 0 that run before the next one along dimension 1: in a product, this
    // many tiles of rows share a tile of columns in the cache.
    TUNE_PROGRAM_GROUP = 8,

    // ---- layouts (passes/gpu/layout) ----

    // The iterations that a loop is assumed to run, if they are unknown, when costs are added up.
    TUNE_LOOP_TIMES = 8,
    // Limits of rematerializing in another layout instead of converting: the ops that are visited
    // for one conversion, the elements that are loaded again.
    TUNE_REMAT_OPS = 16,
    TUNE_REMAT_LOADED = 1024,
    // Issue slots of a division, and of a function such as exp; other arithmetic takes 1.
    TUNE_PRICE_DIVISION = 20,
    TUNE_PRICE_FUNCTION = 8,

    // ---- products ----

    // Registers of 32 bits per thread, for a factor that is loaded several rows deep.
    TUNE_DOT_REGISTERS = 64,
    // Without a matrix unit: a thread's part of the sum is at most this many elements high and
    // wide, and this many lanes are adjacent.
    TUNE_DOT_SIDE = 4,
    TUNE_DOT_LANES = 8,
    // And steps along K in one iteration of the loop.
    TUNE_DOT_UNROLL = 4,

    // ---- pipelines (passes/gpu/pipeline) ----

    // Steps of a loop with products that are in flight without the option `stages`, and at most:
    // more would wait for nothing.
    TUNE_STAGES = 3,
    TUNE_STAGES_MAX = 8,
    // Stages from which a product may run into the next step, which takes the copies of one step
    // out of flight. H100, f16 8192^3 in tiles of 128x256x64: 3 stages 584 TFLOP/s, into the next
    // step 494; 4 stages 618, into the next step 646.
    TUNE_AHEAD_STAGES = 4,
    // The same if copies are made by tensor maps, which take no step out of flight.
    TUNE_AHEAD_STAGES_MAP = 3,
    // Warps of a program that may have one more, which only copies. With 16 of them each thread
    // would have 120 registers, not 128.
    TUNE_PRODUCER_WARPS_MAX = 8,
    // Registers of 32 bits per thread for sums and factors of products, from which on four warps
    // copy and give up their own; one leaves 168 to each. ptxas 13.0, bytes of spills with one and
    // with four: matmul of 128x256 (128 registers) 0 and 0, with gelu at its end 656 and 0, causal
    // attention with 64 keys and 128 columns (112) 84 and 0, with 64 columns (80) 0 and 0.
    TUNE_PRODUCERS_TRADE_REGISTERS = 96,
    // Registers of 32 bits per thread for values that are loaded steps before their use; and for
    // these with all other carried values of a loop, so that the step itself has enough.
    TUNE_STAGED_REGISTERS = 64,
    TUNE_CARRIED_REGISTERS = 144,
    // Bytes of shared memory that are left to reductions, scans and conversions of a step.
    TUNE_SHARED_SPARE = 4096,

    // Registers of 32 bits per thread for everything but the carried values of a loop (addresses,
    // fragments, loads in flight), when the programs are counted that run at once: a conversion
    // after the loop goes in slices only where registers leave room for more programs. A guess.
    TUNE_UNCARRIED_REGISTERS = 64,

    // ---- reductions ----

    // Elements of a reduction across warps that go through shared memory at a time.
    TUNE_REDUCE_ELEMENTS = 2048,

    // ---- options of LLVM and ptxas (compile/pipeline/attempts_choose.c) ----

    // One part in this many, of vector registers: AMD code that misses one more wave on each SIMD
    // by no more than that is compiled again for that wave. attention f16 on gfx942: 130 registers
    // become 122, 4 waves for 3.
    TUNE_WAVE_NEARLY = 16,
    // Vector registers: AMD code that spills more than this is not tried in other orders; it is
    // large, and each attempt takes long.
    TUNE_SPILLS_MAX = 32,
    // One part in this many, of the registers that a function keeps live, is added for addresses
    // and for LLVM's order, when an attempt is started before it is known to be needed. attention
    // f16: 107 become 129 on gfx942, 195 become 256 and 6 spills on gfx1100. Nothing is added
    // without matrix instructions, whose operands are neighbours: LLVM loads factors of f32 later
    // than the function does. matmul f32 on gfx1100: 224 become 174.
    TUNE_REGISTERS_MARGIN = 4,
    // Waves on each SIMD: with more than this, no attempt at one more wave is started before it is
    // known to be needed. The step to the next number of waves is smaller than the error of the
    // expected number of registers: 0 of 11 such attempts were needed for the examples on RDNA.
    TUNE_WAVES_FEW = 4,
    // Registers per thread that ptxas must use even though shared memory leaves room for few
    // blocks; and the most that a thread can have. sm_80: the tf32 loop of matmul.
    TUNE_PTXAS_WORTH = 128,
    TUNE_PTXAS_MAX = 256,
};

#endif
