# The lowest and the highest version of what smdebug is built on that were tried: Debian 12's, with which its tests are run,
# and those of Debian sid, with which it compiles.  Included by CMakeLists.txt and by the installed package.
set(smdebug_versions_tried
    "xtl 0.7.2 0.8.2" "xsimd 8.1 14.3" "xtensor 0.24.3 0.27.1" "simdjson 3.0.1 4.6" "PCRE2 10.42 10.49" "CURL 7.87 8.23"
    "OpenSSL 3.0 3.6" "pugixml 1.13 1.16" "SQLite3 3.40 3.46" "CLI11 2.1.2 2.6")

# Sets `too_old` to a sentence for each package older than the lowest version tried; prints a note for those newer than
# any that was tried.
function(smdebug_check_versions too_old)
    set(sentences)
    foreach(row IN LISTS smdebug_versions_tried)
        string(REPLACE " " ";" row "${row}")
        list(GET row 0 package)
        list(GET row 1 lowest)
        list(GET row 2 highest)
        set(version "${${package}_VERSION}")
        string(REGEX MATCH "^[0-9]+\\.[0-9]+" release "${version}")
        string(REGEX MATCH "^[0-9]+\\.[0-9]+" highest_release "${highest}")
        if(version STREQUAL "")
            continue()  # not looked for, or it does not say
        elseif(version VERSION_LESS lowest)
            list(APPEND sentences "${package} ${version} is too old: smdebug needs ${lowest} or newer.")
        elseif(release VERSION_GREATER highest_release)
            message(STATUS "smdebug: ${package} ${version} is newer than any that was tried (${highest})")
        endif()
    endforeach()
    list(JOIN sentences "  " sentences)
    set(${too_old} "${sentences}" PARENT_SCOPE)
endfunction()
