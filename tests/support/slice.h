// Slices: the part of a large test that one run of the test command does.
//
// scripts/test.sh sets TILEC_TEST_SLICE to the number of commits, so that consecutive commits do
// different parts, and one commit does the same part wherever it is tested. Without the variable
// it is slice 0.
//
// Invariants: of `parts` consecutive slices each piece of work is in exactly one; a value that is
// not a number ends the program with a message.
//
//     for (uint64_t i = 0; i < count; i++)
//         if (slice_has(i, 20)) …                    a twentieth, another in the next slice
//     uint64_t first = slice_begin(16, 120);         120 of 1,920 numbers, then the next 120
#ifndef TILEC_TESTS_SUPPORT_SLICE_H
#define TILEC_TESTS_SUPPORT_SLICE_H

#include <stdbool.h>
#include <stdint.h>

uint64_t slice_number(void);

// `key` is well mixed: neighbours that are much alike have keys that are not.
static inline bool slice_has(uint64_t key, uint64_t parts) {
    return (key % parts + slice_number() % parts) % parts == 0;
}
static inline uint64_t slice_begin(uint64_t parts, uint64_t count) {
    return slice_number() % parts * count;
}

#endif
