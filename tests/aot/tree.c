// A library that tilec_add_library makes in tilec's own tree.
#include <stdio.h>
#include <tree_ops.h>

int main(void) {
    enum { N = 100 };
    static float a[N], b[N], c[N];
    tilec_context *ctx = NULL;
    tilec_device *dev = NULL;
    tilec_library *lib = NULL;
    for (int i = 0; i < N; i++) a[i] = (float)i, b[i] = 1000;
    if (tilec_context_create(NULL, &ctx)) return 1;
    int failed = tilec_device_open_for(ctx, &tree_ops_archive, &dev) || tree_ops_load(dev, &lib) ||
                 add_f32(tilec_device_stream(dev), tilec_view1(TILEC_F32, a, N),
                         tilec_view1(TILEC_F32, b, N), tilec_view1(TILEC_F32, c, N)) ||
                 tilec_device_synchronize(dev);
    if (failed) fprintf(stderr, "%s\n", tilec_last_error(ctx));
    for (int i = 0; i < N; i++) failed |= c[i] != (float)(1000 + i);
    tilec_context_destroy(ctx);
    return failed;
}
