#define _POSIX_C_SOURCE 200809L
#include "tests/support/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/os.h"
#include "tests/support/slice.h"

typedef struct Stream {
    int fd;  // -1 once it ended
    StrBuf text;
} Stream;

// The search for leaks is half of the time of a short command. In the test command every second
// command of a program is searched, the others in the next slice. Elsewhere all are.
static const char *address_options(void) {
    static uint64_t commands;
    const char *slice = os_env("TILEC_TEST_SLICE");
    return !slice || !slice[0] || slice_has(commands++, 2)
               ? "exitcode=99:intercept_tls_get_addr=0"
               : "exitcode=99:intercept_tls_get_addr=0:detect_leaks=0";
}

// The child's side: never returns.
static void child_exec(const Process *process, const char *path, const char *address, int out,
                       int err) {
    int null = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 ||
        chdir(process->folder) != 0 || setenv("PATH", path, 1) != 0 ||
        setenv("NO_COLOR", "1", 1) != 0 || setenv("LC_ALL", "C", 1) != 0 ||
        setenv("ASAN_OPTIONS", address, 1) != 0 ||
        setenv("UBSAN_OPTIONS", "exitcode=99:print_stacktrace=1", 1) != 0 ||
        setenv("LSAN_OPTIONS", "exitcode=99", 1) != 0 ||
        setenv("TSAN_OPTIONS", "exitcode=99", 1) != 0)
        _exit(126);
    execl("/bin/sh", "sh", "-c", process->command, (char *)NULL);
    _exit(126);
}

static void stream_read(Stream *s) {
    char bytes[4096];
    ssize_t n = read(s->fd, bytes, sizeof bytes);
    if (n > 0) {
        if (s->text.size < PROCESS_OUTPUT_MAX) strbuf_add(&s->text, (Str){bytes, (size_t)n});
    } else if (n == 0 || errno != EINTR) {
        close(s->fd);
        s->fd = -1;
    }
}

// Reads both streams to their end; false when the deadline came first.
static bool streams_drain(Stream streams[2], uint64_t deadline) {
    while (streams[0].fd >= 0 || streams[1].fd >= 0) {
        uint64_t now = os_time_ns();
        if (now >= deadline) return false;
        struct pollfd polled[2] = {{streams[0].fd, POLLIN, 0}, {streams[1].fd, POLLIN, 0}};
        int ready = poll(polled, 2, (int)((deadline - now) / 1000000u) + 1);
        if (ready < 0 && errno != EINTR) return false;
        for (int i = 0; ready > 0 && i < 2; i++)
            if (polled[i].revents != 0) stream_read(&streams[i]);
    }
    return true;
}

static int wait_status(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return 126;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool process_run(Arena *arena, const Process *process, ProcessResult *result) {
    int out[2], err[2];
    if (pipe(out) != 0) return false;
    if (pipe(err) != 0) {
        close(out[0]);
        close(out[1]);
        return false;
    }
    const char *old_path = os_env("PATH");
    const char *path =
        arena_printf(arena, "%s:%s", process->tool_folder, old_path ? old_path : "/usr/bin:/bin");
    const char *address = address_options();
    pid_t child = fork();
    if (child == 0) {
        close(out[0]);
        close(err[0]);
        child_exec(process, path, address, out[1], process->separate ? err[1] : out[1]);
    }
    close(out[1]);
    close(err[1]);
    Stream streams[2] = {{out[0], strbuf(arena)}, {err[0], strbuf(arena)}};
    bool ended = false;
    if (child > 0) {
        ended = streams_drain(streams, os_time_ns() + process->seconds * 1000000000ull);
        if (!ended) kill(-child, SIGKILL);
        result->status = wait_status(child);
    }
    for (int i = 0; i < 2; i++)
        if (streams[i].fd >= 0) close(streams[i].fd);
    result->timed_out = !ended;
    result->output = strbuf_str(&streams[0].text);
    result->errors = strbuf_str(&streams[1].text);
    return child > 0;
}
