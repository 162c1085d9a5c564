1030 16384 64 32
s_load_dwordx8 s[8:15], s[0:1], null
v_lshrrev_b32_e32 v70, 2, v0
s_waitcnt lgkmcnt(0)
s_lshl_b32 s11, s6, 5
v_lshlrev_b32_e32 v1, 3, v0
v_mov_b32_e32 v2, 0
v_mov_b32_e32 v11, 0
v_or_b32_e32 v8, s11, v70
v_mov_b32_e32 v12, 0
v_and_b32_e32 v72, 24, v1
v_mov_b32_e32 v13, 0
v_mov_b32_e32 v14, 0
v_mul_lo_u32 v71, v8, s12
v_cmp_gt_i32_e64 s0, s10, v8
v_cmp_gt_i32_e32 vcc_lo, s12, v72
s_and_b32 s2, s0, vcc_lo
v_add_nc_u32_e32 v1, v71, v72
v_lshlrev_b64 v[3:4], 1, v[1:2]
v_add_co_u32 v6, s1, s8, v3
v_add_co_ci_u32_e64 v7, null, s9, v4, s1
s_and_saveexec_b32 s1, s2
s_cbranch_execz 1
global_load_dwordx4 v[11:14], v[6:7], off
s_or_b32 exec_lo, exec_lo, s1
v_or_b32_e32 v1, 8, v8
v_mov_b32_e32 v3, 0
v_mov_b32_e32 v4, 0
v_mov_b32_e32 v5, 0
s_lshl_b32 s22, s12, 3
v_cmp_gt_i32_e64 s1, s10, v1
s_mov_b32 s23, 0
s_and_b32 s2, s1, vcc_lo
s_and_saveexec_b32 s3, s2
s_cbranch_execz 4
s_lshl_b64 s[16:17], s[22:23], 1
v_add_co_u32 v1, s2, v6, s16
v_add_co_ci_u32_e64 v2, null, s17, v7, s2
global_load_dwordx4 v[2:5], v[1:2], off
s_or_b32 exec_lo, exec_lo, s3
v_or_b32_e32 v1, 16, v8
v_mov_b32_e32 v15, 0
v_mov_b32_e32 v19, 0
v_mov_b32_e32 v20, 0
v_mov_b32_e32 v21, 0
v_cmp_gt_i32_e64 s2, s10, v1
v_mov_b32_e32 v22, 0
s_lshl_b32 s24, s12, 4
s_mov_b32 s25, s23
s_and_b32 s3, s2, vcc_lo
s_and_saveexec_b32 s6, s3
s_cbranch_execz 4
s_lshl_b64 s[16:17], s[24:25], 1
v_add_co_u32 v9, s3, v6, s16
v_add_co_ci_u32_e64 v10, null, s17, v7, s3
global_load_dwordx4 v[19:22], v[9:10], off
s_or_b32 exec_lo, exec_lo, s6
v_or_b32_e32 v1, 24, v8
v_mov_b32_e32 v16, 0
v_mov_b32_e32 v17, 0
v_mov_b32_e32 v18, 0
s_mul_i32 s26, s12, 24
v_cmp_gt_i32_e64 s3, s10, v1
s_mov_b32 s27, 0
s_and_b32 s13, s3, vcc_lo
s_and_saveexec_b32 s6, s13
s_cbranch_execz 4
s_lshl_b64 s[16:17], s[26:27], 1
v_add_co_u32 v6, vcc_lo, v6, s16
v_add_co_ci_u32_e64 v7, null, s17, v7, vcc_lo
global_load_dwordx4 v[15:18], v[6:7], off
s_or_b32 exec_lo, exec_lo, s6
s_load_dwordx4 s[16:19], s[0:1], 0x28
s_lshl_b32 s13, s7, 5
v_cmp_gt_i32_e32 vcc_lo, s12, v70
v_or_b32_e32 v1, s13, v72
v_mov_b32_e32 v23, 0
v_mov_b32_e32 v24, 0
v_mov_b32_e32 v25, 0
v_mov_b32_e32 v26, 0
s_waitcnt vmcnt(0) lgkmcnt(0)
v_mad_u64_u32 v[6:7], null, v70, s16, v[1:2]
v_mov_b32_e32 v7, 0
v_cmp_gt_i32_e64 s4, s16, v1
s_and_b32 s6, vcc_lo, s4
v_lshlrev_b64 v[8:9], 1, v[6:7]
v_add_co_u32 v27, s5, s14, v8
v_add_co_ci_u32_e64 v28, null, s15, v9, s5
s_and_saveexec_b32 s5, s6
s_cbranch_execz 1
global_load_dwordx4 v[23:26], v[27:28], off
s_or_b32 exec_lo, exec_lo, s5
v_or_b32_e32 v6, 8, v70
v_mov_b32_e32 v8, 0
v_mov_b32_e32 v9, 0
v_mov_b32_e32 v10, 0
s_lshl_b32 s28, s16, 3
v_cmp_gt_i32_e32 vcc_lo, s12, v6
s_mov_b32 s29, 0
s_and_b32 s6, vcc_lo, s4
s_and_saveexec_b32 s5, s6
s_cbranch_execz 4
s_lshl_b64 s[6:7], s[28:29], 1
v_add_co_u32 v7, vcc_lo, v27, s6
v_add_co_ci_u32_e64 v8, null, s7, v28, vcc_lo
global_load_dwordx4 v[7:10], v[7:8], off
s_or_b32 exec_lo, exec_lo, s5
v_or_b32_e32 v75, 16, v70
v_mov_b32_e32 v39, 0
v_mov_b32_e32 v43, 0
v_mov_b32_e32 v44, 0
v_mov_b32_e32 v45, 0
v_cmp_gt_i32_e32 vcc_lo, s12, v75
v_mov_b32_e32 v46, 0
s_lshl_b32 s6, s16, 4
s_mov_b32 s7, s29
s_and_b32 s20, vcc_lo, s4
s_and_saveexec_b32 s5, s20
s_cbranch_execz 4
s_lshl_b64 s[20:21], s[6:7], 1
v_add_co_u32 v29, vcc_lo, v27, s20
v_add_co_ci_u32_e64 v30, null, s21, v28, vcc_lo
global_load_dwordx4 v[43:46], v[29:30], off
s_or_b32 exec_lo, exec_lo, s5
v_or_b32_e32 v80, 24, v70
v_mov_b32_e32 v40, 0
v_mov_b32_e32 v41, 0
v_mov_b32_e32 v42, 0
s_mul_i32 s34, s16, 24
v_cmp_gt_i32_e32 vcc_lo, s12, v80
s_mov_b32 s35, 0
s_and_b32 s20, vcc_lo, s4
s_and_saveexec_b32 s5, s20
s_cbranch_execz 4
s_lshl_b64 s[20:21], s[34:35], 1
v_add_co_u32 v27, vcc_lo, v27, s20
v_add_co_ci_u32_e64 v28, null, s21, v28, vcc_lo
global_load_dwordx4 v[39:42], v[27:28], off
s_or_b32 exec_lo, exec_lo, s5
v_lshrrev_b32_e32 v27, 1, v0
v_lshlrev_b32_e32 v28, 2, v0
s_cmp_lt_i32 s12, 1
v_and_b32_e32 v73, 12, v27
v_and_b32_e32 v74, 28, v28
s_cbranch_scc1 492
v_lshlrev_b32_e32 v27, 8, v0
v_lshlrev_b32_e32 v28, 4, v0
s_waitcnt vmcnt(0)
v_lshrrev_b32_e32 v128, 16, v39
v_lshrrev_b32_e32 v129, 16, v40
v_lshrrev_b32_e32 v130, 16, v41
v_and_or_b32 v27, 0x300, v27, v70
v_lshrrev_b32_e32 v131, 16, v42
v_lshrrev_b32_e32 v132, 16, v43
v_lshrrev_b32_e32 v133, 16, v44
v_lshrrev_b32_e32 v134, 16, v45
v_lshlrev_b32_e32 v0, 1, v27
v_lshrrev_b32_e32 v135, 16, v46
v_lshrrev_b32_e32 v136, 16, v7
v_lshrrev_b32_e32 v137, 16, v8
v_lshrrev_b32_e32 v138, 16, v9
v_lshrrev_b32_e32 v139, 16, v10
v_lshrrev_b32_e32 v140, 16, v23
v_lshrrev_b32_e32 v141, 16, v24
v_lshrrev_b32_e32 v142, 16, v25
v_lshrrev_b32_e32 v143, 16, v26
v_lshrrev_b32_e32 v145, 16, v15
v_lshrrev_b32_e32 v147, 16, v16
v_lshrrev_b32_e32 v144, 16, v17
v_lshrrev_b32_e32 v146, 16, v18
v_lshrrev_b32_e32 v148, 16, v19
v_lshrrev_b32_e32 v149, 16, v20
v_lshrrev_b32_e32 v150, 16, v21
v_lshrrev_b32_e32 v151, 16, v22
v_lshrrev_b32_e32 v155, 16, v2
v_lshrrev_b32_e32 v154, 16, v3
v_lshrrev_b32_e32 v153, 16, v4
v_lshrrev_b32_e32 v152, 16, v5
v_lshrrev_b32_e32 v159, 16, v11
v_lshrrev_b32_e32 v158, 16, v12
v_lshrrev_b32_e32 v157, 16, v13
v_lshrrev_b32_e32 v156, 16, v14
v_or_b32_e32 v102, 0xa0, v0
v_or_b32_e32 v104, 0xe0, v0
v_or_b32_e32 v106, 0x120, v0
v_or_b32_e32 v108, 0x160, v0
v_or_b32_e32 v109, 0x1a0, v0
v_or_b32_e32 v110, 0x1e0, v0
v_or_b32_e32 v111, 48, v0
v_or_b32_e32 v112, 0x70, v0
v_or_b32_e32 v113, 0xb0, v0
v_or_b32_e32 v114, 0xf0, v0
v_or_b32_e32 v115, 0x130, v0
v_or_b32_e32 v116, 0x170, v0
v_or_b32_e32 v117, 0x1b0, v0
v_or_b32_e32 v118, 0x1f0, v0
v_or_b32_e32 v119, 0x800, v28
v_or_b32_e32 v120, 0xa00, v28
v_or_b32_e32 v121, 0xc00, v28
v_or_b32_e32 v122, 0xe00, v28
v_lshl_or_b32 v123, v74, 1, 0x800
v_mov_b32_e32 v126, 0
v_mov_b32_e32 v124, 0
v_mov_b32_e32 v125, 0
v_mov_b32_e32 v127, 0
v_mov_b32_e32 v103, 0
v_mov_b32_e32 v101, 0
v_mov_b32_e32 v107, 0
v_mov_b32_e32 v105, 0
v_mov_b32_e32 v100, 0
v_mov_b32_e32 v97, 0
v_mov_b32_e32 v99, 0
v_mov_b32_e32 v98, 0
v_mov_b32_e32 v94, 0
v_mov_b32_e32 v93, 0
v_mov_b32_e32 v96, 0
v_mov_b32_e32 v95, 0
v_mov_b32_e32 v92, 0
v_mov_b32_e32 v89, 0
v_mov_b32_e32 v91, 0
v_mov_b32_e32 v90, 0
v_mov_b32_e32 v86, 0
v_mov_b32_e32 v85, 0
v_mov_b32_e32 v88, 0
v_mov_b32_e32 v87, 0
v_mov_b32_e32 v82, 0
v_mov_b32_e32 v81, 0
v_mov_b32_e32 v84, 0
v_mov_b32_e32 v83, 0
v_mov_b32_e32 v77, 0
v_mov_b32_e32 v76, 0
v_mov_b32_e32 v79, 0
v_mov_b32_e32 v78, 0
v_mov_b32_e32 v67, 0
s_sub_i32 s33, s12, 32
s_mov_b32 s21, 0
s_lshl_b64 s[22:23], s[22:23], 1
s_lshl_b64 s[24:25], s[24:25], 1
s_lshl_b64 s[26:27], s[26:27], 1
s_lshl_b64 s[28:29], s[28:29], 1
s_lshl_b64 s[30:31], s[6:7], 1
s_lshl_b64 s[34:35], s[34:35], 1
s_mov_b32 s40, 0
s_add_i32 s20, s40, 32
v_mov_b32_e32 v28, 0
v_or_b32_e32 v27, s20, v72
v_cmp_gt_i64_e64 s5, 0x7fffffff, s[20:21]
v_mov_b32_e32 v29, 0
v_add_nc_u32_e32 v66, v71, v27
v_mov_b32_e32 v27, 0
s_and_b32 s5, s5, exec_lo
s_cselect_b32 s5, s20, 0x7fffffff
s_sub_i32 s36, s12, s5
v_lshlrev_b64 v[30:31], 1, v[66:67]
v_cmp_gt_i32_e32 vcc_lo, s36, v72
v_add_co_u32 v48, s5, s8, v30
v_add_co_ci_u32_e64 v49, null, s9, v31, s5
v_mov_b32_e32 v30, 0
s_and_b32 s37, s0, vcc_lo
s_and_saveexec_b32 s5, s37
s_cbranch_execz 1
global_load_dwordx4 v[27:30], v[48:49], off
s_or_b32 exec_lo, exec_lo, s5
v_mov_b32_e32 v31, 0
v_mov_b32_e32 v35, 0
v_mov_b32_e32 v36, 0
v_mov_b32_e32 v37, 0
v_mov_b32_e32 v38, 0
s_and_b32 s5, s1, vcc_lo
s_and_saveexec_b32 s37, s5
s_cbranch_execz 3
v_add_co_u32 v32, s5, v48, s22
v_add_co_ci_u32_e64 v33, null, s23, v49, s5
global_load_dwordx4 v[35:38], v[32:33], off
s_or_b32 exec_lo, exec_lo, s37
v_mov_b32_e32 v32, 0
v_mov_b32_e32 v33, 0
v_mov_b32_e32 v34, 0
s_and_b32 s5, s2, vcc_lo
s_and_saveexec_b32 s37, s5
s_cbranch_execz 3
v_add_co_u32 v31, s5, v48, s24
v_add_co_ci_u32_e64 v32, null, s25, v49, s5
global_load_dwordx4 v[31:34], v[31:32], off
s_or_b32 exec_lo, exec_lo, s37
v_mov_b32_e32 v47, 0
v_mov_b32_e32 v51, 0
v_mov_b32_e32 v52, 0
v_mov_b32_e32 v53, 0
v_mov_b32_e32 v54, 0
s_and_b32 s37, s3, vcc_lo
s_and_saveexec_b32 s5, s37
s_cbranch_execz 3
v_add_co_u32 v48, vcc_lo, v48, s26
v_add_co_ci_u32_e64 v49, null, s27, v49, vcc_lo
global_load_dwordx4 v[51:54], v[48:49], off
s_or_b32 exec_lo, exec_lo, s5
v_or_b32_e32 v48, s20, v70
v_cmp_gt_i32_e32 vcc_lo, s36, v70
v_mov_b32_e32 v50, 0
v_mad_u64_u32 v[48:49], null, v48, s16, v[1:2]
v_mov_b32_e32 v49, v67
s_and_b32 s37, vcc_lo, s4
v_lshlrev_b64 v[55:56], 1, v[48:49]
v_mov_b32_e32 v48, 0
v_mov_b32_e32 v49, 0
v_add_co_u32 v68, s5, s14, v55
v_add_co_ci_u32_e64 v69, null, s15, v56, s5
s_and_saveexec_b32 s5, s37
s_cbranch_execz 1
global_load_dwordx4 v[47:50], v[68:69], off
s_or_b32 exec_lo, exec_lo, s5
v_cmp_gt_i32_e32 vcc_lo, s36, v6
v_mov_b32_e32 v55, 0
v_mov_b32_e32 v59, 0
v_mov_b32_e32 v60, 0
v_mov_b32_e32 v61, 0
v_mov_b32_e32 v62, 0
s_and_b32 s37, vcc_lo, s4
s_and_saveexec_b32 s5, s37
s_cbranch_execz 3
v_add_co_u32 v56, vcc_lo, v68, s28
v_add_co_ci_u32_e64 v57, null, s29, v69, vcc_lo
global_load_dwordx4 v[59:62], v[56:57], off
s_or_b32 exec_lo, exec_lo, s5
v_cmp_gt_i32_e32 vcc_lo, s36, v75
v_mov_b32_e32 v56, 0
v_mov_b32_e32 v57, 0
v_mov_b32_e32 v58, 0
s_and_b32 s37, vcc_lo, s4
s_and_saveexec_b32 s5, s37
s_cbranch_execz 3
v_add_co_u32 v55, vcc_lo, v68, s30
v_add_co_ci_u32_e64 v56, null, s31, v69, vcc_lo
global_load_dwordx4 v[55:58], v[55:56], off
s_or_b32 exec_lo, exec_lo, s5
v_cmp_gt_i32_e32 vcc_lo, s36, v80
v_mov_b32_e32 v63, 0
v_mov_b32_e32 v64, 0
v_mov_b32_e32 v65, 0
v_mov_b32_e32 v66, 0
s_and_b32 s36, vcc_lo, s4
s_and_saveexec_b32 s5, s36
s_cbranch_execz 3
v_add_co_u32 v63, vcc_lo, v68, s34
v_add_co_ci_u32_e64 v64, null, s35, v69, vcc_lo
global_load_dwordx4 v[63:66], v[63:64], off
s_or_b32 exec_lo, exec_lo, s5
ds_write_b16 v0, v11
v_or_b32_e32 v11, 64, v0
s_mov_b64 s[36:37], 0
s_mov_b64 s[38:39], -4
ds_write_b16 v11, v159
v_or_b32_e32 v11, 0x80, v0
ds_write_b16 v11, v12
v_or_b32_e32 v11, 0xc0, v0
v_perm_b32 v12, v129, v40, 0x5040100
ds_write_b16 v11, v158
v_or_b32_e32 v11, 0x100, v0
ds_write_b16 v11, v13
v_or_b32_e32 v11, 0x140, v0
v_perm_b32 v13, v130, v41, 0x5040100
ds_write_b16 v11, v157
v_or_b32_e32 v11, 0x180, v0
ds_write_b16 v11, v14
v_or_b32_e32 v11, 0x1c0, v0
v_perm_b32 v14, v131, v42, 0x5040100
ds_write_b16 v11, v156
v_or_b32_e32 v11, 16, v0
ds_write_b16 v11, v2
v_or_b32_e32 v2, 0x50, v0
v_perm_b32 v11, v128, v39, 0x5040100
ds_write_b16 v2, v155
v_or_b32_e32 v2, 0x90, v0
ds_write_b16 v2, v3
v_or_b32_e32 v2, 0xd0, v0
v_perm_b32 v3, v141, v24, 0x5040100
ds_write_b16 v2, v154
v_or_b32_e32 v2, 0x110, v0
ds_write_b16 v2, v4
v_or_b32_e32 v2, 0x150, v0
v_perm_b32 v4, v142, v25, 0x5040100
ds_write_b16 v2, v153
v_or_b32_e32 v2, 0x190, v0
ds_write_b16 v2, v5
v_or_b32_e32 v2, 0x1d0, v0
v_perm_b32 v5, v143, v26, 0x5040100
ds_write_b16 v2, v152
v_or_b32_e32 v2, 32, v0
ds_write_b16 v2, v19
v_or_b32_e32 v2, 0x60, v0
ds_write_b16 v2, v148
ds_write_b16 v102, v20
ds_write_b16 v104, v149
ds_write_b16 v106, v21
ds_write_b16 v108, v150
ds_write_b16 v109, v22
ds_write_b16 v110, v151
ds_write_b16 v111, v15
ds_write_b16 v112, v145
ds_write_b16 v113, v16
ds_write_b16 v114, v147
v_perm_b32 v2, v140, v23, 0x5040100
ds_write_b16 v115, v17
ds_write_b16 v116, v144
ds_write_b16 v117, v18
ds_write_b16 v118, v146
ds_write_b128 v119, v[2:5]
v_perm_b32 v5, v139, v10, 0x5040100
v_perm_b32 v4, v138, v9, 0x5040100
v_perm_b32 v3, v137, v8, 0x5040100
v_perm_b32 v2, v136, v7, 0x5040100
v_perm_b32 v10, v135, v46, 0x5040100
v_perm_b32 v9, v134, v45, 0x5040100
v_perm_b32 v8, v133, v44, 0x5040100
v_perm_b32 v7, v132, v43, 0x5040100
ds_write_b128 v120, v[2:5]
ds_write_b128 v121, v[7:10]
ds_write_b128 v122, v[11:14]
v_lshlrev_b32_e32 v2, 1, v73
v_add_nc_u32_e32 v7, s36, v123
s_waitcnt lgkmcnt(0)
v_add_nc_u32_e32 v23, s36, v2
ds_read2_b64 v[2:5], v7 offset1:8
ds_read2_b64 v[7:10], v7 offset0:16 offset1:24
s_add_u32 s36, s36, 0x100
s_addc_u32 s37, s37, 0
s_add_u32 s38, s38, 4
ds_read2_b64 v[11:14], v23 offset1:4
ds_read2_b64 v[15:18], v23 offset0:8 offset1:12
ds_read2_b64 v[19:22], v23 offset0:16 offset1:20
ds_read2_b64 v[23:26], v23 offset0:24 offset1:28
s_addc_u32 s39, s39, 0
v_cmp_lt_u64_e64 s5, s[38:39], 28
s_and_b32 vcc_lo, exec_lo, s5
s_waitcnt lgkmcnt(3)
v_fma_mix_f32 v39, v11, v2, v126 op_sel_hi:[1,1,0]
v_fma_mix_f32 v40, v11, v2, v124 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v41, v11, v3, v125 op_sel_hi:[1,1,0]
v_fma_mix_f32 v42, v11, v3, v127 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v43, v11, v2, v103 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v44, v11, v2, v101 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v45, v11, v3, v107 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v11, v11, v3, v105 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v46, v12, v2, v100 op_sel_hi:[1,1,0]
v_fma_mix_f32 v68, v12, v2, v97 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v69, v12, v3, v99 op_sel_hi:[1,1,0]
v_fma_mix_f32 v97, v12, v3, v98 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v94, v12, v2, v94 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v93, v12, v2, v93 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v96, v12, v3, v96 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v12, v12, v3, v95 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v92, v13, v2, v92 op_sel_hi:[1,1,0]
v_fma_mix_f32 v89, v13, v2, v89 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v91, v13, v3, v91 op_sel_hi:[1,1,0]
v_fma_mix_f32 v90, v13, v3, v90 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v86, v13, v2, v86 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v85, v13, v2, v85 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v88, v13, v3, v88 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v13, v13, v3, v87 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v82, v14, v2, v82 op_sel_hi:[1,1,0]
v_fma_mix_f32 v81, v14, v2, v81 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v84, v14, v3, v84 op_sel_hi:[1,1,0]
v_fma_mix_f32 v83, v14, v3, v83 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v77, v14, v2, v77 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v2, v14, v2, v76 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v76, v14, v3, v79 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v3, v14, v3, v78 op_sel:[1,1,0] op_sel_hi:[1,1,0]
s_waitcnt lgkmcnt(2)
v_fma_mix_f32 v14, v15, v4, v39 op_sel_hi:[1,1,0]
v_fma_mix_f32 v39, v15, v4, v40 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v40, v15, v5, v41 op_sel_hi:[1,1,0]
v_fma_mix_f32 v41, v15, v5, v42 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v42, v15, v4, v43 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v43, v15, v4, v44 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v44, v15, v5, v45 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v11, v15, v5, v11 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v15, v16, v4, v46 op_sel_hi:[1,1,0]
v_fma_mix_f32 v45, v16, v4, v68 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v46, v16, v5, v69 op_sel_hi:[1,1,0]
v_fma_mix_f32 v68, v16, v5, v97 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v69, v16, v4, v94 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v78, v16, v4, v93 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v79, v16, v5, v96 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v12, v16, v5, v12 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v16, v17, v4, v92 op_sel_hi:[1,1,0]
v_fma_mix_f32 v87, v17, v4, v89 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v89, v17, v5, v91 op_sel_hi:[1,1,0]
v_fma_mix_f32 v90, v17, v5, v90 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v86, v17, v4, v86 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v85, v17, v4, v85 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v88, v17, v5, v88 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v13, v17, v5, v13 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v17, v18, v4, v82 op_sel_hi:[1,1,0]
v_fma_mix_f32 v81, v18, v4, v81 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v82, v18, v5, v84 op_sel_hi:[1,1,0]
v_fma_mix_f32 v83, v18, v5, v83 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v77, v18, v4, v77 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v2, v18, v4, v2 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v4, v18, v5, v76 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v3, v18, v5, v3 op_sel:[1,1,0] op_sel_hi:[1,1,0]
s_waitcnt lgkmcnt(1)
v_fma_mix_f32 v5, v19, v7, v14 op_sel_hi:[1,1,0]
v_fma_mix_f32 v14, v19, v7, v39 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v18, v19, v8, v40 op_sel_hi:[1,1,0]
v_fma_mix_f32 v39, v19, v8, v41 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v40, v19, v7, v42 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v41, v19, v7, v43 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v42, v19, v8, v44 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v11, v19, v8, v11 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v15, v20, v7, v15 op_sel_hi:[1,1,0]
v_fma_mix_f32 v19, v20, v7, v45 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v43, v20, v8, v46 op_sel_hi:[1,1,0]
v_fma_mix_f32 v44, v20, v8, v68 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v45, v20, v7, v69 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v46, v20, v7, v78 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v68, v20, v8, v79 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v12, v20, v8, v12 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v16, v21, v7, v16 op_sel_hi:[1,1,0]
v_fma_mix_f32 v20, v21, v7, v87 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v69, v21, v8, v89 op_sel_hi:[1,1,0]
v_fma_mix_f32 v76, v21, v8, v90 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v78, v21, v7, v86 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v79, v21, v7, v85 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v84, v21, v8, v88 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v13, v21, v8, v13 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v17, v22, v7, v17 op_sel_hi:[1,1,0]
v_fma_mix_f32 v21, v22, v7, v81 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v128, v22, v8, v82 op_sel_hi:[1,1,0]
v_fma_mix_f32 v83, v22, v8, v83 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v77, v22, v7, v77 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v2, v22, v7, v2 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v4, v22, v8, v4 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v3, v22, v8, v3 op_sel:[1,1,0] op_sel_hi:[1,1,0]
s_waitcnt lgkmcnt(0)
v_fma_mix_f32 v126, v23, v9, v5 op_sel_hi:[1,1,0]
v_fma_mix_f32 v124, v23, v9, v14 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v125, v23, v10, v18 op_sel_hi:[1,1,0]
v_fma_mix_f32 v127, v23, v10, v39 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v103, v23, v9, v40 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v101, v23, v9, v41 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v107, v23, v10, v42 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v105, v23, v10, v11 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v100, v24, v9, v15 op_sel_hi:[1,1,0]
v_fma_mix_f32 v97, v24, v9, v19 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v99, v24, v10, v43 op_sel_hi:[1,1,0]
v_fma_mix_f32 v98, v24, v10, v44 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v94, v24, v9, v45 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v93, v24, v9, v46 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v96, v24, v10, v68 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v95, v24, v10, v12 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v92, v25, v9, v16 op_sel_hi:[1,1,0]
v_fma_mix_f32 v89, v25, v9, v20 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v91, v25, v10, v69 op_sel_hi:[1,1,0]
v_fma_mix_f32 v90, v25, v10, v76 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v86, v25, v9, v78 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v85, v25, v9, v79 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v88, v25, v10, v84 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v87, v25, v10, v13 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v82, v26, v9, v17 op_sel_hi:[1,1,0]
v_fma_mix_f32 v81, v26, v9, v21 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v84, v26, v10, v128 op_sel_hi:[1,1,0]
v_fma_mix_f32 v83, v26, v10, v83 op_sel:[0,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v77, v26, v9, v77 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v76, v26, v9, v2 op_sel:[1,1,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v79, v26, v10, v4 op_sel:[1,0,0] op_sel_hi:[1,1,0]
v_fma_mix_f32 v78, v26, v10, v3 op_sel:[1,1,0] op_sel_hi:[1,1,0]
s_cbranch_vccnz 65387
s_waitcnt vmcnt(0)
v_lshrrev_b32_e32 v128, 16, v63
v_lshrrev_b32_e32 v129, 16, v64
v_lshrrev_b32_e32 v130, 16, v65
v_lshrrev_b32_e32 v131, 16, v66
v_lshrrev_b32_e32 v132, 16, v55
v_lshrrev_b32_e32 v133, 16, v56
v_lshrrev_b32_e32 v134, 16, v57
v_lshrrev_b32_e32 v135, 16, v58
v_lshrrev_b32_e32 v136, 16, v59
v_lshrrev_b32_e32 v137, 16, v60
v_lshrrev_b32_e32 v138, 16, v61
v_lshrrev_b32_e32 v139, 16, v62
v_lshrrev_b32_e32 v140, 16, v47
v_lshrrev_b32_e32 v141, 16, v48
v_lshrrev_b32_e32 v142, 16, v49
v_lshrrev_b32_e32 v143, 16, v50
v_lshrrev_b32_e32 v145, 16, v51
v_lshrrev_b32_e32 v147, 16, v52
v_lshrrev_b32_e32 v144, 16, v53
v_lshrrev_b32_e32 v146, 16, v54
v_lshrrev_b32_e32 v148, 16, v31
v_lshrrev_b32_e32 v149, 16, v32
v_lshrrev_b32_e32 v150, 16, v33
v_lshrrev_b32_e32 v151, 16, v34
v_lshrrev_b32_e32 v155, 16, v35
v_lshrrev_b32_e32 v154, 16, v36
v_lshrrev_b32_e32 v153, 16, v37
v_lshrrev_b32_e32 v152, 16, v38
v_lshrrev_b32_e32 v159, 16, v27
v_lshrrev_b32_e32 v158, 16, v28
v_lshrrev_b32_e32 v157, 16, v29
v_lshrrev_b32_e32 v156, 16, v30
v_mov_b32_e32 v11, v27
v_mov_b32_e32 v12, v28
v_mov_b32_e32 v13, v29
v_mov_b32_e32 v14, v30
v_mov_b32_e32 v2, v35
v_mov_b32_e32 v3, v36
v_mov_b32_e32 v4, v37
v_mov_b32_e32 v5, v38
v_mov_b32_e32 v19, v31
v_mov_b32_e32 v20, v32
v_mov_b32_e32 v21, v33
v_mov_b32_e32 v22, v34
v_mov_b32_e32 v15, v51
v_mov_b32_e32 v16, v52
v_mov_b32_e32 v17, v53
v_mov_b32_e32 v18, v54
v_mov_b32_e32 v23, v47
v_mov_b32_e32 v24, v48
v_mov_b32_e32 v25, v49
v_mov_b32_e32 v26, v50
v_mov_b32_e32 v7, v59
v_mov_b32_e32 v8, v60
v_mov_b32_e32 v9, v61
v_mov_b32_e32 v10, v62
v_mov_b32_e32 v43, v55
v_mov_b32_e32 v44, v56
v_mov_b32_e32 v45, v57
v_mov_b32_e32 v46, v58
v_mov_b32_e32 v39, v63
v_mov_b32_e32 v40, v64
v_mov_b32_e32 v41, v65
v_mov_b32_e32 v42, v66
s_cmp_ge_i32 s40, s33
s_mov_b32 s40, s20
s_cbranch_scc0 65143
s_branch 32
v_mov_b32_e32 v78, 0
v_mov_b32_e32 v79, 0
v_mov_b32_e32 v76, 0
v_mov_b32_e32 v77, 0
v_mov_b32_e32 v83, 0
v_mov_b32_e32 v84, 0
v_mov_b32_e32 v81, 0
v_mov_b32_e32 v82, 0
v_mov_b32_e32 v87, 0
v_mov_b32_e32 v88, 0
v_mov_b32_e32 v85, 0
v_mov_b32_e32 v86, 0
v_mov_b32_e32 v90, 0
v_mov_b32_e32 v91, 0
v_mov_b32_e32 v89, 0
v_mov_b32_e32 v92, 0
v_mov_b32_e32 v95, 0
v_mov_b32_e32 v96, 0
v_mov_b32_e32 v93, 0
v_mov_b32_e32 v94, 0
v_mov_b32_e32 v98, 0
v_mov_b32_e32 v99, 0
v_mov_b32_e32 v97, 0
v_mov_b32_e32 v100, 0
v_mov_b32_e32 v105, 0
v_mov_b32_e32 v107, 0
v_mov_b32_e32 v101, 0
v_mov_b32_e32 v103, 0
v_mov_b32_e32 v127, 0
v_mov_b32_e32 v125, 0
v_mov_b32_e32 v124, 0
v_mov_b32_e32 v126, 0
v_or_b32_e32 v2, s11, v73
v_or_b32_e32 v0, s13, v74
s_waitcnt vmcnt(0)
buffer_gl0_inv
v_cmp_gt_i32_e64 s0, s10, v2
v_mad_u64_u32 v[3:4], null, v2, s16, v[0:1]
v_mov_b32_e32 v4, 0
v_cmp_gt_i32_e32 vcc_lo, s16, v0
v_lshlrev_b64 v[3:4], 1, v[3:4]
v_add_co_u32 v0, s1, s18, v3
v_add_co_ci_u32_e64 v1, null, s19, v4, s1
s_and_b32 s1, s0, vcc_lo
s_and_saveexec_b32 s0, s1
s_cbranch_execz 7
v_cvt_f16_f32_e32 v3, v127
v_cvt_f16_f32_e32 v5, v126
v_cvt_f16_f32_e32 v4, v125
v_cvt_f16_f32_e32 v6, v124
v_pack_b32_f16 v4, v4, v3
v_pack_b32_f16 v3, v5, v6
global_store_dwordx2 v[0:1], v[3:4], off
s_or_b32 exec_lo, exec_lo, s0
v_or_b32_e32 v3, 1, v2
v_cmp_gt_i32_e64 s0, s10, v3
s_and_b32 s0, s0, vcc_lo
s_and_saveexec_b32 s1, s0
s_cbranch_execz 12
v_cvt_f16_f32_e32 v3, v107
v_cvt_f16_f32_e32 v4, v105
v_cvt_f16_f32_e32 v5, v103
v_cvt_f16_f32_e32 v6, v101
s_mov_b32 s3, 0
s_mov_b32 s2, s16
v_pack_b32_f16 v4, v3, v4
s_lshl_b64 s[2:3], s[2:3], 1
v_pack_b32_f16 v3, v5, v6
v_add_co_u32 v5, s0, v0, s2
v_add_co_ci_u32_e64 v6, null, s3, v1, s0
global_store_dwordx2 v[5:6], v[3:4], off
s_or_b32 exec_lo, exec_lo, s1
v_or_b32_e32 v3, 2, v2
v_cmp_gt_i32_e64 s0, s10, v3
s_and_b32 s0, s0, vcc_lo
s_and_saveexec_b32 s1, s0
s_cbranch_execz 11
v_cvt_f16_f32_e32 v4, v99
v_cvt_f16_f32_e32 v5, v98
v_cvt_f16_f32_e32 v3, v100
v_cvt_f16_f32_e32 v6, v97
s_lshl_b64 s[2:3], s[16:17], 2
v_pack_b32_f16 v4, v4, v5
s_and_b32 s3, s3, 1
v_add_co_u32 v5, s0, v0, s2
v_pack_b32_f16 v3, v3, v6
v_add_co_ci_u32_e64 v6, null, s3, v1, s0
global_store_dwordx2 v[5:6], v[3:4], off
s_or_b32 exec_lo, exec_lo, s1
v_or_b32_e32 v3, 3, v2
v_cmp_gt_i32_e64 s0, s10, v3
s_and_b32 s0, s0, vcc_lo
s_and_saveexec_b32 s1, s0
s_cbranch_execz 12
v_cvt_f16_f32_e32 v3, v96
v_cvt_f16_f32_e32 v4, v95
v_cvt_f16_f32_e32 v5, v94
v_cvt_f16_f32_e32 v6, v93
s_mul_i32 s2, s16, 3
s_mov_b32 s3, 0
v_pack_b32_f16 v4, v3, v4
s_lshl_b64 s[2:3], s[2:3], 1
v_pack_b32_f16 v3, v5, v6
v_add_co_u32 v5, s0, v0, s2
v_add_co_ci_u32_e64 v6, null, s3, v1, s0
global_store_dwordx2 v[5:6], v[3:4], off
s_or_b32 exec_lo, exec_lo, s1
v_or_b32_e32 v3, 16, v2
v_cmp_gt_i32_e64 s0, s10, v3
s_and_b32 s0, s0, vcc_lo
s_and_saveexec_b32 s1, s0
s_cbranch_execz 10
v_cvt_f16_f32_e32 v4, v91
v_cvt_f16_f32_e32 v5, v90
v_cvt_f16_f32_e32 v3, v92
v_cvt_f16_f32_e32 v6, v89
s_lshl_b64 s[2:3], s[6:7], 1
v_pack_b32_f16 v4, v4, v5
v_add_co_u32 v5, s0, v0, s2
v_pack_b32_f16 v3, v3, v6
v_add_co_ci_u32_e64 v6, null, s3, v1, s0
global_store_dwordx2 v[5:6], v[3:4], off
s_or_b32 exec_lo, exec_lo, s1
v_or_b32_e32 v3, 17, v2
v_cmp_gt_i32_e64 s0, s10, v3
s_and_b32 s0, s0, vcc_lo
s_and_saveexec_b32 s1, s0
s_cbranch_execz 12
v_cvt_f16_f32_e32 v3, v88
v_cvt_f16_f32_e32 v4, v87
v_cvt_f16_f32_e32 v5, v86
v_cvt_f16_f32_e32 v6, v85
s_mul_i32 s2, s16, 17
s_mov_b32 s3, 0
v_pack_b32_f16 v4, v3, v4
s_lshl_b64 s[2:3], s[2:3], 1
v_pack_b32_f16 v3, v5, v6
v_add_co_u32 v5, s0, v0, s2
v_add_co_ci_u32_e64 v6, null, s3, v1, s0
global_store_dwordx2 v[5:6], v[3:4], off
s_or_b32 exec_lo, exec_lo, s1
v_or_b32_e32 v3, 18, v2
v_cmp_gt_i32_e64 s0, s10, v3
s_and_b32 s0, s0, vcc_lo
s_and_saveexec_b32 s1, s0
s_cbranch_execz 12
v_cvt_f16_f32_e32 v3, v84
v_cvt_f16_f32_e32 v4, v83
v_cvt_f16_f32_e32 v5, v82
v_cvt_f16_f32_e32 v6, v81
s_mul_i32 s2, s16, 18
s_mov_b32 s3, 0
v_pack_b32_f16 v4, v3, v4
s_lshl_b64 s[2:3], s[2:3], 1
v_pack_b32_f16 v3, v5, v6
v_add_co_u32 v5, s0, v0, s2
v_add_co_ci_u32_e64 v6, null, s3, v1, s0
global_store_dwordx2 v[5:6], v[3:4], off
s_or_b32 exec_lo, exec_lo, s1
v_or_b32_e32 v2, 19, v2
v_cmp_gt_i32_e64 s0, s10, v2
s_and_b32 s0, s0, vcc_lo
s_and_saveexec_b32 s1, s0
s_cbranch_execz 12
s_mul_i32 s0, s16, 19
s_mov_b32 s1, 0
v_cvt_f16_f32_e32 v2, v79
v_cvt_f16_f32_e32 v3, v78
v_cvt_f16_f32_e32 v4, v77
v_cvt_f16_f32_e32 v5, v76
s_lshl_b64 s[0:1], s[0:1], 1
v_add_co_u32 v0, vcc_lo, v0, s0
v_pack_b32_f16 v3, v2, v3
v_pack_b32_f16 v2, v4, v5
v_add_co_ci_u32_e64 v1, null, s1, v1, vcc_lo
global_store_dwordx2 v[0:1], v[2:3], off
s_endpgm
