// Kernels compiled ahead of time: what `tilec build` made, without a compiler.
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
// On each device the best code for it is taken: of NVIDIA's GPUs machine code of the architecture,
// or of an earlier one of its family, or PTX, which the driver compiles; of AMD's the processor's;
// of CPUs that of the highest level that the machine runs. Code is unpacked and loaded by the first
// launch (or tilec_kernel_prepare) that chooses it.
#ifndef TILEC_LIBRARY_H
#define TILEC_LIBRARY_H

#include <tilec/tilec.h>

#ifdef __cplusplus
extern "C" {
#endif

// All code of a library: constant data of the program that has it.
typedef struct tilec_archive tilec_archive;
// An archive on a device.
typedef struct tilec_library tilec_library;

// Loads the archive on the device; again on the same device it is the same library, which is to be
// unloaded as often. `interface` is of the header: it is refused when the archive was built with
// another one. 0: no header is used. The built header's NAME_load does this call.
TILEC_API tilec_status tilec_library_load(tilec_device *device, const tilec_archive *archive,
                                          uint64_t interface_number, tilec_library **library);
// Waits for launches of its kernels. Closing the device unloads it, too.
TILEC_API void tilec_library_unload(tilec_library *library);

// The best device here that the archive has code for: a GPU of NVIDIA's or AMD's, else the CPU.
// TILEC_UNAVAILABLE with what the archive has code for if there is none.
TILEC_API tilec_status tilec_device_open_for(tilec_context *context, const tilec_archive *archive,
                                             tilec_device **device);

// A function by its name, as a kernel: for tilec_launch, tilec_kernel_prepare, and to ask for its
// parameters. It is the library's: tilec_kernel_destroy leaves it alone.
TILEC_API tilec_status tilec_library_kernel(tilec_library *library, const char *function,
                                            tilec_kernel **kernel);
// A call with the arguments' addresses, as generic runners have them: values[i] points to the value
// that the built header's prototype has in place i (a tilec_view, a pointer, a number).
TILEC_API tilec_status tilec_library_call(tilec_library *library, const char *function,
                                          tilec_stream *stream, const void *const *values);
// From now on a table that `tilec tune` made says which of a function's alternatives are taken,
// instead of the one in the archive. Rows of other kernels, devices and sources are passed over; an
// empty text is no table: the first alternative that fits the arguments. Not while launches are
// being made.
TILEC_API tilec_status tilec_library_tune(tilec_library *library, const char *table, size_t size);

// ---- What an archive holds

typedef struct tilec_archive_info {
    const char *name;
    uint32_t function_count, target_count;
    uint64_t interface_number, bytes;
} tilec_archive_info;
typedef struct tilec_function_info {
    const char *name;       // "softmax_f16"
    const char *prototype;  // "tilec_status softmax_f16(tilec_stream *stream, tilec_view x, …)"
} tilec_function_info;
// The context takes the message when the archive is damaged or of another version. Describing it
// compares the checksum of what the other two tell.
TILEC_API tilec_status tilec_archive_describe(tilec_context *context, const tilec_archive *archive,
                                              tilec_archive_info *info);
TILEC_API tilec_status tilec_archive_function(tilec_context *context, const tilec_archive *archive,
                                              uint32_t index, tilec_function_info *info);
// "sm_90a"; NULL beyond the last.
TILEC_API const char *tilec_archive_target(const tilec_archive *archive, uint32_t index);

// What built functions call: the function of that number on the stream's device.
TILEC_API tilec_status tilec_archive_call(const tilec_archive *archive, uint32_t function,
                                          tilec_stream *stream, const void *const *values);

#ifdef __cplusplus
}
#endif

#endif
