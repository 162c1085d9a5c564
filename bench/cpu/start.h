// A process that only takes a kernel from the disk cache and launches it.
//
// Ownership: everything is freed.
//
//     return start_fresh("build/bench/cache");   // prints how long it took
#ifndef TILEC_BENCH_START_H
#define TILEC_BENCH_START_H

int start_fresh(const char *cache);

#endif
