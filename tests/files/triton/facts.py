# Facts about scalars are conditions of the launch: code for a stride of 1 must not run with another.
import triton
import triton.language as tl


@triton.jit
def copy(x, y, n, stride, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + i * stride, i < n), i < n)


# RUN: tilec emit %s --as tile-ir --set x='*fp32' --set y='*fp32' --set n=i32:16 --set stride=i32:1 --set B=32
# OUT:
#| kernel @copy(%x: *f32, %y: *f32, %n: i32 {divisor = 16}, %stride: i32) {math = [contract, approx, wrap], bind = [x = f32, y = f32, n = i32, stride = i32, B = 32]} {
#|   requires "n % 16 == 0" {
#|     %0 = const {value = 0} : i32
#|     %1 = const {value = 16} : i32
#|     %2 = rem %n, %1 : i32
#|     %3 = eq %2, %0 : bool
#|     yield %3
#|   }
#|   requires "stride == 1" {
#|     %4 = const {value = 1} : i32
#|     %5 = eq %stride, %4 : bool
#|     yield %5
#|   }
#|   body {
#|     %6 = iota : i32[32]
#|     %7 = cast %6 : i64[32]
#|     %8 = broadcast %y : *f32[32]
#|     %9 = ptr_add %8, %7 : *f32[32]
#|     %10 = broadcast %x : *f32[32]
#|     %11 = ptr_add %10, %7 : *f32[32]
#|     %12 = broadcast %n : i32[32]
#|     %13 = lt %6, %12 : bool[32]
#|     %14 = load %11, %13, _ : f32[32]
#|     store %9, %14, %13
#|     return
#|   }
#| }
