// Files, paths, the machine and memory. Only this file and the other os_*.c include POSIX headers.
#define _GNU_SOURCE  // sched_getaffinity, newlocale, secure_getenv
#include "base/os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/os/os_write.h"

// ---- Errors ----

static bool fail(OsError *error, int number, const char *text) {
    error->number = number;
    snprintf(error->text, sizeof error->text, "%s", text);
    return false;
}

// The C library's text in the project's style: lower case, and in English whatever the locale.
bool os_error_number(OsError *error, int number) {
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    fail(error, number, c ? strerror_l(number, c) : "input or output error");
    if (c) freelocale(c);
    bool word = error->text[0] >= 'A' && error->text[0] <= 'Z' && error->text[1] >= 'a' &&
                error->text[1] <= 'z';
    if (word) error->text[0] = (char)(error->text[0] - 'A' + 'a');
    return false;
}

static bool fail_limit(OsError *error, uint64_t limit) {
    char text[64];
    unsigned long long size = limit;
    if (limit && limit % (1U << 20) == 0) {
        snprintf(text, sizeof text, "is larger than %llu MiB", size >> 20);
    } else if (limit && limit % (1U << 10) == 0) {
        snprintf(text, sizeof text, "is larger than %llu KiB", size >> 10);
    } else {
        snprintf(text, sizeof text, "is larger than %llu bytes", size);
    }
    return fail(error, EFBIG, text);
}

void os_die_out_of_memory(void) {
    fputs("tilec: out of memory\n", stderr);
    exit(70);
}

static _Thread_local OsWork *current_work;

void os_work_begin(OsWork *work) {
    work->outer = current_work;
    current_work = work;
}

void os_work_end(OsWork *work) { current_work = work->outer; }

OsWork *os_work_current(void) { return current_work; }

void os_work_restore(OsWork *work) { current_work = work; }

void os_defect(const char *file, int line, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (line)
        fprintf(stderr, "tilec: internal defect at %s:%d: ", file, line);
    else
        fprintf(stderr, "tilec: internal defect in %s: ", file);
    vfprintf(stderr, format, args);
    fputs("\n", stderr);
    va_end(args);
    recover_leave_all();
    // If `keep` itself hits a defect, the next one in the list is called.
    for (OsWork *work; (work = current_work);) {
        current_work = work->outer;
        work->on_defect(work);
    }
    exit(70);
}

static void release_descriptor(Owned *owned) { close(((OwnedFile *)owned)->number); }

void os_own_descriptor(OwnedFile *file, int number) {
    file->number = number;
    recover_own(&file->owned, OWNED_FRAME, release_descriptor);
}

void os_close_descriptor(OwnedFile *file) {
    recover_keep(&file->owned);
    close(file->number);
}

// ---- Reading ----

// Reads until the end, at most `limit` bytes. `expected` is a guess of the size.
static bool read_all(Arena *arena, int fd, uint64_t limit, uint64_t expected, Str *contents,
                     OsError *error) {
    size_t capacity = (size_t)(expected < limit ? expected : limit) + 1;  // one for the NUL
    if (capacity < 4096) capacity = 4096;
    char *text = arena_alloc(arena, capacity);
    size_t size = 0;
    for (;;) {
        if (size + 1 == capacity) {
            char probe;
            ssize_t more = read(fd, &probe, 1);
            if (more == 0) break;
            if (more < 0 && errno == EINTR) continue;
            if (more < 0) return os_error_number(error, errno);
            if (size >= limit) return fail_limit(error, limit);
            char *grown = arena_alloc(arena, capacity * 2);
            memcpy(grown, text, size);
            text = grown;
            capacity *= 2;
            text[size++] = probe;
        }
        ssize_t n = read(fd, text + size, capacity - 1 - size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return os_error_number(error, errno);
        if (n == 0) break;
        size += (size_t)n;
        if (size > limit) return fail_limit(error, limit);
    }
    text[size] = 0;
    *contents = (Str){text, size};
    return true;
}

static bool read_fd(Arena *arena, int fd, uint64_t limit, Str *contents, OsError *error) {
    struct stat info;
    if (fstat(fd, &info) != 0) return os_error_number(error, errno);
    if (S_ISDIR(info.st_mode)) return fail(error, EISDIR, "is a directory");
    bool regular = S_ISREG(info.st_mode);
    uint64_t expected = regular && info.st_size > 0 ? (uint64_t)info.st_size : 0;
    if (!regular && limit > OS_STREAM_MAX) limit = OS_STREAM_MAX;
    if (expected > limit) return fail_limit(error, limit);
    if (expected > os_memory_size())
        return fail(error, ENOMEM, "is larger than the memory of this machine");
    return read_all(arena, fd, limit, expected, contents, error);
}

bool os_read_file(Arena *arena, const char *path, uint64_t limit, Str *contents, OsError *error) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return os_error_number(error, errno);
    OwnedFile file;
    os_own_descriptor(&file, fd);
    bool done = read_fd(arena, fd, limit, contents, error);
    os_close_descriptor(&file);
    return done;
}

