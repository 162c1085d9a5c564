// Launch facts as bits: facts.def.
//
//     if (facts & FACT_NARROW) …
//     for (size_t i = 0; i < FACTS; i++)
//         if (facts & launch_facts[i].bit) puts(launch_facts[i].name);
#ifndef TILEC_BASE_FACTS_H
#define TILEC_BASE_FACTS_H

enum {
#define FACT(name, bit, json, text) FACT_##name = (bit),
#include "base/facts.def"
#undef FACT
};

enum { FACT_STREAM_ALIGN = 64 };

enum {
#define FACT(name, bit, json, text) FACT_ROW_##name,
#include "base/facts.def"
#undef FACT
    FACTS
};

typedef struct LaunchFact {
    unsigned bit;
    const char *name;  // in JSON
    const char *text;  // the text that `explain` prints
} LaunchFact;
extern const LaunchFact launch_facts[FACTS];

#endif
