1201 4096 64 32
s_load_b128 s[4:7], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 2, v0
s_bfe_u32 s2, ttmp8, 0x50019
s_wait_kmcnt 0x0
s_mul_i32 s10, s2, ttmp9
global_load_b32 v2, v1, s[4:5]
global_load_d16_hi_b16 v3, v1, s[4:5]
s_wait_loadcnt 0x0
v_mov_b16_e32 v4.h, v2.l
v_fma_mix_f32 v5, -v2, 1.0, v3 op_sel_hi:[0,1,1]
v_fma_mixhi_f16 v5, v5, v2, v3 op_sel:[0,1,1] op_sel_hi:[0,1,1]
v_dual_mov_b32 v6, v2 :: v_dual_add_f32 v7, v2, v3
v_dual_fmac_f32 v8, v2, v3 :: v_dual_cndmask_b32 v9, 0, v2
v_permlanex16_b32 v10, v2, -1, -1 op_sel:[1,0]
v_add_f32_dpp v11, v2, v2 row_xmask:1 row_mask:0xf bank_mask:0xf bound_ctrl:1
v_wmma_f32_16x16x16_f16 v[16:23], v[0:3], v[4:7], v[16:23]
v_wmma_i32_16x16x16_iu8 v[16:23], v[0:1], v[2:3], v[16:23] neg_lo:[1,0,0]
v_cmpx_gt_i32_e32 s3, v1
ds_store_b32 v1, v2
s_wait_dscnt 0x0
s_barrier_signal -1
s_barrier_wait 0xffff
global_inv scope:SCOPE_SE
ds_load_2addr_b32 v[24:25], v1 offset1:1
s_cvt_f32_i32 s15, s3
s_add_nc_u64 s[8:9], s[4:5], s[6:7]
global_atomic_add_u32 v26, v1, v2, s[6:7] th:TH_ATOMIC_RETURN scope:SCOPE_DEV
s_wait_storecnt_dscnt 0x0
global_store_b32 v1, v5, s[4:5]
s_endpgm
