#include "compile/jit/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os_mutex.h"
#include "base/recover.h"
#include "base/status.h"

enum { DEFAULT_LIMIT_MIB = 512, ENTRY_LIMIT = 64 << 20, NAME_SIZE = HASH_HEX + 8 };

struct Cache {
    CacheLog *log;
    void *user;
    OsMutex *lock;  // protects all members below
    const char *wanted;
    Arena *arena;
    VEC(const char *) unsaid;
    bool opened;       // opening was tried
    Str path;          // of the folder, absolute
    OsFolder *folder;  // NULL: the cache is off
    uint64_t limit;
    uint64_t size;  // of all files at the last look; other processes may have added some since
    bool size_known;
    bool write_failed;  // was reported
    bool too_large;     // was reported
};

// ---- The trailer of an entry ----

typedef struct CacheTrailer {
    char magic[8];
    uint64_t format;
    uint64_t code_size, notes_size;
    HashKey key;
    HashKey sum;  // of all bytes before this field
} CacheTrailer;
_Static_assert(sizeof(CacheTrailer) == 96 && offsetof(CacheTrailer, sum) == 64,
               "a trailer has no holes");
static const char trailer_magic[8] = {'t', 'i', 'l', 'e', 'c', 'c', 'k', 0};

static Str entry_bytes(Arena *arena, const HashKey *key, CacheEntry entry) {
    CacheTrailer trailer = {.format = CACHE_FORMAT,
                            .code_size = entry.code.size,
                            .notes_size = entry.notes.size,
                            .key = *key};
    memcpy(trailer.magic, trailer_magic, sizeof trailer_magic);
    size_t size = entry.code.size + entry.notes.size + sizeof trailer;
    char *bytes = arena_alloc(arena, size), *at = bytes;
    if (entry.code.size) memcpy(at, entry.code.text, entry.code.size);
    at += entry.code.size;
    if (entry.notes.size) memcpy(at, entry.notes.text, entry.notes.size);
    at += entry.notes.size;
    memcpy(at, &trailer, offsetof(CacheTrailer, sum));
    trailer.sum = hash_of(bytes, size - sizeof trailer.sum);
    memcpy(at + offsetof(CacheTrailer, sum), &trailer.sum, sizeof trailer.sum);
    return (Str){bytes, size};
}

// Returns NULL for an intact entry that belongs to the key, else the problem.
static const char *entry_read(Str bytes, const HashKey *key, CacheEntry *entry) {
    CacheTrailer trailer;
    if (bytes.size < sizeof trailer) return "it is cut off";
    size_t body = bytes.size - sizeof trailer;
    memcpy(&trailer, bytes.text + body, sizeof trailer);
    if (memcmp(trailer.magic, trailer_magic, sizeof trailer_magic) != 0)
        return "it does not end as an entry does";
    if (trailer.format != CACHE_FORMAT) return "it is of another version";
    HashKey sum = hash_of(bytes.text, bytes.size - sizeof trailer.sum);
    if (!hash_equal(&sum, &trailer.sum)) return "its checksum is wrong";
    if (!hash_equal(&trailer.key, key)) return "it belongs to another key";
    if (trailer.code_size > body || trailer.notes_size != body - trailer.code_size)
        return "its sizes do not add up";
    entry->code = (Str){bytes.text, (size_t)trailer.code_size};
    entry->notes = (Str){bytes.text + trailer.code_size, (size_t)trailer.notes_size};
    return NULL;
}

static const char *const kind_names[CACHE_KINDS] = {[CACHE_SHARED] = "so",
                                                    [CACHE_PTX] = "ptx",
                                                    [CACHE_CUBIN] = "cubin",
                                                    [CACHE_HSACO] = "hsaco",
                                                    [CACHE_OBJECT] = "o"};

const char *cache_kind_name(CacheKind kind) { return kind_names[kind]; }

