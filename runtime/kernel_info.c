// Queries about a kernel: answered from its metadata, with texts that end in NUL.
#include "base/recover.h"
#include "runtime/context.h"
#include "runtime/kernel.h"

struct RtKernelInfo {
    tilec_param *params;
    const char *json;
};

static const char *copy_text(Arena *arena, Str s) { return arena_text(arena, s.text, s.size); }

static tilec_param make_param(Arena *arena, const MetaKernel *meta, const MetaArg *arg) {
    static const tilec_param_kind kinds[] = {TILEC_PARAM_SCALAR, TILEC_PARAM_POINTER,
                                             TILEC_PARAM_VIEW};
    tilec_param p = {.name = copy_text(arena, arg->name),
                     .kind = kinds[arg->kind],
                     .dtype = (tilec_dtype)arg->dtype,
                     .read = arg->kind == META_SCALAR || arg->read,
                     .written = arg->kind != META_SCALAR && arg->written};
    if (arg->kind != META_VIEW) return p;
    p.rank = (int32_t)arg->rank;
    p.strided = arg->strided;
    for (uint32_t d = 0; d < arg->rank; d++) {
        if (arg->dims[d].extent >= 0)
            p.extent_name[d] = copy_text(arena, meta->extents[arg->dims[d].extent]);
        else
            p.extent[d] = arg->dims[d].value;
    }
    return p;
}

static RtKernelInfo *make_info(Arena *arena, const MetaKernel *meta) {
    RtKernelInfo *info = arena_new(arena, RtKernelInfo, 1);
    info->params = arena_new(arena, tilec_param, meta->arg_count + 1);
    for (uint32_t i = 0; i < meta->arg_count; i++)
        info->params[i] = make_param(arena, meta, &meta->args[i]);
    StrBuf json = strbuf(arena);
    meta_json(meta, &json);
    info->json = json.text;
    return info;
}

const MetaKernel *rt_kernel_meta(tilec_kernel *kernel) {
    if (kernel->loaded) return kernel->loaded->meta;
    rt_fail(kernel->context, TILEC_INVALID_ARGUMENT,
            "%s leaves types open, so its parameters are not known yet; give them with TILEC_TYPE",
            kernel->name);
    return NULL;
}

Arena *rt_kernel_texts(tilec_kernel *kernel) {
    if (!kernel->texts) {
        kernel->texts = arena_create();
        arena_keep(kernel->texts);
    }
    return kernel->texts;
}

// Made at the first query, by the thread that asks. If it fails, nothing is stored.
static void fill_info(tilec_kernel *kernel, const MetaKernel *meta) {
    Arena *texts = rt_kernel_texts(kernel);
    ArenaMark mark = arena_mark(texts);
    Recovery r;
    if (RECOVER_FAILED(&r)) {
        arena_reset(texts, mark);
        os_out_of_memory();
    }
    kernel->info = make_info(texts, meta);
    recover_end(&r);
}

static tilec_status find_info(tilec_kernel *kernel, const RtKernelInfo **info) {
    const MetaKernel *meta = rt_kernel_meta(kernel);
    if (!meta) return TILEC_INVALID_ARGUMENT;
    Recovery r;
    if (RECOVER_FAILED(&r)) return rt_no_memory(kernel->context);
    os_mutex_lock(kernel->context->lock);
    if (!kernel->info) fill_info(kernel, meta);
    os_mutex_unlock(kernel->context->lock);
    recover_end(&r);
    *info = kernel->info;
    return TILEC_OK;
}

static tilec_status no_place(const tilec_kernel *kernel) {
    return rt_fail(kernel->context, TILEC_INVALID_ARGUMENT, "the pointer for the answer is NULL");
}

const char *tilec_kernel_name(const tilec_kernel *kernel) { return kernel ? kernel->name : ""; }

tilec_status tilec_kernel_param_count(tilec_kernel *kernel, size_t *count) {
    if (!kernel) return TILEC_INVALID_ARGUMENT;
    rt_begin(kernel->context);
    if (!count) return no_place(kernel);
    const MetaKernel *meta = rt_kernel_meta(kernel);
    if (!meta) return TILEC_INVALID_ARGUMENT;
    *count = meta->arg_count;
    return TILEC_OK;
}

tilec_status tilec_kernel_param(tilec_kernel *kernel, size_t index, tilec_param *param) {
    if (!kernel) return TILEC_INVALID_ARGUMENT;
    rt_begin(kernel->context);
    if (!param) return no_place(kernel);
    const RtKernelInfo *info;
    tilec_status s = find_info(kernel, &info);
    if (s) return s;
    uint32_t count = kernel->loaded->meta->arg_count;
    if (index >= count)
        return rt_fail(kernel->context, TILEC_INVALID_ARGUMENT,
                       "%s has %u parameter%s; there is no parameter %zu", kernel->name, count,
                       count == 1 ? "" : "s", index);
    *param = info->params[index];
    return TILEC_OK;
}

tilec_status tilec_kernel_variant_count(tilec_kernel *kernel, size_t *count) {
    if (!kernel) return TILEC_INVALID_ARGUMENT;
    rt_begin(kernel->context);
    if (!count) return no_place(kernel);
    const MetaKernel *meta = rt_kernel_meta(kernel);
    if (!meta) return TILEC_INVALID_ARGUMENT;
    *count = meta->variant_count;
    return TILEC_OK;
}

tilec_status tilec_kernel_metadata(tilec_kernel *kernel, const char **json) {
    if (!kernel) return TILEC_INVALID_ARGUMENT;
    rt_begin(kernel->context);
    if (!json) return no_place(kernel);
    const RtKernelInfo *info;
    tilec_status s = find_info(kernel, &info);
    if (s) return s;
    *json = info->json;
    return TILEC_OK;
}
