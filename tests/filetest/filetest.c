// filetest: runs the command lines and passes that .tile and .tir files name in their comments, and
// compares what comes out with what the files say. docs/testing.md has the format; script.h in
// short.
//
//     filetest --tool build/debug/tilec [--bless] [--jobs N] [--timeout S] [--part N/M]
//              FOLDER|FILE…
//
// --part 2/3 takes the second third of the files, by the hashes of their paths, so that a new file
// moves no other one to another part. Every part also has the files that TILEC_TEST_CHANGED names,
// a path in each line.
//
// Exit status: 0 all passed, 1 some failed or there was none, 2 wrong usage.
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/os.h"
#include "base/vec.h"
#include "tests/support/case.h"

enum { JOBS_MAX = 64, DEPTH_MAX = 16 };

typedef VEC(const char *) Paths;

typedef struct Options {
    CaseOptions run;
    const char *tool;
    unsigned jobs;
    unsigned part, parts;  // 0 to parts - 1
    Paths paths;           // as given
} Options;

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_test(const char *name) {
    return str_ends(str(name), STR(".tile")) || str_ends(str(name), STR(".tir")) ||
           str_ends(str(name), STR(".py"));
}

// Adds the tests below a folder, or the file itself. False when there is no such thing.
static bool collect(Arena *arena, const char *path, int depth, Paths *files) {
    struct stat info;
    if (stat(path, &info) != 0) return false;
    if (!S_ISDIR(info.st_mode)) {
        vec_push(arena, files, path);
        return true;
    }
    DIR *folder = opendir(path);
    if (!folder) return false;
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.') continue;
        const char *inner = arena_printf(arena, "%s/%s", path, entry->d_name);
        bool is_folder = stat(inner, &info) == 0 && S_ISDIR(info.st_mode);
        if (is_folder ? depth < DEPTH_MAX : is_test(inner)) collect(arena, inner, depth + 1, files);
    }
    closedir(folder);
    return true;
}

// One worker's share: every jobs-th file. Reports failures to `out`; the count of them ends it. In
// `at` the parent finds the file that a pass crashed on.
static void work(const Options *o, const Paths *files, unsigned first, FILE *out, size_t *at) {
    size_t failed = 0;
    for (size_t i = first; i < files->count; i += o->jobs) {
        *at = i;
        Arena *arena = arena_create();
        StrBuf report = strbuf(arena);
        if (!case_run(arena, &o->run, files->data[i], &report)) {
            failed++;
            Str text = strbuf_str(&report);
            fprintf(out, "FAILED %s\n", files->data[i]);
            fwrite(text.text, 1, text.size, out);
        }
        arena_destroy(arena);
    }
    fprintf(out, "%c%zu", '\0', failed);
    fflush(out);
}

// Prints a worker's report; the count it ended with, or all of its files if it did not get there.
static size_t print_report(FILE *from, size_t files) {
    char digits[32] = "";
    size_t used = 0;
    bool count = false;
    rewind(from);
    for (int c; (c = getc(from)) != EOF;) {
        if (c == '\0') {
            count = true;
            used = 0;
        } else if (!count) {
            putchar(c);
        } else if (used + 1 < sizeof digits) {
            digits[used++] = (char)c;
            digits[used] = '\0';
        }
    }
    return used > 0 ? (size_t)strtoull(digits, NULL, 10) : files;
}

