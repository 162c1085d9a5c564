// What a GPU can do: the rows of chips.def.
//
// Invariants: constant; one for each target that gpu_target_parse knows, and the form with an `a`
// shares that of the plain one.
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
    // both: the least and the greatest of two f32, of two f64, with NaN kept, are one instruction
    CHIP_NAN_F32 = 2,
    CHIP_NAN_F64 = 4,
    // AMD
    CHIP_F16 = 8,               // arithmetic of f16
    CHIP_F16_DOT = 16,          // products of pairs of f16 are added up in f32
    CHIP_PACKED_F32 = 32,       // f32 arithmetic of two registers at once
    CHIP_FLUSHES_HALVES = 64,   // products take subnormal f16 and bf16 as 0
    CHIP_LOOSE_PAIRS = 128,     // products of f16 and bf16 are added in pairs, and bits are lost
    CHIP_CHIPLETS = 256,        // programs are dealt in turn to several, each with a cache
    CHIP_LONG_RESOURCES = 512,  // buffer resources of another form

    // What the rows of chips.def name.
    CHIP_TURING = 0,
    CHIP_AMPERE = CHIP_ASYNC_COPY | CHIP_NAN_F32,
    CHIP_NO_HALF = 0,
    CHIP_HALF = CHIP_F16,
    CHIP_DOT2 = CHIP_F16 | CHIP_F16_DOT | CHIP_LOOSE_PAIRS,
    CHIP_CDNA2 = CHIP_F16 | CHIP_PACKED_F32 | CHIP_FLUSHES_HALVES,
    CHIP_CDNA3 = CHIP_F16 | CHIP_PACKED_F32 | CHIP_CHIPLETS,
    CHIP_CDNA4 = CHIP_CDNA3 | CHIP_NAN_F32,
    CHIP_RDNA3 = CHIP_F16 | CHIP_LOOSE_PAIRS,
    CHIP_RDNA4 = CHIP_F16 | CHIP_NAN_F32 | CHIP_NAN_F64,
    CHIP_GFX1250 = CHIP_RDNA4 | CHIP_LONG_RESOURCES,
};

// By the warp machine of `sim:`.
typedef enum ChipSimulated {
    CHIP_SIM_NONE,
    CHIP_SIM_CODE,   // its code runs on the device of another chip
    CHIP_SIM_DEVICE  // sim:NAME is a device
} ChipSimulated;

typedef struct Chip {
    GpuVendor vendor;
    uint32_t number;  // as of GpuTarget
    bool generic;     // code objects for several processors of AMD
    uint32_t ptx,
        ptx_own;           // NVIDIA: the PTX version that code needs; of the form with an `a`, or 0
    uint32_t elf;          // AMD: the number of the processor in ELF files
    uint32_t generation;   // AMD: of the instruction set: 9, 10, 11, 12
    uint32_t warp;         // threads
    uint32_t shared_most;  // bytes of shared memory that one program may have
    // Of one multiprocessor, compute unit or work-group processor. Warps and registers of AMD's are
    // those of one of its four SIMDs, registers those of a lane.
    uint32_t warps, blocks, registers, register_unit;
    uint32_t shared_bytes, shared_unit,
        shared_held;     // held: what each program takes beyond its own
    uint32_t f64_ratio;  // f32 operations in the time of one of f64
    const SharedBanks *banks;
    MatrixUnit unit;
    uint32_t tile_registers;  // that a thread has for tiles; 0: enough
    uint32_t direct_bytes;    // of a load that goes to shared memory directly; 0: there is none
    ChipSimulated simulated;
    unsigned flags;
} Chip;

// That of the target; of an architecture of NVIDIA that is not listed that of the next lower one.
const Chip *chip_of(GpuTarget target);
// The target of the processor that ELF files name by this number; false: it is not known.
bool chip_by_elf(uint32_t elf, GpuTarget *target);

#endif
