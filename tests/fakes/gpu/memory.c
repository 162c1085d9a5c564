// The fakes' devices and memory.
#include <stdio.h>
#include <string.h>

#include "tests/fakes/gpu/state.h"

enum {
    HOST_MAX = 1 << 21,  // bytes of one piece
    MEMORY_TYPE = 2      // of a pointer's attributes, with both
};

GpuResult fake_init(unsigned flags) {
    GpuResult r = fake_begin(GPU_CALL_init, false);
    if (!r && flags) r = FAKE_INVALID_VALUE;
    if (!r && !fake_state.device_count) r = FAKE_NO_DEVICE;
    if (!r) fake_state.ready = true;
    return fake_end(r);
}

GpuResult fake_get_version(int *version) {
    GpuResult r = fake_begin(GPU_CALL_get_version, false);
    *version = fake_state.version;
    return fake_end(r);
}

static GpuResult begin_ready(GpuCall call) {
    GpuResult r = fake_begin(call, false);
    return r ? r : fake_state.ready ? 0 : FAKE_NOT_INITIALIZED;
}

GpuResult fake_device_get_count(int *count) {
    GpuResult r = begin_ready(GPU_CALL_device_get_count);
    if (!r) *count = fake_state.device_count;
    return fake_end(r);
}

GpuResult fake_device_get(GpuNumber *device, int ordinal) {
    GpuResult r = begin_ready(GPU_CALL_device_get);
    if (!r && (ordinal < 0 || ordinal >= fake_state.device_count)) r = FAKE_INVALID_DEVICE;
    if (!r) *device = ordinal;
    return fake_end(r);
}

GpuResult fake_device_get_name(char *name, int size, GpuNumber device) {
    GpuResult r = begin_ready(GPU_CALL_device_get_name);
    if (!r) snprintf(name, (size_t)size, "Fake %d", device);
    return fake_end(r);
}

GpuResult fake_device_get_memory(size_t *bytes, GpuNumber device) {
    GpuResult r = begin_ready(GPU_CALL_device_get_memory);
    if (!r && (device < 0 || device >= fake_state.device_count)) r = FAKE_INVALID_DEVICE;
    if (!r) *bytes = (size_t)1 << 32;
    return fake_end(r);
}

GpuResult fake_device_get_bus(char *bus, int size, GpuNumber device) {
    GpuResult r = begin_ready(GPU_CALL_device_get_bus);
    if (!r && (device < 0 || device >= fake_state.device_count)) r = FAKE_INVALID_DEVICE;
    if (!r) snprintf(bus, (size_t)size, "0000:%02x:00.0", 16 + device);
    return fake_end(r);
}

GpuResult fake_device_get_attribute(int *value, GpuAttribute attribute, GpuNumber device) {
    GpuResult r = begin_ready(GPU_CALL_device_get_attribute);
    if (!r && (device < 0 || device >= fake_state.device_count)) r = FAKE_INVALID_DEVICE;
    if (r) return fake_end(r);
    return fake_end(fake_attribute(attribute, device, value) ? 0 : FAKE_INVALID_VALUE);
}

GpuResult fake_synchronize(void) {
    GpuResult r = fake_begin(GPU_CALL_synchronize, true);
    return fake_end(r ? r : fake_run_all(fake_current()));
}

// ---- Memory ----

// In whole units, as atomics of one byte change all of it: drivers give out more.
static bool alloc_units(FakeDevice *d, size_t size, uint64_t *at) {
    static const uint8_t zeros[8];
    size_t more = (fake_facts.memory_unit - size % fake_facts.memory_unit) % fake_facts.memory_unit;
    if (size > (size_t)1 << 32 || !sim_memory_alloc(fake_memory(d), size + more, "m", at))
        return false;
    if (more) sim_memory_write(d->memory, *at + size, zeros, more);
    return true;
}

GpuResult fake_mem_alloc(GpuAddress *address, size_t size) {
    GpuResult r = fake_begin(GPU_CALL_mem_alloc, true);
    if (!r && !size) r = FAKE_INVALID_VALUE;
    if (!r && fake_state.captured) r = FAKE_CAPTURE_UNSUPPORTED;
    uint64_t at = 0;
    if (!r && !alloc_units(fake_device(), size, &at)) r = FAKE_OUT_OF_MEMORY;
    if (r) return fake_end(r);
    fake_device()->allocations++;
    *address = at;
    return fake_end(0);
}

GpuResult fake_mem_free(GpuAddress address) {
    GpuResult r = fake_begin(GPU_CALL_mem_free, true);
    if (!r) r = fake_run_all(fake_current());
    if (r) return fake_end(r);
    if (!sim_memory_free(fake_device()->memory, address)) {
        fake_problem("memory freed that is not there");
        return fake_end(FAKE_INVALID_VALUE);
    }
    fake_device()->allocations--;
    return fake_end(0);
}

