// Random orders in which checkpoints come to be: at once or bit by bit, not in order, again, and not for good.
#pragma once

#include "support/archive_builder.hpp"
#include "support/schedules.hpp"
#include "support/standard.hpp"

namespace smdebug_test {

/// What may happen to checkpoints.
struct checkpoint_habits {
    bool is_unordered = false;
    bool replaces = false;  ///< a checkpoint is written again
    bool removes = false;   ///< an older one is removed when the next one is there
};

class checkpoint_script : public schedule_script {
public:
    checkpoint_script(std::uint64_t seed, const checkpoint_habits& how) : schedule_script(seed, 120), how_(how) {}

    [[nodiscard]] schedule write() && {
        choose_rules();
        kind_ = choose.one_of(std::vector<form>{folder, file, npy_file, npz_file});
        const int count = choose.between(2, 6);
        std::vector<int> steps;
        for (int i = 1; i <= count; ++i) {
            steps.push_back(i * 100);
        }
        for (std::size_t i = 1; how_.is_unordered && i < steps.size(); ++i) {
            std::swap(steps[i], steps[choose.below(i + 1)]);
        }
        std::vector<int> there;
        for (const int step : steps) {
            save(step);
            there.push_back(step);
            rest(70);
            if (how_.replaces && choose.chance(40)) {
                let_look();
                save(choose.one_of(there));
                rest(70);
            }
            if (how_.removes && there.size() > 1 && choose.chance(50)) {
                const std::size_t which = choose.chance(70) ? 0 : there.size() - 1;
                fresh_.erase(file_of(there[which]));
                remove(kind_ == folder ? "checkpoint-" + std::to_string(there[which]) : file_of(there[which]));
                made.removed.insert(there[which]);
                there.erase(there.begin() + static_cast<std::ptrdiff_t>(which));
                rest();
            }
        }
        rest();
        for (const std::string& key : fresh_) {
            age(key, 15);
        }
        // A reader waits for more.  Once it has come to this one, it has seen the others.
        put(file_of(last_step), checkpoint_of({{"w", {std::numeric_limits<float>::infinity()}}}), "the last one")
            .number = 15;
        await_step(last_step);
        let_look();
        made.is_stopped = true;
        made.is_plain = is_plain();
        made.starts_at = choose.below(made.actions.size() / 2 + 1);
        return std::move(made);
    }

private:
    enum form : std::uint8_t { folder, file, npy_file, npz_file };
    static constexpr int last_step = 9900;

    // Then a checkpoint is shown when it is there: one that was written a moment ago is held back.
    [[nodiscard]] bool is_plain() const { return !how_.is_unordered && !how_.replaces && !how_.removes; }

    void choose_rules() {
        std::vector<std::string> all{"all_zero,tensor_regex=.*"};
        if (!how_.removes) {  // what is compared with a step that is gone afterwards would differ, and rightly
            all.insert(all.end(), {"unchanged_tensor,tensor_regex=.*,num_steps=2", "nan_origin", "weight_update_ratio",
                                   "all_zero,collection_names=weights"});
        }
        made.rules = choose.some_of(all, static_cast<std::size_t>(choose.between(0, 2)));
        made.rules.emplace_back("exploding_tensor");
    }

    [[nodiscard]] std::string file_of(int step) const {
        const std::string number = std::to_string(step);
        return kind_ == folder     ? "checkpoint-" + number + "/model.safetensors"
               : kind_ == file     ? "step_" + number + ".safetensors"
               : kind_ == npy_file ? "step_" + number + ".npy"
                                   : "step_" + number + ".npz";
    }

    [[nodiscard]] std::vector<float> numbers() {
        if (choose.chance(20)) {
            return last_;
        }
        const bool zeros = choose.chance(20);
        for (float& each : last_) {
            const int kind = choose.between(0, 99);
            each = zeros       ? 0
                   : kind < 6  ? std::numeric_limits<float>::quiet_NaN()
                   : kind < 10 ? std::numeric_limits<float>::infinity()
                               : static_cast<float>(choose.between(1, 1000)) / 10;
        }
        return last_;
    }

