from .ring_b import there
from .ring_b import LENGTH as SIZE

LENGTH = SIZE

# RUN: tilec check %s
# OUT:
