# Kernels compiled ahead of time, as a library of a CMake project. Part of find_package(tilec), and
# of tilec's own tree.
#
#     find_package(tilec REQUIRED)
#     tilec_add_library(kernels
#         SOURCES softmax.tile matmul.tile
#         TARGETS sm_80 gfx942 x86-64-v3
#         SPECIALIZE "matmul T=f16,f32")
#     target_link_libraries(program PRIVATE kernels)        # which has #include "kernels.h"
#
#     tilec_install_library(kernels)                        # for find_package(kernels) elsewhere
#
# docs/libraries.md and docs/cli.md describe everything that `tilec build` does.
include_guard(GLOBAL)
cmake_policy(PUSH)
cmake_policy(VERSION 3.21)

# The command that compiles: TILEC_EXECUTABLE, else the one of tilec's own tree. It runs on the
# building machine. When that differs from the target machine, set TILEC_EXECUTABLE to a command for
# it.
function(_tilec_command command depends)
    if(TILEC_EXECUTABLE)
        if(NOT EXISTS "${TILEC_EXECUTABLE}")
            message(FATAL_ERROR "tilec_add_library: there is no ${TILEC_EXECUTABLE}: set "
                                "TILEC_EXECUTABLE to the command tilec")
        endif()
        get_property(wanted GLOBAL PROPERTY tilec_version)
        execute_process(COMMAND "${TILEC_EXECUTABLE}" --version OUTPUT_VARIABLE said
                        ERROR_VARIABLE why RESULT_VARIABLE failed)
        if(failed)
            message(FATAL_ERROR "tilec_add_library: ${TILEC_EXECUTABLE} does not run here: "
                                "${failed} ${why}\nSet TILEC_EXECUTABLE to a tilec of this machine")
        endif()
        string(REGEX REPLACE "^tilec ([0-9]+\\.[0-9]+).*" "\\1" found "${said}")
        string(REGEX REPLACE "^([0-9]+\\.[0-9]+).*" "\\1" wanted "${wanted}")
        if(wanted AND NOT found STREQUAL wanted)
            message(FATAL_ERROR "tilec_add_library: ${TILEC_EXECUTABLE} is of version ${found}, "
                                "the runtime that is linked of ${wanted}")
        endif()
        set(${command} "${TILEC_EXECUTABLE}" PARENT_SCOPE)
        set(${depends} "${TILEC_EXECUTABLE}" PARENT_SCOPE)
    elseif(TARGET tilec_tool)
        set(${command} "$<TARGET_FILE:tilec_tool>" PARENT_SCOPE)
        set(compiler "")
        if(TARGET tilec_llvm)
            set(compiler tilec_llvm)  # which it opens
        endif()
        set(${depends} tilec_tool ${compiler} PARENT_SCOPE)
    else()
        message(FATAL_ERROR "tilec_add_library: the command tilec is not found: install it, or set "
                            "TILEC_EXECUTABLE to it")
    endif()
endfunction()

# The processors that will call the functions: those for which the project is built.
function(_tilec_host host)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^([xX]86_64|[aA][mM][dD]64)$")
        set(${host} x86-64-v2 PARENT_SCOPE)
    elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^([aA][aA][rR][cC][hH]64|[aA][rR][mM]64)$")
        set(${host} aarch64 PARENT_SCOPE)
    else()
        message(FATAL_ERROR "tilec_add_library: CMAKE_SYSTEM_PROCESSOR is "
                            "'${CMAKE_SYSTEM_PROCESSOR}'; libraries are for x86_64 and aarch64")
    endif()
endfunction()

