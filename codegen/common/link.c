#include "codegen/common/link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ar.h"
#include "base/os/os.h"
#include "base/os/os_memory.h"
#include "codegen/llvm_shim.h"

static bool names(const char *messages, int error) { return strstr(messages, strerror(error)); }

// Reports lld's messages, without the last newline.
static void report_failed(char *messages, TargetLog *log) {
    size_t size = strlen(messages);
    if (size && messages[size - 1] == '\n') messages[size - 1] = 0;
    if (names(messages, EMFILE) || names(messages, ENFILE))
        target_refused(log, DIAG_UNAVAILABLE, "the linker takes file descriptors", messages);
    else
        target_failed(log, "lld", messages);
}

static bool link_files(uint32_t count, const char *const *args, const char *input,
                       const char *output, TargetLog *log) {
    const char *all[LINK_ARGS_MAX + 6] = {"--threads=1", "--build-id=none", "-o",
                                          output,        "--whole-archive", input};
    char *messages = NULL;
    CHECK(count <= LINK_ARGS_MAX, "%u arguments for lld", count);
    for (uint32_t i = 0; i < count; i++) all[6 + i] = args[i];
    bool fine = codegen_lld(6 + count, all, &messages) != 0;
    if (fine) return true;
    bool memory = !messages || names(messages, ENOMEM);
    if (!memory) report_failed(messages, log);
    free(messages);
    if (memory) os_out_of_memory();
    return false;
}

static void refused_by_system(TargetLog *log, DiagCode code, const char *what,
                              const OsError *error) {
    if (error->number == ENOMEM) os_out_of_memory();
    target_refused(log, code, what, error->text);
}

// Packs several objects into one file: there may be more of them than a process may have open
// files.
static bool pack(Arena *arena, uint32_t count, const Str *objects, Str *input, TargetLog *log) {
    if (count == 1) {
        *input = objects[0];
        return true;
    }
    ArMember *members = arena_new(arena, ArMember, count);
    for (uint32_t i = 0; i < count; i++)
        members[i] = (ArMember){.name = str(arena_printf(arena, "%u.o", i)), .bytes = objects[i]};
    if (ar_write(arena, members, count, input)) return true;
    target_refused(log, DIAG_TOO_LARGE, "lld", "the objects have 4 GiB or more");
    return false;
}

bool link_in_memory(Arena *arena, uint32_t count, const char *const *args, uint32_t object_count,
                    const Str *objects, Str *output, TargetLog *log) {
    OsError error = {0};
    OsMemoryFile input;
    Str bytes;
    if (!pack(arena, object_count, objects, &bytes, log)) return false;
    if (!os_memory_file_open(bytes, &input, &error)) {
        refused_by_system(log, DIAG_IO, "the kernel's code needs a file in memory", &error);
        diag_help(log->diags, "device interp needs no file");
        return false;
    }
    OsCollector *collector = os_collector_open(&error);
    bool fine = collector != NULL;
    if (!fine) refused_by_system(log, DIAG_UNAVAILABLE, "a pipe takes the kernel's code", &error);
    if (fine) {
        fine = link_files(count, args, input.path, os_collector_path(collector), log);
        if (!os_collector_close(collector, arena, output) && fine) {
            target_failed(log, "a pipe", "the linked file did not arrive");
            fine = false;
        }
    }
    os_memory_file_close(&input);
    return fine;
}
