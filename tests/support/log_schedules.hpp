// Random orders in which logs of TensorBoard come to be: tags with counters of their own, further files and folders, records
// in pieces, and steps that are written again.
#pragma once

#include "support/log_builder.hpp"
#include "support/schedules.hpp"
#include "support/standard.hpp"

namespace smdebug_test {

/// What may happen in a log.
struct log_habits {
    int most_folders = 1;
    bool has_counters = false;  ///< tags with steps of their own: by epoch, of the step before, at step 0
    bool has_files = false;     ///< a second file in a folder, with old steps
    bool is_cut = false;        ///< records come in pieces, and as zeros that are filled later
    bool repeats = false;       ///< steps go back; the same point is written twice
    bool has_late_folder = false;
    bool has_modes = false;  ///< train/ and validation/
    bool are_runs = false;   ///< each folder is a run of its own
};

class log_script : public schedule_script {
public:
    log_script(std::uint64_t seed, const log_habits& how) : schedule_script(seed, 120), how_(how) {}

    [[nodiscard]] schedule write() && {
        choose_rules();
        std::vector<std::string> names{"", "r1", "r2", "sub/r3"};
        if (how_.are_runs) {
            names = {"r1", "r2", "sub/r3"};
            made.options = {"--runs-from-folders"};
        } else if (how_.has_modes) {
            names = {"train", "validation"};
        }
        const int least = how_.has_late_folder || how_.has_modes ? 2 : 1;
        names = choose.some_of(names, static_cast<std::size_t>(std::max(least, choose.between(1, how_.most_folders))));
        for (const std::string& name : names) {
            folders_.push_back(records_of(name));
        }
        merge();
        made.is_plain = !how_.has_counters && !how_.has_files && !how_.repeats && folders_.size() == 1;
        // A log that ends is one that was not written to for long.
        rest();
        age();
        made.starts_at = choose.below(made.actions.size() / 2 + 1);
        return std::move(made);
    }

private:
    struct record {
        std::string file;
        std::string bytes;
        std::string means;
        std::string mark = {};  ///< what a reader prints about it
    };
    struct folder {
        std::string name;
        std::vector<record> records = {};
        std::size_t next = 0;
        std::string mark = {};  ///< of the last record
    };

    void choose_rules() {
        const std::vector<std::string> all{
            "all_zero,tensor_regex=.*,all_workers=true",
            "loss_not_decreasing,tensor_regex=loss,use_losses_collection=false,num_steps=2,mode=GLOBAL",
            "unchanged_tensor,tensor_regex=.*,num_steps=2,all_workers=true", "nan_origin,exclude_regex=mark",
            "loss_spike"};
        made.rules = choose.some_of(all, static_cast<std::size_t>(choose.between(0, 3)));
        made.rules.emplace_back("exploding_tensor,all_workers=true");  // it prints the marks
    }

    [[nodiscard]] float number() {
        const int kind = choose.between(0, 99);
        return kind < 8    ? std::numeric_limits<float>::quiet_NaN()
               : kind < 11 ? std::numeric_limits<float>::infinity()
               : kind < 20 ? 0.0F
               : kind < 30 ? 1.0F
                           : static_cast<float>(choose.between(1, 1000)) / 100;
    }

    void add_points(folder& to, const std::string& file, int step, const std::vector<std::string>& tags) {
        std::vector<std::string> values;
        std::string means = "step " + std::to_string(step) + ":";
        for (const std::string& tag : tags) {
            const float one = number();
            values.push_back(scalar_value(tag, one));
            means += " " + tag + " " + (one == one ? std::to_string(one).substr(0, 5) : std::string{"nan"});
        }
        std::string mark;
        if (choose.chance(25)) {
            mark = "mark" + std::to_string(++marks_);
            values.push_back(scalar_value(mark, std::numeric_limits<float>::infinity()));
            means += " " + mark;
        }
        to.records.push_back({file, log_record(step, values, 1.5e9 + step), means, mark});
    }

    [[nodiscard]] static std::string file_of(const std::string& folder, int count) {
        return (folder.empty() ? "" : folder + "/") + std::string{"events.out.tfevents.17000000"} +
               std::to_string(10 + count) + ".host.1." + std::to_string(count);
    }

