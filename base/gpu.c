#include "base/gpu.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    GpuTarget target;
} targets[] = {
    {"sm_75", {GPU_NVIDIA, 75, false}},   {"sm_80", {GPU_NVIDIA, 80, false}},
    {"sm_86", {GPU_NVIDIA, 86, false}},   {"sm_87", {GPU_NVIDIA, 87, false}},
    {"sm_89", {GPU_NVIDIA, 89, false}},   {"sm_90", {GPU_NVIDIA, 90, false}},
    {"sm_90a", {GPU_NVIDIA, 90, true}},   {"sm_100", {GPU_NVIDIA, 100, false}},
    {"sm_100a", {GPU_NVIDIA, 100, true}}, {"sm_103", {GPU_NVIDIA, 103, false}},
    {"sm_103a", {GPU_NVIDIA, 103, true}}, {"sm_120", {GPU_NVIDIA, 120, false}},
    {"sm_120a", {GPU_NVIDIA, 120, true}}, {"sm_121", {GPU_NVIDIA, 121, false}},
    {"sm_121a", {GPU_NVIDIA, 121, true}},
};
enum { TARGETS = sizeof targets / sizeof targets[0] };

bool gpu_target_parse(Str text, GpuTarget *target) {
    for (size_t i = 0; i < TARGETS; i++) {
        if (!str_equal(text, str(targets[i].name))) continue;
        *target = targets[i].target;
        return true;
    }
    return false;
}

uint32_t gpu_shared_bytes(GpuTarget target) {
    uint32_t number = target.number;
    if (number < 80) return 64 << 10;
    if (number == 80 || number == 87) return 163 << 10;
    if (number < 90 || number >= 120) return 99 << 10;
    return 227 << 10;
}

const char *gpu_target_name(GpuTarget target, char *buffer) {
    snprintf(buffer, GPU_NAME_MAX, "sm_%u%s", target.number, target.own ? "a" : "");
    return buffer;
}
