// Os: files are read whole or refused, written whole or not at all.
#define _GNU_SOURCE  // mkdtemp, symlink, sigtimedwait, posix_openpt
#include "base/os/os.h"
#include "base/os/os_mutex.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/os_child.h"
#include "base/os/os_dl.h"
#include "base/os/os_folder.h"
#include "base/os/os_fork.h"
#include "base/os/os_memory.h"
#include "base/os/os_write.h"

typedef struct Room {
    Arena *arena;
    char *folder;  // empty at first, gone at the end
} Room;

static int set_up(void **state) {
    static Room room;
    room.arena = arena_create();
    room.folder = arena_printf(room.arena, "%s/test-os-XXXXXX", TEST_BINARY_DIR);
    *state = &room;
    return mkdtemp(room.folder) ? 0 : -1;
}

static size_t count_files(const char *folder, Arena *arena, bool remove) {
    size_t count = 0;
    DIR *d = opendir(folder);
    if (!d) return 0;
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
        count++;
        char *path = arena_printf(arena, "%s/%s", folder, e->d_name);
        if (remove && unlink(path) != 0) rmdir(path);
    }
    closedir(d);
    return count;
}

static int tear_down(void **state) {
    Room *r = *state;
    count_files(r->folder, r->arena, true);
    int failed = rmdir(r->folder);
    arena_destroy(r->arena);
    return failed;
}

static char *path_in(const Room *r, const char *name) {
    return arena_printf(r->arena, "%s/%s", r->folder, name);
}

static void check_contents(const Room *r, const char *path, Str expected) {
    Str found = {0};
    OsError e = {0};
    assert_true(os_read_file(r->arena, path, 1 << 20, &found, &e));
    assert_true(str_equal(found, expected));
    assert_int_equal(found.text[found.size], 0);
}

static void writes_and_reads(void **state) {
    const Room *r = *state;
    OsError e = {0};
    char *path = path_in(r, "a");
    assert_false(os_path_exists(path));
    assert_true(os_write_file(r->arena, path, STR("one\0two"), &e));
    assert_true(os_path_exists(path));
    check_contents(r, path, STR("one\0two"));
    assert_true(os_write_file(r->arena, path, STR(""), &e));
    check_contents(r, path, STR(""));
    assert_int_equal(count_files(r->folder, r->arena, false), 1);
}

// The lock keeps others out. A caller that does not get it within its time goes on, and learns it
// from the result.
static void one_at_a_time(void **state) {
    const Room *r = *state;
    const char *path = arena_printf(r->arena, "%s/t.txt", r->folder);
    OsLock first, second, nowhere;
    assert_true(os_lock_folder_of(r->arena, path, 1, &first));
    assert_false(os_lock_folder_of(r->arena, path, 0.02, &second));
    os_unlock_folder(&second);
    os_unlock_folder(&first);
    assert_true(os_lock_folder_of(r->arena, path, 1, &second));
    os_unlock_folder(&second);
    assert_false(os_lock_folder_of(r->arena, "/no/such/folder/t.txt", 1, &nowhere));
    os_unlock_folder(&nowhere);
}

// Without memory the caller does not come to unlock, and the process would wait for itself.
static void no_memory_gives_the_lock_back(void **state) {
    const Room *r = *state;
    const char *path = arena_printf(r->arena, "%s/t.txt", r->folder);
    OsLock first, second;
    Recovery recovery;
    if (!RECOVER_FAILED(&recovery)) {
        assert_true(os_lock_folder_of(r->arena, path, 1, &first));
        os_out_of_memory();
    }
    assert_true(os_lock_folder_of(r->arena, path, 0.02, &second));
    os_unlock_folder(&second);
}

static void limits(void **state) {
    const Room *r = *state;
    OsError e = {0};
    Str found = {0};
    char *path = path_in(r, "a");
    static char large[5000];
    assert_true(os_write_file(r->arena, path, (Str){large, 5000}, &e));
    assert_true(os_read_file(r->arena, path, 5000, &found, &e));
    assert_int_equal(found.size, 5000);
    assert_false(os_read_file(r->arena, path, 4999, &found, &e));
    assert_string_equal(e.text, "is larger than 4999 bytes");
    assert_false(os_read_file(r->arena, path, 1024, &found, &e));
    assert_string_equal(e.text, "is larger than 1 KiB");
    assert_false(os_read_file(r->arena, "/dev/zero", 2 << 20, &found, &e));
    assert_string_equal(e.text, "is larger than 2 MiB");
    assert_true(os_read_file(r->arena, "/dev/null", 0, &found, &e));
    assert_int_equal(found.size, 0);
}

// A pipe tells no size beforehand: every size around the buffer's steps, at and over the limit.
static void reads_pipes(void **state) {
    const Room *r = *state;
    const size_t sizes[] = {0, 1, 4094, 4095, 4096, 4097, 8191, 8192, 8193, 30000};
    int input = dup(STDIN_FILENO);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (size_t limit = sizes[i]; limit + 1 >= sizes[i]; limit--) {
            int ends[2];
            assert_int_equal(pipe(ends), 0);
            static char data[30000];
            assert_true(write(ends[1], data, sizes[i]) == (ssize_t)sizes[i]);
            close(ends[1]);
            assert_true(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
            close(ends[0]);
            Str found = {0};
            OsError e = {0};
            bool done = os_read_stdin(r->arena, limit, &found, &e);
            assert_int_equal(done, limit == sizes[i]);
            if (done) assert_int_equal(found.size, sizes[i]);
            if (limit == 0) break;
        }
    }
    assert_true(dup2(input, STDIN_FILENO) == STDIN_FILENO);
    close(input);
}

static void says_why_not(void **state) {
    const Room *r = *state;
    OsError e = {0};
    Str found = {0};
    assert_false(os_read_file(r->arena, path_in(r, "none"), 10, &found, &e));
    assert_string_equal(e.text, "no such file or directory");
    assert_false(os_read_file(r->arena, r->folder, 10, &found, &e));
    assert_string_equal(e.text, "is a directory");
    assert_false(os_write_file(r->arena, r->folder, STR("x"), &e));
    assert_string_equal(e.text, "is a directory");
    assert_false(os_write_file(r->arena, path_in(r, "none/a"), STR("x"), &e));
    assert_string_equal(e.text, "no such file or directory");
    assert_false(os_write_file(r->arena, "", STR("x"), &e));
    assert_int_equal(count_files(r->folder, r->arena, false), 0);
}

static void nothing_is_half_written(void **state) {
    const Room *r = *state;
    OsError e = {0};
    OsFile file;
    char *path = path_in(r, "a");
    assert_true(os_write_file(r->arena, path, STR("old"), &e));
    assert_true(os_file_begin(r->arena, path, &file, &e));
    fputs("new", file.stream);
    fflush(file.stream);
    check_contents(r, path, STR("old"));
    os_file_abandon(&file);
    check_contents(r, path, STR("old"));
    assert_int_equal(count_files(r->folder, r->arena, false), 1);
    assert_true(os_file_begin(r->arena, path, &file, &e));
    fputs("new", file.stream);
    assert_true(os_file_commit(&file, &e));
    check_contents(r, path, STR("new"));
    assert_int_equal(count_files(r->folder, r->arena, false), 1);
}

static void a_full_device_is_an_error(void **state) {
    const Room *r = *state;
    OsError e = {0};
    if (!os_path_exists("/dev/full")) {
        print_message("skipped: there is no /dev/full here\n");
        skip();
    }
    assert_false(os_write_file(r->arena, "/dev/full", STR("x"), &e));
    assert_string_equal(e.text, "no space left on device");
    assert_true(os_path_exists("/dev/full"));
}

// ---- the process's limit on the size of files ----

static _Atomic int handled;

static void count_signal(int number) {
    (void)number;
    handled++;
}

static void limit_files(rlim_t size, struct rlimit *old) {
    assert_int_equal(getrlimit(RLIMIT_FSIZE, old), 0);
    struct rlimit small = {size, old->rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
}

static bool waits(int number) {
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, number) == 1;
}

