# Manual pages and completions of the program smdebug: printed by the program itself when it has been built, and installed with
# it.  If the program cannot run here (cross-compiling without an emulator), they are not installed, with a message.
include(GNUInstallDirs)
option(SMDEBUG_INSTALL_PAGES "Install manual pages and completions of the program" ON)
if(NOT SMDEBUG_INSTALL_PAGES)
    return()
endif()
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(STATUS "smdebug: no manual pages and completions, as the program that prints them does not run here")
    return()
endif()

set(pages ${PROJECT_BINARY_DIR}/pages)
# No file of option defaults is read, so that the pages do not depend on the builder.
set(program ${CMAKE_COMMAND} -E env SMDEBUG_CONFIG= ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:smdebug_executable>)
set(completions bash/smdebug zsh/_smdebug fish/smdebug.fish)
list(TRANSFORM completions PREPEND ${pages}/ OUTPUT_VARIABLE completion_files)
set(print_completions)
foreach(completion IN LISTS completions)
    string(REGEX REPLACE "/.*" "" shell ${completion})
    list(APPEND print_completions COMMAND ${CMAKE_COMMAND} -E make_directory ${pages}/${shell} COMMAND
         ${program} completion ${shell} > ${pages}/${completion})
endforeach()
# The program writes all pages at once; the first stands for all in the build.
add_custom_command(
    OUTPUT ${pages}/man1/smdebug.1 ${completion_files}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${pages}
    COMMAND ${program} manual --output ${pages}/man1 ${print_completions}
    DEPENDS smdebug_executable
    COMMENT "Manual pages and completions of smdebug"
    VERBATIM)
add_custom_target(smdebug_pages ALL DEPENDS ${pages}/man1/smdebug.1 ${completion_files})

install(DIRECTORY ${pages}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
install(FILES ${pages}/bash/smdebug DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${pages}/zsh/_smdebug DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
install(FILES ${pages}/fish/smdebug.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
