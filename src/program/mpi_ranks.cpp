#include <program/mpi_ranks.hpp>

#include <smdebug/core/error.hpp>

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace smdebug::inline v1::cli::detail {

namespace {

// A failure in MPI ends all processes, as is usual.
class mpi_channel final : public rank_channel {
public:
    mpi_channel() {
        int level = MPI_THREAD_SINGLE;
        if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS) {
            throw unavailable("MPI does not start");
        }
        if (level < MPI_THREAD_SERIALIZED) {
            throw unavailable("this MPI is for programs without threads: it has no MPI_THREAD_SERIALIZED");
        }
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
    }
    [[nodiscard]] int rank() const noexcept override { return rank_; }
    [[nodiscard]] int size() const noexcept override { return size_; }
    void send(int to, std::string_view text) override {
        MPI_Send(text.data(), static_cast<int>(text.size()), MPI_BYTE, to, 0, MPI_COMM_WORLD);
    }
    [[nodiscard]] std::optional<std::pair<int, std::string>> receive() override {
        int is_there = 0;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &is_there, &status);
        if (is_there == 0) {
            return std::nullopt;
        }
        int size = 0;
        MPI_Get_count(&status, MPI_BYTE, &size);
        std::string text(static_cast<std::size_t>(size), '\0');
        MPI_Recv(text.data(), size, MPI_BYTE, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return std::pair{status.MPI_SOURCE, std::move(text)};
    }
    void end() override { MPI_Finalize(); }

private:
    int rank_ = 0;
    int size_ = 1;
};

}  // namespace

rank_starter mpi_ranks() {
    std::string name(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
    int length = 0;
    MPI_Get_library_version(name.data(), &length);  // may be asked before MPI is started
    name.resize(static_cast<std::size_t>(length));
    return {.library = name.substr(0, name.find_first_of(",\n")),  // what follows is how it was built
            .start = [] { return std::make_unique<mpi_channel>(); }};
}

}  // namespace smdebug::inline v1::cli::detail
