# smdebug::mpi: a batch over the processes of mpirun or srun; apart, because only it needs MPI.  The rest of batch/ranks/ needs
# none.  Included by CMakeLists.txt, which has the list library_headers.
set(SMDEBUG_BUILD_MPI AUTO CACHE STRING "smdebug::mpi, and with it in the program: AUTO (where MPI is found), ON, OFF")
set_property(CACHE SMDEBUG_BUILD_MPI PROPERTY STRINGS AUTO ON OFF)
set(parts_of_mpi "smdebug/batch/ranks/(impl/)?mpi_")
set(mpi_headers ${library_headers})
list(FILTER mpi_headers INCLUDE REGEX "/include/${parts_of_mpi}")
list(REMOVE_ITEM library_headers ${mpi_headers})

if(SMDEBUG_BUILD_MPI)
    set(MPI_CXX_SKIP_MPICXX TRUE)  # the C interface is enough; that of C++ is none of MPI any more
    find_package(MPI 3.0 QUIET COMPONENTS CXX)
    if(MPI_CXX_FOUND)
        add_library(smdebug_mpi INTERFACE)
        add_library(smdebug::mpi ALIAS smdebug_mpi)
        set_target_properties(smdebug_mpi PROPERTIES EXPORT_NAME mpi VERIFY_INTERFACE_HEADER_SETS ${PROJECT_IS_TOP_LEVEL})
        target_sources(smdebug_mpi INTERFACE FILE_SET HEADERS BASE_DIRS include FILES ${mpi_headers})
        target_link_libraries(smdebug_mpi INTERFACE smdebug MPI::MPI_CXX)
    elseif(SMDEBUG_BUILD_MPI STREQUAL "AUTO")
        message(STATUS "smdebug: without smdebug::mpi; MPI was not found (Debian: libopenmpi-dev)")
    else()
        message(FATAL_ERROR "SMDEBUG_BUILD_MPI is ${SMDEBUG_BUILD_MPI}, and MPI was not found (Debian: libopenmpi-dev).")
    endif()
endif()
