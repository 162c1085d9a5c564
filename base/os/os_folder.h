// Folder: a folder of this user alone, for the cache of compiled kernels.
//
// Invariants: an open folder is a directory itself (no symbolic link to one), belongs to this user,
// nobody else may write there, and no folder above it lets everybody exchange what lies in it (/tmp
// does not: its sticky bit is set); the same holds for every file read from it. Files appear whole
// or not at all, under a name without '/'; two processes may write the same name at once: one of
// the two is there afterwards. Failures come back as OsError. Ownership: os_folder_close.
//
//     OsFolder *f = os_folder_open(arena, "/…/tilec", true, &e);
//     if (f && os_folder_read(f, arena, "a.so", 1 << 20, &bytes, &e)) …
#ifndef TILEC_BASE_OS_OS_FOLDER_H
#define TILEC_BASE_OS_OS_FOLDER_H

#include "base/os/os.h"
#include "base/vec.h"

typedef struct OsFolder OsFolder;

// `create`: made with mode 0700 when it is missing, and the folders above it as well.
OsFolder *os_folder_open(Arena *arena, const char *path, bool create, OsError *error);
void os_folder_close(OsFolder *folder);

// A path to a file in it, by the folder's descriptor: it leads to the folder that was looked at,
// whatever its name stands for by now, while the folder is open. NULL: the system has no such
// paths.
const char *os_folder_reach(const OsFolder *folder, Arena *arena, const char *name);

bool os_folder_read(const OsFolder *folder, Arena *arena, const char *name, uint64_t limit,
                    Str *contents, OsError *error);
bool os_folder_write(const OsFolder *folder, Arena *arena, const char *name, Str contents,
                     OsError *error);
// Makes the file the one used last.
void os_folder_touch(const OsFolder *folder, const char *name);
bool os_folder_remove(const OsFolder *folder, const char *name, OsError *error);

typedef struct OsFolderFile {
    const char *name;
    uint64_t size;
    int64_t used_ns;  // when it was written or touched last, since 1970
} OsFolderFile;
typedef VEC(OsFolderFile) OsFolderFiles;
// The plain files, ordered by name; the temporary ones of writers included.
bool os_folder_list(const OsFolder *folder, Arena *arena, OsFolderFiles *files, OsError *error);
// Does the file's name say that a writer of this module left it, or has not finished yet?
bool os_folder_is_temporary(const char *name);

// Writes a new file of the system's temporary folder ($TMPDIR), whose name nobody can have guessed:
// prefix, random letters, suffix. Its path, or NULL.
const char *os_keep_temporary(Arena *arena, const char *prefix, const char *suffix, Str contents,
                              OsError *error);

#endif
