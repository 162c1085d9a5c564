// All that can be read of an archive, damaged ones too: for tests and the fuzzer.
//
// Invariants: archive_walk reads what the runtime reads: the index, every group, the table; what it
// adds to the text is the same for the same archive at any address. No ownership.
//
//     archive_repair(bytes, size);              // right checksums around whatever is there
//     StrBuf text = strbuf(arena);
//     bool whole = archive_walk(&data, &text);  // false: something was refused
#ifndef TILEC_TESTS_SUPPORT_ARCHIVE_WALK_H
#define TILEC_TESTS_SUPPORT_ARCHIVE_WALK_H

#include "runtime/archive.h"

struct tilec_archive archive_of_bytes(const void *bytes, size_t size);
bool archive_walk(const struct tilec_archive *data, StrBuf *out);
// Checksums of groups, index and head, as far as these are within the bytes.
void archive_repair(uint8_t *bytes, size_t size);

#endif
