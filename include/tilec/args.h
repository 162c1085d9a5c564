// The macros that build arguments and specialisations; included by tilec/tilec.h.
//
//     tilec_launch(k, NULL, TILEC_ARGS(view, buffer, pointer, 3, 0.5f));     at most 64 in C
//     tilec_launch(k, NULL, TILEC_NO_ARGS);                                  no arguments
//     tilec_kernel_from_file(…, TILEC_SPEC(TILEC_TYPE("T", TILEC_F16), TILEC_CONST("BM", 128),
//                                          TILEC_OPTION("warps", 8)), &k);
//
// The objects that the macros make live to the end of the full expression (C++) or of the block
// (C), which is long enough for the call that contains them. Names that end in an underscore are
// not part of the interface.
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
#define TILEC_TUNE(seconds) TILEC_OPTION("tune.ms", (int64_t)((seconds)*1000))
#define TILEC_VALUE(name, text) \
    tilec_value_(TILEC_SPEC_VALUE, (name), (int64_t)(intptr_t)(const char *)(text))
#define TILEC_GRID(text) TILEC_VALUE("grid", (text))
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
    TILEC_PICK_(__VA_ARGS__, TILEC_A64_, TILEC_A63_, TILEC_A62_, TILEC_A61_, TILEC_A60_,       \
                TILEC_A59_, TILEC_A58_, TILEC_A57_, TILEC_A56_, TILEC_A55_, TILEC_A54_,        \
                TILEC_A53_, TILEC_A52_, TILEC_A51_, TILEC_A50_, TILEC_A49_, TILEC_A48_,        \
                TILEC_A47_, TILEC_A46_, TILEC_A45_, TILEC_A44_, TILEC_A43_, TILEC_A42_,        \
                TILEC_A41_, TILEC_A40_, TILEC_A39_, TILEC_A38_, TILEC_A37_, TILEC_A36_,        \
                TILEC_A35_, TILEC_A34_, TILEC_A33_, TILEC_A32_, TILEC_A31_, TILEC_A30_,        \
                TILEC_A29_, TILEC_A28_, TILEC_A27_, TILEC_A26_, TILEC_A25_, TILEC_A24_,        \
                TILEC_A23_, TILEC_A22_, TILEC_A21_, TILEC_A20_, TILEC_A19_, TILEC_A18_,        \
                TILEC_A17_, TILEC_A16_, TILEC_A15_, TILEC_A14_, TILEC_A13_, TILEC_A12_,        \
                TILEC_A11_, TILEC_A10_, TILEC_A9_, TILEC_A8_, TILEC_A7_, TILEC_A6_, TILEC_A5_, \
                TILEC_A4_, TILEC_A3_, TILEC_A2_, TILEC_A1_, )                                  \
    (__VA_ARGS__)
