// POSIX: fork, pipes, signals.
#define _GNU_SOURCE  // signals, whatever the standard
#include "base/os/os_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/os_memory.h"
#include "base/os/os_private.h"

struct OsChildOut {
    int fd;
};

// Written after all output of a child whose work returned; without it the output was cut off.
static const char done_mark[8] = {'d', 'o', 'n', 'e', 1, 2, 3, 4};

bool os_child_write(OsChildOut *out, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size) {
        ssize_t n = write(out->fd, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

// ---- The child's side ----

// The program's signal handlers must not run in the child, which the program does not know of.
static void forget_handlers(void) {
    static const int faults[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE,
                                 SIGTRAP, SIGTERM, SIGINT, SIGHUP, SIGPIPE};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) signal(faults[i], SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

static _Noreturn void child(void (*work)(void *, OsChildOut *), void *argument, int output,
                            int errors) {
    forget_handlers();
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    OsChildOut out = {output};
    recover_leave_all();
    Recovery r;
    if (RECOVER_FAILED(&r)) _exit(OS_CHILD_NO_MEMORY);
    work(argument, &out);
    bool told = os_child_write(&out, done_mark, sizeof done_mark);
    _exit(told ? 0 : 1);
}

// ---- The parent's side ----

typedef struct PipeReader {
    int fd;
    StrBuf text;
    size_t limit;  // bytes beyond it are read and dropped
} PipeReader;

// False at the end.
static bool read_more(PipeReader *r) {
    char bytes[1 << 14];
    ssize_t n = read(r->fd, bytes, sizeof bytes);
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    if (n <= 0) return false;
    size_t room = r->limit - r->text.size;
    strbuf_add(&r->text, (Str){bytes, (size_t)n < room ? (size_t)n : room});
    return true;
}

// Reads both until the child has closed them; false if the time runs out before.
static bool read_both(PipeReader readers[2], unsigned seconds) {
    uint64_t deadline = os_time_ns() + (uint64_t)seconds * 1000000000U;
    struct pollfd polled[2] = {{readers[0].fd, POLLIN, 0}, {readers[1].fd, POLLIN, 0}};
    while (polled[0].fd >= 0 || polled[1].fd >= 0) {
        uint64_t now = os_time_ns();
        if (now >= deadline) return false;
        int ready = poll(polled, 2, (int)((deadline - now) / 1000000U) + 1);
        if (ready < 0 && errno != EINTR) return false;
        for (int i = 0; ready > 0 && i < 2; i++)
            if (polled[i].fd >= 0 && polled[i].revents && !read_more(&readers[i]))
                polled[i].fd = -1;
    }
    return true;
}

static void reap(pid_t pid, OsChildEnd *end) {
    int status;
    pid_t found;
    do {
        found = waitpid(pid, &status, 0);
    } while (found < 0 && errno == EINTR);
    // Other code may have waited for the child (SIGCHLD ignored). The mark at the end of the output
    // says enough.
    if (found != pid) return;
    if (WIFSIGNALED(status)) {
        end->outcome = OS_CHILD_SIGNAL;
        end->number = WTERMSIG(status);
    } else if (WIFEXITED(status)) {
        end->number = WEXITSTATUS(status);
    }
}

typedef struct OwnedChild {
    Owned owned;
    pid_t pid;
} OwnedChild;

static void release_child(Owned *owned) {
    pid_t pid = ((OwnedChild *)owned)->pid;
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {}
}

static void collect(Arena *arena, pid_t pid, int output, int errors, unsigned seconds,
                    OsChildEnd *end) {
    OwnedChild own = {.pid = pid};
    recover_own(&own.owned, OWNED_FRAME, release_child);
    PipeReader readers[2] = {{output, strbuf(arena), SIZE_MAX},
                             {errors, strbuf(arena), OS_CHILD_ERRORS}};
    bool in_time = read_both(readers, seconds);
    recover_keep(&own.owned);
    if (!in_time) kill(pid, SIGKILL);
    *end = (OsChildEnd){.outcome = OS_CHILD_EXITED};
    reap(pid, end);
    if (!in_time) end->outcome = OS_CHILD_TIMED_OUT;
    end->output = strbuf_str(&readers[0].text);
    end->errors = strbuf_str(&readers[1].text);
    Str mark = {done_mark, sizeof done_mark};
    if (in_time && str_ends(end->output, mark)) {
        end->outcome = OS_CHILD_DONE;
        end->output.size -= mark.size;
    }
}

// ---- Both ----

typedef struct Pipes {
    int output[2], errors[2];  // read, write
} Pipes;

static bool open_pipes(Pipes *p, OsError *error) {
    if (!os_pipe(p->output)) return os_error_number(error, errno);
    if (os_pipe(p->errors)) return true;
    int number = errno;
    close(p->output[0]), close(p->output[1]);
    return os_error_number(error, number);
}

// Runs in the parent; `number` is errno after fork.
static bool finish(Arena *arena, pid_t pid, int number, const Pipes *p, unsigned seconds,
                   OsChildEnd *end, OsError *error) {
    OwnedFile ends[2];
    close(p->output[1]), close(p->errors[1]);
    os_own_descriptor(&ends[0], p->output[0]), os_own_descriptor(&ends[1], p->errors[0]);
    if (pid > 0) collect(arena, pid, p->output[0], p->errors[0], seconds, end);
    os_close_descriptor(&ends[1]), os_close_descriptor(&ends[0]);
    return pid > 0 ? true : os_error_number(error, number);
}

bool os_child_run(Arena *arena, void (*work)(void *argument, OsChildOut *out), void *argument,
                  unsigned seconds, OsChildEnd *end, OsError *error) {
    Pipes p;
    if (!open_pipes(&p, error)) return false;
    pid_t pid = fork();
    int number = errno;
    if (pid == 0) child(work, argument, p.output[1], p.errors[1]);
    return finish(arena, pid, number, &p, seconds, end, error);
}

// ---- Programs ----

// Calls only what POSIX allows between fork and exec in a process with several threads.
static _Noreturn void become(const char *const *argv, int input, const Pipes *p) {
    static const char words[] = "cannot be started";
    forget_handlers();
    lseek(input, 0, SEEK_SET);
    dup2(input, STDIN_FILENO);
    dup2(p->output[1], STDOUT_FILENO);
    dup2(p->errors[1], STDERR_FILENO);
    char *const *arguments;
    memcpy(&arguments, &argv, sizeof arguments);
    execv(argv[0], arguments);
    os_child_write(&(OsChildOut){STDERR_FILENO}, words, sizeof words - 1);
    _exit(127);
}

bool os_program_run(Arena *arena, const char *const *argv, Str input, unsigned seconds,
                    OsChildEnd *end, OsError *error) {
    Pipes p;
    OsMemoryFile file;
    if (!os_memory_file_open(input, &file, error)) return false;
    bool fine = open_pipes(&p, error);
    if (fine) {
        pid_t pid = fork();
        int number = errno;
        if (pid == 0) become(argv, file.file.number, &p);
        fine = finish(arena, pid, number, &p, seconds, end, error);
    }
    os_memory_file_close(&file);
    return fine;
}

bool os_program_exists(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

Str os_program_find(Arena *arena, const char *name) {
    const char *folders = os_env("PATH");
    Str rest = str(folders ? folders : "");
    while (rest.size) {
        Str folder = str_cut(rest, ':', &rest);
        if (!folder.size || folder.text[0] != '/') continue;  // relative folders are skipped
        char *path = arena_printf(arena, "%.*s/%s", STR_ARG(folder), name);
        if (os_program_exists(path)) return str(path);
    }
    return STR("");
}
