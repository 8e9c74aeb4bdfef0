# cmake -DROOT=<repository> -P check_test_files.cmake
# Every public header <folder>/<name>.hpp has its test tests/<folder>/<name>_test.cpp.  Headers without behaviour of
# their own are excepted: umbrellas, what tests/consumer builds (src.hpp), versions, and concepts (archetypes and near misses test those everywhere).
cmake_minimum_required(VERSION 3.25)
file(GLOB_RECURSE headers RELATIVE ${ROOT}/include/smdebug ${ROOT}/include/smdebug/*.hpp)
set(missing "")
foreach(header IN LISTS headers)
    string(REGEX REPLACE "\\.hpp$" "_test.cpp" test ${header})
    if(NOT header MATCHES "^(smdebug|src|[a-z0-9]+_src)\\.hpp$|/(version|concepts)\\.hpp$" AND NOT EXISTS ${ROOT}/tests/${test})
        list(APPEND missing "${header}: no tests/${test}")
    endif()
endforeach()
if(missing)
    list(JOIN missing "\n  " missing)
    message(FATAL_ERROR "Headers without a test file of their own:\n  ${missing}")
endif()
list(LENGTH headers count)
message(STATUS "${count} headers, each with its test file")
