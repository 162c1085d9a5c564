#include "runtime/memory/pool.h"

#include <stdlib.h>

#include "runtime/context.h"

static void lock(const tilec_device *d) { os_mutex_lock(d->context->lock); }
static void unlock(const tilec_device *d) { os_mutex_unlock(d->context->lock); }

// ---- Sizes ----

// Sizes are rounded to a few for each power of two, so that blocks fit again: an eighth is lost at
// most.
static size_t rounded(size_t size) {
    enum { LEAST = 512 };
    size_t step = LEAST;
    while (step <= size / 16) step *= 2;
    if (size > SIZE_MAX - step) return size;  // more than any device has
    return size ? (size + step - 1) / step * step : step;
}

static bool fits(const RtBlock *b, size_t size) {
    return b->size >= size && b->size - size <= size / 4;
}

// ---- Free blocks ----

static RtBlock *take_out(tilec_device *d, RtBlock **link) {
    RtBlock *b = *link;
    *link = b->next;
    b->next = NULL;
    d->pool.free_bytes -= b->size;
    return b;
}

static void put_in(tilec_device *d, RtBlock *b) {
    lock(d);
    b->next = d->pool.free;
    d->pool.free = b;
    d->pool.free_bytes += b->size;
    unlock(d);
}

// The smallest block that fits. With `stream` only blocks whose use needs no question.
static RtBlock *find_block(tilec_device *d, const tilec_stream *stream, size_t size) {
    RtBlock **best = NULL;
    lock(d);
    for (RtBlock **link = &d->pool.free; *link; link = &(*link)->next) {
        const RtBlock *b = *link;
        bool certain = b->idle || b->stream == stream;
        bool usable = stream ? certain : !certain && b->event;
        if (usable && fits(b, size) && (!best || b->size < (*best)->size)) best = link;
    }
    RtBlock *found = best ? take_out(d, best) : NULL;
    unlock(d);
    return found;
}

// A block that another stream freed, if that stream has come so far.
static RtBlock *find_passed(tilec_device *d, size_t size) {
    RtBlock *b = find_block(d, NULL, size);
    bool done = false;
    if (!b) return NULL;
    if (d->api->event_query(d, b->event, &done)) rt_begin(d->context);
    if (done) return b;
    put_in(d, b);
    return NULL;
}

// ---- Memory of the device ----

RtBlock *rt_block_make(tilec_device *d, void *address, size_t size) {
    RtBlock *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    *b = (RtBlock){.address = address, .size = size};
    RtPool *p = &d->pool;
    lock(d);
    bool room = size <= p->limit && p->total <= p->limit - size;
    if (room) p->total += size;
    unlock(d);
    if (room) return b;
    free(b);
    return NULL;
}

void rt_block_free(tilec_device *d, RtBlock *b) {
    d->api->free(d, b->address, b->size);
    if (b->event) d->api->event_destroy(d, b->event);
    lock(d);
    d->pool.total -= b->size;
    unlock(d);
    free(b);
}

bool rt_pool_trim(tilec_device *d, size_t keep) {
    bool any = false;
    for (;;) {
        lock(d);
        RtBlock *b = d->pool.free_bytes > keep ? take_out(d, &d->pool.free) : NULL;
        unlock(d);
        if (!b) return any;
        rt_block_free(d, b);
        any = true;
    }
}

// Reserves room under the limit; false: the limit is too low even without free blocks.
static bool reserve(tilec_device *d, size_t size, size_t *in_use, size_t *limit) {
    for (;;) {
        lock(d);
        RtPool *p = &d->pool;
        bool room = size <= p->limit && p->total <= p->limit - size;
        if (room) p->total += size;
        *in_use = p->total - p->free_bytes;
        *limit = p->limit;
        size_t spare = p->free_bytes;
        unlock(d);
        if (room) return true;
        if (!rt_pool_trim(d, spare > size ? spare - size : 0)) return false;
    }
}

static tilec_status make_block(tilec_device *d, size_t size, RtBlock **block) {
    size_t in_use, limit;
    if (!reserve(d, size, &in_use, &limit))
        return rt_fail(d->context, TILEC_OUT_OF_MEMORY,
                       "the pool of device %s is exhausted: %zu of its %zu bytes are in use, and "
                       "%zu more are needed; destroy buffers, or raise the limit "
                       "(tilec_pool_limit)",
                       d->name, in_use, limit, size);
    RtBlock *b = calloc(1, sizeof *b);
    tilec_status s = b ? d->api->alloc(d, size, &b->address)
                       : rt_fail(d->context, TILEC_OUT_OF_MEMORY, "out of memory");
    if (s == TILEC_OUT_OF_MEMORY && b && rt_pool_trim(d, 0)) {
        rt_begin(d->context);
        s = d->api->alloc(d, size, &b->address);
    }
    if (!s) {
        b->size = size;
        *block = b;
        return TILEC_OK;
    }
    lock(d);
    d->pool.total -= size;
    unlock(d);
    free(b);
    return s;
}

// ---- Take, give ----

tilec_status rt_pool_take(tilec_device *d, const tilec_stream *stream, size_t size,
                          RtBlock **block) {
    size_t whole = rounded(size);
    RtBlock *b = find_block(d, stream, whole);
    if (!b) b = find_passed(d, whole);
    if (!b) return make_block(d, whole, block);
    b->idle = false;
    *block = b;
    return TILEC_OK;
}

// Without an event only the same stream uses the block again.
static void record(tilec_device *d, const tilec_stream *stream, RtBlock *b) {
    const RtDeviceApi *api = d->api;
    tilec_status s = b->event ? TILEC_OK : api->event_create(d, &b->event);
    if (!s) s = api->event_record(d, b->event, stream->state);
    if (!s) return;
    rt_begin(d->context);
    if (b->event) api->event_destroy(d, b->event);
    b->event = NULL;
}

void rt_pool_give(tilec_device *d, const tilec_stream *stream, RtBlock *b) {
    if (d->api->fresh) {
        rt_block_free(d, b);
        return;
    }
    b->stream = stream;
    b->idle = false;
    record(d, stream, b);
    put_in(d, b);
}

void rt_pool_forget(tilec_device *d, const tilec_stream *stream, bool done) {
    lock(d);
    for (RtBlock *b = d->pool.free; b; b = b->next) {
        if (b->stream != stream) continue;
        b->stream = NULL;
        b->idle = b->idle || done;
    }
    unlock(d);
}

// ---- The public calls ----

tilec_status tilec_pool_limit(tilec_device *device, size_t most) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    lock(device);
    size_t in_use = device->pool.total - device->pool.free_bytes, spare = device->pool.free_bytes;
    bool good = in_use <= most;
    if (good) device->pool.limit = most;
    unlock(device);
    if (!good)
        return rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                       "the pool of device %s cannot be limited to %zu bytes: %zu are in use; "
                       "destroy buffers first",
                       device->name, most, in_use);
    rt_pool_trim(device, spare < most - in_use ? spare : most - in_use);
    return TILEC_OK;
}

tilec_status tilec_pool_trim(tilec_device *device, size_t keep) {
    if (!device) return TILEC_INVALID_ARGUMENT;
    rt_begin(device->context);
    rt_pool_trim(device, keep);
    return TILEC_OK;
}
