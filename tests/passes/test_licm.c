// Loop-invariant code: what moves, and what would be wrong to move.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/pass_case.h"

static const PassCase cases[] = {
    {"pure ops, in chains, out of two loops", "licm",
     "func @f(%n: i64, %x: i32, %p: *i32) {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  for %0, %n, %1 (%2: i64) {\n"
     "    for %0, %n, %1 (%3: i64) {\n"
     "      %4 = const {value = 3} : i32\n"
     "      %5 = mul %x, %4 : i32\n"
     "      %6 = cast %2 : i32\n"
     "      %7 = add %5, %6 : i32\n"
     "      store %p, %7, _\n"
     "      yield\n"
     "    }\n"
     "    yield\n"
     "  }\n"
     "  return\n"
     "}\n",
     "func @f(%n: i64, %x: i32, %p: *i32) {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = const {value = 3} : i32\n"
     "  %3 = mul %x, %2 : i32\n"
     "  for %0, %n, %1 (%4: i64) {\n"
     "    %5 = cast %4 : i32\n"
     "    %6 = add %3, %5 : i32\n"
     "    for %0, %n, %1 (%7: i64) {\n"
     "      store %p, %6, _\n"
     "      yield\n"
     "    }\n"
     "    yield\n"
     "  }\n"
     "  return\n"
     "}\n"},
    {"nothing moves out of an if", "licm",
     "func @f(%c: bool, %n: i64, %x: i32, %p: *i32) {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  for %0, %n, %1 (%2: i64) {\n"
     "    if %c {\n"
     "      %3 = mul %x, %x : i32\n"
     "      store %p, %3, _\n"
     "      yield\n"
     "    } {\n"
     "      yield\n"
     "    }\n"
     "    yield\n"
     "  }\n"
     "  return\n"
     "}\n",
     NULL},
    {"a pointer's load where the loop may not run stays", "licm",
     "func @f(%n: i64, %x: i32, %p: *i32) -> i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = for %0, %n, %1, %x : i32 (%3: i64, %4: i32) {\n"
     "    %5 = load %p, _, _ : i32\n"
     "    %6 = add %4, %5 : i32\n"
     "    yield %6\n"
     "  }\n"
     "  return %2\n"
     "}\n",
     NULL},
    {"where it runs, it moves", "licm",
     "func @f(%x: i32, %p: *i32) -> i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = const {value = 4} : i64\n"
     "  %3 = for %0, %2, %1, %x : i32 (%4: i64, %5: i32) {\n"
     "    %6 = load %p, _, _ : i32\n"
     "    %7 = add %5, %6 : i32\n"
     "    yield %7\n"
     "  }\n"
     "  return %3\n"
     "}\n",
     "func @f(%x: i32, %p: *i32) -> i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = const {value = 4} : i64\n"
     "  %3 = load %p, _, _ : i32\n"
     "  %4 = for %0, %2, %1, %x : i32 (%5: i64, %6: i32) {\n"
     "    %7 = add %6, %3 : i32\n"
     "    yield %7\n"
     "  }\n"
     "  return %4\n"
     "}\n"},
    {"not over an assert that may end the program", "licm",
     "func @f(%c: bool, %x: i32, %p: *i32) -> i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = const {value = 4} : i64\n"
     "  %3 = for %0, %2, %1, %x : i32 (%4: i64, %5: i32) {\n"
     "    assert %c {text = \"c\"}\n"
     "    %6 = load %p, _, _ : i32\n"
     "    %7 = add %5, %6 : i32\n"
     "    yield %7\n"
     "  }\n"
     "  return %3\n"
     "}\n",
     NULL},
    {"not in a loop that writes", "licm",
     "func @f(%x: i32, %p: *i32, %q: *i32) -> i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = const {value = 4} : i64\n"
     "  %3 = for %0, %2, %1, %x : i32 (%4: i64, %5: i32) {\n"
     "    %6 = load %p, _, _ : i32\n"
     "    %7 = add %5, %6 : i32\n"
     "    store %q, %7, _\n"
     "    yield %7\n"
     "  }\n"
     "  return %3\n"
     "}\n",
     NULL},
    {"the condition of a while runs once at least, its body may not", "licm",
     "func @f(%x: i32, %p: *i32, %q: *i32) -> i32 {\n"
     "  %0 = while %x : i32 (%1: i32) {\n"
     "    %2 = load %p, _, _ : i32\n"
     "    %3 = lt %1, %2 : bool\n"
     "    yield %3\n"
     "  } (%4: i32) {\n"
     "    %5 = load %q, _, _ : i32\n"
     "    %6 = add %4, %5 : i32\n"
     "    yield %6\n"
     "  }\n"
     "  return %0\n"
     "}\n",
     "func @f(%x: i32, %p: *i32, %q: *i32) -> i32 {\n"
     "  %0 = load %p, _, _ : i32\n"
     "  %1 = while %x : i32 (%2: i32) {\n"
     "    %3 = lt %2, %0 : bool\n"
     "    yield %3\n"
     "  } (%4: i32) {\n"
     "    %5 = load %q, _, _ : i32\n"
     "    %6 = add %4, %5 : i32\n"
     "    yield %6\n"
     "  }\n"
     "  return %1\n"
     "}\n"},
    {"a view's load is checked and moves, one marked inside does not", "licm",
     "func @f(%n: i64, %i: i64, %x: f32, %v: view f32[N]) -> f32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = for %0, %n, %1, %x : f32 (%3: i64, %4: f32) {\n"
     "    %5 = view_load %v, _, %i {select = [0]} : f32\n"
     "    %6 = view_load %v, _, %i {select = [0], inside = [1]} : f32\n"
     "    %7 = add %4, %5 : f32\n"
     "    %8 = add %7, %6 : f32\n"
     "    yield %8\n"
     "  }\n"
     "  return %2\n"
     "}\n",
     "func @f(%n: i64, %i: i64, %x: f32, %v: view f32[N]) -> f32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = view_load %v, _, %i {select = [0]} : f32\n"
     "  %3 = for %0, %n, %1, %x : f32 (%4: i64, %5: f32) {\n"
     "    %6 = view_load %v, _, %i {select = [0], inside = [1]} : f32\n"
     "    %7 = add %5, %2 : f32\n"
     "    %8 = add %7, %6 : f32\n"
     "    yield %8\n"
     "  }\n"
     "  return %3\n"
     "}\n"},
    {"reductions with combiners", "licm",
     "func @f(%n: i64, %x: i32[4], %k: i32, %p: *i32) {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  for %0, %n, %1 (%2: i64) {\n"
     "    %3 = cast %2 : i32\n"
     "    %4 = reduce _, %x {kind = custom, axis = 0} : i32 (%5: i32, %6: i32) {\n"
     "      %7 = add %5, %6 : i32\n"
     "      %8 = add %7, %k : i32\n"
     "      yield %8\n"
     "    }\n"
     "    %9 = reduce _, %x {kind = custom, axis = 0} : i32 (%10: i32, %11: i32) {\n"
     "      %12 = add %10, %11 : i32\n"
     "      %13 = add %12, %3 : i32\n"
     "      yield %13\n"
     "    }\n"
     "    store %p, %4, _\n"
     "    store %p, %9, _\n"
     "    yield\n"
     "  }\n"
     "  return\n"
     "}\n",
     "func @f(%n: i64, %x: i32[4], %k: i32, %p: *i32) {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = reduce _, %x {kind = custom, axis = 0} : i32 (%3: i32, %4: i32) {\n"
     "    %5 = add %3, %4 : i32\n"
     "    %6 = add %5, %k : i32\n"
     "    yield %6\n"
     "  }\n"
     "  for %0, %n, %1 (%7: i64) {\n"
     "    %8 = cast %7 : i32\n"
     "    %9 = reduce _, %x {kind = custom, axis = 0} : i32 (%10: i32, %11: i32) {\n"
     "      %12 = add %10, %11 : i32\n"
     "      %13 = add %12, %8 : i32\n"
     "      yield %13\n"
     "    }\n"
     "    store %p, %2, _\n"
     "    store %p, %9, _\n"
     "    yield\n"
     "  }\n"
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
