#include "tools/npy.h"

#include <string.h>

#include "base/status.h"

enum { NPY_FILE_MAX_SHIFT = 36 };  // 64 GiB

typedef struct Header {
    Arena *arena;
    Str text;  // the rest of the dictionary
    Str *problem;
} Header;

static bool fail(Arena *arena, Str *problem, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static bool fail(Arena *arena, Str *problem, const char *format, ...) {
    StrBuf b = strbuf(arena);
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&b, format, args);
    va_end(args);
    *problem = strbuf_str(&b);
    return false;
}

static void skip_space(Header *h) {
    while (h->text.size && memchr(" \t\n", h->text.text[0], 3)) h->text.text++, h->text.size--;
}

static bool take(Header *h, char c) {
    skip_space(h);
    if (!h->text.size || h->text.text[0] != c) return false;
    h->text.text++, h->text.size--;
    return true;
}

static bool take_string(Header *h, Str *s) {
    skip_space(h);
    if (!h->text.size || (h->text.text[0] != '\'' && h->text.text[0] != '"')) return false;
    char quote = h->text.text[0];
    const char *end = memchr(h->text.text + 1, quote, h->text.size - 1);
    if (!end) return false;
    *s = (Str){h->text.text + 1, (size_t)(end - h->text.text) - 1};
    h->text.size -= (size_t)(end + 1 - h->text.text);
    h->text.text = end + 1;
    return true;
}

static bool take_number(Header *h, int64_t *value) {
    skip_space(h);
    size_t n = 0;
    while (n < h->text.size && h->text.text[n] >= '0' && h->text.text[n] <= '9') n++;
    uint64_t number;
    bool overflow = false;
    if (!n || !str_to_u64((Str){h->text.text, n}, &number, &overflow) || overflow ||
        number > INT64_MAX)
        return false;
    *value = (int64_t)number;
    h->text.text += n, h->text.size -= n;
    // Python 2 writes it
    if (h->text.size && h->text.text[0] == 'L') h->text.text++, h->text.size--;
    return true;
}

static bool take_word(Header *h, Str word) {
    skip_space(h);
    if (!str_starts(h->text, word)) return false;
    h->text.text += word.size, h->text.size -= word.size;
    return true;
}

static bool parse_shape(Header *h, NpyArray *a) {
    TRY(take(h, '('));
    while (!take(h, ')')) {
        if (a->rank == NPY_MAX_RANK) return false;
        TRY(take_number(h, &a->extent[a->rank]));
        a->rank++;
        if (!take(h, ',')) {
            TRY(take(h, ')'));
            break;
        }
    }
    return true;
}

static bool parse_descr(Header *h, NpyArray *a) {
    static const struct {
        const char *descr;
        Dtype dtype;
    } types[] = {{"b1", DTYPE_BOOL}, {"i1", DTYPE_I8},  {"i2", DTYPE_I16}, {"i4", DTYPE_I32},
                 {"i8", DTYPE_I64},  {"u1", DTYPE_U8},  {"u2", DTYPE_U16}, {"u4", DTYPE_U32},
                 {"u8", DTYPE_U64},  {"f2", DTYPE_F16}, {"f4", DTYPE_F32}, {"f8", DTYPE_F64}};
    Str text;
    if (take(h, '['))
        return fail(h->arena, h->problem, "holds structured data; only plain arrays can be read");
    TRY(take_string(h, &text));
    Str type = text;
    char order = text.size ? text.text[0] : 0;
    if (order && strchr("<>|=", order)) type.text++, type.size--;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (!str_equal(type, str(types[i].descr))) continue;
        a->dtype = types[i].dtype;
        if (order == '>' && dtype_bits(a->dtype) > 8)
            return fail(h->arena, h->problem, "is big-endian ('%.*s'); store it little-endian",
                        STR_ARG(text));
        return true;
    }
    return fail(h->arena, h->problem, "has elements of type '%.*s', which no kernel can take",
                STR_ARG(text));
}

