#include "scripts/gen/page.h"

#include <stdio.h>
#include <string.h>

#include "base/os/os.h"

static int check(Arena *arena, const char *tool, const char *path, Str wanted) {
    Str found;
    OsError error;
    if (!os_read_file(arena, path, 1 << 24, &found, &error)) {
        fprintf(stderr, "%s: %s\n", path, error.text);
        return 1;
    }
    if (str_equal(found, wanted)) return 0;
    fprintf(stderr, "%s is not what its table says; run %s %s\n", path, tool, path);
    return 1;
}

static int write(Arena *arena, const char *path, Str page) {
    OsError error;
    if (os_write_file(arena, path, page, &error)) return 0;
    fprintf(stderr, "%s: %s\n", path, error.text);
    return 1;
}

int page_main(int argc, char **argv, void (*add)(StrBuf *out)) {
    bool checking = argc == 3 && strcmp(argv[1], "--check") == 0;
    if (argc != 2 && !checking) {
        fprintf(stderr, "usage: %s [--check] FILE\n", argv[0]);
        return 2;
    }
    Arena *arena = arena_create();
    StrBuf out = strbuf(arena);
    add(&out);
    int status = checking ? check(arena, argv[0], argv[2], strbuf_str(&out))
                          : write(arena, argv[1], strbuf_str(&out));
    arena_destroy(arena);
    return status;
}
