# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    #! error: 'break' outside of a loop [misplaced] @5
    break
    #! error: 'continue' outside of a loop [misplaced] @5
    continue
    if n > 0:
        #! error: 'break' outside of a loop [misplaced] @9
        break
    return
