#include "base/gpu.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    GpuTarget target;
} nvidia[] = {
    {"sm_75", {GPU_NVIDIA, 75, false}},   {"sm_80", {GPU_NVIDIA, 80, false}},
    {"sm_86", {GPU_NVIDIA, 86, false}},   {"sm_87", {GPU_NVIDIA, 87, false}},
    {"sm_89", {GPU_NVIDIA, 89, false}},   {"sm_90", {GPU_NVIDIA, 90, false}},
    {"sm_90a", {GPU_NVIDIA, 90, true}},   {"sm_100", {GPU_NVIDIA, 100, false}},
    {"sm_100a", {GPU_NVIDIA, 100, true}}, {"sm_103", {GPU_NVIDIA, 103, false}},
    {"sm_103a", {GPU_NVIDIA, 103, true}}, {"sm_120", {GPU_NVIDIA, 120, false}},
    {"sm_120a", {GPU_NVIDIA, 120, true}}, {"sm_121", {GPU_NVIDIA, 121, false}},
    {"sm_121a", {GPU_NVIDIA, 121, true}},
};

// What LLVM 22 knows, where lanes can read one another's registers: the number is the name's, in
// hexadecimal digits.
static const uint32_t amd[] = {
    0x801,  0x802,  0x803,  0x805,  0x810,  0x900,  0x902,  0x904,  0x906,  0x908,  0x909,  0x90a,
    0x90c,  0x942,  0x950,  0x1010, 0x1011, 0x1012, 0x1013, 0x1030, 0x1031, 0x1032, 0x1033, 0x1034,
    0x1035, 0x1036, 0x1100, 0x1101, 0x1102, 0x1103, 0x1150, 0x1151, 0x1152, 0x1153, 0x1200, 0x1201,
};

static bool parse_amd(Str text, GpuTarget *target) {
    char name[GPU_NAME_MAX];
    for (size_t i = 0; i < sizeof amd / sizeof *amd; i++) {
        GpuTarget t = {GPU_AMD, amd[i], false};
        if (!str_equal(text, str(gpu_target_name(t, name)))) continue;
        *target = t;
        return true;
    }
    return false;
}

bool gpu_target_parse(Str text, GpuTarget *target) {
    for (size_t i = 0; i < sizeof nvidia / sizeof *nvidia; i++) {
        if (!str_equal(text, str(nvidia[i].name))) continue;
        *target = nvidia[i].target;
        return true;
    }
    return parse_amd(text, target);
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
