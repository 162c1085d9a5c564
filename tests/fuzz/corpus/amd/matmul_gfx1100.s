1100 16384 64 32
s_load_b256 s[16:23], s[0:1], null
v_lshrrev_b32_e32 v107, 2, v0
v_lshlrev_b32_e32 v3, 3, v0
s_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2)
v_lshl_or_b32 v106, s14, 5, v107
v_and_b32_e32 v88, 24, v3
s_waitcnt lgkmcnt(0)
s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_2) | instid1(VALU_DEP_2)
v_mad_u64_u32 v[33:34], null, v106, s20, v[88:89]
v_mov_b32_e32 v34, 0
v_cmp_gt_i32_e32 vcc_lo, s18, v106
v_mov_b32_e32 v43, v34
s_delay_alu instid0(VALU_DEP_4)
v_lshlrev_b64 v[1:2], 1, v[33:34]
v_cmp_gt_i32_e64 s5, s20, v88
v_mov_b32_e32 v44, v34
v_mov_b32_e32 v45, v34
v_mov_b32_e32 v46, v34
s_and_b32 s3, vcc_lo, s5
v_add_co_u32 v1, s2, s16, v1
s_delay_alu instid0(VALU_DEP_1)
v_add_co_ci_u32_e64 v2, null, s17, v2, s2
s_and_saveexec_b32 s2, s3
s_cbranch_execz 1
global_load_b128 v[43:46], v[1:2], off
s_or_b32 exec_lo, exec_lo, s2
v_or_b32_e32 v4, 8, v106
v_dual_mov_b32 v35, 0 :: v_dual_mov_b32 v36, 0
v_mov_b32_e32 v37, 0
s_lshl_b32 s24, s20, 3
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_2) | instid1(SALU_CYCLE_1)
v_cmp_gt_i32_e64 s2, s18, v4
s_mov_b32 s25, 0
s_and_b32 s3, s2, s5
s_and_saveexec_b32 s4, s3
s_cbranch_execz 5
s_lshl_b64 s[6:7], s[24:25], 1
s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(VALU_DEP_1)
v_add_co_u32 v4, s3, v1, s6
v_add_co_ci_u32_e64 v5, null, s7, v2, s3
global_load_b128 v[34:37], v[4:5], off
s_or_b32 exec_lo, exec_lo, s4
v_or_b32_e32 v4, 16, v106
v_dual_mov_b32 v47, 0 :: v_dual_mov_b32 v52, 0
v_dual_mov_b32 v51, 0 :: v_dual_mov_b32 v54, 0
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_4) | instid1(SALU_CYCLE_1)
v_cmp_gt_i32_e64 s3, s18, v4
v_mov_b32_e32 v53, 0
s_lshl_b32 s26, s20, 4
s_mov_b32 s27, s25
s_and_b32 s4, s3, s5
s_and_saveexec_b32 s6, s4
s_cbranch_execz 5
s_lshl_b64 s[8:9], s[26:27], 1
s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(VALU_DEP_1)
v_add_co_u32 v4, s4, v1, s8
v_add_co_ci_u32_e64 v5, null, s9, v2, s4
global_load_b128 v[51:54], v[4:5], off
s_or_b32 exec_lo, exec_lo, s6
v_or_b32_e32 v4, 24, v106
v_dual_mov_b32 v48, 0 :: v_dual_mov_b32 v49, 0
v_mov_b32_e32 v50, 0
s_mul_i32 s28, s20, 24
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_2) | instid1(SALU_CYCLE_1)
v_cmp_gt_i32_e64 s4, s18, v4
s_mov_b32 s29, 0
s_and_b32 s5, s4, s5
s_and_saveexec_b32 s6, s5
s_cbranch_execz 5
s_lshl_b64 s[8:9], s[28:29], 1
s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(VALU_DEP_1)
v_add_co_u32 v1, s5, v1, s8
v_add_co_ci_u32_e64 v2, null, s9, v2, s5
global_load_b128 v[47:50], v[1:2], off
s_or_b32 exec_lo, exec_lo, s6
s_load_b128 s[8:11], s[0:1], 0x28
s_lshl_b32 s18, s15, 5
v_cmp_gt_i32_e64 s1, s20, v107
v_or_b32_e32 v87, s18, v88
v_dual_mov_b32 v55, 0 :: v_dual_mov_b32 v58, 0
v_dual_mov_b32 v57, 0 :: v_dual_mov_b32 v56, 0
s_waitcnt lgkmcnt(0)
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_2) | instid1(VALU_DEP_2)
v_mad_u64_u32 v[38:39], null, v107, s8, v[87:88]
v_mov_b32_e32 v39, 0
v_cmp_gt_i32_e64 s0, s8, v87
v_lshlrev_b64 v[1:2], 1, v[38:39]
s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
v_add_co_u32 v1, s5, s22, v1
v_add_co_ci_u32_e64 v2, null, s23, v2, s5
s_and_b32 s5, s1, s0
s_delay_alu instid0(SALU_CYCLE_1)
s_and_saveexec_b32 s1, s5
s_cbranch_execz 1
global_load_b128 v[55:58], v[1:2], off
s_or_b32 exec_lo, exec_lo, s1
v_or_b32_e32 v111, 8, v107
v_dual_mov_b32 v40, 0 :: v_dual_mov_b32 v41, 0
v_mov_b32_e32 v42, 0
s_lshl_b32 s6, s8, 3
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_2) | instid1(SALU_CYCLE_1)
v_cmp_gt_i32_e64 s1, s20, v111
s_mov_b32 s7, 0
s_and_b32 s1, s1, s0
s_and_saveexec_b32 s5, s1
s_cbranch_execz 5
s_lshl_b64 s[12:13], s[6:7], 1
s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(VALU_DEP_1)
v_add_co_u32 v4, s1, v1, s12
v_add_co_ci_u32_e64 v5, null, s13, v2, s1
global_load_b128 v[39:42], v[4:5], off
s_or_b32 exec_lo, exec_lo, s5
v_or_b32_e32 v112, 16, v107
v_dual_mov_b32 v59, 0 :: v_dual_mov_b32 v64, 0
v_dual_mov_b32 v63, 0 :: v_dual_mov_b32 v66, 0
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_4) | instid1(SALU_CYCLE_1)
v_cmp_gt_i32_e64 s1, s20, v112
v_mov_b32_e32 v65, 0
s_lshl_b32 s12, s8, 4
s_mov_b32 s13, s7
s_and_b32 s1, s1, s0
s_and_saveexec_b32 s5, s1
s_cbranch_execz 5
s_lshl_b64 s[14:15], s[12:13], 1
s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(VALU_DEP_1)
v_add_co_u32 v4, s1, v1, s14
v_add_co_ci_u32_e64 v5, null, s15, v2, s1
global_load_b128 v[63:66], v[4:5], off
s_or_b32 exec_lo, exec_lo, s5
v_or_b32_e32 v113, 24, v107
v_dual_mov_b32 v60, 0 :: v_dual_mov_b32 v61, 0
v_mov_b32_e32 v62, 0
s_mul_i32 s14, s8, 24
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_2) | instid1(SALU_CYCLE_1)
v_cmp_gt_i32_e64 s1, s20, v113
s_mov_b32 s15, 0
s_and_b32 s1, s1, s0
s_and_saveexec_b32 s5, s1
s_cbranch_execz 5
s_lshl_b64 s[30:31], s[14:15], 1
s_delay_alu instid0(SALU_CYCLE_1) | instskip(NEXT) | instid1(VALU_DEP_1)
v_add_co_u32 v1, s1, v1, s30
v_add_co_ci_u32_e64 v2, null, s31, v2, s1
global_load_b128 v[59:62], v[1:2], off
s_or_b32 exec_lo, exec_lo, s5
v_and_b32_e32 v2, 4, v0
v_lshlrev_b32_e32 v108, 5, v0
v_bfe_i32 v1, v0, 1, 1
v_lshrrev_b32_e32 v4, 4, v0
s_cmp_lt_i32 s20, 1
v_cmp_ne_u32_e64 s1, 0, v2
v_and_b32_e32 v5, 32, v108
v_and_b32_e32 v6, 0x48, v1
v_mul_u32_u24_e32 v110, 0x90, v4
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_1)
v_cndmask_b32_e64 v1, 0, 0x90, s1
v_or3_b32 v109, v5, v6, v1
s_cbranch_scc1 404
v_dual_mov_b32 v91, 0 :: v_dual_and_b32 v2, 1, v0
v_lshlrev_b32_e32 v4, 1, v0
v_bfe_u32 v5, v0, 3, 1
v_and_b32_e32 v3, 56, v3
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_4)
v_cmp_eq_u32_e64 s1, 1, v2
v_dual_mov_b32 v25, v91 :: v_dual_and_b32 v4, 4, v4
v_mov_b32_e32 v27, v91
v_mul_u32_u24_e32 v7, 0x48, v5
s_delay_alu instid0(VALU_DEP_4)
v_cndmask_b32_e64 v2, 0, 0x48, s1
v_mul_u32_u24_e32 v5, 0x120, v5
s_movk_i32 s5, 0x50
v_and_or_b32 v6, 0x100, v108, v109
s_movk_i32 s1, 0x800
v_or3_b32 v1, v2, v4, v1
v_mov_b32_e32 v26, v91
v_xor_b32_e32 v2, v3, v7
v_dual_mov_b32 v29, v91 :: v_dual_lshlrev_b32 v114, 1, v6
s_delay_alu instid0(VALU_DEP_4) | instskip(SKIP_1) | instid1(VALU_DEP_4)
v_xor_b32_e32 v1, v1, v5
v_mov_b32_e32 v31, v91
v_xor_b32_e32 v3, v2, v110
v_lshlrev_b32_e32 v2, 1, v2
v_xor_b32_e32 v115, 16, v114
v_and_or_b32 v1, 0x200, v108, v1
v_xor_b32_e32 v116, 32, v114
v_xor_b32_e32 v117, 48, v114
v_dual_mov_b32 v17, v91 :: v_dual_lshlrev_b32 v118, 1, v3
s_delay_alu instid0(VALU_DEP_4) | instskip(SKIP_3) | instid1(VALU_DEP_4)
v_dual_mov_b32 v28, v91 :: v_dual_lshlrev_b32 v1, 1, v1
v_xor_b32_e32 v3, 32, v2
v_xor_b32_e32 v4, 64, v2
v_xor_b32_e32 v5, 0x60, v2
v_xad_u32 v127, v1, s5, 0x800
s_movk_i32 s5, 0x70
v_or_b32_e32 v122, 0x800, v1
v_xad_u32 v123, v1, 16, 0x800
v_xad_u32 v124, v1, 32, 0x800
v_xad_u32 v125, v1, 48, 0x800
v_xad_u32 v126, v1, 64, 0x800
v_xad_u32 v128, 0x60, v1, s1
v_xad_u32 v129, v1, s5, 0x800
v_or_b32_e32 v1, 32, v107
v_dual_mov_b32 v30, v91 :: v_dual_add_nc_u32 v119, 0x200, v118
v_or_b32_e32 v120, 0x400, v118
v_dual_mov_b32 v32, v91 :: v_dual_add_nc_u32 v121, 0x600, v118
s_delay_alu instid0(VALU_DEP_4)
v_mul_lo_u32 v1, v1, s8
v_or_b32_e32 v130, 0x800, v2
v_dual_mov_b32 v18, v91 :: v_dual_add_nc_u32 v131, 0x900, v3
v_or_b32_e32 v132, 0xa00, v4
v_dual_mov_b32 v20, v91 :: v_dual_add_nc_u32 v133, 0xb00, v5
v_or_b32_e32 v134, 0xc00, v2
v_dual_mov_b32 v22, v91 :: v_dual_add_nc_u32 v135, 0xd00, v3
v_or_b32_e32 v136, 0xe00, v4
v_dual_mov_b32 v24, v91 :: v_dual_add_nc_u32 v137, 0xf00, v5
v_or_b32_e32 v138, 0x400, v114
v_or_b32_e32 v139, 0x400, v115
v_or_b32_e32 v140, 0x400, v116
v_or_b32_e32 v141, 0x400, v117
v_add3_u32 v89, v1, s18, v88
v_mov_b32_e32 v19, v91
v_mov_b32_e32 v21, v91
v_mov_b32_e32 v23, v91
v_mov_b32_e32 v9, v91
v_mov_b32_e32 v10, v91
v_mov_b32_e32 v11, v91
v_mov_b32_e32 v12, v91
v_mov_b32_e32 v13, v91
v_mov_b32_e32 v14, v91
v_mov_b32_e32 v15, v91
v_mov_b32_e32 v16, v91
v_mov_b32_e32 v1, v91
v_mov_b32_e32 v2, v91
v_mov_b32_e32 v3, v91
v_mov_b32_e32 v4, v91
v_mov_b32_e32 v5, v91
v_mov_b32_e32 v6, v91
v_mov_b32_e32 v7, v91
v_mov_b32_e32 v8, v91
s_waitcnt vmcnt(0)
v_mov_b16_e32 v102.l, v55.h
v_mov_b16_e32 v100.l, v56.l
v_mov_b16_e32 v98.l, v56.h
v_mov_b16_e32 v96.l, v57.h
v_mov_b16_e32 v94.l, v58.l
v_mov_b16_e32 v92.l, v58.h
v_mov_b16_e32 v55.h, v39.l
v_mov_b16_e32 v102.h, v39.h
v_mov_b16_e32 v100.h, v40.l
v_mov_b16_e32 v98.h, v40.h
v_mov_b16_e32 v57.h, v41.l
v_mov_b16_e32 v96.h, v41.h
v_mov_b16_e32 v94.h, v42.l
v_mov_b16_e32 v92.h, v42.h
v_mov_b16_e32 v56.l, v63.l
v_mov_b16_e32 v103.l, v63.h
v_mov_b16_e32 v101.l, v64.l
v_mov_b16_e32 v99.l, v64.h
v_mov_b16_e32 v58.l, v65.l
v_mov_b16_e32 v97.l, v65.h
v_mov_b16_e32 v95.l, v66.l
v_mov_b16_e32 v93.l, v66.h
v_mov_b16_e32 v56.h, v59.l
v_mov_b16_e32 v103.h, v59.h
v_mov_b16_e32 v101.h, v60.l
v_mov_b16_e32 v99.h, v60.h
v_mov_b16_e32 v58.h, v61.l
v_mov_b16_e32 v97.h, v61.h
v_mov_b16_e32 v95.h, v62.l
v_mov_b16_e32 v93.h, v62.h
s_sub_i32 s9, s20, 32
s_lshl_b32 s21, s8, 5
s_mov_b64 s[18:19], 32
s_lshl_b64 s[24:25], s[24:25], 1
s_lshl_b64 s[26:27], s[26:27], 1
s_lshl_b64 s[28:29], s[28:29], 1
s_lshl_b64 s[30:31], s[6:7], 1
s_lshl_b64 s[34:35], s[12:13], 1
s_lshl_b64 s[36:37], s[14:15], 1
s_branch 177
s_or_b32 exec_lo, exec_lo, s5
ds_store_b128 v118, v[43:46]
ds_store_b128 v119, v[34:37]
ds_store_b128 v120, v[51:54]
ds_store_b128 v121, v[47:50]
ds_store_b64 v122, v[55:56]
ds_store_b64 v123, v[102:103]
ds_store_b64 v124, v[100:101]
ds_store_b64 v125, v[98:99]
ds_store_b64 v126, v[57:58]
ds_store_b64 v127, v[96:97]
ds_store_b64 v128, v[94:95]
ds_store_b64 v129, v[92:93]
s_waitcnt lgkmcnt(0)
ds_load_b128 v[34:37], v130
ds_load_b128 v[143:146], v131
ds_load_b128 v[53:56], v132
ds_load_b128 v[101:104], v133
ds_load_b128 v[184:187], v134
ds_load_b128 v[97:100], v135
ds_load_b128 v[188:191], v136
ds_load_b128 v[49:52], v137
ds_load_b128 v[147:150], v114
ds_load_b128 v[151:154], v115
ds_load_b128 v[163:166], v138
ds_load_b128 v[167:170], v139
ds_load_b128 v[171:174], v116
ds_load_b128 v[175:178], v117
s_add_u32 s18, s18, 32
s_waitcnt vmcnt(0)
v_mov_b16_e32 v57.l, v69.l
v_mov_b16_e32 v57.h, v81.l
v_mov_b16_e32 v58.l, v77.l
v_mov_b16_e32 v58.h, v85.l
s_addc_u32 s19, s19, 0
s_sub_i32 s1, s18, 64
v_add_nc_u32_e32 v89, s21, v89
s_cmp_ge_i32 s1, s9
s_waitcnt lgkmcnt(13)
v_mov_b16_e32 v42.l, v34.l
s_waitcnt lgkmcnt(12)
v_mov_b16_e64 v42.h, v143.l op_sel:[0,1]
v_mov_b16_e64 v143.l, v34.h op_sel:[1,0]
s_waitcnt lgkmcnt(10)
v_mov_b16_e32 v43.h, v101.l
s_waitcnt lgkmcnt(9)
v_mov_b16_e64 v44.l, v184.l
s_waitcnt lgkmcnt(8)
v_mov_b16_e32 v44.h, v97.l
v_mov_b16_e64 v97.l, v184.h op_sel:[1,0]
v_mov_b16_e64 v157.l, v186.l
v_mov_b16_e64 v157.h, v99.l op_sel:[0,1]
v_mov_b16_e64 v99.l, v186.h op_sel:[1,0]
v_mov_b16_e64 v94.l, v185.l
v_mov_b16_e32 v94.h, v98.l
v_mov_b16_e64 v98.l, v185.h op_sel:[1,0]
ds_load_b128 v[179:182], v140
ds_load_b128 v[183:186], v141
v_mov_b16_e32 v101.l, v53.h
v_mov_b16_e64 v155.h, v145.l op_sel:[0,1]
v_mov_b16_e64 v156.h, v103.l op_sel:[0,1]
s_waitcnt lgkmcnt(8)
v_mov_b16_e64 v158.h, v51.l op_sel:[0,1]
v_mov_b16_e64 v145.l, v36.h op_sel:[1,0]
v_mov_b16_e32 v103.l, v55.h
v_mov_b16_e64 v51.l, v190.h op_sel:[1,0]
v_mov_b16_e64 v92.h, v144.l op_sel:[0,1]
v_mov_b16_e64 v144.l, v35.h op_sel:[1,0]
v_mov_b16_e32 v43.l, v53.l
v_mov_b16_e64 v45.l, v188.l
v_mov_b16_e32 v45.h, v49.l
v_mov_b16_e64 v49.l, v188.h op_sel:[1,0]
v_dual_mov_b32 v46, v143 :: v_dual_mov_b32 v47, v101
v_dual_mov_b32 v48, v97 :: v_dual_mov_b32 v161, v99
v_mov_b16_e64 v155.l, v36.l
v_mov_b16_e64 v156.l, v55.l
v_mov_b16_e64 v158.l, v190.l
v_dual_mov_b32 v159, v145 :: v_dual_mov_b32 v160, v103
v_mov_b16_e32 v93.h, v102.l
v_mov_b16_e32 v95.h, v50.l
v_mov_b16_e32 v102.l, v54.h
v_mov_b32_e32 v162, v51
v_mov_b16_e64 v50.l, v189.h op_sel:[1,0]
v_mov_b32_e32 v96, v144
v_mov_b16_e64 v143.h, v104.l op_sel:[0,1]
v_mov_b16_e64 v144.h, v100.l op_sel:[0,1]
v_mov_b16_e64 v145.h, v52.l op_sel:[0,1]
v_mov_b16_e32 v104.l, v56.h
v_mov_b16_e64 v100.l, v187.h op_sel:[1,0]
v_mov_b16_e64 v52.l, v191.h op_sel:[1,0]
s_waitcnt lgkmcnt(6)
v_wmma_f32_16x16x16_f16 v[25:32], v[147:154], v[42:49], v[25:32]
v_mov_b16_e32 v92.l, v35.l
v_mov_b16_e32 v93.l, v54.l
v_mov_b16_e64 v95.l, v189.l
v_mov_b32_e32 v97, v102
v_wmma_f32_16x16x16_f16 v[17:24], v[147:154], v[155:162], v[17:24]
v_mov_b32_e32 v99, v50
v_mov_b16_e64 v142.l, v37.l
v_mov_b16_e64 v142.h, v146.l op_sel:[0,1]
v_mov_b16_e64 v143.l, v56.l
v_mov_b16_e64 v144.l, v187.l
v_mov_b16_e64 v145.l, v191.l
v_mov_b16_e64 v146.l, v37.h op_sel:[1,0]
v_mov_b32_e32 v147, v104
v_mov_b32_e32 v148, v100
v_mov_b32_e32 v149, v52
s_waitcnt lgkmcnt(4)
v_wmma_f32_16x16x16_f16 v[9:16], v[163:170], v[42:49], v[9:16]
v_wmma_f32_16x16x16_f16 v[1:8], v[163:170], v[155:162], v[1:8]
s_waitcnt lgkmcnt(2)
v_wmma_f32_16x16x16_f16 v[25:32], v[171:178], v[92:99], v[25:32]
v_mov_b16_e32 v43.l, v38.l
v_wmma_f32_16x16x16_f16 v[17:24], v[171:178], v[142:149], v[17:24]
s_waitcnt lgkmcnt(0)
v_wmma_f32_16x16x16_f16 v[9:16], v[179:186], v[92:99], v[9:16]
v_wmma_f32_16x16x16_f16 v[1:8], v[179:186], v[142:149], v[1:8]
v_mov_b16_e32 v43.h, v38.h
v_mov_b16_e32 v44.l, v39.l
v_mov_b16_e32 v44.h, v39.h
v_mov_b16_e32 v45.l, v40.l
v_mov_b16_e32 v45.h, v40.h
v_mov_b16_e32 v46.l, v41.l
v_mov_b16_e32 v46.h, v41.h
v_mov_b16_e32 v34.l, v63.l
v_mov_b16_e32 v34.h, v63.h
v_mov_b16_e32 v35.l, v64.l
v_mov_b16_e32 v35.h, v64.h
v_mov_b16_e32 v36.l, v65.l
v_mov_b16_e32 v36.h, v65.h
v_mov_b16_e32 v37.l, v66.l
v_mov_b16_e32 v37.h, v66.h
v_mov_b16_e32 v51.l, v59.l
v_mov_b16_e32 v51.h, v59.h
v_mov_b16_e32 v52.l, v60.l
v_mov_b16_e32 v52.h, v60.h
v_mov_b16_e32 v53.l, v61.l
v_mov_b16_e32 v53.h, v61.h
v_mov_b16_e32 v54.l, v62.l
v_mov_b16_e32 v54.h, v62.h
v_mov_b16_e32 v47.l, v71.l
v_mov_b16_e32 v47.h, v71.h
v_mov_b16_e32 v48.l, v72.l
v_mov_b16_e32 v48.h, v72.h
v_mov_b16_e32 v49.l, v73.l
v_mov_b16_e32 v49.h, v73.h
v_mov_b16_e32 v50.l, v74.l
v_mov_b16_e32 v50.h, v74.h
v_mov_b16_e32 v55.l, v67.l
v_mov_b16_e32 v102.l, v67.h
v_mov_b16_e32 v100.l, v68.l
v_mov_b16_e32 v98.l, v68.h
v_mov_b16_e32 v96.l, v69.h
v_mov_b16_e32 v94.l, v70.l
v_mov_b16_e32 v92.l, v70.h
v_mov_b16_e32 v55.h, v79.l
v_mov_b16_e32 v102.h, v79.h
v_mov_b16_e32 v100.h, v80.l
v_mov_b16_e32 v98.h, v80.h
v_mov_b16_e32 v96.h, v81.h
v_mov_b16_e32 v94.h, v82.l
v_mov_b16_e32 v92.h, v82.h
v_mov_b16_e32 v56.l, v75.l
v_mov_b16_e32 v103.l, v75.h
v_mov_b16_e32 v101.l, v76.l
v_mov_b16_e32 v99.l, v76.h
v_mov_b16_e32 v97.l, v77.h
v_mov_b16_e32 v95.l, v78.l
v_mov_b16_e32 v93.l, v78.h
v_mov_b16_e32 v56.h, v83.l
v_mov_b16_e32 v103.h, v83.h
v_mov_b16_e32 v101.h, v84.l
v_mov_b16_e32 v99.h, v84.h
v_mov_b16_e32 v97.h, v85.h
v_mov_b16_e32 v95.h, v86.l
v_mov_b16_e32 v93.h, v86.h
s_cbranch_scc1 138
v_add_nc_u32_e32 v90, s18, v33
v_cmp_gt_i64_e64 s1, 0x7fffffff, s[18:19]
v_dual_mov_b32 v38, 0 :: v_dual_mov_b32 v41, 0
s_delay_alu instid0(VALU_DEP_3) | instskip(SKIP_2) | instid1(SALU_CYCLE_1)
v_lshlrev_b64 v[39:40], 1, v[90:91]
s_and_b32 s1, s1, exec_lo
s_cselect_b32 s1, s18, 0x7fffffff
s_sub_i32 s33, s20, s1
s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
v_add_co_u32 v68, s1, s16, v39
v_add_co_ci_u32_e64 v69, null, s17, v40, s1
v_cmp_gt_i32_e64 s1, s33, v88
v_dual_mov_b32 v39, 0 :: v_dual_mov_b32 v40, 0
s_and_b32 s38, vcc_lo, s1
s_delay_alu instid0(SALU_CYCLE_1)
s_and_saveexec_b32 s5, s38
s_cbranch_execz 1
global_load_b128 v[38:41], v[68:69], off
s_or_b32 exec_lo, exec_lo, s5
v_dual_mov_b32 v59, 0 :: v_dual_mov_b32 v64, 0
v_dual_mov_b32 v63, 0 :: v_dual_mov_b32 v66, 0
v_mov_b32_e32 v65, 0
s_and_b32 s5, s2, s1
s_delay_alu instid0(SALU_CYCLE_1)
s_and_saveexec_b32 s38, s5
s_cbranch_execz 4
v_add_co_u32 v60, s5, v68, s24
s_delay_alu instid0(VALU_DEP_1)
v_add_co_ci_u32_e64 v61, null, s25, v69, s5
global_load_b128 v[63:66], v[60:61], off
s_or_b32 exec_lo, exec_lo, s38
v_dual_mov_b32 v60, 0 :: v_dual_mov_b32 v61, 0
v_mov_b32_e32 v62, 0
s_and_b32 s5, s3, s1
s_delay_alu instid0(SALU_CYCLE_1)
s_and_saveexec_b32 s38, s5
s_cbranch_execz 4
v_add_co_u32 v59, s5, v68, s26
s_delay_alu instid0(VALU_DEP_1)
v_add_co_ci_u32_e64 v60, null, s27, v69, s5
global_load_b128 v[59:62], v[59:60], off
s_or_b32 exec_lo, exec_lo, s38
v_dual_mov_b32 v67, 0 :: v_dual_mov_b32 v72, 0
v_dual_mov_b32 v71, 0 :: v_dual_mov_b32 v74, 0
v_mov_b32_e32 v73, 0
s_and_b32 s1, s4, s1
s_delay_alu instid0(SALU_CYCLE_1)
s_and_saveexec_b32 s5, s1
s_cbranch_execz 4
v_add_co_u32 v68, s1, v68, s28
s_delay_alu instid0(VALU_DEP_1)
v_add_co_ci_u32_e64 v69, null, s29, v69, s1
global_load_b128 v[71:74], v[68:69], off
s_or_b32 exec_lo, exec_lo, s5
v_dual_mov_b32 v90, v91 :: v_dual_mov_b32 v69, 0
v_cmp_gt_i32_e64 s1, s33, v107
v_mov_b32_e32 v68, 0
v_mov_b32_e32 v70, 0
s_delay_alu instid0(VALU_DEP_4) | instskip(NEXT) | instid1(VALU_DEP_1)
v_lshlrev_b64 v[75:76], 1, v[89:90]
v_add_co_u32 v104, s5, s22, v75
s_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_1) | instid1(SALU_CYCLE_1)
v_add_co_ci_u32_e64 v105, null, s23, v76, s5
s_and_b32 s5, s1, s0
s_and_saveexec_b32 s1, s5
s_cbranch_execz 1
global_load_b128 v[67:70], v[104:105], off
s_or_b32 exec_lo, exec_lo, s1
v_cmp_gt_i32_e64 s1, s33, v111
v_dual_mov_b32 v75, 0 :: v_dual_mov_b32 v80, 0
v_dual_mov_b32 v79, 0 :: v_dual_mov_b32 v82, 0
v_mov_b32_e32 v81, 0
s_and_b32 s1, s1, s0
s_delay_alu instid0(SALU_CYCLE_1)
s_and_saveexec_b32 s5, s1
s_cbranch_execz 4
v_add_co_u32 v76, s1, v104, s30
s_delay_alu instid0(VALU_DEP_1)
v_add_co_ci_u32_e64 v77, null, s31, v105, s1
global_load_b128 v[79:82], v[76:77], off
s_or_b32 exec_lo, exec_lo, s5
v_cmp_gt_i32_e64 s1, s33, v112
v_dual_mov_b32 v76, 0 :: v_dual_mov_b32 v77, 0
v_mov_b32_e32 v78, 0
s_and_b32 s1, s1, s0
s_delay_alu instid0(SALU_CYCLE_1)
s_and_saveexec_b32 s5, s1
s_cbranch_execz 4
v_add_co_u32 v75, s1, v104, s34
s_delay_alu instid0(VALU_DEP_1)
v_add_co_ci_u32_e64 v76, null, s35, v105, s1
global_load_b128 v[75:78], v[75:76], off
s_or_b32 exec_lo, exec_lo, s5
v_cmp_gt_i32_e64 s1, s33, v113
v_dual_mov_b32 v83, 0 :: v_dual_mov_b32 v84, 0
v_dual_mov_b32 v85, 0 :: v_dual_mov_b32 v86, 0
s_and_b32 s1, s1, s0
s_delay_alu instid0(SALU_CYCLE_1)
s_and_saveexec_b32 s5, s1
s_cbranch_execz 65259
v_add_co_u32 v83, s1, v104, s36
s_delay_alu instid0(VALU_DEP_1)
v_add_co_ci_u32_e64 v84, null, s37, v105, s1
global_load_b128 v[83:86], v[83:84], off
s_branch 65254
v_mov_b32_e32 v8, 0
s_delay_alu instid0(VALU_DEP_1)
v_mov_b32_e32 v7, v8
v_mov_b32_e32 v6, v8
v_mov_b32_e32 v5, v8
v_mov_b32_e32 v4, v8
v_mov_b32_e32 v3, v8
v_mov_b32_e32 v2, v8
v_mov_b32_e32 v1, v8
v_mov_b32_e32 v16, v8
v_mov_b32_e32 v15, v8
v_mov_b32_e32 v14, v8
v_mov_b32_e32 v13, v8
v_mov_b32_e32 v12, v8
v_mov_b32_e32 v11, v8
v_mov_b32_e32 v10, v8
v_mov_b32_e32 v9, v8
v_mov_b32_e32 v24, v8
v_mov_b32_e32 v23, v8
v_mov_b32_e32 v22, v8
v_mov_b32_e32 v21, v8
v_mov_b32_e32 v20, v8
v_mov_b32_e32 v19, v8
v_mov_b32_e32 v18, v8
v_mov_b32_e32 v17, v8
v_mov_b32_e32 v32, v8
v_mov_b32_e32 v31, v8
v_mov_b32_e32 v30, v8
v_mov_b32_e32 v29, v8
v_mov_b32_e32 v28, v8
v_mov_b32_e32 v27, v8
v_mov_b32_e32 v26, v8
v_mov_b32_e32 v25, v8
v_lshlrev_b32_e32 v0, 2, v0
s_delay_alu instid0(VALU_DEP_2)
v_cvt_f16_f32_e32 v25.l, v25
v_cvt_f16_f32_e32 v25.h, v29
v_cvt_f16_f32_e32 v29.l, v18
v_cvt_f16_f32_e32 v18.l, v1
v_and_b32_e32 v0, 60, v0
v_and_or_b32 v1, 0x300, v108, v109
s_waitcnt vmcnt(0)
v_cvt_f16_f32_e32 v35.h, v32
v_cvt_f16_f32_e32 v32.l, v4
v_cvt_f16_f32_e32 v33.l, v26
v_xor_b32_e32 v0, v0, v110
v_lshlrev_b32_e32 v4, 1, v1
v_cvt_f16_f32_e32 v27.l, v27
v_cvt_f16_f32_e32 v35.l, v28
v_cvt_f16_f32_e32 v33.h, v30
v_lshlrev_b32_e32 v0, 1, v0
v_cvt_f16_f32_e32 v27.h, v31
v_cvt_f16_f32_e32 v26.l, v9
v_cvt_f16_f32_e32 v34.l, v10
v_cvt_f16_f32_e32 v28.l, v11
v_cvt_f16_f32_e32 v36.l, v12
v_cvt_f16_f32_e32 v26.h, v13
v_cvt_f16_f32_e32 v34.h, v14
v_cvt_f16_f32_e32 v28.h, v15
v_cvt_f16_f32_e32 v36.h, v16
v_cvt_f16_f32_e32 v17.l, v17
v_cvt_f16_f32_e32 v17.h, v21
v_cvt_f16_f32_e32 v29.h, v22
v_cvt_f16_f32_e32 v30.l, v2
v_cvt_f16_f32_e32 v18.h, v5
v_cvt_f16_f32_e32 v30.h, v6
v_xor_b32_e32 v2, 16, v0
v_xor_b32_e32 v5, 16, v4
v_xor_b32_e32 v12, 48, v4
v_cvt_f16_f32_e32 v19.l, v19
v_cvt_f16_f32_e32 v31.l, v20
v_cvt_f16_f32_e32 v19.h, v23
v_cvt_f16_f32_e32 v31.h, v24
v_cvt_f16_f32_e32 v20.l, v3
v_cvt_f16_f32_e32 v20.h, v7
v_cvt_f16_f32_e32 v32.h, v8
v_xor_b32_e32 v8, 32, v4
ds_store_2addr_stride64_b64 v0, v[25:26], v[33:34] offset1:1
ds_store_2addr_stride64_b64 v0, v[27:28], v[35:36] offset0:2 offset1:3
ds_store_2addr_b64 v2, v[17:18], v[29:30] offset0:16 offset1:80
ds_store_2addr_b64 v2, v[19:20], v[31:32] offset0:144 offset1:208
v_mad_u64_u32 v[16:17], null, v106, s8, v[87:88]
s_waitcnt lgkmcnt(0)
ds_load_b128 v[0:3], v4
ds_load_b128 v[4:7], v5
ds_load_b128 v[8:11], v8
ds_load_b128 v[12:15], v12
v_mov_b32_e32 v17, 0
s_and_b32 s5, vcc_lo, s0
s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)
v_lshlrev_b64 v[16:17], 1, v[16:17]
v_add_co_u32 v16, s1, s10, v16
s_delay_alu instid0(VALU_DEP_1)
v_add_co_ci_u32_e64 v17, null, s11, v17, s1
s_and_saveexec_b32 s1, s5
s_cbranch_execz 12
s_waitcnt lgkmcnt(2)
v_mov_b16_e32 v19.l, v4.l
v_mov_b16_e32 v19.h, v6.l
v_mov_b16_e32 v18.l, v0.l
v_mov_b16_e32 v18.h, v2.l
s_waitcnt lgkmcnt(1)
v_mov_b16_e32 v20.l, v8.l
v_mov_b16_e32 v20.h, v10.l
s_waitcnt lgkmcnt(0)
v_mov_b16_e32 v21.l, v12.l
v_mov_b16_e32 v21.h, v14.l
global_store_b128 v[16:17], v[18:21], off
s_or_b32 exec_lo, exec_lo, s1
s_and_b32 s2, s2, s0
s_delay_alu instid0(SALU_CYCLE_1)
s_and_saveexec_b32 s1, s2
s_cbranch_execz 16
s_waitcnt lgkmcnt(3)
v_mov_b16_e32 v2.l, v0.h
s_waitcnt lgkmcnt(2)
v_mov_b16_e32 v6.l, v4.h
s_waitcnt lgkmcnt(1)
v_mov_b16_e32 v10.l, v8.h
s_waitcnt lgkmcnt(0)
v_mov_b16_e32 v14.l, v12.h
s_lshl_b64 s[6:7], s[6:7], 1
v_mov_b32_e32 v18, v2
v_add_co_u32 v22, vcc_lo, v16, s6
v_mov_b32_e32 v19, v6
v_mov_b32_e32 v20, v10
v_mov_b32_e32 v21, v14
v_add_co_ci_u32_e64 v23, null, s7, v17, vcc_lo
global_store_b128 v[22:23], v[18:21], off
s_or_b32 exec_lo, exec_lo, s1
s_and_b32 s2, s3, s0
s_delay_alu instid0(SALU_CYCLE_1)
s_and_saveexec_b32 s1, s2
s_cbranch_execz 15
s_lshl_b64 s[2:3], s[12:13], 1
s_waitcnt lgkmcnt(2)
v_mov_b16_e32 v19.l, v5.l
v_add_co_u32 v22, vcc_lo, v16, s2
v_mov_b16_e32 v19.h, v7.l
v_mov_b16_e32 v18.l, v1.l
v_mov_b16_e32 v18.h, v3.l
s_waitcnt lgkmcnt(1)
v_mov_b16_e32 v20.l, v9.l
v_mov_b16_e32 v20.h, v11.l
s_waitcnt lgkmcnt(0)
v_mov_b16_e32 v21.l, v13.l
v_mov_b16_e32 v21.h, v15.l
v_add_co_ci_u32_e64 v23, null, s3, v17, vcc_lo
global_store_b128 v[22:23], v[18:21], off
s_or_b32 exec_lo, exec_lo, s1
s_and_b32 s0, s4, s0
s_delay_alu instid0(SALU_CYCLE_1)
s_and_saveexec_b32 s1, s0
s_cbranch_execz 14
s_waitcnt lgkmcnt(2)
v_mov_b16_e32 v7.l, v5.h
s_waitcnt lgkmcnt(1)
v_mov_b16_e32 v11.l, v9.h
s_waitcnt lgkmcnt(0)
v_mov_b16_e32 v15.l, v13.h
s_lshl_b64 s[0:1], s[14:15], 1
v_mov_b16_e32 v3.l, v1.h
v_add_co_u32 v0, vcc_lo, v16, s0
v_mov_b32_e32 v4, v7
v_mov_b32_e32 v5, v11
v_mov_b32_e32 v6, v15
v_add_co_ci_u32_e64 v1, null, s1, v17, vcc_lo
global_store_b128 v[0:1], v[3:6], off
s_nop 0
s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
s_endpgm
