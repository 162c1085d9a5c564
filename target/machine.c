#include "target/machine.h"

#include "base/os/os.h"

Machine machine_of_cpu(CpuTarget target) {
    Machine m = {.cpu = target,
                 .vector_bytes = 16,
                 .vector_registers = 16,
                 .i16_dot = target.level != CPU_AARCH64,
                 .l1_bytes = 32 << 10,
                 .l2_bytes = 1 << 20,
                 .banks = &banks_nvidia};  // for GPU passes, which run for any machine
    switch (target.level) {
    case CPU_X86_64_V2: return m;
    case CPU_X86_64_V3:
        m.vector_bytes = 32;
        m.fma = m.f16_convert = true;
        return m;
    case CPU_X86_64_V4:
        m.vector_bytes = 64;
        m.vector_registers = 32;
        m.fma = m.f16_convert = m.masks = true;
        m.f16 = (target.extras & CPU_FP16) != 0;
        m.bf16_dot = (target.extras & CPU_BF16) != 0;
        m.i8_dot = (target.extras & CPU_VNNI) != 0;
        m.bf16_tiles = (target.extras & CPU_AMX_BF16) != 0;
        m.i8_tiles = (target.extras & CPU_AMX_INT8) != 0;
        return m;
    case CPU_AARCH64:
        m.vector_registers = 32;
        m.fma = m.f16_convert = true;
        return m;
    }
    UNREACHABLE("CPU level %d", (int)target.level);
}

Machine machine_of_gpu(GpuTarget target) {
    const Chip *chip = chip_of(target);
    unsigned flags = chip->flags;
    bool nvidia = target.vendor == GPU_NVIDIA;
    return (Machine){
        .gpu = target,
        .chip = chip,
        .vector_bytes = 16,
        .fma = true,
        .f16_convert = true,
        .f16 = nvidia || (flags & CHIP_F16) != 0,
        .f16_dot = (flags & CHIP_F16_DOT) != 0,
        .warp = chip->warp,
        .shared_bytes = chip->shared_max,
        .async_copy = (flags & CHIP_ASYNC_COPY) != 0,
        .matrix_load = nvidia,
        .wgmma = target.own && (flags & CHIP_WGMMA) != 0,
        .tile_registers = chip->tile_registers,
        .direct_bytes = chip->direct_bytes,
        .scalar_bases = !nvidia && chip->warp == 64,
        .packed_f32 = (flags & CHIP_PACKED_F32) != 0,
        .flushes_halves = (flags & CHIP_FLUSHES_HALVES) != 0,
        .short_sums = (flags & CHIP_SHORT_SUMS) || (target.own && (flags & CHIP_WGMMA)),
        .loose_pairs = (flags & CHIP_LOOSE_PAIRS) != 0,
        .nan_extremes = {(flags & CHIP_NAN_F32) != 0, (flags & CHIP_NAN_F64) != 0},
        .chiplets = (flags & CHIP_CHIPLETS) != 0,
        .f64_ratio = chip->f64_ratio,
        .banks = chip->banks};
}
