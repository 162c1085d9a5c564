// The Triton front end: Python files with @triton.jit functions.
//
// Purpose: makes a .py file a source like a .tile file. No Python runs: the file is parsed, names
// are resolved on demand, and jit functions are elaborated to tile IR. Invariants: as
// frontend/frontend.h says. Ownership: the arena of the FrontInput.
#ifndef TILEC_FRONTEND_TRITON_TRITON_H
#define TILEC_FRONTEND_TRITON_TRITON_H

#include "frontend/frontend.h"

extern const Frontend triton_frontend;

#endif
