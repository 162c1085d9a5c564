// Os: everything POSIX in one place, with os_thread.h (threads, forks) and os_dl.h (shared
// libraries).
//
// Invariants: nothing but base/os*.c includes a POSIX header; failures come back as OsError with
// a text for people; files are written whole or not at all (a temporary beside the target, then
// rename).
// Ownership: read contents belong to the arena given.
//
//     Str text; OsError e;
//     if (!os_read_file(arena, "k.tile", SOURCE_MAX, &text, &e)) report(e.text);
#ifndef TILEC_BASE_OS_OS_H
#define TILEC_BASE_OS_OS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/recover.h"
#include "base/str.h"

typedef struct OsError {
    int number;      // errno, or 0
    char text[256];  // "no such file or directory", "is a directory", "is larger than 64 MiB"
} OsError;
// The system's text for `number`, in English and our style; returns false, for `return` lines.
bool os_error_number(OsError *error, int number);

// What is no plain file (a pipe, a device) ends at OS_STREAM_MAX, whatever the limit.
enum { OS_STREAM_MAX = 1 << 30 };
bool os_read_file(Arena *arena, const char *path, uint64_t limit, Str *contents, OsError *error);
// A file written under a temporary name, which os_file_commit renames over `path`. A path that is a
// device or a pipe is written directly (temporary is NULL); a symbolic link is followed.
typedef struct OsFile {
    FILE *stream;
    char *path;
    char *temporary;
} OsFile;
bool os_file_begin(Arena *arena, const char *path, OsFile *file, OsError *error);
bool os_file_commit(OsFile *file, OsError *error);
void os_file_abandon(OsFile *file);
bool os_write_file(Arena *arena, const char *path, Str contents, OsError *error);
// Makes the folder, if there is none yet; what it lies in is there.
bool os_make_folder(const char *path, OsError *error);
// Could a file be written there? Says so before the work whose result it shall hold; writes
// nothing.
bool os_path_writable(Arena *arena, const char *path, OsError *error);
// Only one process at a time is between the two, among those whose `path` lies in the same folder:
// for a file that is read and then replaced. After `seconds` of waiting, or where the folder cannot
// be locked: false, and nothing is held. The folder's lock is the system's (flock).
typedef struct OsLock {
    int number;  // the folder's descriptor; negative: nothing is held
} OsLock;
bool os_lock_beside(Arena *arena, const char *path, double seconds, OsLock *lock);
void os_unlock_beside(OsLock *lock);
// The whole of standard input.
bool os_read_stdin(Arena *arena, uint64_t limit, Str *contents, OsError *error);
bool os_path_exists(const char *path);
// A pipe or a terminal: to read it is to wait for somebody at its other end.
bool os_path_waits(const char *path);
// `path` seen from the folder of `base`; absolute paths stay as they are.
Str os_path_beside(Arena *arena, Str base, Str path);
// The canonical path, or the path itself when there is none.
Str os_path_real(Arena *arena, Str path);
// Do both lead to one file, or would they, if it were there?
bool os_path_same(Arena *arena, Str a, Str b);
// Of a path that is seen from the folder in which the process works now: the name that it has from
// everywhere, also later. False: that folder has no name.
bool os_path_absolute(Arena *arena, Str path, Str *absolute, OsError *error);

uint64_t os_time_ns(void);  // monotonic
bool os_is_terminal(FILE *stream);
// NULL when unset; always in a program that runs with more rights than who started it (set-user-ID,
// set-group-ID, capabilities): whose variables name the code that it loads.
const char *os_env(const char *name);
unsigned os_cpu_count(void);
uint64_t os_memory_size(void);  // bytes of the machine's memory
// Asks that this process may use the machine's tile registers (AMX), which the system saves for
// processes that asked only: all threads, those to come too, and what is forked. False: it may not,
// because the system does not know of them, forbids them, or some thread's signal stack is too
// small for what is saved; from the first true on, none can be set up that is. Asking twice is one.
bool os_tile_registers_ask(void);

// Zeroed memory in big pages where the system has them: for blocks of many megabytes, whose first
// touch would otherwise cost a page fault every 4 KiB. NULL when there is none.
void *os_pages_map(size_t size);
void os_pages_unmap(void *pages, size_t size);

// strtod of the C locale, whatever the process has set.
double os_text_to_double(const char *text, char **end);

// A descriptor that is closed when its region of recovery fails.
void os_own_descriptor(OwnedFile *file, int number);
void os_close_descriptor(OwnedFile *file);

// A pointer of each thread's own. `ended` is called with it (when not NULL) as its thread ends.
typedef struct OsThreadKey OsThreadKey;
OsThreadKey *os_thread_key_create(void (*ended)(void *value));  // NULL when the system has no more
void os_thread_key_destroy(OsThreadKey *key);                   // calls nothing
void *os_thread_key_get(const OsThreadKey *key);
bool os_thread_key_set(OsThreadKey *key, void *value);

// What the calling thread is at work on: who reports a defect calls `keep` of each, the innermost
// first, so that it can leave behind what it was given. A list on the stack; end it before it goes.
typedef struct OsWork {
    void (*keep)(struct OsWork *work);  // on the thread that failed; may itself fail, once
    struct OsWork *outer;
} OsWork;
void os_work_begin(OsWork *work);
void os_work_end(OsWork *work);
OsWork *os_work_current(void);
void os_work_restore(OsWork *work);  // recovery leaves what was begun since

// Back to where the thread's region of recovery began (base/recover.h); without one the process
// ends as below.
_Noreturn void os_out_of_memory(void);
// Says so on standard error and ends the process with status 70. For memory exhausted, and for
// defects of our own (assertions).
_Noreturn void os_die_out_of_memory(void);
_Noreturn void os_defect(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// An internal invariant: always checked, also in release. Its failure is a defect of ours.
#define CHECK(condition, ...) ((condition) ? (void)0 : os_defect(__FILE__, __LINE__, __VA_ARGS__))
// A case that cannot be reached.
#define UNREACHABLE(...) os_defect(__FILE__, __LINE__, __VA_ARGS__)

#endif
