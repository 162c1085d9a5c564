// The cache on disk: what is kept comes back, and nothing that is wrong with it does harm.
#define _GNU_SOURCE  // setenv, mkdtemp, fork, rlimits
#include "compile/jit/cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
// after the above, as cmocka asks
#include <cmocka.h>

typedef struct World {
    Arena *arena;
    char folder[64];
    char said[4096];
    size_t lines;
} World;

static void listen(void *user, const char *text) {
    World *w = user;
    snprintf(w->said, sizeof w->said, "%s", text);
    w->lines++;
}

static int set_up(void **state) {
    World *w = calloc(1, sizeof *w);
    w->arena = arena_create();
    snprintf(w->folder, sizeof w->folder, "%s/tilec-test-XXXXXX", P_tmpdir);
    assert_non_null(mkdtemp(w->folder));
    unsetenv("TILEC_CACHE");
    unsetenv("TILEC_CACHE_SIZE");
    *state = w;
    return 0;
}

static int tear_down(void **state) {
    World *w = *state;
    chmod(w->folder, 0700);
    StrBuf command = strbuf(w->arena);
    strbuf_printf(&command, "rm -rf '%s'", w->folder);
    assert_int_equal(system(command.text), 0);
    arena_destroy(w->arena);
    free(w);
    unsetenv("TILEC_CACHE");
    unsetenv("TILEC_CACHE_SIZE");
    return 0;
}

static HashKey key_of(unsigned number) { return hash_of(&number, sizeof number); }

static Str filled(World *w, size_t size, char with) {
    char *bytes = arena_alloc(w->arena, size + 1);
    memset(bytes, with, size);
    return (Str){bytes, size};
}

static bool has(World *w, Cache *c, unsigned number, Str code) {
    HashKey key = key_of(number);
    CacheEntry e = {0};
    if (!cache_find(c, CACHE_SHARED, &key, w->arena, &e)) return false;
    assert_true(str_equal(e.code, code));
    assert_true(str_equal(e.notes, STR("notes")));
    assert_non_null(e.path);
    return true;
}

static const char *put(World *w, Cache *c, unsigned number, Str code) {
    HashKey key = key_of(number);
    CacheEntry e = {.code = code, .notes = STR("notes")};
    cache_keep(c, CACHE_SHARED, &key, w->arena, &e);
    return e.path;
}

static const char *path_of(World *w, unsigned number) {
    char hex[HASH_HEX + 1];
    HashKey key = key_of(number);
    hash_hex(&key, hex);
    return arena_printf(w->arena, "%s/%s.so", w->folder, hex);
}

static Str contents(World *w, const char *path) {
    Str text = {0};
    OsError e;
    assert_true(os_read_file(w->arena, path, 1 << 20, &text, &e));
    return text;
}

static void overwrite(const char *path, Str bytes) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.text, 1, bytes.size, f), bytes.size);
    fclose(f);
}

