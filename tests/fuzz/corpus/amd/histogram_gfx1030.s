1030 16384 64 32
s_load_dwordx4 s[0:3], s[0:1], 0x8
s_mov_b32 s7, 0
v_lshlrev_b32_e32 v2, 3, v0
s_lshl_b64 s[6:7], s[6:7], 10
v_mov_b32_e32 v4, 0
s_waitcnt lgkmcnt(0)
v_cmp_gt_i64_e64 s1, 0x7fffffff, s[6:7]
v_mov_b32_e32 v0, 0
v_mov_b32_e32 v1, 0
s_and_b32 s1, s1, exec_lo
s_cselect_b32 s1, s6, 0x7fffffff
s_sub_i32 s0, s0, s1
v_cmp_gt_i32_e32 vcc_lo, s0, v2
s_and_saveexec_b32 s0, vcc_lo
s_cbranch_execz 4
s_load_dwordx2 s[0:1], s[4:5], null
v_or_b32_e32 v0, s6, v2
s_waitcnt lgkmcnt(0)
global_load_dwordx2 v[0:1], v0, s[4:5]
s_or_b32 exec_lo, exec_lo, s0
v_add_nc_u32_e32 v3, 4, v2
ds_write2_b32 v2, v4, v4 offset1:1
s_waitcnt lgkmcnt(0)
s_barrier
s_and_saveexec_b32 s0, vcc_lo
s_cbranch_execz 27
v_mov_b32_e32 v6, 0xff
v_mov_b32_e32 v9, 2
s_waitcnt vmcnt(0)
v_lshrrev_b32_e32 v8, 8, v0
v_lshrrev_b64 v[4:5], 24, v[0:1]
v_mov_b32_e32 v11, 0xffff
v_and_b32_sdwa v5, v0, v6 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:DWORD
v_mov_b32_e32 v10, 1
v_lshlrev_b32_sdwa v0, v9, v0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_0
v_lshlrev_b32_sdwa v8, v9, v8 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_0
v_lshrrev_b32_e32 v7, 8, v1
v_lshlrev_b32_e32 v5, 2, v5
v_and_b32_sdwa v6, v1, v6 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:DWORD
v_and_b32_sdwa v11, v11, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_3
ds_add_u32 v0, v10
ds_add_u32 v8, v10
ds_add_u32 v5, v10
v_lshlrev_b32_sdwa v0, v9, v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_0
v_lshlrev_b32_sdwa v1, v9, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_0
v_lshlrev_b32_sdwa v4, v9, v7 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:BYTE_0
v_lshlrev_b32_e32 v5, 2, v6
v_lshlrev_b32_e32 v6, 2, v11
ds_add_u32 v0, v10
ds_add_u32 v1, v10
ds_add_u32 v4, v10
ds_add_u32 v5, v10
ds_add_u32 v6, v10
s_or_b32 exec_lo, exec_lo, s0
s_waitcnt lgkmcnt(0)
s_barrier
s_waitcnt vmcnt(0)
ds_read_b32 v0, v2
ds_read_b32 v1, v3
s_waitcnt lgkmcnt(1)
global_atomic_add v2, v0, s[2:3]
s_waitcnt lgkmcnt(0)
global_atomic_add v2, v1, s[2:3] offset:4
s_endpgm
