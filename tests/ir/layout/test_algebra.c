// The algebra of layouts, each law over all positions of many layouts.
#include "tests/ir/layout/support.h"

enum { TRIES = 200 };

static void a_layout_is_the_xor_of_its_bases(void **state) {
    (void)state;
    Dice dice = dice_roll(1);
    static uint32_t table[1 << 10];
    for (int t = 0; t < TRIES; t++) {
        Layout l = any_layout(&dice, 2, (uint32_t[]){8, 32}, 4, 4, 2);
        layout_apply_all(&l, table);
        for (uint32_t input = 0; input < 1024; input++) {
            uint32_t element = 0;
            for (uint32_t i = 0; i < 10; i++) {
                if (input >> i & 1) element ^= l.bases[i];
            }
            assert_int_equal(layout_apply_input(&l, input), element);
            assert_int_equal(table[input], element);
            LayoutPoint at = layout_point(&l, input);
            assert_int_equal(at.at[LAYOUT_REG], input % 16);
            assert_int_equal(at.at[LAYOUT_LANE], input / 16 % 16);
            assert_int_equal(at.at[LAYOUT_WARP], input / 256);
            assert_int_equal(layout_input(&l, at), input);
            uint32_t coords[IR_MAX_RANK];
            layout_coords(&l, element, coords);
            assert_int_equal(coords[0], element / 32);
            assert_int_equal(coords[1], element % 32);
            assert_int_equal(layout_element(&l, coords), element);
        }
    }
}

static void by_hand(void **state) {
    (void)state;
    Layout l = layout_empty(2, (uint32_t[]){8, 8});
    layout_add_step(&l, LAYOUT_REG, 1, 1);
    layout_add_steps(&l, LAYOUT_LANE, 1, 2, 8);
    layout_add_steps(&l, LAYOUT_LANE, 0, 1, 8);
    assert_int_equal(layout_apply(&l, layout_at(1, 5, 0)), 8 + 3);
    assert_int_equal(layout_size(&l, LAYOUT_LANE), 32);
    assert_int_equal(layout_basis(&l, LAYOUT_LANE, 2), 8);
    layout_add_step(&l, LAYOUT_REG, 0, 8);  // past the end
    assert_int_equal(layout_free_bits(&l, LAYOUT_REG), 2);
    layout_drop(&l, LAYOUT_REG, 0);
    assert_int_equal(layout_size(&l, LAYOUT_REG), 2);
    assert_int_equal(layout_basis(&l, LAYOUT_LANE, 0), 2);
    assert_false(layout_surjective(&l));

    Layout id = layout_identity(LAYOUT_OFFSET, 2, (uint32_t[]){4, 8});
    for (uint32_t i = 0; i < 32; i++) assert_int_equal(layout_apply_input(&id, i), i);
    Layout zeros = layout_zeros(LAYOUT_LANE, 5, 1, (uint32_t[]){1});
    assert_int_equal(layout_free_bits(&zeros, LAYOUT_LANE), 31);
    assert_true(layout_surjective(&zeros));
    Layout scalar = layout_zeros(LAYOUT_LANE, 5, 0, NULL);
    assert_int_equal(layout_elements(&scalar), 1);
    assert_int_equal(layout_apply(&scalar, layout_at(0, 31, 0)), 0);
}

