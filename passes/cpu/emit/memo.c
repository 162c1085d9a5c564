// Values that a nest has computed: one memo for each tile and place.
#include "passes/cpu/emit/lower.h"

static bool same_coord(Coord a, Coord b) {
    if (a.kind != b.kind) return false;
    if (a.kind == COORD_LOOP || a.kind == COORD_NUMBER) return a.loop == b.loop;
    return a.kind == COORD_ZERO || a.value == b.value;
}

static bool same_place(const IrType *t, LanePlace a, LanePlace b) {
    for (uint32_t d = 0; d < t->rank; d++)
        if (t->shape[d] > 1 && !same_coord(a.at[d], b.at[d])) return false;
    return true;
}

// The tile's last memo in this nest: index + 1, or 0. The state's `memo` may be of another nest.
static uint32_t last_memo(Lower *l, const Nest *nest, const IrValue *tile) {
    uint32_t last = lower_tile(l, tile)->memo;
    bool here = last && last <= nest->memo.count && nest->memo.data[last - 1].tile == tile;
    return here ? last : 0;
}

const ValueMemo *value_memo(Lower *l, const Nest *nest, const IrValue *tile, LanePlace place) {
    for (uint32_t i = last_memo(l, nest, tile); i; i = nest->memo.data[i - 1].earlier) {
        const ValueMemo *m = &nest->memo.data[i - 1];
        if (same_place(tile->type, m->place, place)) return m;
    }
    return NULL;
}

void value_remember(Lower *l, Nest *nest, ValueMemo memo) {
    memo.earlier = last_memo(l, nest, memo.tile);
    vec_push(l->scratch, &nest->memo, memo);
    lower_tile(l, memo.tile)->memo = (uint32_t)nest->memo.count;
}

void value_forget_from(Lower *l, Nest *nest, size_t count) {
    while (nest->memo.count > count) {
        const ValueMemo *m = &nest->memo.data[--nest->memo.count];
        lower_tile(l, m->tile)->memo = m->earlier;
    }
}

void value_forget(Lower *l, Nest *nest, bool (*stays)(const Nest *nest, const ValueMemo *memo)) {
    size_t count = nest->memo.count;
    value_forget_from(l, nest, 0);
    for (size_t i = 0; i < count; i++) {
        ValueMemo memo = nest->memo.data[i];
        if (stays(nest, &memo)) value_remember(l, nest, memo);
    }
}

// The vector that holds exactly the lanes of the place; NULL: none.
IrValue *value_in_register(Lower *l, const Nest *nest, const IrValue *tile, LanePlace place) {
    IrValue *vector = lower_tile(l, tile)->vector;
    if (!vector || nest->lanes != vector->type->count) return NULL;
    for (uint32_t d = 0; d < place.rank; d++)
        if (nest_is_lane(nest, place.at[d])) return vector;
    return NULL;
}
