// The pool of a device: memory of buffers that a stream destroyed, for buffers that streams make.
//
//     create_async ─▶ a free block that fits ─▶ else new memory ─▶ else the free blocks are given
//                       │                                            back first
//                       ├─ of the same stream: its order is enough
//                       └─ of another stream: when the event is reached that was recorded then
//
// Invariants: `held` counts the bytes of all blocks, `spare` those of free ones; held <= limit. A
// free block is used only when no earlier work can use it. The context's mutex guards the lists,
// and is not held while the device is called. Devices whose table says `fresh` keep no free blocks.
// Ownership: the device owns its free blocks; a buffer owns its block.
//
//     RtBlock *block;
//     tilec_status s = rt_pool_take(device, stream, size, &block);
//     …
//     rt_pool_give(device, stream, block);
#ifndef TILEC_RUNTIME_MEMORY_POOL_H
#define TILEC_RUNTIME_MEMORY_POOL_H

#include "runtime/device.h"

struct RtBlock {
    void *address;
    size_t size;
    // for free blocks:
    const tilec_stream *stream;  // that destroyed its buffer; NULL: it is gone
    void *event;                 // recorded then; NULL: there is none
    bool idle;                   // nothing uses it any more
    struct RtBlock *next;
};

tilec_status rt_pool_take(tilec_device *device, const tilec_stream *stream, size_t size,
                          RtBlock **block);
// Takes over the block. Does not wait.
void rt_pool_give(tilec_device *device, const tilec_stream *stream, RtBlock *block);
// Makes memory of api->alloc a block. NULL: there is no room for it under the limit.
RtBlock *rt_block_make(tilec_device *device, void *address, size_t size);
// Gives the memory back to the device, which waits for its work.
void rt_block_free(tilec_device *device, RtBlock *block);
// Frees free blocks until at most `keep` bytes of them are left; false: there was none.
bool rt_pool_trim(tilec_device *device, size_t keep);
// The stream is about to be forgotten; `done`: its work is done.
void rt_pool_forget(tilec_device *device, const tilec_stream *stream, bool done);

#endif
