// Writes docs/explain.md from the tables of reasons and of launch facts.
//
//     gen_explain_docs docs/explain.md           writes it
//     gen_explain_docs --check docs/explain.md   fails when the file is not what would be written
#include "base/facts.h"
#include "ir/remark.h"
#include "scripts/gen/page.h"

static const char head[] =
    "<!-- Generated from ir/reasons.def and base/facts.def by scripts/gen/explain_docs.c (the "
    "program "
    "gen_explain_docs): do not edit. -->\n"
    "# What a kernel costs, and why\n"
    "\n"
    "    tilec explain matmul.tile matmul --target sm_80 --set T=f16\n"
    "\n"
    "compiles one specialisation as a launch would and shows, of that very code ([cli.md]"
    "(cli.md#tilec-explain) has the options):\n"
    "\n"
    "- **the variant**: what the code rests on beyond the kernel's `requires`; `--variant 0` is "
    "the "
    "one that takes any launch;\n"
    "- **resources**: on GPUs threads, shared memory, and how many programs and warps a "
    "multiprocessor runs at once; registers and spills where NVIDIA's `ptxas` is found. On AMD's "
    "GPUs "
    "the code object says how many vector registers a thread has (accumulators are among them), "
    "how many scalar ones a wave, what spills, and how much scratch memory there is. On CPUs "
    "vector registers, scratch memory of each thread, bytes of code;\n"
    "- **operations** of one turn of each loop, inner loops not counted, in the order of the code: "
    "a "
    "loop of the source may become several;\n"
    "- **what was chosen**, and **what was not done**: remarks of the passes and of the code "
    "generator, each with its place in the source, its numbers, and what to change.\n"
    "\n"
    "`--json` has all of it as data, `--only CODE` shows one kind of remark, `--svg FILE` draws "
    "who "
    "holds what of each tile.\n"
    "\n"
    "A remark is no warning: a kernel may be as fast as the machine allows with several of them. "
    "Sectors are counted for one request of one warp of a tile that lies inside, its rows at "
    "multiples of 32 bytes; bank conflicts are computed from the layouts. Remarks "
    "say warp where AMD says wave, and multiprocessor for what is a compute unit there, or for "
    "RDNA a work-group processor: two of them with one shared memory. What runs is seen by "
    "`tilec run --device sim:…` and its observers ([sim.md](sim.md)).\n"
    "\n"
    "## How remarks are made\n"
    "\n"
    "Whoever decides says so: `remark(context->remarks, op->span, REASON_…, subject, "
    "REMARK(numbers…))` where the decision is made (`ir/remark.h`); without a list of remarks that "
    "is a comparison with NULL. Their list is closed: one table, `ir/reasons.def`, from which "
    "codes, "
    "texts, names of numbers and this page derive. Each has a filetest, "
    "`tests/files/explain/<code>.tile`, with a kernel that has the remark and one that has not.\n";

static void add_reasons(StrBuf *out, ReasonKind kind) {
    strbuf_add(out, kind == REASON_DONE
                        ? STR("\n## What was chosen\n\n| code | remark |\n|---|---|\n")
                        : STR("\n## What was not done\n\n| code | remark | what to change |\n"
                              "|---|---|---|\n"));
    for (int i = 0; i < REASONS; i++) {
        const ReasonInfo *info = reason_info((Reason)i);
        if (info->kind != kind) continue;
        strbuf_printf(out, "| `%s` | %s |", info->slug, info->text);
        if (kind == REASON_MISSED) strbuf_printf(out, " %s |", info->help);
        strbuf_char(out, '\n');
    }
}

static void add_facts(StrBuf *out) {
    strbuf_add(out, STR("\n## What a variant may rest on\n\n"
                        "A launch fact, beyond the kernel's `requires`. The guard of the variant "
                        "says whether it holds of a launch. The names stand in metadata.\n\n"
                        "| fact | what `explain` says |\n|---|---|\n"));
    for (size_t i = 0; i < FACTS; i++)
        strbuf_printf(out, "| `%s` | %s |\n", launch_facts[i].name, launch_facts[i].text);
}

static void add_page(StrBuf *out) {
    strbuf_add(out, str(head));
    add_facts(out);
    add_reasons(out, REASON_DONE);
    add_reasons(out, REASON_MISSED);
}

int main(int argc, char **argv) { return page_main(argc, argv, add_page); }
