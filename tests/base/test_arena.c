// Arena: zeroed, aligned, stable memory, over marks and resets.
#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool is_zero(const unsigned char *p, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (p[i]) return false;
    }
    return true;
}

static void memory_is_zeroed_aligned_and_apart(void **state) {
    (void)state;
    Arena *a = arena_create();
    unsigned char *blocks[400];
    for (size_t i = 0; i < 400; i++) {
        size_t size = i * i % 5000;
        blocks[i] = arena_alloc(a, size);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        assert_true(is_zero(blocks[i], size));
        memset(blocks[i], (int)(i % 255) + 1, size);
    }
    for (size_t i = 0; i < 400; i++) {
        for (size_t k = 0; k < i * i % 5000; k++) assert_int_equal(blocks[i][k], i % 255 + 1);
    }
    arena_destroy(a);
}

static void empty_blocks_differ(void **state) {
    (void)state;
    Arena *a = arena_create();
    assert_ptr_not_equal(arena_alloc(a, 0), arena_alloc(a, 0));
    assert_non_null(arena_copy(a, NULL, 0));
    arena_destroy(a);
}

static void a_block_larger_than_any_chunk(void **state) {
    (void)state;
    Arena *a = arena_create();
    char *small = arena_text(a, "kept", 4);
    unsigned char *large = arena_alloc(a, 20 << 20);
    assert_true(is_zero(large, 20 << 20));
    large[(20 << 20) - 1] = 1;
    assert_string_equal(small, "kept");
    assert_true(arena_used(a) >= 20 << 20);
    arena_destroy(a);
}

static void reset_returns_zeroed_memory(void **state) {
    (void)state;
    Arena *a = arena_create();
    char *kept = arena_text(a, "kept", 4);
    size_t used = arena_used(a);
    ArenaMark mark = arena_mark(a);
    for (int round = 0; round < 5; round++) {
        for (size_t size = 1; size < 300000; size = size * 3 + 1) {
            unsigned char *p = arena_alloc(a, size);
            assert_true(is_zero(p, size));
            memset(p, 0xFF, size);
        }
        assert_true(arena_used(a) > 300000);
        arena_reset(a, mark);
        assert_int_equal(arena_used(a), used);
        assert_string_equal(kept, "kept");
    }
    arena_destroy(a);
}

static void reset_of_an_empty_arena(void **state) {
    (void)state;
    Arena *a = arena_create();
    ArenaMark mark = arena_mark(a);
    assert_int_equal(arena_used(a), 0);
    memset(arena_alloc(a, 100), 0xFF, 100);
    arena_reset(a, mark);
    assert_int_equal(arena_used(a), 0);
    assert_true(is_zero(arena_alloc(a, 100), 100));
    arena_destroy(a);
}

static void marks_nest(void **state) {
    (void)state;
    Arena *a = arena_create();
    ArenaMark outer = arena_mark(a);
    char *first = arena_text(a, "first", 5);
    ArenaMark inner = arena_mark(a);
    memset(arena_alloc(a, 100000), 1, 100000);
    arena_reset(a, inner);
    assert_string_equal(first, "first");
    arena_reset(a, outer);
    assert_int_equal(arena_used(a), 0);
    arena_destroy(a);
}

static void extends_only_the_latest_block(void **state) {
    (void)state;
    Arena *a = arena_create();
    unsigned char *first = arena_alloc(a, 10);
    assert_true(arena_extend(a, first, 10, 100));
    assert_true(is_zero(first, 100));
    memset(first, 1, 100);
    unsigned char *second = arena_alloc(a, 10);
    assert_true(second >= first + 100);
    assert_false(arena_extend(a, first, 100, 200));
    assert_false(arena_extend(a, second, 10, 1 << 30));
    assert_false(arena_extend(a, NULL, 0, 16));
    arena_destroy(a);
}

static void printf_of_any_length(void **state) {
    (void)state;
    Arena *a = arena_create();
    assert_string_equal(arena_printf(a, "%s-%d", "x", 7), "x-7");
    char *line = arena_printf(a, "%*d", 100000, 1);
    assert_int_equal(strlen(line), 100000);
    arena_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(empty_blocks_differ),
        cmocka_unit_test(a_block_larger_than_any_chunk),
        cmocka_unit_test(reset_returns_zeroed_memory),
        cmocka_unit_test(reset_of_an_empty_arena),
        cmocka_unit_test(marks_nest),
        cmocka_unit_test(extends_only_the_latest_block),
        cmocka_unit_test(printf_of_any_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
