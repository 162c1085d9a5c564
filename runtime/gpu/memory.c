// Copies and fills on a GPU driver.
//
// A copy from or to pages of the host would make the driver wait for the stream. A copy that need
// not wait goes through the stream's stage instead, pinned memory, a piece at a time: a thread of
// the driver's copies between pages and stage (host_function), and all of that is in the stream's
// order.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/gpu/state.h"

static GpuAddress number_of(const void *address) { return (GpuAddress)(uintptr_t)address; }

static tilec_status find_memory(const tilec_device *device, const void *address,
                                GpuMemory *memory) {
    const GpuDevice *d = device->state;
    GpuFailed failed = d->backend->find_memory(d, number_of(address), memory);
    return failed.code ? gpu_fail(device, failed.call, failed.code) : TILEC_OK;
}

static tilec_status to_host(const tilec_device *device, const GpuStream *s, void *to,
                            const void *from, size_t size) {
    const GpuDevice *d = device->state;
    GpuResult r = GPU_DO(d, copy_to_host, to, number_of(from), size, s->handle);
    return r ? gpu_fail(device, GPU_CALL_copy_to_host, r) : TILEC_OK;
}

static tilec_status to_device(const tilec_device *device, const GpuStream *s, void *to,
                              const void *from, size_t size) {
    const GpuDevice *d = device->state;
    GpuResult r = GPU_DO(d, copy_to_device, number_of(to), from, size, s->handle);
    return r ? gpu_fail(device, GPU_CALL_copy_to_device, r) : TILEC_OK;
}

static tilec_status within(const tilec_device *device, const GpuStream *s, void *to,
                           const void *from, size_t size) {
    const GpuDevice *d = device->state;
    GpuResult r = GPU_DO(d, copy_within, number_of(to), number_of(from), size, s->handle);
    return r ? gpu_fail(device, GPU_CALL_copy_within, r) : TILEC_OK;
}

// ---- Memory of the host ----

tilec_status gpu_host_alloc(tilec_device *device, size_t size, void **memory) {
    const GpuDevice *d = device->state;
    GpuSavedDevice saved;
    tilec_status s = gpu_enter(device, &saved);
    if (s) return s;
    void *made = NULL;
    GpuResult r = GPU_DO(d, host_alloc, &made, size, d->backend->numbers.host_flags);
    gpu_leave(d, saved);
    char about[48];
    snprintf(about, sizeof about, " of %zu bytes", size);
    if (r) return gpu_fail_about(device, GPU_CALL_host_alloc, r, about);
    *memory = memset(made, 0, size);
    return TILEC_OK;
}

// The drivers do not say that they wait for the copies that use it.
void gpu_host_free(tilec_device *device, void *memory, size_t size) {
    const GpuDevice *d = device->state;
    GpuSavedDevice saved;
    (void)size;
    if (d->backend->enter(d, &saved).code) return;
    (void)gpu_result(d, d->driver.synchronize());
    GPU_DO(d, host_free, memory);
    gpu_leave(d, saved);
}

// ---- Copies that the host waits for ----

// Waits for the copy, since the host memory may be reused on return.
static tilec_status copy_host(const tilec_device *device, const GpuStream *s, void *to,
                              const void *from, size_t size, bool host_to) {
    const GpuDevice *d = device->state;
    tilec_status status =
        host_to ? to_host(device, s, to, from, size) : to_device(device, s, to, from, size);
    if (status) return status;
    GpuResult r = GPU_DO(d, stream_synchronize, s->handle);
    return r ? gpu_fail(device, GPU_CALL_stream_synchronize, r) : TILEC_OK;
}

static tilec_status copy_any(const tilec_device *device, const GpuStream *s, void *to,
                             const void *from, size_t size) {
    GpuMemory target, source;
    tilec_status found = find_memory(device, to, &target);
    if (!found) found = find_memory(device, from, &source);
    if (found) return found;
    bool host_to = target != GPU_MEMORY_DEVICE, host_from = source != GPU_MEMORY_DEVICE;
    if (host_to && host_from)
        return rt_fail(device->context, TILEC_INVALID_ARGUMENT,
                       "device %s: a copy from the host's memory to the host's", device->name);
    if (host_to || host_from) return copy_host(device, s, to, from, size, host_to);
    return within(device, s, to, from, size);
}

tilec_status gpu_copy(tilec_device *device, void *stream, void *to, const void *from, size_t size) {
    GpuSavedDevice saved;
    if (!size) return TILEC_OK;
    tilec_status s = gpu_enter(device, &saved);
    if (s) return s;
    s = copy_any(device, stream, to, from, size);
    gpu_leave(device->state, saved);
    return s;
}

// ---- The stage ----

enum { STAGE_SIZE = 1 << 20 };

static void stage_copy(void *copy) {
    GpuStageCopy *c = copy;
    memcpy(c->to, c->from, c->size);
    atomic_store_explicit(&c->done, true, memory_order_release);
}

// Forgets the copies that are done, or (all) that will never be made.
static void forget_copies(GpuStream *s, bool all) {
    GpuStageCopy **link = &s->copies;
    while (*link) {
        GpuStageCopy *c = *link;
        if (!all && !atomic_load_explicit(&c->done, memory_order_acquire)) {
            link = &c->next;
            continue;
        }
        *link = c->next;
        free(c);
    }
}

void gpu_stage_free(const GpuDevice *d, GpuStream *s, bool inside) {
    forget_copies(s, inside);
    if (!inside) return;
    if (s->stage) GPU_DO(d, host_free, s->stage);
    s->stage = NULL;
}