bool os_read_stdin(Arena *arena, uint64_t limit, Str *contents, OsError *error) {
    return read_fd(arena, STDIN_FILENO, limit, contents, error);
}

// ---- Writing ----

enum { TEMPORARY_TRIES = 100 };

// A device or a pipe cannot be replaced by a new file, so it is written directly.
static bool begin_direct(OsFile *file, OsError *error) {
    int fd = open(file->path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return os_error_number(error, errno);
    file->stream = fdopen(fd, "wb");
    if (file->stream) return true;
    os_error_number(error, errno);
    close(fd);
    return false;
}

static int open_temporary(Arena *arena, OsFile *file) {
    for (int i = 0; i < TEMPORARY_TRIES; i++) {
        file->temporary = arena_printf(arena, "%s.%ld-%d.tmp", file->path, (long)getpid(), i);
        int fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

static bool begin_temporary(Arena *arena, OsFile *file, const struct stat *old, OsError *error) {
    int fd = open_temporary(arena, file);
    if (fd < 0) {
        file->temporary = NULL;
        return os_error_number(error, errno);
    }
    // The new file keeps the permissions of the one it replaces. If that fails, the write is still
    // a success.
    if (old && fchmod(fd, old->st_mode & 0777) != 0) errno = 0;
    file->stream = fdopen(fd, "wb");
    if (file->stream) return true;
    os_error_number(error, errno);
    close(fd);
    unlink(file->temporary);
    return false;
}

bool os_file_begin(Arena *arena, const char *path, OsFile *file, OsError *error) {
    Str real = os_path_real(arena, str(path));
    *file = (OsFile){.path = arena_text(arena, real.text, real.size)};
    struct stat info;
    bool exists = stat(file->path, &info) == 0;
    if (!exists && errno != ENOENT) return os_error_number(error, errno);
    if (exists && S_ISDIR(info.st_mode)) return fail(error, EISDIR, "is a directory");
    if (exists && !S_ISREG(info.st_mode)) return begin_direct(file, error);
    return begin_temporary(arena, file, exists ? &info : NULL, error);
}

static bool commit(OsFile *file, OsError *error) {
    bool written = fflush(file->stream) == 0 && !ferror(file->stream);
    int number = written ? 0 : errno ? errno : EIO;
    if (fclose(file->stream) != 0 && written) {
        written = false;
        number = errno;
    }
    file->stream = NULL;
    if (written && file->temporary && rename(file->temporary, file->path) != 0) {
        written = false;
        number = errno;
    }
    if (!written && file->temporary) unlink(file->temporary);
    file->temporary = NULL;
    return written ? true : os_error_written(error, number);
}

bool os_file_commit(OsFile *file, OsError *error) {
    OsWriting writing;
    os_writing_begin(&writing);
    bool done = commit(file, error);
    os_writing_end(&writing);
    return done;
}

void os_file_abandon(OsFile *file) {
    OsWriting writing;
    os_writing_begin(&writing);  // closing the stream writes what is still buffered
    if (file->stream) fclose(file->stream);
    os_writing_end(&writing);
    if (file->temporary) unlink(file->temporary);
    file->stream = NULL;
    file->temporary = NULL;
}

bool os_write_file(Arena *arena, const char *path, Str contents, OsError *error) {
    OsFile file;
    if (!os_file_begin(arena, path, &file, error)) return false;
    OsWriting writing;
    os_writing_begin(&writing);
    size_t written = contents.size ? fwrite(contents.text, 1, contents.size, file.stream) : 0;
    os_writing_end(&writing);
    if (written == contents.size) return os_file_commit(&file, error);
    int number = errno;
    os_file_abandon(&file);
    return os_error_written(error, number);
}

bool os_make_folder(const char *path, OsError *error) {
    struct stat st;
    if (mkdir(path, 0777) == 0) return true;
    int number = errno;
    if (number == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) return true;
    return os_error_written(error, number);
}

// ---- Paths ----

bool os_path_exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

static bool is_terminal(const char *path) {
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    bool terminal = fd >= 0 && isatty(fd);
    if (fd >= 0) close(fd);
    return terminal;
}

bool os_path_may_block(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) return false;
    return S_ISFIFO(info.st_mode) || (S_ISCHR(info.st_mode) && is_terminal(path));
}

// The folder in which a new file at `path` would be created.
static char *folder_of(Arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash) return arena_text(arena, ".", 1);
    return arena_text(arena, path, slash == path ? 1 : (size_t)(slash - path));
}

bool os_path_writable(Arena *arena, const char *path, OsError *error) {
    Str real = os_path_real(arena, str(path));
    const char *file = arena_text(arena, real.text, real.size);
    struct stat info;
    bool exists = stat(file, &info) == 0;
    if (!file[0] || (!exists && errno != ENOENT))
        return os_error_number(error, file[0] ? errno : ENOENT);
    if (exists && S_ISDIR(info.st_mode)) return fail(error, EISDIR, "is a directory");
    bool replaced = !exists || S_ISREG(info.st_mode);  // by a new file in the same folder
    const char *needed = replaced ? folder_of(arena, file) : file;
    return access(needed, replaced ? W_OK | X_OK : W_OK) == 0 ? true
                                                              : os_error_number(error, errno);
}

Str os_path_resolve(Arena *arena, Str base, Str path) {
    size_t folder = base.size;
    while (folder && base.text[folder - 1] != '/') folder--;
    if (path.size && path.text[0] == '/') folder = 0;
    StrBuf b = strbuf(arena);
    strbuf_add(&b, (Str){base.text, folder});
    strbuf_add(&b, path);
    return strbuf_str(&b);
}

Str os_path_real(Arena *arena, Str path) {
    char *copy = arena_text(arena, path.text, path.size);
    char real[PATH_MAX];
    if (strlen(copy) != path.size || !realpath(copy, real)) return (Str){copy, path.size};
    return (Str){arena_text(arena, real, strlen(real)), strlen(real)};
}

// The canonical path. If the file does not exist, only its folder is made canonical.
static Str whole_path(Arena *arena, Str path) {
    char *text = arena_text(arena, path.text, path.size);
    if (access(text, F_OK) == 0) return os_path_real(arena, path);
    Str folder = os_path_real(arena, str(folder_of(arena, text))), name = str_file_name(path);
    return str(arena_printf(arena, "%.*s/%.*s", STR_ARG(folder), STR_ARG(name)));
}

bool os_path_same(Arena *arena, Str a, Str b) {
    return str_equal(whole_path(arena, a), whole_path(arena, b));
}

bool os_path_absolute(Arena *arena, Str path, Str *absolute, OsError *error) {
    char here[PATH_MAX];
    *absolute = path;
    if (path.size && path.text[0] == '/') return true;
    if (!getcwd(here, sizeof here)) return os_error_number(error, errno);
    *absolute = str(arena_printf(arena, "%s/%.*s", here, STR_ARG(path)));
    return true;
}

// ---- The machine ----

uint64_t os_time_ns(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

bool os_is_terminal(FILE *stream) {
    int fd = fileno(stream);
    return fd >= 0 && isatty(fd) == 1;
}

// A set-user-ID program must not trust the environment: a user with fewer rights has set it.
const char *os_env(const char *name) { return secure_getenv(name); }

unsigned os_cpu_count(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (unsigned)count : 1;
}

// The system's files about processors are read without an arena: they are short.
void os_cpu_name(char *name, size_t size) {
    static const char key[] = "model name";
    char line[256];
    name[0] = 0;
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && !name[0] && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, key, sizeof key - 1) != 0 || !colon) continue;
        snprintf(name, size, "%s", colon + 1 + (colon[1] == ' '));
        name[strcspn(name, "\n")] = 0;
    }
    if (file) fclose(file);
}

