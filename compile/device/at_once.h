// Streams and events of devices whose work is done when `launch` or `copy` returns.
//
// Only the operations of `move` wait: until their stream gets other work, records an event, is
// synchronised, or memory of the device is freed. So a program that reuses host memory too early is
// found (host_watch.h), and a call does not wait for a kernel that another thread runs.
//
// Invariants: a stream runs one launch after another, for all threads; it keeps its first failure
// until it is synchronised, and does nothing until then. The device's state begins with an
// AtOnceDevice. The functions are rows of RtDeviceApi, except for the structs. `queue` of the
// device guards its list and the streams' holds, that of a stream what waits there.
// Ownership: as the device table says; a stream owns what waits on it.
//
//     AtOnceStream *s = stream;
//     at_once_stream_lock(device, s);
//     if (s->status == TILEC_OK) s->status = …run…(&s->failure);
//     os_mutex_unlock(s->lock);
#ifndef TILEC_COMPILE_DEVICE_AT_ONCE_H
#define TILEC_COMPILE_DEVICE_AT_ONCE_H

#include "base/os/os.h"
#include "base/os/os_mutex.h"
#include "runtime/device.h"
#include "runtime/report.h"

typedef struct AtOnceMove AtOnceMove;

typedef struct AtOnceStream {
    OsMutex *lock;
    tilec_status status;  // TILEC_OK: no failure
    RtReport failure;
    OsMutex *queue;
    AtOnceMove *first, **end;  // what waits
    bool moving;               // some of it has been taken from there, and is not done
    struct AtOnceStream *next;
    uint32_t holds;
} AtOnceStream;

typedef struct AtOnceDevice {
    OsMutex *queue;
    AtOnceStream *streams;
    // Makes a move now; false: its memory is not within a buffer of the device.
    bool (*run)(tilec_device *device, const RtMove *move);
} AtOnceDevice;

void at_once_open(AtOnceDevice *d, bool (*run)(tilec_device *device, const RtMove *move));
void at_once_close(AtOnceDevice *d);

// Also does what waits on the stream. In the child of a fork, a stream that another thread was
// using has failed.
void at_once_stream_lock(tilec_device *device, AtOnceStream *stream);
// Does what waits on the stream, or on all streams of the device: before memory is copied or freed.
void at_once_flush(tilec_device *device, void *stream);
void at_once_flush_all(tilec_device *device);

tilec_status at_once_move(tilec_device *device, void *stream, const RtMove *move);
tilec_status at_once_stream_create(tilec_device *device, void **stream);
void at_once_stream_destroy(tilec_device *device, void *stream);
tilec_status at_once_stream_synchronize(tilec_device *device, void *stream);
tilec_status at_once_stream_wait(tilec_device *device, void *stream, void *event);
tilec_status at_once_event_create(tilec_device *device, void **event);
void at_once_event_destroy(tilec_device *device, void *event);
tilec_status at_once_event_record(tilec_device *device, void *event, void *stream);
tilec_status at_once_event_synchronize(tilec_device *device, void *event);
tilec_status at_once_event_query(tilec_device *device, void *event, bool *done);
tilec_status at_once_event_elapsed(tilec_device *device, void *begin, void *end, uint64_t *ns);

#endif
