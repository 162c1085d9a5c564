# libtilec_llvm: codegen with LLVM and lld, opened at run time. Everything else builds without them.
#   TILEC_LLVM         AUTO: if found; ON: must be found; OFF
#   TILEC_LLVM_SHARED  link the shared libLLVM (quick to link) instead of the archives
set(TILEC_LLVM AUTO CACHE STRING "build libtilec_llvm: AUTO, ON or OFF")
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(llvm_shared_default ON)
else()
    set(llvm_shared_default OFF)
endif()
option(TILEC_LLVM_SHARED "libtilec_llvm links the shared libLLVM" ${llvm_shared_default})
set(TILEC_LLVM_VERSION 22)
if(NOT TILEC_LLVM OR TILEC_FUZZ)
    return()
endif()

# --- the installed LLVM
find_program(TILEC_LLVM_CONFIG NAMES llvm-config-${TILEC_LLVM_VERSION} llvm-config)
set(llvm_missing "")
if(NOT TILEC_LLVM_CONFIG)
    set(llvm_missing "llvm-config-${TILEC_LLVM_VERSION}")
else()
    execute_process(COMMAND "${TILEC_LLVM_CONFIG}" --version OUTPUT_VARIABLE llvm_version
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND "${TILEC_LLVM_CONFIG}" --includedir OUTPUT_VARIABLE llvm_include
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND "${TILEC_LLVM_CONFIG}" --libdir OUTPUT_VARIABLE llvm_libraries
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT llvm_version MATCHES "^${TILEC_LLVM_VERSION}\\.")
        set(llvm_missing "LLVM ${TILEC_LLVM_VERSION} (found ${llvm_version})")
    elseif(NOT EXISTS "${llvm_include}/llvm-c/Core.h")
        set(llvm_missing "llvm-c/Core.h")
    elseif(NOT EXISTS "${llvm_include}/lld/Common/Driver.h"
           OR NOT EXISTS "${llvm_libraries}/liblldELF.a")
        set(llvm_missing "liblldELF.a")
    endif()
endif()
# The C++ compiler that goes with the C compiler.
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    string(REGEX REPLACE "clang(-[0-9]+)?$" "clang++\\1" llvm_cxx "${CMAKE_C_COMPILER}")
else()
    set(llvm_cxx g++)
endif()
find_program(TILEC_CXX NAMES "${llvm_cxx}" c++)
if(NOT llvm_missing AND NOT TILEC_CXX)
    set(llvm_missing "a C++ compiler")
endif()
if(llvm_missing)
    set(llvm_help "apt-get install llvm-22-dev liblld-22-dev zlib1g-dev libzstd-dev g++")
    if(TILEC_LLVM STREQUAL "AUTO")
        message(STATUS "no libtilec_llvm, so no compiled kernels: ${llvm_missing} is missing; "
                       "${llvm_help}")
        return()
    endif()
    message(FATAL_ERROR "TILEC_LLVM is on and ${llvm_missing} is missing; ${llvm_help}")
endif()

# --- the C++ file: the shim over lld
if(NOT CMAKE_CXX_COMPILER)
    set(CMAKE_CXX_COMPILER "${TILEC_CXX}")
endif()
enable_language(CXX)
set(CMAKE_CXX_STANDARD 17)
add_library(tilec_llvm_shim OBJECT codegen/llvm_shim.cpp)
target_include_directories(tilec_llvm_shim PRIVATE "${PROJECT_SOURCE_DIR}")
target_include_directories(tilec_llvm_shim SYSTEM PRIVATE "${llvm_include}")
target_compile_options(tilec_llvm_shim PRIVATE -Wall -Wextra -fno-rtti -fno-exceptions
                                              -fvisibility=hidden ${tilec_fortify})

# --- the plugin: the rooms below codegen are compiled once, for libtilec
tilec_room_sources(llvm_sources codegen/**/*.c)
set(llvm_objects $<TARGET_OBJECTS:tilec_rt_objects> $<TARGET_OBJECTS:tilec_objects>)
add_library(tilec_llvm MODULE ${llvm_sources} $<TARGET_OBJECTS:tilec_llvm_shim>
    "$<FILTER:${llvm_objects},INCLUDE,objects[.]dir/([.]/)?(base|target|ir)/>")
