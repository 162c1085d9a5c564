#define _GNU_SOURCE  // pthreads
#include "base/os/os_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os/os_private.h"
#include "base/os/os_write.h"

static bool failed(OsError *error) { return os_error_number(error, errno); }

static void name_path(char path[40], int number) { snprintf(path, 40, "/proc/self/fd/%d", number); }

bool os_memory_file_open(Str contents, OsMemoryFile *file, OsError *error) {
    int number = os_memory_descriptor("tilec");
    if (number < 0) return failed(error);
    if (!os_write_all(number, contents, error)) {
        close(number);
        return false;
    }
    os_own_descriptor(&file->file, number);
    name_path(file->path, number);
    return true;
}

void os_memory_file_close(OsMemoryFile *file) { os_close_descriptor(&file->file); }

// ---- collector ----------------------------------------------------------------------------------

struct OsCollector {
    Owned owned;
    int reads, writes;
    char path[40];
    pthread_t thread;
    char *bytes;
    size_t size, capacity;
    bool whole, full;  // whole: all was read; full: there was no memory for some of it
};

static bool has_room(OsCollector *c) {
    if (c->size < c->capacity) return true;
    size_t capacity = c->capacity ? 2 * c->capacity : 1 << 16;
    char *bytes = realloc(c->bytes, capacity);
    if (!bytes) return false;
    c->bytes = bytes;
    c->capacity = capacity;
    return true;
}

// Reads to the end, also when there is no memory left, so that the writer is not blocked.
static void *collect(void *user) {
    OsCollector *c = user;
    for (;;) {
        char rest[4096];
        bool room = has_room(c);
        c->full |= !room;
        char *to = room ? c->bytes + c->size : rest;
        ssize_t n = read(c->reads, to, room ? c->capacity - c->size : sizeof rest);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            c->whole &= n == 0;
            return NULL;
        }
        if (room) c->size += (size_t)n;
    }
}

static void end_collector(OsCollector *c) {
    if (c->writes < 0) return;
    close(c->writes);
    pthread_join(c->thread, NULL);
    close(c->reads);
    c->writes = -1;
}

static void release_collector(Owned *owned) {
    OsCollector *c = (OsCollector *)owned;
    end_collector(c);
    free(c->bytes);
    free(c);
}

OsCollector *os_collector_open(OsError *error) {
    OsCollector *c = calloc(1, sizeof *c);
    int ends[2];
    if (!c) {
        errno = ENOMEM;
        failed(error);
        return NULL;
    }
    if (!os_pipe(ends)) {
        failed(error);
        free(c);
        return NULL;
    }
    *c = (OsCollector){.reads = ends[0], .writes = ends[1], .whole = true};
    name_path(c->path, c->writes);
    OsQuiet quiet;
    os_quiet_begin(&quiet);
    int number = pthread_create(&c->thread, NULL, collect, c);
    os_quiet_end(&quiet);
    if (number == 0) {
        recover_own(&c->owned, OWNED_FRAME, release_collector);
        return c;
    }
    close(c->reads);
    close(c->writes);
    free(c);
    if (number == ENOMEM) os_out_of_memory();
    error->number = number;
    snprintf(error->text, sizeof error->text,
             "the system gives the process no more threads, or no memory for one's stack (error "
             "%d); see the limits RLIMIT_NPROC and RLIMIT_AS",
             number);
    return NULL;
}

const char *os_collector_path(const OsCollector *collector) { return collector->path; }

bool os_collector_close(OsCollector *collector, Arena *arena, Str *contents) {
    end_collector(collector);
    if (collector->full) os_out_of_memory();
    bool whole = collector->whole;
    *contents = (Str){arena_text(arena, collector->bytes ? collector->bytes : "", collector->size),
                      collector->size};
    recover_keep(&collector->owned);
    release_collector(&collector->owned);
    return whole;
}
