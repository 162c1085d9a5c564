#include "compile/images.h"

#include <stdlib.h>

struct Images {
    OsMutex *lock;
    Image *first;
};

Images *images_create(void) {
    Images *i = calloc(1, sizeof *i);
    if (!i) os_out_of_memory();
    i->lock = os_mutex_create();
    return i;
}

void images_destroy(Images *images) {
    CHECK(!images->first, "code is still in use as its context goes");
    os_mutex_destroy(images->lock);
    free(images);
}

// The lock is held.
static Image *find(const Images *images, const tilec_device *device, const HashKey *key) {
    for (Image *i = images->first; i; i = i->next)
        if (i->device == device && hash_equal(&i->key, key)) {
            i->users++;
            return i;
        }
    return NULL;
}

Image *images_take(Images *images, tilec_device *device, const HashKey *key) {
    os_mutex_lock(images->lock);
    Image *found = find(images, device, key);
    os_mutex_unlock(images->lock);
    return found;
}

// Texts of the notes belong to the kernel that was first: copied, by way of their bytes.
static void copy_notes(Image *image, const CodeNotes *notes) {
    StrBuf bytes = strbuf(image->arena);
    code_notes_write(notes, &bytes);
    CHECK(code_notes_read(image->arena, strbuf_str(&bytes), &image->notes),
          "notes do not read back");
}

Image *images_put(Images *images, tilec_device *device, const HashKey *key, RtModule *module,
                  const CodeNotes *notes) {
    Image *made = calloc(1, sizeof *made);
    if (!made) os_out_of_memory();
    *made = (Image){
        .key = *key, .device = device, .module = module, .arena = arena_create(), .users = 1};
    copy_notes(made, notes);
    os_mutex_lock(images->lock);
    Image *found = find(images, device, key);
    if (!found) {
        made->next = images->first;
        images->first = made;
    }
    os_mutex_unlock(images->lock);
    if (!found) return made;
    device->api->module_unload(device, module);
    arena_destroy(made->arena);
    free(made);
    return found;
}

// Launches of the kernel that lets go may still run, and look at its metadata: they are waited for,
// with those of other kernels of the same code.
void images_drop(Images *images, Image *image) {
    const RtDeviceApi *api = image->device->api;
    if (api->module_finish) api->module_finish(image->device, image->module);
    os_mutex_lock(images->lock);
    bool last = --image->users == 0;
    if (last) {
        Image **link = &images->first;
        while (*link != image) link = &(*link)->next;
        *link = image->next;
    }
    os_mutex_unlock(images->lock);
    if (!last) return;
    image->device->api->module_unload(image->device, image->module);
    arena_destroy(image->arena);
    free(image);
}
