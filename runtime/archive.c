#include "runtime/archive.h"

#include <string.h>

#include "base/status.h"
#include "base/unpack.h"
#include "runtime/meta_wire.h"

enum { WHOLE_MAX = 1 << 28 };

// Little endian, at any address.
static uint64_t number_at(const uint8_t *at, int bytes) {
    uint64_t number = 0;
    for (int i = bytes; i-- > 0;) number = number << 8 | at[i];
    return number;
}

static uint32_t word_of(const uint8_t *row, uint32_t word) {
    return (uint32_t)number_at(row + (size_t)word * 4, 4);
}

static bool has_check(const void *bytes, size_t size, const uint8_t *check) {
    HashKey key = hash_of(bytes, size);
    return memcmp(key.bytes, check, ARCHIVE_CHECK) == 0;
}

static bool text_of(Str texts, const uint8_t *row, uint32_t word, Str *text) {
    uint64_t at = word_of(row, word), size = word_of(row, word + 1);
    TRY(at < texts.size && size < texts.size - at);
    *text = (Str){texts.text + at, size};
    return !text->text[size];
}

static const char *check_data(const struct tilec_archive *data) {
    if (!data || data->magic != ARCHIVE_MAGIC) return "it is not an archive";
    if (data->abi != ARCHIVE_ABI || data->size < sizeof *data)
        return "it was built by another version of tilec; build it with the version that is linked";
    if (data->byte_count < ARCHIVE_HEAD) return "it is cut off";
    return NULL;
}

static const char *check_head(const uint8_t *head, uint64_t size) {
    if (memcmp(head, ARCHIVE_HEAD_MAGIC, 8) != 0) return "it does not begin like an archive";
    uint64_t format = number_at(head + ARCHIVE_AT_FORMAT, 4);
    if (!has_check(head, ARCHIVE_AT_CHECK, head + ARCHIVE_AT_CHECK))
        return "its header is damaged; rebuild it";
    if (format < 1 || format > ARCHIVE_FORMAT)
        return "its format is unknown to this version; rebuild it with the version of "
               "tilec that is linked";
    if (number_at(head + ARCHIVE_AT_SIZE, 8) != size) return "it is cut off; rebuild it";
    uint64_t at = number_at(head + ARCHIVE_AT_INDEX, 8);
    uint64_t bytes = number_at(head + ARCHIVE_AT_INDEX_SIZE, 8);
    if (at > size || bytes > size - at) return "its index is beyond its end; rebuild it";
    return NULL;
}

// Splits the index into front, rows and texts.
static bool split_index(Archive *a, uint64_t size) {
    TRY(size >= INDEX_WORDS * 4);
    uint64_t front = word_of(a->index, INDEX_FRONT);
    TRY(front <= size && has_check(a->index, front, a->data->bytes + ARCHIVE_AT_FRONT_CHECK));
    a->target_count = word_of(a->index, INDEX_TARGETS);
    a->function_count = word_of(a->index, INDEX_FUNCTIONS);
    a->group_count = word_of(a->index, INDEX_GROUPS);
    a->tuned = word_of(a->index, INDEX_TUNED);
    a->gpu_abi = word_of(a->index, INDEX_GPU_ABI);
    uint64_t targets = INDEX_WORDS * 4;
    uint64_t front_texts = targets + (uint64_t)a->target_count * INDEX_TARGET_WORDS * 4;
    uint64_t groups = front + (uint64_t)a->function_count * INDEX_FUNCTION_WORDS * 4;
    uint64_t texts = groups + (uint64_t)a->group_count * INDEX_GROUP_WORDS * 4;
    TRY(front_texts <= front && texts <= size && a->tuned <= a->group_count);
    a->targets = a->index + targets;
    a->front_texts = (Str){(const char *)a->index + front_texts, front - front_texts};
    a->functions = a->index + front;
    a->groups = a->index + groups;
    a->texts = (Str){(const char *)a->index + texts, size - texts};
    return text_of(a->front_texts, a->index, INDEX_NAME, &a->name) &&
           text_of(a->front_texts, a->index, INDEX_COMMAND, &a->command);
}

static bool targets_are_whole(const Archive *a) {
    Str name;
    for (uint32_t i = 0; i < a->target_count; i++)
        TRY(text_of(a->front_texts, a->targets + (size_t)i * INDEX_TARGET_WORDS * 4, 0, &name));
    return true;
}

