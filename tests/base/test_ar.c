// Static libraries against the tools that read them: ar, nm, the linkers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/ar.h"
#include "tests/support/tool.h"

enum { MEMBERS = 7, SYMBOLS = 2000, LONG_NAME = 200 };

typedef struct Bench {
    Tool *t;
    ArMember members[MEMBERS];
    Str names[SYMBOLS];
} Bench;

static Str compiled(Bench *b, const char *name, const char *text) {
    tool_file(b->t, "part.c", str(text));
    tool_run(b->t, 0, "cc -c part.c -o '%s' && rm part.c", name);
    return tool_read(b->t, name);
}

static Str long_name(Arena *arena) {
    StrBuf name = strbuf(arena);
    while (name.size < LONG_NAME - 2) strbuf_char(&name, (char)('a' + name.size % 26));
    strbuf_printf(&name, ".o");
    return strbuf_str(&name);
}

static int set_up(void **state) {
    static const Str left[] = {{"left", 4}, {"left_too", 8}}, right = {"right", 5};
    Tool *t = tool_open();
    Bench *b = arena_new(t->arena, Bench, 1);
    StrBuf wide = strbuf(t->arena);
    b->t = t;
    for (unsigned i = 0; i < SYMBOLS; i++) {
        b->names[i] = str(arena_printf(t->arena, "wide_%u", i));
        strbuf_printf(&wide, "int wide_%u(void) { return %u; }\n", i, i);
    }
    Str names[] = {STR("left.o"),           STR("fifteen_chars.o"), STR("sixteen_chars_.o"),
                   long_name(t->arena),     STR("empty"),           STR("odd"),
                   STR("an odd text, long")};
    b->members[0] = (ArMember){names[0], {0}, 2, left};
    b->members[1] = (ArMember){names[1], {0}, 1, &right};
    b->members[2] = (ArMember){names[2], {0}, SYMBOLS, b->names};
    b->members[3] = (ArMember){names[3], {0}, 0, NULL};
    b->members[4] = (ArMember){names[4], {0}, 0, NULL};
    b->members[5] = (ArMember){names[5], STR("seven\n!"), 0, NULL};
    b->members[6] = (ArMember){names[6], STR("`\n\0/ //\n12"), 0, NULL};
    b->members[0].bytes = compiled(b, "left.o",
                                   "int right(void);\nint left(void) {return 1;}\n"
                                   "int left_too(void) {return 2;}\n");
    b->members[1].bytes = compiled(b, "fifteen_chars.o",
                                   "int wide_1999(void);\n"
                                   "int right(void) {return wide_1999() + 1;}\n");
    b->members[2].bytes = compiled(b, "sixteen_chars_.o", wide.text);
    b->members[3].bytes = compiled(b, arena_text(t->arena, names[3].text, names[3].size),
                                   "static int inner(void) {return 1;}\n"
                                   "int (*const unnamed)(void) "
                                   "__attribute__((visibility(\"hidden\"))) = inner;\n");
    for (unsigned i = 4; i < MEMBERS; i++)
        tool_file(t, arena_text(t->arena, names[i].text, names[i].size), b->members[i].bytes);
    *state = b;
    return 0;
}

static int tear_down(void **state) {
    Bench *b = *state;
    tool_close(b->t);
    return 0;
}

static void write_library(Bench *b, uint32_t count) {
    Str library;
    assert_true(ar_write(b->t->arena, b->members, count, &library));
    assert_int_equal(library.size % 2, 0);
    tool_file(b->t, "lib.a", library);
}

static void members_are_as_given(void **state) {
    Bench *b = *state;
    write_library(b, MEMBERS);
    StrBuf names = strbuf(b->t->arena);
    for (unsigned i = 0; i < MEMBERS; i++)
        strbuf_printf(&names, "%.*s\n", STR_ARG(b->members[i].name));
    tool_file(b->t, "names", strbuf_str(&names));
    tool_run(b->t, 0, "ar t lib.a | diff names -");
    for (unsigned i = 0; i < MEMBERS; i++)
        tool_run(b->t, 0, "ar p lib.a '%.*s' | cmp - '%.*s'", STR_ARG(b->members[i].name),
                 STR_ARG(b->members[i].name));
    tool_prints(b->t, "rw-r--r-- 0/0      7 Jan  1 00:00 1970 odd\n", "TZ=UTC ar tv lib.a");
}

// The index is the one that ar makes of the same files by reading their symbols.
static void the_index_is_that_of_ar(void **state) {
    Bench *b = *state;
    write_library(b, 3);
    tool_run(b->t, 0, "ar rcsD other.a left.o fifteen_chars.o sixteen_chars_.o");
    tool_run(b->t, 0,
             "nm -s other.a | sed -n '/^Archive index/,/^$/p' >expected && "
             "nm -s lib.a | sed -n '/^Archive index/,/^$/p' >found && diff expected found");
    tool_prints(b->t, "2003\n", "grep -c ' in ' found");
}

// Every linker that is there; what one member needs of another is found by the index alone.
static void linkers_take_it(void **state) {
    Bench *b = *state;
    Tool *t = b->t;
    write_library(b, MEMBERS);
    tool_file(t, "p.c",
              STR("int left(void), left_too(void), right(void);\n"
                  "int main(void) {return left() + left_too() + right() != 2003;}\n"));
    static const char *const linkers[] = {"", "-fuse-ld=bfd", "-fuse-ld=lld", "-fuse-ld=gold"};
    for (unsigned i = 0; i < 4; i++) {
        tool_run(t, 0, "ld='%s'; [ -z \"$ld\" ] || command -v ld.${ld#-fuse-ld=} || echo none",
                 linkers[i]);
        if (tool_output_has(t, "none"))
            print_message("skipped in part: no linker for '%s'\n", linkers[i]);
        else
            tool_prints(t, "", "cc %s p.c lib.a -o p && ./p", linkers[i]);
    }
}

static void nothing_is_a_library(void **state) {
    Bench *b = *state;
    write_library(b, 0);
    tool_file(b->t, "p.c", STR("int main(void) {return 0;}\n"));
    tool_run(b->t, 0, "cc p.c lib.a -o p && ./p && ar t lib.a");
    assert_int_equal(b->t->last.output.size, 0);
}

static void equal_members_give_equal_bytes(void **state) {
    Bench *b = *state;
    Str x, y;
    assert_true(ar_write(b->t->arena, b->members, MEMBERS, &x));
    assert_true(ar_write(b->t->arena, b->members, MEMBERS, &y));
    assert_true(str_equal(x, y));
}

static void what_has_no_place_is_refused(void **state) {
    Bench *b = *state;
    Str library;
    b->members[4].bytes.size = (size_t)1 << 32;  // it is not read
    assert_false(ar_write(b->t->arena, b->members, MEMBERS, &library));
    // Together they are too large.
    b->members[4].bytes.size = b->members[5].bytes.size = (size_t)1 << 31;
    assert_false(ar_write(b->t->arena, b->members, MEMBERS, &library));
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(members_are_as_given),
        TEST(the_index_is_that_of_ar),
        TEST(linkers_take_it),
        TEST(nothing_is_a_library),
        TEST(equal_members_give_equal_bytes),
        TEST(what_has_no_place_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
