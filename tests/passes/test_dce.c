// Dead code: what goes, and what must stay.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/pass_case.h"

static const PassCase cases[] = {
    {"unused pure ops, whole chains", "dce",
     "func @f(%x: i32) -> i32 {\n"
     "  %0 = const {value = 3} : i32\n"
     "  %1 = add %x, %0 : i32\n"
     "  %2 = mul %1, %1 : i32\n"
     "  return %x\n"
     "}\n",
     "func @f(%x: i32) -> i32 {\n"
     "  return %x\n"
     "}\n"},
    {"an unused load goes, a store stays", "dce",
     "func @f(%p: *i32, %x: i32) {\n"
     "  %0 = load %p, _, _ : i32\n"
     "  store %p, %x, _\n"
     "  return\n"
     "}\n",
     "func @f(%p: *i32, %x: i32) {\n"
     "  store %p, %x, _\n"
     "  return\n"
     "}\n"},
    {"asserts, prints, assumes and atomics stay", "dce",
     "func @f(%p: *i32, %x: i32, %c: bool) {\n"
     "  assert %c {text = \"c\"}\n"
     "  assume %c\n"
     "  print %x {texts = [\"x\", \"\"]}\n"
     "  %0 = atomic %p, %x, _ {op = add, order = relaxed, scope = device} : i32\n"
     "  return\n"
     "}\n",
     NULL},
    {"a carried value that only feeds itself", "dce",
     "func @f(%n: i64, %x: i32) -> i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2, %3, %4 = for %0, %n, %1, %x, %x, %x : i32, i32, i32 (%5: i64, %6: i32, %7: i32, %8: "
     "i32) {\n"
     "    %9 = add %7, %8 : i32\n"
     "    %10 = mul %6, %x : i32\n"
     "    %11 = add %7, %x : i32\n"
     "    yield %10, %9, %8\n"
     "  }\n"
     "  return %2\n"
     "}\n",
     "func @f(%n: i64, %x: i32) -> i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = for %0, %n, %1, %x : i32 (%3: i64, %4: i32) {\n"
     "    %5 = mul %4, %x : i32\n"
     "    yield %5\n"
     "  }\n"
     "  return %2\n"
     "}\n"},
    {"a carried value that feeds a used one stays", "dce",
     "func @f(%n: i64, %x: i32) -> i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2, %3 = for %0, %n, %1, %x, %x : i32, i32 (%4: i64, %5: i32, %6: i32) {\n"
     "    %7 = add %6, %x : i32\n"
     "    yield %6, %7\n"
     "  }\n"
     "  return %2\n"
     "}\n",
     NULL},
    {"a for without effects and uses goes, a while stays", "dce",
     "func @f(%n: i64, %x: i32, %c: bool) {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = for %0, %n, %1, %x : i32 (%3: i64, %4: i32) {\n"
     "    yield %x\n"
     "  }\n"
     "  while {\n"
     "    yield %c\n"
     "  } {\n"
     "    yield\n"
     "  }\n"
     "  return\n"
     "}\n",
     "func @f(%n: i64, %x: i32, %c: bool) {\n"
     "  while {\n"
     "    yield %c\n"
     "  } {\n"
     "    yield\n"
     "  }\n"
     "  return\n"
     "}\n"},
    {"a for around a while stays", "dce",
     "func @f(%n: i64, %c: bool) {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  for %0, %n, %1 (%2: i64) {\n"
     "    while {\n"
     "      yield %c\n"
     "    } {\n"
     "      yield\n"
     "    }\n"
     "    yield\n"
     "  }\n"
     "  return\n"
     "}\n",
     NULL},
    {"the exit flag stays, as do the values it hangs on", "dce",
     "func @f(%p: *i32, %n: i64, %x: i32) {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = const {value = true} : bool\n"
     "  %3, %4 = for %0, %n, %1, %2, %x {exit = true} : bool, i32 (%5: i64, %6: bool, %7: i32) {\n"
     "    store %p, %x, _\n"
     "    %8 = lt %7, %x : bool\n"
     "    %9 = add %7, %x : i32\n"
     "    yield %8, %9\n"
     "  }\n"
     "  return\n"
     "}\n",
     NULL},
    {"results of an if go one by one", "dce",
     "func @f(%c: bool, %x: i32, %y: i32) -> i32 {\n"
     "  %0, %1 = if %c : i32, i32 {\n"
     "    %2 = add %x, %y : i32\n"
     "    %3 = mul %x, %y : i32\n"
     "    yield %2, %3\n"
     "  } {\n"
     "    yield %x, %y\n"
     "  }\n"
     "  return %1\n"
     "}\n",
     "func @f(%c: bool, %x: i32, %y: i32) -> i32 {\n"
     "  %0 = if %c : i32 {\n"
     "    %1 = mul %x, %y : i32\n"
     "    yield %1\n"
     "  } {\n"
     "    yield %y\n"
     "  }\n"
     "  return %0\n"
     "}\n"},
    {"an if without effects", "dce",
     "func @f(%c: bool, %x: i32) {\n"
     "  if %c {\n"
     "    %0 = add %x, %x : i32\n"
     "    yield\n"
     "  } {\n"
     "    yield\n"
     "  }\n"
     "  return\n"
     "}\n",
     "func @f(%c: bool, %x: i32) {\n"
     "  return\n"
     "}\n"},
};

static void check(void **state) {
    (void)state;
    pass_cases_check(cases, sizeof cases / sizeof cases[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(check)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