// Counts how often each element is held.
static void properties_agree_with_counting(void **state) {
    (void)state;
    Dice dice = dice_roll(2);
    int injective = 0, surjective = 0, distributed = 0;
    for (int t = 0; t < 2000; t++) {
        uint32_t regs = any_below(&dice, 3), lanes = any_below(&dice, 4);
        Layout l = t % 2 ? any_layout(&dice, 1, (uint32_t[]){16}, regs, lanes, 1)
                         : any_mixed(&dice, 1, (uint32_t[]){8}, regs, lanes, 3);
        uint32_t count[16] = {0};
        for (uint32_t i = 0; i < 1u << l.bits; i++) count[layout_apply_input(&l, i)]++;
        bool once = true, all = true;
        for (uint32_t i = 0; i < layout_elements(&l); i++) {
            once = once && count[i] <= 1;
            all = all && count[i] >= 1;
        }
        assert_int_equal(layout_injective(&l), once);
        assert_int_equal(layout_surjective(&l), all);
        injective += once;
        surjective += all;
        bool simple = all;
        for (uint32_t i = 0; i < l.bits; i++) {
            simple = simple && __builtin_popcount(l.bases[i]) <= 1;
            for (uint32_t j = 0; j < i; j++) {
                simple = simple && (l.bases[i] == 0 || l.bases[i] != l.bases[j]);
            }
        }
        assert_int_equal(layout_distributed(&l), simple);
        distributed += simple;
    }
    assert_true(injective > 50 && surjective > 50 && distributed > 50);
}

// A bit is free when the positions below it hold whatever it adds.
static void free_bits_agree_with_counting(void **state) {
    (void)state;
    Dice dice = dice_roll(3);
    for (int t = 0; t < TRIES; t++) {
        Layout l = any_layout(&dice, 1, (uint32_t[]){16}, 2, 3, 2);
        for (uint32_t d = 0, bit = 0; d < LAYOUT_DIMS; d++) {
            for (uint32_t i = 0; i < l.dim_bits[d]; i++, bit++) {
                bool found = false;
                for (uint32_t low = 0; low < 1u << bit; low++) {
                    found = found || layout_apply_input(&l, low) == l.bases[bit];
                }
                assert_int_equal(layout_free_bits(&l, (LayoutDim)d) >> i & 1, found);
            }
        }
    }
}

static void dropped_registers_were_copies(void **state) {
    (void)state;
    Dice dice = dice_roll(4);
    for (int t = 0; t < TRIES; t++) {
        Layout l = any_layout(&dice, 1, (uint32_t[]){16}, 4, 2, 1);
        uint32_t kept;
        Layout less = layout_without_free(&l, LAYOUT_REG, &kept);
        assert_int_equal(layout_free_bits(&less, LAYOUT_REG), 0);
        assert_int_equal(less.dim_bits[LAYOUT_REG], __builtin_popcount(kept));
        for (uint32_t reg = 0; reg < layout_size(&less, LAYOUT_REG); reg++) {
            uint32_t old = 0;  // the kept bits, in order
            for (uint32_t i = 0, j = 0; i < 4; i++) {
                if (kept >> i & 1) old |= (reg >> j++ & 1) << i;
            }
            for (uint32_t lane = 0; lane < 4; lane++) {
                assert_int_equal(held(&less, reg, lane, 1), held(&l, old, lane, 1));
            }
        }
    }
}

static void products(void **state) {
    (void)state;
    Dice dice = dice_roll(5);
    for (int t = 0; t < TRIES; t++) {
        Layout a = any_layout(&dice, 2, (uint32_t[]){4, 2}, 1, 2, 0);
        Layout b = any_layout(&dice, 2, (uint32_t[]){2, 8}, 2, 1, 1);
        Layout p = layout_product(&a, &b);
        assert_int_equal(p.tile_bits, 7);
        for (uint32_t r = 0; r < 8; r++) {
            for (uint32_t l = 0; l < 8; l++) {
                for (uint32_t w = 0; w < 2; w++) {
                    uint32_t in[IR_MAX_RANK], out[IR_MAX_RANK], both[IR_MAX_RANK];
                    layout_coords(&a, held(&a, r % 2, l % 4, 0), in);
                    layout_coords(&b, held(&b, r / 2, l / 4, w), out);
                    layout_coords(&p, held(&p, r, l, w), both);
                    assert_int_equal(both[0], in[0] + 4 * out[0]);
                    assert_int_equal(both[1], in[1] + 2 * out[1]);
                }
            }
        }
        Layout back;
        assert_true(layout_divide_left(&p, &a, &back));
        assert_true(layout_equal(&back, &b));
        assert_true(layout_divide_right(&p, &b, &back));
        assert_true(layout_equal(&back, &a));
    }
}

