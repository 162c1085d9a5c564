"""@autotune and @heuristics for kernels under @tilec.jit."""

import math
import time

from . import _library as C
from ._device import synchronize
from ._source import HasSource


class Config:
    """Values of constexprs, and options of the launch, that autotune tries."""

    def __init__(
        self,
        kwargs,
        num_warps=None,
        num_stages=None,
        num_ctas=None,
        maxnreg=None,
        pre_hook=None,
        ir_override=None,
        num_cpu_threads=None,
    ):
        self.kwargs = kwargs
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.num_cpu_threads = num_cpu_threads

    def all_kwargs(self):
        options = {
            "num_warps": self.num_warps,
            "num_stages": self.num_stages,
            "num_ctas": self.num_ctas,
            "num_cpu_threads": self.num_cpu_threads,
        }
        return {**self.kwargs, **{k: v for k, v in options.items() if v is not None}}

    def __str__(self):
        return ", ".join(f"{k}: {v}" for k, v in self.all_kwargs().items())

    __repr__ = __str__


def do_bench(
    fn,
    warmup=25,
    rep=100,
    grad_to_none=None,
    quantiles=None,
    return_mode="mean",
    fast_flush=True,
    device_type=None,
    measure_time_with_hooks=False,
):
    """Milliseconds that fn() takes: the mean, or the quantiles that are asked for.

    `warmup` and `rep` are milliseconds. Work of all devices is waited for. The last three change
    nothing: caches are not flushed, and the time is that of the host.
    """
    fn()
    synchronize()
    begin = time.perf_counter()
    fn()
    synchronize()
    one = max(time.perf_counter() - begin, 1e-7)
    for _ in range(min(int(warmup / 1000 / one), 1000)):
        fn()
    times = []
    for _ in range(max(1, min(int(rep / 1000 / one), 10000))):
        for x in grad_to_none or ():
            x.grad = None
        synchronize()
        begin = time.perf_counter()
        fn()
        synchronize()
        times.append((time.perf_counter() - begin) * 1000)
    times.sort()

    def at(q):
        place = q * (len(times) - 1)
        low = math.floor(place)
        high = min(low + 1, len(times) - 1)
        return times[low] + (times[high] - times[low]) * (place - low)

    if quantiles is not None:
        found = [at(q) for q in quantiles]
        return found[0] if len(found) == 1 else found
    if return_mode == "all":
        return times
    if return_mode == "min":
        return times[0]
    if return_mode == "max":
        return times[-1]
    if return_mode == "median":
        return at(0.5)
    return sum(times) / len(times)


class Wrapper(HasSource):
    """What stands around a kernel: another kernel with the same parameters."""

    def __init__(self, fn):
        self.fn = fn
        self.arg_names = fn.arg_names
        self.params = fn.params
        self.__name__ = fn.__name__
        self.__doc__ = fn.__doc__
        inner = fn
        while isinstance(inner, Wrapper):
            inner = inner.fn
        self.base_fn = inner.fn

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self.run(*args, grid=grid, **kwargs)

    def jit_source(self):
        return self.fn.jit_source()

    def warmup(self, *args, **kwargs):
        return self.run(*args, warmup=True, **kwargs)

    def __call__(self, *args, **kwargs):
        raise TypeError(f"{self.__name__} is a kernel: launch it as {self.__name__}[grid](…)")


class Heuristics(Wrapper):
    def __init__(self, fn, values):
        super().__init__(fn)
        self.values = values

    def run(self, *args, **kwargs):
        given = {**dict(zip(self.arg_names, args)), **kwargs}
        for p in self.params:
            if p.name not in given and p.has_default:
                given[p.name] = p.default
        for name, value in self.values.items():
            kwargs[name] = given[name] = value(given)
        return self.fn.run(*args, **kwargs)


def heuristics(values):
    """Constexprs computed from the other arguments: @heuristics({"EVEN": lambda a: a["n"] % 64 == 0})."""
    return lambda fn: Heuristics(fn, values)


