#include "runtime/launch_maps.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/context.h"

enum {
    SLOTS = 4,
    VIEW_BYTES = 8 * (1 + 2 * META_MAX_RANK),  // of a view in the block, at most
    WRITER = 1 << 30
};

// Bytes of the block: views that maps describe, one after the other.
typedef struct MapRange {
    uint32_t offset, size;
} MapRange;

typedef struct MapMemo {
    _Atomic(uint32_t) users;     // readers, or WRITER
    const MetaVariant *variant;  // NULL: empty
    uint32_t range_count;
    MapRange ranges[GPU_MAPS];
    uint8_t views[GPU_MAPS * VIEW_BYTES];  // the bytes of all ranges
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

static uint64_t word_of(const uint8_t *view, uint32_t number) {
    uint64_t word;
    memcpy(&word, view + (size_t)number * 8, sizeof word);
    return word;
}

// The stride of a dimension in elements.
static uint64_t stride_of(const MetaArg *arg, const uint8_t *view, uint32_t dim) {
    uint64_t stride = 1;
    if (arg->strided) return word_of(view, 1 + arg->rank + dim);
    for (uint32_t d = dim + 1; d < arg->rank; d++) stride *= word_of(view, 1 + d);
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

// Only the entries of the map's dimensions are set.
static void fill_facts(const RtLaunch *l, uint32_t number, GpuMapFacts *f) {
    const MetaMap *m = &variant_of(l)->maps[number];
    const MetaArg *arg = arg_of(l, number);
    const uint8_t *view = view_of(l, number);
    uint64_t size = dtype_size(m->dtype);
    f->type = type_of(m->dtype);
    f->rank = m->rank;
    f->address = word_of(view, 0);
    f->swizzle = swizzle_of(m->swizzle);
    f->l2 = m->promotion;
    f->nan = m->fill == META_FILL_NAN;
    for (uint32_t i = 0; i < m->rank; i++) {
        f->dims[i] = word_of(view, 1 + m->axes[i]);
        f->box[i] = m->box[i];
        f->steps[i] = 1;
        if (i) f->strides[i - 1] = stride_of(arg, view, m->axes[i]) * size;
    }
}

tilec_status launch_maps_make(tilec_device *device, RtLaunch *l, uint8_t *storage) {
    uint32_t count = variant_of(l)->map_count;
    if (!launch_has_maps(device))
        return rt_fail(device->context, TILEC_UNSUPPORTED,
                       "%.*s: variant %u takes tensor maps, which device %s does not have",
                       STR_ARG(l->meta->name), l->variant, device->name);
    for (uint32_t i = 0; i < count; i++) {
        GpuMapFacts facts;
        fill_facts(l, i, &facts);
        tilec_status s = device->api->encode_map(device, &facts, storage + i * GPU_MAP_BYTES);
        if (s) return s;
    }
    l->maps = storage;
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

// Launches that take turns with a few sets of arrays have a slot each.
static uint32_t slot_of(const RtLaunch *l) {
    uint64_t first = word_of(view_of(l, 0), 0);
    uint64_t last = word_of(view_of(l, variant_of(l)->map_count - 1), 0);
    uint64_t odd = UINT64_C(0x9e3779b97f4a7c15), hash = (first * odd + last) * odd;
    return (uint32_t)(hash >> 62);
}
_Static_assert(SLOTS == 4, "two bits of the hash");

static bool is_for(const MapMemo *m, const RtLaunch *l) {
    const uint8_t *views = m->views;
    if (m->variant != variant_of(l)) return false;
    for (uint32_t i = 0; i < m->range_count; i++) {
        const MapRange *r = &m->ranges[i];
        if (memcmp(views, (const uint8_t *)l->block + r->offset, r->size) != 0) return false;
        views += r->size;
    }
    return true;
}

static bool hold(MapMemo *m, RtLaunch *l, LaunchMaps *maps) {
    uint32_t before = atomic_fetch_add_explicit(&m->users, 1, memory_order_acquire);
    if (!(before & WRITER) && is_for(m, l)) {
        maps->memo = m;
        l->maps = m->maps;
        return true;
    }
    atomic_fetch_sub_explicit(&m->users, 1, memory_order_release);
    return false;
}

static bool is_mapped(const MetaVariant *v, uint32_t arg) {
    for (uint32_t i = 0; i < v->map_count; i++)
        if (v->maps[i].arg == arg) return true;
    return false;
}

static void remember_views(MapMemo *m, const RtLaunch *l) {
    uint8_t *views = m->views;
    MapRange *last = NULL;
    m->range_count = 0;
    for (uint32_t i = 0; i < l->meta->arg_count; i++) {
        const MetaArg *arg = &l->meta->args[i];
        if (!is_mapped(m->variant, i)) continue;
        if (!last || last->offset + last->size != arg->offset) {
            last = &m->ranges[m->range_count++];
            *last = (MapRange){arg->offset, 0};
        }
        last->size += arg->size;
        memcpy(views, (const uint8_t *)l->block + arg->offset, arg->size);
        views += arg->size;
    }
}

static void remember(MapMemo *m, const RtLaunch *l) {
    uint32_t none = 0;
    if (!atomic_compare_exchange_strong_explicit(&m->users, &none, WRITER, memory_order_acquire,
                                                 memory_order_relaxed))
        return;
    m->variant = variant_of(l);
    remember_views(m, l);
    memcpy(m->maps, l->maps, (size_t)m->variant->map_count * GPU_MAP_BYTES);
    atomic_fetch_sub_explicit(&m->users, WRITER, memory_order_release);
}

// In a function of its own, because its frame is large and most launches do not need it.
__attribute__((noinline)) static tilec_status make_kept(tilec_device *device, RtLaunch *l,
                                                        uint8_t *storage, MapMemo *memo) {
    tilec_status s = launch_maps_make(device, l, storage);
    if (!s && memo) remember(memo, l);
    return s;
}

tilec_status launch_maps_begin(tilec_kernel *kernel, RtLaunch *l, LaunchMaps *maps) {
    struct LaunchMapMemos *memos = memos_of(kernel);
    MapMemo *memo = memos ? &memos->memos[slot_of(l)] : NULL;
    maps->memo = NULL;
    if (memo && hold(memo, l, maps)) return TILEC_OK;
    return make_kept(kernel->device, l, maps->storage, memo);
}

void launch_maps_end(LaunchMaps *maps) {
    if (maps->memo) atomic_fetch_sub_explicit(&maps->memo->users, 1, memory_order_release);
}

void launch_maps_free(tilec_kernel *kernel) { free(atomic_exchange(&kernel->maps, NULL)); }
