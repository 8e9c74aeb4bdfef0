# A port of the tree that contains it:  vcpkg install smdebug --overlay-ports=packaging/vcpkg
cmake_path(ABSOLUTE_PATH CURRENT_PORT_DIR NORMALIZE OUTPUT_VARIABLE port_folder)
cmake_path(SET SOURCE_PATH NORMALIZE "${port_folder}/../..")

vcpkg_check_features(
    OUT_FEATURE_OPTIONS feature_options
    FEATURES
        archive SMDEBUG_BUILD_ARCHIVE
        c SMDEBUG_BUILD_C
        compiled SMDEBUG_BUILD_COMPILED
        kernels SMDEBUG_BUILD_KERNELS
        s3 SMDEBUG_BUILD_S3
        tool SMDEBUG_BUILD_PROGRAM)
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS ${feature_options} -DSMDEBUG_BUILD_MPI=OFF -DSMDEBUG_WARNINGS_ARE_ERRORS=OFF -DSMDEBUG_CCACHE= "-DSMDEBUG_INSTALL_CMAKEDIR=share/${PORT}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup()
vcpkg_fixup_pkgconfig()
if("tool" IN_LIST FEATURES)
    vcpkg_copy_tools(TOOL_NAMES smdebug AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/NOTICE")