#define TILEC_PICK_(p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, p17, \
                    p18, p19, p20, p21, p22, p23, p24, p25, p26, p27, p28, p29, p30, p31, p32,  \
                    p33, p34, p35, p36, p37, p38, p39, p40, p41, p42, p43, p44, p45, p46, p47,  \
                    p48, p49, p50, p51, p52, p53, p54, p55, p56, p57, p58, p59, p60, p61, p62,  \
                    p63, p64, name, ...)                                                        \
    name
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
#define TILEC_A17_(x, ...) TILEC_ARG(x), TILEC_A16_(__VA_ARGS__)
#define TILEC_A18_(x, ...) TILEC_ARG(x), TILEC_A17_(__VA_ARGS__)
#define TILEC_A19_(x, ...) TILEC_ARG(x), TILEC_A18_(__VA_ARGS__)
#define TILEC_A20_(x, ...) TILEC_ARG(x), TILEC_A19_(__VA_ARGS__)
#define TILEC_A21_(x, ...) TILEC_ARG(x), TILEC_A20_(__VA_ARGS__)
#define TILEC_A22_(x, ...) TILEC_ARG(x), TILEC_A21_(__VA_ARGS__)
#define TILEC_A23_(x, ...) TILEC_ARG(x), TILEC_A22_(__VA_ARGS__)
#define TILEC_A24_(x, ...) TILEC_ARG(x), TILEC_A23_(__VA_ARGS__)
#define TILEC_A25_(x, ...) TILEC_ARG(x), TILEC_A24_(__VA_ARGS__)
#define TILEC_A26_(x, ...) TILEC_ARG(x), TILEC_A25_(__VA_ARGS__)
#define TILEC_A27_(x, ...) TILEC_ARG(x), TILEC_A26_(__VA_ARGS__)
#define TILEC_A28_(x, ...) TILEC_ARG(x), TILEC_A27_(__VA_ARGS__)
#define TILEC_A29_(x, ...) TILEC_ARG(x), TILEC_A28_(__VA_ARGS__)
#define TILEC_A30_(x, ...) TILEC_ARG(x), TILEC_A29_(__VA_ARGS__)
#define TILEC_A31_(x, ...) TILEC_ARG(x), TILEC_A30_(__VA_ARGS__)
#define TILEC_A32_(x, ...) TILEC_ARG(x), TILEC_A31_(__VA_ARGS__)
#define TILEC_A33_(x, ...) TILEC_ARG(x), TILEC_A32_(__VA_ARGS__)
#define TILEC_A34_(x, ...) TILEC_ARG(x), TILEC_A33_(__VA_ARGS__)
#define TILEC_A35_(x, ...) TILEC_ARG(x), TILEC_A34_(__VA_ARGS__)
#define TILEC_A36_(x, ...) TILEC_ARG(x), TILEC_A35_(__VA_ARGS__)
#define TILEC_A37_(x, ...) TILEC_ARG(x), TILEC_A36_(__VA_ARGS__)
#define TILEC_A38_(x, ...) TILEC_ARG(x), TILEC_A37_(__VA_ARGS__)
#define TILEC_A39_(x, ...) TILEC_ARG(x), TILEC_A38_(__VA_ARGS__)
#define TILEC_A40_(x, ...) TILEC_ARG(x), TILEC_A39_(__VA_ARGS__)
#define TILEC_A41_(x, ...) TILEC_ARG(x), TILEC_A40_(__VA_ARGS__)
#define TILEC_A42_(x, ...) TILEC_ARG(x), TILEC_A41_(__VA_ARGS__)
#define TILEC_A43_(x, ...) TILEC_ARG(x), TILEC_A42_(__VA_ARGS__)
#define TILEC_A44_(x, ...) TILEC_ARG(x), TILEC_A43_(__VA_ARGS__)
#define TILEC_A45_(x, ...) TILEC_ARG(x), TILEC_A44_(__VA_ARGS__)
#define TILEC_A46_(x, ...) TILEC_ARG(x), TILEC_A45_(__VA_ARGS__)
#define TILEC_A47_(x, ...) TILEC_ARG(x), TILEC_A46_(__VA_ARGS__)
#define TILEC_A48_(x, ...) TILEC_ARG(x), TILEC_A47_(__VA_ARGS__)
#define TILEC_A49_(x, ...) TILEC_ARG(x), TILEC_A48_(__VA_ARGS__)
#define TILEC_A50_(x, ...) TILEC_ARG(x), TILEC_A49_(__VA_ARGS__)
#define TILEC_A51_(x, ...) TILEC_ARG(x), TILEC_A50_(__VA_ARGS__)
#define TILEC_A52_(x, ...) TILEC_ARG(x), TILEC_A51_(__VA_ARGS__)
#define TILEC_A53_(x, ...) TILEC_ARG(x), TILEC_A52_(__VA_ARGS__)
#define TILEC_A54_(x, ...) TILEC_ARG(x), TILEC_A53_(__VA_ARGS__)
#define TILEC_A55_(x, ...) TILEC_ARG(x), TILEC_A54_(__VA_ARGS__)
#define TILEC_A56_(x, ...) TILEC_ARG(x), TILEC_A55_(__VA_ARGS__)
#define TILEC_A57_(x, ...) TILEC_ARG(x), TILEC_A56_(__VA_ARGS__)
#define TILEC_A58_(x, ...) TILEC_ARG(x), TILEC_A57_(__VA_ARGS__)
#define TILEC_A59_(x, ...) TILEC_ARG(x), TILEC_A58_(__VA_ARGS__)
#define TILEC_A60_(x, ...) TILEC_ARG(x), TILEC_A59_(__VA_ARGS__)
#define TILEC_A61_(x, ...) TILEC_ARG(x), TILEC_A60_(__VA_ARGS__)
#define TILEC_A62_(x, ...) TILEC_ARG(x), TILEC_A61_(__VA_ARGS__)
#define TILEC_A63_(x, ...) TILEC_ARG(x), TILEC_A62_(__VA_ARGS__)
#define TILEC_A64_(x, ...) TILEC_ARG(x), TILEC_A63_(__VA_ARGS__)
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
// The first launch of a shape measures the kernel's tune space, for about that time.
#define TILEC_TUNE(seconds) TILEC_OPTION("tune.ms", (int64_t)((seconds)*1000))
// For kernels of Python files: the value of a constexpr or parameter as Python writes it ("'silu'",
// "None", "tl.float16"), and the grid as expressions of parameters ("triton.cdiv(n, BLOCK), 1").
#define TILEC_VALUE(name, text) \
    { TILEC_SPEC_VALUE, (name), TILEC_BOOL, (int64_t)(intptr_t)(const char *)(text) }
#define TILEC_GRID(text) TILEC_VALUE("grid", (text))
#endif

#endif
