942 16384 64 64
s_load_dwordx4 s[4:7], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 2, v0
v_lshlrev_b32_e32 v2, 4, v0
s_waitcnt lgkmcnt(0)
s_mov_b32 s8, s4
s_and_b32 s9, s5, 0xffff
s_mov_b32 s10, 640
s_mov_b32 s11, 0x27000
buffer_load_dword v3, v1, s[8:11], 0 offen
buffer_load_dwordx4 v[4:7], v2, s[8:11], 0 offen offset:4
global_load_dwordx2 v[8:9], v1, s[4:5] offset:8
global_load_short_d16_hi v10, v1, s[4:5]
s_waitcnt vmcnt(0) lgkmcnt(0)
ds_write_b128 v2, v[4:7]
ds_write2st64_b32 v1, v3, v4 offset1:1
ds_read_b64 v[12:13], v1 offset:8
ds_read2_b32 v[14:15], v1 offset1:2
ds_bpermute_b32 v16, v1, v3
ds_swizzle_b32 v17, v3 offset:swizzle(SWAP,16)
ds_add_rtn_u32 v18, v1, v3
s_waitcnt lgkmcnt(0)
s_barrier
v_add_f32_dpp v19, v3, v3 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1
v_add_u32_sdwa v20, v3, v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:BYTE_0
v_pk_fma_f32 v[22:23], v[4:5], v[6:7], v[8:9] op_sel_hi:[1,0,1]
v_mfma_f32_32x32x8_f16 a[0:15], v[4:5], v[6:7], a[0:15]
v_mfma_f32_16x16x16_bf16 v[24:27], v[4:5], v[6:7], v[24:27]
v_accvgpr_read_b32 v30, a1
v_readfirstlane_b32 s12, v3
v_cmp_gt_i32_e32 vcc, 5, v0
v_cndmask_b32_e32 v31, v3, v4, vcc
s_and_saveexec_b64 s[14:15], vcc
s_cbranch_execz 2
global_atomic_add_f32 v1, v3, s[6:7]
global_atomic_cmpswap v32, v1, v[4:5], s[6:7] sc0
s_or_b64 exec, exec, s[14:15]
scratch_store_dword off, v3, off offset:4
scratch_load_dword v33, off, off offset:4
s_mov_b32 m0, 0x100
global_load_lds_dword v[8:9], off
s_waitcnt vmcnt(0)
global_store_dwordx4 v2, v[4:7], s[4:5]
s_endpgm
