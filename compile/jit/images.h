// Images: the loaded code of a context, shared by kernels that come to the same code.
//
// Invariants: one image for a device and key; one that nobody uses is unloaded. Any thread may ask.
// Ownership: whoever took or put an image drops it; its notes live as long.
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
// All memory that putting it needs, before anything is loaded.
Image *images_prepare(tilec_device *device, const HashKey *key, const CodeNotes *notes);
void images_forget(Image *image);  // one that was only prepared
// Takes the module over; when another thread came first, that one's image is given.
Image *images_put(Images *images, Image *prepared, RtModule *module);
void images_drop(Images *images, Image *image);

#endif
