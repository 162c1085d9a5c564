// Functions of Python, math and torch that are evaluated at compile time.
#include <math.h>
#include <string.h>

#include "frontend/triton/elaborate.h"

static double real_of(Val v) {
    return v.kind == VAL_FLOAT ? v.real : v.kind == VAL_BOOL ? v.truth : (double)v.integer;
}

static Val real(double value) { return (Val){.kind = VAL_FLOAT, .real = value}; }

// ---- x.is_floating() and others

static Val type_question(Elab *e, Str name, Val self, Span span) {
    bool pointer = self.kind == VAL_FN;
    Dtype t = pointer ? DTYPES : self.type;
    static const struct {
        const char *name;
        Dtype type;
    } exact[] = {{"is_fp16", DTYPE_F16},    {"is_bf16", DTYPE_BF16},  {"is_fp32", DTYPE_F32},
                 {"is_fp64", DTYPE_F64},    {"is_int1", DTYPE_BOOL},  {"is_bool", DTYPE_BOOL},
                 {"is_int8", DTYPE_I8},     {"is_int16", DTYPE_I16},  {"is_int32", DTYPE_I32},
                 {"is_int64", DTYPE_I64},   {"is_uint8", DTYPE_U8},   {"is_uint16", DTYPE_U16},
                 {"is_uint32", DTYPE_U32},  {"is_uint64", DTYPE_U64}, {"is_fp8e4nv", DTYPE_F8E4M3},
                 {"is_fp8e5", DTYPE_F8E5M2}};
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (str_equal(name, str(exact[i].name))) return el_bool(t == exact[i].type);
    if (str_equal(name, STR("is_ptr"))) return el_bool(pointer);
    if (str_equal(name, STR("is_block"))) return el_bool(false);
    unsigned classes = str_equal(name, STR("is_floating"))            ? DTYPE_CLASS_ANYFLOAT
                       : str_equal(name, STR("is_fp8"))               ? DTYPE_CLASS_FP8
                       : str_equal(name, STR("is_standard_floating")) ? DTYPE_CLASS_FLOAT
                       : str_equal(name, STR("is_int_signed"))        ? DTYPE_CLASS_SINT
                       : str_equal(name, STR("is_int_unsigned"))      ? DTYPE_CLASS_UINT
                       : str_equal(name, STR("is_int")) ? DTYPE_CLASS_INT | DTYPE_CLASS_BOOL
                                                        : 0;
    if (!classes)
        return el_error(e, span, DIAG_UNSUPPORTED, "'%.*s' is not supported", STR_ARG(name));
    return el_bool(!pointer && dtype_is(t, classes));
}

// ---- numbers

static Val extreme(Elab *e, bool greatest, const Arguments *a, Span span) {
    Val list =
        a->count == 1 && a->vals[0].kind == VAL_TUPLE ? a->vals[0] : el_tuple(e, a->count, a->vals);
    if (!list.tuple.count)
        return el_error(e, span, DIAG_ARGUMENTS, "'%s' needs a value", greatest ? "max" : "min");
    Val best = list.tuple.items[0];
    for (uint32_t i = 1; i < list.tuple.count; i++) {
        Val v = list.tuple.items[i];
        if (!el_is_const(best) || !el_is_const(v)) {
            const TlFunction *tl = tl_find(greatest ? STR("maximum") : STR("minimum"));
            TlCall c = {
                .tl = tl, .span = span, .arg = {best, v, EL_NONE}, .at = {span, span, span}};
            best = tl->body(e, &c);
        } else if (greatest ? real_of(v) > real_of(best) : real_of(v) < real_of(best)) {
            best = v;
        }
    }
    return best;
}

