#include "tests/codegen/library/check.h"

#include <stddef.h>

#if __STDC_HOSTED__
#include <execinfo.h>
#include <stdio.h>
#include <string.h>
#endif

// ---- without a C library ------------------------------------------------------------------------

#if !__STDC_HOSTED__ && defined(__aarch64__)
enum { SYS_EXIT = 93 };

int memcmp(const void *x, const void *y, size_t size);
void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int value, size_t size);
void _start(void);

int memcmp(const void *x, const void *y, size_t size) {
    const volatile unsigned char *a = x, *b = y;
    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i]) return 1;
    return 0;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    volatile unsigned char *a = to;
    const volatile unsigned char *b = from;
    for (size_t i = 0; i < size; i++) a[i] = b[i];
    return to;
}

void *memset(void *to, int value, size_t size) {
    volatile unsigned char *a = to;
    for (size_t i = 0; i < size; i++) a[i] = (unsigned char)value;
    return to;
}
#endif

// ---- values -------------------------------------------------------------------------------------

static uint64_t bits(unsigned f, unsigned a) {
    uint64_t x = ((uint64_t)f << 32 | (a + 1)) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 27;
}

#define NUMBER(letter, type, name, kind)                                         \
    type check_##name(unsigned f, unsigned a) {                                  \
        return (type)(int64_t)(bits(f, a) & ((letter) == 'o' ? 1 : UINT64_MAX)); \
    }
CHECK_NUMBERS(NUMBER)
#undef NUMBER

void *check_pointer(unsigned f, unsigned a) { return (void *)(uintptr_t)bits(f, a); }
tilec_stream *check_stream(unsigned f) { return (tilec_stream *)(uintptr_t)bits(f, 999); }

tilec_view check_view(unsigned f, unsigned a) {
    tilec_view v = {.dtype = (tilec_dtype)(bits(f, a) & 15), .rank = (int32_t)(a + 1)};
    v.buffer.handle = bits(f, a + 100);
    v.data = check_pointer(f, a + 200);
    v.offset = check_i64(f, a + 300);
    for (unsigned i = 0; i < TILEC_MAX_RANK; i++) {
        v.extent[i] = check_i64(f, a + 400 + 100 * i);
        v.stride[i] = check_i64(f, a + 450 + 100 * i);
    }
    v.flags = check_u32(f, a + 999);
    return v;
}

// ---- the other end ------------------------------------------------------------------------------

static struct {
    unsigned calls, wrong_function, wrong_argument;
    const char *wrong;
} seen;

static void expect(int fine, const char *what, unsigned f, unsigned a) {
    if (fine || seen.wrong) return;
    seen.wrong = what, seen.wrong_function = f, seen.wrong_argument = a;
}

// The compiler must not conclude that what has an alignment is aligned.
static int is_aligned(const void *at, uintptr_t to) {
    uintptr_t place = (uintptr_t)at;
    __asm__ volatile("" : "+r"(place));
    return place % to == 0;
}

static int is_right(char letter, const void *at, unsigned f, unsigned a) {
    switch (letter) {
#define NUMBER(letter_, type, name, kind)                                         \
    case letter_: {                                                               \
        type value = check_##name(f, a);                                          \
        return is_aligned(at, sizeof value) && !memcmp(at, &value, sizeof value); \
    }
        CHECK_NUMBERS(NUMBER)
#undef NUMBER
    case 'p': {
        void *value = check_pointer(f, a);
        return is_aligned(at, sizeof value) && !memcmp(at, &value, sizeof value);
    }
    case 'v': {
        tilec_view v = check_view(f, a);
        return is_aligned(at, 8) && !memcmp(at, &v, offsetof(tilec_view, flags) + sizeof v.flags);
    }
    }
    return 0;
}

// The number of frames that a debugger would see.
__attribute__((noinline)) static int depth(void) {
#if __STDC_HOSTED__
    void *frames[64];
    return backtrace(frames, 64);
#else
    return 0;
#endif
}

static int least_depth;

tilec_status tilec_archive_call(const tilec_archive *archive, uint32_t function,
                                tilec_stream *stream, const void *const *values) {
    _Alignas(16) char local[16];
    seen.calls++;
    expect(is_aligned(local, 16), "the stack is aligned", function, 0);
    // A program may have a copy of the struct: the bytes are what an archive is.
    expect(archive->bytes == kernels_archive.bytes, "the archive", function, 0);
    expect(function < check_count && stream == check_stream(function), "the stream", function, 0);
    if (function >= check_count) return TILEC_INTERNAL;
    const char *letters = check_signatures[function];
    for (unsigned a = 0; letters[a]; a++)
        expect(is_right(letters[a], values[a], function, a), letters + a, function, a);
    expect(depth() >= least_depth, "unwinding", function, 0);
    return (tilec_status)(CHECK_STATUS + function);
}

// ---- main ---------------------------------------------------------------------------------------

static void check_archive(void) {
    const struct tilec_archive *archive = &kernels_archive;
    static const int expected[CHECK_ENTRIES] = {0, 1, 0};
    expect(archive->magic == ARCHIVE_MAGIC && archive->abi == ARCHIVE_ABI, "the magic", 0, 0);
    expect(archive->size == sizeof *archive, "the size", 0, 0);
    expect(archive->cpu_abi == CPU_ABI_VERSION, "the entries' version", 0, 0);
    expect(archive->byte_count == CHECK_BYTES, "the count of bytes", 0, 0);
    expect(is_aligned(archive->bytes, 16), "where the bytes are", 0, 0);
    for (unsigned i = 0; i < CHECK_BYTES && !seen.wrong; i++)
        expect(archive->bytes[i] == check_byte(i), "the bytes", 0, i);
    expect(archive->entry_count == CHECK_ENTRIES, "the count of entries", 0, 0);
    for (unsigned i = 0; i < CHECK_ENTRIES && !seen.wrong; i++) {
        int number = -1;
        archive->entries[i](NULL, 0, 0, &number, NULL);
        expect(number == expected[i], "an entry", 0, i);
    }
}

static int check_all(void) {
    check_archive();
    for (unsigned f = 0; f < check_count; f++)
        expect(check_call(f, check_stream(f)) == (tilec_status)(CHECK_STATUS + f), "the status", f,
               0);
    expect(seen.calls == check_count, "as many calls", 0, 0);
    return seen.wrong != NULL;
}

#if __STDC_HOSTED__
int main(void) {
    least_depth = depth() + 2;  // a function of the library, and tilec_archive_call
    if (check_all())
        printf("function %u (%s), argument %u: wrong: %s\n", seen.wrong_function,
               seen.wrong_function < check_count ? check_signatures[seen.wrong_function] : "",
               seen.wrong_argument, seen.wrong);
    else
        printf("%u calls are right\n", seen.calls);
    return seen.wrong != NULL;
}
#elif defined(__aarch64__)
void _start(void) {
    register int64_t x8 __asm__("x8") = SYS_EXIT;
    register uint64_t x0 __asm__("x0") = (uint64_t)check_all();
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8) : "memory");
    for (;;) {}
}
#endif
