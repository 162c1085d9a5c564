import torch

import triton
import triton.language as tl

from .utils import gelu_tanh, silu
from . import utils


@triton.jit
def swiglu_fwd(gate_ptr, up_ptr, out_ptr, stride, n_cols: tl.constexpr, BLOCK: tl.constexpr,
               ACT: tl.constexpr = "silu"):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    at = utils.offsets_2d(row, stride, cols)
    gate = tl.load(gate_ptr + at, mask=mask, other=0).to(tl.float32)
    up = tl.load(up_ptr + at, mask=mask, other=0)
    if ACT == "silu":
        act = silu(gate)
    elif ACT == "gelu":
        act = gelu_tanh(gate)
    else:
        tl.static_assert(False, "unknown activation")
    tl.store(out_ptr + at, act.cast(up.dtype) * up, mask=mask)


class SwiGLU(torch.autograd.Function):

    @staticmethod
    def forward(ctx, gate, up):
        n_cols = gate.shape[-1]
        out = torch.empty_like(gate)
        swiglu_fwd[(gate.shape[0],)](gate, up, out, out.stride(-2), n_cols=n_cols,
                                     BLOCK=triton.next_power_of_2(n_cols))
        return out
