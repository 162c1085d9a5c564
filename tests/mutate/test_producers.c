// Warps that only copy (the option `producers`): each part of their protocol with the program's
// warps is needed. Mutants of a product's PTX for sm_90a, of its barriers, waits, copies and
// counts, are noticed, by an observer of the warp machine, by wrong results, or because they never
// end.
//
//     test_producers [--whole] [--print]
//
// A slice takes some of the mutants (tests/support/slice.h).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mutate/mutants.h"
#include "tests/mutate/statements.h"
#include "tests/mutate/subject.h"
#include "tests/support/slice.h"

enum { SLICE = 8 };

// The kernel runs with many steps, several times round the ring; with one more, which ends in
// another slot; and with fewer than there are slots, where other code is executed, and the producer
// orders less.
enum { MANY, MORE, FEW, RUNS };

typedef struct Case {
    const char *name;
    Shape shape;
    int64_t step;  // along K
    int64_t few;   // the extent of K with few steps
    bool several;  // tiles a program
    tilec_spec_entry options[LAUNCHER_OPTIONS];
} Case;

#define CONST(text, number) \
    { .kind = TILEC_SPEC_CONST, .name = text, .value = number }
#define OPTION(text, number) \
    { .kind = TILEC_SPEC_OPTION, .name = text, .value = number }

// One tile a program, 21, 22 or 3 steps with 4 slots; and persistent programs of several tiles,
// whose producers trade registers, 11, 12 or 2 steps.
static const Case cases[] = {
    {"one tile",
     {.type = DTYPE_F16, .n = {120, 72, 328}, .own_tiles = true},
     16,
     40,
     false,
     {CONST("BN", 64), CONST("BK", 16), OPTION("warps", 8), OPTION("producers", 1)}},
    {"persistent",
     {.type = DTYPE_F16, .n = {640, 256, 352}, .own_tiles = true},
     32,
     64,
     true,
     {CONST("BN", 256), CONST("BK", 32), OPTION("warps", 8), OPTION("producers", 4)}},
};

typedef struct Tally {
    uint64_t made, noticed, excused;
} Tally;

static bool begins(const Statement *s, const char *with) { return statement_is(s, with); }

// The change of a statement: a text in place of a part of it. False: it has no such change.
static bool change(Arena *arena, const Statement *s, int number, Str *part, Str *by) {
    int64_t count;
    Str last = s->operand_count ? s->operands[s->operand_count - 1] : (Str){0};
    static const char *const gone[] = {"bar.",          "barrier.",     "mbarrier.arrive",
                                       "wgmma.wait",    "wgmma.commit", "wgmma.fence",
                                       "cp.async.bulk", "setmaxnreg",   "mbarrier.init"};
    bool counts = begins(s, "mbarrier.init") || begins(s, "mbarrier.arrive.expect");
    *part = s->whole;
    *by = STR("");
    if (number == 0) {
        // The repetition of a wait: what it waits for may not have happened.
        if (s->guard.size && begins(s, "bra") && statement_has(s->rest, "again")) return true;
        for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
            if (begins(s, gone[i])) return true;
        return false;
    }
    if (!counts || number > 2 || !statement_number(last, &count)) return false;
    *part = last;
    *by = str(arena_printf(arena, "%lld", (long long)count + (number == 1 ? 1 : -1)));
    return true;
}

static bool waits_for(const Statement *s, Str ahead) {
    return begins(s, "wgmma.wait") && s->operand_count == 1 && str_equal(s->operands[0], ahead);
}

// Where a loop ends, the products of its last step are waited for twice: between the loop and the
// code after it, and where the sums are used (codegen/nvptx/wgmma.c). Without setmaxnreg.inc a warp
// has fewer registers than its code needs, which only ptxas knows. It also wants a fence for each
// group of products, but sums that were left in flight need none. Slots of a program's last steps,
// whose products are the last of the text, are free for nothing if no tile follows.
static bool is_excused(const Case *c, const Statements *list, size_t at) {
    const Statement *s = &list->data[at];
    size_t before = at, after = at;
    if (waits_for(s, STR("0")) || begins(s, "setmaxnreg.inc")) return true;
    while (before && !begins(&list->data[before - 1], "wgmma.")) before--;
    if (begins(s, "wgmma.fence") && before && waits_for(&list->data[before - 1], STR("1")))
        return true;
    while (after < list->count && !begins(&list->data[after], "wgmma.mma")) after++;
    bool frees = waits_for(s, STR("1")) || begins(s, "mbarrier.arrive.shared");
    return frees && after == list->count && !c->several;
}

