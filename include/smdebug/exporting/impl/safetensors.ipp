// The bodies of <smdebug/exporting/safetensors.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/exporting/safetensors.hpp>
#include <smdebug/exporting/write/export_walk.hpp>
#include <smdebug/exporting/write/output.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/read/selected_tensors.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace smdebug::inline v1::detail {

inline constexpr std::string_view safetensors_metadata = "__metadata__";

/// The format's name of a dtype, "BF16"; empty for dtypes that it lacks: complex numbers and strings.
[[nodiscard]] inline std::string_view safetensors_type(dtype type) noexcept {
    switch (type) {
        case dtype::float64:
            return "F64";
        case dtype::float32:
            return "F32";
        case dtype::float16:
            return "F16";
        case dtype::bfloat16:
            return "BF16";
        case dtype::float8_e4m3fn:
            return "F8_E4M3";
        case dtype::float8_e5m2:
            return "F8_E5M2";
        case dtype::int64:
            return "I64";
        case dtype::int32:
            return "I32";
        case dtype::int16:
            return "I16";
        case dtype::int8:
            return "I8";
        case dtype::uint8:
            return "U8";
        case dtype::uint16:
            return "U16";
        case dtype::uint32:
            return "U32";
        case dtype::uint64:
            return "U64";
        case dtype::boolean:
            return "BOOL";
        case dtype::complex64:
        case dtype::complex128:
        case dtype::string:
        case dtype::invalid:
            return {};
    }
    return {};
}

/// A .safetensors a step.  The header comes before the elements but is known only after them: space for its likely size
/// is reserved and padded with blanks, as the format allows; if that does not suffice, the elements are moved.
class safetensors_files final : public export_target {
public:
    /// Borrows the options.  Errors: run_exists, value_error (one file, and several steps).
    safetensors_files(std::string output, std::shared_ptr<const catalog> from, const export_extent& what,
                      const export_options& options, std::string run)
        : from_(std::move(from)),
          selected_(options.which, *from_),
          run_(std::move(run)),
          files_(std::move(output), ".safetensors", what, options) {}

    [[nodiscard]] std::string add(const scanned_tensor& tensor) override {
        const tensor_view values = tensor.values()->view();
        const std::string_view type = safetensors_type(values.type);
        if (type.empty()) {
            return "is of dtype " + std::string{name_of(values.type)} + ", which safetensors does not have";
        }
        if (tensor.name == safetensors_metadata) {
            return "has a name that safetensors keeps for itself";
        }
        if (!is_utf8(tensor.name)) {
            return "has a name that is not valid UTF-8";
        }
        if (file_ == nullptr) {
            begin(tensor);
        }
        header_ += ',';
        append_json_ascii(header_, tensor.name);
        header_.append(":{\"dtype\":\"").append(type).append("\",\"shape\":[");
        for (std::size_t i = 0; i < values.shape.size(); ++i) {
            header_ += i == 0 ? "" : ",";
            append_json_integer(header_, values.shape[i]);
        }
        header_ += "],\"data_offsets\":[";
        append_json_integer(header_, elements_);
        elements_ += values.bytes.size();
        header_ += ',';
        append_json_integer(header_, elements_);
        header_ += "]}";
        file_->append(values.bytes);
        return {};
    }

    void end_file() override {
        if (file_ == nullptr) {
            return;
        }
        header_ += '}';
        if (header_.size() > room_) {
            const std::size_t more = (header_.size() - room_ + alignment - 1) / alignment * alignment;
            file_->make_room(length_bytes + room_, more);
            room_ += more;
        }
        header_.resize(room_, ' ');
        std::array<std::byte, length_bytes> length{};
        store_le(length.data(), std::uint64_t{room_});
        file_->overwrite(0, length);
        file_->overwrite(length_bytes, as_bytes(std::string_view{header_}));
        file_ = nullptr;
        files_.close();
    }

    void finish(export_result& result) override { files_.finish(result); }

private:
    static constexpr std::size_t length_bytes = 8;
    static constexpr std::size_t alignment = 8;  // of the elements

    void begin(const scanned_tensor& tensor) {
        header_ = "{\"";
        header_.append(safetensors_metadata).append("\":{\"format\":\"pt\",\"run\":");
        const auto add = [&](std::string_view name, std::string_view value) {
            header_.append(",\"").append(name).append("\":");
            append_json_ascii(header_, value);
        };
        append_json_ascii(header_, run_);
        add("step", std::to_string(tensor.shown_step));
        add("mode", name_of(tensor.mode));
        add("mode_step", std::to_string(tensor.mode_step));
        add("worker", tensor.worker);
        header_ += '}';
        room_ = (header_.size() + likely_header(tensor) + alignment - 1) / alignment * alignment;
        elements_ = 0;
        file_ = &files_.open(tensor);
        file_->append(std::string(length_bytes + room_, ' '));
    }

    // An estimate of the header's size, by the names in the index file.
    [[nodiscard]] std::size_t likely_header(const scanned_tensor& tensor) const {
        constexpr std::size_t entry = 120;  // dtype, a shape of some extents, two offsets
        std::size_t size = 2;
        const layout* const entries = layout_at(*from_, tensor.step, tensor.worker);
        for (const recorded_item& item :
             entries != nullptr ? entries->names().items() : std::span<const recorded_item>{}) {
            if (item.kind == 0 && selected_.contains(item.name)) {
                std::string name;
                append_json_ascii(name, (*from_->names)[item.name]);
                size += name.size() + entry;
            }
        }
        return size;
    }

    std::shared_ptr<const catalog> from_;
    selected_tensors selected_;
    std::string run_;
    step_files files_;
    buffered_output* file_ = nullptr;  // the current file
    std::string header_;               // without the closing brace
    std::size_t room_ = 0;             // reserved for it
    std::uint64_t elements_ = 0;       // their size in bytes
};

}  // namespace smdebug::inline v1::detail

namespace smdebug::inline v1 {

SMDEBUG_INLINE export_result export_safetensors(const trial& run, const std::string& output,
                                                const export_options& options) {
    const auto from = detail::catalog_of(run);
    detail::safetensors_files target{detail::output_path(output, run.path()), from,
                                     detail::export_extent::of(*from, options.which), options,
                                     detail::exported_name(run, options)};
    return detail::walk_export(run, options, target);
}

}  // namespace smdebug::inline v1
