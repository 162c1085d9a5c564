1201 16384 64 32
s_load_b256 s[4:11], s[0:1], 0x0
v_dual_mov_b32 v7, 0 :: v_dual_lshlrev_b32 v14, 2, v0
v_lshrrev_b32_e32 v12, 3, v0
s_lshl_b32 s2, ttmp7, 5
s_lshl_b32 s3, ttmp9, 5
s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_3) | instid1(VALU_DEP_4)
v_dual_mov_b32 v6, 0 :: v_dual_and_b32 v13, 28, v14
v_mov_b32_e32 v9, 0
v_or_b32_e32 v3, s2, v12
v_mov_b32_e32 v8, 0
v_or_b32_e32 v4, s3, v13
s_wait_kmcnt 0x0
s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_3) | instid1(VALU_DEP_3)
v_mad_co_u64_u32 v[1:2], null, v3, s8, v[4:5]
v_mov_b32_e32 v2, 0
v_cmp_gt_i32_e64 s0, s6, v3
v_cmp_gt_i32_e32 vcc_lo, s8, v4
v_lshlrev_b64_e32 v[10:11], 2, v[1:2]
s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
v_add_co_u32 v10, s1, s4, v10
v_add_co_ci_u32_e64 v11, null, s5, v11, s1
s_and_b32 s1, s0, vcc_lo
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s0, s1
s_cbranch_execz 1
global_load_b128 v[6:9], v[10:11], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s0
v_or_b32_e32 v1, 16, v3
v_dual_mov_b32 v3, 0 :: v_dual_mov_b32 v4, 0
v_mov_b32_e32 v5, 0
s_delay_alu instid0(VALU_DEP_3)
v_cmp_gt_i32_e64 s0, s6, v1
s_and_b32 s1, s0, vcc_lo
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s0, s1
s_cbranch_execz 7
s_lshl_b64 s[4:5], s[8:9], 6
s_wait_alu depctr_sa_sdst(0)
s_and_b32 s1, s5, 3
v_add_co_u32 v1, vcc_lo, v10, s4
s_wait_alu depctr_sa_sdst(0)
v_add_co_ci_u32_e64 v2, null, s1, v11, vcc_lo
global_load_b128 v[2:5], v[1:2], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s0
v_and_b32_e32 v1, 12, v14
v_bfe_u32 v10, v0, 2, 2
v_and_b32_e32 v11, 16, v0
v_lshrrev_b32_e32 v15, 6, v0
v_bfe_i32 v14, v0, 5, 1
s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
v_or3_b32 v1, v1, v10, v11
v_mul_u32_u24_e32 v11, 0x48, v15
v_and_b32_e32 v15, 4, v0
s_delay_alu instid0(VALU_DEP_4) | instskip(SKIP_2) | instid1(VALU_DEP_4)
v_and_b32_e32 v10, 36, v14
v_and_b32_e32 v14, 3, v0
v_lshlrev_b32_e32 v0, 5, v0
v_cmp_ne_u32_e32 vcc_lo, 0, v15
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_xor3_b32 v1, v1, v10, v11
v_mul_u32_u24_e32 v10, 36, v14
v_and_b32_e32 v14, 12, v12
s_wait_alu depctr_va_vcc(0)
v_cndmask_b32_e64 v11, 0, 0x90, vcc_lo
v_lshlrev_b32_e32 v1, 2, v1
s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
v_xor_b32_e32 v10, v10, v11
v_xor_b32_e32 v11, 64, v1
s_wait_loadcnt 0x0
ds_store_2addr_stride64_b32 v1, v6, v7 offset1:4
ds_store_2addr_stride64_b32 v1, v8, v9 offset0:8 offset1:12
ds_store_2addr_stride64_b32 v11, v2, v3 offset0:2 offset1:6
ds_store_2addr_stride64_b32 v11, v4, v5 offset0:10 offset1:14
v_and_or_b32 v0, 0x300, v0, v10
s_wait_dscnt 0x0
s_barrier_signal -1
v_or_b32_e32 v10, s3, v12
v_or_b32_e32 v8, s2, v13
v_xor_b32_e32 v0, v0, v14
s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
v_cmp_gt_i32_e64 s0, s8, v10
v_mad_co_u64_u32 v[11:12], null, v10, s6, v[8:9]
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_2) | instid1(VALU_DEP_3)
v_lshlrev_b32_e32 v0, 2, v0
v_mov_b32_e32 v12, 0
v_cmp_gt_i32_e32 vcc_lo, s6, v8
v_xor_b32_e32 v4, 64, v0
s_delay_alu instid0(VALU_DEP_3)
v_lshlrev_b64_e32 v[11:12], 2, v[11:12]
s_barrier_wait 0xffff
ds_load_b128 v[0:3], v0
ds_load_b128 v[4:7], v4
v_add_co_u32 v8, s1, s10, v11
s_wait_alu depctr_va_sdst(0)
v_add_co_ci_u32_e64 v9, null, s11, v12, s1
s_and_b32 s1, s0, vcc_lo
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s0, s1
s_cbranch_execz 5
s_wait_dscnt 0x1
v_dual_mov_b32 v11, v0 :: v_dual_mov_b32 v12, v2
s_wait_dscnt 0x0
v_dual_mov_b32 v13, v4 :: v_dual_mov_b32 v14, v6
global_store_b128 v[8:9], v[11:14], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s0
s_wait_dscnt 0x1
v_or_b32_e32 v0, 16, v10
s_delay_alu instid0(VALU_DEP_1)
v_cmp_gt_i32_e64 s0, s8, v0
s_and_b32 s0, s0, vcc_lo
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s1, s0
s_cbranch_execz 10
s_lshl_b64 s[0:1], s[6:7], 6
s_wait_dscnt 0x0
v_dual_mov_b32 v2, v3 :: v_dual_mov_b32 v3, v5
s_wait_alu depctr_sa_sdst(0)
s_and_b32 s1, s1, 3
v_add_co_u32 v8, vcc_lo, v8, s0
s_wait_alu depctr_sa_sdst(0) depctr_va_vcc(0)
v_add_co_ci_u32_e64 v9, null, s1, v9, vcc_lo
v_mov_b32_e32 v4, v7
global_store_b128 v[8:9], v[1:4], off
s_endpgm
