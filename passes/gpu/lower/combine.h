// The values that reductions and scans combine: states of several vectors, two of which become one.
//
// A state's parts are the values that are reduced together (for built-in kinds one), the position
// for argmin and argmax, and, if some lanes may not take part, a bool that says whether it holds
// any element yet. Every part is a vector of the same number of registers.
// Invariants: narrow floats' sums and products are kept in f32 (combine_elem); the earlier state
// comes first; argmin and argmax give the same result in either order.
// Ownership: values; new IR goes to the builder of Threads.
//
//     Combiner c = combine_of(op, 1, masked);
//     CombineState both = combine_states(t, &c, &low, &high);
#ifndef TILEC_PASSES_GPU_LOWER_COMBINE_H
#define TILEC_PASSES_GPU_LOWER_COMBINE_H

#include "passes/gpu/lower/threads.h"

typedef struct Combiner {
    const IrOp *op;
    IrReduce kind;
    uint32_t values, parts;
    bool arg, custom;
    bool has;  // has a last part that says whether the state holds any element
} Combiner;

typedef struct CombineState {
    IrValue **part;
} CombineState;

Combiner combine_of(const IrOp *op, uint32_t values, bool has);
CombineState combine_empty(Threads *t, const Combiner *c);  // room for its parts
// The type in which a kind is accumulated.
Dtype combine_elem(IrReduce kind, Dtype elem);
// Combines x and y, x being the earlier one.
CombineState combine_states(Threads *t, const Combiner *c, const CombineState *x,
                            const CombineState *y);
// Outside of the lanes where the bool holds, the result is not used: loops of a combiner do not run
// for them.
CombineState combine_where(Threads *t, const Combiner *c, IrValue *where, const CombineState *x,
                           const CombineState *y);
// A combiner of the program's own applied to the vectors x and y, value by value; `where` is a bool
// vector, or NULL: everywhere (combiner.c).
void region_call(Threads *t, const IrBlock *block, IrValue *const *x, IrValue *const *y,
                 IrValue *where, IrValue **out);
// Value by value: x where the bool (a scalar or a vector) holds, else y.
CombineState combine_choose(Threads *t, const Combiner *c, IrValue *which, const CombineState *x,
                            const CombineState *y);
// Some registers of all parts; states concatenated.
CombineState combine_pick(Threads *t, const Combiner *c, const CombineState *x, uint32_t count,
                          const uint32_t *regs);
CombineState combine_pack(Threads *t, const Combiner *c, uint32_t count,
                          const CombineState *states);
// A NaN becomes the quiet NaN, as it does when it is combined with another value.
void combine_quiet_nan(Threads *t, const Combiner *c, CombineState *x);

// Memory in which every thread may leave `regs` registers of each part for other threads to read.
typedef struct ExchangeBuffer {
    IrValue **memory;  // of each part
    uint32_t regs, threads;
} ExchangeBuffer;
ExchangeBuffer combine_exchange_buffer(Threads *t, const Combiner *c, const CombineState *x);
// Stores this thread's state; the caller adds the barrier.
void combine_store(Threads *t, const Combiner *c, const ExchangeBuffer *buffer,
                   const CombineState *x);
// The state that thread `from` + `by` stored (from: i32).
CombineState combine_load(Threads *t, const Combiner *c, const ExchangeBuffer *buffer,
                          IrValue *from, uint32_t by);

#endif
