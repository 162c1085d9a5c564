// Machine facts: the properties of a target that passes may read. Functions stay in codegen.
//
// Invariants: constant; one for each target.
// Ownership: the code that fills it; passes only read.
//
//     Machine m = machine_of_cpu(target);
//     uint32_t lanes = m.vector_bytes / 4;
#ifndef TILEC_TARGET_MACHINE_H
#define TILEC_TARGET_MACHINE_H

#include "base/facts.h"
#include "target/chip.h"
#include "target/cpu.h"

typedef struct Machine {
    CpuTarget cpu;  // if `gpu` has no vendor
    GpuTarget gpu;
    const Chip *chip;       // for GPUs
    uint32_t vector_bytes;  // size of one vector register
    uint32_t vector_registers;
    bool fma;          // fused multiply-add in hardware, for f32 and f64
    bool masks;        // masked loads and stores cost as much as plain ones
    bool f16_convert;  // f16 <-> f32 in hardware
    bool f16;          // arithmetic of f16 in hardware
    bool bf16_dot;     // vec.dot2 of bf16
    bool f16_dot;      // vec.dot2 of f16
    bool i16_dot;      // vec.dot2 of i16
    bool i8_dot;       // cpu.dot4
    bool bf16_tiles;   // cpu.tiles of bf16
    bool i8_tiles;     // cpu.tiles of bytes
    uint32_t l1_bytes, l2_bytes;
    uint32_t warp;          // GPUs: threads in a warp
    uint32_t shared_bytes;  // GPUs: the most shared memory of one program
    bool async_copy;        // thread.copy
    // GPUs: 32-bit registers that a thread has for tiles, in addition to addresses, fragments and
    // loads in flight; 0: enough.
    uint32_t tile_registers;
    // GPUs: the width in bytes of a thread.copy with the option `direct` (4 works as well). It
    // is a load straight to shared memory: consecutive lanes of a warp write consecutive
    // places. 0: unsupported.
    uint32_t direct_bytes;
    bool matrix_load;          // thread.matrix_load
    bool wgmma;                // thread.wgmma
    bool scalar_bases;         // a part of an address that is the same in all lanes is best added
                               // separately
    bool packed_f32;           // AMD: f32 arithmetic of two registers at once
    bool nan_extremes[2];      // GPUs: min and max of f32, f64 that keep NaN are one instruction
    bool flushes_halves;       // GPUs: matrix products take subnormal f16 and bf16 as 0
    bool short_sums;           // GPUs: matrix products of fp8 keep fewer bits of their sums
    bool loose_pairs;          // GPUs: products of f16 and bf16 are added in pairs, which loses
                               // bits
    bool chiplets;             // GPUs: programs are distributed in rotation over several chiplets,
                               // each with its own cache
    uint32_t f64_ratio;        // f32 operations in the time of one of f64
    const SharedBanks *banks;  // of shared memory
} Machine;

Machine machine_of_cpu(CpuTarget target);
Machine machine_of_gpu(GpuTarget target);

#endif
