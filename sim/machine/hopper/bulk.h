// Bulk copies and tensor copies (TMA): in flight from their issue until they land.
//
// Purpose: the copies of the cluster that runs, and the boxes of tensor maps.
// Invariants: a copy consists of pieces, each of which is contiguous on both sides. Loads land at
// an mbarrier, some time after their issue as the seed chooses; their destination is poison until
// then. A store reads its source, and later writes global memory, no later than a wait for its
// group demands. A copy to several blocks is a copy for each.
// Ownership: SimRun's; freed with it.
//
//     sim_bulks_advance(run);   // lands what is due
#ifndef TILEC_SIM_MACHINE_HOPPER_BULK_H
#define TILEC_SIM_MACHINE_HOPPER_BULK_H

#include "sim/machine/warp.h"
#include "target/gpu_map.h"

typedef struct SimPiece {
    uint64_t global;  // address
    uint32_t shared;  // offset
    uint32_t bytes;
    bool outside;  // of the tensor: there is no global memory
} SimPiece;

typedef enum SimBulkKind {
    SIM_BULK_LOAD,   // global to shared memory
    SIM_BULK_STORE,  // shared to global memory
    SIM_BULK_MOVE    // shared memory to that of another block; a piece's `global` is the source
} SimBulkKind;

typedef struct SimBulk {
    SimBulkKind kind;
    const SimInstr *instr;
    SimWarp *warp;  // and its lane, which issued the copy
    uint32_t lane;
    SimBlock *block;  // whose shared memory is written, or read by a store
    uint32_t mbarrier, bytes;
    SimPiece *pieces;
    uint32_t count, capacity;
    uint8_t *data, *poison;  // of a store: what was read, piece by piece, and its bits
    uint32_t delay;          // turns until the next step
    uint32_t group;          // of a store
    bool read, landed;
    bool read_ended, ended;  // of a store: observers know
    bool reduces;
    SimAtom atom;
    SimType type;  // of a reduction
    bool nan;      // elements outside are NaN
} SimBulk;

typedef struct SimBulks {
    SimBulk **list;
    uint32_t count, capacity;
} SimBulks;

// Detail of the instructions.
typedef struct SimBulkOp {
    SimBulkKind kind;
    uint8_t rank;  // of the tensor; 0: a range of bytes
    bool reduces, multicast;
    SimAtom atom;
    SimType type;
    SimAccessOp shared, global;  // addresses; global: of the map for tensors
    SimAccessOp mbarrier;
    SimOperand coordinates[GPU_MAP_RANK];
    SimOperand size, blocks;  // bytes of a range, mask of blocks
} SimBulkOp;

// Bytes of a box in shared memory.
uint64_t sim_box_bytes(const GpuMapFacts *map);
// The pieces of a box at the coordinates, for shared memory from `shared` on.
void sim_box_pieces(SimBulk *bulk, const GpuMapFacts *map, const int32_t *coordinates,
                    uint32_t shared);
void sim_bulk_add_piece(SimBulk *bulk, SimPiece piece);
// Reads the map at a generic address. False: there is none, and the launch has ended.
bool sim_map_read(SimWarp *w, const SimInstr *i, uint64_t address, uint32_t rank, GpuMapFacts *map);
// to = to op from, for each element.
void sim_reduce(SimType type, SimAtom atom, uint8_t *to, const uint8_t *from, uint32_t bytes);

SimType sim_map_type(GpuMapType type);

// Issues a copy that is ready; takes its pieces. False: the launch has ended.
bool sim_bulk_issue(SimBulk *bulk);
// A thread has waited for its store: for the source's being read only, or for all of it.
void sim_bulk_await(SimBulk *bulk, bool read_only);
void sim_bulks_advance(SimRun *run);
// Lands everything; false: nothing was in flight.
bool sim_bulk_land_all(SimRun *run);
// The block has ended by the instruction: nothing may be in flight in its memory.
void sim_bulk_block_ends(SimWarp *w, const SimInstr *i);
// The cluster has ended.
void sim_bulk_end(SimRun *run);
void sim_bulk_free(SimRun *run);

#endif