def _copy(x):
    return x.clone() if hasattr(x, "clone") else x.copy()


def _restore(x, saved):
    if hasattr(x, "copy_"):
        x.copy_(saved)
    else:
        x[...] = saved


def _zero(x):
    if hasattr(x, "zero_"):
        x.zero_()
    else:
        x[...] = 0


class Autotuner(Wrapper):
    def __init__(self, fn, configs, key, reset_to_zero=None, restore_value=None, pre_hook=None, post_hook=None,
                 prune_configs_by=None, warmup=None, rep=None, use_cuda_graph=False, do_bench=None, cache_results=False):  # fmt: skip
        super().__init__(fn)
        self.configs = configs or [Config({})]
        self.keys = key
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        self.pre_hook = pre_hook
        self.post_hook = post_hook
        prune = prune_configs_by or {}
        self.early_config_prune = prune.get("early_config_prune")
        self.perf_model = prune.get("perf_model")
        self.top_k = prune.get("top_k", 1.0)
        self.limits = (25 if warmup is None else warmup, 100 if rep is None else rep)
        self.bench = do_bench
        self.cache = {}
        self.best_config = None
        self.configs_timings = None

    def _prune(self, given):
        configs = self.configs
        if self.early_config_prune:
            configs = self.early_config_prune(configs, given, **given) or configs
        if self.perf_model:
            keep = (
                int(len(self.configs) * self.top_k) if isinstance(self.top_k, float) else self.top_k
            )
            if len(configs) > keep:
                ranked = sorted(configs, key=lambda c: self.perf_model(**given, **c.all_kwargs()))
                configs = ranked[: max(keep, 1)]
        return configs

    def _before(self, config, given, saved):
        for name in self.reset_to_zero:
            _zero(given[name])
        for name, value in saved.items():
            _restore(given[name], value)
        for hook in (self.pre_hook, config.pre_hook):
            if hook:
                hook({**given, **config.all_kwargs()})

    def _measure(self, config, args, kwargs, given, saved):
        def once():
            self._before(config, given, saved)
            self.fn.run(*args, **{**kwargs, **config.all_kwargs()})

        try:
            if self.bench:
                return self.bench(once, quantiles=(0.5, 0.2, 0.8))[0]
            return do_bench(once, *self.limits, quantiles=(0.5,))
        except (C.UnsupportedError, C.SourceError, C.LaunchError) as e:
            return e

    def run(self, *args, **kwargs):
        given = {
            **dict(zip(self.arg_names, args)),
            **{k: v for k, v in kwargs.items() if k in self.arg_names},
        }
        if len(self.configs) == 1:
            config = self.configs[0]
        else:
            key = tuple(_key(given.get(k)) for k in self.keys)
            key += tuple(str(v.dtype) for v in given.values() if hasattr(v, "dtype"))
            config = self.cache.get(key)
            if config is None:
                config = self.cache[key] = self._choose(args, kwargs, given)
        self.best_config = config
        if config.pre_hook:
            config.pre_hook({**given, **config.all_kwargs()})
        return self.fn.run(*args, **{**kwargs, **config.all_kwargs()})

    def _choose(self, args, kwargs, given):
        saved = {name: _copy(given[name]) for name in self.restore_value}
        times = {}
        for config in self._prune(given):
            times[config] = self._measure(config, args, kwargs, given, saved)
        good = {c: t for c, t in times.items() if not isinstance(t, Exception)}
        if not good:
            raise next(iter(times.values()))
        self.configs_timings = {c: t if c in good else math.inf for c, t in times.items()}
        for name in self.reset_to_zero:
            _zero(given[name])
        for name, value in saved.items():
            _restore(given[name], value)
        return min(good, key=good.get)


def _key(value):
    return value if isinstance(value, (int, float, str, bool, type(None))) else str(value)


def autotune(configs, key, **options):
    """Measures the configurations at the first launch with new values of `key`, and keeps the fastest."""
    return lambda fn: Autotuner(fn, configs, key, **options)
