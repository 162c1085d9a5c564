// The command's server: tool_server NUMBER, the descriptor of the socket; see served.h.
#define _GNU_SOURCE  // prctl, signalfd
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <poll.h>
#include <sanitizer/lsan_interface.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/served/served.h"

// The linker calls the command's main so, and starts __wrap_main (--wrap=main).
int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);
extern char **environ;

enum { RUNNING_MAX = 64, PREPARED = 2 };

typedef struct Running {
    pid_t process;  // 0: free
    int link;
} Running;

static Running running[RUNNING_MAX];
static int server, children;  // the socket; a descriptor that can be read when a child has ended

// ---- In the command's process ----

// The search for leaks begins when the command's main has returned. It asks dl_iterate_phdr for the
// variables of all libraries, and gets this one, which hides what does not change: what the loader
// makes read-only, and megabytes of the sanitizers' tables in this program, whose own variables all
// begin as zero (scripts/check/globals.sh).
typedef int Visit(struct dl_phdr_info *info, size_t size, void *data);
static int (*all_programs)(Visit *visit, void *data);
static bool searching;
int __lsan_is_turned_off(void) { return !searching; }

typedef struct Search {
    Visit *visit;
    void *data;
    int programs;
} Search;

enum { PARTS_MAX = 32 };

// The sanitizer calls these before it is ready, and in its own thread.
#define PLAIN __attribute__((no_sanitize("address", "undefined")))

PLAIN static int visit_variables(struct dl_phdr_info *info, size_t size, void *data) {
    extern const char __bss_start[];
    Search *search = data;
    // The sanitizer's own megabytes have no pointers of ours.
    if (strstr(info->dlpi_name, "/libasan.")) return 0;
    uintptr_t fixed = 0;
    if (search->programs++ == 0) fixed = (uintptr_t)__bss_start;  // this one comes first
    ElfW(Phdr) parts[PARTS_MAX];
    struct dl_phdr_info shown = *info;
    if (info->dlpi_phnum > PARTS_MAX) return search->visit(info, size, search->data);
    memcpy(parts, info->dlpi_phdr, sizeof *parts * info->dlpi_phnum);
    shown.dlpi_phdr = parts;
    for (int i = 0; i < info->dlpi_phnum && !fixed; i++)
        if (parts[i].p_type == PT_GNU_RELRO)
            fixed = info->dlpi_addr + parts[i].p_vaddr + parts[i].p_memsz;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t begin = info->dlpi_addr + parts[i].p_vaddr;
        if (parts[i].p_type != PT_LOAD || fixed <= begin || fixed > begin + parts[i].p_memsz)
            continue;
        parts[i].p_vaddr += fixed - begin;
        parts[i].p_memsz -= fixed - begin;
    }
    return search->visit(&shown, size, search->data);
}

PLAIN int dl_iterate_phdr(Visit *visit, void *data) {
    if (!all_programs) *(void **)&all_programs = dlsym(RTLD_NEXT, "dl_iterate_phdr");
    if (!searching) return all_programs(visit, data);
    Search search = {visit, data, 0};
    return all_programs(visit_variables, &search);
}

static void read_all(int from, void *to, size_t size) {
    for (char *at = to; size > 0;) {
        ssize_t n = recv(from, at, size, MSG_WAITALL);
        if (n <= 0) _exit(126);
        at += n;
        size -= (size_t)n;
    }
}

// The texts stay, as those of a program do.
static char **texts, *letters;

static void read_texts(int link, const ServedHead *head) {
    texts = calloc((size_t)head->words + head->variables + 2, sizeof *texts);
    letters = malloc(head->bytes);
    if (!texts || !letters) _exit(126);
    read_all(link, letters, head->bytes);
    char *at = letters;
    for (uint32_t i = 0; i < head->words + head->variables; i++) {
        texts[i + (i >= head->words)] = at;
        at += strlen(at) + 1;
    }
}

// For tests/served/test_served.c.
static void *volatile lost;
static void lose_memory(void) {
    lost = malloc(100);
    if (lost) lost = NULL;
}

