// How many programs GPUs run at once: facts that the vendors' own tables give.
#include "target/occupancy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void nvidia(void **state) {
    (void)state;
    Occupancy o =
        gpu_occupancy(chip_of((GpuTarget){.vendor = GPU_NVIDIA, .number = 80}), 256, 168, 49152);
    assert_int_equal(o.blocks, 1);
    assert_int_equal(o.limit, OCCUPANCY_REGISTERS);
    const Chip *hopper = chip_of((GpuTarget){.vendor = GPU_NVIDIA, .number = 90});
    assert_int_equal(gpu_max_registers(hopper, 128), 255);
    assert_int_equal(gpu_max_registers(hopper, 288), 168);
    assert_int_equal(gpu_max_registers(hopper, 384), 168);
    assert_int_equal(gpu_max_registers(hopper, 512), 128);
    o = gpu_occupancy(hopper, 1024, 32, 0);
    assert_int_equal(o.warps, 64);
    assert_int_equal(o.limit, OCCUPANCY_WARPS);
}

typedef struct Case {
    uint32_t number;
    AmdNeeds needs;
    uint32_t warps, most;
    OccupancyLimit limit;
} Case;

static void amd(void **state) {
    (void)state;
    static const Case cases[] = {
        // Vector registers, in portions of 8 of 512, of 24 of 1536, of 16 of 1024.
        {0x942, {256, 64, 124, 32, 0}, 16, 32, OCCUPANCY_REGISTERS},
        {0x942, {256, 64, 129, 32, 0}, 12, 32, OCCUPANCY_REGISTERS},
        {0x90a, {64, 64, 512, 32, 0}, 4, 32, OCCUPANCY_REGISTERS},
        {0x90a, {256, 64, 64, 32, 0}, 32, 32, OCCUPANCY_WARPS},
        {0x908, {256, 64, 24, 32, 0}, 40, 40, OCCUPANCY_WARPS},
        {0x1100, {128, 32, 256, 32, 0}, 20, 64, OCCUPANCY_REGISTERS},
        {0x1100, {128, 32, 96, 32, 0}, 64, 64, OCCUPANCY_WARPS},
        {0x1102, {128, 32, 256, 32, 0}, 16, 64, OCCUPANCY_REGISTERS},
        {0x1151, {128, 32, 256, 32, 0}, 20, 64, OCCUPANCY_REGISTERS},
        {0x1201, {128, 32, 97, 32, 0}, 48, 64, OCCUPANCY_REGISTERS},
        {0x1030, {128, 32, 65, 32, 0}, 48, 64, OCCUPANCY_REGISTERS},
        {0x1030, {64, 64, 64, 32, 0}, 32, 64, OCCUPANCY_REGISTERS},
        // RDNA allocates registers to waves of 64 in portions of half the size.
        {0x1030, {64, 64, 72, 32, 0}, 28, 64, OCCUPANCY_REGISTERS},
        {0x1100, {64, 64, 108, 32, 0}, 28, 64, OCCUPANCY_REGISTERS},
        // Scalar ones count up to gfx9: 512 in portions of 8 up to gfx7, then 800 of 16.
        {0x700, {256, 64, 24, 96, 0}, 20, 40, OCCUPANCY_REGISTERS},
        {0x803, {256, 64, 24, 96, 0}, 32, 40, OCCUPANCY_REGISTERS},
        {0x942, {256, 64, 32, 102, 0}, 28, 32, OCCUPANCY_REGISTERS},
        {0x1030, {256, 32, 32, 106, 0}, 64, 64, OCCUPANCY_WARPS},
        // Shared memory: 64 KiB, 160 KiB, 128 KiB of a pair of compute units.
        {0x942, {256, 64, 64, 32, 32768}, 8, 32, OCCUPANCY_SHARED},
        {0x950, {256, 64, 64, 32, 68016}, 8, 32, OCCUPANCY_SHARED},
        {0x1100, {128, 32, 64, 32, 65536}, 8, 64, OCCUPANCY_SHARED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        Occupancy o =
            amd_occupancy(chip_of((GpuTarget){.vendor = GPU_AMD, .number = c->number}), &c->needs);
        if (o.warps != c->warps || o.warps_max != c->most || o.limit != c->limit)
            fail_msg("gfx%x, row %zu: %u of %u, limit %d", c->number, i, o.warps, o.warps_max,
                     (int)o.limit);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nvidia), cmocka_unit_test(amd)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