# tilec_add_library(NAME SOURCES file… TARGETS target… [option…])
#
#   SOURCES file…      kernels; they are rebuilt when a file that they import changes
#   TARGETS target…    sm_80, gfx942, x86-64-v3, …: GPUs, and CPUs of the project's architecture
#   SPECIALIZE line…   "matmul T=f16,f32 BM=64", "small=matmul T=f16 BM=16", one a line
#   SET name=value…    types, consts and options of all kernels that have them
#   GRID text…         "kernel=cdiv(n, BLOCK)": grids of kernels in .py files; without one, the
#                      function takes the grid
#   KERNELS name…      these kernels only
#   NAME name          prefix of NAME_load, NAME_archive and NAME.h; default: the target's name.
#                      So several targets (static for C, shared for C++) serve the same sources
#   HEADER name.h      default NAME.h
#   PREFIX text        prefix of all functions' names
#   MATH word…         contract, approx
#   TUNE file          a table of `tilec tune`
#   SHARED             a shared library; else a static one
#   LINES              line tables, for debuggers and profilers
#   RUNTIME target     runtime to link; default tilec::rt_static, for a shared library tilec::rt
#   OPTIONS option…    more options of `tilec build`
#
# Makes the target NAME, which can be linked, installed and exported like any library.
function(tilec_add_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "SHARED;LINES" "NAME;HEADER;PREFIX;TUNE;RUNTIME"
                          "SOURCES;TARGETS;SPECIALIZE;SET;GRID;KERNELS;MATH;OPTIONS")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "tilec_add_library(${name}): '${arg_UNPARSED_ARGUMENTS}' follows no "
                            "keyword: write tilec_add_library(${name} SOURCES … TARGETS …)")
    endif()
    if(arg_KEYWORDS_MISSING_VALUES)
        message(FATAL_ERROR "tilec_add_library(${name}): nothing follows "
                            "${arg_KEYWORDS_MISSING_VALUES}")
    endif()
    if(name MATCHES "^tilec(_|$)")
        message(FATAL_ERROR "tilec_add_library(${name}): '${name}' is a name of tilec's own: "
                            "write another one")
    endif()
    if(NOT arg_SOURCES)
        message(FATAL_ERROR "tilec_add_library(${name}): SOURCES are missing: .tile or .py files")
    endif()
    if(NOT arg_TARGETS)
        message(FATAL_ERROR "tilec_add_library(${name}): TARGETS are missing: what to build for, "
                            "as sm_80 gfx942 x86-64-v3")
    endif()
    set(sources "")
    foreach(source IN LISTS arg_SOURCES arg_TUNE)
        get_filename_component(path "${source}" ABSOLUTE)
        if(NOT EXISTS "${path}")
            get_property(made SOURCE "${path}" PROPERTY GENERATED)
            if(NOT made)
                message(FATAL_ERROR "tilec_add_library(${name}): there is no file ${path}")
            endif()
        endif()
        list(APPEND sources "${path}")
    endforeach()
    set(inputs ${sources})
    set(options "")
    if(arg_TUNE)
        list(POP_BACK sources tune)
        list(APPEND options --tune "${tune}")
    endif()
    if(NOT arg_NAME)
        string(MAKE_C_IDENTIFIER "${name}" identifier)
        set(arg_NAME "${name}")
    elseif(NOT arg_NAME MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
        message(FATAL_ERROR "tilec_add_library(${name}): NAME is a name of C (letters, digits, _), "
                            "found '${arg_NAME}'")
    else()
        set(identifier "${arg_NAME}")
    endif()
    if(NOT arg_HEADER)
        set(arg_HEADER "${arg_NAME}.h")
    elseif(arg_HEADER MATCHES "/")
        message(FATAL_ERROR "tilec_add_library(${name}): HEADER is a name without a folder, found "
                            "'${arg_HEADER}'")
    endif()
    _tilec_command(command depends)
    _tilec_host(host)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if("C" IN_LIST languages)
        set(language C)
    elseif("CXX" IN_LIST languages)
        set(language CXX)
    else()
        message(FATAL_ERROR "tilec_add_library(${name}): the project has neither C nor C++")
    endif()

    foreach(pair "TARGETS target" "KERNELS kernels" "MATH math")
        string(REPLACE " " ";" pair "${pair}")
        list(GET pair 0 list)
        list(GET pair 1 option)
        if(arg_${list})
            list(JOIN arg_${list} "," values)
            list(APPEND options --${option} "${values}")
        endif()
    endforeach()
    foreach(line IN LISTS arg_SPECIALIZE)
        list(APPEND options --specialize "${line}")
    endforeach()
    foreach(setting IN LISTS arg_SET)
        list(APPEND options --set "${setting}")
    endforeach()
    foreach(grid IN LISTS arg_GRID)
        list(APPEND options --grid "${grid}")
    endforeach()
    if(arg_PREFIX)
        list(APPEND options --prefix "${arg_PREFIX}")
    endif()
    if(arg_LINES)
        list(APPEND options --lines)
    endif()

    set(folder "${CMAKE_CURRENT_BINARY_DIR}/${name}_tilec")
    set(archive "${folder}/lib${name}.a")
    set(header "${folder}/${arg_HEADER}")
    set(object "${folder}/${name}.o")
    file(MAKE_DIRECTORY "${folder}")
    # CMake's makefiles remember every file that depfiles of a custom command named, and try to make
    # files that are gone. So the remembered names are deleted, and the next run of make reads them
    # again.
    set(forget "")
    if(CMAKE_GENERATOR MATCHES "Makefiles")
        set(kept "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/compiler_depend")
        set(forget COMMAND "${CMAKE_COMMAND}" -E rm -f "${kept}.internal")
    endif()
    add_custom_command(OUTPUT "${archive}" "${header}"
        ${forget}
        COMMAND "${command}" build ${sources} -o "${archive}" --header "${header}"
                --name ${identifier} --host ${host} --depfile "${archive}.d" --quiet
                ${options} ${arg_OPTIONS}
        DEPENDS ${inputs} ${depends} DEPFILE "${archive}.d"
        COMMENT "Building kernels ${name}" VERBATIM)
    # One object in which only the functions' names are global, so that two libraries with the same
    # kernel do not collide. A normal library of the project is made from it, with everything that
    # CMake supports for libraries.
    set(hide "")
    if(CMAKE_OBJCOPY)
        set(hide COMMAND "${CMAKE_OBJCOPY}" --localize-hidden "${object}")
    endif()
    add_custom_command(OUTPUT "${object}"
        COMMAND "${CMAKE_LINKER}" -r --whole-archive "${archive}" -o "${object}" ${hide}
        DEPENDS "${archive}" COMMENT "Linking kernels ${name}" VERBATIM)
    set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    set(kind STATIC)
    set(runtime tilec::rt_static)
    if(arg_SHARED)
        set(kind SHARED)
        set(runtime tilec::rt)
    endif()
    if(arg_RUNTIME)
        set(runtime "${arg_RUNTIME}")
    endif()
    add_library(${name} ${kind} "${object}" "${header}")
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE ${language} PUBLIC_HEADER "${header}")
    target_include_directories(${name} INTERFACE "$<BUILD_INTERFACE:${folder}>")
    target_link_libraries(${name} PUBLIC ${runtime})
