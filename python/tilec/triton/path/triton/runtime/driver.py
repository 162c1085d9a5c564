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
        info = tilec.device().info
        return GPUTarget("tilec", info["target"], info["warp"])

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


class driver:
    active = active
