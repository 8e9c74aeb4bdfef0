# A .pc file for each component, for builds without CMake:  c++ -std=c++20 a.cpp $(pkg-config --cflags --libs smdebug-s3)
#   smdebug, smdebug-s3, smdebug-archive, smdebug-kernels   header-only
#   smdebug-compiled, smdebug-compiled-s3, -archive                                      the compiled form
#   smdebug-c                                                                            for C
#   smdebug-program                                                                      a rule as a program, in the compiled form
# Paths are relative to the file, so that a tree may be moved.  Headers of third parties come with Requires.  So do their
# libraries, header-only and where the compiled form is static; where it is shared they are in Requires.private.

# Sets `result` to "simdjson >= 3.0.1, libpcre2-8 >= 10.42": .pc names with the lowest versions of smdebug-versions.cmake.
function(smdebug_pc_requires result)
    set(names_of_PCRE2 libpcre2-8)
    set(names_of_CURL libcurl)
    set(names_of_OpenSSL libcrypto)
    set(names_of_SQLite3 sqlite3)
    set(all)
    foreach(name IN LISTS ARGN)
        foreach(row IN LISTS smdebug_versions_tried)
            string(REPLACE " " ";" row "${row}")
            list(GET row 0 package)
            list(GET row 1 lowest)
            if(DEFINED names_of_${package})
                set(package ${names_of_${package}})
            endif()
            if(package STREQUAL name)
                string(APPEND name " >= ${lowest}")
            endif()
        endforeach()
        list(APPEND all "${name}")
    endforeach()
    list(JOIN all ", " all)
    set(${result} "${all}" PARENT_SCOPE)
endfunction()

# smdebug_pc(NAME DESCRIPTION [REQUIRES ...] [PRIVATE ...] [LIBRARIES ...] [CFLAGS ...] [LIBS ...])
# PRIVATE: third parties of a library; LIBRARIES: names behind -l; LIBS: other flags of the linker.
function(smdebug_pc name description)
    cmake_parse_arguments(pc "" "" "REQUIRES;PRIVATE;LIBRARIES;CFLAGS;LIBS" ${ARGN})
    set(lines_private)
    if(BUILD_SHARED_LIBS AND pc_PRIVATE)
        smdebug_pc_requires(private ${pc_PRIVATE})
        set(lines_private "Requires.private: ${private}\n")
    else()
        list(APPEND pc_REQUIRES ${pc_PRIVATE})
    endif()
    smdebug_pc_requires(requires ${pc_REQUIRES})
    set(libdir)  # not where it would be the only thing that depends on the machine
    if(pc_LIBRARIES)
        set(libdir "libdir=\${prefix}/${CMAKE_INSTALL_LIBDIR}\n")
        list(TRANSFORM pc_LIBRARIES PREPEND -l)
        list(PREPEND pc_LIBRARIES "-L\${libdir}")
        set(folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)  # where the machine's own libraries are
    else()
        set(folder ${CMAKE_INSTALL_DATADIR}/pkgconfig)
    endif()
    list(JOIN pc_LIBRARIES " " libraries)
    list(JOIN pc_CFLAGS " " cflags)
    list(JOIN pc_LIBS " " libs)
    cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX}/${folder} OUTPUT_VARIABLE up)
    string(REGEX REPLACE "/$" "" up "${up}")
    string(CONCAT text
        "prefix=\${pcfiledir}/${up}\n"
        "includedir=\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}\n"
        "${libdir}\n"
        "Name: ${name}\n"
        "Description: ${description}\n"
        "Version: ${PROJECT_VERSION}\n"
        "Requires: ${requires}\n"
        "${lines_private}"
        "Cflags: -I\${includedir} ${cflags}\n"
        "Libs: ${libraries} ${libs}\n")
    string(REGEX REPLACE " +\n" "\n" text "${text}")
    string(REPLACE ":  " ": " text "${text}")
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc CONTENT "${text}" @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc DESTINATION ${folder} COMPONENT devel)
endfunction()

# The .pc names of a component's third parties.
set(smdebug_pc_of_s3 libcurl libcrypto pugixml)
set(smdebug_pc_of_archive zlib libzstd)
set(what "training runs of SageMaker Debugger's smdebug")
smdebug_pc(smdebug "Reads and writes ${what}: C++20, header-only" REQUIRES xtensor xsimd simdjson libpcre2-8 LIBS -pthread)
foreach(component IN LISTS components)
    smdebug_pc(smdebug-${component} "${component} of smdebug: ${smdebug_third_parties_of_${component}}" REQUIRES smdebug
               ${smdebug_pc_of_${component}})
endforeach()
if(TARGET smdebug_kernels)
    smdebug_pc(smdebug-kernels "Reductions of smdebug, one program for many CPUs" REQUIRES smdebug LIBRARIES smdebug_kernels)
endif()
if(TARGET smdebug_compiled)
    smdebug_pc(smdebug-compiled "Reads and writes ${what}: C++20, compiled" REQUIRES xtensor xsimd PRIVATE simdjson libpcre2-8
               LIBRARIES smdebug_compiled smdebug_kernels CFLAGS -DSMDEBUG_COMPILED LIBS -pthread)
    foreach(component IN LISTS components)
        smdebug_pc(smdebug-compiled-${component} "${component} of smdebug, compiled" REQUIRES smdebug-compiled PRIVATE
                   ${smdebug_pc_of_${component}} LIBRARIES smdebug_compiled_${component})
    endforeach()
endif()
if(TARGET smdebug_c)
    smdebug_pc(smdebug-c "Reads and writes ${what}, for C" LIBRARIES smdebug_c)  # what it needs, it names itself
endif()
if(TARGET smdebug_program)
    smdebug_pc(smdebug-program "A rule of smdebug as a program" REQUIRES smdebug-compiled-s3 smdebug-compiled-archive
               PRIVATE sqlite3 LIBRARIES smdebug_program)
endif()