static _Noreturn void command(const int files[SERVED_FILES]) {
    ServedHead head;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "tilec");
    int link = files[SERVED_LINK];
    read_all(link, &head, sizeof head);
    read_texts(link, &head);
    setpgid(0, head.group);
    umask((mode_t)head.mask);
    for (int i = 0; i < SERVED_STREAMS; i++)
        if (dup2(files[i], i) < 0) _exit(126);
    if (fchdir(files[SERVED_FOLDER]) != 0) _exit(126);
    for (int i = 0; i < SERVED_FILES; i++) close(files[i]);
    for (int s = 1; s <= SERVED_SIGNALS; s++)
        if (head.ignored >> s & 1) signal(s, SIG_IGN);
    for (int i = 0; i < SERVED_LIMITS; i++) setrlimit((__rlimit_resource_t)i, &head.limits[i]);
    environ = texts + head.words + 1;
    const char *options = getenv("ASAN_OPTIONS");
    bool wanted = !options || !strstr(options, "detect_leaks=0");
    unsetenv(SERVED_AT);
    if (getenv("TILEC_TEST_LEAK")) lose_memory();
    int status = __real_main((int)head.words, texts);
    fflush(NULL);
    searching = wanted;
    if (wanted) __lsan_do_leak_check();  // which ends the process if it finds one
    _exit(status);
}

// ---- In the server's ----

static void start(const int files[SERVED_FILES]) {
    Running *r = running;
    while (r->process) r++;
    r->process = fork();
    if (r->process == 0) {
        close(server);
        close(children);
        for (int i = 0; i < RUNNING_MAX; i++)
            if (running[i].process && &running[i] != r) close(running[i].link);
        command(files);
    }
    for (int i = 0; i < SERVED_LINK; i++) close(files[i]);
    r->link = files[SERVED_LINK];
    if (r->process > 0) return;
    close(r->link);
    r->process = 0;
}

// False if the socket has no other end any more.
static bool accept_one(void) {
    char byte;
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int) * SERVED_FILES)];
    } control;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    ssize_t n = recvmsg(server, &message, MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR) return true;
    if (n <= 0) return false;
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (!head || head->cmsg_len != CMSG_LEN(sizeof(int) * SERVED_FILES)) return true;
    int files[SERVED_FILES];
    memcpy(files, CMSG_DATA(head), sizeof files);
    start(files);
    return true;
}

static void report_ended(void) {
    int status;
    for (pid_t ended; (ended = waitpid(-1, &status, WNOHANG)) > 0;)
        for (Running *r = running; r < running + RUNNING_MAX; r++)
            if (r->process == ended) {
                send(r->link, &status, sizeof status, MSG_NOSIGNAL);
                close(r->link);
                r->process = 0;
            }
}

static int serve(void) {
    struct pollfd polled[PREPARED + RUNNING_MAX];
    for (;;) {
        nfds_t n = PREPARED;
        bool room = false;
        for (int i = 0; i < RUNNING_MAX; i++) {
            if (running[i].process)
                polled[n++] = (struct pollfd){running[i].link, POLLRDHUP, 0};
            else
                room = true;
        }
        polled[0] = (struct pollfd){room ? server : -1, POLLIN, 0};
        polled[1] = (struct pollfd){children, POLLIN, 0};
        if (poll(polled, n, -1) < 0 && errno != EINTR) return 1;
        for (int i = 0, k = PREPARED; i < RUNNING_MAX; i++) {
            if (!running[i].process) continue;
            if (polled[k++].revents) kill(running[i].process, SIGKILL);  // its caller is gone
        }
        struct signalfd_siginfo info;
        if (polled[1].revents && read(children, &info, sizeof info) > 0) report_ended();
        if (polled[0].revents && !accept_one()) return 0;
    }
}

int __wrap_main(int argc, char **argv) {
    if (argc != 2) return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The command opens the same file, and finds it loaded.
    dlopen(TEST_BINARY_DIR "/libtilec_llvm.so", RTLD_NOW | RTLD_LOCAL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    children = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    server = atoi(argv[1]);
    _exit(children < 0 ? 1 : serve());
}
