// Messages between the processes of a batch, as little as it needs of MPI: mpi_channel has it, tests a fake.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace smdebug {
inline namespace v1 {

/// What one process, the rank rank() of size(), has to do with the others.
/// No call waits for another process: who is dead or stopped holds up nobody.
/// Messages of one rank to another come in order, each once, whole.
/// Threads: one, the one that made it; only wake() may be called by any.
class rank_channel {
public:
    struct packet {
        int from = 0;
        std::string bytes = {};  ///< empty: a part of a message has come, more is to come.  Its rank lives.
    };

    rank_channel() = default;
    rank_channel(const rank_channel&) = delete;
    rank_channel& operator=(const rank_channel&) = delete;
    virtual ~rank_channel() = default;

    [[nodiscard]] virtual int rank() const noexcept = 0;
    [[nodiscard]] virtual int size() const noexcept = 0;
    /// The machine's name, for people.
    [[nodiscard]] virtual std::string machine() const = 0;

    /// Puts a message, which is not empty, on its way.  It goes on while receive() is called.
    virtual void send(int to, std::string bytes) = 0;
    /// Whether all messages are on their way, but for those to forgotten ranks.
    [[nodiscard]] virtual bool all_sent() = 0;
    /// The next message, from whomever; nothing when none came for so long, or wake() was called.
    [[nodiscard]] virtual std::optional<packet> receive(std::chrono::milliseconds longest) = 0;
    /// receive() returns, this call of it or the next one.  Threads: any.
    virtual void wake() noexcept = 0;
    /// A rank that does not answer: nothing waits for it from now on, and the processes end without it, by abort().
    virtual void forget(int rank) noexcept = 0;

    /// Ends all processes of the batch at once, this one too, which prints `why`.
    [[noreturn]] virtual void abort(int status, const std::string& why) = 0;
    /// Ends this process alone, which prints `why`; the launcher may end the others, too.
    [[noreturn]] virtual void quit(int status, const std::string& why) = 0;
    /// The last thing that a process does with it, once all files are closed and all is printed.  Where a rank has been
    /// forgotten, or the others do not come to their end, it ends processes with this status.
    virtual void end(int status) = 0;
};

}  // namespace v1
}  // namespace smdebug
