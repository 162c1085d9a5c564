// POSIX: directories, permissions, writing under a temporary name and renaming.
#define _GNU_SOURCE  // O_PATH, O_DIRECTORY, O_NOFOLLOW, mkostemps
#include "base/os/os_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/os/os_write.h"

struct OsFolder {
    int fd;
};

static bool fail(OsError *error, int number, const char *text) {
    error->number = number;
    snprintf(error->text, sizeof error->text, "%s", text);
    return false;
}

// ---- Opening ----

// Makes the missing parent folders, then the folder itself; existing folders are not an error.
static void create_all(Arena *arena, const char *path) {
    char *copy = arena_text(arena, path, strlen(path));
    for (char *at = copy + 1; *at; at++) {
        if (*at != '/') continue;
        *at = 0;
        mkdir(copy, 0700);
        *at = '/';
    }
    mkdir(copy, 0700);
}

static bool is_private(int fd, OsError *error) {
    struct stat info;
    if (fstat(fd, &info) != 0) return os_error_number(error, errno);
    if (info.st_uid != geteuid()) return fail(error, EPERM, "belongs to another user");
    if (info.st_mode & (S_IWGRP | S_IWOTH)) return fail(error, EPERM, "others may write there");
    return true;
}

// A user who may write to a folder without a sticky bit can replace its entries. This checks the
// parents of the open folder itself, however its name was spelled.
static bool is_safe_above(int fd, Arena *arena, const char *path, OsError *error) {
    enum { MOST = 120 };  // bytes of the name in the message
    Str real = os_path_real(arena, str(path));
    struct stat below, info;
    bool safe = true, top = fstat(fd, &below) != 0;
    int at = top ? -1 : openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (at >= 0 && safe && !top) {
        while (real.size > 1 && real.text[real.size - 1] != '/') real.size--;
        if (real.size > 1) real.size--;
        top = fstat(at, &info) != 0 || (info.st_ino == below.st_ino && info.st_dev == below.st_dev);
        safe = top || !(info.st_mode & S_IWOTH) || info.st_mode & S_ISVTX;
        below = info;
        int up = top ? -1 : openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        close(at);
        at = up;
    }
    if (at >= 0) close(at);
    if (safe) return true;
    error->number = EPERM;
    snprintf(error->text, sizeof error->text,
             "everyone may write to '%.*s' above it, and so replace the folder; "
             "chmod o-w that, or name another folder",
             (int)(real.size < MOST ? real.size : MOST), real.text);
    return false;
}

// Strips endings that would make the system follow a final link: "link/", "link/.".
static const char *without_tail(Arena *arena, const char *path) {
    Str name = str(path);
    bool shorter = true;
    while (shorter && name.size > 1) {
        bool here = name.size > 2 && str_ends(name, STR("/."));
        shorter = here || name.text[name.size - 1] == '/';
        if (shorter) name.size -= here ? 2 : 1;
    }
    return arena_text(arena, name.text, name.size);
}

OsFolder *os_folder_open(Arena *arena, const char *named, bool create, OsError *error) {
    const char *path = without_tail(arena, named);
    if (create) create_all(arena, path);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        struct stat info;
        if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
            fail(error, ELOOP, "is a symbolic link");
        else
            os_error_number(error, errno);
        return NULL;
    }
    OwnedFile file;
    os_own_descriptor(&file, fd);
    bool safe = is_private(fd, error) && is_safe_above(fd, arena, path, error);
    OsFolder *folder = safe ? recover_new(sizeof *folder) : NULL;
    if (!folder) {
        os_close_descriptor(&file);
        return NULL;
    }
    recover_keep(&file.owned);
    folder->fd = fd;
    return folder;
}

void os_folder_close(OsFolder *folder) {
    if (!folder) return;
    close(folder->fd);
    recover_free(folder);
}

// ---- Locks ----

bool os_lock_folder_of(Arena *arena, const char *path, double seconds, OsLock *lock) {
    enum { STEP_NS = 5000000 };
    Str real = os_path_real(arena, str(path));
    const char *text = arena_text(arena, real.text, real.size), *slash = strrchr(text, '/');
    const char *folder = slash ? arena_text(arena, text, (size_t)(slash - text) + 1) : ".";
    uint64_t end = os_time_ns() + (uint64_t)(seconds * 1e9);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    lock->held = fd >= 0;
    if (lock->held) os_own_descriptor(&lock->folder, fd);
    while (lock->held && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if ((errno == EWOULDBLOCK || errno == EINTR) && os_time_ns() < end) {
            nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
            continue;
        }
        os_unlock_folder(lock);
    }
    return lock->held;
}

void os_unlock_folder(OsLock *lock) {
    if (lock->held) os_close_descriptor(&lock->folder);
    lock->held = false;
}

// ---- Files ----

