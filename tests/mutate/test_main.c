// Mutants of the examples' PTX must be noticed: by an observer of the warp machine, by wrong
// results, or because they move more bytes or run more instructions. Those that are not are
// printed: with the rule that proves them to be the same program (rules.h), which then do not
// count, or as unexplained. Each example's counts are printed, too.
//
//     test_mutants [--whole] [--device NAME] [--opcode BEGIN] [--least N] [--print] [KERNEL]
//
// --print prints each text before its mutants. The quick run takes one example in EXAMPLES_OF and
// about MUTANTS_EACH of its mutants, fewer where its launches run long (STEPS_MOST), others in the
// next slice (tests/support/slice.h). --whole takes all, in portions if the environment says so;
// then N of a thousand that count must be noticed. A slice has too few for that, and may hold the
// examples of which most survive: there each example has a limit of its own, see `survivors`.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mutate/barriers.h"
#include "tests/mutate/branches.h"
#include "tests/mutate/counters.h"
#include "tests/mutate/listing.h"
#include "tests/mutate/mutants.h"
#include "tests/mutate/rules.h"
#include "tests/mutate/subject.h"
#include "tests/mutate/waits.h"
#include "tests/support/portion.h"
#include "tests/support/slice.h"

// A text is looked at when at least LAUNCHES launches run it.
enum {
    SHAPES = 44,
    SUBJECTS = 3 * SHAPES,
    WORK_MOST = 500000,
    QUICK_WORK = 10000,
    EXAMPLES_OF = 32,
    MUTANTS_EACH = 32,
    MUTANTS_LEAST = 3,
    STEPS_MOST = 1500000,  // instructions of all mutants of a text in a slice, about
    LAUNCHES = 3
};
enum { NOTICED_LEAST = 980, OF = 1000 };

typedef struct Tally {
    uint64_t made, noticed, same;
} Tally;

typedef struct Session {
    Launcher launcher;
    Listing *listing;
    Portion portion;
    bool whole;
    const char *opcode;  // of the mutants to try: NULL: all
    uint64_t least;      // of a thousand
    bool print;
    bool amd;         // the device's vendor
    uint64_t number;  // of the next mutant
    uint64_t one_in;  // of a text's mutants, in a slice
    Tally kinds[MUTANT_KIND_COUNT];
    uint64_t broken;
} Session;

typedef struct Group {
    Subject *subjects[SUBJECTS];
    int count, tame;
    const Example *example;
    Dtype type;
} Group;

static void survived(const Group *g, const Mutant *m, Str text, const char *rule) {
    const char *begin = text.text + m->begin, *end = begin + m->size;
    while (begin > text.text && begin[-1] != '\n') begin--;
    while (end < text.text + text.size && *end != '\n') end++;
    printf("%s%s%s: %s %s:%u: %.*s %s: %.*s\n", rule ? "the same (" : "unexplained",
           rule ? rule : "", rule ? ")" : "", g->example->kernel, dtype_name(g->type), m->line,
           STR_ARG(m->opcode), m->change, (int)(end - begin), begin);
}

// A number's bits well mixed (splitmix64).
static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static bool chosen(Session *session, const Mutant *m) {
    uint64_t number = session->number++;
    if (session->opcode && !str_starts(m->opcode, str(session->opcode))) return false;
    return session->whole ? portion_has(session->portion, number)
                          : slice_has(mixed(number), session->one_in);
}

static void try_mutant(Session *session, const Group *g, const Mutant *m) {
    if (!chosen(session, m)) return;
    Arena *arena = arena_create();
    Str own = subject_text(g->subjects[0]), text = mutant_text(arena, own, m);
    bool noticed = false;
    const char *why;
    for (int i = 0; i < g->count && !noticed; i++)
        noticed = !subject_runs(g->subjects[i], text, &why);
    if (subject_could_not_read(g->subjects[0])) {
        printf("cannot be read (%s): ", why);
        survived(g, m, own, NULL);
        session->broken++;
    }
    Tally *tally = &session->kinds[m->kind];
    tally->made++;
    tally->noticed += noticed;
    const char *rule = rules_excuse(arena, own, m, subject_facts(g->subjects[0]));
    tally->same += !noticed && rule;
    if (!noticed) survived(g, m, own, rule);
    if (noticed && rule) {
        printf("noticed (%s), but excused: ", why);
        survived(g, m, own, rule);
        session->broken++;
    }
    arena_destroy(arena);
}

