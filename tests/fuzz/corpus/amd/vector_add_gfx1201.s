1201 16384 64 32
s_clause 0x1
s_load_b128 s[8:11], s[0:1], 0x0
s_load_b64 s[4:5], s[0:1], 0x10
v_dual_mov_b32 v1, 0 :: v_dual_lshlrev_b32 v2, 2, v0
s_mov_b32 s2, ttmp9
s_mov_b32 s3, 0
v_dual_mov_b32 v5, 0 :: v_dual_mov_b32 v6, 0
s_lshl_b64 s[2:3], s[2:3], 10
v_dual_mov_b32 v7, 0 :: v_dual_mov_b32 v8, 0
v_or_b32_e32 v0, s2, v2
v_cmp_gt_i64_e64 s3, 0x7fffffff, s[2:3]
s_delay_alu instid0(VALU_DEP_2)
v_lshlrev_b64_e32 v[17:18], 2, v[0:1]
s_and_b32 s3, s3, exec_lo
s_cselect_b32 s2, s2, 0x7fffffff
s_wait_kmcnt 0x0
s_wait_alu depctr_sa_sdst(0)
s_sub_co_i32 s2, s10, s2
v_add_co_u32 v9, vcc_lo, s8, v17
s_delay_alu instid0(VALU_DEP_1)
v_add_co_ci_u32_e64 v10, null, s9, v18, vcc_lo
s_wait_alu depctr_sa_sdst(0)
v_cmp_gt_i32_e32 vcc_lo, s2, v2
s_and_saveexec_b32 s3, vcc_lo
s_cbranch_execz 1
global_load_b128 v[5:8], v[9:10], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s3
v_or_b32_e32 v0, 0x200, v2
v_dual_mov_b32 v2, 0 :: v_dual_mov_b32 v3, 0
v_mov_b32_e32 v4, 0
s_delay_alu instid0(VALU_DEP_3)
v_cmp_gt_i32_e64 s2, s2, v0
s_and_saveexec_b32 s3, s2
s_cbranch_execz 1
global_load_b128 v[1:4], v[9:10], off offset:2048
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s3
v_add_co_u32 v19, s3, s4, v17
s_wait_alu depctr_va_sdst(0)
v_add_co_ci_u32_e64 v20, null, s5, v18, s3
v_dual_mov_b32 v9, 0 :: v_dual_mov_b32 v14, 0
v_dual_mov_b32 v13, 0 :: v_dual_mov_b32 v16, 0
v_mov_b32_e32 v15, 0
s_and_saveexec_b32 s3, vcc_lo
s_cbranch_execz 1
global_load_b128 v[13:16], v[19:20], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s3
v_dual_mov_b32 v10, 0 :: v_dual_mov_b32 v11, 0
v_mov_b32_e32 v12, 0
s_and_saveexec_b32 s3, s2
s_cbranch_execz 1
global_load_b128 v[9:12], v[19:20], off offset:2048
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s3
s_load_b64 s[0:1], s[0:1], 0x20
s_wait_kmcnt 0x0
v_add_co_u32 v17, s0, s0, v17
s_wait_alu depctr_va_sdst(0)
v_add_co_ci_u32_e64 v18, null, s1, v18, s0
s_and_saveexec_b32 s0, vcc_lo
s_cbranch_execz 4
s_wait_loadcnt 0x0
v_dual_add_f32 v5, v5, v13 :: v_dual_add_f32 v6, v6, v14
v_dual_add_f32 v7, v7, v15 :: v_dual_add_f32 v8, v8, v16
global_store_b128 v[17:18], v[5:8], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s0
s_and_saveexec_b32 s0, s2
s_cbranch_execz 4
s_wait_loadcnt 0x0
v_dual_add_f32 v0, v1, v9 :: v_dual_add_f32 v1, v2, v10
v_dual_add_f32 v2, v3, v11 :: v_dual_add_f32 v3, v4, v12
global_store_b128 v[17:18], v[0:3], off offset:2048
s_endpgm