static const char *entry_name(CacheKind kind, const HashKey *key, char name[NAME_SIZE]) {
    char hex[HASH_HEX + 1];
    hash_hex(key, hex);
    snprintf(name, NAME_SIZE, "%s.%s", hex, kind_names[kind]);
    return name;
}

static bool entry_key(const char *name, CacheKind *kind, HashKey *key) {
    Str text = str(name);
    if (text.size < HASH_HEX + 1 || name[HASH_HEX] != '.') return false;
    for (int i = 0; i < CACHE_KINDS; i++) {
        if (strcmp(name + HASH_HEX + 1, kind_names[i]) != 0) continue;
        *kind = (CacheKind)i;
        return hash_from_hex((Str){name, HASH_HEX}, key);
    }
    return false;
}

// ---- Where, and how much ----

static const char *environment(const char *name) {
    const char *value = os_env(name);
    return value && value[0] ? value : NULL;
}

Str cache_folder_path(Arena *arena, const char *folder) {
    const char *mode = environment("TILEC_CACHE");
    if (mode && strcmp(mode, "off") == 0) return STR("");
    if (!folder) folder = environment("TILEC_CACHE_DIR");
    if (folder) return (Str){arena_text(arena, folder, strlen(folder)), strlen(folder)};
    StrBuf path = strbuf(arena);
    const char *xdg = environment("XDG_CACHE_HOME"), *home = environment("HOME");
    if (xdg && xdg[0] == '/')  // the XDG specification says to ignore relative ones
        strbuf_printf(&path, "%s/tilec", xdg);
    else if (home)
        strbuf_printf(&path, "%s/.cache/tilec", home);
    return strbuf_str(&path);
}

bool cache_size_parse(Str text, uint64_t *bytes) {
    static const struct {
        char letter;
        int shift;
    } units[] = {{'K', 10}, {'M', 20}, {'G', 30}};
    int shift = 0;
    for (size_t i = 0; text.size && i < sizeof units / sizeof *units; i++)
        if (text.text[text.size - 1] == units[i].letter) shift = units[i].shift;
    if (shift) text.size--;
    bool overflow = false;
    if (!str_to_u64(text, bytes, &overflow) || overflow || *bytes > UINT64_MAX >> shift)
        return false;
    *bytes <<= shift;
    return true;
}

