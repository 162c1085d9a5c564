// test_legalize with many more pairs and fused multiply-adds.
#define TEST_LONG 1
#include "tests/passes/test_legalize.c"
