// Modules of the device `hip`: code objects, and the reasons why HIP refuses some.
#include <stdio.h>
#include <string.h>

#include "base/recover.h"
#include "runtime/hip/device.h"
#include "runtime/hip/state.h"

// ---- The object's head ----

enum {
    HEAD = 64,
    ABI_AT = 8,
    MACHINE_AT = 18,
    PROGRAMS_AT = 32,
    SECTIONS_AT = 40,
    PROGRAM_SIZE_AT = 54,
    SECTION_SIZE_AT = 58,
    MACHINE_AMDGPU = 224
};

static uint64_t field(Str bytes, size_t at, size_t size) {
    uint64_t value = 0;
    memcpy(&value, bytes.text + at, size);
    return value;
}

// `at` is the position of a table's offset, `row` that of its row size and count: is the table
// within the bytes?
static bool table_fits(Str bytes, size_t at, size_t row) {
    uint64_t offset = field(bytes, at, 8), size = field(bytes, row, 2) * field(bytes, row + 2, 2);
    return offset <= bytes.size && size <= bytes.size - offset;
}

// HIP gets no size and trusts the tables, so we check them.
static bool is_object(Str bytes) {
    return bytes.size >= HEAD && memcmp(bytes.text, "\177ELF\2\1", 6) == 0 &&
           field(bytes, MACHINE_AT, 2) == MACHINE_AMDGPU &&
           table_fits(bytes, PROGRAMS_AT, PROGRAM_SIZE_AT) &&
           table_fits(bytes, SECTIONS_AT, SECTION_SIZE_AT);
}

static uint32_t object_version(Str bytes) { return (uint32_t)field(bytes, ABI_AT, 1) + 2; }

// The versions that HIP accepts: 5 since ROCm 5.6, 6 since 6.4.
uint32_t hip_object_newest(int version) {
    if (version < 50600000) return 4;
    return version < 60400000 ? 5 : 6;
}

// ---- Load ----

static tilec_status fail_load(const tilec_device *device, Arena *arena, GpuResult code, Str bytes) {
    const GpuDevice *d = device->state;
    if (hip_code(code).kind != GPU_ERROR_UNSUPPORTED)
        return gpu_fail(device, GPU_CALL_module_load, code);
    uint32_t found = object_version(bytes), newest = hip_object_newest(d->version);
    StrBuf help = strbuf(arena);
    if (found > newest) {
        hip_version_text(d->version, &help);
        strbuf_printf(&help,
                      " reads code objects up to version %u, and this one is of version %u: update "
                      "ROCm, or make one of an earlier version",
                      newest, found);
    }
    Diags *diags =
        gpu_bad_code(device, arena, sources_create(arena), code, found > newest ? help.text : NULL);
    return rt_fail_diags(device->context, TILEC_UNSUPPORTED, diags);
}

tilec_status hip_load(tilec_device *device, Arena *arena, const RtImage *image, RtModule *m) {
    const GpuDevice *d = device->state;
    if (image->kind != RT_IMAGE_HSACO || image->size != sizeof(RtPtxImage))
        return rt_fail(device->context, TILEC_INVALID_ARGUMENT, "device %s runs code objects only",
                       device->name);
    const RtPtxImage *object = image->data;
    if (!is_object(object->text))
        return rt_fail(device->context, TILEC_UNSUPPORTED,
                       "device %s: the code is not a complete code object", device->name);
    // It is undocumented whether HIP copies the bytes, so we keep them.
    m->image = recover_new(object->text.size);
    memcpy(m->image, object->text.text, object->text.size);
    GpuResult r = GPU_DO(d, module_load, &m->handle, m->image, 0, NULL, NULL);
    if (r) return fail_load(device, arena, r, object->text);
    return gpu_module_function(device, arena, m, object->entry);
}
