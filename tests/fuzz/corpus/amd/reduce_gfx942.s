942 16384 64 64
s_load_dwordx8 s[4:11], s[0:1], 0x0
s_waitcnt lgkmcnt(0)
s_cmp_lt_i32 s2, s6
s_cselect_b64 s[6:7], -1, 0
s_cmp_lt_i32 s8, 1
s_cbranch_scc1 64
v_and_b32_e32 v1, 63, v0
s_mul_i32 s0, s2, s8
v_lshlrev_b32_e32 v8, 2, v0
v_cmp_eq_u32_e32 vcc, 0, v1
v_lshrrev_b32_e32 v2, 4, v0
v_lshlrev_b32_e32 v1, 2, v1
s_mov_b32 s3, 0
v_and_b32_e32 v9, 12, v2
s_add_i32 s9, s8, 0xfffffc00
v_xor_b32_e32 v10, 0x80, v1
v_add_u32_e32 v11, s0, v8
v_mov_b32_e32 v7, 0
v_mov_b32_e32 v1, 0
s_branch 13
s_or_b64 exec, exec, s[0:1]
s_waitcnt lgkmcnt(0)
s_barrier
ds_read_b128 v[2:5], v7
s_add_i32 s0, s3, 0x400
s_cmp_ge_i32 s3, s9
s_mov_b32 s3, s0
s_waitcnt lgkmcnt(0)
v_add_f32_e32 v2, v2, v3
v_add_f32_e32 v3, v4, v5
v_add_f32_e32 v2, v2, v3
v_add_f32_e32 v1, v1, v2
s_cbranch_scc1 38
v_add_u32_e32 v2, s3, v8
v_cmp_gt_i32_e64 s[0:1], s8, v2
s_and_b64 s[12:13], s[6:7], s[0:1]
v_mov_b32_e32 v2, 0
v_mov_b32_e32 v3, 0
v_mov_b32_e32 v4, 0
v_mov_b32_e32 v5, 0
s_and_saveexec_b64 s[0:1], s[12:13]
s_cbranch_execz 3
v_add_u32_e32 v6, s3, v11
v_lshl_add_u64 v[2:3], v[6:7], 2, s[4:5]
global_load_dwordx4 v[2:5], v[2:3], off
s_or_b64 exec, exec, s[0:1]
s_waitcnt vmcnt(0)
v_add_f32_e32 v2, v2, v3
v_add_f32_e32 v3, v4, v5
v_add_f32_e32 v2, v2, v3
s_barrier
s_nop 0
v_add_f32_dpp v2, v2, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf bound_ctrl:1
s_nop 1
v_add_f32_dpp v2, v2, v2 quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf bound_ctrl:1
ds_swizzle_b32 v3, v2 offset:swizzle(SWAP,4)
s_waitcnt lgkmcnt(0)
v_add_f32_e32 v2, v2, v3
s_nop 1
v_add_f32_dpp v2, v2, v2 row_ror:8 row_mask:0xf bank_mask:0xf bound_ctrl:1
ds_swizzle_b32 v3, v2 offset:swizzle(SWAP,16)
s_waitcnt lgkmcnt(0)
v_add_f32_e32 v2, v2, v3
ds_bpermute_b32 v3, v10, v2
s_and_saveexec_b64 s[0:1], vcc
s_cbranch_execz 65490
s_waitcnt lgkmcnt(0)
v_add_f32_e32 v2, v2, v3
ds_write_b32 v9, v2
s_branch 65486
v_mov_b32_e32 v1, 0
v_cmp_eq_u32_e32 vcc, 0, v0
s_mov_b32 s3, 0
s_and_b64 s[0:1], s[6:7], vcc
s_and_saveexec_b64 s[4:5], s[0:1]
s_cbranch_execz 5
s_lshl_b64 s[0:1], s[2:3], 2
s_add_u32 s0, s10, s0
s_addc_u32 s1, s11, s1
v_mov_b32_e32 v0, 0
global_store_dword v0, v1, s[0:1]
s_endpgm
