// Metadata as bytes, in archives of kernels and entries of the cache.
//
// Invariants: the same metadata gives the same bytes. Reading gives the same metadata or fails:
// every index is checked against its array, offsets and sizes against the layout (meta.h), and
// launch code is validated. Texts point into the bytes read, except those that C needs with a NUL.
// The bytes are part of the archive's format (docs/archive.md). Only variants with FACT_MAPPED have
// fields that are newer than format 1. No ownership: the arena given.
//
//     meta_write(meta, &out);   …   MetaKernel *meta = meta_read(&reader, arena);   // NULL: failed
#ifndef TILEC_RUNTIME_META_WIRE_H
#define TILEC_RUNTIME_META_WIRE_H

#include "base/wire.h"
#include "runtime/meta.h"

void meta_write(const MetaKernel *meta, StrBuf *out);
MetaKernel *meta_read(WireReader *r, Arena *arena);

// Does the metadata have fields that are newer than format 1?
bool meta_is_newer(const MetaKernel *meta);

void meta_write_map(const MetaMap *map, StrBuf *out);
void meta_read_map(WireReader *r, MetaMap *map);
void meta_write_site(const MetaSite *site, StrBuf *out);
void meta_read_site(WireReader *r, Arena *arena, MetaSite *site);

#endif
