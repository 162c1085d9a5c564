// Raw LZMA as `xz` writes it, whole and damaged; tests/compile/test_pack.c has what pack writes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "base/unpack.h"

static const char text[] = "tile tile tile tile: the same, again and again and again\n";
enum { TEXT_SIZE = sizeof text - 1 };
// xz --format=raw --lzma1=preset=9e,dict=4MiB,lc=3,lp=0,pb=2
static const uint8_t packed[] = {0x00, 0x3a, 0x1a, 0x49, 0xd6, 0xb7, 0x96, 0x6f, 0x44, 0x58,
                                 0x84, 0xb7, 0x68, 0x78, 0x54, 0x5d, 0xc1, 0x4d, 0xb8, 0xe0,
                                 0x72, 0xbc, 0x11, 0x51, 0x54, 0x67, 0x09, 0xd4, 0xf1, 0x42,
                                 0xda, 0xe5, 0x07, 0xff, 0xff, 0x08, 0x25, 0xc0, 0x00};
static const Str whole = {(const char *)packed, sizeof packed};

// A block of its own, so that the sanitizer sees a byte too many that is read or written.
static UnpackResult unpack_copy(Str from, size_t size, bool *same) {
    char *in = malloc(from.size ? from.size : 1), *out = malloc(size ? size : 1);
    assert_true(in && out);
    memcpy(in, from.text, from.size);
    UnpackResult result = unpack((Str){in, from.size}, out, size);
    if (same) *same = size == TEXT_SIZE && memcmp(out, text, size) == 0;
    free(in);
    free(out);
    return result;
}

static void what_xz_writes(void **state) {
    (void)state;
    bool same;
    assert_int_equal(unpack_copy(whole, TEXT_SIZE, &same), UNPACK_OK);
    assert_true(same);
}

static void another_size_is_refused(void **state) {
    (void)state;
    for (size_t size = 0; size < 2 * TEXT_SIZE; size++)
        if (size != TEXT_SIZE) assert_int_equal(unpack_copy(whole, size, NULL), UNPACK_DAMAGED);
}

static void a_part_is_refused(void **state) {
    (void)state;
    for (size_t size = 0; size < whole.size; size++)
        assert_int_equal(unpack_copy((Str){whole.text, size}, TEXT_SIZE, NULL), UNPACK_DAMAGED);
    char longer[sizeof packed + 1] = {0};
    memcpy(longer, packed, sizeof packed);
    assert_int_equal(unpack_copy((Str){longer, sizeof longer}, TEXT_SIZE, NULL), UNPACK_DAMAGED);
    assert_int_equal(unpack((Str){NULL, 0}, NULL, 0), UNPACK_DAMAGED);
}

// Other bytes may come out, there is no checksum: but as many, or it is refused.
static void damage_is_survived(void **state) {
    (void)state;
    char damaged[sizeof packed];
    for (size_t at = 0; at < sizeof packed; at++) {
        memcpy(damaged, packed, sizeof packed);
        for (int bit = 0; bit < 8; bit++) {
            damaged[at] = (char)(packed[at] ^ 1 << bit);
            assert_int_not_equal(unpack_copy((Str){damaged, sizeof damaged}, TEXT_SIZE, NULL),
                                 UNPACK_NO_MEMORY);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_xz_writes),
        cmocka_unit_test(another_size_is_refused),
        cmocka_unit_test(a_part_is_refused),
        cmocka_unit_test(damage_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
