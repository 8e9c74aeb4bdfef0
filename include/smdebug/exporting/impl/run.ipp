// The bodies of <smdebug/exporting/run.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/exporting/run.hpp>
#include <smdebug/exporting/write/export_walk.hpp>
#include <smdebug/exporting/write/output.hpp>
#include <smdebug/hook/file_sink.hpp>
#include <smdebug/hook/step_writer.hpp>
#include <smdebug/hook/tensor_record.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/index/collections_file.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/layout.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace smdebug::inline v1::detail {

/// A run being written.
class run_files final : public export_target {
public:
    /// Borrows the options.  Errors: run_exists.
    run_files(std::string output, std::shared_ptr<const catalog> from, export_extent what,
              const export_options& options)
        : output_(std::move(output)), from_(std::move(from)), what_(std::move(what)), replace_(options.replace) {
        check_output_folder(output_, replace_, [](std::string_view key) {
            const std::string_view folder = key.substr(0, std::min(key.find('/'), key.size() - 1) + 1);
            return folder == locations::index_folder || folder == locations::events_folder ||
                   folder == locations::collections_folder || key == locations::end_of_job;
        });
    }

    [[nodiscard]] bool takes_reductions() const noexcept override { return true; }

    [[nodiscard]] std::string add(const scanned_tensor& tensor) override {
        if (tensor.values() != nullptr && tensor.values()->wall_time != 0) {
            wall_time_ = tensor.values()->wall_time;
        }
        const record_stamp stamp{
            .wall_time = wall_time_, .step = tensor.step, .mode = tensor.mode, .mode_step = tensor.mode_step};
        writer_ = &writer_for(tensor);
        if (!is_utf8(tensor.name)) {
            return "has a name that is not UTF-8, which an index cannot have";
        }
        std::string why_not;
        if (tensor.values() != nullptr &&
            writer_->add_tensor(tensor.name, tensor.values()->view(), stamp) != added::written) {
            why_not = "is larger than the 2 GiB of a record";
        }
        add_reductions(tensor, stamp);
        if (tensor.saved_shape != nullptr) {
            const layout* const entries = layout_at(*from_, tensor.step, tensor.worker);
            const auto name = from_->find_tensor(tensor.name);
            const auto* const shape = entries != nullptr && name ? entries->shape(*name) : nullptr;
            writer_->add_shape(
                tensor.name, *tensor.saved_shape, stamp,
                shape != nullptr ? std::string_view{(*from_->names)[shape->original_name]} : std::string_view{});
        }
        return why_not;
    }

    void end_file() override {
        if (writer_ == nullptr) {
            return;
        }
        if (const std::uint64_t bytes = writer_->finish(); bytes > 0) {
            bytes_ += bytes;
            files_ += 2;
        }
        writer_ = nullptr;
    }

    void finish(export_result& result) override {
        collections_file file{.collections = from_->job->collections,
                              .num_workers = static_cast<std::int64_t>(what_.workers.size())};
        for (auto& [name, group] : file.collections) {
            std::erase_if(group.tensor_names, [&](const std::string& tensor) {
                return !std::binary_search(what_.tensors.begin(), what_.tensors.end(), tensor);
            });
        }
        const std::string text = collections_text(file);
        for (const std::string& worker : what_.workers) {
            put(locations::collections_key(worker), text);
        }
        put(std::string{locations::end_of_job}, {});
        folder_->take_its_place(replace_);
        result.files += files_;
        result.bytes += bytes_;
    }

private:
    [[nodiscard]] step_writer& writer_for(const scanned_tensor& tensor) {
        if (!folder_) {
            folder_.emplace(output_);
            sink_ = std::make_unique<direct_sink>(any_storage{local_storage(folder_->place())}, durability::cached);
        }
        auto found = writers_.find(tensor.worker);
        if (found == writers_.end()) {
            const std::string worker{tensor.worker};
            found = writers_.emplace(worker, step_writer{*sink_, worker, record::footer_kind::checksum}).first;
        }
        return found->second;
    }

    void add_reductions(const scanned_tensor& tensor, const record_stamp& stamp) {
        for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
            const reduction_key key = reduction_key::from_index(i);
            if (tensor.saved.contains(key)) {
                const std::span<const double, 1> value{&tensor.saved_value[i], 1};
                const tensor_view number{
                    .type = dtype::float64, .shape = {}, .bytes = std::as_bytes(value), .strings = {}};
                static_cast<void>(writer_->add_tensor(reduction_tensor_name(tensor.name, key), number, stamp));
            }
        }
    }

    void put(const std::string& key, std::string_view text) {
        sink_->put(key, text);
        bytes_ += text.size();
        ++files_;
    }

    std::string output_;
    std::shared_ptr<const catalog> from_;
    export_extent what_;
    bool replace_;
    std::optional<output_folder> folder_;
    std::unique_ptr<file_sink> sink_;
    std::map<std::string, step_writer, std::less<>> writers_;  // by worker
    step_writer* writer_ = nullptr;                            // for the current file
    double wall_time_ = 0;                                     // of the last record with values
    std::size_t files_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace smdebug::inline v1::detail

namespace smdebug::inline v1 {

SMDEBUG_INLINE export_result export_run(const trial& run, const std::string& output, const export_options& options) {
    const auto from = detail::catalog_of(run);
    detail::run_files target{detail::output_path(output, run.path()), from,
                             detail::export_extent::of(*from, options.which), options};
    return detail::walk_export(run, options, target);
}

}  // namespace smdebug::inline v1
