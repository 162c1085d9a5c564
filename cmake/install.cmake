# The libraries that users get, and everything `cmake --install` writes.
#
#   libtilec.so, libtilec_rt.so     export tilec_* and nothing else
#   libtilec.a, libtilec_rt.a       the same: one object each, in which all other names are local,
#                                   so that none can meet a name of the program they are linked to
#   include/tilec, bin/tilec, pkg-config files, find_package(tilec)
#
# All paths in the package files are relative to where they lie: the tree may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# What a static library leaves to its user; a shared one carries it.
set(tilec_system_libraries m ${CMAKE_DL_LIBS})
set(tilec_ffi_libraries "")
if(TILEC_FFI_FOUND)
    set(tilec_ffi_libraries ffi)
endif()

# tilec_sealed(NAME EXPORTED LIBS OBJECTS…): libNAME.a of one object. The build's own libNAME.a,
# which the tests use, shows all names.
function(tilec_sealed name exported libraries)
    set(whole "${CMAKE_CURRENT_BINARY_DIR}/sealed/${name}.o")
    set(objects "")
    foreach(target IN LISTS ARGN)
        list(APPEND objects "$<TARGET_OBJECTS:${target}>")
    endforeach()
    # By a response file: the list is longer than some systems' command lines.
    file(GENERATE OUTPUT "${whole}.rsp" CONTENT "$<JOIN:${objects},\n>\n")
    set(hide "")
    if(CMAKE_OBJCOPY)
        set(hide COMMAND "${CMAKE_OBJCOPY}" --localize-hidden "${whole}")
    endif()
    add_custom_command(OUTPUT "${whole}"
        COMMAND "${CMAKE_C_COMPILER}" -r -nostdlib -o "${whole}" "@${whole}.rsp"
        ${hide}
        DEPENDS ${ARGN} ${objects} "${whole}.rsp" COMMAND_EXPAND_LISTS VERBATIM)
    set_source_files_properties("${whole}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    add_library(${name}_sealed STATIC "${whole}")
    set_target_properties(${name}_sealed PROPERTIES
        OUTPUT_NAME ${name} LINKER_LANGUAGE C EXPORT_NAME ${exported}_static
        ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/sealed")
    target_link_libraries(${name}_sealed INTERFACE
        $<INSTALL_INTERFACE:Threads::Threads> ${libraries})
endfunction()

function(tilec_shared_library name exported)
    set(objects "")
    foreach(target IN LISTS ARGN)
        list(APPEND objects "$<TARGET_OBJECTS:${target}>")
    endforeach()
    add_library(${name}_shared SHARED ${objects})
    target_link_libraries(${name}_shared PRIVATE tilec_flags)
    set_target_properties(${name}_shared PROPERTIES
        OUTPUT_NAME ${name} VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
        EXPORT_NAME ${exported})
endfunction()

tilec_sealed(tilec_rt rt "${tilec_system_libraries}" tilec_rt_objects)
tilec_sealed(tilec tilec "${tilec_system_libraries};${tilec_ffi_libraries}"
             tilec_rt_objects tilec_objects)
set(tilec_installed tilec_rt_sealed tilec_sealed)
if(TILEC_SHARED)
    tilec_shared_library(tilec_rt rt tilec_rt_objects)
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
install(DIRECTORY include/tilec TYPE INCLUDE FILES_MATCHING PATTERN "*.h")

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
        DESTINATION "${tilec_package}")

# --- pkg-config
function(tilec_pkgconfig name description)
    set(variables "")
    if(name STREQUAL "tilec" AND TARGET tilec_llvm)
        # For programs that name it (tilec_context_options.compiler_library).
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
