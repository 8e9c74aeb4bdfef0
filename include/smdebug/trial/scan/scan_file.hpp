// One event file taken apart: what a scan hands over for each tensor in it.
// Which entries count, and in which order, is decided here, as tensor handles decide it for single reads.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/concepts.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/read/entry_decoder.hpp>
#include <smdebug/trial/read/opened_event_file.hpp>
#include <smdebug/trial/read/passed_records.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/read/value_stream.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

namespace detail {

/// A saved reduction that cannot be read.
struct scan_failure {
    reduction_key key;
    lookup_failure why;
};

/// What one worker saved of one tensor at one step.  Everything is borrowed, for the call only.
struct scanned_tensor {
    step_number step = 0;  ///< global
    step_number mode_step = 0;
    smdebug::mode mode = smdebug::mode::global;
    std::string_view worker;
    std::string_view name;
    const decoded_tensor* values = nullptr;   ///< null: not saved, or see `stream` or `failure`
    const passed_tensor* passed = nullptr;    ///< reduced already, where asked for: for reduced() alone
    value_stream* stream = nullptr;           ///< the values of a large tensor, where asked for: for reduced() alone
    record::payload_check check;              ///< what is left to check of the values; holds() unless deferred
    std::size_t repeats = 0;                  ///< elements that follow the last of `values`: 0 unless kept apart
    std::string_view event_file;              ///< its key
    std::uint64_t offset = 0;                 ///< of the values' record in it
    const shape_type* saved_shape = nullptr;  ///< null: none was saved
    const lookup_failure* failure = nullptr;  ///< why saved values, or the whole file, cannot be read
    bool file_failed = false;                 ///< `failure` is that of the whole file
    reduction_set saved;                      ///< the reductions that were saved, asked for, and read
    std::array<double, 2 * reduction_count> saved_value{};  ///< by reduction_key::index(), those in `saved`
    std::vector<scan_failure> saved_failures;               ///< those that were asked for and cannot be read

    /// The values' shape, else the saved one; null when neither is there.
    [[nodiscard]] const shape_type* shape() const noexcept {
        if (values != nullptr) {
            return &values->shape;
        }
        if (passed != nullptr) {
            return &passed->shape;
        }
        return stream != nullptr ? &stream->shape() : saved_shape;
    }
};

/// Takes files apart, one after another, with buffers that it keeps.  One thread at a time.
/// Borrows: state, catalog and `wanted` (by name_id; null: all tensors), for its life.
template <class State>
class file_scanner {
public:
    /// `defer_checks`: the payload checksums of large tensors are left to who visits them, see scanned_tensor::check.
    /// `keep_repeats`: see scan_options.  `stream_from`: records of that size are left in files that are read in pieces,
    /// see scanned_tensor::stream; 0: none, nor is anything given as reduced already; `values_of`, by name_id: but for
    /// these tensors.
    file_scanner(const State& state, const catalog& from, reduction_set saved, const std::vector<bool>* wanted,
                 bool defer_checks = false, bool keep_repeats = false, std::uint64_t stream_from = 0,
                 const std::vector<bool>* values_of = nullptr);

    /// Whether `State` can leave records in their files.
    static constexpr bool can_stream =
        planning_decoder<typename State::decoder_type> && fed_reducer<typename State::kernel_type>;

    /// Calls visit(const scanned_tensor&) for each tensor of `event_file`, whose key is `key` and whose bytes `source`
    /// has (see event_source.hpp); null where it could not be read, because of `why_not`, or because it is not there.
    /// Order: that of the values' entries (of two of one name the last counts); a tensor without values stands where
    /// the first of its reductions (in the order of their names' list) does; those of which only a shape was saved come
    /// last.
    template <class Source, class Visit>
    void scan(const catalog::file& event_file, const std::string& key, Source* source, const std::string* why_not,
              Visit&& visit) {
        begin_file(event_file, key, source != nullptr, why_not);
        const layout& entries = from_->layout_of(event_file);
        for (std::size_t place = 0; place < entries.size(); ++place) {
            const layout::entry entry = entries[place];
            const name_id name = entry.what.name;
            if (is_wanted(name) && entries.names().leads(place)) {
                begin_tensor(entries, name);
                // Before the values: reading a saved reduction may invalidate bytes that the source gave before.
                if (!entries.names().values_alone()) {
                    read_saved(entries, name, source);
                }
                read_values(entry.what.kind == 0 ? &entry : nullptr, source);
                visit(std::as_const(out_));
            }
        }
        for (const layout::shape_entry& shape : entries.shapes()) {
            const bool alone = !entries.values(shape.name) && entries.saved_reductions(shape.name).empty();
            if (alone && is_wanted(shape.name) && entries.shape(shape.name) == &shape) {
                begin_tensor(entries, shape.name);
                out_.file_failed = false;  // a shape alone needs nothing of the event file
                visit(std::as_const(out_));
            }
        }
    }

