#include "compile/device/host_watch.h"

#include "base/os/os.h"

enum { ENDS = 64, BETWEEN = 64 };  // checked bytes: at either end, and in between

// The next position after `at`.
static size_t next_position(size_t at, size_t size) {
    size_t step = size / BETWEEN;
    if (size <= 2 * ENDS || step <= 1 || at + 1 < ENDS || at + 1 >= size - ENDS) return at + 1;
    size_t next = at + step;
    return next > size - ENDS ? size - ENDS : next;
}

static uint64_t sum_of(const unsigned char *memory, size_t size) {
    uint64_t sum = size;
    for (size_t at = 0; at < size; at = next_position(at, size))
        sum = (sum ^ memory[at]) * UINT64_C(0x100000001b3);  // FNV-1a
    return sum;
}

HostWatch host_watch_source(const void *memory, size_t size) {
    return (HostWatch){memory, size, sum_of(memory, size)};
}

HostWatch host_watch_target(void *memory, size_t size) {
    unsigned char *bytes = memory;
    for (size_t at = 0; at < size; at = next_position(at, size)) bytes[at] = HOST_WATCH_MARK;
    return host_watch_source(memory, size);
}

HostState host_watch_state(const HostWatch *watch) {
    if (!watch->at) return HOST_OK;
    if (!os_memory_is_there(watch->at, watch->size)) return HOST_FREED;
    return sum_of(watch->at, watch->size) == watch->sum ? HOST_OK : HOST_CHANGED;
}
