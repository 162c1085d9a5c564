// BLAKE2b-256 against known vectors, and whatever way the bytes come.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "base/hash.h"

static const char *hex_of(HashKey key) {
    static char hex[HASH_HEX + 1];
    hash_hex(&key, hex);
    return hex;
}

// The same hashes that b2sum -l 256 prints.
static void known_vectors(void **state) {
    (void)state;
    uint8_t bytes[1000];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)i;
    assert_string_equal(hex_of(hash_of("", 0)),
                        "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
    assert_string_equal(hex_of(hash_of("abc", 3)),
                        "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
    assert_string_equal(hex_of(hash_of(bytes, 127)),
                        "f2fe67ff342e21b8f45e8f2e0bcd1d9243245d50ee6c78042e9c491388791c72");
    assert_string_equal(hex_of(hash_of(bytes, 128)),
                        "c3582f71ebb2be66fa5dd750f80baae97554f3b015663c8be377cfcb2488c1d1");
    assert_string_equal(hex_of(hash_of(bytes, 129)),
                        "f7f3c46ba2564ff4c4c162da1f5b605f9f1c4aa6a20652a9f9a337c1a2f5b9c9");
    assert_string_equal(hex_of(hash_of(bytes, 1000)),
                        "c636324d47d89f2b2434dc2c994100663fbbaea880ff020fc5de89dd0f77a1ec");
}

static void pieces_do_not_matter(void **state) {
    (void)state;
    uint8_t bytes[600];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 7);
    HashKey whole = hash_of(bytes, sizeof bytes);
    for (size_t step = 1; step < 300; step++) {
        Hash h = hash_begin();
        for (size_t at = 0; at < sizeof bytes; at += step)
            hash_bytes(&h, bytes + at, step < sizeof bytes - at ? step : sizeof bytes - at);
        HashKey key = hash_end(&h);
        assert_true(hash_equal(&key, &whole));
    }
}

static void texts_keep_their_ends(void **state) {
    (void)state;
    Hash a = hash_begin(), b = hash_begin();
    hash_text(&a, STR("ab")), hash_text(&a, STR("c"));
    hash_text(&b, STR("a")), hash_text(&b, STR("bc"));
    HashKey x = hash_end(&a), y = hash_end(&b);
    assert_false(hash_equal(&x, &y));
}

static void hex_reads_back(void **state) {
    (void)state;
    HashKey key = hash_of("x", 1), back;
    char hex[HASH_HEX + 1];
    hash_hex(&key, hex);
    assert_true(hash_from_hex(str(hex), &back));
    assert_true(hash_equal(&key, &back));
    assert_false(hash_from_hex((Str){hex, HASH_HEX - 1}, &back));
    hex[5] = 'G';
    assert_false(hash_from_hex(str(hex), &back));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_vectors),
        cmocka_unit_test(pieces_do_not_matter),
        cmocka_unit_test(texts_keep_their_ends),
        cmocka_unit_test(hex_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
