// Session: what a host program does with tilec, step by step, from the first call to the last.
//
// Each step may be done again after it failed for want of memory, and then comes to the result that
// it would have had. Invariants: a step that fails leaves its results alone; all that a session
// made is gone at its end.
//
//     SessionEnd end = session_run(&(SessionPlan){.device = "interp", .folder = folder});
#ifndef TILEC_TESTS_MEMORY_SESSION_H
#define TILEC_TESTS_MEMORY_SESSION_H

#include <stdbool.h>
#include <stddef.h>

typedef struct SessionPlan {
    const char *device;
    const char *cache;    // the folder
    const char *library;  // the compiler library; NULL: the real one
    size_t nth;           // the allocation that fails; 0: none
    unsigned how;         // failing.h
    bool tunes;           // with the steps that measure, which make many allocations
} SessionPlan;

// Fails the test where a step's status is neither the expected one nor TILEC_OUT_OF_MEMORY after a
// failure, or where doing it again fails. The number of allocations of a session without a failure.
size_t session_run(const SessionPlan *plan);

#endif
