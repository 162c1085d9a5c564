// Blocks that are resident together: a cluster, which is one block where the kernel names none.
//
// Invariants: block n of run->blocks has rank n. Clusters run one after another. An address of
// shared memory names another block of the cluster by its rank + 1 in the bits from
// SIM_RANK_SHIFT on (mapa); without these it is the block's own.
// Ownership: sim_run's.
//
//     if (!sim_blocks_make(run)) os_out_of_memory();
//     sim_cluster_begin(run, 0);
#ifndef TILEC_SIM_MACHINE_HOPPER_CLUSTER_H
#define TILEC_SIM_MACHINE_HOPPER_CLUSTER_H

#include "sim/machine/warp.h"

enum { SIM_CLUSTER_MAX = 16, SIM_RANK_SHIFT = 24, SIM_RANK_MASK = (1 << SIM_RANK_SHIFT) - 1 };

// Blocks of a cluster along a dimension; and whether the launch can have such clusters.
uint32_t sim_cluster_size(const SimLaunch *launch, int dimension);
bool sim_cluster_check(const SimLaunch *launch, SimResult *r);

bool sim_blocks_make(SimRun *run);
void sim_blocks_free(SimRun *run);
// The clusters of the launch's grid.
uint64_t sim_cluster_count(const SimRun *run);
void sim_cluster_begin(SimRun *run, uint64_t number);

// Called when lanes have arrived or ended: the cluster's barrier may be complete.
void sim_cluster_barrier_check(SimRun *run);
// All registers are the threads' again.
void sim_pool_begin(SimBlock *b);

// Do some warps ask again and again, and the others wait? If so, or if no warp can run at all,
// something else must happen: a barrier that completes without all lanes, or the launch fails.
bool sim_cluster_is_stuck(const SimRun *run);
void sim_cluster_unblock(SimRun *run);
// The warp has found that it must wait, by an instruction that does not block.
void sim_idle(SimWarp *w);

// The block whose shared memory an address of this block's names, and the offset in it; NULL: none.
SimBlock *sim_block_at(SimBlock *b, uint64_t address, uint64_t *offset);

#endif
