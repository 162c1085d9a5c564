"""Runs programs that import triton with tilec as the compiler: python -m tilec.triton SCRIPT.

The stand-in named `triton` is in the folder `path`, which only this command puts on Python's path.
"""
