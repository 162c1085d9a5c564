# The libraries that users get, and everything `cmake --install` writes.
#
#   libtilec.so, libtilec_rt.so     export tilec_* and nothing else
#   libtilec.a, libtilec_rt.a       the same: one object each, in which all other names are local,
#                                   so that none can meet a name of the program they are linked to
#   include/tilec, bin/tilec, pkg-config files, find_package(tilec)
#
# They contain liblzma. Functions that neither a program nor the rest of a library can call are
# removed.
#
# All paths in the package files are relative to the files, so the tree may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The libraries that users of a static library must link; a shared one names them itself.
set(tilec_system_libraries m ${CMAKE_DL_LIBS})
set(tilec_ffi_libraries "")
if(TILEC_FFI_FOUND)
    set(tilec_ffi_libraries ffi)
endif()
set(tilec_lzma_archive "")
if(TILEC_LZMA_STATIC)
    set(tilec_lzma_archive "${TILEC_LZMA_ARCHIVE}")
else()
    list(APPEND tilec_system_libraries lzma)
endif()

# A program uses one runtime: CMake refuses a program that links libraries with different ones,
# since the loader would not find the second.
function(tilec_one_runtime target name)
    set_target_properties(${target} PROPERTIES
        INTERFACE_TILEC_RUNTIME ${name} COMPATIBLE_INTERFACE_STRING TILEC_RUNTIME)
endfunction()

# tilec_sealed(NAME EXPORTED LIBS OBJECTS…): libNAME.a with one object. The build's own libNAME.a,
# which the tests use, exports all names.
function(tilec_sealed name exported libraries)
    set(whole "${CMAKE_CURRENT_BINARY_DIR}/sealed/${name}.o")
    set(objects "")
    foreach(target IN LISTS ARGN)
        list(APPEND objects "$<TARGET_OBJECTS:${target}>")
    endforeach()
    list(APPEND objects ${tilec_lzma_archive})
    # A response file is needed: the list is longer than the command line of some systems.
    file(GENERATE OUTPUT "${whole}.rsp" CONTENT "$<JOIN:${objects},\n>\n")
    set(hide "")
    if(CMAKE_OBJCOPY)
        set(hide COMMAND "${CMAKE_OBJCOPY}" --localize-hidden
            --wildcard --localize-symbol "lzma_*" "${whole}")
    endif()
    add_custom_command(OUTPUT "${whole}"
        COMMAND "${CMAKE_C_COMPILER}" -r -nostdlib -Wl,--gc-sections,--gc-keep-exported
                -o "${whole}" "@${whole}.rsp"
        ${hide}
        DEPENDS ${ARGN} ${objects} "${whole}.rsp" COMMAND_EXPAND_LISTS VERBATIM)
    set_source_files_properties("${whole}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    add_library(${name}_sealed STATIC "${whole}")
    set_target_properties(${name}_sealed PROPERTIES
        OUTPUT_NAME ${name} LINKER_LANGUAGE C EXPORT_NAME ${exported}_static
        ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/sealed")
    tilec_one_runtime(${name}_sealed ${exported}_static)
    target_link_libraries(${name}_sealed INTERFACE
        $<INSTALL_INTERFACE:Threads::Threads> ${libraries})
endfunction()

function(tilec_shared_library name exported)
    set(objects "")
    foreach(target IN LISTS ARGN)
        list(APPEND objects "$<TARGET_OBJECTS:${target}>")
    endforeach()
    add_library(${name}_shared SHARED ${objects})
    target_link_libraries(${name}_shared PRIVATE tilec_flags tilec_lzma)
    target_link_options(${name}_shared PRIVATE -Wl,--gc-sections,--exclude-libs,liblzma.a)
    if(TILEC_TEST_SHARED)  # whose objects show all names
        target_link_options(${name}_shared PRIVATE
            "-Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/public.map")
    endif()
    set_target_properties(${name}_shared PROPERTIES
        OUTPUT_NAME ${name} VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
        EXPORT_NAME ${exported})
    tilec_one_runtime(${name}_shared ${exported})
endfunction()

tilec_sealed(tilec_rt rt "${tilec_system_libraries}"
             tilec_rt_objects tilec_rt_alone)
tilec_sealed(tilec tilec "${tilec_system_libraries};${tilec_ffi_libraries}"
             tilec_rt_objects tilec_objects)
set(tilec_installed tilec_rt_sealed tilec_sealed)
if(TILEC_SHARED)
    tilec_shared_library(tilec_rt rt tilec_rt_objects tilec_rt_alone)
    tilec_shared_library(tilec tilec tilec_rt_objects tilec_objects)
    if(TILEC_FFI_FOUND)
        target_link_libraries(tilec_shared PRIVATE tilec_ffi)
    endif()
    list(APPEND tilec_installed tilec_rt_shared tilec_shared)
endif()
install(TARGETS ${tilec_installed} EXPORT tilec-targets
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
foreach(target tilec_tool tilec_llvm)  # the compiler proper is opened when it is needed
    if(TARGET ${target})
        install(TARGETS ${target} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    endif()
endforeach()
# The licences of the contained libraries (NOTICE): they must be shipped with the libraries.
install(FILES LICENSE NOTICE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY licenses DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY include/tilec TYPE INCLUDE FILES_MATCHING PATTERN "*.h")

# The same names are defined in this tree, and in projects that contain it as a folder.
foreach(target IN LISTS tilec_installed)
    target_include_directories(${target} INTERFACE
        "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>")
    get_target_property(name ${target} EXPORT_NAME)
    add_library(tilec::${name} ALIAS ${target})
    if(NOT TILEC_SHARED)
        string(REPLACE "_static" "" name ${name})
        add_library(tilec::${name} ALIAS ${target})
    endif()
endforeach()
set_property(GLOBAL PROPERTY tilec_version ${PROJECT_VERSION})
include(cmake/tilec-build.cmake)

# --- find_package(tilec)
set(tilec_package "${CMAKE_INSTALL_LIBDIR}/cmake/tilec")
set(tilec_compatible SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(tilec_compatible SameMinorVersion)
endif()
install(EXPORT tilec-targets NAMESPACE tilec:: DESTINATION "${tilec_package}")
configure_package_config_file(cmake/tilec-config.cmake.in tilec-config.cmake
    INSTALL_DESTINATION "${tilec_package}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(tilec-config-version.cmake COMPATIBILITY ${tilec_compatible})
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tilec-config.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/tilec-config-version.cmake"
              cmake/tilec-build.cmake
        DESTINATION "${tilec_package}")

# --- pkg-config
function(tilec_pkgconfig name description)
    set(variables "")
    if(name STREQUAL "tilec" AND TARGET tilec_llvm)
        # For programs that pass it (tilec_context_options.compiler_library).
        set(variables "compiler=\${libdir}/libtilec_llvm.so\n")
    endif()
    file(RELATIVE_PATH up "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
    string(REGEX REPLACE "/$" "" up "${up}")
    set(libs "-L\${libdir} -l${name}")
    set(private "-pthread")
    foreach(library IN LISTS ARGN)
        string(APPEND private " -l${library}")
    endforeach()
    if(NOT TILEC_SHARED)
        string(APPEND libs " ${private}")
    endif()
    configure_file(cmake/pkgconfig.in ${name}.pc @ONLY)
    install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${name}.pc"
            DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()
tilec_pkgconfig(tilec "Tile kernels for GPUs and CPUs: compiler and runtime"
                ${tilec_system_libraries} ${tilec_ffi_libraries})
tilec_pkgconfig(tilec_rt "Tile kernels for GPUs and CPUs: the runtime that compiled ones need"
                ${tilec_system_libraries})
