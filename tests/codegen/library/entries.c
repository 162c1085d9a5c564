// Entries of a library, as other objects have them: hidden. Each leaves its number.
#include "base/cpu_abi.h"

#define ENTRY(number)                                                                          \
    __attribute__((visibility("hidden"))) void entry_##number(const void *args, int64_t first, \
                                                              int64_t last, void *scratch,     \
                                                              const CpuServices *services);    \
    void entry_##number(const void *args, int64_t first, int64_t last, void *scratch,          \
                        const CpuServices *services) {                                         \
        (void)args, (void)first, (void)last, (void)services;                                   \
        *(int *)scratch = number;                                                              \
    }
ENTRY(0)
ENTRY(1)
