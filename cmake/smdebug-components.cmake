# The components of smdebug that need packages beyond those of the library itself, and what each needs: in one place for
# CMakeLists.txt and for the installed package, which both include this.
set(smdebug_components s3 archive)
# Those that join the library to a framework that the user has: header-only in both forms; nothing of smdebug needs them.
set(smdebug_optional_components torch dlpack)

set(smdebug_packages_of_s3 "CURL 7.87" "OpenSSL COMPONENTS Crypto" pugixml)  # as find_package takes them
set(smdebug_libraries_of_s3 CURL::libcurl OpenSSL::Crypto pugixml::pugixml)
set(smdebug_third_parties_of_s3 "libcurl, OpenSSL and pugixml (Debian: libcurl4-openssl-dev libssl-dev libpugixml-dev)")

set(smdebug_packages_of_archive ZLIB Zstd)
set(smdebug_libraries_of_archive ZLIB::ZLIB Zstd::Zstd)
set(smdebug_third_parties_of_archive "zlib and libzstd (Debian: zlib1g-dev libzstd-dev)")

set(smdebug_packages_of_torch Torch)
set(smdebug_libraries_of_torch torch)
set(smdebug_third_parties_of_torch "libtorch 1.13 or 2.x (Debian: libtorch-dev)")

set(smdebug_packages_of_dlpack dlpack)
set(smdebug_libraries_of_dlpack dlpack::dlpack)
set(smdebug_third_parties_of_dlpack "DLPack 0.6 or newer (Debian: libdlpack-dev)")

# Looks for the packages of a component; sets `missing` to the names of those not found.  A macro, because packages
# set variables.
macro(smdebug_find_packages component missing)
    set(${missing} "")
    foreach(smdebug_package IN LISTS smdebug_packages_of_${component})
        separate_arguments(smdebug_package)
        find_package(${smdebug_package} QUIET)
        list(GET smdebug_package 0 smdebug_package)
        if(NOT ${smdebug_package}_FOUND)
            list(APPEND ${missing} ${smdebug_package})
        endif()
    endforeach()
    list(JOIN ${missing} ", " ${missing})
    unset(smdebug_package)
endmacro()
