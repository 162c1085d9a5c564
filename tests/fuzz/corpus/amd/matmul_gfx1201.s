1201 16384 64 32
s_load_b256 s[8:15], s[0:1], 0x0
v_lshrrev_b32_e32 v107, 2, v0
v_lshlrev_b32_e32 v106, 3, v0
s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
v_lshl_or_b32 v105, ttmp9, 5, v107
v_and_b32_e32 v99, 24, v106
s_wait_kmcnt 0x0
s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_2) | instid1(VALU_DEP_2)
v_mad_co_u64_u32 v[32:33], null, v105, s12, v[99:100]
v_mov_b32_e32 v33, 0
v_cmp_gt_i32_e32 vcc_lo, s10, v105
v_mov_b32_e32 v42, v33
s_delay_alu instid0(VALU_DEP_4)
v_lshlrev_b64_e32 v[1:2], 1, v[32:33]
v_cmp_gt_i32_e64 s5, s12, v99
v_dual_mov_b32 v43, v33 :: v_dual_mov_b32 v44, v33
v_mov_b32_e32 v45, v33
s_and_b32 s3, vcc_lo, s5
v_add_co_u32 v1, s2, s8, v1
s_delay_alu instid0(VALU_DEP_1)
v_add_co_ci_u32_e64 v2, null, s9, v2, s2
s_and_saveexec_b32 s2, s3
s_cbranch_execz 1
global_load_b128 v[42:45], v[1:2], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s2
v_or_b32_e32 v3, 8, v105
v_dual_mov_b32 v34, 0 :: v_dual_mov_b32 v35, 0
v_mov_b32_e32 v36, 0
s_lshl_b32 s24, s12, 3
s_delay_alu instid0(VALU_DEP_3)
v_cmp_gt_i32_e64 s2, s10, v3
s_mov_b32 s25, 0
s_and_b32 s3, s2, s5
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s4, s3
s_cbranch_execz 6
s_lshl_b64 s[6:7], s[24:25], 1
s_delay_alu instid0(SALU_CYCLE_1)
v_add_co_u32 v3, s3, v1, s6
s_wait_alu depctr_va_sdst(0)
v_add_co_ci_u32_e64 v4, null, s7, v2, s3
global_load_b128 v[33:36], v[3:4], off
s_or_b32 exec_lo, exec_lo, s4
v_or_b32_e32 v3, 16, v105
v_dual_mov_b32 v46, 0 :: v_dual_mov_b32 v51, 0
v_dual_mov_b32 v50, 0 :: v_dual_mov_b32 v53, 0
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_4) | instid1(SALU_CYCLE_1)
v_cmp_gt_i32_e64 s3, s10, v3
v_mov_b32_e32 v52, 0
s_lshl_b32 s26, s12, 4
s_mov_b32 s27, s25
s_and_b32 s4, s3, s5
s_and_saveexec_b32 s6, s4
s_cbranch_execz 5
s_lshl_b64 s[16:17], s[26:27], 1
s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(VALU_DEP_1)
v_add_co_u32 v3, s4, v1, s16
v_add_co_ci_u32_e64 v4, null, s17, v2, s4
global_load_b128 v[50:53], v[3:4], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s6
v_or_b32_e32 v3, 24, v105
v_dual_mov_b32 v47, 0 :: v_dual_mov_b32 v48, 0
v_mov_b32_e32 v49, 0
s_mul_i32 s28, s12, 24
s_delay_alu instid0(VALU_DEP_3)
v_cmp_gt_i32_e64 s4, s10, v3
s_mov_b32 s29, 0
s_and_b32 s5, s4, s5
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s6, s5
s_cbranch_execz 6
s_lshl_b64 s[10:11], s[28:29], 1
s_wait_alu depctr_sa_sdst(0)
v_add_co_u32 v1, s5, v1, s10
s_wait_alu depctr_va_sdst(0)
v_add_co_ci_u32_e64 v2, null, s11, v2, s5
global_load_b128 v[46:49], v[1:2], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s6
s_load_b128 s[16:19], s[0:1], 0x28
s_wait_kmcnt 0x0
s_lshl_b32 s17, ttmp7, 5
v_cmp_gt_i32_e64 s1, s12, v107
s_wait_alu depctr_sa_sdst(0)
v_or_b32_e32 v98, s17, v99
v_dual_mov_b32 v54, 0 :: v_dual_mov_b32 v57, 0
v_dual_mov_b32 v56, 0 :: v_dual_mov_b32 v55, 0
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_2) | instid1(VALU_DEP_2)
v_mad_co_u64_u32 v[37:38], null, v107, s16, v[98:99]
v_mov_b32_e32 v38, 0
v_cmp_gt_i32_e64 s0, s16, v98
v_lshlrev_b64_e32 v[1:2], 1, v[37:38]
s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_2)
v_add_co_u32 v1, s5, s14, v1
s_wait_alu depctr_va_sdst(0)
v_add_co_ci_u32_e64 v2, null, s15, v2, s5
s_and_b32 s5, s1, s0
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s1, s5
s_cbranch_execz 1
global_load_b128 v[54:57], v[1:2], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s1
v_or_b32_e32 v112, 8, v107
v_dual_mov_b32 v39, 0 :: v_dual_mov_b32 v40, 0
v_mov_b32_e32 v41, 0
s_lshl_b32 s6, s16, 3
s_delay_alu instid0(VALU_DEP_3)
v_cmp_gt_i32_e64 s1, s12, v112
s_mov_b32 s7, 0
s_and_b32 s1, s1, s0
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s5, s1
s_cbranch_execz 6
s_lshl_b64 s[10:11], s[6:7], 1
s_wait_alu depctr_sa_sdst(0)
v_add_co_u32 v3, s1, v1, s10
s_wait_alu depctr_va_sdst(0)
v_add_co_ci_u32_e64 v4, null, s11, v2, s1
global_load_b128 v[38:41], v[3:4], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s5
v_or_b32_e32 v113, 16, v107
v_dual_mov_b32 v62, 0 :: v_dual_mov_b32 v59, 0
v_dual_mov_b32 v58, 0 :: v_dual_mov_b32 v61, 0
s_delay_alu instid0(VALU_DEP_3)
v_cmp_gt_i32_e64 s1, s12, v113
v_mov_b32_e32 v60, 0
s_lshl_b32 s10, s16, 4
s_mov_b32 s11, s7
s_and_b32 s1, s1, s0
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s5, s1
s_cbranch_execz 6
s_lshl_b64 s[20:21], s[10:11], 1
s_delay_alu instid0(SALU_CYCLE_1)
v_add_co_u32 v3, s1, v1, s20
s_wait_alu depctr_va_sdst(0)
v_add_co_ci_u32_e64 v4, null, s21, v2, s1
global_load_b128 v[58:61], v[3:4], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s5
v_or_b32_e32 v114, 24, v107
v_dual_mov_b32 v63, 0 :: v_dual_mov_b32 v64, 0
v_mov_b32_e32 v65, 0
s_mul_i32 s20, s16, 24
s_delay_alu instid0(VALU_DEP_3)
v_cmp_gt_i32_e64 s1, s12, v114
s_mov_b32 s21, 0
s_and_b32 s1, s1, s0
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s5, s1
s_cbranch_execz 6
s_lshl_b64 s[22:23], s[20:21], 1
s_delay_alu instid0(SALU_CYCLE_1)
v_add_co_u32 v1, s1, v1, s22
s_wait_alu depctr_va_sdst(0)
v_add_co_ci_u32_e64 v2, null, s23, v2, s1
global_load_b128 v[62:65], v[1:2], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s5
v_bfe_i32 v1, v0, 1, 1
v_lshrrev_b32_e32 v110, 4, v0
v_lshlrev_b32_e32 v108, 5, v0
v_lshlrev_b32_e32 v109, 4, v0
v_lshlrev_b32_e32 v111, 1, v0
v_and_b32_e32 v37, 0x48, v1
s_cmp_lt_i32 s12, 1
s_cbranch_scc1 392
v_dual_mov_b32 v102, 0 :: v_dual_and_b32 v3, 4, v0
v_and_b32_e32 v5, 1, v0
v_bfe_u32 v1, v0, 3, 1
v_lshlrev_b32_e32 v0, 6, v0
s_delay_alu instid0(VALU_DEP_4)
v_cmp_ne_u32_e64 s1, 0, v3
v_dual_mov_b32 v24, v102 :: v_dual_and_b32 v7, 4, v111
v_mov_b32_e32 v26, v102
v_dual_mov_b32 v25, v102 :: v_dual_and_b32 v2, 56, v106
s_wait_alu depctr_va_sdst(0)
v_cndmask_b32_e64 v3, 0, 0x90, s1
v_cmp_eq_u32_e64 s1, 1, v5
v_dual_mov_b32 v27, v102 :: v_dual_and_b32 v4, 32, v108
v_mul_u32_u24_e32 v6, 0x48, v1
v_dual_mov_b32 v17, v102 :: v_dual_and_b32 v8, 0x100, v109
s_wait_alu depctr_va_sdst(0)
v_cndmask_b32_e64 v5, 0, 0x48, s1
v_dual_mov_b32 v29, v102 :: v_dual_and_b32 v0, 0x200, v0
v_mov_b32_e32 v31, v102
v_mul_u32_u24_e32 v1, 0x120, v1
s_delay_alu instid0(VALU_DEP_4) | instskip(SKIP_3) | instid1(VALU_DEP_4)
v_or3_b32 v5, v5, v7, v3
v_xor_b32_e32 v2, v2, v6
v_or3_b32 v0, v4, v0, v8
v_dual_mov_b32 v19, v102 :: v_dual_and_b32 v4, 0x200, v108
v_xor_b32_e32 v1, v5, v1
v_mul_u32_u24_e32 v6, 0x90, v110
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_or3_b32 v0, v0, v37, v3
v_or_b32_e32 v3, v2, v4
s_movk_i32 s1, 0x50
v_or_b32_e32 v1, v1, v4
v_xor_b32_e32 v2, v2, v6
v_dual_mov_b32 v28, v102 :: v_dual_lshlrev_b32 v115, 1, v0
v_dual_mov_b32 v21, v102 :: v_dual_lshlrev_b32 v0, 1, v3
v_or_b32_e32 v3, 32, v107
v_dual_mov_b32 v30, v102 :: v_dual_lshlrev_b32 v1, 1, v1
v_dual_mov_b32 v23, v102 :: v_dual_lshlrev_b32 v116, 1, v2
s_delay_alu instid0(VALU_DEP_3)
v_mul_lo_u32 v3, v3, s16
v_xor_b32_e32 v2, 64, v0
s_wait_alu depctr_sa_sdst(0)
v_xad_u32 v128, v1, s1, 0x800
s_movk_i32 s1, 0x60
s_movk_i32 s5, 0x70
s_wait_alu depctr_sa_sdst(0)
v_xad_u32 v129, v1, s1, 0x800
s_movk_i32 s1, 0xb00
s_wait_loadcnt 0x0
v_lshrrev_b32_e32 v138, 16, v62
v_lshrrev_b32_e32 v137, 16, v63
v_lshrrev_b32_e32 v136, 16, v64
v_lshrrev_b32_e32 v135, 16, v65
v_xor_b32_e32 v117, 16, v115
v_xor_b32_e32 v118, 32, v115
v_xor_b32_e32 v119, 48, v115
v_lshrrev_b32_e32 v148, 16, v58
v_lshrrev_b32_e32 v144, 16, v59
v_lshrrev_b32_e32 v141, 16, v60
v_lshrrev_b32_e32 v139, 16, v61
v_lshrrev_b32_e32 v149, 16, v38
v_lshrrev_b32_e32 v146, 16, v39
v_lshrrev_b32_e32 v143, 16, v40
v_lshrrev_b32_e32 v140, 16, v41
v_lshrrev_b32_e32 v150, 16, v54
v_lshrrev_b32_e32 v147, 16, v55
v_lshrrev_b32_e32 v145, 16, v56
v_lshrrev_b32_e32 v142, 16, v57
v_lshrrev_b32_e32 v151, 16, v46
v_lshrrev_b32_e32 v154, 16, v47
v_lshrrev_b32_e32 v152, 16, v48
v_lshrrev_b32_e32 v156, 16, v49
v_lshrrev_b32_e32 v159, 16, v50
v_lshrrev_b32_e32 v162, 16, v51
v_lshrrev_b32_e32 v160, 16, v52
v_lshrrev_b32_e32 v164, 16, v53
v_lshrrev_b32_e32 v153, 16, v33
v_lshrrev_b32_e32 v157, 16, v34
v_lshrrev_b32_e32 v155, 16, v35
v_lshrrev_b32_e32 v158, 16, v36
v_lshrrev_b32_e32 v161, 16, v42
v_lshrrev_b32_e32 v165, 16, v43
v_lshrrev_b32_e32 v163, 16, v44
v_lshrrev_b32_e32 v166, 16, v45
v_dual_mov_b32 v9, v102 :: v_dual_add_nc_u32 v120, 0x200, v116
v_or_b32_e32 v121, 0x400, v116
v_dual_mov_b32 v11, v102 :: v_dual_add_nc_u32 v122, 0x600, v116
v_or_b32_e32 v123, 0x800, v1
v_xad_u32 v124, v1, 16, 0x800
v_xad_u32 v125, v1, 32, 0x800
v_xad_u32 v126, v1, 48, 0x800
v_xad_u32 v127, v1, 64, 0x800
v_xad_u32 v130, v1, s5, 0x800
v_or_b32_e32 v131, 0x800, v0
v_xad_u32 v132, v0, 32, 0x900
v_or_b32_e32 v133, 0xa00, v2
s_wait_alu depctr_sa_sdst(0)
v_xad_u32 v134, 0x60, v0, s1
v_add3_u32 v100, v3, s17, v99
v_dual_mov_b32 v16, v102 :: v_dual_mov_b32 v13, v102
v_dual_mov_b32 v18, v102 :: v_dual_mov_b32 v15, v102
v_dual_mov_b32 v20, v102 :: v_dual_mov_b32 v1, v102
v_dual_mov_b32 v22, v102 :: v_dual_mov_b32 v3, v102
v_dual_mov_b32 v8, v102 :: v_dual_mov_b32 v5, v102
v_dual_mov_b32 v10, v102 :: v_dual_mov_b32 v7, v102
v_mov_b32_e32 v12, v102
v_mov_b32_e32 v14, v102
v_mov_b32_e32 v0, v102
v_mov_b32_e32 v2, v102
v_mov_b32_e32 v4, v102
v_mov_b32_e32 v6, v102
s_sub_co_i32 s13, s12, 32
s_lshl_b32 s17, s16, 5
s_mov_b64 s[22:23], 32
s_lshl_b64 s[24:25], s[24:25], 1
s_lshl_b64 s[26:27], s[26:27], 1
s_lshl_b64 s[28:29], s[28:29], 1
s_lshl_b64 s[30:31], s[6:7], 1
s_lshl_b64 s[34:35], s[10:11], 1
s_lshl_b64 s[36:37], s[20:21], 1
s_branch 156
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s5
v_perm_b32 v170, v162, v51, 0x5040100
v_perm_b32 v169, v159, v50, 0x5040100
v_perm_b32 v168, v165, v43, 0x5040100
v_perm_b32 v167, v161, v42, 0x5040100
v_perm_b32 v53, v164, v53, 0x5040100
v_perm_b32 v52, v160, v52, 0x5040100
v_perm_b32 v51, v166, v45, 0x5040100
v_perm_b32 v50, v163, v44, 0x5040100
v_perm_b32 v45, v154, v47, 0x5040100
v_perm_b32 v44, v151, v46, 0x5040100
v_perm_b32 v43, v157, v34, 0x5040100
v_perm_b32 v42, v153, v33, 0x5040100
v_perm_b32 v49, v156, v49, 0x5040100
v_perm_b32 v48, v152, v48, 0x5040100
v_perm_b32 v47, v158, v36, 0x5040100
v_perm_b32 v46, v155, v35, 0x5040100
v_perm_b32 v34, v62, v58, 0x5040100
v_perm_b32 v33, v38, v54, 0x5040100
v_perm_b32 v36, v138, v148, 0x5040100
v_perm_b32 v35, v149, v150, 0x5040100
ds_store_b128 v116, v[167:170]
ds_store_b128 v120, v[50:53]
v_perm_b32 v51, v63, v59, 0x5040100
v_perm_b32 v50, v39, v55, 0x5040100
ds_store_b128 v121, v[42:45]
ds_store_b128 v122, v[46:49]
ds_store_b64 v123, v[33:34]
ds_store_b64 v124, v[35:36]
ds_store_b64 v125, v[50:51]
v_perm_b32 v34, v137, v144, 0x5040100
v_perm_b32 v33, v146, v147, 0x5040100
v_perm_b32 v36, v64, v60, 0x5040100
v_perm_b32 v35, v40, v56, 0x5040100
v_perm_b32 v39, v136, v141, 0x5040100
v_perm_b32 v38, v143, v145, 0x5040100
v_perm_b32 v42, v65, v61, 0x5040100
v_perm_b32 v41, v41, v57, 0x5040100
v_perm_b32 v44, v135, v139, 0x5040100
v_perm_b32 v43, v140, v142, 0x5040100
ds_store_b64 v126, v[33:34]
ds_store_b64 v127, v[35:36]
ds_store_b64 v128, v[38:39]
ds_store_b64 v129, v[41:42]
ds_store_b64 v130, v[43:44]
s_wait_dscnt 0x0
ds_load_b128 v[38:41], v115
ds_load_b128 v[33:36], v131
ds_load_b128 v[61:64], v132
ds_load_b128 v[135:138], v133
ds_load_b128 v[139:142], v134
ds_load_b128 v[46:49], v117
ds_load_b128 v[50:53], v118
s_wait_loadcnt 0x0
v_lshrrev_b32_e32 v101, 16, v86
v_lshrrev_b32_e32 v103, 16, v87
v_lshrrev_b32_e32 v104, 16, v88
v_lshrrev_b32_e32 v171, 16, v89
v_lshrrev_b32_e32 v172, 16, v90
v_lshrrev_b32_e32 v173, 16, v91
v_lshrrev_b32_e32 v174, 16, v92
v_lshrrev_b32_e32 v175, 16, v93
v_lshrrev_b32_e32 v176, 16, v78
v_lshrrev_b32_e32 v177, 16, v79
v_lshrrev_b32_e32 v178, 16, v80
v_lshrrev_b32_e32 v179, 16, v81
v_lshrrev_b32_e32 v180, 16, v82
s_wait_dscnt 0x6
v_dual_mov_b32 v44, v38 :: v_dual_mov_b32 v45, v39
s_wait_dscnt 0x4
v_perm_b32 v54, v61, v33, 0x5040100
v_perm_b32 v56, v61, v33, 0x7060302
ds_load_b128 v[58:61], v119
s_wait_dscnt 0x3
v_perm_b32 v55, v139, v135, 0x5040100
v_perm_b32 v57, v139, v135, 0x7060302
v_perm_b32 v143, v63, v35, 0x5040100
v_perm_b32 v144, v141, v137, 0x5040100
v_perm_b32 v145, v63, v35, 0x7060302
v_perm_b32 v146, v141, v137, 0x7060302
s_wait_dscnt 0x2
v_dual_mov_b32 v42, v48 :: v_dual_mov_b32 v43, v49
v_lshrrev_b32_e32 v181, 16, v83
v_lshrrev_b32_e32 v182, 16, v84
v_lshrrev_b32_e32 v65, 16, v94
v_lshrrev_b32_e32 v135, 16, v96
v_wmma_f32_16x16x16_f16 v[24:31], v[44:47], v[54:57], v[24:31]
v_wmma_f32_16x16x16_f16 v[16:23], v[44:47], v[143:146], v[16:23]
v_wmma_f32_16x16x16_f16 v[8:15], v[40:43], v[54:57], v[8:15]
s_wait_dscnt 0x1
v_dual_mov_b32 v56, v50 :: v_dual_mov_b32 v57, v51
v_perm_b32 v44, v62, v34, 0x5040100
v_perm_b32 v45, v140, v136, 0x5040100
v_perm_b32 v46, v62, v34, 0x7060302
v_perm_b32 v47, v140, v136, 0x7060302
v_perm_b32 v33, v64, v36, 0x5040100
v_perm_b32 v34, v142, v138, 0x5040100
v_perm_b32 v35, v64, v36, 0x7060302
v_perm_b32 v36, v142, v138, 0x7060302
s_wait_dscnt 0x0
v_dual_mov_b32 v54, v60 :: v_dual_mov_b32 v55, v61
v_wmma_f32_16x16x16_f16 v[0:7], v[40:43], v[143:146], v[0:7]
v_lshrrev_b32_e32 v167, 16, v97
s_add_nc_u64 s[22:23], s[22:23], 32
v_lshrrev_b32_e32 v156, 16, v85
v_lshrrev_b32_e32 v159, 16, v70
v_lshrrev_b32_e32 v162, 16, v71
v_lshrrev_b32_e32 v160, 16, v72
v_lshrrev_b32_e32 v164, 16, v73
v_lshrrev_b32_e32 v153, 16, v74
v_lshrrev_b32_e32 v157, 16, v75
v_lshrrev_b32_e32 v155, 16, v76
v_lshrrev_b32_e32 v158, 16, v77
v_lshrrev_b32_e32 v161, 16, v66
v_lshrrev_b32_e32 v165, 16, v67
v_lshrrev_b32_e32 v163, 16, v68
v_lshrrev_b32_e32 v166, 16, v69
v_lshrrev_b32_e32 v137, 16, v95
v_wmma_f32_16x16x16_f16 v[24:31], v[56:59], v[44:47], v[24:31]
v_wmma_f32_16x16x16_f16 v[16:23], v[56:59], v[33:36], v[16:23]
v_wmma_f32_16x16x16_f16 v[8:15], v[52:55], v[44:47], v[8:15]
v_wmma_f32_16x16x16_f16 v[0:7], v[52:55], v[33:36], v[0:7]
v_dual_mov_b32 v43, v67 :: v_dual_add_nc_u32 v100, s17, v100
v_dual_mov_b32 v42, v66 :: v_dual_mov_b32 v45, v69
v_dual_mov_b32 v44, v68 :: v_dual_mov_b32 v33, v74
v_dual_mov_b32 v34, v75 :: v_dual_mov_b32 v35, v76
v_dual_mov_b32 v36, v77 :: v_dual_mov_b32 v51, v71
v_dual_mov_b32 v50, v70 :: v_dual_mov_b32 v53, v73
v_dual_mov_b32 v52, v72 :: v_dual_mov_b32 v151, v180
v_dual_mov_b32 v46, v82 :: v_dual_mov_b32 v47, v83
v_dual_mov_b32 v154, v181 :: v_dual_mov_b32 v49, v85
v_dual_mov_b32 v48, v84 :: v_dual_mov_b32 v55, v79
v_dual_mov_b32 v152, v182 :: v_dual_mov_b32 v147, v177
v_dual_mov_b32 v54, v78 :: v_dual_mov_b32 v145, v178
v_dual_mov_b32 v150, v176 :: v_dual_mov_b32 v57, v81
v_dual_mov_b32 v56, v80 :: v_dual_mov_b32 v149, v172
v_dual_mov_b32 v142, v179 :: v_dual_mov_b32 v39, v91
v_dual_mov_b32 v38, v90 :: v_dual_mov_b32 v143, v174
v_dual_mov_b32 v146, v173 :: v_dual_mov_b32 v41, v93
v_dual_mov_b32 v40, v92 :: v_dual_mov_b32 v59, v87
v_dual_mov_b32 v140, v175 :: v_dual_mov_b32 v141, v104
v_dual_mov_b32 v58, v86 :: v_dual_mov_b32 v61, v89
v_dual_mov_b32 v148, v101 :: v_dual_mov_b32 v139, v171
v_dual_mov_b32 v144, v103 :: v_dual_mov_b32 v63, v95
v_mov_b32_e32 v60, v88
v_mov_b32_e32 v62, v94
v_mov_b32_e32 v138, v65
v_mov_b32_e32 v64, v96
v_dual_mov_b32 v136, v135 :: v_dual_mov_b32 v65, v97
v_mov_b32_e32 v135, v167
s_wait_alu depctr_sa_sdst(0)
s_sub_co_i32 s1, s22, 64
s_wait_alu depctr_sa_sdst(0)
s_cmp_ge_i32 s1, s13
s_cbranch_scc1 133
s_wait_alu depctr_sa_sdst(0)
v_dual_mov_b32 v66, 0 :: v_dual_add_nc_u32 v101, s22, v32
v_cmp_gt_i64_e64 s1, 0x7fffffff, s[22:23]
v_mov_b32_e32 v69, 0
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_4) | instid1(VALU_DEP_1)
v_lshlrev_b64_e32 v[67:68], 1, v[101:102]
s_and_b32 s1, s1, exec_lo
s_cselect_b32 s1, s22, 0x7fffffff
s_wait_alu depctr_sa_sdst(0)
s_sub_co_i32 s33, s12, s1
v_add_co_u32 v79, s1, s8, v67
s_wait_alu depctr_va_sdst(0)
v_add_co_ci_u32_e64 v80, null, s9, v68, s1
s_wait_alu depctr_sa_sdst(0)
v_cmp_gt_i32_e64 s1, s33, v99
v_dual_mov_b32 v67, 0 :: v_dual_mov_b32 v68, 0
s_and_b32 s38, vcc_lo, s1
s_delay_alu instid0(SALU_CYCLE_1)
s_and_saveexec_b32 s5, s38
s_cbranch_execz 1
global_load_b128 v[66:69], v[79:80], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s5
v_dual_mov_b32 v70, 0 :: v_dual_mov_b32 v75, 0
v_dual_mov_b32 v74, 0 :: v_dual_mov_b32 v77, 0
v_mov_b32_e32 v76, 0
s_and_b32 s5, s2, s1
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s38, s5
s_cbranch_execz 4
v_add_co_u32 v71, s5, v79, s24
s_wait_alu depctr_va_sdst(0)
v_add_co_ci_u32_e64 v72, null, s25, v80, s5
global_load_b128 v[74:77], v[71:72], off
s_or_b32 exec_lo, exec_lo, s38
v_dual_mov_b32 v71, 0 :: v_dual_mov_b32 v72, 0
v_mov_b32_e32 v73, 0
s_and_b32 s5, s3, s1
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s38, s5
s_cbranch_execz 4
v_add_co_u32 v70, s5, v79, s26
s_wait_alu depctr_va_sdst(0)
v_add_co_ci_u32_e64 v71, null, s27, v80, s5
global_load_b128 v[70:73], v[70:71], off
s_or_b32 exec_lo, exec_lo, s38
v_dual_mov_b32 v78, 0 :: v_dual_mov_b32 v83, 0
v_dual_mov_b32 v82, 0 :: v_dual_mov_b32 v85, 0
v_mov_b32_e32 v84, 0
s_and_b32 s1, s4, s1
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s5, s1
s_cbranch_execz 4
v_add_co_u32 v79, s1, v79, s28
s_wait_alu depctr_va_sdst(0)
v_add_co_ci_u32_e64 v80, null, s29, v80, s1
global_load_b128 v[82:85], v[79:80], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s5
v_dual_mov_b32 v101, v102 :: v_dual_mov_b32 v80, 0
v_cmp_gt_i32_e64 s1, s33, v107
v_mov_b32_e32 v79, 0
v_mov_b32_e32 v81, 0
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_1)
v_lshlrev_b64_e32 v[86:87], 1, v[100:101]
v_add_co_u32 v103, s5, s14, v86
s_wait_alu depctr_va_sdst(0)
s_delay_alu instid0(VALU_DEP_2)
v_add_co_ci_u32_e64 v104, null, s15, v87, s5
s_and_b32 s5, s1, s0
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s1, s5
s_cbranch_execz 1
global_load_b128 v[78:81], v[103:104], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s1
v_cmp_gt_i32_e64 s1, s33, v112
v_dual_mov_b32 v86, 0 :: v_dual_mov_b32 v91, 0
v_dual_mov_b32 v90, 0 :: v_dual_mov_b32 v93, 0
v_mov_b32_e32 v92, 0
s_and_b32 s1, s1, s0
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s5, s1
s_cbranch_execz 4
v_add_co_u32 v87, s1, v103, s30
s_wait_alu depctr_va_sdst(0)
v_add_co_ci_u32_e64 v88, null, s31, v104, s1
global_load_b128 v[90:93], v[87:88], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s5
v_cmp_gt_i32_e64 s1, s33, v113
v_dual_mov_b32 v87, 0 :: v_dual_mov_b32 v88, 0
v_mov_b32_e32 v89, 0
s_and_b32 s1, s1, s0
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s5, s1
s_cbranch_execz 4
v_add_co_u32 v86, s1, v103, s34
s_wait_alu depctr_va_sdst(0)
v_add_co_ci_u32_e64 v87, null, s35, v104, s1
global_load_b128 v[86:89], v[86:87], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s5
v_cmp_gt_i32_e64 s1, s33, v114
v_dual_mov_b32 v94, 0 :: v_dual_mov_b32 v95, 0
v_dual_mov_b32 v96, 0 :: v_dual_mov_b32 v97, 0
s_and_b32 s1, s1, s0
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s5, s1
s_cbranch_execz 65270
v_add_co_u32 v94, s1, v103, s36
s_wait_alu depctr_va_sdst(0)
v_add_co_ci_u32_e64 v95, null, s37, v104, s1
global_load_b128 v[94:97], v[94:95], off
s_branch 65265
v_mov_b32_e32 v7, 0
s_delay_alu instid0(VALU_DEP_1)
v_dual_mov_b32 v6, v7 :: v_dual_mov_b32 v5, v7
v_dual_mov_b32 v4, v7 :: v_dual_mov_b32 v3, v7
v_dual_mov_b32 v2, v7 :: v_dual_mov_b32 v1, v7
v_dual_mov_b32 v0, v7 :: v_dual_mov_b32 v15, v7
v_dual_mov_b32 v14, v7 :: v_dual_mov_b32 v13, v7
v_dual_mov_b32 v12, v7 :: v_dual_mov_b32 v11, v7
v_dual_mov_b32 v10, v7 :: v_dual_mov_b32 v9, v7
v_dual_mov_b32 v8, v7 :: v_dual_mov_b32 v23, v7
v_dual_mov_b32 v22, v7 :: v_dual_mov_b32 v21, v7
v_dual_mov_b32 v20, v7 :: v_dual_mov_b32 v19, v7
v_dual_mov_b32 v18, v7 :: v_dual_mov_b32 v17, v7
v_dual_mov_b32 v16, v7 :: v_dual_mov_b32 v31, v7
v_dual_mov_b32 v30, v7 :: v_dual_mov_b32 v29, v7
v_dual_mov_b32 v28, v7 :: v_dual_mov_b32 v27, v7
v_dual_mov_b32 v26, v7 :: v_dual_mov_b32 v25, v7
v_mov_b32_e32 v24, v7
v_mul_u32_u24_e32 v32, 0xa0, v110
s_delay_alu instid0(VALU_DEP_2)
v_cvt_f16_f32_e32 v24.l, v24
v_cvt_f16_f32_e32 v16.l, v16
v_cvt_f16_f32_e32 v17.l, v17
v_cvt_f16_f32_e32 v8.l, v8
v_and_or_b32 v32, v111, 30, v32
v_cvt_f16_f32_e32 v0.l, v0
v_cvt_f16_f32_e32 v1.l, v1
v_cvt_f16_f32_e32 v25.l, v25
v_cvt_f16_f32_e32 v9.l, v9
v_lshlrev_b32_e32 v32, 1, v32
v_cvt_f16_f32_e32 v26.l, v26
v_cvt_f16_f32_e32 v10.l, v10
v_cvt_f16_f32_e32 v27.l, v27
v_cvt_f16_f32_e32 v11.l, v11
v_cvt_f16_f32_e32 v28.l, v28
v_cvt_f16_f32_e32 v12.l, v12
v_pack_b32_f16 v8, v24.l, v8.l
v_pack_b32_f16 v0, v16.l, v0.l
v_pack_b32_f16 v1, v17.l, v1.l
v_mad_co_u64_u32 v[16:17], null, v105, s16, v[98:99]
v_cvt_f16_f32_e32 v29.l, v29
v_cvt_f16_f32_e32 v13.l, v13
v_pack_b32_f16 v9, v25.l, v9.l
v_mov_b32_e32 v17, 0
v_xor_b32_e32 v24, 64, v32
v_cvt_f16_f32_e32 v30.l, v30
v_cvt_f16_f32_e32 v14.l, v14
v_pack_b32_f16 v10, v26.l, v10.l
v_cvt_f16_f32_e32 v31.l, v31
v_cvt_f16_f32_e32 v15.l, v15
v_pack_b32_f16 v11, v27.l, v11.l
ds_store_b32 v32, v8
ds_store_b32 v24, v9
ds_store_b32 v32, v10 offset:512
ds_store_b32 v24, v11 offset:512
v_pack_b32_f16 v8, v28.l, v12.l
v_pack_b32_f16 v9, v29.l, v13.l
v_pack_b32_f16 v10, v30.l, v14.l
v_pack_b32_f16 v11, v31.l, v15.l
v_xor_b32_e32 v12, 16, v32
ds_store_b32 v32, v8 offset:1024
ds_store_b32 v24, v9 offset:1024
ds_store_b32 v32, v10 offset:1536
ds_store_b32 v24, v11 offset:1536
ds_store_b32 v12, v0 offset:128
v_and_b32_e32 v0, 32, v106
v_and_b32_e32 v9, 0x300, v108
v_cvt_f16_f32_e32 v18.l, v18
v_cvt_f16_f32_e32 v2.l, v2
v_cvt_f16_f32_e32 v19.l, v19
v_and_or_b32 v0, v109, 16, v0
v_cvt_f16_f32_e32 v3.l, v3
v_cvt_f16_f32_e32 v20.l, v20
v_cvt_f16_f32_e32 v21.l, v21
v_cvt_f16_f32_e32 v4.l, v4
v_cvt_f16_f32_e32 v5.l, v5
v_xor_b32_e32 v8, 0x50, v32
v_or3_b32 v0, v0, v9, v37
v_cvt_f16_f32_e32 v22.l, v22
v_cvt_f16_f32_e32 v6.l, v6
v_pack_b32_f16 v2, v18.l, v2.l
v_cvt_f16_f32_e32 v23.l, v23
v_cvt_f16_f32_e32 v7.l, v7
v_pack_b32_f16 v3, v19.l, v3.l
ds_store_b32 v8, v1 offset:128
ds_store_b32 v12, v2 offset:640
ds_store_b32 v8, v3 offset:640
v_pack_b32_f16 v1, v20.l, v4.l
v_pack_b32_f16 v2, v21.l, v5.l
v_lshlrev_b32_e32 v0, 1, v0
v_pack_b32_f16 v3, v22.l, v6.l
v_pack_b32_f16 v4, v23.l, v7.l
ds_store_b32 v12, v1 offset:1152
ds_store_b32 v8, v2 offset:1152
ds_store_b32 v12, v3 offset:1664
ds_store_b32 v8, v4 offset:1664
v_xor_b32_e32 v1, 16, v0
v_xor_b32_e32 v4, 0x50, v0
v_xor_b32_e32 v2, 64, v0
s_wait_dscnt 0x0
ds_load_b128 v[8:11], v0
ds_load_b128 v[12:15], v1
ds_load_b128 v[0:3], v2 offset:256
ds_load_b128 v[4:7], v4 offset:256
v_lshlrev_b64_e32 v[16:17], 1, v[16:17]
s_and_b32 s5, vcc_lo, s0
s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(VALU_DEP_2)
v_add_co_u32 v16, s1, s18, v16
s_wait_alu depctr_va_sdst(0)
v_add_co_ci_u32_e64 v17, null, s19, v17, s1
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s1, s5
s_cbranch_execz 6
s_wait_dscnt 0x2
v_perm_b32 v21, v15, v14, 0x5040100
v_perm_b32 v20, v13, v12, 0x5040100
v_perm_b32 v19, v11, v10, 0x5040100
v_perm_b32 v18, v9, v8, 0x5040100
global_store_b128 v[16:17], v[18:21], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s1
s_and_b32 s2, s2, s0
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s1, s2
s_cbranch_execz 10
s_lshl_b64 s[6:7], s[6:7], 1
s_wait_dscnt 0x0
v_perm_b32 v21, v7, v6, 0x5040100
s_wait_alu depctr_sa_sdst(0)
v_add_co_u32 v22, vcc_lo, v16, s6
v_perm_b32 v20, v5, v4, 0x5040100
v_perm_b32 v19, v3, v2, 0x5040100
v_perm_b32 v18, v1, v0, 0x5040100
v_add_co_ci_u32_e64 v23, null, s7, v17, vcc_lo
global_store_b128 v[22:23], v[18:21], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s1
s_and_b32 s2, s3, s0
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s1, s2
s_cbranch_execz 11
s_lshl_b64 s[2:3], s[10:11], 1
s_wait_dscnt 0x2
v_perm_b32 v13, v13, v12, 0x7060302
v_perm_b32 v12, v11, v10, 0x7060302
v_perm_b32 v11, v9, v8, 0x7060302
s_wait_alu depctr_sa_sdst(0)
v_add_co_u32 v8, vcc_lo, v16, s2
v_perm_b32 v14, v15, v14, 0x7060302
s_wait_alu depctr_va_vcc(0)
v_add_co_ci_u32_e64 v9, null, s3, v17, vcc_lo
global_store_b128 v[8:9], v[11:14], off
s_wait_alu depctr_sa_sdst(0)
s_or_b32 exec_lo, exec_lo, s1
s_and_b32 s0, s4, s0
s_wait_alu depctr_sa_sdst(0)
s_and_saveexec_b32 s1, s0
s_cbranch_execz 11
s_lshl_b64 s[0:1], s[20:21], 1
s_wait_dscnt 0x0
v_perm_b32 v5, v5, v4, 0x7060302
v_perm_b32 v4, v3, v2, 0x7060302
v_perm_b32 v3, v1, v0, 0x7060302
s_wait_alu depctr_sa_sdst(0)
v_add_co_u32 v0, vcc_lo, v16, s0
v_perm_b32 v6, v7, v6, 0x7060302
s_wait_alu depctr_va_vcc(0)
v_add_co_ci_u32_e64 v1, null, s1, v17, vcc_lo
global_store_b128 v[0:1], v[3:6], off
s_nop 0
s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
s_endpgm
