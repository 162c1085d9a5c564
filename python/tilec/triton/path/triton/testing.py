"""triton.testing: do_bench, and comparisons."""

from tilec import do_bench  # noqa: F401


def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
    return do_bench(fn, 5, rep, grad_to_none, quantiles, return_mode)


def assert_close(x, y, atol=None, rtol=None, err_msg=""):
    import numpy as np

    def plain(v):
        v = v.float().cpu().numpy() if hasattr(v, "cpu") and "bfloat16" in str(v.dtype) else v
        return v.detach().cpu().numpy() if hasattr(v, "cpu") else np.asarray(v)

    x, y = plain(x), plain(y)
    np.testing.assert_allclose(
        x,
        y,
        atol=1e-2 if atol is None else atol,
        rtol=0.0 if rtol is None else rtol,
        err_msg=err_msg,
    )


class Benchmark:
    def __init__(
        self, x_names, x_vals, line_arg, line_vals, line_names, plot_name, args=None, **options
    ):
        self.x_names = [x_names] if isinstance(x_names, str) else x_names
        self.x_vals = x_vals
        self.line_arg = line_arg
        self.line_vals = line_vals
        self.line_names = line_names
        self.plot_name = plot_name
        self.args = args or {}


class Mark:
    def __init__(self, fn, benchmarks):
        self.fn = fn
        self.benchmarks = benchmarks if isinstance(benchmarks, list) else [benchmarks]

    def run(self, show_plots=False, print_data=False, save_path="", return_df=False, **kwargs):
        """Prints a table for each benchmark."""
        for b in self.benchmarks:
            print(f"{b.plot_name}: {' '.join(b.x_names)} | {' | '.join(b.line_names)}")
            for x in b.x_vals:
                x = x if isinstance(x, (tuple, list)) else [x] * len(b.x_names)
                row = []
                for line in b.line_vals:
                    y = self.fn(**dict(zip(b.x_names, x)), **{b.line_arg: line}, **b.args, **kwargs)
                    row.append(y[0] if isinstance(y, tuple) else y)
                print(*x, "|", *(f"{y:.4f}" for y in row))


def perf_report(benchmarks):
    return lambda fn: Mark(fn, benchmarks)
