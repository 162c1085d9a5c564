// Copies and fills of buffers: the public calls, which check arguments and then call the device
// table.
#include <stdlib.h>
#include <string.h>

#include "runtime/context.h"

// The address of `size` bytes at `offset`, after all checks.
static tilec_status locate(tilec_device *device, tilec_buffer buffer, size_t offset, size_t size,
                           char **address) {
    RtBuffer b;
    if (!rt_buffer_find(device->context, buffer, &b)) b.device = NULL;
    if (b.device != device) return rt_not_of(device, b.device);
    if (offset > b.size || size > b.size - offset)
        return rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                       "%zu bytes from byte %zu on are not all inside the buffer of %zu bytes",
                       size, offset, b.size);
    *address = (char *)b.address + offset;
    return TILEC_OK;
}

tilec_status rt_find_stream(tilec_device *device, tilec_stream **stream) {
    if (!*stream) *stream = device->first;
    const tilec_device *other = (*stream)->device;
    RtDeviceText texts[2];
    if (other == device) return TILEC_OK;
    return rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                   "the stream belongs to another device, %s, not to %s",
                   rt_device_label(other, device, &texts[0]),
                   rt_device_label(device, other, &texts[1]));
}

tilec_status tilec_buffer_write(tilec_device *device, tilec_stream *stream, tilec_buffer buffer,
                                size_t offset, const void *from, size_t size) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    if (!from && size) return rt_null_memory(device->context);
    char *to;
    tilec_status s = rt_find_stream(device, &stream);
    if (!s) s = locate(device, buffer, offset, size, &to);
    return s ? s : device->api->copy(device, stream->state, to, from, size);
}

tilec_status tilec_buffer_read(tilec_device *device, tilec_stream *stream, tilec_buffer buffer,
                               size_t offset, void *to, size_t size) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    if (!to && size) return rt_null_memory(device->context);
    char *from;
    tilec_status s = rt_find_stream(device, &stream);
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
    if (!from && size) return rt_null_memory(device->context);
    char *to;
    tilec_status s = rt_find_stream(device, &stream);
    if (!s) s = locate(device, buffer, offset, size, &to);
    if (s) return s;
    return start_move(device, stream, (RtMove){RT_MOVE_WRITE, to, from, .size = size});
}

tilec_status tilec_buffer_read_async(tilec_device *device, tilec_stream *stream,
                                     tilec_buffer buffer, size_t offset, void *to, size_t size) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    if (!to && size) return rt_null_memory(device->context);
    char *from;
    tilec_status s = rt_find_stream(device, &stream);
    if (!s) s = locate(device, buffer, offset, size, &from);
    if (s) return s;
    return start_move(device, stream, (RtMove){RT_MOVE_READ, to, from, .size = size});
}

// ---- Copies between buffers ----

// One side of a copy: a buffer of the stream's device, or of another one of the same kind.
typedef struct CopySide {
    tilec_buffer buffer;
    size_t offset;
    tilec_device *device;  // its owner
    char *address;
} CopySide;

static tilec_status find_side(const tilec_device *device, size_t size, CopySide *side) {
    RtBuffer b;
    if (!rt_buffer_find(device->context, side->buffer, &b)) return rt_not_of(device, NULL);
    side->device = b.device;
    RtDeviceText texts[2];
    if (b.device->api != device->api)
        return rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                       "the buffer belongs to device %s; %s copies only to and from devices of its "
                       "kind: read the bytes to the host, and write them from there",
                       rt_device_label(b.device, device, &texts[0]),
                       rt_device_label(device, b.device, &texts[1]));
    return locate(b.device, side->buffer, side->offset, size, &side->address);
}

static tilec_status check_sides(const tilec_device *device, const CopySide *to,
                                const CopySide *from) {
    if (to->device == device || from->device == device) return TILEC_OK;
    return rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                   "neither buffer belongs to device %s; make the copy with one of the buffers' "
                   "own devices",
                   device->name);
}

