// Buffers: device memory with handles that detect use after destroy.
#include <stdlib.h>
#include <string.h>

#include "runtime/context.h"
#include "runtime/memory/pool.h"

// The slot of a handle, also if the buffer was destroyed and is still held. The lock must be held.
static RtBuffer *find_slot(tilec_context *c, tilec_buffer buffer) {
    uint32_t slot = (uint32_t)buffer.handle, generation = (uint32_t)(buffer.handle >> 32);
    if (slot == 0 || slot > c->buffer_count) return NULL;
    RtBuffer *b = &c->buffers[slot - 1];
    return b->device && b->generation == generation ? b : NULL;
}

static RtBuffer *live_slot(tilec_context *c, tilec_buffer buffer) {
    RtBuffer *b = find_slot(c, buffer);
    return b && !b->destroyed ? b : NULL;
}

// Frees the slot. The caller frees the memory, without the lock.
static RtBuffer take_out(RtBuffer *b) {
    RtBuffer freed = *b;
    b->device = NULL;
    b->destroyed = false;
    b->holds = 0;
    b->peers = NULL;
    b->block = NULL;
    b->generation++;
    return freed;
}

static void free_peer(RtPeer *p) {
    p->device->api->event_destroy(p->device, p->event);
    free(p);
}

// A driver may fail once and go on; a lost one has no copy that still runs.
static void wait_for(const RtPeer *p) {
    const RtDeviceApi *api = p->device->api;
    if (api->event_synchronize(p->device, p->event))
        (void)api->event_synchronize(p->device, p->event);
}

static void wait_for_all(RtPeer *peers) {
    for (RtPeer *next; peers; peers = next) {
        next = peers->next;
        wait_for(peers);
        free_peer(peers);
    }
}

void rt_buffer_free(const RtBuffer *taken) {
    if (!taken->device) return;
    wait_for_all(taken->peers);
    if (taken->block)
        rt_block_free(taken->device, taken->block);
    else
        taken->device->api->free(taken->device, taken->address, taken->size);
}

// Takes the device's entries off one buffer's list. The lock must be held.
static RtPeer *take_peers(RtBuffer *b, const tilec_device *device) {
    RtPeer *taken = NULL, **link = &b->peers;
    while (*link) {
        RtPeer *p = *link;
        if (p->device != device) {
            link = &p->next;
            continue;
        }
        *link = p->next;
        p->next = taken;
        taken = p;
    }
    return taken;
}

void rt_buffers_forget(const tilec_device *device) {
    tilec_context *c = device->context;
    for (uint32_t i = 0;; i++) {
        os_mutex_lock(c->lock);
        bool more = i < c->buffer_count;
        RtPeer *taken = more ? take_peers(&c->buffers[i], device) : NULL;
        os_mutex_unlock(c->lock);
        if (!more) return;
        for (RtPeer *next; taken; taken = next) {
            next = taken->next;
            free_peer(taken);
        }
    }
}

// Frees the entries that are done, and returns the others.
static RtPeer *drop_done(RtPeer *peers) {
    RtPeer **link = &peers;
    while (*link) {
        RtPeer *p = *link;
        bool done = false;
        (void)p->device->api->event_query(p->device, p->event, &done);
        if (done) {
            *link = p->next;
            free_peer(p);
        } else {
            link = &p->next;
        }
    }
    return peers;
}

// Takes the list away, or adds to it; false: the buffer does not exist any more.
static bool swap_peers(tilec_context *c, tilec_buffer buffer, RtPeer **peers, bool add) {
    os_mutex_lock(c->lock);
    RtBuffer *b = live_slot(c, buffer);
    RtPeer **end = peers;
    while (add && *end) end = &(*end)->next;
    if (b && add) *end = b->peers;
    if (b && add) b->peers = *peers;
    if (b && !add) *peers = b->peers, b->peers = NULL;
    os_mutex_unlock(c->lock);
    return b != NULL;
}

tilec_status rt_buffer_used(tilec_device *device, tilec_buffer buffer, void *event) {
    tilec_context *c = device->context;
    RtPeer *p = calloc(1, sizeof *p), *peers = NULL;
    if (!p) return rt_fail(c, TILEC_OUT_OF_MEMORY, "out of memory");
    p->device = device;
    p->event = event;
    (void)swap_peers(c, buffer, &peers, false);
    p->next = drop_done(peers);
    peers = p;
    if (swap_peers(c, buffer, &peers, true)) return TILEC_OK;
    wait_for_all(peers);  // another thread destroyed the buffer
    return TILEC_OK;
}

bool rt_buffer_retain(tilec_context *context, tilec_buffer buffer) {
    os_mutex_lock(context->lock);
    RtBuffer *b = live_slot(context, buffer);
    if (b) b->holds++;
    os_mutex_unlock(context->lock);
    return b != NULL;
}

void rt_buffer_release(tilec_context *context, tilec_buffer buffer) {
    RtBuffer freed = {0};
    os_mutex_lock(context->lock);
    RtBuffer *b = find_slot(context, buffer);
    if (b && b->holds) b->holds--;
    if (b && b->destroyed && !b->holds) freed = take_out(b);
    os_mutex_unlock(context->lock);
    rt_buffer_free(&freed);
}

