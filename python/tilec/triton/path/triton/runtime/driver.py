"""The active driver, as programs ask for it."""

import tilec

from ..backends.compiler import GPUTarget


class Utils:
    @staticmethod
    def get_device_properties(_device=None):
        info = tilec.device().info
        return {
            "max_shared_mem": info["shared_memory"],
            "max_num_regs": 65536,
            "multiprocessor_count": info["multiprocessors"],
            "warpSize": info["warp"],
            "sm_clock_rate": info["clock_khz"],
            "mem_clock_rate": 0,
            "mem_bus_width": 0,
        }


class Driver:
    utils = Utils()

    def get_current_target(self):
        """A simulated GPU has its tensors in the host's memory, so its backend is cpu."""
        device = tilec.device()
        info = device.info
        target = info["target"]
        if device.kind == "cuda":
            return GPUTarget("cuda", int("".join(c for c in target if c.isdigit())), info["warp"])
        return GPUTarget("hip" if device.kind == "hip" else "cpu", target, info["warp"])

    def get_current_device(self):
        return 0

    def get_active_torch_device(self):
        import torch

        return torch.device("cuda" if tilec.device().is_gpu else "cpu")

    def get_device_interface(self):
        import torch

        return torch.cuda

    def get_benchmarker(self):
        return tilec.do_bench


active = Driver()


def set_active(_driver):
    """There is one driver."""


def get_active_gpus():
    """The kinds of GPUs that this machine has."""
    return [kind for kind in ("cuda", "hip") if tilec.device_count(kind)]


def set_active_to_cpu():
    """Makes the CPU the default device, unless another one in the host's memory is."""
    if tilec.device().is_gpu:
        tilec.set_device("cpu")


def set_active_to_gpu():
    """Makes the first GPU the default device."""
    for kind in get_active_gpus():
        tilec.set_device(f"{kind}:0")
        return
    raise tilec.UnavailableError("triton.runtime.driver.set_active_to_gpu: there is no GPU")


class driver:
    active = active
