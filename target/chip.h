// The capabilities of GPUs: the rows of chips.def.
//
// Invariants: constant. There is one row for each target that gpu_target_parse knows; the form with
// an `a` shares the row of the plain one.
//
//     const Chip *chip = chip_of(target);
//     if (chip->flags & CHIP_ASYNC_COPY) …
#ifndef TILEC_TARGET_CHIP_H
#define TILEC_TARGET_CHIP_H

#include "target/banks.h"
#include "target/gpu.h"
#include "target/matrix.h"

enum {
    // NVIDIA
    CHIP_ASYNC_COPY = 1,  // cp.async
    // both vendors: minimum and maximum of two f32, of two f64, with NaN kept, is one instruction
    CHIP_NAN_F32 = 2,
    CHIP_NAN_F64 = 4,
    // AMD
    CHIP_F16 = 8,               // f16 arithmetic
    CHIP_F16_DOT = 16,          // products of pairs of f16 are summed in f32
    CHIP_PACKED_F32 = 32,       // f32 arithmetic of two registers at once
    CHIP_FLUSHES_HALVES = 64,   // matrix products take subnormal f16 and bf16 as 0
    CHIP_LOOSE_PAIRS = 128,     // products of f16 and bf16 are added in pairs, which loses bits
    CHIP_CHIPLETS = 256,        // programs are distributed in rotation over several chiplets, each
                                // with its own cache
    CHIP_LONG_RESOURCES = 512,  // buffer resources have the newer form
    // NVIDIA, only the form with an `a`: four warps multiply together, from shared memory
    CHIP_WGMMA = 1024,
    CHIP_SHORT_SUMS = 2048,  // NVIDIA: matrix products of fp8 keep fewer bits of their sums
    CHIP_TCGEN05 = 4096,     // NVIDIA: a matrix unit with memory of its own, which is not used yet
    CHIP_STORE_SCOPES = 8192,  // AMD: stores have bits for the scope in which others see them

    // The generations that the rows of chips.def name.
    CHIP_TURING = 0,
    CHIP_AMPERE = CHIP_ASYNC_COPY | CHIP_NAN_F32,
    CHIP_HOPPER = CHIP_AMPERE | CHIP_WGMMA,
    CHIP_ADA = CHIP_AMPERE | CHIP_SHORT_SUMS,
    CHIP_BLACKWELL = CHIP_ADA | CHIP_TCGEN05,
    CHIP_NO_HALF = 0,
    CHIP_HALF = CHIP_F16,
    CHIP_DOT2 = CHIP_F16 | CHIP_F16_DOT | CHIP_LOOSE_PAIRS,
    CHIP_CDNA2 = CHIP_F16 | CHIP_PACKED_F32 | CHIP_FLUSHES_HALVES,
    CHIP_CDNA3 = CHIP_F16 | CHIP_PACKED_F32 | CHIP_CHIPLETS | CHIP_STORE_SCOPES,
    CHIP_CDNA4 = CHIP_CDNA3 | CHIP_NAN_F32,
    CHIP_RDNA3 = CHIP_F16 | CHIP_LOOSE_PAIRS,
    CHIP_RDNA4 = CHIP_F16 | CHIP_NAN_F32 | CHIP_NAN_F64 | CHIP_STORE_SCOPES,
    CHIP_GFX1250 = CHIP_RDNA4 | CHIP_LONG_RESOURCES,
};

// How the warp machine of `sim:` supports the chip.
typedef enum ChipSimulated {
    CHIP_SIM_NONE,
    CHIP_SIM_CODE,   // its code runs on the simulated device of another chip
    CHIP_SIM_DEVICE  // sim:NAME is a device
} ChipSimulated;

typedef struct Chip {
    GpuVendor vendor;
    uint32_t number;  // the same as in GpuTarget
    bool generic;     // code objects that run on several processors of AMD
    uint32_t ptx,
        ptx_own;          // NVIDIA: the PTX version that code needs; that of the form with an `a`,
                          // or 0
    uint32_t elf;         // AMD: the processor's number in ELF files
    uint32_t generation;  // AMD: generation of the instruction set: 9, 10, 11, 12
    uint32_t warp;        // threads
    uint32_t shared_max;  // the most shared memory of one program, in bytes
    // These are for one multiprocessor, compute unit or work-group processor. For AMD, warps and
    // registers are those of one of its four SIMDs, and registers are those of a lane.
    uint32_t warps, blocks, registers, register_unit;
    uint32_t shared_bytes, shared_unit,
        shared_reserved;  // held: shared memory that the system takes for each program in addition
    uint32_t f64_ratio;   // f32 operations in the time of one of f64
    const SharedBanks *banks;
    MatrixUnit unit;
    uint32_t tile_registers;  // registers that a thread has for tiles; 0: enough
    uint32_t direct_bytes;    // width of loads that go directly to shared memory; 0: unsupported
    ChipSimulated simulated;
    unsigned flags;
} Chip;

// The target's row. An architecture of NVIDIA that is not listed has the row of the next lower one.
const Chip *chip_of(GpuTarget target);
// The target of the processor with this number in ELF files; false: unknown.
bool chip_by_elf(uint32_t elf, GpuTarget *target);

#endif
