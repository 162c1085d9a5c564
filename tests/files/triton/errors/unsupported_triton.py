# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl

from triton.experimental import gluon
from triton.experimental.gluon import language as gl
import triton.experimental.tle as tle
from triton.language.extra import libdevice
import numpy as np


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    #! error: inline assembly: 'bar.sync' is not supported [unsupported] @35
    a = tl.inline_asm_elementwise("bar.sync 0;", "=r,r", [i], dtype=tl.int32, is_pure=True, pack=1)
    #! error: a kernel cannot use 'triton.experimental.gluon.language.load' [unsupported] @9
    b = gl.load(x_ptr)
    c = gluon.jit
    #! error: a kernel cannot use 'triton.experimental.tle.load' [unsupported] @9
    d = tle.load(x_ptr)
    #! error: tl.clock is not supported [unsupported] @9
    e = tl.clock()
    #! error: tl.extra.libdevice.tanhh is not supported [unsupported] @9
    f = libdevice.tanhh(1.0)
    #! error: a kernel cannot use 'numpy.sum' [unsupported] @9
    g = np.sum(i)
    #! error: tl.extra.cuda.globaltimer is not supported [unsupported] @9
    h = tl.extra.cuda.globaltimer()
    #! error: tl.map_elementwise is not supported [unsupported] @9
    j = tl.map_elementwise(i)
    k = triton.autotune
    #! error: a kernel cannot use 'triton.testing.do_bench' [unsupported] @9
    l = triton.testing.do_bench(i)
    #! error: tl.float8e4b15 is not supported [unsupported] @9
    m = tl.float8e4b15
