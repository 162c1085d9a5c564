90a 16384 64 64
s_load_dwordx4 s[0:3], s[0:1], 0x8
s_mov_b32 s7, 0
v_bfrev_b32_e32 v2, -2
s_lshl_b64 s[6:7], s[6:7], 10
v_mov_b32_e32 v3, 0
v_cmp_lt_i64_e32 vcc, s[6:7], v[2:3]
s_and_b64 s[8:9], vcc, exec
s_waitcnt lgkmcnt(0)
s_cselect_b32 s1, s6, 0x7fffffff
s_sub_i32 s0, s0, s1
v_lshlrev_b32_e32 v0, 2, v0
v_cmp_gt_i32_e32 vcc, s0, v0
s_and_saveexec_b64 s[0:1], vcc
s_cbranch_execz 24
s_load_dwordx2 s[0:1], s[0:1], 0x0
v_or_b32_e32 v0, s6, v0
v_mov_b32_e32 v1, 0
v_lshlrev_b64 v[8:9], 2, v[0:1]
s_waitcnt lgkmcnt(0)
v_mov_b32_e32 v0, s1
v_add_co_u32_e32 v10, vcc, s0, v8
v_addc_co_u32_e32 v11, vcc, v0, v9, vcc
v_mov_b32_e32 v0, s3
v_add_co_u32_e32 v12, vcc, s2, v8
v_addc_co_u32_e32 v13, vcc, v0, v9, vcc
global_load_dwordx4 v[0:3], v[12:13], off
global_load_dwordx4 v[4:7], v[10:11], off
s_load_dwordx2 s[0:1], s[0:1], 0x20
s_waitcnt lgkmcnt(0)
v_mov_b32_e32 v10, s1
s_waitcnt vmcnt(0)
v_add_f32_e32 v0, v4, v0
v_add_co_u32_e32 v4, vcc, s0, v8
v_add_f32_e32 v1, v5, v1
v_add_f32_e32 v2, v6, v2
v_add_f32_e32 v3, v7, v3
v_addc_co_u32_e32 v5, vcc, v10, v9, vcc
global_store_dwordx4 v[4:5], v[0:3], off
s_endpgm
