// Random orders in which the files of a run of the Python package come to be: by several workers, late, not in order, and
// again after a restart.
#pragma once

#include "support/run_builder.hpp"
#include "support/schedules.hpp"
#include "support/standard.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/locations.hpp>

namespace smdebug_test {

/// What may happen in a run.
struct run_habits {
    int most_workers = 1;
    bool lags = false;                ///< a worker is behind, comes later than the others, or dies
    bool has_unknown_worker = false;  ///< one that the collections files do not count
    bool is_unordered = false;        ///< steps of one worker do not come in their order
    bool restarts = false;            ///< the training dies, and goes on from an earlier step
    bool is_mirrored = false;         ///< a tool copies the files from elsewhere, in an order of its own
    bool collections_grow = false;    ///< a tensor joins a collection when it is first saved
};

class run_script : public schedule_script {
public:
    run_script(std::uint64_t seed, const run_habits& how) : schedule_script(seed, 15), how_(how) {}

    [[nodiscard]] schedule write() && {
        choose_rules();
        const int count = how_.has_unknown_worker ? std::max(2, choose.between(1, how_.most_workers))
                                                  : choose.between(how_.lags ? 2 : 1, how_.most_workers);
        for (int i = 0; i < count; ++i) {
            workers_.push_back("worker_" + std::to_string(i));
        }
        slow_ = how_.lags || how_.has_unknown_worker ? choose.between(how_.has_unknown_worker ? 1 : 0, count - 1) : -1;
        has_modes_ = choose.chance(40);
        put_collections(false);
        plan_steps();
        live(0, steps_.size());
        if (how_.restarts) {
            restart();
            if (choose.chance(25)) {
                restart();
            }
        }
        rest();
        if (how_.is_mirrored) {
            mix();
        }
        put("training_job_end.ts", "end");
        made.is_plain = !how_.has_unknown_worker && !how_.is_unordered && !how_.restarts && !how_.is_mirrored &&
                        !how_.collections_grow;
        made.starts_at = choose.below(made.actions.size() * 2 / 3);
        return std::move(made);
    }

private:
    using values = std::map<std::string, std::vector<float>>;

    /// Keeps what a run_builder writes.
    struct written {
        std::vector<std::pair<std::string, std::string>> files = {};
        void write(std::string_view key, smdebug::byte_view bytes) { files.emplace_back(key, smdebug::as_text(bytes)); }
    };

    void choose_rules() {
        const std::vector<std::string> all{
            "exploding_tensor",
            "all_zero,tensor_regex=.*,all_workers=true",
            "all_zero,collection_names=weights",
            "loss_not_decreasing,tensor_regex=loss,use_losses_collection=false,num_steps=2,mode=GLOBAL",
            "unchanged_tensor,tensor_regex=.*,num_steps=2,all_workers=true",
            "nan_origin,exclude_regex=mark",
            "weight_update_ratio,large_threshold=2",
            "replica_mismatch,tensor_regex=.*"};
        made.rules = choose.some_of(all, static_cast<std::size_t>(choose.between(1, 3)));
        if (how_.collections_grow && choose.chance(70)) {
            made.rules = {"all_zero,collection_names=weights"};
        }
        made.rules.emplace_back("exploding_tensor,all_workers=true");  // it prints the marks
    }

    void put_collections(bool grown) {
        std::vector<std::string> counted = workers_;
        if (how_.has_unknown_worker) {
            counted.erase(counted.begin() + slow_);
        }
        std::vector<std::string> weights{"w"};
        if (grown || !how_.collections_grow) {
            weights.emplace_back("attn");
        }
        written store;
        run_builder<written>{store}.collections(
            counted, {{"weights", weights}, {"gradients", {"gradient/w"}}, {"losses", {"loss"}}, {"biases", {"b"}}});
        for (auto& [key, bytes] : store.files) {
            put(key, std::move(bytes), grown ? "attn joins the weights" : "");
            rest(20);
        }
    }

    void plan_steps() {
        smdebug::step_number at = choose.between(0, 4);
        const int stride = choose.chance(70) ? 1 : choose.between(2, 10);
        const int count = choose.between(5, 11);
        for (int i = 0; i < count; ++i, at += stride) {
            steps_.push_back(at);
        }
        attn_from_ = how_.collections_grow ? choose.below(steps_.size()) : 0;
    }

