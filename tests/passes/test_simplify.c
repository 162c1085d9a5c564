// Simplification: what each rule does, and where it must not.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/pass_case.h"

static const PassCase cases[] = {
    {"x + 0, integers", "simplify,dce",
     "func @f(%x: i32[4]) -> i32[4] {\n"
     "  %0 = const {value = 0} : i32[4]\n"
     "  %1 = add %0, %x : i32[4]\n"
     "  return %1\n"
     "}\n",
     "func @f(%x: i32[4]) -> i32[4] {\n"
     "  return %x\n"
     "}\n"},
    {"x + -0, floats", "simplify,dce",
     "func @f(%x: f32) -> f32 {\n"
     "  %0 = const {value = -0.0} : f32\n"
     "  %1 = add %x, %0 : f32\n"
     "  return %1\n"
     "}\n",
     "func @f(%x: f32) -> f32 {\n"
     "  return %x\n"
     "}\n"},
    {"x + +0 stays: -0 + 0 is 0", "simplify,dce",
     "func @f(%x: f32) -> f32 {\n"
     "  %0 = const {value = 0.0} : f32\n"
     "  %1 = add %x, %0 : f32\n"
     "  return %1\n"
     "}\n",
     NULL},
    {"x + 0 of a format without -0", "simplify,dce",
     "func @f(%x: f8e4m3fnuz) -> f8e4m3fnuz {\n"
     "  %0 = const {value = 0.0} : f8e4m3fnuz\n"
     "  %1 = add %x, %0 : f8e4m3fnuz\n"
     "  return %1\n"
     "}\n",
     "func @f(%x: f8e4m3fnuz) -> f8e4m3fnuz {\n"
     "  return %x\n"
     "}\n"},
    {"x + -0 of f8e5m2 stays: infinities saturate", "simplify,dce",
     "func @f(%x: f8e5m2) -> f8e5m2 {\n"
     "  %0 = const {value = -0.0} : f8e5m2\n"
     "  %1 = add %x, %0 : f8e5m2\n"
     "  return %1\n"
     "}\n",
     NULL},
    {"x * 1 of f8e5m2 stays", "simplify,dce",
     "func @f(%x: f8e5m2) -> f8e5m2 {\n"
     "  %0 = const {value = 1.0} : f8e5m2\n"
     "  %1 = mul %x, %0 : f8e5m2\n"
     "  return %1\n"
     "}\n",
     NULL},
    {"x - 0 and x - -0", "simplify,dce",
     "func @f(%x: f64) -> f64, f64 {\n"
     "  %0 = const {value = 0.0} : f64\n"
     "  %1 = const {value = -0.0} : f64\n"
     "  %2 = sub %x, %0 : f64\n"
     "  %3 = sub %x, %1 : f64\n"
     "  return %2, %3\n"
     "}\n",
     "func @f(%x: f64) -> f64, f64 {\n"
     "  %0 = const {value = -0.0} : f64\n"
     "  %1 = sub %x, %0 : f64\n"
     "  return %x, %1\n"
     "}\n"},
    {"(x + c) + d", "simplify,dce",
     "func @f(%x: u8) -> u8 {\n"
     "  %0 = const {value = 200} : u8\n"
     "  %1 = const {value = 100} : u8\n"
     "  %2 = add %x, %0 : u8\n"
     "  %3 = add %2, %1 : u8\n"
     "  return %3\n"
     "}\n",
     "func @f(%x: u8) -> u8 {\n"
     "  %0 = const {value = 44} : u8\n"
     "  %1 = add %x, %0 : u8\n"
     "  return %1\n"
     "}\n"},
    {"(x + c) + d stays for floats", "simplify,dce",
     "func @f(%x: f32) -> f32 {\n"
     "  %0 = const {value = 1.0} : f32\n"
     "  %1 = const {value = 2.0} : f32\n"
     "  %2 = add %x, %0 : f32\n"
     "  %3 = add %2, %1 : f32\n"
     "  return %3\n"
     "}\n",
     NULL},
    {"x + -y, -x + y, x - -y", "simplify,dce",
     "func @f(%x: f32, %y: f32) -> f32, f32, f32 {\n"
     "  %0 = neg %y : f32\n"
     "  %1 = neg %x : f32\n"
     "  %2 = add %x, %0 : f32\n"
     "  %3 = add %1, %y : f32\n"
     "  %4 = sub %x, %0 : f32\n"
     "  return %2, %3, %4\n"
     "}\n",
     "func @f(%x: f32, %y: f32) -> f32, f32, f32 {\n"
     "  %0 = sub %x, %y : f32\n"
     "  %1 = sub %y, %x : f32\n"
     "  %2 = add %x, %y : f32\n"
     "  return %0, %1, %2\n"
     "}\n"},
    {"x - x: integers, not floats", "simplify,dce",
     "func @f(%x: i64, %y: f32) -> i64, f32 {\n"
     "  %0 = sub %x, %x : i64\n"
     "  %1 = sub %y, %y : f32\n"
     "  return %0, %1\n"
     "}\n",
     "func @f(%x: i64, %y: f32) -> i64, f32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = sub %y, %y : f32\n"
     "  return %0, %1\n"
     "}\n"},
    {"0 - x: integers, not floats", "simplify,dce",
     "func @f(%x: i8, %y: f32) -> i8, f32 {\n"
     "  %0 = const {value = 0} : i8\n"
     "  %1 = const {value = 0.0} : f32\n"
     "  %2 = sub %0, %x : i8\n"
     "  %3 = sub %1, %y : f32\n"
     "  return %2, %3\n"
     "}\n",
     "func @f(%x: i8, %y: f32) -> i8, f32 {\n"
     "  %0 = const {value = 0.0} : f32\n"
     "  %1 = neg %x : i8\n"
     "  %2 = sub %0, %y : f32\n"
     "  return %1, %2\n"
     "}\n"},
    {"x - c: signed, above the least", "simplify,dce",
     "func @f(%x: i8, %y: u8) -> i8, i8, u8 {\n"
     "  %0 = const {value = 3} : i8\n"
     "  %1 = const {value = -128} : i8\n"
     "  %2 = const {value = 3} : u8\n"
     "  %3 = sub %x, %0 : i8\n"
     "  %4 = sub %x, %1 : i8\n"
     "  %5 = sub %y, %2 : u8\n"
     "  return %3, %4, %5\n"
     "}\n",
     "func @f(%x: i8, %y: u8) -> i8, i8, u8 {\n"
     "  %0 = const {value = -128} : i8\n"
     "  %1 = const {value = 3} : u8\n"
     "  %2 = const {value = -3} : i8\n"
     "  %3 = add %x, %2 : i8\n"
     "  %4 = sub %x, %0 : i8\n"
     "  %5 = sub %y, %1 : u8\n"
     "  return %3, %4, %5\n"
     "}\n"},
    {"x * 1, x * 0, x * -1", "simplify,dce",
     "func @f(%x: i32, %y: f16) -> i32, i32, i32, f16, f16 {\n"
     "  %0 = const {value = 1} : i32\n"
     "  %1 = const {value = 0} : i32\n"
     "  %2 = const {value = -1} : i32\n"
     "  %3 = const {value = 1.0} : f16\n"
     "  %4 = const {value = 0.0} : f16\n"
     "  %5 = mul %x, %0 : i32\n"
     "  %6 = mul %x, %1 : i32\n"
     "  %7 = mul %x, %2 : i32\n"
     "  %8 = mul %y, %3 : f16\n"
     "  %9 = mul %y, %4 : f16\n"
     "  return %5, %6, %7, %8, %9\n"
     "}\n",
     "func @f(%x: i32, %y: f16) -> i32, i32, i32, f16, f16 {\n"
     "  %0 = const {value = 0.0} : f16\n"
     "  %1 = const {value = 0} : i32\n"
     "  %2 = neg %x : i32\n"
     "  %3 = mul %y, %0 : f16\n"
     "  return %x, %1, %2, %y, %3\n"
     "}\n"},
    {"(x * c) * d", "simplify,dce",
     "func @f(%x: i32) -> i32 {\n"
     "  %0 = const {value = 6} : i32\n"
     "  %1 = const {value = 7} : i32\n"
     "  %2 = mul %0, %x : i32\n"
     "  %3 = mul %2, %1 : i32\n"
     "  return %3\n"
     "}\n",
     "func @f(%x: i32) -> i32 {\n"
     "  %0 = const {value = 42} : i32\n"
     "  %1 = mul %x, %0 : i32\n"
     "  return %1\n"
     "}\n"},
    {"division by powers of two of floats", "simplify,dce",
     "func @f(%x: f32, %y: f16) -> f32, f32, f16, f16 {\n"
     "  %0 = const {value = 8.0} : f32\n"
     "  %1 = const {value = 3.0} : f32\n"
     "  %2 = const {value = -0.25} : f16\n"
     "  %3 = const {value = 65504.0} : f16\n"
     "  %4 = div %x, %0 : f32\n"
     "  %5 = div %x, %1 : f32\n"
     "  %6 = div %y, %2 : f16\n"
     "  %7 = div %y, %3 : f16\n"
     "  return %4, %5, %6, %7\n"
     "}\n",
     "func @f(%x: f32, %y: f16) -> f32, f32, f16, f16 {\n"
     "  %0 = const {value = 3.0} : f32\n"
     "  %1 = const {value = 65504.0} : f16\n"
     "  %2 = const {value = 0.125} : f32\n"
     "  %3 = mul %x, %2 : f32\n"
     "  %4 = div %x, %0 : f32\n"
     "  %5 = const {value = -4.0} : f16\n"
     "  %6 = mul %y, %5 : f16\n"
     "  %7 = div %y, %1 : f16\n"
     "  return %3, %4, %6, %7\n"
     "}\n"},
    {"a divisor whose inverse is subnormal stays", "simplify,dce",
     "func @f(%x: f16) -> f16 {\n"
     "  %0 = const {value = 32768.0} : f16\n"
     "  %1 = div %x, %0 : f16\n"
     "  return %1\n"
     "}\n",
     NULL},
    {"integer division: by 1, of 0, x % 1; x / x stays", "simplify,dce",
     "func @f(%x: i16) -> i16, i16, i16, i16 {\n"
     "  %0 = const {value = 1} : i16\n"
     "  %1 = const {value = 0} : i16\n"
     "  %2 = div %x, %0 : i16\n"
     "  %3 = div %1, %x : i16\n"
     "  %4 = rem %x, %0 : i16\n"
     "  %5 = div %x, %x : i16\n"
     "  return %2, %3, %4, %5\n"
     "}\n",
     "func @f(%x: i16) -> i16, i16, i16, i16 {\n"
     "  %0 = const {value = 0} : i16\n"
     "  %1 = const {value = 0} : i16\n"
     "  %2 = div %x, %x : i16\n"
     "  return %x, %0, %1, %2\n"
     "}\n"},
    {"constants of integer division: x / 0 = 0, MIN / -1 = MIN, x % 0 = x", "simplify,dce",
     "func @f() -> i32, i32, i32 {\n"
     "  %0 = const {value = 5} : i32\n"
     "  %1 = const {value = 0} : i32\n"
     "  %2 = const {value = -2147483648} : i32\n"
     "  %3 = const {value = -1} : i32\n"
     "  %4 = div %0, %1 : i32\n"
     "  %5 = div %2, %3 : i32\n"
     "  %6 = rem %0, %1 : i32\n"
     "  return %4, %5, %6\n"
     "}\n",
     "func @f() -> i32, i32, i32 {\n"
     "  %0 = const {value = 0} : i32\n"
     "  %1 = const {value = -2147483648} : i32\n"
     "  %2 = const {value = 5} : i32\n"
     "  return %0, %1, %2\n"
     "}\n"},
    {"min and max with limits", "simplify,dce",
     "func @f(%x: i8, %y: u8) -> i8, i8, i8, i8, u8 {\n"
     "  %0 = const {value = 127} : i8\n"
     "  %1 = const {value = -128} : i8\n"
     "  %2 = const {value = 0} : u8\n"
     "  %3 = min %x, %0 : i8\n"
     "  %4 = min %x, %1 : i8\n"
     "  %5 = max %x, %0 : i8\n"
     "  %6 = max %x, %1 : i8\n"
     "  %7 = max %y, %2 : u8\n"
     "  return %3, %4, %5, %6, %7\n"
     "}\n",
     "func @f(%x: i8, %y: u8) -> i8, i8, i8, i8, u8 {\n"
     "  %0 = const {value = 127} : i8\n"
     "  %1 = const {value = -128} : i8\n"
     "  return %x, %1, %0, %x, %y\n"
     "}\n"},
    {"abs(-x) is not x for unsigned numbers", "simplify,dce",
     "func @f(%x: u16[4]) -> u16[4] {\n"
     "  %0 = neg %x : u16[4]\n"
     "  %1 = abs %0 : u16[4]\n"
     "  return %1\n"
     "}\n",
     NULL},
    {"-(-x), abs(abs(x)), abs(-x)", "simplify,dce",
     "func @f(%x: f32) -> f32, f32, f32 {\n"
     "  %0 = neg %x : f32\n"
     "  %1 = neg %0 : f32\n"
     "  %2 = abs %x : f32\n"
     "  %3 = abs %2 : f32\n"
     "  %4 = abs %0 : f32\n"
     "  return %1, %3, %4\n"
     "}\n",
     "func @f(%x: f32) -> f32, f32, f32 {\n"
     "  %0 = abs %x : f32\n"
     "  %1 = abs %x : f32\n"
     "  return %x, %0, %1\n"
     "}\n"},
    {"not: twice, of comparisons", "simplify,dce",
     "func @f(%x: i32, %y: i32, %a: f32, %b: f32) -> i32, bool, bool, bool {\n"
     "  %0 = not %x : i32\n"
     "  %1 = not %0 : i32\n"
     "  %2 = lt %x, %y : bool\n"
     "  %3 = not %2 : bool\n"
     "  %4 = eq %a, %b : bool\n"
     "  %5 = not %4 : bool\n"
     "  %6 = lt %a, %b : bool\n"
     "  %7 = not %6 : bool\n"
     "  return %1, %3, %5, %7\n"
     "}\n",
     "func @f(%x: i32, %y: i32, %a: f32, %b: f32) -> i32, bool, bool, bool {\n"
     "  %0 = ge %x, %y : bool\n"
     "  %1 = ne %a, %b : bool\n"
     "  %2 = lt %a, %b : bool\n"
     "  %3 = not %2 : bool\n"
     "  return %x, %0, %1, %3\n"
     "}\n"},
    {"and, or, xor with themselves and constants", "simplify,dce",
     "func @f(%x: u16) -> u16, u16, u16, u16, u16, u16, u16, u16 {\n"
     "  %0 = const {value = 0} : u16\n"
     "  %1 = const {value = 65535} : u16\n"
     "  %2 = and %x, %x : u16\n"
     "  %3 = or %x, %x : u16\n"
     "  %4 = xor %x, %x : u16\n"
     "  %5 = and %0, %x : u16\n"
     "  %6 = and %1, %x : u16\n"
     "  %7 = or %0, %x : u16\n"
     "  %8 = or %1, %x : u16\n"
     "  %9 = xor %1, %x : u16\n"
     "  return %2, %3, %4, %5, %6, %7, %8, %9\n"
     "}\n",
     "func @f(%x: u16) -> u16, u16, u16, u16, u16, u16, u16, u16 {\n"
     "  %0 = const {value = 65535} : u16\n"
     "  %1 = const {value = 0} : u16\n"
     "  %2 = const {value = 0} : u16\n"
     "  %3 = not %x : u16\n"
     "  return %x, %x, %1, %2, %x, %x, %0, %3\n"
     "}\n"},
    {"chains of bits", "simplify,dce",
     "func @f(%x: i32) -> i32 {\n"
     "  %0 = const {value = 12} : i32\n"
     "  %1 = const {value = 10} : i32\n"
     "  %2 = and %x, %0 : i32\n"
     "  %3 = and %1, %2 : i32\n"
     "  return %3\n"
     "}\n",
     "func @f(%x: i32) -> i32 {\n"
     "  %0 = const {value = 8} : i32\n"
     "  %1 = and %x, %0 : i32\n"
     "  return %1\n"
     "}\n"},
    {"shifts by 0, of 0, by the width", "simplify,dce",
     "func @f(%x: i32, %y: u32, %n: i32) -> i32, i32, i32, i32, u32 {\n"
     "  %0 = const {value = 0} : i32\n"
     "  %1 = const {value = 32} : i32\n"
     "  %2 = const {value = -1} : i32\n"
     "  %3 = shl %x, %0 : i32\n"
     "  %4 = shl %0, %n : i32\n"
     "  %5 = shl %x, %1 : i32\n"
     "  %6 = shr %x, %2 : i32\n"
     "  %7 = shr %y, %2 : u32\n"
     "  return %3, %4, %5, %6, %7\n"
     "}\n",
     "func @f(%x: i32, %y: u32, %n: i32) -> i32, i32, i32, i32, u32 {\n"
     "  %0 = const {value = 0} : i32\n"
     "  %1 = const {value = -1} : i32\n"
     "  %2 = const {value = 0} : i32\n"
     "  %3 = shr %x, %1 : i32\n"
     "  %4 = const {value = 0} : u32\n"
     "  return %x, %0, %2, %3, %4\n"
     "}\n"},
    {"constant shifts whose count has another type", "simplify,dce",
     "func @f() -> i8, i8, u8 {\n"
     "  %0 = const {value = -100} : i8\n"
     "  %1 = const {value = 300} : i64\n"
     "  %2 = const {value = 3} : u64\n"
     "  %3 = const {value = 255} : u8\n"
     "  %4 = const {value = -3} : i16\n"
     "  %5 = shr %0, %1 : i8\n"
     "  %6 = shr %0, %2 : i8\n"
     "  %7 = shl %3, %4 : u8\n"
     "  return %5, %6, %7\n"
     "}\n",
     "func @f() -> i8, i8, u8 {\n"
     "  %0 = const {value = -1} : i8\n"
     "  %1 = const {value = -13} : i8\n"
     "  %2 = const {value = 0} : u8\n"
     "  return %0, %1, %2\n"
     "}\n"},
    {"comparisons of the same, of limits, with the constant first", "simplify,dce",
     "func @f(%x: u32, %y: f32) -> bool, bool, bool, bool, bool {\n"
     "  %0 = const {value = 0} : u32\n"
     "  %1 = const {value = 7} : u32\n"
     "  %2 = le %x, %x : bool\n"
     "  %3 = lt %x, %0 : bool\n"
     "  %4 = ge %x, %0 : bool\n"
     "  %5 = lt %1, %x : bool\n"
     "  %6 = eq %y, %y : bool\n"
     "  return %2, %3, %4, %5, %6\n"
     "}\n",
     "func @f(%x: u32, %y: f32) -> bool, bool, bool, bool, bool {\n"
     "  %0 = const {value = 7} : u32\n"
     "  %1 = const {value = true} : bool\n"
     "  %2 = const {value = false} : bool\n"
     "  %3 = const {value = true} : bool\n"
     "  %4 = gt %x, %0 : bool\n"
     "  %5 = eq %y, %y : bool\n"
     "  return %1, %2, %3, %4, %5\n"
     "}\n"},
    {"comparisons of a bool with a constant", "simplify,dce",
     "func @f(%c: bool) -> bool, bool, bool {\n"
     "  %0 = const {value = true} : bool\n"
     "  %1 = const {value = false} : bool\n"
     "  %2 = eq %c, %0 : bool\n"
     "  %3 = eq %c, %1 : bool\n"
     "  %4 = ne %c, %1 : bool\n"
     "  return %2, %3, %4\n"
     "}\n",
     "func @f(%c: bool) -> bool, bool, bool {\n"
     "  %0 = not %c : bool\n"
     "  return %c, %0, %c\n"
     "}\n"},
    {"selects", "simplify,dce",
     "func @f(%c: bool, %x: i32[2], %y: i32[2]) -> i32[2], i32[2], i32[2], i32[2] {\n"
     "  %0 = const {value = true} : bool\n"
     "  %1 = not %c : bool\n"
     "  %2 = broadcast %c : bool[2]\n"
     "  %3 = select %0, %x, %y : i32[2]\n"
     "  %4 = select %c, %x, %x : i32[2]\n"
     "  %5 = select %1, %x, %y : i32[2]\n"
     "  %6 = select %2, %x, %y : i32[2]\n"
     "  return %3, %4, %5, %6\n"
     "}\n",
     "func @f(%c: bool, %x: i32[2], %y: i32[2]) -> i32[2], i32[2], i32[2], i32[2] {\n"
     "  %0 = select %c, %y, %x : i32[2]\n"
     "  %1 = select %c, %x, %y : i32[2]\n"
     "  return %x, %x, %0, %1\n"
     "}\n"},
    {"selects of bool", "simplify,dce",
     "func @f(%c: bool, %d: bool[2]) -> bool, bool, bool[2], bool[2], bool[2] {\n"
     "  %0 = const {value = true} : bool\n"
     "  %1 = const {value = false} : bool\n"
     "  %2 = const {value = true} : bool[2]\n"
     "  %3 = const {value = false} : bool[2]\n"
     "  %4 = select %c, %0, %1 : bool\n"
     "  %5 = select %c, %1, %0 : bool\n"
     "  %6 = select %c, %d, %3 : bool[2]\n"
     "  %7 = select %c, %2, %d : bool[2]\n"
     "  %8 = select %c, %3, %d : bool[2]\n"
     "  return %4, %5, %6, %7, %8\n"
     "}\n",
     "func @f(%c: bool, %d: bool[2]) -> bool, bool, bool[2], bool[2], bool[2] {\n"
     "  %0 = const {value = false} : bool[2]\n"
     "  %1 = not %c : bool\n"
     "  %2 = broadcast %c : bool[2]\n"
     "  %3 = and %2, %d : bool[2]\n"
     "  %4 = broadcast %c : bool[2]\n"
     "  %5 = or %4, %d : bool[2]\n"
     "  %6 = select %c, %0, %d : bool[2]\n"
     "  return %c, %1, %3, %5, %6\n"
     "}\n"},
    {"integer casts", "simplify,dce",
     "func @f(%x: i32, %y: i8, %z: u8) -> i32, i32, i8, i64, i64, i64 {\n"
     "  %0 = cast %x : i32\n"
     "  %1 = cast %x : i64\n"
     "  %2 = cast %1 : i32\n"
     "  %3 = cast %x : i16\n"
     "  %4 = cast %3 : i8\n"
     "  %5 = cast %y : i16\n"
     "  %6 = cast %5 : i64\n"
     "  %7 = cast %z : i16\n"
     "  %8 = cast %7 : i64\n"
     "  %9 = cast %y : u16\n"
     "  %10 = cast %9 : i64\n"
     "  return %0, %2, %4, %6, %8, %10\n"
     "}\n",
     "func @f(%x: i32, %y: i8, %z: u8) -> i32, i32, i8, i64, i64, i64 {\n"
     "  %0 = cast %x : i8\n"
     "  %1 = cast %y : i64\n"
     "  %2 = cast %z : i64\n"
     "  %3 = cast %y : u16\n"
     "  %4 = cast %3 : i64\n"
     "  return %x, %x, %0, %1, %2, %4\n"
     "}\n"},
    {"a narrowing first stays", "simplify,dce",
     "func @f(%x: i32) -> i32 {\n"
     "  %0 = cast %x : i8\n"
     "  %1 = cast %0 : i32\n"
     "  return %1\n"
     "}\n",
     NULL},
    {"casts of a bool", "simplify,dce",
     "func @f(%c: bool) -> bool, f32, f8e4m3 {\n"
     "  %0 = cast %c : i32\n"
     "  %1 = cast %0 : bool\n"
     "  %2 = cast %0 : f32\n"
     "  %3 = cast %c : f64\n"
     "  %4 = cast %3 : f8e4m3\n"
     "  return %1, %2, %4\n"
     "}\n",
     "func @f(%c: bool) -> bool, f32, f8e4m3 {\n"
     "  %0 = cast %c : f32\n"
     "  %1 = cast %c : f8e4m3\n"
     "  return %c, %0, %1\n"
     "}\n"},
    {"float casts up and back, and through wider", "simplify,dce",
     "func @f(%x: f16, %y: bf16) -> f16, f64, f32, i32, f16 {\n"
     "  %0 = cast %x : f32\n"
     "  %1 = cast %0 : f16\n"
     "  %2 = cast %0 : f64\n"
     "  %3 = cast %y : f64\n"
     "  %4 = cast %3 : f32\n"
     "  %5 = cast %0 : i32\n"
     "  %6 = cast %y : f32\n"
     "  %7 = cast %6 : f16\n"
     "  return %1, %2, %4, %5, %7\n"
     "}\n",
     "func @f(%x: f16, %y: bf16) -> f16, f64, f32, i32, f16 {\n"
     "  %0 = cast %x : f64\n"
     "  %1 = cast %y : f32\n"
     "  %2 = cast %x : i32\n"
     "  %3 = cast %y : f16\n"
     "  return %x, %0, %1, %2, %3\n"
     "}\n"},
    {"f16 through bf16, f32 through f16 stay", "simplify,dce",
     "func @f(%x: f16, %y: f32) -> f16, f32, f64 {\n"
     "  %0 = cast %x : bf16\n"
     "  %1 = cast %0 : f16\n"
     "  %2 = cast %y : f16\n"
     "  %3 = cast %2 : f32\n"
     "  %4 = cast %2 : f64\n"
     "  return %1, %3, %4\n"
     "}\n",
     NULL},
    {"f8e5m2 up and back stays when it saturates", "simplify,dce",
     "func @f(%x: f8e5m2, %y: f8e4m3) -> f8e5m2, f8e5m2, f8e4m3 {\n"
     "  %0 = cast %x : f32\n"
     "  %1 = cast %0 {saturate = true} : f8e5m2\n"
     "  %2 = cast %0 : f8e5m2\n"
     "  %3 = cast %y : f32\n"
     "  %4 = cast %3 {saturate = true} : f8e4m3\n"
     "  return %1, %2, %4\n"
     "}\n",
     "func @f(%x: f8e5m2, %y: f8e4m3) -> f8e5m2, f8e5m2, f8e4m3 {\n"
     "  %0 = cast %x : f32\n"
     "  %1 = cast %0 {saturate = true} : f8e5m2\n"
     "  return %1, %x, %y\n"
     "}\n"},
    {"integers through floats that hold them", "simplify,dce",
     "func @f(%x: i16, %y: i32, %z: i8) -> i16, i32, f64, f16 {\n"
     "  %0 = cast %x : f32\n"
     "  %1 = cast %0 : i16\n"
     "  %2 = cast %y : f32\n"
     "  %3 = cast %2 : i32\n"
     "  %4 = cast %0 : f64\n"
     "  %5 = cast %z : f32\n"
     "  %6 = cast %5 : f16\n"
     "  return %1, %3, %4, %6\n"
     "}\n",
     "func @f(%x: i16, %y: i32, %z: i8) -> i16, i32, f64, f16 {\n"
     "  %0 = cast %y : f32\n"
     "  %1 = cast %0 : i32\n"
     "  %2 = cast %x : f64\n"
     "  %3 = cast %z : f16\n"
     "  return %x, %1, %2, %3\n"
     "}\n"},
    {"an integer through a float to another integer stays: it saturates", "simplify,dce",
     "func @f(%x: i16) -> i8, u16 {\n"
     "  %0 = cast %x : f32\n"
     "  %1 = cast %0 : i8\n"
     "  %2 = cast %0 : u16\n"
     "  return %1, %2\n"
     "}\n",
     NULL},
    {"bitcasts", "simplify,dce",
     "func @f(%x: f32) -> f32, i32 {\n"
     "  %0 = bitcast %x : u32\n"
     "  %1 = bitcast %0 : f32\n"
     "  %2 = bitcast %0 : i32\n"
     "  return %1, %2\n"
     "}\n",
     "func @f(%x: f32) -> f32, i32 {\n"
     "  %0 = bitcast %x : i32\n"
     "  return %x, %0\n"
     "}\n"},
    {"broadcasts of broadcasts, of scalars in ones", "simplify,dce",
     "func @f(%x: f32, %y: f32[4,1]) -> f32[4,8], f32[4,8], f32[4,8], f32[4,1] {\n"
     "  %0 = broadcast %x : f32[1,8]\n"
     "  %1 = broadcast %0 : f32[4,8]\n"
     "  %2 = reshape %x : f32[1,1]\n"
     "  %3 = broadcast %2 : f32[4,8]\n"
     "  %4 = broadcast %y : f32[4,8]\n"
     "  %5 = broadcast %y : f32[4,1]\n"
     "  return %1, %3, %4, %5\n"
     "}\n",
     "func @f(%x: f32, %y: f32[4,1]) -> f32[4,8], f32[4,8], f32[4,8], f32[4,1] {\n"
     "  %0 = broadcast %x : f32[4,8]\n"
     "  %1 = broadcast %x : f32[4,8]\n"
     "  %2 = broadcast %y : f32[4,8]\n"
     "  return %0, %1, %2, %y\n"
     "}\n"},
    {"reshapes and permutes", "simplify,dce",
     "func @f(%x: i8[2,4]) -> i8[2,4], i8[8], i8[2,4], i8[4,2] {\n"
     "  %0 = reshape %x : i8[4,2]\n"
     "  %1 = reshape %0 : i8[2,4]\n"
     "  %2 = reshape %0 : i8[8]\n"
     "  %3 = permute %x {perm = [0, 1]} : i8[2,4]\n"
     "  %4 = permute %x {perm = [1, 0]} : i8[4,2]\n"
     "  %5 = permute %4 {perm = [1, 0]} : i8[2,4]\n"
     "  %6 = permute %5 {perm = [1, 0]} : i8[4,2]\n"
     "  return %1, %2, %3, %6\n"
     "}\n",
     "func @f(%x: i8[2,4]) -> i8[2,4], i8[8], i8[2,4], i8[4,2] {\n"
     "  %0 = reshape %x : i8[8]\n"
     "  %1 = permute %x {perm = [1, 0]} : i8[4,2]\n"
     "  return %x, %0, %x, %1\n"
     "}\n"},
    {"permutes of three dimensions compose", "simplify,dce",
     "func @f(%x: i8[2,4,8]) -> i8[4,8,2], i8[8,2,4] {\n"
     "  %0 = permute %x {perm = [1, 0, 2]} : i8[4,2,8]\n"
     "  %1 = permute %0 {perm = [0, 2, 1]} : i8[4,8,2]\n"
     "  %2 = permute %1 {perm = [1, 2, 0]} : i8[8,2,4]\n"
     "  return %1, %2\n"
     "}\n",
     "func @f(%x: i8[2,4,8]) -> i8[4,8,2], i8[8,2,4] {\n"
     "  %0 = permute %x {perm = [1, 2, 0]} : i8[4,8,2]\n"
     "  %1 = permute %x {perm = [2, 0, 1]} : i8[8,2,4]\n"
     "  return %0, %1\n"
     "}\n"},
    {"moves of constants and of broadcast scalars", "simplify,dce",
     "func @f(%x: i8) -> i8[4,2], i8[8], i8[4,2], i8[4], i8[2,2] {\n"
     "  %0 = const {value = 5} : i8[2,4]\n"
     "  %1 = permute %0 {perm = [1, 0]} : i8[4,2]\n"
     "  %2 = reshape %0 : i8[8]\n"
     "  %3 = broadcast %x : i8[2,4]\n"
     "  %4 = permute %3 {perm = [1, 0]} : i8[4,2]\n"
     "  %5 = const {value = 5} : i8[2]\n"
     "  %6 = cat %5, %5 {axis = 0} : i8[4]\n"
     "  %7 = join %5, %5 : i8[2,2]\n"
     "  return %1, %2, %4, %6, %7\n"
     "}\n",
     "func @f(%x: i8) -> i8[4,2], i8[8], i8[4,2], i8[4], i8[2,2] {\n"
     "  %0 = const {value = 5} : i8[4,2]\n"
     "  %1 = const {value = 5} : i8[8]\n"
     "  %2 = broadcast %x : i8[4,2]\n"
     "  %3 = const {value = 5} : i8[4]\n"
     "  %4 = const {value = 5} : i8[2,2]\n"
     "  return %0, %1, %2, %3, %4\n"
     "}\n"},
    {"split and join undo each other", "simplify,dce",
     "func @f(%x: f32[4], %y: f32[4], %z: f32[4,2]) -> f32[4], f32[4], f32[4,2], f32[4,2] {\n"
     "  %0 = join %x, %y : f32[4,2]\n"
     "  %1, %2 = split %0 : f32[4], f32[4]\n"
     "  %3, %4 = split %z : f32[4], f32[4]\n"
     "  %5 = join %3, %4 : f32[4,2]\n"
     "  %6 = join %4, %3 : f32[4,2]\n"
     "  return %1, %2, %5, %6\n"
     "}\n",
     "func @f(%x: f32[4], %y: f32[4], %z: f32[4,2]) -> f32[4], f32[4], f32[4,2], f32[4,2] {\n"
     "  %0, %1 = split %z : f32[4], f32[4]\n"
     "  %2 = join %1, %0 : f32[4,2]\n"
     "  return %x, %y, %z, %2\n"
     "}\n"},
    {"elementwise under broadcasts", "simplify,dce",
     "func @f(%x: f32, %y: f32, %z: f32[1,4]) -> f32[2,4], bool[2,4], f32[2,4] {\n"
     "  %0 = broadcast %x : f32[2,4]\n"
     "  %1 = broadcast %y : f32[2,4]\n"
     "  %2 = const {value = 2.0} : f32[2,4]\n"
     "  %3 = add %0, %1 : f32[2,4]\n"
     "  %4 = mul %3, %2 : f32[2,4]\n"
     "  %5 = lt %0, %1 : bool[2,4]\n"
     "  %6 = broadcast %z : f32[2,4]\n"
     "  %7 = mul %6, %0 : f32[2,4]\n"
     "  return %4, %5, %7\n"
     "}\n",
     "func @f(%x: f32, %y: f32, %z: f32[1,4]) -> f32[2,4], bool[2,4], f32[2,4] {\n"
     "  %0 = broadcast %x : f32[2,4]\n"
     "  %1 = add %x, %y : f32\n"
     "  %2 = const {value = 2.0} : f32\n"
     "  %3 = mul %1, %2 : f32\n"
     "  %4 = broadcast %3 : f32[2,4]\n"
     "  %5 = lt %x, %y : bool\n"
     "  %6 = broadcast %5 : bool[2,4]\n"
     "  %7 = broadcast %z : f32[2,4]\n"
     "  %8 = mul %7, %0 : f32[2,4]\n"
     "  return %4, %6, %8\n"
     "}\n"},
    {"reductions along an extent of 1", "simplify,dce",
     "func @f(%x: i32[4,1], %y: f32[4,1]) -> i32[4], f32[4], i32[4], f32[4] {\n"
     "  %0 = reduce _, %x {kind = sum, axis = 1} : i32[4]\n"
     "  %1 = reduce _, %y {kind = max, axis = 1} : f32[4]\n"
     "  %2 = reduce _, %y {kind = argmax, axis = 1} : i32[4]\n"
     "  %3 = reduce _, %y {kind = sum, axis = 1} : f32[4]\n"
     "  return %0, %1, %2, %3\n"
     "}\n",
     "func @f(%x: i32[4,1], %y: f32[4,1]) -> i32[4], f32[4], i32[4], f32[4] {\n"
     "  %0 = reshape %x : i32[4]\n"
     "  %1 = reshape %y : f32[4]\n"
     "  %2 = const {value = 0} : i32[4]\n"
     "  %3 = reduce _, %y {kind = sum, axis = 1} : f32[4]\n"
     "  return %0, %1, %2, %3\n"
     "}\n"},
    {"reductions of constants and with a mask of true", "simplify,dce",
     "func @f(%x: i32[4]) -> i8, bool, i32 {\n"
     "  %0 = const {value = 100} : i8[4]\n"
     "  %1 = reduce _, %0 {kind = sum, axis = 0} : i8\n"
     "  %2 = const {value = true} : bool[4]\n"
     "  %3 = reduce _, %2 {kind = all, axis = 0} : bool\n"
     "  %4 = reduce %2, %x {kind = sum, axis = 0} : i32\n"
     "  return %1, %3, %4\n"
     "}\n",
     "func @f(%x: i32[4]) -> i8, bool, i32 {\n"
     "  %0 = const {value = -112} : i8\n"
     "  %1 = const {value = true} : bool\n"
     "  %2 = reduce _, %x {kind = sum, axis = 0} : i32\n"
     "  return %0, %1, %2\n"
     "}\n"},
    {"float constants fold, functions do not", "simplify,dce",
     "func @f() -> f32, f32, f32, f32 {\n"
     "  %0 = const {value = 2.0} : f32\n"
     "  %1 = const {value = 3.0} : f32\n"
     "  %2 = add %0, %1 : f32\n"
     "  %3 = sqrt %0 : f32\n"
     "  %4 = exp %0 : f32\n"
     "  %5 = fma %0, %1, %1 : f32\n"
     "  return %2, %3, %4, %5\n"
     "}\n",
     "func @f() -> f32, f32, f32, f32 {\n"
     "  %0 = const {value = 2.0} : f32\n"
     "  %1 = const {value = 5.0} : f32\n"
     "  %2 = const {value = 1.4142135} : f32\n"
     "  %3 = exp %0 : f32\n"
     "  %4 = const {value = 9.0} : f32\n"
     "  return %1, %2, %3, %4\n"
     "}\n"},
    {"casts of constants: saturate, NaN to 0", "simplify,dce",
     "func @f() -> i32, i32, f16, u8 {\n"
     "  %0 = const {value = 1e20} : f32\n"
     "  %1 = const {value = nan} : f32\n"
     "  %2 = const {value = 300} : i32\n"
     "  %3 = cast %0 : i32\n"
     "  %4 = cast %1 : i32\n"
     "  %5 = cast %2 : f16\n"
     "  %6 = cast %2 : u8\n"
     "  return %3, %4, %5, %6\n"
     "}\n",
     "func @f() -> i32, i32, f16, u8 {\n"
     "  %0 = const {value = 2147483647} : i32\n"
     "  %1 = const {value = 0} : i32\n"
     "  %2 = const {value = 300.0} : f16\n"
     "  %3 = const {value = 44} : u8\n"
     "  return %0, %1, %2, %3\n"
     "}\n"},
    {"pointers", "simplify,dce",
     "func @f(%p: *f32) -> f32, f32 {\n"
     "  %0 = const {value = 0} : i64\n"
     "  %1 = const {value = 3} : i64\n"
     "  %2 = ptr_add %p, %0 : *f32\n"
     "  %3 = ptr_add %p, %1 : *f32\n"
     "  %4 = ptr_add %3, %1 : *f32\n"
     "  %5 = load %2, _, _ : f32\n"
     "  %6 = load %4, _, _ : f32\n"
     "  return %5, %6\n"
     "}\n",
     "func @f(%p: *f32) -> f32, f32 {\n"
     "  %0 = const {value = 6} : i64\n"
     "  %1 = ptr_add %p, %0 : *f32\n"
     "  %2 = load %p, _, _ : f32\n"
     "  %3 = load %1, _, _ : f32\n"
     "  return %2, %3\n"
     "}\n"},
    {"masks and pads", "simplify,dce",
     "func @f(%p: *f32, %x: f32) -> f32, f32, f32 {\n"
     "  %0 = const {value = true} : bool\n"
     "  %1 = const {value = false} : bool\n"
     "  %2 = const {value = 0.0} : f32\n"
     "  %3 = load %p, %0, %2 : f32\n"
     "  %4 = load %p, %1, %x : f32\n"
     "  %5 = load %p, %1, _ : f32\n"
     "  store %p, %x, %1\n"
     "  store %p, %x, %0\n"
     "  return %3, %4, %5\n"
     "}\n",
     "func @f(%p: *f32, %x: f32) -> f32, f32, f32 {\n"
     "  %0 = load %p, _, _ : f32\n"
     "  %1 = const {value = 0.0} : f32\n"
     "  store %p, %x, _\n"
     "  return %0, %x, %1\n"
     "}\n"},
    {"asserts and assumes of true", "simplify,dce",
     "func @f() {\n"
     "  %0 = const {value = true} : bool\n"
     "  %1 = const {value = false} : bool\n"
     "  assert %0 {text = \"yes\"}\n"
     "  assume %0\n"
     "  assert %1 {text = \"no\"}\n"
     "  return\n"
     "}\n",
     "func @f() {\n"
     "  %0 = const {value = false} : bool\n"
     "  assert %0 {text = \"no\"}\n"
     "  return\n"
     "}\n"},
    {"an if of a constant", "simplify,dce",
     "func @f(%p: *i32, %x: i32, %y: i32) -> i32 {\n"
     "  %0 = const {value = false} : bool\n"
     "  %1 = if %0 : i32 {\n"
     "    store %p, %x, _\n"
     "    yield %x\n"
     "  } {\n"
     "    store %p, %y, _\n"
     "    %2 = add %y, %y : i32\n"
     "    yield %2\n"
     "  }\n"
     "  return %1\n"
     "}\n",
     "func @f(%p: *i32, %x: i32, %y: i32) -> i32 {\n"
     "  store %p, %y, _\n"
     "  %0 = add %y, %y : i32\n"
     "  return %0\n"
     "}\n"},
    {"loops that never run", "simplify,dce",
     "func @f(%p: *i32, %x: i32, %n: i64) -> i32, i32, i32 {\n"
     "  %0 = const {value = 4} : i64\n"
     "  %1 = const {value = 0} : i64\n"
     "  %2 = const {value = false} : bool\n"
     "  %3 = for %0, %1, %0, %x : i32 (%4: i64, %5: i32) {\n"
     "    store %p, %5, _\n"
     "    yield %5\n"
     "  }\n"
     "  %6 = for %n, %n, %0, %x : i32 (%7: i64, %8: i32) {\n"
     "    store %p, %8, _\n"
     "    yield %8\n"
     "  }\n"
     "  %9, %10 = for %1, %n, %0, %2, %x {exit = true} : bool, i32 (%11: i64, %12: bool, %13: i32) "
     "{\n"
     "    store %p, %13, _\n"
     "    yield %12, %13\n"
     "  }\n"
     "  return %3, %6, %10\n"
     "}\n",
     "func @f(%p: *i32, %x: i32, %n: i64) -> i32, i32, i32 {\n"
     "  return %x, %x, %x\n"
     "}\n"},
    {"a while of false computes its condition once", "simplify,dce",
     "func @f(%p: *i32, %x: i32) -> i32 {\n"
     "  %0 = while %x : i32 (%1: i32) {\n"
     "    store %p, %1, _\n"
     "    %2 = const {value = false} : bool\n"
     "    yield %2\n"
     "  } (%3: i32) {\n"
     "    store %p, %3, _\n"
     "    yield %3\n"
     "  }\n"
     "  return %0\n"
     "}\n",
     "func @f(%p: *i32, %x: i32) -> i32 {\n"
     "  store %p, %x, _\n"
     "  return %x\n"
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
