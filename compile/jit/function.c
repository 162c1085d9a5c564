#include "compile/jit/function.h"

#include <stdlib.h>
#include <string.h>

#include "base/os/os_mutex.h"
#include "base/recover.h"
#include "runtime/context.h"
#include "runtime/launch.h"
#include "runtime/values.h"

// The C types: of a scalar that is passed by value, and of an element that a pointer refers to.
// Formats that C lacks are floats by value and bits in memory.
static const struct {
    const char *scalar, *element;
} c_types[DTYPES] = {
    [DTYPE_BOOL] = {"bool", "bool"},           [DTYPE_I8] = {"int8_t", "int8_t"},
    [DTYPE_I16] = {"int16_t", "int16_t"},      [DTYPE_I32] = {"int32_t", "int32_t"},
    [DTYPE_I64] = {"int64_t", "int64_t"},      [DTYPE_U8] = {"uint8_t", "uint8_t"},
    [DTYPE_U16] = {"uint16_t", "uint16_t"},    [DTYPE_U32] = {"uint32_t", "uint32_t"},
    [DTYPE_U64] = {"uint64_t", "uint64_t"},    [DTYPE_F16] = {"float", "uint16_t"},
    [DTYPE_BF16] = {"float", "uint16_t"},      [DTYPE_F32] = {"float", "float"},
    [DTYPE_F64] = {"double", "double"},        [DTYPE_F8E4M3] = {"float", "uint8_t"},
    [DTYPE_F8E5M2] = {"float", "uint8_t"},     [DTYPE_F8E4M3FNUZ] = {"float", "uint8_t"},
    [DTYPE_F8E5M2FNUZ] = {"float", "uint8_t"}, [DTYPE_I4] = {"int8_t", "uint8_t"},
    [DTYPE_U4] = {"uint8_t", "uint8_t"},
};

static bool is_listed(Str name, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (str_equal(name, str(words[i]))) return true;
    return false;
}
#define IS_LISTED(name, words) is_listed((name), (words), sizeof(words) / sizeof *(words))

// Keywords of C and C++11, names that compilers define by default, and macros of the usual headers.
static bool is_c_keyword(Str name) {
    static const char *const words[] = {
        "alignas",     "alignof",
        "and",         "and_eq",
        "asm",         "auto",
        "bitand",      "bitor",
        "bool",        "break",
        "case",        "catch",
        "char",        "char16_t",
        "char32_t",    "char8_t",
        "class",       "compl",
        "concept",     "const",
        "const_cast",  "constexpr",
        "consteval",   "constinit",
        "continue",    "co_await",
        "co_return",   "co_yield",
        "decltype",    "default",
        "delete",      "do",
        "double",      "dynamic_cast",
        "else",        "enum",
        "explicit",    "export",
        "extern",      "false",
        "float",       "for",
        "friend",      "goto",
        "if",          "inline",
        "int",         "linux",
        "long",        "mutable",
        "namespace",   "new",
        "noexcept",    "not",
        "not_eq",      "nullptr",
        "operator",    "or",
        "or_eq",       "private",
        "protected",   "public",
        "register",    "reinterpret_cast",
        "requires",    "restrict",
        "return",      "short",
        "signed",      "sizeof",
        "static",      "static_assert",
        "static_cast", "struct",
        "switch",      "template",
        "this",        "thread_local",
        "throw",       "true",
        "try",         "typedef",
        "typeid",      "typename",
        "typeof",      "typeof_unqual",
        "union",       "unix",
        "unsigned",    "using",
        "virtual",     "void",
        "volatile",    "wchar_t",
        "while",       "xor",
        "xor_eq",      "EOF",
        "I",           "INFINITY",
        "NAN",         "NULL",
        "errno",       "stderr",
        "stdin",       "stdout",
        "FILE",        "_Bool",
        "complex",
    };
    return IS_LISTED(name, words);
}

static int by_name(const void *a, const void *b) {
    return str_compare(*(const Str *)a, str(*(const char *const *)b));
}

// Is there a C function with which the linker or the compiler might confuse the kernel's function?
static bool is_c_function(Str name) {
    static const char *const words[] = {
#include "compile/aot/c_names.def"
    };
    return bsearch(&name, words, sizeof words / sizeof *words, sizeof *words, by_name) != NULL;
}

const char *function_c_scalar(Dtype t) { return c_types[t].scalar; }
const char *function_c_element(Dtype t) { return c_types[t].element; }