static Val converted(Elab *e, Str name, Val v, Span span) {
    if (v.kind == VAL_IR) {
        Dtype to = str_equal(name, STR("int"))     ? DTYPE_I32
                   : str_equal(name, STR("float")) ? DTYPE_F32
                                                   : DTYPE_BOOL;
        return el_ir(tr_cast(e, v, to, span));
    }
    bool truth;
    if (str_equal(name, STR("bool")) && tr_const_truth(e, v, &truth)) return el_bool(truth);
    if (v.kind == VAL_STRING && str_equal(name, STR("float"))) {
        double value;
        Str text = v.text;
        bool negative = str_starts(text, STR("-"));
        if (negative) text = (Str){text.text + 1, text.size - 1};
        if (str_to_double(text, &value)) return real(negative ? -value : value);
    }
    if (v.kind == VAL_STRING && str_equal(name, STR("int"))) {
        Int128 value = 0;
        size_t i = str_starts(v.text, STR("-"));
        bool digits = i < v.text.size && v.text.size < 20;
        for (; i < v.text.size && digits; i++) {
            digits = v.text.text[i] >= '0' && v.text.text[i] <= '9';
            value = value * 10 + (v.text.text[i] - '0');
        }
        if (digits) return el_int(str_starts(v.text, STR("-")) ? -value : value);
    }
    if (el_is_const(v)) {
        if (str_equal(name, STR("float"))) return real(real_of(v));
        if (v.kind == VAL_BOOL) return el_int(v.truth);
        if (v.kind == VAL_INT) return v;
        if (fabs(v.real) < 0x1p63) return el_int((Int128)v.real);
    }
    return el_error(e, span, DIAG_TYPE, "'%.*s' does not take %s", STR_ARG(name), tr_text(e, v));
}

static Val math_call(Elab *e, Str name, const Arguments *a, Span span) {
    static const struct {
        const char *name;
        double (*call)(double);
    } known[] = {{"sqrt", sqrt},   {"exp", exp},   {"log", log},     {"log2", log2},
                 {"log10", log10}, {"sin", sin},   {"cos", cos},     {"tan", tan},
                 {"fabs", fabs},   {"tanh", tanh}, {"log1p", log1p}, {"expm1", expm1}};
    if (!a->count || !el_is_const(a->vals[0]))
        return el_error(e, span, DIAG_NOT_CONSTANT,
                        "math.%.*s needs a number known at compile time; a kernel uses tl.%.*s",
                        STR_ARG(name), STR_ARG(name));
    double x = real_of(a->vals[0]);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_equal(name, str(known[i].name))) return real(known[i].call(x));
    if (str_equal(name, STR("floor"))) return el_int((Int128)floor(x));
    if (str_equal(name, STR("ceil"))) return el_int((Int128)ceil(x));
    if (str_equal(name, STR("pow")) && a->count == 2 && el_is_const(a->vals[1]))
        return real(pow(x, real_of(a->vals[1])));
    return el_error(e, span, DIAG_UNSUPPORTED, "math.%.*s is not supported", STR_ARG(name));
}

// torch.finfo(dtype).max and others are answered by a tuple-like object; here: their texts.
static Val type_limits(Elab *e, const Arguments *a, Span span) {
    if (a->count != 1 || a->vals[0].kind != VAL_TYPE)
        return el_error(e, span, DIAG_ARGUMENTS, "expected a type");
    return tr_object(e, (Object){.kind = OBJECT_LIMITS, .type = a->vals[0].type});
}

// ---- ranges and sequences

static Val range_of(Elab *e, const Arguments *a, Span span) {
    if (a->count < 1 || a->count > 3)
        return el_error(e, span, DIAG_ARGUMENTS, "range takes one to three integers");
    Object o = {.kind = OBJECT_RANGE,
                .items = {a->count > 1 ? a->vals[0] : el_int(0), a->vals[a->count > 1],
                          a->count > 2 ? a->vals[2] : el_int(1)}};
    return tr_object(e, o);
}