    /// Calls take(byte_range) for each record of `event_file` that scan() asks its source for, in the same order, and
    /// ended() behind those of each tensor.
    template <class Take, class Ended>
    void each_record(const catalog::file& event_file, Take&& take, Ended&& ended) const {
        const layout& entries = from_->layout_of(event_file);
        for (std::size_t place = 0; place < entries.size(); ++place) {
            const layout::entry entry = entries[place];
            if (is_wanted(entry.what.name) && entries.names().leads(place)) {
                if (!entries.names().values_alone()) {
                    each_saved(entries, entry.what.name,
                               [&](reduction_key, const layout::entry& saved) { take(saved.record); });
                }
                if (entry.what.kind == 0) {
                    take(entry.record);
                }
                ended();
            }
        }
    }

private:
    [[nodiscard]] bool is_wanted(name_id name) const { return wanted_ == nullptr || (*wanted_)[name]; }

    void begin_file(const catalog::file& event_file, const std::string& key, bool is_there, const std::string* why_not);

    void begin_tensor(const layout& entries, name_id name);

    [[nodiscard]] auto key_of_file() const {
        return [this] { return *key_; };
    }

    template <class Source>
    void read_values(const layout::entry* entry, Source* source) {
        if (source == nullptr) {
            out_.failure = &*file_failure_;
        } else if (entry != nullptr) {
            out_.offset = entry->record.offset;
            const left_to_caller left{.check = defer_checks_ ? &out_.check : nullptr,
                                      .repeats = keep_repeats_ ? &out_.repeats : nullptr};
            if (pass(*entry, *source) || stream(*entry, *source)) {
                return;
            }
            const auto bytes = [&] { return source->at(believed(entry->record, *source)); };
            if (auto failed = decoder_.decode(*entry, out_.name, key_of_file(), bytes, values_, left)) {
                failure_ = *std::move(failed);
                out_.failure = &failure_;
            } else {
                out_.values = &values_;
            }
        }
    }

    // Whether who visits wants nothing but reductions of it.
    [[nodiscard]] bool needs_no_values(const layout::entry& entry) const {
        return stream_from_ > 0 && (values_of_ == nullptr || !(*values_of_)[entry.what.name]);
    }

    // Whether the values were reduced already.
    template <class Source>
    [[nodiscard]] bool pass([[maybe_unused]] const layout::entry& entry, [[maybe_unused]] Source& source) {
        if constexpr (takes_passed<typename State::decoder_type, typename State::kernel_type> &&
                      std::same_as<Source, opened_event_file>) {
            if (needs_no_values(entry)) {
                out_.passed = source.passed(entry.record, out_.name);
            }
        }
        return out_.passed != nullptr;
    }

    // Whether the values are left in the file.
    template <class Source>
    [[nodiscard]] bool stream([[maybe_unused]] const layout::entry& entry, [[maybe_unused]] Source& source) {
        if constexpr (can_stream && std::same_as<Source, opened_event_file>) {
            if (needs_no_values(entry) && entry.record.length >= stream_from_) {
                try {
                    if (stream_.template begin<typename State::decoder_type>(source, entry.record, out_.name)) {
                        out_.stream = &stream_;
                        return true;
                    }
                } catch (const std::exception&) {
                    return false;  // decoding it will tell
                }
            }
        }
        return false;
    }

    // What is read of a record: of a large one what its own head says, as record_bound has it.
    template <class Source>
    [[nodiscard]] byte_range believed(byte_range record, [[maybe_unused]] Source& source) {
        if constexpr (sizing_decoder<typename State::decoder_type> && std::same_as<Source, opened_event_file>) {
            using decoder = typename State::decoder_type;
            constexpr std::uint64_t large = std::uint64_t{16} << 20U;
            if (record.length > large) {
                const byte_view head = source.at({record.offset, decoder::head_size});
                const result<std::uint64_t> size = state_->decoder().record_size(head);
                record.length = std::min<std::uint64_t>(record.length, size.ok() ? *size : decoder::head_size);
            }
        }
        return record;
    }

    // Calls one(key, entry) for each reduction of a tensor that was saved and asked for.
    template <class One>
    void each_saved(const layout& entries, name_id name, One&& one) const {
        const reduction_set there = entries.saved_reductions(name) & asked_;
        for (std::size_t i = 0; !there.empty() && i < 2 * reduction_count; ++i) {
            const reduction_key key = reduction_key::from_index(i);
            if (there.contains(key)) {
                one(key, *entries.reduction(name, key));
            }
        }
    }

    template <class Source>
    void read_saved(const layout& entries, name_id name, Source* source) {
        if (source == nullptr) {
            return;
        }
        each_saved(entries, name, [&](reduction_key key, const layout::entry& entry) {
            const auto bytes = [&] { return source->at(entry.record); };
            if (auto failed =
                    decoder_.decode_saved(entry, out_.name, key, key_of_file(), bytes, out_.saved_value[key.index()])) {
                out_.saved_failures.push_back({key, *std::move(failed)});
            } else {
                out_.saved = out_.saved | reduction_set{key};
            }
        });
    }

    entry_decoder<State> decoder_;
    const catalog* from_;
    reduction_set asked_;
    const std::vector<bool>* wanted_;
    bool defer_checks_;
    bool keep_repeats_;
    std::uint64_t stream_from_;
    const std::vector<bool>* values_of_;
    const State* state_;
    const std::string* key_ = nullptr;
    std::optional<lookup_failure> file_failure_;
    lookup_failure failure_;
    decoded_tensor values_;
    value_stream stream_;
    scanned_tensor out_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#include <smdebug/trial/scan/impl/scan_file.tpp>