const char *function_c_name(Arena *arena, Str name) {
    return arena_printf(arena, "%.*s%s", STR_ARG(name), is_c_keyword(name) ? "_" : "");
}

const char *function_c_symbol(Arena *arena, Str name) {
    bool reserved = is_c_keyword(name) || is_c_function(name) || str_starts(name, STR("tilec_")) ||
                    str_ends(name, STR("_t"));
    return arena_printf(arena, "%.*s%s", STR_ARG(name), reserved ? "_" : "");
}

static void add(FunctionPlan *plan, FunctionValue value, uint32_t arg, uint32_t dimension,
                const char *text) {
    plan->params[plan->count++] = (FunctionParam){value, arg, dimension, text};
}

static void add_view(Arena *arena, FunctionPlan *plan, uint32_t i, bool *known) {
    const MetaArg *arg = &plan->meta->args[i];
    const char *name = function_c_name(arena, arg->name);
    for (uint32_t d = 0; d < arg->rank; d++) {
        int32_t e = arg->dims[d].extent;
        if (e < 0 || known[e]) continue;
        known[e] = true;
        const char *extent = function_c_name(arena, plan->meta->extents[e]);
        add(plan, VALUE_EXTENT, i, d, arena_printf(arena, "int64_t %s", extent));
    }
    for (uint32_t d = 0; arg->strided && d < arg->rank; d++)
        add(plan, VALUE_STRIDE, i, d, arena_printf(arena, "int64_t %s_stride%u", name, d));
}

FunctionPlan *function_plan(Arena *arena, const MetaKernel *meta) {
    FunctionPlan *plan = arena_new(arena, FunctionPlan, 1);
    plan->meta = meta;
    plan->params =
        arena_new(arena, FunctionParam, (size_t)meta->arg_count * (1 + 2 * META_MAX_RANK) + 1);
    bool *known = arena_new(arena, bool, meta->extent_count + 1);
    for (uint32_t i = 0; i < meta->arg_count; i++) {
        const MetaArg *arg = &meta->args[i];
        const char *name = function_c_name(arena, arg->name);
        if (arg->kind == META_SCALAR) {
            add(plan, VALUE_SCALAR, i, 0,
                arena_printf(arena, "%s %s", c_types[arg->dtype].scalar, name));
            continue;
        }
        add(plan, VALUE_POINTER, i, 0,
            arena_printf(arena, "%s%s *%s", arg->written ? "" : "const ",
                         c_types[arg->dtype].element, name));
        if (arg->kind == META_VIEW) add_view(arena, plan, i, known);
    }
    return plan;
}

static tilec_arg pointer(const MetaArg *arg, void *data) {
    if (arg->kind == META_POINTER) return tilec_arg_pointer(data);
    static const int64_t none[META_MAX_RANK];
    return tilec_arg_view(tilec_view_of((tilec_dtype)arg->dtype, data, (int32_t)arg->rank, none));
}

// Sets extents from the parameters that gave them, and the strides that follow from them.
static void complete(const MetaArg *arg, const int64_t *extents, tilec_view *v) {
    int64_t stride = 1;
    for (uint32_t d = arg->rank; d-- > 0;) {
        int32_t e = arg->dims[d].extent;
        v->extent[d] = e < 0 ? arg->dims[d].value : extents[e];
        if (arg->strided) continue;
        v->stride[d] = stride;
        // the launch rejects an overflow
        stride = (int64_t)((uint64_t)stride * (uint64_t)v->extent[d]);
    }
}

void function_arguments(const FunctionPlan *plan, const void *const *values, tilec_arg *args) {
    const MetaKernel *meta = plan->meta;
    int64_t extents[LAUNCH_MAX_ARGS * META_MAX_RANK];
    for (uint32_t i = 0; i < plan->count; i++) {
        const FunctionParam *p = &plan->params[i];
        const MetaArg *arg = &meta->args[p->arg];
        switch (p->value) {
        case VALUE_SCALAR: args[p->arg] = rt_value_scalar(arg->dtype, values[i]); break;
        case VALUE_POINTER: args[p->arg] = pointer(arg, *(void *const *)values[i]); break;
        case VALUE_EXTENT:
            extents[arg->dims[p->dimension].extent] = *(const int64_t *)values[i];
            break;
        case VALUE_STRIDE:
            args[p->arg].view.stride[p->dimension] = *(const int64_t *)values[i];
            break;
        }
    }
    for (uint32_t i = 0; i < meta->arg_count; i++)
        if (meta->args[i].kind == META_VIEW) complete(&meta->args[i], extents, &args[i].view);
}

