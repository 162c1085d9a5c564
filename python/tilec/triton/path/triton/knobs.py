"""Settings of Triton. Programs may set and read them; tilec ignores them."""

import contextlib


class base_knobs:
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return None

    @contextlib.contextmanager
    def scope(self):
        before = dict(self.__dict__)
        try:
            yield
        finally:
            self.__dict__.clear()
            self.__dict__.update(before)


build = base_knobs()
redis = base_knobs()
cache = base_knobs()
compilation = base_knobs()
autotuning = base_knobs()
runtime = base_knobs()
language = base_knobs()
nvidia = base_knobs()
amd = base_knobs()
proton = base_knobs()
propagate_env = True
