// The macros that make arguments and specialisations; included by tilec/tilec.h.
//
//     tilec_launch(k, NULL, TILEC_ARGS(view, buffer, pointer, 3, 0.5f));     at most 16 in C
//     tilec_launch(k, NULL, TILEC_NO_ARGS);                                  of one that takes none
//     tilec_kernel_from_file(…, TILEC_SPEC(TILEC_TYPE("T", TILEC_F16), TILEC_CONST("BM", 128),
//                                          TILEC_OPTION("warps", 8)), &k);
//
// What they make lives to the end of the full expression (C++) or of the block (C), which is long
// enough for the call they stand in. Names that end in an underscore are no part of the interface.
#ifndef TILEC_ARGS_H
#define TILEC_ARGS_H

#include <tilec/tilec.h>

#define TILEC_NO_ARGS NULL, 0

#ifdef __cplusplus
// C++: overloads make the arguments, a temporary array holds them for the call.
inline tilec_arg tilec_arg_of(const tilec_view &v) { return tilec_arg_view(v); }
inline tilec_arg tilec_arg_of(const tilec_arg &a) { return a; }
inline tilec_arg tilec_arg_of(tilec_buffer b) { return tilec_arg_buffer(b, 0); }
inline tilec_arg tilec_arg_of(const void *p) { return tilec_arg_pointer(p); }
inline tilec_arg tilec_arg_of(bool v) { return tilec_arg_int(v); }
inline tilec_arg tilec_arg_of(int v) { return tilec_arg_int(v); }
inline tilec_arg tilec_arg_of(long v) { return tilec_arg_int(v); }
inline tilec_arg tilec_arg_of(long long v) { return tilec_arg_int(v); }
inline tilec_arg tilec_arg_of(unsigned v) { return tilec_arg_uint(v); }
inline tilec_arg tilec_arg_of(unsigned long v) { return tilec_arg_uint(v); }
inline tilec_arg tilec_arg_of(unsigned long long v) { return tilec_arg_uint(v); }
inline tilec_arg tilec_arg_of(float v) { return tilec_arg_double(v); }
inline tilec_arg tilec_arg_of(double v) { return tilec_arg_double(v); }
template <size_t N>
struct tilec_args_ {
    tilec_arg items[N];
};
template <typename... T>
tilec_args_<sizeof...(T)> tilec_args_of_(const T &...v) {
    return {{tilec_arg_of(v)...}};
}
template <typename... T>
constexpr size_t tilec_count_of_(const T &...) {
    return sizeof...(T);
}
#define TILEC_ARGS(...) tilec_args_of_(__VA_ARGS__).items, tilec_count_of_(__VA_ARGS__)
template <size_t N>
struct tilec_spec_ {
    tilec_spec_entry entries[N];
    tilec_spec spec;
    const tilec_spec *get() {
        spec.count = N;
        spec.entries = entries;
        return &spec;
    }
};
template <typename... T>
tilec_spec_<sizeof...(T)> tilec_spec_of_(const T &...v) {
    return {{v...}, {0, nullptr}};
}
#define TILEC_SPEC(...) tilec_spec_of_(__VA_ARGS__).get()
inline tilec_spec_entry tilec_type_(const char *name, tilec_dtype dtype) {
    return {TILEC_SPEC_TYPE, name, dtype, 0};
}
inline tilec_spec_entry tilec_value_(tilec_spec_kind kind, const char *name, int64_t value) {
    return {kind, name, TILEC_BOOL, value};
}
#define TILEC_TYPE(name, dtype) tilec_type_((name), (dtype))
#define TILEC_CONST(name, value) tilec_value_(TILEC_SPEC_CONST, (name), (value))
#define TILEC_OPTION(name, value) tilec_value_(TILEC_SPEC_OPTION, (name), (value))
#else
// C: _Generic makes each argument, a compound literal holds them for the call. A kernel without
// parameters is launched with TILEC_NO_ARGS.
static inline tilec_arg tilec_arg_same_(tilec_arg a) { return a; }
static inline tilec_arg tilec_arg_whole_(tilec_buffer b) { return tilec_arg_buffer(b, 0); }
#define TILEC_ARG(x)                              \
    _Generic((x), tilec_view                      \
             : tilec_arg_view, tilec_arg          \
             : tilec_arg_same_, tilec_buffer      \
             : tilec_arg_whole_, _Bool            \
             : tilec_arg_int, char                \
             : tilec_arg_int, signed char         \
             : tilec_arg_int, short               \
             : tilec_arg_int, int                 \
             : tilec_arg_int, long                \
             : tilec_arg_int, long long           \
             : tilec_arg_int, unsigned char       \
             : tilec_arg_uint, unsigned short     \
             : tilec_arg_uint, unsigned           \
             : tilec_arg_uint, unsigned long      \
             : tilec_arg_uint, unsigned long long \
             : tilec_arg_uint, float              \
             : tilec_arg_double, double           \
             : tilec_arg_double, default          \
             : tilec_arg_pointer)(x)