tilec_status function_call(tilec_kernel *kernel, const FunctionPlan *plan,
                           const void *const *values) {
    tilec_arg args[LAUNCH_MAX_ARGS];
    function_arguments(plan, values, args);
    tilec_status s = tilec_launch(kernel, NULL, args, plan->meta->arg_count);
    return s ? s : tilec_stream_synchronize(kernel->device->first);
}

// The metadata, if the call is correct and the kernel can be launched at all.
static tilec_status check(tilec_kernel *kernel, const void *place, const MetaKernel **meta) {
    if (!kernel) return TILEC_INVALID_ARGUMENT;
    rt_begin(kernel->context);
    if (!place)
        return rt_fail(kernel->context, TILEC_INVALID_ARGUMENT,
                       "the pointer for the result is NULL");
    *meta = rt_kernel_meta(kernel);
    if (!*meta) return TILEC_INVALID_ARGUMENT;
    if ((*meta)->arg_count <= LAUNCH_MAX_ARGS) return TILEC_OK;
    return rt_fail(kernel->context, TILEC_UNSUPPORTED, "%s has %u parameters; a launch takes %d",
                   kernel->name, (*meta)->arg_count, LAUNCH_MAX_ARGS);
}

// The context's mutex is held. If memory runs out, everything that was begun is freed.
static const char *make_function(tilec_kernel *kernel, const MetaKernel *meta) {
    Arena *texts = rt_kernel_texts(kernel);
    ArenaMark mark = arena_mark(texts);
    FunctionCode *code = NULL;
    Recovery r;
    if (RECOVER_FAILED(&r)) {
        arena_reset(texts, mark);
        os_out_of_memory();
    }
    const char *why_not = function_code_create(kernel, function_plan(texts, meta), &code);
    if (code) kernel->function = code, kernel->function_destroy = function_code_destroy;
    recover_keep_all();
    recover_end(&r);
    return why_not;
}

tilec_status tilec_function(tilec_kernel *kernel, tilec_function_pointer *function) {
    const MetaKernel *meta;
    tilec_status s = check(kernel, function, &meta);
    if (s) return s;
    Recovery r;
    if (RECOVER_FAILED(&r)) return rt_no_memory(kernel->context);
    const char *why_not = NULL;
    os_mutex_lock(kernel->context->lock);
    if (!kernel->function) why_not = make_function(kernel, meta);
    os_mutex_unlock(kernel->context->lock);
    recover_end(&r);
    if (why_not)
        return rt_fail(kernel->context, TILEC_UNAVAILABLE,
                       "%s cannot be called as a C function: %s", kernel->name, why_not);
    *function = function_code_pointer(kernel->function);
    return TILEC_OK;
}

static const char *signature(Arena *arena, const char *name, const MetaKernel *meta) {
    const FunctionPlan *plan = function_plan(arena, meta);
    StrBuf b = strbuf(arena);
    strbuf_printf(&b, "tilec_status %s(", function_c_name(arena, str(name)));
    for (uint32_t i = 0; i < plan->count; i++)
        strbuf_printf(&b, "%s%s", i ? ", " : "", plan->params[i].text);
    strbuf_printf(&b, plan->count ? ")" : "void)");
    return b.text;
}

static void make_signature(tilec_kernel *kernel, const MetaKernel *meta) {
    Arena *texts = rt_kernel_texts(kernel);
    ArenaMark mark = arena_mark(texts);
    Recovery r;
    if (RECOVER_FAILED(&r)) {
        arena_reset(texts, mark);
        os_out_of_memory();
    }
    kernel->signature = signature(texts, kernel->name, meta);
    recover_end(&r);
}

tilec_status tilec_function_signature(tilec_kernel *kernel, const char **text) {
    const MetaKernel *meta;
    tilec_status s = check(kernel, text, &meta);
    if (s) return s;
    Recovery r;
    if (RECOVER_FAILED(&r)) return rt_no_memory(kernel->context);
    os_mutex_lock(kernel->context->lock);
    if (!kernel->signature) make_signature(kernel, meta);
    os_mutex_unlock(kernel->context->lock);
    recover_end(&r);
    *text = kernel->signature;
    return TILEC_OK;
}
