1100 16384 64 32
s_load_b128 s[4:7], s[0:1], 0x8
s_mov_b32 s2, s15
s_mov_b32 s3, 0
v_dual_mov_b32 v1, 0 :: v_dual_lshlrev_b32 v2, 3, v0
s_lshl_b64 s[2:3], s[2:3], 10
v_mov_b32_e32 v4, 0
v_cmp_gt_i64_e64 s3, 0x7fffffff, s[2:3]
v_mov_b32_e32 v0, 0
s_and_b32 s3, s3, exec_lo
s_cselect_b32 s3, s2, 0x7fffffff
s_waitcnt lgkmcnt(0)
s_sub_i32 s3, s4, s3
s_delay_alu instid0(SALU_CYCLE_1)
v_cmp_gt_i32_e32 vcc_lo, s3, v2
s_and_saveexec_b32 s3, vcc_lo
s_cbranch_execz 4
s_load_b64 s[0:1], s[0:1], null
v_or_b32_e32 v0, s2, v2
s_waitcnt lgkmcnt(0)
global_load_b64 v[0:1], v0, s[0:1]
s_or_b32 exec_lo, exec_lo, s3
v_add_nc_u32_e32 v3, 4, v2
ds_store_2addr_b32 v2, v4, v4 offset1:1
s_waitcnt lgkmcnt(0)
s_barrier
s_and_saveexec_b32 s0, vcc_lo
s_cbranch_execz 33
s_waitcnt vmcnt(0)
v_lshrrev_b32_e32 v5, 8, v0
v_mov_b16_e32 v6.l, v0.h
v_and_b32_e32 v8, 0xff, v0
v_lshrrev_b32_e32 v7, 8, v1
v_mov_b16_e32 v11.l, v1.h
v_and_b32_e32 v9, 0xff, v5
v_and_b32_e32 v10, 0xff, v6
v_lshrrev_b64 v[5:6], 24, v[0:1]
v_mov_b32_e32 v0, 1
v_lshlrev_b32_e32 v6, 2, v8
v_lshlrev_b32_e32 v8, 2, v9
v_mov_b16_e32 v4.l, 0
v_lshlrev_b32_e32 v9, 2, v10
v_and_b32_e32 v5, 0xff, v5
v_lshrrev_b32_e32 v10, 24, v1
v_and_b32_e32 v1, 0xff, v1
ds_add_u32 v6, v0
ds_add_u32 v8, v0
ds_add_u32 v9, v0
v_and_b32_e32 v6, 0xff, v7
v_and_b32_e32 v7, 0xff, v11
v_mov_b16_e32 v10.h, v4.l
v_lshlrev_b32_e32 v4, 2, v5
v_lshlrev_b32_e32 v1, 2, v1
v_lshlrev_b32_e32 v5, 2, v6
v_lshlrev_b32_e32 v6, 2, v7
v_lshlrev_b32_e32 v7, 2, v10
ds_add_u32 v4, v0
ds_add_u32 v1, v0
ds_add_u32 v5, v0
ds_add_u32 v6, v0
ds_add_u32 v7, v0
s_or_b32 exec_lo, exec_lo, s0
s_waitcnt lgkmcnt(0)
s_barrier
s_waitcnt vmcnt(0)
ds_load_b32 v0, v2
ds_load_b32 v1, v3
s_waitcnt lgkmcnt(1)
global_atomic_add_u32 v2, v0, s[6:7]
s_waitcnt lgkmcnt(0)
global_atomic_add_u32 v2, v1, s[6:7] offset:4
s_endpgm