// How many mutants of a text a slice tries: fewer where its launches run long.
static uint64_t mutants_of_slice(const Group *g) {
    uint64_t steps = 1;
    for (int i = 0; i < g->count; i++) steps += subject_steps(g->subjects[i]);
    uint64_t affordable = STEPS_MOST / steps;
    if (affordable > MUTANTS_EACH) return MUTANTS_EACH;
    return affordable < MUTANTS_LEAST ? MUTANTS_LEAST : affordable;
}

static void try_group(Session *session, const Group *g, uint64_t texts) {
    Arena *arena = arena_create();
    Str text = subject_text(g->subjects[0]);
    if (session->print) printf("%.*s\n", STR_ARG(text));
    Mutants list = mutants_of(arena, text);
    session->one_in = list.count * texts / mutants_of_slice(g) + 1;
    while (session->one_in % 2 == 0) session->one_in++;  // no common factor with EXAMPLES_OF
    for (size_t i = 0; i < list.count; i++) try_mutant(session, g, &list.data[i]);
    arena_destroy(arena);
}

// ---- Launches ----

// Whether its reference can do without elements along a dimension.
static bool may_be_empty(const Example *example) {
    static const char *const cannot[] = {"route", "topk_rows"};
    for (size_t i = 0; i < sizeof cannot / sizeof *cannot; i++)
        if (!strcmp(example->kernel, cannot[i])) return false;
    return example->dims > 1;
}

// Whether an array without rows, the first extent, has programs.
static bool has_programs_without_rows(const Example *example) {
    return !strcmp(example->kernel, "column_max") || !strcmp(example->kernel, "groupnorm");
}

// Whether some of its inputs are others in wild runs.
static bool has_wild(const Example *example) {
    static const char *const rows[] = {"softmax", "softmax_long", "cross_entropy"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(example->kernel, rows[i])) return true;
    return example->dims > 2;
}

// With small tiles: ragged ones, below a tile and above; and even ones, for which there may be code
// of its own.
static int shapes_of(const Example *example, bool whole, Shape *shapes) {
    static const int64_t extents[EXAMPLE_MAX_DIMS][SHAPES][EXAMPLE_MAX_DIMS] = {
        {{5}, {9}, {70}, {103}, {211}, {330}, {603}, {1030}, {16}, {64}, {224}, {640}, {1}},
        {{2, 33}, {7, 45},  {70, 39}, {1, 47},  {9, 58},  {33, 63}, {3, 49},
         {5, 42}, {16, 48}, {3, 64},  {80, 32}, {3, 704}, {1, 48},  {1, 16},
         {1, 1},  {2, 0},   {5, 16},  {19, 64}, {1, 15},  {1, 300}, {1, 704},
         {1, 0},  {1, 301}, {2, 65},  {1, 34},  {2, 11},  {0, 48},  {0, 35}},
        {{2, 3, 5},    {17, 33, 40}, {40, 45, 70},  {3, 50, 101},  {5, 60, 7},   {17, 11, 14},
         {9, 35, 71},  {50, 4, 12},  {16, 16, 16},  {32, 64, 48},  {48, 32, 80}, {16, 96, 16},
         {1, 1, 48},   {1, 1, 37},   {9, 7, 0},     {16, 16, 64},  {5, 16, 32},  {21, 48, 16},
         {9, 16, 0},   {37, 32, 48}, {14, 0, 16},   {16, 0, 11},   {17, 22, 64}, {19, 31, 16},
         {21, 34, 12}, {14, 22, 16}, {14, 25, 10},  {9, 18, 9},    {5, 17, 34},  {3, 16, 11},
         {2, 2, 33},   {2, 8, 200},  {170, 40, 9},  {176, 64, 32}, {17, 40, 24}, {18, 12, 20},
         {39, 7, 24},  {18, 24, 40}, {144, 80, 16}, {16, 16, 0},   {0, 3, 16},   {0, 5, 7}},
        {{2, 3, 5, 4},     {3, 17, 33, 40}, {2, 40, 45, 70}, {1, 5, 20, 101}, {2, 5, 7, 31},
         {3, 17, 11, 14},  {1, 9, 35, 71},  {2, 50, 4, 12},  {2, 16, 16, 16}, {2, 32, 64, 48},
         {2, 48, 32, 80},  {1, 16, 96, 16}, {1, 5, 7, 33},   {1, 16, 16, 64}, {1, 3, 5, 0},
         {2, 5, 16, 32},   {1, 21, 48, 16}, {2, 9, 16, 0},   {2, 37, 32, 16}, {40, 1, 16, 16},
         {37, 1, 11, 35},  {9, 1, 16, 0},   {5, 1, 7, 0},    {1, 1, 16, 160}, {1, 1, 7, 165},
         {1, 9, 18, 9},    {1, 5, 17, 34},  {1, 3, 16, 11},  {1, 2, 8, 200},  {1, 170, 40, 9},
         {1, 176, 64, 32}, {2, 17, 40, 24}, {1, 18, 12, 20}, {1, 18, 24, 40}, {1, 144, 80, 16},
         {1, 16, 16, 0}}};
    int count = 0;
    for (int i = 0; i < SHAPES; i++) {
        Shape s = {0};
        double work = example->work;
        for (int d = 0; d < EXAMPLE_MAX_DIMS; d++) {
            s.n[d] = extents[example->dims - 1][i][d];
            if (d < example->dims) work *= (double)s.n[d];
        }
        bool rows = s.n[0] || (s.n[1] && has_programs_without_rows(example));
        if (rows && work <= (whole ? WORK_MOST : QUICK_WORK) && (work > 0 || may_be_empty(example)))
            shapes[count++] = s;
    }
    return count;
}

