// Writes the tables of docs/triton.md: the functions of triton.language that kernels may call.
//
//     gen_triton_docs docs/triton.md           writes them
//     gen_triton_docs --check docs/triton.md   fails when they are not up to date
#include <string.h>

#include "scripts/gen/page.h"

typedef struct Function {
    const char *name, *parameters;
} Function;

static const Function functions[] = {
#define TL(name, parameters, body, which) {name, parameters},
#include "frontend/triton/tl/tl.def"
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

static bool is_internal(const Function *f) { return f->name[0] == '_'; }

// Functions with the same parameters share a row.
static void add_functions(StrBuf *out) {
    strbuf_add(out, STR("| functions | parameters |\n|---|---|\n"));
    bool done[FUNCTIONS] = {false};
    for (size_t i = 0; i < FUNCTIONS; i++) {
        if (done[i] || is_internal(&functions[i])) continue;
        const char *parameters = functions[i].parameters;
        for (size_t k = i; k < FUNCTIONS; k++) {
            if (is_internal(&functions[k]) || strcmp(functions[k].parameters, parameters) != 0)
                continue;
            strbuf_printf(out, k == i ? "| `%s`" : ", `%s`", functions[k].name);
            done[k] = true;
        }
        strbuf_printf(out, *parameters ? " | `%s` |\n" : " | none%s |\n", parameters);
    }
}

static const PagePart parts[] = {{"functions", add_functions}};

int main(int argc, char **argv) {
    return page_main(argc, argv, parts, sizeof parts / sizeof *parts);
}
