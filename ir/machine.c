#include "ir/machine.h"

#include "base/os.h"
#include "ir/occupancy.h"

Machine machine_of_cpu(CpuTarget target) {
    Machine m = {.cpu = target,
                 .vector_bytes = 16,
                 .vector_registers = 16,
                 .l1_bytes = 32 << 10,
                 .l2_bytes = 1 << 20};
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

static Machine machine_of_nvidia(GpuTarget target) {
    return (Machine){.gpu = target,
                     .vector_bytes = 16,
                     .fma = true,
                     .f16_convert = true,
                     .f16 = true,
                     .warp = 32,
                     .shared_bytes = gpu_shared_bytes(target),
                     .async_copy = target.number >= 80,
                     .matrix_load = true,
                     .nan_extremes = {target.number >= 80, false},
                     .f64_ratio = gpu_limits(target.number)->f64_ratio,
                     .banks = &layout_banks_nvidia};
}

// f16 of the processors without a matrix unit that is used.
static bool multiplies_pairs(uint32_t number) {
    bool vega = number == 0x906 || number == 0x908, navi1 = number == 0x1011 || number == 0x1012;
    return vega || navi1 || number >> 4 == 0x103;
}

static Machine machine_of_amd(GpuTarget target) {
    uint32_t number = target.number;
    bool waves_of_64 = number < 0x1000, wide = number == 0x950;
    bool cdna3 = number >= 0x940 && number <= 0x950, cdna2 = number == 0x90a || cdna3;
    bool rdna3 = number >> 8 == 0x11;
    bool computes = cdna2 || number == 0x906 || number == 0x908;  // f64 at half the rate
    return (Machine){.gpu = target,
                     .vector_bytes = 16,
                     .fma = true,
                     .f16_convert = true,
                     .f16 = number >= 0x800,
                     .f16_dot = multiplies_pairs(number),
                     .warp = waves_of_64 ? 64 : 32,
                     .shared_bytes = gpu_shared_bytes(target),
                     .tile_registers = wide              ? 96
                                       : number < 0x1100 ? 0
                                       : number < 0x1200 ? 128
                                                         : 176,
                     .direct_bytes = !cdna3 ? 0
                                     : wide ? 16
                                            : 4,
                     .scalar_bases = waves_of_64,
                     .cdna2 = cdna2,
                     .flushes_halves = number == 0x90a,
                     .loose_pairs = rdna3 || multiplies_pairs(number),
                     .nan_extremes = {wide || number >= 0x1200, number >= 0x1200},
                     .chiplets = cdna3,
                     .f64_ratio = computes ? 2 : 16,
                     .banks = wide          ? &layout_banks_gfx950
                              : waves_of_64 ? &layout_banks_gfx9
                                            : &layout_banks_rdna};
}

Machine machine_of_gpu(GpuTarget target) {
    return target.vendor == GPU_AMD ? machine_of_amd(target) : machine_of_nvidia(target);
}
