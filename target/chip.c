#include "target/chip.h"

#include "base/os/os.h"

enum { KI = 1024 };

static const Chip chips[] = {
#define CHIP_NVIDIA(number_, ptx_, own_, warps_, blocks_, registers_, shared_, max_, reserved_, \
                    f64_, flags_)                                                               \
    {.vendor = GPU_NVIDIA,                                                                      \
     .number = (number_),                                                                       \
     .ptx = (ptx_),                                                                             \
     .ptx_own = (own_),                                                                         \
     .warp = 32,                                                                                \
     .shared_max = (max_)*KI,                                                                   \
     .warps = (warps_),                                                                         \
     .blocks = (blocks_),                                                                       \
     .registers = (registers_)*KI,                                                              \
     .register_unit = 256,                                                                      \
     .shared_bytes = (shared_)*KI,                                                              \
     .shared_unit = 1,                                                                          \
     .shared_reserved = (reserved_),                                                            \
     .f64_ratio = (f64_),                                                                       \
     .banks = &banks_nvidia,                                                                    \
     .unit = MATRIX_UNIT_MMA,                                                                   \
     .simulated = CHIP_SIM_DEVICE,                                                              \
     .flags = CHIP_##flags_},
#define BANKS_GFX9 &banks_gfx9
#define BANKS_GFX950 &banks_gfx950
#define BANKS_RDNA &banks_rdna
#define AMD(generic_, number_, elf_, generation_, wave_, max_, shared_, unit_, waves_, registers_, \
            portion_, blocks_, f64_, banks_, matrix_, tile_, direct_, sim_, flags_)                \
    {.vendor = GPU_AMD,                                                                            \
     .number = (number_),                                                                          \
     .generic = (generic_),                                                                        \
     .elf = (elf_),                                                                                \
     .generation = (generation_),                                                                  \
     .warp = (wave_),                                                                              \
     .shared_max = (max_)*KI,                                                                      \
     .warps = (waves_),                                                                            \
     .blocks = (blocks_),                                                                          \
     .registers = (registers_),                                                                    \
     .register_unit = (portion_),                                                                  \
     .shared_bytes = (shared_)*KI,                                                                 \
     .shared_unit = (unit_),                                                                       \
     .f64_ratio = (f64_),                                                                          \
     .banks = BANKS_##banks_,                                                                      \
     .unit = MATRIX_UNIT_##matrix_,                                                                \
     .tile_registers = (tile_),                                                                    \
     .direct_bytes = (direct_),                                                                    \
     .simulated = CHIP_SIM_##sim_,                                                                 \
     .flags = CHIP_##flags_},
#define CHIP_AMD(number, elf, of, ...) AMD(false, number, elf, __VA_ARGS__)
#define CHIP_GROUP(name, number, elf, ...) AMD(true, number, elf, __VA_ARGS__)
#include "target/chips.def"
#undef CHIP_NVIDIA
#undef CHIP_AMD
#undef CHIP_GROUP
};
enum { CHIPS = sizeof chips / sizeof *chips };

const Chip *chip_of(GpuTarget target) {
    const Chip *found = NULL;
    for (size_t i = 0; i < CHIPS; i++) {
        const Chip *c = &chips[i];
        if (c->vendor != target.vendor || c->generic != target.generic) continue;
        if (c->number == target.number) return c;
        bool lower = c->number < target.number || !found;
        if (c->vendor == GPU_NVIDIA && lower) found = c;
    }
    CHECK(found, "no chip of AMD has the number %#x", target.number);
    return found;
}

bool chip_by_elf(uint32_t elf, GpuTarget *target) {
    for (size_t i = 0; i < CHIPS; i++) {
        const Chip *c = &chips[i];
        if (c->vendor != GPU_AMD || c->elf != elf) continue;
        *target = (GpuTarget){.vendor = GPU_AMD, .number = c->number, .generic = c->generic};
        return true;
    }
    return false;
}
