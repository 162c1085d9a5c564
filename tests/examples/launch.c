#include "tests/examples/launch.h"

#include <stdio.h>
#include <string.h>

const char *launcher_open(Launcher *launcher, const char *device) {
    *launcher = (Launcher){0};
    if (tilec_context_create(NULL, &launcher->context)) return "no context";
    if (tilec_device_open(launcher->context, device, &launcher->device))
        return tilec_last_error(launcher->context);
    launcher->own_memory = strncmp(device, "sim:", 4) == 0 || strncmp(device, "cuda", 4) == 0 ||
                           strncmp(device, "hip", 3) == 0;
    return NULL;
}

void launcher_close(Launcher *launcher) {
    tilec_device_close(launcher->device);
    tilec_context_destroy(launcher->context);
    *launcher = (Launcher){0};
}

static tilec_view view_of(const Array *a) {
    tilec_view view = tilec_view_of((tilec_dtype)a->type, a->data, a->rank, a->extent);
    for (int d = 0; d < a->rank; d++) view.stride[d] = a->stride[d];
    return view;
}

static size_t size_of(const Array *a) { return dtype_storage(a->type, (uint64_t)a->count); }

// The buffer of the array, filled; handle 0: none is needed, or it failed, which the launch then
// says.
static tilec_buffer buffer_of(const Launcher *l, const Array *a) {
    tilec_buffer buffer = {0};
    if (l->own_memory) tilec_buffer_create(l->device, size_of(a), &buffer);
    if (buffer.handle && size_of(a))
        tilec_buffer_write(l->device, NULL, buffer, 0, a->data, size_of(a));
    return buffer;
}

static tilec_arg arg_of(const Arg *arg, tilec_buffer buffer) {
    tilec_view view;
    switch (arg->kind) {
    case ARG_ARRAY:
        view = view_of(arg->array);
        if (buffer.handle) view.data = NULL, view.buffer = buffer;
        return tilec_arg_view(view);
    case ARG_POINTER:
        return buffer.handle ? tilec_arg_buffer(buffer, 0) : tilec_arg_pointer(arg->array->data);
    case ARG_INT: return tilec_arg_int(arg->integer);
    case ARG_REAL: return tilec_arg_double(arg->real);
    }
    return tilec_arg_int(0);
}

const char *launcher_run(Launcher *launcher, const Example *example, Run *run) {
    tilec_spec_entry entries[RUN_MAX_SPECS + LAUNCHER_OPTIONS];
    tilec_arg args[RUN_MAX_ARGS];
    tilec_kernel *kernel = NULL;
    for (int i = 0; i < run->spec_count; i++) {
        const Spec *spec = &run->specs[i];
        entries[i] = (tilec_spec_entry){.kind = spec->is_type ? TILEC_SPEC_TYPE : TILEC_SPEC_CONST,
                                        .name = spec->name,
                                        .dtype = (tilec_dtype)spec->type,
                                        .value = spec->value};
    }
    int count = run->spec_count;
    for (int i = 0; i < launcher->option_count; i++) entries[count++] = launcher->options[i];
    tilec_buffer buffers[RUN_MAX_ARGS] = {{0}};
    for (int i = 0; i < run->arg_count; i++) {
        if (run->args[i].array) buffers[i] = buffer_of(launcher, run->args[i].array);
        args[i] = arg_of(&run->args[i], buffers[i]);
    }
    run_before(run);
    tilec_status status =
        tilec_kernel_from_file(launcher->context, launcher->device, example->file, example->kernel,
                               &(tilec_spec){.count = (size_t)count, .entries = entries}, &kernel);
    if (!status) status = tilec_launch(kernel, NULL, args, (size_t)run->arg_count);
    if (!status) status = tilec_device_synchronize(launcher->device);
    tilec_kernel_destroy(kernel);
    launcher->unsupported = status == TILEC_UNSUPPORTED;
    if (status)
        snprintf(launcher->text, sizeof launcher->text, "%s", tilec_last_error(launcher->context));
    for (int i = 0; i < run->arg_count; i++) {
        if (!buffers[i].handle) continue;
        const Array *a = run->args[i].array;
        if (!status && size_of(a))
            tilec_buffer_read(launcher->device, NULL, buffers[i], 0, a->data, size_of(a));
        tilec_buffer_destroy(launcher->device, buffers[i]);
    }
    return status ? launcher->text : NULL;
}
