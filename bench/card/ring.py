#!/usr/bin/env python3
"""Products of bf16 in hand-written PTX (TMA, a ring of mbarriers, wgmma), in many variants.

    ring.py OUT.json SECONDS [NAME...]    measures the variants, or those named; needs PyTorch
    ring.py --list                        the names of the variants
    ring.py --ptx NAME REST               the PTX of one; REST: steps along K after whole rounds
    ring.py --assemble [PTXAS]            assembles all of them: none may spill; needs no GPU

C[M, N] = A[M, K] B, sums in f32; A is [M, K], B is [N, K] ("k") or [K, N] ("mn"). A block has three
warpgroups: one copies, two multiply 64 rows each. Each variant runs in a forked process with a
limit of 25 seconds, next to cuBLAS; results are compared with a product in f32.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

BM, BK = 128, 64
# The options of a variant:
#   cl     blocks of a cluster; 2: each copies its half of B to both
#   wait   groups of wgmma in flight while the next stage is awaited
#   s      stages
#   order  of tiles: m down the columns, n along the rows, g8 in groups of 8 rows
#   b      k: B is [N, K]; mn: B is [K, N]
#   bn     columns of a tile
#   mx     setmaxnreg
#   eb     buffers of C
#   l2     promotion in the tensor maps: 2 is 128 bytes, 3 is 256
BASE = dict(cl=2, wait=1, s=4, order="g8", b="k", bn=256, mx=1, eb=2, l2=3)

# The letters before each option in the name of a variant.
LETTERS = (
    ("c", "cl"),
    ("w", "wait"),
    ("s", "s"),
    ("", "order"),
    ("", "b"),
    ("n", "bn"),
    ("mx", "mx"),
    ("eb", "eb"),
)


def variant(**changed):
    v = dict(BASE)
    v.update(changed)
    return v


VARIANTS = [
    variant(),
    variant(cl=1),
    variant(wait=0),
    variant(b="mn"),
    variant(order="m"),
    variant(order="n"),
    variant(order="g16"),
    variant(s=3),
    variant(bn=128),
    variant(mx=0),
    variant(cl=1, order="m"),
    variant(cl=1, order="n"),
    variant(cl=1, b="mn"),
    variant(cl=1, wait=0),
    variant(cl=1, s=3),
    variant(cl=1, bn=128),
    variant(bn=128, s=6),
    variant(eb=1),
    variant(cl=1, order="g16"),
    variant(cl=1, mx=0),
    variant(s=3, wait=0),
    variant(l2=2),
    variant(bn=128, b="mn"),
    variant(cl=1, bn=128, s=6),
    variant(bn=128, s=3),
    variant(bn=128, wait=0),
    variant(order="g4"),
    variant(cl=1, wait=0, s=3),
    variant(cl=1, bn=128, b="mn"),
    variant(bn=128, order="m"),
    variant(bn=128, order="n"),
    variant(wait=0, b="mn"),
    variant(cl=1, l2=2),
]
# M, N, K. The first is not timed: an odd number of tiles, and steps that are no multiple of the
# stages.
SIZES = [
    (1280, 768, 576),
    (8192, 8192, 8192),
    (4096, 4096, 4096),
    (2048, 2048, 2048),
    (8192, 8192, 512),
]


def name_of(v):
    parts = (f"{key}{v[word]}" for key, word in LETTERS)
    return "-".join((*parts, f"l{v['l2']}"))


def code_key(v, rest):
    """Everything on which the code depends."""
    return "".join(f"{key}{v[word]}" for key, word in LETTERS) + f"r{rest}"


def shared_bytes(v):
    return v["s"] * (BM * BK * 2 + v["bn"] * BK * 2) + 1024 + v["eb"] * 2 * 8192


def make_ptx(v, rest):
    """The kernel of a variant for K of `rest` steps more than a multiple of its stages."""
    S, CL, WAIT, MN, BN, EB = v["s"], v["cl"], v["wait"], v["b"] == "mn", v["bn"], v["eb"]
    NA, NB = BM * BK * 2, BN * BK * 2
    STAGE = NA + NB
    FULL = S * STAGE
    EMPTY = FULL + 8 * S
    EPI = FULL + 1024
    assert (
        16 * S <= 1024 and STAGE % 1024 == 0 and EPI % 1024 == 0 and CL in (1, 2) and 0 <= rest < S
    )
    lines = []

    def p(*more):
        lines.extend(more)

    p(
        f""".version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 sm[];
