#include "bench/cpu/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "base/os/os_thread.h"

static const double SAMPLE_SECONDS = 4e-3, PAUSE_SECONDS = 1.5e-3;
enum { CHECKED = 4096 };

bool bench_is_selected(const Bench *bench, const char *name) {
    return !bench->filter || strstr(name, bench->filter);
}

void row_add(Row *row, const char *name, Role role, void (*run)(void *self), void *self) {
    if (!run || row->count == ROW_MAX) return;
    row->contestants[row->count++] =
        (Contestant){.name = name, .role = role, .run = run, .self = self};
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

double row_ratio(const Row *row, const Contestant *a, const Contestant *b) {
    double ratios[SAMPLES_MAX];
    for (size_t i = 0; i < row->samples; i++) ratios[i] = a->times[i] / b->times[i];
    return bench_median(ratios, row->samples);
}

const Contestant *row_find(const Row *row, Role role) {
    const Contestant *best = NULL;
    for (size_t i = 0; i < row->count; i++) {
        const Contestant *c = &row->contestants[i];
        if (c->role == role && (!best || c->median < best->median)) best = c;
    }
    return best;
}

const Contestant *row_first(const Row *row, Role role) {
    for (size_t i = 0; i < row->count; i++)
        if (row->contestants[i].role == role) return &row->contestants[i];
    return NULL;
}

static double seconds_since(uint64_t begin) { return (double)(os_time_ns() - begin) * 1e-9; }

static double sample(Contestant *c, unsigned threads) {
    // Longer than the peers' threads spin (see scripts/bench.sh).
    uint64_t pause = os_time_ns();
    while (threads > 1 && seconds_since(pause) < PAUSE_SECONDS) os_spin_hint();
    if (c->repeats > 1) c->run(c->self);
    uint64_t begin = os_time_ns();
    for (unsigned i = 0; i < c->repeats; i++) c->run(c->self);
    return seconds_since(begin) / c->repeats;
}

// The number of runs in a sample. The first run of all touches memory and is not counted.
static double calibrate(Contestant *c) {
    c->run(c->self);
    uint64_t begin = os_time_ns();
    c->run(c->self);
    double once = seconds_since(begin);
    if (once < SAMPLE_SECONDS / 100) {  // too short to tell from one run
        begin = os_time_ns();
        for (int i = 0; i < 100; i++) c->run(c->self);
        once = seconds_since(begin) / 100;
    }
    double repeats = ceil(SAMPLE_SECONDS / (once > 1e-9 ? once : 1e-9));
    c->repeats = repeats < 1 ? 1 : repeats > 1e6 ? 1000000 : (unsigned)repeats;
    return (once * (c->repeats + (c->repeats > 1))) + PAUSE_SECONDS;
}

// Does its output differ from tilec's? `seen` has every `step`th element of that.
static bool differs(const Row *row, const Contestant *c, const float *seen, size_t step) {
    double worst = 0, scale = 0;
    c->run(c->self);
    for (size_t i = 0; i < row->output_count / step; i++) {
        double difference = fabs((double)seen[i] - (double)row->output[i * step]);
        if (!(difference <= worst)) worst = difference;
        scale = fmax(scale, fabs((double)row->output[i * step]));
    }
    return !(worst <= 1e-3 * scale);
}

// Compares the peers' results with tilec's: wrong results make times worthless. A stream is
// compared only if it comes before all peers, since it does the work of the row then.
static void compare_outputs(Row *row) {
    size_t other = 0;
    while (other < row->count && row->contestants[other].role == ROLE_TILEC) other++;
    if (!row->output || !other || other == row->count) return;
    float seen[CHECKED];
    size_t step = row->output_count / CHECKED + 1;
    row->contestants[0].run(row->contestants[0].self);
    for (size_t i = 0; i < row->output_count / step; i++) seen[i] = row->output[i * step];
    for (size_t i = other; i < row->count; i++) {
        Contestant *c = &row->contestants[i];
        if (!c->unlike && (c->role == ROLE_PEER || i == other))
            c->differs = differs(row, c, seen, step);
        row->differs = row->differs || c->differs;
    }
}

static void measure(Bench *bench, Row *row) {
    double round = 0;
    for (size_t i = 0; i < row->count; i++) round += calibrate(&row->contestants[i]);
    double samples = bench->budget / round;
    row->samples = samples < 3 ? 3 : samples > (double)SAMPLES_MAX ? SAMPLES_MAX : (size_t)samples;
    for (size_t s = 0; s < row->samples; s++)
        for (size_t i = 0; i < row->count; i++)
            row->contestants[i].times[s] = sample(&row->contestants[i], bench->threads);
    for (size_t i = 0; i < row->count; i++) {
        Contestant *c = &row->contestants[i];
        double sorted[SAMPLES_MAX];
        memcpy(sorted, c->times, sizeof sorted);
        c->median = bench_median(sorted, row->samples);
        c->least = sorted[0];
        c->greatest = sorted[row->samples - 1];
    }
}

// ---- Printing ----

static void print_time(double seconds) {
    if (seconds < 1e-6)
        printf("%8.1f ns", seconds * 1e9);
    else if (seconds < 1e-3)
        printf("%8.2f us", seconds * 1e6);
    else
        printf("%8.3f ms", seconds * 1e3);
}

static void print_rate(const Row *row, double seconds) {
    if (row->flops > 0)
        printf("  %8.1f GF/s", row->flops / seconds * 1e-9);
    else if (row->bytes > 0)
        printf("  %8.2f GB/s", row->bytes / seconds * 1e-9);
    else
        printf("  %13s", "");
}

// The fraction of the streaming rate or of the peak; below 0: unknown.
static double share(const Row *row, const Contestant *of) {
    const Contestant *stream = row_find(row, ROLE_STREAM), *peak = row_find(row, ROLE_PEAK);
    if (stream && row->bytes > 0) return row_ratio(row, stream, of);
    if (peak && row->flops > 0) return row_ratio(row, peak, of) * row->flops / peak->operations;
    return -1;
}

// Prints the ratio for the kernel without options, and for the one with other arithmetic, if there
// is one.
static void print_ratios(const Row *row, const Contestant *peer) {
    const Contestant *first = row_first(row, ROLE_TILEC);
    if (!first) return;
    printf("  %s is %.2f times as fast", first->name, row_ratio(row, peer, first));
    for (const Contestant *c = first + 1; c < row->contestants + row->count; c++)
        if (c->role == ROLE_TILEC) printf("; %s %.2f", c->name, row_ratio(row, peer, c));
}

static void print_one(const Row *row, const Contestant *c) {
    printf("    %-22s", c->name);
    print_time(c->median);
    if (c->role == ROLE_PEAK)
        printf("  %8.1f GF/s", c->operations / c->median * 1e-9);
    else
        print_rate(row, c->median);
    printf("  +-%3.0f%%", 50 * (c->greatest - c->least) / c->median);
    double part = c->role == ROLE_TILEC || c->role == ROLE_PEER ? share(row, c) : -1;
    if (part >= 0) printf("  %4.2f of %s", part, row->flops > 0 ? "the peak" : "the stream");
    if (c->role == ROLE_PEER) print_ratios(row, c);
    printf("\n");
}

static void print_row(const Bench *bench, const Row *row) {
    printf("%s, %u thread%s\n", row->name, bench->threads, bench->threads > 1 ? "s" : "");
    if (row->failure) printf("    tilec: %s\n", row->failure);
    for (size_t i = 0; i < row->count; i++) {
        const Contestant *c = &row->contestants[i];
        if (c->differs) printf("    THE RESULTS OF %s DIFFER\n", c->name);
        print_one(row, c);
    }
    fflush(stdout);
}

static void json_row(Bench *bench, const Row *row) {
    Json *j = &bench->out;
    const Contestant *tilec = row_first(row, ROLE_TILEC);
    json_open(j, '{');
    json_key(j, "name"), json_str(j, str(row->name));
    json_key(j, "threads"), json_uint(j, bench->threads);
    json_key(j, "bytes"), json_double(j, row->bytes);
    json_key(j, "flops"), json_double(j, row->flops);
    json_key(j, "samples"), json_uint(j, row->samples);
    json_key(j, "differs"), json_bool(j, row->differs);
    if (row->failure) json_key(j, "failure"), json_str(j, str(row->failure));
    json_key(j, "contestants"), json_open(j, '[');
    for (size_t i = 0; i < row->count; i++) {
        const Contestant *c = &row->contestants[i];
        json_open(j, '{');
        json_key(j, "name"), json_str(j, str(c->name));
        json_key(j, "seconds"), json_double(j, c->median);
        json_key(j, "least"), json_double(j, c->least);
        json_key(j, "greatest"), json_double(j, c->greatest);
        if (c->differs) json_key(j, "differs"), json_bool(j, true);
        double part = c->role == ROLE_TILEC || c->role == ROLE_PEER ? share(row, c) : -1;
        if (part >= 0) json_key(j, "share"), json_double(j, part);
        if (tilec && c->role == ROLE_PEER)
            json_key(j, "tilecRatio"), json_double(j, row_ratio(row, c, tilec));
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

void row_measure(Bench *bench, Row *row) {
    if (!row->count) return;
    compare_outputs(row);
    measure(bench, row);
    if (bench->json)
        json_row(bench, row);
    else
        print_row(bench, row);
}
