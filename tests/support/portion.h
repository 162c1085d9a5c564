// Portions of long tests: with TILEC_TEST_PORTION=3/10 a long test does the third tenth of its
// work.
//
// Invariants: the portions 1/n … n/n together are the whole work, each piece of it once; any other
// value ends the program with a message. Whole without the variable.
//
//     Portion p = portion();
//     for (uint64_t i = 0; i < count; i++)
//         if (portion_has(p, i)) …
#ifndef TILEC_TESTS_SUPPORT_PORTION_H
#define TILEC_TESTS_SUPPORT_PORTION_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Portion {
    uint64_t place, count;  // 0 … count - 1
} Portion;

Portion portion(void);
static inline bool portion_has(Portion p, uint64_t number) { return number % p.count == p.place; }

#endif
