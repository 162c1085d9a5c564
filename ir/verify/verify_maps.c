// V12: tensor maps are within what hardware and launches take.
#include "base/gpu_abi.h"
#include "ir/verify/verifier.h"

#define FAIL(...) verifier_func_fail(v, v->func->span, __VA_ARGS__)

static bool view_has_maps(Verifier *v, const IrMap *map, uint32_t number) {
    if (map->param >= v->func->params.count)
        return FAIL("map %u is of parameter %u, and there are %zu", number, map->param,
                    v->func->params.count);
    const IrParam *param = &v->func->params.data[map->param];
    const IrType *t = param->value->type;
    if (t->kind == IR_VIEW && t->rank > 0 && dtype_bits(t->elem) >= 8) {
        if (map->rank == t->rank) return true;
        return FAIL("expected map %u to have rank %u, found %u", number, t->rank, map->rank);
    }
    return FAIL("expected a view of whole bytes with dimensions for map %u, found '%s'", number,
                param->name);
}

// Each dimension once; elements are contiguous along the last one only.
static bool axes_fit(Verifier *v, const IrMap *map, uint32_t number) {
    unsigned seen = 0;
    for (uint32_t i = 0; i < map->rank; i++)
        if (map->axes[i] < map->rank) seen |= 1U << map->axes[i];
    if (seen == (1U << map->rank) - 1 && map->axes[0] == map->rank - 1) return true;
    return FAIL("expected map %u to list each dimension once, the last one first", number);
}

static bool box_fits(Verifier *v, const IrMap *map, uint32_t number) {
    for (uint32_t i = 0; i < map->rank; i++)
        if (map->box[i] < 1 || map->box[i] > GPU_MAP_BOX)
            return FAIL(
                "expected boxes of 1 to %d elements along each dimension of map %u, found %u",
                GPU_MAP_BOX, number, map->box[i]);
    Dtype elem = v->func->params.data[map->param].value->type->elem;
    size_t row = map->box[0] * dtype_size(elem), most = map->swizzle ? map->swizzle : SIZE_MAX;
    if (row % GPU_MAP_UNIT == 0 && row <= most) return true;
    return FAIL("expected rows of a multiple of %d bytes in map %u, within its swizzle, found %zu",
                GPU_MAP_UNIT, number, row);
}

static bool numbers_fit(Verifier *v, const IrMap *map, uint32_t number) {
    if (!gpu_map_swizzle(map->swizzle))
        return FAIL("expected a swizzle of 0, 32, 64 or 128 bytes of map %u, found %u", number,
                    map->swizzle);
    if (gpu_map_promotion(map->promotion)) return true;
    return FAIL("expected a promotion of 0, 64, 128 or 256 bytes of map %u, found %u", number,
                map->promotion);
}

bool verifier_map(Verifier *v, const IrOp *op, const IrValue *view) {
    int64_t number = ir_attr_int(op, IR_ATTR_MAP);
    const IrFunc *f = v->func;
    bool exists = number >= 0 && (uint64_t)number < f->maps.count;
    bool is_param = view->type->kind == IR_VIEW && !view->block && !view->def;
    if (exists && is_param && f->maps.data[number].param == view->index) return true;
    return verifier_fail(v, op, "expected a map of the view, found %lld", (long long)number);
}

bool verifier_maps(Verifier *v) {
    const IrFunc *f = v->func;
    if (f->maps.count && !f->is_kernel) return FAIL("expected maps of a kernel only");
    if (f->maps.count > GPU_MAPS)
        return FAIL("expected at most %d maps, found %zu", GPU_MAPS, f->maps.count);
    for (uint32_t i = 0; i < f->maps.count; i++) {
        const IrMap *map = &f->maps.data[i];
        TRY(view_has_maps(v, map, i) && axes_fit(v, map, i) && numbers_fit(v, map, i) &&
            box_fits(v, map, i));
    }
    return true;
}
