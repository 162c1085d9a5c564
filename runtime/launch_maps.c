#include "runtime/launch_maps.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/context.h"

enum {
    SLOTS = 4,
    VIEW_WORDS = 1 + 2 * META_MAX_RANK,  // of a view in the block, at most
    WRITER = 1 << 30
};

typedef struct MapMemo {
    _Atomic(uint32_t) users;     // readers, or WRITER
    const MetaVariant *variant;  // NULL: empty
    uint64_t views[GPU_MAPS][VIEW_WORDS];
    uint8_t maps[GPU_MAPS * GPU_MAP_BYTES];
} MapMemo;

struct LaunchMapMemos {
    MapMemo memos[SLOTS];
};

bool launch_has_maps(const tilec_device *device) {
    return device->api->has_maps && device->api->has_maps(device);
}

// ---- Making ----

static const MetaVariant *variant_of(const RtLaunch *l) { return &l->meta->variants[l->variant]; }

static const MetaArg *arg_of(const RtLaunch *l, uint32_t map) {
    return &l->meta->args[variant_of(l)->maps[map].arg];
}

static const uint8_t *view_of(const RtLaunch *l, uint32_t map) {
    return (const uint8_t *)l->block + arg_of(l, map)->offset;
}

// The stride of a dimension in elements.
static int64_t stride_of(const MetaArg *arg, const int64_t *extent, uint32_t dim) {
    int64_t stride = 1;
    if (arg->strided) return extent[arg->rank + dim];
    for (uint32_t d = dim + 1; d < arg->rank; d++) stride *= extent[d];
    return stride;
}

// Maps copy bits: elements that they have no type for are numbers of their width.
static GpuMapType type_of(Dtype t) {
    static const uint8_t types[DTYPES] = {
        [DTYPE_I16] = GPU_MAP_U16, [DTYPE_I32] = GPU_MAP_S32,   [DTYPE_I64] = GPU_MAP_S64,
        [DTYPE_U16] = GPU_MAP_U16, [DTYPE_U32] = GPU_MAP_U32,   [DTYPE_U64] = GPU_MAP_U64,
        [DTYPE_F16] = GPU_MAP_F16, [DTYPE_BF16] = GPU_MAP_BF16, [DTYPE_F32] = GPU_MAP_F32,
        [DTYPE_F64] = GPU_MAP_F64};
    return (GpuMapType)types[t];
}
_Static_assert(GPU_MAP_U8 == 0, "the type of all others");

// 32, 64 and 128 bytes have the numbers 1, 2, 3.
static GpuMapSwizzle swizzle_of(uint32_t bytes) {
    return bytes ? (GpuMapSwizzle)(__builtin_ctz(bytes) - 4) : GPU_MAP_SWIZZLE_NONE;
}

static GpuMapFacts facts_of(const RtLaunch *l, uint32_t number) {
    const MetaMap *m = &variant_of(l)->maps[number];
    const MetaArg *arg = arg_of(l, number);
    int64_t words[VIEW_WORDS];
    memcpy(words, view_of(l, number), arg->size);
    GpuMapFacts f = {.type = type_of(m->dtype),
                     .rank = m->rank,
                     .address = (uint64_t)words[0],
                     .swizzle = swizzle_of(m->swizzle),
                     .l2 = m->promotion,
                     .nan = m->fill == META_FILL_NAN};
    for (uint32_t i = 0; i < m->rank; i++) {
        int64_t stride = stride_of(arg, words + 1, m->axes[i]) * (int64_t)dtype_size(m->dtype);
        f.dims[i] = (uint64_t)words[1 + m->axes[i]];
        f.box[i] = m->box[i];
        f.steps[i] = 1;
        if (i) f.strides[i - 1] = (uint64_t)stride;
    }
    return f;
}

tilec_status launch_maps_make(tilec_device *device, RtLaunch *l, uint8_t *room) {
    uint32_t count = variant_of(l)->map_count;
    if (!launch_has_maps(device))
        return rt_fail(device->context, TILEC_UNSUPPORTED,
                       "%.*s: variant %u takes tensor maps, which device %s does not have",
                       STR_ARG(l->meta->name), l->variant, device->name);
    for (uint32_t i = 0; i < count; i++) {
        GpuMapFacts facts = facts_of(l, i);
        tilec_status s = device->api->encode_map(device, &facts, room + i * GPU_MAP_BYTES);
        if (s) return s;
    }
    l->maps = room;
    return TILEC_OK;
}

// ---- Keeping ----

static struct LaunchMapMemos *memos_of(tilec_kernel *kernel) {
    struct LaunchMapMemos *found = atomic_load_explicit(&kernel->maps, memory_order_acquire);
    if (found) return found;
    struct LaunchMapMemos *made = calloc(1, sizeof *made);
    if (!made || atomic_compare_exchange_strong(&kernel->maps, &found, made)) return made;
    free(made);
    return found;
}

// The slot follows from the addresses: launches that take turns with a few sets of arrays have one
// each.
static uint32_t slot_of(const RtLaunch *l) {
    uint64_t hash = 0, address;
    for (uint32_t i = 0; i < variant_of(l)->map_count; i++) {
        memcpy(&address, view_of(l, i), sizeof address);
        hash = (hash + address) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return (uint32_t)(hash >> 62);
}
_Static_assert(SLOTS == 4, "two bits of the hash");

static bool same_view(const RtLaunch *l, const MapMemo *m, uint32_t number) {
    const uint8_t *view = view_of(l, number);
    uint32_t words = arg_of(l, number)->size / 8;
    uint64_t word;
    for (uint32_t i = 0; i < words; i++) {
        memcpy(&word, view + (size_t)i * 8, 8);
        if (word != m->views[number][i]) return false;
    }
    return true;
}

static bool is_for(const MapMemo *m, const RtLaunch *l) {
    if (m->variant != variant_of(l)) return false;
    for (uint32_t i = 0; i < m->variant->map_count; i++)
        if (!same_view(l, m, i)) return false;
    return true;
}

static bool hold(MapMemo *m, RtLaunch *l, LaunchMaps *maps) {
    uint32_t before = atomic_fetch_add_explicit(&m->users, 1, memory_order_acquire);
    if (!(before & WRITER) && is_for(m, l)) {
        maps->held = m;
        l->maps = m->maps;
        return true;
    }
    atomic_fetch_sub_explicit(&m->users, 1, memory_order_release);
    return false;
}

static void remember(MapMemo *m, const RtLaunch *l) {
    uint32_t none = 0, count = variant_of(l)->map_count;
    if (!atomic_compare_exchange_strong_explicit(&m->users, &none, WRITER, memory_order_acquire,
                                                 memory_order_relaxed))
        return;
    m->variant = variant_of(l);
    for (uint32_t i = 0; i < count; i++) memcpy(m->views[i], view_of(l, i), arg_of(l, i)->size);
    memcpy(m->maps, l->maps, (size_t)count * GPU_MAP_BYTES);
    atomic_fetch_sub_explicit(&m->users, WRITER, memory_order_release);
}

tilec_status launch_maps_begin(tilec_kernel *kernel, RtLaunch *l, LaunchMaps *maps) {
    struct LaunchMapMemos *memos = memos_of(kernel);
    MapMemo *memo = memos ? &memos->memos[slot_of(l)] : NULL;
    maps->held = NULL;
    if (memo && hold(memo, l, maps)) return TILEC_OK;
    tilec_status s = launch_maps_make(kernel->device, l, maps->room);
    if (!s && memo) remember(memo, l);
    return s;
}

void launch_maps_end(LaunchMaps *maps) {
    if (maps->held) atomic_fetch_sub_explicit(&maps->held->users, 1, memory_order_release);
}

void launch_maps_forget(tilec_kernel *kernel) { free(atomic_exchange(&kernel->maps, NULL)); }
