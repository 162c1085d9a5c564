// Lists of spans that observers get: neighbours become one.
//
//     count = sim_span_add(spans, count, address, 16);
#ifndef TILEC_SIM_MACHINE_HOPPER_SPAN_H
#define TILEC_SIM_MACHINE_HOPPER_SPAN_H

#include "sim/machine/observer.h"

// Adds bytes to the last span if they are next to it, on either side; else a span. Returns the new
// count.
static inline uint32_t sim_span_add(SimSpan *spans, uint32_t count, uint64_t address,
                                    uint32_t bytes) {
    SimSpan *last = count ? &spans[count - 1] : NULL;
    if (last && last->address + last->bytes == address) return last->bytes += bytes, count;
    if (last && address + bytes == last->address) {
        last->address = address, last->bytes += bytes;
        return count;
    }
    spans[count] = (SimSpan){address, bytes};
    return count + 1;
}

#endif
