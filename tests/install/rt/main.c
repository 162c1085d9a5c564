// A program that needs the runtime only.
#include <stdio.h>
#include <tilec/tilec.h>

int main(void) {
    tilec_view v = tilec_view2(TILEC_BF16, NULL, 3, 4);
    printf("%s %s of %u bits, strides %d and %d\n", tilec_version(), tilec_dtype_name(v.dtype),
           tilec_dtype_bits(v.dtype), (int)v.stride[0], (int)v.stride[1]);
    return tilec_version_number() == TILEC_VERSION_NUMBER ? 0 : 1;
}
