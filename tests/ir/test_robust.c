// Any bytes: the parser tells mistakes or makes IR that prints and reads back the same, and that
// the verifier survives. A bounded run with fixed seeds; the fuzz targets go further.
#include <string.h>

#include "tests/ir/support.h"

enum { MUTATIONS = 1500, GARBAGE = 400 };

static uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

// True when the text was accepted.
static bool survive(const char *bytes, size_t size) {
    Fixture f = fixture_create();
    IrModule *m = fixture_parse_str(&f, (Str){bytes, size});
    assert_true(m != NULL || diags_errors(f.diags) > 0);
    if (m) {
        const char *once = fixture_print(&f, m);
        ir_verify(m, f.diags);
        IrModule *again = fixture_parse(&f, once);
        if (!again) fail_msg("printed, but does not parse:\n%s%s", once, fixture_messages(&f));
        expect_same_text(fixture_print(&f, again), once);
    }
    fixture_destroy(&f);
    return m != NULL;
}

static void garbage_is_survived(void **state) {
    (void)state;
    static const char alphabet[] = "kernelfuncbody@%(){}[]:,=*\"\\\n /-_.0123456789view strided";
    uint64_t seed = 0x1234567;
    char bytes[512];
    for (int i = 0; i < GARBAGE; i++) {
        size_t size = next_random(&seed) % sizeof bytes;
        for (size_t n = 0; n < size; n++) {
            uint64_t r = next_random(&seed) >> 20;
            bytes[n] = i % 2 ? (char)r : alphabet[r % (sizeof alphabet - 1)];
        }
        survive(bytes, size);
    }
    survive("", 0);
    survive("\0\0\0", 3);
}

// Words that fit in many places, so that mutated texts often parse.
static const char *const words[] = {
    "f32",   "i32",    "bool", "i4",   "*f32", "f32[8]", "f32[3]", "_",   "%0", "%a",  "%x",
    "0",     "-1",     "99",   "1.5",  "nan",  "[0]",    "[]",     "add", "if", "for", "reduce",
    "yield", "return", "sum",  "true", ",",    " {\n",   "}\n",    "\n",  ":",  "="};

// The next digit becomes another: this often parses.
static size_t mutate_digit(char *bytes, size_t size, size_t at, uint64_t *seed) {
    while (at + 1 < size && (bytes[at] < '0' || bytes[at] > '9')) at++;
    bytes[at] = (char)('0' + next_random(seed) % 10);
    return size;
}

static size_t mutate(char *bytes, size_t size, size_t room, uint64_t *seed) {
    size_t at = next_random(seed) % size;
    switch (next_random(seed) % 8) {
    case 0: bytes[at] = (char)(next_random(seed) >> 9); return size;
    case 1: {  // something goes
        size_t count = next_random(seed) % 12;
        if (count > size - at) count = size - at;
        memmove(bytes + at, bytes + at + count, size - at - count);
        return size - count;
    }
    case 2:
    case 3:
    case 4: {  // a word comes in the place of another
        while (at > 0 && bytes[at - 1] != ' ' && bytes[at - 1] != '\n') at--;
        size_t old = strcspn(bytes + at, " ,\n{}()");
        const char *word = words[next_random(seed) % (sizeof words / sizeof words[0])];
        size_t length = strlen(word);
        if (size - old + length >= room) return size;
        memmove(bytes + at + length, bytes + at + old, size - at - old);
        memcpy(bytes + at, word, length);
        return size - old + length;
    }
    case 5: {  // a part comes twice
        size_t from = next_random(seed) % size, count = next_random(seed) % 60;
        if (count > size - from || size + count >= room) return size;
        char part[60];
        memcpy(part, bytes + from, count);
        memmove(bytes + at + count, bytes + at, size - at);
        memcpy(bytes + at, part, count);
        return size + count;
    }
    default: return mutate_digit(bytes, size, at, seed);
    }
}

static void mutations_are_survived(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Str text;
    OsError error;
    assert_true(os_read_file(arena, "tests/ir/all_ops.tir", 1 << 20, &text, &error));
    size_t room = text.size * 2;
    char *bytes = arena_alloc(arena, room);
    uint64_t seed = 0xabcdef;
    int accepted = 0;
    for (int i = 0; i < MUTATIONS; i++) {
        memset(bytes, 0, room);
        memcpy(bytes, text.text, text.size);
        size_t size = text.size;
        for (uint64_t n = next_random(&seed) % 3 + 1; n > 0; n--) {
            size = mutate(bytes, size, room, &seed);
        }
        accepted += survive(bytes, size);
    }
    // A run that never gets past the parser would say nothing about the verifier.
    assert_true(accepted > MUTATIONS / 20);
    arena_destroy(arena);
}

// Every prefix, so that each construct is once cut off.
static void prefixes_are_survived(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Str text;
    OsError error;
    assert_true(os_read_file(arena, "tests/ir/all_ops.tir", 1 << 20, &text, &error));
    for (size_t size = 0; size < text.size; size += 5) survive(text.text, size);
    arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(garbage_is_survived),
        cmocka_unit_test(mutations_are_survived),
        cmocka_unit_test(prefixes_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
