// Conversions: classes against brute force, moves and shuffles carried out element by element.
#include "tests/ir/layout/support.h"

// Does lane `lane` of warp `warp` of block `block` (or, by `reach`, any register, lane, warp) of
// `from` hold the element?
static bool holds(const Layout *from, uint32_t element, LayoutPoint at, LayoutConversion reach) {
    for (uint32_t input = 0; input < 1u << from->bits; input++) {
        LayoutPoint p = layout_point(from, input);
        bool near = p.at[LAYOUT_BLOCK] == at.at[LAYOUT_BLOCK] || reach == LAYOUT_CONVERT_BLOCKS;
        near = near && (p.at[LAYOUT_WARP] == at.at[LAYOUT_WARP] || reach >= LAYOUT_CONVERT_WARPS);
        near = near && (p.at[LAYOUT_LANE] == at.at[LAYOUT_LANE] || reach >= LAYOUT_CONVERT_LANES);
        if (near && layout_apply(from, p) == element) return true;
    }
    return false;
}

static LayoutConversion counted_class(const Layout *from, const Layout *to) {
    if (memcmp(from, to, sizeof *from) == 0) return LAYOUT_CONVERT_NONE;
    LayoutConversion class = LAYOUT_CONVERT_REGISTERS;
    for (; class < LAYOUT_CONVERT_BLOCKS; class ++) {
        bool all = true;
        for (uint32_t input = 0; input < 1u << to->bits && all; input++) {
            all = holds(from, layout_apply_input(to, input), layout_point(to, input), class);
        }
        if (all) break;
    }
    return class;
}

static void classes_agree_with_counting(void **state) {
    (void)state;
    Dice dice = dice_roll(1);
    uint32_t seen[LAYOUT_CONVERT_BLOCKS + 1] = {0};
    const uint32_t shape[] = {4, 8};
    for (int t = 0; t < 1500; t++) {
        Layout from = any_mixed(&dice, 2, shape, 2, 2, 2), to = from;
        layout_add(&from, LAYOUT_BLOCK, 0);
        layout_add(&to, LAYOUT_BLOCK, 0);
        if (t % 7 == 0) {  // the second warps' part is another block's
            from.bases[6] = from.bases[5];
            from.bases[5] = 0;
        }
        // Changes within some of the bits, the way each class allows.
        uint32_t reach[] = {2, 2, 4, 6, 7};
        uint32_t within = reach[any_below(&dice, 5)];
        for (uint32_t i = any_below(&dice, 4); i > 0; i--) {
            uint32_t a = any_below(&dice, to.bits), b = any_below(&dice, within);
            if (a != b) to.bases[a] ^= to.bases[b];
        }
        if (t % 3 == 0) {
            uint32_t a = any_below(&dice, within), b = any_below(&dice, within);
            uint32_t kept = to.bases[a];
            to.bases[a] = to.bases[b];
            to.bases[b] = kept;
        }
        LayoutConversion class = layout_conversion(&from, &to);
        assert_int_equal(class, counted_class(&from, &to));
        seen[class]++;
    }
    for (uint32_t i = 0; i <= LAYOUT_CONVERT_BLOCKS; i++) assert_true(seen[i] >= 20);
}

static void moves_within_lanes(void **state) {
    (void)state;
    Dice dice = dice_roll(2);
    int moved = 0;
    for (int t = 0; t < 1000; t++) {
        Layout from = any_mixed(&dice, 2, (uint32_t[]){8, 8}, 4, 3, 1), to = from;
        for (uint32_t i = 0; i < 3; i++) {
            uint32_t a = any_below(&dice, to.bits), b = any_below(&dice, t % 4 ? 4 : to.bits);
            if (a != b) to.bases[a] ^= to.bases[b];
        }
        LayoutMoves moves;
        bool within = layout_conversion(&from, &to) <= LAYOUT_CONVERT_REGISTERS;
        assert_int_equal(layout_moves(&from, &to, &moves), within);
        if (!within) continue;
        moved++;
        for (uint32_t input = 0; input < 1u << to.bits; input++) {
            LayoutPoint at = layout_point(&to, input);
            uint32_t reg = 0;
            for (uint32_t i = 0; i < 32; i++) {
                if (at.at[LAYOUT_REG] >> i & 1) reg ^= moves.by_register[i];
                if (at.at[LAYOUT_LANE] >> i & 1) reg ^= moves.by_lane[i];
                if (at.at[LAYOUT_WARP] >> i & 1) reg ^= moves.by_warp[i];
            }
            assert_int_equal(held(&from, reg, at.at[LAYOUT_LANE], at.at[LAYOUT_WARP]),
                             layout_apply(&to, at));
        }
    }
    assert_true(moved > 100);
}

