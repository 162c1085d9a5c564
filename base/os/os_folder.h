// Folder: a folder that only this user can write to, for the cache of compiled kernels.
//
// Invariants: an open folder is itself a directory (not a symbolic link to one), belongs to this
// user, and only this user may write there. No parent folder lets other users replace entries (/tmp
// does not: its sticky bit is set). The same holds for every file read from it. Files appear whole
// or not at all, under a name without '/'. Two processes may write the same name at once: one of
// the two files is there afterwards. Failures come back as OsError.
// Ownership: os_folder_close.
//
//     OsFolder *f = os_folder_open(arena, "/…/tilec", true, &e);
//     if (f && os_folder_read(f, arena, "a.so", 1 << 20, &bytes, &e)) …
#ifndef TILEC_BASE_OS_OS_FOLDER_H
#define TILEC_BASE_OS_OS_FOLDER_H

#include "base/os/os.h"
#include "base/vec.h"

typedef struct OsFolder OsFolder;

// `create`: a missing folder is made with mode 0700, and its missing parents as well.
OsFolder *os_folder_open(Arena *arena, const char *path, bool create, OsError *error);
void os_folder_close(OsFolder *folder);

// A path to a file in the folder, through the folder's descriptor. While the folder is open, the
// path leads to the folder that was checked, even if its name was replaced since. NULL: the system
// has no such paths.
const char *os_folder_file_path(const OsFolder *folder, Arena *arena, const char *name);

bool os_folder_read(const OsFolder *folder, Arena *arena, const char *name, uint64_t limit,
                    Str *contents, OsError *error);
bool os_folder_write(const OsFolder *folder, Arena *arena, const char *name, Str contents,
                     OsError *error);
// Marks the file as the one used last.
void os_folder_touch(const OsFolder *folder, const char *name);
bool os_folder_remove(const OsFolder *folder, const char *name, OsError *error);

typedef struct OsFolderFile {
    const char *name;
    uint64_t size;
    int64_t used_ns;  // time of the last write or touch, in ns since 1970
} OsFolderFile;
typedef VEC(OsFolderFile) OsFolderFiles;
// The plain files, ordered by name; temporary files of writers are included.
bool os_folder_list(const OsFolder *folder, Arena *arena, OsFolderFiles *files, OsError *error);
// Is this the name of a temporary file of this module, left over or still being written?
bool os_folder_is_temporary(const char *name);

// Writes a new file in the system's temporary folder ($TMPDIR). Its name cannot be guessed: prefix,
// random letters, suffix. Returns its path, or NULL.
const char *os_keep_temporary(Arena *arena, const char *prefix, const char *suffix, Str contents,
                              OsError *error);

#endif
