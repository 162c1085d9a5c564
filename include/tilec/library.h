// Kernels compiled ahead of time by `tilec build`, used without a compiler.
//
// `tilec build softmax.tile -o libkernels.a --header kernels.h` writes a header with a C function
// for each kernel. A program loads the library on a device, and calls them:
//
//     tilec_library *lib = NULL;
//     if (tilec_context_create(NULL, &ctx) || tilec_device_open_for(ctx, &kernels_archive, &dev) ||
//         kernels_load(dev, &lib) || softmax(tilec_device_stream(dev), x, y)) {
//         fputs(tilec_last_error(ctx), stderr);
//         return 1;
//     }
//
// On each device the library uses its best code. For NVIDIA GPUs that is machine code of the
// architecture, or of an earlier one of its family, or PTX, which the driver compiles; for AMD GPUs
// the code of the processor; for CPUs the code of the highest level that the machine runs. Code is
// unpacked and loaded by the first launch (or tilec_kernel_prepare) that chooses it.
#ifndef TILEC_LIBRARY_H
#define TILEC_LIBRARY_H

#include <tilec/tilec.h>

#ifdef __cplusplus
extern "C" {
#endif

// All code of a library: constant data of the program that links it.
typedef struct tilec_archive tilec_archive;
// An archive on a device.
typedef struct tilec_library tilec_library;

// Loads the archive on the device. Loading it again on the same device returns the same library,
// which must be unloaded as often as it was loaded. `interface` is the number in the header; the
// call is refused if the archive was built with another one. 0: no header is used. The built
// header's NAME_load makes this call.
TILEC_API tilec_status tilec_library_load(tilec_device *device, const tilec_archive *archive,
                                          uint64_t interface_number, tilec_library **library);
// Waits for launches of its kernels. Closing the device unloads the library, too.
TILEC_API void tilec_library_unload(tilec_library *library);

// The best device of this machine that the archive has code for: an NVIDIA or AMD GPU, else the
// CPU. If there is none: TILEC_UNAVAILABLE, with a message that lists what the archive has code
// for.
TILEC_API tilec_status tilec_device_open_for(tilec_context *context, const tilec_archive *archive,
                                             tilec_device **device);

// A function by its name, as a kernel: for tilec_launch, tilec_kernel_prepare, and queries of its
// parameters. The library owns it: tilec_kernel_destroy has no effect on it.
TILEC_API tilec_status tilec_library_kernel(tilec_library *library, const char *function,
                                            tilec_kernel **kernel);
// Calls a function through the addresses of its arguments, for generic runners: values[i] points to
// argument i of the prototype in the built header (a tilec_view, a pointer, a number). The grid of
// functions that take one is three of these arguments, int64_t each.
TILEC_API tilec_status tilec_library_call(tilec_library *library, const char *function,
                                          tilec_stream *stream, const void *const *values);
// From now on this table, made by `tilec tune`, chooses among a function's alternatives, instead of
// the table in the archive. Rows of other kernels, devices and sources are ignored. An empty text
// means no table: the first alternative that fits the arguments is taken. Must not run at the same
// time as launches.
TILEC_API tilec_status tilec_library_tune(tilec_library *library, const char *table, size_t size);

// ---- The contents of an archive

typedef struct tilec_archive_info {
    const char *name;
    uint32_t function_count, target_count;
    uint64_t interface_number, bytes;
} tilec_archive_info;
typedef struct tilec_function_info {
    const char *name;       // "softmax_f16"
    const char *prototype;  // "tilec_status softmax_f16(tilec_stream *stream, tilec_view x, …)"
} tilec_function_info;
// If the archive is damaged or of another version, the context keeps the message. This call
// verifies the checksum of everything that the next two read.
TILEC_API tilec_status tilec_archive_describe(tilec_context *context, const tilec_archive *archive,
                                              tilec_archive_info *info);
TILEC_API tilec_status tilec_archive_function(tilec_context *context, const tilec_archive *archive,
                                              uint32_t index, tilec_function_info *info);
// "sm_90a"; NULL beyond the last.
TILEC_API const char *tilec_archive_target(const tilec_archive *archive, uint32_t index);

// Called by built functions: launches the function with that number on the stream's device.
TILEC_API tilec_status tilec_archive_call(const tilec_archive *archive, uint32_t function,
                                          tilec_stream *stream, const void *const *values);

#ifdef __cplusplus
}
#endif

#endif
