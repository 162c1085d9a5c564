// The binary interface that programs were compiled against: sizes and offsets of public structs and
// values of public enums, compared with tests/abi/layout.txt.
//
// The rule (docs/c-api.md, "Versions"): while the soname stays, lines may be added for new types
// and constants, and a struct with a `size` member may grow at its end; no line changes or goes.
// For any other change the version of include/tilec/version.h is raised first. Then, having read
// the difference:
//
//     test_layout --bless

// cmocka.h needs the first four.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <tilec/dlpack.h>
#include <tilec/library.h>

#include <cmocka.h>

#include "base/archive_abi.h"
#include "base/os/os.h"

static const char list_path[] = "tests/abi/layout.txt";

typedef struct Member {
    const char *name;
    size_t offset, size;
} Member;
typedef struct Struct {
    const char *name;
    size_t size;
    Member members[16];
} Struct;
typedef struct Constant {
    const char *name;
    long long value;
} Constant;

#define MEMBER(type, name) \
    { #name, offsetof(type, name), sizeof(((type *)0)->name) }
#define CONSTANT(name) \
    { #name, (long long)(name) }

static const Struct structs[] = {
    {"tilec_allocator",
     sizeof(tilec_allocator),
     {MEMBER(tilec_allocator, allocate), MEMBER(tilec_allocator, release),
      MEMBER(tilec_allocator, user)}},
    {"tilec_context_options",
     sizeof(tilec_context_options),
     {MEMBER(tilec_context_options, size), MEMBER(tilec_context_options, print),
      MEMBER(tilec_context_options, user), MEMBER(tilec_context_options, log),
      MEMBER(tilec_context_options, allocator), MEMBER(tilec_context_options, cpu_threads),
      MEMBER(tilec_context_options, compile_in_child), MEMBER(tilec_context_options, cache_folder),
      MEMBER(tilec_context_options, compiler_library), MEMBER(tilec_context_options, ptx_compiler),
      MEMBER(tilec_context_options, compile_seconds), MEMBER(tilec_context_options, reserved)}},
    {"tilec_device_info",
     sizeof(tilec_device_info),
     {MEMBER(tilec_device_info, size), MEMBER(tilec_device_info, name),
      MEMBER(tilec_device_info, target), MEMBER(tilec_device_info, driver),
      MEMBER(tilec_device_info, bus), MEMBER(tilec_device_info, memory),
      MEMBER(tilec_device_info, shared_memory), MEMBER(tilec_device_info, multiprocessors),
      MEMBER(tilec_device_info, warp), MEMBER(tilec_device_info, clock_khz),
      MEMBER(tilec_device_info, reserved)}},
    {"tilec_diagnostic",
     sizeof(tilec_diagnostic),
     {MEMBER(tilec_diagnostic, severity), MEMBER(tilec_diagnostic, code),
      MEMBER(tilec_diagnostic, message), MEMBER(tilec_diagnostic, help),
      MEMBER(tilec_diagnostic, file), MEMBER(tilec_diagnostic, line),
      MEMBER(tilec_diagnostic, column), MEMBER(tilec_diagnostic, end_line),
      MEMBER(tilec_diagnostic, end_column)}},
    {"tilec_archive_info",
     sizeof(tilec_archive_info),
     {MEMBER(tilec_archive_info, name), MEMBER(tilec_archive_info, function_count),
      MEMBER(tilec_archive_info, target_count), MEMBER(tilec_archive_info, interface_number),
      MEMBER(tilec_archive_info, bytes)}},
    {"tilec_function_info",
     sizeof(tilec_function_info),
     {MEMBER(tilec_function_info, name), MEMBER(tilec_function_info, prototype)}},
    {"tilec_archive",
     sizeof(struct tilec_archive),
     {MEMBER(tilec_archive, magic), MEMBER(tilec_archive, abi), MEMBER(tilec_archive, size),
      MEMBER(tilec_archive, cpu_abi), MEMBER(tilec_archive, entry_count),
      MEMBER(tilec_archive, bytes), MEMBER(tilec_archive, byte_count),
      MEMBER(tilec_archive, entries)}},
    {"tilec_buffer", sizeof(tilec_buffer), {MEMBER(tilec_buffer, handle)}},
    {"tilec_view",
     sizeof(tilec_view),
     {MEMBER(tilec_view, dtype), MEMBER(tilec_view, rank), MEMBER(tilec_view, buffer),
      MEMBER(tilec_view, data), MEMBER(tilec_view, offset), MEMBER(tilec_view, extent),
      MEMBER(tilec_view, stride), MEMBER(tilec_view, flags)}},
    {"tilec_spec_entry",
     sizeof(tilec_spec_entry),
     {MEMBER(tilec_spec_entry, kind), MEMBER(tilec_spec_entry, name),
      MEMBER(tilec_spec_entry, dtype), MEMBER(tilec_spec_entry, value)}},
    {"tilec_spec", sizeof(tilec_spec), {MEMBER(tilec_spec, count), MEMBER(tilec_spec, entries)}},
    {"tilec_param",
     sizeof(tilec_param),
     {MEMBER(tilec_param, name), MEMBER(tilec_param, kind), MEMBER(tilec_param, dtype),
      MEMBER(tilec_param, rank), MEMBER(tilec_param, strided), MEMBER(tilec_param, read),
      MEMBER(tilec_param, written), MEMBER(tilec_param, extent_name), MEMBER(tilec_param, extent)}},
    {"tilec_arg",
     sizeof(tilec_arg),
     {MEMBER(tilec_arg, kind), MEMBER(tilec_arg, view), MEMBER(tilec_arg, pointer),
      MEMBER(tilec_arg, buffer), MEMBER(tilec_arg, offset), MEMBER(tilec_arg, integer),
      MEMBER(tilec_arg, natural), MEMBER(tilec_arg, real)}},
    {"tilec_dl_device",
     sizeof(tilec_dl_device),
     {MEMBER(tilec_dl_device, type), MEMBER(tilec_dl_device, id)}},
    {"tilec_dl_dtype",
     sizeof(tilec_dl_dtype),
     {MEMBER(tilec_dl_dtype, code), MEMBER(tilec_dl_dtype, bits), MEMBER(tilec_dl_dtype, lanes)}},
    {"tilec_dl_tensor",
     sizeof(tilec_dl_tensor),
     {MEMBER(tilec_dl_tensor, data), MEMBER(tilec_dl_tensor, device), MEMBER(tilec_dl_tensor, ndim),
      MEMBER(tilec_dl_tensor, dtype), MEMBER(tilec_dl_tensor, shape),
      MEMBER(tilec_dl_tensor, strides), MEMBER(tilec_dl_tensor, byte_offset)}},
    {"tilec_dl_managed",
     sizeof(tilec_dl_managed),
     {MEMBER(tilec_dl_managed, tensor), MEMBER(tilec_dl_managed, manager_ctx),
      MEMBER(tilec_dl_managed, deleter)}},
    {"tilec_dl_versioned",
     sizeof(tilec_dl_versioned),
     {MEMBER(tilec_dl_versioned, major), MEMBER(tilec_dl_versioned, minor),
      MEMBER(tilec_dl_versioned, manager_ctx), MEMBER(tilec_dl_versioned, deleter),
      MEMBER(tilec_dl_versioned, flags), MEMBER(tilec_dl_versioned, tensor)}},
};

static const Constant constants[] = {
    CONSTANT(TILEC_OK),
    CONSTANT(TILEC_INVALID_SOURCE),
    CONSTANT(TILEC_INVALID_ARGUMENT),
    CONSTANT(TILEC_LAUNCH_REFUSED),
    CONSTANT(TILEC_KERNEL_FAILED),
    CONSTANT(TILEC_UNAVAILABLE),
    CONSTANT(TILEC_UNSUPPORTED),
    CONSTANT(TILEC_OUT_OF_MEMORY),
    CONSTANT(TILEC_IO),
    CONSTANT(TILEC_INTERNAL),
    CONSTANT(TILEC_BOOL),
    CONSTANT(TILEC_I8),
    CONSTANT(TILEC_I16),
    CONSTANT(TILEC_I32),
    CONSTANT(TILEC_I64),
    CONSTANT(TILEC_U8),
    CONSTANT(TILEC_U16),
    CONSTANT(TILEC_U32),
    CONSTANT(TILEC_U64),
    CONSTANT(TILEC_F16),
    CONSTANT(TILEC_BF16),
    CONSTANT(TILEC_F32),
    CONSTANT(TILEC_F64),
    CONSTANT(TILEC_F8E4M3),
    CONSTANT(TILEC_F8E5M2),
    CONSTANT(TILEC_F8E4M3FNUZ),
    CONSTANT(TILEC_F8E5M2FNUZ),
    CONSTANT(TILEC_I4),
    CONSTANT(TILEC_U4),
    CONSTANT(TILEC_ERROR),
    CONSTANT(TILEC_WARNING),
    CONSTANT(TILEC_NOTE),
    CONSTANT(TILEC_MAX_RANK),
    CONSTANT(TILEC_VIEW_READ_ONLY),
    CONSTANT(TILEC_SPEC_TYPE),
    CONSTANT(TILEC_SPEC_CONST),
    CONSTANT(TILEC_SPEC_OPTION),
    CONSTANT(TILEC_SPEC_VALUE),
    CONSTANT(TILEC_PARAM_SCALAR),
    CONSTANT(TILEC_PARAM_POINTER),
    CONSTANT(TILEC_PARAM_VIEW),
    CONSTANT(TILEC_ARG_VIEW),
    CONSTANT(TILEC_ARG_POINTER),
    CONSTANT(TILEC_ARG_INT),
    CONSTANT(TILEC_ARG_UINT),
    CONSTANT(TILEC_ARG_DOUBLE),
    CONSTANT(TILEC_ARG_NONE),
    CONSTANT(TILEC_DL_CPU),
    CONSTANT(TILEC_DL_CUDA),
    CONSTANT(TILEC_DL_CUDA_HOST),
    CONSTANT(TILEC_DL_ROCM),
    CONSTANT(TILEC_DL_ROCM_HOST),
    CONSTANT(TILEC_DL_CUDA_MANAGED),
    CONSTANT(TILEC_DL_INT),
    CONSTANT(TILEC_DL_UINT),
    CONSTANT(TILEC_DL_FLOAT),
    CONSTANT(TILEC_DL_BFLOAT),
    CONSTANT(TILEC_DL_BOOL),
    CONSTANT(TILEC_DL_F8E4M3FN),
    CONSTANT(TILEC_DL_F8E4M3FNUZ),
    CONSTANT(TILEC_DL_F8E5M2),
    CONSTANT(TILEC_DL_F8E5M2FNUZ),
    CONSTANT(TILEC_DL_READ_ONLY),
    CONSTANT(TILEC_DL_IS_COPIED),
    CONSTANT(TILEC_DL_SUBBYTE_PADDED),
};
enum {
    STRUCTS = sizeof structs / sizeof *structs,
    CONSTANTS = sizeof constants / sizeof *constants,
    MEMBERS = sizeof structs->members / sizeof *structs->members,
};

static Str describe(Arena *arena) {
    StrBuf b = strbuf(arena);
    for (size_t i = 0; i < STRUCTS; i++) {
        strbuf_printf(&b, "struct %s size %zu\n", structs[i].name, structs[i].size);
        for (const Member *m = structs[i].members; m->name; m++)
            strbuf_printf(&b, "struct %s.%s at %zu size %zu\n", structs[i].name, m->name, m->offset,
                          m->size);
    }
    for (size_t i = 0; i < CONSTANTS; i++)
        strbuf_printf(&b, "constant %s %lld\n", constants[i].name, constants[i].value);
    return strbuf_str(&b);
}

static void test_list(void **state) {
    (void)state;
    if (sizeof(void *) != 8) {
        print_message("skipped: the list is of machines with pointers of 8 bytes\n");
        return;
    }
    Arena *arena = arena_create();
    OsError error;
    Str wanted;
    if (!os_read_file(arena, list_path, 1 << 20, &wanted, &error))
        fail_msg("cannot read %s: %s", list_path, error.text);
    Str found = describe(arena);
    unsigned differences = 0;
    for (Str a = wanted, b = found, x, y; a.size || b.size;) {
        x = str_cut(a, '\n', &a), y = str_cut(b, '\n', &b);
        if (str_equal(x, y)) continue;
        if (!differences++)
            print_error("%s says '%.*s', the headers '%.*s'\n", list_path, STR_ARG(x), STR_ARG(y));
    }
    arena_destroy(arena);
    if (differences)
        fail_msg("the binary interface changed: read the head of tests/abi/test_layout.c");
}

// A member that was forgotten here leaves a hole.
static void test_members(void **state) {
    (void)state;
    for (size_t i = 0; i < STRUCTS; i++) {
        size_t end = 0;
        const Member *m = structs[i].members;
        for (; m->name; m++) {
            size_t align = m->size < 8 ? m->size : 8;
            if (m->offset < end || m->offset - end >= align)
                fail_msg("%s: a hole before %s", structs[i].name, m->name);
            end = m->offset + m->size;
        }
        if (structs[i].size - end >= 8) fail_msg("%s: a hole at the end", structs[i].name);
        assert_true(m - structs[i].members < MEMBERS);
    }
}

static bool is_struct(Str name) {
    for (size_t i = 0; i < STRUCTS; i++)
        if (str_equal(name, str(structs[i].name))) return true;
    return false;
}

static bool is_constant(Str name) {
    for (size_t i = 0; i < CONSTANTS; i++)
        if (str_equal(name, str(constants[i].name))) return true;
    return false;
}

static Str first_word(Str s) {
    size_t n = 0;
    while (n < s.size &&
           strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789", s.text[n]))
        n++;
    return (Str){s.text, n};
}

// Every struct and every enumerator of the headers is in the lists above.
static void check_line(Str line, bool *in_enum) {
    Str body, rest;
    line = str_trim(line);
    if (str_starts(line, STR("typedef struct tilec_")) && str_ends(line, STR("{"))) {
        Str name = first_word((Str){line.text + 15, line.size - 15});
        if (!is_struct(name)) fail_msg("%.*s is not in the list", STR_ARG(name));
    }
    if (str_starts(line, STR("typedef enum")) || str_starts(line, STR("enum {"))) {
        *in_enum = true;
        str_cut(line, '{', &line);
    }
    body = str_cut(line, '/', &rest);
    while (*in_enum && body.size) {
        if (str_starts(str_trim(body), STR("}"))) break;
        Str item = str_trim(str_cut(body, ',', &body)), name = first_word(item);
        if (name.size && !is_constant(name)) fail_msg("%.*s is not in the list", STR_ARG(name));
    }
    if (memchr(line.text, '}', line.size)) *in_enum = false;
}

static void test_headers(void **state) {
    (void)state;
    static const char *const headers[] = {"include/tilec/tilec.h", "include/tilec/dlpack.h"};
    Arena *arena = arena_create();
    for (size_t i = 0; i < 2; i++) {
        Str text;
        OsError error;
        assert_true(os_read_file(arena, headers[i], 1 << 20, &text, &error));
        bool in_enum = false;
        while (text.size) check_line(str_cut(text, '\n', &text), &in_enum);
    }
    arena_destroy(arena);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--bless") == 0) {
        Arena *arena = arena_create();
        OsError error;
        bool good = os_write_file(arena, list_path, describe(arena), &error);
        if (!good) fprintf(stderr, "cannot write %s: %s\n", list_path, error.text);
        arena_destroy(arena);
        return good ? 0 : 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
