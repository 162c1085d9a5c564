1100 16384 64 32
s_load_b256 s[4:11], s[0:1], null
s_mov_b32 s2, s15
s_waitcnt lgkmcnt(0)
s_cmp_lt_i32 s15, s6
s_cselect_b32 s6, -1, 0
s_cmp_lt_i32 s8, 1
s_cbranch_scc1 72
v_lshlrev_b32_e32 v9, 2, v0
v_lshrrev_b32_e32 v2, 3, v0
v_dual_mov_b32 v12, 0 :: v_dual_and_b32 v1, 31, v0
s_mov_b32 s7, 0
s_delay_alu instid0(VALU_DEP_3) | instskip(NEXT) | instid1(VALU_DEP_3)
v_mad_u64_u32 v[10:11], null, s2, s8, v[9:10]
v_dual_mov_b32 v15, 0 :: v_dual_and_b32 v16, 12, v2
s_add_i32 s3, s8, 0xfffffc00
s_mov_b32 s9, 0x76543210
v_cmp_eq_u32_e32 vcc_lo, 0, v1
s_branch 13
s_or_b32 exec_lo, exec_lo, s0
s_waitcnt lgkmcnt(0)
s_barrier
ds_load_b128 v[1:4], v12
s_add_i32 s0, s7, 0x400
s_cmp_ge_i32 s7, s3
s_mov_b32 s7, s0
s_waitcnt lgkmcnt(0)
v_dual_add_f32 v1, v1, v2 :: v_dual_add_f32 v2, v3, v4
s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
v_add_f32_e32 v1, v1, v2
v_add_f32_e32 v15, v15, v1
s_cbranch_scc1 49
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_2) | instid1(VALU_DEP_3)
v_dual_mov_b32 v2, 0 :: v_dual_add_nc_u32 v11, s7, v10
v_dual_mov_b32 v4, 0 :: v_dual_add_nc_u32 v5, s7, v9
v_mov_b32_e32 v1, 0
v_lshlrev_b64 v[6:7], 2, v[11:12]
v_mov_b32_e32 v3, 0
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_3)
v_cmp_gt_i32_e64 s0, s8, v5
v_add_co_u32 v13, s1, s4, v6
s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(SALU_CYCLE_1)
v_add_co_ci_u32_e64 v14, null, s5, v7, s1
s_and_b32 s1, s6, s0
s_and_saveexec_b32 s0, s1
s_cbranch_execz 1
global_load_b128 v[1:4], v[13:14], off
s_or_b32 exec_lo, exec_lo, s0
v_dual_mov_b32 v5, 0 :: v_dual_add_nc_u32 v6, 0x200, v5
v_dual_mov_b32 v8, 0 :: v_dual_mov_b32 v7, 0
s_delay_alu instid0(VALU_DEP_2) | instskip(SKIP_2) | instid1(SALU_CYCLE_1)
v_cmp_gt_i32_e64 s0, s8, v6
v_mov_b32_e32 v6, 0
s_and_b32 s1, s6, s0
s_and_saveexec_b32 s0, s1
s_cbranch_execz 1
global_load_b128 v[5:8], v[13:14], off offset:2048
s_or_b32 exec_lo, exec_lo, s0
s_waitcnt vmcnt(0)
v_dual_add_f32 v1, v1, v2 :: v_dual_add_f32 v2, v3, v4
v_dual_add_f32 v3, v5, v6 :: v_dual_add_f32 v4, v7, v8
s_barrier
s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
v_add_f32_e32 v1, v1, v2
v_add_f32_e32 v2, v3, v4
s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
v_add_f32_e32 v1, v1, v2
v_add_f32_dpp v1, v1, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1
s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
v_add_f32_dpp v1, v1, v1 quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf bound_ctrl:1
v_add_f32_dpp v1, v1, v1 row_xmask:4 row_mask:0xf bank_mask:0xf bound_ctrl:1
s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
v_add_f32_dpp v1, v1, v1 row_xmask:8 row_mask:0xf bank_mask:0xf bound_ctrl:1
v_permlanex16_b32 v2, v1, s9, 0xfedcba98
s_and_saveexec_b32 s0, vcc_lo
s_cbranch_execz 65479
s_delay_alu instid0(VALU_DEP_1)
v_add_f32_e32 v1, v1, v2
ds_store_b32 v16, v1
s_branch 65475
v_mov_b32_e32 v15, 0
v_cmp_eq_u32_e32 vcc_lo, 0, v0
s_mov_b32 s3, 0
s_and_b32 s0, s6, vcc_lo
s_delay_alu instid0(SALU_CYCLE_1)
s_and_saveexec_b32 s1, s0
s_cbranch_execz 5
s_lshl_b64 s[0:1], s[2:3], 2
v_mov_b32_e32 v0, 0
s_add_u32 s0, s10, s0
s_addc_u32 s1, s11, s1
global_store_b32 v0, v15, s[0:1]
s_endpgm