// Messages are logged after the lock is released, because the log function is the caller's. Each
// message comes only once or twice.
static void log_message(Cache *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void log_message(Cache *c, const char *format, ...) {
    if (!c->log) return;
    va_list args;
    va_start(args, format);
    StrBuf text = strbuf(c->arena);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    vec_push(c->arena, &c->unsaid, text.text);
}

static void unlock_and_log(Cache *c, Arena *arena) {
    size_t count = c->unsaid.count;
    const char **texts = NULL;
    if (count) texts = arena_copy(arena, c->unsaid.data, count * sizeof *texts);
    c->unsaid.count = 0;
    os_mutex_unlock(c->lock);
    for (size_t i = 0; i < count; i++) c->log(c->user, texts[i]);
}

static void read_switch(Cache *c) {
    const char *mode = environment("TILEC_CACHE");
    if (mode && strcmp(mode, "off") != 0 && strcmp(mode, "on") != 0)
        log_message(c, "TILEC_CACHE is '%s', expected on or off; using on", mode);
}

static void read_limit(Cache *c) {
    c->limit = (uint64_t)DEFAULT_LIMIT_MIB << 20;
    const char *text = environment("TILEC_CACHE_SIZE");
    if (text && !cache_size_parse(str(text), &c->limit))
        log_message(
            c,
            "TILEC_CACHE_SIZE is '%s', expected a number of bytes, or with K, M or G; using %d MiB",
            text, DEFAULT_LIMIT_MIB);
}

Cache *cache_create(const char *folder, CacheLog *log, void *user) {
    Cache *c = recover_new(sizeof *c);
    c->lock = os_mutex_create();
    c->arena = arena_create();
    c->wanted = folder ? arena_text(c->arena, folder, strlen(folder)) : NULL;
    c->log = log;
    c->user = user;
    return c;
}

void cache_destroy(Cache *cache) {
    if (!cache) return;
    os_folder_close(cache->folder);
    arena_destroy(cache->arena);
    os_mutex_destroy(cache->lock);
    recover_free(cache);
}

// The path of the folder that was opened and checked, even if the process changes its directory.
static OsFolder *open_path(Cache *c, Str path, OsError *e) {
    TRY(os_path_absolute(c->arena, path, &path, e));
    OsFolder *folder = os_folder_open(c->arena, path.text, true, e);
    c->path = os_path_real(c->arena, path);
    return folder;
}

// The lock is held. NULL: the cache is off. `opened` is set when the attempt has ended.
static OsFolder *open_folder(Cache *c) {
    if (c->opened) return c->folder;
    read_switch(c);
    read_limit(c);
    Str path = cache_folder_path(c->arena, c->wanted);
    if (path.size && c->limit) {
        OsError e;
        OsFolder *folder = open_path(c, path, &e);
        if (!folder)
            log_message(c, "compiled kernels are not kept: the folder '%s' cannot be used: %s",
                        path.text, e.text);
        recover_keep_block(folder);
        c->folder = folder;
    }
    c->opened = true;
    return c->folder;
}

// ---- Finding and keeping ----

// Without /proc the file is opened by its name, in a folder that only this user can write to.
static void place(const Cache *c, Arena *arena, const char *name, CacheEntry *entry) {
    entry->path = arena_printf(arena, "%.*s/%s", STR_ARG(c->path), name);
    entry->folder_path = os_folder_file_path(c->folder, arena, name);
    if (!entry->folder_path) entry->folder_path = entry->path;
}

bool cache_find(Cache *cache, CacheKind kind, const HashKey *key, Arena *arena, CacheEntry *entry) {
    os_mutex_lock(cache->lock);
    const OsFolder *folder = open_folder(cache);
    unlock_and_log(cache, arena);
    if (!folder) return false;
    char name[NAME_SIZE];
    Str bytes;
    OsError e;
    if (!os_folder_read(folder, arena, entry_name(kind, key, name), ENTRY_LIMIT, &bytes, &e))
        return false;
    const char *wrong = entry_read(bytes, key, entry);
    if (!wrong) {
        os_folder_touch(folder, name);
        place(cache, arena, name, entry);
        return true;
    }
    if (cache->log)
        cache->log(cache->user,
                   arena_printf(arena, "the cache's entry %s is not used, and is replaced: %s",
                                name, wrong));
    os_folder_remove(folder, name, &e);
    return false;
}

static int oldest_first(const void *a, const void *b) {
    const OsFolderFile *x = a, *y = b;
    if (x->used_ns != y->used_ns) return x->used_ns < y->used_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

// Files that are not ours stay in the folder and do not count.
static void keep_ours(OsFolderFiles *files) {
    size_t kept = 0;
    CacheKind kind;
    HashKey key;
    for (size_t i = 0; i < files->count; i++) {
        const char *name = files->data[i].name;
        if (entry_key(name, &kind, &key) || os_folder_is_temporary(name))
            files->data[kept++] = files->data[i];
    }
    files->count = kept;
}

// Adds up the sizes and, above the limit, removes the least recently used entries down to nine
// tenths of it, so that this is not needed for every new entry.
static void evict(Cache *c, Arena *arena, uint64_t more) {
    if (c->size_known && c->size + more <= c->limit) return;
    OsFolderFiles files = {0};
    OsError e;
    c->size = 0;
    c->size_known = os_folder_list(c->folder, arena, &files, &e);
    keep_ours(&files);
    for (size_t i = 0; i < files.count; i++) c->size += files.data[i].size;
    if (c->size + more <= c->limit) return;
    qsort(files.data, files.count, sizeof *files.data, oldest_first);
    for (size_t i = 0; i < files.count && c->size + more > c->limit / 10 * 9; i++)
        if (os_folder_remove(c->folder, files.data[i].name, &e)) c->size -= files.data[i].size;
}

static void log_too_large(Cache *c, size_t size, uint64_t most) {
    if (!c->too_large)
        log_message(
            c,
            "a compiled kernel of %zu bytes is not kept: an entry may have %llu bytes, at most "
            "half of TILEC_CACHE_SIZE",
            size, (unsigned long long)most);
    c->too_large = true;
}

static void keep(Cache *c, CacheKind kind, Arena *arena, const HashKey *key, CacheEntry *entry) {
    Str bytes = entry_bytes(arena, key, *entry);
    uint64_t most = c->limit / 2 < ENTRY_LIMIT ? c->limit / 2 : ENTRY_LIMIT;
    bool fits = bytes.size <= most;
    // the folder may have been filled under a higher limit
    evict(c, arena, fits ? bytes.size : 0);
    if (!fits) {
        log_too_large(c, bytes.size, most);
        return;
    }
    char name[NAME_SIZE];
    OsError e;
    if (os_folder_write(c->folder, arena, entry_name(kind, key, name), bytes, &e)) {
        c->size += bytes.size;
        place(c, arena, name, entry);
        return;
    }
    if (!c->write_failed)
        log_message(c, "compiled kernels are not kept: cannot write %s: %s", name, e.text);
    c->write_failed = true;
}

void cache_keep(Cache *cache, CacheKind kind, const HashKey *key, Arena *arena, CacheEntry *entry) {
    os_mutex_lock(cache->lock);
    entry->path = entry->folder_path = NULL;
    if (open_folder(cache)) keep(cache, kind, arena, key, entry);
    unlock_and_log(cache, arena);
}

// ---- For looking at it ----

OsFolder *cache_folder_open(Arena *arena, Str path, bool *missing, OsError *error) {
    *missing = !os_path_exists(path.text);
    return *missing ? NULL : os_folder_open(arena, path.text, false, error);
}

bool cache_list(const OsFolder *folder, Arena *arena, CacheRows *rows, OsError *error) {
    OsFolderFiles files = {0};
    TRY(os_folder_list(folder, arena, &files, error));
    for (size_t i = 0; i < files.count; i++) {
        CacheRow row = {.size = files.data[i].size, .used_ns = files.data[i].used_ns};
        if (entry_key(files.data[i].name, &row.kind, &row.key)) vec_push(arena, rows, row);
    }
    return true;
}

void cache_check(const OsFolder *folder, Arena *arena, CacheRow *row) {
    char name[NAME_SIZE];
    Str bytes;
    OsError e;
    CacheEntry entry;
    ArenaMark mark = arena_mark(arena);
    if (os_folder_read(folder, arena, entry_name(row->kind, &row->key, name), ENTRY_LIMIT, &bytes,
                       &e)) {
        const char *wrong = entry_read(bytes, &row->key, &entry);
        arena_reset(arena, mark);
        row->why = str(wrong);
        row->whole = !wrong;
        return;
    }
    arena_reset(arena, mark);
    row->why = str(arena_text(arena, e.text, strlen(e.text)));
}

bool cache_remove(const OsFolder *folder, const CacheRow *row, OsError *error) {
    char name[NAME_SIZE];
    return os_folder_remove(folder, entry_name(row->kind, &row->key, name), error);
}

// Files that are not ours stay: the user may have named a folder that holds other files.
bool cache_clear(const OsFolder *folder, Arena *arena, uint64_t *files, uint64_t *bytes,
                 OsError *error) {
    OsFolderFiles found = {0};
    *files = *bytes = 0;
    TRY(os_folder_list(folder, arena, &found, error));
    for (size_t i = 0; i < found.count; i++) {
        CacheKind kind;
        HashKey key;
        const OsFolderFile *f = &found.data[i];
        if (!entry_key(f->name, &kind, &key) && !os_folder_is_temporary(f->name)) continue;
        TRY(os_folder_remove(folder, f->name, error));
        ++*files;
        *bytes += f->size;
    }
    return true;
}
