// Two names of glibc 2.38, for programs that were linked with it (x86_64.py).
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

unsigned long long __isoc23_strtoull(const char *text, char **end, int base);
unsigned long long __isoc23_strtoull(const char *text, char **end, int base) {
    return strtoull(text, end, base);
}

int __isoc23_sscanf(const char *text, const char *format, ...) __attribute__((format(scanf, 2, 3)));
int __isoc23_sscanf(const char *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int count = vsscanf(text, format, args);
    va_end(args);
    return count;
}
