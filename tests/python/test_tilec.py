"""The package tilec, with NumPy's arrays on devices that every machine has."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest

import numpy as np

import tilec
import tilec.language as tl

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DEVICES = os.environ.get("TEST_DEVICES", "cpu interp sim:sm_80 sim:gfx942").split()
FACTOR = tl.constexpr(4)
OFFSET = 0.5


@tilec.jit
def scale(x):
    return x * FACTOR + OFFSET


@tilec.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr, ACT: tl.constexpr = None):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    if y_ptr is not None:
        x += tl.load(y_ptr + i, mask=mask)
    if ACT is not None:
        x = ACT(x)
    tl.store(out_ptr + i, x, mask=mask)


def random(n, dtype="f4", seed=0):
    return (np.random.default_rng(seed).standard_normal(n) * 8).astype(dtype)


class OnDevices(unittest.TestCase):
    """Each test runs on all devices."""

    def run_on_devices(self, test):
        for name in DEVICES:
            with self.subTest(device=name):
                tilec.set_device(name)
                test()


class Launches(OnDevices):
    def test_warmup_launches_nothing(self):
        def warm():
            x = random(64)
            out = np.zeros_like(x)
            add_kernel.warmup(x, None, out, 64, BLOCK=64, grid=(1,))
            self.assertFalse(out.any())
            add_kernel[(1,)](x, None, out, 64, BLOCK=64)
            np.testing.assert_array_equal(out, x)

        self.run_on_devices(warm)

    def test_add(self):
        def add():
            x, y = random(1000), random(1000, seed=1)
            out = np.zeros_like(x)
            add_kernel[(8,)](x, y, out, 1000, BLOCK=128)
            np.testing.assert_array_equal(out, x + y)
            add_kernel[lambda a: (tilec.cdiv(a["n"], a["BLOCK"]),)](x, y, out, 700, BLOCK=256)
            add_kernel[8](out_ptr=out, x_ptr=x, n=1000, y_ptr=None, BLOCK=128, ACT=scale)
            np.testing.assert_array_equal(out, x * np.float32(4) + np.float32(0.5))

        self.run_on_devices(add)

    def test_grid_as_text(self):
        def text():
            x, out = random(300), np.zeros(300, "f4")
            add_kernel["triton.cdiv(n, BLOCK)"](x, x, out, 300, BLOCK=64)
            np.testing.assert_array_equal(out, x + x)

        self.run_on_devices(text)

    def test_types(self):
        def types():
            for dtype in "i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8".split():
                x = random(100).astype(dtype)
                out = np.zeros_like(x)
                add_kernel[(1,)](x, x, out, 100, BLOCK=128)
                np.testing.assert_array_equal(out, (x + x).astype(dtype), err_msg=dtype)

        self.run_on_devices(types)

    def test_scalars(self):
        @tilec.jit
        def kernel(out, i, big, huge, f, flag, np_i, np_f):
            tl.store(out, i)
            tl.store(out + 1, big)
            tl.store(out + 2, huge)
            tl.store(out + 3, (f * 1024).to(tl.int64))
            tl.store(out + 4, tl.where(flag, 5, 6))
            tl.store(out + 5, np_i)
            tl.store(out + 6, (np_f * 2).to(tl.int64))

        def scalars():
            out = np.zeros(7, "u8")
            kernel[(1,)](out, -1, 1 << 40, (1 << 63) + 5, 0.25, True, np.int32(9), np.float32(1.5))
            self.assertEqual(out.tolist(), [(1 << 64) - 1, 1 << 40, (1 << 63) + 5, 256, 5, 9, 3])
            kernel[(1,)](out, 1, 1 << 40, 16, 0.25, False, 9, 1.5)
            self.assertEqual(out.tolist(), [1, 1 << 40, 16, 256, 6, 9, 3])

        self.run_on_devices(scalars)

    def test_integers_of_all_sizes_in_turn(self):
        @tilec.jit
        def kernel(out, n):
            tl.store(out, n)

        def turns():
            out = np.zeros(1, "u8")
            for n in ((1 << 63) + 7, (1 << 63) + 7, 8, 8, (1 << 64) - 1, -9, -9, 1 << 62, 0):
                kernel[(1,)](out, n)
                self.assertEqual(out[0], n % (1 << 64))

        self.run_on_devices(turns)

    def test_strides(self):
        @tilec.jit
        def kernel(x, out, s0, s1, N: tl.constexpr):
            i = tl.arange(0, N)
            at = i[:, None] * s0 + i[None, :] * s1
            tl.store(out + i[:, None] * N + i[None, :], tl.load(x + at))

        def strides():
            x = random(64 * 64).reshape(64, 64)
            for view in (x[:32, :32], x.T[:32, :32], x[::2, ::2], x[1:33, 3:35]):
                out = np.zeros((32, 32), "f4")
                s0, s1 = (s // 4 for s in view.strides)
                kernel[(1,)](view, out, s0, s1, N=32)
                np.testing.assert_array_equal(out, view)

        self.run_on_devices(strides)

    def test_arrays_that_share_memory(self):
        def share():
            x = random(130)
            before = x.copy()
            add_kernel[(1,)](x[1:65], x[65:129], x[1:65], 64, BLOCK=64)
            np.testing.assert_array_equal(x[1:65], before[1:65] + before[65:129])
            np.testing.assert_array_equal(x[65:], before[65:])
            self.assertEqual(x[0], before[0])

        self.run_on_devices(share)

    def test_many_dimensions(self):
        def dimensions():
            x = random(64).reshape(2, 2, 2, 2, 2, 2)
            out = np.zeros_like(x)
            add_kernel[(1,)](x, x, out, 64, BLOCK=64)
            np.testing.assert_array_equal(out, x + x)

        self.run_on_devices(dimensions)

    def test_empty(self):
        x = np.zeros(0, "f4")
        add_kernel[(1,)](x, x, x, 0, BLOCK=64)
        add_kernel[(0,)](x, x, x, 0, BLOCK=64)
        add_kernel[lambda a: (tilec.cdiv(a["n"], 64), 3)](x, x, x, 0, BLOCK=64)

    def test_read_only(self):
        x = random(64)
        x.flags.writeable = False
        out = np.zeros(64, "f4")
        add_kernel[(1,)](x, x, out, 64, BLOCK=64)
        with self.assertRaisesRegex(tilec.LaunchError, "read"):
            add_kernel[(1,)](out, out, x, 64, BLOCK=64)

    def test_dlpack(self):
        class Other:
            def __init__(self, x):
                self.x = x

            def __dlpack__(self):
                return self.x.__dlpack__()

            def __dlpack_device__(self):
                return self.x.__dlpack_device__()

        def dlpack():
            x, out = random(64), np.zeros(64, "f4")
            add_kernel[(1,)](Other(x), Other(x[::-1].copy()), Other(out), 64, BLOCK=64)
            np.testing.assert_array_equal(out, x + x[::-1])

        self.run_on_devices(dlpack)

    def test_reinterpret(self):
        x, out = np.arange(64, dtype="i4"), np.zeros(64, "u4")
        add_kernel[(1,)](tilec.reinterpret(x, tl.uint32), None, out, 64, BLOCK=64)
        np.testing.assert_array_equal(out, x.astype("u4"))
        with self.assertRaises(tilec.ArgumentError):
            add_kernel[(1,)](tilec.reinterpret(x, tl.int64), None, out, 64, BLOCK=64)

    def test_constexprs(self):
        @tilec.jit
        def kernel(out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, D: tl.constexpr):
            if A == "twice" and C is None:
                tl.store(out, B * D[1])
            tl.store(out + 1, tl.full([], 2049, D[0]).to(tl.float32))

        out = np.zeros(2, "f4")
        kernel[(1,)](out, "twice", 1.5, None, (tl.int32, 4))
        self.assertEqual(out.tolist(), [6, 2049])
        kernel[(1,)](out, "twice", float("inf"), None, (tl.float16, 4))
        self.assertEqual(out.tolist(), [float("inf"), 2048])
        kernel[(1,)](out, "twice", True, None, (tl.float16, 4))
        self.assertEqual(out.tolist(), [4, 2048])
        kernel[(1,)](out, "twice", 1, None, (tl.float16, 4))

    def test_options(self):
        x, out = random(64), np.zeros(64, "f4")
        add_kernel[(1,)](x, x, out, 64, BLOCK=64, num_warps=8, num_stages=3, waves_per_eu=2)
        np.testing.assert_array_equal(out, x + x)

    def test_threads_of_a_launch(self):
        x, out = random(64), np.zeros(64, "f4")
        launched = add_kernel[(1,)](x, x, out, 64, BLOCK=64, num_cpu_threads=1)
        np.testing.assert_array_equal(out, x + x)
        self.assertEqual(launched.handle.device.name, "cpu:1")
        launched = add_kernel[(1,)](x, x, out, 64, BLOCK=64)
        self.assertEqual(launched.handle.device.name, tilec.device().name)

    def test_repeated_launches_see_what_changed(self):
        @tilec.jit
        def kernel(x, y, out, sx, n, f, BLOCK: tl.constexpr, UP: tl.constexpr = 0):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            v = tl.load(x + i * sx, mask=i < n, other=0).to(tl.float32)
            if y is not None:
                v += tl.load(y + i, mask=i < n, other=0)
            tl.store(out + i, v * f + UP, mask=i < n)

        tilec.set_device("cpu")
        rng = np.random.default_rng(1)
        for _ in range(300):
            n = int(rng.integers(1, 200))
            stride = int(rng.choice([1, 1, 1, 2, 3]))
            x = random(n * stride, rng.choice(["f4", "f4", "f2", "i4"]), seed=n)[::stride]
            y = None if rng.integers(4) == 0 else random(n, seed=n + 1)
            if y is not None and rng.integers(4) == 0:
                y.flags.writeable = False
            f = float(rng.choice([1.0, 2.0, -0.5]))
            up = int(rng.choice([0, 1]))
            out = np.full(n + 3, 77, "f4")
            size = int(rng.choice([64, 128]))
            grid = (tilec.cdiv(n, size),)
            if rng.integers(2):
                kernel[grid](x, y, out, stride, n, f, size, up)
            elif rng.integers(2):
                kernel[grid](x, y, out, stride, n, f, BLOCK=size, UP=bool(up) if up else up)
            else:
                kernel[lambda a: (tilec.cdiv(a["n"], a["BLOCK"]),)](
                    x, y, out, stride, n, f, BLOCK=size, UP=up
                )
            expected = (x.astype("f4") + (0 if y is None else y)) * np.float32(f) + np.float32(up)
            np.testing.assert_array_equal(out[:n], expected)
            self.assertTrue((out[n:] == 77).all())

    def test_threads(self):
        failures = []

        def work(seed):
            try:
                x = random(512, seed=seed)
                for _ in range(20):
                    out = np.zeros_like(x)
                    add_kernel[(4,)](x, x, out, 512, BLOCK=128, ACT=scale if seed % 2 else None)
                    expected = (x + x) * 4 + np.float32(0.5) if seed % 2 else x + x
                    np.testing.assert_array_equal(out, expected)
            except BaseException as e:
                failures.append(e)

        tilec.set_device("cpu")
        threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(failures, [])

    def test_fork(self):
        tilec.set_device("cpu")
        x, out = random(64), np.zeros(64, "f4")
        add_kernel[(1,)](x, x, out, 64, BLOCK=64)
        child = os.fork()
        if child == 0:
            status = 1
            with contextlib.suppress(BaseException):
                mine = np.zeros(64, "f4")
                add_kernel[(1,)](x, x, mine, 64, BLOCK=64)
                status = 0 if (mine == x + x).all() else 2
            os._exit(status)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_print_goes_to_stdout(self):
        @tilec.jit
        def kernel(n):
            tl.device_print("n is", n)

        for device in ("cpu", "interp"):
            tilec.set_device(device)
            written = io.StringIO()
            with contextlib.redirect_stdout(written):
                kernel[(1,)](7)
            self.assertIn("7", written.getvalue())


class Files(OnDevices):
    def test_python_file(self):
        def file():
            module = tilec.load(os.path.join(HERE, "kernels.py"))
            x, out = random(200), np.zeros(200, "f4")
            module["double_kernel"][(4,)](x, out, 200)
            np.testing.assert_array_equal(out, x + x)
            module["double_kernel"][(4,)](x, out, 200, SCALE=4)
            np.testing.assert_array_equal(out, x * 4)
            module["tuned_kernel"]["triton.cdiv(n, BLOCK)"](x, out, 200)
            np.testing.assert_array_equal(out, x + 1)
            module["tuned_kernel"][(2,)](x, out, 200, BLOCK=128)
            np.testing.assert_array_equal(out, x + 1)

        self.run_on_devices(file)

    def test_tile_file(self):
        def file():
            softmax = tilec.load(os.path.join(ROOT, "examples", "softmax.tile"))["softmax"]
            x = random(8 * 100).reshape(8, 100)
            y = np.zeros_like(x)
            softmax(x, y)
            e = np.exp(x - x.max(axis=1, keepdims=True))
            np.testing.assert_allclose(y, e / e.sum(axis=1, keepdims=True), rtol=1e-5, atol=1e-6)

        self.run_on_devices(file)

    def test_tile_constants(self):
        tilec.set_device("cpu")
        matmul = tilec.load(os.path.join(ROOT, "examples", "matmul.tile"))["matmul"]
        a, b = random(64 * 32, "f2").reshape(64, 32), random(32 * 48, "f2").reshape(32, 48)
        c = np.zeros((64, 48), "f2")
        for t in ("f16", tl.float16, np.float16, np.dtype("f2")):
            matmul(a, b, c, T=t, BM=32, BN=32, BK=16)
            np.testing.assert_allclose(c, a.astype("f4") @ b.astype("f4"), rtol=2e-3, atol=0.1)
        with self.assertRaisesRegex(tilec.SourceError, "BMM"):
            matmul(a, b, c, T="f16", BMM=32)
        with self.assertRaisesRegex(tilec.ArgumentError, "'T' is 'f17'"):
            matmul(a, b, c, T="f17")

    def test_missing(self):
        with self.assertRaisesRegex(tilec.FileError, "none.py"):
            tilec.load("none.py")
        with self.assertRaisesRegex(KeyError, "other_kernel"):
            tilec.load(os.path.join(HERE, "kernels.py"))["other_kernel"]
        with self.assertRaisesRegex(tilec.SourceError, "other"):
            tilec.load(os.path.join(ROOT, "examples", "softmax.tile"))["other"](random(4))


class Tuning(unittest.TestCase):
    def test_autotune(self):
        tried = []

        @tilec.autotune(
            [tilec.Config({"BLOCK": b}, num_warps=w) for b, w in ((32, 1), (64, 4))],
            key=["n"],
            restore_value=["acc"],
            warmup=1,
            rep=1,
            pre_hook=lambda a: tried.append(a["BLOCK"]),
        )
        @tilec.jit
        def kernel(x, acc, n, BLOCK: tl.constexpr):
            i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.store(acc + i, tl.load(acc + i, mask=i < n) + tl.load(x + i, mask=i < n), mask=i < n)

        tilec.set_device("cpu")
        x, acc = random(200), np.zeros(200, "f4")
        grid = lambda a: (tilec.cdiv(a["n"], a["BLOCK"]),)  # noqa: E731
        kernel[grid](x, acc, 200)
        np.testing.assert_array_equal(acc, x)
        self.assertEqual(set(tried), {32, 64})
        count = len(tried)
        kernel[grid](x, acc, 200)
        np.testing.assert_array_equal(acc, x + x)
        self.assertEqual(len(tried), count)
        kernel[grid](x, acc, 100)
        self.assertGreater(len(tried), count)
        self.assertIn(kernel.best_config.kwargs["BLOCK"], (32, 64))

    def test_one_that_fails_is_left_out(self):
        @tilec.autotune([tilec.Config({"B": 48}), tilec.Config({"B": 64})], key=[], warmup=1, rep=1)
        @tilec.jit
        def kernel(out, B: tl.constexpr):
            i = tl.arange(0, B)
            tl.store(out + i, i)

        out = np.zeros(64, "i4")
        kernel[(1,)](out)
        self.assertEqual(kernel.best_config.kwargs, {"B": 64})
        np.testing.assert_array_equal(out, np.arange(64))

    def test_heuristics(self):
        @tilec.heuristics({"EVEN": lambda a: a["n"] % a["BLOCK"] == 0})
        @tilec.jit
        def kernel(out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
            tl.store(out, 1 if EVEN else 2)

        out = np.zeros(1, "i4")
        kernel[(1,)](out, 64, BLOCK=32)
        self.assertEqual(out[0], 1)
        kernel[(1,)](out, 65, BLOCK=32)
        self.assertEqual(out[0], 2)


class Version(unittest.TestCase):
    def test_is_that_of_the_library(self):
        from tilec import _library

        self.assertEqual(tilec.__version__, _library.lib.tilec_version().decode())


class Mistakes(unittest.TestCase):
    def setUp(self):
        tilec.set_device("cpu")

    def test_place_of_an_error(self):
        def make():
            @tilec.jit
            def kernel(x):
                i = tl.arange(0, 16)
                tl.store(x + i, tl.laod(x + i))

            return kernel

        kernel = make()
        with self.assertRaises(tilec.SourceError) as caught:
            kernel[(1,)](np.zeros(16, "f4"))
        d = caught.exception.diagnostics[0]
        line = make.__code__.co_firstlineno + 4
        self.assertEqual((d.severity, d.code, d.line), ("error", "unknown-name", line))
        with open(__file__) as f:
            self.assertEqual(f.readlines()[line - 1][d.column - 1 :][:7], "tl.laod")
        self.assertEqual(d.file, __file__)
        self.assertIn("tl.load", d.help)
        self.assertIn("tl.laod", str(caught.exception))

    def test_arguments(self):
        x = np.zeros(16, "f4")
        with self.assertRaisesRegex(TypeError, "'n' is missing"):
            add_kernel[(1,)](x, x, x, BLOCK=16)
        with self.assertRaisesRegex(TypeError, "no parameter 'BLOK'"):
            add_kernel[(1,)](x, x, x, 16, BLOK=16, BLOCK=16)
        with self.assertRaisesRegex(TypeError, "'n' is given twice"):
            add_kernel[(1,)](x, x, x, 16, n=3, BLOCK=16)
        with self.assertRaisesRegex(TypeError, "takes 6 arguments, 7"):
            add_kernel[(1,)](x, x, x, 1, 2, 3, 4)
        with self.assertRaisesRegex(TypeError, "grid"):
            add_kernel(x, x, x, 16, BLOCK=16)
        with self.assertRaisesRegex(tilec.ArgumentError, "'x_ptr'.*complex"):
            add_kernel[(1,)](x.astype("c8"), x, x, 16, BLOCK=16)
        with self.assertRaisesRegex(tilec.ArgumentError, "'x_ptr'.*byte order"):
            add_kernel[(1,)](x.astype(">f4"), x, x, 16, BLOCK=16)
        with self.assertRaisesRegex(tilec.ArgumentError, "'x_ptr'.*builtins.dict"):
            add_kernel[(1,)]({}, x, x, 16, BLOCK=16)
        with self.assertRaisesRegex(tilec.ArgumentError, "'n'.*64 bits"):
            add_kernel[(1,)](x, x, x, 1 << 64, BLOCK=16)
        with self.assertRaisesRegex(tilec.ArgumentError, "'BLOCK' is a dict"):
            add_kernel[(1,)](x, x, x, 16, BLOCK={})
        with self.assertRaisesRegex(tilec.LaunchError, "one to three"):
            add_kernel[(1, 1, 1, 1)](x, x, x, 16, BLOCK=16)
        with self.assertRaises(tilec.LaunchError):
            add_kernel[(-1,)](x, x, x, 16, BLOCK=16)
        with self.assertRaises(tilec.Error):
            add_kernel[(1,)](3, x, x, 16, BLOCK=16)

    def test_devices(self):
        with self.assertRaisesRegex(tilec.Error, "warp9"):
            tilec.device("warp9")
        self.assertEqual(tilec.device("interp").info["warp"], 1)

    def test_one_name_for_two_values(self):
        def make(size):
            SIZE = tl.constexpr(size)

            @tilec.jit
            def f(x):
                return x + SIZE

            return f

        first, second = make(1), make(2)

        @tilec.jit
        def kernel(out):
            tl.store(out, first(second(0)))

        with self.assertRaisesRegex(tilec.SourceError, "the name 'f'|the name 'SIZE'"):
            kernel[(1,)](np.zeros(1, "i4"))

    def test_assert_in_a_kernel(self):
        @tilec.jit
        def kernel(n):
            tl.device_assert(n > 3, "too small")

        kernel[(1,)](4)
        with self.assertRaisesRegex(tilec.KernelError, "too small"):
            kernel[(1,)](2)

    def test_library_that_is_missing(self):
        def python(**environment):
            return subprocess.run(
                [sys.executable, "-c", "import tilec"],
                env={**os.environ, **environment},
                capture_output=True,
                text=True,
            )

        self.assertEqual(python().returncode, 0)
        failed = python(TILEC_LIBRARY="/none/libtilec.so")
        self.assertIn(
            "ImportError: tilec: the C library '/none/libtilec.so' cannot be loaded", failed.stderr
        )


class Commands(unittest.TestCase):
    """python -m tilec.triton"""

    def run_script(self, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "script.py")
            with open(script, "w") as f:
                f.write(textwrap.dedent(text))
            return subprocess.run(
                [sys.executable, "-m", "tilec.triton", *options, script, "an argument"],
                capture_output=True,
                text=True,
            )

    def test_script(self):
        text = """\
            import sys
            import numpy as np
            import triton
            import triton.language as tl
            from triton.language.extra import libdevice

            @triton.jit
            def kernel(x, y, N: tl.constexpr):
                i = tl.arange(0, N)
                tl.store(y + i, libdevice.rint(tl.load(x + i)))

            x = np.arange(8, dtype="f4") * 1.25
            y = np.zeros(8, "f4")
            kernel[(1,)](x, y, N=8)
            assert (y == np.rint(x)).all()
            print(triton.runtime.driver.active.get_current_target().backend, *sys.argv[1:])
            """
        for device in ("cpu", "sim:sm_80"):
            done = self.run_script(text, "--device", device)
            self.assertEqual((done.stdout, done.returncode), ("cpu an argument\n", 0), done.stderr)

    def test_names_that_torch_and_tutorials_import(self):
        text = """\
            import triton
            from triton.backends.compiler import AttrsDescriptor, GPUTarget
            from triton.compiler import CompiledKernel
            from triton.compiler.compiler import ASTSource, triton_key
            from triton.runtime.autotuner import OutOfResources, PTXASError
            from triton.runtime.jit import KernelInterface

            driver = triton.runtime.driver
            driver.set_active_to_cpu()
            assert driver.active.get_current_target().backend == "cpu"
            if not driver.get_active_gpus():
                try:
                    driver.set_active_to_gpu()
                except triton.TritonError as e:
                    print(e)
            config = triton.Config({"BLOCK": 4}, num_cpu_threads=2)
            assert config.all_kwargs() == {"BLOCK": 4, "num_cpu_threads": 2}
            ms = triton.testing.do_bench(lambda: None, 1, 1, measure_time_with_hooks=True)
            assert ms >= 0
            assert triton_key() and not triton.backends.backends
            """
        done = self.run_script(text, "--device", "cpu")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(
            done.stdout.strip(), ("", "triton.runtime.driver.set_active_to_gpu: there is no GPU")
        )

    def test_without_the_command_there_is_no_triton(self):
        import importlib.util

        found = importlib.util.find_spec("triton")
        self.assertTrue(found is None or "tilec" not in (found.origin or ""))

    def test_usage(self):
        for options in ([], ["-m"], ["--what", "x"]):
            done = subprocess.run(
                [sys.executable, "-m", "tilec.triton", *options], capture_output=True, text=True
            )
            self.assertEqual(done.returncode, 2)
            self.assertIn("usage:", done.stderr)


if __name__ == "__main__":
    unittest.main()
