// Programs that call the functions of a built library, and look at what arrives.
//
// check.c has the values, the other end (a tilec_archive_call of its own) and main, which ends with
// status 0 when all is right; calls.c, which test_library.c writes, the calls, as a C compiler
// makes them; entries.c code for CPUs. With a C library, or for AArch64 without one. Invariants:
// value `a` of function `f` is always the same. Ownership: nothing is allocated.
//
//     case 3: return f3(stream, check_view(3, 0), check_i8(3, 1));
#ifndef TILEC_TESTS_CODEGEN_LIBRARY_CHECK_H
#define TILEC_TESTS_CODEGEN_LIBRARY_CHECK_H

#include <tilec/library.h>

#include "base/archive_abi.h"

// Kinds of arguments: a letter, C's type, a name, and the description that the compiler gets.
#define CHECK_NUMBERS(NUMBER)               \
    NUMBER('b', int8_t, i8, ARCHIVE_I8)     \
    NUMBER('B', uint8_t, u8, ARCHIVE_I8)    \
    NUMBER('o', _Bool, bool, ARCHIVE_I8)    \
    NUMBER('h', int16_t, i16, ARCHIVE_I16)  \
    NUMBER('H', uint16_t, u16, ARCHIVE_I16) \
    NUMBER('i', int32_t, i32, ARCHIVE_I32)  \
    NUMBER('I', uint32_t, u32, ARCHIVE_I32) \
    NUMBER('l', int64_t, i64, ARCHIVE_I64)  \
    NUMBER('L', uint64_t, u64, ARCHIVE_I64) \
    NUMBER('f', float, f32, ARCHIVE_F32)    \
    NUMBER('d', double, f64, ARCHIVE_F64)

#define NUMBER(letter, type, name, kind) type check_##name(unsigned f, unsigned a);
CHECK_NUMBERS(NUMBER)
#undef NUMBER
void *check_pointer(unsigned f, unsigned a);    // 'p'
tilec_view check_view(unsigned f, unsigned a);  // 'v'
tilec_stream *check_stream(unsigned f);
enum { CHECK_STATUS = 1000 };  // function f returns CHECK_STATUS + f

extern const tilec_archive kernels_archive;
enum { CHECK_BYTES = 300001, CHECK_ENTRIES = 3 };
static inline uint8_t check_byte(uint64_t i) {
    uint64_t x = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint8_t)((x ^ x >> 29) >> 11);
}

// Defined in calls.c: a letter for each value of each function.
extern const char *const check_signatures[];
extern const unsigned check_count;
tilec_status check_call(unsigned f, tilec_stream *stream);

#endif