    [[nodiscard]] smdebug::mode mode_of(smdebug::step_number step) const {
        return has_modes_ && step % 4 == 3 ? smdebug::mode::eval : smdebug::mode::train;
    }
    [[nodiscard]] smdebug::step_number mode_step_of(smdebug::step_number step) const {
        return !has_modes_ ? step : step % 4 == 3 ? step / 4 : step - (step + 1) / 4;
    }

    [[nodiscard]] float number(float before) {
        const int kind = choose.between(0, 99);
        return kind < 5    ? std::numeric_limits<float>::quiet_NaN()
               : kind < 8  ? std::numeric_limits<float>::infinity()
               : kind < 14 ? before * 100
                           : 0.5F + static_cast<float>(choose.between(0, 1000)) / 100;
    }

    // What all workers hold at a step, if they are alike.
    [[nodiscard]] values values_at(std::size_t place) {
        values now;
        std::vector<std::pair<std::string, std::size_t>> tensors{{"w", 3}, {"gradient/w", 3}, {"loss", 1}, {"b", 2}};
        if (place >= attn_from_) {
            tensors.emplace_back("attn", 2);
        }
        for (const auto& [name, size] : tensors) {
            if (choose.chance(8)) {
                continue;  // it is not saved at this step
            }
            std::vector<float>& before = before_[name];
            before.resize(size, 1);
            std::vector<float> next = before;
            if (choose.chance(12) || (name == "attn" && choose.chance(50))) {
                next.assign(size, 0);
            } else if (!choose.chance(20)) {
                for (float& each : next) {
                    each = number(each);
                }
            }
            now[name] = next;
            const bool is_sane =
                std::all_of(next.begin(), next.end(), [](float one) { return one > -1e6F && one < 1e6F; });
            before = is_sane ? next : before;
        }
        if (now.empty()) {
            now["loss"] = {1};
        }
        return now;
    }

    [[nodiscard]] static std::string words(const values& of) {
        std::string text;
        for (const auto& [name, some] : of) {
            text += (text.empty() ? "" : ", ") + name + " =";
            for (const float each : some) {
                text += " " + (each == each ? std::to_string(each).substr(0, 5) : std::string{"nan"});
            }
        }
        return text;
    }

    // One worker's files of a step.
    void save(std::size_t place, std::size_t worker, values some, bool again) {
        if (choose.chance(12)) {
            auto one = std::next(some.begin(), static_cast<std::ptrdiff_t>(choose.below(some.size())));
            one->second.front() = number(one->second.front());  // it is not as the others are
        }
        const smdebug::step_number step = steps_[place];
        written_step saved{
            .step = step, .mode = mode_of(step), .mode_step = mode_step_of(step), .worker = workers_[worker]};
        for (const auto& [name, elements] : some) {
            saved.tensors.push_back(name == "loss" ? tensor_of<float>(name, elements, {})
                                                   : tensor_of<float>(name, elements));
        }
        if (again ? shuffles_ : choose.chance(30)) {
            std::reverse(saved.tensors.begin(), saved.tensors.end());
        }
        std::string mark;
        if (choose.chance(20)) {
            mark = "mark" + std::to_string(++marks_);
            saved.tensors.push_back(tensor_of<float>(mark, {std::numeric_limits<float>::infinity()}));
        }
        written store;
        run_builder<written>{store}.step(saved);
        auto& [event_key, events] = store.files.at(0);
        auto& [index_key, index] = store.files.at(1);
        const std::string means = "step " + std::to_string(step) + " of " + workers_[worker] + ": " + words(some);
        put_file(event_key, events, means, again, false);
        if (choose.chance(30)) {
            pause(choose.between(1, 10));
        }
        put_file(index_key, index, "", again, true);
        if (!mark.empty()) {
            await_maybe(mark);
        }
    }

    void put_file(const std::string& key, const std::string& bytes, const std::string& means, bool again,
                  bool completes) {
        const bool in_place = again ? overwrites_in_place_ : choose.chance(20);
        if (!in_place) {
            put(key, bytes, means).all_is_whole = completes;
            return;
        }
        const std::size_t half = choose.below(bytes.size());
        begin(key, bytes.substr(0, half), means).all_is_whole = false;
        pause(choose.between(1, 10)).all_is_whole = false;
        append(key, bytes.substr(half)).all_is_whole = completes;
    }