// Subjects with the same code are one group.
static void add_subject(Group *groups, int *count, const Group *like, Subject *s,
                        SubjectInputs inputs) {
    int at = 0;
    while (at < *count && !str_equal(subject_text(groups[at].subjects[0]), subject_text(s))) at++;
    if (at == *count) groups[(*count)++] = *like;
    groups[at].subjects[groups[at].count++] = s;
    groups[at].tame += inputs == SUBJECT_TAME;
}

static void open_subject(Session *session, Arena *arena, Group *groups, int *count,
                         const Group *like, const Shape *shape, SubjectInputs inputs) {
    const char *why;
    Subject *s = subject_open(arena, &session->launcher, session->listing, like->example, shape,
                              inputs, &why);
    if (s) add_subject(groups, count, like, s, inputs);
    if (s || !why) return;
    printf("%s %s: %s\n", like->example->kernel, dtype_name(like->type), why);
    session->broken++;
}

// Whether there may be code for rows that end at 16 bytes.
static bool has_wide_rows(const Example *example, const Shape *shape) {
    return shape->n[example->dims - 1] % 4 == 0;
}

static void tell_tally(const char *name, Tally t) {
    printf("%-24s %6llu mutants, %6llu noticed, %4llu the same program, %4llu unexplained\n", name,
           (unsigned long long)t.made, (unsigned long long)t.noticed, (unsigned long long)t.same,
           (unsigned long long)(t.made - t.noticed - t.same));
}

static Tally total(const Session *s) {
    Tally all = {0};
    for (int k = 0; k < MUTANT_KIND_COUNT; k++) {
        all.made += s->kinds[k].made, all.noticed += s->kinds[k].noticed;
        all.same += s->kinds[k].same;
    }
    return all;
}

// Examples with more survivors than one mutant in fifty in the whole run (docs/sim.md), in
// thousandths, on sm_80 and on gfx942. mandelbrot has 48 on sm_80, but in slices with a few points,
// all of which leave after the same number of steps, half (slice 20: 5 of 10).
typedef struct Survivors {
    const char *kernel;
    uint64_t nvidia, amd;
} Survivors;
static const Survivors survivors[] = {
    {"rope", 75, 136},         {"mandelbrot", 200, 375}, {"groupnorm", 39, 39},
    {"int4_matvec", 38, 38},   {"compact", 24, 34},      {"decode_attention", 34, 40},
    {"grouped_matmul", 0, 60},
};

// In a slice: more than twice the example's share of the whole run, or than one in twenty-five, and
// more than FEW beyond that.
static bool too_many_survive(const Session *s, const Example *example, Tally t) {
    enum { FEW = 3, USUAL = 40 };
    uint64_t limit = USUAL;
    for (size_t i = 0; i < sizeof survivors / sizeof *survivors; i++) {
        const Survivors *row = &survivors[i];
        uint64_t own = 2 * (s->amd ? row->amd : row->nvidia);
        if (!strcmp(example->kernel, row->kernel) && own > limit) limit = own;
    }
    return (t.made - t.noticed - t.same) * OF > t.made * limit + FEW * OF;
}

