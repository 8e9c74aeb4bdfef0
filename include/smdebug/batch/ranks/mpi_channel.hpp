// Ranks as MPI processes, started by mpirun or srun: the only header that needs MPI, of which it uses the C interface.
#pragma once

#include <smdebug/batch/ranks/channel.hpp>
#include <smdebug/batch/ranks/run_on_ranks.hpp>  // declares launched_channel() before it is defined here

#include <mpi.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Messages of MPI_COMM_WORLD, which is this object's alone while it lives; one a process.
/// No call that a dead or stopped process could hang: all is sent and received without waiting, and asked for at short
/// intervals, from 0.1 ms while messages come to 5 ms when none do; no core is kept busy.
/// A message of any size: large ones go in parts.
/// Threads:  as rank_channel; of MPI it asks for MPI_THREAD_FUNNELED.
/// Order:    made after cli::interrupt_listener, as MPI starts threads of its own; before run_on_ranks() is called, at
///           about the same time by all ranks.  `end()` is the last thing that a process does.
class mpi_channel final : public rank_channel {
public:
    /// Starts MPI, unless the program has.  `part_bytes`: the size of large messages' parts.
    /// Errors: unavailable: MPI does not start.  Where another process does not within two minutes, it ends the program.
    explicit mpi_channel(std::size_t part_bytes = std::size_t{64} << 20U);
    /// A process that ends without end(), as by an error, ends the batch: mpirun sees to it.
    ~mpi_channel() override = default;

    [[nodiscard]] int rank() const noexcept override { return rank_; }
    [[nodiscard]] int size() const noexcept override { return size_; }
    [[nodiscard]] inline std::string machine() const override;
    inline void send(int to, std::string bytes) override;
    [[nodiscard]] inline bool all_sent() override;
    [[nodiscard]] inline std::optional<packet> receive(std::chrono::milliseconds longest) override;
    inline void wake() noexcept override;
    void forget(int rank) noexcept override { forgotten_.insert(rank); }
    [[noreturn]] inline void abort(int status, const std::string& why) override;
    [[noreturn]] inline void quit(int status, const std::string& why) override;

    /// Ends MPI.  Where a rank has been forgotten MPI could not end, and this does not return: rank 0 ends all processes
    /// with this status, by MPI_Abort, for which the others wait.  What takes longer than `longest`, MPI's end or that,
    /// is not waited for: the process ends by itself.
    /// Call it when all files are closed and all is printed; what is in a buffer of C++ may be lost.
    void end(int status, std::chrono::seconds longest);
    void end(int status) override { end(status, std::chrono::seconds{10}); }

private:
    struct outgoing {
        int to = 0;
        std::string bytes = {};
        std::vector<MPI_Request> parts = {};
    };
    struct incoming {
        std::string bytes = {};
        MPI_Request request = MPI_REQUEST_NULL;
        bool is_last = true;
    };
    struct sender {
        std::list<incoming> parts = {};  // in order
        std::string message = {};        // its parts so far
    };

    // Ends the process with this status when it is not destroyed in time: MPI itself may hang.
    class time_limit {
    public:
        time_limit(int status, std::chrono::seconds longest, const char* what);
        ~time_limit();

    private:
        std::mutex mutex_;
        std::condition_variable changed_;
        bool over_ = false;
        std::jthread thread_;
    };

    void go_on_sending();
    void go_on_receiving();
    [[nodiscard]] std::optional<packet> received();

    const std::size_t part_bytes_;
    bool is_mine_ = true;
    bool ended_ = false;
    int rank_ = 0;
    int size_ = 1;
    std::list<outgoing> outgoing_;
    std::map<int, sender> incoming_;  // those of whom something is under way
    std::set<int> forgotten_;
    std::chrono::microseconds pause_;
    std::mutex mutex_;
    std::condition_variable woken_;
    bool is_woken_ = false;
};

// Not inline, though every file that includes this has them: they are weak, of which the linker keeps one.
[[gnu::weak]] std::unique_ptr<rank_channel> launched_channel() { return std::make_unique<mpi_channel>(); }
[[gnu::weak]] std::string launched_library() {
    std::string name(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
    int length = 0;
    MPI_Get_library_version(name.data(), &length);  // may be asked before MPI is started
    name.resize(static_cast<std::size_t>(length));
    return name.substr(0, name.find_first_of(",\n"));  // what follows is how it was built
}

}  // namespace v1
}  // namespace smdebug

#include <smdebug/batch/ranks/impl/mpi_channel.ipp>
