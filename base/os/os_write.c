#define _GNU_SOURCE  // sigtimedwait
#include "base/os/os_write.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(sigset_t) <= sizeof((OsWriting *)0)->mask, "a set of signals has room");

static const int ours[] = {SIGXFSZ, SIGPIPE};
enum { OURS = sizeof ours / sizeof *ours };

void os_writing_begin(OsWriting *writing) {
    int number = errno;
    sigset_t set, before, pending;
    sigemptyset(&set);
    for (int i = 0; i < OURS; i++) sigaddset(&set, ours[i]);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    sigpending(&pending);
    for (int i = 0; i < OURS; i++) writing->pending[i] = sigismember(&pending, ours[i]) == 1;
    memcpy(writing->mask, &before, sizeof before);
    errno = number;
}

// The kernel sends both signals to the thread that writes.
static void take_away(int signal) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    static const struct timespec now = {0, 0};
    while (sigtimedwait(&one, NULL, &now) < 0 && errno == EINTR) {}
}

void os_writing_end(OsWriting *writing) {
    int number = errno;
    sigset_t pending, before;
    sigpending(&pending);
    for (int i = 0; i < OURS; i++)
        if (!writing->pending[i] && sigismember(&pending, ours[i]) == 1) take_away(ours[i]);
    memcpy(&before, writing->mask, sizeof before);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = number;
}

static bool write_all(int fd, Str bytes) {
    while (bytes.size) {
        ssize_t n = write(fd, bytes.text, bytes.size);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = EIO;
        if (n <= 0) return false;
        bytes = (Str){bytes.text + n, bytes.size - (size_t)n};
    }
    return true;
}

bool os_write_all(int fd, Str bytes, OsError *error) {
    OsWriting writing;
    os_writing_begin(&writing);
    bool done = write_all(fd, bytes);
    os_writing_end(&writing);
    return done ? true : os_error_written(error, errno);
}

bool os_error_written(OsError *error, int number) {
    os_error_number(error, number);
    struct rlimit limit;
    bool told =
        number == EFBIG && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    if (told)
        snprintf(error->text, sizeof error->text,
                 "the process may not make files larger than %llu bytes (RLIMIT_FSIZE, "
                 "`ulimit -f`)",
                 (unsigned long long)limit.rlim_cur);
    return false;
}
