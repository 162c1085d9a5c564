// tilec: compile tile kernels and launch them on any device, from C.
//
// Rules that hold everywhere: handles are opaque; every function that can fail returns tilec_status
// and gives its result through its last parameter, which is left alone on failure; every create has
// a destroy, which takes NULL; nothing is printed, nothing aborts on bad input; there are no
// globals. A context may be used from several threads at once; an object must not be destroyed
// while in use. After a failure tilec_last_error() says what was wrong, for the calling thread,
// until its next call.
//
//     tilec_context *ctx = NULL;   tilec_device *dev = NULL;   tilec_kernel *k = NULL;
//     if (tilec_context_create(NULL, &ctx) || tilec_device_open(ctx, "auto", &dev) ||
//         tilec_kernel_from_file(ctx, dev, "matmul.tile", "matmul",
//                                TILEC_SPEC(TILEC_TYPE("T", TILEC_F16), TILEC_CONST("BM", 128)),
//                                &k)) {
//         fputs(tilec_last_error(ctx), stderr);
//         return 1;
//     }
//     tilec_launch(k, NULL, TILEC_ARGS(tilec_view2(TILEC_F16, a, M, K),
//                                      tilec_view2(TILEC_F16, b, K, N),
//                                      tilec_view2(TILEC_F16, c, M, N)));
#ifndef TILEC_TILEC_H
#define TILEC_TILEC_H

#include <stddef.h>
#include <stdint.h>
#include <tilec/version.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TILEC_API __attribute__((visibility("default")))
#else
#define TILEC_API
#endif

// The version of the library that runs; the header's version is in TILEC_VERSION_TEXT and
// TILEC_VERSION_NUMBER.
TILEC_API const char *tilec_version(void);      // "0.1.0"
TILEC_API uint32_t tilec_version_number(void);  // major * 10000 + minor * 100 + patch

// ---- Status ------------------------------------------------------------------------------------

typedef enum tilec_status {
    TILEC_OK = 0,
    TILEC_INVALID_SOURCE = 1,    // the source or specialisation is wrong: see the diagnostics
    TILEC_INVALID_ARGUMENT = 2,  // a call's argument is wrong: NULL, a bad name, a dead handle
    TILEC_LAUNCH_REFUSED = 3,    // the arguments do not fit the kernel: type, extent, requires
    TILEC_KERNEL_FAILED = 4,     // a kernel ran into a failed assert or a sanitizer finding
    TILEC_UNAVAILABLE = 5,       // no such device or target here
    TILEC_UNSUPPORTED = 6,       // the device cannot do what the kernel asks
    TILEC_OUT_OF_MEMORY = 7,
    TILEC_IO = 8,       // a file could not be read or written
    TILEC_INTERNAL = 9  // a defect of tilec
} tilec_status;
TILEC_API const char *tilec_status_text(tilec_status status);

// ---- Element types (fixed for good; new ones are added at the end)

typedef enum tilec_dtype {
    TILEC_BOOL,
    TILEC_I8,
    TILEC_I16,
    TILEC_I32,
    TILEC_I64,
    TILEC_U8,
    TILEC_U16,
    TILEC_U32,
    TILEC_U64,
    TILEC_F16,
    TILEC_BF16,
    TILEC_F32,
    TILEC_F64,
    TILEC_F8E4M3,
    TILEC_F8E5M2,
    TILEC_F8E4M3FNUZ,
    TILEC_F8E5M2FNUZ,
    TILEC_I4,
    TILEC_U4
} tilec_dtype;
TILEC_API const char *tilec_dtype_name(tilec_dtype dtype);  // "f16"; NULL for an invalid dtype
TILEC_API unsigned tilec_dtype_bits(tilec_dtype dtype);     // 16; 0 for an invalid dtype
// Bytes of `count` elements in a row (i4 and u4: two in a byte); SIZE_MAX when there are too many.
TILEC_API size_t tilec_dtype_bytes(tilec_dtype dtype, uint64_t count);

// ---- Contexts ----------------------------------------------------------------------------------

typedef struct tilec_context tilec_context;
typedef struct tilec_device tilec_device;
typedef struct tilec_stream tilec_stream;
typedef struct tilec_event tilec_event;
typedef struct tilec_source tilec_source;
typedef struct tilec_kernel tilec_kernel;

typedef enum tilec_severity { TILEC_ERROR, TILEC_WARNING, TILEC_NOTE } tilec_severity;

// The source of memory for buffers and workspaces of devices that share the host's memory. Both
// functions are called from any thread, also from several at once.
typedef struct tilec_allocator {
    // At least `size` bytes at a multiple of `alignment` (a power of two); NULL: out of memory.
    void *(*allocate)(void *user, size_t size, size_t alignment);
    // Frees memory that `allocate` returned, with the size that was requested.
    void (*release)(void *user, void *memory, size_t size);
    void *user;
} tilec_allocator;

// Zeroed members stand for the defaults. New members are added at the end; `size` says how many the
// caller knows. tilec_context_options o = {sizeof o};
typedef struct tilec_context_options {
    size_t size;  // sizeof(tilec_context_options)
    // Called for each line that a kernel's print() writes; NULL: standard output.
    void (*print)(void *user, const char *line, size_t length);
    void *user;  // passed to print and log
    // Called for warnings that fail no call, such as a cache that cannot be used; NULL: they are
    // dropped. May be called from any thread; must not call back into the context.
    void (*log)(void *user, tilec_severity severity, const char *text);
    tilec_allocator allocator;  // all NULL: the C library's
    uint32_t cpu_threads;       // for device cpu; 0: one thread for each processor
    uint32_t compile_in_child;  // 1: compilers run in a child process, so that a crash does not end
                                // yours
    const char *cache_folder;   // of compiled kernels; NULL: the user's own, "": no cache
    const char *compiler_library;  // path of libtilec_llvm.so; NULL: it is searched for
    // The tool that makes machine code for NVIDIA GPUs: "driver", "ptxas", "nvjitlink", or "auto",
    // the first of the last two that is available. NULL: the driver.
    const char *ptx_compiler;
    // Seconds that compiling one variant of a kernel may take, up to 86400; 0: the environment
    // variable TILEC_COMPILE_SECONDS, else no limit. With a limit LLVM runs in a child process.
    uint32_t compile_seconds;
    uint32_t reserved;  // must be 0
} tilec_context_options;

// `options` may be NULL.
TILEC_API tilec_status tilec_context_create(const tilec_context_options *options,
                                            tilec_context **context);
// Also destroys everything made from it: devices, and with each its kernels, events, streams and
// buffers. Their handles are invalid then.
TILEC_API void tilec_context_destroy(tilec_context *context);
// The message of the calling thread's last failed call, with diagnostics as text; "" if there is
// none. Valid until the thread's next call on this context.
TILEC_API const char *tilec_last_error(tilec_context *context);

typedef struct tilec_diagnostic {
    tilec_severity severity;
    const char *code;  // stable: "unknown-name"
    const char *message;
    const char *help;                             // "" when there is none
    const char *file;                             // "" when the place is unknown
    uint32_t line, column, end_line, end_column;  // from 1
} tilec_diagnostic;
// The diagnostics of the calling thread's last call; notes follow their diagnostic.
TILEC_API size_t tilec_diagnostic_count(tilec_context *context);
TILEC_API tilec_status tilec_diagnostic_get(tilec_context *context, size_t index,
                                            tilec_diagnostic *diagnostic);

// ---- Devices, streams, events

// "cpu", "cpu:N" (N threads), "interp", "cuda" and "cuda:N" (NVIDIA GPUs), "hip" and "hip:N" (AMD
// GPUs), "auto": cpu if the compiler library is found, else interp. Raw pointers must point to the
// device's memory. "auto" always takes a device that uses the host's memory, so a GPU must be
// named.
TILEC_API tilec_status tilec_device_open(tilec_context *context, const char *name,
                                         tilec_device **device);
// Also destroys everything made for it: kernels, events, streams, buffers.
TILEC_API void tilec_device_close(tilec_device *device);
TILEC_API const char *tilec_device_name(const tilec_device *device);
// How many devices of a kind there are: "cuda" of 2 are "cuda:0" and "cuda:1". Kinds without
// numbers have 1. A driver that is missing or finds no device has 0; opening the device says why.
TILEC_API tilec_status tilec_device_count(tilec_context *context, const char *kind,
                                          uint32_t *count);

// Texts live as long as the device, and are "" when unknown; unknown numbers are 0. New members are
// added at the end; `size` says how many the caller knows. tilec_device_info i = {sizeof i};
typedef struct tilec_device_info {
    size_t size;               // sizeof(tilec_device_info), set by the caller
    const char *name;          // of the product: "NVIDIA H100 PCIe"
    const char *target;        // that code is made for: "sm_90a", "gfx942", "x86-64-v4"
    const char *driver;        // "CUDA 12.2", "HIP 6.2.24000"
    const char *bus;           // the PCI address: "0000:65:00.0"
    uint64_t memory;           // bytes
    uint64_t shared_memory;    // bytes that one program may have
    uint32_t multiprocessors;  // or compute units; the threads of cpu
    uint32_t warp;             // threads of a warp; 1 on devices without warps
    uint32_t clock_khz;        // the highest
    uint32_t reserved;         // 0
} tilec_device_info;
TILEC_API tilec_status tilec_device_describe(tilec_device *device, tilec_device_info *info);

// Work on one stream completes in order. In a call that also has a kernel, an event or a device, a
// NULL stream is the device's first stream. In calls that take only a stream (native, synchronize)
// NULL is TILEC_INVALID_ARGUMENT, without a message, since no context is known; destroy ignores it.
// tilec_device_synchronize waits for the first stream, too.
TILEC_API tilec_status tilec_stream_create(tilec_device *device, tilec_stream **stream);
// The device's first stream, for calls that take only a stream; destroyed with the device.
TILEC_API tilec_stream *tilec_device_stream(tilec_device *device);
TILEC_API void tilec_stream_destroy(tilec_stream *stream);
// A stream that another library made, as a tilec_stream: on "cuda:N" a CUstream (or cudaStream_t)
// of the GPU's primary context, on "hip:N" a hipStream_t of the GPU; NULL is its default stream.
// The other library still owns it; it must live until the tilec_stream is destroyed.
// TILEC_UNSUPPORTED: devices of this kind have no native streams.
TILEC_API tilec_status tilec_stream_from_native(tilec_device *device, void *native,
                                                tilec_stream **stream);
// The reverse: the native stream, which other libraries may use as long as the stream lives.
TILEC_API tilec_status tilec_stream_native(tilec_stream *stream, void **native);
// Waits for the stream's work; reports its first failure since the last call.
TILEC_API tilec_status tilec_stream_synchronize(tilec_stream *stream);
// The same for all streams of the device. One failure is reported; failures of other streams are
// reported by their next synchronize.
TILEC_API tilec_status tilec_device_synchronize(tilec_device *device);

TILEC_API tilec_status tilec_event_create(tilec_device *device, tilec_event **event);
TILEC_API void tilec_event_destroy(tilec_event *event);
TILEC_API tilec_status tilec_event_record(tilec_event *event, tilec_stream *stream);
TILEC_API tilec_status tilec_event_synchronize(tilec_event *event);
// *done: 1 when all work before the last record is done (or nothing was recorded), else 0.
TILEC_API tilec_status tilec_event_query(tilec_event *event, int *done);
TILEC_API tilec_status tilec_stream_wait_event(tilec_stream *stream, tilec_event *event);
TILEC_API tilec_status tilec_event_elapsed_ns(tilec_event *begin, tilec_event *end, uint64_t *ns);

// ---- Memory ------------------------------------------------------------------------------------

// A handle with a generation: use after destroy is detected and refused.
typedef struct tilec_buffer {
    uint64_t handle;  // 0: no buffer
} tilec_buffer;

TILEC_API tilec_status tilec_buffer_create(tilec_device *device, size_t size, tilec_buffer *buffer);
TILEC_API tilec_status tilec_buffer_destroy(tilec_device *device, tilec_buffer buffer);
// The same in the order of a stream, without a wait: later work of the stream may use the buffer,
// and so may other streams that wait for it. The device's pool keeps the memory of a buffer that a
// stream destroyed, for buffers that this stream, or one that comes after it, makes later.
TILEC_API tilec_status tilec_buffer_create_async(tilec_device *device, tilec_stream *stream,
                                                 size_t size, tilec_buffer *buffer);
TILEC_API tilec_status tilec_buffer_destroy_async(tilec_device *device, tilec_stream *stream,
                                                  tilec_buffer buffer);
// Limits the pool: the bytes of buffers of tilec_buffer_create_async, and of memory that is kept.
// SIZE_MAX, as at the beginning: no limit.
TILEC_API tilec_status tilec_pool_limit(tilec_device *device, size_t most);
// Gives kept memory back to the system, until at most `keep` bytes are left.
TILEC_API tilec_status tilec_pool_trim(tilec_device *device, size_t keep);
// The address on the device, for use with other libraries.
TILEC_API tilec_status tilec_buffer_address(tilec_device *device, tilec_buffer buffer,
                                            void **address, size_t *size);
// Runs in stream order; the host memory may be reused when the call returns.
TILEC_API tilec_status tilec_buffer_write(tilec_device *device, tilec_stream *stream,
                                          tilec_buffer buffer, size_t offset, const void *from,
                                          size_t size);
TILEC_API tilec_status tilec_buffer_read(tilec_device *device, tilec_stream *stream,
                                         tilec_buffer buffer, size_t offset, void *to, size_t size);

// Host memory that the device's copies reach without a detour; zeroed, and aligned to 64 bytes.
TILEC_API tilec_status tilec_host_alloc(tilec_device *device, size_t size, void **memory);
// Waits for the device's work, which may use the memory. Closing the device frees it, too.
TILEC_API tilec_status tilec_host_free(tilec_device *device, void *memory);

// The next functions do not wait for the stream, and run in its order. The host's memory must stay
// valid and unchanged until the stream has passed: until a synchronize of the stream, or of an
// event that was recorded after the call, returns. The stream's next synchronize reports later
// failures.
TILEC_API tilec_status tilec_buffer_write_async(tilec_device *device, tilec_stream *stream,
                                                tilec_buffer buffer, size_t offset,
                                                const void *from, size_t size);
TILEC_API tilec_status tilec_buffer_read_async(tilec_device *device, tilec_stream *stream,
                                               tilec_buffer buffer, size_t offset, void *to,
                                               size_t size);
// Either buffer may belong to another device of the same kind and context; then first synchronize
// the work of that device that fills the source or still uses the target.
TILEC_API tilec_status tilec_buffer_copy(tilec_device *device, tilec_stream *stream,
                                         tilec_buffer to, size_t to_offset, tilec_buffer from,
                                         size_t from_offset, size_t size);
// Repeats the pattern of 1, 2, 4 or 8 bytes; `offset` and `size` (in bytes) are multiples of its
// size. The pattern may be reused when the call returns.
//     float one = 1;
//     tilec_buffer_fill(device, NULL, x, 0, &one, sizeof one, n * sizeof one);
TILEC_API tilec_status tilec_buffer_fill(tilec_device *device, tilec_stream *stream,
                                         tilec_buffer buffer, size_t offset, const void *pattern,
                                         size_t pattern_size, size_t size);

// ---- Views: arrays as kernels see them

enum { TILEC_MAX_RANK = 5 };
// Kernels that write through this view are refused.
enum { TILEC_VIEW_READ_ONLY = 1 };

// Element (i, j, …) is at data + (i * stride[0] + j * stride[1] + …) elements. A view on a buffer
// is checked against the buffer's size and lifetime; a raw pointer (buffer.handle == 0) is trusted,
// but NULL is valid only for views without elements.
typedef struct tilec_view {
    tilec_dtype dtype;
    int32_t rank;
    tilec_buffer buffer;
    void *data;      // raw pointer, or NULL with a buffer
    int64_t offset;  // in elements, from the pointer or the buffer's start
    int64_t extent[TILEC_MAX_RANK];
    int64_t stride[TILEC_MAX_RANK];  // in elements
    uint32_t flags;                  // TILEC_VIEW_READ_ONLY, or 0; others are refused
} tilec_view;

// Row-major, contiguous. `extent` has `rank` numbers.
TILEC_API tilec_view tilec_view_of(tilec_dtype dtype, void *data, int32_t rank,
                                   const int64_t *extent);
TILEC_API tilec_view tilec_view_of_buffer(tilec_dtype dtype, tilec_buffer buffer, int32_t rank,
                                          const int64_t *extent);
TILEC_API tilec_view tilec_view1(tilec_dtype dtype, void *data, int64_t a);
TILEC_API tilec_view tilec_view2(tilec_dtype dtype, void *data, int64_t a, int64_t b);
TILEC_API tilec_view tilec_view3(tilec_dtype dtype, void *data, int64_t a, int64_t b, int64_t c);
TILEC_API tilec_view tilec_view4(tilec_dtype dtype, void *data, int64_t a, int64_t b, int64_t c,
                                 int64_t d);
TILEC_API tilec_view tilec_buffer_view1(tilec_dtype dtype, tilec_buffer buffer, int64_t a);
TILEC_API tilec_view tilec_buffer_view2(tilec_dtype dtype, tilec_buffer buffer, int64_t a,
                                        int64_t b);
TILEC_API tilec_view tilec_buffer_view3(tilec_dtype dtype, tilec_buffer buffer, int64_t a,
                                        int64_t b, int64_t c);
TILEC_API tilec_view tilec_buffer_view4(tilec_dtype dtype, tilec_buffer buffer, int64_t a,
                                        int64_t b, int64_t c, int64_t d);

// ---- Kernels -----------------------------------------------------------------------------------

// The kinds of values that a kernel is specialised to.
typedef enum tilec_spec_kind {
    TILEC_SPEC_TYPE,
    TILEC_SPEC_CONST,
    TILEC_SPEC_OPTION,
    TILEC_SPEC_VALUE
} tilec_spec_kind;
typedef struct tilec_spec_entry {
    tilec_spec_kind kind;
    const char *name;   // a type or const parameter, or an option: "warps", "sanitize", "tune.ms"
    tilec_dtype dtype;  // for a type
    int64_t value;      // for a const or option; for a value the address of its text
} tilec_spec_entry;
typedef struct tilec_spec {
    size_t count;
    const tilec_spec_entry *entries;
} tilec_spec;

// A type parameter that the specialisation leaves open is taken from the arguments at launch; a
// const without a default must be given. `spec` may be NULL.
TILEC_API tilec_status tilec_kernel_from_file(tilec_context *context, tilec_device *device,
                                              const char *path, const char *kernel,
                                              const tilec_spec *spec, tilec_kernel **out);
// `name` is the text's name in messages; imports are relative to it.
TILEC_API tilec_status tilec_kernel_from_source(tilec_context *context, tilec_device *device,
                                                const char *name, const char *text, size_t length,
                                                const char *kernel, const tilec_spec *spec,
                                                tilec_kernel **out);
TILEC_API void tilec_kernel_destroy(tilec_kernel *kernel);

// ---- Sources: a file or a text, read once, for many kernels
//
// Invariants: an open source has no errors. Its file is not read again; an imported file is read
// when a kernel first needs it. Kernels keep what they need of their source, so it may be closed
// before they are destroyed. Several threads may use one source; one of them at a time compiles a
// kernel of it, and others that need the compiler for a kernel of it wait.
// Ownership: the context's. Destroying the context closes the source.
//
//     tilec_source *source = NULL;
//     if (tilec_source_open(ctx, "layers.py", &source) ||
//         tilec_kernel_from_open(source, dev, "add_kernel", NULL, &add) ||
//         tilec_kernel_from_open(source, dev, "mul_kernel", NULL, &mul)) …
//     tilec_source_close(source);
TILEC_API tilec_status tilec_source_open(tilec_context *context, const char *path,
                                         tilec_source **source);
// The arguments are those of tilec_kernel_from_source.
TILEC_API tilec_status tilec_source_open_text(tilec_context *context, const char *name,
                                              const char *text, size_t length,
                                              tilec_source **source);
// Its kernels, in the order of the text. A name lives until the source is closed.
TILEC_API tilec_status tilec_source_kernel_count(tilec_source *source, size_t *count);
TILEC_API tilec_status tilec_source_kernel_name(tilec_source *source, size_t index,
                                                const char **name);
// `kernel` may be NULL if there is only one; `spec` may be NULL. Diagnostics are those of this
// kernel: warnings about the rest of the text came with the call that opened the source.
TILEC_API tilec_status tilec_kernel_from_open(tilec_source *source, tilec_device *device,
                                              const char *kernel, const tilec_spec *spec,
                                              tilec_kernel **out);
TILEC_API void tilec_source_close(tilec_source *source);

// ---- Kernel information. The texts live as long as the kernel. All but the name need its types:
// while one is open they give TILEC_INVALID_ARGUMENT.
TILEC_API const char *tilec_kernel_name(const tilec_kernel *kernel);

typedef enum tilec_param_kind {
    TILEC_PARAM_SCALAR,
    TILEC_PARAM_POINTER,
    TILEC_PARAM_VIEW
} tilec_param_kind;
// A parameter that takes an argument; type and const parameters are not listed.
typedef struct tilec_param {
    const char *name;
    tilec_param_kind kind;
    tilec_dtype dtype;                        // element type of a scalar, a pointer or a view
    int32_t rank;                             // for a view
    int32_t strided, read, written;           // 0 or 1
    const char *extent_name[TILEC_MAX_RANK];  // NULL: the extent is fixed
    int64_t extent[TILEC_MAX_RANK];           // its value if it is fixed
} tilec_param;
TILEC_API tilec_status tilec_kernel_param_count(tilec_kernel *kernel, size_t *count);
TILEC_API tilec_status tilec_kernel_param(tilec_kernel *kernel, size_t index, tilec_param *param);
TILEC_API tilec_status tilec_kernel_variant_count(tilec_kernel *kernel, size_t *count);
// Everything known about the kernel, as JSON: the output of `tilec emit --as metadata`.
TILEC_API tilec_status tilec_kernel_metadata(tilec_kernel *kernel, const char **json);

// ---- Launch

typedef enum tilec_arg_kind {
    TILEC_ARG_VIEW,
    TILEC_ARG_POINTER,  // raw and trusted, or a buffer with an offset in bytes
    TILEC_ARG_INT,
    TILEC_ARG_UINT,
    TILEC_ARG_DOUBLE,  // for floating-point parameters as well
    TILEC_ARG_NONE     // Python's None, for kernels of Python files
} tilec_arg_kind;
typedef struct tilec_arg {
    tilec_arg_kind kind;
    tilec_view view;
    void *pointer;
    tilec_buffer buffer;
    size_t offset;
    int64_t integer;
    uint64_t natural;
    double real;
} tilec_arg;
TILEC_API tilec_arg tilec_arg_view(tilec_view view);
// NULL is refused only if every program of the kernel dereferences the pointer.
TILEC_API tilec_arg tilec_arg_pointer(const void *pointer);
TILEC_API tilec_arg tilec_arg_buffer(tilec_buffer buffer, size_t offset);
TILEC_API tilec_arg tilec_arg_int(int64_t value);
TILEC_API tilec_arg tilec_arg_uint(uint64_t value);
TILEC_API tilec_arg tilec_arg_double(double value);
// The parameter is None in the kernel, which is compiled for that. Only kernels of Python files
// take it.
TILEC_API tilec_arg tilec_arg_none(void);

// Checks the arguments against the kernel (types, extents, requires), chooses the variant, computes
// the grid and launches. Scalars must fit their parameter's type. Arguments are in the order of the
// scalar, pointer and view parameters; type and const parameters take none. A pointer also takes a
// view of any strides: its element type is checked, and the pointer reaches the view's memory.
//
// A kernel of a Python file takes types from the arguments: those of pointers from views, integers
// are i32, else i64, else u64, floating-point numbers f32. It needs TILEC_GRID; without it
// tilec_launch_grid gives the grid.
TILEC_API tilec_status tilec_launch(tilec_kernel *kernel, tilec_stream *stream,
                                    const tilec_arg *args, size_t count);
// Launches with the host's own grid, on the given variant: 0 is the general one, -1 the best that
// fits the arguments.
TILEC_API tilec_status tilec_launch_grid(tilec_kernel *kernel, tilec_stream *stream, int variant,
                                         const int64_t grid[3], const tilec_arg *args,
                                         size_t count);
// Makes the same checks as tilec_launch and prepares everything that such a launch needs, but
// launches nothing, except to measure (TILEC_TUNE); then the arrays are as before when it returns.
// A later launch with the same types, extents and strides, and the same overlaps between arrays,
// then allocates, loads and waits for nothing, as long as at most 64 launches of the device are
// pending. Other launches may choose another variant, which has to be compiled. Only interp and
// sim, which are reference devices and not for production, allocate memory in each launch.
TILEC_API tilec_status tilec_kernel_prepare(tilec_kernel *kernel, tilec_stream *stream,
                                            const tilec_arg *args, size_t count);
// The same for tilec_launch_grid.
TILEC_API tilec_status tilec_kernel_prepare_grid(tilec_kernel *kernel, tilec_stream *stream,
                                                 int variant, const int64_t grid[3],
                                                 const tilec_arg *args, size_t count);

// Measures every choice of the kernel's tune space with these arguments, for about `seconds`,
// which include compiling, and keeps the best for launches of the same types and extents (rounded
// up to powers of two): in the context, and in the user's table. Waits for the stream. The arrays
// are as before when it returns; no other work may use them meanwhile. A kernel without a tune
// space is a success. TILEC_UNSUPPORTED: launches have effects that cannot be undone (the kernel
// prints, writes through pointers, uses atomics of the system's scope), the kernel has sanitize or
// belongs to a built library, or the stream is captured.
TILEC_API tilec_status tilec_tune(tilec_kernel *kernel, tilec_stream *stream, const tilec_arg *args,
                                  size_t count, double seconds);

// The kernel as a plain C function. It takes, in the order of the kernel's parameters: each scalar
// by value (f16, bf16 and fp8 as float); each pointer as a pointer; each view as a pointer to its
// first element, followed by int64_t values: its extents that are neither fixed nor given by an
// earlier view, then, if it is strided, all its strides. It launches on the device's first stream,
// waits, and returns the status. kernel softmax(f32 x[R, C], f32 y[R, C]) is called like this:
//
//     tilec_function_pointer f;
//     if (tilec_function(k, &f)) …
//     tilec_status (*softmax)(const float *x, int64_t R, int64_t C, float *y);
//     softmax = (tilec_status(*)(const float *, int64_t, int64_t, float *))f;
//
// The kernel owns the function; it may be called from several threads, and each call here returns
// the same one. TILEC_UNAVAILABLE if the library was built without libffi or there is no executable
// memory.
typedef void (*tilec_function_pointer)(void);
TILEC_API tilec_status tilec_function(tilec_kernel *kernel, tilec_function_pointer *function);
// "tilec_status softmax(const float *x, int64_t R, int64_t C, float *y)"
TILEC_API tilec_status tilec_function_signature(tilec_kernel *kernel, const char **text);

#ifdef __cplusplus
}
#endif

#include <tilec/args.h>

#endif
