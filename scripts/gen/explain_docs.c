// Writes the tables of docs/explain.md: launch facts and the reasons of remarks.
//
//     gen_explain_docs docs/explain.md           writes them
//     gen_explain_docs --check docs/explain.md   fails when they are not up to date
#include "base/facts.h"
#include "ir/remark.h"
#include "scripts/gen/page.h"

static void add_reasons(StrBuf *out, ReasonKind kind) {
    strbuf_add(out, kind == REASON_DONE
                        ? STR("| code | remark |\n|---|---|\n")
                        : STR("| code | remark | what to change |\n|---|---|---|\n"));
    for (int i = 0; i < REASONS; i++) {
        const ReasonInfo *info = reason_info((Reason)i);
        if (info->kind != kind) continue;
        strbuf_printf(out, "| `%s` | %s |", info->slug, info->text);
        if (kind == REASON_MISSED) strbuf_printf(out, " %s |", info->help);
        strbuf_char(out, '\n');
    }
}

static void add_done(StrBuf *out) { add_reasons(out, REASON_DONE); }

static void add_missed(StrBuf *out) { add_reasons(out, REASON_MISSED); }

static void add_facts(StrBuf *out) {
    strbuf_add(out, STR("| fact | what `explain` says |\n|---|---|\n"));
    for (size_t i = 0; i < FACTS; i++)
        strbuf_printf(out, "| `%s` | %s |\n", launch_facts[i].name, launch_facts[i].text);
}

static const PagePart parts[] = {
    {"facts", add_facts},
    {"done", add_done},
    {"missed", add_missed},
};

int main(int argc, char **argv) {
    return page_main(argc, argv, parts, sizeof parts / sizeof *parts);
}