    // The steps of some places are written, by all workers.
    void live(std::size_t begin, std::size_t end, bool again = false) {
        std::vector<values> planned;
        for (std::size_t place = begin; place < end; ++place) {
            planned.push_back(values_at(place));
        }
        std::vector<std::vector<std::size_t>> order(workers_.size());
        for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
            for (std::size_t place = begin; place < end; ++place) {
                order[worker].push_back(place);
            }
            if (how_.is_unordered) {
                for (std::size_t i = 1; i < order[worker].size(); ++i) {
                    if (choose.chance(30)) {
                        std::swap(order[worker][i], order[worker][i - 1 - choose.below(std::min<std::size_t>(i, 3))]);
                    }
                }
            }
        }
        if (how_.lags && choose.chance(20)) {
            auto& last = order[static_cast<std::size_t>(slow_)];
            last.resize(choose.below(last.size()));  // it dies
        }
        const int patience = choose.chance(50) ? 4 : 20;
        bool has_grown = has_grown_;
        std::vector<std::size_t> next(workers_.size());
        while (true) {
            std::vector<std::size_t> ready;
            std::size_t least = SIZE_MAX;
            for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
                if (next[worker] < order[worker].size()) {
                    least = std::min(least, next[worker]);
                    ready.push_back(worker);
                }
            }
            if (ready.empty()) {
                break;
            }
            std::erase_if(ready, [&](std::size_t worker) {
                return ready.size() > 1 && slow_ >= 0 && worker == static_cast<std::size_t>(slow_) &&
                       !choose.chance(patience);
            });
            if (slow_ < 0 && choose.chance(80)) {
                std::erase_if(ready, [&](std::size_t worker) { return next[worker] > least; });
            }
            const std::size_t worker = choose.one_of(ready);
            const std::size_t place = order[worker][next[worker]++];
            if (how_.collections_grow && !has_grown && place >= attn_from_) {
                put_collections(true);
                has_grown = has_grown_ = true;
            }
            save(place, worker, planned[place - begin], again);
            rest();
        }
    }

    // Files come a few places earlier or later than they were written.
    void mix() {
        std::vector<std::vector<action>> files(1);
        for (action& one : made.actions) {
            const bool is_over = one.all_is_whole || one.does == action::kind::put || one.does == action::kind::append;
            one.all_is_whole = false;
            files.back().push_back(std::move(one));
            if (is_over) {
                files.emplace_back();
            }
        }
        made.actions.clear();
        for (std::size_t i = 0; i < files.size(); ++i) {
            std::swap(files[i], files[i + choose.below(std::min<std::size_t>(files.size() - i, 8))]);
            made.actions.insert(made.actions.end(), files[i].begin(), files[i].end());
        }
    }

    void restart() {
        let_look();
        const std::size_t from = choose.below(steps_.size());
        overwrites_in_place_ = choose.chance(25);
        shuffles_ = choose.chance(50);
        const bool removes_index = choose.chance(60);
        const bool removes_events = removes_index && choose.chance(70);
        const std::string means = "the training goes on from step " + std::to_string(steps_[from]);
        for (std::size_t place = from; place < steps_.size() && removes_index; ++place) {
            for (const std::string& worker : workers_) {
                remove(smdebug::detail::locations::index_key(steps_[place], worker), means).all_is_whole = false;
            }
        }
        for (std::size_t place = from; place < steps_.size() && removes_events; ++place) {
            for (const std::string& worker : workers_) {
                remove(smdebug::detail::locations::event_key(steps_[place], worker), means).all_is_whole = false;
            }
        }
        made.actions.back().all_is_whole = true;
        rest(80);
        if (removes_events && choose.chance(20)) {  // it ends earlier than before
            steps_.resize(std::max(from + 1, steps_.size() - 1 - choose.below(2)));
        } else if (choose.chance(50)) {
            steps_.push_back(steps_.back() + 1);
        }
        if (from < steps_.size()) {
            live(from, steps_.size(), true);
        }
    }

    run_habits how_;
    std::vector<std::string> workers_;
    std::vector<smdebug::step_number> steps_;
    values before_;
    std::size_t attn_from_ = 0;
    int slow_ = -1;
    int marks_ = 0;
    bool has_modes_ = false;
    bool has_grown_ = false;
    bool overwrites_in_place_ = false;
    bool shuffles_ = false;
};

[[nodiscard]] inline schedule run_schedule(std::uint64_t seed, const run_habits& how) {
    return run_script{seed, how}.write();
}

}  // namespace smdebug_test
