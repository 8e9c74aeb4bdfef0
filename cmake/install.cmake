# What `cmake --install` does.  Component `devel`: headers, packages of CMake and pkg-config, static libraries, links to shared
# ones; `runtime`: shared libraries; `program`: the program smdebug, its manual pages and completions.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(SMDEBUG_INSTALL_CMAKEDIR "" CACHE STRING "Where CMake's package goes, below the prefix; empty: where each part belongs")
set(package_folder ${CMAKE_INSTALL_DATADIR}/cmake/smdebug)  # share/: nothing here depends on the machine
set(kernels_folder ${CMAKE_INSTALL_LIBDIR}/cmake/smdebug)  # lib/: what is compiled does
if(SMDEBUG_INSTALL_CMAKEDIR)
    set(package_folder ${SMDEBUG_INSTALL_CMAKEDIR})
    set(kernels_folder ${SMDEBUG_INSTALL_CMAKEDIR})
endif()

function(install_export name folder)
    install(
        EXPORT ${name}
        NAMESPACE smdebug::
        DESTINATION ${folder}
        COMPONENT devel)
endfunction()

install(TARGETS smdebug EXPORT smdebug-targets FILE_SET HEADERS COMPONENT devel FILE_SET bodies COMPONENT devel)
install_export(smdebug-targets ${package_folder})
foreach(component IN LISTS components optional_components)
    install(TARGETS smdebug_${component} EXPORT smdebug-${component}-targets FILE_SET HEADERS COMPONENT devel)
    install_export(smdebug-${component}-targets ${package_folder})
endforeach()
function(install_library target export)
    install(
        TARGETS ${target}
        EXPORT ${export}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT devel)
endfunction()
if(TARGET smdebug_compiled)
    install_library(smdebug_compiled smdebug-kernels-targets)
    foreach(component IN LISTS components)
        install_library(smdebug_compiled_${component} smdebug-compiled-${component}-targets)
        install_export(smdebug-compiled-${component}-targets ${kernels_folder})
    endforeach()
endif()
if(TARGET smdebug_kernels)
    install(TARGETS smdebug_kernels EXPORT smdebug-kernels-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel)
    install_export(smdebug-kernels-targets ${kernels_folder})
endif()
if(TARGET smdebug_c)
    install(TARGETS smdebug_c EXPORT smdebug-c-targets
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT devel FILE_SET HEADERS COMPONENT devel)
    install(TARGETS smdebug_c_static EXPORT smdebug-c-static-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel)
    install_export(smdebug-c-targets ${kernels_folder})
    install_export(smdebug-c-static-targets ${kernels_folder})
endif()
if(TARGET smdebug_program)
    install(
        TARGETS smdebug_program
        EXPORT smdebug-program-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel
        FILE_SET HEADERS COMPONENT devel)
    install_export(smdebug-program-targets ${kernels_folder})
endif()

configure_package_config_file(
    ${CMAKE_CURRENT_LIST_DIR}/smdebug-config.cmake.in ${PROJECT_BINARY_DIR}/smdebug-config.cmake
    INSTALL_DESTINATION ${package_folder}
    PATH_VARS kernels_folder
    NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/smdebug-config-version.cmake
    COMPATIBILITY SameMinorVersion
    ARCH_INDEPENDENT)
install(
    FILES ${PROJECT_BINARY_DIR}/smdebug-config.cmake ${PROJECT_BINARY_DIR}/smdebug-config-version.cmake
          ${CMAKE_CURRENT_LIST_DIR}/FindPCRE2.cmake ${CMAKE_CURRENT_LIST_DIR}/FindZstd.cmake
          ${CMAKE_CURRENT_LIST_DIR}/smdebug-components.cmake ${CMAKE_CURRENT_LIST_DIR}/smdebug-versions.cmake
    DESTINATION ${package_folder}
    COMPONENT devel)

include(${CMAKE_CURRENT_LIST_DIR}/pkgconfig.cmake)
if(PROJECT_IS_TOP_LEVEL)
    include(${CMAKE_CURRENT_LIST_DIR}/archive.cmake)
endif()