static bool is_noticed(Subject *const *s, Str text, const char **why) {
    for (int i = 0; i < RUNS; i++)
        if (!subject_runs(s[i], text, why)) return true;
    return false;
}

static Tally try_all(const Case *c, Subject *const *s, bool whole, bool print) {
    Tally t = {0};
    Arena *arena = arena_create();
    Str text = subject_text(s[MANY]);
    Statements list = statements_of(arena, text);
    if (print) printf("%.*s\n", STR_ARG(text));
    uint64_t at = 0;
    for (size_t i = 0; i < list.count; i++)
        for (int number = 0; number < 3; number++) {
            const Statement *statement = &list.data[i];
            Str part, by;
            const char *why = NULL;
            if (!change(arena, statement, number, &part, &by)) continue;
            if (!whole && !slice_has(at++ * 5, SLICE)) continue;
            Mutant m = {.begin = (size_t)(part.text - text.text), .size = part.size, .by = by};
            bool noticed = is_noticed(s, mutant_text(arena, text, &m), &why);
            bool excused = !noticed && is_excused(c, &list, i);
            t.made++;
            t.noticed += noticed;
            t.excused += excused;
            if (print && noticed) printf("noticed: %.*s: %s\n", STR_ARG(statement->whole), why);
            if (noticed || excused) continue;
            printf("%s: not noticed, line %u: %.*s -> '%.*s'\n", c->name, statement->line,
                   STR_ARG(statement->whole), STR_ARG(by));
        }
    arena_destroy(arena);
    return t;
}

static bool fails(Launcher *launcher, const Case *c, bool whole, bool print) {
    const char *why;
    Arena *arena = arena_create();
    const Example *example = example_table;
    while (strcmp(example->kernel, "matmul") != 0) example++;
    launcher->options = c->options;
    launcher->option_count = LAUNCHER_OPTIONS;
    Shape more = c->shape, few = c->shape;
    more.n[2] += c->step;
    few.n[2] = c->few;
    const Shape *shapes[] = {&c->shape, &more, &few};
    Subject *s[RUNS];
    for (int i = 0; i < RUNS; i++) {
        s[i] = subject_open(arena, launcher, NULL, example, shapes[i], SUBJECT_TAME, &why);
        if (s[i]) continue;
        printf("%s: %s\n", c->name, why ? why : "cannot run");
        return true;
    }
    Str text = subject_text(s[MANY]);
    bool copies = strstr(text.text, "cp.async.bulk.tensor") != NULL;
    bool arrives = strstr(text.text, "mbarrier.arrive.shared") != NULL;
    if (!str_equal(text, subject_text(s[MORE])) || !str_equal(text, subject_text(s[FEW]))) {
        printf("%s: other code for other steps\n", c->name);
        return true;
    }
    Tally t = try_all(c, s, whole, print);
    printf("%-12s %4llu mutants, %4llu noticed, %2llu excused\n", c->name,
           (unsigned long long)t.made, (unsigned long long)t.noticed,
           (unsigned long long)t.excused);
    if (!copies || !arrives) printf("%s: no warp only copies\n", c->name);
    for (int i = 0; i < RUNS; i++) subject_close(s[i]);
    arena_destroy(arena);
    return !copies || !arrives || !t.noticed || t.noticed + t.excused != t.made;
}

int main(int argc, char **argv) {
    bool whole = false, print = false, failed = false;
    for (int i = 1; i < argc; i++) {
        whole |= !strcmp(argv[i], "--whole");
        print |= !strcmp(argv[i], "--print");
    }
    Launcher launcher = {0};
    const char *why = launcher_open(&launcher, "sim:sm_90a:7");
    if (why) return printf("%s\n", why), 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        failed |= fails(&launcher, &cases[i], whole, print);
    launcher_close(&launcher);
    return failed;
}
