// Dice: repeatable random numbers for tests (splitmix64).
//
// Invariants: the same seed gives the same numbers on every machine. No ownership: a value.
//
//     Dice dice = dice_roll(seed);
//     if (dice_below(&dice, 3) == 0) …
#ifndef TILEC_TESTS_SUPPORT_DICE_H
#define TILEC_TESTS_SUPPORT_DICE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Dice {
    uint64_t state;
} Dice;

static inline uint64_t dice_next(Dice *dice) {
    dice->state += 0x9e3779b97f4a7c15u;
    uint64_t x = dice->state;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline Dice dice_roll(uint64_t seed) {
    Dice dice = {seed * 0x2545f4914f6cdd1du + 1};
    dice_next(&dice);
    return dice;
}

// A number from 0 to n - 1; n > 0.
static inline uint64_t dice_below(Dice *dice, uint64_t n) { return dice_next(dice) % n; }
static inline bool dice_chance(Dice *dice, unsigned percent) {
    return dice_below(dice, 100) < percent;
}

#endif