static Val length_of(Elab *e, Val v, Span span) {
    if (v.kind == VAL_TUPLE) return el_int(v.tuple.count);
    if (v.kind == VAL_STRING) return el_int((Int128)v.text.size);
    return el_error(e, span, DIAG_TYPE, "%s has no length", tr_text(e, v));
}

static Val is_instance(Elab *e, const Arguments *a, Span span) {
    if (a->count != 2) return el_error(e, span, DIAG_ARGUMENTS, "isinstance takes two arguments");
    Val v = a->vals[0];
    const Object *type = tr_object_of(a->vals[1]);
    if (!type) return el_bool(false);
    Str name = type->path;
    if (str_equal(name, STR("torch.Tensor"))) return el_bool(tr_is(v, OBJECT_ARGUMENT));
    if (str_equal(name, STR("tensor"))) return el_bool(v.kind == VAL_IR);
    if (str_starts(name, STR("tensor_descriptor")))
        return el_bool((tr_is(v, OBJECT_VIEW) || tr_is(v, OBJECT_BLOCK)) &&
                       tr_object_of(v)->is_static);
    if (type->kind == OBJECT_CONSTEXPR) return el_bool(v.kind != VAL_IR && v.kind != VAL_TUPLE);
    if (str_equal(name, STR("int"))) return el_bool(v.kind == VAL_INT || v.kind == VAL_BOOL);
    if (str_equal(name, STR("float"))) return el_bool(v.kind == VAL_FLOAT);
    if (str_equal(name, STR("bool"))) return el_bool(v.kind == VAL_BOOL);
    if (str_equal(name, STR("str"))) return el_bool(v.kind == VAL_STRING);
    if (str_equal(name, STR("tuple")) || str_equal(name, STR("list")))
        return el_bool(v.kind == VAL_TUPLE);
    if (str_equal(name, STR("dtype"))) return el_bool(v.kind == VAL_TYPE);
    return el_bool(false);
}

static Val zipped(Elab *e, bool numbers, const Arguments *a, Span span) {
    uint32_t count = UINT32_MAX;
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->vals[i].kind != VAL_TUPLE)
            return el_error(e, span, DIAG_TYPE, "expected a tuple, found %s",
                            tr_text(e, a->vals[i]));
        if (a->vals[i].tuple.count < count) count = a->vals[i].tuple.count;
    }
    if (!a->count) count = 0;
    Val *items = arena_new(e->scratch, Val, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        Val *one = arena_new(e->scratch, Val, a->count + 2);
        uint32_t n = 0;
        if (numbers) one[n++] = el_int(i);
        for (uint32_t k = 0; k < a->count; k++) one[n++] = a->vals[k].tuple.items[i];
        items[i] = el_tuple(e, n, one);
    }
    return el_tuple(e, count, items);
}

// A tensor has its functions as methods, and its type and shape.
static bool has_name(Val v, Str name) {
    const Object *o = tr_object_of(v);
    bool shaped = str_equal(name, STR("dtype")) || str_equal(name, STR("shape")) ||
                  str_equal(name, STR("type"));
    if (v.kind == VAL_IR && shaped) return true;
    return (v.kind == VAL_IR || (o && o->kind == OBJECT_MODULE)) && tl_find(name);
}

// hasattr(triton.language, "make_tensor_descriptor")
static Val has_attribute(const Arguments *a) {
    bool asks = a->count == 2 && a->vals[1].kind == VAL_STRING;
    return el_bool(asks && has_name(a->vals[0], a->vals[1].text));
}

// getattr(tl, "maximum"), getattr(x, "dtype", None)
static Val attribute_of(Elab *e, const Arguments *a, Span span) {
    if (a->count < 2 || a->count > 3 || a->vals[1].kind != VAL_STRING)
        return el_error(e, span, DIAG_ARGUMENTS, "getattr takes a value and a name");
    if (a->count == 3 && !has_name(a->vals[0], a->vals[1].text)) return a->vals[2];
    Py node = {.kind = PY_ATTRIBUTE, .span = span};
    node.name = intern(triton_of(e)->file->names, a->vals[1].text);
    return tr_attribute(e, a->vals[0], &node);
}

