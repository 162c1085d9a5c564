// Built libraries: their functions take what C compilers pass, in every kind of program. Shared
// ones export and need exactly what they were given.
//
// Programs of tests/codegen/library call the functions; for AArch64 they run under qemu.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "tests/codegen/library/check.h"
#include "tests/support/codegen_plugin.h"
#include "tests/support/dice.h"
#include "tests/support/tool.h"

#define RUNTIME "libtilec_rt.so.0"

// ---- the library --------------------------------------------------------------------------------

static const char *const signatures[] = {
    "", "v", "p", "b", "B", "o", "h", "H", "i", "I", "l", "L", "f", "d",
    // the last of the registers, and beyond
    "lllll", "llllll", "lllllllll", "ffffffff", "fffffffff", "ddddddddddd", "bbbbbbbbbbbb",
    "ooooooooooo", "hhhhhhhhhhhh", "HBHBHBHBHBHB", "iiiiiiiiiii", "pppppppppp", "fdfdfdfdfdfdfdfd",
    // views among others
    "vv", "vvvvvvvvvvv", "vlvfvd", "lvlvlvlvlvlvlvlv", "bvbvbvbvbvbvbvb", "dvdvdvdvdvdvdvdvdvdvd",
    "vpbBohHiIlLfd", "dfLlIiHhoBbpv", "llllllbvbvbvb", "ffffffffvfvbf",
    // 64 of them
    "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv",
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
    "vpbBohHiIlLfdvpbBohHiIlLfdvpbBohHiIlLfdvpbBohHiIlLfdvpbBohHiIlLf"};
enum { FIXED = sizeof signatures / sizeof *signatures, RANDOM = 24, VALUES = 64 };

