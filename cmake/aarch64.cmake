# AArch64 on another kind of machine: Debian's cross compiler (gcc-aarch64-linux-gnu), and
# qemu-user, with which ctest runs the tests. scripts/test-aarch64.sh unpacks the libraries that are
# not cross packages in build/aarch64/sysroot.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
find_program(TILEC_AARCH64_GCC aarch64-linux-gnu-gcc REQUIRED)
find_program(TILEC_AARCH64_QEMU NAMES qemu-aarch64 qemu-aarch64-static REQUIRED)
set(CMAKE_C_COMPILER "${TILEC_AARCH64_GCC}")
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

# Debian's C library for the cross compiler; the loader is in its folder lib.
set(CMAKE_CROSSCOMPILING_EMULATOR "${TILEC_AARCH64_QEMU}" -L /usr/aarch64-linux-gnu)

# This machine's own libraries must not be found.
get_filename_component(sysroot "${CMAKE_CURRENT_LIST_DIR}/../build/aarch64/sysroot" ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH "${sysroot}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} "${sysroot}/usr/lib/aarch64-linux-gnu/pkgconfig")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${sysroot}")