static Val pointer_type(Elab *e, const Arguments *a, Span span) {
    if (!a->count || a->vals[0].kind != VAL_TYPE)
        return el_error(e, span, DIAG_ARGUMENTS, "expected a type");
    return tr_object(e, (Object){.kind = OBJECT_POINTER, .type = a->vals[0].type});
}

Val tr_call_python(Elab *e, const Object *o, const Arguments *a, Span span) {
    Str name = o->path;
    if (o->self) return type_question(e, name, *o->self, span);
    if (str_starts(name, STR("math.")))
        return math_call(e, (Str){name.text + 5, name.size - 5}, a, span);
    if (str_equal(name, STR("range"))) return range_of(e, a, span);
    if (str_equal(name, STR("pointer_type"))) return pointer_type(e, a, span);
    if (str_equal(name, STR("finfo")) || str_equal(name, STR("iinfo")))
        return type_limits(e, a, span);
    if (str_equal(name, STR("isinstance"))) return is_instance(e, a, span);
    if (str_equal(name, STR("zip"))) return zipped(e, false, a, span);
    if (str_equal(name, STR("enumerate"))) return zipped(e, true, a, span);
    if (str_equal(name, STR("min"))) return extreme(e, false, a, span);
    if (str_equal(name, STR("max"))) return extreme(e, true, a, span);
    if (str_equal(name, STR("print"))) return tr_none();
    if (str_ends(name, STR("triton.Config"))) return tr_config(e, a);
    if (str_equal(name, STR("args.get"))) {
        Val found =
            a->count && a->vals[0].kind == VAL_STRING ? tr_meta(e, a->vals[0].text) : EL_NONE;
        return found.kind != VAL_NONE ? found : a->count > 1 ? a->vals[1] : tr_none();
    }
    if (str_equal(name, STR("hasattr"))) return has_attribute(a);
    if (str_equal(name, STR("getattr"))) return attribute_of(e, a, span);
    if (str_equal(name, STR("getenv"))) return a->count > 1 ? a->vals[1] : tr_none();
    if (!a->count) return el_error(e, span, DIAG_ARGUMENTS, "an argument is missing");
    if (str_equal(name, STR("dtype")) && a->vals[0].kind == VAL_TYPE) return a->vals[0];
    if (str_equal(name, STR("dtype")) && a->vals[0].kind == VAL_STRING) {
        Dtype type;
        if (tr_type_named(a->vals[0].text, &type)) return (Val){.kind = VAL_TYPE, .type = type};
    }
    if (str_equal(name, STR("len"))) return length_of(e, a->vals[0], span);
    if (str_equal(name, STR("tuple")) || str_equal(name, STR("list"))) {
        if (a->vals[0].kind == VAL_TUPLE) return a->vals[0];
        return el_tuple(e, a->count, a->vals);
    }
    if (str_equal(name, STR("abs"))) {
        if (a->vals[0].kind == VAL_INT && a->vals[0].integer < 0)
            return el_int(-a->vals[0].integer);
        if (el_is_const(a->vals[0]))
            return a->vals[0].kind == VAL_FLOAT ? real(fabs(a->vals[0].real)) : a->vals[0];
        TlCall c = {.tl = tl_find(STR("abs")), .span = span, .arg = {a->vals[0]}, .at = {span}};
        return c.tl->body(e, &c);
    }
    if (str_equal(name, STR("int")) || str_equal(name, STR("float")) ||
        str_equal(name, STR("bool")))
        return converted(e, name, a->vals[0], span);
    if (str_equal(name, STR("str")))
        return (Val){.kind = VAL_STRING, .text = tr_str(e, a->vals[0])};
    return el_error(e, span, DIAG_UNSUPPORTED, "'%.*s' is not supported in a kernel",
                    STR_ARG(name));
}
