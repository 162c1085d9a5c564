#include "base/hash.h"

#include <string.h>

// The fractions of the square roots of the first eight primes (RFC 7693, 2.6).
static const uint64_t start[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                  0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                  0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

enum { ROUNDS = 12, SCHEDULES = 10 };

// The word that each step of a round takes (RFC 7693, 2.7).
static const uint8_t schedule[SCHEDULES][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

// The four words that each of a round's eight mixing steps works on: columns, then diagonals.
static const uint8_t places[8][4] = {{0, 4, 8, 12},  {1, 5, 9, 13},  {2, 6, 10, 14}, {3, 7, 11, 15},
                                     {0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13},  {3, 4, 9, 14}};

static uint64_t load_word(const uint8_t *at) {
    uint64_t word = 0;
    for (int i = 7; i >= 0; i--) word = word << 8 | at[i];
    return word;
}

static void store_word(uint8_t *at, uint64_t word) {
    for (int i = 0; i < 8; i++, word >>= 8) at[i] = (uint8_t)word;
}

static inline uint64_t rotate(uint64_t x, int by) { return x >> by | x << (64 - by); }

static inline void mix(uint64_t v[16], const uint8_t p[4], uint64_t x, uint64_t y) {
    uint64_t a = v[p[0]], b = v[p[1]], c = v[p[2]], d = v[p[3]];
    a += b + x, d = rotate(d ^ a, 32);
    c += d, b = rotate(b ^ c, 24);
    a += b + y, d = rotate(d ^ a, 16);
    c += d, b = rotate(b ^ c, 63);
    v[p[0]] = a, v[p[1]] = b, v[p[2]] = c, v[p[3]] = d;
}

static void compress(Hash *hash, const uint8_t *block, uint64_t count, bool last) {
    uint64_t words[16], v[16];
    for (int i = 0; i < 16; i++) words[i] = load_word(block + 8 * i);
    memcpy(v, hash->state, sizeof hash->state);
    memcpy(v + 8, start, sizeof start);
    v[12] ^= count;  // the upper half of the count is 0: no text is that long
    if (last) v[14] = ~v[14];
    for (int r = 0; r < ROUNDS; r++) {
        const uint8_t *s = schedule[r % SCHEDULES];
        for (int i = 0; i < 8; i++) mix(v, places[i], words[s[2 * i]], words[s[2 * i + 1]]);
    }
    for (int i = 0; i < 8; i++) hash->state[i] ^= v[i] ^ v[i + 8];
}

Hash hash_begin(void) {
    Hash hash = {0};
    memcpy(hash.state, start, sizeof start);
    hash.state[0] ^= 0x01010000u ^ HASH_SIZE;  // no key; fan-out and depth 1
    return hash;
}

void hash_bytes(Hash *hash, const void *bytes, size_t size) {
    const uint8_t *at = bytes;
    while (size) {
        // A full block is not compressed yet: the last block is compressed differently.
        if (hash->filled == HASH_BLOCK) {
            hash->count += HASH_BLOCK;
            compress(hash, hash->block, hash->count, false);
            hash->filled = 0;
        }
        size_t space = HASH_BLOCK - hash->filled, take = size < space ? size : space;
        memcpy(hash->block + hash->filled, at, take);
        hash->filled += take;
        at += take;
        size -= take;
    }
}

void hash_number(Hash *hash, uint64_t number) {
    uint8_t bytes[8];
    store_word(bytes, number);
    hash_bytes(hash, bytes, sizeof bytes);
}

void hash_text(Hash *hash, Str text) {
    hash_number(hash, text.size);
    hash_bytes(hash, text.text, text.size);
}

HashKey hash_end(Hash *hash) {
    memset(hash->block + hash->filled, 0, HASH_BLOCK - hash->filled);
    compress(hash, hash->block, hash->count + hash->filled, true);
    HashKey key;
    for (int i = 0; i < HASH_SIZE / 8; i++) store_word(key.bytes + 8 * i, hash->state[i]);
    return key;
}

HashKey hash_of(const void *bytes, size_t size) {
    Hash hash = hash_begin();
    hash_bytes(&hash, bytes, size);
    return hash_end(&hash);
}

bool hash_equal(const HashKey *a, const HashKey *b) {
    return memcmp(a->bytes, b->bytes, HASH_SIZE) == 0;
}

void hash_hex(const HashKey *key, char hex[HASH_HEX + 1]) {
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < HASH_SIZE; i++) {
        hex[2 * i] = digits[key->bytes[i] >> 4];
        hex[2 * i + 1] = digits[key->bytes[i] & 15];
    }
    hex[HASH_HEX] = 0;
}

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool hash_from_hex(Str hex, HashKey *key) {
    if (hex.size != HASH_HEX) return false;
    for (int i = 0; i < HASH_SIZE; i++) {
        int high = digit_of(hex.text[2 * i]), low = digit_of(hex.text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        key->bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}
