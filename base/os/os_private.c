#define _GNU_SOURCE  // pipe2, memfd_create
#include "base/os/os_private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// ---- Descriptors ----

int os_above_streams(int fd) {
    if (fd < 0 || fd > STDERR_FILENO) return fd;
    int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int number = errno;
    close(fd);
    errno = number;
    return above;
}

bool os_pipe(int ends[2]) {
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    ends[0] = os_above_streams(ends[0]);
    int number = errno;
    ends[1] = os_above_streams(ends[1]);
    if (ends[0] >= 0 && ends[1] >= 0) return true;
    if (ends[0] >= 0) number = errno, close(ends[0]);
    if (ends[1] >= 0) close(ends[1]);
    errno = number;
    return false;
}

int os_memory_descriptor(const char *name) {
    enum { NAME_MAX_BYTES = 249 };  // the system's limit for names, without the NUL
    char cut[NAME_MAX_BYTES + 1];
    snprintf(cut, sizeof cut, "%s", name);
    return os_above_streams(memfd_create(cut, MFD_CLOEXEC));
}

// ---- Threads ----

_Static_assert(sizeof(sigset_t) <= sizeof((OsQuiet *)0)->mask, "a set of signals has room");

void os_quiet_begin(OsQuiet *quiet) {
    // These signals cannot wait: raised while blocked, they end the process without its handlers.
    static const int raised[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigset_t set, before;
    sigfillset(&set);
    for (size_t i = 0; i < sizeof raised / sizeof *raised; i++) sigdelset(&set, raised[i]);
    pthread_sigmask(SIG_SETMASK, &set, &before);
    memcpy(quiet->mask, &before, sizeof before);
}

void os_quiet_end(const OsQuiet *quiet) {
    sigset_t before;
    memcpy(&before, quiet->mask, sizeof before);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
