// Reads the metadata note: a map in MessagePack, of which only the kernels' part is used.
#include <string.h>

#include "base/status.h"
#include "base/vec.h"
#include "target/amd_object.h"

enum { DEPTH_MAX = 16, ARGS_MAX = 4096 };

typedef enum MetadataKind { NOTHING, NUMBER, TEXT, ARRAY, MAP } MetadataKind;

typedef struct Value {
    MetadataKind kind;
    uint64_t number;  // also the count of entries
    Str text;
} Value;

typedef struct AmdMetadataReader {
    Arena *arena;
    AmdBytes bytes;
    AmdObjectKernel *kernels;
    uint32_t count;
} AmdMetadataReader;

static uint64_t big(AmdBytes *b, uint32_t size) {
    uint64_t value = amd_take(b, size);
    return __builtin_bswap64(value) >> (64 - 8 * size);
}

// Reads the next value's head. The entries of an array or a map follow it.
static Value take(AmdBytes *b) {
    uint32_t tag = (uint32_t)amd_take(b, 1);
    if (tag < 0x80 || tag >= 0xe0) return (Value){.kind = NUMBER, .number = (uint64_t)(int8_t)tag};
    if (tag < 0x90) return (Value){.kind = MAP, .number = tag & 15};
    if (tag < 0xa0) return (Value){.kind = ARRAY, .number = tag & 15};
    if (tag < 0xc0) return (Value){.kind = TEXT, .text = amd_take_bytes(b, tag & 31)};
    switch (tag) {
    case 0xc2:
    case 0xc3: return (Value){.kind = NUMBER, .number = tag & 1};
    case 0xc4:
    case 0xc5:
    case 0xc6: return (Value){.kind = TEXT, .text = amd_take_bytes(b, big(b, 1u << (tag - 0xc4)))};
    case 0xca: return (Value){.kind = NUMBER, .number = big(b, 4)};
    case 0xcb: return (Value){.kind = NUMBER, .number = big(b, 8)};
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf: return (Value){.kind = NUMBER, .number = big(b, 1u << (tag - 0xcc))};
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3: return (Value){.kind = NUMBER, .number = big(b, 1u << (tag - 0xd0))};
    case 0xd9:
    case 0xda:
    case 0xdb: return (Value){.kind = TEXT, .text = amd_take_bytes(b, big(b, 1u << (tag - 0xd9)))};
    case 0xdc:
    case 0xdd: return (Value){.kind = ARRAY, .number = big(b, 2u << (tag - 0xdc))};
    case 0xde:
    case 0xdf: return (Value){.kind = MAP, .number = big(b, 2u << (tag - 0xde))};
    default: return (Value){.kind = NOTHING};
    }
}

// Skips the contents of a value whose head has been read.
static void skip(AmdBytes *b, Value v, int depth) {
    if (v.kind != ARRAY && v.kind != MAP) return;
    if (depth == DEPTH_MAX) b->bad = true;
    uint64_t count = v.kind == MAP ? 2 * v.number : v.number;
    for (uint64_t i = 0; i < count && !b->bad; i++) skip(b, take(b), depth + 1);
}

static AmdArgKind kind_of(Str text) {
    static const struct {
        const char *name;
        AmdArgKind kind;
    } kinds[] = {
        {"by_value", AMD_ARG_VALUE},
        {"global_buffer", AMD_ARG_BUFFER},
        {"dynamic_shared_pointer", AMD_ARG_LDS},
#define AMD_HIDDEN(name, text) {text, AMD_HIDDEN_##name},
#include "target/amd_hidden.def"
#undef AMD_HIDDEN
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_equal(text, str(kinds[i].name))) return kinds[i].kind;
    return str_starts(text, STR("hidden_")) ? AMD_ARG_HIDDEN_OTHER : AMD_ARG_VALUE;
}

static AmdArg read_arg(AmdBytes *b, Value map) {
    AmdArg arg = {0};
    for (uint64_t i = 0; map.kind == MAP && i < map.number && !b->bad; i++) {
        Value key = take(b), v = take(b);
        if (str_equal(key.text, STR(".offset"))) arg.offset = (uint32_t)v.number;
        if (str_equal(key.text, STR(".size"))) arg.size = (uint32_t)v.number;
        if (str_equal(key.text, STR(".name"))) arg.name = v.text;
        if (str_equal(key.text, STR(".value_kind"))) arg.kind = kind_of(v.text);
        skip(b, v, 0);
    }
    return arg;
}

