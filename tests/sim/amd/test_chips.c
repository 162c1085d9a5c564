// The simulator's own facts about chips, against the table that everything else derives from.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/amd/launch.h"
#include "target/chip.h"

enum { LANES = 64 };

// Lane i of a group of the table's: the xor of what the bits of i stand for.
static uint32_t lane_of(const SharedPhase *phase, uint32_t i) {
    uint32_t lane = 0;
    for (uint32_t bit = 0; bit < phase->count; bit++)
        if (i >> bit & 1) lane ^= phase->lanes[bit];
    return lane;
}

// Both say the same sets of lanes: each group of the simulator's is one coset of the table's.
static void check_groups(const char *name, const SharedPhase *phase, const uint8_t *order) {
    uint32_t group = 1u << phase->count;
    for (uint32_t first = 0; first < LANES; first += group) {
        uint64_t ours = 0, table = 0;
        for (uint32_t i = 0; i < group; i++) {
            ours |= UINT64_C(1) << (order ? order[first + i] : first + i);
            table |= UINT64_C(1) << (lane_of(phase, i) ^ (order ? order[first] : first));
        }
        if (ours != table)
            fail_msg("%s: lanes %#llx go together, the table has %#llx", name,
                     (unsigned long long)ours, (unsigned long long)table);
    }
}

static void the_simulator_agrees_with_the_table(void **state) {
    (void)state;
    GpuTarget t;
    uint32_t count = 0;
    for (size_t i = 0; gpu_target_at(i, &t); i++) {
        const Chip *chip = chip_of(t);
        char name[GPU_NAME_MAX];
        if (t.vendor != GPU_AMD || t.generic || !chip->simulated) continue;
        gpu_target_name(t, name);
        assert_int_equal(amd_max_lds(t.number), chip->shared_max);
        assert_int_equal(amd_banks(t.number), chip->banks->banks);
        assert_int_equal(amd_generation(t.number), chip->generation);
        assert_int_equal(chip->warp, chip->generation == 9 ? 64 : 32);
        check_groups(name, &chip->banks->load[2], amd_loads16(t.number));
        count++;
    }
    assert_true(count >= 12);  // more with each chip that is added
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_simulator_agrees_with_the_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
