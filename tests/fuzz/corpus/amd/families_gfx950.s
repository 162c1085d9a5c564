950 40000 0 64
v_lshlrev_b32_e32 v1, 3, v0
ds_write_b64 v1, v[0:1]
s_waitcnt lgkmcnt(0)
ds_read_b64_tr_b16 v[2:3], v1
ds_read_b64_tr_b8 v[4:5], v1
ds_read_b64_tr_b4 v[6:7], v1
ds_read_b96_tr_b6 v[8:10], v1
s_waitcnt lgkmcnt(0)
v_permlane32_swap_b32_e32 v2, v3
v_permlane16_swap_b32_e32 v4, v5
v_mfma_f32_16x16x32_f16 v[12:15], v[2:5], v[6:9], v[12:15]
v_mfma_scale_f32_16x16x128_f8f6f4 v[12:15], v[2:9], v[2:9], v[12:15], v0, v1 op_sel_hi:[0,0,0]
v_bitop3_b32 v16, v1, v2, v3 bitop3:0x6c
v_cvt_pk_f16_f32 v17, v1, v2
s_mov_b32 m0, 0x11000
s_endpgm
