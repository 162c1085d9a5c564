942 16384 64 64
s_load_dwordx8 s[8:15], s[0:1], 0x0
s_waitcnt lgkmcnt(0)
s_lshl_b32 s11, s2, 5
v_lshrrev_b32_e32 v1, 2, v0
v_lshlrev_b32_e32 v34, 3, v0
v_or_b32_e32 v4, s11, v1
v_and_b32_e32 v50, 24, v34
v_mad_u64_u32 v[52:53], s[4:5], v4, s12, v[50:51]
v_mov_b32_e32 v53, 0
v_cmp_gt_i32_e32 vcc, s10, v4
v_cmp_gt_i32_e64 s[6:7], s12, v50
v_mov_b32_e32 v22, 0
v_lshl_add_u64 v[2:3], v[52:53], 1, s[8:9]
s_and_b64 s[16:17], vcc, s[6:7]
v_mov_b32_e32 v18, 0
v_mov_b32_e32 v19, 0
v_mov_b32_e32 v20, 0
v_mov_b32_e32 v21, v22
s_and_saveexec_b64 s[4:5], s[16:17]
s_cbranch_execz 1
global_load_dwordx4 v[18:21], v[2:3], off
s_or_b64 exec, exec, s[4:5]
v_or_b32_e32 v4, 16, v4
v_cmp_gt_i32_e64 s[4:5], s10, v4
s_and_b64 s[18:19], s[4:5], s[6:7]
s_lshl_b32 s6, s12, 4
s_mov_b32 s7, 0
v_mov_b32_e32 v23, v22
v_mov_b32_e32 v24, v22
v_mov_b32_e32 v25, v22
s_and_saveexec_b64 s[16:17], s[18:19]
s_cbranch_execz 2
v_lshl_add_u64 v[2:3], s[6:7], 1, v[2:3]
global_load_dwordx4 v[22:25], v[2:3], off
s_or_b64 exec, exec, s[16:17]
s_load_dwordx4 s[16:19], s[0:1], 0x28
s_lshl_b32 s13, s3, 5
v_or_b32_e32 v4, s13, v50
v_cmp_gt_i32_e64 s[0:1], s12, v1
v_mov_b32_e32 v30, 0
s_waitcnt lgkmcnt(0)
v_mad_u64_u32 v[2:3], s[2:3], v1, s16, v[4:5]
v_mov_b32_e32 v3, v53
v_cmp_gt_i32_e64 s[2:3], s16, v4
v_lshl_add_u64 v[2:3], v[2:3], 1, s[14:15]
s_and_b64 s[20:21], s[0:1], s[2:3]
v_mov_b32_e32 v26, 0
v_mov_b32_e32 v27, 0
v_mov_b32_e32 v28, 0
v_mov_b32_e32 v29, v30
s_and_saveexec_b64 s[0:1], s[20:21]
s_cbranch_execz 1
global_load_dwordx4 v[26:29], v[2:3], off
s_or_b64 exec, exec, s[0:1]
v_or_b32_e32 v51, 16, v1
v_cmp_gt_i32_e64 s[0:1], s12, v51
s_and_b64 s[22:23], s[0:1], s[2:3]
s_lshl_b32 s20, s16, 4
s_mov_b32 s21, 0
v_mov_b32_e32 v31, v30
v_mov_b32_e32 v32, v30
v_mov_b32_e32 v33, v30
s_and_saveexec_b64 s[0:1], s[22:23]
s_cbranch_execz 2
v_lshl_add_u64 v[2:3], s[20:21], 1, v[2:3]
global_load_dwordx4 v[30:33], v[2:3], off
s_or_b64 exec, exec, s[0:1]
v_mov_b32_e32 v55, 0
s_cmp_lt_i32 s12, 1
v_mov_b32_e32 v5, 0
v_mov_b32_e32 v4, 0
v_mov_b32_e32 v3, 0
v_mov_b32_e32 v2, 0
v_mov_b32_e32 v9, 0
v_mov_b32_e32 v8, 0
v_mov_b32_e32 v7, 0
v_mov_b32_e32 v6, 0
v_mov_b32_e32 v13, 0
v_mov_b32_e32 v12, 0
v_mov_b32_e32 v11, 0
v_mov_b32_e32 v10, 0
v_mov_b32_e32 v17, 0
v_mov_b32_e32 v16, 0
v_mov_b32_e32 v15, 0
v_mov_b32_e32 v14, 0
s_cbranch_scc1 243
v_bfe_i32 v5, v0, 4, 1
v_and_b32_e32 v2, 56, v34
v_bfe_u32 v3, v0, 3, 1
v_and_b32_e32 v5, 0x190, v5
v_mul_u32_u24_e32 v4, 0x48, v3
v_xor_b32_e32 v2, v2, v5
v_lshlrev_b32_e32 v5, 4, v0
v_xor_b32_e32 v2, v2, v4
v_and_b32_e32 v6, 0x200, v5
v_or_b32_e32 v2, v2, v6
v_bfe_i32 v7, v0, 1, 1
v_lshlrev_b32_e32 v53, 1, v2
v_lshlrev_b32_e32 v2, 5, v0
v_and_b32_e32 v7, 0x48, v7
v_and_or_b32 v2, v2, 32, v7
v_and_b32_e32 v7, 4, v0
v_mov_b32_e32 v8, 0x190
v_cmp_ne_u32_e64 s[0:1], 0, v7
v_and_b32_e32 v5, 0x100, v5
v_mul_u32_u24_e32 v3, 0x90, v3
v_cndmask_b32_e64 v7, 0, v8, s[0:1]
v_lshlrev_b32_e32 v8, 6, v0
v_and_b32_e32 v9, 0x200, v8
v_or3_b32 v2, v2, v7, v9
v_xor_b32_e32 v2, v2, v5
v_and_b32_e32 v5, 8, v1
v_xor_b32_e32 v2, v2, v5
v_and_b32_e32 v5, 1, v0
v_mov_b32_e32 v7, 0x48
v_cmp_eq_u32_e64 s[0:1], 1, v5
s_movk_i32 s22, 0x100
v_and_or_b32 v8, v8, s22, v50
v_cndmask_b32_e64 v5, 0, v7, s[0:1]
v_and_or_b32 v5, v0, 6, v5
v_xor_b32_e32 v3, v5, v3
v_lshlrev_b32_e32 v5, 1, v0
v_and_b32_e32 v5, 32, v5
v_xor_b32_e32 v3, v3, v5
v_xor_b32_e32 v4, v8, v4
v_or_b32_e32 v3, v3, v6
v_xor_b32_e32 v4, v4, v5
v_lshlrev_b32_e32 v3, 1, v3
v_or_b32_e32 v4, v4, v6
v_xor_b32_e32 v7, 16, v3
v_xor_b32_e32 v9, 32, v3
v_xor_b32_e32 v10, 48, v3
v_lshlrev_b32_e32 v63, 1, v2
v_lshlrev_b32_e32 v2, 1, v4
v_or_b32_e32 v65, 0x800, v3
v_add_u32_e32 v69, 0xa00, v3
v_mov_b32_e32 v3, 0x900
v_or_b32_e32 v73, 0x800, v2
v_xad_u32 v74, v2, 32, v3
v_or_b32_e32 v2, 32, v1
v_mul_lo_u32 v2, v2, s16
s_waitcnt vmcnt(0)
v_lshrrev_b32_e32 v78, 16, v30
v_lshrrev_b32_e32 v77, 16, v31
v_lshrrev_b32_e32 v76, 16, v32
v_lshrrev_b32_e32 v75, 16, v33
v_xor_b32_e32 v62, 0x200, v53
v_xor_b32_e32 v64, 32, v63
s_sub_i32 s26, s12, 32
v_lshrrev_b32_e32 v82, 16, v26
v_lshrrev_b32_e32 v81, 16, v27
v_lshrrev_b32_e32 v80, 16, v28
v_lshrrev_b32_e32 v79, 16, v29
v_lshrrev_b32_e32 v88, 16, v22
v_lshrrev_b32_e32 v90, 16, v23
v_lshrrev_b32_e32 v86, 16, v24
v_lshrrev_b32_e32 v89, 16, v25
v_lshrrev_b32_e32 v84, 16, v18
v_lshrrev_b32_e32 v87, 16, v19
v_lshrrev_b32_e32 v83, 16, v20
v_lshrrev_b32_e32 v85, 16, v21
v_add_u32_e32 v66, 0x800, v7
v_add_u32_e32 v67, 0x800, v9
v_add_u32_e32 v68, 0x800, v10
v_add_u32_e32 v70, 0xa00, v7
v_add_u32_e32 v71, 0xa00, v9
v_add_u32_e32 v72, 0xa00, v10
v_add3_u32 v56, v2, s13, v50
s_lshl_b32 s27, s16, 5
s_mov_b64 s[22:23], 32
v_mov_b32_e32 v15, 0
v_mov_b32_e32 v16, 0
v_mov_b32_e32 v17, 0
v_mov_b32_e32 v10, 0
v_mov_b32_e32 v11, 0
v_mov_b32_e32 v12, 0
v_mov_b32_e32 v13, 0
v_mov_b32_e32 v6, 0
v_mov_b32_e32 v7, 0
v_mov_b32_e32 v8, 0
v_mov_b32_e32 v9, 0
v_mov_b32_e32 v2, 0
v_mov_b32_e32 v3, 0
v_mov_b32_e32 v4, 0
v_mov_b32_e32 v5, 0
v_mov_b64_e32 v[58:59], 0x7fffffff
s_mov_b32 s28, 0x5040100
s_mov_b32 s29, 0x7060302
v_mov_b32_e32 v14, v55
s_branch 90
s_or_b64 exec, exec, s[0:1]
v_perm_b32 v93, v90, v23, s28
v_perm_b32 v92, v88, v22, s28
v_perm_b32 v91, v87, v19, s28
v_perm_b32 v90, v84, v18, s28
v_perm_b32 v23, v89, v25, s28
v_perm_b32 v22, v86, v24, s28
v_perm_b32 v21, v85, v21, s28
v_perm_b32 v20, v83, v20, s28
v_perm_b32 v18, v30, v26, s28
ds_write_b128 v53, v[90:93]
ds_write_b128 v62, v[20:23]
ds_write_b32 v65, v18
v_perm_b32 v18, v78, v82, s28
ds_write_b32 v66, v18
v_perm_b32 v18, v31, v27, s28
ds_write_b32 v67, v18
v_perm_b32 v18, v77, v81, s28
ds_write_b32 v68, v18
v_perm_b32 v18, v32, v28, s28
ds_write_b32 v69, v18
v_perm_b32 v18, v76, v80, s28
ds_write_b32 v70, v18
v_perm_b32 v18, v33, v29, s28
ds_write_b32 v71, v18
v_perm_b32 v18, v75, v79, s28
ds_write_b32 v72, v18
s_waitcnt lgkmcnt(0)
ds_read_b128 v[30:33], v63
ds_read_b128 v[18:21], v74
ds_read_b128 v[22:25], v73
ds_read_b128 v[92:95], v64
s_add_u32 s22, s22, 32
s_addc_u32 s23, s23, 0
s_waitcnt lgkmcnt(2)
v_perm_b32 v27, v20, v18, s28
s_waitcnt lgkmcnt(1)
v_perm_b32 v26, v24, v22, s28
v_perm_b32 v29, v21, v19, s28
v_perm_b32 v28, v25, v23, s28
v_mfma_f32_16x16x16_f16 v[14:17], v[30:31], v[26:27], v[14:17]
v_perm_b32 v19, v21, v19, s29
s_sub_i32 s0, s22, 64
s_waitcnt vmcnt(0)
v_lshrrev_b32_e32 v82, 16, v46
v_mfma_f32_16x16x16_f16 v[10:13], v[30:31], v[28:29], v[10:13]
v_lshrrev_b32_e32 v81, 16, v47
v_lshrrev_b32_e32 v80, 16, v48
v_lshrrev_b32_e32 v79, 16, v49
v_mfma_f32_16x16x16_f16 v[6:9], v[32:33], v[26:27], v[6:9]
v_perm_b32 v27, v20, v18, s29
v_perm_b32 v26, v24, v22, s29
v_perm_b32 v18, v25, v23, s29
v_mfma_f32_16x16x16_f16 v[2:5], v[32:33], v[28:29], v[2:5]
v_lshrrev_b32_e32 v88, 16, v34
v_lshrrev_b32_e32 v90, 16, v35
v_lshrrev_b32_e32 v86, 16, v36
s_waitcnt lgkmcnt(0)
v_mfma_f32_16x16x16_f16 v[14:17], v[92:93], v[26:27], v[14:17]
v_lshrrev_b32_e32 v89, 16, v37
v_lshrrev_b32_e32 v84, 16, v38
v_lshrrev_b32_e32 v87, 16, v39
v_mfma_f32_16x16x16_f16 v[10:13], v[92:93], v[18:19], v[10:13]
v_lshrrev_b32_e32 v83, 16, v40
v_lshrrev_b32_e32 v85, 16, v41
v_lshrrev_b32_e32 v78, 16, v42
v_mfma_f32_16x16x16_f16 v[6:9], v[94:95], v[26:27], v[6:9]
v_lshrrev_b32_e32 v77, 16, v43
v_lshrrev_b32_e32 v76, 16, v44
v_lshrrev_b32_e32 v75, 16, v45
v_mfma_f32_16x16x16_f16 v[2:5], v[94:95], v[18:19], v[2:5]
v_add_u32_e32 v56, s27, v56
s_cmp_ge_i32 s0, s26
v_mov_b32_e32 v18, v38
v_mov_b32_e32 v19, v39
v_mov_b32_e32 v20, v40
v_mov_b32_e32 v21, v41
v_mov_b32_e32 v22, v34
v_mov_b32_e32 v23, v35
v_mov_b32_e32 v24, v36
v_mov_b32_e32 v25, v37
v_mov_b32_e32 v26, v46
v_mov_b32_e32 v27, v47
v_mov_b32_e32 v28, v48
v_mov_b32_e32 v29, v49
v_mov_b32_e32 v30, v42
v_mov_b32_e32 v31, v43
v_mov_b32_e32 v32, v44
v_mov_b32_e32 v33, v45
s_cbranch_scc1 49
v_cmp_lt_i64_e64 s[0:1], s[22:23], v[58:59]
s_and_b64 s[0:1], s[0:1], exec
s_cselect_b32 s0, s22, 0x7fffffff
s_sub_i32 s30, s12, s0
v_add_u32_e32 v54, s22, v52
v_cmp_gt_i32_e64 s[0:1], s30, v50
v_mov_b32_e32 v34, 0
v_lshl_add_u64 v[42:43], v[54:55], 1, s[8:9]
s_and_b64 s[34:35], vcc, s[0:1]
v_mov_b32_e32 v38, 0
v_mov_b32_e32 v39, 0
v_mov_b32_e32 v40, 0
v_mov_b32_e32 v41, v34
s_and_saveexec_b64 s[24:25], s[34:35]
s_cbranch_execz 1
global_load_dwordx4 v[38:41], v[42:43], off
s_or_b64 exec, exec, s[24:25]
s_and_b64 s[24:25], s[4:5], s[0:1]
v_mov_b32_e32 v35, v34
v_mov_b32_e32 v36, v34
v_mov_b32_e32 v37, v34
s_and_saveexec_b64 s[0:1], s[24:25]
s_cbranch_execz 2
v_lshl_add_u64 v[34:35], s[6:7], 1, v[42:43]
global_load_dwordx4 v[34:37], v[34:35], off
s_or_b64 exec, exec, s[0:1]
v_mov_b32_e32 v57, v55
v_cmp_gt_i32_e64 s[0:1], s30, v1
v_mov_b32_e32 v42, 0
v_lshl_add_u64 v[60:61], v[56:57], 1, s[14:15]
s_and_b64 s[24:25], s[0:1], s[2:3]
v_mov_b32_e32 v46, 0
v_mov_b32_e32 v47, 0
v_mov_b32_e32 v48, 0
v_mov_b32_e32 v49, v42
s_and_saveexec_b64 s[0:1], s[24:25]
s_cbranch_execz 1
global_load_dwordx4 v[46:49], v[60:61], off
s_or_b64 exec, exec, s[0:1]
v_cmp_gt_i32_e64 s[0:1], s30, v51
s_and_b64 s[24:25], s[0:1], s[2:3]
v_mov_b32_e32 v43, v42
v_mov_b32_e32 v44, v42
v_mov_b32_e32 v45, v42
s_and_saveexec_b64 s[0:1], s[24:25]
s_cbranch_execz 65400
v_lshl_add_u64 v[42:43], s[20:21], 1, v[60:61]
global_load_dwordx4 v[42:45], v[42:43], off
s_branch 65397
s_waitcnt vmcnt(0)
v_and_or_b32 v19, v1, 12, s11
v_and_or_b32 v18, v0, 15, s13
v_mad_u64_u32 v[0:1], s[0:1], v19, s16, v[18:19]
v_mov_b32_e32 v20, s18
v_mov_b32_e32 v21, s19
v_mov_b32_e32 v1, 0
v_cmp_gt_i32_e64 s[2:3], s10, v19
v_cmp_gt_i32_e32 vcc, s16, v18
v_lshl_add_u64 v[0:1], v[0:1], 1, v[20:21]
s_and_b64 s[4:5], s[2:3], vcc
s_and_saveexec_b64 s[0:1], s[4:5]
s_cbranch_execz 2
v_cvt_f16_f32_e32 v14, v14
global_store_short v[0:1], v14, off
s_or_b64 exec, exec, s[0:1]
v_or_b32_e32 v14, 1, v19
v_cmp_gt_i32_e64 s[4:5], s10, v14
s_mov_b32 s1, 0
s_mov_b32 s0, s16
s_and_b64 s[6:7], s[4:5], vcc
v_lshl_add_u64 v[20:21], s[0:1], 1, v[0:1]
s_and_saveexec_b64 s[0:1], s[6:7]
s_cbranch_execz 2
v_cvt_f16_f32_e32 v14, v15
global_store_short v[20:21], v14, off
s_or_b64 exec, exec, s[0:1]
v_or_b32_e32 v14, 2, v19
s_lshl_b64 s[0:1], s[16:17], 2
v_cmp_gt_i32_e64 s[6:7], s10, v14
s_and_b32 s1, s1, 1
s_and_b64 s[8:9], s[6:7], vcc
v_lshl_add_u64 v[14:15], v[0:1], 0, s[0:1]
s_and_saveexec_b64 s[0:1], s[8:9]
s_cbranch_execz 2
v_cvt_f16_f32_e32 v16, v16
global_store_short v[14:15], v16, off
s_or_b64 exec, exec, s[0:1]
v_or_b32_e32 v16, 3, v19
v_cmp_gt_i32_e64 s[8:9], s10, v16
s_mul_i32 s0, s16, 3
s_mov_b32 s1, 0
s_and_b64 s[12:13], s[8:9], vcc
v_lshl_add_u64 v[22:23], s[0:1], 1, v[0:1]
s_and_saveexec_b64 s[0:1], s[12:13]
s_cbranch_execz 2
v_cvt_f16_f32_e32 v16, v17
global_store_short v[22:23], v16, off
s_or_b64 exec, exec, s[0:1]
v_or_b32_e32 v16, 16, v18
v_cmp_gt_i32_e64 s[0:1], s16, v16
s_and_b64 s[12:13], s[2:3], s[0:1]
s_and_saveexec_b64 s[2:3], s[12:13]
s_cbranch_execz 2
v_cvt_f16_f32_e32 v10, v10
global_store_short v[0:1], v10, off offset:32
s_or_b64 exec, exec, s[2:3]
s_and_b64 s[4:5], s[4:5], s[0:1]
s_and_saveexec_b64 s[2:3], s[4:5]
s_cbranch_execz 2
v_cvt_f16_f32_e32 v10, v11
global_store_short v[20:21], v10, off offset:32
s_or_b64 exec, exec, s[2:3]
s_and_b64 s[4:5], s[6:7], s[0:1]
s_and_saveexec_b64 s[2:3], s[4:5]
s_cbranch_execz 2
v_cvt_f16_f32_e32 v10, v12
global_store_short v[14:15], v10, off offset:32
s_or_b64 exec, exec, s[2:3]
s_and_b64 s[4:5], s[8:9], s[0:1]
s_and_saveexec_b64 s[2:3], s[4:5]
s_cbranch_execz 2
v_cvt_f16_f32_e32 v10, v13
global_store_short v[22:23], v10, off offset:32
s_or_b64 exec, exec, s[2:3]
v_or_b32_e32 v10, 16, v19
v_cmp_gt_i32_e64 s[2:3], s10, v10
s_and_b64 s[6:7], s[2:3], vcc
v_lshl_add_u64 v[10:11], s[20:21], 1, v[0:1]
s_and_saveexec_b64 s[4:5], s[6:7]
s_cbranch_execz 2
v_cvt_f16_f32_e32 v6, v6
global_store_short v[10:11], v6, off
s_or_b64 exec, exec, s[4:5]
v_or_b32_e32 v6, 17, v19
v_cmp_gt_i32_e64 s[4:5], s10, v6
s_mul_i32 s8, s16, 17
s_mov_b32 s9, 0
s_and_b64 s[12:13], s[4:5], vcc
v_lshl_add_u64 v[12:13], s[8:9], 1, v[0:1]
s_and_saveexec_b64 s[6:7], s[12:13]
s_cbranch_execz 2
v_cvt_f16_f32_e32 v6, v7
global_store_short v[12:13], v6, off
s_or_b64 exec, exec, s[6:7]
v_or_b32_e32 v6, 18, v19
v_cmp_gt_i32_e64 s[6:7], s10, v6
s_mul_i32 s8, s16, 18
s_and_b64 s[12:13], s[6:7], vcc
v_lshl_add_u64 v[6:7], s[8:9], 1, v[0:1]
s_and_saveexec_b64 s[8:9], s[12:13]
s_cbranch_execz 2
v_cvt_f16_f32_e32 v8, v8
global_store_short v[6:7], v8, off
s_or_b64 exec, exec, s[8:9]
v_or_b32_e32 v8, 19, v19
v_cmp_gt_i32_e64 s[8:9], s10, v8
s_mul_i32 s10, s16, 19
s_mov_b32 s11, 0
s_and_b64 s[12:13], s[8:9], vcc
v_lshl_add_u64 v[0:1], s[10:11], 1, v[0:1]
s_and_saveexec_b64 s[10:11], s[12:13]
s_cbranch_execz 2
v_cvt_f16_f32_e32 v8, v9
global_store_short v[0:1], v8, off
s_or_b64 exec, exec, s[10:11]
s_and_b64 s[10:11], s[2:3], s[0:1]
s_and_saveexec_b64 s[2:3], s[10:11]
s_cbranch_execz 2
v_cvt_f16_f32_e32 v2, v2
global_store_short v[10:11], v2, off offset:32
s_or_b64 exec, exec, s[2:3]
s_and_b64 s[4:5], s[4:5], s[0:1]
s_and_saveexec_b64 s[2:3], s[4:5]
s_cbranch_execz 2
v_cvt_f16_f32_e32 v2, v3
global_store_short v[12:13], v2, off offset:32
s_or_b64 exec, exec, s[2:3]
s_and_b64 s[4:5], s[6:7], s[0:1]
s_and_saveexec_b64 s[2:3], s[4:5]
s_cbranch_execz 2
v_cvt_f16_f32_e32 v2, v4
global_store_short v[6:7], v2, off offset:32
s_or_b64 exec, exec, s[2:3]
s_and_b64 s[0:1], s[8:9], s[0:1]
s_and_saveexec_b64 s[2:3], s[0:1]
s_cbranch_execz 2
v_cvt_f16_f32_e32 v2, v5
global_store_short v[0:1], v2, off offset:32
s_endpgm
