# Tensor descriptors that the host gives: arrays with a block.
import triton
import triton.language as tl


@triton.jit
def fill(x_ptr, N: tl.constexpr):
    i = tl.arange(0, 64)
    tl.store(x_ptr + i, i, mask=i < N)


@triton.jit
def shift(x, y):
    i = tl.program_id(0) * 16
    y.store([i + 1], x.load([i]) * 2)


# RUN: tilec run %s fill --device interp --quiet --set x_ptr='*fp32' --set x_ptr.size=40 --set N=40 --grid 1 --out x_ptr=x.npy; tilec run %s shift --device sim:sm_80 --check --in x=x.npy --in y=x.npy --set x='tensordesc<fp32[16]>' --set y='tensordesc<strided fp32[16]>' --grid 'triton.cdiv(x.shape[0], 16)'; rm x.npy
# OUT:
#| check x: 40 elements agree, worst at 0 of the bound
#| check y: 40 elements agree, worst at 0 of the bound
#| check with signed zeros, subnormals, infinities and NaN: left out, no floats are random
#| y: f32[40] = 0.0 0.0 2.0 4.0 6.0 8.0 10.0 12.0 …
# RUN: tilec run %s shift --device interp --set x='tensordesc<fp32[16]>' --set y='tensordesc<fp32[16]>' --grid 3
# OUT:
#| tilec: error: tensor descriptor 'x' needs an array: --in x=F.npy [usage]
#| help: see tilec run --help
# EXIT: 2
# RUN: tilec run %s fill --device interp --quiet --set x_ptr='*fp32' --set x_ptr.size=40 --set N=40 --grid 1 --out x_ptr=x.npy; tilec run %s shift --device interp --in x=x.npy --in y=x.npy --set x='tensordesc<fp32[4, 4]>' --set y='tensordesc<fp32[16]>' --grid 3; rm x.npy
# OUT:
#| descriptors.py:15:29: error: expected 2 values, one for each dimension, found 1 [shape]
#|         y.store([i + 1], x.load([i]) * 2)
#|                                 ^~~
# RUN: tilec emit %s shift --target sm_80 --as tile-ir --set x='tensordesc<fp32[16]>' --set y='tensordesc<strided fp16[2 * 8]>' | head -n 1
# OUT:
#| kernel @shift(%x: view f32[x_0], %y: strided view f16[y_0]) {math = [contract, approx, wrap], bind = [x = f32, y = f16]} {
# RUN: tilec build %s -o d.a --target sm_80 --header d.h --name desc --quiet --kernels shift --grid 'triton.cdiv(x.shape[0], 16)' --specialize 'shift x=tensordesc<fp32[16]> y=tensordesc<strided fp32[2 * 8]>' && grep -B6 -A1 'shift(' d.h; rm -f d.a d.h
# OUT:
#| static inline tilec_status desc_load(tilec_device *device, tilec_library **library) {
#|     return tilec_library_load(device, &desc_archive, DESC_INTERFACE, library);
#| }
#|
#| //   x: f32[x_0], read
#| //   y: f32[y_0], strided, written
#| tilec_status shift(tilec_stream *stream, tilec_view x, tilec_view y);
#|
