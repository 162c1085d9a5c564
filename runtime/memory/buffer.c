// Buffers: device memory with handles that detect use after destroy.
#include <stdlib.h>
#include <string.h>

#include "runtime/context.h"

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

void rt_buffer_free(const RtBuffer *taken) {
    if (!taken->device) return;
    for (RtPeer *p = taken->peers, *next; p; p = next) {
        next = p->next;
        wait_for(p);
        free_peer(p);
    }
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
    for (RtPeer *next; peers; peers = next) {  // destroyed by another thread
        next = peers->next;
        wait_for(peers);
        free_peer(peers);
    }
    return TILEC_OK;
}

bool rt_buffer_hold(tilec_context *context, tilec_buffer buffer) {
    os_mutex_lock(context->lock);
    RtBuffer *b = live_slot(context, buffer);
    if (b) b->holds++;
    os_mutex_unlock(context->lock);
    return b != NULL;
}

void rt_buffer_let_go(tilec_context *context, tilec_buffer buffer) {
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

tilec_status tilec_buffer_create(tilec_device *device, size_t size, tilec_buffer *buffer) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    tilec_context *c = device->context;
    rt_begin(c);
    if (!buffer) return rt_fail(c, TILEC_INVALID_ARGUMENT, "the pointer for the buffer is NULL");
    void *address = NULL;
    tilec_status s = device->api->alloc(device, size, &address);
    if (s) return s;
    os_mutex_lock(c->lock);
    RtBuffer *b = free_slot(c);
    if (b) {
        b->device = device;
        b->address = address;
        b->size = size;
        buffer->handle = (uint64_t)(b - c->buffers + 1) | (uint64_t)b->generation << 32;
    }
    os_mutex_unlock(c->lock);
    if (b) return TILEC_OK;
    device->api->free(device, address, size);
    return rt_fail(c, TILEC_OUT_OF_MEMORY, "out of memory");
}

tilec_status rt_null_memory(tilec_context *c) {
    return rt_fail(c, TILEC_INVALID_ARGUMENT, "the pointer to host memory is NULL");
}

tilec_status rt_not_of(const tilec_device *device, const tilec_device *owner) {
    return rt_fail(
        device->context, TILEC_INVALID_ARGUMENT, "%s",
        owner ? "the buffer belongs to another device" : "the buffer does not exist (any more)");
}

tilec_status tilec_buffer_destroy(tilec_device *device, tilec_buffer buffer) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    if (!buffer.handle) return TILEC_OK;
    RtBuffer freed = {0};
    os_mutex_lock(device->context->lock);
    RtBuffer *b = live_slot(device->context, buffer);
    const tilec_device *owner = b ? b->device : NULL;
    if (owner != device) b = NULL;
    if (b) atomic_fetch_add(&device->context->buffers_gone, 1);
    if (b && b->holds)
        b->destroyed = true;
    else if (b)
        freed = take_out(b);
    os_mutex_unlock(device->context->lock);
    if (!b) return rt_not_of(device, owner);
    rt_buffer_free(&freed);
    return TILEC_OK;
}

tilec_status tilec_buffer_address(tilec_device *device, tilec_buffer buffer, void **address,
                                  size_t *size) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    if (!address) return rt_null_memory(device->context);
    RtBuffer b;
    if (!rt_buffer_find(device->context, buffer, &b)) return rt_not_of(device, NULL);
    *address = b.address;
    if (size) *size = b.size;
    return TILEC_OK;
}
