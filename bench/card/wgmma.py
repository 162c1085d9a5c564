#!/usr/bin/env python3
"""Prints wgmma.cuh for rates.cu: a function of inline PTX for each shape of wgmma."""


def function(name, columns, shape, types, a_in_registers, tail):
    count = columns // 2
    accumulators = ", ".join(f"%{i}" for i in range(count))
    outputs = ", ".join(f'"+f"(d[{i}])' for i in range(count))
    if a_in_registers:
        a = "{" + ", ".join(f"%{count + i}" for i in range(4)) + "}"
        b = f"%{count + 4}"
        inputs = ", ".join(f'"r"(a[{i}])' for i in range(4)) + ', "l"(b)'
        parameters = "const unsigned (&a)[4], unsigned long long b"
    else:
        a, b = f"%{count}", f"%{count + 1}"
        inputs = '"l"(a), "l"(b)'
        parameters = "unsigned long long a, unsigned long long b"
    print(f"__device__ __forceinline__ void {name}(float (&d)[{count}], {parameters}) {{")
    print(
        f'  asm volatile("wgmma.mma_async.sync.aligned.{shape}.{types} '
        f'{{{accumulators}}}, {a}, {b}, 1, 1, 1{tail};" : {outputs} : {inputs});'
    )
    print("}")


for n in (64, 128, 192, 256):
    function(f"wgmma_bf16_ss_{n}", n, f"m64n{n}k16", "f32.bf16.bf16", False, ", 0, 0")
    function(f"wgmma_bf16_rs_{n}", n, f"m64n{n}k16", "f32.bf16.bf16", True, ", 0")
function("wgmma_e4m3_ss_256", 256, "m64n256k32", "f32.e4m3.e4m3", False, "")
function("wgmma_tf32_ss_256", 256, "m64n256k8", "f32.tf32.tf32", False, "")