static tilec_status make_stage(const tilec_device *device, GpuStream *s) {
    const GpuDevice *d = device->state;
    if (s->stage) return TILEC_OK;
    GpuResult r =
        GPU_DO(d, host_alloc, &s->stage, (size_t)STAGE_SIZE, d->backend->numbers.host_flags);
    if (!r) return TILEC_OK;
    s->stage = NULL;
    return gpu_fail(device, GPU_CALL_host_alloc, r);
}

static tilec_status push_copy(const tilec_device *device, GpuStream *s, void *to, const void *from,
                              size_t size) {
    const GpuDevice *d = device->state;
    GpuStageCopy *c = calloc(1, sizeof *c);
    if (!c) return rt_fail(device->context, TILEC_OUT_OF_MEMORY, "out of memory");
    c->to = to, c->from = from, c->size = size;
    GpuResult r = GPU_DO(d, host_function, s->handle, stage_copy, c);
    if (r) {
        free(c);
        return gpu_fail(device, GPU_CALL_host_function, r);
    }
    c->next = s->copies;
    s->copies = c;
    return TILEC_OK;
}

static tilec_status through_stage(const tilec_device *device, GpuStream *s, const RtMove *m) {
    GpuDevice *d = device->state;
    const char *from = m->from;
    char *to = m->to;
    os_mutex_lock(d->lock);
    forget_copies(s, false);
    tilec_status status = make_stage(device, s);
    for (size_t at = 0; !status && at < m->size; at += STAGE_SIZE) {
        size_t size = m->size - at < STAGE_SIZE ? m->size - at : STAGE_SIZE;
        if (m->kind == RT_MOVE_WRITE) {
            status = push_copy(device, s, s->stage, from + at, size);
            if (!status) status = to_device(device, s, to + at, s->stage, size);
        } else {
            status = to_host(device, s, s->stage, from + at, size);
            if (!status) status = push_copy(device, s, to + at, s->stage, size);
        }
    }
    os_mutex_unlock(d->lock);
    return status;
}

// ---- Operations that the host does not wait for ----

static tilec_status move_host(const tilec_device *device, GpuStream *s, const RtMove *m) {
    const GpuDevice *d = device->state;
    bool read = m->kind == RT_MOVE_READ;
    GpuMemory memory;
    tilec_status status = find_memory(device, read ? m->to : m->from, &memory);
    if (status) return status;
    bool pages = memory == GPU_MEMORY_PAGES;
    if (pages && d->driver.host_function) return through_stage(device, s, m);
    if (pages) return copy_host(device, s, m->to, m->from, m->size, read);
    return read ? to_host(device, s, m->to, m->from, m->size)
                : to_device(device, s, m->to, m->from, m->size);
}

static tilec_status between(const tilec_device *device, const GpuStream *s, const RtMove *m) {
    const GpuDevice *d = device->state;
    GpuFailed failed =
        d->backend->copy_between(m->to_device->state, m->from_device->state, m, s->handle);
    return failed.code ? gpu_fail(device, failed.call, failed.code) : TILEC_OK;
}

static tilec_status fill_words(const tilec_device *device, const GpuStream *s, GpuAddress to,
                               uint64_t word, size_t count) {
    const GpuDevice *d = device->state;
    GpuResult r = GPU_DO(d, fill_words, to, (uint32_t)word, count, s->handle);
    return r ? gpu_fail(device, GPU_CALL_fill_words, r) : TILEC_OK;
}

// The drivers fill with words at most. The first pattern is made of two of them, and copied: each
// copy doubles what is filled.
static tilec_status fill_pairs(const tilec_device *device, const GpuStream *s, const RtMove *m) {
    enum { PAIR = 8 };
    uint64_t low = (uint32_t)m->pattern, high = m->pattern >> 32;
    GpuAddress to = number_of(m->to);
    if (low == high) return fill_words(device, s, to, low, m->size / 4);
    tilec_status status = fill_words(device, s, to, low, 1);
    if (!status) status = fill_words(device, s, to + 4, high, 1);
    for (size_t done = PAIR; !status && done < m->size; done *= 2)
        status = within(device, s, (char *)m->to + done, m->to,
                        done < m->size - done ? done : m->size - done);
    return status;
}

static tilec_status fill(const tilec_device *device, const GpuStream *s, const RtMove *m) {
    const GpuDevice *d = device->state;
    GpuAddress to = number_of(m->to);
    GpuResult r;
    switch (m->unit) {
    case 1:
        r = GPU_DO(d, fill_bytes, to, (uint8_t)m->pattern, m->size, s->handle);
        return r ? gpu_fail(device, GPU_CALL_fill_bytes, r) : TILEC_OK;
    case 2:
        r = GPU_DO(d, fill_halves, to, (uint16_t)m->pattern, m->size / 2, s->handle);
        return r ? gpu_fail(device, GPU_CALL_fill_halves, r) : TILEC_OK;
    case 4: return fill_words(device, s, to, m->pattern, m->size / 4);
    default: return fill_pairs(device, s, m);
    }
}

tilec_status gpu_move(tilec_device *device, void *stream, const RtMove *m) {
    GpuSavedDevice saved;
    tilec_status s = gpu_enter(device, &saved);
    if (s) return s;
    switch (m->kind) {
    case RT_MOVE_WRITE:
    case RT_MOVE_READ: s = move_host(device, stream, m); break;
    case RT_MOVE_WITHIN: s = within(device, stream, m->to, m->from, m->size); break;
    case RT_MOVE_BETWEEN: s = between(device, stream, m); break;
    case RT_MOVE_FILL: s = fill(device, stream, m); break;
    }
    gpu_leave(device->state, saved);
    return s;
}
