#!/usr/bin/env python3
"""The speed of PyTorch and Triton on this GPU for the work of bench_gpu: peers.py OUT.json

Same extents; the best of five samples; kernels are timed by the wall clock around a wait. A row that
cannot be measured gives the reason.
"""
import json
import sys
import time

import torch

ROWS = []


def best(work):
    work()
    torch.cuda.synchronize()
    times, seconds = 1, 0.0
    while seconds < 0.05 and times < 1 << 20:
        times *= 2
        begin = time.perf_counter()
        for _ in range(times):
            work()
        torch.cuda.synchronize()
        seconds = time.perf_counter() - begin
    least = seconds / times
    for _ in range(4):
        begin = time.perf_counter()
        for _ in range(times):
            work()
        torch.cuda.synchronize()
        least = min(least, (time.perf_counter() - begin) / times)
    return least


def row(name, make, bytes_moved=0.0, flops=0.0):
    try:
        seconds = best(make())
    except Exception as error:  # whatever is missing: the row says it
        ROWS.append({"name": name, "notMeasured": f"{type(error).__name__}: {error}"[:200]})
        print(f"{name:<22} not measured: {error}")
        return
    found = {"name": name, "seconds": seconds}
    text = f"{name:<22} {seconds * 1e6:12.3f} us"
    if bytes_moved:
        found["bytesPerSecond"] = bytes_moved / seconds
        text += f" {bytes_moved / seconds * 1e-9:10.2f} GB/s"
    if flops:
        found["flopsPerSecond"] = flops / seconds
        text += f" {flops / seconds * 1e-12:10.3f} TFLOP/s"
    ROWS.append(found)
    print(text)


def tensor(*shape, dtype=torch.float16):
    return torch.rand(*shape, device="cuda").to(dtype) * 0.25


def torch_add():
    x, y = (tensor(64 << 20, dtype=torch.float32) for _ in range(2))
    z = torch.empty_like(x)
    return lambda: torch.add(x, y, out=z)


def torch_softmax():
    x = tensor(16384, 4096, dtype=torch.float32)
    return lambda: torch.softmax(x, 1)


def torch_matmul():
    a, b = tensor(4096, 4096), tensor(4096, 4096)
    c = torch.empty_like(a)
    return lambda: torch.matmul(a, b, out=c)


def torch_attention():
    q, k, v = (tensor(4, 16, 2048, 64) for _ in range(3))
    return lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v)


def triton_add():
    import triton

    from triton_kernels import add_kernel

    n = 64 << 20
    x, y = (tensor(n, dtype=torch.float32) for _ in range(2))
    z = torch.empty_like(x)
    return lambda: add_kernel[(triton.cdiv(n, 1024),)](x, y, z, n, BLOCK=1024)


def triton_matmul():
    import triton

    from triton_kernels import matmul_kernel

    a, b = tensor(4096, 4096), tensor(4096, 4096)
    c = torch.empty_like(a)
    grid = (triton.cdiv(4096, 128), triton.cdiv(4096, 128))
    return lambda: matmul_kernel[grid](
        a, b, c, 4096, 4096, 4096, BM=128, BN=128, BK=32, num_warps=4, num_stages=3
    )


def main():
    words = 4.0 * 4096 * 16384
    row("torch add f32", torch_add, bytes_moved=12.0 * (64 << 20))
    row("torch softmax f32", torch_softmax, bytes_moved=2 * words)
    row("torch matmul f16", torch_matmul, flops=2.0 * 4096**3)
    row("torch attention f16", torch_attention, flops=4.0 * 4 * 16 * 2048 * 2048 * 64)
    row("triton add f32", triton_add, bytes_moved=12.0 * (64 << 20))
    row("triton matmul f16", triton_matmul, flops=2.0 * 4096**3)
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        json.dump(ROWS, out, indent=1)


main()
