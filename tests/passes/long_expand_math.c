// test_expand_math with sixteen times the samples, and every f32.
#define TEST_LONG 1
#include "tests/passes/test_expand_math.c"
