# Finds the 8-bit library of PCRE2: target PCRE2::8BIT (the name that PCRE2's own package uses).
# Debian ships PCRE2 without a CMake package.  Installed beside smdebug-config.cmake, which needs it.
find_path(PCRE2_INCLUDE_DIR pcre2.h)
find_library(PCRE2_8BIT_LIBRARY pcre2-8)
mark_as_advanced(PCRE2_INCLUDE_DIR PCRE2_8BIT_LIBRARY)

if(PCRE2_INCLUDE_DIR)
    file(STRINGS ${PCRE2_INCLUDE_DIR}/pcre2.h PCRE2_VERSION REGEX "^#define PCRE2_(MAJOR|MINOR) +[0-9]+")
    list(TRANSFORM PCRE2_VERSION REPLACE "^[^0-9]*2_[A-Z]+ +" "")
    list(JOIN PCRE2_VERSION "." PCRE2_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
    PCRE2
    REQUIRED_VARS PCRE2_8BIT_LIBRARY PCRE2_INCLUDE_DIR
    VERSION_VAR PCRE2_VERSION)

if(PCRE2_FOUND AND NOT TARGET PCRE2::8BIT)
    add_library(PCRE2::8BIT UNKNOWN IMPORTED)
    set_target_properties(
        PCRE2::8BIT PROPERTIES IMPORTED_LOCATION "${PCRE2_8BIT_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES
                                                                        "${PCRE2_INCLUDE_DIR}")
endif()
