#define _GNU_SOURCE  // posix_spawn_file_actions_addchdir_np
#include "tests/support/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/os.h"
#include "tests/served/served.h"
#include "tests/support/slice.h"

typedef struct Stream {
    int fd;  // -1 once it ended
    StrBuf text;
} Stream;

#define ADDRESS_ALL "exitcode=99:intercept_tls_get_addr=0"

// Does scripts/test.sh run this program?
static bool in_test_command(void) {
    const char *slice = os_env("TILEC_TEST_SLICE");
    return slice && slice[0];
}

// The search for leaks is half of the time of a short command. In the test command one in
// SEARCHED_OF commands of a program is searched, others in the next slice. Elsewhere all are.
static const char *address_options(void) {
    enum { SEARCHED_OF = 5 };
    static uint64_t commands;
    bool searched = !in_test_command() || slice_has(commands++, SEARCHED_OF);
    return searched ? ADDRESS_ALL : ADDRESS_ALL ":detect_leaks=0";
}

typedef struct Environment {
    const char *path, *address, *server;
} Environment;

// The program's own variables with these.
static char **environment(Arena *arena, const Environment *e) {
    const char *own[] = {
        arena_printf(arena, "PATH=%s", e->path),
        arena_printf(arena, "ASAN_OPTIONS=%s", e->address),
        arena_printf(arena, SERVED_AT "=%s", e->server),
        "NO_COLOR=1",
        "LC_ALL=C",
        "UBSAN_OPTIONS=exitcode=99:print_stacktrace=1",
        "LSAN_OPTIONS=exitcode=99",
        "TSAN_OPTIONS=exitcode=99",
    };
    enum { OWN = sizeof own / sizeof *own };
    size_t count = 0, kept = 0;
    while (environ[count]) count++;
    char **all = arena_new(arena, char *, count + OWN + 1);
    for (size_t i = 0; i < count; i++) {
        bool replaced = false;
        for (size_t k = 0; k < OWN; k++)
            replaced |= strncmp(environ[i], own[k], strcspn(own[k], "=") + 1) == 0;
        if (!replaced) all[kept++] = environ[i];
    }
    for (size_t k = 0; k < OWN; k++) all[kept++] = arena_text(arena, own[k], strlen(own[k]));
    return all;
}

// The descriptor with which commands reach the server (tests/served/served.h), which the first call
// starts; -1 without one. Only the test command has it: elsewhere the command starts as users start
// it.
#ifdef TEST_SERVER
static int server_descriptor(Arena *arena, const char *path) {
    static int descriptor = -1;
    if (descriptor >= 0 || !in_test_command()) return descriptor;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    int theirs = fcntl(ends[1], F_DUPFD, 3), ours = fcntl(ends[0], F_DUPFD, 3);
    close(ends[0]);
    close(ends[1]);
    if (theirs < 0 || ours < 0) return -1;
    fcntl(theirs, F_SETFD, 0);
    Environment e = {path, ADDRESS_ALL, ""};
    char name[] = "tool_server";
    char *number = arena_printf(arena, "%d", theirs);
    pid_t child;
    posix_spawn_file_actions_t files;
    if (posix_spawn_file_actions_init(&files) != 0) return -1;
    bool started = posix_spawn_file_actions_addclose(&files, ours) == 0 &&
                   posix_spawn(&child, TEST_SERVER, &files, NULL,
                               (char *const[]){name, number, NULL}, environment(arena, &e)) == 0;
    posix_spawn_file_actions_destroy(&files);
    close(theirs);
    if (started) descriptor = ours;
    return descriptor;
}
#endif

// Starts the shell; 0 if it cannot. A fork would copy the page tables of this process, which are
// large under the address sanitizer.
static pid_t start(Arena *arena, const Process *process, int out, int err) {
    char command_flag[] = "-c", name[] = "sh";
    char *command = arena_text(arena, process->command, strlen(process->command));
    char *const words[] = {name, command_flag, command, NULL};
    const char *old_path = os_env("PATH");
    if (!old_path) old_path = "/usr/bin:/bin";
    Environment e = {arena_printf(arena, "%s:%s", process->tool_folder, old_path),
                     address_options(), ""};
#ifdef TEST_SERVER
    int server =
        strcmp(process->tool_folder, TEST_BINARY_DIR) == 0 ? server_descriptor(arena, e.path) : -1;
    if (server >= 0) {
        e.path = arena_printf(arena, TEST_SERVED ":%s", e.path);
        struct stat mounts;
        if (stat(SERVED_MOUNTS, &mounts) == 0)
            e.server = arena_printf(arena, "%d:%llu", server, (unsigned long long)mounts.st_ino);
    }
#endif
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    if (posix_spawn_file_actions_init(&files) != 0) return 0;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // a group of its own
    pid_t child = 0;
    if (posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0) != 0 ||
        posix_spawn_file_actions_adddup2(&files, out, 1) != 0 ||
        posix_spawn_file_actions_adddup2(&files, err, 2) != 0 ||
        posix_spawn_file_actions_addchdir_np(&files, process->folder) != 0 ||
        posix_spawn(&child, "/bin/sh", &files, &attributes, words, environment(arena, &e)) != 0)
        child = 0;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return child;
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
    if (pipe2(out, O_CLOEXEC) != 0) return false;
    if (pipe2(err, O_CLOEXEC) != 0) {
        close(out[0]);
        close(out[1]);
        return false;
    }
    pid_t child = start(arena, process, out[1], process->separate ? err[1] : out[1]);
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
