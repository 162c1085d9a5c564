1201 16384 64 32
s_load_b128 s[4:7], s[0:1], 0x8
s_mov_b32 s2, ttmp9
s_mov_b32 s3, 0
v_dual_mov_b32 v3, 0 :: v_dual_lshlrev_b32 v2, 3, v0
s_lshl_b64 s[2:3], s[2:3], 10
v_dual_mov_b32 v0, 0 :: v_dual_mov_b32 v1, 0
v_cmp_gt_i64_e64 s3, 0x7fffffff, s[2:3]
s_and_b32 s3, s3, exec_lo
s_cselect_b32 s3, s2, 0x7fffffff
s_wait_kmcnt 0x0
s_wait_alu depctr_sa_sdst(0)
s_sub_co_i32 s3, s4, s3
s_wait_alu depctr_sa_sdst(0)
v_cmp_gt_i32_e32 vcc_lo, s3, v2
s_and_saveexec_b32 s3, vcc_lo
s_cbranch_execz 4
s_load_b64 s[0:1], s[0:1], 0x0
v_or_b32_e32 v0, s2, v2
s_wait_kmcnt 0x0
global_load_b64 v[0:1], v0, s[0:1]
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s3
ds_store_2addr_b32 v2, v3, v3 offset1:1
s_wait_dscnt 0x0
s_barrier_signal -1
v_add_nc_u32_e32 v3, 4, v2
s_barrier_wait 0xffff
s_and_saveexec_b32 s0, vcc_lo
s_cbranch_execz 32
s_wait_loadcnt 0x0
v_lshrrev_b32_e32 v4, 8, v0
v_lshrrev_b32_e32 v5, 16, v0
v_and_b32_e32 v8, 0xff, v0
v_lshrrev_b32_e32 v6, 8, v1
v_lshrrev_b32_e32 v7, 16, v1
v_and_b32_e32 v9, 0xff, v4
v_and_b32_e32 v10, 0xff, v5
v_lshrrev_b64 v[4:5], 24, v[0:1]
v_dual_mov_b32 v0, 1 :: v_dual_lshlrev_b32 v5, 2, v8
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_lshlrev_b32_e32 v8, 2, v9
v_lshlrev_b32_e32 v9, 2, v10
v_lshrrev_b32_e32 v10, 24, v1
v_and_b32_e32 v4, 0xff, v4
v_and_b32_e32 v1, 0xff, v1
ds_add_u32 v5, v0
ds_add_u32 v8, v0
ds_add_u32 v9, v0
v_and_b32_e32 v5, 0xff, v6
v_and_b32_e32 v6, 0xff, v7
v_and_b32_e32 v7, 0xffff, v10
v_lshlrev_b32_e32 v4, 2, v4
v_lshlrev_b32_e32 v1, 2, v1
v_lshlrev_b32_e32 v5, 2, v5
v_lshlrev_b32_e32 v6, 2, v6
v_lshlrev_b32_e32 v7, 2, v7
ds_add_u32 v4, v0
ds_add_u32 v1, v0
ds_add_u32 v5, v0
ds_add_u32 v6, v0
ds_add_u32 v7, v0
s_or_b32 exec_lo, exec_lo, s0
s_wait_dscnt 0x0
s_barrier_signal -1
s_barrier_wait 0xffff
s_wait_loadcnt 0x0
ds_load_b32 v0, v2
ds_load_b32 v1, v3
s_wait_dscnt 0x1
global_atomic_add_u32 v2, v0, s[6:7] scope:SCOPE_DEV
s_wait_dscnt 0x0
global_atomic_add_u32 v2, v1, s[6:7] offset:4 scope:SCOPE_DEV
s_endpgm
