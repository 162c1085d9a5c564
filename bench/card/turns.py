#!/usr/bin/env python3
"""Kernels of examples/ and the same work by PyTorch, in turns, on the same data, in one process:

    turns.py OUT.json SECONDS [NAME...]    the cases, or those whose names begin so
    turns.py --list                        their names

A card's clock falls while it multiplies (power), so times of two programs compare only if they are
taken in turns. A turn of a contestant is about 15 ms of its launches, without pauses between turns.
A row has the median over the turns, and the error against PyTorch. Runs in the folder of a bundle
(scripts/gpu-bundle.sh); operands are random numbers of normal distribution.
"""

import ctypes as C
import json
import math
import os
import re
import sys
import time

TURN, LEAST = 0.015, 5  # seconds, turns
F16, BF16, F32, F8 = 9, 10, 11, 13  # tilec_dtype


class View(C.Structure):
    _fields_ = [
        ("dtype", C.c_int),
        ("rank", C.c_int32),
        ("buffer", C.c_uint64),
        ("data", C.c_void_p),
        ("offset", C.c_int64),
        ("extent", C.c_int64 * 5),
        ("stride", C.c_int64 * 5),
        ("flags", C.c_uint32),
    ]


class Arg(C.Structure):
    _fields_ = [
        ("kind", C.c_int),
        ("view", View),
        ("pointer", C.c_void_p),
        ("buffer", C.c_uint64),
        ("offset", C.c_size_t),
        ("integer", C.c_int64),
        ("natural", C.c_uint64),
        ("real", C.c_double),
    ]


class Entry(C.Structure):
    _fields_ = [
        ("kind", C.c_int),
        ("name", C.c_char_p),
        ("dtype", C.c_int),
        ("value", C.c_int64),
    ]


class Spec(C.Structure):
    _fields_ = [("count", C.c_size_t), ("entries", C.POINTER(Entry))]


OPTIONS = ("warps", "stages", "ctas", "producers")


class Tilec:
    """The library, on cuda:0 and one stream of PyTorch's."""

    def __init__(self, stream):
        self.lib = C.CDLL("lib/libtilec.so")
        self.lib.tilec_view_of.restype = View
        self.lib.tilec_view_of.argtypes = [C.c_int, C.c_void_p, C.c_int32, C.POINTER(C.c_int64)]
        self.lib.tilec_arg_view.restype = self.lib.tilec_arg_double.restype = Arg
        self.lib.tilec_arg_view.argtypes = [View]
        self.lib.tilec_arg_double.argtypes = [C.c_double]
        self.lib.tilec_last_error.restype = C.c_char_p
        self.context, self.device = C.c_void_p(), C.c_void_p()
        self.stream = C.c_void_p()
        self.ok(self.lib.tilec_context_create(None, C.byref(self.context)))
        self.ok(self.lib.tilec_device_open(self.context, b"cuda:0", C.byref(self.device)))
        native = C.c_void_p(stream.cuda_stream)
        self.ok(self.lib.tilec_stream_from_native(self.device, native, C.byref(self.stream)))

    def ok(self, status):
        if status:
            raise RuntimeError(self.lib.tilec_last_error(self.context).decode())

    def work(self, text, name, types, sets, args):
        """A function that launches the kernel, with fast math, on these tensors and numbers."""
        text = re.sub(r"\n    (requires|grid)", r"\n    math(contract, approx)\n    \1", text)
        text = re.sub(r"(math\(contract, approx\)\n    requires[^\n]*\n)    math.*\n", r"\1", text)
        entries = [Entry(0, k.encode(), v, 0) for k, v in types.items()]
        entries += [
            Entry(2 if k in OPTIONS else 1, k.encode(), 0, v) for k, v in sets.items()
        ]
        spec = Spec(len(entries), (Entry * len(entries))(*entries))
        kernel = C.c_void_p()
        made = self.lib.tilec_kernel_from_source(
            self.context,
            self.device,
            b"turns.tile",
            text.encode(),
            C.c_size_t(len(text.encode())),
            name.encode(),
            C.byref(spec),
            C.byref(kernel),
        )
        self.ok(made)
        list_ = (Arg * len(args))(*[self.arg(x) for x in args])
        count = C.c_size_t(len(args))
        launch, stream = self.lib.tilec_launch, self.stream
        self.ok(launch(kernel, stream, list_, count))
        return lambda: launch(kernel, stream, list_, count)

    def arg(self, x):
        if isinstance(x, float):
            return self.lib.tilec_arg_double(x)
        dtypes = {"float16": F16, "bfloat16": BF16, "float32": F32, "float8_e4m3fn": F8}
        extent = (C.c_int64 * x.dim())(*x.shape)
        view = self.lib.tilec_view_of(dtypes[str(x.dtype)[6:]], x.data_ptr(), x.dim(), extent)
        return self.lib.tilec_arg_view(view)


