# The first kernel of every tutorial, with its host code.
import torch

import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr,  # *Pointer* to the first vector
               y_ptr, output_ptr, n_elements,
               BLOCK_SIZE: tl.constexpr):
    """Adds two vectors."""
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, x + y, mask=mask)


def add(x: torch.Tensor, y: torch.Tensor):
    output = torch.empty_like(x)
    n_elements = output.numel()
    grid = lambda meta: (triton.cdiv(n_elements, meta['BLOCK_SIZE']), )
    add_kernel[grid](x, y, output, n_elements, BLOCK_SIZE=1024)
    return output


# RUN: tilec check %s
# OUT:
# RUN: tilec emit %s --as tile-ir --set x_ptr='*fp16' --set y_ptr='*fp16' --set output_ptr='*fp16' --set BLOCK_SIZE=64
# OUT:
#| kernel @add_kernel(%x_ptr: *f16, %y_ptr: *f16, %output_ptr: *f16, %n_elements: i32) {math = [contract, approx, wrap], bind = [x_ptr = f16, y_ptr = f16, output_ptr = f16, n_elements = i32, BLOCK_SIZE = 64]} {
#|   body {
#|     %0 = program {dim = 0} : i64
#|     %1 = cast %0 : i32
#|     %2 = const {value = 64} : i32
#|     %3 = mul %1, %2 : i32
#|     %4 = iota : i32[64]
#|     %5 = broadcast %3 : i32[64]
#|     %6 = add %5, %4 : i32[64]
#|     %7 = broadcast %n_elements : i32[64]
#|     %8 = lt %6, %7 : bool[64]
#|     %9 = cast %6 : i64[64]
#|     %10 = broadcast %x_ptr : *f16[64]
#|     %11 = ptr_add %10, %9 : *f16[64]
#|     %12 = load %11, %8, _ : f16[64]
#|     %13 = broadcast %y_ptr : *f16[64]
#|     %14 = ptr_add %13, %9 : *f16[64]
#|     %15 = load %14, %8, _ : f16[64]
#|     %16 = broadcast %output_ptr : *f16[64]
#|     %17 = ptr_add %16, %9 : *f16[64]
#|     %18 = add %12, %15 : f16[64]
#|     store %17, %18, %8
#|     return
#|   }
#| }
# RUN: tilec run %s --device interp --set x_ptr='*fp32' --set y_ptr='*fp32' --set output_ptr='*fp32' --set x_ptr.size=100 --set y_ptr.size=100 --set output_ptr.size=100 --set n_elements=100 --set BLOCK_SIZE=64 --grid 'triton.cdiv(n_elements, BLOCK_SIZE)'
# OUT:
#| output_ptr: f32[100] = -0.37781513 -0.74541926 0.5559131 -0.48837456 -0.35369074 -0.033402022 -0.021099031 0.7646724 …
# RUN: tilec run %s --device sim:sm_80 --check --set x_ptr='*fp32' --set y_ptr='*fp32' --set output_ptr='*fp32' --set x_ptr.size=100 --set y_ptr.size=100 --set output_ptr.size=100 --set n_elements=100 --set BLOCK_SIZE=64 --grid "lambda META: (triton.cdiv(n_elements, META['BLOCK_SIZE']),)"
# OUT:
#| check x_ptr: 100 elements agree, worst at 0 of the bound
#| check y_ptr: 100 elements agree, worst at 0 of the bound
#| check output_ptr: 100 elements agree, worst at 1 of the bound
#| check with signed zeros, subnormals, infinities and NaN: all agree
#| output_ptr: f32[100] = -0.37781513 -0.74541926 0.5559131 -0.48837456 -0.35369074 -0.033402022 -0.021099031 0.7646724 …
# RUN: tilec build %s -o %t.a --header %t.h --name add --target x86-64-v3,sm_80,gfx942 --quiet --grid 'add_kernel=cdiv(n_elements, BLOCK_SIZE)' --specialize 'add_kernel x_ptr=*f32:16 y_ptr=*f32:16 output_ptr=*f32:16 n_elements=i32 BLOCK_SIZE=1024' && grep -B8 -A1 'add_kernel(' %t.h; rm -f %t.a %t.h
# OUT:
#| // Adds two vectors.
#| //   x_ptr: f32, read
#| //   y_ptr: f32, read
#| //   output_ptr: f32, written
#| // Requires: x_ptr % 16 == 0
#| // Requires: y_ptr % 16 == 0
#| // Requires: output_ptr % 16 == 0
#| // Consts of x86-64-v3: BLOCK_SIZE = 1024
#| tilec_status add_kernel(tilec_stream *stream, const float *x_ptr, const float *y_ptr,
#|     float *output_ptr, int32_t n_elements);
# RUN: tilec build %s -o %t.a --header %t.h --name add --target sm_80 --quiet --specialize 'add_kernel x_ptr=*f32:16 y_ptr=*f32:16 output_ptr=*f32:16 n_elements=i32:16 BLOCK_SIZE=1024' --specialize 'add_kernel x_ptr=*f32 y_ptr=*f32 output_ptr=*f32 n_elements=i64 BLOCK_SIZE=1024' && grep -B8 -A1 'add_kernel(' %t.h; rm -f %t.a %t.h
# OUT:
#| //   x_ptr: f32, read
#| //   y_ptr: f32, read
#| //   output_ptr: f32, written
#| // Consts of sm_80: BLOCK_SIZE = 1024
#| // This is the first of 2; a launch takes the first that fits, or the one that a tune table names:
#| //   x_ptr = *f32:16, y_ptr = *f32:16, output_ptr = *f32:16, n_elements = i32:16, BLOCK_SIZE = 1024
#| //   x_ptr = *f32, y_ptr = *f32, output_ptr = *f32, n_elements = i64, BLOCK_SIZE = 1024
#| // The caller gives the grid.
#| tilec_status add_kernel(tilec_stream *stream, const float *x_ptr, const float *y_ptr,
#|     float *output_ptr, int64_t n_elements, int64_t grid_x, int64_t grid_y, int64_t grid_z);
# RUN: tilec build %s -o %t.a --target sm_80 --specialize 'add_kernel x_ptr=*f32:16 y_ptr=*f32 output_ptr=*f32 BLOCK_SIZE=1024' --specialize 'add_kernel x_ptr=*f32 y_ptr=*f32 output_ptr=*f32 BLOCK_SIZE=512'
# OUT:
#| tilec: error: kernel 'add_kernel' has alternatives of different constexprs, and no grid [usage]
#| help: --grid 'add_kernel=cdiv(n, BLOCK)' computes it for each; or make them several functions: --specialize 'NAME=add_kernel …'
# EXIT: 2
# RUN: tilec build %s -o %t.a --target sm_80 --grid 'ad_kernel=cdiv(n_elements, BLOCK_SIZE)' --specialize 'add_kernel x_ptr=*f32 y_ptr=*f32 output_ptr=*f32 BLOCK_SIZE=512'
# OUT:
#| tilec: error: --grid: no kernel is named 'ad_kernel'; did you mean 'add_kernel'? [usage]
#| help: there are: add_kernel
# EXIT: 2
# RUN: tilec build %s -o %t.a --target sm_80 --grid 'cdiv(n_elements, BLOCK_SIZE)' --specialize 'add_kernel x_ptr=*f32 y_ptr=*f32 output_ptr=*f32 n_elements=i32 BLOCK_SIZE=512' --specialize 'add_kernel x_ptr=*f32 y_ptr=*f32 output_ptr=*f32 n_elements=f32 BLOCK_SIZE=512'
# OUT:
#| error: invalid operands of types fp32 and 512: '//' takes integers [type]
#| note: building add_kernel for sm_80
#| help: tl.floor(x / y) divides floats and rounds down
# EXIT: 1
# RUN: tilec build %s -o %t.a --target x86-64-v3 --grid 'cdiv(n_elements, BLOCK_SIZE)' --set BLOCK_SIZE=1024
# OUT:
#| tilec: error: kernel 'add_kernel': the type of the pointer 'x_ptr' is not known [usage]
#| help: --specialize 'add_kernel x_ptr=*fp32'
# EXIT: 2
