// Cards: each has a target that there is, and is found however it is written.
#include "target/gpu_card.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "target/gpu.h"

static void cards_have_targets(void **state) {
    (void)state;
    const GpuCard *card;
    for (size_t i = 0; (card = gpu_card_at(i)); i++) {
        GpuTarget target;
        assert_true(gpu_target_parse(str(card->target), &target));
        assert_ptr_equal(gpu_card_target(str(card->name)), card->target);  // and no name twice
    }
}

static void names_are_read_as_people_write_them(void **state) {
    (void)state;
    assert_string_equal(gpu_card_target(STR("h100")), "sm_90a");
    assert_string_equal(gpu_card_target(STR("rtx-4090")), "sm_89");
    assert_string_equal(gpu_card_target(STR("rx7900xtx")), "gfx1100");
    // The names that drivers print.
    assert_string_equal(gpu_card_target(STR("NVIDIA H100 80GB HBM3")), "sm_90a");
    assert_string_equal(gpu_card_target(STR("NVIDIA A100-SXM4-40GB")), "sm_80");
    assert_string_equal(gpu_card_target(STR("NVIDIA GeForce RTX 4090")), "sm_89");
    assert_string_equal(gpu_card_target(STR("AMD Instinct MI300X")), "gfx942");
    assert_string_equal(gpu_card_target(STR("AMD Radeon VII")), "gfx906");
    assert_string_equal(gpu_card_target(STR("Tesla T4")), "sm_75");
    assert_null(gpu_card_target(STR("NVIDIA L40")));  // begins as L4 does
    assert_null(gpu_card_target(STR("NVIDIA")));
    assert_null(gpu_card_target(STR("H1000")));
    assert_null(gpu_card_target(STR("H10")));
    assert_null(gpu_card_target(STR("")));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cards_have_targets),
                                       cmocka_unit_test(names_are_read_as_people_write_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
