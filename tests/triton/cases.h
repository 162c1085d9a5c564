// The cases of test_launch, each in a file cases_*.c; cases.def lists them.
//
// A case is a function of the rig that fails the test itself. It owns nothing after it returns.
//
//     void case_add(Rig *r) { … }
#ifndef TILEC_TESTS_TRITON_CASES_H
#define TILEC_TESTS_TRITON_CASES_H

#include "tests/triton/rig.h"

#define RIG_CASE(name) void case_##name(Rig *r);
#include "tests/triton/cases.def"
#undef RIG_CASE

#endif
