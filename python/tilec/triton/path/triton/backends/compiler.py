from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True)
class GPUTarget:
    backend: str
    arch: Union[int, str]
    warp_size: int


@dataclass(frozen=True)
class AttrsDescriptor:
    """What torch's compiler imports wherever there is a triton; tilec makes none."""

    arg_properties: dict
