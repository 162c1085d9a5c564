// The cache on disk: compiled kernels by the hash of all they were made of.
//
// One file an entry, named by what it holds, so that tools can look into it: "<key>.so" a shared
// object, ".ptx" a text for NVIDIA's driver, ".cubin" machine code for it, ".hsaco" a code object
// for AMD's; behind the code the notes (what the launch must know of the code, code.h) and a foot
// with sizes, version, key and a checksum over everything. Invariants: an entry is believed only
// when all that fits; what does not is removed and made again. The folder is private to the user
// (base/os/os_folder.h); one that is not, that cannot be made or written, or a full disk turns the
// cache off or leaves entries out, with a word to the log, and never fails a compilation. Several
// processes and threads may use one folder. The sum of sizes stays under the limit: what was used
// longest ago goes first, at the next keep, also when the limit is lower than it was. An entry of
// more than half the limit, or of 64 MiB, is left out, with a word to the log. Files of others in
// the folder stay and do not count. Folder: the context's cache_folder, $TILEC_CACHE_DIR,
// $XDG_CACHE_HOME/tilec, ~/.cache/tilec. $TILEC_CACHE=off turns it off; $TILEC_CACHE_SIZE is its
// limit ("200M"; default 512 MiB). Ownership: cache_destroy; what cache_find gives belongs to the
// arena given.
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
    const char *path;   // of the file, for people; NULL: it is in none
    const char *reach;  // of the same file in the folder that was looked at, while the cache lives
} CacheEntry;

typedef void CacheLog(void *user, const char *text);
typedef struct Cache Cache;

// The folder is opened at the first use. `folder`: NULL: by the environment; "": no cache.
// `log` may be NULL.
Cache *cache_create(const char *folder, CacheLog *log, void *user);
void cache_destroy(Cache *cache);

bool cache_find(Cache *cache, CacheKind kind, const HashKey *key, Arena *arena, CacheEntry *entry);
// Sets both paths, in `arena`, when it was kept.
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
    bool whole;       // after cache_check
    Str why;          // it is not
} CacheRow;
typedef VEC(CacheRow) CacheRows;

// Opens an existing folder for looking at it; NULL after saying why. `missing`: there is none yet.
OsFolder *cache_folder_open(Arena *arena, Str path, bool *missing, OsError *error);
bool cache_list(const OsFolder *folder, Arena *arena, CacheRows *rows, OsError *error);
void cache_check(const OsFolder *folder, Arena *arena, CacheRow *row);
bool cache_remove(const OsFolder *folder, const CacheRow *row, OsError *error);
// Entries and what unfinished writers left; counts what went.
bool cache_clear(const OsFolder *folder, Arena *arena, uint64_t *files, uint64_t *bytes,
                 OsError *error);
// "512M", "1G", "65536"; false when it is no size.
bool cache_size_parse(Str text, uint64_t *bytes);

#endif
