// Wire: numbers and texts as bytes, for cache entries, answers of child processes, and archives.
//
// Invariants: little endian; numbers have 8 bytes; a text follows its length. The same values give
// the same bytes. Reading never goes beyond the end: a reader that ran out returns 0 and empty
// texts and sets `failed`, which the caller checks once, at the end.
// Ownership: texts point into the bytes read.
//
//     WireReader r = {.bytes = bytes};
//     uint64_t n = wire_number(&r);  Str name = wire_text(&r);
//     if (r.failed) …
#ifndef TILEC_BASE_WIRE_H
#define TILEC_BASE_WIRE_H

#include "base/str.h"

void wire_put_number(StrBuf *out, uint64_t number);
void wire_put_text(StrBuf *out, Str text);

typedef struct WireReader {
    Str bytes;
    size_t at;
    bool failed;
} WireReader;

uint64_t wire_number(WireReader *r);
// A number below `limit`, at most 2^32; 0 and failed when it is not.
uint32_t wire_below(WireReader *r, uint64_t limit);
// A count of things of at least one byte each; 0 and failed when that many bytes do not follow.
uint32_t wire_count(WireReader *r);
Str wire_text(WireReader *r);
bool wire_ended(const WireReader *r);  // everything was read, and nothing failed

#endif
