942 16384 64 64
s_load_dwordx4 s[4:7], s[0:1], 0x8
s_mov_b32 s3, 0
s_lshl_b64 s[2:3], s[2:3], 10
v_mov_b64_e32 v[2:3], 0x7fffffff
v_cmp_lt_i64_e32 vcc, s[2:3], v[2:3]
s_and_b64 s[8:9], vcc, exec
s_cselect_b32 s3, s2, 0x7fffffff
s_waitcnt lgkmcnt(0)
s_sub_i32 s3, s4, s3
v_lshlrev_b32_e32 v0, 2, v0
v_cmp_gt_i32_e32 vcc, s3, v0
s_and_saveexec_b64 s[4:5], vcc
s_cbranch_execz 18
s_load_dwordx2 s[4:5], s[0:1], 0x0
v_or_b32_e32 v0, s2, v0
v_mov_b32_e32 v1, 0
v_lshlrev_b64 v[8:9], 2, v[0:1]
v_lshl_add_u64 v[10:11], s[6:7], 0, v[8:9]
s_waitcnt lgkmcnt(0)
v_lshl_add_u64 v[12:13], s[4:5], 0, v[8:9]
global_load_dwordx4 v[0:3], v[10:11], off
global_load_dwordx4 v[4:7], v[12:13], off
s_load_dwordx2 s[0:1], s[0:1], 0x20
s_waitcnt vmcnt(0)
v_add_f32_e32 v0, v4, v0
v_add_f32_e32 v1, v5, v1
v_add_f32_e32 v2, v6, v2
v_add_f32_e32 v3, v7, v3
s_waitcnt lgkmcnt(0)
v_lshl_add_u64 v[4:5], s[0:1], 0, v[8:9]
global_store_dwordx4 v[4:5], v[0:3], off
s_endpgm
