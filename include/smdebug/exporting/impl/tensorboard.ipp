// The bodies of <smdebug/exporting/tensorboard.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/exporting/tensorboard.hpp>
#include <smdebug/exporting/write/export_walk.hpp>
#include <smdebug/exporting/write/output.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/hook/tensorboard_writer.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/record/crc32c.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/reduce/default_kernel.hpp>
#include <smdebug/reduce/histogram.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/trial_access.hpp>
#include <smdebug/wire/event.hpp>
#include <smdebug/wire/field.hpp>
#include <smdebug/wire/tensorboard_summary.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace smdebug::inline v1::detail {

inline constexpr std::string_view event_file_name = "events.tfevents";

[[nodiscard]] inline std::string_view mode_folder(mode which) noexcept {
    switch (which) {
        case mode::train:
            return "train";
        case mode::eval:
            return "validation";
        case mode::predict:
            return "predict";
        case mode::global:
            return "global";
    }
    return "global";
}

// The only element of a tensor, as a number of TensorBoard; nothing if it is not a number.
[[nodiscard]] inline std::optional<float> single_number(const tensor_view& tensor) {
    if (tensor.count() != 1 || !is_numeric(tensor.type) || is_complex(tensor.type)) {
        return std::nullopt;
    }
    double number = 0;
    const bool is_number = visit_dtype(
        tensor.type, [&]<class Element>() { return convert_element(load_le<Element>(tensor.bytes.data()), number); });
    return is_number ? std::optional{static_cast<float>(number)} : std::nullopt;
}

/// An event file for each worker, where there are several, and each mode.
class tensorboard_files final : public export_target {
public:
    /// Borrows the options.  Errors: run_exists.
    tensorboard_files(std::string output, const export_extent& what, const export_options& options)
        : output_(std::move(output)),
          replace_(options.replace),
          names_workers_(what.workers.size() > 1),
          whole_tensors_(options.tensors),
          has_tables_(std::any_of(what.tensors.begin(), what.tensors.end(), is_histogram_table)),
          texts_(what.texts) {
        std::sort(texts_.begin(), texts_.end());
        for (const bool as_they_are : {true, false}) {
            for (const std::string& each : what.tensors) {
                const std::string_view name =
                    is_histogram_table(each) ? histogram_of_table(each) : std::string_view{each};
                if ((wire::tensorboard_tag(name) == name) == as_they_are) {
                    static_cast<void>(tag_of(name));
                }
            }
        }
        check_output_folder(output_, replace_, [](std::string_view key) { return is_file_of_it(key); });
    }

    [[nodiscard]] bool reads_reductions() const noexcept override { return has_tables_; }

