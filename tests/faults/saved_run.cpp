// A training of some steps that saves by the hook, and prints what the hook reported for each step: for check_faults.py
// and check_power_loss.py.  Values follow from the step, the worker and --version, so that their writer is known.
//   saved_run [OPTION...] RUN...
//   --durable --background --tensorboard --reductions --checksums --resume     options of the hook
//   --first N --steps N --workers N --version N     where counting begins, how many steps, how many workers in this process
//   --back      goes back two steps after the last one, and writes these again as the next version
//   --leave     ends like a killed process: nothing is closed
// Prints, for each run, in the order of the hook's reports:
//   run RUN | refused WHY | again STEP | kept STEP WORKER VERSION | lost STEP WHY | end | end WHY
// "kept": the hook has reported the step as written; "again": it is going to be replaced.
#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/hook.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <unistd.h>

#include "support/standard.hpp"

namespace {

using namespace smdebug;

struct arguments {
    hook_options hook = {};
    step_number steps = 3;
    int workers = 1;
    int version = 1;
    bool goes_back = false;
    bool leaves = false;
    std::vector<std::string> runs = {};
};

arguments read_arguments(const std::vector<std::string>& given) {
    arguments read;
    read.hook.save_config = {.save_interval = 1};
    read.hook.save_all = true;
    read.hook.on_note = [](const std::string&) {};
    for (std::size_t i = 0; i < given.size(); ++i) {
        const std::string& what = given[i];
        const auto number = [&] { return std::atoi(given.at(++i).c_str()); };
        if (what == "--durable") {
            read.hook.durability = durability::on_disk;
        } else if (what == "--background") {
            read.hook.background.pool_bytes = std::size_t{1} << 20U;
        } else if (what == "--tensorboard") {
            read.hook.export_tensorboard = true;
            read.hook.tensorboard_interval = std::chrono::milliseconds{0};
        } else if (what == "--reductions") {
            read.hook.reduction_config = reduction_config{
                .reductions = {"min", "mean"}, .norms = {"l2"}, .save_raw_tensor = true, .save_shape = true};
        } else if (what == "--checksums") {
            read.hook.payload_checksum = record::footer_kind::checksum;
        } else if (what == "--resume") {
            read.hook.existing = existing_run::resume;
        } else if (what == "--first") {
            read.hook.init_step = number();
        } else if (what == "--steps") {
            read.steps = number();
        } else if (what == "--workers") {
            read.workers = number();
        } else if (what == "--version") {
            read.version = number();
        } else if (what == "--back") {
            read.goes_back = true;
        } else if (what == "--leave") {
            read.leaves = true;
        } else {
            read.runs.push_back(what);
        }
    }
    if (read.workers > 1) {
        read.hook.include_workers = include_workers::all;
        read.hook.num_workers = read.workers;
    }
    return read;
}

// By write(), which a library for LD_PRELOAD sees.
void say(const std::string& line) {
    const std::string text = line + "\n";
    if (::write(STDOUT_FILENO, text.data(), text.size()) != static_cast<::ssize_t>(text.size())) {
        std::abort();
    }
}

std::string one_line(std::string text) {
    for (char& each : text) {
        each = each == '\n' ? ' ' : each;
    }
    return text;
}

/// The training of one run.
class training {
public:
    training(const arguments& args, const std::string& run) : args_(args), version_(args.version) {
        for (int worker = 0; worker < args.workers; ++worker) {
            hook_options options = args.hook;
            options.out_dir = run;
            options.worker = "worker_" + std::to_string(worker);
            hooks_.push_back(std::make_unique<hook>(options));
        }
    }

    void train() {
        for (step_number i = 0; i < args_.steps; ++i) {
            step();
        }
        if (args_.goes_back) {
            const step_number again = hooks_.front()->step() - 2;
            settle();
            ++version_;
            for (step_number i = 0; i < 2; ++i) {
                say("again " + std::to_string(again + i));
            }
            for (const auto& each : hooks_) {
                each->set_step(again);
            }
            step();
            step();
        }
        settle();
    }

    void close() {
        for (const auto& each : hooks_) {
            each->close();
        }
    }

private:
    struct ended_step {
        step_number step = 0;
        std::size_t worker = 0;
        int version = 0;
    };

