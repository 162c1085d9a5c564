// ELF, and the kernel descriptors in it.
#include "target/amd_object.h"

#include <string.h>

#include "base/status.h"
#include "base/vec.h"

enum {
    HEADER = 64,
    SECTION = 64,
    SEGMENT = 56,
    SYMBOL = 24,
    DESCRIPTOR = 64,
    MACHINE = 224,
    OS_HSA = 64,
    LOAD = 1,
    IMAGE_MAX = 64 << 20,
    ARGUMENTS_MAX = 1 << 20,
    KERNELS_MAX = 4096,
    SECTION_SYMBOLS = 2,
    SECTION_RELOCATIONS = 4,
    SECTION_NOTE = 7,
    NOBITS = 8,
    SYMBOL_FUNCTION = 2,
    RELATIVE64 = 13,
    NOTE_METADATA = 32
};

uint64_t amd_take(AmdBytes *b, uint32_t size) {
    uint64_t value = 0;
    if (size > b->bytes.size - b->at) {
        b->bad = true, b->at = b->bytes.size;
        return 0;
    }
    for (uint32_t i = 0; i < size; i++)
        value |= (uint64_t)(uint8_t)b->bytes.text[b->at + i] << (8 * i);
    b->at += size;
    return value;
}

Str amd_take_bytes(AmdBytes *b, uint64_t size) {
    if (size > b->bytes.size - b->at) {
        b->bad = true, b->at = b->bytes.size;
        return (Str){"", 0};
    }
    Str s = {b->bytes.text + b->at, (size_t)size};
    b->at += (size_t)size;
    return s;
}

typedef struct Section {
    Str name, bytes;
    uint32_t type, link;
    uint64_t address;
} Section;

typedef struct AmdObjectReader {
    Arena *arena;
    Diags *diags;
    Str bytes;
    Section *sections;
    uint32_t section_count;
    AmdObject *object;
    VEC(AmdObjectKernel) kernels;
    VEC(uint64_t) relocations;
} AmdObjectReader;

static bool refuse(AmdObjectReader *r, const char *what) {
    diag_error(r->diags, (Span){0}, DIAG_UNSUPPORTED, "the code object %s", what);
    return false;
}

static AmdBytes from(Str bytes, uint64_t at) {
    AmdBytes b = {.bytes = bytes, .at = at > bytes.size ? bytes.size : (size_t)at};
    b.bad = at > bytes.size;
    return b;
}
static uint64_t number_at(Str bytes, uint64_t at, uint32_t size) {
    AmdBytes b = from(bytes, at);
    return amd_take(&b, size);
}
static Str part(Str bytes, uint64_t at, uint64_t size) {
    AmdBytes b = from(bytes, at);
    return amd_take_bytes(&b, size);
}

// A NUL-terminated text that ends within the bytes.
static Str text_at(Str bytes, uint64_t at) {
    if (at >= bytes.size) return (Str){"", 0};
    const char *end = memchr(bytes.text + at, 0, bytes.size - (size_t)at);
    return end ? (Str){bytes.text + at, (size_t)(end - bytes.text) - (size_t)at} : (Str){"", 0};
}

static bool read_header(AmdObjectReader *r) {
    Str b = r->bytes;
    if (b.size < HEADER || memcmp(b.text, "\177ELF\2\1\1", 7) != 0)
        return refuse(r, "is not a 64-bit little-endian ELF file");
    if (number_at(b, 18, 2) != MACHINE || (uint8_t)b.text[7] != OS_HSA)
        return refuse(r, "is not for AMD GPUs under HSA");
    uint32_t abi = (uint8_t)b.text[8], flags = (uint32_t)number_at(b, 48, 4);
    r->object->version = abi + 2;  // ABI version 2 is code object version 4
    if (r->object->version < 4 || r->object->version > 6)
        return refuse(r, "has none of the versions 4, 5 and 6");
    r->object->mach = flags & 0xff;
    chip_by_elf(r->object->mach, &r->object->target);
    return true;
}

static bool read_sections(AmdObjectReader *r) {
    uint64_t at = number_at(r->bytes, 40, 8);
    uint32_t count = (uint32_t)number_at(r->bytes, 60, 2);
    uint32_t names = (uint32_t)number_at(r->bytes, 62, 2);
    if (number_at(r->bytes, 58, 2) != SECTION || names >= count)
        return refuse(r, "has no sections that name symbols");
    r->sections = arena_new(r->arena, Section, count);
    r->section_count = count;
    for (uint32_t i = 0; i < count; i++) {
        Str s = part(r->bytes, at + (uint64_t)i * SECTION, SECTION);
        if (!s.size) return refuse(r, "ends within its sections");
        Section *to = &r->sections[i];
        to->type = (uint32_t)number_at(s, 4, 4);
        to->address = number_at(s, 16, 8);
        to->link = (uint32_t)number_at(s, 40, 4);
        if (to->type != NOBITS)
            to->bytes = part(r->bytes, number_at(s, 24, 8), number_at(s, 32, 8));
    }
    for (uint32_t i = 0; i < count; i++) {
        Str s = part(r->bytes, at + (uint64_t)i * SECTION, SECTION);
        r->sections[i].name = text_at(r->sections[names].bytes, number_at(s, 0, 4));
    }
    return true;
}

