// Wire: numbers and texts as bytes, for entries of the cache, answers of child processes, archives.
//
// Invariants: little endian, numbers of 8 bytes, texts behind their length; the same values give
// the same bytes. Reading never goes beyond the end: a reader that ran out gives 0 and empty texts
// and says so in `failed`, which is looked at once, at the end. Ownership: texts point into the
// bytes read.
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
// A count of things that take at least a byte each; 0 and failed when so many cannot follow.
uint32_t wire_count(WireReader *r);
Str wire_text(WireReader *r);
bool wire_ended(const WireReader *r);  // all read, and nothing failed

#endif