static size_t run_all(const Options *o, const Paths *files) {
    FILE *reports[JOBS_MAX] = {0};
    pid_t workers[JOBS_MAX] = {0};
    size_t failed = 0;
    size_t *at = mmap(NULL, sizeof *at * JOBS_MAX, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return printf("no memory to share with the workers\n"), files->count;
    fflush(stdout);
    for (unsigned i = 0; i < o->jobs; i++) {
        reports[i] = tmpfile();
        workers[i] = reports[i] ? fork() : -1;
        if (workers[i] == 0) {
            work(o, files, i, reports[i], &at[i]);
            _exit(0);
        }
    }
    for (unsigned i = 0; i < o->jobs; i++) {
        size_t share = files->count / o->jobs + (i < files->count % o->jobs);
        int status = 0;
        while (workers[i] > 0 && waitpid(workers[i], &status, 0) < 0 && errno == EINTR) continue;
        if (workers[i] > 0 && status == 0)
            failed += print_report(reports[i], share);
        else
            failed += share, printf(
                                 "a worker could not run or died at %s: its %zu files count as "
                                 "failed\n",
                                 files->data[at[i]], share);
        if (reports[i]) fclose(reports[i]);
    }
    munmap(at, sizeof *at * JOBS_MAX);
    return failed;
}

static void usage(const char *complaint) {
    fprintf(stderr,
            "filetest: %s\n"
            "usage: filetest --tool PATH/tilec [--bless] [--jobs N] [--timeout S] [--part N/M] "
            "FOLDER|FILE...\n",
            complaint);
}

static bool number_option(const char *text, unsigned most, unsigned *value) {
    uint64_t wide = 0;
    bool overflow = false;
    if (!text || !str_to_u64(str(text), &wide, &overflow) || overflow || wide < 1 || wide > most)
        return false;
    *value = (unsigned)wide;
    return true;
}

static bool part_option(const char *text, Options *o) {
    char more;
    return text && sscanf(text, "%u/%u%c", &o->part, &o->parts, &more) == 2 && o->part-- > 0 &&
           o->part < o->parts;
}

// NULL, or what is wrong.
static const char *parse(Arena *arena, char **argv, Options *o) {
    for (char **a = argv + 1; *a; a++) {
        if (strcmp(*a, "--bless") == 0) {
            o->run.bless = true;
        } else if (strcmp(*a, "--tool") == 0) {
            if (!*++a) return "--tool wants a path";
            o->tool = *a;
        } else if (strcmp(*a, "--jobs") == 0) {
            if (!number_option(*++a, JOBS_MAX, &o->jobs)) return "--jobs wants a number, 1 to 64";
        } else if (strcmp(*a, "--timeout") == 0) {
            if (!number_option(*++a, 86400, &o->run.seconds)) return "--timeout wants seconds";
        } else if (strcmp(*a, "--part") == 0) {
            if (!part_option(*++a, o)) return "--part wants a part such as 2/3";
        } else if ((*a)[0] == '-') {
            return "unknown option";
        } else {
            vec_push(arena, &o->paths, *a);
        }
    }
    if (!o->tool) return "--tool is missing";
    return o->paths.count > 0 ? NULL : "no folder and no file given";
}

// The absolute folder of the tool, which must be called tilec, as the commands call it.
static const char *find_tool(Arena *arena, const char *tool) {
    char *real = realpath(tool, NULL);
    if (!real || access(real, X_OK) != 0) return free(real), NULL;
    char *path = arena_text(arena, real, strlen(real));
    free(real);
    char *slash = strrchr(path, '/');
    if (!slash || strcmp(slash + 1, "tilec") != 0) return NULL;
    *slash = '\0';
    return path;
}

static const char *make_scratch(Arena *arena) {
    const char *base = os_env("TMPDIR");
    char *path = arena_printf(arena, "%s/filetest.XXXXXX", base ? base : P_tmpdir);
    return mkdtemp(path);
}

static void remove_scratch(Arena *arena, const char *path) {
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)) != NULL)
        if (entry->d_name[0] != '.') remove(arena_printf(arena, "%s/%s", path, entry->d_name));
    if (folder) closedir(folder);
    rmdir(path);
}

static bool is_changed(Str path) {
    const char *text = os_env("TILEC_TEST_CHANGED");
    for (Str rest = str(text ? text : ""); rest.size;)
        if (str_equal(str_cut(rest, '\n', &rest), path)) return true;
    return false;
}

static void keep_part(const Options *o, Paths *files) {
    size_t kept = 0;
    for (size_t i = 0; i < files->count; i++) {
        Str path = str(files->data[i]);
        if (str_hash(path) % o->parts == o->part || is_changed(path))
            files->data[kept++] = files->data[i];
    }
    files->count = kept;
}

static int run_options(Arena *arena, Options *o) {
    Paths files = {0};
    for (size_t i = 0; i < o->paths.count; i++) {
        if (!collect(arena, o->paths.data[i], 0, &files)) {
            fprintf(stderr, "filetest: cannot read %s\n", o->paths.data[i]);
            return 2;
        }
    }
    if (files.count == 0) {
        printf("no .tile, .tir or .py file there: nothing was tested\n0 passed, 0 failed\n");
        return 1;
    }
    keep_part(o, &files);
    qsort(files.data, files.count, sizeof *files.data, by_text);
    if (o->jobs > files.count) o->jobs = (unsigned)files.count;
    size_t failed = run_all(o, &files);
    printf("%zu passed, %zu failed\n", files.count - failed, failed);
    return failed > 0;
}

int main(int argc, char **argv) {
    (void)argc;
    Arena *arena = arena_create();
    Options o = {.run = {.seconds = 60}, .jobs = 2, .parts = 1};
    const char *complaint = parse(arena, argv, &o);
    if (!complaint && !(o.run.tool_folder = find_tool(arena, o.tool)))
        complaint = "--tool names no program called tilec";
    if (!complaint && !(o.run.scratch = make_scratch(arena)))
        complaint = "cannot make a temporary folder";
    int status = 2;
    if (complaint) {
        usage(complaint);
    } else {
        status = run_options(arena, &o);
        remove_scratch(arena, o.run.scratch);
    }
    arena_destroy(arena);
    return status;
}
