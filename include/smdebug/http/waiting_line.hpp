// Whose turn it is: requests wait until their server and the whole have room for one more.
// libcurl could hold them back itself, but they would use up their time to connect meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace http {
namespace detail {

/// First come, first served, among those whose server has room.
/// Threads: one at a time.
template <class Job>
class waiting_line {
    struct entry {
        std::uint64_t number;
        Job job;
    };
    struct lane {
        std::list<entry> waiting;
        std::size_t carried = 0;
        bool shares = false;  // whether the last answer came over a connection that carries many requests
    };

public:
    /// Where a job stands: good until the job was taken out and has ended.
    class place {
    public:
        place() = default;

    private:
        friend waiting_line;
        place(lane* server, typename std::list<entry>::iterator at) : server_(server), at_(at) {}
        lane* server_ = nullptr;
        typename std::list<entry>::iterator at_ = {};
    };

    /// At most `most` are carried at once, and `most_of_server` by a server that shares no connections; 0 counts as 1.
    waiting_line(std::size_t most, std::size_t most_of_server)
        : most_(most > 0 ? most : 1), most_of_server_(most_of_server > 0 ? most_of_server : 1) {}

    /// A server once named is remembered.
    [[nodiscard]] place push(std::string_view server, Job job);

    /// One that waits does so no more.
    void remove(const place& where) noexcept { where.server_->waiting.erase(where.at_); }

    /// Takes the job whose turn it is; nothing when none has room.
    [[nodiscard]] std::optional<Job> next();

    /// One that next() gave has ended; its server shares connections, or not, or nobody knows.
    void ended(const place& where, std::optional<bool> shares = std::nullopt) noexcept;

    /// Takes those out of the line for which give_up(job) is true.
    template <class GiveUp>
    void remove_if(GiveUp&& give_up) {
        for (auto& [server, in] : lanes_) {
            in.waiting.remove_if([&](entry& waiting) { return give_up(waiting.job); });
        }
    }

private:
    std::size_t most_;
    std::size_t most_of_server_;
    std::map<std::string, lane, std::less<>> lanes_;
    std::uint64_t count_ = 0;
    std::size_t carried_ = 0;
};

}  // namespace detail
}  // namespace http
}  // namespace v1
}  // namespace smdebug

#include <smdebug/http/impl/waiting_line.tpp>