bool archive_open(const struct tilec_archive *data, Archive *archive, const char **wrong) {
    *wrong = check_data(data);
    if (!*wrong) *wrong = check_head(data->bytes, data->byte_count);
    if (*wrong) return false;
    const uint8_t *head = data->bytes;
    *archive = (Archive){.data = data};
    archive->index = head + number_at(head + ARCHIVE_AT_INDEX, 8);
    archive->interface_number = number_at(head + ARCHIVE_AT_INTERFACE, 8);
    if (!split_index(archive, number_at(head + ARCHIVE_AT_INDEX_SIZE, 8)) ||
        !targets_are_whole(archive))
        *wrong = "its index is damaged; rebuild it";
    return !*wrong;
}

bool archive_verify(const Archive *archive, const char **wrong) {
    const uint8_t *head = archive->data->bytes;
    bool good = has_check(archive->index, number_at(head + ARCHIVE_AT_INDEX_SIZE, 8),
                          head + ARCHIVE_AT_INDEX_CHECK);
    *wrong = good ? NULL : "its index is damaged; rebuild it";
    return good;
}

bool archive_target(const Archive *archive, uint32_t number, ArchiveTarget *target) {
    *target = (ArchiveTarget){0};
    if (number >= archive->target_count) return false;
    const uint8_t *row = archive->targets + (size_t)number * INDEX_TARGET_WORDS * 4;
    TRY(text_of(archive->front_texts, row, 0, &target->name));
    target->known = gpu_target_parse(target->name, &target->gpu) ||
                    cpu_target_parse(target->name, &target->cpu);
    return true;
}

bool archive_function(const Archive *archive, uint32_t number, ArchiveFunction *function) {
    if (number >= archive->function_count) return false;
    const uint8_t *row = archive->functions + (size_t)number * INDEX_FUNCTION_WORDS * 4;
    function->first_group = word_of(row, 4);
    function->group_count = word_of(row, 5);
    return function->first_group <= archive->group_count &&
           function->group_count <= archive->group_count - function->first_group &&
           text_of(archive->texts, row, 0, &function->name) &&
           text_of(archive->texts, row, 2, &function->prototype);
}

HashKey archive_function_check(const uint8_t *row, Str name, Str prototype, const uint8_t *groups,
                               uint32_t group_count) {
    Hash hash = hash_begin();
    hash_bytes(&hash, row, INDEX_FUNCTION_CHECK * 4);
    hash_text(&hash, name);
    hash_text(&hash, prototype);
    hash_bytes(&hash, groups, (size_t)group_count * INDEX_GROUP_WORDS * 4);
    return hash_end(&hash);
}

bool archive_function_whole(const Archive *archive, uint32_t number, ArchiveFunction *function) {
    TRY(archive_function(archive, number, function));
    const uint8_t *row = archive->functions + (size_t)number * INDEX_FUNCTION_WORDS * 4;
    const uint8_t *groups = archive->groups + (size_t)function->first_group * INDEX_GROUP_WORDS * 4;
    HashKey key = archive_function_check(row, function->name, function->prototype, groups,
                                         function->group_count);
    return memcmp(key.bytes, row + INDEX_FUNCTION_CHECK * 4, 8) == 0;
}

// Functions are in the order of their names.
int64_t archive_find(const Archive *archive, Str name) {
    uint32_t low = 0, high = archive->function_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        ArchiveFunction f;
        if (!archive_function(archive, middle, &f)) return ARCHIVE_NONE;
        int order = str_compare(f.name, name);
        if (!order) return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return ARCHIVE_NONE;
}

static const uint8_t *group_row(const Archive *archive, uint32_t group) {
    return group < archive->group_count ? archive->groups + (size_t)group * INDEX_GROUP_WORDS * 4
                                        : NULL;
}

bool archive_group_target(const Archive *archive, uint32_t group, uint32_t *target) {
    const uint8_t *row = group_row(archive, group);
    if (!row) return false;
    *target = word_of(row, 0);
    return *target < archive->target_count;
}

