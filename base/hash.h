// Hash: BLAKE2b with a result of 32 bytes (RFC 7693). It is for keys and checksums of the cache,
// which must not collide. For hash tables use str_hash.
//
// Invariants: the same bytes give the same hash, in whatever pieces they are added. Numbers are
// added in little endian at a fixed width. hash_text adds the length first, so that "ab","c"
// differs from "a","bc". No ownership: a value.
//
//     Hash h = hash_begin();
//     hash_text(&h, STR("x86-64-v3"));
//     hash_number(&h, 7);
//     HashKey key = hash_end(&h);
#ifndef TILEC_BASE_HASH_H
#define TILEC_BASE_HASH_H

#include <stdint.h>

#include "base/str.h"

enum { HASH_SIZE = 32, HASH_BLOCK = 128, HASH_HEX = 2 * HASH_SIZE };

typedef struct HashKey {
    uint8_t bytes[HASH_SIZE];
} HashKey;

typedef struct Hash {
    uint64_t state[8];
    uint64_t count;  // bytes taken before those in `block`
    uint8_t block[HASH_BLOCK];
    size_t filled;
} Hash;

Hash hash_begin(void);
void hash_bytes(Hash *hash, const void *bytes, size_t size);
void hash_text(Hash *hash, Str text);
void hash_number(Hash *hash, uint64_t number);
HashKey hash_end(Hash *hash);
HashKey hash_of(const void *bytes, size_t size);

bool hash_equal(const HashKey *a, const HashKey *b);
// HASH_HEX lower-case digits and a NUL.
void hash_hex(const HashKey *key, char hex[HASH_HEX + 1]);
// False when the text is not a key.
bool hash_from_hex(Str hex, HashKey *key);

#endif
