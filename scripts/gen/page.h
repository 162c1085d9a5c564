// Pages of docs/ with tables that are written from the compiler's own tables.
//
// Purpose: a page is prose, written by hand, and parts between two marks, written by a program:
//
//     <!-- begin facts: written by gen_explain_docs -->
//     …
//     <!-- end facts -->
//
// `gen_NAME_docs FILE` writes the parts again; `gen_NAME_docs --check FILE` fails if they are not
// up to date.
// Invariants: each part has both marks in the page, each on its own line; the parts are in the page
// in the order of the array.
// Ownership: everything is in the page's arena.
//
//     static const PagePart parts[] = {{"facts", add_facts}};
//     int main(int argc, char **argv) { return page_main(argc, argv, parts, 1); }
#ifndef TILEC_SCRIPTS_GEN_PAGE_H
#define TILEC_SCRIPTS_GEN_PAGE_H

#include "base/str.h"

typedef struct PagePart {
    const char *name;
    void (*add)(StrBuf *out);  // appends the part, without its marks
} PagePart;

// The status of the process: 0, 1 (not written, not up to date, or no such page) or 2 (wrong
// arguments).
int page_main(int argc, char **argv, const PagePart *parts, size_t count);

#endif
