# RUN-ERRORS: tilec check --json %s
import triton
import triton.language as tl


@triton.jit
def kernel(x, n):
    a = 1
      #! error: this line is indented more than the one before, but begins no block [syntax] @7
      b = 2
    c = 3
  #! error: this indentation of 2 matches no outer block [syntax] @1
  d = 4
    #! error: this line is indented more than the one before, but begins no block [syntax] @5
    e = 5