static void read_args(AmdMetadataReader *r, Value list, AmdObjectKernel *k) {
    if (list.kind != ARRAY || list.number > ARGS_MAX) {
        r->bytes.bad = true;
        return;
    }
    AmdArg *args = arena_new(r->arena, AmdArg, list.number + 1);
    for (uint64_t i = 0; i < list.number && !r->bytes.bad; i++)
        args[i] = read_arg(&r->bytes, take(&r->bytes));
    k->args = args, k->arg_count = (uint32_t)list.number;
}

static void read_required(AmdBytes *b, Value list, AmdObjectKernel *k) {
    for (uint64_t i = 0; list.kind == ARRAY && i < list.number && !b->bad; i++) {
        Value v = take(b);
        if (i < 3) k->required[i] = (uint32_t)v.number;
        skip(b, v, 0);
    }
}

void amd_metadata_number(AmdObjectKernel *k, Str key, uint64_t value) {
    const struct {
        const char *name;
        uint32_t *to;
    } numbers[] = {{".max_flat_workgroup_size", &k->max_threads},
                   {".vgpr_count", &k->vgprs},
                   {".agpr_count", &k->agprs},
                   {".sgpr_count", &k->sgprs},
                   {".vgpr_spill_count", &k->vgpr_spills},
                   {".sgpr_spill_count", &k->sgpr_spills},
                   {".wavefront_size", &k->lanes},
                   {".group_segment_fixed_size", &k->lds},
                   {".private_segment_fixed_size", &k->scratch}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (str_equal(key, str(numbers[i].name))) *numbers[i].to = (uint32_t)value;
}

static void read_kernel(AmdMetadataReader *r, Value map) {
    AmdObjectKernel k = {0};
    AmdBytes *b = &r->bytes;
    for (uint64_t i = 0; map.kind == MAP && i < map.number && !b->bad; i++) {
        Value key = take(b), v = take(b);
        if (str_equal(key.text, STR(".name"))) k.name = v.text;
        if (v.kind == NUMBER) amd_metadata_number(&k, key.text, v.number);
        if (str_equal(key.text, STR(".args")))
            read_args(r, v, &k);
        else if (str_equal(key.text, STR(".reqd_workgroup_size")))
            read_required(b, v, &k);
        else
            skip(b, v, 0);
    }
    for (uint32_t i = 0; i < r->count; i++) {
        AmdObjectKernel *to = &r->kernels[i];
        if (!str_equal(to->name, k.name)) continue;
        k.name = to->name, k.descriptor = to->descriptor, k.address = to->address;
        k.begin = to->begin, k.size = to->size, k.described = true;
        *to = k;
    }
}

static bool check_args(const AmdObjectKernel *k, Diags *diags) {
    for (uint32_t i = 0; i < k->arg_count; i++) {
        const AmdArg *a = &k->args[i];
        if (a->offset <= k->descriptor.kernarg && a->size <= k->descriptor.kernarg - a->offset)
            continue;
        diag_error(diags, (Span){0}, DIAG_UNSUPPORTED,
                   "the code object's kernel '%.*s' has an argument beyond the %u bytes of its "
                   "arguments",
                   STR_ARG(k->name), k->descriptor.kernarg);
        return false;
    }
    return true;
}

bool amd_metadata_read(Arena *arena, Str note, AmdObjectKernel *kernels, uint32_t count,
                       Diags *diags) {
    AmdMetadataReader r = {
        .arena = arena, .bytes = {.bytes = note}, .kernels = kernels, .count = count};
    Value all = take(&r.bytes);
    for (uint64_t i = 0; all.kind == MAP && i < all.number && !r.bytes.bad; i++) {
        Value key = take(&r.bytes), v = take(&r.bytes);
        if (!str_equal(key.text, STR("amdhsa.kernels")) || v.kind != ARRAY) {
            skip(&r.bytes, v, 0);
            continue;
        }
        for (uint64_t k = 0; k < v.number && !r.bytes.bad; k++) read_kernel(&r, take(&r.bytes));
    }
    if (r.bytes.bad || all.kind != MAP) {
        diag_error(diags, (Span){0}, DIAG_UNSUPPORTED, "the code object's metadata is damaged");
        return false;
    }
    for (uint32_t i = 0; i < count; i++) TRY(check_args(&kernels[i], diags));
    return true;
}
