// Match: diagnostics as JSON against the expectations of a file, one to one.
//
// Invariants: a diagnostic meets an expectation when line, column, severity and code are equal and
// its message contains the fragment; each is used once. Everything left over is reported in the
// form in which it would be written into the file.
//
//     if (!match_diagnostics(arena, json, "a.tile", &script, &report)) …
#ifndef TILEC_TESTS_SUPPORT_MATCH_H
#define TILEC_TESTS_SUPPORT_MATCH_H

#include "tests/support/script.h"

bool match_diagnostics(Arena *arena, Str json, Str file, Script *script, StrBuf *report);
// How many of the expectations are errors; they decide the exit status.
size_t match_errors_expected(const Script *script);

#endif
