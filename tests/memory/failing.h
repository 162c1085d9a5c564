// Failing: memory that runs out when a test says so.
//
// The test program is linked with --wrap for the functions of failing.c, so that every allocation
// of the library counts, and none of the C library's own; and with FAILING_BLOCKS every block of an
// arena, as if each were an allocation. Invariants: the allocation that is asked for fails once, or
// all fail from the n-th on until failing_end. The count is of the whole program: threads of the
// library allocate, too.
//
//     failing_begin(7, FAILING_ONCE);           // the seventh allocation from here on fails
//     tilec_status s = tilec_launch(…);
//     if (failing_end()) assert_int_equal(s, TILEC_OUT_OF_MEMORY);
#ifndef TILEC_TESTS_MEMORY_FAILING_H
#define TILEC_TESTS_MEMORY_FAILING_H

#include <stdbool.h>
#include <stddef.h>

enum { FAILING_ONCE = 0, FAILING_ON = 1, FAILING_BLOCKS = 2 };
void failing_begin(size_t nth, unsigned how);
bool failing_end(void);        // did one fail?
bool failing_happened(void);   // so far
size_t failing_counted(void);  // allocations since failing_begin

#endif