// Division finds exactly what a product gives back: a changed bit of the divisor's part has none.
static void what_is_no_product_does_not_divide(void **state) {
    (void)state;
    Dice dice = dice_roll(6);
    int failed = 0;
    for (int t = 0; t < TRIES; t++) {
        Layout a = any_layout(&dice, 1, (uint32_t[]){8}, 2, 2, 0);
        Layout b = any_layout(&dice, 1, (uint32_t[]){8}, 2, 2, 0);
        Layout p = layout_product(&a, &b), q;
        p.bases[any_below(&dice, p.bits)] ^= 1u << any_below(&dice, p.tile_bits);
        if (layout_divide_left(&p, &a, &q)) {
            Layout again = layout_product(&a, &q);
            assert_true(layout_equal(&again, &p));
        } else {
            failed++;
        }
        if (layout_divide_right(&p, &b, &q)) {
            Layout again = layout_product(&q, &b);
            assert_true(layout_equal(&again, &p));
        } else {
            failed++;
        }
    }
    assert_true(failed > TRIES / 2);
    Layout small = layout_identity(LAYOUT_LANE, 1, (uint32_t[]){4}), q;
    Layout large = layout_identity(LAYOUT_LANE, 1, (uint32_t[]){8});
    assert_false(layout_divide_left(&small, &large, &q));
    Layout flat = layout_identity(LAYOUT_LANE, 2, (uint32_t[]){2, 2});
    assert_false(layout_divide_left(&small, &flat, &q));
}

static void inverses(void **state) {
    (void)state;
    Dice dice = dice_roll(7);
    for (int t = 0; t < TRIES; t++) {
        Layout l = any_mixed(&dice, 2, (uint32_t[]){8, 16}, 4, 4, 2);
        uint32_t inverse[LAYOUT_MAX_TILE_BITS];
        assert_true(layout_invert(&l, inverse));
        uint32_t free = 0;
        for (uint32_t d = 0; d < LAYOUT_DIMS; d++) {
            free |= layout_free_bits(&l, (LayoutDim)d) << layout_dim_start(&l, (LayoutDim)d);
        }
        for (uint32_t e = 0; e < 128; e++) {
            uint32_t input = 0;
            for (uint32_t i = 0; i < 7; i++) {
                if (e >> i & 1) input ^= inverse[i];
            }
            assert_int_equal(layout_apply_input(&l, input), e);
            assert_int_equal(input & free, 0);
        }
    }
    Layout part = layout_identity(LAYOUT_LANE, 1, (uint32_t[]){4});
    layout_drop(&part, LAYOUT_LANE, 1);
    uint32_t inverse[LAYOUT_MAX_TILE_BITS];
    assert_false(layout_invert(&part, inverse));
}

static void maps_between_layouts(void **state) {
    (void)state;
    Dice dice = dice_roll(8);
    const uint32_t shape[] = {8, 16};
    for (int t = 0; t < TRIES; t++) {
        Layout a = any_layout(&dice, 2, shape, 3, 4, 1);
        Layout b = any_mixed(&dice, 2, shape, 4, 4, 2);
        Layout c = any_mixed(&dice, 2, shape, 5, 3, 0);
        LayoutMap ab, bc;
        assert_true(layout_map_between(&a, &b, &ab));
        assert_true(layout_map_between(&b, &c, &bc));
        for (uint32_t i = 0; i < 1u << a.bits; i++) {
            assert_int_equal(layout_apply_input(&b, layout_map_apply(&ab, i)),
                             layout_apply_input(&a, i));
        }
        Layout back = layout_compose(&ab, &b);
        assert_true(layout_equal(&back, &a));
        LayoutMap ac = layout_map_compose(&ab, &bc);
        back = layout_compose(&ac, &c);
        assert_true(layout_equal(&back, &a));
        for (uint32_t i = 0; i < 1u << a.bits; i++) {
            assert_int_equal(layout_map_apply(&ac, i),
                             layout_map_apply(&bc, layout_map_apply(&ab, i)));
        }
    }
    Layout whole = layout_identity(LAYOUT_LANE, 1, (uint32_t[]){4}), part = whole, other;
    layout_drop(&part, LAYOUT_LANE, 1);
    LayoutMap map;
    assert_true(layout_map_between(&part, &whole, &map));
    assert_false(layout_map_between(&whole, &part, &map));
    other = layout_identity(LAYOUT_LANE, 1, (uint32_t[]){8});
    assert_false(layout_map_between(&whole, &other, &map));
}