# ---- cases: name, operations, PyTorch's work and result, tilec's ----------------------------------


PRODUCERS = ({"producers": -1}, {"producers": 1}, {"producers": 4})


def product(torch, dtype, m, n, k, sets):
    a = torch.randn(m, k, device="cuda", dtype=dtype)
    b = torch.randn(k, n, device="cuda", dtype=dtype)
    want, got = (torch.empty(m, n, device="cuda", dtype=dtype) for _ in range(2))
    return {
        "flops": 2.0 * m * n * k,
        "peer": lambda: torch.matmul(a, b, out=want),
        "want": want,
        "got": got,
        "file": "matmul",
        "kernel": "matmul",
        "types": {"T": F16 if dtype is torch.float16 else BF16},
        "args": (a, b, got),
        "sets": sets,
    }


def batch(torch, count, n, sets):
    a, b = (torch.randn(count, n, n, device="cuda", dtype=torch.float16) for _ in range(2))
    want, got = (torch.empty_like(a) for _ in range(2))
    return {
        "flops": 2.0 * count * n**3,
        "peer": lambda: torch.bmm(a, b, out=want),
        "want": want,
        "got": got,
        "file": "batched_matmul",
        "kernel": "batched_matmul",
        "types": {"T": F16},
        "args": (a, b, got),
        "sets": sets,
    }


def fp8(torch, n, sets):
    a, b = (torch.randn(n, n, device="cuda").to(torch.float8_e4m3fn) for _ in range(2))
    one = torch.ones((), device="cuda")
    ones = torch.ones(n, device="cuda")
    got = torch.empty(n, n, device="cuda", dtype=torch.bfloat16)
    box = {}

    def peer():
        box["want"] = torch._scaled_mm(
            a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=True
        )

    return {
        "flops": 2.0 * n**3,
        "peer": peer,
        "want": lambda: box["want"],
        "got": got,
        "file": "fp8_matmul",
        "kernel": "fp8_linear",
        "types": {"A": F8, "B": F8, "C": BF16},
        "args": (a, b, ones, ones, got),
        "sets": sets,
    }


def attention(torch, batch_, heads, length, depth, causal, sets):
    q, k, v = (
        torch.randn(batch_, heads, length, depth, device="cuda", dtype=torch.float16)
        for _ in range(3)
    )
    got, box = torch.empty_like(q), {}
    ask = torch.nn.functional.scaled_dot_product_attention

    def peer():
        box["want"] = ask(q, k, v, is_causal=causal)

    flops = 4.0 * batch_ * heads * length * length * depth
    return {
        "flops": flops / 2 if causal else flops,
        "peer": peer,
        "want": lambda: box["want"],
        "got": got,
        "file": "attention",
        "kernel": "attention",
        "types": {"T": F16},
        "args": (q, k, v, got, 1.0 / math.sqrt(depth)),
        "sets": [{"BD": depth, "CAUSAL": int(causal), **s} for s in sets],
    }


