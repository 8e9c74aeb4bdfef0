# Tests of the project itself: layers, self-contained headers, linking, packaging, formatting.
set(include_folder ${PROJECT_SOURCE_DIR}/include)

function(add_infrastructure_test name)
    add_test(NAME ${name} COMMAND ${ARGN})
    set_tests_properties(${name} PROPERTIES LABELS infrastructure TIMEOUT 600 SKIP_RETURN_CODE 77)
endfunction()

set(check_layers ${SMDEBUG_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/check_layers.py)
add_infrastructure_test(layers ${check_layers} ${PROJECT_SOURCE_DIR})
add_infrastructure_test(layers_selftest ${check_layers} --self-test)
set(check_words ${SMDEBUG_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/check_words.py)
add_infrastructure_test(words ${check_words} ${PROJECT_SOURCE_DIR})
add_infrastructure_test(words_selftest ${check_words} --self-test)
add_infrastructure_test(digests ${SMDEBUG_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/check_digests.py ${PROJECT_SOURCE_DIR})
add_infrastructure_test(public_types ${SMDEBUG_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/headers.py ${PROJECT_SOURCE_DIR} --at-most 269)
add_infrastructure_test(public_members ${SMDEBUG_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/headers.py ${PROJECT_SOURCE_DIR} --hides-detail)
add_infrastructure_test(every_name ${SMDEBUG_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/headers.py ${PROJECT_SOURCE_DIR} --named-in
                        ${CMAKE_CURRENT_SOURCE_DIR}/every_name/every_name.cpp)
add_infrastructure_test(
    header_has_test ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -P ${CMAKE_CURRENT_SOURCE_DIR}/check_test_files.cmake)

add_infrastructure_test(
    parts_of_src ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -P ${CMAKE_CURRENT_SOURCE_DIR}/check_parts.cmake)

find_program(SMDEBUG_CLANG_FORMAT NAMES clang-format-16 clang-format)
add_infrastructure_test(
    format ${SMDEBUG_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/check_format.sh ${PROJECT_SOURCE_DIR} ${SMDEBUG_CLANG_FORMAT})

# Each header compiles alone (CMake's own check); as a test, so that one broken header does not stop the build of the
# others.
if(PROJECT_IS_TOP_LEVEL)
    set(keep_going)
    if(CMAKE_GENERATOR STREQUAL "Ninja")
        set(keep_going -- -k 0)
    endif()
    add_infrastructure_test(headers_self_contained ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target
                            all_verify_interface_header_sets -j 2 ${keep_going})
    set_tests_properties(headers_self_contained PROPERTIES LABELS "infrastructure;slow" TIMEOUT 1500)
endif()

# --- scripts that call the compiler like a user, with the flags of smdebug::smdebug and no others -------------------
set(compile_flags ${CMAKE_CURRENT_BINARY_DIR}/compile_flags.txt)
add_library(user_flags OBJECT EXCLUDE_FROM_ALL main.cpp)  # never built: only its flags are read
target_link_libraries(user_flags PRIVATE smdebug::s3 smdebug::archive)
set(includes $<TARGET_PROPERTY:user_flags,INCLUDE_DIRECTORIES>)
set(definitions $<TARGET_PROPERTY:user_flags,COMPILE_DEFINITIONS>)
set(third_party_includes "$<REMOVE_DUPLICATES:$<FILTER:${includes},EXCLUDE,^(/usr/include|${include_folder})$>>")
file(
    GENERATE
    OUTPUT ${compile_flags}
    CONTENT
        "-std=c++20
-I\"${include_folder}\"
$<$<BOOL:${third_party_includes}>:-isystem\"$<JOIN:${third_party_includes},\"\n-isystem\">\">
$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},\n-D>>
")
set(user_compiler ${CMAKE_CXX_COMPILER} @${compile_flags})
# --- pages: links, C++ (with the compiled form's headers, which have the same declarations and parse four times as
# fast), commands
set(check_docs ${SMDEBUG_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/check_docs.py)
add_infrastructure_test(docs/selftest ${check_docs} --self-test ${CMAKE_CURRENT_BINARY_DIR}/docs_selftest ${CMAKE_CXX_COMPILER} -std=c++20)
add_infrastructure_test(docs/links ${check_docs} links ${PROJECT_SOURCE_DIR})
if(TARGET smdebug::program)
    add_infrastructure_test(docs/cpp ${check_docs} compile ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/docs_cpp ${user_compiler}
                            -DSMDEBUG_COMPILED)
endif()
if(TARGET smdebug_executable AND TARGET train_mlp AND NOT SMDEBUG_SANITIZE)
    set(shown_programs $<TARGET_FILE:smdebug_executable> $<TARGET_FILE:train_mlp>)
    add_infrastructure_test(docs/pictures ${SMDEBUG_PYTHON} -B ${PROJECT_SOURCE_DIR}/docs/rules/pictures.py --check
                            ${CMAKE_CURRENT_BINARY_DIR}/docs_pictures ${shown_programs})
    if(TARGET custom_rule)
        list(APPEND shown_programs $<TARGET_FILE:custom_rule>)
    endif()
    if(SMDEBUG_USE_COMPILED)  # also runs C++ of the pages: its program takes half a minute to build, header-only longer
        set(docs_source ${CMAKE_CURRENT_BINARY_DIR}/docs_blocks.cpp)
        file(GLOB_RECURSE docs_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
        add_custom_command(
            OUTPUT ${docs_source}
            COMMAND ${check_docs} source ${PROJECT_SOURCE_DIR} ${docs_source}
            DEPENDS ${docs_pages} ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md ${CMAKE_CURRENT_SOURCE_DIR}/check_docs.py
            VERBATIM)
        add_executable(docs_blocks ${docs_source})
        target_link_libraries(docs_blocks PRIVATE smdebug_form)
        target_compile_options(docs_blocks PRIVATE -O0)
        list(APPEND shown_programs $<TARGET_FILE:docs_blocks>)
    endif()
    add_infrastructure_test(docs/console ${check_docs} run ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/docs_console ${shown_programs})
endif()
find_program(SMDEBUG_DOXYGEN doxygen)
if(SMDEBUG_DOXYGEN AND PROJECT_IS_TOP_LEVEL)
    add_infrastructure_test(docs/html ${SMDEBUG_BASH} ${PROJECT_SOURCE_DIR}/docs/build.sh)
    set_tests_properties(docs/html PROPERTIES LABELS "infrastructure;slow")
endif()

foreach(folder record wire tensor reduce)
    file(GLOB headers CONFIGURE_DEPENDS ${include_folder}/smdebug/${folder}/*.hpp)
    if(headers)
        add_infrastructure_test(
            no_exceptions/${folder} ${SMDEBUG_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/check_no_exceptions.sh ${include_folder} ${folder}
            ${user_compiler})
    endif()
endforeach()

add_infrastructure_test(nothing_emitted ${SMDEBUG_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/check_nothing_emitted.sh ${user_compiler})
# The oldest clang that docs/install.md names, Debian 12's clang++: header-only, all entry headers.
find_program(SMDEBUG_OLDEST_CLANG clang++-14)
if(SMDEBUG_OLDEST_CLANG AND TARGET smdebug::program)
    set(doors s3.hpp archive.hpp formats.hpp batch/run_batch.hpp report/write_report.hpp rule_main.hpp)
    list(TRANSFORM doors PREPEND "-include;smdebug/")
    add_infrastructure_test(oldest_clang ${SMDEBUG_OLDEST_CLANG} @${compile_flags} -fsyntax-only -Wall -Wextra -Werror ${doors}
                            ${CMAKE_CURRENT_SOURCE_DIR}/every_name/every_name.cpp)
endif()
add_infrastructure_test(hosts ${SMDEBUG_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/check_hosts.sh ${user_compiler})
add_infrastructure_test(requirements ${SMDEBUG_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/check_requirements.sh ${user_compiler})

# A look-up as a std::expected, which C++23 has.
if("cxx_std_23" IN_LIST CMAKE_CXX_COMPILE_FEATURES)
    add_executable(lookup_as_expected trial/lookup_as_expected.cpp)
    target_link_libraries(lookup_as_expected PRIVATE smdebug_form smdebug_warnings)
    target_compile_features(lookup_as_expected PRIVATE cxx_std_23)
    add_infrastructure_test(lookup_as_expected lookup_as_expected)
endif()

# Near misses: what does not compile, and says why.
add_infrastructure_test(compile_fail ${SMDEBUG_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/check_compile_fail.py
                        ${CMAKE_CURRENT_SOURCE_DIR}/compile_fail.txt ${user_compiler} -DSMDEBUG_COMPILED)

add_infrastructure_test(
    compile_time ${SMDEBUG_PYTHON} -B ${PROJECT_SOURCE_DIR}/benchmarks/compile_time/table.py ${include_folder} ${user_compiler})
set_tests_properties(compile_time PROPERTIES COST 1000 TIMEOUT 1500 LABELS "infrastructure;slow")

# --- the two forms of the library -----------------------------------------------------------------------------------
if(TARGET smdebug_compiled)
    add_infrastructure_test(forms ${SMDEBUG_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/check_forms.sh $<TARGET_FILE:smdebug_compiled>
                            $<TARGET_FILE:smdebug_kernels> -lsimdjson -lpcre2-8 -pthread -- ${user_compiler})
endif()

# --- the interface for C: its symbols, and programs in other languages, by the shared library alone ---------------------
if(TARGET smdebug_c AND NOT SMDEBUG_SANITIZE)
    set(check_c ${SMDEBUG_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/check_c.py)
    set(by_c ${PROJECT_SOURCE_DIR} $<TARGET_FILE:smdebug_c>)
    add_infrastructure_test(c/symbols ${check_c} symbols ${by_c} ${CMAKE_NM})
    foreach(test gcc:c clang:c gfortran:fortran python3:python)
        string(REGEX MATCH "(.*):(.*)" test ${test})
        find_program(SMDEBUG_TOOL_${CMAKE_MATCH_1} NAMES ${CMAKE_MATCH_1} ${CMAKE_MATCH_1}-16)
        add_infrastructure_test(
            c/${CMAKE_MATCH_1} ${check_c} ${CMAKE_MATCH_2} ${by_c} ${CMAKE_CURRENT_BINARY_DIR}/c_${CMAKE_MATCH_1}
            ${SMDEBUG_TOOL_${CMAKE_MATCH_1}} -Wl,-rpath-link,$<TARGET_FILE_DIR:smdebug_compiled>)
    endforeach()
endif()

# --- benchmarks that broke before: by warnings at -O3 for this CPU, and in the compiled form -------------------------
set(bench_folder ${PROJECT_SOURCE_DIR}/benchmarks)
set(bench_flags -I${bench_folder} -I${CMAKE_CURRENT_SOURCE_DIR} -Wall -Wextra -Werror -o ${CMAKE_CURRENT_BINARY_DIR})
add_infrastructure_test(benchmarks/log_open ${user_compiler} ${bench_flags}/log_open_bench.o -O3 -march=native -c
                        ${bench_folder}/log_open_bench.cpp)
add_infrastructure_test(benchmarks/log_open_compiled ${user_compiler} ${bench_flags}/log_open_compiled.o -O1 -DSMDEBUG_COMPILED -c
                        ${bench_folder}/log_open_bench.cpp)
if(TARGET smdebug_compiled_s3)
    add_infrastructure_test(benchmarks/s3_read ${user_compiler} ${bench_flags}/s3_read_bench -DSMDEBUG_COMPILED
                            ${bench_folder}/s3_read_bench.cpp $<TARGET_FILE:smdebug_compiled_s3> $<TARGET_FILE:smdebug_compiled>
                            $<TARGET_FILE:smdebug_kernels> -lsimdjson -lpcre2-8 -lcurl -lcrypto -lpugixml -pthread)
endif()

# --- compiled kernels: they export nothing that the linker could use in code for any CPU -----------------------------
set(symbol_check ${SMDEBUG_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/check_kernel_symbols.sh)
set(for_any_cpu "(dispatch|scalar|neon64)\\.cpp")
get_target_property(kernels smdebug_kernels SOURCES)
list(FILTER kernels EXCLUDE REGEX ${for_any_cpu})
if(kernels)
    add_infrastructure_test(kernels_symbols ${symbol_check} ${CMAKE_NM}
                            $<FILTER:$<TARGET_OBJECTS:smdebug_kernels>,EXCLUDE,${for_any_cpu}> COMMAND_EXPAND_LISTS)
endif()
add_infrastructure_test(kernels_symbols_selftest ${symbol_check} --self-test ${CMAKE_NM} ${CMAKE_CXX_COMPILER})

# --- test support -----------------------------------------------------------------------------------------------------
add_infrastructure_test(golden_compare_selftest ${SMDEBUG_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/golden_replay/compare_test.py)
add_infrastructure_test(coverage_selftest ${SMDEBUG_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/coverage.py --self-test)
add_infrastructure_test(fault_proxy_selftest ${SMDEBUG_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/s3_servers/fault_proxy_test.py)

# --- batches with the program: killed and resumed, in shards, over ranks; compared with single scans ------------------
if(TARGET smdebug_executable)
    set(batch_ranks)
    find_program(SMDEBUG_MPIRUN mpirun)
    if(SMDEBUG_MPIRUN)
        set(batch_ranks --mpirun ${SMDEBUG_MPIRUN})
    endif()
    add_infrastructure_test(batch ${SMDEBUG_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/check_batch.py $<TARGET_FILE:smdebug_executable>
                            ${test_data}/golden ${CMAKE_CURRENT_BINARY_DIR}/batch_runs ${batch_ranks})
    set_tests_properties(batch PROPERTIES PROCESSORS 2)
endif()

# --- learning and the rule learned, compared with a second implementation, written from their specification -----------
if(TARGET smdebug_executable)
    add_infrastructure_test(learned ${SMDEBUG_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/check_learned.py $<TARGET_FILE:smdebug_executable>)
    if(SMDEBUG_MPIRUN)
        add_infrastructure_test(
            learn_ranks ${SMDEBUG_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/check_learn_ranks.py $<TARGET_FILE:smdebug_executable>
            ${test_data}/golden ${CMAKE_CURRENT_BINARY_DIR}/learn_ranks_runs ${SMDEBUG_MPIRUN})
        set_tests_properties(learn_ranks PROPERTIES PROCESSORS 2)
    endif()
endif()

# --- calls that read or write files fail in turn; the power fails between any two of them -----------------------------
if(TARGET smdebug_executable)
    foreach(library failing_calls logged_calls)
        add_library(${library} SHARED faults/${library}.cpp)
        target_link_libraries(${library} PRIVATE smdebug_warnings ${CMAKE_DL_LIBS})
        target_compile_features(${library} PRIVATE cxx_std_20)
    endforeach()
    foreach(program saved_run read_runs)
        add_executable(${program} faults/${program}.cpp)
        target_link_libraries(${program} PRIVATE smdebug_test_options)
    endforeach()
    set(fault_programs $<TARGET_FILE:smdebug_executable> $<TARGET_FILE:saved_run> $<TARGET_FILE:read_runs>)
    add_infrastructure_test(
        faults ${SMDEBUG_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/check_faults.py ${fault_programs} $<TARGET_FILE:failing_calls>
        ${test_data}/golden ${CMAKE_CURRENT_BINARY_DIR}/faults)
    add_infrastructure_test(
        power_loss ${SMDEBUG_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/check_power_loss.py ${fault_programs}
        $<TARGET_FILE:logged_calls> ${test_data}/golden ${CMAKE_CURRENT_BINARY_DIR}/power_loss)
    set_tests_properties(faults power_loss PROPERTIES TIMEOUT 900 COST 300)  # some tens of seconds; all faults take longer
endif()

# --- exports, read by numpy and by readers of the other formats -------------------------------------------------------
if(TARGET smdebug_executable AND NOT SMDEBUG_SANITIZE)
    add_infrastructure_test(exports ${SMDEBUG_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/check_exports.py $<TARGET_FILE:smdebug_executable>
                            ${test_data}/golden ${CMAKE_CURRENT_BINARY_DIR}/exports)
endif()

# --- reports: their bundle matches report/src; pages made by the program, tested in a browser -------------------------
add_infrastructure_test(report_bundle ${SMDEBUG_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/check_bundle.sh ${PROJECT_SOURCE_DIR}
                        ${CMAKE_CURRENT_BINARY_DIR}/report_packages)
if(TARGET smdebug_executable)
    add_executable(report_runs report_runs/report_runs.cpp)
    target_link_libraries(report_runs PRIVATE smdebug_test_options)
    add_infrastructure_test(report_pages ${SMDEBUG_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/check_report.sh ${PROJECT_SOURCE_DIR}
                            ${CMAKE_CURRENT_BINARY_DIR}/report_packages $<TARGET_FILE:smdebug_executable>
                            $<TARGET_FILE:report_runs> ${test_data}/golden ${CMAKE_CURRENT_BINARY_DIR}/report_pages)
    set_tests_properties(report_bundle report_pages PROPERTIES RESOURCE_LOCK report_packages)
endif()

# --- installing ------------------------------------------------------------------------------------------------------
if(PROJECT_IS_TOP_LEVEL)
    set(stage ${CMAKE_CURRENT_BINARY_DIR}/stage)
    add_infrastructure_test(consumer_clean ${CMAKE_COMMAND} -E rm -rf ${stage})
    add_infrastructure_test(
        consumer_install ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${stage} --component devel)
    add_infrastructure_test(
        consumer_install_runtime ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${stage} --component runtime)
    function(add_consumer_test name flag)
        add_infrastructure_test(
            ${name} ${SMDEBUG_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/check_consumer.sh ${flag}
            ${CMAKE_CURRENT_SOURCE_DIR}/consumer ${CMAKE_CURRENT_BINARY_DIR}/${name} ${CMAKE_COMMAND} ${CMAKE_GENERATOR} ${CMAKE_CXX_COMPILER} ${ARGN})
    endfunction()
    # smdebug_DIR, not a search path: the staged package, not one installed on the machine
    add_consumer_test(consumer_of_package "" -Dsmdebug_DIR=${stage}/${CMAKE_INSTALL_DATADIR}/cmake/smdebug)
    add_consumer_test(consumer_of_folder --bare -DSMDEBUG_FOLDER=${PROJECT_SOURCE_DIR} -DSMDEBUG_BUILD_KERNELS=ON)
    set_tests_properties(consumer_clean PROPERTIES FIXTURES_SETUP stage_clean)
    set_tests_properties(
        consumer_install consumer_install_runtime PROPERTIES FIXTURES_REQUIRED stage_clean FIXTURES_SETUP stage)
    set_tests_properties(consumer_of_package PROPERTIES FIXTURES_REQUIRED stage)
    set_tests_properties(consumer_of_package consumer_of_folder PROPERTIES COST 800 TIMEOUT 1500)

    if(TARGET smdebug_compiled AND TARGET smdebug_executable AND BUILD_SHARED_LIBS)  # as in debian/rules
        add_infrastructure_test(
            debian_files ${SMDEBUG_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/check_debian_files.py ${PROJECT_SOURCE_DIR} ${CMAKE_COMMAND}
            ${PROJECT_BINARY_DIR} ${CMAKE_CURRENT_BINARY_DIR}/debian_files)
    endif()

    # The other quick ways to use smdebug; those that compile all of it, and those of other tools, are tested by hand.
    foreach(way fetchcontent pkgconfig)
        add_infrastructure_test(
            packaging/${way} ${CMAKE_COMMAND} -E env CXX=${CMAKE_CXX_COMPILER} SMDEBUG_LIMIT=500 ${SMDEBUG_BASH}
            ${PROJECT_SOURCE_DIR}/packaging/check.sh --folder ${CMAKE_CURRENT_BINARY_DIR}/packaging ${way})
    endforeach()
    # consumer_of_folder also covers what FetchContent does with the sources.
    set_tests_properties(packaging/fetchcontent PROPERTIES LABELS "infrastructure;slow")
endif()

# --- another processor: by a cross compiler and an emulator, if they are installed -----------------------------------
add_infrastructure_test(aarch64 ${SMDEBUG_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/check_aarch64.sh ${PROJECT_SOURCE_DIR}
                        ${CMAKE_CURRENT_BINARY_DIR}/aarch64 ${user_compiler})
add_infrastructure_test(aarch64_runs ${SMDEBUG_BASH} ${CMAKE_CURRENT_SOURCE_DIR}/check_aarch64_runs.sh ${PROJECT_SOURCE_DIR}
                        ${CMAKE_CURRENT_BINARY_DIR}/aarch64_runs ${user_compiler})
set_tests_properties(aarch64 aarch64_runs PROPERTIES PROCESSORS 2 COST 900 TIMEOUT 1500)
set_tests_properties(aarch64_runs PROPERTIES LABELS "infrastructure;slow" TIMEOUT 2400)
