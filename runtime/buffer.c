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
    b->generation++;
    return freed;
}

static void free_memory(const RtBuffer *freed) {
    if (freed->device) freed->device->api->free(freed->device, freed->address, freed->size);
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
    free_memory(&freed);
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

static tilec_status null_memory(tilec_context *c) {
    return rt_fail(c, TILEC_INVALID_ARGUMENT, "the pointer to host memory is NULL");
}

// The buffer belongs to another device (`owner`), or does not exist any more (NULL).
static tilec_status not_of(const tilec_device *device, const tilec_device *owner) {
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
    if (!b) return not_of(device, owner);
    free_memory(&freed);
    return TILEC_OK;
}

// The address of `size` bytes at `offset`, after all checks.
static tilec_status locate(tilec_device *device, tilec_buffer buffer, size_t offset, size_t size,
                           char **address) {
    RtBuffer b;
    if (!rt_buffer_find(device->context, buffer, &b)) b.device = NULL;
    if (b.device != device) return not_of(device, b.device);
    if (offset > b.size || size > b.size - offset)
        return rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                       "%zu bytes from byte %zu on are not all inside the buffer of %zu bytes",
                       size, offset, b.size);
    *address = (char *)b.address + offset;
    return TILEC_OK;
}

tilec_status tilec_buffer_address(tilec_device *device, tilec_buffer buffer, void **address,
                                  size_t *size) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    if (!address) return null_memory(device->context);
    RtBuffer b;
    if (!rt_buffer_find(device->context, buffer, &b)) return not_of(device, NULL);
    *address = b.address;
    if (size) *size = b.size;
    return TILEC_OK;
}

static tilec_status find_stream(tilec_device *device, tilec_stream **stream) {
    if (!*stream) *stream = device->first;
    const tilec_device *other = (*stream)->device;
    RtDeviceText texts[2];
    if (other == device) return TILEC_OK;
    return rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                   "the stream belongs to another device, %s, not to %s",
                   rt_device_told(other, device, &texts[0]),
                   rt_device_told(device, other, &texts[1]));
}

tilec_status tilec_buffer_write(tilec_device *device, tilec_stream *stream, tilec_buffer buffer,
                                size_t offset, const void *from, size_t size) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    if (!from && size) return null_memory(device->context);
    char *to;
    tilec_status s = find_stream(device, &stream);
    if (!s) s = locate(device, buffer, offset, size, &to);
    return s ? s : device->api->copy(device, stream->state, to, from, size);
}

tilec_status tilec_buffer_read(tilec_device *device, tilec_stream *stream, tilec_buffer buffer,
                               size_t offset, void *to, size_t size) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    if (!to && size) return null_memory(device->context);
    char *from;
    tilec_status s = find_stream(device, &stream);
    if (!s) s = locate(device, buffer, offset, size, &from);
    return s ? s : device->api->copy(device, stream->state, to, from, size);
}

// ---- Operations that the host does not wait for ----

static tilec_status start_move(const tilec_device *device, const tilec_stream *stream, RtMove m) {
    if (!m.size) return TILEC_OK;
    return device->api->move(stream->device, stream->state, &m);
}

tilec_status tilec_buffer_write_async(tilec_device *device, tilec_stream *stream,
                                      tilec_buffer buffer, size_t offset, const void *from,
                                      size_t size) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    if (!from && size) return null_memory(device->context);
    char *to;
    tilec_status s = find_stream(device, &stream);
    if (!s) s = locate(device, buffer, offset, size, &to);
    if (s) return s;
    return start_move(device, stream, (RtMove){RT_MOVE_WRITE, to, from, .size = size});
}

tilec_status tilec_buffer_read_async(tilec_device *device, tilec_stream *stream,
                                     tilec_buffer buffer, size_t offset, void *to, size_t size) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    if (!to && size) return null_memory(device->context);
    char *from;
    tilec_status s = find_stream(device, &stream);
    if (!s) s = locate(device, buffer, offset, size, &from);
    if (s) return s;
    return start_move(device, stream, (RtMove){RT_MOVE_READ, to, from, .size = size});
}

tilec_status tilec_buffer_copy(tilec_device *device, tilec_stream *stream, tilec_buffer to,
                               size_t to_offset, tilec_buffer from, size_t from_offset,
                               size_t size) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    char *target, *source;
    tilec_status s = find_stream(device, &stream);
    if (!s) s = locate(device, to, to_offset, size, &target);
    if (!s) s = locate(device, from, from_offset, size, &source);
    if (s) return s;
    return start_move(device, stream, (RtMove){RT_MOVE_WITHIN, target, source, .size = size});
}

static tilec_status check_pattern(tilec_context *c, const void *pattern, size_t unit, size_t offset,
                                  size_t size) {
    if (unit != 1 && unit != 2 && unit != 4 && unit != 8)
        return rt_fail(c, TILEC_INVALID_ARGUMENT, "a pattern has 1, 2, 4 or 8 bytes, found %zu",
                       unit);
    if (!pattern) return rt_fail(c, TILEC_INVALID_ARGUMENT, "the pointer to the pattern is NULL");
    if (offset % unit == 0 && size % unit == 0) return TILEC_OK;
    return rt_fail(c, TILEC_INVALID_ARGUMENT,
                   "%zu bytes from byte %zu on are not whole patterns of %zu bytes", size, offset,
                   unit);
}

tilec_status tilec_buffer_fill(tilec_device *device, tilec_stream *stream, tilec_buffer buffer,
                               size_t offset, const void *pattern, size_t pattern_size,
                               size_t size) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    char *to;
    tilec_status s = check_pattern(device->context, pattern, pattern_size, offset, size);
    if (!s) s = find_stream(device, &stream);
    if (!s) s = locate(device, buffer, offset, size, &to);
    if (s) return s;
    RtMove m = {RT_MOVE_FILL, to, .size = size, .unit = (uint32_t)pattern_size};
    memcpy(&m.pattern, pattern, pattern_size);
    return start_move(device, stream, m);
}
