// Consts that were measured for a shape: rows of the context's table, and the measuring of kernels
// while the program runs (TILEC_TUNE, tilec_tune).
//
//     launch of a shape without a row ─▶ save the arrays that the kernel writes
//          ─▶ tune_search: launches of all candidates, on the launch's stream, arrays restored
//          ─▶ restore ─▶ row into the context's table and the user's file ─▶ the launch itself
//
// Invariants: the arrays are after measuring as before it. One thread of a context measures at a
// time; launches of others run the default meanwhile. No row: the default runs. A kernel whose
// launches have effects that cannot be undone (it prints, writes through pointers, uses atomics of
// the system's scope) is not measured, nor is one in a stream that is captured. Candidates are
// asked for their effects one by one, since consts decide about them. A row without consts means
// that there is no result; it is never written to the file, and replaces no other row.
// Ownership: rows are the context's; all that is needed to measure is freed at the end.
//
//     if (jit_tune_row(kernel, args, count, &spec, &row)) …    // with the kernel's mutex
#ifndef TILEC_COMPILE_JIT_JIT_TUNE_H
#define TILEC_COMPILE_JIT_JIT_TUNE_H

#include "compile/jit/jit.h"

// Does the table have rows for the kernel, of any types and shape?
bool jit_is_tuned(const tilec_kernel *kernel);
// The key of a row for these arguments. False: they do not fit the kernel, or an extent is of no
// array.
bool jit_tune_key(const Jit *jit, Arena *arena, const tilec_arg *args, size_t count,
                  const FrontSpec *spec, TuneRow *key);
// The row for these arguments; false: there is none. The kernel's mutex is held.
bool jit_tune_row(const tilec_kernel *kernel, const tilec_arg *args, size_t count,
                  const FrontSpec *spec, TuneRow *row);
// For `tune` of a tilec_kernel (runtime/kernel.h).
tilec_status jit_tune(tilec_kernel *kernel, tilec_stream *stream, const tilec_arg *args,
                      size_t count, bool waits, bool *settled);

#endif
