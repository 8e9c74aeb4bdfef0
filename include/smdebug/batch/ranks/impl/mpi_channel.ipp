// The bodies of <smdebug/batch/ranks/mpi_channel.hpp>, inline in both forms of the library: no compiled one needs MPI.
#pragma once

#include <smdebug/batch/ranks/mpi_channel.hpp>

#include <smdebug/core/error.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

inline constexpr int last_part_tag = 1;
inline constexpr int other_part_tag = 2;
inline constexpr std::chrono::microseconds shortest_pause{100};
inline constexpr std::chrono::microseconds longest_pause{5'000};

}  // namespace detail

inline mpi_channel::mpi_channel(std::size_t part_bytes)
    : part_bytes_(std::clamp<std::size_t>(part_bytes, 1, std::size_t{1} << 30U)), pause_(detail::shortest_pause) {
    int is_there = 0;
    MPI_Initialized(&is_there);
    is_mine_ = is_there == 0;
    int level = MPI_THREAD_SINGLE;
    if (is_mine_) {  // it waits for all processes, one of which may never come
        const time_limit limit{1, std::chrono::seconds{120}, "MPI_Init"};
        if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) {
            throw unavailable("MPI does not start");
        }
    } else {
        MPI_Query_thread(&level);
    }
    if (level < MPI_THREAD_FUNNELED) {
        throw unavailable("this MPI is for programs without threads (MPI_THREAD_SINGLE)");
    }
    // An error of one message is not the end: who does not answer is found out otherwise.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

inline std::string mpi_channel::machine() const {
    std::array<char, MPI_MAX_PROCESSOR_NAME + 1> name{};
    int length = 0;
    MPI_Get_processor_name(name.data(), &length);
    return {name.data(), static_cast<std::size_t>(std::max(length, 0))};
}

inline void mpi_channel::send(int to, std::string bytes) {
    outgoing& message = outgoing_.emplace_back(outgoing{.to = to, .bytes = std::move(bytes)});
    for (std::size_t offset = 0; offset < message.bytes.size(); offset += part_bytes_) {
        const std::size_t length = std::min(part_bytes_, message.bytes.size() - offset);
        const bool is_last = offset + length == message.bytes.size();
        MPI_Request& request = message.parts.emplace_back(MPI_REQUEST_NULL);
        if (MPI_Isend(message.bytes.data() + offset, static_cast<int>(length), MPI_BYTE, to,
                      is_last ? detail::last_part_tag : detail::other_part_tag, MPI_COMM_WORLD,
                      &request) != MPI_SUCCESS) {
            request = MPI_REQUEST_NULL;  // it is dead; its silence will tell
        }
    }
    pause_ = detail::shortest_pause;
    go_on_sending();
}

inline void mpi_channel::go_on_sending() {
    for (auto message = outgoing_.begin(); message != outgoing_.end();) {
        int is_done = 0;
        const int status =
            MPI_Testall(static_cast<int>(message->parts.size()), message->parts.data(), &is_done, MPI_STATUSES_IGNORE);
        if (is_done != 0 || (status != MPI_SUCCESS && std::ranges::all_of(message->parts, [](MPI_Request each) {
                                 return each == MPI_REQUEST_NULL;
                             }))) {
            message = outgoing_.erase(message);
        } else {
            ++message;
        }
    }
}

inline bool mpi_channel::all_sent() {
    go_on_sending();
    return std::ranges::all_of(outgoing_, [&](const outgoing& each) { return forgotten_.contains(each.to); });
}

inline void mpi_channel::go_on_receiving() {
    for (;;) {
        int is_there = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        if (MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &message, &status) != MPI_SUCCESS ||
            is_there == 0) {
            return;
        }
        int length = 0;
        MPI_Get_count(&status, MPI_BYTE, &length);
        incoming& part = incoming_[status.MPI_SOURCE].parts.emplace_back();
        part.bytes.resize(static_cast<std::size_t>(std::max(length, 0)));
        part.is_last = status.MPI_TAG == detail::last_part_tag;
        // Not MPI_Mrecv: of a large part only the announcement may have come, and its sender may be stopped.
        if (MPI_Imrecv(part.bytes.data(), length, MPI_BYTE, &message, &part.request) != MPI_SUCCESS) {
            incoming_[status.MPI_SOURCE].parts.pop_back();
        }
    }
}