// Prints what an example added.
static void tell_example(Session *s, Arena *arena, const Group *like, Tally before, Tally after) {
    Tally own = {after.made - before.made, after.noticed - before.noticed,
                 after.same - before.same};
    const char *kernel = like->example->kernel, *type = dtype_name(like->type);
    if (own.made) tell_tally(arena_printf(arena, "example %s %s", kernel, type), own);
    if (s->whole || !too_many_survive(s, like->example, own)) return;
    printf("%s %s: too many survive\n", kernel, type);
    s->broken++;
}

static void try_example(Session *session, const Example *example, Dtype type) {
    Tally before = total(session);
    Arena *arena = arena_create();
    Shape shapes[SHAPES];
    Group groups[SUBJECTS], like = {.example = example, .type = type};
    int count = 0, all = shapes_of(example, session->whole, shapes);
    for (int i = 0; i < all; i++) {
        shapes[i].type = type;
        open_subject(session, arena, groups, &count, &like, &shapes[i], SUBJECT_TAME);
        if (has_wild(example) && i % 2 == 0)
            open_subject(session, arena, groups, &count, &like, &shapes[i], SUBJECT_WILD);
        if (has_wide_rows(example, &shapes[i]))
            open_subject(session, arena, groups, &count, &like, &shapes[i], SUBJECT_SHIFTED);
    }
    uint64_t texts = 0;
    for (int i = 0; i < count; i++) texts += groups[i].tame >= LAUNCHES;
    for (int i = 0; i < count; i++)
        if (groups[i].tame >= LAUNCHES) try_group(session, &groups[i], texts);
    tell_example(session, arena, &like, before, total(session));
    for (int i = 0; i < count; i++)
        for (int n = 0; n < groups[i].count; n++) subject_close(groups[i].subjects[n]);
    arena_destroy(arena);
}

// ---- The run ----

static int tell(const Session *s) {
    for (int k = 0; k < MUTANT_KIND_COUNT; k++)
        tell_tally(mutant_kind_name((MutantKind)k), s->kinds[k]);
    Tally all = total(s);
    tell_tally("all", all);
    bool enough = !s->whole || all.noticed * OF >= (all.made - all.same) * s->least;
    if (!enough) printf("less than %u of %d noticed\n", (unsigned)s->least, OF);
    return s->broken || !all.made || !enough;
}

static bool wanted(const Session *s, size_t example, int type) {
    uint64_t number = mixed(example * EXAMPLE_MAX_TYPES + (uint64_t)type);
    return s->whole || slice_has(number, EXAMPLES_OF);
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);  // hours: who waits sees how far it is
    Session session = {.portion = portion(), .least = NOTICED_LEAST};
    const char *only = NULL, *device = "sim:sm_80";
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--whole"))
            session.whole = true;
        else if (!strcmp(argv[i], "--print"))
            session.print = true;
        else if (!strcmp(argv[i], "--device") && i + 1 < argc)
            device = argv[++i];
        else if (!strcmp(argv[i], "--opcode") && i + 1 < argc)
            session.opcode = argv[++i];
        else if (!strcmp(argv[i], "--least") && i + 1 < argc)
            session.least = strtoull(argv[++i], NULL, 10);
        else
            only = argv[i];
    }
    session.amd = strstr(device, "gfx") != NULL;
    Arena *arena = arena_create();
    const char *bad = facts_fail(arena);
    if (!bad) bad = rules_fail(arena);
    if (!bad) bad = waits_fail(arena);
    if (!bad) bad = barriers_fail(arena);
    if (!bad) bad = branches_fail(arena);
    if (!bad) bad = counters_fail(arena);
    if (bad) printf("rules: %s\n", bad);
    session.broken += bad != NULL;
    arena_destroy(arena);
    const char *wrong = launcher_open(&session.launcher, device);
    if (!wrong) session.listing = listing_open();
    if (!wrong && !session.listing) wrong = "there is no disassembler";
    if (wrong) {
        printf("%s: %s\n", device, wrong);
        return 1;
    }
    for (size_t i = 0; i < example_count; i++)
        for (int t = 0; t < example_table[i].type_count; t++)
            if (only ? !strcmp(only, example_table[i].kernel) : wanted(&session, i, t))
                try_example(&session, &example_table[i], example_table[i].types[t]);
    launcher_close(&session.launcher);
    listing_close(session.listing);
    return tell(&session);
}