static ArchiveResult group_bytes(const Archive *archive, uint32_t group, Arena *arena, Str *bytes) {
    const uint8_t *row = group_row(archive, group);
    if (!row) return ARCHIVE_DAMAGED;
    uint64_t packed = word_of(row, 1), whole = word_of(row, 2), at = number_at(row + 16, 8);
    uint64_t size = archive->data->byte_count;
    if (at > size || packed > size - at || whole > WHOLE_MAX) return ARCHIVE_DAMAGED;
    const uint8_t *from = archive->data->bytes + at;
    if (!has_check(from, packed, row + 24)) return ARCHIVE_DAMAGED;
    char *to = arena_alloc(arena, whole + 1);  // drivers want texts to end in a zero
    *bytes = (Str){to, whole};
    switch (unpack((Str){(const char *)from, packed}, to, whole)) {
    case UNPACK_OK: return ARCHIVE_OK;
    case UNPACK_NO_MEMORY: return ARCHIVE_NO_MEMORY;
    case UNPACK_DAMAGED: break;
    }
    return ARCHIVE_DAMAGED;
}

// The state of reading a group.
typedef struct GroupReader {
    WireReader wire;
    Arena *arena;
    uint32_t blob_count, first_entry;
    Str *blobs;
} GroupReader;

// Number 0 stands for "no blob".
static Str read_blob(GroupReader *r) {
    uint32_t number = wire_below(&r->wire, (uint64_t)r->blob_count + 1);
    return number ? r->blobs[number - 1] : STR("");
}

static void read_alternative(GroupReader *r, ArchiveAlternative *a) {
    a->meta = meta_read(&r->wire, r->arena);
    if (!a->meta) return;
    ArchiveCode *codes = arena_new(r->arena, ArchiveCode, a->meta->variant_count);
    for (uint32_t i = 0; i < a->meta->variant_count; i++) {
        codes[i].bytes = read_blob(r);
        codes[i].cubin = read_blob(r);
        codes[i].entry = r->first_entry + wire_below(&r->wire, UINT32_MAX);
    }
    a->codes = codes;
}

ArchiveResult archive_group(const Archive *archive, uint32_t group, Arena *arena,
                            ArchiveGroup *out) {
    GroupReader r = {.arena = arena};
    ArchiveResult result = group_bytes(archive, group, arena, &r.wire.bytes);
    if (result) return result;
    r.first_entry = word_of(group_row(archive, group), 3);
    out->kernel = wire_text(&r.wire);
    out->source = wire_text(&r.wire);
    r.blob_count = wire_count(&r.wire);
    r.blobs = arena_new(arena, Str, r.blob_count + 1);
    for (uint32_t i = 0; i < r.blob_count; i++) r.blobs[i] = wire_text(&r.wire);
    out->count = wire_count(&r.wire);
    out->alternatives = arena_new(arena, ArchiveAlternative, out->count + 1);
    for (uint32_t i = 0; i < out->count && !r.wire.failed; i++)
        read_alternative(&r, &out->alternatives[i]);
    return out->count && wire_ended(&r.wire) ? ARCHIVE_OK : ARCHIVE_DAMAGED;
}

ArchiveResult archive_tuned(const Archive *archive, Arena *arena, Str *table) {
    *table = STR("");
    return archive->tuned ? group_bytes(archive, archive->tuned - 1, arena, table) : ARCHIVE_OK;
}

static uint32_t fit_nvidia(GpuTarget code, GpuTarget device) {
    // Code for exactly one architecture is the best there, and runs only on it. Otherwise the
    // newest code that is not newer than the device is the best.
    if (code.own) return code.number == device.number ? 2 * code.number + 1 : 0;
    return code.number <= device.number ? 2 * code.number : 0;
}

static uint32_t fit_cpu(CpuTarget code, CpuTarget limit) {
    if (!cpu_runs(limit, code)) return 0;
    return 1 + (uint32_t)code.level * 32 + (uint32_t)__builtin_popcount(code.extras);
}

uint32_t archive_fit(const ArchiveTarget *target, const ArchivePlace *place) {
    if (!target->known || target->gpu.vendor != place->gpu.vendor) return 0;
    switch (place->gpu.vendor) {
    case GPU_NONE: return fit_cpu(target->cpu, place->limit);
    case GPU_NVIDIA: return fit_nvidia(target->gpu, place->gpu);
    case GPU_AMD:
        if (!gpu_target_runs(target->gpu, place->gpu)) return 0;
        return target->gpu.generic ? 1 : 2;
    }
    return 0;
}
