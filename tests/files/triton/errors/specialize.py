# A kernel is made with types, constexprs and a grid: what is missing, and what does not fit.
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, i, mask=i < n)


# RUN: tilec emit %s --as tile-ir
# OUT:
#| tilec: error: const 'BLOCK' has no default: --set BLOCK=VALUE [usage]
#| help: see tilec emit --help
# EXIT: 2
# RUN: tilec emit %s --as tile-ir --set x_ptr='*fp32'
# OUT:
#| tilec: error: const 'BLOCK' has no default: --set BLOCK=VALUE [usage]
#| help: see tilec emit --help
# EXIT: 2
# RUN: tilec emit %s --as tile-ir --set x_ptr='*fp33' --set BLOCK=16
# OUT:
#| tilec: error: --set x_ptr takes the type of a pointer, such as *fp32, or of a tensor descriptor, or None; a pointer's size is set by --set x_ptr.size=N [usage]
#| help: see tilec emit --help
# EXIT: 2
# RUN: tilec emit %s --as tile-ir --set x_ptr='*fp32' --set BLOCK=17
# OUT:
#| specialize.py:8:36: error: tl.arange needs a number of elements that is a power of two, found 17 [shape]
#|         i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#|                                        ^~~~~~~~~~~~~~~~~~~
#| help: take tl.arange(0, 32), and mask what is beyond the end
# EXIT: 1
# RUN: tilec emit %s --as tile-ir --set x_ptr='*fp32' --set BLOCK='16 +'
# OUT:
#| <given>:1:5: error: expected an expression, found the end of the line [syntax]
#|     16 +
#|         ^
# EXIT: 1
# RUN: tilec emit %s --as tile-ir --set x_ptr='*fp32' --set BLOCK=16 --set BLOK=16
# OUT:
#| tilec: error: --set: kernel 'kernel' has nothing named 'BLOK' [usage]
#| help: there are: x_ptr (pointer: .size), n (scalar), BLOCK (const), warps, stages, ctas, chiplets, turns, direct, producers
# EXIT: 2
# RUN: tilec emit %s --as tile-ir --set x_ptr=3 --set BLOCK=16
# OUT:
#| tilec: error: --set x_ptr takes the type of a pointer, such as *fp32, or of a tensor descriptor, or None; a pointer's size is set by --set x_ptr.size=N [usage]
#| help: see tilec emit --help
# EXIT: 2
# RUN: tilec emit %s --as tile-ir --set x_ptr='*fp32' --set BLOCK="'abc'"
# OUT:
#| specialize.py:8:28: error: expected a tensor, found the string 'abc' [type]
#|         i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#|                                ^~~~~
#| specialize.py:8:49: error: the end of tl.arange must be an integer known at compile time, found the string 'abc' [not-constant]
#|         i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
#|                                                     ^~~~~
# EXIT: 1
# RUN: tilec run %s --device interp --set x_ptr='*fp32' --set x_ptr.size=16 --set n=16 --set BLOCK=16 --grid 'n // BLOK'
# OUT:
#| <given>:1:6: error: unknown name 'BLOK' [unknown-name]
#|     n // BLOK
#|          ^~~~
#| help: did you mean 'BLOCK'?
# EXIT: 1
# RUN: tilec run %s --device interp --set x_ptr='*fp32' --set x_ptr.size=16 --set n=16 --set BLOCK=16 --grid '(1, 1, 1, 1)'
# OUT:
#| specialize.py:7:5: error: a grid has one to three extents, this one 4 [grid]
#|     def kernel(x_ptr, n, BLOCK: tl.constexpr):
#|         ^~~~~~
# EXIT: 1
# RUN: tilec run %s --device interp --set x_ptr='*fp32' --set x_ptr.size=16 --set n=16 --set BLOCK=16 --grid '1.5'
# OUT:
#| specialize.py:7:5: error: an extent of the grid must be a scalar integer, found the float 1.5 [grid]
#|     def kernel(x_ptr, n, BLOCK: tl.constexpr):
#|         ^~~~~~
# EXIT: 1
# RUN: tilec emit %s --as tile-ir --set BLOCK=16
# OUT:
#| specialize.py:7:12: error: the type of the pointer 'x_ptr' is not known [specialize]
#|     def kernel(x_ptr, n, BLOCK: tl.constexpr):
#|                ^~~~~
#| help: give it, as in --set x_ptr=*fp32
# EXIT: 1
