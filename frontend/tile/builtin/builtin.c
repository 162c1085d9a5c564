// Names that the language defines: built-ins, words of named arguments, and other languages' types.
#include "frontend/tile/internal.h"

static const char *const builtin_names[TILE_BUILTINS] = {
#define BUILTIN(name, text) #text,
#include "frontend/tile/builtin/builtin.def"
#undef BUILTIN
};

const char *tile_builtin_name(TileBuiltin builtin) { return builtin_names[builtin]; }

bool tile_builtin_find(Str name, TileBuiltin *builtin) {
    for (int i = 0; i < TILE_BUILTINS; i++) {
        if (str_equal(name, str(builtin_names[i]))) {
            *builtin = (TileBuiltin)i;
            return true;
        }
    }
    return false;
}

static const struct {
    const char *foreign;
    const char *own;
} foreign_types[] = {
    {"_Bool", "bool"},
    {"char", "i8"},
    {"short", "i16"},
    {"int", "i32"},
    {"long", "i64"},
    {"unsigned", "u32"},
    {"signed", "i32"},
    {"float", "f32"},
    {"double", "f64"},
    {"half", "f16"},
    {"__half", "f16"},
    {"bfloat16", "bf16"},
    {"size_t", "i64"},
    {"ptrdiff_t", "i64"},
    {"int8_t", "i8"},
    {"int16_t", "i16"},
    {"int32_t", "i32"},
    {"int64_t", "i64"},
    {"uint8_t", "u8"},
    {"uint16_t", "u16"},
    {"uint32_t", "u32"},
    {"uint64_t", "u64"},
    {"int8", "i8"},
    {"int16", "i16"},
    {"int32", "i32"},
    {"int64", "i64"},
    {"uint8", "u8"},
    {"uint16", "u16"},
    {"uint32", "u32"},
    {"uint64", "u64"},
    {"uint", "u32"},
    {"float16", "f16"},
    {"float32", "f32"},
    {"float64", "f64"},
    {"fp16", "f16"},
    {"fp32", "f32"},
    {"fp64", "f64"},
    {"i1", "bool"},
    {"s32", "i32"},
    {"b32", "u32"},
    {"fp8", "f8e4m3"},
    {"f8", "f8e4m3"},
    {"f8e4m3fn", "f8e4m3"},
    {"float8", "f8e4m3"},
    {"int4", "i4"},
    {"uint4", "u4"},
    {"usize", "i64"},
    {"isize", "i64"},
    {"__nv_bfloat16", "bf16"},
};

const char *tile_foreign_type(Str name) {
    for (size_t i = 0; i < sizeof foreign_types / sizeof *foreign_types; i++)
        if (str_equal(name, str(foreign_types[i].foreign))) return foreign_types[i].own;
    return NULL;
}

static const char *const order_words[] = {"relaxed", "acquire", "release", "acq_rel", NULL};
static const char *const scope_words[] = {"program", "device", "system", NULL};
static const char *const evict_words[] = {"first", "last", NULL};
static const char *const cache_words[] = {"stream", "l2", NULL};
static const char *const precision_words[] = {"ieee", "tf32", "tf32x3", "bf16x3", NULL};

const char *const *tile_argument_words(Str argument) {
    if (str_equal(argument, STR("order"))) return order_words;
    if (str_equal(argument, STR("scope"))) return scope_words;
    if (str_equal(argument, STR("precision"))) return precision_words;
    if (str_equal(argument, STR("evict"))) return evict_words;
    if (str_equal(argument, STR("cache"))) return cache_words;
    return NULL;
}
