#include <program/ranks.hpp>

#include <smdebug/core/text_number.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>

namespace smdebug::inline v1::cli::detail {

namespace {

// What a rank says.  What else it says is its rank_end.
constexpr std::string_view next_runs = "n";    // which runs are next
constexpr std::string_view before_runs = "b";  // what is there to know before
constexpr char piece_of_made = '+';            // of what it has made; the piece follows
constexpr std::string_view end_of_made = ".";  // that was all
constexpr std::string_view failed_made = "!";  // there is no more, as it failed

// What rank 0 says.  What else it says is runs, which begin with a digit, or nothing: there are no more.
constexpr char told_before_runs = 't';       // the answer follows
constexpr std::string_view give_made = "g";  // a rank is to give what it has made

// Waits ever longer while nothing happens, so that no core is kept busy: MPI's own waiting does that.
class poll_pause {
public:
    void wait() {
        std::this_thread::sleep_for(next_);
        next_ = std::min<std::chrono::microseconds>(2 * next_, std::chrono::milliseconds{2});
    }
    void restart() { next_ = shortest; }

private:
    static constexpr std::chrono::microseconds shortest{20};
    std::chrono::microseconds next_ = shortest;
};

}  // namespace

std::size_t launched_processes() {
    // Open MPI; MPICH, Intel MPI, Slurm's pmi2; any other way of srun.
    for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
        const char* const text = std::getenv(name);
        const auto count = smdebug::detail::number_of_text<std::size_t>(text != nullptr ? text : "").value_or(0);
        if (count > 0) {
            return count;
        }
    }
    return 1;
}

int on_ranks(const rank_starter& ranks, std::size_t processes, std::string_view each_would, console& to,
             function_ref<int(rank_channel&)> work) {
    if (!ranks.start) {
        throw usage_error("this is one of " + std::to_string(processes) + " processes, each of which would " +
                          std::string{each_would} +
                          ", as this program was built without MPI; build it where CMake finds MPI, or give each "
                          "process a --shard");
    }
    const auto channel = ranks.start();
    const int status = status_of(to, [&] { return work(*channel); });
    channel->end();
    return status;
}

void check_size(const rank_channel& channel, std::string_view each_would) {
    if (channel.size() < 2) {
        throw usage_error("this is one of several processes, but MPI sees no other, and each would " +
                          std::string{each_would} +
                          "; start it by the mpirun of the MPI that `smdebug --version` names");
    }
}

std::uint64_t number_in(std::string_view digits) {
    return smdebug::detail::number_of_text<std::uint64_t>(digits).value_or(0);
}

void append_part(std::string& message, std::string_view part) {
    message.append(std::to_string(part.size())).append(":").append(part);
}

std::string_view take_part(std::string_view& message) {
    if (message.empty()) {
        return {};
    }
    const std::size_t colon = std::min(message.find(':'), message.size() - 1);
    const std::string_view part = message.substr(colon + 1, number_in(message.substr(0, colon)));
    message.remove_prefix(colon + 1 + part.size());
    return part;
}

std::string text_of(const std::vector<batch_run>& runs) {
    std::string text;
    for (const batch_run& each : runs) {
        const std::string place = std::to_string(each.place);
        const std::string beside = each.is_beside ? "1" : "0";
        for (const std::string* part : {&place, &each.path, &each.version, &each.error, &beside}) {
            append_part(text, *part);
        }
    }
    return text;
}

std::vector<batch_run> runs_of(std::string_view text) {
    std::vector<batch_run> runs;
    while (!text.empty()) {
        std::array<std::string_view, 5> parts;
        for (std::string_view& part : parts) {
            part = take_part(text);
        }
        runs.push_back({.place = number_in(parts[0]),
                        .path = std::string{parts[1]},
                        .version = std::string{parts[2]},
                        .error = std::string{parts[3]},
                        .is_beside = parts[4] == "1"});
    }
    return runs;
}

run_giver::~run_giver() {
    std::stop_source over;
    over.request_stop();
    give(
        {}, [](std::size_t) {}, over.get_token());
    for (int rank = 1; rank < channel_.size(); ++rank) {
        channel_.send(rank, {});
    }
}

