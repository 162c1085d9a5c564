# Configurations and heuristics that cannot be computed: their constexprs are open, and nothing else
# happens.
# RUN: tilec check %s
# OUT:
import torch
import triton
import triton.language as tl


def configs(x):
    while x > torch.cuda.size():
        x -= 1
    return [triton.Config({"BLOCK": tl.arange(0, 16) + x}) for x in range(torch.n)]


def other():
    a = tl.zeros([16], tl.float32) + 1
    b = 1 if a > 0 else 2
    for i in range(a):
        b += i
    tl.store(a, b)
    return [triton.Config({"BLOCK": tl.sum(a)}, num_warps=tl.program_id(0))]


@triton.autotune(configs=configs(tl.program_id(0)), key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % tl.arange(0, 16) == 0 and other()})
@triton.jit
def k(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    tl.store(x, n)


@triton.autotune(configs=other(), key=["n"])
@triton.jit
def k2(x, n, BLOCK: tl.constexpr):
    tl.store(x, n)
