#include "codegen/common/link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/os_memory.h"
#include "codegen/llvm_shim.h"

// What lld says; the last line has an end.
static void say_failed(char *messages, TargetLog *log) {
    size_t size = strlen(messages);
    if (size && messages[size - 1] == '\n') messages[size - 1] = 0;
    bool descriptors = strstr(messages, strerror(EMFILE)) || strstr(messages, strerror(ENFILE));
    if (descriptors)
        target_refused(log, DIAG_UNAVAILABLE, "the linker takes file descriptors", messages);
    else
        target_failed(log, "lld", messages);
}

static bool link_files(uint32_t count, const char *const *args, const char *input,
                       const char *output, TargetLog *log) {
    const char *all[LINK_ARGS_MAX + 5] = {"--threads=1", "--build-id=none", "-o", output, input};
    char *messages = NULL;
    CHECK(count <= LINK_ARGS_MAX, "%u arguments for lld", count);
    for (uint32_t i = 0; i < count; i++) all[5 + i] = args[i];
    bool fine = codegen_lld(5 + count, all, &messages) != 0;
    if (!fine && !messages) os_out_of_memory();
    if (!fine) say_failed(messages, log);
    free(messages);
    return fine;
}

bool link_in_memory(Arena *arena, uint32_t count, const char *const *args, Str object, Str *output,
                    TargetLog *log) {
    OsError error = {0};
    OsMemoryFile input;
    if (!os_memory_file_open(object, &input, &error)) {
        target_refused(log, DIAG_IO, "the kernel's code needs a file in memory", error.text);
        diag_help(log->diags, "device interp needs no file");
        return false;
    }
    OsCollector *collector = os_collector_open(&error);
    bool fine = collector != NULL;
    if (!fine) target_refused(log, DIAG_UNAVAILABLE, "a pipe takes the kernel's code", error.text);
    if (fine) {
        fine = link_files(count, args, input.path, os_collector_path(collector), log);
        if (!os_collector_close(collector, arena, output) && fine) {
            target_failed(log, "a pipe", "what was linked did not come through");
            fine = false;
        }
    }
    os_memory_file_close(&input);
    return fine;
}
