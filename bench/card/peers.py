#!/usr/bin/env python3
"""The speed of PyTorch and Triton on this card: peers.py OUT.json SECONDS [PART...]

Each part runs in a forked process with a limit. Operands are random numbers of normal distribution.
A row is the median of 20 runs between events, after 5 others. The peers of bench_gpu with its own
extents are in scripts/bundle/peers.py.
"""

import json
import math
import os
import sys
import time

from ring import isolated, timed, wait_for

SIZES = [(8192, 8192, 8192), (4096, 4096, 4096), (2048, 2048, 2048), (8192, 8192, 512)]
ATTENTION = [(4, 16, 2048, 64), (4, 16, 2048, 128), (4, 16, 4096, 128)]
LINES = None


def note(name, **row):
    row = {"name": name, **row}
    with open(LINES, "a", encoding="utf-8") as f:
        f.write(json.dumps(row) + "\n")
    text = f"  {name:<58}"
    if "seconds" in row:
        text += f" {row['seconds'] * 1e6:10.1f} us"
    if "tflops" in row:
        text += f" {row['tflops']:7.1f} TFLOP/s"
    if "gbs" in row:
        text += f" {row['gbs']:7.0f} GB/s"
    if "error" in row:
        text += f" error {row['error']:.1e}{'' if row['error'] < 2e-2 else ' WRONG'}"
    if "notMeasured" in row:
        text += " " + row["notMeasured"][:160]
    print(text, flush=True)


def measure(name, make, flops=0.0, bytes_moved=0.0, **more):
    """make() gives the work, or (work, check); check() gives the relative error."""
    import torch

    try:
        work = make()
        check = None
        if isinstance(work, tuple):
            work, check = work
        start = time.perf_counter()
        work()
        done = torch.cuda.Event()
        done.record()
        wait_for(done, 6, name)
        more["first"] = round(time.perf_counter() - start, 3)
        if check:
            more["error"] = float(check())
        median, mean = timed(torch, work)
        more.update(seconds=median, mean=mean)
        if flops:
            more["tflops"] = flops / median * 1e-12
        if bytes_moved:
            more["gbs"] = bytes_moved / median * 1e-9
    except Exception as error:
        more["notMeasured"] = f"{type(error).__name__}: {error}"[:1000]
    note(name, **more)


def relative(got, want):
    return ((got.float() - want).norm() / want.norm()).item()


def begin():
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.cuda.init()
    torch.manual_seed(int(time.time()))
    return torch


# ---- parts
def cublas():
    torch = begin()
    for dtype in (torch.bfloat16, torch.float16):
        for m, n, k in SIZES:
            for nk in (True, False):
                if not nk and (dtype is torch.float16 or k == 512):
                    continue
                a = torch.randn(m, k, device="cuda", dtype=dtype)
                b = (
                    torch.randn(n, k, device="cuda", dtype=dtype).t()
                    if nk
                    else torch.randn(k, n, device="cuda", dtype=dtype)
                )
                c = torch.empty(m, n, device="cuda", dtype=dtype)
                measure(
                    f"cublas {str(dtype)[6:]} {m}x{n}x{k} B {'nk' if nk else 'kn'}",
                    lambda: (lambda: torch.matmul(a, b, out=c)),
                    2.0 * m * n * k,
                )


def cublas_other():
    torch = begin()
    n = 4096
    for tf32 in (False, True):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        a, b = (torch.randn(n, n, device="cuda") for _ in range(2))
        measure(
            f"cublas {'tf32' if tf32 else 'f32'} {n}",
            lambda: (lambda: torch.matmul(a, b)),
            2.0 * n**3,
        )
    torch.backends.cuda.matmul.allow_tf32 = False
    one = torch.ones((), device="cuda")
    for n in (4096, 8192):
        a = torch.randn(n, n, device="cuda").to(torch.float8_e4m3fn)
        b = torch.randn(n, n, device="cuda").to(torch.float8_e4m3fn)
        for fast in (True, False):

            def make():
                def work():
                    return torch._scaled_mm(
                        a,
                        b.t(),
                        scale_a=one,
                        scale_b=one,
                        out_dtype=torch.bfloat16,
                        use_fast_accum=fast,
                    )

                return work

            measure(f"scaled_mm e4m3 {n} fast {fast}", make, 2.0 * n**3)

        def unscaled():
            ah, bh = a.to(torch.float16), b.to(torch.float16)
            return lambda: torch.matmul(ah, bh.t())

        measure(f"cublas f16 {n} of the same values", unscaled, 2.0 * n**3)
    n = 4096
    try:
        ai = torch.randint(-100, 100, (n, n), device="cuda", dtype=torch.int8)
        bi = torch.randint(-100, 100, (n, n), device="cuda", dtype=torch.int8)
        measure(f"int_mm s8 {n}", lambda: (lambda: torch._int_mm(ai, bi.t())), 2.0 * n**3)
    except Exception as error:
        note("int_mm s8", notMeasured=str(error)[:300])


