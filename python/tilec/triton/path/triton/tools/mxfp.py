"""Tensors of mxfp4 values and of their scales, as tests of Triton make them."""

import torch

# The values of e2m1, by their bits.
_VALUES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


class MXFP4Tensor:
    """Values of e2m1, one in each element of `data`."""

    def __init__(self, data=None, size=None, device=None):
        self.device = torch.device(device) if device is not None else torch.device("cpu")
        if data is not None:
            self.data = self._encode(torch.as_tensor(data, device=self.device))
        else:
            self.size = (size,) if isinstance(size, int) else tuple(size)

    def random(self):
        bits = torch.randint(0, 16, size=self.size, dtype=torch.uint8, device=self.device)
        self.data = bits.type(torch.uint8)
        return self

    def to(self, dtype):
        table = torch.tensor(
            _VALUES + tuple(-v for v in _VALUES), dtype=torch.float32, device=self.device
        )
        return table[self.data.long()].to(dtype)

    def _encode(self, values):
        values = values.float().clamp(-_VALUES[-1], _VALUES[-1])
        levels = torch.tensor(_VALUES, dtype=torch.float32, device=self.device)
        distance = (values.abs().unsqueeze(-1) - levels).abs()
        nearest = distance.min(dim=-1, keepdim=True).values
        # Of two that are equally near, the one whose last bit is 0.
        even = torch.arange(8, device=self.device) % 2
        rank = torch.where(distance == nearest, even, 2)
        bits = rank.argmin(dim=-1)
        return (bits | (torch.signbit(values).long() << 3)).type(torch.uint8)

    def to_packed_tensor(self, dim):
        """Two values in a byte: the first of a pair along the dimension in the low half."""
        data = self.data
        assert -data.dim() <= dim < data.dim(), f"there is no dimension {dim}"
        n = data.shape[dim]
        if n % 2:
            data = torch.cat([data, torch.zeros_like(data.narrow(dim, 0, 1))], dim)
        index = torch.arange(0, data.shape[dim], 2, device=data.device)
        low, high = data.index_select(dim, index), data.index_select(dim, index + 1)
        return (high << 4) | low

    def unpack_packed_tensor(self, packed, dim, original_shape):
        pair = torch.stack([packed & 15, packed >> 4], dim=dim + 1)
        shape = list(packed.shape)
        shape[dim] *= 2
        data = pair.reshape(shape)
        return data.narrow(dim, 0, original_shape[dim])


class MXScaleTensor:
    """Scales of e8m0: 2 to the power of a byte less 127."""

    def __init__(self, data=None, size=None, device=None):
        self.device = torch.device(device) if device is not None else torch.device("cpu")
        if data is not None:
            values = torch.as_tensor(data, device=self.device).float()
            power = torch.floor(torch.log2(values)) + 127
            wrong = ~torch.isfinite(power) | (values <= 0)
            self.data = torch.where(wrong, torch.full_like(power, 255), power).type(torch.uint8)
        else:
            self.size = (size,) if isinstance(size, int) else tuple(size)

    def random(self, low=None, high=None):
        def power(x, default):
            return default if x is None else int(torch.log2(torch.tensor(float(x)))) + 127

        least, most = max(power(low, 0), 0), min(power(high, 254), 254)
        data = torch.randint(least, most + 1, self.size, dtype=torch.int32, device=self.device)
        self.data = data.type(torch.uint8)
        return self

    def to(self, dtype):
        data = self.data.float()
        values = torch.pow(2.0, data - 127)
        return torch.where(data == 255, float("nan"), values).to(dtype)
