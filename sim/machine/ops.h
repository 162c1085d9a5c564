// Handlers by name, from which readers of code choose.
//
// Purpose: arithmetic handlers are looked up by operation and type, in the tables of the lanes_*.c
// files; families with details of their own are functions here.
// Invariants: a handler expects its operands in the places that the reader's table gives
// (sim/ptx/ptx.def).
//
//     SimHandler *h = sim_lanes_find(SIM_OP_ADD, SIM_S32);   // NULL: there is
//     none
#ifndef TILEC_SIM_MACHINE_OPS_H
#define TILEC_SIM_MACHINE_OPS_H

#include "sim/machine/warp.h"

typedef enum SimOp {
#define SIM_OP(name) SIM_OP_##name,
#include "sim/machine/op.def"
#undef SIM_OP
    SIM_OP_COUNT
} SimOp;

typedef struct SimLaneRow {
    uint8_t op, type, from;  // SimOp, SimType, SimType
    SimHandler *run;
} SimLaneRow;
typedef struct SimLaneTable {
    const SimLaneRow *rows;
    uint32_t count;
} SimLaneTable;
extern const SimLaneTable sim_lanes_int, sim_lanes_bits, sim_lanes_float, sim_lanes_half,
    sim_lanes_move;
// A bit type finds the handlers of any type of its size, as in the ISA (.b32 takes .u32's).
SimHandler *sim_lanes_find(SimOp op, SimType type);

// Comparisons of setp and set, in `immediate`; may be combined with operand c by a boolean
// operation.
typedef enum SimCompare {
    SIM_EQ,
    SIM_NE,
    SIM_LT,
    SIM_LE,
    SIM_GT,
    SIM_GE,
    SIM_EQU,
    SIM_NEU,
    SIM_LTU,
    SIM_LEU,
    SIM_GTU,
    SIM_GEU,
    SIM_NUM,
    SIM_ISNAN
} SimCompare;
typedef enum SimBool { SIM_BOOL_NONE, SIM_BOOL_AND, SIM_BOOL_OR, SIM_BOOL_XOR } SimBool;
// Detail of setp and set: the results are d (and `other` for "p|q").
typedef struct SimSetOp {
    SimCompare compare;
    SimBool combine;
    SimOperand other;  // q of p|q
} SimSetOp;

// Detail of cvt: any pair of types.
typedef struct SimCvtOp {
    SimType to, from;
    bool to_integral;  // .rni and similar between float types
    bool saturate_finite;
    uint8_t to_slot,
        from_slot;      // bytes of the registers, which may be wider than the types
    SimOperand second;  // b of packed conversions
} SimCvtOp;
SimHandler sim_cvt, sim_cvt_packed;

SimHandler sim_load, sim_store, sim_load_param, sim_atom, sim_prefetch;
SimHandler sim_copy_async, sim_copy_commit, sim_copy_wait;
SimHandler sim_tile_load, sim_tile_store, sim_tile_transpose, sim_matrix, sim_matrix_double,
    sim_matrix_int;
SimHandler sim_shfl, sim_vote_all, sim_vote_any, sim_vote_uni, sim_vote_ballot, sim_match_any,
    sim_match_all, sim_redux, sim_activemask, sim_elect, sim_warp_sync, sim_fence, sim_nothing,
    sim_trap, sim_cvta_from, sim_cvta_to, sim_isspacep, sim_clock, sim_yield, sim_print,
    sim_assert_fail;
SimHandler sim_wgmma, sim_wgmma_fence, sim_wgmma_commit, sim_wgmma_wait;
SimHandler sim_bulk, sim_bulk_commit, sim_bulk_wait;
SimHandler sim_cluster_arrive, sim_cluster_wait, sim_mapa, sim_rank_of, sim_registers_more,
    sim_registers_fewer;
SimHandler sim_mbarrier_update, sim_mbarrier_test;
SimHandler sim_mov_pack, sim_mov_unpack;
// Predicate logic: and, or, xor, not, mov of predicates.
SimHandler sim_pred_and, sim_pred_or, sim_pred_xor, sim_pred_not, sim_pred_mov;

typedef enum SimShflMode { SIM_SHFL_UP, SIM_SHFL_DOWN, SIM_SHFL_BFLY, SIM_SHFL_IDX } SimShflMode;
typedef struct SimShflOp {
    SimShflMode mode;
    SimOperand value, lane, clamp,
        other;  // other: the predicate result; the members are operand b
} SimShflOp;
typedef struct SimPackOp {  // mov between a vector and a wider register
    uint8_t count, bytes;   // of one part
    SimOperand parts[8], whole;
} SimPackOp;
typedef enum SimMbarrierKind {
    SIM_MBARRIER_INIT,
    SIM_MBARRIER_INVAL,
    SIM_MBARRIER_ARRIVE,
    SIM_MBARRIER_DROP,
    SIM_MBARRIER_ARRIVE_EXPECT,
    SIM_MBARRIER_EXPECT,
    SIM_MBARRIER_COMPLETE,
    SIM_MBARRIER_COPY,  // cp.async.mbarrier.arrive
    SIM_MBARRIER_COPY_NOINC,
    SIM_MBARRIER_TEST
} SimMbarrierKind;
typedef struct SimMbarrierOp {
    SimMbarrierKind kind;
    SimAccessOp access;
    bool parity;
    bool tries;        // try_wait
    SimOperand count;  // arrivals or bytes; for a test by parity: the parity
    SimOperand state;  // 64 bits: result of an arrival, operand of a test
} SimMbarrierOp;
typedef struct SimCopyOp {
    SimAccessOp from;  // global
    SimOperand to;
    bool to_wide, to_fixed;
    int64_t to_offset;
    SimOperand source_bytes;  // if fewer, the rest is zeros
    bool ignore_negated;
    SimOperand ignore;  // predicate
} SimCopyOp;

#endif
