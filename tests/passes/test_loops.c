// Loops and conditions: what opens, what settles, what must stay.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/pass_case.h"

static const PassCase cases[] = {
    {"one iteration", "loops,dce",
     "func @f(%x: i32) -> i32, i64 {\n"
     "  %0 = const {value = 5} : i64\n"
     "  %1 = const {value = 9} : i64\n"
     "  %2 = const {value = 4} : i64\n"
     "  %3, %4 = for %0, %1, %2, %x, %0 : i32, i64 (%5: i64, %6: i32, %7: i64) {\n"
     "    %8 = add %6, %6 : i32\n"
     "    %9 = add %5, %7 : i64\n"
     "    yield %8, %9\n"
     "  }\n"
     "  return %3, %4\n"
     "}\n",
     "func @f(%x: i32) -> i32, i64 {\n"
     "  %0 = const {value = 5} : i64\n"
     "  %1 = add %x, %x : i32\n"
     "  %2 = add %0, %0 : i64\n"
     "  return %1, %2\n"
     "}\n"},
    {"two iterations stay", "loops,dce",
     "func @f(%x: i32) -> i32 {\n"
     "  %0 = const {value = 5} : i64\n"
     "  %1 = const {value = 10} : i64\n"
     "  %2 = const {value = 4} : i64\n"
     "  %3 = for %0, %1, %2, %x : i32 (%4: i64, %5: i32) {\n"
     "    %6 = add %5, %5 : i32\n"
     "    yield %6\n"
     "  }\n"
     "  return %3\n"
     "}\n",
     NULL},
    {"one iteration at the ends of i64", "loops,dce",
     "func @f(%x: i32) -> i32 {\n"
     "  %0 = const {value = -9223372036854775808} : i64\n"
     "  %1 = const {value = 9223372036854775807} : i64\n"
     "  %2 = const {value = 9223372036854775807} : i64\n"
     "  %3 = for %0, %1, %1, %x : i32 (%4: i64, %5: i32) {\n"
     "    %6 = add %5, %5 : i32\n"
     "    yield %6\n"
     "  }\n"
     "  return %3\n"
     "}\n",
     "func @f(%x: i32) -> i32 {\n"
     "  %0 = const {value = -9223372036854775808} : i64\n"
     "  %1 = const {value = 9223372036854775807} : i64\n"
     "  %2 = for %0, %1, %1, %x : i32 (%3: i64, %4: i32) {\n"
     "    %5 = add %4, %4 : i32\n"
     "    yield %5\n"
     "  }\n"
     "  return %2\n"
     "}\n"},
    {"down, one iteration", "loops,dce",
     "func @f(%x: i32) -> i32, i64 {\n"
     "  %0 = const {value = 5} : i64\n"
     "  %1 = const {value = 4} : i64\n"
     "  %2 = const {value = -1} : i64\n"
     "  %3, %4 = for %0, %1, %2, %x, %1 {down = true} : i32, i64 (%5: i64, %6: i32, %7: i64) {\n"
     "    %8 = add %6, %6 : i32\n"
     "    %9 = add %5, %7 : i64\n"
     "    yield %8, %9\n"
     "  }\n"
     "  return %3, %4\n"
     "}\n",
     "func @f(%x: i32) -> i32, i64 {\n"
     "  %0 = const {value = 5} : i64\n"
     "  %1 = const {value = 4} : i64\n"
     "  %2 = add %x, %x : i32\n"
     "  %3 = add %0, %1 : i64\n"
     "  return %2, %3\n"
     "}\n"},
    {"carried values that never change", "loops,dce",
     "func @f(%n: i64, %x: i32, %y: i32) -> i32, i32, i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2, %3, %4 = for %0, %n, %1, %x, %y, %y : i32, i32, i32 (%5: i64, %6: i32, %7: i32, %8: "
     "i32) {\n"
     "    %9 = add %8, %6 : i32\n"
     "    yield %6, %y, %9\n"
     "  }\n"
     "  return %2, %3, %4\n"
     "}\n",
     "func @f(%n: i64, %x: i32, %y: i32) -> i32, i32, i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = for %0, %n, %1, %y : i32 (%3: i64, %4: i32) {\n"
     "    %5 = add %4, %x : i32\n"
     "    yield %5\n"
     "  }\n"
     "  return %x, %y, %2\n"
     "}\n"},
    {"carried values that are equal", "loops,dce",
     "func @f(%n: i64, %x: i32) -> i32, i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2, %3 = for %0, %n, %1, %x, %x : i32, i32 (%4: i64, %5: i32, %6: i32) {\n"
     "    %7 = add %5, %6 : i32\n"
     "    yield %7, %7\n"
     "  }\n"
     "  return %2, %3\n"
     "}\n",
     "func @f(%n: i64, %x: i32) -> i32, i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = for %0, %n, %1, %x : i32 (%3: i64, %4: i32) {\n"
     "    %5 = add %4, %4 : i32\n"
     "    yield %5\n"
     "  }\n"
     "  return %2, %2\n"
     "}\n"},
    {"carried values that change places stay", "loops,dce",
     "func @f(%n: i64, %x: i32, %y: i32) -> i32, i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2, %3 = for %0, %n, %1, %x, %y : i32, i32 (%4: i64, %5: i32, %6: i32) {\n"
     "    yield %6, %5\n"
     "  }\n"
     "  return %2, %3\n"
     "}\n",
     NULL},
    {"a carried value that is unchanged in a while", "loops,dce",
     "func @f(%x: i32, %y: i32) -> i32, i32 {\n"
     "  %0, %1 = while %x, %y : i32, i32 (%2: i32, %3: i32) {\n"
     "    %4 = lt %2, %3 : bool\n"
     "    yield %4\n"
     "  } (%5: i32, %6: i32) {\n"
     "    %7 = add %5, %6 : i32\n"
     "    yield %7, %6\n"
     "  }\n"
     "  return %0, %1\n"
     "}\n",
     "func @f(%x: i32, %y: i32) -> i32, i32 {\n"
     "  %0 = while %x : i32 (%1: i32) {\n"
     "    %2 = lt %1, %y : bool\n"
     "    yield %2\n"
     "  } (%3: i32) {\n"
     "    %4 = add %3, %y : i32\n"
     "    yield %4\n"
     "  }\n"
     "  return %0, %y\n"
     "}\n"},
    {"an exit flag that never falls", "loops,dce",
     "func @f(%n: i64, %x: i32) -> bool, i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = const {value = true} : bool\n"
     "  %3, %4 = for %0, %n, %1, %2, %x {exit = true} : bool, i32 (%5: i64, %6: bool, %7: i32) {\n"
     "    %8 = add %7, %x : i32\n"
     "    yield %2, %8\n"
     "  }\n"
     "  return %3, %4\n"
     "}\n",
     "func @f(%n: i64, %x: i32) -> bool, i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = const {value = true} : bool\n"
     "  %3 = for %0, %n, %1, %x : i32 (%4: i64, %5: i32) {\n"
     "    %6 = add %5, %x : i32\n"
     "    yield %6\n"
     "  }\n"
     "  return %2, %3\n"
     "}\n"},
    {"an exit flag that is not known at first stays", "loops,dce",
     "func @f(%c: bool, %n: i64, %x: i32) -> i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2, %3 = for %0, %n, %1, %c, %x {exit = true} : bool, i32 (%4: i64, %5: bool, %6: i32) {\n"
     "    %7 = add %6, %x : i32\n"
     "    yield %5, %7\n"
     "  }\n"
     "  return %3\n"
     "}\n",
     NULL},
    {"an exit flag that falls in the first iteration", "loops,dce",
     "func @f(%x: i32) -> i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 100} : i64\n"
     "  %2 = const {value = 1} : i64\n"
     "  %3 = const {value = true} : bool\n"
     "  %4 = const {value = false} : bool\n"
     "  %5, %6 = for %0, %1, %2, %3, %x {exit = true} : bool, i32 (%7: i64, %8: bool, %9: i32) {\n"
     "    %10 = add %9, %x : i32\n"
     "    yield %4, %10\n"
     "  }\n"
     "  return %6\n"
     "}\n",
     "func @f(%x: i32) -> i32 {\n"
     "  %0 = add %x, %x : i32\n"
     "  return %0\n"
     "}\n"},
    {"the condition is known in its branches", "loops,dce",
     "func @f(%c: bool, %p: *i32, %x: i32) {\n"
     "  if %c {\n"
     "    if %c {\n"
     "      store %p, %x, _\n"
     "      yield\n"
     "    } {\n"
     "      yield\n"
     "    }\n"
     "    yield\n"
     "  } {\n"
     "    print %c {texts = [\"\", \"\"]}\n"
     "    yield\n"
     "  }\n"
     "  return\n"
     "}\n",
     "func @f(%c: bool, %p: *i32, %x: i32) {\n"
     "  if %c {\n"
     "    %0 = const {value = true} : bool\n"
     "    if %0 {\n"
     "      store %p, %x, _\n"
     "      yield\n"
     "    } {\n"
     "      yield\n"
     "    }\n"
     "    yield\n"
     "  } {\n"
     "    %1 = const {value = false} : bool\n"
     "    print %1 {texts = [\"\", \"\"]}\n"
     "    yield\n"
     "  }\n"
     "  return\n"
     "}\n"},
    {"an inverted condition", "loops,dce",
     "func @f(%c: bool, %p: *i32, %x: i32) {\n"
     "  %0 = not %c : bool\n"
     "  if %0 {\n"
     "    store %p, %x, _\n"
     "    yield\n"
     "  } {\n"
     "    yield\n"
     "  }\n"
     "  return\n"
     "}\n",
     "func @f(%c: bool, %p: *i32, %x: i32) {\n"
     "  if %c {\n"
     "    yield\n"
     "  } {\n"
     "    store %p, %x, _\n"
     "    yield\n"
     "  }\n"
     "  return\n"
     "}\n"},
    {"a result that is the same either way", "loops,dce",
     "func @f(%c: bool, %p: *i32, %x: i32) -> i32 {\n"
     "  %0 = if %c : i32 {\n"
     "    store %p, %x, _\n"
     "    yield %x\n"
     "  } {\n"
     "    yield %x\n"
     "  }\n"
     "  return %0\n"
     "}\n",
     "func @f(%c: bool, %p: *i32, %x: i32) -> i32 {\n"
     "  if %c {\n"
     "    store %p, %x, _\n"
     "    yield\n"
     "  } {\n"
     "    yield\n"
     "  }\n"
     "  return %x\n"
     "}\n"},
    {"a cheap if becomes a select", "loops,dce",
     "func @f(%c: bool, %x: i32, %y: i32) -> bool {\n"
     "  %0 = const {value = false} : bool\n"
     "  %1 = if %c : bool {\n"
     "    %2 = lt %x, %y : bool\n"
     "    yield %2\n"
     "  } {\n"
     "    yield %0\n"
     "  }\n"
     "  return %1\n"
     "}\n",
     "func @f(%c: bool, %x: i32, %y: i32) -> bool {\n"
     "  %0 = const {value = false} : bool\n"
     "  %1 = lt %x, %y : bool\n"
     "  %2 = select %c, %1, %0 : bool\n"
     "  return %2\n"
     "}\n"},
    {"an if of tiles, of loads, stays", "loops,dce",
     "func @f(%c: bool, %x: i32[4], %p: *i32) -> i32[4], i32 {\n"
     "  %0 = if %c : i32[4] {\n"
     "    %1 = add %x, %x : i32[4]\n"
     "    yield %1\n"
     "  } {\n"
     "    yield %x\n"
     "  }\n"
     "  %2 = if %c : i32 {\n"
     "    %3 = load %p, _, _ : i32\n"
     "    yield %3\n"
     "  } {\n"
     "    %4 = const {value = 0} : i32\n"
     "    yield %4\n"
     "  }\n"
     "  return %0, %2\n"
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
