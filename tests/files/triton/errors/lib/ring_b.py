from .ring_a import LENGTH

there = LENGTH

# RUN: tilec check %s
# OUT:
