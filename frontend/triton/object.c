// Objects, and the names and texts of types and values in Python's words.
#include "frontend/triton/elaborate.h"

Val tr_object(Elab *e, Object object) {
    Object *o = arena_new(e->scratch, Object, 1);
    *o = object;
    Val v = {.kind = VAL_FN};
    v.fn.own = o;
    v.fn.name = o->path.size ? intern(triton_of(e)->file->names, o->path) : "";
    return v;
}

Val tr_none(void) {
    static const Object none = {.kind = OBJECT_NONE};
    Val v = {.kind = VAL_FN};
    v.fn.own = &none;
    v.fn.name = "None";
    return v;
}

const Object *tr_object_of(Val v) { return v.kind == VAL_FN ? v.fn.own : NULL; }

bool tr_is(Val v, ObjectKind kind) {
    const Object *o = tr_object_of(v);
    return o && o->kind == kind;
}

bool tr_is_none(Val v) { return tr_is(v, OBJECT_NONE); }

// ---- names of types

typedef struct TypeName {
    const char *name;
    Dtype type;
} TypeName;

// The first row of a type is the name in messages.
static const TypeName type_names[] = {
    {"int1", DTYPE_BOOL},
    {"int8", DTYPE_I8},
    {"int16", DTYPE_I16},
    {"int32", DTYPE_I32},
    {"int64", DTYPE_I64},
    {"uint8", DTYPE_U8},
    {"uint16", DTYPE_U16},
    {"uint32", DTYPE_U32},
    {"uint64", DTYPE_U64},
    {"fp16", DTYPE_F16},
    {"bf16", DTYPE_BF16},
    {"fp32", DTYPE_F32},
    {"fp64", DTYPE_F64},
    {"fp8e4nv", DTYPE_F8E4M3},
    {"fp8e5", DTYPE_F8E5M2},
    {"fp8e4b8", DTYPE_F8E4M3FNUZ},
    {"fp8e5b16", DTYPE_F8E5M2FNUZ},
    {"float16", DTYPE_F16},
    {"bfloat16", DTYPE_BF16},
    {"float32", DTYPE_F32},
    {"float64", DTYPE_F64},
    {"float8e4nv", DTYPE_F8E4M3},
    {"float8e5", DTYPE_F8E5M2},
    {"float8e4b8", DTYPE_F8E4M3FNUZ},
    {"float8e5b16", DTYPE_F8E5M2FNUZ},
    // torch
    {"half", DTYPE_F16},
    {"float", DTYPE_F32},
    {"double", DTYPE_F64},
    {"bool", DTYPE_BOOL},
    {"short", DTYPE_I16},
    {"int", DTYPE_I32},
    {"long", DTYPE_I64},
    {"float8_e4m3fn", DTYPE_F8E4M3},
    {"float8_e5m2", DTYPE_F8E5M2},
    {"float8_e4m3fnuz", DTYPE_F8E4M3FNUZ},
    {"float8_e5m2fnuz", DTYPE_F8E5M2FNUZ},
    // signatures
    {"i1", DTYPE_BOOL},
    {"i8", DTYPE_I8},
    {"i16", DTYPE_I16},
    {"i32", DTYPE_I32},
    {"i64", DTYPE_I64},
    {"u8", DTYPE_U8},
    {"u16", DTYPE_U16},
    {"u32", DTYPE_U32},
    {"u64", DTYPE_U64},
    {"f16", DTYPE_F16},
    {"f32", DTYPE_F32},
    {"f64", DTYPE_F64},
};

const char *tr_type_name(Dtype t) {
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
        if (type_names[i].type == t) return type_names[i].name;
    return dtype_name(t);
}

const char *tr_tl_type_name(Dtype t) {
    const char *name = NULL;
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++) {
        if (type_names[i].type != t) continue;
        Str one = str(type_names[i].name);
        if (!name || str_starts(one, STR("float"))) name = type_names[i].name;
        if (str_starts(one, STR("float")) || str_starts(one, STR("bfloat"))) break;
    }
    return name ? name : dtype_name(t);
}

bool tr_type_named(Str name, Dtype *t) {
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++) {
        if (!str_equal(name, str(type_names[i].name))) continue;
        *t = type_names[i].type;
        return true;
    }
    return false;
}

// ---- texts

static const char *object_text(Elab *e, const Object *o) {
    switch (o->kind) {
    case OBJECT_NONE: return "None";
    case OBJECT_MODULE: return arena_printf(e->scratch, "the module '%.*s'", STR_ARG(o->path));
    case OBJECT_TL:
    case OBJECT_METHOD: return arena_printf(e->scratch, "the function 'tl.%s'", o->tl->name);
    case OBJECT_JIT: return arena_printf(e->scratch, "the jit function '%s'", o->func->name);
    case OBJECT_HOST: return arena_printf(e->scratch, "the Python function '%s'", o->func->name);
    case OBJECT_LAMBDA: return "a lambda";
    case OBJECT_VIEW: return "a tensor descriptor";
    case OBJECT_BLOCK: return o->is_static ? "a tensor descriptor" : "a block pointer";
    case OBJECT_FORM:
        if (o->like == OBJECT_BLOCK)
            return o->is_static ? "a tensor descriptor" : "a block pointer";
        return arena_printf(e->scratch, "a tuple of %u values", o->count);
    case OBJECT_POINTER:
        return arena_printf(e->scratch, "the type pointer<%s>", tr_type_name(o->type));
    case OBJECT_CONSTEXPR: return "tl.constexpr";
    case OBJECT_PYTHON:
        return arena_printf(e->scratch, "the Python function '%.*s'", STR_ARG(o->path));
    case OBJECT_DICT: return "a dict";
    case OBJECT_CLASS: return arena_printf(e->scratch, "class '%.*s'", STR_ARG(o->path));
    case OBJECT_CONFIG: return "a configuration";
    case OBJECT_LIMITS: return "the limits of a type";
    case OBJECT_META: return "the parameters of the launch";
    case OBJECT_RANGE: return "a range";
    case OBJECT_ARGUMENT: return "a tensor of the launch";
    case OBJECT_UNKNOWN: return arena_printf(e->scratch, "'%.*s'", STR_ARG(o->path));
    }
    return "";
}

const char *tr_own_text(Elab *e, Val v) {
    if (v.kind == VAL_BOOL) return v.truth ? "True" : "False";
    if (v.kind == VAL_INT) return el_wide_text(e, v.integer);
    if (v.kind == VAL_STRING && v.text.size <= 40)
        return arena_printf(e->scratch, "the string '%.*s'", STR_ARG(v.text));
    return v.kind == VAL_FN ? object_text(e, v.fn.own) : NULL;
}

static void add_str(Elab *e, StrBuf *out, Val v, bool inside) {
    switch (v.kind) {
    case VAL_STRING:
        if (inside) strbuf_char(out, '\'');
        strbuf_add(out, v.text);
        if (inside) strbuf_char(out, '\'');
        break;
    case VAL_FLOAT: strbuf_double(out, v.real, false); break;
    case VAL_TYPE: strbuf_add(out, str(tr_type_name(v.type))); break;
    case VAL_TUPLE:
        strbuf_char(out, '(');
        for (uint32_t i = 0; i < v.tuple.count; i++) {
            if (i) strbuf_add(out, STR(", "));
            add_str(e, out, v.tuple.items[i], true);
        }
        strbuf_add(out, v.tuple.count == 1 ? STR(",)") : STR(")"));
        break;
    default: strbuf_add(out, str(tr_text(e, v)));
    }
}

Str tr_str(Elab *e, Val v) {
    StrBuf out = strbuf(e->scratch);
    add_str(e, &out, v, false);
    return strbuf_str(&out);
}
