#include <again.h>
#include <kernels.h>
#include <stdio.h>

// Prints what the kernels make of 1, two libraries' after each other.
int main(void) {
    float x = 1, y = 0, z = 0, w = 0;
    tilec_context *ctx = NULL;
    tilec_device *dev = NULL;
    tilec_library *lib = NULL, *other = NULL;
    tilec_view vx = tilec_view1(TILEC_F32, &x, 1), vy = tilec_view1(TILEC_F32, &y, 1);
    tilec_view vz = tilec_view1(TILEC_F32, &z, 1), vw = tilec_view1(TILEC_F32, &w, 1);
    if (tilec_context_create(NULL, &ctx)) return 1;
    if (tilec_device_open_for(ctx, &two_kernels_archive, &dev) || two_kernels_load(dev, &lib) ||
        my_grow_f32(tilec_device_stream(dev), vx, vy) ||
        my_half(tilec_device_stream(dev), vx, vz) || again_load(dev, &other) ||
        other_half(tilec_device_stream(dev), vz, vw) || tilec_device_synchronize(dev)) {
        fprintf(stderr, "%s\n", tilec_last_error(ctx));
        return 1;
    }
    printf("%g %g %g\n", (double)y, (double)z, (double)w);
    tilec_context_destroy(ctx);
    return 0;
}
