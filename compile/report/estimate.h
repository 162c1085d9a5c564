// An estimate of what bounds the main loop of a kernel on a GPU: the clocks that each unit of a
// multiprocessor is busy for one step of one program, by rates.def, if nothing waits. The longest
// bounds the loop; latencies, barriers and edges are not counted, so a real loop takes longer.
//
// The main loop is the one whose step takes longest, weighted by its depth, of those that contain
// no loop of unknown length; without such a loop it is the whole body. Bytes of global memory are
// counted as those of the second-level cache where much is computed with each of them, since other
// programs load the same tiles; else as those of memory.
//
//     Estimate e = estimate_of(func, target);
//     if (e.rates) printf("%s", estimate_unit_text(e.bound));
#ifndef TILEC_COMPILE_REPORT_ESTIMATE_H
#define TILEC_COMPILE_REPORT_ESTIMATE_H

#include "ir/ir.h"
#include "target/rates.h"

// UNIT(name, key in JSON, text)
#define ESTIMATE_UNITS_LIST(UNIT)                  \
    UNIT(MATRIX, "matrix", "the matrix unit")      \
    UNIT(ARITHMETIC, "arithmetic", "arithmetic")   \
    UNIT(SPECIAL, "special", "special functions")  \
    UNIT(SHARED, "shared", "shared memory")        \
    UNIT(CACHE, "cache", "the second-level cache") \
    UNIT(MEMORY, "memory", "memory")
typedef enum EstimateUnit {
#define UNIT(name, key, text) ESTIMATE_##name,
    ESTIMATE_UNITS_LIST(UNIT)
#undef UNIT
        ESTIMATE_UNITS
} EstimateUnit;

typedef struct Estimate {
    const Rates *rates;  // NULL: the chip's rates are not known
    Span span;           // of the loop, or of the kernel
    bool loop;
    double clocks[ESTIMATE_UNITS];
    EstimateUnit bound;
} Estimate;

// `func` is of level thread.
Estimate estimate_of(const IrFunc *func, GpuTarget target);
// Does the pointer lead to shared memory?
bool estimate_is_shared(const IrValue *p);
const char *estimate_unit_key(EstimateUnit unit);
const char *estimate_unit_text(EstimateUnit unit);

#endif
