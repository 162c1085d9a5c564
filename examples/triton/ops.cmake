# The functions of the library: types and constexprs of each kernel.
#
# matmul has two lines, which are alternatives of one function. `:16` and `:1` are promises: a
# launch takes the first line only if the argument is a multiple of 16, or 1.
set(tiles "BM=64 BN=64 BK=32 GROUP=4 ACTIVATION=leaky_relu warps=4")
set(lists "weights_ptr=*fp32 slots_ptr=*i32 experts_ptr=*i32 used_ptr=*i32")
set(blocks "BM=16 BN=32 BK=32 GROUP=4 warps=4")
set(OPS_FUNCTIONS
    SPECIALIZE
        "matmul a_ptr=*fp16:16 b_ptr=*fp16:16 c_ptr=*fp32:16 K=i32:16 a_row=i32:16 a_col=i32:1 \
b_row=i32:16 b_col=i32:1 c_row=i32:16 c_col=i32:1 ${tiles}"
        "matmul a_ptr=*fp16 b_ptr=*fp16 c_ptr=*fp32 a_col=i32:1 b_col=i32:1 c_col=i32:1 ${tiles}"
        "experts_up=experts x_ptr=*fp16 w_ptr=*fp16 y_ptr=*fp16 ${lists} ${blocks} TOP=2 \
WEIGHTED=False ACTIVATION=relu x_col=i32:1 w_col=i32:1 y_col=i32:1"
        "experts_down=experts x_ptr=*fp16 w_ptr=*fp16 y_ptr=*fp32 ${lists} ${blocks} TOP=1 \
WEIGHTED=True ACTIVATION=None x_col=i32:1 w_col=i32:1 y_col=i32:1"
        "add_slots y_ptr=*fp32 out_ptr=*fp32 TOP=2 BN=64"
    GRID "matmul=triton.cdiv(M, BM) * triton.cdiv(N, BN)"
    PREFIX ops_)