    [[nodiscard]] folder records_of(const std::string& name) {
        folder made_here{name};
        std::string file = file_of(name, 0);
        int files = 1;
        int step = choose.chance(80) ? 0 : choose.between(1, 50);
        const int stride = choose.chance(70) ? 1 : 5;
        const int epochs = choose.between(2, 4);
        for (int epoch = 0; epoch < epochs; ++epoch) {
            const int count = choose.between(2, 4);
            for (int i = 0; i < count; ++i, step += stride) {
                add_points(made_here, file, step, {"train/loss", "acc"});
                if (how_.has_counters && i > 0 && choose.chance(30)) {
                    add_points(made_here, file, step - stride, {"eval/loss"});
                }
                if (how_.repeats && choose.chance(10)) {
                    made_here.records.push_back(made_here.records.back());
                    made_here.records.back().means += ", the same once more";
                }
            }
            if (how_.has_counters && choose.chance(70)) {
                add_points(made_here, file, epoch, {"val/loss"});
            }
            if (how_.has_files && choose.chance(40)) {
                const std::string second = file_of(name, files++);
                add_points(made_here, second, choose.chance(50) ? 0 : std::max(0, step - 3 * stride), {"hp_metric"});
                file = choose.chance(30) ? second : file;
            }
            if (how_.repeats && choose.chance(35)) {
                step = std::max(0, step - stride * choose.between(1, 4));
                file = choose.chance(50) ? file_of(name, files++) : file;
                if (choose.chance(40)) {
                    made_here.records.push_back(
                        {file, log_restart(step), "the training starts again at step " + std::to_string(step)});
                }
            }
        }
        return made_here;
    }

    void merge() {
        const std::size_t late = how_.has_late_folder ? choose.below(folders_.size()) : folders_.size();
        while (true) {
            std::vector<folder*> ready;
            for (folder& each : folders_) {
                if (each.next < each.records.size()) {
                    ready.push_back(&each);
                }
            }
            if (ready.empty()) {
                return;
            }
            if (ready.size() > 1 && late < folders_.size() && !choose.chance(3)) {
                std::erase(ready, &folders_[late]);
            }
            folder& one = *choose.one_of(ready);
            const std::size_t left = one.records.size() - one.next;
            const std::string before = std::exchange(one.mark, {});
            write(one, how_.is_cut && choose.chance(25) ? std::min<std::size_t>(left, 1 + choose.below(3)) : 1);
            if (!before.empty()) {
                await_maybe(before);  // its step is over, as another one has come
            }
            rest(50);
        }
    }

    // The next records of a folder.
    void write(folder& of, std::size_t count) {
        const std::string file = of.records[of.next].file;
        std::string bytes;
        std::string means;
        for (; count > 0 && of.next < of.records.size() && of.records[of.next].file == file; --count, ++of.next) {
            bytes += of.records[of.next].bytes;
            means += (means.empty() ? "" : "; ") + of.records[of.next].means;
            of.mark = of.records[of.next].mark;
        }
        std::size_t& size = sizes_[file];
        if (size == 0) {
            begin(file, log_head());
            size = log_head().size();
            rest(20);
        }
        const std::size_t offset = size;
        size += bytes.size();
        if (!how_.is_cut || choose.chance(60)) {
            append(file, bytes, means);
            return;
        }
        const std::size_t here = choose.below(bytes.size());
        if (choose.chance(40)) {
            append(file, bytes.substr(0, here), means + ", as far as the first bytes").all_is_whole = false;
            let_look();
            append(file, bytes.substr(here), "... and the rest");
            return;
        }
        append(file, bytes.substr(0, here) + std::string(bytes.size() - here, '\0'),
               means + ", zeros from byte " + std::to_string(here) + " of it on")
            .all_is_whole = false;
        let_look();
        if (choose.chance(50)) {
            const std::size_t more = choose.below(bytes.size() - here);
            patch(file, offset + here, bytes.substr(here, more), "some of it is filled").all_is_whole = false;
            rest();
        }
        patch(file, offset + here, bytes.substr(here), "it is filled");
    }

    log_habits how_;
    std::vector<folder> folders_;
    std::map<std::string, std::size_t> sizes_;
    int marks_ = 0;
};

[[nodiscard]] inline schedule log_schedule(std::uint64_t seed, const log_habits& how) {
    return log_script{seed, how}.write();
}

}  // namespace smdebug_test
