942 16384 64 64
s_load_dwordx4 s[4:7], s[0:1], 0x8
v_lshrrev_b32_e32 v1, 3, v0
v_lshlrev_b32_e32 v0, 2, v0
v_and_b32_e32 v0, 28, v0
v_lshl_or_b32 v2, s3, 5, v1
v_lshl_or_b32 v0, s2, 5, v0
s_waitcnt lgkmcnt(0)
v_cmp_gt_i32_e32 vcc, s4, v2
v_cmp_gt_i32_e64 s[2:3], s6, v0
s_and_b64 s[2:3], vcc, s[2:3]
s_and_saveexec_b64 s[8:9], s[2:3]
s_cbranch_execz 25
s_load_dwordx2 s[2:3], s[0:1], 0x0
v_mad_u64_u32 v[4:5], s[6:7], v2, s6, v[0:1]
v_mov_b32_e32 v5, 0
s_load_dwordx2 s[0:1], s[0:1], 0x18
s_waitcnt lgkmcnt(0)
v_lshl_add_u64 v[6:7], v[4:5], 2, s[2:3]
global_load_dwordx4 v[8:11], v[6:7], off
v_mad_u64_u32 v[0:1], s[2:3], v0, s4, v[2:3]
v_mov_b32_e32 v1, v5
v_mov_b32_e32 v2, s0
v_mov_b32_e32 v3, s1
s_mov_b32 s3, 0
s_mov_b32 s2, s4
s_lshl_b64 s[6:7], s[4:5], 3
v_lshl_add_u64 v[0:1], v[0:1], 2, v[2:3]
s_and_b32 s7, s7, 3
v_lshl_add_u64 v[2:3], s[2:3], 2, v[0:1]
s_mul_i32 s2, s4, 3
v_lshl_add_u64 v[4:5], v[0:1], 0, s[6:7]
v_lshl_add_u64 v[6:7], s[2:3], 2, v[0:1]
s_waitcnt vmcnt(0)
global_store_dword v[0:1], v8, off
global_store_dword v[2:3], v9, off
global_store_dword v[4:5], v10, off
global_store_dword v[6:7], v11, off
s_endpgm
