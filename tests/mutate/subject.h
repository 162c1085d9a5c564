// One launch of an example on a simulated GPU, kept so that it can be done again with other code.
//
// Purpose: the example runs through the public API once; what the device saw of it (text, packed
// arguments, buffers) is kept. Invariants: buffers keep their addresses while the subject lives, so
// the packed arguments stay right; each run begins with the bytes that the first began with.
// Ownership: subject_close.
//
//     Subject *s = subject_open(arena, &launcher, listing, example, &shape, SUBJECT_TAME,
//                               &why);
//     if (subject_runs(s, s->text, &why)) …   // as it should
#ifndef TILEC_TESTS_MUTATE_SUBJECT_H
#define TILEC_TESTS_MUTATE_SUBJECT_H

#include "base/str.h"
#include "tests/examples/launch.h"
#include "tests/mutate/facts.h"
#include "tests/mutate/listing.h"

typedef struct Subject Subject;

typedef enum SubjectInputs {
    SUBJECT_TAME,
    SUBJECT_WILD,    // factors of products have NaNs among them, which must not spread
    SUBJECT_SHIFTED  // tame, but no array begins at 16 bytes: that code takes all shapes
} SubjectInputs;

// NULL when nothing was launched or it went wrong; `why` says what, NULL: the grid was empty or the
// device cannot run it.
Subject *subject_open(Arena *arena, Launcher *launcher, Listing *listing, const Example *example,
                      const Shape *shape, SubjectInputs inputs, const char **why);
void subject_close(Subject *s);
const Facts *subject_facts(const Subject *s);
uint64_t subject_steps(const Subject *s);  // of its launch: warps' instructions
Str subject_text(const Subject *s);        // of AMD's code a listing (listing.h)
// Whether the text, in place of the example's own, still does what the example should: no finding
// (also where arrays overlap), right results (also where more programs run than the kernel asks
// for, or where another thread's change comes before a compare-and-swap), no more bytes moved or
// instructions run. Else `why` says what was noticed.
bool subject_runs(Subject *s, Str text, const char **why);
bool subject_could_not_read(const Subject *s);  // the last text is not a mutant

#endif
