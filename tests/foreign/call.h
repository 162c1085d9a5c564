// Messages between the tests and the program that runs code of another processor for them.
//
// Both see one region of memory at the same address, so that pointers into it mean the same to
// both; messages of one size go over a socket, one at a time. The tests put an image, arguments and
// an argument block into the region and send FOREIGN_RUN; services that the code wants come back as
// requests, each answered by FOREIGN_DONE, until FOREIGN_DONE ends the run.
// Invariants: the region is file FOREIGN_FILE of the emulator, the socket its standard input. The
// last page of the region is the runner's.
// Ownership: the tests' file.
//
//     ForeignMessage m = {.word = FOREIGN_RUN, .a = {entry, block, 0, 64, scratch, 64, 1, 1}};
#ifndef TILEC_TESTS_FOREIGN_CALL_H
#define TILEC_TESTS_FOREIGN_CALL_H

#include <stdint.h>

typedef enum ForeignWord {
    FOREIGN_READY,   // the runner's first
    FOREIGN_RUN,     // entry, block, first, last, scratch, grid, bytes of code
    FOREIGN_DONE,    // the answer's bits; the state of `cancel`
    FOREIGN_ASSERT,  // program, lane, site
    FOREIGN_PRINT,   // program, site, values
    FOREIGN_FMOD,    // bits of both
    FOREIGN_FMODF,
    FOREIGN_FAULT,  // exception, address of the instruction, address that it wanted
} ForeignWord;

typedef struct ForeignMessage {
    uint64_t word, a[9];
} ForeignMessage;

enum {
    FOREIGN_FILE = 3,
    FOREIGN_CODE = 8 << 20,
    FOREIGN_SIZE = 128 << 20,
    FOREIGN_RUNNERS = FOREIGN_SIZE - 4096,
};
// Code first, data after it. ThreadSanitizer leaves other addresses free than AddressSanitizer.
#ifdef __SANITIZE_THREAD__
#define FOREIGN_BASE UINT64_C(0x6000000000)
#else
#define FOREIGN_BASE UINT64_C(0x200000000000)
#endif

#endif