// A write past the limit is an error. The program's handler of the signal is not called, and the
// program's own signals of that kind are handled as before.
static void a_limit_on_files_is_an_error(void **state) {
    const Room *r = *state;
    struct rlimit old;
    OsError e = {0};
    OsMemoryFile file;
    char bytes[8192];
    memset(bytes, 'x', sizeof bytes);
    const Str large = {bytes, sizeof bytes};
    struct sigaction ours = {.sa_handler = count_signal}, before, after;
    OsFolder *folder = os_folder_open(r->arena, r->folder, false, &e);
    assert_non_null(folder);
    for (int blocked = 0; blocked < 2; blocked++) {
        sigset_t set, mask, now;
        sigemptyset(&set), sigaddset(&set, SIGXFSZ);
        assert_int_equal(sigaction(SIGXFSZ, &ours, &before), 0);
        pthread_sigmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &set, &mask);
        if (blocked) raise(SIGXFSZ);
        limit_files(1000, &old);
        bool written = os_write_file(r->arena, path_in(r, "f"), large, &e);
        bool memory = os_memory_file_open(large, &file, &e);
        bool in_folder = os_folder_write(folder, r->arena, "g", large, &e);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        pthread_sigmask(SIG_SETMASK, NULL, &now);
        assert_int_equal(sigaction(SIGXFSZ, NULL, &after), 0);
        assert_false(written || memory || in_folder);
        assert_int_equal(e.number, EFBIG);
        assert_string_equal(e.text,
                            "the process may not make files larger than 1000 bytes "
                            "(RLIMIT_FSIZE, `ulimit -f`)");
        assert_int_equal(handled, 0);
        assert_int_equal(sigismember(&now, SIGXFSZ), blocked);
        assert_true(waits(SIGXFSZ) == (blocked == 1));
        assert_true(after.sa_handler == count_signal);
        if (blocked) assert_int_equal(sigtimedwait(&set, NULL, &(struct timespec){0}), SIGXFSZ);
        pthread_sigmask(SIG_SETMASK, &mask, NULL);
        assert_int_equal(sigaction(SIGXFSZ, &before, NULL), 0);
    }
    os_folder_close(folder);
    assert_int_equal(count_files(r->folder, r->arena, false), 0);
}

// ---- threads ----

// 0: the message names what is missing.
static int collect_without_threads(void) {
    const struct rlimit one = {1, 1};
    if (setrlimit(RLIMIT_NPROC, &one) != 0 || setuid(65534) != 0) return 2;
    OsError e = {0};
    if (os_collector_open(&e)) return 3;
    return e.number == EAGAIN && strstr(e.text, "no more threads") ? 0 : 4;
}

static void no_threads_are_named(void **state) {
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can become a user who may have no threads\n");
        skip();
    }
    pid_t child = fork();
    if (child == 0) _exit(collect_without_threads());
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void nobody_reads_a_pipe(void **state) {
    (void)state;
    int ends[2];
    OsError e = {0};
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    assert_false(os_write_all(ends[1], STR("x"), &e));
    assert_int_equal(e.number, EPIPE);
    assert_false(waits(SIGPIPE));
    close(ends[1]);
}

static void devices_are_not_replaced(void **state) {
    const Room *r = *state;
    OsError e = {0};
    struct stat info;
    assert_true(os_write_file(r->arena, "/dev/null", STR("x"), &e));
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

static void links_are_followed_and_modes_kept(void **state) {
    const Room *r = *state;
    OsError e = {0};
    struct stat info;
    char *path = path_in(r, "a");
    char *link = path_in(r, "link");
    assert_true(os_write_file(r->arena, path, STR("old"), &e));
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink(path, link), 0);
    assert_true(os_write_file(r->arena, link, STR("new"), &e));
    check_contents(r, path, STR("new"));
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    Str real = os_path_real(r->arena, str(link));
    assert_true(str_equal(real, os_path_real(r->arena, str(path))));
}

static void writable_says_why_not(void **state) {
    const Room *r = *state;
    OsError e = {0};
    assert_true(os_path_writable(r->arena, path_in(r, "new"), &e));
    assert_true(os_path_writable(r->arena, "new-in-this-folder", &e));
    assert_int_equal(count_files(r->folder, r->arena, false), 0);
    assert_true(os_write_file(r->arena, path_in(r, "old"), STR("x"), &e));
    assert_true(os_path_writable(r->arena, path_in(r, "old"), &e));
    check_contents(r, path_in(r, "old"), STR("x"));
    assert_true(os_path_writable(r->arena, "/dev/null", &e));
    assert_false(os_path_writable(r->arena, r->folder, &e));
    assert_string_equal(e.text, "is a directory");
    assert_false(os_path_writable(r->arena, path_in(r, "no/new"), &e));
    assert_string_equal(e.text, "no such file or directory");
    assert_false(os_path_writable(r->arena, path_in(r, "old/new"), &e));
    assert_string_equal(e.text, "not a directory");
    assert_false(os_path_writable(r->arena, "", &e));
}

