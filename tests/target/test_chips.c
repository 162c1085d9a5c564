// The tables of chips and of matrix instructions: rows that contradict each other or their names.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "target/machine.h"

static GpuTarget target_named(const char *name) {
    GpuTarget t;
    if (!gpu_target_parse(str(name), &t)) fail_msg("there is no %s", name);
    return t;
}

static void every_target_has_a_chip(void **state) {
    (void)state;
    GpuTarget t, again;
    size_t count = 0;
    uint32_t before = 0;
    for (; gpu_target_at(count, &t); count++) {
        char name[GPU_NAME_MAX];
        const Chip *chip = chip_of(t);
        assert_true(gpu_target_parse(str(gpu_target_name(t, name)), &again));
        assert_memory_equal(&again, &t, sizeof t);
        assert_int_equal(chip->vendor, t.vendor);
        assert_int_equal(chip->number, t.number);
        assert_int_equal(chip->generic, t.generic);
        assert_true(!t.own || chip->ptx_own >= chip->ptx);
        assert_true(chip->shared_max <= chip->shared_bytes);
        assert_true(chip->warps && chip->blocks && chip->registers && chip->f64_ratio);
        assert_true(t.vendor != GPU_NVIDIA || chip->number >= before);  // they ascend
        before = chip->number;
        if (t.vendor != GPU_AMD) continue;
        assert_true(chip_by_elf(chip->elf, &again));
        assert_memory_equal(&again, &t, sizeof t);  // no number is there twice
    }
    assert_true(count <= GPU_TARGETS_MAX);
}

static void unknown_ones(void **state) {
    (void)state;
    GpuTarget t;
    assert_false(chip_by_elf(0, &t));
    assert_false(gpu_target_parse(STR("sm_79"), &t));
    // As the next lower one, where there is one.
    assert_int_equal(chip_of((GpuTarget){.vendor = GPU_NVIDIA, .number = 79})->number, 75);
    assert_int_equal(chip_of((GpuTarget){.vendor = GPU_NVIDIA, .number = 50})->number, 75);
}

static void generic_code_runs_on_its_processors(void **state) {
    (void)state;
    assert_true(gpu_target_runs(target_named("gfx9-4-generic"), target_named("gfx950")));
    assert_false(gpu_target_runs(target_named("gfx9-4-generic"), target_named("gfx90a")));
    assert_false(gpu_target_runs(target_named("gfx9-generic"), target_named("gfx908")));
    assert_true(gpu_target_runs(target_named("gfx11-generic"), target_named("gfx1153")));
    assert_false(gpu_target_runs(target_named("gfx1100"), target_named("gfx1101")));
}

typedef struct Case {
    const char *target;
    Dtype a, b, sum;
    bool exact;
    uint32_t k;
    const char *expected;  // mnk; NULL: no instruction
} Case;

static void matrices_are_chosen(void **state) {
    (void)state;
    static const Case cases[] = {
        {"sm_75", DTYPE_F16, DTYPE_F16, DTYPE_F32, false, 64, "16 8 8"},
        {"sm_80", DTYPE_F16, DTYPE_F16, DTYPE_F16, false, 64, "16 8 16"},
        {"sm_80", DTYPE_F16, DTYPE_F16, DTYPE_F32, false, 8, "16 8 8"},
        {"sm_80", DTYPE_F16, DTYPE_F16, DTYPE_F32, false, 4, NULL},
        {"sm_75", DTYPE_BF16, DTYPE_BF16, DTYPE_F32, false, 64, NULL},
        {"sm_80", DTYPE_F32, DTYPE_F32, DTYPE_F32, true, 64, NULL},
        {"sm_80", DTYPE_F8E4M3, DTYPE_F8E5M2, DTYPE_F32, false, 64, NULL},
        {"sm_120a", DTYPE_F8E4M3, DTYPE_F8E5M2, DTYPE_F32, false, 64, "16 8 32"},
        {"gfx90a", DTYPE_F32, DTYPE_F32, DTYPE_F32, true, 64, "16 16 4"},
        {"gfx942", DTYPE_F32, DTYPE_F32, DTYPE_F32, false, 64, "16 16 8"},
        {"gfx950", DTYPE_F32, DTYPE_F32, DTYPE_F32, false, 64, NULL},
        {"gfx950", DTYPE_I8, DTYPE_I8, DTYPE_I32, false, 32, "16 16 32"},
        {"gfx942", DTYPE_I8, DTYPE_U8, DTYPE_I32, false, 64, NULL},
        {"gfx942", DTYPE_F8E4M3, DTYPE_F8E4M3, DTYPE_F32, false, 64, NULL},
        {"gfx942", DTYPE_F8E4M3FNUZ, DTYPE_F8E5M2FNUZ, DTYPE_F32, false, 64, "16 16 32"},
        {"gfx908", DTYPE_F16, DTYPE_F16, DTYPE_F32, false, 64, NULL},
        {"gfx90c", DTYPE_F16, DTYPE_F16, DTYPE_F32, false, 64, NULL},
        {"gfx1153", DTYPE_U8, DTYPE_I8, DTYPE_I32, false, 64, "16 16 16"},
        {"gfx1100", DTYPE_F8E4M3, DTYPE_F8E4M3, DTYPE_F32, false, 64, NULL},
        {"gfx1201", DTYPE_F8E4M3, DTYPE_F8E4M3, DTYPE_F32, false, 64, "16 16 16"},
        {"gfx1250", DTYPE_F16, DTYPE_F16, DTYPE_F32, false, 64, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        const Chip *chip = chip_of(target_named(c->target));
        const MatrixOp *op = matrix_choose(chip, c->a, c->b, c->sum, c->exact, c->k);
        char found[32] = "none";
        if (op) snprintf(found, sizeof found, "%u %u %u", op->shape.m, op->shape.n, op->shape.k);
        if (strcmp(found, c->expected ? c->expected : "none") != 0)
            fail_msg("row %zu: %s chooses %s", i, c->target, found);
        if (op) assert_ptr_equal(matrix_find(chip, op->shape, c->a, c->b, c->sum), op);
    }
}

// Passes of GPUs run for a machine without a chip, too: `tilec opt` without a target.
static void machines_without_a_chip(void **state) {
    (void)state;
    Machine m = machine_of_cpu((CpuTarget){.level = CPU_X86_64_V3});
    assert_null(matrix_choose(m.chip, DTYPE_F16, DTYPE_F16, DTYPE_F32, false, 64));
    assert_int_equal(matrix_least_k(m.chip, DTYPE_F16, DTYPE_F16), 0);
    assert_non_null(m.banks);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_target_has_a_chip),
        cmocka_unit_test(unknown_ones),
        cmocka_unit_test(generic_code_runs_on_its_processors),
        cmocka_unit_test(matrices_are_chosen),
        cmocka_unit_test(machines_without_a_chip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
