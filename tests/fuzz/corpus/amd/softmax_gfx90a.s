90a 16384 64 64
s_load_dwordx4 s[0:3], s[0:1], 0x8
v_lshlrev_b32_e32 v1, 2, v0
v_mov_b32_e32 v5, 0
v_mov_b32_e32 v2, 0xff800000
v_mov_b32_e32 v3, 0xff800000
s_waitcnt lgkmcnt(0)
s_mul_i32 s1, s6, s2
s_cmp_lt_i32 s6, s0
v_add_u32_e32 v4, s1, v1
s_cselect_b64 s[0:1], -1, 0
v_cmp_gt_i32_e32 vcc, s2, v1
s_and_b64 s[2:3], s[0:1], vcc
v_lshlrev_b64 v[6:7], 2, v[4:5]
v_mov_b32_e32 v4, 0xff800000
v_mov_b32_e32 v5, 0xff800000
s_and_saveexec_b64 s[0:1], s[2:3]
s_cbranch_execz 6
s_load_dwordx2 s[6:7], s[0:1], 0x0
s_waitcnt lgkmcnt(0)
v_mov_b32_e32 v1, s7
v_add_co_u32_e32 v2, vcc, s6, v6
v_addc_co_u32_e32 v3, vcc, v1, v7, vcc
global_load_dwordx4 v[2:5], v[2:3], off
s_or_b64 exec, exec, s[0:1]
s_waitcnt vmcnt(0)
v_max_f32_e32 v1, v2, v3
v_mov_b32_e32 v8, 0x7fc00000
v_cmp_o_f32_e32 vcc, v2, v3
v_cndmask_b32_e32 v1, v8, v1, vcc
v_max_f32_e32 v9, v4, v5
v_cmp_o_f32_e32 vcc, v4, v5
v_cndmask_b32_e32 v9, v8, v9, vcc
v_max_f32_e32 v10, v1, v9
v_cmp_o_f32_e32 vcc, v1, v9
v_cndmask_b32_e32 v1, v8, v10, vcc
v_and_b32_e32 v11, 63, v0
v_lshrrev_b32_e32 v0, 4, v0
v_mov_b32_dpp v9, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1
v_max_f32_e32 v10, v1, v9
v_cmp_o_f32_e32 vcc, v1, v9
v_cndmask_b32_e32 v1, v8, v10, vcc
v_and_b32_e32 v0, 12, v0
s_nop 0
v_mov_b32_dpp v9, v1 quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf bound_ctrl:1
v_max_f32_e32 v10, v1, v9
v_cmp_o_f32_e32 vcc, v1, v9
v_cndmask_b32_e32 v1, v8, v10, vcc
ds_swizzle_b32 v9, v1 offset:swizzle(SWAP,4)
s_waitcnt lgkmcnt(0)
v_max_f32_e32 v10, v1, v9
v_cmp_o_f32_e32 vcc, v1, v9
v_cndmask_b32_e32 v1, v8, v10, vcc
s_nop 1
v_mov_b32_dpp v9, v1 row_ror:8 row_mask:0xf bank_mask:0xf bound_ctrl:1
v_max_f32_e32 v10, v1, v9
v_cmp_o_f32_e32 vcc, v1, v9
v_cndmask_b32_e32 v1, v8, v10, vcc
ds_swizzle_b32 v9, v1 offset:swizzle(SWAP,16)
s_waitcnt lgkmcnt(0)
v_max_f32_e32 v10, v1, v9
v_cmp_o_f32_e32 vcc, v1, v9
v_lshlrev_b32_e32 v1, 2, v11
v_cndmask_b32_e32 v9, v8, v10, vcc
v_xor_b32_e32 v1, 0x80, v1
ds_bpermute_b32 v10, v1, v9
v_cmp_eq_u32_e32 vcc, 0, v11
s_and_saveexec_b64 s[6:7], vcc
s_cbranch_execz 5
s_waitcnt lgkmcnt(0)
v_max_f32_e32 v11, v9, v10
v_cmp_o_f32_e64 s[0:1], v9, v10
v_cndmask_b32_e64 v9, v8, v11, s[0:1]
ds_write_b32 v0, v9
s_or_b64 exec, exec, s[6:7]
v_mov_b32_e32 v9, 0
s_waitcnt lgkmcnt(0)
s_barrier
ds_read_b128 v[10:13], v9
s_mov_b32 s6, 0xc2d00000
v_mov_b32_e32 v16, 0x3c08939a
s_waitcnt lgkmcnt(0)
v_max_f32_e32 v9, v10, v11
v_cmp_o_f32_e64 s[0:1], v10, v11
v_cndmask_b32_e64 v9, v8, v9, s[0:1]
v_max_f32_e32 v10, v12, v13
v_cmp_o_f32_e64 s[0:1], v12, v13
v_cndmask_b32_e64 v10, v8, v10, s[0:1]
v_max_f32_e32 v11, v9, v10
v_cmp_o_f32_e64 s[0:1], v9, v10
v_cndmask_b32_e64 v8, v8, v11, s[0:1]
v_sub_f32_e32 v2, v2, v8
v_sub_f32_e32 v3, v3, v8
v_sub_f32_e32 v4, v4, v8
v_sub_f32_e32 v5, v5, v8
v_mov_b32_e32 v8, 0xc2d00000
v_cmp_ngt_f32_e64 s[0:1], s6, v2
v_cndmask_b32_e64 v2, v8, v2, s[0:1]
v_cmp_ngt_f32_e64 s[0:1], s6, v3
v_cndmask_b32_e64 v3, v8, v3, s[0:1]
v_cmp_ngt_f32_e64 s[0:1], s6, v4
v_cndmask_b32_e64 v4, v8, v4, s[0:1]
v_cmp_ngt_f32_e64 s[0:1], s6, v5
s_mov_b32 s6, 0x42b20000
v_cndmask_b32_e64 v5, v8, v5, s[0:1]
v_mov_b32_e32 v8, 0x42b20000
v_cmp_nlt_f32_e64 s[0:1], s6, v2
v_cndmask_b32_e64 v2, v8, v2, s[0:1]
v_cmp_nlt_f32_e64 s[0:1], s6, v3
v_cndmask_b32_e64 v3, v8, v3, s[0:1]
v_cmp_nlt_f32_e64 s[0:1], s6, v4
v_cndmask_b32_e64 v4, v8, v4, s[0:1]
v_cmp_nlt_f32_e64 s[0:1], s6, v5
v_cndmask_b32_e64 v5, v8, v5, s[0:1]
v_mov_b32_e32 v8, 0x4b40007f
v_mov_b32_e32 v9, 0x4b40007f
v_mov_b32_e32 v10, 0x4b40007f
v_mov_b32_e32 v11, 0x4b40007f
v_fmac_f32_e32 v9, 0x3f38aa3b, v2
v_fmac_f32_e32 v10, 0x3f38aa3b, v3
v_fmac_f32_e32 v11, 0x3f38aa3b, v4
v_fmac_f32_e32 v8, 0x3f38aa3b, v5
v_add_f32_e32 v12, 0xcb40007f, v9
v_add_f32_e32 v13, 0xcb40007f, v10
v_add_f32_e32 v14, 0xcb40007f, v11
v_add_f32_e32 v15, 0xcb40007f, v8
v_fmac_f32_e32 v2, 0xbfb17218, v12
v_fmac_f32_e32 v3, 0xbfb17218, v13
v_fmac_f32_e32 v4, 0xbfb17218, v14
v_fmac_f32_e32 v5, 0xbfb17218, v15
v_fmac_f32_e32 v2, 0x3182e308, v12
v_fmac_f32_e32 v3, 0x3182e308, v13
v_fmac_f32_e32 v4, 0x3182e308, v14
v_fmac_f32_e32 v5, 0x3182e308, v15
v_mov_b32_e32 v12, 0x3ab8e208
v_mov_b32_e32 v13, 0x3ab8e208
v_mov_b32_e32 v14, 0x3ab8e208
v_mov_b32_e32 v15, 0x3ab8e208
v_fmac_f32_e32 v13, 0x394dd420, v2
v_fmac_f32_e32 v14, 0x394dd420, v3
v_fmac_f32_e32 v15, 0x394dd420, v4
v_fmac_f32_e32 v12, 0x394dd420, v5
v_fma_f32 v13, v13, v2, v16
v_fma_f32 v14, v14, v3, v16
v_fma_f32 v15, v15, v4, v16
v_fmac_f32_e32 v16, v12, v5
v_mov_b32_e32 v12, 0x3d2aa4ef
v_fma_f32 v13, v13, v2, v12
v_fma_f32 v14, v14, v3, v12
v_fma_f32 v15, v15, v4, v12
v_fmac_f32_e32 v12, v16, v5
v_mov_b32_e32 v16, 0x3e2aaa89
v_fma_f32 v13, v13, v2, v16
v_fma_f32 v14, v14, v3, v16
v_fma_f32 v15, v15, v4, v16
v_fmac_f32_e32 v16, v12, v5
v_mov_b32_e32 v12, 0x3f000006
v_fma_f32 v13, v13, v2, v12
v_fma_f32 v14, v14, v3, v12
v_fma_f32 v15, v15, v4, v12
v_fmac_f32_e32 v12, v16, v5
v_fma_f32 v13, v13, v2, 1.0
v_fma_f32 v14, v14, v3, 1.0
v_fma_f32 v15, v15, v4, 1.0
v_fma_f32 v12, v12, v5, 1.0
v_fma_f32 v2, v13, v2, 1.0
v_fma_f32 v3, v14, v3, 1.0
v_fma_f32 v4, v15, v4, 1.0
v_fma_f32 v5, v12, v5, 1.0
v_lshlrev_b32_e32 v9, 23, v9
v_lshlrev_b32_e32 v10, 23, v10
v_lshlrev_b32_e32 v11, 23, v11
v_lshlrev_b32_e32 v8, 23, v8
v_mul_f32_e32 v2, v2, v9
v_mul_f32_e32 v3, v3, v10
v_mul_f32_e32 v12, v4, v11
v_mul_f32_e32 v13, v5, v8
v_mul_f32_e32 v5, v2, v9
v_mul_f32_e32 v4, v3, v10
v_mul_f32_e32 v3, v12, v11
v_mul_f32_e32 v2, v13, v8
v_add_f32_e32 v8, v5, v4
v_add_f32_e32 v9, v3, v2
v_add_f32_e32 v8, v8, v9
s_nop 1
v_add_f32_dpp v8, v8, v8 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1
s_nop 1
v_add_f32_dpp v8, v8, v8 quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf bound_ctrl:1
ds_swizzle_b32 v9, v8 offset:swizzle(SWAP,4)
s_waitcnt lgkmcnt(0)
v_add_f32_e32 v8, v8, v9
s_nop 1
v_add_f32_dpp v8, v8, v8 row_ror:8 row_mask:0xf bank_mask:0xf bound_ctrl:1
ds_swizzle_b32 v9, v8 offset:swizzle(SWAP,16)
s_waitcnt lgkmcnt(0)
v_add_f32_e32 v8, v8, v9
ds_bpermute_b32 v1, v1, v8
s_and_saveexec_b64 s[0:1], vcc
s_cbranch_execz 3
s_waitcnt lgkmcnt(0)
v_add_f32_e32 v1, v8, v1
ds_write_b32 v0, v1 offset:128
s_or_b64 exec, exec, s[0:1]
s_waitcnt lgkmcnt(0)
s_barrier
s_and_saveexec_b64 s[0:1], s[2:3]
s_cbranch_execz 55
v_mov_b32_e32 v0, 0
ds_read_b128 v[8:11], v0 offset:128
s_load_dwordx2 s[0:1], s[0:1], 0x18
s_waitcnt lgkmcnt(0)
v_add_f32_e32 v0, v8, v9
v_add_f32_e32 v1, v10, v11
v_add_f32_e32 v0, v0, v1
v_div_scale_f32 v1, s[2:3], v0, v0, v5
v_rcp_f32_e32 v8, v1
v_div_scale_f32 v9, vcc, v5, v0, v5
v_div_scale_f32 v10, s[2:3], v0, v0, v4
v_fma_f32 v11, -v1, v8, 1.0
v_fmac_f32_e32 v8, v11, v8
v_mul_f32_e32 v11, v9, v8
v_fma_f32 v12, -v1, v11, v9
v_fmac_f32_e32 v11, v12, v8
v_fma_f32 v1, -v1, v11, v9
v_rcp_f32_e32 v9, v10
v_div_fmas_f32 v1, v1, v8, v11
v_div_fixup_f32 v8, v1, v0, v5
v_fma_f32 v1, -v10, v9, 1.0
v_fmac_f32_e32 v9, v1, v9
v_div_scale_f32 v1, vcc, v4, v0, v4
v_mul_f32_e32 v5, v1, v9
v_fma_f32 v11, -v10, v5, v1
v_fmac_f32_e32 v5, v11, v9
v_fma_f32 v1, -v10, v5, v1
v_div_scale_f32 v10, s[2:3], v0, v0, v3
v_rcp_f32_e32 v11, v10
v_div_fmas_f32 v1, v1, v9, v5
v_div_fixup_f32 v9, v1, v0, v4
v_fma_f32 v1, -v10, v11, 1.0
v_fmac_f32_e32 v11, v1, v11
v_div_scale_f32 v1, vcc, v3, v0, v3
v_mul_f32_e32 v4, v1, v11
v_fma_f32 v5, -v10, v4, v1
v_fmac_f32_e32 v4, v5, v11
v_div_scale_f32 v5, s[2:3], v0, v0, v2
v_rcp_f32_e32 v12, v5
v_fma_f32 v1, -v10, v4, v1
v_div_fmas_f32 v1, v1, v11, v4
v_div_fixup_f32 v10, v1, v0, v3
v_fma_f32 v1, -v5, v12, 1.0
v_fmac_f32_e32 v12, v1, v12
v_div_scale_f32 v1, vcc, v2, v0, v2
v_mul_f32_e32 v3, v1, v12
v_fma_f32 v4, -v5, v3, v1
v_fmac_f32_e32 v3, v4, v12
v_fma_f32 v1, -v5, v3, v1
v_div_fmas_f32 v1, v1, v12, v3
v_div_fixup_f32 v11, v1, v0, v2
v_mov_b32_e32 v1, s1
v_add_co_u32_e32 v0, vcc, s0, v6
v_addc_co_u32_e32 v1, vcc, v1, v7, vcc
global_store_dwordx4 v[0:1], v[8:11], off
s_endpgm
