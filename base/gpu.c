#include "base/gpu.h"

#include <stdio.h>
#include <string.h>

static const GpuTarget nvidia[] = {
    {GPU_NVIDIA, 75, false},  {GPU_NVIDIA, 80, false},  {GPU_NVIDIA, 86, false},
    {GPU_NVIDIA, 87, false},  {GPU_NVIDIA, 89, false},  {GPU_NVIDIA, 90, false},
    {GPU_NVIDIA, 90, true},   {GPU_NVIDIA, 100, false}, {GPU_NVIDIA, 100, true},
    {GPU_NVIDIA, 103, false}, {GPU_NVIDIA, 103, true},  {GPU_NVIDIA, 120, false},
    {GPU_NVIDIA, 120, true},  {GPU_NVIDIA, 121, false}, {GPU_NVIDIA, 121, true},
};

// What LLVM 22 knows, where lanes can read one another's registers: the number is the name's, in
// hexadecimal digits. Of two names as near to a wrong one the first is meant.
static const uint32_t amd[] = {
    0x90a,  0x942,  0x950,  0x1200, 0x1201, 0x1100, 0x1101, 0x1102, 0x1103, 0x1150, 0x1151, 0x1152,
    0x1153, 0x1030, 0x1031, 0x1032, 0x1033, 0x1034, 0x1035, 0x1036, 0x1010, 0x1011, 0x1012, 0x1013,
    0x900,  0x902,  0x904,  0x906,  0x908,  0x909,  0x90c,  0x801,  0x802,  0x803,  0x805,  0x810,
};
static const char *const foreign[] = {
    "gfx600",        "gfx601",        "gfx602",         "gfx700",          "gfx701",
    "gfx702",        "gfx703",        "gfx704",         "gfx705",          "gfx1250",
    "gfx1251",       "gfx9-generic",  "gfx9-4-generic", "gfx10-1-generic", "gfx10-3-generic",
    "gfx11-generic", "gfx12-generic",
};
enum {
    NVIDIA = sizeof nvidia / sizeof *nvidia,
    AMD = sizeof amd / sizeof *amd,
    FOREIGN = sizeof foreign / sizeof *foreign
};

bool gpu_target_at(size_t index, GpuTarget *target) {
    if (index >= NVIDIA + AMD) return false;
    *target = index < NVIDIA ? nvidia[index] : (GpuTarget){GPU_AMD, amd[index - NVIDIA], false};
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

bool gpu_target_is_foreign(Str text) {
    for (size_t i = 0; i < FOREIGN; i++)
        if (str_equal(text, str(foreign[i]))) return true;
    return false;
}

uint32_t gpu_shared_bytes(GpuTarget target) {
    uint32_t number = target.number;
    if (target.vendor == GPU_AMD) return number == 0x950 ? 160 << 10 : 64 << 10;
    if (number < 80) return 64 << 10;
    if (number == 80 || number == 87) return 163 << 10;
    if (number < 90 || number >= 120) return 99 << 10;
    return 227 << 10;
}

const char *gpu_target_name(GpuTarget target, char *buffer) {
    if (target.vendor == GPU_AMD)
        snprintf(buffer, GPU_NAME_MAX, "gfx%x", target.number);
    else
        snprintf(buffer, GPU_NAME_MAX, "sm_%u%s", target.number, target.own ? "a" : "");
    return buffer;
}