#define TILEC_EACH_(...)                                                                       \
    TILEC_PICK_(__VA_ARGS__, TILEC_A16_, TILEC_A15_, TILEC_A14_, TILEC_A13_, TILEC_A12_,       \
                TILEC_A11_, TILEC_A10_, TILEC_A9_, TILEC_A8_, TILEC_A7_, TILEC_A6_, TILEC_A5_, \
                TILEC_A4_, TILEC_A3_, TILEC_A2_, TILEC_A1_, )                                  \
    (__VA_ARGS__)
#define TILEC_PICK_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, name, ...) name
#define TILEC_A1_(x) TILEC_ARG(x)
#define TILEC_A2_(x, ...) TILEC_ARG(x), TILEC_A1_(__VA_ARGS__)
#define TILEC_A3_(x, ...) TILEC_ARG(x), TILEC_A2_(__VA_ARGS__)
#define TILEC_A4_(x, ...) TILEC_ARG(x), TILEC_A3_(__VA_ARGS__)
#define TILEC_A5_(x, ...) TILEC_ARG(x), TILEC_A4_(__VA_ARGS__)
#define TILEC_A6_(x, ...) TILEC_ARG(x), TILEC_A5_(__VA_ARGS__)
#define TILEC_A7_(x, ...) TILEC_ARG(x), TILEC_A6_(__VA_ARGS__)
#define TILEC_A8_(x, ...) TILEC_ARG(x), TILEC_A7_(__VA_ARGS__)
#define TILEC_A9_(x, ...) TILEC_ARG(x), TILEC_A8_(__VA_ARGS__)
#define TILEC_A10_(x, ...) TILEC_ARG(x), TILEC_A9_(__VA_ARGS__)
#define TILEC_A11_(x, ...) TILEC_ARG(x), TILEC_A10_(__VA_ARGS__)
#define TILEC_A12_(x, ...) TILEC_ARG(x), TILEC_A11_(__VA_ARGS__)
#define TILEC_A13_(x, ...) TILEC_ARG(x), TILEC_A12_(__VA_ARGS__)
#define TILEC_A14_(x, ...) TILEC_ARG(x), TILEC_A13_(__VA_ARGS__)
#define TILEC_A15_(x, ...) TILEC_ARG(x), TILEC_A14_(__VA_ARGS__)
#define TILEC_A16_(x, ...) TILEC_ARG(x), TILEC_A15_(__VA_ARGS__)
#define TILEC_ARGS(...)                            \
    (const tilec_arg[]){TILEC_EACH_(__VA_ARGS__)}, \
        sizeof((const tilec_arg[]){TILEC_EACH_(__VA_ARGS__)}) / sizeof(tilec_arg)
#define TILEC_SPEC(...)                                                             \
    (&(const tilec_spec){                                                           \
        sizeof((const tilec_spec_entry[]){__VA_ARGS__}) / sizeof(tilec_spec_entry), \
        (const tilec_spec_entry[]){__VA_ARGS__}})
#define TILEC_TYPE(name, dtype) \
    { TILEC_SPEC_TYPE, (name), (dtype), 0 }
#define TILEC_CONST(name, value) \
    { TILEC_SPEC_CONST, (name), TILEC_BOOL, (value) }
#define TILEC_OPTION(name, value) \
    { TILEC_SPEC_OPTION, (name), TILEC_BOOL, (value) }
#endif

#endif