def triton_matmul_pointers():
    torch = begin()
    import triton
    import peer_kernels

    for m, n, k in SIZES:
        for nk in (True, False):
            for bm, bn, bk, warps, stages in (
                (128, 256, 64, 8, 3),
                (128, 256, 64, 8, 4),
                (128, 128, 64, 8, 4),
                (128, 128, 64, 4, 4),
                (128, 128, 64, 8, 3),
            ):
                if not nk and (stages != 3 or k == 512):
                    continue

                def make():
                    a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
                    b = (
                        torch.randn(n, k, device="cuda", dtype=torch.bfloat16).t()
                        if nk
                        else torch.randn(k, n, device="cuda", dtype=torch.bfloat16)
                    )
                    c = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
                    grid = (triton.cdiv(m, bm) * triton.cdiv(n, bn),)
                    return (
                        lambda: peer_kernels.matmul[grid](
                            a,
                            b,
                            c,
                            m,
                            n,
                            k,
                            a.stride(0),
                            a.stride(1),
                            b.stride(0),
                            b.stride(1),
                            c.stride(0),
                            c.stride(1),
                            BM=bm,
                            BN=bn,
                            BK=bk,
                            G=8,
                            num_warps=warps,
                            num_stages=stages,
                        ),
                        lambda: relative(c, a.float() @ b.float()),
                    )

                measure(
                    f"triton matmul pointers {m}x{n}x{k} {'nk' if nk else 'kn'} "
                    f"{bm}x{bn}x{bk} w{warps} s{stages}",
                    make,
                    2.0 * m * n * k,
                )


def triton_matmul_descriptors():
    descriptors(
        (
            (128, 256, 64, 8, 4, True, True, 0),
            (128, 256, 64, 8, 3, False, True, 0),
            (128, 256, 64, 8, 3, True, True, 0),
            (128, 256, 64, 8, 4, True, False, 0),
            (128, 128, 64, 8, 4, False, True, 0),
            (128, 128, 64, 4, 4, False, True, 0),
        )
    )


def triton_matmul_persistent():
    descriptors(
        (
            (128, 256, 64, 8, 3, True, True, 1),
            (128, 256, 64, 8, 3, True, True, 2),
            (128, 128, 64, 8, 4, True, True, 2),
        )
    )


