// Streams and events of devices whose work is done when `launch` or `copy` returns.
//
// Invariants: a stream runs one launch after another, for all threads; it keeps its first failure
// until it is synchronised, and does nothing until then. The functions are rows of RtDeviceApi,
// except for the struct. Ownership: as the device table says.
//
//     AtOnceStream *s = stream;
//     at_once_stream_lock(s);
//     if (s->status == TILEC_OK) s->status = …run…(&s->failure);
//     os_mutex_unlock(s->lock);
#ifndef TILEC_COMPILE_DEVICE_AT_ONCE_H
#define TILEC_COMPILE_DEVICE_AT_ONCE_H

#include "base/os/os.h"
#include "base/os/os_mutex.h"
#include "runtime/device.h"
#include "runtime/report.h"

typedef struct AtOnceStream {
    OsMutex *lock;
    tilec_status status;  // TILEC_OK: no failure
    RtReport failure;
} AtOnceStream;

// In the child of a fork, a stream that another thread was using has failed.
void at_once_stream_lock(AtOnceStream *stream);

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