    [[nodiscard]] static std::string bytes_of(const std::vector<float>& some) {
        std::string bytes(some.size() * sizeof(float), '\0');
        std::memcpy(bytes.data(), some.data(), bytes.size());
        return bytes;
    }
    [[nodiscard]] static std::string npy(const std::vector<float>& some) {
        std::string header =
            "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(some.size()) + ",), }";
        header.resize(117, ' ');
        header += '\n';
        return std::string("\x93NUMPY\1\0", 8) + little(static_cast<std::uint16_t>(header.size())) + header +
               bytes_of(some);
    }
    [[nodiscard]] static std::string safetensors(const std::map<std::string, std::vector<float>>& tensors) {
        std::string header;
        std::string data;
        for (const auto& [name, some] : tensors) {
            const std::size_t begin = data.size();
            data += bytes_of(some);
            header += (header.empty() ? "{\"" : ",\"") + name + R"(":{"dtype":"F32","shape":[)" +
                      std::to_string(some.size()) + R"(],"data_offsets":[)" + std::to_string(begin) + "," +
                      std::to_string(data.size()) + "]}";
        }
        header += "}";
        return little(std::uint64_t{header.size()}) + header + data;
    }

    [[nodiscard]] std::string checkpoint_of(const std::map<std::string, std::vector<float>>& tensors) const {
        if (kind_ == npy_file) {
            return npy(tensors.at("w"));
        }
        if (kind_ != npz_file) {
            return safetensors(tensors);
        }
        std::map<std::string, std::string> arrays;
        for (const auto& [name, some] : tensors) {
            arrays.emplace(name + ".npy", npy(some));
        }
        return zip_of(arrays, 0);
    }

    [[nodiscard]] static std::string words(const std::vector<float>& some) {
        std::string text;
        for (const float each : some) {
            text += " " + (each == each ? std::to_string(each).substr(0, 5) : std::string{"nan"});
        }
        return text;
    }

    void save(int step) {
        std::map<std::string, std::vector<float>> tensors{{"w", numbers()}, {"fc.bias", numbers()}};
        if (choose.chance(20)) {
            tensors.emplace("late", numbers());
        }
        std::map<std::string, std::string> arrays;
        const bool is_marked = choose.chance(30);
        if (is_marked) {
            tensors["w"] = {std::numeric_limits<float>::infinity()};
        }
        std::string means = "step " + std::to_string(step) + ":";
        for (const auto& [name, some] : tensors) {
            arrays.emplace(name + ".npy", npy(some));
            means += kind_ != 2 || name == "w" ? " " + name + words(some) : "";
        }
        const std::string bytes = kind_ == 2   ? npy(tensors.at("w"))
                                  : kind_ == 3 ? zip_of(arrays, 0)
                                               : safetensors(tensors);
        const std::string key = file_of(step);
        if (choose.chance(70)) {
            // Its time is when its last byte was written, maybe before it got its name.
            const bool is_fresh = !is_plain() && !is_marked && choose.chance(40);
            put(key, bytes, means).number = is_fresh ? 0 : 15;
            is_fresh ? static_cast<void>(fresh_.insert(key)) : static_cast<void>(fresh_.erase(key));
            if (is_marked) {
                in_time(await_step(step));
            }
            return;
        }
        const std::size_t half = choose.below(bytes.size());
        begin(key, bytes.substr(0, half), means + ", bit by bit").all_is_whole = false;
        choose.chance(60) ? let_look() : static_cast<void>(pause(5));
        made.actions.back().all_is_whole = false;
        append(key, bytes.substr(half), "... and the rest");
        if (is_plain()) {
            age(key, 15);
        } else {
            fresh_.insert(key);
        }
    }

    checkpoint_habits how_;
    form kind_ = folder;
    std::set<std::string> fresh_;  // files that were written a moment ago
    std::vector<float> last_{1, 2, 3};
};

[[nodiscard]] inline schedule checkpoint_schedule(std::uint64_t seed, const checkpoint_habits& how) {
    return checkpoint_script{seed, how}.write();
}

}  // namespace smdebug_test