void run_giver::give(const source& next, const std::function<void(std::size_t)>& done, const std::stop_token& stop) {
    poll_pause pause;
    while (ended_ + 1 < channel_.size()) {
        bool has_heard = false;
        while (const auto message = channel_.receive()) {
            hear(message->first, message->second, done);
            has_heard = true;
        }
        while (!asking_.empty()) {
            const auto runs = stop.stop_requested() || has_failed_ ? std::vector<batch_run>{} : next();
            if (!runs) {
                break;
            }
            channel_.send(asking_.front(), text_of(*runs));
            given_[static_cast<std::size_t>(asking_.front())] = runs->size();
            asking_.pop_front();
        }
        has_heard ? pause.restart() : pause.wait();
    }
}

void run_giver::hear(int rank, std::string_view text, const std::function<void(std::size_t)>& done) {
    done(std::exchange(given_[static_cast<std::size_t>(rank)], 0));
    if (text == next_runs) {
        asking_.push_back(rank);
        return;
    }
    if (text == before_runs) {
        channel_.send(rank, told_ ? told_before_runs + *told_ : std::string{});
        return;
    }
    ++ended_;
    is_whole_ = is_whole_ && text.front() == static_cast<char>(rank_end::whole);
    has_failed_ = has_failed_ || text.front() == static_cast<char>(rank_end::failed);
    if (std::erase(asking_, rank) > 0) {  // it was stopped while it waited
        channel_.send(rank, {});
    }
}

std::optional<std::string> run_giver::fetch(int rank) {
    channel_.send(rank, give_made);
    std::string made;
    for (poll_pause pause;;) {
        const auto message = channel_.receive();
        if (!message) {
            pause.wait();
            continue;
        }
        pause.restart();
        if (!message->second.starts_with(piece_of_made)) {
            return message->second == end_of_made ? std::optional{std::move(made)} : std::nullopt;
        }
        made.append(message->second, 1);
    }
}

void run_taker::ask(std::string_view what, const std::stop_token& stop) {
    if (unanswered_ == 0) {
        channel_.send(0, what);
        ++unanswered_;
    }
    for (poll_pause pause; !stop.stop_requested() && !hear();) {
        pause.wait();
    }
}

std::optional<std::string> run_taker::told(const std::stop_token& stop) {
    ask(before_runs, stop);
    return stop.stop_requested() ? std::nullopt : told_;
}

std::optional<batch_run> run_taker::next(const std::stop_token& stop) {
    if (runs_.empty() && !over_) {
        ask(next_runs, stop);
    }
    if (runs_.empty() || stop.stop_requested()) {
        return std::nullopt;
    }
    std::optional<batch_run> run = std::move(runs_.front());
    runs_.pop_front();
    return run;
}

void run_taker::end(rank_end how, const maker& make) {
    const char text = static_cast<char>(how);
    channel_.send(0, {&text, 1});
    ++unanswered_;
    std::exception_ptr failure;
    for (poll_pause pause; unanswered_ > 0;) {
        hear() ? pause.restart() : pause.wait();
        if (!std::exchange(is_fetched_, false)) {
            continue;
        }
        try {
            std::string message;
            make([&](std::string_view piece) {
                message.assign(1, piece_of_made).append(piece);
                channel_.send(0, message);
            });
            channel_.send(0, end_of_made);
        } catch (...) {
            failure = std::current_exception();
            channel_.send(0, failed_made);
        }
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

bool run_taker::hear() {
    const auto message = channel_.receive();
    if (!message) {
        return false;
    }
    const std::string& text = message->second;
    if (text == give_made) {
        is_fetched_ = true;
        return true;
    }
    --unanswered_;
    if (text.starts_with(told_before_runs)) {
        told_ = text.substr(1);
        return true;
    }
    const auto runs = runs_of(text);
    runs_.assign(runs.begin(), runs.end());
    over_ = runs_.empty();
    return true;
}

}  // namespace smdebug::inline v1::cli::detail