// Reads the segments that the loader puts into memory.
static bool read_image(AmdObjectReader *r) {
    uint64_t at = number_at(r->bytes, 32, 8), size = 0;
    uint32_t count = (uint32_t)number_at(r->bytes, 56, 2);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < count; i++) {
            Str s = part(r->bytes, at + (uint64_t)i * SEGMENT, SEGMENT);
            if (!s.size) return refuse(r, "ends within its segments");
            if (number_at(s, 0, 4) != LOAD) continue;
            uint64_t address = number_at(s, 16, 8), bytes = number_at(s, 32, 8);
            uint64_t memory = number_at(s, 40, 8);
            Str contents = part(r->bytes, number_at(s, 8, 8), bytes);
            if (contents.size != bytes || memory < bytes || address > IMAGE_MAX ||
                memory > IMAGE_MAX)
                return refuse(r, "has a segment that is not within it, or too large");
            if (address + memory > size) size = address + memory;
            if (pass) memcpy(r->object->image + address, contents.text, contents.size);
        }
        if (!pass) r->object->image = arena_alloc(r->arena, size + 1);
        r->object->image_size = size;
    }
    return true;
}

static Str image_of(const AmdObjectReader *r, uint64_t address, uint64_t size) {
    Str all = {(const char *)r->object->image, (size_t)r->object->image_size};
    return part(all, address, size);
}

static void read_descriptor(Str s, AmdDescriptor *d) {
    d->lds = (uint32_t)number_at(s, 0, 4);
    d->scratch = (uint32_t)number_at(s, 4, 4);
    d->kernarg = (uint32_t)number_at(s, 8, 4);
    d->entry = (int64_t)number_at(s, 16, 8);
    d->rsrc3 = (uint32_t)number_at(s, 44, 4);
    d->rsrc1 = (uint32_t)number_at(s, 48, 4);
    d->rsrc2 = (uint32_t)number_at(s, 52, 4);
    d->properties = (uint16_t)number_at(s, 56, 2);
    d->preload = (uint16_t)number_at(s, 58, 2);
}

static bool add_kernel(AmdObjectReader *r, Str name, uint64_t address) {
    Str bytes = image_of(r, address, DESCRIPTOR);
    if (bytes.size != DESCRIPTOR) return refuse(r, "has a kernel descriptor outside of its memory");
    for (size_t i = 0; i < r->kernels.count; i++)
        if (str_equal(r->kernels.data[i].name, name)) return true;
    if (r->kernels.count == KERNELS_MAX) return refuse(r, "has too many kernels");
    AmdObjectKernel k = {.name = name, .address = address};
    read_descriptor(bytes, &k.descriptor);
    k.begin = address + (uint64_t)k.descriptor.entry;
    if (k.begin >= r->object->image_size || k.begin % 4)
        return refuse(r, "has a kernel whose code is not within it");
    if (k.descriptor.kernarg > ARGUMENTS_MAX)
        return refuse(r, "has a kernel with more than a MiB of arguments");
    if (AMD_ITEM_DIMENSIONS(&k.descriptor) > 3)
        return refuse(r, "has a kernel whose work items have indices in four dimensions");
    vec_push(r->arena, &r->kernels, k);
    return true;
}

// Kernels are the objects that end in ".kd"; their code is as long as the function's symbol says.
static bool read_symbols(AmdObjectReader *r, const Section *s, bool sizes) {
    if (s->link >= r->section_count) return refuse(r, "has symbols without names");
    Str names = r->sections[s->link].bytes;
    for (uint64_t at = 0; at + SYMBOL <= s->bytes.size; at += SYMBOL) {
        Str name = text_at(names, number_at(s->bytes, at, 4));
        uint32_t type = (uint32_t)number_at(s->bytes, at + 4, 1) & 15;
        uint64_t value = number_at(s->bytes, at + 8, 8), size = number_at(s->bytes, at + 16, 8);
        if (!number_at(s->bytes, at + 6, 2)) continue;  // defined elsewhere
        if (!sizes && str_ends(name, STR(".kd")))
            TRY(add_kernel(r, (Str){name.text, name.size - 3}, value));
        for (size_t i = 0; sizes && type == SYMBOL_FUNCTION && i < r->kernels.count; i++)
            if (r->kernels.data[i].begin == value) r->kernels.data[i].size = size;
    }
    return true;
}

