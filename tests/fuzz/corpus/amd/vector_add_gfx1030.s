1030 16384 64 32
s_clause 0x1
s_load_dwordx4 s[8:11], s[0:1], null
s_load_dwordx2 s[2:3], s[0:1], 0x10
v_lshlrev_b32_e32 v2, 2, v0
s_mov_b32 s7, 0
v_mov_b32_e32 v1, 0
s_lshl_b64 s[0:1], s[6:7], 10
v_mov_b32_e32 v5, 0
v_or_b32_e32 v0, s0, v2
v_cmp_gt_i64_e64 s1, 0x7fffffff, s[0:1]
v_mov_b32_e32 v6, 0
v_mov_b32_e32 v7, 0
v_mov_b32_e32 v8, 0
v_lshlrev_b64 v[17:18], 2, v[0:1]
s_and_b32 s1, s1, exec_lo
s_cselect_b32 s0, s0, 0x7fffffff
s_waitcnt lgkmcnt(0)
s_sub_i32 s0, s10, s0
v_add_co_u32 v9, vcc_lo, s8, v17
v_add_co_ci_u32_e64 v10, null, s9, v18, vcc_lo
v_cmp_gt_i32_e32 vcc_lo, s0, v2
s_and_saveexec_b32 s1, vcc_lo
s_cbranch_execz 1
global_load_dwordx4 v[5:8], v[9:10], off
s_or_b32 exec_lo, exec_lo, s1
v_or_b32_e32 v0, 0x200, v2
v_mov_b32_e32 v2, 0
v_mov_b32_e32 v3, 0
v_mov_b32_e32 v4, 0
v_cmp_gt_i32_e64 s0, s0, v0
s_and_saveexec_b32 s6, s0
s_cbranch_execz 3
v_add_co_u32 v0, s1, 0x800, v9
v_add_co_ci_u32_e64 v1, null, 0, v10, s1
global_load_dwordx4 v[1:4], v[0:1], off
s_or_b32 exec_lo, exec_lo, s6
v_add_co_u32 v19, s1, s2, v17
v_add_co_ci_u32_e64 v20, null, s3, v18, s1
v_mov_b32_e32 v9, 0
v_mov_b32_e32 v13, 0
v_mov_b32_e32 v14, 0
v_mov_b32_e32 v15, 0
v_mov_b32_e32 v16, 0
s_and_saveexec_b32 s1, vcc_lo
s_cbranch_execz 1
global_load_dwordx4 v[13:16], v[19:20], off
s_or_b32 exec_lo, exec_lo, s1
v_mov_b32_e32 v10, 0
v_mov_b32_e32 v11, 0
v_mov_b32_e32 v12, 0
s_and_saveexec_b32 s2, s0
s_cbranch_execz 3
v_add_co_u32 v9, s1, 0x800, v19
v_add_co_ci_u32_e64 v10, null, 0, v20, s1
global_load_dwordx4 v[9:12], v[9:10], off
s_or_b32 exec_lo, exec_lo, s2
s_load_dwordx2 s[2:3], s[0:1], 0x20
s_waitcnt lgkmcnt(0)
v_add_co_u32 v17, s1, s2, v17
v_add_co_ci_u32_e64 v18, null, s3, v18, s1
s_and_saveexec_b32 s1, vcc_lo
s_cbranch_execz 6
s_waitcnt vmcnt(0)
v_add_f32_e32 v5, v5, v13
v_add_f32_e32 v6, v6, v14
v_add_f32_e32 v7, v7, v15
v_add_f32_e32 v8, v8, v16
global_store_dwordx4 v[17:18], v[5:8], off
s_or_b32 exec_lo, exec_lo, s1
s_and_saveexec_b32 s1, s0
s_cbranch_execz 8
s_waitcnt vmcnt(0)
v_add_f32_e32 v0, v1, v9
v_add_f32_e32 v1, v2, v10
v_add_f32_e32 v2, v3, v11
v_add_f32_e32 v3, v4, v12
v_add_co_u32 v4, vcc_lo, 0x800, v17
v_add_co_ci_u32_e64 v5, null, 0, v18, vcc_lo
global_store_dwordx4 v[4:5], v[0:3], off
s_endpgm
