// What the tests of event_files have in common.
#pragma once

#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/read/event_reader.hpp>
#include <smdebug/trial/trial_access.hpp>

namespace smdebug_test {

/// A minimal storage; counts the bytes that are read of event files, and can show them in place.
class byte_counting_storage : public smdebug::storage_base {
public:
    struct counts {
        std::uint64_t whole = 0;
        std::uint64_t ranged = 0;
        int shown = 0;
        bool shows = false;
    };
    std::shared_ptr<counts> seen = std::make_shared<counts>();

    explicit byte_counting_storage(smdebug::memory_storage inner) : inner_(std::move(inner)) {}
    [[nodiscard]] smdebug::storage_abilities abilities() const override {
        return {.batches_ranges = false, .reads_ahead = false, .opens_small = false};
    }
    [[nodiscard]] smdebug::byte_buffer read(std::string_view key, smdebug::byte_range where) const override {
        smdebug::byte_buffer bytes = inner_.read(key, where);
        if (where == smdebug::whole_object) {
            seen->whole += key.starts_with("events/") ? bytes.size() : 0;
        } else {
            seen->ranged += bytes.size();
        }
        return bytes;
    }
    [[nodiscard]] std::optional<smdebug::byte_buffer> view(std::string_view key) const override {
        if (!seen->shows) {
            return std::nullopt;
        }
        ++seen->shown;
        return inner_.view(key);
    }
    [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const override {
        return inner_.list(prefix, after);
    }
    [[nodiscard]] std::optional<std::uint64_t> size(std::string_view key) const override { return inner_.size(key); }
    [[nodiscard]] std::string name() const override { return inner_.name(); }

private:
    smdebug::memory_storage inner_;
};

using counted_trial = smdebug::basic_trial<byte_counting_storage>;

/// Four steps of a large tensor between two small ones; the event file of the third step is missing.
inline smdebug::memory_storage a_run() {
    smdebug::memory_storage store;
    run_builder build{store};
    build.collections();
    for (smdebug::step_number step = 0; step < 4; ++step) {
        const auto number = static_cast<float>(step);
        build.step({.step = step,
                    .tensors = {tensor_of<float>("first", {number}),
                                tensor_of<float>("large", std::vector<float>(10'000, number)),
                                tensor_of<float>("last", {number, number})}});
    }
    build.end();
    store.remove(smdebug::detail::locations::event_key(2, "worker_0"));
    return store;
}

template <class Trial>
std::vector<std::string> walked(const Trial& run, const smdebug::tensor_selection& chosen,
                                const smdebug::detail::reading_limits& limits) {
    const auto from = smdebug::detail::catalog_of(run);
    const smdebug::detail::selected_tensors which{chosen, *from};
    smdebug::detail::event_reader walk{*smdebug::detail::state_of(run),
                                       *from,
                                       which,
                                       smdebug::reduction_set::all(),
                                       {.in_place = true, .limits = limits}};
    const std::vector<const smdebug::detail::catalog::file*> files = from->files_in({});
    std::vector<std::string> lines;
    std::size_t done = 0;
    walk.read(
        files,
        [&](const smdebug::detail::scanned_tensor& tensor) {
            CHECK(tensor.step == files.at(done)->step);
            std::string line = std::to_string(tensor.step) + " " + std::string{tensor.name};
            if (tensor.values() != nullptr) {
                const auto sum =
                    smdebug::detail::state_of(run)->kernel().reduce(tensor.values()->view(), smdebug::reduction::sum);
                line += " " + std::to_string((*sum)(smdebug::reduction::sum));
            } else {
                CHECK(tensor.failure()->why == smdebug::lookup_failure_kind::event_file_missing);
            }
            lines.push_back(line);
        },
        [&](std::size_t place) {
            CHECK(place == done);
            ++done;
            return true;
        });
    CHECK(done == files.size());
    return lines;
}

}  // namespace smdebug_test
