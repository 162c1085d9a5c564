// Memory runs out at each allocation of packing and unpacking: both report it and free everything,
// which the sanitizer checks at the end.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "base/recover.h"
#include "base/unpack.h"
#include "compile/aot/pack.h"
#include "tests/memory/failing.h"
#include "tests/support/dice.h"

enum { SIZE = 70000 };

static Str random_bytes(Arena *arena) {
    char *bytes = arena_alloc(arena, SIZE);
    Dice dice = dice_roll(1);
    for (size_t i = 0; i < SIZE; i++) bytes[i] = (char)dice_below(&dice, 256);
    return (Str){bytes, SIZE};
}

// Is there enough memory, but for the nth allocation?
static bool pack_without(size_t nth, Str bytes) {
    Recovery r;
    if (RECOVER_FAILED(&r)) {
        assert_true(failing_end());
        return false;
    }
    Arena *arena = arena_create();
    failing_begin(nth, FAILING_ONCE);
    Str packed = pack(arena, bytes);
    assert_false(failing_end());
    assert_true(packed.size >= SIZE);
    arena_destroy(arena);
    recover_end(&r);
    return true;
}

static void packing(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Str bytes = random_bytes(arena);
    size_t nth = 1;
    while (!pack_without(nth, bytes)) nth++;
    assert_true(nth > 3);
    arena_destroy(arena);
}

static void unpacking(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Str packed = pack(arena, random_bytes(arena));
    char *out = arena_alloc(arena, SIZE);
    bool failed = true;
    for (size_t nth = 1; failed; nth++) {
        failing_begin(nth, FAILING_ONCE);
        UnpackResult result = unpack(packed, out, SIZE);
        failed = failing_end();
        assert_int_equal(result, failed ? UNPACK_NO_MEMORY : UNPACK_OK);
    }
    arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packing),
        cmocka_unit_test(unpacking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