    [[nodiscard]] std::string add(const scanned_tensor& tensor) override {
        const shape_type& shape = tensor.values()->shape;
        if (tensor.values()->type == dtype::float64 && is_histogram_table(tensor.name) && shape.size() == 2 &&
            shape[1] == 3) {
            return add_histogram(tensor);
        }
        const tensor_view values = tensor.values()->view();
        const double wall_time = tensor.values()->wall_time;
        const std::string& tag = tag_of(tensor.name);
        if (tag.empty()) {
            return "has a name of which no tag can be made";
        }
        const bool is_text =
            !values.strings.empty() && std::binary_search(texts_.begin(), texts_.end(), tensor.name, std::less<>{});
        if (whole_tensors_ || is_text) {
            const std::array plugin{wire::plugin_data{.name = "text", .content = {}}};
            const std::array all{wire::value_fields{.tag = tag,
                                                    .tensor = {.type = values.type,
                                                               .shape = {.extents = values.shape, .dim_name = {}},
                                                               .content = values.bytes,
                                                               .strings = values.strings},
                                                    .plugins = std::span{plugin}.first(is_text ? 1U : 0U)}};
            const wire::event_fields event{
                .wall_time = wall_time, .step = tensor.mode_step, .file_version = {}, .values = all};
            if (wire::encoded_size(event) > largest_payload) {
                return "is larger than the 2 GiB of a record";
            }
            buffered_output& to = file_for(tensor);
            payload_.clear();
            wire::omitted_bytes elements;
            wire::field_writer writer{payload_, elements};
            wire::encode(writer, event);
            write(to, elements);
            return {};
        }
        std::optional<histogram> found;
        std::vector<double> buckets;
        std::variant<float, wire::histogram_fields> drawn = 0.0F;
        if (const std::optional<float> number = single_number(values)) {
            drawn = *number;
        } else if ((found = tensorboard_histogram(values, kernel_))) {
            constexpr double largest = static_cast<double>(std::numeric_limits<float>::max());
            if (found->min < -largest || found->max > largest) {
                return "has numbers beyond float32, with which TensorBoard computes";
            }
            buckets.assign(found->buckets.begin(), found->buckets.end());
            drawn = wire::histogram_fields{.min = found->min,
                                           .max = found->max,
                                           .num = static_cast<double>(found->num),
                                           .sum = found->sum,
                                           .sum_squares = found->sum_squares,
                                           .bucket_limits = found->bucket_limits,
                                           .buckets = buckets};
        } else {
            return values.count() == 0 ? "has no elements to draw"
                                       : "is of dtype " + std::string{name_of(values.type)} + " without a histogram";
        }
        buffered_output& to = file_for(tensor);
        const std::array all{wire::tensorboard_value{tag, drawn}};
        payload_.clear();
        wire::field_writer writer{payload_};
        wire::encode(writer, wire::tensorboard_event{wall_time, tensor.mode_step, all});
        write(to);
        return {};
    }

    void finish(export_result& result) override {
        for (auto& [folder, each] : files_) {
            result.bytes += each.size();
            ++result.files;
            each.finish(durability::cached);
        }
        folder_->take_its_place(replace_);
    }

private:
    // Whether this export writes a file of that name into its output.
    [[nodiscard]] static bool is_file_of_it(std::string_view key) noexcept {
        constexpr std::string_view end = "/events.tfevents";
        const std::string_view folder = key.substr(0, key.size() - std::min(key.size(), end.size()));
        const auto is_mode = [](std::string_view name) {
            return name == "train" || name == "validation" || name == "predict" || name == "global";
        };
        // Earlier exports have the folders of workers in those of modes.
        return key.ends_with(end) &&
               (is_mode(locations::base_name(folder)) || is_mode(folder.substr(0, folder.find('/'))));
    }

    [[nodiscard]] buffered_output& file_for(const scanned_tensor& tensor) {
        std::string key{mode_folder(tensor.mode)};
        if (names_workers_) {  // a reader takes the last folder for the mode
            key = file_name_part(locations::file_part_from_worker(tensor.worker)) + "/" + key;
        }
        const auto found = files_.find(key);
        if (found != files_.end()) {
            return found->second;
        }
        if (!folder_) {
            folder_.emplace(output_);
        }
        buffered_output& made =
            files_.try_emplace(key, folder_->place() + "/" + key + "/" + std::string{event_file_name}).first->second;
        payload_.clear();
        wire::field_writer writer{payload_};
        wire::encode(writer, wire::event_fields{.wall_time = tensor.values()->wall_time,
                                                .file_version = wire::tensorboard_file_version,
                                                .values = {}});
        write(made);
        return made;
    }

    // The tag of a tensor, which no other has; empty if none can be made of its name.
    [[nodiscard]] const std::string& tag_of(std::string_view tensor) {
        const auto known = tags_.find(tensor);
        if (known != tags_.end()) {
            return known->second;
        }
        const std::string plain = wire::tensorboard_tag(tensor);
        std::string tag = plain;
        for (int count = 2; !tag.empty() && !taken_.insert(tag).second; ++count) {
            tag = plain + "_" + std::to_string(count);
        }
        return tags_.emplace(tensor, std::move(tag)).first->second;
    }