inline std::optional<mpi_channel::packet> mpi_channel::received() {
    for (auto each = incoming_.begin(); each != incoming_.end(); ++each) {
        sender& who = each->second;
        if (who.parts.empty()) {
            continue;  // the next part of its message is on the way
        }
        incoming& part = who.parts.front();
        int is_done = 0;
        const bool is_whole = MPI_Test(&part.request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS;
        if (is_whole && is_done == 0) {
            continue;
        }
        packet what{.from = each->first};
        if (!is_whole) {
            who.message.clear();  // it died while it sent
        } else if (who.message.empty()) {
            who.message = std::move(part.bytes);
        } else {
            who.message.append(part.bytes);
        }
        if (is_whole && part.is_last) {
            what.bytes = std::exchange(who.message, {});
        }
        who.parts.pop_front();
        if (who.parts.empty() && who.message.empty()) {
            incoming_.erase(each);
        }
        return what;
    }
    return std::nullopt;
}

inline std::optional<mpi_channel::packet> mpi_channel::receive(std::chrono::milliseconds longest) {
    using clock = std::chrono::steady_clock;
    const clock::time_point until = clock::now() + longest;
    for (;;) {
        go_on_sending();
        go_on_receiving();
        if (std::optional<packet> what = received()) {
            pause_ = detail::shortest_pause;
            return what;
        }
        const auto left = std::chrono::duration_cast<std::chrono::microseconds>(until - clock::now());
        std::unique_lock lock{mutex_};
        if (std::exchange(is_woken_, false) || left.count() <= 0) {
            return std::nullopt;
        }
        woken_.wait_for(lock, std::min(pause_, left), [&] { return is_woken_; });
        pause_ = std::min(pause_ * 2, detail::longest_pause);
    }
}

inline void mpi_channel::wake() noexcept {
    {
        const std::lock_guard lock{mutex_};
        is_woken_ = true;
    }
    woken_.notify_one();
}

inline mpi_channel::time_limit::time_limit(int status, std::chrono::seconds longest, const char* what)
    : thread_([this, status, longest, what] {
          std::unique_lock lock{mutex_};
          if (!changed_.wait_for(lock, longest, [&] { return over_; })) {
              static_cast<void>(
                  std::fprintf(stderr, "smdebug: %s takes too long; this process ends without it\n", what));
              std::_Exit(status);
          }
      }) {}

inline mpi_channel::time_limit::~time_limit() {
    {
        const std::lock_guard lock{mutex_};
        over_ = true;
    }
    changed_.notify_one();
}

inline void mpi_channel::abort(int status, const std::string& why) {
    static_cast<void>(std::fprintf(stderr, "smdebug: %s\n", why.c_str()));
    static_cast<void>(std::fflush(nullptr));
    const time_limit limit{status, std::chrono::seconds{5}, "MPI_Abort"};
    MPI_Abort(MPI_COMM_WORLD, status);
    std::_Exit(status);
}

inline void mpi_channel::quit(int status, const std::string& why) {
    static_cast<void>(std::fprintf(stderr, "smdebug: %s\n", why.c_str()));
    static_cast<void>(std::fflush(nullptr));
    std::_Exit(status);
}

inline void mpi_channel::end(int status, std::chrono::seconds longest) {
    if (std::exchange(ended_, true)) {
        return;
    }
    if (!forgotten_.empty() && rank_ > 0) {
        // Rank 0 is about to.  Meanwhile none may be in MPI_Finalize: Open MPI's mpirun may break where it aborts that.
        static_cast<void>(std::fflush(nullptr));
        std::this_thread::sleep_for(longest);
        std::_Exit(status);
    }
    if (!forgotten_.empty()) {
        std::string who;
        for (const int rank : forgotten_) {
            who += (who.empty() ? "rank " : ", rank ") + std::to_string(rank);
        }
        abort(status, "done, but " + who + (forgotten_.size() > 1 ? " do" : " does") +
                          " not answer: ending all processes by MPI_Abort with status " + std::to_string(status));
    }
    go_on_sending();
    for (outgoing& message : outgoing_) {
        for (MPI_Request& part : message.parts) {
            if (part != MPI_REQUEST_NULL) {
                MPI_Request_free(&part);
            }
        }
    }
    if (is_mine_) {
        static_cast<void>(std::fflush(nullptr));
        const time_limit limit{status, longest, "MPI_Finalize"};
        MPI_Finalize();
    }
}

}  // namespace v1
}  // namespace smdebug