static bool read_whole(int fd, Arena *arena, size_t size, Str *contents, OsError *error) {
    char *bytes = arena_alloc(arena, size + 1);
    size_t done = 0;
    while (done < size) {
        ssize_t n = read(fd, bytes + done, size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return os_error_number(error, errno);
        if (n == 0) return fail(error, EIO, "became shorter while it was read");
        done += (size_t)n;
    }
    *contents = (Str){bytes, size};
    return true;
}

static bool read_private(int fd, Arena *arena, uint64_t limit, Str *contents, OsError *error) {
    struct stat info;
    if (!is_private(fd, error)) return false;
    if (fstat(fd, &info) != 0) return os_error_number(error, errno);
    if (!S_ISREG(info.st_mode)) return fail(error, EINVAL, "is not a plain file");
    if (info.st_size < 0 || (uint64_t)info.st_size > limit)
        return fail(error, EFBIG, "is too large");
    return read_whole(fd, arena, (size_t)info.st_size, contents, error);
}

// The path names the process by its number, since debuggers open it as well; a mounted /proc may
// belong to another process namespace.
const char *os_folder_file_path(const OsFolder *folder, Arena *arena, const char *name) {
    char *path = arena_printf(arena, "/proc/%ld/fd/%d/%s", (long)getpid(), folder->fd, name);
    if (access(path, R_OK) == 0) return path;
    path = arena_printf(arena, "/proc/self/fd/%d/%s", folder->fd, name);
    return access(path, R_OK) == 0 ? path : NULL;
}

bool os_folder_read(const OsFolder *folder, Arena *arena, const char *name, uint64_t limit,
                    Str *contents, OsError *error) {
    // Without blocking: opening a pipe of that name must not wait.
    int fd = openat(folder->fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return os_error_number(error, errno);
    OwnedFile file;
    os_own_descriptor(&file, fd);
    bool done = read_private(fd, arena, limit, contents, error);
    os_close_descriptor(&file);
    return done;
}

#define TEMPORARY_END ".tmp"
enum { TEMPORARY_TRIES = 100 };

bool os_folder_is_temporary(const char *name) {
    return name[0] == '.' && str_ends(str(name), STR(TEMPORARY_END));
}

// Threads of this process, and processes on other machines that share the folder, may pick the same
// number. The one that comes second tries the next number.
static int open_temporary(const OsFolder *folder, Arena *arena, const char *name, char **path) {
    for (int i = 0; i < TEMPORARY_TRIES; i++) {
        *path = arena_printf(arena, ".%s.%ld-%d" TEMPORARY_END, name, (long)getpid(), i);
        int fd =
            openat(folder->fd, *path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

bool os_folder_write(const OsFolder *folder, Arena *arena, const char *name, Str contents,
                     OsError *error) {
    char *temporary;
    int fd = open_temporary(folder, arena, name, &temporary);
    if (fd < 0) return os_error_number(error, errno);
    bool done = os_write_all(fd, contents, error);
    if (close(fd) != 0 && done) done = os_error_number(error, errno);
    if (done && renameat(folder->fd, temporary, folder->fd, name) != 0)
        done = os_error_number(error, errno);
    if (!done) unlinkat(folder->fd, temporary, 0);
    return done;
}

void os_folder_touch(const OsFolder *folder, const char *name) {
    // If this fails, at worst the file is evicted early.
    (void)utimensat(folder->fd, name, NULL, AT_SYMLINK_NOFOLLOW);
}

bool os_folder_remove(const OsFolder *folder, const char *name, OsError *error) {
    if (unlinkat(folder->fd, name, 0) == 0) return true;
    return os_error_number(error, errno);
}

// ---- Listing ----

static int by_name(const void *a, const void *b) {
    const OsFolderFile *x = a, *y = b;
    return strcmp(x->name, y->name);
}

typedef struct OwnedEntries {
    Owned owned;
    DIR *entries;
} OwnedEntries;

static void release_entries(Owned *owned) { closedir(((OwnedEntries *)owned)->entries); }

bool os_folder_list(const OsFolder *folder, Arena *arena, OsFolderFiles *files, OsError *error) {
    int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = fd < 0 ? NULL : fdopendir(fd);
    if (!entries) {
        os_error_number(error, errno);
        if (fd >= 0) close(fd);
        return false;
    }
    OwnedEntries own = {.entries = entries};
    recover_own(&own.owned, OWNED_FRAME, release_entries);
    for (const struct dirent *e; (e = readdir(entries));) {
        struct stat info;
        if (fstatat(folder->fd, e->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(info.st_mode))
            continue;
        OsFolderFile file = {
            .name = arena_text(arena, e->d_name, strlen(e->d_name)),
            .size = (uint64_t)info.st_size,
            .used_ns = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec};
        vec_push(arena, files, file);
    }
    recover_keep(&own.owned);
    closedir(entries);
    if (files->count) qsort(files->data, files->count, sizeof *files->data, by_name);
    return true;
}

// ---- Files for people ----

const char *os_keep_temporary(Arena *arena, const char *prefix, const char *suffix, Str contents,
                              OsError *error) {
    const char *folder = os_env("TMPDIR");
    if (!folder || !folder[0]) folder = P_tmpdir;
    char *path = arena_printf(arena, "%s/%sXXXXXX%s", folder, prefix, suffix);
    int fd = mkostemps(path, (int)strlen(suffix), O_CLOEXEC);
    if (fd < 0) {
        os_error_number(error, errno);
        return NULL;
    }
    bool done = os_write_all(fd, contents, error);
    if (close(fd) != 0) done = false;
    if (!done) unlink(path);
    return done ? path : NULL;
}