// Memory of the machine's, whose bytes the host can reach: both have it.
GpuResult fake_host_alloc(void **memory, size_t size, unsigned flags) {
    GpuResult r = fake_begin(GPU_CALL_host_alloc, true);
    if (!r && flags != fake_facts.host_flags) r = FAKE_INVALID_VALUE;
    if (r) return fake_end(r);
    FakeDevice *d = fake_device();
    HostBlock b = {.size = size};
    if (size > HOST_MAX || !sim_memory_alloc(fake_memory(d), size, "h", &b.address))
        return fake_end(FAKE_OUT_OF_MEMORY);
    static const uint8_t zeros[256];
    for (size_t at = 0; at < size; at += sizeof zeros)
        sim_memory_write(d->memory, b.address + at, zeros,
                         size - at < sizeof zeros ? size - at : sizeof zeros);
    b.bytes = sim_memory_find(d->memory, b.address, size)->bytes;
    vec_push(fake_state.arena, &d->host, b);
    *memory = b.bytes;
    return fake_end(0);
}

static HostBlock *find_host(const void *memory) {
    FakeDevice *d = fake_device();
    for (size_t i = 0; i < d->host.count; i++)
        if (d->host.data[i].bytes == memory && !d->host.data[i].dead) return &d->host.data[i];
    return NULL;
}

// Is the address within memory of the host that the driver gave?
static bool is_host(uint64_t address) {
    const FakeDevice *d = fake_device();
    for (size_t i = 0; i < d->host.count; i++) {
        const HostBlock *b = &d->host.data[i];
        if (!b->dead && address - (uint64_t)(uintptr_t)b->bytes < b->size) return true;
    }
    return false;
}

GpuResult fake_host_free(void *memory) {
    GpuResult r = fake_begin(GPU_CALL_host_free, true);
    if (r) return fake_end(r);
    HostBlock *b = find_host(memory);
    if (!b) {
        fake_problem("memory of the host freed that is not there");
        return fake_end(FAKE_INVALID_VALUE);
    }
    b->dead = true;
    sim_memory_free(fake_device()->memory, b->address);
    return fake_end(0);
}

GpuResult fake_host_address(GpuAddress *address, void *memory, unsigned flags) {
    GpuResult r = fake_begin(GPU_CALL_host_address, true);
    const HostBlock *b = r || flags ? NULL : find_host(memory);
    if (!r && !b) r = FAKE_INVALID_VALUE;
    if (!r) *address = b->address;
    return fake_end(r);
}

static bool find_memory(GpuAddress pointer, unsigned *type) {
    bool host = is_host(pointer);
    if (!host && !sim_memory_find(fake_memory(fake_device()), pointer, 1)) return false;
    *type = fake_memory_type(host);
    return true;
}

#ifdef FAKE_HIP
GpuResult fake_pointer_get_attribute(void *value, GpuPointerAttribute attribute,
                                     GpuAddress pointer) {
    GpuResult r = fake_begin(GPU_CALL_pointer_get_attribute, true);
    if (!r && (attribute != MEMORY_TYPE || !find_memory(pointer, value))) r = FAKE_INVALID_VALUE;
    return fake_end(r);
}
#else
GpuResult fake_pointer_get_attributes(unsigned count, GpuPointerAttribute *attributes,
                                      void **values, GpuAddress pointer) {
    GpuResult r = fake_begin(GPU_CALL_pointer_get_attributes, true);
    for (unsigned i = 0; i < count && !r; i++) {
        if (attributes[i] != MEMORY_TYPE)
            r = FAKE_INVALID_VALUE;
        else if (!find_memory(pointer, values[i]))
            *(unsigned *)values[i] = 0;
    }
    return fake_end(r);
}
#endif

static void push_copy(Thing *stream, Work w, int to_device, int from_device) {
    w.kind = WORK_COPY;
    w.to_device = to_device;
    w.from_device = from_device;
    fake_push(stream, w);
}

static GpuResult copy(GpuCall call, uint64_t to, uint64_t from, size_t size,
                      GpuStreamHandle stream) {
    GpuResult r = fake_begin(call, true);
    Thing *s = r ? NULL : fake_check(stream, THING_STREAM);
    if (!r && !s) r = FAKE_INVALID_HANDLE;
    if (!r && !size) r = FAKE_INVALID_VALUE;
    bool host_to = call == GPU_CALL_copy_to_host, host_from = call == GPU_CALL_copy_to_device;
    if (!r && (sim_address_is_global(to) == host_to || sim_address_is_global(from) == host_from)) {
        fake_problem("%s: memory of the wrong side", fake_symbol(call));
        r = FAKE_INVALID_VALUE;
    }
    if (!r) push_copy(s, (Work){.to = to, .from = from, .size = size}, s->device, s->device);
    return fake_end(r);
}