static void keeps_and_finds(void **state) {
    World *w = *state;
    Cache *c = cache_create(w->folder, listen, w);
    assert_false(has(w, c, 1, STR("")));
    const char *path = put(w, c, 1, STR("code of one"));
    assert_string_equal(path, path_of(w, 1));
    assert_true(has(w, c, 1, STR("code of one")));
    assert_false(has(w, c, 2, STR("")));
    // The bytes that loaders read are at the beginning of the file.
    assert_true(str_starts(contents(w, path), STR("code of one")));
    cache_destroy(c);
    // Another process would see it as well.
    c = cache_create(w->folder, listen, w);
    assert_true(has(w, c, 1, STR("code of one")));
    cache_destroy(c);
    assert_int_equal(w->lines, 0);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

static void same_input_gives_same_bytes(void **state) {
    World *w = *state;
    Cache *c = cache_create(w->folder, listen, w);
    Str first = contents(w, put(w, c, 1, STR("code")));
    assert_int_equal(unlink(path_of(w, 1)), 0);
    Str second = contents(w, put(w, c, 1, STR("code")));
    assert_true(str_equal(first, second));
    cache_destroy(c);
}

static void makes_the_folder(void **state) {
    World *w = *state;
    const char *deep = arena_printf(w->arena, "%s/a/b/tilec", w->folder);
    Cache *c = cache_create(deep, listen, w);
    assert_non_null(put(w, c, 1, STR("code")));
    struct stat info;
    assert_int_equal(stat(deep, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    cache_destroy(c);
}

// Every byte of an entry, and every length of it.
static void damaged_entries_are_made_again(void **state) {
    World *w = *state;
    Cache *c = cache_create(w->folder, listen, w);
    const char *path = put(w, c, 1, STR("a code"));
    Str whole = contents(w, path);
    for (size_t i = 0; i < 2 * whole.size; i++) {
        char *bytes = arena_copy(w->arena, whole.text, whole.size);
        size_t size = i < whole.size ? whole.size : i - whole.size;
        if (i < whole.size) bytes[i] ^= 0x40;
        overwrite(path, (Str){bytes, size});
        w->lines = 0;
        assert_false(has(w, c, 1, STR("a code")));
        assert_int_equal(w->lines, 1);
        assert_int_not_equal(access(path, F_OK), 0);
        put(w, c, 1, STR("a code"));
        assert_true(has(w, c, 1, STR("a code")));
    }
    char *longer = arena_alloc(w->arena, whole.size + 1);
    memcpy(longer, whole.text, whole.size);
    overwrite(path, (Str){longer, whole.size + 1});
    assert_false(has(w, c, 1, STR("a code")));
    cache_destroy(c);
}

// A right checksum does not make an entry of another version, or of another key, ours.
static void foreign_entries_are_not_believed(void **state) {
    World *w = *state;
    Cache *c = cache_create(w->folder, listen, w);
    const char *path = put(w, c, 1, STR("code"));
    Str whole = contents(w, path);
    overwrite(path_of(w, 2), whole);
    assert_false(has(w, c, 2, STR("code")));
    assert_non_null(strstr(w->said, "another key"));
    char *bytes = arena_copy(w->arena, whole.text, whole.size);
    bytes[whole.size - 96 + 8]++;  // the trailer's version
    HashKey sum = hash_of(bytes, whole.size - HASH_SIZE);
    memcpy(bytes + whole.size - HASH_SIZE, &sum, HASH_SIZE);
    overwrite(path, (Str){bytes, whole.size});
    assert_false(has(w, c, 1, STR("code")));
    assert_non_null(strstr(w->said, "another version"));
    cache_destroy(c);
}

static void expect_refused(World *w, const char *folder, const char *why) {
    w->lines = 0;
    Cache *c = cache_create(folder, listen, w);
    assert_null(put(w, c, 1, STR("code")));
    assert_false(has(w, c, 1, STR("code")));
    assert_int_equal(w->lines, 1);
    if (!strstr(w->said, why)) fail_msg("expected '%s', found: %s", why, w->said);
    cache_destroy(c);
}

static void unsafe_folders_are_refused(void **state) {
    World *w = *state;
    const char *link = arena_printf(w->arena, "%s/link", w->folder);
    const char *real = arena_printf(w->arena, "%s/real", w->folder);
    assert_int_equal(mkdir(real, 0700), 0);
    assert_int_equal(symlink(real, link), 0);
    static const char *const tails[] = {"", "/", "//", "/.", "/./"};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        expect_refused(w, arena_printf(w->arena, "%s%s", link, tails[i]), "symbolic link");
    assert_int_equal(chmod(real, 0770), 0);
    expect_refused(w, real, "others may write");
    assert_int_equal(chmod(real, 0702), 0);
    expect_refused(w, real, "others may write");
    assert_int_equal(chmod(real, 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(real, 65534, 65534), 0);
        expect_refused(w, real, "another user");
    } else {
        expect_refused(w, "/", "another user");
    }
    // A user who may write to a folder above can replace this one, unless that has a sticky bit
    // (/tmp).
    assert_int_equal(chown(real, geteuid(), getegid()), 0);
    const char *above = arena_printf(w->arena, "%s/above", w->folder);
    const char *deep = arena_printf(w->arena, "%s/one/two", above);
    assert_int_equal(mkdir(above, 0700), 0);
    assert_int_equal(chmod(above, 0777), 0);
    expect_refused(w, deep, arena_printf(w->arena, "everyone may write to '%s' above", above));
    assert_int_equal(chmod(above, 01777), 0);
    Cache *c = cache_create(deep, listen, w);
    assert_non_null(put(w, c, 1, STR("code")));
    cache_destroy(c);
    const char *file = arena_printf(w->arena, "%s/file", w->folder);
    overwrite(file, STR("x"));
    expect_refused(w, file, "directory");
    expect_refused(w, arena_printf(w->arena, "%s/below", file), "directory");
}

// The folder of a relative name is the one that was made and checked, wherever the process works
// later, even if another user's folder of that name is there.
static void a_relative_folder_stays_where_it_is(void **state) {
    World *w = *state;
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    const char *other = arena_printf(w->arena, "%s/other", w->folder);
    assert_int_equal(mkdir(other, 0700), 0);
    assert_int_equal(mkdir(arena_printf(w->arena, "%s/below", other), 0777), 0);
    assert_int_equal(chdir(w->folder), 0);
    Cache *c = cache_create("below", listen, w);
    const char *path = put(w, c, 1, STR("code"));
    assert_int_equal(chdir(other), 0);
    assert_non_null(path);
    assert_true(str_starts(str(path), str(arena_printf(w->arena, "%s/below/", w->folder))));
    path = put(w, c, 2, STR("more"));
    assert_true(str_starts(str(path), str(arena_printf(w->arena, "%s/below/", w->folder))));
    assert_true(has(w, c, 1, STR("code")));
    cache_destroy(c);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(w->lines, 0);
}

// Code is loaded from the folder that was checked, even if its name leads elsewhere now.
static void loaders_reach_what_was_read(void **state) {
    World *w = *state;
    const char *folder = arena_printf(w->arena, "%s/kept", w->folder);
    Cache *c = cache_create(folder, listen, w);
    const char *path = put(w, c, 1, STR("code"));
    assert_int_equal(rename(folder, arena_printf(w->arena, "%s/moved", w->folder)), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    overwrite(path, STR("evil"));
    HashKey key = key_of(1);
    CacheEntry entry;
    assert_true(cache_find(c, CACHE_SHARED, &key, w->arena, &entry));
    assert_string_equal(entry.path, path);
    Str whole = contents(w, entry.folder_path);
    assert_true(str_starts(whole, STR("code")));
    cache_destroy(c);
}

// An entry that is a link, a pipe, or another's: as if it were not there.
static void unsafe_entries_are_ignored(void **state) {
    World *w = *state;
    Cache *c = cache_create(w->folder, listen, w);
    const char *elsewhere = arena_printf(w->arena, "%s/elsewhere", w->folder);
    assert_int_equal(rename(put(w, c, 1, STR("code")), elsewhere), 0);
    assert_int_equal(symlink(elsewhere, path_of(w, 1)), 0);
    assert_false(has(w, c, 1, STR("code")));
    assert_non_null(put(w, c, 1, STR("code")));  // replaces the link
    assert_true(has(w, c, 1, STR("code")));
    assert_int_equal(mkfifo(path_of(w, 2), 0600), 0);
    assert_false(has(w, c, 2, STR("code")));
    assert_int_equal(chmod(path_of(w, 1), 0622), 0);
    assert_false(has(w, c, 1, STR("code")));
    cache_destroy(c);
}

static void works_without_writing(void **state) {
    World *w = *state;
    bool root = geteuid() == 0;  // root may write everywhere: test as user 65534
    if (root) {
        assert_int_equal(chown(w->folder, 65534, 65534), 0);
        assert_int_equal(seteuid(65534), 0);
    }
    Cache *c = cache_create(w->folder, listen, w);
    put(w, c, 1, STR("code"));
    assert_int_equal(chmod(w->folder, 0500), 0);
    assert_null(put(w, c, 2, STR("code")));
    assert_null(put(w, c, 3, STR("code")));
    assert_int_equal(w->lines, 1);  // said once
    assert_true(has(w, c, 1, STR("code")));
    cache_destroy(c);
    if (root) assert_int_equal(seteuid(0), 0);
}

// A limit on the size of files fails writes half way, as a full disk does.
static void a_full_disk_leaves_nothing(void **state) {
    World *w = *state;
    Cache *c = cache_create(w->folder, listen, w);
    assert_non_null(put(w, c, 1, STR("code")));
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 1000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const char *path = put(w, c, 2, filled(w, 5000, 'x'));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_null(path);
    assert_int_equal(w->lines, 1);
    assert_false(has(w, c, 2, STR("")));
    assert_true(has(w, c, 1, STR("code")));
    OsError e;
    OsFolder *f = os_folder_open(w->arena, w->folder, false, &e);
    OsFolderFiles files = {0};
    assert_true(os_folder_list(f, w->arena, &files, &e));
    assert_int_equal(files.count, 1);  // no half-written rest
    os_folder_close(f);
    // Later calls work.
    assert_non_null(put(w, c, 2, filled(w, 5000, 'x')));
    cache_destroy(c);
}

static void size_is_bounded(void **state) {
    World *w = *state;
    setenv("TILEC_CACHE_SIZE", "64K", 1);
    Cache *c = cache_create(w->folder, listen, w);
    for (unsigned i = 0; i < 40; i++) {
        put(w, c, i, filled(w, 4000, 'x'));
        // Number 0 is used all the time, and stays.
        assert_true(has(w, c, 0, filled(w, 4000, 'x')));
        usleep(2000);  // times of use that differ
    }
    OsError e;
    OsFolder *f = os_folder_open(w->arena, w->folder, false, &e);
    CacheRows rows = {0};
    assert_true(cache_list(f, w->arena, &rows, &e));
    uint64_t sum = 0;
    for (size_t i = 0; i < rows.count; i++) {
        sum += rows.data[i].size;
        cache_check(f, w->arena, &rows.data[i]);
        assert_true(rows.data[i].whole);
    }
    assert_true(sum <= 64 << 10);
    assert_true(rows.count >= 8);
    assert_true(has(w, c, 39, filled(w, 4000, 'x')));
    assert_false(has(w, c, 1, STR("")));
    // An entry that would push out all others is not kept, which is said once.
    assert_int_equal(w->lines, 0);
    assert_null(put(w, c, 99, filled(w, 60000, 'x')));
    assert_non_null(strstr(w->said, "is not kept: an entry may have 32768"));
    assert_null(put(w, c, 99, filled(w, 60000, 'x')));
    assert_int_equal(w->lines, 1);
    uint64_t files, bytes;
    assert_true(cache_clear(f, w->arena, &files, &bytes, &e));
    assert_int_equal(files, rows.count);
    assert_int_equal(bytes, sum);
    os_folder_close(f);
    cache_destroy(c);
}

static uint64_t entries_size(World *w, size_t *count) {
    OsError e;
    OsFolder *f = os_folder_open(w->arena, w->folder, false, &e);
    CacheRows rows = {0};
    assert_true(cache_list(f, w->arena, &rows, &e));
    os_folder_close(f);
    uint64_t sum = 0;
    for (size_t i = 0; i < rows.count; i++) sum += rows.data[i].size;
    *count = rows.count;
    return sum;
}

// A folder that is larger than a new limit shrinks at the next keep, even of an entry that is too
// large itself; files of others stay.
static void a_lower_limit_trims(void **state) {
    World *w = *state;
    Cache *c = cache_create(w->folder, listen, w);
    for (unsigned i = 0; i < 10; i++) assert_non_null(put(w, c, i, filled(w, 3000, 'x')));
    cache_destroy(c);
    const char *other = arena_printf(w->arena, "%s/notes.txt", w->folder);
    overwrite(other, filled(w, 20000, 'n'));
    size_t count;
    assert_true(entries_size(w, &count) > 30000);
    assert_int_equal(count, 10);
    setenv("TILEC_CACHE_SIZE", "9000", 1);
    c = cache_create(w->folder, listen, w);
    assert_null(put(w, c, 20, filled(w, 5000, 'x')));
    assert_int_equal(w->lines, 1);
    assert_non_null(strstr(w->said, "an entry may have 4500 bytes, at most half of"));
    assert_true(entries_size(w, &count) <= 9000);
    assert_int_equal(count, 2);
    assert_non_null(put(w, c, 21, filled(w, 3000, 'x')));
    assert_true(has(w, c, 21, filled(w, 3000, 'x')));
    assert_true(entries_size(w, &count) <= 9000);
    assert_int_equal(access(other, F_OK), 0);
    cache_destroy(c);
}

static void can_be_turned_off(void **state) {
    World *w = *state;
    Cache *c = cache_create("", listen, w);
    assert_null(put(w, c, 1, STR("code")));
    cache_destroy(c);
    setenv("TILEC_CACHE", "off", 1);
    c = cache_create(w->folder, listen, w);
    assert_null(put(w, c, 1, STR("code")));
    cache_destroy(c);
    assert_int_equal(w->lines, 0);
}

static void the_environment_names_the_folder(void **state) {
    World *w = *state;
    setenv("TILEC_CACHE_DIR", "/a", 1);
    assert_true(str_equal(cache_folder_path(w->arena, NULL), STR("/a")));
    assert_true(str_equal(cache_folder_path(w->arena, "/b"), STR("/b")));
    unsetenv("TILEC_CACHE_DIR");
    setenv("XDG_CACHE_HOME", "/x", 1);
    assert_true(str_equal(cache_folder_path(w->arena, NULL), STR("/x/tilec")));
    unsetenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (home) {
        const char *expected = arena_printf(w->arena, "%s/.cache/tilec", home);
        assert_string_equal(cache_folder_path(w->arena, NULL).text, expected);
    }
    uint64_t bytes;
    assert_true(cache_size_parse(STR("3M"), &bytes) && bytes == 3 << 20);
    assert_true(cache_size_parse(STR("77"), &bytes) && bytes == 77);
    assert_false(cache_size_parse(STR("M"), &bytes));
    assert_false(cache_size_parse(STR("99999999999G"), &bytes));
}

// Several processes write and read the same entries at once: a process that finds an entry finds it
// whole.
static void processes_share_a_folder(void **state) {
    World *w = *state;
    enum { PROCESSES = 4, ROUNDS = 50, ENTRIES = 7 };
    pid_t children[PROCESSES];
    for (int p = 0; p < PROCESSES; p++) {
        children[p] = fork();
        if (children[p]) continue;
        Cache *c = cache_create(w->folder, listen, w);
        int wrong = 0;
        for (unsigned i = 0; i < ROUNDS * ENTRIES; i++) {
            HashKey key = key_of(i % ENTRIES);
            Str code = filled(w, 3000 + i % ENTRIES, (char)('a' + i % ENTRIES));
            CacheEntry e = {.code = code, .notes = STR("notes")};
            if (cache_find(c, CACHE_SHARED, &key, w->arena, &e)) wrong += !str_equal(e.code, code);
            cache_keep(c, CACHE_SHARED, &key, w->arena, &e);
        }
        _exit(wrong || w->lines ? 1 : 0);
    }
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        assert_int_equal(waitpid(children[p], &status, 0), children[p]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    OsError e;
    OsFolder *f = os_folder_open(w->arena, w->folder, false, &e);
    OsFolderFiles files = {0};
    assert_true(os_folder_list(f, w->arena, &files, &e));
    assert_int_equal(files.count, ENTRIES);
    os_folder_close(f);
}

#define CACHE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CACHE_TEST(keeps_and_finds),
        CACHE_TEST(same_input_gives_same_bytes),
        CACHE_TEST(makes_the_folder),
        CACHE_TEST(damaged_entries_are_made_again),
        CACHE_TEST(foreign_entries_are_not_believed),
        CACHE_TEST(unsafe_folders_are_refused),
        CACHE_TEST(a_relative_folder_stays_where_it_is),
        CACHE_TEST(loaders_reach_what_was_read),
        CACHE_TEST(unsafe_entries_are_ignored),
        CACHE_TEST(works_without_writing),
        CACHE_TEST(a_full_disk_leaves_nothing),
        CACHE_TEST(size_is_bounded),
        CACHE_TEST(a_lower_limit_trims),
        CACHE_TEST(can_be_turned_off),
        CACHE_TEST(the_environment_names_the_folder),
        CACHE_TEST(processes_share_a_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
