// Tests of the harness itself: the bounds on cases computed by hand, and that a wrong element is
// seen.
#ifndef TILEC_TESTS_EXAMPLES_TEST_PARTS_H
#define TILEC_TESTS_EXAMPLES_TEST_PARTS_H

int test_parts(void);  // the number of failed tests

#endif
