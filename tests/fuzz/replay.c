// Runs a fuzz target on files instead of on random inputs: replay_ir FOLDER|FILE…
//
// The test command runs each target so on its corpus, which needs neither clang nor time;
// scripts/fuzz.sh runs the targets with libFuzzer. An input that fails ends the process, after its
// name has been printed.
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os/os.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_LIMIT = 64 << 20 };

static bool replay_file(const char *path) {
    Arena *arena = arena_create();
    Str text;
    OsError error;
    bool read = os_read_file(arena, path, INPUT_LIMIT, &text, &error);
    if (read) {
        // In a block of its own length, so that the sanitizer sees a read past its end.
        uint8_t *copy = malloc(text.size ? text.size : 1);
        if (copy && text.size) memcpy(copy, text.text, text.size);
        printf("%s\n", path);
        fflush(stdout);
        if (copy) LLVMFuzzerTestOneInput(copy, text.size);
        free(copy);
    } else {
        fprintf(stderr, "%s: %s\n", path, error.text);
    }
    arena_destroy(arena);
    return read;
}

// How many inputs ran; 0 when one could not be read.
static size_t replay_folder(const char *path) {
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    size_t ran = 0;
    bool fine = count >= 0;
    for (int i = 0; i < count; i++) {
        char file[4096];
        snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
        struct stat info;
        if (stat(file, &info) == 0 && S_ISREG(info.st_mode))
            fine = replay_file(file) && fine, ran++;
        free(entries[i]);
    }
    if (count >= 0) free(entries);
    return fine ? ran : 0;
}

int main(int argc, char **argv) {
    size_t all = 0;
    for (int i = 1; i < argc; i++) {
        struct stat info;
        bool is_folder = stat(argv[i], &info) == 0 && S_ISDIR(info.st_mode);
        size_t ran = is_folder ? replay_folder(argv[i]) : replay_file(argv[i]);
        if (!ran) {
            fprintf(stderr, "%s: no inputs, or one that cannot be read\n", argv[i]);
            return 1;
        }
        all += ran;
    }
    printf("fuzz: %zu inputs replayed\n", all);
    return all ? 0 : 1;
}
