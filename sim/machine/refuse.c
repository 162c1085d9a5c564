#include "sim/machine/refuse.h"

#include <stdarg.h>
#include <stdio.h>

bool sim_refuse(SimResult *r, const char *format, ...) {
    r->outcome = SIM_REFUSED;
    va_list args;
    va_start(args, format);
    vsnprintf(r->text, sizeof r->text, format, args);
    va_end(args);
    return false;
}

bool sim_check_block(const SimLaunch *n, const SimBlockRule *rule, SimResult *r) {
    uint64_t threads = 1;
    for (int d = 0; d < 3; d++) {
        uint32_t grid = n->grid[d], block = n->block[d];
        if (!grid || grid > (d ? 65535 : INT32_MAX))
            return sim_refuse(r, "a grid of %u along dimension %d is not possible", grid, d);
        if (!block || block > SIM_THREADS_MAX)
            return sim_refuse(r, "a block of %u threads along dimension %d is not possible", block,
                              d);
        if (rule->items && (uint64_t)grid * block > rule->items)
            return sim_refuse(r,
                              "a grid of %u blocks of %u threads along dimension %d is not "
                              "possible",
                              grid, block, d);
        if (rule->required[0] && block != rule->required[d])
            return sim_refuse(r, "kernel '%.*s' requires blocks of %u by %u by %u threads",
                              STR_ARG(rule->name), rule->required[0], rule->required[1],
                              rule->required[2]);
        threads *= block;
    }
    if (threads <= rule->most) return true;
    return sim_refuse(r, "a block of %llu threads: kernel '%.*s' takes at most %llu",
                      (unsigned long long)threads, STR_ARG(rule->name),
                      (unsigned long long)rule->most);
}

const char *sim_fault_describe(char text[SIM_FAULT_TEXT], const SimFault *f, uint32_t thread,
                               uint64_t block) {
    static const char *const spaces[] = {"generic", "global", "shared", "local", "param", "const"};
    const char *what = f->kind == SIM_FAULT_ALIGN         ? "is not aligned"
                       : f->kind == SIM_FAULT_READONLY    ? "may not be written"
                       : f->kind == SIM_FAULT_ENDED_BLOCK ? "is memory of a block that has ended"
                                                          : "is outside the accessible memory";
    snprintf(text, SIM_FAULT_TEXT,
             "address %#llx (%s memory, %u bytes, thread %u of block %llu%s) %s",
             (unsigned long long)f->address, spaces[f->space], f->bytes, thread,
             (unsigned long long)block, f->mask & (f->mask - 1) ? " and others" : "", what);
    return text;
}
