#include <program/ranks.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <thread>

namespace smdebug::inline v1::cli::detail {

namespace {

constexpr std::string_view next_runs = "n";  // which runs are next; what else a rank says is its rank_end

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
        if (text == nullptr) {
            continue;
        }
        const std::string_view digits{text};
        std::size_t count = 0;
        if (std::from_chars(digits.data(), digits.data() + digits.size(), count).ec == std::errc{} && count > 0) {
            return count;
        }
    }
    return 1;
}

std::string text_of(const std::vector<batch_run>& runs) {
    std::string text;
    for (const batch_run& each : runs) {
        const std::string place = std::to_string(each.place);
        const std::string beside = each.is_beside ? "1" : "0";
        for (const std::string* part : {&place, &each.path, &each.version, &each.error, &beside}) {
            text.append(std::to_string(part->size())).append(":").append(*part);
        }
    }
    return text;
}

std::vector<batch_run> runs_of(std::string_view text) {
    const auto number = [](std::string_view digits) {
        std::uint64_t value = 0;
        static_cast<void>(std::from_chars(digits.data(), digits.data() + digits.size(), value));
        return value;
    };
    std::vector<batch_run> runs;
    while (!text.empty()) {
        std::array<std::string_view, 5> parts;
        for (std::string_view& part : parts) {
            const std::size_t colon = std::min(text.find(':'), text.size() - 1);
            part = text.substr(colon + 1, number(text.substr(0, colon)));
            text.remove_prefix(colon + 1 + part.size());
        }
        runs.push_back({.place = number(parts[0]),
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
    ++ended_;
    is_whole_ = is_whole_ && text.front() == static_cast<char>(rank_end::whole);
    has_failed_ = has_failed_ || text.front() == static_cast<char>(rank_end::failed);
    if (std::erase(asking_, rank) > 0) {  // it was stopped while it waited
        channel_.send(rank, {});
    }
}

std::optional<batch_run> run_taker::next(const std::stop_token& stop) {
    if (runs_.empty() && !over_) {
        if (unanswered_ == 0) {
            channel_.send(0, next_runs);
            ++unanswered_;
        }
        for (poll_pause pause; !stop.stop_requested() && !hear();) {
            pause.wait();
        }
    }
    if (runs_.empty() || stop.stop_requested()) {
        return std::nullopt;
    }
    std::optional<batch_run> run = std::move(runs_.front());
    runs_.pop_front();
    return run;
}

void run_taker::end(rank_end how) {
    const char text = static_cast<char>(how);
    channel_.send(0, {&text, 1});
    ++unanswered_;
    for (poll_pause pause; unanswered_ > 0;) {
        hear() ? pause.restart() : pause.wait();
    }
}

bool run_taker::hear() {
    const auto message = channel_.receive();
    if (message) {
        const auto runs = runs_of(message->second);
        runs_.assign(runs.begin(), runs.end());
        over_ = runs_.empty();
        --unanswered_;
    }
    return message.has_value();
}

}  // namespace smdebug::inline v1::cli::detail
