// A C++ program against an installed tilec; also compiled alone in every standard that there is.
#include <tilec/dlpack.h>
#include <tilec/tilec.h>
#include <cstdio>

static const char source[] =
    "kernel scale(type T, T x[N], T a, bool on, const B = 4) grid(1) {\n"
    "    if on for i in 0 .. N x[i] = x[i] * a;\n"
    "}\n";

static int fail(tilec_context *context, const char *what) {
    std::fprintf(stderr, "%s: %s\n", what, context ? tilec_last_error(context) : "");
    tilec_context_destroy(context);
    return 1;
}

int main(int argc, char **argv) {
    tilec_context_options options = tilec_context_options();
    options.size = sizeof options;
    tilec_context *context = nullptr;
    tilec_device *device = nullptr;
    tilec_kernel *kernel = nullptr;
    tilec_buffer buffer = tilec_buffer();
    if (tilec_context_create(&options, &context)) return fail(context, "context");
    if (tilec_device_open(context, argc > 1 ? argv[1] : "auto", &device))
        return fail(context, "device");
    if (tilec_kernel_from_source(
            context, device, "scale.tile", source, sizeof source - 1, "scale",
            TILEC_SPEC(TILEC_TYPE("T", TILEC_F32), TILEC_CONST("B", 8), TILEC_OPTION("warps", 4)),
            &kernel))
        return fail(context, "kernel");
    float x[3] = {1, 2, 3};
    if (tilec_buffer_create(device, sizeof x, &buffer) ||
        tilec_buffer_write(device, nullptr, buffer, 0, x, sizeof x))
        return fail(context, "buffer");
    tilec_view view = tilec_buffer_view1(TILEC_F32, buffer, 3);
    if (tilec_launch(kernel, nullptr, TILEC_ARGS(view, 0.5f, true)) ||
        tilec_launch(kernel, nullptr, TILEC_ARGS(tilec_arg_view(view), 3, 1u)) ||
        tilec_buffer_read(device, nullptr, buffer, 0, x, sizeof x) ||
        tilec_device_synchronize(device))
        return fail(context, "launch");
    if (tilec_launch(kernel, nullptr, TILEC_NO_ARGS) != TILEC_LAUNCH_REFUSED)
        return fail(context, "refusal");
    tilec_dl_managed *tensor = nullptr;
    if (tilec_view_to_dlpack(device, &view, &tensor)) return fail(context, "tensor");
    std::printf("%s %g %g %g\n", tilec_dtype_name(view.dtype), double(x[0]), double(x[1]),
                double(x[2]));
    tensor->deleter(tensor);
    tilec_context_destroy(context);
    return 0;
}
