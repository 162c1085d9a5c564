// Matrix descriptors of wgmma: where the parts of a factor are in shared memory.
//
// With lines (rows of A, columns of B), steps of 16 bytes along k, W = width / 16, and memory in
// units of 16 bytes (PTX ISA, "Strides" and "Canonical layouts"):
//     K-major   ((8, n), 2) : ((W, stride), 1)                  no swizzle: ((1, stride), leading)
//     MN-major  ((W, n), (8, k)) : ((1, leading), (W, stride))  no swizzle: the two are swapped
// The swizzle exchanges units by bits of their address: unit ^= row of the pattern of 8 rows.
#include "sim/machine/hopper/wgmma.h"

enum { NO_SWIZZLE = 16, PATTERN_ROWS = 8, FIELD = 0x3fff };

static uint32_t field(uint64_t bits, int at) { return ((uint32_t)(bits >> at) & FIELD) << 4; }

SimDescriptor sim_descriptor(uint64_t bits) {
    static const uint32_t widths[] = {NO_SWIZZLE, 128, 64, 32};
    const uint64_t known = UINT64_C(0xc00e3fff3fff3fff);
    return (SimDescriptor){.address = field(bits, 0),
                           .leading = field(bits, 16),
                           .stride = field(bits, 32),
                           .base = (uint32_t)(bits >> 49 & 7) << 7,
                           .width = widths[bits >> 62],
                           .reserved = (bits & ~known) != 0};
}

static uint32_t swizzled(const SimDescriptor *d, uint32_t address) {
    if (d->width == NO_SWIZZLE) return address;
    uint32_t row = address - d->base;
    return address ^ (row >> 3 & (d->width - NO_SWIZZLE));
}

static uint32_t by_lines(const SimDescriptor *d, uint32_t line, uint32_t step) {
    uint32_t along = d->width == NO_SWIZZLE ? d->leading : SIM_CHUNK;
    return line % 8 * d->width + line / 8 * d->stride + step * along;
}

static uint32_t by_steps(const SimDescriptor *d, uint32_t eight, uint32_t step) {
    uint32_t units = d->width / SIM_CHUNK;
    bool plain = d->width == NO_SWIZZLE;
    uint32_t across = plain ? d->stride : d->leading, along = plain ? d->leading : d->stride;
    return eight % units * SIM_CHUNK + eight / units * across + step % 8 * d->width +
           step / 8 * along;
}

uint32_t sim_descriptor_chunk(const SimDescriptor *d, bool transposed, uint32_t line,
                              uint32_t step) {
    return swizzled(d,
                    d->address + (transposed ? by_steps(d, line, step) : by_lines(d, line, step)));
}

void sim_descriptor_chunks(const SimDescriptor *d, bool transposed, uint32_t first, uint32_t groups,
                           uint32_t *chunks) {
    for (uint32_t g = first; g < first + groups; g++)
        for (uint32_t n = 0; n < SIM_CHUNKS_OF_8; n++)
            *chunks++ = transposed ? sim_descriptor_chunk(d, true, g, n)
                                   : sim_descriptor_chunk(d, false, 8 * g + n / 2, n % 2);
}

const char *sim_descriptor_fault(const SimDescriptor *d) {
    uint32_t pattern = PATTERN_ROWS * d->width;
    if (d->reserved) return "bits are set that must be 0";
    if (d->width == NO_SWIZZLE) return d->base ? "a base offset needs a swizzle" : NULL;
    uint32_t row = d->address & (pattern - 1) & ~(d->width - 1);
    if (row == (d->base & (pattern - 1))) return NULL;
    return "its address is in the middle of the swizzle's pattern of 8 rows, and the base offset "
           "does not say so";
}
