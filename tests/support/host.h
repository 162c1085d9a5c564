// Host: a context and one device, as a program that uses the public API has them, and its tests.
//
// Each test runs on every device of devices.h. Invariants: what is printed
// and logged is kept; the context is destroyed at the end, with all that was made from it.
//
//     static void test_x(Host *h) { tilec_kernel *k = host_kernel(h, "kernel k() grid(1) { }"); … }
//     int main(void) { return host_run((HostTest[]){{"test_x", test_x}}, 1); }
#ifndef TILEC_TESTS_SUPPORT_HOST_H
#define TILEC_TESTS_SUPPORT_HOST_H

#include <stdbool.h>
#include <tilec/tilec.h>

typedef struct Host {
    tilec_context *context;
    tilec_device *device;
    const char *name;  // of the device
    char printed[1024];
    char logged[1024];
    // The allocator: what is out, what was asked for in all, and after how many it has no more.
    size_t live, live_bytes, total;
    size_t left;  // SIZE_MAX: any number
} Host;

typedef struct HostTest {
    const char *name;
    void (*run)(Host *host);
} HostTest;

// Runs each test on each device with a fresh context, whose memory the host's allocator gives;
// fails when some is left at the end.
int host_run(const HostTest *tests, size_t count);

// Made from this text; the test fails with the message when it cannot be.
tilec_kernel *host_kernel(Host *host, const char *source);
tilec_kernel *host_kernel_spec(Host *host, const char *source, const tilec_spec *spec);
// The status is this one, and the last error names the text.
void host_expect(Host *host, tilec_status expected, const char *text, tilec_status found);

#endif
