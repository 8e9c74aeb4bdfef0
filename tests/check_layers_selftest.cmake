# cmake -DSCRIPT=<check_layers.cmake> -DFOLDER=<scratch> -P check_layers_selftest.cmake
# The layer check finds each kind of breach, and is quiet where there is none.
cmake_minimum_required(VERSION 3.25)

function(expect what header includes wanted)
    file(REMOVE_RECURSE ${FOLDER})
    file(WRITE ${FOLDER}/README.md "text with [ in it
<!-- layers:begin -->
| folder | may include | third party |
|---|---|---|
| `core` | | |
| `record` | `core`, not `core/error.hpp` | intrinsics in `record/a.hpp` and `record/b.hpp` |
| `rules` | `core`, `trial/concepts.hpp` | |
| `trial` | `core` | |
| `top.hpp` | `everything`, not `rules` | |
<!-- layers:end -->
| `core` | `rules` | |
")
    foreach(file core/bytes.hpp core/error.hpp trial/concepts.hpp trial/other.hpp rules/r.hpp)
        file(WRITE ${FOLDER}/include/smdebug/${file} "#include <vector>\n")
    endforeach()
    file(WRITE ${FOLDER}/include/smdebug/${header} "${includes}\n")
    execute_process(
        COMMAND ${CMAKE_COMMAND} -DROOT=${FOLDER} -P ${SCRIPT}
        RESULT_VARIABLE status
        ERROR_VARIABLE said
        OUTPUT_QUIET)
    string(REGEX REPLACE "[ \n]+" " " said "${said}")
    if(wanted STREQUAL "")
        if(NOT status EQUAL 0)
            message(SEND_ERROR "${what}: should pass, but: ${said}")
        endif()
    elseif(status EQUAL 0)
        message(SEND_ERROR "${what}: should fail, but passes")
    else()
        string(FIND "${said}" "${wanted}" at)
        if(at EQUAL -1)
            message(SEND_ERROR "${what}: should say '${wanted}', but says: ${said}")
        endif()
    endif()
endfunction()

expect("an allowed arrow" record/a.hpp "#include <smdebug/core/bytes.hpp>" "")
expect("its own folder" core/a.hpp "#include <smdebug/core/error.hpp>" "")
expect("an arrow upwards" core/a.hpp "#include <smdebug/record/b.hpp>" "core may not include smdebug/record/b.hpp")
expect("a file taken away" record/a.hpp "  #  include <smdebug/core/error.hpp>" "record may not include smdebug/core/error.hpp")
expect("a single file" rules/a.hpp "#include <smdebug/trial/concepts.hpp>" "")
expect("its neighbour" rules/a.hpp "#include <smdebug/trial/other.hpp>" "rules may not include smdebug/trial/other.hpp")
expect("everything" top.hpp "#include <smdebug/trial/other.hpp>" "")
expect("everything, without a folder" top.hpp "#include <smdebug/rules/r.hpp>" "top.hpp may not include smdebug/rules/r.hpp")
expect("a second leaf" record/b.hpp "#include <immintrin.h>" "")
expect("a third party outside its leaf" core/a.hpp "#include <immintrin.h>" "(intrinsics) is allowed only in: record/a.hpp")
expect("the bodies of a leaf" record/impl/b.ipp "#include <immintrin.h>" "")
expect("bodies outside a leaf" core/impl/a.tpp "#include <immintrin.h>" "(intrinsics) is allowed only in: record/a.hpp")
expect("a third party without a leaf" core/a.hpp "#include <xtensor/xarray.hpp>" "(xtensor) is allowed only in:")
expect("an unknown third party" core/a.hpp "#include <boost/any.hpp>" "<boost/any.hpp> belongs to no third party")
expect("quotes" core/a.hpp "#include \"bytes.hpp\"" "not of the form #include <...>")
expect("a missing header" core/a.hpp "#include <smdebug/core/gone.hpp>" "there is no smdebug/core/gone.hpp")
expect("a folder without a row" other/a.hpp "#include <smdebug/core/bytes.hpp>" "no row for other")
