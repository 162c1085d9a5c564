// Os: everything POSIX in one place, with os_thread.h (threads, forks) and os_dl.h (shared
// libraries).
//
// Invariants: only base/os*.c includes POSIX headers; failures come back as OsError with a text for
// people; files are written whole or not at all (a temporary file in the target's folder, then
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
// The system's text for `number`, in English and in the project's style. Always returns false, so
// that a caller can `return` it.
bool os_error_number(OsError *error, int number);

// A file that is not a plain one (a pipe, a device) is read up to OS_STREAM_MAX bytes, whatever the
// limit.
enum { OS_STREAM_MAX = 1 << 30 };
bool os_read_file(Arena *arena, const char *path, uint64_t limit, Str *contents, OsError *error);
// A file written under a temporary name, which os_file_commit renames to `path`. A path that is a
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
// Makes the folder if it does not exist; its parent must exist.
bool os_make_folder(const char *path, OsError *error);
// Could a file be written there? Used before the work whose result goes there; writes nothing.
bool os_path_writable(Arena *arena, const char *path, OsError *error);
// A lock on the folder that holds `path`: only one process at a time has it. It is for a file that
// is read and then replaced. False when the lock is not free within `seconds`, or the folder cannot
// be locked; then nothing is held. The lock is the system's (flock).
typedef struct OsLock {
    bool held;
    OwnedFile folder;
} OsLock;
bool os_lock_folder_of(Arena *arena, const char *path, double seconds, OsLock *lock);
void os_unlock_folder(OsLock *lock);
// Reads standard input until its end.
bool os_read_stdin(Arena *arena, uint64_t limit, Str *contents, OsError *error);
bool os_path_exists(const char *path);
// Is it a pipe or a terminal? Reading one may wait for the process or the user at the other end.
bool os_path_may_block(const char *path);
// Resolves `path` against the folder of `base`; absolute paths stay as they are.
Str os_path_resolve(Arena *arena, Str base, Str path);
// The canonical path, or the path itself when there is none.
Str os_path_real(Arena *arena, Str path);
// Do both paths lead to one file, or would they if the file existed?
bool os_path_same(Arena *arena, Str a, Str b);
// Makes a path absolute, relative to the current folder of the process. False: that folder has no
// name.
bool os_path_absolute(Arena *arena, Str path, Str *absolute, OsError *error);

uint64_t os_time_ns(void);  // monotonic
bool os_is_terminal(FILE *stream);
// NULL when the variable is unset, and always in a program that runs with more rights than the user
// who started it (set-user-ID, set-group-ID, capabilities): variables name code that we load.
const char *os_env(const char *name);
unsigned os_cpu_count(void);
// The processor's name as the system gives it, and its highest clock in kHz: "" and 0 when unknown.
void os_cpu_name(char *name, size_t size);
uint32_t os_cpu_khz(void);
uint64_t os_memory_size(void);  // bytes of the machine's memory
// Asks the system for the right to use tile registers (AMX). The system saves them only for
// processes that asked. The right covers all threads, later ones included, and forked children.
// False: the system does not know tile registers, forbids them, or some thread's signal stack is
// too small for the larger state. Once this has returned true, no such small stack can be set up.
// Asking again is harmless.
bool os_tile_registers_ask(void);

// Zeroed memory in big pages where the system has them. It is for blocks of many megabytes, whose
// first use would otherwise cost a page fault every 4 KiB. NULL when out of memory.
void *os_pages_map(size_t size);
void os_pages_unmap(void *pages, size_t size);
// Is all of it mapped, so that an access does not end the process? True where the system cannot
// say.
bool os_memory_is_there(const void *memory, size_t size);

// strtod of the C locale, whatever the process has set.
double os_text_to_double(const char *text, char **end);

// Registers a descriptor that is closed if its region of recovery fails.
void os_own_descriptor(OwnedFile *file, int number);
void os_close_descriptor(OwnedFile *file);

// A thread-local pointer. When a thread ends, `ended` is called with its pointer (if that is not
// NULL).
typedef struct OsThreadKey OsThreadKey;
OsThreadKey *os_thread_key_create(void (*ended)(void *value));  // NULL when the system has no more
void os_thread_key_destroy(OsThreadKey *key);                   // calls no `ended`
void *os_thread_key_get(const OsThreadKey *key);
bool os_thread_key_set(OsThreadKey *key, void *value);

// An entry of the calling thread's list of current work. When a defect is reported, `on_defect` of
// each entry is called, the innermost first, so that its input can be saved. The entries are on the
// stack: end each one before its frame returns.
typedef struct OsWork {
    // Called on the thread that failed; may itself fail, once.
    void (*on_defect)(struct OsWork *work);
    struct OsWork *outer;
} OsWork;
void os_work_begin(OsWork *work);
void os_work_end(OsWork *work);
OsWork *os_work_current(void);
void os_work_restore(OsWork *work);  // for recovery: drops the work begun since then

// Returns to the start of the thread's region of recovery (base/recover.h); without a region, ends
// the process as below.
_Noreturn void os_out_of_memory(void);
// Reports it on standard error and ends the process with status 70: for exhausted memory, and for
// internal defects (assertions).
_Noreturn void os_die_out_of_memory(void);
_Noreturn void os_defect(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// An internal invariant: always checked, also in release. A failure is an internal defect.
#define CHECK(condition, ...) ((condition) ? (void)0 : os_defect(__FILE__, __LINE__, __VA_ARGS__))
// A case that cannot be reached.
#define UNREACHABLE(...) os_defect(__FILE__, __LINE__, __VA_ARGS__)

#endif
