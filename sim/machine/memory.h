// Memory of a simulated device: allocations with bounds and generations, in their own address
// space.
//
// Invariants: addresses begin at SIM_GLOBAL_BASE, where no host has memory, so that host and device
// pointers can be distinguished. Addresses are never reused, and allocations are 512 bytes apart,
// so an access past the end, or after the free, finds no memory. Results depend only on the order
// of calls. Poison: one bit for each byte, set until the byte is written; tracked when the memory
// was made with `poison`. The windows of shared and local memory in generic addresses do not
// overlap these addresses.
// Ownership: the creator destroys it. Not for several threads at once.
//
//     uint64_t p;
//     if (!sim_memory_alloc(m, 4096, "x", &p)) …          // out of memory
//     SimRegion *r = sim_memory_find(m, p, 16);            // NULL: not 16 bytes of one allocation
//     memcpy(r->bytes + (p - r->base), data, 16);
#ifndef TILEC_SIM_MACHINE_MEMORY_H
#define TILEC_SIM_MACHINE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

#define SIM_GLOBAL_BASE UINT64_C(0x1000000000000000)
#define SIM_SHARED_BASE UINT64_C(0x2000000000000000)
#define SIM_LOCAL_BASE UINT64_C(0x3000000000000000)
#define SIM_PARAM_BASE UINT64_C(0x4000000000000000)
// For AMD GPUs, whose buffers have 48-bit addresses: a terabyte where programs have no memory. Bit
// 47 is 0, since GFX12's code takes it for the sign of the program counter.
#define SIM_AMD_BASE UINT64_C(0x0000210000000000)
#define SIM_AMD_MASK UINT64_C(0xffffff0000000000)
#define SIM_WINDOW_MASK UINT64_C(0xf000000000000000)

typedef struct SimRegion {
    uint64_t base, size;
    uint8_t *bytes;    // NULL after the free
    uint8_t *poison;   // bit i & 7 of byte i >> 3; NULL: not tracked
    uint32_t number;   // number in order of allocation, from 0
    bool constant;     // kernels may not write
    const char *name;  // for messages
} SimRegion;

typedef struct SimMemory SimMemory;
SimMemory *sim_memory_create(bool poison);
// Allocates from 4 GiB above `base` on; `base` is SIM_GLOBAL_BASE or SIM_AMD_BASE. So an address
// that lost a bit of its upper half points to no memory.
SimMemory *sim_memory_create_at(bool poison, uint64_t base);
void sim_memory_destroy(SimMemory *memory);
// False: the host is out of memory. The contents are zeros (and poison, if it is tracked).
bool sim_memory_alloc(SimMemory *memory, uint64_t size, const char *name, uint64_t *address);
// False: no live allocation begins there.
bool sim_memory_free(SimMemory *memory, uint64_t address);
// The live region that holds all `size` bytes from `address` on, or NULL.
SimRegion *sim_memory_find(SimMemory *memory, uint64_t address, uint64_t size);
// The region nearest to the address, live or freed, for messages; NULL if there are none.
const SimRegion *sim_memory_nearest(const SimMemory *memory, uint64_t address);
SimRegion *sim_memory_region(const SimMemory *memory, uint32_t number);
uint32_t sim_memory_count(const SimMemory *memory);

// Copies in and out; false: the bytes are not all in one live region. Written bytes are not poison
// any more.
bool sim_memory_write(SimMemory *memory, uint64_t address, const void *from, uint64_t size);
bool sim_memory_read(SimMemory *memory, uint64_t address, void *to, uint64_t size);
static inline bool sim_address_is_global(uint64_t address) {
    return (address & SIM_WINDOW_MASK) == SIM_GLOBAL_BASE ||
           (address & SIM_AMD_MASK) == SIM_AMD_BASE;
}

// Bits of poison, one for each byte. An array of them has SIM_POISON_BYTES bytes.
#define SIM_POISON_BYTES(size) ((size_t)((size) / 8) + 16)
bool sim_poison_any(const uint8_t *bits, uint64_t at, uint64_t size);
void sim_poison_set(uint8_t *bits, uint64_t at, uint64_t size, bool poison);

// The same for sizes up to 32, for one lane's access: within one word.
static inline bool sim_poison_any_few(const uint8_t *bits, uint64_t at, uint32_t size) {
    uint64_t word;
    memcpy(&word, bits + (at >> 3), sizeof word);
    return (word >> (at & 7) & ((UINT64_C(1) << size) - 1)) != 0;
}
static inline void sim_poison_set_few(uint8_t *bits, uint64_t at, uint32_t size, bool poison) {
    uint64_t word, mask = ((UINT64_C(1) << size) - 1) << (at & 7);
    memcpy(&word, bits + (at >> 3), sizeof word);
    word = poison ? word | mask : word & ~mask;
    memcpy(bits + (at >> 3), &word, sizeof word);
}

#endif
