// Machine facts: what passes may know of a target. Functions stay in codegen.
//
// Invariants: constant; one for each target. Ownership: whoever fills it; passes only read.
//
//     Machine m = machine_of_cpu(target);
//     uint32_t lanes = m.vector_bytes / 4;
#ifndef TILEC_TARGET_MACHINE_H
#define TILEC_TARGET_MACHINE_H

#include "base/facts.h"
#include "target/chip.h"
#include "target/cpu.h"

typedef struct Machine {
    CpuTarget cpu;  // where `gpu` is none
    GpuTarget gpu;
    const Chip *chip;       // of GPUs
    uint32_t vector_bytes;  // of one register
    uint32_t vector_registers;
    bool fma;          // fused multiply-add in hardware, for f32 and f64
    bool masks;        // masked loads and stores cost as much as plain ones
    bool f16_convert;  // f16 <-> f32 in hardware
    bool f16;          // arithmetic of f16 in hardware
    bool bf16_dot;     // vec.dot2 of bf16
    bool f16_dot;      // vec.dot2 of f16
    bool i8_dot;       // cpu.dot4
    bool bf16_tiles;   // cpu.tiles of bf16
    bool i8_tiles;     // cpu.tiles of bytes
    uint32_t l1_bytes, l2_bytes;
    uint32_t warp;          // GPUs: threads of a warp
    uint32_t shared_bytes;  // GPUs: the most that a program may have
    bool async_copy;        // thread.copy
    // GPUs: registers of 32 bits that a thread has for tiles, beside addresses, fragments and what
    // is under way; 0: enough.
    uint32_t tile_registers;
    // GPUs: with the option `direct` a thread.copy of so many bytes, or 4, which is a load to what
    // lies in a row in the order of a warp's lanes; 0: there is none.
    uint32_t direct_bytes;
    bool matrix_load;          // thread.matrix_load
    bool scalar_bases;         // what addresses of all lanes have in common is best added apart
    bool packed_f32;           // AMD: f32 arithmetic of two registers at once
    bool nan_extremes[2];      // GPUs: least and greatest that keep NaN in one go, of f32, of f64
    bool flushes_halves;       // GPUs: products take subnormal f16 and bf16 as 0
    bool loose_pairs;          // GPUs: products of f16 and bf16 are added in pairs, and bits lost
    bool chiplets;             // GPUs: programs are dealt in turn to several, each with a cache
    uint32_t f64_ratio;        // f32 operations in the time of one of f64
    const SharedBanks *banks;  // of shared memory
} Machine;

Machine machine_of_cpu(CpuTarget target);
Machine machine_of_gpu(GpuTarget target);

#endif
