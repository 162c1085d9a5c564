from tilec.language import Function


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Function(f"triton.language.extra.libdevice.{name}")
