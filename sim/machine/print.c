// The two functions that a driver provides to kernels: vprintf and __assertfail.
#include <stdio.h>
#include <string.h>

#include "sim/machine/ops.h"

enum { PRINTED_MAX = 4096, FORMAT_MAX = 64 };

// Reads one byte at a generic address; false: no memory there.
static bool byte_at(SimWarp *w, uint32_t l, uint64_t address, char *c) {
    if ((address & SIM_WINDOW_MASK) == SIM_LOCAL_BASE) {
        uint64_t at = address & ~SIM_WINDOW_MASK, size = w->run->launch->kernel->local_bytes;
        if (at >= size) return false;
        *c = (char)w->local[size * l + at];
        return true;
    }
    const SimRegion *r = sim_memory_find(w->run->launch->memory, address, 1);
    if (!r) return false;
    *c = (char)r->bytes[address - r->base];
    return true;
}
static void text_at(SimWarp *w, uint32_t l, uint64_t address, char *to, size_t size) {
    size_t n = 0;
    while (n + 1 < size && byte_at(w, l, address + n, &to[n]) && to[n]) n++;
    to[n] = 0;
}
static uint64_t number_at(SimWarp *w, uint32_t l, uint64_t address, uint32_t bytes) {
    uint64_t v = 0;
    for (uint32_t n = 0; n < bytes; n++) {
        char c = 0;
        byte_at(w, l, address + n, &c);
        v |= (uint64_t)(uint8_t)c << (8 * n);
    }
    return v;
}

typedef struct Printer {
    SimWarp *warp;
    uint32_t lane;
    uint64_t args;  // address of the next argument
    char text[PRINTED_MAX];
    size_t size;
} Printer;

static void put(Printer *p, const char *text) {
    for (; *text && p->size + 1 < sizeof p->text; text++) p->text[p->size++] = *text;
}

static uint64_t take(Printer *p, uint32_t bytes) {
    p->args = (p->args + bytes - 1) & ~(uint64_t)(bytes - 1);
    uint64_t v = number_at(p->warp, p->lane, p->args, bytes);
    p->args += bytes;
    return v;
}

static bool is_one_of(char c, const char *set) { return c && strchr(set, c); }

// Prints numbers with a format of our own: the kernel's format is data and not trusted.
static void put_number(Printer *p, char kind, uint64_t v, bool wide, int precision) {
    char out[400];
    double x;
    memcpy(&x, &v, sizeof x);
    if (precision > 60) precision = 60;
    switch (kind) {
    case 'd':
    case 'i': snprintf(out, sizeof out, "%lld", wide ? (long long)v : (long long)(int32_t)v); break;
    case 'u': snprintf(out, sizeof out, "%llu", (unsigned long long)v); break;
    case 'o': snprintf(out, sizeof out, "%llo", (unsigned long long)v); break;
    case 'x': snprintf(out, sizeof out, "%llx", (unsigned long long)v); break;
    case 'X': snprintf(out, sizeof out, "%llX", (unsigned long long)v); break;
    case 'p': snprintf(out, sizeof out, "0x%llx", (unsigned long long)v); break;
    case 'c': snprintf(out, sizeof out, "%c", (int)(v & 127)); break;
    case 'e':
    case 'E': snprintf(out, sizeof out, "%.*e", precision < 0 ? 6 : precision, x); break;
    case 'g':
    case 'G': snprintf(out, sizeof out, "%.*g", precision < 0 ? 6 : precision, x); break;
    default: snprintf(out, sizeof out, "%.*f", precision < 0 ? 6 : precision, x); break;
    }
    put(p, out);
}

// Parses flags, width, precision and the conversion; returns the rest.
static const char *conversion(Printer *p, const char *f) {
    int precision = -1, width = 0, longs = 0;
    bool left = false, zero = false;
    for (; is_one_of(*f, "-+ #0"); f++) left |= *f == '-', zero |= *f == '0';
    for (; *f >= '0' && *f <= '9'; f++) width = width < 1000 ? width * 10 + (*f - '0') : width;
    if (*f == '.')
        for (f++, precision = 0; *f >= '0' && *f <= '9'; f++)
            precision = precision < 1000 ? precision * 10 + (*f - '0') : precision;
    for (; is_one_of(*f, "lhzjt"); f++) longs += *f == 'l' || *f == 'z' || *f == 'j';
    if (!*f) return f;
    size_t begin = p->size;
    if (*f == '%') {
        put(p, "%");
    } else if (*f == 's') {
        char text[512];
        text_at(p->warp, p->lane, take(p, 8), text, sizeof text);
        put(p, text);
    } else {
        bool wide = longs || is_one_of(*f, "pfFeEgGaA");
        put_number(p, *f, take(p, wide ? 8 : 4), wide, precision);
    }
    size_t printed = p->size - begin;
    size_t pad = (size_t)width > printed ? (size_t)width - printed : 0;
    if (pad && p->size + pad < sizeof p->text) {
        if (!left) memmove(p->text + begin + pad, p->text + begin, printed);
        memset(p->text + (left ? p->size : begin), zero && !left ? '0' : ' ', pad);
        p->size += pad;
    }
    return f + 1;
}

static void print_lane(SimWarp *w, uint32_t l, uint64_t format, uint64_t args) {
    char text[PRINTED_MAX];
    text_at(w, l, format, text, sizeof text);
    Printer p = {.warp = w, .lane = l, .args = args};
    for (const char *f = text; *f;) {
        if (*f == '%') {
            f = conversion(&p, f + 1);
            continue;
        }
        char one[2] = {*f++, 0};
        put(&p, one);
    }
    const SimLaunch *n = w->run->launch;
    if (n->print) n->print(n->user, (Str){p.text, p.size});
}

// Operands a and b: the addresses of the format and of the arguments.
void sim_print(SimWarp *w, const SimInstr *i) {
    const LaneU64 *a = SIM_REG(w, i->a, LaneU64), *b = SIM_REG(w, i->b, LaneU64);
    for (uint32_t l = 0; l < SIM_LANES; l++)
        if (w->mask >> l & 1) print_lane(w, l, a[l], b[l]);
    if (i->d.number < 0) return;
    LaneU32 *d = SIM_REG(w, i->d, LaneU32);
    SIM_EACH_LANE(w, d[l] = 1;);
    if (w->poison) sim_poison_put(w, i->d, 0);
}

// a: message, b: file, c: line.
void sim_assert_fail(SimWarp *w, const SimInstr *i) {
    char message[256], file[128];
    uint32_t l = sim_first_lane(w->mask);
    text_at(w, l, SIM_REG(w, i->a, LaneU64)[l], message, sizeof message);
    text_at(w, l, SIM_REG(w, i->b, LaneU64)[l], file, sizeof file);
    uint32_t line = SIM_REG(w, i->c, LaneU32)[l];
    sim_fail(w, i, (SimFault){.kind = SIM_FAULT_ASSERT, .mask = w->mask},
             "%s:%u: assertion failed: %s (thread %u of block %llu)", file, line, message,
             w->index * SIM_LANES + l, (unsigned long long)w->block->linear);
}
