#include "tests/support/arg_block.h"

#include <string.h>

static MetaArg meta_of(const IrParam *param) {
    const IrType *t = param->value->type;
    return (MetaArg){.kind = t->kind == IR_TILE  ? META_SCALAR
                             : t->kind == IR_PTR ? META_POINTER
                                                 : META_VIEW,
                     .dtype = t->elem,
                     .rank = t->rank,
                     .strided = param->strided};
}

MetaArg *arg_metas(Arena *arena, const IrFunc *func, uint32_t count, uint32_t *block_size) {
    MetaArg *meta = arena_new(arena, MetaArg, count + 1);
    for (uint32_t i = 0; i < count; i++) meta[i] = meta_of(&func->params.data[i]);
    meta_layout(meta, count, block_size);
    return meta;
}

unsigned char *arg_block(Arena *arena, const IrFunc *func, const IrArg *args, uint32_t count,
                         uint32_t *block_size) {
    uint32_t size = 0;
    const MetaArg *meta = arg_metas(arena, func, count, &size);
    *block_size = size;
    unsigned char *block = arena_alloc(arena, size + 8);
    for (uint32_t i = 0; i < count; i++) {
        unsigned char *to = block + meta[i].offset;
        if (meta[i].kind == META_SCALAR) {
            memcpy(to, &args[i].bits, dtype_size(meta[i].dtype));
            continue;
        }
        memcpy(to, &args[i].data, 8);
        if (meta[i].kind == META_POINTER) continue;
        memcpy(to + 8, args[i].extent, 8 * (size_t)meta[i].rank);
        if (meta[i].strided)
            memcpy(to + 8 + 8 * (size_t)meta[i].rank, args[i].stride, 8 * (size_t)meta[i].rank);
    }
    return block;
}
