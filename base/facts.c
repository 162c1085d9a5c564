#include "base/facts.h"

const LaunchFact launch_facts[FACTS] = {
#define FACT(name, bit, json, text) {bit, json, text},
#include "base/facts.def"
#undef FACT
};