uint32_t os_cpu_khz(void) {
    char line[32] = "";
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "re");
    if (file && !fgets(line, sizeof line, file)) line[0] = 0;
    if (file) fclose(file);
    return (uint32_t)strtoul(line, NULL, 10);
}

uint64_t os_memory_size(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_MAX;
}

bool os_tile_registers_ask(void) {
#if defined SYS_arch_prctl
    enum { REQUEST = 0x1023, TILE_DATA = 18 };  // ARCH_REQ_XCOMP_PERM; a component of XSAVE
    return syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;
#else
    return false;
#endif
}

double os_text_to_double(const char *text, char **end) {
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c) os_out_of_memory();
    double value = strtod_l(text, end, c);
    freelocale(c);
    return value;
}

struct OsThreadKey {
    Owned owned;
    pthread_key_t key;
};

static void release_key(Owned *owned) { os_thread_key_destroy((OsThreadKey *)owned); }

OsThreadKey *os_thread_key_create(void (*ended)(void *value)) {
    OsThreadKey *key = calloc(1, sizeof *key);
    if (!key) os_out_of_memory();
    if (pthread_key_create(&key->key, ended) == 0) {
        recover_own(&key->owned, OWNED_MADE, release_key);
        return key;
    }
    free(key);
    return NULL;
}