// Plays all rounds in all warps; afterwards every register of `to` must have been kept, and hold
// its element.
static void play(const Layout *from, const Layout *to, const LayoutShuffle *s) {
    uint32_t regs = layout_size(to, LAYOUT_REG), lanes = layout_size(to, LAYOUT_LANE);
    uint32_t from_regs = layout_size(from, LAYOUT_REG), from_lanes = layout_size(from, LAYOUT_LANE);
    uint32_t *got = malloc(sizeof *got * regs * lanes);
    for (uint32_t warp = 0; warp < layout_size(to, LAYOUT_WARP); warp++) {
        uint32_t from_warp = warp & (layout_size(from, LAYOUT_WARP) - 1);  // else they replicate
        for (uint32_t i = 0; i < regs * lanes; i++) got[i] = UINT32_MAX;
        for (uint32_t round = 0; round < 1u << s->round_bits; round++) {
            for (uint32_t lane = 0; lane < lanes; lane++) {
                uint32_t source = layout_shuffle_source(s, round, lane, warp);
                assert_true(source < from_lanes);
                uint32_t offer = layout_shuffle_offer(s, round, source, warp);
                uint32_t keep = layout_shuffle_keep(s, round, lane);
                assert_true(offer < from_regs && keep < regs);
                if (!layout_shuffle_alternate(s, round, lane)) continue;
                for (uint32_t place = 0; place < 1u << s->pack_bits; place++) {
                    uint32_t in = offer, out = keep;
                    for (uint32_t i = 0; i < s->pack_bits; i++) {
                        if (place >> i & 1) {
                            in ^= s->from_pack[i];
                            out ^= s->to_pack[i];
                        }
                    }
                    got[lane * regs + out] = held(from, in, source, from_warp);
                }
            }
        }
        // Registers that replicate within a lane are filled by copying.
        uint32_t free = layout_free_bits(to, LAYOUT_REG);
        for (uint32_t lane = 0; lane < lanes; lane++) {
            for (uint32_t reg = 0; reg < regs; reg++) {
                if (reg & free) continue;
                assert_int_equal(got[lane * regs + reg], held(to, reg, lane, warp));
            }
        }
    }
    free(got);
}

// No fewer rounds could fill the registers; more are needed only when lanes take turns.
static void check_rounds(const Layout *to, const LayoutShuffle *s) {
    uint32_t own =
        to->dim_bits[LAYOUT_REG] - (uint32_t)__builtin_popcount(layout_free_bits(to, LAYOUT_REG));
    assert_int_equal(s->round_bits, own - s->pack_bits + s->alternate_bits);
}

static void shuffles_deliver(void **state) {
    (void)state;
    Dice dice = dice_roll(3);
    int packed = 0;
    for (int t = 0; t < 2000; t++) {
        uint32_t regs = 1 + any_below(&dice, 4), lanes = any_below(&dice, 6);
        uint32_t tile = 1 + any_below(&dice, regs + lanes);
        if (t % 3) tile = regs + lanes;
        uint32_t shape[] = {1u << tile};
        Layout from = t % 2 ? any_cover(&dice, 1, shape, regs, lanes, 0)
                            : any_mixed(&dice, 1, shape, regs, lanes, 0);
        Layout to = t % 5 ? any_cover(&dice, 1, shape, regs, lanes, 0)
                          : any_mixed(&dice, 1, shape, regs, lanes, 0);
        uint32_t bits = 8u << any_below(&dice, 4);
        LayoutShuffle s;
        assert_true(layout_conversion(&from, &to) <= LAYOUT_CONVERT_LANES);
        assert_true(layout_shuffle(&from, &to, bits, &s));
        assert_true(s.pack_bits == 0 || bits << s.pack_bits <= 32);
        packed += s.pack_bits > 0;
        assert_int_equal(s.alternate_bits, 0);  // both hold the same in a warp
        check_rounds(&to, &s);
        play(&from, &to, &s);
    }
    assert_true(packed > 200);
}

