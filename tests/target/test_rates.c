// Rates of GPUs: each is of a chip that there is, and its peaks are those that vendors publish.
#include "target/rates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "target/chip.h"
#include "target/machine.h"

static double tflops(const Rates *r, uint32_t products) {
    return 2.0 * products * r->units * r->mhz * 1e-6;
}

typedef struct Peak {
    GpuVendor vendor;
    uint32_t number;
    double f16, f32;  // TFLOP/s, dense, at the row's clock
} Peak;

static void peaks_are_known(void **state) {
    (void)state;
    // The H100's f16 peak is published at 1830 MHz: 989.
    static const Peak peaks[] = {
        {GPU_NVIDIA, 75, 65, 8.1},   {GPU_NVIDIA, 80, 312, 19.5},  {GPU_NVIDIA, 86, 71, 35.6},
        {GPU_NVIDIA, 89, 165, 82.6}, {GPU_NVIDIA, 90, 1070, 66.9}, {GPU_AMD, 0x90a, 191.5, 47.9},
        {GPU_AMD, 0x942, 1307, 163}, {GPU_AMD, 0x1100, 123, 30.7}, {GPU_AMD, 0x1201, 195, 24.3},
    };
    for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++) {
        GpuTarget target = {.vendor = peaks[i].vendor, .number = peaks[i].number};
        const Rates *r = rates_of(target);
        assert_non_null(r);
        assert_int_equal(chip_of(target)->number, peaks[i].number);
        uint32_t products = r->matrix_async ? r->matrix_async : r->matrix;
        double f16 = tflops(r, products) / peaks[i].f16, f32 = tflops(r, r->lanes) / peaks[i].f32;
        // Measured rates are a little below the peak: the H100's lanes do 123 of 128 operations.
        double least = strcmp(r->source, "measured") ? 0.97 : 0.96;
        if (f16 < least || f16 > 1.03) fail_msg("%s: f16 at %g of its peak", r->card, f16);
        if (f32 < least || f32 > 1.03) fail_msg("%s: f32 at %g of its peak", r->card, f32);
        assert_true(r->special && r->shared && r->memory && r->source[0]);
    }
    assert_null(rates_of((GpuTarget){.vendor = GPU_NVIDIA, .number = 120}));
    assert_null(rates_of((GpuTarget){.vendor = GPU_AMD, .number = 80}));
}

// Each level has a core. Multiply-adds are among the arithmetic; peaks are those of the cores: 8,
// 32 and 64 operations of f32 in a clock, and 32 for 4 vectors of 128 bits.
static void every_level_has_a_core(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double peak;
    } levels[] = {{"x86-64-v2", 8}, {"x86-64-v3", 32}, {"x86-64-v4", 64}, {"aarch64", 32}};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        CpuTarget target;
        assert_true(cpu_target_parse(str(levels[i].name), &target));
        const CpuRates *r = rates_of_cpu(target);
        assert_non_null(r);
        assert_true(r->multiply_adds <= r->arithmetic && r->arithmetic <= r->issued);
        assert_true(r->loads >= r->stores && r->divide_f32 <= r->divide_f64);
        Machine m = machine_of_cpu(target);
        assert_true((m.fma ? 2 : 1) * r->multiply_adds * m.vector_bytes / 4 == levels[i].peak);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(peaks_are_known),
                                       cmocka_unit_test(every_level_has_a_core)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