static bool parse_dictionary(Header *h, NpyArray *a) {
    bool descr = false, order = false, shape = false;
    *h->problem = STR("has a malformed header");
    TRY(take(h, '{'));
    while (!take(h, '}')) {
        Str key;
        TRY(take_string(h, &key));
        TRY(take(h, ':'));
        if (str_equal(key, STR("descr")) && !descr) {
            TRY(parse_descr(h, a));
            descr = true;
        } else if (str_equal(key, STR("fortran_order")) && !order) {
            a->fortran = take_word(h, STR("True"));
            if (!a->fortran) TRY(take_word(h, STR("False")));
            order = true;
        } else if (str_equal(key, STR("shape")) && !shape) {
            TRY(parse_shape(h, a));
            shape = true;
        } else {
            return false;
        }
        if (!take(h, ',')) {
            TRY(take(h, '}'));
            break;
        }
    }
    skip_space(h);
    return descr && order && shape && h->text.size == 0;
}

static bool check_size(Arena *arena, NpyArray *a, Str data, Str *problem) {
    uint64_t bytes = dtype_size(a->dtype);
    for (uint32_t d = 0; d < a->rank; d++)
        if (__builtin_mul_overflow(bytes, (uint64_t)a->extent[d], &bytes))
            return fail(arena, problem, "announces more than 2^64 bytes");
    if (bytes > data.size)
        return fail(arena, problem, "is truncated: %llu bytes of data announced, %zu found",
                    (unsigned long long)bytes, data.size);
    if (bytes < data.size)
        return fail(arena, problem, "has %zu bytes after its %llu bytes of data",
                    data.size - (size_t)bytes, (unsigned long long)bytes);
    a->fortran = a->fortran && a->rank > 1;
    a->size = (size_t)bytes;
    a->data = data.text;
    return true;
}

bool npy_parse(Arena *arena, Str file, NpyArray *array, Str *problem) {
    memset(array, 0, sizeof *array);
    if (!str_starts(file, STR("\x93NUMPY")) || file.size < 10)
        return fail(arena, problem, file.size ? "is not an .npy file" : "is empty");
    const uint8_t *bytes = (const uint8_t *)file.text;
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return fail(arena, problem, "has version %d.%d; 1.0, 2.0 and 3.0 can be read", bytes[6],
                    bytes[7]);
    size_t start = bytes[6] == 1 ? 10 : 12, length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (start == 12 && file.size >= 12) length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (file.size < start || length > file.size - start)
        return fail(arena, problem, "is truncated within its header");
    Header h = {arena, {file.text + start, length}, problem};
    TRY(parse_dictionary(&h, array));
    return check_size(arena, array, (Str){file.text + start + length, file.size - start - length},
                      problem);
}

bool npy_read(Arena *arena, const char *path, NpyArray *array, Str *problem) {
    Str file;
    OsError error;
    if (!os_read_file(arena, path, 1ull << NPY_FILE_MAX_SHIFT, &file, &error))
        return fail(arena, problem, "cannot be read: %s", error.text);
    return npy_parse(arena, file, array, problem);
}

Dtype npy_storage_type(Dtype t) {
    if (t == DTYPE_BF16) return DTYPE_U16;
    return dtype_is(t, DTYPE_CLASS_FP8 | DTYPE_CLASS_PACKED) ? DTYPE_U8 : t;
}

// The letter of a type in a header: 'b' bool, 'i' and 'u' integers, 'f' floats.
static char type_kind(Dtype stored) {
    if (stored == DTYPE_BOOL) return 'b';
    if (dtype_is(stored, DTYPE_CLASS_ANYFLOAT)) return 'f';
    return dtype_signed(stored) ? 'i' : 'u';
}

Str npy_header(Arena *arena, Dtype stored, uint32_t rank, const int64_t *extent, bool fortran) {
    StrBuf dict = strbuf(arena);
    strbuf_printf(&dict, "{'descr': '%c%c%zu', 'fortran_order': %s, 'shape': (",
                  dtype_size(stored) == 1 ? '|' : '<', type_kind(stored), dtype_size(stored),
                  fortran ? "True" : "False");
    for (uint32_t d = 0; d < rank; d++)
        strbuf_printf(&dict, "%lld%s", (long long)extent[d],
                      rank == 1      ? ","
                      : d + 1 < rank ? ", "
                                     : "");
    strbuf_add(&dict, STR("), }"));
    // The data begins at a multiple of 64.
    while ((10 + dict.size + 1) % 64) strbuf_char(&dict, ' ');
    strbuf_char(&dict, '\n');
    StrBuf out = strbuf(arena);
    strbuf_add(&out, (Str){"\x93NUMPY\x01\x00", 8});
    strbuf_char(&out, (char)(dict.size & 0xff));
    strbuf_char(&out, (char)(dict.size >> 8));
    strbuf_add(&out, strbuf_str(&dict));
    return strbuf_str(&out);
}
