#include "target/banks.h"

#define LANES_IN_ORDER                              \
    {                                               \
        {5, {1, 2, 4, 8, 16}}, {4, {1, 2, 4, 8}}, { \
            3, { 1, 2, 4 }                          \
        }                                           \
    }
const SharedBanks banks_nvidia = {32, LANES_IN_ORDER, LANES_IN_ORDER};
// 16-byte loads serve lanes 0-3 together with 20-23, 4-7 with 16-19 and so on. This was measured
// (ROCm's notes on bank conflicts).
const SharedBanks banks_gfx9 = {
    32, {{5, {1, 2, 4, 8, 16}}, {4, {1, 2, 4, 8}}, {3, {1, 2, 20}}}, LANES_IN_ORDER};
// 16-byte loads serve lanes 0-3, 12-15 and 20-27 together. The other widths are assumed to be in
// order; nothing is published about them.
const SharedBanks banks_gfx950 = {
    64,
    {{6, {1, 2, 4, 8, 16, 32}}, {5, {1, 2, 4, 8, 16}}, {4, {1, 2, 12, 20}}},
    {{6, {1, 2, 4, 8, 16, 32}}, {5, {1, 2, 4, 8, 16}}, {4, {1, 2, 4, 8}}}};
const SharedBanks banks_rdna = {32, LANES_IN_ORDER, LANES_IN_ORDER};