.visible .entry k(.param .align 64 .b8 pa[128], .param .align 64 .b8 pb[128],
                  .param .align 64 .b8 pc[128],
                  .param .u32 pRounds, .param .u32 pRows, .param .u32 pColumns, .param .u32 pTiles)
.reqntid 384
.minnctapersm 1
{f'.reqnctapercluster {CL}' if CL > 1 else ''}
{{
.reg .pred %p<64>; .reg .b32 %r<400>; .reg .b64 %d<40>; .reg .f32 %f<{BN // 2}>; .reg .b16 %h<4>;"""
    )
    p("mov.u32 %r0, sm;", "mov.u32 %r1, %tid.x;")
    p(
        "ld.param.u32 %r2, [pRounds];",
        "ld.param.u32 %r3, [pTiles];",
        "ld.param.u32 %r8, [pRows];",
        "ld.param.u32 %r9, [pColumns];",
    )
    for i, map_ in enumerate(("pa", "pb", "pc")):
        p(f"mov.b64 %d{i}, {map_};", f"cvta.param.u64 %d{i}, %d{i};")
    p("setp.ne.u32 %p0, %r1, 0;", "@%p0 bra INITD;")
    for s in range(S):
        p(
            f"mbarrier.init.shared.b64 [%r0+{FULL + 8 * s}], 1;",
            f"mbarrier.init.shared.b64 [%r0+{EMPTY + 8 * s}], {8 * CL};",
        )
    p("fence.mbarrier_init.release.cluster;")
    p("INITD:")
    if CL > 1:
        p(
            "barrier.cluster.arrive.aligned;",
            "barrier.cluster.wait.aligned;",
            "mov.u32 %r10, %cluster_ctarank;",
        )
    else:
        p("bar.sync 0;")
    p("mov.u32 %r5, %ctaid.x;", "mov.u32 %r26, %nctaid.x;")
    p(
        "shr.u32 %r6, %r1, 7;",
        "shfl.sync.idx.b32 %r6, %r6, 0, 31, -1;",
        "setp.eq.u32 %p1, %r6, 0;",
        "@!%p1 bra CONS;",
    )

    def place(tile, row, column):
        """The first row and column of a tile. With clusters of 2, pRows counts pairs of tiles."""
        p(f"shr.u32 %r100, {tile}, {CL - 1};")
        if v["order"] == "m":
            p("rem.u32 %r101, %r100, %r8;", "div.u32 %r102, %r100, %r8;")
        elif v["order"] == "n":
            p("div.u32 %r101, %r100, %r9;", "rem.u32 %r102, %r100, %r9;")
        else:
            g = max(1, int(v["order"][1:]) // CL)
            p(
                f"mul.lo.u32 %r103, %r9, {g};",
                "div.u32 %r104, %r100, %r103;",
                "rem.u32 %r105, %r100, %r103;",
                f"mul.lo.u32 %r104, %r104, {g};",
            )
            p(
                "sub.u32 %r106, %r8, %r104;",
                f"min.u32 %r106, %r106, {g};",
                "rem.u32 %r101, %r105, %r106;",
                "add.u32 %r101, %r101, %r104;",
                "div.u32 %r102, %r105, %r106;",
            )
        if CL > 1:
            p("shl.b32 %r101, %r101, 1;", "add.u32 %r101, %r101, %r10;")
        p(f"mul.lo.u32 {row}, %r101, {BM};", f"mul.lo.u32 {column}, %r102, {BN};")

    # The parities of the stages below `rest` flip once more in each tile than those of the others.
    def parity(low, high, s):
        return low if s < rest else high

    # ---- producer
    if v["mx"]:
        p("setmaxnreg.dec.sync.aligned.u32 40;")
    p("setp.ge.u32 %p2, %r1, 32;", "@%p2 bra END;", "elect.sync %r7|%p3, -1;", "@!%p3 bra END;")
    p("mov.u32 %r20, 1;", "mov.u32 %r27, 1;", "mov.u32 %r21, %r5;")
    if CL > 1:
        p("mov.u32 %r11, 3;", "cvt.u16.u32 %h0, %r11;")
    p("PT:", "setp.ge.u32 %p4, %r21, %r3;", "@%p4 bra END;")
    place("%r21", "%r22", "%r23")
    p("mov.u32 %r24, 0;", "mov.u32 %r25, 0;")
    copy = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"

    def fill(s, label):
        even_or_odd = parity("%r27", "%r20", s)
        p(
            f"{label}:",
            f"mbarrier.try_wait.parity.shared.b64 %p5, [%r0+{EMPTY + 8 * s}], {even_or_odd};",
            f"@!%p5 bra {label};",
        )
        p(f"mbarrier.arrive.expect_tx.shared.b64 _, [%r0+{FULL + 8 * s}], {STAGE};")
        p(
            f"add.u32 %r30, %r0, {s * STAGE};",
            f"add.u32 %r31, %r0, {FULL + 8 * s};",
            f"add.u32 %r32, %r0, {s * STAGE + NA};",
        )
        p(f"{copy} [%r30], [%d0, {{%r24, %r22}}], [%r31];")
        half = BN // CL
        multi, mask = (".multicast::cluster", ", %h0") if CL > 1 else ("", "")
        if CL > 1:  # each block copies its half of B to both
            p(f"mad.lo.u32 %r33, %r10, {NB // 2}, %r32;", f"mad.lo.u32 %r34, %r10, {half}, %r23;")
        else:
            p("mov.u32 %r33, %r32;", "mov.u32 %r34, %r23;")
        if MN:
            for j in range(half // 64):
                p(
                    f"add.u32 %r35, %r33, {j * 8192};",
                    f"add.u32 %r36, %r34, {64 * j};",
                    f"{copy}{multi} [%r35], [%d1, {{%r36, %r24}}], [%r31]{mask};",
                )
        else:
            p(f"{copy}{multi} [%r33], [%d1, {{%r24, %r34}}], [%r31]{mask};")
        p(f"add.u32 %r24, %r24, {BK};")

    p("PK:")
    for s in range(S):
        fill(s, f"PW{s}")
    p("xor.b32 %r20, %r20, 1;")
    if rest:
        p("xor.b32 %r27, %r27, 1;")
    p("add.u32 %r25, %r25, 1;", "setp.lt.u32 %p6, %r25, %r2;", "@%p6 bra PK;")
    for s in range(rest):
        fill(s, f"PR{s}")
    if rest:
        p("xor.b32 %r27, %r27, 1;")
    p("add.u32 %r21, %r21, %r26;", "bra PT;")

    # ---- consumers
    p("CONS:")
    if v["mx"]:
        p("setmaxnreg.inc.sync.aligned.u32 232;")
    p("mov.u32 %r40, 0;", "mov.u32 %r38, 0;", "mov.u32 %r41, %r5;", "sub.u32 %r42, %r6, 1;")
    p(
        "shl.b32 %r43, %r42, 13;",
        "add.u32 %r44, %r0, %r43;",
        "shr.u32 %r44, %r44, 4;",
        "and.b32 %r44, %r44, 0x3fff;",
    )
    p(f"add.u32 %r45, %r0, {NA};", "shr.u32 %r45, %r45, 4;", "and.b32 %r45, %r45, 0x3fff;")
    p("mov.u32 %r46, 0x40000040;", "mov.b64 %d10, {%r44, %r46};")
    if MN:
        p(f"or.b32 %r45, %r45, {(8192 >> 4) << 16};")
    p("mov.b64 %d11, {%r45, %r46};")
    p("and.b32 %r47, %r1, 127;", "and.b32 %r39, %r1, 31;")
    if CL > 1:
        p(
            f"setp.lt.u32 %p10, %r39, {CL};",
            f"add.u32 %r48, %r0, {EMPTY};",
            "mov.u32 %r49, 0;",
            "@%p10 mapa.shared::cluster.u32 %r49, %r48, %r39;",
        )
    else:
        p("setp.eq.u32 %p10, %r39, 0;")
    p("CT:", "setp.ge.u32 %p4, %r41, %r3;", "@%p4 bra CEND;", "mov.u32 %r50, 0;")
    acc = [f"%f{i}" for i in range(BN // 2)]
    step = (16 * 128) >> 4 if MN else 2  # of B's descriptor for 16 along K; A's is 2

    def arrive(s, pred="%p10"):
        if CL > 1:
            p(f"@{pred} mbarrier.arrive.shared::cluster.b64 _, [%r49+{8 * s}];")
        else:
            p(f"@{pred} mbarrier.arrive.shared.b64 _, [%r0+{EMPTY + 8 * s}];")

    def multiply(s, label, first_round):
        even_or_odd = parity("%r38", "%r40", s)
        p(
            f"{label}:",
            f"mbarrier.try_wait.parity.shared.b64 %p5, [%r0+{FULL + 8 * s}], {even_or_odd};",
            f"@!%p5 bra {label};",
        )
        p("wgmma.fence.sync.aligned;")
        for k in range(BK // 16):
            p(
                f"add.u64 %d20, %d10, {s * STAGE // 16 + 2 * k};",
                f"add.u64 %d21, %d11, {s * STAGE // 16 + step * k};",
            )
            scale = "%p12" if first_round and s == 0 and k == 0 else "1"
            p(
                f"wgmma.mma_async.sync.aligned.m64n{BN}k16.f32.bf16.bf16 {{{','.join(acc)}}}, "
                f"%d20, %d21, {scale}, 1, 1, 0, {int(MN)};"
            )
        p("wgmma.commit_group.sync.aligned;", f"wgmma.wait_group.sync.aligned {WAIT};")
        if WAIT == 0:
            arrive(s)
        elif s > 0:
            arrive(s - 1)
        elif first_round:  # the first round has no product before it
            p("and.pred %p11, %p10, %p12;")
            arrive(S - 1, "%p11")
        else:
            arrive(S - 1)

    p("CK:", "setp.ne.u32 %p12, %r50, 0;")
    for s in range(S):
        multiply(s, f"CW{s}", True)
    p("xor.b32 %r40, %r40, 1;")
    if rest:
        p("xor.b32 %r38, %r38, 1;")
    p("add.u32 %r50, %r50, 1;", "setp.lt.u32 %p6, %r50, %r2;", "@%p6 bra CK;")
    for s in range(rest):
        multiply(s, f"CR{s}", False)
    if rest:
        p("xor.b32 %r38, %r38, 1;")
    p("wgmma.wait_group.sync.aligned 0;")
    if WAIT:
        arrive(rest - 1 if rest else S - 1)
    # The end: pack, stmatrix into swizzled buffers of 64 rows and 64 columns, stores by TMA.
    p(f"add.u32 %r59, %r0, {EPI};", f"mad.lo.u32 %r59, %r42, {8192 * EB}, %r59;")
    p(
        "and.b32 %r62, %r1, 31;",
        "shr.u32 %r63, %r47, 5;",
        "and.b32 %r64, %r62, 15;",
        "mad.lo.u32 %r65, %r63, 16, %r64;",
        "shl.b32 %r66, %r65, 7;",
        "add.u32 %r60, %r59, %r66;",
        "and.b32 %r67, %r65, 7;",
        "shr.u32 %r68, %r62, 4;",
    )
    place("%r41", "%r70", "%r72")
    p("shl.b32 %r71, %r42, 6;", "add.u32 %r70, %r70, %r71;", "setp.ne.u32 %p20, %r47, 0;")
    for j in range(BN // 64):
        at = j % EB * 8192
        p(
            f"@%p20 bra EW{j};",
            f"cp.async.bulk.wait_group.read {EB - 1};",
            f"EW{j}:",
            "barrier.sync %r6, 128;",
        )
        for q in range(4):
            b = j * 32 + q * 8
            for t in range(4):
                p(f"cvt.rn.bf16x2.f32 %r{80 + t}, %f{b + 2 * t + 1}, %f{b + 2 * t};")
            p(
                f"add.u32 %r84, %r68, {2 * q};",
                "xor.b32 %r84, %r84, %r67;",
                "shl.b32 %r84, %r84, 4;",
                "add.u32 %r85, %r60, %r84;",
            )
            p(f"stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r85+{at}], {{%r80, %r81, %r82, %r83}};")
        p(
            "fence.proxy.async.shared::cta;",
            "barrier.sync %r6, 128;",
            f"@%p20 bra ES{j};",
            f"add.u32 %r73, %r72, {64 * j};",
            f"add.u32 %r74, %r59, {at};",
        )
        p(
            f"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d2, {{%r73, %r70}}], [%r74];",
            "cp.async.bulk.commit_group;",
            f"ES{j}:",
        )
    p("add.u32 %r41, %r41, %r26;", "bra CT;")
    p("CEND:", "cp.async.bulk.wait_group 0;")
    p("END:")
    if CL > 1:
        p("barrier.cluster.arrive;", "barrier.cluster.wait;")
    p("ret;", "}")
    return "\n".join(line for line in lines if line) + "\n"


# ---- the driver
class Driver:
    """The calls of libcuda that are needed here."""

    def __init__(self, path="libcuda.so.1"):
        self.lib = ctypes.CDLL(path)

    def call(self, name, *arguments):
        code = getattr(self.lib, name)(*arguments)
        if code:
            text = ctypes.c_char_p()
            try:
                self.lib.cuGetErrorName(ctypes.c_int(code), ctypes.byref(text))
            except Exception:
                pass
            raise RuntimeError(f"{name}: error {code} {(text.value or b'').decode()}")

    def load(self, image):
        module = ctypes.c_void_p()
        size = 1 << 16
        log = ctypes.create_string_buffer(size)
        options = (ctypes.c_int * 2)(5, 6)  # error log buffer, its size
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), ctypes.c_void_p(size))
        held = ctypes.create_string_buffer(image, len(image) + 1)
        try:
            self.call(
                "cuModuleLoadDataEx", ctypes.byref(module), held, ctypes.c_uint(2), options, values
            )
        except RuntimeError as error:
            raise RuntimeError(f"{error}: {log.value.decode(errors='replace')[:2000]}")
        return module

    def function(self, module, name, shared):
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        self.call("cuFuncSetAttribute", function, ctypes.c_int(8), ctypes.c_int(shared))
        return function

    def tensor_map(self, address, inner, outer, box_inner, box_outer, promotion=3):
        """The map of a row-major bf16 matrix [outer, inner] with swizzles of 128 bytes."""
        room = ctypes.create_string_buffer(128 + 64)
        at = (ctypes.addressof(room) + 63) & ~63
        dims = (ctypes.c_uint64 * 2)(inner, outer)
        strides = (ctypes.c_uint64 * 1)(inner * 2)
        box = (ctypes.c_uint32 * 2)(box_inner, box_outer)
        steps = (ctypes.c_uint32 * 2)(1, 1)
        self.call(
            "cuTensorMapEncodeTiled",
            ctypes.c_void_p(at),
            ctypes.c_int(9),
            ctypes.c_uint32(2),
            ctypes.c_void_p(address),
            dims,
            strides,
            box,
            steps,
            ctypes.c_int(0),
            ctypes.c_int(3),
            ctypes.c_int(promotion),
            ctypes.c_int(0),
        )
        return room, at

    def launch(self, function, grid, block, shared, stream, pointers):
        self.call(
            "cuLaunchKernel",
            function,
            ctypes.c_uint(grid),
            ctypes.c_uint(1),
            ctypes.c_uint(1),
            ctypes.c_uint(block),
            ctypes.c_uint(1),
            ctypes.c_uint(1),
            ctypes.c_uint(shared),
            ctypes.c_void_p(stream),
            pointers,
            None,
        )


class Kernel:
    """A launch of a variant that is ready."""

    def __init__(self, driver, v, m, n, k, a, b, c, stream=0, multiprocessors=132, functions=None):
        bn, cl = v["bn"], v["cl"]
        steps = k // BK
        assert m % (BM * cl) == 0 and n % bn == 0 and k % BK == 0 and steps >= v["s"], "extents"
        rest = steps % v["s"]
        functions = {} if functions is None else functions
        key = code_key(v, rest)
        if key not in functions:
            module = driver.load(make_ptx(v, rest).encode())
            functions[key] = driver.function(module, "k", shared_bytes(v))
        self.function = functions[key]
        self.driver, self.shared, self.stream = driver, shared_bytes(v), stream
        rows, columns = m // BM, n // bn
        tiles = rows * columns
        self.grid = min(multiprocessors // cl * cl, tiles)
        self.held = [
            driver.tensor_map(a, k, m, BK, BM, v["l2"]),
            (
                driver.tensor_map(b, n, k, 64, BK, v["l2"])
                if v["b"] == "mn"
                else driver.tensor_map(b, k, n, BK, bn // cl, v["l2"])
            ),
            driver.tensor_map(c, n, m, 64, 64, v["l2"]),
        ]
        self.words = [ctypes.c_uint32(x) for x in (steps // v["s"], rows // cl, columns, tiles)]
        places = [at for _, at in self.held] + [ctypes.addressof(w) for w in self.words]
        self.pointers = (ctypes.c_void_p * len(places))(*places)

    def __call__(self):
        self.driver.launch(self.function, self.grid, 384, self.shared, self.stream, self.pointers)


# ---- measuring
def wait_for(event, seconds, what):
    end = time.monotonic() + seconds
    while not event.query():
        if time.monotonic() > end:
            print(f"  HANG: {what} not done after {seconds} s", flush=True)
            os._exit(3)
        time.sleep(0.0005)


def timed(torch, work, warm=5, times=20):
    """The median and the mean of seconds of one run, between events of one stream."""
    for _ in range(warm):
        work()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(times + 1)]
    torch.cuda._sleep(4_000_000)  # about 2 ms, in which the host queues all runs
    events[0].record()
    for i in range(times):
        work()
        events[i + 1].record()
    wait_for(events[-1], 5, "timing")
    each = sorted(events[i].elapsed_time(events[i + 1]) * 1e-3 for i in range(times))
    return each[times // 2], events[0].elapsed_time(events[-1]) * 1e-3 / times


def child(v, path):
    import torch

    def note(row):
        with open(path, "a", encoding="utf-8") as f:
            f.write(json.dumps(row) + "\n")

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.cuda.init()
    torch.zeros(1, device="cuda")
    torch.manual_seed(int(time.time()))
    driver = Driver()
    count = torch.cuda.get_device_properties(0).multi_processor_count
    functions = {}
    for m, n, k in SIZES:
        row = {"variant": name_of(v), **v, "m": m, "n": n, "k": k}
        if m % (BM * v["cl"]) or n % v["bn"] or k // BK < v["s"]:
            continue
        try:
            a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
            b = torch.randn(
                *((k, n) if v["b"] == "mn" else (n, k)), device="cuda", dtype=torch.bfloat16
            )
            c = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
            right = b if v["b"] == "mn" else b.t()
            torch.cuda.synchronize()
            kernel = Kernel(
                driver, v, m, n, k, a.data_ptr(), b.data_ptr(), c.data_ptr(), 0, count, functions
            )
            row["grid"], row["shared"] = kernel.grid, kernel.shared
            kernel()
            done = torch.cuda.Event()
            done.record()
            wait_for(done, 4, f"{name_of(v)} {m}x{n}x{k}")
            torch.cuda.synchronize()
            reference = a.float() @ right.float()
            wrong = c.float() - reference
            error = (wrong.norm() / reference.norm()).item()
            row["error"] = error
            row["ok"] = bool(error < 2e-2)
            if not row["ok"]:
                row["nan"] = int(torch.isnan(c).sum().item())
            first = c.clone()
            del reference, wrong
            if (m, n, k) != SIZES[0]:
                median, mean = timed(torch, kernel)
                row["seconds"], row["mean"] = median, mean
                row["tflops"] = 2e-12 * m * n * k / median
                row["same"] = bool(torch.equal(c, first))
                out = torch.empty_like(c)
                peer, _ = timed(torch, lambda: torch.matmul(a, right, out=out), 3, 10)
                row["cublas"] = 2e-12 * m * n * k / peer
            del a, b, c, first, right
        except Exception as failure:
            row["failed"] = f"{type(failure).__name__}: {failure}"[:2000]
        note(row)
        say(row)
        if "failed" in row and ("CUDA" in row["failed"] or "error" in row["failed"]):
            return  # the context may be lost


def say(row):
    text = f"  {row['variant']:<34} {row['m']:>5}x{row['n']:>5}x{row['k']:>5}"
    if "failed" in row:
        print(f"{text} FAILED {row['failed']}", flush=True)
        return
    if "tflops" in row:
        text += f" {row['seconds'] * 1e6:9.1f} us {row['tflops']:7.1f} TFLOP/s"
        text += f" (cuBLAS {row['cublas']:6.1f})"
    text += f" error {row['error']:.1e} {'ok' if row['ok'] else 'WRONG'}"
    print(text + ("" if row.get("same", True) else " DIFFERS"), flush=True)


def isolated(work, limit):
    """Runs work in a forked child; the result says how it ended, 'ok' or else."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException as error:  # the parent goes on with the next one
            print(f"  child: {type(error).__name__}: {error}", flush=True)
        finally:
            sys.stdout.flush()
            os._exit(code)
    end = time.monotonic() + limit
    killed = False
    while True:
        got, status = os.waitpid(pid, os.WNOHANG)
        if got:
            if killed:
                return f"killed after {limit:.0f} s"
            if os.WIFSIGNALED(status):
                return f"signal {os.WTERMSIG(status)}"
            return "ok" if os.WEXITSTATUS(status) == 0 else f"exit {os.WEXITSTATUS(status)}"
        if time.monotonic() > end:
            if killed:
                return "killed, does not end"
            os.kill(pid, signal.SIGKILL)
            killed, end = True, time.monotonic() + 8
        time.sleep(0.02)


def run(out, budget, only):
    begin = time.monotonic()
    import torch  # once, before the forks; CUDA begins in each child

    rows, ends = [], []
    lines = out + ".lines"
    if os.path.exists(lines):
        os.remove(lines)
    print(
        f"ring: torch {torch.__version__}, {time.monotonic() - begin:.1f} of {budget:.0f} s gone",
        flush=True,
    )

    def save():
        rows[:] = []
        if os.path.exists(lines):
            with open(lines, encoding="utf-8") as f:
                for line in f:
                    try:
                        rows.append(json.loads(line))
                    except ValueError:
                        pass
        with open(out + ".new", "w", encoding="utf-8") as f:
            json.dump({"rows": rows, "variants": ends}, f, indent=0)
        os.replace(out + ".new", out)

    bad = 0
    for v in VARIANTS:
        if only and name_of(v) not in only:
            continue
        left = budget - (time.monotonic() - begin)
        if left < 4:
            print(f"ring: budget spent before {name_of(v)}", flush=True)
            break
        start = time.monotonic()
        how = isolated(lambda: child(v, lines), min(25, left))
        took = time.monotonic() - start
        ends.append({"variant": name_of(v), "end": how, "took": round(took, 2)})
        print(f"  {name_of(v)}: {how}, {took:.1f} s", flush=True)
        save()
        bad = bad + 1 if how != "ok" else 0
        if bad >= 5:
            print("ring: five variants in a row did not end well; stopping", flush=True)
            break
    save()
    if os.path.exists(lines):
        os.remove(lines)
    summary(rows)


def summary(rows):
    """A table of TFLOP/s; '!' marks a wrong result, or one that differs between runs."""
    found = {}
    for row in rows:
        if "tflops" in row:
            found.setdefault(row["variant"], {})[(row["m"], row["n"], row["k"])] = row
    sizes = SIZES[1:]
    print(f"{'TFLOP/s':<34}" + "".join(f"{f'{m}x{n}x{k}':>16}" for m, n, k in sizes))
    for name, of in found.items():
        cells = [
            (
                f"{of[s]['tflops']:.1f}" + ("" if of[s]["ok"] and of[s]["same"] else "!")
                if s in of
                else "-"
            )
            for s in sizes
        ]
        print(f"{name:<34}" + "".join(f"{cell:>16}" for cell in cells))
    peers = [sorted(of[s]["cublas"] for of in found.values() if s in of) for s in sizes]
    print(
        f"{'cuBLAS, median':<34}"
        + "".join(f"{p[len(p) // 2]:>16.1f}" if p else f"{'-':>16}" for p in peers)
    )


# ---- without a GPU
def codes():
    """The variants and rests whose code the sizes need, by what decides it."""
    seen = {}
    for v in VARIANTS:
        for m, n, k in SIZES:
            if m % (BM * v["cl"]) == 0 and n % v["bn"] == 0 and k // BK >= v["s"]:
                rest = k // BK % v["s"]
                seen[code_key(v, rest)] = (v, rest)
    return seen


def assemble(ptxas):
    """The number of variants that ptxas refuses, warns about, or spills registers in."""
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "k.ptx")
        for key, (v, rest) in codes().items():
            with open(source, "w", encoding="utf-8") as f:
                f.write(make_ptx(v, rest))
            command = [ptxas, "-arch=sm_90a", "-v", source, "-o", os.path.join(folder, "k.cubin")]
            done = subprocess.run(command, capture_output=True, text=True)
            said = done.stdout + done.stderr
            fine = done.returncode == 0 and "C75" not in said and "warning" not in said.lower()
            fine = fine and " 0 bytes spill stores, 0 bytes spill loads" in said
            bad += not fine
            print(f"{'ok ' if fine else 'BAD'} {key}" + ("" if fine else "\n" + said), flush=True)
    return bad


def main():
    words = sys.argv[1:]
    if words == ["--list"]:
        print("\n".join(name_of(v) for v in VARIANTS))
    elif len(words) == 3 and words[0] == "--ptx":
        v = next(v for v in VARIANTS if name_of(v) == words[1])
        print(make_ptx(v, int(words[2])), end="")
    elif words and words[0] == "--assemble":
        sys.exit(assemble(words[1] if len(words) > 1 else "ptxas") != 0)
    elif len(words) >= 2 and not words[0].startswith("-"):
        run(words[0], float(words[1]), set(words[2:]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