static void who_waits(void **state) {
    const Room *r = *state;
    const char *pipe = path_in(r, "waits");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_true(os_path_may_block(pipe));
    OsError error;
    assert_null(os_library_open(pipe, &error));
    assert_non_null(strstr(error.text, "is a pipe"));
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0)
        assert_true(os_path_may_block(ptsname(terminal)));
    if (terminal >= 0) close(terminal);
    assert_false(os_path_may_block("/dev/null"));
    assert_false(os_path_may_block("/dev/zero"));
    assert_false(os_path_may_block("."));
    assert_false(os_path_may_block("no such file"));
}

static void paths(void **state) {
    Arena *a = ((const Room *)*state)->arena;
    assert_true(str_equal(os_path_resolve(a, STR("x/y.tile"), STR("z.tile")), STR("x/z.tile")));
    assert_true(str_equal(os_path_resolve(a, STR("y.tile"), STR("z.tile")), STR("z.tile")));
    assert_true(str_equal(os_path_resolve(a, STR("x/y.tile"), STR("/z")), STR("/z")));
    assert_true(str_equal(os_path_resolve(a, STR("/y"), STR("../z")), STR("/../z")));
    assert_true(str_equal(os_path_real(a, STR("/no/such/file")), STR("/no/such/file")));
    assert_true(str_equal(os_path_real(a, STR("/dev/null\0x")), STR("/dev/null\0x")));
    assert_true(os_path_same(a, STR("no-such-file"), STR("./no-such-file")));
    assert_true(os_path_same(a, STR("/dev/null"), STR("/dev/../dev/null")));
    assert_true(os_path_same(a, STR("/dev/none"), STR("/dev/./none")));
    assert_false(os_path_same(a, STR("/dev/none"), STR("/none")));
    assert_false(os_path_same(a, STR("no-such-file"), STR("no-such-file2")));
    Str absolute;
    OsError e;
    assert_true(os_path_absolute(a, STR("/x/y"), &absolute, &e));
    assert_true(str_equal(absolute, STR("/x/y")));
    assert_true(os_path_absolute(a, STR("x/y"), &absolute, &e));
    assert_true(absolute.text[0] == '/' && str_ends(absolute, STR("/x/y")));
}

static void the_machine(void **state) {
    assert_true(os_memory_size() >= 1 << 20);
    (void)state;
    uint64_t before = os_time_ns();
    assert_true(os_time_ns() >= before && before > 0);
    assert_true(os_cpu_count() >= 1);
    assert_null(os_env("TILEC_A_VARIABLE_NOBODY_SETS"));
    assert_true(os_text_to_double("0x1.8p1rest", NULL) == 3);
    OsMutex *mutex = os_mutex_create();
    os_mutex_lock(mutex);
    os_mutex_unlock(mutex);
    os_mutex_lock(mutex);
    os_mutex_unlock(mutex);
    os_mutex_destroy(mutex);
    os_mutex_destroy(NULL);
}

// Programs get their input whole, though they may not read it. Each end is one of OsChildEnd's.
static void programs(void **state) {
    Room *room = *state;
    Arena *a = room->arena;
    OsChildEnd end;
    OsError e;
    size_t size = 1 << 20;
    char *bytes = arena_alloc(a, size);
    memset(bytes, 'x', size);
    Str input = {bytes, size};
    Str cat = os_program_find(a, "cat"), sh = os_program_find(a, "sh");
    assert_true(cat.size && sh.size && os_program_exists(sh.text));
    assert_true(os_program_run(a, (const char *[]){cat.text, NULL}, input, 20, &end, &e));
    assert_int_equal(end.outcome, OS_CHILD_EXITED);
    assert_int_equal(end.number, 0);
    assert_true(str_equal(end.output, input));
    const char *fails[] = {sh.text, "-c", "echo out; echo no >&2; exit 7", NULL};
    assert_true(os_program_run(a, fails, input, 20, &end, &e));
    assert_int_equal(end.number, 7);
    assert_true(str_equal(end.output, STR("out\n")) && str_equal(end.errors, STR("no\n")));
    assert_true(os_program_run(a, (const char *[]){"/none/x", NULL}, input, 20, &end, &e));
    assert_int_equal(end.number, 127);
    assert_true(str_equal(end.errors, STR("cannot be started")));
    const char *waits[] = {sh.text, "-c", "exec sleep 60", NULL};
    assert_true(os_program_run(a, waits, input, 1, &end, &e));
    assert_int_equal(end.outcome, OS_CHILD_TIMED_OUT);
    const char *dies[] = {sh.text, "-c", "kill -9 $$", NULL};
    assert_true(os_program_run(a, dies, input, 20, &end, &e));
    assert_int_equal(end.outcome, OS_CHILD_SIGNAL);
    assert_false(os_program_find(a, "a-program-nobody-has").size);
    assert_false(os_program_exists("/"));
}

