// tilec opt FILE.tir --passes=…: runs passes on IR text, for people who work on passes.
#include <stdio.h>

#include "base/os.h"
#include "compile/compile.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "tools/cli.h"

static const CliOption options[] = {
    {"passes", "LIST", "passes and pipelines in order: simplify,cse,dce or tile", false},
    {"dump-after", "LIST", "print the IR after these passes too (all: after each)", false},
    {"verify", NULL, "verify after each pass (always done before and at the end)", false},
    {"time-passes", NULL, "print what each pass took, on standard error", false},
    {"o", "OUT", "write there instead of standard output", false},
};

typedef struct Work {
    Cli *cli;
    Sources *sources;
    Diags *diags;
    StrBuf out;
} Work;

static void dump(void *user, PassId pass, const IrFunc *f) {
    Work *w = user;
    strbuf_printf(&w->out, "// after %s\n", pass_info(pass)->text);
    ir_print_func(f, &w->out);
}

static void print_timings(const PassTimings *timings) {
    for (size_t i = 0; i < timings->count; i++) {
        const PassTiming *t = &timings->data[i];
        fprintf(stderr, "%10.1f us  %-12s %s, %u ops\n", (double)t->ns / 1000,
                pass_info(t->pass)->text, t->changed ? "changed" : "same", t->ops_after);
    }
}

static bool parse_dumps(Work *w, PassOptions *o) {
    Str list = cli_value(w->cli, "dump-after");
    if (!list.size) return true;
    o->dump = dump;
    o->user = w;
    if (str_equal(list, STR("all"))) {
        o->dump_all = true;
        return true;
    }
    size_t n;
    const PassStep *steps = passes_parse(w->cli->arena, list, &n, w->diags);
    if (!steps) return false;
    PassId *ids = arena_new(w->cli->arena, PassId, n + 1);
    for (size_t i = 0; i < n; i++) ids[i] = steps[i].pass;
    o->dump_after = ids;
    o->dump_after_count = n;
    return true;
}

static int optimize(Work *w, IrModule *m) {
    PassOptions o = {.verify = cli_has(w->cli, "verify")};
    PassTimings timings = {0};
    if (cli_has(w->cli, "time-passes")) o.timings = &timings;
    size_t n = 0;
    Str list = cli_value(w->cli, "passes");
    const PassStep *steps = list.size ? passes_parse(w->cli->arena, list, &n, w->diags) : NULL;
    if ((list.size && !steps) || !parse_dumps(w, &o)) {
        cli_diags(w->cli, w->diags);
        return EXIT_USAGE;
    }
    bool good = !steps || passes_run(m, steps, n, &o, w->diags);
    print_timings(&timings);
    if (good && !ir_verify(m, w->diags)) {
        cli_diags(w->cli, w->diags);
        return EXIT_DEFECT;  // the passes broke what was whole before
    }
    if (!good) {
        cli_diags(w->cli, w->diags);
        return EXIT_INPUT;
    }
    ir_print_module(m, &w->out);
    return cli_output(w->cli, strbuf_str(&w->out));
}

static int run(Cli *cli) {
    Arena *arena = cli->arena;
    Work w = {.cli = cli, .sources = sources_create(arena), .out = strbuf(arena)};
    w.diags = diags_create(arena, w.sources);
    Str path = cli->operands.data[0], text;
    OsError error;
    if (!os_read_file(arena, arena_text(arena, path.text, path.size), SOURCE_MAX, &text, &error)) {
        diag_error(w.diags, (Span){0}, DIAG_IO, "cannot read '%.*s': %s", STR_ARG(path),
                   error.text);
        cli_diags(cli, w.diags);
        return EXIT_INPUT;
    }
    const SourceFile *file = source_add(w.sources, path, text);
    IrModule *m = ir_parse(arena, w.sources, interner_create(arena), file, w.diags);
    if (!m || !ir_verify(m, w.diags)) {
        diags_sort(w.diags);
        cli_diags(cli, w.diags);
        return EXIT_INPUT;
    }
    return optimize(&w, m);
}

const CliCommand command_opt = {
    .name = "opt",
    .usage = "FILE.tir [options]",
    .summary = "run passes on the text form of the IR",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