target_link_libraries(tilec_llvm PRIVATE tilec_flags)
target_include_directories(tilec_llvm SYSTEM PRIVATE "${llvm_include}")
set_target_properties(tilec_llvm PROPERTIES LINKER_LANGUAGE CXX)
target_link_options(tilec_llvm PRIVATE
    "-Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map"
    -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,--as-needed)
set_property(TARGET tilec_llvm APPEND PROPERTY LINK_DEPENDS
             "${PROJECT_SOURCE_DIR}/cmake/exports.map")
# The same run path in the build and when installed. Otherwise CMake appends an empty path in the
# build, to reserve room for another, and the loader treats that as the current folder.
if(TILEC_LLVM_SHARED)
    set_target_properties(tilec_llvm PROPERTIES
        BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${llvm_libraries}")
else()
    set_target_properties(tilec_llvm PROPERTIES SKIP_BUILD_RPATH ON)
endif()
find_program(TILEC_LLD NAMES ld.lld-${TILEC_LLVM_VERSION} ld.lld)
if(TILEC_LLD)
    # gcc looks only for the name ld.lld, and Debian's lld-22 has only ld.lld-22.
    file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/linker")
    file(CREATE_LINK "${TILEC_LLD}" "${PROJECT_BINARY_DIR}/linker/ld.lld" SYMBOLIC)
    target_link_options(tilec_llvm PRIVATE "-B${PROJECT_BINARY_DIR}/linker" -fuse-ld=lld
                                           -Wl,--icf=all)
endif()
target_link_directories(tilec_llvm PRIVATE "${llvm_libraries}")
if(TILEC_LLVM_SHARED)
    set(llvm_link_libraries "${llvm_libraries}/libLLVM-${TILEC_LLVM_VERSION}.so")
else()
    execute_process(COMMAND "${TILEC_LLVM_CONFIG}" --link-static --libs
                            x86codegen aarch64codegen nvptxcodegen amdgpucodegen
                            amdgpudisassembler passes lto dtlto windowsdriver windowsmanifest
                            debuginfodwarf option
                    OUTPUT_VARIABLE llvm_link_libraries OUTPUT_STRIP_TRAILING_WHITESPACE
                    ERROR_VARIABLE llvm_problem)
    string(REPLACE " " ";" llvm_link_libraries "${llvm_link_libraries}")
    # Some builds of LLVM have Polly as an extension, which is packaged separately and not used
    # here.
    list(FILTER llvm_link_libraries EXCLUDE REGEX "Polly|LLVMExtensions")
    add_library(tilec_llvm_targets STATIC cmake/llvm_targets.c)
    target_include_directories(tilec_llvm_targets SYSTEM PRIVATE "${llvm_include}")
    # Libraries linked from archives run on machines without LLVM, where these may be missing, too.
    foreach(library z zstd)
        find_library(TILEC_LIB${library}_ARCHIVE lib${library}.a)
        if(TILEC_LIB${library}_ARCHIVE)
            list(APPEND llvm_link_libraries "${TILEC_LIB${library}_ARCHIVE}")
        else()
            list(APPEND llvm_link_libraries -l${library})
        endif()
    endforeach()
    list(APPEND llvm_link_libraries tilec_llvm_targets -ldl -lrt -lm)
    target_sources(tilec_llvm PRIVATE cmake/old_glibc.c)
    target_link_options(tilec_llvm PRIVATE -static-libstdc++ -static-libgcc -Wl,-s)
    target_compile_definitions(tilec_llvm_shim PRIVATE CODEGEN_LLVM_STATIC)
    foreach(function __cxa_guard_acquire __cxa_guard_release pthread_mutex_lock
            pthread_mutex_trylock pthread_mutex_unlock pthread_rwlock_rdlock pthread_rwlock_wrlock
            pthread_rwlock_unlock pthread_once malloc calloc realloc
            __cxa_thread_atexit_impl)
        target_link_options(tilec_llvm PRIVATE "-Wl,--wrap=${function}")
    endforeach()
endif()
target_link_libraries(tilec_llvm PRIVATE -Wl,--start-group lldELF lldCommon ${llvm_link_libraries}
                                         -Wl,--end-group)