// Several warps, of which each may hold more than it has to give, and shifted.
static void shuffles_deliver_in_every_warp(void **state) {
    (void)state;
    Dice dice = dice_roll(4);
    int done = 0, turns = 0, shifted = 0;
    for (int t = 0; t < 6000; t++) {
        uint32_t shape[] = {64};
        Layout from = any_cover(&dice, 1, shape, 3 + any_below(&dice, 2), 3, (uint32_t)t % 3);
        Layout to = any_cover(&dice, 1, shape, 1 + any_below(&dice, 4), 3, 2);
        if (t % 2) {
            for (uint32_t i = 0; i < 3; i++) {
                uint32_t a = any_below(&dice, to.bits), b = any_below(&dice, to.bits);
                if (a != b) to.bases[a] ^= to.bases[b];
            }
        }
        LayoutShuffle s;
        bool within = layout_conversion(&from, &to) <= LAYOUT_CONVERT_LANES;
        assert_int_equal(layout_shuffle(&from, &to, 32, &s), within);
        if (!within) continue;
        done++;
        turns += s.alternate_bits > 0;
        for (uint32_t i = 0; i < 2; i++) shifted += s.source_warp[i] != 0;
        check_rounds(&to, &s);
        play(&from, &to, &s);
    }
    assert_true(done > 100 && turns > 5 && shifted > 20);
}

// The transpose that an accumulator needs to be the next product's operand: registers only.
static void an_accumulator_as_operand(void **state) {
    (void)state;
    Layout c1 = layout_mma((LayoutMma){16, 8, 16, 16}, LAYOUT_OPERAND_C);
    Layout a1 = layout_mma((LayoutMma){16, 8, 16, 16}, LAYOUT_OPERAND_A);
    Layout c = layout_tile(&c1, (uint32_t[]){64, 64}, 2, (int8_t[]){0, 0}, NULL, NULL);
    Layout a = layout_tile(&a1, (uint32_t[]){64, 64}, 2, (int8_t[]){0, 0}, NULL, NULL);
    // Registers pair up differently by number only: the accumulator of two instructions is A.
    assert_int_equal(layout_conversion(&c, &a), LAYOUT_CONVERT_NONE);
    Layout b = layout_blocked(&(LayoutBlocked){.rank = 2,
                                               .shape = {64, 64},
                                               .elements = {1, 8},
                                               .lanes = {4, 8},
                                               .warps = {4, 1},
                                               .order = {1, 0}});
    assert_int_equal(layout_conversion(&c, &b), LAYOUT_CONVERT_WARPS);
    LayoutShuffle s;
    assert_false(layout_shuffle(&c, &b, 16, &s));
}

// An 8 by 8 tile turned within a warp.
static void a_transpose_in_a_warp(void **state) {
    (void)state;
    Layout l = layout_ldmatrix(1, false), t = layout_ldmatrix(1, true);
    LayoutShuffle s;
    assert_int_equal(layout_conversion(&l, &t), LAYOUT_CONVERT_LANES);
    assert_true(layout_shuffle(&l, &t, 16, &s));
    assert_int_equal(s.round_bits, 1);
    assert_int_equal(s.pack_bits, 0);
    play(&l, &t, &s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_agree_with_counting),
        cmocka_unit_test(moves_within_lanes),
        cmocka_unit_test(shuffles_deliver),
        cmocka_unit_test(shuffles_deliver_in_every_warp),
        cmocka_unit_test(an_accumulator_as_operand),
        cmocka_unit_test(a_transpose_in_a_warp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