def descriptors(configurations):
    torch = begin()
    import triton
    from triton.tools.tensor_descriptor import TensorDescriptor
    import peer_kernels

    count = torch.cuda.get_device_properties(0).multi_processor_count
    for m, n, k in SIZES:
        for bm, bn, bk, warps, stages, sub, nk, persistent in configurations:

            def make():
                a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
                b = torch.randn(*((n, k) if nk else (k, n)), device="cuda", dtype=torch.bfloat16)
                c = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
                da = TensorDescriptor.from_tensor(a, [bm, bk])
                db = TensorDescriptor.from_tensor(b, [bn, bk] if nk else [bk, bn])
                dc = TensorDescriptor.from_tensor(c, [bm, bn // 2 if sub else bn])
                tiles = triton.cdiv(m, bm) * triton.cdiv(n, bn)
                if persistent:

                    def work():
                        peer_kernels.matmul_desc_persistent[(min(count, tiles),)](
                            da,
                            db,
                            dc,
                            m,
                            n,
                            k,
                            BM=bm,
                            BN=bn,
                            BK=bk,
                            G=8,
                            SUB=sub,
                            NK=nk,
                            FLAT=persistent == 2,
                            num_warps=warps,
                            num_stages=stages,
                        )

                else:

                    def work():
                        peer_kernels.matmul_desc[(tiles,)](
                            da,
                            db,
                            dc,
                            m,
                            n,
                            k,
                            BM=bm,
                            BN=bn,
                            BK=bk,
                            G=8,
                            SUB=sub,
                            NK=nk,
                            num_warps=warps,
                            num_stages=stages,
                        )

                return work, lambda: relative(c, a.float() @ (b.float().t() if nk else b.float()))

            kind = ("", " persistent", " persistent flat")[persistent]
            measure(
                f"triton matmul descriptors {m}x{n}x{k} {'nk' if nk else 'kn'} "
                f"{bm}x{bn}x{bk} w{warps} s{stages}{' sub' if sub else ''}{kind}",
                make,
                2.0 * m * n * k,
            )


def reference_attention(torch, q, k, v, causal):
    """One head, in f32."""
    s = (q[0, 0].float() @ k[0, 0].float().t()) / math.sqrt(q.shape[-1])
    if causal:
        s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(1), float("-inf"))
    return torch.softmax(s, 1) @ v[0, 0].float()


def torch_attention():
    torch = begin()
    from torch.nn.attention import SDPBackend, sdpa_kernel

    for backend, label in (
        (SDPBackend.FLASH_ATTENTION, "flash"),
        (SDPBackend.CUDNN_ATTENTION, "cudnn"),
    ):
        for shape in ATTENTION:
            for causal in (False, True):

                def make():
                    q, k, v = (
                        torch.randn(*shape, device="cuda", dtype=torch.float16) for _ in range(3)
                    )
                    out = [None]

                    def work():
                        with sdpa_kernel([backend]):
                            out[0] = torch.nn.functional.scaled_dot_product_attention(
                                q, k, v, is_causal=causal
                            )

                    return work, lambda: relative(
                        out[0][0, 0], reference_attention(torch, q, k, v, causal)
                    )

                b, h, s, d = shape
                measure(
                    f"sdpa {label} {shape}{' causal' if causal else ''}",
                    make,
                    4.0 * b * h * s * s * d / (2 if causal else 1),
                )


def triton_attention():
    torch = begin()
    from triton.tools.tensor_descriptor import TensorDescriptor
    import peer_kernels

    for desc in (True, False):
        for shape in ATTENTION:
            for causal in (False, True):
                b, h, s, d = shape
                configurations = (
                    [(128, 64, 4, 3), (128, 128, 8, 2), (128, 64, 8, 3)]
                    if d == 64
                    else [(128, 128, 8, 2), (128, 64, 8, 3), (128, 64, 4, 3)]
                )
                if not desc or s == 4096:
                    configurations = configurations[:2]
                for bm, bn, warps, stages in configurations:

                    def make():
                        q, k, v = (
                            torch.randn(*shape, device="cuda", dtype=torch.float16)
                            for _ in range(3)
                        )
                        o = torch.full_like(q, float("nan"))
                        given = [q, k, v, o]
                        if desc:
                            flat = [x.view(-1, d) for x in given]
                            given = [
                                TensorDescriptor.from_tensor(x, [rows, d])
                                for x, rows in zip(flat, (bm, bn, bn, bm))
                            ]
                        scale = math.log2(math.e) / math.sqrt(d)

                        def work():
                            peer_kernels.attention[(s // bm, b * h)](
                                *given,
                                scale,
                                s,
                                BM=bm,
                                BN=bn,
                                D=d,
                                CAUSAL=causal,
                                DESC=desc,
                                num_warps=warps,
                                num_stages=stages,
                            )

                        return work, lambda: relative(
                            o[0, 0], reference_attention(torch, q, k, v, causal)
                        )

                    measure(
                        f"triton attention {'descriptors' if desc else 'pointers'} {shape}"
                        f"{' causal' if causal else ''} {bm}x{bn} w{warps} s{stages}",
                        make,
                        4.0 * b * h * s * s * d / (2 if causal else 1),
                    )


def memory():
    torch = begin()
    import triton
    import peer_kernels

    def copy():
        x = torch.randint(0, 1 << 30, (1 << 28,), device="cuda", dtype=torch.int64)
        y = torch.empty_like(x)
        return lambda: y.copy_(x)

    measure("torch copy 2 GiB (read + written)", copy, bytes_moved=2.0 * (2 << 30))
    n = 64 << 20
    x, y = (torch.randn(n, device="cuda") for _ in range(2))
    z = torch.empty_like(x)
    measure("torch add f32 64M", lambda: (lambda: torch.add(x, y, out=z)), bytes_moved=12.0 * n)
    for block, warps in ((1024, 4), (2048, 4), (4096, 8), (1024, 8)):

        def add():
            z.fill_(float("nan"))
            return lambda: peer_kernels.vadd[(triton.cdiv(n, block),)](
                x, y, z, n, B=block, num_warps=warps
            ), lambda: relative(z, x + y)

        measure(f"triton add f32 64M {block} w{warps}", add, bytes_moved=12.0 * n)
    del x, y, z
    r, c = 16384, 4096
    xs = torch.randn(r, c, device="cuda")
    measure(
        "torch softmax f32 16384x4096",
        lambda: (lambda: torch.softmax(xs, 1)),
        bytes_moved=8.0 * r * c,
    )
    for warps in (4, 8, 16):

        def soft():
            ys = torch.full_like(xs, float("nan"))
            return lambda: peer_kernels.softmax[(r,)](
                xs, ys, c, c, c, W=4096, num_warps=warps
            ), lambda: relative(ys, torch.softmax(xs, 1))

        measure(f"triton softmax f32 16384x4096 w{warps}", soft, bytes_moved=8.0 * r * c)
    n = 8192
    xl = torch.randn(n, n, device="cuda", dtype=torch.float16)
    w, b = (torch.randn(n, device="cuda", dtype=torch.float16) for _ in range(2))
    measure(
        "torch layernorm f16 8192x8192",
        lambda: (lambda: torch.nn.functional.layer_norm(xl, (n,), w, b)),
        bytes_moved=4.0 * n * n,
    )
    for warps in (4, 8, 16):

        def norm():
            yl = torch.full_like(xl, float("nan"))
            return (
                lambda: peer_kernels.layernorm[(n,)](
                    xl, yl, w, b, n, n, 1e-5, BLOCK=8192, num_warps=warps
                ),
                lambda: relative(
                    yl, torch.nn.functional.layer_norm(xl.float(), (n,), w.float(), b.float())
                ),
            )

        measure(f"triton layernorm f16 8192x8192 w{warps}", norm, bytes_moved=4.0 * n * n)
    measure(
        "torch fill f32 1 GiB",
        lambda: (lambda t=torch.empty(1 << 28, device="cuda"): t.fill_(1.5)),
        bytes_moved=1.0 * (1 << 30),
    )
    big = torch.randn(1 << 28, device="cuda")
    measure("torch sum f32 1 GiB", lambda: (lambda: big.sum()), bytes_moved=1.0 * (1 << 30))


PARTS = [  # name, work, limit in seconds
    ("cublas", cublas, 30),
    ("triton_matmul_descriptors", triton_matmul_descriptors, 60),
    ("torch_attention", torch_attention, 30),
    ("triton_attention", triton_attention, 60),
    ("memory", memory, 40),
    ("cublas_other", cublas_other, 30),
    ("triton_matmul_pointers", triton_matmul_pointers, 60),
    ("triton_matmul_persistent", triton_matmul_persistent, 40),
]


def main():
    global LINES
    start = time.monotonic()
    import torch

    try:
        import triton
        import triton.tools.tensor_descriptor  # noqa: F401

        version = triton.__version__
    except Exception as error:
        version = f"none: {error}"
    out, budget = sys.argv[1], float(sys.argv[2])
    only = sys.argv[3:]
    LINES = out + ".lines"
    if os.path.exists(LINES):
        os.remove(LINES)
    print(
        f"peers: torch {torch.__version__}, triton {version}, "
        f"{time.monotonic() - start:.1f} of {budget:.0f} s gone",
        flush=True,
    )
    ends = []

    def save():
        rows = []
        if os.path.exists(LINES):
            with open(LINES, encoding="utf-8") as f:
                for line in f:
                    try:
                        rows.append(json.loads(line))
                    except ValueError:
                        pass
        with open(out + ".new", "w", encoding="utf-8") as f:
            json.dump({"rows": rows, "parts": ends}, f, indent=0)
        os.replace(out + ".new", out)

    for name, work, limit in PARTS:
        if only and name not in only:
            continue
        left = budget - (time.monotonic() - start)
        if left < 5:
            print(f"peers: budget spent before {name}", flush=True)
            break
        at = time.monotonic()
        how = isolated(work, min(limit, left))
        ends.append({"part": name, "end": how, "took": round(time.monotonic() - at, 2)})
        print(f"  {name}: {how}, {time.monotonic() - at:.1f} s", flush=True)
        save()
    save()
    if os.path.exists(LINES):
        os.remove(LINES)


if __name__ == "__main__":
    main()
