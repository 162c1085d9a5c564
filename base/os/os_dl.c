#define _GNU_SOURCE  // MAP_ANONYMOUS
#include "base/os/os_dl.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os/os.h"
#include "base/os/os_fork.h"
#include "base/os/os_private.h"
#include "base/os/os_write.h"

struct OsLibrary {
    void *handle;
    // The descriptor of a library that was opened from bytes. It stays open: the loader knows
    // libraries by their path, and a closed descriptor's path would be used again.
    int fd;
};

static bool fail(OsError *error, int number, const char *text) {
    error->number = number;
    snprintf(error->text, sizeof error->text, "%s", text);
    return false;
}

// ---- Is it whole? A cut library would fault when its pages are touched. ----

static bool within(uint64_t offset, uint64_t size, uint64_t whole) {
    return offset <= whole && size <= whole - offset;
}

static bool table_within(uint64_t offset, uint64_t count, uint64_t row, uint64_t whole) {
    return within(offset, count * row, whole);  // both are 16 bits
}

static unsigned own_machine(void) {
#if defined __x86_64__
    return EM_X86_64;
#elif defined __aarch64__
    return EM_AARCH64;
#else
    return EM_NONE;
#endif
}

static bool segments_within(const Elf64_Ehdr *header, Str bytes) {
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, bytes.text + header->e_phoff + i * sizeof segment, sizeof segment);
        if (!within(segment.p_offset, segment.p_filesz, bytes.size)) return false;
        if (segment.p_type == PT_LOAD && segment.p_filesz > segment.p_memsz) return false;
    }
    return true;
}

bool os_library_check(Str bytes, OsError *error) {
    Elf64_Ehdr header;
    if (bytes.size < sizeof header || memcmp(bytes.text, ELFMAG, SELFMAG) != 0)
        return fail(error, EINVAL, "is not a shared library");
    memcpy(&header, bytes.text, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_machine != own_machine())
        return fail(error, EINVAL, "is a library for another machine");
    if (header.e_type != ET_DYN || header.e_phentsize != sizeof(Elf64_Phdr) || !header.e_phnum)
        return fail(error, EINVAL, "is not a shared library");
    bool whole = table_within(header.e_phoff, header.e_phnum, sizeof(Elf64_Phdr), bytes.size) &&
                 table_within(header.e_shoff, header.e_shnum, header.e_shentsize, bytes.size) &&
                 segments_within(&header, bytes);
    return whole ? true : fail(error, EINVAL, "is cut off or damaged");
}

// ---- Opening ----

static _Noreturn void no_memory(int fd) {
    if (fd >= 0) close(fd);
    os_out_of_memory();
}

// The loader reports that it cannot map a segment, but not why.
static bool could_be_mapped(const char *path, size_t heap) {
    struct stat info;
    if (stat(path, &info) != 0 || info.st_size <= 0) return true;
    void *map = mmap(NULL, (size_t)info.st_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return false;
    void *block = heap ? malloc(heap) : NULL;
    free(block);
    munmap(map, (size_t)info.st_size);
    return block || !heap;
}

void os_library_require(const char *path, size_t heap) {
    if (!could_be_mapped(path, heap)) os_out_of_memory();
}

static OsLibrary *open_at(const char *path, int fd, OsError *error) {
    OsLibrary *library = calloc(1, sizeof *library);
    if (!library) no_memory(fd);
    library->fd = fd;
    // A fork in the middle would give the child's loader a half-loaded library, and the next dlopen
    // would end the child.
    OsNoFork whole;
    os_no_fork_begin(&whole);
    errno = 0;
    library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    int number = errno;
    os_no_fork_end(&whole);
    if (library->handle) return library;
    bool memory = number == ENOMEM || !could_be_mapped(path, 0);
    const char *why = dlerror();
    fail(error, 0, why ? why : "cannot be loaded");
    free(library);
    if (memory) no_memory(fd);
    return NULL;
}

OsLibrary *os_library_open(const char *path, OsError *error) {
    if (!strchr(path, '/') || !os_path_may_block(path)) return open_at(path, -1, error);
    error->number = 0;
    snprintf(error->text, sizeof error->text, "%s: is a pipe or a terminal", path);
    return NULL;
}

// The path names this process by its number, since debuggers open the path as well and have other
// files under the same descriptor number (possibly a pipe, on which they would wait for ever). A
// mounted /proc may belong to another process namespace.
static OsLibrary *open_descriptor(int fd, OsError *error) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), fd);
    if (access(path, R_OK) != 0) snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open_at(path, fd, error);
}

OsLibrary *os_library_open_bytes(const char *name, Str bytes, OsError *error) {
    int fd = os_memory_descriptor(name);
    if (fd < 0) {
        fail(error, errno, "cannot make a file in memory");
        return NULL;
    }
    OsLibrary *library = NULL;
    if (os_write_all(fd, bytes, error)) library = open_descriptor(fd, error);
    if (!library) close(fd);
    return library;
}

void *os_library_symbol(const OsLibrary *library, const char *name) {
    return dlsym(library->handle, name);
}

void os_library_close(OsLibrary *library) {
    if (!library) return;
    OsNoFork whole;
    os_no_fork_begin(&whole);
    dlclose(library->handle);
    os_no_fork_end(&whole);
    if (library->fd >= 0) close(library->fd);
    free(library);
}

void os_library_keep(OsLibrary *library) {
    if (!library) return;
    if (library->fd >= 0) close(library->fd);
    free(library);
}