static void the_tile_changes_its_shape(void **state) {
    (void)state;
    Dice dice = dice_roll(9);
    for (int t = 0; t < TRIES; t++) {
        Layout l = any_layout(&dice, 3, (uint32_t[]){4, 1, 8}, 2, 3, 1);
        Layout turned = layout_permute(&l, (uint32_t[]){2, 0, 1});
        Layout sliced = layout_slice(&l, 0);
        Layout longer = layout_expand(&l, 3);
        Layout wide = layout_broadcast(&l, 1, 4);
        Layout flat = layout_reshape(&l, 1, (uint32_t[]){32});
        assert_int_equal(layout_extent(&turned, 0), 8);
        assert_int_equal(sliced.rank, 2);
        assert_int_equal(longer.rank, 4);
        assert_int_equal(layout_extent(&longer, 3), 1);
        for (uint32_t i = 0; i < 1u << l.bits; i++) {
            uint32_t c[IR_MAX_RANK], d[IR_MAX_RANK];
            LayoutPoint at = layout_point(&l, i);
            layout_coords(&l, layout_apply(&l, at), c);
            layout_coords(&turned, layout_apply(&turned, at), d);
            assert_true(d[0] == c[2] && d[1] == c[0] && d[2] == c[1]);
            layout_coords(&sliced, layout_apply(&sliced, at), d);
            assert_true(d[0] == c[1] && d[1] == c[2]);
            layout_coords(&longer, layout_apply(&longer, at), d);
            assert_true(d[0] == c[0] && d[1] == c[1] && d[2] == c[2] && d[3] == 0);
            assert_int_equal(layout_apply(&flat, at), c[0] * 8 + c[2]);
            for (uint32_t copy = 0; copy < 4; copy++) {
                LayoutPoint more = at;
                more.at[LAYOUT_REG] += copy * layout_size(&l, LAYOUT_REG);
                layout_coords(&wide, layout_apply(&wide, more), d);
                assert_true(d[0] == c[0] && d[1] == copy && d[2] == c[2]);
            }
        }
        // A slice of what was expanded is what it was.
        Layout again = layout_slice(&longer, 3);
        assert_true(layout_equal(&again, &l));
    }
}

static void joined_and_split(void **state) {
    (void)state;
    Dice dice = dice_roll(10);
    for (int t = 0; t < TRIES; t++) {
        Layout l = any_layout(&dice, 1, (uint32_t[]){16}, 2, 2, 1);
        Layout pair = layout_join(&l), half;
        uint32_t bit;
        for (uint32_t r = 0; r < 8; r++) {
            for (uint32_t lane = 0; lane < 4; lane++) {
                assert_int_equal(held(&pair, r, lane, 1), 2 * held(&l, r / 2, lane, 1) + r % 2);
            }
        }
        assert_true(layout_split(&pair, &half, &bit));
        assert_int_equal(bit, 0);
        assert_true(layout_equal(&half, &l));
        Layout moved = layout_reorder(&pair, LAYOUT_REG, (uint8_t[]){1, 0, 2});
        assert_true(layout_split(&moved, &half, &bit));
        assert_int_equal(bit, 1);
        assert_true(layout_equal(&half, &l));
        moved.bases[0] |= 1;
        assert_false(layout_split(&moved, &half, &bit));
    }
    Layout lanes = layout_identity(LAYOUT_LANE, 2, (uint32_t[]){4, 2}), half;
    uint32_t bit;
    assert_false(layout_split(&lanes, &half, &bit));
    Layout wide = layout_identity(LAYOUT_REG, 2, (uint32_t[]){2, 4});
    assert_false(layout_split(&wide, &half, &bit));
}

