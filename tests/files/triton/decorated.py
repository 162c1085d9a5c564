# Heuristics follow from the arguments; configurations are the tune space, and the first one is the
# default.
import triton
import triton.language as tl


def is_even(args):
    return args["K"] % args["BLOCK_K"] == 0


@triton.heuristics({
    "EVEN": is_even,
    "HAS_BIAS": lambda args: args["bias"] is not None,
    "MODE": lambda args: "fast" if args["K"] > 100 else "slow",
})
@triton.jit
def chosen(x, bias, out, K, BLOCK_K: tl.constexpr, EVEN: tl.constexpr, HAS_BIAS: tl.constexpr,
           MODE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_K + tl.arange(0, BLOCK_K)
    if EVEN:
        v = tl.load(x + offs)
    else:
        v = tl.load(x + offs, mask=offs < K, other=0.0)
    if HAS_BIAS:
        v += tl.load(bias + offs, mask=offs < K, other=0.0)
    if MODE == "fast":
        v = v * 2
    tl.store(out + offs, v, mask=offs < K)


def configs():
    return [
        triton.Config({"B": b, "MODE": m}, num_warps=w) for b in (32, 64) for w in [2, 4]
        for m in (0, 1) if b * w <= 128
    ]


@triton.autotune(configs=configs(), key=["n"])
@triton.jit
def copy(x, y, n, B: tl.constexpr, MODE: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) + MODE, mask=i < n)


# RUN: tilec run %s chosen --device interp --set x='*fp32' --set out='*fp32' --set bias=None --set x.size=128 --set out.size=128 --set K=128 --set BLOCK_K=32 --grid 'triton.cdiv(K, BLOCK_K)'
# OUT:
#| out: f32[128] = -0.16373076 0.10087484 -0.5607124 0.20197038 1.0504847 -0.07940182 1.483387 -0.44557992 …
# RUN: tilec run %s chosen --device interp --set x='*fp32' --set out='*fp32' --set bias='*fp32' --set x.size=100 --set out.size=100 --set bias.size=100 --set K=100 --set BLOCK_K=32 --grid 'triton.cdiv(K, BLOCK_K)'
# OUT:
#| out: f32[100] = -0.37781513 -0.74541926 0.5559131 -0.48837456 -0.35369074 -0.033402022 -0.021099031 0.7646724 …
# RUN: tilec run %s copy --device interp --set x='*fp32' --set y='*fp32' --set x.size=100 --set y.size=100 --set n=100 --grid 'cdiv(n, B)'
# OUT:
#| y: f32[100] = -0.08186538 0.05043742 -0.2803562 0.10098519 0.5252423 -0.03970091 0.7416935 -0.22278996 …
# RUN: tilec tune %s copy --device sim:sm_80 --all --quiet --table %t --seconds 5 --set x='*fp32' --set y='*fp32' --set x.size=100 --set y.size=100 --set n=100 --grid 'cdiv(n, B)'
# OUT:
