// AMD code objects: the ELF file that HIP's loader is given.
//
// Purpose: kernels with their descriptors and metadata, the bytes of the code, the image in memory,
// line tables.
// Invariants: the bytes may be anything. All offsets used are checked to be within them, and
// contradictions are refused with a message. Only the image is copied.
// Ownership: the arena; the bytes must outlive it.
//
//     const AmdObject *o = amd_object_read(arena, bytes, diags);
//     if (!o) …
//     o->kernels[0].descriptor.lds;
#ifndef TILEC_TARGET_AMD_OBJECT_H
#define TILEC_TARGET_AMD_OBJECT_H

#include "base/diag.h"
#include "target/chip.h"

// The 64 bytes of the symbol NAME.kd, as the AMDGPU ABI defines them.
typedef struct AmdDescriptor {
    uint32_t lds, scratch, kernarg;  // bytes
    int64_t entry;                   // offset of the first instruction from the descriptor
    uint32_t rsrc1, rsrc2, rsrc3;
    uint16_t properties, preload;
} AmdDescriptor;
// The number of dimensions of the work-item id that the kernel is given: 1 to 3.
#define AMD_ITEM_DIMENSIONS(d) (((d)->rsrc2 >> 11 & 3) + 1)

// Bits of `properties`, in the order of the registers they ask for.
typedef enum AmdProperty {
    AMD_PRIVATE_BUFFER = 1,  // 4 registers; the others 2, AMD_PRIVATE_SIZE 1
    AMD_DISPATCH_PTR = 2,
    AMD_QUEUE_PTR = 4,
    AMD_KERNARG_PTR = 8,
    AMD_DISPATCH_ID = 16,
    AMD_FLAT_SCRATCH = 32,
    AMD_PRIVATE_SIZE = 64,
    AMD_WAVE32 = 1 << 10
} AmdProperty;

typedef enum AmdArgKind {
    AMD_ARG_VALUE,
    AMD_ARG_BUFFER,
    AMD_ARG_LDS,  // dynamic LDS: an offset
#define AMD_HIDDEN(name, text) AMD_HIDDEN_##name,
#include "target/amd_hidden.def"
#undef AMD_HIDDEN
    AMD_ARG_HIDDEN_OTHER  // 0
} AmdArgKind;

typedef struct AmdArg {
    Str name;
    AmdArgKind kind;
    uint32_t offset, size;
} AmdArg;

typedef struct AmdObjectKernel {
    Str name;
    AmdDescriptor descriptor;
    uint64_t address, begin, size;  // address of the descriptor; offset and size of the code
    const AmdArg *args;             // from the metadata
    uint32_t arg_count;
    bool described;                     // has metadata
    uint32_t max_threads, required[3];  // 0: not given
    uint32_t vgprs, agprs, sgprs, vgpr_spills, sgpr_spills, lanes;
    uint32_t lds, scratch;  // bytes of a program, and of a thread
} AmdObjectKernel;

typedef struct AmdLine {
    uint64_t address;
    Str file;
    uint32_t line, column;  // line 0: the place is unknown from here on
} AmdLine;

typedef struct AmdObject {
    uint32_t mach;     // the processor's number in the ELF header
    GpuTarget target;  // vendor GPU_NONE: an unknown processor
    uint32_t version;  // code object version: 4, 5, 6
    const AmdObjectKernel *kernels;
    uint32_t kernel_count;
    uint8_t *image;  // memory from address 0 on
    uint64_t image_size;
    const uint64_t *relocations;  // offsets in the image of words that hold addresses within it
    uint32_t relocation_count;
    const AmdLine *lines;  // ascending
    uint32_t line_count;
} AmdObject;

const AmdObject *amd_object_read(Arena *arena, Str bytes, Diags *diags);

// Reads only a kernel's metadata from the object, which need not be linked. False: the metadata is
// damaged or does not name the kernel.
bool amd_object_facts(Arena *arena, Str bytes, Str name, AmdObjectKernel *kernel);
// Reads the same numbers of the only kernel in assembly that LLVM printed.
bool amd_assembly_facts(Str text, AmdObjectKernel *kernel);

// ---- The parts ----

// Reads "amdhsa.kernels" of the metadata into the kernels it names.
bool amd_metadata_read(Arena *arena, Str note, AmdObjectKernel *kernels, uint32_t count,
                       Diags *diags);
// Sets the field that a key of a kernel's map names; other keys do nothing.
void amd_metadata_number(AmdObjectKernel *kernel, Str key, uint64_t value);
// Reads DWARF 5 line programs. Sections may be empty. Parts that are not understood give no lines.
void amd_lines_read(Arena *arena, Str lines, Str line_strings, Str strings, AmdObject *object);

// Reads little-endian numbers; false (and 0) beyond the end.
typedef struct AmdBytes {
    Str bytes;
    size_t at;
    bool bad;  // a read went beyond the end
} AmdBytes;
uint64_t amd_take(AmdBytes *b, uint32_t size);
Str amd_take_bytes(AmdBytes *b, uint64_t size);

#endif
