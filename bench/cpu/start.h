// A process that does nothing but take a kernel from the disk cache and launch it.
//
// Ownership: nothing is left.
//
//     return start_fresh("build/bench/cache");   // prints how long it took
#ifndef TILEC_BENCH_START_H
#define TILEC_BENCH_START_H

int start_fresh(const char *cache);

#endif