static bool read_kernels(AmdObjectReader *r) {
    for (int sizes = 0; sizes < 2; sizes++)
        for (uint32_t i = 0; i < r->section_count; i++)
            if (r->sections[i].type == SECTION_SYMBOLS || r->sections[i].type == 11)
                TRY(read_symbols(r, &r->sections[i], sizes));
    // The code of a kernel without a size extends to the end of its section.
    for (size_t k = 0; k < r->kernels.count; k++) {
        AmdObjectKernel *to = &r->kernels.data[k];
        for (uint32_t i = 0; !to->size && i < r->section_count; i++) {
            const Section *s = &r->sections[i];
            if (s->address && to->begin >= s->address && to->begin - s->address < s->bytes.size)
                to->size = s->bytes.size - (to->begin - s->address);
        }
        if (!image_of(r, to->begin, to->size).size)
            return refuse(r, "has a kernel whose code is not within it");
    }
    return true;
}

static bool read_relocations(AmdObjectReader *r) {
    enum { RELA = 24 };
    for (uint32_t i = 0; i < r->section_count; i++) {
        const Section *s = &r->sections[i];
        if (s->type != SECTION_RELOCATIONS || !s->address) continue;
        for (uint64_t at = 0; at + RELA <= s->bytes.size; at += RELA) {
            uint64_t place = number_at(s->bytes, at, 8), to = number_at(s->bytes, at + 16, 8);
            if ((uint32_t)number_at(s->bytes, at + 8, 4) != RELATIVE64)
                return refuse(r, "has relocations that refer to other objects");
            if (image_of(r, place, 8).size != 8)
                return refuse(r, "has a relocation outside of its memory");
            memcpy(r->object->image + place, &to, sizeof to);
            vec_push(r->arena, &r->relocations, place);
        }
    }
    return true;
}

static bool read_notes(AmdObjectReader *r) {
    for (uint32_t i = 0; i < r->section_count; i++) {
        if (r->sections[i].type != SECTION_NOTE) continue;
        AmdBytes b = from(r->sections[i].bytes, 0);
        while (b.at < b.bytes.size) {
            uint64_t name_size = amd_take(&b, 4), size = amd_take(&b, 4), type = amd_take(&b, 4);
            Str name = amd_take_bytes(&b, (name_size + 3) & ~UINT64_C(3));
            Str contents = amd_take_bytes(&b, size);
            b.at += (4 - b.at % 4) % 4;
            if (b.at > b.bytes.size) b.at = b.bytes.size;
            if (b.bad) return refuse(r, "has a note that ends early");
            if (type == NOTE_METADATA && str_starts(name, STR("AMDGPU")))
                TRY(amd_metadata_read(r->arena, contents, r->kernels.data,
                                      (uint32_t)r->kernels.count, r->diags));
        }
    }
    return true;
}

bool amd_object_facts(Arena *arena, Str bytes, Str name, AmdObjectKernel *kernel) {
    Diags *unheard = diags_create(arena, sources_create(arena));
    AmdObjectReader r = {.arena = arena, .diags = unheard, .bytes = bytes};
    r.object = arena_new(arena, AmdObject, 1);
    AmdObjectKernel k = {.name = name, .descriptor.kernarg = ARGUMENTS_MAX};
    vec_push(arena, &r.kernels, k);
    if (!read_header(&r) || !read_sections(&r) || !read_notes(&r)) return false;
    *kernel = r.kernels.data[0];
    return kernel->described;
}

static Str section_named(const AmdObjectReader *r, const char *name) {
    for (uint32_t i = 0; i < r->section_count; i++)
        if (str_equal(r->sections[i].name, str(name))) return r->sections[i].bytes;
    return (Str){"", 0};
}

const AmdObject *amd_object_read(Arena *arena, Str bytes, Diags *diags) {
    AmdObjectReader *r = arena_new(arena, AmdObjectReader, 1);
    r->arena = arena, r->diags = diags, r->bytes = bytes;
    r->object = arena_new(arena, AmdObject, 1);
    if (!read_header(r) || !read_sections(r) || !read_image(r) || !read_kernels(r) ||
        !read_relocations(r) || !read_notes(r))
        return NULL;
    AmdObject *o = r->object;
    o->kernels = r->kernels.data, o->kernel_count = (uint32_t)r->kernels.count;
    o->relocations = r->relocations.data, o->relocation_count = (uint32_t)r->relocations.count;
    amd_lines_read(arena, section_named(r, ".debug_line"), section_named(r, ".debug_line_str"),
                   section_named(r, ".debug_str"), o);
    return o;
}
