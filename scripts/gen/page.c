#include "scripts/gen/page.h"

#include <stdio.h>
#include <string.h>

#include "base/os/os.h"

static int check(const char *tool, const char *path, Str found, Str wanted) {
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

// Cuts the lines of `page` up to and including the next one that begins with `mark`; false if there
// is none.
static bool cut_through(Str *page, const char *mark, Str *lines) {
    const char *begin = page->text;
    while (page->size > 0) {
        Str line = str_cut(*page, '\n', page);
        if (!str_starts(line, str(mark))) continue;
        *lines = (Str){begin, (size_t)(line.text - begin) + line.size};
        return true;
    }
    return false;
}

// Appends `page` up to the end mark of the part, with the part written again.
static bool add_part(Arena *arena, const PagePart *part, Str *page, StrBuf *out) {
    Str kept, old;
    if (!cut_through(page, arena_printf(arena, "<!-- begin %s: ", part->name), &kept)) return false;
    if (!cut_through(page, arena_printf(arena, "<!-- end %s -->", part->name), &old)) return false;
    strbuf_add(out, kept);
    strbuf_add(out, STR("\n\n"));
    part->add(out);
    strbuf_printf(out, "\n<!-- end %s -->\n", part->name);
    return true;
}

static int update(Arena *arena, char **argv, bool checking, const PagePart *parts, size_t count) {
    const char *path = argv[checking ? 2 : 1];
    Str found;
    OsError error;
    if (!os_read_file(arena, path, 1 << 24, &found, &error)) {
        fprintf(stderr, "%s: %s\n", path, error.text);
        return 1;
    }
    Str rest = found;
    StrBuf out = strbuf(arena);
    for (size_t i = 0; i < count; i++) {
        if (add_part(arena, &parts[i], &rest, &out)) continue;
        fprintf(stderr, "%s: the marks of the part '%s' are missing\n", path, parts[i].name);
        return 1;
    }
    strbuf_add(&out, rest);
    return checking ? check(argv[0], path, found, strbuf_str(&out))
                    : write(arena, path, strbuf_str(&out));
}

int page_main(int argc, char **argv, const PagePart *parts, size_t count) {
    bool checking = argc == 3 && strcmp(argv[1], "--check") == 0;
    if (argc != 2 && !checking) {
        fprintf(stderr, "usage: %s [--check] FILE\n", argv[0]);
        return 2;
    }
    Arena *arena = arena_create();
    int status = update(arena, argv, checking, parts, count);
    arena_destroy(arena);
    return status;
}
