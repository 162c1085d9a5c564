// Metadata as bytes: what archives of kernels and entries of the cache say of their code.
//
// Invariants: the same metadata gives the same bytes; what is read back is the same, number by
// number, or the reader has failed: every index is within what it points into, offsets and sizes
// are those of the layout (meta.h), launch code is valid. Texts point into the bytes read, but for
// those that C wants with a NUL. The bytes are part of archive format 1 (docs/archive.md). No
// ownership: the arena given.
//
//     meta_write(meta, &out);   …   MetaKernel *meta = meta_read(&reader, arena);   // NULL: failed
#ifndef TILEC_RUNTIME_META_WIRE_H
#define TILEC_RUNTIME_META_WIRE_H

#include "base/wire.h"
#include "runtime/meta.h"

void meta_write(const MetaKernel *meta, StrBuf *out);
MetaKernel *meta_read(WireReader *r, Arena *arena);

void meta_write_site(const MetaSite *site, StrBuf *out);
void meta_read_site(WireReader *r, Arena *arena, MetaSite *site);

#endif
