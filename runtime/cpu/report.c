// Messages of kernels: failed asserts become reports, prints become lines, in the same words as the
// interpreter's (ir/interp/report.c).
#include <stdarg.h>

#include "base/recover.h"
#include "runtime/cpu/pool.h"
#include "runtime/failure.h"
#include "runtime/print.h"

RtReport report_words(const char *format, ...) {
    va_list args;
    va_start(args, format);
    RtReport report = rt_report_text(format, args);
    va_end(args);
    return report;
}

RtReport report_assert(const Grid *grid) {
    int64_t p = atomic_load(&grid->failed);
    const int64_t *g = grid->launch.grid;
    RtFailure failure = {.site = grid->failed_site,
                         .place = {p % g[0], p / g[0] % g[1], p / g[0] / g[1]},
                         .lane = grid->failed_lane};
    // The number of failures is unknown, since later programs were not started (grid.c).
    if (p + 1 < grid->total)
        failure.note =
            "the programs after it were not run; device interp runs all, and counts "
            "those that fail";
    return rt_report_assert(&grid->launch.meta->variants[grid->launch.variant], &failure);
}

// ---- print --------------------------------------------------------------------------------------

static void print_line(const Grid *grid, Str line) {
    os_mutex_lock(grid->pool->print_lock);
    rt_print_write(grid->device->context, line);
    os_mutex_unlock(grid->pool->print_lock);
}

static void print_site(const Grid *grid, uint32_t site, const void *const *values) {
    const MetaVariant *v = &grid->launch.meta->variants[grid->launch.variant];
    Arena *arena = arena_create();
    StrBuf line = strbuf(arena);
    if (rt_print_line(v, site, values, &line)) print_line(grid, strbuf_str(&line));
    arena_destroy(arena);
}

// Without memory for the text a kernel goes on, and one line says that output is missing.
void report_print(const Grid *grid, uint32_t site, const void *const *values) {
    Recovery r;
    if (RECOVER_FAILED(&r)) {
        print_line(grid, STR(RT_PRINT_LOST));
        return;
    }
    print_site(grid, site, values);
    recover_end(&r);
}
