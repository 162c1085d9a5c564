// Served: the built command without its start. Under the address sanitizer half of the time of a
// short `tilec` passes before main: tables of globals, LLVM's addresses. A server does this once,
// and forks for each command.
//
// command.c is a small program called `tilec`. It sends its words, variables, limits and open files
// to the server and ends as the command ends. server.c is the command itself, with that loop around
// its main.
//
// Invariants: the command has the caller's standard streams, folder, variables, limits, ignored
// signals, mask of new files and process group; when the caller dies, so does the command. Options
// of the sanitizers are the server's, but for detect_leaks. A server ends with the program that
// started it. A caller that has other file systems (unshare) starts the command itself.
//
// Protocol: the variable SERVED_AT is `N:I`: the socket's descriptor, and the number of the
// server's SERVED_MOUNTS. The socket takes one byte with SERVED_FILES descriptors. The last one is
// a stream: a ServedHead and texts that each end in '\0' go to the server, a status as waitpid
// gives it comes back.
#ifndef TILEC_TESTS_SERVED_SERVED_H
#define TILEC_TESTS_SERVED_SERVED_H

#include <stdint.h>
#include <sys/resource.h>

#define SERVED_AT "TILEC_TEST_SERVER"
#define SERVED_MOUNTS "/proc/self/ns/mnt"

enum { SERVED_SIGNALS = 31 };  // 1 to 31
enum {
    SERVED_STREAMS = 3,
    SERVED_FOLDER = 3,
    SERVED_LINK = 4,
    SERVED_FILES = 5,
    SERVED_LIMITS = 16
};

typedef struct ServedHead {
    uint32_t words, variables;  // how many texts
    uint32_t bytes;             // of all texts
    uint32_t mask;              // of new files
    int32_t group;              // of processes
    uint32_t ignored;           // bit s: signal s
    struct rlimit limits[SERVED_LIMITS];
} ServedHead;

#endif
