// The program `tilec` that has a server run the command; see served.h. Without a server, or with a
// standard stream that is closed, it becomes the command itself.
#define _GNU_SOURCE  // O_PATH
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/served/served.h"

extern char **environ;

static bool write_all(int to, const void *bytes, size_t size) {
    for (const char *at = bytes; size > 0;) {
        ssize_t n = send(to, at, size, MSG_NOSIGNAL);
        if (n <= 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static bool send_files(int server, int files[SERVED_FILES]) {
    char byte = 0;
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int) * SERVED_FILES)];
    } control;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int) * SERVED_FILES);
    memcpy(CMSG_DATA(head), files, sizeof(int) * SERVED_FILES);
    return sendmsg(server, &message, MSG_NOSIGNAL) == 1;
}

static bool send_texts(int link, char **texts) {
    for (; *texts; texts++)
        if (!write_all(link, *texts, strlen(*texts) + 1)) return false;
    return true;
}

static void count(char **texts, uint32_t *n, uint32_t *bytes) {
    for (; *texts; texts++, ++*n) *bytes += (uint32_t)strlen(*texts) + 1;
}

static _Noreturn void no_server(void) {
    fprintf(stderr, "tilec: the server of the tests cannot be reached\n");
    exit(126);
}

// Ctrl-C is for the command, which is in this group of processes and gets it, too.
static void wait_on(int number) { (void)number; }

// The status of the command.
static int ask(int server, char **argv) {
    int link[2], status;
    int folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link) != 0 ||
        !send_files(server, (int[]){0, 1, 2, folder, link[1]}))
        no_server();
    close(link[1]);
    ServedHead head = {.group = (int32_t)getpgrp(), .mask = (uint32_t)umask(0)};
    for (int s = 1; s <= SERVED_SIGNALS; s++) {
        struct sigaction now;
        if (sigaction(s, NULL, &now) == 0 && now.sa_handler == SIG_IGN)
            head.ignored |= UINT32_C(1) << s;
    }
    if (!(head.ignored >> SIGINT & 1))
        sigaction(SIGINT, &(struct sigaction){.sa_handler = wait_on, .sa_flags = SA_RESTART}, NULL);
    count(argv, &head.words, &head.bytes);
    count(environ, &head.variables, &head.bytes);
    for (int i = 0; i < SERVED_LIMITS; i++) getrlimit((__rlimit_resource_t)i, &head.limits[i]);
    if (!write_all(link[0], &head, sizeof head) || !send_texts(link[0], argv) ||
        !send_texts(link[0], environ) ||
        recv(link[0], &status, sizeof status, MSG_WAITALL) != sizeof status)
        no_server();
    return status;
}

int main(int argc, char **argv) {
    (void)argc;
    const char *at = getenv(SERVED_AT);
    int server;
    unsigned long long mounts;
    struct stat here;
    bool open = at && sscanf(at, "%d:%llu", &server, &mounts) == 2 &&
                stat(SERVED_MOUNTS, &here) == 0 && here.st_ino == mounts;
    for (int i = 0; i < SERVED_STREAMS; i++) open = open && fcntl(i, F_GETFD) >= 0;
    if (!open) {
        execv(TEST_TOOL, argv);
        fprintf(stderr, "tilec: cannot start %s\n", TEST_TOOL);
        return 126;
    }
    int status = ask(server, argv);
    if (WIFSIGNALED(status)) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0});
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}
