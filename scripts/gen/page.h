// A page of docs/ that is written from a table: what the programs that write them share.
//
// Purpose: `gen_NAME_docs FILE` writes the page, `gen_NAME_docs --check FILE` says whether the file
// is what the table says. Ownership: everything is in the page's arena.
//
//     int main(int argc, char **argv) { return page_main(argc, argv, add_page); }
#ifndef TILEC_SCRIPTS_GEN_PAGE_H
#define TILEC_SCRIPTS_GEN_PAGE_H

#include "base/str.h"

// `add` appends the whole page. The status is the process's: 0, 1 (not written, or another text), 2
// (wrong arguments).
int page_main(int argc, char **argv, void (*add)(StrBuf *out));

#endif