static void halved(void **state) {
    (void)state;
    Dice dice = dice_roll(12);
    for (int t = 0; t < TRIES; t++) {
        Layout l = any_layout(&dice, 2, (uint32_t[]){8, 16}, 3, 3, 1), half;
        LayoutDim dim;
        uint32_t bit, from = (uint32_t)dice_below(&dice, 7);
        if (!layout_halve(&l, from, &half, &dim, &bit)) continue;
        assert_int_equal(half.tile_bits, 6);
        assert_int_equal(half.axis_bits[0] + half.axis_bits[1], 6);
        uint32_t below = (UINT32_C(1) << from) - 1;
        for (uint32_t input = 0; input < UINT32_C(1) << l.bits; input++) {
            LayoutPoint p = layout_point(&l, input);
            uint32_t element = layout_apply(&l, p), own = p.at[dim] >> bit & 1;
            assert_int_equal(element >> from & 1, own);
            uint32_t least = (UINT32_C(1) << bit) - 1;
            if (dim == LAYOUT_REG) p.at[dim] = (p.at[dim] & least) | (p.at[dim] >> 1 & ~least);
            assert_int_equal(layout_apply(&half, p), (element & below) | (element >> 1 & ~below));
        }
    }
    Layout none = layout_zeros(LAYOUT_REG, 1, 1, (uint32_t[]){2}), half;
    LayoutDim dim;
    uint32_t bit;
    assert_false(layout_halve(&none, 0, &half, &dim, &bit));
    layout_add(&none, LAYOUT_LANE, 1);
    layout_add(&none, LAYOUT_WARP, 1);
    assert_false(layout_halve(&none, 0, &half, &dim, &bit));
}

static void equal_layouts_are_one(void **state) {
    (void)state;
    Arena *arena = arena_create();
    LayoutPool pool = {0};
    Dice dice = dice_roll(11);
    const Layout *kept[300];
    for (int pass = 0; pass < 2; pass++) {
        dice = dice_roll(11);
        for (int i = 0; i < 300; i++) {
            Layout l = any_layout(&dice, 2, (uint32_t[]){8, 32}, 3, 5, 2);
            const Layout *found = layout_intern(arena, &pool, &l);
            assert_true(layout_equal(found, &l));
            if (pass == 0) kept[i] = found;
            assert_ptr_equal(kept[i], found);
        }
    }
    assert_int_equal(pool.layouts.count, 300);
    Layout a = *kept[0], b = a;
    b.bases[0] ^= 1;
    assert_false(layout_equal(&a, &b));
    assert_int_equal(layout_hash(&a), layout_hash(kept[0]));
    assert_int_not_equal(layout_hash(&a), layout_hash(&b));
    // The same bases of another dimension or shape are another layout.
    Layout regs = layout_identity(LAYOUT_REG, 1, (uint32_t[]){8});
    Layout lanes = layout_identity(LAYOUT_LANE, 1, (uint32_t[]){8});
    Layout square = layout_identity(LAYOUT_REG, 2, (uint32_t[]){2, 4});
    assert_false(layout_equal(&regs, &lanes));
    assert_false(layout_equal(&regs, &square));
    arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_layout_is_the_xor_of_its_bases),
        cmocka_unit_test(by_hand),
        cmocka_unit_test(properties_agree_with_counting),
        cmocka_unit_test(free_bits_agree_with_counting),
        cmocka_unit_test(dropped_registers_were_copies),
        cmocka_unit_test(products),
        cmocka_unit_test(what_is_no_product_does_not_divide),
        cmocka_unit_test(inverses),
        cmocka_unit_test(maps_between_layouts),
        cmocka_unit_test(the_tile_changes_its_shape),
        cmocka_unit_test(joined_and_split),
        cmocka_unit_test(halved),
        cmocka_unit_test(equal_layouts_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
