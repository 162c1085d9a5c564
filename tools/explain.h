// The output of `tilec explain`: as text, as members of the JSON object, as a drawing.
//
// Invariants: all three show the same facts in the same order. Ownership: the command's arena.
//
//     explain_text(cli, unit, &e, &out);
#ifndef TILEC_TOOLS_EXPLAIN_H
#define TILEC_TOOLS_EXPLAIN_H

#include "compile/report/explain.h"
#include "tools/cli.h"

// explain_text.c
void explain_text(const Cli *cli, const Unit *unit, const Explain *e, StrBuf *out);
// Prints the remarks of one reason, or that there is none.
void explain_text_only(const Cli *cli, const Unit *unit, const Explain *e, Reason only,
                       StrBuf *out);
// Appends the facts that the variant assumes, in words.
void explain_variant_text(const Explain *e, StrBuf *out);
const char *explain_limit_name(OccupancyLimit limit);

// explain_json.c
void explain_json(Json *j, const Unit *unit, const Explain *e);
void explain_json_remarks(Json *j, const Unit *unit, const Explain *e, const Reason *only);

// explain_svg.c: draws every layout of the kernel's tiles, one below the other.
void explain_svg(const Unit *unit, const Explain *e, StrBuf *out);

#endif
