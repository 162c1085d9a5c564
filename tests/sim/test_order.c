// The order between blocks: which fences, barriers and atomics make one block's accesses known to
// another.
#include "sim/observe/order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { WARPS = 2, ADDRESS = 4096 };

static void atomic(Order *o, uint32_t warp) {
    const uint64_t address[] = {ADDRESS};
    SimAccess a = {.at = {.warp = warp},
                   .space = SIM_SPACE_GLOBAL,
                   .kind = SIM_ACCESS_ATOMIC,
                   .order = SIM_ORDER_RELAXED,
                   .scope = SIM_SCOPE_GPU,
                   .mask = 1,
                   .lanes = 1,
                   .bytes = 4,
                   .address = address};
    order_strong(o, &a, warp);
}

// "The last program adds up": warp 1 stores and fences, all meet, warp 0 counts the block; a later
// block counts itself, fences in some way, and looks at what was stored.
static bool last_block_saw(bool fences, bool hands_on, SimFence kind) {
    static const uint32_t lanes[WARPS] = {1, 1};
    Arena *arena = arena_create();
    Order *o = order_create(arena);
    order_begin_launch(o, WARPS, 0);
    order_begin_cluster(o, 0);
    Epoch stored = {0, order_now(o, 1)[1], 1};
    if (fences) order_fence(o, 1, SIM_FENCE_MEMORY, SIM_SCOPE_GPU);
    const SimBarrierDone done = {
        .arrived = lanes, .waited = lanes, .warp_count = WARPS, .hands_on = hands_on};
    order_barrier(o, &done, 0, 0);
    atomic(o, 0);
    order_begin_cluster(o, 1);
    atomic(o, 0);
    order_fence(o, 0, kind, SIM_SCOPE_GPU);
    bool saw = order_saw(o, 0, stored);
    arena_destroy(arena);
    return saw;
}

static void barriers_hand_fences_on(void **state) {
    (void)state;
    assert_true(last_block_saw(true, true, SIM_FENCE_MEMORY));
    assert_false(last_block_saw(false, true, SIM_FENCE_MEMORY));  // no wait for the store
    // PTX: the thread that counts has no fence
    assert_false(last_block_saw(true, false, SIM_FENCE_MEMORY));
}

static void a_release_acquires_nothing(void **state) {
    (void)state;
    assert_true(last_block_saw(true, true, SIM_FENCE_ACQUIRE));
    assert_false(last_block_saw(true, true, SIM_FENCE_RELEASE));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(barriers_hand_fences_on),
                                       cmocka_unit_test(a_release_acquires_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
