// A device that computes nothing and records its calls: for tests of the runtime's checked side.
//
// Its memory is the host's. `fail_next` makes the next call of the table fail with that status.
//
//     FakeLog log = {0};
//     tilec_context *c = fake_context(&log);
#ifndef TILEC_TESTS_SUPPORT_FAKE_DEVICE_H
#define TILEC_TESTS_SUPPORT_FAKE_DEVICE_H

#include "runtime/context.h"

typedef struct FakeLog {
    int opens, closes, allocs, frees, streams, copies, moves, launches, prepares, syncs, events;
    tilec_status fail_next;
    uint32_t variant;
    int64_t grid[3];
    uint8_t block[512];
} FakeLog;

tilec_context *fake_context(FakeLog *log);

#endif
