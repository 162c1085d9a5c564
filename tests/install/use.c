// The public headers in C, every macro used; compiled in every standard that there is, never run.
#include <stdbool.h>
#include <tilec/dlpack.h>
#include <tilec/tilec.h>

tilec_status use(tilec_context *context, tilec_device *device, tilec_buffer buffer);

tilec_status use(tilec_context *context, tilec_device *device, tilec_buffer buffer) {
    static const char source[] = "kernel k() grid(1) { }";
    tilec_kernel *k = NULL;
    float x[6] = {0};
    const unsigned char *bytes = (const unsigned char *)source;
    tilec_context_options options = {.size = sizeof options};
    tilec_status s = tilec_context_create(&options, &context);
    if (!s)
        s = tilec_kernel_from_source(context, device, "k.tile", source, sizeof source - 1, "k",
                                     TILEC_SPEC(TILEC_TYPE("T", TILEC_BF16), TILEC_CONST("N", 3),
                                                TILEC_OPTION("sanitize", true)),
                                     &k);
    if (!s) s = tilec_launch(k, NULL, TILEC_NO_ARGS);
    if (!s) s = tilec_launch(k, NULL, TILEC_ARGS(x));
    if (!s)
        s = tilec_launch(k, NULL,
                         TILEC_ARGS(tilec_view2(TILEC_F32, x, 2, 3), buffer, bytes, true, 'a', -1,
                                    2L, 3LL, 4u, 5ul, 6ull, 0.5f, 0.25, (short)7, (unsigned short)8,
                                    tilec_arg_buffer(buffer, 4)));
    return s;
}