bool rt_buffer_find(tilec_context *context, tilec_buffer buffer, RtBuffer *found) {
    os_mutex_lock(context->lock);
    RtBuffer *b = live_slot(context, buffer);
    if (b) *found = *b;
    os_mutex_unlock(context->lock);
    return b != NULL;
}

// A free slot. The lock must be held.
static RtBuffer *free_slot(tilec_context *c) {
    for (uint32_t i = 0; i < c->buffer_count; i++)
        if (!c->buffers[i].device) return &c->buffers[i];
    if (c->buffer_count == c->buffer_capacity) {
        uint32_t capacity = c->buffer_capacity ? c->buffer_capacity * 2 : 16;
        RtBuffer *grown = realloc(c->buffers, capacity * sizeof *grown);
        if (!grown) return NULL;
        c->buffers = grown;
        c->buffer_capacity = capacity;
    }
    RtBuffer *b = &c->buffers[c->buffer_count++];
    memset(b, 0, sizeof *b);
    b->generation = c->first_generation;
    return b;
}

// Gives the buffer a handle, or frees it.
static tilec_status add_buffer(const RtBuffer *made, tilec_buffer *buffer) {
    tilec_context *c = made->device->context;
    os_mutex_lock(c->lock);
    RtBuffer *b = free_slot(c);
    if (b) {
        uint32_t generation = b->generation;
        *b = *made;
        b->generation = generation;
        buffer->handle = (uint64_t)(b - c->buffers + 1) | (uint64_t)generation << 32;
    }
    os_mutex_unlock(c->lock);
    if (b) return TILEC_OK;
    rt_buffer_free(made);
    return rt_fail(c, TILEC_OUT_OF_MEMORY, "out of memory");
}

static tilec_status no_pointer(tilec_context *c) {
    return rt_fail(c, TILEC_INVALID_ARGUMENT, "the pointer for the buffer is NULL");
}

tilec_status tilec_buffer_create(tilec_device *device, size_t size, tilec_buffer *buffer) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    tilec_context *c = device->context;
    rt_begin(c);
    if (!buffer) return no_pointer(c);
    RtBuffer made = {.device = device, .size = size};
    tilec_status s = device->api->alloc(device, size, &made.address);
    if (s == TILEC_OUT_OF_MEMORY && rt_pool_trim(device, 0)) {
        rt_begin(c);
        s = device->api->alloc(device, size, &made.address);
    }
    return s ? s : add_buffer(&made, buffer);
}

tilec_status tilec_buffer_create_async(tilec_device *device, tilec_stream *stream, size_t size,
                                       tilec_buffer *buffer) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    if (!buffer) return no_pointer(device->context);
    RtBuffer made = {.device = device, .size = size};
    tilec_status s = rt_find_stream(device, &stream);
    if (!s) s = rt_pool_take(device, stream, size, &made.block);
    if (s) return s;
    made.address = made.block->address;
    return add_buffer(&made, buffer);
}

tilec_status rt_null_memory(tilec_context *c) {
    return rt_fail(c, TILEC_INVALID_ARGUMENT, "the pointer to host memory is NULL");
}

tilec_status rt_not_of(const tilec_device *device, const tilec_device *owner) {
    return rt_fail(
        device->context, TILEC_INVALID_ARGUMENT, "%s",
        owner ? "the buffer belongs to another device" : "the buffer does not exist (any more)");
}

// Ends the handle. *freed: the buffer, unless tensors of others hold it.
static tilec_status end_handle(const tilec_device *device, tilec_buffer buffer, RtBuffer *freed) {
    *freed = (RtBuffer){0};
    os_mutex_lock(device->context->lock);
    RtBuffer *b = live_slot(device->context, buffer);
    const tilec_device *owner = b ? b->device : NULL;
    if (owner != device) b = NULL;
    if (b) atomic_fetch_add(&device->context->buffers_gone, 1);
    if (b && b->holds)
        b->destroyed = true;
    else if (b)
        *freed = take_out(b);
    os_mutex_unlock(device->context->lock);
    return b ? TILEC_OK : rt_not_of(device, owner);
}

tilec_status tilec_buffer_destroy(tilec_device *device, tilec_buffer buffer) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    if (!buffer.handle) return TILEC_OK;
    RtBuffer freed;
    tilec_status s = end_handle(device, buffer, &freed);
    rt_buffer_free(&freed);
    return s;
}

tilec_status tilec_buffer_destroy_async(tilec_device *device, tilec_stream *stream,
                                        tilec_buffer buffer) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    RtBuffer freed = {0};
    tilec_status s = rt_find_stream(device, &stream);
    if (!s && buffer.handle) s = end_handle(device, buffer, &freed);
    if (s || !freed.device) return s;
    wait_for_all(freed.peers);
    freed.peers = NULL;
    if (!freed.block) freed.block = rt_block_make(device, freed.address, freed.size);
    if (freed.block)
        rt_pool_give(device, stream, freed.block);
    else
        rt_buffer_free(&freed);
    return TILEC_OK;
}

tilec_status tilec_buffer_address(tilec_device *device, tilec_buffer buffer, void **address,
                                  size_t *size) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    if (!address) return rt_null_memory(device->context);
    RtBuffer b = {0};
    (void)rt_buffer_find(device->context, buffer, &b);
    if (b.device != device) return rt_not_of(device, b.device);
    *address = b.address;
    if (size) *size = b.size;
    return TILEC_OK;
}
