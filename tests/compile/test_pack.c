// Packing: unpack restores what pack made, the result is small, and damage is noticed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "base/unpack.h"
#include "compile/aot/pack.h"
#include "tests/support/dice.h"

// In a block of its own, so that the sanitizer sees what goes beyond it.
static void expect_back(Str packed, Str bytes) {
    char *out = malloc(bytes.size ? bytes.size : 1);
    assert_non_null(out);
    assert_int_equal(unpack(packed, out, bytes.size), UNPACK_OK);
    if (bytes.size) assert_memory_equal(out, bytes.text, bytes.size);
    free(out);
}

static size_t round_trip(Str bytes) {
    Arena *arena = arena_create();
    Str packed = pack(arena, bytes), again = pack(arena, bytes);
    assert_true(str_equal(packed, again));
    expect_back(packed, bytes);
    arena_destroy(arena);
    return packed.size;
}

static Str random_bytes(Arena *arena, size_t size) {
    Dice dice = dice_roll(size);
    char *bytes = arena_alloc(arena, size);
    for (size_t i = 0; i < size; i++) bytes[i] = (char)dice_below(&dice, 256);
    return (Str){bytes, size};
}

static void nothing_and_little(void **state) {
    (void)state;
    round_trip((Str){NULL, 0});
    for (size_t size = 1; size < 40; size++)
        round_trip((Str){"..........//........../////////........./", size});
}

// More than the window, of lines that differ.
static void long_text(void **state) {
    (void)state;
    Arena *arena = arena_create();
    StrBuf b = strbuf(arena);
    for (int line = 0; b.size < UNPACK_WINDOW + 300000; line++)
        strbuf_printf(&b, "%d: a line of some length, and then %d\n", line, line * 7 % 10007);
    assert_in_range(round_trip(strbuf_str(&b)), 1000, b.size / 8);
    arena_destroy(arena);
}

static void random_bytes_grow_little(void **state) {
    (void)state;
    Arena *arena = arena_create();
    static const size_t sizes[] = {1, 10, 100, 4095, 4096, 4097, 100000, 400000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_in_range(round_trip(random_bytes(arena, sizes[i])), sizes[i],
                        sizes[i] + sizes[i] / 50 + 24);
    arena_destroy(arena);
}

// A match over the whole distance, with any bytes between.
static void a_copy_costs_little(void **state) {
    (void)state;
    enum { SIZE = 200000 };
    Arena *arena = arena_create();
    Str once = random_bytes(arena, SIZE);
    StrBuf b = strbuf(arena);
    strbuf_add(&b, once);
    for (int i = 0; i < 3000000; i++) strbuf_char(&b, 'x');
    strbuf_add(&b, once);
    assert_in_range(round_trip(strbuf_str(&b)), SIZE, SIZE + SIZE / 25);
    arena_destroy(arena);
}

static void damage_is_survived(void **state) {
    (void)state;
    Arena *arena = arena_create();
    StrBuf b = strbuf(arena);
    for (int i = 0; i < 60; i++) strbuf_printf(&b, "add.f32 %%f%d, %%f%d, %%f7;\n", i, i * i % 31);
    Str packed = pack(arena, strbuf_str(&b));
    char *out = malloc(b.size), *damaged = malloc(packed.size);
    assert_true(out && damaged);
    for (size_t at = 0; at < packed.size; at++)
        for (int bit = 0; bit < 8; bit++) {
            memcpy(damaged, packed.text, packed.size);
            damaged[at] = (char)(damaged[at] ^ 1 << bit);
            UnpackResult result = unpack((Str){damaged, packed.size}, out, b.size);
            assert_true(result == UNPACK_OK || result == UNPACK_DAMAGED);
        }
    for (size_t size = 0; size < packed.size; size++)
        assert_int_equal(unpack((Str){packed.text, size}, out, b.size), UNPACK_DAMAGED);
    free(out);
    free(damaged);
    arena_destroy(arena);
}

// Each of random bytes may send the decoder anywhere.
static void random_bytes_are_survived(void **state) {
    (void)state;
    Arena *arena = arena_create();
    char out[600];
    for (size_t size = 1; size < 300; size++) {
        Str bytes = random_bytes(arena, size);
        char *in = malloc(size + 1);
        assert_non_null(in);
        memcpy(in + 1, bytes.text, size);
        in[0] = 0;  // as LZMA begins
        assert_int_not_equal(unpack((Str){in, size + 1}, out, 2 * size), UNPACK_NO_MEMORY);
        free(in);
    }
    arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_and_little),       cmocka_unit_test(long_text),
        cmocka_unit_test(random_bytes_grow_little), cmocka_unit_test(a_copy_costs_little),
        cmocka_unit_test(damage_is_survived),       cmocka_unit_test(random_bytes_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
