# Heuristics see the types of the launch's tensors, and the values of heuristics before them. A value
# that no constexpr can have is an error.
import torch
import triton
import triton.language as tl


@triton.heuristics({"IS_HALF": lambda args: args["x"].dtype == torch.float16})
@triton.jit
def typed(x, IS_HALF: tl.constexpr):
    tl.store(x, 2.0 if IS_HALF else 1.0)


@triton.heuristics({"TWICE": lambda args: args["n"] * 2, "MORE": lambda args: args["TWICE"] + 1})
@triton.jit
def ordered(x, n, MORE: tl.constexpr, TWICE: tl.constexpr):
    tl.store(x, MORE + TWICE)


@triton.heuristics({"SIZES": lambda args: (args["n"], 3)})
@triton.jit
def several(x, n, SIZES: tl.constexpr):
    tl.store(x, SIZES[0] + SIZES[1])


@triton.heuristics({"V": lambda args: {"a": 1}})
@triton.jit
def odd(x, n, V: tl.constexpr):
    tl.store(x, V)


@triton.heuristics({"V": lambda args: [i for i in range(10**9)][0]})
@triton.jit
def endless(x, n, V: tl.constexpr):
    tl.store(x, V)


# RUN: tilec run %s typed --device interp --set x='*fp32' --set x.size=1 --grid 1
# OUT:
#| x: f32[1] = 1.0
# RUN: tilec run %s typed --device interp --set x='*fp16' --set x.size=1 --grid 1
# OUT:
#| x: f16[1] = 2.0
# RUN: tilec run %s ordered --device interp --set x='*fp32' --set x.size=1 --set n=5 --grid 1
# OUT:
#| x: f32[1] = 21.0
# RUN: tilec run %s several --device interp --set x='*fp32' --set x.size=1 --set n=5 --grid 1
# OUT:
#| x: f32[1] = 8.0
# RUN: tilec run %s odd --device interp --set x='*fp32' --set x.size=1 --set n=5 --grid 1
# OUT:
#| heuristics.py:26:26: error: the value of 'V' cannot be a dict [specialize]
#|     @triton.heuristics({"V": lambda args: {"a": 1}})
#|                              ^~~~~~~~~~~~~~~~~~~~~
#| help: give it, as in --set V=64
# EXIT: 1
# RUN: tilec run %s endless --device interp --set x='*fp32' --set x.size=1 --set n=5 --grid 1
# OUT:
#| heuristics.py:32:39: error: a comprehension of more than 4096 values [too-many]
#|     @triton.heuristics({"V": lambda args: [i for i in range(10**9)][0]})
#|                                           ^~~~~~~~~~~~~~~~~~~~~~~~~
#| note: in the call of 'lambda'
# EXIT: 1
