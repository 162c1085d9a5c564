// Common subexpressions: what is one, and what only looks it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/pass_case.h"

static const PassCase cases[] = {
    {"equal ops, operands in either order", "cse",
     "func @f(%x: i32, %y: i32) -> i32, i32, i32 {\n"
     "  %0 = add %x, %y : i32\n"
     "  %1 = add %y, %x : i32\n"
     "  %2 = mul %0, %1 : i32\n"
     "  %3 = mul %1, %0 : i32\n"
     "  %4 = sub %x, %y : i32\n"
     "  %5 = sub %y, %x : i32\n"
     "  %6 = sub %4, %5 : i32\n"
     "  return %2, %3, %6\n"
     "}\n",
     "func @f(%x: i32, %y: i32) -> i32, i32, i32 {\n"
     "  %0 = add %x, %y : i32\n"
     "  %1 = mul %0, %0 : i32\n"
     "  %2 = sub %x, %y : i32\n"
     "  %3 = sub %y, %x : i32\n"
     "  %4 = sub %2, %3 : i32\n"
     "  return %1, %1, %4\n"
     "}\n"},
    {"attributes and types count", "cse",
     "func @f(%x: i32[4,4]) -> i32[4,4], i32[4], i32[4], i8, i16 {\n"
     "  %0 = permute %x {perm = [1, 0]} : i32[4,4]\n"
     "  %1 = reduce _, %x {kind = sum, axis = 0} : i32[4]\n"
     "  %2 = reduce _, %x {kind = sum, axis = 1} : i32[4]\n"
     "  %3 = const {value = 1} : i8\n"
     "  %4 = const {value = 1} : i16\n"
     "  return %0, %1, %2, %3, %4\n"
     "}\n",
     NULL},
    {"+0 and -0, and comparisons that are turned, are not equal", "cse",
     "func @f(%x: f32, %y: f32) -> f32, f32, bool, bool {\n"
     "  %0 = const {value = 0.0} : f32\n"
     "  %1 = const {value = -0.0} : f32\n"
     "  %2 = lt %x, %y : bool\n"
     "  %3 = lt %y, %x : bool\n"
     "  return %0, %1, %2, %3\n"
     "}\n",
     NULL},
    {"reductions of built-in kinds", "cse",
     "func @f(%x: i32[4]) -> i32, i32 {\n"
     "  %0 = reduce _, %x {kind = sum, axis = 0} : i32\n"
     "  %1 = reduce _, %x {kind = sum, axis = 0} : i32\n"
     "  return %0, %1\n"
     "}\n",
     "func @f(%x: i32[4]) -> i32, i32 {\n"
     "  %0 = reduce _, %x {kind = sum, axis = 0} : i32\n"
     "  return %0, %0\n"
     "}\n"},
    {"ops of many results", "cse",
     "func @f(%x: i32[4,2]) -> i32[4], i32[4] {\n"
     "  %0, %1 = split %x : i32[4], i32[4]\n"
     "  %2, %3 = split %x : i32[4], i32[4]\n"
     "  return %0, %3\n"
     "}\n",
     "func @f(%x: i32[4,2]) -> i32[4], i32[4] {\n"
     "  %0, %1 = split %x : i32[4], i32[4]\n"
     "  return %0, %1\n"
     "}\n"},
    {"outward in, not across branches nor inward out", "cse",
     "func @f(%c: bool, %x: i32, %p: *i32) -> i32 {\n"
     "  %0 = add %x, %x : i32\n"
     "  if %c {\n"
     "    %1 = add %x, %x : i32\n"
     "    %2 = mul %x, %x : i32\n"
     "    store %p, %1, _\n"
     "    store %p, %2, _\n"
     "    yield\n"
     "  } {\n"
     "    %3 = mul %x, %x : i32\n"
     "    store %p, %3, _\n"
     "    yield\n"
     "  }\n"
     "  %4 = mul %x, %x : i32\n"
     "  return %4\n"
     "}\n",
     "func @f(%c: bool, %x: i32, %p: *i32) -> i32 {\n"
     "  %0 = add %x, %x : i32\n"
     "  if %c {\n"
     "    %1 = mul %x, %x : i32\n"
     "    store %p, %0, _\n"
     "    store %p, %1, _\n"
     "    yield\n"
     "  } {\n"
     "    %2 = mul %x, %x : i32\n"
     "    store %p, %2, _\n"
     "    yield\n"
     "  }\n"
     "  %3 = mul %x, %x : i32\n"
     "  return %3\n"
     "}\n"},
    {"loads until something writes", "cse",
     "func @f(%p: *i32, %q: *i32, %x: i32) -> i32, i32, i32 {\n"
     "  %0 = load %p, _, _ : i32\n"
     "  %1 = load %p, _, _ : i32\n"
     "  store %q, %x, _\n"
     "  %2 = load %p, _, _ : i32\n"
     "  return %0, %1, %2\n"
     "}\n",
     "func @f(%p: *i32, %q: *i32, %x: i32) -> i32, i32, i32 {\n"
     "  %0 = load %p, _, _ : i32\n"
     "  store %q, %x, _\n"
     "  %1 = load %p, _, _ : i32\n"
     "  return %0, %0, %1\n"
     "}\n"},
    {"a print does not write", "cse",
     "func @f(%p: *i32, %x: i32) -> i32, i32 {\n"
     "  %0 = load %p, _, _ : i32\n"
     "  print %x {texts = [\"\", \"\"]}\n"
     "  %1 = load %p, _, _ : i32\n"
     "  return %0, %1\n"
     "}\n",
     "func @f(%p: *i32, %x: i32) -> i32, i32 {\n"
     "  %0 = load %p, _, _ : i32\n"
     "  print %x {texts = [\"\", \"\"]}\n"
     "  return %0, %0\n"
     "}\n"},
    {"a loop that writes, before and after", "cse",
     "func @f(%p: *i32, %n: i64, %x: i32) -> i32, i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = load %p, _, _ : i32\n"
     "  for %0, %n, %1 (%3: i64) {\n"
     "    %4 = load %p, _, _ : i32\n"
     "    %5 = add %4, %x : i32\n"
     "    store %p, %5, _\n"
     "    yield\n"
     "  }\n"
     "  %6 = load %p, _, _ : i32\n"
     "  return %2, %6\n"
     "}\n",
     NULL},
    {"a loop that only reads", "cse",
     "func @f(%p: *i32, %n: i64, %x: i32) -> i32, i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = load %p, _, _ : i32\n"
     "  %3 = for %0, %n, %1, %x : i32 (%4: i64, %5: i32) {\n"
     "    %6 = load %p, _, _ : i32\n"
     "    %7 = add %5, %6 : i32\n"
     "    yield %7\n"
     "  }\n"
     "  return %2, %3\n"
     "}\n",
     "func @f(%p: *i32, %n: i64, %x: i32) -> i32, i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = load %p, _, _ : i32\n"
     "  %3 = for %0, %n, %1, %x : i32 (%4: i64, %5: i32) {\n"
     "    %6 = add %5, %2 : i32\n"
     "    yield %6\n"
     "  }\n"
     "  return %2, %3\n"
     "}\n"},
    {"a branch sees what stood before the if", "cse",
     "func @f(%c: bool, %p: *i32, %x: i32) -> i32, i32, i32 {\n"
     "  %0 = load %p, _, _ : i32\n"
     "  %1 = if %c : i32 {\n"
     "    store %p, %x, _\n"
     "    yield %x\n"
     "  } {\n"
     "    %2 = load %p, _, _ : i32\n"
     "    yield %2\n"
     "  }\n"
     "  %3 = load %p, _, _ : i32\n"
     "  return %0, %1, %3\n"
     "}\n",
     "func @f(%c: bool, %p: *i32, %x: i32) -> i32, i32, i32 {\n"
     "  %0 = load %p, _, _ : i32\n"
     "  %1 = if %c : i32 {\n"
     "    store %p, %x, _\n"
     "    yield %x\n"
     "  } {\n"
     "    yield %0\n"
     "  }\n"
     "  %2 = load %p, _, _ : i32\n"
     "  return %0, %1, %2\n"
     "}\n"},
    {"atomics are never one", "cse",
     "func @f(%p: *i32, %x: i32) -> i32, i32 {\n"
     "  %0 = atomic %p, %x, _ {op = add, order = relaxed, scope = device} : i32\n"
     "  %1 = atomic %p, %x, _ {op = add, order = relaxed, scope = device} : i32\n"
     "  return %0, %1\n"
     "}\n",
     NULL},
    {"absent operands are not equal to present ones", "cse",
     "func @f(%p: *i32, %c: bool) -> i32, i32 {\n"
     "  %0 = load %p, _, _ : i32\n"
     "  %1 = load %p, %c, _ : i32\n"
     "  return %0, %1\n"
     "}\n",
     NULL},
};

static void check(void **state) {
    (void)state;
    pass_cases_check(cases, sizeof cases / sizeof cases[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(check)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
