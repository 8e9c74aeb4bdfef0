// A batch of runs that only sleep, over the processes of mpirun: what check_mpi_batch.sh kills, stops and starves.
//   mpi_batch FOLDER [--runs N] [--milliseconds M] [--threads T] [--lost-after MS] [--full-after BYTES] [--status S]
//             [--parts P] [--messages]
// FOLDER gets pid-<rank> of each rank, and of rank 0 `results`, a line for each: place, state, rank that did it.
// With parts run 5 is that many times as long as the others, and ranks share it; its line ends with its steps, and how many
// ranks did some.
#include "support/child_process.hpp"

#include <program/interrupt.hpp>
#include <smdebug/batch/ranks/mpi_channel.hpp>
#include <smdebug/batch/ranks/run_on_ranks.hpp>
#include <smdebug/batch/row_spool.hpp>

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace smd = smdebug;
using namespace std::chrono_literals;

namespace {

struct plan {
    std::string folder = {};
    std::uint64_t runs = 100;
    std::chrono::milliseconds work{10};
    std::chrono::milliseconds lost_after{2'000};
    std::size_t threads = 1;
    int parts = 0;
    std::uint64_t full_after = 0;
    int status = 0;
    bool messages = false;
};

plan plan_of(const std::vector<std::string>& arguments) {
    plan all{.folder = arguments.at(1)};
    for (std::size_t i = 2; i < arguments.size(); ++i) {
        const std::string& name = arguments[i];
        if (name == "--messages") {
            all.messages = true;
            continue;
        }
        const auto value = std::stoull(arguments.at(++i));
        if (name == "--runs") {
            all.runs = value;
        } else if (name == "--milliseconds") {
            all.work = std::chrono::milliseconds{value};
        } else if (name == "--lost-after") {
            all.lost_after = std::chrono::milliseconds{value};
        } else if (name == "--threads") {
            all.threads = value;
        } else if (name == "--parts") {
            all.parts = static_cast<int>(value);
        } else if (name == "--full-after") {
            all.full_after = value;
        } else if (name == "--status") {
            all.status = static_cast<int>(value);
        } else {
            throw std::runtime_error("unknown: " + name);
        }
    }
    return all;
}

void write_line(const std::string& file, const std::string& line) {
    std::ofstream out{file, std::ios::app};
    if (!(out << line << '\n' << std::flush)) {
        throw std::runtime_error("cannot write " + file);
    }
}

// What a rank_channel promises, over MPI: any bytes, in order, whole, however large; and a wake.
int check_messages(smd::rank_channel& channel) {
    // Sizes around that of a part, which is 1000 here.
    const std::vector<std::size_t> sizes{1, 999, 1000, 1001, 2000, 70'001, 5'000'000, 3};
    const auto content = [](int from, std::size_t size) {
        std::string bytes(size, '\0');
        for (std::size_t i = 0; i < size; ++i) {
            bytes[i] = static_cast<char>(static_cast<std::size_t>(from) * 31 + size + i % 251);
        }
        return bytes;
    };
    const int others = channel.size() - 1;
    if (channel.rank() > 0) {
        for (const std::size_t size : sizes) {
            channel.send(0, content(channel.rank(), size));
        }
    } else {
        std::vector<std::size_t> next(static_cast<std::size_t>(channel.size()));
        for (std::size_t left = static_cast<std::size_t>(others) * sizes.size(); left > 0;) {
            const auto packet = channel.receive(30s);
            if (!packet) {
                throw std::runtime_error("no message");
            }
            if (packet->bytes.empty()) {
                continue;
            }
            if (packet->bytes != content(packet->from, sizes.at(next.at(static_cast<std::size_t>(packet->from))++))) {
                throw std::runtime_error("another message");
            }
            --left;
        }
        channel.wake();
        if (channel.receive(30s)) {
            throw std::runtime_error("woken with a message");
        }
        for (int rank = 1; rank < channel.size(); ++rank) {
            channel.send(rank, "bye");
        }
    }
    while (channel.rank() > 0) {
        if (const auto packet = channel.receive(30s); !packet || packet->bytes == "bye") {
            break;
        }
    }
    while (!channel.all_sent()) {
        static_cast<void>(channel.receive(1ms));
    }
    return 0;
}

// What comes of a run that sleeps; of run 5, which ranks may share, a row for each of its steps, in order.
smd::run_result looked_at(const plan& all, const smd::batch_run& run, int rank, const std::stop_token& ending) {
    smd::run_result result{.run = run, .steps = static_cast<std::size_t>(rank)};
    if (all.parts > 0 && run.path == "run-5") {
        if (!run.steps && !run.whole) {
            for (int step = 0; step < all.parts; ++step) {
                result.parts.push_back({.begin = step, .end = step + 1});
            }
            return result;
        }
        result.reductions = std::make_shared<smd::row_spool>();
        const smd::step_range steps = run.steps.value_or(smd::step_range{.begin = 0, .end = all.parts});
        for (auto step = *steps.begin; step < *steps.end; ++step) {
            std::this_thread::sleep_for(all.work);
            result.reductions->add({.step = step, .worker = std::to_string(rank)});
        }
        result.state = ending.stop_requested() ? smd::run_state::undone : smd::run_state::ended;
        return result;
    }
    std::this_thread::sleep_for(all.work);
    result.state = ending.stop_requested() ? smd::run_state::undone : smd::run_state::ended;
    return result;
}

int run(const plan& all, smd::rank_channel& channel, const std::stop_token& stop) {
    const std::string results = all.folder + "/results";
    std::uint64_t next = 0;
    const auto source = [&]() -> std::optional<smd::batch_run> {
        if (next == all.runs) {
            return std::nullopt;
        }
        const std::uint64_t place = next++;
        return smd::batch_run{.place = place, .path = "run-" + std::to_string(place)};
    };
    const auto sink = [&](smd::run_result&& result) {
        std::string line = std::to_string(result.run.place) + ' ' + std::string{smd::name_of(result.state)} + ' ' +
                           std::to_string(result.steps);
        if (result.reductions && result.run.path == "run-5") {
            smd::step_number steps = 0;
            std::set<std::string> ranks;
            result.reductions->for_each([&](const smd::reduction_row& row) {
                steps += row.step == steps ? 1 : 0;
                ranks.insert(row.worker);
            });
            line += ' ' + std::to_string(steps) + ' ' + std::to_string(ranks.size());
        }
        write_line(results, line);
    };
    const auto engine = [&](smd::rank_work& from, const std::stop_token& ending) {
        std::vector<std::jthread> crew;
        for (std::size_t i = 0; i < all.threads; ++i) {
            crew.emplace_back([&] {
                while (auto run = from.next()) {
                    from.emit(looked_at(all, *run, channel.rank(), ending));
                }
            });
        }
    };
    const smd::rank_options options{.threads = all.threads,
                                    .heartbeat = all.lost_after / 20,
                                    .lost_after = all.lost_after,
                                    .stop_limit = 5s,
                                    .on_note = [](const std::string& text) { std::cerr << "note: " << text << '\n'; }};
    const auto begin = std::chrono::steady_clock::now();
    const smd::ranks_outcome outcome = smd::run_on_ranks(channel, options, source, sink, engine, stop);
    if (channel.rank() == 0) {
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
        std::cout << outcome.results << " results, " << outcome.undone << " undone, " << outcome.lost.size()
                  << " lost, stopped: " << outcome.stopped << ", seconds: " << time.count() << std::endl;
        return outcome.stopped ? 130 : all.status;
    }
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    const plan all = plan_of({arguments, arguments + count});
    const smd::cli::interrupt_listener interrupts;
    smd::mpi_channel channel{all.messages ? 1000 : std::size_t{1} << 20U};
    write_line(all.folder + "/pid-" + std::to_string(channel.rank()), std::to_string(::getpid()));
    int status = 1;
    try {
        if (all.full_after > 0 && channel.rank() == 0) {
            smdebug_test::limit_file_size(all.full_after);
        }
        status = all.messages ? check_messages(channel) : run(all, channel, interrupts.token());
    } catch (const std::exception& thrown) {
        std::cerr << "error: " << thrown.what() << '\n';
    }
    channel.end(status);
    return status;
}
