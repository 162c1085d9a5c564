from tilec import Autotuner, Config, Heuristics, autotune, heuristics  # noqa: F401

from .errors import OutOfResources, PTXASError  # noqa: F401
