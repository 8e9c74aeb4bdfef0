// One event file taken apart: what a scan hands over for each tensor in it.
// Which entries count, and in which order, is decided here, as tensor handles decide it for single reads.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
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
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

namespace detail {

/// A saved reduction that cannot be read.
struct scan_failure {
    reduction_key key;
    lookup_error why;
};

/// What one worker saved of one tensor at one step.  Everything is borrowed, for the call only.
struct scanned_tensor {
    step_number step = 0;  ///< global
    step_number mode_step = 0;
    step_number shown_step = 0;  ///< see basic_trial::shown_step()
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
    const lookup_error* failure = nullptr;    ///< why saved values, or the whole file, cannot be read
    bool file_failed = false;                 ///< `failure` is that of the whole file
    reduction_set saved;                      ///< the reductions that were saved, asked for, and read
    std::array<double, 2 * reduction_count> saved_value{};  ///< by reduction_key::index(), those in `saved`
    std::vector<scan_failure> saved_failures;               ///< those that were asked for and cannot be read

    /// The mode in which shown_step counts.
    [[nodiscard]] smdebug::mode shown_mode() const noexcept {
        return shown_step == step ? smdebug::mode::global : mode;
    }
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

using tensor_visit = function_ref<void(const scanned_tensor&)>;

/// Takes files apart, one after another, with buffers that it keeps.  One thread at a time.
/// Borrows: state, catalog and `wanted` (by name_id; null: all tensors), for its life.
class file_scanner {
public:
    /// `defer_checks`: the payload checksums of large tensors are left to who visits them, see scanned_tensor::check.
    /// `keep_repeats`: see scan_options.  `stream_from`: records of that size are left in files that are read in pieces,
    /// see scanned_tensor::stream; 0: none, nor is anything given as reduced already; `values_of`, by name_id: but for
    /// these tensors.
    file_scanner(const trial_state& state, const catalog& from, reduction_set saved, const std::vector<bool>* wanted,
                 bool defer_checks = false, bool keep_repeats = false, std::uint64_t stream_from = 0,
                 const std::vector<bool>* values_of = nullptr);

    /// Whether the trial's decoder and kernel can leave records in their files.
    [[nodiscard]] static bool can_stream(const trial_state& state) noexcept {
        return state.decoder().abilities().plan != nullptr && state.kernel().abilities().feeds;
    }

    /// Calls visit(const scanned_tensor&) for each tensor of `event_file`, whose key is `key` and whose bytes `source`
    /// has (see event_source.hpp); null where it could not be read, because of `why_not`, or because it is not there.
    /// Order: that of the values' entries (of two of one name the last counts); a tensor without values stands where
    /// the first of its reductions (in the order of their names' list) does; those of which only a shape was saved come
    /// last.
    template <class Source>
    void scan(const catalog::file& event_file, const std::string& key, Source* source, const std::string* why_not,
              tensor_visit visit) {
        const auto at = [&](byte_range record) { return read(*source, record); };
        const record_bytes records{at};
        opened_event_file* opened = nullptr;
        if constexpr (std::same_as<Source, opened_event_file>) {
            opened = source;
        }
        scan_records(event_file, key, source != nullptr ? &records : nullptr, opened, why_not, visit);
    }

    /// Calls take(byte_range) for each record of `event_file` that scan() asks its source for, in the same order, and
    /// ended() behind those of each tensor.
    void each_record(const catalog::file& event_file, function_ref<void(byte_range)> take,
                     function_ref<void()> ended) const;

private:
    [[nodiscard]] bool is_wanted(name_id name) const { return wanted_ == nullptr || (*wanted_)[name]; }

    void begin_file(const catalog::file& event_file, const std::string& key, bool is_there, const std::string* why_not);

    void begin_tensor(const layout& entries, name_id name);

    [[nodiscard]] auto key_of_file() const {
        return [this] { return *key_; };
    }

    // The file as bytes by places alone, so that this is compiled once, whatever the source.
    void scan_records(const catalog::file& event_file, const std::string& key, const record_bytes* bytes,
                      opened_event_file* opened, const std::string* why_not, tensor_visit visit);

    void read_values(const layout::entry* entry, const record_bytes* bytes, opened_event_file* opened);

    // Whether who visits wants nothing but reductions of it.
    [[nodiscard]] bool needs_no_values(const layout::entry& entry) const {
        return stream_from_ > 0 && (values_of_ == nullptr || !(*values_of_)[entry.what.name]);
    }

    // Whether the values were reduced already.
    [[nodiscard]] bool pass(const layout::entry& entry, opened_event_file* opened);

    // Whether the values are left in the file.
    [[nodiscard]] bool stream(const layout::entry& entry, opened_event_file* opened);

    // What is read of a record: of a large one in an open file what its own head says, as record_bound has it.
    template <class Source>
    [[nodiscard]] byte_view read(Source& source, byte_range record) const {
        if constexpr (std::same_as<Source, opened_event_file>) {
            constexpr std::uint64_t large = std::uint64_t{16} << 20U;
            const std::uint64_t head_size = state_->decoder().abilities().head_size;
            if (record.length > large && head_size > 0) {
                const byte_view head = source.at({record.offset, head_size});
                const result<std::uint64_t> size = state_->decoder().record_size(head);
                record.length = std::min<std::uint64_t>(record.length, size.ok() ? *size : head_size);
            }
        }
        return source.at(record);
    }

    // Calls one(key, entry) for each reduction of a tensor that was saved and asked for.
    void each_saved(const layout& entries, name_id name,
                    function_ref<void(reduction_key, const layout::entry&)> one) const;

    void read_saved(const layout& entries, name_id name, const record_bytes* bytes);

    entry_decoder decoder_;
    const catalog* from_;
    reduction_set asked_;
    const std::vector<bool>* wanted_;
    bool defer_checks_;
    bool keep_repeats_;
    std::uint64_t stream_from_;
    const std::vector<bool>* values_of_;
    const trial_state* state_;
    const std::string* key_ = nullptr;
    std::optional<lookup_error> file_failure_;
    lookup_error failure_;
    decoded_tensor values_;
    value_stream stream_;
    scanned_tensor out_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/scan/impl/scan_file.ipp>
#endif
