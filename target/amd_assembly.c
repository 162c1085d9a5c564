// Reads the metadata at the end of AMD's assembly: the same map as in objects, as YAML.
#include "target/amd_object.h"

// Reads a number; false: the text is not only digits.
static bool number_of(Str text, uint64_t *number) {
    *number = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.text[i] < '0' || text.text[i] > '9') return false;
        *number = 10 * *number + (uint64_t)(text.text[i] - '0');
    }
    return text.size > 0;
}

// Reads lines like "- .key:   12" with numbers of the kernel's map; its arguments' keys differ.
static void read_line(Str line, AmdObjectKernel *kernel) {
    uint64_t number;
    if (str_starts(line, STR("- "))) line = (Str){line.text + 2, line.size - 2};
    Str value, key = str_cut(line, ':', &value);
    if (number_of(str_trim(value), &number)) amd_metadata_number(kernel, key, number);
}

bool amd_assembly_facts(Str text, AmdObjectKernel *kernel) {
    bool inside = false;
    *kernel = (AmdObjectKernel){0};
    for (Str rest = text; rest.size;) {
        Str line = str_trim(str_cut(rest, '\n', &rest));
        if (str_equal(line, STR(".end_amdgpu_metadata"))) kernel->described = inside;
        if (inside && !kernel->described) read_line(line, kernel);
        if (str_equal(line, STR(".amdgpu_metadata"))) inside = true;
    }
    return kernel->described;
}