endfunction()

# tilec_install_library(NAME… [PACKAGE package] [NAMESPACE text] [VERSION version])
#
# Installs the libraries with their headers as a package: find_package(PACKAGE) in another project,
# then target_link_libraries(program PRIVATE PACKAGE::NAME). Defaults: PACKAGE is the first NAME,
# NAMESPACE is PACKAGE::, VERSION is the project's. Projects that make their own package do not need
# it: install(TARGETS … EXPORT …) and find_dependency(tilec) are enough.
function(tilec_install_library)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "PACKAGE;NAMESPACE;VERSION" "")
    set(names ${arg_UNPARSED_ARGUMENTS})
    if(NOT names)
        message(FATAL_ERROR "tilec_install_library: which libraries?")
    endif()
    foreach(name IN LISTS names)
        if(NOT TARGET ${name})
            message(FATAL_ERROR "tilec_install_library: '${name}' is no target; "
                                "tilec_add_library makes them")
        endif()
    endforeach()
    if(NOT arg_PACKAGE)
        list(GET names 0 arg_PACKAGE)
    endif()
    if(NOT arg_NAMESPACE)
        set(arg_NAMESPACE "${arg_PACKAGE}::")
    endif()
    if(NOT arg_VERSION)
        set(arg_VERSION "${PROJECT_VERSION}")
    endif()
    include(GNUInstallDirs)
    include(CMakePackageConfigHelpers)
    set(place "${CMAKE_INSTALL_LIBDIR}/cmake/${arg_PACKAGE}")
    set(made "${CMAKE_CURRENT_BINARY_DIR}/${arg_PACKAGE}_tilec_package")
    install(TARGETS ${names} EXPORT ${arg_PACKAGE}-targets
            PUBLIC_HEADER DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
            INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
    install(EXPORT ${arg_PACKAGE}-targets NAMESPACE "${arg_NAMESPACE}" DESTINATION "${place}")
    get_property(tilec GLOBAL PROPERTY tilec_version)
    file(CONFIGURE OUTPUT "${made}/${arg_PACKAGE}-config.cmake" @ONLY CONTENT [=[
include(CMakeFindDependencyMacro)
find_dependency(tilec @tilec@)
include("${CMAKE_CURRENT_LIST_DIR}/@arg_PACKAGE@-targets.cmake")
]=])
    install(FILES "${made}/${arg_PACKAGE}-config.cmake" DESTINATION "${place}")
    if(arg_VERSION)
        write_basic_package_version_file("${made}/${arg_PACKAGE}-config-version.cmake"
            VERSION "${arg_VERSION}" COMPATIBILITY SameMajorVersion)
        install(FILES "${made}/${arg_PACKAGE}-config-version.cmake" DESTINATION "${place}")
    endif()
endfunction()

cmake_policy(POP)
