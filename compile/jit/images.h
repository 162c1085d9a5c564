// Images: the loaded code of a context. Kernels with equal code share an image.
//
// Invariants: one image for a device and key; an unused one is unloaded. Any thread may call.
// Ownership: each caller of take and put must drop its image; the notes live as long as the image.
//
//     Image *i = images_take(images, device, &key);
//     if (!i) i = images_prepare(device, &key, &notes);   …load…   images_put(images, i, module);
//     images_drop(images, i);
#ifndef TILEC_COMPILE_JIT_IMAGES_H
#define TILEC_COMPILE_JIT_IMAGES_H

#include "compile/pipeline/code.h"
#include "runtime/context.h"

typedef struct Images Images;
typedef struct Image {
    HashKey key;
    tilec_device *device;
    RtModule *module;
    CodeNotes notes;
    Arena *arena;
    unsigned users;
    struct Image *next;
} Image;

Images *images_create(void);
void images_destroy(Images *images);

Image *images_take(Images *images, tilec_device *device, const HashKey *key);  // NULL: none
// Allocates all memory that images_put needs, before anything is loaded.
Image *images_prepare(tilec_device *device, const HashKey *key, const CodeNotes *notes);
void images_forget(Image *image);  // for an image that was only prepared
// Takes over the module. If another thread has put the same image first, that one is returned.
Image *images_put(Images *images, Image *prepared, RtModule *module);
void images_drop(Images *images, Image *image);

#endif
