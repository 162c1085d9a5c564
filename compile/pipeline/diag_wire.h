// Diagnostics as bytes: what a child process has to say (base/wire.h).
//
// Invariants: severity, code, place, text, help and notes come out as they went in; bytes that are
// none fail the reader. Ownership: what is read is in the arena of the diagnostics.
//
//     wire_put_diags(&out, diags, 0);   …   wire_diags(&reader, diags);
#ifndef TILEC_COMPILE_PIPELINE_DIAG_WIRE_H
#define TILEC_COMPILE_PIPELINE_DIAG_WIRE_H

#include "base/diag.h"
#include "base/wire.h"

// From number `first` on.
void wire_put_diags(StrBuf *out, const Diags *diags, size_t first);
void wire_diags(WireReader *r, Diags *diags);

#endif
