// AMD's code as a text that can be changed: the disassembler's lines, read back in its place.
//
// Purpose: mutants of code objects need no assembler; the warp machine decodes the lines that the
// disassembler gives it, and here these are a listing. Invariants: a listing begins with
// LISTING_BEGIN, the processor and the address of its kernel, then has one line for each
// instruction, "OFFSET SIZE: text"; other kernels of the object stay as they are. One Listing
// serves one caller at a time. Ownership: listing_close; a listing that is taken belongs to the
// arena that is given.
//
//     image.disassemble = listing_taker(l);             // … load: the code's listing is
//     Str listing = listing_taken(l, arena);
//     image.disassemble = listing_reader(l, changed);   // … load: the code is what `changed` says
#ifndef TILEC_TESTS_MUTATE_LISTING_H
#define TILEC_TESTS_MUTATE_LISTING_H

#include "base/gpu_code.h"

#define LISTING_BEGIN "; listing "

typedef struct Listing Listing;

Listing *listing_open(void);  // NULL: there is no disassembler
void listing_close(Listing *l);
GpuDisassembler listing_taker(Listing *l);
Str listing_taken(const Listing *l, Arena *arena);
GpuDisassembler listing_reader(Listing *l, Str given);  // until another is given

#endif