    // Writes a histogram of a log again: as a HistogramProto if its sums are known, else as the tensor of its rows.
    [[nodiscard]] std::string add_histogram(const scanned_tensor& tensor) {
        const tensor_view rows = tensor.values()->view();
        const std::string_view name = histogram_of_table(tensor.name);
        const std::string& tag = tag_of(name);
        if (tag.empty()) {
            return "has a name of which no tag can be made";
        }
        buffered_output& to = file_for(tensor);
        std::vector<double> edges;
        std::vector<double> counts;
        std::vector<std::byte> room;
        const std::span<const double> numbers = aligned_elements<double>(rows, 0, rows.count(), room);
        double num = 0;
        for (std::size_t row = 0; row + 2 < numbers.size(); row += 3) {
            edges.push_back(numbers[row + 1]);
            counts.push_back(numbers[row + 2]);
            num += numbers[row + 2];
        }
        const reduction_key sum{reduction::sum, false};
        const reduction_key l2{reduction::l2, false};
        payload_.clear();
        wire::field_writer writer{payload_};
        if (tensor.saved.contains(sum) && tensor.saved.contains(l2)) {
            const double norm = tensor.saved_value[l2.index()];
            const std::array all{
                wire::tensorboard_value{tag, wire::histogram_fields{.min = numbers.empty() ? 0 : numbers.front(),
                                                                    .max = edges.empty() ? 0 : edges.back(),
                                                                    .num = num,
                                                                    .sum = tensor.saved_value[sum.index()],
                                                                    .sum_squares = norm * norm,
                                                                    .bucket_limits = edges,
                                                                    .buckets = counts}}};
            wire::encode(writer, wire::tensorboard_event{tensor.values()->wall_time, tensor.mode_step, all});
        } else {
            const std::array plugins{wire::plugin_data{.name = "histograms", .content = {}}};
            const std::array all{wire::value_fields{.tag = tag,
                                                    .tensor = {.type = rows.type,
                                                               .shape = {.extents = rows.shape, .dim_name = {}},
                                                               .content = rows.bytes,
                                                               .strings = {}},
                                                    .plugins = plugins}};
            wire::encode(writer, wire::event_fields{.wall_time = tensor.values()->wall_time,
                                                    .step = tensor.mode_step,
                                                    .file_version = {},
                                                    .values = all});
        }
        write(to);
        return {};
    }

    // Writes a record: the payload, and the elements, which it does not contain.
    void write(buffered_output& to, const wire::omitted_bytes& omitted = {}) {
        const byte_view around{payload_};
        const std::size_t front = omitted.bytes.empty() ? around.size() : omitted.at;
        std::array<std::byte, record::header_size> header{};
        record::store_header(header.data(), record::detail::header::of(around.size() + omitted.bytes.size()));
        namespace crc32c = record::crc32c;
        std::array<std::byte, record::footer_size> footer{};
        store_le(footer.data(),
                 crc32c::mask(crc32c::extend(crc32c::extend(crc32c::value(around.first(front)), omitted.bytes),
                                             around.subspan(front))));
        for (const byte_view piece :
             {byte_view{header}, around.first(front), omitted.bytes, around.subspan(front), byte_view{footer}}) {
            to.append(piece);
        }
    }

    std::string output_;
    bool replace_;
    bool names_workers_;
    bool whole_tensors_;
    bool has_tables_;                                       // of histograms
    std::vector<std::string> texts_;                        // tensors that are texts of a log, sorted
    std::map<std::string, std::string, std::less<>> tags_;  // by tensor
    std::set<std::string, std::less<>> taken_;              // the tags
    default_kernel kernel_;
    std::optional<output_folder> folder_;
    std::map<std::string, buffered_output> files_;  // by folder
    std::vector<std::byte> payload_;
};

}  // namespace smdebug::inline v1::detail

namespace smdebug::inline v1 {

SMDEBUG_INLINE export_result export_tensorboard(const trial& run, const std::string& output,
                                                const export_options& options) {
    detail::tensorboard_files target{detail::output_path(output, run.path()),
                                     detail::export_extent::of(*detail::catalog_of(run), options.which), options};
    return detail::walk_export(run, options, target);
}

}  // namespace smdebug::inline v1
