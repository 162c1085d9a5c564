// Sorting networks in registers: the lines of a tile, as numbers that order as their keys do.
//
// Purpose: sort and topk of lines that fit the registers of their threads.
// Invariants: all numbers of a line are different, since ranks come with positions: a network that
// is not stable by itself sorts stably. A rank of at most 32 bits and its position share a u64;
// ranks of 64 bits have their positions in a second vector.
// Ownership: values; new IR goes to the builder of Threads.
//
//     Network net;
//     if (network_plan(&net, t, type, axis, 0)) {
//         net.order = …                       // in net.layout
//         network_sort(&net);
#ifndef TILEC_PASSES_GPU_LOWER_NETWORK_H
#define TILEC_PASSES_GPU_LOWER_NETWORK_H

#include "passes/gpu/lower/threads.h"

// The bit of registers or threads that chooses the elements along one bit of the axis.
typedef struct NetworkBit {
    LayoutDim dim;  // LAYOUT_REG, LAYOUT_LANE or LAYOUT_WARP
    uint32_t bit;   // of registers, or of the thread's number
} NetworkBit;

typedef struct Network {
    Threads *t;
    Layout layout;         // of the vectors
    uint32_t start, bits;  // of the axis in an element's number
    NetworkBit at[LAYOUT_MAX_TILE_BITS];
    uint32_t kept;            // bits of the axis of a result of topk; all for a sort
    IrValue *order, *places;  // vectors; places is NULL if ranks have positions in them
} Network;

// The layout for lines along the axis; `kept`: elements that topk keeps, 0: a sort. False: there
// would be too much code.
bool network_plan(Network *net, Threads *t, const IrType *type, uint32_t axis, uint32_t kept);
// The steps that compare and exchange.
uint32_t network_steps(const Network *net);
// Sorts ascending. For topk the least `kept` stay, and the layout becomes that of as many.
void network_sort(Network *net);

#endif
