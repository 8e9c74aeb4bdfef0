# Finds libzstd: target Zstd::Zstd.
# Debian ships it without a CMake package.  Installed beside smdebug-config.cmake, which needs it.
find_path(Zstd_INCLUDE_DIR zstd.h)
find_library(Zstd_LIBRARY zstd)
mark_as_advanced(Zstd_INCLUDE_DIR Zstd_LIBRARY)

if(Zstd_INCLUDE_DIR)
    file(STRINGS ${Zstd_INCLUDE_DIR}/zstd.h Zstd_VERSION REGEX "^#define ZSTD_VERSION_(MAJOR|MINOR|RELEASE) +[0-9]+")
    list(TRANSFORM Zstd_VERSION REPLACE "^[^0-9]*ZSTD_VERSION_[A-Z]+ +([0-9]+).*" "\\1")
    list(JOIN Zstd_VERSION "." Zstd_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
    Zstd
    REQUIRED_VARS Zstd_LIBRARY Zstd_INCLUDE_DIR
    VERSION_VAR Zstd_VERSION)

if(Zstd_FOUND AND NOT TARGET Zstd::Zstd)
    add_library(Zstd::Zstd UNKNOWN IMPORTED)
    set_target_properties(
        Zstd::Zstd PROPERTIES IMPORTED_LOCATION "${Zstd_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Zstd_INCLUDE_DIR}")
endif()
