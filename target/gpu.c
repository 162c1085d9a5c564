#include "target/gpu.h"

#include <stdio.h>

#include "base/os/os.h"

// Names only: programs that link the runtime have this table but not chip.c.
static const struct {
    uint16_t number;
    bool own;  // the form with an `a` exists
} nvidia[] = {
#define CHIP_NVIDIA(number, ptx, own, ...) {number, (own) != 0},
#include "target/chips.def"
#undef CHIP_NVIDIA
};

static const struct {
    uint16_t number, generic;
} amd[] = {
#define CHIP_AMD(number, elf, generic, ...) {number, generic},
#include "target/chips.def"
#undef CHIP_AMD
};

static const struct {
    char name[GPU_NAME_MAX];
    uint16_t number;
} generics[] = {
#define CHIP_GROUP(name, number, ...) {name, number},
#include "target/chips.def"
#undef CHIP_GROUP
};
enum {
    NVIDIA = sizeof nvidia / sizeof *nvidia,
    AMD = sizeof amd / sizeof *amd,
    GENERICS = sizeof generics / sizeof *generics
};
_Static_assert(2 * NVIDIA + AMD + GENERICS <= GPU_TARGETS_MAX, "as the header says");

bool gpu_target_at(size_t index, GpuTarget *target) {
    *target = (GpuTarget){.vendor = GPU_NVIDIA};
    for (size_t i = 0; i < NVIDIA; i++) {
        target->number = nvidia[i].number;
        if (!index--) return true;
        if (!nvidia[i].own) continue;
        if (!index--) return target->own = true;
    }
    target->vendor = GPU_AMD;
    target->generic = index >= AMD;
    if (index >= AMD + GENERICS) return false;
    target->number = target->generic ? generics[index - AMD].number : amd[index].number;
    return true;
}

bool gpu_target_parse(Str text, GpuTarget *target) {
    char name[GPU_NAME_MAX];
    GpuTarget t;
    for (size_t i = 0; gpu_target_at(i, &t); i++) {
        if (!str_equal(text, str(gpu_target_name(t, name)))) continue;
        *target = t;
        return true;
    }
    return false;
}

bool gpu_target_runs(GpuTarget code, GpuTarget device) {
    if (!code.generic) return code.number == device.number;
    for (size_t i = 0; i < AMD; i++)
        if (amd[i].number == device.number) return amd[i].generic == code.number;
    return false;
}

static const char *generic_name(uint32_t number) {
    for (size_t i = 0; i < GENERICS; i++)
        if (generics[i].number == number) return generics[i].name;
    UNREACHABLE("generic processor %#x", number);
}

const char *gpu_target_name(GpuTarget target, char *buffer) {
    if (target.generic)
        snprintf(buffer, GPU_NAME_MAX, "%s", generic_name(target.number));
    else if (target.vendor == GPU_AMD)
        snprintf(buffer, GPU_NAME_MAX, "gfx%x", target.number);
    else
        snprintf(buffer, GPU_NAME_MAX, "sm_%u%s", target.number, target.own ? "a" : "");
    return buffer;
}
