1100 16384 64 32
s_load_b256 s[0:7], s[0:1], null
v_dual_mov_b32 v1, 0xff800000 :: v_dual_lshlrev_b32 v2, 2, v0
v_dual_mov_b32 v6, 0xff800000 :: v_dual_mov_b32 v7, 0xff800000
v_dual_mov_b32 v8, 0xff800000 :: v_dual_mov_b32 v5, 0xff800000
s_waitcnt lgkmcnt(0)
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_3) | instid1(VALU_DEP_2)
v_mad_u64_u32 v[3:4], null, s15, s4, v[2:3]
v_mov_b32_e32 v4, 0
v_cmp_gt_i32_e32 vcc_lo, s4, v2
s_cmp_lt_i32 s15, s2
v_lshlrev_b64 v[9:10], 2, v[3:4]
s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
v_add_co_u32 v11, s0, s0, v9
v_add_co_ci_u32_e64 v12, null, s1, v10, s0
s_cselect_b32 s0, -1, 0
s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)
s_and_b32 s1, s0, vcc_lo
s_and_saveexec_b32 s2, s1
s_cbranch_execz 1
global_load_b128 v[5:8], v[11:12], off
s_or_b32 exec_lo, exec_lo, s2
v_or_b32_e32 v2, 0x200, v2
v_dual_mov_b32 v4, 0xff800000 :: v_dual_mov_b32 v3, 0xff800000
s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_2) | instid1(SALU_CYCLE_1)
v_cmp_gt_i32_e32 vcc_lo, s4, v2
v_mov_b32_e32 v2, 0xff800000
s_and_b32 s3, s0, vcc_lo
s_and_saveexec_b32 s0, s3
s_cbranch_execz 1
global_load_b128 v[1:4], v[11:12], off offset:2048
s_or_b32 exec_lo, exec_lo, s0
s_waitcnt vmcnt(0)
v_dual_max_f32 v11, v5, v6 :: v_dual_max_f32 v12, v7, v8
v_cmp_o_f32_e32 vcc_lo, v5, v6
v_dual_max_f32 v13, v1, v2 :: v_dual_max_f32 v14, v3, v4
s_mov_b32 s2, 0x76543210
s_delay_alu instid0(VALU_DEP_3)
v_cndmask_b32_e32 v11, 0x7fc00000, v11, vcc_lo
v_cmp_o_f32_e32 vcc_lo, v7, v8
v_cndmask_b32_e32 v12, 0x7fc00000, v12, vcc_lo
v_cmp_o_f32_e32 vcc_lo, v1, v2
v_cndmask_b32_e32 v13, 0x7fc00000, v13, vcc_lo
v_cmp_o_f32_e32 vcc_lo, v3, v4
v_cndmask_b32_e32 v14, 0x7fc00000, v14, vcc_lo
s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_2)
v_dual_max_f32 v16, v13, v14 :: v_dual_max_f32 v15, v11, v12
v_cmp_o_f32_e32 vcc_lo, v11, v12
v_cndmask_b32_e32 v11, 0x7fc00000, v15, vcc_lo
v_cmp_o_f32_e32 vcc_lo, v13, v14
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_1)
v_cndmask_b32_e32 v12, 0x7fc00000, v16, vcc_lo
v_max_f32_e32 v13, v11, v12
v_cmp_o_f32_e32 vcc_lo, v11, v12
s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_2) | instid1(VALU_DEP_3)
v_cndmask_b32_e32 v11, 0x7fc00000, v13, vcc_lo
v_and_b32_e32 v13, 31, v0
v_lshrrev_b32_e32 v0, 3, v0
v_max_f32_dpp v12, v11, v11 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1
v_cmp_o_f32_e64_dpp vcc_lo, v11, v11 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1
s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
v_and_b32_e32 v0, 12, v0
v_cndmask_b32_e32 v11, 0x7fc00000, v12, vcc_lo
s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_2)
v_max_f32_dpp v12, v11, v11 quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf bound_ctrl:1
v_cmp_o_f32_e64_dpp vcc_lo, v11, v11 quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf bound_ctrl:1
v_cndmask_b32_e32 v11, 0x7fc00000, v12, vcc_lo
s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_2)
v_max_f32_dpp v12, v11, v11 row_xmask:4 row_mask:0xf bank_mask:0xf bound_ctrl:1
v_cmp_o_f32_e64_dpp vcc_lo, v11, v11 row_xmask:4 row_mask:0xf bank_mask:0xf bound_ctrl:1
v_cndmask_b32_e32 v11, 0x7fc00000, v12, vcc_lo
s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_2)
v_max_f32_dpp v12, v11, v11 row_xmask:8 row_mask:0xf bank_mask:0xf bound_ctrl:1
v_cmp_o_f32_e64_dpp vcc_lo, v11, v11 row_xmask:8 row_mask:0xf bank_mask:0xf bound_ctrl:1
v_dual_mov_b32 v11, 0 :: v_dual_cndmask_b32 v12, 0x7fc00000, v12
v_cmp_eq_u32_e32 vcc_lo, 0, v13
s_delay_alu instid0(VALU_DEP_2)
v_permlanex16_b32 v13, v12, s2, 0xfedcba98
s_and_saveexec_b32 s4, vcc_lo
s_cbranch_execz 5
s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
v_max_f32_e32 v14, v12, v13
v_cmp_o_f32_e64 s0, v12, v13
v_cndmask_b32_e64 v12, 0x7fc00000, v14, s0
ds_store_b32 v0, v12
s_or_b32 exec_lo, exec_lo, s4
s_waitcnt lgkmcnt(0)
s_barrier
ds_load_b128 v[11:14], v11
s_mov_b32 s4, 0x3f38aa3b
s_waitcnt lgkmcnt(0)
v_dual_max_f32 v15, v11, v12 :: v_dual_max_f32 v16, v13, v14
v_cmp_o_f32_e64 s0, v11, v12
s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
v_cndmask_b32_e64 v11, 0x7fc00000, v15, s0
v_cmp_o_f32_e64 s0, v13, v14
v_cndmask_b32_e64 v12, 0x7fc00000, v16, s0
s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
v_max_f32_e32 v13, v11, v12
v_cmp_o_f32_e64 s0, v11, v12
v_cndmask_b32_e64 v11, 0x7fc00000, v13, s0
s_delay_alu instid0(VALU_DEP_1)
v_sub_f32_e32 v5, v5, v11
v_sub_f32_e32 v6, v6, v11
v_sub_f32_e32 v7, v7, v11
v_sub_f32_e32 v8, v8, v11
v_sub_f32_e32 v1, v1, v11
v_cmp_ngt_f32_e64 s0, 0xc2d00000, v5
v_sub_f32_e32 v2, v2, v11
v_sub_f32_e32 v3, v3, v11
v_sub_f32_e32 v4, v4, v11
s_delay_alu instid0(VALU_DEP_4) | instskip(SKIP_1) | instid1(VALU_DEP_1)
v_cndmask_b32_e64 v5, 0xc2d00000, v5, s0
v_cmp_ngt_f32_e64 s0, 0xc2d00000, v6
v_cndmask_b32_e64 v6, 0xc2d00000, v6, s0
v_cmp_ngt_f32_e64 s0, 0xc2d00000, v7
s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
v_cndmask_b32_e64 v7, 0xc2d00000, v7, s0
v_cmp_ngt_f32_e64 s0, 0xc2d00000, v8
v_cndmask_b32_e64 v8, 0xc2d00000, v8, s0
v_cmp_ngt_f32_e64 s0, 0xc2d00000, v1
s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
v_cndmask_b32_e64 v1, 0xc2d00000, v1, s0
v_cmp_ngt_f32_e64 s0, 0xc2d00000, v2
v_cndmask_b32_e64 v2, 0xc2d00000, v2, s0
v_cmp_ngt_f32_e64 s0, 0xc2d00000, v3
s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
v_cndmask_b32_e64 v3, 0xc2d00000, v3, s0
v_cmp_ngt_f32_e64 s0, 0xc2d00000, v4
v_cndmask_b32_e64 v4, 0xc2d00000, v4, s0
v_cmp_nlt_f32_e64 s0, 0x42b20000, v5
s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_2)
v_cndmask_b32_e64 v5, 0x42b20000, v5, s0
v_cmp_nlt_f32_e64 s0, 0x42b20000, v6
v_fmaak_f32 v11, s4, v5, 0x4b40007f
s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
v_cndmask_b32_e64 v6, 0x42b20000, v6, s0
v_cmp_nlt_f32_e64 s0, 0x42b20000, v7
v_fmaak_f32 v12, s4, v6, 0x4b40007f
s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_2) | instid1(VALU_DEP_4)
v_cndmask_b32_e64 v7, 0x42b20000, v7, s0
v_cmp_nlt_f32_e64 s0, 0x42b20000, v8
v_add_f32_e32 v19, 0xcb40007f, v11
v_dual_add_f32 v20, 0xcb40007f, v12 :: v_dual_lshlrev_b32 v11, 23, v11
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_dual_fmaak_f32 v13, s4, v7, 0x4b40007f :: v_dual_lshlrev_b32 v12, 23, v12
v_cndmask_b32_e64 v8, 0x42b20000, v8, s0
v_cmp_nlt_f32_e64 s0, 0x42b20000, v1
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_dual_fmac_f32 v5, 0xbfb17218, v19 :: v_dual_fmac_f32 v6, 0xbfb17218, v20
v_add_f32_e32 v21, 0xcb40007f, v13
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_fmaak_f32 v14, s4, v8, 0x4b40007f
v_cndmask_b32_e64 v1, 0x42b20000, v1, s0
v_cmp_nlt_f32_e64 s0, 0x42b20000, v2
v_dual_fmac_f32 v5, 0x3182e308, v19 :: v_dual_fmac_f32 v6, 0x3182e308, v20
s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
v_fmaak_f32 v15, s4, v1, 0x4b40007f
v_cndmask_b32_e64 v2, 0x42b20000, v2, s0
v_cmp_nlt_f32_e64 s0, 0x42b20000, v3
v_add_f32_e32 v22, 0xcb40007f, v14
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_dual_add_f32 v23, 0xcb40007f, v15 :: v_dual_lshlrev_b32 v14, 23, v14
v_fmaak_f32 v16, s4, v2, 0x4b40007f
s_delay_alu instid0(VALU_DEP_4) | instskip(SKIP_2) | instid1(VALU_DEP_3)
v_cndmask_b32_e64 v3, 0x42b20000, v3, s0
v_cmp_nlt_f32_e64 s0, 0x42b20000, v4
v_dual_fmac_f32 v7, 0xbfb17218, v21 :: v_dual_fmac_f32 v8, 0xbfb17218, v22
v_fmaak_f32 v17, s4, v3, 0x4b40007f
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_3) | instid1(VALU_DEP_3)
v_cndmask_b32_e64 v4, 0x42b20000, v4, s0
v_add_f32_e32 v24, 0xcb40007f, v16
s_mov_b32 s0, 0x394dd420
v_dual_fmac_f32 v7, 0x3182e308, v21 :: v_dual_fmac_f32 v8, 0x3182e308, v22
v_fmaak_f32 v18, s4, v4, 0x4b40007f
v_add_f32_e32 v25, 0xcb40007f, v17
v_dual_fmac_f32 v1, 0xbfb17218, v23 :: v_dual_fmac_f32 v2, 0xbfb17218, v24
v_dual_fmaak_f32 v19, s0, v5, 0x3ab8e208 :: v_dual_fmaak_f32 v20, s0, v6, 0x3ab8e208
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_add_f32_e32 v26, 0xcb40007f, v18
v_fmac_f32_e32 v3, 0xbfb17218, v25
s_delay_alu instid0(VALU_DEP_4) | instskip(SKIP_1) | instid1(VALU_DEP_4)
v_dual_fmac_f32 v1, 0x3182e308, v23 :: v_dual_fmac_f32 v2, 0x3182e308, v24
v_dual_fmaak_f32 v21, s0, v7, 0x3ab8e208 :: v_dual_fmaak_f32 v22, s0, v8, 0x3ab8e208
v_fmac_f32_e32 v4, 0xbfb17218, v26
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_fmac_f32_e32 v3, 0x3182e308, v25
v_dual_fmaak_f32 v23, s0, v1, 0x3ab8e208 :: v_dual_fmaak_f32 v24, s0, v2, 0x3ab8e208
v_dual_fmaak_f32 v19, v19, v5, 0x3c08939a :: v_dual_fmaak_f32 v20, v20, v6, 0x3c08939a
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_fmac_f32_e32 v4, 0x3182e308, v26
v_fmaak_f32 v25, s0, v3, 0x3ab8e208
v_dual_fmaak_f32 v21, v21, v7, 0x3c08939a :: v_dual_fmaak_f32 v22, v22, v8, 0x3c08939a
v_dual_fmaak_f32 v23, v23, v1, 0x3c08939a :: v_dual_fmaak_f32 v24, v24, v2, 0x3c08939a
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_fmaak_f32 v26, s0, v4, 0x3ab8e208
v_fmaak_f32 v25, v25, v3, 0x3c08939a
v_dual_fmaak_f32 v19, v19, v5, 0x3d2aa4ef :: v_dual_fmaak_f32 v20, v20, v6, 0x3d2aa4ef
v_dual_fmaak_f32 v21, v21, v7, 0x3d2aa4ef :: v_dual_fmaak_f32 v22, v22, v8, 0x3d2aa4ef
s_delay_alu instid0(VALU_DEP_4) | instskip(SKIP_3) | instid1(VALU_DEP_4)
v_fmaak_f32 v26, v26, v4, 0x3c08939a
v_dual_fmaak_f32 v23, v23, v1, 0x3d2aa4ef :: v_dual_fmaak_f32 v24, v24, v2, 0x3d2aa4ef
v_fmaak_f32 v25, v25, v3, 0x3d2aa4ef
v_dual_fmaak_f32 v19, v19, v5, 0x3e2aaa89 :: v_dual_fmaak_f32 v20, v20, v6, 0x3e2aaa89
v_fmaak_f32 v26, v26, v4, 0x3d2aa4ef
v_dual_fmaak_f32 v21, v21, v7, 0x3e2aaa89 :: v_dual_fmaak_f32 v22, v22, v8, 0x3e2aaa89
v_dual_fmaak_f32 v23, v23, v1, 0x3e2aaa89 :: v_dual_fmaak_f32 v24, v24, v2, 0x3e2aaa89
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_4)
v_dual_fmaak_f32 v25, v25, v3, 0x3e2aaa89 :: v_dual_fmaak_f32 v26, v26, v4, 0x3e2aaa89
v_dual_fmaak_f32 v19, v19, v5, 0x3f000006 :: v_dual_fmaak_f32 v20, v20, v6, 0x3f000006
v_dual_fmaak_f32 v21, v21, v7, 0x3f000006 :: v_dual_fmaak_f32 v22, v22, v8, 0x3f000006
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_dual_fmaak_f32 v23, v23, v1, 0x3f000006 :: v_dual_fmaak_f32 v24, v24, v2, 0x3f000006
v_dual_fmaak_f32 v25, v25, v3, 0x3f000006 :: v_dual_fmaak_f32 v26, v26, v4, 0x3f000006
s_delay_alu instid0(VALU_DEP_4)
v_fma_f32 v20, v20, v6, 1.0
v_fma_f32 v19, v19, v5, 1.0
v_fma_f32 v21, v21, v7, 1.0
v_fma_f32 v22, v22, v8, 1.0
v_fma_f32 v23, v23, v1, 1.0
v_fma_f32 v25, v25, v3, 1.0
v_fma_f32 v26, v26, v4, 1.0
v_fma_f32 v6, v20, v6, 1.0
v_fma_f32 v24, v24, v2, 1.0
v_fma_f32 v5, v19, v5, 1.0
v_fma_f32 v7, v21, v7, 1.0
v_fma_f32 v8, v22, v8, 1.0
v_fma_f32 v1, v23, v1, 1.0
v_fma_f32 v3, v25, v3, 1.0
v_fma_f32 v4, v26, v4, 1.0
v_dual_mul_f32 v6, v6, v12 :: v_dual_lshlrev_b32 v13, 23, v13
v_dual_mul_f32 v20, v8, v14 :: v_dual_lshlrev_b32 v15, 23, v15
v_lshlrev_b32_e32 v17, 23, v17
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_3) | instid1(VALU_DEP_4)
v_dual_mul_f32 v19, v7, v13 :: v_dual_lshlrev_b32 v18, 23, v18
v_fma_f32 v2, v24, v2, 1.0
v_dual_mul_f32 v5, v5, v11 :: v_dual_lshlrev_b32 v16, 23, v16
v_dual_mul_f32 v8, v6, v12 :: v_dual_mul_f32 v1, v1, v15
v_dual_mul_f32 v22, v3, v17 :: v_dual_mul_f32 v23, v4, v18
s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_2)
v_dual_mul_f32 v21, v2, v16 :: v_dual_mul_f32 v12, v20, v14
v_dual_mul_f32 v7, v5, v11 :: v_dual_mul_f32 v4, v22, v17
s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
v_dual_mul_f32 v2, v1, v15 :: v_dual_mul_f32 v5, v23, v18
v_mul_f32_e32 v3, v21, v16
s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_1)
v_dual_add_f32 v1, v7, v8 :: v_dual_add_f32 v14, v4, v5
v_mul_f32_e32 v11, v19, v13
v_dual_add_f32 v13, v2, v3 :: v_dual_add_f32 v6, v11, v12
s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_2)
v_add_f32_e32 v1, v1, v6
v_add_f32_e32 v6, v13, v14
s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
v_add_f32_e32 v1, v1, v6
v_add_f32_dpp v1, v1, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1
s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
v_add_f32_dpp v1, v1, v1 quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf bound_ctrl:1
v_add_f32_dpp v1, v1, v1 row_xmask:4 row_mask:0xf bank_mask:0xf bound_ctrl:1
s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
v_add_f32_dpp v1, v1, v1 row_xmask:8 row_mask:0xf bank_mask:0xf bound_ctrl:1
v_permlanex16_b32 v6, v1, s2, 0xfedcba98
s_and_saveexec_b32 s0, vcc_lo
s_delay_alu instid0(VALU_DEP_1)
v_add_f32_e32 v1, v1, v6
ds_store_b32 v0, v1 offset:128
s_or_b32 exec_lo, exec_lo, s0
v_mov_b32_e32 v0, 0
s_waitcnt lgkmcnt(0)
s_barrier
ds_load_b128 v[13:16], v0 offset:128
s_waitcnt lgkmcnt(0)
v_dual_add_f32 v0, v13, v14 :: v_dual_add_f32 v1, v15, v16
s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_1)
v_add_f32_e32 v6, v0, v1
v_add_co_u32 v0, vcc_lo, s6, v9
v_add_co_ci_u32_e64 v1, null, s7, v10, vcc_lo
s_and_saveexec_b32 s4, s1
s_cbranch_execz 59
v_div_scale_f32 v9, null, v6, v6, v7
v_div_scale_f32 v10, null, v6, v6, v8
v_div_scale_f32 v14, null, v6, v6, v11
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_3)
v_rcp_f32_e32 v13, v9
v_div_scale_f32 v15, null, v6, v6, v12
v_rcp_f32_e32 v16, v10
s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
v_rcp_f32_e32 v17, v14
v_div_scale_f32 v21, vcc_lo, v7, v6, v7
v_rcp_f32_e32 v18, v15
v_fma_f32 v19, -v9, v13, 1.0
s_delay_alu instid0(TRANS32_DEP_3)
v_fma_f32 v20, -v10, v16, 1.0
s_waitcnt_depctr depctr_va_vdst(0)
v_fma_f32 v22, -v14, v17, 1.0
v_fmac_f32_e32 v13, v19, v13
v_div_scale_f32 v19, s0, v8, v6, v8
v_fma_f32 v23, -v15, v18, 1.0
s_delay_alu instid0(VALU_DEP_4) | instskip(SKIP_1) | instid1(VALU_DEP_3)
v_dual_fmac_f32 v16, v20, v16 :: v_dual_fmac_f32 v17, v22, v17
v_div_scale_f32 v20, s1, v11, v6, v11
v_dual_fmac_f32 v18, v23, v18 :: v_dual_mul_f32 v23, v21, v13
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_4)
v_mul_f32_e32 v24, v19, v16
v_div_scale_f32 v22, s2, v12, v6, v12
v_mul_f32_e32 v25, v20, v17
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_fma_f32 v27, -v9, v23, v21
v_fma_f32 v28, -v10, v24, v19
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_mul_f32_e32 v26, v22, v18
v_fma_f32 v29, -v14, v25, v20
s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
v_dual_fmac_f32 v23, v27, v13 :: v_dual_fmac_f32 v24, v28, v16
v_fma_f32 v30, -v15, v26, v22
s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
v_fmac_f32_e32 v25, v29, v17
v_fma_f32 v9, -v9, v23, v21
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_fma_f32 v10, -v10, v24, v19
v_fmac_f32_e32 v26, v30, v18
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_fma_f32 v14, -v14, v25, v20
v_div_fmas_f32 v9, v9, v13, v23
s_mov_b32 vcc_lo, s0
s_delay_alu instid0(VALU_DEP_3)
v_fma_f32 v15, -v15, v26, v22
v_div_fmas_f32 v10, v10, v16, v24
s_mov_b32 vcc_lo, s1
v_div_fixup_f32 v7, v9, v6, v7
v_div_fmas_f32 v13, v14, v17, v25
s_mov_b32 vcc_lo, s2
v_div_fixup_f32 v8, v10, v6, v8
v_div_fmas_f32 v14, v15, v18, v26
s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_2)
v_div_fixup_f32 v9, v13, v6, v11
v_div_fixup_f32 v10, v14, v6, v12
global_store_b128 v[0:1], v[7:10], off
s_or_b32 exec_lo, exec_lo, s4
s_and_saveexec_b32 s0, s3
s_cbranch_execz 59
v_div_scale_f32 v7, null, v6, v6, v2
v_div_scale_f32 v8, null, v6, v6, v3
v_div_scale_f32 v10, null, v6, v6, v4
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_3)
v_rcp_f32_e32 v9, v7
v_div_scale_f32 v11, null, v6, v6, v5
v_rcp_f32_e32 v12, v8
s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_1) | instid1(VALU_DEP_2)
v_rcp_f32_e32 v13, v10
v_div_scale_f32 v17, vcc_lo, v2, v6, v2
v_rcp_f32_e32 v14, v11
v_fma_f32 v15, -v7, v9, 1.0
s_delay_alu instid0(TRANS32_DEP_3)
v_fma_f32 v16, -v8, v12, 1.0
s_waitcnt_depctr depctr_va_vdst(0)
v_fma_f32 v18, -v10, v13, 1.0
v_fmac_f32_e32 v9, v15, v9
v_div_scale_f32 v15, s0, v3, v6, v3
v_fma_f32 v19, -v11, v14, 1.0
s_delay_alu instid0(VALU_DEP_4) | instskip(SKIP_1) | instid1(VALU_DEP_3)
v_dual_fmac_f32 v12, v16, v12 :: v_dual_fmac_f32 v13, v18, v13
v_div_scale_f32 v16, s1, v4, v6, v4
v_dual_fmac_f32 v14, v19, v14 :: v_dual_mul_f32 v19, v17, v9
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_1) | instid1(VALU_DEP_4)
v_mul_f32_e32 v20, v15, v12
v_div_scale_f32 v18, s2, v5, v6, v5
v_mul_f32_e32 v21, v16, v13
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_fma_f32 v23, -v7, v19, v17
v_fma_f32 v24, -v8, v20, v15
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_mul_f32_e32 v22, v18, v14
v_fma_f32 v25, -v10, v21, v16
s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
v_dual_fmac_f32 v19, v23, v9 :: v_dual_fmac_f32 v20, v24, v12
v_fma_f32 v26, -v11, v22, v18
s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
v_fmac_f32_e32 v21, v25, v13
v_fma_f32 v7, -v7, v19, v17
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_fma_f32 v8, -v8, v20, v15
v_fmac_f32_e32 v22, v26, v14
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_fma_f32 v10, -v10, v21, v16
v_div_fmas_f32 v7, v7, v9, v19
s_mov_b32 vcc_lo, s0
s_delay_alu instid0(VALU_DEP_3)
v_fma_f32 v11, -v11, v22, v18
v_div_fmas_f32 v8, v8, v12, v20
s_mov_b32 vcc_lo, s1
v_div_fixup_f32 v2, v7, v6, v2
v_div_fmas_f32 v9, v10, v13, v21
s_mov_b32 vcc_lo, s2
v_div_fixup_f32 v3, v8, v6, v3
v_div_fmas_f32 v10, v11, v14, v22
s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_2)
v_div_fixup_f32 v4, v9, v6, v4
v_div_fixup_f32 v5, v10, v6, v5
global_store_b128 v[0:1], v[2:5], off offset:2048
s_endpgm