    // All workers have begun the step before the first one ends it.
    void step() {
        std::vector<std::optional<std::string>> why(hooks_.size());
        const step_number number = hooks_.front()->step();
        const auto attempt = [&](std::size_t worker, auto&& doing) {
            try {
                doing(*hooks_[worker]);
            } catch (const error& failed) {
                why[worker] = failed.what();
            }
        };
        for (std::size_t worker = 0; worker < hooks_.size(); ++worker) {
            attempt(worker, [&](hook& to) { save(to, worker); });
        }
        for (std::size_t worker = hooks_.size(); worker-- > 0;) {
            const std::uint64_t lost = hooks_[worker]->counters().lost_steps;
            attempt(worker, [](hook& to) { to.end_step(); });
            if (hooks_[worker]->counters().lost_steps != lost && !why[worker]) {
                why[worker] = hooks_[worker]->counters().last_loss;
            }
            if (why[worker]) {
                // In the background the lost step may be an older one.
                waiting_.push_back({number, worker, version_});
                lose(worker, *why[worker]);
            } else if (args_.hook.background.pool_bytes > 0) {
                waiting_.push_back({number, worker, version_});
            } else {
                keep({number, worker, version_});
            }
        }
        if (number % 2 == 1) {
            settle();
        }
    }

    void save(hook& to, std::size_t worker) {
        to.set_mode(to.step() % 4 == 3 ? mode::eval : mode::train);
        constexpr std::array names{"loss", "layer/bias", "layer/weight", "embedding"};
        constexpr std::array<std::size_t, 4> counts{1, 12, 700, 20'000};
        std::vector<float> values;
        for (std::size_t place = 0; place < names.size(); ++place) {
            // A tensor's offset in its file differs between versions.
            const std::size_t tensor = version_ % 2 == 1 ? place : names.size() - 1 - place;
            values.assign(counts[tensor], 0);
            for (std::size_t i = 0; i < values.size(); ++i) {
                values[i] = static_cast<float>(1000 * version_) + 100 * static_cast<float>(worker) +
                            10 * static_cast<float>(to.step()) + static_cast<float>(tensor) +
                            static_cast<float>(i % 97) / 128;
            }
            to.save_tensor(names[tensor], values);
        }
    }

    // Steps written in the background are reported once they are there.
    void settle() {
        for (std::size_t worker = 0; worker < hooks_.size(); ++worker) {
            const std::uint64_t lost = hooks_[worker]->counters().lost_steps;
            std::string why;
            try {
                hooks_[worker]->flush();
            } catch (const error& failed) {
                why = failed.what();
            }
            if (why.empty() && hooks_[worker]->counters().lost_steps != lost) {
                why = hooks_[worker]->counters().last_loss;
            }
            if (!why.empty()) {
                lose(worker, why);
            }
        }
        for (const ended_step& each : waiting_) {
            keep(each);
        }
        waiting_.clear();
    }

    void lose(std::size_t worker, const std::string& why) {
        std::erase_if(waiting_, [&](const ended_step& each) {
            if (each.worker == worker) {
                say("lost " + std::to_string(each.step) + " " + one_line(why));
            }
            return each.worker == worker;
        });
    }

    static void keep(const ended_step& what) {
        say("kept " + std::to_string(what.step) + " worker_" + std::to_string(what.worker) + " " +
            std::to_string(what.version));
    }

    const arguments& args_;
    int version_;
    std::vector<std::unique_ptr<hook>> hooks_;
    std::vector<ended_step> waiting_;
};

}  // namespace

int main(int argc, char** argv) {
    const arguments args = read_arguments({argv + 1, argv + argc});
    for (const std::string& run : args.runs) {
        say("run " + run);
        std::optional<training> one;
        try {
            one.emplace(args, run);
        } catch (const error& why) {
            say("refused " + one_line(why.what()));
            continue;
        }
        one->train();
        if (args.leaves) {
            std::_Exit(0);
        }
        try {
            one->close();
            say("end");
        } catch (const error& why) {
            say("end " + one_line(why.what()));
        }
    }
    return 0;
}
