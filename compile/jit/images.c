#include "compile/jit/images.h"

#include "base/os/os_fork.h"
#include "base/os/os_mutex.h"
#include "base/recover.h"

struct Images {
    OsMutex *lock;
    uint32_t generation;  // value of os_fork_generation at creation
    Image *first;
};

Images *images_create(void) {
    Images *i = recover_new(sizeof *i);
    i->lock = os_mutex_create();
    i->generation = os_fork_generation();
    return i;
}

// In the child of a fork, images that a thread of the parent was about to use or release are
// leaked.
void images_destroy(Images *images) {
    CHECK(!images->first || images->generation != os_fork_generation(),
          "code is still in use when its context is destroyed");
    os_mutex_destroy(images->lock);
    recover_free(images);
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

// The texts of the notes belong to the first kernel. Writing and reading the notes copies them.
static void copy_notes(Image *image, const CodeNotes *notes) {
    StrBuf bytes = strbuf(image->arena);
    code_notes_write(notes, &bytes);
    CHECK(code_notes_read(image->arena, strbuf_str(&bytes), &image->notes),
          "notes do not read back");
}

Image *images_prepare(tilec_device *device, const HashKey *key, const CodeNotes *notes) {
    Image *made = recover_new(sizeof *made);
    *made = (Image){.key = *key, .device = device, .arena = arena_create(), .users = 1};
    copy_notes(made, notes);
    return made;
}

void images_forget(Image *image) {
    arena_destroy(image->arena);
    recover_free(image);
}

Image *images_put(Images *images, Image *made, RtModule *module) {
    made->module = module;
    os_mutex_lock(images->lock);
    Image *found = find(images, made->device, &made->key);
    if (!found) {
        made->next = images->first;
        images->first = made;
    }
    os_mutex_unlock(images->lock);
    if (!found) return made;
    made->device->api->module_unload(made->device, module);
    images_forget(made);
    return found;
}

// Launches of the kernel that drops the image may still run and read its metadata. We wait for
// them, and for launches of other kernels with the same code.
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
    images_forget(image);
}
