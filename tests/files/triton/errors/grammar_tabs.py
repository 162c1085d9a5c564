# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    if n > 0:
	#! error: the indentation mixes tabs and spaces, so that it depends on the size of a tab [syntax] @1
	a = 1
        #! error: the indentation mixes tabs and spaces, so that it depends on the size of a tab [syntax] @1
        b = 2