// Waits for the copy if nothing else can keep the other buffer until it is done.
static tilec_status note_copy(tilec_device *device, const tilec_stream *stream, tilec_buffer other,
                              void *event) {
    tilec_status s = device->api->event_record(device, event, stream->state);
    if (!s) s = rt_buffer_used(device, other, event);
    if (!s) return TILEC_OK;
    tilec_status kept = device->api->stream_synchronize(device, stream->state);
    return kept ? kept : s;
}

// Keeps the other device's buffer until the copy on this device's stream is done.
static tilec_status copy_between(tilec_device *device, const tilec_stream *stream,
                                 const CopySide *to, const CopySide *from, size_t size) {
    tilec_buffer other = to->device == device ? from->buffer : to->buffer;
    void *event;
    tilec_status s = device->api->event_create(device, &event);
    if (s) return s;
    RtMove m = {.kind = RT_MOVE_BETWEEN,
                .to = to->address,
                .from = from->address,
                .size = size,
                .to_device = to->device,
                .from_device = from->device};
    s = device->api->move(device, stream->state, &m);
    if (!s) s = note_copy(device, stream, other, event);
    if (s) device->api->event_destroy(device, event);
    return s;
}

tilec_status tilec_buffer_copy(tilec_device *device, tilec_stream *stream, tilec_buffer to,
                               size_t to_offset, tilec_buffer from, size_t from_offset,
                               size_t size) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    CopySide target = {.buffer = to, .offset = to_offset};
    CopySide source = {.buffer = from, .offset = from_offset};
    tilec_status s = rt_find_stream(device, &stream);
    if (!s) s = find_side(device, size, &target);
    if (!s) s = find_side(device, size, &source);
    if (!s) s = check_sides(device, &target, &source);
    if (s || !size) return s;
    if (target.device != source.device) return copy_between(device, stream, &target, &source, size);
    RtMove m = {.kind = RT_MOVE_WITHIN, .to = target.address, .from = source.address, .size = size};
    return start_move(device, stream, m);
}

// ---- Fills ----

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
    if (!s) s = rt_find_stream(device, &stream);
    if (!s) s = locate(device, buffer, offset, size, &to);
    if (s) return s;
    RtMove m = {RT_MOVE_FILL, to, .size = size, .unit = (uint32_t)pattern_size};
    memcpy(&m.pattern, pattern, pattern_size);
    return start_move(device, stream, m);
}

// ---- Host memory that copies reach without a detour ----

tilec_status tilec_host_alloc(tilec_device *device, size_t size, void **memory) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    if (!memory) return rt_null_memory(device->context);
    RtHostMemory *h = calloc(1, sizeof *h);
    if (!h) return rt_fail(device->context, TILEC_OUT_OF_MEMORY, "out of memory");
    const RtDeviceApi *api = device->api;
    h->size = size ? size : 1;
    tilec_status s = api->host_alloc ? api->host_alloc(device, h->size, &h->memory)
                                     : api->alloc(device, h->size, &h->memory);
    if (s) {
        free(h);
        return s;
    }
    os_mutex_lock(device->context->lock);
    h->next = device->host;
    device->host = h;
    os_mutex_unlock(device->context->lock);
    *memory = h->memory;
    return TILEC_OK;
}

static void free_host(tilec_device *device, RtHostMemory *h) {
    const RtDeviceApi *api = device->api;
    if (api->host_free)
        api->host_free(device, h->memory, h->size);
    else
        api->free(device, h->memory, h->size);
    free(h);
}

tilec_status tilec_host_free(tilec_device *device, void *memory) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    if (!memory) return TILEC_OK;
    os_mutex_lock(device->context->lock);
    RtHostMemory **link = &device->host;
    while (*link && (*link)->memory != memory) link = &(*link)->next;
    RtHostMemory *h = *link;
    if (h) *link = h->next;
    os_mutex_unlock(device->context->lock);
    if (!h)
        return rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                       "the memory is not from tilec_host_alloc of device %s, or was freed before",
                       device->name);
    free_host(device, h);
    return TILEC_OK;
}

void rt_host_free_all(tilec_device *device) {
    while (device->host) {
        RtHostMemory *h = device->host;
        device->host = h->next;
        free_host(device, h);
    }
}