void os_thread_key_destroy(OsThreadKey *key) {
    recover_keep(&key->owned);
    pthread_key_delete(key->key);
    free(key);
}

void *os_thread_key_get(const OsThreadKey *key) { return pthread_getspecific(key->key); }

bool os_thread_key_set(OsThreadKey *key, void *value) {
    return pthread_setspecific(key->key, value) == 0;
}

// ---- Memory ----

enum { BIG_PAGE = 2 << 20 };

// Big pages need aligned addresses: maps one big page more and unmaps both ends.
void *os_pages_map(size_t size) {
    if (size > SIZE_MAX - 2 * (size_t)BIG_PAGE) return NULL;
    size_t whole = size + BIG_PAGE;
    char *map = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return NULL;
    size_t before = (BIG_PAGE - (uintptr_t)map % BIG_PAGE) % BIG_PAGE;
    char *pages = map + before;
    if (before) munmap(map, before);
    munmap(pages + size, whole - before - size);
    madvise(pages, size, MADV_HUGEPAGE);  // only advice: nothing is lost when it fails
    return pages;
}

void os_pages_unmap(void *pages, size_t size) { munmap(pages, size); }

bool os_memory_is_there(const void *memory, size_t size) {
    unsigned char pages[1024];  // required by the call, never read
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)memory / page;
    uintptr_t end = ((uintptr_t)memory + size + page - 1) / page;
    for (uintptr_t at = first; at < end; at += sizeof pages) {
        uintptr_t count = end - at < sizeof pages ? end - at : sizeof pages;
        if (mincore((void *)(at * page), count * page, pages) && errno == ENOMEM) return false;
    }
    return true;
}
