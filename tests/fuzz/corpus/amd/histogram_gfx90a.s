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
v_mov_b32_e32 v5, 0
v_mov_b32_e32 v3, 0
v_mov_b32_e32 v4, 0
v_mov_b32_e32 v2, 0
v_mov_b32_e32 v1, 0
s_and_saveexec_b64 s[0:1], vcc
s_cbranch_execz 8
s_load_dwordx2 s[0:1], s[4:5], 0x0
v_or_b32_e32 v1, s6, v0
s_waitcnt lgkmcnt(0)
global_load_dword v3, v1, s[4:5]
s_waitcnt vmcnt(0)
v_lshrrev_b32_e32 v1, 24, v3
v_lshrrev_b32_e32 v2, 16, v3
v_lshrrev_b32_e32 v4, 8, v3
s_or_b64 exec, exec, s[0:1]
ds_write_b32 v0, v5
s_waitcnt lgkmcnt(0)
s_barrier
s_and_saveexec_b64 s[0:1], vcc
s_cbranch_execz 10
v_mov_b32_e32 v5, 2
v_lshlrev_b32_sdwa v3, v5, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_0
v_mov_b32_e32 v6, 1
ds_add_u32 v3, v6
v_lshlrev_b32_sdwa v3, v5, v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_0
ds_add_u32 v3, v6
v_lshlrev_b32_sdwa v2, v5, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_0
ds_add_u32 v2, v6
v_lshlrev_b32_sdwa v1, v5, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_0
ds_add_u32 v1, v6
s_or_b64 exec, exec, s[0:1]
s_waitcnt lgkmcnt(0)
s_barrier
ds_read_b32 v1, v0
s_waitcnt lgkmcnt(0)
global_atomic_add v0, v1, s[2:3]
s_endpgm