GpuResult fake_copy_to_device(GpuAddress to, const void *from, size_t size,
                              GpuStreamHandle stream) {
    return copy(GPU_CALL_copy_to_device, to, (uint64_t)(uintptr_t)from, size, stream);
}
GpuResult fake_copy_to_host(void *to, GpuAddress from, size_t size, GpuStreamHandle stream) {
    return copy(GPU_CALL_copy_to_host, (uint64_t)(uintptr_t)to, from, size, stream);
}
GpuResult fake_copy_within(GpuAddress to, GpuAddress from, size_t size, GpuStreamHandle stream) {
    return copy(GPU_CALL_copy_within, to, from, size, stream);
}

static GpuResult fill(GpuCall call, uint64_t to, uint64_t pattern, size_t unit, size_t count,
                      GpuStreamHandle stream) {
    GpuResult r = fake_begin(call, true);
    Thing *s = r ? NULL : fake_check(stream, THING_STREAM);
    if (!r && !s) r = FAKE_INVALID_HANDLE;
    if (!r && (!count || to % unit || !sim_address_is_global(to))) {
        fake_problem("%s: a fill of no memory of the device", fake_symbol(call));
        r = FAKE_INVALID_VALUE;
    }
    Work w = {.kind = WORK_FILL, .to = to, .size = count * unit, .pattern = pattern, .unit = unit};
    if (!r) fake_push(s, w);
    return fake_end(r);
}

GpuResult fake_fill_bytes(GpuAddress to, unsigned char value, size_t count,
                          GpuStreamHandle stream) {
    return fill(GPU_CALL_fill_bytes, to, value, 1, count, stream);
}
GpuResult fake_fill_halves(GpuAddress to, unsigned short value, size_t count,
                           GpuStreamHandle stream) {
    return fill(GPU_CALL_fill_halves, to, value, 2, count, stream);
}
GpuResult fake_fill_words(GpuAddress to, unsigned value, size_t count, GpuStreamHandle stream) {
    return fill(GPU_CALL_fill_words, to, value, 4, count, stream);
}

#ifndef FAKE_HIP_5
GpuResult fake_host_function(GpuStreamHandle stream, GpuHostFunction function, void *data) {
    GpuResult r = fake_begin(GPU_CALL_host_function, true);
    Thing *s = r ? NULL : fake_check(stream, THING_STREAM);
    if (!r && (!s || !function)) r = FAKE_INVALID_HANDLE;
    if (!r) fake_push(s, (Work){.kind = WORK_HOST, .call = function, .data = data});
    return fake_end(r);
}
#endif

static GpuResult copy_between(GpuCall call, Work w, int to_device, int from_device,
                              GpuStreamHandle stream) {
    GpuResult r = fake_begin(call, true);
    Thing *s = r ? NULL : fake_check(stream, THING_STREAM);
    if (!r && !s) r = FAKE_INVALID_HANDLE;
    if (!r && (!w.size || !sim_address_is_global(w.to) || !sim_address_is_global(w.from))) {
        fake_problem("%s: no memory of devices", fake_symbol(call));
        r = FAKE_INVALID_VALUE;
    }
    bool known = to_device >= 0 && from_device >= 0;
    if (!r && !known) r = FAKE_INVALID_DEVICE;
    if (!r) push_copy(s, w, to_device, from_device);
    return fake_end(r);
}

#ifdef FAKE_HIP
static int number_of(int device) { return device < fake_state.device_count ? device : -1; }

GpuResult fake_copy_devices(GpuAddress to, int to_device, GpuAddress from, int from_device,
                            size_t size, GpuStreamHandle stream) {
    return copy_between(GPU_CALL_copy_devices, (Work){.to = to, .from = from, .size = size},
                        number_of(to_device), number_of(from_device), stream);
}
#else
static int number_of(GpuContext context) {
    const Thing *t = (const Thing *)context;
    return t && t->kind == THING_CONTEXT && !t->dead ? t->device : -1;
}

GpuResult fake_copy_contexts(GpuAddress to, GpuContext to_context, GpuAddress from,
                             GpuContext from_context, size_t size, GpuStreamHandle stream) {
    return copy_between(GPU_CALL_copy_contexts, (Work){.to = to, .from = from, .size = size},
                        number_of(to_context), number_of(from_context), stream);
}
#endif