static void say_hello(void *user, OsChildOut *out) {
    (void)user;
    os_child_write(out, "hello", 5);
}

static int run_without_streams(Arena *a) {
    OsChildEnd end;
    OsError e;
    close(0), close(1), close(2);
    if (!os_child_run(a, say_hello, NULL, 20, &end, &e)) return 1;
    if (end.outcome != OS_CHILD_DONE || !str_equal(end.output, STR("hello"))) return 2;
    const char *cat[] = {os_program_find(a, "cat").text, NULL};
    if (!os_program_run(a, cat, STR("input"), 20, &end, &e)) return 3;
    if (end.outcome != OS_CHILD_EXITED || end.number != 0) return 4;
    return str_equal(end.output, STR("input")) ? 0 : 5;
}

// A daemon has none of the three standard streams: what we open instead must not take their
// numbers, which a child gives to its own.
static void closed_streams_harm_no_child(void **state) {
    Room *room = *state;
    pid_t child = fork();
    if (child == 0) _exit(run_without_streams(room->arena));
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

typedef struct Whole {
    _Atomic int begun;
    _Atomic bool broken;
    _Atomic bool stop;
} Whole;

static void *work_whole(void *user) {
    Whole *w = user;
    while (!w->stop) {
        OsNoFork outer, inner;
        os_no_fork_begin(&outer);
        w->broken = true;
        w->begun++;
        os_no_fork_begin(&inner);
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        os_no_fork_end(&inner);
        w->broken = false;
        os_no_fork_end(&outer);
    }
    return NULL;
}

static void expect_good_child(const Whole *w) {
    pid_t child = fork();
    if (child == 0) {
        OsNoFork whole;
        alarm(20);
        bool broken = w->broken;
        os_no_fork_begin(&whole);
        os_no_fork_end(&whole);
        _exit(broken ? 1 : 0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void forks_cut_no_work_in_two(void **state) {
    (void)state;
    Whole w = {.begun = 0};
    pthread_t threads[2];
    // Within such work a thread forks as it likes.
    OsNoFork whole;
    os_no_fork_begin(&whole);
    expect_good_child(&w);
    os_no_fork_end(&whole);
    assert_int_equal(pthread_create(&threads[0], NULL, work_whole, &w), 0);
    while (!w.begun) sched_yield();
    for (int i = 0; i < 20; i++) {
        int before = w.begun;
        while (w.begun == before) sched_yield();
        expect_good_child(&w);
    }
    w.stop = true;
    pthread_join(threads[0], NULL);
    expect_good_child(&w);
}

// ---- Mutexes in the child of a fork ----

typedef struct Holding {
    OsMutex *quick, *slow;
    _Atomic int held;  // a step of both sides
    _Atomic bool stop;
    _Atomic uint64_t one, two;  // equal but within the quick mutex
} Holding;

static void *hold_slow(void *user) {
    Holding *h = user;
    os_mutex_lock(h->slow);
    h->held = 1;
    while (!h->stop) sched_yield();
    os_mutex_unlock(h->slow);
    return NULL;
}

static void *change_within_quick(void *user) {
    Holding *h = user;
    while (!h->stop) {
        os_mutex_lock(h->quick);
        h->one++;
        sched_yield();
        h->two++;
        os_mutex_unlock(h->quick);
    }
    return NULL;
}

static void lock_and_unlock(OsMutex *mutex) {
    os_mutex_lock(mutex);
    os_mutex_unlock(mutex);
}

// 0: as it should be.
static int child_with(Holding *h, OsMutex *own) {
    OsMutex *fresh = os_mutex_create();
    alarm(20);
    if (h->one != h->two) return 1;
    lock_and_unlock(h->quick);
    lock_and_unlock(fresh);
    os_mutex_destroy(fresh);
    if (os_mutex_abandoned(h->quick) || os_mutex_abandoned(own)) return 2;
    os_mutex_unlock(own);  // it was held by this thread as it forked
    lock_and_unlock(own);
    os_mutex_lock(h->slow);
    if (!os_mutex_abandoned(h->slow)) return 3;
    os_mutex_mark_consistent(h->slow);
    os_mutex_unlock(h->slow);
    return os_mutex_abandoned(h->slow) ? 4 : 0;
}

// A fork waits for the one kind; the other kind is free in the child, which hears whether it was
// held; a mutex of the thread that forks stays its own.
static void mutexes_survive_forks(void **state) {
    (void)state;
    Holding h = {.quick = os_mutex_create(), .slow = os_mutex_create_long()};
    OsMutex *own = os_mutex_create_long();
    pthread_t threads[2];
    uint32_t generation = os_fork_generation();
    assert_int_equal(pthread_create(&threads[0], NULL, hold_slow, &h), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, change_within_quick, &h), 0);
    while (!h.held || !h.one) sched_yield();
    for (int i = 0; i < 20; i++) {
        os_mutex_lock(own);
        pid_t child = fork();
        if (child == 0) _exit(os_fork_generation() == generation + 1 ? child_with(&h, own) : 5);
        os_mutex_unlock(own);
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    h.stop = true;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    assert_int_equal(os_fork_generation(), generation);
    assert_false(os_mutex_abandoned(h.slow));
    os_mutex_destroy(h.quick);
    os_mutex_destroy(h.slow);
    os_mutex_destroy(own);
}

// This program as one that runs with the rights of another user than who started it.
static void others_name_no_code_for_us(void **state) {
    Room *room = *state;
#ifdef TEST_EMULATED
    print_message("skipped: the emulator that runs this program does not run what it starts\n");
    skip();
#endif
    if (geteuid() != 0) {
        print_message("skipped: only root can make a program of another user\n");
        skip();
    }
    Str bytes;
    OsError e;
    assert_true(os_read_file(room->arena, "/proc/self/exe", UINT64_C(1) << 30, &bytes, &e));
    const char *path = arena_printf(room->arena, "%s/of-another", room->folder);
    assert_true(os_write_file(room->arena, path, bytes, &e));
    setenv("TILEC_TEST_SAY", "said", 1);
    const char *argv[] = {path, "--say", NULL};
    OsChildEnd end;
    assert_int_equal(chmod(path, 0755), 0);
    assert_true(os_program_run(room->arena, argv, STR(""), 20, &end, &e));
    assert_true(str_equal(end.output, STR("said")));
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_int_equal(chmod(path, 04755), 0);
    assert_true(os_program_run(room->arena, argv, STR(""), 20, &end, &e));
    unsetenv("TILEC_TEST_SAY");
    if (end.number == 3) {
        print_message("skipped: the file system of %s knows no set-user-ID\n", room->folder);
        skip();
    }
    // The loader's status where it may not read a library: the program's own shared ones, which
    // that user cannot reach in a private folder.
    if (end.number == 127) {
        print_message("skipped: other users cannot reach %s\n", TEST_BINARY_DIR);
        skip();
    }
    assert_int_equal(end.number, 0);
    assert_true(str_equal(end.output, STR("nothing")));
}

// Ends at once: what sanitizers do at the end is not for such a program.
static _Noreturn void say(void) {
    struct stat info;
    const char *text = os_env("TILEC_TEST_SAY");
    bool asked = stat("/proc/self/exe", &info) == 0 && info.st_mode & S_ISUID;
    if (asked && geteuid() == getuid()) _exit(3);
    printf("%s", text ? text : "nothing");
    _exit(fflush(stdout) == 0 ? 0 : 1);
}

#define WITH_ROOM(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--say") == 0) say();
    const struct CMUnitTest tests[] = {
        WITH_ROOM(closed_streams_harm_no_child),
        cmocka_unit_test(forks_cut_no_work_in_two),
        cmocka_unit_test(mutexes_survive_forks),
        WITH_ROOM(others_name_no_code_for_us),
        WITH_ROOM(writes_and_reads),
        WITH_ROOM(one_at_a_time),
        WITH_ROOM(no_memory_gives_the_lock_back),
        WITH_ROOM(limits),
        WITH_ROOM(reads_pipes),
        WITH_ROOM(says_why_not),
        WITH_ROOM(nothing_is_half_written),
        WITH_ROOM(a_full_device_is_an_error),
        WITH_ROOM(a_limit_on_files_is_an_error),
        cmocka_unit_test(nobody_reads_a_pipe),
        cmocka_unit_test(no_threads_are_named),
        WITH_ROOM(devices_are_not_replaced),
        WITH_ROOM(links_are_followed_and_modes_kept),
        WITH_ROOM(writable_says_why_not),
        WITH_ROOM(paths),
        WITH_ROOM(who_waits),
        WITH_ROOM(programs),
        cmocka_unit_test(the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
