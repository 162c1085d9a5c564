// Shared by the tests of layouts: random layouts, positions one by one.
//
// Ownership: values only.
//
//     Dice dice = dice_roll(1);
//     Layout l = any_cover(&dice, 2, (uint32_t[]){16, 8}, 3, 5, 1);
#ifndef TILEC_TESTS_IR_LAYOUT_SUPPORT_H
#define TILEC_TESTS_IR_LAYOUT_SUPPORT_H

// cmocka wants these four first.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/layout/build.h"
#include "ir/layout/query.h"
#include "tests/support/dice.h"

static inline uint32_t any_below(Dice *dice, uint32_t below) {
    return (uint32_t)dice_below(dice, below);
}

// Bases without any rule.
static inline Layout any_layout(Dice *dice, uint32_t rank, const uint32_t *shape,
                                uint32_t registers, uint32_t lanes, uint32_t warps) {
    Layout l = layout_empty(rank, shape);
    const uint32_t bits[] = {registers, lanes, warps};
    for (uint32_t d = 0; d < 3; d++) {
        for (uint32_t i = 0; i < bits[d]; i++) {
            layout_add(&l, (LayoutDim)d, any_below(dice, layout_elements(&l)));
        }
    }
    return l;
}

// Every element is held, each basis a power of two or 0: as what registers hold is. The bits that
// are too many replicate; too few of them are a mistake of the test.
static inline Layout any_cover(Dice *dice, uint32_t rank, const uint32_t *shape, uint32_t registers,
                               uint32_t lanes, uint32_t warps) {
    Layout l = layout_empty(rank, shape);
    uint32_t total = registers + lanes + warps;
    assert_true(total >= l.tile_bits);
    uint32_t bases[32] = {0};
    for (uint32_t i = 0; i < l.tile_bits; i++) bases[i] = UINT32_C(1) << i;
    for (uint32_t i = total; i > 1; i--) {
        uint32_t j = any_below(dice, i), kept = bases[i - 1];
        bases[i - 1] = bases[j];
        bases[j] = kept;
    }
    for (uint32_t i = 0; i < total; i++) {
        layout_add(&l,
                   i < registers           ? LAYOUT_REG
                   : i < registers + lanes ? LAYOUT_LANE
                                           : LAYOUT_WARP,
                   bases[i]);
    }
    return l;
}

// The same, then some bases xored with others: still every element is held.
static inline Layout any_mixed(Dice *dice, uint32_t rank, const uint32_t *shape, uint32_t registers,
                               uint32_t lanes, uint32_t warps) {
    Layout l = any_cover(dice, rank, shape, registers, lanes, warps);
    for (uint32_t i = 0; i < l.bits; i++) {
        uint32_t a = any_below(dice, l.bits), b = any_below(dice, l.bits);
        if (a != b) l.bases[a] ^= l.bases[b];
    }
    return l;
}

static inline uint32_t held(const Layout *l, uint32_t reg, uint32_t lane, uint32_t warp) {
    return layout_apply(l, layout_at(reg, lane, warp));
}

#endif
