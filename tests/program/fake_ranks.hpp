// Ranks as threads of this process, instead of MPI.
#pragma once

#include <program/ranks.hpp>

#include "support/standard.hpp"

#include <deque>

namespace smdebug_test {

class fake_ranks {
public:
    class channel final : public smdebug::cli::detail::rank_channel {
    public:
        channel(fake_ranks& of, int rank) : of_(of), rank_(rank) {}
        [[nodiscard]] int rank() const noexcept override { return rank_; }
        [[nodiscard]] int size() const noexcept override { return static_cast<int>(of_.boxes_.size()); }
        void send(int to, std::string_view text) override {
            const std::lock_guard lock{of_.guard_};
            of_.boxes_.at(static_cast<std::size_t>(to)).emplace_back(rank_, text);
        }
        [[nodiscard]] std::optional<std::pair<int, std::string>> receive() override {
            const std::lock_guard lock{of_.guard_};
            auto& box = of_.boxes_.at(static_cast<std::size_t>(rank_));
            if (box.empty()) {
                return std::nullopt;
            }
            std::optional first = std::move(box.front());
            box.pop_front();
            return first;
        }
        void end() override {}

    private:
        fake_ranks& of_;
        int rank_;
    };

    explicit fake_ranks(int size) : boxes_(static_cast<std::size_t>(size)) {}

    /// Runs each rank on a thread of its own; returns when all have ended.
    void run(const std::function<void(channel&)>& part) {
        std::vector<std::jthread> processes;
        for (int rank = 0; rank < static_cast<int>(boxes_.size()); ++rank) {
            processes.emplace_back([this, &part, rank] {
                channel mine{*this, rank};
                part(mine);
            });
        }
    }

    /// Messages not yet received.
    [[nodiscard]] std::size_t left() const {
        std::size_t count = 0;
        for (const auto& each : boxes_) {
            count += each.size();
        }
        return count;
    }

private:
    std::mutex guard_;
    std::vector<std::deque<std::pair<int, std::string>>> boxes_;
};

}  // namespace smdebug_test
