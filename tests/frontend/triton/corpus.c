// corpus FILE…: checks each kernel of each file alone, and prints one line for each:
//     ok    FILE kernel
//     CODE  FILE:LINE kernel: message
// The last line counts. Errors of grammar are printed as kernel '-'.
#include <stdio.h>

#include "base/source.h"
#include "compile/pipeline/compile.h"
#include "frontend/frontend.h"

typedef struct Counts {
    size_t files, broken, kernels, good;
} Counts;

static void print_error(const Unit *u, const Diags *diags, Str path, const char *kernel) {
    for (size_t i = 0; i < diags_count(diags); i++) {
        const Diag *d = diags_get(diags, i);
        if (d->severity != DIAG_ERROR) continue;
        SourceLine at = source_line(u->sources, d->span.begin);
        printf("%-14s %.*s:%u %s: %.*s\n", diag_slug(d->code), STR_ARG(path), at.line, kernel,
               STR_ARG(d->text));
        return;
    }
    printf("%-14s %.*s:0 %s: no message\n", "defect", STR_ARG(path), kernel);
}

static void check_file(const char *path, Counts *counts) {
    Unit *u = unit_load_file(path);
    counts->files++;
    if (!u->file || diags_errors(u->diags)) {
        counts->broken++;
        print_error(u, u->diags, str(path), "-");
        unit_destroy(u);
        return;
    }
    for (size_t i = 0; i < u->file->kernel_count; i++) {
        const FrontKernel *k = &u->file->kernels[i];
        Diags *diags = diags_create(u->arena, u->sources);
        FrontFile alone = *u->file;
        alone.kernels = k;
        alone.kernel_count = 1;
        bool good = frontend_check(&alone, diags);
        counts->kernels++;
        counts->good += good;
        if (good)
            printf("%-14s %s %s\n", "ok", path, k->name);
        else
            print_error(u, diags, str(path), k->name);
        fflush(stdout);
    }
    unit_destroy(u);
}

int main(int argc, char **argv) {
    Counts counts = {0};
    for (int i = 1; i < argc; i++) check_file(argv[i], &counts);
    printf("%zu files, %zu of them with errors of grammar; %zu of %zu kernels accepted\n",
           counts.files, counts.broken, counts.good, counts.kernels);
    return 0;
}
