// The cache on disk: compiled kernels, found by a hash of all their inputs.
//
// Each entry is one file. Its suffix says what it holds, so that other tools can read it:
// "<key>.so" a shared object, ".ptx" a text for NVIDIA's driver, ".cubin" machine code for it,
// ".hsaco" a code object for AMD's. After the code come the notes (what a launch needs to know of
// the code, code.h) and a foot with sizes, version, key and a checksum of everything. Invariants:
// an entry is used only when all of that is correct; otherwise it is removed and compiled again.
// The folder is private to the user (base/os/os_folder.h). If it is not private, or cannot be made
// or written, the cache is off; if the disk is full, entries are left out. Both are logged, and
// never fail a compilation. Several processes and threads may use one folder. The sum of sizes
// stays under the limit: storing an entry removes the least recently used ones first, also when the
// limit was lowered. An entry of more than half the limit, or of 64 MiB, is left out and logged.
// Files that are not ours stay in the folder and do not count. Folder: the context's cache_folder,
// $TILEC_CACHE_DIR, $XDG_CACHE_HOME/tilec, ~/.cache/tilec. $TILEC_CACHE=off turns it off;
// $TILEC_CACHE_SIZE is its limit ("200M"; default 512 MiB). Ownership: cache_destroy; results of
// cache_find belong to the arena given.
//
//     Cache *c = cache_create(NULL, log, user);
//     if (!cache_find(c, CACHE_SHARED, &key, arena, &entry)) {
//         …make it…;
//         cache_keep(c, CACHE_SHARED, &key, arena, &entry);
//     }
#ifndef TILEC_COMPILE_JIT_CACHE_H
#define TILEC_COMPILE_JIT_CACHE_H

#include "base/hash.h"
#include "base/os/os_folder.h"

enum { CACHE_FORMAT = 1 };

typedef enum CacheKind {
    CACHE_SHARED,
    CACHE_PTX,
    CACHE_CUBIN,
    CACHE_HSACO,
    CACHE_OBJECT,
    CACHE_KINDS
} CacheKind;

typedef struct CacheEntry {
    Str code;
    Str notes;
    const char *path;  // of the file, for messages; NULL: there is no file
    const char
        *folder_path;  // the same file, named through the open folder; valid while the cache lives
} CacheEntry;

typedef void CacheLog(void *user, const char *text);
typedef struct Cache Cache;

// The folder is opened at the first use. `folder` NULL: the environment decides; "": no cache.
// `log` may be NULL.
Cache *cache_create(const char *folder, CacheLog *log, void *user);
void cache_destroy(Cache *cache);

bool cache_find(Cache *cache, CacheKind kind, const HashKey *key, Arena *arena, CacheEntry *entry);
// Sets both paths, in `arena`, if the entry was stored.
void cache_keep(Cache *cache, CacheKind kind, const HashKey *key, Arena *arena, CacheEntry *entry);

// ---- What `tilec cache` shows and does

// The folder by the rules above; empty when the cache is off.
Str cache_folder_path(Arena *arena, const char *folder);

// "so", "ptx", "cubin", "hsaco", "o".
const char *cache_kind_name(CacheKind kind);

typedef struct CacheRow {
    HashKey key;
    CacheKind kind;
    uint64_t size;
    int64_t used_ns;  // since 1970
    bool whole;       // set by cache_check
    Str why;          // the reason why it is not whole
} CacheRow;
typedef VEC(CacheRow) CacheRows;

// Opens an existing folder for reading; NULL with the reason in `error`. `missing`: the folder does
// not exist yet.
OsFolder *cache_folder_open(Arena *arena, Str path, bool *missing, OsError *error);
bool cache_list(const OsFolder *folder, Arena *arena, CacheRows *rows, OsError *error);
void cache_check(const OsFolder *folder, Arena *arena, CacheRow *row);
bool cache_remove(const OsFolder *folder, const CacheRow *row, OsError *error);
// Removes entries and the files that unfinished writers left; counts what it removed.
bool cache_clear(const OsFolder *folder, Arena *arena, uint64_t *files, uint64_t *bytes,
                 OsError *error);
// "512M", "1G", "65536"; false when the text is not a size.
bool cache_size_parse(Str text, uint64_t *bytes);

#endif