def cases(torch):
    half, brain = torch.float16, torch.bfloat16
    tiles = ({"BN": 64}, {"BN": 128})
    both = [{**t, **p} for t in tiles for p in PRODUCERS]
    return {
        "f16-8192": lambda: product(torch, half, 8192, 8192, 8192, PRODUCERS),
        "f16-4096": lambda: product(torch, half, 4096, 4096, 4096, PRODUCERS),
        "f16-2048": lambda: product(torch, half, 2048, 2048, 2048, PRODUCERS),
        "f16-8192x8192x512": lambda: product(torch, half, 8192, 8192, 512, PRODUCERS),
        "bf16-8192": lambda: product(torch, brain, 8192, 8192, 8192, PRODUCERS),
        "bf16-4096": lambda: product(torch, brain, 4096, 4096, 4096, PRODUCERS),
        "batch-64x1024": lambda: batch(torch, 64, 1024, [{"BK": 64, **p} for p in PRODUCERS]),
        "fp8-4096": lambda: fp8(torch, 4096, PRODUCERS),
        "fp8-8192": lambda: fp8(torch, 8192, PRODUCERS),
        "attention-2048x64": lambda: attention(torch, 4, 16, 2048, 64, False, both),
        "attention-2048x128": lambda: attention(torch, 4, 16, 2048, 128, False, both),
        "attention-8192x128": lambda: attention(torch, 4, 16, 8192, 128, False, both),
        "attention-8192x128-causal": lambda: attention(torch, 4, 16, 8192, 128, True, both),
    }


# ---- turns ----------------------------------------------------------------------------------------


def median(x):
    return sorted(x)[len(x) // 2]


def in_turns(torch, works, end):
    """Seconds of one run of each work, by turn."""
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in works]
    counts, times = [], [[] for _ in works]
    for work in works:
        work()
        begin = torch.cuda.Event(enable_timing=True)
        done = torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(3):
            work()
        done.record()
        done.synchronize()
        counts.append(max(1, round(TURN / (begin.elapsed_time(done) / 3e3))))
    turn = 0
    while turn < LEAST or (time.monotonic() < end and turn < 40):
        for i in range(len(works)):
            k = (i + turn) % len(works)
            events[k][0].record()
            for _ in range(counts[k]):
                works[k]()
            events[k][1].record()
        torch.cuda.synchronize()
        for k, (begin, done) in enumerate(events):
            times[k].append(begin.elapsed_time(done) * 1e-3 / counts[k])
        turn += 1
    return times


def measure(torch, tilec, name, case, end):
    path = f"examples/{case['file']}.tile"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    works, names, errors = [case["peer"]], ["torch"], [0.0]
    case["peer"]()
    want = case["want"]
    want = (want() if callable(want) else want).float()
    for sets in case["sets"]:
        said = " ".join(f"{k}={v}" for k, v in sets.items())
        try:
            case["got"].fill_(float("nan"))
            torch.cuda.synchronize()
            work = tilec.work(text, case["kernel"], case["types"], sets, case["args"])
            torch.cuda.synchronize()
        except RuntimeError as error:
            print(f"{name:<26} {said}: {error}", flush=True)
            continue
        works.append(work)
        names.append(said)
        errors.append(((case["got"].float() - want).norm() / want.norm()).item())
    times = in_turns(torch, works, end)
    rows = []
    for said, error, each in zip(names, errors, times):
        seconds = median(each)
        ratio = median([a / b for a, b in zip(times[0], each)])
        rate = case["flops"] / seconds * 1e-12
        wrong = "" if error < 2e-2 else "  WRONG"
        rows.append(
            {"case": name, "sets": said, "seconds": seconds, "turns": len(each),
             "tflops": rate, "of torch": ratio, "error": error}
        )  # fmt: skip
        print(
            f"{name:<26} {said:<34} {seconds * 1e6:9.1f} us {rate:7.1f} TFLOP/s  {ratio:5.3f}"
            f"  error {error:.1e}{wrong}",
            flush=True,
        )
    return rows


def main():
    import torch

    if sys.argv[1] == "--list":
        print("\n".join(cases(torch)))
        return
    out, budget, only = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(int(time.time()))
    begin = time.monotonic()
    stream = torch.cuda.Stream()
    rows = []
    with torch.cuda.stream(stream):
        tilec = Tilec(stream)
        wanted = [(n, c) for n, c in cases(torch).items() if not only or n.startswith(tuple(only))]
        for i, (name, case) in enumerate(wanted):
            left = begin + budget - time.monotonic()
            if left < 2:
                print(f"{name:<26} not started", flush=True)
                continue
            end = time.monotonic() + left / (len(wanted) - i)
            rows += measure(torch, tilec, name, case(), end)
            with open(out, "w", encoding="utf-8") as file:
                json.dump(rows, file, indent=0)
    os._exit(0)  # PyTorch frees its memory before the device goes


main()