static const struct {
    char letter;
    const char *type, *name;
    ArchiveValue kind;
} kinds[] = {
#define NUMBER(letter, type, name, kind) {letter, #type, #name, kind},
    CHECK_NUMBERS(NUMBER)
#undef NUMBER
        {'p', "void *", "pointer", ARCHIVE_POINTER},
    {'v', "tilec_view", "view", ARCHIVE_VIEW}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static unsigned kind_of(char letter) {
    for (unsigned i = 0; i < KINDS; i++)
        if (kinds[i].letter == letter) return i;
    fail_msg("no kind '%c'", letter);
    return 0;
}

typedef struct Bench {
    Tool *t;
    Diags *diags;
    CodegenLibrary library;
    const char *letters[FIXED + RANDOM];
    CodegenStub stubs[FIXED + RANDOM];
    Str entries[CHECK_ENTRIES];
    char bytes[CHECK_BYTES];
} Bench;

static const char *random_letters(Arena *arena, Dice *dice) {
    char text[VALUES + 1] = {0};
    unsigned count = (unsigned)dice_below(dice, VALUES) + 1;
    for (unsigned i = 0; i < count; i++) text[i] = kinds[dice_below(dice, KINDS)].letter;
    return arena_text(arena, text, count);
}

static void add_stub(Bench *b, const char *letters) {
    Arena *arena = b->t->arena;
    uint32_t number = b->library.stub_count++, count = (uint32_t)strlen(letters);
    ArchiveValue *values = arena_new(arena, ArchiveValue, count + 1);
    for (uint32_t i = 0; i < count; i++) values[i] = kinds[kind_of(letters[i])].kind;
    b->letters[number] = letters;
    b->stubs[number] = (CodegenStub){str(arena_printf(arena, "f%u", number)), count, values};
}

static int set_up(void **state) {
    Tool *t = tool_open();
    Bench *b = arena_new(t->arena, Bench, 1);
    b->t = t;
    b->diags = diags_create(t->arena, sources_create(t->arena));
    for (unsigned i = 0; i < CHECK_BYTES; i++) b->bytes[i] = (char)check_byte(i);
    b->entries[0] = STR("entry_0"), b->entries[1] = STR("entry_1"), b->entries[2] = STR("entry_0");
    b->library = (CodegenLibrary){.host = cpu_native(),
                                  .archive_symbol = STR("kernels_archive"),
                                  .bytes = {b->bytes, CHECK_BYTES},
                                  .entry_count = CHECK_ENTRIES,
                                  .entries = b->entries,
                                  .stubs = b->stubs};
    for (unsigned i = 0; i < FIXED; i++) add_stub(b, signatures[i]);
    Dice dice = dice_roll(20);
    for (unsigned i = 0; i < RANDOM; i++) add_stub(b, random_letters(t->arena, &dice));
    *state = b;
    return 0;
}

static int tear_down(void **state) {
    Bench *b = *state;
    tool_close(b->t);
    return 0;
}

static bool said(const Bench *b, const char *text) {
    StrBuf all = strbuf(b->t->arena);
    diags_text(b->diags, (DiagStyle){0}, &all);
    if (strstr(all.text, text)) return true;
    print_error("expected '%s' in\n%s\n", text, all.text);
    return false;
}

static Str object_of(Bench *b) {
    Str object = {0};
    bool fine = codegen_plugin()->library(b->t->arena, &b->library, &object, b->diags);
    if (!fine) said(b, "nothing");
    assert_true(fine);
    assert_int_equal(diags_count(b->diags), 0);
    return object;
}

static const char *calls_of(Bench *b) {
    StrBuf c = strbuf(b->t->arena);
    strbuf_printf(&c, "#include \"tests/codegen/library/check.h\"\n");
    for (unsigned f = 0; f < b->library.stub_count; f++) {
        strbuf_printf(&c, "tilec_status f%u(tilec_stream *stream", f);
        for (const char *l = b->letters[f]; *l; l++)
            strbuf_printf(&c, ", %s", kinds[kind_of(*l)].type);
        strbuf_printf(&c, ");\n");
    }
    strbuf_printf(&c, "const unsigned check_count = %u;\n", b->library.stub_count);
    strbuf_printf(&c, "const char *const check_signatures[] = {\n");
    for (unsigned f = 0; f < b->library.stub_count; f++)
        strbuf_printf(&c, "\"%s\",\n", b->letters[f]);
    strbuf_printf(&c, "};\ntilec_status check_call(unsigned f, tilec_stream *s) {\nswitch (f) {\n");
    for (unsigned f = 0; f < b->library.stub_count; f++) {
        strbuf_printf(&c, "case %u: return f%u(s", f, f);
        for (unsigned a = 0; b->letters[f][a]; a++)
            strbuf_printf(&c, ", check_%s(%u, %u)", kinds[kind_of(b->letters[f][a])].name, f, a);
        strbuf_printf(&c, ");\n");
    }
    strbuf_printf(&c, "}\nreturn TILEC_INTERNAL;\n}\n");
    return c.text;
}

#define PARTS "$S/tests/codegen/library"
#define OPTIONS "-std=gnu17 -I$S -I$S/include"
static const CpuTarget arm = {CPU_AARCH64, 0};
#define CLANG_ARM "--target=aarch64-unknown-linux-gnu -ffreestanding -nostdlib"

static bool runs(Bench *b, const char *command) {
    tool_run(b->t, 0, "if %s >log 2>&1; then echo yes; fi", command);
    return tool_output_has(b->t, "yes");
}

// The name of a clang that makes programs for AArch64, and qemu; NULL after printing what is
// missing.
static const char *clang_arm(Bench *b) {
    static const char *const names[] = {"clang-22", "clang"};
    tool_file(b->t, "empty.c", STR("void _start(void);\nvoid _start(void) {}\n"));
    for (unsigned i = 0; i < 2; i++) {
        const char *command = arena_printf(
            b->t->arena, "%s " CLANG_ARM " -static -fuse-ld=lld empty.c -o empty", names[i]);
        if (!runs(b, command)) continue;
        if (runs(b, "qemu-aarch64 --version")) return names[i];
        print_message("skipped: qemu-aarch64 is missing: apt-get install qemu-user\n");
        return NULL;
    }
    print_message(
        "skipped: no clang makes programs for AArch64: apt-get install clang-22 lld-22\n");
    return NULL;
}

// ---- what C compilers pass ----------------------------------------------------------------------

static void write_sources(Bench *b) {
    tool_file(b->t, "library.o", object_of(b));
    tool_file(b->t, "calls.c", str(calls_of(b)));
}

static void build_program(Bench *b, const char *compiler, const char *objects) {
    tool_run(b->t, 0,
             "%s " OPTIONS " -o p " PARTS "/check.c calls.c %s -Wl,--fatal-warnings -Wl,-z,text",
             compiler, objects);
}

static void run_program(Bench *b, const char *command) {
    const char *line = arena_printf(b->t->arena, "%u calls are right\n", b->library.stub_count);
    tool_prints(b->t, line, "%s", command);
}

static void c_compilers_agree(void **state) {
    Bench *b = *state;
    if (!codegen_plugin()) skip();
    write_sources(b);
    static const char *const compilers[] = {"cc -O0", "cc -O2", "clang-22 -O0", "clang-22 -O2"};
    for (unsigned i = 0; i < 4; i++) {
        if (i > 1 && !runs(b, "clang-22 --version")) {
            print_message("skipped in part: clang-22 is missing\n");
            break;
        }
        build_program(b, compilers[i], PARTS "/entries.c library.o");
        run_program(b, "./p");
    }
}

static void aarch64_compilers_agree(void **state) {
    Bench *b = *state;
    if (!codegen_plugin()) skip();
    const char *clang = clang_arm(b);
    if (!clang) skip();
    b->library.host = arm;
    write_sources(b);
    for (unsigned i = 0; i < 3; i++) {
        build_program(
            b, arena_printf(b->t->arena, "%s -O%u " CLANG_ARM " -static -fuse-ld=lld", clang, i),
            PARTS "/entries.c library.o");
        tool_run(b->t, 0, "qemu-aarch64 ./p");
    }
}

// ---- programs -----------------------------------------------------------------------------------

static void every_kind_of_program(void **state) {
    Bench *b = *state;
    if (!codegen_plugin()) skip();
    write_sources(b);
    tool_file(b->t, "empty.c", STR("int main(void) { return 0; }\n"));
    static const char *const linkers[] = {"", "-fuse-ld=lld"};
    static const char *const modes[] = {"-fPIE -pie", "-fno-pie -no-pie", "-fno-pie -static",
                                        "-fPIE -static-pie", "-fPIC -pie -Wl,--gc-sections"};
    for (unsigned i = 0; i < 10; i++) {
        const char *cc = arena_printf(b->t->arena, "cc -O1 %s %s", linkers[i / 5], modes[i % 5]);
        const char *probe = arena_printf(b->t->arena, "%s empty.c -o empty", cc);
        if (i && !runs(b, probe))
            print_message("skipped in part: there is no '%s' here\n", cc);
        else
            build_program(b, cc, PARTS "/entries.c library.o"), run_program(b, "./p");
    }
}

// The object as tools see it: no executable stack, and no symbols but the necessary ones.
static void check_symbols(Bench *b) {
    tool_file(b->t, "library.o", object_of(b));
    tool_run(b->t, 0, "readelf -SW library.o");
    assert_true(tool_output_has(b->t, ".note.GNU-stack"));
    assert_true(tool_output_has(b->t, ".rodata.tilec"));
    assert_true(tool_output_has(b->t, ".data.rel.ro"));
    assert_true(tool_output_has(b->t, ".eh_frame"));
    tool_run(b->t, 0, "readelf -SW library.o | grep GNU-stack | grep -c X || true");
    assert_true(str_equal(str_trim(b->t->last.output), STR("0")));
    tool_prints(
        b->t, "entry_0 entry_1 tilec_archive_call ",
        "readelf -sW library.o | awk '$7 == \"UND\" && $8 {print $8}' | sort | tr '\\n' ' '");
    tool_prints(
        b->t, arena_printf(b->t->arena, "%u DEFAULT", b->library.stub_count + 1),
        "readelf -sW library.o | awk '$5 == \"GLOBAL\" && $7 != \"UND\" {print $6}' | sort |"
        "uniq -c");
    tool_prints(b->t, "2 HIDDEN",
                "readelf -sW library.o | awk '$8 ~ /^entry_/ {print $6}' | sort | uniq -c");
}

static void objects_are_what_they_say(void **state) {
    Bench *b = *state;
    if (!codegen_plugin()) skip();
    check_symbols(b);
    Str first = object_of(b), again = object_of(b);
    assert_true(str_equal(first, again));
    b->library.host = arm;
    check_symbols(b);
    assert_false(str_equal(first, object_of(b)));
}

// A library without code for CPUs, and one without anything.
static void libraries_may_be_empty(void **state) {
    Bench *b = *state;
    if (!codegen_plugin()) skip();
    b->library.entry_count = 0;
    b->library.stub_count = 0;
    b->library.bytes = (Str){0};
    tool_file(b->t, "library.o", object_of(b));
    tool_file(b->t, "p.c",
              STR("#include \"base/archive_abi.h\"\n"
                  "extern const struct tilec_archive kernels_archive;\n"
                  "int main(void) {\n"
                  "    const struct tilec_archive *a = &kernels_archive;\n"
                  "    return a->magic != ARCHIVE_MAGIC || a->entry_count ||\n"
                  "        a->byte_count || a->entries; }\n"));
    tool_run(b->t, 0, "cc -I$S p.c library.o -o p && ./p");
    Str object = object_of(b), shared;
    CodegenSharedLibrary library = {.host = b->library.host,
                                    .soname = STR("libnone.so"),
                                    .runtime = STR(RUNTIME),
                                    .object_count = 1,
                                    .objects = &object};
    assert_true(codegen_plugin()->link_shared(b->t->arena, &library, &shared, b->diags));
    tool_file(b->t, "libnone.so", shared);
    tool_prints(b->t, "[" RUNTIME "]", "readelf -dW libnone.so | grep NEEDED");
}

static void refused(Bench *b, const char *text) {
    Str object;
    size_t before = diags_errors(b->diags);
    assert_false(codegen_plugin()->library(b->t->arena, &b->library, &object, b->diags));
    assert_int_equal(diags_errors(b->diags), before + 1);
    assert_true(said(b, text));
}

static void two_symbols_of_one_name_are_refused(void **state) {
    Bench *b = *state;
    if (!codegen_plugin()) skip();
    Str usual = b->stubs[1].symbol;
    b->stubs[1].symbol = b->stubs[2].symbol;
    refused(b, "two symbols 'f2'");
    b->stubs[1].symbol = STR("kernels_archive");
    refused(b, "two symbols 'kernels_archive'");
    b->stubs[1].symbol = STR("entry_1");
    refused(b, "two symbols 'entry_1'");
    b->stubs[1].symbol = usual;
    b->entries[1] = STR(ARCHIVE_CALL_SYMBOL);
    refused(b, "two symbols 'tilec_archive_call'");
}

static void too_many_bytes_are_refused(void **state) {
    Bench *b = *state;
    if (!codegen_plugin()) skip();
    b->library.bytes.size = (size_t)1 << 30;
    refused(b, "has 1073741824 bytes");
}

// ---- shared libraries ---------------------------------------------------------------------------

// The objects of a library; of entries.c what `compiler` makes.
static CodegenSharedLibrary shared_of(Bench *b, const char *compiler, Str objects[3]) {
    Arena *arena = b->t->arena;
    tool_run(b->t, 0, "%s -O1 -fPIC " OPTIONS " -c " PARTS "/entries.c -o entries.o", compiler);
    objects[0] = object_of(b);
    objects[1] = tool_read(b->t, "entries.o");
    Str *exports = arena_new(arena, Str, b->library.stub_count + 1);
    for (uint32_t i = 0; i < b->library.stub_count; i++) exports[i] = b->stubs[i].symbol;
    exports[b->library.stub_count] = b->library.archive_symbol;
    return (CodegenSharedLibrary){.host = b->library.host,
                                  .soname = STR("libkernels.so.1"),
                                  .runtime = STR(RUNTIME),
                                  .object_count = 2,
                                  .objects = objects,
                                  .export_count = b->library.stub_count + 1,
                                  .exports = exports};
}

static Str linked(Bench *b, const CodegenSharedLibrary *library) {
    Str shared = {0};
    bool fine = codegen_plugin()->link_shared(b->t->arena, library, &shared, b->diags);
    if (!fine) said(b, "nothing");
    assert_true(fine);
    assert_int_equal(diags_count(b->diags), 0);
    return shared;
}

// The entries for the loader: what the library exports and needs.
static void check_dynamic(Bench *b, const CodegenSharedLibrary *library) {
    Tool *t = b->t;
    Str shared = linked(b, library);
    assert_true(str_equal(shared, linked(b, library)));
    tool_file(t, "libkernels.so", shared);
    tool_prints(t, "[" RUNTIME "]", "readelf -dW libkernels.so | grep NEEDED");
    tool_prints(t, "1\n", "readelf -dW libkernels.so | grep -c NEEDED");
    tool_prints(t, "[libkernels.so.1]", "readelf -dW libkernels.so | grep SONAME");
    tool_prints(t, "NOW", "readelf -dW libkernels.so | grep FLAGS");
    tool_prints(t, "(GNU_HASH)", "readelf -dW libkernels.so");
    tool_prints(t, "(HASH)", "readelf -dW libkernels.so");
    tool_prints(t, "RW ", "readelf -lW libkernels.so | grep GNU_STACK");
    tool_prints(t, "GNU_RELRO", "readelf -lW libkernels.so");
    tool_prints(t, "GNU_EH_FRAME", "readelf -lW libkernels.so");
    tool_run(t, 0, "readelf -dW libkernels.so");
    assert_false(tool_output_has(t, "TEXTREL"));
    StrBuf names = strbuf(t->arena);
    for (uint32_t i = 0; i < library->export_count; i++)
        strbuf_printf(&names, "%.*s\n", STR_ARG(library->exports[i]));
    tool_file(t, "expected", strbuf_str(&names));
    tool_run(
        t, 0,
        "readelf --dyn-syms -W libkernels.so | awk '$7 != \"UND\" && $7 ~ /[0-9]/ {print $8}' |"
        " LC_ALL=C sort >found && LC_ALL=C sort expected | diff - found");
    tool_prints(t, "tilec_archive_call\n",
                "readelf --dyn-syms -W libkernels.so | awk '$7 == \"UND\" && $8 {print $8}'");
}

static void shared_libraries_show_what_is_named(void **state) {
    Bench *b = *state;
    if (!codegen_plugin()) skip();
    Str objects[3];
    CodegenSharedLibrary library = shared_of(b, "cc", objects);
    check_dynamic(b, &library);
    library.export_count = 3;
    check_dynamic(b, &library);
}

static void aarch64_has_shared_libraries(void **state) {
    Bench *b = *state;
    if (!codegen_plugin()) skip();
    const char *clang = clang_arm(b);
    if (!clang) skip();
    Str objects[3];
    b->library.host = arm;
    const char *compiler = arena_printf(b->t->arena, "%s " CLANG_ARM, clang);
    CodegenSharedLibrary library = shared_of(b, compiler, objects);
    check_dynamic(b, &library);
    tool_prints(b->t, "AArch64", "readelf -h libkernels.so");
}

// Programs that are linked to it; those that are not position independent have a copy of the
// archive.
static void programs_have_shared_libraries(void **state) {
    Bench *b = *state;
    if (!codegen_plugin()) skip();
    Str objects[3];
    CodegenSharedLibrary library = shared_of(b, "cc", objects);
    tool_file(b->t, "libkernels.so.1", linked(b, &library));
    tool_file(b->t, "calls.c", str(calls_of(b)));
    tool_file(b->t, "empty.c", STR("int in_the_runtimes_place;\n"));
    tool_run(b->t, 0, "cc -shared -fPIC empty.c -Wl,-soname," RUNTIME " -o " RUNTIME);
    static const char *const modes[] = {"-fPIC -pie", "-fPIE -pie", "-fno-pie -no-pie"};
    for (unsigned i = 0; i < 3; i++) {
        const char *cc = arena_printf(b->t->arena, "cc -O1 %s -Wl,-rpath-link,.", modes[i]);
        build_program(b, cc, "libkernels.so.1");
        run_program(b, "LD_LIBRARY_PATH=. ./p");
    }
}

// Opened by a program that knows nothing of it; the runtime comes with it.
static void shared_libraries_can_be_opened(void **state) {
    Bench *b = *state;
    Tool *t = b->t;
    if (!codegen_plugin()) skip();
    Str objects[3];
    CodegenSharedLibrary library = shared_of(b, "cc", objects);
    tool_file(t, "libkernels.so.1", linked(b, &library));
    tool_file(t, "runtime.c",
              STR("int tilec_archive_call(const void *, unsigned, void *, const void *const *);\n"
                  "int tilec_archive_call(const void *archive, unsigned function, void *stream,\n"
                  "                       const void *const *values) {\n"
                  "    *(const void **)stream = archive;\n"
                  "    return (int)function * 1000 + *(const int *)values[0];\n"
                  "}\n"));
    tool_run(t, 0, "cc -shared -fPIC runtime.c -Wl,-soname," RUNTIME " -o " RUNTIME);
    tool_file(t, "opener.c",
              STR("#include <dlfcn.h>\n#include <stdio.h>\n"
                  "int main(void) {\n"
                  "    void *l = dlopen(\"./libkernels.so.1\", RTLD_NOW | RTLD_LOCAL);\n"
                  "    if (!l) return puts(dlerror());\n"
                  "    void *got = 0, *archive = dlsym(l, \"kernels_archive\");\n"
                  "    int (*f)(void *, int) = (int (*)(void *, int))dlsym(l, \"f8\");\n"
                  "    if (!f || !archive || dlsym(l, \"entry_0\")) return 1;\n"
                  "    int number = f(&got, 123);\n"
                  "    printf(\"%d %d\\n\", number, got == archive);\n"
                  "    return dlclose(l);\n"
                  "}\n"));
    tool_prints(t, "8123 1\n", "cc opener.c -o opener -ldl && LD_LIBRARY_PATH=. ./opener");
}

static void not_linked(Bench *b, const CodegenSharedLibrary *library, const char *text) {
    Str shared;
    size_t before = diags_errors(b->diags);
    assert_false(codegen_plugin()->link_shared(b->t->arena, library, &shared, b->diags));
    assert_int_equal(diags_errors(b->diags), before + 1);
    assert_true(said(b, text));
}

static void what_does_not_link_is_reported(void **state) {
    Bench *b = *state;
    if (!codegen_plugin()) skip();
    Str objects[3];
    CodegenSharedLibrary library = shared_of(b, "cc", objects);
    b->entries[1] = STR("tilec_gone");
    Str gone = object_of(b);
    tool_file(b->t, "foreign.c",
              STR("int getpid(void);\nint tilec_more(void);\n"
                  "int foreign(void);\n"
                  "int foreign(void) { return getpid() + tilec_more(); }\n"));
    tool_run(b->t, 0, "cc -fPIC -c foreign.c");
    objects[2] = tool_read(b->t, "foreign.o");
    library.object_count = 3;
    not_linked(b, &library, "undefined symbol: getpid");
    library.object_count = 1;
    not_linked(b, &library, "entry_1");
    library.object_count = 2;
    Str more[] = {library.exports[0], STR("nowhere")};
    CodegenSharedLibrary other = library;
    other.exports = more, other.export_count = 2;
    not_linked(b, &other, "nowhere");
    objects[2] = objects[1];
    library.object_count = 3;
    not_linked(b, &library, "duplicate symbol: entry_0");
    // A symbol of another object only is missing, whatever its name.
    objects[0] = gone;
    library.object_count = 2;
    not_linked(b, &library, "tilec_gone");
    library.object_count = 3;
    // The beginning of an object, and what is none.
    objects[2] = (Str){objects[1].text, objects[1].size / 2};
    not_linked(b, &library, "object 2 of the library is none");
    objects[2] = STR("no object at all");
    not_linked(b, &library, "object 2 of the library is none");
    objects[2] = (Str){0};
    not_linked(b, &library, "object 2 of the library is none");
    library.object_count = 2;
    library.host = cpu_native().level == CPU_AARCH64 ? (CpuTarget){CPU_X86_64_V2, 0} : arm;
    not_linked(b, &library, "incompatible");
}

// More objects than a process has files.
static void many_objects_link(void **state) {
    Bench *b = *state;
    if (!codegen_plugin()) skip();
    enum { MANY = 3000 };
    Str two[3], *objects = arena_new(b->t->arena, Str, MANY + 2);
    CodegenSharedLibrary library = shared_of(b, "cc", two);
    tool_file(b->t, "one.c",
              STR("static int here = 5;\nint *there(void);\n"
                  "__attribute__((weak)) int *there(void) { return &here; }\n"));
    tool_run(b->t, 0, "cc -fPIC -c one.c");
    Str one = tool_read(b->t, "one.o");
    objects[0] = two[0];
    for (unsigned i = 0; i < MANY; i++) objects[i + 1] = one;
    objects[MANY + 1] = two[1];
    library.objects = objects;
    library.object_count = MANY + 2;
    check_dynamic(b, &library);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(c_compilers_agree),
        TEST(aarch64_compilers_agree),
        TEST(every_kind_of_program),
        TEST(objects_are_what_they_say),
        TEST(libraries_may_be_empty),
        TEST(two_symbols_of_one_name_are_refused),
        TEST(too_many_bytes_are_refused),
        TEST(shared_libraries_show_what_is_named),
        TEST(aarch64_has_shared_libraries),
        TEST(programs_have_shared_libraries),
        TEST(shared_libraries_can_be_opened),
        TEST(what_does_not_link_is_reported),
        TEST(many_objects_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
