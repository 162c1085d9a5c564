// Diagnostics as bytes: the report of a child process (base/wire.h).
//
// Invariants: severity, code, place, text, help and notes are the same after reading; bytes that
// are not diagnostics fail the reader. Ownership: what is read is in the arena of the diagnostics.
//
//     wire_put_diags(&out, diags, 0);   …   wire_diags(&reader, diags);
#ifndef TILEC_COMPILE_PIPELINE_DIAG_WIRE_H
#define TILEC_COMPILE_PIPELINE_DIAG_WIRE_H

#include "base/diag.h"
#include "base/wire.h"

// Writes those from number `first` on.
void wire_put_diags(StrBuf *out, const Diags *diags, size_t first);
void wire_diags(WireReader *r, Diags *diags);

#endif
