#include "base/gpu.h"

#include <stdio.h>

#include "base/os.h"

static const struct {
    uint32_t number;
    bool own;
} nvidia[] = {
    {75, false}, {80, false},  {86, false},  {87, false},  {89, false},
    {90, false}, {90, true},   {100, false}, {100, true},  {103, false},
    {103, true}, {120, false}, {120, true},  {121, false}, {121, true},
};

// What LLVM 22 knows: the number is the name's, in hexadecimal digits. Of two names as near to a
// wrong one the first is meant.
static const uint32_t amd[] = {
    0x90a,  0x942,  0x950,  0x1200, 0x1201, 0x1100, 0x1101, 0x1102, 0x1103, 0x1150, 0x1151, 0x1152,
    0x1153, 0x1030, 0x1031, 0x1032, 0x1033, 0x1034, 0x1035, 0x1036, 0x1010, 0x1011, 0x1012, 0x1013,
    0x900,  0x902,  0x904,  0x906,  0x908,  0x909,  0x90c,  0x801,  0x802,  0x803,  0x805,  0x810,
    0x1250, 0x1251, 0x700,  0x701,  0x702,  0x703,  0x704,  0x705,  0x600,  0x601,  0x602,
};

// One code object for several processors: the number is that of the least of them, or of none.
static const struct {
    const char *name;
    uint32_t number, of[9];
} generics[] = {
    {"gfx9-generic", 0x900, {0x900, 0x902, 0x904, 0x906, 0x909, 0x90c}},
    {"gfx9-4-generic", 0x940, {0x942, 0x950}},
    {"gfx10-1-generic", 0x1010, {0x1010, 0x1011, 0x1012, 0x1013}},
    {"gfx10-3-generic", 0x1030, {0x1030, 0x1031, 0x1032, 0x1033, 0x1034, 0x1035, 0x1036}},
    {"gfx11-generic", 0x1100, {0x1100, 0x1101, 0x1102, 0x1103, 0x1150, 0x1151, 0x1152, 0x1153}},
    {"gfx12-generic", 0x1200, {0x1200, 0x1201}},
};
enum {
    NVIDIA = sizeof nvidia / sizeof *nvidia,
    AMD = sizeof amd / sizeof *amd,
    GENERICS = sizeof generics / sizeof *generics
};
_Static_assert(NVIDIA + AMD + GENERICS <= GPU_TARGETS_MOST, "as the header says");

bool gpu_target_at(size_t index, GpuTarget *target) {
    if (index >= NVIDIA + AMD + GENERICS) return false;
    *target = (GpuTarget){.vendor = index < NVIDIA ? GPU_NVIDIA : GPU_AMD};
    if (index < NVIDIA) {
        target->number = nvidia[index].number;
        target->own = nvidia[index].own;
    } else if (index < NVIDIA + AMD) {
        target->number = amd[index - NVIDIA];
    } else {
        target->number = generics[index - NVIDIA - AMD].number;
        target->generic = true;
    }
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

static const uint32_t *processors_of(GpuTarget generic, const char **name) {
    for (size_t i = 0; i < GENERICS; i++) {
        if (generics[i].number != generic.number) continue;
        *name = generics[i].name;
        return generics[i].of;
    }
    UNREACHABLE("generic processor %#x", generic.number);
}

bool gpu_target_runs(GpuTarget code, GpuTarget device) {
    const char *name;
    if (!code.generic) return code.number == device.number;
    for (const uint32_t *p = processors_of(code, &name); *p; p++)
        if (*p == device.number) return true;
    return false;
}

static uint32_t shared_bytes_of_amd(uint32_t number) {
    if (number >= 0x1250) return 320 << 10;
    if (number == 0x950) return 160 << 10;
    // Lanes of the oldest have no other way to one another's registers than a word each.
    uint32_t words = number < 0x800 ? 4 << 10 : 0;
    return (number < 0x700 ? 32 << 10 : 64 << 10) - words;
}

uint32_t gpu_shared_bytes(GpuTarget target) {
    uint32_t number = target.number;
    if (target.vendor == GPU_AMD) return shared_bytes_of_amd(number);
    if (number < 80) return 64 << 10;
    if (number == 80 || number == 87) return 163 << 10;
    if (number < 90 || number >= 120) return 99 << 10;
    return 227 << 10;
}

const char *gpu_target_name(GpuTarget target, char *buffer) {
    const char *name;
    if (target.generic) {
        processors_of(target, &name);
        snprintf(buffer, GPU_NAME_MAX, "%s", name);
    } else if (target.vendor == GPU_AMD)
        snprintf(buffer, GPU_NAME_MAX, "gfx%x", target.number);
    else
        snprintf(buffer, GPU_NAME_MAX, "sm_%u%s", target.number, target.own ? "a" : "");
    return buffer;
}
