// Map: small and hashed, in order of insertion.
#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

// Keys that differ in few bits, of the kinds that occur: numbers, addresses, packed pairs.
static uint64_t key_of(int kind, uint64_t i) {
    switch (kind) {
    case 0: return i;
    case 1: return UINT64_C(0x7f0000000000) + i * 16;
    case 2: return i << 32 | (i + 1);
    default: return i << 40;
    }
}

static void finds_every_key(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        for (uint64_t count = 0; count < 3000; count = count * 2 + 1) {
            Arena *a = arena_create();
            Map m = {0};
            for (uint64_t i = 0; i < count; i++) map_put(a, &m, key_of(kind, i), i * 3);
            assert_int_equal(m.count, count);
            for (uint64_t i = 0; i < count; i++) {
                uint64_t *found = map_find(&m, key_of(kind, i));
                assert_non_null(found);
                assert_int_equal(*found, i * 3);
                assert_true(m.entries[i].key == key_of(kind, i));
            }
            assert_null(map_find(&m, key_of(kind, count)));
            assert_null(map_find(&m, UINT64_MAX));
            arena_destroy(a);
        }
    }
}

static void put_replaces_and_keeps_the_order(void **state) {
    (void)state;
    Arena *a = arena_create();
    Map m = {0};
    for (uint64_t i = 0; i < 100; i++) map_put(a, &m, 100 - i, i);
    for (uint64_t i = 0; i < 100; i++) map_put(a, &m, 100 - i, i + 1000);
    assert_int_equal(m.count, 100);
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(m.entries[i].key, 100 - i);
        assert_int_equal(m.entries[i].value, i + 1000);
    }
    arena_destroy(a);
}

static void at_inserts_zero(void **state) {
    (void)state;
    Arena *a = arena_create();
    Map m = {0};
    for (int round = 0; round < 3; round++) {
        for (uint64_t key = 0; key < 50; key++) {
            uint64_t *value = map_at(a, &m, key);
            assert_int_equal(*value, round);
            ++*value;
        }
    }
    arena_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_every_key),
        cmocka_unit_test(put_replaces_and_keeps_the_order),
        cmocka_unit_test(at_inserts_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
