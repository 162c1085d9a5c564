// A GPU's library of long ago: it can be begun with, and has nothing else of what is asked of one.
__attribute__((visibility("default"))) int cuInit(unsigned flags), hipInit(unsigned flags);

int cuInit(unsigned flags) { return (int)flags; }

int hipInit(unsigned flags) { return (int)flags; }
