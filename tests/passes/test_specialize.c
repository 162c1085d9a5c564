// Specialising, inlining: whole modules before and after.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/edit.h"
#include "tests/support/pass_case.h"

static const PassCase cases[] = {
    {"a fixed extent, and the requires it makes true", "specialize,dce",
     "kernel @k(%x: view f32[M, K]) {facts = [M divisor 16, K range 64 64]} {\n"
     "  requires \"K % 32 == 0\" {\n"
     "    %0 = extent {extent = K} : i64\n"
     "    %1 = const {value = 32} : i64\n"
     "    %2 = rem %0, %1 : i64\n"
     "    %3 = const {value = 0} : i64\n"
     "    %4 = eq %2, %3 : bool\n"
     "    yield %4\n"
     "  }\n"
     "  requires \"M <= K\" {\n"
     "    %5 = extent {extent = M} : i64\n"
     "    %6 = extent {extent = K} : i64\n"
     "    %7 = le %5, %6 : bool\n"
     "    yield %7\n"
     "  }\n"
     "  grid {\n"
     "    %8 = extent {extent = M} : i64\n"
     "    %9 = extent {extent = K} : i64\n"
     "    yield %8, %9\n"
     "  }\n"
     "  body {\n"
     "    %10 = extent {extent = K} : i64\n"
     "    print %10 {texts = [\"\", \"\"]}\n"
     "    return\n"
     "  }\n"
     "}\n",
     "kernel @k(%x: view f32[M, K]) {facts = [M divisor 16, K range 64 64]} {\n"
     "  requires \"M <= K\" {\n"
     "    %0 = extent {extent = M} : i64\n"
     "    %1 = const {value = 64} : i64\n"
     "    %2 = le %0, %1 : bool\n"
     "    yield %2\n"
     "  }\n"
     "  grid {\n"
     "    %3 = extent {extent = M} : i64\n"
     "    %4 = const {value = 64} : i64\n"
     "    yield %3, %4\n"
     "  }\n"
     "  body {\n"
     "    %5 = const {value = 64} : i64\n"
     "    print %5 {texts = [\"\", \"\"]}\n"
     "    return\n"
     "  }\n"
     "}\n"},
    {"a requires that is false stays", "specialize,dce",
     "kernel @k(%x: view f32[K]) {facts = [K range 60 60]} {\n"
     "  requires \"K % 32 == 0\" {\n"
     "    %0 = extent {extent = K} : i64\n"
     "    %1 = const {value = 32} : i64\n"
     "    %2 = rem %0, %1 : i64\n"
     "    %3 = const {value = 0} : i64\n"
     "    %4 = eq %2, %3 : bool\n"
     "    yield %4\n"
     "  }\n"
     "  body {\n"
     "    return\n"
     "  }\n"
     "}\n",
     "kernel @k(%x: view f32[K]) {facts = [K range 60 60]} {\n"
     "  requires \"K % 32 == 0\" {\n"
     "    %0 = const {value = false} : bool\n"
     "    yield %0\n"
     "  }\n"
     "  body {\n"
     "    return\n"
     "  }\n"
     "}\n"},
    {"a fixed parameter is a constant in each section that uses it; a float is none", "specialize",
     "kernel @k(%n: i32 {min = 7, max = 7}, %m: i32 {min = 1, max = 7}) {\n"
     "  grid {\n"
     "    %0 = cast %n : i64\n"
     "    yield %0\n"
     "  }\n"
     "  body {\n"
     "    %1 = add %n, %m : i32\n"
     "    %2 = add %1, %n : i32\n"
     "    print %2 {texts = [\"\", \"\"]}\n"
     "    return\n"
     "  }\n"
     "}\n",
     "kernel @k(%n: i32 {min = 7, max = 7}, %m: i32 {min = 1, max = 7}) {\n"
     "  grid {\n"
     "    %0 = const {value = 7} : i32\n"
     "    %1 = cast %0 : i64\n"
     "    yield %1\n"
     "  }\n"
     "  body {\n"
     "    %2 = const {value = 7} : i32\n"
     "    %3 = add %2, %m : i32\n"
     "    %4 = add %3, %2 : i32\n"
     "    print %4 {texts = [\"\", \"\"]}\n"
     "    return\n"
     "  }\n"
     "}\n"},
    {"calls within calls, and in loops", "inline",
     "func @f(%x: i32) -> i32 {\n"
     "  %0 = call %x {callee = g} : i32\n"
     "  %1 = call %0 {callee = g} : i32\n"
     "  return %1\n"
     "}\n"
     "func @g(%x: i32) -> i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = const {value = 3} : i64\n"
     "  %3 = for %0, %2, %1, %x : i32 (%4: i64, %5: i32) {\n"
     "    %6, %7 = call %5 {callee = h} : i32, i32\n"
     "    yield %7\n"
     "  }\n"
     "  return %3\n"
     "}\n"
     "func @h(%x: i32) -> i32, i32 {\n"
     "  %0 = add %x, %x : i32\n"
     "  return %x, %0\n"
     "}\n",
     "func @f(%x: i32) -> i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = const {value = 3} : i64\n"
     "  %3 = for %0, %2, %1, %x : i32 (%4: i64, %5: i32) {\n"
     "    %6 = add %5, %5 : i32\n"
     "    yield %6\n"
     "  }\n"
     "  %7 = const {value = 0} : i64\n"
     "  %8 = const {value = 1} : i64\n"
     "  %9 = const {value = 3} : i64\n"
     "  %10 = for %7, %9, %8, %3 : i32 (%11: i64, %12: i32) {\n"
     "    %13 = add %12, %12 : i32\n"
     "    yield %13\n"
     "  }\n"
     "  return %10\n"
     "}\n"
     "func @g(%x: i32) -> i32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 1} : i64\n"
     "  %2 = const {value = 3} : i64\n"
     "  %3 = for %0, %2, %1, %x : i32 (%4: i64, %5: i32) {\n"
     "    %6 = add %5, %5 : i32\n"
     "    yield %6\n"
     "  }\n"
     "  return %3\n"
     "}\n"
     "func @h(%x: i32) -> i32, i32 {\n"
     "  %0 = add %x, %x : i32\n"
     "  return %x, %0\n"
     "}\n"},
    {"a function that gives back its parameter", "inline",
     "func @f(%x: i32) -> i32, i32 {\n"
     "  %0, %1 = call %x, %x {callee = g} : i32, i32\n"
     "  return %1, %0\n"
     "}\n"
     "func @g(%a: i32, %b: i32) -> i32, i32 {\n"
     "  return %b, %a\n"
     "}\n",
     "func @f(%x: i32) -> i32, i32 {\n"
     "  return %x, %x\n"
     "}\n"
     "func @g(%a: i32, %b: i32) -> i32, i32 {\n"
     "  return %b, %a\n"
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
